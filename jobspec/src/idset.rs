//! Sets of non-negative integers and their text form (RFC 22).

use std::fmt;
use std::str::FromStr;

/// A set of non-negative integers, kept as sorted ranges.
///
/// **Complexity**: memory is proportional to the number of ranges, not of ids,
/// so that `0-4294967294` is as cheap as `0`.
///
/// **Source**: RFC 22.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Idset {
    /// Inclusive, ascending, with at least one absent id between neighbours.
    ranges: Vec<(u64, u64)>,
}

/// Why a text is not an idset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdsetError {
    /// Brackets are unbalanced, nested, or not around the whole.
    #[error("expected brackets around the whole idset or none, found `{found}`")]
    Brackets {
        /// The text.
        found: String,
    },
    /// An element is neither an id nor a range.
    #[error("expected an id or an ascending range such as `3` or `0-7`, found `{found}`")]
    Element {
        /// The element.
        found: String,
    },
    /// An element does not come after the one before it.
    #[error("expected ascending ids, found `{found}` after {last}")]
    Order {
        /// The element.
        found: String,
        /// The largest id before it.
        last: u64,
    },
}

impl Idset {
    /// Returns the empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads an idset such as `0-3,7` or `[0-3,7]`.
    ///
    /// The empty text and `[]` stand for the empty set. As in flux-core, an
    /// empty element, as in `1,,2`, is passed over.
    ///
    /// **Complexity**: linear in the length of the text.
    ///
    /// # Errors
    ///
    /// Returns an [`IdsetError`] for unbalanced brackets, for anything but
    /// decimal digits without leading zeros, for a range that does not ascend,
    /// and for ids out of order.
    ///
    /// **Source**: RFC 22.
    pub fn decode(text: &str) -> Result<Self, IdsetError> {
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if inner.contains(['[', ']']) {
            return Err(IdsetError::Brackets { found: text.to_owned() });
        }
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for element in inner.split(',').filter(|element| !element.is_empty()) {
            let (low, high) = decode_range(element)
                .ok_or_else(|| IdsetError::Element { found: element.to_owned() })?;
            match ranges.last_mut() {
                Some((_, last)) if low <= *last => {
                    return Err(IdsetError::Order { found: element.to_owned(), last: *last });
                }
                Some((_, last)) if last.checked_add(1) == Some(low) => *last = high,
                _ => ranges.push((low, high)),
            }
        }
        Ok(Self { ranges })
    }

    /// Returns the text form: ranges, no brackets, no spaces; empty for the
    /// empty set.
    ///
    /// **Source**: RFC 22.
    pub fn encode(&self) -> String {
        self.to_string()
    }

    /// Adds an id; returns whether it was absent.
    ///
    /// **Complexity**: O(log r) to find the place among r ranges, O(r) to make
    /// room for a new range that is not the last.
    pub fn insert(&mut self, id: u64) -> bool {
        if self.contains(id) {
            return false;
        }
        self.insert_range(id, id);
        true
    }

    /// Adds the ids from `low` to `high`, both included; nothing if `low` is
    /// above `high`.
    ///
    /// **Complexity**: as [`Idset::insert`].
    pub fn insert_range(&mut self, low: u64, high: u64) {
        if low > high {
            return;
        }
        // Ranges that overlap or touch [low, high] are replaced by their union.
        let first = self.ranges.partition_point(|&(_, end)| end < low.saturating_sub(1));
        let after = self.ranges.partition_point(|&(start, _)| start <= high.saturating_add(1));
        let mut joined = (low, high);
        if let [(start, _), ..] = self.ranges[first..after] {
            joined.0 = low.min(start);
            joined.1 = high.max(self.ranges[after - 1].1);
        }
        self.ranges.splice(first..after, [joined]);
    }

    /// Adds every id of `other`.
    pub fn extend_from(&mut self, other: &Self) {
        for &(low, high) in &other.ranges {
            self.insert_range(low, high);
        }
    }

