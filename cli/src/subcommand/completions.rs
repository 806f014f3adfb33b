//! `fluxion completions`.

use clap::CommandFactory;

use super::Failure;
use super::console;
use crate::args::{CompletionsArgs, FluxionArgs};
use crate::report::Exit;

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let mut command = FluxionArgs::command();
    clap_complete::generate(args.shell, &mut command, "fluxion", &mut script);
    console::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}
