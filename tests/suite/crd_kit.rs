//! What the tests of both CRDs share: asking the API server to judge an object, and valid objects to change.

use std::fmt::Write;

use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

/// What the server must say to a change of a valid object.
pub(crate) enum Verdict {
    Admits,
    /// Denies with a message that contains this.
    Denies(&'static str),
}

pub(crate) use Verdict::{Admits, Denies};

/// One row of a table: what the case is, how it changes the valid object, and what the server must say.
pub(crate) type Case = (&'static str, fn(&mut Value), Verdict);

pub(crate) fn api(client: Client, kind: &str) -> Api<DynamicObject> {
    Api::all_with(
        client,
        &ApiResource::from_gvk(&GroupVersionKind::gvk("operator.aicr.run", "v1alpha1", kind)),
    )
}

pub(crate) fn object(value: Value) -> DynamicObject {
    serde_json::from_value(value).expect("the test's object is well-formed")
}

fn strict() -> PatchParams {
    PatchParams { dry_run: true, ..PatchParams::default() }
}

/// Asks the server to create each changed object, without keeping it.
pub(crate) async fn judge_creates(api: &Api<DynamicObject>, valid: fn() -> Value, cases: &[Case]) {
    let mut faults = String::new();
    for (name, change, verdict) in cases {
        let mut value = valid();
        change(&mut value);
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        compare(&mut faults, name, verdict, api.create(&dry, &object(value)).await.map(|_| ()));
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Asks the server to replace the stored object by each changed one, without keeping it.
pub(crate) async fn judge_updates(api: &Api<DynamicObject>, name: &str, cases: &[Case]) {
    let mut faults = String::new();
    for (case, change, verdict) in cases {
        let mut value = serde_json::to_value(api.get(name).await.unwrap()).unwrap();
        change(&mut value);
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        compare(&mut faults, case, verdict, api.replace(name, &dry, &object(value)).await.map(|_| ()));
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Asks the server to merge each patch into the stored object, without keeping it.
pub(crate) async fn judge_patches(api: &Api<DynamicObject>, name: &str, cases: Vec<(&str, Value, Verdict)>) {
    let mut faults = String::new();
    for (case, patch, verdict) in cases {
        let patched = api.patch(name, &strict(), &Patch::Merge(&patch)).await;
        compare(&mut faults, case, &verdict, patched.map(|_| ()));
    }
    assert!(faults.is_empty(), "{faults}");
}

fn compare(faults: &mut String, case: &str, verdict: &Verdict, answer: kube::Result<()>) {
    let fault = match (verdict, answer) {
        (Admits, Ok(())) => return,
        (Denies(text), Err(kube::Error::Api(status))) if status.message.contains(text) => return,
        (Admits, Err(error)) => format!("must be admitted, but: {error}"),
        (Denies(text), Ok(())) => format!("must be denied with \"{text}\", but is admitted"),
        (Denies(text), Err(error)) => format!("must be denied with \"{text}\", but: {error}"),
    };
    writeln!(faults, "{case}: {fault}").unwrap();
}

pub(crate) fn digest(digit: char) -> String {
    format!("sha256:{}", digit.to_string().repeat(64))
}

pub(crate) fn runtime() -> Value {
    json!({
        "apiVersion": "operator.aicr.run/v1alpha1",
        "kind": "ClusterRuntime",
        "metadata": {"name": "cluster"},
        "spec": {"intent": "training", "placement": {
            "system": {"nodeSelector": {"pool": "system"}},
            "accelerated": {"nodeSelector": {"pool": "gpu"}},
        }},
    })
}

pub(crate) const ROLLOUT: &str = "rollout-3f9a1c0d2b7e4a51-1";

pub(crate) fn rollout() -> Value {
    json!({
        "apiVersion": "operator.aicr.run/v1alpha1",
        "kind": "RuntimeRollout",
        "metadata": {"name": ROLLOUT},
        "spec": {
            "schemaVersion": 1,
            "runtimeUID": "11111111-2222-4333-8444-555555555555",
            "fromPlanDigest": digest('a'),
            "toPlanDigest": digest('b'),
            "startingInventoryDigest": digest('c'),
            "startingInventory": [{"releaseID": "gpu-operator", "name": "gpu-operator", "uid": "u-1",
                "planDigest": digest('a'), "revision": digest('1'), "specDigest": digest('d')}],
            "assessmentRef": {"configMap": "aicr-upgrade-check-1", "digest": digest('e')},
            "deadline": "2099-10-15T04:00:00Z",
            "actionTimeout": "30m0s",
            "approvalRequired": true,
            "steps": [
                {"release": "gpu-operator", "operation": "Upgrade", "assessment": "Safe", "crdChange": false},
                {"release": "kai-scheduler", "operation": "Upgrade", "assessment": "Manual",
                 "postApplySteps": ["reset-breaker", "verify"]},
                {"release": "old", "operation": "Remove", "assessment": "NotApplicable", "uid": "3f2b"},
            ],
        },
    })
}
