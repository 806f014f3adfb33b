//! The search for runs of scores: candidates whose scores follow each other are equal, and the run
//! with the highest scores comes first.
//!
//! What is to be chosen is what of the first run is discovered first, and it can be known in two
//! ways. Going down from the highest score, a run is complete once a score is missing. Going in
//! discovery order, the first candidates are the ones as soon as every score from theirs to the
//! highest was seen. Which way is short depends on the scores, so both are gone step by step, until
//! one arrives.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::demand::Request;
use super::super::dfs::Search;
use super::super::evals::Runs;
use super::hunt::{Entry, Hunt, Item};
use super::reaches::{Order, Reach};
use super::{Found, Unsuited};
use crate::{Graph, TypeId};

/// Part of a run.
enum Part {
    /// A candidate.
    Vertex(Found),
    /// Slots made of the children of this vertex.
    Below(u32),
    /// Everything that is asked for in or below some children of one vertex.
    Children { parent: u32, first: usize, last: usize },
}

/// The way down from the highest score.
struct Descent<'r> {
    hunt: Hunt<'r>,
    /// What is known of the run that is being gone through: its parts by discovery order, the
    /// highest and the lowest score.
    parts: Vec<(u32, Part)>,
    highest: i64,
    lowest: i64,
    /// Whether subtrees of a shape, with nothing held in them, are candidates throughout.
    sound: FxHashMap<u32, bool>,
    found: Vec<Found>,
    total: i64,
    /// Whether no run is complete yet.
    first_run: bool,
}

/// The way in discovery order.
struct Stroll<'r> {
    hunt: Hunt<'r>,
    found: Vec<Found>,
    /// How many of the candidates, from the first, are in the run of the highest score.
    n_in_run: usize,
    total: i64,
    /// The lowest score known to be in that run, and scores seen below it.
    lowest: i64,
    below: FxHashSet<i64>,
}

/// What is next on the way down.
struct Next {
    pos: u32,
    high: i64,
    low: i64,
    part: Part,
}

