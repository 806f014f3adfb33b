//! JSON Graph Format (RFC 4, RFC 40): whole graphs, subgraphs to attach, and resource sets.
//!
//! A document is read in one pass. What its strings say is borrowed from the text; only a
//! vertex-id table, the given paths and a table of path hashes live beside the graph, and only
//! while it is read.

use std::borrow::Cow;
use std::hash::Hasher as _;

use engine::{
    BookedEdge, BookedVertex, Booking, Graph, NewVertex, Release, Share, Status, SubsystemId,
    VertexId,
};
use jobspec::Idset;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde::de::{DeserializeSeed as _, IgnoredAny};
use smallvec::SmallVec;

use super::LoadOptions;
use super::document::{Context, Flag, Ids, Integer, Text, array_seed, finish, object_seed};
use super::pointer::{Step, place};
use super::topology::{check_cycles, give_paths};
use crate::{Error, LimitKind, Place};

// ---- the document ------------------------------------------------------------------------------

/// A vertex as the document has it.
#[derive(Debug)]
struct RawVertex<'de> {
    document_id: Cow<'de, str>,
    kind: Cow<'de, str>,
    basename: Option<Cow<'de, str>>,
    name: Option<Cow<'de, str>>,
    id: Option<i64>,
    uniq_id: Option<i64>,
    rank: i64,
    status: i64,
    exclusive: bool,
    size: Option<i64>,
    paths: SmallVec<[(Cow<'de, str>, Cow<'de, str>); 1]>,
    properties: Vec<(Cow<'de, str>, Cow<'de, str>)>,
}

/// An edge as the document has it.
#[derive(Debug)]
struct RawEdge<'de> {
    source: Cow<'de, str>,
    target: Cow<'de, str>,
    subsystem: Option<Cow<'de, str>>,
}

/// An error, and where it is below the vertex or edge that was being looked at.
struct Fault(Box<Error>, &'static [Step<'static>]);

impl Fault {
    fn new(error: Error, below: &'static [Step<'static>]) -> Self {
        Self(Box::new(error), below)
    }

    fn at(self, text: &str, list: &'static str, index: usize) -> Error {
        let mut steps = vec![Step::Key("graph"), Step::Key(list), Step::Index(index)];
        steps.extend_from_slice(self.1);
        let mut error = *self.0;
        if let Some(at) = error.place_mut() {
            *at = place(text, &steps);
        }
        error
    }
}

