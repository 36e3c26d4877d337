//! A pulled bundle: its releases in AICR's order, each with its values and the kind of its chart.
//!
//! Source: design section 4; aicr-cli section 3.2. The tree was pulled by digest within bounds and found to be what its list
//! of checksums says: [`crate::registry`] judges bytes and paths, this module what the files say.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde_json::Value;

use crate::aicr;
use crate::aicr::bundle_info::{BUNDLE_INFO, BundledRelease, read_bundle_info};
use crate::aicr::recipe::{Recipe, read_recipe};
use crate::aicr::upstream_env::{UpstreamChart, read_upstream_env};
use crate::plan::normal::merge;

use super::helm_yaml;
use super::reason::{Reason, Refused};

/// The recipe that the bundle records, in its root.
const RECIPE: &str = "recipe.yaml";
/// The folder at the top that belongs to no release: signatures.
const ATTESTATION: &str = "attestation";

/// Files by path, `/` between folders.
pub type Tree = BTreeMap<String, Bytes>;

/// A bundle that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// Version of the AICR that rendered it.
    pub version: String,
    /// The bundle's recipe, exactly as it is recorded.
    pub recipe_text: String,
    /// The same, read.
    pub recipe: Recipe,
    /// The releases in AICR's order.
    pub folders: Vec<Folder>,
}

/// One release's folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Folder {
    /// What `bundle-info.yaml` says of it.
    pub release: BundledRelease,
    /// Where its chart is.
    pub chart: FolderChart,
    /// `values.yaml` and over it `cluster-values.yaml`, as Helm merges them.
    pub values: Value,
}

/// Where a folder's chart is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderChart {
    /// In a repository: the folder only names it.
    Upstream(UpstreamChart),
    /// In the folder itself.
    Local {
        /// Name in its `Chart.yaml`.
        name: String,
        /// Version in its `Chart.yaml`: AICR's own.
        version: String,
    },
}

impl Bundle {
    /// The folder of this component's own release.
    pub fn primary(&self, component: &str) -> Option<&Folder> {
        self.folders.iter().find(|folder| folder.release.name == component)
    }
}

/// Reads a bundle.
///
/// # Errors
///
/// `AICRArtifactUnsupported` for a file that is missing or not what is documented, and for a folder of unknown kind; `ChartSourceUnsupported` for a chart from somewhere that charts are not taken from.
pub fn read(tree: &Tree) -> Result<Bundle, Refused> {
    let info = read_bundle_info(text(tree, BUNDLE_INFO)?)?;
    let recipe_text = text(tree, RECIPE)?;
    let recipe = read_recipe(RECIPE, recipe_text)?;
    check_folders(tree, &info.releases)?;
    let folders =
        info.releases.into_iter().map(|release| read_folder(tree, release)).collect::<Result<_, _>>()?;
    Ok(Bundle { version: info.version, recipe_text: recipe_text.to_owned(), recipe, folders })
}

/// Every folder at the top is a release's or holds signatures.
fn check_folders(tree: &Tree, releases: &[BundledRelease]) -> Result<(), Refused> {
    let known: BTreeSet<&str> =
        releases.iter().map(|release| release.path.as_str()).chain([ATTESTATION]).collect();
    let top = tree.keys().filter_map(|path| path.split_once('/')).map(|(folder, _)| folder);
    match top.into_iter().find(|folder| !known.contains(folder)) {
        Some(folder) => Err(unsupported(folder, "is a folder that bundle-info.yaml does not list")),
        None => Ok(()),
    }
}

fn read_folder(tree: &Tree, release: BundledRelease) -> Result<Folder, Refused> {
    let at = |file: &str| format!("{}/{file}", release.path);
    let (chart_file, env_file) = (at("Chart.yaml"), at("upstream.env"));
    let chart = match (tree.contains_key(&chart_file), tree.contains_key(&env_file)) {
        (true, false) => read_chart(&chart_file, text(tree, &chart_file)?)?,
        (false, true) => FolderChart::Upstream(read_upstream_env(&env_file, text(tree, &env_file)?)?),
        (true, true) => {
            return Err(unsupported(&release.path, "holds both Chart.yaml and upstream.env: expected one"));
        }
        (false, false) => {
            return Err(unsupported(
                &release.path,
                "is a folder of unknown kind: expected Chart.yaml or upstream.env",
            ));
        }
    };
    let (base, over) = (at("values.yaml"), at("cluster-values.yaml"));
    let values = merge(&yaml(tree, &base)?, &yaml(tree, &over)?)
        .map_err(|error| unsupported(&release.path, &error.to_string()))?;
    Ok(Folder { release, chart, values })
}

