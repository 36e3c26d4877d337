//! One test a row of the table, in its order; the last tests walk whole resolutions.

use proptest::prelude::*;

use super::*;
use crate::aicr;
use crate::aicr::run::Failure;
use crate::api::fixtures::at;
use crate::resolver::jobs::STALLED_TTL_SECONDS;

const STAGES: [Stage; 3] = [Stage::Snapshot, Stage::Recipe, Stage::Render];

fn now() -> Time {
    at("01:00:00")
}

fn run(stage: Stage, attempt: u32) -> Run {
    Run { stage, input: Digest::of_bytes(stage.as_str().as_bytes()), attempt }
}

fn untried(stage: Stage) -> StageFacts {
    StageFacts { stage, input: run(stage, 1).input, output: None, attempts: Attempts::none(), job: None }
}

fn done(stage: Stage) -> StageFacts {
    StageFacts { output: Some(Ok(())), ..untried(stage) }
}

fn job(stage: Stage, attempt: u32, at: JobState) -> JobFacts {
    let ended = matches!(at, JobState::Succeeded | JobState::Failed { .. });
    JobFacts { run: run(stage, attempt), deleting: false, ended, state: at, ttl_seconds: TTL_SECONDS }
}

fn failed(ending: Ending) -> JobState {
    JobState::Failed { ending, detail: "[cli] boom".to_owned() }
}

/// A snapshot done, a recipe with this Job after this failure.
fn recipe(job_state: Option<JobState>, failure: Option<Ending>) -> Facts {
    let mut stage = untried(Stage::Recipe);
    if let Some(ending) = failure {
        let message = ending.message(Stage::Recipe, "[cli] boom", 900);
        stage.attempts = stage.attempts.failed(run(Stage::Recipe, 1), ending.failure(""), &message, now());
    }
    stage.job = job_state.map(|at| job(Stage::Recipe, 1, at));
    Facts {
        discovery: Ok(()),
        stages: vec![done(Stage::Snapshot), stage],
        more_stages: true,
        content: Content::Unread,
    }
}

fn content(content: Content) -> Facts {
    Facts { discovery: Ok(()), stages: STAGES.map(done).into(), more_stages: false, content }
}

fn action(facts: &Facts) -> Action {
    decide(facts, now()).action
}

/// Reason and message.
fn says(facts: &Facts) -> (String, String) {
    let report = decide(facts, now()).report;
    assert_eq!(report.resolved, report.reason == "Resolved");
    (report.reason, report.message)
}

fn refused() -> Refused {
    Refused::new(Reason::CriteriaConflict, "spec.criteria.os declares rhel")
}

fn conflict() -> (String, String) {
    ("CriteriaConflict".to_owned(), "[CONFLICT] spec.criteria.os declares rhel".to_owned())
}

#[test]
fn row_1_a_refusal_of_discovery_or_of_an_output_ends_the_resolution() {
    let mut nodes = recipe(None, None);
    nodes.discovery = Err(refused());
    let mut output = recipe(None, None);
    output.stages[0].output = Some(Err(refused()));
    for facts in [nodes, output] {
        assert_eq!((action(&facts), says(&facts)), (Action::Wait, conflict()));
    }
}

#[test]
fn row_2_a_job_whose_output_is_recorded_is_deleted() {
    let mut facts = recipe(None, None);
    facts.stages[0].job = Some(job(Stage::Snapshot, 3, JobState::Succeeded));
    assert_eq!(action(&facts), Action::Delete(run(Stage::Snapshot, 3)));
    facts.stages[0].job.as_mut().unwrap().deleting = true;
    assert_eq!(action(&facts), Action::CreateJob(run(Stage::Recipe, 1)));
}

#[test]
fn row_3_a_job_that_somebody_deletes_is_recorded() {
    let mut facts = recipe(Some(JobState::Running), None);
    facts.stages[1].job.as_mut().unwrap().deleting = true;
    let lost =
        Action::Record { run: run(Stage::Recipe, 1), ending: Ending::JobDeleted, detail: String::new() };
    assert_eq!(action(&facts), lost);
}

