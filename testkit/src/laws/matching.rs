//! What a match finds.

use std::collections::BTreeSet;

use engine::{Graph, Interval, MatchOp, Outcome, Status, VertexId};

use super::state::note;
use crate::exhaustive::Share;
use crate::{
    Answer, Exhaustive, Moment, NaivePlanner, Operation, PolicyName, Reply, Request, Scenario,
    Trial,
};

/// A match takes just what the exhaustive traverser takes at that time, and is refused where that
/// finds nothing now; what is satisfiable according to one is to the other.
///
/// Nothing is given back in part, grows or shrinks here. Asked are only those requests that
/// [`Exhaustive::answers`], and only while all is counted rightly and all that is booked is told: see
/// `docs/deviations.md`, "Leaves are counted from the first one on", "Nodes that are up are counted by
/// changes" and "A vertex with an overfull aggregate".
pub(super) fn fast_equals_exhaustive(trial: &mut Trial<'_>) -> Result<(), String> {
    let scenario = trial.scenario;
    if scenario.miscounts() {
        return Ok(());
    }
    let mut engine = trial.engine();
    let mut planner = NaivePlanner::new(engine.graph());
    let policy = scenario.setup.policy.policy();
    let mut counted = nodes_are_counted(engine.graph());
    for (operation, job, now) in scenario.history.steps() {
        if matches!(operation, Operation::Release(..)) || operation.changes_topology() {
            continue;
        }
        let before = planner.clone();
        let graph = engine.graph().clone();
        let answer = trial.step(&mut engine, operation, job, now)?;
        if !answer.emitted.is_whole() {
            return Ok(());
        }
        note(&mut planner, &engine, &answer)?;
        counted &= nodes_are_counted(engine.graph());
        let Operation::Match { op, request, .. } = operation else { continue };
        if !Exhaustive::answers(scenario.setup, request) {
            continue;
        }
        let ask = |moment| Exhaustive::new(&graph, &before, &*policy, request, moment);
        let outcome = match answer.reply {
            Ok(Reply::Match(_, outcome)) => Some(outcome),
            _ => None,
        };
        if *op == MatchOp::Satisfiability {
            let (given, expected) =
                (outcome == Some(Outcome::Satisfiable), ask(Moment::Ever).finds());
            trial.check(given == expected, || {
                format!("{request:?} is satisfiable: {given} rather than {expected}")
            })?;
            continue;
        }
        let told: Vec<Share> = answer
            .emitted
            .vertices
            .iter()
            .map(|taken| (taken.vertex, taken.needs, taken.exclusive))
            .collect();
        let at = match outcome {
            Some(Outcome::Allocated) => Some(now),
            Some(Outcome::Reserved { at } | Outcome::Matched { at }) => Some(at),
            _ => None,
        };
        let span = |at: i64| Interval { start: at, end: at + duration(request) };
        if let Some(at) = at {
            let moment = if at == now { Moment::Now(span(at)) } else { Moment::Later(span(at)) };
            let expected = ask(moment).matches();
            trial.check(expected.as_ref() == Some(&told), || {
                format!("{told:?} is taken at {at} rather than {expected:?}")
            })?;
        }
        if at != Some(now) && counted {
            let expected = ask(Moment::Now(span(now))).matches();
            trial.check(expected.is_none(), || {
                format!("{:?} at second {now}, though there is {expected:?}", answer.reply)
            })?;
        }
    }
    Ok(())
}

/// Returns for how many seconds a request is.
fn duration(request: &Request) -> i64 {
    if request.duration == 0 { Scenario::HORIZON } else { i64::from(request.duration) }
}

/// Returns whether all nodes and what is above them is up. If not, they are miscounted.
fn nodes_are_counted(graph: &Graph) -> bool {
    let counts = |kind: &str| ["node", "rack", "cluster"].contains(&kind);
    graph.vertices().all(|vertex| {
        graph.status(vertex) == Status::Up || !counts(graph.type_name(graph.kind(vertex)))
    })
}

/// What is satisfiable under one policy is under all.
///
/// Excepted are graphs whose pools have different sizes and requests with slots side by side, where
/// it matters which candidates are taken: see `docs/deviations.md`, "Satisfiable depends on the
/// policy".
pub(super) fn satisfiable_under_one_policy_is_under_all(
    trial: &mut Trial<'_>,
) -> Result<(), String> {
    let scenario = trial.scenario;
    if !scenario.graph.is_uniform() {
        return Ok(());
    }
    let requests = scenario.history.0.iter().filter_map(Operation::request);
    let requests: Vec<&Request> = requests.filter(|request| !request.has_like_siblings()).collect();
    let mut first: Option<(PolicyName, Vec<bool>)> = None;
    for policy in PolicyName::all() {
        let scenario =
            Scenario { setup: crate::Setup { policy, ..scenario.setup }, ..scenario.clone() };
        let given = satisfiable(trial, &scenario, &requests)?;
        let (other, expected) = first.get_or_insert_with(|| (policy, given.clone()));
        let differ = given.iter().zip(&*expected).position(|(given, expected)| given != expected);
        trial.check(differ.is_none(), || {
            let request = requests[differ.unwrap_or(0)];
            format!("{policy:?} and {other:?} differ about {request:?}")
        })?;
    }
    Ok(())
}

