use super::*;
use crate::plan::canonical;
use crate::plan::fixtures::{digest, release, small};
use serde_json::json;

fn spec(spec: &Value) -> Digest {
    spec_digest(&json!({"spec": spec}))
}

#[test]
fn a_release_is_hashed_over_exactly_the_documented_members() {
    let mut release = release("gpu-operator", &["nfd", "cert-manager"]);
    release.owns_crds = true;
    let text = format!(
        concat!(
            r#"{{"chart":{{"digest":"{chart}","repository":"oci://registry.test/aicr/charts/gpu-operator"}},"#,
            r#""dependsOn":["cert-manager","nfd"],"#,
            r#""enginePolicy":{{"compareOptions":["ServerSideDiff=true"],"project":"aicr","prune":true,"#,
            r#""retry":{{"backoff":{{"duration":"5s","factor":2,"maxDuration":"3m"}},"limit":5}},"revisionHistoryLimit":2,"#,
            r#""selfHeal":true,"syncOptions":["RespectIgnoreDifferences=true","ServerSideApply=true"]}},"#,
            r#""id":"gpu-operator","kind":"release","ownsCRDs":true,"phase":"Primary","#,
            r#""targetNamespace":"gpu-operator","values":"{values}"}}"#
        ),
        chart = release.chart.digest,
        values = release.values.digest
    );
    assert_eq!(release_digest(&release), Digest::of_bytes(text.as_bytes()));
}

#[test]
fn a_digest_written_today_is_known_for_ever() {
    // Running clusters carry them: a change here is a new schema version.
    let planned = small();
    let digests = [
        planned.plan.digest(),
        release_digest(&planned.plan.releases[2]),
        planned.values["gpu-operator"].digest(),
        planned.values["nfd"].digest(),
    ];
    assert_eq!(
        digests.map(|digest| digest.to_string()),
        [
            "sha256:b4903ea4ce1c4577051a3a35fed42f42492eb16b038224d6f9188e5345e3b839",
            "sha256:0353f0ee49aac12ba162f0456b702ec6b5d34d0ebdf5763ea7db29bca0097c71",
            "sha256:fa1e2d23a59838efcd6ba6c9c8a1b062bab6c70832f83c4ade81b88191e63386",
            "sha256:734fec85e311e25c0550181e9630805a923f68253f8949c28b2cdc0d8643a77c",
        ]
    );
}

#[test]
fn a_spec_digest_covers_source_values_and_destination() {
    let base = json!({"project": "aicr", "source": {"repoURL": "oci://r/c", "path": ".", "targetRevision": "sha256:1",
        "helm": {"releaseName": "a", "valuesObject": {"a": 1}}}, "destination": {"server": "s", "namespace": "n"}});
    let same: [fn(&mut Value); 9] = [
        |spec| spec["project"] = json!("other"),
        |spec| spec["syncPolicy"] = json!({"automated": {}}),
        |spec| spec["ignoreDifferences"] = json!([{"kind": "A"}]),
        |spec| spec["source"]["chart"] = json!(""),
        |spec| spec["source"]["helm"]["parameters"] = json!([]),
        |spec| spec["source"]["helm"]["skipCrds"] = json!(false),
        |spec| spec["source"]["directory"] = json!({"recurse": false}),
        |spec| spec["sources"] = json!([]),
        |spec| spec["source"]["helm"]["valuesObject"]["a"] = serde_json::from_str("1.0").unwrap(),
    ];
    for (index, edit) in same.into_iter().enumerate() {
        let mut edited = base.clone();
        edit(&mut edited);
        assert_eq!(spec(&edited), spec(&base), "edit {index}");
    }
    let others: [fn(&mut Value); 12] = [
        |spec| spec["source"]["targetRevision"] = json!("sha256:2"),
        |spec| spec["source"]["repoURL"] = json!("oci://r/d"),
        |spec| spec["source"]["helm"]["valuesObject"]["extra"] = json!(1),
        |spec| spec["source"]["helm"]["valuesObject"]["extra"] = json!(null),
        |spec| spec["source"]["helm"]["valuesObject"]["extra"] = json!({}),
        |spec| spec["source"]["helm"]["valuesObject"]["extra"] = json!(""),
        |spec| spec["source"]["helm"]["parameters"] = json!([{"name": "a", "value": "null"}]),
        |spec| spec["source"]["helm"]["values"] = json!("a: 2"),
        |spec| spec["source"]["fromALaterVersion"] = json!(1),
        |spec| spec["sources"] = json!([{"repoURL": "x"}]),
        |spec| spec["destination"]["namespace"] = json!("other"),
        |spec| drop(spec.as_object_mut().unwrap().remove("source")),
    ];
    for (index, edit) in others.into_iter().enumerate() {
        let mut edited = base.clone();
        edit(&mut edited);
        assert_ne!(spec(&edited), spec(&base), "edit {index}");
    }
}

