//! Node groups: which nodes `spec.placement` means, and whether they can be what it says.
//!
//! Source: operator-facts section 6 for the reasons; day-2 "How a change reaches the cluster" for node types.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Node;

use crate::api::{NodeGroup, Placement};

use super::reason::{Reason, Refused};

/// Label with a node's instance type.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
/// Label with the product name of a node's accelerators; there once their driver is.
pub const GPU_PRODUCT: &str = "nvidia.com/gpu.product";
/// The most nodes that a message names.
const NAMED: usize = 5;

/// What is used of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFacts {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// `status.nodeInfo.osImage`, such as `Ubuntu 24.04.1 LTS`.
    pub os_image: String,
    /// `status.nodeInfo.architecture`, such as `amd64`.
    pub architecture: String,
}

impl From<&Node> for NodeFacts {
    fn from(node: &Node) -> Self {
        let info = node.status.as_ref().and_then(|status| status.node_info.as_ref());
        Self {
            name: node.metadata.name.clone().unwrap_or_default(),
            labels: node.metadata.labels.clone().unwrap_or_default(),
            os_image: info.map(|info| info.os_image.clone()).unwrap_or_default(),
            architecture: info.map(|info| info.architecture.clone()).unwrap_or_default(),
        }
    }
}

/// The nodes of both groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeGroups {
    /// Nodes that match the system selector.
    pub system: usize,
    /// Nodes that match the accelerated selector.
    pub accelerated: usize,
    /// The distinct types of accelerated nodes: instance type, or architecture where there is none.
    pub node_types: BTreeSet<String>,
}

/// Sorts nodes into groups.
///
/// # Errors
///
/// `NodeGroupEmpty` for a selector without nodes, `PlacementOverlap` for nodes in both groups, and
/// `AcceleratedGroupHeterogeneous` for accelerated nodes of more than one accelerator, operating system or architecture:
/// one recipe is for one of each.
pub fn groups(placement: &Placement, nodes: &[NodeFacts]) -> Result<NodeGroups, Refused> {
    let system = members("system", &placement.system, nodes)?;
    let accelerated = members("accelerated", &placement.accelerated, nodes)?;
    let both: Vec<&str> = system
        .iter()
        .filter(|node| accelerated.iter().any(|other| other.name == node.name))
        .map(|node| node.name.as_str())
        .collect();
    if !both.is_empty() {
        let message = format!(
            "{} match both spec.placement.system ({}) and spec.placement.accelerated ({}): a node belongs to one group",
            named(&both),
            selector(&placement.system),
            selector(&placement.accelerated)
        );
        return Err(Refused { reason: Reason::PlacementOverlap, message });
    }
    check_alike(&accelerated)?;
    let node_types = accelerated.iter().map(|node| node_type(node).to_owned()).collect();
    Ok(NodeGroups { system: system.len(), accelerated: accelerated.len(), node_types })
}

/// The nodes of one group, in the order of their names, whatever order they came in.
fn members<'a>(name: &str, group: &NodeGroup, nodes: &'a [NodeFacts]) -> Result<Vec<&'a NodeFacts>, Refused> {
    let matches = |node: &&NodeFacts| {
        group.node_selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
    };
    let mut members: Vec<_> = nodes.iter().filter(matches).collect();
    if members.is_empty() {
        let message = format!(
            "no node matches spec.placement.{name}.nodeSelector {}: label the nodes, or change the selector",
            selector(group)
        );
        return Err(Refused { reason: Reason::NodeGroupEmpty, message });
    }
    members.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(members)
}

