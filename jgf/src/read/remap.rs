//! New names for the resources of a nested instance.

use std::collections::BTreeMap;

/// Which ranks and ids stand for those of a text.
///
/// A nested instance numbers its own ranks from 0 and sees the cores and gpus of a node under its
/// own ids. A remap says for a range of ranks of the text what the ranks and ids become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remap {
    /// By the lowest rank of each range. The ranges do not overlap.
    ranges: BTreeMap<u64, Range>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    high: u64,
    /// The first of the new ranks, if they are given.
    first_rank: Option<u64>,
    ids: BTreeMap<Box<str>, BTreeMap<u64, u64>>,
}

/// Why a remap was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemapError {
    /// A range ends before it begins, or the ranges of old and new ranks differ in length.
    #[error("ranks {low}-{high} cannot be remapped: not an ascending range of the same length")]
    Range {
        /// The lowest rank.
        low: u64,
        /// The highest rank.
        high: u64,
    },
    /// A range overlaps another without being the same.
    #[error("ranks {low}-{high} overlap another range")]
    Overlap {
        /// The lowest rank.
        low: u64,
        /// The highest rank.
        high: u64,
    },
    /// Something is remapped twice.
    #[error("ranks {low}-{high}: {id} is remapped already")]
    Exists {
        /// The lowest rank.
        low: u64,
        /// The highest rank.
        high: u64,
        /// The id, or the rank.
        id: u64,
    },
}

impl Remap {
    /// Returns a remap that leaves everything as it is.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether nothing is remapped.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Says that the ranks from `low` to `high` become those from `first` on.
    ///
    /// # Errors
    ///
    /// [`RemapError`].
    pub fn add_ranks(&mut self, low: u64, high: u64, first: u64) -> Result<(), RemapError> {
        if first.checked_add(high.saturating_sub(low)).is_none() {
            return Err(RemapError::Range { low, high });
        }
        let range = self.range(low, high)?;
        if range.first_rank.is_some() {
            return Err(RemapError::Exists { low, high, id: low });
        }
        range.first_rank = Some(first);
        Ok(())
    }

    /// Says that at the ranks from `low` to `high` the resource of type `kind` with id `old`
    /// has id `new`.
    ///
    /// # Errors
    ///
    /// [`RemapError`].
    pub fn add_id(
        &mut self,
        low: u64,
        high: u64,
        kind: &str,
        old: u64,
        new: u64,
    ) -> Result<(), RemapError> {
        let ids = self.range(low, high)?.ids.entry(kind.into()).or_default();
        if ids.contains_key(&old) {
            return Err(RemapError::Exists { low, high, id: old });
        }
        ids.insert(old, new);
        Ok(())
    }

    fn range(&mut self, low: u64, high: u64) -> Result<&mut Range, RemapError> {
        if low > high {
            return Err(RemapError::Range { low, high });
        }
        if let Some((&found, range)) = self.ranges.range(..=high).next_back()
            && range.high >= low
            && (found, range.high) != (low, high)
        {
            return Err(RemapError::Overlap { low, high });
        }
        Ok(self.ranges.entry(low).or_insert_with(|| Range {
            high,
            first_rank: None,
            ids: BTreeMap::new(),
        }))
    }

    fn at(&self, rank: u64) -> Option<(u64, &Range)> {
        let (&low, range) = self.ranges.range(..=rank).next_back()?;
        (rank <= range.high).then_some((low, range))
    }

    /// Returns the new rank for `rank`, if it has one.
    pub fn rank(&self, rank: i64) -> Option<i64> {
        let rank = u64::try_from(rank).ok()?;
        let (low, range) = self.at(rank)?;
        i64::try_from(range.first_rank?.checked_add(rank - low)?).ok()
    }

    /// Returns the new id for the resource of type `kind` and id `id` at `rank`, if it has one.
    pub fn id(&self, rank: i64, kind: &str, id: i64) -> Option<i64> {
        let (_, range) = self.at(u64::try_from(rank).ok()?)?;
        let new = range.ids.get(kind)?.get(&u64::try_from(id).ok()?)?;
        i64::from(i32::try_from(*new).ok()?).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_ids_are_found() {
        let mut remap = Remap::new();
        assert!(remap.is_empty());
        remap.add_ranks(4, 7, 0).unwrap();
        remap.add_id(4, 7, "core", 10, 0).unwrap();
        remap.add_ranks(8, 8, 9).unwrap();
        assert_eq!(remap.rank(6), Some(2));
        assert_eq!(remap.rank(8), Some(9));
        assert_eq!(remap.rank(9), None);
        assert_eq!(remap.rank(-1), None);
        assert_eq!(remap.id(5, "core", 10), Some(0));
        assert_eq!(remap.id(5, "core", 11), None);
        assert_eq!(remap.id(5, "gpu", 10), None);
        assert_eq!(remap.id(8, "core", 10), None);
    }

    #[test]
    fn contradictions_are_refused() {
        let mut remap = Remap::new();
        remap.add_ranks(4, 7, 0).unwrap();
        assert!(matches!(remap.add_ranks(4, 7, 8), Err(RemapError::Exists { .. })));
        assert!(matches!(remap.add_ranks(3, 4, 8), Err(RemapError::Overlap { .. })));
        assert!(matches!(remap.add_ranks(5, 5, 8), Err(RemapError::Overlap { .. })));
        assert!(matches!(remap.add_ranks(0, 9, 8), Err(RemapError::Overlap { .. })));
        assert!(matches!(remap.add_ranks(9, 8, 8), Err(RemapError::Range { .. })));
        assert!(matches!(remap.add_ranks(8, 9, u64::MAX), Err(RemapError::Range { .. })));
        remap.add_id(4, 7, "core", 1, 2).unwrap();
        assert!(matches!(remap.add_id(4, 7, "core", 1, 3), Err(RemapError::Exists { .. })));
    }
}
