//! The plugin: arguments, connection, one file a command, output. Source: kubectl-aicr.
//!
//! A command is parse, fetch, judge (by `plan` and `approval`), at most one write, and text. Only `connection` makes
//! clients, `env` reads the environment, `clock` the clock, and `printer` writes.

mod acknowledge;
mod approve;
mod args;
mod change;
pub mod clock;
mod complete;
pub mod connection;
mod describe;
pub mod env;
pub mod error;
mod printer;
mod reproduce;
mod revoke;
mod session;
mod text;
mod version;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use serde::Serialize;

use crate::api::Code;
use args::{Cli, Command, OutputFormat};
use env::Env;
use error::CliError;
use printer::Printer;
use session::Session;

pub use args::Cli as CommandLine;

/// Exit code of a usage error.
const USAGE: u8 = 2;

/// Runs a command line to its end: 0 for success and help, 1 for a failed command, 2 for a usage error.
pub fn main(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    let env = Env::of_process();
    let mut printer = Printer::of_process(&env);
    let cli = match parse(argv) {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error, &mut printer),
    };
    ended(run(&cli, &env, &mut printer), &mut printer)
}

/// The command line, parsed by one definition that is built once: building it is most of what `help` costs.
fn parse(argv: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut definition = Cli::command();
    let argv = words::command_first(&definition, argv);
    let mut matches = definition.try_get_matches_from_mut(argv)?;
    let name = matches.subcommand_name().unwrap_or_default().to_owned();
    let cli = Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut definition))?;
    let Some(problem) = cli.usage_problem() else { return Ok(cli) };
    let misused =
        |command: &mut clap::Command| command.error(clap::error::ErrorKind::ValueValidation, problem);
    // The usage that is shown is the command's own.
    Err(match definition.find_subcommand_mut(&name) {
        Some(command) => misused(command),
        None => misused(&mut definition),
    })
}

/// The exit code of a command, after its error was printed.
fn ended(result: Result<(), CliError>, printer: &mut Printer) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            printer.err(&format!("error: {}\n", text::paragraph(&error.to_string())));
            ExitCode::FAILURE
        }
    }
}

/// Prints a command's answer.
fn answer(text: &str, printer: &mut Printer) -> Result<(), CliError> {
    let failed = |error| CliError::new(Code::Internal, format!("cannot write the output: {error}"));
    printer.out(text).map_err(failed)
}

/// What clap has to say: help goes to standard output and is a success, anything else is a usage error.
fn unparsed(error: &clap::Error, printer: &mut Printer) -> ExitCode {
    let rendered = error.render();
    let text = |color: bool| if color { rendered.ansi().to_string() } else { rendered.to_string() };
    if error.use_stderr() {
        printer.err(&text(printer.err_look.color));
        return ExitCode::from(USAGE);
    }
    ended(answer(&text(printer.look.color), printer), printer)
}

fn run(cli: &Cli, env: &Env, printer: &mut Printer) -> Result<(), CliError> {
    let text = match &cli.command {
        Command::Completion { shell } => complete::script(*shell),
        Command::Version if cli.flags.client => version::client(&cli.flags)?,
        command => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime =
                runtime.map_err(|error| CliError::new(Code::Internal, format!("cannot start: {error}")))?;
            let answer = runtime.block_on(call(command, cli, env, printer));
            // A name that the system is still looking up must not hold the command beyond its deadline.
            runtime.shutdown_background();
            answer?
        }
    };
    answer(&text, printer)
}

/// The commands that call a server.
async fn call(command: &Command, cli: &Cli, env: &Env, printer: &mut Printer) -> Result<String, CliError> {
    if let Command::Complete { words } = command {
        return Ok(complete::run(words, env).await);
    }
    let mut session = Session::open(&cli.flags, env, printer.look).await?;
    match command {
        Command::Describe(rollout) => describe::run(&session, &rollout.name).await,
        Command::Approve(rollout) => approve::run(&mut session, printer, &rollout.name).await,
        Command::Revoke(rollout) => revoke::run(&mut session, printer, &rollout.name).await,
        Command::Acknowledge(rollout) => acknowledge::run(&mut session, printer, &rollout.name).await,
        Command::Reproduce { plan } => reproduce::run(&session, plan.as_deref()).await,
        Command::Version => version::both(&session).await,
        Command::Completion { .. } | Command::Complete { .. } => Ok(String::new()),
    }
}

/// An answer as data.
fn structured(answer: &impl Serialize, format: OutputFormat) -> Result<String, CliError> {
    let failed = |error: &dyn std::fmt::Display| {
        CliError::new(Code::Internal, format!("cannot encode the answer: {error}"))
    };
    match format {
        OutputFormat::Json => {
            serde_json::to_string_pretty(answer).map(|text| text + "\n").map_err(|error| failed(&error))
        }
        OutputFormat::Yaml => serde_yaml::to_string(answer).map_err(|error| failed(&error)),
    }
}
