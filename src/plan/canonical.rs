//! Canonical JSON: one text for one value. Every digest is taken over it, and stored documents are written in it.
//!
//! Source: design section 2. Keys are sorted by their UTF-8 bytes, nothing separates tokens, strings use the shortest
//! escape that JSON allows, numbers are printed in normal form ([`super::numbers`]). Unlike RFC 8785, which sorts by
//! UTF-16 units. The order in which `serde_json::Map` keeps its keys does not matter.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};

use super::numbers;

/// The canonical text of a value.
pub fn to_string(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// The canonical text of anything that serializes to JSON.
///
/// # Errors
///
/// When it does not, as a map whose keys are no strings.
pub fn from_serialize(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_value(value).map(|value| to_string(&value))
}

/// A map's entries sorted by the UTF-8 bytes of their keys.
pub(super) fn sorted(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| key.as_bytes());
    entries
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&numbers::text(number)),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (index, (key, member)) in sorted(map).into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_value(member, out);
            }
            out.push('}');
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixtures::any_json;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_by_their_utf8_bytes() {
        // U+FF5E sorts before U+10000 in UTF-8; UTF-16 would turn them round.
        let value = json!({"\u{10000}": 1, "\u{ff5e}": 2, "é": 3, "z": 4, "Z": 5, "": 6});
        assert_eq!(to_string(&value), "{\"\":6,\"Z\":5,\"z\":4,\"é\":3,\"\u{ff5e}\":2,\"\u{10000}\":1}");
    }

    #[test]
    fn strings_use_the_shortest_escape() {
        let value = json!("\"\\/\u{8}\t\n\u{c}\r\u{0}\u{1f}\u{7f}<&>\u{2028}é😀");
        assert_eq!(to_string(&value), "\"\\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\u{7f}<&>\u{2028}é😀\"");
    }

    #[test]
    fn nothing_separates_the_tokens() {
        let value = json!({"b": [1, true, null, {}], "a": {"c": "x"}});
        assert_eq!(to_string(&value), r#"{"a":{"c":"x"},"b":[1,true,null,{}]}"#);
    }

    /// The same value with the members of every map in another order.
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                Value::Object(map.iter().rev().map(|(k, v)| (k.clone(), reversed(v))).collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(reversed).collect()),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn order_of_keys_and_white_space_do_not_change_the_text(value in any_json()) {
            let canonical = to_string(&value);
            prop_assert_eq!(&to_string(&reversed(&value)), &canonical);
            let pretty: Value = serde_json::from_str(&serde_json::to_string_pretty(&value).unwrap()).unwrap();
            prop_assert_eq!(&to_string(&pretty), &canonical);
        }

        #[test]
        fn canonical_json_is_json_and_canonical_again(value in any_json()) {
            let canonical = to_string(&value);
            let again: Value = serde_json::from_str(&canonical).unwrap();
            prop_assert_eq!(to_string(&again), canonical);
        }
    }
}
