//! The view of a rollout as text.

use std::fmt::Write;

use owo_colors::Style;

use super::assessment::AssessmentView;
use super::view::{ApprovalView, RecordedStepsView, RolloutView, Transition, TransitionKind};
use crate::aicr::UpgradeReport;
use crate::api::{ApprovalState, Operation, Time};
use crate::cli::printer::Look;
use crate::cli::text::{field, instant, line, table};

/// Column at which the values start.
const INDENT: usize = 20;

/// The whole text, each line ended.
pub(super) fn render(view: &RolloutView, now: Time, look: Look) -> String {
    let mut text = String::new();
    let mut put = |label: &str, value: &str| text.push_str(&field(label, value, INDENT, look));
    put("Rollout:", &line(&view.name));
    put("Runtime UID:", &line(&view.runtime_uid));
    put("Transition:", &transition(&view.transition));
    put("Phase:", &painted(view.phase.as_deref().unwrap_or("Pending"), look));
    put(
        "Outcome:",
        &view.outcome.as_deref().map_or_else(|| "none".to_owned(), |outcome| painted(outcome, look)),
    );
    if let Some(evidence) = &view.evidence {
        put("Evidence:", &line(evidence));
    }
    put("Deadline:", &instant(view.deadline, now));
    put("Action timeout:", &view.action_timeout);
    put("Approval:", &approval(&view.approval, view.outcome.is_some(), now));
    if let Some(reason) = &view.approval.reason {
        put("Approval reason:", &line(reason));
    }
    if let Some(reason) = &view.approval.revoke_reason {
        put("Revoke reason:", &line(reason));
    }
    put("Message:", &view.message.as_deref().map_or_else(|| "none".to_owned(), line));
    let inventory = &view.starting_inventory;
    put(
        "Starting inventory:",
        &format!("{}, {}", counted(inventory.applications, "Application"), line(&inventory.digest)),
    );
    put("Drift:", &view.drift.as_deref().map_or_else(|| "none reported".to_owned(), line));
    text.push('\n');
    steps(view, look, &mut text);
    text.push('\n');
    assessment(&view.assessment, look, &mut text);
    recorded_steps(&view.recorded_steps, look, &mut text);
    if !view.acknowledgements.is_empty() {
        text.push('\n');
    }
    for given in &view.acknowledgements {
        let (release, by) = (line(&given.release), line(&given.acknowledged_by));
        let value = format!("{release} by {by} at {}", instant(given.acknowledged_at, now));
        text.push_str(&field("Acknowledged:", &value, "Acknowledged: ".len(), look));
    }
    text
}

/// `<from> -> <to>`, or what stands in for an end that is no plan.
pub(super) fn transition(transition: &Transition) -> String {
    let (from, to) = (line(&transition.from), line(&transition.to));
    let from = if from.is_empty() { "none".to_owned() } else { from };
    match transition.kind {
        TransitionKind::InitialInstall => format!("none (initial install) -> {to}"),
        TransitionKind::RuntimeRemoval => format!("{from} -> none (runtime removal)"),
        TransitionKind::Upgrade => format!("{from} -> {to}"),
        TransitionKind::Reinstall => format!("{from} -> {to} (reinstall)"),
        TransitionKind::Adoption => match &transition.adopted_from {
            Some(uid) => format!("{from} -> {to} (adoption from runtime {})", line(uid)),
            None => format!("{from} -> {to} (adoption)"),
        },
    }
}

/// The approval in words. Once a rollout has ended, what was given is told without judging it at `now`.
fn approval(view: &ApprovalView, ended: bool, now: Time) -> String {
    let given = match (&view.approved_by, view.expires_at) {
        (Some(by), Some(until)) => Some(format!("approved by {} until {}", line(by), instant(until, now))),
        _ => None,
    };
    match (view.state, given) {
        (ApprovalState::Revoked, Some(given)) => {
            let by = line(view.revoked_by.as_deref().unwrap_or_default());
            // The client wrote it, so it may be any text that looks like a time.
            let at = view.revoked_at.as_deref().unwrap_or_default();
            let at = at.parse().map_or_else(|_| line(at), |time| instant(Time(time), now));
            format!("revoked by {by} at {at} ({given})")
        }
        (ApprovalState::NotRequired, None) => "not required".to_owned(),
        (ApprovalState::NotRequired, Some(given)) => format!("not required, {given}"),
        (ApprovalState::Bypassed, _) => "bypassed by a development build".to_owned(),
        (ApprovalState::Expired, Some(given)) if !ended => format!("{given}: expired"),
        (_, Some(given)) => given,
        (_, None) if ended => "required, never given".to_owned(),
        (ApprovalState::Expired, None) => "required, never given: the deadline has passed".to_owned(),
        (_, None) => "required, pending".to_owned(),
    }
}

