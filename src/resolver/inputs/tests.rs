use proptest::prelude::*;
use serde_json::json;

use super::*;

fn spec() -> ClusterRuntimeSpec {
    serde_json::from_value(json!({
        "intent": "training", "platform": "kubeflow", "profile": "x",
        "criteria": {"service": "eks", "accelerator": "h100", "os": "ubuntu"},
        "placement": {
            "system": {"nodeSelector": {"pool": "system"}},
            "accelerated": {"nodeSelector": {"pool": "gpu"}, "tolerations": [{"key": "gpu", "operator": "Exists"}]},
        },
        "configuration": {"gke": {"tcpxoInterfaces": [
            {"interfaceName": "eth1", "network": "n1"}, {"interfaceName": "eth2", "network": "n2"},
        ]}},
        "overrides": [{"component": "b", "path": "p", "value": true}, {"component": "a", "path": "p", "value": 1}],
    }))
    .unwrap()
}

fn installation() -> Installation {
    Installation {
        aicr_version: "v1.0.0".to_owned(),
        aicr_image: "ghcr.io/nvidia/aicr@sha256:1".to_owned(),
        registry: "oci://registry.test/aicr".to_owned(),
    }
}

fn snapshot() -> SnapshotInput {
    SnapshotInput {
        day: "2026-11-30".to_owned(),
        accelerated: spec().placement.accelerated,
        image: installation().aicr_image,
        node_types: ["p5".to_owned()].into(),
        gpu_operator: Some(Digest::of_bytes(b"gpu")),
        token: Some("t".to_owned()),
    }
}

#[test]
fn the_digest_changes_with_every_input() {
    type Edit = fn(&mut ClusterRuntimeSpec, &mut Installation, &mut SnapshotInput);
    let edits: [Edit; 26] = [
        |spec, _, _| spec.intent = "inference".to_owned(),
        |spec, _, _| spec.platform = None,
        |spec, _, _| spec.profile = None,
        |spec, _, _| spec.criteria.as_mut().unwrap().service = None,
        |spec, _, _| spec.criteria.as_mut().unwrap().accelerator = Some("h200".to_owned()),
        |spec, _, _| spec.criteria.as_mut().unwrap().os = None,
        |spec, _, _| spec.placement.system.node_selector.clear(),
        |spec, _, _| spec.placement.accelerated.tolerations.clear(),
        |spec, _, _| spec.placement.accelerated.tolerations[0].operator = None,
        |spec, _, _| spec.placement.accelerated.tolerations[0].value = Some("v".to_owned()),
        |spec, _, _| {
            spec.placement.accelerated.tolerations[0].effect = Some(crate::api::TaintEffect::NoExecute);
        },
        |spec, _, _| spec.configuration = None,
        |spec, _, _| spec.configuration.as_mut().unwrap().gke.as_mut().unwrap().tcpxo_interfaces.reverse(),
        |spec, _, _| spec.overrides[0].value = json!("true"),
        |spec, _, _| spec.overrides[0].value = json!(null),
        |spec, _, _| spec.overrides[0].additive = true,
        |spec, _, _| spec.overrides.truncate(1),
        |_, installation, _| installation.aicr_version = "v1.1.2".to_owned(),
        |_, installation, _| installation.aicr_image.push('2'),
        |_, installation, _| installation.registry.push('2'),
        |_, _, snapshot| snapshot.day = "2026-12-01".to_owned(),
        |_, _, snapshot| snapshot.accelerated.node_selector.clear(),
        |_, _, snapshot| snapshot.node_types.clear(),
        |_, _, snapshot| snapshot.gpu_operator = None,
        |_, _, snapshot| snapshot.token = Some("u".to_owned()),
        |_, _, snapshot| snapshot.image.push('2'),
    ];
    let mut digests = BTreeSet::from([input_digest(&spec(), &installation(), Some(&snapshot()))]);
    digests.insert(input_digest(&spec(), &installation(), None));
    for edit in edits {
        let (mut spec, mut installation, mut snapshot) = (spec(), installation(), snapshot());
        edit(&mut spec, &mut installation, &mut snapshot);
        digests.insert(input_digest(&spec, &installation, Some(&snapshot)));
    }
    assert_eq!(digests.len(), edits.len() + 2);
}

