//! SHA-256 digests of content, as OCI writes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The digest of some bytes: `sha256:<64 lower-case hex>`. No other algorithm is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ContentDigest([u8; 32]);

/// Something is not a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no sha256 digest: expected sha256:<64 lower-case hex>")]
pub struct NoDigest(String);

impl ContentDigest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::finish(Sha256::new_with_prefix(bytes))
    }

    pub(super) fn finish(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    /// The 64 hex digits without the algorithm.
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }

    /// Reads the 64 hex digits without the algorithm, in either case, as Helm indexes and checksum files have them.
    ///
    /// # Errors
    ///
    /// When they are not that.
    pub fn from_hex(text: &str) -> Result<Self, NoDigest> {
        let mut bytes = [0; 32];
        match hex::decode_to_slice(text, &mut bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(_) => Err(NoDigest(text.to_owned())),
        }
    }
}

impl FromStr for ContentDigest {
    type Err = NoDigest;

    fn from_str(text: &str) -> Result<Self, NoDigest> {
        match text.strip_prefix("sha256:") {
            Some(hex) if !hex.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                Self::from_hex(hex).map_err(|_| NoDigest(text.to_owned()))
            }
            _ => Err(NoDigest(text.to_owned())),
        }
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<ContentDigest> for String {
    fn from(digest: ContentDigest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for ContentDigest {
    type Error = NoDigest;

    fn try_from(text: String) -> Result<Self, NoDigest> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_digest_reads_back_as_it_is_written() {
        assert_eq!(ContentDigest::of(b"").to_string(), EMPTY);
        assert_eq!(EMPTY.parse(), Ok(ContentDigest::of(b"")));
        assert_eq!(serde_json::to_string(&ContentDigest::of(b"")).unwrap(), format!("\"{EMPTY}\""));
    }

    #[test]
    fn other_texts_are_no_digests() {
        let upper = EMPTY.to_uppercase().replace("SHA256", "sha256");
        for text in ["", "sha256:", "sha256:e3b0", "md5:e3b0c442", &EMPTY[7..], &upper, &format!("{EMPTY}0")]
        {
            assert!(text.parse::<ContentDigest>().is_err(), "{text}");
        }
        assert!(ContentDigest::from_hex(&EMPTY[7..].to_uppercase()).is_ok());
    }
}
