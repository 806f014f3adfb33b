//! How a match leaves the engine: vertex by vertex and edge by edge, to a visitor.

use crate::{Error, Graph, SubsystemId, TypeId, VertexId};

/// A vertex of a match or of a search.
#[derive(Clone, Copy, Debug)]
pub struct EmittedVertex<'a> {
    /// The vertex.
    pub vertex: VertexId,
    /// How deep below the root it stands: the root has depth 0.
    pub depth: u32,
    /// How much of it is taken.
    pub needs: u64,
    /// Whether the job has it for itself.
    pub exclusive: bool,
    /// Whether its parent in the walk is exclusive too, so that a short form may leave it out.
    pub under_exclusive: bool,
    /// The label of the requested resource that it stands for.
    pub label: Option<&'a str>,
    /// Aggregates below it, where a search asked for them.
    pub aggregates: &'a [Aggregate],
}

/// How much of a tracked type a subtree holds and how much of that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregate {
    /// The tracked type.
    pub kind: TypeId,
    /// How much is taken.
    pub used: i64,
    /// How much there is.
    pub total: i64,
}

/// Receives a match in depth-first order: everything below a vertex comes before the vertex, and
/// an edge comes after everything below its target. What a visitor has no method for it ignores.
pub trait MatchVisitor {
    /// Called for each vertex.
    ///
    /// # Errors
    ///
    /// [`Error::Visit`] makes the operation fail and leaves the state as it was.
    fn vertex(&mut self, graph: &Graph, vertex: &EmittedVertex<'_>) -> Result<(), Error> {
        let (_, _) = (graph, vertex);
        Ok(())
    }

    /// Called for each edge. `under_exclusive` tells whether the source is exclusive.
    ///
    /// # Errors
    ///
    /// As [`Self::vertex`].
    fn edge(
        &mut self,
        graph: &Graph,
        source: VertexId,
        target: VertexId,
        subsystem: SubsystemId,
        under_exclusive: bool,
    ) -> Result<(), Error> {
        let (_, _, _, _, _) = (graph, source, target, subsystem, under_exclusive);
        Ok(())
    }

    /// Called once after the last vertex with the span `[start, end)` in seconds.
    fn times(&mut self, start: i64, end: i64) {
        let (_, _) = (start, end);
    }

    /// Called after [`Self::times`] for each attribute of the job, such as its `queue`.
    fn attribute(&mut self, key: &str, value: &str) {
        let (_, _) = (key, value);
    }
}

/// A visitor that ignores what it is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignore;

impl MatchVisitor for Ignore {}
