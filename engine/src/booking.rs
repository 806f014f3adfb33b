//! What others decided: resources that a job holds already, and resources that it gives back.

use crate::VertexId;

/// Resources that a job is to hold because an R says so, resolved against the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Booking {
    /// The vertices named, each once.
    pub vertices: Vec<BookedVertex>,
    /// The edges named, which are those the walk from the root follows.
    pub edges: Vec<BookedEdge>,
    /// How roots of subsystems are held. Where the root of the dominant one is not among them, the
    /// vertices are held, but nothing above them knows.
    pub roots: Vec<(VertexId, Share)>,
}

/// How much of a vertex is taken, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How much.
    pub needs: u64,
    /// Whether nobody else may have the rest.
    pub exclusive: bool,
}

/// One vertex of a [`Booking`]. An exclusive one is held in full, another must only be free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookedVertex {
    /// The vertex.
    pub vertex: VertexId,
    /// Whether it is held.
    pub exclusive: bool,
}

/// One edge of a [`Booking`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookedEdge {
    /// The vertex above.
    pub source: VertexId,
    /// The vertex below.
    pub target: VertexId,
    /// How the target is held.
    pub share: Share,
}

/// What a job gives back before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Release {
    /// These vertices, each of which the job must hold.
    Vertices(Vec<VertexId>),
    /// Whatever the job holds at these ranks.
    Ranks(Vec<i64>),
}

/// What becomes of what a job gave back before a fault in the rest was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OnFault {
    /// The job has it again: all or nothing is given back.
    #[default]
    Restore,
    /// It stays given back, though aggregates above still count it.
    Leave,
}
