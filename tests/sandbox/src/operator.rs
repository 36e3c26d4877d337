//! Puts the sample on the server: each object under the identity that alone may write it.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use kubectl_aicr::api::{ClusterRuntime, Phase, RuntimeRollout, RuntimeRolloutStatus, Time, keys};
use kubectl_aicr::approval::{self, Enforcement};
use kubectl_aicr::plan::Digest;
use serde_json::{Value, json};
use test_support::{ControlPlane, Identity, NAMESPACE};

use crate::Result;
use crate::gallery::{Entry, REPORT, REPORT_CONFIG_MAP, Scene};
use crate::plans::{self, CRITERIA, Plans, digest, image, labels};

/// Field manager of what people do here by hand.
const BY_HAND: &str = "sandbox";

/// Creates runtime, plans, report and rollouts. The answer is the rollouts.
pub(crate) async fn populate(cluster: &ControlPlane) -> Result<Vec<Entry>> {
    let editor = Api::<ClusterRuntime>::all(cluster.client(Identity::Editor)?);
    let runtime = editor.create(&PostParams::default(), &runtime()?).await?;
    let runtime_uid = runtime.uid().unwrap_or_default();
    let plans = Plans::of_runtime(&runtime_uid)?;
    let operator = cluster.client(Identity::Operator)?;
    write_config_maps(&operator, &plans).await?;
    let now = now();
    let rollouts = Scene { plans: &plans, runtime_uid: &runtime_uid, now }.rollouts()?;
    for entry in &rollouts {
        write_rollout(cluster, entry, now)
            .await
            .map_err(|error| format!("making the {:?} rollout {}: {error}", entry.phase(), entry.name()))?;
    }
    let running = rollouts.iter().find(|entry| entry.phase() == Some(Phase::Progressing));
    let running = running.ok_or("no sample rollout is in progress")?;
    report_on_runtime(&operator, &runtime, &plans, running, now).await?;
    Ok(rollouts)
}

#[expect(clippy::disallowed_methods, reason = "the sample's times are relative to its start")]
fn now() -> Time {
    Time(Timestamp::now()).truncated()
}

/// What an administrator writes; defaults are left to the API server.
fn runtime() -> Result<ClusterRuntime> {
    let [_, intent, _, platform, _] = CRITERIA;
    let declared: Value =
        CRITERIA.iter().filter(|pair| **pair != intent && **pair != platform).copied().collect();
    Ok(serde_json::from_value(json!({
        "apiVersion": "operator.aicr.run/v1alpha1",
        "kind": "ClusterRuntime",
        "metadata": {"name": keys::SINGLETON},
        "spec": {
            "intent": intent.1,
            "platform": platform.1,
            "criteria": declared,
            "placement": {
                "system": {"nodeSelector": {"example.com/pool": "system"}},
                "accelerated": {
                    "nodeSelector": {"example.com/pool": "gpu"},
                    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                },
            },
            "overrides": plans::overrides()?,
        },
    }))?)
}

/// The plans' ConfigMaps and the assessment report's; content that two plans share is written once.
async fn write_config_maps(operator: &Client, plans: &Plans) -> Result<()> {
    let api: Api<ConfigMap> = Api::namespaced(operator.clone(), NAMESPACE);
    let mut objects = vec![report_config_map(plans)];
    for sample in [&plans.installed, &plans.override_only, &plans.upgrade] {
        objects.extend(sample.config_maps(NAMESPACE)?);
    }
    let mut written = std::collections::BTreeSet::new();
    for object in objects {
        if written.insert(object.name_any()) {
            api.create(&PostParams::default(), &object)
                .await
                .map_err(|error| format!("creating ConfigMap {}: {error}", object.name_any()))?;
        }
    }
    Ok(())
}

fn report_config_map(plans: &Plans) -> ConfigMap {
    let annotations = [
        (keys::RUNTIME_UID, plans.upgrade.plan.runtime_uid.clone()),
        (keys::DIGEST, Digest::of_bytes(REPORT.as_bytes()).to_string()),
    ];
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(REPORT_CONFIG_MAP.to_owned()),
            namespace: Some(NAMESPACE.to_owned()),
            labels: Some(labels("assessment")),
            annotations: Some(annotations.map(|(key, value)| (key.to_owned(), value)).into()),
            ..ObjectMeta::default()
        },
        data: Some([("report.json".to_owned(), REPORT.to_owned())].into()),
        immutable: Some(true),
        ..ConfigMap::default()
    }
}

