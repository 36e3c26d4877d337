//! The rules and bounds of RuntimeRollout, judged by the API server. Source: api-reference, "RuntimeRollout".

use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use test_support::{Cluster, Identity};

use crate::crd_kit::{
    Admits, Case, Denies, ROLLOUT, api, digest, judge_creates, judge_patches, judge_updates, object, rollout,
};

fn rollouts(cluster: &Cluster, identity: Identity) -> Api<DynamicObject> {
    api(cluster.client(identity), "RuntimeRollout")
}

async fn stored(cluster: &Cluster, value: Value) {
    rollouts(cluster, Identity::Operator).create(&PostParams::default(), &object(value)).await.unwrap();
}

async fn merge(cluster: &Cluster, identity: Identity, patch: Value) {
    let patched =
        rollouts(cluster, identity).patch(ROLLOUT, &PatchParams::default(), &Patch::Merge(&patch)).await;
    patched.unwrap();
}

fn approval() -> Value {
    json!({"approvedBy": "alice", "expiresAt": "2099-10-15T03:00:00Z", "reason": "window"})
}

#[tokio::test]
async fn a_rollout_has_the_documented_shapes_and_no_others() {
    let cases: &[Case] = &[
        ("an upgrade", |_| {}, Admits),
        ("an initial install", |v| v["spec"]["fromPlanDigest"] = "".into(), Admits),
        ("a removal of the runtime", |v| v["spec"]["toPlanDigest"] = "".into(), Admits),
        (
            "an adoption or reinstall",
            |v| v["spec"]["fromPlanDigest"] = v["spec"]["toPlanDigest"].clone(),
            Admits,
        ),
        (
            "neither from nor to",
            |v| {
                v["spec"]["fromPlanDigest"] = "".into();
                v["spec"]["toPlanDigest"] = "".into();
            },
            Denies("cannot both be empty"),
        ),
        ("no from at all", |v| v["spec"]["fromPlanDigest"] = Value::Null, Denies("fromPlanDigest")),
        ("another schema version", |v| v["spec"]["schemaVersion"] = 2.into(), Denies("schemaVersion")),
        (
            "a plan by another name",
            |v| v["spec"]["toPlanDigest"] = "aicr-plan-1".into(),
            Denies("should match"),
        ),
        ("no deadline", |v| v["spec"]["deadline"] = Value::Null, Denies("deadline")),
        ("a deadline with an offset", |v| v["spec"]["deadline"] = "2099-10-15T04:00:00+02:00".into(), Admits),
        (
            "a deadline that no strict reader reads",
            |v| v["spec"]["deadline"] = "2099-10-15 04:00:00Z".into(),
            Denies("deadline"),
        ),
        (
            "a deadline that is no day",
            |v| v["spec"]["deadline"] = "2099-02-30T04:00:00Z".into(),
            Denies("deadline"),
        ),
        (
            "a deadline beyond readers' calendars",
            |v| v["spec"]["deadline"] = "9999-12-31T23:59:59Z".into(),
            Denies("deadline"),
        ),
        (
            "no action timeout",
            |v| v["spec"]["actionTimeout"] = "0s".into(),
            Denies("actionTimeout must be a duration above zero"),
        ),
        (
            "no inventory and no assessment",
            |v| {
                v["spec"]["startingInventory"] = Value::Null;
                v["spec"]["assessmentRef"] = Value::Null;
            },
            Admits,
        ),
        (
            "an assessment without digest",
            |v| v["spec"]["assessmentRef"] = json!({"configMap": "x"}),
            Denies("digest"),
        ),
        (
            "a report that lies elsewhere",
            |v| v["spec"]["assessmentRef"]["configMap"] = "../../x".into(),
            Denies("should match"),
        ),
        (
            "recorded steps without an approval to acknowledge them on",
            |v| v["spec"]["approvalRequired"] = false.into(),
            Denies("requires an approval"),
        ),
        (
            "no approval and no recorded steps",
            |v| {
                v["spec"]["approvalRequired"] = false.into();
                v["spec"]["steps"][1]["postApplySteps"] = Value::Null;
            },
            Admits,
        ),
        ("no steps", |v| v["spec"]["steps"] = Value::Null, Denies("steps")),
    ];
    let cluster = Cluster::lease().await;
    judge_creates(&rollouts(&cluster, Identity::Operator), rollout, cases).await;
}

