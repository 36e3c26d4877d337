//! What went wrong between us and a registry or chart repository.

use std::fmt;
use std::time::Duration;

/// Why, in one stable word.
///
/// The names that conditions carry are those of operator-facts section 6; the others say what kind of failure a caller
/// has to report in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A repository, tag, manifest, chart or version does not exist.
    NotFound,
    /// The login is refused, or may not do this.
    Unauthorized,
    /// There is no login to try with: the Secret is unreadable, or AWS gives no token.
    RegistryCredentialsUnavailable,
    /// Content is not what its digest says.
    DigestMismatch,
    /// A name is taken by other content: we never move a tag.
    Conflict,
    /// The chart cannot be served from the runtime registry.
    ChartSourceUnsupported,
    /// Over a bound.
    ContentTooLarge,
    /// An artifact has a form that nobody documents.
    ArtifactUnsupported,
    /// The registry has no room left for us.
    QuotaExceeded,
    /// The server answered as the protocol does not allow, or refuses the request itself.
    Unexpected,
    /// May go away by itself: connections, overload, server errors.
    Transient,
}

impl Reason {
    /// The reason in one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "NotFound",
            Self::Unauthorized => "Unauthorized",
            Self::RegistryCredentialsUnavailable => "RegistryCredentialsUnavailable",
            Self::DigestMismatch => "DigestMismatch",
            Self::Conflict => "Conflict",
            Self::ChartSourceUnsupported => "ChartSourceUnsupported",
            Self::ContentTooLarge => "ContentTooLarge",
            Self::ArtifactUnsupported => "ArtifactUnsupported",
            Self::QuotaExceeded => "QuotaExceeded",
            Self::Unexpected => "Unexpected",
            Self::Transient => "Transient",
        }
    }

    /// Whether doing the same again later can succeed without anybody acting.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Transient)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure: its reason for machines, its message for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Why, in one word.
    pub reason: Reason,
    /// What was tried, what came back, and what to do.
    pub message: String,
    /// How long the server asked us to wait, with [`Reason::Transient`].
    pub retry_after: Option<Duration>,
}

impl Error {
    /// A failure without a time to wait.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), retry_after: None }
    }

    /// The same failure, said to have happened while doing something.
    #[must_use]
    pub fn during(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

/// An error with all its causes, each said once: libraries differ in whether they repeat them.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}
