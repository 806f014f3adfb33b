//! Checks of the whole state: what is kept up to date is computed again and compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{Engine, compile};
use crate::filter::Aggregates;
use crate::graph::Tree;
use crate::planner::{Interval, Plan};
use crate::{Error, JobId, Status, VertexId};

impl Engine {
    /// Checks that the state does not contradict itself: that trees and aggregates are those of the
    /// graph, that timelines are the sums of what is held, that tables agree with each other, and that
    /// no vertex is held beyond its size at any second.
    ///
    /// Not checked is what Fluxion's accidents leave without a rule: how many nodes are up, which is a
    /// sum of changes; what a job's aggregates say against what it holds below, which partial cancels
    /// part; and amounts that a shrunk graph lowered, which must only not exceed what is held.
    ///
    /// **Complexity**: O(|V| + |E|), and O(n log n) in what is held. For tests.
    ///
    /// # Errors
    ///
    /// [`Error::Broken`] with the place of the first contradiction.
    pub fn validate(&self) -> Result<(), Error> {
        self.audit_trees()?;
        self.audit_holds()
    }

    fn audit_trees(&self) -> Result<(), Error> {
        let mut filters = self.filters_before.clone();
        let expected = compile(&self.graph, &self.options.subsystems, &mut filters)?;
        if filters != self.filters {
            return Err(broken("filters", "others follow from the graph"));
        }
        let auxiliary = self.auxiliary.iter().map(|(tree, aggregates)| (tree, aggregates));
        let given = std::iter::once((&self.tree, &self.aggregates)).chain(auxiliary);
        if expected.len() != 1 + self.auxiliary.len() {
            return Err(broken("trees", "there are not as many as subsystems"));
        }
        for (given, expected) in given.zip(&expected) {
            self.audit_tree(given, (&expected.0, &expected.1))?;
        }
        let down = crate::engine::down_positions(&self.tree);
        if down != self.down {
            let pos = (&down ^ &self.down).min().unwrap_or(0);
            return Err(self.broken_at(pos, "it is listed as up and is down, or the reverse"));
        }
        Ok(())
    }

    fn audit_tree(
        &self,
        (tree, aggregates): (&Tree, &Aggregates),
        (expected, totals): (&Tree, &Aggregates),
    ) -> Result<(), Error> {
        if tree.len() != expected.len() || tree.shapes != expected.shapes {
            return Err(broken("tree", "it is not that of the graph"));
        }
        if aggregates != totals {
            return Err(broken("aggregates", "they are not those of the graph"));
        }
        for (pos, (slot, other)) in tree.slots.iter().zip(&expected.slots).enumerate() {
            let at = u32::try_from(pos).unwrap_or(u32::MAX);
            let same = (slot.vertex, slot.parent, slot.end, slot.totals, slot.kind)
                == (other.vertex, other.parent, other.end, other.totals, other.kind)
                && (slot.leaf, slot.ordered, slot.uniform)
                    == (other.leaf, other.ordered, other.uniform)
                && tree.sizes[pos] == expected.sizes[pos]
                && tree.position(slot.vertex) == Some(at)
                && tree.children(at) == expected.children(at);
            if !same {
                return Err(broken(self.path(slot.vertex), "it stands elsewhere in the graph"));
            }
            if slot.down != (self.graph.status(slot.vertex) == Status::Down) {
                return Err(broken(self.path(slot.vertex), "its status is not that of the graph"));
            }
        }
        Ok(())
    }

    /// Checks plans and jobs.
    pub(crate) fn audit_holds(&self) -> Result<(), Error> {
        let mut known: BTreeMap<JobId, BTreeSet<VertexId>> = BTreeMap::new();
        let with_plan = self.tree.slots.iter().filter(|slot| self.plans.get(slot.plan).is_some());
        let n_plans = self.plans.iter().count();
        if with_plan.count() != n_plans || self.touched.len() != n_plans as u64 {
            return Err(broken("plans", "some are nobody's or are not listed"));
        }
        for pos in &self.touched {
            let at = |fault| self.broken_at(pos, fault);
            let slot = self.tree.slots[pos as usize];
            let plan = self.plan(pos).ok_or_else(|| at("its plan is missing"))?;
            if plan.vertex != slot.vertex {
                return Err(at("its plan is another vertex's"));
            }
            if plan.is_blank() {
                return Err(at("its plan is blank"));
            }
            if plan.n_tracked() != self.aggregates.totals(slot.totals).map_or(0, <[i64]>::len) {
                return Err(at("its plan tracks other types"));
            }
            if let Some(fault) = plan.contradiction() {
                return Err(at(fault));
            }
            self.audit_size(pos, plan)?;
            self.audit_order(pos, plan)?;
            for &job in plan.held().keys() {
                if self.jobs.contains_key(&job) {
                    known.entry(job).or_default().insert(slot.vertex);
                } else if !self.is_nobody(job) {
                    return Err(at("a job that there is not holds it"));
                }
            }
        }
        for (&job, entry) in &self.jobs {
            let listed: BTreeSet<VertexId> = entry.vertices.iter().copied().collect();
            if listed != known.remove(&job).unwrap_or_default() {
                return Err(broken(format!("job {job}"), "it does not hold what is listed"));
            }
        }
        Ok(())
    }

    fn audit_size(&self, pos: u32, plan: &Plan) -> Result<(), Error> {
        let above = self.tree.ancestors(pos).filter_map(|above| self.plan(above));
        let above = above.filter(|plan| plan.has_subtree()).flat_map(Plan::held);
        let inherited: Vec<Interval> =
            above.filter(|(_, held)| held.subtree).map(|(_, held)| held.interval).collect();
        let size = self.tree.sizes[pos as usize];
        if plan.peak(&inherited, size) > i128::from(size) {
            return Err(self.broken_at(pos, "more is held than there is"));
        }
        Ok(())
    }

    fn audit_order(&self, pos: u32, plan: &Plan) -> Result<(), Error> {
        let Some(order) = &plan.order else {
            return Ok(());
        };
        let mut expected = self.child_order(pos);
        for &child in self.tree.children(pos) {
            let vertex = self.tree.slots[child as usize].vertex;
            expected.set_weight(vertex, self.graph.uniq_id(vertex), order.weight(vertex));
        }
        if expected.sorted != order.sorted {
            return Err(self.broken_at(pos, "its children are not in the order of their weights"));
        }
        Ok(())
    }

    fn broken_at(&self, pos: u32, fault: &str) -> Error {
        broken(self.path(self.tree.slots[pos as usize].vertex), fault)
    }
}

fn broken(place: impl Into<String>, fault: &str) -> Error {
    Error::Broken { place: place.into(), fault: fault.to_owned() }
}
