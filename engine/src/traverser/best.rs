//! The search that looks at what scores best first and ends when nothing better is left.
//!
//! Where a policy scores by id, the score of a candidate is known before it is looked at, and so is
//! the best score that anything below a vertex can have. The search keeps subtrees and candidates
//! in a heap by that score, ties by discovery order, and takes the best: a subtree is opened, a
//! candidate is tried, and what is tried and fits is chosen. It chooses what the exhaustive search
//! chooses, since nothing that is left in the heap could come before it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::Failure;
use super::demand::{Demand, Request};
use super::dfs::{Above, Mark, Search, Selection, wants_exclusive};
use super::evals::{Member, NO_CHOICE, Runs};
use super::floors::{Floor, Floors};
use crate::graph::Tree;
use crate::planner::Plan;
use crate::policy::{Candidate, MatchPolicy, Preference, Scoring};
use crate::{Graph, TypeId};

/// The lowest and the highest score of the vertices of one type in a subtree, less what the
/// vertices above the subtree contribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Reach {
    kind: TypeId,
    low: i64,
    high: i64,
}

/// Where scores lie in each subtree.
#[derive(Clone, Debug)]
pub(crate) struct Reaches {
    rows: Vec<SmallVec<[Reach; 4]>>,
    /// The row of each position that has something below it.
    row_of: Vec<u32>,
    /// The smallest and the largest size of each type.
    sizes: Vec<(i64, i64)>,
    /// Whether the children of each type have ascending ids, each once, at every vertex.
    distinct: bool,
}

impl Reaches {
    const NO_ROW: u32 = u32::MAX;
    /// The largest id with which sums of scores are sure not to overflow.
    const ID_MAX: i64 = i32::MAX as i64;

    /// Measures all subtrees. `None` for a policy that does not score by id in one direction, and
    /// for a graph in which scores may not be positive, there may be none, or subtrees overlap.
    pub(crate) fn measure(
        graph: &Graph,
        tree: &Tree,
        policy: &dyn MatchPolicy,
        contributing: &[TypeId],
    ) -> Option<Self> {
        let order = policy.preferences();
        let one_way = order.children == order.slot_members
            && order.children != Preference::DescendingRuns
            && (order.top == order.children
                || (order.top == Preference::DescendingRuns
                    && order.children == Preference::Descending));
        if policy.scoring() != Scoring::ById || !one_way || policy.first_match() || tree.shared {
            return None;
        }
        let mut sizes = vec![(i64::MAX, 0); graph.n_types()];
        let mut row_of = vec![Self::NO_ROW; tree.len()];
        let mut rows: Vec<SmallVec<[Reach; 4]>> = Vec::new();
        let mut known: FxHashMap<SmallVec<[Reach; 4]>, u32> = FxHashMap::default();
        let mut distinct = true;
        for pos in (0..tree.len()).rev() {
            let slot = tree.slots[pos];
            let id = graph.id(slot.vertex);
            if !(-1..=Self::ID_MAX).contains(&id) {
                return None;
            }
            let (smallest, largest) = &mut sizes[slot.kind.index()];
            *smallest = (*smallest).min(tree.sizes[pos]);
            *largest = (*largest).max(tree.sizes[pos]);
            distinct &= slot.ordered;
            let pos = u32::try_from(pos).ok()?;
            if tree.children(pos).is_empty() {
                continue;
            }
            let contribution = if contributing.contains(&slot.kind) {
                policy.contribution(id, graph.uniq_id(slot.vertex))?
            } else {
                0
            };
            let mut row: SmallVec<[Reach; 4]> = SmallVec::new();
            for &child in tree.children(pos) {
                let below = row_of[child as usize];
                let child = tree.slots[child as usize];
                let own = policy.score(&Candidate {
                    id: graph.id(child.vertex),
                    uniq_id: graph.uniq_id(child.vertex),
                    above: 0,
                    properties: None,
                });
                widen(&mut row, Reach { kind: child.kind, low: own, high: own }, contribution);
                if below != Self::NO_ROW {
                    for &reach in &rows[below as usize] {
                        widen(&mut row, reach, contribution);
                    }
                }
            }
            row.sort_unstable_by_key(|reach| reach.kind);
            let next = u32::try_from(rows.len()).ok()?;
            row_of[pos as usize] = *known.entry(row).or_insert_with_key(|row| {
                rows.push(row.clone());
                next
            });
        }
        Some(Self { rows, row_of, sizes, distinct })
    }

