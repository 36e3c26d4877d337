//! The words of a command line before clap has judged them.

use std::ffi::{OsStr, OsString};

/// The command line with its command first, so that flags before and after it count together: clap would take those
/// after it alone, and silently drop a repeatable flag given before. `help` comes last: it is a command of clap's own,
/// which takes no flags after it.
pub(super) fn command_first(root: &clap::Command, argv: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut argv: Vec<OsString> = argv.into_iter().collect();
    let words = argv.get(1..).unwrap_or_default();
    let places: Vec<usize> = operands(root, words).map(|(index, _)| index + 1).collect();
    match places.first() {
        Some(&at) if argv[at] == "help" => {
            let is_operand = |index: &usize| places.contains(index);
            let (last, first): (Vec<usize>, Vec<usize>) = (0..argv.len()).partition(is_operand);
            first.into_iter().chain(last).map(|index| std::mem::take(&mut argv[index])).collect()
        }
        Some(&at) => {
            argv[1..=at].rotate_right(1);
            argv
        }
        None => argv,
    }
}

/// The words that are neither a flag nor a flag's value, with their places. Everything after `--` is one.
pub(super) fn operands<'a, S: AsRef<OsStr>>(
    root: &'a clap::Command,
    words: &'a [S],
) -> impl Iterator<Item = (usize, &'a str)> {
    let (mut is_value, mut is_rest) = (false, false);
    words.iter().enumerate().filter_map(move |(index, word)| {
        // A word that is no text is no flag of ours either; clap refuses it where it is not a path.
        let word = word.as_ref().to_str().unwrap_or_default();
        if std::mem::take(&mut is_value) {
            return None;
        }
        if is_rest || !word.starts_with('-') {
            return Some((index, word));
        }
        is_rest = word == "--";
        is_value = argument(root, word).is_some_and(takes_value);
        None
    })
}

/// The flag that a word is, unless it brings its value with it.
pub(super) fn argument<'a>(root: &'a clap::Command, word: &str) -> Option<&'a clap::Arg> {
    let mut all = root.get_arguments();
    if let Some(long) = word.strip_prefix("--") {
        return all.find(|argument| argument.get_long() == Some(long));
    }
    let short = word.strip_prefix('-').filter(|rest| rest.chars().count() == 1)?.chars().next();
    all.find(|argument| argument.get_short() == short)
}

/// Whether the next word is the flag's value.
pub(super) fn takes_value(argument: &clap::Arg) -> bool {
    argument.get_action().takes_values() && !argument.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::command_first;
    use crate::cli::args::Cli;

    fn ordered(line: &str) -> String {
        let argv = line.split(' ').map(Into::into);
        let words = command_first(&Cli::command(), argv);
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_command_comes_first_wherever_it_stands() {
        for (line, expected) in [
            ("x describe r", "x describe r"),
            ("x --context c describe r", "x describe --context c r"),
            ("x -o json --yes describe r --as b", "x describe -o json --yes r --as b"),
            (
                "x --context=c --insecure-skip-tls-verify describe r",
                "x describe --context=c --insecure-skip-tls-verify r",
            ),
            ("x --reason approve approve r", "x approve --reason approve r"),
            ("x --help", "x --help"),
            ("x --context c help", "x --context c help"),
            ("x help --context c describe --yes", "x --context c --yes help describe"),
            ("x", "x"),
        ] {
            assert_eq!(ordered(line), expected);
        }
    }

    #[test]
    fn repeatable_flags_count_before_and_after_the_command_and_others_may_stand_once() {
        let parse = |line: &str| {
            let argv = line.split(' ').map(Into::into);
            Cli::try_parse_from(command_first(&Cli::command(), argv))
        };
        let cli = parse("x --as u --as-group a describe r --as-group b").unwrap();
        assert_eq!(cli.flags.connection.as_group, ["a", "b"]);
        let twice = parse("x --context a describe r --context b").unwrap_err();
        assert_eq!(twice.kind(), clap::error::ErrorKind::ArgumentConflict);
    }
}
