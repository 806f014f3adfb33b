//! Replays recorded runs through `resource-query` and compares its answers with Fluxion's.
//!
//! `testdata/README.md` says what a recorded run is. Times and visit counts are not compared, nor is
//! the order of keys, of nodes and of edges in JSON.
#![allow(clippy::print_stderr, reason = "a test tells on standard error what it did")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flate2::read::GzDecoder;
use serde_json::Value;

/// Lines that tell how long something took or how much was visited begin so, after `INFO: `.
const NOT_COMPARED: [&str; 11] = [
    "PREORDER VISIT COUNT",
    "POSTORDER VISIT COUNT",
    "CANCEL PREORDER COUNT",
    "CANCEL POSTORDER COUNT",
    "PARTIAL CANCEL PREORDER COUNT",
    "PARTIAL CANCEL POSTORDER COUNT",
    "ELAPSE=",
    "Graph Load Time",
    "Min. Match Time",
    "Max. Match Time",
    "Avg. Match Time",
];

#[test]
fn golden_runs_have_the_recorded_answers() {
    replay("golden", 900);
}

#[test]
fn state_runs_have_the_recorded_answers() {
    replay("state", 300);
}

/// Replays all runs of a suite, of which there must be `n_runs`, on as many threads as there are
/// processors.
fn replay(suite: &str, n_runs: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/conformance");
    let folder = fs::canonicalize(folder.join(suite)).expect("the suite is there");
    let file = File::open(folder.join("cases.jsonl.gz")).expect("the runs are there");
    let runs: Vec<String> = BufReader::new(GzDecoder::new(file))
        .lines()
        .collect::<Result<_, _>>()
        .expect("the runs can be unpacked");
    assert_eq!(runs.len(), n_runs);

    let next = AtomicUsize::new(0);
    let n_threads = thread::available_parallelism().map_or(1, Into::into);
    let mut faults: Vec<String> = thread::scope(|scope| {
        let work = |number: usize| {
            let (folder, runs, next) = (&folder, &runs, &next);
            let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("conformance-{suite}-{number}"));
            move || {
                let mut faults = Vec::new();
                fs::create_dir_all(&scratch).expect("the scratch folder can be made");
                while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let run: Value = serde_json::from_str(run).expect("a run is JSON");
                    let name = run["name"].as_str().unwrap_or_default();
                    match fault(folder, &scratch, &run) {
                        Ok(None) => {}
                        Ok(Some(fault)) => faults.push(format!("{suite}/{name}: {fault}")),
                        Err(error) => faults.push(format!("{suite}/{name}: {error}")),
                    }
                }
                faults
            }
        };
        let workers: Vec<_> = (0..n_threads).map(|n| scope.spawn(work(n))).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined.flat_map(|faults| faults.expect("a worker does not panic")).collect()
    });
    faults.sort();
    let shown = faults.len().min(5);
    assert!(
        faults.is_empty(),
        "{} of {n_runs} runs differ, among them\n{}",
        faults.len(),
        faults[..shown].join("\n")
    );
}

/// Replays a run and tells how the answer differs from the recorded one.
fn fault(folder: &Path, scratch: &Path, run: &Value) -> Result<Option<String>, Box<dyn Error>> {
    let field = |key: &str| run[key].as_str().unwrap_or_default().to_owned();
    let commands: Vec<&str> = texts(&run["commands"]).collect();
    let mut commands = commands.join("\n") + "\n";
    // What commands name stands in files; answers name those again.
    let mut names: Vec<(String, String)> = Vec::new();
    let jobspecs = run["jobspecs"].as_array().into_iter().flatten();
    let jobspecs = jobspecs.map(Value::to_string);
    let inputs = jobspecs.enumerate().map(|(n, text)| ("JOB", n, text));
    let files = texts(&run["files"]).map(str::to_owned);
    let files = files.enumerate().map(|(n, text)| ("FILE", n, text));
    for (kind, n, text) in inputs.chain(files) {
        let path = scratch.join(format!("{}{n}.json", kind.to_lowercase()));
        fs::write(&path, text)?;
        let (path, name) = (path.display().to_string(), format!("@{kind}{n}@"));
        commands = commands.replace(&name, &path);
        names.push((path, name));
    }
    let graphs = folder.join("graphs");
    names.push((format!("{}/", graphs.display()), "graphs/".to_owned()));

    let output: PathBuf = scratch.join("R.out");
    let mut child = Command::new(env!("CARGO_BIN_EXE_resource-query"))
        .arg("-L")
        .arg(graphs.join(format!("{}.json", field("graph"))))
        .args(["-f", "jgf", "-d", "-t"])
        .arg(&output)
        .args(texts(&run["options"]))
        .current_dir(scratch)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(commands.as_bytes())?;
    }
    let result = child.wait_with_output()?;
    let read_back = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).into_owned();
        names.iter().fold(text, |text, (path, name)| text.replace(path, name))
    };
    if result.status.success() != (run["rc"] == 0) {
        let stderr = String::from_utf8_lossy(&result.stderr);
        let status = result.status;
        return Ok(Some(format!("{status}, expected {}: {stderr}", run["rc"])));
    }
    let answers = difference(&field("test_output"), &read_back(&fs::read(&output)?));
    let answers = answers.map(|fault| format!("matches: {fault}"));
    let printed = difference(&field("stdout"), &read_back(&result.stdout));
    Ok(answers.or_else(|| printed.map(|fault| format!("standard output: {fault}"))))
}

