use std::collections::BTreeMap;

use super::*;
use crate::plan::fixtures::{Planned, any_planned, digest, gate, planned, release, values};
use proptest::prelude::*;
use serde_json::json;

type Entry = (Release, Values);

fn plain(id: &str, depends_on: &[&str]) -> Entry {
    (release(id, depends_on), Values::default())
}

fn changes(from: &Planned, to: &Planned) -> Vec<ReleaseChange> {
    let known: BTreeMap<Digest, &Values> =
        from.values.values().chain(to.values.values()).map(|values| (values.digest(), values)).collect();
    compare(&from.plan, &to.plan, |content| known.get(&content.digest).copied())
}

/// The differences of the one release that changes.
fn change(edit: impl FnOnce(&mut Entry)) -> Differences {
    let mut entry = plain("a", &[]);
    edit(&mut entry);
    let found = changes(&planned([plain("a", &[]), plain("b", &[])]), &planned([entry, plain("b", &[])]));
    match <[_; 1]>::try_from(found) {
        Ok([ReleaseChange { id, change: Change::Changed(differences) }]) if id == "a" => *differences,
        other => panic!("expected one changed release, found {other:?}"),
    }
}

#[test]
fn equal_plans_have_no_change_whatever_their_order_and_origin() {
    let from = planned([plain("a", &[]), plain("b", &["a"])]);
    let mut moved = plain("a", &[]);
    moved.0.component = String::new();
    moved.0.chart.version = "v9".to_owned();
    moved.0.chart.upstream = None;
    let to = planned([plain("b", &["a"]), moved]);
    assert_eq!(changes(&from, &to), []);
}

#[test]
fn added_and_changed_releases_come_in_order_of_rollout_then_removed_ones_in_reverse() {
    let from = planned([
        plain("gone-first", &[]),
        plain("gone-last", &["gone-first"]),
        plain("kept", &[]),
        plain("same", &[]),
    ]);
    let mut kept = plain("kept", &["new"]);
    kept.0.chart.digest = digest("moved");
    let to = planned([kept, plain("new", &[]), plain("same", &[])]);
    let found: Vec<_> = changes(&from, &to)
        .into_iter()
        .map(|entry| {
            let kind = match entry.change {
                Change::Added => "added",
                Change::Removed => "removed",
                Change::Changed(_) => "changed",
            };
            format!("{kind} {}", entry.id)
        })
        .collect();
    assert_eq!(found, ["added new", "changed kept", "removed gone-last", "removed gone-first"]);
}

#[test]
fn a_moved_chart_is_told_apart_from_another_chart() {
    let moved = change(|(release, _)| release.chart.digest = digest("moved"));
    assert_eq!(moved.chart.as_ref().unwrap().to.digest, digest("moved"));
    assert!(moved.needs_step() && !moved.blocks() && !moved.crd_change);
    let registry = change(|(release, _)| release.chart.repository = "oci://other/charts/a".to_owned());
    assert!(registry.chart.is_some() && registry.needs_step() && !registry.blocks());
    let renamed =
        change(|(release, _)| release.chart.repository = "oci://registry.test/aicr/charts/b".to_owned());
    assert_eq!(renamed.chart_name, Some(Moved { from: "a".to_owned(), to: "b".to_owned() }));
    assert!(renamed.blocks());
}

#[test]
fn another_namespace_blocks() {
    let differences = change(|(release, _)| release.target_namespace = "other".to_owned());
    assert_eq!(differences.namespace, Some(Moved { from: "a".to_owned(), to: "other".to_owned() }));
    assert!(differences.blocks() && differences.needs_step());
}

