//! Conditions on the resources of a job (RFC 31).

use std::fmt;

use crate::hostlist::Hostlist;
use crate::idset::Idset;

/// A condition that execution targets must meet.
///
/// **Source**: RFC 31.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constraint {
    /// `{}`: every target.
    Any,
    /// `properties`: targets that have, or lack, all of these.
    Properties(Vec<Property>),
    /// `hostlist`: targets with one of these names.
    Hostlist(Hostlist),
    /// `ranks`: targets with one of these ranks.
    Ranks(Idset),
    /// `and`: targets that meet all of these.
    And(Vec<Constraint>),
    /// `or`: targets that meet one of these.
    Or(Vec<Constraint>),
    /// `not`: targets that do not meet all of these.
    Not(Vec<Constraint>),
}

impl Constraint {
    /// Returns how many terms there are, all levels taken together: operators, properties, and
    /// ranges of hosts and of ranks.
    ///
    /// **Complexity**: linear in that.
    pub fn size(&self) -> usize {
        1 + match self {
            Self::Any => 0,
            Self::Properties(properties) => properties.len(),
            Self::Hostlist(hosts) => hosts.n_ranges(),
            Self::Ranks(ranks) => ranks.ranges().len(),
            Self::And(parts) | Self::Or(parts) | Self::Not(parts) => {
                parts.iter().map(Self::size).sum()
            }
        }
    }

    /// The operators, as written.
    pub(crate) const OPERATORS: &'static str =
        "`properties`, `hostlist`, `ranks`, `and`, `or` or `not`";

    /// The largest rank that may be named, as in flux-core.
    pub const MAX_RANK: u64 = i32::MAX as u64;
}

/// A property that a target must have, or lack.
///
/// **Source**: RFC 31, `properties`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Property {
    /// The name, without the `^` of a negation.
    pub name: String,
    /// Whether a target must lack the property.
    pub negated: bool,
}

impl Property {
    /// Characters that no name has.
    const FORBIDDEN: [char; 9] = ['!', '&', '\'', '"', '^', '`', '|', '(', ')'];

    /// Reads a property such as `ssd` or `^ssd`; `None` if the name has one of
    /// the characters ``!&'"^`|()``.
    pub fn decode(text: &str) -> Option<Self> {
        let (name, negated) = match text.strip_prefix('^') {
            Some(name) => (name, true),
            None => (text, false),
        };
        (!name.contains(Self::FORBIDDEN)).then(|| Self { name: name.to_owned(), negated })
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negated { "^" } else { "" };
        write!(f, "{sign}{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_count_what_is_looked_at() {
        let hosts = Hostlist::decode("node[0-3,7],login").unwrap();
        let parts = vec![
            Constraint::Any,
            Constraint::Ranks(Idset::decode("0-9,11").unwrap()),
            Constraint::Not(vec![Constraint::Hostlist(hosts)]),
            Constraint::Properties(Property::decode("ssd").into_iter().collect()),
        ];
        assert_eq!(Constraint::And(parts).size(), 1 + 1 + 3 + 1 + 4 + 2);
    }

    #[test]
    fn properties() {
        let table = [
            ("ssd", Some(("ssd", false))),
            ("^ssd", Some(("ssd", true))),
            ("", Some(("", false))),
            ("^", Some(("", true))),
            ("a b-c.d=e", Some(("a b-c.d=e", false))),
            ("^^ssd", None),
            ("s^sd", None),
            ("s!", None),
            ("a|b", None),
            ("f(x)", None),
        ];
        for (text, expected) in table {
            let property = Property::decode(text);
            let parts =
                property.as_ref().map(|property| (property.name.as_str(), property.negated));
            assert_eq!(parts, expected, "{text}");
            if let Some(property) = property {
                assert_eq!(property.to_string(), text);
            }
        }
    }
}
