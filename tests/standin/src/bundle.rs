//! `aicr bundle --deployer helm`: a recipe as a tree of files.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::catalogue::{Component, Source, components};
use crate::charts::semantic;
use crate::failure::{Code, Failure, Outcome, internal, invalid};
use crate::flags::Flags;
use crate::recipe::{accept, criteria};
use crate::setup::Setup;
use crate::values::Changes;

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its text.
    pub text: String,
    /// Its mode.
    pub mode: u32,
}

/// Files by path.
pub type Tree = BTreeMap<String, File>;

/// One release of a bundle.
struct Release<'a> {
    component: &'a Component,
    suffix: &'static str,
}

impl Release<'_> {
    fn name(&self) -> String {
        format!("{}{}", self.component.name, self.suffix)
    }

    fn is_local(&self) -> bool {
        !self.suffix.is_empty() || self.component.source == Source::Manifests
    }
}

/// Runs the command: the tree, and the notes for standard error.
///
/// # Errors
///
/// As AICR: recipes that it does not take, overrides and placement that it refuses.
pub fn run(setup: &Setup, flags: &Flags, recipe: &Value) -> Outcome<(Tree, Vec<String>)> {
    accept(setup, recipe)?;
    match flags.one("deployer").unwrap_or("helm") {
        "helm" => {}
        other => return Err(invalid(format!("the stand-in renders no bundle for deployer {other:?}"))),
    }
    let of_recipe = |name: &str| {
        let references = recipe["componentRefs"].as_array().into_iter().flatten();
        references.into_iter().find(|reference| reference["name"] == name).cloned()
    };
    // A recipe of another release pins other versions than this binary's catalogue: what the recipe says counts.
    let mut all = components(setup, &criteria(recipe));
    all.retain(|component| of_recipe(&component.name).is_some());
    for component in &mut all {
        let reference = of_recipe(&component.name).unwrap_or_default();
        if let Some(version) = reference["version"].as_str() {
            version.clone_into(&mut component.version);
        }
    }
    let listed = recipe["componentRefs"].as_array().map_or(0, Vec::len);
    if listed != all.len() {
        let problem = "failed to load manifest: the recipe holds components that this release does not have";
        return Err(internal(problem));
    }
    let changes = Changes::read(flags, &all)?;
    if flags.one("storage-class").is_some() && !changes.has_system_selector() {
        return Err(invalid(
            "kube-prometheus-stack requires --system-node-selector when a storage class is set",
        ));
    }
    all.retain(|component| changes.keeps(&component.name));
    for component in &mut all {
        component.needs.retain(|need| changes.keeps(need));
    }
    let mut tree = Tree::new();
    let mut listing = Vec::new();
    for (number, release) in releases(&all, flags)?.iter().enumerate() {
        let path = format!("{:03}-{}", number + 1, release.name());
        folder(setup, &changes, release, &path, &mut tree)?;
        let name = release.name();
        let component = &release.component;
        listing.push(json!({"name": name, "component": component.name, "namespace": component.namespace, "path": path}));
    }
    top(setup, flags, recipe, &all, &listing, &mut tree)?;
    let mut notes = vec!["Notes:".to_owned()];
    if flags.one("dra-eviction-node-label").is_none()
        && all.iter().any(|component| component.name == "dra-node-labeler")
    {
        notes.push("  - dra-node-labeler renders nothing without --dra-eviction-node-label".to_owned());
    }
    if flags.one("storage-class").is_none() {
        notes.push("  - no storage class is set: components use the cluster's default".to_owned());
    }
    Ok((tree, notes))
}

fn releases<'a>(all: &'a [Component], flags: &Flags) -> Outcome<Vec<Release<'a>>> {
    let mut releases = Vec::new();
    for name in crate::recipe::order(all)? {
        let Some(component) = all.iter().find(|component| component.name == name) else { continue };
        if component.name == "dra-node-labeler" && flags.one("dra-eviction-node-label").is_none() {
            continue;
        }
        let gates = flags.on("readiness-hooks", false);
        let suffixes = ["-pre", "", "-post", "-readiness"].into_iter().filter(|suffix| {
            let gate = *suffix == "-readiness" && !gates;
            suffix.is_empty() || (component.beside.contains(suffix) && !gate)
        });
        releases.extend(suffixes.map(|suffix| Release { component, suffix }));
    }
    Ok(releases)
}