#[tokio::test]
async fn a_step_names_a_release_and_carries_a_uid_exactly_when_it_removes() {
    let cases: &[Case] = &[
        (
            "a removal without uid",
            |v| v["spec"]["steps"][2]["uid"] = Value::Null,
            Denies("uid is set exactly on Remove steps"),
        ),
        (
            "an upgrade with uid",
            |v| v["spec"]["steps"][0]["uid"] = "u".into(),
            Denies("uid is set exactly on Remove steps"),
        ),
        ("an empty uid", |v| v["spec"]["steps"][2]["uid"] = "".into(), Denies("uid")),
        ("a release of 53 characters", |v| v["spec"]["steps"][0]["release"] = "r".repeat(53).into(), Admits),
        (
            "a release of 54 characters",
            |v| v["spec"]["steps"][0]["release"] = "r".repeat(54).into(),
            Denies("may not be more than 53"),
        ),
        (
            "a release that names no object",
            |v| v["spec"]["steps"][0]["release"] = "GPU/1".into(),
            Denies("should match"),
        ),
        (
            "an unknown operation",
            |v| v["spec"]["steps"][0]["operation"] = "Restart".into(),
            Denies("supported values"),
        ),
        (
            "an unknown assessment",
            |v| v["spec"]["steps"][0]["assessment"] = "safe".into(),
            Denies("supported values"),
        ),
        (
            "a blocked step, which is never planned",
            |v| v["spec"]["steps"][0]["assessment"] = "Blocked".into(),
            Denies("supported values"),
        ),
        ("16 recorded steps", |v| v["spec"]["steps"][1]["postApplySteps"] = vec!["s"; 16].into(), Admits),
        (
            "17 recorded steps",
            |v| v["spec"]["steps"][1]["postApplySteps"] = vec!["s"; 17].into(),
            Denies("at most 16"),
        ),
    ];
    let cluster = Cluster::lease().await;
    judge_creates(&rollouts(&cluster, Identity::Operator), rollout, cases).await;
}

