//! Reading JSON.
//!
//! Strings without escapes are borrowed from the text, and nothing is copied to
//! a buffer of tokens: a jobspec of usual size is read in a few microseconds.

use std::borrow::Cow;

use crate::limits::{LimitKind, Limits};
use crate::raw::{Entry, Kind, Node, Style};
use crate::span::{Span, saturate};
use crate::value::number_length;

/// Why reading stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The text is not JSON; it may still be YAML.
    Syntax { offset: usize, message: &'static str },
    /// A bound was passed.
    Limit { offset: usize, limit: LimitKind },
}

/// Returns whether a text can be a JSON document with a mapping.
pub(crate) fn looks_like_json(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{')
}

/// Reads a JSON document (RFC 8259).
pub(crate) fn read<'a>(text: &'a str, limits: &Limits) -> Result<Node<'a>, Stop> {
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 1,
        line_start: 0,
        shift: 0,
        nodes_left: limits.nodes,
        depth_left: limits.depth,
    };
    reader.skip_space();
    let node = reader.value()?;
    reader.skip_space();
    if reader.at < reader.bytes.len() {
        return reader.fail("expected the end of the document");
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    /// Offset of the first byte of the line.
    line_start: usize,
    /// How many bytes of this line before `at` do not begin a character.
    shift: usize,
    nodes_left: usize,
    depth_left: usize,
}

impl<'a> Reader<'a> {
    fn span(&self) -> Span {
        Span {
            offset: saturate(self.at),
            line: self.line,
            column: saturate(self.at - self.line_start - self.shift + 1),
        }
    }

    fn fail<T>(&self, message: &'static str) -> Result<T, Stop> {
        Err(Stop::Syntax { offset: self.at, message })
    }

