//! Writing a match: the same one in each format, and in none.
#![allow(missing_docs, reason = "criterion's macros make items without")]

use bench::inputs::{ALL_FILTERS, Job, Machine};
use bench::trial::Trial;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::{Engine, Ignore, JobId};
use fluxion::{LoadFormat, MatchFormat, MatchOp, Outcome};
use jobspec::{Dialect, Jobspec};

fn emit(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("emit");
    let machine = Machine::named("s64").expect("known");
    let jobspec = Job::Nodes(16).jobspec();
    for format in MatchFormat::ALL {
        let mut trial = Trial::with_format(machine, "low", format);
        let mut run = || trial.run(MatchOp::WithoutAllocating, &jobspec).1;
        assert_eq!(run(), Outcome::Matched { at: 0 });
        let n_bytes = trial.text().len();
        assert!(n_bytes > 0, "{format}");
        group.throughput(Throughput::Bytes(n_bytes as u64));
        group.bench_function(format.name(), |b| {
            b.iter(|| trial.run(MatchOp::WithoutAllocating, &jobspec).1);
        });
    }
    group.finish();
}

/// What the match itself takes, without any writing.
fn ignore(criterion: &mut Criterion) {
    let machine = Machine::named("s64").expect("known");
    let graph = jgf::load(&machine.grug(), LoadFormat::Grug, &jgf::LoadOptions::default());
    let policy = policies::policy("low").expect("known");
    let options = engine::Options { filters: ALL_FILTERS.to_owned(), ..engine::Options::default() };
    let mut engine = Engine::new(graph.expect("sound"), policy, options).expect("sound");
    let jobspec = Job::Nodes(16).jobspec();
    let mut run = || {
        let jobspec = Jobspec::parse(&jobspec, Dialect::Fluxion).expect("sound");
        let op = MatchOp::WithoutAllocating;
        engine.match_jobspec(op, &jobspec, JobId(1), 0, &mut Ignore).expect("sound")
    };
    assert_eq!(run(), Outcome::Matched { at: 0 });
    criterion.bench_function("emit/nothing", |b| b.iter(&mut run));
}

criterion_group!(benches, emit, ignore);
criterion_main!(benches);