#[test]
fn row_4_a_job_being_deleted_is_waited_out() {
    let mut facts = recipe(Some(JobState::Running), Some(Ending::JobDeleted));
    facts.stages[1].job.as_mut().unwrap().deleting = true;
    assert_eq!(action(&facts), Action::Wait);
}

#[test]
fn row_5_a_job_whose_pod_never_starts_is_recorded_and_then_deleted() {
    let mut facts = recipe(Some(failed(Ending::ImagePull)), None);
    facts.stages[1].job.as_mut().unwrap().ended = false;
    assert!(matches!(action(&facts), Action::Record { ending: Ending::ImagePull, .. }));
    let mut facts = recipe(Some(failed(Ending::ImagePull)), Some(Ending::ImagePull));
    facts.stages[1].job.as_mut().unwrap().ended = false;
    assert_eq!(action(&facts), Action::Delete(run(Stage::Recipe, 1)));
}

#[test]
fn row_6_the_output_of_a_job_that_succeeded_is_collected() {
    assert_eq!(action(&recipe(Some(JobState::Succeeded), None)), Action::Collect(run(Stage::Recipe, 1)));
}

#[test]
fn row_7_a_failure_is_recorded_once() {
    let facts = recipe(Some(failed(Ending::Exited(8))), None);
    let record = Action::Record {
        run: run(Stage::Recipe, 1),
        ending: Ending::Exited(8),
        detail: "[cli] boom".to_owned(),
    };
    assert_eq!(action(&facts), record);
    let recorded = recipe(Some(failed(Ending::Exited(8))), Some(Ending::Exited(8)));
    assert_eq!(action(&recorded), Action::WaitUntil(at("01:00:30")));
}

#[test]
fn row_8_what_a_suspended_job_owns_is_created_before_it_starts() {
    let facts = recipe(Some(JobState::Suspended { complete: false }), None);
    assert_eq!(action(&facts), Action::CreateOwned(run(Stage::Recipe, 1)));
}

#[test]
fn row_9_a_complete_job_is_resumed() {
    let facts = recipe(Some(JobState::Suspended { complete: true }), None);
    assert_eq!(action(&facts), Action::Resume(run(Stage::Recipe, 1)));
}

#[test]
fn row_10_a_running_job_is_waited_for_and_named() {
    let facts = recipe(Some(JobState::Running), None);
    let id = run(Stage::Recipe, 1).id();
    assert_eq!(action(&facts), Action::Wait);
    assert_eq!(
        says(&facts),
        ("Resolving".to_owned(), format!("aicr recipe is running (run {id}, attempt 1)"))
    );
}

#[test]
fn rows_11_and_12_a_stage_that_gave_up_keeps_its_job_for_a_week_and_reports() {
    let mut facts = recipe(Some(failed(Ending::Exited(2))), Some(Ending::Exited(2)));
    let told =
        ("AICRInvalidRequest".to_owned(), "[INVALID_REQUEST] aicr recipe exited 2: [cli] boom".to_owned());
    assert_eq!((action(&facts), says(&facts)), (Action::KeepLonger(run(Stage::Recipe, 1)), told.clone()));
    facts.stages[1].job.as_mut().unwrap().ttl_seconds = STALLED_TTL_SECONDS;
    assert_eq!((action(&facts), says(&facts)), (Action::Wait, told.clone()));
    facts.stages[1].job = None;
    assert_eq!((action(&facts), says(&facts)), (Action::Wait, told));
}

#[test]
fn row_13_a_due_attempt_gets_its_job() {
    let facts = recipe(None, None);
    assert_eq!(action(&facts), Action::CreateJob(run(Stage::Recipe, 1)));
    let again = recipe(Some(failed(Ending::Exited(6))), Some(Ending::Exited(6)));
    let later = decide(&again, at("01:00:30"));
    assert_eq!(later.action, Action::CreateJob(run(Stage::Recipe, 2)));
    assert_eq!(later.report.reason, "Resolving");
}

