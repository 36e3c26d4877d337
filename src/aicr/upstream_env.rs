//! `upstream.env` of a bundle's upstream folder: which chart to mirror.
//!
//! Source: aicr-cli section 3.2. The file is shell, but exactly three single-quoted assignments, and nothing else is read.

use super::artifact::ArtifactError;
use super::reason::Reason;

/// A chart that its upstream serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamChart {
    /// Where it is.
    pub source: UpstreamSource,
    /// The version that AICR pins.
    pub version: String,
}

/// Where a chart is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpstreamSource {
    /// In a chart repository with an index.
    Repository {
        /// Its URL, `https://…` or `http://…`.
        url: String,
        /// Name of the chart.
        chart: String,
    },
    /// In an OCI registry.
    Oci {
        /// The full reference without a tag, `oci://…`.
        reference: String,
    },
}

/// Reads the file; `path` names it in errors.
///
/// # Errors
///
/// When it holds anything but the three assignments, or names a source of another kind.
pub fn read_upstream_env(path: &str, text: &str) -> Result<UpstreamChart, ArtifactError> {
    let [mut chart, mut repo, mut version] = [None, None, None];
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let error = |problem: &str| ArtifactError::new(path, format!("line {}", index + 1), problem);
        let (name, quoted) = line.split_once('=').ok_or_else(|| error("is no assignment"))?;
        let slot = match name {
            "CHART" => &mut chart,
            "REPO" => &mut repo,
            "VERSION" => &mut version,
            other => return Err(error(&format!("assigns {other:?}: expected CHART, REPO and VERSION"))),
        };
        let value = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        let value = value.filter(|value| !value.chars().any(|c| c == '\'' || c.is_control()));
        let value = value.ok_or_else(|| error(&format!("{name} is not one single-quoted word")))?;
        if slot.replace(value.to_owned()).is_some() {
            return Err(error(&format!("assigns {name} again")));
        }
    }
    let missing = |name: &str| ArtifactError::new(path, name, "missing");
    let version = version.filter(|version| !version.is_empty()).ok_or_else(|| missing("VERSION"))?;
    let chart = chart.filter(|chart| !chart.is_empty()).ok_or_else(|| missing("CHART"))?;
    let repo = repo.ok_or_else(|| missing("REPO"))?;
    Ok(UpstreamChart { source: source(path, chart, repo)?, version })
}

fn source(path: &str, chart: String, repo: String) -> Result<UpstreamSource, ArtifactError> {
    let unsupported = |field: &str, problem: String| ArtifactError {
        reason: Reason::ChartSourceUnsupported,
        ..ArtifactError::new(path, field, problem)
    };
    if chart.starts_with("oci://") {
        if repo.is_empty() {
            return Ok(UpstreamSource::Oci { reference: chart });
        }
        return Err(unsupported("REPO", format!("'{repo}' stands beside an OCI chart: expected ''")));
    }
    if repo.starts_with("https://") || repo.starts_with("http://") {
        return Ok(UpstreamSource::Repository { url: repo, chart });
    }
    Err(unsupported("REPO", format!("'{repo}' is neither https:// nor http://, and the chart is not oci://")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_documented_forms_are_read() {
        let text = "CHART='gpu-operator'\nREPO='https://helm.ngc.nvidia.com/nvidia'\nVERSION='v26.7.1'\n";
        let source = UpstreamSource::Repository {
            url: "https://helm.ngc.nvidia.com/nvidia".into(),
            chart: "gpu-operator".into(),
        };
        assert_eq!(
            read_upstream_env("f", text).unwrap(),
            UpstreamChart { source, version: "v26.7.1".into() }
        );
        let text = "VERSION='1.0'\nCHART='oci://ghcr.io/nvidia/nvsentinel'\nREPO=''";
        let source = UpstreamSource::Oci { reference: "oci://ghcr.io/nvidia/nvsentinel".into() };
        assert_eq!(read_upstream_env("f", text).unwrap(), UpstreamChart { source, version: "1.0".into() });
    }

    #[test]
    fn everything_else_is_refused_by_line() {
        let good = ["CHART='c'", "REPO='https://r'", "VERSION='1'"];
        for (line, replacement, message) in [
            (0, "CHART=c", "line 1: CHART is not one single-quoted word"),
            (0, "CHART='c' # note", "line 1: CHART is not one single-quoted word"),
            (0, "CHART='c'\\''d'", "line 1: CHART is not one single-quoted word"),
            (0, "CHART='c';rm -rf /'", "line 1: CHART is not one single-quoted word"),
            (0, "export CHART='c'", "line 1: assigns \"export CHART\": expected CHART, REPO and VERSION"),
            (0, "# a comment", "line 1: is no assignment"),
            (0, "CHART=''", "CHART: missing"),
            (1, "", "REPO: missing"),
            (1, "CHART='d'", "line 2: assigns CHART again"),
            (2, "VERSION=''", "VERSION: missing"),
        ] {
            let mut lines = good;
            lines[line] = replacement;
            let error = read_upstream_env("001-c/upstream.env", &lines.join("\n")).unwrap_err();
            assert_eq!(error.to_string(), format!("001-c/upstream.env: {message}"));
            assert_eq!(error.reason, Reason::ArtifactUnsupported);
        }
        for text in [
            "CHART='c'\nREPO='git://r'\nVERSION='1'",
            "CHART='c'\nREPO=''\nVERSION='1'",
            "CHART='oci://c'\nREPO='https://r'\nVERSION='1'",
        ] {
            let error = read_upstream_env("f", text).unwrap_err();
            assert_eq!(error.reason, Reason::ChartSourceUnsupported, "{error}");
        }
    }
}
