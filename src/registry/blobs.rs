//! What a registry holds: manifests and blobs, read and written.
//!
//! Source: OCI distribution specification 1.1.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use reqwest::{Response, Url};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;

use super::client::{About, Client};
use super::digest::ContentDigest;
use super::error::{Error, Reason};
use super::reference::{Repository, Target};
use super::retry::Asked;
use super::transport::{Payload, Request, local};

/// The most bytes of a manifest, as the specification advises registries.
pub(super) const MOST_MANIFEST_BYTES: usize = 4 * 1024 * 1024;
/// What may be in a repository.
const MANIFEST_TYPES: &str =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";
/// The type of every manifest that we write.
pub(super) const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";

/// Bytes to be uploaded.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Bytes(Bytes),
    File(PathBuf),
}

/// A blob with its name.
#[derive(Clone, Debug)]
pub(super) struct Blob {
    pub(super) digest: ContentDigest,
    pub(super) size: u64,
    pub(super) content: Content,
}

impl Blob {
    pub(super) fn of(bytes: Bytes) -> Self {
        Self { digest: ContentDigest::of(&bytes), size: bytes.len() as u64, content: Content::Bytes(bytes) }
    }

    fn payload(&self, from: u64) -> Payload {
        match &self.content {
            Content::Bytes(bytes) => {
                Payload::Bytes(bytes.slice(usize::try_from(from).unwrap_or(bytes.len()).min(bytes.len())..))
            }
            Content::File(path) => Payload::File { path: path.clone(), from, size: self.size },
        }
    }
}

impl Client {
    /// The digest that a tag or digest has now, by one `HEAD`; `None` if there is nothing.
    ///
    /// # Errors
    ///
    /// When the registry does not say, or refuses to.
    pub async fn digest_of(
        &self,
        repository: &Repository,
        target: &Target,
    ) -> Result<Option<ContentDigest>, Error> {
        let url = self.url(repository, &format!("manifests/{target}"))?;
        let mut request = Request::new(Method::HEAD, url);
        request.headers.insert(header::ACCEPT, HeaderValue::from_static(MANIFEST_TYPES));
        let response = self.call(About::Registry(repository, Asked::Read), &request, true).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        match stated_digest(response.headers()) {
            Some(digest) => Ok(Some(digest)),
            // The header is optional; then the bytes tell.
            None => Ok(Some(self.manifest(repository, target).await?.1)),
        }
    }

    /// A manifest's bytes and their digest, which is the target's if that is one.
    pub(super) async fn manifest(
        &self,
        repository: &Repository,
        target: &Target,
    ) -> Result<(Bytes, ContentDigest), Error> {
        let url = self.url(repository, &format!("manifests/{target}"))?;
        let mut request = Request::new(Method::GET, url);
        request.headers.insert(header::ACCEPT, HeaderValue::from_static(MANIFEST_TYPES));
        let what = || format!("{repository}, manifest {target}");
        let response = self
            .call(About::Registry(repository, Asked::Read), &request, false)
            .await
            .map_err(|error| error.during(what()))?;
        let bytes = self.transport.body(response, MOST_MANIFEST_BYTES).await?;
        let digest = ContentDigest::of(&bytes);
        match target {
            Target::Digest(wanted) if *wanted != digest => Err(mismatch(&what(), *wanted, digest)),
            _ => Ok((bytes, digest)),
        }
    }

