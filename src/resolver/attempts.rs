//! Attempts: how often a stage failed for one input, and when it may run again. They outlive the Jobs.
//!
//! Source: design section 3. Kept in a ConfigMap `aicr-attempts-<stage>-<input 16 hex>` of the operator namespace, which
//! has no role and no owner. A restarted controller reads it, so it neither tries early nor forgets an attempt.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

use crate::aicr::run::{Failure, RetryClass, Stage};
use crate::api::{Time, keys};
use crate::plan::Digest;

use super::inputs::Run;

const KEY: &str = "attempts.json";
const SCHEMA_VERSION: u32 = 1;

/// The failed attempts of one stage for one input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempts {
    schema_version: u32,
    /// Number of the last attempt that failed; 0 when none did.
    #[serde(default)]
    pub last: u32,
    /// Failures by retry class: each class has its own patience.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    failures: BTreeMap<String, u32>,
    /// How the last one failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<LastFailure>,
    /// Digest of the output that a later attempt left: of a snapshot's or recipe's bytes, which name its copy, or of the
    /// bundle that a render pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Digest>,
}

/// How an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LastFailure {
    /// Its retry class.
    pub class: String,
    /// The reason for the condition; absent while the failure is transient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The error code that goes with the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What happened, in words.
    pub message: String,
    /// When it was recorded.
    pub at: Time,
    /// When to try again; absent when never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Time>,
}

/// Whether a stage may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// This attempt, now.
    Run(u32),
    /// Not before this instant.
    At(Time),
    /// Not for this input.
    GivenUp,
}

/// Why stored attempts cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ConfigMap {name}: {problem}: delete it to start counting anew")]
pub struct AttemptsError {
    /// The ConfigMap.
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Name of the ConfigMap.
pub fn config_map_name(stage: Stage, input: Digest) -> String {
    format!("aicr-attempts-{stage}-{}", input.short())
}

impl Attempts {
    /// Attempts of which none failed yet.
    pub fn none() -> Self {
        Self { schema_version: SCHEMA_VERSION, ..Self::default() }
    }

    /// Reads what is stored; nothing stored means that nothing failed. Attempts for an earlier runtime do not count.
    ///
    /// # Errors
    ///
    /// When the ConfigMap holds anything else than [`Attempts::write`] put there.
    pub fn read(found: Option<&ConfigMap>, runtime_uid: &str) -> Result<Self, AttemptsError> {
        let Some(object) = found else { return Ok(Self::none()) };
        let error = |problem: String| {
            let name = object.metadata.name.clone().unwrap_or_default();
            AttemptsError { name, problem }
        };
        let recorded =
            object.metadata.annotations.as_ref().and_then(|annotations| annotations.get(keys::RUNTIME_UID));
        if recorded.is_none_or(|uid| uid != runtime_uid) {
            return Ok(Self::none());
        }
        let text = object.data.as_ref().and_then(|data| data.get(KEY));
        let text = text.ok_or_else(|| error(format!("it holds no {KEY}")))?;
        let read: Self =
            serde_json::from_str(text).map_err(|problem| error(format!("its {KEY}: {problem}")))?;
        if read.schema_version != SCHEMA_VERSION {
            return Err(error(format!(
                "its {KEY} has schemaVersion {}, not {SCHEMA_VERSION}",
                read.schema_version
            )));
        }
        for class in read.failures.keys().chain(read.failure.as_ref().map(|failure| &failure.class)) {
            if RetryClass::parse(class).is_none() {
                return Err(error(format!("its {KEY}: {class:?} is no retry class")));
            }
        }
        Ok(read)
    }

