//! `RuntimeRollout`: one transition between plans, its steps and its approval. Source: api-reference, "RuntimeRollout".

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::rollout_rules::{ACKNOWLEDGEMENT_RULES, APPROVAL_RULES, SPEC_RULES, STEP_RULES};
use super::schema::{
    DIGEST_PATTERN, OBJECT_NAME_PATTERN, OPTIONAL_DIGEST_PATTERN, RELEASE_PATTERN, is_false, list,
    validations,
};
use super::{GoDuration, RuntimeRolloutStatus, Time};

/// Most characters of a username that the API keeps, which covers IAM-derived names.
pub const MAX_USERNAME: usize = 1024;
/// Most characters of a reason or message.
pub const MAX_TEXT: usize = 1024;
/// Most steps of a rollout: 128 target releases plus removals from the active plan.
pub const MAX_STEPS: usize = 256;

/// One transition between two plans. Immutable but for the approval, which is set once.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[kube(
    group = "operator.aicr.run",
    version = "v1alpha1",
    kind = "RuntimeRollout",
    plural = "runtimerollouts",
    shortname = "aicrro",
    status = "RuntimeRolloutStatus",
    derive = "PartialEq",
    doc = "One transition between two plans: its steps, deadline and approval.",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Approval", type_ = "string", json_path = ".status.approval"),
    printcolumn(
        name = "To Plan",
        type_ = "string",
        json_path = r".metadata.labels.operator\.aicr\.run/to-plan"
    ),
    printcolumn(name = "Deadline", type_ = "string", json_path = ".spec.deadline"),
    printcolumn(name = "Message", type_ = "string", json_path = ".status.message", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = validations(SPEC_RULES)))]
pub struct RuntimeRolloutSpec {
    /// Version of this document's meaning.
    #[schemars(schema_with = "schema_version_schema")]
    pub schema_version: i64,
    /// UID of the ClusterRuntime that the rollout belongs to.
    #[serde(rename = "runtimeUID")]
    #[schemars(length(min = 1, max = 64))]
    pub runtime_uid: String,
    /// Plan that is replaced; empty for the initial install.
    #[schemars(length(max = 71), regex(pattern = OPTIONAL_DIGEST_PATTERN))]
    pub from_plan_digest: String,
    /// Plan that is rolled out; empty when the runtime is removed.
    #[schemars(length(max = 71), regex(pattern = OPTIONAL_DIGEST_PATTERN))]
    pub to_plan_digest: String,
    /// Digest over the starting inventory.
    #[schemars(length(max = 71), regex(pattern = DIGEST_PATTERN))]
    pub starting_inventory_digest: String,
    /// The owned engine objects when the rollout was created; drift is judged against them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "inventory_schema")]
    pub starting_inventory: Vec<InventoryEntry>,
    /// AICR's upgrade-check report, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment_ref: Option<ContentReference>,
    /// When the whole rollout ends at the latest.
    pub deadline: Time,
    /// How long one step may take.
    pub action_timeout: GoDuration,
    /// Whether a named person must approve.
    pub approval_required: bool,
    /// What is done, in this order.
    #[schemars(schema_with = "steps_schema")]
    pub steps: Vec<Step>,
    /// Written by an approver, never by the operator; set once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// One owned Application as it was when the rollout was created.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InventoryEntry {
    /// Release ID in its plan.
    #[serde(rename = "releaseID")]
    #[schemars(length(min = 1, max = 53), regex(pattern = RELEASE_PATTERN))]
    pub release_id: String,
    /// Name of the Application.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// UID of the Application.
    #[schemars(length(min = 1, max = 64))]
    pub uid: String,
    /// Plan that last wrote it.
    #[schemars(length(max = 71), regex(pattern = OPTIONAL_DIGEST_PATTERN))]
    pub plan_digest: String,
    /// Its target revision, as found.
    #[schemars(length(max = 256))]
    pub revision: String,
    /// Fingerprint of its source, Helm values and destination.
    #[schemars(length(max = 71), regex(pattern = DIGEST_PATTERN))]
    pub spec_digest: String,
}

/// A ConfigMap in the operator namespace and the digest of its content.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContentReference {
    /// Name of the ConfigMap.
    #[schemars(length(min = 1, max = 253), regex(pattern = OBJECT_NAME_PATTERN))]
    pub config_map: String,
    /// Digest of the bytes that it must hold.
    #[schemars(length(max = 71), regex(pattern = DIGEST_PATTERN))]
    pub digest: String,
}

