//! Charts in the runtime registry: mirrored ones and wrappers, pinned by the digest of a canonical manifest.
//!
//! Source: design section 5.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::blobs::{Blob, Content, MANIFEST_TYPE, moved};
use super::chart::{self, ChartFacts};
use super::client::Client;
use super::digest::ContentDigest;
use super::error::{Error, Reason};
use super::index::without_v;
use super::reference::{Repository, Target};
use super::source::{
    CHART_TYPE, CONFIG_TYPE, ChartSource, Fetched, MOST_ARCHIVE_BYTES, PROVENANCE_TYPE, Sources, tag_of,
};
use super::tarball::{Subject, pack};
use super::upstreams::Upstreams;

/// The most letters of a version in a tag: a tag has 128, of which 13 say the digest.
const MOST_VERSION_IN_TAG: usize = 128 - 13;

/// A chart in the runtime registry. Whoever keeps it may hand it back later, to be spared the download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Published {
    /// Where, `oci://…`.
    pub repository: String,
    /// The tag that keeps it from garbage collection.
    pub tag: String,
    /// The digest of its manifest: what pins it.
    pub digest: ContentDigest,
    /// The digest of the archive within.
    pub archive: ContentDigest,
    /// Whether upstream stated that digest, so that it could be checked. True for wrappers, which have no upstream.
    pub verified: bool,
    /// What the archive says.
    pub facts: ChartFacts,
}

/// The charts of one resolution on their way into the runtime registry.
#[derive(Debug)]
pub struct Mirror {
    client: Client,
    registry: Repository,
    sources: Sources,
    permits: Semaphore,
}

/// Fields in the order in which they are written: the bytes are the same every time.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u8,
    media_type: &'static str,
    config: Descriptor,
    layers: Vec<Descriptor>,
    annotations: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: &'static str,
    digest: ContentDigest,
    size: u64,
}

/// The part of the chart's metadata that Helm reads from an OCI config.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    api_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_version: Option<&'a str>,
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    version: &'a str,
}

/// A chart as an OCI artifact, not yet anywhere.
struct Artifact {
    facts: ChartFacts,
    config: Blob,
    archive: Blob,
    provenance: Option<Blob>,
    manifest: Bytes,
    digest: ContentDigest,
    tag: String,
}

impl Artifact {
    fn new(facts: ChartFacts, archive: Blob, provenance: Option<Bytes>) -> Result<Self, Error> {
        let unserializable = |error: serde_json::Error| Error::new(Reason::Unexpected, error.to_string());
        let config = Config {
            api_version: &facts.api_version,
            app_version: facts.app_version.as_deref(),
            name: &facts.name,
            kind: "application",
            version: &facts.version,
        };
        let config = Blob::of(serde_json::to_vec(&config).map_err(unserializable)?.into());
        let provenance = provenance.map(Blob::of);
        let descriptor =
            |media_type, blob: &Blob| Descriptor { media_type, digest: blob.digest, size: blob.size };
        let layers = [Some(descriptor(CHART_TYPE, &archive))]
            .into_iter()
            .chain([provenance.as_ref().map(|blob| descriptor(PROVENANCE_TYPE, blob))]);
        let manifest = Manifest {
            schema_version: 2,
            media_type: MANIFEST_TYPE,
            config: descriptor(CONFIG_TYPE, &config),
            layers: layers.flatten().collect(),
            annotations: [
                ("org.opencontainers.image.title", facts.name.clone()),
                ("org.opencontainers.image.version", facts.version.clone()),
            ]
            .into(),
        };
        let manifest = Bytes::from(serde_json::to_vec(&manifest).map_err(unserializable)?);
        let digest = ContentDigest::of(&manifest);
        let tag = tag(&facts.version, digest);
        Ok(Self { facts, config, archive, provenance, manifest, digest, tag })
    }
}

/// `<version with + as _>-<12 hex of the manifest digest>`. The version is for people: what tags cannot hold is `_`, and
/// what is too long is cut.
fn tag(version: &str, digest: ContentDigest) -> String {
    let plain: String = tag_of(version)
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' })
        .take(MOST_VERSION_IN_TAG)
        .collect();
    let plain = plain.trim_start_matches(['.', '-']);
    let plain = if plain.is_empty() { "_" } else { plain };
    format!("{plain}-{}", &digest.hex()[..12])
}

