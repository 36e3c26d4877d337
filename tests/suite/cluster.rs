//! The test cluster itself: what the other tests rely on.
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt};
use serde_json::json;
use test_support::{Cluster, Identity, NAMESPACE, RELEASE};

fn object<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).expect("the test's object is well-formed")
}

fn config_maps(client: Client) -> Api<ConfigMap> {
    Api::namespaced(client, NAMESPACE)
}

fn runtimes(client: Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("operator.aicr.run", "v1alpha1", "ClusterRuntime");
    Api::all_with(client, &ApiResource::from_gvk(&kind))
}

fn runtime() -> DynamicObject {
    object(json!({
        "apiVersion": "operator.aicr.run/v1alpha1",
        "kind": "ClusterRuntime",
        "metadata": {"name": "cluster", "finalizers": ["operator.aicr.run/cleanup"]},
        "spec": {"intent": "training", "placement": {
            "system": {"nodeSelector": {"pool": "system"}},
            "accelerated": {"nodeSelector": {"pool": "gpu"}},
        }},
    }))
}

#[tokio::test]
async fn every_identity_is_who_it_says_to_the_api_server() {
    let cluster = Cluster::lease().await;
    for identity in Identity::ALL {
        let reviews: Api<SelfSubjectReview> = Api::all(cluster.client(identity));
        let review = reviews.create(&PostParams::default(), &SelfSubjectReview::default()).await.unwrap();
        let user = review.status.and_then(|status| status.user_info).unwrap();
        assert_eq!(user.username.as_deref(), Some(identity.user()));
        let groups = user.groups.unwrap();
        let approver = matches!(identity, Identity::Approver | Identity::SecondApprover);
        assert_eq!(groups.iter().any(|group| group == test_support::APPROVERS), approver, "{groups:?}");
        assert_eq!(groups.iter().any(|group| group == "system:masters"), identity == Identity::Admin);
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the variable under test")]
async fn the_server_has_the_pinned_kubernetes_version_that_the_variable_selects() {
    if std::env::var_os("KUBEBUILDER_ASSETS").is_some() {
        return; // Then the user has chosen the server.
    }
    let flavour = std::env::var("AICR_KUBERNETES").unwrap_or_else(|_| "newest".to_owned());
    let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/tools/kubernetes-{flavour}/go.mod"));
    let pins = std::fs::read_to_string(pins).unwrap();
    let pin = pins.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes ")).unwrap();
    let pin = pin.split(' ').next().unwrap();
    let cluster = Cluster::lease().await;
    let version = cluster.client(Identity::Admin).apiserver_version().await.unwrap().git_version;
    assert_eq!(version, pin);
}

#[tokio::test]
async fn rights_come_from_roles_alone() {
    let cluster = Cluster::lease().await;
    let eve = runtimes(cluster.client(Identity::Editor));
    eve.create(&PostParams::default(), &runtime()).await.unwrap();
    runtimes(cluster.client(Identity::Approver)).get("cluster").await.unwrap();
    for (identity, verb) in
        [(Identity::Tenant, "get"), (Identity::Approver, "delete"), (Identity::Operator, "delete")]
    {
        let api = runtimes(cluster.client(identity));
        let refused = match verb {
            "get" => api.get("cluster").await.map(drop),
            _ => api.delete("cluster", &DeleteParams::default()).await.map(drop),
        };
        let error = refused.unwrap_err();
        assert!(
            matches!(&error, kube::Error::Api(status) if status.code == 403),
            "{identity:?} {verb}: {error}"
        );
    }
}

#[tokio::test]
async fn the_kubeconfig_has_one_context_per_identity_and_kubectl_accepts_it() {
    let cluster = Cluster::lease().await;
    let kubeconfig = cluster.kubeconfig(&[Identity::Approver, Identity::Operator]);
    for (flags, user) in [
        (&[][..], Identity::Approver),
        (&["--context", "approver"], Identity::Approver),
        (&["--context", "operator"], Identity::Operator),
    ] {
        let output = Command::new(test_support::tools::kubectl().unwrap())
            .args(flags)
            .args(["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}", "--kubeconfig"])
            .arg(&kubeconfig)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), user.user(), "{output:?}");
    }
}

#[tokio::test]
async fn the_policies_are_in_force_when_a_test_gets_its_cluster() {
    let cluster = Cluster::lease().await;
    let forged: ConfigMap = object(json!({
        "metadata": {"name": "forged", "labels": {"app.kubernetes.io/managed-by": "aicr-operator"}}
    }));
    let denied = config_maps(cluster.client(Identity::Admin)).create(&PostParams::default(), &forged).await;
    let message = denied.unwrap_err().to_string();
    assert!(message.contains("ValidatingAdmissionPolicy 'aicr-operator-configmaps'"), "{message}");
    config_maps(cluster.client(Identity::Operator)).create(&PostParams::default(), &forged).await.unwrap();
}

