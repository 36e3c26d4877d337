//! `kubectl aicr revoke ROLLOUT --reason TEXT`. Source: kubectl-aicr, "revoke".

use serde_json::json;

use super::change::{self, Change};
use super::error::CliError;
use super::printer::Printer;
use super::session::Session;
use super::text;
use crate::approval;

/// Records the requester's name, the time and the reason as the revocation.
pub(super) async fn run(
    session: &mut Session<'_>,
    printer: &mut Printer,
    name: &str,
) -> Result<String, CliError> {
    let user = session.whoami().await?;
    let reason = session.flags.reason.clone().unwrap_or_default();
    change::run(session, printer, name, |session, rollout| {
        let given = approval::may_revoke(rollout)?;
        let at = session.now().truncated();
        let (user_text, approver) = (text::line(&user), text::line(&given.approved_by));
        Ok(Change {
            members: vec![
                ("revokedBy", json!(user)),
                ("revokedAt", json!(at)),
                ("revokeReason", json!(reason)),
            ],
            question: Some(format!(
                "Revoke the approval of {name} by {approver} as {user_text}? This is final."
            )),
            done: format!("rollout {name} revoked by {user_text}\n"),
        })
    })
    .await
}
