//! `fluxion info`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::iter::successors;

use engine::{Graph, Status, VertexId};
use fluxion::MatchFormat;
use serde::Serialize;

use super::Failure;
use super::console::{self, Console};
use super::input::{self, Loaded};
use crate::args::InfoArgs;
use crate::report::Exit;

/// What is in a graph.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    graph: &'a str,
    format: &'static str,
    file_bytes: usize,
    vertices: usize,
    edges: usize,
    ranks: usize,
    /// Vertices that are down.
    down: usize,
    subsystems: Vec<Subsystem<'a>>,
    types: Vec<Kind<'a>>,
    read_seconds: f64,
    load_seconds: f64,
    memory_bytes: usize,
    memory_bytes_per_vertex: usize,
}

#[derive(Debug, Serialize)]
struct Subsystem<'a> {
    name: &'a str,
    vertices: usize,
}

/// The vertices of one type and unit.
#[derive(Debug, Serialize)]
struct Kind<'a> {
    #[serde(rename = "type")]
    name: &'a str,
    count: u64,
    /// The sum of their sizes.
    size: u128,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
}

pub(super) fn run(args: &InfoArgs, console: &Console) -> Result<Exit, Failure> {
    let loaded =
        input::open(&args.graph, &args.load, &args.engine, None, MatchFormat::Simple, console)?;
    let summary = summarize(&loaded);
    if args.json {
        console::print_json(&summary)?;
    } else {
        console::print(&render(&summary))?;
    }
    Ok(Exit::Success)
}

fn summarize(loaded: &Loaded) -> Summary<'_> {
    let engine = loaded.session.engine();
    let graph = engine.graph();
    let vertices = graph.n_vertices();
    let mut ranks = BTreeSet::new();
    let mut down = 0;
    for vertex in graph.vertices() {
        ranks.extend((graph.rank(vertex) >= 0).then(|| graph.rank(vertex)));
        down += usize::from(graph.status(vertex) == Status::Down);
    }
    let subsystems = graph.subsystems().map(|subsystem| Subsystem {
        name: graph.subsystem_name(subsystem),
        vertices: graph.vertices().filter(|&vertex| graph.is_member(vertex, subsystem)).count(),
    });
    let memory_bytes = engine.memory_usage();
    Summary {
        graph: &loaded.name,
        format: loaded.format.name(),
        file_bytes: loaded.length,
        vertices,
        edges: graph.n_edges(),
        ranks: ranks.len(),
        down,
        subsystems: subsystems.collect(),
        types: kinds(graph),
        read_seconds: loaded.reading.as_secs_f64(),
        load_seconds: loaded.making.as_secs_f64(),
        memory_bytes,
        memory_bytes_per_vertex: memory_bytes / vertices.max(1),
    }
}

/// Counts the vertices of each type, from the root down as far as the first of each type tells.
fn kinds(graph: &Graph) -> Vec<Kind<'_>> {
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    let mut first: Vec<VertexId> = Vec::new();
    for vertex in graph.vertices() {
        let (name, unit) = (graph.type_name(graph.kind(vertex)), graph.unit(vertex));
        let known = kinds.iter().position(|kind| kind.name == name && kind.unit == unit);
        let i = known.unwrap_or_else(|| {
            kinds.push(Kind { name, count: 0, size: 0, unit });
            first.push(vertex);
            kinds.len() - 1
        });
        kinds[i].count += 1;
        kinds[i].size += u128::from(graph.size(vertex));
    }
    let mut kinds: Vec<(usize, Kind<'_>)> =
        first.iter().map(|&vertex| depth(graph, vertex)).zip(kinds).collect();
    kinds.sort_by_key(|(depth, _)| *depth);
    kinds.into_iter().map(|(_, kind)| kind).collect()
}

/// Returns how many vertices are above `vertex`.
fn depth(graph: &Graph, vertex: VertexId) -> usize {
    let above = |&below: &VertexId| graph.parent(below, Graph::CONTAINMENT);
    // Edges that lead nowhere near the root could go round in circles.
    successors(above(&vertex), above).take(graph.n_vertices()).count()
}

fn render(summary: &Summary<'_>) -> String {
    let Summary { graph, format, vertices, edges, .. } = summary;
    let mut text = String::new();
    let mut field = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<10} {value}");
    };
    let length = bytes(summary.file_bytes);
    field("graph", format!("{graph} ({format}, {length})"));
    field("vertices", vertices.to_string());
    field("edges", edges.to_string());
    let subsystems: Vec<String> = summary
        .subsystems
        .iter()
        .map(|subsystem| format!("{} ({})", subsystem.name, subsystem.vertices))
        .collect();
    field("subsystems", subsystems.join(", "));
    field("ranks", summary.ranks.to_string());
    if summary.down > 0 {
        field("down", summary.down.to_string());
    }
    field(
        "load time",
        format!(
            "{} (and {} to read the file)",
            seconds(summary.load_seconds),
            seconds(summary.read_seconds)
        ),
    );
    field(
        "memory",
        format!(
            "{} ({} bytes per vertex)",
            bytes(summary.memory_bytes),
            summary.memory_bytes_per_vertex
        ),
    );
    let rows: Vec<[String; 3]> = [["TYPE", "COUNT", "SIZE"].map(str::to_owned)]
        .into_iter()
        .chain(summary.types.iter().map(row))
        .collect();
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let (names, counts, sizes) = (width(0), width(1), width(2));
    text.push('\n');
    for [name, count, size] in &rows {
        let line = format!("{name:<names$}  {count:>counts$}  {size:>sizes$}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(kind: &Kind<'_>) -> [String; 3] {
    let size = match (kind.unit, kind.size) {
        ("", size) if size == u128::from(kind.count) => String::new(),
        ("", size) => size.to_string(),
        (unit, size) => format!("{size} {unit}"),
    };
    [kind.name.to_owned(), kind.count.to_string(), size]
}

/// Returns a number of bytes in a unit that suits it.
fn bytes(n: usize) -> String {
    let mut amount = n as f64;
    for unit in ["bytes", "kB", "MB", "GB"] {
        if amount < 1000.0 {
            return match unit {
                "bytes" => format!("{n} {unit}"),
                _ => format!("{amount:.1} {unit}"),
            };
        }
        amount /= 1000.0;
    }
    format!("{amount:.1} TB")
}

/// Returns a time in a unit that suits it.
fn seconds(time: f64) -> String {
    if time < 1.0 { format!("{:.1} ms", time * 1000.0) } else { format!("{time:.2} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_suit_what_they_measure() {
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(12_345_678), "12.3 MB");
        assert_eq!(bytes(5_000_000_000_000), "5.0 TB");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(12.345), "12.35 s");
    }
}
