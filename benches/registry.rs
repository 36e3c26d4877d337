//! What mirroring costs, each figure beside its bound: peak memory for a chart of 50 MB and for an index of 9 MB, above
//! that of a process that has only made its client.
//!
//! Run it with `cargo bench --bench registry`. It ends with an error when a bound does not hold.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its figures and stops at a failure"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;
use kubectl_aicr::registry::{
    ChartSource, Client, ContentDigest, DockerConfig, Mirror, Repository, Settings, Upstreams, pack,
};
use test_support::Registry;
use test_support::http::HttpServer;

const MEGABYTE: usize = 1024 * 1024;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let [first, upstream, registry] = &words[..]
        && first == "--mirror"
    {
        runtime.block_on(mirror(upstream, registry));
        return ExitCode::SUCCESS;
    }
    let mut failed = false;
    for (what, chart, entries) in [
        ("peak memory for a chart of 50 MB (<= 40 MB)", chart(50), 1),
        ("peak memory for an index of 9 MB (<= 96 MB)", chart(1), 15_000),
    ] {
        let kilobytes = runtime.block_on(measured(chart, entries));
        let holds = kilobytes <= if entries == 1 { 40 * 1024 } else { 96 * 1024 };
        failed |= !holds;
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let megabytes = kilobytes as f64 / 1024.0;
        println!("{what:<58} {megabytes:>25.1} MB  {}", if holds { "ok" } else { "TOO MUCH" });
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// A chart of so many megabytes in files of one, which no compression makes fewer.
fn chart(megabytes: usize) -> Bytes {
    let mut files: BTreeMap<_, _> = [
        ("Chart.yaml", "apiVersion: v2\nname: large\nversion: 1.0.0\n"),
        ("templates/x.yaml", "kind: ConfigMap\n"),
    ]
    .map(|(name, content)| (name.to_owned(), Bytes::from(content)))
    .into();
    let mut state = 1_u64;
    for index in 0..megabytes {
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()
        });
        let content: Vec<u8> = noise.take(MEGABYTE / 8).flatten().collect();
        files.insert(format!("files/{index}.bin"), content.into());
    }
    pack("large", &files).unwrap()
}

/// Mirrors the chart in a process of its own and answers by how many KB its memory grew at most.
async fn measured(chart: Bytes, entries: usize) -> u64 {
    let registry = Registry::start().await.unwrap();
    let digest = ContentDigest::of(&chart).hex();
    let mut index = "apiVersion: v1\nentries:\n  large:\n".to_owned();
    let _ = writeln!(index, "  - {{version: 1.0.0, digest: {digest}, urls: [large.tgz]}}");
    for number in 1..entries {
        let _ = writeln!(
            index,
            "  - apiVersion: v2\n    annotations: {{category: infrastructure, licenses: Apache-2.0}}\n    name: large\n    \
             version: 1.0.{number}\n    description: {}\n    created: \"2026-01-01T00:00:00Z\"\n    digest: {digest}\n    \
             maintainers:\n    - {{name: somebody, url: https://example.com/somebody}}\n    urls:\n    - large.tgz",
            "words ".repeat(50)
        );
    }
    let files = [("/large.tgz".to_owned(), chart), ("/index.yaml".to_owned(), index.into())];
    let upstream = HttpServer::files(files).await.unwrap();
    let output = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--mirror", &upstream.url(), registry.host()])
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

async fn mirror(upstream: &str, registry: &str) {
    rustls::crypto::ring::default_provider().install_default().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let settings = Settings { plain_http: vec![registry.to_owned()], ..Settings::new(scratch.path()) };
    let client = Client::new(settings, Arc::new(DockerConfig::default())).unwrap();
    let repository = Repository::parse(&format!("oci://{registry}/aicr")).unwrap();
    let mirror = Mirror::new(client, repository, Upstreams::default());
    let idle = kilobytes("VmRSS:");
    mirror.mirror(&ChartSource::new("large", upstream, "1.0.0").unwrap(), None).await.unwrap();
    println!("{}", kilobytes("VmHWM:") - idle);
}

fn kilobytes(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
