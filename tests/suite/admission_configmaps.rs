//! ConfigMaps under the operator's labels in its namespace: only the operator makes and changes them.

use serde_json::{Value, json};

use crate::admission_kit::{By, CONFIG_MAPS, World, assert_denied, digest};

const POLICY: By = By::Policy("aicr-operator-configmaps");
const WORDS: &str = "only the operator (system:serviceaccount:aicr-system:aicr-operator) creates or changes ConfigMaps labelled";

fn config_map(name: &str, labels: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}, "data": {"plan.json": "{}"}})
}

fn plan(name: &str) -> Value {
    let mut plan = config_map(
        name,
        &json!({
            "app.kubernetes.io/managed-by": "aicr-operator",
            "operator.aicr.run/runtime": "cluster",
            "operator.aicr.run/role": "plan",
            "operator.aicr.run/schema-version": "1",
        }),
    );
    plan["immutable"] = true.into();
    plan["metadata"]["annotations"] = json!({"operator.aicr.run/plan-digest": digest('a')});
    plan
}

fn path(name: &str) -> String {
    format!("{CONFIG_MAPS}/{name}")
}

#[tokio::test]
async fn a_forged_plan_is_denied_and_the_operators_admitted() {
    let world = World::leased().await;
    assert_denied(world.admin.create(CONFIG_MAPS, &plan("aicr-plan-aaaaaaaaaaaaaaaa")).await, POLICY, WORDS);
    world.operator.create(CONFIG_MAPS, &plan("aicr-plan-aaaaaaaaaaaaaaaa")).await.unwrap();
    // An approver reads it, and no more.
    world.alice.get(&path("aicr-plan-aaaaaaaaaaaaaaaa")).await.unwrap();
    assert_denied(world.alice.create(CONFIG_MAPS, &plan("another")).await, By::Rbac, "cannot create");
    assert_denied(world.alice.get(CONFIG_MAPS).await, By::Rbac, "cannot list");
}

#[tokio::test]
async fn each_operator_label_alone_is_protected() {
    let world = World::leased().await;
    world.admin.create(CONFIG_MAPS, &config_map("plain", &json!({}))).await.unwrap();
    for labels in [
        json!({"app.kubernetes.io/managed-by": "aicr-operator"}),
        json!({"operator.aicr.run/role": "plan"}),
        json!({"operator.aicr.run/role": ""}),
        json!({"operator.aicr.run/schema-version": "1"}),
        json!({"operator.aicr.run/anything": "else"}),
    ] {
        assert_denied(world.admin.create(CONFIG_MAPS, &config_map("forged", &labels)).await, POLICY, WORDS);
        assert_denied(
            world.admin.apply(&path("forged"), &config_map("forged", &labels)).await,
            POLICY,
            WORDS,
        );
        let adopt = json!({"metadata": {"labels": labels}});
        world.assert_patch_denied(&path("plain"), &world.admin, &adopt, POLICY, WORDS).await;
    }
}

#[tokio::test]
async fn others_config_maps_stay_theirs() {
    let world = World::leased().await;
    for (name, labels) in [
        ("unlabelled", json!(null)),
        ("empty", json!({})),
        ("helm", json!({"app.kubernetes.io/managed-by": "Helm"})),
        ("similar", json!({"aicr.run/role": "plan", "operator.aicr.run.example.com/role": "plan"})),
    ] {
        world.admin.create(CONFIG_MAPS, &config_map(name, &labels)).await.unwrap();
        let change = json!({"data": {"more": "of it"}, "metadata": {"labels": {"example.com/a": "b"}}});
        world.admin.merge(&path(name), &change).await.unwrap();
        world.admin.merge(&path(name), &json!({"metadata": {"labels": null}})).await.unwrap();
        world.admin.delete(&path(name)).await.unwrap();
    }
    // Elsewhere the labels mean nothing.
    world.admin.create("/api/v1/namespaces/default/configmaps?dryRun=All", &plan("p")).await.unwrap();
}

