//! From a path to its vertices.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Graph;
use crate::{SubsystemId, VertexId};

/// Vertices by the hash of their path. A hit is compared with the real path, so that two paths
/// with one hash do no harm.
#[derive(Clone, Debug)]
pub(super) struct PathIndex {
    by_hash: FxHashMap<u64, SmallVec<[(VertexId, SubsystemId); 1]>>,
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a, which lets a child's hash continue its parent's.
fn extend(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

impl PathIndex {
    pub(super) fn build(graph: &Graph) -> Self {
        let mut by_hash: FxHashMap<u64, SmallVec<[(VertexId, SubsystemId); 1]>> =
            FxHashMap::default();
        by_hash.reserve(graph.n_vertices());
        let mut name = String::new();
        for subsystem in graph.subsystems() {
            let Some(root) = graph.root(subsystem) else {
                continue;
            };
            let mut seen = vec![false; graph.n_vertices()];
            let mut stack = vec![(root, FNV_OFFSET)];
            while let Some((vertex, above)) = stack.pop() {
                if std::mem::replace(&mut seen[vertex.index()], true) {
                    continue;
                }
                let hash = if let Some(path) = graph.given_paths.get(&(vertex, subsystem)) {
                    extend(FNV_OFFSET, path)
                } else {
                    name.clear();
                    name.push('/');
                    graph.write_name(vertex, &mut name);
                    extend(above, &name)
                };
                by_hash.entry(hash).or_default().push((vertex, subsystem));
                stack.extend(graph.children(vertex, subsystem).iter().map(|&child| (child, hash)));
            }
        }
        let mut given: Vec<_> = graph.given_paths.iter().collect();
        given.sort_unstable();
        for (&(vertex, subsystem), path) in given {
            let found = by_hash.entry(extend(FNV_OFFSET, path)).or_default();
            if !found.contains(&(vertex, subsystem)) {
                found.push((vertex, subsystem));
            }
        }
        Self { by_hash }
    }

    pub(super) fn find(&self, graph: &Graph, path: &str) -> SmallVec<[VertexId; 1]> {
        let mut found: SmallVec<[VertexId; 1]> = SmallVec::new();
        let mut own = String::new();
        for &(vertex, subsystem) in
            self.by_hash.get(&extend(FNV_OFFSET, path)).into_iter().flatten()
        {
            own.clear();
            if graph.write_path(subsystem, vertex, &mut own) && own == path {
                found.push(vertex);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
