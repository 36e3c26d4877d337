//! The command line: the flags of the five commands, as far as they are documented for AICR 1.0 and 1.1, and no others.

use std::collections::BTreeMap;

use crate::failure::{Failure, Outcome, invalid};
use crate::setup::Release;

/// How a flag takes its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// One value; the flag given twice is an error.
    One,
    /// Any number of values.
    Many,
    /// No value, or `=true` and `=false`.
    Switch,
}

use Takes::{Many, One, Switch};

type Table = &'static [(&'static str, &'static str, Takes)];

const GLOBAL: Table = &[("debug", "", Switch), ("log-json", "", Switch)];

const SNAPSHOT: Table = &[
    ("output", "o", One),
    ("format", "t", One),
    ("kubeconfig", "k", One),
    ("config", "", One),
    ("namespace", "n", One),
    ("image", "", One),
    ("job-name", "", One),
    ("service-account-name", "", One),
    ("add-roles-to-service-account", "", Switch),
    ("node-selector", "", Many),
    ("toleration", "", Many),
    ("requests", "", One),
    ("limits", "", One),
    ("privileged", "", Switch),
    ("require-gpu", "", Switch),
    ("runtime-class", "", One),
    ("image-pull-secret", "", Many),
    ("timeout", "", One),
    ("no-cleanup", "", Switch),
    ("os", "", One),
    ("max-nodes-per-entry", "", One),
    ("template", "", One),
    ("cluster-config", "", One),
    ("aks-gpu-pools", "", One),
    ("gke-gpu-pools", "", One),
    ("oke-addons", "", One),
    ("discover-network", "", Switch),
];

const RECIPE: Table = &[
    ("snapshot", "s", One),
    ("config", "", One),
    ("service", "", One),
    ("accelerator", "", One),
    ("gpu", "", One),
    ("intent", "", One),
    ("os", "", One),
    ("platform", "", One),
    ("profile", "", Many),
    ("slurm-accounting-mode", "", One),
    ("runtime-inventory", "", One),
    ("gke-tcpxo-interfaces", "", One),
    ("nodes", "", One),
    ("inherit-from", "", One),
    ("data", "", One),
    ("criteria-strict", "", Switch),
    ("kubeconfig", "k", One),
    ("output", "o", One),
    ("format", "t", One),
];

const BUNDLE: Table = &[
    ("recipe", "r", One),
    ("config", "", One),
    ("data", "", One),
    ("kubeconfig", "k", One),
    ("output", "o", One),
    ("image-refs", "", One),
    ("plain-http", "", Switch),
    ("insecure-tls", "", Switch),
    ("deployer", "d", One),
    ("repo", "", One),
    ("app-name", "", One),
    ("flux-namespace", "", One),
    ("flux-oci-source-name", "", One),
    ("serial", "", Switch),
    ("set", "", Many),
    ("set-json", "", Many),
    ("set-file", "", Many),
    ("dynamic", "", Many),
    ("system-node-selector", "", Many),
    ("system-node-toleration", "", Many),
    ("accelerated-node-selector", "", Many),
    ("accelerated-node-toleration", "", Many),
    ("nodes", "", One),
    ("workload-gate", "", One),
    ("workload-selector", "", Many),
    ("dra-eviction-node-label", "", One),
    ("storage-class", "", One),
    ("shared-storage-class", "", One),
    ("readiness-hooks", "", Switch),
    ("vendor-charts", "", Switch),
    ("attest", "", Switch),
    ("certificate-identity-regexp", "", One),
    ("identity-token", "", One),
    ("oidc-device-flow", "", Switch),
    ("fulcio-url", "", One),
    ("rekor-url", "", One),
    ("signing-config", "", One),
    ("signing-key", "", One),
    ("tlog-upload", "", Switch),
    ("yes", "", Switch),
    ("assume-yes", "", Switch),
];

const UPGRADE_CHECK: Table = &[
    ("from", "f", One),
    ("to", "", One),
    ("deployer", "d", One),
    ("scan-cluster", "", Switch),
    ("fail-on-error", "", Switch),
    ("output", "o", One),
    ("format", "t", One),
    ("kubeconfig", "k", One),
];

const VALIDATE: Table = &[
    ("recipe", "r", One),
    ("snapshot", "s", One),
    ("config", "", One),
    ("data", "", One),
    ("phase", "", Many),
    ("skip-check", "", Many),
    ("fail-fast", "", Switch),
    ("fail-on-error", "", Switch),
    ("no-cluster", "", Switch),
    ("feature", "f", Many),
    ("require-gpu", "", Switch),
    ("namespace", "n", One),
    ("image", "", One),
    ("image-pull-secret", "", Many),
    ("job-name", "", One),
    ("service-account-name", "", One),
    ("node-selector", "", Many),
    ("toleration", "", Many),
    ("timeout", "", One),
    ("no-cleanup", "", Switch),
    ("kubeconfig", "k", One),
    ("evidence-dir", "", One),
    ("cncf-submission", "", Switch),
    ("emit-attestation", "", One),
    ("full", "", Switch),
    ("bom", "", One),
    ("push", "", One),
    ("no-sign", "", Switch),
    ("identity-token", "", One),
    ("oidc-device-flow", "", Switch),
    ("yes", "", Switch),
    ("allow-mutable-validator-tags", "", Switch),
    ("plain-http", "", Switch),
    ("insecure-tls", "", Switch),
    ("oke-addons", "", One),
    ("aks-gpu-pools", "", One),
    ("gke-gpu-pools", "", One),
    ("output", "o", One),
];

