//! The program `aicr` of the tests.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::exit;

use aicr_standin::command::{Surroundings, run};
use aicr_standin::setup::Setup;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a command that was asked to end.
const CANCELED: i32 = 9;
/// The exit code of a panic, which no test takes for a failure that AICR documents.
const PANICKED: i32 = 101;

fn main() {
    // A panic ends the process too: without this it would wait for a signal for ever.
    std::thread::spawn(|| exit(std::panic::catch_unwind(command).unwrap_or(PANICKED)));
    exit(ended_by_signal());
}

/// Waits until the process is asked to end.
fn ended_by_signal() -> i32 {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return 8 };
    runtime.block_on(async {
        let (Ok(mut terminate), Ok(mut interrupt)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return 8;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        let _ =
            writeln!(std::io::stderr(), "[cli] command failed: error=context canceled exitCode={CANCELED}");
        CANCELED
    })
}

/// Runs the command and returns its exit code.
#[expect(clippy::disallowed_methods, reason = "a program reads its environment")]
fn command() -> i32 {
    let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut arguments = std::env::args();
    let named = arguments.next().map(PathBuf::from).unwrap_or_default();
    // A name without a folder was found on the PATH; the file beside the program is meant.
    let program = if named.parent().is_some_and(|parent| parent.as_os_str().is_empty()) {
        let folder = std::env::current_exe().unwrap_or_default();
        folder.with_file_name(named.file_name().unwrap_or_default())
    } else {
        named
    };
    let surroundings = Surroundings {
        agent: environment("AICR_AGENT_MODE").as_deref() == Some("true"),
        node: environment("NODE_NAME").unwrap_or_default(),
        run_id: run_id(),
    };
    let arguments: Vec<String> = arguments.collect();
    let outcome = Setup::read(&program, environment).and_then(|setup| run(&setup, &arguments, &surroundings));
    match outcome {
        Ok(text) => match std::io::stdout().write_all(text.as_bytes()) {
            Ok(()) => 0,
            Err(_) => 8,
        },
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "{failure}");
            failure.exit()
        }
    }
}

/// Twelve hexadecimal digits that no other run has.
#[expect(clippy::disallowed_methods, reason = "names of runs differ by the clock")]
fn run_id() -> String {
    let nanoseconds = jiff::Timestamp::now().as_nanosecond();
    let seed = format!("{nanoseconds} {}", std::process::id());
    let digest = <sha2::Sha256 as sha2::Digest>::digest(seed);
    hex::encode(&digest[..6])
}
