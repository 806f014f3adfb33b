//! The search that looks at what scores best first and ends when nothing better is left.
//!
//! Where a policy scores by id, the score of a candidate is known before it is looked at, and so is
//! the best score that anything below a vertex can have. The search keeps subtrees and candidates
//! in a heap by that score, ties by discovery order, and takes the best: a subtree is opened, a
//! candidate is tried, and what is tried and fits is chosen. It chooses what the exhaustive search
//! chooses, since nothing that is left in the heap could come before it.

mod hunt;
mod reaches;
mod runs;
mod slots;

use smallvec::SmallVec;

use super::Failure;
use super::demand::{Demand, Request};
use super::dfs::{Above, Mark, Search, Selection, wants_exclusive};
use super::evals::{Member, NO_CHOICE};
use super::frontier::{Frontier, Frontiers};
use crate::Graph;
use crate::planner::Plan;
use crate::policy::{Candidate, Preference};
use hunt::Hunt;

pub(crate) use hunt::Entry;
pub(crate) use reaches::Reaches;

/// The request is of a form that only the exhaustive search answers as Fluxion does.
struct Unsuited;

/// A vertex that fits, or the vertices of a slot.
struct Found {
    score: i64,
    count: i64,
    members: SmallVec<[Member; 4]>,
}

impl<'a> Search<'a> {
    /// Searches best first. `None` where the demand, the policy or the graph does not allow it.
    pub(super) fn run_best_first(
        &mut self,
        demand: &Demand,
        frontiers: &mut Frontiers,
    ) -> Option<Result<Selection, Failure>> {
        let reaches = self.parts.reaches?;
        let [request] = &demand.resources[..] else {
            return None;
        };
        let suited = self.aim.shortcuts.best_first
            && self.parts.auxiliary.is_empty()
            && !self.aim.flexible
            && !demand.has_labels
            && !demand.shares
            && is_regular(&demand.resources);
        if !suited {
            return None;
        }
        let (visits, failure) = (self.visits, self.failure);
        let list = &demand.resources;
        let steady = is_steady(list) && reaches.units_alone(request);
        let mut frontier =
            if steady { frontiers.take(list, &self.aim) } else { Frontier::default() };
        self.spent = steady.then(|| std::mem::take(&mut frontier.spent));
        let found = self.select_best(reaches, list, request, &mut frontier);
        if let Some(spent) = self.spent.take()
            && found.is_ok()
        {
            frontier.spent = spent;
            frontiers.keep(list, &self.aim, frontier);
        }
        match found {
            Ok(Some(selection)) => Some(Ok(selection)),
            Ok(None) => {
                self.failure = Failure::Unsatisfiable;
                Some(Err(self.failure))
            }
            Err(Unsuited) => {
                (self.visits, self.failure) = (visits, failure);
                None
            }
        }
    }

    fn select_best(
        &mut self,
        reaches: &'a Reaches,
        list: &[Request],
        request: &Request,
        frontier: &mut Frontier,
    ) -> Result<Option<Selection>, Unsuited> {
        let root = self.parts.tree.slots[0];
        let above = self.above_root(list);
        let exclusive = above.exclusive;
        if request.kind == root.kind {
            let Some(member) = self.try_vertex(0, 0, list, request, above)? else {
                return Ok(None);
            };
            let avail = u32::try_from(member.count).unwrap_or(u32::MAX);
            let needs = i64::from(request.count.largest_at_most(avail));
            if needs == 0 {
                return Ok(None);
            }
            let mut chosen = Vec::new();
            if member.choice != NO_CHOICE {
                chosen.extend_from_slice(self.choice(member.choice));
            }
            return Ok(Some(self.selection(&chosen, needs, exclusive)));
        }
        let mut hunt = Hunt::new(reaches, list, request);
        let found = if self.preferences.top == Preference::DescendingRuns {
            frontier.returned.clear(); // runs start anew each time, without what is spent
            self.find_runs(hunt)?
        } else {
            let mut found = Vec::new();
            let mut total = 0_i64;
            hunt.resume(self, frontier);
            while total < i64::from(request.most)
                && let Some(candidate) = self.next_candidate(&mut hunt)?
            {
                total = total.saturating_add(candidate.count);
                found.push(candidate);
            }
            hunt.suspend(self, &found, frontier);
            found
        };
        let total: i64 = found.iter().map(|candidate| candidate.count).sum();
        let count =
            i64::from(request.count.largest_at_most(u32::try_from(total).unwrap_or(u32::MAX)));
        if count == 0 {
            return Ok(None);
        }
        let mut chosen = Vec::new();
        let mut left = count;
        for candidate in found {
            if left <= 0 {
                break;
            }
            left -= candidate.count;
            chosen.extend(candidate.members);
        }
        let mut marks = self.marks_of(&chosen);
        self.mark_way(&chosen, &mut marks);
        Ok(Some(Selection {
            marks: sorted(marks),
            root: Mark { pos: 0, from: 0, needs: 1, exclusive },
        }))
    }

    /// Returns what comes down to the root.
    fn above_root(&self, list: &[Request]) -> Above {
        let exclusive = wants_exclusive(list, self.parts.tree.slots[0].kind);
        Above { pristine: true, exclusive, score: 0, overrun: false }
    }

    fn selection(&self, chosen: &[Member], needs: i64, exclusive: bool) -> Selection {
        Selection {
            marks: sorted(self.marks_of(chosen)),
            root: Mark { pos: 0, from: 0, needs, exclusive },
        }
    }

    fn marks_of(&self, chosen: &[Member]) -> Vec<Mark> {
        let mut marks = Vec::with_capacity(chosen.len() * 2);
        let mut todo = chosen.to_vec();
        while let Some(Member { pos, from, count, exclusive, choice }) = todo.pop() {
            marks.push(Mark { pos, from, needs: count, exclusive });
            if choice != NO_CHOICE {
                todo.extend_from_slice(self.choice(choice));
            }
        }
        marks
    }

