//! The command line: commands, flags and their help. Source: kubectl-aicr, "Usage".

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::connection::ConnectionArgs;
use crate::api::{GoDuration, keys};

/// The whole command line.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "kubectl-aicr",
    bin_name = "kubectl aicr",
    about = "Inspect, approve and revoke rollouts of a cluster's GPU stack, and check what was rendered",
    override_usage = "kubectl aicr COMMAND ROLLOUT [flags]\n       kubectl aicr reproduce [PLAN] [flags]\n       kubectl aicr help",
    subcommand_required = true,
    disable_version_flag = true,
    after_help = EXAMPLES
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Flags that every command takes, before or after the name.
    #[command(flatten)]
    pub flags: Flags,
}

const EXAMPLES: &str = "\
Examples:
  kubectl get runtimerollouts
  kubectl aicr describe rollout-3f9a1c0d2b7e4a51-1
  kubectl aicr approve rollout-3f9a1c0d2b7e4a51-1 --expires 2h --reason \"Maintenance window\"
  kubectl aicr revoke rollout-3f9a1c0d2b7e4a51-1 --reason \"Training job not checkpointed\"
  kubectl aicr reproduce";

/// A command and its operand.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Show what an approver decides on: transition, steps, AICR's assessment, approval and drift
    #[command(override_usage = "kubectl aicr describe ROLLOUT [flags]")]
    Describe(RolloutName),
    /// Approve a rollout in your own name
    #[command(override_usage = "kubectl aicr approve ROLLOUT --reason TEXT [--expires DURATION] [flags]")]
    Approve(RolloutName),
    /// Withdraw an approval: the step in flight finishes and no further step starts
    #[command(override_usage = "kubectl aicr revoke ROLLOUT --reason TEXT [flags]")]
    Revoke(RolloutName),
    /// Record that the steps after a release's apply are done, so that its rollout continues
    #[command(override_usage = "kubectl aicr acknowledge ROLLOUT [flags]")]
    Acknowledge(RolloutName),
    /// Write a plan's recipe and print the commands that render its bundle and compare it
    #[command(override_usage = "kubectl aicr reproduce [PLAN] [flags]")]
    Reproduce {
        /// A plan's digest, sha256:<64 hex>, or its ConfigMap, aicr-plan-<16 hex>; the active plan, else the candidate, when left out
        #[arg(value_name = "PLAN")]
        plan: Option<String>,
    },
    /// Print the version of this plugin and of the server
    #[command(override_usage = "kubectl aicr version [--client] [flags]")]
    Version,
    /// Print a completion script for a shell
    #[command(override_usage = "kubectl aicr completion SHELL", after_help = COMPLETION_HELP)]
    Completion {
        /// bash, zsh, fish or powershell
        #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
        shell: Shell,
    },
    /// Print candidates for the word that is being typed; called by kubectl_complete-aicr
    #[command(name = "__complete", hide = true)]
    Complete {
        /// The words after `kubectl aicr`; the last is the one being typed
        #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

const COMPLETION_HELP: &str = "\
The script completes commands and flags of kubectl-aicr. For `kubectl aicr`, kubectl looks for an executable named
kubectl_complete-aicr on the PATH: install the one from the folder completions beside the plugin.";

/// Operand of the commands about one rollout.
#[derive(Clone, Debug, Args)]
pub struct RolloutName {
    /// Name of the RuntimeRollout, as `kubectl get runtimerollouts` lists it
    #[arg(value_name = "ROLLOUT", value_parser = object_name)]
    pub name: String,
}

/// Flags that every command accepts.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Flags")]
pub struct Flags {
    /// Namespace of the operator, where assessment reports and plans live
    #[arg(long, global = true, value_name = "NAME", default_value = keys::OPERATOR_NAMESPACE, value_parser = object_name)]
    pub operator_namespace: String,
    /// Why you approve or revoke; at most 1024 characters
    #[arg(long, global = true, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,
    /// How long the approval stays valid, such as 2h; until the rollout's deadline when left out or 0
    #[arg(long, global = true, value_name = "DURATION", allow_hyphen_values = true)]
    pub expires: Option<GoDuration>,
    /// Folder that `reproduce` writes the recipe to
    #[arg(long, global = true, value_name = "PATH", default_value = "aicr-reproduce")]
    pub dir: PathBuf,
    /// Print `describe`, `reproduce` and `version` as data: json or yaml
    #[arg(long, short = 'o', global = true, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub output: Option<OutputFormat>,
    /// Do not ask before approving or revoking on a terminal
    #[arg(long, short = 'y', global = true)]
    pub yes: bool,
    /// `version`: print this plugin's version only, without calling the server
    #[arg(long, global = true)]
    pub client: bool,
    /// How to reach the API server.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Form of an answer as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// One JSON document.
    Json,
    /// The same as YAML.
    Yaml,
}

/// Shells that completion scripts are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bourne Again Shell.
    Bash,
    /// Z shell.
    Zsh,
    /// Fish.
    Fish,
    /// PowerShell.
    #[value(name = "powershell")]
    #[expect(clippy::enum_variant_names, reason = "it is called so")]
    PowerShell,
}

impl From<Shell> for clap_complete::Shell {
    fn from(shell: Shell) -> Self {
        match shell {
            Shell::Bash => Self::Bash,
            Shell::Zsh => Self::Zsh,
            Shell::Fish => Self::Fish,
            Shell::PowerShell => Self::PowerShell,
        }
    }
}

/// A Kubernetes object's name: a DNS subdomain. Checked before it becomes part of a request's path.
pub(super) fn object_name(text: &str) -> Result<String, String> {
    let label = |label: &str| {
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        edge(label.chars().next()) && edge(label.chars().last()) && label.chars().all(inner)
    };
    if text.len() <= 253 && text.split('.').all(label) {
        return Ok(text.to_owned());
    }
    Err("a name has at most 253 lower-case letters, digits, '-' and '.', and begins and ends with a letter or digit".into())
}

/// Most characters of a reason.
const MAX_REASON: usize = crate::api::MAX_TEXT;

impl Cli {
    /// What is wrong with the command line beyond its grammar: a usage error, found before anything is read or called.
    pub fn usage_problem(&self) -> Option<String> {
        if let Some(problem) = self.flags.connection.usage_problem() {
            return Some(problem);
        }
        if self.flags.expires.is_some_and(GoDuration::is_negative) {
            return Some("--expires must not be negative".into());
        }
        let reason = self.flags.reason.as_deref().unwrap_or_default();
        let length = reason.chars().count();
        if length > MAX_REASON {
            return Some(format!("--reason has {length} characters; at most {MAX_REASON} are kept"));
        }
        let needs_reason = matches!(self.command, Command::Approve(_) | Command::Revoke(_));
        if needs_reason && reason.trim().is_empty() {
            return Some("--reason TEXT is required: say why, for whoever reads the record later".into());
        }
        if matches!(self.command, Command::Reproduce { .. }) {
            return super::reproduce::usage_problem(&self.flags.dir);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{Cli, object_name};

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_name_that_could_leave_its_path_is_refused() {
        for good in ["rollout-3f9a1c0d2b7e4a51-1", "a", "a.b-c.9", &"a".repeat(253)] {
            assert!(object_name(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "..",
            "../x",
            "a/b",
            "a b",
            "A",
            "-a",
            "a-",
            "a.",
            ".a",
            "a\n",
            "ü",
            "a%2e",
            &"a".repeat(254),
        ] {
            assert!(object_name(bad).is_err(), "{bad:?}");
        }
    }
}
