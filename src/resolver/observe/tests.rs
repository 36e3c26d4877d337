use serde_json::{Value, json};

use super::*;
use crate::api::fixtures::at;

fn input() -> Digest {
    Digest::of_bytes(b"")
}

fn job(status: &Value) -> Job {
    serde_json::from_value(json!({
        "metadata": {
            "name": "aicr-render-e3b0c44298fc1c14-2",
            "labels": {keys::STAGE: "render"},
            "annotations": {keys::ATTEMPT: "2"},
        },
        "spec": {"suspend": false, "ttlSecondsAfterFinished": 7, "template": {}},
        "status": status,
    }))
    .unwrap()
}

fn with(type_: &str, reason: &str) -> Job {
    job(&json!({"conditions": [{"type": type_, "status": "True", "reason": reason}]}))
}

fn running() -> Job {
    job(&json!({}))
}

fn pod(status: &Value) -> Pod {
    let metadata = json!({"name": "p", "creationTimestamp": "2026-10-15T01:00:00Z"});
    serde_json::from_value(json!({"metadata": metadata, "status": status})).unwrap()
}

fn container_in(state: &Value) -> Pod {
    pod(
        &json!({"containerStatuses": [{"name": "aicr", "image": "", "imageID": "", "ready": false, "restartCount": 0,
        "state": state}]}),
    )
}

fn exited(code: i32) -> Pod {
    container_in(&json!({"terminated": {"exitCode": code, "message": "the end"}}))
}

fn unschedulable() -> Pod {
    pod(
        &json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}]}),
    )
}

fn unpulled() -> Pod {
    container_in(&json!({"waiting": {"reason": "ImagePullBackOff", "message": "back-off"}}))
}

fn look(job: &Job, pods: &[Pod], clock: &str) -> JobState {
    let aside = Aside { input: input(), complete: true, output: Ok(()), log: "" };
    observe(job, pods, &aside, at(clock)).unwrap().state
}

fn ending(job: &Job, pods: &[Pod]) -> Ending {
    match look(job, pods, "01:00:00") {
        JobState::Failed { ending, .. } => ending,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_way_to_end_is_told_apart() {
    let failed = with("Failed", "BackoffLimitExceeded");
    let oom = container_in(&json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}));
    let mut drained = exited(143);
    drained.status.as_mut().unwrap().conditions =
        serde_json::from_value(json!([{"type": "DisruptionTarget", "status": "True"}])).unwrap();
    let evicted = pod(&json!({"phase": "Failed", "reason": "Evicted", "message": "disk pressure"}));
    for (job, pods, expected) in [
        (&failed, vec![exited(3)], Ending::Exited(3)),
        (&failed, vec![oom], Ending::OutOfMemory),
        (&failed, vec![evicted], Ending::Evicted),
        (&failed, vec![drained], Ending::Evicted),
        (&failed, vec![], Ending::PodLost),
        (&failed, vec![pod(&json!({}))], Ending::PodLost),
        (&with("Failed", "DeadlineExceeded"), vec![], Ending::DeadlineExceeded),
        (&with("Failed", "DeadlineExceeded"), vec![exited(143)], Ending::DeadlineExceeded),
        (&with("Failed", "DeadlineExceeded"), vec![unpulled()], Ending::ImagePull),
        (&with("Failed", "DeadlineExceeded"), vec![unschedulable()], Ending::Unschedulable),
    ] {
        assert_eq!(ending(job, &pods), expected);
    }
}

#[test]
fn a_pod_that_does_not_start_is_a_failure_after_a_while_though_its_job_goes_on() {
    for (stuck, expected, said) in
        [(unpulled(), Ending::ImagePull, "back-off"), (unschedulable(), Ending::Unschedulable, "0/3 nodes")]
    {
        let pods = [stuck];
        assert_eq!(look(&running(), &pods, "01:02:59"), JobState::Running);
        let failed = JobState::Failed { ending: expected, detail: said.to_owned() };
        assert_eq!(look(&running(), &pods, "01:03:00"), failed);
        let aside = Aside { input: input(), complete: true, output: Ok(()), log: "" };
        assert!(!observe(&running(), &pods, &aside, at("01:03:00")).unwrap().ended);
    }
    let creating = container_in(&json!({"waiting": {"reason": "ContainerCreating"}}));
    assert_eq!(look(&running(), &[creating], "02:00:00"), JobState::Running);
}

#[test]
fn a_job_that_is_suspended_runs_or_is_complete_is_told_so() {
    let mut suspended = running();
    suspended.spec.as_mut().unwrap().suspend = Some(true);
    let mut aside = Aside { input: input(), complete: false, output: Ok(()), log: "" };
    let facts = observe(&suspended, &[], &aside, at("01:00:00")).unwrap();
    assert_eq!(facts.state, JobState::Suspended { complete: false });
    assert_eq!((facts.run.attempt, facts.ttl_seconds, facts.deleting, facts.ended), (2, 7, false, false));
    assert_eq!(look(&running(), &[], "01:00:00"), JobState::Running);
    let complete = with("Complete", "");
    let facts = observe(&complete, &[], &aside, at("01:00:00")).unwrap();
    assert_eq!((facts.state, facts.ended), (JobState::Succeeded, true));
    aside.output = Err((Ending::OutputMissing, "no key snapshot.*".to_owned()));
    let facts = observe(&complete, &[], &aside, at("01:00:00")).unwrap();
    let missing = JobState::Failed { ending: Ending::OutputMissing, detail: "no key snapshot.*".to_owned() };
    assert_eq!(facts.state, missing);
}

#[test]
fn the_log_says_more_than_the_pod() {
    let aside = Aside { input: input(), complete: true, output: Ok(()), log: "[cli] failed\n" };
    let state = observe(&with("Failed", "x"), &[exited(2)], &aside, at("01:00:00")).unwrap().state;
    assert_eq!(state, JobState::Failed { ending: Ending::Exited(2), detail: "[cli] failed\n".to_owned() });
    let state = look(&with("Failed", "x"), &[exited(2)], "01:00:00");
    assert_eq!(state, JobState::Failed { ending: Ending::Exited(2), detail: "the end".to_owned() });
}

#[test]
fn another_inputs_job_is_none_of_this_stage() {
    let aside = Aside { input: Digest::of_bytes(b"other"), complete: true, output: Ok(()), log: "" };
    assert!(observe(&running(), &[], &aside, at("01:00:00")).is_none());
    let mut nameless = running();
    nameless.metadata.annotations = None;
    let aside = Aside { input: input(), ..aside };
    assert!(observe(&nameless, &[], &aside, at("01:00:00")).is_none());
}

#[test]
fn the_pushed_digest_must_be_all_that_the_message_holds() {
    let message = |text: &str| [container_in(&json!({"terminated": {"exitCode": 0, "message": text}}))];
    let digest = input();
    for (text, found) in [
        (format!("{digest}\n"), Some(digest)),
        (digest.to_string(), Some(digest)),
        (format!("{digest}\n\n"), None),
        (format!(" {digest}"), None),
        (format!("{digest}\n{digest}\n"), None),
        ("[cli] done".to_owned(), None),
    ] {
        assert_eq!(pushed(&message(&text)), found, "{text:?}");
    }
    assert_eq!(pushed(&[]), None);
}
