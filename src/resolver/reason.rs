//! Why there is no plan, as the `Resolved` condition names it.

use std::fmt;

use crate::aicr;
use crate::api::Code;
use crate::plan;
use crate::registry;

/// A reason of the `Resolved` condition.
///
/// Source: operator-facts section 6. Reasons of AICR's runs, of plans and of registries are their modules' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A selector matches no node.
    NodeGroupEmpty,
    /// A node belongs to both groups.
    PlacementOverlap,
    /// The accelerated nodes are not alike.
    AcceleratedGroupHeterogeneous,
    /// The snapshot lacks a reading that nobody declared.
    SnapshotIncomplete,
    /// Declared criteria contradict the snapshot.
    CriteriaConflict,
    /// An override names a path that nothing has.
    OverridePathUnknown,
    /// A release belongs into a namespace that the installation does not list.
    NamespaceNotAllowed,
    /// A name is taken by something else.
    Conflict,
    /// What [`crate::registry`] refuses or reports.
    Registry(registry::Reason),
    /// What [`crate::aicr`] refuses or reports.
    Aicr(aicr::Reason),
    /// What [`crate::plan`] refuses.
    Plan(plan::reason::Reason),
}

impl Reason {
    /// The reason in one word, as the condition carries it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NodeGroupEmpty => "NodeGroupEmpty",
            Self::PlacementOverlap => "PlacementOverlap",
            Self::AcceleratedGroupHeterogeneous => "AcceleratedGroupHeterogeneous",
            Self::SnapshotIncomplete => "SnapshotIncomplete",
            Self::CriteriaConflict => "CriteriaConflict",
            Self::OverridePathUnknown => "OverridePathUnknown",
            Self::NamespaceNotAllowed => "NamespaceNotAllowed",
            Self::Conflict => "Conflict",
            // The one that both know has one name.
            Self::Registry(registry::Reason::ArtifactUnsupported) => {
                aicr::Reason::ArtifactUnsupported.as_str()
            }
            Self::Registry(reason) => reason.as_str(),
            Self::Aicr(reason) => reason.as_str(),
            Self::Plan(reason) => reason.as_str(),
        }
    }

    /// The error code that goes with it.
    pub const fn code(self) -> Code {
        match self {
            Self::NodeGroupEmpty | Self::OverridePathUnknown => Code::NotFound,
            Self::PlacementOverlap
            | Self::AcceleratedGroupHeterogeneous
            | Self::SnapshotIncomplete
            | Self::NamespaceNotAllowed => Code::InvalidRequest,
            Self::CriteriaConflict | Self::Conflict => Code::Conflict,
            Self::Registry(reason) => registry_code(reason),
            Self::Aicr(reason) => reason.code(),
            Self::Plan(reason) => reason.code(),
        }
    }
}

/// The error code of a registry's reason.
const fn registry_code(reason: registry::Reason) -> Code {
    use registry::Reason as Cause;
    match reason {
        Cause::NotFound => Code::NotFound,
        Cause::Unauthorized | Cause::RegistryCredentialsUnavailable => Code::Unauthorized,
        Cause::DigestMismatch | Cause::Conflict => Code::Conflict,
        Cause::ChartSourceUnsupported | Cause::ContentTooLarge => Code::InvalidRequest,
        Cause::QuotaExceeded => Code::RateLimitExceeded,
        Cause::ArtifactUnsupported | Cause::Unexpected => Code::Internal,
        Cause::Transient => Code::ServiceUnavailable,
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refusal: its reason for machines, its message for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// Why, in one word.
    pub reason: Reason,
    /// What was refused, by which rule, and the way out.
    pub message: String,
}

impl Refused {
    /// A refusal for this reason.
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl From<aicr::ArtifactError> for Refused {
    fn from(error: aicr::ArtifactError) -> Self {
        Self { reason: Reason::Aicr(error.reason), message: error.to_string() }
    }
}
