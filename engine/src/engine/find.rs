//! Searching the graph for vertices by state.

use super::Engine;
use crate::planner::{Held, Interval, Plan};
use crate::visit::{Aggregate, EmittedVertex, MatchVisitor};
use crate::{Error, Graph, JobId, Status, VertexId};

/// What [`Engine::find`] is to tell besides which vertices were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions<'a> {
    /// Whether to tell aggregates, in which case only vertices that have some are told.
    pub aggregates: bool,
    /// The job whose share of the aggregates is meant; all jobs' otherwise.
    pub job: Option<JobId>,
    /// The seconds at which usage is looked up; the first at which something is used counts.
    pub seconds: &'a [i64],
}

/// A vertex as a search sees it.
#[derive(Debug)]
pub struct Found<'a> {
    engine: &'a Engine,
    pos: u32,
    state: State,
    /// Jobs that hold the whole subtree from further up.
    inherited: &'a [(JobId, bool)],
}

/// What a vertex takes from those above it.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    down: bool,
    allocated: bool,
    reserved: bool,
}

impl Found<'_> {
    /// Returns the graph.
    pub fn graph(&self) -> &Graph {
        &self.engine.graph
    }

    /// Returns the vertex.
    pub fn vertex(&self) -> VertexId {
        self.engine.tree.slots[self.pos as usize].vertex
    }

    /// Returns whether the vertex or one above it is down.
    pub fn is_down(&self) -> bool {
        self.state.down
    }

    /// Returns whether some job has the vertex or one above it for now.
    pub fn is_allocated(&self) -> bool {
        self.state.allocated
    }

    /// Returns whether some job has the vertex or one above it for later.
    pub fn is_reserved(&self) -> bool {
        self.state.reserved
    }

    /// Returns whether `job` has the vertex itself, for now or, if `reserved`, for later.
    pub fn is_held_by(&self, job: JobId, reserved: bool) -> bool {
        self.inherited.contains(&(job, reserved))
            || self
                .engine
                .held(self.pos, job)
                .is_some_and(|held| held.planned.is_some() && held.reserved == reserved)
    }

    /// Returns whether `job` is known at the vertex: it holds the vertex or something below it.
    pub fn is_tagged_by(&self, job: JobId) -> bool {
        self.inherited.iter().any(|entry| entry.0 == job)
            || self.engine.held(self.pos, job).is_some_and(|held| held.tagged)
    }

    /// Returns whether aggregates at the vertex count something of `job`.
    pub fn is_counted_for(&self, job: JobId) -> bool {
        let slot = self.engine.tree.slots[self.pos as usize];
        (self.inherited.iter().any(|entry| entry.0 == job)
            && self.engine.aggregates.totals(slot.totals).is_some())
            || self.engine.held(self.pos, job).is_some_and(|held| held.counts.is_some())
    }
}

impl Engine {
    /// Tells `visitor` the vertices that `wanted` accepts, with those above them. Labels that a match
    /// left on them are gone afterwards.
    ///
    /// # Errors
    ///
    /// What the visitor fails with.
    pub fn find(
        &mut self,
        wanted: &mut dyn FnMut(&Found<'_>) -> bool,
        options: &SearchOptions<'_>,
        visitor: &mut dyn MatchVisitor,
    ) -> Result<(), Error> {
        let seen = if self.tree.shared { vec![false; self.tree.len()] } else { Vec::new() };
        let mut search = Search {
            engine: self,
            wanted,
            options,
            visitor,
            inherited: Vec::new(),
            seen,
            told: Vec::new(),
        };
        search.vertex(0, self.memory.drift, State::default())?;
        search.visitor.times(0, 0);
        let told = search.told;
        if !self.memory.labels.is_empty() {
            for vertex in told {
                self.memory.labels.remove(&vertex);
            }
        }
        Ok(())
    }
}

struct Search<'a, 'v> {
    engine: &'a Engine,
    wanted: &'v mut dyn FnMut(&Found<'_>) -> bool,
    options: &'v SearchOptions<'v>,
    visitor: &'v mut dyn MatchVisitor,
    inherited: Vec<(JobId, bool)>,
    seen: Vec<bool>,
    /// The vertices that were told and have a label.
    told: Vec<VertexId>,
}

