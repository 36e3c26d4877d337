//! How the plugin reaches the API server, as whom, and for how long it waits.
//!
//! Everything here follows kubectl, because the plugin is called through it with the same flags and the same
//! kubeconfig: what kube-rs lacks of that is supplied, or refused with a message that names the field.
//!
//! | file | what it decides |
//! | --- | --- |
//! | `args` | the flags |
//! | `kubeconfig` | what the kubeconfig files say together |
//! | `target` | which cluster and user that is, after flags; `in_cluster` when there is no kubeconfig |
//! | `credentials`, `exec` | tokens, certificates, credential plugins |
//! | `impersonation` | whom the requests act as |
//! | `proxy` | whether a proxy is used |
//! | `deadline` | how long a command waits for servers |
//! | `faults` | what went wrong, in words and with a code |

mod args;
mod credentials;
mod deadline;
mod exec;
mod faults;
mod impersonation;
mod in_cluster;
mod kubeconfig;
mod nearest;
mod proxy;
mod target;

use std::future::Future;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderValue, Uri, header};

pub use args::ConnectionArgs;
pub use deadline::LONGEST;
pub use impersonation::Impersonation;

use crate::cli::env::Env;
use crate::cli::error::CliError;
use credentials::{Authorization, Credentials};
use deadline::Deadline;
use faults::Route;
use proxy::Proxy;
use target::Target;

/// A way to the API server that is open for one command.
pub struct Connection {
    client: kube::Client,
    deadline: Deadline,
    route: Route,
}

impl Connection {
    /// Reads the kubeconfig and makes a client; the command's deadline starts now. No call is made yet, but a
    /// credential plugin may run.
    pub async fn open(args: &ConnectionArgs, env: &Env) -> Result<Self, CliError> {
        let mut deadline = Deadline::start(args.request_timeout.filter(|limit| !limit.is_zero()));
        let files = kubeconfig::load(args.kubeconfig.as_deref(), env)?;
        let target = Target::find(&files, args, env)?;
        let of_cluster = target.cluster.proxy_url.as_deref().map(|url| (url, target.cluster_words.as_str()));
        let proxy = Proxy::choose(&target.server, of_cluster, env)?;
        let impersonation = Impersonation::of(&target.user);
        // Like kubectl, never show a secret to whoever listens on plain HTTP.
        let secure = target.server.scheme_str() == Some("https");
        let credentials = if secure {
            Credentials::obtain(&target, proxy.as_ref(), &mut deadline).await?
        } else {
            Credentials::default()
        };
        let route = Route {
            server: target.server.to_string().trim_end_matches('/').to_owned(),
            cluster: target.cluster_words.clone(),
            proxy,
            impersonation,
            withheld: !secure && target.user.has_credentials(),
        };
        let config = config(&target, &route, credentials)?;
        let client = client(config).map_err(|error| route.not_made(&error))?;
        Ok(Self { client, deadline, route })
    }

    /// The client, for `kube::Api`; what it is asked for goes through [`Connection::call`].
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// Waits for an answer until the command's deadline. Nothing is tried twice.
    pub async fn call<T>(&self, request: impl Future<Output = kube::Result<T>>) -> Result<T, CliError> {
        match self.deadline.bound(request).await {
            Ok(answer) => answer.map_err(|error| self.route.explain(error)),
            Err(deadline::Elapsed) => Err(self.route.late(self.deadline.budget())),
        }
    }

    /// Waits for a person outside the deadline.
    ///
    /// Source: design, section 10.
    pub fn while_asking<T>(&mut self, ask: impl FnOnce() -> T) -> T {
        self.deadline.pause(ask)
    }

    /// Whom the requests act as, if not as the user of the credentials.
    pub fn impersonation(&self) -> Option<&Impersonation> {
        self.route.impersonation.as_ref()
    }

    /// Address of the API server.
    pub fn server(&self) -> &str {
        &self.route.server
    }
}

/// The settings of kube-rs for a target.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that makes clients, bounded by the command's deadline and without retries"
)]
fn config(target: &Target, route: &Route, credentials: Credentials) -> Result<kube::Config, CliError> {
    let mut config = kube::Config::new(with_port(&target.server, route.proxy.as_ref()));
    config.default_retry = false;
    // The command's deadline bounds every call; a second timer would only race it, and run on while a person thinks.
    (config.connect_timeout, config.read_timeout, config.write_timeout) = (None, None, None);
    config.proxy_url = route.proxy.as_ref().map(|proxy| proxy.uri.clone());
    config.accept_invalid_certs = target.cluster.insecure_skip_tls_verify;
    config.tls_server_name.clone_from(&target.cluster.tls_server_name);
    config.root_cert = credentials::authorities(&target.cluster, &target.cluster_words)?;
    let asks_no_one = target.server.scheme_str() == Some("http") && route.proxy.is_none();
    if config.root_cert.is_none() && (config.accept_invalid_certs || asks_no_one) {
        // Spares reading the system's authorities, which may not even be there.
        config.root_cert = Some(Vec::new());
    }
    config.headers.push((header::USER_AGENT, agent()));
    if let Some(impersonation) = &route.impersonation {
        impersonation.check()?;
        impersonation.apply(&mut config.auth_info);
    }
    match credentials.authorization {
        Authorization::None => {}
        Authorization::Bearer(token) => config.auth_info.token = Some(token.into()),
        Authorization::Basic { username, password } => {
            config.auth_info.username = Some(username);
            config.auth_info.password = Some(password.into());
        }
    }
    if let Some(identity) = credentials.identity {
        config.auth_info.client_certificate_data = Some(BASE64_STANDARD.encode(identity.certificate));
        config.auth_info.client_key_data = Some(BASE64_STANDARD.encode(identity.key).into());
    }
    Ok(config)
}

/// The server's address, with its port in words when a proxy is to connect to it: kube-rs would take 443 for any.
fn with_port(server: &Uri, proxy: Option<&Proxy>) -> Uri {
    if proxy.is_none() || server.port().is_some() {
        return server.clone();
    }
    let (host, path) = (server.host().unwrap_or_default(), server.path());
    let scheme = server.scheme_str().unwrap_or("https");
    format!("{scheme}://{host}:{}{path}", proxy::port(server)).parse().unwrap_or_else(|_| server.clone())
}

/// How the plugin names itself in the server's audit log.
fn agent() -> HeaderValue {
    HeaderValue::from_static(concat!("kubectl-aicr/", env!("CARGO_PKG_VERSION")))
}

fn client(config: kube::Config) -> kube::Result<kube::Client> {
    // Fails only when one is installed, which then is this one: no other is linked.
    let _ = rustls::crypto::ring::default_provider().install_default();
    kube::Client::try_from(config)
}

#[cfg(test)]
mod tests;