fn steps(view: &RolloutView, look: Look, text: &mut String) {
    let _ = writeln!(text, "{}", heading(&format!("Steps ({}):", view.steps.len()), look));
    let rows: Vec<Vec<String>> = view
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            vec![
                (index + 1).to_string(),
                line(&step.release),
                step.operation.as_str().to_owned(),
                step.assessment.as_str().to_owned(),
                if step.crd_change { "changed" } else { "no" }.to_owned(),
                step.state.clone(),
                step.revision.as_deref().map(short).unwrap_or_default(),
            ]
        })
        .collect();
    text.push_str(&table(
        &["#", "RELEASE", "OPERATION", "ASSESSMENT", "CRDS", "STATE", "REVISION"],
        &rows,
        look,
    ));
    for step in view.steps.iter().filter(|step| step.operation == Operation::Remove) {
        let uid = line(step.uid.as_deref().unwrap_or_default());
        let value = format!("{} deletes the Application with UID {uid}", line(&step.release));
        text.push_str(&field("", &value, 2, look));
    }
}

fn assessment(view: &AssessmentView, look: Look, text: &mut String) {
    match view {
        AssessmentView::None => text.push_str("Assessment: none\n"),
        AssessmentView::Unusable { config_map, digest, problem } => {
            let value = format!("{} ({}) cannot be used: {}", line(config_map), line(digest), line(problem));
            text.push_str(&field("Assessment:", &value, "Assessment: ".len(), look));
        }
        AssessmentView::Verified { config_map, digest, report } => {
            let value = format!("{} ({}), verified", line(config_map), line(digest));
            text.push_str(&field("Assessment:", &value, "Assessment: ".len(), look));
            report_rows(report, look, text);
        }
    }
}

fn report_rows(report: &UpgradeReport, look: Look, text: &mut String) {
    if report.components.is_empty() {
        text.push_str("  no component changes\n");
        return;
    }
    let rows: Vec<Vec<String>> = report
        .components
        .iter()
        .map(|row| {
            vec![
                line(&row.component),
                row.change.as_str().to_owned(),
                line(&row.from),
                line(&row.to),
                row.verdict.map(|verdict| verdict.as_str().to_owned()).unwrap_or_default(),
                line(&row.notes),
            ]
        })
        .collect();
    text.push_str(&table(&["COMPONENT", "CHANGE", "FROM", "TO", "VERDICT", "NOTES"], &rows, look));
    for row in &report.components {
        for change in &row.identity_changes {
            let (part, from, to) = (line(&change.field), line(&change.from), line(&change.to));
            let value = format!("{}: {part} changes from '{from}' to '{to}'", line(&row.component));
            text.push_str(&field("", &value, 2, look));
        }
    }
}

fn recorded_steps(all: &[RecordedStepsView], look: Look, text: &mut String) {
    if all.is_empty() {
        return;
    }
    let _ = write!(text, "\n{}\n", heading("Recorded steps:", look));
    let rule = "The operator performs only the apply: approving takes on the steps before it, acknowledge those after it.";
    text.push_str(&field("", rule, 2, look));
    for recorded in all {
        let _ = writeln!(text, "  {}", line(&recorded.name));
        if !recorded.precondition.is_empty() {
            text.push_str(&field("    before:", &line(&recorded.precondition), 12, look));
        }
        for step in &recorded.steps {
            let label = format!("    {}:", line(&step.id));
            let mut words = line(&step.description);
            if !step.reason.is_empty() {
                let _ = write!(words, " ({})", line(&step.reason));
            }
            text.push_str(&field(&label, words.trim(), label.len() + 1, look));
        }
    }
}

fn heading(text: &str, look: Look) -> String {
    look.paint(text, Style::new().bold())
}

/// A phase or outcome in its colour.
fn painted(word: &str, look: Look) -> String {
    let style = match word {
        "Succeeded" => Style::new().green(),
        "Failed" | "Expired" | "Revoked" | "Stalled" => Style::new().red(),
        "AwaitingApproval" | "AwaitingAcknowledgement" => Style::new().yellow(),
        _ => Style::new(),
    };
    look.paint(&line(word), style)
}

/// A digest by its first twelve hex digits; anything else as it is.
fn short(revision: &str) -> String {
    let digits = revision.strip_prefix("sha256:").and_then(|hex| hex.get(..12));
    digits.map_or_else(|| line(revision), str::to_owned)
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
