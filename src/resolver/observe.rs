//! What a Job of AICR and its pod show: how far the run is, and how it ended.
//!
//! Source: design section 3 (classes of endings); api-reference "Retention".
//!
//! | what is observed first | what it means |
//! | --- | --- |
//! | the Job is complete | succeeded, unless its output is not what it should be |
//! | the Job failed for its deadline | ran too long; a pod that never started says why instead |
//! | the container was killed for its memory, or exited | just that, unless its node evicted it |
//! | the Job failed, and no container tells how | the pod is lost |
//! | the image cannot be pulled, or no node takes the pod, for longer than [`PATIENCE`] | just that: the Job goes on, and has to be deleted |
//! | the Job is suspended | not started |
//! | else | it runs |

use jiff::SignedDuration;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod, PodCondition};

use crate::aicr::run::{Ending, Stage};
use crate::api::{Time, keys};
use crate::plan::Digest;

use super::inputs::Run;
use super::jobs::TTL_SECONDS;
use super::pipeline::{JobFacts, JobState};

/// How long an image that cannot be pulled or a pod without a node is looked at before the run counts as failed: both pass
/// by themselves while a registry restarts or a node joins.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(3);
/// Why a container waits when its image does not come.
const PULL_REASONS: [&str; 5] =
    ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"];

/// What was read of a run beside its Job and pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside<'a> {
    /// The stage's own input: a Job carries only its first digits.
    pub input: Digest,
    /// Whether all that the Job owns is there.
    pub complete: bool,
    /// What is wrong with the output of a Job that is complete.
    pub output: Result<(), (Ending, String)>,
    /// The end of the container's log, as far as it could be read.
    pub log: &'a str,
}

/// What a Job and its pods show at `now`; nothing for a Job that is no run of this input.
pub fn observe(job: &Job, pods: &[Pod], aside: &Aside<'_>, now: Time) -> Option<JobFacts> {
    let run = run_of(job, aside.input)?;
    let spec = job.spec.as_ref();
    Some(JobFacts {
        run,
        deleting: job.metadata.deletion_timestamp.is_some(),
        ended: failed_for(job).is_some() || is_complete(job),
        state: state(job, pods, aside, now),
        ttl_seconds: spec.and_then(|spec| spec.ttl_seconds_after_finished).unwrap_or(TTL_SECONDS),
    })
}

/// Reads a pushed bundle's digest from the pod's termination message, which is the file that AICR wrote it to.
pub fn pushed(pods: &[Pod]) -> Option<Digest> {
    let message = pods.iter().filter_map(terminated).find_map(|state| state.message.as_deref())?;
    Digest::parse(message.strip_suffix('\n').unwrap_or(message)).ok()
}

fn run_of(job: &Job, input: Digest) -> Option<Run> {
    let label = |key: &str| job.metadata.labels.as_ref()?.get(key);
    let stage = Stage::parse(label(keys::STAGE)?)?;
    let attempt = job.metadata.annotations.as_ref()?.get(keys::ATTEMPT)?.parse().ok()?;
    let run = Run { stage, input, attempt };
    (job.metadata.name.as_deref() == Some(run.job().as_str())).then_some(run)
}

fn state(job: &Job, pods: &[Pod], aside: &Aside<'_>, now: Time) -> JobState {
    let failed = |ending| JobState::Failed { ending, detail: detail(pods, aside.log) };
    if is_complete(job) {
        return match &aside.output {
            Ok(()) => JobState::Succeeded,
            Err((ending, detail)) => JobState::Failed { ending: ending.clone(), detail: detail.clone() },
        };
    }
    if let Some(reason) = failed_for(job) {
        let never_started = || pods.iter().find_map(|pod| stuck(pod).map(|(ending, _)| ending));
        return failed(match pods.iter().find_map(ended) {
            _ if reason == "DeadlineExceeded" => never_started().unwrap_or(Ending::DeadlineExceeded),
            Some(ending) => ending,
            None => Ending::PodLost,
        });
    }
    if job.spec.as_ref().and_then(|spec| spec.suspend) == Some(true) {
        return JobState::Suspended { complete: aside.complete };
    }
    let stuck = pods.iter().find_map(stuck).filter(|(_, since)| now.0.duration_since(since.0) >= PATIENCE);
    match stuck {
        Some((ending, _)) => failed(ending),
        None => JobState::Running,
    }
}

fn is_complete(job: &Job) -> bool {
    condition(job, "Complete").is_some()
}

/// The reason of a Job that failed.
fn failed_for(job: &Job) -> Option<&str> {
    condition(job, "Failed")
}

/// The reason of a condition that holds.
fn condition<'a>(job: &'a Job, type_: &str) -> Option<&'a str> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let holds = conditions.iter().find(|found| found.type_ == type_ && found.status == "True")?;
    Some(holds.reason.as_deref().unwrap_or_default())
}

/// How a pod's container ended; nothing while it has not.
fn ended(pod: &Pod) -> Option<Ending> {
    let status = pod.status.as_ref()?;
    if status.reason.as_deref() == Some("Evicted") || disrupted(pod) {
        return Some(Ending::Evicted);
    }
    let state = terminated(pod)?;
    Some(if state.reason.as_deref() == Some("OOMKilled") {
        Ending::OutOfMemory
    } else {
        Ending::Exited(state.exit_code)
    })
}

/// Whether the cluster took the pod away: eviction, preemption, a node that was drained or is gone.
fn disrupted(pod: &Pod) -> bool {
    pod_condition(pod, "DisruptionTarget").is_some_and(|condition| condition.status == "True")
}

/// Why a pod does not start, and since when.
fn stuck(pod: &Pod) -> Option<(Ending, Time)> {
    let created = pod.metadata.creation_timestamp.as_ref().map(|created| Time(created.0))?;
    let waits = |status: &ContainerStatus| {
        let reason = status.state.as_ref()?.waiting.as_ref()?.reason.clone()?;
        PULL_REASONS.contains(&reason.as_str()).then_some(())
    };
    if container(pod).and_then(waits).is_some() {
        return Some((Ending::ImagePull, created));
    }
    let scheduled = pod_condition(pod, "PodScheduled")?;
    (scheduled.status == "False" && scheduled.reason.as_deref() == Some("Unschedulable"))
        .then_some((Ending::Unschedulable, created))
}

/// What there is to say: the message of the pod or of what its container waits for, then the end of the log.
fn detail(pods: &[Pod], log: &str) -> String {
    if !log.trim().is_empty() {
        return log.to_owned();
    }
    let of = |pod: &Pod| {
        let waiting =
            container(pod).and_then(|status| status.state.as_ref()?.waiting.as_ref()?.message.clone());
        let scheduled = || pod_condition(pod, "PodScheduled")?.message.clone();
        let message = || terminated(pod)?.message.clone();
        let own = || pod.status.as_ref()?.message.clone();
        message().or(waiting).or_else(own).or_else(scheduled)
    };
    pods.iter().find_map(of).unwrap_or_default()
}

fn container(pod: &Pod) -> Option<&ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()
}

fn terminated(pod: &Pod) -> Option<&ContainerStateTerminated> {
    container(pod)?.state.as_ref()?.terminated.as_ref()
}

fn pod_condition<'a>(pod: &'a Pod, type_: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.as_ref()?.iter().find(|condition| condition.type_ == type_)
}

#[cfg(test)]
mod tests;
