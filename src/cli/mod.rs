//! The plugin: arguments, kubeconfig, one file a command, output.

pub mod clock;
pub mod connection;
pub mod env;
pub mod error;
