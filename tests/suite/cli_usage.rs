//! Command lines, help and output streams: what needs no rollout.
use test_support::{Cluster, Identity};

use crate::admission_kit::NAME;
use crate::cli_kit::{Plugin, golden, waiting, world_with};

/// A plugin without a cluster, and its folder.
fn alone() -> (tempfile::TempDir, Plugin) {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::nowhere(folder.path());
    (folder, plugin)
}

#[tokio::test]
async fn help_is_a_success_without_a_cluster() {
    let (_folder, plugin) = alone();
    golden!(plugin.run(&["help"]).await);
    let help = plugin.run(&["help"]).await;
    for same in
        [&["--help"][..], &["-h"], &["--context", "nowhere", "help"], &["help", "--context", "nowhere", "-y"]]
    {
        assert_eq!(plugin.run(same).await.done(), help.done(), "{same:?}");
    }
}

#[tokio::test]
async fn each_command_explains_itself() {
    let (_folder, plugin) = alone();
    for command in ["describe", "approve", "revoke", "acknowledge", "reproduce", "version", "completion"] {
        let help = plugin.run(&["help", command]).await;
        assert!(help.done().contains(&format!("Usage: kubectl aicr {command} ")), "{help}");
        assert_eq!(plugin.run(&[command, "--help"]).await.done(), help.done());
    }
    golden!(plugin.run(&["approve", "--help"]).await);
}

#[tokio::test]
async fn a_wrong_command_line_is_exit_2_with_the_nearest_right_one() {
    let (_folder, plugin) = alone();
    for (line, words) in [
        (&["--context", "c"][..], "requires a subcommand"),
        (&["aprove", "r"], "a similar subcommand exists: 'approve'"),
        (&["describe", "r", "--contxt", "c"], "a similar argument exists: '--context'"),
        (&["describe"], "<ROLLOUT>"),
        (&["approve", "--reason", "x"], "<ROLLOUT>"),
        (&["describe", "one", "two"], "unexpected argument 'two'"),
        (&["reproduce", "one", "two"], "unexpected argument 'two'"),
        (&["describe", "r", "-o", "xml"], "invalid value 'xml' for '--output <FORMAT>'"),
        (&["describe", "Not_A_Name"], "lower-case letters"),
        (&["describe", "../secrets"], "lower-case letters"),
        (&["describe", "r", "--operator-namespace", "a/b"], "lower-case letters"),
        (&["describe", "r", "--context"], "a value is required for '--context <NAME>'"),
        (&["approve", "r", "--reason"], "a value is required for '--reason <TEXT>'"),
        (&["help", "nonsense"], "nonsense"),
        (&["help", "--nonsense"], "unexpected argument '--nonsense'"),
        (&["completion", "tcsh"], "invalid value 'tcsh'"),
        (&["describe", "r", "--as-group", "g"], "--as-group needs --as"),
        (&["--as-uid", "1", "describe", "r"], "--as-uid needs --as"),
        (&["describe", "r", "-n", "ns"], "--namespace has no meaning here"),
        (&["describe", "r", "--request-timeout", "soon"], "invalid value 'soon'"),
    ] {
        let ran = plugin.run(line).await;
        let error = ran.misused();
        assert!(error.starts_with("error: ") && error.contains(words), "{ran}");
    }
    assert_eq!(
        plugin.run(&[]).await.misused(),
        plugin.run(&["help"]).await.done(),
        "nothing at all is answered by help"
    );
}

#[tokio::test]
async fn what_approve_and_revoke_cannot_take_is_exit_2_before_any_request() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let long = "é".repeat(1025);
    let reason_required = "--reason TEXT is required";
    for command in ["approve", "revoke"] {
        for (flags, words) in [
            (&[][..], reason_required),
            (&["--reason", ""], reason_required),
            (&["--reason="], reason_required),
            (&["--reason", " \n\t"], reason_required),
            (&["--reason", &long], "--reason has 1025 characters; at most 1024 are kept"),
            (&["--reason", "r", "--expires", "-1h"], "--expires must not be negative"),
            (&["--reason", "r", "--expires=-1ns"], "--expires must not be negative"),
            (&["--reason", "r", "--expires", "soon"], "invalid duration 'soon'"),
            (&["--reason", "r", "--expires", "2"], "invalid duration '2': a number without unit"),
            (&["--reason", "r", "--expires", "2d"], "invalid duration '2d': unknown unit"),
            (&["--reason", "r", "--expires", ""], "invalid duration '': no number"),
            (&["--reason", "r", "--expires", "9999999999h"], "out of range"),
            (&["--reason", "r", "--reason", "s"], "cannot be used multiple times"),
            (&["--reason", "r", "--as-group", "g"], "--as-group needs --as"),
        ] {
            let ran = alice.run(&[&[command, NAME], flags].concat()).await;
            let error = ran.misused();
            assert!(error.starts_with("error: ") && error.contains(words), "{ran}");
        }
    }
    // Also where the command does not use them.
    alice.run(&["describe", NAME, "--expires", "-1h"]).await.misused();
    alice.run(&["acknowledge", NAME, "--reason", &long]).await.misused();
    let audit = world.cluster.audit().by(Identity::Approver);
    assert!(audit.is_empty(), "{audit:?}");
}

