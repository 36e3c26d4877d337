use super::*;
use crate::plan::digest::Digest;
use crate::plan::fixtures::{RECIPE, digest, document, large, release, small};
use serde_json::json;

const NAMESPACE: &str = "aicr-system";

fn stored() -> (PlanRef, ConfigMap) {
    let plan = small().plan;
    (plan.digest().into(), write_plan(&plan, NAMESPACE).unwrap())
}

fn edited(edit: impl FnOnce(&mut ConfigMap)) -> Refused {
    let (wanted, mut object) = stored();
    edit(&mut object);
    read_plan(&wanted, Some(&object)).unwrap_err()
}

fn label(object: &mut ConfigMap, key: &str, value: Option<&str>) {
    let labels = object.metadata.labels.as_mut().unwrap();
    match value {
        Some(value) => labels.insert(key.to_owned(), value.to_owned()),
        None => labels.remove(key),
    };
}

fn annotate(object: &mut ConfigMap, key: &str, value: Option<&str>) {
    let annotations = object.metadata.annotations.as_mut().unwrap();
    match value {
        Some(value) => annotations.insert(key.to_owned(), value.to_owned()),
        None => annotations.remove(key),
    };
}

#[test]
fn a_plan_is_named_by_digest_or_by_config_map() {
    let digest = digest("plan");
    let name = format!("aicr-plan-{}", digest.short());
    assert_eq!(PlanRef::parse(&digest.to_string()), Ok(digest.into()));
    assert_eq!(PlanRef::parse(&digest.to_string()).unwrap().config_map(), name);
    assert_eq!(PlanRef::parse(&name).unwrap().config_map(), name);
    for text in [
        "",
        "plan",
        "aicr-plan-",
        "aicr-plan-0123",
        "aicr-plan-0123456789ABCDEF",
        "sha256:12",
        "aicr-plan-0123456789abcdef0",
    ] {
        let error = PlanRef::parse(text).unwrap_err().to_string();
        assert!(error.contains("names no plan"), "{error}");
    }
}

#[test]
fn a_plan_config_map_has_the_form_of_the_reference() {
    let plan = small().plan;
    let object = serde_json::to_value(write_plan(&plan, NAMESPACE).unwrap()).unwrap();
    assert_eq!(
        object,
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": format!("aicr-plan-{}", plan.digest().short()),
                "namespace": "aicr-system",
                "labels": {
                    "app.kubernetes.io/managed-by": "aicr-operator",
                    "operator.aicr.run/runtime": "cluster",
                    "operator.aicr.run/role": "plan",
                    "operator.aicr.run/schema-version": "1",
                    "operator.aicr.run/input": digest("inputs").short(),
                },
                "annotations": {
                    "operator.aicr.run/runtime-uid": plan.runtime_uid,
                    "operator.aicr.run/plan-digest": plan.digest().to_string(),
                },
            },
            "immutable": true,
            "data": {"plan.json": plan.to_json().unwrap()},
        })
    );
}

#[test]
fn a_stored_plan_reads_back_by_digest_and_by_name() {
    for plan in [small().plan, large().plan] {
        let object = write_plan(&plan, NAMESPACE).unwrap();
        assert_eq!(read_plan(&plan.digest().into(), Some(&object)).unwrap(), plan);
        let by_name = PlanRef::parse(object.metadata.name.as_deref().unwrap()).unwrap();
        assert_eq!(read_plan(&by_name, Some(&object)).unwrap(), plan);
    }
}

#[test]
fn labels_and_annotations_of_others_do_not_matter() {
    let (wanted, mut object) = stored();
    label(&mut object, "team", Some("gpu"));
    label(&mut object, keys::INPUT, None);
    annotate(&mut object, "note", Some("x"));
    assert!(read_plan(&wanted, Some(&object)).is_ok());
}

#[test]
fn a_missing_plan_is_not_found() {
    let (wanted, _) = stored();
    let refused = read_plan(&wanted, None).unwrap_err();
    assert_eq!(refused.reason.as_str(), "NotFound");
    assert_eq!(refused.reason.code().as_str(), "NOT_FOUND");
    assert_eq!(refused.to_string(), format!("plan {} is missing", wanted.config_map()));
}

#[test]
fn a_config_map_without_the_protected_labels_is_not_read() {
    for key in [keys::MANAGED_BY, keys::RUNTIME, keys::ROLE, keys::SCHEMA_VERSION] {
        for value in [None, Some("forged")] {
            let refused = edited(|object| label(object, key, value));
            assert_eq!(refused.reason.as_str(), "PlanUnreadable");
            assert!(refused.message.contains(key), "{refused}");
        }
    }
    let refused = edited(|object| object.metadata.labels = None);
    assert!(refused.message.contains(keys::MANAGED_BY), "{refused}");
}

