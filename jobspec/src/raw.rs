//! A document as written: scalars with their spelling, sequences, mappings, and
//! where each of them stands.
//!
//! Both readers produce this form, so that a jobspec is checked in one place
//! whether it came as JSON or as YAML.

use std::borrow::Cow;

use crate::span::Span;

/// One value of a document.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    pub(crate) span: Span,
    pub(crate) kind: Kind<'a>,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Kind<'a> {
    Null,
    Scalar(Cow<'a, str>, Style),
    Sequence(Vec<Node<'a>>),
    Mapping(Vec<Entry<'a>>),
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Node<'a>,
    pub(crate) value: Node<'a>,
}

/// How a scalar was written, which tells text from numbers and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Without quotes: a number, a boolean, or text in YAML.
    Plain,
    /// With quotes, as a block, or with the tag `!`: text.
    Quoted,
    /// With the tag of a number, a boolean or null.
    TaggedPlain,
    /// With any other tag.
    TaggedText,
}

impl<'a> Node<'a> {
    /// Returns the text of a scalar, however it was written.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(text, _) => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a scalar, and `null` for null.
    pub(crate) fn scalar_or_null(&self) -> Option<&str> {
        match &self.kind {
            Kind::Null => Some("null"),
            _ => self.scalar(),
        }
    }

    /// Returns the elements of a sequence.
    pub(crate) fn sequence(&self) -> Option<&[Node<'a>]> {
        match &self.kind {
            Kind::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the entries of a mapping.
    pub(crate) fn mapping(&self) -> Option<&[Entry<'a>]> {
        match &self.kind {
            Kind::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// Returns a short form for an error message.
    pub(crate) fn describe(&self) -> Box<str> {
        /// Characters of a scalar that are worth repeating.
        const SHOWN: usize = 40;
        match &self.kind {
            Kind::Null => "null".into(),
            Kind::Scalar(text, _) => {
                let mut characters = text.chars();
                let start: String = characters.by_ref().take(SHOWN).collect();
                let more = if characters.next().is_some() { "…" } else { "" };
                format!("`{}{more}`", start.escape_debug()).into()
            }
            Kind::Sequence(_) => "a sequence".into(),
            Kind::Mapping(_) => "a mapping".into(),
        }
    }
}

/// Reads an unsigned number the way Fluxion does.
///
/// Decimal, hexadecimal with `0x` and octal with a leading zero are accepted,
/// as are a plus sign before and white space after.
pub(crate) fn unsigned(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    magnitude(digits)
}

/// Reads a signed number the way Fluxion does; see [`unsigned`].
pub(crate) fn signed(text: &str) -> Option<i32> {
    if let Some(digits) = text.strip_prefix('-') {
        let size = i64::from(magnitude(digits)?);
        return i32::try_from(-size).ok();
    }
    i32::try_from(unsigned(text)?).ok()
}

fn magnitude(text: &str) -> Option<u32> {
    let text = text.trim_end_matches(is_space);
    let (digits, radix) = match text.strip_prefix(['0']) {
        Some(rest) => match rest.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => (hexadecimal, 16),
            None => (text, 8),
        },
        None => (text, 10),
    };
    // The standard parser would accept a further sign here.
    let valid = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    valid.then(|| u32::from_str_radix(digits, radix).ok()).flatten()
}

/// Reads a floating-point number the way Fluxion does.
///
/// Decimal notation is accepted, with white space after it, and YAML's
/// spellings of the infinities and of what is not a number. A decimal number
/// too large to represent is not.
pub(crate) fn float(text: &str) -> Option<f64> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    let text = text.trim_end_matches(is_space);
    let decimal =
        text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    if !decimal {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Whether the character is white space in C.
pub(crate) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_numbers() {
        let table = [
            ("0", Some(0)),
            ("7", Some(7)),
            ("+7", Some(7)),
            ("7 ", Some(7)),
            ("7\t\n", Some(7)),
            ("010", Some(8)),
            ("00", Some(0)),
            ("0x1F", Some(31)),
            ("0X1f", Some(31)),
            ("4294967295", Some(u32::MAX)),
            ("0xffffffff", Some(u32::MAX)),
            ("4294967296", None),
            ("-1", None),
            ("-0", None),
            ("", None),
            ("+", None),
            ("++1", None),
            ("+-1", None),
            ("0x", None),
            ("0x+1", None),
            ("08", None),
            (" 7", None),
            ("1.0", None),
            ("1e3", None),
            ("1_000", None),
            ("0o7", None),
            ("x", None),
        ];
        for (text, number) in table {
            assert_eq!(unsigned(text), number, "{text:?}");
        }
    }

    #[test]
    fn signed_numbers() {
        let table = [
            ("-1", Some(-1)),
            ("-010", Some(-8)),
            ("2147483647", Some(i32::MAX)),
            ("-2147483648", Some(i32::MIN)),
            ("2147483648", None),
            ("-2147483649", None),
            ("-", None),
            ("--1", None),
            ("-+1", None),
        ];
        for (text, number) in table {
            assert_eq!(signed(text), number, "{text:?}");
        }
    }

    #[test]
    fn floating_point_numbers() {
        let table = [
            ("3600.0", Some(3600.0)),
            ("3600", Some(3600.0)),
            ("1e3", Some(1000.0)),
            ("1.E3", Some(1000.0)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("-1", Some(-1.0)),
            ("+1", Some(1.0)),
            ("1 ", Some(1.0)),
            ("007", Some(7.0)),
            ("1e-999", Some(0.0)),
            (".inf", Some(f64::INFINITY)),
            ("-.INF", Some(f64::NEG_INFINITY)),
            ("1e999", None),
            ("inf", None),
            ("nan", None),
            ("0x10", None),
            (".", None),
            ("e5", None),
            ("1e", None),
            ("1 2", None),
            ("", None),
        ];
        for (text, number) in table {
            assert_eq!(float(text), number, "{text:?}");
        }
        assert!(float(".NaN").is_some_and(f64::is_nan));
    }
}
