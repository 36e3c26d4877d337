//! Retention: which of the operator's own objects are kept, and in which two passes the others go.
//!
//! Source: api-reference "Retention"; design section 8 (marked first, deleted in a later pass at least 30 s on, under UID
//! and resourceVersion, after runtime and rollouts were read again uncached). Content of the registry is never deleted.
//!
//! - Plans: active, candidate and pinned, what a rollout without outcome leads from or to, and the five newest others.
//! - Rollouts, by runtime UID: the newest succeeded one, every one without outcome, and the ten newest others.
//! - Recipes, values, snapshots and assessments: what a kept plan or rollout refers to or the current resolution uses, and
//!   the newest snapshot. What is younger than an hour may belong to a plan that is being written. Nothing goes while a
//!   kept plan cannot be read.
//! - Attempts: those for current inputs, and what is younger than a week.
//! - Jobs: a suspended one that nobody needs goes after an hour; finished ones have their own end.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use crate::api::Time;

/// Plans that are kept beside those in use.
const PLANS: usize = 5;
/// Ended rollouts of one runtime that are kept beside its newest succeeded one.
const ROLLOUTS: usize = 10;
const MARK: SignedDuration = SignedDuration::from_secs(30);
const YOUNG: SignedDuration = SignedDuration::from_hours(1);
const ATTEMPTS: SignedDuration = SignedDuration::from_hours(7 * 24);

/// An object of the operator, as far as its retention goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its resource version.
    pub resource_version: String,
    /// When it was created.
    pub created: Time,
    /// When a pass marked it for deletion.
    pub marked: Option<Time>,
}

/// A plan's ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanObject {
    /// The ConfigMap.
    pub object: Object,
    /// Its plan-digest annotation.
    pub digest: String,
    /// ConfigMaps by name and snapshots by digest that the plan refers to; nothing when it cannot be read.
    pub references: Option<BTreeSet<String>>,
}

/// A rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutObject {
    /// The rollout.
    pub object: Object,
    /// `spec.runtimeUID`.
    pub runtime_uid: String,
    /// Its outcome label.
    pub outcome: Option<String>,
    /// The plans that it leads from and to.
    pub plans: BTreeSet<String>,
    /// ConfigMaps that it refers to.
    pub references: BTreeSet<String>,
}

/// What another ConfigMap of the operator holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Recipe, values or assessment: of use while something refers to it.
    Referenced,
    /// A snapshot.
    Snapshot,
    /// A stage's attempts.
    Attempts,
}

/// Another ConfigMap of the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentObject {
    /// The ConfigMap.
    pub object: Object,
    /// What it holds.
    pub role: Role,
    /// Its digest annotation.
    pub digest: Option<String>,
}

/// A Job of AICR that did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspendedJob {
    /// The Job.
    pub object: Object,
    /// Whether it is the next run of a current input.
    pub needed: bool,
}

/// All that is looked at.
#[derive(Clone, Debug, Default)]
pub struct Holdings {
    /// Digests of the active, candidate and pinned plan.
    pub used_plans: BTreeSet<String>,
    /// Names of the ConfigMaps that the current resolution uses: attempts, and outputs that are in no plan yet.
    pub current: BTreeSet<String>,
    /// Every plan.
    pub plans: Vec<PlanObject>,
    /// Every rollout.
    pub rollouts: Vec<RolloutObject>,
    /// Every other ConfigMap.
    pub contents: Vec<ContentObject>,
    /// Jobs that did not start.
    pub suspended: Vec<SuspendedJob>,
}

/// What kind an object to sweep is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A ConfigMap of the operator namespace.
    ConfigMap,
    /// A rollout.
    Rollout,
    /// A Job; deleted in the foreground.
    Job,
}

/// What to do to one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Its kind.
    pub kind: Kind,
    /// The object, with the UID and resource version that the write requires.
    pub object: Object,
    /// The write.
    pub act: Act,
}

/// A write of retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Mark it: a later pass may delete it.
    Mark,
    /// Take the mark away: it is of use again.
    Unmark,
    /// Delete it.
    Delete,
}

/// What this pass does, in the order of the holdings; nothing to an object that stays as it is.
pub fn sweep(holdings: &Holdings, now: Time) -> Vec<Sweep> {
    let rollouts = kept_rollouts(&holdings.rollouts);
    let plans = kept_plans(holdings);
    let contents = kept_contents(holdings, &plans, &rollouts, now);
    let mut sweeps = Vec::new();
    let mut judge = |kind, object: &Object, kept: bool| {
        if let Some(act) = act(object, kept, now) {
            sweeps.push(Sweep { kind, object: object.clone(), act });
        }
    };
    for plan in &holdings.plans {
        judge(Kind::ConfigMap, &plan.object, plans.contains(plan.object.uid.as_str()));
    }
    for rollout in &holdings.rollouts {
        judge(Kind::Rollout, &rollout.object, rollouts.contains(rollout.object.uid.as_str()));
    }
    for content in &holdings.contents {
        judge(Kind::ConfigMap, &content.object, contents.contains(content.object.uid.as_str()));
    }
    for job in &holdings.suspended {
        judge(Kind::Job, &job.object, job.needed || is_younger(&job.object, YOUNG, now));
    }
    sweeps
}