    /// Returns whether what slots are made of has size 1. Otherwise a slot can score better when
    /// less is free, since it then consists of other vertices or of more of them.
    fn units_alone(&self, request: &Request) -> bool {
        request.kind != Graph::SLOT
            || request.with.iter().all(|member| self.sizes[member.kind.index()] == (1, 1))
    }

    /// Returns where the scores of vertices of type `kind` strictly below `pos` lie.
    fn below(&self, pos: u32, kind: TypeId) -> Option<Reach> {
        let row = self.rows.get(self.row_of[pos as usize] as usize)?;
        row.iter().find(|reach| reach.kind == kind).copied()
    }
}

fn widen(row: &mut SmallVec<[Reach; 4]>, reach: Reach, contribution: i64) {
    let low = reach.low.saturating_add(contribution);
    let high = reach.high.saturating_add(contribution);
    match row.iter_mut().find(|known| known.kind == reach.kind) {
        Some(known) => {
            known.low = known.low.min(low);
            known.high = known.high.max(high);
        }
        None => row.push(Reach { kind: reach.kind, low, high }),
    }
}

/// The request is of a form that only the exhaustive search answers as Fluxion does.
struct Unsuited;

/// The vertices of a slot and their score.
struct Filled {
    score: i64,
    members: SmallVec<[Member; 4]>,
}

/// A vertex that fits, or the vertices of a slot.
struct Found {
    score: i64,
    count: i64,
    members: SmallVec<[Member; 4]>,
}

/// The children of one type that are tried for a slot, in order of preference.
struct Cursor {
    sorted: SmallVec<[u32; 8]>,
    next: usize,
}

/// The slots that can be made of the children of one vertex, best first.
struct SlotStream {
    pos: u32,
    above: Above,
    cursors: SmallVec<[Cursor; 4]>,
    /// All slots, where they must be known to tell the best.
    all: Option<std::vec::IntoIter<Filled>>,
}

/// What is in the heap.
enum Item {
    /// A subtree in which nothing matched yet.
    Subtree(Above),
    /// A vertex of the type that is asked for.
    Vertex(Above),
    /// A slot that was made, and the stream that the next one comes from.
    Slot(Filled, usize),
}

/// How good something can be: by score, then by discovery order. Smaller is better.
type Rank = (i64, u32, u32);

impl<'a> Search<'a> {
    /// Searches best first. `None` where the demand, the policy or the graph does not allow it.
    pub(super) fn run_best_first(
        &mut self,
        demand: &Demand,
        floors: &mut Floors,
    ) -> Option<Result<Selection, Failure>> {
        let reaches = self.parts.reaches?;
        let [request] = &demand.resources[..] else {
            return None;
        };
        let suited = self.aim.shortcuts.best_first
            && self.parts.auxiliary.is_empty()
            && !self.aim.flexible
            && !demand.has_labels
            && !demand.shares
            && is_regular(&demand.resources);
        if !suited {
            return None;
        }
        let (visits, failure) = (self.visits, self.failure);
        let list = &demand.resources;
        let steady = is_steady(list) && reaches.units_alone(request);
        self.floor = if steady { floors.take(list, &self.aim) } else { Floor::default() };
        let found = self.select_best(reaches, list, request);
        let floor = std::mem::take(&mut self.floor);
        if steady {
            floors.keep(list, &self.aim, floor);
        }
        match found {
            Ok(Some(selection)) => Some(Ok(selection)),
            Ok(None) => {
                self.failure = Failure::Unsatisfiable;
                Some(Err(self.failure))
            }
            Err(Unsuited) => {
                (self.visits, self.failure) = (visits, failure);
                None
            }
        }
    }

