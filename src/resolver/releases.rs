//! From a bundle to a plan: releases, their edges, their values in normal form.
//!
//! Source: design section 4; api-reference "Plan ConfigMap"; operator-facts section 6 for the reasons.
//!
//! # Edges
//! - Of one component, `-pre` comes before the component itself and that before `-post`; `-readiness` comes after the
//!   component, which it is the gate of.
//! - What a component depends on comes before its first release. It is the last of the other one's releases: `-post` and
//!   `-readiness` where they exist, else the component itself. A component that the bundle leaves out passes its own
//!   dependencies on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::aicr;
use crate::aicr::bundle_info::Part;
use crate::aicr::recipe::{Recipe as AicrRecipe, read_recipe};
use crate::aicr::version::{Version, VersionMismatch};
use crate::api::Override;
use crate::plan::configmap::{recipe_ref, values_ref};
use crate::plan::document::{
    Chart, ChartSource, Engine, Phase, PlanDocument, Provenance, Recipe, Release, SCHEMA_VERSION, Upstream,
};
use crate::plan::engine::EnginePolicy;
use crate::plan::normal::{Defaults, normalize};
use crate::plan::reason::Reason as PlanReason;
use crate::plan::sealed::{DocumentError, MAX_PLAN_BYTES, MAX_RELEASE_ID, bounded};
use crate::plan::values::{MAX_VALUES_BYTES, Values};
use crate::plan::{Digest, Plan, canonical};

use super::bundle::{Bundle, Folder, FolderChart};
use super::reason::{Reason, Refused};

/// The path that turns a component on or off, which AICR itself takes.
const ENABLED: &str = "enabled";

/// What is known of one release's chart once it is in the runtime registry, or ready to be pushed there.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartFacts {
    /// `oci://` repository.
    pub repository: String,
    /// Manifest digest.
    pub digest: Digest,
    /// The archive that it was mirrored from; absent for a wrapper.
    pub upstream: Option<Upstream>,
    /// Whether the archive holds CustomResourceDefinitions.
    pub owns_crds: bool,
    /// The chart's default values.
    pub defaults: Defaults,
}

/// What a plan is made from.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// UID of the runtime.
    pub runtime_uid: &'a str,
    /// `inputDigest`.
    pub input_digest: Digest,
    /// Provenance, whole.
    pub provenance: Provenance,
    /// `aicr.version`.
    pub version: &'a Version,
    /// The recipe Job's output.
    pub recipe_text: &'a str,
    /// The bundle.
    pub bundle: &'a Bundle,
    /// The bundle without overrides; needed when there are any.
    pub base: Option<&'a Bundle>,
    /// `spec.overrides`.
    pub overrides: &'a [Override],
    /// Chart facts by release.
    pub charts: &'a BTreeMap<String, ChartFacts>,
    /// `namespaces.components`, by name.
    pub namespaces: &'a BTreeSet<String>,
    /// `engine.project`.
    pub project: &'a str,
    /// Notes that AICR printed while it rendered.
    pub notes: &'a [String],
}

/// A plan and what it refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// Each release's values.
    pub values: BTreeMap<String, Values>,
}

/// Checks what needs no chart, so that nothing is pulled or pushed for a bundle that can be no plan.
///
/// # Errors
///
/// `AICRVersionMismatch`, `AICRArtifactUnsupported` for names, `NamespaceNotAllowed`, `ContentTooLarge` for values.
pub fn check(bundle: &Bundle, version: &Version, namespaces: &BTreeSet<String>) -> Result<(), Refused> {
    made(version, "bundle", &bundle.version)?;
    for folder in &bundle.folders {
        let (name, namespace) = (&folder.release.name, &folder.release.namespace);
        if name.len() > MAX_RELEASE_ID {
            let message = format!(
                "release {name} has a name of {} characters: Helm allows at most {MAX_RELEASE_ID}",
                name.len()
            );
            return Err(unsupported(message));
        }
        if !namespaces.contains(namespace) {
            let allowed: Vec<&str> = namespaces.iter().map(String::as_str).collect();
            let message = format!(
                "release {name} belongs into namespace {namespace}, which is not in the installation's namespaces.components ({}): add it there",
                allowed.join(", ")
            );
            return Err(Refused::new(Reason::NamespaceNotAllowed, message));
        }
        let bytes = canonical::to_string(&folder.values).len();
        // What normal form can leave out is nulls, a few bytes each.
        if bytes > 2 * MAX_VALUES_BYTES {
            let message = format!(
                "release {name}: the values take {bytes} bytes: at most {MAX_VALUES_BYTES} are allowed"
            );
            return Err(Refused::new(Reason::Plan(PlanReason::ContentTooLarge), message));
        }
    }
    Ok(())
}

