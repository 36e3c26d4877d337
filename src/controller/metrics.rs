//! The process's metrics. Every series exists from the start, so that a rate reads zero rather than nothing.
//!
//! Source: day-2, "Metrics".

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use jiff::Timestamp;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::aicr::run::{RetryClass, Stage};
use crate::api::Phase;

/// What a deployment validation said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationResult {
    /// Every check passed.
    Passed,
    /// A check failed.
    Failed,
    /// It came to no result.
    Error,
}

impl ValidationResult {
    const ALL: [Self; 3] = [Self::Passed, Self::Failed, Self::Error];

    /// The value of the label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
        }
    }
}

/// The phases that are outcomes.
const OUTCOMES: [Phase; 6] =
    [Phase::Succeeded, Phase::Failed, Phase::Expired, Phase::Revoked, Phase::Superseded, Phase::Orphaned];

/// Names and values of labels.
type Labels<const N: usize> = [(&'static str, &'static str); N];
type Seconds = Gauge<f64, AtomicU64>;

/// The metrics; clones count together.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    outcomes: Family<Labels<1>, Counter>,
    durations: Family<Labels<2>, Histogram, fn() -> Histogram>,
    runs: Family<Labels<3>, Counter>,
    validations: Family<Labels<1>, Counter>,
    token_expiry: Seconds,
    token_refresh: Seconds,
}

/// Jobs take from seconds to an hour.
const BOUNDS: [f64; 9] = [1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0];

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("aicr_operator");
        let outcomes = Family::default();
        let durations = Family::new_with_constructor((|| Histogram::new(BOUNDS)) as fn() -> Histogram);
        let (runs, validations) = (Family::default(), Family::default());
        let (token_expiry, token_refresh) = (Seconds::default(), Seconds::default());
        registry.register("rollout_outcomes", "Rollouts ended, by outcome", outcomes.clone());
        registry.register(
            "job_duration_seconds",
            "AICR Job durations by stage and result",
            durations.clone(),
        );
        registry.register("validation_runs", "Deployment validation runs by result", validations.clone());
        registry.register(
            "job_runs",
            "AICR runs when first seen finished, by stage, result and, for failures, retry class",
            runs.clone(),
        );
        registry.register(
            "registry_token_expiry_timestamp_seconds",
            "When the Argo CD registry token expires, as Unix time",
            token_expiry.clone(),
        );
        registry.register(
            "registry_token_refresh_timestamp_seconds",
            "When the operator last refreshed the Argo CD registry token, as Unix time",
            token_refresh.clone(),
        );
        let metrics = Self {
            registry: Arc::new(registry),
            outcomes,
            durations,
            runs,
            validations,
            token_expiry,
            token_refresh,
        };
        metrics.seed();
        metrics
    }
}

impl Metrics {
    /// Makes every series, at zero.
    fn seed(&self) {
        for outcome in OUTCOMES {
            let _ = self.outcomes.get_or_create(&[("outcome", outcome.as_str())]);
        }
        for result in ValidationResult::ALL {
            let _ = self.validations.get_or_create(&[("result", result.as_str())]);
        }
        let endings = || std::iter::once(None).chain(RetryClass::ALL.map(Some));
        for (stage, ending) in
            Stage::ALL.into_iter().flat_map(|stage| endings().map(move |ending| (stage, ending)))
        {
            let _ = self.durations.get_or_create(&of_duration(stage, ending));
            let _ = self.runs.get_or_create(&of_run(stage, ending));
        }
    }

    /// Counts a rollout that ended; a phase that is no end counts nothing.
    pub fn rollout_ended(&self, outcome: Phase) {
        if outcome.is_terminal() {
            self.outcomes.get_or_create(&[("outcome", outcome.as_str())]).inc();
        }
    }

    /// Counts a run that is first seen finished, with its retry class if it failed.
    pub fn run_finished(&self, stage: Stage, failed: Option<RetryClass>, took: Duration) {
        self.durations.get_or_create(&of_duration(stage, failed)).observe(took.as_secs_f64());
        self.runs.get_or_create(&of_run(stage, failed)).inc();
    }

    /// Counts a deployment validation.
    pub fn validated(&self, result: ValidationResult) {
        self.validations.get_or_create(&[("result", result.as_str())]).inc();
    }

    /// Notes the registry token that Argo CD now has.
    pub fn token_refreshed(&self, at: Timestamp, expires: Timestamp) {
        self.token_refresh.set(at.as_duration().as_secs_f64());
        self.token_expiry.set(expires.as_duration().as_secs_f64());
    }

    /// All of them, in the OpenMetrics text format.
    pub fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

const fn result(failed: Option<RetryClass>) -> &'static str {
    if failed.is_some() { "failed" } else { "succeeded" }
}

fn of_duration(stage: Stage, failed: Option<RetryClass>) -> Labels<2> {
    [("stage", stage.as_str()), ("result", result(failed))]
}

/// A run that succeeded has no retry class: the label is empty.
fn of_run(stage: Stage, failed: Option<RetryClass>) -> Labels<3> {
    let [stage, result] = of_duration(stage, failed);
    [stage, result, ("class", failed.map_or("", RetryClass::as_str))]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Metrics, Phase, RetryClass, Stage, ValidationResult};

    /// The lines of the samples, without the buckets of histograms.
    fn samples(metrics: &Metrics) -> Vec<String> {
        let text = metrics.text().unwrap();
        let mut lines: Vec<String> = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.contains("_bucket"))
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines
    }

    #[test]
    fn every_series_is_there_at_zero_from_the_start() {
        let lines = samples(&Metrics::default());
        assert!(lines.iter().all(|line| line.ends_with(" 0") || line.ends_with(" 0.0")), "{lines:#?}");
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn what_happens_is_counted_in_its_series_alone() {
        let metrics = Metrics::default();
        let before = samples(&metrics);
        metrics.rollout_ended(Phase::Expired);
        metrics.rollout_ended(Phase::Validating);
        metrics.run_finished(Stage::Render, Some(RetryClass::Bounded), Duration::from_secs(2));
        metrics.run_finished(Stage::Recipe, None, Duration::from_millis(500));
        metrics.validated(ValidationResult::Passed);
        let [at, expires] = [1_790_000_000, 1_790_043_200].map(|s| jiff::Timestamp::from_second(s).unwrap());
        metrics.token_refreshed(at, expires);
        let changed: Vec<String> =
            samples(&metrics).into_iter().filter(|line| !before.contains(line)).collect();
        insta::assert_snapshot!(changed.join("\n"));
    }
}
