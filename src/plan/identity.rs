//! What makes two plans, releases, specs or inventories the same: the records that their digests cover.
//!
//! Source: design section 2. A plan's digest covers what a rebuild from live Applications can know, and nothing else:
//! left out are runtime UID, provenance, recipes, warnings, component, chart version and upstream, and the order of lists.

use serde_json::{Map, Value};

use super::digest::{Digest, Kind, Record, is_empty};
use super::document::{Engine, Release};
use super::engine::sorted;
use super::numbers;
use crate::api::{InventoryEntry, keys};

/// `desiredStateDigest`: engine and releases, sorted by ID.
pub fn plan_digest(engine: Engine, releases: &[Release]) -> Digest {
    let mut releases: Vec<_> = releases.iter().collect();
    releases.sort_by(|one, other| one.id.cmp(&other.id));
    Record::new()
        .with("engine", engine.as_str())
        .with(
            "releases",
            releases.into_iter().map(|release| release_record(release).into_value()).collect::<Value>(),
        )
        .digest(Kind::Plan)
}

/// A release's digest: the same members of that one release. Live releases are matched to plans by it.
pub fn release_digest(release: &Release) -> Digest {
    release_record(release).digest(Kind::Release)
}

fn release_record(release: &Release) -> Record {
    let chart = Record::new()
        .with("repository", release.chart.repository.as_str())
        .with("digest", release.chart.digest.to_string());
    Record::new()
        .with("id", release.id.as_str())
        .with("phase", release.phase.as_str())
        .with("readinessFor", release.readiness_for.as_deref())
        .with("dependsOn", sorted(&release.depends_on))
        .with("ownsCRDs", release.owns_crds)
        .with("targetNamespace", release.target_namespace.as_str())
        .with("chart", chart.into_value())
        .with("values", release.values.digest.to_string())
        .with("enginePolicy", release.engine_policy.identity())
}

/// The value with every number in normal form.
pub(super) fn plain_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => numbers::normal(number).map_or_else(|| value.clone(), Value::Number),
        Value::Array(items) => items.iter().map(plain_numbers).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, member)| (key.clone(), plain_numbers(member))).collect())
        }
        _ => value.clone(),
    }
}

/// `specDigest`: the source, Helm values included, and the destination of an Application as it was read.
///
/// Takes the raw object, so that a member which this version does not know is covered too. Numbers are in normal form and
/// an absent member equals an empty one; within the values only numbers are: a null or an empty map there says something.
pub fn spec_digest(application: &Value) -> Digest {
    spec_record(application).digest(Kind::Spec)
}

/// The members of `spec` that say what is deployed and where.
pub(super) fn spec_record(application: &Value) -> Record {
    let spec = application.get("spec").unwrap_or(&Value::Null);
    ["source", "sources", "sourceHydrator", "destination"]
        .into_iter()
        .fold(Record::new(), |record, member| record.with(member, spec.get(member).map(without_empty)))
}

/// The value without members that say no more than their absence. Elements of lists stay, and so do a release's values.
pub(super) fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().map(|(key, member)| match key.as_str() {
                "valuesObject" => (key, member.clone()),
                _ => (key, without_empty(member)),
            });
            let kept = kept.filter(|(_, member)| !is_empty(member));
            Value::Object(kept.map(|(key, member)| (key.clone(), member)).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(without_empty).collect(),
        scalar => scalar.clone(),
    }
}

/// An Application as it was read, as an entry of a rollout's inventory; "" for what it lacks.
pub fn inventory_entry(application: &Value) -> InventoryEntry {
    let text =
        |pointer: &str| application.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let annotation = |key: &str| text(&format!("/metadata/annotations/{}", key.replace('/', "~1")));
    InventoryEntry {
        release_id: annotation(keys::RELEASE_ID),
        name: text("/metadata/name"),
        uid: text("/metadata/uid"),
        plan_digest: annotation(keys::PLAN_DIGEST),
        revision: text("/spec/source/targetRevision"),
        spec_digest: spec_digest(application).to_string(),
    }
}

/// The digest of an inventory, whatever the order of its entries.
pub fn inventory_digest(entries: &[InventoryEntry]) -> Digest {
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|entry| (&entry.release_id, &entry.name, &entry.uid));
    let record = |entry: &InventoryEntry| {
        Record::new()
            .with("releaseID", entry.release_id.as_str())
            .with("name", entry.name.as_str())
            .with("uid", entry.uid.as_str())
            .with("planDigest", entry.plan_digest.as_str())
            .with("revision", entry.revision.as_str())
            .with("specDigest", entry.spec_digest.as_str())
            .into_value()
    };
    Record::new().with("entries", entries.into_iter().map(record).collect::<Value>()).digest(Kind::Inventory)
}

#[cfg(test)]
mod tests;
