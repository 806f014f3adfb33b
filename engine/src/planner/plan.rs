//! What jobs hold of one vertex.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Interval, Timeline};
use crate::{JobId, VertexId};

/// Lanes of a vertex's timeline: how much of the vertex itself is planned, how many jobs are on it
/// or below it, and how much of each tracked type is taken below it.
pub(crate) struct Lanes;

impl Lanes {
    pub(crate) const PLANNED: usize = 0;
    pub(crate) const USERS: usize = 1;
    pub(crate) const TRACKED: usize = Timeline::EVENT_LANE;
}

/// Amounts of tracked types, in the order of the vertex's tracked types; -1 for a type whose part
/// was given back.
pub(crate) type Counts = SmallVec<[i64; 4]>;

/// What one job holds of one vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) interval: Interval,
    /// How much of the vertex itself; `None` when the job only holds things below it.
    pub(crate) planned: Option<i64>,
    /// Whether it is held for later rather than for now.
    pub(crate) reserved: bool,
    /// Whether the job counts among the users of the vertex.
    pub(crate) user: bool,
    /// Whether the job is known here, so that a cancel goes on below.
    pub(crate) tagged: bool,
    /// Whether everything below is held in the same way, with nothing written there.
    pub(crate) subtree: bool,
    /// What is taken below; `None` when nothing of it is tracked.
    pub(crate) counts: Option<Counts>,
}

impl Held {
    /// Returns whether start and end are times to try.
    pub(super) fn makes_events(&self) -> bool {
        self.counts.as_ref().is_some_and(|counts| counts.first() != Some(&-1))
    }

    /// Returns whether it is an allocation, a subtree, and an allocated subtree.
    pub(super) fn counted(&self) -> [bool; 3] {
        let now = !self.reserved;
        [self.planned.is_some() && now, self.subtree, self.subtree && now]
    }
}

/// What all jobs hold of one vertex.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) vertex: VertexId,
    pub(super) timeline: Timeline,
    pub(super) held: BTreeMap<JobId, Held>,
    n_allocations: u32,
    n_subtrees: u32,
    n_subtree_allocations: u32,
    /// By how much the first total changed at times when something was planned then. As in Fluxion,
    /// the search for a time does not see it until something is planned or ends over that time.
    pub(super) unseen: BTreeMap<i64, i64>,
    /// Whether amounts of tracked types were lowered because there is less than was held.
    pub(super) clamped: bool,
    /// The order in which a first-match policy visits the children, once it is not the initial one.
    pub(crate) order: Option<Box<ChildOrder>>,
}

impl Plan {
    pub(crate) fn new(vertex: VertexId, n_tracked: usize) -> Self {
        Self {
            vertex,
            timeline: Timeline::new(Lanes::TRACKED + n_tracked),
            held: BTreeMap::new(),
            n_allocations: 0,
            n_subtrees: 0,
            n_subtree_allocations: 0,
            unseen: BTreeMap::new(),
            clamped: false,
            order: None,
        }
    }

    /// Returns the first time at or after `from` at which a span with aggregates starts or ends and
    /// for `duration` after which each tracked type stays at or below what `most` says of it.
    /// O(log n) in the number of spans for each stretch of time with too much of something.
    pub(crate) fn first_fit(&self, from: i64, duration: i64, most: &[i64]) -> Option<i64> {
        let mut from = from;
        loop {
            let at = self.timeline.first_fit(from, duration, most)?;
            let unseen = self.unseen.get(&at).copied().unwrap_or(0);
            if unseen <= 0 || self.tracked_at(at, 0).saturating_add(unseen) <= *most.first()? {
                return Some(at);
            }
            from = at.checked_add(1)?;
        }
    }

    /// Tells the plan that there is another amount of a tracked type below its vertex. Where more
    /// is taken than there is, what there is counts as taken.
    pub(crate) fn change_total(&mut self, lane: usize, before: i64, after: i64) {
        if before == after {
            return;
        }
        if lane == 0 {
            for time in self.timeline.events() {
                let left = before - self.tracked_at(time, 0);
                let change = (left + after - before).max(0) - left;
                let unseen = self.unseen.entry(time).or_default();
                *unseen = unseen.saturating_add(change);
            }
        }
        if after < before {
            self.timeline.clamp(Lanes::TRACKED + lane, after);
            self.clamped = !self.held.is_empty();
        }
    }

