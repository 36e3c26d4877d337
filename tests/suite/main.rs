//! Everything that a real API server judges, in one program, so that its tests share a pool of servers. One module per
//! subject; `cargo test --test suite admission` runs one.
mod admission_acknowledgements;
mod admission_approval;
mod admission_changes;
mod admission_configmaps;
mod admission_kit;
mod admission_runtime;
mod chart;
mod cluster;
mod restore;
