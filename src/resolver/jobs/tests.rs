use serde_json::{Value, json};

use super::*;

const RECIPE: Input<'_> = Input { name: "recipe", file: "recipe.json", text: "{}" };

fn settings() -> Settings {
    Settings {
        image: "ghcr.io/nvidia/aicr@sha256:1".to_owned(),
        node_selector: [("pool".to_owned(), "system".to_owned())].into(),
        tolerations: vec![Toleration { key: Some("system".to_owned()), ..Toleration::default() }],
        resources: serde_json::from_value(json!({"limits": {"memory": "1Gi"}})).unwrap(),
    }
}

fn request<'a>(stage: Stage, args: &'a [String], inputs: &'a [Input<'a>]) -> JobRequest<'a> {
    JobRequest {
        run: Run { stage, input: Digest::of_bytes(b""), attempt: 2 },
        resolution: Digest::of_bytes(b"resolution"),
        runtime_uid: "runtime-uid",
        namespace: "aicr-jobs",
        service_account: "aicr-jobs",
        args,
        inputs,
        credentials: true,
    }
}

#[test]
fn a_job_has_the_one_shape() {
    let args = ["bundle".to_owned(), "--set".to_owned(), "a:b=$(HOME)".to_owned()];
    insta::assert_json_snapshot!(job(&request(Stage::Render, &args, &[RECIPE]), &settings()));
}

#[test]
fn what_a_job_owns_goes_with_it_and_nothing_else_is_owned() {
    let request = request(Stage::Render, &[], &[RECIPE]);
    let mut made = job(&request, &settings());
    assert!(made.metadata.owner_references.is_none());
    // Before the API server answered there is nobody to own anything.
    assert!(output(&request, &made).is_none() && inputs(&request, &made).is_none());
    assert!(credentials(&request, &made, "{}").is_none());
    made.metadata.uid = Some("job-uid".to_owned());
    let owned: Vec<Value> = [
        serde_json::to_value(output(&request, &made).unwrap()).unwrap(),
        serde_json::to_value(&inputs(&request, &made).unwrap()[0]).unwrap(),
        serde_json::to_value(credentials(&request, &made, "{}").unwrap()).unwrap(),
    ]
    .into();
    for object in &owned {
        let reference = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "aicr-render-e3b0c44298fc1c14-2", "uid": "job-uid"}]);
        assert_eq!(object["metadata"]["ownerReferences"], reference);
        assert_eq!(object["metadata"]["namespace"], "aicr-jobs");
        assert_eq!(object["metadata"]["labels"][keys::RUN_ID], "e3b0c44298fc1c14-2");
    }
    assert_eq!(owned[0]["metadata"]["name"], "aicr-render-e3b0c44298fc1c14-2");
    assert_eq!(owned[1]["metadata"]["name"], "aicr-render-e3b0c44298fc1c14-2-recipe");
    assert_eq!(owned[1]["data"], json!({"recipe.json": "{}"}));
    assert_eq!(RECIPE.path(), "/inputs/recipe/recipe.json");
}

#[test]
fn every_stage_has_a_deadline_and_a_name_that_a_label_holds() {
    for stage in Stage::ALL {
        let made = job(&request(stage, &[], &[]), &Settings::default());
        let spec = made.spec.unwrap();
        assert_eq!((spec.suspend, spec.backoff_limit), (Some(true), Some(0)));
        assert!(spec.active_deadline_seconds.unwrap() >= 300);
        // The Job controller copies the Job's name into a label of the pod.
        let longest = Run { stage, input: Digest::of_bytes(b""), attempt: u32::MAX }.job();
        assert!(longest.len() <= 63, "{longest}");
        let pod = spec.template.spec.unwrap();
        assert!(pod.node_selector.is_none() && pod.tolerations.is_none());
    }
}

#[test]
fn a_run_without_credentials_mounts_none() {
    let mut request = request(Stage::Recipe, &[], &[]);
    request.credentials = false;
    let text = serde_json::to_string(&job(&request, &settings())).unwrap();
    assert!(!text.contains("secret") && !text.contains("DOCKER_CONFIG"), "{text}");
}
