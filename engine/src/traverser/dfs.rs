//! The depth-first search for candidates.

use std::collections::BTreeMap;
use std::ops::Range;

use jobspec::Constraint;
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::demand::{Demand, Request, need, satisfies};
use super::evals::{Candidate, Evals, Member, NO_CHOICE, Runs, Scores, Tally};
use super::frontier::Frontiers;
use super::{Failure, Parts, Shortcuts};
use crate::planner::{Interval, Plan};
use crate::policy::{self, Preferences};
use crate::{Graph, LimitKind, Limits, TypeId};

/// What a search looks for besides the demand itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim<'a> {
    /// The span that everything must be free in.
    pub(crate) window: Interval,
    /// Whether vertices that are down are out of the question.
    pub(crate) respect_status: bool,
    /// Whether jobs past their end still have what they hold.
    pub(crate) respect_overruns: bool,
    pub(crate) constraint: Option<&'a Constraint>,
    /// How many terms the constraint has.
    pub(crate) constraint_size: usize,
    /// Whether slots side by side are alternatives.
    pub(crate) flexible: bool,
    pub(crate) shortcuts: Shortcuts,
}

/// What a search found: the vertices that the walk from the root is to follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// By position, ascending.
    pub(crate) marks: Vec<Mark>,
    pub(crate) root: Mark,
}

/// How a vertex is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) pos: u32,
    /// Where the edge comes from through which it is taken.
    pub(crate) from: u32,
    pub(crate) needs: i64,
    pub(crate) exclusive: bool,
}

/// Returns whether constraints are for vertices of a type.
fn is_constrained(kind: TypeId) -> bool {
    kind == Graph::NODE || kind == Graph::STORAGE_NODE
}

/// Counts of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visits {
    pub(crate) preorder: u64,
    pub(crate) postorder: u64,
}

/// How a vertex matches what is asked for.
enum Kind {
    /// It is one of the resources.
    Resource,
    /// Slots can be made of its children.
    Slot,
    /// It is above what is asked for.
    Above,
    /// It is something else.
    None,
}

struct Test<'d> {
    kind: Kind,
    /// What is asked for below it.
    next: &'d [Request],
    n_slots: u32,
    pristine: bool,
}

/// What comes down from above to a visit.
#[derive(Clone, Copy)]
pub(super) struct Above {
    /// Whether nothing matched yet, so that levels may be skipped.
    pub(super) pristine: bool,
    pub(super) exclusive: bool,
    /// The sum of contributions to scores.
    pub(super) score: i64,
    /// Whether a job has everything here, though its time may be over.
    pub(super) overrun: bool,
}

/// Marks by the edge that they are for: its target, then its source.
pub(super) type Marks = BTreeMap<(u32, u32), Mark>;

