//! Plans through a real API server: what it stores and hands back has the digests that were written.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]
use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kubectl_aicr::api::keys;
use kubectl_aicr::plan::application::application;
use kubectl_aicr::plan::configmap::{
    PlanRef, RecipeKind, read_plan, read_recipe, read_values, recipe_ref, write_plan, write_recipe,
    write_values,
};
use kubectl_aicr::plan::identity::{inventory_digest, inventory_entry, spec_digest};
use kubectl_aicr::plan::rebuild::{RebuildError, Rebuilt, Request, rebuild};
use kubectl_aicr::plan::sealed::MAX_PLAN_BYTES;
use kubectl_aicr::plan::values::MAX_VALUES_BYTES;
use kubectl_aicr::plan::{Plan, canonical};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use test_support::{Cluster, Identity, NAMESPACE};

use crate::fixtures::{
    HARD_NUMBERS, Planned, RECIPE, RUNTIME_UID, any_planned, document, large, planned, release, small, values,
};

const ENGINE_NAMESPACE: &str = "argocd";

/// Applications of the engine namespace, which is made.
async fn engine(client: Client) -> Api<DynamicObject> {
    let namespace = serde_json::from_value(json!({"metadata": {"name": ENGINE_NAMESPACE}})).unwrap();
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    let kind = GroupVersionKind::gvk("argoproj.io", "v1alpha1", "Application");
    Api::namespaced_with(client, ENGINE_NAMESPACE, &ApiResource::from_gvk(&kind))
}

fn raw(objects: &[DynamicObject]) -> Vec<Value> {
    objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect()
}

fn written(planned: &Planned) -> Vec<Value> {
    let of = |id: &String| application(&planned.plan, id, &planned.values[id], ENGINE_NAMESPACE).unwrap();
    planned.plan.releases.iter().map(|release| of(&release.id)).collect()
}

/// Writes each Application with a method of its own, one after the other, and reads all of them back.
async fn through(engine: &Api<DynamicObject>, planned: &Planned) -> Vec<Value> {
    for (index, object) in written(planned).into_iter().enumerate() {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        if index % 2 == 0 {
            let object: DynamicObject = serde_json::from_value(object).unwrap();
            engine.create(&PostParams::default(), &object).await.unwrap();
        } else {
            engine.patch(&name, &PatchParams::apply("test").force(), &Patch::Apply(&object)).await.unwrap();
        }
    }
    raw(&engine.list(&ListParams::default()).await.unwrap().items)
}

fn rebuilt(objects: &[Value], planned: &Planned) -> Result<Rebuilt, RebuildError> {
    let request = Request {
        owner_uid: RUNTIME_UID,
        runtime_uid: RUNTIME_UID,
        operator_version: "1.3.0",
        digest: Some(planned.plan.digest()),
        releases: &[],
    };
    rebuild(objects, &request)
}

/// Asserts that what was read is what was written, to every digest.
fn assert_survived(objects: &[Value], planned: &Planned) {
    let rebuilt = rebuilt(objects, planned).unwrap_or_else(|error| panic!("{error}\n{planned:#?}"));
    assert_eq!(rebuilt.plan.digest(), planned.plan.digest());
    assert_eq!(rebuilt.values, planned.values);
    let specs = |objects: &[Value]| -> BTreeMap<String, String> {
        let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
        objects.iter().map(|object| (name(object), spec_digest(object).to_string())).collect()
    };
    assert_eq!(specs(objects), specs(&written(planned)));
}

#[tokio::test]
async fn a_plan_written_as_applications_is_rebuilt_with_its_digest() {
    let cluster = Cluster::lease().await;
    let engine = engine(cluster.client(Identity::Admin)).await;
    let planned = small();
    assert_survived(&through(&engine, &planned).await, &planned);
}

#[tokio::test]
async fn a_plan_of_128_releases_is_rebuilt_with_its_digest() {
    let cluster = Cluster::lease().await;
    let engine = engine(cluster.client(Identity::Admin)).await;
    let planned = large();
    let objects = through(&engine, &planned).await;
    assert_eq!(objects.len(), 128);
    assert_survived(&objects, &planned);
}

#[tokio::test]
async fn any_plan_written_as_applications_is_rebuilt_with_its_digest() {
    let cluster = Cluster::lease().await;
    let engine = engine(cluster.client(Identity::Admin)).await;
    let mut runner = TestRunner::deterministic();
    for _ in 0..24 {
        let planned = any_planned().new_tree(&mut runner).unwrap().current();
        assert_survived(&through(&engine, &planned).await, &planned);
        engine.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    }
}

