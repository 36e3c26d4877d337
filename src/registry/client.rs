//! A registry client: requests with the right login, tried again while that helps.
//!
//! Its own, not oci-client's, because that one hides the headers that decide here: `Retry-After`, and `Location` and
//! `Range` of an interrupted upload.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use reqwest::{Response, Url};
use serde::Deserialize;

use super::challenge::{self, Challenge};
use super::error::{Error, Reason};
use super::login::{DOCKER_HUB, Login, Logins};
use super::reference::Repository;
use super::retry::{Asked, Patience, refusal};
use super::transport::{Request, Timeouts, Transport};

/// The most bytes of a token server's answer.
const MOST_TOKEN_BYTES: usize = 256 * 1024;
/// How often one call may be let in anew: once for the challenge, once for a login that has just expired.
const MOST_LOGINS: u32 = 2;

/// How registries and chart repositories are talked to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Hosts (with port, if any) whose registry speaks plain HTTP.
    pub plain_http: Vec<String>,
    /// When to give up waiting.
    pub timeouts: Timeouts,
    /// When to try again.
    pub patience: Patience,
    /// How many charts are looked at, or moved, at a time.
    pub parallel: usize,
    /// A folder for charts on their way; nothing stays in it.
    pub scratch: PathBuf,
}

impl Settings {
    /// The defaults, with this folder for charts on their way.
    pub fn new(scratch: impl Into<PathBuf>) -> Self {
        Self {
            plain_http: Vec::new(),
            timeouts: Timeouts::default(),
            patience: Patience::default(),
            parallel: 8,
            scratch: scratch.into(),
        }
    }
}

/// Talks to registries and chart repositories. Cheap to clone; clones share what they know about logins.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) transport: Transport,
    pub(super) settings: Arc<Settings>,
    logins: Arc<dyn Logins>,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// What each host asked for last.
    challenges: HashMap<String, Challenge>,
    /// `Authorization` headers that were not refused yet.
    headers: HashMap<Scope, HeaderValue>,
}

/// For what a token is good.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Scope {
    host: String,
    path: String,
    write: bool,
}

/// What a call is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum About<'a> {
    /// A registry's repository.
    Registry(&'a Repository, Asked),
    /// A file of an HTTP chart repository, or what such a repository points at.
    Charts,
}

impl fmt::Display for About<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(repository, _) => repository.fmt(f),
            Self::Charts => f.write_str("the chart repository"),
        }
    }
}

impl Client {
    /// A client with these settings and logins. The process must have installed a rustls provider before.
    ///
    /// # Errors
    ///
    /// When the machine's trusted certificates cannot be read.
    pub fn new(settings: Settings, logins: Arc<dyn Logins>) -> Result<Self, Error> {
        let transport = Transport::new(settings.timeouts)?;
        Ok(Self { transport, settings: Arc::new(settings), logins, known: Arc::default() })
    }

    /// The address of something in a repository.
    pub(super) fn url(&self, repository: &Repository, what: &str) -> Result<Url, Error> {
        let host = repository.host();
        let scheme =
            if self.settings.plain_http.iter().any(|plain| plain == host) { "http" } else { "https" };
        let host = if host == "docker.io" { DOCKER_HUB } else { host };
        let text = format!("{scheme}://{host}/v2/{}/{what}", repository.path());
        text.parse().map_err(|error| Error::new(Reason::Unexpected, format!("{text}: {error}")))
    }