#[test]
fn a_plan_of_another_schema_version_is_not_read() {
    let refused = edited(|object| label(object, keys::SCHEMA_VERSION, Some("2")));
    assert!(refused.message.contains("\"2\"") && refused.message.contains("\"1\""), "{refused}");
    let refused = edited(|object| {
        let text = object.data.as_mut().unwrap().get_mut(PLAN_KEY).unwrap();
        *text = text.replace("\"schemaVersion\":1", "\"schemaVersion\":2");
    });
    assert!(refused.message.contains("has schemaVersion 2"), "{refused}");
}

#[test]
fn a_plan_whose_digest_is_not_its_contents_is_not_read() {
    let other = digest("other").to_string();
    let refused = edited(|object| annotate(object, keys::PLAN_DIGEST, Some(&other)));
    assert!(refused.message.contains(keys::PLAN_DIGEST) && refused.message.contains(&other), "{refused}");
    let refused = edited(|object| annotate(object, keys::PLAN_DIGEST, None));
    assert!(refused.message.contains(keys::PLAN_DIGEST), "{refused}");
    // A forger who knows the rules for labels and annotations, but moves a chart.
    let refused = edited(|object| {
        let text = object.data.as_mut().unwrap().get_mut(PLAN_KEY).unwrap();
        *text = text.replacen(&digest("nfd").to_string(), &other, 1);
    });
    assert!(refused.message.contains("but its content has"), "{refused}");
}

#[test]
fn a_plan_under_another_name_is_not_read() {
    let (_, object) = stored();
    let wanted = PlanRef::from(digest("other"));
    let refused = read_plan(&wanted, Some(&object)).unwrap_err();
    assert_eq!(refused.reason.as_str(), "PlanUnreadable");
    // The name of one plan around the content of another.
    let mut renamed = object.clone();
    renamed.metadata.name = Some(wanted.config_map());
    for wanted in [wanted.clone(), PlanRef::parse(&wanted.config_map()).unwrap()] {
        let refused = read_plan(&wanted, Some(&renamed)).unwrap_err();
        assert!(refused.message.contains("it holds plan sha256:"), "{refused}");
    }
    // Two digests of one prefix.
    let own = small().plan.digest();
    let twin = format!("sha256:{}{}", own.short(), "0".repeat(48));
    let refused = read_plan(&PlanRef::parse(&twin).unwrap(), Some(&object)).unwrap_err();
    assert!(refused.message.contains(&format!("it holds plan {own}, not {twin}")), "{refused}");
}

#[test]
fn a_plan_that_states_two_runtimes_is_not_read() {
    let refused = edited(|object| annotate(object, keys::RUNTIME_UID, Some("another")));
    assert!(refused.message.contains(keys::RUNTIME_UID), "{refused}");
}

#[test]
fn a_plan_that_could_change_or_holds_nothing_is_not_read() {
    let edits: [fn(&mut ConfigMap); 5] = [
        |object| object.immutable = None,
        |object| object.immutable = Some(false),
        |object| object.data = None,
        |object| drop(object.data.as_mut().unwrap().remove(PLAN_KEY)),
        |object| drop(object.data.as_mut().unwrap().insert(PLAN_KEY.to_owned(), "{".to_owned())),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        assert_eq!(edited(edit).reason.as_str(), "PlanUnreadable", "edit {index}");
    }
}

#[test]
fn a_rebuilt_plan_carries_no_input_label() {
    let mut document = document(vec![release("a", &[])]);
    document.input_digest = None;
    let object = write_plan(&Plan::seal(document).unwrap(), NAMESPACE).unwrap();
    assert!(!object.metadata.labels.unwrap().contains_key(keys::INPUT));
}

#[test]
fn a_recipe_reads_back_byte_by_byte() {
    let plan = small().plan;
    let object = write_recipe(&plan, NAMESPACE, RecipeKind::Resolved, RECIPE).unwrap();
    let wanted = &plan.required_recipe().unwrap().config_map_ref;
    assert_eq!(object.metadata.name.as_deref(), Some(wanted.config_map.as_str()));
    assert_eq!(wanted.config_map, format!("aicr-recipe-{}", Digest::of_bytes(RECIPE.as_bytes()).short()));
    assert_eq!(read_recipe(wanted, RecipeKind::Resolved, Some(&object)), Ok(RECIPE));
    let labels = object.metadata.labels.as_ref().unwrap();
    assert_eq!(labels[keys::ROLE], "recipe");
    assert_eq!(labels[keys::INPUT], digest("inputs").short());
    assert_eq!(object.metadata.annotations.as_ref().unwrap()[keys::DIGEST], wanted.digest.to_string());

    let bundled = write_recipe(&plan, NAMESPACE, RecipeKind::Bundled, "a: 1\n").unwrap();
    assert_eq!(read_recipe(&recipe_ref("a: 1\n"), RecipeKind::Bundled, Some(&bundled)), Ok("a: 1\n"));
    let refused = read_recipe(&recipe_ref("a: 1\n"), RecipeKind::Resolved, Some(&bundled)).unwrap_err();
    assert!(refused.message.contains("it has no recipe.json"), "{refused}");
}

