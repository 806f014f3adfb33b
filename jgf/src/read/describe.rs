//! Graphs as text, for tests.

use std::fmt::Write as _;

use engine::{Graph, Status};

/// Returns a line for each vertex: what it is and where its edges lead.
pub(super) fn describe(graph: &Graph) -> String {
    let mut out = String::new();
    write(graph, &mut out).expect("a string takes all");
    out
}

fn write(graph: &Graph, out: &mut String) -> std::fmt::Result {
    for vertex in graph.vertices() {
        let kind = graph.type_name(graph.kind(vertex));
        let (name, rank, size) = (graph.name(vertex), graph.rank(vertex), graph.size(vertex));
        write!(out, "{}: {kind} {name} id {}", vertex.index(), graph.id(vertex))?;
        write!(out, " uniq {}", graph.uniq_id(vertex))?;
        if rank != -1 {
            write!(out, " rank {rank}")?;
        }
        if size != 1 {
            write!(out, " size {size}{}", graph.unit(vertex))?;
        }
        if graph.status(vertex) == Status::Down {
            write!(out, " down")?;
        }
        for (key, value) in graph.properties(vertex).into_iter().flatten() {
            write!(out, " {key}={value}")?;
        }
        for subsystem in graph.subsystems() {
            if let Some(path) = graph.path(subsystem, vertex)
                && graph.is_member(vertex, subsystem)
            {
                write!(out, " {path}")?;
            }
        }
        let edges = graph.out_edges(vertex);
        if !edges.is_empty() {
            write!(out, " ->")?;
        }
        for (target, subsystem) in edges {
            write!(out, " {}", target.index())?;
            if subsystem != Graph::CONTAINMENT {
                write!(out, "({})", graph.subsystem_name(subsystem))?;
            }
        }
        out.push('\n');
    }
    Ok(())
}
