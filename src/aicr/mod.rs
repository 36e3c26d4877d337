//! All that is known about the AICR CLI's artifacts: what they hold and what of them is refused.

mod report;

pub use report::{
    Change, ComponentRow, IdentityChange, RecordedStep, ReportError, ReportSummary, UpgradeReport, Verdict,
    read_report,
};
