//! The compiled view of one subsystem: what the traverser walks.
//!
//! Vertices that the root reaches are numbered in preorder, so that a subtree is the range
//! `pos..end`. What a visit touches stands in one row of 32 bytes.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Graph, Status};
use crate::{Error, SubsystemId, TypeId, VertexId};

/// The position of a vertex that the root does not reach, and the parent of the root.
const NO_POSITION: u32 = u32::MAX;

/// What a visit needs to know of a vertex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) vertex: VertexId,
    pub(crate) parent: u32,
    /// One past the last position of the subtree.
    pub(crate) end: u32,
    /// Where the list of children starts; it ends where that of the next position starts.
    first_child: u32,
    /// The number of the plan, from 1; 0 for a vertex that nobody ever held.
    pub(crate) plan: u32,
    /// Which totals of tracked types the subtree has; [`Tree::NO_TOTALS`] for none.
    pub(crate) totals: u32,
    pub(crate) kind: TypeId,
    /// Which set of types the targets of its edges have, in all subsystems.
    child_types: u16,
    pub(crate) down: bool,
    /// Whether no edge leaves it, in any subsystem.
    pub(crate) leaf: bool,
    /// Whether the children of each type have ascending ids, each once.
    pub(crate) ordered: bool,
    /// Whether the children of each type have one size.
    pub(crate) uniform: bool,
}

const _: () = assert!(size_of::<Slot>() <= 32);

/// The compiled view of one subsystem.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) subsystem: SubsystemId,
    pub(crate) slots: Vec<Slot>,
    /// How much of each position there is.
    pub(crate) sizes: Vec<i64>,
    children: Vec<u32>,
    /// Children by unique id, highest first, where that is not the reverse of `children`.
    by_uniq_id: Option<Vec<u32>>,
    type_sets: Vec<SmallVec<[TypeId; 4]>>,
    positions: Vec<u32>,
    /// What the subtree at each position looks like: subtrees with one number are alike in types
    /// and sizes.
    pub(crate) shapes: Vec<u32>,
    /// Whether some vertex has two parents, so that a walk must remember where it was.
    pub(crate) shared: bool,
}

impl Tree {
    /// The set of types below a leaf.
    const NO_TYPES: u16 = 0;
    /// The totals of a vertex that tracks nothing.
    pub(crate) const NO_TOTALS: u32 = u32::MAX;

    /// Compiles `subsystem`. Edges back to a parent are left out.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoot`], and [`Error::Cycle`] for a longer way back in the containment subsystem.
    pub(crate) fn compile(graph: &Graph, subsystem: SubsystemId) -> Result<Self, Error> {
        let root = graph
            .root(subsystem)
            .ok_or_else(|| Error::NoRoot(graph.subsystem_name(subsystem).to_owned()))?;
        let n = graph.n_vertices();
        let mut slots: Vec<Slot> = Vec::with_capacity(n);
        let mut positions = vec![NO_POSITION; n];
        let mut type_sets: Vec<SmallVec<[TypeId; 4]>> = vec![SmallVec::new()];
        let mut known_sets: FxHashMap<SmallVec<[TypeId; 4]>, u16> = FxHashMap::default();
        // Edges to vertices that were reached before, as (parent, target).
        let mut extra: Vec<(u32, VertexId)> = Vec::new();
        let mut stack = vec![(root, NO_POSITION)];
        while let Some((vertex, parent)) = stack.pop() {
            if positions[vertex.index()] != NO_POSITION {
                match way_up(&slots, parent, vertex) {
                    None => extra.push((parent, vertex)),
                    Some(steps) if steps > 1 && subsystem == Graph::CONTAINMENT => {
                        let path = graph.path(subsystem, vertex).unwrap_or_default();
                        let subsystem = graph.subsystem_name(subsystem).to_owned();
                        return Err(Error::Cycle { subsystem, path });
                    }
                    Some(_) => {}
                }
                continue;
            }
            let pos = u32::try_from(slots.len()).unwrap_or(NO_POSITION);
            positions[vertex.index()] = pos;
            let out = graph.out_edges(vertex);
            let child_types = if out.is_empty() {
                Self::NO_TYPES
            } else {
                let mut types: SmallVec<[TypeId; 4]> = SmallVec::new();
                for &(target, _) in &out {
                    let kind = graph.kind(target);
                    if let Err(at) = types.binary_search(&kind) {
                        types.insert(at, kind);
                    }
                }
                if let Some(&set) = known_sets.get(&types) {
                    set
                } else {
                    let max = u64::from(u16::MAX);
                    let next = u16::try_from(type_sets.len()).map_err(|_| Error::Capacity {
                        what: "kinds of vertices by the types below them",
                        max,
                    })?;
                    known_sets.insert(types.clone(), next);
                    type_sets.push(types);
                    next
                }
            };
            slots.push(Slot {
                vertex,
                parent,
                end: pos + 1,
                first_child: 0,
                plan: 0,
                totals: Self::NO_TOTALS,
                kind: graph.kind(vertex),
                child_types,
                down: graph.status(vertex) == Status::Down,
                leaf: out.is_empty(),
                ordered: true,
                uniform: true,
            });
            let below = out.iter().rev().filter(|&&(_, edge)| edge == subsystem);
            stack.extend(below.map(|&(target, _)| (target, pos)));
        }
        for pos in (1..slots.len()).rev() {
            let Slot { parent, end, .. } = slots[pos];
            let above = &mut slots[parent as usize];
            above.end = above.end.max(end);
        }
        let sizes = slots
            .iter()
            .map(|slot| i64::try_from(graph.size(slot.vertex)).unwrap_or(i64::MAX))
            .collect();
        let shared = !extra.is_empty();
        let mut tree = Self {
            subsystem,
            slots,
            sizes,
            children: Vec::new(),
            by_uniq_id: None,
            type_sets,
            positions,
            shapes: Vec::new(),
            shared,
        };
        tree.link_children(graph);
        // Shapes and comparisons read different things of the same tree.
        let (shapes, alike) = rayon::join(|| tree.find_shapes(), || tree.compare_siblings(graph));
        tree.shapes = shapes;
        for (slot, (ordered, uniform)) in tree.slots.iter_mut().zip(alike) {
            (slot.ordered, slot.uniform) = (ordered, uniform);
        }
        Ok(tree)
    }

