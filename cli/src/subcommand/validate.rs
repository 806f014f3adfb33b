//! `fluxion validate`.

use jobspec::{Dialect, FeatureUse};
use serde::Serialize;

use super::Failure;
use super::console::{self, Console};
use super::input;
use crate::args::ValidateArgs;
use crate::report::Exit;

/// What is told to machines of a jobspec.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    jobspec: &'a str,
    outcome: &'static str,
    /// What Fluxion does not support.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extended: Vec<Extended<'a>>,
}

#[derive(Debug, Serialize)]
struct Extended<'a> {
    feature: &'static str,
    line: u32,
    column: u32,
    key: &'a str,
}

pub(super) fn run(args: &ValidateArgs, console: &Console) -> Result<Exit, Failure> {
    let ValidateArgs { jobspecs: paths, extended, limits, json } = args;
    let limits = limits.limits().jobspec;
    input::check_stdin(paths)?;
    let dialect = if *extended { Dialect::Extended } else { Dialect::Fluxion };
    let mut exit = Exit::Success;
    for path in paths {
        let file = match input::read_jobspec(path, dialect, &limits, console) {
            Ok(file) => file,
            Err(report) => {
                exit = exit.max(input::refuse(path, &report, *json, console)?);
                continue;
            }
        };
        let name = &file.source.name;
        let uses = file.jobspec.extended_features();
        if *json {
            console::print_json(&Answer {
                jobspec: name,
                outcome: "valid",
                extended: uses.iter().map(describe).collect(),
            })?;
            continue;
        }
        console::print(&format!("{name}: valid\n"))?;
        for FeatureUse { feature, at } in uses {
            console::print(&format!("{name}:{at}: {feature} is not supported by Fluxion\n"))?;
        }
    }
    Ok(exit)
}

fn describe(used: &FeatureUse) -> Extended<'_> {
    Extended {
        feature: used.feature.name(),
        line: used.at.span.line,
        column: used.at.span.column,
        key: &used.at.path,
    }
}
