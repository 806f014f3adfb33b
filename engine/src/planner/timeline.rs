//! Amounts over time: a balanced tree of the times at which an amount changes.
//!
//! Several amounts ("lanes") share the times. A point holds, for each lane, the amount from its
//! time to the next point's. Points carry the largest and the smallest amount of their subtree and
//! what is still to be added to all of it, so that adding a span, the largest amount in a window
//! and the earliest fit are each O(log n) in the number of points.
//!
//! The tree is a treap (Seidel and Aragon, "Randomized search trees", 1996) whose priorities are
//! hashes of the times: its shape depends on the set of times alone.

use std::cmp::Ordering;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Point {
    time: i64,
    left: u32,
    right: u32,
    /// How many spans start or end here.
    spans: u32,
    /// How many of them are in lane [`Timeline::EVENT_LANE`].
    events: u32,
}

/// What a timeline says of one of its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) time: i64,
    /// How many spans start or end here, and how many of them in the event lane.
    pub(crate) spans: u32,
    pub(crate) events: u32,
    /// The amounts from here to the next time, by lane.
    pub(crate) amounts: Vec<i64>,
}

/// One lane of one point.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    amount: i64,
    max: i64,
    min: i64,
    /// To be added to everything below, but not here.
    pending: i64,
}

/// Amounts over time, all 0 before the first point.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    lanes: usize,
    points: Vec<Point>,
    cells: Vec<Cell>,
    free: Vec<u32>,
    root: u32,
}

impl Timeline {
    /// The lane whose starts and ends are told by [`Self::first_fit`].
    pub(crate) const EVENT_LANE: usize = 2;

    pub(crate) fn new(lanes: usize) -> Self {
        Self { lanes, points: Vec::new(), cells: Vec::new(), free: Vec::new(), root: NONE }
    }

    /// Makes `start` and `end` points. Amounts do not change.
    pub(crate) fn hold_points(&mut self, start: i64, end: i64, events: bool) {
        for time in [start, end] {
            let at = match self.find(time) {
                Some(at) => at,
                None => self.insert(time),
            };
            let point = &mut self.points[at as usize];
            point.spans += 1;
            point.events += u32::from(events);
        }
    }

    /// Undoes one [`Self::hold_points`]; amounts must be back to what they were before it.
    pub(crate) fn drop_points(&mut self, start: i64, end: i64, events: bool) {
        for time in [start, end] {
            let Some(at) = self.find(time) else { continue };
            let point = &mut self.points[at as usize];
            point.events -= u32::from(events);
            point.spans -= 1;
            if point.spans == 0 {
                self.root = self.remove(self.root, time);
                self.free.push(at);
            }
        }
    }

    /// Adds `delta` to `lane` from `start` to `end`, both of which must be points.
    pub(crate) fn add(&mut self, start: i64, end: i64, lane: usize, delta: i64) {
        if delta != 0 {
            self.add_below(self.root, i64::MIN, i64::MAX, (start, end), lane, delta);
        }
    }

    /// Returns the largest amount of `lane` at any second of `[start, end)`.
    pub(crate) fn max_during(&self, start: i64, end: i64, lane: usize) -> i64 {
        let inside = self.max_below(self.root, i64::MIN, i64::MAX, (start, end), lane, 0);
        self.amount_at(start, lane).max(inside)
    }

    /// Returns the amount of `lane` at second `time`.
    pub(crate) fn amount_at(&self, time: i64, lane: usize) -> i64 {
        let (mut at, mut pending, mut amount) = (self.root, 0, 0);
        while at != NONE {
            let (point, cell) = (&self.points[at as usize], self.cell(at, lane));
            if point.time <= time {
                amount = cell.amount + pending;
                at = point.right;
            } else {
                at = point.left;
            }
            pending += cell.pending;
        }
        amount
    }

