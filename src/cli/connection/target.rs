//! Which cluster and which user: the kubeconfig's choice, overridden by flags with kubectl's precedence.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use http::Uri;

use super::args::ConnectionArgs;
use super::in_cluster;
use super::kubeconfig::{Cluster, Entry, Kubeconfig, User};
use super::nearest::nearest;
use super::proxy;
use crate::cli::env::Env;
use crate::cli::error::CliError;

/// The cluster to talk to and the user to be, with every override applied.
pub(super) struct Target {
    /// Address with a scheme; `https` unless the kubeconfig says otherwise in so many words.
    pub(super) server: Uri,
    pub(super) cluster: Cluster,
    pub(super) user: User,
    /// The cluster in words, for messages.
    pub(super) cluster_words: String,
    /// The user in words, for messages.
    pub(super) user_words: String,
}

/// What the kubeconfig chooses, before overrides.
struct Choice {
    cluster: Cluster,
    user: User,
    cluster_words: String,
    user_words: String,
}

impl Target {
    /// Chooses as kubectl does: the kubeconfig's context; without one the pod's service account, inside a cluster.
    pub(super) fn find(config: &Kubeconfig, args: &ConnectionArgs, env: &Env) -> Result<Self, CliError> {
        Self::find_with(config, args, env, Path::new(in_cluster::FOLDER))
    }

    fn find_with(
        config: &Kubeconfig,
        args: &ConnectionArgs,
        env: &Env,
        service_account: &Path,
    ) -> Result<Self, CliError> {
        let choice = match choose(config, args)? {
            Some(choice) => choice,
            None => match in_cluster::find(env, service_account) {
                Some((cluster, user)) => Choice {
                    cluster,
                    user,
                    cluster_words: "the cluster of this pod".into(),
                    user_words: "this pod's service account".into(),
                },
                None => return Err(nothing_chosen(config)),
            },
        };
        let Choice { mut cluster, mut user, cluster_words, user_words } = choice;
        override_cluster(&mut cluster, args);
        override_user(&mut user, args);
        check_cluster(&cluster, &cluster_words)?;
        check_user(&user, &user_words)?;
        let Some(server) = &cluster.server else {
            return Err(CliError::invalid(format!(
                "{cluster_words} has no server; set it there or give --server"
            )));
        };
        let server = parse_server(server).map_err(|problem| {
            let server = proxy::without_password(server);
            CliError::invalid(format!(
                "server '{server}' of {cluster_words} {problem}; write https://HOST:PORT"
            ))
        })?;
        Ok(Self { server, cluster, user, cluster_words, user_words })
    }
}

/// A flag's value; an empty one counts as not given.
fn given(flag: Option<&String>) -> Option<&String> {
    flag.filter(|value| !value.is_empty())
}

/// The kubeconfig's choice, or `None` when neither it nor a flag chooses anything.
fn choose(config: &Kubeconfig, args: &ConnectionArgs) -> Result<Option<Choice>, CliError> {
    let name = given(args.context.as_ref()).or(config.current_context.as_ref());
    let cluster_flag = given(args.cluster.as_ref());
    let user_flag = given(args.user.as_ref());
    let server_flag = given(args.server.as_ref());
    if [name, cluster_flag, user_flag, server_flag].iter().all(Option::is_none) {
        return Ok(None);
    }
    let context = match name {
        Some(name) => Some(lookup(&config.contexts, "context", name, config)?),
        None => None,
    };
    let of_context =
        |pick: fn(&super::kubeconfig::Context) -> Option<&String>| context.and_then(|c| pick(&c.value));

    let (cluster, cluster_words) = match cluster_flag.or(of_context(|context| context.cluster.as_ref())) {
        Some(name) => match lookup(&config.clusters, "cluster", name, config) {
            Ok(entry) => (entry.value.clone(), words("cluster", name, entry)),
            // As for kubectl, --server stands in for a cluster that the context names in vain.
            Err(_) if server_flag.is_some() && cluster_flag.is_none() => {
                (Cluster::default(), "--server".into())
            }
            Err(error) => return Err(error),
        },
        None if server_flag.is_some() => (Cluster::default(), "--server".into()),
        None => {
            let context =
                name.map_or_else(String::new, |name| format!("context '{name}' names no cluster; "));
            return Err(CliError::invalid(format!("{context}give --context, --cluster or --server")));
        }
    };
    let (user, user_words) = match user_flag.or(of_context(|context| context.user.as_ref())) {
        Some(name) => {
            let entry = lookup(&config.users, "user", name, config)?;
            (entry.value.clone(), words("user", name, entry))
        }
        None => (User::default(), "no user".into()),
    };
    Ok(Some(Choice { cluster, user, cluster_words, user_words }))
}

