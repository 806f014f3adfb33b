//! Plans put together from what is held, to compare with or to restore.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::Lanes;
use super::{ChildOrder, Held, Interval, Moment, Plan};
use crate::{JobId, VertexId};

/// A plan as a snapshot has it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PlanImage {
    pub(crate) vertex: u32,
    held: Vec<HeldImage>,
    /// By how much the first total changed, by time.
    unseen: Vec<(i64, i64)>,
    /// Amounts of tracked types by lane and in the order of times, where they are not what the jobs
    /// hold.
    lowered: Option<Vec<Vec<i64>>>,
    /// What edges to children weigh, by child.
    pub(crate) weights: Option<Vec<(u32, u64)>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct HeldImage {
    job: u64,
    start: i64,
    end: i64,
    planned: Option<i64>,
    reserved: bool,
    user: bool,
    tagged: bool,
    subtree: bool,
    counts: Option<Vec<i64>>,
}

impl Held {
    fn image(&self, job: JobId) -> HeldImage {
        HeldImage {
            job: job.0,
            start: self.interval.start,
            end: self.interval.end,
            planned: self.planned,
            reserved: self.reserved,
            user: self.user,
            tagged: self.tagged,
            subtree: self.subtree,
            counts: self.counts.as_ref().map(|counts| counts.to_vec()),
        }
    }

    fn from_image(image: &HeldImage, size: i64, n_tracked: usize) -> Result<Self, &'static str> {
        let interval = Interval { start: image.start, end: image.end };
        if interval.start < 0 || interval.end < interval.start {
            return Err("a span ends before it starts");
        }
        if image.planned.is_some_and(|planned| planned < 0 || planned > size) {
            return Err("more is planned than there is");
        }
        if image.counts.as_ref().is_some_and(|counts| counts.len() != n_tracked) {
            return Err("other types are counted than are tracked");
        }
        if image.counts.iter().flatten().any(|&count| count < -1) {
            return Err("an amount is negative");
        }
        Ok(Self {
            interval,
            planned: image.planned,
            reserved: image.reserved,
            user: image.user,
            tagged: image.tagged,
            subtree: image.subtree,
            counts: image.counts.as_ref().map(|counts| counts.iter().copied().collect()),
        })
    }
}

impl ChildOrder {
    fn image(&self) -> Vec<(u32, u64)> {
        let weights = self.weights.iter().map(|(child, &weight)| (child.0, weight));
        let mut weights: Vec<(u32, u64)> = weights.collect();
        weights.sort_unstable();
        weights
    }
}

impl Plan {
    /// Returns what [`Self::from_image`] needs.
    pub(crate) fn image(&self) -> PlanImage {
        let lowered = self.clamped.then(|| {
            let moments = self.timeline.moments();
            let lanes = Lanes::TRACKED..self.timeline.n_lanes();
            let lane = |lane| moments.iter().map(|moment: &Moment| moment.amounts[lane]).collect();
            lanes.map(lane).collect()
        });
        PlanImage {
            vertex: self.vertex.0,
            held: self.held.iter().map(|(&job, held)| held.image(job)).collect(),
            unseen: self.unseen.iter().map(|(&time, &change)| (time, change)).collect(),
            lowered,
            weights: self.order.as_deref().map(ChildOrder::image),
        }
    }

