//! The `execution` part of a resource set (RFC 20): ranks, their nodes, cores and gpus.
//!
//! A graph made from it is flat: a cluster, its nodes, and below each node what the rank has.

use std::borrow::Cow;

use engine::{
    BookedEdge, BookedVertex, Booking, Graph, NewVertex, Release, Share, Status, TypeId, VertexId,
};
use jobspec::{Hostlist, Idset};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::{DeserializeSeed as _, IgnoredAny};

use super::document::{Context, Integer, Text, array_seed, finish, object_seed};
use super::jgf::{from_engine, value};
use super::pointer::{Step, place};
use super::{LoadOptions, split_hostname};
use crate::{Error, LimitKind, Limits, Place};

// ---- the document ------------------------------------------------------------------------------

/// The children of a rank: for each type the ids.
type Children<'de> = Vec<(Cow<'de, str>, Idset)>;

/// An element of `R_lite`.
#[derive(Debug)]
struct Entry<'de> {
    ranks: Idset,
    children: Option<Children<'de>>,
}

#[derive(Debug, Default)]
struct Execution<'de> {
    entries: Option<Vec<Entry<'de>>>,
    nodelist: Option<Vec<Hostlist>>,
    properties: Vec<(Cow<'de, str>, Idset)>,
}

fn read_document(text: &str) -> Result<Execution<'_>, Error> {
    let mut context = Context::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result = DocumentSeed(&mut context)
        .deserialize(&mut deserializer)
        .and_then(|execution| deserializer.end().map(|()| execution));
    finish(text, &mut context, result)
}

struct DocumentSeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] DocumentSeed<'a, 'de> => Execution<'de>, "a resource set", |this, map| {
    let context = this.0;
    let mut version = None;
    let mut execution = None;
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        match &*key {
            "version" => {
                let Integer(number) = map.next_value()?;
                if number != 1 {
                    return Err(context.fail(value("version 1", &number)));
                }
                version = Some(number);
            }
            "execution" => execution = Some(map.next_value_seed(ExecutionSeed(context))?),
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        context.pointer.pop();
    }
    match (version, execution) {
        (None, _) => Err(context.missing("version")),
        (_, None) => Err(context.missing("execution")),
        (Some(_), Some(execution)) => Ok(execution),
    }
});

struct ExecutionSeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] ExecutionSeed<'a, 'de> => Execution<'de>, "an object", |this, map| {
    let context = this.0;
    let mut execution = Execution::default();
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        match &*key {
            "R_lite" => execution.entries = Some(map.next_value_seed(EntriesSeed(context))?),
            "nodelist" => execution.nodelist = Some(map.next_value_seed(NodelistSeed(context))?),
            "properties" => {
                execution.properties = map.next_value_seed(IdsetsSeed(context))?;
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        context.pointer.pop();
    }
    if execution.entries.is_none() {
        return Err(context.missing("R_lite"));
    }
    Ok(execution)
});

struct EntriesSeed<'a, 'de>(&'a mut Context<'de>);

array_seed!(['a] EntriesSeed<'a, 'de> => Vec<Entry<'de>>, "an array", |this, list| {
    let context = this.0;
    let mut entries = Vec::new();
    context.pointer.push(Step::Index(0));
    while let Some(entry) = list.next_element_seed(EntrySeed(context))? {
        entries.push(entry);
        context.pointer.pop();
        context.pointer.push(Step::Index(entries.len()));
    }
    context.pointer.pop();
    Ok(entries)
});

struct EntrySeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] EntrySeed<'a, 'de> => Entry<'de>, "an object with rank and children",
|this, map| {
    let context = this.0;
    let (mut ranks, mut children) = (None, None);
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        match &*key {
            "rank" => {
                let Text(text) = map.next_value()?;
                ranks = Some(idset(context, &text)?);
            }
            "children" => children = Some(map.next_value_seed(IdsetsSeed(context))?),
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        context.pointer.pop();
    }
    match ranks {
        Some(ranks) => Ok(Entry { ranks, children }),
        None => Err(context.missing("rank")),
    }
});

