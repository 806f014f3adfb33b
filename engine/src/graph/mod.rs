//! The resource graph: vertices are resources, edges belong to subsystems.
//!
//! The topology is a [`petgraph`] graph that never leaves this module. What a vertex is stands in
//! columns indexed by [`VertexId`]; what few vertices have (a name of their own, properties, a
//! path that its parents do not explain) stands in side tables. Paths are made from parents when
//! somebody asks.

mod image;
mod paths;
mod tree;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use petgraph::Direction::{Incoming, Outgoing};
use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use petgraph::visit::{EdgeRef, IntoEdgeReferences};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::intern::Interner;
use crate::{Error, SubsystemId, TypeId, VertexId};
pub(crate) use image::GraphImage;
use paths::PathIndex;
pub(crate) use tree::{Slot, Tree};

/// Whether a resource may be given to jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Status {
    /// It may.
    #[default]
    Up,
    /// It may not, and nothing below it may.
    Down,
}

/// A vertex to be added with [`Graph::add_vertex`].
#[derive(Clone, Debug)]
pub struct NewVertex<'a> {
    /// The resource type.
    pub kind: TypeId,
    /// The name without the id.
    pub basename: &'a str,
    /// The whole name, where it is not the basename followed by the id.
    pub name: Option<&'a str>,
    /// The id among its like, -1 for none.
    pub id: i64,
    /// The id in the whole graph.
    pub uniq_id: i64,
    /// The execution target that owns it, -1 for none (RFC 4).
    pub rank: i64,
    /// How much of the resource there is.
    pub size: u64,
    /// What `size` counts.
    pub unit: &'a str,
    /// Whether it may be given to jobs.
    pub status: Status,
}

/// What every vertex has.
#[derive(Clone, Copy, Debug)]
struct Row {
    id: i64,
    uniq_id: i64,
    size: u64,
    rank: i32,
    basename: u32,
    kind: TypeId,
    unit: u16,
    status: Status,
}

const _: () = assert!(size_of::<Row>() <= 40);

/// Properties of one vertex, by name.
pub type Properties = BTreeMap<Box<str>, Box<str>>;

/// The resource graph.
#[derive(Clone, Debug)]
pub struct Graph {
    topology: StableDiGraph<(), SubsystemId>,
    rows: Vec<Row>,
    types: Interner,
    subsystems: Interner,
    basenames: Interner,
    units: Interner,
    names: FxHashMap<VertexId, Box<str>>,
    properties: FxHashMap<VertexId, Properties>,
    given_paths: FxHashMap<(VertexId, SubsystemId), Box<str>>,
    roots: BTreeMap<SubsystemId, VertexId>,
    path_index: OnceLock<PathIndex>,
    n_edges: usize,
}

/// Types that have a number before any graph is read; their order is the order of aggregates.
const WELL_KNOWN_TYPES: [&str; 10] =
    ["cluster", "core", "socket", "gpu", "node", "rack", "slot", "xor_slot", "ssd", "storage_node"];

impl Default for Graph {
    fn default() -> Self {
        Self::new()
    }
}

impl Graph {
    /// Returns a graph without vertices.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// Returns a graph without vertices that has room for `vertices` of them.
    pub fn with_capacity(vertices: usize) -> Self {
        let mut types = Interner::default();
        for name in WELL_KNOWN_TYPES {
            types.intern(name, TypeId::LIMIT);
        }
        let mut subsystems = Interner::default();
        subsystems.intern("containment", SubsystemId::LIMIT);
        Self {
            topology: StableDiGraph::with_capacity(vertices, vertices),
            rows: Vec::with_capacity(vertices),
            types,
            subsystems,
            basenames: Interner::default(),
            units: Interner::default(),
            names: FxHashMap::default(),
            properties: FxHashMap::default(),
            given_paths: FxHashMap::default(),
            roots: BTreeMap::new(),
            path_index: OnceLock::new(),
            n_edges: 0,
        }
    }

    /// The subsystem that every graph has.
    pub const CONTAINMENT: SubsystemId = SubsystemId(0);
    /// The type `node`: the resource that constraints (RFC 31) and ranks speak of.
    pub const NODE: TypeId = TypeId(4);
    /// The type `core`.
    pub const CORE: TypeId = TypeId(1);
    /// The type `gpu`.
    pub const GPU: TypeId = TypeId(3);
    /// The type `cluster`.
    pub const CLUSTER: TypeId = TypeId(0);
    /// The type `slot`, which only jobspecs use.
    pub const SLOT: TypeId = TypeId(6);
    /// The type `xor_slot`, which only jobspecs use.
    pub const XOR_SLOT: TypeId = TypeId(7);
    /// The type `storage_node`, to which constraints apply as to `node`.
    pub const STORAGE_NODE: TypeId = TypeId(9);