    /// Makes the plan of a vertex of which there is `size` of its image, without weights of edges.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with an image that no plan has.
    pub(crate) fn from_image(
        image: &PlanImage,
        size: i64,
        n_tracked: usize,
    ) -> Result<Self, &'static str> {
        let mut held = BTreeMap::new();
        for entry in &image.held {
            if held.insert(JobId(entry.job), Held::from_image(entry, size, n_tracked)?).is_some() {
                return Err("a job holds it twice");
            }
        }
        // Amounts that do not add up would overflow when they are entered.
        let expected = moments_of(&held, n_tracked).ok_or("what is held overflows")?;
        let mut plan = Self::new(VertexId(image.vertex), n_tracked);
        for (job, held) in held {
            plan.insert(job, held);
        }
        if let Some(lowered) = &image.lowered {
            if lowered.len() != n_tracked || expected.is_empty() {
                return Err("lowered amounts are of other types than are tracked");
            }
            for (lane, amounts) in (Lanes::TRACKED..).zip(lowered) {
                let truths = expected.iter().map(|moment| moment.amounts[lane]);
                let fits = amounts.iter().zip(truths).all(|(&amount, truth)| {
                    amount <= truth && amount.checked_neg().is_some_and(|less| less <= i64::MAX / 2)
                });
                if amounts.len() != expected.len() || !fits {
                    return Err("lowered amounts are not below what is held");
                }
                plan.timeline.replace(lane, amounts);
            }
            plan.clamped = true;
        }
        plan.unseen = image.unseen.iter().copied().collect();
        Ok(plan)
    }

    /// Returns what in the plan does not follow from what is held.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        let counted = self.held.values().fold([0_u32; 3], |mut counts, held| {
            for (count, counted) in counts.iter_mut().zip(held.counted()) {
                *count += u32::from(counted);
            }
            counts
        });
        if counted != self.counted() {
            return Some("allocations and subtrees are counted wrongly");
        }
        if !self.timeline.is_sound() {
            return Some("the timeline is no tree");
        }
        let n_tracked = self.n_tracked();
        if self.held.values().flat_map(|held| &held.counts).any(|held| held.len() != n_tracked) {
            return Some("other types are counted than are tracked");
        }
        let Some(mut expected) = moments_of(&self.held, n_tracked) else {
            return Some("what is held overflows");
        };
        let given = self.timeline.moments();
        if self.clamped && given.len() == expected.len() {
            // Amounts that were lowered may stay below what is held.
            for (given, expected) in given.iter().zip(&mut expected) {
                for lane in Lanes::TRACKED..given.amounts.len() {
                    let truth = &mut expected.amounts[lane];
                    *truth = given.amounts[lane].min(*truth);
                }
            }
        }
        (given != expected).then_some("the timeline is not the sum of what is held")
    }

    /// Returns how much of the vertex is planned at most, together with `size` for each of
    /// `inherited`.
    pub(crate) fn peak(&self, inherited: &[Interval], size: i64) -> i128 {
        let own = self.held.values().filter_map(|held| Some((held.interval, held.planned?)));
        let spans = own.chain(inherited.iter().map(|&interval| (interval, size)));
        let mut steps: Vec<(i64, i128)> = spans
            .flat_map(|(span, amount)| {
                [(span.start, amount.into()), (span.end, -i128::from(amount))]
            })
            .collect();
        // What ends at a second is gone before what starts then.
        steps.sort_unstable();
        let mut planned = 0;
        let sums = steps.into_iter().map(|(_, step)| {
            planned += step;
            planned
        });
        sums.max().unwrap_or(0)
    }
}

/// Returns what the timeline says if jobs hold this, `None` where amounts overflow.
fn moments_of(held: &BTreeMap<JobId, Held>, n_tracked: usize) -> Option<Vec<Moment>> {
    #[derive(Default)]
    struct Change {
        spans: u32,
        events: u32,
        by: Vec<i128>,
    }
    let n_lanes = Lanes::TRACKED + n_tracked;
    let mut changes: BTreeMap<i64, Change> = BTreeMap::new();
    for held in held.values() {
        for (time, sign) in [(held.interval.start, 1), (held.interval.end, -1)] {
            let change = changes.entry(time).or_default();
            change.spans += 1;
            change.events += u32::from(held.makes_events());
            change.by.resize(n_lanes, 0);
            change.by[Lanes::PLANNED] += sign * i128::from(held.planned.unwrap_or(0));
            change.by[Lanes::USERS] += sign * i128::from(held.user);
            for (lane, &count) in (Lanes::TRACKED..n_lanes).zip(held.counts.iter().flatten()) {
                change.by[lane] += sign * i128::from(count.max(0));
            }
        }
    }
    let mut sums = vec![0_i128; n_lanes];
    let moments = changes.into_iter().map(|(time, Change { spans, events, by })| {
        for (sum, by) in sums.iter_mut().zip(by) {
            *sum += by;
        }
        let amounts = sums.iter().map(|&sum| i64::try_from(sum).ok()).collect::<Option<_>>()?;
        Some(Moment { time, spans, events, amounts })
    });
    moments.collect()
}