    fn select_best(
        &mut self,
        reaches: &'a Reaches,
        list: &[Request],
        request: &Request,
    ) -> Result<Option<Selection>, Unsuited> {
        let root = self.parts.tree.slots[0];
        let exclusive = wants_exclusive(list, root.kind);
        let above = Above { pristine: true, exclusive, score: 0, overrun: false };
        if request.kind == root.kind {
            let Some(member) = self.try_vertex(0, 0, list, request, above)? else {
                return Ok(None);
            };
            let avail = u32::try_from(member.count).unwrap_or(u32::MAX);
            let needs = i64::from(request.count.largest_at_most(avail));
            if needs == 0 {
                return Ok(None);
            }
            let mut chosen = Vec::new();
            if member.choice != NO_CHOICE {
                chosen.extend_from_slice(self.choice(member.choice));
            }
            return Ok(Some(self.selection(&chosen, needs, exclusive)));
        }
        let mut hunt = Hunt::new(reaches, list, request);
        let found = if self.preferences.top == Preference::DescendingRuns {
            self.find_run(&mut hunt, above)?
        } else {
            let mut found = Vec::new();
            let mut total = 0;
            hunt.push(0, i64::MIN, Item::Subtree(above));
            while total < i64::from(request.most)
                && let Some(candidate) = self.next_candidate(&mut hunt)?
            {
                total += candidate.count;
                found.push(candidate);
            }
            found
        };
        let total: i64 = found.iter().map(|candidate| candidate.count).sum();
        let count =
            i64::from(request.count.largest_at_most(u32::try_from(total).unwrap_or(u32::MAX)));
        if count == 0 {
            return Ok(None);
        }
        let mut chosen = Vec::new();
        let mut left = count;
        for candidate in found {
            if left <= 0 {
                break;
            }
            left -= candidate.count;
            chosen.extend(candidate.members);
        }
        let mut marks = self.marks_of(&chosen);
        self.mark_way(&chosen, &mut marks);
        Ok(Some(Selection {
            marks: sorted(marks),
            root: Mark { pos: 0, from: 0, needs: 1, exclusive },
        }))
    }

    /// Returns the next candidate, in the order of the hunt.
    fn next_candidate(&mut self, hunt: &mut Hunt<'_>) -> Result<Option<Found>, Unsuited> {
        while let Some(Entry { rank: Reverse((key, pos, _)), item }) = hunt.heap.pop() {
            match item {
                Item::Subtree(above) => {
                    let best = self.open(hunt, pos, above)?;
                    if best > key {
                        self.floor.insert(pos, best);
                    }
                }
                Item::Vertex(above) => {
                    let from = self.parts.tree.slots[pos as usize].parent;
                    if let Some(member) =
                        self.try_vertex(pos, from, hunt.list, hunt.request, above)?
                    {
                        let score = self.score(pos, above.score);
                        let members = SmallVec::from_iter([member]);
                        return Ok(Some(Found { score, count: member.count, members }));
                    }
                    self.floor.insert(pos, i64::MAX);
                }
                Item::Slot(Filled { score, members }, stream) => {
                    self.push_slot(hunt, stream)?;
                    return Ok(Some(Found { score, count: 1, members }));
                }
            }
        }
        Ok(None)
    }

    /// Finds candidates for an order by runs: the highest score by a search for it, the candidates
    /// in discovery order from there on until the first of them, as many as can be of use, are in
    /// the run of the highest score. If that does not come about these are all there are, and they
    /// are put in order.
    fn find_run(&mut self, hunt: &mut Hunt<'_>, above: Above) -> Result<Vec<Found>, Unsuited> {
        hunt.push(0, i64::MIN, Item::Subtree(above));
        let Some(Found { score: highest, .. }) = self.next_candidate(hunt)? else {
            return Ok(Vec::new());
        };
        *hunt = Hunt { by_discovery: true, ..Hunt::new(hunt.reaches, hunt.list, hunt.request) };
        hunt.push(0, i64::MIN, Item::Subtree(above));
        let (mut found, mut n_in_run, mut total) = (Vec::<Found>::new(), 0, 0);
        let mut lowest = highest;
        let mut below: FxHashSet<i64> = FxHashSet::default();
        while let Some(candidate) = self.next_candidate(hunt)? {
            if candidate.score < lowest {
                below.insert(candidate.score);
                while lowest.checked_sub(1).is_some_and(|next| below.remove(&next)) {
                    lowest -= 1;
                }
            }
            found.push(candidate);
            while let Some(candidate) = found.get(n_in_run)
                && candidate.score >= lowest
            {
                total += candidate.count;
                n_in_run += 1;
            }
            if total >= i64::from(hunt.request.most) {
                found.truncate(n_in_run);
                return Ok(found);
            }
        }
        let mut runs = Runs::default();
        runs.add(found.iter().map(|candidate| candidate.score));
        found.sort_by_cached_key(|candidate| Reverse(runs.start(candidate.score)));
        Ok(found)
    }

