//! Whole command lines as people read them, and what is refused.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::api::{NodeGroup, Override};

fn spec(change: impl FnOnce(&mut Value)) -> ClusterRuntimeSpec {
    let mut value = json!({
        "intent": "training",
        "placement": {
            "system": {"nodeSelector": {"example.com/pool": "system"}},
            "accelerated": {
                "nodeSelector": {"example.com/pool": "gpu", "a": "b"},
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            },
        },
    });
    change(&mut value);
    serde_json::from_value(value).unwrap()
}

fn file(path: &str) -> Reference {
    Reference::Path(path.to_owned())
}

fn configmap(name: &str) -> Reference {
    Reference::ConfigMap { namespace: "aicr-jobs".to_owned(), name: name.to_owned() }
}

fn line(args: Result<Vec<String>, CommandError>) -> String {
    args.unwrap().join(" ")
}

fn refused(args: Result<Vec<String>, CommandError>) -> (&'static str, String) {
    let error = args.unwrap_err();
    (error.reason.as_str(), error.message)
}

#[test]
fn snapshot_targets_the_accelerated_nodes_and_writes_into_its_own_namespace() {
    let spec = spec(|_| ());
    let snapshot = Snapshot {
        nodes: &spec.placement.accelerated,
        os: None,
        namespace: "aicr-discovery",
        image: "ghcr.io/nvidia/aicr@sha256:01",
        service_account: "aicr-snapshot-agent",
        requests: "",
        output: "out",
    };
    assert_eq!(
        line(snapshot.args()),
        "snapshot --namespace aicr-discovery --image ghcr.io/nvidia/aicr@sha256:01 --service-account-name aicr-snapshot-agent \
         --node-selector a=b --node-selector example.com/pool=gpu --toleration nvidia.com/gpu:NoSchedule --format yaml \
         --output cm://aicr-discovery/out"
    );
    let more = Snapshot { os: Some("talos"), requests: "cpu=100m,memory=128Mi", ..snapshot };
    assert!(line(more.args()).contains(" --os talos --requests cpu=100m,memory=128Mi --format "));
}

#[test]
fn recipe_passes_what_is_declared_and_nothing_else() {
    let (snapshot, output) = (file("/in/snapshot.yaml"), configmap("out"));
    let spec_of = |change: fn(&mut Value)| spec(change);
    let recipe =
        |spec: &ClusterRuntimeSpec| line(Recipe { spec, snapshot: Some(&snapshot), output: &output }.args());
    assert_eq!(
        recipe(&spec_of(|value| value["profile"] = json!(""))),
        "recipe --snapshot /in/snapshot.yaml --intent training --format json --output cm://aicr-jobs/out"
    );
    let all = spec_of(|value| {
        value["criteria"] = json!({"service": "gke", "accelerator": "h100", "os": "cos"});
        value["platform"] = json!("kubeflow");
        value["profile"] = json!("gke-default");
        value["configuration"] = json!({"gke": {"tcpxoInterfaces": [
            {"interfaceName": "eth2", "network": "b"}, {"interfaceName": "eth1", "network": "a"}]}});
    });
    assert_eq!(
        recipe(&all),
        "recipe --snapshot /in/snapshot.yaml --service gke --accelerator h100 --os cos --intent training --platform kubeflow \
         --profile gpuStack=gke-default --gke-tcpxo-interfaces eth2=b,eth1=a --format json --output cm://aicr-jobs/out"
    );
    let skipped = line(Recipe { spec: &all, snapshot: None, output: &output }.args());
    assert!(skipped.starts_with("recipe --service gke "), "{skipped}");
}

#[test]
fn the_recorded_flags_are_the_render_without_recipe_and_output() {
    let spec = spec(|value| {
        value["overrides"] = json!([
            {"component": "nfd", "path": "b", "value": 3},
            {"component": "gpu-operator", "path": "dcgmExporter.enabled", "value": false},
        ]);
    });
    let base = base_render_flags(&spec).unwrap();
    let flags = render_flags(&spec).unwrap();
    assert_eq!(
        base.join(" "),
        "--deployer helm --readiness-hooks --system-node-selector example.com/pool=system \
         --accelerated-node-selector a=b --accelerated-node-selector example.com/pool=gpu \
         --accelerated-node-toleration nvidia.com/gpu:NoSchedule"
    );
    assert_eq!(flags[..base.len()], base);
    assert_eq!(flags[base.len()..].join(" "), "--set gpu-operator:dcgmExporter.enabled=false --set nfd:b=3");
    let render = Render {
        recipe: &file("/in/recipe.json"),
        flags: &flags,
        output: &Reference::Oci("registry.example/aicr/bundles/cluster:run-1".to_owned()),
        image_refs: "/out/digest",
        plain_http: true,
    };
    assert_eq!(
        line(render.args()),
        format!(
            "bundle --recipe /in/recipe.json {} --output oci://registry.example/aicr/bundles/cluster:run-1 --image-refs /out/digest --plain-http",
            flags.join(" ")
        )
    );
}

