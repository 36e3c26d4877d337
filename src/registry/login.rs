//! Who we are at which registry.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use futures_util::future::BoxFuture;
use serde::Deserialize;

use super::error::{Error, Reason};

/// A user name and a password, or token.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user's name.
    pub username: String,
    /// What proves it. Never printed.
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("username", &self.username).finish_non_exhaustive()
    }
}

impl Login {
    /// The value of an `Authorization` header.
    pub(super) fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.username, self.password)))
    }
}

/// Where logins come from.
pub trait Logins: fmt::Debug + Send + Sync {
    /// The login for a repository or path at a host; `None` is anonymous. `refused` is the login that the host has just
    /// refused: a source that can get another one gets it, any other answers as before.
    fn login<'a>(
        &'a self,
        host: &'a str,
        path: &'a str,
        refused: Option<&'a Login>,
    ) -> BoxFuture<'a, Result<Option<Login>, Error>>;
}

/// The `auths` map of a docker config file, as a Secret of type `kubernetes.io/dockerconfigjson` holds it.
///
/// An empty map is anonymous (api-reference, `registry.auth.staticSecretRef`). Credential helpers are programs of the
/// machine where the file was written and are refused.
#[derive(Clone, Debug, Default)]
pub struct DockerConfig {
    /// Host, or host and path prefix, to login.
    auths: BTreeMap<String, Login>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    auths: BTreeMap<String, Entry>,
    #[serde(default, rename = "credsStore")]
    store: Option<String>,
    #[serde(default, rename = "credHelpers")]
    helpers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Entry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
}

fn unavailable(message: impl fmt::Display) -> Error {
    Error::new(Reason::RegistryCredentialsUnavailable, format!("the docker config {message}"))
}

impl DockerConfig {
    /// Reads the file's text. The text never appears in an error.
    ///
    /// # Errors
    ///
    /// [`Reason::RegistryCredentialsUnavailable`] when it is not such a file, or names helpers.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        // By way of a map, since a struct can also be read from a list. serde_json's own text would quote what it found.
        let map: serde_json::Map<_, _> = serde_json::from_slice(text).map_err(|error| {
            unavailable(format!("is no JSON object: line {}, column {}", error.line(), error.column()))
        })?;
        let file: File = serde_json::from_value(map.into())
            .map_err(|_| unavailable("is of another form than {\"auths\": {\"<host>\": {\"auth\": …}}}"))?;
        if file.store.is_some_and(|store| !store.is_empty()) || !file.helpers.is_empty() {
            return Err(unavailable(
                "names a credential helper, which is a program: write the login itself into auths",
            ));
        }
        let mut auths = BTreeMap::new();
        for (key, entry) in file.auths {
            if let Some(login) = login_of(&key, entry)? {
                auths.insert(normalized(&key), login);
            }
        }
        Ok(Self { auths })
    }

    /// The login of the longest entry that covers the path.
    fn find(&self, host: &str, path: &str) -> Option<&Login> {
        let name = format!("{host}/{path}");
        let covers =
            |key: &str| name.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.auths
            .iter()
            .filter(|(key, _)| covers(key))
            .max_by_key(|(key, _)| key.len())
            .map(|(_, login)| login)
    }
}

fn login_of(key: &str, entry: Entry) -> Result<Option<Login>, Error> {
    if entry.identitytoken.is_some_and(|token| !token.is_empty()) {
        return Err(unavailable(format!(
            "has an identity token for {key}, which is not supported: use a user name and a password"
        )));
    }
    if let (Some(username), Some(password)) = (entry.username, entry.password) {
        return Ok(Some(Login { username, password }));
    }
    let Some(auth) = entry.auth.filter(|auth| !auth.is_empty()) else { return Ok(None) };
    let decoded = STANDARD.decode(&auth).or_else(|_| STANDARD_NO_PAD.decode(&auth)).ok();
    let pair = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    match pair.as_deref().and_then(|pair| pair.split_once(':')) {
        Some((username, password)) => {
            // Docker itself ends some passwords with NUL bytes.
            let password = password.trim_end_matches('\0').to_owned();
            Ok(Some(Login { username: username.to_owned(), password }))
        }
        None => Err(unavailable(format!("has an auth for {key} that is not base64 of <user>:<password>"))),
    }
}

/// Keys are written with and without scheme, and Docker's own hub as an address of its old interface.
fn normalized(key: &str) -> String {
    let key = key.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    match key {
        "index.docker.io/v1" | "index.docker.io" | "docker.io" => DOCKER_HUB.to_owned(),
        _ => key.to_owned(),
    }
}

/// Where the registry `docker.io` is served.
pub(super) const DOCKER_HUB: &str = "registry-1.docker.io";

impl Logins for DockerConfig {
    fn login<'a>(
        &'a self,
        host: &'a str,
        path: &'a str,
        _refused: Option<&'a Login>,
    ) -> BoxFuture<'a, Result<Option<Login>, Error>> {
        Box::pin(std::future::ready(Ok(self.find(host, path).cloned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(config: &DockerConfig, host: &str, path: &str) -> Option<String> {
        config.find(host, path).map(|login| login.password.clone())
    }

    #[test]
    fn the_longest_entry_that_covers_the_path_is_taken_and_no_other_host_gets_it() {
        let auth = STANDARD.encode("bob:b:c");
        let text = format!(
            r#"{{"auths": {{"https://r.example": {{"auth": "{auth}"}}, "r.example/team": {{"username": "u", "password": "deep"}},
                "https://index.docker.io/v1/": {{"username": "u", "password": "hub"}}, "empty.example": {{}}}}}}"#
        );
        let config = DockerConfig::parse(text.as_bytes()).unwrap();
        for (host, path, wanted) in [
            ("r.example", "x", Some("b:c")),
            ("r.example", "team", Some("deep")),
            ("r.example", "team/x", Some("deep")),
            ("r.example", "teams/x", Some("b:c")),
            ("r.example:5000", "x", None),
            ("r.example.evil", "x", None),
            ("empty.example", "x", None),
            (DOCKER_HUB, "library/x", Some("hub")),
        ] {
            assert_eq!(password(&config, host, path).as_deref(), wanted, "{host}/{path}");
        }
    }

    #[test]
    fn an_empty_config_is_anonymous() {
        for text in ["{}", r#"{"auths": {}}"#] {
            assert_eq!(password(&DockerConfig::parse(text.as_bytes()).unwrap(), "h", "p"), None);
        }
    }

    #[test]
    fn an_unusable_config_is_refused_without_its_secrets() {
        for text in [
            "",
            "[]",
            r#"{"auths": "s3cret"}"#,
            r#"{"auths": {"h": {"auth": "s3cret!"}}}"#,
            r#"{"auths": {"h": {"identitytoken": "s3cret"}}}"#,
            r#"{"credsStore": "s3cret"}"#,
            r#"{"credHelpers": {"h": "s3cret"}}"#,
            r#"{"auths": {"h": {"auth": "czNjcmV0"}}}"#,
        ] {
            let error = DockerConfig::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.reason, Reason::RegistryCredentialsUnavailable, "{text}");
            assert!(!error.message.contains("s3cret"), "{error}");
        }
        let login = Login { username: "u".to_owned(), password: "s3cret".to_owned() };
        assert!(!format!("{login:?}").contains("s3cret"));
    }
}