    /// Writes a manifest under a tag, which must be free or hold these very bytes.
    pub(super) async fn put_manifest(
        &self,
        repository: &Repository,
        tag: &str,
        manifest: Bytes,
    ) -> Result<ContentDigest, Error> {
        let digest = ContentDigest::of(&manifest);
        let mut request = Request::new(Method::PUT, self.url(repository, &format!("manifests/{tag}"))?);
        request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MANIFEST_TYPE));
        request.payload = Payload::Bytes(manifest);
        let error = match self.call(About::Registry(repository, Asked::Write), &request, false).await {
            Ok(response) => match stated_digest(response.headers()) {
                Some(stated) if stated != digest => {
                    return Err(mismatch(&format!("{repository}, tag {tag}"), digest, stated));
                }
                _ => return Ok(digest),
            },
            Err(error) => error,
        };
        // Another writer of the same bytes may have been first where tags are immutable.
        if error.reason == Reason::Conflict {
            let there = self.digest_of(repository, &Target::Tag(tag.to_owned())).await?;
            return match there {
                Some(there) if there == digest => Ok(digest),
                Some(there) => Err(moved(repository, tag, there, digest)),
                None => Err(error),
            };
        }
        Err(error)
    }

    /// Makes sure that the repository has the blob: it is there, or can be taken from another repository of the same
    /// registry, or is uploaded.
    pub(super) async fn ensure_blob(
        &self,
        repository: &Repository,
        blob: &Blob,
        near: Option<&Repository>,
    ) -> Result<(), Error> {
        let url = self.url(repository, &format!("blobs/{}", blob.digest))?;
        let request = Request::new(Method::HEAD, url);
        let response = self.call(About::Registry(repository, Asked::Read), &request, true).await?;
        if response.status().is_success() {
            return Ok(());
        }
        let mut location = None;
        if let Some(near) = near.filter(|near| near.host() == repository.host()) {
            let what = format!("blobs/uploads/?mount={}&from={}", blob.digest, near.path());
            let request = Request::new(Method::POST, self.url(repository, &what)?);
            // Whatever the registry has against mounting, it can still take an upload.
            match self.call(About::Registry(repository, Asked::Write), &request, false).await {
                Ok(response) if response.status() == StatusCode::CREATED => return Ok(()),
                Ok(response) => location = location_of(&response),
                Err(_) => {}
            }
        }
        self.upload(repository, blob, location).await
    }

    /// Uploads a blob, from where it was interrupted if the registry still knows.
    async fn upload(&self, repository: &Repository, blob: &Blob, started: Option<Url>) -> Result<(), Error> {
        let about = About::Registry(repository, Asked::Write);
        let mut started = started;
        let mut tries = 0;
        loop {
            let location = match started.take() {
                Some(location) => location,
                None => self.start_upload(repository).await?,
            };
            tries += 1;
            let error = match self.finish_upload(about, blob, location.clone(), 0).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let Some(wait) = self.settings.patience.wait_after(tries, &error) else { return Err(error) };
            tokio::time::sleep(wait).await;
            if self.resume(about, blob, &location).await {
                return Ok(());
            }
        }
    }

    async fn start_upload(&self, repository: &Repository) -> Result<Url, Error> {
        let request = Request::new(Method::POST, self.url(repository, "blobs/uploads/")?);
        let response = self.call(About::Registry(repository, Asked::Write), &request, false).await?;
        location_of(&response).ok_or_else(|| {
            let text = format!("{repository}: the registry began an upload without saying where");
            Error::new(Reason::Unexpected, text)
        })
    }

    /// Sends the blob from `from` on and closes the upload.
    async fn finish_upload(
        &self,
        about: About<'_>,
        blob: &Blob,
        mut location: Url,
        from: u64,
    ) -> Result<(), Error> {
        location.query_pairs_mut().append_pair("digest", &blob.digest.to_string());
        let mut request = Request::new(Method::PUT, location);
        request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        if from > 0 && from < blob.size {
            let range = format!("{from}-{}", blob.size - 1);
            request.headers.insert(header::CONTENT_RANGE, header_value(&range)?);
        }
        request.payload = blob.payload(from);
        self.call_once(about, &request).await.map(drop)
    }

    /// Whether an interrupted upload could be brought to its end. If not, for whatever reason, a new one is begun.
    async fn resume(&self, about: About<'_>, blob: &Blob, location: &Url) -> bool {
        let mut location = location.clone();
        let mut tries = 0;
        loop {
            tries += 1;
            let request = Request::new(Method::GET, location.clone());
            let Ok(response) = self.call(about, &request, false).await else { return false };
            let Some(there) = received(response.headers()).filter(|there| *there <= blob.size) else {
                return false;
            };
            if let Some(next) = location_of(&response) {
                location = next;
            }
            let Err(error) = self.finish_upload(about, blob, location.clone(), there).await else {
                return true;
            };
            match self.settings.patience.wait_after(tries, &error) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return false,
            }
        }
    }

    /// Downloads a blob into a file, checks its digest, and answers its size.
    pub(super) async fn download_blob(
        &self,
        repository: &Repository,
        digest: ContentDigest,
        file: &Path,
        most: u64,
    ) -> Result<u64, Error> {
        let url = self.url(repository, &format!("blobs/{digest}"))?;
        let about = About::Registry(repository, Asked::Read);
        let (got, size) = self.download(about, url, file, most).await?;
        if got == digest {
            return Ok(size);
        }
        Err(mismatch(&format!("{repository}, blob {digest}"), digest, got))
    }

    /// Downloads a small blob.
    pub(super) async fn blob(
        &self,
        repository: &Repository,
        digest: ContentDigest,
        most: usize,
    ) -> Result<Bytes, Error> {
        let request = Request::new(Method::GET, self.url(repository, &format!("blobs/{digest}"))?);
        let response = self.call(About::Registry(repository, Asked::Read), &request, false).await?;
        let bytes = self.transport.body(response, most).await?;
        match ContentDigest::of(&bytes) {
            got if got == digest => Ok(bytes),
            got => Err(mismatch(&format!("{repository}, blob {digest}"), digest, got)),
        }
    }

    /// Downloads into a file, going on where a lost connection left off, and answers digest and size.
    pub(super) async fn download(
        &self,
        about: About<'_>,
        url: Url,
        path: &Path,
        most: u64,
    ) -> Result<(ContentDigest, u64), Error> {
        let mut file = tokio::fs::File::create(path).await.map_err(|error| local(path, &error))?;
        let mut hasher = Sha256::new();
        let mut size = 0;
        let mut tries = 0;
        loop {
            tries += 1;
            let mut request = Request::new(Method::GET, url.clone());
            if size > 0 {
                request.headers.insert(header::RANGE, header_value(&format!("bytes={size}-"))?);
            }
            let mut response = self.call(about, &request, false).await?;
            let goes_on = response.status() == StatusCode::PARTIAL_CONTENT
                && response.headers().get(header::CONTENT_RANGE).is_some_and(|range| {
                    range.to_str().is_ok_and(|range| range.starts_with(&format!("bytes {size}-")))
                });
            if size > 0 && !goes_on {
                // The server sends everything again.
                file = tokio::fs::File::create(path).await.map_err(|error| local(path, &error))?;
                hasher = Sha256::new();
                size = 0;
            }
            let error = loop {
                match self.transport.piece(&mut response).await {
                    Ok(Some(piece)) => {
                        size += piece.len() as u64;
                        if size > most {
                            let text = format!(
                                "{} is over {most} bytes, the most that is taken",
                                super::transport::display(&url)
                            );
                            return Err(Error::new(Reason::ContentTooLarge, text));
                        }
                        hasher.update(&piece);
                        file.write_all(&piece).await.map_err(|error| local(path, &error))?;
                    }
                    Ok(None) => {
                        file.flush().await.map_err(|error| local(path, &error))?;
                        return Ok((ContentDigest::finish(hasher), size));
                    }
                    Err(error) => break error,
                }
            };
            match self.settings.patience.wait_after(tries, &error) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(error),
            }
        }
    }
}

