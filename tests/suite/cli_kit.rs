//! The plugin as a process, whole: exit code and both streams together, in an environment that holds nothing else.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use kubectl_aicr::plan::Digest;
use serde_json::{Value, json};
use test_support::{Cluster, Identity};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::admission_kit::{self, CONFIG_MAPS, NAME, ROLLOUTS, World};

/// The built plugin.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-aicr");
/// The deadline of the rollouts that [`waiting`] makes.
pub(crate) const DEADLINE: &str = "2099-12-15T04:00:00Z";

/// Snapshots of whole runs: what the clock and a server's port change is replaced by a word.
macro_rules! golden {
    ($ran:expr) => {{
        let ran = $ran;
        insta::with_settings!({
            omit_expression => true,
            filters => vec![
                (r"(2099-\d\d-\d\dT\d\d:\d\d:\d\dZ), in \d+[dhms](\d+[hms])?", "$1, [distance]"),
                (r"20[2-8]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ, (now|(in )?\d+[dhms](\d+[hms])?( ago)?)", "[time and distance]"),
                (r"https?://127\.0\.0\.1:\d+", "[server]"),
            ],
        }, { insta::assert_snapshot!(ran) })
    }};
}
pub(crate) use golden;

/// How the plugin is run.
#[derive(Clone)]
pub(crate) struct Plugin {
    folder: PathBuf,
    environment: Vec<(String, String)>,
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    line: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Plugin {
    /// The plugin of somebody at a cluster.
    pub(crate) fn of(cluster: &Cluster, identity: Identity) -> Self {
        Self::at(&cluster.kubeconfig(&[identity]), cluster.folder())
    }

    /// The plugin with a kubeconfig, run in a folder.
    pub(crate) fn at(kubeconfig: &Path, folder: &Path) -> Self {
        Self::nowhere(folder).with("KUBECONFIG", kubeconfig.to_str().unwrap())
    }

    /// The plugin without a kubeconfig. Its home is the folder.
    pub(crate) fn nowhere(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), environment: Vec::new() }.with("HOME", folder.to_str().unwrap())
    }

    /// The same with an environment variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A program in the plugin's environment and folder, without standard input.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.folder).env_clear().envs(self.environment.iter().cloned());
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Runs the plugin to its end.
    pub(crate) async fn run(&self, args: &[&str]) -> Ran {
        Ran::of(format!("kubectl aicr {}", args.join(" ")), self.program(BINARY, args)).await
    }

    /// Runs a bash script whose failures in a pipe count, with `kubectl-aicr` and the machine's usual programs on its
    /// PATH.
    pub(crate) async fn bash(&self, script: &str) -> Ran {
        Ran::of(
            script.to_owned(),
            self.program("bash", &["-o", "pipefail", "-c", script]).env("PATH", path()),
        )
        .await
    }

    /// Starts the plugin on a terminal of 100 columns, its standard output going to a file if `apart`.
    pub(crate) fn on_terminal(&self, args: &[&str], apart: bool) -> Terminal {
        self.on_wide_terminal(100, args, apart)
    }

    /// Starts the plugin on a terminal of this many columns.
    pub(crate) fn on_wide_terminal(&self, columns: u16, args: &[&str], apart: bool) -> Terminal {
        let quoted: Vec<String> =
            args.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        let file = self.folder.join("stdout");
        let redirect = if apart { format!(" >'{}'", file.display()) } else { String::new() };
        let line = format!("stty rows 40 cols {columns}; exec '{BINARY}' {}{redirect}", quoted.join(" "));
        let mut command = self.program("script", &["-qefc", &line, "/dev/null"]);
        command.env("PATH", path()).env("SHELL", "/bin/sh").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, screen) = (child.stdin.take(), child.stdout.take().unwrap());
        let line = format!("kubectl aicr {}", args.join(" "));
        Terminal { child, stdin, screen, seen: Vec::new(), line, file: Some(file).filter(|_| apart) }
    }
}

