//! Requests under one identity and how their denial is judged, for all tests of the chart's policies and roles.
//!
//! Requests are raw JSON, not the crate's types: a denied request is often one that the types cannot express.

use std::time::{Duration, Instant};

use kube::core::Status;
use serde_json::{Value, json};
use test_support::{Cluster, HelmRun, Identity, NAMESPACE};

/// Where RuntimeRollouts are.
pub(crate) const ROLLOUTS: &str = "/apis/operator.aicr.run/v1alpha1/runtimerollouts";
/// Where ClusterRuntimes are.
pub(crate) const RUNTIMES: &str = "/apis/operator.aicr.run/v1alpha1/clusterruntimes";
/// Where the operator's ConfigMaps are.
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/aicr-system/configmaps";
/// The operator, as the API server names it.
pub(crate) const OPERATOR: &str = "system:serviceaccount:aicr-system:aicr-operator";
/// Name of the rollout that most tests work on.
pub(crate) const NAME: &str = "rollout-3f9a1c0d2b7e4a51-1";
/// Path of [`NAME`].
pub(crate) const ROLLOUT: &str =
    "/apis/operator.aicr.run/v1alpha1/runtimerollouts/rollout-3f9a1c0d2b7e4a51-1";

/// Path of the binding that a restore removes.
pub(crate) const BINDING: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/aicr-operator-approval";

/// The policy about RuntimeRollouts.
pub(crate) const APPROVAL: By = By::Policy("aicr-operator-approval");

/// An identity with a connection.
#[derive(Clone)]
pub(crate) struct Person {
    client: kube::Client,
    impersonation: Vec<(&'static str, String)>,
    /// The username, as the API server sees it.
    pub(crate) username: String,
}

/// Body formats that the API server takes for a PATCH.
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

impl Person {
    /// One of the cluster's identities.
    pub(crate) fn new(cluster: &Cluster, identity: Identity) -> Self {
        Self {
            client: cluster.client(identity),
            impersonation: Vec::new(),
            username: identity.user().to_owned(),
        }
    }

    /// Somebody else, impersonated by this person.
    pub(crate) fn acting_as(&self, username: &str, groups: &[&str]) -> Self {
        let user = ("Impersonate-User", username.to_owned());
        let groups = groups.iter().map(|group| ("Impersonate-Group", (*group).to_owned()));
        Self {
            client: self.client.clone(),
            impersonation: std::iter::once(user).chain(groups).collect(),
            username: username.to_owned(),
        }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        format: &str,
        body: Option<&Value>,
    ) -> Result<Value, Status> {
        let mut request = http::Request::builder().method(method).uri(path).header("Content-Type", format);
        for (header, value) in &self.impersonation {
            request = request.header(*header, value);
        }
        let body = body.map(|value| serde_json::to_vec(value).unwrap()).unwrap_or_default();
        match self.client.request(request.body(body).unwrap()).await {
            Ok(value) => Ok(value),
            Err(kube::Error::Api(status)) => Err(*status),
            Err(other) => panic!("{method} {path} as {}: {other}", self.username),
        }
    }

    /// Reads an object or a list.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Status> {
        self.send("GET", path, "application/json", None).await
    }

    /// Creates an object in a collection.
    pub(crate) async fn create(&self, collection: &str, object: &Value) -> Result<Value, Status> {
        self.send("POST", collection, "application/json", Some(object)).await
    }

    /// Replaces an object.
    pub(crate) async fn replace(&self, path: &str, object: &Value) -> Result<Value, Status> {
        self.send("PUT", path, "application/json", Some(object)).await
    }

    /// Changes an object by a JSON merge patch.
    pub(crate) async fn merge(&self, path: &str, change: &Value) -> Result<Value, Status> {
        self.send("PATCH", path, MERGE, Some(change)).await
    }

    /// Applies a configuration server-side.
    pub(crate) async fn apply(&self, path: &str, configuration: &Value) -> Result<Value, Status> {
        let path = format!("{path}?fieldManager=test&force=true");
        self.send("PATCH", &path, APPLY, Some(configuration)).await
    }

    /// Deletes an object.
    pub(crate) async fn delete(&self, path: &str) -> Result<Value, Status> {
        self.send("DELETE", path, "application/json", None).await
    }
}

/// Who denies a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    /// The admission policy of this name.
    Policy(&'static str),
    /// The authorizer.
    Rbac,
    /// A validation rule of the CRD.
    Schema,
}

