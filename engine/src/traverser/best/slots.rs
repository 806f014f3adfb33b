//! Slots that can be made of the children of one vertex, best first.

use std::cmp::Reverse;

use smallvec::SmallVec;

use super::super::demand::Request;
use super::super::dfs::{Above, Search};
use super::super::evals::Member;
use super::Unsuited;
use crate::TypeId;
use crate::policy::Preference;

/// The vertices of a slot and their score.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) score: i64,
    pub(super) members: SmallVec<[Member; 4]>,
}

/// The children of one type that are tried for a slot, in order of preference.
pub(super) struct Cursor {
    sorted: SmallVec<[u32; 8]>,
    next: usize,
}

/// The slots that can be made of the children of one vertex, best first.
pub(super) struct SlotStream {
    pub(super) pos: u32,
    above: Above,
    cursors: SmallVec<[Cursor; 4]>,
    /// All slots, where they must be known to tell the best.
    all: Option<std::vec::IntoIter<Filled>>,
    /// The slot that is in the heap.
    pub(super) next: Option<Filled>,
    /// The key of the first slot.
    pub(super) first: Option<i64>,
}

impl Search<'_> {
    /// Returns the children of a type in order of preference.
    pub(super) fn cursor(&self, pos: u32, kind: TypeId) -> Cursor {
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
    pub(super) fn advance(
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

    pub(super) fn slot_stream(
        &mut self,
        pos: u32,
        slot: &Request,
        above: Above,
        sorted: bool,
    ) -> Result<SlotStream, Unsuited> {
        let cursors = slot.with.iter().map(|member| self.cursor(pos, member.kind)).collect();
        let mut stream = SlotStream { pos, above, cursors, all: None, next: None, first: None };
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
    pub(super) fn next_slot(
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
}