/// The PATH of this process with the plugin's folder before it.
#[expect(clippy::disallowed_methods, reason = "the PATH decides which programs a test finds")]
pub(crate) fn path() -> std::ffi::OsString {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let own = Path::new(BINARY).parent().unwrap().to_owned();
    std::env::join_paths([own].into_iter().chain(std::env::split_paths(&rest))).unwrap()
}

impl Ran {
    /// Runs a command to its end; `line` is what people would type.
    pub(crate) async fn of(line: String, command: impl std::borrow::BorrowMut<Command>) -> Self {
        let mut command = command;
        let output = command.borrow_mut().output().await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { line, code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Asserts success with nothing on standard error, and gives standard output.
    #[track_caller]
    pub(crate) fn done(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self}");
        &self.stdout
    }

    /// Asserts a failed command with nothing on standard output, and gives standard error.
    #[track_caller]
    pub(crate) fn failed(&self) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{self}");
        &self.stderr
    }

    /// Asserts a usage error with nothing on standard output, and gives standard error.
    #[track_caller]
    pub(crate) fn misused(&self) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{self}");
        &self.stderr
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.line)?;
        writeln!(f, "{}", self.stdout.trim_end())?;
        if !self.stderr.is_empty() {
            writeln!(f, "-- standard error --\n{}", self.stderr.trim_end())?;
        }
        match self.code {
            Some(code) => write!(f, "-- exit {code} --"),
            None => write!(f, "-- killed --"),
        }
    }
}

/// A run of the plugin on a terminal, with somebody in front of it.
pub(crate) struct Terminal {
    child: Child,
    stdin: Option<ChildStdin>,
    screen: ChildStdout,
    seen: Vec<u8>,
    line: String,
    file: Option<PathBuf>,
}

impl Terminal {
    /// Waits until this is on the screen, and gives all that is.
    pub(crate) async fn shows(&mut self, text: &str) -> String {
        loop {
            let seen = self.screen();
            if seen.contains(text) {
                return seen;
            }
            let mut more = [0; 4096];
            let count = self.screen.read(&mut more).await.unwrap();
            assert!(count > 0, "the plugin ended and never showed '{text}':\n{seen}");
            self.seen.extend(&more[..count]);
        }
    }

    /// Types something.
    pub(crate) async fn types(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).await.unwrap();
        stdin.flush().await.unwrap();
    }

    /// Waits for the end. What was on the screen counts as standard error where standard output went to a file, and as
    /// standard output otherwise.
    pub(crate) async fn ends(mut self) -> Ran {
        self.screen.read_to_end(&mut self.seen).await.unwrap();
        let status: ExitStatus = self.child.wait().await.unwrap();
        let screen = self.screen();
        let (stdout, stderr) = match &self.file {
            Some(file) => (std::fs::read_to_string(file).unwrap(), screen),
            None => (screen, String::new()),
        };
        Ran { line: self.line, code: status.code(), stdout, stderr }
    }

    /// What is on the screen, with plain line ends.
    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.seen).replace('\r', "")
    }
}

/// A rollout that waits for its approval until [`DEADLINE`].
pub(crate) fn waiting(name: &str) -> Value {
    let mut rollout = admission_kit::rollout(name);
    rollout["spec"]["deadline"] = DEADLINE.into();
    rollout
}