    // ---- names -------------------------------------------------------------------------------

    /// Returns the id of the resource type `name`, new if need be.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there are [`TypeId::LIMIT`] types.
    pub fn intern_type(&mut self, name: &str) -> Result<TypeId, Error> {
        intern(&mut self.types, name, "resource types", TypeId::LIMIT)
            .map(|number| TypeId(u16::try_from(number).unwrap_or(u16::MAX)))
    }

    /// Returns the id of the resource type `name`, if the graph knows it.
    pub fn type_id(&self, name: &str) -> Option<TypeId> {
        self.types.get(name).and_then(|number| TypeId::new(number as usize))
    }

    /// Returns the name of a resource type.
    pub fn type_name(&self, kind: TypeId) -> &str {
        self.types.name(u32::from(kind.0))
    }

    /// Returns how many resource types there are. Their ids are `0..n_types()`.
    pub fn n_types(&self) -> usize {
        self.types.len()
    }

    /// Returns the id of the subsystem `name`, new if need be.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there are [`SubsystemId::LIMIT`] subsystems.
    pub fn intern_subsystem(&mut self, name: &str) -> Result<SubsystemId, Error> {
        intern(&mut self.subsystems, name, "subsystems", SubsystemId::LIMIT)
            .map(|number| SubsystemId(u8::try_from(number).unwrap_or(u8::MAX)))
    }

    /// Returns the id of the subsystem `name`, if the graph knows it.
    pub fn subsystem_id(&self, name: &str) -> Option<SubsystemId> {
        self.subsystems.get(name).and_then(|number| SubsystemId::new(number as usize))
    }

    /// Returns the name of a subsystem.
    pub fn subsystem_name(&self, subsystem: SubsystemId) -> &str {
        self.subsystems.name(u32::from(subsystem.0))
    }

    /// Returns all subsystems, in the order in which they were first named.
    pub fn subsystems(&self) -> impl Iterator<Item = SubsystemId> + use<> {
        (0..self.subsystems.len()).filter_map(SubsystemId::new)
    }

    // ---- building ----------------------------------------------------------------------------

    /// Adds a vertex without edges and returns its id.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for too many vertices, basenames or units; [`Error::OutOfRange`] for a
    /// rank that does not fit 32 bits or a size above `i64::MAX`.
    pub fn add_vertex(&mut self, vertex: &NewVertex<'_>) -> Result<VertexId, Error> {
        let limit = VertexId::LIMIT;
        let id = VertexId::new(self.rows.len())
            .ok_or(Error::Limit { what: "vertices", limit: limit as u64 })?;
        let rank = checked_rank(vertex.rank)?;
        if vertex.size > i64::MAX as u64 {
            return Err(Error::OutOfRange {
                what: "size",
                given: vertex.size.to_string(),
                expected: "at most 2^63 - 1",
            });
        }
        let basename = intern(&mut self.basenames, vertex.basename, "basenames", limit)?;
        let unit = intern(&mut self.units, vertex.unit, "units", u16::MAX as usize)?;
        self.rows.push(Row {
            id: vertex.id,
            uniq_id: vertex.uniq_id,
            size: vertex.size,
            rank,
            basename,
            kind: vertex.kind,
            unit: u16::try_from(unit).unwrap_or(u16::MAX),
            status: vertex.status,
        });
        self.topology.add_node(());
        if let Some(name) = vertex.name
            && !is_default_name(name, vertex.basename, vertex.id)
        {
            self.names.insert(id, name.into());
        }
        Ok(id)
    }

    /// Adds a vertex that is like `model` but for its ids and its rank, and has no name of its own.
    /// Spares looking up names where many vertices are alike.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVertex`] for the model, and as [`Self::add_vertex`].
    pub fn add_vertex_like(
        &mut self,
        model: VertexId,
        id: i64,
        uniq_id: i64,
        rank: i64,
    ) -> Result<VertexId, Error> {
        self.known(model)?;
        let added = VertexId::new(self.rows.len())
            .ok_or(Error::Limit { what: "vertices", limit: VertexId::LIMIT as u64 })?;
        let rank = checked_rank(rank)?;
        self.rows.push(Row { id, uniq_id, rank, ..self.rows[model.index()] });
        self.topology.add_node(());
        Ok(added)
    }

