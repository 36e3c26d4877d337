//! Everything that a real API server judges, in one program, so that its tests share a pool of servers. One module per
//! subject; `cargo test --test suite admission` runs one.
mod cluster;
