//! From a match to text.

mod graph;
mod jgf;
mod rlite;
mod rv1;
mod simple;
#[cfg(test)]
mod tests;
mod text;

use engine::{EmittedVertex, Error, Graph, MatchVisitor, SubsystemId, VertexId};

use crate::MatchFormat;
pub use graph::{write_dot, write_graphml, write_jgf_graph};
use jgf::Jgf;
use rlite::Rlite;
use rv1::Rv1;
use simple::{Pretty, Simple};

/// Why what was gathered cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// [`MatchFormat::Rlite`] without a node that has cores or gpus.
    #[error("nothing to write: no node with cores or gpus")]
    NothingGathered,
    /// [`MatchFormat::Jgf`] and those that contain it, with vertices but no edge between them.
    #[error("nothing to write: vertices without an edge")]
    NoEdges,
    /// [`MatchFormat::Jgf`] and those that contain it, with edges but without vertices.
    #[error("nothing to write: edges without a vertex")]
    NoVertices,
    /// An id that a set of ids cannot have.
    #[error("{what} id {id} is out of range: expected 0 to 2147483647")]
    Id {
        /// What has the id: `rank`, `core` or `gpu`.
        what: &'static str,
        /// The id.
        id: i64,
    },
    /// A node whose name is not one that a list of hosts can have.
    #[error("`{name}` is not a name of hosts")]
    Hostname {
        /// The name.
        name: String,
    },
}

impl EmitError {
    /// Returns the text of the system error that Fluxion reports in this case.
    pub fn os_text(&self) -> &'static str {
        match self {
            Self::NoEdges | Self::NoVertices => "No such file or directory",
            Self::NothingGathered | Self::Id { .. } | Self::Hostname { .. } => "Invalid argument",
        }
    }
}

/// Writes matches and searches in a [`MatchFormat`].
///
/// It is handed to an operation of the engine as visitor and asked for the text afterwards, with
/// [`Self::emit`]. One writer serves any number of operations. It writes what Fluxion's writers do,
/// byte for byte, and keeps what they keep from one operation to the next:
///
/// - Vertices and edges that could not be written, because there was no edge or no rank among
///   them, are written the next time in formats that have a subgraph.
/// - Ranks that could not be written make all later sets fail.
/// - Cores and gpus without a node above them go to the next node that comes.
/// - Once something was left out for short, all later subgraphs are marked as short.
/// - Attributes, such as a queue, stay until they are replaced.
///
/// A new writer is the way to start afresh.
///
/// **Complexity**: O(1) heap allocations for each node, none for other vertices once the buffers
/// have grown; time linear in the text, and in the depth of a vertex for its path.
///
/// **Source**: RFC 4 (JGF), RFC 20 (R), RFC 22 (idset), RFC 29 (hostlist).
#[derive(Clone, Debug)]
pub struct Writer {
    format: MatchFormat,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Simple(Simple),
    Pretty(Pretty),
    Jgf(Jgf),
    Rlite(Rlite),
    Rv1(Rv1),
}

impl Writer {
    /// Returns a writer that has seen nothing.
    pub fn new(format: MatchFormat) -> Self {
        let body = match format {
            MatchFormat::Simple => Body::Simple(Simple::default()),
            MatchFormat::PrettySimple => Body::Pretty(Pretty::default()),
            MatchFormat::Jgf => Body::Jgf(Jgf::new(false)),
            MatchFormat::JgfShorthand => Body::Jgf(Jgf::new(true)),
            MatchFormat::Rlite => Body::Rlite(Rlite::default()),
            MatchFormat::Rv1 => Body::Rv1(Rv1::new(Some(Jgf::new(false)))),
            MatchFormat::Rv1Nosched => Body::Rv1(Rv1::new(None)),
            MatchFormat::Rv1Shorthand => Body::Rv1(Rv1::new(Some(Jgf::new(true)))),
        };
        Self { format, body }
    }

    /// Returns the format.
    pub fn format(&self) -> MatchFormat {
        self.format
    }

    /// Appends to `out` what was gathered, and forgets it.
    ///
    /// The formats for people append their lines, the others one line of JSON. Nothing is appended
    /// when nothing was gathered, nor in formats of R when there is no rank to tell of.
    ///
    /// # Errors
    ///
    /// Any [`EmitError`]. `out` is then as it was; what the writer keeps is told at [`Writer`].
    pub fn emit(&mut self, out: &mut String) -> Result<(), EmitError> {
        let length = out.len();
        let result = self.body.emit(out);
        if result.is_err() {
            out.truncate(length);
        }
        result
    }

