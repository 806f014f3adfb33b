//! Paths that the edges of a graph do not tell.

use engine::{Graph, SubsystemId, VertexId};

/// Gives vertices paths of their own.
///
/// The graph keeps a path only where it differs from what the vertices above tell, so these come
/// first.
///
/// **Complexity**: O(n · depth + n log n) for n paths.
pub(super) fn give_paths<P: AsRef<str>>(
    graph: &mut Graph,
    mut given: Vec<(SubsystemId, VertexId, P)>,
) -> Result<(), engine::Error> {
    given.sort_by_cached_key(|&(subsystem, vertex, _)| depth(graph, subsystem, vertex));
    for (subsystem, vertex, path) in given {
        graph.set_path(subsystem, vertex, path.as_ref())?;
    }
    Ok(())
}

/// Returns how many vertices are above `vertex`, at most as many as the graph has.
fn depth(graph: &Graph, subsystem: SubsystemId, vertex: VertexId) -> usize {
    let above = std::iter::successors(Some(vertex), |&below| graph.parent(below, subsystem));
    above.take(graph.n_vertices()).count()
}
