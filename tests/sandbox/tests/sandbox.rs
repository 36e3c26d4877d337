//! The sandbox as a user has it: the commands that it prints work through the real kubectl, and it leaves nothing behind.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox");

/// The plugin lies beside the sandbox, which links it.
fn sandbox(folder: &Path) -> Command {
    let plugin = Path::new(SANDBOX).with_file_name("kubectl-aicr");
    assert!(plugin.exists(), "{} is missing: `cargo build` makes it", plugin.display());
    let mut command = Command::new(SANDBOX);
    command.arg("--folder").arg(folder).stdin(Stdio::null());
    command
}

/// A sandbox in the foreground.
struct Running {
    process: Child,
    folder: PathBuf,
}

impl Running {
    fn start(folder: &Path) -> Self {
        let mut command = sandbox(folder);
        let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self { process, folder: folder.to_owned() }
    }

    /// Reads what it prints until the last line about how to end it.
    fn wait_until_ready(&mut self) -> String {
        let mut told = String::new();
        let mut lines = BufReader::new(self.process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let last = lines.find(|line| {
            told.push_str(line);
            told.push('\n');
            line.starts_with("Ctrl-C ends it")
        });
        assert!(last.is_some(), "it never said how to end it: {told}{}", self.errors());
        told
    }

    fn wait_for_servers(&self) {
        wait_until("the servers run", || !servers(&self.folder).is_empty());
    }

    /// Sends a signal and waits for the end. Nothing may be left then.
    fn end(mut self, signal: &str) -> (ExitStatus, String) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let patience = Instant::now() + Duration::from_secs(20);
        let status = loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < patience, "it still runs 20 s after {signal}");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(servers(&self.folder), Vec::<String>::new(), "{signal} left processes behind");
        assert!(!self.folder.exists(), "{signal} left {} behind", self.folder.display());
        (status, self.errors())
    }

    fn errors(&mut self) -> String {
        let mut errors = String::new();
        if let Some(mut stderr) = self.process.stderr.take() {
            stderr.read_to_string(&mut errors).unwrap();
        }
        errors
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only a failed test leaves it running. The servers end with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Command lines of processes that name the folder, the sandbox itself left out.
fn servers(folder: &Path) -> Vec<String> {
    let wanted = format!("{}/servers", folder.display());
    let processes = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&wanted))
        .collect()
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < patience, "a minute on, this still does not hold: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_five_printed_commands_work_through_kubectl_for_an_approver() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("a sandbox");
    let output = sandbox(&folder).arg("--once").output().unwrap();
    let (shown, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{shown}{errors}");
    let commands: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    let verbs: Vec<&str> = commands
        .iter()
        .filter_map(|line| line.split(' ').find(|word| !["kubectl", "aicr"].contains(word)))
        .collect();
    assert_eq!(verbs, ["get", "describe", "approve", "acknowledge", "reproduce"], "{shown}");
    for phase in [
        "AwaitingApproval",
        "Progressing",
        "AwaitingAcknowledgement",
        "Stalled",
        "Validating",
        "Succeeded",
        "Failed",
        "Expired",
        "Revoked",
        "Superseded",
        "Orphaned",
    ] {
        assert!(shown.lines().any(|line| line.split_whitespace().nth(1) == Some(phase)), "{phase}: {shown}");
    }
    for words in [
        "Assessment: aicr-upgrade-check-4f1d0c9a7b2e8835",
        "verified",
        "reset-breaker:",
        "approved by alice until",
        "nvsentinel acknowledged by alice",
        "Recipe:      aicr-reproduce/recipe.json",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!folder.exists() && servers(&folder).is_empty());
}

#[test]
fn ctrl_c_leaves_nothing_behind_and_until_then_the_folder_is_taken() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("sandbox");
    let mut running = Running::start(&folder);
    let told = running.wait_until_ready();

    // What an editor may not do, exactly as it is printed.
    let refused = told.lines().find(|line| line.contains("--context editor")).unwrap();
    let script = format!(". {}/env && {refused}", folder.display());
    let output = Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let reason = text(&output.stderr);
    assert!(reason.starts_with("error: [UNAUTHORIZED]") && reason.contains("eve"), "{reason}");

    let second = sandbox(&folder).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let error = text(&second.stderr);
    assert!(error.contains("error: a sandbox already runs in"), "{error}");

    let (status, errors) = running.end("INT");
    assert!(status.success(), "{errors}");
    assert!(errors.contains("no process and no folder is left"), "{errors}");
}

#[test]
fn a_signal_while_it_starts_leaves_nothing_behind_either() {
    for signal in ["TERM", "HUP"] {
        let parent = tempfile::tempdir().unwrap();
        let running = Running::start(&parent.path().join("sandbox"));
        running.wait_for_servers();
        let (status, errors) = running.end(signal);
        assert!(status.success(), "{errors}");
    }
}
