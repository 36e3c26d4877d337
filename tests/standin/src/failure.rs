//! Errors as AICR reports them: a code in brackets, causes nested, the outermost code deciding the exit.

use std::fmt;

/// An error code and the exit code that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The request is wrong.
    InvalidRequest,
    /// The request needs attention.
    Conflict,
    /// Something named does not exist.
    NotFound,
    /// Not let in.
    Unauthorized,
    /// Out of time.
    Timeout,
    /// Something cannot be reached.
    ServiceUnavailable,
    /// Asked to slow down.
    RateLimitExceeded,
    /// Everything else.
    Internal,
}

impl Code {
    const ALL: [Self; 8] = [
        Self::InvalidRequest,
        Self::Conflict,
        Self::NotFound,
        Self::Unauthorized,
        Self::Timeout,
        Self::ServiceUnavailable,
        Self::RateLimitExceeded,
        Self::Internal,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::Conflict => "CONFLICT",
            Self::NotFound => "NOT_FOUND",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::Timeout => "TIMEOUT",
            Self::ServiceUnavailable => "SERVICE_UNAVAILABLE",
            Self::RateLimitExceeded => "RATE_LIMIT_EXCEEDED",
            Self::Internal => "INTERNAL",
        }
    }

    const fn exit(self) -> i32 {
        match self {
            Self::InvalidRequest | Self::Conflict => 2,
            Self::NotFound => 3,
            Self::Unauthorized => 4,
            Self::Timeout => 5,
            Self::ServiceUnavailable => 6,
            Self::RateLimitExceeded => 7,
            Self::Internal => 8,
        }
    }
}

/// Why a command ends badly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    exit: i32,
    text: String,
}

impl Failure {
    /// A failure with a code.
    pub fn new(code: Code, message: impl fmt::Display) -> Self {
        Self { exit: code.exit(), text: format!("[{}] {message}", code.as_str()) }
    }

    /// What the flag parser says; it knows no codes.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { exit: 1, text: message.to_string() }
    }

    /// A failure with this exit code, whether AICR documents it or not.
    pub fn exiting(exit: i32, message: &str) -> Self {
        match Code::ALL.into_iter().find(|code| code.exit() == exit) {
            Some(code) => Self::new(code, message),
            None => Self { exit, text: message.to_owned() },
        }
    }

    /// This failure as the cause of another.
    #[must_use]
    pub fn within(self, code: Code, message: &str) -> Self {
        Self::new(code, format!("{message}: {}", self.text))
    }

    /// The exit code.
    pub const fn exit(&self) -> i32 {
        self.exit
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[cli] command failed: error={} exitCode={}", self.text, self.exit)
    }
}

/// What a command returns.
pub type Outcome<T> = Result<T, Failure>;

/// An INVALID_REQUEST.
pub fn invalid(message: impl fmt::Display) -> Failure {
    Failure::new(Code::InvalidRequest, message)
}

/// An INTERNAL.
pub fn internal(message: impl fmt::Display) -> Failure {
    Failure::new(Code::Internal, message)
}