/// Asserts that a request was denied by whom it should be, with a message that holds these words.
#[track_caller]
pub(crate) fn assert_denied(result: Result<Value, Status>, by: By, words: &str) {
    let status = match result {
        Ok(object) => panic!("admitted, but {by:?} should have denied it with '{words}': {object}"),
        Err(status) => status,
    };
    let message = &status.message;
    assert!(message.contains(words), "denied with other words than '{words}': {message}");
    match by {
        By::Policy(name) => {
            let prefix = format!("ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request: ");
            assert!(message.contains(&prefix), "not denied by {name}: {message}");
            assert!(!message.contains("resulted in error"), "denied by an error, not by a rule: {message}");
            assert!(matches!(status.code, 403 | 422), "code {}: {message}", status.code);
        }
        By::Rbac => {
            assert_eq!(status.code, 403, "{message}");
            assert!(message.contains(" cannot "), "not denied by RBAC: {message}");
        }
        By::Schema => {
            assert_eq!(status.code, 422, "{message}");
            assert!(!message.contains("ValidatingAdmissionPolicy"), "not denied by the CRD: {message}");
        }
    }
}

/// A leased cluster with everybody in it.
pub(crate) struct World {
    /// The cluster, held for as long as the test runs.
    pub(crate) cluster: Cluster,
    /// Administrator (`system:masters`).
    pub(crate) admin: Person,
    /// Approver.
    pub(crate) alice: Person,
    /// Second approver.
    pub(crate) bob: Person,
    /// Editor of the runtime.
    pub(crate) eve: Person,
    /// Tenant without any right here.
    pub(crate) mallory: Person,
    /// The operator's ServiceAccount.
    pub(crate) operator: Person,
}

impl World {
    /// Everybody in a leased cluster.
    pub(crate) async fn leased() -> Self {
        Self::of(Cluster::lease().await)
    }

    /// Everybody in this cluster.
    pub(crate) fn of(cluster: Cluster) -> Self {
        Self {
            admin: Person::new(&cluster, Identity::Admin),
            alice: Person::new(&cluster, Identity::Approver),
            bob: Person::new(&cluster, Identity::SecondApprover),
            eve: Person::new(&cluster, Identity::Editor),
            mallory: Person::new(&cluster, Identity::Tenant),
            operator: Person::new(&cluster, Identity::Operator),
            cluster,
        }
    }

    /// A leased cluster with one rollout, which nobody has approved.
    pub(crate) async fn with_rollout() -> Self {
        let world = Self::leased().await;
        world.operator.create(ROLLOUTS, &rollout(NAME)).await.unwrap();
        world
    }

    /// A leased cluster with one rollout, approved by alice, in this phase.
    pub(crate) async fn with_approved_rollout(phase: &str) -> Self {
        let world = Self::with_rollout().await;
        world.alice.merge(ROLLOUT, &approval_by(&world.alice)).await.unwrap();
        world.set_phase(phase).await;
        world
    }

    /// The operator reports a phase.
    pub(crate) async fn set_phase(&self, phase: &str) {
        let status = json!({"status": {"phase": phase}});
        self.operator.merge(&format!("{ROLLOUT}/status"), &status).await.unwrap();
    }

    /// The rollout as it is stored.
    pub(crate) async fn stored(&self) -> Value {
        self.admin.get(ROLLOUT).await.unwrap()
    }

    /// Asserts that a merge patch of the object is denied with these words, and that nothing of it changed.
    pub(crate) async fn assert_patch_denied(
        &self,
        path: &str,
        who: &Person,
        change: &Value,
        by: By,
        words: &str,
    ) {
        let object = path.trim_end_matches("/status");
        let before = self.admin.get(object).await.unwrap();
        assert_denied(who.merge(path, change).await, by, words);
        let after = self.admin.get(object).await.unwrap();
        assert_eq!(before, after, "a denied request changed the object: {change}");
    }

    /// Lets a person patch rollouts, so that RBAC does not answer before the policy does.
    pub(crate) async fn let_patch_rollouts(&self, who: &Person) {
        let rules = json!([{"apiGroups": ["operator.aicr.run"], "resources": ["runtimerollouts"], "verbs": ["get", "patch"]}]);
        self.grant("test-patches-rollouts", rules, who).await;
        self.wait_until_allowed(who, "patch", "runtimerollouts").await;
    }

    /// Binds a person to a new ClusterRole.
    pub(crate) async fn grant(&self, name: &str, rules: Value, who: &Person) {
        const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules,
        });
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": who.username}],
        });
        self.admin.create(&format!("{RBAC}/clusterroles"), &role).await.unwrap();
        self.admin.create(&format!("{RBAC}/clusterrolebindings"), &binding).await.unwrap();
    }

    /// Waits until the authorizer has seen a new grant.
    pub(crate) async fn wait_until_allowed(&self, who: &Person, verb: &str, resource: &str) {
        let attributes = json!({"group": "operator.aicr.run", "resource": resource, "verb": verb});
        wait_until(&format!("{} may {verb} {resource}", who.username), async || may(who, &attributes).await)
            .await;
    }

    /// Waits until `aicr-operator-approval` denies, or no longer denies, what only the operator may do.
    pub(crate) async fn wait_until_approval_policy_is_in_force(&self, in_force: bool) {
        let (path, probe) = (format!("{ROLLOUTS}?dryRun=All"), rollout("rollout-0000000000000000-1"));
        let what = format!("the approval policy in force is {in_force}");
        wait_until(&what, async || self.admin.create(&path, &probe).await.is_err() == in_force).await;
    }
}

