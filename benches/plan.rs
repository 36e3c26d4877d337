//! Canonical JSON, digests and reading of the largest plan: 128 releases.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kubectl_aicr::plan::application::application;
use kubectl_aicr::plan::identity::plan_digest;
use kubectl_aicr::plan::rebuild::{Request, rebuild};
use kubectl_aicr::plan::{Plan, canonical};

#[path = "../tests/fixtures/plans.rs"]
#[allow(dead_code, reason = "shared with tests, which use other parts of it")]
mod fixtures;

fn plan(criterion: &mut Criterion) {
    let fixtures::Planned { plan, values } = fixtures::large();
    let document = serde_json::to_value(&*plan).expect("a plan is JSON");
    let text = canonical::to_string(&document);
    let applications: Vec<_> = values
        .iter()
        .map(|(id, values)| application(&plan, id, values, "argocd").expect("the plan's own values"))
        .collect();
    let request = Request {
        owner_uid: &plan.runtime_uid,
        runtime_uid: &plan.runtime_uid,
        operator_version: "1.3.0",
        digest: Some(plan.digest()),
        releases: &[],
    };
    let mut group = criterion.benchmark_group("plan of 128 releases");
    group.bench_function("canonical JSON", |bench| bench.iter(|| canonical::to_string(black_box(&document))));
    group
        .bench_function("digest", |bench| bench.iter(|| plan_digest(plan.engine, black_box(&plan.releases))));
    group.bench_function("read and check", |bench| bench.iter(|| Plan::read(black_box(&text))));
    group.bench_function("rebuild from Applications", |bench| {
        bench.iter(|| rebuild(black_box(&applications), &request));
    });
    group.finish();
}

criterion_group!(benches, plan);
criterion_main!(benches);
