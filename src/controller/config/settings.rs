//! Every setting of the process: its flag, the installation value that it carries, and its default.

use std::collections::BTreeMap;

use clap::{Arg, Command};

/// What the variables of all settings begin with.
const PREFIX: &str = "AICR_OPERATOR_";

/// One setting. It is given as `--flag` or as an environment variable; the flag wins, and an empty variable counts as
/// unset.
pub(super) struct Setting {
    /// The flag without its dashes.
    pub(super) flag: &'static str,
    /// The installation value that it carries; empty for what belongs to the process alone.
    pub(super) value: &'static str,
    /// What holds when it is not given; `None` if it must be.
    default: Option<&'static str>,
    shape: &'static str,
    help: &'static str,
}

impl Setting {
    /// The environment variable, such as `AICR_OPERATOR_ENGINE_NAMESPACE`.
    fn variable(&self) -> String {
        format!("{PREFIX}{}", self.flag.replace('-', "_").to_uppercase())
    }
}

const fn setting(
    flag: &'static str,
    value: &'static str,
    default: Option<&'static str>,
    shape: &'static str,
    help: &'static str,
) -> Setting {
    Setting { flag, value, default, shape, help }
}

/// All of them, in the order of the installation page.
///
/// Source: api-reference, "Installation values". What that page has and this table has not is the chart's alone:
/// replicas, resources and annotations of ServiceAccounts, approvers.
pub(super) const SETTINGS: [Setting; 31] = [
    setting("aicr-version", "aicr.version", None, "VERSION", "Version of AICR, >=1.0.0, <2.0.0"),
    setting("aicr-image", "aicr.image", None, "IMAGE", "Image of the AICR CLI, pinned by digest"),
    setting(
        "aicr-validator-images",
        "aicr.validatorImages",
        Some("[]"),
        "JSON",
        "List of validator images, each repository:tag@sha256:<digest>; needed with validation",
    ),
    setting(
        "aicr-jobs-node-selector",
        "aicr.jobs.nodeSelector",
        Some("{}"),
        "JSON",
        "Labels of the nodes that AICR's pods run on",
    ),
    setting(
        "aicr-jobs-tolerations",
        "aicr.jobs.tolerations",
        Some("[]"),
        "JSON",
        "List of tolerations of AICR's pods",
    ),
    setting("operator-image", "operator.image", None, "IMAGE", "Image of the operator, pinned by digest"),
    setting(
        "log-level",
        "operator.logLevel",
        Some("info"),
        "LEVEL",
        "What is logged: error, warn, info, debug or trace",
    ),
    setting("engine-type", "engine.type", Some("ArgoCD"), "TYPE", "Deployment engine: ArgoCD"),
    setting("engine-namespace", "engine.namespace", Some("argocd"), "NAME", "Namespace of Argo CD"),
    setting("engine-project", "engine.project", Some("aicr"), "NAME", "AppProject of the Applications"),
    setting(
        "registry-repository",
        "registry.repository",
        None,
        "ADDRESS",
        "Runtime registry, as oci://HOST[:PORT]/PATH",
    ),
    setting(
        "registry-plain-http",
        "registry.plainHTTP",
        Some("false"),
        "BOOL",
        "Talk to the registry without TLS; for tests only",
    ),
    setting("registry-auth-provider", "registry.auth.provider", Some("aws"), "NAME", "aws or static"),
    setting(
        "registry-auth-static-secret-ref",
        "registry.auth.staticSecretRef",
        Some(""),
        "NAME",
        "Docker config Secret of the provider static; empty is anonymous",
    ),
    setting(
        "registry-auth-repo-creds-secret",
        "registry.auth.repoCredsSecret",
        Some("aicr-registry"),
        "NAME",
        "Argo CD's repo-creds Secret",
    ),
    setting(
        "namespaces-discovery",
        "namespaces.discovery",
        Some("aicr-discovery"),
        "NAME",
        "Namespace of the snapshot agent",
    ),
    setting(
        "namespaces-jobs",
        "namespaces.jobs",
        Some("aicr-jobs"),
        "NAME",
        "Namespace of recipe, bundle and upgrade-check Jobs",
    ),
    setting(
        "namespaces-validation",
        "namespaces.validation",
        Some("aicr-validation"),
        "NAME",
        "Namespace of validation Jobs",
    ),
    setting(
        "namespaces-components",
        "namespaces.components",
        None,
        "JSON",
        "List of {name, podSecurity, create}: the namespaces that releases may use",
    ),
    setting(
        "discovery-agent-requests",
        "discovery.agentRequests",
        Some(""),
        "LIST",
        "Requests of the snapshot agent, name=quantity,...; empty keeps AICR's",
    ),
    setting(
        "validation-enabled",
        "validation.enabled",
        Some("false"),
        "BOOL",
        "Whether deployment validation is installed",
    ),
    setting(
        "validation-signing-key",
        "validation.signingKey",
        Some(""),
        "URI",
        "KMS key that signs evidence; empty pushes it unsigned",
    ),
    setting(
        "validation-transparency-log",
        "validation.transparencyLog",
        Some("true"),
        "BOOL",
        "Whether signatures go to the public transparency log",
    ),
    setting(
        "development-bypass-approvals",
        "development.bypassApprovals",
        Some("false"),
        "BOOL",
        "Development builds only: start rollouts that nobody approved",
    ),
    setting(
        "development-skip-discovery",
        "development.skipDiscovery",
        Some("false"),
        "BOOL",
        "Development builds only: trust declared criteria, take no snapshot",
    ),
    setting("namespace", "", Some("aicr-system"), "NAME", "Namespace that the operator is installed in"),
    setting("pod-name", "", Some("aicr-operator"), "NAME", "Name of this pod, in the Lease and in Events"),
    setting("log-format", "", Some("json"), "FORMAT", "json or text"),
    setting(
        "listen",
        "",
        Some(":8080"),
        "ADDRESS",
        "Where /metrics, /healthz and /readyz are served, as [HOST]:PORT",
    ),
    setting(
        "kubeconfig",
        "",
        Some(""),
        "FILE",
        "How to reach the API server; the pod's service account when left out",
    ),
    setting("context", "", Some(""), "NAME", "Context of the kubeconfig; its current one when left out"),
];

