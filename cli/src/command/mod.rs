//! The commands of a shell, with Fluxion's names and answers.

mod change;
mod look;
mod matching;

use std::io;

use crate::shell::Shell;
use crate::{Flow, shell};

/// A command.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) abbreviation: &'static str,
    /// What may follow.
    usage: &'static str,
    /// What it does, in a line.
    summary: &'static str,
    pub(crate) run: fn(&mut Shell, &[&str]) -> io::Result<Flow>,
}

const COMMANDS: [Command; 18] = [
    Command {
        name: "match",
        abbreviation: "m",
        usage: "OPERATION JOBSPEC",
        summary: "find resources for a jobspec; OPERATION is allocate, allocate_orelse_reserve, \
                  allocate_with_satisfiability, satisfiability, without_allocating or \
                  without_allocating_future",
        run: matching::run_match,
    },
    Command {
        name: "multi-match",
        abbreviation: "M",
        usage: "OPERATION JOBSPEC JOBSPEC...",
        summary: "match several jobspecs in turn, up to the first that is not matched",
        run: matching::run_multi_match,
    },
    Command {
        name: "update",
        abbreviation: "u",
        usage: "allocate|reserve jgf|jgf_shorthand|rv1exec FILE JOBID START DURATION",
        summary: "hold for a job what a resource set says it holds",
        run: matching::run_update,
    },
    Command {
        name: "attach",
        abbreviation: "j",
        usage: "FILE",
        summary: "add a JGF subgraph to the resource graph",
        run: change::run_attach,
    },
    Command {
        name: "remove",
        abbreviation: "j",
        usage: "PATH true | RANKS false",
        summary: "remove the subtree at a path, or the vertices of ranks, from the resource graph",
        run: change::run_remove,
    },
    Command {
        name: "find",
        abbreviation: "f",
        usage: "EXPRESSION",
        summary: "find vertices by status=, sched-now=, sched-future=, names=, property=, \
                  jobid-alloc=, jobid-reserved=, jobid-span=, jobid-tag= and agfilter=, joined by \
                  and, or and parentheses",
        run: look::run_find,
    },
    Command {
        name: "cancel",
        abbreviation: "c",
        usage: "JOBID [stats]",
        summary: "end an allocation or a reservation",
        run: change::run_cancel,
    },
    Command {
        name: "partial-cancel",
        abbreviation: "pc",
        usage: "JOBID jgf|rv1exec FILE [stats]",
        summary: "give back part of an allocation",
        run: change::run_partial_cancel,
    },
    Command {
        name: "set-property",
        abbreviation: "p",
        usage: "PATH NAME=VALUE",
        summary: "give a vertex a property",
        run: change::run_set_property,
    },
    Command {
        name: "get-property",
        abbreviation: "g",
        usage: "PATH",
        summary: "list the properties of a vertex",
        run: look::run_get_property,
    },
    Command {
        name: "set-status",
        abbreviation: "t",
        usage: "PATH up|down",
        summary: "bring a vertex up or take it down",
        run: change::run_set_status,
    },
    Command {
        name: "get-status",
        abbreviation: "e",
        usage: "PATH",
        summary: "tell whether a vertex is up",
        run: look::run_get_status,
    },
    Command {
        name: "list",
        abbreviation: "l",
        usage: "",
        summary: "list all jobs",
        run: look::run_list,
    },
    Command {
        name: "info",
        abbreviation: "i",
        usage: "JOBID",
        summary: "tell about a job",
        run: look::run_info,
    },
    Command {
        name: "stat",
        abbreviation: "s",
        usage: "",
        summary: "tell how many jobs were matched and how long it took",
        run: look::run_stat,
    },
    Command {
        name: "cat",
        abbreviation: "a",
        usage: "JOBSPEC",
        summary: "print a file",
        run: look::run_cat,
    },
    Command {
        name: "help",
        abbreviation: "h",
        usage: "[COMMAND]",
        summary: "tell about commands",
        run: run_help,
    },
    Command {
        name: "quit",
        abbreviation: "q",
        usage: "",
        summary: "end the session",
        run: |_, _| Ok(Flow::Quit),
    },
];