fn folder(
    setup: &Setup,
    changes: &Changes,
    release: &Release<'_>,
    path: &str,
    tree: &mut Tree,
) -> Outcome<()> {
    let mut add =
        |name: &str, text: String, mode: u32| tree.insert(format!("{path}/{name}"), File { text, mode });
    let component = release.component;
    let name = release.name();
    // What stands beside a component takes no values of its own.
    let values = if release.suffix.is_empty() { changes.values(component)? } else { json!({}) };
    add("values.yaml", yaml(&values)?, 0o644);
    add("cluster-values.yaml", "# Values that are known at installation only.\n".to_owned(), 0o644);
    let (source, flags) =
        if release.is_local() { ("./".to_owned(), String::new()) } else { upstream(setup, component) };
    if release.is_local() {
        let version = setup.stated().trim_start_matches('v');
        let chart = json!({
            "apiVersion": "v2", "name": name, "version": version, "appVersion": component.version, "type": "application",
            "annotations": {"aicr.run/component-version": component.version, "aicr.run/generated-by": "aicr"},
        });
        add("Chart.yaml", yaml(&chart)?, 0o644);
        let (file, text) = if release.suffix == "-readiness" {
            ("templates/readiness.yaml", readiness(setup, component)?)
        } else {
            ("templates/manifest.yaml", manifest(&name, &component.namespace)?)
        };
        add(file, text, 0o644);
    } else {
        let repository = if component.source == Source::Oci { "" } else { setup.charts.as_str() };
        let chart = if component.source == Source::Oci { source.as_str() } else { component.chart.as_str() };
        let version = semantic(&component.version);
        add("upstream.env", format!("CHART='{chart}'\nREPO='{repository}'\nVERSION='{version}'\n"), 0o600);
        if component.name == "nvsentinel" || component.name == "k8s-aibom" {
            let script = format!(
                "#!/usr/bin/env bash\nset -euo pipefail\nhelm show crds {chart} --version {version} | kubectl apply --server-side -f -\n"
            );
            add("apply-crds.sh", script, 0o755);
        }
    }
    let script = format!(
        "#!/usr/bin/env bash\nset -euo pipefail\nhelm upgrade --install {name} {source}{flags} --namespace {} --create-namespace -f values.yaml -f cluster-values.yaml \"$@\"\n",
        component.namespace
    );
    add("install.sh", script, 0o755);
    Ok(())
}

fn upstream(setup: &Setup, component: &Component) -> (String, String) {
    let version = semantic(&component.version);
    if component.source == Source::Oci {
        (format!("{}/{}", setup.oci_charts, component.chart), format!(" --version {version}"))
    } else {
        (component.chart.clone(), format!(" --repo {} --version {version}", setup.charts))
    }
}

fn manifest(name: &str, namespace: &str) -> Outcome<String> {
    yaml(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace},
        "data": {"rendered-by": "aicr"},
    }))
}

