//! Conditions of the ClusterRuntime: each reconciler applies its own types and no other.
//!
//! Source: api-reference, "ClusterRuntime", on the owners of conditions; design, section 8.

use jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Map, Value, json};

use super::writes::{WriteError, Writes};
use crate::api::{ClusterRuntime, Code, Condition, ConditionStatus, Time, keys};

/// Most characters of a message. Source: api-reference, "ClusterRuntime".
const MESSAGE: usize = 1024;

/// Who writes status, and which condition types are theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Field manager of its applies.
    pub manager: &'static str,
    /// Types that it alone writes, in the order in which people read them.
    pub types: &'static [&'static str],
    /// Fields of status that it alone writes.
    pub fields: &'static [&'static str],
}

/// The resolver.
pub const RESOLVER: Owner = Owner {
    manager: keys::RESOLVER_FIELD_MANAGER,
    types: &["Resolved"],
    fields: &["aicr", "discovery", "candidatePlanDigest", "inputDigest"],
};
/// The rollout controller.
pub const ROLLOUT: Owner = Owner {
    manager: keys::ROLLOUT_FIELD_MANAGER,
    types: &["Ready", "Available", "Reconciling", "Stalled", "EngineAvailable"],
    fields: &["observedGeneration", "activePlanDigest", "rollout"],
};

/// What is to be said under one condition type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    type_: &'static str,
    status: ConditionStatus,
    reason: String,
    message: String,
}

impl Finding {
    /// Something that was observed.
    pub fn new(
        type_: &'static str,
        status: ConditionStatus,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { type_, status, reason: reason.into(), message: message.into() }
    }

    /// A failure; its message begins with its code.
    pub fn failed(
        type_: &'static str,
        status: ConditionStatus,
        reason: impl Into<String>,
        code: Code,
        message: &str,
    ) -> Self {
        Self::new(type_, status, reason, format!("[{code}] {message}"))
    }
}

impl Owner {
    /// The owner's conditions as they should be: `findings` in the order of its types, with the time of the last change
    /// of status kept from `current`. A type that is not the owner's is left out; one without a finding is dropped.
    pub fn conditions(
        &self,
        current: &[Condition],
        findings: &[Finding],
        generation: Option<i64>,
        now: Timestamp,
    ) -> Vec<Condition> {
        let one = |type_: &&'static str| {
            let finding = findings.iter().find(|finding| finding.type_ == *type_)?;
            let before = current.iter().find(|condition| condition.type_ == *type_);
            let since = before.filter(|condition| condition.status == finding.status);
            Some(Condition {
                type_: finding.type_.to_owned(),
                status: finding.status,
                observed_generation: generation,
                last_transition_time: since
                    .map_or(Time(now).truncated(), |condition| condition.last_transition_time),
                reason: finding.reason.clone(),
                message: cut(&finding.message),
            })
        };
        self.types.iter().filter_map(one).collect()
    }

    /// What to apply so that the status says `findings` and the owner's fields are those of `rest`; `None` if it is so
    /// already. A field that is missing or null is removed; one that is not the owner's is left out.
    pub fn apply(
        &self,
        runtime: &ClusterRuntime,
        findings: &[Finding],
        mut rest: Map<String, Value>,
        now: Timestamp,
    ) -> Option<Value> {
        let status = runtime.status.as_ref();
        let current = status.map_or(&[][..], |status| &status.conditions);
        let conditions = self.conditions(current, findings, runtime.metadata.generation, now);
        let owned = |condition: &&Condition| self.types.contains(&condition.type_.as_str());
        let mut before: Vec<&Condition> = current.iter().filter(owned).collect();
        before.sort_by_key(|condition| self.types.iter().position(|type_| *type_ == condition.type_));
        let live = serde_json::to_value(status).unwrap_or_default();
        rest.retain(|field, value| self.fields.contains(&field.as_str()) && !value.is_null());
        let same_rest = self.fields.iter().all(|field| live.get(field) == rest.get(*field));
        if same_rest && before == conditions.iter().collect::<Vec<_>>() {
            return None;
        }
        rest.insert("conditions".to_owned(), json!(conditions));
        Some(json!({
            "apiVersion": format!("{}/{}", keys::GROUP, keys::VERSION),
            "kind": "ClusterRuntime",
            // An apply that was decided on an older state fails with a conflict instead of going back to it.
            "metadata": {
                "name": runtime.metadata.name,
                "uid": runtime.metadata.uid,
                "resourceVersion": runtime.metadata.resource_version,
            },
            "status": rest,
        }))
    }

    /// Applies what [`Self::apply`] gave. Another manager of a field of the owner's is overridden: the field is the
    /// owner's alone.
    pub async fn send(
        &self,
        client: kube::Client,
        writes: &Writes,
        body: &Value,
    ) -> Result<ClusterRuntime, WriteError> {
        let runtimes: Api<ClusterRuntime> = Api::all(client);
        let parameters = PatchParams::apply(self.manager).force();
        writes.send(runtimes.patch_status(keys::SINGLETON, &parameters, &Patch::Apply(body))).await
    }
}

/// Within the bound of the API, which counts characters.
fn cut(message: &str) -> String {
    if message.chars().nth(MESSAGE).is_none() {
        return message.to_owned();
    }
    message.chars().take(MESSAGE - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
