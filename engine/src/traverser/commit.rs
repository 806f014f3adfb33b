//! From a selection to what is to be held, and to the visitor.
//!
//! The walk follows the marked vertices from the root. It writes nothing: it collects what each
//! vertex would hold, so that a failure leaves everything as it was.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{Mark, Parts};
use crate::planner::Interval;
use crate::visit::{EmittedVertex, MatchVisitor};
use crate::{Error, TypeId, VertexId};

/// How what is walked is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    /// Exclusive vertices are planned in full amount.
    Plan,
    /// Exclusive vertices were planned by whoever marked them.
    Planned,
    /// Nothing is held.
    Nothing,
}

/// Amounts by column of [`Walk::kinds`].
pub(crate) type Sums = SmallVec<[i64; 4]>;

/// What one vertex is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) pos: u32,
    /// How much of the vertex itself.
    pub(crate) planned: Option<i64>,
    /// Whether everything below is held too, with no hold of its own.
    pub(crate) subtree: bool,
    /// Whether the walk came here, so that the job is known from the root on.
    pub(crate) tagged: bool,
    /// What is taken below, by column of [`Walk::kinds`]; `None` when nothing of it is tracked.
    pub(crate) sums: Option<Sums>,
    /// How many lanes there is room in before the first one in which there is not. What is taken
    /// below is then counted in those alone, and never taken out again.
    pub(crate) overfull: Option<usize>,
}

/// The walk over a selection.
pub(crate) struct Walk<'a, 'v> {
    parts: Parts<'a>,
    /// Types in the sums.
    kinds: &'a [TypeId],
    marks: &'a [Mark],
    labels: &'a FxHashMap<VertexId, Box<str>>,
    taking: Taking,
    window: Interval,
    /// Whether positions of a range have plans; subtrees without any are held as a whole.
    touched: &'a roaring::RoaringBitmap,
    visitor: &'v mut dyn MatchVisitor,
    /// Where the walk was, if some vertex has two parents.
    walked: Vec<bool>,
    /// How much deeper than it is a vertex is told to be.
    pub(crate) drift: u32,
    /// What is to be held, in depth-first order: everything below a vertex before the vertex.
    pub(crate) holds: Vec<Hold>,
}

/// What a walked vertex passes up.
struct Passed {
    /// Whether something is held there or below.
    held: bool,
    /// What is taken there and below of tracked types; `None` when nothing is tracked.
    sums: Option<Sums>,
}

/// How a walk comes to a vertex.
#[derive(Clone, Copy)]
struct Step {
    mark: Mark,
    depth: u32,
    /// Whether the vertex is there because everything above is held exclusively.
    shadow: bool,
    under_exclusive: bool,
    /// Whether a vertex above holds this one's subtree.
    inherited: bool,
    /// Whether somebody else holds the subtree of a vertex above at some second of the window.
    taken: bool,
}

impl<'a, 'v> Walk<'a, 'v> {
    #[allow(clippy::too_many_arguments, reason = "called once, by the engine")]
    pub(crate) fn new(
        parts: Parts<'a>,
        kinds: &'a [TypeId],
        marks: &'a [Mark],
        labels: &'a FxHashMap<VertexId, Box<str>>,
        taking: Taking,
        window: Interval,
        touched: &'a roaring::RoaringBitmap,
        drift: u32,
        visitor: &'v mut dyn MatchVisitor,
    ) -> Self {
        let walked = if parts.tree.shared { vec![false; parts.tree.len()] } else { Vec::new() };
        let holds = Vec::new();
        Self { parts, kinds, marks, labels, taking, window, touched, visitor, walked, drift, holds }
    }

