//! What an approval is worth at an instant, and whether a rollout has ended.

use kube::ResourceExt;

use crate::api::{ApprovalState, RuntimeRollout, Time, keys};

/// Whether approvals are asked for at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// A required approval must be given.
    Enforced,
    /// A development build with `bypassApprovals` runs without.
    Bypassed,
}

impl Enforcement {
    /// What the controller recorded in the rollout's status; for readers that do not know its configuration.
    pub fn recorded(rollout: &RuntimeRollout) -> Self {
        match rollout.status.as_ref().and_then(|status| status.approval) {
            Some(ApprovalState::Bypassed) => Self::Bypassed,
            _ => Self::Enforced,
        }
    }
}

/// State of a rollout's approval at `now`. The first row that holds decides:
///
/// | what holds | state |
/// | --- | --- |
/// | a revocation is set, required or not: somebody said stop | `Revoked` |
/// | no step needs an approval | `NotRequired` |
/// | an approval is set and `now` is at or after its expiry | `Expired` |
/// | an approval is set | `Approved` |
/// | approvals are bypassed | `Bypassed` |
/// | `now` is at or after the rollout's deadline: nobody approved in time | `Expired` |
/// | otherwise | `Pending` |
pub fn state(rollout: &RuntimeRollout, enforcement: Enforcement, now: Time) -> ApprovalState {
    let spec = &rollout.spec;
    match &spec.approval {
        Some(given) if given.revocation().is_some() => ApprovalState::Revoked,
        _ if !spec.approval_required => ApprovalState::NotRequired,
        Some(given) if given.expires_at <= now => ApprovalState::Expired,
        Some(_) => ApprovalState::Approved,
        None if enforcement == Enforcement::Bypassed => ApprovalState::Bypassed,
        None if spec.deadline <= now => ApprovalState::Expired,
        None => ApprovalState::Pending,
    }
}

/// How the rollout ended, or `None` while it is in progress.
///
/// The outcome label is the durable record and wins; a terminal phase without it is an end that is being recorded.
pub fn ended_as(rollout: &RuntimeRollout) -> Option<String> {
    let label = rollout.labels().get(keys::OUTCOME).filter(|outcome| !outcome.is_empty());
    let phase = rollout.status.as_ref().and_then(|status| status.phase).filter(|phase| phase.is_terminal());
    label.cloned().or_else(|| phase.map(|phase| phase.as_str().to_owned()))
}

/// Whether the rollout has ended.
pub fn ended(rollout: &RuntimeRollout) -> bool {
    ended_as(rollout).is_some()
}