#[test]
fn the_digest_does_not_change_with_what_is_no_input() {
    let edits: [fn(&mut ClusterRuntimeSpec); 11] = [
        |_| (),
        |spec| spec.overrides.reverse(),
        |spec| spec.paused = true,
        |spec| spec.suspend_engine = true,
        |spec| spec.deletion_policy = crate::api::DeletionPolicy::Delete,
        |spec| spec.rollout.deadline = crate::api::GoDuration::from_secs(1),
        |spec| spec.validation.deployment = crate::api::DeploymentValidation::Disabled,
        |spec| spec.selection.policy = crate::api::SelectionPolicy::Pinned,
        |spec| spec.adoption = Some(crate::api::Adoption::default()),
        |spec| spec.overrides[1].value = serde_json::from_str("1.0").unwrap(),
        |spec| spec.placement.accelerated.tolerations[0].value = Some(String::new()),
    ];
    let digest = input_digest(&spec(), &installation(), Some(&snapshot()));
    for (at, edit) in edits.into_iter().enumerate() {
        let mut spec = spec();
        edit(&mut spec);
        assert_eq!(input_digest(&spec, &installation(), Some(&snapshot())), digest, "edit {at}");
    }
    let bare = || {
        let mut spec = spec();
        (spec.platform, spec.profile, spec.criteria, spec.configuration) = (None, None, None, None);
        spec
    };
    let mut spelled = bare();
    spelled.platform = Some(String::new());
    spelled.profile = Some(String::new());
    spelled.criteria =
        Some(crate::api::Criteria { os: Some(String::new()), ..crate::api::Criteria::default() });
    spelled.configuration =
        Some(crate::api::Configuration { gke: Some(crate::api::GkeConfiguration::default()) });
    assert_eq!(input_digest(&spelled, &installation(), None), input_digest(&bare(), &installation(), None));
}

#[test]
fn a_change_that_needs_no_snapshot_takes_none() {
    let digest = StageInput::Snapshot(&snapshot()).digest(&installation());
    let mut elsewhere = installation();
    elsewhere.registry = "oci://other.test/aicr".to_owned();
    assert_eq!(StageInput::Snapshot(&snapshot()).digest(&elsewhere), digest);
    let mut other = snapshot();
    other.day = "2026-12-01".to_owned();
    assert_ne!(StageInput::Snapshot(&other).digest(&installation()), digest);
}

#[test]
fn a_token_acts_once_and_neither_its_removal_nor_its_return_acts() {
    let (none, one, two): (&[String], _, _) = (&[], ["a".to_owned()], ["a".to_owned(), "b".to_owned()]);
    for (requested, spent, counts) in [
        (None, none, None),
        (Some(""), none, None),
        (Some("a"), none, Some("a")),
        (Some("a"), &one[..], Some("a")),
        (None, &one[..], Some("a")),
        (Some("b"), &one[..], Some("b")),
        (Some("a"), &two[..], Some("b")),
    ] {
        assert_eq!(token(requested, spent).as_deref(), counts, "{requested:?} after {spent:?}");
    }
    assert_eq!(spent_after(none, None), none);
    assert_eq!(spent_after(&one, Some("b")), two);
    assert_eq!(spent_after(&two, Some("a")), two);
    let many: Vec<String> = (0..MAX_TOKENS).map(|at| at.to_string()).collect();
    let after = spent_after(&many, Some("new"));
    assert_eq!((after.len(), after[0].as_str(), after.last().unwrap().as_str()), (MAX_TOKENS, "1", "new"));
}

#[test]
fn a_day_is_one_of_utc_and_ends_at_midnight() {
    let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
    assert_eq!(utc_day(at("2026-11-30T23:59:59.999Z")), "2026-11-30");
    assert_eq!(utc_day(at("2026-12-01T00:30:00+02:00")), "2026-11-30");
    assert_eq!(next_day(at("2026-11-30T23:59:59Z")), Some(at("2026-12-01T00:00:00Z")));
    assert_eq!(next_day(at("2026-12-01T00:00:00Z")), Some(at("2026-12-02T00:00:00Z")));
}

#[test]
fn every_stage_has_its_own_input_and_its_names() {
    let (spec, snapshot, digest) = (spec(), snapshot(), Digest::of_bytes(b"recipe"));
    let flags = ["--deployer".to_owned(), "helm".to_owned()];
    let inputs = [
        StageInput::Snapshot(&snapshot),
        StageInput::ValidationSnapshot { rollout: "uid", accelerated: &snapshot.accelerated },
        StageInput::Recipe { spec: &spec, snapshot: Some(digest) },
        StageInput::BaseRender { recipe: digest, flags: &flags },
        StageInput::Render { recipe: digest, flags: &flags },
        StageInput::Render { recipe: digest, flags: &[] },
        StageInput::UpgradeCheck { from: digest, to: digest },
        StageInput::Validate { rollout: "uid" },
    ];
    let digests: BTreeSet<_> = inputs.iter().map(|input| input.digest(&installation())).collect();
    assert_eq!(digests.len(), inputs.len());
    let run = Run { stage: Stage::UpgradeCheck, input: Digest::of_bytes(b""), attempt: 3 };
    assert_eq!(run.job(), "aicr-upgrade-check-e3b0c44298fc1c14-3");
    assert_eq!(run.id(), "e3b0c44298fc1c14-3");
}

proptest! {
    #[test]
    fn a_token_that_acted_never_acts_again(requests in proptest::collection::vec(proptest::option::of("[a-d]"), 0..20)) {
        let mut spent = Vec::new();
        let mut acted = BTreeSet::new();
        let mut current = None;
        for requested in requests {
            let counts = token(requested.as_deref(), &spent);
            if counts != current {
                prop_assert!(acted.insert(counts.clone()), "{:?} acted twice", counts);
                spent = spent_after(&spent, counts.as_deref());
                current = counts;
            }
        }
    }
}