    /// Returns the number of vertices on the longest way down.
    ///
    /// **Complexity**: O(n), and O(n log n) where vertices have several parents.
    pub(crate) fn depth(&self) -> usize {
        let mut order: Vec<u32> = (0..as_u32(self.len())).rev().collect();
        if self.shared {
            // What a walk is done with first; an edge never leads to something later.
            order.sort_by_key(|&pos| self.slots[pos as usize].end);
        }
        let mut heights = vec![1; self.len()];
        for pos in order {
            let below = self.children(pos).iter().map(|&child| heights[child as usize]).max();
            heights[pos as usize] += below.unwrap_or(0);
        }
        heights.first().copied().unwrap_or(0)
    }

    fn link_children(&mut self, graph: &Graph) {
        let n = self.slots.len();
        self.children = vec![0; n.saturating_sub(1)];
        if self.shared {
            self.children.clear();
            for pos in 0..n {
                self.slots[pos].first_child = as_u32(self.children.len());
                for target in graph.children(self.slots[pos].vertex, self.subsystem) {
                    let child = self.positions[target.index()];
                    let back =
                        child as usize <= pos && pos < self.slots[child as usize].end as usize;
                    if !back {
                        self.children.push(child);
                    }
                }
            }
        } else {
            let mut counts = vec![0_u32; n];
            for slot in &self.slots[1..] {
                counts[slot.parent as usize] += 1;
            }
            let mut next = 0;
            for (slot, count) in self.slots.iter_mut().zip(&mut counts) {
                slot.first_child = next;
                next += std::mem::replace(count, next);
            }
            // `counts` now holds where the next child of each position goes.
            for pos in 1..n {
                let at = &mut counts[self.slots[pos].parent as usize];
                self.children[*at as usize] = as_u32(pos);
                *at += 1;
            }
        }
        let uniq_id = |&child: &u32| graph.uniq_id(self.slots[child as usize].vertex);
        let lists = 0..as_u32(n);
        let ascending = |pos: u32| self.children(pos).is_sorted_by_key(uniq_id);
        if !lists.clone().all(ascending) {
            let mut sorted = self.children.clone();
            for pos in lists {
                sorted[self.child_range(pos)]
                    .sort_by_key(|child| std::cmp::Reverse(uniq_id(child)));
            }
            self.by_uniq_id = Some(sorted);
        }
    }

