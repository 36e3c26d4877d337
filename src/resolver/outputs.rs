//! Outputs of AICR's runs: taken from the run's own ConfigMap, and kept in copies that nobody owns.
//!
//! Source: design section 3 (the key is the single `snapshot.*`, whatever the kind); api-reference "Retention" (what is
//! kept is copied) and "Engine object metadata". A copy is named by its content, so making it twice makes it once; which
//! copy is a stage's is recorded with its attempts. The plan's recipes and values have their form in
//! [`crate::plan::configmap`].

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::aicr;
use crate::aicr::run::Ending;
use crate::api::{Time, keys};
use crate::plan::Digest;
use crate::plan::configmap::recipe_ref;
use crate::plan::sealed::MAX_PLAN_BYTES;

use super::reason::{Reason, Refused};

/// Prefix of the key that AICR writes an output under.
const OUTPUT_PREFIX: &str = "snapshot.";
const SNAPSHOT_KEY: &str = "snapshot.yaml";
const SPENT_KEY: &str = "resnapshot-tokens.json";
const RECIPE_KEY: &str = "recipe.json";

/// Whom a copy belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// UID of the runtime.
    pub runtime_uid: &'a str,
    /// Namespace of the operator.
    pub namespace: &'a str,
    /// `inputDigest` of the resolution that needed it first.
    pub resolution: Digest,
}

/// A snapshot that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotCopy {
    /// Name of its ConfigMap.
    pub name: String,
    /// Its bytes.
    pub text: String,
    /// Their digest.
    pub digest: Digest,
    /// When it was kept.
    pub observed_at: Time,
    /// The `resnapshot` tokens that are spent, oldest first.
    pub spent: Vec<String>,
}

/// The output in the ConfigMap that a run was given for it.
///
/// # Errors
///
/// How the run ended instead: without an output, or with one that cannot be told or does not fit a copy.
pub fn taken(found: Option<&ConfigMap>) -> Result<&str, (Ending, String)> {
    let Some(object) = found else {
        return Err((Ending::OutputMissing, "the ConfigMap for it is gone".to_owned()));
    };
    let keys = object.data.iter().flatten().filter(|(key, _)| key.starts_with(OUTPUT_PREFIX));
    let mut outputs = keys.map(|(_, text)| text.as_str());
    let text = match (outputs.next(), outputs.next()) {
        (Some(text), None) if !text.trim().is_empty() => text,
        (Some(_), Some(_)) => {
            let problem = format!("the ConfigMap for it has several keys {OUTPUT_PREFIX}*");
            return Err((Ending::OutputUnreadable, problem));
        }
        _ => {
            return Err((Ending::OutputMissing, format!("the ConfigMap for it has no key {OUTPUT_PREFIX}*")));
        }
    };
    // A copy holds a little more beside it.
    if text.len() > MAX_PLAN_BYTES - 64 * 1024 {
        return Err((Ending::OutputTooLarge, format!("it takes {} bytes", text.len())));
    }
    Ok(text)
}

/// Name of the copy of the snapshot with this digest.
pub fn snapshot_name(digest: Digest) -> String {
    format!("aicr-snapshot-{}", digest.short())
}

/// A snapshot's copy. `spent` is what [`super::inputs::spent_after`] says.
pub fn write_snapshot(owner: Owner<'_>, text: &str, spent: &[String]) -> ConfigMap {
    let digest = Digest::of_bytes(text.as_bytes());
    let mut object = copy(owner, snapshot_name(digest), "snapshot", digest);
    let tokens = serde_json::Value::from(spent.to_vec()).to_string();
    let data = [(SNAPSHOT_KEY.to_owned(), text.to_owned()), (SPENT_KEY.to_owned(), tokens)];
    object.data = Some(data.into());
    object
}

/// Reads a snapshot's copy.
///
/// # Errors
///
/// `AICRArtifactUnsupported` when it is not what [`write_snapshot`] wrote and the API server dated.
pub fn read_snapshot(object: &ConfigMap) -> Result<SnapshotCopy, Refused> {
    let name = object.metadata.name.clone().unwrap_or_default();
    let refused = |problem: &str| {
        let message = format!(
            "snapshot {name} cannot be read: {problem}; delete the ConfigMap to have a new one taken"
        );
        Refused::new(Reason::Aicr(aicr::Reason::ArtifactUnsupported), message)
    };
    let data = |key: &str| object.data.as_ref().and_then(|data| data.get(key));
    let text = data(SNAPSHOT_KEY).ok_or_else(|| refused("it has no snapshot.yaml"))?;
    let digest = Digest::of_bytes(text.as_bytes());
    let recorded = object.metadata.annotations.as_ref().and_then(|annotations| annotations.get(keys::DIGEST));
    if recorded != Some(&digest.to_string()) || name != snapshot_name(digest) {
        return Err(refused("its content does not have the digest that it states"));
    }
    let spent = data(SPENT_KEY).and_then(|text| serde_json::from_str(text).ok());
    let spent = spent.ok_or_else(|| refused("its resnapshot-tokens.json is no list of texts"))?;
    let created = object.metadata.creation_timestamp.as_ref().ok_or_else(|| refused("it has no date"))?;
    let observed_at = Time(created.0);
    Ok(SnapshotCopy { name: name.clone(), text: text.clone(), digest, observed_at, spent })
}

