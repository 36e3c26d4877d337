//! The normal form of values, judged by the real Helm: what it renders from normal form and parameters is what it renders
//! from the bundle's files.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]
use std::path::Path;
use std::process::Command;

use kubectl_aicr::plan::canonical;
use kubectl_aicr::plan::normal::{Defaults, Subchart, normalize};
use kubectl_aicr::plan::values::Values;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::fixtures::{HARD_NUMBERS, any_tree};

fn write_chart(folder: &Path, name: &str, values: &Value) {
    std::fs::create_dir_all(folder.join("templates")).unwrap();
    std::fs::write(folder.join("Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n"))
        .unwrap();
    std::fs::write(folder.join("values.yaml"), values.to_string()).unwrap();
    let template = format!("{name}: {{{{ .Values | toJson }}}}\n");
    std::fs::write(folder.join("templates/values.yaml"), template).unwrap();
}

/// The values that Helm gives the chart named `name`, without nulls in maps: an absent member and a null one render alike.
fn rendered(chart: &Path, name: &str, values: &Value, parameters: &[String]) -> Value {
    let file = chart.with_extension("values");
    std::fs::write(&file, values.to_string()).unwrap();
    let mut helm = Command::new(test_support::tools::path("helm").unwrap());
    helm.args(["template", "release"]).arg(chart).arg("--values").arg(&file);
    for parameter in parameters {
        helm.arg("--set").arg(parameter);
    }
    let output = helm.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{values} {parameters:?}: {}", String::from_utf8_lossy(&output.stderr));
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap();
    without_nulls(&serde_json::from_str(line).unwrap())
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(_, member)| !member.is_null())
                .map(|(key, member)| (key.clone(), without_nulls(member)))
                .collect(),
        ),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        scalar => scalar.clone(),
    }
}

/// Asserts that Helm gives the chart the same from the tree as from its normal form.
fn assert_same(chart: &Path, name: &str, tree: &Value, defaults: &Defaults) -> Values {
    let values = normalize("release", tree, defaults).unwrap().values;
    let parameters: Vec<_> = values
        .parameters()
        .iter()
        .map(|parameter| format!("{}={}", parameter.name, parameter.value))
        .collect();
    let from_files = rendered(chart, name, tree, &[]);
    let from_normal = rendered(chart, name, &Value::Object(values.object().clone()), &parameters);
    assert_eq!(
        canonical::to_string(&from_normal),
        canonical::to_string(&from_files),
        "{tree} as {:?} with {parameters:?}",
        values.object()
    );
    values
}

#[test]
fn helm_deletes_what_parameters_name_whatever_the_keys_hold() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart");
    let keys =
        ["kubernetes.io/os", "a[0]", "b=c", "d,e", "f\\g", "{h}", " i ", "é😀", "null", "1", "true", "~"];
    let defaults: Value =
        keys.iter().map(|key| ((*key).to_owned(), json!(1))).collect::<serde_json::Map<_, _>>().into();
    let defaults = json!({"outer": defaults});
    write_chart(&chart, "parent", &defaults);
    let known = Defaults::of(defaults);
    for key in keys {
        let values = assert_same(&chart, "parent", &json!({"outer": {key: null}}), &known);
        assert_eq!(values.parameters().len(), 1, "{key}");
    }
}

#[test]
fn helm_deletes_defaults_of_subcharts_too() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart");
    let child = json!({"x": {"y": 1, "z": 2}, "global": {"g": 1, "h": 2}});
    write_chart(&chart, "parent", &json!({"child": {"w": 1}}));
    write_chart(&chart.join("charts/child"), "child", &child);
    let defaults = Defaults {
        values: json!({"child": {"w": 1}}),
        subcharts: vec![Subchart { names: vec!["child".to_owned()], defaults: Defaults::of(child) }],
        complete: true,
    };
    for (tree, parameters) in [
        (json!({"child": {"x": {"y": null}}}), 1),
        (json!({"child": {"x": null}}), 1),
        (json!({"child": {"w": null, "none": null}}), 1),
        (json!({"global": {"g": null, "none": null}}), 1),
        (json!({"child": {"global": {"h": null}}}), 1),
        (json!({"x": {"y": null}}), 0),
    ] {
        for name in ["parent", "child"] {
            let values = assert_same(&chart, name, &tree, &defaults);
            assert_eq!(values.parameters().len(), parameters, "{tree}");
        }
    }
}

#[test]
fn helm_reads_every_number_as_normal_form_does() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart");
    write_chart(&chart, "parent", &json!({}));
    let tree: Value = serde_json::from_str(HARD_NUMBERS).unwrap();
    let values = assert_same(&chart, "parent", &tree, &Defaults::of(json!({})));
    let given = rendered(&chart, "parent", &tree, &[]);
    assert_eq!(canonical::to_string(&given), canonical::to_string(&Value::Object(values.object().clone())));
}

#[test]
fn helm_renders_any_values_as_it_renders_their_normal_form() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart");
    let mut runner = TestRunner::deterministic();
    let mut deleting = 0;
    for _ in 0..48 {
        let mut any = || any_tree().new_tree(&mut runner).unwrap().current();
        let (defaults, mut tree) = (any(), any());
        // Also nulls that surely meet a default.
        if let Some(key) = defaults.as_object().and_then(|map| map.keys().next()) {
            tree[key] = Value::Null;
        }
        write_chart(&chart, "parent", &defaults);
        let values = assert_same(&chart, "parent", &tree, &Defaults::of(defaults));
        deleting += usize::from(!values.parameters().is_empty());
    }
    assert!(deleting > 12, "only {deleting} cases deleted a default");
}
