//! Every state and boundary instant of an approval, and every refusal.

#![expect(clippy::type_complexity, reason = "a table's rows say what they are better than a name would")]

use serde_json::{Value, json};

use super::{Enforcement, Refusal, may_acknowledge, may_approve, may_revoke, state};
use crate::api::fixtures::{approval, at, rollout_with};
use crate::api::{ApprovalState, Code, GoDuration, Phase, RuntimeRollout};

fn approved(value: &mut Value) {
    value["spec"]["approval"] = approval();
}

fn revoked(value: &mut Value) {
    approved(value);
    let given = &mut value["spec"]["approval"];
    given["revokedBy"] = "bob".into();
    given["revokedAt"] = "2026-10-15T01:00:00Z".into();
    given["revokeReason"] = "stop".into();
}

fn not_required(value: &mut Value) {
    value["spec"]["approvalRequired"] = false.into();
}

fn ended(value: &mut Value) {
    value["metadata"]["labels"]["operator.aicr.run/outcome"] = "Superseded".into();
}

fn awaiting_acknowledgement(value: &mut Value) {
    approved(value);
    value["status"] = json!({
        "phase": "AwaitingAcknowledgement",
        "current": {"release": "kai-scheduler", "operation": "Upgrade", "startedAt": "2026-10-15T01:00:00Z"},
    });
}

#[test]
fn the_state_of_an_approval_follows_the_table_at_every_boundary() {
    use ApprovalState::{Approved, Bypassed, Expired, NotRequired, Pending, Revoked};
    use Enforcement::{Bypassed as Off, Enforced as On};
    let pending: fn(&mut Value) = |_| {};
    let emptied: fn(&mut Value) = |value| {
        approved(value);
        let given = &mut value["spec"]["approval"];
        (given["revokedBy"], given["revokedAt"], given["revokeReason"]) = ("".into(), "".into(), "".into());
    };
    let both: fn(&mut Value) = |value| {
        not_required(value);
        revoked(value);
    };
    let needless: fn(&mut Value) = |value| {
        not_required(value);
        approved(value);
    };
    let table: &[(&str, fn(&mut Value), Enforcement, &str, ApprovalState)] = &[
        ("nobody approved yet", pending, On, "00:00:00", Pending),
        ("a second before the deadline", pending, On, "03:59:59", Pending),
        ("at the deadline", pending, On, "04:00:00", Expired),
        ("after the deadline", pending, On, "05:00:00", Expired),
        ("bypassed", pending, Off, "00:00:00", Bypassed),
        ("bypassed after the deadline", pending, Off, "05:00:00", Bypassed),
        ("approved", approved, On, "00:00:00", Approved),
        ("approved although bypassed", approved, Off, "00:00:00", Approved),
        ("a second before the expiry", approved, On, "02:59:59", Approved),
        ("at the expiry", approved, On, "03:00:00", Expired),
        ("after the expiry", approved, On, "03:00:01", Expired),
        ("an empty revocation is unset", emptied, On, "00:00:00", Approved),
        ("revoked", revoked, On, "00:00:00", Revoked),
        ("revoked and past its expiry", revoked, On, "05:00:00", Revoked),
        ("revoked although not required", both, On, "00:00:00", Revoked),
        ("not required", not_required, On, "00:00:00", NotRequired),
        ("not required after the deadline", not_required, On, "05:00:00", NotRequired),
        ("approved although not required, past its expiry", needless, On, "05:00:00", NotRequired),
    ];
    for (name, change, enforcement, clock, expected) in table {
        assert_eq!(state(&rollout_with(change), *enforcement, at(clock)), *expected, "{name}");
    }
}

#[test]
fn the_recorded_enforcement_is_what_the_controller_wrote() {
    let bypassed = rollout_with(|value| value["status"]["approval"] = "Bypassed".into());
    assert_eq!(Enforcement::recorded(&bypassed), Enforcement::Bypassed);
    let lost = rollout_with(|value| value["status"] = Value::Null);
    assert_eq!(Enforcement::recorded(&lost), Enforcement::Enforced);
}

