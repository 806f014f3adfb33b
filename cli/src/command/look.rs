//! Commands that tell and change nothing.

use std::fmt::Write as _;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use fluxion::{JobId, JobInfo, Status};

use super::{RULE, job_id, malformed, read_text};
use crate::Flow;
use crate::shell::{self, Shell};

pub(super) fn run_find(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, criteria @ ..] = words else {
        return Ok(malformed());
    };
    if criteria.is_empty() {
        return Ok(malformed());
    }
    let criteria = criteria.join(" ");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let seconds = [i64::try_from(now).unwrap_or(i64::MAX), 0];
    let mut text = String::new();
    match shell.session.find(&criteria, &seconds, &mut text) {
        Ok(()) => {
            text.push_str(RULE);
            // Writing to a string cannot fail.
            let _ = write!(text, "INFO: EXPRESSION=\"{criteria}\"\n{RULE}");
            shell.answer(&text)?;
        }
        Err(error) => {
            eprintln!("ERROR: {error}");
            return Ok(Flow::Failed);
        }
    }
    Ok(Flow::Continue)
}

pub(super) fn run_get_property(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, path] = words else {
        return Ok(malformed());
    };
    let vertices = shell.session.vertices_at(path);
    let graph = shell.session.engine().graph();
    let mut text = String::new();
    let mut flow = Flow::Continue;
    if vertices.is_empty() {
        text = format!("Could not find path {path} in resource graph.\n");
        flow = Flow::Failed;
    }
    for vertex in vertices {
        let properties = graph.properties(vertex).filter(|properties| !properties.is_empty());
        for (key, value) in properties.into_iter().flatten() {
            let _ = writeln!(text, "{key}={value}");
        }
        if properties.is_none() {
            let uniq_id = graph.uniq_id(vertex);
            let _ =
                writeln!(text, "No properties were found for {path} (vtx's uniq_id={uniq_id}).");
        }
    }
    shell.answer(&text)?;
    Ok(flow)
}

pub(super) fn run_get_status(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, path] = words else {
        return Ok(malformed());
    };
    let vertices = shell.session.vertices_at(path);
    let graph = shell.session.engine().graph();
    let mut text = String::new();
    let mut flow = Flow::Continue;
    if vertices.is_empty() {
        text = format!("Could not find path {path} in resource graph.\n");
        flow = Flow::Failed;
    }
    for vertex in vertices {
        let status = match graph.status(vertex) {
            Status::Up => "up",
            Status::Down => "down",
        };
        let _ = writeln!(text, "{path} is {status}");
    }
    shell.answer(&text)?;
    Ok(flow)
}

fn describe(job: JobId, info: &JobInfo) -> String {
    let JobInfo { state, at, source, overhead } = info;
    format!("INFO: {job}, {}, {at}, {source}, {overhead:.6}\n", state.name())
}

pub(super) fn run_list(shell: &mut Shell, _: &[&str]) -> io::Result<Flow> {
    let text: String = shell.session.jobs().map(|(job, info)| describe(job, info)).collect();
    shell::write_stdout(&text)?;
    Ok(Flow::Continue)
}

pub(super) fn run_info(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, job] = words else {
        return Ok(malformed());
    };
    let job = job_id(job);
    match shell.session.job(job) {
        Ok(info) => shell::write_stdout(&describe(job, info))?,
        Err(error) => {
            eprintln!("ERROR: {error}");
            return Ok(Flow::Failed);
        }
    }
    Ok(Flow::Continue)
}

pub(super) fn run_stat(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_] = words else { return Ok(malformed()) };
    let n = shell.session.jobs().len();
    let timing = shell.timing;
    let (min, mean) = if n == 0 { (0.0, 0.0) } else { (timing.min, timing.sum / n as f64) };
    shell::write_stdout(&format!(
        "INFO: Num. of Jobs Matched: {n}\nINFO: Min. Match Time: {min}\n\
         INFO: Max. Match Time: {}\nINFO: Avg. Match Time: {mean}\n",
        timing.max
    ))?;
    Ok(Flow::Continue)
}

pub(super) fn run_cat(_: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, path] = words else {
        return Ok(malformed());
    };
    let read = read_text(path);
    let flow = if read.is_some() { Flow::Continue } else { Flow::Failed };
    let mut text = read.unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    shell::write_stdout(&format!("{text}INFO: Jobspec in {path}\n"))?;
    Ok(flow)
}
