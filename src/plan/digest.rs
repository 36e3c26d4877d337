//! Digests: `sha256:` and 64 lower-case hexadecimal digits.
//!
//! Source: design section 2. Desired state is hashed over the canonical JSON of one documented record that names its
//! kind, so that records of two kinds never have one digest; recipes, snapshots and reports over their stored bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::canonical;

const PREFIX: &str = "sha256:";
const HEX_DIGITS: usize = 64;
const SHORT_BYTES: usize = 8;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// A text that is no digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a digest: expected sha256: and 64 lower-case hexadecimal digits")]
pub struct DigestError(String);

impl Digest {
    /// The digest of stored bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads `sha256:<64 lower-case hex>`.
    ///
    /// # Errors
    ///
    /// For any other text, also for upper-case digits: a digest has one spelling.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        // A very long text is not repeated in full.
        let refused = || DigestError(text.chars().take(PREFIX.len() + HEX_DIGITS + 1).collect());
        let digits = text.strip_prefix(PREFIX).ok_or_else(refused)?;
        if digits.len() != HEX_DIGITS || digits.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(refused());
        }
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| refused())?;
        Ok(Self(bytes))
    }

    /// The 64 hexadecimal digits without `sha256:`.
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }

    /// The first 16 hexadecimal digits, as names and labels carry them.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..SHORT_BYTES])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        Self::parse(text)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// What a record describes; its `kind` member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The desired state of a whole plan.
    Plan,
    /// The identity of one release.
    Release,
    /// A release's values and null parameters.
    Values,
    /// The engine objects that a rollout starts from.
    Inventory,
    /// An Application's source and destination.
    Spec,
    /// The inputs that a plan is resolved for.
    Inputs,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Release => "release",
            Self::Values => "values",
            Self::Inventory => "inventory",
            Self::Spec => "spec",
            Self::Inputs => "inputs",
        }
    }
}

/// A record to be hashed: members that equal their default are left out, so that absent equals default.
#[derive(Clone, Debug, Default)]
pub struct Record(Map<String, Value>);

impl Record {
    /// A record without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member unless it is empty: null, `false`, "", `[]` or `{}`. Zero is a value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !is_empty(&value) {
            self.0.insert(name.to_owned(), value);
        }
        self
    }

    /// The record as a member of another one.
    pub fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    /// The digest of the record's canonical JSON with its `kind` member.
    pub fn digest(mut self, kind: Kind) -> Digest {
        self.0.insert("kind".to_owned(), Value::from(kind.as_str()));
        Digest::of_bytes(canonical::to_string(&self.into_value()).as_bytes())
    }
}

/// Whether a member says no more than its absence.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) | Value::Number(_) => false,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_digest_has_one_spelling() {
        let digest = Digest::of_bytes(b"");
        assert_eq!(digest.to_string(), EMPTY);
        assert_eq!(digest.short(), "e3b0c44298fc1c14");
        assert_eq!(Digest::parse(EMPTY), Ok(digest));
        for text in [
            "",
            "sha256:",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "SHA256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha256:E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha256:g3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8550",
            " sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha256:éééééééééééééééééééééééééééééééé",
        ] {
            let error = Digest::parse(text).unwrap_err().to_string();
            assert!(error.contains("64 lower-case hexadecimal digits"), "{text}: {error}");
        }
    }

    #[test]
    fn a_digest_goes_through_json_as_its_text() {
        let digest = Digest::of_bytes(b"");
        assert_eq!(serde_json::to_value(digest).unwrap(), json!(EMPTY));
        assert_eq!(serde_json::from_value::<Digest>(json!(EMPTY)).unwrap(), digest);
        assert!(serde_json::from_value::<Digest>(json!("sha256:1")).is_err());
    }

    #[test]
    fn records_of_two_kinds_differ() {
        let record = Record::new().with("name", "x");
        let kinds = [Kind::Plan, Kind::Release, Kind::Values, Kind::Inventory, Kind::Spec, Kind::Inputs];
        let digests: std::collections::BTreeSet<_> =
            kinds.iter().map(|kind| record.clone().digest(*kind)).collect();
        assert_eq!(digests.len(), kinds.len());
    }

    #[test]
    fn an_absent_member_equals_its_default() {
        let bare = Record::new().with("name", "x").digest(Kind::Release);
        let spelled = Record::new()
            .with("name", "x")
            .with("flag", false)
            .with("list", json!([]))
            .with("map", json!({}))
            .with("text", "")
            .with("none", Value::Null);
        assert_eq!(spelled.digest(Kind::Release), bare);
        assert_ne!(Record::new().with("name", "x").with("count", 0).digest(Kind::Release), bare);
    }

    #[test]
    fn the_hashed_text_is_the_canonical_json_of_record_and_kind() {
        let expected = Digest::of_bytes(br#"{"kind":"spec","name":"x"}"#);
        assert_eq!(Record::new().with("name", "x").digest(Kind::Spec), expected);
    }
}
