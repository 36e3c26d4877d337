//! What proves who asks, and what proves who answers: tokens, certificates and authorities, read and checked here so
//! that an error names the field and the file.

use std::io::IsTerminal;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use serde_json::{Value, json};

use super::deadline::Deadline;
use super::exec;
use super::kubeconfig::Cluster;
use super::proxy::Proxy;
use super::target::Target;
use crate::cli::error::CliError;

/// Extension of a cluster that holds configuration for its credential plugins.
const PLUGIN_EXTENSION: &str = "client.authentication.k8s.io/exec";

/// The `Authorization` header. It has no `Debug`: it holds secrets.
#[derive(Default)]
pub(super) enum Authorization {
    #[default]
    None,
    Bearer(String),
    Basic {
        username: String,
        password: String,
    },
}

/// A client certificate and its key, both in PEM. It has no `Debug`: it holds secrets.
pub(super) struct Identity {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
}

/// All that a user proves itself with. It has no `Debug`: it holds secrets.
#[derive(Default)]
pub(super) struct Credentials {
    pub(super) authorization: Authorization,
    pub(super) identity: Option<Identity>,
}

impl Credentials {
    /// Reads the user's credentials; a credential plugin runs only when there are no others, as for kubectl.
    pub(super) async fn obtain(
        target: &Target,
        proxy: Option<&Proxy>,
        deadline: &mut Deadline,
    ) -> Result<Self, CliError> {
        let (user, words) = (&target.user, target.user_words.as_str());
        let mut credentials = Self { authorization: authorization(target)?, identity: identity(target)? };
        let unproven = matches!(credentials.authorization, Authorization::None);
        if unproven && let Some(provider) = &user.auth_provider {
            return Err(CliError::invalid(format!(
                "auth-provider '{}' of {words} is not supported; use an exec credential plugin, or give --token",
                provider.name
            )));
        }
        if unproven
            && credentials.identity.is_none()
            && let Some(plugin) = &user.exec
        {
            let about = about_cluster(target, proxy)?;
            let at_terminal = std::io::stdin().is_terminal();
            let given = exec::run(plugin, words, about, at_terminal, deadline).await?;
            if let Some(token) = given.token {
                credentials.authorization = bearer(token, "token that the credential plugin gave", words)?;
            }
            if let Some((certificate, key)) = given.identity {
                let (certificate, key) = (certificate.into_bytes(), key.into_bytes());
                let fields =
                    ["certificate that the credential plugin gave", "key that the credential plugin gave"];
                check_identity(&certificate, &key, fields, words)?;
                credentials.identity = Some(Identity { certificate, key });
            }
        }
        Ok(credentials)
    }
}

/// Source: Kubernetes type `AuthInfo`: the content of a token file comes before a token.
fn authorization(target: &Target) -> Result<Authorization, CliError> {
    let (user, words) = (&target.user, target.user_words.as_str());
    if let Some(path) = &user.token_file {
        let field = format!("tokenFile {path}");
        let content = read(path, &field, words)?;
        let token = String::from_utf8(content).map_err(|_| problem(&field, words, "is not UTF-8"))?;
        return bearer(token.trim().to_owned(), &field, words);
    }
    if let Some(token) = &user.token {
        return bearer(token.clone(), "token", words);
    }
    if user.username.is_none() && user.password.is_none() {
        return Ok(Authorization::None);
    }
    Ok(Authorization::Basic {
        username: user.username.clone().unwrap_or_default(),
        password: user.password.clone().unwrap_or_default(),
    })
}

/// A token that can be sent.
fn bearer(token: String, field: &str, words: &str) -> Result<Authorization, CliError> {
    if token.is_empty() {
        return Err(problem(field, words, "is empty"));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(problem(field, words, "holds characters that no token has, such as a line end"));
    }
    Ok(Authorization::Bearer(token))
}

fn identity(target: &Target) -> Result<Option<Identity>, CliError> {
    let (user, words) = (&target.user, target.user_words.as_str());
    let certificate = pem(
        "client-certificate",
        user.client_certificate.as_ref(),
        user.client_certificate_data.as_ref(),
        words,
    )?;
    let key = pem("client-key", user.client_key.as_ref(), user.client_key_data.as_ref(), words)?;
    let (Some((certificate, field)), Some((key, key_field))) = (certificate, key) else { return Ok(None) };
    check_identity(&certificate, &key, [&field, &key_field], words)?;
    Ok(Some(Identity { certificate, key }))
}