fn act(object: &Object, kept: bool, now: Time) -> Option<Act> {
    match (kept, object.marked) {
        (true, None) => None,
        (true, Some(_)) => Some(Act::Unmark),
        (false, None) => Some(Act::Mark),
        // A mark from the future is of a clock that was wrong: it is waited out.
        (false, Some(marked)) => (now.0.duration_since(marked.0) >= MARK).then_some(Act::Delete),
    }
}

fn is_younger(object: &Object, age: SignedDuration, now: Time) -> bool {
    now.0.duration_since(object.created.0) < age
}

/// Newest first; of the same second, the greater name first.
fn newest_first<'a, T>(items: impl Iterator<Item = &'a T>, object: fn(&T) -> &Object) -> Vec<&'a T> {
    let mut items: Vec<&T> = items.collect();
    items.sort_unstable_by(|one, other| {
        let (one, other) = (object(one), object(other));
        (other.created, &other.name, &other.uid).cmp(&(one.created, &one.name, &one.uid))
    });
    items
}

/// UIDs of the rollouts that stay.
fn kept_rollouts(rollouts: &[RolloutObject]) -> BTreeSet<&str> {
    let mut by_runtime: BTreeMap<&str, Vec<&RolloutObject>> = BTreeMap::new();
    for rollout in newest_first(rollouts.iter(), |rollout| &rollout.object) {
        by_runtime.entry(&rollout.runtime_uid).or_default().push(rollout);
    }
    let mut kept = BTreeSet::new();
    for rollouts in by_runtime.values() {
        let succeeded = rollouts.iter().find(|rollout| rollout.outcome.as_deref() == Some("Succeeded"));
        let live = rollouts.iter().filter(|rollout| rollout.outcome.is_none());
        let ended = rollouts.iter().filter(|rollout| rollout.outcome.is_some()).take(ROLLOUTS);
        kept.extend(
            succeeded.into_iter().chain(live).chain(ended).map(|rollout| rollout.object.uid.as_str()),
        );
    }
    kept
}

/// UIDs of the plans that stay.
fn kept_plans(holdings: &Holdings) -> BTreeSet<&str> {
    let live = holdings.rollouts.iter().filter(|rollout| rollout.outcome.is_none());
    let mut used: BTreeSet<&str> = live.flat_map(|rollout| &rollout.plans).map(String::as_str).collect();
    used.extend(holdings.used_plans.iter().map(String::as_str));
    let is_used = |plan: &&PlanObject| used.contains(plan.digest.as_str());
    let superseded = newest_first(holdings.plans.iter().filter(|plan| !is_used(plan)), |plan| &plan.object);
    let kept = holdings.plans.iter().filter(is_used).chain(superseded.into_iter().take(PLANS));
    kept.map(|plan| plan.object.uid.as_str()).collect()
}

/// UIDs of the other ConfigMaps that stay.
fn kept_contents<'a>(
    holdings: &'a Holdings,
    plans: &BTreeSet<&str>,
    rollouts: &BTreeSet<&str>,
    now: Time,
) -> BTreeSet<&'a str> {
    let plans = holdings.plans.iter().filter(|plan| plans.contains(plan.object.uid.as_str()));
    let mut references: BTreeSet<&str> = holdings.current.iter().map(String::as_str).collect();
    let mut all_read = true;
    for plan in plans {
        all_read &= plan.references.is_some();
        references.extend(plan.references.iter().flatten().map(String::as_str));
    }
    for rollout in &holdings.rollouts {
        if rollouts.contains(rollout.object.uid.as_str()) {
            references.extend(rollout.references.iter().map(String::as_str));
        }
    }
    let snapshots = holdings.contents.iter().filter(|content| content.role == Role::Snapshot);
    let newest =
        newest_first(snapshots, |content| &content.object).first().map(|content| &content.object.uid);
    let stays = |content: &&ContentObject| {
        let object = &content.object;
        if content.role == Role::Attempts {
            return references.contains(object.name.as_str()) || is_younger(object, ATTEMPTS, now);
        }
        !all_read
            || is_younger(object, YOUNG, now)
            || Some(&object.uid) == newest
            || references.contains(object.name.as_str())
            || content.digest.as_deref().is_some_and(|digest| references.contains(digest))
    };
    holdings.contents.iter().filter(stays).map(|content| content.object.uid.as_str()).collect()
}

#[cfg(test)]
mod tests;
