//! What jobs hold: taking it over from an R, giving it back in part or in full.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::{Engine, Job, JobSpan};
use crate::booking::{Booking, OnFault, Release};
use crate::planner::{Held, Interval, Plan};
use crate::traverser::{Hold, Mark};
use crate::visit::MatchVisitor;
use crate::{Error, JobId, TypeId, VertexId};

/// Amounts by type.
type Amounts = BTreeMap<TypeId, i64>;

impl Engine {
    /// Holds for `job` what an R says it holds, from second `at` for `duration` seconds, and tells
    /// `visitor`.
    ///
    /// # Errors
    ///
    /// [`Error::JobExists`], [`Error::OutOfRange`] for the time, [`Error::Occupied`] where somebody
    /// else holds something of it, [`Error::Limit`], [`Error::Request`] for edges that lead to nothing, and what the
    /// visitor fails with.
    pub fn update(
        &mut self,
        job: JobId,
        booking: &Booking,
        at: i64,
        duration: i64,
        reserve: bool,
        visitor: &mut dyn MatchVisitor,
    ) -> Result<(), Error> {
        if self.job(job).is_some() || self.is_nobody(job) {
            return Err(Error::JobExists(job));
        }
        if at < 0 || duration <= 0 {
            return Err(Error::OutOfRange {
                what: "span",
                given: format!("{duration} seconds from {at}"),
                expected: "a start that is not negative and a duration above 0",
            });
        }
        let interval = Interval { start: at, end: at.saturating_add(duration) };
        let mut planned = BTreeMap::new();
        for booked in &booking.vertices {
            // What the dominant subsystem does not reach is never given to anybody.
            let Some(pos) = self.tree.position(booked.vertex) else {
                continue;
            };
            let size = self.tree.sizes[pos as usize];
            if self.free_during(pos, interval) < size {
                return Err(self.occupied(job, booked.vertex));
            }
            if booked.exclusive && planned.insert(pos, size).is_some() {
                return Err(self.occupied(job, booked.vertex));
            }
        }
        self.check_points(planned.keys().copied())?;
        let kinds = self.filters[0].kinds();
        let mut holds = Vec::new();
        let top = self.tree.slots[0].vertex;
        if let Some((_, root)) = booking.roots.iter().find(|(vertex, _)| *vertex == top) {
            let marks = self.marks_of(booking);
            self.check_points(marks.iter().map(|mark| mark.pos).chain([0]))?;
            let needs = i64::try_from(root.needs).unwrap_or(i64::MAX);
            let root = Mark { pos: 0, from: 0, needs, exclusive: root.exclusive };
            let (walked, held, drift) = self.follow(&marks, root, interval, &kinds, visitor)?;
            if !held {
                return Err(Error::Request(format!("nothing in the R is for job {job}")));
            }
            visitor.times(interval.start, interval.end);
            self.memory.drift = drift;
            holds = walked;
        }
        for hold in &mut holds {
            hold.planned = planned.remove(&hold.pos);
        }
        holds.extend(planned.into_iter().map(|(pos, size)| Hold {
            pos,
            planned: Some(size),
            subtree: false,
            tagged: false,
            sums: None,
            overfull: None,
        }));
        self.apply(job, JobSpan { interval, reserved: reserve }, &holds, &kinds);
        self.weigh(&holds, None);
        Ok(())
    }

    /// Returns the edges of a booking that the dominant subsystem has.
    fn marks_of(&self, booking: &Booking) -> Vec<Mark> {
        let mut marks = BTreeMap::new();
        for edge in &booking.edges {
            let ends = (self.tree.position(edge.source), self.tree.position(edge.target));
            let (Some(source), Some(target)) = ends else {
                continue;
            };
            // A vertex has one parent, or else is looked for among the children of each.
            let is_child = if self.tree.shared {
                self.tree.children(source).contains(&target)
            } else {
                target != 0 && self.tree.slots[target as usize].parent == source
            };
            if !is_child {
                continue; // an edge of another subsystem
            }
            let needs = i64::try_from(edge.share.needs).unwrap_or(i64::MAX);
            let exclusive = edge.share.exclusive;
            marks.insert((target, source), Mark { pos: target, from: source, needs, exclusive });
        }
        marks.into_values().collect()
    }

