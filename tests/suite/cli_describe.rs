//! `kubectl aicr describe`, end to end.
use serde_json::{Value, json};
use test_support::Identity;

use crate::admission_kit::{CONFIG_MAPS, NAME, ROLLOUT, ROLLOUTS, World, approval_by};
use crate::cli_kit::{
    Plugin, REPORT, golden, report, report_map, set_outcome, set_status, upgrade, waiting, world_with,
    world_with_upgrade,
};

#[tokio::test]
async fn an_approver_sees_all_that_there_is_to_decide_on() {
    let world = world_with_upgrade().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    golden!(alice.run(&["describe", NAME]).await);
}

#[tokio::test]
async fn a_rollout_under_way_shows_its_approval_steps_and_acknowledgements() {
    let world = world_with_upgrade().await;
    world.alice.merge(ROLLOUT, &approval_by(&world.alice)).await.unwrap();
    set_status(&world, NAME, json!({
        "phase": "AwaitingAcknowledgement", "approval": "Approved", "message": "release nvsentinel waits",
        "current": {"release": "nvsentinel", "operation": "Upgrade", "startedAt": "2026-11-30T00:45:00Z"},
        "releases": [{"id": "gpu-operator", "state": "Ready", "revision": format!("sha256:{}", "1".repeat(64))},
                     {"id": "gpu-operator-readiness", "state": "Failed"}],
    })).await;
    let bob = Plugin::of(&world.cluster, Identity::SecondApprover);
    bob.run(&["acknowledge", NAME]).await.done();
    golden!(bob.run(&["describe", NAME]).await);
}
