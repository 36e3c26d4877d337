//! What a scalar means to Helm: the rules of YAML 1.1 as Helm's reader has them, with its own exceptions.

use serde_json::{Number, Value};

/// Prefix of the tags that YAML itself defines.
const YAML_TAG: &str = "tag:yaml.org,2002:";

/// A scalar's value; a float may be one that JSON cannot hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(Number),
    Float(f64),
    Text(String),
}

impl Scalar {
    /// The value as JSON; nothing for an infinite float or none.
    pub(super) fn json(self) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(flag),
            Self::Int(number) => Value::Number(number),
            Self::Float(float) => Value::Number(Number::from_f64(float)?),
            Self::Text(text) => Value::String(text),
        })
    }
}

/// A scalar without a tag and without quotes.
pub(super) fn plain(text: &str) -> Scalar {
    if let Some(word) = word(text) {
        return word;
    }
    match text.as_bytes().first() {
        Some(b'.') => fraction(text).map_or_else(|| Scalar::Text(text.to_owned()), Scalar::Float),
        Some(b'0'..=b'9' | b'+' | b'-') => number(text).unwrap_or_else(|| Scalar::Text(text.to_owned())),
        _ => Scalar::Text(text.to_owned()),
    }
}

/// A scalar with a tag, quoted or not. A tag that YAML does not define leaves the text as it is.
pub(super) fn tagged(tag: &str, text: &str) -> Result<Scalar, String> {
    let Some(name) = tag.strip_prefix(YAML_TAG) else { return Ok(Scalar::Text(text.to_owned())) };
    let mismatch = || format!("{text:?} is no !!{name}");
    match (name, plain(text)) {
        ("null", Scalar::Null) => Ok(Scalar::Null),
        ("bool", Scalar::Bool(flag)) => Ok(Scalar::Bool(flag)),
        ("int", Scalar::Int(number)) => Ok(Scalar::Int(number)),
        ("float", Scalar::Float(float)) => Ok(Scalar::Float(float)),
        ("float", Scalar::Int(number)) if number.is_i64() => {
            number.as_f64().map(Scalar::Float).ok_or_else(mismatch)
        }
        ("null" | "bool" | "int" | "float", _) => Err(mismatch()),
        ("binary", _) => {
            use base64::Engine as _;
            let bytes = base64::engine::general_purpose::STANDARD.decode(text).map_err(|_| mismatch())?;
            let text = String::from_utf8(bytes);
            text.map(Scalar::Text).map_err(|_| "!!binary holds bytes that are no text".to_owned())
        }
        ("timestamp", _) => Err("!!timestamp is not supported: write the time in quotes".to_owned()),
        _ => Ok(Scalar::Text(text.to_owned())),
    }
}

/// The words that stand for something else than themselves.
fn word(text: &str) -> Option<Scalar> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// A text that begins with a digit or a sign: underscores do not count, and a leading 0 makes it octal.
fn number(text: &str) -> Option<Scalar> {
    let digits = text.replace('_', "");
    if let Some(integer) = integer(&digits) {
        return Some(Scalar::Int(integer));
    }
    if is_decimal(&digits)
        && let Some(float) = float(&digits)
    {
        return Some(Scalar::Float(float));
    }
    // The reader's own form for binary numbers takes a sign after the prefix.
    let rest = digits.strip_prefix("0b")?;
    i64::from_str_radix(rest, 2).ok().map(|integer| Scalar::Int(integer.into()))
}

/// An integer as Go reads one whose base its prefix states.
fn integer(text: &str) -> Option<Number> {
    let (negative, magnitude) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match magnitude.as_bytes() {
        [b'0', b'b' | b'B', _, ..] => (2, &magnitude[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &magnitude[2..]),
        [b'0', b'x' | b'X', _, ..] => (16, &magnitude[2..]),
        [b'0', _, ..] => (8, &magnitude[1..]),
        _ => (10, magnitude),
    };
    // Rust would take a second sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    let signed = text.starts_with(['+', '-']);
    match i64::try_from(magnitude) {
        Ok(value) if negative => Some((-value).into()),
        Ok(value) => Some(value.into()),
        Err(_) if negative && magnitude == 1 << 63 => Some(i64::MIN.into()),
        Err(_) => (!signed).then(|| magnitude.into()),
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_decimal(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |text: &str| !text.is_empty() && all_digits(text);
    let mantissa = match mantissa.split_once('.') {
        None => number(mantissa),
        Some(("", fraction)) => number(fraction),
        Some((whole, fraction)) => number(whole) && all_digits(fraction),
    };
    mantissa && exponent.is_none_or(|exponent| number(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)))
}

/// A number that begins with its point: an underscore counts as nothing between two digits, and nowhere else.
fn fraction(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let separates = |at: usize| at > 0 && is_digit(at - 1) && is_digit(at + 1);
    let fits = (0..bytes.len()).all(|at| bytes[at] != b'_' || separates(at));
    fits.then(|| text.replace('_', "")).and_then(|digits| float(&digits))
}

/// A finite double; a text for one beyond the range stays a text.
fn float(text: &str) -> Option<f64> {
    let characters = text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    text.parse().ok().filter(|float: &f64| characters && float.is_finite())
}
