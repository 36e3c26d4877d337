//! From the stand-in's recipe and bundle to a plan, with the product's own code; and the real Helm as the judge of whether
//! a plan's values are what the bundle's two files say.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use aicr_standin::catalogue::{Source, every_component};
use aicr_standin::charts;
use aicr_standin::setup::Setup;
use kubectl_aicr::aicr::command::{self, Reference};
use kubectl_aicr::aicr::version::Version;
use kubectl_aicr::api::ClusterRuntimeSpec;
use kubectl_aicr::plan::Digest;
use kubectl_aicr::plan::document::{PlanSource, Provenance, Upstream};
use kubectl_aicr::plan::normal::Defaults;
use kubectl_aicr::resolver::bundle::{self, Bundle, FolderChart, Tree};
use kubectl_aicr::resolver::helm_yaml;
use kubectl_aicr::resolver::reason::{Reason, Refused};
use kubectl_aicr::resolver::releases::{ChartFacts, Request, Resolved, resolve};
use serde_json::{Value, json};
use tempfile::TempDir;

/// One rendered bundle and all that is known of its charts.
struct Rendered {
    folder: TempDir,
    version: &'static str,
    spec: ClusterRuntimeSpec,
    recipe: String,
    bundle: Bundle,
    base: Bundle,
    charts: BTreeMap<String, ChartFacts>,
}

fn spec(overrides: &Value) -> ClusterRuntimeSpec {
    let tolerations = json!([{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]);
    serde_json::from_value(json!({
        "intent": "training", "platform": "kubeflow",
        "criteria": {"service": "eks", "accelerator": "h100", "os": "ubuntu"},
        "placement": {
            "system": {"nodeSelector": {"pool": "system"}},
            "accelerated": {"nodeSelector": {"pool": "gpu"}, "tolerations": tolerations},
        },
        "overrides": overrides,
    }))
    .unwrap()
}

fn tree(folder: &Path) -> Tree {
    fn walk(folder: &Path, below: &str, found: &mut Tree) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &format!("{name}/"), found);
            } else {
                found.insert(name, std::fs::read(entry.path()).unwrap().into());
            }
        }
    }
    let mut found = Tree::new();
    walk(folder, "", &mut found);
    found
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, member)| !member.is_null());
            Value::Object(members.map(|(key, member)| (key.clone(), without_nulls(member))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        scalar => scalar.clone(),
    }
}

impl Rendered {
    fn new(version: &'static str, catalogue: &str, overrides: &Value) -> Self {
        let folder = TempDir::new().unwrap();
        let environment = [("AICR_STANDIN_VERSION", version), ("AICR_STANDIN_CATALOGUE", catalogue)];
        let run = |arguments: &[String]| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_aicr"));
            program.current_dir(folder.path()).env_clear().envs(environment).args(arguments);
            let output = program.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let spec = spec(overrides);
        let output = Reference::Path(folder.path().join("recipe.json").to_str().unwrap().to_owned());
        run(&command::Recipe { spec: &spec, snapshot: None, output: &output }.args().unwrap());
        let render = |name: &str, flags: Vec<String>| {
            let recipe = ["bundle", "--recipe", "recipe.json"].map(str::to_owned).to_vec();
            run(&[recipe, flags, vec!["--output".to_owned(), name.to_owned()]].concat());
            bundle::read(&tree(&folder.path().join(name))).unwrap()
        };
        let base = render("base", command::base_render_flags(&spec).unwrap());
        let bundle = render("bundle", command::render_flags(&spec).unwrap());
        let setup = Setup::read(Path::new("aicr"), |name| {
            environment.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
        })
        .unwrap();
        let recipe = std::fs::read_to_string(folder.path().join("recipe.json")).unwrap();
        let mut rendered = Self { folder, version, spec, recipe, bundle, base, charts: BTreeMap::new() };
        rendered.unpack_charts(&setup);
        rendered
    }

    /// Lays every upstream chart out as a folder named by its release, and tells what is known of all charts.
    fn unpack_charts(&mut self, setup: &Setup) {
        let components = every_component(setup);
        for found in &self.bundle.folders {
            let name = &found.release.name;
            let chart = self.chart(name);
            if matches!(found.chart, FolderChart::Upstream(_)) {
                let component = components.iter().find(|component| &component.name == name).unwrap();
                assert_ne!(component.source, Source::Manifests);
                for (path, text) in charts::chart(component).unwrap().files {
                    let file = chart.join(path);
                    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                    std::fs::write(file, text).unwrap();
                }
            }
            let defaults = std::fs::read_to_string(chart.join("values.yaml")).unwrap();
            let digest = Digest::of_bytes(name.as_bytes());
            let upstream = Upstream { repository: "https://charts.test".to_owned(), archive_digest: digest };
            let facts = ChartFacts {
                repository: format!("oci://registry.test/{name}"),
                digest,
                upstream: matches!(found.chart, FolderChart::Upstream(_)).then_some(upstream),
                owns_crds: chart.join("crds").exists(),
                defaults: Defaults::of(helm_yaml::read("values.yaml", &defaults).unwrap()),
            };
            self.charts.insert(name.clone(), facts);
        }
    }

    /// The folder of a release's chart: a wrapper's is the bundle's own.
    fn chart(&self, release: &str) -> std::path::PathBuf {
        let found = self.bundle.folders.iter().find(|found| found.release.name == release).unwrap();
        match found.chart {
            FolderChart::Upstream(_) => self.folder.path().join("charts").join(release),
            FolderChart::Local { .. } => self.folder.path().join("bundle").join(&found.release.path),
        }
    }

