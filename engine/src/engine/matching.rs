//! Finding resources for a jobspec, now or at the earliest time.

use jobspec::Jobspec;
use rayon::prelude::*;

use super::attempt::{Answer, Attempt};
use super::{Engine, Job, JobSpan};
use crate::planner::{Held, Interval, Plan};
use crate::traverser::{Hold, Mark, Taking, Walk};
use crate::visit::MatchVisitor;
use crate::{Error, JobId, LimitKind, TypeId};

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

    pub(super) fn asks_for_satisfiability(self) -> bool {
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
        if op.allocates() && (self.job(job).is_some() || self.is_nobody(job)) {
            return Err(Error::JobExists(job));
        }
        let mut memory = std::mem::take(&mut self.memory);
        let answer = Attempt::new(self, &mut memory, op, now).run(jobspec, visitor);
        self.memory = memory;
        match answer? {
            Answer::Nothing(outcome) => Ok(outcome),
            Answer::Taken(taken) => {
                if op.allocates() {
                    self.apply(job, taken.span, &taken.holds, &taken.kinds);
                }
                self.weigh(&taken.holds, Some(now));
                Ok(taken.outcome(op))
            }
        }
    }

    /// Answers as [`Self::match_jobspec`] would for a new job, and changes nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::match_jobspec`].
    pub fn what_if(
        &self,
        op: MatchOp,
        jobspec: &Jobspec,
        now: i64,
        visitor: &mut dyn MatchVisitor,
    ) -> Result<Outcome, Error> {
        let mut memory = self.memory.without_frontiers();
        match Attempt::new(self, &mut memory, op, now).run(jobspec, visitor)? {
            Answer::Nothing(outcome) => Ok(outcome),
            Answer::Taken(taken) => Ok(taken.outcome(op)),
        }
    }

    /// Answers [`Self::what_if`] for many jobspecs, each as if it were the only one, by as many
    /// threads as rayon has. Each comes with its visitor; the answers are in the order given.
    pub fn what_if_each<V: MatchVisitor + Send>(
        &self,
        op: MatchOp,
        now: i64,
        asked: &mut [(&Jobspec, V)],
    ) -> Vec<Result<Outcome, Error>> {
        let answers = asked.par_iter_mut();
        answers.map(|(jobspec, visitor)| self.what_if(op, jobspec, now, visitor)).collect()
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

    /// Refuses one more hold of vertices that have no points in time left for it.
    pub(super) fn check_points(
        &self,
        mut positions: impl Iterator<Item = u32>,
    ) -> Result<(), Error> {
        let limits = &self.options.limits;
        // A hold has a start and an end.
        let full = |pos| self.plan(pos).map_or(0, Plan::n_points) + 2 > limits.planner_points;
        if positions.any(full) {
            return Err(limits.passed(LimitKind::PlannerPoints));
        }
        Ok(())
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
            &self.memory.labels,
            Taking::Planned,
            interval,
            &self.touched,
            self.memory.drift,
            visitor,
        );
        let held = walk.run(root)?;
        Ok((walk.holds, held, walk.drift))
    }
}
