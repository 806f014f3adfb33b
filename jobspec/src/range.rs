//! The text form of a range of counts (RFC 45).

use crate::count::{Count, Operator};
use crate::idset::decode_id;

/// Why a text is not a range of counts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RangeError {
    /// The text does not have the form of a range.
    #[error("expected `min-max:operand:operator` or `min+:operand:operator`, found `{found}`")]
    Form {
        /// The text.
        found: String,
    },
    /// A number is too small or too large.
    #[error("expected {expected}, found `{found}`")]
    Bound {
        /// The rule that is broken.
        expected: &'static str,
        /// The text.
        found: String,
    },
}

/// Reads a range such as `2-8`, `4+`, `1-64:2:*` or `[2+:2:^]`.
///
/// # Errors
///
/// Returns a [`RangeError`] for any other form, and if `min` is 0, `max` is
/// below `min`, the operand is too small for its operator, or `min` is 1 with
/// `^`.
///
/// **Source**: RFC 45, and RFC 14, "Resources", `count`, for the bounds.
pub fn decode(text: &str) -> Result<Count, RangeError> {
    let form = || RangeError::Form { found: text.to_owned() };
    let inner = match text.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').ok_or_else(form)?,
        None => text,
    };
    let number = |digits: &str| {
        let id = decode_id(digits).ok_or_else(form)?;
        u32::try_from(id).map_err(|_| RangeError::Bound {
            expected: "numbers below 4294967296",
            found: text.to_owned(),
        })
    };
    let mut parts = inner.split(':');
    let (bounds, operand, operator) = (parts.next().unwrap_or(""), parts.next(), parts.next());
    if parts.next().is_some() {
        return Err(form());
    }
    let (min, max) = match (bounds.split_once('-'), bounds.strip_suffix('+')) {
        (Some((min, max)), _) => (number(min)?, number(max)?),
        (None, Some(min)) => (number(min)?, Count::UNBOUNDED),
        (None, None) => return Err(form()),
    };
    let operand = operand.map_or(Ok(1), number)?;
    let operator = match operator {
        None => Operator::Add,
        Some(text) => {
            let mut symbols = text.chars();
            match (symbols.next().and_then(Operator::from_symbol), symbols.next()) {
                (Some(operator), None) => operator,
                _ => return Err(form()),
            }
        }
    };
    let count = Count::range(min, max, operator, operand);
    match broken_rule(&count) {
        None => Ok(count),
        Some(expected) => Err(RangeError::Bound { expected, found: text.to_owned() }),
    }
}

/// Writes a count as a range, or as an idset if it has one.
///
/// A count without upper bound is written `min+`; the operator is left out if
/// it is `+`, and the operand with it if that is 1.
///
/// **Source**: RFC 45, RFC 22.
pub fn encode(count: &Count) -> String {
    if let Some(set) = &count.set {
        return set.encode();
    }
    let Count { min, max, .. } = count;
    let bounds = if *max == Count::UNBOUNDED { format!("{min}+") } else { format!("{min}-{max}") };
    match (count.operator, count.operand) {
        (Operator::Add, 1) => bounds,
        (Operator::Add, operand) => format!("{bounds}:{operand}"),
        (operator, operand) => format!("{bounds}:{operand}:{operator}"),
    }
}

/// Returns the rule of RFC 14 that a range breaks.
pub(crate) fn broken_rule(count: &Count) -> Option<&'static str> {
    if count.min < 1 {
        Some("a `min` of at least 1")
    } else if count.max < count.min {
        Some("a `max` that is not below `min`")
    } else if count.operand < count.operator.least_operand() {
        Some(match count.operator {
            Operator::Add => "an `operand` of at least 1 for `+`",
            Operator::Multiply => "an `operand` of at least 2 for `*`",
            Operator::Power => "an `operand` of at least 2 for `^`",
        })
    } else if count.operator == Operator::Power && count.min < 2 {
        Some("a `min` of at least 2 for `^`")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;

    #[test]
    fn texts_that_are_ranges() {
        use Operator::{Add, Multiply, Power};
        let table = [
            ("1-5", 1, 5, Add, 1, "1-5"),
            ("1-5:1:+", 1, 5, Add, 1, "1-5"),
            ("1-5:2", 1, 5, Add, 2, "1-5:2"),
            ("1-5:2:+", 1, 5, Add, 2, "1-5:2"),
            ("[1-4:2:*]", 1, 4, Multiply, 2, "1-4:2:*"),
            ("[100+]", 100, u32::MAX, Add, 1, "100+"),
            ("2+:2:^", 2, u32::MAX, Power, 2, "2+:2:^"),
            ("3-3", 3, 3, Add, 1, "3-3"),
            ("1-4294967295", 1, u32::MAX, Add, 1, "1+"),
        ];
        for (text, min, max, operator, operand, encoded) in table {
            let count = decode(text).unwrap();
            assert_eq!(count, Count::range(min, max, operator, operand), "{text}");
            assert_eq!(encode(&count), encoded, "{text}");
        }
    }

    #[test]
    fn texts_that_are_not() {
        let table = [
            "",
            "5",
            "-5",
            "5-",
            "+",
            "0-3",
            "3-2",
            "01-2",
            "1-02",
            "1-5:0",
            "1-5:1:*",
            "2-5:1:^",
            "1-5:2:^",
            "1-5:2:/",
            "1-5:2:",
            "1-5:",
            "1-5:2:++",
            "1-5:2:+:",
            "[1-5",
            "1-5]",
            "1 -5",
            "1-4294967296",
            "1-2-3",
            "5+3",
            "1-5::+",
            "[[1-5]]",
        ];
        for text in table {
            assert!(decode(text).is_err(), "{text}");
        }
    }

    quickcheck! {
        fn decoding_undoes_encoding(count: Count) -> bool {
            count.set.is_some() || count.min == 0 || decode(&encode(&count)) == Ok(count)
        }

        fn any_text_gets_an_answer(text: String) -> bool {
            decode(&text).is_ok() || decode(&text).is_err()
        }
    }
}
