//! `kubectl aicr approve`, `revoke` and `acknowledge`, end to end.
use serde_json::{Value, json};
use test_support::{APPROVERS, Identity};

use crate::admission_kit::{NAME, ROLLOUT, ROLLOUTS, World};
use crate::cli_kit::{DEADLINE, Plugin, needs_no_approval, set_outcome, set_status, waiting, world_with};

fn approve<'a>(name: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["approve", name, "--reason", "Maintenance window"], more].concat()
}

async fn approval_of(world: &World) -> Value {
    world.stored().await["spec"]["approval"].clone()
}

/// What somebody asked of the API server: verb, resource and status of each request.
fn asked(world: &World, who: Identity) -> Vec<(String, String, u16)> {
    let audit = world.cluster.audit().by(who);
    audit.iter().map(|request| (request.verb.clone(), request.resource.clone(), request.code)).collect()
}

fn requests(expected: &[(&str, &str, u16)]) -> Vec<(String, String, u16)> {
    expected
        .iter()
        .map(|(verb, resource, code)| ((*verb).to_owned(), (*resource).to_owned(), *code))
        .collect()
}

const WHOAMI: (&str, &str, u16) = ("create", "selfsubjectreviews", 201);
const GET: (&str, &str, u16) = ("get", "runtimerollouts", 200);
const PATCH: (&str, &str, u16) = ("patch", "runtimerollouts", 200);

#[tokio::test]
async fn an_approval_is_in_the_requesters_name_and_lasts_until_the_deadline() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let ran = alice.run(&approve(NAME, &[])).await;
    assert_eq!(ran.done(), format!("rollout {NAME} approved by alice until {DEADLINE}\n"));
    let expected = json!({"approvedBy": "alice", "expiresAt": DEADLINE, "reason": "Maintenance window"});
    assert_eq!(approval_of(&world).await, expected);
    assert_eq!(asked(&world, Identity::Approver), requests(&[WHOAMI, GET, PATCH]));
}

