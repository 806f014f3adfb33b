//! Laws of the engine, and random graphs, jobspecs and histories to put them to.
//!
//! What is random is a *recipe*: a small value that [`quickcheck`] makes and shrinks, whose
//! [`Debug`](std::fmt::Debug) form is short enough to read in the report of a failure, and that
//! builds the real thing on demand. A [`Scenario`] has all of a case; [`LAWS`] says what must hold
//! for each, and [`try_case`] looks for the smallest for which it does not.
//!
//! What the engine answers is compared with what it answers in another [`Configuration`], with a
//! [`NaivePlanner`] and with an [`Exhaustive`] traverser.
//!
//! The types of the engine are another build's in the engine's own unit tests, so only integration
//! tests can use this package.

mod configuration;
mod exhaustive;
pub mod fuzz;
mod graph;
mod history;
mod jobspec;
mod laws;
mod planner;
mod property;
mod scenario;
mod script;
mod setup;
mod trial;

pub use configuration::{Configuration, copy};
pub use exhaustive::{Exhaustive, Moment, Share};
pub use graph::{GraphRecipe, VertexRecipe};
pub use history::{
    Answer, Emitted, EmittedEdge, History, Operation, Part, Recorder, Released, Reply, Taken,
    held_by,
};
pub use jobspec::{Amount, Condition, Request, ResourceRequest};
pub use laws::{LAWS, Law};
pub use planner::NaivePlanner;
pub use property::{Failure, check, hold, scenario, seeds, try_case};
pub use scenario::Scenario;
pub use script::script;
pub use setup::{FilterSpec, PolicyName, Setup};
pub use trial::{Counts, Trial};

use quickcheck::{Arbitrary as _, Gen};

/// Returns a number below `bound`, or 0 where there is none.
fn below(g: &mut Gen, bound: usize) -> usize {
    usize::arbitrary(g).checked_rem(bound).unwrap_or(0)
}

/// Returns true in one of `n` cases.
fn one_in(g: &mut Gen, n: usize) -> bool {
    below(g, n) == 0
}

/// Returns one of `choices`, the first where there is none.
fn pick<T: Copy>(g: &mut Gen, choices: &[T]) -> T {
    choices[below(g, choices.len())]
}
