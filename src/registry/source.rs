//! Where upstream charts come from: HTTP chart repositories and OCI registries.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::Method;
use reqwest::Url;
use serde::Deserialize;
use tokio::sync::OnceCell;

use super::blobs::mismatch;
use super::client::{About, Client};
use super::digest::ContentDigest;
use super::error::{Error, Reason};
use super::index::{Index, MOST_INDEX_BYTES, below, without_v};
use super::reference::{Reference, Repository, Target};
use super::transport::Request;
use super::upstreams::Upstreams;

/// The most bytes of a chart's archive.
pub(super) const MOST_ARCHIVE_BYTES: u64 = 128 * 1024 * 1024;
const MOST_PROVENANCE_BYTES: usize = 1024 * 1024;
pub(super) const CONFIG_TYPE: &str = "application/vnd.cncf.helm.config.v1+json";
pub(super) const CHART_TYPE: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
/// What Helm wrote before 3.7.
const OLD_CHART_TYPE: &str = "application/tar+gzip";
pub(super) const PROVENANCE_TYPE: &str = "application/vnd.cncf.helm.chart.provenance.v1.prov";

/// An upstream chart as a bundle names it (`upstream.env`): its own address, before `registry.upstreams`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChartSource {
    place: Place,
    version: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// Repository and chart.
    Http(String, String),
    /// The chart's repository and, if the address has one, tag or digest.
    Oci(Repository, Option<Target>),
}

impl ChartSource {
    /// Reads the three values of `upstream.env`; `repository` is empty for OCI charts.
    ///
    /// # Errors
    ///
    /// [`Reason::ChartSourceUnsupported`] for anything else than an `https://` or `http://` repository or an `oci://`
    /// chart, and for a version that is none.
    pub fn new(chart: &str, repository: &str, version: &str) -> Result<Self, Error> {
        let unsupported = |why: &str| {
            let text = format!("the chart '{chart}' of '{repository}', version '{version}': {why}");
            Error::new(Reason::ChartSourceUnsupported, text)
        };
        let place = if chart.starts_with("oci://") && repository.is_empty() {
            let reference = Reference::parse(chart).map_err(|error| unsupported(&error.message))?;
            Place::Oci(reference.repository, reference.target)
        } else if repository.starts_with("https://") || repository.starts_with("http://") {
            if chart.is_empty() || chart.contains(['/', '\\', ':']) {
                return Err(unsupported("that is no chart's name"));
            }
            Place::Http(repository.to_owned(), chart.to_owned())
        } else {
            return Err(unsupported("a chart comes from an https:// repository or as oci://"));
        };
        let is_pinned = matches!(place, Place::Oci(_, Some(_)));
        if !(is_pinned && version.is_empty()) && semver::Version::parse(without_v(version)).is_err() {
            return Err(unsupported("it is not pinned: one exact semantic version is wanted"));
        }
        Ok(Self { place, version: version.to_owned() })
    }

    /// The version asked for; empty for an OCI chart that its address pins.
    pub fn version(&self) -> &str {
        &self.version
    }
}

impl fmt::Display for ChartSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Http(repository, chart) => write!(f, "the chart {chart} {} of {repository}", self.version),
            Place::Oci(repository, Some(target)) => write!(f, "the chart {repository} at {target}"),
            Place::Oci(repository, None) => write!(f, "the chart {repository} {}", self.version),
        }
    }
}

/// A chart's archive in a file, checked against its upstream digest.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) digest: ContentDigest,
    pub(super) size: u64,
    /// Whether upstream stated the digest.
    pub(super) is_verified: bool,
    /// What upstream calls the version.
    pub(super) version: Option<String>,
    pub(super) provenance: Option<Bytes>,
    /// The OCI repository that it came from.
    pub(super) repository: Option<Repository>,
}

/// The upstreams of one resolution. Each chart repository's index is fetched once.
#[derive(Debug)]
pub(super) struct Sources {
    client: Client,
    upstreams: Upstreams,
    indexes: Mutex<HashMap<String, Arc<OnceCell<Arc<Index>>>>>,
}

#[derive(Deserialize)]
struct Manifest {
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: String,
    digest: String,
}

impl Sources {
    pub(super) fn new(client: Client, upstreams: Upstreams) -> Self {
        Self { client, upstreams, indexes: Mutex::default() }
    }

    /// Fetches a chart's archive into a file.
    pub(super) async fn fetch(&self, source: &ChartSource, file: &Path) -> Result<Fetched, Error> {
        match &source.place {
            Place::Http(repository, chart) => self.fetch_http(repository, chart, &source.version, file).await,
            Place::Oci(repository, target) => {
                self.fetch_oci(repository, target.as_ref(), &source.version, file).await
            }
        }
    }

    async fn fetch_http(
        &self,
        repository: &str,
        chart: &str,
        version: &str,
        file: &Path,
    ) -> Result<Fetched, Error> {
        let base = url(&self.upstreams.resolve(repository))?;
        let listed = self.index(&base).await?.find(&base, chart, version)?;
        let archive = url(&self.upstreams.resolve(listed.url.as_str()))?;
        let shown = super::transport::display(&archive);
        let (digest, size) = self.client.download(About::Charts, archive, file, MOST_ARCHIVE_BYTES).await?;
        if let Some(wanted) = listed.digest.filter(|wanted| *wanted != digest) {
            return Err(mismatch(&shown, wanted, digest));
        }
        Ok(Fetched {
            digest,
            size,
            is_verified: listed.digest.is_some(),
            version: Some(listed.version),
            provenance: None,
            repository: None,
        })
    }

    async fn index(&self, base: &Url) -> Result<Arc<Index>, Error> {
        let cell = {
            let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(indexes.entry(base.to_string()).or_default())
        };
        cell.get_or_try_init(|| self.fetch_index(base)).await.cloned()
    }

