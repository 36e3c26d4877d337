//! `aicr upgrade-check`: what changes between two recipes, and what the records say of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::failure::{Code, Failure, Outcome, invalid};
use crate::flags::Flags;
use crate::recipe::accept;
use crate::setup::Setup;

/// What a record says of a change.
struct Record {
    verdict: &'static str,
    reason: &'static str,
    summary: &'static str,
    precondition: &'static str,
    steps: &'static [(&'static str, &'static str)],
}

const SAFE: Record =
    Record { verdict: "safe", reason: "recorded", summary: "", precondition: "", steps: &[] };
const UNKNOWN: Record =
    Record { verdict: "unknown", reason: "no-record", summary: "", precondition: "", steps: &[] };

/// The records of the newer release, by component and target version.
fn record(component: &str, to: &str) -> Record {
    match (component, to) {
        ("gpu-operator", "v26.7.1") | ("nodewright-operator", "v0.19.0") => SAFE,
        ("nvsentinel", "v1.25.0") => Record {
            verdict: "manual",
            reason: "recorded",
            summary: "The health monitors move to the host port 9090 and the breaker's state changes its form.",
            precondition: "No node is cordoned by NVSentinel.",
            steps: &[
                ("check-host-port", "Check that nothing on the accelerated nodes listens on port 9090."),
                ("apply", "Apply the new release."),
                ("reset-breaker", "Reset a tripped circuit breaker."),
                ("verify", "Verify that the CustomResourceDefinition serves version v1."),
            ],
        },
        ("dynamo-platform", "1.4.2") => Record {
            verdict: "blocked",
            reason: "record-blocks",
            summary: "The operator's storage cannot be converted in place.",
            precondition: "Every graph deployment is deleted.",
            steps: &[("delete-graphs", "Delete every graph deployment.")],
        },
        _ => UNKNOWN,
    }
}

/// Components that take another one's place.
const REPLACEMENTS: [(&str, &str); 1] = [("kueue", "kai-scheduler")];

/// Runs the command: the report, and whether it fails the run.
///
/// # Errors
///
/// As AICR: recipes that it does not take, a missing or unknown deployer.
pub fn run(setup: &Setup, flags: &Flags, from: &Value, to: &Value) -> Outcome<(Value, Option<Failure>)> {
    accept(setup, from)?;
    accept(setup, to)?;
    let deployer = flags.one("deployer").unwrap_or_default();
    if !["argocd", "argocd-helm", "flux", "helm", "helmfile", ""].contains(&deployer) {
        return Err(invalid(format!("unknown deployer {deployer:?}")));
    }
    let rows = rows(from, to);
    let has_steps = rows.iter().any(|row| row.get("steps").is_some());
    if deployer.is_empty() && has_steps {
        return Err(invalid("--deployer is required: a component's record carries steps"));
    }
    let failing = rows.iter().filter(|row| row["failsRun"] == true).count();
    let report = json!({
        "from": flags.one("from"), "to": flags.one("to"), "deployer": deployer, "objectNamesCompared": false,
        "components": rows, "summary": {"components": rows.len(), "failing": failing},
    });
    let message = format!("upgrade check failed: {failing} component change(s) need attention");
    let fails = failing > 0 && flags.on("fail-on-error", true);
    Ok((report, fails.then(|| Failure::new(Code::Conflict, message))))
}

fn by_name(recipe: &Value) -> BTreeMap<&str, &Value> {
    let references = recipe["componentRefs"].as_array().into_iter().flatten();
    references.filter_map(|reference| Some((reference["name"].as_str()?, reference))).collect()
}

