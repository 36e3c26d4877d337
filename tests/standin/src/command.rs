//! One run: a command, its flags, and what a test wants to go wrong.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::bundle::{self, File, Tree, yaml};
use crate::cluster::{Agent, Cluster, Stored};
use crate::failure::{Code, Failure, Outcome, internal, invalid};
use crate::flags::{COMMANDS, Flags};
use crate::reference::{config_map, read, write};
use crate::registry::{Artifact, Place};
use crate::setup::{Form, Injected, Setup};
use crate::{recipe, snapshot, upgrade, validate};

/// What the process knows beside its arguments.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Whether it is the agent (`AICR_AGENT_MODE`).
    pub agent: bool,
    /// The agent's node.
    pub node: String,
    /// Suffix of the names that this run gives.
    pub run_id: String,
}

/// One run.
pub struct Run<'a> {
    setup: &'a Setup,
    flags: Flags,
    injected: Option<Injected>,
    surroundings: &'a Surroundings,
}

/// Runs the command that `arguments` begin with; the text is for standard output.
///
/// # Errors
///
/// As AICR, or as a test wants it.
pub fn run(setup: &Setup, arguments: &[String], surroundings: &Surroundings) -> Outcome<String> {
    let Some((command, rest)) = arguments.split_first() else { return Ok(usage()) };
    match command.as_str() {
        "--version" | "-v" => {
            let version = setup.stated().trim_start_matches('v');
            return Ok(format!("aicr version {version} (commit: standin, date: 2026-10-01T00:00:00Z)\n"));
        }
        "--help" | "-h" => return Ok(usage()),
        name if !COMMANDS.contains(&name) => {
            return Err(Failure::usage(format!("No help topic for '{name}'")));
        }
        _ => {}
    }
    let flags = Flags::read(command, setup.version, rest)?;
    let run = Run { setup, flags, injected: setup.injected(command)?, surroundings };
    match &run.injected {
        Some(Injected::Exit(code, message)) => return Err(Failure::exiting(*code, message)),
        Some(Injected::Hang) => loop {
            std::thread::sleep(Duration::from_mins(1));
        },
        _ => {}
    }
    let ended = match command.as_str() {
        "snapshot" => run.snapshot(),
        "recipe" => run.recipe(),
        "bundle" => run.bundle(),
        "upgrade-check" => run.upgrade_check(),
        _ => run.validate(),
    };
    ended?;
    match &run.injected {
        Some(Injected::Late(code, message)) => Err(Failure::exiting(*code, message)),
        _ => Ok(String::new()),
    }
}

fn usage() -> String {
    format!("aicr: a stand-in for tests\n\nCommands: {}\n", COMMANDS.join(", "))
}

