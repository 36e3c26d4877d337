//! AICR's `upgrade-check` report: fetched by the rollout's reference, believed only when it matches the recorded digest.

use k8s_openapi::api::core::v1::ConfigMap;
use serde::Serialize;

use crate::aicr::{UpgradeReport, read_report};
use crate::api::ContentReference;
use crate::plan::digest::Digest;

/// Key of the report in its ConfigMap.
pub(crate) const REPORT_KEY: &str = "report.json";

/// What became of the report.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all_fields = "camelCase")]
pub(super) enum AssessmentView {
    /// The rollout refers to none.
    None,
    /// Read, and equal to what the rollout records.
    Verified { config_map: String, digest: String, report: UpgradeReport },
    /// Not to be had, or not to be believed; `problem` says which and why.
    Unusable { config_map: String, digest: String, problem: String },
}

impl AssessmentView {
    /// The report, when it is verified.
    pub(super) fn report(&self) -> Option<&UpgradeReport> {
        match self {
            Self::Verified { report, .. } => Some(report),
            Self::None | Self::Unusable { .. } => None,
        }
    }

    /// A report that cannot be used.
    pub(super) fn unusable(reference: &ContentReference, problem: String) -> Self {
        Self::Unusable { config_map: reference.config_map.clone(), digest: reference.digest.clone(), problem }
    }
}

/// Judges the ConfigMap that a rollout refers to.
pub(super) fn judge(reference: &ContentReference, config_map: &ConfigMap) -> AssessmentView {
    let Some(text) = config_map.data.as_ref().and_then(|data| data.get(REPORT_KEY)) else {
        return AssessmentView::unusable(reference, format!("it holds no {REPORT_KEY}"));
    };
    let found = Digest::of_bytes(text.as_bytes()).to_string();
    if found != reference.digest {
        let problem =
            format!("its content does not match the digest that the rollout records (found {found})");
        return AssessmentView::unusable(reference, problem);
    }
    match read_report(text) {
        Ok(report) => AssessmentView::Verified {
            config_map: reference.config_map.clone(),
            digest: reference.digest.clone(),
            report,
        },
        Err(error) => AssessmentView::unusable(reference, error.to_string()),
    }
}
