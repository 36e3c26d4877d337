//! Bundles for tests.

use serde_json::{Value, json};

use super::Tree;

/// A bundle in the making.
#[derive(Clone)]
pub(in crate::resolver) struct Builder {
    files: Tree,
    releases: Vec<Value>,
    components: Vec<Value>,
}

impl Builder {
    pub(in crate::resolver) fn new() -> Self {
        Self { files: Tree::new(), releases: Vec::new(), components: Vec::new() }
    }

    /// Adds a component to the recipe.
    pub(in crate::resolver) fn component(mut self, name: &str, dependencies: &[&str], enabled: bool) -> Self {
        self.components.push(json!({"name": name, "namespace": name, "version": "v1.2.3",
            "dependencyRefs": dependencies, "overrides": {"enabled": enabled}}));
        self
    }

    /// Adds a release of a component; one whose name is not the component's has its chart in the bundle.
    pub(in crate::resolver) fn release(mut self, name: &str, component: &str, values: &str) -> Self {
        let path = format!("{:03}-{name}", self.releases.len() + 1);
        self.releases
            .push(json!({"name": name, "component": component, "namespace": component, "path": path}));
        if name == component {
            let env = format!("CHART='{name}'\nREPO='https://charts.test'\nVERSION='v1.2.3'\n");
            self = self.file(&format!("{path}/upstream.env"), &env);
        } else {
            let chart = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
            self = self.file(&format!("{path}/Chart.yaml"), &chart);
        }
        self.file(&format!("{path}/values.yaml"), values).file(&format!("{path}/cluster-values.yaml"), "")
    }

    /// Sets a file.
    pub(in crate::resolver) fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned().into());
        self
    }

    /// Leaves a file out, also one that [`Builder::tree`] makes.
    pub(in crate::resolver) fn without(self, path: &str) -> Self {
        let mut whole = self.indexed();
        whole.files.remove(path);
        whole.releases.clear();
        whole
    }

    /// Index and recipe as files.
    fn indexed(mut self) -> Self {
        if self.releases.is_empty() {
            return self;
        }
        let info = json!({"apiVersion": "aicr.run/v1", "kind": "BundleInfo", "metadata": {"version": "v1.0.0"},
            "build": {"deployer": "helm"}, "layout": {"releases": self.releases}});
        let recipe = json!({"apiVersion": "aicr.run/v1", "kind": "RecipeResult",
            "metadata": {"version": "v1.0.0", "appliedOverlays": ["base", "h100-eks"]},
            "criteria": {"service": "eks"}, "componentRefs": self.components});
        for (path, value) in [("bundle-info.yaml", info), ("recipe.yaml", recipe)] {
            self.files.insert(path.to_owned(), value.to_string().into());
        }
        self
    }

    /// The files.
    pub(in crate::resolver) fn tree(self) -> Tree {
        self.indexed().files
    }
}

/// Two components, one of them with all its parts.
pub(in crate::resolver) fn small() -> Builder {
    let values = "driver: {enabled: yes, version: '570'}\nmode: 010\ngone: 1\nlist: [1]\n";
    Builder::new()
        .component("gpu-operator", &["nfd"], true)
        .component("nfd", &[], true)
        .release("nfd", "nfd", "")
        .release("gpu-operator-pre", "gpu-operator", "")
        .release("gpu-operator", "gpu-operator", values)
        .file("003-gpu-operator/cluster-values.yaml", "gone: ~\nlist: [2]\n")
        .release("gpu-operator-post", "gpu-operator", "")
        .release("gpu-operator-readiness", "gpu-operator", "")
}
