//! Cases in which a law does not hold because Fluxion's answers are kept, each as small as it gets,
//! and what the laws found. `docs/deviations.md` names them.

use engine::{
    Engine, Error, Graph, JobId, MatchOp, OnFault, Options, Outcome, Release, Traverser, VertexId,
};
use testkit::{Amount, GraphRecipe, Recorder, Request, ResourceRequest, VertexRecipe, held_by};

fn vertex(kind: &'static str, id: i64, below: Vec<VertexRecipe>) -> VertexRecipe {
    VertexRecipe { below, ..VertexRecipe::new(kind, id) }
}

fn memory(id: i64, size: u64) -> VertexRecipe {
    VertexRecipe { size, ..VertexRecipe::new("memory", id) }
}

fn engine(below: Vec<VertexRecipe>, policy: &str, filters: &str) -> Engine {
    let graph = GraphRecipe { root: vertex("cluster", 0, below), falling: false };
    let options = Options { filters: filters.to_owned(), ..Options::default() };
    let policy = policies::policy(policy).expect("there is such a policy");
    Engine::new(graph.build(), policy, options).expect("there is a root")
}

fn some(kind: &'static str, min: u32, with: Vec<ResourceRequest>) -> ResourceRequest {
    ResourceRequest { count: Amount { min, range: None }, with, ..ResourceRequest::new(kind) }
}

fn ask(
    engine: &mut Engine,
    op: MatchOp,
    job: u64,
    resource: ResourceRequest,
) -> Result<Outcome, Error> {
    let request = Request { resources: vec![resource], duration: 1, constraint: None };
    engine.match_jobspec(op, &request.jobspec(), JobId(job), 0, &mut Recorder::default())
}

fn satisfiable(engine: &mut Engine, resource: ResourceRequest) -> bool {
    ask(engine, MatchOp::Satisfiability, 1, resource) == Ok(Outcome::Satisfiable)
}

fn allocate(engine: &mut Engine, job: u64, resource: ResourceRequest) {
    assert_eq!(ask(engine, MatchOp::Allocate, job, resource), Ok(Outcome::Allocated));
}

fn at(engine: &Engine, path: &str) -> VertexId {
    engine.graph().find_path(path)[0]
}

#[test]
fn satisfiable_depends_on_the_policy_where_pools_differ() {
    let pools = || vec![memory(1, 2), memory(0, 8), memory(2, 2)];
    let two_slots = || some("slot", 2, vec![some("memory", 4, vec![])]);
    // In order of ids 8 and 2 + 2 make a slot each; in order of discovery 2 + 8 make the only one.
    assert!(satisfiable(&mut engine(pools(), "low", "ALL:core"), two_slots()));
    assert!(!satisfiable(&mut engine(pools(), "variation", "ALL:core"), two_slots()));
}

#[test]
fn satisfiable_depends_on_the_policy_with_slots_side_by_side() {
    let node = || {
        let cores = (1..4).map(|id| vertex("core", id, vec![])).collect();
        vec![vertex("node", 1, cores)]
    };
    let slots = || {
        let slot = |n| some("slot", n, vec![some("core", 1, vec![])]);
        some("node", 1, vec![slot(2), slot(1)])
    };
    assert!(satisfiable(&mut engine(node(), "low", "ALL:core"), slots()));
    assert!(!satisfiable(&mut engine(node(), "first", "ALL:core"), slots()));
}

#[test]
fn more_can_be_less_where_a_number_is_left_open() {
    let gpus = |n| (1..=n).map(|id| vertex("gpu", id, vec![])).collect();
    let slots = || {
        let count = Amount { min: 1, range: Some((3, '+', 2)) };
        some("slot", 2, vec![ResourceRequest { count, ..ResourceRequest::new("gpu") }])
    };
    assert!(satisfiable(&mut engine(gpus(2), "low", "ALL:core"), slots()));
    // The first slot takes all three.
    assert!(!satisfiable(&mut engine(gpus(3), "low", "ALL:core"), slots()));
}

#[test]
fn a_job_without_anything_tracked_is_no_reason_to_try_again() {
    let node = || vec![vertex("node", 0, vec![memory(0, 1)])];
    let whole = || some("slot", 1, vec![some("node", 1, vec![])]);
    for (filters, expected) in
        [("ALL:core", Outcome::Busy), ("ALL:node", Outcome::Reserved { at: 1 })]
    {
        let mut engine = engine(node(), "low", filters);
        allocate(&mut engine, 1, whole());
        assert_eq!(ask(&mut engine, MatchOp::AllocateOrelseReserve, 2, whole()), Ok(expected));
    }
}

