//! kubectl-aicr keeps a GPU cluster's software stack correct: a kubectl plugin for the people who approve rollouts and
//! the process of the controller that makes them.
//!
//! # The map of the house
//!
//! Data goes one way: *observe* the API server, *decide* purely from what was observed and `now`, *act* with at most one
//! guarded write. Dependencies point downwards only:
//!
//! | module | what lives there | may use |
//! | --- | --- | --- |
//! | [`api`] | types of the API: `ClusterRuntime`, `RuntimeRollout`, a read-only view of the Argo CD `Application`, keys, reasons, error codes | nothing |
//! | [`plan`] | the plan: document, normal form, canonical JSON, digests, graph, ConfigMap form, comparing, rebuilding | `api` |
//! | [`approval`] | an approval's state at an instant; what may be approved, revoked, acknowledged, and why not | `api` |
//! | [`aicr`] | all that is known about the AICR CLI: how it is called, what it writes, how its runs end | `api` |
//! | [`registry`] | OCI registries and chart repositories: charts mirrored and pinned by digest, their archives read, logins | nothing |
//! | [`resolver`] | from a runtime's inputs to a plan, as pure decisions | `api`, `plan`, `aicr`, `registry` |
//! | [`controller`] | the operator's process: configuration, leader election, logs, metrics, health, Events, conditions | all but `cli` |
//! | [`cli`] | the plugin: arguments, kubeconfig, one file a command, output | all but `controller` |
//!
//! Only `cli` and `controller` talk to the API server; only `cli` reads the clock and the environment, and `main` hands
//! both to `controller`. Within them only the files that `clippy.toml` names do so. `registry` talks to registries and
//! chart repositories, with logins that it is given.

// Fixtures are shared with the integration tests, which know this crate by its name.
#[cfg(test)]
extern crate self as kubectl_aicr;

pub mod aicr;
pub mod api;
pub mod approval;
pub mod cli;
pub mod controller;
pub mod plan;
pub mod registry;
pub mod resolver;