    /// Gives back everything that `job` holds.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`].
    pub fn cancel(&mut self, job: JobId) -> Result<(), Error> {
        let known = self.jobs.get(&job).filter(|job| !job.over).ok_or(Error::UnknownJob(job))?;
        let mut positions: Vec<u32> =
            known.vertices.iter().filter_map(|&vertex| self.tree.position(vertex)).collect();
        positions.sort_unstable();
        let from_root = self.held(0, job).is_some_and(|held| held.tagged);
        if !from_root {
            self.memory.frontiers.forget();
        }
        let mut left = Vec::new();
        // Where the job is known from the root on. Parents come before children.
        let mut reached = BTreeSet::new();
        for pos in positions {
            let Some(held) = self.held(pos, job) else {
                continue;
            };
            if !from_root {
                self.change(pos, job, |held| held.planned = None);
            } else if held.tagged
                && (pos == 0 || reached.contains(&self.tree.slots[pos as usize].parent))
            {
                reached.insert(pos);
                let end = if held.subtree { self.tree.slots[pos as usize].end } else { pos + 1 };
                self.plan_mut(pos).remove(job);
                self.sweep(pos);
                self.memory.frontiers.give_back(pos, pos + 1..end);
            }
            if self.held(pos, job).is_some() {
                left.push(self.tree.slots[pos as usize].vertex);
            }
        }
        self.leave(job, left);
        Ok(())
    }

    /// Says whether what `job` holds is anybody's. What is nobody's stays held until another job
    /// takes the same id and ends; the id is free for one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`].
    pub fn set_disowned(&mut self, job: JobId, disowned: bool) -> Result<(), Error> {
        let known = self.jobs.get_mut(&job).ok_or(Error::UnknownJob(job))?;
        known.over = disowned;
        Ok(())
    }

    /// Returns an id for what is nobody's.
    pub(super) fn nobody(&mut self) -> JobId {
        loop {
            self.n_disowned += 1;
            let nobody = JobId(u64::MAX - self.n_disowned);
            if !self.jobs.contains_key(&nobody) {
                return nobody;
            }
        }
    }

    /// Returns whether an id is used up for what is nobody's.
    pub(crate) fn is_nobody(&self, job: JobId) -> bool {
        job.0 != u64::MAX && job.0 >= u64::MAX - self.n_disowned
    }

    /// Makes room for a job that takes the id of one that is over: what that one holds where this
    /// one will hold something too is nobody's from now on. Returns where else it holds something.
    pub(super) fn succeed(&mut self, job: JobId, holds: &[Hold]) -> Vec<VertexId> {
        let Some(before) = self.jobs.remove(&job) else {
            return Vec::new();
        };
        let nobody = self.nobody();
        let mut left = Vec::new();
        for hold in holds {
            if let Some(held) = self.held(hold.pos, job).cloned() {
                self.plan_mut(hold.pos).remove(job);
                self.plan_mut(hold.pos).insert(nobody, held);
                left.push(self.tree.slots[hold.pos as usize].vertex);
            }
        }
        if !left.is_empty() {
            self.jobs.insert(nobody, Job { vertices: left, ..before.clone() });
        }
        let still = |vertex: &VertexId| {
            self.tree.position(*vertex).is_some_and(|pos| self.held(pos, job).is_some())
        };
        before.vertices.into_iter().filter(still).collect()
    }

