//! What changes between two plans, release by release: the input of a rollout's steps and of a shown difference.
//!
//! Source: design section 7 and section 2 (releases whose graph alone differs need no step).

use serde_json::Value;

use super::diff::{LeafChange, leaves};
use super::digest::Digest;
use super::document::{Chart, ContentRef, Phase, Release};
use super::engine::sorted;
use super::sealed::Plan;
use super::values::Values;

/// A member before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved<T> {
    /// Before.
    pub from: T,
    /// After.
    pub to: T,
}

/// What happens to one release.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseChange {
    /// The release.
    pub id: String,
    /// What happens to it.
    pub change: Change,
}

/// What happens to a release.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Only the new plan holds it.
    Added,
    /// Only the old plan holds it.
    Removed,
    /// Both hold it, and not alike.
    Changed(Box<Differences>),
}

/// What differs between two releases of one ID.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// Repository or manifest digest.
    pub chart: Option<Moved<Chart>>,
    /// Name of the chart; part of `chart`.
    pub chart_name: Option<Moved<String>>,
    /// Target namespace.
    pub namespace: Option<Moved<String>>,
    /// Values.
    pub values: ValuesChange,
    /// Members of the engine policy, with lists sorted.
    pub engine_policy: Vec<LeafChange>,
    /// Whether the chart owns CRDs.
    pub owns_crds: Option<Moved<bool>>,
    /// Its place in the graph.
    pub graph: Option<Moved<Place>>,
    /// The chart's manifest digest changes, and the old or the new release owns CRDs. Their bytes are not compared.
    pub crd_change: bool,
}

/// A release's place in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its phase.
    pub phase: Phase,
    /// The release that it is the gate of.
    pub readiness_for: Option<String>,
    /// What it waits for, sorted.
    pub depends_on: Vec<String>,
}

/// How a release's values differ.
#[derive(Clone, Debug, PartialEq)]
pub enum ValuesChange {
    /// Not at all.
    Equal,
    /// In these leaves; a null stands for a default of the chart that is deleted.
    Leaves(Vec<LeafChange>),
    /// They do, but one side could not be looked up.
    Unread(Moved<Digest>),
}

impl Differences {
    /// Whether the Application's source, values, destination or engine policy changes, so that it needs a step. Otherwise
    /// only its metadata is written.
    pub fn needs_step(&self) -> bool {
        self.chart.is_some()
            || self.namespace.is_some()
            || self.values != ValuesChange::Equal
            || !self.engine_policy.is_empty()
    }

    /// Whether the transition is blocked: Helm can move a release neither to another namespace nor to another chart.
    pub fn blocks(&self) -> bool {
        self.namespace.is_some() || self.chart_name.is_some()
    }
}

/// What changes from one plan to another: added and changed releases in the new plan's order of rollout, then removed ones
/// in the reverse of the old plan's. Releases of equal digest are left out.
///
/// `values` looks up values by the reference that a plan holds.
pub fn compare<'a>(
    from: &Plan,
    to: &Plan,
    values: impl Fn(&ContentRef) -> Option<&'a Values>,
) -> Vec<ReleaseChange> {
    let entry = |release: &Release, change| ReleaseChange { id: release.id.clone(), change };
    let mut changes = Vec::new();
    for release in to.ordered() {
        match from.release(&release.id) {
            None => changes.push(entry(release, Change::Added)),
            Some(old) => {
                if let Some(differences) = differences(old, release, &values) {
                    changes.push(entry(release, Change::Changed(Box::new(differences))));
                }
            }
        }
    }
    let removed = from.ordered().into_iter().rev().filter(|release| to.release(&release.id).is_none());
    changes.extend(removed.map(|release| entry(release, Change::Removed)));
    changes
}

fn differences<'a>(
    from: &Release,
    to: &Release,
    values: impl Fn(&ContentRef) -> Option<&'a Values>,
) -> Option<Differences> {
    let chart_moved = from.chart.digest != to.chart.digest;
    let differences = Differences {
        chart: (chart_moved || from.chart.repository != to.chart.repository)
            .then(|| Moved { from: from.chart.clone(), to: to.chart.clone() }),
        chart_name: moved(from.chart.name().to_owned(), to.chart.name().to_owned()),
        namespace: moved(from.target_namespace.clone(), to.target_namespace.clone()),
        values: values_change(&from.values, &to.values, values),
        engine_policy: leaves(&from.engine_policy.identity(), &to.engine_policy.identity()),
        owns_crds: moved(from.owns_crds, to.owns_crds),
        graph: moved(place(from), place(to)),
        crd_change: chart_moved && (from.owns_crds || to.owns_crds),
    };
    let same = !differences.needs_step() && differences.owns_crds.is_none() && differences.graph.is_none();
    (!same).then_some(differences)
}

fn moved<T: PartialEq>(from: T, to: T) -> Option<Moved<T>> {
    (from != to).then_some(Moved { from, to })
}

fn place(release: &Release) -> Place {
    Place {
        phase: release.phase,
        readiness_for: release.readiness_for.clone(),
        depends_on: sorted(&release.depends_on),
    }
}

fn values_change<'a>(
    from: &ContentRef,
    to: &ContentRef,
    values: impl Fn(&ContentRef) -> Option<&'a Values>,
) -> ValuesChange {
    if from.digest == to.digest {
        return ValuesChange::Equal;
    }
    match (values(from), values(to)) {
        (Some(old), Some(new)) => {
            let (old, new): (Value, Value) = (old.with_nulls(), new.with_nulls());
            ValuesChange::Leaves(leaves(&old, &new))
        }
        _ => ValuesChange::Unread(Moved { from: from.digest, to: to.digest }),
    }
}

#[cfg(test)]
mod tests;
