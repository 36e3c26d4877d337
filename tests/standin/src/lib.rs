//! Plays the AICR CLI in the tests of kubectl-aicr: its command line, artifacts, exit codes and error text as they are
//! publicly documented. It is not NVIDIA's program, shares no code with it, and proves nothing about it; see README.md.
//!
//! | module | what it plays |
//! | --- | --- |
//! | [`flags`], [`failure`] | the command line and its refusals |
//! | [`setup`] | what a test sets: version, catalogue, where charts are, failures |
//! | [`catalogue`], [`charts`] | components and their charts; tests serve the latter |
//! | [`snapshot`], [`recipe`], [`values`], [`bundle`], [`upgrade`], [`validate`] | the commands |
//! | [`mod@reference`], [`cluster`], [`registry`] | files, ConfigMaps and artifacts that commands read and write |
//! | [`command`] | one run |

pub mod bundle;
pub mod catalogue;
pub mod charts;
pub mod cluster;
pub mod command;
pub mod failure;
pub mod flags;
pub mod recipe;
pub mod reference;
pub mod registry;
pub mod setup;
pub mod snapshot;
pub mod upgrade;
pub mod validate;
pub mod values;

/// The time, as artifacts state it.
#[expect(clippy::disallowed_methods, reason = "plays a program that reads the clock")]
pub fn now() -> String {
    format!("{:.0}", jiff::Timestamp::now())
}
