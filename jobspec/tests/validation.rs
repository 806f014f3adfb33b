//! Jobspecs that a reader must accept, and such that it must refuse.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jobspec::{Dialect, Jobspec};

/// Returns a directory of the conformance data, or nothing if they are absent.
#[expect(clippy::print_stdout, reason = "a test that checks nothing should say so")]
fn conformance(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let path = root.join(name);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: {} is absent", path.display());
    None
}

fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    assert!(!paths.is_empty());
    Ok(paths)
}

#[test]
fn valid_jobspecs_are_read_and_written() {
    let Some(directory) = conformance("peer/data/resource/jobspecs/validation/valid") else {
        return;
    };
    for path in files(&directory).unwrap() {
        let bytes = fs::read(&path).unwrap();
        let jobspec = Jobspec::parse_bytes(&bytes, Dialect::Fluxion)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(jobspec.extended_features().is_empty());
        for text in [jobspec.to_json(), jobspec.to_yaml()] {
            let again = Jobspec::parse(&text, Dialect::Fluxion);
            assert_eq!(again.as_ref(), Ok(&jobspec), "{}", path.display());
        }
    }
}

#[test]
fn invalid_jobspecs_are_refused() {
    let Some(directory) = conformance("peer/data/resource/jobspecs/validation/invalid") else {
        return;
    };
    for path in files(&directory).unwrap() {
        let bytes = fs::read(&path).unwrap();
        let error =
            Jobspec::parse_bytes(&bytes, Dialect::Fluxion).expect_err(&path.display().to_string());
        assert!(!error.expected().is_empty() && !error.found().is_empty());
    }
}

#[test]
fn recorded_jobspecs_get_an_answer() {
    let Some(directory) = conformance("golden/cases") else {
        return;
    };
    let (mut accepted, mut refused) = (0, 0);
    for path in files(&directory).unwrap() {
        let case: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for document in case["jobspecs"].as_array().unwrap() {
            let Ok(jobspec) = Jobspec::parse(&document.to_string(), Dialect::Fluxion) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            let again = Jobspec::parse(&jobspec.to_yaml(), Dialect::Fluxion);
            assert_eq!(again.as_ref(), Ok(&jobspec), "{}", path.display());
        }
    }
    assert!(accepted > 0 && refused > 0);
}