    /// Returns the number of times at which something starts or ends.
    pub(crate) fn n_points(&self) -> usize {
        self.timeline.n_points()
    }

    /// Returns how many tracked types the plan has room for.
    pub(crate) fn n_tracked(&self) -> usize {
        self.timeline.n_lanes() - Lanes::TRACKED
    }

    pub(crate) fn held(&self) -> &BTreeMap<JobId, Held> {
        &self.held
    }

    /// Returns whether some job has the vertex itself for now, also past the job's end.
    pub(crate) fn has_allocation(&self) -> bool {
        self.n_allocations > 0
    }

    /// Returns whether some job holds everything below with nothing written there.
    pub(crate) fn has_subtree(&self) -> bool {
        self.n_subtrees > 0
    }

    /// Returns whether some job has everything below for now, also past the job's end.
    pub(crate) fn has_subtree_allocation(&self) -> bool {
        self.n_subtree_allocations > 0
    }

    /// Returns whether some job holds the whole subtree at some second of `window`.
    pub(crate) fn subtree_held_during(&self, window: Interval) -> bool {
        // Whoever holds a subtree is a user of its top, or has it planned: most windows need no look
        // at all the jobs.
        self.has_subtree()
            && (self.users_during(window.start, window.end) > 0
                || self.planned_during(window.start, window.end) > 0)
            && self.held.values().any(|held| held.subtree && held.interval.overlaps(window))
    }

    /// Returns the amount planned at most in `[start, end)`.
    pub(crate) fn planned_during(&self, start: i64, end: i64) -> i64 {
        self.timeline.max_during(start, end, Lanes::PLANNED)
    }

    /// Returns the number of jobs at most in `[start, end)`.
    pub(crate) fn users_during(&self, start: i64, end: i64) -> i64 {
        self.timeline.max_during(start, end, Lanes::USERS)
    }

    /// Returns the amount of a tracked type taken at most in `[start, end)`.
    pub(crate) fn tracked_during(&self, start: i64, end: i64, lane: usize) -> i64 {
        self.timeline.max_during(start, end, Lanes::TRACKED + lane)
    }

    /// Returns the amount of a tracked type taken at `time`.
    pub(crate) fn tracked_at(&self, time: i64, lane: usize) -> i64 {
        self.timeline.amount_at(time, Lanes::TRACKED + lane)
    }

    /// Enters what a job holds. The job must hold nothing yet.
    pub(crate) fn insert(&mut self, job: JobId, held: Held) {
        self.enter(&held, 1);
        let previous = self.held.insert(job, held);
        assert!(previous.is_none(), "job {job} holds {:?} twice", self.vertex);
    }

    /// Takes out what a job holds.
    pub(crate) fn remove(&mut self, job: JobId) -> Option<Held> {
        let held = self.held.remove(&job)?;
        self.enter(&held, -1);
        self.clamped &= !self.held.is_empty();
        Some(held)
    }

    /// Changes what a job holds and returns what it held before.
    pub(crate) fn change(&mut self, job: JobId, change: impl FnOnce(&mut Held)) -> Option<Held> {
        let before = self.remove(job)?;
        let mut after = before.clone();
        change(&mut after);
        if after.planned.is_some() || after.user || after.tagged || after.counts.is_some() {
            self.insert(job, after);
        }
        Some(before)
    }

    fn enter(&mut self, held: &Held, sign: i32) {
        let Interval { start, end } = held.interval;
        let events = held.makes_events();
        if events && !self.unseen.is_empty() {
            self.unseen.retain(|&time, _| time < start || time >= end);
        }
        if sign > 0 {
            self.timeline.hold_points(start, end, events);
        }
        let sign = i64::from(sign);
        self.timeline.add(start, end, Lanes::PLANNED, sign * held.planned.unwrap_or(0));
        self.timeline.add(start, end, Lanes::USERS, sign * i64::from(held.user));
        for (lane, &count) in held.counts.iter().flatten().enumerate() {
            self.timeline.add(start, end, Lanes::TRACKED + lane, sign * count.max(0));
        }
        if sign < 0 {
            self.timeline.drop_points(start, end, events);
        }
        let counts =
            [&mut self.n_allocations, &mut self.n_subtrees, &mut self.n_subtree_allocations];
        for (count, counted) in counts.into_iter().zip(held.counted()) {
            *count =
                if sign > 0 { *count + u32::from(counted) } else { *count - u32::from(counted) };
        }
    }

