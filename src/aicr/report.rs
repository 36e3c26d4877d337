//! The JSON report of `aicr upgrade-check`.
//!
//! What is documented is read, additions are ignored, and everything else is refused by field: a verdict that cannot be
//! read is an error, never a verdict.

use serde::Serialize;

use super::artifact::{ArtifactError, Document, Node};

/// A report, as far as it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeReport {
    /// Where the old recipe was read from.
    pub from: String,
    /// Where the new recipe was read from.
    pub to: String,
    /// Deployer that the recorded steps are meant for.
    pub deployer: String,
    /// One row a component that changes.
    pub components: Vec<ComponentRow>,
    /// Counts.
    pub summary: ReportSummary,
}

/// Counts over the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportSummary {
    /// Rows in the report.
    pub components: u64,
    /// Rows that fail the run.
    pub failing: u64,
}

/// What happens to one component. A component that does not change has no row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComponentRow {
    /// AICR component.
    pub component: String,
    /// What changes.
    pub change: Change,
    /// Old version; on a `replaced` row the departing component's name.
    pub from: String,
    /// New version.
    pub to: String,
    /// AICR's verdict; absent on added and removed rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// A phrase for people.
    pub notes: String,
    /// Why this verdict, in one word.
    pub reason: String,
    /// Why, in a sentence.
    pub explanation: String,
    /// What the record says of the change.
    pub summary: String,
    /// What must hold before the change.
    pub precondition: String,
    /// The record's steps for the deployer.
    pub steps: Vec<RecordedStep>,
    /// Where a blocked jump stops.
    pub stopped_at: String,
    /// Changed identity, such as namespace or chart.
    pub identity_changes: Vec<IdentityChange>,
    /// Whether the change is breaking.
    pub breaking: bool,
    /// Whether it goes to an older version.
    pub downgrade: bool,
    /// Whether the row fails the run.
    pub fails_run: bool,
}

/// What changes about a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Its version.
    Version,
    /// Its identity.
    Identity,
    /// It is new.
    Added,
    /// It is gone from the recipe.
    Removed,
    /// It takes another component's place.
    Replaced,
}

/// AICR's verdict on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Recorded as safe.
    Safe,
    /// Needs steps by hand.
    Manual,
    /// Must not be done.
    Blocked,
    /// AICR does not know.
    Unknown,
    /// Versions that cannot be compared.
    Unversioned,
}

/// One step of a transition record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordedStep {
    /// Name of the step; `apply` is the one that the operator performs.
    pub id: String,
    /// What to do.
    pub description: String,
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// One changed part of a component's identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdentityChange {
    /// Which part.
    pub field: String,
    /// Old value.
    pub from: String,
    /// New value.
    pub to: String,
}

impl Change {
    /// The word in the report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Identity => "identity",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Replaced => "replaced",
        }
    }
}

impl Verdict {
    /// The word in the report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Manual => "manual",
            Self::Blocked => "blocked",
            Self::Unknown => "unknown",
            Self::Unversioned => "unversioned",
        }
    }
}

impl ComponentRow {
    /// The record's steps before and after its `apply` step. Without an `apply` to split them, all come before.
    pub fn split_steps(&self) -> (&[RecordedStep], &[RecordedStep]) {
        match self.steps.iter().position(|step| step.id == "apply") {
            Some(apply) => (&self.steps[..apply], &self.steps[apply + 1..]),
            None => (&self.steps, &[]),
        }
    }
}

/// Reads a report.
///
/// # Errors
/// [`ArtifactError`] when the text is no JSON object, a documented field has another type, a required one is missing, or
/// a word is none of the documented ones.
pub fn read_report(text: &str) -> Result<UpgradeReport, ArtifactError> {
    let document = Document::json("upgrade-check report", text)?;
    let root = document.root()?;
    let rows = root.array("components")?.ok_or_else(|| root.missing("components"))?;
    let components = rows.iter().map(read_row).collect::<Result<Vec<_>, _>>()?;
    let summary = root.child("summary")?.ok_or_else(|| root.missing("summary"))?;
    let summary =
        ReportSummary { components: summary.count("components")?, failing: summary.count("failing")? };
    if summary.components != components.len() as u64 {
        let problem = format!("{}, but the report has {} rows", summary.components, components.len());
        return Err(root.error("summary.components", problem));
    }
    Ok(UpgradeReport {
        from: root.text("from")?,
        to: root.text("to")?,
        deployer: root.text("deployer")?,
        components,
        summary,
    })
}

