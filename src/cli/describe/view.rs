//! What `describe` tells, as data: made once from the objects, printed as text, JSON or YAML.

use kube::ResourceExt;
use serde::Serialize;

use super::assessment::AssessmentView;
use crate::aicr::{RecordedStep, UpgradeReport};
use crate::api::{
    Approval, ApprovalState, Assessment, Operation, ReleaseState, RuntimeRollout, Step, Time, keys,
};
use crate::approval::{self, Enforcement};

/// A rollout as an approver decides on it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RolloutView {
    pub(super) name: String,
    #[serde(rename = "runtimeUID")]
    pub(super) runtime_uid: String,
    pub(super) transition: Transition,
    /// Absent before the rollout started; the outcome where a restore lost the status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) evidence: Option<String>,
    pub(super) deadline: Time,
    pub(super) action_timeout: String,
    pub(super) approval: ApprovalView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    pub(super) starting_inventory: InventoryView,
    /// What the controller reports of drift; the plugin cannot read Applications itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) drift: Option<String>,
    pub(super) steps: Vec<StepView>,
    pub(super) assessment: AssessmentView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) recorded_steps: Vec<RecordedStepsView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) acknowledgements: Vec<AcknowledgementView>,
}

/// From which plan to which, and what kind of change that is.
#[derive(Debug, Serialize)]
pub(super) struct Transition {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) kind: TransitionKind,
    /// UID of the earlier runtime, for an adoption.
    #[serde(skip_serializing_if = "Option::is_none", rename = "adoptedFrom")]
    pub(super) adopted_from: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum TransitionKind {
    InitialInstall,
    Upgrade,
    Adoption,
    Reinstall,
    RuntimeRemoval,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApprovalView {
    pub(super) required: bool,
    pub(super) state: ApprovalState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approved_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revoked_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revoked_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revoke_reason: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct InventoryView {
    pub(super) applications: usize,
    pub(super) digest: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StepView {
    pub(super) release: String,
    pub(super) operation: Operation,
    pub(super) assessment: Assessment,
    pub(super) crd_change: bool,
    pub(super) state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revision: Option<String>,
    /// UID of the Application that a Remove step deletes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uid: Option<String>,
}

/// What a person does by hand around one release.
#[derive(Debug, Serialize)]
pub(super) struct RecordedStepsView {
    /// The AICR component, or the release where no report tells more.
    pub(super) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) precondition: String,
    pub(super) steps: Vec<RecordedStep>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AcknowledgementView {
    pub(super) release: String,
    pub(super) acknowledged_by: String,
    pub(super) acknowledged_at: Time,
}

/// The view of a rollout and its assessment at `now`.
pub(super) fn view(rollout: &RuntimeRollout, assessment: AssessmentView, now: Time) -> RolloutView {
    let spec = &rollout.spec;
    let status = rollout.status.clone().unwrap_or_default();
    let given = spec.approval.as_ref();
    RolloutView {
        name: rollout.name_any(),
        runtime_uid: spec.runtime_uid.clone(),
        transition: transition(rollout),
        phase: status.phase.map(|phase| phase.as_str().to_owned()).or_else(|| approval::ended_as(rollout)),
        outcome: rollout.labels().get(keys::OUTCOME).cloned(),
        evidence: rollout.annotations().get(keys::EVIDENCE).cloned(),
        deadline: spec.deadline,
        action_timeout: spec.action_timeout.to_string(),
        approval: approval_view(rollout, now),
        message: status.message.clone().filter(|message| !message.is_empty()),
        starting_inventory: InventoryView {
            applications: spec.starting_inventory.len(),
            digest: spec.starting_inventory_digest.clone(),
        },
        drift: drift(rollout),
        steps: spec.steps.iter().map(|step| step_view(rollout, step)).collect(),
        recorded_steps: recorded_steps(spec.steps.as_slice(), assessment.report()),
        assessment,
        acknowledgements: given
            .into_iter()
            .flat_map(|approval| &approval.acknowledgements)
            .map(|given| AcknowledgementView {
                release: given.release.clone(),
                acknowledged_by: given.acknowledged_by.clone(),
                acknowledged_at: given.acknowledged_at,
            })
            .collect(),
    }
}

fn transition(rollout: &RuntimeRollout) -> Transition {
    let (from, to) = (rollout.spec.from_plan_digest.clone(), rollout.spec.to_plan_digest.clone());
    let adopted_from = rollout.annotations().get(keys::ADOPTED_FROM).cloned();
    let adopts =
        adopted_from.is_some() || rollout.spec.steps.iter().any(|step| step.operation == Operation::Adopt);
    let kind = match (from.is_empty(), to.is_empty()) {
        (_, true) => TransitionKind::RuntimeRemoval,
        _ if adopts => TransitionKind::Adoption,
        (true, _) => TransitionKind::InitialInstall,
        _ if from == to => TransitionKind::Reinstall,
        _ => TransitionKind::Upgrade,
    };
    Transition { from, to, kind, adopted_from }
}

fn approval_view(rollout: &RuntimeRollout, now: Time) -> ApprovalView {
    let given = rollout.spec.approval.as_ref();
    let revocation = given.and_then(Approval::revocation);
    ApprovalView {
        required: rollout.spec.approval_required,
        state: approval::state(rollout, Enforcement::recorded(rollout), now),
        approved_by: given.map(|approval| approval.approved_by.clone()),
        expires_at: given.map(|approval| approval.expires_at),
        reason: given.map(|approval| approval.reason.clone()),
        revoked_by: revocation.map(|revocation| revocation.by.to_owned()),
        revoked_at: revocation.map(|revocation| revocation.at.to_owned()),
        revoke_reason: revocation.map(|revocation| revocation.reason.to_owned()),
    }
}

/// The reasons with which the controller reports drift.
const DRIFT_REASONS: [&str; 2] = ["InventoryDrift", "SpecDrifted"];

fn drift(rollout: &RuntimeRollout) -> Option<String> {
    let status = rollout.status.as_ref()?;
    let condition =
        status.conditions.iter().find(|condition| DRIFT_REASONS.contains(&condition.reason.as_str()));
    let text = |condition: &crate::api::Condition| format!("{}: {}", condition.reason, condition.message);
    let message =
        status.message.as_deref().filter(|message| DRIFT_REASONS.iter().any(|r| message.contains(r)));
    condition.map(text).or_else(|| message.map(str::to_owned))
}

fn step_view(rollout: &RuntimeRollout, step: &Step) -> StepView {
    let status = rollout.status.as_ref();
    let recorded =
        status.and_then(|status| status.releases.iter().find(|release| release.id == step.release));
    let current = status.and_then(|status| status.current.as_ref());
    let in_flight =
        current.is_some_and(|current| current.release == step.release) && !approval::ended(rollout);
    let state = match recorded.map(|release| release.state) {
        None | Some(ReleaseState::Pending | ReleaseState::Progressing) if in_flight => "in flight",
        // Which steps were made is lost with the status. Source: api-reference, "Approval", on restoring.
        None if approval::ended(rollout) && status.is_none_or(|status| status.phase.is_none()) => {
            ReleaseState::Unknown.as_str()
        }
        None if approval::ended(rollout) => "not started",
        None => ReleaseState::Pending.as_str(),
        Some(state) => state.as_str(),
    };
    StepView {
        release: step.release.clone(),
        operation: step.operation,
        assessment: step.assessment,
        crd_change: step.crd_change,
        state: state.to_owned(),
        revision: recorded.and_then(|release| release.revision.clone()),
        uid: step.uid.clone(),
    }
}

/// What the report tells, and whatever else the rollout binds: those steps are waited for, told or not.
fn recorded_steps(steps: &[Step], report: Option<&UpgradeReport>) -> Vec<RecordedStepsView> {
    let rows = report.into_iter().flat_map(|report| &report.components);
    let mut all: Vec<RecordedStepsView> = rows
        .filter(|row| !row.steps.is_empty() || !row.precondition.is_empty())
        .map(|row| RecordedStepsView {
            name: row.component.clone(),
            precondition: row.precondition.clone(),
            steps: row.steps.clone(),
        })
        .collect();
    for step in steps {
        let told = all.iter().position(|recorded| recorded.name == step.release);
        let known = told.map(|at| all[at].steps.as_slice()).unwrap_or_default();
        let unknown = |id: &&String| known.iter().all(|step| step.id != **id);
        let bound: Vec<RecordedStep> = step
            .post_apply_steps
            .iter()
            .filter(unknown)
            .map(|id| RecordedStep { id: id.clone(), description: String::new(), reason: String::new() })
            .collect();
        match told {
            Some(at) => all[at].steps.extend(bound),
            None if bound.is_empty() => {}
            None => all.push(RecordedStepsView {
                name: step.release.clone(),
                precondition: String::new(),
                steps: bound,
            }),
        }
    }
    all
}
