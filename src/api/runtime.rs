//! `ClusterRuntime`: what the cluster should run and under which policy. Source: api-reference, "ClusterRuntime".

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::condition::conditions_schema;
use super::schema::{
    DIGEST_PATTERN, LABEL_VALUE_PATTERN, OBJECT_NAME_PATTERN, OPTIONAL_DIGEST_PATTERN, OPTIONAL_UUID_PATTERN,
    any_value, is_false, list, validations,
};
use super::{Condition, GoDuration, Time};

/// Desired runtime intent and policy of the cluster's GPU stack. There is one, named `cluster`.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[kube(
    group = "operator.aicr.run",
    version = "v1alpha1",
    kind = "ClusterRuntime",
    plural = "clusterruntimes",
    shortname = "aicrrt",
    status = "ClusterRuntimeStatus",
    derive = "PartialEq",
    doc = "What the cluster's GPU stack should run, and under which policy. There is one, named cluster.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(
        name = "Available",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Available")].status"#
    ),
    printcolumn(
        name = "Stalled",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Stalled")].status"#
    ),
    printcolumn(name = "Rollout", type_ = "string", json_path = ".status.rollout"),
    printcolumn(name = "AICR", type_ = "string", json_path = ".status.aicr.version", priority = 1),
    printcolumn(
        name = "Active Plan",
        type_ = "string",
        json_path = ".status.activePlanDigest",
        priority = 1
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRuntimeSpec {
    /// AICR criteria value: what the cluster is for, such as training or inference.
    #[schemars(length(min = 1, max = 63))]
    pub intent: String,
    /// AICR criteria value: the workload platform, such as kubeflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub platform: Option<String>,
    /// AICR configuration profile value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub profile: Option<String>,
    /// Facts that the administrator declares; they must agree with discovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Criteria>,
    /// Which nodes carry the system and the accelerated part of the stack.
    pub placement: Placement,
    /// AICR recipe configuration: desired state without a criteria axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    /// Which plan is the target.
    #[serde(default)]
    pub selection: Selection,
    /// Typed values passed to AICR, at most one a component and path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "overrides_schema")]
    pub overrides: Vec<Override>,
    /// Timing of rollouts created from now on.
    #[serde(default)]
    pub rollout: RolloutPolicy,
    /// Whether a rollout must pass AICR's deployment validation.
    #[serde(default)]
    pub validation: ValidationPolicy,
    /// What becomes of the Argo CD Applications when the runtime is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// Explicit adoption of what an earlier runtime left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adoption: Option<Adoption>,
    /// Emergency stop: no step starts and Argo CD's automated sync and drift repair are off.
    #[serde(default, skip_serializing_if = "is_false")]
    pub suspend_engine: bool,
    /// No new rollout or step starts; observation continues.
    #[serde(default, skip_serializing_if = "is_false")]
    pub paused: bool,
}

/// Administrator-declared facts, each an AICR criteria value.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Criteria {
    /// Kubernetes service, such as eks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub service: Option<String>,
    /// Accelerator, such as h100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub accelerator: Option<String>,
    /// Operating system of the accelerated nodes, such as ubuntu.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub os: Option<String>,
}

/// System and accelerated scheduling.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = validations(&[(
    "self.system.nodeSelector != self.accelerated.nodeSelector",
    "the system and accelerated node selectors must differ: one node group cannot be both",
)])))]
pub struct Placement {
    /// Nodes for controllers and other system workloads.
    pub system: NodeGroup,
    /// Nodes with accelerators.
    pub accelerated: NodeGroup,
}

/// A group of nodes by selector, and the taints its workloads tolerate.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeGroup {
    /// Labels that every node of the group carries; at least one.
    #[schemars(schema_with = "node_selector_schema")]
    pub node_selector: BTreeMap<String, String>,
    /// Taints that the group's workloads tolerate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "tolerations_schema")]
    pub tolerations: Vec<Toleration>,
}

/// A toleration, in the form that AICR's flags can carry.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Toleration {
    /// Key of the taint; empty with operator Exists tolerates every key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 317))]
    pub key: Option<String>,
    /// Exists or Equal; Equal when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<TolerationOperator>,
    /// Value of the taint, with operator Equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63), regex(pattern = LABEL_VALUE_PATTERN))]
    pub value: Option<String>,
    /// Effect of the taint; every effect when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<TaintEffect>,
}

