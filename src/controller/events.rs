//! Events: what happened, where `kubectl describe` shows it. Each is created as it is; none is folded into an earlier
//! one, whose message would stand for both.
//!
//! Source: day-2, "Events".

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::Resource;
use kube::api::{Api, PostParams};
use sha2::{Digest as _, Sha256};
use tracing::warn;

use super::note::{NOTE_BYTES, within};
use super::writes::{WriteError, Writes};
use crate::api::Code;

/// Who reports.
const CONTROLLER: &str = "operator.aicr.run/aicr-operator";
/// Where Events about cluster-scoped objects lie.
const CLUSTER_SCOPED: &str = "default";
/// Most bytes of `reportingInstance` and of `action`.
const SHORT: usize = 128;

/// An Event's weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// As it should be.
    Normal,
    /// Somebody should look.
    Warning,
}

/// What is reported. Source: day-2, "Events".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the page says of each what it means")]
pub enum Reason {
    RolloutCreated,
    RolloutSucceeded,
    RolloutSuperseded,
    RolloutFailed,
    RolloutExpired,
    RolloutRevoked,
    RolloutOrphaned,
    EngineSuspended,
    EngineResumed,
    RuntimeOrphaned,
    PlanRebuilt,
    AicrRunFailed,
    Stalled,
    ReconcileFailed,
    FieldOwnershipOverridden,
    ApplicationRecreated,
    EngineSuspensionRefused,
    OrphanAnnotationRefused,
}

impl Reason {
    /// The word on the Event, what was being done, and the weight.
    const fn row(self) -> (&'static str, &'static str, Weight) {
        use Weight::{Normal, Warning};
        match self {
            Self::RolloutCreated => ("RolloutCreated", "CreateRollout", Normal),
            Self::RolloutSucceeded => ("RolloutSucceeded", "EndRollout", Normal),
            Self::RolloutSuperseded => ("RolloutSuperseded", "EndRollout", Normal),
            Self::RolloutFailed => ("RolloutFailed", "EndRollout", Warning),
            Self::RolloutExpired => ("RolloutExpired", "EndRollout", Warning),
            Self::RolloutRevoked => ("RolloutRevoked", "EndRollout", Warning),
            Self::RolloutOrphaned => ("RolloutOrphaned", "EndRollout", Warning),
            Self::EngineSuspended => ("EngineSuspended", "SuspendEngine", Normal),
            Self::EngineResumed => ("EngineResumed", "ResumeEngine", Normal),
            Self::RuntimeOrphaned => ("RuntimeOrphaned", "OrphanRuntime", Normal),
            Self::PlanRebuilt => ("PlanRebuilt", "RebuildPlan", Normal),
            Self::AicrRunFailed => ("AICRRunFailed", "RunAICR", Warning),
            Self::Stalled => ("Stalled", "Reconcile", Warning),
            Self::ReconcileFailed => ("ReconcileFailed", "Reconcile", Warning),
            Self::FieldOwnershipOverridden => ("FieldOwnershipOverridden", "RepairDrift", Warning),
            Self::ApplicationRecreated => ("ApplicationRecreated", "RepairDrift", Warning),
            Self::EngineSuspensionRefused => ("EngineSuspensionRefused", "SuspendEngine", Warning),
            Self::OrphanAnnotationRefused => ("OrphanAnnotationRefused", "OrphanRuntime", Warning),
        }
    }

    /// The word on the Event.
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// Whether somebody should look.
    pub const fn weight(self) -> Weight {
        self.row().2
    }
}

/// Something to report.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What it is about.
    pub about: ObjectReference,
    /// What happened.
    pub reason: Reason,
    /// In a sentence; the rest of what is longer than 1 KiB is cut off.
    pub note: String,
    /// What makes it the same happening when it is reported again, as after a restart; `None` if each report is one.
    pub once: Option<String>,
}

impl Report {
    /// A report about an object. It needs a name; the UID lets `kubectl describe` find it.
    pub fn about<K: Resource<DynamicType = ()>>(object: &K, reason: Reason, note: impl Into<String>) -> Self {
        Self { about: object.object_ref(&()), reason, note: note.into(), once: None }
    }

    /// The same, reported once however often it is sent.
    #[must_use]
    pub fn once(mut self, key: impl Into<String>) -> Self {
        self.once = Some(key.into());
        self
    }

    /// A reconcile that ended in an error and will be tried again. It repeats for as long as the error does:
    /// [`Repeats`](super::repeats::Repeats) tells whether it is to be sent again.
    pub fn reconcile_failed<K: Resource<DynamicType = ()>>(object: &K, code: Code, message: &str) -> Self {
        Self::about(object, Reason::ReconcileFailed, format!("[{code}] {message}"))
    }
}

/// The Event of a report. `number` tells reports of the same instant apart.
pub fn event(report: &Report, instance: &str, now: Timestamp, number: u64) -> Event {
    let about = &report.about;
    let (reason, action, weight) = report.reason.row();
    let object = about.name.as_deref().unwrap_or_default();
    let uid = about.uid.as_deref().unwrap_or_default();
    let same = match &report.once {
        Some(key) => key.clone(),
        None => format!("{}\n{instance}\n{number}", now.as_nanosecond()),
    };
    let hash = hex::encode(Sha256::digest(format!("{uid}\n{reason}\n{same}")));
    // A name has at most 253 bytes.
    let object_part: String = object.chars().take(253 - 17).collect();
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{}.{}", object_part.trim_end_matches(['-', '.']), &hash[..16])),
            namespace: Some(about.namespace.clone().unwrap_or_else(|| CLUSTER_SCOPED.to_owned())),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(now)),
        type_: Some(if weight == Weight::Normal { "Normal" } else { "Warning" }.to_owned()),
        reason: Some(reason.to_owned()),
        action: Some(action.to_owned()),
        note: Some(within(&report.note, NOTE_BYTES)),
        regarding: Some(about.clone()),
        reporting_controller: Some(CONTROLLER.to_owned()),
        reporting_instance: Some(instance.chars().take(SHORT).collect()),
        ..Event::default()
    }
}

