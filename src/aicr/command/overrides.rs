//! Overrides as flags, each with its JSON type.
//!
//! `--set` types its value itself: `true`, `8080` and `1e3` do not stay strings. So it takes booleans, integers and strings
//! that cannot be read as anything else; every other value goes as `--set-json`. There is no `--set-file`: the flags are
//! recorded in the plan and must render the same bundle elsewhere, and a value that is too long for an argument is too long
//! for Argo CD as well.

use serde_json::Value;

use super::{CommandError, MAX_ARGUMENT, refuse};
use crate::aicr::reason::Reason;
use crate::api::Override;

/// The flags, sorted by component and path: the list's order has no meaning.
pub(super) fn flags(overrides: &[Override]) -> Result<Vec<String>, CommandError> {
    let mut sorted: Vec<&Override> = overrides.iter().collect();
    sorted.sort_by(|one, other| (&one.component, &one.path).cmp(&(&other.component, &other.path)));
    let mut flags = Vec::with_capacity(2 * sorted.len());
    for entry in sorted {
        let named = |problem: &str| format!("override {}:{} {problem}", entry.component, entry.path);
        check_target(entry).map_err(|problem| refuse(Reason::InvalidOverride, named(problem)))?;
        let (flag, value) = match plain(&entry.value) {
            Some(value) => ("--set", value),
            None => ("--set-json", json(&entry.value)),
        };
        let argument = format!("{}:{}={value}", entry.component, entry.path);
        if argument.len() >= MAX_ARGUMENT {
            let problem = format!("takes {} bytes: less than {MAX_ARGUMENT} are allowed", argument.len());
            return Err(refuse(Reason::ContentTooLarge, named(&problem)));
        }
        flags.extend([flag.to_owned(), argument]);
    }
    Ok(flags)
}

/// `component:path=value` is split at the first `:` and the first `=` after it, and nothing escapes them.
fn check_target(entry: &Override) -> Result<(), &'static str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let starts = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if !starts(&entry.component) || !entry.component.chars().all(plain) {
        return Err("names no component: expected lower-case letters, digits and '-'");
    }
    if entry.path.split('.').any(str::is_empty) {
        return Err("has a path with an empty part: expected keys joined by '.'");
    }
    if entry.path.chars().any(|c| "=[]\\".contains(c) || c.is_whitespace() || c.is_control()) {
        return Err(
            "has a path that AICR's flags cannot carry ('=', '[', ']', '\\' or white space): set the whole object that holds it",
        );
    }
    Ok(())
}

/// The value as `--set` takes it, if it keeps its type there.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => number.as_i64().map(|integer| integer.to_string()),
        Value::String(text) => is_word(text).then(|| text.clone()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether nobody can take the text for anything but a string: it begins with a letter, holds no odd character, and is no
/// word for a boolean, a number or nothing.
fn is_word(text: &str) -> bool {
    const TYPED: [&str; 11] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"];
    let lower = text.to_ascii_lowercase();
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@".contains(c))
        && !TYPED.contains(&lower.as_str())
        && lower != "infinity"
}

/// JSON whose keys are sorted, whatever the map's own order.
fn json(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            let spelled =
                |(key, member): (&String, &Value)| format!("{}:{}", Value::from(key.as_str()), json(member));
            format!("{{{}}}", sorted.into_iter().map(spelled).collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}
