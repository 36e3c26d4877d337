//! Objects for tests: one valid rollout and one valid runtime, to be changed by what a test is about.

use serde_json::{Value, json};

use super::{RuntimeRollout, Time};

/// An instant on 15 October 2026 (UTC), `HH:MM:SS`.
pub(crate) fn at(clock: &str) -> Time {
    Time(format!("2026-10-15T{clock}Z").parse().unwrap())
}

/// A rollout that waits for approval until 04:00.
pub(crate) fn rollout() -> Value {
    json!({
        "apiVersion": "operator.aicr.run/v1alpha1",
        "kind": "RuntimeRollout",
        "metadata": {
            "name": "rollout-3f9a1c0d2b7e4a51-1",
            "uid": "7f0e4a1c-0000-4000-8000-000000000001",
            "resourceVersion": "1",
            "labels": {"operator.aicr.run/runtime": "cluster"},
        },
        "spec": {
            "schemaVersion": 1,
            "runtimeUID": "11111111-2222-4333-8444-555555555555",
            "fromPlanDigest": format!("sha256:{}", "a".repeat(64)),
            "toPlanDigest": format!("sha256:{}", "b".repeat(64)),
            "startingInventoryDigest": format!("sha256:{}", "c".repeat(64)),
            "deadline": "2026-10-15T04:00:00Z",
            "actionTimeout": "30m0s",
            "approvalRequired": true,
            "steps": [
                {"release": "gpu-operator", "operation": "Upgrade", "assessment": "Safe"},
                {"release": "kai-scheduler", "operation": "Upgrade", "assessment": "Manual",
                 "postApplySteps": ["reset-breaker", "verify"]},
                {"release": "nvsentinel", "operation": "Upgrade", "assessment": "Manual", "postApplySteps": ["check"]},
            ],
        },
        "status": {"phase": "AwaitingApproval", "approval": "Pending"},
    })
}

/// The fixture after `change`, as the typed object.
pub(crate) fn rollout_with(change: impl FnOnce(&mut Value)) -> RuntimeRollout {
    let mut value = rollout();
    change(&mut value);
    serde_json::from_value(value).unwrap()
}

/// An approval by alice until 03:00.
pub(crate) fn approval() -> Value {
    json!({"approvedBy": "alice", "expiresAt": "2026-10-15T03:00:00Z", "reason": "window"})
}
