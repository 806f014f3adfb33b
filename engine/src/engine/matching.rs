//! Finding resources for a jobspec, now or at the earliest time.

use jobspec::{Constraint, Jobspec};

use super::{Engine, Job, JobSpan, Stats, Traverser};
use crate::planner::{Held, Interval, Plan};
use crate::traverser::{
    Aim, Demand, Failure, Hold, Mark, Search, Selection, Shortcuts, Taking, Visits, Walk, need,
    satisfies,
};
use crate::visit::MatchVisitor;
use crate::{Error, Graph, JobId, TypeId};

/// What is wanted of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchOp {
    /// Resources now, or nothing.
    Allocate,
    /// Resources now, or the answer whether there could ever be any.
    AllocateWithSatisfiability,
    /// Resources now, or else at the earliest time.
    AllocateOrelseReserve,
    /// The answer whether there could ever be any.
    Satisfiability,
    /// What [`Self::Allocate`] would give, without holding it.
    WithoutAllocating,
    /// What [`Self::AllocateOrelseReserve`] would give, without holding it.
    WithoutAllocatingFuture,
}

impl MatchOp {
    /// Returns all operations with their names.
    pub fn all() -> [(&'static str, Self); 6] {
        [
            ("allocate", Self::Allocate),
            ("allocate_orelse_reserve", Self::AllocateOrelseReserve),
            ("allocate_with_satisfiability", Self::AllocateWithSatisfiability),
            ("satisfiability", Self::Satisfiability),
            ("without_allocating", Self::WithoutAllocating),
            ("without_allocating_future", Self::WithoutAllocatingFuture),
        ]
    }

    /// Returns whether a match is held.
    pub fn allocates(self) -> bool {
        matches!(
            self,
            Self::Allocate | Self::AllocateWithSatisfiability | Self::AllocateOrelseReserve
        )
    }

    fn asks_for_satisfiability(self) -> bool {
        matches!(self, Self::Satisfiability | Self::AllocateWithSatisfiability)
    }
}

/// The answer to a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// The job has resources now.
    Allocated,
    /// The job has resources from a later second on.
    Reserved {
        /// That second.
        at: i64,
    },
    /// There are resources, which nobody took.
    Matched {
        /// The second from which there are.
        at: i64,
    },
    /// There could be resources, were nothing held.
    Satisfiable,
    /// There are no resources now.
    Busy,
    /// There never are.
    Unsatisfiable,
}

/// A compiled jobspec with what else decides its match.
struct Plea<'a> {
    demand: Demand,
    duration: i64,
    constraint: Option<&'a Constraint>,
    now: i64,
}

impl Engine {
    /// Looks for resources for `jobspec` at second `now` or, where `op` says so, later, tells
    /// `visitor` what it found, and holds it for `job` where `op` says so.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] for a jobspec that contradicts itself or names unknown types,
    /// [`Error::OutOfRange`] for its duration, [`Error::JobExists`], [`Error::Limit`], and what the
    /// visitor fails with.
    pub fn match_jobspec(
        &mut self,
        op: MatchOp,
        jobspec: &Jobspec,
        job: JobId,
        now: i64,
        visitor: &mut dyn MatchVisitor,
    ) -> Result<Outcome, Error> {
        self.stats = Stats::default();
        self.failure = Failure::Nothing;
        if jobspec.resources.is_empty() {
            return Err(Error::Request("the jobspec asks for no resources".to_owned()));
        }
        if op.allocates() && (self.job(job).is_some() || self.is_nobody(job)) {
            return Err(Error::JobExists(job));
        }
        let system = &jobspec.attributes.system;
        let demand = Demand::compile(jobspec, &self.graph, &self.filters[0], self.slots())?;
        let duration = self.duration(system.duration)?;
        let plea = Plea { demand, duration, constraint: system.constraints.as_ref(), now };
        if op == MatchOp::Satisfiability {
            return match self.search_ever(&plea) {
                Ok(_) => Ok(Outcome::Satisfiable),
                Err(failure) => outcome_of(failure),
            };
        }
        match self.schedule(op, &plea) {
            Err(failure) => outcome_of(failure),
            Ok((at, selection)) => {
                self.settle(op, &plea, job, at, &selection, system.queue.as_deref(), visitor)
            }
        }
    }

