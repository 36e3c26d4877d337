//! The sample rollouts: one in each phase, and each kind of transition. As data; `operator` puts them on the server.
//!
//! A real operator has one rollout in progress at a time. Here all are shown at once, so that each can be looked at.

use jiff::SignedDuration;
use kubectl_aicr::aicr::{UpgradeReport, read_report};
use kubectl_aicr::api::{
    Condition, ConditionStatus, ContentReference, CurrentStep, GoDuration, InventoryEntry, Operation, Phase,
    ReleaseState, ReleaseStatus, RuntimeRolloutSpec, RuntimeRolloutStatus, Step, Time, ValidationStatus,
};
use kubectl_aicr::plan::Digest;
use kubectl_aicr::plan::identity::{inventory_digest, spec_digest};
use kubectl_aicr::plan::transition::Transition;
use test_support::Identity;

use crate::Result;
use crate::plans::{Plans, REGISTRY, Sample, digest, uid};
use crate::steps;

/// AICR's report on the upgrade, byte by byte as it is stored.
pub(crate) const REPORT: &str = include_str!("../data/report.json");
/// Name of the report's ConfigMap.
pub(crate) const REPORT_CONFIG_MAP: &str = "aicr-upgrade-check-4f1d0c9a7b2e8835";
/// Runtimes before this one, as adoption and an orphaned rollout know it.
const EARLIER: &str = "an earlier runtime";

/// The report, as the product reads it.
pub(crate) fn report() -> Result<UpgradeReport> {
    Ok(read_report(REPORT)?)
}

/// One rollout and what became of it.
pub(crate) struct Entry {
    pub(crate) transition: Transition,
    pub(crate) number: u32,
    pub(crate) spec: RuntimeRolloutSpec,
    pub(crate) adopted_from: Option<String>,
    /// Who approved, until when and why.
    pub(crate) approval: Option<(Identity, Time, &'static str)>,
    /// Who acknowledged which release, while it waited for that.
    pub(crate) acknowledgement: Option<(Identity, &'static str)>,
    /// Who revoked, and why.
    pub(crate) revocation: Option<(Identity, &'static str)>,
    /// None before the operator looked at the rollout.
    pub(crate) status: Option<RuntimeRolloutStatus>,
    pub(crate) evidence: Option<String>,
}

impl Entry {
    /// The object's name.
    pub(crate) fn name(&self) -> String {
        self.transition.rollout_name(self.number)
    }

    /// Where it is; none before it started.
    pub(crate) fn phase(&self) -> Option<Phase> {
        self.status.as_ref().and_then(|status| status.phase)
    }

    /// How it ended.
    pub(crate) fn outcome(&self) -> Option<&'static str> {
        self.phase().filter(|phase| phase.is_terminal()).map(Phase::as_str)
    }

    fn status(&mut self) -> &mut RuntimeRolloutStatus {
        self.status.get_or_insert_default()
    }

    fn at(mut self, phase: Phase, message: impl Into<String>) -> Self {
        let message = message.into();
        let status = self.status();
        status.phase = Some(phase);
        status.message = Some(message).filter(|text| !text.is_empty());
        self
    }

    fn approved(mut self, by: Identity, until: Time, reason: &'static str) -> Self {
        self.approval = Some((by, until, reason));
        self
    }

    fn revoked(mut self, by: Identity, reason: &'static str) -> Self {
        self.revocation = Some((by, reason));
        self
    }

    fn acknowledged(mut self, by: Identity, release: &'static str) -> Self {
        self.acknowledgement = Some((by, release));
        self
    }

    /// The step of this number, counted from 1, is in flight since an instant; those before it are done.
    fn in_flight(mut self, number: usize, target: &Sample, since: Time) -> Result<Self> {
        let Some(step) = self.spec.steps.get(number - 1).cloned() else {
            return Err(format!("the rollout has no step {number}").into());
        };
        self = self.done(number - 1, target)?;
        let state = ReleaseState::Progressing;
        let status = self.status();
        status.releases.push(ReleaseStatus {
            id: step.release.clone(),
            state,
            revision: None,
            spec_digest: None,
            uid: None,
        });
        status.current = Some(CurrentStep {
            release: step.release,
            operation: step.operation,
            started_at: since,
            timeout_from: None,
        });
        Ok(self)
    }

    /// The first steps are done.
    fn done(mut self, count: usize, target: &Sample) -> Result<Self> {
        let releases = self.spec.steps.iter().take(count).map(|step| done(step, target));
        let releases = releases.collect::<Result<Vec<_>>>()?;
        self.status().releases = releases;
        Ok(self)
    }

    /// The release in flight failed.
    fn failed(mut self) -> Self {
        let status = self.status();
        status.current = None;
        if let Some(last) = status.releases.last_mut() {
            last.state = ReleaseState::Failed;
        }
        self
    }

    fn validated(mut self, result: Option<&str>) -> Self {
        let run = uid(&self.name());
        let evidence = format!("{REGISTRY}/evidence/cluster/{run}@{}", digest(&run));
        let passed = result == Some("Passed");
        self.status().validation = Some(ValidationStatus {
            job: format!("aicr-validate-{}-1", digest(&run).short()),
            run_id: run,
            result: result.map(str::to_owned),
            evidence: passed.then(|| evidence.clone()),
        });
        self.evidence = passed.then_some(evidence);
        self
    }
}

/// What a step leaves in status once it is done.
fn done(step: &Step, target: &Sample) -> Result<ReleaseStatus> {
    let id = step.release.clone();
    let Some(release) = target.plan.release(&id).filter(|_| step.operation != Operation::Remove) else {
        let state = ReleaseState::Removed;
        return Ok(ReleaseStatus { id, state, revision: None, spec_digest: None, uid: None });
    };
    let application = target.application(&id)?;
    let installs = step.operation == Operation::Install;
    Ok(ReleaseStatus {
        state: ReleaseState::Ready,
        revision: Some(release.chart.digest.to_string()),
        spec_digest: Some(spec_digest(&application).to_string()),
        uid: application["metadata"]["uid"].as_str().filter(|_| installs).map(str::to_owned),
        id,
    })
}

/// What the sample rollouts are made of.
pub(crate) struct Scene<'a> {
    pub(crate) plans: &'a Plans,
    pub(crate) runtime_uid: &'a str,
    pub(crate) now: Time,
}

impl Scene<'_> {
    /// All of them.
    pub(crate) fn rollouts(&self) -> Result<Vec<Entry>> {
        let mut all = self.installs()?;
        all.extend(self.ended_upgrades()?);
        all.extend(self.upgrades_in_progress()?);
        all.extend(self.ends_of_the_runtime()?);
        Ok(all)
    }

