//! Everything that a real API server judges, in one program, so that its tests share a pool of servers. One module per
//! subject; `cargo test --test suite admission` runs one.
#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    clippy::semicolon_if_nothing_returned,
    reason = "tests fail by panicking, and their tables read best as short closures"
)]

mod admission_acknowledgements;
mod admission_approval;
mod admission_changes;
mod admission_configmaps;
mod admission_kit;
mod admission_runtime;
mod chart;
mod cli_approval;
mod cli_describe;
mod cli_faults;
mod cli_front;
mod cli_kit;
mod cli_kubectl;
mod cli_race;
mod cli_reproduce;
mod cli_terminal;
mod cli_usage;
mod cluster;
mod connection;
mod controller_kit;
mod controller_leader;
mod controller_process;
mod controller_reports;
mod crd_kit;
mod crd_rollout;
mod crd_runtime;
mod helm_yaml;
mod plan;
mod registry_aws;
mod registry_bundle;
mod registry_charts;
mod registry_faults;
mod registry_kit;
mod resolver_jobs;
mod restore;
mod values;

#[path = "../fixtures/plans.rs"]
#[allow(dead_code, reason = "shared with unit tests and the benchmark, which use other parts of it")]
mod fixtures;
