//! The one list of error codes, printed as `[CODE] message` by the plugin, in conditions and in Events.

use std::fmt;

/// Why something failed, in one word that scripts can match.
///
/// Source: day-2 "Runtime conditions" (a failure carries its code in the message) and AICR's own code list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// The object does not exist.
    NotFound,
    /// The API server does not know who asks, or does not let them.
    Unauthorized,
    /// No answer within the deadline.
    Timeout,
    /// Something that should not happen: unreadable answers, broken invariants.
    Internal,
    /// Input that no retry makes right.
    InvalidRequest,
    /// The server asks to slow down.
    RateLimitExceeded,
    /// The object's state forbids the request, or somebody else changed it first.
    Conflict,
    /// The server cannot be reached or says that it is unavailable.
    ServiceUnavailable,
    /// The person answered no, or the request was interrupted.
    Canceled,
}

impl Code {
    /// The code as printed, without brackets.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "NOT_FOUND",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::Timeout => "TIMEOUT",
            Self::Internal => "INTERNAL",
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::RateLimitExceeded => "RATE_LIMIT_EXCEEDED",
            Self::Conflict => "CONFLICT",
            Self::ServiceUnavailable => "SERVICE_UNAVAILABLE",
            Self::Canceled => "CANCELED",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
