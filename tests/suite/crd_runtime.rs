//! The rules and bounds of ClusterRuntime, judged by the API server. Source: api-reference, "ClusterRuntime".

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use test_support::{Cluster, Identity};

use crate::crd_kit::{Admits, Case, Denies, api, digest, judge_creates, judge_updates, object, runtime};

fn spec(value: &mut Value) -> &mut Value {
    &mut value["spec"]
}

#[tokio::test]
async fn the_runtime_is_a_singleton_with_required_intent_and_placement() {
    let cases: &[Case] = &[
        ("the smallest runtime", |_| {}, Admits),
        ("another name", |v| v["metadata"]["name"] = "other".into(), Denies("its name is cluster")),
        ("no intent", |v| spec(v)["intent"] = Value::Null, Denies("spec.intent")),
        ("an empty intent", |v| spec(v)["intent"] = "".into(), Denies("spec.intent")),
        ("an intent of 63 characters", |v| spec(v)["intent"] = "i".repeat(63).into(), Admits),
        (
            "an intent of 64 characters",
            |v| spec(v)["intent"] = "i".repeat(64).into(),
            Denies("may not be more than 63"),
        ),
        ("no placement", |v| spec(v)["placement"] = Value::Null, Denies("spec.placement")),
        ("empty optional criteria", |v| spec(v)["platform"] = "".into(), Admits),
        (
            "a platform of 64 characters",
            |v| spec(v)["platform"] = "p".repeat(64).into(),
            Denies("may not be more than 63"),
        ),
        (
            "a profile of 64 characters",
            |v| spec(v)["profile"] = "p".repeat(64).into(),
            Denies("may not be more than 63"),
        ),
        (
            "criteria",
            |v| spec(v)["criteria"] = json!({"service": "eks", "accelerator": "h100", "os": "ubuntu"}),
            Admits,
        ),
        (
            "a long criterion",
            |v| spec(v)["criteria"] = json!({"os": "u".repeat(64)}),
            Denies("may not be more than 63"),
        ),
        (
            "an unknown enum value",
            |v| spec(v)["deletionPolicy"] = "Keep".into(),
            Denies("supported values: \"Orphan\", \"Delete\""),
        ),
    ];
    let cluster = Cluster::lease().await;
    judge_creates(&api(cluster.client(Identity::Editor), "ClusterRuntime"), runtime, cases).await;
}

