//! `aicr recipe`: from criteria to components.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::catalogue::{Component, Source, components};
use crate::failure::{Outcome, internal, invalid};
use crate::flags::Flags;
use crate::setup::{Release, Setup};
use crate::snapshot::Observed;

const DIMENSIONS: [(&str, &[&str]); 5] = [
    ("service", &["eks", "gke", "aks", "oke", "kind", "generic"]),
    ("accelerator", &["h100", "h200", "gb200", "gb300", "b200", "a100", "l40", "l40s", "rtx-pro-6000"]),
    ("intent", &["training", "inference"]),
    ("os", &["ubuntu", "rhel", "cos", "amazonlinux", "ol", "talos"]),
    ("platform", &["kubeflow", "nim", "dynamo", "runai", "slurm"]),
];

/// Values of the profile `gpuStack` by service.
const GPU_STACK: [(&str, [&str; 2]); 3] = [
    ("aks", ["azure-managed", "operator-managed"]),
    ("gke", ["gke-default", "bundle-installer"]),
    ("oke", ["oci-managed", "operator-managed"]),
];

/// Criteria by dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria(BTreeMap<String, String>);

impl Criteria {
    /// Criteria from pairs; an empty value is none.
    pub fn of(pairs: &[(&str, &str)]) -> Self {
        let stated = pairs.iter().filter(|(_, value)| !value.is_empty());
        Self(stated.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// The value of a dimension.
    pub fn get(&self, dimension: &str) -> Option<&str> {
        self.0.get(dimension).map(String::as_str)
    }

    /// The overlays that apply, general ones first; the last names the recipe.
    fn overlays(&self) -> Vec<String> {
        let mut overlays = vec!["base".to_owned()];
        let mut stated = Vec::new();
        for dimension in ["service", "intent", "accelerator", "os", "platform"] {
            let Some(value) = self.get(dimension) else { continue };
            stated.push(dimension);
            let name = ["accelerator", "service", "os", "intent", "platform"]
                .iter()
                .filter(|dimension| stated.contains(dimension))
                .filter_map(|dimension| self.get(dimension))
                .collect::<Vec<_>>()
                .join("-");
            debug_assert!(name.contains(value));
            overlays.push(name);
        }
        overlays
    }
}

/// Runs the command and returns the recipe.
///
/// # Errors
///
/// As AICR: criteria that it does not know, a mapping that it does not take.
pub fn run(setup: &Setup, flags: &Flags, snapshot: Option<&Value>) -> Outcome<Value> {
    let detected = match snapshot {
        Some(document) => Observed::read(document)?.criteria(),
        None => Criteria::default(),
    };
    let mut criteria = Criteria::default();
    for (dimension, known) in DIMENSIONS {
        let flag = if dimension == "accelerator" {
            flags.one(dimension).or(flags.one("gpu"))
        } else {
            flags.one(dimension)
        };
        // What is only detected and not known is not stated either.
        let detected = detected.get(dimension).filter(|value| known.contains(value));
        let Some(value) = flag.or(detected) else { continue };
        if !known.contains(&value) {
            let problem = invalid(format!("invalid {dimension} type: {value}"));
            return Err(problem.within(crate::failure::Code::InvalidRequest, "error building recipe"));
        }
        criteria.0.insert(dimension.to_owned(), value.to_owned());
    }
    if criteria.0.is_empty() {
        return Err(invalid("no criteria: pass flags or a snapshot"));
    }
    let profile = profile(flags, &criteria)?;
    let interfaces = interfaces(flags, &criteria)?;
    resolve(setup, &criteria, profile.as_deref(), interfaces.as_ref())
}

/// The recipe of a release for criteria.
///
/// # Errors
///
/// When the catalogue is not in order, which a test shows it to be.
pub fn resolve(
    setup: &Setup,
    criteria: &Criteria,
    profile: Option<&str>,
    interfaces: Option<&Value>,
) -> Outcome<Value> {
    let components = components(setup, criteria);
    let references: Vec<Value> = components.iter().map(|component| reference(setup, component)).collect();
    let mut metadata = json!({"version": setup.stated(), "appliedOverlays": criteria.overlays()});
    if let Some(value) = profile {
        // The newer release also owns whether the component is there; the older one does not know that.
        let owned = if setup.version == Release::V1_0_0 {
            json!(["driver.enabled"])
        } else {
            json!(["driver.enabled", "enabled"])
        };
        metadata["selectedProfile"] =
            json!({"name": "gpuStack", "value": value, "ownedPaths": {"gpu-operator": owned}});
    }
    let newer_form = profile.is_some() || interfaces.is_some();
    let mut recipe = json!({
        "apiVersion": if newer_form { "aicr.run/v1beta2" } else { "aicr.run/v1" },
        "kind": "RecipeResult",
        "metadata": metadata,
        "criteria": criteria.0,
        "constraints": [{"name": "K8s.server.version", "value": ">= 1.32.4"}],
        "componentRefs": references,
        "deploymentOrder": order(&components)?,
        "validation": {"deployment": {"checks": crate::validate::CHECKS, "timeout": "10m"}},
    });
    if let Some(interfaces) = interfaces {
        recipe["configuration"] = json!({"gke": {"tcpxoInterfaces": interfaces}});
    }
    Ok(recipe)
}

fn reference(setup: &Setup, component: &Component) -> Value {
    let mut reference = json!({
        "name": component.name, "namespace": component.namespace, "type": "Helm",
        "dependencyRefs": component.needs, "overrides": {},
    });
    if component.source != Source::Manifests {
        let source = if component.source == Source::Oci { &setup.oci_charts } else { &setup.charts };
        reference["chart"] = json!(component.chart);
        reference["source"] = json!(source);
        reference["version"] = json!(component.version);
        reference["valuesFile"] = json!(format!("components/{}/values.yaml", component.name));
    }
    reference
}

/// Dependencies first; of those that could come next, the first by name.
///
/// # Errors
///
/// When components wait for each other.
pub fn order(components: &[Component]) -> Outcome<Vec<String>> {
    let mut left: BTreeMap<&str, BTreeSet<&str>> = components
        .iter()
        .map(|component| (component.name.as_str(), component.needs.iter().map(String::as_str).collect()))
        .collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let free = left
            .iter()
            .find(|(_, needs)| needs.iter().all(|need| !left.contains_key(need)))
            .map(|(name, _)| *name);
        let next = free.ok_or_else(|| internal("components depend on each other"))?;
        left.remove(next);
        order.push(next.to_owned());
    }
    Ok(order)
}

fn profile(flags: &Flags, criteria: &Criteria) -> Outcome<Option<String>> {
    let Some(named) = flags.many("profile").first() else { return Ok(None) };
    let (name, value) = named
        .split_once('=')
        .ok_or_else(|| invalid(format!("invalid profile {named:?}: expected name=value")))?;
    if name != "gpuStack" {
        return Err(invalid(format!("unknown profile {name:?}")));
    }
    let service = criteria.get("service").unwrap_or_default();
    let known = GPU_STACK.iter().find(|(of, _)| *of == service);
    match known {
        Some((_, values)) if values.contains(&value) => Ok(Some(value.to_owned())),
        _ => Err(invalid(format!("profile gpuStack has no value {value:?} for service {service:?}"))),
    }
}

/// `eth1=<net>,…,eth8=<net>`: the eight interfaces once each, on eight different networks of the right name.
fn interfaces(flags: &Flags, criteria: &Criteria) -> Outcome<Option<Value>> {
    let wanted = ["service", "accelerator", "platform"].map(|dimension| criteria.get(dimension))
        == [Some("gke"), Some("h100"), Some("kubeflow")];
    let Some(text) = flags.one("gke-tcpxo-interfaces") else {
        if wanted {
            return Err(invalid("configuration.gke.tcpxoInterfaces is required by component gke-nccl-tcpxo"));
        }
        return Ok(None);
    };
    let mut mapping = serde_json::Map::new();
    let mut networks = BTreeSet::new();
    for pair in text.split(',') {
        let (interface, network) = pair
            .split_once('=')
            .ok_or_else(|| invalid(format!("configuration.gke.tcpxoInterfaces: {pair:?}")))?;
        let fits = network.contains("gpu-nic") && networks.insert(network);
        if !fits || mapping.insert(interface.to_owned(), json!(network)).is_some() {
            return Err(invalid(format!("configuration.gke.tcpxoInterfaces: {pair:?} is not allowed")));
        }
    }
    let names: Vec<String> = (1..=8).map(|number| format!("eth{number}")).collect();
    if !mapping.keys().eq(&names) {
        return Err(invalid("configuration.gke.tcpxoInterfaces: eth1 to eth8 are required exactly once"));
    }
    Ok(Some(Value::Object(mapping)))
}

/// Takes a recipe that another run wrote, as the release would.
///
/// # Errors
///
/// When it is none, or one of a newer release whose profile this one does not understand.
pub fn accept(setup: &Setup, recipe: &Value) -> Outcome<()> {
    let version = recipe["apiVersion"].as_str().unwrap_or_default();
    if recipe["kind"] != "RecipeResult" || !["aicr.run/v1", "aicr.run/v1beta2"].contains(&version) {
        return Err(invalid(format!("unsupported recipe apiVersion {version:?}")));
    }
    let made_by = recipe["metadata"]["version"].as_str().and_then(Release::parse);
    if made_by.is_some_and(|made_by| made_by > setup.version) {
        return Err(invalid("ownedPaths[\"nvsentinel\"] must include synthetic path \"enabled\""));
    }
    Ok(())
}

/// The criteria that a recipe was resolved for.
pub fn criteria(recipe: &Value) -> Criteria {
    let pairs = recipe["criteria"].as_object().into_iter().flatten();
    Criteria(pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect())
}