    /// Gives back part of what `job` holds. Returns whether that was the last of it, with which the
    /// job is over. `on_fault` says what becomes of vertices given back before a fault is found.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`], [`Error::NotHeld`] for something that the job does not hold,
    /// [`Error::UnknownRank`].
    pub fn release(
        &mut self,
        job: JobId,
        release: &Release,
        on_fault: OnFault,
    ) -> Result<bool, Error> {
        self.memory.frontiers.forget();
        self.jobs.get(&job).filter(|job| !job.over).ok_or(Error::UnknownJob(job))?;
        // Work on what the job holds and put it back if something is wrong.
        let before = (on_fault == OnFault::Restore).then(|| self.save(job));
        let result = self.try_release(job, release);
        if let (Err(_), Some(before)) = (&result, before) {
            for (pos, _) in self.save(job) {
                self.plan_mut(pos).remove(job);
                self.sweep(pos);
            }
            for (pos, held) in before {
                self.plan_mut(pos).insert(job, held);
            }
        }
        let left = self.save(job);
        let left = left.into_iter().map(|(pos, _)| self.tree.slots[pos as usize].vertex).collect();
        if result == Ok(true) {
            self.leave(job, left);
        } else if let Some(known) = self.jobs.get_mut(&job) {
            known.vertices = left;
        }
        result
    }

    fn try_release(&mut self, job: JobId, release: &Release) -> Result<bool, Error> {
        // What each rank gives back, and the vertex at its top.
        let mut freed: BTreeMap<i64, (Amounts, Option<u32>)> = BTreeMap::new();
        match release {
            Release::Vertices(vertices) => {
                for &vertex in vertices {
                    let pos = self.position(vertex)?;
                    self.materialize(pos, job);
                    let held = self.held(pos, job).filter(|held| held.user && !held.reserved);
                    let amount = held
                        .and_then(|held| held.planned)
                        .ok_or_else(|| Error::NotHeld { job, path: self.path(vertex) })?;
                    self.plan_mut(pos).remove(job);
                    self.sweep(pos);
                    let entry = freed.entry(self.graph.rank(vertex)).or_default();
                    *entry.0.entry(self.graph.kind(vertex)).or_default() += amount;
                    entry.1 = Some(self.higher(entry.1, pos));
                }
            }
            Release::Ranks(ranks) => {
                let at_ranks = self.at_ranks(ranks);
                for &rank in ranks {
                    let vertices = at_ranks.get(&rank).ok_or(Error::UnknownRank(rank))?;
                    let entry = freed.entry(rank).or_default();
                    for &pos in vertices {
                        entry.1 = Some(self.higher(entry.1, pos));
                        self.materialize(pos, job);
                        let Some(held) = self.held(pos, job).filter(|held| held.tagged) else {
                            continue;
                        };
                        let kind = self.tree.slots[pos as usize].kind;
                        if let Some(amount) = held.planned {
                            *entry.0.entry(kind).or_default() += amount;
                        }
                        self.plan_mut(pos).remove(job);
                        self.sweep(pos);
                    }
                }
            }
        }
        if let Some((&rank, _)) = freed.iter().find(|(_, (amounts, _))| amounts.is_empty()) {
            return Err(Error::NothingAtRank { job, rank });
        }
        if freed.is_empty() {
            return Err(Error::NotHeld { job, path: "anything of it".to_owned() });
        }
        let mut above: BTreeMap<u32, Amounts> = BTreeMap::new();
        for (amounts, top) in freed.values() {
            for pos in top.iter().flat_map(|&top| self.tree.ancestors(top)) {
                let sums = above.entry(pos).or_default();
                for (&kind, amount) in amounts {
                    *sums.entry(kind).or_default() += amount;
                }
            }
        }
        if self.held(0, job).is_none_or(|held| !held.tagged) {
            self.write_out(job);
            for (pos, _) in self.save(job) {
                self.change(pos, job, |held| held.planned = None);
            }
            return Ok(false);
        }
        for (pos, amounts) in above {
            self.reduce(pos, job, &amounts)?;
        }
        Ok(self.held(0, job).is_none_or(|held| !held.tagged))
    }

