//! `kubectl aicr acknowledge ROLLOUT`. Source: kubectl-aicr, "acknowledge".

use serde_json::json;

use super::change::{self, Change};
use super::error::CliError;
use super::printer::Printer;
use super::session::Session;
use super::text;
use crate::approval;

/// Records, as the requester, that the steps after the awaited release's apply are done.
pub(super) async fn run(
    session: &mut Session<'_>,
    printer: &mut Printer,
    name: &str,
) -> Result<String, CliError> {
    let user = session.whoami().await?;
    change::run(session, printer, name, |session, rollout| {
        let now = session.now();
        let step = approval::may_acknowledge(rollout)?;
        let given =
            json!({"release": step.release, "acknowledgedBy": user, "acknowledgedAt": now.truncated()});
        let (user_text, release) = (text::line(&user), text::line(&step.release));
        Ok(Change {
            members: vec![("acknowledgements/-", given)],
            question: None,
            done: format!("rollout {name}: {release} acknowledged by {user_text}\n"),
        })
    })
    .await
}