#[test]
fn upgrade_check_asks_for_argo_cds_steps_and_does_not_fail_on_verdicts() {
    let check =
        UpgradeCheck { from: &file("/in/from.json"), to: &file("/in/to.json"), output: &configmap("out") };
    assert_eq!(
        line(check.args()),
        "upgrade-check --from /in/from.json --to /in/to.json --deployer argocd --format json --fail-on-error=false --output cm://aicr-jobs/out"
    );
}

#[test]
fn validate_signs_with_a_key_from_1_1_on_and_not_at_all_without_one() {
    let spec = spec(|_| ());
    let push = Reference::Oci("registry.example/aicr/evidence/cluster/run-1".to_owned());
    let validate = Validate {
        recipe: &file("/in/recipe.yaml"),
        snapshot: &file("/in/snapshot.yaml"),
        nodes: &spec.placement.accelerated,
        namespace: "aicr-validation",
        evidence: "/out",
        push: &push,
        signing: None,
        plain_http: false,
        output: &configmap("out"),
    };
    let (old, new) = (Version::parse("v1.0.9").unwrap(), Version::parse("v1.1.0").unwrap());
    let unsigned = "validate --recipe /in/recipe.yaml --snapshot /in/snapshot.yaml --phase deployment --namespace aicr-validation \
         --node-selector a=b --node-selector example.com/pool=gpu --toleration nvidia.com/gpu:NoSchedule --emit-attestation /out \
         --push registry.example/aicr/evidence/cluster/run-1 --no-sign --output cm://aicr-jobs/out";
    assert_eq!(line(validate.args(&old)), unsigned);
    let signing = Some(Signing { key: "awskms:///alias/x", transparency_log: false });
    let signed = Validate { signing, plain_http: true, ..validate };
    assert_eq!(
        line(signed.args(&new)),
        unsigned.replace("--no-sign", "--signing-key awskms:///alias/x --tlog-upload=false --plain-http")
    );
    assert_eq!(
        refused(signed.args(&old)),
        (
            "AICRInvalidRequest",
            "validation.signingKey needs AICR v1.1.0 or newer: upgrade AICR, or leave the key empty".into()
        )
    );
    let nowhere = Validate { push: &configmap("x"), ..validate };
    assert_eq!(refused(nowhere.args(&new)).1, "evidence cannot be pushed to cm://aicr-jobs/x");
}

fn toleration(value: &Value) -> Result<Vec<String>, CommandError> {
    let group = json!({"nodeSelector": {"a": "b"}, "tolerations": [value]});
    let group: NodeGroup = serde_json::from_value(group).unwrap();
    placement::tolerations("--t", &group.tolerations)
}

#[test]
fn tolerations_keep_their_meaning_or_are_refused() {
    for (value, flags) in [
        (json!({"key": "k", "operator": "Exists", "effect": "NoExecute"}), "--t k:NoExecute"),
        (json!({"key": "k", "value": "v", "effect": "NoSchedule"}), "--t k=v:NoSchedule"),
        (
            json!({"key": "k", "operator": "Equal", "value": "v"}),
            "--t k=v:NoSchedule --t k=v:PreferNoSchedule --t k=v:NoExecute",
        ),
        (json!({"operator": "Exists"}), "--t *"),
        (json!({"key": "", "operator": "Exists", "effect": "NoSchedule"}), "--t :NoSchedule"),
    ] {
        assert_eq!(line(toleration(&value)), flags, "{value}");
    }
    for (value, problem) in [
        (
            json!({"key": "k"}),
            "has operator Equal and an empty value, which AICR reads as Exists: use operator Exists, or set the value",
        ),
        (json!({"value": "v"}), "has operator Equal and no key: set the key, or use operator Exists"),
        (
            json!({"key": "k", "operator": "Exists", "value": "v"}),
            "has operator Exists and a value: remove one of them",
        ),
        (json!({"key": "a:b", "operator": "Exists"}), "has a key that is no label key"),
        (json!({"key": "a=b", "operator": "Exists"}), "has a key that is no label key"),
    ] {
        let (reason, message) = refused(toleration(&value));
        assert_eq!((reason, message), ("InvalidPlacement", format!("toleration 1 for --t {problem}")));
    }
}

fn overridden(component: &str, path: &str, value: Value) -> Override {
    Override { component: component.into(), path: path.into(), value, additive: false }
}