fn idset<E: serde::de::Error>(context: &mut Context<'_>, text: &str) -> Result<Idset, E> {
    Idset::decode(text)
        .ok()
        .filter(|ids| ids.last().is_none_or(|last| last < u64::from(u32::MAX)))
        .ok_or_else(|| context.fail(value("an idset such as \"0-3,7\"", &format_args!("`{text}`"))))
}

/// An object whose values are idsets.
struct IdsetsSeed<'a, 'de>(&'a mut Context<'de>);

object_seed!(['a] IdsetsSeed<'a, 'de> => Vec<(Cow<'de, str>, Idset)>, "an object of idsets",
|this, map| {
    let context = this.0;
    let mut idsets: Vec<(Cow<'de, str>, Idset)> = Vec::new();
    while let Some(Text(key)) = map.next_key()? {
        context.pointer.push_met(&key);
        let Text(text) = map.next_value()?;
        let ids = idset(context, &text)?;
        context.pointer.pop();
        idsets.push((key, ids));
    }
    Ok(idsets)
});

struct NodelistSeed<'a, 'de>(&'a mut Context<'de>);

array_seed!(['a] NodelistSeed<'a, 'de> => Vec<Hostlist>, "an array of hostlists", |this, list| {
    let context = this.0;
    let mut nodelist = Vec::new();
    context.pointer.push(Step::Index(0));
    while let Some(Text(text)) = list.next_element()? {
        let hosts = Hostlist::decode(&text).map_err(|_| {
            context.fail(value("a hostlist such as \"node[0-3,7]\"", &format_args!("`{text}`")))
        })?;
        nodelist.push(hosts);
        context.pointer.pop();
        context.pointer.push(Step::Index(nodelist.len()));
    }
    context.pointer.pop();
    Ok(nodelist)
});

// ---- ranks and their hosts ---------------------------------------------------------------------

/// The host of each rank: ranks in ascending order take hosts in the order of the list.
struct Hosts {
    names: Vec<String>,
    ranks: Idset,
}

impl Hosts {
    fn of(execution: &Execution<'_>, limits: &Limits) -> Result<Self, Error> {
        let ranks = all_ranks(execution);
        let n_ranks = usize::try_from(ranks.len()).ok().filter(|&n| n <= limits.vertices);
        let n_ranks = n_ranks.ok_or_else(|| too_many(limits))?;
        let nodelist = execution
            .nodelist
            .as_ref()
            .ok_or_else(|| Error::Missing { at: at_execution(), key: "nodelist" })?;
        // Hosts that no rank takes do not matter.
        let names = nodelist.iter().flat_map(Hostlist::iter).take(n_ranks);
        Ok(Self { names: names.collect(), ranks })
    }
}

/// Returns the ranks of all entries.
fn all_ranks(execution: &Execution<'_>) -> Idset {
    let entries = execution.entries.iter().flatten();
    entries.flat_map(|entry| entry.ranks.ranges()).collect()
}

fn at_execution() -> Place {
    Place { pointer: "/execution".to_owned(), ..Place::default() }
}

fn too_many(limits: &Limits) -> Error {
    limits.passed(LimitKind::Vertices, at_execution())
}

/// Calls `visit` for each rank of each entry with the index of the entry and the host of the rank.
fn for_each_rank<'a, 'de>(
    execution: &'a Execution<'de>,
    limits: &Limits,
    mut visit: impl FnMut(usize, i64, &str, &'a Children<'de>) -> Result<(), Error>,
) -> Result<(), Error> {
    let hosts = Hosts::of(execution, limits)?;
    let nth: FxHashMap<u64, usize> = hosts.ranks.iter().zip(0..).collect();
    for (index, entry) in execution.entries.iter().flatten().enumerate() {
        let children = entry
            .children
            .as_ref()
            .ok_or_else(|| Error::Missing { at: at_entry(index, ""), key: "children" })?;
        for rank in entry.ranks.iter() {
            let host = nth.get(&rank).and_then(|&nth| hosts.names.get(nth));
            let Some(host) = host.filter(|host| !host.is_empty()) else {
                let names = hosts.names.len();
                return Err(Error::Value {
                    at: Place { pointer: "/execution/nodelist".to_owned(), ..Place::default() },
                    expected: Cow::Owned(format!("a host for each of {} ranks", nth.len())),
                    found: format!("{names} hosts"),
                });
            };
            // Ranks are at most 32 bits wide here.
            visit(index, i64::try_from(rank).unwrap_or(i64::MAX), host, children)?;
        }
    }
    Ok(())
}

fn at_entry(index: usize, below: &str) -> Place {
    Place { pointer: format!("/execution/R_lite/{index}{below}"), ..Place::default() }
}

/// Fills in line and column of an error that knows its pointer.
fn locate(text: &str, mut error: Error) -> Error {
    if let Some(at) = error.place_mut()
        && at.line == 0
    {
        let pointer = std::mem::take(&mut at.pointer);
        let steps: Vec<Step<'_>> = pointer
            .split('/')
            .skip(1)
            .map(|step| step.parse().map_or(Step::Key(step), Step::Index))
            .collect();
        *at = place(text, &steps);
    }
    error
}

fn split_host(index: usize, host: &str) -> Result<(&str, i64), Error> {
    split_hostname(host).ok_or_else(|| Error::Value {
        at: at_entry(index, "/rank"),
        expected: Cow::Borrowed("a host name with a number of at most 63 bits"),
        found: format!("`{host}`"),
    })
}

// ---- loading -----------------------------------------------------------------------------------

pub(super) fn load(text: &str, options: &LoadOptions) -> Result<Graph, Error> {
    let execution = read_document(text)?;
    build(&execution, options).map_err(|error| locate(text, error))
}

/// Where an error of the graph is told to be.
fn at<T>(index: usize, result: Result<T, engine::Error>) -> Result<T, Error> {
    result.map_err(|error| {
        let mut error = from_engine(error);
        if let Some(place) = error.place_mut() {
            *place = at_entry(index, "");
        }
        error
    })
}

/// Returns how many vertices a document asks for, without looking at each.
fn count(execution: &Execution<'_>, limits: &Limits) -> Result<usize, Error> {
    let mut total = 1_u64;
    for entry in execution.entries.iter().flatten() {
        let mut per_rank = 1_u64;
        for (_, ids) in entry.children.iter().flatten() {
            per_rank = per_rank.saturating_add(ids.len());
        }
        total = total.saturating_add(per_rank.saturating_mul(entry.ranks.len()));
    }
    usize::try_from(total)
        .ok()
        .filter(|&total| total <= limits.vertices)
        .ok_or_else(|| too_many(limits))
}

fn vertex<'a>(graph: &Graph, kind: TypeId, basename: &'a str, id: i64, rank: i64) -> NewVertex<'a> {
    NewVertex {
        kind,
        basename,
        name: None,
        id,
        uniq_id: i64::try_from(graph.n_vertices()).unwrap_or(i64::MAX),
        rank,
        size: 1,
        unit: "",
        status: Status::Up,
    }
}

