//! The formats in which a match can be written.

use std::fmt;
use std::str::FromStr;

/// The format in which a [`Writer`](crate::Writer) reports a match or a search.
///
/// The text form is the name that Fluxion gives the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchFormat {
    /// `simple`: a line for each vertex, indented by depth, children first.
    #[default]
    Simple,
    /// `pretty_simple`: as `simple`, with whole words and with parents first.
    PrettySimple,
    /// `jgf`: the matched subgraph in JSON Graph Format (RFC 4).
    Jgf,
    /// `jgf_shorthand`: as `jgf`, without what stands below an exclusive vertex.
    JgfShorthand,
    /// `rlite`: the `R_lite` list of RFC 20: ranks with their cores and gpus.
    Rlite,
    /// `rv1`: the resource set of RFC 20, with the subgraph as `scheduling` key.
    Rv1,
    /// `rv1_nosched`: as `rv1`, without the `scheduling` key.
    Rv1Nosched,
    /// `rv1_shorthand`: as `rv1`, with `jgf_shorthand` under `scheduling`.
    Rv1Shorthand,
}

impl MatchFormat {
    /// All formats.
    pub const ALL: [Self; 8] = [
        Self::Simple,
        Self::PrettySimple,
        Self::Jgf,
        Self::JgfShorthand,
        Self::Rlite,
        Self::Rv1,
        Self::Rv1Nosched,
        Self::Rv1Shorthand,
    ];

    /// Returns the name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::PrettySimple => "pretty_simple",
            Self::Jgf => "jgf",
            Self::JgfShorthand => "jgf_shorthand",
            Self::Rlite => "rlite",
            Self::Rv1 => "rv1",
            Self::Rv1Nosched => "rv1_nosched",
            Self::Rv1Shorthand => "rv1_shorthand",
        }
    }
}

impl fmt::Display for MatchFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no format has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no match format `{given}`: expected one of {}", names())]
pub struct UnknownFormat {
    /// The name.
    pub given: String,
}

fn names() -> String {
    MatchFormat::ALL.map(MatchFormat::name).join(", ")
}

impl FromStr for MatchFormat {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat { given: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for format in MatchFormat::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_and_told_the_others() {
        let error = "RV1".parse::<MatchFormat>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "no match format `RV1`: expected one of simple, pretty_simple, jgf, jgf_shorthand, \
             rlite, rv1, rv1_nosched, rv1_shorthand"
        );
    }
}
