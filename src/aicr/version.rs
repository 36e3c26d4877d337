//! AICR's version: whether an artifact was made by the installed one, and what a version can do.
//!
//! Source: aicr-cli section 7 (releases print it without a leading `v`, artifacts with one) and section 5.1 (flags from
//! 1.1 on).

use super::reason::Reason;

/// The version that the installation names, `aicr.version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    parsed: semver::Version,
}

/// An artifact that another AICR made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the {artifact} was made by AICR {found}, but aicr.version is {expected}: set version and image together"
)]
pub struct VersionMismatch {
    /// The artifact, such as `snapshot`.
    pub artifact: String,
    /// The version that it states.
    pub found: String,
    /// The version that the installation names.
    pub expected: String,
}

impl VersionMismatch {
    /// The reason that a condition carries.
    pub const REASON: Reason = Reason::VersionMismatch;
}

fn bare(text: &str) -> &str {
    text.strip_prefix('v').unwrap_or(text)
}

impl Version {
    /// Reads a version, one leading `v` ignored.
    ///
    /// # Errors
    ///
    /// When it is no semantic version.
    pub fn parse(text: &str) -> Result<Self, semver::Error> {
        Ok(Self { parsed: semver::Version::parse(bare(text))? })
    }

    /// Whether evidence can be signed with a key and kept out of the transparency log: from 1.1.0 on.
    pub fn signs_with_keys(&self) -> bool {
        (self.parsed.major, self.parsed.minor) >= (1, 1)
    }

    /// Checks the version that an artifact states.
    ///
    /// # Errors
    ///
    /// When it is another one, one leading `v` ignored on either side.
    pub fn made(&self, artifact: &str, found: &str) -> Result<(), VersionMismatch> {
        if self.parsed.to_string() == bare(found) {
            return Ok(());
        }
        let expected = format!("v{}", self.parsed);
        Err(VersionMismatch { artifact: artifact.to_owned(), found: found.to_owned(), expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_equal_when_they_differ_by_one_leading_v_only() {
        for (installed, found, equal) in [
            ("v1.0.0", "v1.0.0", true),
            ("v1.0.0", "1.0.0", true),
            ("1.1.2", "v1.1.2", true),
            ("1.1.2-rc.1", "v1.1.2-rc.1", true),
            ("v1.0.0", "vv1.0.0", false),
            ("v1.0.0", "v1.0.1", false),
            ("v1.0.0", "v1.0.0-rc.1", false),
            ("v1.0.0", "dev", false),
            ("v1.0.0", "", false),
        ] {
            let version = Version::parse(installed).unwrap();
            assert_eq!(version.made("recipe", found).is_ok(), equal, "{installed} {found}");
        }
        let error = Version::parse("1.0.0").unwrap().made("snapshot", "1.1.2").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the snapshot was made by AICR 1.1.2, but aicr.version is v1.0.0: set version and image together"
        );
        assert_eq!(VersionMismatch::REASON.as_str(), "AICRVersionMismatch");
    }

    #[test]
    fn keys_sign_from_1_1_on() {
        for (version, signs) in
            [("v1.0.0", false), ("v1.0.9", false), ("v1.1.0-rc.1", true), ("v1.1.2", true), ("v1.10.0", true)]
        {
            assert_eq!(Version::parse(version).unwrap().signs_with_keys(), signs, "{version}");
        }
        for text in ["", "v", "1", "1.0", "vv1.0.0", "latest"] {
            assert!(Version::parse(text).is_err(), "{text}");
        }
    }
}
