//! `checksums.txt` of a bundle: every file's SHA-256, and no other file.
//!
//! Source: aicr-cli sections 3.2 and 3.6; design section 4. The list is a closed world, but for itself, `attestation/` and
//! AICR's own store `oci-layout/` at the top.

use std::collections::BTreeMap;

use super::artifact::ArtifactError;

/// Name of the file.
pub const CHECKSUMS: &str = "checksums.txt";
/// Folders at the top that the list leaves out.
const UNLISTED: [&str; 2] = ["attestation/", "oci-layout/"];

/// The list: hexadecimal SHA-256 by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksums {
    by_path: BTreeMap<String, String>,
}

impl Checksums {
    /// Reads the list.
    ///
    /// # Errors
    ///
    /// For the first line that is not a lower-case SHA-256, two spaces and a path within the bundle, or that repeats one.
    pub fn read(text: &str) -> Result<Self, ArtifactError> {
        let mut by_path = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let error =
                |problem: String| ArtifactError::new(CHECKSUMS, format!("line {}", index + 1), problem);
            let entry = line.split_once("  ").filter(|(sum, _)| is_sha256(sum));
            let (sum, path) = entry.ok_or_else(|| error("is not '<sha256>  <path>'".to_owned()))?;
            if !stays_inside(path) {
                return Err(error(format!("{path:?} is no path within the bundle")));
            }
            if by_path.insert(path.to_owned(), sum.to_owned()).is_some() {
                return Err(error(format!("{path} is listed again")));
            }
        }
        Ok(Self { by_path })
    }

    /// Holds the files of a bundle, as path and hexadecimal SHA-256, against the list.
    ///
    /// # Errors
    ///
    /// For the first file that differs, is not listed, or is listed and missing.
    pub fn verify<'a>(
        &self,
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), ArtifactError> {
        let error = |path: &str, problem: String| Err(ArtifactError::new(CHECKSUMS, path, problem));
        let files: BTreeMap<&str, &str> = files.into_iter().filter(|(path, _)| is_listed(path)).collect();
        for (path, sum) in &files {
            match self.by_path.get(*path) {
                None => return error(path, "is in the bundle, but not listed".to_owned()),
                Some(listed) if listed != sum => {
                    return error(path, format!("has SHA-256 {sum}, but {listed} is listed"));
                }
                Some(_) => {}
            }
        }
        match self.by_path.keys().find(|path| !files.contains_key(path.as_str())) {
            Some(path) => error(path, "is listed, but not in the bundle".to_owned()),
            None => Ok(()),
        }
    }
}

fn is_listed(path: &str) -> bool {
    path != CHECKSUMS && !UNLISTED.iter().any(|folder| path.starts_with(folder))
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// A relative path with slashes, of which no part is empty, `.` or `..`.
fn stays_inside(path: &str) -> bool {
    let odd = |c: char| c.is_control() || c == '\\';
    !path.chars().any(odd) && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222222222222222222222222222";

    #[test]
    fn a_bundle_that_is_what_the_list_says_passes_and_attestations_and_the_store_are_left_out() {
        let list = Checksums::read(&format!("{ONE}  001-a/values.yaml\n{TWO}  deploy.sh\n")).unwrap();
        let files = [("deploy.sh", TWO), ("001-a/values.yaml", ONE)];
        let left_out = [(CHECKSUMS, ONE), ("attestation/x.json", ONE), ("oci-layout/index.json", ONE)];
        list.verify(files.into_iter().chain(left_out)).unwrap();
    }

    #[test]
    fn each_difference_is_named() {
        let list = Checksums::read(&format!("{ONE}  a\n{TWO}  b/c\n")).unwrap();
        let same: [(&str, &str); 2] = [("a", ONE), ("b/c", TWO)];
        for (files, message) in [
            (vec![("a", TWO), same[1]], format!("a: has SHA-256 {TWO}, but {ONE} is listed")),
            (vec![same[0]], "b/c: is listed, but not in the bundle".to_owned()),
            (vec![same[0], same[1], ("b/d", ONE)], "b/d: is in the bundle, but not listed".to_owned()),
            (
                vec![same[0], same[1], ("b/oci-layout/d", ONE)],
                "b/oci-layout/d: is in the bundle, but not listed".to_owned(),
            ),
        ] {
            assert_eq!(list.verify(files).unwrap_err().to_string(), format!("checksums.txt: {message}"));
        }
    }

    #[test]
    fn paths_that_leave_the_bundle_and_lines_of_another_form_are_refused() {
        for (line, message) in [
            (format!("{ONE}  /etc/passwd"), r#""/etc/passwd" is no path within the bundle"#),
            (format!("{ONE}  a/../b"), r#""a/../b" is no path within the bundle"#),
            (format!("{ONE}  ./a"), r#""./a" is no path within the bundle"#),
            (format!("{ONE}  a//b"), r#""a//b" is no path within the bundle"#),
            (format!("{ONE}  a\\b"), r#""a\\b" is no path within the bundle"#),
            (format!("{ONE} a"), "is not '<sha256>  <path>'"),
            (format!("{}  a", ONE.replace('1', "F")), "is not '<sha256>  <path>'"),
            (String::new(), "is not '<sha256>  <path>'"),
            (format!("{TWO}  x"), "x is listed again"),
        ] {
            let error = Checksums::read(&format!("{ONE}  x\n{line}\n")).unwrap_err();
            assert_eq!(error.to_string(), format!("checksums.txt: line 2: {message}"));
        }
    }
}
