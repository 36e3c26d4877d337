//! The sandbox: a real control plane with the chart and sample rollouts, to try `kubectl aicr` on.
//!
//! | file | what it does |
//! | --- | --- |
//! | `plans`, `steps`, `gallery` | the sample as data: plans, the steps between them, rollouts in every phase |
//! | `operator` | puts it on the server, each object under the identity that may write it |
//! | `commands` | the commands to try |
//! | `folder` | the folder, which one sandbox has at a time |
//!
//! `make sandbox` builds what it needs and runs it.

mod commands;
mod folder;
mod gallery;
mod operator;
mod plans;
mod steps;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use test_support::{ControlPlane, Identity, tools};
use tokio::signal::unix::{Signal, SignalKind, signal};

use commands::{Commands, quoted};
use folder::Folder;

/// Whatever goes wrong here is told to a person, in words.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Identities that get a context; the first is current.
const PEOPLE: [Identity; 4] =
    [Identity::Approver, Identity::SecondApprover, Identity::Editor, Identity::Admin];

/// Start a control plane with sample rollouts, to try kubectl aicr on, until Ctrl-C
#[derive(Parser)]
#[command(name = "sandbox")]
struct Args {
    /// Run the commands that are printed, as the approver, and end; exits with 1 if one of them fails
    #[arg(long)]
    once: bool,
    /// Folder for servers, kubeconfig and programs; made, and removed at the end
    #[arg(long, value_name = "PATH", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.sandbox"))]
    folder: PathBuf,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    match runtime.block_on(run(&args)) {
        Ok(code) => code,
        Err(error) => fail(error.as_ref()),
    }
}

fn fail(error: &dyn std::error::Error) -> ExitCode {
    say(&format!("error: {error}"));
    ExitCode::FAILURE
}

/// Progress and errors. The terminal may be gone, which must not keep us from cleaning up.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "sandbox: {text}");
}

async fn run(args: &Args) -> Result<ExitCode> {
    let mut ends = Ends::listen()?;
    // Dropped last: what runs in it ends before it is removed.
    let folder = Folder::claim(&args.folder)?;
    let started = tokio::select! {
        started = Sandbox::start(&folder) => started?,
        why = ends.next() => return Ok(ended(why)),
    };
    if args.once {
        return tokio::select! {
            code = check(&started.commands, folder.path()) => code,
            why = ends.next() => { ended(why); Ok(ExitCode::FAILURE) }
        };
    }
    started.tell(&folder);
    tokio::select! {
        error = started.watch() => Err(error),
        why = ends.next() => {
            let code = ended(why);
            drop(started);
            drop(folder);
            say("gone: no process and no folder is left");
            Ok(code)
        }
    }
}

fn ended(why: &str) -> ExitCode {
    say(&format!("{why}: stopping the servers"));
    ExitCode::SUCCESS
}

/// A running sandbox. Dropping it stops the servers.
struct Sandbox {
    plane: ControlPlane,
    commands: Commands,
    rollouts: usize,
    took: Duration,
}

impl Sandbox {
    async fn start(folder: &Folder) -> Result<Self> {
        let began = Instant::now();
        let programs = programs()?;
        say("starting etcd and kube-apiserver");
        // Named by process, so that what still cleans up after a killed sandbox never meets this one's.
        let servers = folder.path().join(format!("servers-{}", std::process::id()));
        let plane = ControlPlane::start_in(&servers).await?;
        say("installing the chart with helm: CRDs, policies, roles");
        test_support::install_chart(&plane).await?;
        say("writing a runtime, plans, an assessment and rollouts as the operator, approvals as approvers");
        let rollouts = operator::populate(&plane).await?;
        for (name, program) in programs {
            folder.link_program(name, &program)?;
        }
        let written = plane.write_kubeconfig(&servers, &PEOPLE)?;
        std::fs::rename(written, folder.path().join("kubeconfig"))?;
        folder.keep_private("kubeconfig")?;
        std::fs::write(folder.path().join("env"), environment(folder.path()))?;
        let commands = Commands::for_rollouts(&rollouts)?;
        Ok(Self { plane, commands, rollouts: rollouts.len(), took: began.elapsed() })
    }