    /// Returns whether the set has this id.
    ///
    /// **Complexity**: logarithmic in the number of ranges.
    pub fn contains(&self, id: u64) -> bool {
        let at = self.ranges.partition_point(|&(_, end)| end < id);
        self.ranges.get(at).is_some_and(|&(start, _)| start <= id)
    }

    /// Returns the number of ids, or `u64::MAX` if there are more.
    ///
    /// **Complexity**: linear in the number of ranges.
    pub fn len(&self) -> u64 {
        self.ranges.iter().fold(0, |total: u64, &(low, high)| {
            total.saturating_add((high - low).saturating_add(1))
        })
    }

    /// Returns whether the set has no ids.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the smallest id.
    pub fn first(&self) -> Option<u64> {
        self.ranges.first().map(|&(low, _)| low)
    }

    /// Returns the largest id.
    pub fn last(&self) -> Option<u64> {
        self.ranges.last().map(|&(_, high)| high)
    }

    /// Returns the largest id that is not above `bound`.
    ///
    /// **Complexity**: logarithmic in the number of ranges.
    pub fn largest_at_most(&self, bound: u64) -> Option<u64> {
        let after = self.ranges.partition_point(|&(low, _)| low <= bound);
        let (_, high) = *self.ranges.get(after.checked_sub(1)?)?;
        Some(high.min(bound))
    }

    /// Returns the ids in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges.iter().flat_map(|&(low, high)| low..=high)
    }

    /// Returns the ranges, both ends included, ascending and apart from each
    /// other.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }
}

impl fmt::Display for Idset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (low, high)) in self.ranges.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            if low == high {
                write!(f, "{low}")?;
            } else {
                write!(f, "{low}-{high}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Idset {
    type Err = IdsetError;

    fn from_str(text: &str) -> Result<Self, IdsetError> {
        Self::decode(text)
    }
}

/// Ranges with both ends included, in any order; those that descend are empty.
///
/// **Complexity**: O(n log n).
impl FromIterator<(u64, u64)> for Idset {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(given: I) -> Self {
        let mut given: Vec<(u64, u64)> =
            given.into_iter().filter(|(low, high)| low <= high).collect();
        given.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (low, high) in given {
            match ranges.last_mut() {
                Some((_, last)) if low <= last.saturating_add(1) => *last = high.max(*last),
                _ => ranges.push((low, high)),
            }
        }
        Self { ranges }
    }
}

impl FromIterator<u64> for Idset {
    fn from_iter<I: IntoIterator<Item = u64>>(ids: I) -> Self {
        ids.into_iter().map(|id| (id, id)).collect()
    }
}

impl FromIterator<u32> for Idset {
    fn from_iter<I: IntoIterator<Item = u32>>(ids: I) -> Self {
        ids.into_iter().map(u64::from).collect()
    }
}

impl Extend<u64> for Idset {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, ids: I) {
        for id in ids {
            self.insert_range(id, id);
        }
    }
}

fn decode_range(element: &str) -> Option<(u64, u64)> {
    match element.split_once('-') {
        None => {
            let id = decode_id(element)?;
            Some((id, id))
        }
        Some((low, high)) => {
            let (low, high) = (decode_id(low)?, decode_id(high)?);
            (low < high).then_some((low, high))
        }
    }
}

