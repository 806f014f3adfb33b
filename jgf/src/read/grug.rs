//! GRUG: a recipe in `GraphML` from which a resource graph is generated.
//!
//! A vertex of the recipe stands for a kind of resource, an edge says how many there are below
//! each resource of another kind. The recipe is walked depth first. At each edge into a vertex that
//! was not reached before, all resources of that vertex are made, so that the graph is numbered
//! level by level along each branch.

use std::collections::VecDeque;

use engine::{Graph, NewVertex, Status, SubsystemId, TypeId, VertexId};
use roxmltree::Node;
use rustc_hash::{FxHashMap, FxHashSet};

use super::topology::{check_cycles, give_paths};
use super::xml::{parse, place, value};
use super::{LoadOptions, jgf::from_engine};
use crate::{Error, LimitKind, Limits, Place};

/// How the resources below a resource are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// New ones are made below each resource of the source.
    Multiply,
    /// All there are of the type belong to each resource of the source.
    AssociateIn,
    /// As before, but only those that share the beginning of a path.
    AssociateByPathIn,
}

/// A vertex of the recipe.
#[derive(Debug)]
struct Kind<'a> {
    root: bool,
    type_name: &'a str,
    basename: &'a str,
    unit: &'a str,
    size: i64,
    subsystem: &'a str,
    place: Node<'a, 'a>,
    edges: Vec<Relation<'a>>,
}

/// An edge of the recipe.
#[derive(Debug)]
struct Relation<'a> {
    target: usize,
    subsystem: &'a str,
    method: Method,
    id_scope: i64,
    id_start: i64,
    id_stride: i64,
    scale: i64,
    as_target_subsystem: &'a str,
    as_target_uplevel: i64,
    as_source_uplevel: i64,
    place: Node<'a, 'a>,
}

#[derive(Debug)]
struct Recipe<'a> {
    kinds: Vec<Kind<'a>>,
}

/// An attribute of a vertex or an edge, and the value where none is given.
const VERTEX_ATTRIBUTES: [(&str, &str); 6] = [
    ("root", "0"),
    ("type", ""),
    ("basename", ""),
    ("unit", ""),
    ("size", "1"),
    ("subsystem", "containment"),
];
const EDGE_ATTRIBUTES: [(&str, &str); 9] = [
    ("e_subsystem", "containment"),
    ("gen_method", "MULTIPLY"),
    ("id_scope", "0"),
    ("id_start", "0"),
    ("id_stride", "1"),
    ("multi_scale", "1"),
    ("as_tgt_subsystem", "containment"),
    ("as_tgt_uplvl", "1"),
    ("as_src_uplvl", "1"),
];

/// The keys that a document declares, by id: the name of the attribute and its default.
struct Keys<'a> {
    vertex: FxHashMap<&'a str, (&'a str, Option<&'a str>)>,
    edge: FxHashMap<&'a str, (&'a str, Option<&'a str>)>,
}

impl<'a> Keys<'a> {
    fn read(graphml: Node<'a, 'a>) -> Result<Self, Error> {
        let mut keys = Self { vertex: FxHashMap::default(), edge: FxHashMap::default() };
        for key in children(graphml, "key") {
            let id = attribute(key, "id")?;
            let name = key.attribute("attr.name").unwrap_or(id);
            let default = children(key, "default").next().map(text);
            let scope = key.attribute("for").unwrap_or("all");
            if matches!(scope, "node" | "all") {
                keys.vertex.insert(id, (name, default));
            }
            if matches!(scope, "edge" | "all") {
                keys.edge.insert(id, (name, default));
            }
        }
        Ok(keys)
    }
}

/// The attributes of one vertex or edge of the recipe.
struct Attributes<'a, const N: usize> {
    names: &'static [(&'static str, &'static str); N],
    values: [&'a str; N],
    place: Node<'a, 'a>,
}

impl<'a, const N: usize> Attributes<'a, N> {
    fn read(
        names: &'static [(&'static str, &'static str); N],
        keys: &FxHashMap<&'a str, (&'a str, Option<&'a str>)>,
        element: Node<'a, 'a>,
    ) -> Result<Self, Error> {
        let mut values: [&'a str; N] = names.map(|(_, default)| default);
        let position = |name: &str| names.iter().position(|(known, _)| *known == name);
        for (known, slot) in names.iter().zip(&mut values) {
            // At most one key has this name in a sensible document; any order serves then.
            let declared = keys.get(known.0).filter(|(name, _)| *name == known.0);
            if let Some((_, Some(default))) = declared {
                *slot = default;
            }
        }
        for data in children(element, "data") {
            let key = attribute(data, "key")?;
            let Some((name, _)) = keys.get(key) else {
                return Err(value(data, "a key that is declared", &format!("`{key}`")));
            };
            if let Some(index) = position(name) {
                values[index] = text(data);
            }
        }
        Ok(Self { names, values, place: element })
    }

    fn text(&self, name: &str) -> &'a str {
        let index = self.names.iter().position(|(known, _)| *known == name);
        index.map_or("", |index| self.values[index])
    }

