//! When to try again, and what a server's refusal means.

use std::fmt::Write as _;
use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;

use super::error::{Error, Reason};

/// How a client waits and tries again.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Tries in all, for failures that may go away.
    pub tries: u32,
    /// The wait before the second try; it doubles with each further one.
    pub first_wait: Duration,
    /// The longest wait that is spent here. A server that asks for more gets a [`Reason::Transient`] error, which carries
    /// what it asked for.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: 5, first_wait: Duration::from_millis(500), longest_wait: Duration::from_secs(30) }
    }
}

impl Patience {
    /// How long to wait after `tries` tries of which the last failed so; `None` is giving up.
    pub(super) fn wait_after(&self, tries: u32, error: &Error) -> Option<Duration> {
        if !error.reason.is_transient() || tries >= self.tries {
            return None;
        }
        let doubled = self.first_wait.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
        match error.retry_after {
            Some(asked) if asked > self.longest_wait => None,
            Some(asked) => Some(asked),
            None => Some(doubled.min(self.longest_wait)),
        }
    }
}

/// The time that a `Retry-After` header asks to wait, as seconds or as a date, which is taken against the answer's own
/// `Date`, so that no clock of ours matters.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text: &str| jiff::fmt::rfc2822::parse(text).ok();
    let until = date(text)?;
    let now = date(headers.get(header::DATE)?.to_str().ok()?.trim())?;
    Some(Duration::try_from(now.duration_until(&until)).unwrap_or_default())
}

/// What was asked of a server, for messages and for what its refusals mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// To read something.
    Read,
    /// To take content into a repository.
    Write,
}

#[derive(Deserialize)]
struct Body {
    errors: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: Option<String>,
}

