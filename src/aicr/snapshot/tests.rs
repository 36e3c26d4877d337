//! The documented form is read, its quirks included; the rest is refused by field.

use serde_json::{Value, json};

use super::*;

fn document() -> Value {
    json!({
        "apiVersion": "aicr.run/v1", "kind": "Snapshot",
        "metadata": {"timestamp": "2026-10-01T00:00:00Z", "version": "v1.0.0", "source-node": "ip-10-0-0-1"},
        "measurements": [
            {"type": "K8s", "subtypes": [
                {"subtype": "server", "data": {"version": "v1.34.1"}},
                {"subtype": "node", "data": {"provider": "eks"}}]},
            {"type": "GPU", "subtypes": [{"subtype": "hardware", "data": {"model": "h100", "gpu-count": 8}}]},
            {"type": "OS", "subtypes": [{"subtype": "release", "data": {"ID": "ubuntu", "VERSION_ID": "24.04"}}]},
            {"type": "NodeTopology", "subtypes": [
                {"subtype": "summary", "data": {"node-count": 5, "taint-count": 1, "label-count": 40}},
                {"subtype": "label", "data": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3|node-a,node-b", "x": "y|node-a"}},
                {"subtype": "taint", "data": {"nvidia.com/gpu": "NoSchedule|present|node-a,node-b"}}]},
            {"type": "NetworkTopology", "subtypes": [{"subtype": "rails", "items": [{"context": {}, "data": {}}]}]},
        ],
    })
}

fn read(change: impl FnOnce(&mut Value)) -> Result<Snapshot, ArtifactError> {
    let mut value = document();
    change(&mut value);
    read_snapshot(&value.to_string())
}

fn set(pointer: &str, found: Value) -> impl FnOnce(&mut Value) {
    move |value: &mut Value| *value.pointer_mut(pointer).unwrap() = found
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_documented_snapshot_is_read_from_json_and_from_yaml() {
    let snapshot = read(|_| ()).unwrap();
    assert_eq!(
        snapshot,
        Snapshot {
            version: "v1.0.0".into(),
            service: Some("eks".into()),
            kubernetes_version: Some("v1.34.1".into()),
            os: Some("ubuntu".into()),
            os_version: Some("24.04".into()),
            accelerator: Accelerator::Known("h100".into()),
            nodes: Some(5),
            gpu_products: [("NVIDIA-H100-80GB-HBM3".to_owned(), names(&["node-a", "node-b"]))].into(),
            taints: vec![Taint {
                key: "nvidia.com/gpu".into(),
                value: "present".into(),
                effect: "NoSchedule".into(),
                nodes: names(&["node-a", "node-b"]),
            }],
        }
    );
    assert_eq!(snapshot.gpu_nodes().len(), 2);
    assert_eq!(read_snapshot(&serde_yaml::to_string(&document()).unwrap()).unwrap(), snapshot);
}

#[test]
fn what_was_not_measured_is_absent() {
    let snapshot = read(set("/measurements", json!([{"type": "SystemD"}]))).unwrap();
    assert_eq!(snapshot, Snapshot { version: "v1.0.0".into(), ..Snapshot::default() });
}

#[test]
fn the_accelerator_comes_from_the_labels_then_from_the_device() {
    let known = |name: &str| Accelerator::Known(name.into());
    let labels = |entries: Value, model: Value| {
        read(|value| {
            set("/measurements/3/subtypes/1/data", entries)(value);
            set("/measurements/1/subtypes/0/data/model", model)(value);
        })
        .unwrap()
        .accelerator
    };
    let label = |product: &str| json!({ "nvidia.com/gpu.product": format!("{product}|node-a") });
    for (product, model, expected) in [
        ("NVIDIA-H100-80GB-HBM3", "", known("h100")),
        ("NVIDIA-L40S", "", known("l40s")),
        ("NVIDIA L40", "", known("l40")),
        ("NVIDIA-GB200", "", known("gb200")),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "", known("rtx-pro-6000")),
        ("NVIDIA-GH200-480GB", "", Accelerator::Unknown("NVIDIA-GH200-480GB".into())),
        ("NVIDIA-GH200-480GB", "gh200", Accelerator::Unknown("NVIDIA-GH200-480GB".into())),
        ("Graphics-Device", "b200", known("b200")),
        ("NVIDIA-H100", "a100", known("h100")),
    ] {
        assert_eq!(labels(label(product), json!(model)), expected, "{product} {model}");
    }
    assert_eq!(labels(json!({}), json!("h200")), known("h200"));
    assert_eq!(labels(json!({}), json!("t4")), Accelerator::Unknown("t4".into()));
    assert_eq!(labels(json!({}), json!("")), Accelerator::Undetected);
    let two = json!({"nvidia.com/gpu.product.NVIDIA-A100": "NVIDIA-A100|a", "nvidia.com/gpu.product.NVIDIA-L4": "NVIDIA-L4|b,c"});
    assert_eq!(
        labels(two.clone(), json!("a100")),
        Accelerator::Several(vec!["NVIDIA-A100".into(), "NVIDIA-L4".into()])
    );
    let snapshot = read(set("/measurements/3/subtypes/1/data", two)).unwrap();
    assert_eq!(snapshot.gpu_nodes().into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn services_and_systems_are_spelled_as_criteria_spell_them() {
    for (provider, service) in [("ocid1.instance.oc1.x", "oke"), ("oci", "oke"), ("gke", "gke")] {
        let snapshot = read(set("/measurements/0/subtypes/1/data/provider", json!(provider))).unwrap();
        assert_eq!(snapshot.service.as_deref(), Some(service));
    }
    for (id, os) in [("amzn", "amazonlinux"), ("Ubuntu", "ubuntu"), ("rhel", "rhel"), ("arch", "arch")] {
        let snapshot = read(set("/measurements/2/subtypes/0/data/ID", json!(id))).unwrap();
        assert_eq!(snapshot.os.as_deref(), Some(os));
    }
}

#[test]
fn a_taint_key_with_several_effects_is_read_from_its_suffixed_keys() {
    let data = json!({"a.NoSchedule": "|n1,n2", "a.NoExecute": "x|n1", "b.io/c": "PreferNoSchedule||n3"});
    let taints = read(set("/measurements/3/subtypes/2/data", data)).unwrap().taints;
    let taint = |key: &str, value: &str, effect: &str, nodes: &[&str]| Taint {
        key: key.into(),
        value: value.into(),
        effect: effect.into(),
        nodes: names(nodes),
    };
    assert_eq!(
        taints,
        [
            taint("a", "", "NoSchedule", &["n1", "n2"]),
            taint("a", "x", "NoExecute", &["n1"]),
            taint("b.io/c", "", "PreferNoSchedule", &["n3"]),
        ]
    );
}

#[test]
fn what_is_not_documented_is_refused_by_field() {
    let topology = "/measurements/3/subtypes";
    for (pointer, found, message) in [
        (
            "/apiVersion",
            json!("aicr.run/v1alpha3"),
            "apiVersion: 'aicr.run/v1alpha3' is not supported: expected aicr.run/v1",
        ),
        ("/apiVersion", json!(""), "apiVersion: '' is not supported: expected aicr.run/v1"),
        ("/kind", json!("RecipeResult"), "kind: 'RecipeResult' is not Snapshot"),
        ("/metadata", json!([]), "metadata: expected an object, found a list"),
        ("/metadata/version", json!(""), "metadata.version: missing"),
        ("/measurements", json!({}), "measurements: expected a list, found an object"),
        ("/measurements/0", json!(1), "measurements[0]: expected an object, found a number"),
        ("/measurements/0/type", json!(""), "measurements[0].type: missing"),
        (
            "/measurements/0/subtypes/1/data/provider",
            json!(7),
            "measurements[0].subtypes[1].data.provider: expected a string, found a number",
        ),
        (
            &format!("{topology}/0/data/node-count"),
            json!("5"),
            "measurements[3].subtypes[0].data.node-count: expected a count, found a string",
        ),
        (
            &format!("{topology}/1/data"),
            json!({"nvidia.com/gpu.product": "H100"}),
            "measurements[3].subtypes[1].data.nvidia.com/gpu.product: 'H100' is not <product>|<nodes>",
        ),
        (
            &format!("{topology}/1/data"),
            json!({"nvidia.com/gpu.product": "H100|a,b (+3 more)"}),
            "measurements[3].subtypes[1].data.nvidia.com/gpu.product: its list of nodes was cut: take the snapshot without --max-nodes-per-entry",
        ),
        (
            &format!("{topology}/2/data"),
            json!({"k": "Never|v|n"}),
            "measurements[3].subtypes[2].data.k: 'Never|v|n' is not <effect>|<value>|<nodes>",
        ),
        (
            &format!("{topology}/2/data"),
            json!({"k.Never": "v|n"}),
            "measurements[3].subtypes[2].data.k.Never: 'v|n' is not <effect>|<value>|<nodes>",
        ),
    ] {
        let error = read(set(pointer, found)).unwrap_err();
        assert_eq!(error.to_string(), format!("snapshot: {message}"));
    }
    for text in ["", "[]", "{", "a: 1\na: 2\n", "kind: [", "\u{0}"] {
        assert!(read_snapshot(text).unwrap_err().to_string().starts_with("snapshot: "), "{text:?}");
    }
}
