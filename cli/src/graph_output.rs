//! The resource graph as a picture or as `GraphML`.

use std::fs;
use std::io;
use std::path::PathBuf;

use fluxion::Session;

/// How a graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// AT&T Graphviz dot.
    Dot,
    /// `GraphML`.
    GraphMl,
}

impl GraphFormat {
    /// Returns the format called `name`, in any case.
    pub fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "dot" => Some(Self::Dot),
            "graphml" => Some(Self::GraphMl),
            _ => None,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::GraphMl => "graphml",
        }
    }
}

/// Writes the graph to `basename` with the extension of the format, and returns the path.
///
/// # Errors
///
/// When the file cannot be written.
pub fn write_graph(session: &Session, basename: &str, format: GraphFormat) -> io::Result<PathBuf> {
    let mut text = String::new();
    let graph = session.engine().graph();
    match format {
        GraphFormat::Dot => {
            let dominant = session.engine().options().subsystems.first();
            let dominant = dominant.and_then(|name| graph.subsystem_id(name));
            jgf::write_dot(graph, dominant.unwrap_or(engine::Graph::CONTAINMENT), &mut text);
        }
        GraphFormat::GraphMl => jgf::write_graphml(graph, &mut text),
    }
    let path = PathBuf::from(format!("{basename}.{}", format.extension()));
    fs::write(&path, text)?;
    Ok(path)
}
