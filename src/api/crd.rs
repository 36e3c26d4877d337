//! The CustomResourceDefinitions, generated from the types and finished for the API server.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use serde_json::{Value, json};

use super::{ClusterRuntime, RuntimeRollout, keys, schema};

/// Both definitions, as they are applied.
///
/// What the derive emits is finished: `nullable` is dropped everywhere, because a null would slip past set-once rules
/// (`has()` is true for null), and so are defaults that say nothing. The singleton rule is added to the root.
///
/// # Errors
/// When a definition cannot be turned into the API's own type, which is a defect of this crate.
pub fn definitions() -> Result<Vec<CustomResourceDefinition>, serde_json::Error> {
    let mut runtime = serde_json::to_value(ClusterRuntime::crd())?;
    let rule = format!("self.metadata.name == '{}'", keys::SINGLETON);
    let message = format!("there is one ClusterRuntime, and its name is {}", keys::SINGLETON);
    runtime["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] =
        schema::validations(&[(&rule, &message)]);
    let mut rollout = serde_json::to_value(RuntimeRollout::crd())?;
    for definition in [&mut runtime, &mut rollout] {
        finish(definition);
        definition["metadata"]["labels"] = json!({"app.kubernetes.io/part-of": keys::MANAGER});
    }
    [runtime, rollout].into_iter().map(serde_json::from_value).collect()
}

/// Drops `nullable` and empty defaults at every depth.
fn finish(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("nullable");
            let says_nothing = |default: &Value| match default {
                Value::Null | Value::Bool(false) => true,
                Value::Array(items) => items.is_empty(),
                _ => false,
            };
            if members.get("default").is_some_and(says_nothing) {
                members.remove("default");
            }
            members.values_mut().for_each(finish);
        }
        Value::Array(items) => items.iter_mut().for_each(finish),
        _ => {}
    }
}