#[test]
fn row_14_an_attempt_that_is_due_later_is_waited_for_and_missing_rights_are_told_at_once() {
    let later = recipe(None, Some(Ending::Exited(8)));
    assert_eq!(action(&later), Action::WaitUntil(at("01:00:30")));
    let told = "tried again at 2026-10-15T01:00:30Z: aicr recipe exited 8: [cli] boom";
    assert_eq!(says(&later), ("Resolving".to_owned(), told.to_owned()));
    let rights = recipe(None, Some(Ending::Exited(4)));
    assert_eq!(action(&rights), Action::WaitUntil(at("01:10:00")));
    let told = "[UNAUTHORIZED] aicr recipe exited 4: [cli] boom";
    assert_eq!(says(&rights), ("AICRUnauthorized".to_owned(), told.to_owned()));
    let mut again = rights;
    again.stages[1].job = Some(job(Stage::Recipe, 2, JobState::Running));
    assert_eq!((action(&again), says(&again).0.as_str()), (Action::Wait, "AICRUnauthorized"));
}

#[test]
fn a_stage_whose_input_is_not_known_yet_is_waited_for() {
    let mut facts = recipe(None, None);
    facts.stages.truncate(1);
    assert_eq!(action(&facts), Action::Wait);
}

#[test]
fn row_15_refused_content_ends_the_resolution() {
    let facts = content(Content::Refused(refused()));
    assert_eq!((action(&facts), says(&facts)), (Action::Wait, conflict()));
}

#[test]
fn row_16_a_registry_that_does_not_serve_is_tried_again() {
    let then = at("01:05:00");
    let facts = content(Content::Failing { at: then, refused: None });
    assert_eq!((action(&facts), says(&facts).0.as_str()), (Action::WaitUntil(then), "Resolving"));
    let facts = content(Content::Failing { at: then, refused: Some(refused()) });
    assert_eq!((action(&facts), says(&facts)), (Action::WaitUntil(then), conflict()));
}

#[test]
fn rows_17_to_19_the_bundle_is_pulled_charts_are_mirrored_and_the_plan_is_written() {
    let digest = Digest::of_bytes(b"plan");
    assert_eq!(action(&content(Content::Unread)), Action::Pull);
    assert_eq!(action(&content(Content::Unmirrored { charts: 3 })), Action::Mirror);
    let facts = content(Content::Plan { digest, stored: Stored::Absent });
    assert_eq!(action(&facts), Action::WritePlan(digest));
}

#[test]
fn row_20_a_taken_name_is_a_conflict() {
    let stored = Stored::Taken("ConfigMap aicr-plan-1 holds another digest".to_owned());
    let facts = content(Content::Plan { digest: Digest::of_bytes(b"plan"), stored });
    assert_eq!(action(&facts), Action::Wait);
    assert_eq!(says(&facts).0, "Conflict");
}

#[test]
fn row_21_a_written_plan_is_resolved_until_the_next_day() {
    let digest = Digest::of_bytes(b"plan");
    let facts = content(Content::Plan { digest, stored: Stored::Whole });
    assert_eq!(action(&facts), Action::WaitUntil(Time("2026-10-16T00:00:00Z".parse().unwrap())));
    assert_eq!(says(&facts), ("Resolved".to_owned(), format!("plan {digest} is resolved")));
}

#[test]
fn a_message_fits_its_condition() {
    let long = Refused::new(Reason::Aicr(aicr::Reason::Internal), "ä".repeat(5000));
    let message = says(&content(Content::Refused(long))).1;
    assert_eq!(message.chars().count(), MAX_MESSAGE);
}

/// A world that does what is decided; a run ends as `endings` say, and with its output when there is none left.
struct World {
    facts: Facts,
    now: Time,
    endings: Vec<Ending>,
    jobs: u32,
}

impl World {
    fn new(endings: Vec<Ending>) -> Self {
        let stages = vec![untried(STAGES[0])];
        let facts = Facts { discovery: Ok(()), stages, more_stages: true, content: Content::Unread };
        Self { facts, now: now(), endings, jobs: 0 }
    }

    fn stage(&mut self, stage: Stage) -> &mut StageFacts {
        self.facts.stages.iter_mut().find(|facts| facts.stage == stage).unwrap()
    }

