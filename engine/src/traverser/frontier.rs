//! Where searches ended, remembered so that the next one for the same goes on from there.
//!
//! Where what is held only ever makes the best worse, what a search found out stays true for the same
//! request and the same span until something is given back; and then only what was given back, and
//! what was ruled out because of it, is to be looked at again.

use std::cmp::Reverse;

use jobspec::Constraint;
use roaring::RoaringBitmap;

use super::best::Entry;
use super::demand::Request;
use super::dfs::Aim;
use crate::planner::Interval;

/// Where a search ended. Each vertex that could be chosen is in or below one of `entries` or
/// `returned`, or in or below one that is spent.
#[derive(Clone, Debug)]
pub(crate) struct Frontier {
    /// The heap of a search in order of score.
    pub(super) entries: Vec<Reverse<Entry>>,
    /// Vertices that are to go to the heap.
    pub(super) returned: Vec<u32>,
    /// Vertices that have nothing left to offer, in or below them, or are no way to it.
    pub(super) spent: RoaringBitmap,
    /// Vertices that offer less than they could.
    pub(super) worn: RoaringBitmap,
    /// Whether something may be in the heap twice.
    pub(super) doubled: bool,
}

impl Default for Frontier {
    /// Nothing is known but the root.
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            returned: vec![0],
            spent: RoaringBitmap::new(),
            worn: RoaringBitmap::new(),
            doubled: false,
        }
    }
}

impl Frontier {
    /// Lets what was given back be looked at again: a vertex, or with it all `below`.
    fn give_back(&mut self, pos: u32, below: std::ops::Range<u32>) {
        let mut known = false;
        for marked in [&mut self.spent, &mut self.worn] {
            known |= marked.remove(pos);
            known |= marked.remove_range(below.clone()) > 0;
        }
        if known {
            self.returned.push(pos);
            self.doubled = true;
        }
    }
}

/// What a frontier is for.
#[derive(Clone, Debug, PartialEq)]
struct Question {
    resources: Vec<Request>,
    constraint: Option<Constraint>,
    window: Interval,
    respect_status: bool,
    respect_overruns: bool,
}

/// Frontiers of the requests made last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frontiers {
    recent: Vec<(Question, Frontier)>,
}

impl Frontiers {
    const N_QUESTIONS: usize = 16;
    const N_ENTRIES: usize = 1 << 18;

    /// Forgets everything, since what was ruled out may not be any more.
    pub(crate) fn forget(&mut self) {
        self.recent.clear();
    }

    /// Tells that something was given back: a hold of a vertex, or of all that is `below` it too.
    pub(crate) fn give_back(&mut self, pos: u32, below: std::ops::Range<u32>) {
        for (_, frontier) in &mut self.recent {
            frontier.give_back(pos, below.clone());
        }
    }

    /// Takes the frontier for a request out, a new one where there is none.
    pub(crate) fn take(&mut self, resources: &[Request], aim: &Aim<'_>) -> Frontier {
        let known = self.position(resources, aim).map(|at| self.recent.remove(at).1);
        known.unwrap_or_default()
    }

    /// Keeps the frontier for a request. The request asked longest ago makes room.
    pub(crate) fn keep(&mut self, resources: &[Request], aim: &Aim<'_>, frontier: Frontier) {
        if frontier.entries.len() + frontier.returned.len() > Self::N_ENTRIES {
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
        self.recent.push((question, frontier));
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
        let frontier = |frontier: &Frontier| {
            frontier.entries.capacity() * size_of::<Entry>()
                + frontier.returned.capacity() * size_of::<u32>()
                + frontier.spent.serialized_size()
                + frontier.worn.serialized_size()
        };
        self.recent.iter().map(|(_, known)| frontier(known)).sum()
    }
}
