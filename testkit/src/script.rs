//! Scenarios as files for `resource-query`, ours or Fluxion's.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::{Graph, JobId, MatchOp, Status, Traverser, VertexId};

use crate::{Operation, Released, Reply, Scenario};

/// Returns the files of a scenario by name: `graph.json` in JGF, a jobspec or R for each operation
/// that needs one, `commands` for the standard input and `run`, a shell script that takes the
/// program to run.
///
/// There all matches are at second 0, so what a history waits for is lost.
pub fn script(scenario: &Scenario) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut graph = String::new();
    jgf::write_jgf_graph(&scenario.graph.build(), &mut graph);
    files.insert("graph.json".to_owned(), graph);
    let mut commands = String::new();
    let mut engine = scenario.fresh();
    // Jobs have there the ids that they get in the order in which they get something.
    let mut ids: BTreeMap<JobId, usize> = BTreeMap::new();
    for (operation, job, _) in scenario.history.steps() {
        let answer = operation.run(&mut engine, job, 0);
        if answer.taker().is_some() {
            let next = ids.len() + 1;
            ids.insert(job, next);
        }
        let mut line = format!("# {operation:?}");
        match (operation, answer.reply) {
            (Operation::Match { op, request, .. }, _) => {
                let file = format!("jobspec-{job}.json");
                let name = MatchOp::all().into_iter().find(|(_, known)| known == op);
                line = format!("match {} {file}", name.map_or("", |(name, _)| name));
                files.insert(file, request.to_string());
            }
            (_, Ok(Reply::Cancelled(job))) => line = format!("cancel {}", ids[&job]),
            (_, Ok(Reply::Released { job: of, part, .. })) => {
                let file = format!("r-{job}.json");
                let (format, text) = resource_set(engine.graph(), part);
                line = format!("partial-cancel {} {format} {file}", ids[&of]);
                files.insert(file, text);
            }
            (Operation::SetStatus(number, status), Ok(_)) => {
                let n = engine.graph().n_vertices();
                let vertex = usize::from(*number).checked_rem(n).and_then(VertexId::new);
                let path =
                    vertex.and_then(|vertex| engine.graph().path(Graph::CONTAINMENT, vertex));
                let status = if *status == Status::Up { "up" } else { "down" };
                line = format!("set-status {} {status}", path.unwrap_or_default());
            }
            _ => {}
        }
        let _ = writeln!(commands, "{line}");
    }
    commands.push_str("quit\n");
    files.insert("commands".to_owned(), commands);
    let setup = scenario.setup;
    let traverser = if setup.traverser == Traverser::Flexible { "flexible" } else { "simple" };
    let (policy, filters) = (setup.policy.as_str(), setup.filters.as_str());
    let run = format!(
        "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nexec \"${{1:?resource-query}}\" -d -L graph.json -f jgf \
         -P '{policy}' -T {traverser} -p '{filters}' -F simple <commands\n"
    );
    files.insert("run".to_owned(), run);
    files
}

/// Returns what was given back as an R, and its format.
fn resource_set(graph: &Graph, part: Released) -> (&'static str, String) {
    match part {
        Released::Rank(rank) => (
            "rv1exec",
            format!(
                r#"{{"version": 1, "execution": {{"R_lite": [{{"rank": "{rank}", "children": {{"core": "0"}}}}], "nodelist": ["node0"], "starttime": 0, "expiration": 0}}}}"#
            ),
        ),
        Released::Vertex(vertex) => {
            let path = graph.path(Graph::CONTAINMENT, vertex).unwrap_or_default();
            let (kind, rank) = (graph.type_name(graph.kind(vertex)), graph.rank(vertex));
            let (id, unique) = (graph.id(vertex), graph.uniq_id(vertex));
            (
                "jgf",
                format!(
                    r#"{{"graph": {{"nodes": [{{"id": "{unique}", "metadata": {{"type": "{kind}", "basename": "{kind}", "name": "{kind}{id}", "id": {id}, "uniq_id": {unique}, "rank": {rank}, "exclusive": true, "unit": "", "size": {}, "paths": {{"containment": "{path}"}}}}}}], "edges": []}}}}"#,
                    graph.size(vertex)
                ),
            )
        }
    }
}