    /// Does one thing; `false` once nothing is left to do.
    fn step(&mut self) -> bool {
        let Decision { action, report } = decide(&self.facts, self.now);
        match action {
            Action::Wait => {
                let running = self.facts.stages.iter_mut().rev().find_map(|stage| stage.job.as_mut());
                match running {
                    Some(job) if job.state == JobState::Running => {
                        let ending = self.endings.pop();
                        job.ended = ending != Some(Ending::ImagePull);
                        job.state = ending.map_or(JobState::Succeeded, failed);
                    }
                    _ => return false,
                }
            }
            Action::WaitUntil(then) if report.resolved => assert!(then > self.now),
            Action::WaitUntil(then) => {
                assert!(then > self.now);
                self.now = then;
            }
            Action::CreateJob(run) => {
                let created = job(run.stage, run.attempt, JobState::Suspended { complete: false });
                assert!(self.stage(run.stage).job.as_ref().is_none_or(|job| job.run.attempt < run.attempt));
                self.stage(run.stage).job = Some(created);
                self.jobs += 1;
            }
            Action::CreateOwned(run) => self.set(run, JobState::Suspended { complete: true }),
            Action::Resume(run) => self.set(run, JobState::Running),
            Action::Collect(run) => {
                self.stage(run.stage).output = Some(Ok(()));
                let next = self.facts.stages.len();
                self.facts.stages.extend(STAGES.get(next).map(|stage| untried(*stage)));
                self.facts.more_stages = next + 1 < STAGES.len();
            }
            Action::Record { run, ending, detail } => {
                let Failure { class, reason } = ending.failure(&detail);
                let now = self.now;
                let stage = self.stage(run.stage);
                stage.attempts = stage.attempts.failed(run, Failure { class, reason }, "m", now);
            }
            Action::Delete(run) => self.stage(run.stage).job = None,
            Action::KeepLonger(run) => {
                self.stage(run.stage).job.as_mut().unwrap().ttl_seconds = STALLED_TTL_SECONDS;
            }
            Action::Pull => self.facts.content = Content::Unmirrored { charts: 1 },
            Action::Mirror => {
                let digest = Digest::of_bytes(b"plan");
                self.facts.content = Content::Plan { digest, stored: Stored::Absent };
            }
            Action::WritePlan(digest) => {
                self.facts.content = Content::Plan { digest, stored: Stored::Whole };
            }
        }
        !report.resolved
    }

    fn set(&mut self, run: Run, at: JobState) {
        let job = self.stage(run.stage).job.as_mut().unwrap();
        assert_eq!(job.run, run);
        job.state = at;
    }

    fn walk(&mut self) -> Report {
        let steps = (0..500).take_while(|_| self.step()).count();
        assert!(steps < 500, "no end");
        decide(&self.facts, self.now).report
    }
}

#[test]
fn an_undisturbed_resolution_runs_each_stage_once_and_ends_resolved() {
    let mut world = World::new(Vec::new());
    assert!(world.walk().resolved);
    assert_eq!(world.jobs, 3);
    assert!(world.facts.stages.iter().all(|stage| stage.job.is_none()));
}

#[test]
fn five_crashes_end_a_resolution_and_it_stays_ended() {
    let mut world = World::new(vec![Ending::OutOfMemory; 5]);
    let report = world.walk();
    assert_eq!((report.reason.as_str(), world.jobs), ("AICRInternal", 5));
    assert!(!world.step());
}

proptest! {
    /// However runs end, the walk ends too: resolved, or at a failure that is told; what is waited for lies ahead.
    #[test]
    fn every_resolution_comes_to_an_end(endings in proptest::collection::vec(0..10_usize, 0..12)) {
        let known = [
            Ending::Exited(1), Ending::Exited(2), Ending::Exited(4), Ending::Exited(6), Ending::Evicted, Ending::JobDeleted,
            Ending::OutputMissing, Ending::OutputUnreadable, Ending::DeadlineExceeded, Ending::ImagePull,
        ];
        let mut world = World::new(endings.iter().map(|at| known[*at].clone()).collect());
        let report = world.walk();
        prop_assert!(report.resolved || report.message.starts_with('['), "{:?}", report);
    }
}
