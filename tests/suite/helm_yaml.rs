//! Values files, judged by the real Helm: what the reader makes of them is what `helm template` gives the chart.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]
use std::path::Path;
use std::process::{Command, Output};

use kubectl_aicr::plan::canonical;
use kubectl_aicr::plan::normal::{Defaults, normalize};
use kubectl_aicr::resolver::helm_yaml;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

fn write_chart(folder: &Path) {
    std::fs::create_dir_all(folder.join("templates")).unwrap();
    std::fs::write(folder.join("Chart.yaml"), "apiVersion: v2\nname: chart\nversion: 1.0.0\n").unwrap();
    std::fs::write(folder.join("templates/values.yaml"), "values: {{ .Values | toJson }}\n").unwrap();
}

fn template(chart: &Path, text: &str) -> Output {
    let file = chart.with_extension("values");
    std::fs::write(&file, text).unwrap();
    let mut helm = Command::new(test_support::tools::path("helm").unwrap());
    helm.args(["template", "release"]).arg(chart).arg("--values").arg(&file).output().unwrap()
}

/// Asserts that Helm makes of a file what the reader makes of it, numbers as doubles.
fn assert_same(chart: &Path, text: &str) {
    let output = template(chart, text);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let line = stdout.lines().find_map(|line| line.strip_prefix("values: "));
    let line = line.unwrap_or_else(|| panic!("{text}: {}", String::from_utf8_lossy(&output.stderr)));
    let read = helm_yaml::read("values.yaml", text).unwrap();
    // Helm drops nulls when it has no default to delete.
    let normal = |value: &Value| {
        let values = normalize("release", value, &Defaults::of(json!({}))).unwrap().values;
        canonical::to_string(&Value::Object(values.object().clone()))
    };
    assert_eq!(normal(&read), normal(&serde_json::from_str(line).unwrap()), "{text}");
}

#[test]
fn scalars_mean_what_they_mean_to_helm() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart");
    write_chart(&chart);
    let fixed = [
        "yes",
        "No",
        "oN",
        "ON",
        "y",
        "N",
        "~",
        "null",
        "Null",
        "nUll",
        "true",
        "TRUE",
        "tRue",
        "012",
        "-012",
        "09",
        "08.5",
        "0o17",
        "0O17",
        "0o8",
        "0x1F",
        "+0x1f",
        "0x",
        "0b101",
        "-0b101",
        "0b+1",
        "0b-1",
        "0b12",
        "1_000",
        "1_000.5",
        "0_",
        "-_1",
        ".5",
        ".5_0",
        "._5",
        ".5_",
        ".e5",
        "1.",
        "1.e3",
        "1e3",
        "1E+3",
        "1.5e-7",
        "1e400",
        "-1e400",
        "1.2.3",
        "1:30",
        "2026-11-30",
        "2026-11-30T01:02:03Z",
        "18446744073709551615",
        "18446744073709551616",
        "+9223372036854775808",
        "-9223372036854775808",
        "9223372036854775807",
        "'yes'",
        "\"012\"",
        "!!str 012",
        "!!int '3'",
        "!!float 3",
        "!!bool 'yes'",
        "!!binary aGk=",
        "!own 012",
        "! '5'",
        "! 5",
        "!!str",
        "<<",
        "=",
        "a#b",
        "|\n  on\n",
        ">-\n  1\n  2\n",
    ];
    let lines: Vec<String> =
        fixed.iter().enumerate().map(|(at, scalar)| format!("k{at}: {scalar}\n")).collect();
    assert_same(&chart, &lines.concat());
}

#[test]
fn any_scalar_near_a_number_means_what_it_means_to_helm() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart");
    write_chart(&chart);
    let mut runner = TestRunner::deterministic();
    let scalar = "[+.0-9-]?[0-9a-fobxeEnyYN._+-]{1,7}";
    let mut text = String::new();
    for at in 0..2000 {
        let value = scalar.new_tree(&mut runner).unwrap().current();
        // JSON has no word for the first two, and the last begins a list: both readers refuse them.
        if value != "-" && !value.to_lowercase().contains("inf") && !value.to_lowercase().contains("nan") {
            text.extend([format!("k{at}: {value}\n")]);
        }
    }
    assert_same(&chart, &text);
}

#[test]
fn documents_are_put_together_as_helm_does_it() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart");
    write_chart(&chart);
    for text in [
        "",
        "# nothing\n",
        "---\n...\n",
        "a: 1\n---\na: 2\n",
        "a: 1\na: 2\n",
        "n: 1\n2: b\nyes: c\n-0x10: d\n",
        "a: &x [1, {b: on}]\nb: *x\n",
        "a: &x 1\n*x : 2\n",
        "a: &x 1\nb: &x 2\nc: *x\n",
        "base: &b {x: 1, z: 2}\nc:\n  <<: *b\n  x: 3\n",
        "base: &b {x: 1}\nc:\n  x: 3\n  <<: *b\n",
        "a: &a {x: 1}\nb: &b {x: 2, z: 2}\nc:\n  <<: [*a, *b, {w: 1}]\n",
        "c:\n  '<<': 1\n",
        "a: &a {x: {p: 1}}\nb:\n  <<: *a\n  x: {q: 2}\n",
        "a: !!set {x, z}\nb: !!map {c: 1}\nc: !!seq [1]\n",
        "{a: [], b: {}, c: [yes, 'yes', ~]}",
        "\u{feff}a: 1\n",
        "a: \"\\u00e9\\n\"\nb: |+\n  x\n\n",
        "%YAML 1.1\n---\na: yes\n",
    ] {
        assert_same(&chart, text);
    }
}

#[test]
fn what_the_reader_refuses_helm_refuses_too_but_for_what_it_takes_by_chance() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart");
    write_chart(&chart);
    for (text, helm_takes_it) in [
        ("a: [\n", false),
        ("a: *x\n", false),
        ("x: &a {b: *a}\n", false),
        ("a: .inf\n", false),
        ("a: !!int 3.0\n", false),
        ("a: !!binary '*'\n", false),
        ("~: 1\n", false),
        ("18446744073709551615: 1\n", false),
        ("[a]: 1\n", false),
        ("c:\n  <<: 1\n", false),
        ("true: 1\n\"true\": 2\n", true),
        // Go's own text for a key that is a float, and a type that becomes a text again.
        ("1.5: 1\n", true),
        ("a: !!timestamp 2026-11-30\n", true),
    ] {
        assert!(helm_yaml::read("values.yaml", text).is_err(), "{text}");
        assert_eq!(template(&chart, text).status.success(), helm_takes_it, "{text}");
    }
}
