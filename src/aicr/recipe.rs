//! The recipe that `aicr recipe` resolves and `aicr bundle` records in its effective form.
//!
//! Source: aicr-cli section 2.2. Both documented versions are read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::artifact::{API_V1, API_V1BETA2, ArtifactError, Document, Node};

/// The criteria, in the order in which AICR's own names join them.
const CRITERIA: [&str; 5] = ["accelerator", "service", "os", "intent", "platform"];

/// A recipe, as far as it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Version of the AICR that resolved it.
    pub version: String,
    /// Its name: the last overlay that was applied or, without one, the criteria joined by `-`.
    pub name: String,
    /// The criteria that it was resolved for, those that are stated.
    pub criteria: BTreeMap<String, String>,
    /// The profile that was selected.
    pub profile: Option<Profile>,
    /// Components, by name.
    pub components: Vec<Component>,
}

/// A selected profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name, such as gpuStack.
    pub name: String,
    /// Its value, such as operator-managed.
    pub value: String,
    /// Value paths that it owns, which no override may touch, by component.
    pub owned_paths: BTreeMap<String, BTreeSet<String>>,
}

/// A component of a recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Namespace that it is installed in.
    pub namespace: String,
    /// Version of its chart; empty when it has manifests only.
    pub version: String,
    /// Components that must be ready before it, sorted.
    pub dependencies: BTreeSet<String>,
    /// Whether the recipe keeps it.
    pub enabled: bool,
}

impl Recipe {
    /// The component of this name.
    pub fn component(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|component| component.name == name)
    }
}

/// Reads a recipe, as JSON or YAML; `artifact` names it in errors: `recipe`, or `recipe.yaml` of a bundle.
///
/// # Errors
///
/// When it is no recipe of AICR 1.x, a documented field has another form, a component is listed twice, or one depends on
/// a component that the recipe does not list.
pub fn read_recipe(artifact: &str, text: &str) -> Result<Recipe, ArtifactError> {
    let document = Document::json_or_yaml(artifact, text)?;
    let root = document.of_kind("RecipeResult", &[API_V1, API_V1BETA2])?;
    let metadata = root.child("metadata")?.ok_or_else(|| root.missing("metadata"))?;
    let criteria = match root.child("criteria")? {
        Some(stated) => read_criteria(&stated)?,
        None => BTreeMap::new(),
    };
    let overlay = metadata.texts("appliedOverlays")?.pop().filter(|overlay| !overlay.is_empty());
    let name = overlay.unwrap_or_else(|| {
        CRITERIA.iter().filter_map(|name| criteria.get(*name)).cloned().collect::<Vec<_>>().join("-")
    });
    if name.is_empty() {
        return Err(
            metadata.error("appliedOverlays", "empty, and there are no criteria to name the recipe by")
        );
    }
    let references = root.array("componentRefs")?.ok_or_else(|| root.missing("componentRefs"))?;
    Ok(Recipe {
        version: metadata.required("version")?,
        name,
        criteria,
        profile: metadata.child("selectedProfile")?.map(|profile| read_profile(&profile)).transpose()?,
        components: read_components(&references)?,
    })
}

fn read_criteria(stated: &Node<'_>) -> Result<BTreeMap<String, String>, ArtifactError> {
    let mut criteria = BTreeMap::new();
    for name in CRITERIA {
        // "any" is how AICR spells a dimension that nobody stated.
        if let Some(value) = stated.optional(name)?.filter(|value| value != "any") {
            criteria.insert(name.to_owned(), value);
        }
    }
    Ok(criteria)
}

fn read_profile(profile: &Node<'_>) -> Result<Profile, ArtifactError> {
    let mut owned_paths = BTreeMap::new();
    if let Some(by_component) = profile.child("ownedPaths")? {
        for component in by_component.keys() {
            owned_paths.insert(component.to_owned(), by_component.texts(component)?.into_iter().collect());
        }
    }
    Ok(Profile { name: profile.required("name")?, value: profile.required("value")?, owned_paths })
}