#[test]
fn an_approval_lasts_until_the_deadline_or_for_the_time_asked() {
    let rollout = rollout_with(|_| {});
    let minutes = |count: i64| Some(GoDuration::from_secs(count * 60));
    for (expires, now, until) in [
        (None, "00:00:00", "04:00:00"),
        (Some(GoDuration::default()), "00:00:00", "04:00:00"),
        (minutes(120), "00:00:00", "02:00:00"),
        (minutes(300), "00:00:00", "05:00:00"),
        (minutes(1), "00:00:00.25", "00:01:01"),
        (minutes(1), "04:30:00", "04:31:00"),
    ] {
        assert_eq!(may_approve(&rollout, expires, at(now)), Ok(at(until)), "{expires:?} at {now}");
    }
}

#[test]
fn what_cannot_be_approved_is_refused_for_its_first_reason() {
    let plain: fn(&mut Value) = |_| {};
    let ended_and_approved: fn(&mut Value) = |value| {
        approved(value);
        ended(value);
    };
    let already = |revoked_by: Option<&str>| Refusal::AlreadyApproved {
        by: "alice".into(),
        until: at("03:00:00"),
        revoked_by: revoked_by.map(str::to_owned),
    };
    let table: &[(fn(&mut Value), Option<i64>, &str, Refusal)] = &[
        (ended, None, "00:00:00", Refusal::Ended("Superseded".into())),
        (ended_and_approved, None, "00:00:00", Refusal::Ended("Superseded".into())),
        (approved, None, "00:00:00", already(None)),
        (revoked, None, "00:00:00", already(Some("bob"))),
        (not_required, None, "00:00:00", Refusal::NotRequired),
        (plain, None, "04:00:00", Refusal::DeadlinePassed(at("04:00:00"))),
        (plain, Some(-1), "00:00:00", Refusal::NegativeExpiry),
    ];
    for (change, expires, now, refusal) in table {
        let result = may_approve(&rollout_with(change), expires.map(GoDuration::from_secs), at(now));
        assert_eq!(result.as_ref(), Err(refusal));
    }
}

#[test]
fn an_expiry_that_the_api_cannot_hold_is_refused() {
    let rollout = rollout_with(|_| {});
    let now = crate::api::Time("2900-01-01T00:00:00Z".parse().unwrap());
    let century = GoDuration::from_secs(110 * 366 * 24 * 3600);
    assert_eq!(may_approve(&rollout, Some(century), now), Err(Refusal::ExpiryOutOfRange));
}

#[test]
fn every_terminal_phase_and_every_outcome_label_ends_a_rollout() {
    for phase in ["Succeeded", "Failed", "Expired", "Revoked", "Superseded", "Orphaned"] {
        let by_phase = rollout_with(|value| value["status"]["phase"] = phase.into());
        let by_label = rollout_with(|value| {
            value["status"] = Value::Null;
            value["metadata"]["labels"]["operator.aicr.run/outcome"] = phase.into();
        });
        for rollout in [by_phase, by_label] {
            let refusal = Refusal::Ended(phase.into());
            assert_eq!(may_approve(&rollout, None, at("00:00:00")), Err(refusal.clone()));
            assert_eq!(may_revoke(&rollout), Err(refusal.clone()));
            assert_eq!(may_acknowledge(&rollout), Err(refusal));
        }
    }
}

#[test]
fn only_a_standing_approval_can_be_revoked_and_not_once_everything_is_done() {
    assert_eq!(may_revoke(&rollout_with(|_| {})), Err(Refusal::NotApproved));
    assert_eq!(may_revoke(&rollout_with(not_required)), Err(Refusal::NotApproved));
    let again = Refusal::AlreadyRevoked { by: "bob".into(), at: "2026-10-15T01:00:00Z".into() };
    assert_eq!(may_revoke(&rollout_with(revoked)), Err(again));
    for phase in ["AwaitingApproval", "Progressing", "AwaitingAcknowledgement", "Stalled"] {
        let rollout = rollout_with(|value| {
            approved(value);
            value["status"]["phase"] = phase.into();
        });
        assert_eq!(may_revoke(&rollout).unwrap().approved_by, "alice", "{phase}");
    }
    let validating = rollout_with(|value| {
        approved(value);
        value["status"]["phase"] = "Validating".into();
    });
    assert_eq!(may_revoke(&validating), Err(Refusal::Validating));
}