pub(crate) struct Search<'a> {
    pub(super) parts: Parts<'a>,
    pub(super) aim: Aim<'a>,
    limits: &'a Limits,
    pub(super) preferences: Preferences,
    pub(super) first_match: bool,
    /// What was chosen below vertices: ranges of `members`.
    choices: Vec<Range<usize>>,
    members: Vec<Member>,
    /// Shapes that are known to offer nothing, with what was asked for, whether levels could be
    /// skipped and whether all had to be exclusive; and whether they fail.
    barren: FxHashMap<(u32, u32, bool, bool), bool>,
    /// Whether shapes decide, so that something can be known of them.
    pub(super) learns: bool,
    seen: Vec<bool>,
    /// Vertices that have nothing left to offer, where that is remembered.
    pub(super) spent: Option<RoaringBitmap>,
    /// Labels of requests, by the positions of vertices that matched them.
    pub(crate) labels: FxHashMap<u32, Box<str>>,
    has_labels: bool,
    /// Why the last thing that failed did.
    pub(super) failure: Failure,
    pub(crate) visits: Visits,
    /// Steps taken, those of earlier searches of the operation included.
    pub(crate) steps: usize,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        parts: Parts<'a>,
        aim: Aim<'a>,
        limits: &'a Limits,
        failure: Failure,
        steps: usize,
    ) -> Self {
        Self {
            parts,
            aim,
            limits,
            steps,
            preferences: parts.policy.preferences(),
            first_match: parts.policy.first_match(),
            choices: Vec::new(),
            members: Vec::new(),
            barren: FxHashMap::default(),
            learns: aim.shortcuts.shapes
                && parts.scores_all
                && parts.auxiliary.is_empty()
                && !parts.tree.shared
                && !aim.flexible
                && aim.constraint.is_none(),
            seen: if parts.tree.shared { vec![false; parts.tree.len()] } else { Vec::new() },
            spent: None,
            labels: FxHashMap::default(),
            has_labels: false,
            failure,
            visits: Visits::default(),
        }
    }

    /// Searches the whole tree.
    ///
    /// # Errors
    ///
    /// Tells why nothing was found.
    pub(crate) fn run(
        &mut self,
        demand: &Demand,
        frontiers: &mut Frontiers,
    ) -> Result<Selection, Failure> {
        self.learns &= !demand.shares && !demand.has_labels;
        if let Some(found) = self.run_best_first(demand, frontiers) {
            return found;
        }
        if !self.aim.flexible {
            return self.select(&demand.resources, demand.has_labels);
        }
        let variants = split_xor_slots(&demand.resources, self.limits.xor_variants)
            .ok_or(Failure::Limit(LimitKind::XorVariants))?;
        let mut failure = Failure::Busy;
        for variant in variants {
            match self.select(&variant, demand.has_labels) {
                Err(Failure::Limit(what)) => return Err(Failure::Limit(what)),
                Err(why) => failure = why,
                found => return found,
            }
        }
        Err(failure)
    }

    /// Returns whether more steps were asked for than there may be. Then nothing that was found
    /// means anything.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps > self.limits.search_steps
    }

    /// Why the last thing that failed did, also when the search as a whole succeeded.
    pub(crate) fn failure(&self) -> Failure {
        self.failure
    }

    fn select(&mut self, resources: &[Request], has_labels: bool) -> Result<Selection, Failure> {
        self.choices.clear();
        self.members.clear();
        self.seen.fill(false);
        self.has_labels = has_labels;
        let root_kind = self.parts.tree.slots[0].kind;
        let exclusive = wants_exclusive(resources, root_kind);
        let above = Above { pristine: true, exclusive, score: 0, overrun: false };
        let mut scores = Scores::new();
        let Some((root_exclusive, root_choice)) = self.visit(0, resources, above, &mut scores)
        else {
            return Err(self.failure);
        };
        let root = Candidate {
            score: scores.overall,
            count: scores.avail,
            root: true,
            members: SmallVec::new(),
        };
        scores.add(root_kind, root);
        let root_needs = self.resolve(resources, &mut scores).ok_or_else(|| {
            self.failure = Failure::Unsatisfiable;
            self.failure
        })?;
        let marks = self.mark(&scores, root_choice);
        let root = Mark { pos: 0, from: 0, needs: root_needs, exclusive: root_exclusive };
        Ok(Selection { marks, root })
    }

    /// Chooses at the top and returns how much of the root is needed.
    fn resolve(&mut self, resources: &[Request], scores: &mut Scores) -> Option<i64> {
        let mut runs = Runs::default();
        for resource in resources {
            let count = scores.of(resource.kind).fit(&resource.count);
            if count == 0 {
                return None;
            }
            scores.choose(resource.kind, i64::from(count), self.preferences.top, &mut runs);
        }
        let mut root_needs = 1;
        for resource in resources {
            if resource.kind == self.parts.tree.slots[0].kind {
                let avail = u32::try_from(scores.avail).unwrap_or(u32::MAX);
                match resource.count.largest_at_most(avail) {
                    0 => return None,
                    count => root_needs = i64::from(count),
                }
            }
        }
        let nothing_left = scores.evals.iter().any(|evals| evals.qualified == 0)
            || scores.auxiliary.iter().any(|&(_, _, qualified)| qualified == 0);
        if nothing_left { None } else { Some(root_needs) }
    }

    /// Collects what was chosen, from the top down, and the way there.
    fn mark(&self, scores: &Scores, root_choice: u32) -> Vec<Mark> {
        let tree = self.parts.tree;
        let mut marks = Marks::new();
        let mut todo: Vec<Member> = Vec::new();
        if root_choice != NO_CHOICE {
            todo.extend_from_slice(self.choice(root_choice));
            self.take(&mut todo, &mut marks);
        }
        for evals in &scores.evals {
            for candidate in evals.chosen().iter().filter(|candidate| !candidate.root) {
                for &member in &candidate.members {
                    todo.push(member);
                    self.take(&mut todo, &mut marks);
                    let mut pos = member.from;
                    while let Some(from) = self.parts.parent(pos) {
                        if marks.contains_key(&(pos, from)) {
                            break;
                        }
                        let kind = tree.slots[pos as usize].kind;
                        if scores.get(kind).is_some_and(|evals| evals.n_chosen == 0) {
                            let needs = tree.sizes[pos as usize];
                            marks.insert((pos, from), Mark { pos, from, needs, exclusive: false });
                        }
                        pos = from;
                    }
                }
            }
        }
        marks.into_values().collect()
    }

    pub(super) fn take(&self, todo: &mut Vec<Member>, marks: &mut Marks) {
        while let Some(member) = todo.pop() {
            let Member { pos, from, count, exclusive, choice } = member;
            marks.insert((pos, from), Mark { pos, from, needs: count, exclusive });
            if choice != NO_CHOICE {
                todo.extend_from_slice(self.choice(choice));
            }
        }
    }

    /// Visits a vertex and what is below it. Returns whether it would be held exclusively and what
    /// was chosen below it, or `None` when it does not match; what it offers goes to `to_parent`.
    fn visit(
        &mut self,
        pos: u32,
        resources: &[Request],
        above: Above,
        to_parent: &mut Scores,
    ) -> Option<(bool, u32)> {
        if let Some(fails) = self.barren(pos, resources, above) {
            if fails {
                self.failure = Failure::Busy;
            }
            return None;
        }
        let visited = self.visit_anew(pos, resources, above, to_parent);
        if visited.is_none() {
            self.note_barren(pos, resources, above, true);
        }
        visited
    }

    fn visit_anew(
        &mut self,
        pos: u32,
        resources: &[Request],
        above: Above,
        to_parent: &mut Scores,
    ) -> Option<(bool, u32)> {
        self.visits.preorder += 1;
        let slot = self.parts.tree.slots[pos as usize];
        let exclusive = above.exclusive || wants_exclusive(resources, slot.kind);
        let test = self.test(pos, resources, above.pristine);
        if matches!(test.kind, Kind::None) {
            self.failure = Failure::Busy;
            return None;
        }
        let plan = self.parts.plans.get(slot.plan);
        let avail = self.prune(pos, plan, resources, exclusive, above.overrun)?;
        let contribution = self.parts.contribution(slot)?;
        if let Some(seen) = self.seen.get_mut(pos as usize) {
            *seen = true;
        }
        let below = Above {
            pristine: test.pristine,
            exclusive,
            score: above.score.checked_add(contribution)?,
            overrun: above.overrun || plan.is_some_and(Plan::has_subtree_allocation),
        };
        let mut scores = Scores::new();
        if matches!(test.kind, Kind::Slot) {
            self.fill_slots(pos, &test, below, &mut scores);
        } else {
            self.explore(pos, test.next, below, 1, &mut scores);
            self.explore_auxiliary(pos, test.next, below, &mut scores);
        }
        let mut runs = Runs::default();
        for resource in resources.iter().filter(|resource| resource.kind == slot.kind) {
            for wanted in &resource.with {
                let count = scores.of(wanted.kind).fit(&wanted.count);
                if count == 0 {
                    self.failure = Failure::Busy;
                    return None;
                }
                let preference = self.preferences.children;
                scores.choose(wanted.kind, i64::from(count), preference, &mut runs);
            }
        }
        let overall = self.parts.policy.score(&policy::Candidate {
            id: self.parts.graph.id(slot.vertex),
            uniq_id: self.parts.graph.uniq_id(slot.vertex),
            above: above.score,
            properties: self.parts.graph.properties(slot.vertex),
        });
        to_parent.avail = avail;
        to_parent.overall = overall;
        if self.has_labels {
            let matched = resources.iter().filter(|resource| resource.kind == slot.kind);
            if let Some(label) = matched.filter_map(|resource| resource.label.clone()).next_back() {
                self.labels.insert(pos, label);
            }
        }
        let mut choice = NO_CHOICE;
        if overall > 0 && scores.constrained {
            let chosen = scores.evals.iter().flat_map(Evals::chosen);
            let members = chosen.flat_map(|candidate| candidate.members.iter().copied());
            choice = self.keep_choice(members);
        } else if overall > 0 {
            let fruitless = |resource: &Request| {
                scores.get(resource.kind).is_none_or(|evals| evals.candidates.is_empty())
            };
            if matches!(test.kind, Kind::Above) && resources.iter().all(fruitless) {
                self.note_barren(pos, resources, above, false);
            }
            to_parent.merge(scores);
        }
        self.visits.postorder += 1;
        Some((exclusive, choice))
    }

    /// Remembers what was chosen below a vertex.
    pub(super) fn keep_choice(&mut self, members: impl Iterator<Item = Member>) -> u32 {
        let start = self.members.len();
        self.members.extend(members);
        if self.members.len() == start {
            return NO_CHOICE;
        }
        self.choices.push(start..self.members.len());
        // There are no more choices than positions.
        u32::try_from(self.choices.len() - 1).unwrap_or(NO_CHOICE)
    }

    pub(super) fn choice(&self, choice: u32) -> &[Member] {
        &self.members[self.choices[choice as usize].clone()]
    }

    // ---- what is known of shapes -------------------------------------------------------------

    /// Returns whether a subtree of this shape fails, if it is known to offer nothing.
    pub(super) fn barren(&self, pos: u32, resources: &[Request], above: Above) -> Option<bool> {
        if self.barren.is_empty() || above.overrun {
            return None;
        }
        let known = self.barren.get(&self.barren_key(pos, resources, above)).copied();
        known.filter(|_| self.is_blank(pos))
    }

    /// Notes that a subtree offers nothing, if that is in its shape, and whether it fails.
    pub(super) fn note_barren(
        &mut self,
        pos: u32,
        resources: &[Request],
        above: Above,
        fails: bool,
    ) {
        let leaf = self.parts.tree.slots[pos as usize].leaf;
        if self.learns && !leaf && !above.overrun && self.is_blank(pos) {
            let key = self.barren_key(pos, resources, above);
            self.barren.insert(key, fails);
        }
    }

    fn barren_key(&self, pos: u32, resources: &[Request], above: Above) -> (u32, u32, bool, bool) {
        let list = resources.first().map_or(0, |request| request.id);
        (self.parts.tree.shapes[pos as usize], list, above.pristine, above.exclusive)
    }

    /// Returns whether nothing but its shape decides what a subtree offers: nothing is held in it
    /// and nothing down, or neither matters.
    fn is_blank(&self, pos: u32) -> bool {
        let end = self.parts.tree.slots[pos as usize].end;
        !self.aim.respect_status
            || self.parts.touched.range_cardinality(pos..end) == 0
                && self.parts.down.range_cardinality(pos..end) == 0
    }

    // ---- matching ----------------------------------------------------------------------------

    fn test<'d>(&self, pos: u32, resources: &'d [Request], pristine: bool) -> Test<'d> {
        if self.aim.flexible {
            self.test_flexible(pos, resources, pristine)
        } else {
            self.test_simple(pos, resources, pristine)
        }
    }

    fn test_simple<'d>(&self, pos: u32, resources: &'d [Request], pristine: bool) -> Test<'d> {
        let own = self.parts.tree.slots[pos as usize].kind;
        let mismatch = Test { kind: Kind::None, next: resources, n_slots: 0, pristine };
        let (mut resource, mut slot, mut matched) = (None, None, false);
        for request in resources {
            if request.kind == own {
                if matched {
                    return mismatch; // two requests of one type side by side
                }
                resource = Some(request);
                slot = request.with.iter().rfind(|below| below.kind == Graph::SLOT);
                matched = true;
            } else if request.kind == Graph::SLOT {
                if matched {
                    return mismatch;
                }
                slot = Some(request);
                matched = true;
            }
        }
        let n_slots = slot.map_or(0, |slot| slot.most);
        if let Some(slot) = slot.filter(|slot| self.can_make(pos, slot)) {
            Test { kind: Kind::Slot, next: &slot.with, n_slots, pristine: false }
        } else if let Some(resource) = resource {
            Test { kind: Kind::Resource, next: &resource.with, n_slots, pristine: false }
        } else if pristine {
            Test { kind: Kind::Above, ..mismatch }
        } else {
            mismatch
        }
    }

    fn test_flexible<'d>(&self, pos: u32, resources: &'d [Request], pristine: bool) -> Test<'d> {
        let own = self.parts.tree.slots[pos as usize].kind;
        let mismatch = Test { kind: Kind::None, next: resources, n_slots: 0, pristine };
        let (mut resource, mut slots, mut n_slots) = (None::<&Request>, None, 0);
        for request in resources {
            if request.kind == own {
                if resource.is_some() || slots.is_some() {
                    return mismatch;
                }
                resource = Some(request);
                for below in request.with.iter().filter(|below| below.kind == Graph::SLOT) {
                    slots = Some(&request.with[..]);
                    n_slots = below.most;
                }
            } else if request.kind == Graph::SLOT {
                if resource.is_some() {
                    return mismatch;
                }
                slots = Some(resources);
                n_slots = request.most;
            }
        }
        match (slots, resource) {
            (Some(slots), _) if slots.iter().any(|slot| self.can_make(pos, slot)) => {
                Test { kind: Kind::Slot, next: slots, n_slots, pristine: false }
            }
            (None, Some(resource)) => {
                Test { kind: Kind::Resource, next: &resource.with, n_slots, pristine: false }
            }
            _ if pristine => Test { kind: Kind::Above, ..mismatch },
            _ => mismatch,
        }
    }

    /// Returns whether the vertex has children of all types that a slot is made of.
    pub(super) fn can_make(&self, pos: u32, slot: &Request) -> bool {
        slot.with.iter().all(|member| self.parts.tree.has_child_of(pos, member.kind))
    }

    // ---- pruning -----------------------------------------------------------------------------

    /// Returns how much of the vertex is free, or `None` when it or what is below it cannot serve.
    pub(super) fn prune(
        &mut self,
        pos: u32,
        plan: Option<&Plan>,
        resources: &[Request],
        exclusive: bool,
        overrun: bool,
    ) -> Option<i64> {
        self.steps = self.steps.saturating_add(resources.len() + self.constraint_steps(pos));
        if self.is_exhausted() {
            self.failure = Failure::Limit(LimitKind::SearchSteps);
            return None;
        }
        match self.serve(pos, plan, resources, exclusive, overrun) {
            Ok(avail) => Some(avail),
            Err(failure) => {
                self.failure = failure;
                None
            }
        }
    }

    /// Returns how many steps it takes to hold a vertex against the constraint.
    fn constraint_steps(&self, pos: u32) -> usize {
        let constrained = is_constrained(self.parts.tree.slots[pos as usize].kind);
        if constrained { self.aim.constraint_size } else { 0 }
    }

    fn serve(
        &self,
        pos: u32,
        plan: Option<&Plan>,
        resources: &[Request],
        exclusive: bool,
        overrun: bool,
    ) -> Result<i64, Failure> {
        let slot = self.parts.tree.slots[pos as usize];
        let Interval { start, end } = self.aim.window;
        if self.aim.respect_status && slot.down {
            return Err(Failure::Busy);
        }
        if let Some(constraint) = self.aim.constraint
            && is_constrained(slot.kind)
            && !satisfies(self.parts.graph, slot.vertex, constraint)
        {
            return Err(Failure::Busy);
        }
        let size = self.parts.tree.sizes[pos as usize];
        let avail = size - plan.map_or(0, |plan| plan.planned_during(start, end));
        if avail == 0 {
            return Err(Failure::Busy);
        }
        let totals = self.parts.aggregates.totals(slot.totals);
        let lanes = self.parts.aggregates.lanes(slot.kind);
        let mut pruned = false;
        for resource in resources {
            if resource.kind == Graph::SLOT {
                pruned = !enough(resource, lanes, totals, plan, self.aim.window);
                if pruned && !self.aim.flexible {
                    return Err(Failure::Busy);
                }
            } else if resource.kind == slot.kind {
                self.exclusively_free(resource, plan, exclusive, overrun)?;
                if !enough(resource, lanes, totals, plan, self.aim.window) {
                    return Err(Failure::Busy);
                }
                pruned = false;
            }
        }
        if pruned { Err(Failure::Busy) } else { Ok(avail) }
    }

    fn exclusively_free(
        &self,
        resource: &Request,
        plan: Option<&Plan>,
        exclusive: bool,
        overrun: bool,
    ) -> Result<(), Failure> {
        if exclusive && resource.exclusive == Some(false) {
            return Err(Failure::Invalid);
        }
        if !exclusive && resource.exclusive != Some(true) {
            return Ok(());
        }
        if self.aim.respect_overruns && (overrun || plan.is_some_and(Plan::has_allocation)) {
            return Err(Failure::Busy);
        }
        let Interval { start, end } = self.aim.window;
        match plan {
            Some(plan) if plan.users_during(start, end) > 0 => Err(Failure::Busy),
            _ => Ok(()),
        }
    }

    // ---- exploring ---------------------------------------------------------------------------

    /// Visits the children of a vertex. Returns whether one of them matched.
    fn explore(
        &mut self,
        pos: u32,
        resources: &[Request],
        above: Above,
        multiplier: u32,
        scores: &mut Scores,
    ) -> bool {
        if self.first_match {
            return self.explore_until_enough(pos, resources, above, multiplier, scores);
        }
        let tree = self.parts.tree;
        let mut found = false;
        for &child in tree.children(pos) {
            if !self.seen.get(child as usize).copied().unwrap_or(false) {
                found |= self.explore_child(pos, child, resources, above, scores);
            }
        }
        found
    }

    fn explore_child(
        &mut self,
        from: u32,
        child: u32,
        resources: &[Request],
        above: Above,
        scores: &mut Scores,
    ) -> bool {
        let Some((exclusive, choice)) = self.visit(child, resources, above, scores) else {
            return false;
        };
        let count = scores.avail;
        let members = SmallVec::from_buf([Member { pos: child, from, count, exclusive, choice }]);
        let candidate = Candidate { score: scores.overall, count, root: false, members };
        scores.add(self.parts.tree.slots[child as usize].kind, candidate);
        true
    }

    /// Visits children by weight and ends once there are `multiplier` shares of each resource.
    fn explore_until_enough(
        &mut self,
        pos: u32,
        resources: &[Request],
        above: Above,
        multiplier: u32,
        scores: &mut Scores,
    ) -> bool {
        let tree = self.parts.tree;
        let shares = i64::from(multiplier);
        let mut tallies: SmallVec<[Tally; 4]> = SmallVec::new();
        for resource in resources {
            let tally = Tally::new(resource.kind, resource.most);
            match tallies.iter_mut().find(|known| known.kind == resource.kind) {
                Some(known) => *known = tally,
                None => tallies.push(tally),
            }
        }
        let order = self.parts.plans.get(tree.slots[pos as usize].plan);
        let mut weighed = order.and_then(|plan| plan.order.as_ref()).map(|order| order.children());
        let mut found = false;
        for i in 0..tree.children(pos).len() {
            let child = match &mut weighed {
                Some(sorted) => match sorted.next().and_then(|child| tree.position(child)) {
                    Some(child) => child,
                    None => break,
                },
                None => tree.child_by_uniq_id(pos, i),
            };
            if self.seen.get(child as usize).copied().unwrap_or(false) {
                continue;
            }
            let kind = tree.slots[child as usize].kind;
            if tallies.iter().any(|tally| tally.kind == kind && tally.satisfies(shares)) {
                continue;
            }
            if self.explore_child(pos, child, resources, above, scores) {
                found = true;
                for tally in &mut tallies {
                    tally.see_total(scores.of(tally.kind).total);
                }
                if tallies.iter().all(|tally| tally.satisfies(shares)) {
                    break;
                }
            }
        }
        found
    }

    /// Looks along the edges of auxiliary subsystems. What they lead to counts, but is not taken.
    fn explore_auxiliary(
        &mut self,
        pos: u32,
        resources: &[Request],
        above: Above,
        scores: &mut Scores,
    ) {
        for (tree, aggregates) in self.parts.auxiliary {
            let vertex = self.parts.tree.slots[pos as usize].vertex;
            for target in self.parts.graph.children(vertex, tree.subsystem) {
                let Some(there) = tree.position(target) else {
                    continue;
                };
                let dominant = self.parts.tree.position(target);
                let number = dominant.map_or(0, |pos| self.parts.tree.slots[pos as usize].plan);
                let plan = self.parts.plans.get(number);
                let parts = Parts { tree, aggregates, auxiliary: &[], ..self.parts };
                let mut search =
                    Search::new(parts, self.aim, self.limits, self.failure, self.steps);
                let free = search.prune(there, plan, resources, above.exclusive, above.overrun);
                (self.failure, self.steps) = (search.failure, search.steps);
                if free.is_some() {
                    let qualified = if scores.overall > 0 { scores.avail } else { 0 };
                    let kind = self.parts.graph.kind(target);
                    scores.add_auxiliary(tree.subsystem, kind, qualified);
                    if self.first_match {
                        // Asking how much of a resource was found there makes it count as missing.
                        for resource in resources {
                            scores.add_auxiliary(tree.subsystem, resource.kind, 0);
                        }
                    }
                }
            }
        }
    }

    // ---- slots -------------------------------------------------------------------------------

    fn fill_slots(&mut self, pos: u32, test: &Test<'_>, above: Above, scores: &mut Scores) {
        let above = Above { exclusive: true, ..above };
        let mut union = Vec::new();
        let members = if self.aim.flexible {
            union = slot_union(test.next);
            &union[..]
        } else {
            test.next
        };
        let mut found = Scores::new();
        if !self.explore(pos, members, above, test.n_slots, &mut found) {
            return;
        }
        let mut runs = Runs::default();
        let kinds: SmallVec<[TypeId; 4]> = found.evals.iter().map(|evals| evals.kind).collect();
        for kind in kinds {
            let all = found.of(kind).qualified;
            if !found.choose(kind, all, self.preferences.slot_members, &mut runs) {
                self.failure = Failure::Invalid;
            }
        }
        let shapes: Vec<&Request> = if self.aim.flexible {
            choose_slots(test.next, &union, &mut found, test.n_slots)
        } else {
            let n = whole_slots(members, &mut found);
            return Self::pack(std::iter::repeat_n(members, n), &mut found, scores);
        };
        Self::pack(shapes.into_iter().map(|slot| &slot.with[..]), &mut found, scores);
    }

    /// Makes slots of whole candidates, each type's from the first on. All of them or none.
    fn pack<'d>(
        shapes: impl Iterator<Item = &'d [Request]>,
        found: &mut Scores,
        scores: &mut Scores,
    ) {
        let mut next: SmallVec<[(TypeId, usize); 4]> = SmallVec::new();
        let mut slots = Vec::new();
        for shape in shapes {
            let mut slot = Candidate { score: 1, count: 1, root: false, members: SmallVec::new() };
            for member in shape {
                let evals = found.of(member.kind);
                let count = i64::from(evals.fit(&member.count));
                let known = next.iter().position(|(kind, _)| *kind == member.kind);
                let at = known.unwrap_or_else(|| {
                    next.push((member.kind, 0));
                    next.len() - 1
                });
                let mut got = 0;
                while got < count {
                    let Some(candidate) = evals.candidates.get(next[at].1) else {
                        return;
                    };
                    next[at].1 += 1;
                    let Some(&first) = candidate.members.first() else {
                        return;
                    };
                    slot.score = slot.score.saturating_add(candidate.score);
                    slot.members.push(Member { exclusive: true, ..first });
                    got += first.count;
                }
            }
            slots.push(slot);
        }
        for slot in slots {
            scores.add(Graph::SLOT, slot);
        }
    }
}

