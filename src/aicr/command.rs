//! The command lines of AICR: argument vectors from typed inputs.
//!
//! Source: aicr-cli sections 1.1, 2.1, 3.1, 4.1 and 5.1. An argument vector begins with the subcommand, because the image's
//! entry point is AICR itself. The same inputs give the same vector: nothing depends on the order of a map, and overrides
//! are sorted.
//!
//! # From the runtime's spec to AICR's flags
//! - `spec.criteria`, `intent` and `platform` become flags, which win over what AICR detects; what is not declared is left
//!   to detection.
//! - `spec.profile` is a value; the profile that it belongs to is `gpuStack` on every service, the one profile that AICR 1.x
//!   documents (AKS, GKE and OKE have it, with different values). So `operator-managed` becomes
//!   `--profile gpuStack=operator-managed`, and AICR refuses a value that the service does not have.
//! - `spec.placement` becomes selector and toleration flags, see `placement`.
//! - `spec.overrides` become `--set` or `--set-json`, see `overrides`.

mod overrides;
mod placement;

use std::fmt;

use super::reason::Reason;
use super::version::Version;
use crate::api::{ClusterRuntimeSpec, NodeGroup};

/// The profile that `spec.profile` names a value of.
const PROFILE: &str = "gpuStack";
/// The most bytes that Linux passes as one argument, its end mark included.
const MAX_ARGUMENT: usize = 128 * 1024;

/// Why there is no command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// The reason that a condition carries.
    pub reason: Reason,
    /// Which input, by which rule, and the way out.
    pub message: String,
}

/// Where AICR reads an artifact from or writes it to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A file or folder in the pod.
    Path(String),
    /// A ConfigMap.
    ConfigMap {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A repository and tag in a registry, without a scheme.
    Oci(String),
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.write_str(path),
            Self::ConfigMap { namespace, name } => write!(f, "cm://{namespace}/{name}"),
            Self::Oci(reference) => write!(f, "oci://{reference}"),
        }
    }
}

/// `aicr snapshot`: starts an agent on an accelerated node and writes what it observed.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// Accelerated nodes: the agent runs on one of them.
    pub nodes: &'a NodeGroup,
    /// `spec.criteria.os`: the agent's pod has another shape on some systems.
    pub os: Option<&'a str>,
    /// Namespace of the agent, and of the output.
    pub namespace: &'a str,
    /// The agent's image, pinned by digest.
    pub image: &'a str,
    /// The agent's ServiceAccount; it must exist, else AICR makes roles of its own.
    pub service_account: &'a str,
    /// `discovery.agentRequests`; empty keeps AICR's.
    pub requests: &'a str,
    /// Name of the ConfigMap that takes the output.
    pub output: &'a str,
}

impl Snapshot<'_> {
    /// The arguments.
    ///
    /// # Errors
    ///
    /// When a toleration cannot be said in flags.
    pub fn args(&self) -> Result<Vec<String>, CommandError> {
        let namespace = self.namespace.to_owned();
        let output = Reference::ConfigMap { namespace, name: self.output.to_owned() };
        let mut args = Args::new("snapshot");
        args.flag("--namespace", self.namespace);
        args.flag("--image", self.image);
        args.flag("--service-account-name", self.service_account);
        args.extend(placement::selector("--node-selector", self.nodes));
        args.extend(placement::tolerations("--toleration", &self.nodes.tolerations)?);
        args.some("--os", self.os);
        args.some("--requests", Some(self.requests));
        args.flag("--format", "yaml");
        args.flag("--output", &output.to_string());
        args.done()
    }
}

/// `aicr recipe`: chooses components for criteria, in JSON, so that its bytes are what is rendered, stored and compared.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// Declared criteria, profile and configuration.
    pub spec: &'a ClusterRuntimeSpec,
    /// The snapshot that fills in what is not declared; nothing when discovery is skipped.
    pub snapshot: Option<&'a Reference>,
    /// Where the recipe goes.
    pub output: &'a Reference,
}

