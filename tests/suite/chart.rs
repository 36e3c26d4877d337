//! What the chart renders, what it refuses, whom it gives which rights, and what survives it.

use std::collections::BTreeSet;
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};
use test_support::{Cluster, tools};

use crate::admission_kit::{
    APPROVAL, CONFIG_MAPS, NAME, Person, ROLLOUT, ROLLOUTS, World, approval_by, assert_denied, helm,
    revocation_in_name, rollout, try_helm, wait_until,
};

fn chart() -> String {
    test_support::chart_folder().display().to_string()
}

/// Renders the chart without a server. The error is what helm says.
fn render(namespace: &str, arguments: &[&str]) -> Result<Vec<Value>, String> {
    let output = Command::new(tools::path("helm").unwrap())
        .args(["template", "aicr-operator", &chart(), "--namespace", namespace])
        .args(["--kube-version", "1.37.2"])
        .args(arguments)
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8(output.stderr).unwrap());
    }
    let text = String::from_utf8(output.stdout).unwrap();
    Ok(serde_yaml::Deserializer::from_str(&text)
        .map(|document| Value::deserialize(document).unwrap())
        .filter(|document| !document.is_null())
        .collect())
}

fn of_kind<'a>(objects: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    objects.iter().filter(move |object| object["kind"] == kind)
}

fn full_name(object: &Value) -> String {
    format!("{} {}", object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap())
}

#[test]
fn values_that_the_chart_does_not_know_are_refused() {
    for (setting, words) in [
        ("approver.users={a}", "additional properties 'approver' not allowed"),
        ("approvers.people={a}", "additional properties 'people' not allowed"),
        ("operator.image=x", "additional properties 'image' not allowed"),
        ("approvers.users=alice", "got string, want array"),
        ("approvers.groups={}", "at '/approvers/groups/0': minLength: got 0, want 1"),
        ("operator.serviceAccountAnnotations.a=1", "got number, want string"),
    ] {
        let error = render("aicr-system", &["--set", setting]).expect_err(setting);
        assert!(error.contains(words), "{setting}: {error}");
    }
    // What Helm hands to every subchart.
    render("aicr-system", &["--set", "global.anything=x"]).unwrap();
}

#[test]
fn kubernetes_before_the_floor_is_refused() {
    let error = render("aicr-system", &["--kube-version", "1.33.9"]).unwrap_err();
    assert!(error.contains("chart requires kubeVersion: >=1.34.0-0"), "{error}");
    for version in ["1.34.0", "1.34.1-gke.100", "1.34.0-eks-3cfe0ce"] {
        render("aicr-system", &["--kube-version", version]).unwrap();
    }
}