#[test]
fn values_are_compared_leaf_by_leaf_with_nulls_as_deletions() {
    let tree = json!({"a": {"b": [1, {"c": 2}]}, "x/y": null});
    let differences = change(|entry| entry.1 = values(&tree));
    let ValuesChange::Leaves(leaves) = &differences.values else { panic!("{differences:?}") };
    let shown: Vec<_> =
        leaves.iter().map(|leaf| (leaf.path.as_str(), leaf.from.clone(), leaf.to.clone())).collect();
    assert_eq!(
        shown,
        [
            ("/a/b/0", None, Some(json!(1))),
            ("/a/b/1/c", None, Some(json!(2))),
            ("/x~1y", None, Some(Value::Null))
        ]
    );
    assert!(differences.needs_step() && differences.chart.is_none());
}

#[test]
fn values_that_cannot_be_looked_up_still_differ() {
    let from = planned([plain("a", &[])]);
    let to = planned([(release("a", &[]), values(&json!({"a": 1})))]);
    let found = compare(&from.plan, &to.plan, |_| None);
    let Change::Changed(differences) = &found[0].change else { panic!("{found:?}") };
    let (from, to) = (from.values["a"].digest(), to.values["a"].digest());
    assert_eq!(differences.values, ValuesChange::Unread(Moved { from, to }));
    assert!(differences.needs_step());
}

#[test]
fn engine_policy_is_compared_member_by_member() {
    let differences = change(|(release, _)| release.engine_policy.prune = false);
    assert_eq!(differences.engine_policy[0].path, "/prune");
    assert!(differences.needs_step());
}

#[test]
fn crds_change_when_the_chart_moves_and_either_side_owns_some() {
    for (before, after) in [(false, false), (true, false), (false, true), (true, true)] {
        let (mut old, mut new) = (plain("a", &[]), plain("a", &[]));
        old.0.owns_crds = before;
        new.0.owns_crds = after;
        new.0.chart.digest = digest("moved");
        let found = changes(&planned([old]), &planned([new]));
        let Change::Changed(differences) = &found[0].change else { panic!("{found:?}") };
        assert_eq!(differences.crd_change, before || after, "{before} {after}");
        assert_eq!(differences.owns_crds.is_some(), before != after);
    }
}

#[test]
fn a_release_whose_graph_alone_differs_needs_no_step() {
    let edits: [fn(&mut Entry); 3] = [
        |(release, _)| release.depends_on = vec!["b".to_owned()],
        |(release, _)| release.phase = Phase::Post,
        |(release, _)| release.owns_crds = true,
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        let differences = change(edit);
        assert!(
            !differences.needs_step() && !differences.blocks() && !differences.crd_change,
            "edit {index}"
        );
    }
    let from = planned([plain("a", &[]), plain("b", &[]), (gate("a"), Values::default())]);
    let mut moved = gate("a");
    moved.readiness_for = Some("b".to_owned());
    let found = changes(&from, &planned([plain("a", &[]), plain("b", &[]), (moved, Values::default())]));
    let Change::Changed(differences) = &found[0].change else { panic!("{found:?}") };
    assert_eq!(differences.graph.as_ref().unwrap().to.readiness_for.as_deref(), Some("b"));
    assert!(!differences.needs_step());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn only_plans_of_one_digest_have_no_change(from in any_planned(), to in any_planned()) {
        prop_assert_eq!(changes(&from, &to).is_empty(), from.plan.digest() == to.plan.digest());
        prop_assert_eq!(changes(&from, &from), []);
    }

    #[test]
    fn every_release_that_differs_is_named_once(from in any_planned(), to in any_planned()) {
        use crate::plan::identity::release_digest;
        let mut named: Vec<_> = changes(&from, &to).into_iter().map(|entry| entry.id).collect();
        named.sort();
        let digests = |planned: &Planned| -> BTreeMap<String, Digest> {
            planned.plan.releases.iter().map(|release| (release.id.clone(), release_digest(release))).collect()
        };
        let (old, new) = (digests(&from), digests(&to));
        let mut expected: Vec<_> = old.keys().chain(new.keys()).filter(|id| old.get(*id) != new.get(*id)).cloned().collect();
        expected.sort();
        expected.dedup();
        prop_assert_eq!(named, expected);
    }
}
