//! The pipeline: the one next thing to do on the way to a plan, and what the `Resolved` condition says meanwhile.
//!
//! Source: design sections 1 and 3; api-reference "Retention" for Jobs. The first row that holds decides. `stage` is the
//! first stage in order whose output is not there yet; those before it have theirs. Where a row says `Resolving`, a
//! failure for want of rights stays told until a run of its stage succeeds.
//!
//! | # | what is observed | what is done | `Resolved` says |
//! | --- | --- | --- | --- |
//! | 1 | an earlier stage's output was refused, or discovery was | wait for an input | the refusal |
//! | 2 | an earlier stage's Job is still there | delete it | `Resolving` |
//! | 3 | stage: its Job is being deleted, its end not recorded | record it as deleted | `Resolving` |
//! | 4 | stage: its Job is being deleted | wait | `Resolving` |
//! | 5 | stage: its Job is recorded and has not ended | delete it | `Resolving` |
//! | 6 | stage: its Job, not recorded, succeeded | collect the output | `Resolving` |
//! | 7 | stage: its Job, not recorded, failed | record the failure | `Resolving` |
//! | 8 | stage: its Job, not recorded, is suspended and lacks what it owns | create that | `Resolving` |
//! | 9 | stage: its Job, not recorded, is suspended | resume it | `Resolving` |
//! | 10 | stage: its Job, not recorded, runs | wait | `Resolving` |
//! | 11 | stage: given up, its failed Job kept for a day only | keep it for a week | the failure |
//! | 12 | stage: given up | wait for an input | the failure |
//! | 13 | stage: an attempt is due | create its Job, suspended | `Resolving`, with the last failure |
//! | 14 | stage: an attempt is due later | wait until then | `Resolving`, with the last failure |
//! | 15 | content was refused | wait for an input | the refusal |
//! | 16 | content failed for a while | wait until the next try | the failure if it has a reason, else `Resolving` |
//! | 17 | the bundle is not pulled | pull it | `Resolving` |
//! | 18 | charts are not mirrored | mirror them | `Resolving` |
//! | 19 | the plan is not written | write it | `Resolving` |
//! | 20 | the plan's name is taken by something else | wait for an input | `Conflict` |
//! | 21 | the plan is written | wait until the next UTC day | `Resolved` |

use crate::aicr::run::{Ending, MAX_MESSAGE, RetryClass, Stage};
use crate::api::Time;
use crate::plan::Digest;

use super::attempts::{Attempts, LastFailure, Next};
use super::inputs::{Run, next_day};
use super::jobs::TTL_SECONDS;
use super::reason::{Reason, Refused};

/// All that is observed.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What discovery says of the nodes.
    pub discovery: Result<(), Refused>,
    /// The stages that the inputs need, in order, up to the first one without output: the input of a later one is not
    /// known yet.
    pub stages: Vec<StageFacts>,
    /// Whether there are stages after those.
    pub more_stages: bool,
    /// What became of the bundle; looked at once every stage has its output.
    pub content: Content,
}

/// What is known of one stage.
#[derive(Clone, Debug)]
pub struct StageFacts {
    /// The stage.
    pub stage: Stage,
    /// Its own input.
    pub input: Digest,
    /// Its output's copy without an owner: absent, there, or there and refused.
    pub output: Option<Result<(), Refused>>,
    /// Its failed attempts.
    pub attempts: Attempts,
    /// Its newest Job.
    pub job: Option<JobFacts>,
}

/// What is known of a Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFacts {
    /// Which run it is.
    pub run: Run,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Whether it has ended: one whose pod never starts can have failed for us and go on.
    pub ended: bool,
    /// How far it is.
    pub state: JobState,
    /// Its `ttlSecondsAfterFinished`.
    pub ttl_seconds: i32,
}

/// How far a Job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Not started.
    Suspended {
        /// Whether all that it owns is there.
        complete: bool,
    },
    /// Started.
    Running,
    /// Ended with its output.
    Succeeded,
    /// Ended without one.
    Failed {
        /// How.
        ending: Ending,
        /// The end of standard error, or what is wrong with the output.
        detail: String,
    },
}