/// Reads decimal digits without leading zeros.
pub(crate) fn decode_id(text: &str) -> Option<u64> {
    let digits = text.as_bytes();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    if digits[0] == b'0' && digits.len() > 1 {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;
    use std::collections::BTreeSet;

    #[test]
    fn texts_that_are_idsets() {
        let table = [
            ("", "", 0),
            ("[]", "", 0),
            ("2", "2", 1),
            ("[2]", "2", 1),
            ("0", "0", 1),
            ("7-9", "7-9", 3),
            ("1,7-9,14,16", "1,7-9,14,16", 6),
            ("2,3,4,5", "2-5", 4),
            ("0-1,2-3", "0-3", 4),
            ("1,,2,", "1-2", 2),
            ("1048576", "1048576", 1),
            ("0-4294967294", "0-4294967294", 4_294_967_295),
        ];
        for (text, encoded, len) in table {
            let set = Idset::decode(text).unwrap();
            assert_eq!(set.encode(), encoded, "{text}");
            assert_eq!(set.len(), len, "{text}");
        }
    }

    #[test]
    fn texts_that_are_not() {
        let table = [
            "4.2",
            "x",
            "1-2x",
            "01,2",
            "00",
            "3,2",
            "3-0",
            "2-2",
            "2,2",
            "[0",
            "0]",
            "[[0]]",
            "[[0,2]",
            "[0,2]]",
            "0,[2",
            "0]2",
            "0-",
            "[0-]",
            "-5",
            "[-5]",
            "1 ",
            " 1",
            "+1",
            "[",
            "1-2-3",
            "[1],[2]",
            "99999999999999999999",
        ];
        for text in table {
            assert!(Idset::decode(text).is_err(), "{text}");
        }
    }

    #[test]
    fn whole_range_of_ids() {
        let mut set = Idset::new();
        set.insert_range(0, u64::MAX);
        assert_eq!(set.len(), u64::MAX);
        assert!(set.contains(u64::MAX));
        assert!(!set.insert(5));
        assert_eq!(set.largest_at_most(17), Some(17));
        assert_eq!(Idset::decode(&set.encode()).unwrap(), set);
    }

    #[test]
    fn insertion_joins_neighbours() {
        let mut set = Idset::decode("0-1,5,9").unwrap();
        assert!(set.insert(3));
        assert_eq!(set.encode(), "0-1,3,5,9");
        set.insert_range(2, 2);
        assert_eq!(set.encode(), "0-3,5,9");
        set.insert_range(4, 20);
        assert_eq!(set.encode(), "0-20");
        set.insert_range(7, 3);
        assert_eq!(set.encode(), "0-20");
    }

    quickcheck! {
        fn set_is_a_sorted_set(ids: Vec<u8>, probe: u8) -> bool {
            let model: BTreeSet<u64> = ids.iter().map(|&id| u64::from(id)).collect();
            let collected: Idset = model.iter().copied().collect();
            let mut inserted = Idset::new();
            for &id in &ids {
                inserted.insert(u64::from(id));
            }
            let probe = u64::from(probe);
            collected == inserted
                && inserted.iter().eq(model.iter().copied())
                && inserted.len() == model.len() as u64
                && inserted.contains(probe) == model.contains(&probe)
                && inserted.largest_at_most(probe) == model.range(..=probe).next_back().copied()
                && inserted.first() == model.first().copied()
                && inserted.last() == model.last().copied()
        }

        fn decoding_undoes_encoding(ids: Vec<u64>) -> bool {
            let set: Idset = ids.into_iter().collect();
            Idset::decode(&set.encode()).as_ref() == Ok(&set)
                && Idset::decode(&format!("[{set}]")).as_ref() == Ok(&set)
        }

        fn ranges_insert_as_their_ids(ranges: Vec<(u8, u8)>) -> bool {
            let mut set = Idset::new();
            let mut model = BTreeSet::new();
            for (low, high) in ranges {
                set.insert_range(low.into(), high.into());
                model.extend((low..=high).map(u64::from));
            }
            set == model.into_iter().collect::<Idset>()
        }

        fn ranges_in_any_order_are_their_union(ranges: Vec<(u8, u8)>) -> bool {
            let mut inserted = Idset::new();
            let wide = || ranges.iter().map(|&(low, high)| (u64::from(low), u64::from(high)));
            wide().for_each(|(low, high)| inserted.insert_range(low, high));
            inserted == wide().collect::<Idset>()
        }
    }
}
