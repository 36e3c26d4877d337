//! ECR's logins: tokens that AWS gives to a pod's identity, by EKS Pod Identity or by IRSA.
//!
//! Source: api-reference, `registry.auth.provider`; design section 5. What the environment says is a value that is given,
//! so that nothing here reads it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Method, StatusCode, header};
use jiff::Timestamp;
use reqsign_aws_v4::{
    AssumeRoleWithWebIdentityCredentialProvider, Credential, ECSCredentialProvider, RequestSigner,
};
use reqsign_core::{Context, FileRead, HttpSend, Signer};
use reqwest::Url;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;
use tokio::time::{Duration, Instant};

use super::error::{Error, Reason, with_causes};
use super::login::{DockerConfig, Login, Logins};
use super::retry::retry_after;
use super::transport::{Payload, Request, Timeouts, Transport, display};

/// The most bytes of an answer of AWS.
const MOST_ANSWER_BYTES: usize = 256 * 1024;
/// Where AWS's partitions have their names.
const SUFFIXES: [&str; 6] =
    ["amazonaws.com", "amazonaws.com.cn", "amazonaws.eu", "on.aws", "c2s.ic.gov", "sc2s.sgov.gov"];
/// A token that was obtained so shortly before is not what the registry refuses.
const SURELY_FRESH: Duration = Duration::from_mins(1);
/// The addresses, loopback apart, that may be asked for a pod's credentials in the clear: those of AWS's own agents.
const AGENTS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];

/// Which registry, as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsConfig {
    host: String,
    region: String,
    ecr: Url,
    sts: Option<Url>,
    identity: Identity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// EKS Pod Identity: an agent on the node gives credentials.
    Pod { uri: Url, token_file: String },
    /// IRSA: STS gives credentials for the ServiceAccount's token.
    Web { role: String, token_file: String, session: String },
}

/// A token for ECR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EcrToken {
    /// How registries take it.
    pub login: Login,
    /// When it ends.
    pub expires: Timestamp,
}

fn unavailable(message: impl Into<String>) -> Error {
    Error::new(Reason::RegistryCredentialsUnavailable, message)
}

impl AwsConfig {
    /// Reads the environment variables that EKS gives a pod. If both identities are there, IRSA is taken, as AWS's own SDKs
    /// do. `AWS_ENDPOINT_URL_ECR` and `AWS_ENDPOINT_URL_STS` name other endpoints, for networks with private ones.
    ///
    /// # Errors
    ///
    /// [`Reason::RegistryCredentialsUnavailable`] when the host is no private ECR, when there is no identity, and when an
    /// address cannot be used.
    pub fn new(host: &str, environment: &BTreeMap<String, String>) -> Result<Self, Error> {
        let (region, endpoint) = ecr_endpoint(host).ok_or_else(|| {
            unavailable(format!(
                "'{host}' is no private ECR registry (<account>.dkr.ecr.<region>.amazonaws.com): set registry.auth.provider \
                 to static"
            ))
        })?;
        let get = |name: &str| environment.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let endpoint_of = |name: &str| get(name).map(|text| endpoint_url(name, text)).transpose();
        let ecr = match endpoint_of("AWS_ENDPOINT_URL_ECR")? {
            Some(url) => url,
            None => endpoint_url("the ECR endpoint", &endpoint)?,
        };
        Ok(Self {
            host: host.to_owned(),
            region,
            ecr,
            sts: endpoint_of("AWS_ENDPOINT_URL_STS")?,
            identity: identity(&get)?,
        })
    }
}

fn identity<'a>(get: &dyn Fn(&str) -> Option<&'a str>) -> Result<Identity, Error> {
    if let (Some(role), Some(file)) = (get("AWS_ROLE_ARN"), get("AWS_WEB_IDENTITY_TOKEN_FILE")) {
        let session = get("AWS_ROLE_SESSION_NAME").unwrap_or("aicr-operator");
        return Ok(Identity::Web {
            role: role.to_owned(),
            token_file: file.to_owned(),
            session: session.to_owned(),
        });
    }
    let full = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
    let file = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
    match (get(full), get(file)) {
        (Some(uri), Some(token_file)) => {
            Ok(Identity::Pod { uri: agent_url(full, uri)?, token_file: token_file.to_owned() })
        }
        (Some(_), None) => {
            Err(unavailable(format!("{full} is set and {file} is not: EKS Pod Identity sets both")))
        }
        (None, _) => Err(unavailable(
            "the pod has no AWS identity: create an EKS Pod Identity association for its ServiceAccount, or annotate that \
             with eks.amazonaws.com/role-arn (operator.serviceAccountAnnotations), and restart the pod",
        )),
    }
}

