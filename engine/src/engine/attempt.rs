//! One attempt at a match: what is found at which time, without a change to the engine.

use jobspec::{Constraint, Jobspec};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Engine, JobSpan, MatchOp, Outcome, Stats, Traverser};
use crate::planner::Interval;
use crate::traverser::{
    Aim, Demand, Failure, Frontiers, Hold, Search, Selection, Shortcuts, Taking, Visits, Walk,
    need, satisfies,
};
use crate::visit::MatchVisitor;
use crate::{Error, Graph, LimitKind, TypeId, VertexId};

/// What attempts remember of those before.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Where searches ended, which the next ones for the same go on from.
    pub(crate) frontiers: Frontiers,
    pub(crate) stats: Stats,
    /// How many steps the searches of this operation took: see [`crate::Limits::search_steps`].
    pub(crate) steps: usize,
    /// Why the last thing that failed in this operation did.
    pub(crate) failure: Failure,
    /// Labels of requests that vertices matched. As in Fluxion, a label stays with its vertex until
    /// the vertex matches another one or is found in a search.
    pub(crate) labels: FxHashMap<VertexId, Box<str>>,
    /// How much deeper than it is a vertex is told to be, as Fluxion does after each vertex that it
    /// walks but cannot book.
    pub(crate) drift: u32,
}

impl Memory {
    /// Returns a copy of what decides answers.
    pub(super) fn without_frontiers(&self) -> Self {
        Self { labels: self.labels.clone(), drift: self.drift, ..Self::default() }
    }
}

/// A compiled jobspec with what else decides its match.
struct Plea<'a> {
    demand: Demand,
    duration: i64,
    constraint: Option<&'a Constraint>,
    constraint_size: usize,
}

/// What came of an attempt.
pub(super) enum Answer {
    /// An answer with nothing to hold.
    Nothing(Outcome),
    /// Something to hold, which the visitor was told of.
    Taken(Taken),
}

/// What an attempt found.
pub(super) struct Taken {
    pub(super) span: JobSpan,
    pub(super) holds: Vec<Hold>,
    /// Types in the sums of the holds.
    pub(super) kinds: Vec<TypeId>,
}

impl Taken {
    pub(super) fn outcome(&self, op: MatchOp) -> Outcome {
        let at = self.span.interval.start;
        match (op.allocates(), self.span.reserved) {
            (false, _) => Outcome::Matched { at },
            (true, true) => Outcome::Reserved { at },
            (true, false) => Outcome::Allocated,
        }
    }
}

/// An attempt at a match.
pub(super) struct Attempt<'e> {
    engine: &'e Engine,
    memory: &'e mut Memory,
    op: MatchOp,
    now: i64,
    shortcuts: Shortcuts,
}

impl<'e> Attempt<'e> {
    pub(super) fn new(engine: &'e Engine, memory: &'e mut Memory, op: MatchOp, now: i64) -> Self {
        Self { engine, memory, op, now, shortcuts: engine.options.shortcuts }
    }

    /// Finds resources and tells `visitor`.
    ///
    /// # Errors
    ///
    /// As [`Engine::match_jobspec`].
    pub(super) fn run(
        mut self,
        jobspec: &Jobspec,
        visitor: &mut dyn MatchVisitor,
    ) -> Result<Answer, Error> {
        self.memory.stats = Stats::default();
        self.memory.steps = 0;
        self.memory.failure = Failure::Nothing;
        if jobspec.resources.is_empty() {
            return Err(Error::Request("the jobspec asks for no resources".to_owned()));
        }
        let engine = self.engine;
        let system = &jobspec.attributes.system;
        let demand = Demand::compile(jobspec, &engine.graph, &engine.filters[0], engine.slots())?;
        let duration = self.duration(system.duration)?;
        let constraint = system.constraints.as_ref();
        let constraint_size = constraint.map_or(0, Constraint::size);
        let plea = Plea { demand, duration, constraint, constraint_size };
        if self.op == MatchOp::Satisfiability {
            let found = self.search_ever(&plea).map(|_| Outcome::Satisfiable);
            return found.or_else(|failure| self.outcome_of(failure)).map(Answer::Nothing);
        }
        match self.schedule(&plea) {
            Err(failure) => self.outcome_of(failure).map(Answer::Nothing),
            Ok((at, selection)) => {
                self.tell(&plea, at, &selection, system.queue.as_deref(), visitor)
            }
        }
    }

    fn duration(&self, seconds: f64) -> Result<i64, Error> {
        let fault = || Error::OutOfRange {
            what: "duration",
            given: seconds.to_string(),
            expected: "seconds up to the end of the resources, 0 for as long as they last",
        };
        let most = self.engine.options.horizon;
        if seconds.is_nan() || seconds < 0.0 || seconds > most as f64 {
            return Err(fault());
        }
        if seconds == 0.0 {
            return Ok(most);
        }
        #[allow(clippy::cast_possible_truncation, reason = "checked against the horizon")]
        Ok(seconds.ceil() as i64)
    }

