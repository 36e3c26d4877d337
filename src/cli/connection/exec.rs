//! Credential plugins: programs that a kubeconfig names and that print credentials.
//!
//! kube-rs runs them too, but several times for one client, without a limit of time, and without kubectl's rules on
//! standard input. Here one runs once a command. Source: Kubernetes page "Authenticating", section "client-go
//! credential plugins".

use std::io;
use std::process::Stdio;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use super::deadline::Deadline;
use super::kubeconfig::Exec;
use crate::api::Code;
use crate::cli::error::CliError;

/// Versions of the protocol that kubectl speaks.
const VERSIONS: [&str; 2] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

/// More than any certificate chain needs.
const LONGEST_ANSWER: u64 = 1 << 20;

/// What a plugin gave. It has no `Debug`: it holds secrets.
#[derive(Default)]
pub(super) struct Given {
    pub(super) token: Option<String>,
    /// Client certificate and key, both in PEM.
    pub(super) identity: Option<(String, String)>,
}

/// A plugin that may be run.
struct Plugin<'a> {
    exec: &'a Exec,
    command: &'a str,
    version: &'a str,
    /// May it ask the person at the terminal?
    interactive: bool,
    /// The user that it is for, in words.
    whose: &'a str,
}

/// Runs the plugin of a user. Without a person at the terminal it shares the command's deadline; with one, what it
/// asks may take its time.
pub(super) async fn run(
    exec: &Exec,
    whose: &str,
    cluster: Value,
    at_terminal: bool,
    deadline: &mut Deadline,
) -> Result<Given, CliError> {
    let plugin = Plugin::of(exec, whose, at_terminal)?;
    let info = plugin.info(cluster);
    let answer = if plugin.interactive {
        deadline.pause_for(plugin.answer(&info)).await?
    } else {
        deadline.bound(plugin.answer(&info)).await.map_err(|_| {
            let (command, budget) = (plugin.command, deadline.budget());
            let message =
                format!("credential plugin '{command}' of {whose} did not finish within {budget:?}");
            CliError::new(Code::Timeout, message)
        })??
    };
    plugin.read(&answer)
}

impl<'a> Plugin<'a> {
    /// Checks what the kubeconfig says, as kubectl does.
    fn of(exec: &'a Exec, whose: &'a str, at_terminal: bool) -> Result<Self, CliError> {
        let refuse = |problem: String| CliError::invalid(format!("exec of {whose}: {problem}"));
        let command = exec.command.as_deref().ok_or_else(|| refuse("command is missing".into()))?;
        let version = exec.api_version.as_deref().ok_or_else(|| refuse("apiVersion is missing".into()))?;
        if !VERSIONS.contains(&version) {
            return Err(refuse(format!(
                "apiVersion '{version}' is not supported; use {}",
                VERSIONS.join(" or ")
            )));
        }
        if exec.env.iter().any(|variable| variable.name.is_empty()) {
            return Err(refuse("env holds a variable without a name".into()));
        }
        let interactive = match (exec.interactive_mode.as_deref(), at_terminal) {
            (Some("Never"), _) => false,
            (Some("IfAvailable"), _) => at_terminal,
            (Some("Always"), true) => true,
            (Some("Always"), false) => {
                return Err(refuse("interactiveMode is Always, but standard input is no terminal".into()));
            }
            (None, _) if version != VERSIONS[0] => at_terminal,
            (None, _) => {
                return Err(refuse("interactiveMode is missing; use Never, IfAvailable or Always".into()));
            }
            (Some(other), _) => {
                return Err(refuse(format!(
                    "interactiveMode '{other}' is none of Never, IfAvailable, Always"
                )));
            }
        };
        Ok(Self { exec, command, version, interactive, whose })
    }

    /// What the plugin is told about its caller, in `KUBERNETES_EXEC_INFO`.
    fn info(&self, cluster: Value) -> String {
        let mut spec = json!({ "interactive": self.interactive });
        if self.exec.provide_cluster_info {
            spec["cluster"] = cluster;
        }
        json!({ "kind": "ExecCredential", "apiVersion": self.version, "spec": spec }).to_string()
    }

    /// Runs the program and returns what it printed.
    async fn answer(&self, info: &str) -> Result<Vec<u8>, CliError> {
        let mut child = Command::new(self.command)
            .args(&self.exec.args)
            .envs(self.exec.env.iter().map(|variable| (&variable.name, &variable.value)))
            .env("KUBERNETES_EXEC_INFO", info)
            .stdin(if self.interactive { Stdio::inherit() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| self.not_started(&error))?;
        let broken = |error: &io::Error| self.failed(&format!("broke off: {error}"));
        let mut answer = Vec::new();
        if let Some(output) = child.stdout.take() {
            output.take(LONGEST_ANSWER + 1).read_to_end(&mut answer).await.map_err(|error| broken(&error))?;
        }
        if answer.len() as u64 > LONGEST_ANSWER {
            return Err(self.failed("printed more than 1 MiB"));
        }
        let status = child.wait().await.map_err(|error| broken(&error))?;
        if status.success() { Ok(answer) } else { Err(self.failed(&format!("failed: {status}"))) }
    }

    fn not_started(&self, error: &io::Error) -> CliError {
        let mut message = match error.kind() {
            io::ErrorKind::NotFound => "was not found; install it, or check PATH".to_owned(),
            _ => format!("cannot be run: {error}"),
        };
        if let Some(hint) = &self.exec.install_hint {
            message.push('\n');
            message.push_str(&printable(hint));
        }
        self.failed(&message)
    }

    fn failed(&self, problem: &str) -> CliError {
        let Self { command, whose, .. } = self;
        CliError::new(Code::Unauthorized, format!("credential plugin '{command}' of {whose} {problem}"))
    }

    /// Reads the credentials that the program printed, in JSON or YAML.
    fn read(&self, answer: &[u8]) -> Result<Given, CliError> {
        let answer: Answer = serde_yaml::from_slice(answer).map_err(|error| {
            // The error's own text could show a secret; its place cannot.
            let place = error.location().map_or_else(String::new, |place| {
                format!(" (line {}, column {})", place.line(), place.column())
            });
            self.failed(&format!("printed no ExecCredential{place}"))
        })?;
        if answer.kind.is_empty() {
            return Err(self.failed("printed no ExecCredential"));
        }
        if answer.kind != "ExecCredential" || answer.api_version != self.version {
            return Err(self.failed(&format!(
                "printed kind '{}' of {}, not ExecCredential of {}",
                printable(&answer.kind),
                printable(&answer.api_version),
                self.version
            )));
        }
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let status = answer.status.ok_or_else(|| self.failed("printed no status"))?;
        let token = filled(status.token);
        let identity = match (filled(status.client_certificate_data), filled(status.client_key_data)) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(
                    self.failed("printed a certificate without its key or a key without its certificate")
                );
            }
        };
        if token.is_none() && identity.is_none() {
            return Err(self.failed("printed neither a token nor a certificate"));
        }
        Ok(Given { token, identity })
    }
}

/// An `ExecCredential`, as far as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

/// Text without what could steer a terminal; line ends and tabs stay.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

#[cfg(test)]
#[path = "exec_tests.rs"]
mod tests;