/// Makes the plan.
///
/// # Errors
///
/// What [`check`] refuses; `OverridePathUnknown`; `InvalidOverride` and `ContentTooLarge` for values without a normal form;
/// `ContentTooLarge` for a plan that fits no ConfigMap; `AICRArtifactUnsupported` for a bundle whose parts contradict each
/// other.
pub fn resolve(request: &Request<'_>) -> Result<Resolved, Refused> {
    let bundle = request.bundle;
    check(bundle, request.version, request.namespaces)?;
    for text in [request.recipe_text, &bundle.recipe_text] {
        if text.len() > MAX_PLAN_BYTES {
            let message =
                format!("the recipe takes {} bytes: a ConfigMap holds at most {MAX_PLAN_BYTES}", text.len());
            return Err(Refused::new(Reason::Plan(PlanReason::ContentTooLarge), message));
        }
    }
    let recipe = read_recipe("recipe", request.recipe_text)?;
    made(request.version, "recipe", &recipe.version)?;
    check_overrides(request)?;
    let parts = Parts::of(bundle);
    let mut warnings = request.notes.to_vec();
    let mut values = BTreeMap::new();
    let mut releases = Vec::with_capacity(bundle.folders.len());
    for folder in &bundle.folders {
        let name = &folder.release.name;
        let facts = request.charts.get(name);
        let facts =
            facts.ok_or_else(|| unsupported(format!("release {name} has no chart in the registry")))?;
        let normal = normalize(name, &folder.values, &facts.defaults).map_err(|error| {
            Refused::new(Reason::Plan(error.reason()), format!("release {name}: {error}"))
        })?;
        warnings.extend(normal.warnings);
        releases.push(release(folder, facts, &normal.values, &parts, request.project)?);
        values.insert(name.clone(), normal.values);
    }
    let document = PlanDocument {
        schema_version: SCHEMA_VERSION,
        runtime_uid: request.runtime_uid.to_owned(),
        engine: Engine::ArgoCD,
        // Sealing puts the real one here.
        desired_state_digest: request.input_digest,
        input_digest: Some(request.input_digest),
        provenance: request.provenance.clone(),
        recipe: Some(Recipe {
            name: recipe.name,
            criteria: recipe.criteria,
            config_map_ref: recipe_ref(request.recipe_text),
            validation_config_map_ref: Some(recipe_ref(&bundle.recipe_text)),
            warnings: bounded(&warnings),
        }),
        releases,
    };
    let plan = Plan::seal(document).map_err(|error| match error {
        DocumentError::TooLarge { .. } => {
            Refused::new(Reason::Plan(PlanReason::ContentTooLarge), error.to_string())
        }
        _ => unsupported(format!("the bundle makes no plan: {error}")),
    })?;
    Ok(Resolved { plan, values })
}

fn release(
    folder: &Folder,
    facts: &ChartFacts,
    values: &Values,
    parts: &Parts<'_>,
    project: &str,
) -> Result<Release, Refused> {
    let stated = &folder.release;
    let (source, version) = match &folder.chart {
        FolderChart::Upstream(chart) => (ChartSource::Mirrored, &chart.version),
        FolderChart::Local { version, .. } => (ChartSource::Wrapper, version),
    };
    if (source == ChartSource::Mirrored) != facts.upstream.is_some() {
        let message =
            format!("release {}: an upstream chart, and only that, has an upstream archive", stated.name);
        return Err(unsupported(message));
    }
    Ok(Release {
        id: stated.name.clone(),
        component: stated.component.clone(),
        phase: phase(stated.part),
        readiness_for: (stated.part == Part::Readiness).then(|| stated.component.clone()),
        depends_on: parts.before(folder)?.into_iter().collect(),
        target_namespace: stated.namespace.clone(),
        chart: Chart {
            source,
            repository: facts.repository.clone(),
            version: version.clone(),
            digest: facts.digest,
            upstream: facts.upstream.clone(),
        },
        values: values_ref(&stated.name, values),
        owns_crds: facts.owns_crds,
        engine_policy: EnginePolicy::standard(project),
    })
}

const fn phase(part: Part) -> Phase {
    match part {
        Part::Pre => Phase::Pre,
        Part::Primary => Phase::Primary,
        Part::Post => Phase::Post,
        Part::Readiness => Phase::Readiness,
    }
}

/// A bundle's releases by component and part.
struct Parts<'a> {
    names: BTreeMap<(&'a str, Part), &'a str>,
    recipe: &'a AicrRecipe,
}

