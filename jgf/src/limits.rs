//! Bounds on what a document may ask of its reader.

use crate::{Error, Place};

/// Bounds on the size of a document and of the graph that it describes.
///
/// Reading stops with [`Error::Limit`] at the first bound that is passed,
/// before memory is taken for what lies beyond it. The defaults are above what any machine of
/// today needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Length of the text in bytes; default 8 GiB.
    pub input_bytes: usize,
    /// Levels of nested XML elements, and of a graph that a recipe makes; default 256. What is read of JSON has few levels, and what is
    /// passed over takes no more stack for being deep.
    pub depth: usize,
    /// Elements and texts of an XML document; default 2^24.
    pub xml_nodes: usize,
    /// Vertices of the graph; default 2^24. A GRUG recipe of a few lines, or a range of ranks, can
    /// ask for any number.
    pub vertices: usize,
    /// Edges of the graph; default 2^25.
    pub edges: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input_bytes: 8 << 30,
            depth: 256,
            xml_nodes: 1 << 24,
            vertices: 1 << 24,
            edges: 1 << 25,
        }
    }
}

impl Limits {
    fn max(&self, limit: LimitKind) -> usize {
        match limit {
            LimitKind::InputBytes => self.input_bytes,
            LimitKind::Depth => self.depth,
            LimitKind::XmlNodes => self.xml_nodes,
            LimitKind::Vertices => self.vertices,
            LimitKind::Edges => self.edges,
        }
    }

    /// Returns the error for a limit that was passed at a place.
    pub(crate) fn passed(&self, limit: LimitKind, at: Place) -> Error {
        Error::Limit { at, limit, max: self.max(limit) }
    }
}

/// Which bound of [`Limits`] was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::input_bytes`].
    InputBytes,
    /// [`Limits::depth`].
    Depth,
    /// [`Limits::xml_nodes`].
    XmlNodes,
    /// [`Limits::vertices`].
    Vertices,
    /// [`Limits::edges`].
    Edges,
}

impl LimitKind {
    /// Returns the name under which users set the limit, such as `graph.vertices`.
    pub fn name(self) -> &'static str {
        match self {
            Self::InputBytes => "graph.input_bytes",
            Self::Depth => "graph.depth",
            Self::XmlNodes => "graph.xml_nodes",
            Self::Vertices => "graph.vertices",
            Self::Edges => "graph.edges",
        }
    }

    /// Returns what is counted, such as `bytes of input`.
    pub fn counted(self) -> &'static str {
        match self {
            Self::InputBytes => "bytes of input",
            Self::Depth => "levels of nesting",
            Self::XmlNodes => "XML nodes",
            Self::Vertices => "vertices",
            Self::Edges => "edges",
        }
    }
}