    /// The ConfigMap that keeps them.
    ///
    /// # Errors
    ///
    /// None that attempts can cause; serialization is fallible by its type.
    pub fn write(
        &self,
        stage: Stage,
        input: Digest,
        namespace: &str,
        runtime_uid: &str,
    ) -> Result<ConfigMap, serde_json::Error> {
        let labels = [(keys::MANAGED_BY, keys::MANAGER), (keys::RUNTIME, keys::SINGLETON)];
        let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        Ok(ConfigMap {
            metadata: ObjectMeta {
                name: Some(config_map_name(stage, input)),
                namespace: Some(namespace.to_owned()),
                labels: Some(labels.into_iter().map(owned).collect()),
                annotations: Some([owned((keys::RUNTIME_UID, runtime_uid))].into()),
                ..ObjectMeta::default()
            },
            data: Some([(KEY.to_owned(), serde_json::to_string(self)?)].into()),
            ..ConfigMap::default()
        })
    }

    /// Whether the stage may run at `now`.
    pub fn next(&self, now: Time) -> Next {
        match &self.failure {
            None => Next::Run(self.last + 1),
            Some(LastFailure { next_at: None, .. }) => Next::GivenUp,
            Some(LastFailure { next_at: Some(at), .. }) if now < *at => Next::At(*at),
            Some(_) => Next::Run(self.last.saturating_add(1)),
        }
    }

    /// The attempts with the digest of a run's output. The newest one counts: it replaces one whose copy was lost.
    #[must_use]
    pub fn succeeded(&self, output: Digest) -> Self {
        Self { output: Some(output), ..self.clone() }
    }

