//! Containment graphs.

use std::fmt;

use engine::{Graph, NewVertex, Status, VertexId};
use quickcheck::{Arbitrary, Gen};

use crate::{below, one_in, pick};

/// Properties that nodes have at times, and that constraints ask for.
pub(crate) const PROPERTIES: [&str; 2] = ["fast", "large"];

/// All types of vertices that there are.
pub(crate) const KINDS: [&str; 7] = ["cluster", "rack", "node", "socket", "core", "gpu", "memory"];

/// A vertex and all below it.
///
/// The debug form is such as `node1{fast}[core0, core2 down, memory0*4]`.
#[derive(Clone, PartialEq, Eq)]
pub struct VertexRecipe {
    /// The resource type.
    pub kind: &'static str,
    /// The id among its like.
    pub id: i64,
    /// How much of the resource there is.
    pub size: u64,
    /// Whether it may be given to jobs.
    pub status: Status,
    /// Names of properties.
    pub properties: Vec<&'static str>,
    /// What it has edges to.
    pub below: Vec<VertexRecipe>,
}

/// A small containment graph: a cluster of nodes, in racks or not, with cores, GPUs and memories,
/// in sockets or not. Ids have gaps and repeat over parents, sizes and shapes are uneven, some
/// vertices are down and some nodes have properties.
#[derive(Clone, PartialEq, Eq)]
pub struct GraphRecipe {
    /// The root.
    pub root: VertexRecipe,
    /// Whether unique ids fall in the order of a depth-first walk rather than rise.
    pub falling: bool,
}

impl VertexRecipe {
    /// Returns a vertex of size 1 that is up and has nothing below.
    pub fn new(kind: &'static str, id: i64) -> Self {
        let (properties, below) = (Vec::new(), Vec::new());
        Self { kind, id, size: 1, status: Status::Up, properties, below }
    }

    /// Returns the number of vertices, itself included.
    pub fn n_vertices(&self) -> usize {
        1 + self.below.iter().map(Self::n_vertices).sum::<usize>()
    }

