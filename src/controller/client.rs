//! The controller's client: from the pod's service account or a kubeconfig, without retries.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderValue, Uri, header};
use kube::config::{KubeConfigOptions, Kubeconfig};

use super::config::Access;

/// Where the kubelet mounts the service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// How long connecting, and sending a request, may take. Each call has a bound of its own besides.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Why there is no client. Each tells what to do.
#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    /// Neither a kubeconfig nor a pod.
    #[error(
        "this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set; give --kubeconfig"
    )]
    NoPod,
    /// The pod's address of the API server is none.
    #[error("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT give no address: {0}")]
    Address(#[source] http::uri::InvalidUri),
    /// A file of the service account cannot be read.
    #[error("cannot read {0}: {1}; is automountServiceAccountToken false?")]
    ServiceAccount(PathBuf, #[source] std::io::Error),
    /// The authorities in the service account are unreadable.
    #[error("{0} holds no certificates in PEM form")]
    Authorities(PathBuf),
    /// The kubeconfig is unusable.
    #[error("kubeconfig {0}: {1}")]
    Kubeconfig(PathBuf, #[source] kube::config::KubeconfigError),
    /// The settings make no client.
    #[error("no client can be made: {0}")]
    Client(#[source] kube::Error),
}

/// Makes the client. No call is made yet.
///
/// A token that lies in a file, as that of a service account does, is read again at least once a minute.
pub async fn connect(
    access: &Access,
    pod: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<kube::Client, NoClient> {
    let mut config = match &access.kubeconfig {
        Some(path) => of_kubeconfig(path, access.context.clone()).await?,
        None => of_pod(variable, Path::new(SERVICE_ACCOUNT))?,
    };
    // Each failed call is decided anew by who made it: see design, section 8.
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_WITHIN);
    config.write_timeout = Some(CONNECT_WITHIN);
    // Watches are quiet for minutes; whoever calls bounds the call.
    config.read_timeout = None;
    if let Ok(agent) = HeaderValue::from_str(&format!("aicr-operator/{} ({pod})", env!("CARGO_PKG_VERSION")))
    {
        config.headers.push((header::USER_AGENT, agent));
    }
    // Fails only when one is installed, which then is this one: no other is linked.
    let _ = rustls::crypto::ring::default_provider().install_default();
    kube::Client::try_from(config).map_err(NoClient::Client)
}

#[expect(clippy::disallowed_methods, reason = "one of the two places of the controller that make clients")]
async fn of_kubeconfig(path: &Path, context: Option<String>) -> Result<kube::Config, NoClient> {
    let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
    let unusable = |error| NoClient::Kubeconfig(path.to_owned(), error);
    let kubeconfig = Kubeconfig::read_from(path).map_err(unusable)?;
    kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(unusable)
}

/// Source: Kubernetes page "Accessing the Kubernetes API from a Pod".
#[expect(clippy::disallowed_methods, reason = "one of the two places of the controller that make clients")]
fn of_pod(variable: impl Fn(&str) -> Option<String>, folder: &Path) -> Result<kube::Config, NoClient> {
    let host = variable("KUBERNETES_SERVICE_HOST").ok_or(NoClient::NoPod)?;
    let port = variable("KUBERNETES_SERVICE_PORT").ok_or(NoClient::NoPod)?;
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let address: Uri = format!("https://{host}:{port}").parse().map_err(NoClient::Address)?;
    let (token, authorities) = (folder.join("token"), folder.join("ca.crt"));
    fs::read(&token).map_err(|error| NoClient::ServiceAccount(token.clone(), error))?;
    let pem = fs::read_to_string(&authorities)
        .map_err(|error| NoClient::ServiceAccount(authorities.clone(), error))?;
    let mut config = kube::Config::new(address);
    config.root_cert = Some(certificates(&pem).ok_or(NoClient::Authorities(authorities))?);
    config.auth_info.token_file = token.to_str().map(str::to_owned);
    Ok(config)
}

/// The certificates of a PEM text in DER; `None` if there is none or one is broken.
fn certificates(pem: &str) -> Option<Vec<Vec<u8>>> {
    let bodies = pem.split("-----BEGIN CERTIFICATE-----").skip(1);
    let decoded = bodies.map(|body| {
        let (body, _) = body.split_once("-----END CERTIFICATE-----")?;
        let body: String = body.split_whitespace().collect();
        BASE64_STANDARD.decode(body).ok()
    });
    let certificates = decoded.collect::<Option<Vec<_>>>()?;
    Some(certificates).filter(|certificates| !certificates.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Access, NoClient, certificates, connect, of_pod};

    fn variable(name: &str) -> Option<String> {
        match name {
            "KUBERNETES_SERVICE_HOST" => Some("fd00::1".into()),
            "KUBERNETES_SERVICE_PORT" => Some("443".into()),
            _ => None,
        }
    }

    const AUTHORITY: &str = "-----BEGIN CERTIFICATE-----\nAQID\nBA==\n-----END CERTIFICATE-----\n";

    #[test]
    fn a_pods_service_account_gives_address_authorities_and_a_token_that_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("token"), "t").unwrap();
        fs::write(folder.path().join("ca.crt"), AUTHORITY.repeat(2)).unwrap();
        let config = of_pod(variable, folder.path()).unwrap();
        assert_eq!(config.cluster_url.to_string(), "https://[fd00::1]:443/");
        assert_eq!(config.root_cert, Some(vec![vec![1, 2, 3, 4]; 2]));
        assert_eq!(config.auth_info.token_file.as_deref(), folder.path().join("token").to_str());
        assert!(config.auth_info.token.is_none());
    }

    #[test]
    fn what_a_pod_lacks_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(of_pod(|_| None, folder.path()), Err(NoClient::NoPod)));
        let error = of_pod(variable, folder.path()).unwrap_err().to_string();
        assert!(error.contains("/token: ") && error.contains("automountServiceAccountToken"), "{error}");
        fs::write(folder.path().join("token"), "t").unwrap();
        let error = of_pod(variable, folder.path()).unwrap_err().to_string();
        assert!(error.contains("/ca.crt: "), "{error}");
        fs::write(folder.path().join("ca.crt"), "nothing").unwrap();
        assert!(matches!(of_pod(variable, folder.path()), Err(NoClient::Authorities(_))));
    }

    #[test]
    fn broken_authorities_are_not_half_read() {
        assert_eq!(certificates(AUTHORITY).unwrap().len(), 1);
        assert_eq!(certificates(&format!("{AUTHORITY}-----BEGIN CERTIFICATE-----\nAQID")), None);
        assert_eq!(certificates(&AUTHORITY.replace("AQID", "!!!!")), None);
        assert_eq!(certificates(""), None);
    }

    #[tokio::test]
    async fn a_kubeconfig_that_is_missing_or_lacks_the_context_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let with = |context: Option<&str>| Access {
            kubeconfig: Some(path.clone()),
            context: context.map(str::to_owned),
        };
        let error = connect(&with(None), "pod", |_| None).await.err().unwrap().to_string();
        assert!(error.starts_with(&format!("kubeconfig {}: ", path.display())), "{error}");
        fs::write(&path, "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n").unwrap();
        let error = connect(&with(Some("prod")), "pod", |_| None).await.err().unwrap().to_string();
        assert!(error.contains("prod"), "{error}");
    }
}
