//! A law put to one scenario.

use engine::{Engine, JobId, Options};

use crate::{Answer, Operation, Scenario};

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Laws put to a scenario.
    pub cases: u64,
    /// Histories run on an engine.
    pub histories: u64,
    /// Operations run.
    pub steps: u64,
    /// Matches among them that found something.
    pub matches: u64,
    /// Statements that were checked: an answer, a state, a tick.
    pub checks: u64,
}

impl Counts {
    /// Adds other counts.
    pub fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.histories += other.histories;
        self.steps += other.steps;
        self.matches += other.matches;
        self.checks += other.checks;
    }
}

/// A scenario under test, with what was done to it so far.
#[derive(Debug)]
pub struct Trial<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// What was done.
    pub counts: Counts,
}

impl<'a> Trial<'a> {
    /// Returns a trial in which nothing was done.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, counts: Counts { cases: 1, ..Counts::default() } }
    }

    /// Returns an engine as the scenario wants it, for another history.
    pub fn engine(&mut self) -> Engine {
        self.counts.histories += 1;
        self.scenario.fresh()
    }

    /// Returns an engine as [`Self::engine`], but for its options.
    pub fn engine_with(&mut self, options: Options) -> Engine {
        self.counts.histories += 1;
        self.scenario.engine(self.scenario.setup.policy.as_str(), options)
    }

    /// Runs one operation, after which the state must be sound.
    ///
    /// # Errors
    ///
    /// Tells what is unsound.
    pub fn step(
        &mut self,
        engine: &mut Engine,
        operation: &Operation,
        job: JobId,
        now: i64,
    ) -> Result<Answer, String> {
        let answer = operation.run(engine, job, now);
        self.counts.steps += 1;
        self.counts.matches += u64::from(answer.is_match());
        self.counts.checks += 1;
        engine.validate().map_err(|error| format!("after {operation:?}: {error}"))?;
        Ok(answer)
    }

    /// Runs the operations whose number is `wanted`, at the times and with the jobs that they have
    /// in the whole history. Returns the answers, `None` for those left out.
    ///
    /// # Errors
    ///
    /// As [`Self::step`].
    pub fn run_some(
        &mut self,
        engine: &mut Engine,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<Option<Answer>>, String> {
        let steps = self.scenario.history.steps().enumerate();
        steps
            .map(|(i, (operation, job, now))| {
                wanted(i).then(|| self.step(engine, operation, job, now)).transpose()
            })
            .collect()
    }

    /// Runs the whole history.
    ///
    /// # Errors
    ///
    /// As [`Self::step`].
    pub fn run(&mut self, engine: &mut Engine) -> Result<Vec<Answer>, String> {
        Ok(self.run_some(engine, |_| true)?.into_iter().flatten().collect())
    }

    /// Counts a check, and returns `fault` where it failed.
    ///
    /// # Errors
    ///
    /// `fault`, if `holds` is false.
    pub fn check(&mut self, holds: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
        self.counts.checks += 1;
        if holds { Ok(()) } else { Err(fault()) }
    }

    /// Checks that answers are as expected.
    ///
    /// # Errors
    ///
    /// Tells the first that is not.
    pub fn compare(&mut self, given: &[Answer], expected: &[Answer]) -> Result<(), String> {
        self.counts.checks += given.len() as u64;
        match given.iter().zip(expected).position(|(given, expected)| given != expected) {
            Some(at) => {
                Err(format!("answer {at} is\n{:?}\nrather than\n{:?}", given[at], expected[at]))
            }
            None if given.len() == expected.len() => Ok(()),
            None => Err(format!("{} answers rather than {}", given.len(), expected.len())),
        }
    }
}
