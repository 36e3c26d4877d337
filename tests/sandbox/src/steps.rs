//! The steps of a rollout between two sample plans, from comparing them.
//!
//! Source: design section 7; day-2 "Approving a rollout".

use std::collections::BTreeMap;

use kubectl_aicr::aicr::{UpgradeReport, Verdict};
use kubectl_aicr::api::{Assessment, InventoryEntry, Operation, Step};
use kubectl_aicr::plan::compare::{Change, Differences, ReleaseChange, compare};
use kubectl_aicr::plan::document::{Phase, Release};

use crate::plans::Sample;

/// A step that AICR does not assess.
fn plain(release: &str, operation: Operation) -> Step {
    Step {
        release: release.to_owned(),
        operation,
        assessment: Assessment::NotApplicable,
        crd_change: false,
        post_apply_steps: Vec::new(),
        uid: None,
    }
}

/// One step a release, in the plan's order.
pub(crate) fn every(sample: &Sample, operation: Operation) -> Vec<Step> {
    sample.plan.ordered().into_iter().map(|release| plain(&release.id, operation)).collect()
}

/// The removal of everything in an inventory, in the reverse of the plan's order.
pub(crate) fn removal(sample: &Sample, inventory: &[InventoryEntry]) -> Vec<Step> {
    sample.plan.ordered().into_iter().rev().map(|release| remove(&release.id, inventory)).collect()
}

/// What leads from one plan to another.
pub(crate) fn between(
    from: &Sample,
    to: &Sample,
    inventory: &[InventoryEntry],
    report: Option<&UpgradeReport>,
) -> Vec<Step> {
    let values: BTreeMap<_, _> = from.values_by_config_map().chain(to.values_by_config_map()).collect();
    let changes = compare(&from.plan, &to.plan, |wanted| values.get(&wanted.config_map).copied());
    let mut steps: Vec<Step> = Vec::new();
    for release in to.plan.ordered() {
        let change = changes.iter().find(|change| change.id == release.id);
        let parent_moves =
            release.readiness_for.as_ref().is_some_and(|parent| steps.iter().any(|s| s.release == *parent));
        steps.extend(step(release, change, parent_moves, report));
    }
    let removed = changes.iter().filter(|change| change.change == Change::Removed);
    steps.extend(removed.map(|change| remove(&change.id, inventory)));
    steps
}

fn step(
    release: &Release,
    change: Option<&ReleaseChange>,
    parent_moves: bool,
    report: Option<&UpgradeReport>,
) -> Option<Step> {
    match change.map(|change| &change.change) {
        Some(Change::Added) => Some(plain(&release.id, Operation::Install)),
        Some(Change::Changed(differences)) if differences.chart.is_some() => {
            Some(upgrade(release, differences, report))
        }
        Some(Change::Changed(differences)) if differences.needs_step() => {
            Some(if release.phase == Phase::Readiness {
                plain(&release.id, Operation::Verify)
            } else {
                upgrade(release, differences, report)
            })
        }
        _ => parent_moves.then(|| plain(&release.id, Operation::Verify)),
    }
}

/// A new chart takes the verdict of its component's row; anything else is unknown to AICR, which compares versions only.
fn upgrade(release: &Release, differences: &Differences, report: Option<&UpgradeReport>) -> Step {
    let row = report.and_then(|report| report.components.iter().find(|r| r.component == release.component));
    let row = row.filter(|_| differences.chart.is_some());
    let assessment = match row.and_then(|row| row.verdict) {
        Some(Verdict::Safe) => Assessment::Safe,
        Some(Verdict::Manual) => Assessment::Manual,
        Some(Verdict::Unversioned) => Assessment::Unversioned,
        Some(Verdict::Unknown | Verdict::Blocked) | None => Assessment::Unknown,
    };
    let after = row.filter(|_| assessment == Assessment::Manual).map_or(&[][..], |row| row.split_steps().1);
    Step {
        assessment,
        crd_change: differences.crd_change,
        post_apply_steps: after.iter().map(|step| step.id.clone()).collect(),
        ..plain(&release.id, Operation::Upgrade)
    }
}

fn remove(release: &str, inventory: &[InventoryEntry]) -> Step {
    let uid = inventory.iter().find(|entry| entry.release_id == release).map(|entry| entry.uid.clone());
    Step { uid, ..plain(release, Operation::Remove) }
}

/// Whether somebody must approve: only safe upgrades without CRDs and readiness gates go by themselves.
pub(crate) fn need_approval(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step.operation {
        Operation::Verify => false,
        Operation::Upgrade => step.assessment != Assessment::Safe || step.crd_change,
        Operation::Install | Operation::Remove | Operation::Adopt => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::report;
    use crate::plans::Plans;

    fn find<'a>(steps: &'a [Step], release: &str) -> &'a Step {
        steps.iter().find(|step| step.release == release).unwrap()
    }

    #[test]
    fn the_upgrade_has_a_step_of_every_kind() {
        let plans = Plans::of_runtime("uid").unwrap();
        let inventory = plans.installed.inventory().unwrap();
        let steps = between(&plans.installed, &plans.upgrade, &inventory, Some(&report().unwrap()));
        let shown: Vec<(&str, &str, &str, bool)> = steps
            .iter()
            .map(|s| (s.release.as_str(), s.operation.as_str(), s.assessment.as_str(), s.crd_change))
            .collect();
        assert_eq!(
            shown,
            [
                ("aws-efa", "Upgrade", "Safe", false),
                ("nodewright-operator", "Upgrade", "Safe", true),
                ("nodewright-customizations", "Upgrade", "Unknown", false),
                ("kube-prometheus-stack", "Upgrade", "Unknown", false),
                ("gpu-operator", "Upgrade", "Safe", true),
                ("gpu-operator-readiness", "Upgrade", "Safe", false),
                ("kai-scheduler", "Upgrade", "Unknown", true),
                ("kubeflow-trainer-post", "Upgrade", "Unknown", false),
                ("nvsentinel", "Upgrade", "Manual", true),
                ("k8s-aibom", "Install", "NotApplicable", false),
                ("k8s-ephemeral-storage-metrics", "Remove", "NotApplicable", false),
            ]
        );
        assert_eq!(find(&steps, "nvsentinel").post_apply_steps, ["reset-breaker", "verify"]);
        let removed = find(&steps, "k8s-ephemeral-storage-metrics").uid.as_deref();
        let entry = inventory.iter().find(|entry| entry.release_id == "k8s-ephemeral-storage-metrics");
        assert_eq!(removed, entry.map(|entry| entry.uid.as_str()));
        assert!(need_approval(&steps));
    }

    #[test]
    fn new_values_of_a_component_verify_its_gate_again() {
        let plans = Plans::of_runtime("uid").unwrap();
        let steps = between(&plans.installed, &plans.override_only, &[], None);
        let shown: Vec<_> = steps.iter().map(|s| (s.release.as_str(), s.operation)).collect();
        assert_eq!(
            shown,
            [("gpu-operator", Operation::Upgrade), ("gpu-operator-readiness", Operation::Verify)]
        );
        assert!(need_approval(&steps) && !need_approval(&steps[1..]));
    }
}
