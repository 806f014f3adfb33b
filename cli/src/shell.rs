//! A session with the streams that commands write to.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use fluxion::Session;

use crate::command;

/// Whether a shell goes on after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It reads the next one.
    Continue,
    /// It reads the next one, though this one could not be done. What is wrong was told.
    Failed,
    /// It ends.
    Quit,
}

/// Times of matches, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) sum: f64,
}

/// A session and where its answers go.
#[derive(Debug)]
pub struct Shell {
    pub(crate) session: Session,
    /// Where matches and what belongs to them go instead of standard output.
    test_output: Option<BufWriter<File>>,
    /// Whether times and visits are told.
    pub(crate) tell_elapsed: bool,
    pub(crate) timing: Timing,
    /// The text of the last match, kept for its room.
    pub(crate) text: String,
}

impl Shell {
    /// Makes a shell whose matches go to standard output.
    pub fn new(session: Session, tell_elapsed: bool) -> Self {
        let timing = Timing { min: f64::MAX, max: 0.0, sum: 0.0 };
        Self { session, test_output: None, tell_elapsed, timing, text: String::new() }
    }

    /// Lets matches go to a file, which is emptied.
    ///
    /// # Errors
    ///
    /// When the file cannot be made.
    pub fn set_test_output(&mut self, path: &Path) -> io::Result<()> {
        self.test_output = Some(BufWriter::new(File::create(path)?));
        Ok(())
    }

    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Puts a state that is kept into a snapshot, so that the next start is short.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn checkpoint(&mut self) -> Result<(), fluxion::Error> {
        self.session.checkpoint()
    }

    /// Runs one line. Blank lines and unknown commands are passed over.
    ///
    /// # Errors
    ///
    /// When an answer cannot be written.
    pub fn run(&mut self, line: &str) -> io::Result<Flow> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let Some(name) = words.first() else {
            return Ok(Flow::Continue);
        };
        match command::find(name) {
            Some(command) => (command.run)(self, &words),
            None => Ok(Flow::Continue),
        }
    }

    /// Writes to where matches go.
    pub(crate) fn answer(&mut self, text: &str) -> io::Result<()> {
        match &mut self.test_output {
            Some(file) => file.write_all(text.as_bytes()),
            None => write_stdout(text),
        }
    }

    /// Makes sure that everything written is where it belongs.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.test_output {
            file.flush()?;
        }
        unless_closed(io::stdout().flush())
    }
}

/// Writes to standard output. Nobody reading any more is no error.
///
/// # Errors
///
/// When it cannot be written for another reason.
pub fn write_stdout(text: &str) -> io::Result<()> {
    unless_closed(io::stdout().write_all(text.as_bytes()))
}

fn unless_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
