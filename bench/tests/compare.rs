//! The program against our own binary, and against what is none.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

/// Builds our binary, in the profile of these tests, and returns where it is.
fn resource_query() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let dir = Path::new(env!("CARGO_BIN_EXE_bench")).parent().expect("a directory");
        let mut build = Command::new(env!("CARGO"));
        build
            .args(["build", "--quiet", "--offline", "--package", "cli", "--bin", "resource-query"])
            .arg("--target-dir")
            .arg(dir.parent().expect("a directory"))
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        if dir.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success());
        dir.join("resource-query")
    })
}

fn compare(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.arg("compare").args(args).output().expect("the program runs")
}

fn error(args: &[&str]) -> String {
    let output = compare(args);
    assert!(!output.status.success(), "{output:?}");
    let stderr = String::from_utf8(output.stderr).expect("text");
    stderr.lines().last().expect("an error").to_owned()
}

#[test]
fn we_answer_as_we_do() {
    let ours = resource_query().to_str().expect("text");
    let workloads = "load-grug,core1,sock2c4/low,rack2node8/low,toobig,nofit/first,churn";
    let args = ["--peer", ours, "--sizes", "s64", "--rounds", "2", "--workloads", workloads];
    let output = compare(&args);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    // A head, a rule, and the workloads.
    assert_eq!(stdout.lines().count(), 2 + 10, "{stdout}");

    let output = compare(&[&args[..], &["--json"]].concat());
    let rows: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), 10);
    for row in rows {
        assert_eq!(row["same_answer"], true, "{row}");
        for side in ["ours", "peer"] {
            assert!(row[side]["peak_bytes"].as_f64() > Some(1e6), "{row}");
            assert!(row[side]["seconds"].as_f64().is_some(), "{row}");
        }
    }
}

#[test]
fn other_answers_are_told() {
    let ours = resource_query().to_str().expect("text");
    let dir = tempfile::tempdir().expect("a directory");
    let peer = dir.path().join("peer");
    // Takes the highest ids where the lowest are asked for.
    let script = format!(
        "#!/bin/sh\nfor arg; do shift; [ \"$arg\" = low ] && arg=high; set -- \"$@\" \"$arg\"; done\n\
         exec '{ours}' \"$@\"\n"
    );
    std::fs::write(&peer, script).expect("written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&peer, executable).expect("made executable");
    let peer = peer.to_str().expect("text");
    let args = ["--peer", peer, "--ours", ours, "--sizes", "s64", "--workloads", "core1/low"];
    let output = compare(&args);
    assert!(!output.status.success());
    let stdout = String::from_utf8_lossy(&output.stdout);
    let expected =
        "s64 core1/low: answers differ at line 1: ours `      ---------------core0[1:x]`";
    assert!(stdout.contains(expected), "{stdout}");
    assert_eq!(error(&args), "ERROR: answers differ in 1 of 1 workloads");
}

#[test]
fn a_peer_that_cannot_be_compared_is_told() {
    let ours = resource_query().to_str().expect("text");
    let run =
        |peer: &str, args: &[&str]| error(&[&["--peer", peer, "--ours", ours], args].concat());
    let told = run("nowhere/resource-query", &[]);
    assert!(told.starts_with("ERROR: no binary at nowhere/resource-query: --peer names"), "{told}");
    let told = run(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), &[]);
    assert!(told.starts_with("ERROR: cannot run ") && told.contains("ermission"), "{told}");
    let told = run("/bin/false", &[]);
    assert!(told.starts_with("ERROR: /bin/false ended with exit status: 1"), "{told}");
    let told = run("/bin/true", &[]);
    assert_eq!(told, "ERROR: /bin/true wrote no answers: is it a resource-query?");
    let told = run(ours, &["--workloads", "core2"]);
    assert!(told.starts_with("ERROR: unknown workload `core2`: expected load-grug, "), "{told}");
    let told = run(ours, &["--sizes", "s5k"]);
    assert_eq!(told, "ERROR: unknown size `s5k`: expected s64, s1k, s4k, s16k");
    let told = error(&["--peer", ours, "--ours", "nowhere"]);
    assert!(told.starts_with("ERROR: no binary at nowhere: build it with "), "{told}");
}
