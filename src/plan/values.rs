//! A release's values in their one normal form: used in its digest, its ConfigMap and its Application.
//!
//! Source: design section 2. The values hold no null as a member of a map; a null that deletes a default of the chart is
//! a parameter `path=null` beside them, because Argo CD loses nulls in `valuesObject`. Nulls as elements of lists stay.
//! How bundles' values get into this form is in [`super::normal`].

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::canonical;
use super::digest::{Digest, Kind, Record};
use super::helm_path::{HelmPath, Unsettable, escaped};
use super::numbers;
use super::reason::Reason;
use crate::api::application::Parameter;

/// The most that one release's values may take as canonical JSON, parameters included: Argo CD stores them many times
/// in one object.
pub const MAX_VALUES_BYTES: usize = 128 * 1024;
/// The value of every parameter: Helm reads it as "delete".
const NULL: &str = "null";

/// Values in normal form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    object: Map<String, Value>,
    nulls: BTreeSet<HelmPath>,
}

/// Why values have no normal form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValuesError {
    /// The document is a list or a scalar.
    #[error("the values are {0}: Helm takes a map")]
    NotAMap(&'static str),
    /// Neither YAML nor a process argument can carry the character.
    #[error("{0} holds a NUL character: remove it")]
    Nul(String),
    /// No finite double holds the number.
    #[error("{0} is a number that no finite double holds: write it as a string")]
    NumberOutOfRange(String),
    /// A null has to be passed as `--set`, which does not reach it.
    #[error("{path} is null to delete a default of the chart, but helm --set does not reach it: {why}")]
    Unsettable {
        /// Where the null is.
        path: String,
        /// What `--set` does not do.
        why: Unsettable,
    },
    /// Stored values hold a null, which normal form never does.
    #[error("{0} is null: values in normal form hold no null in a map")]
    Null(String),
    /// A stored parameter is not `path=null`.
    #[error("parameter {0:?} is not of the form <path>=null beside the values")]
    Parameter(String),
    /// Over [`MAX_VALUES_BYTES`].
    #[error("the values take {bytes} bytes as canonical JSON: at most {MAX_VALUES_BYTES} are allowed")]
    TooLarge {
        /// What they take.
        bytes: usize,
    },
}

impl ValuesError {
    /// The reason that a condition carries.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::TooLarge { .. } => Reason::ContentTooLarge,
            _ => Reason::InvalidOverride,
        }
    }
}

impl Values {
    /// Values made by [`super::normal`]: a tree in normal form and the nulls that left it.
    ///
    /// # Errors
    ///
    /// When they take more than [`MAX_VALUES_BYTES`].
    pub(super) fn new(object: Map<String, Value>, nulls: BTreeSet<HelmPath>) -> Result<Self, ValuesError> {
        let values = Self { object, nulls };
        let bytes = values.bytes();
        if bytes > MAX_VALUES_BYTES {
            return Err(ValuesError::TooLarge { bytes });
        }
        Ok(values)
    }

    /// Reads values in normal form back from where they were stored: a ConfigMap or an Application, whose numbers may
    /// be spelled anew. An absent (null) tree is an empty one.
    ///
    /// # Errors
    ///
    /// When they are not in normal form: a null in a map, a parameter that is no `path=null` or touches the values, a
    /// NUL character, or more than [`MAX_VALUES_BYTES`].
    pub fn from_parts(object: &Value, parameters: &[Parameter]) -> Result<Self, ValuesError> {
        let object = Walk::new(&mut |path| Err(ValuesError::Null(display(path)))).document(object)?;
        let mut nulls = BTreeSet::new();
        for parameter in parameters {
            let refused = || ValuesError::Parameter(format!("{}={}", parameter.name, parameter.value));
            let path = HelmPath::parse(&parameter.name).ok_or_else(refused)?;
            let is_null = parameter.value == NULL && !parameter.force_string;
            if !is_null || !is_free(&object, path.keys()) || !nulls.insert(path) {
                return Err(refused());
            }
        }
        Self::new(object, nulls)
    }

    /// The values as `helm.valuesObject` takes them.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }

    /// The nulls as `helm.parameters` takes them, sorted by name.
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |name| Parameter { name, value: NULL.to_owned(), force_string: false };
        let mut parameters: Vec<_> = self.nulls.iter().map(|path| parameter(path.to_string())).collect();
        parameters.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        parameters
    }

    /// The values with each null at its path: what Helm is given in effect, for comparing.
    pub fn with_nulls(&self) -> Value {
        let mut object = self.object.clone();
        for path in &self.nulls {
            insert_null(&mut object, path.keys());
        }
        Value::Object(object)
    }

    /// The digest over values and parameters.
    pub fn digest(&self) -> Digest {
        Record::new()
            .with("values", self.object.clone())
            .with("parameters", parameters_json(&self.parameters()))
            .digest(Kind::Values)
    }

    /// What the stored texts take, in bytes.
    fn bytes(&self) -> usize {
        let (values, parameters) = self.texts();
        values.len() + parameters.map_or(0, |text| text.len())
    }

    /// The canonical texts of the values and, if there are any, of the parameters.
    pub(super) fn texts(&self) -> (String, Option<String>) {
        let values = canonical::to_string(&Value::Object(self.object.clone()));
        let parameters = parameters_json(&self.parameters());
        (values, (!self.nulls.is_empty()).then(|| canonical::to_string(&parameters)))
    }
}

