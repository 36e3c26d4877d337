//! The index of an HTTP chart repository.
//!
//! Source: Helm's chart repository guide; cases, trial 18.

use std::collections::BTreeMap;
use std::fmt;

use reqwest::Url;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::digest::ContentDigest;
use super::error::{Error, Reason};

/// The most bytes of an index.
pub(super) const MOST_INDEX_BYTES: usize = 32 * 1024 * 1024;

/// What an index lists: each chart's usable entries.
#[derive(Debug)]
pub(super) struct Index {
    charts: BTreeMap<String, Vec<Entry>>,
}

/// One version of a chart.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Entry {
    pub(super) version: String,
    #[serde(default)]
    digest: Option<String>,
    #[serde(default)]
    pub(super) urls: Vec<String>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    entries: BTreeMap<String, Entries>,
}

/// A chart's entries; whatever is no list of them counts as none.
#[derive(Default)]
struct Entries(Vec<Entry>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntriesVisitor)
    }
}

/// Takes entries one by one: a derived choice would hold all of a chart's in memory, with everything that they say.
struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the versions of a chart")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Entries, A::Error> {
        let mut entries = Vec::new();
        while let Some(item) = items.next_element()? {
            if let Maybe::Entry(entry) = item
                && is_version(&entry.version)
            {
                entries.push(entry);
            }
        }
        Ok(Entries(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Entries, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Entries::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Entries, E> {
        Ok(Entries::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Entries, E> {
        Ok(Entries::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Entries, E> {
        Ok(Entries::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Entries, E> {
        Ok(Entries::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Entries, E> {
        Ok(Entries::default())
    }

    fn visit_unit<E>(self) -> Result<Entries, E> {
        Ok(Entries::default())
    }
}

/// An entry, or something that some tool left in its place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Maybe {
    Entry(Entry),
    Unusable(IgnoredAny),
}

impl Entry {
    /// The digest, which some tools write with its algorithm.
    fn digest(&self) -> Result<Option<ContentDigest>, Error> {
        let Some(text) = self.digest.as_deref().filter(|text| !text.is_empty()) else { return Ok(None) };
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        ContentDigest::from_hex(hex).map(Some).map_err(|error| {
            Error::new(Reason::ChartSourceUnsupported, format!("version {}: {error}", self.version))
        })
    }

    fn is_same_content(&self, other: &Self) -> bool {
        match (&self.digest, &other.digest) {
            (Some(one), Some(other)) => one == other,
            (None, None) => self.urls == other.urls,
            _ => false,
        }
    }
}

/// Where a chart's archive lies and what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) version: String,
    pub(super) digest: Option<ContentDigest>,
    pub(super) url: Url,
}

impl Index {
    /// Reads an index. It blocks: a large one takes a good part of a second.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let document: Document = serde_yaml::from_slice(bytes).map_err(|error| error.to_string())?;
        let charts = document.entries.into_iter().map(|(name, entries)| (name, entries.0)).collect();
        Ok(Self { charts })
    }

    /// The one entry of this version: the text itself, else the same version with or without a leading `v`.
    pub(super) fn find(&self, base: &Url, chart: &str, version: &str) -> Result<Listed, Error> {
        let place = super::transport::display(base);
        let entries = self
            .charts
            .get(chart)
            .ok_or_else(|| Error::new(Reason::NotFound, format!("{place} lists no chart '{chart}'")))?;
        let spelled: [&dyn Fn(&str) -> bool; 2] =
            [&|listed| listed == version, &|listed| without_v(listed) == without_v(version)];
        let found: Vec<_> = spelled
            .iter()
            .map(|same| entries.iter().filter(|entry| same(&entry.version)).collect::<Vec<_>>())
            .find(|found| !found.is_empty())
            .unwrap_or_default();
        let [entry, others @ ..] = &found[..] else {
            let text = format!("{place} lists no version '{version}' of the chart {chart}");
            return Err(Error::new(Reason::NotFound, text));
        };
        if others.iter().any(|other| !entry.is_same_content(other)) {
            let text = format!(
                "{place} lists version '{version}' of the chart {chart} {} times, with different archives",
                found.len()
            );
            return Err(Error::new(Reason::ChartSourceUnsupported, text));
        }
        let unusable = |why: String| {
            Error::new(
                Reason::ChartSourceUnsupported,
                format!("{place}, chart {chart}, version {version}: {why}"),
            )
        };
        let url = entry.urls.first().ok_or_else(|| unusable("it has no address".to_owned()))?;
        Ok(Listed {
            version: entry.version.clone(),
            digest: entry.digest().map_err(|error| error.during(format!("{place}, chart {chart}")))?,
            url: archive_url(base, url).map_err(unusable)?,
        })
    }
}

/// Semantic versions as Helm takes them, with or without a leading `v`.
fn is_version(text: &str) -> bool {
    semver::Version::parse(without_v(text)).is_ok()
}

/// A version without one leading `v`.
pub(super) fn without_v(version: &str) -> &str {
    version.strip_prefix('v').unwrap_or(version)
}

/// Something in a repository's folder, whether or not its address ends with a slash. The repository's query is kept,
/// unless the reference brings its own: some repositories carry their access there.
pub(super) fn below(base: &Url, reference: &str) -> Result<Url, String> {
    let mut folder = base.clone();
    folder.set_query(None);
    folder.set_fragment(None);
    if !folder.path().ends_with('/') {
        let path = format!("{}/", folder.path());
        folder.set_path(&path);
    }
    let mut url = folder.join(reference).map_err(|error| format!("the address '{reference}': {error}"))?;
    let same_place =
        url.host_str() == base.host_str() && url.port_or_known_default() == base.port_or_known_default();
    if url.query().is_none() && same_place {
        url.set_query(base.query());
    }
    Ok(url)
}

fn archive_url(base: &Url, reference: &str) -> Result<Url, String> {
    // An absolute address is complete; it does not get the repository's query.
    let url = match Url::parse(reference) {
        Ok(url) => url,
        Err(_) => below(base, reference)?,
    };
    match url.scheme() {
        "https" => Ok(url),
        "http" if base.scheme() == "http" => Ok(url),
        "http" => Err(format!(
            "the archive's address {} is http and the repository's https",
            super::transport::display(&url)
        )),
        scheme => Err(format!("an archive cannot be fetched by '{scheme}'")),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const ONE: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const TWO: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn find(index: &str, version: &str) -> Result<Listed, Error> {
        Index::parse(index.as_bytes()).unwrap().find(&"https://h/charts?key=1".parse().unwrap(), "a", version)
    }

    #[test]
    fn bad_entries_are_skipped() {
        let index = format!(
            "entries:\n  odd: none\n  worse: [1]\n  bad: {{b: [1]}}\n  none:\n  number: 1\n  yes: true\n  half: 0.5\n  less: -1\n  a:\n  - text\n  - {{version: [], urls: [x]}}\n  - {{version: latest, urls: [x]}}\n  - \
             {{version: 1.2, urls: [x]}}\n  - {{version: 1.2.3+b1, digest: {ONE}, urls: [a-1.2.3+b1.tgz], extra: {{deep: [1]}}}}\n"
        );
        let listed = find(&index, "1.2.3+b1").unwrap();
        assert_eq!(listed.digest.unwrap().hex(), ONE);
        assert_eq!(listed.url.as_str(), "https://h/charts/a-1.2.3+b1.tgz?key=1");
        for version in ["latest", "1.2", "1.2.3", "1.2.3+b2"] {
            assert_eq!(find(&index, version).unwrap_err().reason, Reason::NotFound, "{version}");
        }
    }

    #[test]
    fn a_leading_v_does_not_matter_unless_both_are_listed() {
        let index = format!(
            "entries: {{a: [{{version: v1.0.0, digest: {ONE}, urls: [x]}}, {{version: 2.0.0, digest: {TWO}, urls: [x]}}, {{version: v2.0.0, digest: {ONE}, urls: [x]}}]}}"
        );
        for (version, wanted) in [("1.0.0", ONE), ("v1.0.0", ONE), ("2.0.0", TWO), ("v2.0.0", ONE)] {
            assert_eq!(find(&index, version).unwrap().digest.unwrap().hex(), wanted, "{version}");
        }
    }

    #[test]
    fn duplicates_are_an_error_unless_they_are_equal() {
        let twice = |one: &str, other: &str| {
            let index = format!("entries: {{a: [{{version: 1.0.0, {one}}}, {{version: 1.0.0, {other}}}]}}");
            find(&index, "1.0.0").map_err(|error| error.reason)
        };
        let digest = |hex: &str, url: &str| format!("digest: {hex}, urls: [{url}]");
        assert!(twice(&digest(ONE, "x"), &digest(ONE, "y")).is_ok());
        assert!(twice("urls: [x]", "urls: [x]").is_ok());
        for (one, other) in [
            (digest(ONE, "x"), digest(TWO, "x")),
            (digest(ONE, "x"), "urls: [x]".to_owned()),
            ("urls: [x]".to_owned(), "urls: [y]".to_owned()),
        ] {
            assert_eq!(twice(&one, &other), Err(Reason::ChartSourceUnsupported));
        }
    }

    #[test]
    fn addresses_are_resolved_against_the_repository() {
        let cases = [
            ("https://h/charts", "a.tgz", Ok("https://h/charts/a.tgz")),
            ("https://h/charts/", "a.tgz?sig=1", Ok("https://h/charts/a.tgz?sig=1")),
            ("https://h/charts?key=1", "a.tgz", Ok("https://h/charts/a.tgz?key=1")),
            ("https://h/charts?key=1", "a.tgz?sig=2", Ok("https://h/charts/a.tgz?sig=2")),
            ("https://h/charts?key=1", "/files/a.tgz", Ok("https://h/files/a.tgz?key=1")),
            ("https://h/charts?key=1", "https://cdn/a.tgz", Ok("https://cdn/a.tgz")),
            ("https://h/charts?key=1", "//cdn/a.tgz", Ok("https://cdn/a.tgz")),
            ("http://h/charts", "http://cdn/a.tgz", Ok("http://cdn/a.tgz")),
            ("https://h/charts", "http://cdn/a.tgz", Err("is http")),
            ("https://h/charts", "ftp://cdn/a.tgz", Err("'ftp'")),
            ("https://h/charts", "file:///etc/passwd", Err("'file'")),
        ];
        for (base, reference, wanted) in cases {
            let got = archive_url(&base.parse().unwrap(), reference);
            match wanted {
                Ok(wanted) => assert_eq!(got.unwrap().as_str(), wanted, "{base} {reference}"),
                Err(why) => assert!(got.unwrap_err().contains(why), "{base} {reference}"),
            }
        }
    }

    #[test]
    fn an_entry_without_address_or_with_another_digest_is_refused() {
        for entry in ["version: 1.0.0", "version: 1.0.0, digest: md5, urls: [x]"] {
            let error = find(&format!("entries: {{a: [{{{entry}}}]}}"), "1.0.0").unwrap_err();
            assert_eq!(error.reason, Reason::ChartSourceUnsupported);
            assert!(error.message.starts_with("https://h/charts, chart a"), "{error}");
        }
        assert!(Index::parse(b"<html>{").is_err());
        assert_eq!(find("{}", "1.0.0").unwrap_err().reason, Reason::NotFound);
    }

    #[test]
    fn an_index_of_nine_megabytes_is_read() {
        let mut index = "apiVersion: v1\nentries:\n".to_owned();
        for chart in 0..100 {
            let _ = writeln!(index, "  chart-{chart}:");
            for version in 0..150 {
                let _ = write!(
                    index,
                    "  - apiVersion: v2\n    annotations: {{category: infrastructure, licenses: Apache-2.0}}\n    name: chart-{chart}\n    \
                     version: 1.{version}.0\n    description: {}\n    created: \"2026-01-01T00:00:00Z\"\n    digest: {ONE}\n    \
                     maintainers:\n    - {{name: somebody, url: https://example.com/somebody}}\n    urls:\n    - \
                     https://example.com/chart-{chart}-1.{version}.0.tgz\n",
                    "words ".repeat(50)
                );
            }
        }
        assert!(index.len() > 9_000_000, "{}", index.len());
        let index = Index::parse(index.as_bytes()).unwrap();
        assert!(index.find(&"https://h".parse().unwrap(), "chart-99", "1.149.0").is_ok());
    }
}