#[tokio::test]
async fn an_approval_lasts_as_long_as_was_asked_for_and_zero_means_until_the_deadline() {
    let world = World::leased().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    for (number, (expires, seconds)) in [
        ("2h", 7200),
        ("1h30m", 5400),
        ("90s", 90),
        ("1ns", 0),
        ("2562047h", 2_562_047 * 3600),
        ("0", -1),
        ("0s", -1),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("rollout-0000000000000000-{number}");
        world.operator.create(ROLLOUTS, &waiting(&name)).await.unwrap();
        let before = now();
        let ran = alice.run(&approve(&name, &["--expires", expires])).await;
        let stored = world.admin.get(&format!("{ROLLOUTS}/{name}")).await.unwrap();
        let until = stored["spec"]["approval"]["expiresAt"].as_str().unwrap();
        assert_eq!(ran.done(), format!("rollout {name} approved by alice until {until}\n"));
        if seconds < 0 {
            assert_eq!(until, DEADLINE, "{expires}");
            continue;
        }
        let until = until.parse::<jiff::Timestamp>().unwrap().as_second();
        let range = before.as_second() + seconds..=now().as_second() + seconds + 1;
        assert!(range.contains(&until), "{expires}: {until} is not within {range:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "compared with what the plugin wrote")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

#[tokio::test]
async fn an_administrator_acting_as_an_approver_approves_in_the_approvers_name() {
    let world = world_with(&[waiting(NAME)]).await;
    let admin = Plugin::of(&world.cluster, Identity::Admin);
    let ran = admin.run(&["--as", "bob", "approve", "--as-group", APPROVERS, NAME, "--reason", "r"]).await;
    assert_eq!(ran.done(), format!("rollout {NAME} approved by bob until {DEADLINE}\n"));
    assert_eq!(approval_of(&world).await["approvedBy"], "bob");
    let audit = world.cluster.audit().by(Identity::Admin);
    let acting: Vec<_> =
        audit.iter().filter(|request| request.user_agent.starts_with("kubectl-aicr/")).collect();
    assert_eq!(acting.len(), 3);
    assert!(acting.iter().all(|request| request.impersonated.as_deref() == Some("bob")), "{acting:?}");
}

#[tokio::test]
async fn a_denial_by_roles_names_who_was_presented_and_changes_nothing() {
    let world = world_with(&[waiting(NAME)]).await;
    let eve = Plugin::of(&world.cluster, Identity::Editor).run(&approve(NAME, &[])).await;
    let forbidden = |user: &str, verb: &str| {
        format!(
            "error: [UNAUTHORIZED] runtimerollouts.operator.aicr.run \"{NAME}\" is forbidden: User \"{user}\" cannot {verb} resource \"runtimerollouts\" in API group \"operator.aicr.run\" at the cluster scope"
        )
    };
    assert_eq!(eve.failed(), forbidden("eve", "patch") + "\n");
    let admin = Plugin::of(&world.cluster, Identity::Admin);
    let ran = admin.run(&approve(NAME, &["--as", "bob"])).await;
    let hint = " (acting as user 'bob' with no groups (--as alone presents none; add --as-group))\n";
    assert_eq!(ran.failed(), forbidden("bob", "get") + hint);
    assert_eq!(approval_of(&world).await, Value::Null);
}

#[tokio::test]
async fn a_denial_by_the_policy_is_quoted_in_full() {
    let world = world_with(&[waiting(NAME)]).await;
    world.let_patch_rollouts(&world.eve).await;
    let ran = Plugin::of(&world.cluster, Identity::Editor).run(&approve(NAME, &[])).await;
    assert_eq!(
        ran.failed(),
        format!(
            "error: [UNAUTHORIZED] runtimerollouts.operator.aicr.run \"{NAME}\" is forbidden: ValidatingAdmissionPolicy \
             'aicr-operator-approval' with binding 'aicr-operator-approval' denied request: changing spec.approval needs update \
             on runtimerollouts/approve (operator.aicr.run): ask an administrator to add you to the approvers, or one of the \
             approvers to do it\n"
        )
    );
    assert_eq!(approval_of(&world).await, Value::Null);
}

/// How a rollout differs from one that waits.
type Difference = fn(&mut Value);

/// A world with a rollout for each name, changed as said.
async fn world_of(rollouts: &[(&str, Difference)]) -> World {
    let rollouts: Vec<Value> = rollouts
        .iter()
        .map(|(name, change)| {
            let mut rollout = waiting(name);
            change(&mut rollout);
            rollout
        })
        .collect();
    world_with(&rollouts).await
}

fn over(value: &mut Value) {
    value["spec"]["deadline"] = "2026-01-01T00:00:00Z".into();
}

fn ended(outcome: &str) -> String {
    format!("it has ended ({outcome}); nothing can be approved, revoked or acknowledged any more")
}

/// Runs a command on each rollout, which must refuse it in these words, and asserts that nothing was written.
async fn assert_refusals(world: &World, command: &[&str], refusals: &[(&str, String)]) {
    let carol = Plugin::of(&world.cluster, Identity::SecondApprover);
    for (name, words) in refusals {
        let ran = carol.run(&[&command[..1], &[*name], &command[1..]].concat()).await;
        assert_eq!(ran.failed(), format!("error: [CONFLICT] rollout {name}: {words}\n"));
    }
    assert!(asked(world, Identity::SecondApprover).iter().all(|(verb, _, _)| verb != "patch"));
}

#[tokio::test]
async fn approve_refuses_what_has_ended_is_approved_needs_no_approval_or_is_past_its_deadline() {
    let world = world_of(&[
        ("labelled", |_| {}),
        ("terminal", |_| {}),
        ("approved", |_| {}),
        ("revoked", |_| {}),
        ("needless", needs_no_approval),
        ("late", over),
    ])
    .await;
    set_outcome(&world, "labelled", "Superseded").await;
    set_status(&world, "terminal", json!({"phase": "Failed"})).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    alice.run(&approve("approved", &[])).await.done();
    alice.run(&approve("revoked", &[])).await.done();
    alice.run(&["revoke", "revoked", "--reason", "stop"]).await.done();
    let approved = format!("it is already approved by alice until {DEADLINE}");
    assert_refusals(
        &world,
        &["approve", "--reason", "r"],
        &[
            ("labelled", ended("Superseded")),
            ("terminal", ended("Failed")),
            ("approved", format!("{approved}; an approval can be neither changed nor extended")),
            (
                "revoked",
                format!("{approved} and revoked by alice; an approval can be neither changed nor extended"),
            ),
            ("needless", "it needs no approval".to_owned()),
            ("late", "its deadline 2026-01-01T00:00:00Z has passed".to_owned()),
        ],
    )
    .await;
    // With an expiry of its own, an approval past the deadline is the operator's to judge.
    alice.run(&approve("late", &["--expires", "1h"])).await.done();
}

#[tokio::test]
async fn revoke_refuses_what_is_not_approved_is_revoked_has_ended_or_is_validating() {
    let world = world_of(&[
        ("labelled", |_| {}),
        ("terminal", |_| {}),
        ("pending", |_| {}),
        ("revoked", |_| {}),
        ("validating", |_| {}),
    ])
    .await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    for name in ["labelled", "terminal", "revoked", "validating"] {
        alice.run(&approve(name, &[])).await.done();
    }
    set_outcome(&world, "labelled", "Succeeded").await;
    set_status(&world, "terminal", json!({"phase": "Expired"})).await;
    set_status(&world, "validating", json!({"phase": "Validating"})).await;
    alice.run(&["revoke", "revoked", "--reason", "stop"]).await.done();
    let at = world.admin.get(&format!("{ROLLOUTS}/revoked")).await.unwrap()["spec"]["approval"]["revokedAt"]
        .clone();
    assert_refusals(
        &world,
        &["revoke", "--reason", "r"],
        &[
            ("labelled", ended("Succeeded")),
            ("terminal", ended("Expired")),
            ("pending", "it is not approved".to_owned()),
            ("revoked", format!("it is already revoked by alice at {}", at.as_str().unwrap())),
            (
                "validating",
                "it is in Validating and can no longer be revoked: every change has been made".to_owned(),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn any_approver_revokes_in_their_own_name_with_time_and_reason() {
    let world = world_with(&[waiting(NAME)]).await;
    Plugin::of(&world.cluster, Identity::Approver).run(&approve(NAME, &[])).await.done();
    let bob = Plugin::of(&world.cluster, Identity::SecondApprover);
    let before = now().as_second();
    let ran = bob.run(&["revoke", NAME, "--reason", "Training job not checkpointed"]).await;
    assert_eq!(ran.done(), format!("rollout {NAME} revoked by bob\n"));
    let mut stored = approval_of(&world).await;
    let at = stored["revokedAt"].take().as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second();
    assert!((before..=now().as_second()).contains(&at));
    assert_eq!(
        stored,
        json!({
            "approvedBy": "alice", "expiresAt": DEADLINE, "reason": "Maintenance window",
            "revokedBy": "bob", "revokedAt": null, "revokeReason": "Training job not checkpointed",
        })
    );
    assert_eq!(asked(&world, Identity::SecondApprover), requests(&[WHOAMI, GET, PATCH]));
}

#[tokio::test]
async fn an_acknowledgement_names_the_release_waited_for_and_the_requester() {
    let world = world_with(&[waiting(NAME)]).await;
    Plugin::of(&world.cluster, Identity::Approver).run(&approve(NAME, &[])).await.done();
    let bob = Plugin::of(&world.cluster, Identity::SecondApprover);
    for release in ["kai-scheduler", "nvsentinel"] {
        let current =
            json!({"release": release, "operation": "Upgrade", "startedAt": "2026-11-30T00:45:00Z"});
        set_status(&world, NAME, json!({"phase": "AwaitingAcknowledgement", "current": current})).await;
        let ran = bob.run(&["acknowledge", NAME]).await;
        assert_eq!(ran.done(), format!("rollout {NAME}: {release} acknowledged by bob\n"));
    }
    let given = approval_of(&world).await["acknowledgements"].clone();
    let given: Vec<_> = given
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["release"].clone(), one["acknowledgedBy"].clone()))
        .collect();
    assert_eq!(given, [(json!("kai-scheduler"), json!("bob")), (json!("nvsentinel"), json!("bob"))]);
    assert_eq!(asked(&world, Identity::SecondApprover), requests(&[WHOAMI, GET, PATCH, WHOAMI, GET, PATCH]));
}

#[tokio::test]
async fn acknowledge_refuses_a_rollout_that_is_not_waiting_for_one() {
    let world = world_of(&[
        ("fresh", |_| {}),
        ("progressing", |_| {}),
        ("labelled", |_| {}),
        ("unapproved", |_| {}),
        ("given", |_| {}),
    ])
    .await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    for name in ["progressing", "labelled", "given"] {
        alice.run(&approve(name, &[])).await.done();
    }
    let current =
        json!({"release": "kai-scheduler", "operation": "Upgrade", "startedAt": "2026-11-30T00:45:00Z"});
    let awaiting = json!({"phase": "AwaitingAcknowledgement", "current": current});
    set_status(&world, "progressing", json!({"phase": "Progressing"})).await;
    for name in ["unapproved", "given", "labelled"] {
        set_status(&world, name, awaiting.clone()).await;
    }
    set_outcome(&world, "labelled", "Failed").await;
    alice.run(&["acknowledge", "given"]).await.done();
    assert_refusals(&world, &["acknowledge"], &[
        ("fresh", "it does not wait for an acknowledgement (phase Pending)".to_owned()),
        ("progressing", "it does not wait for an acknowledgement (phase Progressing)".to_owned()),
        ("labelled", ended("Failed")),
        ("unapproved", "it is not approved".to_owned()),
        ("given", "the steps of kai-scheduler are already acknowledged by alice; the rollout continues by itself".to_owned()),
    ])
    .await;
}

#[tokio::test]
async fn a_rollout_that_waits_on_is_acknowledged_although_its_approval_was_revoked() {
    let world = world_of(&[(NAME, |_| {})]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    alice.run(&approve(NAME, &[])).await.done();
    alice.run(&["revoke", NAME, "--reason", "stop"]).await.done();
    let current =
        json!({"release": "kai-scheduler", "operation": "Upgrade", "startedAt": "2026-11-30T00:45:00Z"});
    set_status(&world, NAME, json!({"phase": "AwaitingAcknowledgement", "current": current})).await;
    let ran = alice.run(&["acknowledge", NAME]).await;
    assert_eq!(ran.done(), format!("rollout {NAME}: kai-scheduler acknowledged by alice\n"));
}

#[tokio::test]
async fn a_reason_of_the_longest_length_is_kept_to_the_letter() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let reason = "é".repeat(1023) + "\"";
    alice.run(&["approve", NAME, "--reason", &reason]).await.done();
    assert_eq!(approval_of(&world).await["reason"], reason);
    let reason = "-stop ".repeat(170) + "now!";
    alice.run(&["revoke", NAME, &format!("--reason={reason}")]).await.done();
    assert_eq!(approval_of(&world).await["revokeReason"], reason);
}

#[tokio::test]
async fn nobody_needs_a_right_that_is_not_documented() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    alice.run(&["describe", NAME]).await.done();
    alice.run(&approve(NAME, &[])).await.done();
    set_status(&world, NAME, json!({"phase": "AwaitingAcknowledgement"})).await;
    alice.run(&["acknowledge", NAME]).await.done();
    alice.run(&["revoke", NAME, "--reason", "stop"]).await.done();
    alice.run(&["version"]).await.done();
    let audit = world.cluster.audit().by(Identity::Approver);
    let denied: Vec<_> = audit.iter().filter(|request| request.code >= 400).collect();
    assert!(denied.is_empty(), "{denied:?}");
    assert!(audit.iter().all(|request| request.user_agent.starts_with("kubectl-aicr/")), "{audit:?}");
    assert_eq!(world.cluster.audit().writes().by(Identity::Approver).len(), 3);
    let paths: Vec<_> = audit.writes().iter().map(|request| request.uri.clone()).collect();
    let expected = format!("{ROLLOUT}?&fieldManager=kubectl-aicr&fieldValidation=Strict");
    assert!(paths.iter().all(|path| *path == expected), "{paths:?}");
}
