//! Servers that cannot be reached, do not answer, or answer with failures.
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use test_support::{Cluster, Identity};

use crate::admission_kit::{NAME, Person, ROLLOUTS};
use crate::cli_front::{Fate, Front, kubeconfig_of};
use crate::cli_kit::Plugin;

/// Every command that calls a server.
const COMMANDS: [&[&str]; 6] = [
    &["describe", NAME],
    &["approve", NAME, "--reason", "r"],
    &["revoke", NAME, "--reason", "r"],
    &["acknowledge", NAME],
    &["reproduce"],
    &["version"],
];

/// A listener that nobody serves: connections are accepted by the system and never answered.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

/// A plugin for a server without credentials, and its folder.
fn at(server: &str) -> (tempfile::TempDir, Plugin) {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = write(folder.path().join("config"), &kubeconfig_of(server, &json!({})));
    let plugin = Plugin::at(&kubeconfig, folder.path());
    (folder, plugin)
}

fn write(path: PathBuf, kubeconfig: &Value) -> PathBuf {
    std::fs::write(&path, kubeconfig.to_string()).unwrap();
    path
}

/// The cluster's own kubeconfig for alice, changed.
fn edited(cluster: &Cluster, change: impl FnOnce(&mut Value)) -> Plugin {
    let path = cluster.kubeconfig(&[Identity::Approver]);
    let mut kubeconfig: Value = serde_yaml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut kubeconfig);
    Plugin::at(&write(path, &kubeconfig), cluster.folder())
}

#[tokio::test]
async fn every_command_ends_within_its_deadline_when_the_server_never_answers() {
    let (_listener, url) = silent();
    let (_folder, plugin) = at(&url);
    for command in COMMANDS {
        let began = Instant::now();
        let ran = plugin.run(&[command, &["--request-timeout", "300ms"]].concat()).await;
        assert_eq!(ran.failed(), format!("error: [TIMEOUT] no answer from {url} within 300ms\n"), "{ran}");
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_tls_server_that_never_says_hello_is_waited_for_no_longer() {
    let (_listener, url) = silent();
    let url = url.replace("http:", "https:");
    let (_folder, plugin) = at(&url);
    let ran =
        plugin.run(&["describe", NAME, "--insecure-skip-tls-verify", "--request-timeout", "300ms"]).await;
    assert_eq!(ran.failed(), format!("error: [TIMEOUT] no answer from {url} within 300ms\n"));
}

#[tokio::test]
async fn without_a_request_timeout_the_deadline_is_thirty_seconds() {
    let (_listener, url) = silent();
    let (_folder, plugin) = at(&url);
    let began = Instant::now();
    let ran = plugin.run(&["describe", NAME]).await;
    assert_eq!(ran.failed(), format!("error: [TIMEOUT] no answer from {url} within 30s\n"));
    assert!((30..=31).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_server_that_is_always_unavailable_is_asked_once() {
    let cluster = Cluster::lease().await;
    for (code, reason, words, printed) in [
        (503, "ServiceUnavailable", "the server is starting", "SERVICE_UNAVAILABLE"),
        (429, "TooManyRequests", "slow down", "RATE_LIMIT_EXCEEDED"),
        (504, "Timeout", "etcd is slow", "TIMEOUT"),
        (500, "InternalError", "etcd is gone", "INTERNAL"),
    ] {
        let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counter = asked.clone();
        let front = Front::of(&cluster, Identity::Approver, move |_| {
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            async move { Fate::status(code, reason, words) }
        })
        .await;
        for command in COMMANDS {
            let ran = front.plugin().run(command).await;
            assert_eq!(ran.failed(), format!("error: [{printed}] {words}\n"));
        }
        assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), COMMANDS.len());
    }
}

#[tokio::test]
async fn a_connection_that_is_refused_names_the_server() {
    let (listener, url) = silent();
    drop(listener);
    let (_folder, plugin) = at(&url);
    for command in COMMANDS {
        let ran = plugin.run(command).await;
        let error = ran.failed();
        assert!(error.starts_with(&format!("error: [SERVICE_UNAVAILABLE] cannot reach {url}: ")), "{error}");
        assert!(error.contains("Connection refused"), "{error}");
    }
}

#[tokio::test]
async fn a_server_behind_another_authority_is_not_trusted() {
    let cluster = Cluster::lease().await;
    let key = KeyPair::generate().unwrap();
    let other = CertificateParams::new(vec!["other".to_owned()]).unwrap().self_signed(&key).unwrap().pem();
    let file = cluster.folder().join("other.pem");
    std::fs::write(&file, other).unwrap();
    let plugin = Plugin::of(&cluster, Identity::Approver);
    let ran = plugin.run(&["describe", NAME, "--certificate-authority", file.to_str().unwrap()]).await;
    let error = ran.failed();
    let url = cluster.url();
    assert!(error.starts_with(&format!("error: [SERVICE_UNAVAILABLE] cannot trust {url}: ")), "{error}");
    assert!(cluster.audit().by(Identity::Approver).is_empty());
}

#[tokio::test]
async fn credentials_that_the_server_does_not_know_are_unauthorized() {
    let cluster = Cluster::lease().await;
    let plugin = edited(&cluster, |config| config["users"][0]["user"]["token"] = "expired".into());
    for command in &COMMANDS[..5] {
        assert_eq!(plugin.run(command).await.failed(), "error: [UNAUTHORIZED] Unauthorized\n");
    }
}

#[tokio::test]
async fn a_server_without_the_operators_api_is_told_from_a_missing_rollout() {
    let cluster = Cluster::bare().await;
    let admin = Plugin::of(&cluster, Identity::Admin);
    for command in &COMMANDS[..5] {
        let words = format!(
            "error: [NOT_FOUND] {} does not serve the operator's API (operator.aicr.run): install the operator's chart \
             there, or name another cluster with --context\n",
            cluster.url()
        );
        assert_eq!(admin.run(command).await.failed(), words);
    }
    admin.run(&["version"]).await.done();
    let person = Person::new(&cluster, Identity::Admin);
    assert!(person.get(ROLLOUTS).await.is_err(), "the API is not there");
}

#[tokio::test]
async fn something_that_is_no_api_server_is_said_to_be_none() {
    let cluster = Cluster::lease().await;
    for (code, page, words) in [
        (200, "<html>hello</html>", "cannot be read, is it a Kubernetes API server?"),
        (
            404,
            "<html>nginx</html>",
            "answered with status 404: <html>nginx</html>; is it a Kubernetes API server?",
        ),
        (302, "<html>log in</html>", "cannot be read, is it a Kubernetes API server?"),
    ] {
        let front =
            Front::of(
                &cluster,
                Identity::Approver,
                move |_| async move { Fate::Answer(code, page.to_owned()) },
            )
            .await;
        for command in &COMMANDS[..5] {
            let ran = front.plugin().run(command).await;
            let error = ran.failed();
            assert!(error.contains(words), "{code}: {error}");
        }
    }
}