#[test]
fn a_recipe_that_is_not_what_the_plan_records_is_not_read() {
    let plan = small().plan;
    let wanted = recipe_ref(RECIPE);
    let object = write_recipe(&plan, NAMESPACE, RecipeKind::Resolved, RECIPE).unwrap();
    let read = |edit: fn(&mut ConfigMap)| {
        let mut object = object.clone();
        edit(&mut object);
        read_recipe(&wanted, RecipeKind::Resolved, Some(&object)).unwrap_err()
    };
    let refused = read(|object| {
        object.data.as_mut().unwrap().get_mut("recipe.json").unwrap().push(' ');
    });
    assert_eq!(refused.reason.as_str(), "PlanUnreadable");
    assert!(refused.message.contains("but its content has"), "{refused}");
    assert!(read(|object| label(object, keys::MANAGED_BY, None)).message.contains(keys::MANAGED_BY));
    assert!(read(|object| label(object, keys::ROLE, Some("plan"))).message.contains(keys::ROLE));
    assert!(read(|object| annotate(object, keys::DIGEST, None)).message.contains(keys::DIGEST));
    assert!(read(|object| object.metadata.name = Some("other".to_owned())).message.contains("\"other\""));
    let missing = read_recipe(&wanted, RecipeKind::Resolved, None).unwrap_err();
    assert_eq!(missing.reason.as_str(), "NotFound");
    assert_eq!(missing.message, format!("recipe {} is missing", wanted.config_map));
}

#[test]
fn a_recipe_over_one_mebibyte_is_refused_with_its_size() {
    let refused =
        write_recipe(&small().plan, NAMESPACE, RecipeKind::Resolved, &"x".repeat(MAX_PLAN_BYTES + 1))
            .unwrap_err();
    assert_eq!(refused.reason.as_str(), "ContentTooLarge");
    assert!(refused.message.contains("1048577"), "{refused}");
}

#[test]
fn values_read_back_in_normal_form() {
    let planned = small();
    for release in &planned.plan.releases {
        let values = &planned.values[&release.id];
        let object = write_values(&planned.plan, NAMESPACE, &release.id, values);
        assert_eq!(object.metadata.name.as_ref(), Some(&release.values.config_map));
        let parameters = object.data.as_ref().unwrap().contains_key(PARAMETERS_KEY);
        assert_eq!(parameters, !values.parameters().is_empty());
        assert_eq!(&read_values(&release.values, Some(&object)).unwrap(), values);
    }
    let operator = planned.plan.release("gpu-operator").unwrap();
    let object = write_values(&planned.plan, NAMESPACE, "gpu-operator", &planned.values["gpu-operator"]);
    assert_eq!(
        object.data.as_ref().unwrap()[PARAMETERS_KEY],
        r#"[{"name":"controller.affinity.nodeAffinity","value":"null"},{"name":"nodeSelector.kubernetes\\.io/os","value":"null"}]"#
    );
    let edits: [fn(&mut ConfigMap); 5] = [
        |object| drop(object.data.as_mut().unwrap().insert(VALUES_KEY.to_owned(), "{}".to_owned())),
        |object| drop(object.data.as_mut().unwrap().insert(VALUES_KEY.to_owned(), "{\"a\":null}".to_owned())),
        |object| drop(object.data.as_mut().unwrap().remove(VALUES_KEY)),
        |object| drop(object.data.as_mut().unwrap().remove(PARAMETERS_KEY)),
        |object| drop(object.data.as_mut().unwrap().insert(PARAMETERS_KEY.to_owned(), "{}".to_owned())),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        let mut object = object.clone();
        edit(&mut object);
        let refused = read_values(&operator.values, Some(&object)).unwrap_err();
        assert_eq!(refused.reason.as_str(), "PlanUnreadable", "edit {index}");
    }
    assert_eq!(read_values(&operator.values, None).unwrap_err().reason.as_str(), "NotFound");
}