fn read_chart(path: &str, text: &str) -> Result<FolderChart, Refused> {
    let chart = helm_yaml::read(path, text).map_err(|error| artifact(error.to_string()))?;
    let member = |name: &str| {
        let value = chart.get(name).and_then(Value::as_str).filter(|value| !value.is_empty());
        value.map(str::to_owned).ok_or_else(|| unsupported(path, &format!("has no {name}")))
    };
    Ok(FolderChart::Local { name: member("name")?, version: member("version")? })
}

fn yaml(tree: &Tree, path: &str) -> Result<Value, Refused> {
    helm_yaml::read(path, text(tree, path)?).map_err(|error| artifact(error.to_string()))
}

fn text<'a>(tree: &'a Tree, path: &str) -> Result<&'a str, Refused> {
    let bytes = tree.get(path).ok_or_else(|| unsupported(path, "is not in the bundle"))?;
    std::str::from_utf8(bytes).map_err(|_| unsupported(path, "is no UTF-8 text"))
}

fn unsupported(path: &str, problem: &str) -> Refused {
    artifact(format!("{path}: {problem}"))
}

fn artifact(message: String) -> Refused {
    Refused::new(Reason::Aicr(aicr::Reason::ArtifactUnsupported), message)
}

#[cfg(test)]
pub(super) mod fixtures;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fixtures::{Builder, small};
    use super::*;
    use crate::aicr::upstream_env::UpstreamSource;

    #[test]
    fn a_bundle_is_read_in_its_own_order_with_values_merged_as_helm_merges_them() {
        let bundle = read(&small().tree()).unwrap();
        let names: Vec<_> = bundle.folders.iter().map(|folder| folder.release.name.as_str()).collect();
        assert_eq!(
            names,
            ["nfd", "gpu-operator-pre", "gpu-operator", "gpu-operator-post", "gpu-operator-readiness"]
        );
        let operator = bundle.primary("gpu-operator").unwrap();
        assert_eq!(
            operator.values,
            json!({"driver": {"enabled": true, "version": "570"}, "mode": 8, "gone": null, "list": [2]})
        );
        let source = UpstreamSource::Repository {
            url: "https://charts.test".to_owned(),
            chart: "gpu-operator".to_owned(),
        };
        assert_eq!(
            operator.chart,
            FolderChart::Upstream(UpstreamChart { source, version: "v1.2.3".to_owned() })
        );
        assert_eq!(
            bundle.folders[1].chart,
            FolderChart::Local { name: "gpu-operator-pre".to_owned(), version: "1.0.0".to_owned() }
        );
        assert_eq!((bundle.version.as_str(), bundle.recipe.name.as_str()), ("v1.0.0", "h100-eks"));
    }

    #[test]
    fn what_is_no_whole_bundle_is_refused_by_file() {
        type Edit = fn(Builder) -> Tree;
        let table: [(Edit, &str); 7] = [
            (|bundle| bundle.without("bundle-info.yaml").tree(), "bundle-info.yaml: is not in the bundle"),
            (
                |bundle| bundle.without("001-nfd/cluster-values.yaml").tree(),
                "001-nfd/cluster-values.yaml: is not in the bundle",
            ),
            (|bundle| bundle.without("001-nfd/upstream.env").tree(), "001-nfd: is a folder of unknown kind"),
            (
                |bundle| bundle.file("001-nfd/Chart.yaml", "name: nfd\nversion: 1.0.0\n").tree(),
                "001-nfd: holds both Chart.yaml and upstream.env",
            ),
            (
                |bundle| bundle.file("099-other/values.yaml", "").tree(),
                "099-other: is a folder that bundle-info.yaml does not list",
            ),
            (|bundle| bundle.file("001-nfd/values.yaml", "[a]").tree(), "001-nfd: the values are a list"),
            (
                |bundle| bundle.file("002-gpu-operator-pre/Chart.yaml", "name: x\n").tree(),
                "002-gpu-operator-pre/Chart.yaml: has no version",
            ),
        ];
        for (edit, message) in table {
            let refused = read(&edit(small())).unwrap_err();
            assert_eq!(refused.reason, Reason::Aicr(aicr::Reason::ArtifactUnsupported), "{message}");
            assert!(refused.message.starts_with(message), "{} for {message}", refused.message);
        }
    }

    #[test]
    fn signatures_are_passed_over_and_a_chart_from_elsewhere_is_refused() {
        assert!(read(&small().file("attestation/bundle.sigstore.json", "{}").tree()).is_ok());
        let git = "CHART='nfd'\nREPO='git://charts.test'\nVERSION='1'\n";
        let refused = read(&small().file("001-nfd/upstream.env", git).tree()).unwrap_err();
        assert_eq!(refused.reason, Reason::Aicr(aicr::Reason::ChartSourceUnsupported));
    }
}
