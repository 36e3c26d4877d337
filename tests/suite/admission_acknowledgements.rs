//! Who revokes and acknowledges, and when.

use serde_json::{Value, json};
use test_support::Cluster;

use crate::admission_kit::{
    APPROVAL, BINDING, By, NAME, ROLLOUT, ROLLOUTS, World, acknowledgements, approval_by, digest, helm,
    revocation_in_name, rollout,
};

const ACKNOWLEDGED_BY: &str =
    "acknowledgedBy of an added acknowledgement must be the username of the requester";
const ONE: &str = "spec.approval.acknowledgements gains exactly one entry per request";
const WAITING: &str =
    "an acknowledgement is accepted only while the RuntimeRollout is AwaitingAcknowledgement";
const POST_APPLY: &str = "an acknowledgement names a release that has a step with postApplySteps";
const APPEND_ONLY: &str = "append-only";
const NEEDS_APPROVE: &str =
    "changing spec.approval needs update on runtimerollouts/approve (operator.aicr.run)";

#[tokio::test]
async fn any_approver_revokes_in_their_own_name() {
    let world = World::with_approved_rollout("Progressing").await;
    let words = "spec.approval.revokedBy must be the username of the requester";
    let in_her_name = revocation_in_name(&world.alice.username);
    for who in [&world.bob, &world.admin] {
        world.assert_patch_denied(ROLLOUT, who, &in_her_name, APPROVAL, words).await;
    }
    world.let_patch_rollouts(&world.eve).await;
    let by_eve = revocation_in_name(&world.eve.username);
    world.assert_patch_denied(ROLLOUT, &world.eve, &by_eve, APPROVAL, NEEDS_APPROVE).await;

    let by_bob = revocation_in_name(&world.bob.username);
    world.bob.merge(ROLLOUT, &by_bob).await.unwrap();
    for who in [&world.alice, &world.admin] {
        let again = revocation_in_name(&who.username);
        world.assert_patch_denied(ROLLOUT, who, &again, By::Schema, "a revocation is final").await;
    }
}

#[tokio::test]
async fn an_empty_revocation_is_none() {
    let world = World::with_approved_rollout("Validating").await;
    let empty = json!({"spec": {"approval": {"revokedBy": "", "revokedAt": "", "revokeReason": ""}}});
    world.alice.merge(ROLLOUT, &empty).await.unwrap();
    world.set_phase("Progressing").await;
    world.alice.merge(ROLLOUT, &revocation_in_name(&world.alice.username)).await.unwrap();
}

#[tokio::test]
async fn a_validating_rollout_is_not_revoked() {
    let world = World::with_approved_rollout("Validating").await;
    let patch = revocation_in_name(&world.bob.username);
    let words = "the RuntimeRollout is Validating";
    world.assert_patch_denied(ROLLOUT, &world.bob, &patch, APPROVAL, words).await;
    world.set_phase("Stalled").await;
    world.bob.merge(ROLLOUT, &patch).await.unwrap();
}

#[tokio::test]
async fn an_ended_rollout_is_not_revoked_whatever_its_status_says() {
    let world = World::with_approved_rollout("Progressing").await;
    let ended = json!({"metadata": {"labels": {"operator.aicr.run/outcome": "Expired"}}});
    world.operator.merge(ROLLOUT, &ended).await.unwrap();
    let patch = revocation_in_name(&world.bob.username);
    let words = "the RuntimeRollout has ended (label operator.aicr.run/outcome)";
    world.assert_patch_denied(ROLLOUT, &world.bob, &patch, APPROVAL, words).await;
}

#[tokio::test]
async fn an_ended_rollout_is_not_approved_any_more() {
    let world = World::with_rollout().await;
    let ended = json!({"metadata": {"labels": {"operator.aicr.run/outcome": "Superseded"}}});
    world.operator.merge(ROLLOUT, &ended).await.unwrap();
    let words = "so it can no longer be approved";
    world.assert_patch_denied(ROLLOUT, &world.alice, &approval_by(&world.alice), APPROVAL, words).await;
}

