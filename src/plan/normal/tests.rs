use super::*;
use crate::api::application::Parameter;
use crate::plan::fixtures::{any_json, any_tree};
use crate::plan::values::MAX_VALUES_BYTES;
use proptest::prelude::*;
use serde_json::json;

fn chart(values: Value) -> Defaults {
    Defaults::of(values)
}

fn names(values: &Values) -> Vec<String> {
    values.parameters().into_iter().map(|parameter| parameter.name).collect()
}

#[test]
fn the_second_file_wins_and_its_nulls_stay() {
    let table = [
        (json!({"a": 1, "b": 2}), json!({"b": 3}), json!({"a": 1, "b": 3})),
        (json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": null}}), json!({"a": {"b": null, "c": 2}})),
        (json!({"a": {"b": 1}}), json!({"a": null}), json!({"a": null})),
        (json!({"a": null}), json!({"a": {"b": 1}}), json!({"a": {"b": 1}})),
        (json!({"a": [1, 2]}), json!({"a": [3]}), json!({"a": [3]})),
        (json!({"a": 1}), json!({"a": {"b": 1}}), json!({"a": {"b": 1}})),
        (json!({"a": 1}), json!(null), json!({"a": 1})),
        (json!(null), json!({"a": 1}), json!({"a": 1})),
        (json!(null), json!(null), json!({})),
    ];
    for (base, over, merged) in table {
        assert_eq!(merge(&base, &over), Ok(merged), "{base} and {over}");
    }
}

#[test]
fn a_values_file_that_is_no_map_is_refused() {
    for file in [json!([]), json!("text"), json!(1), json!(false)] {
        assert!(matches!(merge(&file, &json!({})), Err(ValuesError::NotAMap(_))), "{file}");
        assert!(matches!(merge(&json!({}), &file), Err(ValuesError::NotAMap(_))), "{file}");
        assert!(
            matches!(normalize("r", &file, &Defaults::unknown()), Err(ValuesError::NotAMap(_))),
            "{file}"
        );
    }
}

#[test]
fn a_null_that_deletes_nothing_is_dropped_and_one_that_deletes_becomes_a_parameter() {
    let subchart = |names: &[&str], defaults| Subchart {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        defaults,
    };
    let parent = Defaults {
        values: json!({"own": {"here": 1}, "child": {"fromParent": 1}, "nothing": null, "scalar": 5, "list": [{"x": 1}]}),
        subcharts: vec![
            subchart(
                &["child", "alias"],
                Defaults {
                    values: json!({"inChild": {"deep": 1}, "global": {"inChild": 1}}),
                    subcharts: vec![subchart(
                        &["grandchild"],
                        chart(json!({"x": 1, "global": {"deepest": 1}})),
                    )],
                    complete: true,
                },
            ),
            subchart(&["opaque"], Defaults::unknown()),
        ],
        complete: true,
    };
    let closed =
        Defaults { subcharts: parent.subcharts[..1].to_vec(), values: parent.values.clone(), complete: true };
    let table: [(&[&str], bool); 22] = [
        (&["own"], true),
        (&["own", "here"], true),
        (&["own", "there"], false),
        (&["own", "here", "below"], false),
        (&["nothing"], true),
        (&["nothing", "below"], false),
        (&["scalar", "below"], false),
        (&["list", "x"], false),
        (&["absent"], false),
        (&["child"], true),
        (&["alias"], true),
        (&["child", "fromParent"], true),
        (&["child", "inChild", "deep"], true),
        (&["alias", "inChild", "deep"], true),
        (&["alias", "fromParent"], false),
        (&["child", "grandchild", "x"], true),
        (&["alias", "grandchild", "y"], false),
        (&["grandchild", "x"], false),
        (&["global", "inChild"], true),
        (&["global", "deepest"], true),
        (&["global", "other"], false),
        (&["child", "global", "deepest"], true),
    ];
    for (path, effective) in table {
        let tree = path.iter().rev().fold(Value::Null, |below, key| json!({*key: below}));
        let normalized = normalize("r", &tree, &closed).unwrap();
        let expected: Vec<_> = effective.then(|| path.join(".")).into_iter().collect();
        assert_eq!(names(&normalized.values), expected, "{path:?}");
        assert!(normalized.warnings.is_empty());
    }
    // What is not known is not certainly absent.
    for path in ["opaque.any", "global.other"] {
        let (first, second) = path.split_once('.').unwrap();
        let tree = json!({first: {second: null}});
        assert_eq!(names(&normalize("r", &tree, &parent).unwrap().values), [path]);
    }
    let any = normalize("r", &json!({"any": null}), &Defaults::unknown()).unwrap();
    assert_eq!(names(&any.values), ["any"]);
}

#[test]
fn what_is_left_of_the_values_keeps_its_empty_maps() {
    let defaults = chart(json!({"controller": {"affinity": {"nodeAffinity": {}}}}));
    let tree = json!({"controller": {"affinity": {"nodeAffinity": null}}, "storageSpec": {"emptyDir": null}, "a": {}});
    let values = normalize("r", &tree, &defaults).unwrap().values;
    let left = json!({"controller": {"affinity": {}}, "storageSpec": {}, "a": {}});
    assert_eq!(Value::Object(values.object().clone()), left);
    let parameter = Parameter {
        name: "controller.affinity.nodeAffinity".into(),
        value: "null".into(),
        force_string: false,
    };
    assert_eq!(values.parameters(), [parameter]);
}

#[test]
fn a_null_in_a_map_inside_a_list_is_dropped_with_a_warning_and_an_element_stays() {
    let tree = json!({"x.y": [{"name": "A", "value": null}, null, [{"deep": {"n": null}}]]});
    let normalized = normalize("nfd", &tree, &Defaults::unknown()).unwrap();
    let left = json!({"x.y": [{"name": "A"}, null, [{"deep": {}}]]});
    assert_eq!(Value::Object(normalized.values.object().clone()), left);
    assert_eq!(
        normalized.warnings,
        [
            r"release nfd: the null at x\.y[0].value is dropped: inside a list it deletes nothing",
            r"release nfd: the null at x\.y[2][0].deep.n is dropped: inside a list it deletes nothing",
        ]
    );
}

#[test]
fn parameters_are_escaped_and_sorted() {
    let tree = json!({"b": null, "a": {"kubernetes.io/os": null, "z": null}});
    let values = normalize("r", &tree, &Defaults::unknown()).unwrap().values;
    assert_eq!(names(&values), [r"a.kubernetes\.io/os", "a.z", "b"]);
}

#[test]
fn numbers_are_the_doubles_that_helm_reads() {
    let text = r#"{"a": 1.0, "b": -0.0, "c": 9007199254740993, "d": 18446744073709551615, "e": [1e3]}"#;
    let values = normalize("r", &serde_json::from_str(text).unwrap(), &chart(json!({}))).unwrap().values;
    let (stored, parameters) = values.texts();
    assert_eq!(stored, r#"{"a":1,"b":0,"c":9007199254740992,"d":18446744073709552000,"e":[1000]}"#);
    assert_eq!(parameters, None);
    // As an API server and Argo CD may hand them back.
    let back =
        serde_json::from_str(r#"{"a":1,"b":0,"c":9007199254740992,"d":1.8446744073709552e19,"e":[1e3]}"#);
    assert_eq!(Values::from_parts(&back.unwrap(), &[]), Ok(values));
}

#[test]
fn a_nul_character_is_named_by_its_path() {
    let table = [
        (json!({"a": {"b": "x\u{0}"}}), "a.b holds a NUL character: remove it"),
        (json!({"a": ["\u{0}"]}), "a[0] holds a NUL character: remove it"),
        (json!({"a": {"\u{0}": 1}}), "a key below a holds a NUL character: remove it"),
        (json!({"\u{0}": null}), "a key below the top holds a NUL character: remove it"),
    ];
    for (tree, message) in table {
        let error = normalize("r", &tree, &Defaults::unknown()).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.reason().as_str(), "InvalidOverride");
    }
}

#[test]
fn an_effective_null_that_set_cannot_reach_is_refused() {
    let error = normalize("r", &json!({"a": {"": null}}), &Defaults::unknown()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a. is null to delete a default of the chart, but helm --set does not reach it: it has an empty key"
    );
    // Where it deletes nothing it need not be reached.
    assert!(normalize("r", &json!({"a": {"": null}}), &chart(json!({}))).is_ok());
}

#[test]
fn values_are_bounded_with_their_parameters() {
    let tree = |size: usize| json!({"a": "é".repeat(size / 2)});
    let overhead = r#"{"a":""}"#.len();
    assert!(normalize("r", &tree(MAX_VALUES_BYTES - overhead), &chart(json!({}))).is_ok());
    let error = normalize("r", &tree(MAX_VALUES_BYTES - overhead + 2), &chart(json!({}))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the values take 131074 bytes as canonical JSON: at most 131072 are allowed"
    );
    assert_eq!(error.reason().as_str(), "ContentTooLarge");
    let mut with_null = tree(MAX_VALUES_BYTES - overhead);
    with_null["b"] = Value::Null;
    assert!(matches!(normalize("r", &with_null, &Defaults::unknown()), Err(ValuesError::TooLarge { .. })));
}

#[test]
fn stored_values_out_of_normal_form_are_refused() {
    let parameter = |name: &str, value: &str, force_string| Parameter {
        name: name.to_owned(),
        value: value.to_owned(),
        force_string,
    };
    let table = [
        (json!({"a": {"b": null}}), vec![], "a.b is null"),
        (json!({"a": [{"b": null}]}), vec![], "a[0].b is null"),
        (json!([]), vec![], "the values are a list"),
        (json!({}), vec![parameter("a", "1", false)], r#"parameter "a=1""#),
        (json!({}), vec![parameter("a", "null", true)], r#"parameter "a=null""#),
        (json!({}), vec![parameter("a[0]", "null", false)], r#"parameter "a[0]=null""#),
        (
            json!({}),
            vec![parameter("a", "null", false), parameter("a", "null", false)],
            r#"parameter "a=null""#,
        ),
        (json!({"a": 1}), vec![parameter("a", "null", false)], r#"parameter "a=null""#),
        (json!({"a": 1}), vec![parameter("a.b", "null", false)], r#"parameter "a.b=null""#),
    ];
    for (object, parameters, message) in table {
        let error = Values::from_parts(&object, &parameters).unwrap_err().to_string();
        assert!(error.starts_with(message), "{object}: {error}");
    }
    assert_eq!(Values::from_parts(&Value::Null, &[]), Ok(Values::default()));
}

#[test]
fn digests_tell_values_and_parameters_apart() {
    let digest = |tree: Value, defaults: &Defaults| normalize("r", &tree, defaults).unwrap().values.digest();
    let unknown = Defaults::unknown();
    let bare = digest(json!({"a": {}}), &unknown);
    assert_ne!(digest(json!({"a": {"b": null}}), &unknown), bare);
    assert_ne!(digest(json!({}), &unknown), bare);
    assert_eq!(digest(json!({"a": {"b": null}}), &chart(json!({}))), bare);
    assert_eq!(digest(json!(null), &unknown), Values::default().digest());
}

fn holds_null_member(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().any(|member| member.is_null() || holds_null_member(member)),
        Value::Array(items) => items.iter().any(holds_null_member),
        _ => false,
    }
}

/// The nulls of a map inside a list removed: what the values with their nulls come back to.
fn without_nulls_in_lists(value: &Value, in_list: bool) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(_, member)| !(in_list && member.is_null()))
            .map(|(key, member)| (key.clone(), without_nulls_in_lists(member, in_list)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(|item| without_nulls_in_lists(item, true)).collect(),
        Value::Number(number) => crate::plan::numbers::normal(number).unwrap().into(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn normal_form_holds_no_null_in_a_map_and_loses_none(tree in any_tree()) {
        let values = normalize("r", &tree, &Defaults::unknown()).unwrap().values;
        prop_assert!(!holds_null_member(&Value::Object(values.object().clone())));
        prop_assert_eq!(values.with_nulls(), without_nulls_in_lists(&tree, false));
    }

    #[test]
    fn stored_values_read_back_as_they_were(tree in any_tree()) {
        let values = normalize("r", &tree, &Defaults::unknown()).unwrap().values;
        let (text, parameters) = values.texts();
        let parameters: Vec<Parameter> = parameters.map_or_else(Vec::new, |text| serde_json::from_str(&text).unwrap());
        let read = Values::from_parts(&serde_json::from_str(&text).unwrap(), &parameters).unwrap();
        prop_assert_eq!(read.digest(), values.digest());
        prop_assert_eq!(read, values);
    }

    #[test]
    fn any_document_has_a_normal_form_or_an_error(base in any_json(), over in any_json()) {
        if let Ok(merged) = merge(&base, &over) {
            prop_assert!(normalize("r", &merged, &Defaults::unknown()).is_ok());
        }
    }
}
