//! What the plugin costs its user, each figure beside its bound: start-up against kubectl's in the same run, and
//! `describe` of the largest rollout in round trips, CPU time and peak memory, on a real API server.
//!
//! Run it with `make bench`, which measures the program as it is shipped (`AICR_BENCH_PLUGIN` names it); by itself it
//! measures cargo's release build. It ends with an error when a bound does not hold.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its figures and stops at a failure"
)]

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kubectl_aicr::plan::Digest;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::{Value, json};
use test_support::{Cluster, Identity};

/// The plugin that is measured.
#[expect(clippy::disallowed_methods, reason = "a benchmark is told what to measure")]
fn plugin() -> String {
    std::env::var("AICR_BENCH_PLUGIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_kubectl-aicr").to_owned())
}

const ROLLOUT: &str = "rollout-3f9a1c0d2b7e4a51-1";
/// Runs of each start-up measurement, and of `describe`.
const RUNS: usize = 20;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--measure") {
        measure(&words[1..]);
        return ExitCode::SUCCESS;
    }
    let mut failed = false;
    let mut judge = |what: &str, figure: String, holds: bool| {
        failed |= !holds;
        println!("{what:<58} {figure:>28}  {}", if holds { "ok" } else { "TOO MUCH" });
    };
    let plugin = plugin();
    println!("{plugin}");
    let kubectl = median(&["kubectl", "version", "--client"]);
    for command in ["help", "version --client"] {
        let words: Vec<&str> = [plugin.as_str()].into_iter().chain(command.split(' ')).collect();
        let own = median(&words);
        let ratio = kubectl.as_secs_f64() / own.as_secs_f64();
        judge(
            &format!("{command}: times faster than kubectl version --client (>= 20)"),
            format!("{ratio:.0} ({own:.1?} to {kubectl:.1?})"),
            ratio >= 20.0,
        );
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (round_trips, figures) = runtime.block_on(describe());
    let cpu = figures.iter().map(|figure| figure.cpu).min().unwrap();
    let memory = figures.iter().map(|figure| figure.memory).max().unwrap();
    judge("describe of 256 steps: round trips (<= 3)", round_trips.to_string(), round_trips <= 3);
    judge("describe of 256 steps: CPU (<= 150 ms)", format!("{cpu:.1?}"), cpu <= Duration::from_millis(150));
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let megabytes = memory as f64 / 1024.0;
    judge("describe of 256 steps: peak memory (<= 12 MB)", format!("{megabytes:.1} MB"), megabytes <= 12.0);
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Median wall time of a command that succeeds.
fn median(words: &[&str]) -> Duration {
    let run = || {
        let started = Instant::now();
        let status =
            Command::new(words[0]).args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.unwrap().success(), "{words:?} failed");
        started.elapsed()
    };
    run();
    let mut times: Vec<Duration> = (0..RUNS).map(|_| run()).collect();
    times.sort();
    times[RUNS / 2]
}

struct Figure {
    cpu: Duration,
    /// Peak resident memory in KiB.
    memory: i64,
}

/// Runs one command and prints its CPU time in microseconds and its peak memory in KiB.
///
/// It is a process of its own, made before anything else: a child inherits the peak of the process that it was forked
/// from, and this one is small.
fn measure(words: &[String]) {
    let status = Command::new(&words[0]).args(&words[1..]).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{words:?} failed");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    println!("{cpu} {}", usage.max_rss());
}

async fn describe() -> (usize, Vec<Figure>) {
    let cluster = Cluster::lease().await;
    largest(&cluster).await;
    let kubeconfig = cluster.kubeconfig(&[Identity::Approver]);
    let before = requests(&cluster);
    let figures: Vec<Figure> = (0..RUNS).map(|_| figure(&kubeconfig)).collect();
    ((requests(&cluster) - before) / RUNS, figures)
}

/// Requests of the approver so far.
fn requests(cluster: &Cluster) -> usize {
    cluster.audit().by(Identity::Approver).len()
}

fn figure(kubeconfig: &Path) -> Figure {
    let this = std::env::current_exe().unwrap();
    let measured = Command::new(this)
        .args(["--measure", &plugin(), "describe", ROLLOUT, "--kubeconfig"])
        .arg(kubeconfig)
        .output()
        .unwrap();
    let text = String::from_utf8(measured.stdout).unwrap();
    let mut numbers = text.split_whitespace().map(|word| word.parse::<i64>().unwrap());
    let cpu = Duration::from_micros(numbers.next().unwrap().unsigned_abs());
    Figure { cpu, memory: numbers.next().unwrap() }
}

/// A rollout of 256 steps, its inventory and its status, and a report of 128 rows.
async fn largest(cluster: &Cluster) {
    let rows: Vec<Value> = (0..128)
        .map(|index| {
            json!({"component": format!("component-{index:03}"), "change": "version", "from": "v1.0.0", "to": "v1.1.0",
                   "verdict": "manual", "notes": "1 minor", "precondition": "Nothing runs", "breaking": false,
                   "steps": [{"id": "check", "description": "Look at it"}, {"id": "apply", "description": "Apply"}],
                   "downgrade": false, "failsRun": true})
        })
        .collect();
    let report = json!({"from": "a", "to": "b", "deployer": "argocd", "components": rows,
                        "summary": {"components": 128, "failing": 128}})
    .to_string();
    let digest = |digit: char| format!("sha256:{}", digit.to_string().repeat(64));
    let steps: Vec<Value> = (0..256)
        .map(|index| json!({"release": format!("release-{index:03}"), "operation": "Upgrade", "assessment": "Manual"}))
        .collect();
    let inventory: Vec<Value> = (0..256)
        .map(|index| {
            json!({"releaseID": format!("release-{index:03}"), "name": format!("release-{index:03}"), "uid": "u",
                   "planDigest": digest('a'), "revision": digest('1'), "specDigest": digest('d')})
        })
        .collect();
    let releases: Vec<Value> = (0..256)
        .map(|index| json!({"id": format!("release-{index:03}"), "state": "Ready", "revision": digest('1')}))
        .collect();
    let operator = cluster.client(Identity::Operator);
    let maps: Api<ConfigMap> = Api::namespaced(operator.clone(), test_support::NAMESPACE);
    let map = json!({"metadata": {"name": "aicr-upgrade-check-1"}, "data": {"report.json": report}});
    maps.create(&PostParams::default(), &serde_json::from_value(map).unwrap()).await.unwrap();
    let kind = GroupVersionKind::gvk("operator.aicr.run", "v1alpha1", "RuntimeRollout");
    let rollouts: Api<DynamicObject> = Api::all_with(operator, &ApiResource::from_gvk(&kind));
    let object = json!({
        "apiVersion": "operator.aicr.run/v1alpha1", "kind": "RuntimeRollout", "metadata": {"name": ROLLOUT},
        "spec": {"schemaVersion": 1, "runtimeUID": "u", "fromPlanDigest": digest('a'), "toPlanDigest": digest('b'),
                 "startingInventoryDigest": digest('c'), "startingInventory": inventory, "steps": steps,
                 "assessmentRef": {"configMap": "aicr-upgrade-check-1", "digest": Digest::of_bytes(report.as_bytes())},
                 "deadline": "2099-01-01T00:00:00Z", "actionTimeout": "30m0s", "approvalRequired": true},
    });
    rollouts.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
    let status = json!({"status": {"phase": "Progressing", "releases": releases}});
    rollouts.patch_status(ROLLOUT, &PatchParams::default(), &Patch::Merge(&status)).await.unwrap();
}
