//! Telling about a failure that repeats: at once, then seldom.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often the same thing is told.
pub const EVERY: Duration = Duration::from_mins(10);
/// How many different things are remembered.
const KEPT: usize = 32;

/// What was told, and when.
#[derive(Clone, Debug, Default)]
pub struct Repeats(BTreeMap<String, Instant>);

impl Repeats {
    /// Whether this is to be told at `now`: it is new, or was last told long ago. Messages that alternate are each told
    /// once; of ever new ones no more are told than are remembered, until the oldest is long ago.
    pub fn is_due(&mut self, message: &str, now: Instant) -> bool {
        self.0.retain(|_, told| now.saturating_duration_since(*told) < EVERY);
        if self.0.contains_key(message) || self.0.len() >= KEPT {
            return false;
        }
        self.0.insert(message.to_owned(), now);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{EVERY, KEPT, Repeats};

    #[test]
    fn a_failure_is_told_when_it_is_new_and_then_seldom() {
        let start = Instant::now();
        let mut repeats = Repeats::default();
        assert!(repeats.is_due("a", start));
        assert!(repeats.is_due("b", start));
        assert!(!repeats.is_due("a", start + Duration::from_secs(1)));
        assert!(!repeats.is_due("b", start + Duration::from_secs(599)));
        assert!(repeats.is_due("a", start + EVERY));
        assert!(!repeats.is_due("a", start + EVERY + Duration::from_secs(1)));
    }

    #[test]
    fn ever_new_messages_are_told_in_bounds() {
        let start = Instant::now();
        let mut repeats = Repeats::default();
        let told = |repeats: &mut Repeats, from: Instant| {
            (0..1000).filter(|number| repeats.is_due(&format!("{number}"), from)).count()
        };
        assert_eq!(told(&mut repeats, start), KEPT);
        assert_eq!(told(&mut repeats, start + Duration::from_secs(1)), 0);
        assert_eq!(told(&mut repeats, start + EVERY), KEPT);
    }
}