#[tokio::test]
async fn numbers_that_the_server_spells_anew_keep_their_digest() {
    let cluster = Cluster::lease().await;
    let engine = engine(cluster.client(Identity::Admin)).await;
    let tree = serde_json::from_str(HARD_NUMBERS).unwrap();
    let planned = planned([(release("a", &[]), values(&tree))]);
    // The values as the bundle spells them, not in normal form: a person could write them so.
    let mut object = written(&planned).remove(0);
    object["spec"]["source"]["helm"]["valuesObject"] = tree;
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    engine.create(&PostParams::default(), &object).await.unwrap();
    let objects = raw(&engine.list(&ListParams::default()).await.unwrap().items);
    // What the server stores: int64 exactly, everything else as a double.
    let stored = &objects[0]["spec"]["source"]["helm"]["valuesObject"];
    assert_eq!(stored["one"].to_string(), "1");
    assert_eq!(stored["beyond"].to_string(), "9007199254740993");
    assert_survived(&objects, &planned);
}

#[tokio::test]
async fn nulls_in_a_spec_survive_and_keep_its_digest() {
    let cluster = Cluster::lease().await;
    let engine = engine(cluster.client(Identity::Admin)).await;
    let mut object = written(&small()).remove(1);
    object["spec"]["source"]["helm"]["valuesObject"] =
        json!({"a": null, "b": {"c": null, "d": "é"}, "e": [null]});
    let before = spec_digest(&object);
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    let created = engine.create(&PostParams::default(), &object).await.unwrap();
    assert_eq!(spec_digest(&serde_json::to_value(&created).unwrap()), before);
    let read = engine.get("nfd").await.unwrap();
    assert_eq!(spec_digest(&serde_json::to_value(&read).unwrap()), before);
}

#[tokio::test]
async fn values_at_their_bound_survive() {
    let cluster = Cluster::lease().await;
    let engine = engine(cluster.client(Identity::Admin)).await;
    let overhead = r#"{"text":""}"#.len();
    let tree = json!({"text": "é".repeat((MAX_VALUES_BYTES - overhead) / 2)});
    let planned = planned([(release("a", &[]), values(&tree))]);
    assert_survived(&through(&engine, &planned).await, &planned);
}

#[tokio::test]
async fn an_edit_by_hand_is_named_and_undoing_it_restores_the_digest() {
    let cluster = Cluster::lease().await;
    let engine = engine(cluster.client(Identity::Admin)).await;
    let planned = small();
    let before = through(&engine, &planned).await;
    let inventory =
        |objects: &[Value]| inventory_digest(&objects.iter().map(inventory_entry).collect::<Vec<_>>());

    let edit = |value: Value| json!({"spec": {"source": {"helm": {"valuesObject": {"extra": value}}}}});
    let edited = engine.patch("nfd", &PatchParams::default(), &Patch::Merge(edit(json!(1)))).await.unwrap();
    let objects = raw(&engine.list(&ListParams::default()).await.unwrap().items);
    let error = rebuilt(&objects, &planned).unwrap_err().to_string();
    assert!(error.starts_with("Application nfd was edited out of band"), "{error}");
    assert!(!error.contains(';'), "one finding: {error}");
    assert_ne!(inventory(&objects), inventory(&before));

    // Suspended by the operator, and an undone edit: nothing that a digest covers.
    engine.patch("nfd", &PatchParams::default(), &Patch::Merge(edit(json!(null)))).await.unwrap();
    let suspend = json!({"spec": {"syncPolicy": {"automated": {"enabled": false}}}});
    let last = engine.patch("nfd", &PatchParams::default(), &Patch::Merge(suspend)).await.unwrap();
    assert_ne!(edited.metadata.resource_version, last.metadata.resource_version);
    let objects = raw(&engine.list(&ListParams::default()).await.unwrap().items);
    assert_survived(&objects, &planned);
    assert_eq!(inventory(&objects), inventory(&before));
}

#[tokio::test]
async fn the_operator_writes_a_plan_and_everyone_who_may_reads_it_back() {
    let cluster = Cluster::lease().await;
    let operator: Api<ConfigMap> = Api::namespaced(cluster.client(Identity::Operator), NAMESPACE);
    let create = async |object: &ConfigMap| operator.create(&PostParams::default(), object).await.unwrap();
    let planned = small();
    for release in &planned.plan.releases {
        create(&write_values(&planned.plan, NAMESPACE, &release.id, &planned.values[&release.id])).await;
    }
    create(&write_recipe(&planned.plan, NAMESPACE, RecipeKind::Resolved, RECIPE).unwrap()).await;
    create(&write_plan(&planned.plan, NAMESPACE).unwrap()).await;

    let approver: Api<ConfigMap> = Api::namespaced(cluster.client(Identity::Approver), NAMESPACE);
    let wanted = PlanRef::from(planned.plan.digest());
    let found = approver.get_opt(&wanted.config_map()).await.unwrap();
    let plan = read_plan(&wanted, found.as_ref()).unwrap();
    assert_eq!(plan, planned.plan);
    let recipe = &plan.required_recipe().unwrap().config_map_ref;
    let found = approver.get_opt(&recipe.config_map).await.unwrap();
    assert_eq!(read_recipe(recipe, RecipeKind::Resolved, found.as_ref()), Ok(RECIPE));
    for release in &plan.releases {
        let found = approver.get_opt(&release.values.config_map).await.unwrap();
        assert_eq!(read_values(&release.values, found.as_ref()).unwrap(), planned.values[&release.id]);
    }
    let missing = PlanRef::from(large().plan.digest());
    let found = approver.get_opt(&missing.config_map()).await.unwrap();
    assert_eq!(read_plan(&missing, found.as_ref()).unwrap_err().reason.as_str(), "NotFound");
}