/// The report of AICR that [`upgrade`] refers to.
pub(crate) fn report() -> String {
    json!({
        "from": "active.json", "to": "target.json", "deployer": "argocd",
        "components": [
            {"component": "gpu-operator", "change": "version", "from": "v26.7.0", "to": "v26.7.1", "verdict": "safe",
             "notes": "1 patch, verified", "breaking": false, "downgrade": false, "failsRun": false},
            {"component": "nvsentinel", "change": "version", "from": "v1.22.0", "to": "v1.25.0", "verdict": "manual",
             "notes": "3 minors, 3 steps", "precondition": "No node is cordoned by NVSentinel",
             "steps": [{"id": "check-host-port", "description": "Free host port 2112"},
                       {"id": "apply", "description": "Apply the release"},
                       {"id": "verify", "description": "Check the CRD", "reason": "it gains a field"}],
             "breaking": true, "downgrade": false, "failsRun": true},
            {"component": "kueue", "change": "added", "to": "v0.14.0", "breaking": false, "downgrade": false,
             "failsRun": false},
        ],
        "summary": {"components": 3, "failing": 1},
    })
    .to_string()
}

/// The ConfigMap of a report.
pub(crate) fn report_map(name: &str, text: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {
            "app.kubernetes.io/managed-by": "aicr-operator", "operator.aicr.run/runtime": "cluster",
            "operator.aicr.run/role": "assessment",
        }},
        "immutable": true,
        "data": {"report.json": text},
    })
}

/// Name of the report's ConfigMap.
pub(crate) const REPORT: &str = "aicr-upgrade-check-7";

/// An upgrade with a step of every kind, an inventory and an assessment, which nobody has approved.
pub(crate) fn upgrade() -> Value {
    let mut rollout = waiting(NAME);
    let spec = &mut rollout["spec"];
    spec["assessmentRef"] = json!({"configMap": REPORT, "digest": Digest::of_bytes(report().as_bytes())});
    spec["startingInventory"] = json!([{
        "releaseID": "gpu-operator", "name": "gpu-operator", "uid": "u-1", "planDigest": admission_kit::digest('a'),
        "revision": admission_kit::digest('1'), "specDigest": admission_kit::digest('d'),
    }]);
    spec["steps"] = json!([
        {"release": "gpu-operator", "operation": "Upgrade", "assessment": "Safe", "crdChange": false},
        {"release": "gpu-operator-readiness", "operation": "Verify", "assessment": "NotApplicable"},
        {"release": "nvsentinel", "operation": "Upgrade", "assessment": "Manual", "crdChange": true,
         "postApplySteps": ["verify"]},
        {"release": "kueue", "operation": "Install", "assessment": "Unversioned"},
        {"release": "skyhook", "operation": "Remove", "assessment": "NotApplicable", "uid": "3f2b0000"},
    ]);
    rollout
}

/// A leased cluster with these rollouts.
pub(crate) async fn world_with(rollouts: &[Value]) -> World {
    let world = World::leased().await;
    for rollout in rollouts {
        world.operator.create(ROLLOUTS, rollout).await.unwrap();
    }
    world
}

/// A leased cluster with [`upgrade`] and its report.
pub(crate) async fn world_with_upgrade() -> World {
    let world = world_with(&[upgrade()]).await;
    world.operator.create(CONFIG_MAPS, &report_map(REPORT, &report())).await.unwrap();
    world
}

/// The operator writes the status of a rollout.
pub(crate) async fn set_status(world: &World, name: &str, status: Value) {
    let path = format!("{ROLLOUTS}/{name}/status");
    world.operator.merge(&path, &json!({"status": status})).await.unwrap();
}

/// The operator writes the outcome of a rollout.
pub(crate) async fn set_outcome(world: &World, name: &str, outcome: &str) {
    let label = json!({"metadata": {"labels": {"operator.aicr.run/outcome": outcome}}});
    world.operator.merge(&format!("{ROLLOUTS}/{name}"), &label).await.unwrap();
}

/// Makes a rollout one that needs no approval; then nothing of it can be acknowledged either.
pub(crate) fn needs_no_approval(rollout: &mut Value) {
    let spec = &mut rollout["spec"];
    spec["approvalRequired"] = false.into();
    for step in spec["steps"].as_array_mut().unwrap() {
        step.as_object_mut().unwrap().remove("postApplySteps");
    }
}
