//! The plugin's way to a real API server, next to the real kubectl's.
use std::path::Path;
use std::process::Command;

use k8s_openapi::api::authentication::v1::{SelfSubjectReview, UserInfo};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kubectl_aicr::api::{Code, keys};
use kubectl_aicr::cli::connection::{Connection, ConnectionArgs};
use kubectl_aicr::cli::env::Env;
use kubectl_aicr::cli::error::CliError;
use serde_json::{Value, json};
use test_support::{Cluster, Identity, NAMESPACE};

async fn open(args: &ConnectionArgs) -> Connection {
    Connection::open(args, &Env::default()).await.expect("a connection")
}

fn flags(kubeconfig: &Path, context: Identity) -> ConnectionArgs {
    ConnectionArgs {
        kubeconfig: Some(kubeconfig.to_owned()),
        context: Some(context.context().into()),
        ..ConnectionArgs::default()
    }
}

/// Who the API server takes the plugin for.
async fn whoami(connection: &Connection) -> UserInfo {
    let reviews: Api<SelfSubjectReview> = Api::all(connection.client());
    let (params, review) = (PostParams::default(), SelfSubjectReview::default());
    let answer = connection.call(reviews.create(&params, &review)).await.expect("a review");
    answer.status.and_then(|status| status.user_info).expect("a user")
}

/// Who the API server takes kubectl for, with the same kubeconfig and flags.
fn kubectl_whoami(env: (&str, &str), args: &[&str]) -> UserInfo {
    let kubectl = test_support::tools::kubectl().expect("kubectl");
    let output =
        Command::new(kubectl).env(env.0, env.1).args(["auth", "whoami", "-o", "json"]).args(args).output();
    let output = output.expect("kubectl runs");
    let review: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    serde_json::from_value(review["status"]["userInfo"].clone()).expect("a user")
}

/// Adds whom to act as to a user of a kubeconfig.
fn edit_user(kubeconfig: &Path, user: &str, fields: Value) {
    let text = std::fs::read_to_string(kubeconfig).expect("a kubeconfig");
    let mut config: Value = serde_yaml::from_str(&text).expect("YAML");
    let users = config["users"].as_array_mut().expect("users");
    let entry = users.iter_mut().find(|entry| entry["name"] == user).expect("the user");
    let Value::Object(fields) = fields else { panic!("fields") };
    entry["user"].as_object_mut().expect("fields").extend(fields);
    std::fs::write(kubeconfig, config.to_string()).expect("written");
}

#[tokio::test]
async fn the_server_sees_the_same_user_uid_groups_and_extras_through_the_plugin_as_through_kubectl() {
    let cluster = Cluster::lease().await;
    let kubeconfig = cluster.kubeconfig(&[Identity::Admin, Identity::Approver]);
    let path = kubeconfig.to_str().expect("UTF-8");
    let user = user_of(&kubeconfig, Identity::Admin);
    let acting = json!({
        "as": "carol", "as-uid": "c-1", "as-groups": ["team a", "team-b"],
        "as-user-extra": {"example.com/scope%": ["read", "write"], "plain": ["x"]},
    });
    edit_user(&kubeconfig, &user, acting);

    let seen = whoami(&open(&flags(&kubeconfig, Identity::Admin)).await).await;
    assert_eq!(seen, kubectl_whoami(("KUBECONFIG", path), &["--context", "admin"]));
    assert_eq!((seen.username.as_deref(), seen.uid.as_deref()), (Some("carol"), Some("c-1")));
    assert_eq!(seen.extra.expect("extras")["example.com/scope%"], ["read", "write"]);

    let mut args = flags(&kubeconfig, Identity::Admin);
    args.as_user = Some("dave".into());
    args.as_group = vec!["g".into()];
    let seen = whoami(&open(&args).await).await;
    let same = ["--context", "admin", "--as", "dave", "--as-group", "g"];
    assert_eq!(seen, kubectl_whoami(("KUBECONFIG", path), &same));

    let seen = whoami(&open(&flags(&kubeconfig, Identity::Approver)).await).await;
    assert_eq!(seen.username.as_deref(), Some(Identity::Approver.user()));
}

/// The name of the user of a context.
fn user_of(kubeconfig: &Path, identity: Identity) -> String {
    let text = std::fs::read_to_string(kubeconfig).expect("a kubeconfig");
    let config: Value = serde_yaml::from_str(&text).expect("YAML");
    let contexts = config["contexts"].as_array().expect("contexts");
    let context = contexts.iter().find(|context| context["name"] == identity.context()).expect("the context");
    context["context"]["user"].as_str().expect("a name").to_owned()
}