    /// Walks from the root. Returns whether anything is held.
    ///
    /// # Errors
    ///
    /// What the visitor fails with.
    pub(crate) fn run(&mut self, root: Mark) -> Result<bool, Error> {
        let shadow = self.is_exclusive(0);
        let step = Step {
            mark: root,
            depth: 0,
            shadow,
            under_exclusive: false,
            inherited: false,
            taken: false,
        };
        let below = match self.marks {
            [first, rest @ ..] if first.pos == 0 => rest,
            marks => marks,
        };
        Ok(self.vertex(step, below)?.held)
    }

    fn is_exclusive(&self, pos: u32) -> bool {
        self.parts.exclusive.contains(&self.parts.tree.slots[pos as usize].kind)
    }

    /// Walks a vertex; `marks` are those below it.
    fn vertex(&mut self, step: Step, mut marks: &'a [Mark]) -> Result<Passed, Error> {
        let tree = self.parts.tree;
        let pos = step.mark.pos;
        let shadow = step.shadow || self.is_exclusive(pos);
        let exclusive = step.mark.exclusive || shadow;
        let size = tree.sizes[pos as usize];
        // What is free of all plans is held once, at its top.
        let whole = shadow
            && !step.inherited
            && self.taking == Taking::Plan
            && !tree.shared
            && self.is_untouched(pos)
            && self.is_free(step, size);
        let inherited = step.inherited || whole;
        let plan = self.parts.plans.get(tree.slots[pos as usize].plan);
        let taken = step.taken || plan.is_some_and(|plan| plan.subtree_held_during(self.window));

        let mut below = Below { step, inherited, taken, exclusive, held: false, sums: None };
        if let Some(walked) = self.walked.get_mut(pos as usize) {
            *walked = true;
            for &child in tree.children(pos) {
                let marked =
                    marks.binary_search_by_key(&(child, pos), |mark| (mark.pos, mark.from));
                let mark = match marked {
                    _ if shadow => self.shadow(child),
                    Ok(at) => marks[at],
                    Err(_) => continue,
                };
                if !self.walked[child as usize] {
                    self.child(&mut below, mark, shadow, marks)?;
                }
            }
        } else if shadow {
            for &child in tree.children(pos) {
                let end = tree.slots[child as usize].end;
                let (inside, after) = marks.split_at(marks.partition_point(|mark| mark.pos < end));
                marks = after;
                let inside = without_first_at(inside, child);
                self.child(&mut below, self.shadow(child), true, inside)?;
            }
        } else {
            while let Some((&mark, rest)) = marks.split_first() {
                let slot = tree.slots[mark.pos as usize];
                if slot.parent != pos {
                    marks = rest; // the way to it is not marked
                    continue;
                }
                let (inside, after) =
                    rest.split_at(rest.partition_point(|mark| mark.pos < slot.end));
                marks = after;
                self.child(&mut below, mark, false, inside)?;
            }
        }
        let Below { held: held_below, mut sums, .. } = below;

        if !held_below && !exclusive {
            return Ok(Passed { held: false, sums: None });
        }
        let needs = if step.shadow { size } else { step.mark.needs };
        if self.taking == Taking::Plan && exclusive && !self.is_free(step, needs) {
            // Somebody else has it: it stays theirs and is not told of.
            self.drift += 1;
            return Ok(Passed { held: true, sums: None });
        }
        let overfull = if step.inherited { None } else { self.overfull(step, sums.as_deref()) };
        if !step.inherited {
            let planned = (exclusive && self.taking == Taking::Plan).then_some(needs);
            let subtree = whole && overfull.is_none();
            let sums = sums.clone();
            self.holds.push(Hold { pos, planned, subtree, tagged: true, sums, overfull });
        }
        if overfull.is_some() {
            self.drift += 1;
            return Ok(Passed { held: true, sums: None });
        }
        self.visitor.vertex(
            self.parts.graph,
            &EmittedVertex {
                vertex: tree.slots[pos as usize].vertex,
                depth: step.depth + self.drift,
                needs: u64::try_from(needs).unwrap_or(0),
                exclusive,
                under_exclusive: step.under_exclusive,
                label: self.labels.get(&tree.slots[pos as usize].vertex).map(|label| &**label),
                aggregates: &[],
            },
        )?;
        let kind = tree.slots[pos as usize].kind;
        if let Some(column) = self.kinds.iter().position(|known| *known == kind) {
            let taken = if exclusive { size } else { size.saturating_sub(needs) };
            let n = self.kinds.len();
            let sum = &mut sums.get_or_insert_with(|| smallvec![0; n])[column];
            *sum = sum.saturating_add(taken);
        }
        Ok(Passed { held: true, sums })
    }

