//! The Argo CD Application of a release, as raw JSON: one shape for every release.
//!
//! Source: design section 6; api-reference "Engine object metadata".

use serde_json::{Map, Value, json};

use super::document::Release;
use super::engine::{difference_json, retry_json, sorted};
use super::identity::release_digest;
use super::reason::{Reason, Refused};
use super::sealed::Plan;
use super::values::{Values, parameters_json};
use crate::api::application::{API_VERSION, COMPARE_OPTIONS, IN_CLUSTER, KIND};
use crate::api::keys;

/// The Application of a plan's release in the engine namespace, without an operation: automated syncs are enabled.
///
/// # Errors
///
/// `NotFound` when the plan does not hold the release, `PlanUnreadable` when the values are not those that it records: an
/// Application must not claim a release digest that is not its own.
pub fn application(plan: &Plan, release: &str, values: &Values, namespace: &str) -> Result<Value, Refused> {
    let Some(found) = plan.release(release) else {
        let message = format!("plan {} holds no release {release}", plan.digest());
        return Err(Refused { reason: Reason::NotFound, message });
    };
    let (recorded, given) = (found.values.digest, values.digest());
    if recorded != given {
        let message = format!("release {release} records the values {recorded}, and those given are {given}");
        return Err(Refused { reason: Reason::PlanUnreadable, message });
    }
    Ok(json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": release,
            "namespace": namespace,
            "labels": {keys::MANAGED_BY: keys::MANAGER, keys::RUNTIME: keys::SINGLETON},
            "annotations": annotations(plan, found),
        },
        "spec": spec(found, values),
    }))
}

/// The release's annotations. With the spec they hold all that the plan's digest covers.
fn annotations(plan: &Plan, release: &Release) -> Map<String, Value> {
    let mut annotations = Map::new();
    let mut put = |key: &str, value: String| annotations.insert(key.to_owned(), Value::String(value));
    put(keys::RUNTIME_UID, plan.runtime_uid.clone());
    put(keys::PLAN_DIGEST, plan.digest().to_string());
    put(keys::RELEASE_ID, release.id.clone());
    put(keys::RELEASE_DIGEST, release_digest(release).to_string());
    put(keys::PHASE, release.phase.as_str().to_owned());
    put(keys::DEPENDS_ON, sorted(&release.depends_on).join(","));
    put(keys::OWNS_CRDS, release.owns_crds.to_string());
    if let Some(parent) = &release.readiness_for {
        put(keys::READINESS_FOR, parent.clone());
    }
    let options = &release.engine_policy.compare_options;
    if !options.is_empty() {
        put(COMPARE_OPTIONS, sorted(options).join(","));
    }
    annotations
}

/// The release's `spec`.
pub(super) fn spec(release: &Release, values: &Values) -> Value {
    let policy = &release.engine_policy;
    let mut helm = json!({"releaseName": release.id, "valuesObject": values.object()});
    let parameters = values.parameters();
    if !parameters.is_empty() {
        helm["parameters"] = parameters_json(&parameters);
    }
    let mut sync_policy = json!({
        "automated": {"enabled": true, "prune": policy.prune, "selfHeal": policy.self_heal},
        "syncOptions": sorted(&policy.sync_options),
    });
    if let Some(retry) = &policy.retry {
        sync_policy["retry"] = retry_json(retry);
    }
    let mut spec = json!({
        "project": policy.project,
        "source": {
            "repoURL": release.chart.repository,
            "path": ".",
            "targetRevision": release.chart.digest.to_string(),
            "helm": helm,
        },
        "destination": {"server": IN_CLUSTER, "namespace": release.target_namespace},
        "syncPolicy": sync_policy,
    });
    if let Some(limit) = policy.revision_history_limit {
        spec["revisionHistoryLimit"] = json!(limit);
    }
    if !policy.ignore_differences.is_empty() {
        spec["ignoreDifferences"] = policy.ignore_differences.iter().map(difference_json).collect();
    }
    spec
}
