//! Free-form values: user attributes and whatever the RFCs leave open.

use std::borrow::Cow;

use crate::print;
use crate::raw::{Kind, Node, Style};

/// A value of any shape, as JSON knows them.
///
/// YAML's further scalars are mapped to these: hexadecimal and octal integers
/// become decimal, and infinities become text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Value {
    /// No value.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text.
    String(String),
    /// Values in order.
    Array(Vec<Value>),
    /// Keys and values, in the order written.
    Object(Vec<(String, Value)>),
}

/// A number, kept as its JSON text so that none of it is lost.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(Box<str>);

impl Number {
    /// Returns the number as JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number if it is a whole one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Returns the nearest floating-point number.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(number.to_string().into())
    }
}

impl Value {
    /// Returns the truth value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the number.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements of an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the keys and values of an object.
    pub fn as_object(&self) -> Option<&[(String, Value)]> {
        match self {
            Self::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the value of the first such key of an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the value as JSON text on one line.
    pub fn to_json(&self) -> String {
        print::json(self)
    }

    pub(crate) fn from_node(node: &Node<'_>) -> Self {
        match &node.kind {
            Kind::Null => Self::Null,
            Kind::Scalar(text, Style::Plain | Style::TaggedPlain) => Self::from_plain(text),
            Kind::Scalar(text, Style::Quoted | Style::TaggedText) => {
                Self::String(text.clone().into_owned())
            }
            Kind::Sequence(items) => Self::Array(items.iter().map(Self::from_node).collect()),
            Kind::Mapping(entries) => Self::Object(
                entries
                    .iter()
                    .map(|entry| {
                        (Self::key_of(&entry.key).into_owned(), Self::from_node(&entry.value))
                    })
                    .collect(),
            ),
        }
    }

    /// Returns a key as text; one that is not a scalar, which YAML allows,
    /// becomes JSON text.
    pub(crate) fn key_of<'n>(node: &'n Node<'_>) -> Cow<'n, str> {
        match node.scalar_or_null() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(Self::from_node(node).to_json()),
        }
    }

    /// Resolves a scalar without quotes by the YAML 1.2 core schema.
    pub(crate) fn from_plain(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Self::Null,
            "true" | "True" | "TRUE" => return Self::Bool(true),
            "false" | "False" | "FALSE" => return Self::Bool(false),
            _ => {}
        }
        match json_number(text) {
            Some(number) => Self::Number(Number(number.into())),
            None => Self::String(text.to_owned()),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(i64::from(number).into())
    }
}

/// Rewrites a number of the YAML 1.2 core schema as JSON writes it.
fn json_number(text: &str) -> Option<Cow<'_, str>> {
    if is_json_number(text) {
        return Some(Cow::Borrowed(text));
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let valid = digits.chars().all(|digit| digit.is_digit(radix));
            let number = valid.then(|| u128::from_str_radix(digits, radix).ok());
            return number.flatten().map(|number| Cow::Owned(number.to_string()));
        }
    }
    let (sign, size) = match text.strip_prefix('-') {
        Some(size) => ("-", size),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let exponent_at = size.find(['e', 'E']).unwrap_or(size.len());
    let (mantissa, exponent) = size.split_at(exponent_at);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        rest => rest,
    };
    let dot = if fraction.is_empty() { "" } else { "." };
    let number = format!("{sign}{whole}{dot}{fraction}{exponent}");
    is_json_number(&number).then_some(Cow::Owned(number))
}

/// Returns whether the text is a number in JSON (RFC 8259, section 6).
fn is_json_number(text: &str) -> bool {
    number_length(text.as_bytes()) == Some(text.len())
}

/// Returns the length of the JSON number that `bytes` begins with.
pub(crate) fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match bytes.get(at)? {
        b'0' => 1,
        b'1'..=b'9' => digits(at),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') {
        match digits(at + 1) {
            0 => return None,
            count => at += 1 + count,
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        match digits(at + 1 + sign) {
            0 => return None,
            count => at += 1 + sign + count,
        }
    }
    Some(at)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use quickcheck::{Arbitrary, Gen};

    #[test]
    fn plain_scalars_are_resolved() {
        let table = [
            ("~", "null"),
            ("True", "true"),
            ("yes", "\"yes\""),
            ("12", "12"),
            ("-0.5e+3", "-0.5e+3"),
            ("+12", "12"),
            ("007", "7"),
            ("-007", "-7"),
            ("00", "0"),
            (".5", "0.5"),
            ("5.", "5"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("0x", "\"0x\""),
            (".", "\".\""),
            ("-", "\"-\""),
            ("1e", "\"1e\""),
            (".inf", "\".inf\""),
            ("1.2.3", "\"1.2.3\""),
            ("1 2", "\"1 2\""),
        ];
        for (text, json) in table {
            assert_eq!(Value::from_plain(text).to_json(), json, "{text}");
        }
    }

    /// Values no deeper than `depth`, with keys that differ.
    pub(crate) fn any_value(g: &mut Gen, depth: usize) -> Value {
        let nested = if depth > 0 { 7 } else { 5 };
        match usize::arbitrary(g) % nested {
            0 => Value::Null,
            1 => Value::Bool(bool::arbitrary(g)),
            2 => Value::Number(i64::arbitrary(g).into()),
            3 => Value::from_plain(&format!("{:?}", f64::from(i32::arbitrary(g)) / 8.0)),
            4 => Value::String(any_text(g)),
            5 => Value::Array((0..u8::arbitrary(g) % 4).map(|_| any_value(g, depth - 1)).collect()),
            _ => Value::Object(
                (0..u8::arbitrary(g) % 4)
                    .map(|index| (format!("{index}{}", any_text(g)), any_value(g, depth - 1)))
                    .collect(),
            ),
        }
    }

    /// Text, often of the kind that needs quotes or escapes.
    pub(crate) fn any_text(g: &mut Gen) -> String {
        let odd = [
            "", " ", "null", "true", "~", "12", "1e5", ".inf", "a: b", "- x", "#", "&a", "*a",
            "!t", "'", "\"", "\\", "\n", "\t", "\u{7f}", "\u{85}", "\u{feff}", "\u{2028}", "ß",
            "😀", "yes", "0x1", "a\nb", "a ", "@", "`", "%", "{", "[x]", "?", ":", "---", "...",
            "\0",
        ];
        match u8::arbitrary(g) % 3 {
            0 => String::arbitrary(g),
            1 => (*g.choose(&odd).unwrap()).to_owned(),
            _ => (0..u8::arbitrary(g) % 6)
                .map(|_| *g.choose(&['a', 'b', '-', '_', '.', '1', '/']).unwrap())
                .collect(),
        }
    }
}
