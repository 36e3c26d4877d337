//! Who creates rollouts and who approves them: every row of "Nobody approves their own change", and the legal request
//! next to it.

use serde_json::json;

use crate::admission_kit::{
    APPROVAL, By, CONFIG_MAPS, NAME, OPERATOR, ROLLOUT, ROLLOUTS, RUNTIMES, World, acknowledgements,
    approval_by, approval_in_name, assert_denied, revocation_in_name, rollout, runtime,
};

const ONLY_OPERATOR: &str =
    "only the operator (system:serviceaccount:aicr-system:aicr-operator) creates RuntimeRollouts";
const NEEDS_APPROVE: &str =
    "changing spec.approval needs update on runtimerollouts/approve (operator.aicr.run)";
const APPROVED_BY: &str = "spec.approval.approvedBy must be the username of the requester";
const NEVER_OPERATOR: &str = "the operator never writes spec.approval";

#[tokio::test]
async fn only_the_operator_creates_rollouts() {
    let world = World::leased().await;
    assert_denied(world.admin.create(ROLLOUTS, &rollout(NAME)).await, APPROVAL, ONLY_OPERATOR);
    for person in [&world.alice, &world.eve, &world.mallory] {
        assert_denied(person.create(ROLLOUTS, &rollout(NAME)).await, By::Rbac, "cannot create resource");
    }
    let without_approval_needed = {
        let mut object = rollout(NAME);
        object["spec"]["approvalRequired"] = false.into();
        // What is acknowledged needs an approval to stand on.
        object["spec"]["steps"] = json!([{"release": "nfd", "operation": "Upgrade", "assessment": "Safe"}]);
        object
    };
    assert_denied(world.admin.create(ROLLOUTS, &without_approval_needed).await, APPROVAL, ONLY_OPERATOR);
    assert_denied(world.admin.apply(ROLLOUT, &rollout(NAME)).await, APPROVAL, ONLY_OPERATOR);
    assert_eq!(world.admin.get(ROLLOUT).await.unwrap_err().code, 404);

    world.operator.create(ROLLOUTS, &rollout(NAME)).await.unwrap();
}

#[tokio::test]
async fn no_rollout_is_created_with_an_approval() {
    let world = World::leased().await;
    let mut object = rollout(NAME);
    object["spec"]["approval"] = approval_by(&world.operator)["spec"]["approval"].clone();
    let words = "a RuntimeRollout is never created with an approval";
    assert_denied(world.operator.create(ROLLOUTS, &object).await, APPROVAL, words);
    // The controller's proof that this policy is in force.
    assert_denied(world.operator.create(&format!("{ROLLOUTS}?dryRun=All"), &object).await, APPROVAL, words);
    assert_denied(world.operator.apply(ROLLOUT, &object).await, APPROVAL, words);
    assert_eq!(world.admin.get(ROLLOUT).await.unwrap_err().code, 404);

    object["spec"]["approval"] = json!(null);
    let made = world.operator.create(ROLLOUTS, &object).await.unwrap();
    assert!(made["spec"].get("approval").is_none(), "null is unset: {made}");
}

#[tokio::test]
async fn no_rollout_is_created_with_an_outcome_or_evidence() {
    let world = World::leased().await;
    let words = "a RuntimeRollout is never created with an outcome";
    for metadata in [
        json!({"labels": {"operator.aicr.run/outcome": "Succeeded"}}),
        json!({"labels": {"operator.aicr.run/outcome": ""}}),
        json!({"annotations": {"operator.aicr.run/evidence": "oci://example.com/evidence"}}),
    ] {
        let mut object = rollout(NAME);
        for (key, value) in metadata.as_object().unwrap() {
            object["metadata"][key] = value.clone();
        }
        assert_denied(world.operator.create(ROLLOUTS, &object).await, APPROVAL, words);
    }
}

