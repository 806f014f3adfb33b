//! What is done when all edges of a graph are there.

use engine::{Graph, SubsystemId, VertexId};
use rustc_hash::FxHashMap;

use crate::Error;

/// Refuses edges of the containment subsystem that close a cycle.
///
/// **Complexity**: O(|V| + |E|).
pub(super) fn check_cycles(graph: &Graph) -> Result<(), Error> {
    let subsystem = Graph::CONTAINMENT;
    // Vertices to which no edge leads are taken away again and again. What stays is on a cycle or
    // below one.
    let mut n_in = vec![0_usize; graph.n_vertices()];
    for vertex in graph.vertices() {
        for child in graph.children(vertex, subsystem) {
            n_in[child.index()] += 1;
        }
    }
    let is_left = |n_in: &[usize], vertex: VertexId| n_in[vertex.index()] > 0;
    let mut free: Vec<VertexId> =
        graph.vertices().filter(|&vertex| !is_left(&n_in, vertex)).collect();
    while let Some(vertex) = free.pop() {
        for child in graph.children(vertex, subsystem) {
            n_in[child.index()] -= 1;
            if !is_left(&n_in, child) {
                free.push(child);
            }
        }
    }
    let Some(mut vertex) = graph.vertices().find(|&vertex| is_left(&n_in, vertex)) else {
        return Ok(());
    };
    let mut above: FxHashMap<VertexId, VertexId> = FxHashMap::default();
    for vertex in graph.vertices().filter(|&vertex| is_left(&n_in, vertex)) {
        for child in graph.children(vertex, subsystem) {
            above.entry(child).or_insert(vertex);
        }
    }
    // Going up as often as there are vertices ends on a cycle.
    for _ in 0..above.len() {
        vertex = above.get(&vertex).copied().unwrap_or(vertex);
    }
    Err(Error::Cycle {
        subsystem: graph.subsystem_name(subsystem).to_owned(),
        name: graph.name(vertex),
    })
}

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
