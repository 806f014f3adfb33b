//! Pruning filters.

use std::fmt;

use quickcheck::{Arbitrary, Gen, empty_shrinker};

use crate::pick;

/// A specification of pruning filters, for [`engine::Options::filters`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FilterSpec(&'static str);

const SPECS: [FilterSpec; 7] = [
    FilterSpec("ALL:core"),
    FilterSpec("ALL:core,ALL:node"),
    FilterSpec("ALL:core,ALL:node,ALL:memory"),
    FilterSpec("ALL:core,ALL:gpu,ALL:memory"),
    FilterSpec("rack:node,node:core"),
    FilterSpec("cluster:core,node:gpu,ALL:socket"),
    FilterSpec(""),
];

impl FilterSpec {
    /// Returns the specification.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Debug for FilterSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl Arbitrary for FilterSpec {
    fn arbitrary(g: &mut Gen) -> Self {
        pick(g, &SPECS)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        match SPECS.iter().position(|spec| spec == self) {
            Some(at) => Box::new(SPECS[..at].iter().copied()),
            None => empty_shrinker(),
        }
    }
}
