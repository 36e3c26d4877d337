//! The product's chart on a test's API server.
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use crate::error::{Doing, Error, Result};
use crate::identity::{APPROVERS, EDITORS, Identity};
use crate::plane::{ControlPlane, write};
use crate::tools;

/// The release's namespace, which is the operator's.
pub const NAMESPACE: &str = "aicr-system";
/// The release's name.
pub const RELEASE: &str = "aicr-operator";

/// How long a definition or policy may take to be in force on a busy machine; alone it takes about 2 s.
const IN_FORCE_WITHIN: Duration = Duration::from_mins(1);

/// The chart's folder.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../charts/aicr-operator")
}

/// The values of a usual installation, as JSON.
pub fn standard_values() -> Value {
    json!({"approvers": {"groups": [APPROVERS]}})
}

/// What one run of `helm` did.
#[derive(Debug, Clone)]
pub struct HelmRun {
    /// Whether it ended with 0.
    pub success: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// What every test finds: Argo CD's definitions and the chart.
pub(crate) async fn install_all(plane: &ControlPlane) -> Result<()> {
    let admin = plane.client(Identity::Admin)?;
    apply_argocd_definitions(&admin).await?;
    install(plane).await?;
    wait_for_argocd_definitions(&admin).await
}

/// Installs the chart as an administrator would, its namespace first, adds the editor's role, and waits until the rules
/// are in force.
///
/// # Errors
/// What the API server or helm says.
pub async fn install(plane: &ControlPlane) -> Result<()> {
    let admin = plane.client(Identity::Admin)?;
    create_namespace(&admin).await?;
    create_editor_role(&admin).await?;
    let values = plane.folder().join("values.json");
    write(&values, &standard_values().to_string())?;
    let values = format!("--values={}", values.display());
    let chart = folder().display().to_string();
    let run = helm(plane, &["install", RELEASE, &chart, "--namespace", NAMESPACE, &values]).await?;
    if !run.success {
        return Err(Error::new(format!("helm install of {chart} failed: {}{}", run.stdout, run.stderr)));
    }
    wait_until_in_force(plane).await
}

/// Runs the pinned `helm` as the administrator, and then gives the operator a token of the ServiceAccount that is there
/// now, which may be another one than before.
pub(crate) async fn helm(plane: &ControlPlane, args: &[&str]) -> Result<HelmRun> {
    let program = tools::path("helm")?;
    let home = plane.folder().join("helm");
    let kubeconfig = plane.write_kubeconfig(plane.folder(), &[Identity::Admin])?;
    let mut command = Command::new(&program);
    command.args(args).stdin(Stdio::null()).env("KUBECONFIG", kubeconfig);
    for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        command.env(variable, &home);
    }
    let output = tokio::task::spawn_blocking(move || command.output())
        .await
        .doing(|| "waiting for helm".to_owned())?
        .doing(|| format!("running {}", program.display()))?;
    plane.set_operator_token(operator_token(plane).await?);
    Ok(HelmRun {
        success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

async fn operator_token(plane: &ControlPlane) -> Result<Option<String>> {
    let accounts: Api<ServiceAccount> = Api::namespaced(plane.client(Identity::Admin)?, NAMESPACE);
    let request = TokenRequest {
        spec: TokenRequestSpec { expiration_seconds: Some(24 * 3600), ..TokenRequestSpec::default() },
        ..TokenRequest::default()
    };
    match accounts.create_token_request("aicr-operator", &PostParams::default(), &request).await {
        Ok(answer) => Ok(answer.status.map(|status| status.token)),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
        Err(error) => Err(error).doing(|| "asking for a token of the operator's ServiceAccount".to_owned()),
    }
}

/// As the installation page says: the namespace is there, with its Pod Security label, before the chart.
async fn create_namespace(admin: &Client) -> Result<()> {
    let namespace: Namespace = parse(json!({
        "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}
    }))?;
    create(admin, &namespace).await
}

async fn create_editor_role(admin: &Client) -> Result<()> {
    let metadata = json!({"name": "test-runtime-editor"});
    let role: ClusterRole = parse(json!({"metadata": metadata, "rules": [
        {"apiGroups": ["operator.aicr.run"], "resources": ["clusterruntimes"],
         "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"]},
        {"apiGroups": ["operator.aicr.run"], "resources": ["runtimerollouts"], "verbs": ["get", "list", "watch"]},
    ]}))?;
    let group = "rbac.authorization.k8s.io";
    let binding: ClusterRoleBinding = parse(json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "test-runtime-editor"},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": EDITORS}],
    }))?;
    create(admin, &role).await?;
    create(admin, &binding).await
}

fn parse<T: serde::de::DeserializeOwned>(value: Value) -> Result<T> {
    serde_json::from_value(value).doing(|| "writing an object down".to_owned())
}

async fn create<K>(client: &Client, object: &K) -> Result<()>
where
    K: kube::Resource<DynamicType = ()>
        + Clone
        + serde::de::DeserializeOwned
        + serde::Serialize
        + std::fmt::Debug,
{
    let api: Api<K> = Api::all(client.clone());
    let doing = || format!("creating {} {}", K::kind(&()), object.name_any());
    api.create(&PostParams::default(), object).await.map(drop).doing(doing)
}

/// Argo CD's kinds that the product writes: the CRD's file in the pinned module and the plural.
const ARGOCD_KINDS: [(&str, &str); 2] =
    [("application-crd.yaml", "applications"), ("appproject-crd.yaml", "appprojects")];

