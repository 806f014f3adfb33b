//! Loads every resource graph of the conformance suite, whose folder the environment variable
//! `FLUXION_CONFORMANCE` names.

use std::fs;
use std::path::{Path, PathBuf};

use jgf::{LoadFormat, LoadOptions, load};

/// Returns the files below `folder` whose name ends so, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn load_all(root: &Path, folder: &str, ending: &str, format: LoadFormat, allowlist: Option<&str>) {
    let options = LoadOptions { allowlist: allowlist.map(str::to_owned), ..LoadOptions::default() };
    let mut n_loaded = 0;
    for path in files(&root.join(folder), ending) {
        let name = path.display();
        let text = fs::read_to_string(&path).expect("a readable file");
        // Resource sets lie beside graphs: what a job gives back, and R with JGF inside.
        let sniffed = LoadFormat::sniff(&text);
        if sniffed != Some(format) || name.to_string().contains("cancel") {
            continue;
        }
        let graph = load(&text, format, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(graph.n_vertices() > 1, "{name}");
        n_loaded += 1;
    }
    assert!(n_loaded > 0, "no graphs in {folder}");
}

#[test]
fn every_graph_of_the_suite_is_read() {
    let Some(root) = std::env::var_os("FLUXION_CONFORMANCE").map(PathBuf::from) else {
        println!("FLUXION_CONFORMANCE is not set: nothing to read");
        return;
    };
    load_all(&root, "golden/graphs", ".json", LoadFormat::Jgf, None);
    load_all(&root, "state/graphs", ".json", LoadFormat::Jgf, None);
    let peer = root.join("peer/data");
    load_all(&peer, "resource/jgfs", ".json", LoadFormat::Jgf, None);
    load_all(&peer, "resource/grugs", ".graphml", LoadFormat::Grug, None);
    load_all(&peer, "resource/rv1exec", ".json", LoadFormat::Rv1exec, None);
    let allowlist = Some("node,socket,core,gpu");
    load_all(&peer, "hwloc-data", ".xml", LoadFormat::Hwloc, allowlist);
}