/// The region of a private ECR host, and its API's address.
fn ecr_endpoint(host: &str) -> Option<(String, String)> {
    let (account, rest) = host.split_once('.')?;
    if account.len() != 12 || !account.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let (kind, rest) = match rest.strip_prefix("dkr.") {
        Some(rest) => rest.split_once('.')?,
        None => ("dual", rest.strip_prefix("dkr-ecr.")?),
    };
    let (region, suffix) = rest.split_once('.')?;
    if !is_name(region) || !SUFFIXES.contains(&suffix) {
        return None;
    }
    let endpoint = match kind {
        "ecr" => format!("https://api.ecr.{region}.{suffix}/"),
        "ecr-fips" => format!("https://ecr-fips.{region}.{suffix}/"),
        "dual" => format!("https://ecr.{region}.api.aws/"),
        _ => return None,
    };
    Some((region.to_owned(), endpoint))
}

fn endpoint_url(name: &str, text: &str) -> Result<Url, Error> {
    let url: Url = text.parse().map_err(|error| unavailable(format!("{name}, '{text}': {error}")))?;
    if url.scheme() == "https" || is_loopback(&url) {
        return Ok(url);
    }
    Err(unavailable(format!("{name}, '{text}': AWS is asked by https only")))
}

fn agent_url(name: &str, text: &str) -> Result<Url, Error> {
    let url: Url = text.parse().map_err(|error| unavailable(format!("{name}, '{text}': {error}")))?;
    let is_agent = address(&url).is_some_and(|address| {
        AGENTS.iter().any(|agent| agent.parse::<IpAddr>().is_ok_and(|agent| agent == address))
    });
    if url.scheme() == "https" || is_agent || is_loopback(&url) {
        return Ok(url);
    }
    Err(unavailable(format!("{name}, '{text}': credentials are not asked for in the clear from there")))
}