fn rows(from: &Value, to: &Value) -> Vec<Value> {
    let (old, new) = (by_name(from), by_name(to));
    let replaced = REPLACEMENTS.iter().find(|(arriving, departing)| {
        !old.contains_key(arriving)
            && new.contains_key(arriving)
            && old.contains_key(departing)
            && !new.contains_key(departing)
    });
    let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let mut rows = Vec::new();
    for name in names {
        let version = |reference: &Value| reference["version"].as_str().unwrap_or_default().to_owned();
        match (old.get(name), new.get(name)) {
            (None, Some(arrived)) => match replaced.filter(|(arriving, _)| *arriving == name) {
                Some((_, departing)) => {
                    let mut row = row(name, "replaced", departing, &version(arrived));
                    judge(&mut row, &Record { reason: "identity-changed", ..UNKNOWN });
                    rows.push(row);
                }
                None => rows.push(row(name, "added", "", &version(arrived))),
            },
            (Some(left), None) if replaced.is_none_or(|(_, departing)| *departing != name) => {
                rows.push(row(name, "removed", &version(left), ""));
            }
            (Some(before), Some(after)) => rows.extend(changed(name, before, after)),
            _ => {}
        }
    }
    rows
}

fn changed(name: &str, before: &Value, after: &Value) -> Option<Value> {
    let text = |reference: &Value, field: &str| reference[field].as_str().unwrap_or_default().to_owned();
    let moved: Vec<Value> = ["namespace", "chart", "source", "type"]
        .iter()
        .filter(|field| text(before, field) != text(after, field))
        .map(|field| json!({"field": field, "from": text(before, field), "to": text(after, field)}))
        .collect();
    let (from, to) = (text(before, "version"), text(after, "version"));
    if moved.is_empty() && from == to {
        return None;
    }
    let change = if moved.is_empty() { "version" } else { "identity" };
    let mut row = row(name, change, &from, &to);
    if !moved.is_empty() {
        row["identityChanges"] = json!(moved);
        judge(&mut row, &Record { reason: "identity-changed", ..UNKNOWN });
        return Some(row);
    }
    match (numbers(&from), numbers(&to)) {
        (Some(old), Some(new)) if new < old => {
            judge(&mut row, &Record { reason: "downgrade", ..UNKNOWN });
            row["downgrade"] = json!(true);
        }
        (Some(_), Some(_)) => judge(&mut row, &record(name, &to)),
        _ => judge(&mut row, &Record { verdict: "unversioned", reason: "not-comparable", ..UNKNOWN }),
    }
    Some(row)
}

fn row(component: &str, change: &str, from: &str, to: &str) -> Value {
    let mut row = json!({"component": component, "change": change, "breaking": false, "downgrade": false, "failsRun": false});
    for (field, text) in [("from", from), ("to", to)] {
        if !text.is_empty() {
            row[field] = json!(text);
        }
    }
    row
}

fn judge(row: &mut Value, record: &Record) {
    row["verdict"] = json!(record.verdict);
    row["reason"] = json!(record.reason);
    row["explanation"] = json!(format!("The stand-in's record says {}.", record.verdict));
    row["failsRun"] = json!(record.verdict != "safe");
    row["breaking"] = json!(matches!(record.verdict, "manual" | "blocked"));
    row["notes"] = json!(match record.steps.len() {
        0 => "one change".to_owned(),
        steps => format!("one change, {steps} steps"),
    });
    for (field, text) in [("summary", record.summary), ("precondition", record.precondition)] {
        if !text.is_empty() {
            row[field] = json!(text);
        }
    }
    if record.verdict == "blocked" {
        row["stoppedAt"] = row["to"].clone();
    }
    if !record.steps.is_empty() {
        let steps: Vec<Value> =
            record.steps.iter().map(|(id, text)| json!({"id": id, "description": text})).collect();
        row["steps"] = json!(steps);
    }
}

/// The numbers of a version that has three; what follows them is not compared.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let bare = version.strip_prefix('v').unwrap_or(version).split(['-', '+']).next()?;
    let numbers = bare.split('.').map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
    (numbers.len() == 3).then_some(numbers)
}

/// The report as AICR writes it: Go escapes three characters.
///
/// # Errors
///
/// Never for JSON values.
pub fn text(report: &Value) -> Outcome<String> {
    let text = serde_json::to_string_pretty(report).map_err(crate::failure::internal)?;
    Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026") + "\n")
}
