//! One guarded change of a rollout's approval: read, judge, ask, read and judge again, write under what was just read.
//!
//! Guarantees: nothing is written that was not judged against the object it changes (resourceVersion and UID are
//! preconditions); a conflict means looking again, until the command's deadline; after an answer that is lost or proves
//! nothing the object is looked up instead of reporting a failure. Source: design section 10.

use std::fmt::Write;
use std::io::BufRead;
use std::time::Duration;

use kube::ResourceExt;
use kube::api::{Patch, PatchParams, ValidationDirective};
use serde_json::{Value, json};

use super::args::Flags;
use super::describe;
use super::error::CliError;
use super::printer::Printer;
use super::session::Session;
use super::text;
use crate::api::{Code, RuntimeRollout, keys};
use crate::approval::Refusal;

/// What is written, and what is said about it.
pub(super) struct Change {
    /// Members of `spec.approval` that are added, with their values; `acknowledgements/-` appends.
    pub(super) members: Vec<(&'static str, Value)>,
    /// What a person on a terminal is asked first, if anything.
    pub(super) question: Option<String>,
    /// What is printed once it is done.
    pub(super) done: String,
}

/// Puts one change into effect. `judge` says what would be written to the rollout as it is, or why nothing may be.
pub(super) async fn run(
    session: &mut Session<'_>,
    printer: &mut Printer,
    name: &str,
    judge: impl Fn(&Session<'_>, &RuntimeRollout) -> Result<Change, Refusal>,
) -> Result<String, CliError> {
    let judged = |session: &Session<'_>, rollout: &RuntimeRollout| {
        judge(session, rollout).map_err(|refusal| refused(name, &refusal))
    };
    let mut seen = session.rollout(name).await?;
    let mut change = judged(session, &seen)?;
    if let Some(question) = change.question.as_ref().filter(|_| asks(session.flags)) {
        let summary = describe::summary(session, &seen, printer.err_look).await?;
        let question = text::field("", &format!("{question} [y/N]"), 0, printer.err_look);
        printer.err(&format!("{summary}\n{} ", question.trim_end()));
        session.connection.while_asking(|| confirmed(printer))?;
        let again = session.rollout(name).await?;
        same_object(&seen, &again)?;
        seen = again;
        change = judged(session, &seen)?;
    }
    let mut conflicts = 0_u32;
    loop {
        let error = match write(session, &seen, &change).await {
            Ok(_) => return Ok(change.done),
            Err(error) if proves_nothing_written(&error) => return Err(error),
            Err(error) => error,
        };
        let conflict = error.status == Some(409);
        let again = match session.rollout(name).await {
            Ok(again) => again,
            Err(lookup) if conflict => return Err(crowded(lookup, conflicts + 1)),
            Err(_) => return Err(crowded(unsure(error, name), conflicts)),
        };
        same_object(&seen, &again)?;
        if conflict {
            conflicts += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        } else if holds(&again, &change) {
            return Ok(change.done);
        } else if again.resource_version() == seen.resource_version() {
            // What was sent may still be on its way, unless the server itself answered.
            return Err(if error.status.is_none() { unsure(error, name) } else { error });
        }
        // Whatever was sent before can no longer be written: its resourceVersion is past.
        seen = again;
        change = judged(session, &seen)?;
    }
}

/// Whether a failed write is certain to have written nothing. A conflict is too, but is worth another attempt; a lost
/// answer is not, nor is a failure of the server or of a gateway, behind which the write may have been made.
fn proves_nothing_written(error: &CliError) -> bool {
    error.status.is_some_and(|status| status != 409 && status < 500)
}

/// A failure after which nobody knows whether the change was made.
fn unsure(mut error: CliError, name: &str) -> CliError {
    let _ =
        write!(error.message, "; whether the change was made is not known: see kubectl aicr describe {name}");
    error
}

/// A failure after this many conflicts, which it would hide.
fn crowded(error: CliError, conflicts: u32) -> CliError {
    if conflicts == 0 {
        return error;
    }
    let message = format!(
        "{}; before, others changed the rollout {conflicts} times while this command was about to",
        error.message
    );
    CliError { message, ..error }
}

/// A refusal, naming the rollout.
fn refused(name: &str, refusal: &Refusal) -> CliError {
    CliError::new(refusal.code(), format!("rollout {name}: {refusal}"))
}

/// Whether a person is there to be asked: standard input and standard error are both a terminal.
fn asks(flags: &Flags) -> bool {
    use std::io::IsTerminal;
    !flags.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn confirmed(printer: &mut Printer) -> Result<(), CliError> {
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let entered = read.is_ok() && answer.ends_with('\n');
    if !entered {
        // The input ended on the question's line.
        printer.err("\n");
    }
    let yes = entered && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if yes { Ok(()) } else { Err(CliError::new(Code::Canceled, "not confirmed")) }
}

/// A rollout that was deleted and created again under its name is another one: what was shown is not what would be
/// bound.
fn same_object(before: &RuntimeRollout, after: &RuntimeRollout) -> Result<(), CliError> {
    if before.uid() == after.uid() {
        return Ok(());
    }
    let message =
        format!("rollout {} was deleted and created again meanwhile; look at the new one", before.name_any());
    Err(CliError::new(Code::Conflict, message))
}

async fn write(
    session: &Session<'_>,
    seen: &RuntimeRollout,
    change: &Change,
) -> Result<RuntimeRollout, CliError> {
    let mut operations = vec![
        json!({"op": "replace", "path": "/metadata/uid", "value": seen.uid()}),
        json!({"op": "replace", "path": "/metadata/resourceVersion", "value": seen.resource_version()}),
    ];
    if seen.spec.approval.is_none() {
        operations.push(json!({"op": "add", "path": "/spec/approval", "value": {}}));
    }
    let appends = change.members.iter().any(|(member, _)| *member == "acknowledgements/-");
    if appends && seen.spec.approval.as_ref().is_none_or(|given| given.acknowledgements.is_empty()) {
        operations.push(json!({"op": "add", "path": "/spec/approval/acknowledgements", "value": []}));
    }
    for (member, value) in &change.members {
        operations.push(json!({"op": "add", "path": format!("/spec/approval/{member}"), "value": value}));
    }
    let patch = serde_json::from_value(Value::Array(operations))
        .map_err(|error| CliError::new(Code::Internal, format!("the patch cannot be built: {error}")))?;
    let parameters = PatchParams {
        field_manager: Some(keys::PLUGIN_FIELD_MANAGER.to_owned()),
        field_validation: Some(ValidationDirective::Strict),
        ..PatchParams::default()
    };
    let rollouts = session.rollouts();
    let name = seen.name_any();
    let patch = Patch::<()>::Json(patch);
    session.connection.call(rollouts.patch(&name, &parameters, &patch)).await
}

/// Whether a rollout's approval has every member of a change.
fn holds(rollout: &RuntimeRollout, change: &Change) -> bool {
    let Ok(approval) = serde_json::to_value(&rollout.spec.approval) else { return false };
    change.members.iter().all(|(member, value)| match member.strip_suffix("/-") {
        Some(list) => approval[list].as_array().is_some_and(|items| items.contains(value)),
        None => approval.get(member) == Some(value),
    })
}
