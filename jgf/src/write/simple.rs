//! The formats for people: a line for each vertex.

use engine::{EmittedVertex, Graph};

use super::text::{push_name, push_unsigned};

const INDENT: &str = "      ";
const LEVEL: &str = "---";
/// An indent with a few levels, so that most lines need one copy.
const LEVELS: &str = "      ------------------------------------";

/// Appends what stands before the name of a vertex `depth` levels below the root.
fn push_prefix(depth: u32, out: &mut String) {
    let levels = depth as usize + 1;
    if let Some(prefix) = LEVELS.get(..INDENT.len() + LEVEL.len().saturating_mul(levels)) {
        out.push_str(prefix);
        return;
    }
    out.push_str(INDENT);
    for _ in 0..levels {
        out.push_str(LEVEL);
    }
}

/// Appends a line; `modes` names the modes of a shared and of an exclusive vertex.
fn push_line(graph: &Graph, emitted: &EmittedVertex<'_>, modes: [&str; 2], out: &mut String) {
    push_prefix(emitted.depth, out);
    push_name(graph, emitted.vertex, out);
    out.push('[');
    push_unsigned(emitted.needs, out);
    out.push_str(modes[usize::from(emitted.exclusive)]);
}

/// Lines in the order of the walk.
#[derive(Clone, Debug, Default)]
pub(super) struct Simple {
    lines: String,
}

impl Simple {
    pub(super) fn vertex(&mut self, graph: &Graph, emitted: &EmittedVertex<'_>) {
        push_line(graph, emitted, [":s]\n", ":x]\n"], &mut self.lines);
    }

    pub(super) fn emit(&mut self, out: &mut String) {
        out.push_str(&self.lines);
        self.lines.clear();
    }
}

/// Lines in the opposite order, which puts parents first.
#[derive(Clone, Debug, Default)]
pub(super) struct Pretty {
    lines: String,
    /// Where each line starts.
    starts: Vec<usize>,
}

impl Pretty {
    pub(super) fn vertex(&mut self, graph: &Graph, emitted: &EmittedVertex<'_>) {
        self.starts.push(self.lines.len());
        push_line(graph, emitted, [":shared]\n", ":exclusive]\n"], &mut self.lines);
    }

    pub(super) fn emit(&mut self, out: &mut String) {
        out.reserve(self.lines.len());
        let mut end = self.lines.len();
        for start in self.starts.drain(..).rev() {
            out.push_str(&self.lines[start..end]);
            end = start;
        }
        self.lines.clear();
    }
}
