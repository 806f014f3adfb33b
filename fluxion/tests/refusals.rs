//! What is refused leaves everything as it was.
//!
//! Two sessions have the same history. One of them is then asked for something that it must refuse.
//! Afterwards both must look alike and go on alike.

use std::fmt::Write as _;
use std::path::Path;

use fluxion::{
    Error, JobId, LoadFormat, MatchFormat, MatchOp, OnFault, Outcome, Session, SessionOptions,
    Status,
};
use serde_json::{Value, json};

const POLICIES: [&str; 3] = ["first", "low", "hinodex"];

/// Three racks of four nodes. A node has two sockets with four cores, a GPU and a memory each.
const RACKED: &str = "racked_ranked.json";
/// Eight nodes. This is the form in which an R without a graph is understood.
const FLAT: &str = "flat_ranked.json";

fn graph(name: &str) -> String {
    let graphs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/conformance/state/graphs");
    std::fs::read_to_string(graphs.join(name)).expect("the graph is there")
}

fn jobspec(resources: &Value, duration: u32) -> String {
    json!({
        "version": 9999,
        "resources": resources,
        "tasks": [{"command": ["app"], "slot": "task", "count": {"per_slot": 1}}],
        "attributes": {"system": {"duration": duration}},
    })
    .to_string()
}

fn slot(count: u32, with: &Value) -> Value {
    json!({"type": "slot", "count": count, "label": "task", "with": with})
}

fn cores(count: u32, duration: u32) -> String {
    jobspec(&json!([slot(count, &json!([{"type": "core", "count": 1}]))]), duration)
}

fn whole_nodes(count: u32, duration: u32) -> String {
    let node = json!([{"type": "node", "count": 1, "exclusive": true}]);
    jobspec(&json!([slot(count, &node)]), duration)
}

fn take(session: &mut Session, jobspec: &str, expected: Outcome) -> String {
    let mut r = String::new();
    let report = session.match_jobspec(MatchOp::AllocateOrelseReserve, jobspec, 0, &mut r);
    assert_eq!(report.outcome, Ok(expected));
    r
}

/// Two sessions with the same history, the R of three nodes that job 2 holds, and that of a node that
/// job 30 holds where it can be read back.
struct Twins {
    policy: &'static str,
    refusing: Session,
    other: Session,
    nodes: String,
    node: String,
    before: String,
}

impl Twins {
    /// Opens two sessions with five jobs on each: cores, three nodes, one that was cancelled, a node
    /// by an R, and all nodes for later.
    fn open(policy: &'static str, match_format: MatchFormat) -> Self {
        let (mut refusing, nodes, node) = open(policy, match_format);
        let (mut other, ..) = open(policy, match_format);
        let before = state(&mut refusing);
        assert_eq!(before, state(&mut other), "{policy}: twins are alike");
        Self { policy, refusing, other, nodes, node, before }
    }

    /// Checks that something is refused, for one of several reasons, without a trace.
    fn refuse(
        &mut self,
        what: &str,
        act: impl FnOnce(&mut Session) -> Result<(), Error>,
        fits: impl FnOnce(&Error) -> bool,
    ) {
        let policy = self.policy;
        let error = act(&mut self.refusing).expect_err(what);
        assert!(fits(&error), "{policy}: {what}: {error:?}");
        assert_eq!(self.before, state(&mut self.refusing), "{policy}: {what}: {error}");
    }

    /// Checks that both go on alike.
    fn go_on(mut self) {
        let policy = self.policy;
        assert_eq!(future(&mut self.other), future(&mut self.refusing), "{policy}");
    }
}

/// Does something with twins under each policy.
fn with_twins(match_format: MatchFormat, act: impl Fn(&mut Twins)) {
    for policy in POLICIES {
        let mut twins = Twins::open(policy, match_format);
        act(&mut twins);
        twins.go_on();
    }
}