#[tokio::test]
async fn every_field_but_the_approval_is_immutable_also_for_the_operator() {
    let cases: &[Case] = &[
        ("nothing", |_| {}, Admits),
        ("runtimeUID", |v| v["spec"]["runtimeUID"] = "other".into(), Denies("spec.runtimeUID is immutable")),
        (
            "fromPlanDigest",
            |v| v["spec"]["fromPlanDigest"] = "".into(),
            Denies("spec.fromPlanDigest is immutable"),
        ),
        (
            "toPlanDigest",
            |v| v["spec"]["toPlanDigest"] = digest('f').into(),
            Denies("spec.toPlanDigest is immutable"),
        ),
        (
            "startingInventoryDigest",
            |v| v["spec"]["startingInventoryDigest"] = digest('f').into(),
            Denies("spec.startingInventoryDigest is immutable"),
        ),
        (
            "an entry of the inventory",
            |v| v["spec"]["startingInventory"][0]["uid"] = "u-2".into(),
            Denies("spec.startingInventory is immutable"),
        ),
        (
            "the inventory away",
            |v| v["spec"]["startingInventory"] = Value::Null,
            Denies("spec.startingInventory is immutable"),
        ),
        (
            "assessmentRef",
            |v| v["spec"]["assessmentRef"]["digest"] = digest('f').into(),
            Denies("spec.assessmentRef is immutable"),
        ),
        (
            "assessmentRef away",
            |v| v["spec"]["assessmentRef"] = Value::Null,
            Denies("spec.assessmentRef is immutable"),
        ),
        (
            "deadline",
            |v| v["spec"]["deadline"] = "2099-10-15T05:00:00Z".into(),
            Denies("spec.deadline is immutable"),
        ),
        (
            "actionTimeout",
            |v| v["spec"]["actionTimeout"] = "31m0s".into(),
            Denies("spec.actionTimeout is immutable"),
        ),
        (
            "approvalRequired",
            |v| v["spec"]["approvalRequired"] = false.into(),
            Denies("spec.approvalRequired is immutable"),
        ),
        (
            "a step's operation",
            |v| v["spec"]["steps"][0]["operation"] = "Install".into(),
            Denies("spec.steps is immutable"),
        ),
        (
            "a step's recorded steps",
            |v| v["spec"]["steps"][1]["postApplySteps"] = json!([]),
            Denies("spec.steps is immutable"),
        ),
        (
            "a step more",
            |v| {
                let step = v["spec"]["steps"][0].clone();
                v["spec"]["steps"].as_array_mut().unwrap().push(step);
            },
            Denies("spec.steps is immutable"),
        ),
        (
            "the steps' order",
            |v| v["spec"]["steps"].as_array_mut().unwrap().swap(0, 1),
            Denies("spec.steps is immutable"),
        ),
    ];
    let cluster = Cluster::lease().await;
    stored(&cluster, rollout()).await;
    judge_updates(&rollouts(&cluster, Identity::Operator), ROLLOUT, cases).await;
}

#[tokio::test]
async fn what_an_initial_rollout_leaves_out_cannot_be_added_later() {
    fn bare() -> Value {
        let mut value = rollout();
        let spec = value["spec"].as_object_mut().unwrap();
        spec.remove("startingInventory");
        spec.remove("assessmentRef");
        value
    }
    let cases: &[Case] = &[
        (
            "an inventory",
            |v| v["spec"]["startingInventory"] = rollout()["spec"]["startingInventory"].clone(),
            Denies("spec.startingInventory is immutable"),
        ),
        (
            "an empty inventory",
            |v| v["spec"]["startingInventory"] = json!([]),
            Denies("spec.startingInventory is immutable"),
        ),
        (
            "an assessment",
            |v| v["spec"]["assessmentRef"] = rollout()["spec"]["assessmentRef"].clone(),
            Denies("spec.assessmentRef is immutable"),
        ),
    ];
    let cluster = Cluster::lease().await;
    stored(&cluster, bare()).await;
    judge_updates(&rollouts(&cluster, Identity::Operator), ROLLOUT, cases).await;
}

