//! Matches by policy, size of the machine and fill level.
#![allow(missing_docs, reason = "criterion's macros make items without")]

use bench::inputs::{Job, Machine};
use bench::trial::Trial;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fluxion::{MatchOp, Outcome};

fn match_policy(criterion: &mut Criterion) {
    for policy in ["first", "low", "lonodex", "locality"] {
        let mut group = criterion.benchmark_group(format!("match_{policy}"));
        group.throughput(Throughput::Elements(1));
        for (size, percent) in [("s64", 0), ("s64", 75), ("s1k", 0), ("s1k", 90)] {
            let mut trial = Trial::new(Machine::named(size).expect("known"), policy);
            trial.fill(percent);
            for (job, line, n) in [
                (Job::Core1, "core", if policy == "lonodex" { 48 } else { 1 }),
                (Job::Sock2c4, "core", if policy == "lonodex" { 48 } else { 8 }),
                (Job::Nodes(8), "node", 8),
            ] {
                let jobspec = job.jobspec();
                let mut run = || trial.run(MatchOp::WithoutAllocating, &jobspec).1;
                assert_eq!(run(), Outcome::Matched { at: 0 });
                assert_eq!(lines_of(trial.text(), line), n, "{policy}: {}", trial.text());
                let id = BenchmarkId::new(job.name(), format!("{size}/{percent}%"));
                group.bench_function(id, |b| {
                    b.iter(|| trial.run(MatchOp::WithoutAllocating, &jobspec).1);
                });
            }
        }
        group.finish();
    }
}

/// Returns how many vertices of a type were chosen.
fn lines_of(text: &str, kind: &str) -> usize {
    let names = text.lines().map(|line| line.trim_start_matches([' ', '-']));
    names.filter(|name| name.starts_with(kind)).count()
}

criterion_group!(benches, match_policy);
criterion_main!(benches);
