//! Files with jobspecs and graphs.

use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use engine::Graph;
use fluxion::{LoadFormat, MatchFormat, Recovery, Session, SessionOptions, StateDir, Traverser};
use jgf::LoadOptions;
use jobspec::{Dialect, Jobspec};
use serde::Serialize;

use super::Failure;
use super::console::{self, Console, reason};
use super::progress::Progress;
use crate::args::{EngineArgs, LoadArgs, PolicyArgs, ShellArgs};
use crate::report::{Exit, Report, ReportJson, Reported, Source};

/// The name of the file that stands for standard input.
const STDIN: &str = "-";

/// Refuses to read standard input twice.
pub(super) fn check_stdin<'a>(paths: impl IntoIterator<Item = &'a String>) -> Reported<()> {
    let n = paths.into_iter().filter(|path| *path == STDIN).count();
    if n > 1 {
        return Err(Report::new(Exit::Usage, "standard input (`-`) can be read only once"));
    }
    Ok(())
}

/// Reads a file that must be text.
pub(super) fn read(path: &str, console: &Console) -> Reported<Source> {
    let name = if path == STDIN { "<stdin>" } else { path };
    let fault = |error: &io::Error| {
        Report::of_file(Exit::NoInput, name, format!("cannot be read: {}", reason(error)))
    };
    let bytes = if path == STDIN {
        read_bytes(&mut io::stdin().lock(), name, None, console)
    } else {
        File::open(path).and_then(|mut file| {
            let length = file.metadata().ok().map(|data| data.len());
            read_bytes(&mut file, name, length.filter(|&n| n > 0), console)
        })
    };
    let bytes = bytes.map_err(|error| fault(&error))?;
    String::from_utf8(bytes)
        .map(|text| Source { name: name.to_owned(), text })
        .map_err(|error| not_text(name, &error))
}

fn read_bytes(
    input: &mut dyn Read,
    name: &str,
    length: Option<u64>,
    console: &Console,
) -> io::Result<Vec<u8>> {
    const STEP: u64 = 1 << 20;
    let progress = Progress::start(console.lively, format!("reading {name}"), length);
    let mut bytes = Vec::new();
    if let Some(length) = length.and_then(|length| usize::try_from(length).ok()) {
        bytes.try_reserve(length)?;
    }
    while input.take(STEP).read_to_end(&mut bytes)? > 0 {
        progress.set(bytes.len() as u64);
    }
    Ok(bytes)
}

fn not_text(name: &str, error: &std::string::FromUtf8Error) -> Box<Report> {
    let bytes = error.as_bytes();
    let offset = error.utf8_error().valid_up_to();
    let before = String::from_utf8_lossy(&bytes[..offset]);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let source =
        Source { name: name.to_owned(), text: String::from_utf8_lossy(bytes).into_owned() };
    let byte = bytes.get(offset).copied().unwrap_or(0);
    let title = format!("expected UTF-8 text, found the byte {byte:#04x}");
    Report::at(&source, line, column, "", title)
}

/// A jobspec and where it comes from.
#[derive(Debug)]
pub(super) struct JobspecFile {
    pub(super) source: Source,
    pub(super) jobspec: Jobspec,
}

/// What is told to machines of a jobspec that cannot be used.
#[derive(Debug, Serialize)]
pub(super) struct Refusal<'a> {
    jobspec: &'a str,
    outcome: &'static str,
    error: ReportJson<'a>,
}

impl<'a> Refusal<'a> {
    pub(super) fn new(jobspec: &'a str, report: &'a Report) -> Self {
        Self { jobspec, outcome: "error", error: report.json() }
    }
}

/// Reads a jobspec.
pub(super) fn read_jobspec(
    path: &str,
    dialect: Dialect,
    console: &Console,
) -> Reported<JobspecFile> {
    let source = read(path, console)?;
    match Jobspec::parse(&source.text, dialect) {
        Ok(jobspec) => Ok(JobspecFile { source, jobspec }),
        Err(error) => {
            let mut report = Report::of_jobspec(&source, &error);
            if let Some(format) = LoadFormat::sniff(&source.text) {
                report.help(format!("this looks like a resource graph ({format}), not a jobspec"));
            }
            Err(report)
        }
    }
}