    fn duration(&self, seconds: f64) -> Result<i64, Error> {
        let fault = || Error::OutOfRange {
            what: "duration",
            given: seconds.to_string(),
            expected: "seconds up to the end of the resources, 0 for as long as they last",
        };
        let most = self.options.horizon;
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
    fn schedule(&mut self, op: MatchOp, plea: &Plea<'_>) -> Result<(i64, Selection), Failure> {
        self.precheck(op, plea)?;
        match self.search_at(plea, plea.now) {
            Ok(selection) => return Ok((plea.now, selection)),
            Err(failure @ Failure::Limit(_)) => return Err(failure),
            Err(_) => {}
        }
        match op {
            MatchOp::AllocateWithSatisfiability => {
                // What is satisfiable is only busy now, unless the last thing that failed on the
                // way says otherwise.
                self.failure = Failure::Busy;
                self.search_ever(plea)?;
                Err(self.failure)
            }
            MatchOp::AllocateOrelseReserve | MatchOp::WithoutAllocatingFuture => {
                let after = |at: i64| at.checked_add(1);
                let mut next = after(plea.now).and_then(|from| self.next_chance(plea, from));
                while let Some(at) = next {
                    let found = self.search_at(plea, at);
                    next = after(at).and_then(|from| self.next_chance(plea, from));
                    if next.is_none() {
                        self.failure = Failure::NoTime;
                    }
                    match found {
                        Ok(selection) => return Ok((at, selection)),
                        Err(failure @ Failure::Limit(_)) => return Err(failure),
                        Err(_) => {}
                    }
                }
                self.failure = Failure::Busy;
                self.search_ever(plea)?;
                Err(self.failure)
            }
            _ => Err(Failure::Busy),
        }
    }

    /// Refuses at a glance what there are not enough nodes for.
    fn precheck(&self, op: MatchOp, plea: &Plea<'_>) -> Result<(), Failure> {
        let wanted = need(&plea.demand.needs, Graph::NODE);
        let refusal =
            if op.asks_for_satisfiability() { Failure::Unsatisfiable } else { Failure::Busy };
        if wanted > self.nodes_up {
            return Err(refusal);
        }
        let Some(constraint) = plea.constraint else {
            return Ok(());
        };
        // Only the present counts where nothing later is of use.
        let at = match op {
            MatchOp::Allocate | MatchOp::WithoutAllocating => plea.now,
            _ => self.options.horizon - 1,
        };
        let window = Interval { start: at, end: at.saturating_add(plea.duration) };
        let fits = |&pos: &u32| {
            let slot = self.tree.slots[pos as usize];
            slot.kind == Graph::NODE
                && (op.asks_for_satisfiability() || !slot.down)
                && satisfies(&self.graph, slot.vertex, constraint)
                && self.free_during(pos, window) == 1
        };
        let wanted = usize::try_from(wanted).unwrap_or(0);
        let found = (0..self.tree.len()).filter_map(|pos| u32::try_from(pos).ok()).filter(fits);
        if found.take(wanted).count() < wanted { Err(refusal) } else { Ok(()) }
    }

    /// Returns how much of a vertex is free in `window`.
    pub(super) fn free_during(&self, pos: u32, window: Interval) -> i64 {
        let above = |pos: u32| self.plan(pos).is_some_and(|plan| plan.subtree_held_during(window));
        if self.tree.ancestors(pos).any(above) {
            return 0;
        }
        let planned =
            self.plan(pos).map_or(0, |plan| plan.planned_during(window.start, window.end));
        self.tree.sizes[pos as usize] - planned
    }

    /// Returns the first time at or after `from` at which what the root has in aggregate suffices.
    fn next_chance(&self, plea: &Plea<'_>, from: i64) -> Option<i64> {
        let root = self.tree.slots[0];
        let totals = self.aggregates.totals(root.totals)?;
        let lanes = self.aggregates.lanes(root.kind);
        let wanted: Vec<i64> = lanes.iter().map(|&kind| need(&plea.demand.needs, kind)).collect();
        let most = totals.first()?.checked_sub(*wanted.first()?)?;
        if most < 0 {
            return None;
        }
        let plan = self.plan(0)?;
        let mut from = from;
        loop {
            let at = plan.first_fit(from, plea.duration, most)?;
            let end = at.checked_add(plea.duration)?;
            let mut rest = totals.iter().zip(&wanted).enumerate().skip(1);
            let fits = |(lane, (&total, &wanted)): (usize, (&i64, &i64))| {
                wanted <= total && wanted <= total - plan.tracked_during(at, end, lane)
            };
            if rest.all(fits) {
                return Some(at);
            }
            from = at.checked_add(1)?;
        }
    }

    fn search_at(&mut self, plea: &Plea<'_>, at: i64) -> Result<Selection, Failure> {
        let window = Interval { start: at, end: at.saturating_add(plea.duration) };
        let aim = Aim {
            respect_status: true,
            respect_overruns: at == plea.now,
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
            flexible: self.options.traverser == Traverser::Flexible,
            shortcuts: self.options.shortcuts,
        }
    }

    fn search(&mut self, plea: &Plea<'_>, aim: Aim<'_>) -> Result<Selection, Failure> {
        let mut floors = std::mem::take(&mut self.floors);
        let parts = self.parts(&self.exclusive);
        let mut search = Search::new(parts, aim, &self.options.limits, self.failure);
        let found = search.run(&plea.demand, &mut floors);
        let Visits { preorder, postorder } = search.visits;
        let failure = search.failure();
        let labels = std::mem::take(&mut search.labels);
        self.floors = floors;
        self.stats.preorder += preorder;
        self.stats.postorder += postorder;
        self.failure = failure;
        let vertex = |pos: u32| self.tree.slots[pos as usize].vertex;
        self.labels.extend(labels.into_iter().map(|(pos, label)| (vertex(pos), label)));
        found
    }

    /// Tells what was selected and holds it.
    #[allow(clippy::too_many_arguments, reason = "the last step of one operation")]
    fn settle(
        &mut self,
        op: MatchOp,
        plea: &Plea<'_>,
        job: JobId,
        at: i64,
        selection: &Selection,
        queue: Option<&str>,
        visitor: &mut dyn MatchVisitor,
    ) -> Result<Outcome, Error> {
        let horizon = self.options.horizon;
        if at == horizon {
            return Ok(Outcome::Busy);
        }
        if at < 0 || at > horizon {
            return Err(Error::OutOfRange {
                what: "time",
                given: at.to_string(),
                expected: "seconds before the end of the resources",
            });
        }
        let interval = Interval { start: at, end: at.saturating_add(plea.duration).min(horizon) };
        let taking = if op.allocates() { Taking::Plan } else { Taking::Nothing };
        let mut exclusive = self.exclusive.clone();
        exclusive.extend_from_slice(&plea.demand.exclusive_types);
        let kinds = self.filters[0].kinds();
        let parts = self.parts(&exclusive);
        let Selection { marks, root } = selection;
        let (touched, drift, labels) = (&self.touched, self.drift, &self.labels);
        let mut walk =
            Walk::new(parts, &kinds, marks, labels, taking, interval, touched, drift, visitor);
        let held = walk.run(*root)?;
        let holds = std::mem::take(&mut walk.holds);
        self.drift = walk.drift;
        if !held {
            if self.failure == Failure::Nothing {
                // Only a search without shortcuts comes across everything that fails on its way.
                let shortcuts = std::mem::replace(&mut self.options.shortcuts, Shortcuts::NONE);
                let again = self.search_at(plea, at);
                self.options.shortcuts = shortcuts;
                debug_assert!(again.is_ok(), "shortcuts found what is not there");
            }
            return match self.failure {
                Failure::NoTime => Err(Error::Unreachable { last: true }),
                Failure::Nothing => Err(Error::Unreachable { last: false }),
                failure => outcome_of(failure),
            };
        }
        visitor.times(interval.start, interval.end);
        if let Some(queue) = queue {
            visitor.attribute("queue", queue);
        }
        if !op.allocates() {
            self.weigh(&holds, Some(plea.now));
            return Ok(Outcome::Matched { at });
        }
        let span = JobSpan { interval, reserved: at != plea.now };
        self.apply(job, span, &holds, &kinds);
        self.weigh(&holds, Some(plea.now));
        Ok(if span.reserved { Outcome::Reserved { at } } else { Outcome::Allocated })
    }

    /// Writes holds to the planners, in the order given: what is below a vertex comes before it.
    pub(super) fn apply(&mut self, job: JobId, span: JobSpan, holds: &[Hold], kinds: &[TypeId]) {
        let mut vertices = self.succeed(job, holds);
        vertices.reserve(holds.len());
        for hold in holds {
            let mut held = self.held_of(span, hold, kinds);
            if let Some(n_lanes) = hold.overfull {
                self.strand(hold.pos, n_lanes, &mut held);
            }
            self.plan_mut(hold.pos).insert(job, held);
            vertices.push(self.tree.slots[hold.pos as usize].vertex);
        }
        self.jobs.insert(job, Job { span, vertices, over: false });
    }

    /// Lets the first aggregates of a hold be nobody's, and the hold be without any.
    fn strand(&mut self, pos: u32, n_lanes: usize, held: &mut Held) {
        let Some(mut counts) = held.counts.take() else {
            return;
        };
        if n_lanes == 0 {
            return;
        }
        counts[n_lanes..].fill(-1);
        let stray = Held {
            planned: None,
            user: false,
            tagged: false,
            subtree: false,
            counts: Some(counts),
            ..held.clone()
        };
        let nobody = self.nobody();
        self.plan_mut(pos).insert(nobody, stray);
    }

    fn held_of(&self, span: JobSpan, hold: &Hold, kinds: &[TypeId]) -> Held {
        let slot = self.tree.slots[hold.pos as usize];
        let counts = hold.sums.as_ref().filter(|_| self.aggregates.totals(slot.totals).is_some());
        let lanes = self.aggregates.lanes(slot.kind);
        let counts = counts.map(|sums| {
            let column = |kind| kinds.iter().position(|known| *known == kind);
            lanes.iter().map(|&kind| column(kind).map_or(0, |column| sums[column])).collect()
        });
        Held {
            interval: span.interval,
            planned: hold.planned,
            reserved: span.reserved,
            user: hold.tagged,
            tagged: hold.tagged,
            subtree: hold.subtree,
            counts,
        }
    }

    /// Lets the edges that a walk went through weigh what is left below them of the last tracked
    /// type. A policy that does not go by weights does without.
    pub(super) fn weigh(&mut self, holds: &[Hold], now: Option<i64>) {
        if !self.policy.first_match() {
            return;
        }
        for hold in holds.iter().filter(|hold| hold.tagged) {
            let end =
                if hold.subtree { self.tree.slots[hold.pos as usize].end } else { hold.pos + 1 };
            for pos in hold.pos..end {
                let parent = self.tree.ancestors(pos).next();
                if let (Some(parent), Some(weight)) = (parent, self.weight_of(pos, now)) {
                    self.set_weight(parent, pos, weight);
                }
            }
        }
    }

    /// Returns how much of the last tracked type is left below a vertex at second `now`; before all
    /// times nothing is. `None` where nothing is tracked or nothing ever was taken of nothing.
    fn weight_of(&self, pos: u32, now: Option<i64>) -> Option<u64> {
        let slot = self.tree.slots[pos as usize];
        let total = *self.aggregates.totals(slot.totals)?.last()?;
        let Some(now) = now else { return Some(0) };
        let second = Interval { start: now, end: now.saturating_add(1) };
        let above = |pos| self.plan(pos).is_some_and(|plan| plan.subtree_held_during(second));
        if self.tree.ancestors(pos).any(above) {
            return Some(0);
        }
        let lane = self.aggregates.lanes(slot.kind).len() - 1;
        let plan = self.plan(pos);
        let left = total - plan.map_or(0, |plan| plan.tracked_at(now, lane));
        let counted = |plan: &Plan| plan.held().values().any(|held| held.counts.is_some());
        if left == 0 && !plan.is_some_and(counted) {
            return None;
        }
        Some(u64::try_from(left).unwrap_or(0))
    }

    fn set_weight(&mut self, parent: u32, child: u32, weight: u64) {
        let vertex = self.tree.slots[child as usize].vertex;
        let uniq_id = self.graph.uniq_id(vertex);
        if self.plan(parent).is_none_or(|plan| plan.order.is_none()) {
            let order = self.child_order(parent);
            self.plan_mut(parent).order = Some(Box::new(order));
        }
        if let Some(order) = &mut self.plan_mut(parent).order {
            order.set_weight(vertex, uniq_id, weight);
        }
    }

    /// Follows marks that somebody else made. Returns what they hold, whether that is anything, and
    /// how much deeper than they are vertices are told to be from now on.
    pub(super) fn follow(
        &self,
        marks: &[Mark],
        root: Mark,
        interval: Interval,
        kinds: &[TypeId],
        visitor: &mut dyn MatchVisitor,
    ) -> Result<(Vec<Hold>, bool, u32), Error> {
        let parts = self.parts(&self.exclusive);
        let mut walk = Walk::new(
            parts,
            kinds,
            marks,
            &self.labels,
            Taking::Planned,
            interval,
            &self.touched,
            self.drift,
            visitor,
        );
        let held = walk.run(root)?;
        Ok((walk.holds, held, walk.drift))
    }
}

fn outcome_of(failure: Failure) -> Result<Outcome, Error> {
    match failure {
        Failure::Busy | Failure::NoTime | Failure::Nothing => Ok(Outcome::Busy),
        Failure::Unsatisfiable => Ok(Outcome::Unsatisfiable),
        Failure::Invalid => {
            Err(Error::Request("a resource below a slot cannot be shared".to_owned()))
        }
        Failure::Limit(what) => Err(Error::Limit { what, limit: 0 }),
    }
}