/// What became of the bundle.
#[derive(Clone, Debug)]
pub enum Content {
    /// It is not pulled.
    Unread,
    /// It can be no plan.
    Refused(Refused),
    /// The registry or a chart's source did not serve; tried again at this instant.
    Failing {
        /// When.
        at: Time,
        /// What to report, if it should be.
        refused: Option<Refused>,
    },
    /// It is read, and charts are still to be mirrored.
    Unmirrored {
        /// How many.
        charts: usize,
    },
    /// The plan is made.
    Plan {
        /// Its digest.
        digest: Digest,
        /// What is at its name.
        stored: Stored,
    },
}

/// What is at a plan's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Nothing, another runtime's plan or a rebuilt one of this digest, or less than all of its recipe and values.
    Absent,
    /// The plan with all that it refers to.
    Whole,
    /// Something else.
    Taken(String),
}

/// The next thing to do, and what to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The next thing to do.
    pub action: Action,
    /// The condition.
    pub report: Report,
}

/// The next thing to do: at most one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing until something observed changes.
    Wait,
    /// Nothing until then, or until something observed changes.
    WaitUntil(Time),
    /// Create the run's Job, suspended.
    CreateJob(Run),
    /// Create what the run's Job owns, as far as it is missing.
    CreateOwned(Run),
    /// Start the run's Job.
    Resume(Run),
    /// Copy the run's output into a ConfigMap without an owner.
    Collect(Run),
    /// Record that the run failed.
    Record {
        /// The run.
        run: Run,
        /// How it ended.
        ending: Ending,
        /// In more words.
        detail: String,
    },
    /// Delete the run's Job in the foreground.
    Delete(Run),
    /// Raise the time that the run's Job is kept.
    KeepLonger(Run),
    /// Pull the bundle.
    Pull,
    /// Mirror charts.
    Mirror,
    /// Write plan, recipes and values.
    WritePlan(Digest),
}

/// What the `Resolved` condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether there is a plan for the current inputs.
    pub resolved: bool,
    /// The reason.
    pub reason: String,
    /// The message; a failure's begins with its code.
    pub message: String,
}

impl Report {
    fn resolving(message: impl Into<String>) -> Self {
        Self { resolved: false, reason: "Resolving".to_owned(), message: bounded(message.into()) }
    }

    fn failure(reason: &str, code: &str, message: &str) -> Self {
        Self { resolved: false, reason: reason.to_owned(), message: bounded(format!("[{code}] {message}")) }
    }

    fn refused(refused: &Refused) -> Self {
        Self::failure(refused.reason.as_str(), refused.reason.code().as_str(), &refused.message)
    }
}

/// The next thing to do; see the table above.
pub fn decide(facts: &Facts, now: Time) -> Decision {
    let decision = |action, report| Decision { action, report };
    let done = facts.stages.iter().filter_map(|stage| Some((stage, stage.output.as_ref()?)));
    let refused = facts.discovery.as_ref().err();
    if let Some(refused) = refused.or_else(|| done.clone().find_map(|(_, output)| output.as_ref().err())) {
        return decision(Action::Wait, Report::refused(refused)); // 1
    }
    let left = done.filter_map(|(stage, _)| stage.job.as_ref()).find(|job| !job.deleting);
    if let Some(job) = left {
        let message = format!("the output of {} is recorded", job.run.job());
        return decision(Action::Delete(job.run), Report::resolving(message)); // 2
    }
    match facts.stages.iter().find(|stage| stage.output.is_none()) {
        Some(stage) => decide_stage(stage, now),
        None if facts.more_stages => {
            decision(Action::Wait, Report::resolving("the next stage's input is being read"))
        }
        None => decide_content(&facts.content, now),
    }
}

