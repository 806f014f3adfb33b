//! What can be wrong with a document.

use std::borrow::Cow;
use std::fmt;

use crate::LimitKind;

/// A place in a document.
///
/// **Units**: lines and columns count from 1, columns in characters. Line 0 means that the
/// document as a whole is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// What stands there: a JSON pointer such as `/graph/nodes/17/metadata/type` (RFC 6901), or
    /// for XML a path of elements such as `/graphml/graph/edge[3]`. Empty for the whole document.
    pub pointer: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.pointer.is_empty()) {
            (0, true) => f.write_str("document"),
            (0, false) => f.write_str(&self.pointer),
            (_, true) => write!(f, "{}:{}", self.line, self.column),
            (_, false) => write!(f, "{}:{} ({})", self.line, self.column, self.pointer),
        }
    }
}

/// Why a document was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not JSON or not XML, or it ends too early.
    #[error("{at}: {message}")]
    Syntax {
        /// Where reading stopped.
        at: Place,
        /// What is wrong there.
        message: String,
    },
    /// A key or an element is missing.
    #[error("{at}: `{key}` is missing")]
    Missing {
        /// The object or element that must have it.
        at: Place,
        /// What must be there.
        key: &'static str,
    },
    /// A value has the wrong form or is out of its range.
    #[error("{at}: expected {expected}, found {found}")]
    Value {
        /// The value.
        at: Place,
        /// What may stand there.
        expected: Cow<'static, str>,
        /// A short form of what does.
        found: String,
    },
    /// The same thing is named twice.
    #[error("{at}: {what} `{name}` is given twice")]
    Duplicate {
        /// The second of the two.
        at: Place,
        /// What is named.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// An edge leads from or to a vertex that the document does not have.
    #[error("{at}: no vertex with id `{id}`")]
    Dangling {
        /// The edge.
        at: Place,
        /// The id of the absent vertex.
        id: String,
    },
    /// A subsystem has two roots.
    #[error("{at}: subsystem `{subsystem}` has two roots, `{first}` and `{second}`")]
    TwoRoots {
        /// The second root.
        at: Place,
        /// The subsystem.
        subsystem: String,
        /// The name of its root.
        first: String,
        /// The name of the second root.
        second: String,
    },
    /// A subsystem lacks a root: no vertex whose path has one component.
    #[error("subsystem `{subsystem}` has no root")]
    NoRoot {
        /// The subsystem.
        subsystem: String,
    },
    /// The edges of the containment subsystem close a cycle.
    #[error("cycle in subsystem `{subsystem}` through `{name}`")]
    Cycle {
        /// The subsystem.
        subsystem: String,
        /// The name of a vertex on the cycle.
        name: String,
    },
    /// The document describes no resources.
    #[error("the document has no {0}")]
    Empty(&'static str),
    /// A vertex or an edge of a resource set is not in the graph.
    #[error("{at}: {what} `{name}` is not in the resource graph")]
    NotInGraph {
        /// Where it is named.
        at: Place,
        /// What is named.
        what: &'static str,
        /// Its path, or what else names it.
        name: String,
    },
    /// A vertex of a resource set is in the graph, but there it is something else.
    #[error("{at}: `{path}` has {what} {graph} in the resource graph, {given} here")]
    Differs {
        /// The vertex.
        at: Place,
        /// Its path.
        path: String,
        /// What differs.
        what: &'static str,
        /// The value in the graph.
        graph: String,
        /// The value in the document.
        given: String,
    },
    /// A bound of [`Limits`](crate::Limits) was passed.
    #[error("{at}: more than {max} {} (limit `{}`)", .limit.counted(), .limit.name())]
    Limit {
        /// Where it was passed.
        at: Place,
        /// Which one.
        limit: LimitKind,
        /// Its value.
        max: usize,
    },
    /// A format that cannot be used for the operation.
    #[error("format `{format}` cannot {operation}")]
    Unsupported {
        /// The format.
        format: &'static str,
        /// The operation.
        operation: &'static str,
    },
    /// A name that no format has.
    #[error("no format `{given}`: expected one of {}", crate::LoadFormat::names())]
    UnknownFormat {
        /// The name.
        given: String,
    },
    /// The graph refused what the document asked for.
    #[error("{at}: {source}")]
    Graph {
        /// The vertex or edge.
        at: Place,
        /// Why.
        source: engine::Error,
    },
}

impl Error {
    /// Returns where the problem is, if it is at one place.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Syntax { at, .. }
            | Self::Missing { at, .. }
            | Self::Value { at, .. }
            | Self::Duplicate { at, .. }
            | Self::Dangling { at, .. }
            | Self::TwoRoots { at, .. }
            | Self::NotInGraph { at, .. }
            | Self::Differs { at, .. }
            | Self::Limit { at, .. }
            | Self::Graph { at, .. } => Some(at),
            Self::NoRoot { .. }
            | Self::Cycle { .. }
            | Self::Empty(_)
            | Self::Unsupported { .. }
            | Self::UnknownFormat { .. } => None,
        }
    }

    pub(crate) fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            Self::Syntax { at, .. }
            | Self::Missing { at, .. }
            | Self::Value { at, .. }
            | Self::Duplicate { at, .. }
            | Self::Dangling { at, .. }
            | Self::TwoRoots { at, .. }
            | Self::NotInGraph { at, .. }
            | Self::Differs { at, .. }
            | Self::Limit { at, .. }
            | Self::Graph { at, .. } => Some(at),
            Self::NoRoot { .. }
            | Self::Cycle { .. }
            | Self::Empty(_)
            | Self::Unsupported { .. }
            | Self::UnknownFormat { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_tells_what_it_knows() {
        let place =
            |line, column, pointer: &str| Place { line, column, pointer: pointer.to_owned() };
        assert_eq!(place(0, 0, "").to_string(), "document");
        assert_eq!(place(0, 0, "/graph").to_string(), "/graph");
        assert_eq!(place(3, 7, "").to_string(), "3:7");
        assert_eq!(place(3, 7, "/graph").to_string(), "3:7 (/graph)");
    }
}
