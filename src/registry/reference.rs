//! Names of repositories and of what lies in them.

use std::fmt;

use super::digest::ContentDigest;
use super::error::{Error, Reason};

/// A repository of an OCI registry, written `oci://<host>[:port]/<path>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repository {
    host: String,
    path: String,
}

/// What a reference points at within its repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A name that can move.
    Tag(String),
    /// The content itself.
    Digest(ContentDigest),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

/// A repository and, if the text named one, what in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The repository.
    pub repository: Repository,
    /// The digest if there is one, else the tag.
    pub target: Option<Target>,
}

fn malformed(text: &str, rule: &str) -> Error {
    Error::new(Reason::Unexpected, format!("'{text}' is no OCI reference: {rule}"))
}

impl Repository {
    /// Reads `oci://<host>[:port]/<path>`.
    ///
    /// # Errors
    ///
    /// When it is not that, or names a tag or digest.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let reference = Reference::parse(text)?;
        match reference.target {
            None => Ok(reference.repository),
            Some(target) => Err(malformed(text, &format!("a repository is wanted, without '{target}'"))),
        }
    }

    /// The repository below this one.
    ///
    /// # Errors
    ///
    /// When the longer path is not one that registries take: lower-case letters and digits, separated by `.`, `_`,
    /// `__`, `-` or `/`, at most 255 characters.
    pub fn join(&self, below: &str) -> Result<Self, Error> {
        let path = format!("{}/{below}", self.path);
        if !is_path(&path) {
            let rule = "a path has lower-case letters and digits, separated by '.', '_', '__', '-' or '/', \
                        and at most 255 characters";
            return Err(malformed(&format!("oci://{}/{path}", self.host), rule));
        }
        Ok(Self { host: self.host.clone(), path })
    }

    /// Host and, if it was given, port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The path below the host.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oci://{}/{}", self.host, self.path)
    }
}

impl Reference {
    /// Reads `oci://<host>[:port]/<path>[:tag][@digest]`.
    ///
    /// # Errors
    ///
    /// When it is not that.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let rest = text.strip_prefix("oci://").ok_or_else(|| malformed(text, "it begins with oci://"))?;
        let (rest, digest) = match rest.split_once('@') {
            None => (rest, None),
            Some((rest, digest)) => {
                let digest = digest.parse().map_err(|error| malformed(text, &format!("{error}")))?;
                (rest, Some(digest))
            }
        };
        let (host, path) = rest.split_once('/').ok_or_else(|| malformed(text, "a path follows the host"))?;
        let (path, tag) = match path.rsplit_once(':') {
            None => (path, None),
            Some((path, tag)) => (path, Some(tag)),
        };
        if !is_host(host) {
            return Err(malformed(text, "the host is a name or address and perhaps a port"));
        }
        if !is_path(path) {
            return Err(malformed(
                text,
                "a path has lower-case letters and digits, separated by '.', '_', '__', '-' or '/', and at most \
                 255 characters",
            ));
        }
        if let Some(tag) = tag.filter(|tag| !is_tag(tag)) {
            return Err(malformed(text, &format!("'{tag}' is no tag")));
        }
        let target = digest.map(Target::Digest).or_else(|| tag.map(|tag| Target::Tag(tag.to_owned())));
        Ok(Self { repository: Repository { host: host.to_owned(), path: path.to_owned() }, target })
    }
}

fn is_host(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_name = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        }
    };
    is_name && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// OCI distribution specification, "Pulling manifests": the pattern of `<name>`.
fn is_path(path: &str) -> bool {
    path.len() <= 255 && path.split('/').all(is_component)
}

fn is_component(component: &str) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = component.as_bytes();
    let at_ends = bytes.first().is_some_and(alphanumeric) && bytes.last().is_some_and(alphanumeric);
    let separated = bytes
        .split(alphanumeric)
        .all(|gap| matches!(gap, b"" | b"." | b"_" | b"__") || gap.iter().all(|byte| *byte == b'-'));
    at_ends && separated
}

/// OCI distribution specification: the pattern of a tag.
pub(super) fn is_tag(tag: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    tag.len() <= 128
        && tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|byte| word(byte) || byte == b'.' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_read_back_as_they_are_written() {
        let digest = ContentDigest::of(b"");
        let cases = [
            ("oci://registry.example/a/b-c".to_owned(), "registry.example", "a/b-c", None),
            ("oci://127.0.0.1:5000/a__b/c.d".to_owned(), "127.0.0.1:5000", "a__b/c.d", None),
            ("oci://[::1]:5000/a".to_owned(), "[::1]:5000", "a", None),
            ("oci://h/a:v1.2_3".to_owned(), "h", "a", Some(Target::Tag("v1.2_3".to_owned()))),
            (format!("oci://h/a@{digest}"), "h", "a", Some(Target::Digest(digest))),
            (format!("oci://h:1/a:t@{digest}"), "h:1", "a", Some(Target::Digest(digest))),
        ];
        for (text, host, path, target) in cases {
            let reference = Reference::parse(&text).unwrap();
            assert_eq!((reference.repository.host(), reference.repository.path()), (host, path), "{text}");
            assert_eq!(reference.target, target, "{text}");
        }
    }

    #[test]
    fn malformed_references_are_refused_with_the_rule() {
        for text in [
            "registry.example/a",
            "https://h/a",
            "oci://h",
            "oci:///a",
            "oci://h/",
            "oci://h/A",
            "oci://h/a//b",
            "oci://h/a/../b",
            "oci://h/-a",
            "oci://h/a___b",
            "oci://h/a:",
            "oci://h/a:.x",
            "oci://h/a@sha256:12",
            "oci://h:0/a",
            "oci://h:99999/a",
            "oci://u:p@h/a",
            "oci://h/a?x",
            "oci://[h]/a",
        ] {
            let error = Reference::parse(text).unwrap_err();
            assert!(error.message.starts_with(&format!("'{text}' is no OCI reference: ")), "{error}");
        }
        let long = format!("oci://h/{}", "a".repeat(256));
        assert!(Reference::parse(&long).is_err());
        assert!(Repository::parse("oci://h/a:tag").is_err());
    }

    #[test]
    fn a_repository_is_only_joined_to_a_path() {
        let repository = Repository::parse("oci://h/aicr").unwrap();
        assert_eq!(
            repository.join("charts/gpu-operator").unwrap().to_string(),
            "oci://h/aicr/charts/gpu-operator"
        );
        for below in ["", "Charts", "../x", "a:b", "/a"] {
            assert!(repository.join(below).is_err(), "{below}");
        }
    }
}
