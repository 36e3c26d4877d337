//! Why a run of AICR, its input or its output is refused, as conditions name it.

use std::fmt;

use crate::api::Code;

/// The reason of a refusal.
///
/// Source: operator-facts section 6 ("Resolver reasons on `Resolved`").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// AICR says that what it was asked for is wrong.
    InvalidRequest,
    /// AICR does not find something that it was told to read.
    NotFound,
    /// AICR was not let in.
    Unauthorized,
    /// AICR failed, or its pod did.
    Internal,
    /// AICR or its pod ran out of time.
    Timeout,
    /// An artifact was made by another AICR than the installed one.
    VersionMismatch,
    /// An artifact is not what is documented.
    ArtifactUnsupported,
    /// More than a ConfigMap or a process argument holds.
    ContentTooLarge,
    /// An override that AICR's flags cannot carry.
    InvalidOverride,
    /// A placement that AICR's flags cannot carry.
    InvalidPlacement,
    /// A chart from somewhere that charts are not taken from.
    ChartSourceUnsupported,
}

impl Reason {
    /// The reason in one word, as conditions carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "AICRInvalidRequest",
            Self::NotFound => "AICRNotFound",
            Self::Unauthorized => "AICRUnauthorized",
            Self::Internal => "AICRInternal",
            Self::Timeout => "AICRTimeout",
            Self::VersionMismatch => "AICRVersionMismatch",
            Self::ArtifactUnsupported => "AICRArtifactUnsupported",
            Self::ContentTooLarge => "ContentTooLarge",
            Self::InvalidOverride => "InvalidOverride",
            Self::InvalidPlacement => "InvalidPlacement",
            Self::ChartSourceUnsupported => "ChartSourceUnsupported",
        }
    }

    /// The error code that goes with it.
    pub const fn code(self) -> Code {
        match self {
            Self::NotFound => Code::NotFound,
            Self::Unauthorized => Code::Unauthorized,
            Self::Internal | Self::ArtifactUnsupported => Code::Internal,
            Self::Timeout => Code::Timeout,
            Self::VersionMismatch => Code::Conflict,
            Self::InvalidRequest
            | Self::ContentTooLarge
            | Self::InvalidOverride
            | Self::InvalidPlacement
            | Self::ChartSourceUnsupported => Code::InvalidRequest,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