fn words<T>(kind: &str, name: &str, entry: &Entry<T>) -> String {
    format!("{kind} '{name}' in {}", entry.file.display())
}

/// Finds `name`, or says which names there are and which of them may have been meant.
fn lookup<'a, T>(
    map: &'a BTreeMap<String, Entry<T>>,
    kind: &str,
    name: &str,
    config: &Kubeconfig,
) -> Result<&'a Entry<T>, CliError> {
    map.get(name).ok_or_else(|| {
        let files = config.files();
        let mut message = format!("no {kind} '{name}' in the kubeconfig ({files})");
        if let Some(near) = nearest(name, map.keys().map(String::as_str)) {
            let _ = write!(message, "; did you mean '{near}'?");
        }
        message.push_str(&listed(kind, map));
        CliError::invalid(message)
    })
}

/// The names that exist, at most twenty of them.
fn listed<T>(kind: &str, map: &BTreeMap<String, Entry<T>>) -> String {
    const SHOWN: usize = 20;
    if map.is_empty() {
        return format!("; it has no {kind}s");
    }
    let names: Vec<&str> = map.keys().take(SHOWN).map(String::as_str).collect();
    let more = map.len().checked_sub(SHOWN).filter(|more| *more > 0);
    let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
    format!("; its {kind}s: {}{more}", names.join(", "))
}

fn nothing_chosen(config: &Kubeconfig) -> CliError {
    let files = config.files();
    if !config.contexts.is_empty() {
        let contexts = listed("context", &config.contexts);
        return CliError::invalid(format!(
            "the kubeconfig ({files}) has no current-context; give --context{contexts}"
        ));
    }
    let looked = if files.is_empty() {
        "KUBECONFIG and HOME are not set".into()
    } else {
        format!("looked for {files}")
    };
    CliError::invalid(format!(
        "no cluster to talk to: {looked}, and this is no pod with a service account; give --kubeconfig or --server"
    ))
}

/// Flags over the cluster. As for kubectl, `--server` drops the kubeconfig's `tls-server-name`, and either of the two
/// flags on trust replaces all that the kubeconfig says on trust.
fn override_cluster(cluster: &mut Cluster, args: &ConnectionArgs) {
    if let Some(server) = given(args.server.as_ref()) {
        cluster.server = Some(server.clone());
        cluster.tls_server_name = None;
    }
    if let Some(name) = given(args.tls_server_name.as_ref()) {
        cluster.tls_server_name = Some(name.clone());
    }
    if let Some(proxy) = given(args.proxy_url.as_ref()) {
        cluster.proxy_url = Some(proxy.clone());
    }
    let authority = given(args.certificate_authority.as_ref());
    if authority.is_some() || args.insecure_skip_tls_verify == Some(true) {
        cluster.certificate_authority = authority.cloned();
        cluster.certificate_authority_data = None;
        cluster.insecure_skip_tls_verify = false;
    }
    // Unlike kubectl, which ignores it, an outspoken `=false` asks for the check that the kubeconfig switches off.
    if let Some(insecure) = args.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = insecure;
    }
    if let Some(disable) = args.disable_compression {
        cluster.disable_compression = disable;
    }
}