/// What was given, by flag; settings that were left out have their default.
pub struct Given(BTreeMap<&'static str, String>);

impl Given {
    /// Flags over variables over defaults. `variable` is the environment.
    pub fn read(matches: &clap::ArgMatches, variable: impl Fn(&str) -> Option<String>) -> Self {
        let given = |setting: &Setting| {
            let flag = matches.get_one::<String>(setting.flag).cloned();
            let of_environment = || variable(&setting.variable()).filter(|value| !value.is_empty());
            let value = flag.or_else(of_environment).or_else(|| setting.default.map(str::to_owned))?;
            Some((setting.flag, value))
        };
        Self(SETTINGS.iter().filter_map(given).collect())
    }

    pub(super) fn get(&self, flag: &str) -> Option<&str> {
        self.0.get(flag).map(String::as_str)
    }
}

/// The command line of the process.
pub fn command() -> Command {
    let argument = |setting: &Setting| {
        let default = match setting.default {
            Some("") => String::new(),
            Some(default) => format!(" [default: {default}]"),
            None => " [required]".to_owned(),
        };
        let help = format!("{}{default}", setting.help);
        Arg::new(setting.flag)
            .long(setting.flag)
            .value_name(setting.shape)
            .help(help)
            .allow_hyphen_values(true)
    };
    Command::new("kubectl-aicr controller")
        .bin_name("kubectl-aicr controller")
        .about("Roll AICR's GPU stack out through Argo CD: the operator's process")
        .after_help(format!(
            "Each flag is also read from an environment variable: --engine-namespace from {PREFIX}ENGINE_NAMESPACE."
        ))
        .disable_version_flag(true)
        .args(SETTINGS.iter().map(argument))
}

#[cfg(test)]
mod tests {
    use super::{Given, command};

    fn given(arguments: &[&str], variables: &[(&str, &str)]) -> Given {
        let matches = command().try_get_matches_from([&["controller"], arguments].concat()).unwrap();
        let find =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
        Given::read(&matches, find)
    }

    #[test]
    fn a_flag_wins_over_a_variable_and_a_variable_over_the_default() {
        let variable = [("AICR_OPERATOR_ENGINE_NAMESPACE", "of-variable")];
        assert_eq!(given(&[], &[]).get("engine-namespace"), Some("argocd"));
        assert_eq!(given(&[], &variable).get("engine-namespace"), Some("of-variable"));
        let flag = ["--engine-namespace", "of-flag"];
        assert_eq!(given(&flag, &variable).get("engine-namespace"), Some("of-flag"));
    }

    #[test]
    fn an_empty_variable_counts_as_unset_and_a_required_setting_has_no_default() {
        let given = given(&[], &[("AICR_OPERATOR_ENGINE_NAMESPACE", "")]);
        assert_eq!(given.get("engine-namespace"), Some("argocd"));
        assert_eq!(given.get("aicr-version"), None);
    }

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }
}
