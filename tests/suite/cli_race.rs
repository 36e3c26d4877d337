//! `approve`, `revoke` and `acknowledge` when others write at the same moment, and when answers get lost.
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::Identity;
use tokio::sync::Barrier;

use crate::admission_kit::{NAME, Person, ROLLOUT, ROLLOUTS, World, approval_in_name};
use crate::cli_front::{Asked, Fate, Front};
use crate::cli_kit::{DEADLINE, Plugin, set_status, waiting, world_with};

const APPROVE: [&str; 4] = ["approve", NAME, "--reason", "window"];

/// What `approve` prints for alice.
fn approved() -> String {
    format!("rollout {NAME} approved by alice until {DEADLINE}\n")
}

/// The refusal of what somebody has approved.
fn already_approved(name: &str, by: &str) -> String {
    format!(
        "error: [CONFLICT] rollout {name}: it is already approved by {by} until {DEADLINE}; an approval can be neither changed nor extended\n"
    )
}

/// The operator changes a label, which moves the resourceVersion.
async fn touch(operator: &Person, value: usize) {
    let label = json!({"metadata": {"labels": {"example.com/touched": format!("{value}")}}});
    operator.merge(ROLLOUT, &label).await.unwrap();
}

async fn approval_of(world: &World) -> Value {
    world.stored().await["spec"]["approval"].clone()
}

/// How the API server answered the patches so far.
fn patches(world: &World) -> Vec<u16> {
    let patches = world.cluster.audit().verb("patch").resource("runtimerollouts");
    patches
        .iter()
        .filter(|request| request.user_agent.starts_with("kubectl-aicr/"))
        .map(|request| request.code)
        .collect()
}

#[tokio::test]
async fn of_two_who_approve_at_the_same_moment_exactly_one_succeeds_and_the_other_learns_who_did() {
    const ROUNDS: usize = 20;
    let world = World::leased().await;
    // Both have read and judged the rollout before either writes.
    let barrier = Arc::new(Barrier::new(2));
    let meet = move |asked: Asked| {
        let barrier = barrier.clone();
        async move {
            if asked.method == "PATCH" {
                barrier.wait().await;
            }
            Fate::Pass
        }
    };
    let one = Front::of(&world.cluster, Identity::Approver, meet.clone()).await;
    let other = Front::of(&world.cluster, Identity::SecondApprover, meet).await;
    let (alice, bob) = (one.plugin(), other.plugin());
    for round in 0..ROUNDS {
        let name = format!("rollout-0000000000000000-{round}");
        world.operator.create(ROLLOUTS, &waiting(&name)).await.unwrap();
        let line = ["approve", &name, "--reason", "window"];
        let (first, second) = tokio::join!(alice.run(&line), bob.run(&line));
        let (winner, won, lost) =
            if first.code == Some(0) { ("alice", first, second) } else { ("bob", second, first) };
        assert_eq!(won.done(), format!("rollout {name} approved by {winner} until {DEADLINE}\n"));
        assert_eq!(lost.failed(), already_approved(&name, winner));
        let stored = world.admin.get(&format!("{ROLLOUTS}/{name}")).await.unwrap();
        assert_eq!(stored["spec"]["approval"]["approvedBy"], winner);
    }
    let codes = patches(&world);
    let count = |code| codes.iter().filter(|found| **found == code).count();
    assert_eq!((count(200), count(409)), (ROUNDS, ROUNDS), "every round was a race");
}

#[tokio::test]
async fn a_change_of_something_else_at_the_same_moment_costs_another_attempt_and_no_more() {
    let world = world_with(&[waiting(NAME)]).await;
    let operator = world.operator.clone();
    let front = Front::of(&world.cluster, Identity::Approver, move |asked| {
        let operator = operator.clone();
        async move {
            if asked.method == "PATCH" && asked.before < 3 {
                touch(&operator, asked.before).await;
            }
            Fate::Pass
        }
    })
    .await;
    assert_eq!(front.plugin().run(&APPROVE).await.done(), approved());
    assert_eq!(patches(&world), [409, 409, 409, 200]);
    assert_eq!(world.stored().await["metadata"]["labels"]["example.com/touched"], "2");
}

