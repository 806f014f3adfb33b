//! The matcher for people.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run_fluxion(std::env::args_os())
}
