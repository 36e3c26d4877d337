//! A duration as Go writes it: `10m0s`, `1.5h`, `-300ms`.
//!
//! The API server, CEL's `duration()` and the reference pages speak Go's form; `kube::core::Duration` panics on some
//! inputs and prints another form, so this is our own.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const NANOSECOND: i128 = 1;
const MICROSECOND: i128 = 1_000;
const MILLISECOND: i128 = 1_000_000;
const SECOND: i128 = 1_000_000_000;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;

/// Longest text of a duration in the API; Go's own longest output, `-2562047h47m16.854775808s`, has 25 characters.
const MAX_LENGTH: u32 = 32;

/// A signed duration in whole nanoseconds, within Go's `time.Duration` (about 292 years either way).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GoDuration(i64);

impl GoDuration {
    /// A duration of whole seconds; saturates at the type's bounds.
    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// True below zero.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// The same length as jiff's signed duration, to add to a timestamp.
    pub const fn to_signed(self) -> jiff::SignedDuration {
        jiff::SignedDuration::from_nanos(self.0)
    }

    /// The same length as an unsigned duration; zero when negative.
    pub fn to_unsigned(self) -> Duration {
        Duration::from_nanos(u64::try_from(self.0).unwrap_or(0))
    }
}

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid duration '{input}': {problem}; write it as 90s, 10m or 1h30m")]
pub struct DurationError {
    input: String,
    problem: &'static str,
}

impl FromStr for GoDuration {
    type Err = DurationError;

    fn from_str(input: &str) -> Result<Self, Self::Err> {
        let fail = |problem| DurationError { input: input.chars().take(64).collect(), problem };
        let (negative, mut rest) = match input.as_bytes().first() {
            Some(b'-') => (true, &input[1..]),
            Some(b'+') => (false, &input[1..]),
            _ => (false, input),
        };
        if rest == "0" {
            return Ok(Self(0));
        }
        if rest.is_empty() {
            return Err(fail("no number"));
        }
        let mut total: i128 = 0;
        while !rest.is_empty() {
            let (term, after) = parse_term(rest).map_err(fail)?;
            total += term;
            // Go refuses what does not fit, and a bound here keeps the sum far from overflow.
            if total > i128::from(i64::MAX) + i128::from(negative) {
                return Err(fail("out of range"));
            }
            rest = after;
        }
        let signed = if negative { -total } else { total };
        i64::try_from(signed).map(Self).map_err(|_| fail("out of range"))
    }
}

/// One number and its unit: the nanoseconds, and what follows.
fn parse_term(text: &str) -> Result<(i128, &str), &'static str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = text.split_at(digits);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => after.split_at(after.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err("no number");
    }
    let unit_length = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, after) = rest.split_at(unit_length);
    let unit = match unit {
        "ns" => NANOSECOND,
        "us" | "µs" | "μs" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        "" => return Err("a number without unit"),
        _ => return Err("unknown unit (ns, us, ms, s, m, h)"),
    };
    let mut nanos: i128 = 0;
    for digit in whole.bytes() {
        nanos = nanos * 10 + i128::from(digit - b'0');
        if nanos > 1 << 63 {
            return Err("out of range");
        }
    }
    nanos *= unit;
    nanos += fraction_nanos(fraction, unit);
    Ok((nanos, after))
}

/// The digits after the point, in nanoseconds, with Go's own rounding (a float product, cut).
fn fraction_nanos(digits: &str, unit: i128) -> i128 {
    let (mut value, mut scale): (u64, f64) = (0, 1.0);
    for digit in digits.bytes() {
        let Some(next) = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0'))) else {
            break;
        };
        if next > 1 << 63 {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "Go's arithmetic, on purpose"
    )]
    let nanos = (value as f64 * (unit as f64 / scale)) as i128;
    nanos
}

