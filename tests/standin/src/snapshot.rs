//! `aicr snapshot`: what nodes show, and what a snapshot says.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Node;
use serde_json::{Map, Value, json};

use crate::failure::{Outcome, invalid};
use crate::recipe::Criteria;
use crate::setup::Setup;

const GPU_PRODUCT: &str = "nvidia.com/gpu.product";

/// What the node that the agent runs on shows of its device without a driver. A label of the test's own stands for the PCI
/// bus, which no simulated node has.
pub const DEVICE_LABEL: &str = "standin.example.com/pci-model";

/// The snapshot of a cluster, taken on `sampled`.
pub fn take(setup: &Setup, server: &str, nodes: &[Node], sampled: &str, now: &str) -> Value {
    let found = nodes.iter().find(|node| node.metadata.name.as_deref() == Some(sampled)).or(nodes.first());
    let label = |node: Option<&Node>, key: &str| {
        node.and_then(|node| node.metadata.labels.as_ref()?.get(key).cloned())
    };
    let provider =
        found.and_then(|node| node.spec.as_ref()?.provider_id.as_deref().map(provider)).unwrap_or_default();
    let image = found
        .and_then(|node| Some(node.status.as_ref()?.node_info.as_ref()?.os_image.clone()))
        .unwrap_or_default();
    let mut words = image.split_whitespace();
    let id = words.next().unwrap_or_default().to_lowercase();
    let version =
        words.next().map(|word| word.split('.').take(2).collect::<Vec<_>>().join(".")).unwrap_or_default();
    let mut hardware = json!({"gpu-count": 0, "driver-loaded": false});
    if let Some(model) = label(found, DEVICE_LABEL) {
        hardware =
            json!({"gpu-count": 8, "driver-loaded": label(found, GPU_PRODUCT).is_some(), "model": model});
    }
    let (labels, taints) = (labels(nodes), taints(nodes));
    let summary =
        json!({"node-count": nodes.len(), "taint-count": taints.len(), "label-count": labels.len()});
    let subtype = |name: &str, data: Value| json!({"subtype": name, "data": data});
    json!({
        "apiVersion": "aicr.run/v1",
        "kind": "Snapshot",
        "metadata": {"timestamp": now, "version": setup.stated(), "source-node": sampled},
        "measurements": [
            {"type": "K8s", "subtypes": [subtype("server", json!({"version": server})), subtype("node", json!({"provider": provider}))]},
            {"type": "GPU", "subtypes": [subtype("hardware", hardware)]},
            {"type": "OS", "subtypes": [subtype("release", json!({"ID": id, "VERSION_ID": version}))]},
            {"type": "NodeTopology", "subtypes": [subtype("summary", summary), subtype("label", labels.into()), subtype("taint", taints.into())]},
        ],
    })
}

fn provider(id: &str) -> String {
    let scheme = id.split("://").next().unwrap_or_default();
    match scheme {
        "aws" => "eks".to_owned(),
        "gce" => "gke".to_owned(),
        "azure" => "aks".to_owned(),
        "oci" => "oke".to_owned(),
        other => other.to_owned(),
    }
}

/// `<value>|<nodes>` by key; a key with several values gets each of them appended.
fn labels(nodes: &[Node]) -> Map<String, Value> {
    let mut by_key: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for node in nodes {
        let name = node.metadata.name.as_deref().unwrap_or_default();
        for (key, value) in node.metadata.labels.iter().flatten() {
            by_key.entry(key).or_default().entry(value).or_default().insert(name);
        }
    }
    let mut labels = Map::new();
    for (key, values) in by_key {
        let several = values.len() > 1;
        for (value, names) in values {
            let key = if several { format!("{key}.{value}") } else { key.to_owned() };
            labels.insert(key, json!(format!("{value}|{}", joined(&names))));
        }
    }
    labels
}

/// `<effect>|<value>|<nodes>` by key; a key with several effects gets each of them appended.
fn taints(nodes: &[Node]) -> Map<String, Value> {
    type Found<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>;
    let mut by_key: BTreeMap<&str, Found<'_>> = BTreeMap::new();
    for node in nodes {
        let name = node.metadata.name.as_deref().unwrap_or_default();
        for taint in node.spec.iter().flat_map(|spec| spec.taints.iter().flatten()) {
            let value = taint.value.as_deref().unwrap_or_default();
            by_key.entry(&taint.key).or_default().entry((&taint.effect, value)).or_default().insert(name);
        }
    }
    let mut taints = Map::new();
    for (key, found) in by_key {
        let effects: BTreeSet<_> = found.keys().map(|(effect, _)| *effect).collect();
        for ((effect, value), names) in found {
            let names = joined(&names);
            if effects.len() > 1 {
                taints.insert(format!("{key}.{effect}"), json!(format!("{value}|{names}")));
            } else {
                taints.insert(key.to_owned(), json!(format!("{effect}|{value}|{names}")));
            }
        }
    }
    taints
}

fn joined(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(",")
}

/// What a snapshot says, as far as other commands look at it.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    readings: BTreeMap<(String, String), Map<String, Value>>,
}

impl Observed {
    /// Reads a snapshot.
    ///
    /// # Errors
    ///
    /// When it is none of this major version.
    pub fn read(document: &Value) -> Outcome<Self> {
        if document["kind"] != "Snapshot" || document["apiVersion"] != "aicr.run/v1" {
            return Err(invalid("the snapshot has no supported apiVersion and kind"));
        }
        let mut readings = BTreeMap::new();
        for measurement in document["measurements"].as_array().into_iter().flatten() {
            for subtype in measurement["subtypes"].as_array().into_iter().flatten() {
                let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let data = subtype["data"].as_object().cloned().unwrap_or_default();
                readings.insert((name(&measurement["type"]), name(&subtype["subtype"])), data);
            }
        }
        Ok(Self { readings })
    }

    /// One reading.
    pub fn reading(&self, measured: &str, subtype: &str, key: &str) -> Option<&str> {
        self.readings
            .get(&(measured.to_owned(), subtype.to_owned()))?
            .get(key)?
            .as_str()
            .filter(|text| !text.is_empty())
    }

    /// The criteria that it shows: the accelerator by its label, else by its device, and not at all when there are several.
    pub fn criteria(&self) -> Criteria {
        let label = self.reading("NodeTopology", "label", GPU_PRODUCT).map(str::to_lowercase);
        let several = self
            .readings
            .get(&("NodeTopology".to_owned(), "label".to_owned()))
            .is_some_and(|labels| labels.keys().any(|key| key.starts_with(&format!("{GPU_PRODUCT}."))));
        let by_label = label.and_then(|label| {
            let product = label.split('|').next().unwrap_or_default().to_owned();
            product
                .split(['-', ' '])
                .find(|word| word.len() > 2 && word.chars().any(|c| c.is_ascii_digit()))
                .map(str::to_owned)
        });
        let accelerator = if several {
            None
        } else {
            by_label.or(self.reading("GPU", "hardware", "model").map(str::to_owned))
        };
        Criteria::of(&[
            ("service", self.reading("K8s", "node", "provider").unwrap_or_default()),
            ("accelerator", accelerator.as_deref().unwrap_or_default()),
            ("os", self.reading("OS", "release", "ID").unwrap_or_default()),
        ])
    }
}
