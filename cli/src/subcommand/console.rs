//! The streams that are written to.

use std::env;
use std::io::{self, IsTerminal, Write};

use clap::ColorChoice;
use serde::Serialize;

use crate::report::{Exit, Report, Reported};
use crate::shell::write_stdout;

/// Standard output for answers, standard error for everything else.
#[derive(Debug)]
pub(super) struct Console {
    /// Whether reports are coloured.
    colored: bool,
    /// Whether progress is shown.
    pub(super) lively: bool,
}

impl Console {
    pub(super) fn new(choice: ColorChoice) -> Self {
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let lively = io::stderr().is_terminal() && !is_dumb;
        let colored = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => lively && !is_set("NO_COLOR"),
        };
        Self { colored, lively }
    }

    /// Tells an error.
    pub(super) fn report(&self, report: &Report) {
        tell(report.render(self.colored).trim_end());
    }
}

/// Writes an answer. Nobody reading any more is no error.
pub(super) fn print(text: &str) -> Reported<()> {
    write_stdout(text).map_err(|error| cannot_write("standard output", &error))
}

/// Writes an answer for machines, on a line of its own.
pub(super) fn print_json(value: &impl Serialize) -> Reported<()> {
    let mut line = serde_json::to_string(value)
        .map_err(|error| Report::new(Exit::Internal, error.to_string()))?;
    line.push('\n');
    print(&line)
}

/// Makes sure that all answers are written.
pub(super) fn flush() -> Reported<()> {
    match io::stdout().flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(cannot_write("standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Tells a line.
pub(super) fn tell(line: &str) {
    // There is no other place to tell that this one cannot be written to.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Makes a report of something that cannot be written.
pub(super) fn cannot_write(what: &str, error: &io::Error) -> Box<Report> {
    let title = format!("cannot be written: {}", reason(error));
    Report::of_file(Exit::CannotWrite, what, title)
}

/// Returns what an error of the system says, without its number.
pub(super) fn reason(error: &io::Error) -> String {
    let full = error.to_string();
    match full.find(" (os error ") {
        Some(end) => full[..end].to_owned(),
        None => full,
    }
}
