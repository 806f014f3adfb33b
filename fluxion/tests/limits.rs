//! Every limit holds, is told with its name and value, and leaves the session as it was.

use fluxion::{Error, Limits, LoadFormat, MatchFormat, MatchOp, Outcome, Session, SessionOptions};

/// `n` nodes of four cores.
fn machine(n: u32) -> String {
    let last = n - 1;
    let ids = if n == 1 { "0".to_owned() } else { format!("0-{last}") };
    let hosts = last.min(9999);
    format!(
        r#"{{"version": 1, "execution": {{
        "R_lite": [{{"rank": "{ids}", "children": {{"core": "0-3"}}}}],
        "nodelist": ["node[0-{hosts}]"], "starttime": 0, "expiration": 0}}}}"#
    )
}

/// A jobspec for nodes, with more attributes.
fn jobspec(nodes: u32, duration: u32, more: &str) -> String {
    format!(
        r#"{{"version": 9999, "resources": [{{"type": "node", "count": {nodes}, "with": [
        {{"type": "slot", "count": 1, "label": "task", "with": [{{"type": "core", "count": 1}}]}}]}}],
        "tasks": [{{"command": ["app"], "slot": "task", "count": {{"per_slot": 1}}}}],
        "attributes": {{"system": {{"duration": {duration}{more}}}}}}}"#
    )
}

fn options(limit: &str, value: usize) -> SessionOptions {
    let mut limits = Limits::default();
    limits.set(limit, value).expect("the limit has a name");
    SessionOptions {
        load_format: LoadFormat::Rv1exec,
        match_format: MatchFormat::Rlite,
        policy: "low".to_owned(),
        limits,
        ..SessionOptions::default()
    }
}

fn told(error: &Error, limit: &str, value: usize) {
    let text = error.to_string();
    assert!(text.contains(&format!("more than {value} ")), "{text}");
    assert!(text.ends_with(&format!("(limit `{limit}`)")), "{text}");
}

/// Checks that a graph is refused.
fn refused(format: LoadFormat, graph: &str, limit: &str, value: usize) {
    let options = SessionOptions { load_format: format, ..options(limit, value) };
    told(&Session::open(graph, &options).expect_err(limit), limit, value);
}

