//! Loading a machine.
#![allow(missing_docs, reason = "criterion's macros make items without")]

use bench::inputs::Machine;
use bench::trial::{Trial, options};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fluxion::{LoadFormat, SessionOptions};

fn load(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    group.sample_size(10);
    for size in ["s64", "s1k"] {
        let machine = Machine::named(size).expect("known");
        let mut jgf = Vec::new();
        machine.write_jgf(&mut jgf).expect("memory takes everything");
        let jgf = String::from_utf8(jgf).expect("JGF is text");
        for (graph, load_format) in [(machine.grug(), LoadFormat::Grug), (jgf, LoadFormat::Jgf)] {
            let options = SessionOptions { load_format, ..options("first") };
            let open = || Trial::open(&graph, &options);
            assert_eq!(open().n_vertices() as u64, machine.n_vertices());
            group.throughput(Throughput::Elements(machine.n_vertices()));
            group.bench_function(BenchmarkId::new(load_format.name(), size), |b| {
                b.iter_with_large_drop(open);
            });
        }
    }
    group.finish();
}

criterion_group!(benches, load);
criterion_main!(benches);