    fn integer(&self, name: &'static str) -> Result<i64, Error> {
        let found = self.text(name);
        found.parse().map_err(|_| Error::Value {
            at: place(self.place),
            expected: format!("an integer as {name}").into(),
            found: format!("`{found}`"),
        })
    }
}

fn children<'a>(parent: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    parent.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn text<'a>(element: Node<'a, 'a>) -> &'a str {
    element.text().unwrap_or("").trim()
}

fn attribute<'a>(element: Node<'a, 'a>, key: &'static str) -> Result<&'a str, Error> {
    element.attribute(key).ok_or_else(|| Error::Missing { at: place(element), key })
}

impl<'a> Recipe<'a> {
    fn read(root: Node<'a, 'a>) -> Result<Self, Error> {
        if root.tag_name().name() != "graphml" {
            let found = format!("`{}`", root.tag_name().name());
            return Err(value(root, "the element `graphml`", &found));
        }
        let keys = Keys::read(root)?;
        let graph = children(root, "graph")
            .next()
            .ok_or_else(|| Error::Missing { at: place(root), key: "graph" })?;
        let mut kinds: Vec<Kind<'a>> = Vec::new();
        let mut by_id: FxHashMap<&str, usize> = FxHashMap::default();
        for node in children(graph, "node") {
            let id = attribute(node, "id")?;
            if by_id.insert(id, kinds.len()).is_some() {
                return Err(Error::Duplicate {
                    at: place(node),
                    what: "node",
                    name: id.to_owned(),
                });
            }
            let attributes = Attributes::read(&VERTEX_ATTRIBUTES, &keys.vertex, node)?;
            kinds.push(Kind {
                root: attributes.integer("root")? != 0,
                type_name: attributes.text("type"),
                basename: attributes.text("basename"),
                unit: attributes.text("unit"),
                size: attributes.integer("size")?,
                subsystem: attributes.text("subsystem"),
                place: node,
                edges: Vec::new(),
            });
        }
        for edge in children(graph, "edge") {
            let end = |key| {
                let id = attribute(edge, key)?;
                by_id
                    .get(id)
                    .copied()
                    .ok_or_else(|| Error::Dangling { at: place(edge), id: id.to_owned() })
            };
            let (source, target) = (end("source")?, end("target")?);
            let attributes = Attributes::read(&EDGE_ATTRIBUTES, &keys.edge, edge)?;
            let method = match attributes.text("gen_method") {
                "MULTIPLY" => Method::Multiply,
                "ASSOCIATE_IN" => Method::AssociateIn,
                "ASSOCIATE_BY_PATH_IN" => Method::AssociateByPathIn,
                other => {
                    let expected = "MULTIPLY, ASSOCIATE_IN or ASSOCIATE_BY_PATH_IN as gen_method";
                    return Err(value(edge, expected, &format!("`{other}`")));
                }
            };
            let scale = attributes.integer("multi_scale")?;
            if method == Method::Multiply && scale < 0 {
                return Err(value(edge, "a multi_scale that is not negative", &scale));
            }
            kinds[source].edges.push(Relation {
                target,
                subsystem: attributes.text("e_subsystem"),
                method,
                id_scope: attributes.integer("id_scope")?,
                id_start: attributes.integer("id_start")?,
                id_stride: attributes.integer("id_stride")?,
                scale,
                as_target_subsystem: attributes.text("as_tgt_subsystem"),
                as_target_uplevel: attributes.integer("as_tgt_uplvl")?,
                as_source_uplevel: attributes.integer("as_src_uplvl")?,
                place: edge,
            });
        }
        Ok(Self { kinds })
    }

