//! The wall clock. Nothing else reads it: what decides takes `now`.

/// The time now.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}
