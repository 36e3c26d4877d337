//! The stand-in as a process, called with the product's own command lines and read by its own readers: what it writes is
//! what the product takes for documented.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use kubectl_aicr::aicr::bundle_info::{Part, read_bundle_info};
use kubectl_aicr::aicr::command::{self, Reference};
use kubectl_aicr::aicr::ctrf::read_validation_report;
use kubectl_aicr::aicr::recipe::{Recipe, read_recipe};
use kubectl_aicr::aicr::run::{Ending, MAX_MESSAGE, RetryClass, Stage, notes};
use kubectl_aicr::aicr::snapshot::{Accelerator, read_snapshot};
use kubectl_aicr::aicr::upstream_env::{UpstreamSource, read_upstream_env};
use kubectl_aicr::aicr::version::Version;
use kubectl_aicr::aicr::{Change, UpgradeReport, Verdict, read_report};
use kubectl_aicr::api::ClusterRuntimeSpec;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

const OLD: &str = "v1.0.0";
const NEW: &str = "v1.1.2";

/// A folder of a test, in which the program runs.
struct Place {
    folder: TempDir,
    environment: Vec<(&'static str, String)>,
}

impl Place {
    fn new(version: &str) -> Self {
        let folder = TempDir::new().unwrap();
        Self { folder, environment: vec![("AICR_STANDIN_VERSION", version.to_owned())] }
    }

    fn with(mut self, variable: &'static str, value: &str) -> Self {
        self.environment.push((variable, value.to_owned()));
        self
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn program(&self) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_aicr"));
        program.current_dir(self.folder.path()).env_clear().envs(self.environment.iter().cloned());
        program
    }

    fn run<S: AsRef<str>>(&self, arguments: &[S]) -> Output {
        self.program().args(arguments.iter().map(AsRef::as_ref)).output().unwrap()
    }

    fn line(&self, line: &str) -> Output {
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn succeeded(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
}

#[track_caller]
fn exited(output: &Output, code: i32, end: &str) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.trim_end().ends_with(&format!("{end} exitCode={code}")), "{text}");
}

fn path(path: String) -> Reference {
    Reference::Path(path)
}

fn spec(platform: &str, overrides: &Value) -> ClusterRuntimeSpec {
    serde_json::from_value(json!({
        "intent": "training", "platform": platform,
        "criteria": {"service": "eks", "accelerator": "h100", "os": "ubuntu"},
        "placement": {
            "system": {"nodeSelector": {"pool": "system"}},
            "accelerated": {"nodeSelector": {"pool": "gpu"}, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]},
        },
        "overrides": overrides,
    }))
    .unwrap()
}

fn resolve(place: &Place, spec: &ClusterRuntimeSpec, name: &str) -> Recipe {
    let output = path(place.path(name));
    succeeded(&place.run(&command::Recipe { spec, snapshot: None, output: &output }.args().unwrap()));
    read_recipe("recipe", &place.read(name)).unwrap()
}

/// Renders into a folder and returns standard error.
fn render(place: &Place, spec: &ClusterRuntimeSpec, recipe: &str, folder: &str) -> String {
    let mut arguments = vec!["bundle".to_owned(), "--recipe".to_owned(), recipe.to_owned()];
    arguments.extend(command::render_flags(spec).unwrap());
    arguments.extend(["--output".to_owned(), folder.to_owned()]);
    let output = place.run(&arguments);
    succeeded(&output);
    stderr(&output)
}

/// Every file below a folder, with its bytes.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(folder: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &format!("{name}/"), found);
            } else {
                found.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, "", &mut found);
    found
}

#[test]
fn the_documented_recipe_gives_the_documented_releases() {
    let place = Place::new(OLD);
    let recipe = resolve(&place, &spec("kubeflow", &json!([])), "recipe.json");
    assert_eq!(recipe.name, "h100-eks-ubuntu-training-kubeflow");
    Version::parse(OLD).unwrap().made("recipe", &recipe.version).unwrap();
    let gpu = recipe.component("gpu-operator").unwrap();
    let needs = ["cert-manager", "kube-prometheus-stack", "nfd", "nodewright-customizations"];
    assert_eq!(gpu.dependencies, needs.map(String::from).into());

    let said = render(&place, &spec("kubeflow", &json!([])), "recipe.json", "bundle");
    assert!(notes(&said).iter().any(|note| note.contains("dra-node-labeler")), "{said}");
    let info = read_bundle_info(&place.read("bundle/bundle-info.yaml")).unwrap();
    let names: Vec<&str> = info.releases.iter().map(|release| release.name.as_str()).collect();
    let expected = "aws-ebs-csi-driver aws-efa cert-manager k8s-aibom nfd nodewright-operator-pre nodewright-operator \
                    nodewright-customizations prometheus-operator-crds kube-prometheus-stack gpu-operator gpu-operator-readiness \
                    k8s-ephemeral-storage-metrics kai-scheduler kubeflow-trainer kubeflow-trainer-post nvidia-dra-driver-gpu \
                    nvsentinel prometheus-adapter";
    assert_eq!(names.join(" "), expected);
    let parts: BTreeSet<Part> = info.releases.iter().map(|release| release.part).collect();
    assert_eq!(parts.len(), 4);
    let effective = read_recipe("recipe.yaml", &place.read("bundle/recipe.yaml")).unwrap();
    assert_eq!(effective, recipe);
}