fn readiness(setup: &Setup, component: &Component) -> Outcome<String> {
    let (gate, namespace) = (format!("{}-readiness-gate", component.name), &component.namespace);
    let role = format!("{gate}-{namespace}");
    let meta = |name: &str| json!({"name": name, "namespace": namespace});
    let hook = json!({"helm.sh/hook": "post-install,post-upgrade", "helm.sh/hook-delete-policy": "before-hook-creation"});
    let mut job = meta(&gate);
    job["annotations"] = hook;
    let documents = [
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(&gate)}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": role},
               "rules": [{"apiGroups": ["apps"], "resources": ["deployments", "daemonsets"], "verbs": ["get", "list", "watch"]}]}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": role},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
               "subjects": [{"kind": "ServiceAccount", "name": gate, "namespace": namespace}]}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(&format!("{}-readiness-bundle", component.name)), "data": {}}),
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": job, "spec": {
            "backoffLimit": 6, "activeDeadlineSeconds": 5580,
            "template": {"spec": {"serviceAccountName": gate, "restartPolicy": "Never", "containers": [{
                "name": "gate", "image": format!("ghcr.io/nvidia/aicr-gate:{}", setup.stated()),
                "args": ["--bundle-dir=/bundle", "--namespace", namespace, "--timeout=2m0s", "--max-wait=1h30m0s"]}]}}}}),
    ];
    let texts = documents.iter().map(yaml).collect::<Outcome<Vec<_>>>()?;
    Ok(texts.join("---\n"))
}

fn top(
    setup: &Setup,
    flags: &Flags,
    recipe: &Value,
    all: &[Component],
    listing: &[Value],
    tree: &mut Tree,
) -> Outcome<()> {
    let mut effective = recipe.clone();
    if let Some(references) = effective["componentRefs"].as_array_mut() {
        references
            .retain(|reference| all.iter().any(|component| reference["name"] == component.name.as_str()));
        for reference in references {
            let kept = all.iter().find(|component| reference["name"] == component.name.as_str());
            reference["dependencyRefs"] = json!(kept.map(|component| component.needs.clone()));
        }
    }
    effective["deploymentOrder"] = json!(crate::recipe::order(all)?);
    let effective = yaml(&effective)?;
    let digest = format!("sha256:{}", hex::encode(Sha256::digest(&effective)));
    let info = json!({
        "apiVersion": "aicr.run/v1", "kind": "BundleInfo", "metadata": {"version": setup.stated()},
        "build": {
            "deployer": "helm",
            "recipe": {"path": "recipe.yaml", "digest": digest, "version": recipe["metadata"]["version"]},
            "settings": {"attested": false, "checksums": true, "readinessHooks": flags.on("readiness-hooks", false),
                         "serial": flags.on("serial", false), "vendorCharts": false},
        },
        "layout": {"entrypoint": "deploy.sh", "releases": listing},
    });
    let deploy = "#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"$0\")\"\nfor folder in [0-9][0-9][0-9]-*/; do (cd \"$folder\" && ./install.sh \"$@\"); done\n";
    let mut add = |path: &str, text: String, mode: u32| tree.insert(path.to_owned(), File { text, mode });
    add("recipe.yaml", effective, 0o644);
    add("bundle-info.yaml", yaml(&info)?, 0o644);
    add("deploy.sh", deploy.to_owned(), 0o755);
    add(
        "README.md",
        format!(
            "# Bundle\n\n{} releases, rendered by the stand-in for AICR {}.\n",
            listing.len(),
            setup.stated()
        ),
        0o644,
    );
    let mut sums = String::new();
    for (path, file) in tree.iter() {
        sums.extend([
            &hex::encode(Sha256::digest(&file.text)),
            "  ",
            path,
            "
",
        ]);
    }
    tree.insert("checksums.txt".to_owned(), File { text: sums, mode: 0o644 });
    Ok(())
}

/// Text as AICR writes it to a YAML file.
///
/// # Errors
///
/// Never for JSON values.
pub fn yaml(value: &Value) -> Outcome<String> {
    serde_yaml::to_string(value).map_err(internal)
}

/// Writes a tree below a folder, with its modes.
///
/// # Errors
///
/// When the file system refuses.
pub fn write(tree: &Tree, folder: &Path) -> Outcome<()> {
    for (path, file) in tree {
        let place = folder.join(path);
        let failed = |error: std::io::Error| {
            Failure::new(Code::Internal, format!("failed to write {}: {error}", place.display()))
        };
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(file.mode);
        options.open(&place).and_then(|mut open| open.write_all(file.text.as_bytes())).map_err(failed)?;
    }
    Ok(())
}
