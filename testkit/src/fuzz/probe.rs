//! What is tried on a graph, whatever it looks like.

use engine::{Engine, Graph, JobId, MatchOp, MatchVisitor, Options, Shortcuts, VertexId};
use jgf::{Limits, LoadFormat, MatchFormat, Writer};
use jobspec::{Attributes, Jobspec, Resource, System};

use crate::Recorder;

/// How many types of a graph are asked for.
const TYPES_MAX: usize = 4;

/// Makes engines of a graph, asks for some of each type that it has, gives all back, and compares
/// what is answered with all shortcuts and without any. What is told is written in every format.
///
/// # Panics
///
/// Panics where the answers differ.
pub(super) fn probe(graph: &Graph, seed: usize) {
    let policies: Vec<&str> = policies::names().collect();
    let policy = policies[seed % policies.len()];
    let expected = answers(graph, policy, Shortcuts::NONE, &mut |_, _| {});
    let given = answers(graph, policy, Shortcuts::ALL, &mut |_, _| {});
    for (at, (given, expected)) in given.iter().zip(&expected).enumerate() {
        assert!(
            given == expected,
            "{policy}: answer {at} is\n{given}\nand without shortcuts\n{expected}"
        );
    }
    let mut text = String::new();
    answers(graph, policy, Shortcuts::ALL, &mut |engine, jobspec| {
        for format in MatchFormat::ALL {
            let mut writer = Writer::new(format);
            text.clear();
            match_jobspec(engine, jobspec, MatchOp::WithoutAllocating, u64::MAX, &mut writer);
            // A graph without ranks, say, cannot be written in formats of R.
            if writer.emit(&mut text).is_ok() && !text.is_empty() {
                feed_back(engine.graph(), &text);
            }
        }
    });
}

/// Reads what was written as what a job holds and gives back. Whether it can be is another matter:
/// where paths are not unique, it cannot.
pub(super) fn feed_back(graph: &Graph, text: &str) {
    let limits = Limits::default();
    for format in LoadFormat::ALL {
        let _ = jgf::read_booking(graph, text, format, &limits);
        let _ = jgf::read_release(graph, text, format, &limits);
    }
}

fn answers(
    graph: &Graph,
    policy: &str,
    shortcuts: Shortcuts,
    look: &mut dyn FnMut(&mut Engine, &Jobspec),
) -> Vec<String> {
    let mut told = Vec::new();
    let options = Options { shortcuts, ..Options::default() };
    let policy = policies::policy(policy).expect("the policy has a name");
    let mut engine = match Engine::new(graph.clone(), policy, options) {
        Ok(engine) => engine,
        Err(error) => return vec![error.to_string()],
    };
    let mut job = 0;
    for jobspec in requests(graph) {
        look(&mut engine, &jobspec);
        for op in [
            MatchOp::Satisfiability,
            MatchOp::Allocate,
            MatchOp::AllocateOrelseReserve,
            MatchOp::AllocateOrelseReserve,
            MatchOp::WithoutAllocatingFuture,
        ] {
            job += 1;
            let mut recorder = Recorder::default();
            let outcome = match_jobspec(&mut engine, &jobspec, op, job, &mut recorder);
            told.push(format!("{outcome} {:?}", recorder.emitted));
        }
    }
    let jobs: Vec<JobId> = engine.jobs().map(|(job, _)| job).collect();
    told.extend(jobs.into_iter().map(|job| format!("{:?}", engine.cancel(job))));
    told
}

fn match_jobspec(
    engine: &mut Engine,
    jobspec: &Jobspec,
    op: MatchOp,
    job: u64,
    visitor: &mut dyn MatchVisitor,
) -> String {
    format!("{:?}", engine.match_jobspec(op, jobspec, JobId(job), 0, visitor))
}

/// Returns requests for types of the graph: a slot on them, and two of them below the root.
fn requests(graph: &Graph) -> Vec<Jobspec> {
    let mut kinds: Vec<&str> = Vec::new();
    for vertex in graph.vertices() {
        let kind = graph.type_name(graph.kind(vertex));
        if kinds.len() < TYPES_MAX && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let root = graph.root(Graph::CONTAINMENT).or_else(|| VertexId::new(0));
    let root_kind = root.map_or("cluster", |root| graph.type_name(graph.kind(root)));
    let mut requests = Vec::new();
    for kind in kinds {
        let mut slot = Resource::new(Resource::SLOT, 1);
        slot.label = Some("task".to_owned());
        slot.with = vec![Resource::new(kind, 1)];
        let mut below = Resource::new(root_kind, 1);
        below.with = vec![Resource::new(kind, 2)];
        requests.extend([slot, below].map(|resource| {
            let system = System { duration: 10.0, ..System::default() };
            let attributes = Attributes { system, ..Attributes::default() };
            Jobspec::new(1, vec![resource], Vec::new(), attributes)
        }));
    }
    requests
}