/// How a toleration matches a taint.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub enum TolerationOperator {
    /// The key alone matches.
    Exists,
    /// Key and value match.
    Equal,
}

/// Effect of a taint.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub enum TaintEffect {
    /// Nothing new is scheduled.
    NoSchedule,
    /// Scheduling elsewhere is preferred.
    PreferNoSchedule,
    /// Nothing new is scheduled, and what runs is evicted.
    NoExecute,
}

/// AICR recipe configuration. The CRD bounds its shape; AICR judges its content.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Configuration {
    /// Google Kubernetes Engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gke: Option<GkeConfiguration>,
}

/// Configuration for Google Kubernetes Engine.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GkeConfiguration {
    /// GPUDirect-TCPXO interface mapping, passed to AICR in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "tcpxo_schema")]
    pub tcpxo_interfaces: Vec<TcpxoInterface>,
}

/// One interface of the GPUDirect-TCPXO mapping.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TcpxoInterface {
    /// Interface on the node, such as eth1; unique in the list.
    #[schemars(length(min = 1, max = 15))]
    pub interface_name: String,
    /// Device network.
    #[schemars(length(min = 1, max = 63))]
    pub network: String,
}

/// Which plan is the target of rollouts.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = validations(&[(
    "(self.policy == 'Pinned') == (has(self.pinnedPlanDigest) && self.pinnedPlanDigest != '')",
    "pinnedPlanDigest is set if and only if policy is Pinned",
)])))]
pub struct Selection {
    /// Automatic follows the newest candidate; Pinned holds one plan.
    #[serde(default)]
    pub policy: SelectionPolicy,
    /// desiredStateDigest of the pinned plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = OPTIONAL_DIGEST_PATTERN))]
    pub pinned_plan_digest: Option<String>,
}

/// How the target plan is chosen.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub enum SelectionPolicy {
    /// The newest plan resolved from the current inputs.
    #[default]
    Automatic,
    /// The plan that pinnedPlanDigest names.
    Pinned,
}

/// A typed value for one path of one component.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Override {
    /// AICR component.
    #[schemars(length(min = 1, max = 63))]
    pub component: String,
    /// Path within the component's values, such as dcgmExporter.enabled.
    #[schemars(length(min = 1, max = 256))]
    pub path: String,
    /// The value, with its JSON type.
    #[schemars(schema_with = "any_value")]
    pub value: serde_json::Value,
    /// Allows a path that neither the base render nor the chart's defaults have.
    #[serde(default, skip_serializing_if = "is_false")]
    pub additive: bool,
}

/// Timing of rollouts. A rollout keeps what it was created with.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = validations(&[
    ("duration(self.stabilizationWindow) >= duration('0s')", "stabilizationWindow must be a duration that is not negative"),
    ("duration(self.actionTimeout) > duration('0s')", "actionTimeout must be a duration above zero"),
    ("duration(self.deadline) > duration('0s')", "deadline must be a duration above zero"),
])))]
pub struct RolloutPolicy {
    /// How long a candidate must stand before a rollout is planned, from its creation.
    #[serde(default = "default_stabilization_window")]
    pub stabilization_window: GoDuration,
    /// How long one step may take.
    #[serde(default = "default_action_timeout")]
    pub action_timeout: GoDuration,
    /// How long a whole rollout may take, from its creation.
    #[serde(default = "default_deadline")]
    pub deadline: GoDuration,
}

const fn default_stabilization_window() -> GoDuration {
    GoDuration::from_secs(10 * 60)
}

const fn default_action_timeout() -> GoDuration {
    GoDuration::from_secs(30 * 60)
}

const fn default_deadline() -> GoDuration {
    GoDuration::from_secs(6 * 60 * 60)
}

impl Default for RolloutPolicy {
    fn default() -> Self {
        Self {
            stabilization_window: default_stabilization_window(),
            action_timeout: default_action_timeout(),
            deadline: default_deadline(),
        }
    }
}

/// Whether AICR's deployment validation gates a rollout.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationPolicy {
    /// Required needs validation to be enabled at installation.
    #[serde(default)]
    pub deployment: DeploymentValidation,
}

