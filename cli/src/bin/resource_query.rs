//! Fluxion's `resource-query`: reads a resource graph and matches jobspecs against it.
#![allow(clippy::print_stderr, reason = "printing is what the tool does")]
#![allow(clippy::doc_markdown, reason = "help texts are shown as they stand")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use cli::{GraphFormat, Lines, Shell, read_lines, write_graph, write_stdout};
use fluxion::{
    Error, LoadFormat, MatchFormat, Session, SessionOptions, StateDir, StateOptions, Traverser,
};

/// Read a resource graph, match jobspecs against it and keep what jobs hold.
///
/// Commands come from standard input, one a line; `help` lists them.
#[derive(Debug, Parser)]
#[command(name = "resource-query", infer_long_args = true, args_override_self = true)]
struct Args {
    /// File with the resource graph
    #[arg(short = 'L', long, value_name = "FILE", default_value = "conf/default")]
    load_file: String,
    /// Format of the resource graph: grug, hwloc, jgf, jgf_shorthand, rv1exec or rv1exec_force
    #[arg(short = 'f', long, value_name = "FORMAT", default_value = "grug")]
    load_format: String,
    /// Resource types to load from hwloc, separated by commas; all others are left out
    #[arg(short = 'W', long, value_name = "TYPES")]
    load_allowlist: Vec<String>,
    /// Subsystems to match on: CA, IBA, IBBA, PFS1BA, PA, C+IBA, C+PFS1BA, C+PA, IB+IBBA, C+P+IBA,
    /// VA, V+PFS1BA or ALL
    #[arg(short = 'S', long, value_name = "MATCHER", default_value = "CA")]
    match_subsystems: String,
    /// Which resources are preferred: low, high, lonode, hinode, lonodex, hinodex, first,
    /// firstnodex, locality, variation, or `policy=low|high` with node_centric=, node_exclusive= and
    /// stop_on_1_matches=
    #[arg(short = 'P', long, value_name = "POLICY", default_value = "first")]
    match_policy: String,
    /// How slots side by side are understood: simple or flexible
    #[arg(short = 'T', long, value_name = "TRAVERSER", default_value = "simple")]
    traverser_policy: String,
    /// How matches are written: simple, pretty_simple, jgf, jgf_shorthand, rlite, rv1, rv1_nosched
    /// or rv1_shorthand
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "simple")]
    match_format: String,
    /// Format in which the graph is written at the end: dot or graphml
    #[arg(short = 'g', long, value_name = "FORMAT", default_value = "dot")]
    graph_format: String,
    /// File in which the graph is written at the end, without its extension
    #[arg(short = 'o', long, value_name = "BASENAME")]
    graph_output: Option<String>,
    /// Types to count in aggregate, such as ALL:core,rack:node
    #[arg(short = 'p', long, value_name = "FILTERS")]
    prune_filters: Vec<String>,
    /// File to which matches go instead of standard output
    #[arg(short = 't', long, value_name = "FILE")]
    test_output: Option<String>,
    /// Directory that keeps the state: what is in it is restored instead of reading a graph, and what
    /// is done is kept there
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// How many vertices to make room for; of no effect
    #[arg(short = 'r', long, value_name = "N", allow_hyphen_values = true)]
    reserve_vtx_vec: Option<String>,
    /// Tell how long each match took and how much it visited
    #[arg(short = 'e', long)]
    elapse_time: bool,
    /// Do not prompt
    #[arg(short = 'd', long)]
    disable_prompt: bool,
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Standard error is where everything but answers goes; nothing is left to do if that fails.
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("ERROR: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let options = session_options(args)?;
    let graph_format = GraphFormat::parse(&args.graph_format)
        .ok_or_else(|| format!("unknown format for --graph-format: {}", args.graph_format))?;
    let start = Instant::now();
    let session = match &args.state {
        Some(path) => open_state(path, args, &options)?,
        None => load_graph(&args.load_file, &options)?,
    };
    if args.elapse_time {
        let text = describe_graph(&session, start.elapsed().as_secs_f64());
        write_stdout(&text).map_err(|error| error.to_string())?;
    }
    let mut shell = Shell::new(session, args.elapse_time);
    if let Some(file) = &args.test_output {
        shell.set_test_output(Path::new(file)).map_err(|error| format!("{file}: {error}"))?;
    }
    let lines = if args.disable_prompt { Lines::Plain } else { Lines::Prompt("resource-query> ") };
    read_lines(lines, |line| shell.run(line)).map_err(|error| error.to_string())?;
    shell.flush().map_err(|error| error.to_string())?;
    shell.checkpoint().map_err(|error| error.to_string())?;
    if let Some(basename) = &args.graph_output {
        write_graph(shell.session(), basename, graph_format)
            .map_err(|error| format!("{basename}: {error}"))?;
    }
    Ok(())
}

