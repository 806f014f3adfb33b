//! Errors: bad input, exceeded limits and unknown ids. Not finding a match is an [`Outcome`], not
//! an error.
//!
//! [`Outcome`]: crate::Outcome

use crate::{JobId, VertexId};

/// What an operation of the engine can fail with. The state is as it was before the operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A count of things reached its limit.
    #[error("too many {what}: the limit is {limit}")]
    Limit {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// No vertex has this id.
    #[error("no vertex {0:?}")]
    UnknownVertex(VertexId),
    /// No vertex has this path.
    #[error("no vertex at path `{0}`")]
    UnknownPath(String),
    /// No vertex has this rank.
    #[error("no vertex with rank {0}")]
    UnknownRank(i64),
    /// The subsystem that is to be walked has no root.
    #[error("subsystem `{0}` has no root")]
    NoRoot(String),
    /// A second root for a subsystem.
    #[error("subsystem `{subsystem}` has two roots: `{first}` and `{second}`")]
    TwoRoots {
        /// The subsystem.
        subsystem: String,
        /// The name of its root.
        first: String,
        /// The name of the vertex that would be its root too.
        second: String,
    },
    /// An edge that would close a cycle.
    #[error("cycle in subsystem `{subsystem}` through `{path}`")]
    Cycle {
        /// The subsystem.
        subsystem: String,
        /// The path of a vertex on the cycle.
        path: String,
    },
    /// A number of the input does not fit.
    #[error("{what} {given} is out of range: {expected}")]
    OutOfRange {
        /// What the number tells.
        what: &'static str,
        /// The number, as written.
        given: String,
        /// The range it must lie in.
        expected: &'static str,
    },
    /// A pruning filter specification that cannot be read.
    #[error("pruning filter `{given}`: {expected}")]
    FilterSpec {
        /// The faulty part.
        given: String,
        /// What was expected.
        expected: &'static str,
    },
    /// No job has this id.
    #[error("no job {0}")]
    UnknownJob(JobId),
    /// A job has this id already.
    #[error("job {0} exists already")]
    JobExists(JobId),
    /// A job cannot take what others hold.
    #[error("`{path}` is not free for job {job}")]
    Occupied {
        /// The job.
        job: JobId,
        /// The path of the vertex.
        path: String,
    },
    /// A job does not hold what it is asked to give back.
    #[error("job {job} does not hold `{path}`")]
    NotHeld {
        /// The job.
        job: JobId,
        /// The path of the vertex.
        path: String,
    },
    /// A job holds nothing at a rank where it is asked to give something back.
    #[error("job {job} holds nothing at rank {rank}")]
    NothingAtRank {
        /// The job.
        job: JobId,
        /// The rank.
        rank: i64,
    },
    /// A request that contradicts itself or that this engine cannot answer.
    #[error("{0}")]
    Request(String),
    /// What was found stands where no chosen resource leads to, so it cannot be given to the job.
    #[error("the resources found cannot be reached through those asked for")]
    Unreachable {
        /// Whether this was the last time to try.
        last: bool,
    },
    /// A visitor refused a vertex or an edge.
    #[error("{0}")]
    Visit(String),
    /// A snapshot that cannot be restored.
    #[error("snapshot: {place}: {fault}")]
    Snapshot {
        /// Which part of it.
        place: String,
        /// What is wrong there.
        fault: String,
    },
    /// The state contradicts itself, which is a fault of the engine.
    #[error("broken state: {place}: {fault}")]
    Broken {
        /// The path of a vertex, or the name of a table.
        place: String,
        /// What is wrong there.
        fault: String,
    },
}
