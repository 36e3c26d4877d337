//! The vectors here were taken from Helm 3.22; the suite asks the pinned Helm again.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::read;

fn value(text: &str) -> Value {
    read("values.yaml", text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_plain_scalar_means_what_it_means_to_helm() {
    for (text, expected) in [
        ("yes", json!(true)),
        ("On", json!(true)),
        ("n", json!(false)),
        ("OFF", json!(false)),
        ("yES", json!("yES")),
        ("~", json!(null)),
        ("Null", json!(null)),
        ("nUll", json!("nUll")),
        ("012", json!(10)),
        ("09", json!(9.0)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("+0x1F", json!(31)),
        ("0b101", json!(5)),
        ("-0b101", json!(-5)),
        ("0b+1", json!(1)),
        ("0b12", json!("0b12")),
        ("1_000", json!(1000)),
        ("0_", json!(0)),
        ("-", json!([null])),
        ("1:30", json!("1:30")),
        ("2026-11-30", json!("2026-11-30")),
        ("1.", json!(1.0)),
        (".5", json!(0.5)),
        ("1e3", json!(1000.0)),
        ("1e400", json!("1e400")),
        ("1.2.3", json!("1.2.3")),
        ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
        ("+9223372036854775808", json!(9_223_372_036_854_775_808.0)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("--1", json!("--1")),
        ("+-1", json!("+-1")),
        ("0x-1", json!("0x-1")),
        (".inf.", json!(".inf.")),
        ("inf", json!("inf")),
        ("'yes'", json!("yes")),
        ("\"012\"", json!("012")),
        ("!!str 012", json!("012")),
        ("!!int '3'", json!(3)),
        ("!!float 3", json!(3.0)),
        ("!!bool 'yes'", json!(true)),
        ("!!binary aGk=", json!("hi")),
        ("!own 012", json!("012")),
        ("! '5'", json!("5")),
        ("! 5", json!("5")),
        (".5_0", json!(0.5)),
        ("._5", json!("._5")),
        (".5_", json!(".5_")),
        ("-_1", json!(-1)),
        ("1_000.5", json!(1000.5)),
        ("0x", json!("0x")),
        ("0o8", json!("0o8")),
        ("!!str", json!("")),
        ("<<", json!("<<")),
        ("|\n  yes\n", json!("yes\n")),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn a_document_is_put_together_as_helm_does_it() {
    for (text, expected) in [
        ("", json!(null)),
        ("# only a comment\n", json!(null)),
        ("---\n...\n", json!(null)),
        ("a: 1\n---\na: 2\n", json!({"a": 1})),
        ("a: 1\na: 2\n", json!({"a": 2})),
        ("n: 1\n2: b\nyes: c\n", json!({"false": 1, "2": "b", "true": "c"})),
        ("a: &x [1, 2]\nb: *x\n", json!({"a": [1, 2], "b": [1, 2]})),
        ("a: &x 1\nb: &x 2\nc: *x\n", json!({"a": 1, "b": 2, "c": 2})),
        (
            "base: &b {x: 1, z: 2}\nc:\n  <<: *b\n  x: 3\n",
            json!({"base": {"x": 1, "z": 2}, "c": {"x": 3, "z": 2}}),
        ),
        // A merge key takes effect where it stands.
        ("base: &b {x: 1}\nc:\n  x: 3\n  <<: *b\n", json!({"base": {"x": 1}, "c": {"x": 1}})),
        (
            "a: &a {x: 1}\nb: &b {x: 2, z: 2}\nc:\n  <<: [*a, *b]\n",
            json!({"a": {"x": 1}, "b": {"x": 2, "z": 2}, "c": {"x": 1, "z": 2}}),
        ),
        ("c:\n  '<<': 1\n", json!({"c": {"<<": 1}})),
        ("{a: [], b: {}, c: }", json!({"a": [], "b": {}, "c": null})),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn what_helm_cannot_read_or_reads_by_chance_is_refused_with_its_line() {
    for (text, message) in [
        ("a: 1\nb: [\n", "line 3: is no YAML: "),
        ("a: *x\n", "line 1: alias *x has no anchor before it"),
        ("a: 1\nb: &b\n  c: *b\n", "line 2: holds an alias of itself"),
        ("a: .inf\n", "line 1: JSON has no infinite number and no NaN"),
        ("a: !!int x\n", "line 1: \"x\" is no !!int"),
        ("a: !!binary '*'\n", "line 1: \"*\" is no !!binary"),
        ("~: 1\n", "line 1: null cannot be a key"),
        ("1.5: 1\n", "line 1: a number with a fraction or exponent cannot be a key"),
        ("[a]: 1\n", "line 1: a key is a map or a list"),
        ("a:\n  <<: 1\n", "line 2: a merge key takes a map, or a list of maps"),
        (
            "true: 1\n\"true\": 2\n",
            "line 1: key \"true\" stands here in two spellings, of which Helm takes either",
        ),
    ] {
        let error = read("001-a/values.yaml", text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("001-a/values.yaml: {message}")), "{text}: {error}");
    }
}

#[test]
fn aliases_of_aliases_and_deep_nesting_are_bounded() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.extend([format!("a{level}: &a{level} [{below}]\n")]);
    }
    let error = read("v", &bomb).unwrap_err().to_string();
    assert!(error.ends_with("more than 200000 values, aliases followed"), "{error}");
    let deep = read("v", &"[".repeat(5000)).unwrap_err().to_string();
    assert_eq!(deep, "v: line 1: more than 100 levels");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "[-?:,\\[\\]{}#&*!|>'\"%@` \n\tab01.~<é]{0,60}") {
        let _ = read("v", &text);
    }

    #[test]
    fn json_is_read_as_json(tree in crate::plan::fixtures::any_tree()) {
        // JSON allows some control characters that YAML does not.
        let text = tree.to_string();
        if let Ok(read) = read("v", &text) {
            let spelled = |value: &Value| value.to_string().replace(".0", "");
            prop_assert_eq!(spelled(&read), spelled(&tree));
        }
    }
}