#[tokio::test]
async fn a_kubeconfig_list_with_a_missing_file_chooses_the_same_user_as_kubectl() {
    let cluster = Cluster::lease().await;
    let (first, second) =
        (cluster.kubeconfig(&[Identity::Approver]), cluster.kubeconfig(&[Identity::Editor, Identity::Admin]));
    let missing = cluster.folder().join("missing");
    let list = format!("{}::{}:{}", missing.display(), first.display(), second.display());
    let env: Env = [("KUBECONFIG", list.as_str())].into_iter().collect();
    for context in ["", "editor", "admin"] {
        let args = ConnectionArgs { context: Some(context.into()), ..ConnectionArgs::default() };
        let seen = whoami(&Connection::open(&args, &env).await.expect("a connection")).await;
        assert_eq!(seen, kubectl_whoami(("KUBECONFIG", &list), &["--context", context]), "{context}");
    }
}

/// What the API server refuses the plugin.
async fn refused<T>(connection: &Connection, request: impl Future<Output = kube::Result<T>>) -> CliError {
    match connection.call(request).await {
        Ok(_) => panic!("it was not refused"),
        Err(error) => error,
    }
}

fn runtimes(connection: &Connection) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(keys::GROUP, keys::VERSION, "ClusterRuntime");
    Api::all_with(connection.client(), &ApiResource::from_gvk(&kind))
}

#[tokio::test]
async fn what_the_server_refuses_has_a_code_and_the_servers_own_words() {
    let cluster = Cluster::lease().await;
    let kubeconfig = cluster.kubeconfig(&[Identity::Admin, Identity::Tenant]);
    let admin = open(&flags(&kubeconfig, Identity::Admin)).await;
    let maps: Api<ConfigMap> = Api::namespaced(admin.client(), NAMESPACE);
    let params = PostParams::default();

    let error = refused(&admin, maps.get("missing")).await;
    assert_eq!(error.to_string(), "[NOT_FOUND] configmaps \"missing\" not found");

    let forged = json!({"metadata": {"name": "forged", "labels": {keys::MANAGED_BY: keys::MANAGER}}});
    let forged: ConfigMap = serde_json::from_value(forged).expect("a ConfigMap");
    let error = refused(&admin, maps.create(&params, &forged)).await;
    assert_eq!((error.code, error.status), (Code::Unauthorized, Some(403)));
    let policy =
        "ValidatingAdmissionPolicy 'aicr-operator-configmaps' with binding 'aicr-operator-configmaps' denied";
    assert!(error.message.contains(policy), "{error}");

    let plain: ConfigMap =
        serde_json::from_value(json!({"metadata": {"name": "plain"}})).expect("a ConfigMap");
    let mut stale = admin.call(maps.create(&params, &plain)).await.expect("created");
    stale.metadata.resource_version = Some("1".into());
    let error = refused(&admin, maps.replace("plain", &params, &stale)).await;
    assert_eq!((error.code, error.status), (Code::Conflict, Some(409)), "{error}");

    let misnamed = json!({"apiVersion": "operator.aicr.run/v1alpha1", "kind": "ClusterRuntime",
                          "metadata": {"name": "other"}, "spec": {}});
    let misnamed: DynamicObject = serde_json::from_value(misnamed).expect("an object");
    let error = refused(&admin, runtimes(&admin).create(&params, &misnamed)).await;
    assert_eq!((error.code, error.status), (Code::InvalidRequest, Some(422)), "{error}");
}

#[tokio::test]
async fn a_denial_by_roles_tells_whom_the_request_acted_as() {
    let cluster = Cluster::lease().await;
    let kubeconfig = cluster.kubeconfig(&[Identity::Admin, Identity::Tenant]);
    let tenant = open(&flags(&kubeconfig, Identity::Tenant)).await;
    let error = refused(&tenant, runtimes(&tenant).get("cluster")).await;
    assert_eq!(error.code, Code::Unauthorized);
    assert!(error.message.contains("User \"mallory\" cannot get resource \"clusterruntimes\""), "{error}");

    let mut args = flags(&kubeconfig, Identity::Admin);
    args.as_user = Some("alice".into());
    let alone = open(&args).await;
    let error = refused(&alone, runtimes(&alone).get("cluster")).await;
    let expected = " (acting as user 'alice' with no groups (--as alone presents none; add --as-group))";
    assert!(error.code == Code::Unauthorized && error.message.ends_with(expected), "{error}");

    args.as_user = None;
    args.token = Some("stale".into());
    let stale = open(&args).await;
    let error = refused(&stale, runtimes(&stale).get("cluster")).await;
    assert_eq!(error.to_string(), "[UNAUTHORIZED] Unauthorized");
}

#[tokio::test]
async fn a_server_without_the_operators_definitions_is_told_from_a_missing_object() {
    let cluster = Cluster::bare().await;
    let admin = open(&flags(&cluster.kubeconfig(&[Identity::Admin]), Identity::Admin)).await;
    let error = refused(&admin, runtimes(&admin).get("cluster")).await;
    let expected = format!(
        "[NOT_FOUND] {} does not serve the operator's API (operator.aicr.run): install the operator's chart there, or \
         name another cluster with --context",
        admin.server()
    );
    assert_eq!(error.to_string(), expected);
}