#[tokio::test]
async fn node_selectors_differ_and_are_kubernetes_labels() {
    fn selector(value: &mut Value) -> &mut Value {
        &mut value["spec"]["placement"]["accelerated"]["nodeSelector"]
    }
    fn many(count: usize) -> Value {
        (0..count)
            .map(|index| (format!("example.com/key-{index}"), Value::from("v")))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
    let cases: &[Case] = &[
        (
            "equal selectors",
            |v| *selector(v) = json!({"pool": "system"}),
            Denies("node selectors must differ"),
        ),
        ("one more entry", |v| *selector(v) = json!({"pool": "system", "gpu": "yes"}), Admits),
        ("an empty selector", |v| *selector(v) = json!({}), Denies("at least 1")),
        ("16 entries", |v| *selector(v) = many(16), Admits),
        ("17 entries", |v| *selector(v) = many(17), Denies("at most 16")),
        ("a prefixed key", |v| *selector(v) = json!({"example.com/pool": "gpu"}), Admits),
        ("an empty value", |v| *selector(v) = json!({"gpu": ""}), Admits),
        (
            "a value of 64 characters",
            |v| *selector(v) = json!({"gpu": "v".repeat(64)}),
            Denies("may not be more than 63"),
        ),
        ("a value with a blank", |v| *selector(v) = json!({"gpu": "a b"}), Denies("should match")),
        (
            "a key with a blank",
            |v| *selector(v) = json!({"a b": "c"}),
            Denies("must be Kubernetes label keys"),
        ),
        (
            "a key name of 64 characters",
            |v| *selector(v) = json!({"k".repeat(64): "c"}),
            Denies("must be Kubernetes label keys"),
        ),
        (
            "a bad prefix",
            |v| *selector(v) = json!({"Example_/k": "c"}),
            Denies("must be Kubernetes label keys"),
        ),
    ];
    let cluster = Cluster::lease().await;
    judge_creates(&api(cluster.client(Identity::Editor), "ClusterRuntime"), runtime, cases).await;
}

#[tokio::test]
async fn tolerations_and_network_interfaces_are_bounded_and_unique() {
    fn tolerations(value: &mut Value) -> &mut Value {
        &mut value["spec"]["placement"]["accelerated"]["tolerations"]
    }
    fn interfaces(value: &mut Value, list: Value) {
        value["spec"]["configuration"] = json!({"gke": {"tcpxoInterfaces": list}});
    }
    fn numbered(count: usize) -> Value {
        (0..count).map(|index| json!({"interfaceName": format!("eth{index}"), "network": "n"})).collect()
    }
    let cases: &[Case] = &[
        (
            "a toleration",
            |v| {
                *tolerations(v) =
                    json!([{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}])
            },
            Admits,
        ),
        ("16 tolerations", |v| *tolerations(v) = vec![json!({"operator": "Exists"}); 16].into(), Admits),
        (
            "17 tolerations",
            |v| *tolerations(v) = vec![json!({"operator": "Exists"}); 17].into(),
            Denies("at most 16"),
        ),
        (
            "an unknown operator",
            |v| *tolerations(v) = json!([{"operator": "Gt"}]),
            Denies("supported values"),
        ),
        ("an unknown effect", |v| *tolerations(v) = json!([{"effect": "Never"}]), Denies("supported values")),
        ("interfaces", |v| interfaces(v, numbered(8)), Admits),
        ("16 interfaces", |v| interfaces(v, numbered(16)), Admits),
        ("17 interfaces", |v| interfaces(v, numbered(17)), Denies("at most 16")),
        (
            "an interface twice",
            |v| {
                interfaces(
                    v,
                    json!([{"interfaceName": "eth1", "network": "a"}, {"interfaceName": "eth1", "network": "b"}]),
                )
            },
            Denies("unique by interfaceName"),
        ),
        (
            "a long interface name",
            |v| interfaces(v, json!([{"interfaceName": "e".repeat(16), "network": "a"}])),
            Denies("may not be more than 15"),
        ),
        (
            "a long network",
            |v| interfaces(v, json!([{"interfaceName": "eth1", "network": "n".repeat(64)}])),
            Denies("may not be more than 63"),
        ),
    ];
    let cluster = Cluster::lease().await;
    judge_creates(&api(cluster.client(Identity::Editor), "ClusterRuntime"), runtime, cases).await;
}

#[tokio::test]
async fn a_plan_is_pinned_if_and_only_if_the_policy_says_so() {
    fn selection(value: &mut Value, policy: &str, pinned: &str) {
        value["spec"]["selection"] = json!({"policy": policy, "pinnedPlanDigest": pinned});
    }
    let cases: &[Case] = &[
        ("automatic", |v| v["spec"]["selection"] = json!({"policy": "Automatic"}), Admits),
        ("automatic, empty digest", |v| selection(v, "Automatic", ""), Admits),
        ("pinned", |v| selection(v, "Pinned", &digest('a')), Admits),
        (
            "pinned, no digest",
            |v| v["spec"]["selection"] = json!({"policy": "Pinned"}),
            Denies("if and only if policy is Pinned"),
        ),
        ("pinned, empty digest", |v| selection(v, "Pinned", ""), Denies("if and only if policy is Pinned")),
        (
            "automatic with a digest",
            |v| selection(v, "Automatic", &digest('a')),
            Denies("if and only if policy is Pinned"),
        ),
        (
            "only a digest",
            |v| v["spec"]["selection"] = json!({"pinnedPlanDigest": digest('a')}),
            Denies("if and only if policy is Pinned"),
        ),
        ("no digest's form", |v| selection(v, "Pinned", "sha256:abc"), Denies("should match")),
        ("upper case", |v| selection(v, "Pinned", &digest('A')), Denies("should match")),
        (
            "a plan's ConfigMap",
            |v| selection(v, "Pinned", "aicr-plan-0123456789abcdef"),
            Denies("should match"),
        ),
    ];
    let cluster = Cluster::lease().await;
    judge_creates(&api(cluster.client(Identity::Editor), "ClusterRuntime"), runtime, cases).await;
}

#[tokio::test]
async fn overrides_are_unique_typed_and_bounded() {
    fn overrides(value: &mut Value, list: Value) {
        value["spec"]["overrides"] = list;
    }
    fn one(path: &str, value: Value) -> Value {
        json!([{"component": "gpu-operator", "path": path, "value": value}])
    }
    fn numbered(count: usize) -> Value {
        (0..count)
            .map(|index| json!({"component": "c", "path": format!("p{index}"), "value": index}))
            .collect()
    }
    let cases: &[Case] = &[
        ("a boolean", |v| overrides(v, one("a.b", false.into())), Admits),
        ("a string", |v| overrides(v, one("a.b", "true".into())), Admits),
        ("a number", |v| overrides(v, one("a.b", json!(1.5))), Admits),
        ("an object", |v| overrides(v, one("a.b", json!({"c": [1, null]}))), Admits),
        (
            "additive",
            |v| overrides(v, json!([{"component": "c", "path": "p", "value": 1, "additive": true}])),
            Admits,
        ),
        ("no value", |v| overrides(v, json!([{"component": "c", "path": "p"}])), Denies("value")),
        ("no component", |v| overrides(v, json!([{"path": "p", "value": 1}])), Denies("component")),
        ("an empty path", |v| overrides(v, one("", 1.into())), Denies("path")),
        ("a path of 256 characters", |v| overrides(v, one(&"p".repeat(256), 1.into())), Admits),
        (
            "a path of 257 characters",
            |v| overrides(v, one(&"p".repeat(257), 1.into())),
            Denies("may not be more than 256"),
        ),
        ("64 overrides", |v| overrides(v, numbered(64)), Admits),
        ("65 overrides", |v| overrides(v, numbered(65)), Denies("at most 64")),
        (
            "the same path twice",
            |v| {
                overrides(
                    v,
                    json!([{"component": "c", "path": "p", "value": 1}, {"component": "c", "path": "p", "value": 2}]),
                )
            },
            Denies("unique by component and path"),
        ),
        (
            "the same path of two components",
            |v| {
                overrides(
                    v,
                    json!([{"component": "c", "path": "p", "value": 1}, {"component": "d", "path": "p", "value": 1}]),
                )
            },
            Admits,
        ),
    ];
    let cluster = Cluster::lease().await;
    judge_creates(&api(cluster.client(Identity::Editor), "ClusterRuntime"), runtime, cases).await;
}

#[tokio::test]
async fn durations_are_gos_and_not_senseless() {
    fn timing(value: &mut Value, field: &str, duration: &str) {
        value["spec"]["rollout"] = json!({field: duration});
    }
    let cases: &[Case] = &[
        ("an hour and a half", |v| timing(v, "deadline", "1h30m"), Admits),
        ("no stabilization", |v| timing(v, "stabilizationWindow", "0s"), Admits),
        ("a bare zero", |v| timing(v, "stabilizationWindow", "0"), Admits),
        ("a negative window", |v| timing(v, "stabilizationWindow", "-1s"), Denies("stabilizationWindow")),
        (
            "no action timeout",
            |v| timing(v, "actionTimeout", "0s"),
            Denies("actionTimeout must be a duration above zero"),
        ),
        ("no deadline", |v| timing(v, "deadline", "0h"), Denies("deadline must be a duration above zero")),
        ("a word", |v| timing(v, "deadline", "soon"), Denies("should match")),
        ("a number without unit", |v| timing(v, "deadline", "90"), Denies("should match")),
        ("days", |v| timing(v, "deadline", "1d"), Denies("should match")),
        ("more than 292 years", |v| timing(v, "deadline", "9999999h"), Denies("deadline")),
        ("a very long text", |v| timing(v, "deadline", &"1h".repeat(40)), Denies("may not be more than 32")),
    ];
    let cluster = Cluster::lease().await;
    judge_creates(&api(cluster.client(Identity::Editor), "ClusterRuntime"), runtime, cases).await;
}

#[tokio::test]
async fn an_adopted_runtime_is_named_by_its_uid() {
    fn adopt(value: &mut Value, uid: &str) {
        value["spec"]["adoption"] = json!({"runtimeUID": uid});
    }
    let cases: &[Case] = &[
        ("a UID", |v| adopt(v, "7f0e4a1c-0000-4000-8000-000000000001"), Admits),
        ("empty", |v| adopt(v, ""), Admits),
        ("a name", |v| adopt(v, "cluster"), Denies("should match")),
        ("a UID and more", |v| adopt(v, "7f0e4a1c-0000-4000-8000-0000000000012"), Denies("36")),
    ];
    let cluster = Cluster::lease().await;
    judge_creates(&api(cluster.client(Identity::Editor), "ClusterRuntime"), runtime, cases).await;
}

#[tokio::test]
async fn defaults_are_those_of_the_reference_page() {
    let cluster = Cluster::lease().await;
    let runtimes = api(cluster.client(Identity::Editor), "ClusterRuntime");
    let created = runtimes.create(&PostParams::default(), &object(runtime())).await.unwrap();
    let spec = &created.data["spec"];
    assert_eq!(spec["selection"], json!({"policy": "Automatic"}));
    assert_eq!(
        spec["rollout"],
        json!({"stabilizationWindow": "10m0s", "actionTimeout": "30m0s", "deadline": "6h0m0s"})
    );
    assert_eq!(spec["validation"], json!({"deployment": "Required"}));
    assert_eq!(spec["deletionPolicy"], "Orphan");
    let read: kubectl_aicr::api::ClusterRuntimeSpec = serde_json::from_value(spec.clone()).unwrap();
    assert!(!read.paused && !read.suspend_engine && read.overrides.is_empty());
    let partial = json!({"apiVersion": "operator.aicr.run/v1alpha1", "kind": "ClusterRuntime",
                         "spec": {"rollout": {"deadline": "2h"}}});
    let patched = runtimes.patch("cluster", &PatchParams::default(), &Patch::Merge(&partial)).await.unwrap();
    assert_eq!(patched.data["spec"]["rollout"]["deadline"], "2h");
    assert_eq!(patched.data["spec"]["rollout"]["actionTimeout"], "30m0s");
}

#[tokio::test]
async fn the_spec_stays_mutable_and_the_largest_runtime_is_admitted_and_updated() {
    fn largest() -> Value {
        let mut value = runtime();
        let overrides: Vec<Value> = (0..64)
            .map(|index| {
                let path = format!("{index:02}{}", "p".repeat(254));
                json!({"component": "c".repeat(63), "path": path, "value": "v".repeat(1024), "additive": true})
            })
            .collect();
        let labels: serde_json::Map<String, Value> = (0..16)
            .map(|index| {
                (format!("{}.example/{}{index:02}", "d".repeat(60), "k".repeat(61)), "v".repeat(63).into())
            })
            .collect();
        let toleration = json!({"key": format!("{}/{}", "a".repeat(63), "k".repeat(63)), "operator": "Equal",
                                "value": "v".repeat(63), "effect": "PreferNoSchedule"});
        let spec = &mut value["spec"];
        spec["overrides"] = overrides.into();
        spec["placement"]["system"] = json!({"nodeSelector": labels, "tolerations": vec![toleration; 16]});
        spec["configuration"] = json!({"gke": {"tcpxoInterfaces": (0..16).map(|index| {
            json!({"interfaceName": format!("e{index:014}"), "network": "n".repeat(63)})
        }).collect::<Vec<_>>()}});
        value
    }
    let cluster = Cluster::lease().await;
    let runtimes = api(cluster.client(Identity::Editor), "ClusterRuntime");
    runtimes.create(&PostParams::default(), &object(largest())).await.unwrap();
    let cases: &[Case] = &[
        ("the last override's value", |v| v["spec"]["overrides"][63]["value"] = "other".into(), Admits),
        ("intent", |v| v["spec"]["intent"] = "inference".into(), Admits),
        ("paused", |v| v["spec"]["paused"] = true.into(), Admits),
        (
            "a duplicate at the end",
            |v| v["spec"]["overrides"][63] = v["spec"]["overrides"][0].clone(),
            Denies("unique by component and path"),
        ),
    ];
    judge_updates(&runtimes, "cluster", cases).await;
}

#[tokio::test]
async fn short_names_and_printer_columns_are_served() {
    let cluster = Cluster::lease().await;
    let client = cluster.client(Identity::Admin);
    let request = http::Request::get("/apis/operator.aicr.run/v1alpha1").body(Vec::new()).unwrap();
    let resources: Value = client.request(request).await.unwrap();
    let short: Vec<&Value> =
        resources["resources"].as_array().unwrap().iter().filter_map(|r| r.get("shortNames")).collect();
    assert!(
        short.len() == 2 && short.contains(&&json!(["aicrrt"])) && short.contains(&&json!(["aicrro"])),
        "{short:?}"
    );
    for (plural, wide, columns) in [
        ("clusterruntimes", 0, vec!["Name", "Ready", "Reason", "Available", "Stalled", "Rollout", "Age"]),
        ("clusterruntimes", 1, vec!["AICR", "Active Plan"]),
        ("runtimerollouts", 0, vec!["Name", "Phase", "Approval", "To Plan", "Deadline", "Age"]),
    ] {
        let request = http::Request::get(format!("/apis/operator.aicr.run/v1alpha1/{plural}"))
            .header("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
            .body(Vec::new())
            .unwrap();
        let table: Value = client.request(request).await.unwrap();
        let definitions = table["columnDefinitions"].as_array().unwrap();
        let shown = definitions.iter().filter(|column| column["priority"] == wide);
        assert_eq!(
            shown.map(|column| column["name"].as_str().unwrap()).collect::<Vec<_>>(),
            columns,
            "{plural}"
        );
    }
}
