//! A folder with the test data and a clean environment, in which a tool is run.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder of its own for a test.
#[derive(Debug)]
pub(crate) struct Sandbox {
    tool: &'static str,
    folder: PathBuf,
}

impl Sandbox {
    /// Makes a folder called `name` with `graphs`, `jobspecs` and `bad` in it.
    pub(crate) fn new(tool: &'static str, name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
        let small = ["tiny.json", "tiny.graphml", "two-nodes.yaml", "gpu.yaml", "toobig.yaml"];
        for part in ["graphs", "jobspecs", "bad"] {
            fs::create_dir_all(folder.join(part)).unwrap();
            for entry in fs::read_dir(data.join(part)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap();
                if part == "bad" || small.contains(&name) {
                    fs::copy(&path, folder.join(part).join(name)).unwrap();
                }
            }
        }
        Self { tool, folder }
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs the tool with the words of `line` and returns what it wrote to standard output, then
    /// what it wrote to standard error, each line after `! `, and last its exit status after `= `.
    pub(crate) fn run(&self, line: &str, input: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut child = Command::new(self.tool)
            .args(words)
            .current_dir(&self.folder)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A tool that does not read what it is given is no fault.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let mut transcript = String::from_utf8(output.stdout).unwrap();
        for line in String::from_utf8(output.stderr).unwrap().lines() {
            transcript.push_str(format!("! {line}").trim_end());
            transcript.push('\n');
        }
        let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
        transcript.push_str("= ");
        transcript.push_str(&code);
        transcript
    }

    /// Runs the tool and compares what [`Self::run`] returns.
    #[track_caller]
    pub(crate) fn check(&self, line: &str, input: &str, expected: &str) {
        assert_eq!(self.run(line, input), expected.trim_start_matches('\n'), "{line}");
    }
}