    /// Adds an edge. The order in which edges leave a vertex is the order in which they were
    /// added.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVertex`].
    pub fn add_edge(
        &mut self,
        source: VertexId,
        target: VertexId,
        subsystem: SubsystemId,
    ) -> Result<(), Error> {
        self.known(source)?;
        self.known(target)?;
        self.topology.add_edge(node(source), node(target), subsystem);
        self.n_edges += 1;
        self.path_index.take();
        Ok(())
    }

    /// Adds an edge unless there is one between the same vertices, which then changes its
    /// subsystem.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVertex`].
    pub fn add_or_retag_edge(
        &mut self,
        source: VertexId,
        target: VertexId,
        subsystem: SubsystemId,
    ) -> Result<(), Error> {
        self.known(source)?;
        self.known(target)?;
        match self.topology.find_edge(node(source), node(target)) {
            Some(edge) => {
                self.topology[edge] = subsystem;
                self.path_index.take();
                Ok(())
            }
            None => self.add_edge(source, target, subsystem),
        }
    }

    /// Makes `vertex` the root of `subsystem`.
    ///
    /// # Errors
    ///
    /// [`Error::TwoRoots`] when another vertex is; [`Error::UnknownVertex`].
    pub fn set_root(&mut self, subsystem: SubsystemId, vertex: VertexId) -> Result<(), Error> {
        self.known(vertex)?;
        match self.roots.get(&subsystem) {
            Some(&root) if root != vertex => Err(Error::TwoRoots {
                subsystem: self.subsystem_name(subsystem).to_owned(),
                first: self.name(root),
                second: self.name(vertex),
            }),
            _ => {
                self.roots.insert(subsystem, vertex);
                self.path_index.take();
                Ok(())
            }
        }
    }

    /// Says that the path of `vertex` in `subsystem` is `path`, for a vertex whose parents do not
    /// tell: it is in the subsystem without an edge of it, or was given another path. Keeps nothing
    /// where the parents do tell, so call it when the edges are there.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVertex`].
    pub fn set_path(
        &mut self,
        subsystem: SubsystemId,
        vertex: VertexId,
        path: &str,
    ) -> Result<(), Error> {
        self.known(vertex)?;
        self.given_paths.remove(&(vertex, subsystem));
        if self.path(subsystem, vertex).as_deref() != Some(path) {
            self.given_paths.insert((vertex, subsystem), path.into());
        }
        self.path_index.take();
        Ok(())
    }

    /// Gives a vertex a property, replacing a value that it had.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVertex`].
    pub fn set_property(&mut self, vertex: VertexId, key: &str, value: &str) -> Result<(), Error> {
        self.known(vertex)?;
        self.properties.entry(vertex).or_default().insert(key.into(), value.into());
        Ok(())
    }

    pub(crate) fn set_status(&mut self, vertex: VertexId, status: Status) {
        self.rows[vertex.index()].status = status;
    }

    /// Takes all edges of `vertices`, which are sorted, away. The vertices keep their ids but belong to
    /// nothing. O(|V| + |E|).
    pub(crate) fn detach(&mut self, vertices: &[VertexId]) {
        // Edges are numbered in the order in which they were added, also after this.
        let mut topology = StableDiGraph::with_capacity(self.rows.len(), self.n_edges);
        for _ in 0..self.rows.len() {
            topology.add_node(());
        }
        let gone = |end: NodeIndex| vertices.binary_search(&vertex_of(end)).is_ok();
        for (source, target, subsystem) in self.edges() {
            if !gone(source) && !gone(target) {
                topology.add_edge(source, target, subsystem);
            }
        }
        self.n_edges = topology.edge_count();
        self.topology = topology;
        for vertex in vertices {
            self.names.remove(vertex);
            self.properties.remove(vertex);
        }
        self.given_paths.retain(|(vertex, _), _| vertices.binary_search(vertex).is_err());
        self.roots.retain(|_, root| vertices.binary_search(root).is_err());
        self.path_index.take();
    }

    // ---- reading -----------------------------------------------------------------------------

    /// Returns all edges in the order in which they were added.
    fn edges(&self) -> impl Iterator<Item = (NodeIndex, NodeIndex, SubsystemId)> {
        let edges = self.topology.edge_references();
        edges.map(|edge| (edge.source(), edge.target(), *edge.weight()))
    }