fn build(execution: &Execution<'_>, options: &LoadOptions) -> Result<Graph, Error> {
    let limits = &options.limits;
    let mut graph = Graph::with_capacity(count(execution, limits)?);
    let new = vertex(&graph, Graph::CLUSTER, "cluster", 0, -1);
    let cluster = at(0, graph.add_vertex(&new))?;
    at(0, graph.set_root(Graph::CONTAINMENT, cluster))?;
    let mut properties: FxHashMap<i64, Vec<&str>> = FxHashMap::default();
    let mut n_properties = 0_u64;
    for (property, ranks) in &execution.properties {
        n_properties = n_properties.saturating_add(ranks.len());
        if n_properties > limits.vertices as u64 * 64 {
            return Err(too_many(limits));
        }
        for rank in ranks.iter().filter_map(|rank| i64::try_from(rank).ok()) {
            properties.entry(rank).or_default().push(property);
        }
    }
    let give = |graph: &mut Graph, vertex, rank| -> Result<(), engine::Error> {
        for property in properties.get(&rank).into_iter().flatten() {
            graph.set_property(vertex, property, "")?;
        }
        Ok(())
    };
    let mut nodes: FxHashSet<(i64, String)> = FxHashSet::default();
    let mut siblings: FxHashSet<(TypeId, u64)> = FxHashSet::default();
    for_each_rank(execution, limits, |index, rank, host, children| {
        if !nodes.insert((rank, host.to_owned())) {
            return Err(Error::Duplicate {
                at: at_entry(index, "/rank"),
                what: "rank",
                name: rank.to_string(),
            });
        }
        let (basename, id) = split_host(index, host)?;
        let mut new = vertex(&graph, Graph::NODE, basename, id, rank);
        new.name = Some(host);
        let node = at(index, graph.add_vertex(&new))?;
        at(index, graph.add_edge(cluster, node, Graph::CONTAINMENT))?;
        at(index, give(&mut graph, node, rank))?;
        siblings.clear();
        for (kind, ids) in children {
            let type_id = at(index, graph.intern_type(kind))?;
            for id in ids.iter() {
                if !siblings.insert((type_id, id)) {
                    return Err(Error::Duplicate {
                        at: at_entry(index, "/children"),
                        what: "child",
                        name: format!("{kind}{id}"),
                    });
                }
                let id = i64::try_from(id).unwrap_or(i64::MAX);
                let new = vertex(&graph, type_id, kind, id, rank);
                let child = at(index, graph.add_vertex(&new))?;
                at(index, graph.add_edge(node, child, Graph::CONTAINMENT))?;
                if type_id == Graph::NODE {
                    at(index, give(&mut graph, child, rank))?;
                }
            }
        }
        Ok(())
    })?;
    Ok(graph)
}

