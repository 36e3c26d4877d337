//! Why a rollout cannot be approved, revoked or acknowledged, in words that say what to do.

use crate::api::{Code, Phase, Time};

/// A refusal; its text completes "rollout NAME: …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The rollout is over.
    #[error("it has ended ({0}); nothing can be approved, revoked or acknowledged any more")]
    Ended(String),
    /// Somebody approved it before.
    #[error("it is already approved by {by} until {until}{}; an approval can be neither changed nor extended", revoked(.revoked_by.as_deref()))]
    AlreadyApproved {
        /// The approver.
        by: String,
        /// End of the approval.
        until: Time,
        /// Who revoked it, if anyone.
        revoked_by: Option<String>,
    },
    /// No step needs an approval.
    #[error("it needs no approval")]
    NotRequired,
    /// Nothing can start before a deadline in the past.
    #[error("its deadline {0} has passed")]
    DeadlinePassed(Time),
    /// An approval cannot end before it begins.
    #[error("the expiry must not be negative")]
    NegativeExpiry,
    /// An expiry beyond the year 2999.
    #[error("the expiry lies beyond the year 2999; choose a shorter one")]
    ExpiryOutOfRange,
    /// The approval would have ended before it was given.
    #[error("the expiry {0} passed before the approval was given; approve again")]
    ExpiryPassed(Time),
    /// There is no approval.
    #[error("it is not approved")]
    NotApproved,
    /// Somebody revoked it before.
    #[error("it is already revoked by {by} at {at}")]
    AlreadyRevoked {
        /// Who revoked.
        by: String,
        /// When, as the client wrote it.
        at: String,
    },
    /// Every change has been made.
    #[error("it is in Validating and can no longer be revoked: every change has been made")]
    Validating,
    /// The rollout does not wait for an acknowledgement.
    #[error("it does not wait for an acknowledgement (phase {})", .0.map_or("Pending", Phase::as_str))]
    NotAwaitingAcknowledgement(Option<Phase>),
    /// The rollout waits, but no step of it has recorded steps left.
    #[error("no step of it has recorded steps that are not acknowledged yet")]
    NothingToAcknowledge,
    /// The awaited release has been acknowledged.
    #[error("the steps of {release} are already acknowledged by {by}; the rollout continues by itself")]
    AlreadyAcknowledged {
        /// The release.
        release: String,
        /// Who acknowledged.
        by: String,
    },
}

impl Refusal {
    /// The error code: the rollout's state forbids it, unless the request itself is wrong.
    pub const fn code(&self) -> Code {
        match self {
            Self::NegativeExpiry | Self::ExpiryOutOfRange | Self::ExpiryPassed(_) => Code::InvalidRequest,
            _ => Code::Conflict,
        }
    }
}

fn revoked(by: Option<&str>) -> String {
    by.map(|name| format!(" and revoked by {name}")).unwrap_or_default()
}
