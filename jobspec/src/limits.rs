//! Bounds on what a document may ask of its reader.

/// Bounds on the size and shape of a document.
///
/// Reading stops with [`Error::Limit`](crate::Error::Limit) at the first bound
/// that is passed. The defaults are far above what job submission tools write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Length of the text in bytes; default 16 MiB.
    ///
    /// Batch scripts travel inside a jobspec (RFC 37), hence the room.
    pub input_bytes: usize,
    /// Levels of nested mappings and sequences; default 128.
    pub depth: usize,
    /// Resource vertices in one jobspec; default 65 536.
    pub resources: usize,
    /// Scalars, sequences and mappings in one document; default 1 048 576.
    pub nodes: usize,
    /// Scalars, sequences and mappings that YAML aliases may repeat in one
    /// document; default 65 536.
    ///
    /// Without it a text of a few hundred bytes could stand for gigabytes.
    pub alias_nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input_bytes: 16 << 20,
            depth: 128,
            resources: 1 << 16,
            nodes: 1 << 20,
            alias_nodes: 1 << 16,
        }
    }
}

/// Which bound of [`Limits`] was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::input_bytes`].
    InputBytes,
    /// [`Limits::depth`].
    Depth,
    /// [`Limits::resources`].
    Resources,
    /// [`Limits::nodes`].
    Nodes,
    /// [`Limits::alias_nodes`].
    AliasNodes,
}

impl LimitKind {
    /// Returns the name under which users set the limit, such as `jobspec.depth`.
    pub fn name(self) -> &'static str {
        match self {
            Self::InputBytes => "jobspec.input_bytes",
            Self::Depth => "jobspec.depth",
            Self::Resources => "jobspec.resources",
            Self::Nodes => "jobspec.nodes",
            Self::AliasNodes => "jobspec.alias_nodes",
        }
    }

    /// Returns what is counted, such as `bytes of input`.
    pub fn counted(self) -> &'static str {
        match self {
            Self::InputBytes => "bytes of input",
            Self::Depth => "levels of nesting",
            Self::Resources => "resource vertices",
            Self::Nodes => "values in a document",
            Self::AliasNodes => "values repeated by aliases",
        }
    }
}
