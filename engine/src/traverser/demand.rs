//! What a jobspec demands of a graph.

use jobspec::{Constraint, Count, Jobspec, Resource};
use smallvec::SmallVec;

use crate::filter::Filters;
use crate::{Error, Graph, TypeId, VertexId};

/// How much of each tracked type something needs below it.
pub(crate) type Needs = SmallVec<[(TypeId, i64); 4]>;

/// One resource of a jobspec, with its type resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// A number of its own within the demand.
    pub(crate) id: u32,
    pub(crate) kind: TypeId,
    pub(crate) count: Count,
    /// The largest count it can take.
    pub(crate) most: u32,
    pub(crate) exclusive: Option<bool>,
    pub(crate) label: Option<Box<str>>,
    pub(crate) with: Vec<Request>,
    /// What one of it needs below it, at least.
    pub(crate) needs: Needs,
}

/// A jobspec's resources, compiled for a graph and its filters.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub(crate) resources: Vec<Request>,
    /// What the whole needs, at least.
    pub(crate) needs: Needs,
    /// Types that the jobspec wants exclusively.
    pub(crate) exclusive_types: Vec<TypeId>,
    pub(crate) has_labels: bool,
    /// Whether something must explicitly not be exclusive.
    pub(crate) shares: bool,
}

/// How the needs of slots side by side add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slots {
    /// All of them are wanted.
    All,
    /// One of them will do, so only what the least demanding one needs is sure.
    Any,
}

impl Demand {
    /// Compiles the resources of `jobspec`.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] for a type that the graph does not know.
    pub(crate) fn compile(
        jobspec: &Jobspec,
        graph: &Graph,
        filters: &Filters,
        slots: Slots,
    ) -> Result<Self, Error> {
        let mut compiler = Compiler {
            graph,
            filters,
            slots,
            exclusive_types: Vec::new(),
            has_labels: false,
            shares: false,
            n_requests: 0,
        };
        let mut needs = Needs::new();
        let resources = compiler.requests(&jobspec.resources, &mut needs)?;
        let Compiler { exclusive_types, has_labels, shares, .. } = compiler;
        Ok(Self { resources, needs, exclusive_types, has_labels, shares })
    }
}

struct Compiler<'a> {
    graph: &'a Graph,
    filters: &'a Filters,
    slots: Slots,
    exclusive_types: Vec<TypeId>,
    has_labels: bool,
    shares: bool,
    n_requests: u32,
}

impl Compiler<'_> {
    fn requests(
        &mut self,
        resources: &[Resource],
        to_parent: &mut Needs,
    ) -> Result<Vec<Request>, Error> {
        let mut requests = Vec::with_capacity(resources.len());
        for resource in resources {
            let kind = self.graph.type_id(&resource.kind).ok_or_else(|| {
                Error::Request(format!("resource type `{}` is unknown to the graph", resource.kind))
            })?;
            if resource.exclusive == Some(true) && !self.exclusive_types.contains(&kind) {
                self.exclusive_types.push(kind);
            }
            self.shares |= resource.exclusive == Some(false);
            let is_slot = kind == Graph::SLOT || kind == Graph::XOR_SLOT;
            self.has_labels |= resource.label.is_some() && !is_slot;
            let min = i64::from(resource.count.min);
            self.accumulate(kind, min, to_parent);
            let mut needs = Needs::new();
            let with = self.requests(&resource.with, &mut needs)?;
            if is_slot && self.slots == Slots::Any {
                for &(below, amount) in &needs {
                    lower(to_parent, below, min.saturating_mul(amount));
                }
                for entry in to_parent.iter_mut() {
                    if !needs.iter().any(|(below, _)| *below == entry.0) {
                        entry.1 = entry.1.min(0);
                    }
                }
            } else {
                for &(below, amount) in &needs {
                    self.accumulate(below, min.saturating_mul(amount), to_parent);
                }
            }
            self.n_requests += 1;
            requests.push(Request {
                id: self.n_requests,
                kind,
                count: resource.count.clone(),
                most: resource.count.largest_at_most(u32::MAX),
                exclusive: resource.exclusive,
                label: resource.label.as_deref().map(Into::into),
                with,
                needs,
            });
        }
        Ok(requests)
    }

    fn accumulate(&self, kind: TypeId, amount: i64, needs: &mut Needs) {
        if !self.filters.tracks(kind) {
            return;
        }
        match needs.iter_mut().find(|entry| entry.0 == kind) {
            Some(entry) => entry.1 = entry.1.saturating_add(amount),
            None => needs.push((kind, amount)),
        }
    }
}

fn lower(needs: &mut Needs, kind: TypeId, amount: i64) {
    match needs.iter_mut().find(|entry| entry.0 == kind) {
        Some(entry) => entry.1 = entry.1.min(amount),
        None => needs.push((kind, amount)),
    }
}

/// Returns how much of `kind` is needed.
pub(crate) fn need(needs: &Needs, kind: TypeId) -> i64 {
    needs.iter().find(|entry| entry.0 == kind).map_or(0, |entry| entry.1)
}

/// Returns whether a node satisfies a constraint (RFC 31). As in Fluxion, `or` of nothing is false
/// and `not` negates the conjunction of its operands.
pub(crate) fn satisfies(graph: &Graph, vertex: VertexId, constraint: &Constraint) -> bool {
    match constraint {
        Constraint::Any => true,
        Constraint::Properties(properties) => properties.iter().all(|property| {
            let known = graph.properties(vertex);
            known.is_some_and(|known| known.contains_key(property.name.as_str()))
                != property.negated
        }),
        Constraint::Hostlist(hosts) => hosts.contains(&graph.name(vertex)),
        Constraint::Ranks(ranks) => {
            u64::try_from(graph.rank(vertex)).is_ok_and(|rank| ranks.contains(rank))
        }
        Constraint::And(all) => all.iter().all(|one| satisfies(graph, vertex, one)),
        Constraint::Or(any) => any.iter().any(|one| satisfies(graph, vertex, one)),
        Constraint::Not(all) => !all.iter().all(|one| satisfies(graph, vertex, one)),
        #[allow(unreachable_patterns, reason = "constraints may gain operators")]
        _ => false,
    }
}