/// Applies the CustomResourceDefinitions of Application and AppProject from the pinned Argo CD module and waits until
/// they are served.
pub(crate) async fn apply_argocd_crds(plane: &ControlPlane) -> Result<()> {
    let admin = plane.client(Identity::Admin)?;
    apply_argocd_definitions(&admin).await?;
    wait_for_argocd_definitions(&admin).await
}

async fn apply_argocd_definitions(admin: &Client) -> Result<()> {
    let folder = tools::path("argocd-crds")?;
    let definitions: Api<CustomResourceDefinition> = Api::all(admin.clone());
    for (file, plural) in ARGOCD_KINDS {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path).doing(|| format!("reading {}", path.display()))?;
        let definition: Value =
            serde_yaml::from_str(&text).doing(|| format!("reading {}", path.display()))?;
        let name = format!("{plural}.argoproj.io");
        let params = PatchParams::apply("test-support").force();
        definitions
            .patch(&name, &params, &Patch::Apply(&definition))
            .await
            .doing(|| format!("applying {name}"))?;
    }
    Ok(())
}

async fn wait_for_argocd_definitions(admin: &Client) -> Result<()> {
    for (_, plural) in ARGOCD_KINDS {
        wait_until_served(admin, &format!("/apis/argoproj.io/v1alpha1/{plural}")).await?;
    }
    Ok(())
}

async fn wait_until_served(client: &Client, path: &str) -> Result<()> {
    let started = Instant::now();
    loop {
        let request = http::Request::get(path).body(Vec::new()).doing(|| format!("asking for {path}"))?;
        match client.request_text(request).await {
            Ok(_) => return Ok(()),
            Err(error) if started.elapsed() > IN_FORCE_WITHIN => {
                return Err(error)
                    .doing(|| format!("{path} is not served {} s on", IN_FORCE_WITHIN.as_secs()));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// A request that one policy denies, sent as a dry run.
struct Probe {
    policy: &'static str,
    path: &'static str,
    object: Value,
    /// Whether the operator's name is needed for the denial; else the administrator's will do.
    as_operator: bool,
}

fn probes() -> [Probe; 3] {
    let digest = |c: &str| format!("sha256:{}", c.repeat(64));
    [
        Probe {
            policy: "aicr-operator-approval",
            path: "/apis/operator.aicr.run/v1alpha1/runtimerollouts",
            object: json!({
                "apiVersion": "operator.aicr.run/v1alpha1",
                "kind": "RuntimeRollout",
                "metadata": {"name": "policy-probe"},
                "spec": {
                    "schemaVersion": 1,
                    "runtimeUID": "7e2b8f1c-0000-4000-8000-000000000000",
                    "fromPlanDigest": "",
                    "toPlanDigest": digest("a"),
                    "startingInventoryDigest": digest("b"),
                    "deadline": "2030-01-01T00:00:00Z",
                    "actionTimeout": "30m0s",
                    "approvalRequired": true,
                    "steps": [{"release": "a", "operation": "Install", "assessment": "NotApplicable"}],
                },
            }),
            as_operator: false,
        },
        Probe {
            policy: "aicr-operator-configmaps",
            path: "/api/v1/namespaces/aicr-system/configmaps",
            object: json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "policy-probe", "labels": {"app.kubernetes.io/managed-by": "aicr-operator"}},
            }),
            as_operator: false,
        },
        Probe {
            policy: "aicr-operator-runtime",
            path: "/apis/operator.aicr.run/v1alpha1/clusterruntimes",
            object: json!({
                "apiVersion": "operator.aicr.run/v1alpha1",
                "kind": "ClusterRuntime",
                "metadata": {"name": "cluster"},
                "spec": {"intent": "training", "placement": {
                    "system": {"nodeSelector": {"pool": "system"}},
                    "accelerated": {"nodeSelector": {"pool": "gpu"}},
                }},
            }),
            as_operator: true,
        },
    ]
}

/// Waits until the API server denies, by each policy of the chart, what that policy denies. Nothing is stored.
pub(crate) async fn wait_until_in_force(plane: &ControlPlane) -> Result<()> {
    let admin = plane.client(Identity::Admin)?;
    // The operator's name with all rights, so that RBAC lets the request through to the policy.
    let operator = plane.client_as(Identity::Operator.user(), "system:masters")?;
    for probe in probes() {
        let client = if probe.as_operator { &operator } else { &admin };
        let started = Instant::now();
        loop {
            let answer = match try_probe(client, &probe).await {
                Err(kube::Error::Api(status)) => status.message.clone(),
                Err(error) => error.to_string(),
                Ok(_) => "it was admitted".to_owned(),
            };
            if answer.contains(&format!("ValidatingAdmissionPolicy '{}'", probe.policy)) {
                break;
            }
            if started.elapsed() > IN_FORCE_WITHIN {
                let (policy, seconds) = (probe.policy, IN_FORCE_WITHIN.as_secs());
                return Err(Error::new(format!(
                    "{policy} denies nothing {seconds} s on; to its probe: {answer}"
                )));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(())
}

async fn try_probe(client: &Client, probe: &Probe) -> kube::Result<Value> {
    let request = http::Request::post(format!("{}?dryRun=All", probe.path))
        .header("content-type", "application/json")
        .body(probe.object.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    client.request(request).await
}
