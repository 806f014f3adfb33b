//! Requests.

use std::collections::BTreeSet;
use std::fmt;

use jobspec::{Dialect, Jobspec};
use quickcheck::{Arbitrary, Gen};

use crate::graph::PROPERTIES;
use crate::{GraphRecipe, below, one_in, pick};

/// How many of a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    /// The smallest acceptable count.
    pub min: u32,
    /// The largest, and the operator and operand that lead from one count to the next.
    pub range: Option<(u32, char, u32)>,
}

/// A requested resource.
#[derive(Clone, PartialEq, Eq)]
pub struct ResourceRequest {
    /// The type, such as `node` or `slot`.
    pub kind: &'static str,
    /// How many.
    pub count: Amount,
    /// Whether the job wants it for itself, where the jobspec says.
    pub exclusive: Option<bool>,
    /// What it must have below it.
    pub with: Vec<ResourceRequest>,
}

/// A constraint (RFC 31).
#[derive(Clone, PartialEq, Eq)]
pub enum Condition {
    /// Nodes with all of these properties; those that begin with `^` are lacking.
    Properties(Vec<String>),
    /// Nodes that one of these holds for.
    Or(Vec<Condition>),
    /// Nodes that this does not hold for.
    Not(Box<Condition>),
}

/// A request that prints as a jobspec.
///
/// The [`Display`](fmt::Display) form is JSON, and the debug form the same.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// What is requested.
    pub resources: Vec<ResourceRequest>,
    /// For how many seconds, 0 for as long as the resources last.
    pub duration: u32,
    /// What must hold for the nodes.
    pub constraint: Option<Condition>,
}

impl Request {
    /// Takes out levels that `graph` does not have, and puts sockets below nodes where it has them.
    pub fn suit(&mut self, graph: &GraphRecipe) {
        let resources = std::mem::take(&mut self.resources);
        self.resources = ResourceRequest::suited(resources, graph);
    }

    /// Returns whether resources of one type stand side by side in it, slots with slots for example,
    /// or alternatives.
    pub fn has_like_siblings(&self) -> bool {
        ResourceRequest::has_like_siblings(&self.resources)
    }

    /// Returns whether it leaves out a level of `graph` between a resource and a slot below it.
    pub fn skips_a_level(&self, graph: &GraphRecipe) -> bool {
        self.resources.iter().any(|resource| resource.skips_a_level(graph))
    }

    /// Returns whether it leaves open how many it wants of something.
    pub fn has_range(&self) -> bool {
        self.resources.iter().any(ResourceRequest::has_range)
    }

    /// Returns the jobspec.
    ///
    /// # Panics
    ///
    /// Never on what [`Arbitrary`] makes.
    pub fn jobspec(&self) -> Jobspec {
        Jobspec::parse(&self.to_string(), Dialect::Fluxion).expect("requests are jobspecs")
    }
}

impl Amount {
    fn arbitrary(g: &mut Gen, most: u32) -> Self {
        // Little is asked for more often than much.
        let most = if one_in(g, 3) { 1 } else { most as usize };
        let mut min =
            if one_in(g, 16) { 9 } else { 1 + u32::try_from(below(g, most)).unwrap_or(0) };
        let range = one_in(g, 4).then(|| {
            let (operator, operand) = pick(g, &[('+', 1), ('+', 2), ('*', 2), ('^', 2)]);
            min = min.max(Self::least(operator));
            (min + u32::try_from(below(g, 5)).unwrap_or(0), operator, operand)
        });
        Self { min, range }
    }

    /// Returns the smallest count that an operator leads on from.
    fn least(operator: char) -> u32 {
        if operator == '^' { 2 } else { 1 }
    }

    fn shrunk(self) -> Vec<Self> {
        let mut shrunk = Vec::new();
        if let Some((max, operator, operand)) = self.range {
            shrunk.push(Self { range: None, ..self });
            if max > self.min {
                shrunk.push(Self { range: Some((max - 1, operator, operand)), ..self });
            }
            if (operator, operand) != ('+', 1) {
                shrunk.push(Self { range: Some((max, '+', 1)), ..self });
            }
        }
        if self.min > self.range.map_or(1, |(_, operator, _)| Self::least(operator)) {
            shrunk.push(Self { min: self.min - 1, ..self });
        }
        shrunk
    }
}

impl ResourceRequest {
    /// Returns a request for one resource with nothing below it.
    pub fn new(kind: &'static str) -> Self {
        Self { kind, count: Amount { min: 1, range: None }, exclusive: None, with: Vec::new() }
    }

    fn arbitrary(g: &mut Gen, kind: &'static str, most: u32) -> Self {
        let count = Amount::arbitrary(g, most);
        let exclusive = if one_in(g, 4) { Some(pick(g, &[true, true, false])) } else { None };
        Self { kind, count, exclusive, with: Vec::new() }
    }

