//! From a bundle's two values files to normal form.
//!
//! Source: design sections 2 and 4. `values.yaml` is merged with `cluster-values.yaml` as Helm merges two `-f` files; then
//! a null that deletes nothing in the chart's defaults is dropped, one that may delete something becomes a parameter, and
//! one inside a list is dropped with a warning.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::helm_path::HelmPath;
use super::values::{Segment, Values, ValuesError, Walk, display, document};

/// The key under which Helm hands one map to a chart and all its subcharts.
const GLOBAL: &str = "global";

/// What is known about the default values of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Defaults {
    /// The chart's own `values.yaml`.
    pub values: Value,
    /// The charts below it.
    pub subcharts: Vec<Subchart>,
    /// Whether this is all: `false` when a file could not be read or the chart imports values from its subcharts. Then no
    /// path is certainly absent.
    pub complete: bool,
}

/// A chart below another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Subchart {
    /// The keys that its values may have in the parent: its name and every alias.
    pub names: Vec<String>,
    /// Its defaults.
    pub defaults: Defaults,
}

impl Defaults {
    /// A chart without subcharts.
    pub const fn of(values: Value) -> Self {
        Self { values, subcharts: Vec::new(), complete: true }
    }

    /// A chart of which nothing is known.
    pub const fn unknown() -> Self {
        Self { values: Value::Null, subcharts: Vec::new(), complete: false }
    }

    /// Whether the path is not certainly absent from the defaults of the chart and its subcharts.
    pub fn may_hold(&self, path: &[String]) -> bool {
        let [first, rest @ ..] = path else { return true };
        !self.complete
            || holds(&self.values, path)
            || self.subcharts.iter().any(|subchart| {
                (subchart.names.contains(first) && subchart.defaults.may_hold(rest))
                    || (first == GLOBAL && subchart.defaults.may_hold(path))
            })
    }
}

fn holds(value: &Value, path: &[String]) -> bool {
    path.iter().try_fold(value, |value, key| value.as_object()?.get(key)).is_some()
}

/// Values in normal form, and what a reader of the plan should know about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalized {
    /// The values.
    pub values: Values,
    /// One sentence each.
    pub warnings: Vec<String>,
}

/// Merges two values files as Helm merges `-f base -f over`: maps are merged, anything else of `over` replaces, and a null
/// stays, so that it can delete a default. An empty file (null) changes nothing.
///
/// # Errors
///
/// When a file holds neither a map nor nothing.
pub fn merge(base: &Value, over: &Value) -> Result<Value, ValuesError> {
    let mut merged = document(base)?.cloned().unwrap_or_default();
    if let Some(over) = document(over)? {
        merge_maps(&mut merged, over);
    }
    Ok(Value::Object(merged))
}

fn merge_maps(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, member) in over {
        match (base.get_mut(key), member) {
            (Some(Value::Object(below)), Value::Object(over)) => merge_maps(below, over),
            _ => {
                base.insert(key.clone(), member.clone());
            }
        }
    }
}

/// Brings a release's merged values into normal form.
///
/// # Errors
///
/// For a document that is no map, a NUL character, a null that is effective and that `--set` cannot reach, or values over
/// [`super::values::MAX_VALUES_BYTES`].
pub fn normalize(release: &str, merged: &Value, defaults: &Defaults) -> Result<Normalized, ValuesError> {
    let mut nulls = BTreeSet::new();
    let mut warnings = Vec::new();
    let mut take = |path: &[Segment]| {
        let Some(keys) = keys(path) else {
            let path = display(path);
            warnings.push(format!(
                "release {release}: the null at {path} is dropped: inside a list it deletes nothing"
            ));
            return Ok(());
        };
        if defaults.may_hold(&keys) {
            let unsettable = |why| ValuesError::Unsettable { path: display(path), why };
            nulls.insert(HelmPath::new(keys).map_err(unsettable)?);
        }
        Ok(())
    };
    let object = Walk::new(&mut take).document(merged)?;
    Ok(Normalized { values: Values::new(object, nulls)?, warnings })
}

/// The keys of a path; `None` if it leads through a list.
fn keys(path: &[Segment]) -> Option<Vec<String>> {
    path.iter()
        .map(|segment| match segment {
            Segment::Key(key) => Some(key.clone()),
            Segment::Index(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
