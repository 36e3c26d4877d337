//! `kubectl aicr approve ROLLOUT --reason TEXT [--expires DURATION]`. Source: kubectl-aicr, "approve".

use std::cell::OnceCell;

use serde_json::json;

use super::change::{self, Change};
use super::error::CliError;
use super::printer::Printer;
use super::session::Session;
use super::text;
use crate::approval::{self, Refusal};

/// Sets the approval in the requester's name and says until when it lasts.
pub(super) async fn run(
    session: &mut Session<'_>,
    printer: &mut Printer,
    name: &str,
) -> Result<String, CliError> {
    let user = session.whoami().await?;
    let reason = session.flags.reason.clone().unwrap_or_default();
    // What was shown is what is bound, however long the answer takes.
    let shown = OnceCell::new();
    change::run(session, printer, name, |session, rollout| {
        let now = session.now();
        let due = approval::may_approve(rollout, session.flags.expires, now)?;
        let until = *shown.get_or_init(|| due);
        if session.flags.expires.is_some() && until <= now {
            return Err(Refusal::ExpiryPassed(until));
        }
        Ok(Change {
            members: vec![
                ("approvedBy", json!(user)),
                ("expiresAt", json!(until)),
                ("reason", json!(reason)),
            ],
            question: Some(format!(
                "Approve {name} as {} until {}?",
                text::line(&user),
                text::instant(until, now)
            )),
            done: format!("rollout {name} approved by {} until {until}\n", text::line(&user)),
        })
    })
    .await
}