#[test]
fn the_chart_passes_helms_own_lint() {
    let output =
        Command::new(tools::path("helm").unwrap()).args(["lint", "--strict", &chart()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn approvers_are_bound_to_both_roles_and_nobody_is_bound_without_any() {
    let is_binding = |object: &&Value| {
        object["kind"].as_str().unwrap().ends_with("RoleBinding")
            && object["metadata"]["name"] == "aicr-operator-approver"
    };
    let none = render("aicr-system", &[]).unwrap();
    assert_eq!(none.iter().filter(is_binding).count(), 0);

    let settings = [
        "--set",
        "approvers.users={alice@example.com,system:serviceaccount:ci:bot},approvers.groups={oidc:gpu}",
    ];
    let some = render("aicr-system", &settings).unwrap();
    let bindings: Vec<&Value> = some.iter().filter(is_binding).collect();
    let kinds: BTreeSet<&str> = bindings.iter().map(|binding| binding["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, BTreeSet::from(["ClusterRoleBinding", "RoleBinding"]));
    let group = "rbac.authorization.k8s.io";
    for binding in bindings {
        let expected = json!([
            {"apiGroup": group, "kind": "User", "name": "alice@example.com"},
            {"apiGroup": group, "kind": "User", "name": "system:serviceaccount:ci:bot"},
            {"apiGroup": group, "kind": "Group", "name": "oidc:gpu"},
        ]);
        assert_eq!(binding["subjects"], expected);
        assert_eq!(binding["roleRef"]["name"], "aicr-operator-approver");
    }
}

#[test]
fn what_must_survive_an_uninstall_is_marked_to_be_kept() {
    let objects = render("aicr-system", &[]).unwrap();
    let kept: BTreeSet<String> = objects
        .iter()
        .filter(|object| object["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep")
        .map(full_name)
        .collect();
    let expected = [
        "CustomResourceDefinition clusterruntimes.operator.aicr.run",
        "CustomResourceDefinition runtimerollouts.operator.aicr.run",
        "ValidatingAdmissionPolicy aicr-operator-approval",
        "ValidatingAdmissionPolicyBinding aicr-operator-approval",
    ];
    assert_eq!(kept, expected.map(str::to_owned).into());
}

#[test]
fn every_policy_fails_closed_is_bound_and_takes_no_parameters() {
    let objects = render("elsewhere", &[]).unwrap();
    let bound: BTreeSet<&str> = of_kind(&objects, "ValidatingAdmissionPolicyBinding")
        .map(|binding| {
            assert_eq!(binding["spec"]["validationActions"], json!(["Deny"]));
            assert!(
                binding["spec"].get("paramRef").is_none() && binding["spec"].get("matchResources").is_none()
            );
            binding["spec"]["policyName"].as_str().unwrap()
        })
        .collect();
    let mut policies = BTreeSet::new();
    for policy in of_kind(&objects, "ValidatingAdmissionPolicy") {
        let spec = &policy["spec"];
        assert_eq!(spec["failurePolicy"], "Fail");
        assert!(spec.get("paramKind").is_none());
        // The operator is the one of the release's namespace.
        let text = spec.to_string();
        assert!(
            text.contains("system:serviceaccount:elsewhere:aicr-operator") && !text.contains("aicr-system"),
            "{text}"
        );
        let mut messages = BTreeSet::new();
        for validation in spec["validations"].as_array().unwrap() {
            let expression = validation["expression"].as_str().unwrap();
            assert!(expression.matches(".check(").count() <= 2, "too costly: {expression}");
            let message = validation["message"].as_str().expect("every rule has words");
            assert!(messages.insert(message), "two rules with one message: {message}");
        }
        policies.insert(policy["metadata"]["name"].as_str().unwrap());
    }
    assert_eq!(
        policies,
        BTreeSet::from(["aicr-operator-approval", "aicr-operator-configmaps", "aicr-operator-runtime"])
    );
    assert_eq!(policies, bound);
}

#[test]
fn the_service_account_carries_the_given_annotations() {
    let role = "arn:aws:iam::123456789012:role/aicr-operator";
    let setting = format!("operator.serviceAccountAnnotations.eks\\.amazonaws\\.com/role-arn={role}");
    let objects = render("aicr-system", &["--set", &setting]).unwrap();
    let account = of_kind(&objects, "ServiceAccount").next().unwrap();
    assert_eq!(account["metadata"]["annotations"], json!({"eks.amazonaws.com/role-arn": role}));
}

/// Every right of a person in a namespace, as `verb resource.group`.
async fn rights(who: &Person, namespace: &str) -> BTreeSet<String> {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": namespace},
    });
    let answer = who.create("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", &review).await.unwrap();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut all = BTreeSet::new();
    for rule in answer["status"]["resourceRules"].as_array().unwrap() {
        for group in texts(&rule["apiGroups"]) {
            for resource in texts(&rule["resources"]) {
                for verb in texts(&rule["verbs"]) {
                    all.insert(format!("{verb} {resource}.{group}"));
                }
            }
        }
    }
    all
}

/// `verb resource` for each verb, with the group of the API.
fn grants(resource: &str, verbs: &[&str]) -> Vec<String> {
    verbs.iter().map(|verb| format!("{verb} {resource}.operator.aicr.run")).collect()
}

#[tokio::test]
async fn approvers_have_exactly_the_documented_rights() {
    let world = World::leased().await;
    let everywhere = [
        grants("runtimerollouts", &["get", "list", "watch", "patch"]),
        grants("runtimerollouts/approve", &["update"]),
        grants("clusterruntimes", &["get", "list", "watch"]),
    ]
    .concat();
    for (namespace, more) in [("aicr-system", vec!["get configmaps.".to_owned()]), ("default", vec![])] {
        let common = rights(&world.mallory, namespace).await;
        let own: BTreeSet<String> =
            rights(&world.alice, namespace).await.difference(&common).cloned().collect();
        assert_eq!(own, everywhere.iter().cloned().chain(more).collect(), "in {namespace}");
    }
}

#[tokio::test]
async fn the_operator_has_exactly_the_rights_that_it_uses() {
    let world = World::leased().await;
    // What every ServiceAccount may do.
    let groups = ["system:serviceaccounts", "system:serviceaccounts:aicr-system", "system:authenticated"];
    let other = world.admin.acting_as("system:serviceaccount:aicr-system:other", &groups);
    let all = ["get", "list", "watch", "create", "update", "patch", "delete"];
    let everywhere = [
        grants("clusterruntimes", &["get", "list", "watch", "patch"]),
        grants("clusterruntimes/status", &["update", "patch"]),
        grants("runtimerollouts", &all),
        grants("runtimerollouts/status", &["update", "patch"]),
    ]
    .concat();
    let config_maps = all.iter().map(|verb| format!("{verb} configmaps."));
    let lease = ["create", "get", "update"].iter().map(|verb| format!("{verb} leases.coordination.k8s.io"));
    let events = vec!["create events.events.k8s.io".to_owned()];
    for (namespace, more) in [("aicr-system", config_maps.chain(lease).collect()), ("default", events)] {
        let common = rights(&other, namespace).await;
        let own: BTreeSet<String> =
            rights(&world.operator, namespace).await.difference(&common).cloned().collect();
        assert_eq!(own, everywhere.iter().cloned().chain(more).collect(), "in {namespace}");
    }
}

#[tokio::test]
async fn the_edit_and_admin_roles_gain_nothing() {
    let world = World::leased().await;
    for role in ["edit", "admin", "view"] {
        let path = format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}");
        let rules = world.admin.get(&path).await.unwrap()["rules"].to_string();
        assert!(!rules.contains("operator.aicr.run"), "{role}: {rules}");
    }
}

/// Uninstalls the release.
async fn uninstall(cluster: &Cluster) {
    let run = cluster.helm(&["uninstall", "aicr-operator", "--namespace", "aicr-system", "--wait"]).await;
    assert!(run.success, "{}{}", run.stdout, run.stderr);
}

#[tokio::test]
async fn rollouts_stay_guarded_after_an_uninstall_and_are_taken_over_by_the_next_install() {
    let world = World::of(Cluster::private().await);
    world.operator.create(ROLLOUTS, &rollout(NAME)).await.unwrap();
    world.alice.merge(ROLLOUT, &approval_by(&world.alice)).await.unwrap();
    let before = world.stored().await;

    uninstall(&world.cluster).await;
    assert_eq!(world.stored().await, before, "an uninstall touches no rollout");
    assert_eq!(
        world
            .admin
            .get("/api/v1/namespaces/aicr-system/serviceaccounts/aicr-operator")
            .await
            .unwrap_err()
            .code,
        404
    );
    let forged = rollout("rollout-3f9a1c0d2b7e4a51-2");
    assert_denied(world.admin.create(ROLLOUTS, &forged).await, APPROVAL, "only the operator");

    let refused = try_helm(&world.cluster, "install", "another", &[]).await;
    assert!(!refused.success && refused.stderr.contains("invalid ownership metadata"), "{}", refused.stderr);

    helm(&world.cluster, "install", "aicr-operator", &[]).await;
    assert_eq!(world.stored().await, before, "an install touches no rollout");
    let world = World::of(world.cluster);
    world.wait_until_allowed(&world.bob, "patch", "runtimerollouts").await;
    world.bob.merge(ROLLOUT, &revocation_in_name(&world.bob.username)).await.unwrap();
    world.operator.create(ROLLOUTS, &forged).await.unwrap();
}

#[tokio::test]
async fn a_release_of_another_name_takes_the_kept_objects_over_when_told_to() {
    let world = World::of(Cluster::private().await);
    uninstall(&world.cluster).await;
    helm(&world.cluster, "install", "another", &["--take-ownership"]).await;
    let binding =
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/aicr-operator-approval";
    let binding = world.admin.get(binding).await.unwrap();
    assert_eq!(binding["metadata"]["annotations"]["meta.helm.sh/release-name"], "another");
    assert_denied(world.admin.create(ROLLOUTS, &rollout(NAME)).await, APPROVAL, "only the operator");
}

#[tokio::test]
async fn the_notes_warn_when_there_are_no_approvers() {
    let world = World::of(Cluster::private().await);
    let notes = ["get", "notes", "aicr-operator", "--namespace", "aicr-system"];
    let with = world.cluster.helm(&notes).await.stdout;
    assert!(with.contains("kubectl aicr help") && !with.contains("WARNING"), "{with}");
    helm(&world.cluster, "upgrade", "aicr-operator", &["--set", "approvers.groups=null"]).await;
    let without = world.cluster.helm(&notes).await.stdout;
    assert!(without.contains("WARNING: there are no approvers"), "{without}");
    // Helm removed the bindings.
    let binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/aicr-operator-approver";
    assert_eq!(world.admin.get(binding).await.unwrap_err().code, 404);
}

#[tokio::test]
async fn the_real_garbage_collector_ends_foreground_deletions() {
    let world = World::of(Cluster::private().await);
    world.cluster.start_controller_manager().await;
    world.operator.create(ROLLOUTS, &rollout(NAME)).await.unwrap();
    let plan = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "aicr-plan-a", "labels": {"operator.aicr.run/role": "plan"}},
    });
    world.operator.create(CONFIG_MAPS, &plan).await.unwrap();
    for path in [ROLLOUT, &format!("{CONFIG_MAPS}/aicr-plan-a")] {
        world.operator.delete(&format!("{path}?propagationPolicy=Foreground")).await.unwrap();
        wait_until(&format!("{path} is gone"), async || world.admin.get(path).await.is_err()).await;
    }
}
