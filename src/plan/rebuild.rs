//! Rebuilding a lost plan from the Applications that were written from it.
//!
//! Source: design section 2; api-reference "Engine object metadata". An Application carries in annotations and spec all
//! that its release's digest covers, and the digest itself: one that was edited out of band no longer has it. Applications
//! are judged by that digest alone, never by `plan-digest`: a release that a later plan left untouched keeps the plan that
//! last wrote it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::application::spec;
use super::configmap::values_ref;
use super::diff::leaves;
use super::digest::Digest;
use super::document::{
    Chart, ChartSource, Engine, Phase, PlanDocument, PlanSource, Provenance, Release, SCHEMA_VERSION,
};
use super::engine::EnginePolicy;
use super::graph;
use super::identity::{plain_numbers, plan_digest, release_digest, spec_record, without_empty};
use super::sealed::Plan;
use super::values::Values;
use crate::api::application::{Application, COMPARE_OPTIONS};
use crate::api::keys;

/// What to rebuild.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// UID of the runtime that owns the Applications: on re-adoption, the earlier one.
    pub owner_uid: &'a str,
    /// UID of the runtime that the plan is for.
    pub runtime_uid: &'a str,
    /// Version of the operator that rebuilds it.
    pub operator_version: &'a str,
    /// The digest that the plan must have, where a rollout records it.
    pub digest: Option<Digest>,
    /// IDs of releases that are known to belong to the plan, such as those of a rollout's inventory.
    pub releases: &'a [&'a str],
}

/// A rebuilt plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebuilt {
    /// The plan: provenance `Rebuilt`, no recipe, releases in order of rollout with ties by ID.
    pub plan: Plan,
    /// Each release's values.
    pub values: BTreeMap<String, Values>,
}

/// Something that stands against a rebuild.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The Application is not as the operator wrote it.
    Edited {
        /// Its release.
        release: String,
        /// What differs.
        what: String,
    },
    /// The plan holds a release that has no Application.
    Missing {
        /// The release.
        release: String,
        /// How the plan is known to hold it.
        known_from: String,
    },
    /// An Application of that name is not the operator's, or not of the owner that was asked for.
    Foreign {
        /// Its name.
        name: String,
        /// What it lacks.
        why: String,
    },
    /// The Applications are intact, but together they are another plan.
    OtherPlan {
        /// The digest that was asked for.
        wanted: Digest,
        /// The digest that they have.
        found: Digest,
    },
    /// The releases do not form a plan.
    Invalid(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edited { release, what } => {
                write!(f, "Application {release} was edited out of band: {what}")
            }
            Self::Missing { release, known_from } => {
                write!(f, "Application {release} is missing: {known_from}")
            }
            Self::Foreign { name, why } => write!(f, "Application {name} is foreign: {why}"),
            Self::OtherPlan { wanted, found } => {
                write!(f, "the Applications make up plan {found}, not {wanted}")
            }
            Self::Invalid(why) => write!(f, "the Applications do not make up a plan: {why}"),
        }
    }
}

/// Why a plan could not be rebuilt; at least one finding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct RebuildError(pub Vec<Finding>);

/// Rebuilds the plan that the Applications of one runtime make up. `applications` are the raw objects of the engine
/// namespace; those that neither carry the operator's marks nor a needed name are nobody's business here.
///
/// # Errors
///
/// When an Application was edited out of band, a release has none, a needed name is taken by a foreign one, or the plan has
/// another digest than asked for. All are named.
pub fn rebuild(applications: &[Value], request: &Request<'_>) -> Result<Rebuilt, RebuildError> {
    let mut releases = BTreeMap::new();
    let mut edited = Vec::new();
    let mut foreign = BTreeMap::new();
    for raw in applications {
        match claim(raw, request.owner_uid) {
            Claim::Foreign { name, why } => {
                foreign.insert(name, why);
            }
            Claim::Broken { name, what } => edited.push((name, what)),
            Claim::Ours(view) => match release_of(raw, &view) {
                Ok(release) => {
                    releases.insert(view.metadata.name, release);
                }
                Err(what) => edited.push((view.metadata.name, what)),
            },
        }
    }
    let mut findings = missing(&releases, &edited, &foreign, request);
    findings.extend(edited.into_iter().map(|(release, what)| Finding::Edited { release, what }));
    if releases.is_empty() && findings.is_empty() {
        findings.push(Finding::Invalid(format!("none belongs to the runtime {}", request.owner_uid)));
    }
    if !findings.is_empty() {
        return Err(RebuildError(findings));
    }
    assemble(releases, request).map_err(|finding| RebuildError(vec![finding]))
}

