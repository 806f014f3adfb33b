//! The hunt for candidates: a heap of what was not looked at yet, the best on top.

use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::super::demand::Request;
use super::super::dfs::{Above, Search};
use super::super::evals::Member;
use super::super::frontier::Frontier;
use super::reaches::{Order, Reaches};
use super::slots::SlotStream;
use super::{Found, Unsuited};
use crate::Graph;
use crate::policy::Preference;

/// What is in the heap. Ranks are by key, then by discovery order; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(super) key: i64,
    pub(super) pos: u32,
    pub(super) item: Item,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// A vertex of the type that is asked for, or a subtree in which nothing matched yet.
    Vertex,
    /// The same, and the siblings that come after it, each no better than the one before.
    Siblings {
        /// Where among the children of its parent it is.
        at: u32,
        /// Whether those before it come after it.
        backward: bool,
    },
    /// The next slot of a stream.
    Slot(u32),
    /// The last of the children of this vertex was handed out.
    Last(u32),
}

/// A search under way.
pub(super) struct Hunt<'r> {
    pub(super) reaches: &'r Reaches,
    pub(super) list: &'r [Request],
    pub(super) request: &'r Request,
    /// Whether what is found first comes first, whatever its score.
    by_discovery: bool,
    heap: BinaryHeap<std::cmp::Reverse<Entry>>,
    pub(super) streams: Vec<SlotStream>,
    /// What comes down to the children of vertices, `None` where a vertex cannot serve.
    below: FxHashMap<u32, Option<Above>>,
    /// What was handed out, where something may be in the heap twice.
    handed_out: Option<FxHashSet<u32>>,
}

impl<'r> Hunt<'r> {
    pub(super) fn new(reaches: &'r Reaches, list: &'r [Request], request: &'r Request) -> Self {
        Self {
            reaches,
            list,
            request,
            by_discovery: false,
            heap: BinaryHeap::new(),
            streams: Vec::new(),
            below: FxHashMap::default(),
            handed_out: None,
        }
    }

    /// Returns a hunt for the same, with nothing in its heap, in discovery order.
    pub(super) fn by_discovery(&self) -> Self {
        Self { by_discovery: true, ..Self::new(self.reaches, self.list, self.request) }
    }

    /// Goes on from where an earlier hunt ended.
    pub(super) fn resume(&mut self, search: &mut Search<'_>, frontier: &mut Frontier) {
        self.heap = std::mem::take(&mut frontier.entries).into();
        for pos in std::mem::take(&mut frontier.returned) {
            self.push(search, pos);
        }
        self.handed_out = frontier.doubled.then(FxHashSet::default);
    }

    /// Leaves behind what a later hunt is to go on from. `found` may be found again.
    pub(super) fn suspend(self, search: &Search<'_>, found: &[Found], frontier: &mut Frontier) {
        let mut entries = self.heap;
        entries.retain(|entry| !matches!(entry.0.item, Item::Slot(_) | Item::Last(_)));
        let again = |key, pos| std::cmp::Reverse(Entry { key, pos, item: Item::Vertex });
        if self.request.kind == Graph::SLOT {
            // What is left of a stream is found by making its slots anew.
            for stream in &self.streams {
                if let Some(key) = stream.first {
                    frontier.worn.insert(stream.pos);
                    entries.push(again(key, stream.pos));
                }
            }
        } else {
            let key = |score| key(search, score);
            let members = |found: &Found| again(key(found.score), found.members[0].pos);
            entries.extend(found.iter().map(members));
        }
        frontier.entries = entries.into_vec();
    }

    /// Turns a score into a key of which less is better.
    fn key(&self, search: &Search<'_>, score: i64) -> i64 {
        if self.by_discovery { 0 } else { key(search, score) }
    }

    /// Returns the key of the best that a vertex is or has below it, `None` where that is nothing.
    fn key_of(&self, search: &Search<'_>, pos: u32, above: i64) -> Option<i64> {
        let kind = search.parts.tree.slots[pos as usize].kind;
        let best = if kind == self.request.kind {
            search.score(pos, above)
        } else {
            self.reaches.best_below(pos, self.request, above)?
        };
        Some(self.key(search, best))
    }

    /// Puts a vertex into the heap, if what is asked for can be there or below.
    pub(super) fn push(&mut self, search: &mut Search<'_>, pos: u32) {
        if let Some(above) = search.above(self, pos)
            && let Some(key) = self.key_of(search, pos, above.score)
        {
            self.add(key, pos, Item::Vertex);
        }
    }