    fn selection(&self, chosen: &[Member], needs: i64, exclusive: bool) -> Selection {
        Selection {
            marks: sorted(self.marks_of(chosen)),
            root: Mark { pos: 0, from: 0, needs, exclusive },
        }
    }

    fn marks_of(&self, chosen: &[Member]) -> Vec<Mark> {
        let mut marks = Vec::with_capacity(chosen.len() * 2);
        let mut todo = chosen.to_vec();
        while let Some(Member { pos, from, count, exclusive, choice }) = todo.pop() {
            marks.push(Mark { pos, from, needs: count, exclusive });
            if choice != NO_CHOICE {
                todo.extend_from_slice(self.choice(choice));
            }
        }
        marks
    }

    /// Marks the way from the root to what was chosen.
    fn mark_way(&self, chosen: &[Member], marks: &mut Vec<Mark>) {
        let tree = self.parts.tree;
        let mut last = NO_CHOICE;
        for member in chosen {
            let mut pos = member.from;
            if std::mem::replace(&mut last, pos) == pos {
                continue; // the way of a sibling
            }
            while pos != 0 {
                let from = tree.slots[pos as usize].parent;
                let needs = tree.sizes[pos as usize];
                marks.push(Mark { pos, from, needs, exclusive: false });
                pos = from;
            }
        }
    }

    /// Opens a subtree in which nothing matched yet: what is in it goes to the heap. Returns the key
    /// of the best of it.
    fn open(&mut self, hunt: &mut Hunt<'_>, pos: u32, above: Above) -> Result<i64, Unsuited> {
        const NOTHING: i64 = i64::MAX;
        if self.barren(pos, hunt.list, above).is_some() {
            return Ok(NOTHING);
        }
        self.visits.preorder += 1;
        let slot = self.parts.tree.slots[pos as usize];
        let plan = self.parts.plans.get(slot.plan);
        if self.prune(pos, plan, hunt.list, above.exclusive, above.overrun).is_none() {
            return Ok(NOTHING);
        }
        let Some(below) = self.below(pos, above, above.exclusive, plan) else {
            return Ok(NOTHING);
        };
        let mut best = NOTHING;
        if hunt.request.kind == Graph::SLOT && self.can_make(pos, hunt.request) {
            let below = Above { pristine: false, exclusive: true, ..below };
            let stream = self.slot_stream(pos, hunt.request, below, !hunt.by_discovery)?;
            hunt.streams.push(stream);
            best = self.push_slot(hunt, hunt.streams.len() - 1)?.unwrap_or(NOTHING);
        } else {
            for &child in self.parts.tree.children(pos) {
                let key = hunt.push_child(self, child, below);
                best = best.min(key.unwrap_or(NOTHING));
            }
            self.visits.postorder += 1;
        }
        if best == NOTHING {
            self.note_barren(pos, hunt.list, above, true);
        }
        Ok(best)
    }

    /// Returns what comes down below a vertex, `None` when the vertex cannot be scored.
    fn below(&self, pos: u32, above: Above, exclusive: bool, plan: Option<&Plan>) -> Option<Above> {
        let slot = self.parts.tree.slots[pos as usize];
        Some(Above {
            pristine: above.pristine,
            exclusive,
            score: above.score.checked_add(self.parts.contribution(slot)?)?,
            overrun: above.overrun || plan.is_some_and(Plan::has_subtree_allocation),
        })
    }

    /// Tries a vertex of the type of `request`, one of `list`.
    fn try_vertex(
        &mut self,
        pos: u32,
        from: u32,
        list: &[Request],
        request: &Request,
        above: Above,
    ) -> Result<Option<Member>, Unsuited> {
        if self.barren(pos, list, above).is_some() {
            return Ok(None);
        }
        self.visits.preorder += 1;
        let slot = self.parts.tree.slots[pos as usize];
        let plan = self.parts.plans.get(slot.plan);
        let exclusive = above.exclusive || request.exclusive == Some(true);
        let Some(count) = self.prune(pos, plan, list, exclusive, above.overrun) else {
            return Ok(None);
        };
        let mut choice = NO_CHOICE;
        if !request.with.is_empty() {
            let Some(below) = self.below(pos, above, exclusive, plan) else {
                return Ok(None);
            };
            let below = Above { pristine: false, ..below };
            let Some(chosen) = self.choose_below(pos, request, below)? else {
                self.note_barren(pos, list, above, true);
                return Ok(None);
            };
            choice = self.keep_choice(chosen.into_iter());
        }
        self.visits.postorder += 1;
        Ok(Some(Member { pos, from, count, exclusive, choice }))
    }