    async fn fetch_index(&self, base: &Url) -> Result<Arc<Index>, Error> {
        let shown = super::transport::display(base);
        let unusable = |why: String| {
            Error::new(Reason::ChartSourceUnsupported, format!("the index of {shown} cannot be read: {why}"))
        };
        let address = below(base, "index.yaml").map_err(unusable)?;
        let response = self.client.call(About::Charts, &Request::new(Method::GET, address), false).await?;
        let bytes = self.client.transport.body(response, MOST_INDEX_BYTES).await?;
        let parsed = tokio::task::spawn_blocking(move || Index::parse(&bytes)).await;
        parsed.map_err(|error| unusable(error.to_string()))?.map(Arc::new).map_err(unusable)
    }

    async fn fetch_oci(
        &self,
        upstream: &Repository,
        target: Option<&Target>,
        version: &str,
        file: &Path,
    ) -> Result<Fetched, Error> {
        let repository = Repository::parse(&self.upstreams.resolve(&upstream.to_string()))?;
        let manifest = match target {
            Some(target) => self.client.manifest(&repository, target).await?.0,
            None => self.manifest_of_version(&repository, version).await?,
        };
        let unsupported =
            |why: String| Error::new(Reason::ChartSourceUnsupported, format!("{repository}: {why}"));
        let manifest: Manifest = serde_json::from_slice(&manifest)
            .map_err(|error| unsupported(format!("the manifest cannot be read: {error}")))?;
        let digest_of = |descriptor: &Descriptor| {
            descriptor.digest.parse::<ContentDigest>().map_err(|error| unsupported(error.to_string()))
        };
        if manifest.config.is_none_or(|config| config.media_type != CONFIG_TYPE) {
            return Err(unsupported("it is no Helm chart: its config is of another type".to_owned()));
        }
        let of_type = |types: &[&str]| {
            manifest
                .layers
                .iter()
                .filter(|layer| types.contains(&layer.media_type.as_str()))
                .collect::<Vec<_>>()
        };
        let charts = of_type(&[CHART_TYPE, OLD_CHART_TYPE]);
        let [chart] = charts[..] else {
            return Err(unsupported(format!("it has {} chart layers, exactly one is wanted", charts.len())));
        };
        let digest = digest_of(chart)?;
        let provenance = match of_type(&[PROVENANCE_TYPE])[..] {
            [] => None,
            [layer] => Some(self.client.blob(&repository, digest_of(layer)?, MOST_PROVENANCE_BYTES).await?),
            _ => return Err(unsupported("it has several provenance layers".to_owned())),
        };
        let size = self.client.download_blob(&repository, digest, file, MOST_ARCHIVE_BYTES).await?;
        let version = (!version.is_empty()).then(|| version.to_owned());
        Ok(Fetched { digest, size, is_verified: true, version, provenance, repository: Some(repository) })
    }

    /// The manifest of the tag that the version has, with or without its leading `v`.
    async fn manifest_of_version(&self, repository: &Repository, version: &str) -> Result<Bytes, Error> {
        let exact = tag_of(version);
        let other = exact.strip_prefix('v').map_or_else(|| format!("v{exact}"), ToOwned::to_owned);
        match self.client.manifest(repository, &Target::Tag(exact)).await {
            Err(error) if error.reason == Reason::NotFound => {
                match self.client.manifest(repository, &Target::Tag(other)).await {
                    // Nobody knows the second spelling: the first is what is missing.
                    Err(second) if second.reason == Reason::NotFound => Err(error),
                    answer => answer.map(|(bytes, _)| bytes),
                }
            }
            answer => answer.map(|(bytes, _)| bytes),
        }
    }
}

/// A version as a tag: `+` is no letter of tags, so that Helm writes `_`.
pub(super) fn tag_of(version: &str) -> String {
    version.replace('+', "_")
}

fn url(text: &str) -> Result<Url, Error> {
    text.parse::<Url>()
        .map_err(|error| Error::new(Reason::ChartSourceUnsupported, format!("the address '{text}': {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_as_bundles_write_them() {
        for (chart, repository, version, shown) in [
            (
                "gpu-operator",
                "https://h/nvidia",
                "v26.7.1",
                "the chart gpu-operator v26.7.1 of https://h/nvidia",
            ),
            ("oci://h/a/b", "", "1.2.3+x", "the chart oci://h/a/b 1.2.3+x"),
            ("oci://h/a/b:1.2.3", "", "1.2.3", "the chart oci://h/a/b at 1.2.3"),
        ] {
            assert_eq!(ChartSource::new(chart, repository, version).unwrap().to_string(), shown);
        }
        let pinned = format!("oci://h/a@{}", ContentDigest::of(b""));
        assert!(ChartSource::new(&pinned, "", "").is_ok());
    }

    #[test]
    fn other_sources_are_unsupported() {
        for (chart, repository, version) in [
            ("a", "", "1.0.0"),
            ("a", "git://h", "1.0.0"),
            ("./a", "https://h", "1.0.0"),
            ("", "https://h", "1.0.0"),
            ("oci://h/a", "https://h", "1.0.0"),
            ("oci://h/A", "", "1.0.0"),
            ("oci://h/a", "", ""),
            ("oci://h/a", "", "latest"),
            ("a", "https://h", "^1.0.0"),
            ("a", "https://h", "1.0"),
            ("a", "https://h", ""),
            ("a", "file:///x", "1.0.0"),
        ] {
            let error = ChartSource::new(chart, repository, version).unwrap_err();
            assert_eq!(error.reason, Reason::ChartSourceUnsupported, "{error}");
        }
    }
}
