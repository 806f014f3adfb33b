//! Which vertices are up.

use std::collections::BTreeSet;

use super::Engine;
use crate::{Error, Graph, Status, VertexId};

impl Engine {
    /// Sets the status of the vertices at `path`. What is below a vertex that is down is not given
    /// to jobs either, and keeps its own status.
    ///
    /// A node counts among those that are up from the change of any vertex above it that brings it
    /// up to the change of any that takes it down.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownPath`].
    pub fn set_status(&mut self, path: &str, status: Status) -> Result<(), Error> {
        let vertices = self.graph.find_path(path);
        if vertices.is_empty() {
            return Err(Error::UnknownPath(path.to_owned()));
        }
        let mut below = BTreeSet::new();
        for vertex in vertices {
            if self.graph.status(vertex) != status {
                self.write_status(vertex, status);
                below.insert(vertex);
                if let Some(pos) = self.tree.position(vertex) {
                    let slots =
                        &self.tree.slots[pos as usize..self.tree.slots[pos as usize].end as usize];
                    below.extend(slots.iter().map(|slot| slot.vertex));
                }
            }
        }
        let nodes = below.iter().filter(|&&vertex| self.graph.kind(vertex) == Graph::NODE);
        let size = |&vertex: &VertexId| i64::try_from(self.graph.size(vertex)).unwrap_or(i64::MAX);
        self.count_nodes(nodes.map(size).fold(0, i64::saturating_add), status);
        Ok(())
    }

    /// Sets the status of the top vertex of each rank. Ranks that the graph does not have are
    /// passed over.
    pub fn set_rank_status(&mut self, ranks: impl IntoIterator<Item = i64>, status: Status) {
        let mut changed = 0;
        let ranks: Vec<i64> = ranks.into_iter().collect();
        let at_ranks = self.at_ranks(&ranks);
        for rank in ranks {
            let Some(positions) = at_ranks.get(&rank) else {
                continue;
            };
            let top = positions.iter().fold(None, |top, &pos| Some(self.higher(top, pos)));
            let Some(vertex) = top.map(|top| self.tree.slots[top as usize].vertex) else {
                continue;
            };
            if self.graph.status(vertex) != status {
                self.write_status(vertex, status);
                changed += 1;
            }
        }
        self.count_nodes(changed, status);
    }

    fn write_status(&mut self, vertex: VertexId, status: Status) {
        self.memory.frontiers.forget();
        self.graph.set_status(vertex, status);
        if let Some(pos) = self.tree.position(vertex) {
            self.tree.slots[pos as usize].down = status == Status::Down;
            match status {
                Status::Up => self.down.remove(pos),
                Status::Down => self.down.insert(pos),
            };
        }
        for (tree, _) in &mut self.auxiliary {
            if let Some(pos) = tree.position(vertex) {
                tree.slots[pos as usize].down = status == Status::Down;
            }
        }
    }

    fn count_nodes(&mut self, changed: i64, status: Status) {
        match status {
            Status::Up => self.nodes_up = self.nodes_up.saturating_add(changed),
            Status::Down => self.nodes_up = self.nodes_up.saturating_sub(changed),
        }
    }
}
