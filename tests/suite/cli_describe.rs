//! `kubectl aicr describe`, end to end.
use serde_json::{Value, json};
use test_support::Identity;

use crate::admission_kit::{CONFIG_MAPS, NAME, ROLLOUTS, World, digest};
use crate::cli_kit::{
    Plugin, REPORT, Ran, golden, report, report_map, set_outcome, set_status, upgrade, waiting, world_with,
    world_with_upgrade,
};

/// The value of a line of the text.
#[track_caller]
fn value<'a>(ran: &'a Ran, label: &str) -> &'a str {
    let line = ran.done().lines().find_map(|line| line.strip_prefix(label));
    line.unwrap_or_else(|| panic!("no line {label} in {ran}")).trim()
}

#[tokio::test]
async fn an_approver_sees_all_that_there_is_to_decide_on() {
    let world = world_with_upgrade().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    golden!(alice.run(&["describe", NAME]).await);
}

#[tokio::test]
async fn a_rollout_under_way_shows_its_approval_steps_drift_and_acknowledgements() {
    let world = world_with_upgrade().await;
    let bob = Plugin::of(&world.cluster, Identity::SecondApprover);
    bob.run(&["approve", NAME, "--reason", "Maintenance window"]).await.done();
    let mut status = json!({
        "phase": "AwaitingAcknowledgement", "approval": "Approved", "message": "release nvsentinel waits",
        "current": {"release": "nvsentinel", "operation": "Upgrade", "startedAt": "2026-11-30T00:45:00Z"},
        "releases": [{"id": "gpu-operator", "state": "Ready", "revision": format!("sha256:{}", "1".repeat(64))},
                     {"id": "gpu-operator-readiness", "state": "Failed"}],
    });
    set_status(&world, NAME, status.clone()).await;
    bob.run(&["acknowledge", NAME]).await.done();
    status["phase"] = "Stalled".into();
    status["conditions"] = json!([{
        "type": "Stalled", "status": "True", "reason": "SpecDrifted", "lastTransitionTime": "2026-11-30T00:50:00Z",
        "message": "release nvsentinel: spec.source.targetRevision was edited",
    }]);
    set_status(&world, NAME, status).await;
    golden!(bob.run(&["describe", NAME]).await);
}

#[tokio::test]
async fn a_revoked_rollout_shows_who_revoked_it_and_why() {
    let world = world_with_upgrade().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    alice.run(&["approve", NAME, "--reason", "Maintenance window"]).await.done();
    alice.run(&["revoke", NAME, "--reason", "Training job not checkpointed"]).await.done();
    let ran = alice.run(&["describe", NAME]).await;
    let approval = value(&ran, "Approval:");
    assert!(approval.starts_with("revoked by alice at 20"), "{approval}");
    assert!(approval.contains("(approved by alice until 2099-12-15T04:00:00Z, in "), "{approval}");
    assert_eq!(value(&ran, "Approval reason:"), "Maintenance window");
    assert_eq!(value(&ran, "Revoke reason:"), "Training job not checkpointed");
}

#[tokio::test]
async fn each_kind_of_transition_is_called_what_it_is() {
    let world = World::leased().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let (a, b) = (digest('a'), digest('b'));
    for (name, from, to, operation, expected) in [
        ("install", "", b.as_str(), "Install", format!("none (initial install) -> {b}")),
        ("upgrade", &a, &b, "Upgrade", format!("{a} -> {b}")),
        ("reinstall", &b, &b, "Install", format!("{b} -> {b} (reinstall)")),
        ("adopt", &b, &b, "Adopt", format!("{b} -> {b} (adoption from runtime 0000-old)")),
        ("remove", &a, "", "Remove", format!("{a} -> none (runtime removal)")),
    ] {
        let mut rollout = waiting(name);
        let spec = &mut rollout["spec"];
        (spec["fromPlanDigest"], spec["toPlanDigest"]) = (from.into(), to.into());
        spec["steps"] = json!([{"release": "nfd", "operation": operation, "assessment": "NotApplicable"}]);
        match operation {
            "Remove" => {
                spec["steps"][0]["uid"] = "u-1".into();
                rollout["metadata"]["labels"].as_object_mut().unwrap().remove("operator.aicr.run/to-plan");
            }
            "Adopt" => {
                rollout["metadata"]["annotations"] = json!({"operator.aicr.run/adopted-from": "0000-old"})
            }
            _ => {}
        }
        world
            .operator
            .create(ROLLOUTS, &rollout)
            .await
            .unwrap_or_else(|error| panic!("{name}: {}", error.message));
        assert_eq!(value(&alice.run(&["describe", name]).await, "Transition:"), expected);
    }
}