fn log(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

impl Run<'_> {
    /// Writes an artifact, or what a test wants in its place.
    fn emit(&self, kind: &str, format: &str, text: &str) -> Outcome<()> {
        let too_large;
        let text = match self.injected {
            Some(Injected::Silent) => return Ok(()),
            Some(Injected::Garbage) => "this is no artifact\n",
            Some(Injected::TooLarge) => {
                too_large = format!("{text}{}", "#".repeat(1 << 20));
                &too_large
            }
            _ => text,
        };
        log(&format!("[cli] writing {kind}: format={format}"));
        write(&self.flags, &Stored { kind, format, version: self.setup.stated(), text })
    }

    /// A document in the format that the flags ask for.
    fn text(&self, document: &Value) -> Outcome<(String, &'static str)> {
        match self.flags.one("format").unwrap_or("yaml") {
            "json" => Ok((serde_json::to_string_pretty(document).map_err(internal)? + "\n", "json")),
            "yaml" => Ok((yaml(document)?, "yaml")),
            other => Err(invalid(format!(
                "unknown output format: {other:?}, valid formats are: yaml, json, table"
            ))),
        }
    }

    fn snapshot(&self) -> Outcome<()> {
        let cluster = Cluster::connect(&self.flags)?;
        let document = if self.surroundings.agent {
            let (version, nodes) = cluster.observe()?;
            snapshot::take(self.setup, &version, &nodes, &self.surroundings.node, &crate::now())
        } else {
            let namespace = self.flags.one("namespace").unwrap_or("default");
            let output = self.flags.one("output").filter(|output| output.starts_with("cm://"));
            if let Some(output) = output
                && config_map(output)?.0 != namespace
            {
                return Err(invalid(format!("--output {output} must lie in --namespace {namespace}")));
            }
            cluster.label_namespace(self.setup.version, namespace)?;
            let text = cluster.run_agent(&self.agent(namespace)?)?;
            serde_yaml::from_str(&text).map_err(internal)?
        };
        let (text, format) = self.text(&document)?;
        self.emit("Snapshot", format, &text)
    }

    fn agent<'b>(&'b self, namespace: &'b str) -> Outcome<Agent<'b>> {
        let pairs = |words: &[String]| {
            let split = |word: &String| {
                let (key, value) =
                    word.split_once('=').ok_or_else(|| invalid(format!("invalid pair {word:?}")))?;
                Ok((key.to_owned(), value.to_owned()))
            };
            words.iter().map(split).collect::<Outcome<BTreeMap<_, _>>>()
        };
        let words: Vec<String> = self
            .flags
            .one("requests")
            .into_iter()
            .flat_map(|text| text.split(','))
            .map(str::to_owned)
            .collect();
        let selector = match self.flags.many("node-selector") {
            [] => [("nvidia.com/gpu.present".to_owned(), "true".to_owned())].into(),
            given => pairs(given)?,
        };
        let tolerations = match self.flags.many("toleration") {
            [] => vec![crate::values::toleration("*")?],
            given => given.iter().map(|word| crate::values::toleration(word)).collect::<Outcome<_>>()?,
        };
        Ok(Agent {
            run_id: &self.surroundings.run_id,
            namespace,
            image: self.flags.one("image").unwrap_or("ghcr.io/nvidia/aicr:latest"),
            service_account: self.flags.one("service-account-name").unwrap_or("aicr"),
            node_selector: selector,
            tolerations,
            requests: pairs(&words)?,
            timeout: Duration::from_mins(5),
            job_name: self.flags.one("job-name").unwrap_or("aicr"),
        })
    }

    fn recipe(&self) -> Outcome<()> {
        let snapshot = self
            .flags
            .one("snapshot")
            .map(|reference| read(&self.flags, "snapshot", reference))
            .transpose()?;
        let recipe = recipe::run(self.setup, &self.flags, snapshot.as_ref())?;
        let (text, format) = self.text(&recipe)?;
        self.emit("RecipeResult", format, &text)
    }

    fn bundle(&self) -> Outcome<()> {
        let recipe = read(&self.flags, "recipe", self.flags.required("recipe")?)?;
        let (mut tree, notes) = bundle::run(self.setup, &self.flags, &recipe)?;
        for note in &notes {
            log(note);
        }
        match self.injected {
            Some(Injected::Silent) => return Ok(()),
            Some(Injected::Garbage) => {
                tree.insert(
                    "bundle-info.yaml".to_owned(),
                    File { text: "this is no artifact\n".to_owned(), mode: 0o644 },
                );
            }
            Some(Injected::TooLarge) => {
                tree.insert("README.md".to_owned(), File { text: "#".repeat(64 << 20), mode: 0o644 });
            }
            _ => {}
        }
        let output = self.flags.one("output").unwrap_or(".");
        let Some(reference) = output.strip_prefix("oci://") else {
            return bundle::write(&tree, Path::new(output));
        };
        if self.setup.store {
            let text = "{\"schemaVersion\":2,\"manifests\":[]}\n".to_owned();
            tree.insert("oci-layout/index.json".to_owned(), File { text, mode: 0o644 });
        }
        let digest = self.push("AICR Bundle", reference, &tree, self.setup.form)?;
        match self.flags.one("image-refs") {
            None => Ok(()),
            Some(path) => {
                let mut options = std::fs::OpenOptions::new();
                let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
                file.and_then(|mut file| writeln!(file, "{digest}"))
                    .map_err(|error| internal(format!("failed to write {path}: {error}")))
            }
        }
    }

    fn push(&self, title: &str, reference: &str, tree: &Tree, form: Form) -> Outcome<String> {
        let version = self.setup.stated();
        let place = Place::parse(reference, version)?;
        let artifact = Artifact::pack(title, version, tree, form)?;
        let digest = artifact.push(&place, self.flags.on("plain-http", false))?;
        log(&format!("[cli] pushed {title}: reference={reference} digest={digest}"));
        Ok(digest)
    }

    fn upgrade_check(&self) -> Outcome<()> {
        let from = self.flags.required("from")?;
        if from == "cluster" || self.flags.on("scan-cluster", false) {
            return Err(invalid("the stand-in compares recipes, not clusters"));
        }
        let from = read(&self.flags, "recipe", from)?;
        let to = match self.flags.one("to") {
            Some(to) => read(&self.flags, "recipe", to)?,
            None => recipe::resolve(self.setup, &recipe::criteria(&from), None, None)?,
        };
        let (report, fails) = upgrade::run(self.setup, &self.flags, &from, &to)?;
        let (text, format) = match self.flags.one("format") {
            Some("json") => (upgrade::text(&report)?, "json"),
            _ => self.text(&report)?,
        };
        self.emit("UpgradeReport", format, &text)?;
        fails.map_or(Ok(()), Err)
    }

    fn validate(&self) -> Outcome<()> {
        let recipe = read(&self.flags, "recipe", self.flags.required("recipe")?)?;
        let snapshot = match self.flags.one("snapshot") {
            Some(reference) => read(&self.flags, "snapshot", reference)?,
            None => return Err(invalid("the stand-in takes no snapshot of its own here: pass --snapshot")),
        };
        let namespace = self.flags.one("namespace").unwrap_or("aicr-validation");
        let checks = || validate::run(self.setup, &self.flags, &recipe, &snapshot);
        let (report, fails) = if self.flags.on("no-cluster", false) {
            checks()?
        } else {
            let cluster = Cluster::connect(&self.flags)?;
            cluster.label_namespace(self.setup.version, namespace)?;
            cluster.as_validator(self.setup.version, namespace, &self.surroundings.run_id, checks)?
        };
        self.emit("ValidationReport", "json", &format!("{report:#}\n"))?;
        // Evidence comes after the report, and also when checks failed.
        let evidence = validate::evidence(self.setup, &recipe, &snapshot, &report)?;
        if let Some(folder) = self.flags.one("emit-attestation") {
            bundle::write(&evidence, Path::new(folder))?;
        }
        if let Some(repository) = self.flags.one("push") {
            if !self.flags.on("no-sign", false) && self.flags.one("signing-key").is_none() {
                return Err(Failure::new(
                    Code::ServiceUnavailable,
                    "failed to sign evidence: no OIDC token source is reachable",
                ));
            }
            let slug = recipe["metadata"]["appliedOverlays"]
                .as_array()
                .and_then(|overlays| overlays.last()?.as_str());
            let fingerprint = &hex::encode(Sha256::digest(snapshot.to_string()))[..8];
            let reference = format!("{repository}:{}-{fingerprint}", slug.unwrap_or("recipe"));
            self.push("AICR Recipe Evidence", &reference, &evidence, Form::Tree)?;
        }
        fails.map_or(Ok(()), Err)
    }
}