/// Waits, for a minute at most, until something holds.
pub(crate) async fn wait_until(what: &str, holds: impl AsyncFn() -> bool) {
    let patience = Instant::now() + Duration::from_mins(1);
    while !holds().await {
        assert!(Instant::now() < patience, "a minute on, this still does not hold: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whether the authorizer lets a person do something, given as `resourceAttributes`.
async fn may(who: &Person, attributes: &Value) -> bool {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    });
    let answer = who.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review).await.unwrap();
    answer["status"]["allowed"] == true
}

/// Runs `helm install` or `helm upgrade` of the chart with the standard values, which must succeed.
pub(crate) async fn helm(cluster: &Cluster, verb: &str, release: &str, more: &[&str]) {
    let run = try_helm(cluster, verb, release, more).await;
    assert!(run.success, "helm {verb} {release} {more:?}: {}{}", run.stdout, run.stderr);
}

/// Runs `helm install` or `helm upgrade` of the chart with the standard values.
pub(crate) async fn try_helm(cluster: &Cluster, verb: &str, release: &str, more: &[&str]) -> HelmRun {
    let chart = test_support::chart_folder().display().to_string();
    let approvers = format!("approvers={}", test_support::standard_values()["approvers"]);
    let arguments = [verb, release, &chart, "--namespace", NAMESPACE, "--set-json", &approvers];
    cluster.helm(&[&arguments, more].concat()).await
}

/// A digest of the right form.
pub(crate) fn digest(digit: char) -> String {
    format!("sha256:{}", digit.to_string().repeat(64))
}

/// A rollout with two releases that wait for an acknowledgement and one that does not.
pub(crate) fn rollout(name: &str) -> Value {
    json!({
        "apiVersion": "operator.aicr.run/v1alpha1",
        "kind": "RuntimeRollout",
        "metadata": {
            "name": name,
            "labels": {
                "operator.aicr.run/runtime": "cluster",
                "operator.aicr.run/to-plan": "bbbbbbbbbbbbbbbb",
                "operator.aicr.run/transition": "3f9a1c0d2b7e4a51",
            },
        },
        "spec": {
            "schemaVersion": 1,
            "runtimeUID": "0b7f3f0a-6a0e-4f0e-9d52-1f6f5f1f2a10",
            "fromPlanDigest": digest('a'),
            "toPlanDigest": digest('b'),
            "startingInventoryDigest": digest('c'),
            "deadline": "2026-12-15T04:00:00Z",
            "actionTimeout": "30m0s",
            "approvalRequired": true,
            "steps": [
                {"release": "gpu-operator", "operation": "Upgrade", "assessment": "Safe"},
                {"release": "kai-scheduler", "operation": "Upgrade", "assessment": "Manual",
                 "postApplySteps": ["reset-breaker", "verify"]},
                {"release": "nvsentinel", "operation": "Upgrade", "assessment": "Manual",
                 "postApplySteps": ["verify"]},
            ],
        },
    })
}

/// A runtime.
pub(crate) fn runtime() -> Value {
    json!({
        "apiVersion": "operator.aicr.run/v1alpha1",
        "kind": "ClusterRuntime",
        "metadata": {"name": "cluster"},
        "spec": {
            "intent": "training",
            "placement": {
                "system": {"nodeSelector": {"example.com/pool": "system"}},
                "accelerated": {"nodeSelector": {"example.com/pool": "gpu"}},
            },
        },
    })
}

/// A patch that approves in this name.
pub(crate) fn approval_in_name(username: &str) -> Value {
    json!({"spec": {"approval": {
        "approvedBy": username, "expiresAt": "2026-12-15T04:00:00Z", "reason": "Maintenance window",
    }}})
}

/// A patch that approves in a person's own name.
pub(crate) fn approval_by(who: &Person) -> Value {
    approval_in_name(&who.username)
}

/// A patch that revokes in this name.
pub(crate) fn revocation_in_name(username: &str) -> Value {
    json!({"spec": {"approval": {
        "revokedBy": username, "revokedAt": "2026-12-01T04:00:00Z", "revokeReason": "Not checkpointed",
    }}})
}

/// A patch that makes the acknowledgements these pairs of release and username.
pub(crate) fn acknowledgements(given: &[(&str, &str)]) -> Value {
    let given: Vec<Value> = given
        .iter()
        .map(|(release, by)| {
            json!({"release": release, "acknowledgedBy": by, "acknowledgedAt": "2026-12-01T05:00:00Z"})
        })
        .collect();
    json!({"spec": {"approval": {"acknowledgements": given}}})
}
