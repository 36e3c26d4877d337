//! What a chart's archive says about the chart.
//!
//! Source: design sections 2 and 4. CRD ownership is read from the archive, at any depth of subcharts, unpacked or packed;
//! the default values of all of them decide which nulls of a release's values delete something.

use std::collections::BTreeMap;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::error::Error;
use super::tarball::{Budget, File, Subject, walk};

/// The most bytes of one file: Helm takes no larger one.
const MOST_FILE_BYTES: u64 = 5 * 1024 * 1024;
/// The most bytes of all files, subcharts included.
const MOST_INFLATED_BYTES: u64 = 256 * 1024 * 1024;
/// The most files and folders, subcharts included.
const MOST_ENTRIES: usize = 20_000;
/// How deep packed charts may lie within packed charts.
const MOST_PACKED_DEPTH: usize = 8;

/// What is known about a chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChartFacts {
    /// Its name.
    pub name: String,
    /// Its version, as it writes it.
    pub version: String,
    /// The version of what it installs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_version: Option<String>,
    /// The version of the chart's format.
    pub api_version: String,
    /// Whether it, or a chart below it, holds CRDs, in `crds/` or as templates.
    pub owns_crds: bool,
    /// Its default values.
    pub defaults: ChartDefaults,
}

/// The default values of a chart and of the charts below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChartDefaults {
    /// The text of its `values.yaml`, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// The charts directly below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subcharts: Vec<SubchartDefaults>,
    /// Whether this is all: `false` when `values.yaml` is no UTF-8 or the chart imports values from its subcharts.
    pub complete: bool,
}

/// The default values of a chart below another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubchartDefaults {
    /// The keys that its values may have in the parent: its name and every alias.
    pub names: Vec<String>,
    /// Its defaults.
    pub defaults: ChartDefaults,
}

/// The files of one chart, its subcharts apart.
#[derive(Debug, Default)]
struct Node {
    chart: Option<Vec<u8>>,
    requirements: Option<Vec<u8>>,
    values: Option<Vec<u8>>,
    has_template: bool,
    has_crd: bool,
    others: OtherFiles,
    below: BTreeMap<String, Node>,
}