/// Whose an Application is.
enum Claim {
    Ours(Box<Application>),
    /// By its marks ours, but it cannot be read.
    Broken {
        name: String,
        what: String,
    },
    Foreign {
        name: String,
        why: String,
    },
}

fn claim(raw: &Value, owner_uid: &str) -> Claim {
    let text = |pointer: &str| raw.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let mark = |map: &str, key: &str| text(&format!("/metadata/{map}/{}", key.replace('/', "~1"))).to_owned();
    let name = text("/metadata/name").to_owned();
    let marks = [
        ("label", keys::MANAGED_BY, mark("labels", keys::MANAGED_BY), keys::MANAGER),
        ("label", keys::RUNTIME, mark("labels", keys::RUNTIME), keys::SINGLETON),
        ("annotation", keys::RUNTIME_UID, mark("annotations", keys::RUNTIME_UID), owner_uid),
    ];
    if let Some((kind, key, own, wanted)) = marks.iter().find(|(_, _, own, wanted)| own != wanted) {
        return Claim::Foreign { name, why: format!("its {kind} {key} is {own:?}, not {wanted:?}") };
    }
    match Application::read(raw) {
        Ok(view) => Claim::Ours(Box::new(view)),
        Err(error) => Claim::Broken { name, what: error.to_string() },
    }
}

/// The release that the Application was written from, or what shows that it was edited since.
fn release_of(raw: &Value, view: &Application) -> Result<(Release, Values), String> {
    let id = &view.metadata.name;
    let stated_id = view.annotation(keys::RELEASE_ID);
    if stated_id != id {
        return Err(format!("its annotation {} is {stated_id:?}", keys::RELEASE_ID));
    }
    let source = view.spec.source.as_ref().ok_or("it has no spec.source")?;
    let values = Values::from_parts(&source.helm.values_object, &source.helm.parameters)
        .map_err(|error| format!("its Helm values: {error}"))?;
    let digest = Digest::parse(&source.target_revision)
        .map_err(|error| format!("its spec.source.targetRevision: {error}"))?;
    let release = Release {
        id: id.clone(),
        component: String::new(),
        phase: phase(view)?,
        readiness_for: Some(view.annotation(keys::READINESS_FOR).to_owned())
            .filter(|parent| !parent.is_empty()),
        depends_on: split(view.annotation(keys::DEPENDS_ON)),
        target_namespace: view.spec.destination.namespace.clone(),
        chart: chart(&source.repo_url, digest),
        values: values_ref(id, &values),
        owns_crds: owns_crds(view)?,
        engine_policy: engine_policy(view)?,
    };
    let (own, stated) = (release_digest(&release), view.annotation(keys::RELEASE_DIGEST));
    if own.to_string() != stated {
        return Err(format!("it has release digest {own}, but was written with {stated:?}"));
    }
    // What the digest does not cover, because no Application of the operator ever holds it.
    let written = covered(&serde_json::json!({"spec": spec(&release, &values)}));
    let strange: Vec<_> = leaves(&written, &covered(raw)).into_iter().map(|change| change.path).collect();
    if !strange.is_empty() {
        return Err(format!("its spec differs from the operator's at {}", strange.join(", ")));
    }
    Ok((release, values))
}

fn phase(view: &Application) -> Result<Phase, String> {
    let text = view.annotation(keys::PHASE);
    Phase::parse(text).ok_or_else(|| format!("its annotation {} is {text:?}", keys::PHASE))
}

fn owns_crds(view: &Application) -> Result<bool, String> {
    match view.annotation(keys::OWNS_CRDS) {
        "true" => Ok(true),
        "false" | "" => Ok(false),
        text => Err(format!("its annotation {} is {text:?}", keys::OWNS_CRDS)),
    }
}

fn engine_policy(view: &Application) -> Result<EnginePolicy, String> {
    let policy = &view.spec.sync_policy;
    let automated = policy.automated.as_ref().ok_or("it has no spec.syncPolicy.automated")?;
    Ok(EnginePolicy {
        project: view.spec.project.clone(),
        sync_options: policy.sync_options.clone(),
        compare_options: split(view.annotation(COMPARE_OPTIONS)),
        ignore_differences: view.spec.ignore_differences.clone(),
        retry: policy.retry.clone(),
        prune: automated.prune,
        self_heal: automated.self_heal,
        revision_history_limit: view.spec.revision_history_limit,
    })
}