#[tokio::test]
async fn an_approval_is_given_whole_and_within_its_bounds() {
    let given = |field: &str, value: Value| {
        let mut approval = approval();
        approval[field] = value;
        json!({"spec": {"approval": approval}})
    };
    let cases = vec![
        ("a whole approval", json!({"spec": {"approval": approval()}}), Admits),
        ("no reason", given("reason", Value::Null), Denies("reason")),
        ("an empty reason", given("reason", "".into()), Denies("reason")),
        ("a reason of 1024 characters", given("reason", "ü".repeat(1024).into()), Admits),
        (
            "a reason of 1025 characters",
            given("reason", "ü".repeat(1025).into()),
            Denies("may not be more than 1024"),
        ),
        ("no expiry", given("expiresAt", Value::Null), Denies("expiresAt")),
        ("an unreadable expiry", given("expiresAt", "tomorrow".into()), Denies("expiresAt")),
        ("no approver", given("approvedBy", Value::Null), Denies("approvedBy")),
        ("an empty approver", given("approvedBy", "".into()), Denies("approvedBy")),
        (
            "empty revocation fields, which are unset",
            json!({"spec": {"approval": {"approvedBy": "alice", "expiresAt": "2099-10-15T03:00:00Z",
            "reason": "w", "revokedBy": "", "revokedAt": "", "revokeReason": ""}}}),
            Admits,
        ),
        (
            "approved and revoked at once",
            json!({"spec": {"approval": {"approvedBy": "alice", "expiresAt": "2099-10-15T03:00:00Z",
            "reason": "w", "revokedBy": "alice", "revokedAt": "2026-10-15T01:00:00Z", "revokeReason": "r"}}}),
            Denies("set only after approvedBy"),
        ),
        (
            "acknowledged before it is approved",
            json!({"spec": {"approval": {"approvedBy": "alice", "expiresAt": "2099-10-15T03:00:00Z",
            "reason": "w", "acknowledgements": [{"release": "kai-scheduler", "acknowledgedBy": "alice", "acknowledgedAt": "2026-10-15T01:00:00Z"}]}}}),
            Denies("need an existing approval"),
        ),
        (
            "acknowledged without approval",
            json!({"spec": {"approval": {"acknowledgements": [{"release": "kai-scheduler",
            "acknowledgedBy": "alice", "acknowledgedAt": "2026-10-15T01:00:00Z"}]}}}),
            Denies("approvedBy"),
        ),
    ];
    let cluster = Cluster::lease().await;
    stored(&cluster, rollout()).await;
    judge_patches(&rollouts(&cluster, Identity::Approver), ROLLOUT, cases).await;
}

#[tokio::test]
async fn an_approval_is_set_once() {
    let change = |field: &str, value: Value| json!({"spec": {"approval": {field: value}}});
    let once = "can be neither changed nor extended";
    let cases = vec![
        ("cleared", json!({"spec": {"approval": null}}), Denies("cannot be cleared")),
        ("another approver", change("approvedBy", "bob".into()), Denies(once)),
        ("extended", change("expiresAt", "2099-10-16T03:00:00Z".into()), Denies(once)),
        ("shortened", change("expiresAt", "2099-10-14T03:00:00Z".into()), Denies(once)),
        ("another reason", change("reason", "other".into()), Denies(once)),
        ("the reason away", change("reason", Value::Null), Denies("reason")),
        ("revoked without time and reason", change("revokedBy", "bob".into()), Denies("set together")),
        ("a time alone", change("revokedAt", "2026-10-15T01:00:00Z".into()), Denies("set together")),
        ("a reason alone", change("revokeReason", "stop".into()), Denies("set together")),
        (
            "an unreadable time",
            json!({"spec": {"approval": {"revokedBy": "bob", "revokedAt": "now", "revokeReason": "stop"}}}),
            Denies("revokedAt"),
        ),
        (
            "revoked",
            json!({"spec": {"approval": {"revokedBy": "bob", "revokedAt": "2026-10-15T01:00:00Z", "revokeReason": "stop"}}}),
            Admits,
        ),
    ];
    let cluster = Cluster::lease().await;
    stored(&cluster, rollout()).await;
    merge(&cluster, Identity::Approver, json!({"spec": {"approval": approval()}})).await;
    judge_patches(&rollouts(&cluster, Identity::SecondApprover), ROLLOUT, cases).await;
}

#[tokio::test]
async fn a_revocation_is_final() {
    let change = |field: &str, value: Value| json!({"spec": {"approval": {field: value}}});
    let last = "a revocation is final";
    let cases = vec![
        (
            "undone",
            json!({"spec": {"approval": {"revokedBy": "", "revokedAt": "", "revokeReason": ""}}}),
            Denies(last),
        ),
        (
            "removed",
            json!({"spec": {"approval": {"revokedBy": null, "revokedAt": null, "revokeReason": null}}}),
            Denies(last),
        ),
        ("in another name", change("revokedBy", "alice".into()), Denies(last)),
        ("at another time", change("revokedAt", "2026-10-15T02:00:00Z".into()), Denies(last)),
        ("for another reason", change("revokeReason", "other".into()), Denies(last)),
        ("with the whole approval cleared", json!({"spec": {"approval": null}}), Denies("cannot be cleared")),
    ];
    let cluster = Cluster::lease().await;
    stored(&cluster, rollout()).await;
    merge(&cluster, Identity::Approver, json!({"spec": {"approval": approval()}})).await;
    let revocation = json!({"revokedBy": "bob", "revokedAt": "2026-10-15T01:00:00Z", "revokeReason": "stop"});
    merge(&cluster, Identity::SecondApprover, json!({"spec": {"approval": revocation}})).await;
    judge_patches(&rollouts(&cluster, Identity::Approver), ROLLOUT, cases).await;
}