/// The files that are neither templates nor in `crds/`: what they hold counts only if a template renders them.
#[derive(Debug, Default)]
struct OtherFiles {
    are_rendered: bool,
    have_crd: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChartYaml {
    name: Scalar,
    version: Scalar,
    api_version: Option<Scalar>,
    app_version: Option<Scalar>,
    #[serde(rename = "type")]
    kind: Option<Scalar>,
    #[serde(default)]
    dependencies: Option<Vec<Dependency>>,
}

#[derive(Debug, Deserialize)]
struct Requirements {
    #[serde(default)]
    dependencies: Option<Vec<Dependency>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Dependency {
    name: String,
    alias: Option<String>,
    #[serde(default)]
    import_values: Option<Vec<serde_yaml::Value>>,
}

/// A text that may be written without quotes, where YAML sees a number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Integer(i64),
    Number(f64),
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Reads a chart's archive. It blocks.
///
/// # Errors
///
/// `ContentTooLarge` over a bound; `ChartSourceUnsupported` for what is no chart, installs nothing, or lacks a chart that
/// it depends on.
pub(super) fn read(archive: &mut dyn Read, subject: Subject<'_>) -> Result<ChartFacts, Error> {
    let budget = Budget::new(MOST_INFLATED_BYTES, MOST_ENTRIES);
    let root = read_node(archive, subject, &budget, 0)?;
    let chart = chart_yaml(&root, subject)?;
    if is_library(&chart) {
        return Err(subject.refused("it is a library chart, which installs nothing by itself"));
    }
    if !installs(&root) {
        return Err(subject.refused("neither it nor a chart below it has a template or a CRD"));
    }
    Ok(ChartFacts {
        name: chart.name.text(),
        version: chart.version.text(),
        app_version: chart.app_version.as_ref().map(Scalar::text),
        api_version: chart.api_version.as_ref().map_or_else(|| "v1".to_owned(), Scalar::text),
        owns_crds: owns_crds(&root),
        defaults: defaults(root, subject)?,
    })
}

fn read_node(
    archive: &mut dyn Read,
    subject: Subject<'_>,
    budget: &Budget,
    depth: usize,
) -> Result<Node, Error> {
    if depth > MOST_PACKED_DEPTH {
        return Err(subject.too_large(format!("charts are packed more than {MOST_PACKED_DEPTH} deep")));
    }
    let mut root = Node::default();
    let mut top = None;
    walk(archive, subject, budget, &mut |mut file| {
        let shown = file.path.join("/");
        let mut parts = file.path.clone().into_iter();
        let folder = parts.next();
        if top.get_or_insert_with(|| folder.clone()) != &folder {
            return Err(subject.refused(format!("'{shown}' lies outside the chart's folder")));
        }
        let parts: Vec<_> = parts.collect();
        place(&mut root, &parts, &mut file, subject, budget, depth)
    })?;
    Ok(root)
}

/// Takes a file to the chart that it belongs to.
fn place(
    node: &mut Node,
    parts: &[String],
    file: &mut File<'_>,
    subject: Subject<'_>,
    budget: &Budget,
    depth: usize,
) -> Result<(), Error> {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let mut node = node;
    let mut rest = &parts[..];
    while let ["charts", name, below @ ..] = rest {
        // As Helm: what begins so is passed over.
        if name.starts_with(['_', '.']) {
            return Ok(());
        }
        match below {
            [] if has_extension(name, "tgz") => {
                let packed = read_node(file.content, subject, budget, depth + 1)?;
                node.below.insert((*name).to_owned(), packed);
                return Ok(());
            }
            [] => return Ok(()),
            _ => node = node.below.entry((*name).to_owned()).or_default(),
        }
        rest = below;
    }
    take(node, rest, file.read(subject, MOST_FILE_BYTES)?);
    Ok(())
}

fn take(node: &mut Node, path: &[&str], content: Vec<u8>) {
    match path {
        ["Chart.yaml"] => node.chart = Some(content),
        ["requirements.yaml"] => node.requirements = Some(content),
        ["values.yaml"] => node.values = Some(content),
        ["templates", .., name] => {
            node.has_template |= !name.starts_with('_') && *name != "NOTES.txt";
            node.has_crd |= defines_crd(&content);
            node.others.are_rendered |= contains(&content, b".Files");
        }
        ["crds", .., name] if is_manifest(name) => node.has_crd = true,
        [.., name] if is_manifest(name) => node.others.have_crd |= defines_crd(&content),
        _ => {}
    }
}

fn has_extension(name: &str, wanted: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension == wanted)
}

fn is_manifest(name: &str) -> bool {
    ["yaml", "yml", "json"].iter().any(|wanted| has_extension(name, wanted))
}

fn contains(content: &[u8], wanted: &[u8]) -> bool {
    content.windows(wanted.len()).any(|window| window == wanted)
}

/// Whether a line of YAML or JSON, template or not, says that the object is a CRD.
fn defines_crd(content: &[u8]) -> bool {
    String::from_utf8_lossy(content).lines().any(|line| {
        let line = line.trim_start_matches([' ', '\t', '-', '{', '"', '\'']);
        line.strip_prefix("kind").is_some_and(|rest| {
            let rest = rest.trim_start_matches(['"', '\'', ' ']);
            rest.strip_prefix(':').is_some_and(|value| {
                let value = value.trim_start_matches([' ', '"', '\'']);
                value
                    .strip_prefix("CustomResourceDefinition")
                    .is_some_and(|end| !end.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
            })
        })
    })
}

fn chart_yaml(node: &Node, subject: Subject<'_>) -> Result<ChartYaml, Error> {
    let bytes = node.chart.as_deref().ok_or_else(|| subject.refused("a chart has no Chart.yaml"))?;
    serde_yaml::from_slice(bytes).map_err(|error| subject.refused(format!("Chart.yaml: {error}")))
}

fn is_library(chart: &ChartYaml) -> bool {
    chart.kind.as_ref().is_some_and(|kind| kind.text() == "library")
}

fn installs(node: &Node) -> bool {
    node.has_template || node.has_crd || node.below.values().any(installs)
}

fn owns_crds(node: &Node) -> bool {
    node.has_crd || (node.others.are_rendered && node.others.have_crd) || node.below.values().any(owns_crds)
}

fn defaults(node: Node, subject: Subject<'_>) -> Result<ChartDefaults, Error> {
    let chart = chart_yaml(&node, subject)?;
    let mut dependencies = chart.dependencies.unwrap_or_default();
    if let Some(bytes) = &node.requirements {
        let old: Requirements = serde_yaml::from_slice(bytes)
            .map_err(|error| subject.refused(format!("requirements.yaml: {error}")))?;
        dependencies.extend(old.dependencies.unwrap_or_default());
    }
    let mut subcharts: Vec<SubchartDefaults> = Vec::new();
    for below in node.below.into_values() {
        let name = chart_yaml(&below, subject)?.name.text();
        let aliases = dependencies
            .iter()
            .filter(|dependency| dependency.name == name)
            .filter_map(|dependency| dependency.alias.clone());
        let names = std::iter::once(name.clone()).chain(aliases).collect();
        subcharts.push(SubchartDefaults { names, defaults: defaults(below, subject)? });
    }
    for dependency in &dependencies {
        if !subcharts.iter().any(|subchart| subchart.names[0] == dependency.name) {
            let name = &dependency.name;
            return Err(subject.refused(format!("it depends on the chart {name}, which its archive lacks")));
        }
    }
    let values = node.values.map(String::from_utf8);
    let complete = !matches!(values, Some(Err(_)))
        && dependencies.iter().all(|dependency| dependency.import_values.as_ref().is_none_or(Vec::is_empty));
    Ok(ChartDefaults { values: values.and_then(Result::ok), subcharts, complete })
}

#[cfg(test)]
mod tests;
