//! The catalogue's charts: small, and each prints the values that it was given.

use serde_json::json;

use crate::catalogue::{Component, Source};

/// A chart as files below its own folder.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether bundles name it in the OCI prefix, else in the chart repository.
    pub oci: bool,
    /// Text by path.
    pub files: Vec<(String, String)>,
}

/// The chart of a component; nothing when it has manifests only.
pub fn chart(component: &Component) -> Option<Chart> {
    if component.source == Source::Manifests {
        return None;
    }
    let (name, version) = (component.chart.clone(), component.version.clone());
    let meta = json!({"apiVersion": "v2", "name": name, "version": semantic(&version), "appVersion": version, "type": "application"});
    let defaults = json!({
        "nodeSelector": {}, "tolerations": [], "replicas": 1, "image": {"tag": version},
        "operator": {"nodeSelector": {}, "tolerations": []}, "dcgmExporter": {"enabled": true},
        "controller": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}},
    });
    let mut files = vec![
        ("Chart.yaml".to_owned(), format!("{meta}\n")),
        ("values.yaml".to_owned(), format!("{defaults}\n")),
        ("templates/values.yaml".to_owned(), VALUES.to_owned()),
    ];
    if component.crds {
        files.push(("crds/parts.yaml".to_owned(), definition(&component.name, &version)));
    }
    Some(Chart { name, version: semantic(&version), oci: component.source == Source::Oci, files })
}

/// Helm takes only semantic versions; a component whose versions are none pins a chart of version 0.
pub fn semantic(version: &str) -> String {
    let bare = version.strip_prefix('v').unwrap_or(version);
    if bare.starts_with(|c: char| c.is_ascii_digit()) {
        version.to_owned()
    } else {
        format!("0.0.0-{version}")
    }
}

const VALUES: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-values\ndata:\n  values.json: {{ .Values | toJson | quote }}\n";

fn definition(component: &str, version: &str) -> String {
    let group = format!("{component}.standin.example.com");
    let schema = json!({"openAPIV3Schema": {"type": "object", "description": format!("Version {version}"), "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("parts.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"kind": "Part", "listKind": "PartList", "plural": "parts", "singular": "part"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    });
    format!("{definition}\n")
}