#[tokio::test]
async fn every_command_accepts_every_flag_before_and_after_its_name() {
    let world = world_with(&[waiting(NAME)]).await;
    let kubeconfig = world.cluster.kubeconfig(&[Identity::Tenant, Identity::Approver]);
    let kubeconfig = kubeconfig.to_str().unwrap();
    let plugin = Plugin::nowhere(world.cluster.folder());
    let dir = world.cluster.folder().join("out");
    let flags = [
        "--kubeconfig",
        kubeconfig,
        "--context",
        "approver",
        "--operator-namespace",
        "aicr-system",
        "--reason",
        "-r",
        "--expires",
        "2h",
        "--dir",
        dir.to_str().unwrap(),
        "--yes",
        "--request-timeout",
        "10s",
    ];
    for (command, expected) in
        [("describe", 0), ("approve", 0), ("acknowledge", 1), ("revoke", 0), ("version", 0), ("reproduce", 1)]
    {
        let name: &[&str] = if matches!(command, "version" | "reproduce") { &[] } else { &[NAME] };
        for line in [
            [&flags[..], &[command], name].concat(),
            [&[command], &flags[..], name].concat(),
            [&[command], name, &flags[..]].concat(),
            [&flags[..8], &[command], name, &flags[8..]].concat(),
        ] {
            let ran = plugin.run(&line).await;
            assert_ne!(ran.code, Some(2), "{ran}");
            if command == "describe" || command == "version" {
                assert_eq!(ran.code, Some(expected), "{ran}");
            }
        }
    }
    let approval = world.stored().await["spec"]["approval"].clone();
    assert_eq!((&approval["approvedBy"], &approval["reason"]), (&"alice".into(), &"-r".into()));
    assert_eq!(approval["revokedBy"], "alice");
}

#[tokio::test]
async fn version_names_the_plugin_and_the_server_and_with_client_calls_nobody() {
    let cluster = Cluster::lease().await;
    let alice = Plugin::of(&cluster, Identity::Approver);
    let client = format!("Client Version: v{}\n", env!("CARGO_PKG_VERSION"));
    let ran = alice.run(&["version"]).await;
    let server = ran.done().strip_prefix(&client).unwrap_or_else(|| panic!("{ran}"));
    assert!(server.starts_with("Kubernetes Version: v1.") && server.ends_with('\n'), "{ran}");
    let (_folder, plugin) = alone();
    assert_eq!(plugin.run(&["version", "--client"]).await.done(), client);
    let json: serde_json::Value =
        serde_json::from_str(plugin.run(&["version", "--client", "-o", "json"]).await.done()).unwrap();
    assert_eq!(json, serde_json::json!({"client": format!("v{}", env!("CARGO_PKG_VERSION"))}));
}

#[tokio::test]
async fn without_a_kubeconfig_the_error_says_where_one_was_looked_for() {
    let (folder, plugin) = alone();
    let looked_for = folder.path().join(".kube/config");
    let ran = plugin.run(&["describe", "r"]).await;
    let error = ran.failed();
    assert!(
        error.starts_with("error: [INVALID_REQUEST] ") && error.contains(looked_for.to_str().unwrap()),
        "{error}"
    );
    let missing = folder.path().join("missing");
    let ran = plugin.run(&["describe", "r", "--kubeconfig", missing.to_str().unwrap()]).await;
    assert_eq!(
        ran.failed(),
        format!(
            "error: [INVALID_REQUEST] kubeconfig {}: no such file; --kubeconfig names it\n",
            missing.display()
        )
    );
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_ends_the_output_quietly() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    for (script, first) in [
        (format!("kubectl-aicr describe {NAME} | head -1"), format!("Rollout:            {NAME}\n")),
        (format!("kubectl-aicr describe {NAME} -o json | head -1"), "{\n".to_owned()),
        ("kubectl-aicr completion bash | head -1".to_owned(), "_kubectl__aicr() {\n".to_owned()),
        ("kubectl-aicr version | head -c 6".to_owned(), "Client".to_owned()),
        ("kubectl-aicr help | true".to_owned(), String::new()),
        (format!("kubectl-aicr describe {NAME} | true"), String::new()),
        // The reader is gone before the first byte.
        (format!("kubectl-aicr describe {NAME} > >(true)"), String::new()),
    ] {
        let ran = alice.bash(&script).await;
        assert_eq!(ran.stderr, "", "{ran}");
        assert!(matches!(ran.code, Some(0 | 141)), "{ran}");
        assert_eq!(ran.stdout, first, "{ran}");
    }
    let ran = alice.bash("kubectl-aicr help | head -1").await;
    assert_eq!((ran.code, ran.stderr.as_str(), ran.stdout.lines().count()), (Some(0), "", 1), "{ran}");
}

#[tokio::test]
async fn output_that_cannot_be_written_is_an_error_that_is_told() {
    let (_folder, plugin) = alone();
    for command in ["help", "version --client", "completion bash", "describe --help"] {
        let ran = plugin.bash(&format!("kubectl-aicr {command} >/dev/full")).await;
        let error = ran.failed();
        assert!(
            error.starts_with("error: [INTERNAL] cannot write the output: No space left"),
            "{command}: {ran}"
        );
    }
    // Nobody can be told here; the exit code must still say it.
    let ran = plugin.bash("kubectl-aicr nonsense 2>/dev/full").await;
    assert_eq!(ran.code, Some(2), "{ran}");
}

#[tokio::test]
async fn nothing_in_a_pipe_has_escapes_whatever_the_terminal_is_said_to_be() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver)
        .with("TERM", "xterm-256color")
        .with("COLORTERM", "truecolor")
        .with("CLICOLOR_FORCE", "1")
        .with("FORCE_COLOR", "1");
    for line in
        [&["describe", NAME][..], &["help"], &["describe", "--help"], &["nonsense"], &["describe", "gone"]]
    {
        let ran = alice.run(line).await;
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran}");
        assert!(!ran.stdout.is_empty() || !ran.stderr.is_empty());
    }
}
