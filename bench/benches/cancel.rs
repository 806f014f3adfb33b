//! Giving back what a job holds.
#![allow(missing_docs, reason = "criterion's macros make items without")]

use std::time::{Duration, Instant};

use bench::inputs::{Job, Machine};
use bench::trial::Trial;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fluxion::{MatchOp, Outcome};

fn cancel(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cancel");
    group.throughput(Throughput::Elements(1));
    for (size, percent) in [("s64", 0), ("s1k", 50)] {
        let mut trial = Trial::new(Machine::named(size).expect("known"), "low");
        trial.fill(percent);
        for job in [Job::Core1, Job::Node4c8g1, Job::Nodes(16)] {
            let jobspec = job.jobspec();
            let mut run = || {
                let (job, outcome) = trial.run(MatchOp::Allocate, &jobspec);
                assert_eq!(outcome, Outcome::Allocated);
                let text = trial.text().to_owned();
                let start = Instant::now();
                trial.cancel(job);
                (start.elapsed(), text)
            };
            assert_eq!(run().1, run().1, "what was given back is taken again");
            let id = BenchmarkId::new(job.name(), format!("{size}/{percent}%"));
            group.bench_function(id, |b| {
                b.iter_custom(|n| (0..n).map(|_| run().0).sum::<Duration>());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, cancel);
criterion_main!(benches);
