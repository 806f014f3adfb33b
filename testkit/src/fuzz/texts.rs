//! Targets that take a text.

use std::collections::BTreeSet;

use engine::Graph;
use fluxion::{Criteria, MatchOp, Session, SessionOptions};
use jgf::{LoadFormat, LoadOptions};
use jobspec::{Dialect, Jobspec};

use super::probe::{feed_back, probe};

/// A machine of four nodes.
const SMALL: &str = r#"{"version": 1, "execution": {
    "R_lite": [{"rank": "0-3", "children": {"core": "0-3", "gpu": "0-1"}}],
    "nodelist": ["node[0-3]"], "properties": {"fast": "1-2", "large": "2"},
    "starttime": 0, "expiration": 0}}"#;

/// How many vertices and edges a text may ask for, so that many texts can be tried.
const GRAPH_MAX: usize = 2000;

/// Reads a jobspec in both dialects. What can be read is printed and read again.
///
/// # Panics
///
/// Panics where reading undoes printing differently.
pub fn jobspec(data: &[u8]) {
    for dialect in [Dialect::Fluxion, Dialect::Extended] {
        match Jobspec::parse_bytes(data, dialect) {
            Ok(jobspec) => returns(&jobspec, dialect),
            Err(error) => drop(error.to_string()),
        }
    }
}

/// Checks that a jobspec comes back from its text in JSON and in YAML.
fn returns(jobspec: &Jobspec, dialect: Dialect) {
    let (json, yaml) = (jobspec.to_json(), jobspec.to_yaml());
    for text in [&json, &yaml] {
        let again = Jobspec::parse(text, dialect)
            .unwrap_or_else(|error| panic!("{error}\nin\n{text}\nwhich stands for\n{jobspec:?}"));
        // What is not a number is not equal to itself, but printed alike.
        let equal = again == *jobspec || jobspec.attributes.system.duration.is_nan();
        assert!(equal, "{again:?}\ncame back for\n{jobspec:?}\nfrom\n{text}");
        assert_eq!(again.to_json(), json);
    }
}

/// Reads a graph in JGF and what a job holds and gives back, and adds it to a graph.
///
/// # Panics
///
/// Panics where a graph does not come back from its text, or as [`hwloc`].
pub fn jgf(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    if let Some(graph) = load(text, LoadFormat::Jgf) {
        // Two vertices with one path are one vertex to the reader, and any other path than of `/`
        // and names is read as it stands.
        if has_sound_paths(&graph) {
            let again = reread(&print(&graph));
            assert_eq!(again.n_vertices(), graph.n_vertices());
            // Once all paths are written, other edges may turn out to be the way back along one,
            // and subsystems be named in another order.
            let text = print(&again);
            assert_eq!(print(&reread(&text)), text);
        }
        probe(&graph, data.len());
    }
    let mut small = small();
    feed_back(&small, text);
    let _ = jgf::attach(&mut small, text, &options());
}

/// Reads the resource set of a graph and of a job (R, version 1).
///
/// # Panics
///
/// Panics as [`hwloc`].
pub fn rv1(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let _ = jgf::envelope(text);
    if let Some(graph) = load(text, LoadFormat::Rv1exec) {
        probe(&graph, data.len());
    }
    feed_back(&small(), text);
}

/// Reads a recipe for a graph.
///
/// # Panics
///
/// Panics as [`hwloc`].
pub fn grug(data: &[u8]) {
    graph(data, LoadFormat::Grug);
}

/// Reads the topology of a node.
///
/// # Panics
///
/// Panics where an engine with the graph answers otherwise without shortcuts.
pub fn hwloc(data: &[u8]) {
    graph(data, LoadFormat::Hwloc);
}

/// Reads a constraint in JSON, prints it, and matches with it.
///
/// # Panics
///
/// Panics as [`jobspec()`].
pub fn constraint(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let text = format!(
        r#"{{"version": 1, "resources": [
        {{"type": "slot", "count": 1, "label": "task", "with": [{{"type": "core", "count": 1}}]}}],
        "tasks": [{{"command": ["app"], "slot": "task", "count": {{"per_slot": 1}}}}],
        "attributes": {{"system": {{"duration": 1, "constraints": {text}}}}}}}"#
    );
    jobspec(text.as_bytes());
    let mut out = String::new();
    let report = session().match_jobspec(MatchOp::Allocate, &text, 0, &mut out);
    let _ = report.outcome.map_err(|error| error.to_string());
}

/// Reads a search expression and searches.
///
/// # Panics
///
/// Never, that is the promise.
pub fn find_expr(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    if let Err(error) = Criteria::parse(text) {
        assert!(text.is_char_boundary(error.offset()), "{error:?}");
        drop(error.to_string());
        return;
    }
    let mut out = String::new();
    let found = session().find(text, &[0, i64::MAX], &mut out);
    assert!(found.is_ok(), "{found:?}");
}

fn print(graph: &Graph) -> String {
    let mut text = String::new();
    jgf::write_jgf_graph(graph, &mut text);
    text
}

fn reread(text: &str) -> Graph {
    let graph = jgf::load(text, LoadFormat::Jgf, &options());
    graph.unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

/// Returns whether all paths begin with `/`, and no two vertices of one rank have the same.
fn has_sound_paths(graph: &Graph) -> bool {
    let mut known = BTreeSet::new();
    graph.vertices().all(|vertex| {
        let paths: BTreeSet<String> =
            graph.subsystems().filter_map(|subsystem| graph.path(subsystem, vertex)).collect();
        let is_sound =
            |path: String| path.starts_with('/') && known.insert((graph.rank(vertex), path));
        paths.into_iter().all(is_sound)
    })
}

fn graph(data: &[u8], format: LoadFormat) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    if let Some(graph) = load(text, format) {
        probe(&graph, data.len());
    }
}

fn options() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.limits.vertices = GRAPH_MAX;
    options.limits.edges = GRAPH_MAX;
    options
}

fn load(text: &str, format: LoadFormat) -> Option<Graph> {
    match jgf::load(text, format, &options()) {
        Ok(graph) => {
            assert!(graph.n_vertices() <= GRAPH_MAX, "{} vertices", graph.n_vertices());
            assert!(graph.n_edges() <= GRAPH_MAX, "{} edges", graph.n_edges());
            Some(graph)
        }
        Err(error) => {
            drop(error.to_string());
            None
        }
    }
}

fn small() -> Graph {
    jgf::load(SMALL, LoadFormat::Rv1exec, &options()).expect("the machine is sound")
}

fn session() -> Session {
    let options = SessionOptions {
        load_format: LoadFormat::Rv1exec,
        policy: "low".to_owned(),
        ..SessionOptions::default()
    };
    Session::open(SMALL, &options).expect("the machine is sound")
}
