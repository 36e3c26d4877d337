//! Conditions in kstatus form, with the bounds of the reference page (the type of `meta/v1` has no bound on messages).

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Time, schema};

/// One observation about an object; a list of them is keyed by `type`, so that each entry has its own owner.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Type of the condition, such as Ready.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[A-Za-z][A-Za-z0-9]*$"))]
    pub type_: String,
    /// True, False or Unknown.
    pub status: ConditionStatus,
    /// Generation of the object that the condition describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// When the status last changed.
    pub last_transition_time: Time,
    /// Why, in one word.
    #[schemars(length(min = 1, max = 128), regex(pattern = "^[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?$"))]
    pub reason: String,
    /// Why, in a sentence.
    #[schemars(length(max = 1024))]
    pub message: String,
}

/// Status of a condition.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It cannot be told.
    Unknown,
}

/// Schema of a condition list: a map keyed by type with at most 16 entries.
pub(super) fn conditions_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut list = schema::list::<Condition>(generator, 16);
    list.insert("x-kubernetes-list-type".into(), json!("map"));
    list.insert("x-kubernetes-list-map-keys".into(), json!(["type"]));
    list
}
