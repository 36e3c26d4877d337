//! From a runtime's inputs to a plan: what decides, without a server, a clock or an environment.
//!
//! | file | what it decides |
//! | --- | --- |
//! | [`nodes`], [`criteria`] | discovery: node groups, and criteria by snapshot and declaration |
//! | [`inputs`], [`attempts`] | what a plan is resolved from, when that changed, and when a stage may run again |
//! | [`helm_yaml`] | values files as Helm reads them |
//! | [`bundle`], [`releases`] | a pulled bundle, and the plan that it makes |
//! | [`content`] | what the registry did: facts of charts, failures |
//! | [`jobs`], [`observe`] | the Job of one run of AICR and what it owns; how far it is, how it ended |
//! | [`outputs`] | what a run left, and the copies that are kept |
//! | [`pipeline`] | the one next thing to do, and what `Resolved` says |
//! | [`retention`] | which of the operator's objects are kept |
//! | [`reason`] | why there is no plan |

pub mod attempts;
pub mod bundle;
pub mod content;
pub mod criteria;
pub mod helm_yaml;
pub mod inputs;
pub mod jobs;
pub mod nodes;
pub mod observe;
pub mod outputs;
pub mod pipeline;
pub mod reason;
pub mod releases;
pub mod retention;
