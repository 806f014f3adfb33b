//! What changes no answer.

use engine::MatchOp;

use crate::{Answer, Configuration, Operation, Trial};

/// With each shortcut on and off, with one thread and with several, and with a snapshot after each
/// step, answers and digest are those of an engine without any of that.
pub(super) fn no_configuration_changes_an_answer(trial: &mut Trial<'_>) -> Result<(), String> {
    let (expected, digest) = Configuration::PLAIN.run(trial)?;
    for configuration in Configuration::all() {
        let within = |fault| format!("{configuration:?}: {fault}");
        let (given, other) = configuration.run(trial)?;
        trial.compare(&given, &expected).map_err(within)?;
        trial.check(other == digest, || within("another digest".to_owned()))?;
    }
    Ok(())
}

/// The answers to all else are the same, were matches that only ask left out or not.
///
/// Excepted are the policies that stop at the first match: there asking changes the order in which
/// they look. See `docs/deviations.md`, "Trying has an effect".
pub(super) fn asking_without_allocating_changes_nothing(
    trial: &mut Trial<'_>,
) -> Result<(), String> {
    if trial.scenario.setup.policy.policy().first_match() {
        return Ok(());
    }
    let operations = &trial.scenario.history.0;
    let (mut asked, mut silent) = (trial.engine(), trial.engine());
    let expected = trial.run_some(&mut silent, |i| !operations[i].only_asks())?;
    let given = trial.run(&mut asked)?;
    let given: Vec<Answer> = given
        .into_iter()
        .zip(&expected)
        .filter(|(_, told)| told.is_some())
        .map(|(a, _)| a)
        .collect();
    trial.compare(&given, &expected.into_iter().flatten().collect::<Vec<_>>())
}

/// A match that only asks is answered in the same way when it is asked again.
///
/// Excepted are the policies that stop at the first match, as above.
pub(super) fn what_is_asked_twice_is_answered_twice_alike(
    trial: &mut Trial<'_>,
) -> Result<(), String> {
    if trial.scenario.setup.policy.policy().first_match() {
        return Ok(());
    }
    let mut engine = trial.engine();
    for (operation, job, now) in trial.scenario.history.steps() {
        if let Operation::Match { op, request, .. } = operation {
            let op = match op {
                MatchOp::Allocate | MatchOp::AllocateWithSatisfiability => {
                    MatchOp::WithoutAllocating
                }
                MatchOp::AllocateOrelseReserve => MatchOp::WithoutAllocatingFuture,
                _ => *op,
            };
            let ask = Operation::Match { op, wait: 0, request: request.clone() };
            let once = trial.step(&mut engine, &ask, job, now)?;
            let twice = trial.step(&mut engine, &ask, job, now)?;
            trial.compare(&[twice], &[once])?;
        }
        trial.step(&mut engine, operation, job, now)?;
    }
    Ok(())
}

/// The answers to all else are the same, were operations that are refused left out or not.
pub(super) fn what_is_refused_changes_nothing(trial: &mut Trial<'_>) -> Result<(), String> {
    let (mut refusing, mut obliging) = (trial.engine(), trial.engine());
    let given = trial.run(&mut refusing)?;
    let expected = trial.run_some(&mut obliging, |i| !given[i].is_refusal())?;
    let given: Vec<Answer> = given.into_iter().filter(|answer| !answer.is_refusal()).collect();
    trial.compare(&given, &expected.into_iter().flatten().collect::<Vec<_>>())
}