#[test]
fn what_cannot_be_reached_now_is_not_reserved_for_later() {
    let socket = vertex("socket", 1, vec![memory(1, 1)]);
    let nodes = vec![vertex("node", 4, vec![socket]), vertex("node", 5, vec![memory(1, 1)])];
    let mut engine = engine(nodes, "high", "ALL:core");
    let wanted = || some("node", 1, vec![some("slot", 1, vec![some("memory", 1, vec![])])]);
    allocate(&mut engine, 1, wanted());
    let answer = ask(&mut engine, MatchOp::AllocateOrelseReserve, 2, wanted());
    assert_eq!(answer, Ok(Outcome::Busy));
}

#[test]
fn leaves_are_counted_from_the_first_one_on() {
    let nodes =
        |first: Vec<VertexRecipe>| vec![vertex("node", 4, first), vertex("node", 6, vec![])];
    let two = || some("slot", 1, vec![some("node", 2, vec![])]);
    assert!(satisfiable(&mut engine(nodes(vec![]), "low", "ALL:core"), two()));
    assert!(!satisfiable(&mut engine(nodes(vec![memory(0, 1)]), "low", "ALL:core"), two()));
}

#[test]
fn a_cancel_does_not_find_what_a_partial_cancel_left_uncounted() {
    let nodes = [2, 3].map(|id| vertex("node", id, vec![vertex("core", 0, vec![])]));
    let rack = vertex("rack", 0, nodes.into());
    let mut engine = engine(vec![rack], "low", "rack:node,node:core");
    allocate(&mut engine, 1, some("slot", 2, vec![some("core", 1, vec![])]));
    let release = Release::Ranks(vec![engine.graph().rank(at(&engine, "/cluster0/rack0/node2"))]);
    assert_eq!(engine.release(JobId(1), &release, OnFault::Restore), Ok(false));
    assert_eq!(engine.cancel(JobId(1)), Ok(()));
    let slot = || some("slot", 1, vec![some("core", 1, vec![])]);
    allocate(&mut engine, 2, slot());
    assert_eq!(ask(&mut engine, MatchOp::Allocate, 3, slot()), Ok(Outcome::Busy));
}

#[test]
fn an_exclusive_vertex_is_not_given_back_after_the_last_below_it() {
    let node = vertex("node", 3, vec![vertex("core", 4, vec![])]);
    let mut engine = engine(vec![node], "lonodex", "ALL:core,ALL:node");
    allocate(&mut engine, 1, some("slot", 1, vec![some("core", 1, vec![])]));
    let [core, node] = ["/cluster0/node3/core4", "/cluster0/node3"].map(|path| at(&engine, path));
    let mut release =
        |vertex| engine.release(JobId(1), &Release::Vertices(vec![vertex]), OnFault::Restore);
    assert_eq!(release(core), Ok(false));
    assert!(matches!(release(node), Err(Error::NotHeld { .. })));
}

#[test]
fn a_job_that_gave_back_the_root_holds_nothing() {
    let node = vertex("node", 0, vec![vertex("core", 0, vec![])]);
    let mut engine = engine(vec![node], "low", "ALL:core");
    let slot = some("slot", 1, vec![some("core", 1, vec![])]);
    let cluster = some("cluster", 1, vec![some("node", 1, vec![slot])]);
    allocate(&mut engine, 1, ResourceRequest { exclusive: Some(true), ..cluster });
    assert_eq!(held_by(&mut engine, JobId(1)).len(), 3);
    let root = engine.graph().root(Graph::CONTAINMENT).expect("there is a root");
    let release = Release::Vertices(vec![root]);
    assert_eq!(engine.release(JobId(1), &release, OnFault::Restore), Ok(false));
    assert_eq!(held_by(&mut engine, JobId(1)), []);
    assert_eq!(engine.validate(), Ok(()));
}

#[test]
fn the_flexible_traverser_takes_whole_pools_too() {
    let pools = |more: Vec<VertexRecipe>| {
        let second = vec![vertex("gpu", 0, vec![]), memory(1, 2)].into_iter().chain(more).collect();
        let first = vec![vertex("gpu", 1, vec![]), memory(1, 1)];
        vec![vertex("socket", 0, first), vertex("socket", 1, second)]
    };
    let slots = || {
        let slot = vec![some("gpu", 1, vec![]), some("memory", 1, vec![])];
        Request { resources: vec![some("slot", 2, slot)], duration: 1, constraint: None }
    };
    let satisfiable = |more| {
        let graph = GraphRecipe { root: vertex("cluster", 0, pools(more)), falling: false };
        let options = Options { traverser: Traverser::Flexible, ..Options::default() };
        let policy = policies::policy("low").expect("there is such a policy");
        let mut engine = Engine::new(graph.build(), policy, options).expect("there is a root");
        let op = MatchOp::Satisfiability;
        engine.match_jobspec(op, &slots().jobspec(), JobId(1), 0, &mut Recorder::default())
    };
    assert_eq!(satisfiable(vec![]), Ok(Outcome::Satisfiable));
    // Two slots are thought to fit into the second socket, whose memory makes one; then none is made.
    assert_eq!(satisfiable(vec![vertex("gpu", 1, vec![])]), Ok(Outcome::Unsatisfiable));
}