fn texts(array: &Value) -> impl Iterator<Item = &str> {
    array.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Tells where two texts differ in what is compared.
fn difference(expected: &str, found: &str) -> Option<String> {
    let mut expected = expected.lines().filter(|line| is_compared(line));
    let mut found = found.lines().filter(|line| is_compared(line));
    let mut n = 0;
    loop {
        n += 1;
        let (left, right) = match (expected.next(), found.next()) {
            (None, None) => return None,
            (left, right) => (left, right),
        };
        if left != right && left.map(canonical) != right.map(canonical) {
            let shown = |line: Option<&str>| {
                line.map_or("the end".to_owned(), |line| {
                    format!("`{}`", line.chars().take(400).collect::<String>())
                })
            };
            let (left, right) = (shown(left), shown(right));
            return Some(format!("line {n}:\n  expected {left}\n  found    {right}"));
        }
    }
}

fn is_compared(line: &str) -> bool {
    line.strip_prefix("INFO: ")
        .is_none_or(|rest| !NOT_COMPARED.iter().any(|start| rest.starts_with(start)))
}

/// Returns a line in a form in which only what matters differs.
fn canonical(line: &str) -> String {
    if line.starts_with('{')
        && let Ok(mut value) = serde_json::from_str(line)
    {
        sort(&mut value);
        return value.to_string();
    }
    // A line about a job ends with the time its match took.
    match line.rsplit_once(", ") {
        Some((job, seconds))
            if job.starts_with("INFO: ")
                && job.matches(", ").count() >= 2
                && (seconds == "@SECONDS@" || seconds.parse::<f64>().is_ok()) =>
        {
            job.to_owned()
        }
        _ => line.to_owned(),
    }
}

/// Sorts nodes and edges. Keys are sorted anyhow.
fn sort(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                sort(value);
                if let ("nodes" | "edges", Value::Array(items)) = (key.as_str(), value) {
                    items.sort_by_cached_key(Value::to_string);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sort),
        _ => {}
    }
}

#[test]
fn what_is_compared_is_what_matters() {
    assert_eq!(difference("a\nb", "a\nb"), None);
    assert_eq!(difference("a\nINFO: ELAPSE=1", "a"), None);
    assert!(difference("a", "a\nb").is_some());
    assert_eq!(
        difference(
            r#"{"nodes": [1, 2], "edges": [{"a": 1, "b": 2}]}"#,
            r#"{"edges":[{"b":2,"a":1}],"nodes":[2,1]}"#
        ),
        None
    );
    assert!(difference(r#"{"paths": [1, 2]}"#, r#"{"paths": [2, 1]}"#).is_some());
    let job = |end: &str| format!("INFO: 1, ALLOCATED, 0, @JOB0@, {end}");
    assert_eq!(difference(&job("@SECONDS@"), &job("0.000012")), None);
    assert!(difference(&job("0.1"), "INFO: 1, RESERVED, 0, @JOB0@, 0.1").is_some());
    assert!(difference("INFO: NUM=1, 2", "INFO: NUM=1, 3").is_some());
}