#[tokio::test]
async fn a_rollout_without_status_is_revoked() {
    let world = World::with_rollout().await;
    world.alice.merge(ROLLOUT, &approval_by(&world.alice)).await.unwrap();
    assert!(world.stored().await.get("status").is_none());
    world.bob.merge(ROLLOUT, &revocation_in_name(&world.bob.username)).await.unwrap();
}

#[tokio::test]
async fn acknowledgements_are_given_one_by_one_in_ones_own_name() {
    let world = World::with_approved_rollout("AwaitingAcknowledgement").await;
    let (alice, bob) = (world.alice.username.as_str(), world.bob.username.as_str());
    for (given, words) in [
        (vec![("kai-scheduler", alice)], ACKNOWLEDGED_BY),
        (vec![("kai-scheduler", bob), ("nvsentinel", bob)], ONE),
        (vec![("gpu-operator", bob)], POST_APPLY),
        (vec![("unheard-of", bob)], POST_APPLY),
    ] {
        world.assert_patch_denied(ROLLOUT, &world.bob, &acknowledgements(&given), APPROVAL, words).await;
    }
    world.let_patch_rollouts(&world.eve).await;
    let by_eve = acknowledgements(&[("kai-scheduler", &world.eve.username)]);
    world.assert_patch_denied(ROLLOUT, &world.eve, &by_eve, APPROVAL, NEEDS_APPROVE).await;

    world.bob.merge(ROLLOUT, &acknowledgements(&[("kai-scheduler", bob)])).await.unwrap();
    for (given, by, words) in [
        // A forged one, put before one's own.
        (vec![("nvsentinel", alice), ("kai-scheduler", bob)], APPROVAL, ACKNOWLEDGED_BY),
        (vec![("nvsentinel", bob)], By::Schema, APPEND_ONLY),
        (vec![], By::Schema, APPEND_ONLY),
        (vec![("kai-scheduler", alice)], By::Schema, APPEND_ONLY),
        (vec![("kai-scheduler", bob), ("kai-scheduler", bob)], By::Schema, "Duplicate value"),
    ] {
        world.assert_patch_denied(ROLLOUT, &world.bob, &acknowledgements(&given), by, words).await;
    }
    world
        .alice
        .merge(ROLLOUT, &acknowledgements(&[("kai-scheduler", bob), ("nvsentinel", alice)]))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_new_acknowledgement_may_stand_anywhere_in_the_list() {
    let world = World::with_approved_rollout("AwaitingAcknowledgement").await;
    let (alice, bob) = (world.alice.username.as_str(), world.bob.username.as_str());
    world.bob.merge(ROLLOUT, &acknowledgements(&[("kai-scheduler", bob)])).await.unwrap();
    world
        .alice
        .merge(ROLLOUT, &acknowledgements(&[("nvsentinel", alice), ("kai-scheduler", bob)]))
        .await
        .unwrap();
}

#[tokio::test]
async fn reordering_acknowledgements_adds_none_and_is_denied() {
    let world = World::with_approved_rollout("AwaitingAcknowledgement").await;
    let (alice, bob) = (world.alice.username.as_str(), world.bob.username.as_str());
    world.bob.merge(ROLLOUT, &acknowledgements(&[("kai-scheduler", bob)])).await.unwrap();
    world
        .alice
        .merge(ROLLOUT, &acknowledgements(&[("kai-scheduler", bob), ("nvsentinel", alice)]))
        .await
        .unwrap();
    let swapped = acknowledgements(&[("nvsentinel", alice), ("kai-scheduler", bob)]);
    world.assert_patch_denied(ROLLOUT, &world.bob, &swapped, APPROVAL, ONE).await;
}

#[tokio::test]
async fn an_acknowledgement_is_accepted_only_while_one_is_awaited() {
    let world = World::with_rollout().await;
    let mut with_approval = approval_by(&world.bob);
    let given = acknowledgements(&[("kai-scheduler", &world.bob.username)]);
    with_approval["spec"]["approval"]["acknowledgements"] =
        given["spec"]["approval"]["acknowledgements"].clone();
    let words = "need an existing approval";
    world.assert_patch_denied(ROLLOUT, &world.bob, &with_approval, By::Schema, words).await;

    world.bob.merge(ROLLOUT, &approval_by(&world.bob)).await.unwrap();
    world.assert_patch_denied(ROLLOUT, &world.bob, &given, APPROVAL, WAITING).await;
    for phase in ["AwaitingApproval", "Progressing", "Stalled", "Validating", "Succeeded", "Revoked"] {
        world.set_phase(phase).await;
        world.assert_patch_denied(ROLLOUT, &world.bob, &given, APPROVAL, WAITING).await;
    }
    world.set_phase("AwaitingAcknowledgement").await;
    world.bob.merge(ROLLOUT, &given).await.unwrap();
}

/// A rollout with as many steps, inventory entries and characters as its schema lets it have.
fn largest(name: &str) -> Value {
    let release = |index: usize| format!("r{index:03}-{}", "x".repeat(48));
    let mut object = rollout(name);
    object["spec"]["assessmentRef"] = json!({"configMap": "c".repeat(253), "digest": digest('d')});
    object["spec"]["steps"] = (0..256)
        .map(|index| {
            json!({"release": release(index), "operation": "Remove", "assessment": "NotApplicable", "crdChange": true,
                   "uid": "u".repeat(64), "postApplySteps": vec!["s".repeat(63); 16]})
        })
        .collect();
    object["spec"]["startingInventory"] = (0..256)
        .map(|index| {
            json!({"releaseID": release(index), "name": "n".repeat(253), "uid": "u".repeat(64), "revision": "r".repeat(256),
                   "planDigest": digest('a'), "specDigest": digest('e')})
        })
        .collect();
    object
}

#[tokio::test]
async fn the_largest_rollout_stays_within_the_cost_budget_through_its_last_acknowledgement() {
    let world = World::of(Cluster::private().await);
    // The longest username that the API keeps, so that every comparison costs the most.
    let name = format!("{}@example.com", "z".repeat(1024 - "@example.com".len()));
    let approver = world.admin.acting_as(&name, &["gpu-platform-approvers"]);
    let time = "2026-12-01T05:00:00.123456789+00:00";
    let mut object = largest(NAME);
    let all: Vec<Value> = object["spec"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| json!({"release": step["release"], "acknowledgedBy": name, "acknowledgedAt": time}))
        .collect();
    world.operator.create(&format!("{ROLLOUTS}?dryRun=All"), &object).await.unwrap();

    // All but the last two come from a backup; given one by one they take a minute.
    object["spec"]["approval"] = json!({
        "approvedBy": name, "expiresAt": time, "reason": "r".repeat(1024), "acknowledgements": all[..254],
    });
    world.admin.delete(BINDING).await.unwrap();
    world.wait_until_approval_policy_is_in_force(false).await;
    world.admin.create(ROLLOUTS, &object).await.unwrap();
    helm(&world.cluster, "upgrade", "aicr-operator", &[]).await;
    world.wait_until_approval_policy_is_in_force(true).await;

    world.set_phase("AwaitingAcknowledgement").await;
    let given = |count: usize| json!({"spec": {"approval": {"acknowledgements": all[..count]}}});
    world.assert_patch_denied(ROLLOUT, &approver, &given(256), APPROVAL, ONE).await;
    approver.merge(ROLLOUT, &given(255)).await.unwrap();
    approver.merge(ROLLOUT, &given(256)).await.unwrap();

    let revocation = json!({"spec": {"approval": {
        "revokedBy": name, "revokedAt": time, "revokeReason": "r".repeat(1024),
    }}});
    world.assert_patch_denied(ROLLOUT, &world.alice, &revocation, APPROVAL, "revokedBy must be").await;
    approver.merge(ROLLOUT, &revocation).await.unwrap();
    let ended = json!({"metadata": {"labels": {"operator.aicr.run/outcome": "Revoked"}}});
    world.operator.merge(ROLLOUT, &ended).await.unwrap();
}