    /// Returns several types that stand side by side, or one.
    fn pools(g: &mut Gen) -> Vec<Self> {
        let mut pools = Vec::new();
        for (kind, most, of) in [("core", 3, 1), ("gpu", 1, 4), ("memory", 4, 4)] {
            if one_in(g, of) {
                pools.push(Self::arbitrary(g, kind, most));
            }
        }
        match below(g, 6) {
            0 => pools.reverse(),
            1 => {
                pools.remove(0);
            }
            _ => {}
        }
        if pools.is_empty() {
            pools.push(Self::arbitrary(g, "memory", 4));
        }
        pools
    }

    fn slot(g: &mut Gen, with: Vec<Self>) -> Self {
        Self { with, ..Self::arbitrary(g, "slot", 2) }
    }

    fn above(g: &mut Gen, kind: &'static str, with: Vec<Self>) -> Self {
        Self { with, ..Self::arbitrary(g, kind, 2) }
    }

    fn shrunk(&self) -> Vec<Self> {
        let mut shrunk = Vec::new();
        let least = usize::from(self.kind == "slot");
        if self.with.len() > least {
            for at in 0..self.with.len() {
                let mut less = self.clone();
                less.with.remove(at);
                shrunk.push(less);
            }
        }
        for (at, below) in self.with.iter().enumerate() {
            for below in below.shrunk() {
                let mut less = self.clone();
                less.with[at] = below;
                shrunk.push(less);
            }
        }
        if self.exclusive.is_some() {
            shrunk.push(Self { exclusive: None, ..self.clone() });
        }
        let counts = self.count.shrunk().into_iter();
        shrunk.extend(counts.map(|count| Self { count, ..self.clone() }));
        shrunk
    }

    fn suited(requests: Vec<Self>, graph: &GraphRecipe) -> Vec<Self> {
        let mut suited = Vec::new();
        for mut request in requests {
            request.with = Self::suited(request.with, graph);
            if request.kind == "node" && !request.with.is_empty() && graph.has("socket") {
                let above = |kind| request.with.iter().any(|below| below.is_above(kind));
                if !above("socket") {
                    let with = std::mem::take(&mut request.with);
                    request.with = vec![Self { with, ..Self::new("socket") }];
                }
            }
            if ["rack", "socket"].contains(&request.kind) && !graph.has(request.kind) {
                suited.extend(request.with);
            } else {
                suited.push(request);
            }
        }
        suited
    }

    fn has_like_siblings(resources: &[Self]) -> bool {
        let kinds: BTreeSet<&str> = resources.iter().map(|resource| resource.kind).collect();
        kinds.len() < resources.len()
            || kinds.contains("xor_slot")
            || resources.iter().any(|resource| Self::has_like_siblings(&resource.with))
    }

    fn skips_a_level(&self, graph: &GraphRecipe) -> bool {
        let slots = self.with.iter().filter(|below| below.kind == "slot");
        let mut parts = slots.flat_map(|slot| &slot.with);
        parts.any(|part| graph.hides(self.kind, part.kind))
            || self.with.iter().any(|below| below.skips_a_level(graph))
    }

    fn has_range(&self) -> bool {
        self.count.range.is_some() || self.with.iter().any(Self::has_range)
    }

    fn is_above(&self, kind: &str) -> bool {
        self.kind == kind || self.with.iter().any(|below| below.is_above(kind))
    }

    fn has_slot(&self) -> bool {
        self.kind.ends_with("slot") || self.with.iter().any(Self::has_slot)
    }
}

impl Condition {
    /// Returns whether the condition holds for a node that `has` these properties.
    pub fn holds(&self, has: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::Properties(properties) => {
                properties.iter().all(|property| match property.strip_prefix('^') {
                    Some(lacking) => !has(lacking),
                    None => has(property),
                })
            }
            Self::Or(conditions) => conditions.iter().any(|condition| condition.holds(has)),
            Self::Not(condition) => !condition.holds(has),
        }
    }

    fn arbitrary(g: &mut Gen, depth: u32) -> Self {
        match below(g, 6) {
            0 if depth > 0 => {
                let n = below(g, 3);
                Self::Or((0..n).map(|_| Self::arbitrary(g, depth - 1)).collect())
            }
            1 if depth > 0 => Self::Not(Box::new(Self::arbitrary(g, depth - 1))),
            _ => {
                let property = pick(g, &PROPERTIES);
                let sign = if one_in(g, 3) { "^" } else { "" };
                Self::Properties(vec![format!("{sign}{property}")])
            }
        }
    }
}