/// The chart as far as an Application knows it. Mirrored charts and wrappers lie in folders of their own (design section 5).
fn chart(repository: &str, digest: Digest) -> Chart {
    let folder = repository.rsplit('/').nth(1).unwrap_or_default();
    let source = if folder == "wrappers" { ChartSource::Wrapper } else { ChartSource::Mirrored };
    Chart { source, repository: repository.to_owned(), version: String::new(), digest, upstream: None }
}

fn split(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// The members of `spec` that the operator writes, in normal form. Left out: `automated.enabled`, which `suspendEngine`
/// turns off, and members beside these (as `info`), which change nothing that is deployed.
fn covered(application: &Value) -> Value {
    let mut spec = application.get("spec").cloned().unwrap_or_default();
    if let Some(automated) = spec.pointer_mut("/syncPolicy/automated").and_then(Value::as_object_mut) {
        automated.remove("enabled");
    }
    if let Some(options) = spec.pointer_mut("/syncPolicy/syncOptions").and_then(Value::as_array_mut) {
        options.sort_by_cached_key(Value::to_string);
        options.dedup();
    }
    let members = ["project", "syncPolicy", "ignoreDifferences", "revisionHistoryLimit"];
    let record = members.into_iter().fold(spec_record(application), |record, member| {
        record.with(member, spec.get(member).map(without_empty))
    });
    plain_numbers(&record.into_value())
}

/// What the plan is known to hold and no Application of ours stands for, and who has the name instead.
fn missing(
    releases: &BTreeMap<String, (Release, Values)>,
    edited: &[(String, String)],
    foreign: &BTreeMap<String, String>,
    request: &Request<'_>,
) -> Vec<Finding> {
    let mut needed = BTreeMap::new();
    for (id, (release, _)) in releases {
        for dependency in release.depends_on.iter().chain(&release.readiness_for) {
            needed.entry(dependency.as_str()).or_insert_with(|| format!("release {id} needs it"));
        }
    }
    for id in request.releases {
        needed.insert(id, "the plan is known to hold its release".to_owned());
    }
    let present: BTreeSet<&str> =
        releases.keys().chain(edited.iter().map(|(name, _)| name)).map(String::as_str).collect();
    let mut findings = Vec::new();
    for (id, known_from) in needed {
        if present.contains(id) {
            continue;
        }
        findings.push(match foreign.get(id) {
            Some(why) => Finding::Foreign { name: id.to_owned(), why: why.clone() },
            None => Finding::Missing { release: id.to_owned(), known_from },
        });
    }
    findings
}

fn assemble(
    releases: BTreeMap<String, (Release, Values)>,
    request: &Request<'_>,
) -> Result<Rebuilt, Finding> {
    let invalid = |error: &dyn fmt::Display| Finding::Invalid(error.to_string());
    let (sorted, values): (Vec<_>, BTreeMap<_, _>) =
        releases.into_iter().map(|(id, (release, values))| (release, (id, values))).unzip();
    let order = graph::order(&sorted).map_err(|error| invalid(&error))?;
    let releases: Vec<_> = order.into_iter().map(|at| sorted[at].clone()).collect();
    let document = PlanDocument {
        schema_version: SCHEMA_VERSION,
        runtime_uid: request.runtime_uid.to_owned(),
        engine: Engine::ArgoCD,
        desired_state_digest: plan_digest(Engine::ArgoCD, &releases),
        input_digest: None,
        provenance: Provenance {
            source: PlanSource::Rebuilt,
            operator_version: request.operator_version.to_owned(),
            aicr_version: None,
            aicr_image: None,
            snapshot_digest: None,
            bundle: None,
            runtime_generation: None,
            render_flags: None,
        },
        recipe: None,
        releases,
    };
    let plan = Plan::seal(document).map_err(|error| invalid(&error))?;
    match request.digest {
        Some(wanted) if wanted != plan.digest() => Err(Finding::OtherPlan { wanted, found: plan.digest() }),
        _ => Ok(Rebuilt { plan, values }),
    }
}

#[cfg(test)]
mod tests;