    /// Chooses what a matched vertex asks for below it.
    fn choose_below(
        &mut self,
        pos: u32,
        request: &Request,
        below: Above,
    ) -> Result<Option<SmallVec<[Member; 8]>>, Unsuited> {
        let mut chosen = SmallVec::new();
        if let Some(slot) = request.with.iter().find(|below| below.kind == Graph::SLOT) {
            if !self.can_make(pos, slot) {
                return Err(Unsuited);
            }
            if request.with.len() > 1 {
                return Ok(None); // what stands beside a slot is not looked for
            }
            let below = Above { exclusive: true, ..below };
            let mut stream = self.slot_stream(pos, slot, below, true)?;
            let mut ends = Vec::new();
            while ends.len() < slot.most as usize {
                let Some(filled) = self.next_slot(&mut stream, slot)? else {
                    break;
                };
                chosen.extend(filled.members);
                ends.push(chosen.len());
            }
            let n = u32::try_from(ends.len()).unwrap_or(u32::MAX);
            return Ok(match slot.count.largest_at_most(n) {
                0 => None,
                n => {
                    chosen.truncate(ends[n as usize - 1]);
                    Some(chosen)
                }
            });
        }
        for wanted in &request.with {
            let mut cursor = self.cursor(pos, wanted.kind);
            let start = chosen.len();
            let mut total = 0_i64;
            while total < i64::from(wanted.most) {
                let Some(member) = self.advance(pos, &mut cursor, &request.with, wanted, below)?
                else {
                    break;
                };
                total = total.saturating_add(member.count);
                chosen.push(member);
            }
            let total = u32::try_from(total).unwrap_or(u32::MAX);
            let mut left = i64::from(wanted.count.largest_at_most(total));
            if left == 0 {
                return Ok(None);
            }
            let mut end = start;
            while left > 0 {
                left -= chosen[end].count;
                end += 1;
            }
            chosen.truncate(end);
        }
        Ok(Some(chosen))
    }

    /// Returns the children of a type in order of preference.
    fn cursor(&self, pos: u32, kind: TypeId) -> Cursor {
        let tree = self.parts.tree;
        let of_kind = |&child: &u32| tree.slots[child as usize].kind == kind;
        let mut sorted: SmallVec<[u32; 8]> =
            tree.children(pos).iter().copied().filter(of_kind).collect();
        let id = |child: u32| self.parts.graph.id(tree.slots[child as usize].vertex);
        match (self.preferences.children, tree.slots[pos as usize].ordered) {
            (Preference::Ascending, true) => {}
            (Preference::Ascending, false) => sorted.sort_by_key(|&child| id(child)),
            (_, true) => sorted.reverse(),
            (_, false) => sorted.sort_by_key(|&child| Reverse(id(child))),
        }
        Cursor { sorted, next: 0 }
    }

    /// Returns the next child that fits.
    fn advance(
        &mut self,
        pos: u32,
        cursor: &mut Cursor,
        list: &[Request],
        wanted: &Request,
        above: Above,
    ) -> Result<Option<Member>, Unsuited> {
        while let Some(&child) = cursor.sorted.get(cursor.next) {
            cursor.next += 1;
            if let Some(member) = self.try_vertex(child, pos, list, wanted, above)? {
                return Ok(Some(member));
            }
        }
        Ok(None)
    }

    // ---- slots -------------------------------------------------------------------------------

