//! What the fuzzer calls: one function for each target, which takes any bytes.
//!
//! Each panics where a promise is broken and returns otherwise; that it returns at all is one of
//! the promises. They stand here rather than in `fuzz/`, so that `cargo test` replays
//! `testdata/regressions` and the seeds with the very same functions.

mod bytes;
mod probe;
mod snapshot;
mod texts;

use bytes::Bytes;
use engine::{Options, Shortcuts};

use crate::Scenario;

pub use snapshot::{seal, snapshot};
pub use texts::{constraint, find_expr, grug, hwloc, jgf, jobspec, rv1};

/// A function that takes any bytes and panics where a promise is broken.
pub type Target = fn(&[u8]);

/// The targets by name. Each has a folder of seeds, and one of regressions once it found any.
pub const TARGETS: [(&str, Target); 9] = [
    ("constraint", constraint),
    ("find_expr", find_expr),
    ("grug", grug),
    ("history", history),
    ("hwloc", hwloc),
    ("jgf", jgf),
    ("jobspec", jobspec),
    ("rv1", rv1),
    ("snapshot", snapshot),
];

/// Runs the history that the bytes stand for with all shortcuts and without any.
///
/// # Panics
///
/// Panics where the answers differ.
pub fn history(data: &[u8]) {
    let scenario = Scenario::decode(&mut Bytes::new(data));
    let answers = |shortcuts| {
        let options = Options { shortcuts, ..scenario.options() };
        scenario.history.run(&mut scenario.engine(scenario.setup.policy.as_str(), options))
    };
    let (given, expected) = (answers(Shortcuts::ALL), answers(Shortcuts::NONE));
    for (at, (given, expected)) in given.iter().zip(&expected).enumerate() {
        assert!(
            given == expected,
            "the answer to operation {at} is\n{given:?}\n\
             and without shortcuts\n{expected:?}\n{scenario:#?}"
        );
    }
}

/// Panics on one word. A fuzzer that does not find it in a short time is broken: it gets no
/// coverage, or its crashes go unnoticed.
///
/// # Panics
///
/// Panics on bytes that begin with `flux`.
pub fn canary(data: &[u8]) {
    // One comparison after the other, so that each right byte is new coverage.
    let mut bytes = data.iter();
    for expected in b"flux" {
        if bytes.next() != Some(expected) {
            return;
        }
    }
    panic!("the canary sang, as it should");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the canary sang")]
    fn the_canary_sings() {
        canary(b"fluxion");
    }

    #[test]
    fn the_canary_is_silent_on_all_else() {
        for data in [&b""[..], b"flu", b"xflux"] {
            canary(data);
        }
    }
}