#[tokio::test]
async fn every_phase_and_outcome_is_told() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    for phase in ["AwaitingApproval", "Progressing", "AwaitingAcknowledgement", "Stalled", "Validating"] {
        set_status(&world, NAME, json!({"phase": phase})).await;
        let ran = alice.run(&["describe", NAME]).await;
        assert_eq!((value(&ran, "Phase:"), value(&ran, "Outcome:")), (phase, "none"));
    }
    for end in ["Succeeded", "Failed", "Expired", "Revoked", "Superseded", "Orphaned"] {
        let name = format!("rollout-{}", end.to_lowercase());
        world.operator.create(ROLLOUTS, &waiting(&name)).await.unwrap();
        set_status(&world, &name, json!({"phase": end})).await;
        let ran = alice.run(&["describe", &name]).await;
        assert_eq!((value(&ran, "Phase:"), value(&ran, "Outcome:")), (end, "none"), "the label comes after");
        set_outcome(&world, &name, end).await;
        let ran = alice.run(&["describe", &name]).await;
        assert_eq!((value(&ran, "Phase:"), value(&ran, "Outcome:")), (end, end));
        assert_eq!(value(&ran, "Approval:"), "required, never given");
    }
}

#[tokio::test]
async fn a_restored_rollout_that_has_lost_its_status_is_told_by_its_outcome() {
    let world = world_with_upgrade().await;
    set_outcome(&world, NAME, "Succeeded").await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let ran = alice.run(&["describe", NAME]).await;
    assert_eq!((value(&ran, "Phase:"), value(&ran, "Outcome:")), ("Succeeded", "Succeeded"));
    let states: Vec<_> = ran.done().lines().filter(|line| line.ends_with("  Unknown")).collect();
    assert_eq!(states.len(), 5, "which steps it made is lost: {ran}");
    let error = alice.run(&["approve", NAME, "--reason", "again"]).await;
    assert_eq!(
        error.failed(),
        format!(
            "error: [CONFLICT] rollout {NAME}: it has ended (Succeeded); nothing can be approved, revoked or acknowledged any more\n"
        )
    );
}

/// The lines about the assessment, up to the recorded steps.
fn assessment(ran: &Ran) -> String {
    let text = ran.done();
    let from = text.find("Assessment:").unwrap_or_else(|| panic!("no assessment in {ran}"));
    text[from..].split("\n\n").next().unwrap_or_default().trim_end().to_owned()
}

fn unusable(problem: &str) -> String {
    let digest = kubectl_aicr::plan::Digest::of_bytes(report().as_bytes());
    format!("Assessment: {REPORT} ({digest}) cannot be used: {problem}")
}

