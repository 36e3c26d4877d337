//! What went wrong while setting up a test's servers, in words.
use std::fmt;

/// A failure of the test cluster itself, never of what is tested. It says what was tried and, where a server is at
/// fault, where its log lies.
#[derive(Debug, Clone)]
pub struct Error(String);

/// Short form for this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Says what was being done when something failed.
pub(crate) trait Doing<T> {
    /// Turns the error into `<what>: <error with its causes>`.
    fn doing(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: std::error::Error> Doing<T> for std::result::Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| {
            let mut text = format!("{}: {error}", what());
            let mut cause = error.source();
            while let Some(inner) = cause {
                text.push_str(": ");
                text.push_str(&inner.to_string());
                cause = inner.source();
            }
            Error(text)
        })
    }
}
