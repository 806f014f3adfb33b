//! What jobs hold, and what is left of it.

use std::collections::BTreeSet;

use engine::{Engine, Graph, JobId, VertexId};

use crate::{Answer, NaivePlanner, Operation, Released, Reply, Trial, held_by};

/// What the answers say is held fits at every tick: of no vertex more than there is, and what is
/// for one job alone has one. The engine says of each job that it holds just that.
pub(super) fn no_vertex_is_over_its_size_at_any_tick(trial: &mut Trial<'_>) -> Result<(), String> {
    let mut engine = trial.engine();
    let mut planner = NaivePlanner::new(engine.graph());
    for (operation, job, now) in trial.scenario.history.steps() {
        let answer = trial.step(&mut engine, operation, job, now)?;
        // What is booked but not told cannot be followed: see `docs/deviations.md`, "A vertex with
        // an overfull aggregate".
        if !answer.emitted.is_whole() {
            return Ok(());
        }
        note(&mut planner, &engine, &answer)?;
        trial.counts.checks += 1;
        for (job, _) in engine.jobs().collect::<Vec<_>>() {
            let (given, expected) = (held_by(&mut engine, job), planner.exclusive_to(job));
            trial.check(given == expected, || {
                format!("job {job} holds {given:?} rather than {expected:?}")
            })?;
        }
    }
    Ok(())
}

/// Writes into `planner` what an answer gave or took.
pub(super) fn note(
    planner: &mut NaivePlanner,
    engine: &Engine,
    answer: &Answer,
) -> Result<(), String> {
    let graph = engine.graph();
    match answer.reply {
        Ok(Reply::Cancelled(job) | Reply::Released { job, over: true, .. }) => planner.cancel(job),
        Ok(Reply::Released { job, part, over: false }) => {
            let at = |vertex: VertexId| match part {
                Released::Rank(rank) => graph.rank(vertex) == rank,
                Released::Vertex(given) => vertex == given,
            };
            let given: Vec<VertexId> = graph.vertices().filter(|&vertex| at(vertex)).collect();
            // What is above no longer knows the job as a user: see `docs/deviations.md`.
            let above: BTreeSet<VertexId> = given
                .iter()
                .flat_map(|&vertex| {
                    let parent = |vertex: &VertexId| graph.parent(*vertex, Graph::CONTAINMENT);
                    std::iter::successors(parent(&vertex), parent)
                })
                .collect();
            planner.release(job, |vertex, exclusive| {
                given.contains(&vertex) || !exclusive && above.contains(&vertex)
            });
        }
        _ => {
            if let (Some(job), Ok(Reply::Match(_, outcome))) = (answer.taker(), &answer.reply) {
                let reserved = *outcome != engine::Outcome::Allocated;
                planner.hold(graph, job, &answer.emitted, reserved)?;
            }
        }
    }
    Ok(())
}

/// Once all jobs are cancelled, the history is answered as by a new engine.
///
/// Excepted are the policies that stop at the first match, for which weights stay, and histories in
/// which something was booked but not told. See `docs/deviations.md`, "Weights are stale" and "A
/// vertex with an overfull aggregate". A partial cancel can leave something blocked, "An exclusive
/// vertex without a rank stays blocked".
pub(super) fn a_cancel_of_all_jobs_leaves_the_engine_as_new(
    trial: &mut Trial<'_>,
) -> Result<(), String> {
    if trial.scenario.setup.policy.policy().first_match() {
        return Ok(());
    }
    let operations = &trial.scenario.history.0;
    let (mut used, mut new) = (trial.engine(), trial.engine());
    let released = |answer: &Answer| matches!(answer.reply, Ok(Reply::Released { .. }));
    let answers = trial.run(&mut used)?;
    if answers.iter().any(|answer| !answer.emitted.is_whole() || released(answer)) {
        return Ok(());
    }
    let jobs: Vec<JobId> = used.jobs().map(|(job, _)| job).collect();
    for job in jobs {
        used.cancel(job).map_err(|error| error.to_string())?;
    }
    trial.run_some(&mut new, |i| matches!(operations[i], Operation::SetStatus(..)))?;
    let (given, expected) = (trial.run(&mut used)?, trial.run(&mut new)?);
    trial.compare(&given, &expected)
}
