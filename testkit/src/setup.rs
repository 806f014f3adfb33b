//! What an engine is made with besides a graph.

use std::fmt;

use engine::{MatchPolicy, Traverser};
use quickcheck::{Arbitrary, Gen};

use crate::{one_in, pick};

/// A specification of pruning filters, for [`engine::Options::filters`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FilterSpec(&'static str);

const SPECS: [FilterSpec; 8] = [
    FilterSpec("ALL:core"),
    FilterSpec("ALL:core,ALL:node"),
    FilterSpec("ALL:core,ALL:node,ALL:memory"),
    FilterSpec("ALL:core,ALL:gpu,ALL:memory"),
    FilterSpec("ALL:core,ALL:gpu,ALL:memory,ALL:node,ALL:socket,ALL:rack"),
    FilterSpec("rack:node,node:core"),
    FilterSpec("cluster:core,node:gpu,ALL:socket"),
    FilterSpec(""),
];

/// The name of a match policy: a preset, or a custom one that no preset is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PolicyName(&'static str);

const POLICIES: [PolicyName; 13] = [
    PolicyName("low"),
    PolicyName("high"),
    PolicyName("lonode"),
    PolicyName("hinode"),
    PolicyName("lonodex"),
    PolicyName("hinodex"),
    PolicyName("first"),
    PolicyName("firstnodex"),
    PolicyName("locality"),
    PolicyName("variation"),
    PolicyName("policy=low node_exclusive=true"),
    PolicyName("policy=low stop_on_1_matches=true"),
    PolicyName("policy=low node_centric=true stop_on_1_matches=true"),
];

/// Filters, policy and traverser.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// The pruning filters.
    pub filters: FilterSpec,
    /// The match policy.
    pub policy: PolicyName,
    /// How slots side by side are understood.
    pub traverser: Traverser,
}

impl FilterSpec {
    /// Returns all that are tried.
    pub fn all() -> impl Iterator<Item = Self> {
        SPECS.into_iter()
    }

    /// Returns the specification.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// Returns whether all vertices track `kind`.
    pub fn tracks_everywhere(self, kind: &str) -> bool {
        self.0.split(',').any(|pair| pair.split_once(':') == Some(("ALL", kind)))
    }

    /// Returns whether vertices of type `anchor` are named, or all for `ALL`.
    pub fn has_anchor(self, anchor: &str) -> bool {
        self.0.split(',').any(|pair| pair.split_once(':').is_some_and(|(named, _)| named == anchor))
    }

    /// Returns whether some vertices track `kind`.
    pub fn tracks(self, kind: &str) -> bool {
        self.0.split(',').any(|pair| pair.split_once(':').is_some_and(|(_, named)| named == kind))
    }
}

impl PolicyName {
    /// Returns all policies.
    pub fn all() -> impl Iterator<Item = Self> {
        POLICIES.into_iter()
    }

    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// Returns the policy.
    ///
    /// # Panics
    ///
    /// Never: all names are those of policies.
    pub fn policy(self) -> Box<dyn MatchPolicy> {
        policies::policy(self.0).expect("the policy has a name")
    }
}

impl Arbitrary for FilterSpec {
    fn arbitrary(g: &mut Gen) -> Self {
        pick(g, &SPECS)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        simpler(*self, &SPECS)
    }
}

impl Arbitrary for PolicyName {
    fn arbitrary(g: &mut Gen) -> Self {
        pick(g, &POLICIES)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        simpler(*self, &POLICIES)
    }
}

impl Arbitrary for Setup {
    fn arbitrary(g: &mut Gen) -> Self {
        let traverser = if one_in(g, 4) { Traverser::Flexible } else { Traverser::Simple };
        let (filters, policy) = (FilterSpec::arbitrary(g), PolicyName::arbitrary(g));
        Self { filters, policy, traverser }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let setup = *self;
        let plainer = (setup.traverser != Traverser::Simple)
            .then_some(Self { traverser: Traverser::Simple, ..setup });
        let policies = setup.policy.shrink().map(move |policy| Self { policy, ..setup });
        let filters = setup.filters.shrink().map(move |filters| Self { filters, ..setup });
        Box::new(plainer.into_iter().chain(policies).chain(filters))
    }
}

/// Returns the choices that stand before `given`.
fn simpler<T: Copy + PartialEq>(given: T, choices: &'static [T]) -> Box<dyn Iterator<Item = T>> {
    match choices.iter().position(|choice| *choice == given) {
        Some(at) => Box::new(choices[..at].iter().copied()),
        None => Box::new(std::iter::empty()),
    }
}

impl fmt::Debug for FilterSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl fmt::Debug for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { filters, policy, traverser } = self;
        write!(f, "filters {filters:?}, policy {policy:?}, {traverser:?}")
    }
}