    /// The first attempt failed, the second made the installed plan.
    fn installs(&self) -> Result<Vec<Entry>> {
        let installed = &self.plans.installed;
        let transition = self.transition(None, Some(installed.plan.digest()));
        let all = steps::every(installed, Operation::Install);
        let attempt = |number| self.entry(&transition, number, all.clone(), Vec::new());
        let step = all.iter().position(|step| step.release == "gpu-operator").unwrap_or_default() + 1;
        let why = format!(
            "step {step}/{} gpu-operator (Install) was not ready within 30m0s: HealthDegraded: DaemonSet \
             nvidia-driver-daemonset: 3 of 32 pods are in CrashLoopBackOff",
            all.len()
        );
        Ok(vec![
            attempt(1)
                .approved(Identity::Approver, self.after(300), "First install on the new cluster")
                .in_flight(step, installed, self.after(-31))?
                .failed()
                .at(Phase::Failed, why),
            attempt(2)
                .approved(Identity::SecondApprover, self.after(330), "Driver image fixed; second attempt")
                .done(all.len(), installed)?
                .validated(Some("Passed"))
                .at(Phase::Succeeded, ""),
        ])
    }

    fn ended_upgrades(&self) -> Result<Vec<Entry>> {
        let target = &self.plans.upgrade;
        Ok(vec![
            self.superseded()?,
            self.upgrade(1)?
                .approved(Identity::Approver, self.after(-20), "Half an hour before the night shift")
                .done(2, target)?
                .at(
                    Phase::Expired,
                    "the approval expired before step 3/11 nodewright-customizations (Upgrade)",
                ),
            self.upgrade(2)?
                .approved(Identity::Approver, self.after(120), "Maintenance window")
                .revoked(Identity::SecondApprover, "Training job not checkpointed")
                .done(4, target)?
                .at(Phase::Revoked, "revoked by bob before step 5/11 gpu-operator (Upgrade)"),
        ])
    }

