//! `fluxion convert`.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use engine::Graph;

use super::Failure;
use super::console::{self, Console, cannot_write, reason};
use super::input;
use crate::args::{ConvertArgs, GraphText};
use crate::report::{Exit, Report, Reported};

pub(super) fn run(args: &ConvertArgs, console: &Console) -> Result<Exit, Failure> {
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let format = args.to.or_else(|| output.and_then(by_extension)).unwrap_or(GraphText::Jgf);
    let graph = input::load_graph(&args.input, &args.load, console)?;
    let mut text = String::new();
    match format {
        GraphText::Jgf => jgf::write_jgf_graph(&graph, &mut text),
        GraphText::Dot => jgf::write_dot(&graph, Graph::CONTAINMENT, &mut text),
        GraphText::Graphml => jgf::write_graphml(&graph, &mut text),
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    match output {
        Some(path) => write(path, &text)?,
        None => console::print(&text)?,
    }
    Ok(Exit::Success)
}

fn by_extension(path: &Path) -> Option<GraphText> {
    match path.extension()?.to_str()? {
        "json" | "jgf" => Some(GraphText::Jgf),
        "dot" | "gv" => Some(GraphText::Dot),
        "graphml" | "xml" => Some(GraphText::Graphml),
        _ => None,
    }
}

fn write(path: &Path, text: &str) -> Reported<()> {
    let name = path.to_string_lossy();
    let mut file = File::create(path).map_err(|error| {
        let title = format!("cannot be made: {}", reason(&error));
        Report::of_file(Exit::CannotCreate, &name, title)
    })?;
    file.write_all(text.as_bytes()).map_err(|error| cannot_write(&name, &error))
}