    fn resolve(&self) -> Result<Resolved, Refused> {
        let namespaces: BTreeSet<String> =
            self.bundle.folders.iter().map(|found| found.release.namespace.clone()).collect();
        resolve(&Request {
            runtime_uid: "5f3c1f0e-7c4b-4c64-9a53-0d9be0a2c001",
            input_digest: Digest::of_bytes(b"input"),
            provenance: Provenance {
                source: PlanSource::Resolved,
                operator_version: "1.3.0".to_owned(),
                aicr_version: Some(self.version.to_owned()),
                aicr_image: None,
                snapshot_digest: None,
                bundle: None,
                runtime_generation: Some(1),
                render_flags: Some(command::render_flags(&self.spec).unwrap()),
            },
            version: &Version::parse(self.version).unwrap(),
            recipe_text: &self.recipe,
            bundle: &self.bundle,
            base: Some(&self.base),
            overrides: &self.spec.overrides,
            charts: &self.charts,
            namespaces: &namespaces,
            project: "aicr",
            notes: &[],
        })
    }

    /// What Helm renders, line by line; values without nulls in maps, because a chart sees no difference between a null
    /// member and none.
    fn template(&self, release: &str, arguments: &[&str]) -> Vec<String> {
        let mut helm = Command::new(test_support::tools::path("helm").unwrap());
        let output =
            helm.args(["template", release]).arg(self.chart(release)).args(arguments).output().unwrap();
        assert!(output.status.success(), "{release}: {}", String::from_utf8_lossy(&output.stderr));
        let comparable = |line: &str| match line.strip_prefix("  values.json: ") {
            None => line.to_owned(),
            Some(quoted) => {
                let text: String = serde_json::from_str(quoted).unwrap();
                without_nulls(&serde_json::from_str(&text).unwrap()).to_string()
            }
        };
        String::from_utf8(output.stdout).unwrap().lines().map(comparable).collect()
    }

    /// Asserts that Helm renders each release from the plan's values as it does from the bundle's two files.
    fn assert_same_rendering(&self, resolved: &Resolved) -> usize {
        let mut parameters = 0;
        for found in &self.bundle.folders {
            let name = &found.release.name;
            let path = |file: &str| {
                let file = self.folder.path().join("bundle").join(&found.release.path).join(file);
                file.to_str().unwrap().to_owned()
            };
            let (values, over) = (path("values.yaml"), path("cluster-values.yaml"));
            let from_files = self.template(name, &["--values", &values, "--values", &over]);
            let values = &resolved.values[name];
            let file = self.folder.path().join("object.json");
            std::fs::write(&file, Value::Object(values.object().clone()).to_string()).unwrap();
            let set: Vec<String> =
                values.parameters().iter().map(|found| format!("{}={}", found.name, found.value)).collect();
            let mut arguments = vec!["--values", file.to_str().unwrap()];
            arguments.extend(set.iter().flat_map(|parameter| ["--set", parameter.as_str()]));
            assert_eq!(self.template(name, &arguments), from_files, "{name} {set:?}");
            parameters += set.len();
        }
        parameters
    }
}

#[test]
fn the_documented_recipe_becomes_a_plan_whose_values_helm_renders_as_it_renders_the_bundles_files() {
    for version in ["v1.0.0", "v1.1.2"] {
        let rendered = Rendered::new(version, "standard", &json!([]));
        let resolved = rendered.resolve().unwrap();
        let plan = &resolved.plan;
        assert!(plan.releases.len() > 15, "{}", plan.releases.len());
        let gpu = plan.release("gpu-operator").unwrap();
        let waits_for = ["cert-manager", "kube-prometheus-stack", "nfd", "nodewright-customizations"];
        assert_eq!(gpu.depends_on, waits_for);
        assert_eq!(plan.release("nodewright-operator").unwrap().depends_on, ["nodewright-operator-pre"]);
        // The recipe carries a null that a chart has no default for and one that deletes a default.
        assert_eq!(rendered.assert_same_rendering(&resolved), 1);
        let again = Rendered::new(version, "standard", &json!([])).resolve().unwrap();
        assert_eq!(again.plan.to_json().unwrap(), plan.to_json().unwrap());
    }
}

#[test]
fn overrides_arrive_in_the_plan_and_an_unknown_path_is_refused() {
    let entry = |path: &str, value: Value| json!({"component": "gpu-operator", "path": path, "value": value});
    let known = json!([entry("dcgmExporter.enabled", json!(false)), entry("image.tag", json!("012"))]);
    let rendered = Rendered::new("v1.0.0", "standard", &known);
    let resolved = rendered.resolve().unwrap();
    let values = resolved.values["gpu-operator"].object();
    assert_eq!((&values["dcgmExporter"]["enabled"], &values["image"]["tag"]), (&json!(false), &json!("012")));
    rendered.assert_same_rendering(&resolved);
    let refused = Rendered::new("v1.0.0", "standard", &json!([entry("dcgmExporter.enabeld", json!(false))]));
    assert_eq!(refused.resolve().unwrap_err().reason, Reason::OverridePathUnknown);
    let left_out = json!([{"component": "nvsentinel", "path": "enabled", "value": false}]);
    let plan = Rendered::new("v1.0.0", "standard", &left_out).resolve().unwrap().plan;
    assert!(plan.release("nvsentinel").is_none());
}

#[test]
fn the_large_catalogue_fills_a_plan() {
    let plan = Rendered::new("v1.0.0", "large", &json!([])).resolve().unwrap().plan;
    assert_eq!(plan.releases.len(), 128);
    assert_eq!(plan.ordered().len(), 128);
}