#[tokio::test]
async fn what_happened_meanwhile_is_judged_before_the_next_attempt() {
    let world = world_with(&[waiting(NAME)]).await;
    let operator = world.operator.clone();
    let front = Front::of(&world.cluster, Identity::Approver, move |asked| {
        let operator = operator.clone();
        async move {
            if asked.method == "PATCH" {
                let label = json!({"metadata": {"labels": {"operator.aicr.run/outcome": "Superseded"}}});
                operator.merge(ROLLOUT, &label).await.unwrap();
            }
            Fate::Pass
        }
    })
    .await;
    assert_eq!(
        front.plugin().run(&APPROVE).await.failed(),
        format!(
            "error: [CONFLICT] rollout {NAME}: it has ended (Superseded); nothing can be approved, revoked or acknowledged any more\n"
        )
    );
    assert_eq!(patches(&world), [409]);
    assert_eq!(approval_of(&world).await, Value::Null);
}

#[tokio::test]
async fn conflicts_without_end_end_with_the_deadline() {
    let world = world_with(&[waiting(NAME)]).await;
    let operator = world.operator.clone();
    let front = Front::of(&world.cluster, Identity::Approver, move |asked| {
        let operator = operator.clone();
        async move {
            if asked.method == "PATCH" {
                touch(&operator, asked.before).await;
            }
            Fate::Pass
        }
    })
    .await;
    let began = Instant::now();
    let ran = front.plugin().run(&[&APPROVE[..], &["--request-timeout", "1s"]].concat()).await;
    let error = ran.failed();
    assert!(error.starts_with("error: [TIMEOUT] no answer from http://127.0.0.1:"), "{error}");
    assert!(
        error.contains(" within 1s") && error.contains("; before, others changed the rollout "),
        "{error}"
    );
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(approval_of(&world).await, Value::Null);
}

#[tokio::test]
async fn a_rollout_that_is_made_anew_between_reading_and_writing_is_not_approved() {
    let world = world_with(&[waiting(NAME)]).await;
    let operator = world.operator.clone();
    let front = Front::of(&world.cluster, Identity::Approver, move |asked| {
        let operator = operator.clone();
        async move {
            if asked.method == "PATCH" && asked.before == 0 {
                operator.delete(ROLLOUT).await.unwrap();
                operator.create(ROLLOUTS, &waiting(NAME)).await.unwrap();
            }
            Fate::Pass
        }
    })
    .await;
    assert_eq!(
        front.plugin().run(&APPROVE).await.failed(),
        format!(
            "error: [CONFLICT] rollout {NAME} was deleted and created again meanwhile; look at the new one\n"
        )
    );
    assert_eq!(approval_of(&world).await, Value::Null);
}

/// A front that does this to patches.
async fn front_for_patches(world: &World, fate: Fate) -> Front {
    Front::of(&world.cluster, Identity::Approver, move |asked| {
        let fate = if asked.method == "PATCH" { fate.clone() } else { Fate::Pass };
        async move { fate }
    })
    .await
}

#[tokio::test]
async fn an_approval_a_revocation_and_an_acknowledgement_whose_answers_get_lost_are_looked_up_and_succeed() {
    let world = world_with(&[waiting(NAME)]).await;
    let front = front_for_patches(&world, Fate::LoseAnswer).await;
    assert_eq!(front.plugin().run(&APPROVE).await.done(), approved());
    set_status(&world, NAME, json!({"phase": "AwaitingAcknowledgement"})).await;
    let ran = front.plugin().run(&["acknowledge", NAME]).await;
    assert_eq!(ran.done(), format!("rollout {NAME}: kai-scheduler acknowledged by alice\n"));
    let ran = front.plugin().run(&["revoke", NAME, "--reason", "stop"]).await;
    assert_eq!(ran.done(), format!("rollout {NAME} revoked by alice\n"));
    assert_eq!(patches(&world), [200, 200, 200], "nothing was sent twice");
}

#[tokio::test]
async fn an_answer_of_a_gateway_that_failed_is_no_proof_that_nothing_was_written() {
    for (code, body) in [(502, "<html>bad gateway</html>"), (504, "<html>timeout</html>"), (500, "")] {
        let world = world_with(&[waiting(NAME)]).await;
        let front = front_for_patches(&world, Fate::Disguise(code, body.to_owned())).await;
        assert_eq!(front.plugin().run(&APPROVE).await.done(), approved(), "{code}");
        assert_eq!(patches(&world), [200]);
    }
}

