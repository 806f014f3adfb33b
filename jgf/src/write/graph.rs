//! The whole graph as text.

use std::fmt::Write as _;

use engine::{Graph, Properties, Status, SubsystemId, VertexId};

use super::jgf::{push_edge, push_name_string, push_paths, push_properties};
use super::text::{push_integer, push_json_string, push_name, push_unsigned};

/// The vertices that are in the graph, numbered without gaps. A vertex that was removed, or never
/// attached, has neither a path nor an edge.
struct Present {
    vertices: Vec<VertexId>,
    /// The number of each vertex in `vertices`, by id.
    numbers: Vec<usize>,
}

impl Present {
    fn of(graph: &Graph) -> Self {
        let mut vertices = Vec::with_capacity(graph.n_vertices());
        let mut numbers = vec![usize::MAX; graph.n_vertices()];
        for vertex in graph.vertices() {
            let is_member = graph.subsystems().any(|subsystem| graph.is_member(vertex, subsystem));
            if is_member || !graph.out_edges(vertex).is_empty() {
                numbers[vertex.index()] = vertices.len();
                vertices.push(vertex);
            }
        }
        Self { vertices, numbers }
    }

    fn number(&self, vertex: VertexId) -> usize {
        self.numbers[vertex.index()]
    }

    /// Returns the edges, by source and then in input order.
    fn edges(&self, graph: &Graph) -> impl Iterator<Item = (VertexId, VertexId, SubsystemId)> {
        self.vertices.iter().flat_map(move |&source| {
            let edges = graph.out_edges(source);
            edges.into_iter().map(move |(target, subsystem)| (source, target, subsystem))
        })
    }
}

/// Appends the graph in the DOT language of Graphviz.
///
/// A vertex is labelled with its name and an edge with its subsystem; edges of other subsystems
/// than `dominant` are dashed.
///
/// **Complexity**: O(|V| + |E|).
pub fn write_dot(graph: &Graph, dominant: SubsystemId, out: &mut String) {
    let present = Present::of(graph);
    out.push_str("digraph G {\n");
    let mut name = String::new();
    for (number, &vertex) in present.vertices.iter().enumerate() {
        name.clear();
        push_name(graph, vertex, &mut name);
        push_unsigned(number as u64, out);
        out.push_str("[label=");
        push_dot_string(&name, out);
        out.push_str("];\n");
    }
    for (source, target, subsystem) in present.edges(graph) {
        push_unsigned(present.number(source) as u64, out);
        out.push_str("->");
        push_unsigned(present.number(target) as u64, out);
        out.push_str(" [label=");
        push_dot_string(graph.subsystem_name(subsystem), out);
        out.push_str(if subsystem == dominant { "];\n" } else { ", style=dashed];\n" });
    }
    out.push_str("}\n");
}

/// Appends a quoted string of the DOT language in which a backslash stands for itself.
fn push_dot_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            _ => out.push(character),
        }
    }
    out.push('"');
}

const GRAPHML_HEAD: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">
";

/// The attributes: whether of a node or an edge, name and type. Their place is their key.
const GRAPHML_KEYS: [(&str, &str, &str); 11] = [
    ("node", "basename", "string"),
    ("node", "id", "long"),
    ("node", "member_of", "string"),
    ("edge", "member_of", "string"),
    ("node", "name", "string"),
    ("node", "paths", "string"),
    ("node", "props", "string"),
    ("node", "size", "long"),
    ("node", "type", "string"),
    ("node", "uniq_id", "long"),
    ("node", "unit", "string"),
];

/// Appends the graph in `GraphML`, with the attributes that Fluxion gives it.
///
/// Maps, such as the paths by subsystem, are written as `{key=value,key=value}`.
///
/// **Complexity**: O(|V| × depth + |E|).
pub fn write_graphml(graph: &Graph, out: &mut String) {
    let present = Present::of(graph);
    out.push_str(GRAPHML_HEAD);
    for (key, (element, name, kind)) in GRAPHML_KEYS.into_iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "  <key id=\"key{key}\" for=\"{element}\" attr.name=\"{name}\" attr.type=\"{kind}\" />"
        );
    }
    out.push_str(
        "  <graph id=\"G\" edgedefault=\"directed\" parse.nodeids=\"canonical\" \
         parse.edgeids=\"canonical\" parse.order=\"nodesfirst\">\n",
    );
    let mut value = String::new();
    for (number, &vertex) in present.vertices.iter().enumerate() {
        let _ = writeln!(out, "    <node id=\"n{number}\">");
        for (key, (element, attribute, _)) in GRAPHML_KEYS.into_iter().enumerate() {
            if element != "node" {
                continue;
            }
            value.clear();
            push_attribute(graph, vertex, attribute, &mut value);
            push_data(key, &value, out);
        }
        out.push_str("    </node>\n");
    }
    for (number, (source, target, subsystem)) in present.edges(graph).enumerate() {
        let source = present.number(source);
        let target = present.number(target);
        let _ =
            writeln!(out, "    <edge id=\"e{number}\" source=\"n{source}\" target=\"n{target}\">");
        let name = graph.subsystem_name(subsystem);
        value.clear();
        push_map([(name, name)].into_iter(), &mut value);
        push_data(3, &value, out);
        out.push_str("    </edge>\n");
    }
    out.push_str("  </graph>\n</graphml>\n");
}

