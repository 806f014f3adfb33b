//! What jobs hold, and what is left of it.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    EmittedVertex, Engine, Error, Graph, JobId, MatchVisitor, OnFault, Outcome, Release,
    SubsystemId, VertexId,
};
use jgf::{LoadFormat, MatchFormat};

use crate::{Answer, NaivePlanner, Operation, Recorder, Released, Reply, Trial, copy, held_by};

/// What the answers say is held fits at every tick: of no vertex more than there is, and what is
/// for one job alone has one. The engine says of each job that it holds just that.
///
/// After a partial cancel it may hold more, which its aggregates do not know any more: see
/// `docs/deviations.md`, "Partial cancels are not always one cancel".
pub(super) fn no_vertex_is_over_its_size_at_any_tick(trial: &mut Trial<'_>) -> Result<(), String> {
    let mut engine = trial.engine();
    let mut planner = NaivePlanner::new(engine.graph());
    let mut released = false;
    for (operation, job, now) in trial.scenario.history.steps() {
        if operation.changes_topology() {
            continue;
        }
        let answer = trial.step(&mut engine, operation, job, now)?;
        // What is booked but not told cannot be followed: see `docs/deviations.md`, "A vertex with
        // an overfull aggregate".
        if !answer.emitted.is_whole() {
            return Ok(());
        }
        note(&mut planner, &engine, &answer)?;
        trial.counts.checks += 1;
        released |= matches!(answer.reply, Ok(Reply::Released { .. }));
        for (job, _) in engine.jobs().collect::<Vec<_>>() {
            let (given, expected) = (held_by(&mut engine, job), planner.exclusive_to(job));
            let fine = if released {
                expected.iter().all(|vertex| given.contains(vertex))
            } else {
                given == expected
            };
            trial.check(fine, || format!("job {job} holds {given:?} rather than {expected:?}"))?;
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
            if graph.root(Graph::CONTAINMENT).is_some_and(|root| given.contains(&root)) {
                // Without the root a job has nothing.
                planner.cancel(job);
                return Ok(());
            }
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
                let reserved = *outcome != Outcome::Allocated;
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
    let plain = |operation: &Operation| {
        !matches!(operation, Operation::Release(..)) && !operation.changes_topology()
    };
    let (mut used, mut new) = (trial.engine(), trial.engine());
    let answers = trial.run_some(&mut used, |i| plain(&operations[i]))?;
    if !answers.iter().flatten().all(|answer| answer.emitted.is_whole()) {
        return Ok(());
    }
    let jobs: Vec<JobId> = used.jobs().map(|(job, _)| job).collect();
    for job in jobs {
        used.cancel(job).map_err(|error| error.to_string())?;
    }
    trial.run_some(&mut new, |i| matches!(operations[i], Operation::SetStatus(..)))?;
    trial.check(used.digest() == new.digest(), || "something is left".to_owned())?;
    let (given, expected) = (trial.run(&mut used)?, trial.run(&mut new)?);
    trial.compare(&given, &expected)
}

/// An allocation or reservation changes the digest, and a cancel of it brings back the one before.
///
/// Excepted is what is booked but not told: see `docs/deviations.md`, "A vertex with an overfull
/// aggregate".
pub(super) fn cancel_after_allocate_restores_the_digest(
    trial: &mut Trial<'_>,
) -> Result<(), String> {
    let mut engine = trial.engine();
    for (operation, job, now) in trial.scenario.history.steps() {
        let before = engine.digest();
        let answer = trial.step(&mut engine, operation, job, now)?;
        if answer.taker().is_none() || !answer.emitted.is_whole() {
            continue;
        }
        trial.check(engine.digest() != before, || format!("no digest shows job {job}"))?;
        engine.cancel(job).map_err(|error| error.to_string())?;
        trial.check(engine.digest() == before, || {
            format!("a cancel of job {job} leaves something")
        })?;
        trial.step(&mut engine, operation, job, now)?;
    }
    Ok(())
}

/// What is refused, and what only asks, leaves the digest as it is.
pub(super) fn refusals_and_questions_leave_the_digest(trial: &mut Trial<'_>) -> Result<(), String> {
    let mut engine = trial.engine();
    for (operation, job, now) in trial.scenario.history.steps() {
        let before = engine.digest();
        let answer = trial.step(&mut engine, operation, job, now)?;
        if answer.is_refusal() || operation.only_asks() {
            trial.check(engine.digest() == before, || format!("{answer:?} changes the digest"))?;
        }
    }
    Ok(())
}

/// Tells two visitors.
struct Both<'a>(&'a mut Recorder, &'a mut jgf::Writer);

impl MatchVisitor for Both<'_> {
    fn vertex(&mut self, graph: &Graph, vertex: &EmittedVertex<'_>) -> Result<(), Error> {
        self.0.vertex(graph, vertex)?;
        self.1.vertex(graph, vertex)
    }

    fn edge(
        &mut self,
        graph: &Graph,
        source: VertexId,
        target: VertexId,
        subsystem: SubsystemId,
        under_exclusive: bool,
    ) -> Result<(), Error> {
        self.0.edge(graph, source, target, subsystem, under_exclusive)?;
        self.1.edge(graph, source, target, subsystem, under_exclusive)
    }

    fn times(&mut self, start: i64, end: i64) {
        self.0.times(start, end);
        self.1.times(start, end);
    }

    fn attribute(&mut self, key: &str, value: &str) {
        self.0.attribute(key, value);
        self.1.attribute(key, value);
    }
}

/// Where a job takes what an earlier allocation or reservation was written to hold, in JGF, the
/// digest is that of after the allocation.
///
/// Excepted is what is booked but not told, and what cannot be written: see `docs/deviations.md`,
/// "What was not written waits for the next answer".
pub(super) fn allocate_then_update_from_its_own_r_gives_the_same_digest(
    trial: &mut Trial<'_>,
) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut engine = trial.engine();
    for (operation, job, now) in trial.scenario.history.steps() {
        let before = copy(trial.scenario, &engine)?;
        let answer = trial.step(&mut engine, operation, job, now)?;
        let (Operation::Match { op, request, .. }, Some(_)) = (operation, answer.taker()) else {
            continue;
        };
        let (mut written, mut updated) = (before, copy(trial.scenario, &engine)?);
        let (mut recorder, mut writer) = (Recorder::default(), jgf::Writer::new(MatchFormat::Jgf));
        let both = &mut Both(&mut recorder, &mut writer);
        let again = written.match_jobspec(*op, &request.jobspec(), job, now, both);
        trial.check(again.is_ok() && recorder.emitted == answer.emitted, || {
            format!("{again:?} {:?} rather than {answer:?}", recorder.emitted)
        })?;
        let mut r = String::new();
        let (Some((start, end)), Ok(())) = (answer.emitted.times, writer.emit(&mut r)) else {
            continue;
        };
        if r.is_empty() || !answer.emitted.is_whole() {
            continue;
        }
        updated.cancel(job).map_err(|error| text(&error))?;
        let booking =
            jgf::read_booking(updated.graph(), &r, LoadFormat::Jgf, &jgf::Limits::default());
        let booking = booking.map_err(|error| format!("{error} in {r}"))?;
        let (duration, reserve) = (end - start, start != now);
        updated
            .update(job, &booking, start, duration, reserve, &mut Recorder::default())
            .map_err(|error| format!("{error} in {r}"))?;
        updated.validate().map_err(|error| text(&error))?;
        trial.check(updated.digest() == engine.digest(), || format!("job {job} by {r}"))?;
    }
    Ok(())
}

