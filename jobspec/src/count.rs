//! How many of a resource: a number, or a range with a step (RFC 14).

use std::fmt;

use crate::idset::Idset;
use crate::range;

/// How one acceptable count leads to the next.
///
/// **Source**: RFC 14, "Resources", `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Operator {
    /// `+`: the next count is the last one plus the operand.
    #[default]
    Add,
    /// `*`: the next count is the last one times the operand.
    Multiply,
    /// `^`: the next count is the last one to the power of the operand.
    Power,
}

impl Operator {
    /// Returns the character that stands for the operator.
    pub fn symbol(self) -> char {
        match self {
            Self::Add => '+',
            Self::Multiply => '*',
            Self::Power => '^',
        }
    }

    /// Returns the operator that a character stands for.
    pub fn from_symbol(symbol: char) -> Option<Self> {
        match symbol {
            '+' => Some(Self::Add),
            '*' => Some(Self::Multiply),
            '^' => Some(Self::Power),
            _ => None,
        }
    }

    /// Returns the smallest operand with which counts grow.
    pub(crate) fn least_operand(self) -> u32 {
        match self {
            Self::Add => 1,
            Self::Multiply | Self::Power => 2,
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.symbol())
    }
}

/// The acceptable counts of a resource, smallest first: `min`, then each one
/// that the operator makes of the one before, up to and including `max`.
///
/// The [`Display`](fmt::Display) form is a number, an RFC 45 range or an RFC 22
/// idset.
///
/// **Source**: RFC 14, "Resources", `count`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Count {
    /// The smallest acceptable count.
    pub min: u32,
    /// No acceptable count is above this; [`Count::UNBOUNDED`] if none was
    /// given.
    pub max: u32,
    /// How one count leads to the next.
    pub operator: Operator,
    /// The right-hand side of the operator.
    pub operand: u32,
    /// The acceptable counts one by one, if they were given as an idset.
    ///
    /// Then `min` and `max` are its ends, and operator and operand are unused.
    /// A feature of [`Dialect::Extended`](crate::Dialect::Extended).
    pub set: Option<Box<Idset>>,
}

impl Count {
    /// The `max` of a count without an upper bound.
    pub const UNBOUNDED: u32 = u32::MAX;

    /// Returns the count that accepts `n` only.
    pub fn fixed(n: u32) -> Self {
        Self::range(n, n, Operator::Add, 1)
    }

    /// Returns the count that accepts `min` and everything above.
    pub fn at_least(min: u32) -> Self {
        Self::range(min, Self::UNBOUNDED, Operator::Add, 1)
    }

    /// Returns the count that accepts `min` and what the operator makes of it,
    /// up to `max`.
    ///
    /// Nothing is checked: with `min` above `max` no count is acceptable, and
    /// an operand too small for growth leaves `min` as the only one.
    pub fn range(min: u32, max: u32, operator: Operator, operand: u32) -> Self {
        Self { min, max, operator, operand, set: None }
    }

    /// Returns the count that accepts the ids of `set`; `None` for the empty
    /// set, for one with a zero, and for one with ids beyond `u32`.
    ///
    /// A set without gaps becomes a range.
    pub fn one_of(set: Idset) -> Option<Self> {
        let min = u32::try_from(set.first()?).ok()?;
        let max = u32::try_from(set.last()?).ok()?;
        if min == 0 {
            return None;
        }
        let mut count = Self::range(min, max, Operator::Add, 1);
        if set.ranges().len() > 1 {
            count.set = Some(Box::new(set));
        }
        Some(count)
    }

    /// Returns whether `min` is the only acceptable count.
    pub fn is_fixed(&self) -> bool {
        self.min == self.max
    }

    /// Returns the largest acceptable count that is not above `available`, or 0
    /// if there is none.
    ///
    /// Products and powers beyond `u32` count as above `max`. An operand too
    /// small for growth (0 for `+`, 0 or 1 for `*` and `^`) and a `min` of 0
    /// or 1 that cannot grow leave `min` as the only count.
    ///
    /// **Complexity**: O(1) for `+`; O(log `available`) for `*`, `^` and sets.
    ///
    /// **Source**: RFC 14, "Resources", `count`.
    pub fn largest_at_most(&self, available: u32) -> u32 {
        let bound = self.max.min(available);
        if self.min > bound {
            return 0;
        }
        if let Some(set) = &self.set {
            return set
                .largest_at_most(bound.into())
                .and_then(|id| u32::try_from(id).ok())
                .unwrap_or(0);
        }
        match self.operator {
            Operator::Add => {
                let beyond = bound - self.min;
                bound - beyond.checked_rem(self.operand).unwrap_or(beyond)
            }
            Operator::Multiply => self.climb(bound, |count| count.checked_mul(self.operand)),
            Operator::Power => self.climb(bound, |count| count.checked_pow(self.operand)),
        }
    }

    /// Applies `next` from `min` for as long as it grows within `bound`.
    fn climb(&self, bound: u32, next: impl Fn(u32) -> Option<u32>) -> u32 {
        let mut count = self.min;
        while let Some(larger) = next(count).filter(|&larger| count < larger && larger <= bound) {
            count = larger;
        }
        count
    }

    /// Returns whether `n` is an acceptable count.
    ///
    /// **Complexity**: as [`Count::largest_at_most`].
    pub fn accepts(&self, n: u32) -> bool {
        n >= self.min && n <= self.max && self.largest_at_most(n) == n
    }
}

