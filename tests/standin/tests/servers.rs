//! The stand-in against real servers: ConfigMaps and Jobs of an API server, artifacts of a registry, charts in Helm.
#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use aicr_standin::catalogue::every_component;
use aicr_standin::charts::chart;
use aicr_standin::setup::Setup;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kubectl_aicr::aicr::Reason;
use kubectl_aicr::aicr::recipe::read_recipe;
use kubectl_aicr::aicr::run::{Ending, RetryClass};
use kubectl_aicr::aicr::snapshot::{Accelerator, read_snapshot};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Cluster, Identity, Registry, tools};

const RECIPE: &str =
    "recipe --service eks --accelerator h100 --os ubuntu --intent training --format json --output";

fn aicr(folder: &Path, environment: &[(&str, &str)], line: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_aicr"));
    program.current_dir(folder).envs(environment.iter().copied()).args(line.split_whitespace());
    program.stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

fn run(folder: &Path, environment: &[(&str, &str)], line: &str) -> Output {
    aicr(folder, environment, line).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn exits(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
}

async fn namespace(client: &Client, name: &str) {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let made = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    namespaces.create(&PostParams::default(), &made).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_go_through_config_maps() {
    let cluster = Cluster::bare().await;
    let client = cluster.client(Identity::Admin);
    namespace(&client, "jobs").await;
    let config = cluster.kubeconfig(&[Identity::Admin]);
    let as_admin = [("KUBECONFIG", config.to_str().unwrap())];
    let folder = cluster.folder();

    exits(&run(folder, &as_admin, &format!("{RECIPE} cm://jobs/recipe")), 0);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "jobs");
    let map = maps.get("recipe").await.unwrap();
    let data = map.data.unwrap();
    assert_eq!(data.keys().collect::<Vec<_>>(), ["format", "snapshot.json", "timestamp"]);
    read_recipe("recipe", &data["snapshot.json"]).unwrap();
    exits(&run(folder, &as_admin, "bundle --recipe cm://jobs/recipe --output bundle"), 0);
    assert!(folder.join("bundle/bundle-info.yaml").exists());

    exits(&run(folder, &as_admin, "bundle --recipe cm://jobs/none --output bundle"), 3);
    exits(&run(folder, &as_admin, &format!("{RECIPE} cm://none/recipe")), 3);
    exits(&run(folder, &as_admin, &format!("{RECIPE} cm://jobs")), 2);

    let config = cluster.kubeconfig(&[Identity::Tenant]);
    let refused =
        run(folder, &[("KUBECONFIG", config.to_str().unwrap())], &format!("{RECIPE} cm://jobs/recipe"));
    exits(&refused, 4);
    assert!(
        stderr(&refused).contains("[UNAUTHORIZED] failed to write ConfigMap jobs/recipe"),
        "{}",
        stderr(&refused)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_no_config_map_holds_is_recognised_by_the_api_servers_own_words() {
    let cluster = Cluster::bare().await;
    namespace(&cluster.client(Identity::Admin), "jobs").await;
    let config = cluster.kubeconfig(&[Identity::Admin]);
    let environment = [("KUBECONFIG", config.to_str().unwrap()), ("AICR_STANDIN_FAIL", "recipe=too-large")];
    let output = run(cluster.folder(), &environment, &format!("{RECIPE} cm://jobs/recipe"));
    exits(&output, 8);
    let failure = Ending::Exited(8).failure(&stderr(&output));
    assert_eq!(
        (failure.class, failure.reason),
        (RetryClass::Never, Some(Reason::ContentTooLarge)),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_server_that_cannot_be_reached_is_transient() {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config");
    let server = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": format!("http://127.0.0.1:{}", free_port())}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}],
    });
    std::fs::write(&config, server.to_string()).unwrap();
    let output = run(
        folder.path(),
        &[("KUBECONFIG", config.to_str().unwrap())],
        &format!("{RECIPE} cm://jobs/recipe"),
    );
    exits(&output, 6);
}

async fn add_node(client: &Client, node: Value) {
    let nodes: Api<Node> = Api::all(client.clone());
    nodes.create(&PostParams::default(), &serde_json::from_value(node).unwrap()).await.unwrap();
}

/// Waits for the launcher's Job, runs its container as the agent, and ends the Job as its controller would.
async fn play_agent(client: &Client, folder: &Path, environment: &[(&str, &str)]) -> Option<Job> {
    let jobs: Api<Job> = Api::namespaced(client.clone(), "discovery");
    let mut found = None;
    for _ in 0..600 {
        found = jobs.list(&ListParams::default()).await.unwrap().items.pop();
        if found.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let job = found?;
    let container = &job.spec.as_ref().unwrap().template.spec.as_ref().unwrap().containers[0];
    let line = container.args.as_ref().unwrap().join(" ");
    let agent = [environment, &[("AICR_AGENT_MODE", "true"), ("NODE_NAME", "gpu-1")]].concat();
    exits(&run(folder, &agent, &line), 0);
    let now = aicr_standin::now();
    let condition = |type_: &str| json!({"type": type_, "status": "True", "lastTransitionTime": now, "lastProbeTime": now});
    let status = json!({"status": {
        "startTime": now, "completionTime": now, "succeeded": 1, "uncountedTerminatedPods": {},
        "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
    }});
    let name = job.metadata.name.clone().unwrap();
    jobs.patch_status(&name, &PatchParams::default(), &Patch::Merge(&status)).await.unwrap();
    Some(job)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_is_taken_by_an_agent_on_an_accelerated_node_and_the_agent_leaves_nothing() {
    let cluster = Cluster::bare().await;
    let client = cluster.client(Identity::Admin);
    namespace(&client, "discovery").await;
    let taint = json!({"key": "nvidia.com/gpu", "effect": "NoSchedule", "value": "present"});
    add_node(&client, json!({"metadata": {"name": "gpu-1", "labels": {"pool": "gpu", "standin.example.com/pci-model": "h100"}},
                             "spec": {"providerID": "aws:///zone/i-1", "taints": [taint]}})).await;
    add_node(&client, json!({"metadata": {"name": "system-1", "labels": {"pool": "system"}}})).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "discovery");
    let account = serde_json::from_value(json!({"metadata": {"name": "agent"}})).unwrap();
    let config = cluster.kubeconfig(&[Identity::Admin]);
    let environment = [("KUBECONFIG", config.to_str().unwrap())];
    let line = "snapshot --namespace discovery --image i@sha256:0 --service-account-name agent --node-selector pool=gpu \
                --toleration nvidia.com/gpu:NoSchedule --requests cpu=100m --output cm://discovery/out";
    exits(&run(cluster.folder(), &environment, line), 3);
    accounts.create(&PostParams::default(), &account).await.unwrap();

    let launcher = aicr(cluster.folder(), &environment, line).spawn().unwrap();
    let job = play_agent(&client, cluster.folder(), &environment).await;
    // The launcher first: when there was nothing for an agent to do, its words say why.
    exits(&launcher.wait_with_output().unwrap(), 0);
    let job = job.unwrap();
    let pod = job.spec.unwrap().template.spec.unwrap();
    assert_eq!(pod.node_selector, Some([("pool".to_owned(), "gpu".to_owned())].into()));
    assert_eq!((pod.service_account_name.as_deref(), pod.host_pid), (Some("agent"), Some(true)));

    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "discovery");
    let data = maps.get("out").await.unwrap().data.unwrap();
    let snapshot = read_snapshot(&data["snapshot.yaml"]).unwrap();
    assert_eq!((snapshot.nodes, snapshot.service.as_deref()), (Some(2), Some("eks")));
    assert_eq!(snapshot.accelerator, Accelerator::Known("h100".into()));
    // The API server adds taints of its own for nodes that are not ready.
    assert!(snapshot.taints.iter().any(|taint| taint.key == "nvidia.com/gpu" && taint.value == "present"));
    let left = maps.list(&ListParams::default().labels("aicr.run/run-id")).await.unwrap();
    assert!(left.items.is_empty());
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let labels = namespaces.get("discovery").await.unwrap().metadata.labels.unwrap();
    assert_eq!(labels["app.kubernetes.io/managed-by"], "aicr");
    let elsewhere =
        run(cluster.folder(), &environment, "snapshot --namespace discovery --output cm://jobs/out");
    exits(&elsewhere, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn validators_have_an_identity_a_run_before_1_1_and_the_one_that_is_there_from_then_on() {
    let cluster = Cluster::bare().await;
    let client = cluster.client(Identity::Admin);
    namespace(&client, "validation").await;
    let config = cluster.kubeconfig(&[Identity::Admin]);
    let folder = cluster.folder();
    exits(&run(folder, &[], &format!("{RECIPE} recipe.json")), 0);
    let node = serde_json::from_value(json!({"metadata": {"name": "n"}})).unwrap();
    let taken =
        aicr_standin::snapshot::take(&Setup::default(), "v1.34.1", &[node], "n", "2026-10-01T00:00:00Z");
    std::fs::write(folder.join("snapshot.json"), taken.to_string()).unwrap();
    let line =
        "validate --recipe recipe.json --snapshot snapshot.json --namespace validation --output report.json";
    let as_version = |version| [("KUBECONFIG", config.to_str().unwrap()), ("AICR_STANDIN_VERSION", version)];
    exits(&run(folder, &as_version("v1.0.0"), line), 0);
    let bindings: Api<ClusterRoleBinding> = Api::all(client.clone());
    let left =
        bindings.list(&ListParams::default().labels("app.kubernetes.io/name=aicr-validator")).await.unwrap();
    assert!(left.items.is_empty());
    let bound = cluster.audit().by(Identity::Admin).resource("clusterrolebindings").writes();
    assert_eq!(bound.len(), 2, "{bound:?}");

    exits(&run(folder, &as_version("v1.1.2"), line), 3);
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "validation");
    let account = serde_json::from_value(json!({"metadata": {"name": "aicr-validator"}})).unwrap();
    accounts.create(&PostParams::default(), &account).await.unwrap();
    exits(&run(folder, &as_version("v1.1.2"), line), 0);
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pushed_bundle_is_what_oras_pulls_in_both_forms() {
    let registry = Registry::start().await.unwrap();
    let place = TempDir::new().unwrap();
    for form in ["tree", "files"] {
        let folder = place.path().join(form);
        std::fs::create_dir(&folder).unwrap();
        let program = folder.join("aicr");
        std::fs::copy(env!("CARGO_BIN_EXE_aicr"), &program).unwrap();
        std::fs::write(folder.join("standin.json"), json!({ "form": form }).to_string()).unwrap();
        let call = |line: &str| {
            let output =
                Command::new(&program).current_dir(&folder).args(line.split_whitespace()).output().unwrap();
            exits(&output, 0);
        };
        call(&format!("{RECIPE} recipe.json"));
        call("bundle --recipe recipe.json --output rendered");
        let reference = format!("{}/aicr/bundles/cluster", registry.host());
        call(&format!(
            "bundle --recipe recipe.json --output oci://{reference}:{form} --image-refs digest --plain-http"
        ));
        call(&format!(
            "bundle --recipe recipe.json --output oci://{reference}:again --image-refs again --plain-http"
        ));
        let digest = std::fs::read_to_string(folder.join("digest")).unwrap();
        assert_eq!(digest, std::fs::read_to_string(folder.join("again")).unwrap());
        let pinned = format!("{reference}@{}", digest.strip_suffix('\n').unwrap());
        let pulled = Command::new(tools::path("oras").unwrap())
            .current_dir(&folder)
            .args(["pull", "--plain-http", &pinned, "-o", "pulled"])
            .output()
            .unwrap();
        exits(&pulled, 0);
        assert_eq!(files(&folder.join("pulled")), files(&folder.join("rendered")), "{form}");
    }
}

#[test]
fn a_registry_that_is_not_there_is_transient() {
    let folder = TempDir::new().unwrap();
    exits(&run(folder.path(), &[], &format!("{RECIPE} recipe.json")), 0);
    let line =
        format!("bundle --recipe recipe.json --plain-http --output oci://127.0.0.1:{}/x:y", free_port());
    exits(&run(folder.path(), &[], &line), 6);
}

#[test]
fn every_chart_of_the_catalogue_prints_the_values_it_was_given() {
    let helm = tools::path("helm").unwrap();
    let folder = TempDir::new().unwrap();
    let given = folder.path().join("given.yaml");
    std::fs::write(&given, "controller: {affinity: {nodeAffinity: null}}\nlist: [1, \"1\"]\n").unwrap();
    let charts: Vec<_> = every_component(&Setup::default()).iter().filter_map(chart).collect();
    assert!(charts.len() > 18);
    for chart in charts {
        let place = folder.path().join(&chart.name);
        for (path, text) in &chart.files {
            std::fs::create_dir_all(place.join(path).parent().unwrap()).unwrap();
            std::fs::write(place.join(path), text).unwrap();
        }
        let output = Command::new(&helm)
            .args(["template", "release"])
            .args([&place])
            .arg("--values")
            .arg(&given)
            .output()
            .unwrap();
        exits(&output, 0);
        let rendered: Value = serde_yaml::from_slice(&output.stdout).unwrap();
        let values: Value = serde_json::from_str(rendered["data"]["values.json"].as_str().unwrap()).unwrap();
        assert_eq!(
            (&values["list"], &values["controller"]["affinity"]),
            (&json!([1, "1"]), &json!({})),
            "{}",
            chart.name
        );
    }
}
