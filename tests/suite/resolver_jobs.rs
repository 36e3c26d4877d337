//! The Jobs of AICR's runs, judged by a real API server: they pass Pod Security `restricted`, start suspended, and what
//! they own goes with them.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod, Secret, ServiceAccount};
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, PropagationPolicy};
use kubectl_aicr::aicr::run::Stage;
use kubectl_aicr::plan::Digest;
use kubectl_aicr::resolver::inputs::Run;
use kubectl_aicr::resolver::jobs::{
    Input, JobRequest, STALLED_TTL_SECONDS, Settings, credentials, inputs, job, output,
};
use serde_json::json;
use test_support::{Cluster, Identity};

const JOBS: &str = "aicr-jobs";
const INPUTS: [Input<'_>; 2] = [
    Input { name: "from", file: "recipe.json", text: "{}" },
    Input { name: "to", file: "recipe.json", text: "{}" },
];

/// The namespace of the Jobs as the chart makes it, and the Jobs' ServiceAccount.
async fn namespace(client: &Client) {
    let labels = json!({"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "latest"});
    let namespace = serde_json::from_value(json!({"metadata": {"name": JOBS, "labels": labels}})).unwrap();
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    let account = serde_json::from_value(json!({"metadata": {"name": JOBS}})).unwrap();
    Api::<ServiceAccount>::namespaced(client.clone(), JOBS)
        .create(&PostParams::default(), &account)
        .await
        .unwrap();
}

/// The one thing that a shared server does not give back by itself.
async fn delete_account(client: Client) {
    let accounts = Api::<ServiceAccount>::namespaced(client, JOBS);
    accounts.delete(JOBS, &DeleteParams::default()).await.unwrap();
}

fn request(stage: Stage, args: &[String]) -> JobRequest<'_> {
    JobRequest {
        run: Run { stage, input: Digest::of_bytes(b"input"), attempt: 1 },
        resolution: Digest::of_bytes(b"resolution"),
        runtime_uid: "5f3c1f0e-7c4b-4c64-9a53-0d9be0a2c001",
        namespace: JOBS,
        service_account: JOBS,
        args,
        inputs: &INPUTS,
        credentials: true,
    }
}

fn settings() -> Settings {
    let image = format!("ghcr.io/nvidia/aicr@{}", Digest::of_bytes(b"image"));
    Settings { image, ..Settings::default() }
}

#[tokio::test]
async fn the_pods_of_every_stage_pass_pod_security_restricted() {
    let cluster = Cluster::lease().await;
    let client = cluster.client(Identity::Admin);
    namespace(&client).await;
    let pods: Api<Pod> = Api::namespaced(client.clone(), JOBS);
    let dry_run = PostParams { dry_run: true, field_manager: None };
    for stage in Stage::ALL {
        let template = job(&request(stage, &["x".to_owned()]), &settings()).spec.unwrap().template;
        let mut pod = Pod { metadata: template.metadata.unwrap(), spec: template.spec, status: None };
        pod.metadata.name = Some("pod".to_owned());
        pods.create(&dry_run, &pod).await.unwrap_or_else(|error| panic!("{stage}: {error}"));
        // The namespace would have refused it otherwise.
        pod.spec.as_mut().unwrap().containers[0].security_context = None;
        let error = pods.create(&dry_run, &pod).await.unwrap_err().to_string();
        assert!(error.contains("violates PodSecurity"), "{error}");
    }
    delete_account(client).await;
}

#[tokio::test]
async fn a_job_is_stored_as_it_is_made_is_resumed_and_kept_longer() {
    let cluster = Cluster::lease().await;
    let client = cluster.client(Identity::Admin);
    namespace(&client).await;
    let jobs: Api<Job> = Api::namespaced(client.clone(), JOBS);
    let args = ["upgrade-check".to_owned()];
    let request = request(Stage::UpgradeCheck, &args);
    let made = job(&request, &settings());
    let stored = jobs.create(&PostParams::default(), &made).await.unwrap();
    let (spec, asked) = (stored.spec.as_ref().unwrap(), made.spec.as_ref().unwrap());
    assert_eq!(spec.suspend, Some(true));
    assert_eq!(spec.active_deadline_seconds, asked.active_deadline_seconds);
    let args_stored = &spec.template.spec.as_ref().unwrap().containers[0].args;
    assert_eq!(args_stored, &asked.template.spec.as_ref().unwrap().containers[0].args);

    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), JOBS);
    for map in inputs(&request, &stored).unwrap().iter().chain([&output(&request, &stored).unwrap()]) {
        let map = maps.create(&PostParams::default(), map).await.unwrap();
        assert_eq!(map.metadata.owner_references.unwrap()[0].uid, stored.metadata.uid.clone().unwrap());
    }
    let secret = credentials(&request, &stored, r#"{"auths":{}}"#).unwrap();
    let secrets: Api<Secret> = Api::namespaced(client.clone(), JOBS);
    let secret = secrets.create(&PostParams::default(), &secret).await.unwrap();
    assert_eq!(secret.data.unwrap()[".dockerconfigjson"].0, br#"{"auths":{}}"#);

    let name = made.metadata.name.clone().unwrap();
    let change = json!({"spec": {"suspend": false, "ttlSecondsAfterFinished": STALLED_TTL_SECONDS}});
    let resumed = jobs.patch(&name, &PatchParams::default(), &Patch::Merge(change)).await.unwrap();
    assert_eq!(resumed.spec.as_ref().unwrap().suspend, Some(false));
    // A second create of the same run finds the first.
    let error = jobs.create(&PostParams::default(), &made).await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 409));
    let foreground =
        DeleteParams { propagation_policy: Some(PropagationPolicy::Foreground), ..DeleteParams::default() };
    let deleted = jobs.delete(&name, &foreground).await.unwrap().left().unwrap();
    assert!(deleted.metadata.deletion_timestamp.is_some());
    delete_account(client).await;
}
