//! Restoring rollouts from a backup, as the procedure of the API reference says.

use serde_json::{Value, json};
use test_support::Cluster;

use crate::admission_kit::{
    APPROVAL, BINDING, NAME, Person, ROLLOUT, ROLLOUTS, World, approval_by, assert_denied, helm,
    revocation_in_name, rollout,
};

const ENDED: &str = "rollout-3f9a1c0d2b7e4a51-2";

/// What a backup tool creates from what it saved: without status and without what the server sets.
fn as_restored(saved: &Value) -> Value {
    let mut object = saved.clone();
    object.as_object_mut().unwrap().remove("status");
    let metadata = object["metadata"].as_object_mut().unwrap();
    for field in ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"] {
        metadata.remove(field);
    }
    object["metadata"]["labels"]["velero.io/restore-name"] = "nightly-20261130".into();
    object
}

/// One rollout that runs under an approval and one that has ended with evidence; then both are lost.
async fn saved_and_lost(world: &World) -> [Value; 2] {
    world.operator.create(ROLLOUTS, &rollout(NAME)).await.unwrap();
    world.alice.merge(ROLLOUT, &approval_by(&world.alice)).await.unwrap();
    world.set_phase("Progressing").await;

    let ended = format!("{ROLLOUTS}/{ENDED}");
    world.operator.create(ROLLOUTS, &rollout(ENDED)).await.unwrap();
    world.alice.merge(&ended, &approval_by(&world.alice)).await.unwrap();
    let end = json!({"metadata": {
        "labels": {"operator.aicr.run/outcome": "Succeeded"},
        "annotations": {"operator.aicr.run/evidence": "oci://example.com/evidence@sha256:0"},
    }});
    world.operator.merge(&ended, &end).await.unwrap();

    let saved = [world.stored().await, world.admin.get(&ended).await.unwrap()];
    world.operator.delete(ROLLOUT).await.unwrap();
    world.operator.delete(&ended).await.unwrap();
    saved
}

/// The rules, on the restored rollouts.
async fn assert_guarded(world: &World, velero: &Person) {
    let ended = format!("{ROLLOUTS}/{ENDED}");
    assert_denied(
        velero.create(ROLLOUTS, &rollout("rollout-3f9a1c0d2b7e4a51-3")).await,
        APPROVAL,
        "only the operator",
    );
    let other_end = json!({"metadata": {"labels": {"operator.aicr.run/outcome": "Failed"}}});
    world.assert_patch_denied(&ended, &world.operator, &other_end, APPROVAL, "is set once").await;
    world.assert_patch_denied(&ended, velero, &other_end, APPROVAL, "not its labels or annotations").await;
    let revocation = revocation_in_name(&world.bob.username);
    world.assert_patch_denied(&ended, &world.bob, &revocation, APPROVAL, "has ended").await;
    // Without status, the one that has not ended is revoked as before.
    world.bob.merge(ROLLOUT, &revocation).await.unwrap();
}

#[tokio::test]
async fn rollouts_are_restored_under_another_identity_while_the_binding_is_away() {
    let world = World::of(Cluster::private().await);
    let saved = saved_and_lost(&world).await;
    let velero = world.admin.acting_as("system:serviceaccount:velero:velero", &["system:masters"]);
    for object in &saved {
        assert_denied(velero.create(ROLLOUTS, &as_restored(object)).await, APPROVAL, "only the operator");
    }

    world.admin.delete(BINDING).await.unwrap();
    world.wait_until_approval_policy_is_in_force(false).await;
    for object in &saved {
        let restored = velero.create(ROLLOUTS, &as_restored(object)).await.unwrap();
        assert_eq!(restored["spec"], object["spec"]);
        assert_eq!(restored["metadata"]["annotations"], object["metadata"]["annotations"]);
        assert!(restored.get("status").is_none());
    }

    helm(&world.cluster, "upgrade", "aicr-operator", &[]).await;
    world.admin.get(BINDING).await.unwrap();
    world.wait_until_approval_policy_is_in_force(true).await;
    assert_guarded(&world, &velero).await;
}