/// A job that gives back all it has, part by part in any order, leaves the same digest as with one
/// cancel. A part is what it has of a rank, or a vertex that it has for itself with all below.
///
/// Excepted are jobs that hold something of a type that is not tracked everywhere, which are over
/// too early, something without a rank, which stays blocked, and what was booked but not told: see
/// `docs/deviations.md`, "Partial cancels are not always one cancel" and "A vertex with an overfull
/// aggregate".
pub(super) fn partial_cancels_in_any_order_are_one_cancel(
    trial: &mut Trial<'_>,
) -> Result<(), String> {
    let filters = trial.scenario.setup.filters;
    let mut engine = trial.engine();
    for (number, (operation, job, now)) in trial.scenario.history.steps().enumerate() {
        if matches!(operation, Operation::Release(..)) || operation.changes_topology() {
            continue;
        }
        let answer = trial.step(&mut engine, operation, job, now)?;
        if !answer.emitted.is_whole() {
            return Ok(());
        }
        if answer.reply != Ok(Reply::Match(job, Outcome::Allocated)) {
            continue;
        }
        let vertices = held_by(&mut engine, job);
        let graph = engine.graph();
        let fine = |&vertex: &VertexId| {
            let kind = graph.type_name(graph.kind(vertex));
            filters.tracks_everywhere(kind) && graph.rank(vertex) >= 0
        };
        if !vertices.iter().all(fine) {
            continue;
        }
        let mut cancelled = copy(trial.scenario, &engine)?;
        cancelled.cancel(job).map_err(|error| error.to_string())?;
        for parts in [by_rank(graph, &vertices), by_subtree(graph, &vertices)] {
            let backwards: Vec<Release> = parts.iter().rev().cloned().collect();
            let mut mixed = parts.clone();
            mixed.rotate_left(number.checked_rem(parts.len()).unwrap_or(0));
            for order in [parts, backwards, mixed] {
                let mut released = copy(trial.scenario, &engine)?;
                for (i, part) in order.iter().enumerate() {
                    let over = released.release(job, part, OnFault::Restore);
                    let last = i + 1 == order.len();
                    trial.check(over == Ok(last), || format!("{over:?} at {i} of {order:?}"))?;
                    released.validate().map_err(|error| error.to_string())?;
                }
                let same = released.digest() == cancelled.digest();
                trial
                    .check(same, || format!("job {job} in the order {order:?} leaves something"))?;
            }
        }
    }
    Ok(())
}

fn by_rank(graph: &Graph, vertices: &[VertexId]) -> Vec<Release> {
    let ranks: BTreeSet<i64> = vertices.iter().map(|&vertex| graph.rank(vertex)).collect();
    ranks.into_iter().map(|rank| Release::Ranks(vec![rank])).collect()
}

/// Returns the vertices by the uppermost of `vertices` that they are below.
fn by_subtree(graph: &Graph, vertices: &[VertexId]) -> Vec<Release> {
    let mut parts: BTreeMap<VertexId, Vec<VertexId>> = BTreeMap::new();
    for &vertex in vertices {
        let parent = |vertex: &VertexId| graph.parent(*vertex, Graph::CONTAINMENT);
        let line = std::iter::successors(Some(vertex), parent);
        let top = line.filter(|above| vertices.contains(above)).last().unwrap_or(vertex);
        parts.entry(top).or_default().push(vertex);
    }
    parts.into_values().map(Release::Vertices).collect()
}
