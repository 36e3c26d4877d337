//! What `aicr snapshot` observed, as far as it is used.
//!
//! Source: aicr-cli section 1.3. A snapshot's bytes differ from run to run (times, node names): compare what is read here,
//! never the bytes.

use std::collections::{BTreeMap, BTreeSet};

use super::artifact::{API_V1, ArtifactError, Document, Node};

/// Accelerators that AICR 1.x knows, as its criteria spell them (aicr-cli section 2.1).
const ACCELERATORS: [&str; 10] =
    ["h100", "h200", "gb200", "gb300", "b200", "a100", "l40", "l40s", "rtx-pro-6000", "vr200"];
const GPU_PRODUCT: &str = "nvidia.com/gpu.product";
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// A snapshot. What is absent was not measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Version of the AICR that took it.
    pub version: String,
    /// Criterion: Kubernetes service, such as eks.
    pub service: Option<String>,
    /// Kubernetes version, such as v1.34.1.
    pub kubernetes_version: Option<String>,
    /// Criterion: operating system of the node that was sampled, such as ubuntu.
    pub os: Option<String>,
    /// Version of that operating system.
    pub os_version: Option<String>,
    /// Criterion: accelerator.
    pub accelerator: Accelerator,
    /// Nodes of the cluster.
    pub nodes: Option<u64>,
    /// Nodes by the product that their accelerators' label names.
    pub gpu_products: BTreeMap<String, BTreeSet<String>>,
    /// Taints, sorted.
    pub taints: Vec<Taint>,
}

/// What the snapshot says of the accelerator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Accelerator {
    /// Nothing: no node carries the label and no device was recognised.
    #[default]
    Undetected,
    /// One, as AICR's criteria spell it.
    Known(String),
    /// One that no criterion stands for, by its product name.
    Unknown(String),
    /// Several products: AICR then detects none, and the criterion must be declared.
    Several(Vec<String>),
}

/// A taint and the nodes that carry it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value, which may be empty.
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
    /// The nodes.
    pub nodes: BTreeSet<String>,
}

impl Snapshot {
    /// Nodes whose accelerators carry a label.
    pub fn gpu_nodes(&self) -> BTreeSet<&str> {
        self.gpu_products.values().flatten().map(String::as_str).collect()
    }
}

/// Reads a snapshot, as YAML or JSON.
///
/// # Errors
///
/// When it is no snapshot of AICR 1.x, or a reading has another form than the documented one.
pub fn read_snapshot(text: &str) -> Result<Snapshot, ArtifactError> {
    let document = Document::json_or_yaml("snapshot", text)?;
    let root = document.of_kind("Snapshot", &[API_V1])?;
    let metadata = root.child("metadata")?.ok_or_else(|| root.missing("metadata"))?;
    let mut snapshot = Snapshot { version: metadata.required("version")?, ..Snapshot::default() };
    let mut device = None;
    for measurement in root.array("measurements")?.ok_or_else(|| root.missing("measurements"))? {
        let measured = measurement.required("type")?;
        for subtype in measurement.array("subtypes")?.unwrap_or_default() {
            let name = subtype.required("subtype")?;
            // A subtype may carry items instead of data; none of those is used.
            let Some(data) = subtype.child("data")? else { continue };
            match (measured.as_str(), name.as_str()) {
                ("K8s", "server") => snapshot.kubernetes_version = data.optional("version")?,
                ("K8s", "node") => snapshot.service = data.optional("provider")?.map(service),
                ("GPU", "hardware") => device = data.optional("model")?,
                ("OS", "release") => {
                    snapshot.os = data.optional("ID")?.map(|id| os(&id));
                    snapshot.os_version = data.optional("VERSION_ID")?;
                }
                ("NodeTopology", "summary") if data.has("node-count") => {
                    snapshot.nodes = Some(data.count("node-count")?);
                }
                ("NodeTopology", "label") => snapshot.gpu_products = gpu_products(&data)?,
                ("NodeTopology", "taint") => snapshot.taints = taints(&data)?,
                _ => {}
            }
        }
    }
    snapshot.accelerator = accelerator(&snapshot.gpu_products, device);
    Ok(snapshot)
}