    fn add(&mut self, key: i64, pos: u32, item: Item) {
        self.heap.push(std::cmp::Reverse(Entry { key, pos, item }));
    }

    /// Puts the children of a vertex into the heap. Returns whether there are any to put.
    fn push_children(&mut self, search: &Search<'_>, pos: u32, below: Above) -> bool {
        let tree = search.parts.tree;
        let n = tree.children(pos).len();
        let order = if self.by_discovery {
            Order::Forward
        } else {
            self.reaches.order(tree, pos, self.request)
        };
        match order {
            Order::Forward => self.push_siblings(search, pos, below, (0..n).map(|at| (at, false))),
            Order::Backward => {
                self.push_siblings(search, pos, below, (0..n).rev().map(|at| (at, true)))
            }
            Order::None => {
                let before = self.heap.len();
                for &child in tree.children(pos) {
                    if !search.is_spent(child)
                        && let Some(key) = self.key_of(search, child, below.score)
                    {
                        self.add(key, child, Item::Vertex);
                    }
                }
                self.heap.len() > before
            }
        }
    }

    /// Puts the next sibling into the heap. `rest` tells where among the children of `parent` the
    /// siblings are that are left, and whether they are gone through backward.
    fn push_siblings(
        &mut self,
        search: &Search<'_>,
        parent: u32,
        below: Above,
        rest: impl Iterator<Item = (usize, bool)>,
    ) -> bool {
        let children = search.parts.tree.children(parent);
        for (at, backward) in rest {
            let child = children[at];
            if !search.is_spent(child)
                && let Some(key) = self.key_of(search, child, below.score)
            {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                self.add(key, child, Item::Siblings { at, backward });
                return true;
            }
        }
        false
    }

    /// Puts the sibling after one that was handed out into the heap.
    fn advance(&mut self, search: &Search<'_>, entry: Entry, at: usize, backward: bool) {
        let tree = search.parts.tree;
        let parent = tree.slots[entry.pos as usize].parent;
        let Some(&Some(below)) = self.below.get(&parent) else {
            return;
        };
        let more = if backward {
            self.push_siblings(search, parent, below, (0..at).rev().map(|at| (at, true)))
        } else {
            let n = tree.children(parent).len();
            self.push_siblings(search, parent, below, (at + 1..n).map(|at| (at, false)))
        };
        if !more {
            // To be taken after all that is in the subtree and no worse.
            let end = tree.slots[parent as usize].end - 1;
            self.add(entry.key, end, Item::Last(parent));
        }
    }

    /// Lets the siblings after one that is in the heap begin at another.
    pub(super) fn skip_to(&mut self, search: &Search<'_>, parent: u32, at: usize) {
        if let Some(&Some(below)) = self.below.get(&parent) {
            self.push_siblings(search, parent, below, (0..at).rev().map(|at| (at, true)));
        }
    }

    /// Takes the best entry out.
    pub(super) fn pop(&mut self) -> Option<Entry> {
        self.heap.pop().map(|entry| entry.0)
    }

    /// Puts the next slot of a stream into the heap. Returns whether there is one.
    fn push_slot(&mut self, search: &mut Search<'_>, stream: u32) -> Result<bool, Unsuited> {
        let slots = &mut self.streams[stream as usize];
        let Some(next) = search.next_slot(slots, self.request)? else {
            return Ok(false);
        };
        let key = if self.by_discovery { 0 } else { key(search, next.score) };
        slots.first.get_or_insert(key);
        slots.next = Some(next);
        let pos = slots.pos;
        self.add(key, pos, Item::Slot(stream));
        Ok(true)
    }
}

/// Turns a score into a key of which less is better.
fn key(search: &Search<'_>, score: i64) -> i64 {
    match search.preferences.top {
        Preference::Ascending => score,
        _ => score.saturating_neg(),
    }
}

