//! Two processes and one Lease on a real API server.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kube::api::DeleteParams;
use test_support::{Cluster, Identity};
use tokio::process::Command;
use tokio::time::sleep;

use crate::controller_kit::{Operator, holder, leads};

const SOON: Duration = Duration::from_secs(30);

/// Two processes: the first leads, the second stands by and is ready.
async fn two(cluster: &Cluster) -> (Operator, Operator) {
    let first = Operator::start(cluster, "operator-0").await;
    leads(cluster, "operator-0", SOON).await;
    let second = Operator::start(cluster, "operator-1").await;
    second.answers("/readyz", 200, SOON).await;
    assert!(holder(cluster).await.starts_with("operator-0_"));
    (first, second)
}

#[tokio::test]
async fn a_leader_that_is_asked_to_end_hands_over_within_two_seconds() {
    let cluster = Cluster::lease().await;
    let (mut first, mut second) = two(&cluster).await;
    first.signal("TERM").await;
    assert_eq!(first.ends(Duration::from_secs(5)).await.0, Some(0), "{}", first.whole_log());
    let took = leads(&cluster, "operator-1", SOON).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(second.logs("this process leads").await["found"], "Released");

    // A standby ends as cleanly as a leader.
    let mut third = Operator::start(&cluster, "operator-2").await;
    third.answers("/readyz", 200, SOON).await;
    third.signal("TERM").await;
    assert_eq!(third.ends(Duration::from_secs(5)).await.0, Some(0));
    assert!(holder(&cluster).await.starts_with("operator-1_"));
    second.signal("TERM").await;
    assert_eq!(second.ends(Duration::from_secs(5)).await.0, Some(0));
    assert_eq!(holder(&cluster).await, "");
}

#[tokio::test]
async fn a_leader_that_is_killed_is_replaced_within_twenty_seconds() {
    let cluster = Cluster::lease().await;
    let (mut first, mut second) = two(&cluster).await;
    first.signal("KILL").await;
    assert_eq!(first.ends(SOON).await.0, None);
    let took = leads(&cluster, "operator-1", Duration::from_secs(40)).await;
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(took > Duration::from_secs(10), "it did not wait for the Lease to expire: {took:?}");
    assert_eq!(second.logs("this process leads").await["found"], "Expired");
    second.logs("the leader before may still write").await;
    second.signal("TERM").await;
    assert_eq!(second.ends(Duration::from_secs(5)).await.0, Some(0));
}

#[tokio::test]
async fn a_leader_that_was_frozen_ends_without_another_write() {
    let cluster = Cluster::lease().await;
    let (mut first, mut second) = two(&cluster).await;
    first.signal("STOP").await;
    leads(&cluster, "operator-1", Duration::from_secs(40)).await;
    sleep(Duration::from_secs(3)).await;
    let before = cluster.audit().writes().iter().filter(|request| first.made(request)).count();
    first.signal("CONT").await;
    let (code, _) = first.ends(Duration::from_secs(5)).await;
    assert_eq!(code, Some(1), "{}", first.whole_log());
    first.logs("this process leads no more").await;
    let writes = cluster.audit().writes();
    let late: Vec<_> = writes.iter().filter(|request| first.made(request)).skip(before).collect();
    // A renewal that was on its way when it froze may arrive, and is refused.
    assert!(late.iter().all(|request| request.code == 409), "{late:#?}");
    assert!(holder(&cluster).await.starts_with("operator-1_"));
    second.signal("TERM").await;
    assert_eq!(second.ends(Duration::from_secs(5)).await.0, Some(0));
}

#[tokio::test]
async fn a_leader_whose_lease_is_deleted_ends_and_the_standby_leads() {
    let cluster = Cluster::lease().await;
    let (mut first, mut second) = two(&cluster).await;
    let leases: Api<Lease> = Api::namespaced(cluster.client(Identity::Admin), test_support::NAMESPACE);
    leases.delete("aicr-operator", &DeleteParams::default()).await.unwrap();
    let (code, _) = first.ends(SOON).await;
    assert_eq!(code, Some(1), "{}", first.whole_log());
    leads(&cluster, "operator-1", SOON).await;
    assert_eq!(second.logs("this process leads").await["found"], "Expired");
    second.signal("TERM").await;
    assert_eq!(second.ends(Duration::from_secs(5)).await.0, Some(0));
}

#[tokio::test]
async fn an_api_server_that_is_away_ends_a_leader_and_is_waited_for_by_the_next() {
    let cluster = Cluster::lease().await;
    let mut first = Operator::start(&cluster, "operator-0").await;
    leads(&cluster, "operator-0", SOON).await;
    signal_all(&cluster, "STOP").await;
    let (code, took) = first.ends(SOON).await;
    assert_eq!(code, Some(1), "{}", first.whole_log());
    assert!(took < Duration::from_secs(15), "it led longer than its Lease: {took:?}");
    first.logs("the Lease could not be renewed for 10 s").await;

    let mut second = Operator::start(&cluster, "operator-1").await;
    second.logs("reading Lease aicr-operator: no answer in time").await;
    let unready = second.answers("/readyz", 503, SOON).await;
    assert!(unready.contains("no answer in time"), "{unready}");
    assert_eq!(second.get("/healthz").await.0, 200);
    signal_all(&cluster, "CONT").await;
    leads(&cluster, "operator-1", Duration::from_mins(1)).await;
    second.signal("TERM").await;
    assert_eq!(second.ends(Duration::from_secs(5)).await.0, Some(0), "{}", second.whole_log());
}

/// Sends a signal to the cluster's servers.
async fn signal_all(cluster: &Cluster, name: &str) {
    for pid in cluster.pids() {
        assert!(Command::new("kill").args(["-s", name, &pid.to_string()]).status().await.unwrap().success());
    }
}