/// Rows 3 to 14.
fn decide_stage(stage: &StageFacts, now: Time) -> Decision {
    let resolving = |action, what: &str, run: Run| {
        let failure = stage.attempts.failure.as_ref().filter(|failure| is_told_at_once(failure));
        let message = format!("aicr {} {what} (run {}, attempt {})", run.stage, run.id(), run.attempt);
        let report =
            failure.map_or_else(|| Report::resolving(message), |failure| waiting(stage.stage, Some(failure)));
        Decision { action, report }
    };
    let is_recorded = |job: &JobFacts| job.run.attempt <= stage.attempts.last;
    if let Some(job) = &stage.job {
        let run = job.run;
        match &job.state {
            _ if job.deleting && !is_recorded(job) => {
                let (ending, detail) = (Ending::JobDeleted, String::new());
                return resolving(Action::Record { run, ending, detail }, "lost its Job", run); // 3
            }
            _ if job.deleting => return resolving(Action::Wait, "waits for its Job's deletion", run), // 4
            _ if is_recorded(job) && !job.ended => {
                return resolving(Action::Delete(run), "is given up for another attempt", run); // 5
            }
            _ if is_recorded(job) => {}
            JobState::Succeeded => return resolving(Action::Collect(run), "succeeded", run), // 6
            JobState::Failed { ending, detail } => {
                let (ending, detail) = (ending.clone(), detail.clone());
                return resolving(Action::Record { run, ending, detail }, "failed", run); // 7
            }
            JobState::Suspended { complete: false } => {
                return resolving(Action::CreateOwned(run), "is being prepared", run); // 8
            }
            JobState::Suspended { complete: true } => {
                return resolving(Action::Resume(run), "is being started", run); // 9
            }
            JobState::Running => return resolving(Action::Wait, "is running", run), // 10
        }
    }
    let failure = stage.attempts.failure.as_ref();
    let report = waiting(stage.stage, failure);
    let action = match stage.attempts.next(now) {
        Next::GivenUp => match &stage.job {
            Some(job) if job.ttl_seconds <= TTL_SECONDS => Action::KeepLonger(job.run), // 11
            _ => Action::Wait,                                                          // 12
        },
        Next::Run(attempt) => {
            Action::CreateJob(Run { stage: stage.stage, input: stage.input, attempt }) // 13
        }
        Next::At(then) => Action::WaitUntil(then), // 14
    };
    Decision { action, report }
}

/// What a stage between two attempts says: a failure that ends the resolution, or one that somebody must see at once, is
/// the reason; any other one is told while resolving.
fn waiting(stage: Stage, failure: Option<&LastFailure>) -> Report {
    let Some(failure) = failure else { return Report::resolving(format!("aicr {stage} is about to run")) };
    let is_final = failure.next_at.is_none() || is_told_at_once(failure);
    match (&failure.reason, &failure.code, failure.next_at) {
        (Some(reason), Some(code), _) if is_final => Report::failure(reason, code, &failure.message),
        (_, _, Some(then)) => Report::resolving(format!("tried again at {then}: {}", failure.message)),
        _ => Report::resolving(failure.message.clone()),
    }
}

/// Whether a failure is told although it is tried again, and stays told until a run succeeds.
fn is_told_at_once(failure: &LastFailure) -> bool {
    failure.class == RetryClass::Authorization.as_str()
}

/// Rows 15 to 21.
fn decide_content(content: &Content, now: Time) -> Decision {
    let (action, report) = match content {
        Content::Refused(refused) => (Action::Wait, Report::refused(refused)), // 15
        Content::Failing { at, refused } => {
            let resolving = || Report::resolving(format!("a registry did not serve; tried again at {at}"));
            (Action::WaitUntil(*at), refused.as_ref().map_or_else(resolving, Report::refused)) // 16
        }
        Content::Unread => (Action::Pull, Report::resolving("the bundle is being read")), // 17
        Content::Unmirrored { charts } => {
            (Action::Mirror, Report::resolving(format!("{charts} charts are being mirrored"))) // 18
        }
        Content::Plan { digest, stored: Stored::Absent } => {
            (Action::WritePlan(*digest), Report::resolving(format!("plan {digest} is being written"))) // 19
        }
        Content::Plan { digest, stored: Stored::Taken(what) } => {
            let message = format!("plan {digest} cannot be written: {what}");
            (Action::Wait, Report::refused(&Refused::new(Reason::Conflict, message))) // 20
        }
        Content::Plan { digest, stored: Stored::Whole } => {
            let action = next_day(now.0).map_or(Action::Wait, |then| Action::WaitUntil(Time(then)));
            let message = format!("plan {digest} is resolved");
            (action, Report { resolved: true, reason: "Resolved".to_owned(), message }) // 21
        }
    };
    Decision { action, report }
}

/// A message as a condition holds it.
fn bounded(message: String) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        None => message,
        Some(_) => message.chars().take(MAX_MESSAGE - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests;
