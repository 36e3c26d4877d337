//! Who leads: the rules, without a server or a clock.
//!
//! A Lease is no lock. It tells processes with honest monotonic clocks who may write; that a write of a frozen leader
//! does no harm is the writes' own business. No clock of another machine is trusted: that a Lease changed is seen by
//! its content, and how long ago by the own clock.
//!
//! Source: design, section 8.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};

/// How long a Lease holds after it was renewed.
pub const DURATION: Duration = Duration::from_secs(15);
/// A leader that could not renew its Lease for this long gives up.
pub const RENEW_WITHIN: Duration = Duration::from_secs(10);
/// How often a leader renews.
pub const RENEW_EVERY: Duration = Duration::from_secs(2);
/// How often a standby looks, so that a released Lease is taken within 2 s.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The longest that a write may take; also how long a new leader waits for those of one that vanished.
pub const WRITE_WITHIN: Duration = Duration::from_secs(5);

/// What a Lease says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Who holds it; empty if nobody does.
    pub holder: String,
    /// When it was taken, by the holder's clock.
    pub acquired: Option<Timestamp>,
    /// When it was last renewed, by the holder's clock. Only that it changes counts.
    pub renewed: Option<Timestamp>,
    /// How often it was taken.
    pub transitions: i32,
}

impl Record {
    /// Reads a Lease; what is missing is empty.
    pub fn of(lease: &Lease) -> Self {
        let Some(spec) = &lease.spec else { return Self::default() };
        Self {
            holder: spec.holder_identity.clone().unwrap_or_default(),
            acquired: spec.acquire_time.as_ref().map(|time| time.0),
            renewed: spec.renew_time.as_ref().map(|time| time.0),
            transitions: spec.lease_transitions.unwrap_or_default(),
        }
    }

    /// The record of `me`, who takes or renews what this one says.
    #[must_use]
    pub fn held_by(&self, me: &str, now: Timestamp) -> Self {
        let mine = self.holder == me;
        Self {
            holder: me.to_owned(),
            acquired: if mine { self.acquired } else { Some(now) },
            renewed: Some(now),
            transitions: if mine { self.transitions } else { self.transitions.saturating_add(1) },
        }
    }

    /// The record of a Lease that its holder gives back.
    #[must_use]
    pub fn released(&self, now: Timestamp) -> Self {
        Self {
            holder: String::new(),
            acquired: self.acquired,
            renewed: Some(now),
            transitions: self.transitions,
        }
    }

    /// This record in a Lease, with the metadata of the one that it replaces.
    pub fn lease(&self, metadata: ObjectMeta) -> Lease {
        // As other users of Leases do: what nobody holds expires at once.
        let seconds =
            if self.holder.is_empty() { 1 } else { i32::try_from(DURATION.as_secs()).unwrap_or(i32::MAX) };
        let spec = LeaseSpec {
            holder_identity: Some(self.holder.clone()),
            lease_duration_seconds: Some(seconds),
            acquire_time: self.acquired.map(MicroTime),
            renew_time: self.renewed.map(MicroTime),
            lease_transitions: Some(self.transitions),
            ..LeaseSpec::default()
        };
        Lease { metadata, spec: Some(spec) }
    }
}

/// What a Lease said, and since when this process knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// What it says.
    pub record: Record,
    /// When this process first saw it say so.
    pub since: Instant,
}

impl Observed {
    /// The next look, at `now`: an unchanged record keeps the instant since when it is known.
    #[must_use]
    pub fn after(previous: Option<Self>, record: Record, now: Instant) -> Self {
        match previous {
            Some(previous) if previous.record == record => previous,
            _ => Self { record, since: now },
        }
    }
}

/// How a Lease that is taken was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Its holder gave it back, with no write under way.
    Released,
    /// Its holder vanished, and a write of it may still be under way.
    Expired,
}

/// What to do about a Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Take it.
    Acquire(Found),
    /// It is the own one.
    Renew,
    /// Another holds it; look again after this time.
    Wait(Duration),
}

/// Decides about a Lease as it was last seen.
pub fn decide(observed: &Observed, me: &str, now: Instant) -> Decision {
    let holder = observed.record.holder.as_str();
    if holder == me {
        return Decision::Renew;
    }
    if holder.is_empty() {
        return Decision::Acquire(Found::Released);
    }
    let age = now.saturating_duration_since(observed.since);
    match DURATION.checked_sub(age).filter(|rest| !rest.is_zero()) {
        Some(rest) => Decision::Wait(rest.min(LOOK_EVERY)),
        None => Decision::Acquire(Found::Expired),
    }
}

/// How long to wait after so many failures in a row. It ends low: a leader must be found soon after the API server is
/// back.
pub fn pause(failures: u32) -> Duration {
    const LONGEST: Duration = Duration::from_secs(4);
    LOOK_EVERY.saturating_mul(1 << failures.saturating_sub(1).min(8)).min(LONGEST)
}

/// One reign: since when the Lease is known to hold, and from when on writes are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// When the last renewal that succeeded was sent.
    pub renewed: Instant,
    /// No write before this.
    pub writes_from: Instant,
}

/// Why a write may not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// This process does not lead.
    NotLeading,
    /// A write of the leader before may still be under way; try again after this time.
    NotYet(Duration),
    /// The write could end after the Lease.
    LeaseTooOld,
}

impl Term {
    /// A term that begins with a Lease taken by a request sent at `sent`, whose answer came at `now`.
    pub fn begin(found: Found, sent: Instant, now: Instant) -> Self {
        let writes_from = match found {
            Found::Released => now,
            Found::Expired => now + WRITE_WITHIN,
        };
        Self { renewed: sent, writes_from }
    }