    /// Returns where the children of each type are ordered by id and where they are of one size.
    fn compare_siblings(&self, graph: &Graph) -> Vec<(bool, bool)> {
        let mut alike = Vec::with_capacity(self.slots.len());
        // The last id and the size of each type among the children seen so far.
        let mut seen: SmallVec<[(TypeId, i64, i64); 8]> = SmallVec::new();
        for pos in 0..self.slots.len() {
            let (mut ordered, mut uniform) = (true, true);
            seen.clear();
            for &child in &self.children[self.child_range(as_u32(pos))] {
                let slot = &self.slots[child as usize];
                let (id, size) = (graph.id(slot.vertex), self.sizes[child as usize]);
                match seen.iter_mut().rfind(|entry| entry.0 == slot.kind) {
                    Some(entry) => {
                        ordered &= entry.1 < id;
                        uniform &= entry.2 == size;
                        entry.1 = id;
                    }
                    None => seen.push((slot.kind, id, size)),
                }
            }
            alike.push((ordered, uniform));
        }
        alike
    }

    /// Numbers shapes from the leaves up.
    fn find_shapes(&self) -> Vec<u32> {
        let mut shapes = vec![0; self.slots.len()];
        let mut known: FxHashMap<(TypeId, i64, u64, u64), u32> = FxHashMap::default();
        let mut last = ((TypeId(0), 0, 0, 0), u32::MAX);
        for pos in (0..self.slots.len()).rev() {
            // Two independent hashes of the children's shapes make mistaking one list for another
            // less likely than a fault of the machine.
            let (mut first, mut second) = (0x51_7cc1_b727_220a_u64, 0x9e37_79b9_7f4a_7c15_u64);
            for &child in &self.children[self.child_range(as_u32(pos))] {
                let shape = u64::from(shapes[child as usize]) + 1;
                first = (first.rotate_left(5) ^ shape).wrapping_mul(0x9fb2_1c65_1e98_df25);
                second = (second ^ shape.wrapping_mul(0xd6e8_feb8_6659_fd93)).rotate_left(27);
                second = second.wrapping_mul(0x0100_0000_01b3);
            }
            let key = (self.slots[pos].kind, self.sizes[pos], first, second);
            if last.0 != key || last.1 == u32::MAX {
                let next = as_u32(known.len());
                last = (key, *known.entry(key).or_insert(next));
            }
            shapes[pos] = last.1;
        }
        shapes
    }

    fn child_range(&self, pos: u32) -> std::ops::Range<usize> {
        let next = self.slots.get(pos as usize + 1);
        let end = next.map_or(self.children.len(), |slot| slot.first_child as usize);
        self.slots[pos as usize].first_child as usize..end
    }

    /// Returns the children in input order.
    pub(crate) fn children(&self, pos: u32) -> &[u32] {
        &self.children[self.child_range(pos)]
    }

    /// Returns the `i`-th child by unique id, highest first.
    pub(crate) fn child_by_uniq_id(&self, pos: u32, i: usize) -> u32 {
        let range = self.child_range(pos);
        match &self.by_uniq_id {
            Some(sorted) => sorted[range.start + i],
            None => self.children[range.end - 1 - i],
        }
    }

    /// Returns the position of a vertex, if the root reaches it.
    pub(crate) fn position(&self, vertex: VertexId) -> Option<u32> {
        self.positions.get(vertex.index()).copied().filter(|&pos| pos != NO_POSITION)
    }

    /// Returns whether an edge leads from `pos` to a vertex of type `kind`.
    pub(crate) fn has_child_of(&self, pos: u32, kind: TypeId) -> bool {
        let set = self.slots[pos as usize].child_types;
        self.type_sets[set as usize].binary_search(&kind).is_ok()
    }

    /// Returns the positions above `pos`, nearest first.
    pub(crate) fn ancestors(&self, pos: u32) -> impl Iterator<Item = u32> {
        let above =
            |&pos: &u32| Some(self.slots[pos as usize].parent).filter(|&p| p != NO_POSITION);
        std::iter::successors(above(&pos), above)
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.sizes.capacity() * size_of::<i64>()
            + (self.children.capacity() + self.positions.capacity()) * size_of::<u32>()
            + self.by_uniq_id.as_ref().map_or(0, |sorted| sorted.capacity() * size_of::<u32>())
    }
}

/// How many steps lead up from `pos` (counted as the first) to `vertex`, if it stands there.
fn way_up(slots: &[Slot], pos: u32, vertex: VertexId) -> Option<usize> {
    let above = |&pos: &u32| Some(slots[pos as usize].parent).filter(|&pos| pos != NO_POSITION);
    let start = Some(pos).filter(|&pos| pos != NO_POSITION);
    std::iter::successors(start, above)
        .position(|pos| slots[pos as usize].vertex == vertex)
        .map(|steps| steps + if slots[pos as usize].vertex == vertex { 2 } else { 0 })
}

fn as_u32(n: usize) -> u32 {
    // Positions are fewer than vertex ids, and an edge list is bounded by `VertexId::LIMIT` too.
    u32::try_from(n).unwrap_or(u32::MAX)
}