/// Refuses accelerated nodes that one recipe cannot be for. A node whose driver has not named its accelerator yet counts
/// as none.
fn check_alike(nodes: &[&NodeFacts]) -> Result<(), Refused> {
    let distinct = |of: &dyn Fn(&NodeFacts) -> Option<String>| {
        let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for node in nodes {
            if let Some(value) = of(node) {
                found.entry(value).or_default().push(&node.name);
            }
        }
        found
    };
    let traits: [(&str, BTreeMap<String, Vec<&str>>); 3] = [
        ("accelerators", distinct(&|node| node.labels.get(GPU_PRODUCT).cloned())),
        ("operating systems", distinct(&|node| operating_system(&node.os_image))),
        ("architectures", distinct(&|node| Some(node.architecture.clone()).filter(|text| !text.is_empty()))),
    ];
    for (name, found) in traits {
        if found.len() > 1 {
            let each: Vec<String> = found
                .iter()
                .take(NAMED)
                .map(|(value, nodes)| format!("{value} on {}", named(nodes)))
                .collect();
            let message = format!(
                "the accelerated nodes have {} {name}: {}; narrow spec.placement.accelerated.nodeSelector to one",
                found.len(),
                each.join("; ")
            );
            return Err(Refused { reason: Reason::AcceleratedGroupHeterogeneous, message });
        }
    }
    Ok(())
}

