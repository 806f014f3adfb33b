//! Planners with many spans: the machine is one node, so that little else is to be done.
#![allow(missing_docs, reason = "criterion's macros make items without")]

use bench::inputs::{Job, Machine};
use bench::trial::Trial;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fluxion::{MatchOp, Outcome};

fn planner(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("planner");
    group.throughput(Throughput::Elements(1));
    let jobspec = Job::Nodes(1).jobspec();
    let mut trial = Trial::new(Machine::new(1, 1), "low");
    let mut n_spans = 0;
    for n in [100, 1000, 10_000] {
        while n_spans < n {
            let (_, outcome) = trial.run(MatchOp::AllocateOrelseReserve, &jobspec);
            assert!(matches!(outcome, Outcome::Allocated | Outcome::Reserved { .. }));
            n_spans += 1;
        }
        let at = n * 3600;
        // The first time at which something fits.
        let mut fit = || trial.run(MatchOp::WithoutAllocatingFuture, &jobspec).1;
        assert_eq!(fit(), Outcome::Matched { at });
        group.bench_function(BenchmarkId::new("first fit", n), |b| b.iter(&mut fit));
        // One more span, and one less.
        let mut span = || {
            let (job, outcome) = trial.run(MatchOp::AllocateOrelseReserve, &jobspec);
            trial.cancel(job);
            outcome
        };
        assert_eq!(span(), Outcome::Reserved { at });
        group.bench_function(BenchmarkId::new("span", n), |b| b.iter(&mut span));
    }
    group.finish();
}

criterion_group!(benches, planner);
criterion_main!(benches);
