use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

const SUBJECT: Subject<'static> = Subject { name: "test", reason: Reason::ArtifactUnsupported };

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A tar with entries of any kind and name, as an attacker writes it.
fn tar(entries: &[(&[u8], EntryType, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, kind, content) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name);
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        header.set_cksum();
        out.extend(header.as_bytes());
        out.extend(*content);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn read(archive: &[u8], budget: &Budget) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let mut files = Vec::new();
    walk(&mut &archive[..], SUBJECT, budget, &mut |mut file| {
        let content = file.read(SUBJECT, 1 << 20)?;
        files.push((file.path.join("/"), content));
        Ok(())
    })?;
    Ok(files)
}

fn budget() -> Budget {
    Budget::new(1 << 22, 10)
}

#[test]
fn what_is_packed_is_read_back_and_is_the_same_bytes_every_time() {
    let long = format!("templates/{}/{}.yaml", "a".repeat(120), "b".repeat(120));
    let files: BTreeMap<_, _> =
        [("Chart.yaml".to_owned(), Bytes::from_static(b"name: x\n")), (long, Bytes::from(vec![7; 200_000]))]
            .into();
    let packed = pack("x", &files).unwrap();
    assert_eq!(pack("x", &files).unwrap(), packed);
    let wanted: Vec<_> =
        files.iter().map(|(name, content)| (format!("x/{name}"), content.to_vec())).collect();
    assert_eq!(read(&packed, &budget()).unwrap(), wanted);
    // Known bytes: whatever changes them changes every wrapper's digest.
    let small = pack("x", &[("Chart.yaml".to_owned(), Bytes::from_static(b"name: x\n"))].into()).unwrap();
    insta::assert_snapshot!(crate::registry::ContentDigest::of(&small), @"sha256:8529cfaaec6d2acd21279378acf3788f0afde6cd5eab71da22b08e549b032ebd");
}

#[test]
fn nothing_is_packed_under_a_path_that_leaves_the_chart() {
    for name in ["../x", "/x", "a/../../x", "./x", "a//b", "a\\b", "a\0b"] {
        let error = pack("top", &[(name.to_owned(), Bytes::new())].into()).unwrap_err();
        assert!(error.message.contains("cannot pack"), "{error}");
    }
}

#[test]
fn folders_global_headers_and_leading_dots_are_no_files() {
    let archive = gzip(&tar(&[
        (
            b"pax_global_header",
            EntryType::XGlobalHeader,
            b"52 comment=0123456789012345678901234567890123456789\n",
        ),
        (b"./", EntryType::Directory, b""),
        (b"./a/", EntryType::Directory, b""),
        (b"./a/b", EntryType::Regular, b"1"),
    ]));
    assert_eq!(read(&archive, &budget()).unwrap(), [("a/b".to_owned(), b"1".to_vec())]);
}

#[test]
fn whatever_could_leave_the_tree_is_refused() {
    let cases: [(&[u8], EntryType, &str); 11] = [
        (b"../a", EntryType::Regular, "leaves the tree"),
        (b"/etc/passwd", EntryType::Regular, "leaves the tree"),
        (b"a/../../b", EntryType::Regular, "leaves the tree"),
        (b"..", EntryType::Directory, "leaves the tree"),
        (b"a\\b", EntryType::Regular, "backslash"),
        (b"a\x01b", EntryType::Regular, "control"),
        (b"a\xff", EntryType::Regular, "UTF-8"),
        (b"./", EntryType::Regular, "no name"),
        (b"a", EntryType::Symlink, "neither a file"),
        (b"a", EntryType::Link, "neither a file"),
        (b"a", EntryType::Char, "neither a file"),
    ];
    for (name, kind, why) in cases {
        let error = read(&gzip(&tar(&[(name, kind, b"")])), &budget()).unwrap_err();
        assert_eq!(error.reason, Reason::ArtifactUnsupported, "{error}");
        assert!(error.message.contains(why), "{error}");
    }
    let twice = gzip(&tar(&[(b"a/b", EntryType::Regular, b""), (b"./a//b", EntryType::Regular, b"")]));
    assert!(read(&twice, &budget()).unwrap_err().message.contains("twice"));
}

#[test]
fn a_bomb_ends_at_the_bounds() {
    let zeros = vec![0; 8 << 20];
    let large = gzip(&tar(&[(b"a", EntryType::Regular, &zeros)]));
    let many = gzip(&tar(&(0..11).map(|_| (&b"d/"[..], EntryType::Directory, &b""[..])).collect::<Vec<_>>()));
    let name =
        gzip(&tar(&[(b"n", EntryType::GNULongName, &zeros[..2 << 20]), (b"a", EntryType::Regular, b"")]));
    let after = gzip(&[tar(&[]), zeros.clone()].concat());
    for (archive, budget, why) in [
        (&large, Budget::new(1 << 22, 10), "8388608 bytes, at most 1048576"),
        (&many, Budget::new(1 << 22, 10), "more than 10 files"),
        (&name, Budget::new(1 << 24, 10), "names and attributes"),
        (&after, Budget::new(1 << 22, 10), "bytes, the most that is taken"),
    ] {
        let error = read(archive, &budget).unwrap_err();
        assert_eq!(error.reason, Reason::ContentTooLarge, "{error}");
        assert!(error.message.contains(why), "{error}");
    }
    // Also when nobody reads the file.
    let error = walk(&mut &large[..], SUBJECT, &budget(), &mut |_| Ok(())).unwrap_err();
    assert!(error.message.contains("inflates to more than 4194304"), "{error}");
}

#[test]
fn a_damaged_archive_is_refused() {
    let good = gzip(&tar(&[(b"a", EntryType::Regular, b"content")]));
    let mut checksum = good.clone();
    let end = checksum.len() - 6;
    checksum[end] ^= 1;
    for archive in [&b""[..], b"<html>", &good[..good.len() / 2], &good[..good.len() - 3], &checksum] {
        assert_eq!(read(archive, &budget()).unwrap_err().reason, Reason::ArtifactUnsupported);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_bytes_end_in_files_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..2048)) {
        let _ = read(&bytes, &budget());
        let _ = read(&gzip(&bytes), &budget());
    }

    #[test]
    fn any_contents_are_packed_and_read_back(contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..900), 1..9)) {
        let files: BTreeMap<_, _> = contents.iter().enumerate().map(|(index, content)| (format!("f{index}"), Bytes::from(content.clone()))).collect();
        let read = read(&pack("x", &files).unwrap(), &budget()).unwrap();
        prop_assert_eq!(read.into_iter().map(|(_, content)| content).collect::<Vec<_>>(), contents);
    }
}