/// Whether deployment validation runs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub enum DeploymentValidation {
    /// It runs once a rollout, and gates it.
    #[default]
    Required,
    /// It does not run.
    Disabled,
}

/// What becomes of the Applications when the runtime is deleted.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub enum DeletionPolicy {
    /// They stay, marked as orphaned.
    #[default]
    Orphan,
    /// An approved removal rollout uninstalls them.
    Delete,
}

/// Re-adoption of an earlier runtime's Applications.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Adoption {
    /// UID of the earlier runtime; empty adopts nothing.
    #[serde(default, rename = "runtimeUID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 36), regex(pattern = OPTIONAL_UUID_PATTERN))]
    pub runtime_uid: Option<String>,
}

/// What was observed; it can be rebuilt from durable objects.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRuntimeStatus {
    /// Generation that the conditions describe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// Ready, Available, Reconciling, Stalled, Resolved and EngineAvailable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions_schema")]
    pub conditions: Vec<Condition>,
    /// The AICR that the resolver ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aicr: Option<AicrStatus>,
    /// The last snapshot and what it showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery: Option<DiscoveryStatus>,
    /// Plan of the newest succeeded rollout: what is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = OPTIONAL_DIGEST_PATTERN))]
    pub active_plan_digest: Option<String>,
    /// Newest plan resolved from the current inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = OPTIONAL_DIGEST_PATTERN))]
    pub candidate_plan_digest: Option<String>,
    /// The inputs that the candidate was resolved for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = OPTIONAL_DIGEST_PATTERN))]
    pub input_digest: Option<String>,
    /// The rollout in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub rollout: Option<String>,
}

/// The AICR that the resolver ran.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AicrStatus {
    /// Version, as the image reports it.
    #[schemars(length(max = 63))]
    pub version: String,
    /// Image, pinned by digest.
    #[schemars(length(max = 512))]
    pub image: String,
}

/// What discovery saw.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveryStatus {
    /// The snapshot that the criteria were read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotReference>,
    /// Resolved criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<ResolvedCriteria>,
    /// Nodes that match the accelerated selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub accelerated_nodes: Option<i64>,
    /// Nodes that match the system selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub system_nodes: Option<i64>,
}

/// A snapshot ConfigMap in the operator namespace.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotReference {
    /// Name of the ConfigMap.
    #[schemars(length(min = 1, max = 253), regex(pattern = OBJECT_NAME_PATTERN))]
    pub config_map: String,
    /// Digest of its bytes.
    #[schemars(length(max = 71), regex(pattern = DIGEST_PATTERN))]
    pub digest: String,
    /// When it was taken.
    pub observed_at: Time,
}

/// Criteria that a recipe was resolved for.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedCriteria {
    /// Kubernetes service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub service: Option<String>,
    /// Accelerator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub accelerator: Option<String>,
    /// Operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub os: Option<String>,
    /// Intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub intent: Option<String>,
    /// Platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub platform: Option<String>,
}

fn overrides_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = list::<Override>(generator, 64);
    schema.insert(
        "x-kubernetes-validations".into(),
        validations(&[(
            "self.all(x, self.exists_one(y, y.component == x.component && y.path == x.path))",
            "overrides must be unique by component and path",
        )]),
    );
    schema
}

fn tcpxo_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = list::<TcpxoInterface>(generator, 16);
    schema.insert(
        "x-kubernetes-validations".into(),
        validations(&[(
            "self.all(x, self.exists_one(y, y.interfaceName == x.interfaceName))",
            "tcpxoInterfaces must be unique by interfaceName",
        )]),
    );
    schema
}

fn tolerations_schema(generator: &mut SchemaGenerator) -> Schema {
    list::<Toleration>(generator, 16)
}

fn node_selector_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": 16,
        "additionalProperties": {"type": "string", "maxLength": 63, "pattern": LABEL_VALUE_PATTERN},
        "x-kubernetes-validations": validations(&[(
            "self.all(key, !format.qualifiedName().validate(key).hasValue())",
            "nodeSelector keys must be Kubernetes label keys: an optional DNS prefix and '/', then at most 63 letters, digits, '-', '_' or '.'",
        )]),
    })
}
