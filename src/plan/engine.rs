//! The resolved engine policy of a release: how Argo CD compares, syncs and retries it.
//!
//! Source: design sections 2 and 6. It is stored in the plan and Applications are written from it, so a plan that an
//! earlier version resolved keeps its meaning.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::digest::Record;
use crate::api::application::{Backoff, IgnoreDifference, Retry};

/// Entries of an Application's `status.history` that the operator keeps.
const HISTORY_LIMIT: i64 = 2;

/// How Argo CD handles one release. The order within its lists says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnginePolicy {
    /// The `AppProject`.
    pub project: String,
    /// Sync options as `Name=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sync_options: Vec<String>,
    /// Compare options as `Name=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compare_options: Vec<String>,
    /// Differences that do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_differences: Vec<IgnoreDifference>,
    /// Retries of automated syncs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Deletes what the chart no longer holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prune: bool,
    /// Undoes edits of the live objects.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub self_heal: bool,
    /// Entries of `status.history` to keep; absent is Argo CD's own default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision_history_limit: Option<i64>,
}

impl EnginePolicy {
    /// The policy of a release whose component needs no exception.
    pub fn standard(project: &str) -> Self {
        let options = |options: &[&str]| options.iter().map(|option| (*option).to_owned()).collect();
        let backoff = Backoff { duration: "5s".to_owned(), factor: Some(2), max_duration: "3m".to_owned() };
        Self {
            project: project.to_owned(),
            sync_options: options(&["RespectIgnoreDifferences=true", "ServerSideApply=true"]),
            compare_options: options(&["ServerSideDiff=true"]),
            ignore_differences: Vec::new(),
            retry: Some(Retry { limit: Some(5), backoff: Some(backoff) }),
            prune: true,
            self_heal: true,
            revision_history_limit: Some(HISTORY_LIMIT),
        }
    }

    /// The policy as a digest covers it: lists sorted, defaults left out.
    pub(super) fn identity(&self) -> Value {
        let mut differences: Vec<_> = self.ignore_differences.iter().map(sorted_difference).collect();
        differences.sort_unstable();
        differences.dedup();
        Record::new()
            .with("project", self.project.as_str())
            .with("syncOptions", sorted(&self.sync_options))
            .with("compareOptions", sorted(&self.compare_options))
            .with("ignoreDifferences", differences.iter().map(difference_json).collect::<Value>())
            .with("retry", self.retry.as_ref().map(retry_json))
            .with("prune", self.prune)
            .with("selfHeal", self.self_heal)
            .with("revisionHistoryLimit", self.revision_history_limit)
            .into_value()
    }
}

/// A list whose order says nothing: sorted, each entry once.
pub(super) fn sorted(items: &[String]) -> Vec<String> {
    let mut items = items.to_vec();
    items.sort_unstable();
    items.dedup();
    items
}

fn sorted_difference(difference: &IgnoreDifference) -> IgnoreDifference {
    IgnoreDifference {
        json_pointers: sorted(&difference.json_pointers),
        jq_path_expressions: sorted(&difference.jq_path_expressions),
        managed_fields_managers: sorted(&difference.managed_fields_managers),
        ..difference.clone()
    }
}

/// One entry as Argo CD's API spells it, empty members left out.
pub(super) fn difference_json(difference: &IgnoreDifference) -> Value {
    Record::new()
        .with("group", difference.group.as_str())
        .with("kind", difference.kind.as_str())
        .with("name", difference.name.as_str())
        .with("namespace", difference.namespace.as_str())
        .with("jsonPointers", difference.json_pointers.clone())
        .with("jqPathExpressions", difference.jq_path_expressions.clone())
        .with("managedFieldsManagers", difference.managed_fields_managers.clone())
        .into_value()
}

/// Retries as Argo CD's API spells them, empty members left out.
pub(super) fn retry_json(retry: &Retry) -> Value {
    let backoff = retry.backoff.as_ref().map_or(json!(null), |backoff| {
        Record::new()
            .with("duration", backoff.duration.as_str())
            .with("factor", backoff.factor)
            .with("maxDuration", backoff.max_duration.as_str())
            .into_value()
    });
    Record::new().with("limit", retry.limit).with("backoff", backoff).into_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_options_and_exceptions_is_not_part_of_the_identity() {
        let difference = |kind: &str, pointers: &[&str]| IgnoreDifference {
            kind: kind.to_owned(),
            json_pointers: pointers.iter().map(|pointer| (*pointer).to_owned()).collect(),
            ..IgnoreDifference::default()
        };
        let mut one = EnginePolicy::standard("aicr");
        one.ignore_differences = vec![difference("A", &["/x", "/y"]), difference("B", &[])];
        let mut other = EnginePolicy::standard("aicr");
        other.sync_options.reverse();
        other.ignore_differences = vec![difference("B", &[]), difference("A", &["/y", "/x"])];
        assert_eq!(one.identity(), other.identity());
    }

    #[test]
    fn every_member_is_part_of_the_identity() {
        let standard = EnginePolicy::standard("aicr").identity();
        let edits: [fn(&mut EnginePolicy); 8] = [
            |policy| policy.project = "other".to_owned(),
            |policy| policy.sync_options.push("CreateNamespace=true".to_owned()),
            |policy| policy.compare_options.clear(),
            |policy| policy.ignore_differences.push(IgnoreDifference::default()),
            |policy| policy.retry = None,
            |policy| policy.prune = false,
            |policy| policy.self_heal = false,
            |policy| policy.revision_history_limit = Some(0),
        ];
        for (index, edit) in edits.iter().enumerate() {
            let mut policy = EnginePolicy::standard("aicr");
            edit(&mut policy);
            assert_ne!(policy.identity(), standard, "edit {index}");
        }
    }
}
