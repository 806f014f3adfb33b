//! The matched subgraph in JSON Graph Format (RFC 4).

use engine::{Aggregate, EmittedVertex, Graph, SubsystemId, VertexId};

use super::EmitError;
use super::text::{push_integer, push_json_string, push_name, push_unsigned};

/// Gathers vertices and edges as text.
#[derive(Clone, Debug)]
pub(super) struct Jgf {
    vertices: String,
    edges: String,
    /// Leaves out what stands below an exclusive vertex.
    shorthand: bool,
    /// Nothing was ever left out.
    complete: bool,
    scratch: String,
}

impl Jgf {
    pub(super) fn new(shorthand: bool) -> Self {
        Self {
            vertices: String::new(),
            edges: String::new(),
            shorthand,
            complete: true,
            scratch: String::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.vertices.is_empty() && self.edges.is_empty()
    }

    pub(super) fn vertex(&mut self, graph: &Graph, emitted: &EmittedVertex<'_>) {
        if self.shorthand && emitted.under_exclusive {
            self.complete = false;
            return;
        }
        let vertex = emitted.vertex;
        let out = &mut self.vertices;
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str("{\"id\": \"");
        push_integer(graph.uniq_id(vertex), out);
        out.push_str("\", \"metadata\": {\"type\": ");
        let kind = graph.type_name(graph.kind(vertex));
        push_json_string(kind, out);
        let basename = graph.basename(vertex);
        if basename != kind {
            out.push_str(", \"basename\": ");
            push_json_string(basename, out);
        }
        push_unusual_name(graph, vertex, out);
        out.push_str(", \"id\": ");
        push_integer(graph.id(vertex), out);
        out.push_str(", \"rank\": ");
        push_integer(graph.rank(vertex), out);
        push_properties(graph, vertex, out);
        let unit = graph.unit(vertex);
        if !unit.is_empty() {
            out.push_str(", \"unit\": ");
            push_json_string(unit, out);
        }
        if emitted.exclusive {
            out.push_str(", \"exclusive\": true");
        }
        if emitted.needs != 1 {
            out.push_str(", \"size\": ");
            push_unsigned(emitted.needs, out);
        }
        push_paths(graph, vertex, &mut self.scratch, out);
        if let Some(label) = emitted.label {
            out.push_str(", \"ephemeral\": {\"label\": ");
            push_json_string(label, out);
            out.push('}');
        }
        push_aggregates(graph, emitted.aggregates, out);
        out.push_str("}}");
    }

    pub(super) fn edge(
        &mut self,
        graph: &Graph,
        source: VertexId,
        target: VertexId,
        subsystem: SubsystemId,
        under_exclusive: bool,
    ) {
        if self.shorthand && under_exclusive {
            self.complete = false;
            return;
        }
        let out = &mut self.edges;
        if !out.is_empty() {
            out.push_str(", ");
        }
        push_edge(graph, graph.uniq_id(source), graph.uniq_id(target), subsystem, out);
    }

    /// Appends the graph and forgets it. Keeps it if it cannot be written, as Fluxion does, so
    /// that the next one has both.
    pub(super) fn emit(&mut self, out: &mut String) -> Result<(), EmitError> {
        if self.edges.is_empty() {
            return Err(EmitError::NoEdges);
        }
        if self.vertices.is_empty() {
            return Err(EmitError::NoVertices);
        }
        out.reserve(self.vertices.len() + self.edges.len() + 80);
        out.push_str("{\"graph\": {\"nodes\": [");
        out.push_str(&self.vertices);
        out.push_str("], \"edges\": [");
        out.push_str(&self.edges);
        out.push_str("]}");
        if !self.complete {
            out.push_str(", \"writer\": \"fluxion:jgf_shorthand\"");
        }
        out.push('}');
        self.vertices.clear();
        self.edges.clear();
        Ok(())
    }
}

/// Appends an edge between the vertices with these JGF ids. Containment goes without saying.
pub(super) fn push_edge(
    graph: &Graph,
    source: i64,
    target: i64,
    subsystem: SubsystemId,
    out: &mut String,
) {
    out.push_str("{\"source\": \"");
    push_integer(source, out);
    out.push_str("\", \"target\": \"");
    push_integer(target, out);
    out.push('"');
    if subsystem != Graph::CONTAINMENT {
        out.push_str(", \"metadata\": {\"subsystem\": ");
        push_json_string(graph.subsystem_name(subsystem), out);
        out.push('}');
    }
    out.push('}');
}

/// Appends the `name` key unless the name is the basename followed by the id.
///
/// A reader puts the two together for any id, also for -1, so a vertex without an id needs the key
/// although its name is just its basename.
fn push_unusual_name(graph: &Graph, vertex: VertexId, out: &mut String) {
    let name = match (graph.own_name(vertex), graph.id(vertex)) {
        (None, -1) => graph.basename(vertex),
        (Some(name), -1) if name.strip_prefix(graph.basename(vertex)) != Some("-1") => name,
        (None, _) | (Some(_), -1) => return,
        (Some(name), _) => name,
    };
    out.push_str(", \"name\": ");
    push_json_string(name, out);
}

/// Appends the `properties` key unless there are none.
pub(super) fn push_properties(graph: &Graph, vertex: VertexId, out: &mut String) {
    let Some(properties) = graph.properties(vertex) else {
        return;
    };
    for (index, (key, value)) in properties.iter().enumerate() {
        out.push_str(if index == 0 { ", \"properties\": {" } else { ", " });
        push_json_string(key, out);
        out.push_str(": ");
        push_json_string(value, out);
    }
    if !properties.is_empty() {
        out.push('}');
    }
}

/// Appends the `paths` key, with the path in each subsystem that the vertex is in, unless it is in
/// none. Returns whether it is in one.
pub(super) fn push_paths(
    graph: &Graph,
    vertex: VertexId,
    scratch: &mut String,
    out: &mut String,
) -> bool {
    let mut found = false;
    for subsystem in graph.subsystems() {
        scratch.clear();
        if !graph.write_path(subsystem, vertex, scratch) {
            continue;
        }
        out.push_str(if found { ", " } else { ", \"paths\": {" });
        found = true;
        push_json_string(graph.subsystem_name(subsystem), out);
        out.push_str(": ");
        push_json_string(scratch, out);
    }
    if found {
        out.push('}');
    }
    found
}

/// Appends the `agfilter` key, its types by name, unless there are no aggregates.
fn push_aggregates(graph: &Graph, aggregates: &[Aggregate], out: &mut String) {
    if aggregates.is_empty() {
        return;
    }
    let mut aggregates: Vec<_> =
        aggregates.iter().map(|aggregate| (graph.type_name(aggregate.kind), aggregate)).collect();
    aggregates.sort_by_key(|&(name, _)| name);
    for (index, (name, aggregate)) in aggregates.into_iter().enumerate() {
        out.push_str(if index == 0 { ", \"agfilter\": {" } else { ", " });
        push_json_string(name, out);
        out.push_str(": \"used:");
        push_integer(aggregate.used, out);
        out.push_str(", total:");
        push_integer(aggregate.total, out);
        out.push('"');
    }
    out.push('}');
}

/// Appends the name of a vertex as a JSON string.
pub(super) fn push_name_string(
    graph: &Graph,
    vertex: VertexId,
    scratch: &mut String,
    out: &mut String,
) {
    scratch.clear();
    push_name(graph, vertex, scratch);
    push_json_string(scratch, out);
}
