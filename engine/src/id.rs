//! Ids: small integers with a type of their own, so that one cannot stand for another.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $int:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) $int);

        impl $name {
            /// The number of ids that can exist.
            pub const LIMIT: usize = <$int>::MAX as usize;

            /// Returns the id that stands for `index`, or `None` at and above [`Self::LIMIT`].
            pub fn new(index: usize) -> Option<Self> {
                if index < Self::LIMIT { <$int>::try_from(index).ok().map(Self) } else { None }
            }

            /// Returns the id as an index into a dense column.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

id! {
    /// A vertex of the resource graph. Ids are given in the order in which vertices are added and
    /// are never reused, not even after a vertex was removed.
    VertexId, u32
}
id! {
    /// A resource type such as `node` or `core`.
    TypeId, u16
}
id! {
    /// A subsystem such as `containment` or `power`.
    SubsystemId, u8
}

/// A job, as its owner numbers it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct JobId(pub u64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
