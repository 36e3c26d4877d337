//! What `describe` prints, whole, for every kind of transition and every state of approval and report.

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::assessment::{AssessmentView, REPORT_KEY, judge};
use super::{text, view};
use crate::api::fixtures::{approval, at, rollout_with};
use crate::api::{ContentReference, RuntimeRollout};
use crate::cli::printer::Look;
use crate::plan::Digest;

fn report() -> String {
    json!({
        "from": "active.json", "to": "target.json", "deployer": "argocd",
        "components": [
            {"component": "gpu-operator", "change": "version", "from": "v26.7.0", "to": "v26.7.1", "verdict": "safe",
             "notes": "1 patch, verified", "breaking": false, "downgrade": false, "failsRun": false},
            {"component": "kueue", "change": "added", "to": "v0.14.0", "breaking": false, "downgrade": false, "failsRun": false},
            {"component": "nvsentinel", "change": "version", "from": "v1.22.0", "to": "v1.25.0", "verdict": "manual",
             "notes": "3 minors, 3 steps", "precondition": "No node is cordoned by NVSentinel",
             "steps": [{"id": "check-host-port", "description": "Free host port 2112"},
                       {"id": "apply", "description": "Apply the release"},
                       {"id": "verify", "description": "Check the CRD", "reason": "it gains a field"}],
             "identityChanges": [{"field": "fullnameOverride", "from": "", "to": "sentinel"}],
             "breaking": true, "downgrade": false, "failsRun": true},
        ],
        "summary": {"components": 3, "failing": 1},
    })
    .to_string()
}

fn reference(text: &str) -> ContentReference {
    ContentReference {
        config_map: "aicr-upgrade-check-7".into(),
        digest: Digest::of_bytes(text.as_bytes()).to_string(),
    }
}

fn stored(text: &str) -> ConfigMap {
    ConfigMap { data: Some([(REPORT_KEY.to_owned(), text.to_owned())].into()), ..ConfigMap::default() }
}

fn described(rollout: &RuntimeRollout, assessment: AssessmentView, look: Look) -> String {
    let now = at("00:48:00");
    text::render(&view::view(rollout, assessment, now), now, look)
}

/// A rollout in the middle of an upgrade, with everything that an upgrade can have.
fn upgrade(value: &mut Value) {
    value["spec"]["approval"] = approval();
    value["spec"]["startingInventory"] = json!([{
        "releaseID": "gpu-operator", "name": "gpu-operator", "uid": "u", "revision": "sha256:1",
        "planDigest": format!("sha256:{}", "a".repeat(64)), "specDigest": format!("sha256:{}", "d".repeat(64)),
    }]);
    let steps = value["spec"]["steps"].as_array_mut().unwrap();
    steps[2]["crdChange"] = true.into();
    steps.push(json!({"release": "skyhook", "operation": "Remove", "assessment": "NotApplicable", "uid": "3f2b0000"}));
    value["spec"]["approval"]["acknowledgements"] = json!([{"release": "kai-scheduler", "acknowledgedBy": "bob", "acknowledgedAt": "2026-10-15T00:40:00Z"}]);
    value["status"] = json!({
        "phase": "Progressing", "approval": "Approved", "message": "release nvsentinel: HealthProgressing",
        "current": {"release": "nvsentinel", "operation": "Upgrade", "startedAt": "2026-10-15T00:45:00Z"},
        "releases": [
            {"id": "gpu-operator", "state": "Ready", "revision": format!("sha256:{}", "1".repeat(64))},
            {"id": "kai-scheduler", "state": "Ready", "revision": format!("sha256:{}", "2".repeat(64))},
            {"id": "nvsentinel", "state": "Progressing"},
        ],
    });
}

#[test]
fn an_upgrade_shows_everything_that_an_approver_decides_on() {
    let text = report();
    let assessment = judge(&reference(&text), &stored(&text));
    insta::assert_snapshot!(described(&rollout_with(upgrade), assessment, Look::default()));
}

#[test]
fn a_terminal_gets_colour_and_lines_that_fit() {
    let text = report();
    let assessment = judge(&reference(&text), &stored(&text));
    let look = Look { color: true, width: Some(80) };
    insta::assert_snapshot!(described(&rollout_with(upgrade), assessment, look));
}

#[test]
fn an_initial_install_that_nobody_approved_says_so() {
    let rollout = rollout_with(|value| {
        value["spec"]["fromPlanDigest"] = "".into();
        value["status"] = Value::Null;
    });
    insta::assert_snapshot!(described(&rollout, AssessmentView::None, Look::default()));
}

#[test]
fn each_kind_of_transition_reads_as_what_it_is() {
    let (a, b) = (format!("sha256:{}", "a".repeat(64)), format!("sha256:{}", "b".repeat(64)));
    let same = |value: &mut Value| value["spec"]["fromPlanDigest"] = value["spec"]["toPlanDigest"].clone();
    let shown = |change: &dyn Fn(&mut Value)| {
        let rollout = rollout_with(|value| change(value));
        text::transition(&view::view(&rollout, AssessmentView::None, at("00:00:00")).transition)
    };
    assert_eq!(shown(&|_| {}), format!("{a} -> {b}"));
    assert_eq!(
        shown(&|value| value["spec"]["fromPlanDigest"] = "".into()),
        format!("none (initial install) -> {b}")
    );
    assert_eq!(
        shown(&|value| value["spec"]["toPlanDigest"] = "".into()),
        format!("{a} -> none (runtime removal)")
    );
    assert_eq!(shown(&same), format!("{b} -> {b} (reinstall)"));
    let adopts = |value: &mut Value| {
        same(value);
        value["metadata"]["annotations"] = json!({"operator.aicr.run/adopted-from": "0000-old"});
    };
    assert_eq!(shown(&adopts), format!("{b} -> {b} (adoption from runtime 0000-old)"));
    let by_step = |value: &mut Value| {
        same(value);
        value["spec"]["steps"][0]["operation"] = "Adopt".into();
    };
    assert_eq!(shown(&by_step), format!("{b} -> {b} (adoption)"));
}

