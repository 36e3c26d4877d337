//! Why a command failed, as it is printed: `error: [CODE] message`.

use std::fmt;

use crate::api::Code;

/// A failed command; its text is `[CODE] message`.
///
/// Source: kubectl-aicr, "Usage": exit 1 prints `error: [CODE] message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    /// The word that scripts match.
    pub code: Code,
    /// What was wrong, with which input, and the way out.
    pub message: String,
    /// HTTP status of the API server's answer when the failure is one; tells a concurrent write (409) from a rule
    /// that forbids the request, which share a code.
    pub status: Option<u16>,
}

impl CliError {
    /// A failure that is no answer of the API server.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), status: None }
    }

    /// Input that no retry makes right.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message)
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.message)
    }
}

impl std::error::Error for CliError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_prints_its_code_in_brackets_and_its_message() {
        assert_eq!(CliError::invalid("no such thing").to_string(), "[INVALID_REQUEST] no such thing");
    }
}
