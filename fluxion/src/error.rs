//! What can go wrong in a session.

use engine::JobId;

/// What an operation of a session can fail with.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The jobspec cannot be read.
    #[error("{0}")]
    Jobspec(#[from] jobspec::Error),
    /// A graph or a resource set cannot be read.
    #[error("{0}")]
    Format(#[from] jgf::Error),
    /// A match cannot be written.
    #[error("{0}")]
    Emit(#[from] jgf::EmitError),
    /// The engine refused.
    #[error("{0}")]
    Engine(#[from] engine::Error),
    /// There is no such policy.
    #[error("{0}")]
    Policy(#[from] policies::Error),
    /// There is no such matcher.
    #[error("unknown matcher `{0}`: expected one of {names}", names = crate::MATCHERS.map(|(name, _)| name).join(", "))]
    Matcher(String),
    /// The search expression cannot be read.
    #[error("{0}")]
    Criteria(#[from] crate::CriteriaError),
    /// No job has this id.
    #[error("nonexistent job {0}")]
    UnknownJob(JobId),
    /// A job has this id.
    #[error("existing job {0}")]
    JobExists(JobId),
    /// The operation is for allocations, not for reservations.
    #[error("job {0} is reserved: only allocations can be released in part")]
    Reserved(JobId),
    /// The state directory is not what it should be.
    #[error("{0}")]
    State(#[from] crate::StateError),
}
