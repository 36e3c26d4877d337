//! The dependency graph of a plan's releases.
//!
//! Source: api-reference "Plan ConfigMap"; design section 4. An edge leads from a release to each that must be ready
//! before it: its `dependsOn`, and for a readiness release also its parent.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{Phase, Release};

/// Why releases cannot be rolled out in any order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Two releases have one ID.
    #[error("release {0} is listed more than once")]
    Duplicate(String),
    /// A release depends twice on another one.
    #[error("release {release} lists its dependency {dependency} more than once")]
    DuplicateDependency {
        /// The release.
        release: String,
        /// What it depends on.
        dependency: String,
    },
    /// A release depends on one that the plan does not hold.
    #[error("release {release} depends on {dependency}, which the plan does not hold")]
    Unknown {
        /// The release.
        release: String,
        /// What it depends on.
        dependency: String,
    },
    /// A readiness release is the gate of nothing.
    #[error("release {0} has phase Readiness but names no release in readinessFor")]
    NoParent(String),
    /// The release that a readiness release is the gate of is missing, or a gate itself.
    #[error("release {release} is the readiness gate of {parent}, which {rule}")]
    Parent {
        /// The readiness release.
        release: String,
        /// What it names.
        parent: String,
        /// What is wrong with it.
        rule: &'static str,
    },
    /// Another release names a parent.
    #[error("release {release} has phase {phase}, so it must not name {parent} in readinessFor")]
    UnexpectedParent {
        /// The release.
        release: String,
        /// Its phase.
        phase: &'static str,
        /// What it names.
        parent: String,
    },
    /// Releases wait for each other.
    #[error("releases depend on each other: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
}

/// The order of rollout as indices into `releases`: dependencies first; of those that could come next, the one listed
/// first.
///
/// # Errors
///
/// For the first fault found: duplicates, then references, then cycles.
pub fn order(releases: &[Release]) -> Result<Vec<usize>, GraphError> {
    let index = index(releases)?;
    let edges =
        releases.iter().map(|release| edges(release, releases, &index)).collect::<Result<Vec<_>, _>>()?;

    let mut waits_for: Vec<usize> = edges.iter().map(BTreeSet::len).collect();
    let mut waited_by = vec![Vec::new(); releases.len()];
    for (at, dependencies) in edges.iter().enumerate() {
        for dependency in dependencies {
            waited_by[*dependency].push(at);
        }
    }
    let mut free: BTreeSet<usize> = (0..releases.len()).filter(|at| waits_for[*at] == 0).collect();
    let mut order = Vec::with_capacity(releases.len());
    while let Some(next) = free.pop_first() {
        order.push(next);
        for at in &waited_by[next] {
            waits_for[*at] -= 1;
            if waits_for[*at] == 0 {
                free.insert(*at);
            }
        }
    }
    if order.len() < releases.len() {
        return Err(GraphError::Cycle(cycle(releases, &edges, &waits_for)));
    }
    Ok(order)
}

fn index(releases: &[Release]) -> Result<BTreeMap<&str, usize>, GraphError> {
    let mut index = BTreeMap::new();
    for (at, release) in releases.iter().enumerate() {
        if index.insert(release.id.as_str(), at).is_some() {
            return Err(GraphError::Duplicate(release.id.clone()));
        }
    }
    Ok(index)
}

fn edges(
    release: &Release,
    releases: &[Release],
    index: &BTreeMap<&str, usize>,
) -> Result<BTreeSet<usize>, GraphError> {
    let id = || release.id.clone();
    let mut edges = BTreeSet::new();
    for dependency in &release.depends_on {
        let Some(at) = index.get(dependency.as_str()) else {
            return Err(GraphError::Unknown { release: id(), dependency: dependency.clone() });
        };
        if !edges.insert(*at) {
            return Err(GraphError::DuplicateDependency { release: id(), dependency: dependency.clone() });
        }
    }
    match (release.phase, &release.readiness_for) {
        (Phase::Readiness, None) => return Err(GraphError::NoParent(id())),
        (Phase::Readiness, Some(parent)) => {
            let fault = |rule| GraphError::Parent { release: id(), parent: parent.clone(), rule };
            let at = *index.get(parent.as_str()).ok_or_else(|| fault("the plan does not hold"))?;
            if releases[at].phase == Phase::Readiness {
                return Err(fault("is a readiness gate itself"));
            }
            edges.insert(at);
        }
        (_, None) => {}
        (phase, Some(parent)) => {
            let (phase, parent) = (phase.as_str(), parent.clone());
            return Err(GraphError::UnexpectedParent { release: id(), phase, parent });
        }
    }
    Ok(edges)
}

