//! Positions in a source text, and paths to the keys found there.

use std::fmt;

/// A position in a source text.
///
/// The first character of a text has `offset` 0, `line` 1 and `column` 1.
///
/// **Units**: `offset` counts bytes, `column` counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Bytes before this position.
    pub offset: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Span {
    /// The position of the first character of a text, and of anything that was
    /// not read from one.
    pub const START: Self = Self { offset: 0, line: 1, column: 1 };

    /// Returns the position of the byte `offset` of `text`, which is UTF-8 up to
    /// there.
    ///
    /// **Complexity**: linear in `offset`.
    pub(crate) fn locate(text: &[u8], offset: usize) -> Self {
        let before = String::from_utf8_lossy(&text[..offset.min(text.len())]);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let lines = before.matches('\n').count();
        let characters = line.chars().count();
        Self {
            offset: saturate(before.len()),
            line: saturate(lines + 1),
            column: saturate(characters + 1),
        }
    }
}

impl Default for Span {
    fn default() -> Self {
        Self::START
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A position together with the path of the key it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// Where in the text.
    pub span: Span,
    /// Which key, as a JSON pointer (RFC 6901) such as
    /// `/resources/0/with/1/count`; empty for the document itself.
    pub path: Box<str>,
}

impl Location {
    pub(crate) fn document(span: Span) -> Self {
        Self { span, path: Box::from("") }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "{}", self.span)
        } else {
            write!(f, "{} ({})", self.span, self.path)
        }
    }
}

/// A path under construction.
///
/// Each step lives on the stack of the function that descends, so that nothing
/// is allocated unless an error is reported.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'p> {
    Document,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl Path<'_> {
    pub(crate) fn at(&self, span: Span) -> Location {
        Location { span, path: self.to_string().into_boxed_str() }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Document => Ok(()),
            Path::Key(parent, key) => {
                write!(f, "{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
            }
            Path::Index(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

/// Converts to `u32`, giving the largest one when `value` is too large.
pub(crate) fn saturate(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locate_counts_characters_in_a_line() {
        let text = "a: 1\nßä: 2\n";
        let colon = text.rfind(':').unwrap();
        let span = Span::locate(text.as_bytes(), colon);
        assert_eq!((span.line, span.column, span.offset), (2, 3, 9));
        assert_eq!(Span::locate(b"", 7), Span::START);
    }

    #[test]
    fn paths_escape_their_separators() {
        let resources = Path::Key(&Path::Document, "resources");
        let first = Path::Index(&resources, 0);
        let odd = Path::Key(&first, "a/b~c");
        assert_eq!(odd.to_string(), "/resources/0/a~1b~0c");
        assert_eq!(Path::Document.to_string(), "");
    }
}