    /// A plan that another one replaced before anybody approved it.
    fn superseded(&self) -> Result<Entry> {
        let (from, to) = (&self.plans.installed, &self.plans.override_only);
        let transition = self.transition(Some(from.plan.digest()), Some(to.plan.digest()));
        let inventory = from.inventory()?;
        let steps = steps::between(from, to, &inventory, None);
        let newer = format!("plan {} became the target", self.plans.upgrade.plan.digest());
        Ok(self.entry(&transition, 1, steps, inventory).at(Phase::Superseded, newer))
    }

    fn upgrades_in_progress(&self) -> Result<Vec<Entry>> {
        let target = &self.plans.upgrade;
        let window = |entry: Entry| entry.approved(Identity::Approver, self.after(150), "Maintenance window");
        let count = self.upgrade(3)?.spec.steps.len();
        let validating = window(self.upgrade(6)?).done(count, target)?.validated(None);
        let run = validating.status.as_ref().and_then(|status| status.validation.as_ref());
        let run = run.map(|run| run.run_id.clone()).unwrap_or_default();
        Ok(vec![
            self.stalled(window(self.upgrade(3)?).done(3, target)?),
            window(self.upgrade(4)?)
                .in_flight(5, target, self.after(-4))?
                .at(Phase::Progressing, "release gpu-operator: HealthProgressing"),
            window(self.upgrade(5)?).in_flight(9, target, self.after(-12))?.at(
                Phase::AwaitingAcknowledgement,
                "release nvsentinel is applied: its recorded steps reset-breaker and verify are to be acknowledged",
            ),
            validating
                .acknowledged(Identity::SecondApprover, "nvsentinel")
                .at(Phase::Validating, format!("deployment validation run {run}")),
            self.upgrade(7)?.at(Phase::AwaitingApproval, "no step starts: the rollout awaits approval"),
            self.upgrade(8)?,
        ])
    }

    /// Somebody edited an Application by hand after the approval.
    fn stalled(&self, entry: Entry) -> Entry {
        let found = "the Application kai-scheduler is not as it was approved: \
                     spec.source.helm.valuesObject.global.gpuSharing was edited; undo the edit, and the rollout goes on";
        let mut entry = entry.at(Phase::Stalled, format!("InventoryDrift: {found}"));
        entry.status().conditions = vec![Condition {
            type_: "Stalled".to_owned(),
            status: ConditionStatus::True,
            observed_generation: None,
            last_transition_time: self.after(-6),
            reason: "InventoryDrift".to_owned(),
            message: found.to_owned(),
        }];
        entry
    }

    /// Taking over an earlier runtime's Applications, removing everything, and a runtime that went and left it all.
    fn ends_of_the_runtime(&self) -> Result<Vec<Entry>> {
        let (installed, target) = (&self.plans.installed, &self.plans.upgrade);
        let (active, earlier) = (Some(installed.plan.digest()), uid(EARLIER));
        let inventory = installed.inventory()?;
        let adopts = steps::every(installed, Operation::Adopt);
        let removes = steps::removal(installed, &inventory);
        let waits = "no step starts: the rollout awaits approval";
        let mut adoption = self.entry(&self.transition(active, active), 1, adopts, inventory.clone());
        adoption.adopted_from = Some(earlier.clone());
        let mut orphaned = self.upgrade(1)?;
        orphaned.transition.runtime_uid.clone_from(&earlier);
        orphaned.spec.runtime_uid = earlier;
        Ok(vec![
            adoption.at(Phase::AwaitingApproval, waits),
            self.entry(&self.transition(active, None), 1, removes, inventory)
                .at(Phase::AwaitingApproval, waits),
            orphaned
                .approved(Identity::SecondApprover, self.after(90), "Maintenance window")
                .done(2, target)?
                .at(Phase::Orphaned, "the runtime was deleted and its Applications were kept"),
        ])
    }