    fn limit<T>(&self, limit: LimitKind) -> Result<T, Stop> {
        Err(Stop::Limit { offset: self.at, limit })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.line = self.line.saturating_add(1);
                    self.line_start = self.at;
                    self.shift = 0;
                }
                _ => break,
            }
        }
    }

    fn node(&mut self, span: Span, kind: Kind<'a>) -> Result<Node<'a>, Stop> {
        match self.nodes_left.checked_sub(1) {
            Some(left) => self.nodes_left = left,
            None => return self.limit(LimitKind::Nodes),
        }
        Ok(Node { span, kind })
    }

    fn value(&mut self) -> Result<Node<'a>, Stop> {
        let span = self.span();
        let kind = match self.peek() {
            Some(b'"') => Kind::Scalar(self.string()?, Style::Quoted),
            Some(b'{') => self.nested(Self::mapping)?,
            Some(b'[') => self.nested(Self::sequence)?,
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => {
                self.word("null")?;
                Kind::Null
            }
            Some(b'-' | b'0'..=b'9') => {
                let Some(length) = number_length(&self.bytes[self.at..]) else {
                    return self.fail("expected a number");
                };
                let number = &self.text[self.at..self.at + length];
                self.at += length;
                Kind::Scalar(Cow::Borrowed(number), Style::Plain)
            }
            _ => return self.fail("expected a value"),
        };
        self.node(span, kind)
    }

    fn word(&mut self, word: &'static str) -> Result<Kind<'a>, Stop> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.fail("expected a value");
        }
        self.at += word.len();
        Ok(Kind::Scalar(Cow::Borrowed(word), Style::Plain))
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Kind<'a>, Stop>) -> Result<Kind<'a>, Stop> {
        match self.depth_left.checked_sub(1) {
            Some(left) => self.depth_left = left,
            None => return self.limit(LimitKind::Depth),
        }
        self.at += 1;
        let kind = read(self)?;
        self.depth_left += 1;
        Ok(kind)
    }

    fn mapping(&mut self) -> Result<Kind<'a>, Stop> {
        let mut entries = Vec::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Mapping(entries));
        }
        loop {
            let span = self.span();
            if self.peek() != Some(b'"') {
                return self.fail("expected a key in quotes");
            }
            let text = self.string()?;
            let key = self.node(span, Kind::Scalar(text, Style::Quoted))?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return self.fail("expected `:` after a key");
            }
            self.at += 1;
            self.skip_space();
            let value = self.value()?;
            entries.push(Entry { key, value });
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Kind::Mapping(entries));
                }
                _ => return self.fail("expected `,` or `}` after a value"),
            }
            self.skip_space();
        }
    }

    fn sequence(&mut self) -> Result<Kind<'a>, Stop> {
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Sequence(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Kind::Sequence(items));
                }
                _ => return self.fail("expected `,` or `]` after a value"),
            }
            self.skip_space();
        }
    }

    /// Reads a string; the quote at its start is the current byte.
    fn string(&mut self) -> Result<Cow<'a, str>, Stop> {
        self.at += 1;
        let mut start = self.at;
        let mut owned: Option<String> = None;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let rest = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(match owned {
                        None => Cow::Borrowed(rest),
                        Some(text) => Cow::Owned(text + rest),
                    });
                }
                Some(b'\\') => {
                    let text = owned.get_or_insert_default();
                    text.push_str(&self.text[start..self.at]);
                    let character = self.escape()?;
                    owned.get_or_insert_default().push(character);
                    start = self.at;
                }
                Some(byte) if byte >= b' ' => {
                    self.shift += usize::from(byte & 0xc0 == 0x80);
                    self.at += 1;
                }
                _ => return self.fail("expected `\"` at the end of a string"),
            }
        }
    }

    /// Reads an escape; the backslash is the current byte.
    fn escape(&mut self) -> Result<char, Stop> {
        let kind = self.bytes.get(self.at + 1).copied();
        let simple = match kind {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return self.fail("expected an escape sequence after `\\`"),
        };
        self.at += 2;
        Ok(simple)
    }

    fn unicode_escape(&mut self) -> Result<char, Stop> {
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
            let hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            hexadecimal.then(|| u16::from_str_radix(digits, 16).ok())?
        };
        let first = unit(self.at);
        let second = unit(self.at + 6);
        let mut characters = char::decode_utf16(first.into_iter().chain(second));
        match characters.next() {
            Some(Ok(character)) => {
                self.at += 6 * character.len_utf16();
                Ok(character)
            }
            _ => self.fail("expected four digits of a character after `\\u`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;

    fn check(text: &str) -> Result<Node<'_>, Stop> {
        read(text, &Limits::default())
    }

    #[test]
    fn spans_point_at_values() {
        let node = check("{\n  \"ä\": [1, \"é\", true]\n}").unwrap();
        let entry = &node.mapping().unwrap()[0];
        assert_eq!((entry.key.span.line, entry.key.span.column), (2, 3));
        let items = entry.value.sequence().unwrap();
        assert_eq!((items[2].span.line, items[2].span.column), (2, 17));
        assert_eq!(items[2].span.offset, 20);
        for item in items {
            let text = "{\n  \"ä\": [1, \"é\", true]\n}".as_bytes();
            assert_eq!(Span::locate(text, item.span.offset as usize), item.span);
        }
    }

    #[test]
    fn escapes_are_resolved() {
        let node = check(r#"["\"\\\/\b\f\n\r\t", "a\u00e9b", "\ud83d\ude00!"]"#).unwrap();
        let texts: Vec<_> = node.sequence().unwrap().iter().map(Node::scalar).collect();
        assert_eq!(texts, [Some("\"\\/\u{8}\u{c}\n\r\t"), Some("aéb"), Some("😀!")]);
    }

    #[test]
    fn what_is_not_json() {
        let table = [
            "",
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            "+1",
            "-",
            "1e",
            "tru",
            "nul",
            "\"",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "\"\\u+123\"",
            "1 2",
            "{} x",
            "'a'",
            "[1}",
        ];
        for text in table {
            assert!(matches!(check(text), Err(Stop::Syntax { .. })), "{text}");
        }
    }

    #[test]
    fn bounds_hold() {
        let limits = Limits { depth: 3, nodes: 5, ..Limits::default() };
        assert!(read("[[[]]]", &limits).is_ok());
        assert!(matches!(
            read("[[[[]]]]", &limits),
            Err(Stop::Limit { offset: 3, limit: LimitKind::Depth })
        ));
        assert!(read("[1,2,3,4]", &limits).is_ok());
        assert!(matches!(
            read("[1,2,3,4,5]", &limits),
            Err(Stop::Limit { limit: LimitKind::Nodes, .. })
        ));
    }

    quickcheck! {
        fn agrees_with_another_reader(text: String) -> bool {
            // serde_json bounds numbers and nesting; these texts pass neither.
            let ours = check(&text).is_ok();
            let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            ours == theirs
        }
    }
}