    /// Returns the first time at or after `from` that is a start or end in the event lane, at
    /// which and for `duration` after which that lane stays at or below `most`.
    pub(crate) fn first_fit(&self, from: i64, duration: i64, most: i64) -> Option<i64> {
        let lane = Self::EVENT_LANE;
        let mut from = from;
        loop {
            let (time, events) = self.next_at_most(self.root, from, lane, most, 0)?;
            let end = time.saturating_add(duration);
            match self.next_above(self.root, (time, end), lane, most, 0) {
                // Whatever starts before the obstacle runs into it.
                Some(obstacle) => from = obstacle.checked_add(1)?,
                None if events > 0 => return Some(time),
                None => from = time.checked_add(1)?,
            }
        }
    }

    /// Returns the times at which something starts or ends in the event lane.
    pub(crate) fn events(&self) -> Vec<i64> {
        let mut events = Vec::new();
        let mut stack = vec![self.root];
        while let Some(at) = stack.pop() {
            if at != NONE {
                let Point { time, left, right, events: n, .. } = self.points[at as usize];
                if n > 0 {
                    events.push(time);
                }
                stack.extend([left, right]);
            }
        }
        events
    }

    /// Lowers amounts of a lane above `most` to it. O(n).
    pub(crate) fn clamp(&mut self, lane: usize, most: i64) {
        self.map_below(self.root, lane, &mut |amount| amount.min(most));
    }

    /// Replaces the amounts of a lane, in the order of their times, for as long as there are others.
    /// O(n).
    pub(crate) fn replace(&mut self, lane: usize, amounts: &[i64]) {
        let mut amounts = amounts.iter();
        self.map_below(self.root, lane, &mut |amount| amounts.next().copied().unwrap_or(amount));
    }

    fn map_below(&mut self, at: u32, lane: usize, other: &mut dyn FnMut(i64) -> i64) {
        if at == NONE {
            return;
        }
        self.push_down(at);
        let Point { left, right, .. } = self.points[at as usize];
        self.map_below(left, lane, other);
        let cell = &mut self.cells_mut(at)[lane];
        cell.amount = other(cell.amount);
        self.map_below(right, lane, other);
        self.refresh_lane(at, lane);
    }

    /// Returns what changes at each time, in order. O(n · lanes).
    pub(crate) fn moments(&self) -> Vec<Moment> {
        let mut moments = Vec::new();
        self.gather(self.root, &vec![0; self.lanes], &mut moments);
        moments
    }

    fn gather(&self, at: u32, pending: &[i64], moments: &mut Vec<Moment>) {
        if at == NONE {
            return;
        }
        let Point { time, left, right, spans, events } = self.points[at as usize];
        let lanes = || (0..self.lanes).map(|lane| (self.cell(at, lane), pending[lane]));
        let below: Vec<i64> = lanes().map(|(cell, pending)| cell.pending + pending).collect();
        let amounts = lanes().map(|(cell, pending)| cell.amount + pending).collect();
        self.gather(left, &below, moments);
        moments.push(Moment { time, spans, events, amounts });
        self.gather(right, &below, moments);
    }

    /// Returns whether the tree is one: ordered by time, heaped by priority, with the largest and the
    /// smallest amounts below each point told truly. O(n · lanes).
    pub(crate) fn is_sound(&self) -> bool {
        let ordered = self.moments().windows(2).all(|pair| pair[0].time < pair[1].time);
        ordered && self.is_sound_below(self.root)
    }

    fn is_sound_below(&self, at: u32) -> bool {
        if at == NONE {
            return true;
        }
        let Point { time, left, right, .. } = self.points[at as usize];
        let children = || [left, right].into_iter().filter(|&child| child != NONE);
        let heaped = |child: u32| priority(self.points[child as usize].time) <= priority(time);
        let bounded = |lane: usize| {
            let Cell { amount, max, min, pending } = *self.cell(at, lane);
            let below = || children().map(|child| self.cell(child, lane));
            let largest = below().fold(amount, |max, cell| max.max(cell.max + pending));
            let smallest = below().fold(amount, |min, cell| min.min(cell.min + pending));
            (max, min) == (largest, smallest)
        };
        children().all(heaped)
            && (0..self.lanes).all(bounded)
            && children().all(|child| self.is_sound_below(child))
    }

