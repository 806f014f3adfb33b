//! The naive planner: what is held at every tick, written down tick by tick.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use engine::{Graph, Interval, JobId, VertexId};

use crate::{Emitted, Scenario};

/// What is held of one vertex at one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Use {
    /// How much jobs have for themselves.
    amount: u64,
    /// How many jobs have it for themselves.
    n_exclusive: u32,
    /// How many jobs have it or pass through it.
    n_users: u32,
}

/// What one job holds.
#[derive(Clone, Debug)]
struct Holding {
    span: Interval,
    reserved: bool,
    /// How much of which vertices, and whether for itself.
    shares: Vec<(VertexId, u64, bool)>,
}

/// A model of what is held when, which knows nothing of how the engine keeps it: an array of all
/// vertices for each tick up to [`Scenario::HORIZON`]. What jobs hold is what was told of matches.
#[derive(Clone, Debug)]
pub struct NaivePlanner {
    /// All vertices of the first tick, then all of the second, and so on.
    uses: Vec<Use>,
    n_vertices: usize,
    jobs: BTreeMap<JobId, Holding>,
}

impl NaivePlanner {
    /// Returns a planner of `graph` on which nothing is held.
    pub fn new(graph: &Graph) -> Self {
        let n_ticks = usize::try_from(Scenario::HORIZON).unwrap_or(0);
        let n_vertices = graph.n_vertices();
        let uses = vec![Use::default(); n_ticks * n_vertices];
        Self { uses, n_vertices, jobs: BTreeMap::new() }
    }

    /// Holds for `job` what was told of a match, and returns what is wrong with it: a vertex of
    /// which more is held than there is, or that is for one job alone and has two.
    ///
    /// # Errors
    ///
    /// Names the first vertex and tick.
    pub fn hold(
        &mut self,
        graph: &Graph,
        job: JobId,
        emitted: &Emitted,
        reserved: bool,
    ) -> Result<(), String> {
        let (start, end) = emitted.times.ok_or_else(|| format!("job {job} has no times"))?;
        let span = Interval { start, end };
        let shares: Vec<(VertexId, u64, bool)> = emitted
            .vertices
            .iter()
            .map(|taken| (taken.vertex, taken.needs, taken.exclusive))
            .collect();
        self.cancel(job);
        for tick in ticks(span) {
            for &(vertex, needs, exclusive) in &shares {
                let entry = self.at_mut(tick, vertex);
                entry.n_users += 1;
                if exclusive {
                    entry.amount += needs;
                    entry.n_exclusive += 1;
                }
                let Use { amount, n_exclusive, n_users } = *entry;
                let path = || graph.path(Graph::CONTAINMENT, vertex).unwrap_or_default();
                if amount > graph.size(vertex) {
                    let (path, size) = (path(), graph.size(vertex));
                    return Err(format!("{amount} of {size} of {path} are held at tick {tick}"));
                }
                if n_exclusive > 0 && n_users > 1 {
                    let path = path();
                    return Err(format!("{path} is exclusive to one of {n_users} at tick {tick}"));
                }
            }
        }
        self.jobs.insert(job, Holding { span, reserved, shares });
        Ok(())
    }

    /// Takes away what a job holds.
    pub fn cancel(&mut self, job: JobId) {
        if let Some(Holding { span, shares, .. }) = self.jobs.remove(&job) {
            for &share in &shares {
                self.take_out(span, share);
            }
        }
    }

    /// Takes away what a job holds of vertices for which `given_back` is true, given whether the job
    /// has them for itself.
    pub fn release(&mut self, job: JobId, given_back: impl Fn(VertexId, bool) -> bool) {
        let Some(mut holding) = self.jobs.remove(&job) else { return };
        let shares = std::mem::take(&mut holding.shares).into_iter();
        let (gone, left) = shares.partition::<Vec<_>, _>(|share| given_back(share.0, share.2));
        holding.shares = left;
        for share in gone {
            self.take_out(holding.span, share);
        }
        self.jobs.insert(job, holding);
    }

    fn take_out(&mut self, span: Interval, (vertex, needs, exclusive): (VertexId, u64, bool)) {
        for tick in ticks(span) {
            let entry = self.at_mut(tick, vertex);
            entry.n_users -= 1;
            if exclusive {
                entry.amount -= needs;
                entry.n_exclusive -= 1;
            }
        }
    }

    fn at(&self, tick: usize, vertex: VertexId) -> Use {
        self.uses[tick * self.n_vertices + vertex.index()]
    }

    fn at_mut(&mut self, tick: usize, vertex: VertexId) -> &mut Use {
        &mut self.uses[tick * self.n_vertices + vertex.index()]
    }

    /// Returns how much of a vertex is held at most in `span`.
    pub fn amount(&self, vertex: VertexId, span: Interval) -> u64 {
        ticks(span).map(|tick| self.at(tick, vertex).amount).max().unwrap_or(0)
    }

    /// Returns whether a job is on a vertex at some tick of `span`.
    pub fn is_used(&self, vertex: VertexId, span: Interval) -> bool {
        ticks(span).any(|tick| self.at(tick, vertex).n_users > 0)
    }

    /// Returns whether a vertex is allocated to a job for itself, be the job's time over or not.
    pub fn is_allocated(&self, vertex: VertexId) -> bool {
        let holds = |holding: &Holding| holding.shares.iter().any(|s| s.0 == vertex && s.2);
        self.jobs.values().any(|holding| !holding.reserved && holds(holding))
    }

    /// Returns the vertices that a job has for itself, ascending.
    pub fn exclusive_to(&self, job: JobId) -> Vec<VertexId> {
        let shares = self.jobs.get(&job).map_or(&[][..], |holding| &holding.shares);
        let mut vertices: Vec<VertexId> =
            shares.iter().filter(|share| share.2).map(|share| share.0).collect();
        vertices.sort_unstable();
        vertices
    }

    /// Returns the jobs that hold something.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.jobs.keys().copied()
    }

    /// Returns the seconds after `from` at which a job ends that is on a vertex that `counts`,
    /// ascending.
    pub fn ends_after(
        &self,
        from: i64,
        counts: impl Fn(VertexId) -> bool,
    ) -> impl Iterator<Item = i64> {
        let jobs = self.jobs.values().filter(|holding| holding.span.end > from);
        let jobs = jobs.filter(|holding| holding.shares.iter().any(|share| counts(share.0)));
        let ends: BTreeSet<i64> = jobs.map(|holding| holding.span.end).collect();
        ends.into_iter()
    }
}

/// Returns the ticks of a span that there are.
fn ticks(span: Interval) -> Range<usize> {
    let tick = |second: i64| usize::try_from(second.clamp(0, Scenario::HORIZON)).unwrap_or(0);
    tick(span.start)..tick(span.end)
}
