//! Matching: from a demand to the vertices that meet it, and from those to the planners.

mod commit;
mod demand;
mod dfs;
mod evals;

pub(crate) use commit::{Hold, Taking, Walk};
pub(crate) use demand::{Demand, Slots, need, satisfies};
pub(crate) use dfs::{Aim, Mark, Search, Selection, Visits};

use crate::filter::Aggregates;
use crate::graph::{Slot, Tree};
use crate::planner::Plans;
use crate::{Graph, MatchPolicy, TypeId};

/// Why a search fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    Nothing,
    /// A limit of the search was reached.
    Limit(&'static str),
}

/// Bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many requests the alternatives of `xor_slot` may make.
    pub xor_variants: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { xor_variants: 1000 }
    }
}

/// What a traversal reads.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) tree: &'a Tree,
    pub(crate) aggregates: &'a Aggregates,
    pub(crate) auxiliary: &'a [(Tree, Aggregates)],
    pub(crate) plans: &'a Plans,
    pub(crate) policy: &'a dyn MatchPolicy,
    /// Types that contribute to scores below them.
    pub(crate) contributing: &'a [TypeId],
    /// Types that are held exclusively, with all below.
    pub(crate) exclusive: &'a [TypeId],
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
    fn contribution(&self, slot: Slot) -> Option<i64> {
        if !self.contributing.contains(&slot.kind) {
            return Some(0);
        }
        self.policy
            .contribution(self.graph.id(slot.vertex), self.graph.uniq_id(slot.vertex))
    }
}
