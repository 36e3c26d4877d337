//! The operator's process in tests: run as the chart's own ServiceAccount, watched through its health, log and Lease.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use test_support::{Cluster, Identity};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::cli_kit::BINARY;

/// An image pinned by digest.
pub(crate) fn pinned(name: &str) -> String {
    format!("{name}@sha256:{}", "a".repeat(64))
}

/// The least that the process must be given.
pub(crate) fn least() -> Vec<String> {
    vec![
        "--aicr-version=v1.1.2".into(),
        format!("--aicr-image={}", pinned("ghcr.io/nvidia/aicr")),
        format!("--operator-image={}", pinned("ghcr.io/nvidia/aicr-operator")),
        "--registry-repository=oci://registry.example.com/aicr/test".into(),
        r#"--namespaces-components=[{"name":"gpu-operator","podSecurity":"privileged"}]"#.into(),
    ]
}

/// The process, not started, in an environment that holds nothing.
pub(crate) fn program(arguments: &[String]) -> Command {
    let mut command = Command::new(BINARY);
    command.arg("controller").args(arguments).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// A running process.
pub(crate) struct Operator {
    child: Child,
    pod: String,
    log: PathBuf,
    port: u16,
}

impl Operator {
    /// Starts the process as the chart's ServiceAccount and waits until it serves health.
    pub(crate) async fn start(cluster: &Cluster, pod: &str) -> Self {
        Self::start_with(&cluster.kubeconfig(&[Identity::Operator]), cluster.folder(), pod).await
    }

    /// The same with a kubeconfig of the test's own.
    pub(crate) async fn start_with(kubeconfig: &Path, folder: &Path, pod: &str) -> Self {
        let log = folder.join(format!("{pod}.log"));
        let mut arguments = least();
        arguments.extend([
            format!("--kubeconfig={}", kubeconfig.display()),
            format!("--pod-name={pod}"),
            "--listen=127.0.0.1:0".into(),
        ]);
        let stderr = std::fs::File::create(&log).unwrap();
        let child = program(&arguments).stderr(stderr).spawn().unwrap();
        let mut operator = Self { child, pod: pod.to_owned(), log, port: 0 };
        let line = operator.logs("the operator has started").await;
        let address = line["address"].as_str().unwrap();
        operator.port = address.rsplit_once(':').unwrap().1.parse().unwrap();
        operator
    }

    /// Waits for a line of the log with this message.
    pub(crate) async fn logs(&self, message: &str) -> serde_json::Value {
        let started = Instant::now();
        loop {
            let text = std::fs::read_to_string(&self.log).unwrap();
            let lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
            if let Some(line) =
                lines.into_iter().find(|line| line["message"].as_str().unwrap().contains(message))
            {
                return line;
            }
            assert!(
                started.elapsed() < Duration::from_mins(1),
                "{} never said '{message}':\n{text}",
                self.pod
            );
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Status and body of an endpoint.
    pub(crate) async fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let status = answer[9..12].parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1.to_owned();
        (status, body)
    }

    /// Waits until the endpoint answers with this status, and gives its body.
    pub(crate) async fn answers(&self, path: &str, status: u16, within: Duration) -> String {
        let started = Instant::now();
        loop {
            let (now, body) = self.get(path).await;
            if now == status {
                return body;
            }
            assert!(started.elapsed() < within, "{path} of {} stays {now}: {body}", self.pod);
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sends a signal, as `kill` names it.
    pub(crate) async fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().await.unwrap().success());
    }

    /// Waits for its end; gives the exit code, `None` if a signal ended it, and how long that took.
    pub(crate) async fn ends(&mut self, within: Duration) -> (Option<i32>, Duration) {
        let started = Instant::now();
        let status = tokio::time::timeout(within, self.child.wait()).await;
        let status = status.unwrap_or_else(|_| panic!("{} still runs:\n{}", self.pod, self.whole_log()));
        (status.unwrap().code(), started.elapsed())
    }

    /// All that it logged.
    pub(crate) fn whole_log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Whether the API server's audit log means this process.
    pub(crate) fn made(&self, request: &test_support::Request) -> bool {
        request.user_agent.ends_with(&format!("({})", self.pod))
    }
}

/// Who holds the Lease; empty if nobody does or there is none.
pub(crate) async fn holder(cluster: &Cluster) -> String {
    let leases: Api<Lease> = Api::namespaced(cluster.client(Identity::Admin), test_support::NAMESPACE);
    let lease = leases.get_opt("aicr-operator").await.unwrap();
    lease.and_then(|lease| lease.spec).and_then(|spec| spec.holder_identity).unwrap_or_default()
}

/// Waits until this pod's process holds the Lease, and tells how long that took.
pub(crate) async fn leads(cluster: &Cluster, pod: &str, within: Duration) -> Duration {
    let started = Instant::now();
    loop {
        let holder = holder(cluster).await;
        if holder.starts_with(&format!("{pod}_")) {
            return started.elapsed();
        }
        assert!(started.elapsed() < within, "after {within:?} the Lease is held by '{holder}', not by {pod}");
        sleep(Duration::from_millis(50)).await;
    }
}
