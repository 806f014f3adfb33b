//! Bounds on what a document may ask of its reader.

/// Bounds on the size of a document and of the graph that it describes.
///
/// Reading stops with [`Error::Limit`](crate::Error::Limit) at the first bound that is passed,
/// before memory is taken for what lies beyond it. The defaults are above what any machine of
/// today needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Length of the text in bytes; default 8 GiB.
    pub input_bytes: usize,
    /// Vertices of the graph; default 2^26. A GRUG recipe of a few lines can ask for any number.
    pub vertices: usize,
    /// Edges of the graph; default 2^27.
    pub edges: usize,
    /// Elements and texts of an XML document; default 2^24.
    pub xml_nodes: u32,
    /// Levels of nested XML elements; default 256.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input_bytes: 8 << 30,
            vertices: 1 << 26,
            edges: 1 << 27,
            xml_nodes: 1 << 24,
            depth: 256,
        }
    }
}