/// One cycle in full, its first release repeated at the end. Every release that still waits has a dependency that still
/// waits, so following them comes round; the walk starts at the first one listed.
fn cycle(releases: &[Release], edges: &[BTreeSet<usize>], waits_for: &[usize]) -> Vec<String> {
    let waits = |at: &usize| waits_for[*at] > 0;
    let mut path = Vec::new();
    let mut next = (0..releases.len()).find(waits);
    while let Some(at) = next {
        if let Some(start) = path.iter().position(|visited| *visited == at) {
            let mut path = path.split_off(start);
            path.push(at);
            return path.into_iter().map(|at: usize| releases[at].id.clone()).collect();
        }
        path.push(at);
        next = edges[at].iter().copied().find(waits);
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixtures::release;
    use proptest::prelude::*;

    /// Releases and what they depend on.
    type Graph<'a> = &'a [(&'a str, &'a [&'a str])];

    fn releases(table: Graph<'_>) -> Vec<Release> {
        table.iter().map(|(id, dependencies)| release(id, dependencies)).collect()
    }

    fn ids(releases: &[Release]) -> Vec<&str> {
        order(releases).unwrap().into_iter().map(|at| releases[at].id.as_str()).collect()
    }

    #[test]
    fn dependencies_come_first_and_ties_keep_the_order_of_the_list() {
        let table: [(Graph<'_>, &[&str]); 4] = [
            (&[], &[]),
            (&[("c", &[]), ("b", &[]), ("a", &[])], &["c", "b", "a"]),
            (&[("c", &["a"]), ("b", &[]), ("a", &[])], &["b", "a", "c"]),
            (&[("d", &["b", "c"]), ("c", &["a"]), ("b", &["a"]), ("a", &[])], &["a", "c", "b", "d"]),
        ];
        for (graph, expected) in table {
            assert_eq!(ids(&releases(graph)), expected);
        }
    }

    #[test]
    fn a_readiness_gate_comes_after_its_parent_without_saying_so_in_depends_on() {
        let mut gate = release("a-readiness", &[]);
        gate.phase = Phase::Readiness;
        gate.readiness_for = Some("a".to_owned());
        assert_eq!(ids(&[gate, release("a", &[])]), ["a", "a-readiness"]);
    }

    #[test]
    fn a_faulty_graph_is_refused_by_name() {
        let table: [(Graph<'_>, &str); 7] = [
            (&[("a", &[]), ("a", &[])], "release a is listed more than once"),
            (&[("a", &["b"])], "release a depends on b, which the plan does not hold"),
            (&[("a", &[]), ("b", &["a", "a"])], "release b lists its dependency a more than once"),
            (&[("a", &["a"])], "releases depend on each other: a -> a"),
            (&[("a", &["b"]), ("b", &["a"])], "releases depend on each other: a -> b -> a"),
            (
                &[("x", &["c"]), ("a", &["b"]), ("b", &["c"]), ("c", &["a"])],
                "releases depend on each other: c -> a -> b -> c",
            ),
            (
                &[("root", &[]), ("a", &["root", "b"]), ("b", &["a"]), ("z", &["b"])],
                "releases depend on each other: a -> b -> a",
            ),
        ];
        for (graph, message) in table {
            assert_eq!(order(&releases(graph)).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_readiness_gate_needs_a_parent_and_only_a_gate_has_one() {
        let gate = |parent: Option<&str>| {
            let mut gate = release("gate", &[]);
            gate.phase = Phase::Readiness;
            gate.readiness_for = parent.map(str::to_owned);
            gate
        };
        let mut second = gate(Some("gate"));
        second.id = "second".to_owned();
        let mut primary = release("b", &[]);
        primary.readiness_for = Some("a".to_owned());
        let table = [
            (vec![gate(None)], "release gate has phase Readiness but names no release in readinessFor"),
            (vec![gate(Some("a"))], "release gate is the readiness gate of a, which the plan does not hold"),
            (
                vec![release("a", &[]), gate(Some("a")), second],
                "release second is the readiness gate of gate, which is a readiness gate itself",
            ),
            (
                vec![release("a", &[]), primary],
                "release b has phase Primary, so it must not name a in readinessFor",
            ),
        ];
        for (releases, message) in table {
            assert_eq!(order(&releases).unwrap_err().to_string(), message);
        }
    }

    proptest! {
        /// Any graph over 12 releases either has an order that honours every edge, or a cycle whose every arrow is an edge.
        #[test]
        fn a_graph_has_an_order_or_a_real_cycle(matrix in proptest::collection::vec(proptest::bits::u16::masked(0x0fff), 12)) {
            let releases: Vec<_> = matrix
                .iter()
                .enumerate()
                .map(|(at, row)| {
                    // Every bit but a few is dropped, or almost every graph would hold a cycle.
                    let row = row & row.rotate_left(5) & row.rotate_left(7);
                    let names: Vec<_> = (0..12).filter(|bit| row >> bit & 1 == 1).map(|bit| format!("r{bit}")).collect();
                    release(&format!("r{at}"), &names.iter().map(String::as_str).collect::<Vec<_>>())
                })
                .collect();
            match order(&releases) {
                Ok(order) => {
                    let place = |id: &str| order.iter().position(|at| releases[*at].id == id).unwrap();
                    prop_assert_eq!(order.len(), releases.len());
                    for release in &releases {
                        for dependency in &release.depends_on {
                            prop_assert!(place(dependency) < place(&release.id));
                        }
                    }
                }
                Err(GraphError::Cycle(path)) => {
                    prop_assert!(path.len() > 1 && path.first() == path.last());
                    for arrow in path.windows(2) {
                        let from = releases.iter().find(|release| release.id == arrow[0]).unwrap();
                        prop_assert!(from.depends_on.contains(&arrow[1]));
                    }
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }
}
