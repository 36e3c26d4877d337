//! Approvals: what one is worth at an instant, and what may be approved, revoked or acknowledged.
//!
//! Pure functions of a rollout and `now`, called by the plugin and the controller alike, so that what a person reads is
//! what the controller acts on. Sources: api-reference "Approval", day-2 "Approving a rollout", kubectl-aicr.

mod refusal;
mod state;

pub use refusal::Refusal;
pub use state::{Enforcement, ended, ended_as, state};

use crate::api::{Approval, GoDuration, Phase, RuntimeRollout, Step, Time};

/// The instant that an approval given `now` would last until.
///
/// `expires` is how long it shall stay valid; `None` or zero means until the rollout's deadline. An expiry is rounded
/// up to a whole second, as the API prints times, so that it is never shorter than what was asked for.
///
/// # Errors
/// Refuses a rollout that has ended, is already approved or needs no approval, without `expires` one whose deadline has
/// passed, and an expiry that no calendar holds.
pub fn may_approve(
    rollout: &RuntimeRollout,
    expires: Option<GoDuration>,
    now: Time,
) -> Result<Time, Refusal> {
    if let Some(outcome) = ended_as(rollout) {
        return Err(Refusal::Ended(outcome));
    }
    if let Some(given) = &rollout.spec.approval {
        return Err(Refusal::AlreadyApproved {
            by: given.approved_by.clone(),
            until: given.expires_at,
            revoked_by: given.revocation().map(|revocation| revocation.by.to_owned()),
        });
    }
    if !rollout.spec.approval_required {
        return Err(Refusal::NotRequired);
    }
    match expires.filter(|duration| *duration != GoDuration::default()) {
        None if rollout.spec.deadline <= now => Err(Refusal::DeadlinePassed(rollout.spec.deadline)),
        None => Ok(rollout.spec.deadline),
        Some(duration) if duration.is_negative() => Err(Refusal::NegativeExpiry),
        Some(duration) => expiry(now, duration).ok_or(Refusal::ExpiryOutOfRange),
    }
}

/// Last instant that the CRD's time pattern can hold.
const LAST_SECOND: &str = "2999-12-31T23:59:59Z";

fn expiry(now: Time, duration: GoDuration) -> Option<Time> {
    let exact = now.0.checked_add(duration.to_signed()).ok()?;
    let whole = exact
        .round(jiff::TimestampRound::new().smallest(jiff::Unit::Second).mode(jiff::RoundMode::Ceil))
        .ok()?;
    let last: jiff::Timestamp = LAST_SECOND.parse().ok()?;
    (whole <= last).then_some(Time(whole))
}

/// The approval that a revocation would withdraw.
///
/// # Errors
/// Refuses a rollout that has ended, is not approved, is already revoked, or is in `Validating`, when every change has
/// been made.
pub fn may_revoke(rollout: &RuntimeRollout) -> Result<&Approval, Refusal> {
    if let Some(outcome) = ended_as(rollout) {
        return Err(Refusal::Ended(outcome));
    }
    let approval = rollout.spec.approval.as_ref().ok_or(Refusal::NotApproved)?;
    if let Some(revocation) = approval.revocation() {
        return Err(Refusal::AlreadyRevoked { by: revocation.by.to_owned(), at: revocation.at.to_owned() });
    }
    if phase(rollout) == Some(Phase::Validating) {
        return Err(Refusal::Validating);
    }
    Ok(approval)
}

/// The step whose recorded steps after the apply the rollout waits for.
///
/// # Errors
/// Refuses a rollout that does not wait in `AwaitingAcknowledgement`, one that nobody approved, and one whose awaited
/// release has been acknowledged already. An approval that was revoked or has expired is no obstacle: it ends a rollout
/// only before a step whose change has not been made, and after the last one the rollout waits on (api-reference,
/// "Approval").
pub fn may_acknowledge(rollout: &RuntimeRollout) -> Result<&Step, Refusal> {
    if let Some(outcome) = ended_as(rollout) {
        return Err(Refusal::Ended(outcome));
    }
    if phase(rollout) != Some(Phase::AwaitingAcknowledgement) {
        return Err(Refusal::NotAwaitingAcknowledgement(phase(rollout)));
    }
    let approval = rollout.spec.approval.as_ref().ok_or(Refusal::NotApproved)?;
    let step = awaited_step(rollout).ok_or(Refusal::NothingToAcknowledge)?;
    match approval.acknowledgement(&step.release) {
        Some(given) => Err(Refusal::AlreadyAcknowledged {
            release: step.release.clone(),
            by: given.acknowledged_by.clone(),
        }),
        None => Ok(step),
    }
}

/// The step in flight when it has recorded steps after its apply, else the first such step not acknowledged yet.
fn awaited_step(rollout: &RuntimeRollout) -> Option<&Step> {
    let current = rollout.status.as_ref().and_then(|status| status.current.as_ref());
    let mut recorded = rollout.spec.steps.iter().filter(|step| !step.post_apply_steps.is_empty());
    let approval = rollout.spec.approval.as_ref();
    match current {
        Some(current) => recorded.find(|step| step.release == current.release),
        None => {
            recorded.find(|step| approval.is_some_and(|given| given.acknowledgement(&step.release).is_none()))
        }
    }
}

fn phase(rollout: &RuntimeRollout) -> Option<Phase> {
    rollout.status.as_ref().and_then(|status| status.phase)
}

#[cfg(test)]
mod tests;
