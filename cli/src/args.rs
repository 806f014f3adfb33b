//! The command line of `fluxion`.
#![allow(clippy::doc_markdown, reason = "help texts are shown as they stand")]

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, ColorChoice, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fluxion::{Limits, LoadFormat, MATCHERS, MatchFormat, Traverser};

use crate::report::EXIT_STATUS;

/// Returns the text of a section of examples.
macro_rules! examples {
    ($($line:literal),+ $(,)?) => {
        concat!("Examples:", $("\n  ", $line),+)
    };
}

/// Match jobspecs against resource graphs.
///
/// A resource graph tells what a machine has, a jobspec (Flux RFC 14) what a job needs. Graphs are
/// read from JGF, R, GRUG (a recipe in GraphML) and hwloc XML, jobspecs from YAML and JSON; which it
/// is is recognised from the text. `-` stands for standard input.
#[derive(Debug, Parser)]
#[command(name = "fluxion", version, after_help = EXIT_STATUS)]
pub(crate) struct FluxionArgs {
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value_t)]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find resources for jobspecs and print them
    Match(MatchArgs),
    /// Tell whether a graph could ever satisfy jobspecs
    Satisfy(SatisfyArgs),
    /// Check jobspecs
    Validate(ValidateArgs),
    /// Tell what is in a graph
    Info(InfoArgs),
    /// Write a graph in another format
    Convert(ConvertArgs),
    /// Run commands on a graph, one after the other
    Shell(ShellArgs),
    /// Print what makes a shell complete `fluxion` command lines
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
#[command(
    long_about = "Find resources for jobspecs and print them.\n\n\
        The jobspecs are matched one after the other on one graph, so that each holds what it got \
        while the next is matched. What a job got goes to standard output, a line on how each \
        fared to standard error. Nothing is matched unless all jobspecs are sound.",
    after_help = examples!(
        "fluxion match job.yaml --graph cluster.json",
        "fluxion match a.yaml b.yaml --graph cluster.json --policy low --reserve",
        "fluxion match job.yaml --graph cluster.json --format pretty_simple",
        "flux run --dry-run -N2 app | fluxion match - --graph R.json --json",
    )
)]
pub(crate) struct MatchArgs {
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// How what a job got is written
    #[arg(short = 'F', long, default_value = "rv1_nosched", value_parser = match_format())]
    pub(crate) format: MatchFormat,
    /// Reserve resources at the earliest time where there are none now
    #[arg(short, long)]
    pub(crate) reserve: bool,
    /// Do not tell how each jobspec fared
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print a JSON object a line for each jobspec
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    long_about = "Tell whether a graph could ever satisfy jobspecs.\n\n\
        Each jobspec is looked at for itself, with nothing held.",
    after_help = examples!(
        "fluxion satisfy job.yaml --graph cluster.json",
        "fluxion satisfy queue/*.yaml --graph cluster.json --json",
    )
)]
pub(crate) struct SatisfyArgs {
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Print a JSON object a line for each jobspec
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    /// Files with jobspecs
    #[arg(required = true, value_name = "JOBSPEC")]
    pub(crate) jobspecs: Vec<String>,
    #[command(flatten)]
    pub(crate) graph: GraphOption,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

#[derive(Debug, Args)]
#[command(after_help = examples!(
    "fluxion validate job.yaml",
    "fluxion validate --extended jobs/*.yaml",
    "flux run --dry-run -N2 app | fluxion validate - --json",
))]
pub(crate) struct ValidateArgs {
    /// Files with jobspecs
    #[arg(required = true, value_name = "JOBSPEC")]
    pub(crate) jobspecs: Vec<String>,
    /// Accept all that the RFCs allow, and tell which of it Fluxion does not support
    #[arg(long)]
    pub(crate) extended: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Print a JSON object a line for each jobspec
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    long_about = "Tell what is in a graph.\n\n\
        Types are listed from the root down, with how many vertices there are and, where that is \
        not the same, the sum of their sizes.",
    after_help = examples!(
        "fluxion info cluster.json",
        "fluxion info node.xml --allowlist node,socket,core,gpu",
        "fluxion info cluster.json --json",
    )
)]
pub(crate) struct InfoArgs {
    /// File with the resource graph
    pub(crate) graph: String,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    long_about = "Write a graph in another format.\n\n\
        JGF can be read back. DOT is for Graphviz; the GraphML that is written is the whole graph, \
        not a recipe as GRUG is.",
    after_help = examples!(
        "fluxion convert cluster.graphml -o cluster.json",
        "fluxion convert R.json --to dot | dot -Tsvg -o cluster.svg",
    )
)]
pub(crate) struct ConvertArgs {
    /// File with the resource graph
    #[arg(value_name = "IN")]
    pub(crate) input: String,
    /// File to write; standard output when not given
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Format to write; when not given, as the name of OUT says, or else jgf
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<GraphText>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

#[derive(Debug, Args)]
#[command(
    long_about = "Run commands on a graph, one after the other.\n\n\
        The commands are those of resource-query; `help` lists them. Where they do not come from a \
        terminal, the exit status is 65 if one of them could not be done; lines that start with # \
        are passed over.",
    after_help = examples!(
        "fluxion shell --graph cluster.json",
        "echo 'match allocate job.yaml' | fluxion shell --graph cluster.json",
        "fluxion shell --graph cluster.json --state cluster.state",
        "fluxion shell --state cluster.state",
    )
)]
pub(crate) struct ShellArgs {
    /// File with the resource graph; not read where there is a state already
    #[arg(short, long, value_name = "FILE", required_unless_present = "state")]
    pub(crate) graph: Option<String>,
    /// Directory that keeps the state: what is in it is restored, and what is done is kept there
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// How what a job got is written
    #[arg(short = 'F', long, default_value = "simple", value_parser = match_format())]
    pub(crate) format: MatchFormat,
}