#[tokio::test]
async fn a_report_that_is_missing_is_said_to_be_missing_and_from_where() {
    let world = world_with(&[upgrade()]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let missing = "it is missing from namespace aicr-system; --operator-namespace names another one";
    assert_eq!(assessment(&alice.run(&["describe", NAME]).await), unusable(missing));
    world.operator.create(CONFIG_MAPS, &report_map(REPORT, &report())).await.unwrap();
    assert!(assessment(&alice.run(&["describe", NAME]).await).contains(", verified\n"));
}

#[tokio::test]
async fn a_wrong_operator_namespace_costs_the_report_and_not_the_rest() {
    let world = world_with_upgrade().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let ran = alice.run(&["describe", NAME, "--operator-namespace", "default"]).await;
    let text = assessment(&ran);
    let forbidden = r#"configmaps "aicr-upgrade-check-7" is forbidden: User "alice" cannot get resource "configmaps" in API group "" in the namespace "default""#;
    assert_eq!(text, unusable(forbidden));
    // Who may read there is told that there is nothing.
    let admin = Plugin::of(&world.cluster, Identity::Admin);
    let ran = admin.run(&["describe", NAME, "--operator-namespace", "nowhere"]).await;
    let missing = "it is missing from namespace nowhere; --operator-namespace names another one";
    assert_eq!(assessment(&ran), unusable(missing));
    assert!(ran.done().contains("  nvsentinel\n    verify:\n"), "the rollout binds the steps itself: {ran}");
}

#[tokio::test]
async fn a_report_that_was_tampered_with_is_not_shown() {
    for (text, problem) in [
        (
            report().replace("manual", "safe"),
            "its content does not match the digest that the rollout records (found sha256:",
        ),
        (
            format!("{} ", report()),
            "its content does not match the digest that the rollout records (found sha256:",
        ),
    ] {
        let world = world_with(&[upgrade()]).await;
        world.operator.create(CONFIG_MAPS, &report_map(REPORT, &text)).await.unwrap();
        let ran = Plugin::of(&world.cluster, Identity::Approver).run(&["describe", NAME]).await;
        assert!(assessment(&ran).starts_with(&unusable(problem)), "{ran}");
        assert!(!ran.done().contains("VERDICT"), "{ran}");
    }
}

#[tokio::test]
async fn who_may_read_rollouts_but_no_reports_sees_the_rollout_and_why_not_the_report() {
    let world = world_with_upgrade().await;
    let ran = Plugin::of(&world.cluster, Identity::Editor).run(&["describe", NAME]).await;
    let forbidden = r#"configmaps "aicr-upgrade-check-7" is forbidden: User "eve" cannot get resource "configmaps" in API group "" in the namespace "aicr-system""#;
    assert_eq!(assessment(&ran), unusable(forbidden));
    assert_eq!(value(&ran, "Phase:"), "Pending");
}

#[tokio::test]
async fn a_rollout_without_an_assessment_says_none() {
    let world = world_with(&[waiting(NAME)]).await;
    let ran = Plugin::of(&world.cluster, Identity::Approver).run(&["describe", NAME]).await;
    assert_eq!(assessment(&ran), "Assessment: none");
}

#[tokio::test]
async fn a_rollout_that_is_not_there_or_may_not_be_read_is_an_error() {
    let world = World::leased().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    assert_eq!(
        alice.run(&["describe", "rollout-none-1"]).await.failed(),
        "error: [NOT_FOUND] runtimerollouts.operator.aicr.run \"rollout-none-1\" not found\n"
    );
    let mallory = Plugin::of(&world.cluster, Identity::Tenant);
    assert_eq!(
        mallory.run(&["describe", "rollout-none-1"]).await.failed(),
        "error: [UNAUTHORIZED] runtimerollouts.operator.aicr.run \"rollout-none-1\" is forbidden: User \"mallory\" cannot get resource \"runtimerollouts\" in API group \"operator.aicr.run\" at the cluster scope\n"
    );
}

#[tokio::test]
async fn the_same_as_json_and_as_yaml_agrees_with_the_text() {
    let world = world_with_upgrade().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    alice.run(&["approve", NAME, "--reason", "Maintenance window"]).await.done();
    set_status(&world, NAME, json!({"phase": "Progressing", "message": "under way"})).await;
    let text = alice.run(&["describe", NAME]).await;
    let json: Value =
        serde_json::from_str(alice.run(&["describe", NAME, "-o", "json"]).await.done()).unwrap();
    let yaml: Value =
        serde_yaml::from_str(alice.run(&["describe", "--output=yaml", NAME]).await.done()).unwrap();
    assert_eq!(json, yaml);
    let of = |pointer: &str| {
        json.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}")).to_owned()
    };
    for (label, pointer) in [
        ("Rollout:", "/name"),
        ("Runtime UID:", "/runtimeUID"),
        ("Phase:", "/phase"),
        ("Message:", "/message"),
        ("Action timeout:", "/actionTimeout"),
        ("Approval reason:", "/approval/reason"),
    ] {
        assert_eq!(value(&text, label), of(pointer));
    }
    assert!(value(&text, "Deadline:").starts_with(&of("/deadline")));
    let approval =
        format!("approved by {} until {}, in ", of("/approval/approvedBy"), of("/approval/expiresAt"));
    assert!(value(&text, "Approval:").starts_with(&approval));
    assert_eq!(
        value(&text, "Transition:"),
        format!("{} -> {}", of("/transition/from"), of("/transition/to"))
    );
    let steps = json["steps"].as_array().unwrap();
    let rows: Vec<_> = text
        .done()
        .lines()
        .skip_while(|line| !line.starts_with("Steps ("))
        .skip(2)
        .take(steps.len())
        .collect();
    for (step, row) in steps.iter().zip(rows) {
        let cells: Vec<_> = row.split_whitespace().skip(1).collect();
        let crds = if step["crdChange"] == true { "changed" } else { "no" };
        assert_eq!(
            cells,
            [&step["release"], &step["operation"], &step["assessment"], &json!(crds), &step["state"]]
                .map(|cell| cell.as_str().unwrap())
        );
    }
    assert_eq!(json["assessment"]["state"], "Verified");
    for row in json["assessment"]["report"]["components"].as_array().unwrap() {
        assert!(text.done().contains(row["component"].as_str().unwrap()));
    }
}

#[tokio::test]
async fn what_objects_hold_can_neither_drive_the_terminal_nor_break_the_lines() {
    let world = world_with(&[upgrade()]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    alice.run(&["approve", NAME, "--reason", "one\nApproval: forged\u{1b}[2J\u{202e}"]).await.done();
    set_status(&world, NAME, json!({"message": "two\u{9b}31m\r\nPhase: Succeeded"})).await;
    let ran = alice.run(&["describe", NAME]).await;
    assert_eq!(value(&ran, "Approval reason:"), "one Approval: forged\u{fffd}[2J\u{fffd}");
    assert_eq!(value(&ran, "Message:"), "two\u{fffd}31m Phase: Succeeded");
    assert!(!ran.stdout.chars().any(|c| c.is_control() && c != '\n'), "{ran}");
}

#[tokio::test]
async fn an_approvers_describe_takes_two_requests_that_the_documented_rights_allow() {
    let world = world_with_upgrade().await;
    Plugin::of(&world.cluster, Identity::Approver).run(&["describe", NAME]).await.done();
    let asked: Vec<_> = world
        .cluster
        .audit()
        .by(Identity::Approver)
        .iter()
        .map(|request| (request.verb.clone(), request.resource.clone(), request.code))
        .collect();
    let expected = [("get", "runtimerollouts", 200), ("get", "configmaps", 200)];
    assert_eq!(asked, expected.map(|(verb, resource, code)| (verb.to_owned(), resource.to_owned(), code)));
}
