//! A read-only view of Argo CD's `Application`: what a plan is rebuilt from.
//!
//! Applications are read, edited and replaced as raw JSON (design section 6), because typing one would lose the members
//! that are not listed here. This view only answers questions. A null reads as an absent member, except in the values.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// API version of the object.
pub const API_VERSION: &str = "argoproj.io/v1alpha1";
/// Kind of the object.
pub const KIND: &str = "Application";
/// The server that the operator deploys to: the cluster it runs in.
pub const IN_CLUSTER: &str = "https://kubernetes.default.svc";
/// Annotation: comma-separated options of Argo CD's comparison.
pub const COMPARE_OPTIONS: &str = "argocd.argoproj.io/compare-options";

/// An `Application` as far as it is read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Application {
    /// Name, labels, annotations.
    #[serde(default, deserialize_with = "null_is_default")]
    pub metadata: Metadata,
    /// Desired state.
    #[serde(default, deserialize_with = "null_is_default")]
    pub spec: Spec,
}

/// The object's metadata.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The object's name; the operator's are named by release ID.
    #[serde(default, deserialize_with = "null_is_default")]
    pub name: String,
    /// Identity given by the API server.
    #[serde(default, deserialize_with = "null_is_default")]
    pub uid: String,
    /// Labels.
    #[serde(default, deserialize_with = "null_is_default")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, deserialize_with = "null_is_default")]
    pub annotations: BTreeMap<String, String>,
}

/// Desired state of an `Application`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// The `AppProject`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub project: String,
    /// Where the chart comes from; absent when `sources` is used.
    pub source: Option<Source>,
    /// Where it goes.
    #[serde(default, deserialize_with = "null_is_default")]
    pub destination: Destination,
    /// When and how Argo CD syncs.
    #[serde(default, deserialize_with = "null_is_default")]
    pub sync_policy: SyncPolicy,
    /// Differences that do not count.
    #[serde(default, deserialize_with = "null_is_default")]
    pub ignore_differences: Vec<IgnoreDifference>,
    /// Entries of `status.history` to keep; Argo CD's own default where absent.
    pub revision_history_limit: Option<i64>,
}

/// Where a chart comes from.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// `oci://` repository of the chart.
    #[serde(rename = "repoURL", default, deserialize_with = "null_is_default")]
    pub repo_url: String,
    /// Manifest digest of the chart.
    #[serde(default, deserialize_with = "null_is_default")]
    pub target_revision: String,
    /// Helm's inputs.
    #[serde(default, deserialize_with = "null_is_default")]
    pub helm: Helm,
}

/// Helm's inputs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Helm {
    /// The values, as they were written.
    #[serde(default)]
    pub values_object: Value,
    /// Values passed as `--set`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub parameters: Vec<Parameter>,
}

/// One value passed to Helm as `--set name=value`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parameter {
    /// Path of the value, escaped for `--set`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub name: String,
    /// The value as text.
    #[serde(default, deserialize_with = "null_is_default")]
    pub value: String,
    /// Passes it as `--set-string` instead.
    #[serde(default, skip_serializing_if = "is_false", deserialize_with = "null_is_default")]
    pub force_string: bool,
}

/// Where an `Application` deploys to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Destination {
    /// Namespace of the release.
    #[serde(default, deserialize_with = "null_is_default")]
    pub namespace: String,
}

/// When and how Argo CD syncs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncPolicy {
    /// Automated syncs; absent means none.
    pub automated: Option<Automated>,
    /// Options as `Name=value`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub sync_options: Vec<String>,
    /// What happens after a failed sync.
    pub retry: Option<Retry>,
}

/// Automated syncs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Automated {
    /// Deletes what the chart no longer holds.
    #[serde(default, deserialize_with = "null_is_default")]
    pub prune: bool,
    /// Undoes edits of the live objects.
    #[serde(default, deserialize_with = "null_is_default")]
    pub self_heal: bool,
}

/// What happens after a failed sync.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Number of further attempts; negative means without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Time between attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<Backoff>,
}

/// Time between attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backoff {
    /// The first wait, as a Go duration (`5s`).
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "null_is_default")]
    pub duration: String,
    /// By what each wait grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<i64>,
    /// The longest wait, as a Go duration.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "null_is_default")]
    pub max_duration: String,
}

/// Differences of some objects that do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IgnoreDifference {
    /// API group; empty is the core group.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "null_is_default")]
    pub group: String,
    /// Kind.
    #[serde(default, deserialize_with = "null_is_default")]
    pub kind: String,
    /// Name; empty is every name.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "null_is_default")]
    pub name: String,
    /// Namespace; empty is every namespace.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "null_is_default")]
    pub namespace: String,
    /// Fields as JSON pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_default")]
    pub json_pointers: Vec<String>,
    /// Fields as jq paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_default")]
    pub jq_path_expressions: Vec<String>,
    /// Fields owned by these field managers.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_default")]
    pub managed_fields_managers: Vec<String>,
}

impl Application {
    /// Reads the view from the raw object.
    ///
    /// # Errors
    ///
    /// When a member that is read has another type than the Argo CD API gives it.
    pub fn read(raw: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(raw)
    }

    /// The label's value, "" where it is absent.
    pub fn label(&self, key: &str) -> &str {
        self.metadata.labels.get(key).map_or("", String::as_str)
    }

    /// The annotation's value, "" where it is absent.
    pub fn annotation(&self, key: &str) -> &str {
        self.metadata.annotations.get(key).map_or("", String::as_str)
    }
}

fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_null_reads_as_an_absent_member() {
        let nulls = json!({"metadata": {"name": null, "annotations": null}, "spec": {"source": null,
            "destination": null, "syncPolicy": {"automated": null, "syncOptions": null, "retry": null},
            "ignoreDifferences": null, "revisionHistoryLimit": null}, "status": null});
        assert_eq!(Application::read(&nulls).unwrap(), Application::default());
        assert_eq!(Application::read(&json!({})).unwrap(), Application::default());
    }

    #[test]
    fn values_are_kept_as_they_were_written() {
        let raw = json!({"spec": {"source": {"helm": {"valuesObject": {"a": null, "b": 1.0}}}}});
        let source = Application::read(&raw).unwrap().spec.source.unwrap();
        assert_eq!(source.helm.values_object, json!({"a": null, "b": 1.0}));
    }

    #[test]
    fn automated_without_members_is_not_absent() {
        let raw = json!({"spec": {"syncPolicy": {"automated": {}}}});
        assert_eq!(Application::read(&raw).unwrap().spec.sync_policy.automated, Some(Automated::default()));
    }

    #[test]
    fn a_member_of_another_type_is_an_error() {
        for raw in [
            json!(null),
            json!("x"),
            json!({"spec": 1}),
            json!({"metadata": {"labels": {"a": 1}}}),
            json!({"spec": {"source": {"repoURL": 1}}}),
            json!({"spec": {"syncPolicy": {"automated": true}}}),
        ] {
            assert!(Application::read(&raw).is_err(), "{raw}");
        }
    }
}
