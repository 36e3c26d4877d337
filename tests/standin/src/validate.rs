//! `aicr validate`: a report of checks, and evidence of it.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::bundle::{File, Tree, yaml};
use crate::failure::{Code, Failure, Outcome, invalid};
use crate::flags::Flags;
use crate::recipe::accept;
use crate::setup::Setup;
use crate::snapshot::Observed;

/// The deployment checks.
pub const CHECKS: [&str; 4] =
    ["operator-health", "expected-resources", "gpu-operator-version", "check-nvidia-smi"];

/// Runs the command: the report, and whether checks failed.
///
/// # Errors
///
/// As AICR: inputs that it does not take, and a snapshot that does not meet the recipe's constraints.
pub fn run(
    setup: &Setup,
    flags: &Flags,
    recipe: &Value,
    snapshot: &Value,
) -> Outcome<(Value, Option<Failure>)> {
    accept(setup, recipe)?;
    let observed = Observed::read(snapshot)?;
    for phase in flags.many("phase") {
        if !["deployment", "performance", "conformance", "all"].contains(&phase.as_str()) {
            return Err(invalid(format!("unknown phase {phase:?}")));
        }
    }
    let server = observed.reading("K8s", "server", "version").unwrap_or_default();
    if minor(server).is_none_or(|minor| minor < (1, 32)) {
        return Err(invalid(format!(
            "readiness constraint K8s.server.version >= 1.32.4 is not met: found {server:?}"
        )));
    }
    if let Some(unknown) = flags.many("skip-check").iter().find(|check| !CHECKS.contains(&check.as_str())) {
        return Err(invalid(format!("--skip-check {unknown:?} matches no check")));
    }
    let status = |check: &str| {
        if flags.many("skip-check").iter().any(|skipped| skipped == check) {
            "skipped"
        } else if setup.failing_checks.iter().any(|failing| failing == check) {
            "failed"
        } else {
            "passed"
        }
    };
    let tests: Vec<Value> = CHECKS
        .iter()
        .map(|check| json!({"name": check, "status": status(check), "duration": 1200, "suite": ["deployment"], "stdout": []}))
        .collect();
    let count = |word: &str| tests.iter().filter(|test| test["status"] == word).count();
    let report = json!({
        "reportFormat": "CTRF", "specVersion": "0.0.1", "timestamp": crate::now(), "generatedBy": "aicr",
        "results": {
            "tool": {"name": "aicr", "version": setup.stated()},
            "summary": {"tests": tests.len(), "passed": count("passed"), "failed": count("failed"), "skipped": count("skipped"),
                        "pending": 0, "other": 0, "start": 1, "stop": 2},
            "tests": tests,
        },
    });
    let fails = count("failed") > 0 && flags.on("fail-on-error", true);
    let message = "validation failed: one or more phases did not pass";
    Ok((report, fails.then(|| Failure::new(Code::Internal, message))))
}

fn minor(version: &str) -> Option<(u64, u64)> {
    let mut parts = version.trim_start_matches('v').split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// What `--emit-attestation` writes, as far as a reader of the operator looks at it. Nothing is signed.
///
/// # Errors
///
/// Never for JSON values.
pub fn evidence(setup: &Setup, recipe: &Value, snapshot: &Value, report: &Value) -> Outcome<Tree> {
    let mut tree = Tree::new();
    let mut add =
        |path: &str, text: String| tree.insert(format!("summary-bundle/{path}"), File { text, mode: 0o644 });
    add("recipe.yaml", yaml(recipe)?);
    add("snapshot.yaml", yaml(snapshot)?);
    add("ctrf/deployment.json", format!("{report}\n"));
    let digest = hex::encode(Sha256::digest(recipe.to_string()));
    let statement = json!({
        "_type": "https://in-toto.io/Statement/v1", "predicateType": "https://aicr.run/recipe-evidence/v3",
        "predicate": {"aicrVersion": setup.stated(), "recipe": {"digest": format!("sha256:{digest}")}},
    });
    add("statement.intoto.json", format!("{statement}\n"));
    Ok(tree)
}
