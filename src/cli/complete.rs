//! Completion: scripts for shells, and candidates for kubectl.
//!
//! kubectl completes a plugin by running `kubectl_complete-<plugin>` with the words typed so far; it reads candidates,
//! one a line with a tab before the description, and a last line `:4` (do not complete file names). Failures are
//! silent: nobody wants an error in the middle of typing.

use std::time::Duration;

use clap::{CommandFactory, Parser};
use kube::ResourceExt;
use kube::api::{Api, ListParams};

use super::args::{Cli, Command, Shell};
use super::env::Env;
use super::error::CliError;
use super::printer::Look;
use super::session::Session;
use super::text;
use super::words::{argument, operands, takes_value};
use crate::api::{ClusterRuntime, RuntimeRollout, Time, keys};
use crate::approval;

/// Longest wait for the server while somebody types.
const PATIENCE: Duration = Duration::from_secs(5);

/// The completion script of a shell, for the command `kubectl-aicr`.
pub(super) fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(
        clap_complete::Shell::from(shell),
        &mut Cli::command(),
        "kubectl-aicr",
        &mut script,
    );
    String::from_utf8_lossy(&script).into_owned()
}

/// Candidates for the last of `words`, as kubectl reads them.
pub(super) async fn run(words: &[String], env: &Env) -> String {
    let (typed, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    let found = match offline(before, typed) {
        Some(found) => found,
        None => names(before, env).await.unwrap_or_default(),
    };
    let lines = found
        .iter()
        .filter(|(word, _)| word.starts_with(typed))
        .map(|(word, about)| format!("{word}\t{about}\n"));
    lines.chain([":4\n".to_owned()]).collect()
}

type Candidates = Vec<(String, String)>;

/// Candidates that need no server; `None` where names are to be listed.
fn offline(before: &[String], typed: &str) -> Option<Candidates> {
    let root = Cli::command();
    if let Some(values) = flag_values(&root, before) {
        return Some(values);
    }
    if typed.starts_with('-') {
        return Some(flags(&root));
    }
    let operands: Vec<&str> = operands(&root, before).map(|(_, word)| word).collect();
    let Some(name) = operands.first() else { return Some(commands(&root)) };
    match (*name, operands.len()) {
        ("describe" | "approve" | "revoke" | "acknowledge" | "reproduce", 1) => None,
        ("completion", 1) => {
            Some(possible_values(root.find_subcommand("completion")?.get_positionals().next()?))
        }
        ("help", 1) => Some(commands(&root)),
        _ => Some(Candidates::new()),
    }
}

/// The values of the flag that the words end with, when they end with one that takes a value.
fn flag_values(root: &clap::Command, before: &[String]) -> Option<Candidates> {
    let flag = argument(root, before.last()?)?;
    takes_value(flag).then(|| possible_values(flag))
}

fn possible_values(argument: &clap::Arg) -> Candidates {
    let values = argument.get_possible_values();
    let about =
        |value: &clap::builder::PossibleValue| value.get_help().map(ToString::to_string).unwrap_or_default();
    values.iter().map(|value| (value.get_name().to_owned(), about(value))).collect()
}

fn commands(root: &clap::Command) -> Candidates {
    let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    shown.map(|command| (command.get_name().to_owned(), about(command))).collect()
}

fn flags(root: &clap::Command) -> Candidates {
    let shown = root.get_arguments().filter(|argument| !argument.is_hide_set());
    let about = |argument: &clap::Arg| argument.get_help().map(ToString::to_string).unwrap_or_default();
    shown.filter_map(|argument| Some((format!("--{}", argument.get_long()?), about(argument)))).collect()
}

/// Names from the server that the command can do something with.
async fn names(before: &[String], env: &Env) -> Result<Candidates, CliError> {
    let line = ["kubectl-aicr".to_owned()].into_iter().chain(before.iter().cloned());
    // The name is what is missing, so the line is parsed with one that no object has.
    let parsed = Cli::try_parse_from(line.chain(["x".to_owned()]));
    let mut cli = parsed.map_err(|error| CliError::invalid(error.to_string()))?;
    cli.flags.connection.request_timeout.get_or_insert(PATIENCE);
    let session = Session::open(&cli.flags, env, Look::default()).await?;
    if let Command::Reproduce { .. } = cli.command {
        return plans(&session).await;
    }
    let listed = session.connection.call(session.rollouts().list(&ListParams::default())).await?;
    let now = session.now();
    Ok(listed.iter().filter(|rollout| fits(&cli.command, rollout, now)).map(candidate).collect())
}

/// Whether a command would not refuse a rollout.
fn fits(command: &Command, rollout: &RuntimeRollout, now: Time) -> bool {
    match command {
        Command::Approve(_) => approval::may_approve(rollout, None, now).is_ok(),
        Command::Revoke(_) => approval::may_revoke(rollout).is_ok(),
        Command::Acknowledge(_) => approval::may_acknowledge(rollout).is_ok(),
        _ => true,
    }
}

fn candidate(rollout: &RuntimeRollout) -> (String, String) {
    let phase = rollout.status.as_ref().and_then(|status| status.phase);
    let about = approval::ended_as(rollout)
        .unwrap_or_else(|| phase.map_or("Pending", |phase| phase.as_str()).to_owned());
    (text::line(&rollout.name_any()), text::line(&about))
}

/// The plans that the runtime names; approvers may not list ConfigMaps.
async fn plans(session: &Session<'_>) -> Result<Candidates, CliError> {
    let runtimes: Api<ClusterRuntime> = Api::all(session.connection.client());
    let runtime = session.connection.call(runtimes.get(keys::SINGLETON)).await?;
    let status = runtime.status.unwrap_or_default();
    let digests = [(status.active_plan_digest, "active plan"), (status.candidate_plan_digest, "candidate")];
    let named =
        digests.into_iter().filter_map(|(digest, about)| Some((text::line(&digest?), about.to_owned())));
    Ok(named.filter(|(digest, _)| !digest.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::{Env, Shell, fits, offline, run, script};
    use crate::api::fixtures::{approval, at, rollout_with};
    use crate::cli::args::{Command, RolloutName};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn commands_flags_and_values_are_completed_without_a_server() {
        for (line, expected) in [
            ("rep", "reproduce\t"),
            ("describe --out", "--output\t"),
            ("describe -o y", "yaml\t"),
            ("--context prod completion z", "zsh\t"),
            ("describe --operator-n", "--operator-namespace\t"),
        ] {
            let output = run(&words(line), &Env::default()).await;
            assert!(output.starts_with(expected), "{line}: {output}");
            assert!(output.ends_with("\n:4\n"), "{line}: {output}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_completed_gives_no_candidates_and_no_error() {
        for line in ["describe one t", "approve --reason t", "nonsense t", "version t"] {
            assert_eq!(run(&words(line), &Env::default()).await, ":4\n", "{line}");
        }
        let nowhere: Env = [("KUBECONFIG", "/nonexistent"), ("HOME", "/nonexistent")].into_iter().collect();
        assert_eq!(run(&words("approve rol"), &nowhere).await, ":4\n");
    }

    #[test]
    fn names_are_listed_where_a_name_is_due_also_after_flags() {
        for line in ["describe ", "--context c approve ", "approve --reason x ", "reproduce "] {
            let all = words(line);
            let (typed, before) = all.split_last().unwrap();
            assert_eq!(offline(before, typed), None, "{line}");
        }
    }

    #[test]
    fn a_rollout_is_offered_to_the_commands_that_would_take_it() {
        let name = || RolloutName { name: "x".into() };
        let pending = rollout_with(|_| {});
        let approved = rollout_with(|value| value["spec"]["approval"] = approval());
        let now = at("00:00:00");
        for (rollout, approve, revoke) in [(&pending, true, false), (&approved, false, true)] {
            assert_eq!(fits(&Command::Approve(name()), rollout, now), approve);
            assert_eq!(fits(&Command::Revoke(name()), rollout, now), revoke);
            assert!(!fits(&Command::Acknowledge(name()), rollout, now));
            assert!(fits(&Command::Describe(name()), rollout, now));
        }
    }

    #[test]
    fn every_shell_has_a_script_that_names_the_commands() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
            let script = script(shell);
            assert!(script.contains("acknowledge") && script.contains("kubectl-aicr"), "{shell:?}");
        }
    }
}
