//! Three sample plans of one runtime: what is installed, the same with one value changed, and what a newer AICR renders.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kubectl_aicr::api::{InventoryEntry, Override, keys};
use kubectl_aicr::plan::application::application;
use kubectl_aicr::plan::configmap::{
    RecipeKind, recipe_ref, values_ref, write_plan, write_recipe, write_values,
};
use kubectl_aicr::plan::document::{
    Chart, ChartSource, Engine, Phase, PlanDocument, PlanSource, Provenance, Recipe, Release, SCHEMA_VERSION,
    Upstream,
};
use kubectl_aicr::plan::engine::EnginePolicy;
use kubectl_aicr::plan::identity::inventory_entry;
use kubectl_aicr::plan::normal::{Defaults, merge, normalize};
use kubectl_aicr::plan::values::Values;
use kubectl_aicr::plan::{Digest, Plan};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Result;

/// Where the sample's content would lie. The name is reserved, so nobody can be asked for it.
pub(crate) const REGISTRY: &str = "oci://registry.example/aicr";
/// The AICR that rendered the installed plan.
const INSTALLED_AICR: &str = "v1.0.0";
/// The criteria of every sample plan.
pub(crate) const CRITERIA: [(&str, &str); 5] = [
    ("accelerator", "h100"),
    ("intent", "training"),
    ("os", "ubuntu"),
    ("platform", "kubeflow"),
    ("service", "eks"),
];
/// What a newer AICR renders.
const UPGRADE: &str = include_str!("../data/upgrade.yaml");
const RENDER_FLAGS: [&str; 9] = [
    "--deployer",
    "helm",
    "--readiness-hooks",
    "--system-node-selector",
    "example.com/pool=system",
    "--accelerated-node-selector",
    "example.com/pool=gpu",
    "--accelerated-node-toleration",
    "nvidia.com/gpu=present:NoSchedule",
];

/// A release as the data files hold it. One without a chart is rendered by AICR into a wrapper.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Row {
    id: String,
    component: Option<String>,
    namespace: String,
    chart: Option<ChartRow>,
    readiness_for: Option<String>,
    #[serde(default)]
    depends_on: Vec<String>,
    #[serde(default, rename = "ownsCRDs")]
    owns_crds: bool,
    values: Value,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChartRow {
    name: String,
    version: String,
    upstream: String,
}

/// What a newer AICR renders instead.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Upgrade {
    aicr_version: String,
    versions: BTreeMap<String, String>,
    overrides: Vec<Override>,
    removed: Vec<String>,
    added: Vec<Row>,
}

/// What one AICR renders for one runtime.
#[derive(Clone)]
struct Rendering {
    aicr_version: String,
    rows: Vec<Row>,
    /// The runtime's overrides, as flags of the render.
    overrides: Vec<String>,
}

/// A plan with all that it refers to.
pub(crate) struct Sample {
    pub(crate) plan: Plan,
    /// By release.
    values: BTreeMap<String, Values>,
    recipe: String,
    bundled_recipe: String,
}

/// The sample plans.
pub(crate) struct Plans {
    /// What is installed: 18 releases.
    pub(crate) installed: Sample,
    /// The same with one value of gpu-operator changed.
    pub(crate) override_only: Sample,
    /// What a newer AICR renders.
    pub(crate) upgrade: Sample,
}

impl Plans {
    /// The plans of the runtime with this UID.
    pub(crate) fn of_runtime(uid: &str) -> Result<Self> {
        let rows: Vec<Row> = serde_yaml::from_str(include_str!("../data/releases.yaml"))?;
        let upgrade: Upgrade = serde_yaml::from_str(UPGRADE)?;
        let installed = Rendering { aicr_version: INSTALLED_AICR.to_owned(), rows, overrides: Vec::new() };
        let overridden = installed.overridden("gpu-operator", "dcgmExporter.enabled", &false.into())?;
        let upgraded = installed.upgraded(upgrade)?;
        Ok(Self {
            installed: installed.seal(uid, 1)?,
            override_only: overridden.seal(uid, 2)?,
            upgrade: upgraded.seal(uid, 3)?,
        })
    }
}

/// The overrides that the upgrade is rendered with, which the runtime's spec holds.
pub(crate) fn overrides() -> Result<Vec<Override>> {
    let upgrade: Upgrade = serde_yaml::from_str(UPGRADE)?;
    Ok(upgrade.overrides)
}

