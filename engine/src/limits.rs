//! Bounds on the work and the memory that an operation may cost.

use crate::Error;

/// Bounds on the work and the memory that an operation may cost.
///
/// An operation that passes one fails with [`Error::Limit`] and changes nothing. The defaults are
/// far above what batch jobs come to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Levels of a subsystem that is matched on; default 256. A search goes as deep.
    pub depth: usize,
    /// Steps of one match, with all the times that it tries, or of one search; default 2^34.
    ///
    /// A step is a look at a vertex for one of the requested resources, or for one term of a
    /// constraint or of a search expression. It is steps that are counted and not time, so that
    /// the answer does not depend on the machine.
    pub search_steps: usize,
    /// Requests that the alternatives of `xor_slot` may make; default 1000.
    pub xor_variants: usize,
    /// Times at which something starts or ends at one vertex; default 2^22.
    pub planner_points: usize,
    /// Bytes of a snapshot that is restored; default 2^34.
    pub snapshot_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 256,
            search_steps: 1 << 34,
            xor_variants: 1000,
            planner_points: 1 << 22,
            snapshot_bytes: 1 << 34,
        }
    }
}

impl Limits {
    /// Returns the error for a limit that was passed.
    pub(crate) fn passed(&self, limit: LimitKind) -> Error {
        let max = match limit {
            LimitKind::Depth => self.depth,
            LimitKind::SearchSteps => self.search_steps,
            LimitKind::XorVariants => self.xor_variants,
            LimitKind::PlannerPoints => self.planner_points,
            LimitKind::SnapshotBytes => self.snapshot_bytes,
        };
        Error::Limit { limit, max }
    }
}

/// Which bound of [`Limits`] was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::depth`].
    Depth,
    /// [`Limits::search_steps`].
    SearchSteps,
    /// [`Limits::xor_variants`].
    XorVariants,
    /// [`Limits::planner_points`].
    PlannerPoints,
    /// [`Limits::snapshot_bytes`].
    SnapshotBytes,
}

impl LimitKind {
    /// Returns the name under which users set the limit, such as `engine.search_steps`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Depth => "engine.depth",
            Self::SearchSteps => "engine.search_steps",
            Self::XorVariants => "engine.xor_variants",
            Self::PlannerPoints => "engine.planner_points",
            Self::SnapshotBytes => "engine.snapshot_bytes",
        }
    }

    /// Returns what is counted, such as `steps of a search`.
    pub fn counted(self) -> &'static str {
        match self {
            Self::Depth => "levels of vertices below each other",
            Self::SearchSteps => "steps of a search",
            Self::XorVariants => "requests from alternatives of `xor_slot`",
            Self::SnapshotBytes => "bytes of a snapshot",
            Self::PlannerPoints => "times at which something starts or ends at a vertex",
        }
    }
}
