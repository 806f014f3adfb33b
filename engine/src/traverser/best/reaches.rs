//! Where scores lie in each subtree, measured once for a graph and a policy.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::demand::Request;
use crate::graph::{Slot, Tree};
use crate::policy::{Candidate, MatchPolicy, Preference, Scoring};
use crate::{Graph, TypeId};

/// In which order the children of a vertex are the better the earlier, judged by the best vertex of
/// one type that each is or has below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Order {
    /// From the first to the last. Children side by side may be equally good.
    Forward,
    /// From the last to the first. No two are equally good.
    Backward,
    /// In no order.
    None,
}

/// The lowest and the highest score of the vertices of one type in a subtree, less what the
/// vertices above the subtree contribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reach {
    pub(super) kind: TypeId,
    pub(super) order: Order,
    /// Whether the vertices of the type have each score from the lowest to the highest once, in
    /// discovery order, and they and all between them and the top of the subtree are alike.
    pub(super) dense: bool,
    pub(super) low: i64,
    pub(super) high: i64,
}

type Row = SmallVec<[Reach; 4]>;

/// Where scores lie in each subtree.
#[derive(Clone, Debug)]
pub(crate) struct Reaches {
    rows: Vec<Row>,
    /// The row of each position that has something below it.
    row_of: Vec<u32>,
    /// The smallest and the largest size of each type.
    sizes: Vec<(i64, i64)>,
    /// Whether the children of each type have ascending ids, each once, at every vertex.
    distinct: bool,
    /// Whether low scores are preferred.
    ascending: bool,
}

impl Reaches {
    const NO_ROW: u32 = u32::MAX;
    /// The highest id with which no sum of scores that matters overflows.
    const HIGHEST_ID: i64 = 1 << 32;

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
        let mut reaches = Self {
            rows: Vec::new(),
            row_of: vec![Self::NO_ROW; tree.len()],
            sizes: vec![(i64::MAX, 0); graph.n_types()],
            distinct: true,
            ascending: order.children == Preference::Ascending,
        };
        let mut known: FxHashMap<Row, u32> = FxHashMap::default();
        for pos in (0..tree.len()).rev() {
            let slot = tree.slots[pos];
            let id = graph.id(slot.vertex);
            if !(-1..=Self::HIGHEST_ID).contains(&id) {
                return None;
            }
            let (smallest, largest) = &mut reaches.sizes[slot.kind.index()];
            *smallest = (*smallest).min(tree.sizes[pos]);
            *largest = (*largest).max(tree.sizes[pos]);
            reaches.distinct &= slot.ordered;
            let pos = u32::try_from(pos).ok()?;
            if tree.children(pos).is_empty() {
                continue;
            }
            let contribution = if contributing.contains(&slot.kind) {
                policy.contribution(id, graph.uniq_id(slot.vertex))?
            } else {
                0
            };
            let mut survey = Survey::new(contribution, reaches.ascending);
            for &child in tree.children(pos) {
                let slot = tree.slots[child as usize];
                let score = policy.score(&Candidate {
                    id: graph.id(slot.vertex),
                    uniq_id: graph.uniq_id(slot.vertex),
                    above: 0,
                    properties: None,
                });
                survey.visit(slot, score, tree.shapes[child as usize], reaches.row(child));
            }
            let row = survey.finish();
            let next = u32::try_from(reaches.rows.len()).ok()?;
            reaches.row_of[pos as usize] = *known.entry(row).or_insert_with_key(|row| {
                reaches.rows.push(row.clone());
                next
            });
        }
        Some(reaches)
    }

    fn row(&self, pos: u32) -> &[Reach] {
        self.rows.get(self.row_of[pos as usize] as usize).map_or(&[], |row| row)
    }

    /// Returns whether what slots are made of has size 1. Otherwise a slot can score better when
    /// less is free, since it then consists of other vertices or of more of them.
    pub(super) fn units_alone(&self, request: &Request) -> bool {
        request.kind != Graph::SLOT
            || request.with.iter().all(|member| self.sizes[member.kind.index()] == (1, 1))
    }

    /// Returns where the scores of vertices of type `kind` strictly below `pos` lie.
    pub(super) fn below(&self, pos: u32, kind: TypeId) -> Option<Reach> {
        self.row(pos).iter().find(|reach| reach.kind == kind).copied()
    }

    /// Returns in which order the children of a vertex are the better the earlier.
    pub(super) fn order(&self, tree: &Tree, pos: u32, request: &Request) -> Order {
        let order = |kind| self.below(pos, kind).map_or(Order::None, |reach| reach.order);
        if request.kind != Graph::SLOT {
            return order(request.kind);
        }
        let Some(first) = request.with.first().map(|member| order(member.kind)) else {
            return Order::None;
        };
        let agrees = |member: &Request| {
            // A child that is a member itself is nothing that slots are made below.
            order(member.kind) == first && !tree.has_child_of(pos, member.kind)
        };
        if request.with.iter().all(agrees) { first } else { Order::None }
    }

    /// Returns a score that nothing below a vertex is better than, `None` if nothing below it can
    /// be what is asked for. `above` is what the vertices above contribute.
    pub(super) fn best_below(&self, pos: u32, request: &Request, above: i64) -> Option<i64> {
        if request.kind != Graph::SLOT {
            return Some(above.saturating_add(self.best_of(self.below(pos, request.kind)?)));
        }
        let mut sum = 1_i64;
        for member in &request.with {
            let reach = self.below(pos, member.kind)?;
            let (smallest, largest) = self.sizes[member.kind.index()];
            let one = above.saturating_add(self.best_of(reach));
            let shares = |count: u32, size: i64| (i64::from(count) - 1) / size.max(1) + 1;
            // Siblings with distinct ids have distinct scores, one apart at least.
            let (n, step) = match (self.ascending, self.distinct) {
                (true, _) => (shares(member.count.min, largest), 1),
                (false, true) => (shares(member.most, smallest).min(one.max(1)), -1),
                (false, false) => (shares(member.most, smallest), 0),
            };
            let step = if self.distinct { step } else { 0 };
            let steps = n.saturating_mul(n - 1) / 2 * step;
            sum = sum.saturating_add(one.saturating_mul(n)).saturating_add(steps);
        }
        Some(sum)
    }

    /// Returns the preferred end of what scores reach.
    fn best_of(&self, reach: Reach) -> i64 {
        if self.ascending { reach.low } else { reach.high }
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.row_of.capacity() * size_of::<u32>() + self.rows.capacity() * size_of::<Row>()
    }
}