/// Nodes of Oracle's service carry a bare OCID.
fn service(provider: String) -> String {
    if provider.starts_with("ocid1.") || provider == "oci" { "oke".to_owned() } else { provider }
}

fn os(id: &str) -> String {
    match id.trim().to_lowercase().as_str() {
        "amzn" | "amazon" | "al2" | "al2023" => "amazonlinux".to_owned(),
        "redhat" | "redhatenterpriselinux" => "rhel".to_owned(),
        other => other.to_owned(),
    }
}

/// The labels come first, because they speak for every node; the device that was seen on the sampled node comes second
/// and needs no driver. It is a criterion already.
fn accelerator(products: &BTreeMap<String, BTreeSet<String>>, device: Option<String>) -> Accelerator {
    let recognised =
        |name: &str| ACCELERATORS.into_iter().find(|accelerator| is_accelerator(name, accelerator));
    let device = device.map(|device| match recognised(&device) {
        Some(known) => Accelerator::Known(known.to_owned()),
        None => Accelerator::Unknown(device),
    });
    let mut names = products.keys();
    match (names.next(), names.next()) {
        (None, _) => device.unwrap_or_default(),
        (Some(_), Some(_)) => Accelerator::Several(products.keys().cloned().collect()),
        (Some(product), None) => match (recognised(product), device) {
            (Some(known), _) => Accelerator::Known(known.to_owned()),
            (None, Some(known @ Accelerator::Known(_))) => known,
            (None, _) => Accelerator::Unknown(product.clone()),
        },
    }
}

/// Whether a product name holds the criterion's words in a row, so that `L40S` is not taken for `l40`.
fn is_accelerator(product: &str, accelerator: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| c == '-' || c.is_whitespace());
        split.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (product, accelerator) = (words(product), words(accelerator));
    product.windows(accelerator.len()).any(|run| run == accelerator)
}

/// `nvidia.com/gpu.product: <product>|<nodes>`; with several products one key each, the product appended to it.
fn gpu_products(labels: &Node<'_>) -> Result<BTreeMap<String, BTreeSet<String>>, ArtifactError> {
    let mut products: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for key in labels.keys() {
        let rest = key.strip_prefix(GPU_PRODUCT);
        if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
            continue;
        }
        let reading = labels.text(key)?;
        let (product, list) = reading
            .split_once('|')
            .filter(|(product, _)| !product.is_empty())
            .ok_or_else(|| labels.error(key, format!("'{reading}' is not <product>|<nodes>")))?;
        products.entry(product.to_owned()).or_default().extend(nodes(labels, key, list)?);
    }
    Ok(products)
}

/// `<key>: <effect>|<value>|<nodes>`; a key that occurs with several effects as `<key>.<effect>: <value>|<nodes>`.
fn taints(readings: &Node<'_>) -> Result<Vec<Taint>, ArtifactError> {
    let mut taints = Vec::new();
    for name in readings.keys() {
        let reading = readings.text(name)?;
        let parts: Vec<&str> = reading.split('|').collect();
        let (key, effect, value, list) = match (&parts[..], name.rsplit_once('.')) {
            ([effect, value, list], _) if EFFECTS.contains(effect) => (name, *effect, *value, *list),
            ([value, list], Some((key, effect))) if EFFECTS.contains(&effect) => (key, effect, *value, *list),
            _ => {
                let problem = format!("'{reading}' is not <effect>|<value>|<nodes>");
                return Err(readings.error(name, problem));
            }
        };
        let owned = |text: &str| text.to_owned();
        let nodes = nodes(readings, name, list)?;
        taints.push(Taint { key: owned(key), value: owned(value), effect: owned(effect), nodes });
    }
    taints.sort_unstable();
    Ok(taints)
}

fn nodes(readings: &Node<'_>, key: &str, list: &str) -> Result<BTreeSet<String>, ArtifactError> {
    if list.contains("(+") {
        let problem = "its list of nodes was cut: take the snapshot without --max-nodes-per-entry";
        return Err(readings.error(key, problem));
    }
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests;
