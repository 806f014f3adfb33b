//! Commands that change jobs, vertices and the graph.

#![allow(clippy::unnecessary_wraps, reason = "commands have one form")]

use std::io;

use fluxion::{Error, LoadFormat, Status};
use jobspec::Idset;

use super::{RULE, job_id, malformed, read_text};
use crate::Flow;
use crate::shell::{self, Shell};

pub(super) fn run_cancel(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let (job, stats) = match words {
        [_, job] => (job, false),
        [_, job, stats] => (job, *stats == "stats"),
        _ => return Ok(malformed()),
    };
    if let Err(error) = shell.session.cancel(job_id(job)) {
        eprintln!("ERROR: {error}");
        return Ok(Flow::Failed);
    }
    if stats {
        tell_stats(shell, "CANCEL")?;
    }
    Ok(Flow::Continue)
}

pub(super) fn run_partial_cancel(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let (job, reader, path, stats) = match words {
        [_, job, reader, path] => (job, reader, path, false),
        [_, job, reader, path, stats] => (job, reader, path, *stats == "stats"),
        _ => return Ok(malformed()),
    };
    let format = match *reader {
        "jgf" => LoadFormat::Jgf,
        "rv1exec" => LoadFormat::Rv1exec,
        _ => {
            eprintln!("ERROR: unsupported reader {reader}");
            return Ok(Flow::Failed);
        }
    };
    let Some(r) = read_text(path) else {
        return Ok(Flow::Failed);
    };
    let mut flow = Flow::Continue;
    if let Err(error) = shell.session.release(job_id(job), &r, format) {
        flow = Flow::Failed;
        if let Error::Engine(engine::Error::NothingAtRank { rank, .. }) = &error {
            shell::write_stdout(&format!("remove: {rank} not found in rank_to_counts.\n"))?;
        }
        eprintln!("ERROR: {error}");
        if matches!(error, Error::UnknownJob(_) | Error::Reserved(_)) {
            return Ok(flow);
        }
    }
    if stats {
        tell_stats(shell, "PARTIAL CANCEL")?;
    }
    Ok(flow)
}

fn tell_stats(shell: &mut Shell, what: &str) -> io::Result<()> {
    let engine::Stats { preorder, postorder } = shell.session.engine().stats();
    shell.answer(&format!(
        "{RULE}INFO: {what} PREORDER COUNT=\"{preorder}\"\n\
         INFO: {what} POSTORDER COUNT=\"{postorder}\"\n{RULE}"
    ))
}

pub(super) fn run_attach(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, path] = words else {
        return Ok(malformed());
    };
    let Some(subgraph) = read_text(path) else {
        return Ok(Flow::Failed);
    };
    if let Err(error) = shell.session.attach(&subgraph) {
        eprintln!("ERROR: can't attach {path}: {error}");
        return Ok(Flow::Failed);
    }
    Ok(Flow::Continue)
}

pub(super) fn run_remove(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, target, is_path] = words else {
        return Ok(malformed());
    };
    let result = match *is_path {
        "true" => shell.session.remove_path(target),
        "false" => match Idset::decode(target) {
            Ok(ranks) => {
                // Of more ranks than there are vertices, one of the first is unknown already.
                let most = shell.session.engine().graph().n_vertices() + 1;
                let ranks = ranks.iter().filter_map(|rank| i64::try_from(rank).ok());
                let ranks: Vec<i64> = ranks.take(most).collect();
                shell.session.remove_ranks(&ranks)
            }
            Err(error) => {
                eprintln!("ERROR: cannot read ranks `{target}`: {error}");
                return Ok(Flow::Failed);
            }
        },
        _ => {
            eprintln!("ERROR: expected true for a path or false for ranks, found `{is_path}`");
            return Ok(Flow::Failed);
        }
    };
    if let Err(error) = result {
        eprintln!("ERROR: can't remove {target}: {error}");
        return Ok(Flow::Failed);
    }
    Ok(Flow::Continue)
}

pub(super) fn run_set_property(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, path, property] = words else {
        return Ok(malformed());
    };
    let Some((key, value)) =
        property.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty())
    else {
        shell.answer(
            "Incorrect input format. \nPlease use `set-property <resource> PROPERTY=VALUE`.\n",
        )?;
        return Ok(Flow::Failed);
    };
    match shell.session.set_property(path, key, value) {
        Ok(true) => return Ok(Flow::Continue),
        Ok(false) => shell.answer(&format!("Couldn't find path {path} in resource graph.\n"))?,
        Err(error) => eprintln!("ERROR: {error}"),
    }
    Ok(Flow::Failed)
}

pub(super) fn run_set_status(shell: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let [_, path, status] = words else {
        return Ok(malformed());
    };
    if shell.session.vertices_at(path).is_empty() {
        shell.answer(&format!("Could not find path {path} in resource graph.\n"))?;
        return Ok(Flow::Failed);
    }
    let status = match *status {
        "up" => Status::Up,
        "down" => Status::Down,
        _ => {
            eprintln!("ERROR: unrecognized status `{status}`: expected up or down");
            return Ok(Flow::Failed);
        }
    };
    if let Err(error) = shell.session.set_status(path, status) {
        eprintln!("ERROR: {error}");
        return Ok(Flow::Failed);
    }
    Ok(Flow::Continue)
}