/// One step: one write to one engine object.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = validations(STEP_RULES)))]
pub struct Step {
    /// Release ID.
    #[schemars(length(min = 1, max = 53), regex(pattern = RELEASE_PATTERN))]
    pub release: String,
    /// What is done with the release.
    pub operation: Operation,
    /// AICR's verdict.
    pub assessment: Assessment,
    /// Whether the step may change CustomResourceDefinitions.
    #[serde(default, skip_serializing_if = "is_false")]
    pub crd_change: bool,
    /// Recorded steps after the apply; they are acknowledged before the next step starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "post_apply_schema")]
    pub post_apply_steps: Vec<String>,
    /// UID of the engine object to delete; set exactly on Remove steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub uid: Option<String>,
}

/// What a step does.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(inline)]
pub enum Operation {
    /// Creates the release's Application.
    Install,
    /// Moves it to another chart or other values.
    Upgrade,
    /// Runs a readiness gate again.
    Verify,
    /// Uninstalls the release.
    Remove,
    /// Takes over an Application of an earlier runtime without syncing it.
    Adopt,
}

impl Operation {
    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Install => "Install",
            Self::Upgrade => "Upgrade",
            Self::Verify => "Verify",
            Self::Remove => "Remove",
            Self::Adopt => "Adopt",
        }
    }
}

/// AICR's verdict on a step. A `blocked` transition is never planned, so no step carries it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(inline)]
pub enum Assessment {
    /// Recorded as safe.
    Safe,
    /// Needs steps by hand.
    Manual,
    /// AICR does not know, or gave no verdict.
    Unknown,
    /// Versions that cannot be compared.
    Unversioned,
    /// AICR does not assess this operation.
    NotApplicable,
}

impl Assessment {
    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "Safe",
            Self::Manual => "Manual",
            Self::Unknown => "Unknown",
            Self::Unversioned => "Unversioned",
            Self::NotApplicable => "NotApplicable",
        }
    }
}

/// The approval of one rollout, and its revocation. The rest of the spec fixes what it is bound to.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = validations(APPROVAL_RULES)))]
pub struct Approval {
    /// Username of the approver, as the API server authenticated it.
    #[schemars(length(min = 1, max = 1024))]
    pub approved_by: String,
    /// When the approval ends.
    pub expires_at: Time,
    /// Why it was given.
    #[schemars(length(min = 1, max = 1024))]
    pub reason: String,
    /// Username of who revoked; empty is unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub revoked_by: Option<String>,
    /// When it was revoked, as the client wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "optional_time_schema")]
    pub revoked_at: Option<String>,
    /// Why it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub revoke_reason: Option<String>,
    /// Who acknowledged the steps after the apply, one a release; append-only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "acknowledgements_schema")]
    pub acknowledgements: Vec<Acknowledgement>,
}

/// A revocation that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revocation<'a> {
    /// Username of who revoked.
    pub by: &'a str,
    /// When, as the client wrote it.
    pub at: &'a str,
    /// Why.
    pub reason: &'a str,
}

impl Approval {
    /// The revocation, if there is one; an empty string is unset.
    pub fn revocation(&self) -> Option<Revocation<'_>> {
        let by = self.revoked_by.as_deref().filter(|name| !name.is_empty())?;
        Some(Revocation {
            by,
            at: self.revoked_at.as_deref().unwrap_or_default(),
            reason: self.revoke_reason.as_deref().unwrap_or_default(),
        })
    }

    /// The acknowledgement of a release, if there is one.
    pub fn acknowledgement(&self, release: &str) -> Option<&Acknowledgement> {
        self.acknowledgements.iter().find(|given| given.release == release)
    }
}

/// Someone's word that the steps after one release's apply are done.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = validations(ACKNOWLEDGEMENT_RULES)))]
pub struct Acknowledgement {
    /// Release ID of a step with postApplySteps.
    #[schemars(length(min = 1, max = 53), regex(pattern = RELEASE_PATTERN))]
    pub release: String,
    /// Username, as the API server authenticated it.
    #[schemars(length(min = 1, max = 1024))]
    pub acknowledged_by: String,
    /// When, as the client wrote it.
    pub acknowledged_at: Time,
}

fn schema_version_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "format": "int64", "enum": [1]})
}

fn inventory_schema(generator: &mut SchemaGenerator) -> Schema {
    list::<InventoryEntry>(generator, 256)
}

fn steps_schema(generator: &mut SchemaGenerator) -> Schema {
    list::<Step>(generator, 256)
}

fn post_apply_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "maxItems": 16, "items": {"type": "string", "minLength": 1, "maxLength": 63}})
}

fn acknowledgements_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = list::<Acknowledgement>(generator, 256);
    schema.insert("x-kubernetes-list-type".into(), "map".into());
    schema.insert("x-kubernetes-list-map-keys".into(), serde_json::json!(["release"]));
    schema
}

fn optional_time_schema(_: &mut SchemaGenerator) -> Schema {
    let pattern = format!("^({})?$", super::time::TIME_PATTERN.trim_start_matches('^').trim_end_matches('$'));
    json_schema!({"type": "string", "maxLength": super::time::TIME_MAX_LENGTH, "pattern": pattern})
}