#[tokio::test]
async fn an_operator_config_map_is_changed_by_nobody_else_but_may_be_deleted() {
    let world = World::leased().await;
    let mut recipe = plan("aicr-recipe");
    recipe["metadata"]["labels"]["operator.aicr.run/role"] = "recipe".into();
    recipe.as_object_mut().unwrap().remove("immutable");
    world.operator.create(CONFIG_MAPS, &recipe).await.unwrap();
    for patch in [
        json!({"data": {"plan.json": "{\"forged\":true}"}}),
        json!({"immutable": true}),
        json!({"metadata": {"labels": null}}),
        json!({"metadata": {"labels": {"operator.aicr.run/role": null}}}),
        json!({"metadata": {"annotations": {"operator.aicr.run/plan-digest": digest('b')}}}),
        json!({"metadata": {"finalizers": ["example.com/mine"]}}),
    ] {
        world.assert_patch_denied(&path("aicr-recipe"), &world.admin, &patch, POLICY, WORDS).await;
    }
    let mark = json!({"metadata": {"annotations": {"example.com/mark": "x"}, "labels": {"operator.aicr.run/input": "0"}}});
    world.operator.merge(&path("aicr-recipe"), &mark).await.unwrap();
    world.admin.delete(&path("aicr-recipe")).await.unwrap();
}

#[tokio::test]
async fn the_garbage_collector_ends_a_foreground_deletion_and_changes_nothing_else() {
    let world = World::leased().await;
    world.operator.create(CONFIG_MAPS, &plan("aicr-plan-aaaaaaaaaaaaaaaa")).await.unwrap();
    let path = path("aicr-plan-aaaaaaaaaaaaaaaa");
    world.admin.delete(&format!("{path}?propagationPolicy=Foreground")).await.unwrap();
    let collector = world
        .admin
        .acting_as("system:serviceaccount:kube-system:generic-garbage-collector", &["system:masters"]);
    for metadata in [
        json!({"finalizers": null, "labels": {"operator.aicr.run/role": "recipe"}}),
        json!({"finalizers": null, "annotations": null}),
    ] {
        world.assert_patch_denied(&path, &collector, &json!({"metadata": metadata}), POLICY, WORDS).await;
    }
    let without = json!({"metadata": {"finalizers": null}});
    world.assert_patch_denied(&path, &world.admin, &without, POLICY, WORDS).await;
    collector.merge(&path, &without).await.unwrap();
    assert_eq!(world.admin.get(&path).await.unwrap_err().code, 404);
}

#[tokio::test]
async fn the_garbage_collector_changes_no_content() {
    let world = World::leased().await;
    let mut recipe = plan("aicr-recipe");
    recipe.as_object_mut().unwrap().remove("immutable");
    world.operator.create(CONFIG_MAPS, &recipe).await.unwrap();
    for collector in
        ["system:serviceaccount:kube-system:generic-garbage-collector", "system:kube-controller-manager"]
    {
        let collector = world.admin.acting_as(collector, &["system:masters"]);
        for patch in [
            json!({"data": {"plan.json": "{\"forged\":true}"}}),
            json!({"data": null}),
            json!({"binaryData": {"more": "YQ=="}}),
            json!({"immutable": true}),
        ] {
            world.assert_patch_denied(&path("aicr-recipe"), &collector, &patch, POLICY, WORDS).await;
        }
        collector.merge(&path("aicr-recipe"), &json!({"metadata": {"ownerReferences": []}})).await.unwrap();
    }
    let collector = world.admin.acting_as("system:kube-controller-manager", &["system:masters"]);
    assert_denied(collector.create(CONFIG_MAPS, &plan("forged")).await, POLICY, WORDS);
}

#[tokio::test]
async fn the_largest_config_map_stays_within_the_cost_budget() {
    let world = World::leased().await;
    let mut largest = plan("aicr-plan-aaaaaaaaaaaaaaaa");
    largest["data"]["plan.json"] = "x".repeat(1024 * 1024 - 16).into();
    largest["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
    world.operator.create(CONFIG_MAPS, &largest).await.unwrap();
    let path = path("aicr-plan-aaaaaaaaaaaaaaaa");
    let without = json!({"metadata": {"finalizers": null}});
    world.assert_patch_denied(&path, &world.admin, &without, POLICY, WORDS).await;
    let collector = world
        .admin
        .acting_as("system:serviceaccount:kube-system:generic-garbage-collector", &["system:masters"]);
    collector.merge(&path, &without).await.unwrap();
}
