//! Writing a match of whole nodes: the same one in each format, and in none.
#![allow(missing_docs, reason = "criterion's macros make items without")]

use bench::inputs::{ALL_FILTERS, Job, Machine};
use bench::trial::{Trial, options};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::{Engine, Ignore, JobId};
use fluxion::{LoadFormat, MatchFormat, MatchOp, Outcome, SessionOptions};
use jobspec::{Dialect, Jobspec};

const POLICY: &str = "lonodex";

/// A recipe gives nodes no ranks, which some formats need.
fn graph() -> String {
    let mut jgf = Vec::new();
    let machine = Machine::named("s64").expect("known");
    machine.write_jgf(&mut jgf).expect("memory takes everything");
    String::from_utf8(jgf).expect("JGF is text")
}

fn emit(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("emit");
    let graph = graph();
    let jobspec = Job::Nodes(16).jobspec();
    for format in MatchFormat::ALL {
        let options = SessionOptions {
            load_format: LoadFormat::Jgf,
            match_format: format,
            ..options(POLICY)
        };
        let mut trial = Trial::open(&graph, &options);
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
    let graph = jgf::load(&graph(), LoadFormat::Jgf, &jgf::LoadOptions::default());
    let policy = policies::policy(POLICY).expect("known");
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