/// A digest that differs from the one expected.
pub(super) fn mismatch(what: &str, wanted: ContentDigest, got: ContentDigest) -> Error {
    let text =
        format!("{what}: the content has the digest {got}, expected {wanted}: it was changed or damaged");
    Error::new(Reason::DigestMismatch, text)
}

/// A tag that is at other content than ours.
pub(super) fn moved(repository: &Repository, tag: &str, there: ContentDigest, ours: ContentDigest) -> Error {
    let text = format!(
        "{repository}: the tag {tag} is at {there}, and its own name says {ours}: somebody moved it. Tags there are never \
         moved: delete that tag"
    );
    Error::new(Reason::Conflict, text)
}

fn stated_digest(headers: &HeaderMap) -> Option<ContentDigest> {
    headers.get("docker-content-digest")?.to_str().ok()?.trim().parse().ok()
}

fn location_of(response: &Response) -> Option<Url> {
    let location = response.headers().get(header::LOCATION)?.to_str().ok()?;
    response.url().join(location).ok()
}

/// How many bytes an upload has, by the `Range: 0-<last>` of its status. `0-0` is said for one byte and for none, so
/// it counts as none.
fn received(headers: &HeaderMap) -> Option<u64> {
    let last = headers.get(header::RANGE)?.to_str().ok()?.trim_start_matches("bytes=").strip_prefix("0-")?;
    match last.parse::<u64>().ok()? {
        0 => Some(0),
        last => last.checked_add(1),
    }
}

fn header_value(text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text).map_err(|_| Error::new(Reason::Unexpected, format!("'{text}' is no header")))
}
