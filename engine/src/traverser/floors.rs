//! How good the best is that is left in a subtree, remembered from search to search.
//!
//! Where what is held only ever makes the best worse, what a search found out stays true for the same
//! request and the same span until something is given back.

use jobspec::Constraint;
use rustc_hash::FxHashMap;

use super::demand::Request;
use super::dfs::Aim;
use crate::planner::Interval;

/// Keys of the best that subtrees have left, by position. Less is better; what is not in it is not
/// known.
pub(crate) type Floor = FxHashMap<u32, i64>;

/// What a floor is for.
#[derive(Clone, Debug, PartialEq)]
struct Question {
    resources: Vec<Request>,
    constraint: Option<Constraint>,
    window: Interval,
    respect_status: bool,
    respect_overruns: bool,
}

/// Floors of the requests made last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Floors {
    recent: Vec<(Question, Floor)>,
}

impl Floors {
    const N_QUESTIONS: usize = 16;
    const N_POSITIONS: usize = 1 << 18;

    /// Forgets everything, since something was given back.
    pub(crate) fn forget(&mut self) {
        self.recent.clear();
    }

    /// Takes the floor for a request out, an empty one where there is none.
    pub(crate) fn take(&mut self, resources: &[Request], aim: &Aim<'_>) -> Floor {
        self.position(resources, aim)
            .map(|at| std::mem::take(&mut self.recent[at].1))
            .unwrap_or_default()
    }

    /// Keeps the floor for a request. The request asked longest ago makes room.
    pub(crate) fn keep(&mut self, resources: &[Request], aim: &Aim<'_>, floor: Floor) {
        if floor.is_empty() || floor.len() > Self::N_POSITIONS {
            return;
        }
        if let Some(at) = self.position(resources, aim) {
            self.recent[at].1 = floor;
            self.recent[at..].rotate_left(1);
            return;
        }
        if self.recent.len() == Self::N_QUESTIONS {
            self.recent.remove(0);
        }
        let question = Question {
            resources: resources.to_vec(),
            constraint: aim.constraint.cloned(),
            window: aim.window,
            respect_status: aim.respect_status,
            respect_overruns: aim.respect_overruns,
        };
        self.recent.push((question, floor));
    }

    fn position(&self, resources: &[Request], aim: &Aim<'_>) -> Option<usize> {
        self.recent.iter().position(|(question, _)| {
            question.window == aim.window
                && question.respect_status == aim.respect_status
                && question.respect_overruns == aim.respect_overruns
                && question.resources == resources
                && question.constraint.as_ref() == aim.constraint
        })
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let entry = size_of::<(u32, i64)>() + 1;
        self.recent.iter().map(|(_, floor)| floor.capacity() * entry).sum()
    }
}
