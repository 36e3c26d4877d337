//! Why a plan is refused, as conditions and messages name it.

use std::fmt;

use crate::api::Code;

/// The reason of a refusal.
///
/// Source: api-reference "Plan ConfigMap", rules; cases, trials 5 and 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The object does not exist.
    NotFound,
    /// The stored plan, recipe or values are not what they claim to be.
    PlanUnreadable,
    /// The plan records another runtime's UID.
    PlanOfAnotherRuntime,
    /// The plan was rebuilt from Applications and holds no recipe.
    PlanWithoutRecipe,
    /// More than a ConfigMap or an Application may hold.
    ContentTooLarge,
    /// Values that Helm cannot be given.
    InvalidOverride,
}

impl Reason {
    /// The reason in one word, as conditions carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "NotFound",
            Self::PlanUnreadable => "PlanUnreadable",
            Self::PlanOfAnotherRuntime => "PlanOfAnotherRuntime",
            Self::PlanWithoutRecipe => "PlanWithoutRecipe",
            Self::ContentTooLarge => "ContentTooLarge",
            Self::InvalidOverride => "InvalidOverride",
        }
    }

    /// The error code that goes with it.
    pub const fn code(self) -> Code {
        match self {
            Self::NotFound => Code::NotFound,
            Self::PlanUnreadable | Self::PlanOfAnotherRuntime => Code::Conflict,
            Self::PlanWithoutRecipe | Self::ContentTooLarge | Self::InvalidOverride => Code::InvalidRequest,
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
    /// What was refused, by which rule.
    pub message: String,
}
