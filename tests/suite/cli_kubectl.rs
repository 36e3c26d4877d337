//! `kubectl aicr` through the real kubectl.
use std::fs;
use std::os::unix::fs::PermissionsExt;

use test_support::{Identity, tools};

use crate::admission_kit::{NAME, World};
use crate::cli_kit::{
    DEADLINE, Plugin, Ran, needs_no_approval, path, set_outcome, set_status, waiting, world_with,
};

/// Runs kubectl in the plugin's environment, with the plugin and its completion on the PATH.
async fn kubectl(plugin: &Plugin, args: &[&str]) -> Ran {
    let completions = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");
    let path =
        std::env::join_paths([completions.into()].into_iter().chain(std::env::split_paths(&path()))).unwrap();
    let mut command = plugin.program(tools::kubectl().unwrap(), args);
    Ran::of(format!("kubectl {}", args.join(" ")), command.env("PATH", path)).await
}

#[tokio::test]
async fn kubectl_runs_the_plugin_with_its_flags_streams_and_exit_codes() {
    let world = world_with(&[waiting(NAME)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let through = kubectl(&alice, &["aicr", "describe", NAME]).await;
    assert_eq!(through.done(), alice.run(&["describe", NAME]).await.done());
    let kubeconfig = world.cluster.kubeconfig(&[Identity::Tenant, Identity::SecondApprover]);
    let kubeconfig = kubeconfig.to_str().unwrap();
    let line =
        ["aicr", "approve", "--kubeconfig", kubeconfig, "--context=second-approver", "--reason", "a b", NAME];
    assert_eq!(
        kubectl(&alice, &line).await.done(),
        format!("rollout {NAME} approved by bob until {DEADLINE}\n")
    );
    let line = [
        "aicr",
        "--context",
        "second-approver",
        "--kubeconfig",
        kubeconfig,
        "approve",
        NAME,
        "--reason",
        "r",
    ];
    let refused = kubectl(&alice, &line).await;
    assert!(
        refused
            .failed()
            .starts_with(&format!("error: [CONFLICT] rollout {NAME}: it is already approved by bob"))
    );
    kubectl(&alice, &["aicr", "approve", NAME]).await.misused();
    kubectl(&alice, &["aicr", "describe", NAME, "--contxt", "x"]).await.misused();
}

#[tokio::test]
async fn help_and_version_work_through_kubectl_without_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::nowhere(folder.path());
    let help = plugin.run(&["help"]).await;
    for line in [&["aicr", "help"][..], &["aicr", "--help"], &["aicr", "-h"]] {
        assert_eq!(kubectl(&plugin, line).await.done(), help.done(), "{line:?}");
    }
    let approve = kubectl(&plugin, &["aicr", "approve", "--help"]).await;
    assert_eq!(approve.done(), plugin.run(&["approve", "--help"]).await.done());
    kubectl(&plugin, &["aicr", "version", "--client"]).await.done();
}

/// The words that kubectl offers for the last of a line.
async fn offered(plugin: &Plugin, line: &[&str]) -> Vec<String> {
    let ran = kubectl(plugin, &[&["__complete", "aicr"], line].concat()).await;
    assert_eq!(ran.code, Some(0), "{ran}");
    let (words, directive) = ran.stdout.trim_end().rsplit_once(':').unwrap_or_else(|| panic!("{ran}"));
    assert_eq!(directive, "4", "no file names: {ran}");
    words.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

/// Rollouts in every state that matters to who may do what.
async fn world_of_all() -> World {
    let mut needless = waiting("rollout-needless");
    needs_no_approval(&mut needless);
    let names =
        ["rollout-pending", "rollout-approved", "rollout-waiting", "rollout-ended", "rollout-revoked"];
    let mut rollouts: Vec<_> = names.iter().map(|name| waiting(name)).collect();
    rollouts.push(needless);
    let world = world_with(&rollouts).await;
    let bob = Plugin::of(&world.cluster, Identity::SecondApprover);
    for name in &names[1..] {
        bob.run(&["approve", name, "--reason", "r"]).await.done();
    }
    bob.run(&["revoke", "rollout-revoked", "--reason", "r"]).await.done();
    set_status(&world, "rollout-waiting", serde_json::json!({"phase": "AwaitingAcknowledgement"})).await;
    set_outcome(&world, "rollout-ended", "Succeeded").await;
    world
}

#[tokio::test]
async fn completion_offers_exactly_the_rollouts_that_a_command_would_take() {
    let completion = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/kubectl_complete-aicr");
    assert_ne!(
        fs::metadata(completion).unwrap().permissions().mode() & 0o111,
        0,
        "{completion} is a program"
    );
    let world = world_of_all().await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    assert_eq!(offered(&alice, &["approve", ""]).await, ["rollout-pending"]);
    assert_eq!(offered(&alice, &["revoke", "rollout-"]).await, ["rollout-approved", "rollout-waiting"]);
    assert_eq!(offered(&alice, &["acknowledge", "--reason", "r", ""]).await, ["rollout-waiting"]);
    assert_eq!(offered(&alice, &["describe", "rollout-e"]).await, ["rollout-ended"]);
    assert_eq!(offered(&alice, &["describe", ""]).await.len(), 6);
    assert_eq!(offered(&alice, &["describe", "-o", ""]).await, ["json", "yaml"]);
    assert_eq!(offered(&alice, &["appr"]).await, ["approve"]);
    assert!(
        offered(&alice, &["describe", "rollout-ended", "--context"]).await.contains(&"--context".to_owned())
    );
    let denied: Vec<_> = world
        .cluster
        .audit()
        .by(Identity::Approver)
        .iter()
        .filter(|request| request.code >= 400)
        .cloned()
        .collect();
    assert!(denied.is_empty(), "{denied:?}");
}

#[tokio::test]
async fn completion_is_silent_where_nothing_can_be_asked() {
    let world = World::leased().await;
    let mallory = Plugin::of(&world.cluster, Identity::Tenant);
    assert_eq!(offered(&mallory, &["approve", ""]).await, Vec::<String>::new());
    let ran = mallory.run(&["__complete", "--", "approve", ""]).await;
    assert_eq!(ran.done(), ":4\n");
}
