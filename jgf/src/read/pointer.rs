//! Where a reader is in a JSON document, and from there to a line and a column.
//!
//! While all is well a reader only keeps a stack of steps. The position of a value is looked up in
//! the text when an error is reported.

use std::borrow::Cow;

use crate::Place;

/// One step down into a JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'de> {
    /// The value of a key.
    Key(&'de str),
    /// An element of an array.
    Index(usize),
}

/// A path into a JSON document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pointer<'de>(Vec<Step<'de>>);

impl<'de> Pointer<'de> {
    pub(crate) fn push(&mut self, step: Step<'de>) {
        self.0.push(step);
    }

    /// Steps to the value of a key that the reader met. A key with escapes is not kept.
    #[allow(clippy::ptr_arg, reason = "whether the key is borrowed decides whether it can be kept")]
    pub(crate) fn push_met(&mut self, key: &Cow<'de, str>) {
        self.0.push(Step::Key(match key {
            Cow::Borrowed(key) => key,
            Cow::Owned(_) => "",
        }));
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    pub(crate) fn steps(&self) -> &[Step<'de>] {
        &self.0
    }

    /// Returns the path of `steps` below this one, as RFC 6901 writes it.
    pub(crate) fn text(steps: &[Step<'_>]) -> String {
        let mut text = String::new();
        for step in steps {
            text.push('/');
            match step {
                Step::Key(key) => text.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Step::Index(index) => text.push_str(&index.to_string()),
            }
        }
        text
    }
}

/// Returns the place of the value at `steps`, or of the innermost value on the way to it that
/// exists.
///
/// **Complexity**: linear in the text before the value.
pub(crate) fn place(text: &str, steps: &[Step<'_>]) -> Place {
    let offset = locate(text.as_bytes(), steps);
    let (line, column) = line_and_column(text, offset);
    Place { line, column, pointer: Pointer::text(steps) }
}

/// Returns the line and the column, both from 1, of a byte of `text`.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (u32, u32) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before[start..].chars().count() + 1;
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (narrow(line), narrow(column))
}

fn locate(text: &[u8], steps: &[Step<'_>]) -> usize {
    let mut scanner = Scanner { text, at: 0 };
    scanner.skip_space();
    let mut found = scanner.at;
    for step in steps {
        let entered = match *step {
            Step::Key(key) => scanner.enter_object(key),
            Step::Index(index) => scanner.enter_array(index),
        };
        if entered.is_none() {
            break;
        }
        found = scanner.at;
    }
    found
}

/// Returns the keys of the outermost object of `text`, as far as they can be read without looking
/// into values that are malformed.
pub(crate) fn top_level_keys(text: &str) -> TopLevelKeys<'_> {
    let mut scanner = Scanner { text: text.as_bytes(), at: 0 };
    scanner.skip_space();
    let open = scanner.eat(b'{');
    TopLevelKeys { text, scanner, open }
}

#[derive(Debug)]
pub(crate) struct TopLevelKeys<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
    open: bool,
}

impl<'a> Iterator for TopLevelKeys<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if !self.open {
            return None;
        }
        // The value of the key before is passed over only now that the next key is asked for.
        self.scanner.skip_space();
        if self.scanner.peek() == Some(b':') {
            self.scanner.at += 1;
            self.scanner.skip_value()?;
            self.scanner.skip_space();
            self.scanner.eat(b',').then_some(())?;
            self.scanner.skip_space();
        }
        let key = self.scanner.string()?;
        self.scanner.skip_space();
        self.text.get(key)
    }
}

/// Finds its way through well-formed JSON; gives up on anything else.
#[derive(Debug)]
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Passes over a string and returns where its content stands.
    fn string(&mut self) -> Option<std::ops::Range<usize>> {
        self.eat(b'"').then_some(())?;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        let end = self.at;
        self.at += 1;
        Some(start..end)
    }

    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            self.skip_space();
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    let start = self.at;
                    while !matches!(
                        self.peek(),
                        None | Some(b',' | b':' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n')
                    ) {
                        self.at += 1;
                    }
                    (self.at > start).then_some(())?;
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Goes to the value of `key` in the object that starts here.
    fn enter_object(&mut self, key: &str) -> Option<()> {
        self.eat(b'{').then_some(())?;
        loop {
            self.skip_space();
            let found = self.string()?;
            self.skip_space();
            self.eat(b':').then_some(())?;
            self.skip_space();
            if &self.text[found] == key.as_bytes() {
                return Some(());
            }
            self.skip_value()?;
            self.skip_space();
            self.eat(b',').then_some(())?;
        }
    }

    /// Goes to element `index` of the array that starts here.
    fn enter_array(&mut self, index: usize) -> Option<()> {
        self.eat(b'[').then_some(())?;
        for _ in 0..index {
            self.skip_value()?;
            self.skip_space();
            self.eat(b',').then_some(())?;
        }
        self.skip_space();
        (self.peek()? != b']').then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "{\n \"graph\": {\"nodes\": [1, {\"a]\": \"x\\\"}\"},\n  {\"id\": \"7\"}]},\n \"é\": {}}";

    #[test]
    fn places_are_those_of_the_values() {
        let table: [(&[Step<'_>], (u32, u32), &str); 7] = [
            (&[], (1, 1), ""),
            (&[Step::Key("graph")], (2, 11), "/graph"),
            (&[Step::Key("graph"), Step::Key("nodes"), Step::Index(0)], (2, 22), "/graph/nodes/0"),
            (
                &[Step::Key("graph"), Step::Key("nodes"), Step::Index(2), Step::Key("id")],
                (3, 10),
                "/graph/nodes/2/id",
            ),
            // A place that is not there falls back to what surrounds it.
            (&[Step::Key("graph"), Step::Key("nodes"), Step::Index(3)], (2, 21), "/graph/nodes/3"),
            (&[Step::Key("é")], (4, 7), "/é"),
            (&[Step::Key("a/b~c")], (1, 1), "/a~1b~0c"),
        ];
        for (steps, (line, column), pointer) in table {
            let place = place(TEXT, steps);
            assert_eq!((place.line, place.column), (line, column), "{pointer}");
            assert_eq!(place.pointer, pointer);
        }
    }

    #[test]
    fn malformed_text_is_no_trouble() {
        let steps = [Step::Key("graph"), Step::Key("nodes"), Step::Index(2)];
        for end in (0..TEXT.len()).filter(|&end| TEXT.is_char_boundary(end)) {
            place(&TEXT[..end], &steps);
            let _ = top_level_keys(&TEXT[..end]).count();
        }
        for text in ["", "{", "[", "}", "{]", "{\"a\":}", "{\"a\"\"b\"", "{\"a\\", "nul"] {
            place(text, &steps);
            let _ = top_level_keys(text).count();
        }
    }

    #[test]
    fn keys_of_the_outermost_object() {
        assert_eq!(top_level_keys(TEXT).collect::<Vec<_>>(), ["graph", "é"]);
        assert_eq!(top_level_keys("[\"a\"]").count(), 0);
        assert_eq!(top_level_keys("{\"a\": [").collect::<Vec<_>>(), ["a"]);
    }
}