    pub(crate) fn n_lanes(&self) -> usize {
        self.lanes
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.root == NONE
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.points.capacity() * size_of::<Point>()
            + self.cells.capacity() * size_of::<Cell>()
            + self.free.capacity() * size_of::<u32>()
    }

    // ---- tree --------------------------------------------------------------------------------

    fn cell(&self, at: u32, lane: usize) -> &Cell {
        &self.cells[at as usize * self.lanes + lane]
    }

    fn cells_mut(&mut self, at: u32) -> &mut [Cell] {
        let start = at as usize * self.lanes;
        &mut self.cells[start..start + self.lanes]
    }

    fn find(&self, time: i64) -> Option<u32> {
        let mut at = self.root;
        while at != NONE {
            let point = &self.points[at as usize];
            match time.cmp(&point.time) {
                std::cmp::Ordering::Equal => return Some(at),
                std::cmp::Ordering::Less => at = point.left,
                std::cmp::Ordering::Greater => at = point.right,
            }
        }
        None
    }

    fn insert(&mut self, time: i64) -> u32 {
        let amounts: Vec<i64> = (0..self.lanes).map(|lane| self.amount_at(time, lane)).collect();
        let point = Point { time, left: NONE, right: NONE, spans: 0, events: 0 };
        let at = if let Some(at) = self.free.pop() {
            self.points[at as usize] = point;
            at
        } else {
            self.points.push(point);
            self.cells.resize(self.points.len() * self.lanes, Cell::default());
            // A timeline has at most two points a span, and spans are counted in 32 bits.
            u32::try_from(self.points.len() - 1).unwrap_or(NONE)
        };
        for (cell, amount) in self.cells_mut(at).iter_mut().zip(amounts) {
            *cell = Cell { amount, max: amount, min: amount, pending: 0 };
        }
        self.root = self.insert_below(self.root, at);
        at
    }

    fn insert_below(&mut self, root: u32, at: u32) -> u32 {
        if root == NONE {
            return at;
        }
        let time = self.points[at as usize].time;
        if priority(time) > priority(self.points[root as usize].time) {
            let (left, right) = self.split(root, time);
            (self.points[at as usize].left, self.points[at as usize].right) = (left, right);
            self.refresh(at);
            return at;
        }
        self.push_down(root);
        if time < self.points[root as usize].time {
            let left = self.insert_below(self.points[root as usize].left, at);
            self.points[root as usize].left = left;
        } else {
            let right = self.insert_below(self.points[root as usize].right, at);
            self.points[root as usize].right = right;
        }
        self.refresh(root);
        root
    }

    /// Splits into the points before `time` and those after it.
    fn split(&mut self, root: u32, time: i64) -> (u32, u32) {
        if root == NONE {
            return (NONE, NONE);
        }
        self.push_down(root);
        if self.points[root as usize].time < time {
            let (left, right) = self.split(self.points[root as usize].right, time);
            self.points[root as usize].right = left;
            self.refresh(root);
            (root, right)
        } else {
            let (left, right) = self.split(self.points[root as usize].left, time);
            self.points[root as usize].left = right;
            self.refresh(root);
            (left, root)
        }
    }

    fn remove(&mut self, root: u32, time: i64) -> u32 {
        if root == NONE {
            return NONE;
        }
        self.push_down(root);
        let Point { time: here, left, right, .. } = self.points[root as usize];
        match time.cmp(&here) {
            Ordering::Less => self.points[root as usize].left = self.remove(left, time),
            Ordering::Greater => self.points[root as usize].right = self.remove(right, time),
            Ordering::Equal => return self.merge(left, right),
        }
        self.refresh(root);
        root
    }

    fn merge(&mut self, left: u32, right: u32) -> u32 {
        if left == NONE || right == NONE {
            return if left == NONE { right } else { left };
        }
        let (time_left, time_right) =
            (self.points[left as usize].time, self.points[right as usize].time);
        if priority(time_left) > priority(time_right) {
            self.push_down(left);
            self.points[left as usize].right = self.merge(self.points[left as usize].right, right);
            self.refresh(left);
            left
        } else {
            self.push_down(right);
            self.points[right as usize].left = self.merge(left, self.points[right as usize].left);
            self.refresh(right);
            right
        }
    }