impl<'a> Parts<'a> {
    fn of(bundle: &'a Bundle) -> Self {
        let entry = |folder: &'a Folder| {
            let release = &folder.release;
            ((release.component.as_str(), release.part), release.name.as_str())
        };
        Self { names: bundle.folders.iter().map(entry).collect(), recipe: &bundle.recipe }
    }

    fn name(&self, component: &str, part: Part) -> Option<&'a str> {
        self.names.get(&(component, part)).copied()
    }

    /// The releases before this one.
    fn before(&self, folder: &Folder) -> Result<BTreeSet<String>, Refused> {
        let (component, name) = (folder.release.component.as_str(), &folder.release.name);
        let own = |part| self.name(component, part);
        let earlier: &[Part] = match folder.release.part {
            Part::Pre => &[],
            Part::Primary => &[Part::Pre],
            Part::Post => &[Part::Primary, Part::Pre],
            Part::Readiness if own(Part::Primary).is_none() => {
                let message =
                    format!("release {name} is the gate of {component}, which the bundle does not hold");
                return Err(unsupported(message));
            }
            Part::Readiness => &[Part::Primary],
        };
        if let Some(before) = earlier.iter().find_map(|part| own(*part)) {
            return Ok([before.to_owned()].into());
        }
        let Some(found) = self.recipe.component(component) else {
            let message = format!(
                "release {name} is of component {component}, which the bundle's recipe does not hold"
            );
            return Err(unsupported(message));
        };
        let mut before = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for dependency in &found.dependencies {
            self.last(dependency, &mut seen, &mut before);
        }
        Ok(before)
    }

    /// Adds the last releases of a component, or, if the bundle leaves it out, of what it depends on.
    fn last(&self, component: &'a str, seen: &mut BTreeSet<&'a str>, before: &mut BTreeSet<String>) {
        if !seen.insert(component) {
            return;
        }
        let ends = [Part::Post, Part::Readiness].map(|part| self.name(component, part));
        let own = || self.name(component, Part::Primary).or_else(|| self.name(component, Part::Pre));
        let mut last: Vec<&str> = ends.into_iter().flatten().collect();
        if last.is_empty() {
            last.extend(own());
        }
        if last.is_empty() {
            let dependencies = self.recipe.component(component).map(|found| &found.dependencies);
            for dependency in dependencies.into_iter().flatten() {
                self.last(dependency, seen, before);
            }
        }
        before.extend(last.into_iter().map(str::to_owned));
    }
}

/// Refuses overrides of paths that neither the base render nor the chart's defaults have.
fn check_overrides(request: &Request<'_>) -> Result<(), Refused> {
    for entry in request.overrides {
        let named = format!("override {}:{}", entry.component, entry.path);
        let Some(base) = request.base else {
            return Err(Refused::new(
                Reason::OverridePathUnknown,
                format!("{named}: there is no base render to check it against"),
            ));
        };
        let component = base.recipe.component(&entry.component);
        if component.is_none() {
            let message = format!("{named}: the recipe has no component {}", entry.component);
            return Err(Refused::new(Reason::OverridePathUnknown, message));
        }
        // What belongs to a component that is turned off changes nothing.
        let is_off = request.bundle.primary(&entry.component).is_none();
        if entry.additive || entry.path == ENABLED || is_off {
            continue;
        }
        let path: Vec<String> = entry.path.split('.').map(str::to_owned).collect();
        let rendered = base.primary(&entry.component).map(|folder| &folder.values);
        let defaults = request.charts.get(&entry.component).map(|facts| &facts.defaults);
        if !rendered.is_some_and(|values| holds(values, &path))
            && !defaults.is_some_and(|defaults| defaults.may_hold(&path))
        {
            let message = format!(
                "{named}: neither the render without overrides nor the chart's defaults have this path; correct it, or set additive: true"
            );
            return Err(Refused::new(Reason::OverridePathUnknown, message));
        }
    }
    Ok(())
}

fn holds(values: &Value, path: &[String]) -> bool {
    path.iter().try_fold(values, |value, key| value.as_object()?.get(key)).is_some()
}

fn made(version: &Version, artifact: &str, found: &str) -> Result<(), Refused> {
    let mismatch = Reason::Aicr(VersionMismatch::REASON);
    version.made(artifact, found).map_err(|error| Refused::new(mismatch, error.to_string()))
}

fn unsupported(message: String) -> Refused {
    Refused::new(Reason::Aicr(aicr::Reason::ArtifactUnsupported), message)
}

#[cfg(test)]
mod tests;
