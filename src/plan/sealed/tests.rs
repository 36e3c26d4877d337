use super::*;
use crate::plan::fixtures::{any_planned, digest, document, gate, large, release, small};
use proptest::prelude::*;
use serde_json::{Value, json};

/// An edit and what is said about it.
type Row<'a> = (fn(&mut Release), &'a str);

/// The stored document after an edit that does not touch its digest.
fn edited(edit: impl FnOnce(&mut Value)) -> Result<Plan, DocumentError> {
    let mut json = serde_json::to_value(small().plan.into_document()).unwrap();
    edit(&mut json);
    Plan::read(&json.to_string())
}

#[test]
fn a_plan_is_stored_in_the_layout_of_the_reference() {
    let plan = small().plan;
    let json: Value = serde_json::from_str(&plan.to_json().unwrap()).unwrap();
    let keys = |pointer: &str| {
        json.pointer(pointer).unwrap().as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(
        keys(""),
        [
            "desiredStateDigest",
            "engine",
            "inputDigest",
            "provenance",
            "recipe",
            "releases",
            "runtimeUID",
            "schemaVersion"
        ]
    );
    assert_eq!(
        keys("/provenance"),
        [
            "aicrImage",
            "aicrVersion",
            "bundle",
            "operatorVersion",
            "renderFlags",
            "runtimeGeneration",
            "snapshotDigest",
            "source"
        ]
    );
    assert_eq!(keys("/recipe"), ["configMapRef", "criteria", "name", "validationConfigMapRef", "warnings"]);
    let gate = json["releases"].as_array().unwrap().iter().find(|release| release["phase"] == "Readiness");
    let mut gate = gate.unwrap().clone();
    gate["enginePolicy"].take();
    let values_digest = crate::plan::values::Values::default().digest();
    assert_eq!(
        gate,
        json!({"id": "gpu-operator-readiness", "component": "gpu-operator-readiness", "phase": "Readiness",
            "readinessFor": "gpu-operator", "dependsOn": ["gpu-operator"], "targetNamespace": "gpu-operator-readiness",
            "chart": {"source": "Wrapper", "repository": "oci://registry.test/aicr/wrappers/gpu-operator-readiness",
                "version": "v1.2.3", "digest": digest("gpu-operator-readiness").to_string()},
            "values": {"configMap": format!("aicr-values-gpu-operator-readiness-{}", values_digest.short()),
                "digest": values_digest.to_string()},
            "ownsCRDs": false, "enginePolicy": null})
    );
}

#[test]
fn a_stored_plan_reads_back_as_it_was() {
    for plan in [small().plan, large().plan] {
        assert_eq!(Plan::read(&plan.to_json().unwrap()).unwrap(), plan);
    }
}

#[test]
fn the_order_of_rollout_puts_dependencies_first() {
    let plan = Plan::seal(document(vec![release("b", &["a"]), gate("a"), release("a", &[])])).unwrap();
    let ids: Vec<_> = plan.ordered().into_iter().map(|release| release.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "a-readiness"]);
}