/// Reads jobspecs, and tells of all that are unsound.
pub(super) fn read_jobspecs(
    paths: &[String],
    json: bool,
    console: &Console,
) -> Result<Vec<JobspecFile>, Failure> {
    let mut files = Vec::with_capacity(paths.len());
    let mut exit = Exit::Success;
    for path in paths {
        match read_jobspec(path, Dialect::Fluxion, console) {
            Ok(file) => files.push(file),
            Err(report) => {
                exit = exit.max(refuse(path, &report, json, console)?);
            }
        }
    }
    match exit {
        Exit::Success => Ok(files),
        exit => Err(Failure::Told(exit)),
    }
}

/// Tells that a jobspec cannot be used.
pub(super) fn refuse(path: &str, report: &Report, json: bool, console: &Console) -> Reported<Exit> {
    console.report(report);
    if json {
        console::print_json(&Refusal::new(path, report))?;
    }
    Ok(report.exit)
}

/// A text that describes resources, within a file.
#[derive(Clone, Copy, Debug)]
struct Document<'a> {
    source: &'a Source,
    /// The text, which may be only a part of the file.
    text: &'a str,
    /// The path of that part.
    key: &'static str,
    format: LoadFormat,
}

impl<'a> Document<'a> {
    /// Finds out what is in a file.
    fn of(source: &'a Source, given: Option<LoadFormat>) -> Reported<Self> {
        let text = source.text.as_str();
        let whole = |format| Self { source, text, key: "", format };
        if let Some(format) = given {
            return Ok(whole(format));
        }
        if text.trim().is_empty() {
            return Err(Report::of_file(
                Exit::BadData,
                &source.name,
                "expected a resource graph, found nothing",
            ));
        }
        match LoadFormat::sniff(text) {
            // A subgraph says more than what it stands beside.
            Some(LoadFormat::Rv1exec) => match jgf::envelope(text) {
                Ok(envelope) => match envelope.scheduling {
                    Some(graph) if graph != "null" => Ok(Self {
                        source,
                        text: graph,
                        key: "/scheduling",
                        format: LoadFormat::of_writer(envelope.writer.as_deref())
                            .map_err(|error| Report::of_format(source, 0, "", &error))?,
                    }),
                    _ => Ok(whole(LoadFormat::Rv1exec)),
                },
                // The reader of R tells more.
                Err(_) => Ok(whole(LoadFormat::Rv1exec)),
            },
            Some(format) => Ok(whole(format)),
            None => match text.trim_start_matches('\u{feff}').trim_start().as_bytes()[0] {
                // Their readers tell what is wrong.
                b'<' => Ok(whole(LoadFormat::Grug)),
                b'{' | b'[' => Ok(whole(LoadFormat::Jgf)),
                _ => Err(unknown_format(source)),
            },
        }
    }

    /// Makes a report of an error of the reader.
    fn report(&self, error: &jgf::Error, given: Option<LoadFormat>) -> Box<Report> {
        let text = &self.source.text;
        // The document starts somewhere in the file.
        let start = self.text.as_ptr() as usize - text.as_ptr() as usize;
        let mut report = Report::of_format(self.source, start, self.key, error);
        match (given, LoadFormat::sniff(text)) {
            (Some(given), Some(found)) if given != found => {
                report.help(format!("this looks like {found}: leave out `--load-format {given}`"));
            }
            (_, Some(LoadFormat::Grug)) if matches!(error, jgf::Error::Empty(_)) => report.help(
                "GRUG is a recipe that starts at a vertex with `root` 1; a graph that was written \
                 as GraphML cannot be read back",
            ),
            (_, None) if Jobspec::parse(text, Dialect::Extended).is_ok() => {
                report.help("this is a jobspec, not a resource graph");
            }
            _ => {}
        }
        report
    }
}