/// Flags over the user. `--token` or `--username` replace whatever else would fill the `Authorization` header; a
/// client certificate stays, as for kubectl, and the API server looks at it first.
fn override_user(user: &mut User, args: &ConnectionArgs) {
    if let Some(path) = given(args.client_certificate.as_ref()) {
        user.client_certificate = Some(path.clone());
        user.client_certificate_data = None;
    }
    if let Some(path) = given(args.client_key.as_ref()) {
        user.client_key = Some(path.clone());
        user.client_key_data = None;
    }
    let token = given(args.token.as_ref());
    let basic = [args.username.as_ref(), args.password.as_ref()].map(given);
    if token.is_some() || basic.iter().any(Option::is_some) {
        let [username, password] = basic;
        // One of a pair keeps the other of the kubeconfig.
        user.username = username.cloned().or(user.username.take()).filter(|_| token.is_none());
        user.password = password.cloned().or(user.password.take()).filter(|_| token.is_none());
        user.token = token.cloned();
        user.token_file = None;
        user.exec = None;
        user.auth_provider = None;
    }
    if let Some(name) = given(args.as_user.as_ref()) {
        user.acting_as = Some(name.clone());
    }
    if let Some(uid) = given(args.as_uid.as_ref()) {
        user.as_uid = Some(uid.clone());
    }
    if !args.as_group.is_empty() {
        user.as_groups.clone_from(&args.as_group);
    }
    for (key, _) in &args.as_user_extra {
        user.as_user_extra.insert(key.clone(), Vec::new());
    }
    for (key, value) in &args.as_user_extra {
        user.as_user_extra.entry(key.clone()).or_default().push(value.clone());
    }
}

/// Contradictions that kubectl refuses too.
fn check_cluster(cluster: &Cluster, words: &str) -> Result<(), CliError> {
    let file = cluster.certificate_authority.is_some();
    let data = cluster.certificate_authority_data.is_some();
    if file && data {
        return Err(both("certificate-authority", "certificate-authority-data", words));
    }
    if cluster.insecure_skip_tls_verify && (file || data) {
        return Err(both("insecure-skip-tls-verify", "a certificate authority", words));
    }
    Ok(())
}

/// Contradictions that kubectl refuses too, and a key without a certificate, which kubectl ignores.
fn check_user(user: &User, words: &str) -> Result<(), CliError> {
    if user.client_certificate.is_some() && user.client_certificate_data.is_some() {
        return Err(both("client-certificate", "client-certificate-data", words));
    }
    if user.client_key.is_some() && user.client_key_data.is_some() {
        return Err(both("client-key", "client-key-data", words));
    }
    let certificate = user.client_certificate.is_some() || user.client_certificate_data.is_some();
    let key = user.client_key.is_some() || user.client_key_data.is_some();
    if certificate != key {
        let missing = if certificate { "client-key" } else { "client-certificate" };
        return Err(CliError::invalid(format!(
            "{words} has half of a client certificate: {missing} or {missing}-data is missing"
        )));
    }
    let token = user.token.is_some() || user.token_file.is_some();
    if token && (user.username.is_some() || user.password.is_some()) {
        return Err(both("a token", "username or password", words));
    }
    if user.exec.is_some() && user.auth_provider.is_some() {
        return Err(both("exec", "auth-provider", words));
    }
    if user.acting_as.is_none() {
        for (field, is_set) in [
            ("as-uid", user.as_uid.is_some()),
            ("as-groups", !user.as_groups.is_empty()),
            ("as-user-extra", !user.as_user_extra.is_empty()),
        ] {
            if is_set {
                return Err(CliError::invalid(format!(
                    "{words} has {field} but no 'as': name the user to act as"
                )));
            }
        }
    }
    Ok(())
}

fn both(one: &str, other: &str, words: &str) -> CliError {
    CliError::invalid(format!("{words} has both {one} and {other}; only one of them can hold"))
}

/// The address of a server. Without a scheme it is plain HTTP, as for kubectl; what follows a `?` is dropped, as
/// kubectl does.
fn parse_server(text: &str) -> Result<Uri, String> {
    let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let uri: Uri = full.parse().map_err(|error| format!("is no address: {error}"))?;
    let scheme = uri.scheme_str().unwrap_or_default().to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return Err(format!("has scheme '{scheme}'"));
    }
    let authority = uri.authority().ok_or("has no host")?;
    if authority.as_str().contains('@') {
        return Err("holds a user: that belongs into username and password of the user".into());
    }
    if authority.host().is_empty() {
        return Err("has no host".into());
    }
    let path = uri.path().trim_end_matches('/');
    if !path.is_empty() && !text.contains("://") {
        return Err("has a path but no scheme".into());
    }
    if proxy::odd_port(authority) {
        return Err("has an invalid port".into());
    }
    format!("{scheme}://{authority}{path}").parse().map_err(|error| format!("is no address: {error}"))
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