/// The copy of a recipe Job's output, under the name by which plans refer to it.
pub fn write_recipe(owner: Owner<'_>, text: &str) -> ConfigMap {
    let content = recipe_ref(text);
    let mut object = copy(owner, content.config_map, "recipe", content.digest);
    object.data = Some([(RECIPE_KEY.to_owned(), text.to_owned())].into());
    object
}

fn copy(owner: Owner<'_>, name: String, role: &str, digest: Digest) -> ConfigMap {
    let labels = [
        (keys::MANAGED_BY, keys::MANAGER.to_owned()),
        (keys::RUNTIME, keys::SINGLETON.to_owned()),
        (keys::ROLE, role.to_owned()),
        (keys::INPUT, owner.resolution.short()),
    ];
    let annotations = [(keys::RUNTIME_UID, owner.runtime_uid.to_owned()), (keys::DIGEST, digest.to_string())];
    let entry = |(key, value): (&str, String)| (key.to_owned(), value);
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(owner.namespace.to_owned()),
            labels: Some(labels.into_iter().map(entry).collect()),
            annotations: Some(annotations.into_iter().map(entry).collect()),
            ..ObjectMeta::default()
        },
        immutable: Some(true),
        ..ConfigMap::default()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1;

    use super::*;
    use crate::plan::configmap::{RecipeKind, read_recipe};

    fn owner() -> Owner<'static> {
        Owner { runtime_uid: "uid", namespace: "aicr-system", resolution: Digest::of_bytes(b"resolution") }
    }

    fn map(data: &[(&str, &str)]) -> ConfigMap {
        let data = data.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
        ConfigMap { data: Some(data), ..ConfigMap::default() }
    }

    fn dated(mut object: ConfigMap) -> ConfigMap {
        object.metadata.creation_timestamp = Some(v1::Time(crate::api::fixtures::at("01:00:00").0));
        object
    }

    #[test]
    fn an_output_is_the_one_key_that_aicr_writes_whatever_it_holds() {
        let others = ("format", "json");
        assert_eq!(taken(Some(&map(&[("snapshot.json", "{}"), others, ("timestamp", "x")]))), Ok("{}"));
        let large = "x".repeat(MAX_PLAN_BYTES);
        for (found, ending) in [
            (None, Ending::OutputMissing),
            (Some(ConfigMap::default()), Ending::OutputMissing),
            (Some(map(&[others])), Ending::OutputMissing),
            (Some(map(&[("snapshot.yaml", " \n")])), Ending::OutputMissing),
            (Some(map(&[("snapshot.yaml", "a"), ("snapshot.json", "b")])), Ending::OutputUnreadable),
            (Some(map(&[("snapshot.yaml", &large)])), Ending::OutputTooLarge),
        ] {
            assert_eq!(taken(found.as_ref()).unwrap_err().0, ending);
        }
    }

    #[test]
    fn a_snapshot_comes_back_with_its_date_and_the_spent_tokens_and_nobody_owns_it() {
        let spent = ["a".to_owned(), "b".to_owned()];
        let written = write_snapshot(owner(), "kind: Snapshot\n", &spent);
        assert!(written.metadata.owner_references.is_none());
        let read = read_snapshot(&dated(written)).unwrap();
        assert_eq!((read.text.as_str(), &read.spent[..]), ("kind: Snapshot\n", &spent[..]));
        assert_eq!(
            (read.digest, read.name),
            (Digest::of_bytes(b"kind: Snapshot\n"), snapshot_name(read.digest))
        );
        assert_eq!(read.observed_at, crate::api::fixtures::at("01:00:00"));
    }

    #[test]
    fn a_snapshot_that_was_changed_is_not_read() {
        type Edit = fn(&mut ConfigMap);
        let table: [(Edit, &str); 5] = [
            (|object| object.data = None, "it has no snapshot.yaml"),
            (
                |object| {
                    object.data.get_or_insert_default().insert(SNAPSHOT_KEY.to_owned(), "other".to_owned());
                },
                "its content does not have the digest that it states",
            ),
            (
                |object| object.metadata.annotations = None,
                "its content does not have the digest that it states",
            ),
            (
                |object| {
                    object.data.get_or_insert_default().insert(SPENT_KEY.to_owned(), "{}".to_owned());
                },
                "its resnapshot-tokens.json is no list of texts",
            ),
            (|object| object.metadata.creation_timestamp = None, "it has no date"),
        ];
        for (edit, problem) in table {
            let mut object = dated(write_snapshot(owner(), "x", &[]));
            edit(&mut object);
            let refused = read_snapshot(&object).unwrap_err();
            assert_eq!(refused.reason.as_str(), "AICRArtifactUnsupported");
            assert!(refused.message.contains(problem), "{refused}");
        }
    }

    #[test]
    fn a_recipes_copy_is_the_one_that_plans_refer_to() {
        let written = write_recipe(owner(), "{}\n");
        let content = recipe_ref("{}\n");
        assert_eq!(read_recipe(&content, RecipeKind::Resolved, Some(&written)), Ok("{}\n"));
        assert_eq!(written.metadata.labels.unwrap()[keys::INPUT], owner().resolution.short());
    }
}
