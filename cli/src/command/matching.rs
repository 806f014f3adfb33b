//! Commands that give jobs resources.

use std::fmt::Write as _;
use std::io;
use std::time::Instant;

use fluxion::{Error, JobId, LoadFormat, MatchOp, MatchReport, Outcome, match_op};

use super::{RULE, job_id, leading_integer, malformed, read_text};
use crate::Flow;
use crate::shell::{self, Shell};

pub(super) fn run_match(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, op, path] = words else {
        return Ok(malformed());
    };
    let Some(op) = known_op(op) else {
        return Ok(Flow::Failed);
    };
    Ok(match_file(shell, op, path)?.flow())
}

pub(super) fn run_multi_match(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, op, paths @ ..] = words else {
        return Ok(malformed());
    };
    if paths.len() < 2 {
        return Ok(malformed());
    }
    let Some(op) = known_op(op) else {
        return Ok(Flow::Failed);
    };
    let mut flow = Flow::Continue;
    for path in paths {
        let matched = match_file(shell, op, path)?;
        if matched.flow() == Flow::Failed {
            flow = Flow::Failed;
        }
        if !matches!(matched, Matched::Yes | Matched::Unread) {
            break;
        }
    }
    Ok(flow)
}

fn known_op(name: &str) -> Option<MatchOp> {
    let op = match_op(name);
    if op.is_none() {
        eprintln!("ERROR: unknown subcmd {name}");
    }
    op
}

/// How the match of a jobspec went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Matched {
    Yes,
    No,
    /// The file cannot be read.
    Unread,
    /// The jobspec cannot be matched.
    Fault,
}

impl Matched {
    fn flow(self) -> Flow {
        match self {
            Self::Yes | Self::No => Flow::Continue,
            Self::Unread | Self::Fault => Flow::Failed,
        }
    }
}

/// Matches the jobspec in a file.
fn match_file(shell: &mut Shell, op: MatchOp, path: &str) -> io::Result<Matched> {
    let Some(jobspec) = read_text(path) else {
        return Ok(Matched::Unread);
    };
    let mut text = std::mem::take(&mut shell.text);
    text.clear();
    let start = Instant::now();
    let MatchReport { job, outcome } = shell.session.match_jobspec(op, &jobspec, 0, &mut text);
    let elapsed = start.elapsed().as_secs_f64();
    shell.answer(&text)?;
    shell.text = text;
    if let Err(error) = &outcome {
        eprintln!("ERROR: {error}");
    }
    let refused = if outcome.is_err() { Matched::Fault } else { Matched::No };
    let never = match &outcome {
        Ok(Outcome::Unsatisfiable) | Err(Error::Emit(jgf::EmitError::NoEdges)) => true,
        Err(Error::Engine(engine::Error::Unreachable { last })) => *last,
        _ => false,
    };
    if op == MatchOp::Satisfiability {
        // Another error is no proof that there could be nothing.
        let word = if never { "Unsatisfiable" } else { "Satisfiable" };
        shell.answer(&format!("{RULE}INFO: {word} request\n{RULE}"))?;
        tell_elapsed(shell, elapsed)?;
        tell_visits(shell)?;
        return Ok(match outcome {
            Ok(Outcome::Satisfiable) => Matched::Yes,
            _ => refused,
        });
    }
    let (mode, at) = match outcome {
        Ok(Outcome::Allocated) => ("ALLOCATED", 0),
        Ok(Outcome::Reserved { at }) => ("RESERVED", at),
        Ok(Outcome::Matched { at }) => ("MATCHED", at),
        _ => {
            tell_refusal(shell, job, never, elapsed)?;
            return Ok(refused);
        }
    };
    tell_match(shell, job, mode, at, elapsed)?;
    if op.allocates() {
        if let Err(error) = shell.session.annotate(job, path, elapsed) {
            eprintln!("ERROR: {error}");
        }
        shell.timing.min = shell.timing.min.min(elapsed);
        shell.timing.max = shell.timing.max.max(elapsed);
        shell.timing.sum += elapsed;
    }
    Ok(Matched::Yes)
}

