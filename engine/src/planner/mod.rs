//! What is planned on a vertex over time.

mod audit;
mod plan;
mod timeline;

pub(crate) use audit::PlanImage;
pub(crate) use plan::{ChildOrder, Held, Plan, Plans};
pub(crate) use timeline::Moment;
use timeline::Timeline;

/// A half-open span of time in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// The first second.
    pub start: i64,
    /// One past the last second.
    pub end: i64,
}

impl Interval {
    /// Returns whether `self` and `other` share a second.
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}
