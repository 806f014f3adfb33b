//! `fluxion shell`.

use std::io::{self, IsTerminal};
use std::path::Path;

use fluxion::{Session, StateDir, StateOptions};

use super::Failure;
use super::console::{self, Console, cannot_write};
use super::input;
use crate::args::ShellArgs;
use crate::command;
use crate::report::{Exit, Report, Reported, similar};
use crate::{Flow, Lines, Shell, read_lines};

pub(super) fn run(args: &ShellArgs, console: &Console) -> Result<Exit, Failure> {
    let session = match &args.state {
        Some(path) => open_state(path, args, console)?,
        None => open_graph(args, console)?,
    };
    let mut shell = Shell::new(session, false);
    let mut failed = false;
    let result = read_lines(Lines::Prompt("fluxion> "), |line| {
        let flow = match line.split_ascii_whitespace().next() {
            Some(name) if name.starts_with('#') => Flow::Continue,
            Some(name) if command::find(name).is_none() => {
                unknown_command(name);
                Flow::Failed
            }
            _ => shell.run(line)?,
        };
        failed |= flow == Flow::Failed;
        Ok(flow)
    });
    result.and_then(|()| shell.flush()).map_err(|error| cannot_write("standard output", &error))?;
    shell.checkpoint().map_err(|error| Report::of_state(&error))?;
    // A person has seen it and went on.
    Ok(if failed && !io::stdin().is_terminal() { Exit::BadData } else { Exit::Success })
}

fn open_graph(args: &ShellArgs, console: &Console) -> Reported<Session> {
    let Some(file) = &args.graph else {
        let mut report = Report::new(Exit::Usage, "there is no state yet");
        report.help("`--graph FILE` tells what to begin with");
        return Err(report);
    };
    // Commands come from there.
    input::check_stdin([file, &"-".to_owned()])?;
    let ShellArgs { load, engine, policy, format, .. } = args;
    Ok(input::open(file, load, engine, Some(policy), *format, console)?.session)
}

/// Restores the state that a directory keeps, or keeps that of a graph in it from now on.
fn open_state(path: &Path, args: &ShellArgs, console: &Console) -> Reported<Session> {
    let report = |error: fluxion::Error| Report::of_state(&error);
    let dir = StateDir::open(path, StateOptions::default()).map_err(report)?;
    if !dir.has_state().map_err(report)? {
        return dir.create(open_graph(args, console)?).map_err(report);
    }
    let (session, recovery) = input::restore(dir, args, console)?;
    if let Some(dropped) = recovery.dropped {
        console::tell(&format!("WARNING: {dropped}"));
    }
    Ok(session)
}

fn unknown_command(name: &str) {
    let help = match similar(name, command::completions(&[])) {
        Some(known) => format!("did you mean `{known}`?"),
        None => "`help` lists all".to_owned(),
    };
    console::tell(&format!("ERROR: unknown command `{name}`: {help}"));
}
