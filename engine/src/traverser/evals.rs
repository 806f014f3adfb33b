//! Candidates found by a visit, by type, and the choice among them.

use smallvec::SmallVec;

use crate::policy::Preference;
use crate::{SubsystemId, TypeId};

/// The choice of a vertex that asks for nothing below it.
pub(crate) const NO_CHOICE: u32 = u32::MAX;

/// One vertex of a candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) pos: u32,
    /// Where the edge comes from that was followed to it.
    pub(crate) from: u32,
    /// How much of it is free, all of which is taken.
    pub(crate) count: i64,
    pub(crate) exclusive: bool,
    /// What was chosen below it.
    pub(crate) choice: u32,
}

/// A candidate: one vertex, or the vertices of one slot.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) score: i64,
    pub(crate) count: i64,
    /// The root itself, which no edge leads to.
    pub(crate) root: bool,
    pub(crate) members: SmallVec<[Member; 1]>,
}

/// Candidates of one type.
#[derive(Clone, Debug)]
pub(crate) struct Evals {
    pub(crate) kind: TypeId,
    pub(crate) candidates: Vec<Candidate>,
    /// How much all candidates with a positive score have.
    pub(crate) qualified: i64,
    /// How much all candidates have.
    pub(crate) total: i64,
    /// How many of the candidates, from the first, are chosen.
    pub(crate) n_chosen: usize,
}

impl Evals {
    fn add(&mut self, candidate: Candidate) {
        self.total = self.total.saturating_add(candidate.count);
        if candidate.score > 0 {
            self.qualified = self.qualified.saturating_add(candidate.count);
        }
        self.candidates.push(candidate);
    }

    pub(crate) fn chosen(&self) -> &[Candidate] {
        &self.candidates[..self.n_chosen]
    }

    /// Returns the largest count that `count` allows of what qualifies, 0 for none.
    pub(crate) fn fit(&self, count: &jobspec::Count) -> u32 {
        count.largest_at_most(u32::try_from(self.qualified).unwrap_or(u32::MAX))
    }
}

/// What a subtree offers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scores {
    pub(crate) evals: SmallVec<[Evals; 2]>,
    /// Whether something was chosen, so that the rest is of no use further up.
    pub(crate) constrained: bool,
    /// The score of the vertex last visited, and how much of it is free.
    pub(crate) overall: i64,
    pub(crate) avail: i64,
    /// What auxiliary subsystems offer: how much qualifies.
    pub(crate) auxiliary: SmallVec<[(SubsystemId, TypeId, i64); 1]>,
}

impl Scores {
    pub(crate) fn new() -> Self {
        Self { overall: -1, ..Self::default() }
    }

    /// Returns the candidates of a type, making room for some where there are none.
    pub(crate) fn of(&mut self, kind: TypeId) -> &mut Evals {
        let known = self.evals.iter().position(|evals| evals.kind == kind);
        let at = known.unwrap_or_else(|| {
            let candidates = Vec::new();
            self.evals.push(Evals { kind, candidates, qualified: 0, total: 0, n_chosen: 0 });
            self.evals.len() - 1
        });
        &mut self.evals[at]
    }

    pub(crate) fn get(&self, kind: TypeId) -> Option<&Evals> {
        self.evals.iter().find(|evals| evals.kind == kind)
    }

    pub(crate) fn add(&mut self, kind: TypeId, candidate: Candidate) {
        self.of(kind).add(candidate);
    }

    pub(crate) fn add_auxiliary(&mut self, subsystem: SubsystemId, kind: TypeId, qualified: i64) {
        let known = self.auxiliary.iter_mut().find(|entry| (entry.0, entry.1) == (subsystem, kind));
        match known {
            Some(entry) => entry.2 = entry.2.saturating_add(qualified),
            None => self.auxiliary.push((subsystem, kind, qualified)),
        }
    }

    /// Takes over what a child offers.
    pub(crate) fn merge(&mut self, other: Self) {
        for mut evals in other.evals {
            let own = self.of(evals.kind);
            own.qualified = own.qualified.saturating_add(evals.qualified);
            own.total = own.total.saturating_add(evals.total);
            if own.candidates.is_empty() {
                own.candidates = evals.candidates;
            } else {
                own.candidates.append(&mut evals.candidates);
            }
        }
        for (subsystem, kind, qualified) in other.auxiliary {
            self.add_auxiliary(subsystem, kind, qualified);
        }
    }

    /// Sorts the candidates of a type by preference and chooses as many from the first as make up
    /// `k`. Returns whether `k` could be chosen.
    pub(crate) fn choose(
        &mut self,
        kind: TypeId,
        k: i64,
        preference: Preference,
        runs: &mut Runs,
    ) -> bool {
        let evals = self.of(kind);
        if k <= 0 || k > evals.qualified {
            return false;
        }
        match preference {
            Preference::Ascending => evals.candidates.sort_by_key(|candidate| candidate.score),
            Preference::Descending => {
                evals.candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
            }
            Preference::DescendingRuns => {
                runs.add(evals.candidates.iter().map(|candidate| candidate.score));
                evals
                    .candidates
                    .sort_by_cached_key(|candidate| std::cmp::Reverse(runs.start(candidate.score)));
            }
        }
        let mut left = k;
        evals.n_chosen = 0;
        while left > 0 {
            let Some(candidate) = evals.candidates.get(evals.n_chosen) else {
                break;
            };
            left -= candidate.count;
            evals.n_chosen += 1;
        }
        self.constrained = true;
        true
    }
}

/// Scores seen so far, sorted, for finding runs of consecutive ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    scores: Vec<i64>,
    /// The first score of each run.
    starts: Vec<i64>,
}

impl Runs {
    pub(crate) fn add(&mut self, scores: impl Iterator<Item = i64>) {
        self.scores.extend(scores);
        self.scores.sort_unstable();
        self.scores.dedup();
        self.starts.clear();
        let mut last = None;
        for &score in &self.scores {
            if last.and_then(|last: i64| last.checked_add(1)) != Some(score) {
                self.starts.push(score);
            }
            last = Some(score);
        }
    }

    /// Returns the first score of the run that `score` is in.
    pub(crate) fn start(&self, score: i64) -> i64 {
        let next = self.starts.partition_point(|&start| start <= score);
        self.starts[next.saturating_sub(1)]
    }
}

/// How many shares of a type are complete. A share takes whole candidates; what the last one has
/// beyond it is of no use to the next share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    pub(crate) kind: TypeId,
    per_share: i64,
    seen: i64,
    begun: i64,
    pub(crate) shares: i64,
}

impl Tally {
    pub(crate) fn new(kind: TypeId, per_share: u32) -> Self {
        Self { kind, per_share: i64::from(per_share), seen: 0, begun: 0, shares: 0 }
    }

    pub(crate) fn satisfies(&self, shares: i64) -> bool {
        self.per_share == 0 || self.shares >= shares
    }

    /// Counts what came since the last call as one candidate.
    pub(crate) fn see_total(&mut self, total: i64) {
        if total > self.seen {
            self.add(total - self.seen);
            self.seen = total;
        }
    }

    pub(crate) fn add(&mut self, count: i64) {
        self.begun += count;
        if self.per_share > 0 && self.begun >= self.per_share {
            self.shares += 1;
            self.begun = 0;
        }
    }
}