    /// Appends to `out` what was found by a search, and forgets it: the text that `find` prints
    /// before its report.
    ///
    /// # Errors
    ///
    /// As [`Self::emit`].
    pub fn emit_find(&mut self, out: &mut String) -> Result<(), EmitError> {
        // Fluxion prints the lines of people's formats raw and puts a newline after JSON, which is
        // the very text of a match.
        self.emit(out)
    }

    /// Returns a visitor that refuses vertices which the format cannot have, for searches.
    ///
    /// A node whose cores or gpus have ids that do not fit an idset makes a search fail, but a
    /// match goes on without the node, so that the writer itself refuses nothing.
    pub fn for_find(&mut self) -> FindWriter<'_> {
        FindWriter { body: &mut self.body }
    }
}

impl Body {
    fn vertex(&mut self, graph: &Graph, emitted: &EmittedVertex<'_>) -> Result<(), EmitError> {
        match self {
            Self::Simple(simple) => simple.vertex(graph, emitted),
            Self::Pretty(pretty) => pretty.vertex(graph, emitted),
            Self::Jgf(jgf) => jgf.vertex(graph, emitted),
            Self::Rlite(rlite) => rlite.vertex(graph, emitted.vertex)?,
            Self::Rv1(rv1) => {
                rv1.rlite.vertex(graph, emitted.vertex)?;
                if let Some(jgf) = &mut rv1.jgf {
                    jgf.vertex(graph, emitted);
                }
            }
        }
        Ok(())
    }

    fn edge(
        &mut self,
        graph: &Graph,
        source: VertexId,
        target: VertexId,
        subsystem: SubsystemId,
        under_exclusive: bool,
    ) {
        if let Self::Jgf(jgf) | Self::Rv1(Rv1 { jgf: Some(jgf), .. }) = self {
            jgf.edge(graph, source, target, subsystem, under_exclusive);
        }
    }

    fn times(&mut self, start: i64, end: i64) {
        if let Self::Rv1(rv1) = self {
            rv1.times(start, end);
        }
    }

    fn attribute(&mut self, key: &str, value: &str) {
        if let Self::Rv1(rv1) = self {
            rv1.attribute(key, value);
        }
    }

    fn emit(&mut self, out: &mut String) -> Result<(), EmitError> {
        match self {
            Self::Simple(simple) => simple.emit(out),
            Self::Pretty(pretty) => pretty.emit(out),
            Self::Jgf(jgf) => {
                if !jgf.is_empty() {
                    jgf.emit(out)?;
                    out.push('\n');
                }
            }
            Self::Rlite(rlite) => {
                if rlite.is_empty() {
                    return Err(EmitError::NothingGathered);
                }
                rlite.write_list(out)?;
                out.push('\n');
                rlite.clear_nodes();
            }
            Self::Rv1(rv1) => rv1.emit(out)?,
        }
        Ok(())
    }
}

impl MatchVisitor for Writer {
    fn vertex(&mut self, graph: &Graph, vertex: &EmittedVertex<'_>) -> Result<(), Error> {
        // A match goes on without a node that cannot be written.
        let _ = self.body.vertex(graph, vertex);
        Ok(())
    }

    fn edge(
        &mut self,
        graph: &Graph,
        source: VertexId,
        target: VertexId,
        subsystem: SubsystemId,
        under_exclusive: bool,
    ) -> Result<(), Error> {
        self.body.edge(graph, source, target, subsystem, under_exclusive);
        Ok(())
    }

    fn times(&mut self, start: i64, end: i64) {
        self.body.times(start, end);
    }

    fn attribute(&mut self, key: &str, value: &str) {
        self.body.attribute(key, value);
    }
}

/// A [`Writer`] as visitor of a search, made by [`Writer::for_find`].
#[derive(Debug)]
pub struct FindWriter<'a> {
    body: &'a mut Body,
}

impl MatchVisitor for FindWriter<'_> {
    fn vertex(&mut self, graph: &Graph, vertex: &EmittedVertex<'_>) -> Result<(), Error> {
        self.body.vertex(graph, vertex).map_err(|error| Error::Visit(error.to_string()))
    }

    fn edge(
        &mut self,
        graph: &Graph,
        source: VertexId,
        target: VertexId,
        subsystem: SubsystemId,
        under_exclusive: bool,
    ) -> Result<(), Error> {
        self.body.edge(graph, source, target, subsystem, under_exclusive);
        Ok(())
    }

    fn times(&mut self, start: i64, end: i64) {
        self.body.times(start, end);
    }

    fn attribute(&mut self, key: &str, value: &str) {
        self.body.attribute(key, value);
    }
}
