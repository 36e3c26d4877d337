//! Pushing to a registry that speaks plain HTTP, as an artifact of one packed tree or of a layer a file.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine as _;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::bundle::Tree;
use crate::failure::{Code, Failure, Outcome, internal, invalid};
use crate::setup::Form;

const PATIENCE: Duration = Duration::from_secs(30);
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// A repository in a registry, and a tag there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    host: String,
    repository: String,
    tag: String,
}

impl Place {
    /// Reads `host/repository[:tag]`.
    ///
    /// # Errors
    ///
    /// When it has another form.
    pub fn parse(reference: &str, default_tag: &str) -> Outcome<Self> {
        let wrong = || invalid(format!("invalid OCI reference {reference:?}"));
        let (host, path) = reference.split_once('/').ok_or_else(wrong)?;
        let (repository, tag) = path.rsplit_once(':').unwrap_or((path, default_tag));
        if host.is_empty() || repository.is_empty() || tag.is_empty() || tag.contains('/') {
            return Err(wrong());
        }
        Ok(Self { host: host.to_owned(), repository: repository.to_owned(), tag: tag.to_owned() })
    }
}

/// An artifact: a manifest and the blobs that it names.
#[derive(Clone, Debug)]
pub struct Artifact {
    manifest: Vec<u8>,
    blobs: Vec<Vec<u8>>,
}

impl Artifact {
    /// The artifact of a tree.
    ///
    /// # Errors
    ///
    /// When it cannot be packed.
    pub fn pack(title: &str, version: &str, tree: &Tree, form: Form) -> Outcome<Self> {
        let mut blobs = vec![b"{}".to_vec()];
        let mut layers = Vec::new();
        match form {
            Form::Tree => {
                let tar = pack(tree).map_err(internal)?;
                let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
                let packed = gzip.write_all(&tar).and_then(|()| gzip.finish()).map_err(internal)?;
                let mut layer = descriptor(LAYER, &packed);
                layer["annotations"] = json!({
                    "io.deis.oras.content.unpack": "true", "org.opencontainers.image.title": ".",
                    "io.deis.oras.content.digest": digest(&tar),
                });
                layers.push(layer);
                blobs.push(packed);
            }
            Form::Files => {
                for (path, file) in tree {
                    let mut layer = descriptor("application/octet-stream", file.text.as_bytes());
                    layer["annotations"] = json!({"org.opencontainers.image.title": path});
                    layers.push(layer);
                    blobs.push(file.text.clone().into_bytes());
                }
            }
        }
        let manifest = json!({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "artifactType": "application/vnd.nvidia.aicr.artifact",
            "config": descriptor("application/vnd.oci.empty.v1+json", b"{}"), "layers": layers,
            "annotations": {
                "org.opencontainers.image.created": "1970-01-01T00:00:00Z", "org.opencontainers.image.title": title,
                "org.opencontainers.image.vendor": "stand-in", "org.opencontainers.image.version": version,
            },
        });
        Ok(Self { manifest: manifest.to_string().into_bytes(), blobs })
    }

