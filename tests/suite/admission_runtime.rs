//! What the operator may change of a ClusterRuntime: its cleanup finalizer and status.

use serde_json::{Value, json};

use crate::admission_kit::{By, RUNTIMES, World, assert_denied, runtime};

const POLICY: By = By::Policy("aicr-operator-runtime");
const RUNTIME: &str = "/apis/operator.aicr.run/v1alpha1/clusterruntimes/cluster";
const CLEANUP: &str = "operator.aicr.run/cleanup";

async fn world_with(object: &Value) -> World {
    let world = World::leased().await;
    world.admin.create(RUNTIMES, object).await.unwrap();
    world
}

#[tokio::test]
async fn the_operator_adds_and_removes_its_finalizer_and_no_other() {
    let mut object = runtime();
    object["metadata"]["finalizers"] = json!(["example.com/theirs"]);
    let world = world_with(&object).await;
    let words =
        "the operator adds and removes no finalizer of a ClusterRuntime but operator.aicr.run/cleanup";
    for finalizers in [
        json!(null),
        json!([CLEANUP]),
        json!(["example.com/theirs", "example.com/more"]),
        json!([CLEANUP, "example.com/more", "example.com/theirs"]),
    ] {
        let patch = json!({"metadata": {"finalizers": finalizers}});
        world.assert_patch_denied(RUNTIME, &world.operator, &patch, POLICY, words).await;
    }
    let with = json!({"metadata": {"finalizers": ["example.com/theirs", CLEANUP]}});
    world.operator.merge(RUNTIME, &with).await.unwrap();
    let without = json!({"metadata": {"finalizers": ["example.com/theirs"]}});
    world.operator.merge(RUNTIME, &without).await.unwrap();
    world.admin.merge(RUNTIME, &json!({"metadata": {"finalizers": null}})).await.unwrap();

    let own = json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"],
        "metadata": {"name": "cluster", "finalizers": [CLEANUP]},
    });
    let applied = world.operator.apply(RUNTIME, &own).await.unwrap();
    assert_eq!(applied["metadata"]["finalizers"], json!([CLEANUP]));
    let none =
        json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {"name": "cluster"}});
    let applied = world.operator.apply(RUNTIME, &none).await.unwrap();
    assert!(applied["metadata"].get("finalizers").is_none(), "{applied}");
}

#[tokio::test]
async fn the_operator_changes_neither_spec_nor_metadata() {
    let world = world_with(&runtime()).await;
    let spec = "the operator never changes the spec of a ClusterRuntime";
    let metadata = "not its labels, annotations or ownerReferences";
    let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "0b7f3f0a-6a0e-4f0e-9d52-1f6f5f1f2a10"});
    for (patch, words) in [
        (json!({"spec": {"intent": "inference"}}), spec),
        (json!({"spec": {"paused": true}}), spec),
        (json!({"spec": {"criteria": {}}}), spec),
        (json!({"metadata": {"labels": {"a": "b"}}}), metadata),
        (json!({"metadata": {"annotations": {"operator.aicr.run/retry": "1"}}}), metadata),
        (json!({"metadata": {"ownerReferences": [owner]}}), metadata),
    ] {
        world.assert_patch_denied(RUNTIME, &world.operator, &patch, POLICY, words).await;
    }
    for patch in [
        json!({"spec": {"intent": "inference"}}),
        json!({"metadata": {"annotations": {"operator.aicr.run/retry": "1"}, "labels": {"a": "b"}}}),
    ] {
        world.admin.merge(RUNTIME, &patch).await.unwrap();
    }
}

#[tokio::test]
async fn the_operator_writes_status() {
    let world = world_with(&runtime()).await;
    let status = json!({"status": {"observedGeneration": 1, "rollout": "rollout-3f9a1c0d2b7e4a51-1"}});
    let written = world.operator.merge(&format!("{RUNTIME}/status"), &status).await.unwrap();
    assert_eq!(written["status"]["rollout"], "rollout-3f9a1c0d2b7e4a51-1");
    for person in [&world.eve, &world.alice] {
        let path = format!("{RUNTIME}/status");
        world.assert_patch_denied(&path, person, &status, By::Rbac, "cannot patch resource").await;
    }
}

#[tokio::test]
async fn the_operator_neither_creates_nor_deletes_a_runtime() {
    let world = World::leased().await;
    assert_denied(world.operator.create(RUNTIMES, &runtime()).await, By::Rbac, "cannot create");
    assert_denied(world.operator.apply(RUNTIME, &runtime()).await, By::Rbac, "cannot create");
    let create =
        json!({"apiGroups": ["operator.aicr.run"], "resources": ["clusterruntimes"], "verbs": ["create"]});
    world.grant("test-creates-runtimes", json!([create]), &world.operator).await;
    world.wait_until_allowed(&world.operator, "create", "clusterruntimes").await;
    let words = "the operator never creates a ClusterRuntime";
    assert_denied(world.operator.create(RUNTIMES, &runtime()).await, POLICY, words);

    world.admin.create(RUNTIMES, &runtime()).await.unwrap();
    assert_denied(world.operator.delete(RUNTIME).await, By::Rbac, "cannot delete");
}

#[tokio::test]
async fn the_largest_runtime_stays_within_the_cost_budget() {
    let mut object = runtime();
    object["spec"]["overrides"] = (0..64)
        .map(|index| {
            json!({"component": "c".repeat(63), "path": format!("{index:03}.{}", "p".repeat(252)),
                   "value": {"list": vec!["v".repeat(32); 200]}})
        })
        .collect();
    let world = world_with(&object).await;
    world.operator.merge(RUNTIME, &json!({"metadata": {"finalizers": [CLEANUP]}})).await.unwrap();
    let change = json!({"spec": {"paused": true}});
    let words = "the operator never changes the spec";
    world.assert_patch_denied(RUNTIME, &world.operator, &change, POLICY, words).await;
    world.operator.merge(RUNTIME, &json!({"metadata": {"finalizers": null}})).await.unwrap();
}
