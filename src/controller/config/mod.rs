//! The configuration: typed, checked whole at start, with every problem at once.
//!
//! Source: api-reference, "Installation values". A process that has a [`Config`] has a right one: nothing is checked
//! again later.

mod checks;
mod image;
mod settings;

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use k8s_openapi::api::core::v1::Toleration;
use serde::Deserialize;
use tracing::Level;

use crate::aicr::version::Version;
use crate::registry::Repository;

use checks::Reader;
pub use image::Image;
pub use settings::{Given, command};

/// What the process was installed with.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The process itself.
    pub operator: Operator,
    /// Which AICR runs, and where.
    pub aicr: Aicr,
    /// The deployment engine, Argo CD.
    pub engine: Engine,
    /// The runtime registry.
    pub registry: Registry,
    /// Namespaces of Jobs and of components.
    pub namespaces: Namespaces,
    /// Requests of the snapshot agent as `name` and quantity; empty keeps AICR's.
    pub agent_requests: Vec<(String, String)>,
    /// Deployment validation; `None` where it is not installed.
    pub validation: Option<Validation>,
    /// What only a development build may do.
    pub development: Development,
    /// How to reach the API server.
    pub access: Access,
}

/// The process itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// Namespace that it is installed in: plans, the Lease.
    pub namespace: String,
    /// Name of its pod.
    pub pod: String,
    /// Its own image.
    pub image: Image,
    /// What is logged of this program; of others only warnings.
    pub log_level: Level,
    /// How.
    pub log_format: LogFormat,
    /// Where metrics and health are served.
    pub listen: Listen,
}

/// Form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object.
    Json,
    /// Words for people.
    Text,
}

/// An address to listen at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen {
    /// `None` for every address of the machine, IPv6 and IPv4.
    pub host: Option<IpAddr>,
    /// 0 lets the system choose.
    pub port: u16,
}

impl Listen {
    /// Addresses to try in turn: a machine without IPv6 has no `[::]`.
    pub fn addresses(self) -> Vec<SocketAddr> {
        let hosts = match self.host {
            Some(host) => vec![host],
            None => vec![Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()],
        };
        hosts.into_iter().map(|host| SocketAddr::new(host, self.port)).collect()
    }
}

/// Which AICR runs, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Aicr {
    /// Version that every artifact must state.
    pub version: Version,
    /// The CLI and snapshot agent.
    pub image: Image,
    /// Validator images, each with tag and digest.
    pub validator_images: Vec<Image>,
    /// Labels of the nodes that its pods run on; empty places none.
    pub node_selector: BTreeMap<String, String>,
    /// Tolerations of its pods.
    pub tolerations: Vec<Toleration>,
}

/// Argo CD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Namespace of its Applications.
    pub namespace: String,
    /// The AppProject.
    pub project: String,
}

/// The runtime registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// Where charts are pushed.
    pub repository: Repository,
    /// Without TLS.
    pub plain_http: bool,
    /// Where its credentials come from.
    pub credentials: RegistryCredentials,
    /// Argo CD's repo-creds Secret in the engine's namespace.
    pub repo_creds_secret: String,
}

/// Where the registry's credentials come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryCredentials {
    /// ECR, by the operator's AWS identity.
    Aws,
    /// A docker config Secret of this name; anonymous without.
    Static(Option<String>),
}

/// Namespaces beside the operator's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespaces {
    /// Of the snapshot agent.
    pub discovery: String,
    /// Of recipe, bundle and upgrade-check Jobs.
    pub jobs: String,
    /// Of validation Jobs.
    pub validation: String,
    /// The only ones that releases may use.
    pub components: Vec<ComponentNamespace>,
}

/// A namespace that releases may use.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ComponentNamespace {
    /// Its name.
    pub name: String,
    /// Its Pod Security level.
    pub pod_security: PodSecurity,
    /// Whether the chart makes it.
    #[serde(default = "yes")]
    pub create: bool,
}

const fn yes() -> bool {
    true
}

/// A Pod Security level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PodSecurity {
    /// Nothing is forbidden.
    Privileged,
    /// Known privilege escalations are forbidden.
    Baseline,
    /// Hardened.
    Restricted,
}

/// Deployment validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// URI of the KMS key that signs evidence; unsigned without.
    pub signing_key: Option<String>,
    /// Whether signatures go to the public transparency log.
    pub transparency_log: bool,
}

/// What only a development build may do; nothing, in a release build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Development {
    /// Rollouts start without approval.
    pub bypass_approvals: bool,
    /// Declared criteria are trusted, no snapshot is taken.
    pub skip_discovery: bool,
}

/// How to reach the API server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// A kubeconfig; the pod's service account without.
    pub kubeconfig: Option<PathBuf>,
    /// Its context; the current one without.
    pub context: Option<String>,
}

/// What kind of program this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// What is shipped.
    Release,
    /// Built with the cargo feature `development`.
    Development,
}

impl Build {
    /// The kind of this program.
    pub const fn of_this_program() -> Self {
        if cfg!(feature = "development") { Self::Development } else { Self::Release }
    }
}

/// All that is wrong with what was given, one sentence each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        let settings = if count == 1 { "setting is" } else { "settings are" };
        write!(f, "{count} {settings} wrong:")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for Problems {}

impl Config {
    /// Checks everything that was given, or says all that is wrong with it.
    pub fn check(given: &Given, build: Build) -> Result<Self, Problems> {
        let mut reader = Reader::new(given);
        let config = checks::read(&mut reader);
        if let Some(config) = &config {
            checks::together(config, &mut reader);
        }
        checks::development(&mut reader, build);
        let problems = reader.problems();
        match config {
            Some(config) if problems.is_empty() => Ok(config),
            _ => Err(Problems(problems)),
        }
    }
}

#[cfg(test)]
mod tests;
