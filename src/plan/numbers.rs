//! Numbers in their one normal form: the double that Helm reads, printed as Go's `encoding/json` prints it.
//!
//! Source: design section 2. Helm, Argo CD and the API server all read a JSON number as an `int64` or a `float64` and
//! print it anew, so `1.0`, `1e0` and `1` must be one value here, and an integer that a double cannot hold must be the
//! double it becomes.
//!
//! What `serde_json` hands over: integers up to `u64::MAX` (and down to `i64::MIN`) exactly, anything else as the nearest
//! double. A number too large for a double is refused by `serde_json` while reading; only with its `arbitrary_precision`
//! feature, which some other crate might switch on, can one arrive here, and then [`normal`] answers `None`.

use serde_json::Number;

/// 2^53: below it in magnitude every integer is a double and every double's neighbour is at most 1 away.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// From here on Go prints an exponent.
const LARGE: f64 = 1e21;
/// Below this magnitude Go prints an exponent.
const SMALL: f64 = 1e-6;

/// The number in normal form: an integer if it is integral and below 2^53 in magnitude (so -0 is 0), else a double.
///
/// `None` for what no finite double can hold.
pub fn normal(number: &Number) -> Option<Number> {
    let double = finite(number)?;
    match small_integer(double) {
        Some(integer) => Some(Number::from(integer)),
        None => Number::from_f64(double),
    }
}

/// The number's text in canonical JSON, whatever its form in memory.
///
/// What no finite double can hold keeps its own digits: such a number is refused where values are read, and a digest
/// must not make it equal to another.
pub(super) fn text(number: &Number) -> String {
    let Some(double) = finite(number) else { return number.to_string() };
    if let Some(integer) = small_integer(double) {
        return integer.to_string();
    }
    let magnitude = double.abs();
    let (digits, exponent) = shortest(magnitude);
    let sign = if double < 0.0 { "-" } else { "" };
    if (SMALL..LARGE).contains(&magnitude) {
        return format!("{sign}{}", plain(&digits, exponent));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}e{exponent:+}")
}

/// The fewest digits that read back as this positive double, and the power of ten of the first one. Of several such texts
/// it is the nearest, and of two equally near ones the even one: there Rust's own choice is not Go's.
fn shortest(double: f64) -> (String, i32) {
    let fewest = format!("{double:e}");
    let precision = fewest.split('e').next().map_or(0, |digits| digits.len().saturating_sub(2));
    // Rounded from the exact decimal value, half to even. At a power of two it can miss the double.
    let nearest = format!("{double:.precision$e}");
    let text = if nearest.parse() == Ok(double) { nearest } else { fewest };
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// Digits without an exponent.
fn plain(digits: &str, exponent: i32) -> String {
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let before = usize::try_from(exponent + 1).unwrap_or(0);
    if before == 0 {
        return format!("0.{}{digits}", zeros(-exponent - 1));
    }
    match digits.split_at_checked(before) {
        Some((whole, "")) => whole.to_owned(),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => format!("{digits}{}", "0".repeat(before - digits.len())),
    }
}

fn finite(number: &Number) -> Option<f64> {
    number.as_f64().filter(|double| double.is_finite())
}

fn small_integer(double: f64) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "integral and below 2^53 in magnitude: the cast is exact"
    )]
    (double.fract() == 0.0 && double.abs() < EXACT).then_some(double as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_number_is_printed_as_go_prints_the_double() {
        let table = [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e5", "0"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("10e-1", "1"),
            ("-7", "-7"),
            ("0.1", "0.1"),
            ("1.50", "1.5"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("0.000000001", "1e-9"),
            ("-1.5e-10", "-1.5e-10"),
            ("9007199254740991", "9007199254740991"),
            ("9007199254740992", "9007199254740992"),
            ("9007199254740993", "9007199254740992"),
            ("-9007199254740993", "-9007199254740992"),
            ("4611686018427387904", "4611686018427388000"),
            ("9223372036854775807", "9223372036854776000"),
            ("18446744073709551615", "18446744073709552000"),
            ("18446744073709551616", "18446744073709552000"),
            ("100000000000000000000", "100000000000000000000"),
            ("999999999999999900000", "999999999999999900000"),
            ("1000000000000000000000", "1e+21"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("5e-324", "5e-324"),
            // Half way between two texts.
            ("939424833970273.25", "939424833970273.2"),
            ("-2056593079107790.25", "-2056593079107790.2"),
            // Powers of two, whose neighbour below is nearer than the one above.
            ("9007199254740992", "9007199254740992"),
            ("2.2250738585072014e-308", "2.2250738585072014e-308"),
            ("9.5367431640625e-7", "9.5367431640625e-7"),
        ];
        for (input, printed) in table {
            assert_eq!(text(&read(input)), printed, "{input}");
            assert_eq!(text(&normal(&read(input)).unwrap()), printed, "{input} in normal form");
        }
    }

    #[test]
    fn numbers_of_one_value_are_equal_in_normal_form() {
        let table = [
            ("1", "1.0"),
            ("-0.0", "0"),
            ("1e3", "1000"),
            ("9007199254740992", "9007199254740993"),
            ("18446744073709551615", "18446744073709551616"),
        ];
        for (one, other) in table {
            assert_eq!(normal(&read(one)), normal(&read(other)), "{one} and {other}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_number_reads_back_as_the_same_normal_form(double in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO) {
            let number = Number::from_f64(double).unwrap();
            let printed = text(&number);
            prop_assert_eq!(normal(&read(&printed)), normal(&number), "{}", printed);
            prop_assert_eq!(text(&read(&printed)), printed);
        }

        #[test]
        fn any_integer_has_the_normal_form_of_its_double(integer in any::<u64>()) {
            #[expect(clippy::cast_precision_loss, reason = "the loss is what is tested")]
            let double = Number::from_f64(integer as f64).unwrap();
            prop_assert_eq!(normal(&Number::from(integer)), normal(&double));
        }
    }
}