    /// Pushes it and returns the manifest's digest.
    ///
    /// # Errors
    ///
    /// By what the registry answers: 4 when it lets nobody in, 3 when it has no such repository, 6 and 7 when it cannot
    /// serve now.
    pub fn push(&self, place: &Place, plain_http: bool) -> Outcome<String> {
        if !plain_http {
            return Err(Failure::new(
                Code::ServiceUnavailable,
                "the stand-in speaks plain HTTP only: pass --plain-http",
            ));
        }
        for blob in &self.blobs {
            push_blob(place, blob)?;
        }
        let path = format!("/v2/{}/manifests/{}", place.repository, place.tag);
        let answer = call(place, "PUT", &path, "application/vnd.oci.image.manifest.v1+json", &self.manifest)?;
        answer.expect(201, "push manifest")?;
        Ok(digest(&self.manifest))
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

fn descriptor(media_type: &str, bytes: &[u8]) -> Value {
    json!({"mediaType": media_type, "digest": digest(bytes), "size": bytes.len()})
}

fn pack(tree: &Tree) -> std::io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    let header = |size: u64, mode: u32, kind: tar::EntryType| {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(mode);
        header.set_mtime(0);
        header
    };
    let mut folders = BTreeSet::new();
    for (path, file) in tree {
        for (end, _) in path.match_indices('/') {
            if folders.insert(&path[..=end]) {
                let mut folder = header(0, 0o755, tar::EntryType::Directory);
                archive.append_data(&mut folder, &path[..=end], std::io::empty())?;
            }
        }
        let mut header = header(file.text.len() as u64, file.mode, tar::EntryType::Regular);
        archive.append_data(&mut header, path, file.text.as_bytes())?;
    }
    archive.into_inner()
}

fn push_blob(place: &Place, blob: &[u8]) -> Outcome<()> {
    let sum = digest(blob);
    let blobs = format!("/v2/{}/blobs", place.repository);
    if call(place, "HEAD", &format!("{blobs}/{sum}"), "", &[])?.status == 200 {
        return Ok(());
    }
    let begun = call(place, "POST", &format!("{blobs}/uploads/"), "application/octet-stream", &[])?;
    begun.expect(202, "begin upload")?;
    let location =
        begun.header("location").ok_or_else(|| internal("the registry names no place to upload to"))?;
    let path = location.strip_prefix(&format!("http://{}", place.host)).unwrap_or(&location).to_owned();
    let joined = if path.contains('?') { '&' } else { '?' };
    let answer =
        call(place, "PUT", &format!("{path}{joined}digest={sum}"), "application/octet-stream", blob)?;
    answer.expect(201, "upload blob")
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<String> {
        let line = self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        });
        line.filter(|value| !value.is_empty())
    }

    fn expect(&self, status: u16, doing: &str) -> Outcome<()> {
        if self.status == status {
            return Ok(());
        }
        let code = match self.status {
            401 | 403 => Code::Unauthorized,
            404 => Code::NotFound,
            429 => Code::RateLimitExceeded,
            500.. => Code::ServiceUnavailable,
            _ => Code::Internal,
        };
        Err(Failure::new(
            code,
            format!("failed to {doing}: the registry answered {}: {}", self.status, self.body.trim()),
        ))
    }
}

/// One request on a connection of its own.
fn call(place: &Place, method: &str, path: &str, content_type: &str, body: &[u8]) -> Outcome<Answer> {
    let unreachable = |error: std::io::Error| {
        Failure::new(Code::ServiceUnavailable, format!("failed to reach registry {}: {error}", place.host))
    };
    let exchange = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(&place.host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n",
            place.host,
            body.len()
        );
        if !content_type.is_empty() {
            head.extend(["Content-Type: ", content_type, "\r\n"]);
        }
        if let Some(login) = login(&place.host) {
            head.extend(["Authorization: Basic ", &login, "\r\n"]);
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        stream.write_all(body)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer = exchange().map_err(unreachable)?;
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    let status = status.ok_or_else(|| internal(format!("registry {} does not speak HTTP", place.host)))?;
    Ok(Answer { status, head: head.to_owned(), body: body.to_owned() })
}

/// The login for a registry in the docker config, as the header carries it.
#[expect(
    clippy::disallowed_methods,
    reason = "plays a program that finds the docker config by the environment"
)]
fn login(host: &str) -> Option<String> {
    let folder = std::env::var("DOCKER_CONFIG")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.docker")))
        .ok()?;
    let config: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{folder}/config.json")).ok()?).ok()?;
    let entry = &config["auths"][host];
    if let Some(auth) = entry["auth"].as_str().filter(|auth| !auth.is_empty()) {
        return Some(auth.to_owned());
    }
    let pair = format!("{}:{}", entry["username"].as_str()?, entry["password"].as_str()?);
    Some(base64::engine::general_purpose::STANDARD.encode(pair))
}