/// One rollout from its creation to where it is now.
async fn write_rollout(cluster: &ControlPlane, entry: &Entry, now: Time) -> Result<()> {
    let name = entry.name();
    let rollouts =
        |identity| Ok::<_, test_support::Error>(Api::<RuntimeRollout>::all(cluster.client(identity)?));
    let operator = rollouts(Identity::Operator)?;
    let mut rollout = RuntimeRollout::new(&name, entry.spec.clone());
    rollout.metadata.labels = Some(entry.transition.labels());
    rollout.metadata.annotations =
        entry.adopted_from.as_ref().map(|uid| [(keys::ADOPTED_FROM.to_owned(), uid.clone())].into());
    operator.create(&PostParams::default(), &rollout).await?;

    let approve = async |who: Identity, members: Value| {
        let patch = json!({"spec": {"approval": members}});
        rollouts(who)?.patch(&name, &by_hand(), &Patch::Merge(&patch)).await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
    };
    if let Some((who, until, reason)) = entry.approval {
        let members = json!({"approvedBy": who.user(), "expiresAt": until, "reason": reason});
        approve(who, members).await?;
    }
    if let Some((who, release)) = entry.acknowledgement {
        let waiting = RuntimeRolloutStatus {
            phase: Some(Phase::AwaitingAcknowledgement),
            ..RuntimeRolloutStatus::default()
        };
        write_status(&operator, &name, waiting, now).await?;
        let given = json!([{"release": release, "acknowledgedBy": who.user(), "acknowledgedAt": now}]);
        approve(who, json!({"acknowledgements": given})).await?;
    }
    if let Some((who, reason)) = entry.revocation {
        approve(who, json!({"revokedBy": who.user(), "revokedAt": now, "revokeReason": reason})).await?;
    }
    if let Some(status) = &entry.status {
        write_status(&operator, &name, status.clone(), now).await?;
    }
    if let Some(outcome) = entry.outcome() {
        let annotations = entry.evidence.as_ref().map(|evidence| json!({keys::EVIDENCE: evidence}));
        let patch = json!({"metadata": {"labels": {keys::OUTCOME: outcome}, "annotations": annotations}});
        operator
            .patch(&name, &PatchParams::apply(keys::ROLLOUT_FIELD_MANAGER), &Patch::Merge(&patch))
            .await?;
    }
    Ok(())
}

fn by_hand() -> PatchParams {
    PatchParams { field_manager: Some(BY_HAND.to_owned()), ..PatchParams::default() }
}

/// Applies a status; what the approval is worth is judged as the operator would.
async fn write_status(
    operator: &Api<RuntimeRollout>,
    name: &str,
    mut status: RuntimeRolloutStatus,
    now: Time,
) -> Result<()> {
    let rollout = operator.get(name).await?;
    status.approval = Some(approval::state(&rollout, Enforcement::Enforced, now));
    status.observed_generation = rollout.metadata.generation;
    for condition in &mut status.conditions {
        condition.observed_generation = rollout.metadata.generation;
    }
    let applied = json!({
        "apiVersion": "operator.aicr.run/v1alpha1", "kind": "RuntimeRollout",
        "metadata": {"name": name}, "status": status,
    });
    operator
        .patch_status(name, &PatchParams::apply(keys::ROLLOUT_FIELD_MANAGER), &Patch::Apply(&applied))
        .await?;
    Ok(())
}

/// The runtime's status, each field by the controller that owns it.
async fn report_on_runtime(
    operator: &Client,
    runtime: &ClusterRuntime,
    plans: &Plans,
    running: &Entry,
    now: Time,
) -> Result<()> {
    let generation = runtime.metadata.generation;
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": status, "observedGeneration": generation, "lastTransitionTime": now,
               "reason": reason, "message": message})
    };
    let candidate = plans.upgrade.plan.digest();
    let provenance = &plans.upgrade.plan.provenance;
    let version = provenance.aicr_version.clone().unwrap_or_default();
    let resolver = json!({
        "aicr": {"image": image(&version), "version": version},
        "discovery": {
            "snapshot": {"configMap": format!("aicr-snapshot-{}", digest("snapshot").short()),
                         "digest": digest("snapshot"), "observedAt": now},
            "criteria": CRITERIA.iter().copied().collect::<Value>(),
            "acceleratedNodes": 32,
            "systemNodes": 3,
        },
        "candidatePlanDigest": candidate,
        "inputDigest": plans.upgrade.plan.input_digest,
        "conditions": [condition("Resolved", "True", "Resolved", &format!("plan {candidate}"))],
    });
    let current = running.status.as_ref().and_then(|status| status.current.as_ref());
    let step =
        current.and_then(|current| running.spec.steps.iter().position(|s| s.release == current.release));
    let place = current.map_or_else(String::new, |current| {
        let (number, count) = (step.unwrap_or_default() + 1, running.spec.steps.len());
        format!("step {number}/{count} {} ({})", current.release, current.operation.as_str())
    });
    let progress = format!("rollout {}: {place}", running.name());
    let rollouts = json!({
        "observedGeneration": generation,
        "activePlanDigest": plans.installed.plan.digest(),
        "rollout": running.name(),
        "conditions": [
            condition("Ready", "False", "RollingOut", &progress),
            condition("Available", "True", "Healthy", "every release of the active plan is ready"),
            condition("Reconciling", "True", "RollingOut", &progress),
            condition("Stalled", "False", "Progressing", "nothing stands in the way"),
            condition("EngineAvailable", "True", "EngineAvailable", "Argo CD and its project are there"),
        ],
    });
    let api: Api<ClusterRuntime> = Api::all(operator.clone());
    for (manager, status) in
        [(keys::RESOLVER_FIELD_MANAGER, resolver), (keys::ROLLOUT_FIELD_MANAGER, rollouts)]
    {
        let applied = json!({
            "apiVersion": "operator.aicr.run/v1alpha1", "kind": "ClusterRuntime",
            "metadata": {"name": keys::SINGLETON}, "status": status,
        });
        api.patch_status(keys::SINGLETON, &PatchParams::apply(manager), &Patch::Apply(&applied)).await?;
    }
    Ok(())
}
