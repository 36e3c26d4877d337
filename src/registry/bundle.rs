//! A bundle, read from the runtime registry by digest.
//!
//! Source: design section 4, aicr-cli 3.2 and 3.6. Two forms of artifact are taken: one `tar+gzip` layer that the writer
//! says is to be unpacked, and a layer for each titled file.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde::Deserialize;

use super::blobs::mismatch;
use super::client::Client;
use super::digest::ContentDigest;
use super::error::{Error, Reason};
use super::reference::{Repository, Target};
use super::tarball::{Budget, Subject, path, walk};

/// The most bytes of all layers, and of all files. A bundle holds values and small charts.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The most files.
const MOST_FILES: usize = 10_000;
/// AICR's own store, which lies in the tree that it pushes and in no list.
const OWN_STORE: &str = "oci-layout";
/// Lists every other file.
const CHECKSUMS: &str = "checksums.txt";
/// Signatures over the list, so not in it.
const ATTESTATION: &str = "attestation/";

const TAR_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const TITLE: &str = "org.opencontainers.image.title";
const UNPACK: &str = "io.deis.oras.content.unpack";

/// A tree of files whose list of checksums was found to be right and complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<String, TreeFile>,
}

/// One file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// What it holds.
    pub content: Bytes,
    /// Whether its owner may run it. Files that come as layers of their own have no mode, so none of them may.
    pub is_executable: bool,
}

impl Tree {
    /// The files by path, slashes between its parts.
    pub fn files(&self) -> &BTreeMap<String, TreeFile> {
        &self.files
    }

    /// What a file holds.
    pub fn get(&self, path: &str) -> Option<&Bytes> {
        self.files.get(path).map(|file| &file.content)
    }

    /// The files below a folder, by their path within it.
    pub fn below(&self, folder: &str) -> BTreeMap<String, Bytes> {
        let prefix = format!("{folder}/");
        let within = self.files.iter().filter_map(|(path, file)| Some((path.strip_prefix(&prefix)?, file)));
        within.map(|(path, file)| (path.to_owned(), file.content.clone())).collect()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    #[serde(default)]
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    media_type: String,
    digest: String,
    size: u64,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

impl Layer {
    fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }

    /// Whether this is a folder in a tar.
    fn is_packed(&self) -> bool {
        self.annotation(UNPACK) == Some("true")
    }
}

impl Client {
    /// Reads the bundle of this digest and checks its list of checksums: every file is in it, and it names no other. The
    /// store `oci-layout/` at the top is passed over.
    ///
    /// # Errors
    ///
    /// [`Reason::ArtifactUnsupported`] for another form, for a path that leaves the tree, for links and devices, and for a
    /// list that cannot be read or is not complete; [`Reason::DigestMismatch`] when content is not what its digest says;
    /// [`Reason::ContentTooLarge`] over 64 MiB or 10,000 files.
    pub async fn pull_bundle(&self, repository: &Repository, digest: ContentDigest) -> Result<Tree, Error> {
        let name = format!("the bundle {repository}@{digest}");
        let subject = Subject { name: &name, reason: Reason::ArtifactUnsupported };
        let (bytes, _) = self.manifest(repository, &Target::Digest(digest)).await?;
        let manifest: Manifest = serde_json::from_slice(&bytes)
            .map_err(|error| subject.refused(format!("the manifest cannot be read: {error}")))?;
        let total = manifest.layers.iter().fold(0_u64, |total, layer| total.saturating_add(layer.size));
        if total > MOST_BYTES as u64 || manifest.layers.len() > MOST_FILES {
            return Err(subject.too_large(format!(
                "{} layers of {total} bytes, at most {MOST_FILES} of {MOST_BYTES} are taken",
                manifest.layers.len()
            )));
        }
        let files = match &manifest.layers[..] {
            [layer] if layer.is_packed() => self.packed(repository, layer, subject).await?,
            layers => self.titled(repository, layers, subject).await?,
        };
        check(&files, subject)?;
        Ok(Tree { files })
    }

    async fn layer(
        &self,
        repository: &Repository,
        layer: &Layer,
        subject: Subject<'_>,
    ) -> Result<Bytes, Error> {
        let digest = layer.digest.parse().map_err(|error| subject.refused(error))?;
        self.blob(repository, digest, MOST_BYTES).await
    }

    async fn packed(
        &self,
        repository: &Repository,
        layer: &Layer,
        subject: Subject<'_>,
    ) -> Result<BTreeMap<String, TreeFile>, Error> {
        if layer.media_type != TAR_TYPE {
            return Err(subject.refused(format!("a folder comes as {TAR_TYPE}, not as {}", layer.media_type)));
        }
        let title = layer.annotation(TITLE).unwrap_or(".");
        let folder = path(title.as_bytes()).map_err(|why| subject.refused(why))?;
        if !folder.is_empty() {
            return Err(subject.refused(format!("the tree is titled '{title}', expected '.'")));
        }
        let bytes = self.layer(repository, layer, subject).await?;
        let name = subject.name.to_owned();
        let reason = subject.reason;
        let unpacking = tokio::task::spawn_blocking(move || unpack(&bytes, Subject { name: &name, reason }));
        unpacking.await.map_err(|error| subject.refused(error))?
    }

