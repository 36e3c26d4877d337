//! What the registry did, as the resolver uses it: charts' facts for the plan, and failures for the pipeline.
//!
//! Source: design sections 2, 3 and 5; operator-facts section 6.

use jiff::SignedDuration;

use crate::aicr::run::RetryClass;
use crate::aicr::upstream_env::{UpstreamChart, UpstreamSource};
use crate::api::Time;
use crate::plan::Digest;
use crate::plan::document::Upstream;
use crate::plan::normal::{Defaults, Subchart};
use crate::registry::{self, ChartDefaults, Published};

use super::bundle::{Folder, FolderChart};
use super::helm_yaml;
use super::pipeline::Content;
use super::reason::{Reason, Refused};
use super::releases::ChartFacts;

/// The facts of a release's chart, and what a reader of the plan should know about it.
///
/// # Errors
///
/// When a digest is none; a published chart cannot cause it, the two types only do not know each other.
pub fn facts(folder: &Folder, published: &Published) -> Result<(ChartFacts, Option<String>), Refused> {
    let digest = |digest: registry::ContentDigest| {
        let unreadable = |error: crate::plan::digest::DigestError| {
            Refused::new(Reason::Registry(registry::Reason::Unexpected), error.to_string())
        };
        Digest::parse(&digest.to_string()).map_err(unreadable)
    };
    let upstream = match &folder.chart {
        FolderChart::Local { .. } => None,
        FolderChart::Upstream(chart) => Some(Upstream {
            repository: upstream_repository(chart).to_owned(),
            archive_digest: digest(published.archive)?,
        }),
    };
    let name = &folder.release.name;
    let note = (!published.verified).then(|| {
        format!("release {name}: its repository states no digest of the chart's archive, so none was checked")
    });
    let facts = ChartFacts {
        repository: published.repository.clone(),
        digest: digest(published.digest)?,
        upstream,
        owns_crds: published.facts.owns_crds,
        defaults: defaults(&published.facts.defaults),
    };
    Ok((facts, note))
}

/// The chart repository that AICR names; for a chart in a registry, its whole reference.
fn upstream_repository(chart: &UpstreamChart) -> &str {
    match &chart.source {
        UpstreamSource::Repository { url, .. } => url,
        UpstreamSource::Oci { reference } => reference,
    }
}

/// Default values, read as Helm reads them. A file that cannot be read hides what it holds, so nothing is certainly
/// absent.
pub fn defaults(chart: &ChartDefaults) -> Defaults {
    let read = chart.values.as_deref().map(|text| helm_yaml::read("values.yaml", text));
    let (values, readable) = match read {
        None => (serde_json::Value::Null, true),
        Some(Ok(values)) => (values, true),
        Some(Err(_)) => (serde_json::Value::Null, false),
    };
    let subchart = |below: &registry::SubchartDefaults| Subchart {
        names: below.names.clone(),
        defaults: defaults(&below.defaults),
    };
    Defaults {
        values,
        subcharts: chart.subcharts.iter().map(subchart).collect(),
        complete: chart.complete && readable,
    }
}