#[tokio::test]
async fn acknowledgements_are_append_only_and_one_a_release() {
    let given = |release: &str, by: &str, at: &str| json!({"release": release, "acknowledgedBy": by, "acknowledgedAt": at});
    let first = given("kai-scheduler", "alice", "2026-10-15T01:00:00Z");
    let list = |items: Vec<Value>| json!({"spec": {"approval": {"acknowledgements": items}}});
    let cases = vec![
        (
            "removed",
            json!({"spec": {"approval": {"acknowledgements": null}}}),
            Denies("append-only: one that is given cannot be removed"),
        ),
        ("emptied", list(vec![]), Denies("append-only: one that is given cannot be removed")),
        (
            "in another name",
            list(vec![given("kai-scheduler", "bob", "2026-10-15T01:00:00Z")]),
            Denies("append-only: one that is given cannot be changed"),
        ),
        (
            "at another time",
            list(vec![given("kai-scheduler", "alice", "2026-10-15T02:00:00Z")]),
            Denies("append-only: one that is given cannot be changed"),
        ),
        (
            "the release twice",
            list(vec![first.clone(), given("kai-scheduler", "bob", "2026-10-15T02:00:00Z")]),
            Denies("Duplicate value"),
        ),
        (
            "without a name",
            list(vec![first.clone(), json!({"release": "old", "acknowledgedAt": "2026-10-15T02:00:00Z"})]),
            Denies("acknowledgedBy"),
        ),
    ];
    let cluster = Cluster::lease().await;
    stored(&cluster, rollout()).await;
    merge(&cluster, Identity::Approver, json!({"spec": {"approval": approval()}})).await;
    let status = json!({"status": {"phase": "AwaitingAcknowledgement"}});
    let operator = rollouts(&cluster, Identity::Operator);
    operator.patch_status(ROLLOUT, &PatchParams::default(), &Patch::Merge(&status)).await.unwrap();
    merge(&cluster, Identity::Approver, list(vec![first])).await;
    judge_patches(&rollouts(&cluster, Identity::SecondApprover), ROLLOUT, cases).await;
}