#[test]
fn a_bundle_has_the_documented_files_modes_and_checksums_and_the_same_bytes_every_time() {
    let place = Place::new(OLD);
    let spec = spec("kubeflow", &json!([]));
    resolve(&place, &spec, "recipe.json");
    render(&place, &spec, "recipe.json", "one");
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    std::fs::copy(place.path("recipe.json"), place.path("elsewhere/r")).unwrap();
    render(&place, &spec, "elsewhere/r", "two");
    let files = tree(Path::new(&place.path("one")));
    assert_eq!(files, tree(Path::new(&place.path("two"))));

    // Sorted, and every file but the list itself.
    let listed = files.iter().filter(|(path, _)| *path != "checksums.txt");
    let sums: Vec<String> =
        listed.map(|(path, bytes)| format!("{}  {path}\n", hex::encode(Sha256::digest(bytes)))).collect();
    assert_eq!(place.read("one/checksums.txt"), sums.concat());

    for (path, bytes) in &files {
        let mode =
            std::fs::metadata(place.path(&format!("one/{path}"))).unwrap().permissions().mode() & 0o777;
        let name = path.rsplit('/').next().unwrap();
        let expected = match name {
            "upstream.env" => 0o600,
            "install.sh" | "deploy.sh" | "apply-crds.sh" => 0o755,
            _ => 0o644,
        };
        assert_eq!(mode, expected, "{path}");
        if name == "upstream.env" {
            let chart = read_upstream_env(path, std::str::from_utf8(bytes).unwrap()).unwrap();
            let oci = [
                "nvsentinel",
                "nodewright-operator",
                "kai-scheduler",
                "k8s-aibom",
                "kubeflow-trainer",
                "nvidia-dra-driver-gpu",
            ];
            let named = oci.iter().any(|component| path.ends_with(&format!("-{component}/upstream.env")));
            assert_eq!(matches!(chart.source, UpstreamSource::Oci { .. }), named, "{path}");
            assert!(!files.contains_key(&path.replace("upstream.env", "Chart.yaml")), "{path}");
        }
    }
    let at = files.keys().find(|path| path.ends_with("-nvidia-dra-driver-gpu/values.yaml")).unwrap();
    let values: Value = serde_yaml::from_slice(&files[at]).unwrap();
    assert_eq!(values["controller"]["affinity"], json!({"nodeAffinity": null}));
}

#[test]
fn overrides_arrive_with_their_types_and_a_component_can_be_left_out() {
    let place = Place::new(OLD);
    let overrides = json!([
        {"component": "gpu-operator", "path": "driver.version", "value": "570"},
        {"component": "gpu-operator", "path": "dcgmExporter.enabled", "value": false},
        {"component": "gpu-operator", "path": "extra", "value": {"list": [1, "1"], "text": "true"}},
        {"component": "kai-scheduler", "path": "enabled", "value": false},
    ]);
    let spec = spec("kubeflow", &overrides);
    resolve(&place, &spec, "recipe.json");
    render(&place, &spec, "recipe.json", "bundle");
    let info = read_bundle_info(&place.read("bundle/bundle-info.yaml")).unwrap();
    assert!(!info.releases.iter().any(|release| release.component == "kai-scheduler"));
    let effective = read_recipe("recipe.yaml", &place.read("bundle/recipe.yaml")).unwrap();
    assert!(effective.component("kai-scheduler").is_none());
    let gpu = info.releases.iter().find(|release| release.name == "gpu-operator").unwrap();
    let values: Value =
        serde_yaml::from_str(&place.read(&format!("bundle/{}/values.yaml", gpu.path))).unwrap();
    assert_eq!(values["driver"], json!({"enabled": true, "version": "570"}));
    assert_eq!(values["dcgmExporter"]["enabled"], json!(false));
    assert_eq!(values["extra"], json!({"list": [1, "1"], "text": "true"}));
    assert_eq!(values["operator"]["nodeSelector"], json!({"pool": "system"}));
}

