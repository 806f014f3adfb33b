//! Command lines, from a terminal or from elsewhere.

use std::io::{self, BufRead, IsTerminal};

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};

use crate::{Flow, command};

/// Where lines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// From a person, with this prompt, unless nobody is at a terminal.
    Prompt(&'static str),
    /// As they come.
    Plain,
}

/// Reads lines and gives each to `run` until that says to quit or there are none left.
///
/// # Errors
///
/// When lines cannot be read, or what `run` fails with.
pub fn read_lines(lines: Lines, mut run: impl FnMut(&str) -> io::Result<Flow>) -> io::Result<()> {
    match lines {
        Lines::Prompt(prompt) if io::stdin().is_terminal() => edit_lines(prompt, &mut run),
        _ => {
            let mut input = io::stdin().lock();
            let mut line = Vec::new();
            loop {
                line.clear();
                if input.read_until(b'\n', &mut line)? == 0 {
                    return Ok(());
                }
                if run(&String::from_utf8_lossy(&line))? == Flow::Quit {
                    return Ok(());
                }
            }
        }
    }
}

fn edit_lines(prompt: &str, run: &mut dyn FnMut(&str) -> io::Result<Flow>) -> io::Result<()> {
    let mut editor: Editor<CommandHelper, DefaultHistory> =
        Editor::new().map_err(io::Error::other)?;
    editor.set_helper(Some(CommandHelper { files: FilenameCompleter::new() }));
    loop {
        match editor.readline(prompt) {
            Ok(line) => {
                // History is a convenience.
                let _ = editor.add_history_entry(line.as_str());
                if run(&line)? == Flow::Quit {
                    return Ok(());
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(io::Error::other(error)),
        }
    }
}

/// Completes commands, their subcommands and file names.
struct CommandHelper {
    files: FilenameCompleter,
}

impl Completer for CommandHelper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let head = line.get(..pos).unwrap_or(line);
        let start = head.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let words: Vec<&str> = head[..start].split_whitespace().collect();
        let choices = command::completions(&words);
        let begun = &head[start..];
        let fitting: Vec<Pair> = choices
            .into_iter()
            .filter(|choice| choice.starts_with(begun))
            .map(|choice| Pair { display: choice.to_owned(), replacement: format!("{choice} ") })
            .collect();
        if fitting.is_empty() && !words.is_empty() {
            return self.files.complete(line, pos, context);
        }
        Ok((start, fitting))
    }
}

impl Hinter for CommandHelper {
    type Hint = String;
}

impl Highlighter for CommandHelper {}
impl Validator for CommandHelper {}
impl Helper for CommandHelper {}
