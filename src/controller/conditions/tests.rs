//! What is applied, and when nothing is.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Finding, MESSAGE, RESOLVER, ROLLOUT};
use crate::api::{ClusterRuntime, Code, ConditionStatus};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn runtime(status: &Value) -> ClusterRuntime {
    serde_json::from_value(json!({
        "apiVersion": "operator.aicr.run/v1alpha1",
        "kind": "ClusterRuntime",
        "metadata": {"name": "cluster", "uid": "u", "resourceVersion": "41", "generation": 3},
        "spec": {"intent": "training", "placement": {
            "system": {"nodeSelector": {"pool": "system"}},
            "accelerated": {"nodeSelector": {"pool": "gpu"}},
        }},
        "status": status,
    }))
    .unwrap()
}

fn resolved(status: ConditionStatus, reason: &str, message: &str) -> Finding {
    Finding::new("Resolved", status, reason, message)
}

fn fields(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

/// The status after an apply of `body` by an owner, as the API server would have it.
fn after(before: &Value, body: &Value) -> Value {
    let mut status = before.as_object().cloned().unwrap_or_default();
    status.extend(body["status"].as_object().cloned().unwrap());
    Value::Object(status)
}

#[test]
fn an_apply_holds_the_owners_conditions_and_fields_and_the_state_it_was_decided_on() {
    let findings = [
        resolved(ConditionStatus::True, "Resolved", "plan sha256:1"),
        Finding::new("Ready", ConditionStatus::True, "RolledOut", ""),
    ];
    let rest = fields(json!({"inputDigest": null, "rollout": "not the resolver's"}));
    let body = RESOLVER.apply(&runtime(&json!({})), &findings, rest, at(1000)).unwrap();
    assert_eq!(
        body,
        json!({
            "apiVersion": "operator.aicr.run/v1alpha1",
            "kind": "ClusterRuntime",
            "metadata": {"name": "cluster", "uid": "u", "resourceVersion": "41"},
            "status": {"conditions": [{
                "type": "Resolved",
                "status": "True",
                "observedGeneration": 3,
                "lastTransitionTime": "1970-01-01T00:16:40Z",
                "reason": "Resolved",
                "message": "plan sha256:1",
            }]},
        })
    );
}

#[test]
fn the_time_of_the_last_transition_moves_only_with_the_status() {
    let status = |finding: Finding, current: &Value, second| {
        let body = RESOLVER.apply(&runtime(current), &[finding], Map::new(), at(second)).unwrap();
        after(current, &body)
    };
    let first = status(resolved(ConditionStatus::Unknown, "Resolving", "a"), &json!({}), 10);
    let second = status(resolved(ConditionStatus::Unknown, "Resolving", "b"), &first, 20);
    let third = status(resolved(ConditionStatus::False, "CriteriaConflict", "b"), &second, 30);
    let times = [&first, &second, &third].map(|status| status["conditions"][0]["lastTransitionTime"].clone());
    assert_eq!(times, ["1970-01-01T00:00:10Z", "1970-01-01T00:00:10Z", "1970-01-01T00:00:30Z"]);
}

#[test]
fn nothing_is_applied_when_nothing_changed_and_something_when_anything_did() {
    let findings = [
        Finding::new("EngineAvailable", ConditionStatus::True, "EngineAvailable", ""),
        Finding::new("Ready", ConditionStatus::False, "RollingOut", "rollout r awaiting approval"),
    ];
    let rest = json!({"observedGeneration": 3, "rollout": "r"});
    let body = ROLLOUT.apply(&runtime(&json!({})), &findings, fields(rest.clone()), at(10)).unwrap();
    let mut live = after(&json!({}), &body);
    live["conditions"].as_array_mut().unwrap().reverse();
    let changed = |findings: &[Finding], rest: Value| {
        ROLLOUT.apply(&runtime(&live), findings, fields(rest), at(99)).is_some()
    };
    assert!(!changed(&findings, rest.clone()));
    assert!(changed(&findings[..1], rest.clone()), "a condition is gone");
    assert!(changed(&findings, json!({"observedGeneration": 4, "rollout": "r"})));
    assert!(changed(&findings, json!({"observedGeneration": 3})), "a field is gone");
    let other = RESOLVER.apply(&runtime(&live), &[], Map::new(), at(99));
    assert_eq!(other, None, "the other owner's conditions are none of its business");
}

#[test]
fn a_failures_message_begins_with_its_code_and_fits() {
    let long = "ü".repeat(5000);
    let finding = Finding::failed("Resolved", ConditionStatus::False, "NotFound", Code::NotFound, &long);
    let conditions = RESOLVER.conditions(&[], &[finding], None, at(0));
    let message = &conditions[0].message;
    assert!(message.starts_with("[NOT_FOUND] ü") && message.ends_with('…'), "{message}");
    assert_eq!(message.chars().count(), MESSAGE);
}

#[test]
fn no_condition_and_no_field_has_two_owners() {
    assert!(RESOLVER.types.iter().all(|type_| !ROLLOUT.types.contains(type_)));
    assert!(RESOLVER.fields.iter().all(|field| !ROLLOUT.fields.contains(field)));
    assert_ne!(RESOLVER.manager, ROLLOUT.manager);
}
