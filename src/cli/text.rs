//! Text for people: safe, aligned, wrapped, and times in words.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::printer::Look;
use crate::api::Time;

/// What an object holds may come from anybody who can write one: control characters could drive the terminal, and
/// characters that turn the direction of text or show nothing could show another text than the one that is approved.
pub(super) fn safe(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
                | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// `safe` of one line; line ends within become spaces.
pub(super) fn line(text: &str) -> String {
    safe(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// `safe` of a text whose line ends are kept.
pub(super) fn paragraph(text: &str) -> String {
    text.lines().map(|line| safe(line.trim_end())).collect::<Vec<_>>().join("\n")
}

/// An instant exactly and in words: `2026-10-15T04:00:00Z, in 3h12m`.
pub(super) fn instant(time: Time, now: Time) -> String {
    let time = time.truncated();
    format!("{time}, {}", distance(time, now))
}

/// The way from `now` to an instant in its two largest units: `in 3h12m`, `2d4h ago`, `now`.
fn distance(time: Time, now: Time) -> String {
    let seconds = time.0.as_second().saturating_sub(now.truncated().0.as_second());
    let total = seconds.unsigned_abs();
    let units = [(total / 86_400, "d"), (total / 3_600 % 24, "h"), (total / 60 % 60, "m"), (total % 60, "s")];
    let two = units.iter().skip_while(|(count, _)| *count == 0).take(2).filter(|(count, _)| *count > 0);
    let words = two.map(|(count, unit)| format!("{count}{unit}")).collect::<Vec<_>>().concat();
    match seconds {
        0 => "now".to_owned(),
        1.. => format!("in {words}"),
        _ => format!("{words} ago"),
    }
}

/// An aligned table without borders, indented by two; cells wrap only where the look has a width.
pub(super) fn table(header: &[&str], rows: &[Vec<String>], look: Look) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec()).add_rows(rows.to_vec());
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP));
    }
    if let Some(width) = look.width {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        // The margin at the left, and a gap between each two columns.
        let room = width.max(20).saturating_sub(GAP * u16::try_from(header.len()).unwrap_or(u16::MAX));
        let widths = fitted(table.column_max_content_widths(), room);
        for (column, width) in table.column_iter_mut().zip(widths) {
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width + GAP)));
        }
    }
    table.trim_fmt().lines().map(|row| format!("  {row}\n")).collect::<Vec<_>>().concat()
}

/// Columns left free between two columns of a table.
const GAP: u16 = 2;

/// Widths that take up no more than `room`: the widest gives way first, so that short words stay whole.
fn fitted(mut widths: Vec<u16>, room: u16) -> Vec<u16> {
    while widths.iter().copied().map(u32::from).sum::<u32>() > u32::from(room) {
        match widths.iter_mut().max() {
            Some(widest) if *widest > 1 => *widest -= 1,
            _ => break,
        }
    }
    widths
}

/// `label` and `text` on one line, the text starting at column `indent`. Where the look has a width it wraps there; a word
/// that does not fit, such as a digest, starts on a line of its own instead of being broken.
pub(super) fn field(label: &str, text: &str, indent: usize, look: Look) -> String {
    let lead = format!("{label:<indent$}");
    let Some(width) = look.width.map(usize::from).filter(|_| !text.is_empty()) else {
        return format!("{lead}{text}").trim_end().to_owned() + "\n";
    };
    let longest = text.split_whitespace().map(textwrap::core::display_width).max().unwrap_or(0);
    // Names, times and UUIDs are copied from the screen, so they are broken nowhere, not even at their hyphens.
    let whole = textwrap::WordSplitter::NoHyphenation;
    let options = textwrap::Options::new(width).break_words(false).word_splitter(whole);
    if indent + longest.max(LEAST) <= width {
        let hang = " ".repeat(indent);
        let filled = textwrap::fill(text, options.initial_indent(&lead).subsequent_indent(&hang));
        return filled.trim_end().to_owned() + "\n";
    }
    let hang = " ".repeat(label.chars().take_while(|c| *c == ' ').count() + 2);
    let filled = textwrap::fill(text, options.initial_indent(&hang).subsequent_indent(&hang));
    let lead = lead.trim_end();
    let own_line = if lead.is_empty() { String::new() } else { format!("{lead}\n") };
    format!("{own_line}{}\n", filled.trim_end())
}