impl fmt::Display for GoDuration {
    /// As Go's `Duration.String`: `1h0m0s`, `1m30s`, `1.5s`, `300ms`, `0s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let nanos = i128::from(self.0).abs();
        if nanos < SECOND {
            let (unit, name) = match nanos {
                n if n < MICROSECOND => (NANOSECOND, "ns"),
                n if n < MILLISECOND => (MICROSECOND, "µs"),
                _ => (MILLISECOND, "ms"),
            };
            write!(f, "{}", nanos / unit)?;
            write_fraction(f, nanos % unit, unit)?;
            return f.write_str(name);
        }
        let (hours, minutes) = (nanos / HOUR, nanos % HOUR / MINUTE);
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if hours > 0 || minutes > 0 {
            write!(f, "{minutes}m")?;
        }
        write!(f, "{}", nanos % MINUTE / SECOND)?;
        write_fraction(f, nanos % SECOND, SECOND)?;
        f.write_str("s")
    }
}

fn write_fraction(f: &mut fmt::Formatter<'_>, rest: i128, unit: i128) -> fmt::Result {
    if rest == 0 {
        return Ok(());
    }
    let width = unit.to_string().len() - 1;
    let digits = format!("{rest:0width$}");
    write!(f, ".{}", digits.trim_end_matches('0'))
}

impl Serialize for GoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for GoDuration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GoDuration".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "maxLength": MAX_LENGTH,
            "pattern": r"^(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::GoDuration;
    use proptest::prelude::*;

    /// Inputs and outputs as Go 1.26's `time.ParseDuration` and `String` give them.
    #[test]
    fn a_duration_reads_and_prints_as_go_does() {
        let cases = [
            ("0", "0s"),
            ("-0", "0s"),
            ("+5s", "5s"),
            ("10m", "10m0s"),
            ("6h", "6h0m0s"),
            ("1h30m", "1h30m0s"),
            ("90s", "1m30s"),
            ("1.5h", "1h30m0s"),
            (".5s", "500ms"),
            ("5.s", "5s"),
            ("300ms", "300ms"),
            ("1.5us", "1.5µs"),
            ("1µs", "1µs"),
            ("1μs", "1µs"),
            ("7ns", "7ns"),
            ("0.000000000001s", "0s"),
            ("-1m0.25s", "-1m0.25s"),
            ("100h", "100h0m0s"),
            ("3s2m1h", "1h2m3s"),
            ("9223372036854775807ns", "2562047h47m16.854775807s"),
            ("-9223372036854775808ns", "-2562047h47m16.854775808s"),
            ("0.3333333333333333333h", "20m0s"),
            ("0.123456789123h", "7m24.444440842s"),
            ("1.9999999999s", "1.999999999s"),
        ];
        for (input, printed) in cases {
            let duration: GoDuration = input.parse().unwrap_or_else(|e| panic!("{input}: {e}"));
            assert_eq!(duration.to_string(), printed, "{input}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused_without_a_panic() {
        let long = format!("{}h", "9".repeat(400));
        for input in [
            "",
            "-",
            "+",
            "5",
            "5x",
            "s",
            ".s",
            "--5s",
            "++5s",
            "2h 5m",
            " 5s",
            "5s ",
            "1e3s",
            "9223372036854775808ns",
            "2562048h",
            &long,
            "1d",
            "５s",
            "1h-5m",
        ] {
            assert!(input.parse::<GoDuration>().is_err(), "{input:?} was accepted");
        }
    }

    #[test]
    fn an_error_names_the_input_and_the_way_out() {
        let error = "soon".parse::<GoDuration>().unwrap_err().to_string();
        assert_eq!(error, "invalid duration 'soon': no number; write it as 90s, 10m or 1h30m");
    }

    proptest! {
        #[test]
        fn every_duration_survives_its_own_text(nanos in any::<i64>()) {
            let duration = GoDuration(nanos);
            prop_assert_eq!(duration.to_string().parse::<GoDuration>().unwrap(), duration);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[0-9.hmsnuµ+ -]{0,40}|.{0,20}") {
            let _ = text.parse::<GoDuration>();
        }
    }
}