impl Recipe<'_> {
    /// The arguments.
    ///
    /// # Errors
    ///
    /// When an input cannot be passed as an argument.
    pub fn args(&self) -> Result<Vec<String>, CommandError> {
        let spec = self.spec;
        let criteria = spec.criteria.as_ref();
        let mut args = Args::new("recipe");
        if let Some(snapshot) = self.snapshot {
            args.flag("--snapshot", &snapshot.to_string());
        }
        args.some("--service", criteria.and_then(|criteria| criteria.service.as_deref()));
        args.some("--accelerator", criteria.and_then(|criteria| criteria.accelerator.as_deref()));
        args.some("--os", criteria.and_then(|criteria| criteria.os.as_deref()));
        args.flag("--intent", &spec.intent);
        args.some("--platform", spec.platform.as_deref());
        if let Some(value) = spec.profile.as_deref().filter(|value| !value.is_empty()) {
            args.flag("--profile", &format!("{PROFILE}={value}"));
        }
        let gke = spec.configuration.as_ref().and_then(|configuration| configuration.gke.as_ref());
        let interfaces = gke.map(|gke| gke.tcpxo_interfaces.as_slice()).unwrap_or_default();
        let mapping: Vec<String> = interfaces
            .iter()
            .map(|interface| format!("{}={}", interface.interface_name, interface.network))
            .collect();
        args.some("--gke-tcpxo-interfaces", Some(&mapping.join(",")));
        args.flag("--format", "json");
        args.flag("--output", &self.output.to_string());
        args.done()
    }
}

/// What a render takes besides recipe and output: `provenance.renderFlags` of the plan, from which `reproduce` renders.
///
/// # Errors
///
/// When a toleration or an override cannot be said in flags.
pub fn render_flags(spec: &ClusterRuntimeSpec) -> Result<Vec<String>, CommandError> {
    let mut flags = base_render_flags(spec)?;
    flags.extend(overrides::flags(&spec.overrides)?);
    Ok(flags)
}

/// [`render_flags`] without the overrides: which paths exist before them.
///
/// # Errors
///
/// When a toleration cannot be said in flags.
pub fn base_render_flags(spec: &ClusterRuntimeSpec) -> Result<Vec<String>, CommandError> {
    let (system, accelerated) = (&spec.placement.system, &spec.placement.accelerated);
    let mut flags = ["--deployer", "helm", "--readiness-hooks"].map(str::to_owned).to_vec();
    flags.extend(placement::selector("--system-node-selector", system));
    flags.extend(placement::tolerations("--system-node-toleration", &system.tolerations)?);
    flags.extend(placement::selector("--accelerated-node-selector", accelerated));
    flags.extend(placement::tolerations("--accelerated-node-toleration", &accelerated.tolerations)?);
    Ok(flags)
}

/// `aicr bundle`: renders a recipe and pushes the bundle to a registry.
#[derive(Clone, Copy, Debug)]
pub struct Render<'a> {
    /// The recipe.
    pub recipe: &'a Reference,
    /// [`render_flags`] or [`base_render_flags`].
    pub flags: &'a [String],
    /// Repository and tag that the bundle is pushed to.
    pub output: &'a Reference,
    /// File that takes the pushed digest.
    pub image_refs: &'a str,
    /// Whether the registry speaks plain HTTP.
    pub plain_http: bool,
}

impl Render<'_> {
    /// The arguments.
    ///
    /// # Errors
    ///
    /// When an input cannot be passed as an argument.
    pub fn args(&self) -> Result<Vec<String>, CommandError> {
        let mut args = Args::new("bundle");
        args.flag("--recipe", &self.recipe.to_string());
        args.extend(self.flags.iter().cloned());
        args.flag("--output", &self.output.to_string());
        args.flag("--image-refs", self.image_refs);
        args.switch("--plain-http", self.plain_http);
        args.done()
    }
}

/// `aicr upgrade-check`: compares two recipes. The steps are those for Argo CD, which applies the change, and verdicts do
/// not change the exit code: the report is what counts.
#[derive(Clone, Copy, Debug)]
pub struct UpgradeCheck<'a> {
    /// The recipe of the active plan; the report repeats this path.
    pub from: &'a Reference,
    /// The recipe of the target plan; the report repeats this path.
    pub to: &'a Reference,
    /// Where the report goes.
    pub output: &'a Reference,
}

impl UpgradeCheck<'_> {
    /// The arguments.
    ///
    /// # Errors
    ///
    /// When an input cannot be passed as an argument.
    pub fn args(&self) -> Result<Vec<String>, CommandError> {
        let mut args = Args::new("upgrade-check");
        args.flag("--from", &self.from.to_string());
        args.flag("--to", &self.to.to_string());
        args.flag("--deployer", "argocd");
        args.flag("--format", "json");
        // A boolean takes its value with '=' only.
        args.switch("--fail-on-error=false", true);
        args.flag("--output", &self.output.to_string());
        args.done()
    }
}

