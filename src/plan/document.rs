//! The plan document: the desired state of a runtime, release by release, and where it came from.
//!
//! Source: api-reference "Plan ConfigMap"; design section 2 for the resolved engine policy. What makes a document a plan is
//! in [`super::sealed`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::engine::EnginePolicy;

/// The version of the document that is written and read.
pub const SCHEMA_VERSION: u32 = 1;
/// The plan document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanDocument {
    /// Version of this layout, [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// UID of the `ClusterRuntime` that the plan belongs to.
    #[serde(rename = "runtimeUID")]
    pub runtime_uid: String,
    /// The deployment engine.
    pub engine: Engine,
    /// The plan's identity: names its ConfigMap and keys rollouts.
    pub desired_state_digest: Digest,
    /// Digest of the inputs that were resolved; absent on a rebuilt plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_digest: Option<Digest>,
    /// Where the plan came from.
    pub provenance: Provenance,
    /// The recipes that the plan was rendered from; absent on a rebuilt plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Recipe>,
    /// The releases in AICR's order.
    pub releases: Vec<Release>,
}

/// A deployment engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    /// Argo CD.
    ArgoCD,
}

impl Engine {
    /// The engine in one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ArgoCD => "ArgoCD",
        }
    }
}

/// How a plan came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanSource {
    /// By AICR Jobs.
    Resolved,
    /// From the live engine objects.
    Rebuilt,
}

/// Where a plan came from. A rebuilt plan knows source and operator version only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// How it came to be.
    pub source: PlanSource,
    /// Version of the operator that wrote it.
    pub operator_version: String,
    /// Version that the AICR image reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aicr_version: Option<String>,
    /// The AICR image, pinned by digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aicr_image: Option<String>,
    /// Digest of the snapshot's stored bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_digest: Option<Digest>,
    /// The rendered bundle, `oci://…@sha256:…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// Generation of the `ClusterRuntime` that was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_generation: Option<i64>,
    /// The render's flags besides recipe and output. Absent is not recorded; empty is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub render_flags: Option<Vec<String>>,
}

/// The recipes of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recipe {
    /// AICR's name for it.
    pub name: String,
    /// The criteria that it was resolved for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub criteria: BTreeMap<String, String>,
    /// The recipe Job's output, for `upgrade-check` and `reproduce`.
    pub config_map_ref: ContentRef,
    /// The bundle's recipe, for deployment validation; see [`Recipe::for_validation`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_config_map_ref: Option<ContentRef>,
    /// Notes and warnings of the bundle and of normal form, as [`super::sealed::bounded`] keeps them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Content in a ConfigMap of the operator namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContentRef {
    /// Name of the ConfigMap.
    pub config_map: String,
    /// Digest of the content.
    pub digest: Digest,
}

/// One release of a plan; one Application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// Name of the Helm release and of the Application.
    pub id: String,
    /// AICR's component; empty on a rebuilt plan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub component: String,
    /// Its place among the releases of its component.
    pub phase: Phase,
    /// The release that a readiness release is the gate of; on readiness releases only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readiness_for: Option<String>,
    /// Releases that must be ready before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Namespace that it is installed in.
    pub target_namespace: String,
    /// Its chart.
    pub chart: Chart,
    /// Its values.
    pub values: ContentRef,
    /// Whether its chart holds CustomResourceDefinitions.
    #[serde(rename = "ownsCRDs", default)]
    pub owns_crds: bool,
    /// How Argo CD handles it.
    pub engine_policy: EnginePolicy,
}

/// A release's place among the releases of its component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// Before the component.
    Pre,
    /// The component.
    Primary,
    /// After the component.
    Post,
    /// The gate that waits until the component is ready.
    Readiness,
}

impl Phase {
    /// The phase in one word, as annotations carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pre => "Pre",
            Self::Primary => "Primary",
            Self::Post => "Post",
            Self::Readiness => "Readiness",
        }
    }

    /// The phase of this name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Pre, Self::Primary, Self::Post, Self::Readiness]
            .into_iter()
            .find(|phase| phase.as_str() == text)
    }
}

/// A chart in the runtime registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chart {
    /// Where it came from.
    pub source: ChartSource,
    /// `oci://` repository.
    pub repository: String,
    /// Version that AICR pins; empty on a rebuilt plan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Manifest digest.
    pub digest: Digest,
    /// The mirrored archive; on mirrored charts of resolved plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Upstream>,
}

impl Chart {
    /// The chart's name: the repository's last segment.
    pub fn name(&self) -> &str {
        self.repository.rsplit('/').next().unwrap_or_default()
    }
}

/// Where a chart came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChartSource {
    /// An upstream chart, mirrored as it is.
    Mirrored,
    /// A chart that AICR rendered into the bundle.
    Wrapper,
}

/// The archive that a chart was mirrored from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upstream {
    /// The chart repository that AICR names.
    pub repository: String,
    /// Digest of the archive, from the index or the upstream's OCI layer.
    pub archive_digest: Digest,
}

impl Recipe {
    /// The recipe that deployment validation runs against: a plan from before the second one was recorded has only one.
    pub fn for_validation(&self) -> &ContentRef {
        self.validation_config_map_ref.as_ref().unwrap_or(&self.config_map_ref)
    }
}