#[test]
fn a_document_of_another_version_is_not_read() {
    for (version, found) in [(json!(2), "2"), (json!("1"), "\"1\""), (json!(null), "null"), (json!(0), "0")] {
        let error = edited(|json| json["schemaVersion"] = version).unwrap_err();
        let message = format!("the plan document has schemaVersion {found}, and 1 is the only one supported");
        assert_eq!(error.to_string(), message);
        assert_eq!(error.reason(), Reason::PlanUnreadable);
    }
    // Also when nothing else of it is known.
    let error = Plan::read(r#"{"schemaVersion": 2, "spec": []}"#).unwrap_err();
    assert!(matches!(error, DocumentError::Version { .. }));
}

#[test]
fn an_edited_document_no_longer_has_its_digest() {
    let edits: [fn(&mut Value); 11] = [
        |json| json["releases"][0]["phase"] = json!("Post"),
        |json| json["releases"][2]["dependsOn"] = json!(["nfd"]),
        |json| json["releases"][0]["ownsCRDs"] = json!(false),
        |json| json["releases"][0]["targetNamespace"] = json!("other"),
        |json| json["releases"][0]["chart"]["repository"] = json!("oci://registry.test/x"),
        |json| json["releases"][0]["chart"]["digest"] = json!(digest("other").to_string()),
        |json| json["releases"][0]["values"]["digest"] = json!(digest("other").to_string()),
        |json| json["releases"][0]["enginePolicy"]["project"] = json!("other"),
        |json| json["releases"][0]["enginePolicy"]["prune"] = json!(false),
        |json| drop(json["releases"].as_array_mut().unwrap().remove(3)),
        |json| json["desiredStateDigest"] = json!(digest("other").to_string()),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        assert!(matches!(edited(edit), Err(DocumentError::Digest { .. })), "edit {index}");
    }
}

#[test]
fn what_a_rebuild_cannot_know_is_not_part_of_the_digest() {
    let edits: [fn(&mut Value); 10] = [
        |json| json["runtimeUID"] = json!("another"),
        |json| json["inputDigest"] = json!(digest("other").to_string()),
        |json| drop(json.as_object_mut().unwrap().remove("inputDigest")),
        |json| json["provenance"] = json!({"source": "Rebuilt", "operatorVersion": ""}),
        |json| drop(json.as_object_mut().unwrap().remove("recipe")),
        |json| json["releases"][0]["component"] = json!(""),
        |json| json["releases"][0]["chart"]["version"] = json!("v9"),
        |json| drop(json["releases"][0]["chart"].as_object_mut().unwrap().remove("upstream")),
        |json| json["releases"][0]["values"]["configMap"] = json!("renamed"),
        |json| json["fromALaterVersion"] = json!({"ignored": true}),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        assert_eq!(edited(edit).unwrap().digest(), small().plan.digest(), "edit {index}");
    }
}

#[test]
fn a_document_that_is_no_plan_is_refused_and_not_guessed() {
    for text in [
        "",
        "null",
        "[]",
        "{}",
        "{\"schemaVersion\":1}",
        "{\"schemaVersion\":1,\"schemaVersion\":1}",
        "\u{0}",
    ] {
        let error = Plan::read(text).unwrap_err();
        assert_eq!(error.reason(), Reason::PlanUnreadable, "{text}");
    }
    let edits: [fn(&mut Value); 6] = [
        |json| json["engine"] = json!("Flux"),
        |json| json["releases"][0]["phase"] = json!("primary"),
        |json| json["releases"][0]["chart"]["digest"] = json!("sha256:1"),
        |json| json["provenance"]["source"] = json!("Guessed"),
        |json| drop(json.as_object_mut().unwrap().remove("releases")),
        |json| drop(json["releases"][0].as_object_mut().unwrap().remove("enginePolicy")),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        assert!(matches!(edited(edit), Err(DocumentError::Syntax(_))), "edit {index}");
    }
}

#[test]
fn absent_and_empty_render_flags_are_told_apart() {
    let flags = |edit: fn(&mut Value)| edited(edit).unwrap().provenance.render_flags.clone();
    assert_eq!(flags(|json| json["provenance"]["renderFlags"] = json!([])), Some(vec![]));
    assert_eq!(flags(|json| drop(json["provenance"].as_object_mut().unwrap().remove("renderFlags"))), None);
    let mut none = small().plan.into_document();
    none.provenance.render_flags = Some(vec![]);
    assert_eq!(
        Plan::read(&Plan::seal(none.clone()).unwrap().to_json().unwrap()).unwrap().provenance,
        none.provenance
    );
}

#[test]
fn a_plan_without_a_second_recipe_validates_against_the_first() {
    let mut recipe = small().plan.required_recipe().unwrap().clone();
    assert_eq!(recipe.for_validation().config_map, "aicr-recipe-bundled");
    recipe.validation_config_map_ref = None;
    assert_eq!(recipe.for_validation(), &recipe.config_map_ref);
}

#[test]
fn a_plan_of_another_runtime_or_without_a_recipe_is_refused_with_its_reason() {
    let plan = small().plan;
    assert_eq!(plan.belongs_to(&plan.runtime_uid), Ok(()));
    let refused = plan.belongs_to("another").unwrap_err();
    assert_eq!(refused.reason.as_str(), "PlanOfAnotherRuntime");
    assert!(refused.message.contains(&plan.runtime_uid) && refused.message.contains("another"), "{refused}");
    let mut document = plan.into_document();
    document.recipe = None;
    let refused = Plan::seal(document).unwrap().required_recipe().unwrap_err();
    assert_eq!(refused.reason.as_str(), "PlanWithoutRecipe");
}

#[test]
fn bounds_are_kept_and_named_with_what_was_found() {
    let one = |edit: fn(&mut Release)| {
        let mut release = release("a", &[]);
        edit(&mut release);
        Plan::seal(document(vec![release])).map(drop).map_err(|error| error.to_string())
    };
    let table: [Row<'_>; 12] = [
        (|release| release.id = "a".repeat(53), ""),
        (|release| release.id = "a".repeat(54), "id has 54 characters: Helm allows at most 53"),
        (
            |release| release.id = String::new(),
            "release \"\": id must be lower-case letters, digits and inner hyphens",
        ),
        (|release| release.id = "A".to_owned(), "id must be"),
        (|release| release.id = "a,b".to_owned(), "id must be"),
        (|release| release.id = "a.b".to_owned(), "id must be"),
        (|release| release.id = "-a".to_owned(), "id must be"),
        (|release| release.id = "é".to_owned(), "id must be"),
        (
            |release| release.target_namespace = "kube_system".to_owned(),
            "targetNamespace \"kube_system\" is no name",
        ),
        (
            |release| release.chart.repository = "https://x/y".to_owned(),
            "chart.repository \"https://x/y\" is not of the form",
        ),
        (
            |release| release.chart.repository = "oci://x/".to_owned(),
            "chart.repository \"oci://x/\" is not of the form",
        ),
        (|release| release.engine_policy.project.clear(), "enginePolicy.project is empty"),
    ];
    for (edit, message) in table {
        match one(edit) {
            Ok(()) => assert_eq!(message, ""),
            Err(error) => assert!(!message.is_empty() && error.contains(message), "{error}"),
        }
    }
    let releases = |count: usize| (0..count).map(|index| release(&format!("r{index}"), &[])).collect();
    assert!(Plan::seal(document(releases(128))).is_ok());
    let error = Plan::seal(document(releases(129))).unwrap_err().to_string();
    assert_eq!(error, "releases holds 129 entries: at most 128 are allowed");
}

#[test]
fn a_document_over_one_mebibyte_is_refused_with_its_size() {
    let sized = |flag: usize| {
        let mut document = document(vec![release("a", &[])]);
        document.provenance.render_flags = Some(vec!["x".repeat(flag)]);
        Plan::seal(document)
    };
    let overhead = sized(0).unwrap().to_json().unwrap().len();
    let largest = sized(MAX_PLAN_BYTES - overhead).unwrap().to_json().unwrap();
    assert_eq!(largest.len(), MAX_PLAN_BYTES);
    assert!(Plan::read(&largest).is_ok());
    for error in [sized(MAX_PLAN_BYTES - overhead + 1), Plan::read(&format!("{largest} "))] {
        let error = error.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the plan document takes 1048577 bytes: a ConfigMap holds at most 1048576"
        );
        assert_eq!(error.reason(), Reason::ContentTooLarge);
    }
}