const HERE: &[Step<'static>] = &[];
const ID: &[Step<'static>] = &[Step::Key("id")];
const METADATA: &[Step<'static>] = &[Step::Key("metadata")];
const PATHS: &[Step<'static>] = &[Step::Key("metadata"), Step::Key("paths")];
const NAME: &[Step<'static>] = &[Step::Key("metadata"), Step::Key("name")];
const RANK: &[Step<'static>] = &[Step::Key("metadata"), Step::Key("rank")];
const SIZE: &[Step<'static>] = &[Step::Key("metadata"), Step::Key("size")];
const STATUS: &[Step<'static>] = &[Step::Key("metadata"), Step::Key("status")];
const METADATA_ID: &[Step<'static>] = &[Step::Key("metadata"), Step::Key("id")];
const SOURCE: &[Step<'static>] = &[Step::Key("source")];
const TARGET: &[Step<'static>] = &[Step::Key("target")];

/// Takes what the document has, in its order, but vertices before edges.
trait Sink<'de> {
    fn vertex(&mut self, vertex: RawVertex<'de>) -> Result<(), Fault>;

    fn edge(&mut self, edge: RawEdge<'de>) -> Result<(), Fault>;

    fn free_ranks(&mut self, ranks: Idset);
}

struct State<'de, S> {
    context: Context<'de>,
    sink: S,
}

fn read_document<'de, S: Sink<'de>>(text: &'de str, sink: S) -> Result<S, Error> {
    let mut state = State { context: Context::default(), sink };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result =
        DocumentSeed(&mut state).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    finish(text, &mut state.context, result)?;
    Ok(state.sink)
}

struct DocumentSeed<'a, 'de, S>(&'a mut State<'de, S>);

object_seed!(['a, S: Sink<'de>] DocumentSeed<'a, 'de, S> => (), "a JGF document", |this, map| {
    let state = this.0;
    let mut seen = false;
    while let Some(Text(key)) = map.next_key()? {
        state.context.pointer.push_met(&key);
        match &*key {
            "graph" => {
                if seen {
                    return Err(state.context.fail(twice(&key)));
                }
                seen = true;
                map.next_value_seed(GraphSeed(state))?;
            }
            "free_ranks" => {
                let Ids(ranks) = map.next_value()?;
                state.sink.free_ranks(ranks);
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        state.context.pointer.pop();
    }
    if seen { Ok(()) } else { Err(state.context.missing("graph")) }
});

fn twice(key: &str) -> Error {
    Error::Duplicate { at: Place::default(), what: "key", name: key.to_owned() }
}

struct GraphSeed<'a, 'de, S>(&'a mut State<'de, S>);

object_seed!(['a, S: Sink<'de>] GraphSeed<'a, 'de, S> => (), "an object with nodes and edges",
|this, map| {
    let state = this.0;
    let (mut nodes, mut edges) = (false, false);
    let mut early = Vec::new();
    while let Some(Text(key)) = map.next_key()? {
        state.context.pointer.push_met(&key);
        match &*key {
            "nodes" if !nodes => {
                nodes = true;
                map.next_value_seed(NodesSeed(state))?;
            }
            "edges" if !edges => {
                edges = true;
                let early = if nodes { None } else { Some(&mut early) };
                map.next_value_seed(EdgesSeed(state, early))?;
            }
            "nodes" | "edges" => return Err(state.context.fail(twice(&key))),
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        state.context.pointer.pop();
    }
    if !nodes {
        return Err(state.context.missing("nodes"));
    }
    if !edges {
        return Err(state.context.missing("edges"));
    }
    state.context.pointer.push(Step::Key("edges"));
    for (index, edge) in early.into_iter().enumerate() {
        state.context.pointer.push(Step::Index(index));
        if let Err(Fault(error, below)) = state.sink.edge(edge) {
            return Err(state.context.fail_below(*error, below));
        }
        state.context.pointer.pop();
    }
    state.context.pointer.pop();
    Ok(())
});

struct NodesSeed<'a, 'de, S>(&'a mut State<'de, S>);

array_seed!(['a, S: Sink<'de>] NodesSeed<'a, 'de, S> => (), "an array of vertices", |this, list| {
    let state = this.0;
    let mut index = 0;
    state.context.pointer.push(Step::Index(index));
    while let Some(vertex) = list.next_element_seed(NodeSeed(&mut state.context))? {
        if let Err(Fault(error, below)) = state.sink.vertex(vertex) {
            return Err(state.context.fail_below(*error, below));
        }
        index += 1;
        state.context.pointer.pop();
        state.context.pointer.push(Step::Index(index));
    }
    state.context.pointer.pop();
    Ok(())
});

struct EdgesSeed<'a, 'de, S>(&'a mut State<'de, S>, Option<&'a mut Vec<RawEdge<'de>>>);

array_seed!(['a, S: Sink<'de>] EdgesSeed<'a, 'de, S> => (), "an array of edges", |this, list| {
    let Self(state, mut early) = this;
    let mut index = 0;
    state.context.pointer.push(Step::Index(index));
    while let Some(edge) = list.next_element_seed(EdgeSeed(&mut state.context))? {
        if let Some(early) = &mut early {
            early.push(edge);
        } else if let Err(Fault(error, below)) = state.sink.edge(edge) {
            return Err(state.context.fail_below(*error, below));
        }
        index += 1;
        state.context.pointer.pop();
        state.context.pointer.push(Step::Index(index));
    }
    state.context.pointer.pop();
    Ok(())
});

struct NodeSeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] NodeSeed<'a, 'de> => RawVertex<'de>, "a vertex with id and metadata",
|this, map| {
    let context = this.0;
    let mut vertex_id = None;
    let mut vertex = None;
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        match &*key {
            "id" => {
                let Text(id) = map.next_value()?;
                vertex_id = Some(id);
            }
            "metadata" => vertex = Some(map.next_value_seed(MetadataSeed(context))?),
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        context.pointer.pop();
    }
    match (vertex_id, vertex) {
        (Some(document_id), Some(vertex)) => Ok(RawVertex { document_id, ..vertex }),
        (None, _) => Err(context.missing("id")),
        (_, None) => Err(context.missing("metadata")),
    }
});

struct MetadataSeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] MetadataSeed<'a, 'de> => RawVertex<'de>, "an object", |this, map| {
    let context = this.0;
    let mut kind = None;
    let mut has_paths = false;
    let mut vertex = RawVertex {
        document_id: Cow::Borrowed(""),
        kind: Cow::Borrowed(""),
        basename: None,
        name: None,
        id: None,
        uniq_id: None,
        rank: -1,
        status: 0,
        exclusive: false,
        size: None,
        paths: SmallVec::new(),
        properties: Vec::new(),
    };
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        match &*key {
            "type" => kind = Some(map.next_value::<Text<'de>>()?.0),
            "basename" => vertex.basename = Some(map.next_value::<Text<'de>>()?.0),
            "name" => vertex.name = Some(map.next_value::<Text<'de>>()?.0),
            "id" => vertex.id = Some(map.next_value::<Integer>()?.0),
            "uniq_id" => vertex.uniq_id = Some(map.next_value::<Integer>()?.0),
            "rank" => vertex.rank = map.next_value::<Integer>()?.0,
            "status" => vertex.status = map.next_value::<Integer>()?.0,
            "exclusive" => vertex.exclusive = map.next_value::<Flag>()?.0,
            // It is checked but not kept: Fluxion forgets the unit of a JGF vertex, and an R
            // that showed it would differ from Fluxion's.
            "unit" => {
                map.next_value::<Text<'de>>()?;
            }
            "size" => vertex.size = Some(map.next_value::<Integer>()?.0),
            "paths" => {
                has_paths = true;
                vertex.paths.clear();
                let paths = &mut vertex.paths;
                map.next_value_seed(TextsSeed(context, |key, path| paths.push((key, path))))?;
            }
            "properties" => {
                vertex.properties.clear();
                let properties = &mut vertex.properties;
                map.next_value_seed(TextsSeed(context, |key, value| {
                    properties.push((key, value));
                }))?;
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        context.pointer.pop();
    }
    let Some(kind) = kind else { return Err(context.missing("type")) };
    if !has_paths {
        return Err(context.missing("paths"));
    }
    vertex.kind = kind;
    Ok(vertex)
});

/// An object of strings, which are given to a function.
struct TextsSeed<'a, 'de, F>(&'a mut Context<'de>, F);

object_seed!(['a, F: FnMut(Cow<'de, str>, Cow<'de, str>)] TextsSeed<'a, 'de, F> => (),
"an object of strings", |this, map| {
    let Self(context, mut put) = this;
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        let Text(value) = map.next_value()?;
        context.pointer.pop();
        put(key, value);
    }
    Ok(())
});

struct EdgeSeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] EdgeSeed<'a, 'de> => RawEdge<'de>, "an edge with source and target",
|this, map| {
    let context = this.0;
    let (mut source, mut target, mut subsystem) = (None, None, None);
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        match &*key {
            "source" => source = Some(map.next_value::<Text<'de>>()?.0),
            "target" => target = Some(map.next_value::<Text<'de>>()?.0),
            "metadata" => subsystem = map.next_value_seed(EdgeMetadataSeed(context))?,
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        context.pointer.pop();
    }
    match (source, target) {
        (Some(source), Some(target)) => Ok(RawEdge { source, target, subsystem }),
        (None, _) => Err(context.missing("source")),
        (_, None) => Err(context.missing("target")),
    }
});

struct EdgeMetadataSeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] EdgeMetadataSeed<'a, 'de> => Option<Cow<'de, str>>, "an object", |this, map| {
    let context = this.0;
    let mut subsystem = None;
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        if key == "subsystem" {
            subsystem = Some(map.next_value::<Text<'de>>()?.0);
        } else {
            map.next_value::<IgnoredAny>()?;
        }
        context.pointer.pop();
    }
    Ok(subsystem)
});

// ---- defaults ----------------------------------------------------------------------------------

/// A vertex with all that the document leaves out filled in.
#[derive(Debug)]
struct Vertex<'de> {
    document_id: Cow<'de, str>,
    kind: Cow<'de, str>,
    basename: Option<Cow<'de, str>>,
    /// The name, where it is not made of basename and id as the graph makes it.
    name: Option<Cow<'de, str>>,
    id: i64,
    uniq_id: i64,
    rank: i64,
    size: u64,
    status: Status,
    exclusive: bool,
    paths: SmallVec<[(Cow<'de, str>, Cow<'de, str>); 1]>,
    properties: Vec<(Cow<'de, str>, Cow<'de, str>)>,
}

pub(super) fn value(expected: &'static str, found: &dyn std::fmt::Display) -> Error {
    Error::Value {
        at: Place::default(),
        expected: Cow::Borrowed(expected),
        found: found.to_string(),
    }
}

impl<'de> Vertex<'de> {
    fn new(raw: RawVertex<'de>) -> Result<Self, Fault> {
        // -1 and -2 stand for absent numbers, as they do in Fluxion.
        let uniq_id = match raw.uniq_id {
            None | Some(-1) => leading_integer(&raw.document_id).ok_or_else(|| {
                let expected = "a number, or `uniq_id` in the metadata";
                Fault::new(value(expected, &format!("`{}`", raw.document_id)), ID)
            })?,
            Some(uniq_id) => uniq_id,
        };
        let id = match (raw.id, &raw.name) {
            (None | Some(-2), Some(name)) if raw.kind == "node" => match trailing_digits(name) {
                "" => uniq_id,
                digits => digits
                    .parse()
                    .map_err(|_| Fault::new(value("a name with a 63-bit number", &digits), NAME))?,
            },
            (None | Some(-2), _) => uniq_id,
            (Some(id), _) => id,
        };
        let size = match raw.size {
            None => 1,
            Some(size) => u64::try_from(size)
                .map_err(|_| Fault::new(value("a size that is not negative", &size), SIZE))?,
        };
        let status = match raw.status {
            0 => Status::Up,
            1 => Status::Down,
            other => return Err(Fault::new(value("0 for up or 1 for down", &other), STATUS)),
        };
        // A graph leaves an id of -1 out of the name, a document does not.
        let name = match raw.name {
            None if id == -1 => {
                let basename = raw.basename.as_ref().unwrap_or(&raw.kind);
                Some(Cow::Owned(format!("{basename}-1")))
            }
            name => name,
        };
        Ok(Self {
            document_id: raw.document_id,
            kind: raw.kind,
            basename: raw.basename,
            name,
            id,
            uniq_id,
            rank: raw.rank,
            size,
            status,
            exclusive: raw.exclusive,
            paths: raw.paths,
            properties: raw.properties,
        })
    }

    fn basename(&self) -> &str {
        self.basename.as_ref().unwrap_or(&self.kind)
    }

    fn remap(&mut self, remap: &super::Remap) -> Result<(), Fault> {
        if remap.is_empty() || self.rank == -1 {
            return Ok(());
        }
        let rank = remap
            .rank(self.rank)
            .ok_or_else(|| Fault::new(value("a rank that is remapped", &self.rank), RANK))?;
        if self.kind == "core" {
            let id = remap.id(self.rank, "core", self.id).ok_or_else(|| {
                Fault::new(value("an id of a core that is remapped", &self.id), METADATA_ID)
            })?;
            let name = format!("{}{id}", self.basename());
            for (_, path) in &mut self.paths {
                match path.rsplit_once('/') {
                    Some((above, last)) if last.starts_with("core") => {
                        *path = Cow::Owned(format!("{above}/{name}"));
                    }
                    _ => return Err(Fault::new(value("the path of a core", &path), PATHS)),
                }
            }
            self.id = id;
            self.name = Some(Cow::Owned(name));
        }
        self.rank = rank;
        Ok(())
    }
}

/// Reads the integer that `text` begins with, after white space, as C does.
fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    text[..sign + digits].parse().ok()
}

fn trailing_digits(text: &str) -> &str {
    &text[text.trim_end_matches(|character: char| character.is_ascii_digit()).len()..]
}

/// Returns whether a path has one component.
fn is_root(path: &str) -> bool {
    path.rfind('/').is_some_and(|last| !path[..last].contains('/'))
}

/// Returns whether the path `lower` leads on from `upper`.
fn is_below(lower: &str, upper: &str) -> bool {
    lower.len() > upper.len()
        && lower.as_bytes()[upper.len()] == b'/'
        && lower.as_bytes().starts_with(upper.as_bytes())
}

pub(super) fn from_engine(error: engine::Error) -> Error {
    let at = Place::default();
    match error {
        engine::Error::OutOfRange { what, given, expected } => {
            Error::Value { at, expected: Cow::Owned(format!("as {what} {expected}")), found: given }
        }
        engine::Error::TwoRoots { subsystem, first, second } => {
            Error::TwoRoots { at, subsystem, first, second }
        }
        source => Error::Graph { at, source },
    }
}

// ---- vertex ids --------------------------------------------------------------------------------

/// From the ids of a document to vertices. The ids are strings, but nearly always they are small
/// numbers, which index a table.
#[derive(Debug)]
struct IdMap<'de, T> {
    dense: Vec<Option<T>>,
    sparse: FxHashMap<Cow<'de, str>, T>,
    n: usize,
}

impl<'de, T: Copy> IdMap<'de, T> {
    fn new() -> Self {
        Self { dense: Vec::new(), sparse: FxHashMap::default(), n: 0 }
    }

    fn get(&self, id: &str) -> Option<T> {
        if let Some(number) = small_number(id)
            && let Some(&Some(found)) = self.dense.get(number)
        {
            return Some(found);
        }
        if self.sparse.is_empty() { None } else { self.sparse.get(id).copied() }
    }

    /// Adds an id that is not there.
    fn insert(&mut self, id: Cow<'de, str>, value: T) {
        self.n += 1;
        // The table may have twice as many places as there are ids, and some more.
        match small_number(&id) {
            Some(number) if number < 2 * self.n + 4096 => {
                if number >= self.dense.len() {
                    self.dense.resize(number + 1, None);
                }
                self.dense[number] = Some(value);
            }
            _ => {
                self.sparse.insert(id, value);
            }
        }
    }
}

/// Returns the number that `text` is the usual way to write.
fn small_number(text: &str) -> Option<usize> {
    let digits = text.as_bytes();
    if digits.is_empty() || digits.len() > 9 || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    let mut number = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + usize::from(digit - b'0');
    }
    Some(number)
}

// ---- loading -----------------------------------------------------------------------------------

/// What is known of how a new vertex hangs in the containment subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hanging {
    /// No edge leads to it so far.
    Loose,
    /// Its path is that of the source of its first edge, and its name.
    AsPath(VertexId),
    /// Its path is another than the source of its first edge tells.
    Elsewhere(VertexId),
}

/// What the paths of its ends tell of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    /// The path of the target is that of the source and the name of the target.
    AsPath,
    /// The path of the target is longer than that of the source.
    Down,
    /// The source is below the target.
    Up,
    /// Nothing.
    Unclear,
}

struct Loader<'g, 'o, 'de> {
    graph: &'g mut Graph,
    options: &'o LoadOptions,
    /// How many vertices there were before.
    base: usize,
    /// Vertices by id, and whether the id made the vertex.
    ids: IdMap<'de, (VertexId, bool)>,
    /// The containment path of each new vertex.
    paths: Vec<Option<Cow<'de, str>>>,
    hanging: Vec<Hanging>,
    /// Paths in other subsystems.
    others: FxHashMap<(VertexId, SubsystemId), Cow<'de, str>>,
    /// The keys of `others` in their order in the document.
    others_order: Vec<(VertexId, SubsystemId)>,
    /// New vertices by hash of path and rank; those whose hash is taken are in `by_path_rest`.
    by_path: FxHashMap<u64, VertexId>,
    by_path_rest: Vec<(u64, VertexId)>,
    /// Edges other than the first one into a new vertex in the containment subsystem.
    more_edges: FxHashSet<(VertexId, VertexId, SubsystemId)>,
    /// Edges that lead up.
    upward: Vec<(VertexId, VertexId, SubsystemId)>,
    n_edges: usize,
    /// Whether paths alone do not rule out a cycle.
    may_have_cycle: bool,
}

impl<'g, 'o, 'de> Loader<'g, 'o, 'de> {
    fn new(graph: &'g mut Graph, options: &'o LoadOptions) -> Self {
        Self {
            base: graph.n_vertices(),
            graph,
            options,
            ids: IdMap::new(),
            paths: Vec::new(),
            hanging: Vec::new(),
            others: FxHashMap::default(),
            others_order: Vec::new(),
            by_path: FxHashMap::default(),
            by_path_rest: Vec::new(),
            more_edges: FxHashSet::default(),
            upward: Vec::new(),
            n_edges: 0,
            may_have_cycle: false,
        }
    }

    /// Returns the path that the document gives a new vertex, or that the graph has for another.
    fn path(&self, vertex: VertexId, subsystem: SubsystemId) -> Option<Cow<'_, str>> {
        match vertex.index().checked_sub(self.base) {
            None => self.graph.path(subsystem, vertex).map(Cow::Owned),
            Some(new) => self.new_path(new, vertex, subsystem).map(Cow::Borrowed),
        }
    }

    fn new_path(&self, new: usize, vertex: VertexId, subsystem: SubsystemId) -> Option<&str> {
        if subsystem == Graph::CONTAINMENT {
            self.paths[new].as_deref()
        } else {
            self.others.get(&(vertex, subsystem)).map(|path| &**path)
        }
    }

    /// Returns the vertex with one of the paths of `vertex` and its rank, if there is one already.
    fn find(&self, vertex: &Vertex<'de>) -> Option<VertexId> {
        vertex.paths.iter().find_map(|(_, path)| {
            if self.base > 0 {
                let found = self.graph.find_path(path);
                let same = found.iter().find(|&&found| self.graph.rank(found) == vertex.rank);
                if let Some(&found) = same {
                    return Some(found);
                }
            }
            let hash = path_hash(path, vertex.rank);
            let &first = self.by_path.get(&hash)?;
            let rest = self.by_path_rest.iter().filter(|(other, _)| *other == hash);
            std::iter::once(first)
                .chain(rest.map(|&(_, vertex)| vertex))
                .find(|&found| self.graph.rank(found) == vertex.rank && self.has_path(found, path))
        })
    }

    fn has_path(&self, vertex: VertexId, path: &str) -> bool {
        self.paths[vertex.index() - self.base].as_deref() == Some(path)
            || self
                .graph
                .subsystems()
                .any(|other| self.others.get(&(vertex, other)).is_some_and(|p| p == path))
    }

    fn add(&mut self, vertex: Vertex<'de>) -> Result<VertexId, Fault> {
        let limits = &self.options.limits;
        if self.graph.n_vertices() >= limits.vertices {
            let error = limits.passed(LimitKind::Vertices, Place::default());
            return Err(Fault::new(error, HERE));
        }
        let fault = |error| Fault::new(from_engine(error), METADATA);
        let kind = self.graph.intern_type(&vertex.kind).map_err(fault)?;
        let new = NewVertex {
            kind,
            basename: vertex.basename(),
            name: vertex.name.as_deref(),
            id: vertex.id,
            uniq_id: vertex.uniq_id,
            rank: vertex.rank,
            size: vertex.size,
            unit: "",
            status: vertex.status,
        };
        let added = self.graph.add_vertex(&new).map_err(fault)?;
        for (key, value) in &vertex.properties {
            self.graph.set_property(added, key, value).map_err(fault)?;
        }
        self.paths.push(None);
        self.hanging.push(Hanging::Loose);
        for (subsystem, path) in vertex.paths {
            let subsystem = subsystem_id(self.graph, &subsystem).map_err(fault)?;
            if is_root(&path) {
                self.graph
                    .set_root(subsystem, added)
                    .map_err(|error| Fault::new(from_engine(error), PATHS))?;
            }
            let hash = path_hash(&path, vertex.rank);
            match self.by_path.entry(hash) {
                std::collections::hash_map::Entry::Vacant(vacant) => {
                    vacant.insert(added);
                }
                std::collections::hash_map::Entry::Occupied(_) => {
                    self.by_path_rest.push((hash, added));
                }
            }
            if subsystem == Graph::CONTAINMENT {
                self.paths[added.index() - self.base] = Some(path);
            } else if self.others.insert((added, subsystem), path).is_none() {
                self.others_order.push((added, subsystem));
            }
        }
        Ok(added)
    }

    fn end(&self, id: &str, below: &'static [Step<'static>]) -> Result<(VertexId, bool), Fault> {
        self.ids.get(id).ok_or_else(|| {
            let at = Place::default();
            let id = id.to_owned();
            Fault::new(Error::Dangling { at, id }, below)
        })
    }

    fn direction(&self, source: VertexId, target: VertexId, subsystem: SubsystemId) -> Direction {
        let (Some(upper), Some(lower)) =
            (self.path(source, subsystem), self.path(target, subsystem))
        else {
            return Direction::Unclear;
        };
        if is_below(&lower, &upper) {
            let last = &lower[upper.len() + 1..];
            if is_name(self.graph, target, last) { Direction::AsPath } else { Direction::Down }
        } else if is_below(&upper, &lower) {
            Direction::Up
        } else if upper.len() < lower.len() {
            Direction::Down
        } else {
            Direction::Unclear
        }
    }

    /// Adds the edges that lead up without being the way back along another, and gives paths to
    /// the vertices whose parents do not tell theirs.
    fn finish(mut self) -> Result<(), Error> {
        // What is below each target, once for all edges up to it.
        let mut below: FxHashMap<(VertexId, SubsystemId), FxHashSet<VertexId>> =
            FxHashMap::default();
        for (source, target, subsystem) in std::mem::take(&mut self.upward) {
            let forth = self.graph.parent(source, subsystem) == Some(target)
                || below
                    .entry((target, subsystem))
                    .or_insert_with(|| self.graph.children(target, subsystem).into_iter().collect())
                    .contains(&source);
            if !forth {
                self.may_have_cycle |= subsystem == Graph::CONTAINMENT;
                self.graph.add_edge(source, target, subsystem).map_err(from_engine)?;
            }
        }
        if self.graph.n_vertices() == 0 {
            return Err(Error::Empty("vertices"));
        }
        if self.graph.root(Graph::CONTAINMENT).is_none() {
            return Err(Error::NoRoot {
                subsystem: self.graph.subsystem_name(Graph::CONTAINMENT).to_owned(),
            });
        }
        if self.may_have_cycle {
            check_cycles(self.graph)?;
        }
        self.give_paths().map_err(from_engine)
    }

    fn give_paths(&mut self) -> Result<(), engine::Error> {
        let mut given: Vec<(SubsystemId, VertexId, &str)> = self
            .graph
            .vertices()
            .skip(self.base)
            .zip(self.paths.iter().zip(&self.hanging))
            .filter(|(_, (_, hanging))| !matches!(hanging, Hanging::AsPath(_)))
            .filter_map(|(vertex, (path, _))| Some((Graph::CONTAINMENT, vertex, path.as_deref()?)))
            .collect();
        for (vertex, subsystem) in std::mem::take(&mut self.others_order) {
            given.push((subsystem, vertex, &*self.others[&(vertex, subsystem)]));
        }
        give_paths(self.graph, given)
    }
}

impl<'de> Sink<'de> for Loader<'_, '_, 'de> {
    fn vertex(&mut self, vertex: RawVertex<'de>) -> Result<(), Fault> {
        let mut vertex = Vertex::new(vertex)?;
        if let Some(remap) = &self.options.remap {
            vertex.remap(remap)?;
        }
        if self.ids.get(&vertex.document_id).is_some() {
            return Err(duplicate("vertex id", &vertex.document_id, ID));
        }
        let vertex_id = vertex.document_id.clone();
        let entry = match self.find(&vertex) {
            Some(found) => (found, false),
            None => (self.add(vertex)?, true),
        };
        self.ids.insert(vertex_id, entry);
        Ok(())
    }

    fn edge(&mut self, edge: RawEdge<'de>) -> Result<(), Fault> {
        let (source, source_is_new) = self.end(&edge.source, SOURCE)?;
        let (target, target_is_new) = self.end(&edge.target, TARGET)?;
        if !source_is_new && !target_is_new {
            return Ok(());
        }
        self.n_edges += 1;
        let limits = &self.options.limits;
        if self.n_edges > limits.edges {
            let error = limits.passed(LimitKind::Edges, Place::default());
            return Err(Fault::new(error, HERE));
        }
        let fault = |error| Fault::new(from_engine(error), HERE);
        let subsystem = match &edge.subsystem {
            None => Graph::CONTAINMENT,
            Some(name) => subsystem_id(self.graph, name).map_err(fault)?,
        };
        let direction = self.direction(source, target, subsystem);
        if direction == Direction::Up {
            self.upward.push((source, target, subsystem));
            return Ok(());
        }
        let contained = subsystem == Graph::CONTAINMENT;
        self.may_have_cycle |= contained && direction == Direction::Unclear;
        let hanging = target
            .index()
            .checked_sub(self.base)
            .filter(|_| contained)
            .map(|new| &mut self.hanging[new]);
        let again = match hanging {
            Some(hanging @ Hanging::Loose) => {
                *hanging = match direction {
                    Direction::AsPath => Hanging::AsPath(source),
                    _ => Hanging::Elsewhere(source),
                };
                false
            }
            Some(&mut (Hanging::AsPath(first) | Hanging::Elsewhere(first))) if first == source => {
                true
            }
            _ => !self.more_edges.insert((source, target, subsystem)),
        };
        if again {
            let ends = format!("{} -> {}", edge.source, edge.target);
            return Err(duplicate("edge", &ends, HERE));
        }
        self.graph.add_edge(source, target, subsystem).map_err(fault)
    }

    fn free_ranks(&mut self, _: Idset) {}
}

