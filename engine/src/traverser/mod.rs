//! Matching: from a demand to the vertices that meet it, and from those to the planners.

mod best;
mod commit;
mod demand;
mod dfs;
mod evals;
mod frontier;

pub(crate) use best::Reaches;
pub(crate) use commit::{Hold, Taking, Walk};
pub(crate) use demand::{Demand, Slots, need, satisfies};
pub(crate) use dfs::{Aim, Mark, Search, Selection, Visits};
pub(crate) use frontier::Frontiers;

use roaring::RoaringBitmap;

use crate::filter::Aggregates;
use crate::graph::{Slot, Tree};
use crate::planner::Plans;
use crate::{Candidate, Graph, LimitKind, MatchPolicy, TypeId};

/// Why a search fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Something is taken, down or ruled out by the constraint.
    Busy,
    /// There is not enough of something.
    Unsatisfiable,
    /// The request contradicts itself.
    Invalid,
    /// There is no later time to try.
    NoTime,
    /// Nothing failed yet.
    #[default]
    Nothing,
    /// A limit of the search was passed.
    Limit(LimitKind),
}

/// Ways to look at less. None changes an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shortcuts {
    /// What scores best is looked at first, and the rest not at all, where the policy scores by id.
    pub best_first: bool,
    /// What one subtree lacks is not looked for in others of its shape.
    pub shapes: bool,
}

impl Shortcuts {
    /// All of them.
    pub const ALL: Self = Self { best_first: true, shapes: true };
    /// None of them.
    pub const NONE: Self = Self { best_first: false, shapes: false };
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self::ALL
    }
}

/// What a traversal reads.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) tree: &'a Tree,
    pub(crate) aggregates: &'a Aggregates,
    pub(crate) auxiliary: &'a [(Tree, Aggregates)],
    /// Where scores lie below each vertex, if the policy scores by id.
    pub(crate) reaches: Option<&'a Reaches>,
    /// Whether every vertex can be scored, so that its shape tells what it offers.
    pub(crate) scores_all: bool,
    pub(crate) plans: &'a Plans,
    /// Positions with a plan, and positions that are down.
    pub(crate) touched: &'a RoaringBitmap,
    pub(crate) down: &'a RoaringBitmap,
    pub(crate) policy: &'a dyn MatchPolicy,
    /// Types that contribute to scores below them.
    pub(crate) contributing: &'a [TypeId],
    /// Types that are held exclusively, with all below.
    pub(crate) exclusive: &'a [TypeId],
}

/// Returns whether every vertex has a positive score, and none adds so much to those below it that
/// sums could overflow.
pub(crate) fn scores_all(graph: &Graph, policy: &dyn MatchPolicy, contributing: &[TypeId]) -> bool {
    /// Leaves room for as many levels as there can be vertices.
    const MOST: i64 = i64::MAX >> 32;
    graph.vertices().all(|vertex| {
        let (id, uniq_id) = (graph.id(vertex), graph.uniq_id(vertex));
        let properties = graph.properties(vertex);
        let adds = || policy.contribution(id, uniq_id);
        policy.score(&Candidate { id, uniq_id, above: 0, properties }) > 0
            && (!contributing.contains(&graph.kind(vertex))
                || adds().is_some_and(|added| (0..=MOST).contains(&added)))
    })
}

impl Parts<'_> {
    /// Returns where the first edge into a vertex comes from, `None` for the root.
    fn parent(&self, pos: u32) -> Option<u32> {
        if self.tree.shared {
            let vertex = self.tree.slots[pos as usize].vertex;
            let parent = self.graph.parent(vertex, self.tree.subsystem)?;
            self.tree.position(parent).filter(|_| pos != 0)
        } else {
            self.tree.ancestors(pos).next()
        }
    }

    /// Returns what a vertex adds to the scores below it, `None` when it cannot be scored.
    pub(super) fn contribution(&self, slot: Slot) -> Option<i64> {
        if !self.contributing.contains(&slot.kind) {
            return Some(0);
        }
        self.policy.contribution(self.graph.id(slot.vertex), self.graph.uniq_id(slot.vertex))
    }
}
