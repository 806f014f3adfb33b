//! Saving a state, restoring it, and telling states apart.
#![allow(missing_docs, reason = "criterion's macros make items without")]

use bench::inputs::Machine;
use bench::trial::Trial;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use engine::Engine;

fn snapshot(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("snapshot");
    group.sample_size(10);
    for (size, percent) in [("s64", 50), ("s1k", 50), ("s4k", 50)] {
        let machine = Machine::named(size).expect("known");
        let mut trial = Trial::new(machine, "low");
        trial.fill(percent);
        let engine = trial.engine();
        let bytes = engine.snapshot().expect("it is not too large");
        let restore = || {
            let policy = policies::policy("low").expect("known");
            Engine::restore(&bytes, policy, bytes.len()).expect("it was just made")
        };
        assert_eq!(restore().digest(), engine.digest());
        assert!(engine.jobs().count() > 0, "something is held");
        let id = |what| BenchmarkId::new(what, format!("{size}/{percent}%"));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(id("save"), |b| {
            b.iter_with_large_drop(|| engine.snapshot());
        });
        group.throughput(Throughput::Elements(machine.n_vertices()));
        group.bench_function(id("restore"), |b| b.iter_with_large_drop(restore));
        group.bench_function(id("digest"), |b| b.iter(|| engine.digest()));
    }
    group.finish();
}

criterion_group!(benches, snapshot);
criterion_main!(benches);
