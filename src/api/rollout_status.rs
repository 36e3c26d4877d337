//! Status of a `RuntimeRollout`: what was observed. Source: api-reference, "RuntimeRollout".

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::condition::conditions_schema;
use super::schema::{OPTIONAL_DIGEST_PATTERN, list};
use super::{Condition, Operation, Time};

/// What was observed of a rollout; it can be rebuilt from durable objects.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeRolloutStatus {
    /// Where the rollout is; absent before it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Generation that the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// Conditions, keyed by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions_schema")]
    pub conditions: Vec<Condition>,
    /// State of the approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalState>,
    /// The step in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<CurrentStep>,
    /// State of each release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "release_status_schema")]
    pub releases: Vec<ReleaseStatus>,
    /// The deployment validation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<ValidationStatus>,
    /// Why the rollout is where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}

/// Where a rollout is.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(inline)]
pub enum Phase {
    /// Waits for a person.
    AwaitingApproval,
    /// Steps run.
    Progressing,
    /// A manual release is applied; its recorded steps must be acknowledged.
    AwaitingAcknowledgement,
    /// Needs intervention.
    Stalled,
    /// All steps are done; deployment validation runs.
    Validating,
    /// The target is the active plan.
    Succeeded,
    /// A step or the validation failed.
    Failed,
    /// The approval or the deadline ran out.
    Expired,
    /// The approval was withdrawn.
    Revoked,
    /// Another rollout took its place.
    Superseded,
    /// The runtime was deleted and its Applications kept.
    Orphaned,
}

impl Phase {
    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AwaitingApproval => "AwaitingApproval",
            Self::Progressing => "Progressing",
            Self::AwaitingAcknowledgement => "AwaitingAcknowledgement",
            Self::Stalled => "Stalled",
            Self::Validating => "Validating",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Expired => "Expired",
            Self::Revoked => "Revoked",
            Self::Superseded => "Superseded",
            Self::Orphaned => "Orphaned",
        }
    }

    /// Whether the rollout has ended.
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Succeeded
                | Self::Failed
                | Self::Expired
                | Self::Revoked
                | Self::Superseded
                | Self::Orphaned
        )
    }
}

/// State of an approval at an instant.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(inline)]
pub enum ApprovalState {
    /// No step needs one.
    NotRequired,
    /// Nobody approved yet.
    Pending,
    /// Given, and valid now.
    Approved,
    /// A development build runs without.
    Bypassed,
    /// Withdrawn.
    Revoked,
    /// Ran out, or was never given before the deadline.
    Expired,
}

impl ApprovalState {
    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRequired => "NotRequired",
            Self::Pending => "Pending",
            Self::Approved => "Approved",
            Self::Bypassed => "Bypassed",
            Self::Revoked => "Revoked",
            Self::Expired => "Expired",
        }
    }
}

/// The step in flight.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CurrentStep {
    /// Release ID.
    #[schemars(length(min = 1, max = 53))]
    pub release: String,
    /// What is done with it.
    pub operation: Operation,
    /// When the step started.
    pub started_at: Time,
    /// When a halt ended; the action timeout runs from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_from: Option<Time>,
}

/// State of one release in a rollout.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseStatus {
    /// Release ID.
    #[schemars(length(min = 1, max = 53))]
    pub id: String,
    /// Where the release is.
    pub state: ReleaseState,
    /// Revision that it was ready at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub revision: Option<String>,
    /// Fingerprint of the spec that this rollout wrote, from when it became ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = OPTIONAL_DIGEST_PATTERN))]
    pub spec_digest: Option<String>,
    /// UID of the Application that this rollout installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub uid: Option<String>,
}

/// Where a release of a rollout is.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(inline)]
pub enum ReleaseState {
    /// Its step has not started.
    Pending,
    /// Its step is in flight.
    Progressing,
    /// Ready at the revision just written.
    Ready,
    /// Its step failed.
    Failed,
    /// Its step is in flight while the rollout is halted.
    Suspended,
    /// It is being uninstalled.
    Deleting,
    /// It is gone.
    Removed,
    /// What was written is lost, as after a restore.
    Unknown,
}

impl ReleaseState {
    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Progressing => "Progressing",
            Self::Ready => "Ready",
            Self::Failed => "Failed",
            Self::Suspended => "Suspended",
            Self::Deleting => "Deleting",
            Self::Removed => "Removed",
            Self::Unknown => "Unknown",
        }
    }
}

/// The deployment validation of a rollout.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationStatus {
    /// Name of the Job.
    #[schemars(length(max = 253))]
    pub job: String,
    /// AICR run ID.
    #[serde(rename = "runID")]
    #[schemars(length(max = 128))]
    pub run_id: String,
    /// Passed or Failed; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub result: Option<String>,
    /// Reference of the evidence, pinned by digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub evidence: Option<String>,
}

fn release_status_schema(generator: &mut SchemaGenerator) -> Schema {
    list::<ReleaseStatus>(generator, 256)
}