    /// Sends the request until it succeeds, is refused, or patience ends. With `absent`, 404 is an answer like any other.
    pub(super) async fn call(
        &self,
        about: About<'_>,
        request: &Request,
        absent: bool,
    ) -> Result<Response, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.let_in(about, request, absent).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            match self.settings.patience.wait_after(tries, &error) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(error),
            }
        }
    }

    /// Sends the request without trying again after a failure that may go away.
    pub(super) async fn call_once(&self, about: About<'_>, request: &Request) -> Result<Response, Error> {
        self.let_in(about, request, false).await
    }

    /// Sends the request, with a login as soon as one is asked for, and with a new one if that is refused.
    async fn let_in(&self, about: About<'_>, request: &Request, absent: bool) -> Result<Response, Error> {
        let mut request = request.clone();
        let mut authorization = self.authorization(about, &request.url).await?;
        let mut logins = 0;
        loop {
            request.headers.remove(header::AUTHORIZATION);
            if let Some(value) = &authorization {
                request.headers.insert(header::AUTHORIZATION, value.clone());
            }
            let response = self.transport.send(&request).await?;
            let status = response.status();
            if status.is_success() || (absent && status == StatusCode::NOT_FOUND) {
                return Ok(response);
            }
            let headers = response.headers().clone();
            let body = self.transport.start_of_body(response).await;
            let (name, asked) = match about {
                About::Registry(repository, asked) => (repository.to_string(), asked),
                About::Charts => (super::transport::display(&request.url), Asked::Read),
            };
            let error = refusal(asked, &name, status, &headers, &body);
            if logins == MOST_LOGINS || !asks_for_login(&request.method, status, &body) {
                return Err(error);
            }
            logins += 1;
            match self.renewed(about, &request.url, &headers, authorization.as_ref()).await? {
                Some(value) => authorization = Some(value),
                None => return Err(error),
            }
        }
    }

    /// The `Authorization` header to begin with.
    async fn authorization(&self, about: About<'_>, url: &Url) -> Result<Option<HeaderValue>, Error> {
        let host = host_of(url);
        let About::Registry(repository, asked) = about else {
            // Chart repositories often hide from the anonymous instead of asking.
            let login = self.logins.login(&host, url.path().trim_start_matches('/'), None).await?;
            return login.as_ref().map(basic).transpose();
        };
        // An upload's continuation may lie on another host, which gets nothing of ours.
        if host != host_of(&self.url(repository, "")?) {
            return Ok(None);
        }
        let scope = scope(&host, repository, asked);
        let challenge = {
            let known = self.known();
            if let Some(header) = known.headers.get(&scope) {
                return Ok(Some(header.clone()));
            }
            known.challenges.get(&host).cloned()
        };
        match challenge {
            Some(challenge) => self.meet(&scope, &challenge, None).await,
            None => Ok(None),
        }
    }

    /// Another `Authorization` header than the refused one, if there is any.
    async fn renewed(
        &self,
        about: About<'_>,
        url: &Url,
        headers: &HeaderMap,
        refused: Option<&HeaderValue>,
    ) -> Result<Option<HeaderValue>, Error> {
        let host = host_of(url);
        let About::Registry(repository, asked) = about else { return Ok(None) };
        if host != host_of(&self.url(repository, "")?) {
            return Ok(None);
        }
        let asked_for = headers
            .get_all(header::WWW_AUTHENTICATE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(challenge::parse)
            .next();
        let scope = scope(&host, repository, asked);
        let challenge = {
            let mut known = self.known();
            known.headers.remove(&scope);
            if let Some(challenge) = asked_for {
                known.challenges.insert(host, challenge.clone());
                Some(challenge)
            } else {
                known.challenges.get(&host).cloned()
            }
        };
        match challenge {
            Some(challenge) => self.meet(&scope, &challenge, refused).await,
            None => Ok(None),
        }
    }

    /// Meets a challenge and remembers how.
    async fn meet(
        &self,
        scope: &Scope,
        challenge: &Challenge,
        refused: Option<&HeaderValue>,
    ) -> Result<Option<HeaderValue>, Error> {
        let mut login = self.logins.login(&scope.host, &scope.path, None).await?;
        if let Some(old) = &login
            && refused.is_some_and(|refused| basic(old).is_ok_and(|basic| basic == refused))
        {
            login = self.logins.login(&scope.host, &scope.path, Some(old)).await?;
        }
        let header = match challenge {
            Challenge::Basic => login.as_ref().map(basic).transpose()?,
            Challenge::Bearer { realm, service, scope: wanted } => {
                Some(self.token(scope, realm, service.as_deref(), wanted.as_deref(), login.as_ref()).await?)
            }
        };
        let header = header.filter(|header| Some(header) != refused);
        if let Some(header) = &header {
            self.known().headers.insert(scope.clone(), header.clone());
        }
        Ok(header)
    }

    /// Asks a token server for a token.
    async fn token(
        &self,
        scope: &Scope,
        realm: &str,
        service: Option<&str>,
        wanted: Option<&str>,
        login: Option<&Login>,
    ) -> Result<HeaderValue, Error> {
        #[derive(Deserialize)]
        struct Answer {
            token: Option<String>,
            access_token: Option<String>,
        }
        let unusable = |what: &str| {
            let text = format!("the token server {realm} of {}: {what}", scope.host);
            Error::new(Reason::Unexpected, text)
        };
        let mut url: Url = realm.parse().map_err(|_| unusable("its address cannot be read"))?;
        let plain = self.settings.plain_http.contains(&scope.host);
        if url.scheme() != "https" && !(plain && url.scheme() == "http") {
            return Err(unusable("a login is sent by https only, unless the registry itself is plain HTTP"));
        }
        let rights = if scope.write { "pull,push" } else { "pull" };
        let own = format!("repository:{}:{rights}", scope.path);
        let wanted = wanted.filter(|wanted| wanted.contains(&scope.path)).unwrap_or(&own);
        url.query_pairs_mut()
            .extend_pairs(service.map(|service| ("service", service)))
            .append_pair("scope", wanted);
        let mut request = Request::new(Method::GET, url);
        if let Some(login) = login {
            request.headers.insert(header::AUTHORIZATION, basic(login)?);
        }
        let response = self.transport.send(&request).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            let body = self.transport.start_of_body(response).await;
            let name = format!("a token for oci://{}/{}", scope.host, scope.path);
            return Err(refusal(Asked::Read, &name, status, &headers, &body));
        }
        let body = self.transport.body(response, MOST_TOKEN_BYTES).await?;
        let answer: Answer = serde_json::from_slice(&body).map_err(|_| unusable("its answer is no token"))?;
        let token =
            answer.token.or(answer.access_token).ok_or_else(|| unusable("its answer has no token"))?;
        secret(&format!("Bearer {token}"))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// 401, and the 403 by which ECR says that a token has expired; a `HEAD` brings no words, so that one may mean the same.
fn asks_for_login(method: &Method, status: StatusCode, body: &[u8]) -> bool {
    let has_expired = || String::from_utf8_lossy(body).to_lowercase().contains("token has expired");
    match status {
        StatusCode::UNAUTHORIZED => true,
        StatusCode::FORBIDDEN => *method == Method::HEAD || has_expired(),
        _ => false,
    }
}

fn scope(host: &str, repository: &Repository, asked: Asked) -> Scope {
    Scope { host: host.to_owned(), path: repository.path().to_owned(), write: asked == Asked::Write }
}

/// Host and, if it is not the scheme's own, port, as logins are filed.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn basic(login: &Login) -> Result<HeaderValue, Error> {
    secret(&login.basic())
}

fn secret(text: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        let text = "the registry's login or token holds characters that a header cannot carry";
        Error::new(Reason::RegistryCredentialsUnavailable, text)
    })?;
    value.set_sensitive(true);
    Ok(value)
}