#[tokio::test]
async fn status_is_bounded_and_its_words_are_the_documented_ones() {
    let status = |field: &str, value: Value| json!({"status": {field: value}});
    let condition = |kind: &str, message: String| json!({"type": kind, "status": "True", "reason": "Progressing", "message": message, "lastTransitionTime": "2026-10-15T01:00:00Z"});
    let releases = |count: usize| -> Value {
        (0..count).map(|index| json!({"id": format!("r{index}"), "state": "Ready"})).collect()
    };
    let cases = vec![
        ("every phase", status("phase", "AwaitingAcknowledgement".into()), Admits),
        ("an unknown phase", status("phase", "Pending".into()), Denies("supported values")),
        ("an unknown approval state", status("approval", "Maybe".into()), Denies("supported values")),
        ("a message of 1024 characters", status("message", "ü".repeat(1024).into()), Admits),
        (
            "a message of 1025 characters",
            status("message", "ü".repeat(1025).into()),
            Denies("may not be more than 1024"),
        ),
        ("256 releases", status("releases", releases(256)), Admits),
        ("257 releases", status("releases", releases(257)), Denies("at most 256")),
        ("a condition", status("conditions", json!([condition("Stalled", "m".repeat(1024))])), Admits),
        (
            "a long condition message",
            status("conditions", json!([condition("Stalled", "m".repeat(1025))])),
            Denies("may not be more than 1024"),
        ),
        (
            "a condition twice",
            status("conditions", json!([condition("A", String::new()), condition("A", String::new())])),
            Denies("Duplicate value"),
        ),
        (
            "17 conditions",
            status(
                "conditions",
                (0..17).map(|index| condition(&format!("C{index}"), String::new())).collect(),
            ),
            Denies("at most 16"),
        ),
    ];
    let cluster = Cluster::lease().await;
    stored(&cluster, rollout()).await;
    let operator = rollouts(&cluster, Identity::Operator);
    for (case, patch, verdict) in cases {
        let answer = operator
            .patch_status(
                ROLLOUT,
                &PatchParams { dry_run: true, ..PatchParams::default() },
                &Patch::Merge(&patch),
            )
            .await;
        match (verdict, answer) {
            (Admits, answer) => drop(answer.unwrap_or_else(|error| panic!("{case}: {error}"))),
            (Denies(text), answer) => {
                let error = answer.err().unwrap_or_else(|| panic!("{case} was admitted")).to_string();
                assert!(error.contains(text), "{case}: {error}");
            }
        }
    }
}

/// 256 steps and 256 inventory entries with every string at its bound. (256 acknowledgements: see
/// `admission_acknowledgements`.)
fn largest() -> Value {
    let mut value = rollout();
    let id = |index: usize| format!("{index:03}{}", "r".repeat(50));
    let spec = &mut value["spec"];
    spec["runtimeUID"] = "u".repeat(64).into();
    spec["steps"] = (0..256)
        .map(|index| {
            json!({"release": id(index), "operation": "Remove", "assessment": "NotApplicable", "crdChange": true,
                   "uid": "u".repeat(64), "postApplySteps": vec!["s".repeat(63); 16]})
        })
        .collect();
    spec["startingInventory"] = (0..256)
        .map(|index| {
            json!({"releaseID": id(index), "name": "n".repeat(253), "uid": "u".repeat(64), "planDigest": digest('a'),
                   "revision": "v".repeat(256), "specDigest": digest('d')})
        })
        .collect();
    value
}

#[tokio::test]
async fn the_largest_rollout_is_admitted_approved_acknowledged_and_revoked() {
    let cluster = Cluster::lease().await;
    stored(&cluster, largest()).await;
    let mut given = approval();
    given["reason"] = "ü".repeat(1024).into();
    merge(&cluster, Identity::Approver, json!({"spec": {"approval": given}})).await;
    let operator = rollouts(&cluster, Identity::Operator);
    let releases: Vec<Value> = (0..256)
        .map(|index| json!({"id": format!("{index:03}{}", "r".repeat(50)), "state": "Removed", "revision": "v".repeat(256),
                            "specDigest": digest('d'), "uid": "u".repeat(64)}))
        .collect();
    let status = json!({"status": {"phase": "AwaitingAcknowledgement", "message": "m".repeat(1024), "releases": releases}});
    operator.patch_status(ROLLOUT, &PatchParams::default(), &Patch::Merge(&status)).await.unwrap();
    let given = json!([{"release": format!("255{}", "r".repeat(50)), "acknowledgedBy": "alice", "acknowledgedAt": "2026-10-15T01:00:00Z"}]);
    merge(&cluster, Identity::Approver, json!({"spec": {"approval": {"acknowledgements": given}}})).await;
    let revocation =
        json!({"revokedBy": "bob", "revokedAt": "2026-10-15T01:00:00Z", "revokeReason": "s".repeat(1024)});
    merge(&cluster, Identity::SecondApprover, json!({"spec": {"approval": revocation}})).await;
    let label = json!({"metadata": {"labels": {"operator.aicr.run/outcome": "Revoked"}}});
    merge(&cluster, Identity::Operator, label).await;
}
