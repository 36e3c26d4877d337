//! An instant as the API holds it: RFC 3339 in UTC.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// RFC 3339 with four-digit years that both Go and jiff read. The server's own `date-time` format accepts forms that
/// no strict reader does, so an object could be admitted that the controller cannot read.
pub(super) const TIME_PATTERN: &str = r"^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$";

/// Longest text of an instant.
pub(super) const TIME_MAX_LENGTH: u32 = 40;

/// An instant, read from any RFC 3339 offset and written in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(pub jiff::Timestamp);

impl Time {
    /// The same instant without parts of a second, as Kubernetes writes times.
    #[must_use]
    pub fn truncated(self) -> Self {
        Self(jiff::Timestamp::from_second(self.0.as_second()).unwrap_or(self.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<jiff::Timestamp> for Time {
    fn from(timestamp: jiff::Timestamp) -> Self {
        Self(timestamp)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|_| de::Error::custom(format!("'{text}' is no RFC 3339 time")))
    }
}

impl JsonSchema for Time {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "date-time",
            "maxLength": TIME_MAX_LENGTH,
            "pattern": TIME_PATTERN,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn a_time_is_written_in_utc_and_without_needless_parts() {
        for (input, written) in [
            ("2026-10-15T04:00:00Z", "2026-10-15T04:00:00Z"),
            ("2026-10-15T06:00:00+02:00", "2026-10-15T04:00:00Z"),
            ("2026-10-15T04:00:00.25Z", "2026-10-15T04:00:00.25Z"),
        ] {
            let time: Time = serde_json::from_value(input.into()).unwrap();
            assert_eq!(time.to_string(), written);
        }
    }

    #[test]
    fn an_unreadable_time_is_named() {
        let error = serde_json::from_value::<Time>("tomorrow".into()).unwrap_err().to_string();
        assert_eq!(error, "'tomorrow' is no RFC 3339 time");
    }
}