    /// Finds a time and what to take then.
    fn schedule(&mut self, plea: &Plea<'_>) -> Result<(i64, Selection), Failure> {
        self.precheck(plea)?;
        match self.search_at(plea, self.now) {
            Ok(selection) => return Ok((self.now, selection)),
            Err(failure @ Failure::Limit(_)) => return Err(failure),
            Err(_) => {}
        }
        match self.op {
            MatchOp::AllocateWithSatisfiability => {
                // What is satisfiable is only busy now, unless the last thing that failed on the
                // way says otherwise.
                self.memory.failure = Failure::Busy;
                self.search_ever(plea)?;
                Err(self.memory.failure)
            }
            MatchOp::AllocateOrelseReserve | MatchOp::WithoutAllocatingFuture => {
                let after = |at: i64| at.checked_add(1);
                let mut next = after(self.now).and_then(|from| self.next_chance(plea, from));
                while let Some(at) = next {
                    let found = self.search_at(plea, at);
                    next = after(at).and_then(|from| self.next_chance(plea, from));
                    if next.is_none() {
                        self.memory.failure = Failure::NoTime;
                    }
                    match found {
                        Ok(selection) => return Ok((at, selection)),
                        Err(failure @ Failure::Limit(_)) => return Err(failure),
                        Err(_) => {}
                    }
                }
                self.memory.failure = Failure::Busy;
                self.search_ever(plea)?;
                Err(self.memory.failure)
            }
            _ => Err(Failure::Busy),
        }
    }

    /// Refuses at a glance what there are not enough nodes for.
    fn precheck(&mut self, plea: &Plea<'_>) -> Result<(), Failure> {
        let wanted = need(&plea.demand.needs, Graph::NODE);
        let refusal =
            if self.op.asks_for_satisfiability() { Failure::Unsatisfiable } else { Failure::Busy };
        if wanted > self.engine.nodes_up {
            return Err(refusal);
        }
        let Some(constraint) = plea.constraint else {
            return Ok(());
        };
        // Only the present counts where nothing later is of use.
        let at = match self.op {
            MatchOp::Allocate | MatchOp::WithoutAllocating => self.now,
            _ => self.engine.options.horizon - 1,
        };
        let window = Interval { start: at, end: at.saturating_add(plea.duration) };
        let mut left = wanted;
        for (slot, pos) in self.engine.tree.slots.iter().zip(0..) {
            if left <= 0 {
                break;
            }
            if slot.kind != Graph::NODE || slot.down && !self.op.asks_for_satisfiability() {
                continue;
            }
            self.memory.steps = self.memory.steps.saturating_add(plea.constraint_size);
            if self.memory.steps > self.engine.options.limits.search_steps {
                return Err(Failure::Limit(LimitKind::SearchSteps));
            }
            if satisfies(&self.engine.graph, slot.vertex, constraint)
                && self.engine.free_during(pos, window) == 1
            {
                left -= 1;
            }
        }
        if left > 0 { Err(refusal) } else { Ok(()) }
    }

    /// Returns the first time at or after `from` at which what the root has in aggregate suffices.
    fn next_chance(&self, plea: &Plea<'_>, from: i64) -> Option<i64> {
        let root = self.engine.tree.slots[0];
        let totals = self.engine.aggregates.totals(root.totals)?;
        let lanes = self.engine.aggregates.lanes(root.kind);
        let mut most: SmallVec<[i64; 4]> = SmallVec::new();
        for (&kind, total) in lanes.iter().zip(totals) {
            let left = total - need(&plea.demand.needs, kind);
            if left < 0 {
                return None;
            }
            most.push(left);
        }
        let at = self.engine.plan(0)?.first_fit(from, plea.duration, &most)?;
        at.checked_add(plea.duration).map(|_| at)
    }

    fn search_at(&mut self, plea: &Plea<'_>, at: i64) -> Result<Selection, Failure> {
        let window = Interval { start: at, end: at.saturating_add(plea.duration) };
        let aim = Aim {
            respect_status: true,
            respect_overruns: at == self.now,
            ..self.aim(plea, window)
        };
        self.search(plea, aim)
    }

    /// Searches at a time when nothing is held any more, among all that could be up.
    fn search_ever(&mut self, plea: &Plea<'_>) -> Result<Selection, Failure> {
        let end = i64::MAX - 1;
        let aim = self.aim(plea, Interval { start: end - plea.duration, end });
        self.search(plea, aim).map_err(|failure| match failure {
            Failure::Busy | Failure::Nothing => Failure::Unsatisfiable,
            other => other,
        })
    }