    /// Says how to use it.
    fn tell(&self, folder: &Folder) {
        let path = folder.path().display();
        let lines = self.commands.to_try.iter().enumerate();
        let lines =
            lines.map(|(at, line)| format!("  {}  {}\n", at + 1, line.text())).collect::<Vec<_>>().concat();
        let (url, rollouts, took) = (self.plane.url(), self.rollouts, self.took.as_secs());
        let env = quoted(&format!("{path}/env"));
        let (revoke, refused) = (self.commands.revoke.text(), self.commands.refused.text());
        let text = format!(
            "\nReady after {took} s: an API server at {url} with the chart, a ClusterRuntime, three plans and\n\
             {rollouts} rollouts, one or more in every phase (a real operator has one in progress at a time). No controller runs here: a\n\
             rollout that you approve keeps its phase.\n\n\
             In another terminal, set KUBECONFIG and PATH:\n\n  . {env}\n\n\
             You are alice, an approver. Five commands to try:\n\n{lines}\n\
             Withdraw the approval of the rollout in progress, or see why an editor of the runtime may not approve:\n\n  \
             {revoke}\n  {refused}\n\n\
             Contexts: approver (alice), second-approver (bob), editor (eve), admin.\n\
             Ctrl-C ends it and removes {path}.\n"
        );
        let _ = std::io::stdout().write_all(text.as_bytes());
        let _ = std::io::stdout().flush();
    }

    /// Comes back only when a server has died.
    async fn watch(&self) -> Box<dyn std::error::Error + Send + Sync> {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if let Err(error) = self.plane.check() {
                return error.into();
            }
        }
    }
}

/// What goes into the sandbox's `bin`: the plugin beside this program, its completion, and the kubectl that finds
/// them.
fn programs() -> Result<[(&'static str, PathBuf); 3]> {
    let plugin = std::env::current_exe()?.with_file_name("kubectl-aicr");
    if !plugin.exists() {
        return Err(format!(
            "{} is missing: build it with `cargo build`, or let `make sandbox` do so",
            plugin.display()
        )
        .into());
    }
    let completion = concat!(env!("CARGO_MANIFEST_DIR"), "/../../completions/kubectl_complete-aicr");
    Ok([
        ("kubectl-aicr", plugin),
        ("kubectl_complete-aicr", completion.into()),
        ("kubectl", tools::kubectl()?),
    ])
}

/// What a shell reads to use the sandbox. kubectl's cache goes there too, so that nothing of it is left elsewhere.
fn environment(folder: &Path) -> String {
    let at = |name: &str| quoted(&folder.join(name).display().to_string());
    let (kubeconfig, cache, bin) = (at("kubeconfig"), at("cache"), at("bin"));
    format!("export KUBECONFIG={kubeconfig}\nexport KUBECACHEDIR={cache}\nexport PATH={bin}:\"$PATH\"\n")
}

/// Runs the commands to try.
async fn check(commands: &Commands, folder: &Path) -> Result<ExitCode> {
    let mut failed = 0;
    for line in &commands.to_try {
        let status = commands::run(line, folder).await?;
        if !status.success() {
            failed += 1;
            say(&format!("`{}` ended with {status} instead of 0", line.text()));
        }
    }
    if failed > 0 {
        return Err(format!("{failed} of {} commands failed", commands.to_try.len()).into());
    }
    say(&format!("all {} commands ended with 0", commands.to_try.len()));
    Ok(ExitCode::SUCCESS)
}

/// What ends a sandbox.
struct Ends {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Ends {
    fn listen() -> Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal; the answer says which.
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "interrupted",
            _ = self.terminate.recv() => "terminated",
            _ = self.hangup.recv() => "the terminal was closed",
        }
    }
}
