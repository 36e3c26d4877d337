//! A server process that cannot outlive the test's process.
//!
//! Each server is the child of a small `sh` script (`watchdog.sh`) that holds the read end of a pipe whose write end
//! only the test's process has (the standard library makes pipes close-on-exec, so no other child inherits it). When
//! the test's process ends, by whatever means, the kernel closes the pipe and the script kills the server. No signal
//! handler, no process group and no clean-up code of ours has to run for that.
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::error::{Doing, Error, Result};

/// What to start, and what is removed when it has ended.
pub(crate) struct Spec<'a> {
    /// The server's short name; names its log.
    pub(crate) name: &'static str,
    pub(crate) program: &'a Path,
    pub(crate) args: Vec<String>,
    /// Folder for the log.
    pub(crate) logs: &'a Path,
    /// Folder for the exit status.
    pub(crate) folder: &'a Path,
    /// Whether `folder` is removed at the end, and `logs` too unless it holds a file `keep`.
    pub(crate) removes_folders: bool,
}

/// A running server. Dropping it kills the server and waits until it is gone.
pub(crate) struct Server {
    name: &'static str,
    watchdog: Child,
    /// Closing it is what stops the server.
    leash: Option<ChildStdin>,
    pid: u32,
    log: PathBuf,
    exit_file: PathBuf,
}

impl Server {
    pub(crate) fn start(spec: &Spec<'_>) -> Result<Self> {
        let log = spec.logs.join(format!("{}.log", spec.name));
        let exit_file = spec.folder.join(format!("{}.exit", spec.name));
        let removed =
            |path: &Path| if spec.removes_folders { path.as_os_str().to_owned() } else { "".into() };
        let mut watchdog = Command::new("sh")
            .args(["-c", include_str!("watchdog.sh"), "watchdog"])
            .args([log.as_os_str(), exit_file.as_os_str()])
            .args([removed(spec.folder), removed(spec.logs)])
            .arg(spec.program)
            .args(spec.args.iter().map(OsStr::new))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C in a terminal must reach the test's process only; the script then does its work.
            .process_group(0)
            .spawn()
            .doing(|| format!("starting sh to run {}", spec.program.display()))?;
        let leash = watchdog.stdin.take();
        let mut line = String::new();
        if let Some(stdout) = watchdog.stdout.take() {
            BufReader::new(stdout)
                .read_line(&mut line)
                .doing(|| format!("reading the process id of {}", spec.name))?;
        }
        let pid = line.trim().parse().map_err(|_| Error::new(format!("sh did not start {}", spec.name)))?;
        Ok(Self { name: spec.name, watchdog, leash, pid, log, exit_file })
    }

    /// Process ids of the server and of the shell that guards it.
    pub(crate) fn pids(&self) -> [u32; 2] {
        [self.pid, self.watchdog.id()]
    }

    /// An error with the end of the log, if the server has ended by itself.
    pub(crate) fn check(&self) -> Result<()> {
        match std::fs::read_to_string(&self.exit_file) {
            Ok(status) if !status.is_empty() => Err(Error::new(format!(
                "{} ended with status {}{}",
                self.name,
                status.trim(),
                self.log_tail()
            ))),
            _ => Ok(()),
        }
    }

    /// Whether the server's log says that somebody else had its port.
    pub(crate) fn lost_its_port(&self) -> bool {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        self.check().is_err() && log.contains("address already in use")
    }

    /// The last lines of the log, for an error message.
    pub(crate) fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines[lines.len().saturating_sub(15)..].join("\n  ");
        format!("; the end of its log {}:\n  {tail}", self.log.display())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.leash.take());
        // The script ends once the server is gone; there is nobody to tell if waiting fails.
        let _ = self.watchdog.wait();
    }
}
