//! Runs of a `resource-query` binary.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4;

use crate::compare::Error;
use crate::figures::parse_elapse;

/// What is run and where its output goes.
#[derive(Clone, Debug)]
pub struct Invocation<'a> {
    /// The binary.
    pub program: &'a Path,
    /// Arguments except that for the file with answers.
    pub args: &'a [String],
    /// The file with commands.
    pub script: &'a Path,
    /// A path with which the names of all output files start.
    pub output: &'a Path,
}

/// What a run took.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Seconds from its start to its end.
    pub wall_s: f64,
    /// The most memory that it had at once. As the system counts, this is never less than what the
    /// harness itself had when it started the run.
    pub peak_bytes: u64,
    /// Seconds of each match, where the binary was asked to tell.
    pub matches_s: Vec<f64>,
}

impl Invocation<'_> {
    /// Returns the file with answers.
    pub fn answers(&self) -> PathBuf {
        self.file("answers")
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.output.with_extension(extension)
    }

    /// Runs the binary to its end.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] when it cannot be run, [`Error::Failed`] when it ends with an error,
    /// [`Error::File`].
    pub fn run(&self) -> Result<Run, Error> {
        let file = |path: &Path, source| Error::File { path: path.to_owned(), source };
        let create = |path: &Path| File::create(path).map_err(|source| file(path, source));
        let script = File::open(self.script).map_err(|source| file(self.script, source))?;
        let (stdout, stderr) = (self.file("stdout"), self.file("stderr"));
        let mut command = Command::new(self.program);
        command
            .args(self.args)
            .arg("-t")
            .arg(self.answers())
            .stdin(script)
            .stdout(Stdio::from(create(&stdout)?))
            .stderr(Stdio::from(create(&stderr)?));
        let not_run = |source| Error::Start { program: self.program.to_owned(), source };
        let start = Instant::now();
        let child = command.spawn().map_err(not_run)?;
        let used = child.wait4().map_err(not_run)?;
        let wall_s = start.elapsed().as_secs_f64();
        if !used.status.success() {
            let told = std::fs::read(&stderr).unwrap_or_default();
            return Err(Error::Failed {
                program: self.program.to_owned(),
                status: used.status,
                told: last_line(&String::from_utf8_lossy(&told)),
            });
        }
        let mut matches_s = Vec::new();
        for path in [&stdout, &self.answers()] {
            for_each_line(path, |line| matches_s.extend(parse_elapse(line)))
                .map_err(|source| file(path, source))?;
        }
        Ok(Run { wall_s, peak_bytes: used.rusage.maxrss, matches_s })
    }

    /// Removes what the run wrote.
    pub fn clean(&self) {
        for extension in ["answers", "stdout", "stderr"] {
            // The directory goes as a whole in the end.
            let _ = std::fs::remove_file(self.file(extension));
        }
    }
}

fn last_line(text: &str) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}

/// Lines of a file of any size, one at a time.
struct Lines {
    reader: BufReader<File>,
    bytes: Vec<u8>,
}

impl Lines {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { reader: BufReader::new(File::open(path)?), bytes: Vec::new() })
    }

    fn next(&mut self) -> io::Result<Option<String>> {
        self.bytes.clear();
        if self.reader.read_until(b'\n', &mut self.bytes)? == 0 {
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&self.bytes).trim_end().to_owned()))
    }

    /// Returns the next line that is part of the answer.
    fn next_of_answer(&mut self) -> io::Result<Option<String>> {
        loop {
            match self.next()? {
                Some(line) if is_about_the_run(&line) => {}
                line => return Ok(line),
            }
        }
    }
}

/// A run that answers nothing may leave no file.
fn for_each_line(path: &Path, mut visit: impl FnMut(&str)) -> io::Result<()> {
    let mut lines = match Lines::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        lines => lines?,
    };
    while let Some(line) = lines.next()? {
        visit(&line);
    }
    Ok(())
}

/// Returns whether a line tells about the run, and so may differ though the answer is the same.
fn is_about_the_run(line: &str) -> bool {
    ["INFO: ELAPSE=", "INFO: PREORDER VISIT COUNT=", "INFO: POSTORDER VISIT COUNT="]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Where two answers part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line, counted from 1 without those that tell times.
    pub line: usize,
    /// What ours has there, unless it ended before.
    pub ours: Option<String>,
    /// What the peer has there, unless it ended before.
    pub peer: Option<String>,
}

/// Returns where two files with answers differ first. Lines that tell times and visits are left out.
///
/// # Errors
///
/// [`Error::File`] for a file that cannot be read or was never written.
pub fn difference(ours: &Path, peer: &Path) -> Result<Option<Difference>, Error> {
    let file = |path: &Path, source| Error::File { path: path.to_owned(), source };
    let open = |path: &Path| Lines::open(path).map_err(|source| file(path, source));
    let (mut our_lines, mut peer_lines) = (open(ours)?, open(peer)?);
    for line in 1.. {
        let our_line = our_lines.next_of_answer().map_err(|source| file(ours, source))?;
        let peer_line = peer_lines.next_of_answer().map_err(|source| file(peer, source))?;
        if our_line != peer_line {
            return Ok(Some(Difference { line, ours: our_line, peer: peer_line }));
        }
        if our_line.is_none() {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parting(ours: &str, peer: &str) -> Option<Difference> {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        difference(&write("ours", ours), &write("peer", peer)).expect("both are read")
    }

    #[test]
    fn times_make_no_difference() {
        let ours = "core0[1:x]\nINFO: JOBID=1\nINFO: ELAPSE=0.1\n";
        assert_eq!(parting(ours, "core0[1:x]\nINFO: JOBID=1\nINFO: ELAPSE=0.2\n"), None);
        assert_eq!(parting(ours, "core0[1:x]\nINFO: JOBID=1\n"), None);
    }

    #[test]
    fn the_first_difference_is_told() {
        let expected =
            Difference { line: 2, ours: Some("b".to_owned()), peer: Some("c".to_owned()) };
        assert_eq!(parting("a\nb\n", "a\nc\n"), Some(expected));
        let expected = Difference { line: 2, ours: Some("b".to_owned()), peer: None };
        assert_eq!(parting("a\nb\n", "a\n"), Some(expected));
    }

    #[test]
    fn last_line_is_not_blank() {
        assert_eq!(last_line("a\nb\n\n"), "b");
        assert_eq!(last_line(""), "");
    }
}