    fn aim<'p>(&self, plea: &Plea<'p>, window: Interval) -> Aim<'p> {
        Aim {
            window,
            respect_status: false,
            respect_overruns: false,
            constraint: plea.constraint,
            constraint_size: plea.constraint_size,
            flexible: self.engine.options.traverser == Traverser::Flexible,
            shortcuts: self.shortcuts,
        }
    }

    fn search(&mut self, plea: &Plea<'_>, aim: Aim<'_>) -> Result<Selection, Failure> {
        let mut frontiers = std::mem::take(&mut self.memory.frontiers);
        let parts = self.engine.parts(&self.engine.exclusive);
        let steps = self.memory.steps.saturating_add(1);
        let mut search =
            Search::new(parts, aim, &self.engine.options.limits, self.memory.failure, steps);
        let found = search.run(&plea.demand, &mut frontiers);
        let Visits { preorder, postorder } = search.visits;
        let exhausted = search.is_exhausted();
        let (failure, steps) = (search.failure(), search.steps);
        let labels = std::mem::take(&mut search.labels);
        self.memory.frontiers = frontiers;
        self.memory.stats.preorder += preorder;
        self.memory.stats.postorder += postorder;
        self.memory.failure = failure;
        self.memory.steps = steps;
        if exhausted {
            self.memory.frontiers.forget();
            self.memory.failure = Failure::Limit(LimitKind::SearchSteps);
            return Err(self.memory.failure);
        }
        let vertex = |pos: u32| self.engine.tree.slots[pos as usize].vertex;
        self.memory.labels.extend(labels.into_iter().map(|(pos, label)| (vertex(pos), label)));
        found
    }

    /// Tells what was selected and what is to be held of it.
    fn tell(
        &mut self,
        plea: &Plea<'_>,
        at: i64,
        selection: &Selection,
        queue: Option<&str>,
        visitor: &mut dyn MatchVisitor,
    ) -> Result<Answer, Error> {
        let engine = self.engine;
        let horizon = engine.options.horizon;
        if at == horizon {
            return Ok(Answer::Nothing(Outcome::Busy));
        }
        if at < 0 || at > horizon {
            return Err(Error::OutOfRange {
                what: "time",
                given: at.to_string(),
                expected: "seconds before the end of the resources",
            });
        }
        let interval = Interval { start: at, end: at.saturating_add(plea.duration).min(horizon) };
        let allocates = self.op.allocates();
        if allocates {
            engine.check_points(selection.marks.iter().map(|mark| mark.pos).chain([0]))?;
        }
        let taking = if allocates { Taking::Plan } else { Taking::Nothing };
        let mut exclusive = engine.exclusive.clone();
        exclusive.extend_from_slice(&plea.demand.exclusive_types);
        let kinds = engine.filters[0].kinds();
        let Selection { marks, root } = selection;
        let mut walk = Walk::new(
            engine.parts(&exclusive),
            &kinds,
            marks,
            &self.memory.labels,
            taking,
            interval,
            &engine.touched,
            self.memory.drift,
            visitor,
        );
        let held = walk.run(*root)?;
        let holds = std::mem::take(&mut walk.holds);
        self.memory.drift = walk.drift;
        if !held {
            return self.nothing_held(plea, at).map(Answer::Nothing);
        }
        visitor.times(interval.start, interval.end);
        if let Some(queue) = queue {
            visitor.attribute("queue", queue);
        }
        let span = JobSpan { interval, reserved: at != self.now };
        Ok(Answer::Taken(Taken { span, holds, kinds }))
    }

    /// Says why nothing of a selection is held.
    fn nothing_held(&mut self, plea: &Plea<'_>, at: i64) -> Result<Outcome, Error> {
        if self.memory.failure != Failure::NoTime {
            // Only a search without shortcuts comes across everything that fails on its way.
            let before = std::mem::replace(&mut self.memory.failure, Failure::Nothing);
            let shortcuts = std::mem::replace(&mut self.shortcuts, Shortcuts::NONE);
            let again = self.search_at(plea, at);
            self.shortcuts = shortcuts;
            if self.memory.failure == Failure::Nothing {
                self.memory.failure = before;
            }
            debug_assert!(
                matches!(again, Ok(_) | Err(Failure::Limit(_))),
                "shortcuts found what is not there"
            );
        }
        match self.memory.failure {
            Failure::NoTime => Err(Error::Unreachable { last: true }),
            Failure::Nothing => Err(Error::Unreachable { last: false }),
            failure => self.outcome_of(failure),
        }
    }

    fn outcome_of(&self, failure: Failure) -> Result<Outcome, Error> {
        match failure {
            Failure::Busy | Failure::NoTime | Failure::Nothing => Ok(Outcome::Busy),
            Failure::Unsatisfiable => Ok(Outcome::Unsatisfiable),
            Failure::Invalid => {
                Err(Error::Request("a resource below a slot cannot be shared".to_owned()))
            }
            Failure::Limit(limit) => Err(self.engine.options.limits.passed(limit)),
        }
    }
}
