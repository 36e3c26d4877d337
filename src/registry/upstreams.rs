//! Mirrors of upstream repositories, for sites without internet.
//!
//! Source: design section 5. A prefix of upstream addresses is replaced; digests are checked all the same.

use super::error::{Error, Reason};

/// What is fetched from where instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upstreams(Vec<(String, String)>);

impl Upstreams {
    /// Pairs of an upstream prefix and its mirror, such as `https://helm.example/nvidia` and
    /// `https://mirror.example/helm/nvidia`. Both are of one kind: `https://` and `http://`, or `oci://`.
    ///
    /// # Errors
    ///
    /// Every pair that is not so, and every prefix that comes twice.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, Vec<Error>> {
        let mut taken: Vec<(String, String)> = Vec::new();
        let mut errors = Vec::new();
        for (prefix, mirror) in pairs {
            let trimmed = prefix.trim_end_matches('/').to_owned();
            let wrong = match (kind(&prefix), kind(&mirror)) {
                (Some(one), Some(other)) if one == other => {
                    taken.iter().any(|(taken, _)| *taken == trimmed).then_some("the prefix comes twice")
                }
                (Some(_), Some(_)) => Some("one is a chart repository and the other an OCI registry"),
                _ => Some("an upstream and its mirror begin with https://, http:// or oci:// and a host"),
            };
            match wrong {
                Some(why) => {
                    let text = format!("registry.upstreams: '{prefix}' to '{mirror}': {why}");
                    errors.push(Error::new(Reason::Unexpected, text));
                }
                None => taken.push((trimmed, mirror.trim_end_matches('/').to_owned())),
            }
        }
        if errors.is_empty() { Ok(Self(taken)) } else { Err(errors) }
    }

    /// The address to fetch from: the longest prefix that covers whole parts of the address is replaced.
    pub fn resolve(&self, address: &str) -> String {
        let rest_after = |prefix: &str| {
            address
                .strip_prefix(prefix)
                .filter(|rest| rest.is_empty() || rest.starts_with(['/', '?', ':', '@']))
        };
        self.0
            .iter()
            .filter_map(|(prefix, mirror)| Some((prefix, mirror, rest_after(prefix)?)))
            .filter(|(prefix, _, rest)| !(is_host_only(prefix) && rest.starts_with([':', '@'])))
            .max_by_key(|(prefix, _, _)| prefix.len())
            .map_or_else(|| address.to_owned(), |(_, mirror, rest)| format!("{mirror}{rest}"))
    }
}

fn kind(address: &str) -> Option<&'static str> {
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split('/').next().unwrap_or_default();
    if host.is_empty() {
        return None;
    }
    match scheme {
        "https" | "http" => Some("http"),
        "oci" => Some("oci"),
        _ => None,
    }
}

/// A prefix without a path does not cover another port of its host.
fn is_host_only(prefix: &str) -> bool {
    prefix.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Result<Upstreams, Vec<Error>> {
        Upstreams::new(pairs.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())))
    }

    #[test]
    fn the_longest_prefix_of_whole_parts_is_replaced() {
        let upstreams = pairs(&[
            ("https://helm.example", "https://m/all"),
            ("https://helm.example/nvidia/", "https://m/nvidia/"),
            ("oci://ghcr.example/nvidia", "oci://m:5000/ghcr"),
        ])
        .unwrap();
        for (address, wanted) in [
            ("https://helm.example/x", "https://m/all/x"),
            ("https://helm.example/nvidia", "https://m/nvidia"),
            ("https://helm.example/nvidia/a.tgz?x=1", "https://m/nvidia/a.tgz?x=1"),
            ("https://helm.example/nvidia2", "https://m/all/nvidia2"),
            ("https://helm.example:8443/x", "https://helm.example:8443/x"),
            ("https://helm.example.evil/x", "https://helm.example.evil/x"),
            ("http://helm.example/x", "http://helm.example/x"),
            ("oci://ghcr.example/nvidia/a:1", "oci://m:5000/ghcr/a:1"),
            ("oci://ghcr.example/nvidia:1", "oci://m:5000/ghcr:1"),
            ("oci://ghcr.example/other", "oci://ghcr.example/other"),
        ] {
            assert_eq!(upstreams.resolve(address), wanted);
        }
        assert_eq!(Upstreams::default().resolve("https://h"), "https://h");
    }

    #[test]
    fn every_wrong_pair_is_named() {
        let errors = pairs(&[
            ("https://a", "oci://b"),
            ("a", "b"),
            ("https://", "https://b"),
            ("https://c", "https://d"),
            ("https://c/", "https://e"),
        ])
        .unwrap_err();
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(texts.join("\n"), @r#"
registry.upstreams: 'https://a' to 'oci://b': one is a chart repository and the other an OCI registry
registry.upstreams: 'a' to 'b': an upstream and its mirror begin with https://, http:// or oci:// and a host
registry.upstreams: 'https://' to 'https://b': an upstream and its mirror begin with https://, http:// or oci:// and a host
registry.upstreams: 'https://c/' to 'https://e': the prefix comes twice
"#);
    }
}