impl Search<'_> {
    /// Finds candidates for an order by runs, in that order: as many as can be of use, or all.
    pub(super) fn find_runs(&mut self, mut hunt: Hunt<'_>) -> Result<Vec<Found>, Unsuited> {
        let mut stroll = Stroll {
            hunt: hunt.by_discovery(),
            found: Vec::new(),
            n_in_run: 0,
            total: 0,
            lowest: i64::MAX,
            below: FxHashSet::default(),
        };
        hunt.push(self, 0);
        stroll.hunt.push(self, 0);
        let mut descent = Descent {
            hunt,
            parts: Vec::new(),
            highest: i64::MAX,
            lowest: i64::MAX,
            sound: FxHashMap::default(),
            found: Vec::new(),
            total: 0,
            first_run: true,
        };
        loop {
            if self.descend(&mut descent)? {
                return Ok(descent.found);
            }
            if descent.first_run {
                stroll.lowest = stroll.lowest.min(descent.lowest);
            }
            if self.stroll(&mut stroll)? {
                return Ok(stroll.found);
            }
        }
    }

    // ---- in discovery order ------------------------------------------------------------------

    /// Goes on to the next candidate. Returns whether all that is needed was found.
    fn stroll(&mut self, stroll: &mut Stroll<'_>) -> Result<bool, Unsuited> {
        let Some(candidate) = self.next_candidate(&mut stroll.hunt)? else {
            let found = &mut stroll.found;
            let mut runs = Runs::default();
            runs.add(found.iter().map(|candidate| candidate.score));
            found.sort_by_cached_key(|candidate| Reverse(runs.start(candidate.score)));
            return Ok(true);
        };
        if candidate.score < stroll.lowest {
            stroll.below.insert(candidate.score);
        }
        while stroll.below.remove(&stroll.lowest.saturating_sub(1)) {
            stroll.lowest -= 1;
        }
        stroll.found.push(candidate);
        while let Some(candidate) = stroll.found.get(stroll.n_in_run)
            && candidate.score >= stroll.lowest
        {
            stroll.total = stroll.total.saturating_add(candidate.count);
            stroll.n_in_run += 1;
        }
        let enough = stroll.total >= i64::from(stroll.hunt.request.most);
        if enough {
            stroll.found.truncate(stroll.n_in_run);
        }
        Ok(enough)
    }

    // ---- down from the highest score ---------------------------------------------------------

    /// Goes on to the next part of a run. Returns whether all that is needed was found.
    fn descend(&mut self, descent: &mut Descent<'_>) -> Result<bool, Unsuited> {
        let Some(Next { pos, high, low, part }) = self.next_part(descent)? else {
            self.complete_run(descent)?;
            return Ok(true);
        };
        if high < descent.lowest.saturating_sub(1) {
            if self.complete_run(descent)? {
                return Ok(true);
            }
            descent.first_run &= descent.parts.is_empty() && descent.highest == i64::MAX;
            (descent.highest, descent.lowest) = (high, low);
        }
        descent.lowest = descent.lowest.min(low);
        descent.parts.push((pos, part));
        Ok(false)
    }

    fn next_part(&mut self, descent: &mut Descent<'_>) -> Result<Option<Next>, Unsuited> {
        while let Some(entry) = descent.hunt.pop() {
            if let Some(block) = self.block(descent, entry)? {
                return Ok(Some(block));
            }
            if let Some(found) = self.take_entry(&mut descent.hunt, entry)? {
                let (pos, score) = (entry.pos, found.score);
                let is_slot = matches!(entry.item, Item::Slot(_));
                let part = if is_slot { Part::Below(pos) } else { Part::Vertex(found) };
                return Ok(Some(Next { pos, high: score, low: score, part }));
            }
        }
        Ok(None)
    }

    /// Takes all siblings from one on in which nothing is held as one part, where their scores
    /// leave nothing out and one of them shows that they are candidates.
    fn block(&mut self, descent: &mut Descent<'_>, entry: Entry) -> Result<Option<Next>, Unsuited> {
        let Item::Siblings { at, backward: true } = entry.item else {
            return Ok(None);
        };
        let tree = self.parts.tree;
        let (parent, at) = (tree.slots[entry.pos as usize].parent, at as usize);
        let Some((kind, extra)) = unit(descent.hunt.request) else {
            return Ok(None);
        };
        let dense = |reach: Reach| reach.dense && reach.order == Order::Backward;
        let reaches = descent.hunt.reaches;
        let suited = self.learns
            && reaches.units_alone(descent.hunt.request)
            && reaches.below(parent, kind).is_some_and(dense)
            && (extra == 0 || !tree.has_child_of(parent, kind));
        let Some(first) = self.first_blank(parent, at).filter(|_| suited) else {
            return Ok(None);
        };
        let Some(above) = self.above(&mut descent.hunt, entry.pos).filter(|above| !above.overrun)
        else {
            return Ok(None);
        };
        let lowest = tree.children(parent)[first];
        let low = if tree.slots[lowest as usize].kind == kind {
            self.score(lowest, above.score)
        } else {
            let Some(reach) = reaches.below(lowest, kind) else {
                return Ok(None);
            };
            above.score.saturating_add(reach.low)
        };
        if !self.is_sound(descent, entry.pos)? {
            return Ok(None);
        }
        descent.hunt.skip_to(self, parent, first);
        let part = Part::Children { parent, first, last: at };
        let high = entry.key.saturating_neg();
        Ok(Some(Next { pos: lowest, high, low: low.saturating_add(extra), part }))
    }

    /// Returns whether a subtree in which nothing is held has what is asked for.
    fn is_sound(&mut self, descent: &mut Descent<'_>, pos: u32) -> Result<bool, Unsuited> {
        let shape = self.parts.tree.shapes[pos as usize];
        if let Some(&sound) = descent.sound.get(&shape) {
            return Ok(sound);
        }
        let mut probe = descent.hunt.by_discovery();
        probe.push(self, pos);
        let sound = self.next_candidate(&mut probe)?.is_some();
        descent.sound.insert(shape, sound);
        Ok(sound)
    }

    /// Returns the first of the children up to the one at `last` that, as all after it, has nothing
    /// held in it and nothing down.
    fn first_blank(&self, parent: u32, last: usize) -> Option<usize> {
        let tree = self.parts.tree;
        if !self.aim.respect_status {
            return Some(0);
        }
        let children = &tree.children(parent)[..=last];
        let range = *children.first()?..tree.slots[*children.last()? as usize].end;
        let marked = [self.parts.touched, self.parts.down];
        let nearest = marked.iter().filter_map(|marked| marked.range(range.clone()).next_back());
        let first = nearest.max().map_or(0, |pos| children.partition_point(|&child| child <= pos));
        (first <= last).then_some(first)
    }

    /// Finds what belongs to a run that was gone through, in discovery order. Returns whether that
    /// is all that is needed.
    fn complete_run(&mut self, descent: &mut Descent<'_>) -> Result<bool, Unsuited> {
        let mut parts = std::mem::take(&mut descent.parts);
        parts.sort_by_key(|&(pos, _)| pos);
        let mut hunt = descent.hunt.by_discovery();
        let mut last = None;
        for (pos, part) in parts {
            let begun = last.replace(pos) == Some(pos);
            match part {
                Part::Vertex(found) => descent.add(found),
                Part::Below(_) if begun => {}
                Part::Below(pos) => self.find_below(descent, &mut hunt, pos)?,
                Part::Children { parent, first, last } => {
                    for &child in &self.parts.tree.children(parent)[first..=last] {
                        if !descent.has_enough() {
                            self.find_below(descent, &mut hunt, child)?;
                        }
                    }
                }
            }
            if descent.has_enough() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds what of the run is in or below a vertex.
    fn find_below<'r>(
        &mut self,
        descent: &mut Descent<'r>,
        hunt: &mut Hunt<'r>,
        pos: u32,
    ) -> Result<(), Unsuited> {
        hunt.push(self, pos);
        while !descent.has_enough()
            && let Some(found) = self.next_candidate(hunt)?
        {
            if (descent.lowest..=descent.highest).contains(&found.score) {
                descent.add(found);
            }
        }
        Ok(())
    }
}

impl Descent<'_> {
    fn add(&mut self, found: Found) {
        self.total = self.total.saturating_add(found.count);
        self.found.push(found);
    }

    fn has_enough(&self) -> bool {
        self.total >= i64::from(self.hunt.request.most)
    }
}

/// Returns the type of vertex that is or makes one candidate by itself, and by how much the
/// candidate's score is higher than the vertex's.
fn unit(request: &Request) -> Option<(TypeId, i64)> {
    if request.kind != Graph::SLOT {
        return Some((request.kind, 0));
    }
    match &request.with[..] {
        [member] if (member.count.min, member.most) == (1, 1) => Some((member.kind, 1)),
        _ => None,
    }
}