    /// Whether a write that ends within `within` may be sent at `now`.
    pub fn may_write(&self, within: Duration, now: Instant) -> Result<(), Refusal> {
        if let Some(rest) = self.writes_from.checked_duration_since(now).filter(|rest| !rest.is_zero()) {
            return Err(Refusal::NotYet(rest));
        }
        if now + within <= self.renewed + DURATION { Ok(()) } else { Err(Refusal::LeaseTooOld) }
    }

    /// How much time is left to renew; `None` if there is none.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        let age = now.saturating_duration_since(self.renewed);
        RENEW_WITHIN.checked_sub(age).filter(|rest| !rest.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use jiff::Timestamp;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use proptest::prelude::*;

    use super::*;

    fn record(holder: &str, renewed: i64) -> Record {
        let renewed = Timestamp::from_second(renewed).unwrap();
        Record { holder: holder.into(), acquired: Some(renewed), renewed: Some(renewed), transitions: 3 }
    }

    #[test]
    fn a_standby_waits_while_the_lease_is_renewed_and_takes_it_when_it_is_not() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let observed = Observed { record: record("other", 0), since: start };
        for (millis, decision) in [
            (0, Decision::Wait(Duration::from_secs(1))),
            (13_999, Decision::Wait(Duration::from_secs(1))),
            (14_400, Decision::Wait(Duration::from_millis(600))),
            (15_000, Decision::Acquire(Found::Expired)),
            (90_000, Decision::Acquire(Found::Expired)),
        ] {
            assert_eq!(decide(&observed, "me", at(millis)), decision, "{millis}");
        }
    }

    #[test]
    fn a_released_lease_is_taken_at_once_and_the_own_one_renewed() {
        let now = Instant::now();
        let saying = |holder| Observed { record: record(holder, 0), since: now };
        assert_eq!(decide(&saying(""), "me", now), Decision::Acquire(Found::Released));
        assert_eq!(decide(&saying("me"), "me", now), Decision::Renew);
    }

    #[test]
    fn only_a_changed_record_starts_the_waiting_anew() {
        let start = Instant::now();
        let later = start + Duration::from_secs(9);
        let first = Observed::after(None, record("other", 0), start);
        assert_eq!(Observed::after(Some(first.clone()), record("other", 0), later).since, start);
        // A clock that was set back is a change like any other.
        for changed in [record("other", 5), record("other", -3600), record("third", 0)] {
            assert_eq!(Observed::after(Some(first.clone()), changed, later).since, later);
        }
    }

    #[test]
    fn a_lease_says_what_its_record_says() {
        let taken = record("other", 0).held_by("me", Timestamp::from_second(100).unwrap());
        assert_eq!((taken.holder.as_str(), taken.transitions), ("me", 4));
        let renewed = taken.held_by("me", Timestamp::from_second(102).unwrap());
        assert_eq!((renewed.acquired, renewed.transitions), (taken.acquired, 4));
        let released = renewed.released(Timestamp::from_second(103).unwrap());
        for record in [taken, renewed, released] {
            assert_eq!(Record::of(&record.lease(ObjectMeta::default())), record);
        }
        assert_eq!(Record::of(&Lease::default()), Record::default());
    }

    #[test]
    fn a_leader_after_one_that_vanished_waits_for_its_writes_and_after_one_that_left_does_not() {
        let sent = Instant::now();
        let now = sent + Duration::from_secs(1);
        let term = Term::begin(Found::Expired, sent, now);
        assert_eq!(term.may_write(WRITE_WITHIN, now), Err(Refusal::NotYet(WRITE_WITHIN)));
        assert_eq!(term.may_write(WRITE_WITHIN, now + WRITE_WITHIN), Ok(()));
        assert_eq!(Term::begin(Found::Released, sent, now).may_write(WRITE_WITHIN, now), Ok(()));
    }

    #[test]
    fn a_write_is_sent_only_if_it_ends_before_the_lease_does() {
        let sent = Instant::now();
        let at = |seconds| sent + Duration::from_secs(seconds);
        let term = Term::begin(Found::Released, sent, sent);
        assert_eq!(term.may_write(WRITE_WITHIN, at(10)), Ok(()));
        assert_eq!(term.may_write(WRITE_WITHIN, at(11)), Err(Refusal::LeaseTooOld));
        assert_eq!(term.left(at(9)), Some(Duration::from_secs(1)));
        assert_eq!(term.left(at(10)), None);
    }

    #[test]
    fn failures_are_waited_out_ever_longer_up_to_a_bound() {
        let seconds: Vec<u64> = [1, 2, 3, 4, 100, u32::MAX].map(|n| pause(n).as_secs()).into();
        assert_eq!(seconds, [1, 2, 4, 4, 4, 4]);
    }

    proptest! {
        /// A standby sees a renewal only after it was sent, so its waiting ends after the leader's permission does.
        #[test]
        fn no_write_of_a_leader_can_end_after_a_standby_may_write(
            seen_after in 0u64..20_000, asked_at in 0u64..60_000, taken_after in 0u64..5_000,
        ) {
            let sent = Instant::now();
            let ms = Duration::from_millis;
            let leader = Term::begin(Found::Released, sent, sent);
            let observed = Observed { record: record("leader", 0), since: sent + ms(seen_after) };
            let now = sent + ms(asked_at);
            if leader.may_write(WRITE_WITHIN, now).is_ok() {
                prop_assert!(decide(&observed, "standby", now) != Decision::Acquire(Found::Expired));
            }
            if decide(&observed, "standby", now) == Decision::Acquire(Found::Expired) {
                let standby = Term::begin(Found::Expired, now, now + ms(taken_after));
                prop_assert!(leader.may_write(WRITE_WITHIN, now).is_err());
                prop_assert!(standby.may_write(WRITE_WITHIN, now + ms(taken_after)).is_err());
            }
        }
    }
}
