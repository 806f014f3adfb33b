//! Ranks with their cores and gpus: the `R_lite` list of RFC 20 and what goes with it.

use std::collections::BTreeMap;
use std::ops::Range;

use engine::{Graph, VertexId};
use jobspec::{Hostlist, Idset};

use super::EmitError;
use super::text::{push_json_escaped, push_json_string, push_name, push_unsigned};

/// A node of the match.
#[derive(Clone, Debug)]
struct Host {
    rank: i64,
    /// Where in the arena its name is.
    name: Range<usize>,
}

/// Gathers the ids of cores and gpus until their node comes, then files the node under them.
#[derive(Clone, Debug, Default)]
pub(super) struct Rlite {
    cores: Vec<i64>,
    gpus: Vec<i64>,
    /// Nodes by what they have, which is the text of their `children`. The order of these texts is
    /// the order of the list.
    groups: BTreeMap<Box<str>, Vec<Host>>,
    /// Ranks by property.
    properties: BTreeMap<Box<str>, Vec<i64>>,
    /// The names of the nodes, one after the other.
    names: String,
    scratch: String,
}

impl Rlite {
    /// Returns whether no node was filed. Cores and gpus may still wait for theirs.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(super) fn vertex(&mut self, graph: &Graph, vertex: VertexId) -> Result<(), EmitError> {
        match graph.kind(vertex) {
            Graph::CORE => self.cores.push(graph.id(vertex)),
            Graph::GPU => self.gpus.push(graph.id(vertex)),
            Graph::NODE | Graph::STORAGE_NODE => self.node(graph, vertex)?,
            _ => {}
        }
        Ok(())
    }

    /// Files a node under the cores and gpus that came before it. A node without any is no part of
    /// the list.
    fn node(&mut self, graph: &Graph, vertex: VertexId) -> Result<(), EmitError> {
        if self.cores.is_empty() && self.gpus.is_empty() {
            return Ok(());
        }
        self.scratch.clear();
        self.scratch.push('{');
        for (kind, ids) in [("core", &mut self.cores), ("gpu", &mut self.gpus)] {
            if ids.is_empty() {
                continue;
            }
            let idset = idset(kind, ids.iter().copied())?;
            // What was written is gone even if the next kind cannot be, and what cannot be written
            // stays, as in Fluxion.
            ids.clear();
            if self.scratch.len() > 1 {
                self.scratch.push_str(", ");
            }
            push_json_string(kind, &mut self.scratch);
            self.scratch.push_str(": \"");
            push_idset(&idset, &mut self.scratch);
            self.scratch.push('"');
        }
        self.scratch.push('}');

        let rank = graph.rank(vertex);
        let start = self.names.len();
        push_name(graph, vertex, &mut self.names);
        let host = Host { rank, name: start..self.names.len() };
        push_to(&mut self.groups, &self.scratch, host);

        for (key, value) in graph.properties(vertex).into_iter().flatten() {
            self.scratch.clear();
            self.scratch.push_str(key);
            if !value.is_empty() {
                self.scratch.push('=');
                self.scratch.push_str(value);
            }
            push_to(&mut self.properties, &self.scratch, rank);
        }
        Ok(())
    }

    /// Appends the list.
    pub(super) fn write_list(&self, out: &mut String) -> Result<(), EmitError> {
        for (index, (children, hosts)) in self.groups.iter().enumerate() {
            let ranks = idset("rank", hosts.iter().map(|host| host.rank))?;
            out.push_str(if index == 0 { "[{\"rank\": \"" } else { ", {\"rank\": \"" });
            push_idset(&ranks, out);
            out.push_str("\", \"children\": ");
            out.push_str(children);
            out.push('}');
        }
        out.push(']');
        Ok(())
    }

    /// Appends `, "nodelist": […]` and, where there are some, `, "properties": {…}`.
    pub(super) fn write_rest(&self, out: &mut String) -> Result<(), EmitError> {
        let mut hosts: Vec<&Host> = self.groups.values().flatten().collect();
        hosts.sort_by_key(|host| host.rank);
        let mut list = Hostlist::new();
        for host in hosts {
            let name = &self.names[host.name.clone()];
            // A name with brackets stands for several hosts.
            list.decode_append(name).map_err(|_| EmitError::Hostname { name: name.to_owned() })?;
        }
        out.push_str(", \"nodelist\": [\"");
        push_json_escaped(&list.encode(), out);
        out.push_str("\"]");

        for (index, (property, ranks)) in self.properties.iter().enumerate() {
            let ranks = idset("rank", ranks.iter().copied())?;
            out.push_str(if index == 0 { ", \"properties\": {" } else { ", " });
            push_json_string(property, out);
            out.push_str(": \"");
            push_idset(&ranks, out);
            out.push('"');
        }
        if !self.properties.is_empty() {
            out.push('}');
        }
        Ok(())
    }

    /// Forgets the nodes, but not the cores and gpus that still wait for theirs.
    pub(super) fn clear_nodes(&mut self) {
        self.groups.clear();
        self.properties.clear();
        self.names.clear();
    }
}

/// Appends `value` to the values of `key`.
fn push_to<T>(map: &mut BTreeMap<Box<str>, Vec<T>>, key: &str, value: T) {
    if let Some(values) = map.get_mut(key) {
        values.push(value);
    } else {
        map.insert(key.into(), vec![value]);
    }
}

/// Returns the ids as a set. Sets end at 2^31 - 1, as in flux-core.
fn idset(what: &'static str, ids: impl Iterator<Item = i64>) -> Result<Idset, EmitError> {
    ids.map(|id| match u64::try_from(id) {
        Ok(member) if id <= i64::from(i32::MAX) => Ok(member),
        _ => Err(EmitError::Id { what, id }),
    })
    .collect()
}

/// Appends the text of a set (RFC 22).
fn push_idset(idset: &Idset, out: &mut String) {
    for (index, (low, high)) in idset.ranges().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_unsigned(low, out);
        if low < high {
            out.push('-');
            push_unsigned(high, out);
        }
    }
}
