//! `kubectl aicr` with a person in front of it.
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{APPROVERS, Identity};

use crate::admission_kit::{CONFIG_MAPS, NAME, ROLLOUT, ROLLOUTS, World};
use crate::cli_front::{Fate, Front};
use crate::cli_kit::{
    DEADLINE, Plugin, REPORT, Ran, golden, report, report_map, set_outcome, upgrade, waiting, world_with,
    world_with_upgrade,
};

const APPROVE: [&str; 4] = ["approve", NAME, "--reason", "window"];
const REVOKE: [&str; 4] = ["revoke", NAME, "--reason", "stop"];
const NOT_CONFIRMED: &str = "error: [CANCELED] not confirmed\n";

async fn approval_of(world: &World) -> Value {
    world.stored().await["spec"]["approval"].clone()
}

/// Starts a command, waits for its question, types the answer and waits for the end.
async fn answered(plugin: &Plugin, line: &[&str], answer: &str) -> Ran {
    let mut terminal = plugin.on_terminal(line, true);
    terminal.shows("[y/N]").await;
    terminal.types(answer).await;
    terminal.ends().await
}

#[tokio::test]
async fn approve_shows_what_is_bound_and_asks() {
    let world = world_with_upgrade().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver).with("TERM", "xterm").with("NO_COLOR", "1");
    let ran = answered(&alice, &APPROVE, "y\n").await;
    golden!(&ran);
    assert_eq!(ran.stdout, format!("rollout {NAME} approved by alice until {DEADLINE}\n"));
    assert_eq!(approval_of(&world).await["approvedBy"], "alice");
}

#[tokio::test]
async fn the_question_fits_the_terminal() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver).with("TERM", "dumb");
    let mut terminal = alice.on_wide_terminal(60, &APPROVE, true);
    terminal.shows("[y/N]").await;
    terminal.types("n\n").await;
    let ran = terminal.ends().await;
    let question: Vec<_> = ran.stderr.lines().skip_while(|line| !line.starts_with("Approve ")).collect();
    assert!(question[0].chars().count() <= 60 && question[1].contains("[y/N] n"), "{ran}");
}

#[tokio::test]
async fn revoke_shows_the_approval_and_asks() {
    let world = world_with_upgrade().await;
    Plugin::of(&world.cluster, Identity::Approver).run(&APPROVE).await.done();
    let bob = Plugin::of(&world.cluster, Identity::SecondApprover).with("TERM", "dumb");
    let ran = answered(&bob, &REVOKE, "yes\n").await;
    golden!(&ran);
    assert_eq!(ran.stdout, format!("rollout {NAME} revoked by bob\n"));
    assert_eq!(approval_of(&world).await["revokedBy"], "bob");
}

#[tokio::test]
async fn whatever_is_no_yes_changes_nothing() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    // The last two are the end of input, at once and before the answer was entered.
    for answer in ["n\n", "\n", "no\n", "yess\n", "y y\n", "\u{4}", "y\u{4}\u{4}"] {
        let ran = answered(&alice, &APPROVE, answer).await;
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran}");
        assert!(ran.stderr.ends_with(NOT_CONFIRMED), "{answer:?}: {ran}");
    }
    assert_eq!(approval_of(&world).await, Value::Null);
    alice.run(&APPROVE).await.done();
    let before = world.stored().await;
    let ran = answered(&alice, &REVOKE, "n\n").await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.ends_with(NOT_CONFIRMED), "{ran}");
    assert_eq!(world.stored().await, before);
}

#[tokio::test]
async fn the_error_of_an_unanswered_question_starts_a_line() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let ran = answered(&alice, &APPROVE, "\u{4}").await;
    assert_eq!(ran.stderr.lines().last(), Some(NOT_CONFIRMED.trim_end()), "{ran}");
}

#[tokio::test]
async fn yes_skips_the_question_and_the_summary() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let ran = alice.on_terminal(&[&APPROVE[..], &["--yes"]].concat(), true).ends().await;
    assert_eq!(ran.done(), format!("rollout {NAME} approved by alice until {DEADLINE}\n"));
    let ran = alice.on_terminal(&[&["-y"], &REVOKE[..]].concat(), true).ends().await;
    assert_eq!(ran.done(), format!("rollout {NAME} revoked by alice\n"));
}