#[test]
fn every_override_keeps_its_type() {
    for (value, flags) in [
        (json!(true), "--set c:p=true"),
        (json!(-5), "--set c:p=-5"),
        (json!(u64::MAX), "--set-json c:p=18446744073709551615"),
        (json!(1.5), "--set-json c:p=1.5"),
        (json!("nvcr.io/nvidia:v1"), "--set c:p=nvcr.io/nvidia:v1"),
        (json!("true"), "--set-json c:p=\"true\""),
        (json!("False"), "--set-json c:p=\"False\""),
        (json!("8080"), "--set-json c:p=\"8080\""),
        (json!("1e3"), "--set-json c:p=\"1e3\""),
        (json!("Infinity"), "--set-json c:p=\"Infinity\""),
        (json!("NaN"), "--set-json c:p=\"NaN\""),
        (json!("no"), "--set-json c:p=\"no\""),
        (json!(""), "--set-json c:p=\"\""),
        (json!("a b"), "--set-json c:p=\"a b\""),
        (json!("a,b=c"), "--set-json c:p=\"a,b=c\""),
        (json!("-x"), "--set-json c:p=\"-x\""),
        (json!("x\u{0}"), "--set-json c:p=\"x\\u0000\""),
        (json!(null), "--set-json c:p=null"),
        (json!([1, "1"]), "--set-json c:p=[1,\"1\"]"),
        (json!({"b": null, "a": {"z": 1, "y": 2}}), "--set-json c:p={\"a\":{\"y\":2,\"z\":1},\"b\":null}"),
    ] {
        assert_eq!(line(overrides::flags(&[overridden("c", "p", value)])), flags);
    }
}

#[test]
fn overrides_that_flags_cannot_carry_are_refused_by_name() {
    let path = "has a path that AICR's flags cannot carry ('=', '[', ']', '\\' or white space): set the whole object that holds it";
    for (component, at, problem) in [
        ("a:b", "p", "names no component: expected lower-case letters, digits and '-'"),
        ("-a", "p", "names no component: expected lower-case letters, digits and '-'"),
        ("c", "a..b", "has a path with an empty part: expected keys joined by '.'"),
        ("c", "a.", "has a path with an empty part: expected keys joined by '.'"),
        ("c", "a=b", path),
        ("c", "a[0]", path),
        ("c", "a\\.b", path),
        ("c", "a b", path),
    ] {
        let (reason, message) = refused(overrides::flags(&[overridden(component, at, json!(1))]));
        assert_eq!((reason, message), ("InvalidOverride", format!("override {component}:{at} {problem}")));
    }
    let long = json!("x".repeat(MAX_ARGUMENT - 4));
    assert_eq!(
        refused(overrides::flags(&[overridden("c", "p", long)])),
        ("ContentTooLarge", "override c:p takes 131072 bytes: less than 131072 are allowed".into())
    );
}

#[test]
fn a_nul_character_is_refused_before_it_reaches_a_process() {
    let spec = spec(|value| value["platform"] = json!("a\u{0}b"));
    let args = Recipe { spec: &spec, snapshot: None, output: &configmap("out") }.args();
    assert_eq!(refused(args).1, "the value of --platform holds a NUL character: remove it");
}

#[test]
fn a_container_gets_dollars_that_kubernetes_reads_back_as_they_were() {
    let args = ["$(HOME)", "a$b", "$$", "plain"].map(str::to_owned);
    assert_eq!(container_args(&args), ["$$(HOME)", "a$$b", "$$$$", "plain"]);
}

/// How AICR types a value of `--set`, widely: what any reader could take for something else than a string counts.
fn set_reads_as_string(text: &str) -> bool {
    let number = text.parse::<f64>().is_ok() || text.parse::<i128>().is_ok();
    !number && !["true", "false"].contains(&text)
}

proptest! {
    #[test]
    fn a_string_is_only_set_when_it_stays_one_and_its_bytes_arrive(text in "[ -~]{0,12}|true|[0-9.eE+-]{1,6}|\\PC{0,6}") {
        let flags = overrides::flags(&[overridden("c", "p", json!(text))]).unwrap();
        let value = flags[1].strip_prefix("c:p=").unwrap();
        if flags[0] == "--set" {
            prop_assert!(value == text && set_reads_as_string(value));
        } else {
            prop_assert_eq!(serde_json::from_str::<String>(value).unwrap(), text);
        }
    }

    #[test]
    fn the_order_of_overrides_does_not_matter(paths in prop::collection::btree_set("[a-z]{1,3}(\\.[a-z]{1,2})?", 1..8), turn in 0_usize..8) {
        let mut list: Vec<Override> = paths.iter().map(|path| overridden("c", path, json!(path))).collect();
        let flags = overrides::flags(&list).unwrap();
        let middle = turn % list.len();
        list.rotate_left(middle);
        prop_assert_eq!(overrides::flags(&list).unwrap(), flags);
    }
}