impl Arbitrary for Request {
    fn arbitrary(g: &mut Gen) -> Self {
        let pools = ResourceRequest::pools(g);
        let resources = match below(g, 9) {
            // A slot on pools.
            0 | 1 => vec![ResourceRequest::slot(g, pools)],
            // A slot on whole nodes, or on nodes with something.
            2 => {
                let with = if one_in(g, 2) { Vec::new() } else { pools };
                let node = ResourceRequest::above(g, "node", with);
                vec![ResourceRequest::slot(g, vec![node])]
            }
            // Slots below a level.
            3 | 4 => {
                let slot = ResourceRequest::slot(g, pools);
                vec![ResourceRequest::above(g, "node", vec![slot])]
            }
            5 => {
                let slot = ResourceRequest::slot(g, pools);
                let socket = ResourceRequest::above(g, "socket", vec![slot]);
                vec![ResourceRequest::above(g, "node", vec![socket])]
            }
            // Sockets in a slot.
            6 => {
                let socket = ResourceRequest::above(g, "socket", pools);
                let slot = ResourceRequest::slot(g, vec![socket]);
                let node = ResourceRequest::above(g, "node", vec![slot]);
                let rack = one_in(g, 3);
                vec![if rack { ResourceRequest::above(g, "rack", vec![node]) } else { node }]
            }
            7 => {
                let slot = ResourceRequest::slot(g, pools);
                let node = ResourceRequest::above(g, "node", vec![slot]);
                let kind = pick(g, &["rack", "cluster"]);
                vec![ResourceRequest::above(g, kind, vec![node])]
            }
            // Slots side by side.
            _ => {
                let (first, others) = (ResourceRequest::slot(g, pools), ResourceRequest::pools(g));
                let mut slots = vec![first, ResourceRequest::slot(g, others)];
                match below(g, 3) {
                    0 => slots,
                    1 => {
                        for slot in &mut slots {
                            slot.kind = "xor_slot";
                        }
                        slots
                    }
                    _ => vec![ResourceRequest::above(g, "node", slots)],
                }
            }
        };
        let duration = pick(g, &[0, 1, 5, 10, 10, 20, 60, 60]);
        let constraint = one_in(g, 8).then(|| Condition::arbitrary(g, 2));
        Self { resources, duration, constraint }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let mut shrunk = Vec::new();
        if self.constraint.is_some() {
            shrunk.push(Self { constraint: None, ..self.clone() });
        }
        for (at, resource) in self.resources.iter().enumerate() {
            let mut less = self.clone();
            less.resources.remove(at);
            shrunk.push(less);
            let mut less = self.clone();
            less.resources.splice(at..=at, resource.with.iter().cloned());
            shrunk.push(less);
            for resource in resource.shrunk() {
                let mut less = self.clone();
                less.resources[at] = resource;
                shrunk.push(less);
            }
        }
        if self.duration > 1 {
            shrunk.push(Self { duration: self.duration / 2, ..self.clone() });
        }
        shrunk.retain(|less| less.resources.iter().any(ResourceRequest::has_slot));
        Box::new(shrunk.into_iter())
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let min = self.min;
        match self.range {
            None => write!(f, "{min}"),
            Some((max, operator, operand)) => write!(
                f,
                r#"{{"min": {min}, "max": {max}, "operator": "{operator}", "operand": {operand}}}"#
            ),
        }
    }
}

impl fmt::Display for ResourceRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"{{"type": "{}", "count": {}"#, self.kind, self.count)?;
        if let Some(exclusive) = self.exclusive {
            write!(f, r#", "exclusive": {exclusive}"#)?;
        }
        if self.kind.ends_with("slot") {
            f.write_str(r#", "label": "task""#)?;
        }
        if !self.with.is_empty() {
            write!(f, r#", "with": {}"#, List(&self.with))?;
        }
        f.write_str("}")
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Properties(properties) => write!(f, r#"{{"properties": {properties:?}}}"#),
            Self::Or(conditions) => write!(f, r#"{{"or": {}}}"#, List(conditions)),
            Self::Not(condition) => write!(f, r#"{{"not": [{condition}]}}"#),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resources, duration, constraint } = self;
        write!(f, r#"{{"version": 9999, "resources": {}, "#, List(resources))?;
        f.write_str(
            r#""tasks": [{"command": ["app"], "slot": "task", "count": {"per_slot": 1}}], "#,
        )?;
        write!(f, r#""attributes": {{"system": {{"duration": {duration}"#)?;
        if let Some(constraint) = constraint {
            write!(f, r#", "constraints": {constraint}"#)?;
        }
        f.write_str("}}}")
    }
}

struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (n, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if n > 0 { ", " } else { "" })?;
        }
        f.write_str("]")
    }
}

macro_rules! debug_as_display {
    ($($name:ty),*) => {
        $(impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        })*
    };
}

debug_as_display!(Amount, ResourceRequest, Condition, Request);