pub(super) fn wants_exclusive(resources: &[Request], kind: TypeId) -> bool {
    resources.iter().any(|resource| resource.kind == kind && resource.exclusive == Some(true))
}

/// Returns whether what one of `resource` needs is free below a vertex.
fn enough(
    resource: &Request,
    lanes: &[TypeId],
    totals: Option<&[i64]>,
    plan: Option<&Plan>,
    window: Interval,
) -> bool {
    let Some(totals) = totals else { return true };
    if resource.needs.is_empty() {
        return true;
    }
    lanes.iter().zip(totals).enumerate().all(|(lane, (&kind, &total))| {
        let wanted = need(&resource.needs, kind);
        let taken = || plan.map_or(0, |plan| plan.tracked_during(window.start, window.end, lane));
        wanted <= total && (wanted == 0 || wanted <= total - taken())
    })
}

/// Returns how many slots whole candidates make.
fn whole_slots(shape: &[Request], found: &mut Scores) -> usize {
    let slots = shape.iter().map(|member| {
        let evals = found.of(member.kind);
        let mut tally = Tally::new(member.kind, evals.fit(&member.count));
        if tally.satisfies(1) {
            return 0; // nothing of it fits
        }
        for candidate in &evals.candidates {
            tally.add(candidate.members.first().map_or(0, |member| member.count));
        }
        usize::try_from(tally.shares).unwrap_or(0)
    });
    // A slot of nothing would make slots without end.
    slots.min().unwrap_or(0)
}