fn read_row(row: &Node<'_>) -> Result<ComponentRow, ArtifactError> {
    let component = row.required("component")?;
    let change = match row.text("change")?.as_str() {
        "version" => Change::Version,
        "identity" => Change::Identity,
        "added" => Change::Added,
        "removed" => Change::Removed,
        "replaced" => Change::Replaced,
        other => return Err(row.error("change", format!("'{other}' is no documented change"))),
    };
    let verdict = match row.text("verdict")?.as_str() {
        "" => None,
        "safe" => Some(Verdict::Safe),
        "manual" => Some(Verdict::Manual),
        "blocked" => Some(Verdict::Blocked),
        "unknown" => Some(Verdict::Unknown),
        "unversioned" => Some(Verdict::Unversioned),
        other => return Err(row.error("verdict", format!("'{other}' is no documented verdict"))),
    };
    Ok(ComponentRow {
        component,
        change,
        verdict,
        from: row.text("from")?,
        to: row.text("to")?,
        notes: row.text("notes")?,
        reason: row.text("reason")?,
        explanation: row.text("explanation")?,
        summary: row.text("summary")?,
        precondition: row.text("precondition")?,
        steps: row.array("steps")?.unwrap_or_default().iter().map(read_step).collect::<Result<_, _>>()?,
        stopped_at: row.text("stoppedAt")?,
        identity_changes: row
            .array("identityChanges")?
            .unwrap_or_default()
            .iter()
            .map(|change| {
                Ok(IdentityChange {
                    field: change.text("field")?,
                    from: change.text("from")?,
                    to: change.text("to")?,
                })
            })
            .collect::<Result<_, ArtifactError>>()?,
        breaking: row.flag("breaking")?,
        downgrade: row.flag("downgrade")?,
        fails_run: row.flag("failsRun")?,
    })
}

fn read_step(step: &Node<'_>) -> Result<RecordedStep, ArtifactError> {
    Ok(RecordedStep {
        id: step.required("id")?,
        description: step.text("description")?,
        reason: step.text("reason")?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Change, Verdict, read_report};

    fn report() -> Value {
        json!({
            "from": "old.json", "to": "new.json", "deployer": "argocd", "objectNamesCompared": false,
            "components": [
                {"component": "gpu-operator", "change": "version", "from": "v26.7.0", "to": "v26.7.1", "verdict": "safe",
                 "notes": "1 patch", "reason": "recorded", "breaking": false, "downgrade": false, "failsRun": false},
                {"component": "nvsentinel", "change": "version", "from": "v1.22.0", "to": "v1.25.0", "verdict": "manual",
                 "precondition": "No node is cordoned", "breaking": true, "downgrade": false, "failsRun": true,
                 "steps": [{"id": "check", "description": "Look"}, {"id": "apply", "description": "Apply"},
                           {"id": "verify", "description": "Verify", "reason": "CRD"}]},
                {"component": "kueue", "change": "added", "to": "v1", "breaking": false, "downgrade": false,
                 "failsRun": false, "identityChanges": null, "tomorrow": {"new": 1}},
            ],
            "summary": {"components": 3, "failing": 1},
        })
    }

    #[test]
    fn a_documented_report_is_read_and_additions_are_ignored() {
        let read = read_report(&report().to_string()).unwrap();
        assert_eq!(read.deployer, "argocd");
        let [safe, manual, added] = &read.components[..] else { panic!("three rows") };
        assert_eq!((safe.verdict, safe.change), (Some(Verdict::Safe), Change::Version));
        let (before, after) = manual.split_steps();
        assert_eq!((before.len(), before[0].id.as_str(), after[0].id.as_str()), (1, "check", "verify"));
        assert_eq!((added.verdict, added.change, added.to.as_str()), (None, Change::Added, "v1"));
    }

    #[test]
    fn without_an_apply_step_every_recorded_step_comes_before() {
        let mut value = report();
        value["components"][1]["steps"].as_array_mut().unwrap().remove(1);
        let read = read_report(&value.to_string()).unwrap();
        let (before, after) = read.components[1].split_steps();
        assert_eq!((before.len(), after.len()), (2, 0));
    }

    #[test]
    fn what_is_not_documented_is_refused_by_field() {
        let cases: &[(&str, Value, &str)] = &[
            (
                "/components/0/verdict",
                json!("fine"),
                "components[0].verdict: 'fine' is no documented verdict",
            ),
            ("/components/0/verdict", json!(3), "components[0].verdict: expected a string, found a number"),
            ("/components/0/change", json!("moved"), "components[0].change: 'moved' is no documented change"),
            (
                "/components/1/steps/0",
                json!("x"),
                "components[1].steps[0]: expected an object, found a string",
            ),
            ("/components/1/steps/0/id", json!(""), "components[1].steps[0].id: missing"),
            (
                "/components/0/failsRun",
                json!("no"),
                "components[0].failsRun: expected true or false, found a string",
            ),
            ("/components/0/component", json!(""), "components[0].component: missing"),
            ("/components", json!({}), "components: expected a list, found an object"),
            ("/summary/failing", json!(-1), "summary.failing: expected a count, found a number"),
            ("/summary/components", json!(2), "summary.components: 2, but the report has 3 rows"),
            ("/summary", json!([]), "summary: expected an object, found a list"),
            ("", json!([]), "document: expected an object, found a list"),
        ];
        for (pointer, found, message) in cases {
            let mut value = report();
            *value.pointer_mut(pointer).unwrap() = found.clone();
            let error = read_report(&value.to_string()).unwrap_err().to_string();
            assert_eq!(error, format!("upgrade-check report: {message}"));
        }
        assert!(read_report("{").unwrap_err().to_string().starts_with("upgrade-check report: document: "));
    }
}
