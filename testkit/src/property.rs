//! Properties of scenarios.

use std::panic::{AssertUnwindSafe, catch_unwind};

use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult, Testable};

use crate::Scenario;

/// How many operations a history has at most.
const OPERATIONS_MAX: usize = 12;

/// Checks on `cases` scenarios, or on as many as the environment variable `QUICKCHECK_TESTS` says,
/// that `law` holds. A law tells what is wrong, or panics.
///
/// # Panics
///
/// Panics with the smallest scenario found for which the law does not hold.
pub fn check(cases: u64, law: impl Fn(&Scenario) -> Result<(), String> + 'static) {
    let runs = QuickCheck::new().rng(Gen::new(OPERATIONS_MAX));
    let given = std::env::var_os("QUICKCHECK_TESTS").is_some();
    let mut runs = if given { runs } else { runs.tests(cases) };
    runs.quickcheck(Property { law });
}

struct Property<F> {
    law: F,
}

impl<F: Fn(&Scenario) -> Result<(), String>> Property<F> {
    /// Returns what is wrong with a scenario, if anything.
    fn fault(&self, scenario: &Scenario) -> Option<String> {
        match catch_unwind(AssertUnwindSafe(|| (self.law)(scenario))) {
            Ok(fine) => fine.err(),
            Err(panic) => Some(match panic.downcast::<String>() {
                Ok(message) => *message,
                Err(panic) => panic.downcast_ref::<&str>().unwrap_or(&"panicked").to_string(),
            }),
        }
    }
}

impl<F: Fn(&Scenario) -> Result<(), String> + 'static> Testable for Property<F> {
    fn result(&self, g: &mut Gen) -> TestResult {
        let mut scenario = Scenario::arbitrary(g);
        let Some(mut fault) = self.fault(&scenario) else {
            return TestResult::passed();
        };
        let smaller = |scenario: &Scenario| {
            let faulty = |less: Scenario| Some((self.fault(&less)?, less));
            scenario.shrink().find_map(faulty)
        };
        while let Some((of_less, less)) = smaller(&scenario) {
            (fault, scenario) = (of_less, less);
        }
        TestResult::error(format!("{scenario:#?}\n{fault}"))
    }
}
