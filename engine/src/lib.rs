//! The matcher: a resource graph, planners over time, and a depth-first traversal that finds
//! resources for a jobspec under a match policy.
//!
//! The engine reads no clock, no file and no environment, and prints nothing. The caller brings a
//! [`Graph`], tells what time it is, and receives a match through a [`MatchVisitor`].

mod booking;
mod digest;
mod engine;
mod error;
mod filter;
mod graph;
mod id;
mod intern;
mod planner;
mod policy;
mod snapshot;
mod traverser;
mod validate;
mod visit;

pub use booking::{BookedEdge, BookedVertex, Booking, OnFault, Release, Share};
pub use digest::Digest;
pub use engine::{
    Engine, Found, JobSpan, MatchOp, Options, Outcome, SearchOptions, Stats, Traverser,
};
pub use error::Error;
pub use graph::{Graph, NewVertex, Properties, Status};
pub use id::{JobId, SubsystemId, TypeId, VertexId};
pub use planner::Interval;
pub use policy::{Candidate, MatchPolicy, Preference, Preferences, Scoring};
pub use traverser::{Limits, Shortcuts};
pub use visit::{Aggregate, EmittedVertex, Ignore, MatchVisitor};