    /// Returns how many allocations, subtrees and allocations of subtrees are counted.
    pub(super) fn counted(&self) -> [u32; 3] {
        [self.n_allocations, self.n_subtrees, self.n_subtree_allocations]
    }

    /// Tells the plan that its vertex tracks other types now: lane `i` becomes what `from[i]` was.
    pub(crate) fn rearrange(&mut self, from: &[Option<usize>]) {
        let jobs: Vec<(JobId, Held)> = std::mem::take(&mut self.held).into_iter().collect();
        self.timeline = Timeline::new(Lanes::TRACKED + from.len());
        self.clamped = false;
        (self.n_allocations, self.n_subtrees, self.n_subtree_allocations) = (0, 0, 0);
        for (job, mut held) in jobs {
            if let Some(counts) = &mut held.counts {
                *counts = from
                    .iter()
                    .map(|lane| lane.and_then(|lane| counts.get(lane).copied()).unwrap_or(-1))
                    .collect();
            }
            self.insert(job, held);
        }
    }

    /// Returns whether nothing would be lost with the plan.
    pub(crate) fn is_blank(&self) -> bool {
        self.held.is_empty() && self.order.is_none()
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let held = size_of::<JobId>() + size_of::<Held>();
        // A B-tree node is two thirds full on average and holds little else.
        self.timeline.memory_usage() + self.held.len() * held * 3 / 2
    }
}

/// Children of a vertex by weight, heaviest first, then by unique id, highest first. A child never
/// booked through weighs the most.
#[derive(Clone, Debug)]
pub(crate) enum ChildOrder {
    /// Few children, in order.
    Few(SmallVec<[Weighed; 2]>),
    /// Many, with the weights of those that were booked through.
    Many { weights: FxHashMap<VertexId, u64>, sorted: BTreeSet<Weighed> },
}

/// A child by what decides its place.
pub(crate) type Weighed = (Reverse<u64>, Reverse<i64>, VertexId);

impl ChildOrder {
    /// How many children are moved about rather than kept in a tree.
    const FEW: usize = 16;

    /// Makes the order of children with their unique ids, none of which was booked through.
    pub(crate) fn new(children: impl ExactSizeIterator<Item = (VertexId, i64)>) -> Self {
        let few = children.len() <= Self::FEW;
        let weighed = children.map(|(child, uniq_id)| (Reverse(u64::MAX), Reverse(uniq_id), child));
        if few {
            let mut sorted: SmallVec<[Weighed; 2]> = weighed.collect();
            sorted.sort_unstable();
            Self::Few(sorted)
        } else {
            Self::Many { weights: FxHashMap::default(), sorted: weighed.collect() }
        }
    }

    /// Returns the children in order.
    pub(crate) fn children(&self) -> impl Iterator<Item = VertexId> {
        let (few, many) = match self {
            Self::Few(sorted) => (Some(sorted.iter()), None),
            Self::Many { sorted, .. } => (None, Some(sorted.iter())),
        };
        let both = few.into_iter().flatten().chain(many.into_iter().flatten());
        both.map(|&(.., child)| child)
    }

    pub(crate) fn weight(&self, child: VertexId) -> u64 {
        let known = match self {
            Self::Few(sorted) => {
                sorted.iter().find(|entry| entry.2 == child).map(|entry| entry.0.0)
            }
            Self::Many { weights, .. } => weights.get(&child).copied(),
        };
        known.unwrap_or(u64::MAX)
    }

    pub(crate) fn set_weight(&mut self, child: VertexId, uniq_id: i64, weight: u64) {
        let after = (Reverse(weight), Reverse(uniq_id), child);
        match self {
            Self::Few(sorted) => {
                sorted.retain(|entry| entry.2 != child);
                let at = sorted.partition_point(|entry| *entry < after);
                sorted.insert(at, after);
            }
            Self::Many { weights, sorted } => {
                let before = weights.insert(child, weight).unwrap_or(u64::MAX);
                if before != weight {
                    sorted.remove(&(Reverse(before), Reverse(uniq_id), child));
                    sorted.insert(after);
                }
            }
        }
    }
}

/// Plans by number. Number 0 stands for no plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plans {
    plans: Vec<Option<Plan>>,
    free: Vec<u32>,
}

