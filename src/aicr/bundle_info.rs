//! `bundle-info.yaml`: a bundle's releases in AICR's order.
//!
//! Source: aicr-cli section 3.2. The order of the list is the normative order of deployment.

use std::collections::BTreeSet;

use super::artifact::{API_V1, ArtifactError, Document, Node};

/// Name of the file.
pub const BUNDLE_INFO: &str = "bundle-info.yaml";

/// What the file says, as far as it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleInfo {
    /// Version of the AICR that rendered the bundle.
    pub version: String,
    /// Releases in AICR's order.
    pub releases: Vec<BundledRelease>,
}

/// One release of a bundle: one folder, one Helm release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledRelease {
    /// Name of the Helm release.
    pub name: String,
    /// AICR's component.
    pub component: String,
    /// Namespace that it is installed in.
    pub namespace: String,
    /// Its folder at the top of the bundle.
    pub path: String,
    /// Its place among the releases of its component.
    pub part: Part,
}

/// A release's place among the releases of its component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Before the component.
    Pre,
    /// The component.
    Primary,
    /// After the component.
    Post,
    /// The gate that waits until the component is ready.
    Readiness,
}

/// Reads the file.
///
/// # Errors
///
/// When it is not of AICR 1.x, not of the helm deployer, or a release's name, component and folder do not fit together.
pub fn read_bundle_info(text: &str) -> Result<BundleInfo, ArtifactError> {
    let document = Document::json_or_yaml(BUNDLE_INFO, text)?;
    let root = document.of_kind("BundleInfo", &[API_V1])?;
    let metadata = root.child("metadata")?.ok_or_else(|| root.missing("metadata"))?;
    let build = root.child("build")?.ok_or_else(|| root.missing("build"))?;
    let deployer = build.text("deployer")?;
    if deployer != "helm" {
        return Err(build.error("deployer", format!("'{deployer}' is not helm")));
    }
    let layout = root.child("layout")?.ok_or_else(|| root.missing("layout"))?;
    let mut names = BTreeSet::new();
    let mut releases = Vec::new();
    for node in layout.array("releases")?.ok_or_else(|| layout.missing("releases"))? {
        let release = read_release(&node)?;
        if !names.insert(release.name.clone()) {
            return Err(node.error("name", format!("'{}' is listed more than once", release.name)));
        }
        releases.push(release);
    }
    Ok(BundleInfo { version: metadata.required("version")?, releases })
}

fn read_release(node: &Node<'_>) -> Result<BundledRelease, ArtifactError> {
    let (name, component) = (node.required("name")?, node.required("component")?);
    let Some(part) = part(&name, &component) else {
        let problem = format!("'{name}' is neither '{component}' nor its -pre, -post or -readiness");
        return Err(node.error("name", problem));
    };
    let path = node.required("path")?;
    // A name of this form is a folder's name too: it neither leaves the bundle nor hides.
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || !name.chars().all(plain) {
        return Err(node.error("name", format!("{name:?} is no name of a release")));
    }
    let number = path.strip_suffix(&name).and_then(|rest| rest.strip_suffix('-'));
    if !number.is_some_and(|digits| digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(node.error("path", format!("{path:?} is not NNN-{name}")));
    }
    Ok(BundledRelease { namespace: node.required("namespace")?, name, component, path, part })
}

/// The suffix decides only beside the component's own name, which may end in one itself.
fn part(name: &str, component: &str) -> Option<Part> {
    match name.strip_prefix(component)? {
        "" => Some(Part::Primary),
        "-pre" => Some(Part::Pre),
        "-post" => Some(Part::Post),
        "-readiness" => Some(Part::Readiness),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn document() -> Value {
        json!({
            "apiVersion": "aicr.run/v1", "kind": "BundleInfo", "metadata": {"version": "v1.0.0"},
            "build": {"deployer": "helm", "recipe": {"path": "recipe.yaml"}, "settings": {"readinessHooks": true}},
            "layout": {"entrypoint": "deploy.sh", "releases": [
                {"name": "blog-post-pre", "component": "blog-post", "namespace": "b", "path": "001-blog-post-pre"},
                {"name": "blog-post", "component": "blog-post", "namespace": "b", "path": "002-blog-post"},
                {"name": "blog-post-post", "component": "blog-post", "namespace": "b", "path": "003-blog-post-post"},
                {"name": "gpu-operator", "component": "gpu-operator", "namespace": "g", "path": "009-gpu-operator"},
                {"name": "gpu-operator-readiness", "component": "gpu-operator", "namespace": "g", "path": "010-gpu-operator-readiness"},
            ]},
        })
    }

    #[test]
    fn releases_keep_their_order_and_a_component_may_end_in_a_suffix_itself() {
        let info = read_bundle_info(&serde_yaml::to_string(&document()).unwrap()).unwrap();
        assert_eq!(info.version, "v1.0.0");
        let parts: Vec<_> =
            info.releases.iter().map(|release| (release.name.as_str(), release.part)).collect();
        assert_eq!(
            parts,
            [
                ("blog-post-pre", Part::Pre),
                ("blog-post", Part::Primary),
                ("blog-post-post", Part::Post),
                ("gpu-operator", Part::Primary),
                ("gpu-operator-readiness", Part::Readiness),
            ]
        );
        assert_eq!(
            (info.releases[4].path.as_str(), info.releases[4].namespace.as_str()),
            ("010-gpu-operator-readiness", "g")
        );
    }

    #[test]
    fn what_is_not_documented_is_refused_by_field() {
        let first = "/layout/releases/0";
        for (pointer, found, message) in [
            (
                "/apiVersion",
                json!("aicr.run/v2"),
                "apiVersion: 'aicr.run/v2' is not supported: expected aicr.run/v1",
            ),
            ("/kind", json!("Bundle"), "kind: 'Bundle' is not BundleInfo"),
            ("/metadata/version", json!(""), "metadata.version: missing"),
            ("/build/deployer", json!("argocd"), "build.deployer: 'argocd' is not helm"),
            ("/layout/releases", json!("x"), "layout.releases: expected a list, found a string"),
            (
                &format!("{first}/name"),
                json!("other"),
                "layout.releases[0].name: 'other' is neither 'blog-post' nor its -pre, -post or -readiness",
            ),
            (
                &format!("{first}/name"),
                json!("blog-post"),
                "layout.releases[0].path: \"001-blog-post-pre\" is not NNN-blog-post",
            ),
            (
                &format!("{first}/path"),
                json!("../1-blog-post-pre"),
                "layout.releases[0].path: \"../1-blog-post-pre\" is not NNN-blog-post-pre",
            ),
            (&format!("{first}/namespace"), json!(""), "layout.releases[0].namespace: missing"),
            (
                first,
                json!({"name": "../x", "component": "../x", "path": "001-../x"}),
                "layout.releases[0].name: \"../x\" is no name of a release",
            ),
            (
                first,
                json!({"name": "gpu-operator", "component": "gpu-operator", "namespace": "g", "path": "001-gpu-operator"}),
                "layout.releases[3].name: 'gpu-operator' is listed more than once",
            ),
        ] {
            let mut value = document();
            *value.pointer_mut(pointer).unwrap() = found;
            let error = read_bundle_info(&value.to_string()).unwrap_err();
            assert_eq!(error.to_string(), format!("bundle-info.yaml: {message}"));
        }
    }
}
