use super::*;
use crate::plan::application::application;
use crate::plan::canonical;
use crate::plan::fixtures::{Planned, RUNTIME_UID, any_planned, large, planned, release, small, values};
use crate::plan::identity::spec_digest;
use proptest::prelude::*;
use serde_json::json;

/// An edit and what is said about it.
type Row<'a> = (fn(&mut Value), &'a str);

fn applications(planned: &Planned) -> Vec<Value> {
    let of = |id: &String| application(&planned.plan, id, &planned.values[id], "argocd").unwrap();
    planned.plan.releases.iter().map(|release| of(&release.id)).collect()
}

fn request() -> Request<'static> {
    Request {
        owner_uid: RUNTIME_UID,
        runtime_uid: RUNTIME_UID,
        operator_version: "1.3.0",
        digest: None,
        releases: &[],
    }
}

/// The objects as another writer of JSON hands them back.
fn handed_back(applications: &[Value]) -> Vec<Value> {
    applications.iter().map(|object| serde_json::from_str(&canonical::to_string(object)).unwrap()).collect()
}

/// The findings after an edit of the Application of `gpu-operator`.
fn edited(edit: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut objects = applications(&small());
    let at = objects.iter().position(|object| object["metadata"]["name"] == "gpu-operator").unwrap();
    edit(&mut objects[at]);
    match rebuild(&objects, &request()) {
        Ok(rebuilt) => {
            assert_eq!(rebuilt.plan.digest(), small().plan.digest());
            Vec::new()
        }
        Err(RebuildError(findings)) => findings.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn an_application_has_the_one_shape() {
    let planned = small();
    let object =
        application(&planned.plan, "gpu-operator", &planned.values["gpu-operator"], "argocd").unwrap();
    insta::assert_json_snapshot!(object);
    let gate = application(&planned.plan, "gpu-operator-readiness", &Values::default(), "argocd").unwrap();
    insta::assert_json_snapshot!(gate);
}

#[test]
fn no_application_carries_a_finalizer_owner_or_operation() {
    for object in applications(&large()) {
        let keys: Vec<_> = object["metadata"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["annotations", "labels", "name", "namespace"]);
        let keys: Vec<_> = object.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["apiVersion", "kind", "metadata", "spec"]);
        let source: Vec<_> =
            object["spec"]["source"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(source, ["helm", "path", "repoURL", "targetRevision"]);
        let options = object["spec"]["syncPolicy"]["syncOptions"].as_array().unwrap();
        assert!(options.contains(&json!("ServerSideApply=true")));
    }
}

#[test]
fn an_application_is_written_only_with_the_values_that_the_plan_records() {
    let planned = small();
    let refused = application(&planned.plan, "nfd", &Values::default(), "argocd").unwrap_err();
    assert_eq!(refused.reason.as_str(), "PlanUnreadable");
    let refused = application(&planned.plan, "other", &Values::default(), "argocd").unwrap_err();
    assert_eq!(refused.reason.as_str(), "NotFound");
}

#[test]
fn a_plan_is_rebuilt_with_its_digest_its_values_and_no_recipe() {
    for planned in [small(), large()] {
        let mut objects = handed_back(&applications(&planned));
        objects.reverse();
        let request = Request { digest: Some(planned.plan.digest()), ..request() };
        let rebuilt = rebuild(&objects, &request).unwrap();
        assert_eq!(rebuilt.plan.digest(), planned.plan.digest());
        assert_eq!(rebuilt.values, planned.values);
        assert_eq!(rebuilt.plan.provenance.source, PlanSource::Rebuilt);
        assert!(rebuilt.plan.recipe.is_none() && rebuilt.plan.input_digest.is_none());
        assert!(rebuilt.plan.provenance.render_flags.is_none());
        for release in &rebuilt.plan.releases {
            assert_eq!(release.chart.source, planned.plan.release(&release.id).unwrap().chart.source);
            assert_eq!(release.values, planned.plan.release(&release.id).unwrap().values);
        }
        assert_eq!(Plan::read(&rebuilt.plan.to_json().unwrap()).unwrap(), rebuilt.plan);
    }
}

#[test]
fn releases_of_a_rebuilt_plan_come_in_order_of_rollout_with_ties_by_id() {
    let entry = |id: &str, depends_on: &[&str]| (release(id, depends_on), Values::default());
    let planned = planned([entry("z", &[]), entry("c", &["z"]), entry("b", &["z"]), entry("a", &["b"])]);
    let rebuilt = rebuild(&applications(&planned), &request()).unwrap();
    let ids: Vec<_> = rebuilt.plan.releases.iter().map(|release| release.id.as_str()).collect();
    assert_eq!(ids, ["z", "b", "a", "c"]);
}

#[test]
fn on_readoption_the_plan_is_for_the_new_runtime() {
    let planned = small();
    let request = Request { runtime_uid: "the-new-one", ..request() };
    let rebuilt = rebuild(&applications(&planned), &request).unwrap();
    assert_eq!(rebuilt.plan.belongs_to("the-new-one"), Ok(()));
    assert_eq!(rebuilt.plan.digest(), planned.plan.digest());
}

#[test]
fn a_release_that_a_later_plan_left_untouched_is_judged_by_its_release_digest() {
    let mut objects = applications(&small());
    objects[0]["metadata"]["annotations"]["operator.aicr.run/plan-digest"] = json!("sha256:older");
    assert_eq!(rebuild(&objects, &request()).unwrap().plan.digest(), small().plan.digest());
}

#[test]
fn what_others_write_on_an_application_is_no_edit() {
    let edits: [fn(&mut Value); 8] = [
        |object| object["status"] = json!({"sync": {"status": "Synced"}}),
        |object| object["operation"] = json!({"sync": {}}),
        |object| object["metadata"]["labels"]["team"] = json!("gpu"),
        |object| object["metadata"]["annotations"]["argocd.argoproj.io/refresh"] = json!("normal"),
        |object| object["metadata"]["annotations"]["operator.aicr.run/orphaned-from"] = json!(RUNTIME_UID),
        |object| object["spec"]["syncPolicy"]["automated"]["enabled"] = json!(false),
        |object| object["spec"]["syncPolicy"]["syncOptions"].as_array_mut().unwrap().reverse(),
        |object| object["spec"]["info"] = json!([{"name": "runbook", "value": "https://x"}]),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        assert_eq!(edited(edit), Vec::<String>::new(), "edit {index}");
    }
}

#[test]
fn an_application_edited_out_of_band_is_named_with_what_differs() {
    let table: [Row<'_>; 24] = [
        (|object| object["spec"]["source"]["helm"]["valuesObject"]["extra"] = json!(1), "release digest"),
        (|object| object["spec"]["source"]["helm"]["valuesObject"]["empty"] = json!(null), "empty is null"),
        (|object| object["spec"]["source"]["helm"]["valuesObject"] = json!([]), "the values are a list"),
        (|object| object["spec"]["source"]["helm"]["parameters"] = json!([]), "release digest"),
        (
            |object| object["spec"]["source"]["helm"]["parameters"][0]["value"] = json!("1"),
            "affinity.nodeAffinity=1",
        ),
        (|object| object["spec"]["source"]["helm"]["values"] = json!("a: 1"), "/source/helm/values"),
        (|object| object["spec"]["source"]["helm"]["releaseName"] = json!("x"), "/source/helm/releaseName"),
        (|object| object["spec"]["source"]["path"] = json!("sub"), "/source/path"),
        (|object| object["spec"]["source"]["chart"] = json!("x"), "/source/chart"),
        (|object| object["spec"]["source"]["targetRevision"] = json!("latest"), "targetRevision"),
        (|object| object["spec"]["source"]["repoURL"] = json!("oci://elsewhere/x"), "release digest"),
        (|object| drop(object["spec"].as_object_mut().unwrap().remove("source")), "no spec.source"),
        (|object| object["spec"]["sources"] = json!([{"repoURL": "x"}]), "/sources/0/repoURL"),
        (|object| object["spec"]["destination"]["server"] = json!("https://other"), "/destination/server"),
        (|object| object["spec"]["destination"]["namespace"] = json!("other"), "release digest"),
        (|object| object["spec"]["project"] = json!("default"), "release digest"),
        (
            |object| drop(object["spec"]["syncPolicy"].as_object_mut().unwrap().remove("automated")),
            "no spec.syncPolicy.automated",
        ),
        (
            |object| object["spec"]["syncPolicy"]["automated"]["allowEmpty"] = json!(true),
            "/syncPolicy/automated/allowEmpty",
        ),
        (|object| object["spec"]["ignoreDifferences"] = json!([]), "release digest"),
        (|object| object["spec"]["syncPolicy"] = json!("text"), "invalid type"),
        (
            |object| object["metadata"]["annotations"]["operator.aicr.run/depends-on"] = json!("nfd"),
            "release digest",
        ),
        (
            |object| object["metadata"]["annotations"]["operator.aicr.run/phase"] = json!("Later"),
            "phase is \"Later\"",
        ),
        (
            |object| object["metadata"]["annotations"]["operator.aicr.run/owns-crds"] = json!("yes"),
            "owns-crds is \"yes\"",
        ),
        (
            |object| {
                object["metadata"]["annotations"]["operator.aicr.run/release-digest"] = json!("sha256:x");
            },
            "written with \"sha256:x\"",
        ),
    ];
    for (edit, what) in table {
        let findings = edited(edit);
        let [finding] = findings.as_slice() else { panic!("{what}: {findings:?}") };
        assert!(finding.starts_with("Application gpu-operator was edited out of band: "), "{finding}");
        assert!(finding.contains(what), "{what}: {finding}");
    }
}

#[test]
fn a_missing_application_is_named_with_who_needs_it() {
    let mut objects = applications(&small());
    objects.retain(|object| object["metadata"]["name"] != "nfd");
    let error = rebuild(&objects, &request()).unwrap_err();
    assert_eq!(error.to_string(), "Application nfd is missing: release gpu-operator needs it");

    // Nothing needs the gate: only what was recorded elsewhere tells.
    let mut objects = applications(&small());
    objects.retain(|object| object["metadata"]["name"] != "gpu-operator-readiness");
    let known = Request { releases: &["nfd", "gpu-operator-readiness"], ..request() };
    let error = rebuild(&objects, &known).unwrap_err();
    let missing = "Application gpu-operator-readiness is missing: the plan is known to hold its release";
    assert_eq!(error.to_string(), missing);
    let wanted = Request { digest: Some(small().plan.digest()), ..request() };
    let RebuildError(findings) = rebuild(&objects, &wanted).unwrap_err();
    assert!(matches!(findings[..], [Finding::OtherPlan { wanted, .. }] if wanted == small().plan.digest()));
}

#[test]
fn a_foreign_application_counts_only_where_its_name_is_needed() {
    let mut objects = applications(&small());
    let stranger = json!({"metadata": {"name": "web"}, "spec": {"project": "default"}});
    objects.push(stranger);
    // Another runtime's, left in place.
    let mut other = objects[0].clone();
    other["metadata"]["name"] = json!("old-release");
    other["metadata"]["annotations"]["operator.aicr.run/runtime-uid"] = json!("another");
    objects.push(other);
    objects.push(json!(null));
    assert_eq!(rebuild(&objects, &request()).unwrap().plan.digest(), small().plan.digest());

    let table: [Row<'_>; 3] = [
        (
            |object| drop(object["metadata"].as_object_mut().unwrap().remove("labels")),
            "its label app.kubernetes.io/managed-by is \"\"",
        ),
        (
            |object| object["metadata"]["labels"]["operator.aicr.run/runtime"] = json!("x"),
            "its label operator.aicr.run/runtime is \"x\"",
        ),
        (
            |object| object["metadata"]["annotations"]["operator.aicr.run/runtime-uid"] = json!("y"),
            "runtime-uid is \"y\"",
        ),
    ];
    for (edit, why) in table {
        let mut objects = applications(&small());
        let nfd = objects.iter_mut().find(|object| object["metadata"]["name"] == "nfd").unwrap();
        edit(nfd);
        let error = rebuild(&objects, &request()).unwrap_err().to_string();
        assert!(error.starts_with("Application nfd is foreign: ") && error.contains(why), "{error}");
    }
}

#[test]
fn every_finding_is_named_at_once() {
    let mut objects = applications(&small());
    objects.retain(|object| object["metadata"]["name"] != "cert-manager");
    for object in &mut objects {
        if object["metadata"]["name"] != "gpu-operator" {
            object["spec"]["project"] = json!("default");
        }
    }
    let RebuildError(findings) = rebuild(&objects, &request()).unwrap_err();
    let mut names: Vec<_> = findings
        .iter()
        .map(|finding| match finding {
            Finding::Edited { release, .. } => format!("edited {release}"),
            Finding::Missing { release, .. } => format!("missing {release}"),
            other => other.to_string(),
        })
        .collect();
    names.sort();
    assert_eq!(names, ["edited gpu-operator-readiness", "edited nfd", "missing cert-manager"]);
}

#[test]
fn an_application_that_states_another_release_is_named() {
    let findings =
        edited(|object| object["metadata"]["annotations"]["operator.aicr.run/release-id"] = json!("x"));
    assert_eq!(
        findings,
        [
            "Application gpu-operator was edited out of band: its annotation operator.aicr.run/release-id is \"x\""
        ]
    );
}

#[test]
fn nothing_makes_up_no_plan() {
    let rebuilt = rebuild(&[], &request()).unwrap_err();
    let why = format!("the Applications do not make up a plan: none belongs to the runtime {RUNTIME_UID}");
    assert_eq!(rebuilt.to_string(), why);
}

#[test]
fn a_round_trip_changes_no_spec_digest() {
    let tree = serde_json::from_str(crate::plan::fixtures::HARD_NUMBERS).unwrap();
    let planned = planned([(release("a", &[]), values(&tree))]);
    let objects = applications(&planned);
    assert_eq!(spec_digest(&handed_back(&objects)[0]), spec_digest(&objects[0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_plan_written_as_applications_is_rebuilt_with_its_digest(planned in any_planned()) {
        let objects = applications(&planned);
        let request = Request { digest: Some(planned.plan.digest()), ..request() };
        for objects in [handed_back(&objects), objects] {
            let rebuilt = rebuild(&objects, &request);
            let rebuilt = rebuilt.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(&rebuilt.values, &planned.values);
        }
    }
}
