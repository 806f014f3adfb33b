//! Compares two `resource-query` binaries, or shows how costs grow.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what the tool does")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bench::compare::{self, compare, render, to_json};
use bench::scaling::{self, scaling};
use clap::{Args, Parser};

/// Compare two resource-query binaries, or show how costs grow
#[derive(Debug, Parser)]
#[command(name = "bench")]
enum Command {
    Compare(CompareArgs),
    Scaling(ScalingArgs),
}

/// Feed one script to two resource-query binaries in turn and compare what they take
///
/// Times of matches are those that the binaries tell themselves. Ends with an error if answers
/// differ.
#[derive(Debug, Args)]
struct CompareArgs {
    /// The binary to compare with
    #[arg(long, value_name = "PATH")]
    peer: PathBuf,
    /// Our binary [default: resource-query beside this program]
    #[arg(long, value_name = "PATH")]
    ours: Option<PathBuf>,
    /// Machines, separated by commas: s64, s1k, s4k, s16k
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "s1k,s4k")]
    sizes: Vec<String>,
    /// How often each binary runs each workload
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Workloads, separated by commas, such as core1 or core1/low [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    workloads: Vec<String>,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Show how times and memory grow with machine, job, fill level and reservations
#[derive(Debug, Args)]
struct ScalingArgs {
    /// Nodes of the largest machine
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(64..=65_536))]
    max_nodes: u32,
    /// The most reservations
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..))]
    max_reservations: u32,
    /// Where the plot goes
    #[arg(long, value_name = "FILE", default_value = "bench/record/scaling.svg")]
    svg: PathBuf,
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Compare(args) => run_compare(args),
        Command::Scaling(args) => run_scaling(&args),
    };
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("ERROR: {message}");
            ExitCode::FAILURE
        }
    }
}

fn tell(what: &str) {
    eprintln!("{what}");
}

fn run_compare(args: CompareArgs) -> Result<ExitCode, String> {
    let CompareArgs { peer, ours, sizes, rounds, workloads, json } = args;
    let ours = match ours {
        Some(ours) => ours,
        None => beside(&std::env::current_exe().map_err(|error| error.to_string())?),
    };
    let options = compare::Options { peer, ours, sizes, rounds, workloads };
    let rows = compare(&options, &mut tell).map_err(|error| error.to_string())?;
    if json {
        println!("{:#}", to_json(&rows));
    } else {
        print!("{}", render(&rows));
    }
    let n_different = rows.iter().filter(|row| !row.is_same()).count();
    if n_different > 0 {
        return Err(format!("answers differ in {n_different} of {} workloads", rows.len()));
    }
    Ok(ExitCode::SUCCESS)
}

fn beside(program: &Path) -> PathBuf {
    program.with_file_name(format!("resource-query{}", std::env::consts::EXE_SUFFIX))
}

fn run_scaling(args: &ScalingArgs) -> Result<ExitCode, String> {
    let ScalingArgs { max_nodes, max_reservations, svg } = args;
    let limits = scaling::Options { max_nodes: *max_nodes, max_reservations: *max_reservations };
    let report = scaling(limits, &mut tell);
    print!("{}", report.text);
    let file = |error: std::io::Error| format!("{}: {error}", svg.display());
    if let Some(dir) = svg.parent() {
        std::fs::create_dir_all(dir).map_err(file)?;
    }
    std::fs::write(svg, report.svg).map_err(file)?;
    Ok(ExitCode::SUCCESS)
}