    /// Takes amounts out of what a job's aggregates say at a vertex above. Once nothing is left the
    /// job is no longer known there; what it holds of the vertex itself stays until its end.
    pub(super) fn reduce(&mut self, pos: u32, job: JobId, amounts: &Amounts) -> Result<(), Error> {
        let slot = self.tree.slots[pos as usize];
        let Some(held) = self.held(pos, job) else {
            return Ok(());
        };
        let (true, Some(counts)) = (held.tagged, &held.counts) else {
            return Ok(());
        };
        let mut counts = counts.clone();
        for (lane, kind) in self.aggregates.lanes(slot.kind).iter().enumerate() {
            let Some(count) = counts.get_mut(lane).filter(|count| **count != -1) else {
                continue;
            };
            let amount = amounts.get(kind).copied().unwrap_or(0);
            if amount > *count {
                return Err(Error::NotHeld { job, path: self.path(slot.vertex) });
            }
            *count = if amount == *count { -1 } else { *count - amount };
        }
        let gone = counts.iter().all(|&count| count == -1);
        self.change(pos, job, |held| {
            held.user = false;
            held.tagged = !gone;
            held.counts = (!gone).then_some(counts);
        });
        Ok(())
    }

    // ---- helpers -----------------------------------------------------------------------------

    pub(super) fn position(&self, vertex: VertexId) -> Result<u32, Error> {
        self.tree.position(vertex).ok_or(Error::UnknownVertex(vertex))
    }

    pub(crate) fn path(&self, vertex: VertexId) -> String {
        self.graph.path(self.tree.subsystem, vertex).unwrap_or_else(|| self.graph.name(vertex))
    }

    fn occupied(&self, job: JobId, vertex: VertexId) -> Error {
        Error::Occupied { job, path: self.path(vertex) }
    }

    pub(crate) fn held(&self, pos: u32, job: JobId) -> Option<&Held> {
        self.plan(pos)?.held().get(&job)
    }

    /// Changes what a job holds of a vertex.
    fn change(&mut self, pos: u32, job: JobId, change: impl FnOnce(&mut Held)) {
        self.plan_mut(pos).change(job, change);
        self.sweep(pos);
    }

    /// Returns everything that a job holds, by position.
    fn save(&self, job: JobId) -> Vec<(u32, Held)> {
        let vertices = self.jobs.get(&job).map_or(&[][..], |known| &known.vertices);
        let positions = vertices.iter().filter_map(|&vertex| self.tree.position(vertex));
        let held = |pos| Some((pos, self.held(pos, job)?.clone()));
        positions.filter_map(held).collect::<BTreeMap<_, _>>().into_iter().collect()
    }

    /// Ends a job that leaves `left` held.
    fn leave(&mut self, job: JobId, left: Vec<VertexId>) {
        if left.is_empty() {
            self.jobs.remove(&job);
        } else if let Some(known) = self.jobs.get_mut(&job) {
            *known = Job { span: known.span, vertices: left, over: true };
        }
    }

    /// Returns the jobs that hold a vertex because they hold a whole subtree it is in.
    pub(super) fn holders_of_subtree(&self, pos: u32) -> Vec<JobId> {
        let plans = std::iter::once(pos).chain(self.tree.ancestors(pos));
        let plans = plans.filter_map(|above| self.plan(above)).filter(|plan| plan.has_subtree());
        let subtrees = plans.flat_map(|plan| plan.held().iter().filter(|(_, held)| held.subtree));
        subtrees.map(|(&job, _)| job).collect()
    }

    /// Writes out at `pos` what a job holds there because it holds a subtree further up.
    pub(super) fn materialize(&mut self, pos: u32, job: JobId) {
        let whole = |pos: &u32| self.held(*pos, job).is_some_and(|held| held.subtree);
        let Some(top) = std::iter::once(pos).chain(self.tree.ancestors(pos)).find(whole) else {
            return;
        };
        let mut line: Vec<u32> = std::iter::once(pos)
            .chain(self.tree.ancestors(pos))
            .take_while(|&above| above != top)
            .collect();
        line.push(top);
        for above in line.into_iter().rev() {
            self.split(above, job);
        }
    }