/// Returns one request for each type that some slot asks for: the one that asks for the most.
fn slot_union(slots: &[Request]) -> Vec<Request> {
    let mut union: BTreeMap<TypeId, Request> = BTreeMap::new();
    for member in slots.iter().flat_map(|slot| &slot.with) {
        match union.get_mut(&member.kind) {
            Some(known) if known.count.min >= member.count.min => {}
            Some(known) => *known = member.clone(),
            None => {
                union.insert(member.kind, member.clone());
            }
        }
    }
    union.into_values().collect()
}

/// Returns the slots to be made, in order, so that there are as many as possible.
fn choose_slots<'d>(
    slots: &'d [Request],
    union: &[Request],
    found: &mut Scores,
    n_slots: u32,
) -> Vec<&'d Request> {
    type Left = SmallVec<[u32; 4]>;
    let left: Left = union
        .iter()
        .map(|member| u32::try_from(found.of(member.kind).qualified).unwrap_or(u32::MAX))
        .collect();
    let take = |slot: &Request, left: &Left| -> Option<Left> {
        let mut after = left.clone();
        for member in &slot.with {
            let at = union.iter().position(|known| known.kind == member.kind)?;
            let count = member.count.largest_at_most(left[at]);
            if count == 0 {
                return None;
            }
            after[at] = after[at].checked_sub(count)?;
        }
        Some(after)
    };
    if let [slot] = slots {
        let fits = |member: &Request| {
            let at = union.iter().position(|known| known.kind == member.kind)?;
            left[at].checked_div(member.count.largest_at_most(left[at]))
        };
        let n = slot.with.iter().map(|member| fits(member).unwrap_or(0)).min();
        let n = n.map_or(n_slots, |n| n.min(n_slots));
        return vec![slot; n as usize];
    }
    // The best that can be made of what is left: how many slots, and which one first.
    let mut best: FxHashMap<Left, (u32, Option<(usize, Left)>)> = FxHashMap::default();
    let mut todo = vec![left.clone()];
    while let Some(state) = todo.last().cloned() {
        if best.contains_key(&state) {
            todo.pop();
            continue;
        }
        let after: Vec<(usize, Left)> = slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| !slot.with.is_empty())
            .filter_map(|(i, slot)| Some((i, take(slot, &state)?)))
            .collect();
        let open = after.iter().filter(|(_, after)| !best.contains_key(after));
        let open: Vec<Left> = open.map(|(_, after)| after.clone()).collect();
        if open.is_empty() {
            let mut choice = (0, None);
            for (i, after) in after {
                let n = best[&after].0 + 1;
                if n > choice.0 {
                    choice = (n, Some((i, after)));
                }
            }
            best.insert(state, choice);
            todo.pop();
        } else {
            todo.extend(open);
        }
    }
    let mut chosen = Vec::new();
    let mut state = left;
    while let Some((_, Some((i, after)))) = best.get(&state) {
        chosen.push(&slots[*i]);
        state = after.clone();
    }
    chosen
}

