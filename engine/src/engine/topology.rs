//! Growing and shrinking the graph while jobs are on it.

use std::collections::BTreeMap;

use super::{Engine, compile, down_positions, types_named};
use crate::booking::OnFault;
use crate::filter::Filters;
use crate::traverser::Reaches;
use crate::{Error, Graph, VertexId};

impl Engine {
    /// Lets `edit` add to the graph.
    ///
    /// # Errors
    ///
    /// What `edit` fails with, and what [`Engine::new`] can find wrong with the graph.
    pub fn grow<E: From<Error>>(
        &mut self,
        edit: impl FnOnce(&mut Graph) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut graph = self.graph.clone();
        edit(&mut graph)?;
        self.write_out_above_new(&graph);
        self.replace_graph(graph)?;
        Ok(())
    }

    /// Writes out what holds a whole subtree that grows: what is new in it is not held.
    fn write_out_above_new(&mut self, graph: &Graph) {
        for pos in (0..self.tree.len()).filter_map(|pos| u32::try_from(pos).ok()) {
            let vertex = self.tree.slots[pos as usize].vertex;
            let n_before = self.tree.children(pos).len();
            if n_before > 0 && graph.children(vertex, self.tree.subsystem).len() > n_before {
                for job in self.holders_of_subtree(pos) {
                    self.materialize(pos, job);
                }
            }
        }
    }

    /// Removes the subtree at `path` from the dominant subsystem. What jobs hold there is gone with
    /// it; what is counted of it further up stays until their end.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownPath`]; [`Error::Request`] for the root.
    pub fn remove_path(&mut self, path: &str) -> Result<(), Error> {
        let top = self.graph.find_path(path).last().copied();
        let top = top.ok_or_else(|| Error::UnknownPath(path.to_owned()))?;
        let pos = self.position(top)?;
        self.detach(&[pos], &[pos])
    }

    /// Removes the vertices of `ranks`, with what jobs hold there. `on_fault` says what becomes of
    /// what jobs held there when a fault is found and nothing is removed.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRank`]; [`Error::NotHeld`] when what jobs hold above does not add up.
    pub fn remove_ranks(&mut self, ranks: &[i64], on_fault: OnFault) -> Result<(), Error> {
        let before = (on_fault == OnFault::Restore).then(|| {
            (self.tree.clone(), self.plans.clone(), self.touched.clone(), self.jobs.clone())
        });
        self.floors.forget();
        let result = self.try_remove_ranks(ranks);
        if let (Err(_), Some(before)) = (&result, before) {
            (self.tree, self.plans, self.touched, self.jobs) = before;
        } else if result.is_err() {
            self.recount();
        }
        result
    }

    fn try_remove_ranks(&mut self, ranks: &[i64]) -> Result<(), Error> {
        let mut tops = Vec::new();
        let mut all = Vec::new();
        let mut jobs = std::collections::BTreeSet::new();
        let mut freed = Vec::new();
        for &rank in ranks {
            let positions = self.at_rank(rank).ok_or(Error::UnknownRank(rank))?;
            let (amounts, concerned) = self.clear(&positions);
            jobs.extend(concerned);
            let Some(top) = positions.iter().fold(None, |top, &pos| Some(self.higher(top, pos)))
            else {
                continue;
            };
            freed.push((top, amounts));
            tops.push(top);
            all.extend(positions);
        }
        if !jobs.is_empty() {
            let mut above: BTreeMap<u32, BTreeMap<_, i64>> = BTreeMap::new();
            for (top, amounts) in &freed {
                for pos in self.tree.ancestors(*top) {
                    let sums = above.entry(pos).or_default();
                    for (&kind, amount) in amounts {
                        *sums.entry(kind).or_default() += amount;
                    }
                }
            }
            for (pos, amounts) in &above {
                for &job in &jobs {
                    self.reduce(*pos, job, amounts)?;
                }
            }
        }
        self.detach(&tops, &all)
    }

