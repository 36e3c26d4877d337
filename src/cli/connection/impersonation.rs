//! Acting as somebody else: what asks for it, and the same in words.

use std::collections::BTreeMap;

use http::HeaderValue;
use kube::config::AuthInfo;

use super::kubeconfig::User;
use crate::cli::error::CliError;

/// Whom the API server is asked to take the requests for.
///
/// Source: Kubernetes page "Authenticating", section "User impersonation".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impersonation {
    /// The user's name.
    pub user: String,
    /// The user's UID.
    pub uid: Option<String>,
    /// The user's groups; the server adds `system:authenticated` only.
    pub groups: Vec<String>,
    /// Further attributes.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl Impersonation {
    /// What kubeconfig and flags ask for together.
    pub(super) fn of(user: &User) -> Option<Self> {
        Some(Self {
            user: user.acting_as.clone()?,
            uid: user.as_uid.clone(),
            groups: user.as_groups.clone(),
            extra: user.as_user_extra.clone(),
        })
    }

    /// Refuses what no header can carry, by the name of its flag.
    pub(super) fn check(&self) -> Result<(), CliError> {
        let uid = self.uid.iter().map(|uid| ("--as-uid", uid));
        let groups = self.groups.iter().map(|group| ("--as-group", group));
        let extra = self.extra.values().flatten().map(|value| ("--as-user-extra", value));
        for (flag, text) in [("--as", &self.user)].into_iter().chain(uid).chain(groups).chain(extra) {
            if HeaderValue::from_bytes(text.as_bytes()).is_err() {
                let text = text.escape_debug();
                return Err(CliError::invalid(format!(
                    "{flag} '{text}' cannot be sent: it holds a control character"
                )));
            }
        }
        Ok(())
    }

    /// Has kube-rs send the headers with every request.
    pub(super) fn apply(&self, to: &mut AuthInfo) {
        to.impersonate = Some(self.user.clone());
        to.impersonate_uid.clone_from(&self.uid);
        to.impersonate_groups = Some(self.groups.clone());
        to.impersonate_user_extra = Some(self.extra.clone().into_iter().collect());
    }
}

impl std::fmt::Display for Impersonation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "acting as user '{}'", self.user)?;
        if let Some(uid) = &self.uid {
            write!(f, " with UID '{uid}'")?;
        }
        match self.groups.as_slice() {
            [] => f.write_str(" with no groups (--as alone presents none; add --as-group)"),
            [one] => write!(f, " with group '{one}'"),
            many => write!(f, " with groups '{}'", many.join("', '")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bob() -> Impersonation {
        Impersonation { user: "bob".into(), uid: None, groups: Vec::new(), extra: BTreeMap::new() }
    }

    #[test]
    fn a_value_that_would_break_its_header_is_refused_by_the_name_of_its_flag() {
        let bad = || "a\r\nX: y".to_owned();
        let extra = BTreeMap::from([("k".to_owned(), vec!["fine".to_owned(), bad()])]);
        for (flag, whole) in [
            ("--as", Impersonation { user: bad(), ..bob() }),
            ("--as-uid", Impersonation { uid: Some(bad()), ..bob() }),
            ("--as-group", Impersonation { groups: vec!["g".into(), bad()], ..bob() }),
            ("--as-user-extra", Impersonation { extra, ..bob() }),
        ] {
            let error = whole.check().expect_err("refused").to_string();
            let expected = r"'a\r\nX: y' cannot be sent: it holds a control character";
            assert_eq!(error, format!("[INVALID_REQUEST] {flag} {expected}"));
        }
        assert_eq!(Impersonation { user: "jürgen".into(), ..bob() }.check(), Ok(()));
    }

    #[test]
    fn the_words_name_user_uid_and_groups() {
        assert_eq!(
            bob().to_string(),
            "acting as user 'bob' with no groups (--as alone presents none; add --as-group)"
        );
        let many = Impersonation { uid: Some("7".into()), groups: vec!["a".into(), "b".into()], ..bob() };
        assert_eq!(many.to_string(), "acting as user 'bob' with UID '7' with groups 'a', 'b'");
    }
}