/// Returns the command called `name`, in full or abbreviated.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name || command.abbreviation == name)
}

/// Returns what may come after `words`; nothing where a file name is due.
pub(crate) fn completions(words: &[&str]) -> Vec<&'static str> {
    let canonical = words.first().and_then(|name| find(name)).map(|command| command.name);
    match (canonical, words.len()) {
        (_, 0) => COMMANDS.iter().map(|command| command.name).collect(),
        (Some("match" | "multi-match"), 1) => {
            engine::MatchOp::all().iter().map(|(name, _)| *name).collect()
        }
        (Some("update"), 1) => vec!["allocate", "reserve"],
        (Some("update"), 2) => vec!["jgf", "jgf_shorthand", "rv1exec"],
        (Some("partial-cancel"), 2) => vec!["jgf", "rv1exec"],
        (Some("set-status"), 2) => vec!["up", "down"],
        (Some("remove"), 2) => vec!["true", "false"],
        (Some("help"), 1) => COMMANDS.iter().map(|command| command.name).collect(),
        (Some("find"), _) => vec![
            "status=",
            "sched-now=",
            "sched-future=",
            "names=",
            "property=",
            "jobid-alloc=",
            "jobid-reserved=",
            "jobid-span=",
            "jobid-tag=",
            "agfilter=",
            "and",
            "or",
        ],
        _ => Vec::new(),
    }
}

fn run_help(_: &mut Shell, words: &[&str]) -> io::Result<Flow> {
    let wanted = if let [_, name] = words { Some(*name) } else { None };
    let mut found = false;
    for command in &COMMANDS {
        let Command { name, abbreviation, usage, summary, .. } = command;
        if wanted.is_none_or(|wanted| wanted == *name || wanted == *abbreviation) {
            shell::write_stdout(&format!("INFO: {name} ({abbreviation}) {usage} -- {summary}\n"))?;
            found = true;
        }
    }
    if let (false, Some(wanted)) = (found, wanted) {
        shell::write_stdout(&format!("ERROR: unknown command: {wanted}\n"))?;
        return Ok(Flow::Failed);
    }
    Ok(Flow::Continue)
}

/// A line between answers.
pub(crate) const RULE: &str = "INFO: =============================\n";

/// Says on standard error that a command has the wrong number of words.
pub(crate) fn malformed() -> Flow {
    eprintln!("ERROR: malformed command");
    Flow::Failed
}

/// Reads a number at the start of `text` as C's `strtoll` does: 0 where there is none, the nearest
/// one where it does not fit.
pub(crate) fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let n = digits.bytes().take_while(u8::is_ascii_digit).count();
    let number = &text[..text.len() - digits.len() + n];
    match number.parse() {
        Ok(number) => number,
        Err(_) if n == 0 => 0,
        Err(_) if number.starts_with('-') => i64::MIN,
        Err(_) => i64::MAX,
    }
}

/// Reads a job id.
pub(crate) fn job_id(text: &str) -> engine::JobId {
    engine::JobId(leading_integer(text) as u64)
}

/// Reads a file, as far as it is text.
pub(crate) fn read_text(path: &str) -> Option<String> {
    match std::fs::read(path) {
        Ok(bytes) => Some(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }),
        Err(error) => {
            eprintln!("ERROR: can't open {path}: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        assert_eq!(leading_integer("12x"), 12);
        assert_eq!(leading_integer(" -3"), -3);
        assert_eq!(leading_integer("x"), 0);
        assert_eq!(leading_integer(""), 0);
        assert_eq!(leading_integer("99999999999999999999"), i64::MAX);
        assert_eq!(leading_integer("-99999999999999999999"), i64::MIN);
    }

    #[test]
    fn a_shared_abbreviation_means_the_first_command() {
        assert_eq!(find("j").map(|command| command.name), Some("attach"));
        assert_eq!(find("remove").map(|command| command.name), Some("remove"));
        assert!(find("nope").is_none());
    }
}