/// Returns the resources with each `xor_slot` replaced by one of its alternatives, in all ways.
/// `None` when there are more than `most`.
fn split_xor_slots(resources: &[Request], most: usize) -> Option<Vec<Vec<Request>>> {
    let mut variants: Vec<Vec<Request>> = vec![Vec::new()];
    let mut options: Vec<Request> = Vec::new();
    for resource in resources {
        let below = split_xor_slots(&resource.with, most)?;
        if resource.kind == Graph::XOR_SLOT {
            for with in below {
                options.push(Request { kind: Graph::SLOT, with, ..resource.clone() });
                if options.len() > most {
                    return None;
                }
            }
            continue;
        }
        let mut longer = Vec::new();
        for variant in &variants {
            for with in &below {
                let mut variant = variant.clone();
                variant.push(Request { with: with.clone(), ..resource.clone() });
                longer.push(variant);
                if longer.len() > most {
                    return None;
                }
            }
        }
        variants = longer;
    }
    if options.is_empty() {
        return Some(variants);
    }
    if variants.len().checked_mul(options.len())? > most {
        return None;
    }
    let with_option = |variant: &Vec<Request>, option: &Request| {
        let mut variant = variant.clone();
        variant.push(option.clone());
        variant
    };
    let combined = variants
        .iter()
        .flat_map(|variant| options.iter().map(move |option| with_option(variant, option)));
    Some(combined.collect())
}
