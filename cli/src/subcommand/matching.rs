//! `fluxion match`.

use std::fmt::Write as _;

use engine::{Engine, Graph};
use fluxion::{Error, JobId, MatchFormat, MatchOp, MatchReport, Outcome, Session};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Failure;
use super::console::{self, Console};
use super::input::{self, JobspecFile, Loaded};
use crate::args::{MatchArgs, QuestionArgs};
use crate::report::{Exit, Report, Reported, similar};

/// What is told to machines of a jobspec.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    jobspec: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<u64>,
    /// The second from which the job has what it got.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Resources<'a>>,
}

/// What a job got: JSON, or text in the formats for people.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Resources<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

pub(super) fn run(args: &MatchArgs, console: &Console) -> Result<Exit, Failure> {
    let (mut loaded, jobspecs) = prepare(&args.question, args.format, args.json, console)?;
    let mut exit = Exit::Success;
    for file in &jobspecs {
        exit = exit.max(match_one(args, &mut loaded, file, console)?);
    }
    Ok(exit)
}

/// Reads the jobspecs, opens the graph and checks the one against the other.
pub(super) fn prepare(
    question: &QuestionArgs,
    format: MatchFormat,
    json: bool,
    console: &Console,
) -> Result<(Loaded, Vec<JobspecFile>), Failure> {
    let QuestionArgs { jobspecs: paths, graph, load, engine, policy } = question;
    input::check_stdin(paths.iter().chain([&graph.file]))?;
    let jobspecs = input::read_jobspecs(paths, &load.limits.limits().jobspec, json, console)?;
    let loaded = input::open(&graph.file, load, engine, Some(policy), format, console)?;
    check_types(loaded.session.engine(), &jobspecs, json, console)?;
    Ok((loaded, jobspecs))
}

fn match_one(
    args: &MatchArgs,
    loaded: &mut Loaded,
    file: &JobspecFile,
    console: &Console,
) -> Reported<Exit> {
    let op = if args.reserve { MatchOp::AllocateOrelseReserve } else { MatchOp::Allocate };
    let (session, jobspec) = (&mut loaded.session, &file.source.text);
    let mut text = String::new();
    let MatchReport { job, outcome } = session.match_jobspec(op, jobspec, 0, &mut text);
    let mut verdict = verdict(outcome);
    if matches!(verdict, Ok(Verdict::NotNow | Verdict::Never)) {
        verdict = could_ever(session, jobspec)
            .map(|could| if could { Verdict::NotNow } else { Verdict::Never });
    }
    let name = &file.source.name;
    let (exit, outcome, at) = match verdict {
        Ok(Verdict::Found { at }) if at == 0 => (Exit::Success, "allocated", Some(at)),
        Ok(Verdict::Found { at }) => (Exit::Success, "reserved", Some(at)),
        Ok(Verdict::NotNow) => (Exit::NotNow, "busy", None),
        Ok(Verdict::Never) => (Exit::Never, "unsatisfiable", None),
        Err(error) => {
            let report = refusal(file, &error);
            return input::refuse(name, &report, args.json, console);
        }
    };
    if args.json {
        let resources = (!text.is_empty()).then(|| match serde_json::from_str(&text) {
            Ok(json) => Resources::Json(json),
            Err(_) => Resources::Text(&text),
        });
        console::print_json(&Answer {
            jobspec: name,
            outcome,
            job: at.map(|_| job.0),
            at,
            resources,
        })?;
    } else {
        console::print(&text)?;
    }
    if !args.quiet {
        console::tell(&format!("{name}: {}", fate(exit, job, at)));
        if at.is_some() && text.is_empty() {
            console::tell(&format!(
                "{name}: {} has nothing to tell of it: try --format jgf",
                args.format
            ));
        }
    }
    Ok(exit)
}

fn fate(exit: Exit, job: JobId, at: Option<i64>) -> String {
    match (exit, at) {
        (_, Some(0)) => format!("job {job} is allocated"),
        (_, Some(at)) => format!("job {job} is reserved from second {at} on"),
        (Exit::NotNow, None) => "no resources now".to_owned(),
        _ => "never: the graph cannot satisfy it".to_owned(),
    }
}