#[tokio::test]
async fn the_audit_log_tells_who_asked_for_what() {
    let cluster = Cluster::lease().await;
    assert_eq!(cluster.audit().len(), 0, "the log begins with the test: {:?}", cluster.audit());
    let admin = config_maps(cluster.client(Identity::Admin));
    let map: ConfigMap = object(json!({"metadata": {"name": "counted"}}));
    admin.create(&PostParams::default(), &map).await.unwrap();
    admin.create(&PostParams { dry_run: true, ..PostParams::default() }, &map).await.unwrap_err();
    admin.list(&ListParams::default()).await.unwrap();
    let refused = config_maps(cluster.client(Identity::Tenant)).get("counted").await;
    refused.unwrap_err();

    let audit = cluster.audit();
    assert_eq!(audit.len(), 4, "{audit:?}");
    let writes = audit.writes();
    assert_eq!(writes.len(), 1);
    assert_eq!((writes[0].user.as_str(), writes[0].name.as_str(), writes[0].code), ("admin", "counted", 201));
    assert_eq!(audit.by(Identity::Admin).resource("configmaps").verb("list").len(), 1);
    let tenant = audit.by(Identity::Tenant);
    assert_eq!((tenant.len(), tenant[0].code, tenant[0].namespace.as_str()), (1, 403, NAMESPACE));
}