    fn shadow(&self, pos: u32) -> Mark {
        Mark { pos, from: 0, needs: self.parts.tree.sizes[pos as usize], exclusive: true }
    }

    fn child(
        &mut self,
        above: &mut Below,
        mark: Mark,
        shadow: bool,
        marks: &'a [Mark],
    ) -> Result<(), Error> {
        let step = Step {
            mark,
            depth: above.step.depth + 1,
            shadow,
            under_exclusive: above.exclusive,
            inherited: above.inherited,
            taken: above.taken,
        };
        let passed = self.vertex(step, marks)?;
        if !passed.held {
            return Ok(());
        }
        above.held = true;
        let tree = self.parts.tree;
        self.visitor.edge(
            self.parts.graph,
            tree.slots[above.step.mark.pos as usize].vertex,
            tree.slots[mark.pos as usize].vertex,
            tree.subsystem,
            above.exclusive,
        )?;
        match (above.sums.as_mut(), passed.sums) {
            (Some(own), Some(passed)) => {
                for (own, passed) in own.iter_mut().zip(passed) {
                    *own = own.saturating_add(passed);
                }
            }
            (None, passed) => above.sums = passed,
            (Some(_), None) => {}
        }
        Ok(())
    }

    fn is_untouched(&self, pos: u32) -> bool {
        let end = self.parts.tree.slots[pos as usize].end;
        pos + 1 >= end || self.touched.range_cardinality(pos + 1..end) == 0
    }

    /// Returns the first lane without room for what is taken below a vertex.
    fn overfull(&self, step: Step, sums: Option<&[i64]>) -> Option<usize> {
        let slot = self.parts.tree.slots[step.mark.pos as usize];
        let totals = self.parts.aggregates.totals(slot.totals)?;
        let plan = self.parts.plans.get(slot.plan);
        if self.taking == Taking::Nothing {
            return None;
        }
        let sums = sums?;
        let Interval { start, end } = self.window;
        let lanes = self.parts.aggregates.lanes(slot.kind);
        lanes.iter().zip(totals).enumerate().position(|(lane, (kind, &total))| {
            let column = self.kinds.iter().position(|known| known == kind);
            let taken = column.map_or(0, |column| sums[column]);
            let held = match plan {
                _ if step.taken => total,
                Some(plan) => plan.tracked_during(start, end, lane),
                None => 0,
            };
            taken > total.saturating_sub(held)
        })
    }

    fn is_free(&self, step: Step, needs: i64) -> bool {
        let pos = step.mark.pos;
        let slot = self.parts.tree.slots[pos as usize];
        if step.taken {
            return needs == 0;
        }
        let Interval { start, end } = self.window;
        let planned =
            self.parts.plans.get(slot.plan).map_or(0, |plan| plan.planned_during(start, end));
        needs <= self.parts.tree.sizes[pos as usize] - planned
    }
}

/// What a vertex gathers from its children.
struct Below {
    step: Step,
    inherited: bool,
    taken: bool,
    exclusive: bool,
    held: bool,
    sums: Option<Sums>,
}

/// Returns the marks without the first one if that is at `pos`.
fn without_first_at(marks: &[Mark], pos: u32) -> &[Mark] {
    match marks {
        [first, rest @ ..] if first.pos == pos => rest,
        marks => marks,
    }
}