impl Plans {
    pub(crate) fn get(&self, number: u32) -> Option<&Plan> {
        // Number 0 wraps to an index that no vector has.
        self.plans.get((number as usize).wrapping_sub(1)).and_then(Option::as_ref)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Plan> {
        self.plans.get_mut((number as usize).wrapping_sub(1)).and_then(Option::as_mut)
    }

    pub(crate) fn add(&mut self, plan: Plan) -> u32 {
        if let Some(number) = self.free.pop() {
            self.plans[number as usize - 1] = Some(plan);
            return number;
        }
        self.plans.push(Some(plan));
        // There are no more plans than vertices.
        u32::try_from(self.plans.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<Plan> {
        let plan = self.plans.get_mut((number as usize).wrapping_sub(1))?.take();
        if plan.is_some() {
            self.free.push(number);
        }
        plan
    }

    /// Returns plans with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Plan)> {
        self.plans.iter().zip(1..).filter_map(|(plan, number)| Some((number, plan.as_ref()?)))
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.plans.capacity() * size_of::<Option<Plan>>()
            + self.iter().map(|(_, plan)| plan.memory_usage()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    const ONE: JobId = JobId(1);
    const OTHER: JobId = JobId(2);

    fn plan(n_tracked: usize) -> Plan {
        Plan::new(VertexId(0), n_tracked)
    }

    fn interval(start: i64, end: i64) -> Interval {
        Interval { start, end }
    }

    /// Returns a part of a vertex, held for now.
    fn part(start: i64, end: i64, planned: i64) -> Held {
        Held {
            interval: interval(start, end),
            planned: Some(planned),
            reserved: false,
            user: true,
            tagged: true,
            subtree: false,
            counts: None,
        }
    }

    /// Returns what is held only below a vertex.
    fn below(start: i64, end: i64, counts: &[i64]) -> Held {
        Held { planned: None, counts: Some(counts.into()), ..part(start, end, 0) }
    }

    #[test]
    fn amounts_add_up_while_spans_overlap() {
        let mut plan = plan(0);
        plan.insert(ONE, part(0, 10, 2));
        plan.insert(OTHER, part(5, 15, 3));
        let planned = |start, end| plan.planned_during(start, end);
        assert_eq!([planned(0, 5), planned(5, 6), planned(10, 15), planned(15, 20)], [2, 5, 3, 0]);
        assert_eq!((planned(0, 20), plan.users_during(0, 20)), (5, 2));
    }

    #[test]
    fn a_removal_undoes_an_insertion() {
        let mut plan = plan(1);
        assert!(plan.is_blank());
        let held = Held { counts: Some(smallvec![4]), ..part(3, 9, 1) };
        plan.insert(ONE, held.clone());
        assert!(!plan.is_blank() && plan.has_allocation());
        assert_eq!(plan.tracked_at(8, 0), 4);
        assert_eq!(plan.remove(ONE), Some(held));
        assert_eq!(plan.remove(ONE), None);
        assert!(plan.is_blank() && plan.timeline.is_empty() && !plan.has_allocation());
    }

    #[test]
    fn what_is_reserved_is_not_allocated() {
        let mut plan = plan(0);
        plan.insert(ONE, Held { reserved: true, subtree: true, ..part(5, 10, 1) });
        assert!(!plan.has_allocation() && !plan.has_subtree_allocation());
        assert!(plan.has_subtree());
        plan.insert(OTHER, Held { subtree: true, ..part(0, 5, 1) });
        assert!(plan.has_allocation() && plan.has_subtree_allocation());
    }

    #[test]
    fn what_is_held_below_is_no_allocation() {
        let mut plan = plan(1);
        plan.insert(ONE, below(0, 10, &[1]));
        assert!(!plan.has_allocation());
        assert_eq!((plan.planned_during(0, 10), plan.users_during(0, 10)), (0, 1));
    }

    #[test]
    fn a_subtree_is_held_up_to_its_end() {
        let mut plan = plan(0);
        plan.insert(ONE, Held { subtree: true, ..part(5, 10, 1) });
        let held = |start, end| plan.subtree_held_during(interval(start, end));
        assert_eq!([held(0, 5), held(0, 6), held(9, 20), held(10, 20)], [false, true, true, false]);
    }

    #[test]
    fn a_change_that_leaves_nothing_forgets_the_job() {
        let mut plan = plan(0);
        plan.insert(ONE, part(0, 10, 2));
        let before = plan.change(ONE, |held| held.planned = Some(1));
        assert_eq!(before, Some(part(0, 10, 2)));
        assert_eq!(plan.planned_during(0, 10), 1);
        plan.change(ONE, |held| {
            (held.planned, held.user, held.tagged) = (None, false, false);
        });
        assert!(plan.is_blank());
        assert_eq!(plan.change(OTHER, |_| ()), None);
    }

    #[test]
    fn the_first_fit_is_where_a_span_ends() {
        let mut plan = plan(1);
        plan.insert(ONE, below(0, 10, &[3]));
        plan.insert(OTHER, below(10, 20, &[1]));
        assert_eq!(plan.first_fit(1, 5, &[2]), Some(10));
        assert_eq!(plan.first_fit(1, 5, &[0]), Some(20));
        assert_eq!(plan.first_fit(1, 20, &[1]), Some(10));
        assert_eq!(plan.first_fit(21, 5, &[3]), None, "nothing starts or ends then");
    }

    #[test]
    fn spans_without_aggregates_are_no_times_to_try() {
        let mut plan = plan(1);
        plan.insert(ONE, part(0, 10, 1));
        plan.insert(OTHER, below(0, 20, &[-1]));
        assert_eq!(plan.first_fit(1, 5, &[3]), None);
    }

    #[test]
    fn what_is_taken_is_at_most_what_is_left() {
        let mut plan = plan(1);
        plan.insert(ONE, below(0, 10, &[3]));
        plan.change_total(0, 4, 2);
        assert_eq!(plan.tracked_at(5, 0), 2);
    }

    #[test]
    fn a_search_does_not_see_what_is_added_until_the_next_span() {
        let mut plan = plan(1);
        plan.insert(ONE, below(0, 10, &[1]));
        plan.change_total(0, 1, 2);
        // Of two there is one left, but what came is not seen at second 0.
        assert_eq!(plan.first_fit(0, 5, &[1]), Some(10));
        plan.insert(OTHER, below(0, 10, &[0]));
        assert_eq!(plan.first_fit(0, 5, &[1]), Some(0));
    }

    #[test]
    fn lanes_are_rearranged() {
        let mut plan = plan(2);
        plan.insert(ONE, below(0, 10, &[3, 7]));
        plan.rearrange(&[Some(1), None, Some(0)]);
        let tracked = [0, 1, 2].map(|lane| plan.tracked_at(5, lane));
        assert_eq!(tracked, [7, 0, 3]);
        assert_eq!(plan.held()[&ONE].counts.as_deref(), Some(&[7, -1, 3][..]));
    }

    #[test]
    fn children_are_ordered_by_weight_and_then_by_unique_id() {
        for n in [3, 100] {
            let children = (1..=n).map(|id| (VertexId(id), i64::from(id)));
            let mut order = ChildOrder::new(children.collect::<Vec<_>>().into_iter());
            let sorted = |order: &ChildOrder| -> Vec<u32> {
                let few = order.children().map(|VertexId(child)| child);
                few.filter(|&child| child <= 3).collect()
            };
            assert_eq!(sorted(&order), [3, 2, 1]);
            order.set_weight(VertexId(3), 3, 5);
            order.set_weight(VertexId(2), 2, 8);
            assert_eq!(sorted(&order), [1, 2, 3]);
            order.set_weight(VertexId(3), 3, 8);
            assert_eq!(sorted(&order), [1, 3, 2]);
            assert_eq!((order.weight(VertexId(1)), order.weight(VertexId(2))), (u64::MAX, 8));
            assert_eq!(order.children().count(), n as usize);
        }
    }

    #[test]
    fn numbers_of_plans_are_used_again() {
        let mut plans = Plans::default();
        assert!(plans.get(0).is_none());
        let first = plans.add(Plan::new(VertexId(7), 0));
        let second = plans.add(Plan::new(VertexId(8), 0));
        assert_eq!((first, second), (1, 2));
        assert_eq!(plans.remove(first).map(|plan| plan.vertex), Some(VertexId(7)));
        assert!(plans.get(first).is_none() && plans.remove(first).is_none());
        assert_eq!(plans.add(Plan::new(VertexId(9), 0)), first);
        let all: Vec<_> = plans.iter().map(|(number, plan)| (number, plan.vertex)).collect();
        assert_eq!(all, [(1, VertexId(9)), (2, VertexId(8))]);
    }
}
