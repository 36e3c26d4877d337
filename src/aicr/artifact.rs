//! How every artifact is read: what is documented is read, additions are ignored, and the rest is refused by naming the
//! artifact, the field and what was found there.

use std::fmt;

use serde_json::{Map, Value};

use super::reason::Reason;

/// Version of the artifacts of every 1.x release.
pub(super) const API_V1: &str = "aicr.run/v1";
/// Version of recipes that carry a profile or a configuration.
pub(super) const API_V1BETA2: &str = "aicr.run/v1beta2";

/// Why an artifact cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{artifact}: {field}: {problem}")]
pub struct ArtifactError {
    /// The artifact, such as `snapshot`, or the file in the bundle.
    pub artifact: String,
    /// Path of the field, such as `components[2].verdict`; `document` for the whole, `line 3` in plain text.
    pub field: String,
    /// What is wrong with it.
    pub problem: String,
    /// The reason that a condition carries.
    pub reason: Reason,
}

impl ArtifactError {
    /// An artifact that is not what is documented.
    pub(super) fn new(artifact: &str, field: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self {
            artifact: artifact.to_owned(),
            field: field.into(),
            problem: problem.to_string(),
            reason: Reason::ArtifactUnsupported,
        }
    }
}

/// A parsed artifact and its name.
pub(super) struct Document<'a> {
    artifact: &'a str,
    value: Value,
}

impl<'a> Document<'a> {
    /// Reads JSON.
    pub(super) fn json(artifact: &'a str, text: &str) -> Result<Self, ArtifactError> {
        let value =
            serde_json::from_str(text).map_err(|error| ArtifactError::new(artifact, "document", error))?;
        Ok(Self { artifact, value })
    }

    /// Reads JSON or YAML: AICR writes either, by `--format`. A key that a YAML map holds twice is an error.
    pub(super) fn json_or_yaml(artifact: &'a str, text: &str) -> Result<Self, ArtifactError> {
        if text.trim_start().starts_with('{') {
            return Self::json(artifact, text);
        }
        let yaml: serde_yaml::Value =
            serde_yaml::from_str(text).map_err(|error| ArtifactError::new(artifact, "document", error))?;
        let value =
            serde_json::to_value(yaml).map_err(|error| ArtifactError::new(artifact, "document", error))?;
        Ok(Self { artifact, value })
    }

    /// The outermost object.
    pub(super) fn root(&self) -> Result<Node<'_>, ArtifactError> {
        Node::new(self.artifact, String::new(), &self.value)
    }

    /// The outermost object, which must be of this kind and of one of these versions.
    pub(super) fn of_kind(&self, kind: &str, versions: &[&str]) -> Result<Node<'_>, ArtifactError> {
        let root = self.root()?;
        let version = root.text("apiVersion")?;
        if !versions.contains(&version.as_str()) {
            let problem = format!("'{version}' is not supported: expected {}", versions.join(" or "));
            return Err(root.error("apiVersion", problem));
        }
        let found = root.text("kind")?;
        if found != kind {
            return Err(root.error("kind", format!("'{found}' is not {kind}")));
        }
        Ok(root)
    }
}

/// An object and where it stands, to name a field in an error.
pub(super) struct Node<'a> {
    artifact: &'a str,
    path: String,
    members: &'a Map<String, Value>,
}

impl<'a> Node<'a> {
    fn new(artifact: &'a str, path: String, value: &'a Value) -> Result<Self, ArtifactError> {
        let Some(members) = value.as_object() else {
            let field = if path.is_empty() { "document".to_owned() } else { path };
            return Err(ArtifactError::new(
                artifact,
                field,
                format!("expected an object, found {}", kind(value)),
            ));
        };
        Ok(Self { artifact, path, members })
    }

    pub(super) fn error(&self, field: &str, problem: impl fmt::Display) -> ArtifactError {
        ArtifactError::new(self.artifact, self.at(field), problem)
    }

    pub(super) fn missing(&self, field: &str) -> ArtifactError {
        self.error(field, "missing")
    }

    fn expected(&self, field: &str, what: &str, found: &Value) -> ArtifactError {
        self.error(field, format!("expected {what}, found {}", kind(found)))
    }

    fn at(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }

    /// A member that is there and not null; Go leaves out or nulls what is empty.
    fn get(&self, field: &str) -> Option<&'a Value> {
        self.members.get(field).filter(|value| !value.is_null())
    }

    /// The members' names, sorted.
    pub(super) fn keys(&self) -> Vec<&'a str> {
        let mut keys: Vec<_> = self.members.keys().map(String::as_str).collect();
        keys.sort_unstable();
        keys
    }

    /// A string; AICR leaves empty ones out, so absent is empty.
    pub(super) fn text(&self, field: &str) -> Result<String, ArtifactError> {
        match self.members.get(field) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(self.expected(field, "a string", other)),
        }
    }

    /// A string that is not empty.
    pub(super) fn required(&self, field: &str) -> Result<String, ArtifactError> {
        let text = self.text(field)?;
        if text.is_empty() { Err(self.missing(field)) } else { Ok(text) }
    }

    /// A string that is not empty, or nothing.
    pub(super) fn optional(&self, field: &str) -> Result<Option<String>, ArtifactError> {
        match self.get(field) {
            None => Ok(None),
            Some(_) => Ok(Some(self.text(field)?).filter(|text| !text.is_empty())),
        }
    }

    /// A list of strings; absent is empty.
    pub(super) fn texts(&self, field: &str) -> Result<Vec<String>, ArtifactError> {
        let Some(items) = self.list(field)? else { return Ok(Vec::new()) };
        let text = |(index, item): (usize, &Value)| match item {
            Value::String(text) => Ok(text.clone()),
            other => Err(self.expected(&format!("{field}[{index}]"), "a string", other)),
        };
        items.iter().enumerate().map(text).collect()
    }

    /// A boolean that is always present.
    pub(super) fn flag(&self, field: &str) -> Result<bool, ArtifactError> {
        match self.members.get(field) {
            None => Err(self.missing(field)),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.expected(field, "true or false", other)),
        }
    }

    /// A count that is always present.
    pub(super) fn count(&self, field: &str) -> Result<u64, ArtifactError> {
        let value = self.members.get(field).ok_or_else(|| self.missing(field))?;
        value.as_u64().ok_or_else(|| self.expected(field, "a count", value))
    }

    /// Whether there is such a member.
    pub(super) fn has(&self, field: &str) -> bool {
        self.get(field).is_some()
    }

    /// A member as it is.
    pub(super) fn raw(&self, field: &str) -> Option<&'a Value> {
        self.get(field)
    }

    pub(super) fn child(&self, field: &str) -> Result<Option<Node<'a>>, ArtifactError> {
        let read = |value| Node::new(self.artifact, self.at(field), value);
        // Null where an object belongs is not empty: AICR writes no null objects.
        self.members.get(field).map(read).transpose()
    }

    fn list(&self, field: &str) -> Result<Option<&'a Vec<Value>>, ArtifactError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(self.expected(field, "a list", other)),
        }
    }

    /// A list of objects.
    pub(super) fn array(&self, field: &str) -> Result<Option<Vec<Node<'a>>>, ArtifactError> {
        let Some(items) = self.list(field)? else { return Ok(None) };
        let node = |(index, item)| Node::new(self.artifact, format!("{}[{index}]", self.at(field)), item);
        items.iter().enumerate().map(node).collect::<Result<_, _>>().map(Some)
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