impl Search<'_> {
    /// Returns the next candidate, in the order of the hunt.
    pub(super) fn next_candidate(
        &mut self,
        hunt: &mut Hunt<'_>,
    ) -> Result<Option<Found>, Unsuited> {
        while let Some(entry) = hunt.pop() {
            if let Some(found) = self.take_entry(hunt, entry)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Looks at what was in the heap. Returns what it turns out to be if that is a candidate.
    pub(super) fn take_entry(
        &mut self,
        hunt: &mut Hunt<'_>,
        entry: Entry,
    ) -> Result<Option<Found>, Unsuited> {
        let pos = entry.pos;
        match entry.item {
            Item::Slot(stream) => {
                let made = hunt.streams[stream as usize].next.take();
                hunt.push_slot(self, stream)?;
                return Ok(made.map(|slot| Found {
                    score: slot.score,
                    count: 1,
                    members: slot.members,
                }));
            }
            Item::Last(parent) => {
                self.close(hunt, parent);
                return Ok(None);
            }
            Item::Vertex | Item::Siblings { .. } => {}
        }
        let Some(above) = self.above(hunt, pos) else {
            return Ok(None); // nor can what comes after it be of use
        };
        if let Item::Siblings { at, backward } = entry.item {
            hunt.advance(self, entry, at as usize, backward);
        }
        if hunt.handed_out.as_mut().is_some_and(|before| !before.insert(pos)) {
            return Ok(None);
        }
        let slot = self.parts.tree.slots[pos as usize];
        if slot.kind != hunt.request.kind {
            self.open(hunt, pos, above)?;
            return Ok(None);
        }
        let member = self.try_vertex(pos, slot.parent, hunt.list, hunt.request, above)?;
        let Some(member) = member else {
            self.spend(pos);
            return Ok(None);
        };
        let score = self.score(pos, above.score);
        let members: SmallVec<[Member; 4]> = SmallVec::from_iter([member]);
        Ok(Some(Found { score, count: member.count, members }))
    }

    /// Returns what comes down to a vertex, `None` when one above it cannot serve.
    pub(super) fn above(&mut self, hunt: &mut Hunt<'_>, pos: u32) -> Option<Above> {
        let tree = self.parts.tree;
        let mut unknown: SmallVec<[u32; 8]> = SmallVec::new();
        let mut known = Some(self.above_root(hunt.list));
        for pos in tree.ancestors(pos) {
            if let Some(&below) = hunt.below.get(&pos) {
                known = below;
                break;
            }
            unknown.push(pos);
        }
        for pos in unknown.into_iter().rev() {
            known = known.and_then(|above| self.pass(pos, hunt.list, above));
            hunt.below.insert(pos, known);
        }
        known
    }

    /// Returns what comes down to the children of a vertex in and above which nothing matched yet,
    /// `None` when the vertex cannot serve.
    fn pass(&mut self, pos: u32, list: &[Request], above: Above) -> Option<Above> {
        let plan = self.parts.plans.get(self.parts.tree.slots[pos as usize].plan);
        if self.prune(pos, plan, list, above.exclusive, above.overrun).is_none() {
            self.spend(pos);
            return None;
        }
        self.below(pos, above, above.exclusive, plan)
    }

    /// Opens a subtree in which nothing matched yet: what is in it goes to the heap.
    fn open(&mut self, hunt: &mut Hunt<'_>, pos: u32, above: Above) -> Result<(), Unsuited> {
        if self.barren(pos, hunt.list, above).is_some() {
            return Ok(());
        }
        self.visits.preorder += 1;
        let below = self.pass(pos, hunt.list, above);
        hunt.below.insert(pos, below);
        let Some(below) = below else {
            return Ok(());
        };
        let fruitful = if hunt.request.kind == Graph::SLOT && self.can_make(pos, hunt.request) {
            let below = Above { pristine: false, exclusive: true, ..below };
            let stream = self.slot_stream(pos, hunt.request, below, !hunt.by_discovery)?;
            hunt.streams.push(stream);
            hunt.push_slot(self, u32::try_from(hunt.streams.len() - 1).unwrap_or(u32::MAX))?
        } else {
            self.visits.postorder += 1;
            hunt.push_children(self, pos, below)
        };
        if !fruitful {
            self.spend(pos);
            self.note_barren(pos, hunt.list, above, true);
        }
        Ok(())
    }

    /// Notes that nothing is left in a subtree, if that is so now that all its children were handed
    /// out.
    fn close(&mut self, hunt: &mut Hunt<'_>, pos: u32) {
        let Some(above) = self.above(hunt, pos) else {
            return;
        };
        let Some(&Some(below)) = hunt.below.get(&pos) else {
            return;
        };
        let tree = self.parts.tree;
        let mut is_barren = true;
        for &child in tree.children(pos) {
            if hunt.key_of(self, child, below.score).is_none() {
                continue;
            }
            let barren = self.barren(child, hunt.list, below).is_some();
            if !barren && !self.is_spent(child) {
                return;
            }
            is_barren &= barren;
        }
        self.spend(pos);
        if is_barren {
            self.note_barren(pos, hunt.list, above, true);
        }
    }

    fn spend(&mut self, pos: u32) {
        if let Some(spent) = &mut self.spent {
            spent.insert(pos);
        }
    }

    fn is_spent(&self, pos: u32) -> bool {
        self.spent.as_ref().is_some_and(|spent| spent.contains(pos))
    }
}