#[derive(Debug, Args)]
#[command(after_help = examples!(
    "fluxion completions bash > ~/.local/share/bash-completion/completions/fluxion",
    "fluxion completions fish > ~/.config/fish/completions/fluxion.fish",
))]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct GraphOption {
    /// File with the resource graph
    #[arg(short = 'g', long = "graph", value_name = "FILE")]
    pub(crate) file: String,
}

/// How a graph is read.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Format of the resource graph; when not given, it is recognised
    #[arg(short = 'f', long, value_name = "FORMAT", value_parser = load_format())]
    pub(crate) load_format: Option<LoadFormat>,
    /// Resource types to load from hwloc, separated by commas; all others are left out
    #[arg(short = 'W', long, value_name = "TYPES")]
    pub(crate) allowlist: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// What inputs may ask for.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Raise or lower a limit, such as graph.vertices=1000; repeatable
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
    given: Vec<(String, usize)>,
}

impl LimitArgs {
    /// Returns all limits.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for (name, value) in &self.given {
            // The name was looked up when the argument was read.
            let _ = limits.set(name, *value);
        }
        limits
    }
}

/// Reads a limit with its value.
fn limit(text: &str) -> Result<(String, usize), String> {
    let (name, value) = text.split_once('=').ok_or("expected a name, = and a number")?;
    let value = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
    Limits::default().set(name, value).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), value))
}

/// How a graph is looked at.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Subsystems to match on
    #[arg(short = 'S', long, default_value = "CA", ignore_case = true, value_parser = matcher())]
    pub(crate) matcher: String,
    /// Types to count in aggregate, such as ALL:core,rack:node
    #[arg(short = 'p', long, value_name = "FILTERS", default_value = "ALL:core,ALL:node")]
    pub(crate) prune_filters: String,
}

/// What is chosen.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// Which resources are preferred: a name, or `policy=low|high` with node_centric=,
    /// node_exclusive= and stop_on_1_matches=
    #[arg(short = 'P', long, default_value = "first", value_parser = PolicyParser)]
    pub(crate) policy: String,
    /// How slots side by side are understood: all are needed, or (flexible) any of them will do
    #[arg(short = 'T', long, value_name = "TRAVERSER", default_value = "simple")]
    pub(crate) traverser: TraverserName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraverserName {
    Simple,
    Flexible,
}

impl From<TraverserName> for Traverser {
    fn from(name: TraverserName) -> Self {
        match name {
            TraverserName::Simple => Self::Simple,
            TraverserName::Flexible => Self::Flexible,
        }
    }
}

/// A format in which a whole graph can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphText {
    Jgf,
    Dot,
    Graphml,
}

fn match_format() -> impl TypedValueParser<Value = MatchFormat> {
    PossibleValuesParser::new(MatchFormat::ALL.map(MatchFormat::name))
        .try_map(|name| name.parse::<MatchFormat>())
}

fn load_format() -> impl TypedValueParser<Value = LoadFormat> {
    PossibleValuesParser::new(LoadFormat::ALL.map(LoadFormat::name))
        .try_map(|name| name.parse::<LoadFormat>())
}

fn matcher() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(MATCHERS.map(|(name, _)| name)).map(|name| name.to_uppercase())
}

/// Reads a policy: one of the names, or a custom one.
#[derive(Clone, Copy, Debug)]
struct PolicyParser;

impl TypedValueParser for PolicyParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        match value.to_str() {
            Some(custom) if custom.contains('=') => match fluxion::policy(custom) {
                Ok(_) => Ok(custom.to_owned()),
                Err(error) => {
                    let message = format!("{error}\n\nFor more information, try '--help'.\n");
                    Err(clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command))
                }
            },
            _ => PossibleValuesParser::new(fluxion::policy_names()).parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(fluxion::policy_names().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        FluxionArgs::command().debug_assert();
    }
}
