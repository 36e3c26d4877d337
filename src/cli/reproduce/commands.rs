//! The commands that a person pastes into a shell, whatever the plan's flags and the folder's name hold.

use std::path::Path;

/// Words that a POSIX shell takes as they are; anything else goes into single quotes.
pub(super) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What the commands are made of.
pub(super) struct Inputs<'a> {
    /// Folder that holds `recipe.json`.
    pub(super) dir: &'a Path,
    /// AICR image, pinned by digest.
    pub(super) image: &'a str,
    /// The plan's render flags.
    pub(super) flags: &'a [String],
    /// Bundle reference, `oci://…@sha256:…`.
    pub(super) bundle: &'a str,
}

/// Render with the AICR image, pull what the operator rendered, compare.
pub(super) fn commands(inputs: &Inputs<'_>) -> [String; 3] {
    let dir = inputs.dir.to_string_lossy();
    let mount = if inputs.dir.is_absolute() {
        quote(&format!("{dir}:/work"))
    } else {
        // Double quotes let the shell fill in $PWD; the rest of the word is quoted on its own.
        let word = format!("/{dir}:/work");
        match quote(&word) {
            plain if plain == word => format!("\"$PWD{word}\""),
            quoted => format!("\"$PWD\"{quoted}"),
        }
    };
    let mut render = format!(
        "docker run --rm --user \"$(id -u):$(id -g)\" -v {mount} -w /work {} bundle --recipe recipe.json",
        quote(inputs.image)
    );
    for flag in inputs.flags {
        render.push(' ');
        render.push_str(&quote(flag));
    }
    render.push_str(" --output cli-bundle");
    // A folder whose name begins with '-' must not be taken for a flag.
    let operand = if dir.starts_with('-') { format!("./{dir}") } else { dir.into_owned() };
    let (operator, cli) =
        (quote(&format!("{operand}/operator-bundle")), quote(&format!("{operand}/cli-bundle")));
    let reference = inputs.bundle.strip_prefix("oci://").unwrap_or(inputs.bundle);
    [
        render,
        format!("oras pull {} -o {operator}", quote(reference)),
        format!("diff -r {operator} {cli} && echo \"zero diff\""),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use proptest::prelude::*;

    use super::{Inputs, commands, quote};

    fn inputs<'a>(dir: &'a str, flags: &'a [String]) -> Inputs<'a> {
        Inputs {
            dir: Path::new(dir),
            image: "ghcr.io/nvidia/aicr@sha256:0123",
            flags,
            bundle: "oci://registry.example/aicr/bundles/cluster@sha256:4567",
        }
    }

    #[test]
    fn the_usual_commands_read_as_documented() {
        let flags: Vec<String> =
            ["--deployer", "helm", "--accelerated-node-selector", "pool=gpu"].map(String::from).into();
        let [render, pull, compare] = commands(&inputs("aicr-reproduce", &flags));
        assert_eq!(
            render,
            "docker run --rm --user \"$(id -u):$(id -g)\" -v \"$PWD/aicr-reproduce:/work\" -w /work ghcr.io/nvidia/aicr@sha256:0123 bundle --recipe recipe.json --deployer helm --accelerated-node-selector pool=gpu --output cli-bundle"
        );
        assert_eq!(
            pull,
            "oras pull registry.example/aicr/bundles/cluster@sha256:4567 -o aicr-reproduce/operator-bundle"
        );
        assert_eq!(
            compare,
            "diff -r aicr-reproduce/operator-bundle aicr-reproduce/cli-bundle && echo \"zero diff\""
        );
    }

    #[test]
    fn odd_folders_stay_one_word() {
        let [render, pull, _] = commands(&inputs("my dir", &[]));
        assert!(render.contains(r#" -v "$PWD"'/my dir:/work' "#), "{render}");
        assert!(pull.ends_with(" -o 'my dir/operator-bundle'"), "{pull}");
        let [render, ..] = commands(&inputs("/srv/a$b", &[]));
        assert!(render.contains(" -v '/srv/a$b:/work' "), "{render}");
        let [_, _, compare] = commands(&inputs("-x", &[]));
        assert!(compare.starts_with("diff -r ./-x/operator-bundle ./-x/cli-bundle"), "{compare}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_reads_back_exactly_the_words_that_were_quoted(words in prop::collection::vec("[^\u{0}]{0,20}", 1..5)) {
            let line = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
            let output = Command::new("sh").args(["-c", &format!("printf '%s\\0' {line}")]).output().unwrap();
            let read: Vec<&str> = std::str::from_utf8(&output.stdout).unwrap().split_terminator('\0').collect();
            prop_assert_eq!(read, words);
        }
    }
}