    async fn titled(
        &self,
        repository: &Repository,
        layers: &[Layer],
        subject: Subject<'_>,
    ) -> Result<BTreeMap<String, TreeFile>, Error> {
        let mut files = BTreeMap::new();
        for layer in layers {
            let title = layer.annotation(TITLE).filter(|_| !layer.is_packed()).ok_or_else(|| {
                subject.refused("it is neither one packed folder nor a layer for each titled file")
            })?;
            let parts = path(title.as_bytes()).map_err(|why| subject.refused(why))?;
            let name = parts.join("/");
            if name.is_empty() || files.contains_key(&name) {
                return Err(subject.refused(format!("the title '{title}' is empty or there twice")));
            }
            if parts[0] == OWN_STORE {
                continue;
            }
            let content = self.layer(repository, layer, subject).await?;
            files.insert(name, TreeFile { content, is_executable: false });
        }
        Ok(files)
    }
}

fn unpack(bytes: &[u8], subject: Subject<'_>) -> Result<BTreeMap<String, TreeFile>, Error> {
    let budget = Budget::new(MOST_BYTES as u64, MOST_FILES);
    let mut files = BTreeMap::new();
    walk(&mut &bytes[..], subject, &budget, &mut |mut file| {
        if file.path[0] != OWN_STORE {
            let content = file.read(subject, MOST_BYTES as u64)?.into();
            files.insert(file.path.join("/"), TreeFile { content, is_executable: file.is_executable });
        }
        Ok(())
    })?;
    Ok(files)
}

/// Compares a tree with its own list: closed world.
fn check(files: &BTreeMap<String, TreeFile>, subject: Subject<'_>) -> Result<(), Error> {
    let list = files.get(CHECKSUMS).ok_or_else(|| subject.refused(format!("it has no {CHECKSUMS}")))?;
    let list = std::str::from_utf8(&list.content)
        .map_err(|_| subject.refused(format!("{CHECKSUMS} is not UTF-8")))?;
    let mut listed = BTreeSet::new();
    for (index, line) in list.lines().enumerate() {
        let refused = |why: String| subject.refused(format!("{CHECKSUMS}, line {}: {why}", index + 1));
        let (hex, name) = line
            .split_once("  ")
            .ok_or_else(|| refused("expected a sha256 checksum, two blanks and a path".to_owned()))?;
        let wanted = ContentDigest::from_hex(hex).map_err(|error| refused(error.to_string()))?;
        let parts = path(name.as_bytes()).map_err(refused)?;
        if parts.join("/") != name {
            return Err(refused(format!("the path '{name}' is not in its plain form")));
        }
        let file = files.get(name).ok_or_else(|| refused(format!("the bundle lacks '{name}'")))?;
        let got = ContentDigest::of(&file.content);
        if got != wanted {
            return Err(mismatch(&format!("{}, file {name}", subject.name), wanted, got));
        }
        if !listed.insert(name) {
            return Err(refused(format!("'{name}' is listed twice")));
        }
    }
    let unlisted = files
        .keys()
        .find(|name| !listed.contains(name.as_str()) && *name != CHECKSUMS && !name.starts_with(ATTESTATION));
    match unlisted {
        Some(name) => Err(subject.refused(format!("'{name}' is not listed in {CHECKSUMS}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject<'static> = Subject { name: "the bundle", reason: Reason::ArtifactUnsupported };

    fn tree(files: &[(&str, &str)]) -> BTreeMap<String, TreeFile> {
        let file = |content: &str| TreeFile { content: content.to_owned().into(), is_executable: false };
        files.iter().map(|(name, content)| ((*name).to_owned(), file(content))).collect()
    }

    fn line(name: &str, content: &str) -> String {
        format!("{}  {name}\n", ContentDigest::of(content.as_bytes()).hex())
    }

    #[test]
    fn a_tree_is_taken_when_its_list_is_right_and_complete() {
        let list = line("a", "1") + &line("b/c", "2");
        check(&tree(&[("a", "1"), ("b/c", "2"), (CHECKSUMS, &list)]), SUBJECT).unwrap();
        check(&tree(&[("a", "1"), ("b/c", "2"), ("attestation/x", "3"), (CHECKSUMS, &list)]), SUBJECT)
            .unwrap();
    }

    #[test]
    fn a_list_that_is_wrong_or_incomplete_is_refused() {
        let a = line("a", "1");
        let hex = &a[..64];
        for (list, why) in [
            (String::new(), "'a' is not listed"),
            (a.clone() + &line("b", "2"), "line 2: the bundle lacks 'b'"),
            (a.clone() + &a, "listed twice"),
            (line("/tmp/build/a", "1"), "leaves the tree"),
            (line("../a", "1"), "leaves the tree"),
            (line("./a", "1"), "plain form"),
            (format!("{hex} a\n"), "two blanks"),
            (format!("{}  a\n", &hex[1..]), "no sha256 digest"),
            (line("a", "2"), "the bundle, file a: the content has the digest"),
        ] {
            let error = check(&tree(&[("a", "1"), (CHECKSUMS, &list)]), SUBJECT).unwrap_err();
            assert!(error.message.contains(why), "{error}");
        }
        assert!(check(&tree(&[("a", "1")]), SUBJECT).unwrap_err().message.contains("has no checksums.txt"));
        // Only at the top is a file the list.
        let inner = tree(&[("a", "1"), ("x/checksums.txt", ""), (CHECKSUMS, &a)]);
        assert!(check(&inner, SUBJECT).is_err());
    }

    #[test]
    fn a_folder_is_cut_out_of_a_tree() {
        let tree = Tree { files: tree(&[("001-a/x/y", "1"), ("001-a", "2"), ("001-ab/x", "3")]) };
        assert_eq!(tree.below("001-a"), [("x/y".to_owned(), Bytes::from_static(b"1"))].into());
        assert_eq!(tree.get("001-ab/x").unwrap(), "3");
    }
}
