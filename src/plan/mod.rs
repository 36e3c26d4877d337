//! Plans: what should run on the cluster, release by release, as pure data.
//!
//! | file | what it decides |
//! | --- | --- |
//! | [`canonical`], [`numbers`] | one JSON text for one value |
//! | [`digest`] | what a digest is, and the records that digests cover |
//! | [`identity`] | which members make two plans, releases, specs or inventories the same |
//! | [`values`], [`normal`], [`helm_path`] | the one normal form of a release's values, and the way into it |
//! | [`engine`] | how Argo CD handles a release |
//! | [`document`], [`sealed`], [`graph`] | the plan document, what makes it a plan, and its dependency graph |
//! | [`configmap`] | plans, recipes and values as ConfigMaps, and the rules for reading them |
//! | [`application`], [`rebuild`] | a release as an Application, and a plan from Applications |
//! | [`compare`], [`diff`] | what changes between two plans |
//! | [`transition`] | what a rollout between two plans is named by |
//! | [`reason`] | why a plan is refused |
//!
//! Nothing here reads a clock, an environment or a server.

pub mod application;
pub mod canonical;
pub mod compare;
pub mod configmap;
pub mod diff;
pub mod digest;
pub mod document;
pub mod engine;
pub mod graph;
pub mod helm_path;
pub mod identity;
pub mod normal;
pub mod numbers;
pub mod reason;
pub mod rebuild;
pub mod sealed;
pub mod transition;
pub mod values;

pub use digest::Digest;
pub use sealed::Plan;

#[cfg(test)]
#[path = "../../tests/fixtures/plans.rs"]
#[allow(
    dead_code,
    reason = "shared with the integration tests and the benchmark, which use other parts of it"
)]
pub(crate) mod fixtures;
