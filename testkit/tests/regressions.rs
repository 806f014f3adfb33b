//! Inputs that once broke a promise, and the seeds of the fuzzer, keep all promises.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use testkit::fuzz::TARGETS;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the names of what is in a folder, none if there is no such folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.expect("the folder can be read").file_name());
    names.map(|name| name.into_string().expect("names are text")).collect()
}

/// Runs the target on every file of its folder in `folder`; returns how many there are.
fn replay(folder: &str) -> usize {
    let mut n = 0;
    let mut faults = Vec::new();
    for (name, target) in TARGETS {
        let folder = root().join(folder).join(name);
        for file in names(&folder) {
            let data = fs::read(folder.join(&file)).expect("the file can be read");
            if catch_unwind(|| target(&data)).is_err() {
                faults.push(format!("{name}/{file}"));
            }
            n += 1;
        }
    }
    assert!(faults.is_empty(), "promises are broken by {}", faults.join(", "));
    n
}

#[test]
fn regressions_stay_mended() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| name.to_string()).collect();
    let folders = names(&root().join("testdata/regressions"));
    assert!(folders.is_subset(&targets), "{folders:?} are not all targets");
    replay("testdata/regressions");
}

#[test]
fn seeds_keep_all_promises() {
    assert!(replay("fuzz/seeds") >= TARGETS.len());
}

#[test]
fn every_target_can_be_run() {
    let mut programs: BTreeSet<String> =
        TARGETS.iter().map(|(name, _)| format!("{name}.rs")).collect();
    programs.insert("canary.rs".to_owned());
    assert_eq!(names(&root().join("fuzz/fuzz_targets")), programs);
    let seeds = names(&root().join("fuzz/seeds"));
    for (name, _) in TARGETS {
        assert!(seeds.contains(name), "{name} has no seeds");
    }
}