    /// Takes the edges of the subtrees at `tops` away, or of `vertices` where those are more.
    fn detach(&mut self, tops: &[u32], vertices: &[u32]) -> Result<(), Error> {
        if tops.contains(&0) {
            return Err(Error::Request("the root cannot be removed".to_owned()));
        }
        let mut gone: Vec<VertexId> = Vec::new();
        if tops == vertices {
            for &top in tops {
                let end = self.tree.slots[top as usize].end;
                let slots = &self.tree.slots[top as usize..end as usize];
                gone.extend(slots.iter().map(|slot| slot.vertex));
            }
        } else {
            gone.extend(vertices.iter().map(|&pos| self.tree.slots[pos as usize].vertex));
        }
        gone.sort_unstable();
        gone.dedup();
        let mut graph = self.graph.clone();
        graph.detach(&gone);
        self.replace_graph(graph)
    }

    /// Compiles another graph and carries over what is planned, by vertex.
    fn replace_graph(&mut self, graph: Graph) -> Result<(), Error> {
        self.floors.forget();
        let filters_before = self.filters.clone();
        let mut filters: Vec<Filters> = filters_before.clone();
        let mut trees = compile(&graph, &self.options.subsystems, &mut filters)?;
        let (tree, aggregates) = trees.remove(0);
        let old_aggregates = std::mem::replace(&mut self.aggregates, aggregates);
        let old_tree = std::mem::replace(&mut self.tree, tree);
        self.auxiliary = trees;
        (self.filters_before, self.filters) = (filters_before, filters);
        self.graph = graph;
        self.touched.clear();
        self.down = down_positions(&self.tree);
        let numbers: Vec<(u32, VertexId)> =
            self.plans.iter().map(|(number, plan)| (number, plan.vertex)).collect();
        for (number, vertex) in numbers {
            let Some(pos) = self.tree.position(vertex) else {
                self.plans.remove(number);
                continue;
            };
            let kind = self.graph.kind(vertex);
            let tracked = self.tree.slots[pos as usize].totals;
            let tracked =
                self.aggregates.totals(tracked).map_or(&[][..], |_| self.aggregates.lanes(kind));
            let old_totals =
                old_tree.position(vertex).map(|pos| old_tree.slots[pos as usize].totals);
            let old_totals = old_totals.and_then(|totals| old_aggregates.totals(totals));
            // What had nothing to track below it has no lanes yet.
            let before = old_totals.map_or(&[][..], |_| old_aggregates.lanes(kind));
            let from: Vec<Option<usize>> =
                tracked.iter().map(|kind| before.iter().position(|old| old == kind)).collect();
            let same = before.len() == from.len()
                && from.iter().enumerate().all(|(i, from)| *from == Some(i));
            let totals = self.aggregates.totals(self.tree.slots[pos as usize].totals);
            self.tree.slots[pos as usize].plan = number;
            self.touched.insert(pos);
            let mut fresh = self.child_order(pos);
            if let Some(plan) = self.plans.get_mut(number) {
                if !same {
                    plan.rearrange(&from);
                }
                for (lane, from) in from.iter().enumerate() {
                    let before = from.and_then(|from| old_totals?.get(from).copied());
                    let after = totals.and_then(|totals| totals.get(lane).copied());
                    if let (Some(before), Some(after)) = (before, after) {
                        plan.change_total(lane, before, after);
                    }
                }
                if let Some(order) = &mut plan.order {
                    for &child in self.tree.children(pos) {
                        let vertex = self.tree.slots[child as usize].vertex;
                        fresh.set_weight(vertex, self.graph.uniq_id(vertex), order.weight(vertex));
                    }
                    **order = fresh;
                }
            }
        }
        // What a policy names may have come with the graph.
        self.contributing = types_named(&self.graph, self.policy.contributing_types());
        self.exclusive = types_named(&self.graph, self.policy.exclusive_types());
        self.reaches = Reaches::measure(&self.graph, &self.tree, &*self.policy, &self.contributing);
        self.recount();
        Ok(())
    }
}