#[tokio::test]
async fn approving_without_the_approver_role_is_denied() {
    let world = World::with_rollout().await;
    for person in [&world.eve, &world.mallory] {
        world
            .assert_patch_denied(ROLLOUT, person, &approval_by(person), By::Rbac, "cannot patch resource")
            .await;
    }
    world.let_patch_rollouts(&world.mallory).await;
    world
        .assert_patch_denied(ROLLOUT, &world.mallory, &approval_by(&world.mallory), APPROVAL, NEEDS_APPROVE)
        .await;

    let approved = world.alice.merge(ROLLOUT, &approval_by(&world.alice)).await.unwrap();
    assert_eq!(approved["spec"]["approval"]["approvedBy"], world.alice.username.as_str());
}

#[tokio::test]
async fn approving_ones_own_runtime_edit_is_denied() {
    let world = World::with_rollout().await;
    world.admin.create(RUNTIMES, &runtime()).await.unwrap();
    let edit = json!({"apiGroups": ["operator.aicr.run"], "resources": ["clusterruntimes"], "verbs": ["get", "update", "patch"]});
    world.grant("test-edits-runtime", json!([edit]), &world.eve).await;
    world.wait_until_allowed(&world.eve, "patch", "clusterruntimes").await;
    world
        .eve
        .merge(&format!("{RUNTIMES}/cluster"), &json!({"spec": {"platform": "kubeflow"}}))
        .await
        .unwrap();

    world.let_patch_rollouts(&world.eve).await;
    world.assert_patch_denied(ROLLOUT, &world.eve, &approval_by(&world.eve), APPROVAL, NEEDS_APPROVE).await;

    world.bob.merge(ROLLOUT, &approval_by(&world.bob)).await.unwrap();
}

#[tokio::test]
async fn approving_in_someone_elses_name_is_denied() {
    let world = World::with_rollout().await;
    let alice = world.alice.username.as_str();
    for person in [&world.bob, &world.admin] {
        world.assert_patch_denied(ROLLOUT, person, &approval_in_name(alice), APPROVAL, APPROVED_BY).await;
    }
    for near in [alice.to_uppercase(), format!("{alice} "), format!("system:serviceaccount:default:{alice}")]
    {
        world
            .assert_patch_denied(ROLLOUT, &world.alice, &approval_in_name(&near), APPROVAL, APPROVED_BY)
            .await;
    }
    world.alice.merge(ROLLOUT, &approval_in_name(alice)).await.unwrap();
}

#[tokio::test]
async fn an_impersonated_approver_approves_under_the_impersonated_name() {
    let world = World::with_rollout().await;
    let carol =
        world.admin.acting_as("carol@example.com", &["gpu-platform-approvers", "system:authenticated"]);
    world.assert_patch_denied(ROLLOUT, &carol, &approval_by(&world.admin), APPROVAL, APPROVED_BY).await;
    let approved = carol.merge(ROLLOUT, &approval_by(&carol)).await.unwrap();
    assert_eq!(approved["spec"]["approval"]["approvedBy"], "carol@example.com");
}

#[tokio::test]
async fn the_operator_cannot_approve_itself() {
    let world = World::with_rollout().await;
    world
        .assert_patch_denied(
            ROLLOUT,
            &world.operator,
            &approval_by(&world.operator),
            APPROVAL,
            NEVER_OPERATOR,
        )
        .await;
    let in_her_name = approval_by(&world.alice);
    world.assert_patch_denied(ROLLOUT, &world.operator, &in_her_name, APPROVAL, NEVER_OPERATOR).await;

    // Not even when somebody bound the approver role to it.
    let approve = json!({"apiGroups": ["operator.aicr.run"], "resources": ["runtimerollouts/approve"], "verbs": ["update"]});
    world.grant("test-operator-approves", json!([approve]), &world.operator).await;
    world.wait_until_allowed(&world.operator, "update", "runtimerollouts/approve").await;
    world
        .assert_patch_denied(
            ROLLOUT,
            &world.operator,
            &approval_by(&world.operator),
            APPROVAL,
            NEVER_OPERATOR,
        )
        .await;

    let mut object = world.stored().await;
    object["spec"]["approval"] = approval_by(&world.operator)["spec"]["approval"].clone();
    assert_denied(world.operator.replace(ROLLOUT, &object).await, APPROVAL, NEVER_OPERATOR);
    assert_eq!(world.operator.username, OPERATOR);
}