#[tokio::test]
async fn a_script_is_never_asked_also_when_only_one_stream_is_a_terminal() {
    let world = world_with(&[waiting("piped"), waiting("no-input"), waiting("no-errors")]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    alice.run(&["approve", "piped", "--reason", "r"]).await.done();
    for (name, redirect) in [("no-input", "</dev/null"), ("no-errors", "2>/dev/null")] {
        let line = format!("kubectl-aicr approve {name} --reason r {redirect}");
        let ran = alice.bash(&format!("script -qec '{line}' /dev/null </dev/null")).await;
        assert_eq!(
            ran.done().replace('\r', ""),
            format!("rollout {name} approved by alice until {DEADLINE}\n")
        );
    }
}

#[tokio::test]
async fn what_is_refused_anyway_is_not_asked_about() {
    let world = world_with(&[waiting(NAME)]).await;
    set_outcome(&world, NAME, "Failed").await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let ran = alice.on_terminal(&APPROVE, true).ends().await;
    assert_eq!(
        ran.failed(),
        format!(
            "error: [CONFLICT] rollout {NAME}: it has ended (Failed); nothing can be approved, revoked or acknowledged any more\n"
        )
    );
    alice.on_terminal(&["approve", NAME], true).ends().await.misused();
}

#[tokio::test]
async fn a_rollout_that_is_made_anew_while_a_person_thinks_is_not_approved() {
    let world = world_with(&[waiting(NAME)]).await;
    let mut terminal = Plugin::of(&world.cluster, Identity::Approver).on_terminal(&APPROVE, true);
    terminal.shows("[y/N]").await;
    world.operator.delete(ROLLOUT).await.unwrap();
    world.operator.create(ROLLOUTS, &upgrade()).await.unwrap();
    terminal.types("y\n").await;
    let ran = terminal.ends().await;
    let error = format!(
        "error: [CONFLICT] rollout {NAME} was deleted and created again meanwhile; look at the new one\n"
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran}");
    assert!(ran.stderr.ends_with(&error), "{ran}");
    assert_eq!(approval_of(&world).await, Value::Null);
}

#[tokio::test]
async fn what_happens_while_a_person_thinks_is_judged_after_the_answer() {
    let world = world_with(&[waiting(NAME), waiting("gone")]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let mut terminal = alice.on_terminal(&APPROVE, true);
    terminal.shows("[y/N]").await;
    Plugin::of(&world.cluster, Identity::SecondApprover).run(&APPROVE).await.done();
    terminal.types("y\n").await;
    let ran = terminal.ends().await;
    let error = format!(
        "error: [CONFLICT] rollout {NAME}: it is already approved by bob until {DEADLINE}; an approval can be neither changed nor extended\n"
    );
    assert!(ran.code == Some(1) && ran.stderr.ends_with(&error), "{ran}");

    let mut terminal = alice.on_terminal(&["approve", "gone", "--reason", "r"], true);
    terminal.shows("[y/N]").await;
    world.operator.delete(&format!("{ROLLOUTS}/gone")).await.unwrap();
    terminal.types("y\n").await;
    let ran = terminal.ends().await;
    let error = "error: [NOT_FOUND] runtimerollouts.operator.aicr.run \"gone\" not found\n";
    assert!(ran.code == Some(1) && ran.stderr.ends_with(error), "{ran}");
}

#[tokio::test]
async fn a_person_may_think_for_longer_than_the_deadline_and_than_the_server_keeps_the_connection() {
    let world = world_with(&[waiting(NAME)]).await;
    let idle = Duration::from_millis(300);
    let front =
        Front::closing_idle_after(idle, &world.cluster, Identity::Approver, |_| async { Fate::Pass }).await;
    let mut terminal =
        front.plugin().on_terminal(&[&APPROVE[..], &["--request-timeout", "1s"]].concat(), true);
    terminal.shows("[y/N]").await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    terminal.types("y\n").await;
    let ran = terminal.ends().await;
    assert_eq!(
        (ran.code, ran.stdout),
        (Some(0), format!("rollout {NAME} approved by alice until {DEADLINE}\n"))
    );
}

#[tokio::test]
async fn colour_is_for_terminals_that_want_it() {
    let world = world_with(&[waiting(NAME)]).await;
    world
        .operator
        .merge(&format!("{ROLLOUT}/status"), &json!({"status": {"phase": "AwaitingApproval"}}))
        .await
        .unwrap();
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    for (variables, colour) in [
        (&[("TERM", "xterm")][..], true),
        (&[("TERM", "xterm"), ("NO_COLOR", "")], true),
        (&[("TERM", "xterm"), ("NO_COLOR", "1")], false),
        (&[("TERM", "dumb")], false),
    ] {
        let plugin = variables.iter().fold(alice.clone(), |plugin, (name, value)| plugin.with(name, value));
        for line in [&["describe", NAME][..], &["help"], &["nonsense"]] {
            let ran = plugin.on_terminal(line, false).ends().await;
            assert_eq!(ran.stdout.contains('\u{1b}'), colour, "{variables:?} {ran}");
        }
        let mut terminal = plugin.on_terminal(&APPROVE, true);
        let question = terminal.shows("[y/N]").await;
        assert_eq!(question.contains('\u{1b}'), colour, "{variables:?} {question}");
        terminal.types("n\n").await;
        terminal.ends().await;
    }
}

#[tokio::test]
async fn lines_fit_the_terminal_unless_they_are_a_single_word() {
    let world = World::leased().await;
    let mut rollout = upgrade();
    let longest = "x".repeat(53);
    rollout["spec"]["steps"][2]["release"] = longest.as_str().into();
    rollout["spec"]["steps"][2]["postApplySteps"] =
        json!(["y".repeat(63), "verify-the-definition-of-the-health-event"]);
    rollout["spec"]["steps"][4]["release"] = "z".repeat(53).into();
    rollout["spec"]["steps"][4]["uid"] = "0b7f3f0a-6a0e-4f0e-9d52-1f6f5f1f2a10".into();
    world.operator.create(ROLLOUTS, &rollout).await.unwrap();
    let admin = Plugin::of(&world.cluster, Identity::Admin).with("TERM", "dumb");
    let user = "arn:aws:sts::123456789012:assumed-role/PlatformAdministrators/somebody@example.com";
    let acting = ["--as", user, "--as-group", APPROVERS];
    admin.run(&[&APPROVE[..], &acting].concat()).await.done();
    world
        .operator
        .merge(
            &format!("{ROLLOUT}/status"),
            &json!({"status": {"phase": "AwaitingAcknowledgement", "message": "word ".repeat(60)}}),
        )
        .await
        .unwrap();
    admin.run(&[&["acknowledge", NAME], &acting[..]].concat()).await.done();
    for with in ["", "with a report"] {
        if !with.is_empty() {
            world.operator.create(CONFIG_MAPS, &report_map(REPORT, &report())).await.unwrap();
        }
        let piped = admin.run(&["describe", NAME]).await;
        for columns in [60, 80, 100, 200] {
            let ran = admin.on_wide_terminal(columns, &["describe", NAME], false).ends().await;
            let fits = |line: &&str| {
                line.chars().count() <= usize::from(columns) || line.split_whitespace().count() == 1
            };
            let long: Vec<_> = ran.done().lines().filter(|line| !fits(line)).collect();
            assert!(long.is_empty(), "{columns}: {long:#?}");
            // Nothing of it is lost, though cells of a table may be broken.
            let letters = |text: &str| {
                let mut all: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
                all.sort_unstable();
                all
            };
            let before = |text: &str| text.split("Acknowledged:").next().map(letters);
            assert!(before(ran.done()) == before(piped.done()), "{columns}: {ran}\n{piped}");
            for word in ["0b7f3f0a-6a0e-4f0e-9d52-1f6f5f1f2a10", "2099-12-15T04:00:00Z,", user] {
                let is_there = ran.done().split_whitespace().any(|found| found == word);
                assert!(is_there, "{word} is to be copied from the screen: {ran}");
            }
        }
    }
}

#[tokio::test]
async fn the_expiry_that_is_shown_is_bound_however_long_the_answer_takes() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let line = [&APPROVE[..], &["--expires", "1h"]].concat();
    let mut terminal = alice.on_terminal(&line, true);
    terminal.shows("[y/N]").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    terminal.types("y\n").await;
    let ran = terminal.ends().await;
    let bound = approval_of(&world).await["expiresAt"].as_str().unwrap().to_owned();
    assert!(ran.stderr.contains(&format!("as alice until {bound}, in 1h")), "{bound}: {ran}");
}

#[tokio::test]
async fn an_expiry_that_passed_during_the_question_is_not_bound() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let line = [&APPROVE[..], &["--expires", "1s"]].concat();
    let mut terminal = alice.on_terminal(&line, true);
    terminal.shows("[y/N]").await;
    tokio::time::sleep(Duration::from_millis(2500)).await;
    terminal.types("y\n").await;
    let ran = terminal.ends().await;
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("passed before the approval was given; approve again"), "{ran}");
    assert_eq!(approval_of(&world).await, Value::Null);
}
