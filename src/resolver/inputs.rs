//! What a plan is resolved from, and when that has changed.
//!
//! Source: day-2 "How a change reaches the cluster"; design section 3. `inputDigest` covers the runtime's inputs, AICR's
//! version and image, the registry and the snapshot's input: when a snapshot is taken, never what it holds. So the same
//! cluster and the same spec give the same digest however often they are looked at.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::aicr::run::Stage;
use crate::api::{ClusterRuntimeSpec, NodeGroup, Override, Toleration, TolerationOperator};
use crate::plan::Digest;
use crate::plan::canonical;
use crate::plan::digest::{Kind, Record};

/// The most spent tokens that are remembered, the newest ones.
const MAX_TOKENS: usize = 32;

/// What the installation adds to every resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// `aicr.version`.
    pub aicr_version: String,
    /// `aicr.image`, pinned by digest.
    pub aicr_image: String,
    /// `registry.repository`: the prefix of everything that is pushed.
    pub registry: String,
}

/// What a new snapshot is taken for: it is taken when, and only when, this changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInput {
    /// The UTC day, `2026-11-30`: its first resolution takes one.
    pub day: String,
    /// The accelerated placement.
    pub accelerated: NodeGroup,
    /// The AICR image.
    pub image: String,
    /// Distinct types of accelerated nodes.
    pub node_types: BTreeSet<String>,
    /// Identity of the active plan's gpu-operator release, where there is one: its driver changes what is seen.
    pub gpu_operator: Option<Digest>,
    /// The last `resnapshot` token that took effect; see [`token`].
    pub token: Option<String>,
}

impl SnapshotInput {
    fn record(&self) -> Value {
        Record::new()
            .with("day", self.day.as_str())
            .with("accelerated", group(&self.accelerated))
            .with("image", self.image.as_str())
            .with("nodeTypes", self.node_types.iter().cloned().collect::<Vec<_>>())
            .with("gpuOperator", self.gpu_operator.map(|digest| digest.to_string()))
            .with("token", self.token.as_deref())
            .into_value()
    }
}

