//! Criteria: what the snapshot shows, compared with what `spec.criteria` declares.
//!
//! Source: operator-facts section 6; aicr-cli sections 1.3 and 2.1. Declared criteria become flags, which win over AICR's
//! own detection, so a wrong declaration must be caught here.

use crate::aicr::snapshot::{Accelerator, Snapshot};
use crate::api::{ClusterRuntimeSpec, ResolvedCriteria};

use super::reason::{Reason, Refused};

/// The criteria that a recipe is resolved for. Nothing is known of the snapshot when discovery is skipped: then the
/// declared criteria stand alone.
///
/// # Errors
///
/// `CriteriaConflict` when a declared criterion contradicts what was observed; `SnapshotIncomplete` when a criterion was
/// neither observed nor declared.
pub fn resolve(spec: &ClusterRuntimeSpec, snapshot: Option<&Snapshot>) -> Result<ResolvedCriteria, Refused> {
    let declared = spec.criteria.clone().unwrap_or_default();
    let (accelerator, why) = accelerator(snapshot);
    let observed = |of: fn(&Snapshot) -> &Option<String>| snapshot.and_then(|snapshot| of(snapshot).clone());
    let criteria = [
        ("service", declared.service, observed(|snapshot| &snapshot.service), String::new()),
        ("accelerator", declared.accelerator, accelerator, why),
        ("os", declared.os, observed(|snapshot| &snapshot.os), String::new()),
    ];
    let mut resolved = Vec::with_capacity(criteria.len());
    let mut missing = Vec::new();
    for (name, declared, observed, why) in criteria {
        let declared = declared.filter(|value| !value.is_empty());
        if let (Some(declared), Some(observed)) = (&declared, &observed)
            && canonical(declared) != canonical(observed)
        {
            let message = format!(
                "spec.criteria.{name} declares {declared}, but the snapshot shows {observed}: correct it, or leave it out to use what is observed"
            );
            return Err(Refused::new(Reason::CriteriaConflict, message));
        }
        let value = declared.or(observed);
        if value.is_none() {
            missing.push(format!("{name}{why}"));
        }
        resolved.push(value);
    }
    if !missing.is_empty() {
        let message = format!(
            "the snapshot does not show {}: declare what is missing in spec.criteria",
            missing.join(" and not ")
        );
        return Err(Refused::new(Reason::SnapshotIncomplete, message));
    }
    let mut resolved = resolved.into_iter().flatten();
    Ok(ResolvedCriteria {
        service: resolved.next(),
        accelerator: resolved.next(),
        os: resolved.next(),
        intent: Some(spec.intent.clone()),
        platform: spec.platform.clone().filter(|platform| !platform.is_empty()),
    })
}

/// The observed accelerator as a criterion; or why there is none, to be said after its name.
fn accelerator(snapshot: Option<&Snapshot>) -> (Option<String>, String) {
    match snapshot.map(|snapshot| &snapshot.accelerator) {
        None | Some(Accelerator::Undetected) => (None, String::new()),
        Some(Accelerator::Known(name)) => (Some(name.clone()), String::new()),
        Some(Accelerator::Unknown(product)) => (None, format!(" (AICR has no criterion for {product})")),
        Some(Accelerator::Several(products)) => {
            (None, format!(" (the cluster has several: {})", products.join(", ")))
        }
    }
}

/// AICR's aliases of a service, and its indifference to case.
fn canonical(value: &str) -> String {
    let value = value.trim().to_lowercase();
    match value.as_str() {
        "self-managed" | "self" | "vanilla" => "generic".to_owned(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec(criteria: &Value) -> ClusterRuntimeSpec {
        let group = |pool: &str| json!({"nodeSelector": {"pool": pool}});
        let value = json!({"intent": "training", "platform": "", "criteria": criteria,
            "placement": {"system": group("system"), "accelerated": group("gpu")}});
        serde_json::from_value(value).unwrap()
    }

    fn snapshot() -> Snapshot {
        Snapshot {
            service: Some("eks".to_owned()),
            os: Some("ubuntu".to_owned()),
            accelerator: Accelerator::Known("h100".to_owned()),
            ..Snapshot::default()
        }
    }

    #[test]
    fn what_is_observed_fills_in_what_is_not_declared() {
        for criteria in [json!({}), json!({"service": "", "os": "Ubuntu"}), json!({"accelerator": "h100"})] {
            let found = resolve(&spec(&criteria), Some(&snapshot())).unwrap();
            assert_eq!((found.service.as_deref(), found.accelerator.as_deref()), (Some("eks"), Some("h100")));
            assert_eq!((found.intent.as_deref(), found.platform), (Some("training"), None));
        }
        let unseen = Snapshot { service: None, ..snapshot() };
        assert_eq!(
            resolve(&spec(&json!({"service": "kind"})), Some(&unseen)).unwrap().service.unwrap(),
            "kind"
        );
        let all = json!({"service": "kind", "accelerator": "l40", "os": "rhel"});
        assert_eq!(resolve(&spec(&all), None).unwrap().os.unwrap(), "rhel");
    }

    #[test]
    fn a_service_and_its_alias_do_not_contradict_each_other() {
        let seen = Snapshot { service: Some("generic".to_owned()), ..snapshot() };
        assert!(resolve(&spec(&json!({"service": "self-managed"})), Some(&seen)).is_ok());
    }

    #[test]
    fn a_contradiction_names_both_sides() {
        for (name, declared, shown) in
            [("service", "gke", "eks"), ("accelerator", "h200", "h100"), ("os", "rhel", "ubuntu")]
        {
            let refused = resolve(&spec(&json!({name: declared})), Some(&snapshot())).unwrap_err();
            assert_eq!(refused.reason, Reason::CriteriaConflict);
            assert_eq!(
                refused.message,
                format!(
                    "spec.criteria.{name} declares {declared}, but the snapshot shows {shown}: correct it, or leave it out to use what is observed"
                )
            );
        }
    }

    #[test]
    fn what_is_neither_observed_nor_declared_is_named() {
        let several = Accelerator::Several(vec!["A100".to_owned(), "H100".to_owned()]);
        for (seen, message) in [
            (
                Snapshot { os: None, ..snapshot() },
                "the snapshot does not show os: declare what is missing in spec.criteria",
            ),
            (
                Snapshot { service: None, accelerator: several, ..snapshot() },
                "the snapshot does not show service and not accelerator (the cluster has several: A100, H100): declare what is missing in spec.criteria",
            ),
            (
                Snapshot { accelerator: Accelerator::Unknown("T4".to_owned()), ..snapshot() },
                "the snapshot does not show accelerator (AICR has no criterion for T4): declare what is missing in spec.criteria",
            ),
        ] {
            let refused = resolve(&spec(&json!({})), Some(&seen)).unwrap_err();
            assert_eq!((refused.reason, refused.message.as_str()), (Reason::SnapshotIncomplete, message));
        }
        // Several accelerators are no contradiction of a declared one.
        let several =
            Snapshot { accelerator: Accelerator::Several(vec!["A".into(), "B".into()]), ..snapshot() };
        assert!(resolve(&spec(&json!({"accelerator": "h100"})), Some(&several)).is_ok());
    }
}