#[test]
fn the_largest_plan_fits() {
    let planned = large();
    assert_eq!(planned.plan.releases.len(), MAX_RELEASES);
    assert!(planned.plan.releases.iter().any(|release| release.id.len() == MAX_RELEASE_ID));
    assert!(planned.plan.to_json().unwrap().len() < MAX_PLAN_BYTES / 2);
}

#[test]
fn warnings_are_cut_and_those_left_out_are_counted() {
    let many: Vec<_> = (0..70).map(|index| format!("warning {index}")).collect();
    let kept = bounded(&many);
    assert_eq!(kept.len(), MAX_WARNINGS);
    assert_eq!(kept[62..], ["warning 62", "7 further warnings are not kept"]);
    assert_eq!(bounded(&many[..64]), many[..64]);
    let long = bounded(&["é".repeat(MAX_WARNING), "é".repeat(MAX_WARNING + 1)]);
    assert_eq!(long[0], "é".repeat(MAX_WARNING));
    assert_eq!(long[1], format!("{}…", "é".repeat(MAX_WARNING - 1)));
    let mut document = document(vec![release("a", &[])]);
    document.recipe.as_mut().unwrap().warnings = many;
    assert!(Plan::seal(document.clone()).is_err());
    document.recipe.as_mut().unwrap().warnings = kept;
    assert!(Plan::seal(document).is_ok());
}

#[test]
fn a_faulty_graph_is_no_plan() {
    let error = Plan::seal(document(vec![release("a", &["b"]), release("b", &["a"])])).unwrap_err();
    assert_eq!(error.to_string(), "releases depend on each other: a -> b -> a");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_plan_reads_back_whatever_its_white_space(planned in any_planned()) {
        let text = planned.plan.to_json().unwrap();
        prop_assert_eq!(&Plan::read(&text).unwrap(), &planned.plan);
        let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&text).unwrap()).unwrap();
        prop_assert_eq!(Plan::read(&pretty).unwrap(), planned.plan);
    }

    #[test]
    fn the_order_of_lists_does_not_change_the_digest(planned in any_planned()) {
        let mut document = planned.plan.clone().into_document();
        document.releases.reverse();
        for release in &mut document.releases {
            release.depends_on.reverse();
            release.engine_policy.sync_options.reverse();
            release.engine_policy.compare_options.reverse();
            release.engine_policy.ignore_differences.reverse();
            for difference in &mut release.engine_policy.ignore_differences {
                difference.json_pointers.reverse();
            }
        }
        prop_assert_eq!(Plan::seal(document).unwrap().digest(), planned.plan.digest());
    }

    #[test]
    fn no_text_makes_reading_panic(text in "\\PC*", cut in 0_usize..2000) {
        prop_assert!(Plan::read(&text).is_err());
        let stored = small().plan.to_json().unwrap();
        let cut = stored.char_indices().nth(cut).map_or(stored.len() - 1, |(at, _)| at);
        prop_assert!(Plan::read(&stored[..cut]).is_err());
    }
}