impl Mirror {
    /// A mirror into everything below `registry`.
    pub fn new(client: Client, registry: Repository, upstreams: Upstreams) -> Self {
        let permits = Semaphore::new(client.settings.parallel.max(1));
        Self { sources: Sources::new(client.clone(), upstreams), client, registry, permits }
    }

    /// Makes sure that an upstream chart lies in the runtime registry. `known` is what this returned for the same source
    /// before: if that is still there, it is returned again, for one `HEAD`. A published version does not change, so
    /// upstream is not asked.
    ///
    /// # Errors
    ///
    /// [`Reason::DigestMismatch`] when the archive is not what upstream states, [`Reason::Conflict`] when the chart's tag
    /// is at other content, and what each side answers.
    pub async fn mirror(&self, source: &ChartSource, known: Option<&Published>) -> Result<Published, Error> {
        let _permit = self.permits.acquire().await;
        if let Some(known) = known
            && self.holds(&Repository::parse(&known.repository)?, &known.tag, known.digest).await?
        {
            return Ok(known.clone());
        }
        let file = self.scratch_file()?;
        let doing = |error: Error| error.during(source);
        let fetched = self.sources.fetch(source, file.path()).await.map_err(doing)?;
        let name = source.to_string();
        let facts = read_facts(file.path().to_owned(), name).await?;
        check_version(source, &fetched, &facts)?;
        let archive = Blob {
            digest: fetched.digest,
            size: fetched.size,
            content: Content::File(file.path().to_owned()),
        };
        let below = format!("charts/{}", facts.name);
        let artifact = Artifact::new(facts, archive, fetched.provenance)?;
        let repository = self
            .registry
            .join(&below)
            .map_err(|error| Error::new(Reason::ChartSourceUnsupported, error.message).during(source))?;
        self.publish(repository, artifact, fetched.is_verified, fetched.repository.as_ref())
            .await
            .map_err(doing)
    }

    /// Makes sure that a chart of the bundle's own lies in the runtime registry: its files, by path below the chart's
    /// folder. The same files make the same bytes, and cost one `HEAD` when they are there.
    ///
    /// # Errors
    ///
    /// [`Reason::ChartSourceUnsupported`] when the files are no chart, and as for [`Self::mirror`].
    pub async fn wrap(&self, release: &str, files: &BTreeMap<String, Bytes>) -> Result<Published, Error> {
        let _permit = self.permits.acquire().await;
        let name = format!("the chart of release {release}");
        let archive = pack(release, files)?;
        let subject = Subject { name: &name, reason: Reason::ChartSourceUnsupported };
        let facts = chart::read(&mut &archive[..], subject)?;
        let artifact = Artifact::new(facts, Blob::of(archive), None)?;
        let repository = self.registry.join(&format!("wrappers/{release}"))?;
        self.publish(repository, artifact, true, None).await.map_err(|error| error.during(&name))
    }

    /// What the archive of a published chart says, read from the runtime registry.
    ///
    /// # Errors
    ///
    /// As reading and downloading it fails.
    pub async fn facts(&self, published: &Published) -> Result<ChartFacts, Error> {
        let _permit = self.permits.acquire().await;
        let repository = Repository::parse(&published.repository)?;
        let file = self.scratch_file()?;
        self.client.download_blob(&repository, published.archive, file.path(), MOST_ARCHIVE_BYTES).await?;
        read_facts(file.path().to_owned(), format!("{repository}@{}", published.digest)).await
    }

    /// Whether the tag is there, at this digest.
    async fn holds(&self, repository: &Repository, tag: &str, digest: ContentDigest) -> Result<bool, Error> {
        match self.client.digest_of(repository, &Target::Tag(tag.to_owned())).await? {
            None => Ok(false),
            Some(there) if there == digest => Ok(true),
            Some(there) => Err(moved(repository, tag, there, digest)),
        }
    }

    async fn publish(
        &self,
        repository: Repository,
        artifact: Artifact,
        verified: bool,
        near: Option<&Repository>,
    ) -> Result<Published, Error> {
        if !self.holds(&repository, &artifact.tag, artifact.digest).await? {
            self.client.ensure_blob(&repository, &artifact.archive, near).await?;
            for blob in [Some(&artifact.config), artifact.provenance.as_ref()].into_iter().flatten() {
                self.client.ensure_blob(&repository, blob, near).await?;
            }
            self.client.put_manifest(&repository, &artifact.tag, artifact.manifest).await?;
        }
        Ok(Published {
            repository: repository.to_string(),
            tag: artifact.tag,
            digest: artifact.digest,
            archive: artifact.archive.digest,
            verified,
            facts: artifact.facts,
        })
    }