#[test]
fn the_acknowledged_release_is_the_one_that_the_rollout_waits_on() {
    let waiting = rollout_with(awaiting_acknowledgement);
    assert_eq!(may_acknowledge(&waiting).unwrap().release, "kai-scheduler");
    let second = rollout_with(|value| {
        awaiting_acknowledgement(value);
        value["status"]["current"]["release"] = "nvsentinel".into();
        value["spec"]["approval"]["acknowledgements"] = given("kai-scheduler");
    });
    assert_eq!(may_acknowledge(&second).unwrap().release, "nvsentinel");
    let without_current = rollout_with(|value| {
        awaiting_acknowledgement(value);
        value["status"]["current"] = Value::Null;
        value["spec"]["approval"]["acknowledgements"] = given("kai-scheduler");
    });
    assert_eq!(may_acknowledge(&without_current).unwrap().release, "nvsentinel");
}

fn given(release: &str) -> Value {
    json!([{"release": release, "acknowledgedBy": "bob", "acknowledgedAt": "2026-10-15T01:30:00Z"}])
}

#[test]
fn what_does_not_wait_cannot_be_acknowledged() {
    let refuse = |change: &dyn Fn(&mut Value)| {
        let rollout: RuntimeRollout = rollout_with(|value| change(value));
        may_acknowledge(&rollout).map(|step| step.release.clone()).unwrap_err()
    };
    assert_eq!(refuse(&approved), Refusal::NotAwaitingAcknowledgement(Some(Phase::AwaitingApproval)));
    assert_eq!(refuse(&|value| value["status"] = Value::Null), Refusal::NotAwaitingAcknowledgement(None));
    let unapproved = |value: &mut Value| {
        awaiting_acknowledgement(value);
        value["spec"]["approval"] = Value::Null;
    };
    assert_eq!(refuse(&unapproved), Refusal::NotApproved);
    let done = |value: &mut Value| {
        awaiting_acknowledgement(value);
        value["spec"]["approval"]["acknowledgements"] = given("kai-scheduler");
    };
    let already = Refusal::AlreadyAcknowledged { release: "kai-scheduler".into(), by: "bob".into() };
    assert_eq!(refuse(&done), already);
    let plain_step = |value: &mut Value| {
        awaiting_acknowledgement(value);
        value["status"]["current"]["release"] = "gpu-operator".into();
    };
    assert_eq!(refuse(&plain_step), Refusal::NothingToAcknowledge);
}

#[test]
fn what_waits_after_its_last_change_can_be_acknowledged_although_the_approval_has_ended() {
    let waiting = rollout_with(awaiting_acknowledgement);
    let withdrawn = rollout_with(|value| {
        awaiting_acknowledgement(value);
        revoked(value);
    });
    for (rollout, ended) in [(&waiting, ApprovalState::Expired), (&withdrawn, ApprovalState::Revoked)] {
        let now = at("03:00:00");
        assert_eq!(state(rollout, Enforcement::Enforced, now), ended);
        assert_eq!(may_acknowledge(rollout).unwrap().release, "kai-scheduler", "{ended:?}");
    }
}

#[test]
fn a_refusal_says_what_is_and_carries_its_code() {
    let until = at("03:00:00");
    for (refusal, code, text) in [
        (
            Refusal::AlreadyApproved { by: "alice".into(), until, revoked_by: Some("bob".into()) },
            Code::Conflict,
            "it is already approved by alice until 2026-10-15T03:00:00Z and revoked by bob; an approval can be neither changed nor extended",
        ),
        (
            Refusal::NotAwaitingAcknowledgement(None),
            Code::Conflict,
            "it does not wait for an acknowledgement (phase Pending)",
        ),
        (Refusal::NegativeExpiry, Code::InvalidRequest, "the expiry must not be negative"),
    ] {
        assert_eq!((refusal.code(), refusal.to_string().as_str()), (code, text));
    }
}
