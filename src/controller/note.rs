//! Texts within a bound: nothing is cut silently, and never inside a character.

/// Most bytes of an Event's note. Source: Kubernetes, `events.k8s.io/v1` `note`.
pub const NOTE_BYTES: usize = 1024;
/// What stands for a part that was left out.
const CUT: char = '…';

/// The text within `most` bytes; what was cut off its end is marked.
#[must_use]
pub fn within(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most.saturating_sub(CUT.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut cut = text[..end].to_owned();
    if most >= CUT.len_utf8() {
        cut.push(CUT);
    }
    cut
}

/// `before`, the names with commas, and `after`, within `most` bytes. Names that find no room are counted: `a, b and 3
/// more`. The rest around them is cut only if it alone is too long.
#[must_use]
pub fn listing(before: &str, names: &[impl AsRef<str>], after: &str, most: usize) -> String {
    let room = most.saturating_sub(before.len() + after.len());
    let mut listed = String::new();
    let mut best = counted(&listed, names.len());
    for (index, name) in names.iter().enumerate() {
        if index > 0 {
            listed.push_str(", ");
        }
        listed.push_str(name.as_ref());
        if listed.len() > room {
            break;
        }
        let candidate = counted(&listed, names.len() - index - 1);
        if candidate.len() <= room {
            best = candidate;
        }
    }
    within(&format!("{before}{best}{after}"), most)
}

fn counted(listed: &str, more: usize) -> String {
    match (listed.is_empty(), more) {
        (_, 0) => listed.to_owned(),
        (true, more) => format!("{more}"),
        (false, more) => format!("{listed} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{listing, within};

    #[test]
    fn a_text_is_cut_between_characters_and_marked() {
        for (text, most, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "…"),
            ("abcdefg", 6, "abc…"),
            ("aüüü", 6, "aü…"),
            ("🙂🙂", 7, "🙂…"),
            ("abcd", 2, ""),
        ] {
            assert_eq!(within(text, most), expected, "{text} {most}");
        }
    }

    #[test]
    fn names_without_room_are_counted() {
        let names = ["alpha", "beta", "gamma", "delta"];
        for (most, expected) in [
            (100, "moved alpha, beta, gamma, delta."),
            (31, "moved alpha, beta and 2 more."),
            (28, "moved alpha and 3 more."),
            (12, "moved 4."),
        ] {
            assert_eq!(listing("moved ", &names, ".", most), expected, "{most}");
        }
        assert_eq!(listing("moved ", &[""; 0], ".", 100), "moved .");
    }

    proptest! {
        #[test]
        fn no_text_exceeds_its_bound_and_every_name_is_listed_or_counted(
            names in prop::collection::vec("[a-zä]{1,12}", 0..60), most in 40usize..400,
        ) {
            let text = listing("of: ", &names, " end", most);
            prop_assert!(text.len() <= most);
            prop_assert!(text.starts_with("of: ") && text.ends_with(" end"));
            let inner = &text[4..text.len() - 4];
            let (listed, more) = match inner.rsplit_once(" and ") {
                Some((listed, more)) => (listed, more.trim_end_matches(" more").parse::<usize>().unwrap()),
                None => (inner, 0),
            };
            let shown = if listed.is_empty() { 0 } else { listed.split(", ").count() };
            let counted_alone = listed.parse::<usize>().ok();
            prop_assert_eq!(counted_alone.unwrap_or(shown + more), names.len());
        }

        #[test]
        fn any_text_fits_its_bound(text in "\\PC{0,80}", most in 0usize..60) {
            let cut = within(&text, most);
            prop_assert!(cut.len() <= most);
            prop_assert!(text.starts_with(cut.trim_end_matches('…')));
        }
    }
}