fn unknown_format(source: &Source) -> Box<Report> {
    let mut report = Report::of_file(
        Exit::BadData,
        &source.name,
        "expected a resource graph in JGF, R, GRUG or hwloc XML, found another text",
    );
    if Jobspec::parse(&source.text, Dialect::Extended).is_ok() {
        report.help("this is a jobspec, not a resource graph");
    }
    report
}

/// A resource graph that is ready for matches.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) session: Session,
    /// The name of the file.
    pub(super) name: String,
    pub(super) format: LoadFormat,
    /// The length of the file in bytes.
    pub(super) length: usize,
    /// How long it took to read the file.
    pub(super) reading: Duration,
    /// How long it took to make the graph of it.
    pub(super) making: Duration,
}

/// Returns what a session is opened with, whatever the format of its graph.
fn session_options(
    load: &LoadArgs,
    engine: &EngineArgs,
    policy: Option<&PolicyArgs>,
    match_format: MatchFormat,
) -> SessionOptions {
    let defaults = SessionOptions::default();
    SessionOptions {
        load: load_options(load),
        matcher: engine.matcher.clone(),
        policy: policy.map_or(defaults.policy, |policy| policy.policy.clone()),
        traverser: policy.map_or(Traverser::Simple, |policy| policy.traverser.into()),
        match_format,
        prune_filters: engine.prune_filters.clone(),
        ..defaults
    }
}

/// Restores the session that is kept in a directory.
pub(super) fn restore(
    state: StateDir,
    args: &ShellArgs,
    console: &Console,
) -> Reported<(Session, Recovery)> {
    let ShellArgs { load, engine, policy, format, .. } = args;
    let options = session_options(load, engine, Some(policy), *format);
    let _progress = Progress::start(console.lively, "restoring the state".to_owned(), None);
    state.restore(&options).map_err(|error| Report::of_state(&error))
}

/// Opens a session on a graph.
pub(super) fn open(
    path: &str,
    load: &LoadArgs,
    engine: &EngineArgs,
    policy: Option<&PolicyArgs>,
    match_format: MatchFormat,
    console: &Console,
) -> Reported<Loaded> {
    let start = Instant::now();
    let source = read(path, console)?;
    let reading = start.elapsed();
    let start = Instant::now();
    let document = Document::of(&source, load.load_format)?;
    let options = SessionOptions {
        load_format: document.format,
        ..session_options(load, engine, policy, match_format)
    };
    let progress = Progress::start(console.lively, format!("loading {}", source.name), None);
    let session = Session::open(document.text, &options);
    drop(progress);
    let making = start.elapsed();
    let session = session.map_err(|error| match &error {
        fluxion::Error::Format(error) => document.report(error, load.load_format),
        error => {
            let mut report = Report::of_session(&source.name, error);
            if let fluxion::Error::Engine(engine::Error::NoRoot(_)) = error {
                report.help(format!(
                    "matcher {} needs that subsystem; see --matcher",
                    engine.matcher
                ));
            }
            report
        }
    })?;
    Ok(Loaded {
        session,
        format: document.format,
        length: source.text.len(),
        name: source.name,
        reading,
        making,
    })
}

/// Reads a graph and nothing else.
pub(super) fn load_graph(path: &str, load: &LoadArgs, console: &Console) -> Reported<Graph> {
    let source = read(path, console)?;
    let document = Document::of(&source, load.load_format)?;
    let _progress = Progress::start(console.lively, format!("loading {}", source.name), None);
    jgf::load(document.text, document.format, &load_options(load))
        .map_err(|error| document.report(&error, load.load_format))
}

fn load_options(load: &LoadArgs) -> LoadOptions {
    LoadOptions {
        // A graph needs its root.
        allowlist: load.allowlist.as_ref().map(|types| format!("cluster,{types}")),
        ..LoadOptions::default()
    }
}
