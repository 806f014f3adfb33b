//! Ways to run a history, none of which may change an answer.

use std::sync::LazyLock;

use engine::{Options, Shortcuts};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{Answer, Trial};

/// How a history is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// What the search may skip.
    pub shortcuts: Shortcuts,
    /// With how many threads.
    pub threads: usize,
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
    pub const PLAIN: Self = Self { shortcuts: Shortcuts::NONE, threads: 1 };

    /// Returns all others: each shortcut alone and all of them, with one thread and with several.
    pub fn all() -> impl Iterator<Item = Self> {
        let shortcuts = [
            Shortcuts::NONE,
            Shortcuts { best_first: true, ..Shortcuts::NONE },
            Shortcuts { shapes: true, ..Shortcuts::NONE },
            Shortcuts::ALL,
        ];
        let alone = shortcuts.into_iter().map(|shortcuts| Self { shortcuts, threads: 1 });
        let several = [Shortcuts::NONE, Shortcuts::ALL];
        let several = several.into_iter().map(|shortcuts| Self { shortcuts, threads: SEVERAL });
        alone.chain(several).filter(|configuration| *configuration != Self::PLAIN)
    }

    /// Runs the history of a scenario and returns its answers.
    ///
    /// # Errors
    ///
    /// What a step finds unsound.
    pub fn run(self, trial: &mut Trial<'_>) -> Result<Vec<Answer>, String> {
        let [one, several] = &*POOLS;
        let pool = if self.threads == 1 { one } else { several };
        pool.install(|| {
            let options = Options { shortcuts: self.shortcuts, ..trial.scenario.options() };
            let mut engine = trial.engine_with(options);
            trial.run(&mut engine)
        })
    }
}