fn duplicate(what: &'static str, name: &str, below: &'static [Step<'static>]) -> Fault {
    let (at, name) = (Place::default(), name.to_owned());
    Fault::new(Error::Duplicate { at, what, name }, below)
}

fn subsystem_id(graph: &mut Graph, name: &str) -> Result<SubsystemId, engine::Error> {
    if name == "containment" { Ok(Graph::CONTAINMENT) } else { graph.intern_subsystem(name) }
}

fn path_hash(path: &str, rank: i64) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(path.as_bytes());
    hasher.write_i64(rank);
    hasher.finish()
}

/// Returns whether `name` is the name of `vertex`.
fn is_name(graph: &Graph, vertex: VertexId, name: &str) -> bool {
    if let Some(own) = graph.own_name(vertex) {
        return own == name;
    }
    let Some(digits) = name.strip_prefix(graph.basename(vertex)) else {
        return false;
    };
    match graph.id(vertex) {
        -1 => digits.is_empty(),
        id => {
            let unsigned = digits.strip_prefix('-').unwrap_or(digits);
            (unsigned == "0" || unsigned.starts_with(|first| matches!(first, '1'..='9')))
                && digits.parse() == Ok(id)
        }
    }
}

pub(super) fn load(text: &str, options: &LoadOptions) -> Result<Graph, Error> {
    // A vertex and its edge rarely take less than 256 bytes of text.
    let mut graph = Graph::with_capacity((text.len() / 256).min(options.limits.vertices));
    attach(&mut graph, text, options)?;
    Ok(graph)
}