    /// The attempts with this run's failure. Recording the same run again changes nothing, so a lost answer does no harm.
    #[must_use]
    pub fn failed(&self, run: Run, failure: Failure, message: &str, now: Time) -> Self {
        if run.attempt <= self.last {
            return self.clone();
        }
        let mut after = self.clone();
        after.last = run.attempt;
        let count = after.failures.entry(failure.class.as_str().to_owned()).or_default();
        *count = count.saturating_add(1);
        let wait = failure.class.wait_after(*count).and_then(|wait| SignedDuration::try_from(wait).ok());
        let next_at = wait.and_then(|wait| now.0.checked_add(wait).ok()).map(|at| Time(at).truncated());
        after.failure = Some(LastFailure {
            class: failure.class.as_str().to_owned(),
            reason: failure.reason.map(|reason| reason.as_str().to_owned()),
            code: failure.reason.map(|reason| reason.code().as_str().to_owned()),
            message: message.to_owned(),
            at: now.truncated(),
            next_at,
        });
        after
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::aicr::Reason;
    use crate::api::fixtures::at;

    fn input() -> Digest {
        Digest::of_bytes(b"input")
    }

    fn run(attempt: u32) -> Run {
        Run { stage: Stage::Render, input: input(), attempt }
    }

    const fn failure(class: RetryClass) -> Failure {
        Failure { class, reason: Some(Reason::Internal) }
    }

    fn stored(attempts: &Attempts) -> Attempts {
        let object = attempts.write(Stage::Render, input(), "aicr-system", "uid").unwrap();
        Attempts::read(Some(&object), "uid").unwrap()
    }

    #[test]
    fn what_was_never_tried_runs_now() {
        assert_eq!(Attempts::read(None, "uid").unwrap().next(at("01:00:00")), Next::Run(1));
    }

    #[test]
    fn each_class_waits_by_its_own_count_and_only_bounded_ones_end() {
        use RetryClass::{Authorization, Bounded, Never, Transient};
        let table: [(&[RetryClass], Next); 9] = [
            (&[Never], Next::GivenUp),
            (&[Bounded], Next::At(at("01:00:30"))),
            (&[Bounded, Bounded], Next::At(at("01:01:00"))),
            (&[Bounded; 4], Next::At(at("01:04:00"))),
            (&[Bounded; 5], Next::GivenUp),
            (&[Transient; 9], Next::At(at("01:10:00"))),
            (&[Authorization], Next::At(at("01:10:00"))),
            // Twenty evictions do not use up the patience with a crash.
            (
                &[Transient, Transient, Transient, Transient, Transient, Transient, Bounded],
                Next::At(at("01:00:30")),
            ),
            (&[Bounded, Transient], Next::At(at("01:00:30"))),
        ];
        for (classes, next) in table {
            let mut attempts = Attempts::none();
            for class in classes {
                attempts =
                    stored(&attempts.failed(run(attempts.last + 1), failure(*class), "m", at("01:00:00")));
            }
            assert_eq!(attempts.next(at("01:00:00")), next, "{classes:?}");
            if let Next::At(then) = next {
                let after = u32::try_from(classes.len()).unwrap() + 1;
                assert_eq!(attempts.next(then), Next::Run(after));
            }
        }
    }

    #[test]
    fn recording_a_run_again_changes_nothing() {
        let once = Attempts::none().failed(run(1), failure(RetryClass::Bounded), "m", at("01:00:00"));
        let again = once.failed(run(1), failure(RetryClass::Never), "other", at("02:00:00"));
        assert_eq!(again, once);
        assert_eq!(once.failure.as_ref().unwrap().reason.as_deref(), Some("AICRInternal"));
    }

    #[test]
    fn the_newest_output_is_kept_beside_what_failed_before() {
        let failed = Attempts::none().failed(run(1), failure(RetryClass::Bounded), "m", at("01:00:00"));
        let succeeded = stored(&failed.succeeded(input()).succeeded(Digest::of_bytes(b"bundle")));
        assert_eq!(succeeded.output, Some(Digest::of_bytes(b"bundle")));
        assert_eq!((succeeded.last, &succeeded.failure), (1, &failed.failure));
    }

    #[test]
    fn attempts_of_an_earlier_runtime_do_not_count() {
        let attempts = Attempts::none().failed(run(1), failure(RetryClass::Never), "m", at("01:00:00"));
        let object = attempts.write(Stage::Render, input(), "aicr-system", "uid").unwrap();
        assert_eq!(Attempts::read(Some(&object), "other").unwrap(), Attempts::none());
        assert_eq!(object.metadata.name.unwrap(), format!("aicr-attempts-render-{}", input().short()));
        assert!(object.metadata.owner_references.is_none());
    }

    #[test]
    fn unreadable_attempts_are_named_and_never_taken_for_none() {
        for (text, problem) in [
            (None, "it holds no attempts.json"),
            (Some("{"), "its attempts.json: EOF while parsing"),
            (Some(r#"{"schemaVersion":2}"#), "its attempts.json has schemaVersion 2, not 1"),
            (Some(r#"{"schemaVersion":1,"failures":{"x":1}}"#), "its attempts.json: \"x\" is no retry class"),
            (Some(r#"{"schemaVersion":1,"lost":1}"#), "its attempts.json: unknown field `lost`"),
        ] {
            let mut object = Attempts::none().write(Stage::Render, input(), "aicr-system", "uid").unwrap();
            object.data = Some(text.map(|text| (KEY.to_owned(), text.to_owned())).into_iter().collect());
            let error = Attempts::read(Some(&object), "uid").unwrap_err().to_string();
            assert!(error.contains(problem) && error.contains("aicr-attempts-render-"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_attempt_is_early_and_none_is_forgotten(classes in proptest::collection::vec(0..4_usize, 1..30)) {
            let mut attempts = Attempts::none();
            let mut now = at("00:00:00");
            for class in classes {
                let Next::Run(number) = attempts.next(now) else { break };
                prop_assert_eq!(number, attempts.last + 1);
                attempts = stored(&attempts.failed(run(number), failure(RetryClass::ALL[class]), "m", now));
                match attempts.next(now) {
                    Next::At(then) => {
                        prop_assert!(then.0.duration_since(now.0) >= SignedDuration::from_secs(30));
                        now = then;
                    }
                    other => prop_assert_eq!(other, Next::GivenUp),
                }
            }
        }
    }
}
