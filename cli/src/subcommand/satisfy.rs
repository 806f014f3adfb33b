//! `fluxion satisfy`.

use fluxion::MatchFormat;
use serde::Serialize;

use super::Failure;
use super::console::{self, Console};
use super::input;
use super::matching;
use crate::args::SatisfyArgs;
use crate::report::Exit;

/// What is told to machines of a jobspec.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    jobspec: &'a str,
    outcome: &'static str,
}

pub(super) fn run(args: &SatisfyArgs, console: &Console) -> Result<Exit, Failure> {
    let SatisfyArgs { question, json } = args;
    let (mut loaded, jobspecs) = matching::prepare(question, MatchFormat::Simple, *json, console)?;
    let mut exit = Exit::Success;
    for file in &jobspecs {
        let name = &file.source.name;
        let outcome = match matching::could_ever(&mut loaded.session, &file.source.text) {
            Ok(true) => "satisfiable",
            Ok(false) => {
                exit = exit.max(Exit::Never);
                "unsatisfiable"
            }
            Err(error) => {
                let report = matching::refusal(file, &error);
                exit = exit.max(input::refuse(name, &report, *json, console)?);
                continue;
            }
        };
        if *json {
            console::print_json(&Answer { jobspec: name, outcome })?;
        } else {
            console::print(&format!("{name}: {outcome}\n"))?;
        }
    }
    Ok(exit)
}
