//! The operator's process on a real API server: configuration, health, metrics, quiet, rotation of its token.

use std::time::Duration;

use serde_json::json;
use test_support::{Cluster, Identity};
use tokio::time::sleep;

use crate::controller_kit::{Operator, leads, least, program};

const SOON: Duration = Duration::from_secs(30);

#[tokio::test]
async fn wrong_settings_are_all_named_before_anything_else_happens() {
    let mut arguments = least();
    arguments.retain(|argument| !argument.starts_with("--aicr"));
    arguments.extend(["--aicr-version=v2.0.0".into(), "--engine-type=Flux".into()]);
    let output = program(&arguments)
        .env("AICR_OPERATOR_AICR_IMAGE", "ghcr.io/nvidia/aicr:latest")
        .env("AICR_OPERATOR_DEVELOPMENT_BYPASS_APPROVALS", "true")
        .output()
        .await
        .unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap());
}

#[tokio::test]
async fn help_lists_every_setting_with_its_default() {
    let output = program(&["--help".into()]).env("COLUMNS", "100").output().await.unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
}

#[tokio::test]
async fn a_process_that_finds_no_cluster_says_what_to_give_it() {
    let output = program(&[least(), vec!["--listen=127.0.0.1:0".into()]].concat()).output().await.unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(log.contains("give --kubeconfig"), "{log}");
}

#[tokio::test]
async fn an_idle_leader_is_healthy_shows_its_metrics_and_writes_nothing_but_the_lease() {
    let cluster = Cluster::lease().await;
    let mut operator = Operator::start(&cluster, "operator-0").await;
    leads(&cluster, "operator-0", SOON).await;
    assert_eq!(operator.answers("/readyz", 200, SOON).await, "ok\n");
    assert_eq!(operator.get("/healthz").await, (200, "ok\n".into()));
    assert_eq!(operator.get("/other").await.0, 404);
    let (status, metrics) = operator.get("/metrics").await;
    assert_eq!(status, 200);
    for series in [
        r#"aicr_operator_rollout_outcomes_total{outcome="Succeeded"} 0"#,
        r#"aicr_operator_job_duration_seconds_count{stage="render",result="failed"} 0"#,
        r#"aicr_operator_validation_runs_total{result="passed"} 0"#,
        r#"aicr_operator_job_runs_total{stage="snapshot",result="failed",class="transient"} 0"#,
        "aicr_operator_registry_token_expiry_timestamp_seconds 0.0",
        "aicr_operator_registry_token_refresh_timestamp_seconds 0.0",
    ] {
        assert!(metrics.lines().any(|line| line == series), "{series} is missing:\n{metrics}");
    }
    sleep(Duration::from_secs(10)).await;
    operator.signal("TERM").await;
    assert_eq!(operator.ends(Duration::from_secs(5)).await.0, Some(0), "{}", operator.whole_log());

    let audit = cluster.audit().by(Identity::Operator);
    let writes = audit.writes();
    assert!(writes.len() >= 6, "it renews every 2 s: {writes:#?}");
    let others: Vec<_> = audit.iter().filter(|request| request.resource != "leases").collect();
    assert!(others.is_empty(), "{others:#?}");
    let lists = audit.iter().filter(|request| ["list", "watch"].contains(&request.verb.as_str())).count();
    assert_eq!(lists, 0);
}

#[tokio::test]
async fn a_token_that_is_replaced_in_its_file_is_used_within_a_minute() {
    let cluster = Cluster::lease().await;
    let token = cluster.folder().join("token");
    std::fs::write(&token, "not yet valid").unwrap();
    let kubeconfig = cluster.folder().join("kubeconfig-of-token-file");
    let file = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {
            "server": cluster.url(),
            "certificate-authority-data": base64(cluster.ca_pem()),
        }}],
        "users": [{"name": "u", "user": {"tokenFile": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    });
    std::fs::write(&kubeconfig, file.to_string()).unwrap();

    // An API server that refuses it does not end the process.
    let mut operator = Operator::start_with(&kubeconfig, cluster.folder(), "operator-0").await;
    let warning = operator.logs("reading Lease aicr-operator").await;
    assert_eq!(warning["level"], "warn", "{warning}");
    let unready = operator.answers("/readyz", 503, SOON).await;
    assert!(unready.contains("Unauthorized"), "{unready}");
    assert_eq!(operator.get("/healthz").await.0, 200);

    std::fs::write(&token, cluster.token(Identity::Operator)).unwrap();
    leads(&cluster, "operator-0", Duration::from_secs(70)).await;
    operator.logs("the API server answers again").await;
    operator.answers("/readyz", 200, SOON).await;
    operator.signal("INT").await;
    assert_eq!(operator.ends(Duration::from_secs(5)).await.0, Some(0));
}

fn base64(text: &str) -> serde_json::Value {
    serde_json::to_value(k8s_openapi::ByteString(text.as_bytes().to_vec())).unwrap()
}