/// A registry's own words: the codes and messages of its error body, or the start of what it sent instead.
fn words(body: &[u8]) -> String {
    const MOST: usize = 300;
    let text = match serde_json::from_slice::<Body>(body) {
        Ok(body) => body.errors.iter().fold(String::new(), |mut text, entry| {
            let separator = if text.is_empty() { "" } else { "; " };
            let _ = write!(text, "{separator}{}", entry.code);
            if let Some(message) = entry.message.as_deref().filter(|message| !message.is_empty()) {
                let _ = write!(text, ": {message}");
            }
            text
        }),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    let one_line: Vec<_> = text.split_whitespace().collect();
    one_line.join(" ").chars().filter(|letter| !letter.is_control()).take(MOST).collect()
}

/// What an answer that is no success means.
///
/// `repository` is how a person knows it. Source of the special cases: cases, "Helm and OCI mirroring".
pub(super) fn refusal(
    asked: Asked,
    repository: &str,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Error {
    let words = words(body);
    let lower = words.to_lowercase();
    let says = |needles: &[&str]| needles.iter().any(|needle| lower.contains(needle));
    let storage = says(&["upper limit", "storage", "insufficient_storage", "maximum number of images"]);
    let quota = storage || says(&["quota"]);
    let answer = if words.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {words}") };
    let writing = asked == Asked::Write;
    let (reason, advice) = match status.as_u16() {
        413 | 507 => (Reason::QuotaExceeded, ROOM),
        403 | 412 if quota => (Reason::QuotaExceeded, ROOM),
        // Many registries also call a rate of requests a quota; that one passes by itself.
        429 if storage => (Reason::QuotaExceeded, ROOM),
        _ if writing && (status == StatusCode::CONFLICT || says(&["immutable", "already exists"])) => {
            (Reason::Conflict, "the tag is immutable there and holds other content")
        }
        401 => (Reason::Unauthorized, "check the registry's login"),
        403 if writing => (Reason::Unauthorized, "the login may not push there: grant it push and pull"),
        403 => (Reason::Unauthorized, "the login may not read there: grant it pull"),
        404 if writing => (Reason::NotFound, CREATE),
        404 => (Reason::NotFound, "nothing of that name is there"),
        408 | 425 | 429 | 500 | 502..=504 => (Reason::Transient, "will be tried again"),
        _ => (Reason::Unexpected, "the server takes no such request"),
    };
    let mut error = Error::new(reason, format!("{repository}: {advice} ({answer})"));
    if reason.is_transient() {
        error.retry_after = retry_after(headers);
    }
    error
}

const ROOM: &str = "the registry has no room for this: raise its quota, or the limit on a request's size of the proxy \
                    before it";
const CREATE: &str = "the repository does not exist: create it (on ECR, with a repository creation template for the \
                      prefix)";

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| ((*name).parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn the_time_to_wait_is_read_as_seconds_or_as_a_date() {
        let date = "Mon, 30 Nov 2026 10:00:00 GMT";
        for (pairs, wanted) in [
            (vec![("retry-after", "7")], Some(7)),
            (vec![("retry-after", "Mon, 30 Nov 2026 10:00:12 GMT"), ("date", date)], Some(12)),
            (vec![("retry-after", "Mon, 30 Nov 2026 09:00:00 GMT"), ("date", date)], Some(0)),
            (vec![("retry-after", "Mon, 30 Nov 2026 10:00:12 GMT")], None),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "-1")], None),
            (vec![], None),
        ] {
            assert_eq!(retry_after(&headers(&pairs)), wanted.map(Duration::from_secs), "{pairs:?}");
        }
    }

    #[test]
    fn waits_double_keep_to_what_the_server_asks_and_end() {
        let patience = Patience::default();
        let mut error = Error::new(Reason::Transient, "");
        let waits: Vec<_> =
            (1..=5).map(|tries| patience.wait_after(tries, &error).map(|wait| wait.as_millis())).collect();
        assert_eq!(waits, [Some(500), Some(1000), Some(2000), Some(4000), None]);
        error.retry_after = Some(Duration::from_secs(30));
        assert_eq!(patience.wait_after(1, &error), error.retry_after);
        error.retry_after = Some(Duration::from_secs(31));
        assert_eq!(patience.wait_after(1, &error), None);
        assert_eq!(patience.wait_after(1, &Error::new(Reason::NotFound, "")), None);
        assert!(
            Patience { tries: u32::MAX, ..patience }
                .wait_after(u32::MAX - 1, &Error::new(Reason::Transient, ""))
                .is_some()
        );
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        use Asked::{Read, Write};
        let oci = |code: &str, message: &str| {
            serde_json::json!({"errors": [{"code": code, "message": message}]}).to_string()
        };
        let cases = [
            (Write, 404, oci("NAME_UNKNOWN", "no such repository"), Reason::NotFound, "create it"),
            (Read, 404, String::new(), Reason::NotFound, "nothing of that name"),
            (Write, 401, oci("UNAUTHORIZED", ""), Reason::Unauthorized, "check the registry's login"),
            (Write, 403, oci("DENIED", "no"), Reason::Unauthorized, "grant it push and pull"),
            (Read, 403, "<html>no</html>".to_owned(), Reason::Unauthorized, "grant it pull"),
            (
                Write,
                400,
                oci("TAG_INVALID", "cannot be overwritten because the repository is immutable"),
                Reason::Conflict,
                "immutable",
            ),
            (Write, 412, oci("PRECONDITION", "configured as immutable"), Reason::Conflict, "immutable"),
            (Write, 409, String::new(), Reason::Conflict, "immutable"),
            (
                Write,
                403,
                oci("DENIED", "will exceed the configured upper limit of 10 MiB"),
                Reason::QuotaExceeded,
                "quota",
            ),
            (Write, 413, String::new(), Reason::QuotaExceeded, "proxy"),
            (Write, 507, String::new(), Reason::QuotaExceeded, "quota"),
            (Write, 429, oci("DENIED", "storage quota exceeded"), Reason::QuotaExceeded, "quota"),
            (Write, 429, oci("TOOMANYREQUESTS", "quota 'requests per minute'"), Reason::Transient, "again"),
            (Read, 503, String::new(), Reason::Transient, "again"),
            (Write, 405, oci("UNSUPPORTED", ""), Reason::Unexpected, "no such request"),
        ];
        for (asked, status, body, reason, advice) in cases {
            let status = StatusCode::from_u16(status).unwrap();
            let error =
                refusal(asked, "oci://h/a", status, &headers(&[("retry-after", "3")]), body.as_bytes());
            assert_eq!(error.reason, reason, "{status} {body}");
            assert!(error.message.starts_with("oci://h/a: ") && error.message.contains(advice), "{error}");
            assert_eq!(error.retry_after.is_some(), reason.is_transient(), "{error}");
        }
    }

    #[test]
    fn a_registrys_words_are_kept_to_one_bounded_line() {
        let body = format!("<html>\n\u{1b}[31m{}</html>", "x".repeat(1000));
        let words = words(body.as_bytes());
        assert!(words.starts_with("<html> [31mxxx") && words.len() == 300, "{words}");
    }
}
