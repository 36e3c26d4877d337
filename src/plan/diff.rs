//! Two JSON trees compared leaf by leaf.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// One leaf that differs. A leaf is a scalar or an empty map or list.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafChange {
    /// JSON pointer (RFC 6901); elements of lists by index.
    pub path: String,
    /// What it was; `None` if it is new.
    pub from: Option<Value>,
    /// What it is; `None` if it is gone.
    pub to: Option<Value>,
}

/// The leaves that differ, level by level. Where a leaf became a tree, or the other way round, both sides are listed.
pub fn leaves(from: &Value, to: &Value) -> Vec<LeafChange> {
    let mut changes = Vec::new();
    compare(&mut String::new(), Some(from), Some(to), &mut changes);
    changes
}

fn compare(path: &mut String, from: Option<&Value>, to: Option<&Value>, changes: &mut Vec<LeafChange>) {
    if from == to {
        return;
    }
    if let (Some(Value::Object(_)), Some(Value::Object(_))) | (Some(Value::Array(_)), Some(Value::Array(_))) =
        (from, to)
    {
        below(path, from, to, changes);
        return;
    }
    let (from_leaf, to_leaf) = (from.filter(|value| is_leaf(value)), to.filter(|value| is_leaf(value)));
    if from_leaf.is_some() || to_leaf.is_some() {
        changes.push(LeafChange { path: path.clone(), from: from_leaf.cloned(), to: to_leaf.cloned() });
    }
    below(path, from, None, changes);
    below(path, None, to, changes);
}

fn below(path: &mut String, from: Option<&Value>, to: Option<&Value>, changes: &mut Vec<LeafChange>) {
    fn map(value: Option<&Value>) -> Option<&Map<String, Value>> {
        value.and_then(Value::as_object)
    }
    fn list(value: Option<&Value>) -> &[Value] {
        value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
    let keys: BTreeSet<&String> = [map(from), map(to)].into_iter().flatten().flat_map(Map::keys).collect();
    for key in keys {
        let member = |side| map(side).and_then(|map| map.get(key));
        step(path, &key.replace('~', "~0").replace('/', "~1"), member(from), member(to), changes);
    }
    let (from, to) = (list(from), list(to));
    for index in 0..from.len().max(to.len()) {
        step(path, &index.to_string(), from.get(index), to.get(index), changes);
    }
}

fn step(
    path: &mut String,
    token: &str,
    from: Option<&Value>,
    to: Option<&Value>,
    changes: &mut Vec<LeafChange>,
) {
    let length = path.len();
    path.push('/');
    path.push_str(token);
    compare(path, from, to, changes);
    path.truncate(length);
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixtures::any_json;
    use proptest::prelude::*;
    use serde_json::json;

    fn shown(from: &Value, to: &Value) -> Vec<String> {
        let side = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
        let line =
            |change: &LeafChange| format!("{}: {} => {}", change.path, side(&change.from), side(&change.to));
        leaves(from, to).iter().map(line).collect()
    }

    #[test]
    fn every_leaf_that_differs_is_named_once() {
        let table = [
            (json!({"a": 1}), json!({"a": 1}), vec![]),
            (json!({"a": 1}), json!({"a": 2}), vec!["/a: 1 => 2"]),
            (json!({}), json!({"a": {"b": 1}}), vec!["/a/b: - => 1"]),
            (json!({"a": {"b": 1}}), json!({"a": {}}), vec!["/a/b: 1 => -"]),
            (json!({}), json!({"a": {}}), vec!["/a: - => {}"]),
            (json!({"a": {"b": 1}, "c": 1}), json!({"c": 1}), vec!["/a/b: 1 => -"]),
            (json!({"a": [1, 2, 3]}), json!({"a": [1, 4]}), vec!["/a/1: 2 => 4", "/a/2: 3 => -"]),
            (json!({"a": [{"b": 1}]}), json!({"a": [{"b": 2}]}), vec!["/a/0/b: 1 => 2"]),
            (json!({"a": 1}), json!({"a": {"b": 2}}), vec!["/a: 1 => -", "/a/b: - => 2"]),
            (json!({"a": {"0": 1}}), json!({"a": [1]}), vec!["/a/0: 1 => -", "/a/0: - => 1"]),
            (json!({"a": {}}), json!({"a": []}), vec!["/a: {} => []"]),
            (json!({"a": {}}), json!({}), vec!["/a: {} => -"]),
            (json!({"a/b": {"~": 1}}), json!({"a/b": {"~": null}}), vec!["/a~1b/~0: 1 => null"]),
        ];
        for (from, to, expected) in table {
            assert_eq!(shown(&from, &to), expected, "{from} and {to}");
        }
    }

    proptest! {
        #[test]
        fn only_equal_trees_have_no_differing_leaf(from in any_json(), to in any_json()) {
            prop_assert_eq!(leaves(&from, &to).is_empty(), from == to);
            prop_assert!(leaves(&from, &from).is_empty());
        }

        #[test]
        fn each_change_is_found_at_its_path(from in any_json(), to in any_json()) {
            for change in leaves(&from, &to) {
                if let Some(leaf) = &change.from {
                    prop_assert_eq!(from.pointer(&change.path), Some(leaf));
                }
                if let Some(leaf) = &change.to {
                    prop_assert_eq!(to.pointer(&change.path), Some(leaf));
                }
            }
        }
    }
}
