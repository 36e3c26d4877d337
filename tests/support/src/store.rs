//! What an API server keeps in its etcd: every object of every type, also of those that it does not list.
use std::collections::BTreeMap;

use kube::Client;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Doing, Error, Result};
use crate::identity::base64;
use crate::plane::ControlPlane;

/// Key without the API server's prefix (`/configmaps/<namespace>/<name>`) to the revision of its last change, which is
/// the object's resourceVersion. An object that was deleted and made again has another one.
pub(crate) type Listing = BTreeMap<String, i64>;

/// etcd's HTTP interface, for one API server's keys.
pub(crate) struct Store<'a> {
    client: Client,
    prefix: &'a str,
}

impl<'a> Store<'a> {
    pub(crate) fn of(plane: &'a ControlPlane) -> Result<Self> {
        let (client, prefix) = plane.etcd()?;
        Ok(Self { client, prefix })
    }

    /// Everything there is, in one consistent read.
    pub(crate) async fn list(&self) -> Result<Listing> {
        let from = format!("{}/", self.prefix);
        let to = format!("{}0", self.prefix); // '0' follows '/'
        let range = json!({
            "key": base64(from.as_bytes()),
            "range_end": base64(to.as_bytes()),
            "keys_only": true,
        });
        let answer: Range = self.call("/v3/kv/range", &range).await?;
        let mut listing = Listing::new();
        for entry in answer.kvs {
            let key = String::from_utf8_lossy(&entry.key.0).into_owned();
            let revision = entry.mod_revision.parse().map_err(|_| {
                Error::new(format!(
                    "etcd gave {key} the revision '{}', which is no number",
                    entry.mod_revision
                ))
            })?;
            listing.insert(key[self.prefix.len()..].to_owned(), revision);
        }
        Ok(listing)
    }

    /// Deletes these keys, whatever finalizers their objects have. The API server's watches see it as they see its own
    /// deletions.
    pub(crate) async fn delete(&self, keys: &[&str]) -> Result<()> {
        // etcd takes 128 operations at a time.
        for some in keys.chunks(100) {
            let operations: Vec<Value> = some
                .iter()
                .map(|key| {
                    let key = format!("{}{key}", self.prefix);
                    json!({"request_delete_range": {"key": base64(key.as_bytes())}})
                })
                .collect();
            self.call::<Value>("/v3/kv/txn", &json!({"success": operations})).await?;
        }
        Ok(())
    }

    async fn call<T: serde::de::DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        let doing = || format!("asking etcd for {path}");
        let request = http::Request::post(path).body(body.to_string().into_bytes()).doing(doing)?;
        self.client.request(request).await.doing(doing)
    }
}

#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    kvs: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    key: k8s_openapi::ByteString,
    mod_revision: String,
}