    /// A file that is gone when this is dropped.
    fn scratch_file(&self) -> Result<tempfile::NamedTempFile, Error> {
        let folder = &self.client.settings.scratch;
        tempfile::Builder::new().prefix("chart-").tempfile_in(folder).map_err(|error| {
            let text = format!("no scratch file can be made in {}: {error}", folder.display());
            Error::new(Reason::Transient, text)
        })
    }
}

/// Reads an archive's facts without holding up other tasks.
async fn read_facts(path: PathBuf, name: String) -> Result<ChartFacts, Error> {
    let reading = tokio::task::spawn_blocking(move || read_facts_now(&path, &name));
    reading.await.map_err(|error| Error::new(Reason::Transient, format!("reading a chart: {error}")))?
}

fn read_facts_now(path: &Path, name: &str) -> Result<ChartFacts, Error> {
    let file = std::fs::File::open(path).map_err(|error| super::transport::local(path, &error))?;
    let subject = Subject { name, reason: Reason::ChartSourceUnsupported };
    chart::read(&mut std::io::BufReader::new(file), subject)
}

/// The archive's own version must be the one that upstream files it under.
fn check_version(source: &ChartSource, fetched: &Fetched, facts: &ChartFacts) -> Result<(), Error> {
    let plain = |version: &str| without_v(&tag_of(version)).to_owned();
    match &fetched.version {
        Some(version) if plain(version) != plain(&facts.version) => {
            let text = format!("{source}: the archive holds version {}", facts.version);
            Err(Error::new(Reason::ChartSourceUnsupported, text))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::reference::is_tag;

    fn facts() -> ChartFacts {
        ChartFacts {
            name: "gpu".to_owned(),
            version: "8.7.3+unicode".to_owned(),
            app_version: Some("1".to_owned()),
            api_version: "v2".to_owned(),
            owns_crds: false,
            defaults: chart::ChartDefaults::default(),
        }
    }

    #[test]
    fn every_version_makes_a_tag() {
        let digest = ContentDigest::of(b"");
        for (version, start) in [
            ("8.7.3+unicode", "8.7.3_unicode-"),
            ("v1.0.0-rc.1", "v1.0.0-rc.1-"),
            ("-1", "1-"),
            ("é", "_-"),
            ("", "_-"),
            (&"1".repeat(300), &format!("{}-", "1".repeat(115))),
        ] {
            let tag = tag(version, digest);
            assert_eq!(tag, format!("{start}e3b0c44298fc"));
            assert!(is_tag(&tag), "{tag}");
        }
    }

    #[test]
    fn the_same_archive_makes_the_same_manifest() {
        let artifact = |provenance: Option<&'static [u8]>| {
            Artifact::new(
                facts(),
                Blob::of(Bytes::from_static(b"archive")),
                provenance.map(Bytes::from_static),
            )
            .unwrap()
        };
        assert_eq!(artifact(None).manifest, artifact(None).manifest);
        // Known bytes: whatever changes them changes every chart's digest.
        insta::assert_snapshot!(std::str::from_utf8(&artifact(Some(b"signed")).manifest).unwrap(), @r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.cncf.helm.config.v1+json","digest":"sha256:3d6cae2280b2cdb0de24b255636d929dca4f6f2cdc84e525b01c2e801a184972","size":96},"layers":[{"mediaType":"application/vnd.cncf.helm.chart.content.v1.tar+gzip","digest":"sha256:0eb3e36bfb24dcd9bb1d1bece1531216b59539a8fde17ee80224af0653c92aa3","size":7},{"mediaType":"application/vnd.cncf.helm.chart.provenance.v1.prov","digest":"sha256:4a3cdfae6f291c8f544daea5b72905cf9e74c1ed427d831ad0d7ca00c73c794d","size":6}],"annotations":{"org.opencontainers.image.title":"gpu","org.opencontainers.image.version":"8.7.3+unicode"}}"#);
    }
}
