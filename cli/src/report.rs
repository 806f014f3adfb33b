//! What is told of an error: what is wrong, in which file, at which place, and what would be right.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use fluxion::StateError;
use serde::Serialize;

/// How a run ended, as its exit status tells.
///
/// Errors have the numbers of BSD's `sysexits.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Exit {
    /// All that was asked for is there, or all is well.
    Success = 0,
    /// There are no resources now.
    NotNow = 1,
    /// There never are.
    Never = 2,
    /// The command line cannot be understood.
    Usage = 64,
    /// A file has the wrong contents.
    BadData = 65,
    /// A file cannot be opened or read.
    NoInput = 66,
    /// A fault of this program.
    Internal = 70,
    /// A file cannot be made.
    CannotCreate = 73,
    /// Something cannot be written.
    CannotWrite = 74,
}

/// What the exit statuses mean, for help texts.
pub(crate) const EXIT_STATUS: &str = "\
Exit status:
   0  matched, satisfiable, or done
   1  no resources now
   2  never: not even with nothing held
  64  the command line is wrong
  65  a file has the wrong contents
  66  a file cannot be opened or read
  70  a fault of this program
  73  a file cannot be made
  74  something cannot be written
With several jobspecs it is that of the worst.";

/// A text and what it is called.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The name of the file, as given.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    /// Returns where the value of the first `key` from byte `start` on stands that starts with
    /// `value`, in YAML or JSON.
    pub(crate) fn find(&self, key: &str, value: &str, start: usize) -> Option<usize> {
        let text = &self.text;
        let after = |at: usize, skipped: &[char]| {
            let rest = text[at..].trim_start_matches(skipped);
            text.len() - rest.len()
        };
        let mut keys = text.get(start..)?.match_indices(key);
        keys.find_map(|(at, _)| {
            let colon = after(start + at + key.len(), &['"', '\'', ' ']);
            let found = after(colon + text[colon..].starts_with(':').then_some(1)?, &[' ', '\t']);
            let bare = text[found..].trim_start_matches(['"', '\'']);
            bare.starts_with(value).then_some(found)
        })
    }
}

/// A line of a text with a place to point at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    /// The line, or the part of it that is shown.
    text: String,
    /// What is pointed at, in bytes of `text`.
    start: usize,
    end: usize,
}

/// An error as it is told.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) exit: Exit,
    /// What is wrong.
    title: String,
    file: Option<String>,
    /// Line and column, both from 1.
    at: Option<(usize, usize)>,
    excerpt: Option<Excerpt>,
    /// The path of a key or an element.
    key: String,
    /// What may stand there.
    expected: Option<String>,
    helps: Vec<String>,
}

/// A result with a report of what went wrong.
pub(crate) type Reported<T> = Result<T, Box<Report>>;

/// The same for machines.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportJson<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "str::is_empty")]
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    help: &'a [String],
}