    /// Writes out all that a job holds because it holds subtrees.
    fn write_out(&mut self, job: JobId) {
        let mut todo: Vec<u32> = self.save(job).into_iter().map(|(pos, _)| pos).collect();
        while let Some(pos) = todo.pop() {
            if self.held(pos, job).is_some_and(|held| held.subtree) {
                self.split(pos, job);
                todo.extend_from_slice(self.tree.children(pos));
            }
        }
    }

    /// Replaces the hold of a whole subtree by one of its top and one of each child's subtree.
    fn split(&mut self, pos: u32, job: JobId) {
        let Some(held) = self.held(pos, job).filter(|held| held.subtree).cloned() else {
            return;
        };
        self.plan_mut(pos).change(job, |held| held.subtree = false);
        for child in self.tree.children(pos).to_vec() {
            let slot = self.tree.slots[child as usize];
            let totals = self.aggregates.totals(slot.totals);
            let below = Held {
                planned: Some(self.tree.sizes[child as usize]),
                subtree: !self.tree.children(child).is_empty(),
                counts: totals.map(|totals| totals.iter().copied().collect()),
                ..held.clone()
            };
            self.plan_mut(child).insert(job, below);
            if let Some(known) = self.jobs.get_mut(&job) {
                known.vertices.push(slot.vertex);
            }
        }
    }

    /// Returns the positions of each of these ranks in the order of their vertices. Ranks that are
    /// unknown are not among them.
    ///
    /// **Complexity**: O(|V|), however many ranks there are.
    pub(super) fn at_ranks(&self, ranks: &[i64]) -> FxHashMap<i64, Vec<u32>> {
        let mut found: FxHashMap<i64, Vec<u32>> =
            ranks.iter().map(|&rank| (rank, Vec::new())).collect();
        for vertex in self.graph.vertices() {
            if let Some(positions) = found.get_mut(&self.graph.rank(vertex)) {
                positions.extend(self.tree.position(vertex));
            }
        }
        found.retain(|_, positions| !positions.is_empty());
        found
    }

    /// Returns which of two vertices has the shorter path, the first one where they are alike.
    pub(super) fn higher(&self, first: Option<u32>, second: u32) -> u32 {
        let length = |pos: u32| self.path(self.tree.slots[pos as usize].vertex).len();
        match first {
            Some(first) if length(first) <= length(second) => first,
            _ => second,
        }
    }

    /// Takes everything that anybody holds away from vertices and returns how much was allocated of
    /// each type, and the jobs concerned. As in Fluxion, the vertices stay in use by nobody, which
    /// shows where they are not removed after all.
    pub(super) fn clear(&mut self, positions: &[u32]) -> (Amounts, BTreeSet<JobId>) {
        let mut amounts = Amounts::new();
        let mut jobs = BTreeSet::new();
        for &pos in positions {
            for job in self.holders_of_subtree(pos) {
                self.materialize(pos, job);
            }
            let kind = self.tree.slots[pos as usize].kind;
            let held = self.plan(pos).map(Plan::held).cloned().unwrap_or_default();
            *amounts.entry(kind).or_default() += held
                .values()
                .filter(|held| !held.reserved)
                .filter_map(|held| held.planned)
                .sum::<i64>();
            for (job, held) in held {
                if held.tagged {
                    jobs.insert(job);
                }
                self.plan_mut(pos).remove(job);
                if held.user {
                    let user =
                        Held { planned: None, tagged: false, subtree: false, counts: None, ..held };
                    let nobody = self.nobody();
                    self.plan_mut(pos).insert(nobody, user);
                }
            }
            self.sweep(pos);
        }
        (amounts, jobs)
    }

    /// Returns how many vertices each job still holds something of.
    pub(crate) fn recount(&mut self) {
        let mut held: FxHashMap<JobId, Vec<VertexId>> = FxHashMap::default();
        for (_, plan) in self.plans.iter() {
            for &job in plan.held().keys() {
                held.entry(job).or_default().push(plan.vertex);
            }
        }
        for (job, known) in &mut self.jobs {
            known.vertices = held.remove(job).unwrap_or_default();
        }
    }
}