/// Appends the value of a node's attribute.
fn push_attribute(graph: &Graph, vertex: VertexId, attribute: &str, out: &mut String) {
    match attribute {
        "basename" => out.push_str(graph.basename(vertex)),
        "id" => push_integer(graph.id(vertex), out),
        "member_of" => {
            let names = graph
                .subsystems()
                .filter(|&subsystem| graph.is_member(vertex, subsystem))
                .map(|subsystem| graph.subsystem_name(subsystem));
            push_map(names.map(|name| (name, name)), out);
        }
        "name" => push_name(graph, vertex, out),
        "paths" => {
            let paths = graph.subsystems().filter_map(|subsystem| {
                let path = graph.path(subsystem, vertex)?;
                Some((graph.subsystem_name(subsystem), path))
            });
            push_map(paths, out);
        }
        "props" => {
            let properties = graph.properties(vertex).into_iter().flat_map(Properties::iter);
            push_map(properties, out);
        }
        "size" => push_unsigned(graph.size(vertex), out),
        "type" => out.push_str(graph.type_name(graph.kind(vertex))),
        "uniq_id" => push_integer(graph.uniq_id(vertex), out),
        _ => out.push_str(graph.unit(vertex)),
    }
}

/// Appends `{key=value,…}`.
fn push_map<K: AsRef<str>, V: AsRef<str>>(entries: impl Iterator<Item = (K, V)>, out: &mut String) {
    out.push('{');
    for (index, (key, value)) in entries.enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(key.as_ref());
        out.push('=');
        out.push_str(value.as_ref());
    }
    out.push('}');
}

/// Appends a `data` element.
fn push_data(key: usize, text: &str, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "      <data key=\"key{key}\">");
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(character),
            '\r' => out.push_str("&#13;"),
            // XML has no way to tell of these.
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out.push_str("</data>\n");
}

/// Appends the graph in JSON Graph Format with everything that it says of vertices and edges, so
/// that reading it gives the graph again. A vertex or an edge stands on a line.
///
/// The JGF id of a vertex is its `uniq_id`, unless two vertices have the same one; then it is the
/// place of the vertex.
///
/// **Complexity**: O(|V| × depth + |E|), and O(|V| log |V|) to find out whether ids are unique.
///
/// **Source**: RFC 4.
pub fn write_jgf_graph(graph: &Graph, out: &mut String) {
    let present = Present::of(graph);
    let mut ids: Vec<i64> = present.vertices.iter().map(|&vertex| graph.uniq_id(vertex)).collect();
    ids.sort_unstable();
    let unique = ids.is_sorted_by(|first, second| first < second);
    let jgf_id = |vertex: VertexId| {
        if unique { graph.uniq_id(vertex) } else { present.number(vertex) as i64 }
    };

    let mut scratch = String::new();
    out.reserve(present.vertices.len() * 300);
    out.push_str("{\"graph\": {\"nodes\": [");
    for (number, &vertex) in present.vertices.iter().enumerate() {
        out.push_str(if number == 0 { "\n{\"id\": \"" } else { ",\n{\"id\": \"" });
        push_integer(jgf_id(vertex), out);
        out.push_str("\", \"metadata\": {\"type\": ");
        push_json_string(graph.type_name(graph.kind(vertex)), out);
        out.push_str(", \"basename\": ");
        push_json_string(graph.basename(vertex), out);
        out.push_str(", \"name\": ");
        push_name_string(graph, vertex, &mut scratch, out);
        out.push_str(", \"id\": ");
        push_integer(graph.id(vertex), out);
        out.push_str(", \"uniq_id\": ");
        push_integer(graph.uniq_id(vertex), out);
        out.push_str(", \"rank\": ");
        push_integer(graph.rank(vertex), out);
        if graph.status(vertex) == Status::Down {
            out.push_str(", \"status\": 1");
        }
        push_properties(graph, vertex, out);
        out.push_str(", \"exclusive\": false, \"unit\": ");
        push_json_string(graph.unit(vertex), out);
        out.push_str(", \"size\": ");
        push_unsigned(graph.size(vertex), out);
        if !push_paths(graph, vertex, &mut scratch, out) {
            // Readers ask for the key.
            out.push_str(", \"paths\": {}");
        }
        out.push_str("}}");
    }
    out.push_str("\n], \"edges\": [");
    for (number, (source, target, subsystem)) in present.edges(graph).enumerate() {
        out.push_str(if number == 0 { "\n" } else { ",\n" });
        push_edge(graph, jgf_id(source), jgf_id(target), subsystem, out);
    }
    out.push_str("\n]}}\n");
}