impl Report {
    /// Makes a report that points at nothing.
    pub(crate) fn new(exit: Exit, title: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            exit,
            title: title.into(),
            file: None,
            at: None,
            excerpt: None,
            key: String::new(),
            expected: None,
            helps: Vec::new(),
        })
    }

    /// Makes a report of something about a file as a whole.
    pub(crate) fn of_file(exit: Exit, file: &str, title: impl Into<String>) -> Box<Self> {
        let mut report = Self::new(exit, title);
        report.file = Some(file.to_owned());
        report
    }

    /// Makes a report of the wrong contents of `source` at a line and a column, both from 1, the
    /// column in characters.
    pub(crate) fn at(
        source: &Source,
        line: usize,
        column: usize,
        key: &str,
        title: impl Into<String>,
    ) -> Box<Self> {
        let mut report = Self::of_file(Exit::BadData, &source.name, title);
        key.clone_into(&mut report.key);
        let (line, column) = settle(&source.text, line, column);
        report.at = Some((line, column));
        report.excerpt = source
            .text
            .split('\n')
            .nth(line - 1)
            .filter(|text| !text.trim().is_empty())
            .map(|text| excerpt(text.trim_end_matches('\r'), column));
        report
    }

    /// Makes a report of the wrong contents of `source` at a byte.
    pub(crate) fn at_offset(
        source: &Source,
        offset: usize,
        key: &str,
        title: impl Into<String>,
    ) -> Box<Self> {
        let before = source.text.get(..offset).unwrap_or(&source.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Self::at(source, line, column, key, title)
    }

    /// Makes a report of a jobspec that cannot be read.
    pub(crate) fn of_jobspec(source: &Source, error: &jobspec::Error) -> Box<Self> {
        let span = error.span();
        let title = without_place(error, error.location());
        let (line, column) = (span.line as usize, span.column as usize);
        let mut report = Self::at(source, line, column, error.path(), title);
        report.expected = match error {
            jobspec::Error::Syntax { .. } => None,
            _ => Some(error.expected().into_owned()),
        };
        if let jobspec::Error::Unsupported { .. } = error {
            report.help("`fluxion validate --extended` checks against all of the RFCs");
        }
        report
    }

    /// Makes a report of a graph or a resource set that cannot be read. It is the text from byte
    /// `start` of `source` on, and its path there is `key`.
    pub(crate) fn of_format(
        source: &Source,
        start: usize,
        key: &str,
        error: &jgf::Error,
    ) -> Box<Self> {
        let Some(place) = error.place() else {
            return Self::of_file(Exit::BadData, &source.name, error.to_string());
        };
        let title = without_place(error, place);
        let key = format!("{key}{}", place.pointer);
        let mut report = if place.line == 0 {
            let mut report = Self::of_file(Exit::BadData, &source.name, title);
            report.key = key;
            report
        } else {
            let before = &source.text[..start];
            let (mut line, mut column) = (place.line as usize, place.column as usize);
            if line == 1 {
                column += before.rsplit('\n').next().unwrap_or("").chars().count();
            }
            line += before.matches('\n').count();
            Self::at(source, line, column, &key, title)
        };
        report.expected = match error {
            jgf::Error::Value { expected, .. } => Some(expected.clone().into_owned()),
            jgf::Error::Missing { key, .. } => Some(format!("`{key}`")),
            _ => None,
        };
        report
    }

    /// Makes a report of anything else that a session fails with, about a file.
    pub(crate) fn of_session(file: &str, error: &fluxion::Error) -> Box<Self> {
        let exit = match error {
            fluxion::Error::Policy(_)
            | fluxion::Error::Matcher(_)
            | fluxion::Error::Engine(engine::Error::FilterSpec { .. }) => {
                return Self::new(Exit::Usage, error.to_string());
            }
            _ => Exit::BadData,
        };
        Self::of_file(exit, file, error.to_string())
    }

    /// Makes a report of what is wrong with a state directory.
    pub(crate) fn of_state(error: &fluxion::Error) -> Box<Self> {
        let exit = match error {
            fluxion::Error::State(StateError::System { .. } | StateError::InUse { .. }) => {
                Exit::CannotCreate
            }
            _ => Exit::BadData,
        };
        Self::new(exit, error.to_string())
    }

    /// Adds what to do about it.
    pub(crate) fn help(&mut self, help: impl Into<String>) {
        self.helps.push(help.into());
    }

    /// Returns the report as text for people, with a newline at its end.
    pub(crate) fn render(&self, colored: bool) -> String {
        let title = match &self.file {
            // An arrow to a file needs a line to point at.
            Some(file) if self.at.is_none() => format!("{file}: {}", self.title),
            _ => self.title.clone(),
        };
        let mut group = Level::ERROR.primary_title(title).elements([] as [Origin<'_>; 0]);
        if let (Some(file), Some((line, column))) = (&self.file, self.at) {
            group = group.element(Origin::path(file).line(line).char_column(column));
            if let Some(excerpt) = &self.excerpt {
                let mark = AnnotationKind::Primary.span(excerpt.start..excerpt.end);
                let mark = match self.key.as_str() {
                    "" => mark,
                    key => mark.label(key),
                };
                group =
                    group.element(Snippet::source(&excerpt.text).line_start(line).annotation(mark));
            }
        }
        if self.excerpt.is_none() && !self.key.is_empty() {
            group = group.element(Level::NOTE.message(format!("at {}", self.key)));
        }
        for help in &self.helps {
            group = group.element(Level::HELP.message(help));
        }
        let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
        let mut text = String::new();
        for line in renderer.render(&[group]).lines().filter(|line| !is_break(line)) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }

    /// Returns the report for machines.
    pub(crate) fn json(&self) -> ReportJson<'_> {
        ReportJson {
            message: &self.title,
            file: self.file.as_deref(),
            line: self.at.map(|(line, _)| line),
            column: self.at.map(|(_, column)| column),
            key: &self.key,
            expected: self.expected.as_deref(),
            help: &self.helps,
        }
    }
}

/// Returns whether a rendered line only parts a place from its source. The two are given apart
/// because the column is that of the whole line, of which not all may be shown.
fn is_break(line: &str) -> bool {
    let mut rest = line;
    let mut plain = String::new();
    while let Some((before, style)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = style.split_once('m').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain.trim() == ":::"
}

/// Returns the text of an error without the place before it.
fn without_place(error: &impl ToString, place: &impl ToString) -> String {
    let full = error.to_string();
    let place = format!("{}: ", place.to_string());
    full.strip_prefix(&place).unwrap_or(&full).to_owned()
}

/// Returns the place to show for a place in `text`: where the text ends too early, the end of its
/// last line that is not blank.
fn settle(text: &str, line: usize, column: usize) -> (usize, usize) {
    let (line, column) = (line.max(1), column.max(1));
    let is_over = |rest: &str| rest.trim().is_empty();
    let rest = text.split_inclusive('\n').skip(line - 1);
    if !rest.clone().all(is_over) {
        return (line, column);
    }
    let text = text.trim_end();
    let last = text.rsplit('\n').next().unwrap_or(text);
    (text.matches('\n').count() + 1, last.chars().count() + 1)
}

/// Characters of a long line that are shown before the place and from it on.
const BEFORE: usize = 40;
const FROM: usize = 60;
const CUT: &str = "...";

/// Returns the part of `line` around a column, with what stands there marked.
fn excerpt(line: &str, column: usize) -> Excerpt {
    let at = line.char_indices().nth(column - 1).map_or(line.len(), |(at, _)| at);
    let first = line[..at].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let last = line[at..].char_indices().nth(FROM).map_or(line.len(), |(length, _)| at + length);
    let mut text = String::new();
    if first > 0 {
        text.push_str(CUT);
    }
    let start = text.len() + at - first;
    text.push_str(&line[first..last]);
    let end = (start + token_length(&line[at..])).min(text.len());
    if last < line.len() {
        text.push_str(CUT);
    }
    Excerpt { text, start, end }
}

/// Returns how many bytes belong to what `text` starts with: a quoted string, a word or a number,
/// or else one character.
fn token_length(text: &str) -> usize {
    let mut characters = text.char_indices();
    match characters.next() {
        Some((_, quote @ ('"' | '\''))) => characters
            .find(|&(_, character)| character == quote)
            .map_or(text.len(), |(at, _)| at + 1),
        Some((_, character)) if is_word(character) => {
            characters.find(|&(_, character)| !is_word(character)).map_or(text.len(), |(at, _)| at)
        }
        Some((_, character)) => character.len_utf8(),
        None => 0,
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '+' | '.')
}

/// Returns the candidate whose spelling is closest to `given`, if any is close.
pub(crate) fn similar<'a>(
    given: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let allowed = ((given.chars().count() + 1) / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(given, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns how many characters must be put in, left out or replaced to make one word the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, character) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &against) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(character != against);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "file".to_owned(), text: text.to_owned() }
    }

    fn check(text: &str, line: usize, column: usize, expected: &str) {
        let report = Report::at(&source(text), line, column, "/key", "wrong");
        assert_eq!(report.render(false), expected);
    }

    #[test]
    fn the_place_is_marked() {
        check(
            "a: 1\nb: two\n",
            2,
            4,
            "error: wrong\n --> file:2:4\n  |\n2 | b: two\n  |    ^^^ /key\n",
        );
    }

    #[test]
    fn tabs_and_wide_characters_do_not_move_the_mark() {
        check(
            "\té: \"x y\" # z",
            1,
            5,
            "error: wrong\n --> file:1:5\n  |\n1 |     é: \"x y\" # z\n  |        ^^^^^ /key\n",
        );
    }

    #[test]
    fn the_end_of_a_text_is_after_what_it_ends_with() {
        check("[1,\n\n\n", 4, 1, "error: wrong\n --> file:1:4\n  |\n1 | [1,\n  |    ^ /key\n");
    }

    #[test]
    fn long_lines_are_cut() {
        let line = format!("{}{}{}", "a ".repeat(500), "here", " z".repeat(500));
        let found = excerpt(&line, 1001);
        assert_eq!(&found.text[found.start..found.end], "here");
        assert_eq!(found.text.chars().count(), BEFORE + FROM + 2 * CUT.len());
        assert!(found.text.starts_with(CUT) && found.text.ends_with(CUT));
        let found = excerpt(&"x".repeat(500), 1);
        assert_eq!((found.start, found.end), (0, FROM));
    }

    #[test]
    fn places_beyond_the_text_do_no_harm() {
        for (line, column) in [(0, 0), (1, 99), (99, 1), (99, 99)] {
            for text in ["", "\n", "x", "é\r\n"] {
                Report::at(&source(text), line, column, "", "wrong").render(true);
            }
        }
    }

    #[test]
    fn similar_words_are_found() {
        assert_eq!(similar("gpux", ["node", "gpu"]), Some("gpu"));
        assert_eq!(similar("nod", ["core", "node"]), Some("node"));
        assert_eq!(similar("memory", ["core", "node"]), None);
        assert_eq!(similar("", ["core"]), None);
    }
}