/// Two tests in one: whichever server the second lease gets, nothing of the first is on it.
#[tokio::test]
async fn what_one_test_leaves_behind_does_not_reach_the_next() {
    let first = Cluster::lease().await;
    let admin = first.client(Identity::Admin);
    runtimes(admin.clone()).create(&PostParams::default(), &runtime()).await.unwrap();
    let map: ConfigMap = object(json!({"metadata": {"name": "left", "finalizers": ["example.com/never"]}}));
    config_maps(admin.clone()).create(&PostParams::default(), &map).await.unwrap();
    let namespace: Namespace = object(json!({"metadata": {"name": "left"}}));
    Api::<Namespace>::all(admin.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    Api::namespaced(admin.clone(), "left").create(&PostParams::default(), &map).await.unwrap();
    let url = first.url().to_owned();
    drop(first);

    let second = lease_of(&url).await;
    let admin = second.client(Identity::Admin);
    assert!(runtimes(admin.clone()).get_opt("cluster").await.unwrap().is_none());
    assert!(config_maps(admin.clone()).get_opt("left").await.unwrap().is_none());
    assert!(Api::<Namespace>::all(admin.clone()).get_opt("left").await.unwrap().is_none());
    let anywhere = Api::<ConfigMap>::all(admin).list(&ListParams::default()).await.unwrap();
    assert!(anywhere.iter().all(|map| map.name_any() != "left"));
}

#[tokio::test]
async fn a_right_that_one_test_gave_is_gone_for_the_next() {
    for _ in 0..5 {
        let first = Cluster::lease().await;
        let admin: Api<ClusterRoleBinding> = Api::all(first.client(Identity::Admin));
        let binding: ClusterRoleBinding = object(json!({
            "metadata": {"name": "mallory-rules"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mallory"}],
        }));
        admin.create(&PostParams::default(), &binding).await.unwrap();
        let mallory = config_maps(first.client(Identity::Tenant));
        let started = Instant::now();
        while mallory.list(&ListParams::default()).await.is_err() {
            assert!(started.elapsed() < Duration::from_secs(10), "the right never came");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let url = first.url().to_owned();
        drop(first);

        let second = lease_of(&url).await;
        config_maps(second.client(Identity::Tenant)).list(&ListParams::default()).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_server_whose_installation_was_changed_is_not_used_again() {
    let first = Cluster::lease().await;
    let namespaces: Api<Namespace> = Api::all(first.client(Identity::Admin));
    let patch = json!({"metadata": {"labels": {"changed": "yes"}}});
    namespaces.patch(NAMESPACE, &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    let [url, pids] = [first.url().to_owned(), format!("{:?}", first.pids())];
    let servers = first.pids();
    drop(first);

    wait_until_gone(&servers, &pids);
    let second = Cluster::lease().await;
    assert_ne!(second.url(), url);
    let namespaces: Api<Namespace> = Api::all(second.client(Identity::Admin));
    assert!(!namespaces.get(NAMESPACE).await.unwrap().labels().contains_key("changed"));
}

/// Leases until the server with this address comes, which others may have in between.
async fn lease_of(url: &str) -> Cluster {
    for _ in 0..200 {
        let cluster = Cluster::lease().await;
        if cluster.url() == url {
            return cluster;
        }
        drop(cluster);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server at {url} never came back from its reset")
}

#[tokio::test]
async fn a_bare_cluster_holds_nothing_of_the_product_and_takes_argo_cds_definitions() {
    let cluster = Cluster::bare().await;
    let admin = cluster.client(Identity::Admin);
    assert!(Api::<Namespace>::all(admin.clone()).get_opt(NAMESPACE).await.unwrap().is_none());
    cluster.apply_argocd_crds().await;
    let kind = GroupVersionKind::gvk("argoproj.io", "v1alpha1", "Application");
    let applications: Api<DynamicObject> = Api::all_with(admin, &ApiResource::from_gvk(&kind));
    assert_eq!(applications.list(&ListParams::default()).await.unwrap().items.len(), 0);
}

#[tokio::test]
async fn a_private_cluster_can_be_upgraded_with_helm_and_keeps_an_operator_with_a_token() {
    let cluster = Cluster::private().await;
    let chart = test_support::chart_folder();
    let run = cluster
        .helm(&["upgrade", RELEASE, &chart.display().to_string(), "-n", NAMESPACE, "--reuse-values"])
        .await;
    assert!(run.success, "{}", run.stderr);
    cluster.wait_for_policies().await;
    config_maps(cluster.client(Identity::Operator)).list(&ListParams::default()).await.unwrap();
    let failed = cluster.helm(&["upgrade", "no-such-release", "no-such-chart"]).await;
    assert!(!failed.success && !failed.stderr.is_empty());
}

#[tokio::test]
async fn the_garbage_collector_works_under_its_own_name() {
    let cluster = Cluster::bare().await;
    cluster.start_controller_manager().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client(Identity::Admin));
    let map: ConfigMap = object(json!({"metadata": {"name": "foreground"}}));
    maps.create(&PostParams::default(), &map).await.unwrap();
    maps.delete("foreground", &DeleteParams::foreground()).await.unwrap();
    let started = Instant::now();
    while maps.get_opt("foreground").await.unwrap().is_some() {
        assert!(
            started.elapsed() < Duration::from_mins(1),
            "the garbage collector never removed its finalizer"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
    let audit = cluster.audit().writes();
    assert!(
        audit.iter().any(|request| request.user == collector && request.name == "foreground"),
        "{audit:?}"
    );
}

/// Tells this program, run again as a child, how to end.
const CHILD: &str = "AICR_TEST_CHILD_ENDS_BY";

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the child learns from its environment that it is one")]
async fn nothing_keeps_running_when_a_test_is_killed_or_panics() {
    const NAME: &str = "cluster::nothing_keeps_running_when_a_test_is_killed_or_panics";
    if let Ok(end) = std::env::var(CHILD) {
        return be_the_child(&end).await;
    }
    for (end, processes) in [("SIGKILL", 6), ("panic", 4)] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(CHILD, end)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let told = lines.find_map(|line| line.split_once("child: ").map(|(_, told)| told.to_owned()));
        let told = told.expect("the child starts its servers and tells about them");
        let (logs, pids) = told.split_once(' ').unwrap();
        let servers: Vec<u32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
        assert_eq!(servers.len(), processes, "each server and its guard");
        if end == "SIGKILL" {
            assert!(servers.iter().all(|pid| runs(*pid)), "{pids}");
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success());
        wait_until_gone(&servers, pids);
        assert!(Path::new(logs).join("kube-apiserver.log").exists(), "{end}: the logs are kept");
        if end == "panic" {
            let printed = String::from_utf8_lossy(&output.stderr);
            assert!(printed.contains(&format!("are kept in {logs}")), "{printed}");
        }
        std::fs::remove_dir_all(logs).unwrap();
    }
}

async fn be_the_child(end: &str) {
    let cluster = if end == "SIGKILL" { Cluster::bare().await } else { Cluster::lease().await };
    if end == "SIGKILL" {
        cluster.start_controller_manager().await;
    }
    let pids: Vec<String> = cluster.pids().iter().map(u32::to_string).collect();
    // Not println!, which the test runner may capture.
    writeln!(std::io::stdout(), "child: {} {}", cluster.logs().display(), pids.join(" "))
        .expect("the parent reads");
    if end == "SIGKILL" {
        std::future::pending::<()>().await;
    }
    panic!("as asked");
}

#[tokio::test]
async fn servers_folders_and_logs_go_with_a_test_that_passes() {
    let cluster = Cluster::bare().await;
    let servers = cluster.pids();
    let [logs, folder] = [cluster.logs().to_owned(), cluster.folder().to_owned()];
    assert!(servers.iter().all(|pid| runs(*pid)));
    assert!(logs.join("audit.log").exists());
    drop(cluster);
    wait_until_gone(&servers, &format!("{servers:?}"));
    assert!(!logs.exists() && !folder.exists());
}

fn runs(pid: u32) -> bool {
    // A zombie is dead, only not yet collected.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn wait_until_gone(servers: &[u32], told: &str) {
    let started = Instant::now();
    while servers.iter().any(|pid| runs(*pid)) {
        assert!(started.elapsed() < Duration::from_secs(30), "of {told} some still run");
        std::thread::sleep(Duration::from_millis(20));
    }
}