/// Returns which requests are satisfiable.
fn satisfiable(
    trial: &mut Trial<'_>,
    scenario: &Scenario,
    requests: &[&Request],
) -> Result<Vec<bool>, String> {
    let mut engine = scenario.fresh();
    trial.counts.histories += 1;
    let mut answers = Vec::new();
    for (request, number) in requests.iter().zip(1..) {
        let op = MatchOp::Satisfiability;
        let operation = Operation::Match { op, wait: 0, request: (*request).clone() };
        let answer = trial.step(&mut engine, &operation, engine::JobId(number), 0)?;
        answers.push(is_satisfiable(&answer));
    }
    Ok(answers)
}

fn is_satisfiable(answer: &Answer) -> bool {
    matches!(answer.reply, Ok(Reply::Match(_, Outcome::Satisfiable)))
}

/// What is satisfiable stays so when there is more of something: another vertex like one that there
/// is, beside it.
///
/// Excepted are graphs whose pools have different sizes, requests with slots side by side, and such
/// as leave a number open, of which as much as possible is taken: see `docs/deviations.md`, "More can
/// be less".
pub(super) fn more_resources_never_make_unsatisfiable(trial: &mut Trial<'_>) -> Result<(), String> {
    let scenario = trial.scenario;
    if !scenario.graph.is_uniform() {
        return Ok(());
    }
    let requests = scenario.history.0.iter().filter_map(Operation::request);
    let requests: Vec<&Request> =
        requests.filter(|request| !request.has_like_siblings() && !request.has_range()).collect();
    let before = satisfiable(trial, scenario, &requests)?;
    for graph in scenario.graph.with_one_more() {
        let more = Scenario { graph, ..scenario.clone() };
        let after = satisfiable(trial, &more, &requests)?;
        let lost = before.iter().zip(&after).position(|(before, after)| *before && !after);
        trial.check(lost.is_none(), || {
            let request = requests[lost.unwrap_or(0)];
            format!("{request:?} is unsatisfiable with {:?}", more.graph)
        })?;
    }
    Ok(())
}

/// Where a reservation is made, there is nothing at any earlier time: not to somebody who comes at
/// that time, all jobs that are over by then being cancelled.
///
/// Nothing is given back in part, grows or shrinks here. What is free changes for the better only
/// where something is given back, so those times are tried. Excepted are graphs whose root tracks
/// nothing, the ends of jobs that hold nothing that is tracked, requests with slots side by side and
/// such as skip a level above a slot, and what is counted too low: see `docs/deviations.md`, "A
/// reservation is not always the earliest" and "Leaves are counted from the first one on".
pub(super) fn a_reservation_is_the_earliest(trial: &mut Trial<'_>) -> Result<(), String> {
    let scenario = trial.scenario;
    let mut engine = trial.engine();
    let graph = engine.graph().clone();
    let filters = scenario.setup.filters;
    let kind = |vertex: VertexId| graph.type_name(graph.kind(vertex));
    let is_leaf = |leaf: &VertexId| graph.children(*leaf, Graph::CONTAINMENT).is_empty();
    let leaves: BTreeSet<&str> = graph.vertices().filter(is_leaf).map(kind).collect();
    // Types of leaves that no filter names are tracked at the root.
    let at_root = filters.has_anchor("ALL") || filters.has_anchor("cluster");
    if scenario.miscounts() || !at_root && leaves.iter().all(|leaf| filters.tracks(leaf)) {
        return Ok(());
    }
    let tracked = |vertex| filters.tracks(kind(vertex)) || leaves.contains(kind(vertex));
    let mut planner = NaivePlanner::new(engine.graph());
    let operations = &scenario.history.0;
    let left_out = |operation: &Operation| {
        matches!(operation, Operation::Release(..)) || operation.changes_topology()
    };
    for (i, (operation, job, now)) in scenario.history.steps().enumerate() {
        if left_out(operation) {
            continue;
        }
        let before = planner.clone();
        let answer = trial.step(&mut engine, operation, job, now)?;
        if !answer.emitted.is_whole() {
            return Ok(());
        }
        note(&mut planner, &engine, &answer)?;
        let Operation::Match { op: MatchOp::AllocateOrelseReserve, request, .. } = operation else {
            continue;
        };
        let until = match answer.reply {
            Ok(Reply::Match(_, Outcome::Reserved { at })) => at,
            Ok(Reply::Match(_, Outcome::Busy)) => Scenario::HORIZON,
            _ => continue,
        };
        if request.has_like_siblings() || request.skips_a_level(&scenario.graph) {
            continue;
        }
        for at in before.ends_after(now, tracked).filter(|&at| at < until) {
            let mut then = trial.engine();
            trial.run_some(&mut then, |earlier| earlier < i && !left_out(&operations[earlier]))?;
            let over: Vec<_> = then.jobs().filter(|(_, span)| span.interval.end <= at).collect();
            for (job, _) in over {
                then.cancel(job).map_err(|error| error.to_string())?;
            }
            let op = MatchOp::WithoutAllocating;
            let ask = Operation::Match { op, wait: 0, request: request.clone() };
            let earlier = trial.step(&mut then, &ask, job, at)?;
            trial.check(!earlier.is_match(), || {
                format!("{:?} to job {job}, though second {at} would do", answer.reply)
            })?;
        }
    }
    Ok(())
}