    fn slot_stream(
        &mut self,
        pos: u32,
        slot: &Request,
        above: Above,
        sorted: bool,
    ) -> Result<SlotStream, Unsuited> {
        let cursors = slot.with.iter().map(|member| self.cursor(pos, member.kind)).collect();
        let mut stream = SlotStream { pos, above, cursors, all: None };
        let fixed = slot.with.iter().all(|member| member.count.is_fixed());
        // Slots of equal numbers of vertices come in the order of their scores.
        if !fixed || !self.parts.tree.slots[pos as usize].uniform {
            let mut all = self.all_slots(&mut stream, slot)?;
            match self.preferences.children {
                _ if !sorted => {}
                Preference::Ascending => all.sort_by_key(|filled| filled.score),
                _ => all.sort_by_key(|filled| Reverse(filled.score)),
            }
            stream.all = Some(all.into_iter());
        }
        Ok(stream)
    }

    /// Returns the next best slot.
    fn next_slot(
        &mut self,
        stream: &mut SlotStream,
        slot: &Request,
    ) -> Result<Option<Filled>, Unsuited> {
        if let Some(all) = &mut stream.all {
            return Ok(all.next());
        }
        let SlotStream { pos, above, cursors, .. } = stream;
        let mut filled = Filled { score: 1, members: SmallVec::new() };
        for (member, cursor) in slot.with.iter().zip(cursors) {
            let mut got = 0;
            while got < i64::from(member.count.min) {
                let Some(next) = self.advance(*pos, cursor, &slot.with, member, *above)? else {
                    return Ok(None);
                };
                got += next.count;
                filled.score = filled.score.saturating_add(self.score(next.pos, above.score));
                filled.members.push(Member { exclusive: true, ..next });
            }
            if got == 0 {
                return Ok(None); // nothing is wanted of it
            }
        }
        Ok((!filled.members.is_empty()).then_some(filled))
    }

    /// Makes all slots.
    fn all_slots(
        &mut self,
        stream: &mut SlotStream,
        slot: &Request,
    ) -> Result<Vec<Filled>, Unsuited> {
        let SlotStream { pos, above, cursors, .. } = stream;
        let mut pools: SmallVec<[(std::vec::IntoIter<Member>, i64); 4]> = SmallVec::new();
        for (member, cursor) in slot.with.iter().zip(cursors) {
            let mut pool = Vec::new();
            while let Some(next) = self.advance(*pos, cursor, &slot.with, member, *above)? {
                pool.push(next);
            }
            let total: i64 = pool.iter().map(|member| member.count).sum();
            let count = member.count.largest_at_most(u32::try_from(total).unwrap_or(u32::MAX));
            if count == 0 {
                return Ok(Vec::new());
            }
            pools.push((pool.into_iter(), i64::from(count)));
        }
        let mut slots = Vec::new();
        'slots: loop {
            let mut filled = Filled { score: 1, members: SmallVec::new() };
            for (pool, count) in &mut pools {
                let mut got = 0;
                while got < *count {
                    let Some(next) = pool.next() else {
                        break 'slots;
                    };
                    got += next.count;
                    filled.score = filled.score.saturating_add(self.score(next.pos, above.score));
                    filled.members.push(Member { exclusive: true, ..next });
                }
            }
            if filled.members.is_empty() {
                break;
            }
            slots.push(filled);
        }
        Ok(slots)
    }

    /// Puts the next slot of a stream into the heap. Returns its key, if there is one.
    fn push_slot(&mut self, hunt: &mut Hunt<'_>, stream: usize) -> Result<Option<i64>, Unsuited> {
        let Some(filled) = self.next_slot(&mut hunt.streams[stream], hunt.request)? else {
            return Ok(None);
        };
        let (pos, score) = (hunt.streams[stream].pos, filled.score);
        let key = hunt.key(self, score);
        hunt.n += 1;
        hunt.heap
            .push(Entry { rank: Reverse((key, pos, hunt.n)), item: Item::Slot(filled, stream) });
        Ok(Some(key))
    }

    fn score(&self, pos: u32, above: i64) -> i64 {
        let vertex = self.parts.tree.slots[pos as usize].vertex;
        self.parts.policy.score(&Candidate {
            id: self.parts.graph.id(vertex),
            uniq_id: self.parts.graph.uniq_id(vertex),
            above,
            properties: None,
        })
    }
}

/// An entry of the heap, which has the best on top.
struct Entry {
    rank: Reverse<Rank>,
    item: Item,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

/// A search under way.
struct Hunt<'r> {
    reaches: &'r Reaches,
    list: &'r [Request],
    request: &'r Request,
    heap: BinaryHeap<Entry>,
    streams: Vec<SlotStream>,
    n: u32,
    /// Whether what is found first comes first, whatever its score.
    by_discovery: bool,
}