/// What is seen of the children of one vertex, from the first on.
struct Survey {
    /// What the vertex contributes.
    contribution: i64,
    ascending: bool,
    seen: SmallVec<[Seen; 4]>,
}

/// What is seen of one type.
struct Seen {
    reach: Reach,
    /// The reach and the shape of the last child.
    last: (Reach, u32),
    forward: bool,
    backward: bool,
}

impl Survey {
    fn new(contribution: i64, ascending: bool) -> Self {
        Self { contribution, ascending, seen: SmallVec::new() }
    }

    /// Looks at a child, its score, its shape, and what it has below it.
    fn visit(&mut self, child: Slot, score: i64, shape: u32, below: &[Reach]) {
        let nested = below.iter().any(|reach| reach.kind == child.kind);
        let own =
            Reach { kind: child.kind, order: Order::None, dense: !nested, low: score, high: score };
        self.add(own, shape);
        for &reach in below {
            if reach.kind == child.kind {
                self.widen(reach);
            } else {
                self.add(reach, shape);
            }
        }
    }

    fn add(&mut self, reach: Reach, shape: u32) {
        let reach = self.raised(reach);
        let better = |a: Reach, b: Reach| {
            if self.ascending { a.low.cmp(&b.low) } else { b.high.cmp(&a.high) }
        };
        let Some(seen) = self.seen.iter_mut().find(|seen| seen.reach.kind == reach.kind) else {
            let last = (reach, shape);
            self.seen.push(Seen { reach, last, forward: true, backward: true });
            return;
        };
        let (last, last_shape) = std::mem::replace(&mut seen.last, (reach, shape));
        let earlier = better(last, reach);
        seen.forward &= earlier != Ordering::Greater;
        seen.backward &= earlier == Ordering::Greater;
        seen.reach.dense &= reach.dense && last_shape == shape && last.high + 1 == reach.low;
        seen.reach.low = seen.reach.low.min(reach.low);
        seen.reach.high = seen.reach.high.max(reach.high);
    }

    /// Counts in what is below a vertex of its own type, which is no child.
    fn widen(&mut self, reach: Reach) {
        let reach = self.raised(reach);
        if let Some(seen) = self.seen.iter_mut().find(|seen| seen.reach.kind == reach.kind) {
            seen.reach.low = seen.reach.low.min(reach.low);
            seen.reach.high = seen.reach.high.max(reach.high);
        }
    }

    fn raised(&self, reach: Reach) -> Reach {
        Reach {
            low: reach.low.saturating_add(self.contribution),
            high: reach.high.saturating_add(self.contribution),
            ..reach
        }
    }

    fn finish(self) -> Row {
        let order = |seen: &Seen| match seen {
            Seen { forward: true, .. } => Order::Forward,
            Seen { backward: true, .. } => Order::Backward,
            _ => Order::None,
        };
        let row = self.seen.iter().map(|seen| Reach { order: order(seen), ..seen.reach });
        let mut row: Row = row.collect();
        row.sort_unstable_by_key(|reach| reach.kind);
        row
    }
}
