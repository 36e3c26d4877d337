//! Pieces of CRD schema that several types share.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

/// `sha256:` and 64 lower-case hex digits.
pub(super) const DIGEST_PATTERN: &str = "^sha256:[a-f0-9]{64}$";
/// The same, or nothing.
pub(super) const OPTIONAL_DIGEST_PATTERN: &str = "^(sha256:[a-f0-9]{64})?$";
/// A release ID: a Helm release name that is also an Application's name.
pub(super) const RELEASE_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// A Kubernetes object's name, without anything that could leave its path in a request.
pub(super) const OBJECT_NAME_PATTERN: &str = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
/// A UUID, or nothing.
pub(super) const OPTIONAL_UUID_PATTERN: &str =
    "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})?$";
/// A Kubernetes label value.
pub(super) const LABEL_VALUE_PATTERN: &str = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";

/// `x-kubernetes-validations` from pairs of rule and message.
pub(super) fn validations(rules: &[(&str, &str)]) -> Value {
    rules.iter().map(|(rule, message)| json!({"rule": rule, "message": message})).collect()
}

/// An atomic list of at most `max` items.
pub(super) fn list<T: JsonSchema>(generator: &mut SchemaGenerator, max: u32) -> Schema {
    json_schema!({"type": "array", "maxItems": max, "items": generator.subschema_for::<T>()})
}

/// Any JSON value; the reader judges it.
pub(super) fn any_value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}

/// Whether a flag is at its default, to leave it out when writing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if passes a reference")]
pub(super) fn is_false(flag: &bool) -> bool {
    !flag
}
