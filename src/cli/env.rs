//! The process environment, read once into a value. Nothing else reads it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Environment variables; an empty one counts as unset, as it does for kubectl and for `NO_COLOR`.
///
/// It has no `Debug`: environments hold secrets.
#[derive(Clone, Default)]
pub struct Env(BTreeMap<OsString, OsString>);

impl Env {
    /// The environment of this process.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// The value of a variable as the system holds it, `None` when unset or empty.
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The value of a variable as text, `None` when unset or empty. Bytes that are not UTF-8 become U+FFFD, so that
    /// whoever reads the value refuses it instead of missing it.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.raw(name).map(OsStr::to_string_lossy)
    }

    /// The first of two spellings that is set, with its name.
    pub fn either<'a>(&self, first: &'a str, second: &'a str) -> Option<(&'a str, Cow<'_, str>)> {
        [first, second].into_iter().find_map(|name| self.text(name).map(|value| (name, value)))
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let env: Env = [("NO_COLOR", ""), ("TERM", "dumb")].into_iter().collect();
        assert_eq!(env.raw("NO_COLOR"), None);
        assert_eq!(env.text("TERM").as_deref(), Some("dumb"));
        assert_eq!(env.text("HOME"), None);
    }

    #[test]
    fn the_first_spelling_that_is_set_wins_and_is_named() {
        let env: Env = [("HTTPS_PROXY", ""), ("https_proxy", "http://p")].into_iter().collect();
        assert_eq!(env.either("HTTPS_PROXY", "https_proxy"), Some(("https_proxy", "http://p".into())));
        let both: Env = [("HTTPS_PROXY", "http://q"), ("https_proxy", "http://p")].into_iter().collect();
        assert_eq!(both.either("HTTPS_PROXY", "https_proxy"), Some(("HTTPS_PROXY", "http://q".into())));
    }
}
