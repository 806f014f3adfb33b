//! Sessions in this process, filled and matched on.

use std::time::Instant;

use fluxion::{JobId, LoadFormat, MatchOp, Outcome, Session, SessionOptions};

use crate::inputs::{ALL_FILTERS, Dice, Job, Machine};

/// A machine with jobs on it.
#[derive(Debug)]
pub struct Trial {
    session: Session,
    /// The text of the last match, kept for its room.
    text: String,
}

/// Returns the options under which a machine in GRUG is opened.
pub fn options(policy: &str) -> SessionOptions {
    SessionOptions {
        load_format: LoadFormat::Grug,
        policy: policy.to_owned(),
        prune_filters: ALL_FILTERS.to_owned(),
        ..SessionOptions::default()
    }
}

impl Trial {
    /// Opens a machine.
    pub fn new(machine: Machine, policy: &str) -> Self {
        Self::open(&machine.grug(), &options(policy))
    }

    /// Opens a graph.
    pub fn open(graph: &str, options: &SessionOptions) -> Self {
        let session = Session::open(graph, options).expect("graph and options are sound");
        Self { session, text: String::new() }
    }

    /// Returns the engine.
    pub fn engine(&self) -> &engine::Engine {
        self.session.engine()
    }

    /// Returns the bytes that the engine holds.
    pub fn memory_usage(&self) -> usize {
        self.session.engine().memory_usage()
    }

    /// Returns how many vertices there are.
    pub fn n_vertices(&self) -> usize {
        self.session.engine().graph().n_vertices()
    }

    /// Returns the text of the last match.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Takes `percent` of all nodes, each for a job of its own, scattered but the same each time.
    pub fn fill(&mut self, percent: u32) {
        if percent == 0 {
            return;
        }
        let jobspec = Job::Nodes(1).jobspec();
        let mut jobs = Vec::new();
        while let (job, Outcome::Allocated) = self.run(MatchOp::Allocate, &jobspec) {
            jobs.push(job);
        }
        let n_left = jobs.len() * percent.min(100) as usize / 100;
        Dice::new(u64::from(percent)).shuffle(&mut jobs);
        for &job in &jobs[n_left..] {
            self.cancel(job);
        }
    }

    /// Matches a jobspec now.
    pub fn run(&mut self, op: MatchOp, jobspec: &str) -> (JobId, Outcome) {
        self.text.clear();
        let report = self.session.match_jobspec(op, jobspec, 0, &mut self.text);
        (report.job, report.outcome.expect("the jobspec is sound"))
    }

    /// Matches a jobspec now and returns, besides, how many seconds that took.
    pub fn time(&mut self, op: MatchOp, jobspec: &str) -> (JobId, Outcome, f64) {
        let start = Instant::now();
        let (job, outcome) = self.run(op, jobspec);
        (job, outcome, start.elapsed().as_secs_f64())
    }

    /// Cancels a job.
    pub fn cancel(&mut self, job: JobId) {
        self.session.cancel(job).expect("the job is live");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_is_taken() {
        let mut trial = Trial::new(Machine::new(2, 10), "low");
        trial.fill(75);
        let jobspec = Job::Nodes(1).jobspec();
        let mut n_free = 0;
        while let (_, Outcome::Allocated) = trial.run(MatchOp::Allocate, &jobspec) {
            n_free += 1;
        }
        assert_eq!(n_free, 5);
    }
}