fn check(platform: &str, flags: &str) -> (Output, UpgradeReport) {
    let (old, new) = (Place::new(OLD), Place::new(NEW));
    resolve(&old, &spec(platform, &json!([])), "recipe.json");
    resolve(&new, &spec(platform, &json!([])), "to.json");
    std::fs::copy(old.path("recipe.json"), new.path("from.json")).unwrap();
    let [from, to, output] = ["from.json", "to.json", "report.json"].map(|name| path(new.path(name)));
    let mut arguments = command::UpgradeCheck { from: &from, to: &to, output: &output }.args().unwrap();
    if flags.is_empty() {
        arguments.retain(|argument| argument != "--fail-on-error=false");
    }
    let output = new.run(&arguments);
    let report = read_report(&new.read("report.json")).unwrap();
    (output, report)
}

#[test]
fn the_releases_differ_in_every_documented_row() {
    type Row = (&'static str, Change, Option<Verdict>);
    let common = [
        ("gpu-operator", Change::Version, Some(Verdict::Safe)),
        ("nodewright-operator", Change::Version, Some(Verdict::Safe)),
        ("nvsentinel", Change::Version, Some(Verdict::Manual)),
    ];
    let cases: [(&str, &[Row]); 5] = [
        ("kubeflow", &[]),
        (
            "nim",
            &[
                ("agentgateway", Change::Added, None),
                ("k8s-nim-operator", Change::Version, Some(Verdict::Unknown)),
                ("lws", Change::Removed, None),
                ("topograph", Change::Version, Some(Verdict::Unversioned)),
            ],
        ),
        ("dynamo", &[("dynamo-platform", Change::Version, Some(Verdict::Blocked))]),
        ("runai", &[("runai-operator", Change::Identity, Some(Verdict::Unknown))]),
        ("slurm", &[("kueue", Change::Replaced, Some(Verdict::Unknown))]),
    ];
    for (platform, own) in cases {
        let (output, report) = check(platform, "--fail-on-error=false");
        succeeded(&output);
        let mut expected: Vec<_> = common.iter().chain(own).copied().collect();
        expected.sort_by_key(|row| row.0);
        let rows: Vec<_> =
            report.components.iter().map(|row| (row.component.as_str(), row.change, row.verdict)).collect();
        assert_eq!(rows, expected, "{platform}");
        assert_eq!(report.deployer, "argocd");
    }
    let (_, report) = check("kubeflow", "--fail-on-error=false");
    let (before, after) = report.components[2].split_steps();
    assert_eq!(
        (before[0].id.as_str(), after[0].id.as_str(), after.len()),
        ("check-host-port", "reset-breaker", 2)
    );
}

#[test]
fn verdicts_fail_the_run_with_2_unless_told_otherwise_and_the_report_is_written_first() {
    let (output, report) = check("kubeflow", "");
    exited(&output, 2, "error=[CONFLICT] upgrade check failed: 1 component change(s) need attention");
    assert_eq!(report.summary.failing, 1);
}

#[test]
fn an_older_program_refuses_a_newer_recipe() {
    let (old, new) = (Place::new(OLD), Place::new(NEW));
    resolve(&new, &spec("kubeflow", &json!([])), "recipe.json");
    std::fs::copy(new.path("recipe.json"), old.path("recipe.json")).unwrap();
    let output = old.line("bundle --recipe recipe.json --output bundle");
    exited(
        &output,
        2,
        "error=[INVALID_REQUEST] ownedPaths[\"nvsentinel\"] must include synthetic path \"enabled\"",
    );
    assert!(!Path::new(&old.path("bundle")).exists());
}

#[test]
fn requests_that_the_real_one_refuses_end_with_its_code() {
    let place = Place::new(OLD);
    std::fs::write(place.path("bad.json"), "{").unwrap();
    for (line, code, end) in [
        ("recipe --frobnicate", 1, "error=flag provided but not defined: -frobnicate"),
        ("frobnicate", 1, "error=No help topic for 'frobnicate'"),
        ("recipe --accelerator zzz --intent training", 2, "[INVALID_REQUEST] invalid accelerator type: zzz"),
        ("recipe --intent training --intent inference", 2, "flag --intent was given more than once"),
        (
            "recipe --service eks --profile gpuStack=operator-managed",
            2,
            "profile gpuStack has no value \"operator-managed\" for service \"eks\"",
        ),
        (
            "recipe --service gke --accelerator h100 --platform kubeflow",
            2,
            "configuration.gke.tcpxoInterfaces is required by component gke-nccl-tcpxo",
        ),
        ("bundle --recipe bad.json", 2, ""),
        ("bundle", 2, "--recipe is required"),
        (
            "upgrade-check --from cluster --to bad.json --deployer argocd",
            2,
            "the stand-in compares recipes, not clusters",
        ),
    ] {
        let output = place.line(line);
        assert_eq!(output.status.code(), Some(code), "{line}: {}", stderr(&output));
        assert!(
            stderr(&output).trim_end().ends_with(&format!("{end} exitCode={code}")) || end.is_empty(),
            "{}",
            stderr(&output)
        );
    }
    let missing = place.line("bundle --recipe none.json --output bundle");
    let message = Ending::Exited(3).message(Stage::Render, &stderr(&missing), MAX_MESSAGE);
    let expected = "aicr render exited 3: [cli] command failed: error=[NOT_FOUND] recipe file not found: none.json exitCode=3".to_owned();
    assert_eq!((missing.status.code(), message), (Some(3), expected));
}

#[test]
fn profiles_and_interfaces_give_the_newer_form_of_recipe() {
    let place = Place::new(OLD);
    let mapping: Vec<String> = (1..=8).map(|number| format!("eth{number}=c-gpu-nic-{number}")).collect();
    let line = format!(
        "recipe --service gke --accelerator h100 --platform kubeflow --profile gpuStack=gke-default --gke-tcpxo-interfaces {} --output r.yaml",
        mapping.join(",")
    );
    succeeded(&place.line(&line));
    let text = place.read("r.yaml");
    assert!(text.starts_with("apiVersion: aicr.run/v1beta2\n"), "{text}");
    let recipe = read_recipe("recipe", &text).unwrap();
    assert_eq!(recipe.profile.unwrap().value, "gke-default");
    assert!(recipe.components.iter().any(|component| component.name == "gke-nccl-tcpxo"));
    for wrong in ["eth1=c-gpu-nic-1", "eth1=a,eth2=b", "eth1"] {
        let line = format!("recipe --service gke --gke-tcpxo-interfaces {wrong}");
        assert_eq!(place.line(&line).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn the_large_catalogue_fills_a_plan() {
    let place = Place::new(OLD).with("AICR_STANDIN_CATALOGUE", "large");
    let spec = spec("kubeflow", &json!([]));
    resolve(&place, &spec, "recipe.json");
    render(&place, &spec, "recipe.json", "bundle");
    let info = read_bundle_info(&place.read("bundle/bundle-info.yaml")).unwrap();
    assert_eq!(info.releases.len(), 128);
}

#[test]
fn a_test_injects_every_way_to_fail() {
    for code in [1, 2, 3, 4, 5, 6, 7, 8, 9, 137] {
        let place = Place::new(OLD).with("AICR_STANDIN_FAIL", &format!("bundle=3;recipe={code}:as told"));
        let output = place.line("recipe --intent training --output r.yaml");
        assert_eq!(output.status.code(), Some(code));
        assert!(stderr(&output).contains("as told"), "{}", stderr(&output));
        assert!(!Path::new(&place.path("r.yaml")).exists());
        let class = Ending::Exited(code).failure(&stderr(&output)).class;
        assert_eq!(class == RetryClass::Never, [2, 3].contains(&code), "{code}");
    }
    let line = "recipe --intent training --output r.yaml";
    let place = Place::new(OLD).with("AICR_STANDIN_FAIL", "recipe=late:8");
    assert_eq!(place.line(line).status.code(), Some(8));
    assert!(read_recipe("recipe", &place.read("r.yaml")).is_ok());
    let place = Place::new(OLD).with("AICR_STANDIN_FAIL", "recipe=silent");
    succeeded(&place.line(line));
    assert!(!Path::new(&place.path("r.yaml")).exists());
    let place = Place::new(OLD).with("AICR_STANDIN_FAIL", "recipe=garbage");
    succeeded(&place.line(line));
    assert!(read_recipe("recipe", &place.read("r.yaml")).is_err());
    let place = Place::new(OLD).with("AICR_STANDIN_FAIL", "recipe=too-large");
    succeeded(&place.line(line));
    assert!(place.read("r.yaml").len() > 1 << 20);
}

#[test]
fn a_hanging_command_ends_with_9_when_it_is_asked_to() {
    let place = Place::new(OLD).with("AICR_STANDIN_FAIL", "recipe=hang");
    let mut running = place.program().arg("recipe").stderr(Stdio::null()).spawn().unwrap();
    // The handler is in place soon after the start; until then SIGTERM would end the process by itself.
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(running.try_wait().unwrap().is_none());
    assert!(Command::new("kill").args(["-TERM", &running.id().to_string()]).status().unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(9));
}

#[test]
fn validation_reports_its_checks_and_fails_with_8() {
    let place = Place::new(OLD);
    let nodes = serde_json::from_value(json!([
        {"metadata": {"name": "gpu-1", "labels": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}},
         "spec": {"providerID": "aws:///x", "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule", "value": "present"}]},
         "status": {"nodeInfo": {"architecture": "amd64", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "", "kubeProxyVersion": "",
                    "kubeletVersion": "", "machineID": "", "operatingSystem": "linux", "osImage": "Ubuntu 24.04.3 LTS", "systemUUID": ""}}},
        {"metadata": {"name": "system-1"}},
    ]))
    .unwrap();
    let nodes: Vec<k8s_openapi::api::core::v1::Node> = nodes;
    let taken = aicr_standin::snapshot::take(
        &aicr_standin::setup::Setup::default(),
        "v1.34.1",
        &nodes,
        "gpu-1",
        "2026-10-01T00:00:00Z",
    );
    std::fs::write(place.path("snapshot.yaml"), aicr_standin::bundle::yaml(&taken).unwrap()).unwrap();
    let snapshot = read_snapshot(&place.read("snapshot.yaml")).unwrap();
    assert_eq!(
        (snapshot.service.as_deref(), snapshot.os.as_deref(), snapshot.os_version.as_deref()),
        (Some("eks"), Some("ubuntu"), Some("24.04"))
    );
    assert_eq!(
        (snapshot.accelerator, snapshot.nodes, snapshot.taints.len()),
        (Accelerator::Known("h100".into()), Some(2), 1)
    );

    succeeded(&place.line("recipe --snapshot snapshot.yaml --intent training --output recipe.yaml"));
    assert_eq!(read_recipe("recipe", &place.read("recipe.yaml")).unwrap().name, "h100-eks-ubuntu-training");
    let line = "validate --recipe recipe.yaml --snapshot snapshot.yaml --phase deployment --no-cluster --emit-attestation evidence --output report.json";
    succeeded(&place.line(line));
    assert!(read_validation_report(&place.read("report.json")).unwrap().passed());
    assert!(Path::new(&place.path("evidence/summary-bundle/ctrf/deployment.json")).exists());

    std::fs::copy(env!("CARGO_BIN_EXE_aicr"), place.path("aicr")).unwrap();
    std::fs::write(place.path("standin.json"), r#"{"failingChecks": ["check-nvidia-smi"]}"#).unwrap();
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let output =
        Command::new(place.path("aicr")).current_dir(place.folder.path()).args(&arguments).output().unwrap();
    exited(&output, 8, "error=[INTERNAL] validation failed: one or more phases did not pass");
    let report = read_validation_report(&place.read("report.json")).unwrap();
    assert_eq!(report.unmet().map(|check| check.name.as_str()).collect::<Vec<_>>(), ["check-nvidia-smi"]);
}

#[test]
fn the_accelerator_is_not_detected_before_its_label_or_device_shows() {
    let setup = aicr_standin::setup::Setup::default();
    let take = |labels: Value| {
        let nodes =
            vec![serde_json::from_value(json!({"metadata": {"name": "n", "labels": labels}})).unwrap()];
        let taken = aicr_standin::snapshot::take(&setup, "v1.34.1", &nodes, "n", "2026-10-01T00:00:00Z");
        read_snapshot(&taken.to_string()).unwrap().accelerator
    };
    assert_eq!(take(json!({"a": "b"})), Accelerator::Undetected);
    assert_eq!(take(json!({"nvidia.com/gpu.product": "NVIDIA-H100"})), Accelerator::Known("h100".into()));
    let device = aicr_standin::snapshot::DEVICE_LABEL;
    assert_eq!(take(json!({device: "b200"})), Accelerator::Known("b200".into()));
}

#[test]
fn the_version_is_printed_without_a_leading_v() {
    let output = Place::new(NEW).line("--version");
    succeeded(&output);
    assert!(output.stdout.starts_with(b"aicr version 1.1.2 (commit: "));
}
