//! `fluxion shell`.

use std::io::{self, IsTerminal};

use super::Failure;
use super::console::{self, Console, cannot_write};
use super::input;
use crate::args::ShellArgs;
use crate::command;
use crate::report::{Exit, similar};
use crate::{Flow, Lines, Shell, read_lines};

pub(super) fn run(args: &ShellArgs, console: &Console) -> Result<Exit, Failure> {
    // Commands come from there.
    input::check_stdin([&args.graph.file, &"-".to_owned()])?;
    let loaded = input::open(
        &args.graph.file,
        &args.load,
        &args.engine,
        Some(&args.policy),
        args.format,
        console,
    )?;
    let mut shell = Shell::new(loaded.session, false);
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
    // A person has seen it and went on.
    Ok(if failed && !io::stdin().is_terminal() { Exit::BadData } else { Exit::Success })
}

fn unknown_command(name: &str) {
    let help = match similar(name, command::completions(&[])) {
        Some(known) => format!("did you mean `{known}`?"),
        None => "`help` lists all".to_owned(),
    };
    console::tell(&format!("ERROR: unknown command `{name}`: {help}"));
}
