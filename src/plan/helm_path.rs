//! Paths of values as Helm's `--set` spells them.

use std::fmt;

/// Helm follows at most this many dots in one `--set`.
const MAX_DOTS: usize = 30;
const SPECIAL: [char; 6] = ['\\', '.', ',', '=', '[', ']'];

/// The path of a value that lies in maps only: one key a level, at least one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HelmPath(Vec<String>);

/// Why `--set` cannot reach a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsettable {
    /// Helm ignores a `--set` with an empty key in it.
    #[error("it has an empty key")]
    EmptyKey,
    /// The path is deeper than Helm follows.
    #[error("it is more than {MAX_DOTS} levels below the top")]
    TooDeep,
}

impl HelmPath {
    /// The path with these keys, if `--set` reaches it.
    ///
    /// # Errors
    ///
    /// For an empty key, no key at all, or more levels than Helm follows.
    pub fn new(keys: Vec<String>) -> Result<Self, Unsettable> {
        if keys.is_empty() || keys.iter().any(String::is_empty) {
            return Err(Unsettable::EmptyKey);
        }
        if keys.len() > MAX_DOTS + 1 {
            return Err(Unsettable::TooDeep);
        }
        Ok(Self(keys))
    }

    /// Reads what [`Display`](fmt::Display) wrote; `None` for any other spelling, also for paths into lists.
    pub fn parse(text: &str) -> Option<Self> {
        let mut keys = vec![String::new()];
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            let literal = match character {
                '.' => {
                    keys.push(String::new());
                    continue;
                }
                '\\' => characters.next()?,
                other => other,
            };
            keys.last_mut()?.push(literal);
        }
        Self::new(keys).ok().filter(|path| path.to_string() == text)
    }

    /// The keys, from the top.
    pub fn keys(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for HelmPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, key) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            f.write_str(&escaped(key))?;
        }
        Ok(())
    }
}

/// One key as `--set` takes it.
pub(super) fn escaped(key: &str) -> String {
    let mut text = String::with_capacity(key.len());
    for character in key.chars() {
        if SPECIAL.contains(&character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(keys: &[&str]) -> HelmPath {
        HelmPath::new(keys.iter().map(|key| (*key).to_owned()).collect()).unwrap()
    }

    #[test]
    fn keys_are_escaped_as_helm_reads_them() {
        let table: [(&[&str], &str); 6] = [
            (&["a"], "a"),
            (&["controller", "affinity", "nodeAffinity"], "controller.affinity.nodeAffinity"),
            (&["nodeSelector", "kubernetes.io/os"], r"nodeSelector.kubernetes\.io/os"),
            (&["a,b", "c=d"], r"a\,b.c\=d"),
            (&["list[0]", r"back\slash"], r"list\[0\].back\\slash"),
            (&["é 😀", "{x}"], "é 😀.{x}"),
        ];
        for (keys, text) in table {
            assert_eq!(path(keys).to_string(), text);
            assert_eq!(HelmPath::parse(text), Some(path(keys)));
        }
    }

    #[test]
    fn a_path_that_set_cannot_reach_is_refused() {
        assert_eq!(HelmPath::new(vec![]), Err(Unsettable::EmptyKey));
        assert_eq!(HelmPath::new(vec!["a".into(), String::new()]), Err(Unsettable::EmptyKey));
        assert!(HelmPath::new(vec!["a".into(); 31]).is_ok());
        assert_eq!(HelmPath::new(vec!["a".into(); 32]), Err(Unsettable::TooDeep));
    }

    #[test]
    fn another_spelling_of_a_path_is_not_read() {
        for text in ["", ".", "a.", ".a", "a..b", "a[0]", "a[0].b", r"a\", r"\a", "a=b", "a,b"] {
            assert_eq!(HelmPath::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_path_reads_back(keys in proptest::collection::vec(".{1,8}", 1..6)) {
            let written = HelmPath::new(keys).unwrap();
            prop_assert_eq!(HelmPath::parse(&written.to_string()), Some(written));
        }
    }
}