    /// Tells all types of vertices, and whether those are leaves.
    fn tell_kinds(&self, told: &mut impl FnMut(&'static str, bool)) {
        told(self.kind, self.below.is_empty());
        self.below.iter().for_each(|child| child.tell_kinds(told));
    }

    /// Returns whether some vertex of type `kind` has one of type `wanted` below it that is no child.
    fn hides(&self, kind: &str, wanted: &str) -> bool {
        let deeper = || self.below.iter().flat_map(|child| &child.below).any(|it| it.has(wanted));
        self.kind == kind && deeper() || self.below.iter().any(|child| child.hides(kind, wanted))
    }

    fn is_uniform(&self) -> bool {
        self.size == 1 && self.below.iter().all(Self::is_uniform)
    }

    /// Returns what there could be instead with one more vertex somewhere below, like one of its
    /// siblings.
    fn with_one_more(&self) -> Vec<Self> {
        let mut more = Vec::new();
        for (at, child) in self.below.iter().enumerate() {
            let like = |other: &&Self| other.kind == child.kind;
            let id = self.below.iter().filter(like).map(|other| other.id).max().unwrap_or(0) + 1;
            let mut one = self.clone();
            one.below.push(Self { id, ..child.clone() });
            more.push(one);
            for child in child.with_one_more() {
                let mut one = self.clone();
                one.below[at] = child;
                more.push(one);
            }
        }
        more
    }

    fn has(&self, kind: &str) -> bool {
        self.kind == kind || self.below.iter().any(|child| child.has(kind))
    }

    fn raise(&mut self) {
        self.status = Status::Up;
        self.below.iter_mut().for_each(Self::raise);
    }

    fn pools(g: &mut Gen) -> Vec<Self> {
        let mut pools = Vec::new();
        let cores = if one_in(g, 4) { &[2, 4][..] } else { &[1] };
        let gpus = if one_in(g, 4) { &[1, 2][..] } else { &[1] };
        let memories = if one_in(g, 2) { &[2, 2, 8][..] } else { &[4] };
        for (kind, most, sizes) in [("core", 4, cores), ("gpu", 2, gpus), ("memory", 3, memories)] {
            let n = if one_in(g, 8) { 0 } else { 1 + below(g, most) };
            for id in ids(g, n) {
                let size = pick(g, sizes);
                let status = status(g, 16);
                pools.push(Self { size, status, ..Self::new(kind, id) });
            }
        }
        pools
    }

    fn node(g: &mut Gen, id: i64, with_sockets: bool) -> Self {
        let mut node = Self { status: status(g, 10), ..Self::new("node", id) };
        node.properties.extend(PROPERTIES.iter().filter(|_| one_in(g, 2)));
        if with_sockets {
            let n = 1 + below(g, 2);
            for id in ids(g, n) {
                let below = Self::pools(g);
                node.below.push(Self { status: status(g, 16), below, ..Self::new("socket", id) });
            }
            // Some pools belong to no socket.
            if one_in(g, 4) {
                node.below.extend(Self::pools(g).into_iter().filter(|pool| pool.kind == "memory"));
            }
        } else {
            node.below = Self::pools(g);
        }
        node
    }

    fn nodes(g: &mut Gen, with_sockets: bool) -> Vec<Self> {
        let n = 1 + below(g, 4);
        let ids = ids(g, n);
        let mut nodes: Vec<Self> =
            ids.into_iter().map(|id| Self::node(g, id, with_sockets)).collect();
        // Nodes alike but for their ids are what shortcuts live on.
        if one_in(g, 2) {
            let (below, size) = (nodes[0].below.clone(), nodes[0].size);
            for node in &mut nodes {
                (node.below, node.size) = (below.clone(), size);
            }
        }
        nodes
    }

    fn shrunk(&self) -> Vec<Self> {
        let mut shrunk = Vec::new();
        for at in 0..self.below.len() {
            let mut less = self.clone();
            less.below.remove(at);
            shrunk.push(less);
        }
        for (at, child) in self.below.iter().enumerate() {
            // What is below a child takes its place.
            if !child.below.is_empty() {
                let mut less = self.clone();
                less.below.splice(at..=at, child.below.iter().cloned());
                shrunk.push(less);
            }
            for child in child.shrunk() {
                let mut less = self.clone();
                less.below[at] = child;
                shrunk.push(less);
            }
        }
        if self.status == Status::Down {
            shrunk.push(Self { status: Status::Up, ..self.clone() });
        }
        if !self.properties.is_empty() {
            shrunk.push(Self { properties: self.properties[1..].to_vec(), ..self.clone() });
        }
        if self.size > 1 {
            shrunk.push(Self { size: self.size / 2, ..self.clone() });
        }
        shrunk
    }
}

/// Returns ids for `n` siblings: from 0 in order, or with gaps, or falling.
fn ids(g: &mut Gen, n: usize) -> Vec<i64> {
    let mut next = below(g, 2) as i64;
    let mut ids = Vec::new();
    for _ in 0..n {
        ids.push(next);
        next += if one_in(g, 4) { 2 + below(g, 3) as i64 } else { 1 };
    }
    if one_in(g, 4) {
        ids.reverse();
    }
    if one_in(g, 4) && n > 2 {
        ids.swap(0, 1);
    }
    ids
}

fn status(g: &mut Gen, one_of: usize) -> Status {
    if one_in(g, one_of) { Status::Down } else { Status::Up }
}

impl GraphRecipe {
    /// Returns whether there is a vertex of type `kind`.
    pub fn has(&self, kind: &str) -> bool {
        self.root.has(kind)
    }

    /// Returns whether some vertex of type `kind` has one of type `wanted` below it, though not as a
    /// child.
    pub fn hides(&self, kind: &str, wanted: &str) -> bool {
        self.root.hides(kind, wanted)
    }

