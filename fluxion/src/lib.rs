//! The matcher as a library.
//!
//! A [`Session`] is a resource graph with jobs on it: load one, match jobspecs, cancel jobs, look
//! things up. What the parts underneath do is found in `jobspec`, `engine`, `policies` and `jgf`.

/// The examples of the project's introduction, which are tested with those of this package.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

mod criteria;
mod error;
mod job_id;
mod matcher;
mod session;
mod state;

pub use criteria::{Criteria, CriteriaError};
pub use engine::{Digest, JobId, MatchOp, OnFault, Outcome, Status, Traverser};
pub use error::Error;
pub use jgf::{LoadFormat, MatchFormat};
pub use job_id::{JobIdForm, encode_job_id, parse_job_id};
pub use matcher::{MATCHERS, matcher_subsystems};
pub use policies::{Error as PolicyError, names as policy_names, policy};
pub use session::{
    JobInfo, JobState, MatchReport, Session, SessionOptions, match_op, match_op_name,
};
pub use state::{Dropped, Fsync, Recovery, StateDir, StateError, StateOptions};
