//! Names that the API server, Argo CD and people see: group, labels, annotations, finalizers, field managers.
//!
//! Source: api-reference, "Engine object metadata" and "Request annotations on ClusterRuntime".

/// API group of both kinds; AICR's own `aicr.run` is another version policy.
pub const GROUP: &str = "operator.aicr.run";
/// The only served version.
pub const VERSION: &str = "v1alpha1";
/// Name of the one `ClusterRuntime`; also the value of [`RUNTIME`].
pub const SINGLETON: &str = "cluster";
/// Default namespace of the operator, which holds plans, recipes, values and assessment reports.
pub const OPERATOR_NAMESPACE: &str = "aicr-system";

/// Label: who manages the object.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Value of [`MANAGED_BY`] on everything the operator owns.
pub const MANAGER: &str = "aicr-operator";

/// Label: the runtime's name.
pub const RUNTIME: &str = "operator.aicr.run/runtime";
/// Annotation: UID of the `ClusterRuntime` that owns the object.
pub const RUNTIME_UID: &str = "operator.aicr.run/runtime-uid";
/// Annotation: `desiredStateDigest` of the plan that last wrote the object.
pub const PLAN_DIGEST: &str = "operator.aicr.run/plan-digest";
/// Annotation: release ID within the plan.
pub const RELEASE_ID: &str = "operator.aicr.run/release-id";
/// Annotation: digest of the release identity the object was written from.
pub const RELEASE_DIGEST: &str = "operator.aicr.run/release-digest";
/// Annotation: `Pre`, `Primary`, `Post` or `Readiness`.
pub const PHASE: &str = "operator.aicr.run/phase";
/// Annotation: sorted, comma-separated release IDs.
pub const DEPENDS_ON: &str = "operator.aicr.run/depends-on";
/// Annotation: parent release ID, on readiness releases only.
pub const READINESS_FOR: &str = "operator.aicr.run/readiness-for";
/// Annotation: `true` or `false`.
pub const OWNS_CRDS: &str = "operator.aicr.run/owns-crds";

/// Label on rollouts: first 16 hex of `toPlanDigest`; empty when the runtime is being removed.
pub const TO_PLAN: &str = "operator.aicr.run/to-plan";
/// Label on rollouts: 16 hex of the transition's hash.
pub const TRANSITION: &str = "operator.aicr.run/transition";
/// Label on rollouts: how the rollout ended, set once.
pub const OUTCOME: &str = "operator.aicr.run/outcome";
/// Annotation on rollouts: evidence reference, set once with a `Succeeded` outcome.
pub const EVIDENCE: &str = "operator.aicr.run/evidence";
/// Annotation on `Adopt` rollouts: the earlier runtime's UID.
pub const ADOPTED_FROM: &str = "operator.aicr.run/adopted-from";

/// Label on operator ConfigMaps: `plan`, `recipe`, `values`, `snapshot` or `assessment`.
pub const ROLE: &str = "operator.aicr.run/role";
/// Label on plan ConfigMaps: schema version of the document.
pub const SCHEMA_VERSION: &str = "operator.aicr.run/schema-version";
/// Annotation: content digest of a recipe, values or assessment ConfigMap.
pub const DIGEST: &str = "operator.aicr.run/digest";
/// Label: first 16 hex of the resolution's `inputDigest`.
pub const INPUT: &str = "operator.aicr.run/input";

/// Label: ID of the run (AICR Jobs and their run-scoped objects).
pub const RUN_ID: &str = "operator.aicr.run/run-id";
/// Label: the stage of AICR that a Job runs.
pub const STAGE: &str = "operator.aicr.run/stage";
/// Annotation: number of the run within its stage and input.
pub const ATTEMPT: &str = "operator.aicr.run/attempt";

/// Field manager of the plugin's writes.
pub const PLUGIN_FIELD_MANAGER: &str = "kubectl-aicr";
/// Field manager of the rollout controller's writes.
pub const ROLLOUT_FIELD_MANAGER: &str = "aicr-operator-rollout";
/// Field manager of the resolver's writes.
pub const RESOLVER_FIELD_MANAGER: &str = "aicr-operator-resolver";
