//! What others than the operator may change of a rollout besides `spec.approval`: nothing. And how a rollout's end is
//! recorded: once.

use serde_json::{Value, json};

use crate::admission_kit::{APPROVAL, By, ROLLOUT, World, approval_by, assert_denied};

const OUTCOME_ONCE: &str = "the label operator.aicr.run/outcome is set once";
const EVIDENCE_ONCE: &str = "the annotation operator.aicr.run/evidence is set once";

fn outcome(value: &str) -> Value {
    json!({"metadata": {"labels": {"operator.aicr.run/outcome": value}}})
}

fn evidence(value: &str) -> Value {
    json!({"metadata": {"annotations": {"operator.aicr.run/evidence": value}}})
}

#[tokio::test]
async fn an_approver_changes_no_metadata() {
    let world = World::with_rollout().await;
    let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "0b7f3f0a-6a0e-4f0e-9d52-1f6f5f1f2a10"});
    let labels = "not its labels or annotations";
    let owners = "not its ownerReferences or generateName";
    let finalizers = "not its finalizers";
    for (metadata, words) in [
        (json!({"labels": {"operator.aicr.run/outcome": "Failed"}}), labels),
        (json!({"labels": {"operator.aicr.run/to-plan": null}}), labels),
        (json!({"labels": {"mine": "now"}}), labels),
        (json!({"labels": null}), labels),
        (json!({"annotations": {"operator.aicr.run/evidence": "oci://example.com/forged"}}), labels),
        (json!({"annotations": {"operator.aicr.run/adopted-from": "x"}}), labels),
        (json!({"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}}), labels),
        (json!({"ownerReferences": [owner]}), owners),
        (json!({"generateName": "rollout-"}), owners),
        (json!({"finalizers": ["example.com/mine"]}), finalizers),
        (json!({"finalizers": ["foregroundDeletion"]}), finalizers),
    ] {
        for (who, mut patch) in
            [(&world.alice, json!({})), (&world.alice, approval_by(&world.alice)), (&world.admin, json!({}))]
        {
            patch["metadata"] = metadata.clone();
            world.assert_patch_denied(ROLLOUT, who, &patch, APPROVAL, words).await;
        }
    }
    // Empty and absent are the same.
    let nothing = json!({"metadata": {"annotations": {}, "finalizers": [], "ownerReferences": []}});
    world.alice.merge(ROLLOUT, &nothing).await.unwrap();
    world.alice.merge(ROLLOUT, &approval_by(&world.alice)).await.unwrap();
}

#[tokio::test]
async fn nobody_changes_the_rest_of_the_spec() {
    let world = World::with_rollout().await;
    for spec in [
        json!({"approvalRequired": false}),
        json!({"deadline": "2027-12-15T04:00:00Z"}),
        json!({"steps": []}),
    ] {
        for who in [&world.alice, &world.operator, &world.admin] {
            world.assert_patch_denied(ROLLOUT, who, &json!({"spec": spec}), By::Schema, "is immutable").await;
        }
    }
}

#[tokio::test]
async fn an_approval_is_neither_changed_nor_cleared() {
    let world = World::with_approved_rollout("Progressing").await;
    let alice = &world.alice;
    for (approval, words) in [
        (json!({"reason": "Another window"}), "can be neither changed nor extended"),
        (json!({"expiresAt": "2027-12-15T04:00:00Z"}), "can be neither changed nor extended"),
        (json!({"approvedBy": world.bob.username}), "can be neither changed nor extended"),
        (json!(null), "is set once and cannot be cleared"),
    ] {
        let patch = json!({"spec": {"approval": approval}});
        for who in [alice, &world.bob, &world.admin] {
            world.assert_patch_denied(ROLLOUT, who, &patch, By::Schema, words).await;
        }
    }
}

#[tokio::test]
async fn only_the_operator_writes_status() {
    let world = World::with_rollout().await;
    let status_path = format!("{ROLLOUT}/status");
    let patch = json!({"status": {"phase": "AwaitingAcknowledgement"}});
    let words = "writes the status of a RuntimeRollout";
    world.assert_patch_denied(&status_path, &world.admin, &patch, APPROVAL, words).await;
    world.assert_patch_denied(&status_path, &world.alice, &patch, By::Rbac, "cannot patch resource").await;

    // Status sent along with an approval is not written.
    let mut both = approval_by(&world.alice);
    both["status"] = patch["status"].clone();
    let approved = world.alice.merge(ROLLOUT, &both).await.unwrap();
    assert!(approved.get("status").is_none(), "{approved}");

    let written = world.operator.merge(&status_path, &patch).await.unwrap();
    assert_eq!(written["status"]["phase"], "AwaitingAcknowledgement");
}

#[tokio::test]
async fn a_status_write_changes_neither_metadata_nor_approval() {
    let world = World::with_rollout().await;
    let before = world.stored().await;
    let patch = json!({
        "metadata": {"labels": {"operator.aicr.run/outcome": "Succeeded"}, "annotations": {"a": "b"}, "finalizers": ["example.com/a"]},
        "spec": approval_by(&world.alice)["spec"],
        "status": {"phase": "Progressing"},
    });
    let after = world.operator.merge(&format!("{ROLLOUT}/status"), &patch).await.unwrap();
    assert_eq!(after["status"]["phase"], "Progressing");
    assert_eq!(after["spec"], before["spec"]);
    assert_eq!(after["metadata"]["labels"], before["metadata"]["labels"]);
    assert!(after["metadata"].get("annotations").is_none() && after["metadata"].get("finalizers").is_none());
}

#[tokio::test]
async fn the_operator_sets_labels_annotations_and_finalizers() {
    let world = World::with_approved_rollout("Progressing").await;
    let patch = json!({"metadata": {
        "labels": {"example.com/a": "b"}, "annotations": {"operator.aicr.run/adopted-from": "x"}, "finalizers": ["operator.aicr.run/test"],
    }});
    world.operator.merge(ROLLOUT, &patch).await.unwrap();
    world.operator.merge(ROLLOUT, &json!({"metadata": {"finalizers": null}})).await.unwrap();
}

#[tokio::test]
async fn the_outcome_is_set_once_also_by_the_operator() {
    let world = World::with_approved_rollout("Progressing").await;
    let operator = &world.operator;
    for wrong in ["Fine", "", "succeeded"] {
        let words = "is Succeeded, Failed, Expired, Revoked, Superseded or Orphaned";
        world.assert_patch_denied(ROLLOUT, operator, &outcome(wrong), APPROVAL, words).await;
    }
    operator.merge(ROLLOUT, &outcome("Failed")).await.unwrap();
    for patch in [
        outcome("Succeeded"),
        outcome(""),
        json!({"metadata": {"labels": {"operator.aicr.run/outcome": null}}}),
        json!({"metadata": {"labels": null}}),
    ] {
        world.assert_patch_denied(ROLLOUT, operator, &patch, APPROVAL, OUTCOME_ONCE).await;
    }
    operator.merge(ROLLOUT, &outcome("Failed")).await.unwrap();
    operator.merge(ROLLOUT, &json!({"metadata": {"labels": {"example.com/a": "b"}}})).await.unwrap();
}

#[tokio::test]
async fn every_documented_outcome_is_admitted() {
    let world = World::with_rollout().await;
    for value in ["Succeeded", "Failed", "Expired", "Revoked", "Superseded", "Orphaned"] {
        let patch = outcome(value);
        world.operator.merge(&format!("{ROLLOUT}?dryRun=All"), &patch).await.unwrap();
    }
}

#[tokio::test]
async fn evidence_goes_with_success_and_is_set_once() {
    let world = World::with_approved_rollout("Validating").await;
    let operator = &world.operator;
    let words = "the annotation operator.aicr.run/evidence goes with the outcome Succeeded";
    world.assert_patch_denied(ROLLOUT, operator, &evidence("oci://example.com/a"), APPROVAL, words).await;
    let mut failed = outcome("Failed");
    failed["metadata"]["annotations"] = evidence("oci://example.com/a")["metadata"]["annotations"].clone();
    world.assert_patch_denied(ROLLOUT, operator, &failed, APPROVAL, words).await;

    let mut succeeded = failed;
    succeeded["metadata"]["labels"] = outcome("Succeeded")["metadata"]["labels"].clone();
    operator.merge(ROLLOUT, &succeeded).await.unwrap();
    for patch in [
        evidence("oci://example.com/b"),
        json!({"metadata": {"annotations": {"operator.aicr.run/evidence": null}}}),
        json!({"metadata": {"annotations": null}}),
    ] {
        world.assert_patch_denied(ROLLOUT, operator, &patch, APPROVAL, EVIDENCE_ONCE).await;
    }
}

#[tokio::test]
async fn only_the_garbage_collector_ends_a_foreground_deletion() {
    for policy in ["Foreground", "Orphan"] {
        let world = World::with_rollout().await;
        world.operator.delete(&format!("{ROLLOUT}?propagationPolicy={policy}")).await.unwrap();
        assert_eq!(world.stored().await["metadata"]["finalizers"].as_array().unwrap().len(), 1, "{policy}");
        let without = json!({"metadata": {"finalizers": null}});
        world.assert_patch_denied(ROLLOUT, &world.admin, &without, APPROVAL, "not its finalizers").await;

        let collector = world
            .admin
            .acting_as("system:serviceaccount:kube-system:generic-garbage-collector", &["system:masters"]);
        let more = json!({"metadata": {"finalizers": null, "labels": {"a": "b"}}});
        world.assert_patch_denied(ROLLOUT, &collector, &more, APPROVAL, "not its labels").await;
        let others = json!({"metadata": {"finalizers": ["example.com/a"]}});
        assert_eq!(collector.merge(ROLLOUT, &others).await.unwrap_err().code, 422, "{policy}");
        collector.merge(ROLLOUT, &without).await.unwrap();
        assert_eq!(world.admin.get(ROLLOUT).await.unwrap_err().code, 404, "{policy}");
    }
}

#[tokio::test]
async fn the_garbage_collector_leaves_every_other_finalizer() {
    let world = World::with_rollout().await;
    let finalizers = json!({"metadata": {"finalizers": ["operator.aicr.run/test", "foregroundDeletion"]}});
    world.operator.merge(ROLLOUT, &finalizers).await.unwrap();
    for collector in
        ["system:serviceaccount:kube-system:generic-garbage-collector", "system:kube-controller-manager"]
    {
        let collector = world.admin.acting_as(collector, &["system:masters"]);
        let more = json!(["operator.aicr.run/test", "foregroundDeletion", "example.com/more"]);
        for left in [json!(null), json!(["foregroundDeletion"]), more] {
            let patch = json!({"metadata": {"finalizers": left}});
            world.assert_patch_denied(ROLLOUT, &collector, &patch, APPROVAL, "not its finalizers").await;
        }
        let own = json!({"metadata": {"finalizers": ["operator.aicr.run/test"]}});
        collector.merge(&format!("{ROLLOUT}?dryRun=All"), &own).await.unwrap();
        assert_denied(
            collector.merge(ROLLOUT, &approval_by(&world.alice)).await,
            APPROVAL,
            "approvedBy must be",
        );
    }
    world.operator.merge(ROLLOUT, &json!({"metadata": {"finalizers": null}})).await.unwrap();
}