/// A recipe for a chain of vertices.
fn chain(n: usize) -> String {
    let vertex = |i: usize| {
        let root = usize::from(i == 0);
        format!(
            r#"<node id="{i}"><data key="type">socket</data><data key="root">{root}</data></node>"#
        )
    };
    let edge = |i: usize| format!(r#"<edge source="{i}" target="{}"/>"#, i + 1);
    let vertices: String = (0..n).map(vertex).collect();
    let edges: String = (1..n).map(|i| edge(i - 1)).collect();
    format!(
        r#"<graphml><key id="root" for="node"/><key id="type" for="node"/>
        <graph>{vertices}{edges}</graph></graphml>"#
    )
}

/// Checks that a jobspec fails on a machine of four nodes, and that another one is then answered as
/// if nothing had been.
fn fails(jobspec_text: &str, limit: &str, value: usize) {
    let mut session =
        Session::open(&machine(4), &options(limit, value)).expect("the machine is sound");
    let mut out = String::new();
    let report = session.match_jobspec(MatchOp::AllocateOrelseReserve, jobspec_text, 0, &mut out);
    told(&report.outcome.expect_err(limit), limit, value);
    assert_eq!(out, "");
    let mut fresh =
        Session::open(&machine(4), &options("graph.depth", 9)).expect("the machine is sound");
    let mut expected = String::new();
    for (session, out) in [(&mut session, &mut out), (&mut fresh, &mut expected)] {
        let report = session.match_jobspec(MatchOp::Allocate, &jobspec(1, 1, ""), 0, out);
        let answer = report.outcome.map(|outcome| (report.job.0, outcome));
        // Where nothing at all can be done within the limit, that stays so.
        assert!(answer == Ok((1, Outcome::Allocated)) || out.is_empty());
    }
    assert!(out.is_empty() || out == expected, "{out}");
}

#[test]
fn graphs_have_limits() {
    refused(LoadFormat::Rv1exec, &machine(4), "graph.input_bytes", 99);
    refused(LoadFormat::Rv1exec, &machine(400_000_000), "graph.vertices", 1 << 24);
    let recipe = std::fs::read_to_string("../testdata/graphs/tiny.graphml").unwrap();
    for (limit, value) in [("depth", 3), ("xml_nodes", 20), ("vertices", 10), ("edges", 10)] {
        refused(LoadFormat::Grug, &recipe, &format!("graph.{limit}"), value);
    }
    let graph = std::fs::read_to_string("../testdata/graphs/tiny.json").unwrap();
    refused(LoadFormat::Jgf, &graph, "graph.vertices", 10);
    refused(LoadFormat::Jgf, &graph, "graph.edges", 10);
}

#[test]
fn graphs_have_levels() {
    let options = SessionOptions { load_format: LoadFormat::Grug, ..SessionOptions::default() };
    for policy in ["first", "low"] {
        // As deep as may be is not too deep for the stack.
        let options = SessionOptions { policy: policy.to_owned(), ..options.clone() };
        let mut session = Session::open(&chain(256), &options).unwrap();
        let jobspec = jobspec(1, 1, "").replace("node", "socket").replace("core", "socket");
        for op in [MatchOp::AllocateOrelseReserve, MatchOp::WithoutAllocatingFuture] {
            let report = session.match_jobspec(op, &jobspec, 0, &mut String::new());
            assert!(report.outcome.is_ok(), "{:?}", report.outcome);
        }
        session.find("status=up", &[0], &mut String::new()).unwrap();
    }
    refused(LoadFormat::Grug, &chain(300), "graph.depth", 256);
    let mut limits = Limits::default();
    limits.set("graph.depth", 400).unwrap();
    let error = Session::open(&chain(300), &SessionOptions { limits, ..options }).unwrap_err();
    told(&error, "engine.depth", 256);
}

#[test]
fn depth_that_is_passed_over_takes_no_stack() {
    let nested = format!("{{\"x\": {}", "[".repeat(10_000_000));
    for format in [LoadFormat::Jgf, LoadFormat::Rv1exec] {
        let options = SessionOptions { load_format: format, ..SessionOptions::default() };
        let error = Session::open(&nested, &options).unwrap_err();
        assert!(error.to_string().contains("EOF while parsing"), "{error}");
    }
}

#[test]
fn resource_sets_have_those_of_graphs() {
    let mut session = Session::open(&machine(4), &options("graph.input_bytes", 300)).unwrap();
    let long = machine(4) + &" ".repeat(300);
    let mut out = String::new();
    let job = session.next_job();
    let update = session.update(&long, LoadFormat::Rv1exec, job, 0, 10, &mut out);
    told(&update.unwrap_err(), "graph.input_bytes", 300);
    session.update(&machine(2), LoadFormat::Rv1exec, job, 0, 10, &mut out).unwrap();
    let release = session.release(job, &long, LoadFormat::Rv1exec);
    told(&release.unwrap_err(), "graph.input_bytes", 300);
    // Many more ranks than there are take no more memory than there are vertices.
    let error = session.release(job, &machine(4_000_000_000), LoadFormat::Rv1exec).unwrap_err();
    assert!(matches!(error, Error::Engine(engine::Error::UnknownRank(4))), "{error}");
}

#[test]
fn jobspecs_have_limits() {
    fails(&(jobspec(1, 1, "") + &" ".repeat(999)), "jobspec.input_bytes", 999);
    let nested = format!(r#", "x": {}1{}"#, "[".repeat(20), "]".repeat(20));
    fails(&jobspec(1, 1, &nested), "jobspec.depth", 20);
    let deep = format!(
        r#", "constraints": {}{{"properties": ["a"]}}{}"#,
        r#"{"not": ["#.repeat(300),
        "]}".repeat(300)
    );
    fails(&jobspec(1, 1, &deep), "jobspec.depth", 128);
    fails(&jobspec(1, 1, ""), "jobspec.resources", 2);
    fails(&jobspec(1, 1, &format!(r#", "x": [{}1]"#, "1,".repeat(200))), "jobspec.nodes", 200);
    let aliases =
        jobspec(1, 1, "").replace("\"duration\": 1", "duration: 1, x: &a [1, 2], y: [*a, *a]");
    fails(&aliases, "jobspec.alias_nodes", 5);
}

#[test]
fn a_match_has_a_budget_of_steps() {
    let more = r#", "constraints": {"or": [{"properties": ["x"]}, {"ranks": ["0,2"]}]}"#;
    for steps in 0..4 {
        fails(&jobspec(4, 1, ""), "engine.search_steps", steps);
        fails(&jobspec(2, 1, more), "engine.search_steps", steps);
    }
    // It is for one match with all the times that it tries, and for each match anew.
    let least = |blockers: u32| {
        let suffices = |steps: usize| {
            let options = options("engine.search_steps", steps);
            let mut session = Session::open(&machine(4), &options).unwrap();
            let mut out = String::new();
            let whole = jobspec(4, 1, "").replace(r#""with""#, r#""exclusive": true, "with""#);
            let mut ask = |jobspec: &str| {
                let op = MatchOp::AllocateOrelseReserve;
                session.match_jobspec(op, jobspec, 0, &mut out).outcome.is_ok()
            };
            // Each holds a core of each node, so that there are cores enough at all times.
            (1..=blockers).all(|duration| ask(&jobspec(4, duration, ""))) && ask(&whole)
        };
        (1..1000).find(|&steps| suffices(steps)).expect("1000 steps are enough")
    };
    assert!(least(0) < least(1) && least(1) < least(3), "{} {} {}", least(0), least(1), least(3));
}

#[test]
fn a_search_has_the_same_budget() {
    let mut session = Session::open(&machine(4), &options("engine.search_steps", 99)).unwrap();
    let mut out = String::new();
    // There are 21 vertices.
    let four = "status=up (status=up)";
    session.find(four, &[0], &mut out).unwrap();
    let error = session.find(&format!("{four} status=up"), &[0], &mut out).unwrap_err();
    told(&error, "engine.search_steps", 99);
}

#[test]
fn planners_have_limits() {
    for points in [0, 1] {
        fails(&jobspec(1, 1, ""), "engine.planner_points", points);
    }
    let mut session = Session::open(&machine(4), &options("engine.planner_points", 9)).unwrap();
    let mut out = String::new();
    let mut ask = |duration| {
        let jobspec = jobspec(1, duration, "");
        session.match_jobspec(MatchOp::Allocate, &jobspec, 0, &mut out).outcome
    };
    // One start and a new end with each.
    for duration in 1..=7 {
        assert_eq!(ask(duration), Ok(Outcome::Allocated), "{duration}");
    }
    told(&ask(8).unwrap_err(), "engine.planner_points", 9);
    let job = session.next_job();
    let update = session.update(&machine(1), LoadFormat::Rv1exec, job, 99, 10, &mut out);
    told(&update.unwrap_err(), "engine.planner_points", 9);
    assert!(!session.is_live(job));
}

#[test]
fn alternatives_have_limits() {
    let slot = r#"{"type": "xor_slot", "count": 1, "label": "task", "with": [{"type": "core", "count": 1}]}"#;
    let jobspec = jobspec(1, 1, "");
    let alternatives = jobspec.replace(
        r#"{"type": "slot", "count": 1, "label": "task", "with": [{"type": "core", "count": 1}]}"#,
        &[slot; 3].join(","),
    );
    let options = SessionOptions {
        traverser: fluxion::Traverser::Flexible,
        ..options("engine.xor_variants", 2)
    };
    let mut session = Session::open(&machine(4), &options).unwrap();
    let report = session.match_jobspec(MatchOp::Allocate, &alternatives, 0, &mut String::new());
    told(&report.outcome.unwrap_err(), "engine.xor_variants", 2);
}