/// The certificate authorities of a cluster; `None` leaves it to those that the system trusts.
pub(super) fn authorities(cluster: &Cluster, words: &str) -> Result<Option<Vec<Vec<u8>>>, CliError> {
    let found = pem(
        "certificate-authority",
        cluster.certificate_authority.as_ref(),
        cluster.certificate_authority_data.as_ref(),
        words,
    )?;
    let Some((bytes, field)) = found else { return Ok(None) };
    let certificates = check_certificate(&bytes, &field, words)?;
    Ok(Some(certificates.into_iter().map(|certificate| certificate.to_vec()).collect()))
}

/// Content of a field that is either a file or base64 in place, and the field's name with its file.
fn pem(
    field: &str,
    file: Option<&String>,
    data: Option<&String>,
    words: &str,
) -> Result<Option<(Vec<u8>, String)>, CliError> {
    if let Some(path) = file {
        let field = format!("{field} {path}");
        return read(path, &field, words).map(|bytes| Some((bytes, field)));
    }
    let Some(data) = data else { return Ok(None) };
    let field = format!("{field}-data");
    let compact: String = data.split_ascii_whitespace().collect();
    let bytes = BASE64_STANDARD
        .decode(compact)
        .map_err(|error| problem(&field, words, &format!("is no base64: {error}")))?;
    Ok(Some((bytes, field)))
}

fn read(path: &str, field: &str, words: &str) -> Result<Vec<u8>, CliError> {
    std::fs::read(Path::new(path)).map_err(|error| problem(field, words, &format!("cannot be read: {error}")))
}

fn check_certificate(
    bytes: &[u8],
    field: &str,
    words: &str,
) -> Result<Vec<CertificateDer<'static>>, CliError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
    let certificates = certificates.map_err(|error| problem(field, words, &format!("is no PEM: {error}")))?;
    if certificates.is_empty() {
        return Err(problem(field, words, "holds no certificate in PEM"));
    }
    Ok(certificates)
}

/// A certificate with its key, both in PEM.
fn check_identity(certificate: &[u8], key: &[u8], fields: [&str; 2], words: &str) -> Result<(), CliError> {
    let [field, key_field] = fields;
    let chain = check_certificate(certificate, field, words)?;
    let text = String::from_utf8_lossy(key);
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(problem(
            key_field,
            words,
            "is encrypted; kubectl cannot read that either, give it unencrypted",
        ));
    }
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| problem(key_field, words, &format!("holds no private key in PEM: {error}")))?;
    match CertifiedKey::from_der(chain, key, &ring::default_provider()) {
        Ok(_) => Ok(()),
        Err(rustls::Error::InconsistentKeys(_)) => {
            Err(problem(key_field, words, "does not belong to the certificate"))
        }
        Err(error) => {
            Err(problem(key_field, words, &format!("cannot be used with its certificate: {error}")))
        }
    }
}

fn problem(field: &str, words: &str, what: &str) -> CliError {
    CliError::invalid(format!("{field} of {words} {what}"))
}

/// What a credential plugin is told about the cluster when it asks for it.
fn about_cluster(target: &Target, proxy: Option<&Proxy>) -> Result<Value, CliError> {
    let cluster = &target.cluster;
    let mut about = json!({ "server": target.server.to_string().trim_end_matches('/') });
    if let Some(name) = &cluster.tls_server_name {
        about["tls-server-name"] = json!(name);
    }
    if cluster.insecure_skip_tls_verify {
        about["insecure-skip-tls-verify"] = json!(true);
    }
    let authority = pem(
        "certificate-authority",
        cluster.certificate_authority.as_ref(),
        cluster.certificate_authority_data.as_ref(),
        &target.cluster_words,
    )?;
    if let Some((bytes, _)) = authority {
        about["certificate-authority-data"] = json!(BASE64_STANDARD.encode(bytes));
    }
    if let (Some(proxy), Some(_)) = (proxy, &cluster.proxy_url) {
        about["proxy-url"] = json!(proxy.uri.to_string());
    }
    if cluster.disable_compression {
        about["disable-compression"] = json!(true);
    }
    if let Some(extension) = cluster.extensions.iter().find(|extension| extension.name == PLUGIN_EXTENSION) {
        about["config"] = extension.extension.clone();
    }
    Ok(about)
}

#[cfg(test)]
#[path = "credentials_tests.rs"]
mod tests;
