//! The five commands to try: printed to be pasted, and run as they are printed by the check.

use std::io::Write;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use kubectl_aicr::api::Phase;
use tokio::process::Command;

use crate::Result;
use crate::gallery::Entry;

/// One command line, of words.
pub(crate) struct Line(Vec<String>);

impl Line {
    fn of(words: &[&str]) -> Self {
        Self(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// The line as a person types it.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.contains(['"', '$', '`', '\\', '!']) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    format!("\"{word}\"")
}

/// The commands, with the names of rollouts that they fit.
pub(crate) struct Commands {
    /// Five that succeed for an approver, in any order.
    pub(crate) to_try: Vec<Line>,
    /// Withdraws an approval.
    pub(crate) revoke: Line,
    /// Is refused, because an editor of the runtime is no approver.
    pub(crate) refused: Line,
}

impl Commands {
    /// Those that fit these rollouts.
    pub(crate) fn for_rollouts(rollouts: &[Entry]) -> Result<Self> {
        let find = |phase: Option<Phase>| {
            let fits = |entry: &&Entry| entry.phase() == phase && entry.spec.assessment_ref.is_some();
            let found = rollouts.iter().find(fits).map(Entry::name);
            found.ok_or_else(|| format!("no sample upgrade is in {phase:?}"))
        };
        let awaiting = find(Some(Phase::AwaitingApproval))?;
        let acknowledging = find(Some(Phase::AwaitingAcknowledgement))?;
        let progressing = find(Some(Phase::Progressing))?;
        // Another one than is approved above, so that it is not refused for being approved already.
        let new = find(None)?;
        let aicr = |words: &[&str]| Line::of(&[&["kubectl", "aicr"], words].concat());
        let approve = ["approve", &awaiting, "--expires", "2h", "--reason", "Maintenance window"];
        Ok(Self {
            to_try: vec![
                Line::of(&["kubectl", "get", "runtimerollouts"]),
                aicr(&["describe", &awaiting]),
                aicr(&approve),
                aicr(&["acknowledge", &acknowledging]),
                aicr(&["reproduce"]),
            ],
            revoke: aicr(&["revoke", &progressing, "--reason", "Training job not checkpointed"]),
            refused: aicr(&["approve", &new, "--reason", "Looks good", "--context", "editor"]),
        })
    }
}

/// Runs a line as the approver, in the sandbox's folder, and shows it with its output.
pub(crate) async fn run(line: &Line, folder: &Path) -> Result<ExitStatus> {
    let mut shown = std::io::stdout();
    // Nobody may be reading; the exit code tells too.
    let _ = writeln!(shown, "$ {}", line.text());
    let _ = shown.flush();
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!(". {}/env && {}", quoted(&folder.display().to_string()), line.text()))
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .status()
        .await?;
    let _ = writeln!(shown);
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        for (word, expected) in [
            ("rollout-1", "rollout-1"),
            ("/a/b.c", "/a/b.c"),
            ("two words", "\"two words\""),
            ("", "\"\""),
            ("a$b", "'a$b'"),
            ("it's $5", r"'it'\''s $5'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