    fn push_down(&mut self, at: u32) {
        let Point { left, right, .. } = self.points[at as usize];
        for lane in 0..self.lanes {
            let delta = std::mem::take(&mut self.cells_mut(at)[lane].pending);
            if delta != 0 {
                self.raise(left, lane, delta);
                self.raise(right, lane, delta);
            }
        }
    }

    /// Adds `delta` to a whole subtree.
    fn raise(&mut self, at: u32, lane: usize, delta: i64) {
        if at != NONE {
            let cell = &mut self.cells_mut(at)[lane];
            cell.amount += delta;
            cell.max += delta;
            cell.min += delta;
            cell.pending += delta;
        }
    }

    fn refresh(&mut self, at: u32) {
        for lane in 0..self.lanes {
            self.refresh_lane(at, lane);
        }
    }

    fn refresh_lane(&mut self, at: u32, lane: usize) {
        let Point { left, right, .. } = self.points[at as usize];
        let Cell { amount, pending, .. } = *self.cell(at, lane);
        let (mut max, mut min) = (amount, amount);
        for child in [left, right] {
            if child != NONE {
                let cell = self.cell(child, lane);
                max = max.max(cell.max + pending);
                min = min.min(cell.min + pending);
            }
        }
        let cell = &mut self.cells_mut(at)[lane];
        (cell.max, cell.min) = (max, min);
    }

    /// Adds to the points of `[span.0, span.1)` in a subtree whose times lie in `[low, high]`.
    fn add_below(
        &mut self,
        at: u32,
        low: i64,
        high: i64,
        span: (i64, i64),
        lane: usize,
        delta: i64,
    ) {
        if at == NONE || high < span.0 || low >= span.1 {
            return;
        }
        if low >= span.0 && high < span.1 {
            self.raise(at, lane, delta);
            return;
        }
        let Point { time, left, right, .. } = self.points[at as usize];
        if time >= span.0 && time < span.1 {
            self.cells_mut(at)[lane].amount += delta;
        }
        self.add_below(left, low, time.saturating_sub(1), span, lane, delta);
        self.add_below(right, time.saturating_add(1), high, span, lane, delta);
        self.refresh_lane(at, lane);
    }

    /// The largest amount of the points strictly inside `window`.
    fn max_below(
        &self,
        at: u32,
        low: i64,
        high: i64,
        window: (i64, i64),
        lane: usize,
        pending: i64,
    ) -> i64 {
        if at == NONE || high <= window.0 || low >= window.1 {
            return i64::MIN;
        }
        let cell = self.cell(at, lane);
        if low > window.0 && high < window.1 {
            return cell.max + pending;
        }
        let Point { time, left, right, .. } = self.points[at as usize];
        let below = pending + cell.pending;
        let mut max = i64::MIN;
        if time > window.0 && time < window.1 {
            max = cell.amount + pending;
        }
        if time > window.0 {
            max = max.max(self.max_below(left, low, time - 1, window, lane, below));
        }
        if time < window.1 {
            max = max.max(self.max_below(right, time.saturating_add(1), high, window, lane, below));
        }
        max
    }

    /// The first point at or after `from` whose amount is at most `most`, with its events.
    fn next_at_most(
        &self,
        at: u32,
        from: i64,
        lane: usize,
        most: i64,
        pending: i64,
    ) -> Option<(i64, u32)> {
        if at == NONE || self.cell(at, lane).min + pending > most {
            return None;
        }
        let Point { time, left, right, events, .. } = self.points[at as usize];
        let cell = self.cell(at, lane);
        let below = pending + cell.pending;
        if time > from
            && let Some(found) = self.next_at_most(left, from, lane, most, below)
        {
            return Some(found);
        }
        if time >= from && cell.amount + pending <= most {
            return Some((time, events));
        }
        self.next_at_most(right, from, lane, most, below)
    }

