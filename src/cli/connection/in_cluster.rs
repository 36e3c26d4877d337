//! The API server as a pod sees it: its service account's mounted files.

use std::path::Path;

use super::kubeconfig::{Cluster, User};
use crate::cli::env::Env;

/// Where the kubelet mounts the service account.
pub(super) const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Cluster and user of the pod that this runs in; `None` outside a pod or without a service account's token.
///
/// Source: Kubernetes page "Accessing the Kubernetes API from a Pod".
pub(super) fn find(env: &Env, folder: &Path) -> Option<(Cluster, User)> {
    let host = env.text("KUBERNETES_SERVICE_HOST")?;
    let port = env.text("KUBERNETES_SERVICE_PORT")?;
    let token = folder.join("token");
    if !token.is_file() {
        return None;
    }
    let host = if host.contains(':') { format!("[{host}]") } else { host.into_owned() };
    let cluster = Cluster {
        server: Some(format!("https://{host}:{port}")),
        certificate_authority: Some(folder.join("ca.crt").to_str()?.to_owned()),
        ..Cluster::default()
    };
    Some((cluster, User { token_file: Some(token.to_str()?.to_owned()), ..User::default() }))
}
