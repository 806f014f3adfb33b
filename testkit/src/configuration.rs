//! Ways to run a history, none of which may change an answer.

use std::sync::LazyLock;

use engine::{Digest, Engine, Error, Limits, Options, Shortcuts};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{Answer, Scenario, Trial};

/// How a history is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// What the search may skip.
    pub shortcuts: Shortcuts,
    /// With how many threads.
    pub threads: usize,
    /// Whether each step goes on from a snapshot of the one before.
    pub snapshots: bool,
}

/// How many threads there are where there are several.
const SEVERAL: usize = 4;

static POOLS: LazyLock<[ThreadPool; 2]> = LazyLock::new(|| {
    [1, SEVERAL].map(|n| {
        let pool = ThreadPoolBuilder::new().num_threads(n).build();
        pool.expect("threads can be started")
    })
});

impl Configuration {
    /// The one that all others are compared with.
    pub const PLAIN: Self = Self { shortcuts: Shortcuts::NONE, threads: 1, snapshots: false };

    /// Returns all others: each shortcut alone and all of them, with one thread and with several,
    /// and with a snapshot after each step.
    pub fn all() -> impl Iterator<Item = Self> {
        let with = |shortcuts| Self { shortcuts, ..Self::PLAIN };
        [
            with(Shortcuts { best_first: true, ..Shortcuts::NONE }),
            with(Shortcuts { shapes: true, ..Shortcuts::NONE }),
            with(Shortcuts::ALL),
            Self { threads: SEVERAL, ..Self::PLAIN },
            Self { threads: SEVERAL, ..with(Shortcuts::ALL) },
            Self { snapshots: true, ..Self::PLAIN },
            Self { snapshots: true, ..with(Shortcuts::ALL) },
        ]
        .into_iter()
    }

    /// Runs the history of a scenario and returns its answers, and the digest at its end.
    ///
    /// # Errors
    ///
    /// What a step finds unsound.
    pub fn run(self, trial: &mut Trial<'_>) -> Result<(Vec<Answer>, Digest), String> {
        let [one, several] = &*POOLS;
        let pool = if self.threads == 1 { one } else { several };
        pool.install(|| {
            let options = Options { shortcuts: self.shortcuts, ..trial.scenario.options() };
            let mut engine = trial.engine_with(options);
            let mut answers = Vec::new();
            for (operation, job, now) in trial.scenario.history.steps() {
                answers.push(trial.step(&mut engine, operation, job, now)?);
                if self.snapshots {
                    engine = copy(trial.scenario, &engine)?;
                }
            }
            Ok((answers, engine.digest()))
        })
    }
}

/// Returns an engine in the state of another, by way of a snapshot.
///
/// # Errors
///
/// Tells why there is none, or in what it differs.
pub fn copy(scenario: &Scenario, engine: &Engine) -> Result<Engine, String> {
    let text = |error: Error| error.to_string();
    let bytes = engine.snapshot().map_err(text)?;
    let policy = scenario.setup.policy.policy();
    let copy = Engine::restore(&bytes, policy, Limits::default()).map_err(text)?;
    if copy.digest() == engine.digest() {
        Ok(copy)
    } else {
        Err("what is restored from a snapshot has another digest".to_owned())
    }
}
