//! Bringing a server back to what it was before a test had it.
//!
//! The baseline is the listing of everything that the API server stores (key and revision), taken after the chart was
//! installed. After a test, what was added is deleted, and then the whole is listed again and must equal the baseline:
//! an object that was changed, deleted or made anew shows by its revision, one of a type nobody thought of by its key.
//!
//! Some objects the API server also holds in memory and acts by: definitions, policies, roles. Those of the baseline
//! are never touched here: a server whose baseline was changed is thrown away. Roles and bindings that a test added are
//! deleted, and then it is proved that the authorizer has forgotten them. Any other kind that is not plain data (another
//! CRD, policy, webhook, API service, ServiceAccount, priority level, …) costs the server too.
use std::time::{Duration, Instant};

use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::{Doing, Error, Result};
use crate::identity::{self, Identity};
use crate::plane::ControlPlane;
use crate::store::{Listing, Store};

/// What API servers write by themselves at any time: their own Leases and Events.
const VOLATILE: [&str; 3] = ["/leases/kube-system/apiserver-", "/peerserverleases/", "/events/"];

/// What the API server stores and does not act by. Custom resources are filed under their group.
const DATA: [&str; 9] = [
    "/configmaps/",
    "/secrets/",
    "/namespaces/",
    "/leases/",
    "/pods/",
    "/jobs/",
    "/events.k8s.io/",
    "/operator.aicr.run/",
    "/argoproj.io/",
];

/// What the RBAC authorizer acts by.
const ROLES: [&str; 4] = ["/clusterroles/", "/clusterrolebindings/", "/roles/", "/rolebindings/"];

/// How long the API server may take to notice that a role is gone.
const FORGETS_WITHIN: Duration = Duration::from_secs(10);

/// What a server held before any test had it.
pub(crate) struct Baseline(Listing);

/// What became of a reset.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// The server equals its baseline.
    Clean,
    /// It does not and cannot be made to; the text names what was changed.
    Spoilt(String),
}

/// How a listing differs from the baseline.
#[derive(Debug, Default, PartialEq, Eq)]
struct Difference<'a> {
    /// Of the baseline, changed or gone.
    changed: Vec<&'a str>,
    /// New, of a kind that may be deleted.
    added: Vec<&'a str>,
    /// New, of a kind that costs the server.
    ruinous: Vec<&'a str>,
}

impl Baseline {
    /// Lists the server once it has come to rest: it still writes some objects of its own right after its start.
    pub(crate) async fn take(plane: &ControlPlane) -> Result<Self> {
        let store = Store::of(plane)?;
        let mut last = stable(store.list().await?);
        let mut quiet = 0;
        while quiet < 3 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let now = stable(store.list().await?);
            quiet = if now == last { quiet + 1 } else { 0 };
            last = now;
        }
        Ok(Self(last))
    }

    /// Deletes what was added and verifies that the server equals the baseline.
    pub(crate) async fn restore(&self, plane: &ControlPlane) -> Result<Reset> {
        let store = Store::of(plane)?;
        let mut had_roles = false;
        // More than once, since a request that a test left behind may still have been under way.
        for _ in 0..4 {
            let listing = stable(store.list().await?);
            let difference = self.compare(&listing);
            if !difference.changed.is_empty() || !difference.ruinous.is_empty() {
                let names = [difference.changed, difference.ruinous].concat();
                return Ok(Reset::Spoilt(names.join(", ")));
            }
            if difference.added.is_empty() {
                if !had_roles {
                    return Ok(Reset::Clean);
                }
                // Proving it makes and deletes roles, so the server is compared once more.
                let probes = prove_roles_forgotten(plane).await?;
                store.delete(&probes.iter().map(String::as_str).collect::<Vec<_>>()).await?;
                had_roles = false;
                continue;
            }
            had_roles |= difference.added.iter().any(|key| starts_with_any(key, &ROLES));
            store.delete(&difference.added).await?;
        }
        Ok(Reset::Spoilt("something still writes to it".to_owned()))
    }

    fn compare<'a>(&'a self, listing: &'a Listing) -> Difference<'a> {
        let mut difference = Difference::default();
        for (key, revision) in &self.0 {
            if listing.get(key) != Some(revision) {
                difference.changed.push(key);
            }
        }
        for key in listing.keys().filter(|key| !self.0.contains_key(*key)) {
            if starts_with_any(key, &DATA) || starts_with_any(key, &ROLES) {
                difference.added.push(key);
            } else {
                difference.ruinous.push(key);
            }
        }
        difference
    }
}

fn stable(mut listing: Listing) -> Listing {
    listing.retain(|key, _| !starts_with_any(key, &VOLATILE));
    listing
}