    /// Returns the types of vertices, each with whether some of it are leaves and others are not.
    pub fn kinds(&self) -> Vec<(&'static str, bool)> {
        let mut seen = [(false, false); KINDS.len()];
        self.root.tell_kinds(&mut |kind, leaf| {
            if let Some(at) = KINDS.iter().position(|known| *known == kind) {
                seen[at] = (seen[at].0 || leaf, seen[at].1 || !leaf);
            }
        });
        let seen = KINDS.into_iter().zip(seen).filter(|(_, (leaf, inner))| *leaf || *inner);
        seen.map(|(kind, (leaf, inner))| (kind, leaf && inner)).collect()
    }

    /// Returns whether all vertices have size 1.
    pub fn is_uniform(&self) -> bool {
        self.root.is_uniform()
    }

    /// Returns graphs with one vertex more, which is like one that there is and stands beside it,
    /// with all that is below.
    pub fn with_one_more(&self) -> impl Iterator<Item = Self> {
        let falling = self.falling;
        self.root.with_one_more().into_iter().map(move |root| Self { root, falling })
    }

    /// Builds the graph. Vertices have the ids of a depth-first walk.
    ///
    /// # Panics
    ///
    /// Never on what [`Arbitrary`] makes.
    pub fn build(&self) -> Graph {
        let mut graph = Graph::new();
        let n_vertices = self.root.n_vertices() as i64;
        let root = self.add(&mut graph, &self.root, None, n_vertices, -1);
        graph.set_root(Graph::CONTAINMENT, root).expect("there is one root");
        graph
    }

    fn add(
        &self,
        graph: &mut Graph,
        recipe: &VertexRecipe,
        parent: Option<VertexId>,
        n_vertices: i64,
        rank: i64,
    ) -> VertexId {
        let number = graph.n_vertices() as i64;
        let rank = if recipe.kind == "node" { number } else { rank };
        let kind = graph.intern_type(recipe.kind).expect("there are few types");
        let vertex = NewVertex {
            kind,
            basename: recipe.kind,
            name: None,
            id: recipe.id,
            uniq_id: if self.falling { n_vertices - number } else { number },
            rank,
            size: recipe.size,
            unit: "",
            status: recipe.status,
        };
        let vertex = graph.add_vertex(&vertex).expect("numbers are small");
        for property in &recipe.properties {
            graph.set_property(vertex, property, "").expect("the vertex was just added");
        }
        if let Some(parent) = parent {
            graph.add_edge(parent, vertex, Graph::CONTAINMENT).expect("both were just added");
        }
        for child in &recipe.below {
            self.add(graph, child, Some(vertex), n_vertices, rank);
        }
        vertex
    }
}

impl Arbitrary for GraphRecipe {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut root = VertexRecipe::new("cluster", 0);
        let with_sockets = one_in(g, 3);
        if one_in(g, 3) {
            let n = 1 + below(g, 2);
            for id in ids(g, n) {
                let below = VertexRecipe::nodes(g, with_sockets);
                let status = status(g, 16);
                root.below.push(VertexRecipe { status, below, ..VertexRecipe::new("rack", id) });
            }
        } else {
            root.below = VertexRecipe::nodes(g, with_sockets);
        }
        if !one_in(g, 3) {
            root.raise();
        }
        Self { root, falling: one_in(g, 4) }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let falling = self.falling;
        let mut shrunk: Vec<Self> =
            self.root.shrunk().into_iter().map(|root| Self { root, falling }).collect();
        if falling {
            shrunk.push(Self { falling: false, ..self.clone() });
        }
        Box::new(shrunk.into_iter())
    }
}

impl fmt::Debug for VertexRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind, self.id)?;
        if self.size != 1 {
            write!(f, "*{}", self.size)?;
        }
        if !self.properties.is_empty() {
            write!(f, "{{{}}}", self.properties.join(","))?;
        }
        if self.status == Status::Down {
            f.write_str(" down")?;
        }
        if !self.below.is_empty() {
            f.write_str("[")?;
            for (n, child) in self.below.iter().enumerate() {
                write!(f, "{}{child:?}", if n > 0 { ", " } else { "" })?;
            }
            f.write_str("]")?;
        }
        Ok(())
    }
}

impl fmt::Debug for GraphRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.root, if self.falling { " (unique ids fall)" } else { "" })
    }
}
