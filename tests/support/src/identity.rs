//! Who talks to the API server.
use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// One of the people and programs that the tests act as. Each has a token of its own; what it may do is decided by the
/// API server, from the roles of the chart and those in [`Identity::Editor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identity {
    /// A cluster administrator (`system:masters`), to whom RBAC forbids nothing.
    Admin,
    /// alice, of the group that the chart binds to the approver roles.
    Approver,
    /// bob, of the same group.
    SecondApprover,
    /// eve, who may do everything to ClusterRuntimes and read RuntimeRollouts.
    Editor,
    /// mallory, who has no rights but those of everyone who is logged in.
    Tenant,
    /// The operator: the chart's ServiceAccount with a token from the TokenRequest API.
    Operator,
}

/// The group that is bound to the approver roles.
pub const APPROVERS: &str = "gpu-platform-approvers";
/// The group that may edit ClusterRuntimes.
pub(crate) const EDITORS: &str = "runtime-editors";

impl Identity {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Admin, Self::Approver, Self::SecondApprover, Self::Editor, Self::Tenant, Self::Operator];

    /// The name of its context in a kubeconfig.
    pub fn context(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Approver => "approver",
            Self::SecondApprover => "second-approver",
            Self::Editor => "editor",
            Self::Tenant => "tenant",
            Self::Operator => "operator",
        }
    }

    /// The username that the API server sees, and that approvals and audit events record.
    pub fn user(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Approver => "alice",
            Self::SecondApprover => "bob",
            Self::Editor => "eve",
            Self::Tenant => "mallory",
            Self::Operator => "system:serviceaccount:aicr-system:aicr-operator",
        }
    }

    /// The groups in the token file.
    fn groups(self) -> &'static str {
        match self {
            Self::Admin => "system:masters",
            Self::Approver | Self::SecondApprover => APPROVERS,
            Self::Editor => EDITORS,
            Self::Tenant | Self::Operator => "tenants",
        }
    }
}

/// The tokens of one API server. The operator's is not among them: it comes from the API server.
pub(crate) struct Tokens(BTreeMap<Identity, String>);

impl Tokens {
    pub(crate) fn new() -> Result<Self> {
        Identity::ALL
            .into_iter()
            .filter(|id| *id != Identity::Operator)
            .map(|id| Ok((id, secret()?)))
            .collect::<Result<_>>()
            .map(Self)
    }

    pub(crate) fn of(&self, identity: Identity) -> Option<&str> {
        self.0.get(&identity).map(String::as_str)
    }

    /// The text for `--token-auth-file`.
    pub(crate) fn file(&self) -> String {
        let line = |(id, token): (&Identity, &String)| {
            let (user, groups) = (id.user(), id.groups());
            format!("{token},{user},{user},\"{groups}\"")
        };
        self.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// 128 random bits.
pub(crate) fn secret() -> Result<String> {
    let mut bytes = [0; 16];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes)
        .map_err(|_| Error::new("the system gave no random bytes"))?;
    Ok(hex::encode(bytes))
}

/// A kubeconfig with one context per identity, the first being current. JSON is YAML.
pub(crate) fn kubeconfig(url: &str, ca_pem: &str, tokens: &[(Identity, String)]) -> String {
    let cluster = serde_json::json!({"server": url, "certificate-authority-data": base64(ca_pem.as_bytes())});
    let users =
        tokens.iter().map(|(id, token)| serde_json::json!({"name": id.context(), "user": {"token": token}}));
    let contexts = tokens.iter().map(|(id, _)| {
        serde_json::json!({"name": id.context(), "context": {"cluster": "test", "user": id.context()}})
    });
    let document = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": users.collect::<Vec<_>>(),
        "contexts": contexts.collect::<Vec<_>>(),
        "current-context": tokens.first().map_or("", |(id, _)| id.context()),
    });
    format!("{document:#}\n")
}

/// Base64 as kubeconfigs and etcd's JSON API want it.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let value = k8s_openapi::ByteString(bytes.to_vec());
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}