fn read_components(references: &[Node<'_>]) -> Result<Vec<Component>, ArtifactError> {
    let mut components = Vec::with_capacity(references.len());
    let mut names = BTreeSet::new();
    for reference in references {
        let name = reference.required("name")?;
        if !names.insert(name.clone()) {
            return Err(reference.error("name", format!("'{name}' is listed more than once")));
        }
        let enabled = match reference.child("overrides")?.and_then(|overrides| overrides.raw("enabled")) {
            None | Some(Value::Bool(true)) => true,
            Some(Value::Bool(false)) => false,
            Some(_) => return Err(reference.error("overrides.enabled", "expected true or false")),
        };
        components.push(Component {
            name,
            namespace: reference.text("namespace")?,
            version: reference.text("version")?,
            dependencies: reference.texts("dependencyRefs")?.into_iter().collect(),
            enabled,
        });
    }
    for (reference, component) in references.iter().zip(&components) {
        if let Some(unknown) = component.dependencies.iter().find(|name| !names.contains(*name)) {
            let problem = format!("'{unknown}' is no component of the recipe");
            return Err(reference.error("dependencyRefs", problem));
        }
    }
    Ok(components)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document() -> Value {
        json!({
            "apiVersion": "aicr.run/v1", "kind": "RecipeResult",
            "metadata": {"version": "v1.0.0", "appliedOverlays": ["base", "eks", "h100-eks-training"]},
            "criteria": {"service": "eks", "accelerator": "h100", "intent": "training", "os": "any"},
            "constraints": [{"name": "K8s.server.version", "value": ">= 1.32.4"}],
            "componentRefs": [
                {"name": "cert-manager", "namespace": "cert-manager", "chart": "cert-manager", "type": "Helm",
                 "source": "https://charts.jetstack.io", "version": "v1.20.2", "overrides": {"enabled": false}},
                {"name": "gpu-operator", "namespace": "gpu-operator", "version": "v26.7.1",
                 "dependencyRefs": ["nfd", "cert-manager"], "overrides": {}},
                {"name": "nfd", "namespace": "node-feature-discovery", "version": "0.19.0", "dependencyRefs": null},
            ],
            "deploymentOrder": ["nfd", "gpu-operator"],
        })
    }

    fn read(change: impl FnOnce(&mut Value)) -> Result<Recipe, ArtifactError> {
        let mut value = document();
        change(&mut value);
        read_recipe("recipe", &value.to_string())
    }

    #[test]
    fn the_documented_recipe_is_read_from_json_and_from_yaml() {
        let recipe = read(|_| ()).unwrap();
        assert_eq!((recipe.version.as_str(), recipe.name.as_str()), ("v1.0.0", "h100-eks-training"));
        let criteria = [("accelerator", "h100"), ("intent", "training"), ("service", "eks")];
        assert_eq!(recipe.criteria, criteria.map(|(name, value)| (name.into(), value.into())).into());
        let gpu = recipe.component("gpu-operator").unwrap();
        assert_eq!(
            (gpu.enabled, gpu.version.as_str(), gpu.namespace.as_str()),
            (true, "v26.7.1", "gpu-operator")
        );
        assert_eq!(gpu.dependencies, ["cert-manager", "nfd"].map(String::from).into());
        assert!(!recipe.component("cert-manager").unwrap().enabled);
        assert!(recipe.component("kueue").is_none());
        assert_eq!(read_recipe("recipe", &serde_yaml::to_string(&document()).unwrap()).unwrap(), recipe);
    }

    #[test]
    fn a_recipe_with_a_profile_is_read() {
        let recipe = read(|value| {
            value["apiVersion"] = json!("aicr.run/v1beta2");
            value["metadata"]["selectedProfile"] = json!({
                "name": "gpuStack", "value": "operator-managed", "ownedPaths": {"gpu-operator": ["driver.enabled", "enabled"]},
            });
        })
        .unwrap();
        let profile = recipe.profile.unwrap();
        assert_eq!((profile.name.as_str(), profile.value.as_str()), ("gpuStack", "operator-managed"));
        assert!(profile.owned_paths["gpu-operator"].contains("driver.enabled"));
    }

    #[test]
    fn without_overlays_the_criteria_name_the_recipe() {
        let named = |criteria: Value| {
            read(|value| {
                value["metadata"]["appliedOverlays"] = json!([]);
                value["criteria"] = criteria;
            })
        };
        let all = json!({"platform": "kubeflow", "intent": "training", "os": "ubuntu", "service": "eks", "accelerator": "h100"});
        assert_eq!(named(all).unwrap().name, "h100-eks-ubuntu-training-kubeflow");
        assert_eq!(named(json!({"intent": "training", "os": "any"})).unwrap().name, "training");
        let error = named(json!({})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "recipe: metadata.appliedOverlays: empty, and there are no criteria to name the recipe by"
        );
    }

    #[test]
    fn what_is_not_documented_is_refused_by_field() {
        for (pointer, found, message) in [
            (
                "/apiVersion",
                json!("aicr.run/v1alpha2"),
                "apiVersion: 'aicr.run/v1alpha2' is not supported: expected aicr.run/v1 or aicr.run/v1beta2",
            ),
            ("/kind", json!("Snapshot"), "kind: 'Snapshot' is not RecipeResult"),
            ("/metadata/version", json!(1), "metadata.version: expected a string, found a number"),
            (
                "/metadata/appliedOverlays/1",
                json!(1),
                "metadata.appliedOverlays[1]: expected a string, found a number",
            ),
            ("/criteria/service", json!([]), "criteria.service: expected a string, found a list"),
            ("/componentRefs", json!({}), "componentRefs: expected a list, found an object"),
            ("/componentRefs/0/name", json!(""), "componentRefs[0].name: missing"),
            (
                "/componentRefs/2/name",
                json!("cert-manager"),
                "componentRefs[2].name: 'cert-manager' is listed more than once",
            ),
            (
                "/componentRefs/1/dependencyRefs/0",
                json!("kueue"),
                "componentRefs[1].dependencyRefs: 'kueue' is no component of the recipe",
            ),
            (
                "/componentRefs/0/overrides/enabled",
                json!("no"),
                "componentRefs[0].overrides.enabled: expected true or false",
            ),
        ] {
            let error = read(|value| *value.pointer_mut(pointer).unwrap() = found).unwrap_err();
            assert_eq!(error.to_string(), format!("recipe: {message}"));
        }
    }
}
