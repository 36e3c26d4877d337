//! What a rollout is named by: the runtime and the two plans that it leads between.
//!
//! Source: api-reference "RuntimeRollout", naming; design section 2. The live inventory is no part of the name, so that two
//! who create the same rollout at the same time collide on it.

use std::collections::BTreeMap;

use super::digest::Digest;
use crate::api::keys;

/// One transition of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// UID of the `ClusterRuntime`.
    pub runtime_uid: String,
    /// The plan that is replaced; none for the initial install.
    pub from: Option<Digest>,
    /// The plan that is rolled out; none when the runtime is removed. Equal to `from` to adopt and to reinstall.
    pub to: Option<Digest>,
}

impl Transition {
    /// The first 16 hexadecimal digits of SHA-256 over UID, `from` and `to`, a line each; no plan is an empty line.
    pub fn hash(&self) -> String {
        let text = |end: Option<Digest>| end.map(|digest| digest.to_string()).unwrap_or_default();
        let lines = format!("{}\n{}\n{}", self.runtime_uid, text(self.from), text(self.to));
        Digest::of_bytes(lines.as_bytes()).short()
    }

    /// Name of the transition's rollout of this number, which counts from 1.
    pub fn rollout_name(&self, number: u32) -> String {
        format!("rollout-{}-{number}", self.hash())
    }

    /// The labels that every rollout of the transition is created with.
    pub fn labels(&self) -> BTreeMap<String, String> {
        let to = self.to.map(|digest| digest.short()).unwrap_or_default();
        [(keys::RUNTIME, keys::SINGLETON.to_owned()), (keys::TRANSITION, self.hash()), (keys::TO_PLAN, to)]
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(digit: char) -> Digest {
        Digest::parse(&format!("sha256:{}", digit.to_string().repeat(64))).unwrap()
    }

    fn transition(uid: &str, from: Option<char>, to: Option<char>) -> Transition {
        Transition { runtime_uid: uid.to_owned(), from: from.map(digest), to: to.map(digest) }
    }

    #[test]
    fn the_hash_covers_uid_and_both_digests_as_three_lines() {
        let (a, b) = (digest('a'), digest('b'));
        for (from, to, lines) in [
            (Some('a'), Some('b'), format!("uid\n{a}\n{b}")),
            (None, Some('b'), format!("uid\n\n{b}")),
            (Some('a'), None, format!("uid\n{a}\n")),
            (Some('a'), Some('a'), format!("uid\n{a}\n{a}")),
        ] {
            let expected = Digest::of_bytes(lines.as_bytes()).hex();
            assert_eq!(transition("uid", from, to).hash(), expected[..16], "{lines:?}");
        }
        // Computed with sha256sum, so that a name never changes by accident.
        let known = transition("5f3c1f0e-7c4b-4c64-9a53-0d9be0a2c001", Some('a'), Some('b'));
        assert_eq!(known.hash(), "2a90957a62d27a81");
    }

    #[test]
    fn transitions_of_other_ends_direction_or_runtime_differ() {
        let hashes: std::collections::BTreeSet<String> = [
            transition("uid", Some('a'), Some('b')),
            transition("uid", Some('b'), Some('a')),
            transition("uid", Some('a'), Some('a')),
            transition("uid", None, Some('a')),
            transition("uid", Some('a'), None),
            transition("other", Some('a'), Some('b')),
        ]
        .iter()
        .map(Transition::hash)
        .collect();
        assert_eq!(hashes.len(), 6);
    }

    #[test]
    fn a_rollout_is_named_by_transition_and_number_and_labelled_by_where_it_leads() {
        let upgrade = transition("uid", Some('a'), Some('b'));
        assert_eq!(upgrade.rollout_name(12), format!("rollout-{}-12", upgrade.hash()));
        let labels = upgrade.labels();
        assert_eq!(labels["operator.aicr.run/runtime"], "cluster");
        assert_eq!(labels["operator.aicr.run/transition"], upgrade.hash());
        assert_eq!(labels["operator.aicr.run/to-plan"], "b".repeat(16));
        let removal = transition("uid", Some('a'), None);
        assert_eq!(removal.labels()["operator.aicr.run/to-plan"], "");
    }
}
