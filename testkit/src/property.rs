//! Looking for scenarios for which a law does not hold.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use quickcheck::{Arbitrary, Gen};

use crate::{Counts, Law, Scenario, Trial};

/// How many operations a history has at most.
const OPERATIONS_MAX: usize = 12;

/// A scenario for which a law does not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The law.
    pub law: &'static str,
    /// The seed of the scenario in which it was found.
    pub seed: u64,
    /// The smallest scenario found from there.
    pub scenario: Scenario,
    /// What is wrong with that one.
    pub fault: String,
}

/// Returns the seeds of the cases of a run, without end.
pub fn seeds(run: u64) -> impl Iterator<Item = u64> {
    // Neighbouring runs have no case in common (the steps of splitmix64, which is a permutation).
    (0_u64..).map(move |number| {
        let mut seed = run.wrapping_mul(0x2545_F491_4F6C_DD1D).wrapping_add(number);
        seed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        seed = (seed ^ (seed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        seed ^ (seed >> 31)
    })
}

/// Returns the scenario of a seed.
pub fn scenario(seed: u64) -> Scenario {
    Scenario::arbitrary(&mut Gen::from_size_and_seed(OPERATIONS_MAX, seed))
}

/// Puts `law` to the scenario of a seed and tells what was done.
///
/// # Errors
///
/// The smallest scenario found from there for which the law does not hold.
pub fn try_case(law: &Law, seed: u64) -> Result<Counts, Box<Failure>> {
    attempt(law.name, seed, &law.holds)
}

fn attempt(
    law: &'static str,
    seed: u64,
    holds: &dyn Fn(&mut Trial<'_>) -> Result<(), String>,
) -> Result<Counts, Box<Failure>> {
    let mut scenario = scenario(seed);
    let mut fault = match put(holds, &scenario) {
        Ok(counts) => return Ok(counts),
        Err(fault) => fault,
    };
    let smaller = |scenario: &Scenario| {
        let faulty = |less: Scenario| Some((put(holds, &less).err()?, less));
        scenario.shrink().find_map(faulty)
    };
    while let Some((of_less, less)) = smaller(&scenario) {
        (fault, scenario) = (of_less, less);
    }
    Err(Box::new(Failure { law, seed, scenario, fault }))
}

/// Puts a law to a scenario. A panic is a fault like any other.
fn put(
    holds: &dyn Fn(&mut Trial<'_>) -> Result<(), String>,
    scenario: &Scenario,
) -> Result<Counts, String> {
    let mut trial = Trial::new(scenario);
    match catch_unwind(AssertUnwindSafe(|| holds(&mut trial))) {
        Ok(fine) => fine.map(|()| trial.counts),
        Err(panic) => Err(match panic.downcast::<String>() {
            Ok(message) => *message,
            Err(panic) => panic.downcast_ref::<&str>().unwrap_or(&"panicked").to_string(),
        }),
    }
}

/// Puts `law` to `cases` scenarios, the same ones each time. The environment variables
/// `TESTKIT_CASES` and `TESTKIT_SEED` ask for another number of cases and for others.
///
/// # Panics
///
/// Panics with the smallest scenario found for which the law does not hold, and on variables that
/// are not numbers.
pub fn hold(law: &Law, cases: u64) {
    run(law.name, cases, &law.holds);
}

/// Puts something that has no name to `cases` scenarios, as [`hold`] does.
///
/// # Panics
///
/// As [`hold`].
pub fn check(cases: u64, law: impl Fn(&Scenario) -> Result<(), String>) {
    run("what is expected", cases, &|trial| law(trial.scenario));
}

fn run(law: &'static str, cases: u64, holds: &dyn Fn(&mut Trial<'_>) -> Result<(), String>) {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name}: `{text}` is not a number")))
    };
    let cases = number("TESTKIT_CASES").unwrap_or(cases);
    let seeds = seeds(number("TESTKIT_SEED").unwrap_or(0));
    for (seed, _) in seeds.zip(0..cases) {
        if let Err(failure) = attempt(law, seed, holds) {
            panic!("{failure}");
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, seed, scenario, fault } = self;
        writeln!(f, "{law} does not hold:")?;
        writeln!(f, "graph: {:?}", scenario.graph)?;
        writeln!(f, "setup: {:?}", scenario.setup)?;
        for (operation, job, now) in scenario.history.steps() {
            writeln!(f, "second {now}, job {job}: {operation:?}")?;
        }
        writeln!(f, "{fault}")?;
        if Law::named(law).is_some() {
            write!(f, "again: cargo run --release -p testkit -- replay --law {law} --case {seed}")?;
        }
        Ok(())
    }
}
