//! Costs that do not depend on the machine they are taken on: visits and bytes.

use bench::inputs::{Job, Machine};
use bench::trial::Trial;
use fluxion::{MatchOp, Outcome};

const POLICIES: [&str; 6] = ["first", "low", "high", "lonodex", "hinode", "locality"];
const JOBS: [Job; 5] = [Job::Core1, Job::Sock2c4, Job::Node4c8g1, Job::Nodes(16), Job::Rack2node8];

/// Returns how many vertices each of `n` matches visits, and each after the middle one is cancelled.
fn visits(machine: &str, policy: &str, job: Job, n: usize) -> Vec<u64> {
    let mut trial = Trial::new(Machine::named(machine).expect("known"), policy);
    let jobspec = job.jobspec();
    let mut jobs = Vec::new();
    let mut visits = Vec::new();
    for i in 0..2 * n {
        if i == n {
            trial.cancel(jobs[n / 2]);
        }
        let (job, outcome) = trial.run(MatchOp::Allocate, &jobspec);
        assert_eq!(outcome, Outcome::Allocated);
        jobs.push(job);
        visits.push(trial.visits());
    }
    visits
}

#[test]
fn visits_follow_the_job_and_not_the_machine() {
    for policy in POLICIES {
        for job in JOBS {
            let small = visits("s1k", policy, job, 6);
            let large = visits("s4k", policy, job, 6);
            let what = format!("{policy}, {}: {small:?} and {large:?}", job.name());
            let n: [u64; 2] = [&small, &large].map(|visits| visits.iter().sum());
            assert!(n[1] <= n[0] + n[0] / 4, "{what}");
            let largest = small.iter().chain(&large).max().copied();
            // The largest of these jobs has 16 nodes with 4 cores of a socket each.
            assert!(largest <= Some(400), "{what}");
        }
    }
}

#[test]
fn what_never_fits_is_seen_by_the_shapes() {
    for policy in POLICIES {
        for job in [Job::Nofit, Job::Toobig] {
            let mut trial = Trial::new(Machine::named("s1k").expect("known"), policy);
            let op = MatchOp::AllocateWithSatisfiability;
            assert_eq!(trial.run(op, &job.jobspec()).1, Outcome::Unsatisfiable);
            assert!(trial.visits() <= 200, "{policy}, {}: {}", job.name(), trial.visits());
        }
    }
}

#[test]
fn a_vertex_takes_128_bytes_at_every_size() {
    for size in ["s64", "s1k", "s4k"] {
        for policy in POLICIES {
            let trial = Trial::new(Machine::named(size).expect("known"), policy);
            let bytes = trial.memory_usage() / trial.n_vertices();
            assert!(bytes <= 128, "{size}, {policy}: {bytes}");
        }
    }
}

#[test]
fn a_reservation_takes_64_kilobytes() {
    const N: usize = 300;
    let mut trial = Trial::new(Machine::named("s1k").expect("known"), "lonodex");
    let before = trial.memory_usage();
    let jobspec = Job::Nodes(64).jobspec();
    for _ in 0..N {
        assert!(matches!(
            trial.run(MatchOp::AllocateOrelseReserve, &jobspec).1,
            Outcome::Allocated | Outcome::Reserved { .. }
        ));
    }
    let each = (trial.memory_usage() - before) / N;
    assert!(each <= 64 << 10, "{each}");
}