#[test]
fn the_approval_reads_as_what_it_is() {
    let shown = |change: &dyn Fn(&mut Value)| {
        let rollout = rollout_with(|value| change(value));
        let text = described(&rollout, AssessmentView::None, Look::default());
        let line = text.lines().find(|line| line.starts_with("Approval:")).unwrap().to_owned();
        line["Approval:".len()..].trim().to_owned()
    };
    let approved = |value: &mut Value| value["spec"]["approval"] = approval();
    assert_eq!(shown(&|_| {}), "required, pending");
    assert_eq!(shown(&|value| value["spec"]["approvalRequired"] = false.into()), "not required");
    assert_eq!(
        shown(&|value| value["status"]["approval"] = "Bypassed".into()),
        "bypassed by a development build"
    );
    assert_eq!(shown(&approved), "approved by alice until 2026-10-15T03:00:00Z, in 2h12m");
    let expired = |value: &mut Value| {
        approved(value);
        value["spec"]["approval"]["expiresAt"] = "2026-10-15T00:47:00Z".into();
    };
    assert_eq!(shown(&expired), "approved by alice until 2026-10-15T00:47:00Z, 1m ago: expired");
    let late = |value: &mut Value| value["spec"]["deadline"] = "2026-10-15T00:00:00Z".into();
    assert_eq!(shown(&late), "required, never given: the deadline has passed");
    let ended = |value: &mut Value| {
        expired(value);
        value["metadata"]["labels"]["operator.aicr.run/outcome"] = "Succeeded".into();
    };
    assert_eq!(shown(&ended), "approved by alice until 2026-10-15T00:47:00Z, 1m ago");
    let revoked = |value: &mut Value| {
        approved(value);
        let given = &mut value["spec"]["approval"];
        given["revokedBy"] = "bob".into();
        given["revokedAt"] = "2026-10-15T00:30:00Z".into();
        given["revokeReason"] = "not checkpointed".into();
    };
    assert_eq!(
        shown(&revoked),
        "revoked by bob at 2026-10-15T00:30:00Z, 18m ago (approved by alice until 2026-10-15T03:00:00Z, in 2h12m)"
    );
}

#[test]
fn a_report_is_believed_only_when_it_matches_its_digest() {
    let text = report();
    let problem = |view: AssessmentView| match view {
        AssessmentView::Unusable { problem, .. } => problem,
        other => panic!("{other:?} was believed"),
    };
    let tampered = stored(&text.replace("manual", "safe"));
    assert!(
        problem(judge(&reference(&text), &tampered)).starts_with("its content does not match the digest")
    );
    assert_eq!(problem(judge(&reference(&text), &ConfigMap::default())), "it holds no report.json");
    let unreadable = problem(judge(&reference("{}"), &stored("{}")));
    assert_eq!(unreadable, "upgrade-check report: components: missing");
}

#[test]
fn steps_to_do_by_hand_are_shown_even_when_the_report_is_gone() {
    let missing = AssessmentView::unusable(&reference("x"), "it is missing".into());
    let text = described(&rollout_with(upgrade), missing, Look::default());
    let tail = text.split("Assessment: ").nth(1).unwrap();
    assert!(tail.contains("cannot be used: it is missing"), "{tail}");
    assert!(
        tail.contains(
            "after it.\n  kai-scheduler\n    reset-breaker:\n    verify:\n  nvsentinel\n    check:\n"
        ),
        "{tail}"
    );
}

#[test]
fn steps_that_the_rollout_binds_are_shown_even_when_the_report_does_not_tell_them() {
    let text = report();
    let assessment = judge(&reference(&text), &stored(&text));
    let shown = described(&rollout_with(upgrade), assessment, Look::default());
    assert!(
        shown.contains("(it gains a field)\n    check:\n  kai-scheduler\n    reset-breaker:\n    verify:\n"),
        "{shown}"
    );
}

#[test]
fn drift_is_what_the_controller_reports() {
    let rollout = rollout_with(|value| {
        value["status"]["phase"] = "Stalled".into();
        value["status"]["message"] = "release gpu-operator: InventoryDrift".into();
        value["status"]["conditions"] = json!([{
            "type": "Stalled", "status": "True", "reason": "InventoryDrift", "lastTransitionTime": "2026-10-15T00:00:00Z",
            "message": "release gpu-operator: values differ from the approved inventory",
        }]);
    });
    let text = described(&rollout, AssessmentView::None, Look::default());
    assert!(
        text.contains("Drift:              InventoryDrift: release gpu-operator: values differ"),
        "{text}"
    );
}

#[test]
fn the_view_as_data_names_every_part() {
    let text = report();
    let assessment = judge(&reference(&text), &stored(&text));
    let view = view::view(&rollout_with(upgrade), assessment, at("00:48:00"));
    insta::assert_json_snapshot!(view);
}