    /// Calls `reach` for each edge by which the walk reaches a vertex for the first time, and
    /// `leave` for each vertex after all that is reached from it.
    fn walk<C>(
        &self,
        limits: &Limits,
        context: &mut C,
        mut reach: impl FnMut(&mut C, usize, &Relation<'a>) -> Result<(), Error>,
        mut leave: impl FnMut(&mut C),
    ) -> Result<(), Error> {
        let mut reached = vec![false; self.kinds.len()];
        for start in 0..self.kinds.len() {
            if std::mem::replace(&mut reached[start], true) {
                continue;
            }
            let mut stack = vec![(start, 0)];
            loop {
                let depth = stack.len();
                let Some((source, next)) = stack.last_mut() else {
                    break;
                };
                match self.kinds[*source].edges.get(*next) {
                    None => {
                        leave(context);
                        stack.pop();
                    }
                    Some(relation) => {
                        *next += 1;
                        if !std::mem::replace(&mut reached[relation.target], true) {
                            if depth >= limits.depth {
                                let at = place(self.kinds[relation.target].place);
                                return Err(limits.passed(LimitKind::Depth, at));
                            }
                            reach(context, *source, relation)?;
                            stack.push((relation.target, 0));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns how many resources are made, which is known without making them.
    fn count(&self, limits: &Limits) -> Result<usize, Error> {
        struct Counter<'a> {
            /// Resources of each vertex of the recipe.
            of: Vec<u64>,
            roots: Vec<&'a str>,
            total: u64,
        }
        let mut counter = Counter { of: vec![0; self.kinds.len()], roots: Vec::new(), total: 0 };
        let limit = limits.vertices as u64;
        let too_many = |at| limits.passed(LimitKind::Vertices, place(at));
        self.walk(
            limits,
            &mut counter,
            |counter, source, relation| {
                let kind = &self.kinds[source];
                if kind.root && counter.of[source] == 0 {
                    counter.of[source] = 1;
                    if !counter.roots.contains(&kind.subsystem) {
                        counter.roots.push(kind.subsystem);
                        counter.total += 1;
                    }
                }
                counter.of[relation.target] = match relation.method {
                    Method::Multiply => {
                        let made = counter.of[source]
                            .checked_mul(relation.scale.unsigned_abs())
                            .ok_or_else(|| too_many(relation.place))?;
                        counter.total = counter
                            .total
                            .checked_add(made)
                            .filter(|&total| total <= limit)
                            .ok_or_else(|| too_many(relation.place))?;
                        made
                    }
                    // An upper bound is enough here: if vertices are made below these, the limit
                    // is looked at again when they are.
                    Method::AssociateIn | Method::AssociateByPathIn => 0,
                };
                Ok(())
            },
            |_| {},
        )?;
        usize::try_from(counter.total)
            .map_err(|_| limits.passed(LimitKind::Vertices, Place::default()))
    }
}

const NO_NAME: u32 = u32::MAX;

/// The path of a vertex at the moment when it was given: what it hangs on, and whose name it ends
/// with. A vertex may be given a new path in a subsystem after others were made from the old one.
#[derive(Clone, Copy, Debug)]
struct PathStep {
    above: u32,
    vertex: VertexId,
}

/// Paths that the edges of the graph may not tell: those of recipes that use several subsystems.
#[derive(Debug, Default)]
struct Paths {
    steps: Vec<PathStep>,
    /// By subsystem and vertex, an index into `steps`, [`NO_NAME`] for none.
    of: Vec<Vec<u32>>,
}

impl Paths {
    fn get(&self, subsystem: SubsystemId, vertex: VertexId) -> u32 {
        let column = self.of.get(subsystem.index());
        column.and_then(|column| column.get(vertex.index())).copied().unwrap_or(NO_NAME)
    }

    fn set(&mut self, subsystem: SubsystemId, vertex: VertexId, above: u32) {
        if self.of.len() <= subsystem.index() {
            self.of.resize(subsystem.index() + 1, Vec::new());
        }
        let column = &mut self.of[subsystem.index()];
        if column.len() <= vertex.index() {
            column.resize(vertex.index() + 1, NO_NAME);
        }
        column[vertex.index()] = u32::try_from(self.steps.len()).unwrap_or(NO_NAME);
        self.steps.push(PathStep { above, vertex });
    }

    /// Writes the path that ends with `step`; nothing for no path.
    fn write(&self, graph: &Graph, mut step: u32, out: &mut String) {
        let mut line = Vec::new();
        while let Some(&PathStep { above, vertex }) = self.steps.get(step as usize) {
            line.push(vertex);
            step = above;
        }
        for vertex in line.into_iter().rev() {
            out.push('/');
            graph.write_name(vertex, out);
        }
    }
}

struct Generator<'r, 'a> {
    recipe: &'r Recipe<'a>,
    limits: &'r Limits,
    graph: Graph,
    /// The resources of each vertex of the recipe.
    made: Vec<Vec<VertexId>>,
    /// The scales of the edges on the way down, innermost first.
    scales: VecDeque<i64>,
    next_rank: i64,
    by_type: Vec<Vec<VertexId>>,
    /// `None` where the edges tell all paths.
    paths: Option<Paths>,
    n_edges: usize,
}

impl<'a> Generator<'_, 'a> {
    fn subsystem(&mut self, name: &str, at: Node<'_, '_>) -> Result<SubsystemId, Error> {
        self.graph.intern_subsystem(name).map_err(|error| located(error, at))
    }

    /// Adds a resource of `kind`, of which `model` is one already.
    fn add_vertex(
        &mut self,
        kind: &Kind<'a>,
        type_id: TypeId,
        id: i64,
        model: Option<VertexId>,
    ) -> Result<VertexId, Error> {
        let at = kind.place;
        if self.graph.n_vertices() >= self.limits.vertices {
            return Err(self.limits.passed(LimitKind::Vertices, place(at)));
        }
        let rank = if type_id == Graph::NODE {
            self.next_rank += 1;
            self.next_rank - 1
        } else {
            -1
        };
        let uniq_id = i64::try_from(self.graph.n_vertices()).unwrap_or(i64::MAX);
        let added = if let Some(model) = model {
            self.graph.add_vertex_like(model, id, uniq_id, rank)
        } else {
            let size = u64::try_from(kind.size)
                .map_err(|_| value(at, "a size that is not negative", &kind.size))?;
            self.graph.add_vertex(&NewVertex {
                kind: type_id,
                basename: kind.basename,
                name: None,
                id,
                uniq_id,
                rank,
                size,
                unit: kind.unit,
                status: Status::Up,
            })
        };
        let added = added.map_err(|error| located(error, at))?;
        if self.paths.is_some() {
            if self.by_type.len() <= type_id.index() {
                self.by_type.resize(type_id.index() + 1, Vec::new());
            }
            self.by_type[type_id.index()].push(added);
        }
        Ok(added)
    }

    fn count_edge(&mut self, at: Node<'_, '_>) -> Result<(), Error> {
        self.n_edges += 1;
        if self.n_edges > self.limits.edges {
            return Err(self.limits.passed(LimitKind::Edges, place(at)));
        }
        Ok(())
    }

    fn make_root(&mut self, index: usize) -> Result<(), Error> {
        let kind = &self.recipe.kinds[index];
        if !kind.root || !self.made[index].is_empty() {
            return Ok(());
        }
        let at = kind.place;
        let subsystem = self.subsystem(kind.subsystem, at)?;
        let root = if let Some(root) = self.graph.root(subsystem) {
            root
        } else {
            let type_id = self.type_id(kind)?;
            let root = self.add_vertex(kind, type_id, 0, None)?;
            self.graph.set_root(subsystem, root).map_err(|error| located(error, at))?;
            if let Some(paths) = &mut self.paths {
                paths.set(subsystem, root, NO_NAME);
            }
            root
        };
        self.made[index].push(root);
        Ok(())
    }

    fn type_id(&mut self, kind: &Kind<'a>) -> Result<TypeId, Error> {
        if kind.type_name.is_empty() {
            return Err(value(kind.place, "a type", &"none"));
        }
        self.graph.intern_type(kind.type_name).map_err(|error| located(error, kind.place))
    }

    fn multiply(&mut self, source: usize, relation: &Relation<'a>) -> Result<(), Error> {
        let at = relation.place;
        let kind = &self.recipe.kinds[relation.target];
        let scale = relation.scale;
        let type_id = self.type_id(kind)?;
        let edge_subsystem = self.subsystem(relation.subsystem, at)?;
        let path_subsystem = self.subsystem(kind.subsystem, at)?;
        let out_of_range = || value(at, "ids of at most 63 bits", &"more");
        // Ids are counted within as many levels as the scope says.
        let mut wrap = 1_i64;
        for level in self.scales.iter().take(usize::try_from(relation.id_scope).unwrap_or(0)) {
            wrap = wrap.checked_mul(*level).ok_or_else(out_of_range)?;
        }
        let sources = std::mem::take(&mut self.made[source]);
        let mut targets = Vec::with_capacity(
            sources.len().saturating_mul(usize::try_from(scale).unwrap_or(0)).min(1 << 24),
        );
        for (nth, &above) in (0_i64..).zip(&sources) {
            let (start, stride) = match relation.id_scope {
                ..0 => (-1, 0),
                0 => (relation.id_start, 1),
                _ => {
                    let before = nth.checked_rem(wrap).unwrap_or(0);
                    let offset = before
                        .checked_mul(scale)
                        .and_then(|before| before.checked_mul(relation.id_stride))
                        .and_then(|before| before.checked_add(relation.id_start))
                        .ok_or_else(out_of_range)?;
                    (offset, relation.id_stride)
                }
            };
            for index in 0..scale {
                let id = index
                    .checked_mul(stride)
                    .and_then(|id| id.checked_add(start))
                    .ok_or_else(out_of_range)?;
                let target = self.add_vertex(kind, type_id, id, targets.last().copied())?;
                if let Some(paths) = &mut self.paths {
                    let step = paths.get(path_subsystem, above);
                    paths.set(path_subsystem, target, step);
                }
                self.count_edge(at)?;
                self.graph
                    .add_edge(above, target, edge_subsystem)
                    .map_err(|error| located(error, at))?;
                targets.push(target);
            }
        }
        self.made[source] = sources;
        self.made[relation.target] = targets;
        self.scales.push_front(scale);
        Ok(())
    }

    fn associate(&mut self, source: usize, relation: &Relation<'a>) -> Result<(), Error> {
        let at = relation.place;
        let kind = &self.recipe.kinds[relation.target];
        let type_id = self.type_id(kind)?;
        let subsystem = self.subsystem(relation.subsystem, at)?;
        let all = self.by_type.get(type_id.index()).cloned().unwrap_or_default();
        let path_subsystem = match relation.method {
            Method::AssociateByPathIn => Some(self.subsystem(relation.as_target_subsystem, at)?),
            _ => None,
        };
        // The targets with each beginning of a path, unless associating them changes these paths.
        let groups = path_subsystem
            .filter(|&of| of != subsystem)
            .map(|of| self.by_prefix(of, &all, relation.as_target_uplevel));
        let sources = std::mem::take(&mut self.made[source]);
        let mut reached = Vec::new();
        for &above in &sources {
            let prefix = path_subsystem.map(|of| {
                let prefix = self.prefix(of, above, relation.as_source_uplevel);
                (of, prefix)
            });
            let (targets, prefix) = match (&groups, prefix) {
                (Some(groups), Some((_, prefix))) => {
                    (groups.get(&prefix).map_or(&[][..], Vec::as_slice), None)
                }
                (_, prefix) => (&all[..], prefix),
            };
            let mut known: FxHashSet<VertexId> =
                self.graph.out_edges(above).into_iter().map(|(target, _)| target).collect();
            for &target in targets {
                self.count_edge(at)?;
                if let Some((of, prefix)) = &prefix
                    && self.prefix(*of, target, relation.as_target_uplevel) != *prefix
                {
                    continue;
                }
                if let Some(paths) = &mut self.paths {
                    let step = paths.get(subsystem, above);
                    paths.set(subsystem, target, step);
                }
                // Two resources have one edge, which is of the subsystem that came last.
                let added = if known.insert(target) {
                    self.graph.add_edge(above, target, subsystem)
                } else {
                    self.graph.add_or_retag_edge(above, target, subsystem)
                };
                added.map_err(|error| located(error, at))?;
                reached.push(target);
            }
        }
        self.made[source] = sources;
        self.made[relation.target] = reached;
        Ok(())
    }

    fn by_prefix(
        &self,
        subsystem: SubsystemId,
        vertices: &[VertexId],
        uplevel: i64,
    ) -> FxHashMap<String, Vec<VertexId>> {
        let mut groups: FxHashMap<String, Vec<VertexId>> = FxHashMap::default();
        for &vertex in vertices {
            let prefix = self.prefix(subsystem, vertex, uplevel);
            groups.entry(prefix).or_default().push(vertex);
        }
        groups
    }

    /// Returns the beginning of a path, without its last `uplevel` components; empty where the
    /// path has no more than these.
    fn prefix(&self, subsystem: SubsystemId, vertex: VertexId, uplevel: i64) -> String {
        let Some(paths) = &self.paths else {
            return String::new();
        };
        let mut path = String::new();
        paths.write(&self.graph, paths.get(subsystem, vertex), &mut path);
        let n_slashes = i64::try_from(path.matches('/').count()).unwrap_or(i64::MAX);
        if uplevel >= n_slashes {
            return String::new();
        }
        let wanted = n_slashes.saturating_sub(uplevel);
        if let Some((end, _)) =
            usize::try_from(wanted).ok().and_then(|wanted| path.match_indices('/').nth(wanted))
        {
            path.truncate(end + 1);
        }
        if !path.ends_with('/') {
            path.push('/');
        }
        path
    }

    /// Gives paths to the vertices whose edges tell another one.
    fn give_paths(&mut self) -> Result<(), Error> {
        let Some(paths) = self.paths.take() else {
            return Ok(());
        };
        let mut given: Vec<(u32, SubsystemId, VertexId)> = Vec::new();
        for (subsystem, column) in self.graph.subsystems().zip(&paths.of) {
            for (vertex, &step) in self.graph.vertices().zip(column) {
                let Some(found) = paths.steps.get(step as usize) else {
                    continue;
                };
                let told = match self.graph.parent(vertex, subsystem) {
                    None => self.graph.root(subsystem) == Some(vertex) && found.above == NO_NAME,
                    Some(parent) => {
                        found.above != NO_NAME && paths.get(subsystem, parent) == found.above
                    }
                };
                if !told {
                    given.push((step, subsystem, vertex));
                }
            }
        }
        let written = given.into_iter().map(|(step, subsystem, vertex)| {
            let mut path = String::new();
            paths.write(&self.graph, step, &mut path);
            (subsystem, vertex, path)
        });
        let written = written.collect();
        give_paths(&mut self.graph, written).map_err(from_engine)
    }
}

fn located(error: engine::Error, at: Node<'_, '_>) -> Error {
    let mut error = from_engine(error);
    if let Some(unplaced) = error.place_mut() {
        *unplaced = place(at);
    }
    error
}

/// Returns whether the paths of the resources follow from the edges between them: nothing is
/// associated, and every edge is of the subsystem of its ends.
fn is_plain(recipe: &Recipe<'_>) -> bool {
    recipe.kinds.iter().all(|kind| {
        kind.edges.iter().all(|relation| {
            let target = &recipe.kinds[relation.target];
            relation.method == Method::Multiply
                && relation.subsystem == kind.subsystem
                && relation.subsystem == target.subsystem
                && !target.root
        })
    })
}

pub(super) fn load(text: &str, options: &LoadOptions) -> Result<Graph, Error> {
    let limits = &options.limits;
    let document = parse(text, limits)?;
    let recipe = Recipe::read(document.root_element())?;
    let n_vertices = recipe.count(limits)?;
    let mut generator = Generator {
        recipe: &recipe,
        limits,
        graph: Graph::with_capacity(n_vertices),
        made: vec![Vec::new(); recipe.kinds.len()],
        scales: VecDeque::new(),
        next_rank: 0,
        by_type: Vec::new(),
        paths: (!is_plain(&recipe)).then(Paths::default),
        n_edges: 0,
    };
    recipe.walk(
        &options.limits,
        &mut generator,
        |generator, source, relation| {
            generator.make_root(source)?;
            match relation.method {
                Method::Multiply => generator.multiply(source, relation),
                Method::AssociateIn | Method::AssociateByPathIn => {
                    generator.associate(source, relation)
                }
            }
        },
        |generator| {
            generator.scales.pop_front();
        },
    )?;
    if generator.paths.is_some() {
        check_cycles(&generator.graph)?;
    }
    generator.give_paths()?;
    let graph = generator.graph;
    if graph.n_vertices() == 0 {
        return Err(Error::Empty("vertices"));
    }
    if graph.root(Graph::CONTAINMENT).is_none() {
        return Err(Error::NoRoot {
            subsystem: graph.subsystem_name(Graph::CONTAINMENT).to_owned(),
        });
    }
    Ok(graph)
}

#[cfg(test)]
#[allow(clippy::format_push_string, clippy::format_collect, reason = "tests read better so")]
mod tests {
    use super::super::describe::describe;
    use super::*;

    /// A recipe of vertices `ID KEY=VALUE ...` and edges `SOURCE TARGET KEY=VALUE ...`. The type
    /// and the basename of a vertex are its id unless given.
    fn recipe(nodes: &[&str], edges: &[&str]) -> String {
        let data = |words: &mut dyn Iterator<Item = &str>| -> String {
            words
                .filter_map(|word| word.split_once('='))
                .map(|(key, value)| format!("<data key=\"{key}\"> {value} </data>"))
                .collect()
        };
        let mut text = String::from("<?xml version=\"1.0\"?>\n<graphml xmlns=\"x\">\n");
        let keys = VERTEX_ATTRIBUTES.iter().map(|key| ("node", key));
        for (scope, (key, default)) in keys.chain(EDGE_ATTRIBUTES.iter().map(|key| ("edge", key))) {
            text += &format!(
                "<key id=\"{key}\" for=\"{scope}\" attr.name=\"{key}\" attr.type=\"string\">\
                 <default>{default}</default></key>"
            );
        }
        text += "\n<graph edgedefault=\"directed\">\n";
        for node in nodes {
            let mut words = node.split(' ');
            let id = words.next().unwrap();
            text += &format!(
                "<node id=\"{id}\"><data key=\"type\">{id}</data>\
                 <data key=\"basename\">{id}</data>{}</node>\n",
                data(&mut words)
            );
        }
        for edge in edges {
            let mut words = edge.split(' ');
            let (source, target) = (words.next().unwrap(), words.next().unwrap());
            text += &format!(
                "<edge source=\"{source}\" target=\"{target}\">{}</edge>\n",
                data(&mut words)
            );
        }
        text + "</graph></graphml>"
    }

    fn check(text: &str, expected: &str) {
        match load(text, &LoadOptions::default()) {
            Ok(graph) => assert_eq!(describe(&graph).trim_end(), expected.trim()),
            Err(error) => assert_eq!(error.to_string(), expected.trim()),
        }
    }

    #[test]
    fn levels_are_numbered_along_each_branch() {
        check(
            &recipe(
                &["c root=1", "node", "core", "mem size=8 unit=GB"],
                &[
                    "c node multi_scale=2",
                    "node core multi_scale=2 id_scope=1",
                    "node mem id_scope=9 id_start=5 id_stride=3",
                ],
            ),
            "
0: c c0 id 0 uniq 0 /c0 -> 1 2
1: node node0 id 0 uniq 1 rank 0 /c0/node0 -> 3 4 7
2: node node1 id 1 uniq 2 rank 1 /c0/node1 -> 5 6 8
3: core core0 id 0 uniq 3 /c0/node0/core0
4: core core1 id 1 uniq 4 /c0/node0/core1
5: core core2 id 2 uniq 5 /c0/node1/core2
6: core core3 id 3 uniq 6 /c0/node1/core3
7: mem mem5 id 5 uniq 7 size 8GB /c0/node0/mem5
8: mem mem8 id 8 uniq 8 size 8GB /c0/node1/mem8",
        );
    }

    #[test]
    fn scopes_say_where_ids_begin_again() {
        let ids = |scope: &str| {
            let text = recipe(
                &["c root=1", "rack", "chassis", "x"],
                &[
                    "c rack multi_scale=2",
                    "rack chassis multi_scale=2",
                    &format!("chassis x multi_scale=2 {scope}"),
                ],
            );
            let graph = load(&text, &LoadOptions::default()).unwrap();
            let ids = graph.vertices().skip(7).map(|vertex| graph.name(vertex));
            ids.map(|name| name.replace('x', "")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ids("id_scope=0"), "0 1 0 1 0 1 0 1");
        assert_eq!(ids("id_scope=0 id_start=3 id_stride=7"), "3 4 3 4 3 4 3 4");
        assert_eq!(ids("id_scope=1"), "0 1 2 3 0 1 2 3");
        assert_eq!(ids("id_scope=2"), "0 1 2 3 4 5 6 7");
        assert_eq!(ids("id_scope=2 id_start=1 id_stride=10"), "1 11 21 31 41 51 61 71");
        assert_eq!(ids("id_scope=-1"), "       ");
    }

    #[test]
    fn resources_are_associated() {
        check(
            &recipe(
                &[
                    "c root=1",
                    "rack",
                    "pdu",
                    "node",
                    "panel root=1 subsystem=power",
                    "p1 type=pdu subsystem=power",
                    "n1 type=node subsystem=power",
                    "watt subsystem=power size=10",
                ],
                &[
                    "c rack multi_scale=2",
                    "rack pdu id_scope=1",
                    "rack node id_scope=1",
                    "panel p1 gen_method=ASSOCIATE_IN e_subsystem=power",
                    "p1 n1 gen_method=ASSOCIATE_BY_PATH_IN e_subsystem=power",
                    "n1 watt e_subsystem=power",
                ],
            ),
            "
0: c c0 id 0 uniq 0 /c0 -> 1 2
1: rack rack0 id 0 uniq 1 /c0/rack0 -> 3 5
2: rack rack1 id 1 uniq 2 /c0/rack1 -> 4 6
3: pdu pdu0 id 0 uniq 3 /c0/rack0/pdu0 /panel0/pdu0 -> 5(power)
4: pdu pdu1 id 1 uniq 4 /c0/rack1/pdu1 /panel0/pdu1 -> 6(power)
5: node node0 id 0 uniq 5 rank 0 /c0/rack0/node0 /panel0/pdu0/node0 -> 8(power)
6: node node1 id 1 uniq 6 rank 1 /c0/rack1/node1 /panel0/pdu1/node1 -> 9(power)
7: panel panel0 id 0 uniq 7 /panel0 -> 3(power) 4(power)
8: watt watt0 id 0 uniq 8 size 10 /panel0/pdu0/node0/watt0
9: watt watt0 id 0 uniq 9 size 10 /panel0/pdu1/node1/watt0",
        );
    }

    #[test]
    fn a_path_given_later_does_not_change_those_made_from_it() {
        check(
            &recipe(
                &["c root=1", "a", "b", "x", "late type=a"],
                &["c a", "a x", "c b", "b late gen_method=ASSOCIATE_IN"],
            ),
            "
0: c c0 id 0 uniq 0 /c0 -> 1 3
1: a a0 id 0 uniq 1 /c0/b0/a0 -> 2
2: x x0 id 0 uniq 2 /c0/a0/x0
3: b b0 id 0 uniq 3 /c0/b0 -> 1",
        );
    }

    #[test]
    fn a_resource_cannot_contain_itself() {
        check(
            &recipe(&["c root=1", "a", "b type=a"], &["c a", "a b gen_method=ASSOCIATE_IN"]),
            "cycle in subsystem `containment` through `a0`",
        );
    }

    #[test]
    fn an_edge_into_a_vertex_that_was_reached_makes_nothing() {
        check(
            &recipe(&["c root=1", "a", "b"], &["c a", "a b", "c b multi_scale=5", "b a"]),
            "
0: c c0 id 0 uniq 0 /c0 -> 1
1: a a0 id 0 uniq 1 /c0/a0 -> 2
2: b b0 id 0 uniq 2 /c0/a0/b0",
        );
    }

    #[test]
    fn faults_are_told_with_their_place() {
        let table: &[(String, &str)] = &[
            (
                recipe(&["c root=1", "a"], &["c a", "c z"]),
                "8:1 (/graphml[1]/graph[1]/edge[2]): no vertex with id `z`",
            ),
            (
                recipe(&["c root=1", "c"], &[]),
                "6:1 (/graphml[1]/graph[1]/node[2]): node `c` is given twice",
            ),
            (
                recipe(&["c root=1", "a"], &["c a multi_scale=many"]),
                "7:1 (/graphml[1]/graph[1]/edge[1]): expected an integer as multi_scale, \
                 found `many`",
            ),
            (
                recipe(&["c root=1", "a"], &["c a multi_scale=-1"]),
                "7:1 (/graphml[1]/graph[1]/edge[1]): expected a multi_scale that is not \
                 negative, found -1",
            ),
            (
                recipe(&["c root=1", "a"], &["c a gen_method=DIVIDE"]),
                "7:1 (/graphml[1]/graph[1]/edge[1]): expected MULTIPLY, ASSOCIATE_IN or \
                 ASSOCIATE_BY_PATH_IN as gen_method, found `DIVIDE`",
            ),
            (
                recipe(&["c root=1", "a size=-3"], &["c a"]),
                "6:1 (/graphml[1]/graph[1]/node[2]): expected a size that is not negative, \
                 found -3",
            ),
            (
                recipe(&["c root=1", "a unknown=1"], &["c a"]),
                "6:68 (/graphml[1]/graph[1]/node[2]/data[3]): expected a key that is declared, \
                 found `unknown`",
            ),
            (recipe(&[], &[]), "the document has no vertices"),
            (recipe(&["c root=1"], &[]), "the document has no vertices"),
            (recipe(&["c", "a"], &["c a"]), "the document has no vertices"),
            (
                recipe(&["c root=1 subsystem=power", "a"], &["c a"]),
                "subsystem `containment` has no root",
            ),
            (
                "<topology/>".to_owned(),
                "1:1 (/topology[1]): expected the element `graphml`, found `topology`",
            ),
            ("<graphml/>".to_owned(), "1:1 (/graphml[1]): `graph` is missing"),
            ("<graphml>\n<graph".to_owned(), "2:7: the root node was opened but never closed"),
        ];
        for (text, expected) in table {
            check(text, expected);
        }
    }

    #[test]
    fn a_recipe_for_too_much_is_refused_before_anything_is_made() {
        let nodes = ["c root=1", "a", "b", "d", "e"];
        let many = "multi_scale=2147483647";
        let edges = [
            format!("c a {many}"),
            format!("a b {many}"),
            format!("b d {many}"),
            format!("d e {many}"),
        ];
        let edges: Vec<&str> = edges.iter().map(String::as_str).collect();
        check(
            &recipe(&nodes, &edges),
            "10:1 (/graphml[1]/graph[1]/edge[1]): more than 16777216 vertices (limit `graph.vertices`)",
        );
        check(
            &recipe(
                &["c root=1", "a"],
                &["c a multi_scale=9 id_scope=1 id_stride=9223372036854775807"],
            ),
            "7:1 (/graphml[1]/graph[1]/edge[1]): expected ids of at most 63 bits, found more",
        );
        let limits = Limits { edges: 1000, ..Limits::default() };
        let text = recipe(
            &["c root=1", "a", "b", "late type=a"],
            &["c a multi_scale=40", "c b multi_scale=40", "b late gen_method=ASSOCIATE_IN"],
        );
        let options = LoadOptions { limits, ..LoadOptions::default() };
        assert_eq!(
            load(&text, &options).unwrap_err().to_string(),
            "11:1 (/graphml[1]/graph[1]/edge[3]): more than 1000 edges (limit `graph.edges`)"
        );
    }
}
