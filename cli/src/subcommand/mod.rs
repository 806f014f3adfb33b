//! What `fluxion` does, a file for each subcommand.

mod completions;
mod console;
mod convert;
mod info;
mod input;
mod matching;
mod progress;
mod satisfy;
mod shell;
mod validate;

use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Command, FluxionArgs};
use crate::report::{Exit, Report};
use console::Console;

/// Runs `fluxion` with the words of a command line, the name of the program first, and returns its
/// exit status.
pub fn run_fluxion(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    // The default hook has told where the fault is.
    let exit = panic::catch_unwind(|| parse_and_run(words)).unwrap_or(Exit::Internal);
    ExitCode::from(exit as u8)
}

fn parse_and_run(words: Vec<OsString>) -> Exit {
    match FluxionArgs::try_parse_from(words) {
        Ok(args) => run(&args.command, &Console::new(args.color)),
        Err(error) => {
            // Nothing is left to do if the message cannot be written.
            let _ = error.print();
            if error.use_stderr() { Exit::Usage } else { Exit::Success }
        }
    }
}

fn run(command: &Command, console: &Console) -> Exit {
    let result = match command {
        Command::Match(args) => matching::run(args, console),
        Command::Satisfy(args) => satisfy::run(args, console),
        Command::Validate(args) => validate::run(args, console),
        Command::Info(args) => info::run(args, console),
        Command::Convert(args) => convert::run(args, console),
        Command::Shell(args) => shell::run(args, console),
        Command::Completions(args) => completions::run(args),
    };
    let result = result.and_then(|exit| {
        console::flush()?;
        Ok(exit)
    });
    result.unwrap_or_else(|failure| {
        if let Failure::Untold(report) = &failure {
            console.report(report);
        }
        failure.exit()
    })
}

/// Why a subcommand gave up.
#[derive(Debug)]
enum Failure {
    /// This is yet to be told.
    Untold(Box<Report>),
    /// All is told.
    Told(Exit),
}

impl Failure {
    fn exit(&self) -> Exit {
        match self {
            Self::Untold(report) => report.exit,
            Self::Told(exit) => *exit,
        }
    }
}

impl From<Box<Report>> for Failure {
    fn from(report: Box<Report>) -> Self {
        Self::Untold(report)
    }
}