/// `aicr validate`: runs the deployment checks and pushes their evidence.
///
/// No flag is known that points AICR 1.1's validators at a ServiceAccount; they use the one of the documented name.
#[derive(Clone, Copy, Debug)]
pub struct Validate<'a> {
    /// The recipe that the bundle records.
    pub recipe: &'a Reference,
    /// A snapshot from after the last step.
    pub snapshot: &'a Reference,
    /// Accelerated nodes: where checks run their workloads.
    pub nodes: &'a NodeGroup,
    /// Namespace of the checks.
    pub namespace: &'a str,
    /// Folder in the pod for the evidence.
    pub evidence: &'a str,
    /// Repository that the evidence is pushed to.
    pub push: &'a Reference,
    /// The key that signs it, when one does.
    pub signing: Option<Signing<'a>>,
    /// Whether the registry speaks plain HTTP.
    pub plain_http: bool,
    /// Where the report goes.
    pub output: &'a Reference,
}

/// How evidence is signed.
#[derive(Clone, Copy, Debug)]
pub struct Signing<'a> {
    /// `validation.signingKey`, a KMS key's URI.
    pub key: &'a str,
    /// `validation.transparencyLog`.
    pub transparency_log: bool,
}

impl Validate<'_> {
    /// The arguments for this version of AICR.
    ///
    /// # Errors
    ///
    /// When a toleration cannot be said in flags, or the version does not sign with keys.
    pub fn args(&self, version: &Version) -> Result<Vec<String>, CommandError> {
        let mut args = Args::new("validate");
        args.flag("--recipe", &self.recipe.to_string());
        args.flag("--snapshot", &self.snapshot.to_string());
        args.flag("--phase", "deployment");
        args.flag("--namespace", self.namespace);
        args.extend(placement::selector("--node-selector", self.nodes));
        args.extend(placement::tolerations("--toleration", &self.nodes.tolerations)?);
        args.flag("--emit-attestation", self.evidence);
        let Reference::Oci(repository) = self.push else {
            return Err(refuse(
                Reason::InvalidRequest,
                format!("evidence cannot be pushed to {}", self.push),
            ));
        };
        args.flag("--push", repository);
        match self.signing {
            None => args.switch("--no-sign", true),
            Some(_) if !version.signs_with_keys() => {
                let message =
                    "validation.signingKey needs AICR v1.1.0 or newer: upgrade AICR, or leave the key empty";
                return Err(refuse(Reason::InvalidRequest, message.to_owned()));
            }
            Some(signing) => {
                args.flag("--signing-key", signing.key);
                args.switch("--tlog-upload=false", !signing.transparency_log);
            }
        }
        args.switch("--plain-http", self.plain_http);
        args.flag("--output", &self.output.to_string());
        args.done()
    }
}

/// Arguments as a container's `args`: Kubernetes replaces `$(NAME)` there, and reads `$$` as `$`.
pub fn container_args(args: &[String]) -> Vec<String> {
    args.iter().map(|argument| argument.replace('$', "$$")).collect()
}

fn refuse(reason: Reason, message: String) -> CommandError {
    CommandError { reason, message }
}

/// An argument vector in the making.
struct Args(Vec<String>);

impl Args {
    fn new(command: &str) -> Self {
        Self(vec![command.to_owned()])
    }

    fn flag(&mut self, name: &str, value: &str) {
        self.0.extend([name.to_owned(), value.to_owned()]);
    }

    /// A flag unless its value is absent or empty.
    fn some(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.flag(name, value);
        }
    }

    fn switch(&mut self, name: &str, on: bool) {
        if on {
            self.0.push(name.to_owned());
        }
    }

    fn extend(&mut self, flags: impl IntoIterator<Item = String>) {
        self.0.extend(flags);
    }

    /// The vector, if a process can be started with it.
    fn done(self) -> Result<Vec<String>, CommandError> {
        for pair in self.0.windows(2) {
            if pair[1].contains('\0') {
                let message = format!("the value of {} holds a NUL character: remove it", pair[0]);
                return Err(refuse(Reason::InvalidRequest, message));
            }
        }
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests;