// ---- resource sets -----------------------------------------------------------------------------

/// Returns the vertex that hangs at `path` and is what the document says.
fn find(graph: &Graph, path: &str, kind: Option<TypeId>, id: i64, rank: i64) -> Option<VertexId> {
    graph.find_path(path).into_iter().find(|&vertex| {
        Some(graph.kind(vertex)) == kind
            && graph.id(vertex) == id
            && graph.rank(vertex) == rank
            && graph.size(vertex) == 1
    })
}

pub(super) fn read_booking(graph: &Graph, text: &str, limits: &Limits) -> Result<Booking, Error> {
    let execution = read_document(text)?;
    book(graph, &execution, limits).map_err(|error| locate(text, error))
}

/// What a document says of one node.
struct Rank {
    node: VertexId,
    n_children: usize,
}

fn book(graph: &Graph, execution: &Execution<'_>, limits: &Limits) -> Result<Booking, Error> {
    count(execution, limits)?;
    let root = graph.root(Graph::CONTAINMENT).ok_or_else(|| Error::NoRoot {
        subsystem: graph.subsystem_name(Graph::CONTAINMENT).to_owned(),
    })?;
    let mut booking = Booking {
        vertices: Vec::new(),
        edges: Vec::new(),
        roots: vec![(root, Share { needs: graph.size(root), exclusive: false })],
    };
    let root_path = graph.path(Graph::CONTAINMENT, root).unwrap_or_default();
    let mut held: FxHashSet<VertexId> = FxHashSet::default();
    // By rank, and in the order of the document.
    let mut ranks: FxHashMap<i64, usize> = FxHashMap::default();
    let mut nodes: Vec<Rank> = Vec::new();
    for_each_rank(execution, limits, |index, rank, host, children| {
        let absent = |name: &str| Error::NotInGraph {
            at: at_entry(index, ""),
            what: "vertex",
            name: format!("{name} at rank {rank}"),
        };
        let edge = |source, target| -> Result<BookedEdge, Error> {
            // A vertex may have many children, so they come last.
            let joined = graph.parent(target, Graph::CONTAINMENT) == Some(source)
                || graph.out_edges(source).iter().any(|&(end, _)| end == target);
            if !joined {
                return Err(Error::NotInGraph {
                    at: at_entry(index, ""),
                    what: "edge",
                    name: format!("{} -> {}", graph.name(source), graph.name(target)),
                });
            }
            Ok(BookedEdge {
                source,
                target,
                share: Share { needs: graph.size(target), exclusive: true },
            })
        };
        let (_, id) = split_host(index, host)?;
        let path = format!("{root_path}/{host}");
        let node = find(graph, &path, Some(Graph::NODE), id, rank).ok_or_else(|| absent(&path))?;
        // A rank may be spread over several entries.
        let slot = *ranks.entry(rank).or_insert_with(|| {
            nodes.push(Rank { node, n_children: 0 });
            nodes.len() - 1
        });
        if nodes[slot].n_children == 0 {
            booking.edges.push(edge(root, node)?);
        }
        for (kind, ids) in children {
            for id in ids.iter() {
                let path = format!("{path}/{kind}{id}");
                let id = i64::try_from(id).unwrap_or(i64::MAX);
                let child = find(graph, &path, graph.type_id(kind), id, rank)
                    .ok_or_else(|| absent(&path))?;
                if !held.insert(child) {
                    return Err(Error::Duplicate {
                        at: at_entry(index, "/children"),
                        what: "vertex",
                        name: path,
                    });
                }
                booking.edges.push(edge(node, child)?);
                booking.vertices.push(BookedVertex { vertex: child, exclusive: true });
                nodes[slot].n_children += 1;
            }
        }
        if nodes[slot].n_children == 0 {
            return Err(Error::Value {
                at: at_entry(index, "/children"),
                expected: Cow::Borrowed("at least one child of the rank"),
                found: "none".to_owned(),
            });
        }
        Ok(())
    })?;
    // A node is held when all that its rank has is.
    let mut n_at_rank = vec![0_usize; nodes.len()];
    for vertex in graph.vertices() {
        let rank = graph.rank(vertex);
        if rank >= 0
            && let Some(&slot) = ranks.get(&rank)
            && (graph.parent(vertex, Graph::CONTAINMENT).is_some() || vertex == root)
        {
            n_at_rank[slot] += 1;
        }
    }
    for (rank, n_vertices) in nodes.iter().zip(n_at_rank) {
        booking
            .vertices
            .push(BookedVertex { vertex: rank.node, exclusive: rank.n_children + 1 == n_vertices });
    }
    Ok(booking)
}