impl<'r> Hunt<'r> {
    fn new(reaches: &'r Reaches, list: &'r [Request], request: &'r Request) -> Self {
        let (heap, streams) = (BinaryHeap::new(), Vec::new());
        Self { reaches, list, request, heap, streams, n: 0, by_discovery: false }
    }

    /// Turns a score into a key of which less is better.
    fn key(&self, search: &Search<'_>, score: i64) -> i64 {
        match search.preferences.top {
            _ if self.by_discovery => 0,
            Preference::Ascending => score,
            _ => score.saturating_neg(),
        }
    }

    fn push(&mut self, pos: u32, key: i64, item: Item) {
        self.n += 1;
        self.heap.push(Entry { rank: Reverse((key, pos, self.n)), item });
    }

    /// Puts a child of an opened subtree into the heap, if what is asked for can be in it. Returns
    /// the key under which it is there.
    fn push_child(&mut self, search: &Search<'_>, child: u32, above: Above) -> Option<i64> {
        let kind = search.parts.tree.slots[child as usize].kind;
        let floor = search.floor.get(&child).copied();
        if floor == Some(i64::MAX) || search.barren(child, self.list, above).is_some() {
            return None;
        }
        if kind == self.request.kind {
            let key = self.key(search, search.score(child, above.score));
            self.push(child, key, Item::Vertex(above));
            return Some(key);
        }
        let best = self.key(search, self.best_below(search, child, above.score)?);
        let known = floor.filter(|_| !self.by_discovery);
        let key = known.map_or(best, |floor| floor.max(best));
        self.push(child, key, Item::Subtree(above));
        Some(key)
    }

    /// Returns a score that nothing below a vertex is better than, `None` if nothing below it can
    /// be what is asked for.
    fn best_below(&self, search: &Search<'_>, pos: u32, above: i64) -> Option<i64> {
        if self.request.kind != Graph::SLOT {
            let reach = self.reaches.below(pos, self.request.kind)?;
            return Some(above.saturating_add(best_of(search, reach)));
        }
        let mut sum = 1_i64;
        for member in &self.request.with {
            let reach = self.reaches.below(pos, member.kind)?;
            let (smallest, largest) = self.reaches.sizes[member.kind.index()];
            let one = above.saturating_add(best_of(search, reach));
            let shares = |count: u32, size: i64| (i64::from(count) - 1) / size.max(1) + 1;
            // Siblings with distinct ids have distinct scores, one apart at least.
            let (n, step) = match search.preferences.top {
                Preference::Ascending => (shares(member.count.min, largest), 1),
                _ if self.reaches.distinct => (shares(member.most, smallest).min(one.max(1)), -1),
                _ => (shares(member.most, smallest), 0),
            };
            let step = if self.reaches.distinct { step } else { 0 };
            let steps = n.saturating_mul(n - 1) / 2 * step;
            sum = sum.saturating_add(one.saturating_mul(n)).saturating_add(steps);
        }
        Some(sum)
    }
}

/// Returns the preferred end of what scores reach.
fn best_of(search: &Search<'_>, reach: Reach) -> i64 {
    match search.preferences.top {
        Preference::Ascending => reach.low,
        _ => reach.high,
    }
}

/// Sorts marks by position, each once.
fn sorted(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_unstable_by_key(|mark| mark.pos);
    marks.dedup_by_key(|mark| mark.pos);
    marks
}

/// Returns whether no two resources side by side are of one type, and no slot is without shape.
fn is_regular(list: &[Request]) -> bool {
    list.iter().enumerate().all(|(i, request)| {
        list[..i].iter().all(|other| other.kind != request.kind)
            && (request.kind != Graph::SLOT
                || request.with.iter().all(|member| member.kind != Graph::SLOT))
            && is_regular(&request.with)
    })
}

/// Returns whether what is free can only be of more use than less of it. It is not where slots may
/// have more or less in them: of less they are made smaller, and so there can be more of them.
fn is_steady(list: &[Request]) -> bool {
    list.iter().all(|request| {
        (request.kind != Graph::SLOT || request.with.iter().all(|member| member.count.is_fixed()))
            && is_steady(&request.with)
    })
}