impl Rendering {
    /// The same with one value of a release changed.
    fn overridden(&self, release: &str, path: &str, value: &Value) -> Result<Self> {
        let mut changed = self.clone();
        let row = changed.rows.iter_mut().find(|row| row.id == release);
        let row = row.ok_or_else(|| format!("there is no release {release} to override a value of"))?;
        let tree = path.rsplit('.').fold(value.clone(), |below, key| json!({key: below}));
        row.values = merge(&row.values, &tree)?;
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        changed.overrides.extend(["--set".to_owned(), format!("{release}:{path}={shown}")]);
        Ok(changed)
    }

    fn upgraded(&self, upgrade: Upgrade) -> Result<Self> {
        let mut next = self.clone();
        for change in &upgrade.overrides {
            next = next.overridden(&change.component, &change.path, &change.value)?;
        }
        for (release, version) in upgrade.versions {
            let row = next.rows.iter_mut().find(|row| row.id == release);
            let chart = row.and_then(|row| row.chart.as_mut());
            chart.ok_or_else(|| format!("there is no chart of {release} to move"))?.version = version;
        }
        next.rows.retain(|row| !upgrade.removed.contains(&row.id));
        next.rows.extend(upgrade.added);
        next.aicr_version = upgrade.aicr_version;
        Ok(next)
    }

    fn seal(&self, runtime_uid: &str, generation: i64) -> Result<Sample> {
        let mut values = BTreeMap::new();
        let mut releases = Vec::new();
        let mut warnings = Vec::new();
        for row in &self.rows {
            let normal = normalize(&row.id, &row.values, &Defaults::unknown())?;
            warnings.extend(normal.warnings);
            releases.push(self.release(row, &normal.values));
            values.insert(row.id.clone(), normal.values);
        }
        let recipe = serde_json::to_string_pretty(&self.recipe())? + "\n";
        let bundled_recipe = serde_yaml::to_string(&self.recipe())?;
        let version = &self.aicr_version;
        let flags: Vec<String> =
            RENDER_FLAGS.map(str::to_owned).into_iter().chain(self.overrides.clone()).collect();
        let bundle = digest(&format!("bundle of {recipe} {}", flags.join(" ")));
        let document = PlanDocument {
            schema_version: SCHEMA_VERSION,
            runtime_uid: runtime_uid.to_owned(),
            engine: Engine::ArgoCD,
            desired_state_digest: digest("computed when the plan is sealed"),
            input_digest: Some(digest(&format!("inputs of generation {generation}"))),
            provenance: Provenance {
                source: PlanSource::Resolved,
                operator_version: env!("CARGO_PKG_VERSION").to_owned(),
                aicr_version: Some(version.clone()),
                aicr_image: Some(image(version)),
                snapshot_digest: Some(digest("snapshot")),
                bundle: Some(format!("{REGISTRY}/bundles/cluster@{bundle}")),
                runtime_generation: Some(generation),
                render_flags: Some(flags),
            },
            recipe: Some(Recipe {
                name: "h100-eks-ubuntu-training-kubeflow".to_owned(),
                criteria: CRITERIA.map(|(axis, value)| (axis.to_owned(), value.to_owned())).into(),
                config_map_ref: recipe_ref(&recipe),
                validation_config_map_ref: Some(recipe_ref(&bundled_recipe)),
                warnings,
            }),
            releases,
        };
        Ok(Sample { plan: Plan::seal(document)?, values, recipe, bundled_recipe })
    }

    fn release(&self, row: &Row, values: &Values) -> Release {
        let component = row.component.clone().unwrap_or_else(|| row.id.clone());
        let phase = match &row.readiness_for {
            Some(_) => Phase::Readiness,
            None if component != row.id => Phase::Post,
            None => Phase::Primary,
        };
        Release {
            id: row.id.clone(),
            component,
            phase,
            readiness_for: row.readiness_for.clone(),
            depends_on: row.depends_on.clone(),
            target_namespace: row.namespace.clone(),
            chart: self.chart(row),
            values: values_ref(&row.id, values),
            owns_crds: row.owns_crds,
            engine_policy: EnginePolicy::standard("aicr"),
        }
    }

    fn chart(&self, row: &Row) -> Chart {
        match &row.chart {
            Some(chart) => Chart {
                source: ChartSource::Mirrored,
                repository: format!("{REGISTRY}/charts/{}", chart.name),
                version: chart.version.clone(),
                digest: digest(&format!("manifest {} {}", chart.name, chart.version)),
                upstream: Some(Upstream {
                    repository: chart.upstream.clone(),
                    archive_digest: digest(&format!("archive {} {}", chart.name, chart.version)),
                }),
            },
            None => Chart {
                source: ChartSource::Wrapper,
                repository: format!("{REGISTRY}/wrappers/{}", row.id),
                version: self.aicr_version.clone(),
                digest: digest(&format!("manifest {} {}", row.id, self.aicr_version)),
                upstream: None,
            },
        }
    }