    fn known(&self, vertex: VertexId) -> Result<(), Error> {
        if vertex.index() < self.rows.len() { Ok(()) } else { Err(Error::UnknownVertex(vertex)) }
    }

    /// Returns the number of ids given to vertices, which includes those of removed vertices.
    pub fn n_vertices(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of edges of all subsystems.
    pub fn n_edges(&self) -> usize {
        self.n_edges
    }

    /// Returns all vertices in the order in which they were added.
    pub fn vertices(&self) -> impl Iterator<Item = VertexId> + use<> {
        (0..self.rows.len()).filter_map(VertexId::new)
    }

    /// Returns the resource type.
    pub fn kind(&self, vertex: VertexId) -> TypeId {
        self.rows[vertex.index()].kind
    }

    /// Returns the name without its id.
    pub fn basename(&self, vertex: VertexId) -> &str {
        self.basenames.name(self.rows[vertex.index()].basename)
    }

    /// Returns the name that is not basename and id, if the vertex has one.
    pub fn own_name(&self, vertex: VertexId) -> Option<&str> {
        if self.names.is_empty() { None } else { self.names.get(&vertex).map(|name| &**name) }
    }

    /// Returns the name.
    pub fn name(&self, vertex: VertexId) -> String {
        let mut name = String::new();
        self.write_name(vertex, &mut name);
        name
    }

    /// Appends the name to `out`.
    pub fn write_name(&self, vertex: VertexId, out: &mut String) {
        if let Some(name) = self.own_name(vertex) {
            out.push_str(name);
            return;
        }
        out.push_str(self.basename(vertex));
        let id = self.id(vertex);
        if id != -1 {
            write_integer(id, out);
        }
    }

    /// Returns the id among its like, -1 for none.
    pub fn id(&self, vertex: VertexId) -> i64 {
        self.rows[vertex.index()].id
    }

    /// Returns the id in the whole graph, as the input gave it.
    pub fn uniq_id(&self, vertex: VertexId) -> i64 {
        self.rows[vertex.index()].uniq_id
    }

    /// Returns the execution target that owns the vertex, -1 for none.
    pub fn rank(&self, vertex: VertexId) -> i64 {
        i64::from(self.rows[vertex.index()].rank)
    }

    /// Returns how much of the resource there is.
    pub fn size(&self, vertex: VertexId) -> u64 {
        self.rows[vertex.index()].size
    }

    /// Returns what the size counts, empty for none.
    pub fn unit(&self, vertex: VertexId) -> &str {
        self.units.name(u32::from(self.rows[vertex.index()].unit))
    }

    /// Returns whether the vertex itself may be given to jobs; an ancestor may still be down.
    pub fn status(&self, vertex: VertexId) -> Status {
        self.rows[vertex.index()].status
    }

    /// Returns the properties, or `None` where there never was one.
    pub fn properties(&self, vertex: VertexId) -> Option<&Properties> {
        if self.properties.is_empty() { None } else { self.properties.get(&vertex) }
    }

    /// Returns the root of a subsystem.
    pub fn root(&self, subsystem: SubsystemId) -> Option<VertexId> {
        self.roots.get(&subsystem).copied()
    }

    /// Returns the vertices that `vertex` has edges to in `subsystem`, in input order.
    pub fn children(&self, vertex: VertexId, subsystem: SubsystemId) -> SmallVec<[VertexId; 8]> {
        let mut children: SmallVec<[VertexId; 8]> = self
            .topology
            .edges_directed(node(vertex), Outgoing)
            .filter(|edge| *edge.weight() == subsystem)
            .map(|edge| vertex_of(edge.target()))
            .collect();
        children.reverse(); // petgraph yields the newest edge first
        children
    }

    /// Returns the edges that leave `vertex` in any subsystem, in input order.
    pub fn out_edges(&self, vertex: VertexId) -> SmallVec<[(VertexId, SubsystemId); 8]> {
        let mut edges: SmallVec<[(VertexId, SubsystemId); 8]> = self
            .topology
            .edges_directed(node(vertex), Outgoing)
            .map(|edge| (vertex_of(edge.target()), *edge.weight()))
            .collect();
        edges.reverse();
        edges
    }

    /// Returns the source of the first edge that was added into `vertex` in `subsystem`.
    pub fn parent(&self, vertex: VertexId, subsystem: SubsystemId) -> Option<VertexId> {
        self.topology
            .edges_directed(node(vertex), Incoming)
            .filter(|edge| *edge.weight() == subsystem)
            .last()
            .map(|edge| vertex_of(edge.source()))
    }

    /// Returns whether `vertex` is in `subsystem`: its root, the target of an edge of it, or given
    /// a path in it.
    pub fn is_member(&self, vertex: VertexId, subsystem: SubsystemId) -> bool {
        self.root(subsystem) == Some(vertex)
            || self.given_paths.contains_key(&(vertex, subsystem))
            || self.parent(vertex, subsystem).is_some()
    }

    /// Returns whether anything tells where `vertex` belongs: an edge, a path or being a root.
    pub(crate) fn belongs(&self, vertex: VertexId) -> bool {
        self.topology.neighbors_undirected(node(vertex)).next().is_some()
            || self.subsystems().any(|subsystem| self.is_member(vertex, subsystem))
    }

    /// Returns the path that [`Self::set_path`] gave.
    pub(crate) fn given_path(&self, vertex: VertexId, subsystem: SubsystemId) -> Option<&str> {
        if self.given_paths.is_empty() {
            return None;
        }
        self.given_paths.get(&(vertex, subsystem)).map(|path| &**path)
    }

    /// Returns the path of `vertex` in `subsystem`, or `None` where it has none.
    pub fn path(&self, subsystem: SubsystemId, vertex: VertexId) -> Option<String> {
        let mut path = String::new();
        self.write_path(subsystem, vertex, &mut path).then_some(path)
    }

    /// Appends the path of `vertex` in `subsystem` to `out` and returns whether it has one.
    /// O(depth).
    pub fn write_path(&self, subsystem: SubsystemId, vertex: VertexId, out: &mut String) -> bool {
        let root = self.root(subsystem);
        let mut line: SmallVec<[VertexId; 8]> = SmallVec::new();
        let mut at = vertex;
        loop {
            if !self.given_paths.is_empty()
                && let Some(path) = self.given_paths.get(&(at, subsystem))
            {
                out.push_str(path);
                break;
            }
            line.push(at);
            if Some(at) == root {
                break;
            }
            match self.parent(at, subsystem) {
                // A line longer than the graph is a cycle away from the root.
                Some(parent) if line.len() <= self.rows.len() => at = parent,
                // A top that is not the root has a path of its own only if something hangs below.
                None if line.len() > 1 => break,
                _ => return false,
            }
        }
        for &vertex in line.iter().rev() {
            out.push('/');
            self.write_name(vertex, out);
        }
        true
    }

    /// Returns the vertices whose path in any subsystem is `path`, in the order of their ids.
    ///
    /// The first call after a change of the topology builds an index in O(|V| + |E|).
    pub fn find_path(&self, path: &str) -> SmallVec<[VertexId; 1]> {
        self.path_index.get_or_init(|| PathIndex::build(self)).find(self, path)
    }

    /// Returns bytes held on the heap, without what tables of rare things hold.
    pub fn memory_usage(&self) -> usize {
        let edge = size_of::<SubsystemId>() + 4 * size_of::<u32>();
        let vertex = size_of::<Row>() + 3 * size_of::<u32>();
        self.rows.capacity() * vertex
            + self.topology.edge_count() * edge.next_multiple_of(4)
            + self.basenames.memory_usage()
            + self.types.memory_usage()
            + self.names.capacity() * (size_of::<VertexId>() + size_of::<Box<str>>())
    }
}

fn intern(
    names: &mut Interner,
    name: &str,
    what: &'static str,
    limit: usize,
) -> Result<u32, Error> {
    names.intern(name, limit).ok_or(Error::Limit { what, limit: limit as u64 })
}

fn checked_rank(rank: i64) -> Result<i32, Error> {
    i32::try_from(rank).map_err(|_| Error::OutOfRange {
        what: "rank",
        given: rank.to_string(),
        expected: "a 32-bit integer",
    })
}

fn node(vertex: VertexId) -> NodeIndex {
    NodeIndex::new(vertex.index())
}

fn vertex_of(node: NodeIndex) -> VertexId {
    // Nodes are added by `add_vertex` alone, which keeps their indices below the limit.
    VertexId(u32::try_from(node.index()).unwrap_or(u32::MAX))
}

fn is_default_name(name: &str, basename: &str, id: i64) -> bool {
    let Some(rest) = name.strip_prefix(basename) else {
        return false;
    };
    if id == -1 {
        return rest.is_empty();
    }
    let mut digits = String::new();
    write_integer(id, &mut digits);
    rest == digits
}

fn write_integer(number: i64, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{number}");
}

#[cfg(test)]
mod tests;
