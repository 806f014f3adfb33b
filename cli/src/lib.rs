//! What the two command-line tools share.
//!
//! A [`Shell`] holds a session and runs command lines on it, in Fluxion's words. `resource-query`
//! is little more than a shell; `fluxion` offers one too.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what these tools do")]

mod args;
mod command;
mod graph_output;
mod repl;
mod report;
mod shell;
mod subcommand;

pub use graph_output::{GraphFormat, write_graph};
pub use repl::{Lines, read_lines};
pub use shell::{Flow, Shell, write_stdout};
pub use subcommand::run_fluxion;
