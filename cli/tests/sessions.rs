//! Replays the sessions in `testdata/sessions`, whose form `testdata/README.md` describes.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command whose answer marks the end of the answer to the one before it.
const MARKER: &str = "help quit";
const MARK: &str = "INFO: quit (q)  -- end the session\n";

/// Runs the commands of a session and returns the session with the answers that came.
fn replay(folder: &Path, session: &str) -> String {
    let options = session.lines().next().and_then(|line| line.strip_prefix("# "));
    let options = options.expect("options in the first line");
    let commands: Vec<&str> = session.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let mut child = Command::new(env!("CARGO_BIN_EXE_resource-query"))
        .arg("-d")
        .args(options.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    let input: String = commands.iter().fold(String::new(), |mut input, command| {
        let _ = writeln!(input, "{command}\n{MARKER}");
        input
    });
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("the tool reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the tool ends");
    assert!(output.status.success(), "{}", output.status);
    let output = String::from_utf8(output.stdout).expect("answers are text");
    let answers: Vec<&str> = output.split(MARK).collect();
    assert_eq!(answers.len(), commands.len() + 1, "a mark for each command in\n{output}");
    let mut replayed = format!("# {options}\n");
    for (command, answer) in commands.iter().zip(answers) {
        let _ = write!(replayed, "> {command}\n{answer}");
    }
    replayed
}

#[test]
fn sessions_have_the_answers_that_stand_in_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let update = std::env::var_os("UPDATE_SESSIONS").is_some();
    let entries = fs::read_dir(folder.join("sessions")).expect("the sessions are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let mut faults = Vec::new();
    for path in paths {
        let session = fs::read_to_string(&path).expect("a readable file");
        let replayed = replay(&folder, &session);
        if update {
            fs::write(&path, replayed).expect("a writable file");
        } else if session != replayed {
            let at = session.lines().zip(replayed.lines()).position(|(left, right)| left != right);
            let at = at.unwrap_or_else(|| session.lines().count().min(replayed.lines().count()));
            let [left, right] =
                [&session, &replayed].map(|text| text.lines().nth(at).unwrap_or("the end"));
            let name = path.display();
            faults.push(format!("{name}:{}\n  expected {left}\n  found    {right}", at + 1));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
