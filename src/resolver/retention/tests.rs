use proptest::prelude::*;

use super::*;
use crate::api::fixtures::at;

fn now() -> Time {
    at("23:00:00")
}

/// An object that was created so many hours before [`now`].
fn object(name: &str, hours: i64) -> Object {
    Object {
        name: name.to_owned(),
        uid: format!("uid-{name}"),
        resource_version: "1".to_owned(),
        created: Time(now().0 - SignedDuration::from_hours(hours)),
        marked: None,
    }
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn plan(name: &str, hours: i64, references: &[&str]) -> PlanObject {
    PlanObject {
        object: object(name, hours),
        digest: format!("digest-{name}"),
        references: Some(set(references)),
    }
}

fn rollout(name: &str, hours: i64, outcome: &str) -> RolloutObject {
    RolloutObject {
        object: object(name, hours),
        runtime_uid: "runtime".to_owned(),
        outcome: Some(outcome.to_owned()).filter(|outcome| !outcome.is_empty()),
        plans: BTreeSet::new(),
        references: BTreeSet::new(),
    }
}

fn content(name: &str, hours: i64, role: Role) -> ContentObject {
    ContentObject { object: object(name, hours), role, digest: None }
}

/// Names of what this pass marks.
fn marked(holdings: &Holdings) -> Vec<String> {
    let sweeps = sweep(holdings, now());
    assert!(sweeps.iter().all(|sweep| sweep.act == Act::Mark));
    sweeps.into_iter().map(|sweep| sweep.object.name).collect()
}

#[test]
fn plans_in_use_and_the_five_newest_others_stay() {
    let mut holdings = Holdings {
        used_plans: set(&["digest-active", "digest-candidate", "digest-pinned"]),
        plans: ["active", "candidate", "pinned"].map(|name| plan(name, 900, &[])).into(),
        ..Holdings::default()
    };
    holdings.plans.extend((0..8).map(|at| plan(&format!("old-{at}"), 100 - at, &[])));
    assert_eq!(marked(&holdings), ["old-0", "old-1", "old-2"]);
    // A rollout in progress holds the plans that it leads from and to.
    let mut live = rollout("live", 1, "");
    live.plans = set(&["digest-old-0"]);
    holdings.rollouts = vec![live];
    assert_eq!(marked(&holdings), ["old-1", "old-2"]);
}

#[test]
fn rollouts_are_kept_by_runtime() {
    let mut rollouts = vec![
        rollout("first", 90, "Succeeded"),
        rollout("second", 80, "Succeeded"),
        rollout("lost", 70, ""),
        rollout("live", 1, ""),
    ];
    rollouts.extend((0..12).map(|at| rollout(&format!("failed-{at:02}"), 60 - at, "Failed")));
    let mut other = rollout("other", 95, "Orphaned");
    other.runtime_uid = "earlier".to_owned();
    rollouts.push(other);
    let holdings = Holdings { rollouts, ..Holdings::default() };
    assert_eq!(marked(&holdings), ["first", "failed-00", "failed-01"]);
}

#[test]
fn content_stays_while_something_kept_refers_to_it() {
    let mut holdings = Holdings {
        used_plans: set(&["digest-active"]),
        plans: vec![plan("active", 9, &["recipe", "values", "digest-of-snapshot"])],
        contents: vec![
            content("recipe", 9, Role::Referenced),
            content("values", 9, Role::Referenced),
            content("other-values", 9, Role::Referenced),
            content("being-written", 0, Role::Referenced),
            content("assessment", 9, Role::Referenced),
            content("snapshot", 9, Role::Snapshot),
            content("old-snapshot", 8, Role::Snapshot),
            content("newest-snapshot", 7, Role::Snapshot),
        ],
        ..Holdings::default()
    };
    holdings.contents[5].digest = Some("digest-of-snapshot".to_owned());
    let mut ended = rollout("ended", 1, "Failed");
    ended.references = set(&["assessment"]);
    holdings.rollouts = vec![ended];
    assert_eq!(marked(&holdings), ["other-values", "old-snapshot"]);
    // What a plan refers to is not known while it cannot be read.
    holdings.plans[0].references = None;
    assert!(marked(&holdings).is_empty());
}

#[test]
fn content_of_a_plan_that_goes_may_go_too() {
    let mut holdings = Holdings::default();
    holdings.plans.extend((0..6).map(|at| plan(&format!("old-{at}"), 100 - at, &[&format!("values-{at}")])));
    holdings.contents.extend((0..6).map(|at| content(&format!("values-{at}"), 100, Role::Referenced)));
    assert_eq!(marked(&holdings), ["old-0", "values-0"]);
}

#[test]
fn what_the_current_resolution_uses_stays_and_attempts_do_for_a_week() {
    let holdings = Holdings {
        current: set(&["current", "recipe-of-a-render-that-fails-for-days"]),
        contents: vec![
            content("current", 900, Role::Attempts),
            content("recipe-of-a-render-that-fails-for-days", 90, Role::Referenced),
            content("recent", 24 * 6, Role::Attempts),
            content("old", 24 * 8, Role::Attempts),
        ],
        ..Holdings::default()
    };
    assert_eq!(marked(&holdings), ["old"]);
}

#[test]
fn a_suspended_job_that_nobody_needs_goes_after_an_hour() {
    let job = |name, hours, needed| SuspendedJob { object: object(name, hours), needed };
    let suspended = vec![job("needed", 9, true), job("young", 0, false), job("stray", 9, false)];
    assert_eq!(marked(&Holdings { suspended, ..Holdings::default() }), ["stray"]);
}

#[test]
fn an_object_goes_in_a_later_pass_unless_it_is_of_use_again() {
    for (kept, mark, expected) in [
        (true, None, None),
        (true, Some("22:00:00"), Some(Act::Unmark)),
        (false, None, Some(Act::Mark)),
        (false, Some("22:59:31"), None),
        (false, Some("22:59:30"), Some(Act::Delete)),
        (false, Some("23:30:00"), None),
    ] {
        let object = Object { marked: mark.map(at), ..object("x", 9) };
        assert_eq!(act(&object, kept, now()), expected, "{kept} {mark:?}");
    }
}

proptest! {
    /// Passes come to an end, after which nothing in use is gone and the bounds hold.
    #[test]
    fn passes_settle_with_everything_in_use_there(ages in proptest::collection::vec((1..50_i64, 0..4_usize), 0..30)) {
        let outcomes = ["", "Succeeded", "Failed", "Expired"];
        let mut holdings = Holdings { used_plans: set(&["digest-p0", "digest-p1"]), ..Holdings::default() };
        for (at, (hours, outcome)) in ages.iter().enumerate() {
            holdings.plans.push(plan(&format!("p{at}"), *hours, &[&format!("v{at}")]));
            holdings.rollouts.push(rollout(&format!("r{at}"), *hours, outcomes[*outcome]));
            holdings.contents.push(content(&format!("v{at}"), *hours, Role::Referenced));
        }
        let mut now = now();
        let mut passes = 0;
        loop {
            let sweeps = sweep(&holdings, now);
            if sweeps.is_empty() {
                break;
            }
            passes += 1;
            prop_assert!(passes < 9);
            for Sweep { object, act, .. } in sweeps {
                let apply = |other: &mut Object| {
                    if other.uid == object.uid {
                        other.marked = (act == Act::Mark).then_some(now);
                    }
                };
                holdings.plans.iter_mut().for_each(|plan| apply(&mut plan.object));
                holdings.rollouts.iter_mut().for_each(|rollout| apply(&mut rollout.object));
                holdings.contents.iter_mut().for_each(|content| apply(&mut content.object));
                if act == Act::Delete {
                    holdings.plans.retain(|plan| plan.object.uid != object.uid);
                    holdings.rollouts.retain(|rollout| rollout.object.uid != object.uid);
                    holdings.contents.retain(|content| content.object.uid != object.uid);
                }
            }
            now = Time(now.0 + MARK);
        }
        let used = ages.len().min(2);
        prop_assert_eq!(holdings.plans.len(), used + (ages.len() - used).min(5));
        prop_assert_eq!(holdings.contents.len(), holdings.plans.len());
        let live = ages.iter().filter(|(_, outcome)| *outcome == 0).count();
        prop_assert_eq!(holdings.rollouts.iter().filter(|rollout| rollout.outcome.is_none()).count(), live);
        prop_assert!(holdings.rollouts.len() <= live + 11);
    }
}