fn open(policy: &str, match_format: MatchFormat) -> (Session, String, String) {
    let read_back = match match_format {
        MatchFormat::Jgf => Some(LoadFormat::Jgf),
        MatchFormat::JgfShorthand => Some(LoadFormat::JgfShorthand),
        MatchFormat::Rv1Nosched => Some(LoadFormat::Rv1exec),
        _ => None,
    };
    let (name, n_nodes) =
        if read_back == Some(LoadFormat::Rv1exec) { (FLAT, 8) } else { (RACKED, 12) };
    let options = SessionOptions {
        load_format: LoadFormat::Jgf,
        policy: policy.to_owned(),
        match_format,
        prune_filters: "ALL:core,ALL:gpu,ALL:node".to_owned(),
        on_fault: OnFault::Restore,
        ..SessionOptions::default()
    };
    let mut session = Session::open(&graph(name), &options).expect("the graph is sound");
    take(&mut session, &cores(3, 100), Outcome::Allocated);
    let nodes = take(&mut session, &whole_nodes(3, 200), Outcome::Allocated);
    let node = take(&mut session, &whole_nodes(1, 300), Outcome::Allocated);
    session.cancel(JobId(3)).expect("job 3 runs");
    let mut at = 200;
    if let Some(format) = read_back {
        session
            .update(&node, format, JobId(30), 0, 300, &mut String::new())
            .expect("what job 3 gave back is free");
        session.set_last_job(JobId(3)).expect("it is kept nowhere");
        at = 300;
    }
    take(&mut session, &whole_nodes(n_nodes, 400), Outcome::Reserved { at });
    (session, nodes, node)
}

/// Tells all that can be seen of a session.
fn state(session: &mut Session) -> String {
    let mut text = String::new();
    jgf::write_jgf_graph(session.engine().graph(), &mut text);
    let _ = writeln!(text, "next {}", session.next_job());
    let mut searches: Vec<String> =
        ["status=up", "status=down", "sched-now=allocated", "sched-future=reserved"]
            .map(str::to_owned)
            .to_vec();
    let jobs: Vec<JobId> = session.jobs().map(|(job, _)| job).collect();
    for job in jobs {
        let _ = writeln!(text, "{job} {:?} {:?}", session.job(job), session.engine().job(job));
        for key in ["jobid-alloc", "jobid-reserved", "jobid-tag"] {
            searches.push(format!("{key}={job}"));
        }
        searches.push(format!("jobid-span={job} and agfilter=t"));
    }
    for search in &searches {
        let _ = writeln!(text, "{search}");
        session.find(search, &[0], &mut text).expect("a search is answered");
    }
    for second in [0, 150, 250, 350, 1000] {
        let _ = writeln!(text, "at {second}");
        session.find("agfilter=t", &[second], &mut text).expect("a search is answered");
    }
    text
}

/// Tells what a session answers until it is full, and what it looks like then.
fn future(session: &mut Session) -> String {
    let mut text = String::new();
    let ops = [MatchOp::Allocate, MatchOp::AllocateOrelseReserve, MatchOp::WithoutAllocatingFuture];
    for round in 0..3 {
        for op in ops {
            for jobspec in [cores(2, 50 + round), whole_nodes(1, 70), cores(30, 10)] {
                let report = session.match_jobspec(op, &jobspec, 0, &mut text);
                let _ = writeln!(text, "{report:?}");
            }
        }
        let _ = writeln!(text, "{:?}", session.cancel(JobId(u64::from(round) * 2 + 1)));
    }
    text + &state(session)
}

/// Takes an R over as that of job 77.
fn update(session: &mut Session, r: &str, format: LoadFormat) -> Result<(), Error> {
    session.update(r, format, JobId(77), 0, 50, &mut String::new())
}

