//! Holds the dependencies between the packages of the workspace: see `ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Packages with those of the workspace that they may use. A package that is not named here may not
/// exist: a new one is put where it belongs first.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("jobspec", &[]),
    ("engine", &["jobspec"]),
    ("policies", &["engine", "jobspec"]),
    ("jgf", &["engine", "jobspec"]),
    ("queue", &["engine", "jobspec"]),
    ("fluxion", &["engine", "jgf", "jobspec", "policies", "queue"]),
    ("cli", ABOVE),
    ("k8s", ABOVE),
    ("capi", ABOVE),
    ("bench", ABOVE),
    ("testkit", &["engine", "jgf", "jobspec", "policies", "queue"]),
];

/// What packages on top of the facade may use.
const ABOVE: &[&str] = &["engine", "fluxion", "jgf", "jobspec", "policies", "queue"];

/// What anybody's tests may use besides.
const FOR_TESTS: &[&str] = &["testkit"];

/// Packages from elsewhere that only some may use, so that what they bring stays in one place.
const CONFINED: [(&str, &[&str]); 9] = [
    ("petgraph", &["engine"]),
    ("roaring", &["engine"]),
    ("bincode", &["engine"]),
    ("postcard", &["fluxion"]),
    ("roxmltree", &["jgf"]),
    ("serde-saphyr", &["jobspec", "k8s"]),
    ("clap", &["bench", "cli", "k8s", "testkit"]),
    ("rustyline", &["cli"]),
    ("kube", &["k8s"]),
];

struct Dependency {
    name: String,
    for_tests: bool,
}

fn packages() -> BTreeMap<String, Vec<Dependency>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let dependency = |entry: &Value| Dependency {
        name: text(&entry["name"]),
        for_tests: entry["kind"] == "dev",
    };
    let package = |entry: &Value| {
        let dependencies = entry["dependencies"].as_array().into_iter().flatten();
        (text(&entry["name"]), dependencies.map(dependency).collect())
    };
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages.map(package).collect()
}

#[test]
fn packages_use_only_what_is_below_them() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let packages = packages();
    assert!(packages.contains_key("engine"));
    let mut faults = Vec::new();
    for (name, dependencies) in &packages {
        let Some(allowed) = allowed.get(name.as_str()) else {
            faults.push(format!("package `{name}` has no place yet"));
            continue;
        };
        for Dependency { name: used, for_tests } in dependencies {
            let ours = packages.contains_key(used);
            let fine = allowed.contains(&used.as_str())
                || *for_tests && FOR_TESTS.contains(&used.as_str());
            if ours && !fine {
                faults.push(format!("`{name}` must not use `{used}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn packages_from_elsewhere_stay_where_they_belong() {
    let mut faults = Vec::new();
    for (name, dependencies) in packages() {
        for Dependency { name: used, .. } in dependencies {
            let users = CONFINED.iter().find(|(confined, _)| *confined == used);
            if users.is_some_and(|(_, users)| !users.contains(&name.as_str())) {
                faults.push(format!("`{name}` must not use `{used}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn packages_are_named_after_their_folders() {
    let folders: BTreeSet<String> = packages().into_keys().collect();
    for name in folders {
        let manifest = format!("{}/../{name}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        assert!(std::path::Path::new(&manifest).is_file(), "{name}");
    }
}