    /// Marks the way from the root to what was chosen.
    fn mark_way(&self, chosen: &[Member], marks: &mut Vec<Mark>) {
        let tree = self.parts.tree;
        let mut last = NO_CHOICE;
        for member in chosen {
            let mut pos = member.from;
            if std::mem::replace(&mut last, pos) == pos {
                continue; // the way of a sibling
            }
            while pos != 0 {
                let from = tree.slots[pos as usize].parent;
                let needs = tree.sizes[pos as usize];
                marks.push(Mark { pos, from, needs, exclusive: false });
                pos = from;
            }
        }
    }

    /// Returns what comes down below a vertex, `None` when the vertex cannot be scored.
    fn below(&self, pos: u32, above: Above, exclusive: bool, plan: Option<&Plan>) -> Option<Above> {
        let slot = self.parts.tree.slots[pos as usize];
        Some(Above {
            pristine: above.pristine,
            exclusive,
            score: above.score.checked_add(self.parts.contribution(slot)?)?,
            overrun: above.overrun || plan.is_some_and(Plan::has_subtree_allocation),
        })
    }

    /// Tries a vertex of the type of `request`, one of `list`.
    fn try_vertex(
        &mut self,
        pos: u32,
        from: u32,
        list: &[Request],
        request: &Request,
        above: Above,
    ) -> Result<Option<Member>, Unsuited> {
        if self.barren(pos, list, above).is_some() {
            return Ok(None);
        }
        self.visits.preorder += 1;
        let slot = self.parts.tree.slots[pos as usize];
        let plan = self.parts.plans.get(slot.plan);
        let exclusive = above.exclusive || request.exclusive == Some(true);
        let Some(count) = self.prune(pos, plan, list, exclusive, above.overrun) else {
            return Ok(None);
        };
        let mut choice = NO_CHOICE;
        if !request.with.is_empty() {
            let Some(below) = self.below(pos, above, exclusive, plan) else {
                return Ok(None);
            };
            let below = Above { pristine: false, ..below };
            let Some(chosen) = self.choose_below(pos, request, below)? else {
                self.note_barren(pos, list, above, true);
                return Ok(None);
            };
            choice = self.keep_choice(chosen.into_iter());
        }
        self.visits.postorder += 1;
        Ok(Some(Member { pos, from, count, exclusive, choice }))
    }

    /// Chooses what a matched vertex asks for below it.
    fn choose_below(
        &mut self,
        pos: u32,
        request: &Request,
        below: Above,
    ) -> Result<Option<SmallVec<[Member; 8]>>, Unsuited> {
        let mut chosen = SmallVec::new();
        if let Some(slot) = request.with.iter().find(|below| below.kind == Graph::SLOT) {
            if !self.can_make(pos, slot) {
                return Err(Unsuited);
            }
            if request.with.len() > 1 {
                return Ok(None); // what stands beside a slot is not looked for
            }
            let below = Above { exclusive: true, ..below };
            let mut stream = self.slot_stream(pos, slot, below, true)?;
            let mut ends = Vec::new();
            while ends.len() < slot.most as usize {
                let Some(filled) = self.next_slot(&mut stream, slot)? else {
                    break;
                };
                chosen.extend(filled.members);
                ends.push(chosen.len());
            }
            let n = u32::try_from(ends.len()).unwrap_or(u32::MAX);
            return Ok(match slot.count.largest_at_most(n) {
                0 => None,
                n => {
                    chosen.truncate(ends[n as usize - 1]);
                    Some(chosen)
                }
            });
        }
        for wanted in &request.with {
            let mut cursor = self.cursor(pos, wanted.kind);
            let start = chosen.len();
            let mut total = 0_i64;
            while total < i64::from(wanted.most) {
                let Some(member) = self.advance(pos, &mut cursor, &request.with, wanted, below)?
                else {
                    break;
                };
                total = total.saturating_add(member.count);
                chosen.push(member);
            }
            let total = u32::try_from(total).unwrap_or(u32::MAX);
            let mut left = i64::from(wanted.count.largest_at_most(total));
            if left == 0 {
                return Ok(None);
            }
            let mut end = start;
            while left > 0 {
                left -= chosen[end].count;
                end += 1;
            }
            chosen.truncate(end);
        }
        Ok(Some(chosen))
    }

    fn score(&self, pos: u32, above: i64) -> i64 {
        let vertex = self.parts.tree.slots[pos as usize].vertex;
        self.parts.policy.score(&Candidate {
            id: self.parts.graph.id(vertex),
            uniq_id: self.parts.graph.uniq_id(vertex),
            above,
            properties: None,
        })
    }
}

/// Sorts marks by position, each once.
fn sorted(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_unstable_by_key(|mark| mark.pos);
    marks.dedup_by_key(|mark| mark.pos);
    marks
}

/// Returns whether no two resources side by side are of one type, and no slot is without shape.
fn is_regular(list: &[Request]) -> bool {
    list.iter().enumerate().all(|(i, request)| {
        list[..i].iter().all(|other| other.kind != request.kind)
            && (request.kind != Graph::SLOT
                || request.with.iter().all(|member| member.kind != Graph::SLOT))
            && is_regular(&request.with)
    })
}

/// Returns whether what is free can only be of more use than less of it. It is not where slots may
/// have more or less in them: of less they are made smaller, and so there can be more of them.
fn is_steady(list: &[Request]) -> bool {
    list.iter().all(|request| {
        (request.kind != Graph::SLOT || request.with.iter().all(|member| member.count.is_fixed()))
            && is_steady(&request.with)
    })
}
