//! Finding the earliest time for a job behind others.
#![allow(missing_docs, reason = "criterion's macros make items without")]

use bench::inputs::{Job, Machine};
use bench::trial::Trial;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fluxion::{MatchOp, Outcome};

fn reserve(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reserve");
    group.throughput(Throughput::Elements(1));
    let machine = Machine::named("s64").expect("known");
    let jobspec = Job::Nodes(16).jobspec();
    for policy in ["first", "low", "lonodex"] {
        let mut trial = Trial::new(machine, policy);
        let mut n_jobs = 0;
        for depth in [100, 1000] {
            while n_jobs < depth {
                let (_, outcome) = trial.run(MatchOp::AllocateOrelseReserve, &jobspec);
                // Four of these have the machine for an hour.
                let expected = match n_jobs / 4 * 3600 {
                    0 => Outcome::Allocated,
                    at => Outcome::Reserved { at },
                };
                assert_eq!(outcome, expected);
                n_jobs += 1;
            }
            let mut run = || trial.run(MatchOp::WithoutAllocatingFuture, &jobspec).1;
            assert_eq!(run(), Outcome::Matched { at: depth / 4 * 3600 });
            group.bench_function(BenchmarkId::new(policy, depth), |b| b.iter(&mut run));
        }
    }
    group.finish();
}

criterion_group!(benches, reserve);
criterion_main!(benches);
