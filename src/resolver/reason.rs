//! Why there is no plan, as the `Resolved` condition names it.

use std::fmt;

use crate::aicr;
use crate::api::Code;
use crate::plan;

/// A reason of the `Resolved` condition.
///
/// Source: operator-facts section 6. Reasons of AICR's runs and of plans are their modules' own.
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
    /// There are no credentials for a registry.
    RegistryCredentialsUnavailable,
    /// A registry does not let the operator in.
    Unauthorized,
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
            Self::RegistryCredentialsUnavailable => "RegistryCredentialsUnavailable",
            Self::Unauthorized => "Unauthorized",
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
            Self::RegistryCredentialsUnavailable => Code::ServiceUnavailable,
            Self::Unauthorized => Code::Unauthorized,
            Self::Aicr(reason) => reason.code(),
            Self::Plan(reason) => reason.code(),
        }
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
