//! What can be wrong with a document, and the features beyond Fluxion's dialect.

use std::borrow::Cow;
use std::fmt;

use crate::limits::LimitKind;
use crate::span::{Location, Span};

/// Why a text is not a jobspec.
///
/// Every variant says where ([`Error::location`]), what was expected
/// ([`Error::expected`]) and what was found ([`Error::found`]).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not UTF-8.
    #[error("{at}: expected UTF-8 text, found the byte {byte:#04x}")]
    Encoding {
        /// The first byte that does not fit.
        at: Location,
        /// That byte.
        byte: u8,
    },

    /// The text is neither YAML nor JSON.
    #[error("{at}: {message}")]
    Syntax {
        /// Where reading stopped.
        at: Location,
        /// What is wrong there.
        message: String,
    },

    /// A mapping lacks a key.
    #[error("{at}: key `{key}` is missing")]
    MissingKey {
        /// The mapping.
        at: Location,
        /// The key it must have.
        key: &'static str,
    },

    /// A mapping has a key that it may not have.
    #[error("{at}: unknown key `{key}`, expected {expected}{}", DidYouMean(*.suggestion))]
    UnknownKey {
        /// The key.
        at: Location,
        /// The key as written.
        key: Box<str>,
        /// What may stand there.
        expected: &'static str,
        /// A key of similar spelling that may stand there.
        suggestion: Option<&'static str>,
    },

    /// A mapping has the same key twice.
    #[error("{at}: key `{key}` is given twice")]
    DuplicateKey {
        /// The second of the two.
        at: Location,
        /// The key as written.
        key: Box<str>,
    },

    /// A value has the wrong form or is out of its range.
    #[error("{at}: expected {expected}, found {found}")]
    Value {
        /// The value.
        at: Location,
        /// What may stand there.
        expected: Cow<'static, str>,
        /// A short form of what does.
        found: Box<str>,
    },

    /// The document uses a feature outside the dialect it was read in.
    #[error("{at}: {feature} is not supported by Fluxion, found {found}")]
    Unsupported {
        /// The value that uses the feature.
        at: Location,
        /// The feature.
        feature: Feature,
        /// A short form of the value.
        found: Box<str>,
    },

    /// The document passes a bound of [`Limits`](crate::Limits).
    #[error("{at}: more than {max} {} (limit `{}`)", .limit.counted(), .limit.name())]
    Limit {
        /// Where the bound was passed.
        at: Location,
        /// Which one.
        limit: LimitKind,
        /// Its value.
        max: usize,
    },
}

impl Error {
    /// Returns where the problem is.
    pub fn location(&self) -> &Location {
        match self {
            Self::Encoding { at, .. }
            | Self::Syntax { at, .. }
            | Self::MissingKey { at, .. }
            | Self::UnknownKey { at, .. }
            | Self::DuplicateKey { at, .. }
            | Self::Value { at, .. }
            | Self::Unsupported { at, .. }
            | Self::Limit { at, .. } => at,
        }
    }

    /// Returns the position of the problem.
    pub fn span(&self) -> Span {
        self.location().span
    }

    /// Returns the path of the offending key, such as
    /// `/resources/0/with/1/count`; empty for the document as a whole.
    pub fn path(&self) -> &str {
        &self.location().path
    }

    /// Returns what may stand at that place.
    pub fn expected(&self) -> Cow<'_, str> {
        match self {
            Self::Encoding { .. } => "UTF-8 text".into(),
            Self::Syntax { .. } => "YAML or JSON".into(),
            Self::MissingKey { key, .. } => format!("a mapping with the key `{key}`").into(),
            Self::UnknownKey { expected, .. } => (*expected).into(),
            Self::DuplicateKey { .. } => "each key at most once".into(),
            Self::Value { expected, .. } => expected.as_ref().into(),
            Self::Unsupported { feature, .. } => format!("no {feature}").into(),
            Self::Limit { limit, max, .. } => format!("at most {max} {}", limit.counted()).into(),
        }
    }

    /// Returns a short form of what does stand there.
    pub fn found(&self) -> Cow<'_, str> {
        match self {
            Self::Encoding { byte, .. } => format!("the byte {byte:#04x}").into(),
            Self::Syntax { message, .. } => message.into(),
            Self::MissingKey { .. } => "none".into(),
            Self::UnknownKey { key, .. } | Self::DuplicateKey { key, .. } => {
                format!("`{key}`").into()
            }
            Self::Value { found, .. } | Self::Unsupported { found, .. } => found.as_ref().into(),
            Self::Limit { .. } => "more".into(),
        }
    }
}

struct DidYouMean(Option<&'static str>);

impl fmt::Display for DidYouMean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(key) => write!(f, "; did you mean `{key}`?"),
            None => Ok(()),
        }
    }
}

/// Which documents are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// What Fluxion's own reader accepts.
    ///
    /// It takes a few things that the RFCs do not allow (a count of zero,
    /// numbers in hexadecimal, unknown keys of a task) and leaves out the
    /// features listed in [`Feature`].
    #[default]
    Fluxion,
    /// All of [`Dialect::Fluxion`] and, in addition, every [`Feature`].
    Extended,
}

/// A feature of the RFCs that is outside [`Dialect::Fluxion`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feature {
    /// A count given as an idset string such as `"2,4,8"` (RFC 14, RFC 22).
    CountIdset,
    /// A count given as a range string such as `"2-8:2:*"` (RFC 14, RFC 45).
    CountRangeString,
    /// A count mapping that has some, but not all, of `max`, `operator` and
    /// `operand` (RFC 14).
    CountPartialRange,
    /// A boolean spelled otherwise than `true` or `false`.
    BooleanSpelling,
    /// A task count per resource type (RFC 14).
    TaskCountPerResource,
    /// A task attribute that is a mapping or a sequence (RFC 14).
    TaskAttributeTree,
    /// A property in YAML without quotes (RFC 31).
    UnquotedProperty,
}

impl Feature {
    /// Every feature, in order of declaration.
    pub const ALL: [Self; 7] = [
        Self::CountIdset,
        Self::CountRangeString,
        Self::CountPartialRange,
        Self::BooleanSpelling,
        Self::TaskCountPerResource,
        Self::TaskAttributeTree,
        Self::UnquotedProperty,
    ];

    /// Returns the name of the feature, such as `count-idset`.
    pub fn name(self) -> &'static str {
        match self {
            Self::CountIdset => "count-idset",
            Self::CountRangeString => "count-range-string",
            Self::CountPartialRange => "count-partial-range",
            Self::BooleanSpelling => "boolean-spelling",
            Self::TaskCountPerResource => "task-count-per-resource",
            Self::TaskAttributeTree => "task-attribute-tree",
            Self::UnquotedProperty => "unquoted-property",
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A use of a [`Feature`] in a jobspec.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FeatureUse {
    /// The feature.
    pub feature: Feature,
    /// The value that uses it.
    pub at: Location,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_small() {
        assert!(size_of::<Error>() <= 104, "{}", size_of::<Error>());
    }

    #[test]
    fn feature_names_differ() {
        for (index, feature) in Feature::ALL.iter().enumerate() {
            for other in &Feature::ALL[..index] {
                assert_ne!(feature.name(), other.name());
            }
        }
    }
}