impl Search<'_, '_> {
    /// Returns whether the vertex was told.
    fn vertex(&mut self, pos: u32, depth: u32, above: State) -> Result<bool, Error> {
        let engine = self.engine;
        let slot = engine.tree.slots[pos as usize];
        if let Some(seen) = self.seen.get_mut(pos as usize) {
            *seen = true;
        }
        let plan = engine.plan(pos);
        let planned =
            |reserved| move |held: &Held| held.planned.is_some() && held.reserved == reserved;
        let holds = |reserved| plan.is_some_and(|plan| plan.held().values().any(planned(reserved)));
        let state = State {
            down: above.down || engine.graph.status(slot.vertex) == Status::Down,
            allocated: above.allocated || holds(false),
            reserved: above.reserved || holds(true),
        };
        let n_inherited = self.inherited.len();
        let subtrees = plan.into_iter().flat_map(Plan::held).filter(|(_, held)| held.subtree);
        let own: Vec<(JobId, bool)> = subtrees.map(|(&job, held)| (job, held.reserved)).collect();
        self.inherited.extend_from_slice(&own);
        let mut below = false;
        for &child in engine.tree.children(pos) {
            if self.seen.get(child as usize).copied().unwrap_or(false) {
                continue;
            }
            if self.vertex(child, depth + 1, state)? {
                let target = engine.tree.slots[child as usize].vertex;
                self.visitor.edge(
                    &engine.graph,
                    slot.vertex,
                    target,
                    engine.tree.subsystem,
                    false,
                )?;
                below = true;
            }
        }
        self.inherited.truncate(n_inherited);
        let found = Found { engine, pos, state, inherited: &self.inherited };
        if !(self.wanted)(&found) && !below {
            return Ok(false);
        }
        let mut aggregates = Vec::new();
        if self.options.aggregates {
            match self.aggregates(pos) {
                Some(counted) => aggregates = counted,
                None => return Ok(false),
            }
        }
        if engine.memory.labels.contains_key(&slot.vertex) {
            self.told.push(slot.vertex);
        }
        self.visitor.vertex(
            &engine.graph,
            &EmittedVertex {
                vertex: slot.vertex,
                depth,
                needs: engine.graph.size(slot.vertex),
                exclusive: true,
                under_exclusive: false,
                label: None,
                aggregates: &aggregates,
            },
        )?;
        Ok(true)
    }

    /// Returns the aggregates of a vertex, `None` where it or the job has none.
    fn aggregates(&self, pos: u32) -> Option<Vec<Aggregate>> {
        let engine = self.engine;
        let slot = engine.tree.slots[pos as usize];
        let totals = engine.aggregates.totals(slot.totals)?;
        let lanes = engine.aggregates.lanes(slot.kind);
        let plan = engine.plan(pos);
        let used = |lane: usize, total: i64| -> Option<i64> {
            match self.options.job {
                Some(job) if self.inherited.iter().any(|entry| entry.0 == job) => Some(total),
                Some(job) => {
                    let counts = engine.held(pos, job)?.counts.as_ref()?;
                    Some(counts.get(lane).copied().unwrap_or(0).max(0))
                }
                None => {
                    let at = |&second: &i64| {
                        let window = Interval { start: second, end: second.saturating_add(1) };
                        let above = |pos| {
                            engine.plan(pos).is_some_and(|plan| plan.subtree_held_during(window))
                        };
                        if engine.tree.ancestors(pos).any(above) {
                            total
                        } else {
                            plan.map_or(0, |plan| plan.tracked_at(second, lane))
                        }
                    };
                    Some(self.options.seconds.iter().map(at).find(|&used| used != 0).unwrap_or(0))
                }
            }
        };
        let count = |(lane, (&kind, &total)): (usize, (&crate::TypeId, &i64))| {
            Some(Aggregate { kind, used: used(lane, total)?, total })
        };
        lanes.iter().zip(totals).enumerate().map(count).collect()
    }
}