#[tokio::test]
async fn the_operator_cannot_revoke_or_acknowledge() {
    let world = World::with_approved_rollout("AwaitingAcknowledgement").await;
    for patch in [revocation_in_name(OPERATOR), acknowledgements(&[("kai-scheduler", OPERATOR)])] {
        world.assert_patch_denied(ROLLOUT, &world.operator, &patch, APPROVAL, NEVER_OPERATOR).await;
    }
}

#[tokio::test]
async fn tenants_reach_no_object_of_the_administrators() {
    let world = World::with_rollout().await;
    world.admin.create(RUNTIMES, &runtime()).await.unwrap();
    let mallory = &world.mallory;
    for path in [
        ROLLOUTS,
        ROLLOUT,
        RUNTIMES,
        CONFIG_MAPS,
        "/api/v1/namespaces/aicr-system/secrets",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/aicr-operator-approval",
    ] {
        assert_denied(mallory.get(path).await, By::Rbac, "cannot ");
    }
    for path in [
        ROLLOUT,
        &format!("{RUNTIMES}/cluster"),
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/aicr-operator-approval",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/aicr-operator-approval",
    ] {
        let object = json!({"metadata": {"labels": {"mine": "now"}}});
        world.assert_patch_denied(path, mallory, &object, By::Rbac, "cannot patch").await;
        assert_denied(mallory.delete(path).await, By::Rbac, "cannot delete");
    }
}

#[tokio::test]
async fn an_approval_is_admitted_by_merge_patch_by_apply_and_by_update() {
    let world = World::leased().await;
    let everybody = world.admin.acting_as("carol@example.com", &["gpu-platform-approvers"]);
    let update =
        json!({"apiGroups": ["operator.aicr.run"], "resources": ["runtimerollouts"], "verbs": ["update"]});
    world.grant("test-updates-rollouts", json!([update]), &everybody).await;
    world.wait_until_allowed(&everybody, "update", "runtimerollouts").await;
    for (suffix, way) in ["merge", "apply", "update"].into_iter().enumerate() {
        let name = format!("rollout-3f9a1c0d2b7e4a51-{suffix}");
        let path = format!("{ROLLOUTS}/{name}");
        let mut object = world.operator.create(ROLLOUTS, &rollout(&name)).await.unwrap();
        let approval = approval_by(&everybody);
        let result = match way {
            "merge" => everybody.merge(&path, &approval).await,
            "apply" => {
                let configuration = json!({
                    "apiVersion": object["apiVersion"], "kind": object["kind"],
                    "metadata": {"name": name}, "spec": approval["spec"],
                });
                everybody.apply(&path, &configuration).await
            }
            _ => {
                object["spec"]["approval"] = approval["spec"]["approval"].clone();
                everybody.replace(&path, &object).await
            }
        };
        assert_eq!(result.unwrap()["spec"]["approval"]["approvedBy"], "carol@example.com", "{way}");
    }
}

#[tokio::test]
async fn a_request_that_changes_nothing_is_admitted() {
    let world = World::with_approved_rollout("Progressing").await;
    let before = world.stored().await;
    // The same approval again, by somebody who could not have given it.
    world.bob.merge(ROLLOUT, &approval_by(&world.alice)).await.unwrap();
    world.let_patch_rollouts(&world.eve).await;
    world.eve.merge(ROLLOUT, &json!({})).await.unwrap();
    world.operator.merge(ROLLOUT, &json!({})).await.unwrap();
    assert_eq!(before, world.stored().await);
}
