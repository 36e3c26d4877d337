//! The API server: ConfigMaps, the snapshot's agent, and the identities of validators.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::failure::{Code, Failure, Outcome, internal};
use crate::flags::Flags;
use crate::setup::Release;

/// How long one call may take.
const CALL: Duration = Duration::from_secs(30);
/// How often the agent's Job is looked at.
const POLL: Duration = Duration::from_millis(200);

/// A document to be stored.
pub struct Stored<'a> {
    /// Its kind, for a label.
    pub kind: &'a str,
    /// `json` or `yaml`.
    pub format: &'a str,
    /// The version that made it, for a label.
    pub version: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// A connection.
pub struct Cluster {
    runtime: Runtime,
    client: Client,
}

/// The agent's Job.
pub struct Agent<'a> {
    /// Suffix of every name of the run.
    pub run_id: &'a str,
    /// Namespace.
    pub namespace: &'a str,
    /// Image.
    pub image: &'a str,
    /// ServiceAccount.
    pub service_account: &'a str,
    /// Nodes.
    pub node_selector: BTreeMap<String, String>,
    /// Tolerations.
    pub tolerations: Vec<Value>,
    /// Requests by resource.
    pub requests: BTreeMap<String, String>,
    /// How long to wait for it.
    pub timeout: Duration,
    /// Prefix of its name.
    pub job_name: &'a str,
}

impl Agent<'_> {
    /// Name of its ConfigMap.
    pub fn staging(&self) -> String {
        format!("aicr-agent-snapshot-{}", self.run_id)
    }

    fn name(&self) -> String {
        format!("{}-{}", self.job_name, self.run_id)
    }
}

fn failed(doing: &str, error: &kube::Error) -> Failure {
    let code = match error {
        kube::Error::Api(status) => match status.code {
            401 | 403 => Code::Unauthorized,
            404 => Code::NotFound,
            429 => Code::RateLimitExceeded,
            503 => Code::ServiceUnavailable,
            504 => Code::Timeout,
            _ => Code::Internal,
        },
        kube::Error::HyperError(_) | kube::Error::Service(_) => Code::ServiceUnavailable,
        _ => Code::Internal,
    };
    Failure::new(code, format!("failed to {doing}: {error}"))
}

