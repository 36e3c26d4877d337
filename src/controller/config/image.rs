//! References to images.

use std::fmt;

use crate::registry::Reference;

/// An image pinned by digest: `[HOST[:PORT]/]PATH[:TAG]@sha256:<64 hex>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Host and path, as given.
    pub repository: String,
    /// The tag beside the digest, if one was given; the digest decides.
    pub tag: Option<String>,
    /// `sha256:<64 hex>`.
    pub digest: String,
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        write!(f, "@{}", self.digest)
    }
}

impl Image {
    /// Reads a reference. A tag alone can be moved to another image, so it is refused.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some((name, digest)) = text.split_once('@') else {
            return Err("is not pinned by digest; write IMAGE@sha256:<64 hex>".into());
        };
        let hex = digest.strip_prefix("sha256:").unwrap_or_default();
        if hex.len() != 64 || !hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err("has a digest that is not sha256: and 64 lower-case hex digits".into());
        }
        // A first part that is no host belongs to the path, as for every container runtime.
        let first = name.split_once('/').map_or("", |(first, _)| first);
        let has_host = first.contains(['.', ':']) || first == "localhost";
        let host = if has_host { "" } else { "docker.io/" };
        if Reference::parse(&format!("oci://{host}{name}")).is_err() {
            return Err(
                "is no image; write [HOST[:PORT]/]PATH[:TAG]@sha256:<64 hex>, the path in lower case".into(),
            );
        }
        // A colon before the last slash belongs to the host's port.
        let tag_at = name.rfind(':').filter(|at| !name[*at..].contains('/'));
        let (repository, tag) = tag_at.map_or((name, None), |at| (&name[..at], Some(&name[at + 1..])));
        Ok(Self { repository: repository.into(), tag: tag.map(Into::into), digest: digest.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::Image;

    #[test]
    fn an_image_is_read_with_its_host_port_and_tag_apart() {
        let digest = format!("sha256:{}", "a1".repeat(32));
        for (name, repository, tag) in [
            ("ghcr.io/nvidia/aicr", "ghcr.io/nvidia/aicr", None),
            ("ghcr.io/nvidia/aicr:v1.0.0", "ghcr.io/nvidia/aicr", Some("v1.0.0")),
            ("localhost:5000/a", "localhost:5000/a", None),
            ("localhost:5000/a__b/c--d.e:t", "localhost:5000/a__b/c--d.e", Some("t")),
            ("busybox", "busybox", None),
        ] {
            let text = format!("{name}@{digest}");
            let image = Image::parse(&text).unwrap();
            assert_eq!((image.repository.as_str(), image.tag.as_deref()), (repository, tag), "{text}");
            assert_eq!(image.to_string(), text);
        }
    }

    #[test]
    fn an_image_that_can_change_or_is_none_is_refused() {
        let digest = format!("sha256:{}", "a".repeat(64));
        for bad in [
            "ghcr.io/nvidia/aicr:v1.0.0".to_owned(),
            "ghcr.io/nvidia/aicr@sha256:abc".to_owned(),
            format!("a@sha256:{}", "A".repeat(64)),
            format!("a@sha512:{}", "a".repeat(64)),
            format!("@{digest}"),
            format!("ghcr.io/Nvidia@{digest}"),
            format!("ghcr.io/a//b@{digest}"),
            format!("ghcr.io/a..b@{digest}"),
            format!("ghcr.io:99999/a@{digest}"),
            format!("a:@{digest}"),
            format!("a:-t@{digest}"),
            format!("a@{digest}@{digest}"),
        ] {
            assert!(Image::parse(&bad).is_err(), "{bad}");
        }
    }
}