fn edited(r: &str, edit: impl Fn(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(r).expect("an R is JSON");
    edit(&mut value);
    value.to_string()
}

fn is_occupied(error: &Error) -> bool {
    matches!(error, Error::Engine(engine::Error::Occupied { .. }))
}

fn is_format(error: &Error) -> bool {
    matches!(error, Error::Format(_))
}

fn is_not_held(error: &Error) -> bool {
    matches!(error, Error::Engine(engine::Error::NotHeld { .. }))
}

#[test]
fn an_update_that_overlaps_a_live_allocation() {
    for (written, read) in [
        (MatchFormat::Jgf, LoadFormat::Jgf),
        (MatchFormat::JgfShorthand, LoadFormat::JgfShorthand),
        (MatchFormat::Rv1Nosched, LoadFormat::Rv1exec),
    ] {
        with_twins(written, |twins| {
            let (nodes, node) = (twins.nodes.clone(), twins.node.clone());
            twins.refuse("of a match", |session| update(session, &nodes, read), is_occupied);
            twins.refuse("of an update", |session| update(session, &node, read), is_occupied);
        });
    }
}

#[test]
fn an_update_that_overlaps_a_reservation() {
    with_twins(MatchFormat::Jgf, |twins| {
        let nodes = twins.nodes.clone();
        for (at, duration) in [(350, 10), (250, 100), (699, 1000), (0, i64::MAX)] {
            let later = |session: &mut Session| {
                session.update(&nodes, LoadFormat::Jgf, JobId(77), at, duration, &mut String::new())
            };
            twins.refuse("later", later, is_occupied);
        }
    });
}

#[test]
fn an_update_that_names_absent_vertices() {
    with_twins(MatchFormat::Jgf, |twins| {
        let absent = twins.nodes.replace("/rack", "/shelf");
        twins.refuse("path", |session| update(session, &absent, LoadFormat::Jgf), is_format);
    });
    with_twins(MatchFormat::Rv1Nosched, |twins| {
        for (key, ids) in [("rank", "0-99"), ("rank", "7-8"), ("core", "0-8"), ("gpu", "2")] {
            let absent = edited(&twins.nodes, |r| {
                let part = &mut r["execution"]["R_lite"][0];
                let part = if key == "rank" { part } else { &mut part["children"] };
                part[key] = json!(ids);
            });
            twins.refuse(key, |session| update(session, &absent, LoadFormat::Rv1exec), is_format);
        }
    });
}

#[test]
fn an_update_for_a_job_that_exists() {
    with_twins(MatchFormat::Jgf, |twins| {
        let node = twins.node.clone();
        for job in [JobId(2), JobId(4), JobId(30)] {
            let again = |session: &mut Session| {
                session.update(&node, LoadFormat::Jgf, job, 1000, 50, &mut String::new())
            };
            twins.refuse("again", again, |error| *error == Error::JobExists(job));
        }
    });
}

#[test]
fn an_update_for_no_span_of_time() {
    with_twins(MatchFormat::Jgf, |twins| {
        let nodes = twins.nodes.clone();
        for (at, duration) in [(0, 0), (0, -5), (-5, 10), (i64::MIN, i64::MIN)] {
            let never = |session: &mut Session| {
                session.update(&nodes, LoadFormat::Jgf, JobId(77), at, duration, &mut String::new())
            };
            twins.refuse("never", never, |error| {
                matches!(error, Error::Engine(engine::Error::OutOfRange { .. }))
            });
        }
    });
}

#[test]
fn an_update_that_is_no_resource_set() {
    with_twins(MatchFormat::Jgf, |twins| {
        for format in LoadFormat::ALL {
            for text in
                ["", "{", "[]", "{}", "null", "nodes", "<graphml/>", "{\"graph\": {}}", "\u{0}"]
            {
                twins.refuse(text, |session| update(session, text, format), is_format);
            }
        }
        for parts in 1..10 {
            let short = twins.nodes[..twins.nodes.len() / 10 * parts].to_owned();
            twins.refuse("short", |session| update(session, &short, LoadFormat::Jgf), is_format);
        }
    });
}

#[test]
fn a_shorthand_whose_exclusive_root_is_gone() {
    for policy in POLICIES {
        let (mut session, ..) = open(policy, MatchFormat::JgfShorthand);
        let node = take(&mut session, &whole_nodes(1, 50), Outcome::Allocated);
        session.cancel(JobId(5)).expect("job 5 runs");
        let value: Value = serde_json::from_str(&node).expect("an R is JSON");
        let mut vertices = value["graph"]["nodes"].as_array().into_iter().flatten();
        let root = vertices.find(|vertex| vertex["metadata"]["type"] == "node").expect("a node");
        let path = root["metadata"]["paths"]["containment"].as_str().expect("a path");
        session.remove_path(path).expect("the node is there");
        let before = state(&mut session);
        let error = update(&mut session, &node, LoadFormat::JgfShorthand).expect_err("it is gone");
        assert!(is_format(&error), "{error:?}");
        assert_eq!(before, state(&mut session), "{policy}");
    }
}

#[test]
fn a_partial_cancel_of_what_the_job_does_not_hold() {
    with_twins(MatchFormat::Jgf, |twins| {
        let nodes = twins.nodes.clone();
        let release = |job, r: String| {
            move |session: &mut Session| session.release(job, &r, LoadFormat::Jgf).map(drop)
        };
        twins.refuse("of another job", release(JobId(1), nodes.clone()), is_not_held);
        let other: Value = serde_json::from_str(&twins.node).expect("an R is JSON");
        let both = edited(&nodes, |r| {
            for part in ["nodes", "edges"] {
                let known = r["graph"][part].as_array_mut().expect("a list");
                for item in other["graph"][part].as_array().into_iter().flatten() {
                    if !known.contains(item) {
                        known.push(item.clone());
                    }
                }
            }
        });
        twins.refuse("of two jobs", release(JobId(2), both), is_not_held);
    });
    with_twins(MatchFormat::Rv1Nosched, |twins| {
        let more = edited(&twins.nodes, |r| r["execution"]["R_lite"][0]["rank"] = json!("0-7"));
        twins.refuse(
            "of ranks of which it holds some",
            |session| session.release(JobId(2), &more, LoadFormat::Rv1exec).map(drop),
            |error| matches!(error, Error::Engine(engine::Error::NothingAtRank { .. })),
        );
    });
}

#[test]
fn a_partial_cancel_that_makes_no_sense() {
    with_twins(MatchFormat::Jgf, |twins| {
        let nodes = twins.nodes.clone();
        let mut refuse = |job, error| {
            twins.refuse(
                "of the wrong job",
                |session| session.release(job, &nodes, LoadFormat::Jgf).map(drop),
                |found| *found == error,
            );
        };
        refuse(JobId(99), Error::UnknownJob(JobId(99)));
        refuse(JobId(3), Error::UnknownJob(JobId(3)));
        refuse(JobId(4), Error::Reserved(JobId(4)));
        for format in LoadFormat::ALL {
            for text in
                ["", "{}", "{\"graph\": {\"nodes\": []}}", "{\"execution\": {\"R_lite\": []}}"]
            {
                twins.refuse(
                    text,
                    |session| session.release(JobId(2), text, format).map(drop),
                    |error| is_format(error) || is_not_held(error),
                );
            }
        }
    });
}

#[test]
fn removing_what_does_not_exist() {
    with_twins(MatchFormat::Simple, |twins| {
        for path in ["", "/", "/racked0/rack9", "/racked0/rack0/node0/", "racked0", "/power0"] {
            twins.refuse(
                path,
                |session| session.remove_path(path),
                |error| matches!(error, Error::Engine(engine::Error::UnknownPath(_))),
            );
        }
        twins.refuse(
            "the root",
            |session| session.remove_path("/racked0"),
            |error| matches!(error, Error::Engine(engine::Error::Request(_))),
        );
        for ranks in [&[12][..], &[-7], &[i64::MAX], &[0, 1, 99], &[99, 0]] {
            twins.refuse(
                "ranks",
                |session| session.remove_ranks(ranks),
                |error| matches!(error, Error::Engine(engine::Error::UnknownRank(_))),
            );
        }
    });
}

/// A graph in JGF, of vertices with an id, a type and a path, and of edges.
fn subgraph(vertices: &[(u32, &str, &str)], edges: &[(u32, u32)]) -> String {
    let vertex = |&(id, kind, path): &(u32, &str, &str)| {
        let metadata = json!({"type": kind, "id": id, "paths": {"containment": path}});
        json!({"id": id.to_string(), "metadata": metadata})
    };
    let edge = |&(source, target): &(u32, u32)| {
        let metadata = json!({"subsystem": "containment"});
        json!({"source": source.to_string(), "target": target.to_string(), "metadata": metadata})
    };
    let nodes: Vec<Value> = vertices.iter().map(vertex).collect();
    let edges: Vec<Value> = edges.iter().map(edge).collect();
    json!({"graph": {"nodes": nodes, "edges": edges}}).to_string()
}

#[test]
fn attaching_what_does_not_fit() {
    let root = (0, "cluster", "/racked0");
    let rack = (900, "rack", "/racked0/rack900");
    let node = (901, "node", "/racked0/rack900/node901");
    let core = (902, "core", "/racked0/rack900/node901/core902");
    let elsewhere = [(900, "cluster", "/other0"), (901, "rack", "/other0/rack901")];
    let faulty = [
        ("nothing", String::new()),
        ("no graph", "{}".to_owned()),
        ("a dangling edge", subgraph(&[root, rack], &[(0, 900), (900, 950)])),
        ("a second root", subgraph(&elsewhere, &[(900, 901)])),
        (
            "a cycle",
            subgraph(&[root, rack, node, core], &[(0, 900), (900, 901), (901, 902), (902, 900)]),
        ),
        ("the same id twice", subgraph(&[root, rack, rack], &[(0, 900)])),
    ];
    with_twins(MatchFormat::Simple, |twins| {
        for (what, subgraph) in &faulty {
            twins.refuse(
                what,
                |session| session.attach(subgraph),
                |error| matches!(error, Error::Format(_) | Error::Engine(_)),
            );
        }
    });
    with_twins(MatchFormat::Simple, |twins| {
        // The sound one among them is accepted.
        let sound = subgraph(&[root, rack, node, core], &[(0, 900), (900, 901), (901, 902)]);
        for session in [&mut twins.refusing, &mut twins.other] {
            session.attach(&sound).expect("it fits");
        }
    });
}

#[test]
fn jobspecs_that_cannot_be_matched() {
    let cores_by =
        |count: Value| jobspec(&json!([slot(1, &json!([{"type": "core", "count": count}]))]), 1);
    let faulty = [
        String::new(),
        "version: 1".to_owned(),
        "[".to_owned(),
        cores_by(json!(-1)),
        cores_by(json!("9".repeat(30))),
        cores_by(json!({"min": 5, "max": 2, "operator": "+", "operand": 1})),
        jobspec(&json!([]), 1),
        jobspec(&json!([slot(1, &json!([{"type": "unobtainium", "count": 1}]))]), 1),
        cores(1, 1).replace("\"duration\":1", "\"duration\":-1"),
        cores(1, 1).replace("\"duration\":1", "\"duration\":1e300"),
    ];
    with_twins(MatchFormat::Jgf, |twins| {
        for (_, op) in MatchOp::all() {
            for jobspec in &faulty {
                twins.refuse(
                    jobspec,
                    |session| {
                        let mut r = String::new();
                        session.match_jobspec(op, jobspec, 0, &mut r).outcome.map(|_| ())
                    },
                    |error| matches!(error, Error::Jobspec(_) | Error::Engine(_)),
                );
            }
        }
    });
}

#[test]
fn ids_and_paths_of_nothing() {
    with_twins(MatchFormat::Jgf, |twins| {
        for job in [JobId(0), JobId(3), JobId(5), JobId(u64::MAX)] {
            twins.refuse(
                "cancel",
                |session| session.cancel(job),
                |error| *error == Error::UnknownJob(job),
            );
        }
        twins.refuse(
            "status",
            |session| session.set_status("/racked0/rack7", Status::Down),
            |error| matches!(error, Error::Engine(engine::Error::UnknownPath(_))),
        );
        for search in
            ["", "up", "status=", "status=sideways", "status=up and", "(status=up", "jobid-tag=x"]
        {
            twins.refuse(
                search,
                |session| session.find(search, &[0], &mut String::new()),
                |error| matches!(error, Error::Criteria(_)),
            );
        }
    });
}

#[test]
fn graphs_that_cannot_be_loaded() {
    let fault = |text: &str, load_format| {
        Session::open(text, &SessionOptions { load_format, ..SessionOptions::default() }).err()
    };
    for format in LoadFormat::ALL {
        for text in ["", "{", "{}", "[]", "<", "<a/>", "<topology/>", "<topology version=\"2.0\"/>"]
        {
            let error = fault(text, format);
            assert!(error.as_ref().is_some_and(is_format), "{format} {text}: {error:?}");
        }
    }
    let whole = graph(RACKED);
    for parts in 1..10 {
        let error = fault(&whole[..whole.len() / 10 * parts], LoadFormat::Jgf);
        assert!(error.as_ref().is_some_and(is_format), "{error:?}");
    }
    let options = SessionOptions { load_format: LoadFormat::Jgf, ..SessionOptions::default() };
    let fault = |options: SessionOptions| Session::open(&whole, &options).err();
    for policy in ["", "best", "policy=", "policy=low color=red", "node_centric=true"] {
        let error = fault(SessionOptions { policy: policy.to_owned(), ..options.clone() });
        assert!(matches!(error, Some(Error::Policy(_))), "{policy}: {error:?}");
    }
    let error = fault(SessionOptions { matcher: "XA".to_owned(), ..options.clone() });
    assert!(matches!(error, Some(Error::Matcher(_))), "{error:?}");
    let error = fault(SessionOptions { matcher: "PA".to_owned(), ..options.clone() });
    assert!(matches!(error, Some(Error::Engine(engine::Error::NoRoot(_)))), "{error:?}");
    for filters in ["core", "ALL:", ":core", "ALL:core,"] {
        let error = fault(SessionOptions { prune_filters: filters.to_owned(), ..options.clone() });
        let refused = matches!(error, Some(Error::Engine(engine::Error::FilterSpec { .. })));
        assert!(refused, "{filters}: {error:?}");
    }
}
