//! The API server's audit log: what was asked, by whom, and what came of it.
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Deref;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

use crate::error::{Doing, Result};
use crate::identity::Identity;

/// One request that the API server has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Who asked, after authentication and before impersonation.
    pub user: String,
    /// As whom, if the request impersonated somebody.
    pub impersonated: Option<String>,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, …
    pub verb: String,
    /// The API group; empty for core.
    pub group: String,
    /// The plural resource, as `runtimerollouts`; empty for paths that name none.
    pub resource: String,
    /// The subresource, as `status`; else empty.
    pub subresource: String,
    /// Empty for what is cluster-scoped.
    pub namespace: String,
    /// The object's name; empty for lists, and for creates if the server chose it.
    pub name: String,
    /// Path and query.
    pub uri: String,
    /// The HTTP status of the answer.
    pub code: u16,
    /// What the client calls itself.
    pub user_agent: String,
}

impl Request {
    /// Whether it asked to change something that is stored: not a dry run (but that of a delete is asked for in the body,
    /// which the log does not have), nor a review or token, which are created and not stored.
    pub fn is_write(&self) -> bool {
        let changes =
            matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection");
        changes
            && !self.uri.contains("dryRun=")
            && !self.group.starts_with("auth")
            && self.subresource != "token"
    }
}

/// Requests in the order in which the API server finished them. Each filter gives a narrower log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit(Vec<Request>);

impl Audit {
    /// Those of one identity.
    #[must_use]
    pub fn by(&self, identity: Identity) -> Self {
        self.only(|request| request.user == identity.user())
    }

    /// Those with one verb.
    #[must_use]
    pub fn verb(&self, verb: &str) -> Self {
        self.only(|request| request.verb == verb)
    }

    /// Those for one resource, as `runtimerollouts`, its subresources included.
    #[must_use]
    pub fn resource(&self, resource: &str) -> Self {
        self.only(|request| request.resource == resource)
    }

    /// Those that asked to change something; see [`Request::is_write`].
    #[must_use]
    pub fn writes(&self) -> Self {
        self.only(Request::is_write)
    }

    fn only(&self, keep: impl Fn(&Request) -> bool) -> Self {
        Self(self.0.iter().filter(|request| keep(request)).cloned().collect())
    }

    /// Reads the requests that came since an instant, from a position in bytes on. A request is in the log once its answer has been read to its end: the API
    /// server writes the line before it ends the answer.
    pub(crate) fn read(path: &Path, from: u64, since: Timestamp) -> Result<Self> {
        let mut text = String::new();
        File::open(path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(from))?;
                file.read_to_string(&mut text)
            })
            .doing(|| format!("reading {}", path.display()))?;
        // A line without its end is still being written, so nobody has that answer yet.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut requests = Vec::new();
        for line in whole.lines() {
            let event: Event =
                serde_json::from_str(line).doing(|| format!("reading the audit event {line}"))?;
            // A watch of the test before may end, and so be logged, only now.
            if event.request_received_timestamp >= since {
                requests.push(event.into());
            }
        }
        Ok(Self(requests))
    }
}

impl Deref for Audit {
    type Target = [Request];

    fn deref(&self) -> &[Request] {
        &self.0
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    verb: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    user: User,
    impersonated_user: Option<User>,
    #[serde(default)]
    user_agent: String,
    request_received_timestamp: Timestamp,
    #[serde(default)]
    object_ref: ObjectRef,
    response_status: Option<ResponseStatus>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ObjectRef {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

impl From<Event> for Request {
    fn from(event: Event) -> Self {
        Self {
            user: event.user.username,
            impersonated: event.impersonated_user.map(|user| user.username),
            verb: event.verb,
            group: event.object_ref.api_group,
            resource: event.object_ref.resource,
            subresource: event.object_ref.subresource,
            namespace: event.object_ref.namespace,
            name: event.object_ref.name,
            uri: event.request_uri,
            code: event.response_status.map_or(0, |status| status.code),
            user_agent: event.user_agent,
        }
    }
}
