//! The components: public names and edges, charts of our own.
//!
//! The two releases differ so that a transition from the older to the newer one shows, by platform:
//!
//! | platform | rows |
//! | --- | --- |
//! | any | `safe` (gpu-operator, nodewright-operator), `manual` with steps before and after the apply (nvsentinel) |
//! | `nim` | also `unknown` (k8s-nim-operator), `unversioned` (topograph), `added` (agentgateway), `removed` (lws) |
//! | `dynamo` | also `blocked` (dynamo-platform) |
//! | `runai` | also `identity`: another namespace (runai-operator) |
//! | `slurm` | also `replaced`: kueue takes kai-scheduler's place |

use serde_json::{Value, json};

use crate::recipe::Criteria;
use crate::setup::{Catalogue, Release, Setup};

/// Releases of the large catalogue.
pub const LARGE: usize = 128;

/// Where a component's chart comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A chart repository.
    Repository,
    /// An OCI registry.
    Oci,
    /// Manifests that are rendered into the bundle.
    Manifests,
}

/// One component of a release.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Where its chart comes from.
    pub source: Source,
    /// Name of its chart.
    pub chart: String,
    /// Version of its chart.
    pub version: String,
    /// Components before it.
    pub needs: Vec<String>,
    /// Suffixes of the releases beside its own: `-pre`, `-post`, `-readiness`.
    pub beside: &'static [&'static str],
    /// Whether its chart holds CustomResourceDefinitions.
    pub crds: bool,
    /// Its values.
    pub values: Value,
    /// Value paths of its selector and tolerations for system nodes.
    pub system: Paths,
    /// The same for accelerated nodes.
    pub accelerated: Paths,
}

/// Value paths that placement is written to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paths {
    /// Of the selector.
    pub selector: Option<&'static str>,
    /// Of the tolerations.
    pub tolerations: Option<&'static str>,
}

const SYSTEM: Paths = Paths { selector: Some("nodeSelector"), tolerations: Some("tolerations") };

impl Component {
    fn new(name: &str, namespace: &str, version: &str) -> Self {
        Self {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            source: Source::Repository,
            chart: name.to_owned(),
            version: version.to_owned(),
            needs: Vec::new(),
            beside: &[],
            crds: false,
            values: json!({}),
            system: SYSTEM,
            accelerated: Paths::default(),
        }
    }

    fn oci(mut self) -> Self {
        self.source = Source::Oci;
        self
    }

    fn manifests(mut self) -> Self {
        self.source = Source::Manifests;
        self.chart = String::new();
        self.version = String::new();
        self
    }

    fn chart(mut self, chart: &str) -> Self {
        chart.clone_into(&mut self.chart);
        self
    }

    fn needs(mut self, needs: &[&str]) -> Self {
        self.needs = needs.iter().map(|need| (*need).to_owned()).collect();
        self
    }

    fn crds(mut self) -> Self {
        self.crds = true;
        self
    }

    fn values(mut self, values: Value) -> Self {
        self.values = values;
        self
    }
}

/// The components of a release for these criteria, sorted by name.
pub fn components(setup: &Setup, criteria: &Criteria) -> Vec<Component> {
    let mut components = match setup.catalogue {
        Catalogue::Large => large(setup.version),
        Catalogue::Standard => standard(setup.version, criteria),
    };
    components.sort_by(|one, other| one.name.cmp(&other.name));
    components
}

/// Every component that any recipe of a release may hold: what a chart repository must serve.
pub fn every_component(setup: &Setup) -> Vec<Component> {
    let of = |service: &str, platform: &str| {
        components(
            setup,
            &Criteria::of(&[("service", service), ("accelerator", "h100"), ("platform", platform)]),
        )
    };
    let mut all: Vec<Component> = ["", "kubeflow", "nim", "dynamo", "runai", "slurm"]
        .iter()
        .flat_map(|platform| {
            ["eks", "gke"].iter().flat_map(|service| of(service, platform)).collect::<Vec<_>>()
        })
        .collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all.dedup_by(|one, other| one.name == other.name);
    all
}

fn large(release: Release) -> Vec<Component> {
    let version = pick(release, "1.0.0", "1.0.1");
    let name = |number: usize| format!("part-{number:03}");
    let component = |number: usize| {
        let mut component = Component::new(&name(number), "parts", version).values(json!({"number": number}));
        // Every part waits for the two halves of its number, so that the graph is deep and wide.
        component.needs = [number / 2, number / 3].into_iter().filter(|need| *need > 0).map(name).collect();
        component.needs.dedup();
        component
    };
    (1..=LARGE).map(component).collect()
}

fn pick<'a>(release: Release, older: &'a str, newer: &'a str) -> &'a str {
    if release == Release::V1_0_0 { older } else { newer }
}

fn standard(release: Release, criteria: &Criteria) -> Vec<Component> {
    let mut components = common(release);
    if criteria.get("service") == Some("eks") {
        components.push(
            Component::new("aws-ebs-csi-driver", "kube-system", "2.59.0")
                .values(json!({"controller": {"replicaCount": 2}})),
        );
        components
            .push(Component::new("aws-efa", "kube-system", "v0.5.29").chart("aws-efa-k8s-device-plugin"));
        // In every recipe of this service, but a release only with its flag.
        components.push(
            Component::new("dra-node-labeler", "gpu-operator", "").manifests().needs(&["gpu-operator"]),
        );
    }
    components.extend(of_platform(release, criteria));
    components
}

