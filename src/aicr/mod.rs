//! All that is known about the AICR CLI: how it is called, what its artifacts hold, how its runs end.
//!
//! | file | what it knows |
//! | --- | --- |
//! | [`command`] | command lines, from typed inputs |
//! | [`run`] | the stages, how a run ends, what that means, and when it is tried again |
//! | [`version`] | AICR's version, and what depends on it |
//! | [`snapshot`], [`recipe`], [`report`], [`ctrf`] | what `snapshot`, `recipe`, `upgrade-check` and `validate` write |
//! | [`bundle_info`], [`upstream_env`] | what a bundle holds beside its charts |
//! | [`reason`] | why something of these is refused |
//!
//! Readers take what is documented, ignore additions, and refuse the rest by naming artifact, field and what was found.
//! Nothing here reads a clock, an environment or a server.

mod artifact;
pub mod bundle_info;
pub mod command;
pub mod ctrf;
pub mod reason;
pub mod recipe;
pub mod report;
pub mod run;
pub mod snapshot;
pub mod upstream_env;
pub mod version;

pub use artifact::ArtifactError;
pub use reason::Reason;
pub use report::{
    Change, ComponentRow, IdentityChange, RecordedStep, ReportSummary, UpgradeReport, Verdict, read_report,
};