pub(super) fn attach(graph: &mut Graph, text: &str, options: &LoadOptions) -> Result<(), Error> {
    read_document(text, Loader::new(graph, options))?.finish()
}

// ---- resource sets -----------------------------------------------------------------------------

/// A resource set as the document has it.
#[derive(Default)]
struct Collector<'de> {
    vertices: Vec<RawVertex<'de>>,
    edges: Vec<RawEdge<'de>>,
    free_ranks: Option<Idset>,
}

impl<'de> Sink<'de> for Collector<'de> {
    fn vertex(&mut self, vertex: RawVertex<'de>) -> Result<(), Fault> {
        self.vertices.push(vertex);
        Ok(())
    }

    fn edge(&mut self, edge: RawEdge<'de>) -> Result<(), Fault> {
        self.edges.push(edge);
        Ok(())
    }

    fn free_ranks(&mut self, ranks: Idset) {
        self.free_ranks = Some(ranks);
    }
}

/// Ranks whose vertices are passed over.
#[derive(Debug)]
struct Skipped {
    free: Option<Idset>,
    /// Further ranks, which count only when the document has `free_ranks`.
    more: FxHashSet<i64>,
}

impl Skipped {
    fn contains(&self, rank: i64) -> bool {
        let Some(free) = &self.free else { return false };
        self.more.contains(&rank) || u64::try_from(rank).is_ok_and(|rank| free.contains(rank))
    }
}