impl Cluster {
    /// Connects by `--kubeconfig`, `KUBECONFIG` or the pod's own credentials.
    ///
    /// # Errors
    ///
    /// When there are none.
    #[expect(clippy::disallowed_methods, reason = "plays a program that connects as client-go does")]
    pub fn connect(flags: &Flags) -> Outcome<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(internal)?;
        let client = runtime.block_on(async {
            let mut config = match flags.one("kubeconfig") {
                Some(path) => {
                    let read = Kubeconfig::read_from(path).map_err(internal)?;
                    Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
                        .await
                        .map_err(internal)?
                }
                None => Config::infer().await.map_err(internal)?,
            };
            config.default_retry = false;
            config.read_timeout = Some(CALL);
            Client::try_from(config).map_err(|error| failed("connect to the cluster", &error))
        })?;
        Ok(Self { runtime, client })
    }

    fn run<T>(&self, doing: &str, call: impl Future<Output = kube::Result<T>>) -> Outcome<T> {
        let call = async { tokio::time::timeout(CALL, call).await };
        match self.runtime.block_on(call) {
            Ok(answer) => answer.map_err(|error| failed(doing, &error)),
            Err(_) => Err(Failure::new(Code::Timeout, format!("failed to {doing}: no answer in time"))),
        }
    }

    fn in_namespace<K>(&self, namespace: &str) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// The document in a ConfigMap: the key that begins with `snapshot.`, else the only one that is not about it.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub fn read(&self, namespace: &str, name: &str) -> Outcome<String> {
        let maps: Api<ConfigMap> = self.in_namespace(namespace);
        let map = self.run(&format!("read ConfigMap {namespace}/{name}"), maps.get(name))?;
        let mut data = map.data.unwrap_or_default();
        data.retain(|key, _| !["format", "timestamp"].contains(&key.as_str()));
        let key = data.keys().find(|key| key.starts_with("snapshot.")).or(data.keys().next()).cloned();
        key.and_then(|key| data.remove(&key)).ok_or_else(|| {
            Failure::new(Code::NotFound, format!("ConfigMap {namespace}/{name} holds no document"))
        })
    }

    /// Applies a document's ConfigMap.
    ///
    /// # Errors
    ///
    /// When the API server refuses.
    pub fn write(&self, namespace: &str, name: &str, stored: &Stored<'_>) -> Outcome<()> {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {
                "app.kubernetes.io/name": "aicr", "app.kubernetes.io/component": stored.kind,
                "app.kubernetes.io/version": stored.version}},
            "data": {format!("snapshot.{}", stored.format): stored.text, "format": stored.format, "timestamp": crate::now()},
        });
        let maps: Api<ConfigMap> = self.in_namespace(namespace);
        let parameters = PatchParams::apply("aicr").force();
        self.run(
            &format!("write ConfigMap {namespace}/{name}"),
            maps.patch(name, &parameters, &Patch::Apply(&map)),
        )?;
        Ok(())
    }

    /// What an agent sees: the server's version and the nodes.
    ///
    /// # Errors
    ///
    /// When the API server refuses.
    pub fn observe(&self) -> Outcome<(String, Vec<Node>)> {
        let version = self.run("read the server's version", self.client.apiserver_version())?.git_version;
        let nodes: Api<Node> = Api::all(self.client.clone());
        let nodes = self.run("list nodes", nodes.list(&ListParams::default()))?;
        Ok((version, nodes.items))
    }

    /// Marks a namespace as its own, which 1.0 does and 1.1 does not.
    ///
    /// # Errors
    ///
    /// When the API server refuses.
    pub fn label_namespace(&self, release: Release, namespace: &str) -> Outcome<()> {
        if release != Release::V1_0_0 {
            return Ok(());
        }
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let labels = json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "aicr"}}});
        let patch = Patch::Merge(&labels);
        self.run(
            &format!("label namespace {namespace}"),
            namespaces.patch(namespace, &PatchParams::default(), &patch),
        )?;
        Ok(())
    }

    /// Runs the agent and returns the snapshot's text. Its objects are removed, also when it fails.
    ///
    /// # Errors
    ///
    /// When it cannot be started, fails, or takes too long.
    pub fn run_agent(&self, agent: &Agent<'_>) -> Outcome<String> {
        let accounts: Api<ServiceAccount> = self.in_namespace(agent.namespace);
        self.run("find the agent's ServiceAccount", accounts.get(agent.service_account))?;
        let jobs: Api<Job> = self.in_namespace(agent.namespace);
        let job: Job = serde_json::from_value(agent.job()).map_err(internal)?;
        self.run("create the agent's Job", jobs.create(&PostParams::default(), &job))?;
        let ended = self.wait(&jobs, agent);
        let text = ended.and_then(|()| self.read(agent.namespace, &agent.staging()));
        let maps: Api<ConfigMap> = self.in_namespace(agent.namespace);
        // Best effort, as the real one's: what is left carries the run's label.
        let _ = self.run("remove the agent's Job", jobs.delete(&agent.name(), &DeleteParams::foreground()));
        let _ =
            self.run("remove the agent's ConfigMap", maps.delete(&agent.staging(), &DeleteParams::default()));
        text
    }

    fn wait(&self, jobs: &Api<Job>, agent: &Agent<'_>) -> Outcome<()> {
        let polls = agent.timeout.as_millis() / POLL.as_millis();
        for _ in 0..polls {
            let job = self.run("look at the agent's Job", jobs.get_status(&agent.name()))?;
            let conditions = job.status.and_then(|status| status.conditions).unwrap_or_default();
            let is = |type_: &str| {
                conditions.iter().any(|condition| condition.type_ == type_ && condition.status == "True")
            };
            if is("Complete") {
                return Ok(());
            }
            if is("Failed") {
                return Err(internal(format!("snapshot agent Job {} failed", agent.name())));
            }
            self.runtime.block_on(async { tokio::time::sleep(POLL).await });
        }
        let message =
            format!("snapshot agent Job {} did not complete within {:?}", agent.name(), agent.timeout);
        Err(Failure::new(Code::Timeout, message))
    }

    /// The validators' identity: 1.0 makes one with every right for the run and removes it, 1.1 takes the one of the
    /// documented name.
    ///
    /// # Errors
    ///
    /// What `checks` returns, or when the identity cannot be made or is not there.
    pub fn as_validator<T>(
        &self,
        release: Release,
        namespace: &str,
        run_id: &str,
        checks: impl FnOnce() -> Outcome<T>,
    ) -> Outcome<T> {
        let accounts: Api<ServiceAccount> = self.in_namespace(namespace);
        if release != Release::V1_0_0 {
            self.run("find ServiceAccount aicr-validator", accounts.get("aicr-validator"))?;
            return checks();
        }
        let name = format!("aicr-validator-{run_id}");
        let metadata = json!({"name": name, "labels": {"app.kubernetes.io/name": "aicr-validator", "aicr.run/run-id": run_id}});
        let account: ServiceAccount =
            serde_json::from_value(json!({"metadata": metadata})).map_err(internal)?;
        let binding: ClusterRoleBinding = serde_json::from_value(json!({
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        }))
        .map_err(internal)?;
        let bindings: Api<ClusterRoleBinding> = Api::all(self.client.clone());
        self.run("create the validator's ServiceAccount", accounts.create(&PostParams::default(), &account))?;
        let outcome = self
            .run("bind the validator's ServiceAccount", bindings.create(&PostParams::default(), &binding))
            .and_then(|_| checks());
        let _ = self.run("remove the validator's binding", bindings.delete(&name, &DeleteParams::default()));
        let _ = self
            .run("remove the validator's ServiceAccount", accounts.delete(&name, &DeleteParams::default()));
        outcome
    }
}

impl Agent<'_> {
    fn job(&self) -> Value {
        let labels = json!({
            "app.kubernetes.io/name": "aicr", "app.kubernetes.io/component": "snapshot-agent",
            "aicr.run/run-id": self.run_id, "aicr.run/invocation-id": self.run_id,
        });
        let output = format!("cm://{}/{}", self.namespace, self.staging());
        json!({
            "metadata": {"name": self.name(), "labels": labels},
            "spec": {"backoffLimit": 0, "template": {"metadata": {"labels": labels}, "spec": {
                "restartPolicy": "Never", "serviceAccountName": self.service_account,
                "nodeSelector": self.node_selector, "tolerations": self.tolerations,
                "hostPID": true, "hostNetwork": true, "hostIPC": true,
                "containers": [{
                    "name": "aicr", "image": self.image,
                    "args": ["snapshot", "--namespace", self.namespace, "--output", output],
                    "env": [
                        {"name": "AICR_AGENT_MODE", "value": "true"},
                        {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                    ],
                    "resources": {"requests": self.requests},
                    "securityContext": {"privileged": true, "capabilities": {"add": ["SYS_ADMIN"]}},
                }],
            }}},
        })
    }
}