/// Columns that a text beside its label needs, to be worth reading there.
const LEAST: usize = 20;

#[cfg(test)]
mod tests {
    use super::{Look, field, instant, line, safe, table};
    use crate::api::fixtures::at;

    #[test]
    fn nothing_in_an_object_can_drive_the_terminal_or_turn_the_text() {
        assert_eq!(safe("a\u{1b}[31mred\u{7}\u{202e}b\n"), "a\u{fffd}[31mred\u{fffd}\u{fffd}b\u{fffd}");
        // Arabic letter mark, soft hyphen, invisible fillers, annotation and tag characters.
        for hidden in ["\u{61c}", "\u{ad}", "\u{115f}", "\u{180e}", "\u{3164}", "\u{fffa}", "\u{e0041}"] {
            assert_eq!(safe(hidden), "\u{fffd}", "{hidden:?}");
        }
        assert_eq!(line(" two\n lines\tof\r\ntext "), "two lines of text");
        assert_eq!(safe("grün 日本"), "grün 日本");
    }

    #[test]
    fn a_time_is_given_exactly_and_in_words() {
        for (time, now, text) in [
            ("04:00:00", "00:48:00", "2026-10-15T04:00:00Z, in 3h12m"),
            ("04:00:00", "04:00:00", "2026-10-15T04:00:00Z, now"),
            ("04:00:00", "04:00:00.9", "2026-10-15T04:00:00Z, now"),
            ("04:00:00", "04:00:05", "2026-10-15T04:00:00Z, 5s ago"),
            ("04:00:00", "05:00:05", "2026-10-15T04:00:00Z, 1h ago"),
            ("04:00:00", "03:58:55", "2026-10-15T04:00:00Z, in 1m5s"),
        ] {
            assert_eq!(instant(at(time), at(now)), text);
        }
        let later = crate::api::Time("2026-10-17T06:30:00Z".parse().unwrap());
        assert_eq!(instant(later, at("04:00:00")), "2026-10-17T06:30:00Z, in 2d2h");
    }

    #[test]
    fn a_table_is_aligned_and_has_no_trailing_blanks() {
        let rows = vec![vec!["gpu-operator".into(), "Upgrade".into()], vec!["nfd".into(), String::new()]];
        let text = table(&["RELEASE", "OPERATION"], &rows, Look::default());
        assert_eq!(text, "  RELEASE       OPERATION\n  gpu-operator  Upgrade\n  nfd\n");
    }

    #[test]
    fn text_fits_the_width_of_a_terminal_and_is_left_alone_in_a_pipe() {
        let look = Look { color: false, width: Some(40) };
        let words = "one two three four five six seven eight";
        assert_eq!(
            field("Message:", words, 12, look),
            "Message:    one two three four five six\n            seven eight\n"
        );
        assert_eq!(field("Message:", words, 12, Look::default()), format!("Message:    {words}\n"));
        assert_eq!(field("Message:", "", 12, Look::default()), "Message:\n");
        let digest = "d".repeat(34);
        assert_eq!(field("Plan:", &format!("{digest} ->"), 12, look), format!("Plan:\n  {digest} ->\n"));
        let rows = vec![vec!["x".repeat(60), "y".into()]];
        assert!(table(&["A", "B"], &rows, look).lines().all(|row| row.chars().count() <= 40));
    }

    #[test]
    fn the_widest_column_of_a_table_gives_way_first() {
        let look = Look { color: false, width: Some(40) };
        let rows = vec![vec!["nodewright-customizations".into(), "NotApplicable".into(), "Pending".into()]];
        assert_eq!(
            table(&["RELEASE", "ASSESSMENT", "STATE"], &rows, look),
            "  RELEASE         ASSESSMENT     STATE\n  nodewright-cus  NotApplicable  Pending\n  tomizations\n"
        );
    }
}
