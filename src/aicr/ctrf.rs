//! The CTRF report of `aicr validate`.
//!
//! Source: aicr-cli section 5.3. Exit code 8 is ambiguous (failed checks or an internal error), so this report decides.

use super::artifact::{ArtifactError, Document, Node};

/// A report, as far as it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationReport {
    /// Version of the AICR that ran the checks.
    pub version: String,
    /// The checks in their order.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name, such as operator-health.
    pub name: String,
    /// How it ended.
    pub status: CheckStatus,
    /// What it says of itself; may be empty.
    pub message: String,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckStatus {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It did not run, on purpose.
    Skipped,
    /// It has not run yet.
    Pending,
    /// It crashed or ran out of time or memory.
    Other,
}

impl CheckStatus {
    const ALL: [Self; 5] = [Self::Passed, Self::Failed, Self::Skipped, Self::Pending, Self::Other];

    /// The word in the report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Pending => "pending",
            Self::Other => "other",
        }
    }
}

impl ValidationReport {
    /// Whether the deployment passed: every check passed or was skipped, and at least one passed. A report without a
    /// check that ran proves nothing.
    pub fn passed(&self) -> bool {
        let ended = |status| self.checks.iter().any(|check| check.status == status);
        ended(CheckStatus::Passed) && self.unmet().next().is_none()
    }

    /// The checks that are neither passed nor skipped.
    pub fn unmet(&self) -> impl Iterator<Item = &Check> {
        let met = |check: &&Check| !matches!(check.status, CheckStatus::Passed | CheckStatus::Skipped);
        self.checks.iter().filter(met)
    }
}

/// Reads a report.
///
/// # Errors
///
/// When it is no CTRF report, a status is none of the documented ones, or its counts are not those of its checks.
pub fn read_validation_report(text: &str) -> Result<ValidationReport, ArtifactError> {
    let document = Document::json("validation report", text)?;
    let root = document.root()?;
    let format = root.text("reportFormat")?;
    if format != "CTRF" {
        return Err(root.error("reportFormat", format!("'{format}' is not CTRF")));
    }
    let results = root.child("results")?.ok_or_else(|| root.missing("results"))?;
    let tool = results.child("tool")?.ok_or_else(|| results.missing("tool"))?;
    let tests = results.array("tests")?.ok_or_else(|| results.missing("tests"))?;
    let checks = tests.iter().map(read_check).collect::<Result<Vec<_>, _>>()?;
    let summary = results.child("summary")?.ok_or_else(|| results.missing("summary"))?;
    for (field, status) in
        CheckStatus::ALL.map(|status| (status.as_str(), Some(status))).into_iter().chain([("tests", None)])
    {
        let counted =
            checks.iter().filter(|check| status.is_none_or(|status| check.status == status)).count();
        let stated = summary.count(field)?;
        if stated != counted as u64 {
            return Err(summary.error(field, format!("{stated}, but the report has {counted}")));
        }
    }
    Ok(ValidationReport { version: tool.required("version")?, checks })
}

fn read_check(test: &Node<'_>) -> Result<Check, ArtifactError> {
    let word = test.text("status")?;
    let status = CheckStatus::ALL.into_iter().find(|status| status.as_str() == word);
    let status = status.ok_or_else(|| test.error("status", format!("'{word}' is no documented status")))?;
    Ok(Check { name: test.required("name")?, status, message: test.text("message")? })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn document(statuses: &[&str]) -> Value {
        let count = |word: &str| statuses.iter().filter(|status| **status == word).count();
        let tests: Vec<Value> = statuses
            .iter()
            .enumerate()
            .map(|(index, status)| json!({"name": format!("check-{index}"), "status": status, "duration": 1200, "suite": ["deployment"]}))
            .collect();
        json!({
            "reportFormat": "CTRF", "specVersion": "0.0.1", "generatedBy": "aicr",
            "results": {
                "tool": {"name": "aicr", "version": "v1.0.0"},
                "summary": {"tests": statuses.len(), "passed": count("passed"), "failed": count("failed"), "skipped": count("skipped"),
                            "pending": count("pending"), "other": count("other"), "start": 1, "stop": 2},
                "tests": tests,
            },
        })
    }

    #[test]
    fn a_deployment_passes_when_a_check_passed_and_none_failed() {
        for (statuses, passed, unmet) in [
            (&["passed", "skipped"][..], true, 0),
            (&["passed"], true, 0),
            (&[], false, 0),
            (&["skipped"], false, 0),
            (&["passed", "failed"], false, 1),
            (&["passed", "other", "pending"], false, 2),
        ] {
            let report = read_validation_report(&document(statuses).to_string()).unwrap();
            assert_eq!((report.passed(), report.unmet().count()), (passed, unmet), "{statuses:?}");
            assert_eq!(report.version, "v1.0.0");
        }
    }

    #[test]
    fn what_is_not_documented_is_refused_by_field() {
        for (pointer, found, message) in [
            ("/reportFormat", json!("JUnit"), "reportFormat: 'JUnit' is not CTRF"),
            ("/results", json!(null), "results: expected an object, found null"),
            ("/results/tool/version", json!(""), "results.tool.version: missing"),
            (
                "/results/tests/0/status",
                json!("fine"),
                "results.tests[0].status: 'fine' is no documented status",
            ),
            ("/results/tests/0/name", json!(3), "results.tests[0].name: expected a string, found a number"),
            ("/results/tests", json!("x"), "results.tests: expected a list, found a string"),
            ("/results/summary/failed", json!(1), "results.summary.failed: 1, but the report has 0"),
            ("/results/summary/tests", json!(2), "results.summary.tests: 2, but the report has 1"),
            ("/results/summary/other", json!("0"), "results.summary.other: expected a count, found a string"),
        ] {
            let mut value = document(&["passed"]);
            *value.pointer_mut(pointer).unwrap() = found;
            let error = read_validation_report(&value.to_string()).unwrap_err();
            assert_eq!(error.to_string(), format!("validation report: {message}"));
        }
    }
}