/// Parameters as JSON.
pub(super) fn parameters_json(parameters: &[Parameter]) -> Value {
    let json = |parameter: &Parameter| serde_json::json!({"name": parameter.name, "value": parameter.value});
    parameters.iter().map(json).collect()
}

/// Whether a null can be set at the path: everything above it is a map or absent, and nothing is there.
fn is_free(object: &Map<String, Value>, path: &[String]) -> bool {
    match path {
        [] => false,
        [key] => !object.contains_key(key),
        [key, rest @ ..] => match object.get(key) {
            None => true,
            Some(Value::Object(map)) => is_free(map, rest),
            Some(_) => false,
        },
    }
}

fn insert_null(object: &mut Map<String, Value>, path: &[String]) {
    let [key, rest @ ..] = path else { return };
    if rest.is_empty() {
        object.insert(key.clone(), Value::Null);
        return;
    }
    let below = object.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(map) = below {
        insert_null(map, rest);
    }
}

/// One level of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// A member of a map.
    Key(String),
    /// An element of a list.
    Index(usize),
}

/// A walk through a document of values that brings it into normal form. Every null that is a member of a map leaves the
/// tree, after `null` was told its path.
pub(super) struct Walk<'a> {
    null: &'a mut dyn FnMut(&[Segment]) -> Result<(), ValuesError>,
    path: Vec<Segment>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(null: &'a mut dyn FnMut(&[Segment]) -> Result<(), ValuesError>) -> Self {
        Self { null, path: Vec::new() }
    }

    /// The whole document in normal form.
    pub(super) fn document(&mut self, value: &Value) -> Result<Map<String, Value>, ValuesError> {
        self.map(document(value)?.unwrap_or(&Map::new()))
    }

    fn value(&mut self, value: &Value) -> Result<Value, ValuesError> {
        match value {
            Value::Number(number) => match numbers::normal(number) {
                Some(number) => Ok(Value::Number(number)),
                None => Err(ValuesError::NumberOutOfRange(display(&self.path))),
            },
            Value::String(text) if text.contains('\0') => Err(ValuesError::Nul(display(&self.path))),
            Value::Null | Value::Bool(_) | Value::String(_) => Ok(value.clone()),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.below(Segment::Index(index), |walk| walk.value(item)))
                .collect::<Result<_, _>>()
                .map(Value::Array),
            Value::Object(map) => self.map(map).map(Value::Object),
        }
    }

    fn map(&mut self, map: &Map<String, Value>) -> Result<Map<String, Value>, ValuesError> {
        let mut normal = Map::new();
        // Sorted, so that errors and warnings come in one order.
        for (key, member) in canonical::sorted(map) {
            if key.contains('\0') {
                return Err(ValuesError::Nul(format!("a key below {}", display(&self.path))));
            }
            let segment = Segment::Key(key.clone());
            if member.is_null() {
                self.below(segment, |walk| (walk.null)(&walk.path))?;
            } else {
                normal.insert(key.clone(), self.below(segment, |walk| walk.value(member))?);
            }
        }
        Ok(normal)
    }

    fn below<T>(
        &mut self,
        segment: Segment,
        visit: impl FnOnce(&mut Self) -> Result<T, ValuesError>,
    ) -> Result<T, ValuesError> {
        self.path.push(segment);
        let visited = visit(self);
        self.path.pop();
        visited
    }
}

/// A values document: a map, or nothing.
pub(super) fn document(value: &Value) -> Result<Option<&Map<String, Value>>, ValuesError> {
    match value {
        Value::Null => Ok(None),
        Value::Object(map) => Ok(Some(map)),
        Value::Array(_) => Err(ValuesError::NotAMap("a list")),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(ValuesError::NotAMap("a scalar")),
    }
}

/// A path in messages: keys as `--set` spells them, elements as `[2]`.
pub(super) fn display(path: &[Segment]) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Key(key) if text.is_empty() => text.push_str(&escaped(key)),
            Segment::Key(key) => text.extend([".", &escaped(key)]),
            Segment::Index(index) => text.extend(["[", &index.to_string(), "]"]),
        }
    }
    if text.is_empty() { "the top".to_owned() } else { text }
}
