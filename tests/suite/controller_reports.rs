//! What the operator says of its work, as the real API server keeps it: Events and conditions.

use std::time::Instant;

use jiff::Timestamp;
use k8s_openapi::api::events::v1::Event;
use kube::api::{Api, ListParams, PostParams};
use kubectl_aicr::api::{ClusterRuntime, Code, ConditionStatus};
use kubectl_aicr::controller::conditions::{Finding, RESOLVER, ROLLOUT};
use kubectl_aicr::controller::events::{Events, Reason, Report};
use kubectl_aicr::controller::lease::{Found, Term};
use kubectl_aicr::controller::writes::{WriteError, Writes};
use serde_json::{Map, json};
use test_support::{Cluster, Identity};

/// A process that leads.
fn leading() -> Writes {
    let writes = Writes::default();
    writes.open(Term::begin(Found::Released, Instant::now(), Instant::now()));
    writes
}

async fn runtime(cluster: &Cluster) -> ClusterRuntime {
    let runtimes: Api<ClusterRuntime> = Api::all(cluster.client(Identity::Admin));
    let runtime = serde_json::from_value(json!({
        "apiVersion": "operator.aicr.run/v1alpha1",
        "kind": "ClusterRuntime",
        "metadata": {"name": "cluster"},
        "spec": {"intent": "training", "placement": {
            "system": {"nodeSelector": {"pool": "system"}},
            "accelerated": {"nodeSelector": {"pool": "gpu"}},
        }},
    }))
    .unwrap();
    runtimes.create(&PostParams::default(), &runtime).await.unwrap()
}

fn now() -> Timestamp {
    Timestamp::from_second(1_796_000_000).unwrap()
}

#[tokio::test]
async fn every_message_reaches_the_cluster_and_one_that_is_the_same_only_once() {
    let cluster = Cluster::lease().await;
    let runtime = runtime(&cluster).await;
    let events = Events::new(cluster.client(Identity::Operator), leading(), "operator-0".into(), now);
    let long = "ü".repeat(3000);
    for report in [
        Report::about(&runtime, Reason::Stalled, "first"),
        Report::about(&runtime, Reason::Stalled, "second"),
        Report::about(&runtime, Reason::AicrRunFailed, "run 7").once("7"),
        Report::about(&runtime, Reason::AicrRunFailed, "run 7").once("7"),
        Report::about(&runtime, Reason::AicrRunFailed, "run 8").once("8"),
        Report::reconcile_failed(&runtime, Code::Timeout, &long),
    ] {
        events.send(&report).await.unwrap();
    }
    let all: Api<Event> = Api::namespaced(cluster.client(Identity::Admin), "default");
    let uid = runtime.metadata.uid.unwrap();
    let about = all.list(&ListParams::default()).await.unwrap().into_iter();
    let mut notes: Vec<String> = about
        .filter(|event| event.regarding.as_ref().and_then(|object| object.uid.as_ref()) == Some(&uid))
        .map(|event| event.note.unwrap())
        .collect();
    notes.sort();
    let cut = notes.remove(0);
    assert!(cut.starts_with("[TIMEOUT] ü") && cut.ends_with('…') && cut.len() <= 1024, "{cut}");
    assert_eq!(notes, ["first", "run 7", "run 8", "second"]);
}

#[tokio::test]
async fn a_process_that_does_not_lead_sends_nothing() {
    let cluster = Cluster::lease().await;
    let runtime = runtime(&cluster).await;
    let client = cluster.client(Identity::Operator);
    let writes = Writes::default();
    let events = Events::new(client.clone(), writes.clone(), "operator-1".into(), now);
    let refused = events.send(&Report::about(&runtime, Reason::Stalled, "x")).await.unwrap_err();
    assert!(matches!(refused, WriteError::Refused(_)), "{refused}");
    let finding = Finding::new("Resolved", ConditionStatus::True, "Resolved", "");
    let body = RESOLVER.apply(&runtime, &[finding], Map::new(), now()).unwrap();
    let refused = RESOLVER.send(client, &writes, &body).await.unwrap_err();
    assert!(matches!(refused, WriteError::Refused(_)), "{refused}");
    assert_eq!(cluster.audit().by(Identity::Operator).len(), 0);
}

#[tokio::test]
async fn two_owners_write_their_conditions_side_by_side_and_an_outdated_apply_is_refused() {
    let cluster = Cluster::lease().await;
    let (client, writes) = (cluster.client(Identity::Operator), leading());
    let first = runtime(&cluster).await;
    let message = "selector pool=gpu matches no node";
    let stalled =
        Finding::failed("Resolved", ConditionStatus::False, "NodeGroupEmpty", Code::InvalidRequest, message);
    let body = RESOLVER.apply(&first, std::slice::from_ref(&stalled), Map::new(), now()).unwrap();
    let second = RESOLVER.send(client.clone(), &writes, &body).await.unwrap();

    let findings = [
        Finding::new("Ready", ConditionStatus::False, "NoActivePlan", "nothing is installed"),
        Finding::new("Stalled", ConditionStatus::True, "NodeGroupEmpty", message),
    ];
    let fields: Map<_, _> = serde_json::from_value(json!({"observedGeneration": 1})).unwrap();
    let body = ROLLOUT.apply(&second, &findings, fields.clone(), now()).unwrap();
    let third = ROLLOUT.send(client.clone(), &writes, &body).await.unwrap();
    let types = |runtime: &ClusterRuntime| {
        let conditions = &runtime.status.as_ref().unwrap().conditions;
        let mut types: Vec<String> = conditions.iter().map(|condition| condition.type_.clone()).collect();
        types.sort();
        types
    };
    assert_eq!(types(&third), ["Ready", "Resolved", "Stalled"]);

    // Nothing changed: nothing to send.
    assert_eq!(ROLLOUT.apply(&third, &findings, fields.clone(), now()), None);
    assert_eq!(RESOLVER.apply(&third, &[stalled], Map::new(), now()), None);

    // What is not said any more goes, and the other owner's stays.
    let body = ROLLOUT.apply(&third, &findings[..1], fields.clone(), now()).unwrap();
    let fourth = ROLLOUT.send(client.clone(), &writes, &body).await.unwrap();
    assert_eq!(types(&fourth), ["Ready", "Resolved"]);

    let outdated = ROLLOUT.apply(&third, &[], fields, now()).unwrap();
    match ROLLOUT.send(client, &writes, &outdated).await {
        Err(WriteError::Failed(kube::Error::Api(status))) => assert_eq!(status.code, 409),
        other => panic!("{other:?}"),
    }
}