pub(super) fn read_release(graph: &Graph, text: &str) -> Result<Release, Error> {
    let execution = read_document(text)?;
    let ranks = all_ranks(&execution);
    let ranks = ranks.iter().filter_map(|rank| i64::try_from(rank).ok());
    // Of more ranks than there are vertices, one of the first is unknown already.
    Ok(Release::Ranks(ranks.take(graph.n_vertices() + 1).collect()))
}

#[cfg(test)]
#[allow(clippy::format_push_string, reason = "tests read better so")]
mod tests {
    use super::super::describe::describe;
    use super::*;

    fn document(entries: &[(&str, &str)], nodelist: &str, more: &str) -> String {
        let entries: Vec<String> = entries
            .iter()
            .map(|(rank, children)| format!(r#"{{"rank": "{rank}", "children": {{{children}}}}}"#))
            .collect();
        format!(
            "{{\"version\": 1, \"execution\": {{\n\"R_lite\": [\n{}],\n\"nodelist\": {nodelist}{more}}}}}",
            entries.join(",\n")
        )
    }

    fn check(text: &str, expected: &str) {
        match load(text, &LoadOptions::default()) {
            Ok(graph) => assert_eq!(describe(&graph).trim_end(), expected.trim()),
            Err(error) => assert_eq!(error.to_string(), expected.trim()),
        }
    }

    #[test]
    fn ranks_become_nodes() {
        check(
            &document(
                &[("4", r#""core": "0-1", "gpu": "7""#), ("1-2", r#""core": "3""#)],
                r#"["fat[08-09]", "login"]"#,
                r#", "properties": {"big": "2,4", "old": "4", "absent": "77"}"#,
            ),
            "
0: cluster cluster0 id 0 uniq 0 /cluster0 -> 1 5 7
1: node login id -1 uniq 1 rank 4 big= old= /cluster0/login -> 2 3 4
2: core core0 id 0 uniq 2 rank 4 /cluster0/login/core0
3: core core1 id 1 uniq 3 rank 4 /cluster0/login/core1
4: gpu gpu7 id 7 uniq 4 rank 4 /cluster0/login/gpu7
5: node fat08 id 8 uniq 5 rank 1 /cluster0/fat08 -> 6
6: core core3 id 3 uniq 6 rank 1 /cluster0/fat08/core3
7: node fat09 id 9 uniq 7 rank 2 big= /cluster0/fat09 -> 8
8: core core3 id 3 uniq 8 rank 2 /cluster0/fat09/core3",
        );
    }

    #[test]
    fn faults_are_told_with_their_place() {
        let good = ("0", r#""core": "0""#);
        let table: &[(String, &str)] = &[
            (
                document(&[good, ("1", r#""core": "x""#)], r#"["n[0-1]"]"#, ""),
                "4:36 (/execution/R_lite/1/children/core): expected an idset such as \
                 \"0-3,7\", found `x`",
            ),
            (
                document(&[good, ("3-1", "")], r#"["n[0-1]"]"#, ""),
                "4:10 (/execution/R_lite/1/rank): expected an idset such as \"0-3,7\", \
                 found `3-1`",
            ),
            (
                document(&[good, ("1", "")], r#"["n0"]"#, ""),
                "5:13 (/execution/nodelist): expected a host for each of 2 ranks, found 1 hosts",
            ),
            (
                document(&[good], r#"["n0", "n[1"]"#, ""),
                "4:20 (/execution/nodelist/1): expected a hostlist such as \"node[0-3,7]\", \
                 found `n[1`",
            ),
            (
                document(&[good], r#""n0""#, ""),
                "4:13 (/execution/nodelist): expected an array of hostlists, \
                 found string \"n0\"",
            ),
            (
                document(&[good, good], r#"["n0"]"#, ""),
                "4:10 (/execution/R_lite/1/rank): rank `0` is given twice",
            ),
            (
                document(&[("0", r#""core": "0", "core": "0""#)], r#"["n0"]"#, ""),
                "3:27 (/execution/R_lite/0/children): child `core0` is given twice",
            ),
            (
                document(&[("0-4294967290", r#""core": "0""#)], r#"["n0"]"#, ""),
                "1:29 (/execution): more than 16777216 vertices (limit `graph.vertices`)",
            ),
            (
                document(&[("0", r#""core": "0-4294967290""#)], r#"["n0"]"#, ""),
                "1:29 (/execution): more than 16777216 vertices (limit `graph.vertices`)",
            ),
            (
                document(&[good], r#"["n99999999999999999999"]"#, ""),
                "3:10 (/execution/R_lite/0/rank): expected a host name with a number of at \
                 most 63 bits, found `n99999999999999999999`",
            ),
            (
                document(&[good], "[]", "").replacen('1', "2", 1),
                "1:13 (/version): expected version 1, found 2",
            ),
            (r#"{"execution": {"R_lite": []}}"#.to_owned(), "1:1: `version` is missing"),
            (r#"{"version": 1}"#.to_owned(), "1:1: `execution` is missing"),
            (
                r#"{"version": 1, "execution": {"nodelist": []}}"#.to_owned(),
                "1:29 (/execution): `R_lite` is missing",
            ),
            (
                r#"{"version": 1, "execution": {"R_lite": []}}"#.to_owned(),
                "1:29 (/execution): `nodelist` is missing",
            ),
            (
                r#"{"version": 1, "execution": {"R_lite": [{"rank": "0"}], "nodelist": ["a"]}}"#
                    .to_owned(),
                "1:41 (/execution/R_lite/0): `children` is missing",
            ),
            (r#"{"graph": {}}"#.to_owned(), "1:1: `version` is missing"),
            (
                r#"{"version": 1, "execution": {"R_lite": [{"#.to_owned(),
                "1:41 (/execution/R_lite/0): EOF while parsing an object",
            ),
        ];
        for (text, expected) in table {
            check(text, expected);
        }
    }

    fn small() -> Graph {
        let text = document(&[("0-1", r#""core": "0-1""#)], r#"["n[0-1]"]"#, "");
        load(&text, &LoadOptions::default()).unwrap()
    }

    fn check_booking(text: &str, expected: &str) {
        let graph = small();
        let described = match read_booking(&graph, text, &Limits::default()) {
            Ok(booking) => {
                let mark = |exclusive| if exclusive { "x" } else { "s" };
                let path = |vertex| graph.path(Graph::CONTAINMENT, vertex).unwrap_or_default();
                let mut out = String::new();
                for booked in booking.vertices {
                    out += &format!("{}:{} ", path(booked.vertex), mark(booked.exclusive));
                }
                out += &format!("edges {} ", booking.edges.len());
                assert!(booking.edges.iter().all(|edge| edge.share.exclusive));
                let (_, root) = booking.roots[0];
                out + &format!("root:{}{}", root.needs, mark(root.exclusive))
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(described, expected);
    }

    #[test]
    fn a_node_is_held_with_all_its_children() {
        check_booking(
            &document(&[("1", r#""core": "1""#)], r#"["n1"]"#, ""),
            "/cluster0/n1/core1:x /cluster0/n1:s edges 2 root:1s",
        );
        check_booking(
            &document(&[("1", r#""core": "0-1""#)], r#"["n1"]"#, ""),
            "/cluster0/n1/core0:x /cluster0/n1/core1:x /cluster0/n1:x edges 3 root:1s",
        );
        check_booking(
            &document(&[("1", r#""core": "1""#), ("1", r#""core": "0""#)], r#"["n1"]"#, ""),
            "/cluster0/n1/core1:x /cluster0/n1/core0:x /cluster0/n1:x edges 3 root:1s",
        );
    }

    #[test]
    fn resource_sets_that_do_not_fit_are_refused() {
        check_booking(
            &document(&[("1", r#""core": "2""#)], r#"["n1"]"#, ""),
            "3:1 (/execution/R_lite/0): vertex `/cluster0/n1/core2 at rank 1` is not in the \
             resource graph",
        );
        check_booking(
            &document(&[("1", r#""core": "1""#)], r#"["n0"]"#, ""),
            "3:1 (/execution/R_lite/0): vertex `/cluster0/n0 at rank 1` is not in the resource \
             graph",
        );
        check_booking(
            &document(&[("1", r#""core": "1""#), ("1", r#""core": "1""#)], r#"["n1"]"#, ""),
            "4:27 (/execution/R_lite/1/children): vertex `/cluster0/n1/core1` is given twice",
        );
        check_booking(
            &document(&[("1", "")], r#"["n1"]"#, ""),
            "3:27 (/execution/R_lite/0/children): expected at least one child of the rank, \
             found none",
        );
    }

    #[test]
    fn releases_list_ranks() {
        let text = r#"{"version": 1, "execution": {"R_lite": [{"rank": "4-5"}, {"rank": "1"}]}}"#;
        let graph = small();
        let read_release = |text| read_release(&graph, text);
        assert_eq!(read_release(text), Ok(Release::Ranks(vec![1, 4, 5])));
        let text = r#"{"version": 1, "execution": {"R_lite": [{"rank": "1-4294967290"}]}}"#;
        assert_eq!(read_release(text), Ok(Release::Ranks((1..=8).collect())));
        assert!(read_release(r#"{"version": 1, "execution": {"R_lite": [{}]}}"#).is_err());
    }
}
