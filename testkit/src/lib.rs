//! Random graphs, jobspecs and histories, for tests that hold laws of the engine.
//!
//! Everything here is a *recipe*: a small value that [`quickcheck`] makes and shrinks, whose
//! [`Debug`](std::fmt::Debug) form is short enough to read in the report of a failure, and that
//! builds the real thing on demand. [`History::run`] tells all that an engine answered, so that two
//! engines, or one with itself, are compared by `==`.
//!
//! The types of the engine are another build's in the engine's own unit tests, so only integration
//! tests can use this package.

mod filters;
mod graph;
mod history;
mod jobspec;

pub use filters::FilterSpec;
pub use graph::{GraphRecipe, VertexRecipe};
pub use history::{Answer, Emitted, EmittedEdge, History, Operation, Recorder, Reply, Taken};
pub use jobspec::{Amount, Condition, Request, ResourceRequest};

use quickcheck::{Gen, QuickCheck, Testable};

/// Checks `property` on `cases` cases, or on as many as the environment variable
/// `QUICKCHECK_TESTS` says, of a size at which they stay small.
///
/// # Panics
///
/// Panics with the shrunk case where the property fails.
pub fn check(cases: u64, property: impl Testable) {
    let runs = QuickCheck::new().rng(Gen::new(10));
    let runs =
        if std::env::var_os("QUICKCHECK_TESTS").is_some() { runs } else { runs.tests(cases) };
    runs.max_tests(u64::MAX).quickcheck(property);
}

/// Returns an engine over the graph of `recipe`.
///
/// # Panics
///
/// Panics where the graph, the policy or the options are refused: recipes make none that are.
pub fn engine(recipe: &GraphRecipe, policy: &str, options: engine::Options) -> engine::Engine {
    let policy = policies::policy(policy).expect("the policy has a name");
    engine::Engine::new(recipe.build(), policy, options).expect("the graph has a root")
}

/// Returns a number below `bound`, or 0 where there is none.
fn below(g: &mut Gen, bound: usize) -> usize {
    use quickcheck::Arbitrary as _;
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