/// Returns the vertex of the graph that `vertex` describes.
fn resolve(graph: &Graph, vertex: &Vertex<'_>) -> Result<VertexId, Fault> {
    let mut resolved = None;
    for (_, path) in &vertex.paths {
        let found = graph
            .find_path(path)
            .into_iter()
            .find(|&found| graph.rank(found) == vertex.rank)
            .ok_or_else(|| {
                let name = format!("{path} at rank {}", vertex.rank);
                let (at, what) = (Place::default(), "vertex");
                Fault::new(Error::NotInGraph { at, what, name }, PATHS)
            })?;
        if *resolved.get_or_insert(found) != found {
            return Err(differs(graph, found, "paths", "of its own", "of two vertices"));
        }
    }
    let Some(found) = resolved else {
        return Err(Fault::new(value("at least one path", &"none"), PATHS));
    };
    let kind = graph.type_name(graph.kind(found));
    if kind != vertex.kind {
        return Err(differs(graph, found, "type", kind, &vertex.kind));
    }
    if graph.basename(found) != vertex.basename() {
        return Err(differs(graph, found, "basename", graph.basename(found), vertex.basename()));
    }
    if graph.size(found) != vertex.size {
        let (ours, theirs) = (graph.size(found).to_string(), vertex.size.to_string());
        return Err(differs(graph, found, "size", &ours, &theirs));
    }
    if graph.id(found) != vertex.id {
        let (ours, theirs) = (graph.id(found).to_string(), vertex.id.to_string());
        return Err(differs(graph, found, "id", &ours, &theirs));
    }
    let same_name = match &vertex.name {
        Some(name) => is_name(graph, found, name),
        None => graph.own_name(found).is_none(),
    };
    if !same_name {
        let theirs = match &vertex.name {
            Some(name) => name.clone().into_owned(),
            None => format!("{}{}", vertex.basename(), vertex.id),
        };
        return Err(differs(graph, found, "name", &graph.name(found), &theirs));
    }
    for subsystem in graph.subsystems() {
        let name = graph.subsystem_name(subsystem);
        let given = vertex.paths.iter().find(|(key, _)| key == name).map(|(_, path)| &**path);
        if given.is_none() && !graph.is_member(found, subsystem) {
            continue;
        }
        let ours = graph.path(subsystem, found);
        if ours.as_deref() != given {
            let (ours, theirs) = (ours.unwrap_or_default(), given.unwrap_or_default());
            return Err(differs(graph, found, "path", &ours, theirs));
        }
    }
    for (subsystem, path) in &vertex.paths {
        if graph.subsystem_id(subsystem).is_none() {
            return Err(differs(graph, found, "path", "", path));
        }
    }
    Ok(found)
}

fn differs(graph: &Graph, vertex: VertexId, what: &'static str, ours: &str, theirs: &str) -> Fault {
    let error = Error::Differs {
        at: Place::default(),
        path: graph.path(Graph::CONTAINMENT, vertex).unwrap_or_else(|| graph.name(vertex)),
        what,
        graph: format!("`{ours}`"),
        given: format!("`{theirs}`"),
    };
    Fault::new(error, METADATA)
}

/// Appends what `vertex` contains, parents first.
fn contents(graph: &Graph, vertex: VertexId, out: &mut Vec<VertexId>) {
    let mut stack = graph.children(vertex, Graph::CONTAINMENT);
    stack.reverse();
    while let Some(vertex) = stack.pop() {
        out.push(vertex);
        stack.extend(graph.children(vertex, Graph::CONTAINMENT).into_iter().rev());
    }
}

/// A vertex of a resource set, found in the graph.
#[derive(Clone, Copy, Debug)]
struct Named {
    vertex: VertexId,
    size: u64,
    exclusive: bool,
}

/// The vertices that a resource set names.
struct Resolved<'de> {
    /// By id of the document.
    ids: IdMap<'de, Named>,
    /// In the order of the document, each once.
    vertices: Vec<Named>,
    /// Edges that the short form leaves out.
    implied_edges: Vec<BookedEdge>,
    edges: Vec<RawEdge<'de>>,
    skips: bool,
}

fn resolve_all<'de>(
    graph: &Graph,
    text: &'de str,
    shorthand: bool,
    gives_back: bool,
) -> Result<Resolved<'de>, Error> {
    let Collector { vertices, edges, free_ranks } = read_document(text, Collector::default())?;
    if vertices.is_empty() {
        return Err(Error::Empty("vertices"));
    }
    let skips = free_ranks.is_some();
    let mut skipped = Skipped { free: free_ranks, more: FxHashSet::default() };
    let mut resolved = Resolved {
        ids: IdMap::new(),
        vertices: Vec::with_capacity(vertices.len()),
        implied_edges: Vec::new(),
        edges,
        skips,
    };
    let mut seen: FxHashMap<VertexId, bool> = FxHashMap::default();
    let mut below = Vec::new();
    for (index, raw) in vertices.into_iter().enumerate() {
        let at = |fault: Fault| fault.at(text, "nodes", index);
        let vertex = Vertex::new(raw).map_err(at)?;
        if resolved.ids.get(&vertex.document_id).is_some() {
            return Err(at(duplicate("vertex id", &vertex.document_id, ID)));
        }
        let found = resolve(graph, &vertex).map_err(at)?;
        let named = Named { vertex: found, size: vertex.size, exclusive: vertex.exclusive };
        below.clear();
        if shorthand && vertex.exclusive {
            contents(graph, found, &mut below);
        }
        if !skipped.contains(vertex.rank) {
            resolved.ids.insert(vertex.document_id, named);
        }
        let implied =
            below.iter().map(|&vertex| Named { vertex, size: graph.size(vertex), exclusive: true });
        for named in std::iter::once(named).chain(implied) {
            let rank = graph.rank(named.vertex);
            if skipped.contains(rank) {
                continue;
            }
            match seen.insert(named.vertex, named.exclusive) {
                // A vertex that is only passed through may be named again.
                Some(false) if !named.exclusive && !gives_back => continue,
                Some(_) => {
                    let path = graph
                        .path(Graph::CONTAINMENT, named.vertex)
                        .unwrap_or_else(|| graph.name(named.vertex));
                    return Err(at(duplicate("vertex", &path, HERE)));
                }
                None => {}
            }
            if gives_back {
                // What is given back counts as free for what follows, if ranks are free at all.
                skipped.more.insert(rank);
            }
            resolved.vertices.push(named);
        }
        if !below.is_empty() {
            for source in std::iter::once(found).chain(below.iter().copied()) {
                for target in graph.children(source, Graph::CONTAINMENT) {
                    if seen.contains_key(&source) && seen.contains_key(&target) {
                        resolved.implied_edges.push(BookedEdge {
                            source,
                            target,
                            share: Share { needs: graph.size(target), exclusive: true },
                        });
                    }
                }
            }
        }
    }
    Ok(resolved)
}

pub(super) fn read_booking(graph: &Graph, text: &str, shorthand: bool) -> Result<Booking, Error> {
    let resolved = resolve_all(graph, text, shorthand, false)?;
    let is_root =
        |vertex| graph.subsystems().any(|subsystem| graph.root(subsystem) == Some(vertex));
    let mut booking = Booking {
        vertices: resolved
            .vertices
            .iter()
            .map(|named| BookedVertex { vertex: named.vertex, exclusive: named.exclusive })
            .collect(),
        edges: Vec::with_capacity(resolved.edges.len() + resolved.implied_edges.len()),
        roots: Vec::new(),
    };
    let mut reach = |vertex: VertexId, share: Share| {
        if is_root(vertex) && booking.roots.iter().all(|(known, _)| *known != vertex) {
            booking.roots.push((vertex, share));
        }
    };
    let mut edges: FxHashMap<(VertexId, VertexId), usize> = FxHashMap::default();
    for (index, edge) in resolved.edges.iter().enumerate() {
        let end = |id: &str, below: &'static [Step<'static>]| {
            resolved.ids.get(id).ok_or_else(|| {
                let (at, id) = (Place::default(), id.to_owned());
                Fault::new(Error::Dangling { at, id }, below)
            })
        };
        let (source, target) = match (end(&edge.source, SOURCE), end(&edge.target, TARGET)) {
            (Ok(source), Ok(target)) => (source, target),
            (Err(_), _) | (_, Err(_)) if resolved.skips => continue,
            (Err(fault), _) | (_, Err(fault)) => return Err(fault.at(text, "edges", index)),
        };
        if !has_edge(graph, source.vertex, target.vertex) {
            if has_edge(graph, target.vertex, source.vertex) {
                continue; // the way back, as in documents that write each edge twice
            }
            let error = Error::NotInGraph {
                at: Place::default(),
                what: "edge",
                name: format!("{} -> {}", edge.source, edge.target),
            };
            return Err(Fault::new(error, HERE).at(text, "edges", index));
        }
        let share = Share { needs: source.size, exclusive: source.exclusive };
        reach(source.vertex, share);
        let booked = BookedEdge {
            source: source.vertex,
            target: target.vertex,
            share: Share { needs: target.size, exclusive: target.exclusive },
        };
        if edges.insert((booked.source, booked.target), index).is_none() {
            booking.edges.push(booked);
        }
    }
    for edge in resolved.implied_edges {
        let share = Share { needs: graph.size(edge.source), exclusive: true };
        reach(edge.source, share);
        if edges.insert((edge.source, edge.target), 0).is_none() {
            booking.edges.push(edge);
        }
    }
    Ok(booking)
}