/// From 1.1 on. The names are those that `bundle` documents.
const VALIDATE_1_1: Table = &[("signing-key", "", One), ("tlog-upload", "", Switch)];

/// The commands that are played.
pub const COMMANDS: [&str; 5] = ["snapshot", "recipe", "bundle", "upgrade-check", "validate"];

fn tables(command: &str, release: Release) -> Vec<Table> {
    let own = match command {
        "snapshot" => SNAPSHOT,
        "recipe" => RECIPE,
        "bundle" => BUNDLE,
        "upgrade-check" => UPGRADE_CHECK,
        _ => VALIDATE,
    };
    let newer: Table = if command == "validate" && release == Release::V1_1_2 { VALIDATE_1_1 } else { &[] };
    vec![GLOBAL, own, newer]
}

/// A command's flags.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    values: BTreeMap<&'static str, Vec<String>>,
}

impl Flags {
    /// Reads what follows the command's name.
    ///
    /// # Errors
    ///
    /// Exit code 1 for a flag that the command does not have or one without its value, 2 for a flag given twice and for
    /// anything that is no flag.
    pub fn read(command: &str, release: Release, arguments: &[String]) -> Outcome<Self> {
        let tables = tables(command, release);
        let mut flags = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let Some(named) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')) else {
                return Err(invalid(format!("unexpected argument {argument:?}")));
            };
            let (name, attached) = match named.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (named, None),
            };
            let known = tables.iter().flat_map(|table| table.iter());
            let matches =
                |entry: &&(&str, &str, Takes)| entry.0 == name || (!entry.1.is_empty() && entry.1 == name);
            let Some((flag, _, takes)) = known.copied().find(|entry| matches(&entry)) else {
                return Err(Failure::usage(format!("flag provided but not defined: -{name}")));
            };
            let value = match (takes, attached) {
                (Switch, None) => "true".to_owned(),
                (Switch, Some(value)) if value == "true" || value == "false" => value,
                (Switch, Some(value)) => {
                    return Err(Failure::usage(format!(
                        "invalid value {value:?} for flag -{name}: parse error"
                    )));
                }
                (_, Some(value)) => value,
                (_, None) => rest
                    .next()
                    .cloned()
                    .ok_or_else(|| Failure::usage(format!("flag needs an argument: -{name}")))?,
            };
            let values = flags.values.entry(flag).or_default();
            if takes != Many && !values.is_empty() {
                return Err(invalid(format!("flag --{flag} was given more than once")));
            }
            values.push(value);
        }
        Ok(flags)
    }

    /// The value of a flag; empty counts as absent.
    pub fn one(&self, name: &str) -> Option<&str> {
        self.many(name).first().map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of a flag that the command cannot do without.
    ///
    /// # Errors
    ///
    /// When it is absent.
    pub fn required(&self, name: &str) -> Outcome<&str> {
        self.one(name).ok_or_else(|| invalid(format!("--{name} is required")))
    }

    /// The values of a repeatable flag.
    pub fn many(&self, name: &str) -> &[String] {
        self.values.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// A switch.
    pub fn on(&self, name: &str, default: bool) -> bool {
        self.one(name).map_or(default, |value| value == "true")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: &str, release: Release, line: &str) -> Outcome<Flags> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Flags::read(command, release, &arguments)
    }

    #[test]
    fn flags_take_values_in_both_forms_and_repeat_only_where_documented() {
        let flags = read(
            "bundle",
            Release::V1_0_0,
            "-r a --set x:y=1 --set=x:z=2 --readiness-hooks --plain-http=false",
        );
        let flags = flags.unwrap();
        assert_eq!(
            (flags.one("recipe"), flags.many("set")),
            (Some("a"), &["x:y=1".to_owned(), "x:z=2".to_owned()][..])
        );
        assert!(flags.on("readiness-hooks", false) && !flags.on("plain-http", true));
        let error = read("bundle", Release::V1_0_0, "-r a --recipe b").unwrap_err();
        assert_eq!(error.exit(), 2);
    }

    #[test]
    fn what_a_version_does_not_have_ends_with_1() {
        for (command, release, line) in [
            ("recipe", Release::V1_0_0, "--frobnicate"),
            ("validate", Release::V1_0_0, "--signing-key awskms:///x"),
            ("snapshot", Release::V1_1_2, "--namespace"),
            ("recipe", Release::V1_1_2, "--criteria-strict=maybe"),
        ] {
            assert_eq!(read(command, release, line).unwrap_err().exit(), 1, "{line}");
        }
        read("validate", Release::V1_1_2, "--signing-key awskms:///x --tlog-upload=false").unwrap();
    }
}