    /// A recipe as `aicr recipe` prints one, as far as a reader of the sample would look. Its edges are between components.
    fn recipe(&self) -> Value {
        let component = |row: &Row| row.component.clone().unwrap_or_else(|| row.id.clone());
        let component_of = |id: &String| self.rows.iter().find(|row| row.id == *id).map(component);
        let primary = |row: &&Row| component(row) == row.id;
        let mut rows: Vec<&Row> = self.rows.iter().filter(primary).collect();
        let order: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        rows.sort_by_key(|row| &row.id);
        let reference = |row: &&Row| {
            let edges: Vec<String> = row.depends_on.iter().filter_map(component_of).collect();
            let mut reference = json!({"name": row.id, "namespace": row.namespace, "dependencyRefs": edges});
            if let Some(chart) = &row.chart {
                reference["type"] = "Helm".into();
                reference["chart"] = chart.name.clone().into();
                reference["source"] = chart.upstream.clone().into();
                reference["version"] = chart.version.clone().into();
            }
            reference
        };
        json!({
            "apiVersion": "aicr.run/v1",
            "kind": "RecipeResult",
            "metadata": {"version": self.aicr_version, "appliedOverlays": [
                "base", "eks", "eks-training", "h100-eks-training", "h100-eks-ubuntu-training",
                "h100-eks-ubuntu-training-kubeflow",
            ]},
            "criteria": BTreeMap::from(CRITERIA),
            "componentRefs": rows.iter().map(reference).collect::<Vec<_>>(),
            "deploymentOrder": order,
        })
    }
}

impl Sample {
    /// The ConfigMaps of plan, recipes and values.
    pub(crate) fn config_maps(&self, namespace: &str) -> Result<Vec<ConfigMap>> {
        let mut objects = vec![
            write_plan(&self.plan, namespace)?,
            write_recipe(&self.plan, namespace, RecipeKind::Resolved, &self.recipe)?,
            write_recipe(&self.plan, namespace, RecipeKind::Bundled, &self.bundled_recipe)?,
        ];
        objects.extend(
            self.values.iter().map(|(release, values)| write_values(&self.plan, namespace, release, values)),
        );
        Ok(objects)
    }

    /// Values by the name of the ConfigMap that holds them.
    pub(crate) fn values_by_config_map(&self) -> impl Iterator<Item = (String, &Values)> {
        self.values.iter().map(|(release, values)| (values_ref(release, values).config_map, values))
    }

    /// The Application that the operator would write for a release, as the API server would return it.
    pub(crate) fn application(&self, release: &str) -> Result<Value> {
        let values = self.values.get(release).ok_or_else(|| format!("there are no values of {release}"))?;
        let mut object = application(&self.plan, release, values, "argocd")?;
        object["metadata"]["uid"] = uid(&format!("Application {release}")).into();
        Ok(object)
    }

    /// The inventory of a cluster that runs exactly this plan.
    pub(crate) fn inventory(&self) -> Result<Vec<InventoryEntry>> {
        let releases = self.plan.releases.iter();
        releases.map(|release| Ok(inventory_entry(&self.application(&release.id)?))).collect()
    }
}

/// The image of an AICR version.
pub(crate) fn image(version: &str) -> String {
    format!("ghcr.io/nvidia/aicr@{}", digest(&format!("image {version}")))
}

/// A digest that is made up, but always the same.
pub(crate) fn digest(of: &str) -> Digest {
    Digest::of_bytes(of.as_bytes())
}

/// A UID that is made up, but always the same.
pub(crate) fn uid(of: &str) -> String {
    let hex = digest(of).hex();
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], &hex[18..30])
}

/// Labels of an operator's ConfigMap of this role.
pub(crate) fn labels(role: &str) -> BTreeMap<String, String> {
    [(keys::MANAGED_BY, keys::MANAGER), (keys::RUNTIME, keys::SINGLETON), (keys::ROLE, role)]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_plan_has_18_releases_and_the_upgrade_as_many_others() {
        let plans = Plans::of_runtime("uid").unwrap();
        assert_eq!(plans.installed.plan.releases.len(), 18);
        assert_eq!(plans.upgrade.plan.releases.len(), 18);
        let digests = [&plans.installed, &plans.override_only, &plans.upgrade].map(|s| s.plan.digest());
        assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2]);
        let null = plans.installed.values["nvidia-dra-driver-gpu"].parameters();
        assert_eq!(null[0].name, "controller.affinity.nodeAffinity");
    }
}
