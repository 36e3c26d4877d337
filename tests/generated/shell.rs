//! Completion scripts and man pages, from the one definition of the command line.

use std::process::Command;

use clap::CommandFactory;
use kubectl_aicr::cli::CommandLine;

use crate::check;

#[test]
fn each_shell_has_the_completion_script_that_the_plugin_prints() {
    for (shell, file) in [
        ("bash", "kubectl-aicr.bash"),
        ("zsh", "_kubectl-aicr"),
        ("fish", "kubectl-aicr.fish"),
        ("powershell", "_kubectl-aicr.ps1"),
    ] {
        let plugin =
            Command::new(env!("CARGO_BIN_EXE_kubectl-aicr")).args(["completion", shell]).output().unwrap();
        assert!(plugin.status.success() && plugin.stderr.is_empty(), "{plugin:?}");
        check(&format!("completions/{file}"), std::str::from_utf8(&plugin.stdout).unwrap());
    }
}

#[test]
fn each_command_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    clap_mangen::generate_to(CommandLine::command(), folder.path()).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.contains(&"kubectl-aicr-approve.1".to_owned()), "{names:?}");
    for name in names {
        check(&format!("man/{name}"), &std::fs::read_to_string(folder.path().join(&name)).unwrap());
    }
}