/// An answer to a match that is none of Fluxion's oddities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// There are resources, from this second on.
    Found { at: i64 },
    /// There are none now.
    NotNow,
    /// There never are.
    Never,
}

/// Returns whether a graph could satisfy a jobspec if nothing were held.
pub(super) fn could_ever(session: &mut Session, jobspec: &str) -> Result<bool, Error> {
    let op = MatchOp::Satisfiability;
    let MatchReport { outcome, .. } = session.match_jobspec(op, jobspec, 0, &mut String::new());
    Ok(matches!(verdict(outcome)?, Verdict::Found { .. }))
}

/// Returns the answer to a match.
fn verdict(outcome: Result<Outcome, Error>) -> Result<Verdict, Error> {
    Ok(match outcome {
        Ok(Outcome::Allocated | Outcome::Satisfiable) => Verdict::Found { at: 0 },
        Ok(Outcome::Reserved { at } | Outcome::Matched { at }) => Verdict::Found { at },
        Ok(Outcome::Busy) | Err(Error::Engine(engine::Error::Unreachable { last: false })) => {
            Verdict::NotNow
        }
        Ok(Outcome::Unsatisfiable) | Err(Error::Engine(engine::Error::Unreachable { .. })) => {
            Verdict::Never
        }
        Err(error) => return Err(error),
    })
}

/// Makes a report of a jobspec that the engine refused.
pub(super) fn refusal(file: &JobspecFile, error: &Error) -> Box<Report> {
    let name = &file.source.name;
    match error {
        Error::Engine(engine::Error::OutOfRange { what: "duration", .. }) => {
            file.source.find("duration", "", 0).map_or_else(
                || Report::of_session(name, error),
                |offset| {
                    let path = "/attributes/system/duration";
                    Report::at_offset(&file.source, offset, path, error.to_string())
                },
            )
        }
        Error::Emit(_) => {
            let title = format!("resources were found, but {error}");
            let mut report = Report::of_file(Exit::BadData, name, title);
            report.help("`--format pretty_simple` can tell of any resources");
            report
        }
        _ => Report::of_session(name, error),
    }
}

/// Tells of all jobspecs that ask for types which the graph does not know.
fn check_types(
    engine: &Engine,
    jobspecs: &[JobspecFile],
    json: bool,
    console: &Console,
) -> Result<(), Failure> {
    let graph = engine.graph();
    let mut exit = Exit::Success;
    for file in jobspecs {
        let mut path = "/resources".to_owned();
        if let Some((resource, path)) = unknown_type(graph, &file.jobspec.resources, &mut path) {
            let report = report_type(graph, file, resource, &path);
            exit = exit.max(input::refuse(&file.source.name, &report, json, console)?);
        }
    }
    match exit {
        Exit::Success => Ok(()),
        exit => Err(Failure::Told(exit)),
    }
}

/// Returns the first resource whose type the graph does not know, and its path.
fn unknown_type<'a>(
    graph: &Graph,
    resources: &'a [jobspec::Resource],
    path: &mut String,
) -> Option<(&'a jobspec::Resource, String)> {
    let length = path.len();
    for (i, resource) in resources.iter().enumerate() {
        path.truncate(length);
        // Writing to a string cannot fail.
        let _ = write!(path, "/{i}");
        if graph.type_id(&resource.kind).is_none() {
            return Some((resource, format!("{path}/type")));
        }
        path.push_str("/with");
        let below = unknown_type(graph, &resource.with, path);
        if below.is_some() {
            return below;
        }
    }
    None
}

fn report_type(
    graph: &Graph,
    file: &JobspecFile,
    resource: &jobspec::Resource,
    path: &str,
) -> Box<Report> {
    let kind = &resource.kind;
    let start = resource.span.offset as usize;
    let offset = file.source.find("type", kind, start).unwrap_or(start);
    let title = format!("resource type `{kind}` is unknown to the graph");
    let mut report = Report::at_offset(&file.source, offset, path, title);
    let mut known: Vec<&str> = Vec::new();
    for vertex in graph.vertices() {
        let name = graph.type_name(graph.kind(vertex));
        if !known.contains(&name) {
            known.push(name);
        }
    }
    report.help(match similar(kind, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the graph has {}", known.join(", ")),
    });
    report
}
