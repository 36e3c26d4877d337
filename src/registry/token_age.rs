//! When a registry token is to be renewed.
//!
//! Source: day-2 operations, `EngineAvailable` and the metrics table; design section 5. ECR's tokens live 12 h and are
//! renewed every 6 h.

use jiff::{SignedDuration, Timestamp};

/// The longest time between two renewals.
const RENEWED_EVERY: SignedDuration = SignedDuration::from_hours(6);
/// How far a clock may have been turned back before a token's times are not believed.
const CLOCK_ERROR: SignedDuration = SignedDuration::from_mins(5);

/// A token's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenTimes {
    /// When it was obtained.
    pub obtained: Timestamp,
    /// When it ends.
    pub expires: Timestamp,
}

/// What a token's age asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenAge {
    /// Nothing until then.
    Fresh {
        /// When it is to be renewed.
        renew_at: Timestamp,
    },
    /// Renew it now.
    Due,
    /// Renewing it has failed for a good part of what was left: time to tell people, who can still act.
    Stale,
    /// It has ended.
    Expired,
}

impl TokenTimes {
    /// When it is to be renewed: after 6 h, or at half its life if that comes first.
    pub fn renew_at(&self) -> Timestamp {
        let half = self.obtained.duration_until(self.expires) / 2;
        self.obtained.saturating_add(half.clamp(SignedDuration::ZERO, RENEWED_EVERY)).unwrap_or(self.obtained)
    }

    /// What its age asks for now. It is stale when a sixth of the time between renewal and end has passed: at 12 h of life,
    /// 7 h after it was obtained.
    pub fn age(&self, now: Timestamp) -> TokenAge {
        let renew_at = self.renew_at();
        let sixth = renew_at.duration_until(self.expires) / 6;
        let stale_from = renew_at.saturating_add(sixth).unwrap_or(renew_at);
        if now >= self.expires {
            TokenAge::Expired
        } else if now >= stale_from {
            TokenAge::Stale
        } else if now >= renew_at || now.duration_until(self.obtained) > CLOCK_ERROR {
            TokenAge::Due
        } else {
            TokenAge::Fresh { renew_at }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(hours: i64, minutes: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + hours * 3600 + minutes * 60).unwrap()
    }

    #[test]
    fn a_token_of_twelve_hours_is_renewed_after_six_and_stale_after_seven() {
        let times = TokenTimes { obtained: at(0, 0), expires: at(12, 0) };
        let fresh = TokenAge::Fresh { renew_at: at(6, 0) };
        for (now, age) in [
            (at(0, 0), fresh),
            (at(0, -5), fresh),
            (at(0, -6), TokenAge::Due),
            (at(5, 59), fresh),
            (at(6, 0), TokenAge::Due),
            (at(6, 59), TokenAge::Due),
            (at(7, 0), TokenAge::Stale),
            (at(11, 59), TokenAge::Stale),
            (at(12, 0), TokenAge::Expired),
            (at(90, 0), TokenAge::Expired),
        ] {
            assert_eq!(times.age(now), age, "{now}");
        }
    }

    #[test]
    fn a_shorter_token_is_renewed_at_half_its_life() {
        let times = TokenTimes { obtained: at(0, 0), expires: at(1, 0) };
        assert_eq!(times.renew_at(), at(0, 30));
        assert_eq!(times.age(at(0, 35)), TokenAge::Stale);
        let long = TokenTimes { obtained: at(0, 0), expires: at(100, 0) };
        assert_eq!(long.renew_at(), at(6, 0));
    }

    proptest! {
        #[test]
        fn any_times_have_an_age(obtained in any::<i32>(), expires in any::<i32>(), now in any::<i32>()) {
            let at = |second: i32| Timestamp::from_second(second.into()).unwrap();
            let times = TokenTimes { obtained: at(obtained), expires: at(expires) };
            let age = times.age(at(now));
            prop_assert_eq!(age == TokenAge::Expired, now >= expires);
            if let TokenAge::Fresh { renew_at } = age {
                prop_assert!(renew_at > at(now) && renew_at <= at(expires));
            }
        }
    }
}
