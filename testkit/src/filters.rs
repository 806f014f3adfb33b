//! Pruning filters.

use std::fmt;

use quickcheck::{Arbitrary, Gen, empty_shrinker};

use crate::pick;

/// A specification of pruning filters, for [`engine::Options::filters`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FilterSpec(&'static str);

impl FilterSpec {
    /// All that are tried.
    pub(crate) const ALL: [Self; 7] = [
        Self("ALL:core"),
        Self("ALL:core,ALL:node"),
        Self("ALL:core,ALL:node,ALL:memory"),
        Self("ALL:core,ALL:gpu,ALL:memory"),
        Self("rack:node,node:core"),
        Self("cluster:core,node:gpu,ALL:socket"),
        Self(""),
    ];

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
        pick(g, &Self::ALL)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        match Self::ALL.iter().position(|spec| spec == self) {
            Some(at) => Box::new(Self::ALL[..at].iter().copied()),
            None => empty_shrinker(),
        }
    }
}