/// Restores the state that a directory keeps, or keeps that of a graph in it from now on.
fn open_state(path: &Path, args: &Args, options: &SessionOptions) -> Result<Session, String> {
    let text = |error: Error| error.to_string();
    let dir = StateDir::open(path, StateOptions::default()).map_err(text)?;
    if !dir.has_state().map_err(text)? {
        return dir.create(load_graph(&args.load_file, options)?).map_err(text);
    }
    let (session, recovery) = dir.restore(options).map_err(text)?;
    if let Some(dropped) = recovery.dropped {
        eprintln!("WARNING: {dropped}");
    }
    Ok(session)
}

fn load_graph(file: &str, options: &SessionOptions) -> Result<Session, String> {
    let path = Path::new(file);
    if path.is_dir() {
        return Err(format!("{file}: is a directory"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
    Session::open(&text, options).map_err(|error| match &error {
        // These are about options, not about the file.
        Error::Policy(_) | Error::Matcher(_) | Error::Engine(engine::Error::FilterSpec { .. }) => {
            error.to_string()
        }
        _ => format!("{file}: {error}"),
    })
}

fn session_options(args: &Args) -> Result<SessionOptions, String> {
    let unknown = |option: &str, given: &str| format!("unknown value for --{option}: {given}");
    let mut options = SessionOptions {
        load_format: args
            .load_format
            .parse::<LoadFormat>()
            .map_err(|_| unknown("load-format", &args.load_format))?,
        matcher: args.match_subsystems.clone(),
        policy: args.match_policy.clone(),
        traverser: match args.traverser_policy.as_str() {
            "flexible" => Traverser::Flexible,
            _ => Traverser::Simple,
        },
        match_format: args
            .match_format
            .parse::<MatchFormat>()
            .map_err(|_| unknown("match-format", &args.match_format))?,
        ..SessionOptions::default()
    };
    let given = |lists: &[String]| -> Option<String> {
        let lists: Vec<&str> =
            lists.iter().map(String::as_str).filter(|list| !list.trim().is_empty()).collect();
        (!lists.is_empty()).then(|| lists.join(","))
    };
    options.load.allowlist = given(&args.load_allowlist).map(|types| format!("cluster,{types}"));
    if let Some(filters) = given(&args.prune_filters) {
        options.prune_filters = filters;
    }
    Ok(options)
}

/// Returns how long the graph took to load and what is in it.
fn describe_graph(session: &Session, seconds: f64) -> String {
    let graph = session.engine().graph();
    let (mut types, mut names, mut paths) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut ranks: BTreeMap<i64, usize> = BTreeMap::new();
    for vertex in graph.vertices() {
        types.insert(graph.kind(vertex));
        names.insert(graph.name(vertex));
        paths.extend(graph.subsystems().filter_map(|subsystem| graph.path(subsystem, vertex)));
        *ranks.entry(graph.rank(vertex)).or_default() += 1;
    }
    let mut text = format!(
        "INFO: Graph Load Time: {seconds}\nINFO: Vertex Count: {}\nINFO: Edge Count: {}\n\
         INFO: by_type Key-Value Pairs: {}\nINFO: by_name Key-Value Pairs: {}\n\
         INFO: by_path Key-Value Pairs: {}\n",
        graph.n_vertices(),
        graph.n_edges(),
        types.len(),
        names.len(),
        paths.len(),
    );
    for (rank, n) in ranks {
        let _ = writeln!(text, "INFO: number of vertices with rank {rank}: {n}");
    }
    text
}