fn common(release: Release) -> Vec<Component> {
    let gpu_operator = Component {
        beside: &["-readiness"],
        accelerated: Paths { selector: None, tolerations: Some("daemonsets.tolerations") },
        system: Paths { selector: Some("operator.nodeSelector"), tolerations: Some("operator.tolerations") },
        ..Component::new("gpu-operator", "gpu-operator", pick(release, "v26.7.0", "v26.7.1"))
    };
    let nvsentinel_needs = ["gpu-operator", "prometheus-operator-crds"];
    vec![
        Component::new("cert-manager", "cert-manager", "v1.20.2").crds().values(json!({"crds": {"enabled": true}})),
        Component::new("nfd", "node-feature-discovery", "0.19.0").chart("node-feature-discovery").crds(),
        Component { beside: &["-pre"], ..Component::new("nodewright-operator", "nodewright", pick(release, "v0.18.0", "v0.19.0")) }
            .oci()
            .chart("nodewright")
            .values(json!({"estimatedNodeCount": 0, "controllerManager": {"selectors": {}}})),
        Component::new("nodewright-customizations", "nodewright", "").manifests().needs(&["nodewright-operator"]),
        Component::new("prometheus-operator-crds", "monitoring", "28.0.1").crds(),
        Component::new("kube-prometheus-stack", "monitoring", "84.4.0")
            .needs(&["prometheus-operator-crds"])
            // A null that deletes nothing: the chart has no such default.
            .values(json!({"prometheus": {"prometheusSpec": {"retention": "7d", "storageSpec": {"emptyDir": null}}}})),
        gpu_operator
            .crds()
            .needs(&["nfd", "cert-manager", "kube-prometheus-stack", "nodewright-customizations"])
            .values(json!({"driver": {"enabled": true}, "dcgmExporter": {"enabled": true, "interval": "15s"}, "daemonsets": {}})),
        Component::new("k8s-ephemeral-storage-metrics", "monitoring", "1.19.2")
            .needs(&["kube-prometheus-stack", "prometheus-operator-crds"]),
        Component::new("k8s-aibom", "k8s-aibom", "1.3.0").oci().crds(),
        Component::new("nvidia-dra-driver-gpu", "nvidia-dra-driver", "0.5.0")
            .oci()
            .chart("dra-driver-nvidia-gpu")
            .needs(&["gpu-operator"])
            // A null that deletes a default of the chart.
            .values(json!({"controller": {"affinity": {"nodeAffinity": null}}, "resources": {"gpus": {"enabled": false}}})),
        Component::new("nvsentinel", "nvsentinel", pick(release, "v1.22.0", "v1.25.0"))
            .oci()
            .crds()
            .needs(&nvsentinel_needs)
            .values(json!({"global": {"dryRun": true}})),
        Component::new("prometheus-adapter", "monitoring", "5.3.0").needs(&["kube-prometheus-stack"]),
    ]
}

fn of_platform(release: Release, criteria: &Criteria) -> Vec<Component> {
    let newer = release == Release::V1_1_2;
    let platform = criteria.get("platform");
    let kai = Component::new("kai-scheduler", "kai-scheduler", "v0.16.9").oci().needs(&["gpu-operator"]);
    let mut components = Vec::new();
    if platform == Some("slurm") && newer {
        components.push(Component::new("kueue", "kueue-system", "0.19.3").needs(&["gpu-operator"]));
    } else {
        components.push(kai);
    }
    match platform {
        Some("kubeflow") => {
            components.push(
                Component { beside: &["-post"], ..Component::new("kubeflow-trainer", "kubeflow", "2.2.0") }
                    .oci()
                    .needs(&["kube-prometheus-stack", "gpu-operator"]),
            );
            if criteria.get("service") == Some("gke") && criteria.get("accelerator") == Some("h100") {
                components.push(Component::new("gke-nccl-tcpxo", "kube-system", "").manifests());
            }
        }
        Some("nim") => {
            components.push(
                Component::new("k8s-nim-operator", "nim", pick(release, "3.0.0", "3.1.0"))
                    .needs(&["gpu-operator"]),
            );
            components.push(Component::new(
                "topograph",
                "topograph",
                pick(release, "nightly-a", "nightly-b"),
            ));
            components.push(if newer {
                Component::new("agentgateway", "agentgateway", "v1.5.0")
            } else {
                Component::new("lws", "lws-system", "0.7.0")
            });
        }
        Some("dynamo") => {
            components.push(
                Component::new("dynamo-platform", "dynamo-system", pick(release, "1.3.0", "1.4.2"))
                    .needs(&["gpu-operator"]),
            );
        }
        Some("runai") => {
            components.push(Component::new(
                "runai-operator",
                pick(release, "runai-backend", "runai"),
                "2.24.0",
            ));
        }
        _ => {}
    }
    components
}
