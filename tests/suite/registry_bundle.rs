//! Bundles as the real oras pushes them, read back by digest.
use std::fmt::Write as _;
use std::path::Path;

use kubectl_aicr::registry::{ContentDigest, Reason, Reference, Target};
use test_support::Registry;

use crate::registry_kit::{Kit, run};

const FOLDER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

fn write_bundle(folder: &Path) {
    let files = [
        ("recipe.yaml", "kind: Recipe\n"),
        ("001-gpu-operator/install.sh", "#!/bin/sh\n"),
        ("001-gpu-operator/values.yaml", "a: 1\n"),
    ];
    let mut list = String::new();
    for (path, content) in files {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
        let _ = writeln!(list, "{}  {path}", ContentDigest::of(content.as_bytes()).hex());
    }
    std::fs::write(folder.join("checksums.txt"), list).unwrap();
    let script = folder.join("001-gpu-operator/install.sh");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::create_dir_all(folder.join("oci-layout/blobs")).unwrap();
    std::fs::write(folder.join("oci-layout/blobs/x"), "own store").unwrap();
}

/// Pushes from within the folder and answers the reference.
async fn push(folder: &Path, host: &str, what: &[&str]) -> Reference {
    let name = format!("{host}/aicr/bundles/cluster");
    let tag = format!("{name}:run-1");
    let kind = ["push", "--plain-http", "--artifact-type", "application/vnd.nvidia.aicr.artifact"];
    let printed = ["--format", "go-template={{.digest}}", &tag];
    let digest = run("oras", folder, &[&kind[..], &printed, what].concat()).await;
    Reference::parse(&format!("oci://{name}@{}", digest.trim())).unwrap()
}

fn digest(reference: &Reference) -> ContentDigest {
    match reference.target {
        Some(Target::Digest(digest)) => digest,
        _ => panic!("{reference:?}"),
    }
}

#[tokio::test]
async fn both_forms_of_a_bundle_are_read_and_the_own_store_is_passed_over() {
    let registry = Registry::start().await.unwrap();
    let kit = Kit::anonymous(&[registry.host()]);
    let folder = tempfile::tempdir().unwrap();
    write_bundle(folder.path());
    let packed = push(folder.path(), registry.host(), &[&format!(".:{FOLDER}")]).await;
    let titled = push(
        folder.path(),
        registry.host(),
        &["recipe.yaml", "checksums.txt", "001-gpu-operator/install.sh", "001-gpu-operator/values.yaml"],
    )
    .await;
    let mut trees = Vec::new();
    for reference in [packed, titled] {
        trees.push(kit.client.pull_bundle(&reference.repository, digest(&reference)).await.unwrap());
    }
    for tree in &trees {
        let names: Vec<_> = tree.files().keys().map(String::as_str).collect();
        let wanted =
            ["001-gpu-operator/install.sh", "001-gpu-operator/values.yaml", "checksums.txt", "recipe.yaml"];
        assert_eq!(names, wanted);
        assert_eq!(tree.get("001-gpu-operator/values.yaml").unwrap(), "a: 1\n");
    }
    assert!(trees[0].files()["001-gpu-operator/install.sh"].is_executable);
    assert!(!trees[0].files()["recipe.yaml"].is_executable);
}

/// What is done to a bundle, what of it is pushed, and what is then said.
type Spoiled<'a> = (&'a dyn Fn(&Path), &'a [&'a str], &'a str);

#[tokio::test]
async fn other_artifacts_are_no_bundles() {
    let registry = Registry::start().await.unwrap();
    let kit = Kit::anonymous(&[registry.host()]);
    let spoil: [Spoiled; 5] = [
        (&|folder| std::fs::write(folder.join("more"), "").unwrap(), &["."], "'more' is not listed"),
        (
            &|folder| std::fs::write(folder.join("recipe.yaml"), "changed").unwrap(),
            &["."],
            "file recipe.yaml",
        ),
        (
            &|folder| std::os::unix::fs::symlink("/etc", folder.join("etc")).unwrap(),
            &["."],
            "neither a file nor a folder",
        ),
        (&|_| {}, &["001-gpu-operator"], "titled '001-gpu-operator'"),
        (&|_| {}, &["001-gpu-operator", "recipe.yaml", "checksums.txt"], "neither one packed folder nor"),
    ];
    for (spoil, what, why) in spoil {
        let folder = tempfile::tempdir().unwrap();
        write_bundle(folder.path());
        spoil(folder.path());
        let what: Vec<_> = what
            .iter()
            .map(|what| {
                if folder.path().join(what).is_dir() {
                    format!("{what}:{FOLDER}")
                } else {
                    (*what).to_owned()
                }
            })
            .collect();
        let what: Vec<_> = what.iter().map(String::as_str).collect();
        let reference = push(folder.path(), registry.host(), &what).await;
        let error = kit.client.pull_bundle(&reference.repository, digest(&reference)).await.unwrap_err();
        assert!(matches!(error.reason, Reason::ArtifactUnsupported | Reason::DigestMismatch), "{error}");
        assert!(error.message.contains(why), "{error}");
    }
    let missing = Reference::parse(&format!("oci://{}/aicr/bundles/cluster", registry.host())).unwrap();
    let error = kit.client.pull_bundle(&missing.repository, ContentDigest::of(b"x")).await.unwrap_err();
    assert_eq!(error.reason, Reason::NotFound, "{error}");
}