fn address(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_loopback(url: &Url) -> bool {
    url.host_str() == Some("localhost") || address(url).is_some_and(|address| address.is_loopback())
}

/// ECR's logins for one registry, and given ones for all other hosts. Keeps the last token.
#[derive(Debug)]
pub struct EcrLogins {
    config: AwsConfig,
    others: DockerConfig,
    transport: Transport,
    signer: Signer<Credential>,
    held: Mutex<Option<(EcrToken, Instant)>>,
}

/// How the library reads and asks: by our transport, within its bounds.
#[derive(Debug)]
struct Reach {
    transport: Transport,
    sts: Option<Url>,
}

impl FileRead for Reach {
    async fn file_read(&self, path: &str) -> reqsign_core::Result<Vec<u8>> {
        tokio::fs::read(path).await.map_err(|error| reqsign_core::Error::config_invalid(error.to_string()))
    }
}

impl HttpSend for Reach {
    async fn http_send(&self, request: http::Request<Bytes>) -> reqsign_core::Result<http::Response<Bytes>> {
        let failed = |error: Error| {
            let retryable = error.reason.is_transient();
            reqsign_core::Error::unexpected(error.message).set_retryable(retryable)
        };
        let (parts, body) = request.into_parts();
        let own: Url = parts
            .uri
            .to_string()
            .parse()
            .map_err(|_| reqsign_core::Error::request_invalid("the address cannot be read"))?;
        let is_sts = own.host_str().is_some_and(|host| host.starts_with("sts."));
        let url = self.sts.clone().filter(|_| is_sts).unwrap_or(own);
        let request =
            Request { method: parts.method, url, headers: parts.headers, payload: Payload::Bytes(body) };
        let response = self.transport.send(&request).await.map_err(failed)?;
        let mut answer = http::Response::new(Bytes::new());
        *answer.status_mut() = response.status();
        *answer.body_mut() = self.transport.body(response, MOST_ANSWER_BYTES).await.map_err(failed)?;
        Ok(answer)
    }
}

impl EcrLogins {
    /// Logins for the registry of `config`; `others` has those of all other hosts. The process must have installed a rustls
    /// provider before.
    ///
    /// # Errors
    ///
    /// When the machine's trusted certificates cannot be read.
    pub fn new(config: AwsConfig, others: DockerConfig, timeouts: Timeouts) -> Result<Self, Error> {
        let transport = Transport::new(timeouts)?;
        let reach = |transport: Transport| Reach { transport, sts: config.sts.clone() };
        let context = |transport: Transport| {
            Context::new().with_file_read(reach(transport.clone())).with_http_send(reach(transport))
        };
        let request_signer = RequestSigner::new("ecr", &config.region);
        let signer = match &config.identity {
            Identity::Pod { uri, token_file } => {
                let provider =
                    ECSCredentialProvider::new().with_endpoint(uri.as_str()).with_auth_token_file(token_file);
                Signer::new(context(Transport::direct(timeouts)?), provider, request_signer)
            }
            Identity::Web { role, token_file, session } => {
                let provider =
                    AssumeRoleWithWebIdentityCredentialProvider::with_config(role.clone(), token_file.into())
                        .with_role_session_name(session.clone())
                        .with_region(config.region.clone())
                        .with_regional_sts_endpoint();
                Signer::new(context(transport.clone()), provider, request_signer)
            }
        };
        Ok(Self { config, others, transport, signer, held: Mutex::new(None) })
    }

    /// Gets a new token and keeps it.
    ///
    /// # Errors
    ///
    /// [`Reason::Transient`] when AWS cannot be reached or asks for time, else
    /// [`Reason::RegistryCredentialsUnavailable`] with AWS's own words.
    pub async fn refresh(&self) -> Result<EcrToken, Error> {
        self.renew(&mut *self.held.lock().await).await
    }

    async fn renew(&self, held: &mut Option<(EcrToken, Instant)>) -> Result<EcrToken, Error> {
        let token =
            self.fetch().await.map_err(|error| error.during(format!("a login for {}", self.config.host)))?;
        *held = Some((token.clone(), Instant::now()));
        Ok(token)
    }

    async fn fetch(&self) -> Result<EcrToken, Error> {
        let body = Bytes::from_static(b"{}");
        let target = "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken";
        let wrong = |error: http::Error| Error::new(Reason::Unexpected, error.to_string());
        let request = http::Request::post(self.config.ecr.as_str())
            .header(header::CONTENT_TYPE, "application/x-amz-json-1.1")
            .header("x-amz-target", target)
            .header("x-amz-content-sha256", hex::encode(Sha256::digest(&body)))
            .body(())
            .map_err(wrong)?;
        let (mut parts, ()) = request.into_parts();
        self.signer.sign(&mut parts, None).await.map_err(|error| self.no_credentials(&error))?;
        let request = Request {
            method: Method::POST,
            url: self.config.ecr.clone(),
            headers: parts.headers,
            payload: Payload::Bytes(body),
        };
        let response = self.transport.send(&request).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self.transport.body(response, MOST_ANSWER_BYTES).await?;
        if status.is_success() {
            return token_of(&body).ok_or_else(|| {
                unavailable(format!("{} answered without a usable token", display(&self.config.ecr)))
            });
        }
        let mut error = refusal(status, &body);
        if error.reason.is_transient() {
            error.retry_after = retry_after(&headers);
        }
        Err(error)
    }

    /// Why there are no credentials to sign with.
    fn no_credentials(&self, error: &reqsign_core::Error) -> Error {
        let from = match &self.config.identity {
            Identity::Pod { uri, .. } => {
                format!("EKS Pod Identity ({}) gives no credentials: check the association", display(uri))
            }
            Identity::Web { role, .. } => {
                format!(
                    "STS gives no credentials for {role}: check its trust policy and the ServiceAccount's annotation"
                )
            }
        };
        let reason =
            if error.is_retryable() { Reason::Transient } else { Reason::RegistryCredentialsUnavailable };
        Error::new(reason, format!("{from} ({})", with_causes(error)))
    }
}

fn refusal(status: StatusCode, body: &[u8]) -> Error {
    #[derive(Default, Deserialize)]
    struct Words {
        #[serde(default, rename = "__type")]
        kind: String,
        #[serde(default, alias = "Message")]
        message: String,
    }
    let words: Words = serde_json::from_slice(body).unwrap_or_default();
    let kind = words.kind.rsplit('#').next().unwrap_or_default();
    let said = format!("HTTP {status}: {kind} {}", words.message.chars().take(300).collect::<String>());
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS || kind.contains("Throttl") {
        return Error::new(Reason::Transient, format!("ECR will be asked again ({said})"));
    }
    let advice = "ECR gives no token: the pod's role must allow ecr:GetAuthorizationToken";
    unavailable(format!("{advice} ({said})"))
}

fn token_of(body: &[u8]) -> Option<EcrToken> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        authorization_data: Vec<Data>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Data {
        authorization_token: String,
        expires_at: f64,
    }
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let data = answer.authorization_data.into_iter().next()?;
    let pair = String::from_utf8(STANDARD.decode(data.authorization_token).ok()?).ok()?;
    let (username, password) = pair.split_once(':')?;
    let login = Login { username: username.to_owned(), password: password.to_owned() };
    HeaderValue::from_str(&login.basic()).ok()?;
    let expires = jiff::SignedDuration::try_from_secs_f64(data.expires_at).ok()?;
    Some(EcrToken { login, expires: Timestamp::from_duration(expires).ok()? })
}

impl Logins for EcrLogins {
    fn login<'a>(
        &'a self,
        host: &'a str,
        path: &'a str,
        refused: Option<&'a Login>,
    ) -> BoxFuture<'a, Result<Option<Login>, Error>> {
        if host != self.config.host {
            return self.others.login(host, path, refused);
        }
        Box::pin(async move {
            let mut held = self.held.lock().await;
            if let Some((token, since)) = &*held
                && (refused != Some(&token.login) || since.elapsed() < SURELY_FRESH)
            {
                return Ok(Some(token.login.clone()));
            }
            Ok(Some(self.renew(&mut held).await?.login))
        })
    }
}

#[cfg(test)]
mod tests;