fn starts_with_any(key: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| key.starts_with(prefix))
}

/// Waits until the authorizer has seen all deletions of roles and bindings so far. It learns of each of the four kinds
/// in the order of their changes, so once it grants what new ones of each kind give, it has seen all that was before.
/// Gives the keys of these new ones.
async fn prove_roles_forgotten(plane: &ControlPlane) -> Result<[String; 4]> {
    let client = plane.client(Identity::Admin)?;
    let name = format!("reset-{}", identity::secret()?);
    let rules = json!([{"apiGroups": ["reset.test"], "resources": [name], "verbs": ["get"]}]);
    let subjects = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]);
    let role_ref = |kind| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let metadata = json!({"name": name});
    let all = |client: &Client| Api::all(client.clone());
    create::<ClusterRole>(&all(&client), json!({"metadata": metadata, "rules": rules})).await?;
    let binding = json!({"metadata": metadata, "subjects": subjects, "roleRef": role_ref("ClusterRole")});
    create::<ClusterRoleBinding>(&Api::all(client.clone()), binding).await?;
    create::<Role>(&Api::default_namespaced(client.clone()), json!({"metadata": metadata, "rules": rules}))
        .await?;
    let subjects =
        json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": format!("{name}-2")}]);
    let binding = json!({"metadata": metadata, "subjects": subjects, "roleRef": role_ref("Role")});
    create::<RoleBinding>(&Api::default_namespaced(client.clone()), binding).await?;

    let asked = json!({"group": "reset.test", "resource": name, "verb": "get", "namespace": "default"});
    let reviews: Api<SubjectAccessReview> = Api::all(client);
    let started = Instant::now();
    for user in [name.clone(), format!("{name}-2")] {
        let review = json!({"spec": {"user": user, "resourceAttributes": asked}});
        while create(&reviews, review.clone()).await?.status.is_none_or(|status| !status.allowed) {
            if started.elapsed() > FORGETS_WITHIN {
                return Err(Error::new("the API server does not act by a role that was made 10 s ago"));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    Ok([
        format!("/clusterroles/{name}"),
        format!("/clusterrolebindings/{name}"),
        format!("/roles/default/{name}"),
        format!("/rolebindings/default/{name}"),
    ])
}

async fn create<K>(api: &Api<K>, object: Value) -> Result<K>
where
    K: kube::Resource + Clone + DeserializeOwned + serde::Serialize + std::fmt::Debug,
{
    let object: K = serde_json::from_value(object).doing(|| "writing an object down".to_owned())?;
    api.create(&PostParams::default(), &object).await.doing(|| format!("creating {}", object.name_any()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(entries: &[(&str, i64)]) -> Listing {
        entries.iter().map(|(key, revision)| ((*key).to_owned(), *revision)).collect()
    }

    #[test]
    fn an_added_object_is_deleted_if_it_is_data_and_costs_the_server_if_not() {
        let baseline = Baseline(listing(&[("/namespaces/default", 1)]));
        let now = listing(&[
            ("/namespaces/default", 1),
            ("/operator.aicr.run/runtimerollouts/r", 9),
            ("/rolebindings/default/r", 8),
            ("/validatingadmissionpolicies/p", 7),
            ("/serviceaccounts/default/s", 7),
        ]);
        let difference = baseline.compare(&now);
        assert_eq!(difference.changed, Vec::<&str>::new());
        assert_eq!(difference.added, ["/operator.aicr.run/runtimerollouts/r", "/rolebindings/default/r"]);
        assert_eq!(difference.ruinous, ["/serviceaccounts/default/s", "/validatingadmissionpolicies/p"]);
    }

    #[test]
    fn a_changed_a_deleted_and_a_remade_object_of_the_baseline_are_told() {
        let baseline = Baseline(listing(&[
            ("/configmaps/a/changed", 1),
            ("/configmaps/a/gone", 2),
            ("/secrets/a/same", 3),
        ]));
        let now = listing(&[("/configmaps/a/changed", 10), ("/secrets/a/same", 3)]);
        assert_eq!(baseline.compare(&now).changed, ["/configmaps/a/changed", "/configmaps/a/gone"]);
    }

    #[test]
    fn what_an_api_server_writes_by_itself_is_not_compared() {
        let mut all = listing(&[
            ("/leases/kube-system/apiserver-abc", 1),
            ("/peerserverleases/apiserver-abc", 2),
            ("/events/default/e", 3),
        ]);
        all.insert("/leases/aicr-system/aicr-operator".to_owned(), 4);
        assert_eq!(stable(all).keys().collect::<Vec<_>>(), ["/leases/aicr-system/aicr-operator"]);
    }
}