    fn upgrade(&self, number: u32) -> Result<Entry> {
        let (from, to) = (&self.plans.installed, &self.plans.upgrade);
        let transition = self.transition(Some(from.plan.digest()), Some(to.plan.digest()));
        let inventory = from.inventory()?;
        let steps = steps::between(from, to, &inventory, Some(&report()?));
        let mut entry = self.entry(&transition, number, steps, inventory);
        entry.spec.assessment_ref = Some(ContentReference {
            config_map: REPORT_CONFIG_MAP.to_owned(),
            digest: Digest::of_bytes(REPORT.as_bytes()).to_string(),
        });
        Ok(entry)
    }

    /// A rollout that was just created.
    fn entry(
        &self,
        transition: &Transition,
        number: u32,
        steps: Vec<Step>,
        starting_inventory: Vec<InventoryEntry>,
    ) -> Entry {
        let text = |end: Option<Digest>| end.map(|digest| digest.to_string()).unwrap_or_default();
        let spec = RuntimeRolloutSpec {
            schema_version: 1,
            runtime_uid: transition.runtime_uid.clone(),
            from_plan_digest: text(transition.from),
            to_plan_digest: text(transition.to),
            starting_inventory_digest: inventory_digest(&starting_inventory).to_string(),
            starting_inventory,
            assessment_ref: None,
            deadline: self.after(6 * 60),
            action_timeout: GoDuration::from_secs(30 * 60),
            approval_required: steps::need_approval(&steps),
            steps,
            approval: None,
        };
        Entry {
            transition: transition.clone(),
            number,
            spec,
            adopted_from: None,
            approval: None,
            acknowledgement: None,
            revocation: None,
            status: None,
            evidence: None,
        }
    }

    fn transition(&self, from: Option<Digest>, to: Option<Digest>) -> Transition {
        Transition { runtime_uid: self.runtime_uid.to_owned(), from, to }
    }

    /// An instant so many minutes from now.
    fn after(&self, minutes: i64) -> Time {
        let moved = self.now.0.checked_add(SignedDuration::from_mins(minutes));
        Time(moved.unwrap_or(self.now.0)).truncated()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn rollouts() -> Vec<Entry> {
        let plans = Plans::of_runtime("uid").unwrap();
        let now = Time("2026-11-30T12:00:00Z".parse().unwrap());
        Scene { plans: &plans, runtime_uid: "uid", now }.rollouts().unwrap()
    }

    #[test]
    fn there_is_a_rollout_in_every_phase_each_with_a_name_of_its_own() {
        let all = rollouts();
        let phases: BTreeSet<_> = all.iter().map(|entry| entry.phase().map_or("", Phase::as_str)).collect();
        let expected = [
            "",
            "AwaitingAcknowledgement",
            "AwaitingApproval",
            "Expired",
            "Failed",
            "Orphaned",
            "Progressing",
            "Revoked",
            "Stalled",
            "Succeeded",
            "Superseded",
            "Validating",
        ];
        assert_eq!(phases, BTreeSet::from(expected));
        let names: BTreeSet<String> = all.iter().map(Entry::name).collect();
        assert_eq!(names.len(), all.len());
        assert!(
            all.iter().filter(|entry| entry.evidence.is_some()).all(|e| e.outcome() == Some("Succeeded"))
        );
    }

    #[test]
    fn messages_name_the_step_that_comes_next() {
        for entry in rollouts() {
            let status = entry.status.clone().unwrap_or_default();
            let message = status.message.unwrap_or_default();
            let Some((_, place)) = message.split_once("step ").filter(|(_, rest)| rest.contains('/')) else {
                continue;
            };
            let (number, rest) = place.split_once('/').unwrap();
            let number: usize = number.parse().unwrap();
            let step = &entry.spec.steps[number - 1];
            let expected =
                format!("{} {} ({})", entry.spec.steps.len(), step.release, step.operation.as_str());
            assert!(rest.starts_with(&expected), "{message}: expected {expected}");
            let done = status.releases.iter().filter(|release| release.state == ReleaseState::Ready).count();
            assert_eq!(done, number - 1, "{message}");
        }
    }
}