impl From<u32> for Count {
    fn from(n: u32) -> Self {
        Self::fixed(n)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.set.is_none() && self.min == self.max && *self == Self::fixed(self.min) {
            write!(f, "{}", self.min)
        } else {
            f.write_str(&range::encode(self))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use quickcheck::{Arbitrary, Gen, quickcheck};

    impl Arbitrary for Operator {
        fn arbitrary(g: &mut Gen) -> Self {
            *g.choose(&[Self::Add, Self::Multiply, Self::Power]).unwrap_or(&Self::Add)
        }
    }

    /// Counts that a document can hold.
    impl Arbitrary for Count {
        fn arbitrary(g: &mut Gen) -> Self {
            let small = u32::from(u8::arbitrary(g) % 40);
            let other =
                if bool::arbitrary(g) { u32::from(u8::arbitrary(g)) } else { u32::arbitrary(g) };
            match u8::arbitrary(g) % 6 {
                0 => Self::fixed(small),
                1 => Self::fixed(other),
                2 => Self::at_least(small.max(1)),
                3 => {
                    let ids: Idset =
                        Vec::<u16>::arbitrary(g).into_iter().map(|id| u64::from(id) + 1).collect();
                    Self::one_of(ids).unwrap_or_else(|| Self::fixed(small))
                }
                _ => {
                    let operator = Operator::arbitrary(g);
                    let min = small.max(operator.least_operand());
                    let operand = u32::from(u8::arbitrary(g) % 9).max(operator.least_operand());
                    Self::range(min, min.max(other), operator, operand)
                }
            }
        }
    }

    fn naive(count: &Count, available: u32) -> u32 {
        if let Some(set) = &count.set {
            return set
                .iter()
                .take_while(|&id| id <= u64::from(available))
                .last()
                .map_or(0, |id| u32::try_from(id).unwrap());
        }
        let mut best = 0;
        let mut next = u64::from(count.min);
        while next <= u64::from(available.min(count.max)) {
            best = u32::try_from(next).unwrap();
            let operand = u64::from(count.operand);
            let after = match count.operator {
                Operator::Add => next + operand,
                Operator::Multiply => next.saturating_mul(operand),
                Operator::Power => next.saturating_pow(count.operand),
            };
            if after <= next {
                break;
            }
            next = after;
        }
        best
    }

    #[test]
    fn largest_count_by_table() {
        use Operator::{Add, Multiply, Power};
        let max = u32::MAX;
        let table = [
            // min, max, operator, operand, available, answer
            (0, 0, Add, 1, 10, 0),
            (3, 3, Add, 1, 2, 0),
            (3, 3, Add, 1, 3, 3),
            (3, 3, Add, 1, 9, 3),
            (1, max, Add, 1, 7, 7),
            (2, 9, Add, 3, 100, 8),
            (2, 9, Add, 3, 7, 5),
            (2, 9, Add, 0, 7, 2),
            (5, 4, Add, 1, 9, 0),
            (1, 64, Multiply, 2, 40, 32),
            (3, 64, Multiply, 2, 64, 48),
            (3, 64, Multiply, 1, 64, 3),
            (3, 64, Multiply, 0, 64, 3),
            (0, 64, Multiply, 2, 64, 0),
            (1, max, Multiply, 2, max, 1 << 31),
            (1, max, Multiply, max, max, max),
            (2, max, Power, 2, 255, 16),
            (2, max, Power, 2, 256, 256),
            (2, max, Power, 2, max, 65536),
            (2, max, Power, 1, 100, 2),
            (1, max, Power, 3, 100, 1),
            (0, max, Power, 3, 100, 0),
            (2, max, Power, max, max, 2),
        ];
        for (min, max, operator, operand, available, answer) in table {
            let count = Count::range(min, max, operator, operand);
            assert_eq!(count.largest_at_most(available), answer, "{count:?} of {available}");
        }
    }

    #[test]
    fn sets_need_positive_ids() {
        assert!(Count::one_of(Idset::new()).is_none());
        assert!(Count::one_of(Idset::decode("0,2").unwrap()).is_none());
        assert!(Count::one_of(Idset::decode("4294967296").unwrap()).is_none());
        let count = Count::one_of(Idset::decode("2,4,7-9").unwrap()).unwrap();
        assert_eq!((count.min, count.max), (2, 9));
        assert_eq!(count.largest_at_most(6), 4);
        assert!(count.accepts(8) && !count.accepts(3));
        assert_eq!(count.to_string(), "2,4,7-9");
    }

    quickcheck! {
        fn largest_is_what_enumeration_finds(count: Count, near: u8, far: u32) -> bool {
            // Enumeration by single steps is only feasible for small bounds.
            let available = if count.operator == Operator::Add && count.set.is_none() {
                far % (1 << 16)
            } else {
                far
            };
            count.largest_at_most(near.into()) == naive(&count, near.into())
                && count.largest_at_most(available) == naive(&count, available)
        }

        fn any_fields_give_an_answer(
            min: u32, max: u32, operator: Operator, operand: u32, available: u32
        ) -> bool {
            let best = Count::range(min, max, operator, operand).largest_at_most(available);
            best <= available && (best == 0 || (min..=max).contains(&best))
        }

        fn accepted_counts_are_their_own_largest(count: Count, n: u8) -> bool {
            let n = u32::from(n);
            count.accepts(n) == (n >= count.min && naive(&count, n) == n)
        }
    }
}