/// Returns whether an edge of any subsystem leads from `source` to `target`.
fn has_edge(graph: &Graph, source: VertexId, target: VertexId) -> bool {
    graph.parent(target, Graph::CONTAINMENT) == Some(source)
        || graph.out_edges(source).iter().any(|&(end, _)| end == target)
}

pub(super) fn read_release(graph: &Graph, text: &str, shorthand: bool) -> Result<Release, Error> {
    let resolved = resolve_all(graph, text, shorthand, true)?;
    Ok(Release::Vertices(resolved.vertices.iter().map(|named| named.vertex).collect()))
}

#[cfg(test)]
#[allow(clippy::format_push_string, reason = "tests read better so")]
mod tests {
    use super::super::describe::describe;
    use super::*;
    use crate::Limits;

    fn options() -> LoadOptions {
        LoadOptions::default()
    }

    /// A document of one-line vertices `ID TYPE PATH [METADATA]` and edges `SOURCE TARGET [METADATA]`.
    fn document(nodes: &[&str], edges: &[&str]) -> String {
        let nodes: Vec<String> = nodes
            .iter()
            .map(|node| {
                let mut words = node.splitn(4, ' ');
                let mut word = || words.next().unwrap_or("");
                let (id, kind, path, more) = (word(), word(), word(), word());
                let comma = if more.is_empty() { "" } else { ", " };
                format!(
                    r#"{{"id": "{id}", "metadata": {{"type": "{kind}", "paths": {{"containment": "{path}"}}{comma}{more}}}}}"#
                )
            })
            .collect();
        let edges: Vec<String> = edges
            .iter()
            .map(|edge| {
                let mut words = edge.splitn(3, ' ');
                let mut word = || words.next().unwrap_or("");
                let (source, target, more) = (word(), word(), word());
                let comma = if more.is_empty() { "" } else { ", " };
                format!(r#"{{"source": "{source}", "target": "{target}"{comma}{more}}}"#)
            })
            .collect();
        format!(
            "{{\"graph\": {{\"nodes\": [\n{}\n], \"edges\": [\n{}\n]}}}}",
            nodes.join(",\n"),
            edges.join(",\n")
        )
    }

    fn check(text: &str, expected: &str) {
        match load(text, &options()) {
            Ok(graph) => assert_eq!(describe(&graph).trim_end(), expected.trim()),
            Err(error) => assert_eq!(error.to_string(), expected.trim()),
        }
    }

    #[test]
    fn what_is_left_out_is_filled_in() {
        check(
            &document(
                &[
                    r#"7 cluster /fat "name": "fat""#,
                    r#"12abc node /fat/host0042 "name": "host0042", "rank": 3, "size": 2"#,
                    r#"13 node /fat/login "name": "login", "rank": 4, "status": 1"#,
                    r#"15 core /fat/login/core15 "properties": {"p": "v", "o": ""}"#,
                    r#"16 core /fat/login/cpu-1 "basename": "cpu", "id": -1, "uniq_id": 99"#,
                ],
                &["7 12abc", "7 13", "13 15", "13 16"],
            ),
            "
0: cluster fat id 7 uniq 7 /fat -> 1 2
1: node host0042 id 42 uniq 12 rank 3 size 2 /fat/host0042
2: node login id 13 uniq 13 rank 4 down /fat/login -> 3 4
3: core core15 id 15 uniq 15 o= p=v /fat/login/core15
4: core cpu-1 id -1 uniq 99 /fat/login/cpu-1",
        );
    }

    #[test]
    fn edges_may_come_first_and_keys_in_any_order() {
        check(
            r#"{"version": 1, "graph": {"directed": true,
                "edges": [{"metadata": {"name": {"containment": "contains"}},
                           "target": "1", "source": "0", "relation": "contains"}],
                "nodes": [{"metadata": {"paths": {"containment": "/c0"}, "more": [{}], "type": "c"}, "id": "0"},
                          {"id": "1", "metadata": {"type": "d", "paths": {"containment": "/c0/d\u0031"}}}]}}"#,
            "0: c c0 id 0 uniq 0 /c0 -> 1\n1: d d1 id 1 uniq 1 /c0/d1",
        );
    }

    #[test]
    fn paths_that_edges_do_not_tell_are_kept() {
        check(
            &document(
                &[
                    "0 c /c0",
                    "1 rack /elsewhere/rack1",
                    "2 node /elsewhere/rack1/node2",
                    "3 node /c0/rack9/node3",
                    "4 ssd /loose/ssd4",
                ],
                &["0 1", "1 2", "1 3"],
            ),
            "
0: c c0 id 0 uniq 0 /c0 -> 1
1: rack rack1 id 1 uniq 1 /elsewhere/rack1 -> 2 3
2: node node2 id 2 uniq 2 /elsewhere/rack1/node2
3: node node3 id 3 uniq 3 /c0/rack9/node3
4: ssd ssd4 id 4 uniq 4 /loose/ssd4",
        );
    }

    #[test]
    fn the_way_back_along_an_edge_is_no_cycle() {
        let back = r#""metadata": {"name": {"containment": "in"}}"#;
        check(
            &document(
                &["0 c /c0", "1 node /c0/node1", "2 core /c0/node1/core2"],
                &["0 1", &format!("1 0 {back}"), &format!("2 1 {back}"), "1 2"],
            ),
            "
0: c c0 id 0 uniq 0 /c0 -> 1
1: node node1 id 1 uniq 1 /c0/node1 -> 2
2: core core2 id 2 uniq 2 /c0/node1/core2",
        );
    }

    #[test]
    fn cycles_are_found() {
        let nodes = &["0 c /c0", "1 node /c0/node1", "2 core /c0/node1/core2"];
        check(
            &document(nodes, &["0 1", "1 2", "2 0"]),
            "cycle in subsystem `containment` through `c0`",
        );
        check(
            &document(nodes, &["0 1", "1 2", "2 2"]),
            "cycle in subsystem `containment` through `core2`",
        );
        check(
            &document(
                &["0 c /c0", "1 a /x/a1", "2 b /y/b2", "3 c /y/b2/c3"],
                &["0 1", "1 2", "2 1", "2 3"],
            ),
            "cycle in subsystem `containment` through `b2`",
        );
    }

    #[test]
    fn other_subsystems_have_paths_roots_and_cycles_of_their_own() {
        let both = |id: &str, kind: &str, containment: &str, power: &str| {
            format!(
                r#"{{"id": "{id}", "metadata": {{"type": "{kind}", "paths": {{"containment": "{containment}", "power": "{power}"}}}}}}"#
            )
        };
        let nodes = [
            both("0", "c", "/c0", "/p/q/c0"),
            both("1", "d", "/c0/d1", "/d1"),
            both("2", "e", "/c0/d1/e2", "/d1/e2"),
        ]
        .join(",");
        let power = r#""metadata": {"subsystem": "power"}"#;
        let edges = format!(
            r#"{{"source": "0", "target": "1"}}, {{"source": "1", "target": "2"}},
               {{"source": "1", "target": "2", {power}}}, {{"source": "2", "target": "1", {power}}}"#
        );
        check(
            &format!(r#"{{"graph": {{"nodes": [{nodes}], "edges": [{edges}]}}}}"#),
            "
0: c c0 id 0 uniq 0 /c0 /p/q/c0 -> 1
1: d d1 id 1 uniq 1 /c0/d1 /d1 -> 2 2(power)
2: e e2 id 2 uniq 2 /c0/d1/e2 /d1/e2",
        );
    }

    #[test]
    fn the_same_path_at_the_same_rank_is_the_same_vertex() {
        check(
            &document(
                &[
                    "0 c /c0",
                    r#"1 node /c0/node1 "rank": 0"#,
                    r#"2 node /c0/node1 "rank": 1, "id": 1"#,
                    r#"3 node /c0/node1 "rank": 0, "size": 5"#,
                ],
                &["0 1", "0 2"],
            ),
            "
0: c c0 id 0 uniq 0 /c0 -> 1 2
1: node node1 id 1 uniq 1 rank 0 /c0/node1
2: node node1 id 1 uniq 2 rank 1 /c0/node1",
        );
    }

    #[test]
    fn faults_are_told_with_their_place() {
        let cluster = "0 c /c0";
        let table: &[(String, &str)] = &[
            (
                document(&[cluster, "0 node /c0/node1"], &[]),
                "3:8 (/graph/nodes/1/id): vertex id `0` is given twice",
            ),
            (
                document(&[cluster, "1 node /c0/node1"], &["0 1", "0 1"]),
                "6:1 (/graph/edges/1): edge `0 -> 1` is given twice",
            ),
            (document(&[cluster], &["0 9"]), "4:27 (/graph/edges/0/target): no vertex with id `9`"),
            (
                document(&[cluster, r#"1 node /c0/n "size": -5"#], &[]),
                "3:85 (/graph/nodes/1/metadata/size): expected a size that is not negative, found -5",
            ),
            (
                document(&[cluster, r#"1 node /c0/n "size": 99999999999999999999"#], &[]),
                "3:85 (/graph/nodes/1/metadata/size): expected an integer of at most 63 bits, \
                 found floating point `1e+20`",
            ),
            (
                document(&[cluster, r#"1 node /c0/n "rank": 9999999999"#], &[]),
                "3:25 (/graph/nodes/1/metadata): expected as rank a 32-bit integer, \
                 found 9999999999",
            ),
            (
                document(&[cluster, r#"1 node /c0/n "rank": "0""#], &[]),
                "3:85 (/graph/nodes/1/metadata/rank): expected an integer of at most 63 bits, \
                 found string \"0\"",
            ),
            (
                document(&[cluster, r#"1 node /c0/n "status": 7"#], &[]),
                "3:87 (/graph/nodes/1/metadata/status): expected 0 for up or 1 for down, found 7",
            ),
            (
                document(&[cluster, r#"1 node /c0/n "properties": {"a": 1}"#], &[]),
                "3:97 (/graph/nodes/1/metadata/properties/a): expected a string, \
                 found integer `1`",
            ),
            (
                document(&[cluster, "1 c /c1"], &[]),
                "3:48 (/graph/nodes/1/metadata/paths): subsystem `containment` has two roots, \
                 `c0` and `c1`",
            ),
            (
                document(&["x node /x0"], &[]),
                "2:8 (/graph/nodes/0/id): expected a number, or `uniq_id` in the metadata, \
                 found `x`",
            ),
            (document(&["0 node /a/b"], &[]), "subsystem `containment` has no root"),
            (document(&[], &[]), "the document has no vertices"),
            (
                r#"{"graph": {"nodes": [{"id": "0", "metadata": {"paths": {}}}]}}"#.to_owned(),
                "1:46 (/graph/nodes/0/metadata): `type` is missing",
            ),
            (
                r#"{"graph": {"nodes": [{"id": "0", "metadata": {"type": "x"}}]}}"#.to_owned(),
                "1:46 (/graph/nodes/0/metadata): `paths` is missing",
            ),
            (
                r#"{"graph": {"nodes": [{"id": "0"}]}}"#.to_owned(),
                "1:22 (/graph/nodes/0): `metadata` is missing",
            ),
            (r#"{"graph": {"nodes": []}}"#.to_owned(), "1:11 (/graph): `edges` is missing"),
            (r#"{"graph": {"edges": []}}"#.to_owned(), "1:11 (/graph): `nodes` is missing"),
            (r#"{"version": 1}"#.to_owned(), "1:1: `graph` is missing"),
            ("[]".to_owned(), "1:1: expected a JGF document, found sequence"),
            (
                r#"{"graph": {"nodes": [{"id": "0","#.to_owned(),
                "1:32 (/graph/nodes/0): EOF while parsing a value",
            ),
            (r#"{"graph": {"nodes": [], "edges": []}} x"#.to_owned(), "1:39: trailing characters"),
            (String::new(), "1:0: EOF while parsing a value"),
        ];
        for (text, expected) in table {
            check(text, expected);
        }
    }

    #[test]
    fn limits_hold() {
        let text = document(&["0 c /c0", "1 d /c0/d1", "2 e /c0/e2"], &["0 1", "0 2"]);
        let limits = |vertices, edges| LoadOptions {
            limits: Limits { vertices, edges, ..Limits::default() },
            ..options()
        };
        assert!(load(&text, &limits(3, 2)).is_ok());
        assert_eq!(
            load(&text, &limits(2, 2)).unwrap_err().to_string(),
            "4:1 (/graph/nodes/2): more than 2 vertices (limit `graph.vertices`)"
        );
        assert_eq!(
            load(&text, &limits(3, 1)).unwrap_err().to_string(),
            "7:1 (/graph/edges/1): more than 1 edges (limit `graph.edges`)"
        );
    }

    #[test]
    fn ranks_and_cores_are_remapped() {
        let mut remap = super::super::Remap::new();
        remap.add_ranks(8, 9, 0).unwrap();
        remap.add_id(8, 9, "core", 20, 1).unwrap();
        let options = LoadOptions { remap: Some(remap), ..options() };
        let text = document(
            &[
                "0 c /c0",
                r#"1 node /c0/node1 "rank": 9"#,
                r#"2 core /c0/node1/core20 "rank": 9, "id": 20"#,
            ],
            &["0 1", "1 2"],
        );
        assert_eq!(
            describe(&load(&text, &options).unwrap()),
            "0: c c0 id 0 uniq 0 /c0 -> 1\n\
             1: node node1 id 1 uniq 1 rank 1 /c0/node1 -> 2\n\
             2: core core1 id 1 uniq 2 rank 1 /c0/node1/core1\n"
        );
        let text = text.replace("\"id\": 20", "\"id\": 21");
        let error = load(&text, &options).unwrap_err();
        assert_eq!(error.place().unwrap().pointer, "/graph/nodes/2/metadata/id");
    }

    fn small() -> Graph {
        load(
            &document(
                &[
                    "0 c /c0",
                    r#"1 node /c0/node1 "rank": 0"#,
                    r#"2 core /c0/node1/core2 "rank": 0"#,
                    r#"3 core /c0/node1/core3 "rank": 0"#,
                    r#"4 node /c0/node4 "rank": 1"#,
                    r#"5 core /c0/node4/core5 "rank": 1"#,
                ],
                &["0 1", "1 2", "1 3", "0 4", "4 5"],
            ),
            &options(),
        )
        .unwrap()
    }

    #[test]
    fn a_subgraph_is_attached() {
        let mut graph = small();
        let more = document(
            &[
                "10 c /c0",
                r#"11 node /c0/node4 "rank": 1, "size": 77"#,
                r#"12 gpu /c0/node4/gpu12 "rank": 1"#,
                r#"13 node /c0/node13 "rank": 2"#,
            ],
            &["10 11", "11 12", "10 13"],
        );
        attach(&mut graph, &more, &options()).unwrap();
        let described = describe(&graph);
        let added: Vec<&str> = described.lines().skip(6).collect();
        assert_eq!(
            added,
            [
                "6: gpu gpu12 id 12 uniq 12 rank 1 /c0/node4/gpu12",
                "7: node node13 id 13 uniq 13 rank 2 /c0/node13"
            ]
        );
        assert!(described.starts_with("0: c c0 id 0 uniq 0 /c0 -> 1 4 7\n"));
        assert!(described.contains("4: node node4 id 4 uniq 4 rank 1 /c0/node4 -> 5 6\n"));
        // All of it is there now.
        attach(&mut graph, &more, &options()).unwrap();
        assert_eq!(describe(&graph), described);
    }

    #[test]
    fn a_second_root_is_not_attached() {
        let mut graph = small();
        let error = attach(&mut graph, &document(&["0 cluster /d0"], &[]), &options()).unwrap_err();
        assert!(matches!(error, Error::TwoRoots { .. }), "{error}");
        let up = document(
            &["0 c /c0", r#"1 node /c0/node1 "rank": 0"#, "2 x /c0/node1/x2"],
            &["1 2", "2 0"],
        );
        let error = attach(&mut graph, &up, &options()).unwrap_err();
        assert!(matches!(error, Error::Cycle { .. }), "{error}");
    }

    fn named(graph: &Graph, path: &str) -> VertexId {
        graph.find_path(path)[0]
    }

    fn describe_booking(graph: &Graph, booking: &Booking) -> String {
        let mark = |exclusive| if exclusive { "x" } else { "s" };
        let mut out = String::new();
        for booked in &booking.vertices {
            out += &format!("{}:{} ", graph.name(booked.vertex), mark(booked.exclusive));
        }
        for edge in &booking.edges {
            let (source, target) = (graph.name(edge.source), graph.name(edge.target));
            let share = edge.share;
            out += &format!("{source}->{target}:{}{} ", share.needs, mark(share.exclusive));
        }
        if let Some((_, root)) = booking.roots.first() {
            out += &format!("root:{}{}", root.needs, mark(root.exclusive));
        }
        out.trim_end().to_owned()
    }

    fn check_booking(text: &str, shorthand: bool, expected: &str) {
        let graph = small();
        match read_booking(&graph, text, shorthand) {
            Ok(booking) => assert_eq!(describe_booking(&graph, &booking), expected),
            Err(error) => assert_eq!(error.to_string(), expected),
        }
    }

    const EXCLUSIVE: &str = r#", "exclusive": true"#;

    #[test]
    fn bookings_are_read() {
        let text = document(
            &[
                &format!(r#"2 core /c0/node1/core2 "rank": 0{EXCLUSIVE}"#),
                r#"1 node /c0/node1 "rank": 0"#,
                "0 c /c0",
            ],
            &["1 2", "0 1"],
        );
        let expected = "core2:x node1:s c0:s node1->core2:1x c0->node1:1s root:1s";
        check_booking(&text, false, expected);
        check_booking(&text, true, expected);
        // Without an edge from it, the root is not told to anybody.
        let text = document(&[&format!(r#"5 core /c0/node4/core5 "rank": 1{EXCLUSIVE}"#)], &[]);
        check_booking(&text, false, "core5:x");
    }

    #[test]
    fn the_short_form_holds_all_below() {
        let text =
            document(&[&format!(r#"1 node /c0/node1 "rank": 0{EXCLUSIVE}"#), "0 c /c0"], &["0 1"]);
        check_booking(&text, false, "node1:x c0:s c0->node1:1x root:1s");
        check_booking(
            &text,
            true,
            "node1:x core2:x core3:x c0:s c0->node1:1x node1->core2:1x node1->core3:1x root:1s",
        );
    }

    #[test]
    fn freed_ranks_are_passed_over() {
        let text = document(
            &[
                &format!(r#"2 core /c0/node1/core2 "rank": 0{EXCLUSIVE}"#),
                r#"1 node /c0/node1 "rank": 0"#,
                r#"4 node /c0/node4 "rank": 1"#,
                "0 c /c0",
            ],
            &["1 2", "0 1", "0 4"],
        );
        for free in ["\"0\"", "[0]", "0"] {
            let text = text.replacen('{', &format!("{{\"free_ranks\": {free}, "), 1);
            check_booking(&text, false, "node4:s c0:s c0->node4:1s root:1s");
        }
        // What is given back makes its rank free for what follows.
        let graph = small();
        let nodes = |release| match release {
            Release::Vertices(vertices) => vertices,
            Release::Ranks(_) => Vec::new(),
        };
        let text = text.replacen('{', "{\"free_ranks\": \"\", ", 1);
        assert_eq!(
            nodes(read_release(&graph, &text, false).unwrap()),
            ["/c0/node1/core2", "/c0/node4", "/c0"].map(|path| named(&graph, path))
        );
    }

    #[test]
    fn releases_list_vertices() {
        let graph = small();
        let text = document(
            &[
                &format!(r#"4 node /c0/node4 "rank": 1{EXCLUSIVE}"#),
                r#"2 core /c0/node1/core2 "rank": 0"#,
            ],
            &["no matter"],
        );
        let node = named(&graph, "/c0/node4");
        let cores = ["/c0/node4/core5", "/c0/node1/core2"].map(|path| named(&graph, path));
        assert_eq!(
            read_release(&graph, &text, false).unwrap(),
            Release::Vertices(vec![node, cores[1]])
        );
        assert_eq!(
            read_release(&graph, &text, true).unwrap(),
            Release::Vertices(vec![node, cores[0], cores[1]])
        );
    }

    #[test]
    fn resource_sets_that_do_not_fit_are_refused() {
        let core = |more: &str| document(&[&format!("2 core /c0/node1/core2 {more}")], &[]);
        let table: &[(String, &str)] = &[
            (
                core(r#""rank": 1"#),
                "2:51 (/graph/nodes/0/metadata/paths): vertex `/c0/node1/core2 at rank 1` \
                 is not in the resource graph",
            ),
            (
                core(r#""rank": 0, "id": 3"#),
                "2:25 (/graph/nodes/0/metadata): `/c0/node1/core2` has id `2` in the resource \
                 graph, `3` here",
            ),
            (
                core(r#""rank": 0, "size": 4"#),
                "2:25 (/graph/nodes/0/metadata): `/c0/node1/core2` has size `1` in the resource \
                 graph, `4` here",
            ),
            (
                core(r#""rank": 0, "name": "cpu2""#),
                "2:25 (/graph/nodes/0/metadata): `/c0/node1/core2` has name `core2` in the \
                 resource graph, `cpu2` here",
            ),
            (
                core(r#""rank": 0, "basename": "cpu""#),
                "2:25 (/graph/nodes/0/metadata): `/c0/node1/core2` has basename `core` in the \
                 resource graph, `cpu` here",
            ),
            (
                document(&[r#"2 gpu /c0/node1/core2 "rank": 0"#], &[]),
                "2:25 (/graph/nodes/0/metadata): `/c0/node1/core2` has type `core` in the \
                 resource graph, `gpu` here",
            ),
            (
                document(
                    &[
                        &format!(r#"2 core /c0/node1/core2 "rank": 0{EXCLUSIVE}"#),
                        &format!(r#"7 core /c0/node1/core2 "rank": 0, "id": 2{EXCLUSIVE}"#),
                    ],
                    &[],
                ),
                "3:1 (/graph/nodes/1): vertex `/c0/node1/core2` is given twice",
            ),
            (
                document(&["0 c /c0", r#"2 core /c0/node1/core2 "rank": 0"#], &["0 2"]),
                "5:1 (/graph/edges/0): edge `0 -> 2` is not in the resource graph",
            ),
            (
                document(&["0 c /c0"], &["0 2"]),
                "4:27 (/graph/edges/0/target): no vertex with id `2`",
            ),
            (document(&[], &[]), "the document has no vertices"),
            (
                r#"{"graph": {"nodes": [{"id": "0", "metadata": {"type": "c",
                 "paths": {"containment": "/c0", "power": "/c0"}}}], "edges": []}}"#
                    .to_owned(),
                "1:46 (/graph/nodes/0/metadata): `/c0` has path `` in the resource graph, \
                 `/c0` here",
            ),
        ];
        for (text, expected) in table {
            check_booking(text, false, expected);
        }
    }

    #[test]
    fn ids_of_all_kinds_are_found() {
        let mut ids = IdMap::new();
        let names = ["0", "7", "007", "", "x", "-1", "123456789", "1234567890", "4000"];
        for (value, name) in names.iter().enumerate() {
            assert_eq!(ids.get(name), None);
            ids.insert(Cow::Borrowed(*name), value);
        }
        for (value, name) in names.iter().enumerate() {
            assert_eq!(ids.get(name), Some(value), "{name}");
        }
        // An id that was beyond the table stays findable when the table has grown past it.
        for number in 0..4000_usize {
            let name = (10_000 + number).to_string();
            ids.insert(Cow::Owned(name), number);
        }
        assert_eq!(ids.get("10000"), Some(0));
        assert_eq!(ids.get("13999"), Some(3999));
    }
}