    /// The first point strictly inside `window` whose amount is above `most`.
    fn next_above(
        &self,
        at: u32,
        window: (i64, i64),
        lane: usize,
        most: i64,
        pending: i64,
    ) -> Option<i64> {
        if at == NONE || self.cell(at, lane).max + pending <= most {
            return None;
        }
        let Point { time, left, right, .. } = self.points[at as usize];
        let cell = self.cell(at, lane);
        let below = pending + cell.pending;
        if time > window.0
            && let Some(found) = self.next_above(left, window, lane, most, below)
        {
            return Some(found);
        }
        if time > window.0 && time < window.1 && cell.amount + pending > most {
            return Some(time);
        }
        if time < window.1 { self.next_above(right, window, lane, most, below) } else { None }
    }
}

/// A hash of the time (the finaliser of `SplitMix64`), with the time itself against ties.
fn priority(time: i64) -> (u64, i64) {
    let mut z = (time as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31), time)
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    #[derive(Clone, Debug)]
    struct Spans(Vec<(i64, i64, i64)>);

    impl quickcheck::Arbitrary for Spans {
        fn arbitrary(g: &mut quickcheck::Gen) -> Self {
            let n = usize::arbitrary(g) % 24;
            let one = |g: &mut quickcheck::Gen| {
                let start = i64::from(u8::arbitrary(g) % 40);
                (
                    start,
                    start + 1 + i64::from(u8::arbitrary(g) % 12),
                    1 + i64::from(u8::arbitrary(g) % 4),
                )
            };
            Self((0..n).map(|_| one(g)).collect())
        }

        fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
            let spans = self.0.clone();
            Box::new((0..spans.len()).map(move |i| {
                let mut fewer = spans.clone();
                fewer.remove(i);
                Self(fewer)
            }))
        }
    }

    fn index(second: i64) -> usize {
        usize::try_from(second).expect("seconds are not negative")
    }

    /// An array with one amount per second.
    fn naive(spans: &[(i64, i64, i64)]) -> Vec<i64> {
        let mut amounts = vec![0; 64];
        for &(start, end, amount) in spans {
            for second in start..end {
                amounts[index(second)] += amount;
            }
        }
        amounts
    }

    fn timeline(spans: &[(i64, i64, i64)]) -> Timeline {
        let mut timeline = Timeline::new(3);
        for &(start, end, amount) in spans {
            timeline.hold_points(start, end, true);
            timeline.add(start, end, 2, amount);
        }
        timeline
    }

    fn agrees(timeline: &Timeline, spans: &[(i64, i64, i64)]) -> bool {
        let amounts = naive(spans);
        let mut events: Vec<i64> = spans.iter().flat_map(|span| [span.0, span.1]).collect();
        events.sort_unstable();
        (0..60).all(|start| {
            let at = timeline.amount_at(start, 2) == amounts[index(start)];
            let windows = [1, 2, 5, 20].iter().all(|&duration| {
                let end = (start + duration).min(64);
                let most = amounts[index(start)..index(end)].iter().max();
                Some(&timeline.max_during(start, start + duration, 2)) == most
            });
            let fits = [(1, 0), (3, 2), (9, 4)].iter().all(|&(duration, most)| {
                let fit = events.iter().copied().find(|&event| {
                    let end = index((event + duration).min(64));
                    event >= start && amounts[index(event)..end].iter().all(|&a| a <= most)
                });
                timeline.first_fit(start, duration, most) == fit
            });
            at && windows && fits
        })
    }

    quickcheck! {
        fn timeline_agrees_with_an_array(spans: Spans) -> bool {
            agrees(&timeline(&spans.0), &spans.0)
        }

        fn removing_spans_leaves_the_others(spans: Spans, keep: usize) -> bool {
            let keep = keep % (spans.0.len() + 1);
            let mut timeline = timeline(&spans.0);
            for &(start, end, amount) in &spans.0[keep..] {
                timeline.add(start, end, 2, -amount);
                timeline.drop_points(start, end, true);
            }
            agrees(&timeline, &spans.0[..keep]) && (keep > 0 || timeline.is_empty())
        }
    }
}
