//! A graph as a snapshot has it: in columns, with names by number.

use petgraph::stable_graph::StableDiGraph;
use serde::{Deserialize, Serialize};

use super::{Graph, Interner, Row, Status, WELL_KNOWN_TYPES, node, vertex_of};
use crate::snapshot::{column, fault};
use crate::{Error, SubsystemId, TypeId, VertexId};

/// All of a graph but its index of paths.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GraphImage<'a> {
    #[serde(borrow)]
    types: Vec<&'a str>,
    subsystems: Vec<&'a str>,
    basenames: Vec<&'a str>,
    units: Vec<&'a str>,
    // What every vertex has, by vertex.
    ids: Vec<i64>,
    uniq_ids: Vec<i64>,
    sizes: Vec<u64>,
    ranks: Vec<i32>,
    basename: Vec<u32>,
    kind: Vec<u16>,
    unit: Vec<u16>,
    down: Vec<bool>,
    // What few have.
    names: Vec<(u32, &'a str)>,
    properties: Vec<(u32, &'a str, &'a str)>,
    paths: Vec<(u32, u8, &'a str)>,
    roots: Vec<(u8, u32)>,
    // Edges in the order in which they were added.
    sources: Vec<u32>,
    targets: Vec<u32>,
    edge_subsystems: Vec<u8>,
}

impl Graph {
    /// Returns what [`Self::from_image`] needs. O(|V| + |E|).
    pub(crate) fn image(&self) -> GraphImage<'_> {
        let names = self.vertices().filter_map(|vertex| Some((vertex.0, self.own_name(vertex)?)));
        let properties =
            self.vertices().filter_map(|vertex| Some((vertex, self.properties(vertex)?)));
        let properties = properties.flat_map(|(vertex, properties)| {
            properties.iter().map(move |(key, value)| (vertex.0, &**key, &**value))
        });
        let given = self.given_paths.iter();
        let mut paths: Vec<_> =
            given.map(|(&(vertex, subsystem), path)| (vertex.0, subsystem.0, &**path)).collect();
        paths.sort_unstable();
        let column =
            |edge: fn(&(_, _, SubsystemId)) -> u32| self.edges().map(|e| edge(&e)).collect();
        GraphImage {
            types: self.types.names().collect(),
            subsystems: self.subsystems.names().collect(),
            basenames: self.basenames.names().collect(),
            units: self.units.names().collect(),
            ids: self.rows.iter().map(|row| row.id).collect(),
            uniq_ids: self.rows.iter().map(|row| row.uniq_id).collect(),
            sizes: self.rows.iter().map(|row| row.size).collect(),
            ranks: self.rows.iter().map(|row| row.rank).collect(),
            basename: self.rows.iter().map(|row| row.basename).collect(),
            kind: self.rows.iter().map(|row| row.kind.0).collect(),
            unit: self.rows.iter().map(|row| row.unit).collect(),
            down: self.rows.iter().map(|row| row.status == Status::Down).collect(),
            names: names.collect(),
            properties: properties.collect(),
            paths,
            roots: self.roots.iter().map(|(subsystem, root)| (subsystem.0, root.0)).collect(),
            sources: column(|edge| vertex_of(edge.0).0),
            targets: column(|edge| vertex_of(edge.1).0),
            edge_subsystems: self.edges().map(|edge| edge.2.0).collect(),
        }
    }

    /// Makes a graph of its image.
    ///
    /// # Errors
    ///
    /// [`Error::Snapshot`] for an image that no graph has.
    pub(crate) fn from_image(image: &GraphImage<'_>) -> Result<Self, Error> {
        let types = interner("types", &image.types, TypeId::LIMIT)?;
        let well_known = image.types.iter().take(WELL_KNOWN_TYPES.len());
        if !well_known.eq(WELL_KNOWN_TYPES.iter()) {
            return Err(fault("types", "the types that every graph has are not the first"));
        }
        let subsystems = interner("subsystems", &image.subsystems, SubsystemId::LIMIT)?;
        if subsystems.get("containment") != Some(0) {
            return Err(fault("subsystems", "containment is not the first"));
        }
        let basenames = interner("basenames", &image.basenames, VertexId::LIMIT)?;
        let units = interner("units", &image.units, u16::MAX as usize)?;

        let n = image.ids.len();
        if n > VertexId::LIMIT {
            return Err(fault("vertices", "there are too many"));
        }
        column("uniq_ids", image.uniq_ids.len(), n)?;
        column("sizes", image.sizes.len(), n)?;
        column("ranks", image.ranks.len(), n)?;
        column("basename", image.basename.len(), n)?;
        column("kind", image.kind.len(), n)?;
        column("unit", image.unit.len(), n)?;
        column("down", image.down.len(), n)?;
        let mut topology = StableDiGraph::with_capacity(n, image.sources.len());
        let mut rows = Vec::with_capacity(n);
        for i in 0..n {
            let row = Row {
                id: image.ids[i],
                uniq_id: image.uniq_ids[i],
                size: image.sizes[i],
                rank: image.ranks[i],
                basename: image.basename[i],
                kind: TypeId(image.kind[i]),
                unit: image.unit[i],
                status: if image.down[i] { Status::Down } else { Status::Up },
            };
            let known = (row.basename as usize) < basenames.len()
                && row.kind.index() < types.len()
                && usize::from(row.unit) < units.len();
            if !known || row.size > i64::MAX as u64 {
                return Err(fault(format_args!("vertex {i}"), "a number is out of range"));
            }
            rows.push(row);
            topology.add_node(());
        }

        let vertex = |what: &str, vertex: u32| {
            let known = (vertex as usize) < n;
            known
                .then_some(VertexId(vertex))
                .ok_or_else(|| fault(what, format_args!("no vertex {vertex}")))
        };
        let subsystem = |what: &str, subsystem: u8| {
            let known = usize::from(subsystem) < subsystems.len();
            let unknown = || fault(what, format_args!("no subsystem {subsystem}"));
            known.then_some(SubsystemId(subsystem)).ok_or_else(unknown)
        };
        column("targets", image.targets.len(), image.sources.len())?;
        column("edge_subsystems", image.edge_subsystems.len(), image.sources.len())?;
        for (i, &source) in image.sources.iter().enumerate() {
            let source = vertex("sources", source)?;
            let target = vertex("targets", image.targets[i])?;
            let tag = subsystem("edge_subsystems", image.edge_subsystems[i])?;
            topology.add_edge(node(source), node(target), tag);
        }
        let mut graph = Self {
            n_edges: topology.edge_count(),
            topology,
            rows,
            types,
            basenames,
            units,
            ..Self::new()
        };
        for &(owner, name) in &image.names {
            graph.names.insert(vertex("names", owner)?, name.into());
        }
        for &(owner, key, value) in &image.properties {
            graph.set_property(vertex("properties", owner)?, key, value)?;
        }
        for &(owner, tag, path) in &image.paths {
            let key = (vertex("paths", owner)?, subsystem("paths", tag)?);
            graph.given_paths.insert(key, path.into());
        }
        for &(tag, root) in &image.roots {
            graph.roots.insert(subsystem("roots", tag)?, vertex("roots", root)?);
        }
        graph.subsystems = subsystems;
        Ok(graph)
    }
}

fn interner(what: &str, names: &[&str], limit: usize) -> Result<Interner, Error> {
    let mut interner = Interner::default();
    for (i, name) in names.iter().enumerate() {
        if interner.intern(name, limit).is_none_or(|number| number as usize != i) {
            return Err(fault(what, format_args!("`{name}` is there twice, or one too many")));
        }
    }
    Ok(interner)
}