/// The UTC day of an instant, as [`SnapshotInput::day`] has it.
pub fn utc_day(now: jiff::Timestamp) -> String {
    now.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

/// The first instant after `now` at which the day is another one: when the resolver wakes by itself.
///
/// Nothing in the last day that a timestamp can hold.
pub fn next_day(now: jiff::Timestamp) -> Option<jiff::Timestamp> {
    let tomorrow = now.to_zoned(jiff::tz::TimeZone::UTC).date().tomorrow().ok()?;
    Some(tomorrow.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

/// The token that counts: the requested one if it never acted, else the last one that did. So removing or repeating a
/// token takes no snapshot. `spent` is what the newest snapshot's ConfigMap records, oldest first.
pub fn token(requested: Option<&str>, spent: &[String]) -> Option<String> {
    let fresh = requested.filter(|token| !token.is_empty() && !spent.iter().any(|old| old == token));
    fresh.map(str::to_owned).or_else(|| spent.last().cloned())
}

/// What the next snapshot's ConfigMap records as spent.
pub fn spent_after(spent: &[String], token: Option<&str>) -> Vec<String> {
    let fresh = token.filter(|token| !spent.iter().any(|old| old == token)).map(str::to_owned);
    let all: Vec<String> = spent.iter().cloned().chain(fresh).collect();
    all[all.len().saturating_sub(MAX_TOKENS)..].to_vec()
}

/// `inputDigest`.
pub fn input_digest(
    spec: &ClusterRuntimeSpec,
    installation: &Installation,
    snapshot: Option<&SnapshotInput>,
) -> Digest {
    Record::new()
        .with("recipe", recipe_record(spec))
        .with("system", group(&spec.placement.system))
        .with("accelerated", group(&spec.placement.accelerated))
        .with("overrides", overrides(&spec.overrides))
        .with("aicrVersion", installation.aicr_version.as_str())
        .with("aicrImage", installation.aicr_image.as_str())
        .with("registry", installation.registry.as_str())
        .with("snapshot", snapshot.map(SnapshotInput::record))
        .digest(Kind::Inputs)
}

/// The spec's inputs to a recipe.
fn recipe_record(spec: &ClusterRuntimeSpec) -> Value {
    let criteria = spec.criteria.clone().unwrap_or_default();
    let gke = spec.configuration.as_ref().and_then(|configuration| configuration.gke.as_ref());
    let interfaces = gke.map(|gke| gke.tcpxo_interfaces.as_slice()).unwrap_or_default();
    let interfaces: Vec<Value> = interfaces
        .iter()
        .map(|interface| Value::from(vec![interface.interface_name.as_str(), interface.network.as_str()]))
        .collect();
    Record::new()
        .with("intent", spec.intent.as_str())
        .with("platform", spec.platform.as_deref())
        .with("profile", spec.profile.as_deref())
        .with("service", criteria.service)
        .with("accelerator", criteria.accelerator)
        .with("os", criteria.os)
        .with("tcpxoInterfaces", interfaces)
        .into_value()
}

/// A node group, defaults spelled out or not.
fn group(group: &NodeGroup) -> Value {
    let selector: serde_json::Map<String, Value> =
        group.node_selector.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect();
    Record::new()
        .with("nodeSelector", selector)
        .with("tolerations", group.tolerations.iter().map(toleration).collect::<Vec<_>>())
        .into_value()
}

fn toleration(toleration: &Toleration) -> Value {
    Record::new()
        .with("key", toleration.key.as_deref())
        .with("exists", toleration.operator == Some(TolerationOperator::Exists))
        .with("value", toleration.value.as_deref())
        .with("effect", toleration.effect.map(|effect| format!("{effect:?}")))
        .into_value()
}

/// Overrides sorted by component and path, as their flags are. A value is its canonical text, so that null is a value.
fn overrides(overrides: &[Override]) -> Vec<Value> {
    let mut sorted: Vec<_> = overrides.iter().collect();
    sorted.sort_by(|one, other| (&one.component, &one.path).cmp(&(&other.component, &other.path)));
    let record = |entry: &Override| {
        Record::new()
            .with("component", entry.component.as_str())
            .with("path", entry.path.as_str())
            .with("value", canonical::to_string(&entry.value))
            .with("additive", entry.additive)
            .into_value()
    };
    sorted.into_iter().map(record).collect()
}

/// The own input of one stage: its runs are named by it, so a run is found again and another input is another run.
#[derive(Clone, Debug, PartialEq)]
pub enum StageInput<'a> {
    /// A snapshot for a resolution.
    Snapshot(&'a SnapshotInput),
    /// A snapshot for the validation at the end of a rollout.
    ValidationSnapshot {
        /// The rollout's UID.
        rollout: &'a str,
        /// The accelerated placement.
        accelerated: &'a NodeGroup,
    },
    /// A recipe.
    Recipe {
        /// The runtime's spec.
        spec: &'a ClusterRuntimeSpec,
        /// The snapshot that it reads; nothing when discovery is skipped.
        snapshot: Option<Digest>,
    },
    /// A render without overrides.
    BaseRender {
        /// The recipe's digest.
        recipe: Digest,
        /// Its flags.
        flags: &'a [String],
    },
    /// The render.
    Render {
        /// The recipe's digest.
        recipe: Digest,
        /// Its flags.
        flags: &'a [String],
    },
    /// An assessment.
    UpgradeCheck {
        /// Digest of the active plan's recipe.
        from: Digest,
        /// Digest of the target's.
        to: Digest,
    },
    /// A deployment validation.
    Validate {
        /// The rollout's UID.
        rollout: &'a str,
    },
}

impl StageInput<'_> {
    /// The stage that it is for.
    pub const fn stage(&self) -> Stage {
        match self {
            Self::Snapshot(_) | Self::ValidationSnapshot { .. } => Stage::Snapshot,
            Self::Recipe { .. } => Stage::Recipe,
            Self::BaseRender { .. } => Stage::BaseRender,
            Self::Render { .. } => Stage::Render,
            Self::UpgradeCheck { .. } => Stage::UpgradeCheck,
            Self::Validate { .. } => Stage::Validate,
        }
    }

    /// The digest, which also covers the stage and the installation.
    pub fn digest(&self, installation: &Installation) -> Digest {
        let record = Record::new()
            .with("stage", self.stage().as_str())
            .with("aicrVersion", installation.aicr_version.as_str())
            .with("aicrImage", installation.aicr_image.as_str());
        let record = match self {
            Self::Snapshot(input) => record.with("snapshot", input.record()),
            Self::ValidationSnapshot { rollout, accelerated } => {
                record.with("rollout", *rollout).with("accelerated", group(accelerated))
            }
            Self::Recipe { spec, snapshot } => record
                .with("recipe", recipe_record(spec))
                .with("snapshot", snapshot.map(|digest| digest.to_string())),
            Self::BaseRender { recipe, flags } | Self::Render { recipe, flags } => record
                .with("recipe", recipe.to_string())
                .with("flags", flags.to_vec())
                .with("registry", installation.registry.as_str()),
            Self::UpgradeCheck { from, to } => {
                record.with("from", from.to_string()).with("to", to.to_string())
            }
            Self::Validate { rollout } => record.with("rollout", *rollout),
        };
        record.digest(Kind::Inputs)
    }
}

/// One run of a stage: its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The stage.
    pub stage: Stage,
    /// The stage's own input.
    pub input: Digest,
    /// Which attempt, from 1.
    pub attempt: u32,
}

impl Run {
    /// The run's ID: `<input 16 hex>-<n>`.
    pub fn id(&self) -> String {
        format!("{}-{}", self.input.short(), self.attempt)
    }

    /// Name of its Job: `aicr-<stage>-<run id>`.
    pub fn job(&self) -> String {
        format!("aicr-{}-{}", self.stage, self.id())
    }
}

#[cfg(test)]
mod tests;