fn tell_match(shell: &mut Shell, job: JobId, mode: &str, at: i64, elapsed: f64) -> io::Result<()> {
    let mut text = format!("{RULE}INFO: JOBID={job}\nINFO: RESOURCES={mode}\n");
    let _ = match at {
        0 => writeln!(text, "INFO: SCHEDULED AT=Now"),
        at => writeln!(text, "INFO: SCHEDULED AT={at}"),
    };
    if !shell.tell_elapsed {
        text.push_str(RULE);
        return shell.answer(&text);
    }
    shell.answer(&text)?;
    tell_elapsed(shell, elapsed)?;
    tell_visits(shell)?;
    shell.answer(RULE)
}

fn tell_refusal(shell: &mut Shell, job: JobId, never: bool, elapsed: f64) -> io::Result<()> {
    let mut text = format!("{RULE}INFO: No matching resources found\n");
    if never {
        text.push_str("INFO: Unsatisfiable request\n");
    }
    let _ = writeln!(text, "INFO: JOBID={job}");
    if shell.tell_elapsed {
        let _ = writeln!(text, "INFO: ELAPSE={elapsed:.6}");
        tell_visits(shell)?;
    }
    text.push_str(RULE);
    shell.answer(&text)
}

fn tell_elapsed(shell: &Shell, elapsed: f64) -> io::Result<()> {
    if shell.tell_elapsed {
        shell::write_stdout(&format!("INFO: ELAPSE={elapsed:.6}\n"))?;
    }
    Ok(())
}

fn tell_visits(shell: &Shell) -> io::Result<()> {
    if shell.tell_elapsed {
        let engine::Stats { preorder, postorder } = shell.session.engine().stats();
        shell::write_stdout(&format!(
            "INFO: PREORDER VISIT COUNT={preorder}\nINFO: POSTORDER VISIT COUNT={postorder}\n"
        ))?;
    }
    Ok(())
}

pub(super) fn run_update(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, kind, reader, path, job, at, duration] = words else {
        return Ok(malformed());
    };
    // Both words mean the same: the start decides which it is.
    if !matches!(*kind, "allocate" | "reserve") {
        eprintln!("ERROR: unknown subcmd {kind}");
        return Ok(Flow::Failed);
    }
    let format = match *reader {
        "jgf" => LoadFormat::Jgf,
        "jgf_shorthand" => LoadFormat::JgfShorthand,
        "rv1exec" => LoadFormat::Rv1exec,
        _ => {
            eprintln!("ERROR: unsupported reader {reader}");
            return Ok(Flow::Failed);
        }
    };
    let Some(r) = read_text(path) else {
        return Ok(Flow::Failed);
    };
    let job = job_id(job);
    if shell.session.is_live(job) {
        eprintln!("ERROR: existing job {job}");
        return Ok(Flow::Failed);
    }
    let (at, duration) = (leading_integer(at), leading_integer(duration));
    if at < 0 || duration == 0 {
        eprintln!("ERROR: invalid time ({at}, {duration})");
        return Ok(Flow::Failed);
    }
    let mut text = String::new();
    let start = Instant::now();
    let result = shell.session.update(&r, format, job, at, duration, &mut text);
    let elapsed = start.elapsed().as_secs_f64();
    shell.answer(&text)?;
    let flow = match result {
        Ok(()) => {
            let mode = if at == 0 { "ALLOCATED" } else { "RESERVED" };
            tell_match(shell, job, mode, at, elapsed)?;
            match shell.session.annotate(job, path, elapsed) {
                Ok(()) => Flow::Continue,
                Err(error) => {
                    eprintln!("ERROR: {error}");
                    Flow::Failed
                }
            }
        }
        Err(error) => {
            eprintln!("ERROR: {error}");
            tell_refusal(shell, job, false, elapsed)?;
            Flow::Failed
        }
    };
    if let Err(error) = shell.session.set_last_job(job) {
        eprintln!("ERROR: {error}");
        return Ok(Flow::Failed);
    }
    Ok(flow)
}