/// The distribution without its version, which differs while nodes are replaced: the words before the first digit.
fn operating_system(image: &str) -> Option<String> {
    let words = image.split_whitespace().take_while(|word| !word.contains(|c: char| c.is_ascii_digit()));
    let name = words.collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

fn node_type(node: &NodeFacts) -> &str {
    node.labels.get(INSTANCE_TYPE).map_or(node.architecture.as_str(), String::as_str)
}

fn selector(group: &NodeGroup) -> String {
    let pairs: Vec<String> =
        group.node_selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(",")
}

fn named(nodes: &[&str]) -> String {
    let first = nodes[..nodes.len().min(NAMED)].join(", ");
    match nodes.len() {
        1 => format!("node {first}"),
        count if count <= NAMED => format!("nodes {first}"),
        count => format!("nodes {first} and {} more", count - NAMED),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn group(pool: &str) -> NodeGroup {
        NodeGroup { node_selector: [("pool".to_owned(), pool.to_owned())].into(), tolerations: Vec::new() }
    }

    fn placement() -> Placement {
        Placement { system: group("system"), accelerated: group("gpu") }
    }

    fn node(name: &str, labels: &[(&str, &str)]) -> NodeFacts {
        NodeFacts {
            name: name.to_owned(),
            labels: labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            os_image: "Ubuntu 24.04.1 LTS".to_owned(),
            architecture: "amd64".to_owned(),
        }
    }

    fn gpu(name: &str, kind: &str) -> NodeFacts {
        node(name, &[("pool", "gpu"), (INSTANCE_TYPE, kind)])
    }

    #[test]
    fn the_facts_of_a_node_are_read_from_it_and_a_node_that_did_not_report_yet_has_few() {
        let read =
            |value: serde_json::Value| NodeFacts::from(&serde_json::from_value::<Node>(value).unwrap());
        let info = serde_json::json!({"osImage": "Ubuntu 24.04.1 LTS", "architecture": "amd64", "bootID": "",
            "containerRuntimeVersion": "", "kernelVersion": "", "kubeProxyVersion": "", "kubeletVersion": "",
            "machineID": "", "operatingSystem": "linux", "systemUUID": ""});
        let labels = serde_json::json!({"pool": "gpu"});
        let metadata = serde_json::json!({"name": "a", "labels": labels});
        let found = read(serde_json::json!({"metadata": metadata, "status": {"nodeInfo": info}}));
        assert_eq!(found, node("a", &[("pool", "gpu")]));
        let found = read(serde_json::json!({"metadata": {"name": "a"}}));
        assert_eq!(found, NodeFacts { name: "a".to_owned(), ..NodeFacts::default() });
    }

    #[test]
    fn nodes_are_counted_by_group_and_node_types_are_a_set() {
        let nodes = [
            gpu("b", "p5.48xlarge"),
            gpu("a", "p5.48xlarge"),
            gpu("c", "p5en.48xlarge"),
            node("d", &[("pool", "gpu")]),
            node("s", &[("pool", "system")]),
            node("other", &[]),
        ];
        let found = groups(&placement(), &nodes).unwrap();
        assert_eq!((found.system, found.accelerated), (1, 4));
        assert_eq!(found.node_types, ["amd64", "p5.48xlarge", "p5en.48xlarge"].map(String::from).into());
    }

    #[test]
    fn groups_that_no_recipe_can_be_for_are_refused_by_name() {
        let system = node("s", &[("pool", "system")]);
        let labelled = |name: &str, product: &str| node(name, &[("pool", "gpu"), (GPU_PRODUCT, product)]);
        let mut other_os = gpu("b", "p5");
        other_os.os_image = "Amazon Linux 2023.6".to_owned();
        let mut newer = gpu("b", "p5");
        newer.os_image = "Ubuntu 26.04 LTS".to_owned();
        let mut arm = gpu("b", "gb200");
        arm.architecture = "arm64".to_owned();
        for (nodes, refused) in [
            (vec![system.clone(), gpu("a", "p5"), newer], None),
            (vec![system.clone(), gpu("a", "p5"), labelled("b", "H100")], None),
            (
                vec![gpu("a", "p5")],
                Some((
                    Reason::NodeGroupEmpty,
                    "no node matches spec.placement.system.nodeSelector pool=system: label the nodes, or change the selector",
                )),
            ),
            (
                vec![system.clone()],
                Some((
                    Reason::NodeGroupEmpty,
                    "no node matches spec.placement.accelerated.nodeSelector pool=gpu: label the nodes, or change the selector",
                )),
            ),
            (
                vec![system.clone(), labelled("b", "H100"), labelled("a", "H100"), labelled("c", "H200")],
                Some((
                    Reason::AcceleratedGroupHeterogeneous,
                    "the accelerated nodes have 2 accelerators: H100 on nodes a, b; H200 on node c; narrow spec.placement.accelerated.nodeSelector to one",
                )),
            ),
            (
                vec![system.clone(), gpu("a", "p5"), other_os],
                Some((
                    Reason::AcceleratedGroupHeterogeneous,
                    "the accelerated nodes have 2 operating systems: Amazon Linux on node b; Ubuntu on node a; narrow spec.placement.accelerated.nodeSelector to one",
                )),
            ),
            (
                vec![system, gpu("a", "p5"), arm],
                Some((
                    Reason::AcceleratedGroupHeterogeneous,
                    "the accelerated nodes have 2 architectures: amd64 on node a; arm64 on node b; narrow spec.placement.accelerated.nodeSelector to one",
                )),
            ),
        ] {
            let found = groups(&placement(), &nodes).err();
            let found = found.as_ref().map(|refused| (refused.reason, refused.message.as_str()));
            assert_eq!(found, refused);
        }
    }

    #[test]
    fn nodes_of_both_groups_are_named_and_long_lists_are_cut() {
        let mut both = placement();
        both.accelerated.node_selector = [("gpu".to_owned(), "true".to_owned())].into();
        let nodes: Vec<_> =
            (0..8).rev().map(|at| node(&format!("n{at}"), &[("pool", "system"), ("gpu", "true")])).collect();
        let refused = groups(&both, &nodes).unwrap_err();
        assert_eq!(refused.reason, Reason::PlacementOverlap);
        assert_eq!(
            refused.message,
            "nodes n0, n1, n2, n3, n4 and 3 more match both spec.placement.system (pool=system) and spec.placement.accelerated (gpu=true): a node belongs to one group"
        );
    }

    proptest! {
        #[test]
        fn the_order_of_nodes_does_not_matter(pools in proptest::collection::vec((0..3_usize, 0..3_usize), 0..12), turn in 0..12_usize) {
            let mut nodes: Vec<_> = pools
                .iter()
                .enumerate()
                .map(|(at, (pool, kind))| {
                    let pool = ["system", "gpu", "none"][*pool];
                    node(&format!("n{at}"), &[("pool", pool), (GPU_PRODUCT, ["x", "x", "y"][*kind])])
                })
                .collect();
            let one = groups(&placement(), &nodes);
            let turn = turn % nodes.len().max(1);
            nodes.rotate_left(turn);
            prop_assert_eq!(groups(&placement(), &nodes), one);
        }
    }
}