/// What a failure means for the pipeline. `failures` counts those in a row, this one included.
///
/// What a change in the registry or at the upstream can cure is told at once and tried again every ten minutes; what may
/// pass by itself is tried again sooner, at the server's own word if it gave one; what lies in the content itself waits for
/// other content.
pub fn failed(error: &registry::Error, failures: u32, now: Time) -> Content {
    use registry::Reason as Cause;
    let refused = Refused::new(Reason::Registry(error.reason), error.message.clone());
    let class = match error.reason {
        Cause::ChartSourceUnsupported | Cause::ContentTooLarge | Cause::ArtifactUnsupported => {
            RetryClass::Never
        }
        Cause::Transient => RetryClass::Transient,
        Cause::NotFound
        | Cause::Unauthorized
        | Cause::RegistryCredentialsUnavailable
        | Cause::DigestMismatch
        | Cause::Conflict
        | Cause::QuotaExceeded
        | Cause::Unexpected => RetryClass::Authorization,
    };
    let Some(wait) = class.wait_after(failures.max(1)) else { return Content::Refused(refused) };
    let wait = error.retry_after.map_or(wait, |asked| asked.max(wait));
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    let at = now.0.checked_add(wait).map_or(now, |at| Time(at).truncated());
    Content::Failing { at, refused: (class != RetryClass::Transient).then_some(refused) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::api::fixtures::at;
    use crate::registry::{ContentDigest, Error, SubchartDefaults};
    use crate::resolver::bundle::fixtures::small;
    use crate::resolver::bundle::read;

    fn chart(values: &str) -> ChartDefaults {
        ChartDefaults { values: Some(values.to_owned()), subcharts: Vec::new(), complete: true }
    }

    #[test]
    fn defaults_are_read_as_helm_reads_them() {
        let child = SubchartDefaults { names: vec!["child".to_owned()], defaults: chart("on: 012") };
        let parent = ChartDefaults { subcharts: vec![child], ..chart("a: yes") };
        let found = defaults(&parent);
        assert_eq!((&found.values, found.complete), (&json!({"a": true}), true));
        assert_eq!(found.subcharts[0].defaults.values, json!({"true": 10}));
        // A chart without the file has no defaults, and one whose file is broken may have any.
        assert!(defaults(&ChartDefaults { values: None, ..chart("") }).complete);
        assert!(!defaults(&chart("a: [")).complete);
        assert!(!defaults(&ChartDefaults { complete: false, ..chart("a: 1") }).complete);
    }

    #[test]
    fn a_published_chart_gives_its_releases_facts() {
        let bundle = read(&small().tree()).unwrap();
        let mut published = Published {
            repository: "oci://registry.test/charts/nfd".to_owned(),
            tag: "1".to_owned(),
            digest: ContentDigest::of(b"manifest"),
            archive: ContentDigest::of(b"archive"),
            verified: true,
            facts: serde_json::from_value(json!({"name": "nfd", "version": "1", "apiVersion": "v2",
                "ownsCrds": true, "defaults": {"complete": true}}))
            .unwrap(),
        };
        let (mirrored, note) = facts(&bundle.folders[0], &published).unwrap();
        let upstream = mirrored.upstream.unwrap();
        assert_eq!((mirrored.digest, mirrored.owns_crds), (Digest::of_bytes(b"manifest"), true));
        assert_eq!(upstream.repository, "https://charts.test");
        assert_eq!((upstream.archive_digest, note), (Digest::of_bytes(b"archive"), None));
        published.verified = false;
        let (wrapper, note) = facts(&bundle.folders[1], &published).unwrap();
        assert!(wrapper.upstream.is_none());
        assert!(note.unwrap().starts_with("release gpu-operator-pre: its repository states no digest"));
    }

    #[test]
    fn a_failure_of_the_registry_is_told_and_tried_again_as_its_kind_asks() {
        use registry::Reason as Cause;
        for (cause, failures, retry_after, then, told) in [
            (Cause::ContentTooLarge, 1, None, None, Some("ContentTooLarge")),
            (Cause::ArtifactUnsupported, 1, None, None, Some("AICRArtifactUnsupported")),
            (Cause::ChartSourceUnsupported, 1, None, None, Some("ChartSourceUnsupported")),
            (Cause::Unauthorized, 1, None, Some("01:10:00"), Some("Unauthorized")),
            (Cause::Conflict, 9, None, Some("01:10:00"), Some("Conflict")),
            (Cause::DigestMismatch, 1, None, Some("01:10:00"), Some("DigestMismatch")),
            (Cause::Transient, 1, None, Some("01:00:30"), None),
            (Cause::Transient, 3, None, Some("01:02:00"), None),
            (Cause::Transient, 1, Some(90), Some("01:01:30"), None),
            (Cause::Transient, 1, Some(1), Some("01:00:30"), None),
            (Cause::Transient, 0, None, Some("01:00:30"), None),
        ] {
            let mut error = Error::new(cause, "what to do");
            error.retry_after = retry_after.map(Duration::from_secs);
            let (found, refused) = match failed(&error, failures, at("01:00:00")) {
                Content::Failing { at, refused } => (Some(at), refused),
                Content::Refused(refused) => (None, Some(refused)),
                other => panic!("{other:?}"),
            };
            assert_eq!(found, then.map(at), "{cause} {failures}");
            assert_eq!(refused.map(|refused| refused.reason.as_str()), told);
        }
    }
}