#[test]
fn anything_has_a_spec_digest() {
    let empty = spec_digest(&json!({}));
    for odd in [
        json!(null),
        json!([]),
        json!({"spec": null}),
        json!({"spec": []}),
        json!({"spec": {"source": null}}),
    ] {
        assert_eq!(spec_digest(&odd), empty, "{odd}");
    }
    assert_ne!(spec_digest(&json!({"spec": {"source": "text"}})), empty);
}

#[test]
fn numbers_in_normal_form_are_equal_in_memory_too() {
    let one = plain_numbers(&serde_json::from_str(r#"{"a":[1.0,-0.0],"b":9007199254740993}"#).unwrap());
    let other = plain_numbers(&serde_json::from_str(r#"{"a":[1,0],"b":9007199254740992}"#).unwrap());
    assert_eq!(one, other);
    assert_eq!(canonical::to_string(&one), r#"{"a":[1,0],"b":9007199254740992}"#);
}

#[test]
fn an_inventory_is_hashed_whatever_the_order_of_its_entries() {
    let entry = |id: &str| InventoryEntry {
        release_id: id.to_owned(),
        name: id.to_owned(),
        uid: format!("uid-{id}"),
        plan_digest: digest("plan").to_string(),
        revision: digest(id).to_string(),
        spec_digest: digest("spec").to_string(),
    };
    let inventory = inventory_digest(&[entry("b"), entry("a")]);
    assert_eq!(inventory_digest(&[entry("a"), entry("b")]), inventory);
    let edits: [fn(&mut InventoryEntry); 6] = [
        |entry| entry.release_id = "c".to_owned(),
        |entry| entry.name = "c".to_owned(),
        |entry| entry.uid = "c".to_owned(),
        |entry| entry.plan_digest.clear(),
        |entry| entry.revision.clear(),
        |entry| entry.spec_digest = digest("c").to_string(),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        let mut edited = entry("a");
        edit(&mut edited);
        assert_ne!(inventory_digest(&[edited, entry("b")]), inventory, "edit {index}");
    }
    assert_ne!(inventory_digest(&[entry("a")]), inventory);
    assert_ne!(inventory_digest(&[]), inventory);
}

#[test]
fn an_inventory_entry_is_read_from_an_application() {
    let application = json!({"metadata": {"name": "nfd", "uid": "u1",
            "annotations": {"operator.aicr.run/release-id": "nfd", "operator.aicr.run/plan-digest": "sha256:p"}},
        "spec": {"source": {"targetRevision": "sha256:r"}}});
    let entry = inventory_entry(&application);
    assert_eq!((entry.release_id.as_str(), entry.name.as_str(), entry.uid.as_str()), ("nfd", "nfd", "u1"));
    assert_eq!((entry.plan_digest.as_str(), entry.revision.as_str()), ("sha256:p", "sha256:r"));
    assert_eq!(entry.spec_digest, spec_digest(&application).to_string());
    assert_eq!(inventory_entry(&json!(null)).name, "");
}