#[tokio::test]
async fn a_request_that_got_lost_is_a_failure_that_says_so() {
    let world = world_with(&[waiting(NAME)]).await;
    let front = front_for_patches(&world, Fate::LoseRequest).await;
    let ran = front.plugin().run(&APPROVE).await;
    let error = ran.failed();
    assert!(error.starts_with("error: [SERVICE_UNAVAILABLE] cannot reach http://127.0.0.1:"), "{error}");
    assert!(error.contains("is not known"), "the request may still be on its way: {error}");
    assert_eq!(approval_of(&world).await, Value::Null);
}

#[tokio::test]
async fn when_the_answer_and_the_look_up_get_lost_the_error_says_that_nothing_is_sure() {
    let world = world_with(&[waiting(NAME)]).await;
    let front = Front::of(&world.cluster, Identity::Approver, |asked| async move {
        match (asked.method.as_str(), asked.before) {
            ("PATCH", _) | ("GET", 1..) => Fate::LoseAnswer,
            _ => Fate::Pass,
        }
    })
    .await;
    let ran = front.plugin().run(&APPROVE).await;
    let error = ran.failed();
    let words = format!("; whether the change was made is not known: see kubectl aicr describe {NAME}\n");
    assert!(
        error.starts_with("error: [SERVICE_UNAVAILABLE] cannot reach ") && error.ends_with(&words),
        "{error}"
    );
    assert_eq!(approval_of(&world).await["approvedBy"], "alice");
}

#[tokio::test]
async fn a_write_that_is_never_answered_ends_with_the_deadline_and_nothing_is_sure() {
    let world = world_with(&[waiting(NAME)]).await;
    let front = front_for_patches(&world, Fate::Hang).await;
    let began = Instant::now();
    let ran = front.plugin().run(&[&APPROVE[..], &["--request-timeout", "1s"]].concat()).await;
    let error = ran.failed();
    let words =
        format!(" within 1s; whether the change was made is not known: see kubectl aicr describe {NAME}\n");
    assert!(error.starts_with("error: [TIMEOUT] no answer from ") && error.ends_with(&words), "{error}");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_lost_answer_is_no_success_when_somebody_else_approved() {
    let world = world_with(&[waiting(NAME)]).await;
    let bob = world.bob.clone();
    let front = Front::of(&world.cluster, Identity::Approver, move |asked| {
        let bob = bob.clone();
        async move {
            if asked.method != "PATCH" {
                return Fate::Pass;
            }
            bob.merge(ROLLOUT, &approval_in_name("bob")).await.unwrap();
            Fate::LoseAnswer
        }
    })
    .await;
    let ran = front.plugin().run(&APPROVE).await;
    assert_eq!(ran.failed(), already_approved(NAME, "bob").replace(DEADLINE, "2026-12-15T04:00:00Z"));
}

#[tokio::test]
async fn a_lost_answer_to_a_refused_write_leads_to_another_attempt() {
    let world = world_with(&[waiting(NAME)]).await;
    let operator = world.operator.clone();
    let front = Front::of(&world.cluster, Identity::Approver, move |asked| {
        let operator = operator.clone();
        async move {
            if asked.method != "PATCH" || asked.before > 0 {
                return Fate::Pass;
            }
            touch(&operator, 0).await;
            Fate::LoseAnswer
        }
    })
    .await;
    assert_eq!(front.plugin().run(&APPROVE).await.done(), approved());
    assert_eq!(patches(&world), [409, 200]);
}

#[tokio::test]
async fn a_rollout_that_begins_to_validate_just_then_is_not_revoked() {
    let world = world_with(&[waiting(NAME)]).await;
    Plugin::of(&world.cluster, Identity::SecondApprover).run(&APPROVE).await.done();
    let operator = world.operator.clone();
    let front = Front::of(&world.cluster, Identity::Approver, move |asked| {
        let operator = operator.clone();
        async move {
            if asked.method == "PATCH" {
                let status = json!({"status": {"phase": "Validating"}});
                operator.merge(&format!("{ROLLOUT}/status"), &status).await.unwrap();
            }
            Fate::Pass
        }
    })
    .await;
    assert_eq!(
        front.plugin().run(&["revoke", NAME, "--reason", "stop"]).await.failed(),
        format!(
            "error: [CONFLICT] rollout {NAME}: it is in Validating and can no longer be revoked: every change has been made\n"
        )
    );
    assert_eq!(approval_of(&world).await["revokedBy"], Value::Null);
}
