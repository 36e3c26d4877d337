//! The chart's CRD templates, and what must hold of every schema in them.

use kubectl_aicr::api::crd;
use serde_json::Value;

use crate::check;

#[test]
fn the_chart_carries_the_crds_that_the_types_give() {
    for definition in crd::definitions().unwrap() {
        let name = definition.metadata.name.clone().unwrap();
        let mut document = serde_json::to_value(&definition).unwrap();
        document["metadata"]["annotations"]["helm.sh/resource-policy"] = "keep".into();
        let yaml = serde_yaml::to_string(&document).unwrap();
        assert!(!yaml.contains("{{"), "{name} would be read as a template action");
        let head = "# Generated from src/api by `make generate`; do not edit. Kept on uninstall, so that no object is lost.\n";
        let file = name.split('.').next().unwrap();
        check(&format!("charts/aicr-operator/templates/crds/{file}.yaml"), &format!("{head}{yaml}"));
    }
}

#[test]
fn no_crd_is_too_large_for_a_client_side_apply() {
    for definition in crd::definitions().unwrap() {
        let size = serde_json::to_vec(&definition).unwrap().len();
        assert!(size < 262_144, "{:?} has {size} bytes", definition.metadata.name);
    }
}

#[test]
fn every_list_map_and_string_of_both_crds_is_bounded_and_nothing_is_nullable() {
    for definition in crd::definitions().unwrap() {
        let document = serde_json::to_value(&definition).unwrap();
        let schema = &document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
        for part in ["spec", "status"] {
            let mut faults = Vec::new();
            unbounded(&schema[part], part, &mut faults);
            assert_eq!(faults, Vec::<String>::new(), "{:?}", definition.metadata.name);
        }
    }
}

#[test]
fn conditions_are_a_map_list_keyed_by_type_in_both_crds() {
    for definition in crd::definitions().unwrap() {
        let document = serde_json::to_value(&definition).unwrap();
        let version = &document["spec"]["versions"][0];
        let conditions =
            &version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["conditions"];
        assert_eq!(conditions["x-kubernetes-list-type"], "map");
        assert_eq!(conditions["x-kubernetes-list-map-keys"], serde_json::json!(["type"]));
        assert_eq!(conditions["maxItems"], 16);
        assert_eq!(conditions["items"]["properties"]["message"]["maxLength"], 1024);
    }
}

/// Collects every schema node below `node` that lacks the bound of its type, is nullable, or has an empty default.
fn unbounded(node: &Value, path: &str, faults: &mut Vec<String>) {
    let has = |key: &str| node.get(key).is_some();
    let bounded = match node["type"].as_str() {
        Some("string") => has("maxLength") || has("enum"),
        Some("array") => has("maxItems"),
        Some("object") => has("properties") || has("maxProperties"),
        Some("integer") => has("minimum") || has("enum"),
        Some("boolean") => true,
        // Only an override's value may be anything; its size is judged when it is resolved.
        _ => path.rsplit('.').next() == Some("value") && has("x-kubernetes-preserve-unknown-fields"),
    };
    if !bounded || has("nullable") {
        faults.push(path.to_owned());
    }
    for (name, child) in node["properties"].as_object().into_iter().flatten() {
        unbounded(child, &format!("{path}.{name}"), faults);
    }
    for child in ["items", "additionalProperties"] {
        if has(child) {
            unbounded(&node[child], &format!("{path}[]"), faults);
        }
    }
}