#[tokio::test]
async fn a_stored_plan_cannot_be_changed_even_by_the_operator() {
    let cluster = Cluster::lease().await;
    let operator: Api<ConfigMap> = Api::namespaced(cluster.client(Identity::Operator), NAMESPACE);
    let plan = small().plan;
    let object = write_plan(&plan, NAMESPACE).unwrap();
    operator.create(&PostParams::default(), &object).await.unwrap();
    let name = PlanRef::from(plan.digest()).config_map();
    for edit in [json!({"data": {"plan.json": "{}"}}), json!({"immutable": false})] {
        let error = operator.patch(&name, &PatchParams::default(), &Patch::Merge(edit)).await.unwrap_err();
        assert!(matches!(&error, kube::Error::Api(status) if status.code == 422), "{error}");
    }
}

#[tokio::test]
async fn a_forged_plan_is_denied_with_the_protected_labels_and_not_read_without_them() {
    let cluster = Cluster::lease().await;
    let admin: Api<ConfigMap> = Api::namespaced(cluster.client(Identity::Admin), NAMESPACE);
    let plan = small().plan;
    let wanted = PlanRef::from(plan.digest());
    let mut forged = write_plan(&plan, NAMESPACE).unwrap();
    let error = admin.create(&PostParams::default(), &forged).await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 403), "{error}");
    forged.metadata.labels = None;
    admin.create(&PostParams::default(), &forged).await.unwrap();
    let found = admin.get_opt(&wanted.config_map()).await.unwrap();
    let refused = read_plan(&wanted, found.as_ref()).unwrap_err();
    assert_eq!(refused.reason.as_str(), "PlanUnreadable");
    assert!(refused.message.contains(keys::MANAGED_BY), "{refused}");
}

#[tokio::test]
async fn the_largest_documents_fit_into_a_config_map() {
    let cluster = Cluster::lease().await;
    let operator: Api<ConfigMap> = Api::namespaced(cluster.client(Identity::Operator), NAMESPACE);
    let sized = |flag: usize| {
        let mut document = document(vec![release("a", &[])]);
        document.provenance.render_flags = Some(vec!["x".repeat(flag)]);
        Plan::seal(document)
    };
    let overhead = sized(0).unwrap().to_json().unwrap().len();
    let plan = sized(MAX_PLAN_BYTES - overhead).unwrap();
    let stored =
        operator.create(&PostParams::default(), &write_plan(&plan, NAMESPACE).unwrap()).await.unwrap();
    assert_eq!(read_plan(&plan.digest().into(), Some(&stored)).unwrap(), plan);

    let recipe = "y".repeat(MAX_PLAN_BYTES);
    let object = write_recipe(&plan, NAMESPACE, RecipeKind::Bundled, &recipe).unwrap();
    let stored = operator.create(&PostParams::default(), &object).await.unwrap();
    assert_eq!(read_recipe(&recipe_ref(&recipe), RecipeKind::Bundled, Some(&stored)), Ok(recipe.as_str()));

    // One byte more is refused here because the server refuses it.
    let mut object = write_plan(&small().plan, NAMESPACE).unwrap();
    object.data = Some(BTreeMap::from([("plan.json".to_owned(), "z".repeat(MAX_PLAN_BYTES + 1))]));
    let error = operator.create(&PostParams::default(), &object).await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 422), "{error}");
}

#[tokio::test]
async fn the_plan_with_128_releases_is_stored_with_all_of_its_values() {
    let cluster = Cluster::lease().await;
    let operator: Api<ConfigMap> = Api::namespaced(cluster.client(Identity::Operator), NAMESPACE);
    let planned = large();
    let plan = write_plan(&planned.plan, NAMESPACE).unwrap();
    let stored = operator.create(&PostParams::default(), &plan).await.unwrap();
    assert_eq!(read_plan(&planned.plan.digest().into(), Some(&stored)).unwrap(), planned.plan);
    for release in &planned.plan.releases {
        let object = write_values(&planned.plan, NAMESPACE, &release.id, &planned.values[&release.id]);
        let stored = operator.create(&PostParams::default(), &object).await.unwrap();
        assert_eq!(read_values(&release.values, Some(&stored)).unwrap(), planned.values[&release.id]);
    }
    assert_eq!(
        canonical::to_string(&serde_json::to_value(&*planned.plan).unwrap()),
        plan.data.unwrap()["plan.json"]
    );
}