/// Sends Events.
pub struct Events {
    client: kube::Client,
    writes: Writes,
    instance: String,
    now: fn() -> Timestamp,
    sent: AtomicU64,
}

impl Events {
    /// `instance` is the pod's name.
    pub fn new(client: kube::Client, writes: Writes, instance: String, now: fn() -> Timestamp) -> Self {
        Self { client, writes, instance, now, sent: AtomicU64::new(0) }
    }

    /// Sends one. One that exists already is a success: it was reported before. A failure is logged, too, since
    /// nothing may depend on an Event.
    pub async fn send(&self, report: &Report) -> Result<(), WriteError> {
        let event = event(report, &self.instance, (self.now)(), self.sent.fetch_add(1, Ordering::Relaxed));
        let namespace = event.metadata.namespace.clone().unwrap_or_default();
        let events: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        match self.writes.send(events.create(&PostParams::default(), &event)).await {
            Ok(_) => Ok(()),
            Err(WriteError::Failed(kube::Error::Api(status)))
                if status.code == 409 && report.once.is_some() =>
            {
                Ok(())
            }
            Err(error) => {
                warn!(reason = report.reason.as_str(), note = report.note, "the Event was not sent: {error}");
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ObjectReference;

    use super::{NOTE_BYTES, Reason, Report, event};
    use crate::api::{ClusterRuntime, Code};

    fn runtime() -> ObjectReference {
        ObjectReference {
            api_version: Some("operator.aicr.run/v1alpha1".into()),
            kind: Some("ClusterRuntime".into()),
            name: Some("cluster".into()),
            uid: Some("0b7f3f0a-6a0e-4f0e-9d52-1f6f5f1f2a10".into()),
            ..ObjectReference::default()
        }
    }

    fn report(reason: Reason, note: &str) -> Report {
        Report { about: runtime(), reason, note: note.into(), once: None }
    }

    fn name(report: &Report, number: u64) -> String {
        event(report, "pod", jiff::Timestamp::UNIX_EPOCH, number).metadata.name.unwrap()
    }

    #[test]
    fn an_event_about_a_cluster_scoped_object_lies_in_the_default_namespace() {
        let report = report(Reason::AicrRunFailed, "aicr render exited 3: bad").once("run-7");
        let event = event(&report, "pod", jiff::Timestamp::UNIX_EPOCH, 0);
        insta::assert_yaml_snapshot!(event);
    }

    #[test]
    fn an_event_about_a_namespaced_object_lies_beside_it() {
        let mut report = report(Reason::ApplicationRecreated, "x");
        report.about.namespace = Some("argocd".into());
        let event = event(&report, "pod", jiff::Timestamp::UNIX_EPOCH, 0);
        assert_eq!(event.metadata.namespace.as_deref(), Some("argocd"));
    }

    #[test]
    fn reports_are_events_of_their_own_unless_they_say_that_they_are_the_same() {
        let report = report(Reason::Stalled, "a");
        assert_ne!(name(&report, 1), name(&report, 2));
        let (once, other) = (report.clone().once("k"), report.clone().once("l"));
        assert_eq!(name(&once, 1), name(&once, 2));
        assert_ne!(name(&once, 1), name(&other, 1));
        let elsewhere =
            Report { about: ObjectReference { uid: Some("u".into()), ..runtime() }, ..once.clone() };
        assert_ne!(name(&once, 1), name(&elsewhere, 1), "a runtime that was made anew");
    }

    #[test]
    fn a_long_note_and_long_names_are_cut_to_what_the_api_server_takes() {
        let mut report = report(Reason::Stalled, &"ü".repeat(2000));
        report.about.name = Some(format!("{}-{}", "a".repeat(235), "b".repeat(17)));
        let event = event(&report, &"p".repeat(253), jiff::Timestamp::UNIX_EPOCH, 0);
        let note = event.note.unwrap();
        assert!(note.len() <= NOTE_BYTES && note.ends_with("ü…"));
        let name = event.metadata.name.unwrap();
        assert!(name.len() <= 253 && !name.contains("-."), "{name}");
        assert_eq!(event.reporting_instance.unwrap().len(), 128);
    }

    #[test]
    fn a_failed_reconcile_is_reported_with_its_code() {
        let runtime: ClusterRuntime = serde_json::from_value(serde_json::json!({
            "apiVersion": "operator.aicr.run/v1alpha1",
            "kind": "ClusterRuntime",
            "metadata": {"name": "cluster"},
            "spec": {"intent": "training", "placement": {
                "system": {"nodeSelector": {"pool": "system"}},
                "accelerated": {"nodeSelector": {"pool": "gpu"}},
            }},
        }))
        .unwrap();
        let report = Report::reconcile_failed(&runtime, Code::Timeout, "listing Jobs: no answer");
        assert_eq!(report.note, "[TIMEOUT] listing Jobs: no answer");
        assert_eq!(report.about.kind.as_deref(), Some("ClusterRuntime"));
        assert_eq!(report.about.name.as_deref(), Some("cluster"));
    }
}
