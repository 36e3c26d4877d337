//! The name that was probably meant.

/// The candidate nearest to `name`, if one is near enough to be a slip: at most a third of its characters differ.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| distance * 3 <= candidate.chars().count().max(name.chars().count()))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements of characters and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut best = (above[j] + usize::from(a[i] != b[j])).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_only_when_it_is_near() {
        let names = ["prod-eu", "prod-us", "staging"];
        for (name, expected) in [
            ("prd-eu", Some("prod-eu")),
            ("prod-sus", Some("prod-us")),
            ("stagign", Some("staging")),
            ("laptop", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names.into_iter()), expected, "{name}");
        }
        assert_eq!(nearest("x", [].into_iter()), None);
    }

    #[test]
    fn distance_counts_edits() {
        for (a, b, expected) in
            [("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("äb", "ab", 1), ("prdo", "prod", 1)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }
}
