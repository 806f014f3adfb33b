//! The policy that keeps jobs within a performance class.

use engine::{Candidate, MatchPolicy, Preference, Preferences};

/// The property that tells the class of a vertex, and the class of one without a sensible value.
const PROPERTY: &str = "perf_class";
const WORST_CLASS: i64 = 9_999;

/// Prefers vertices of low performance classes, as the property `perf_class` tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variation;

impl MatchPolicy for Variation {
    fn score(&self, candidate: &Candidate<'_>) -> i64 {
        let value = candidate.properties.and_then(|properties| properties.get(PROPERTY));
        1 + value.and_then(|value| leading_integer(value)).unwrap_or(WORST_CLASS)
    }

    fn preferences(&self) -> Preferences {
        Preferences {
            children: Preference::Ascending,
            slot_members: Preference::Descending,
            top: Preference::Ascending,
        }
    }
}

/// Reads the integer that `text` starts with, if it is a class.
fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let end = text.len() - digits.len() + n_digits;
    text[..end].parse().ok().filter(|class| (0..=WORST_CLASS).contains(class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_read_as_c_reads_integers() {
        assert_eq!(leading_integer("3"), Some(3));
        assert_eq!(leading_integer(" +12th"), Some(12));
        assert_eq!(leading_integer("-1"), None);
        assert_eq!(leading_integer("10000"), None);
        assert_eq!(leading_integer("fast"), None);
        assert_eq!(leading_integer(""), None);
        assert_eq!(leading_integer("99999999999999999999"), None);
    }
}
