//! Puts the laws to random scenarios for as long as one likes.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what the tool does")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Parser};
use testkit::{Counts, Failure, LAWS, Law, script, seeds, try_case};

/// Put the laws of the engine to random scenarios
#[derive(Debug, Parser)]
#[command(name = "testkit")]
enum Command {
    Soak(SoakArgs),
    Replay(ReplayArgs),
}

/// Go through scenarios until the time is over or a law does not hold
///
/// The same seed makes the same scenarios in the same order. Ends with an error if a law does not
/// hold.
#[derive(Debug, Args)]
struct SoakArgs {
    /// For how many minutes
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = minutes)]
    minutes: f64,
    /// Which scenarios
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Laws, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = law)]
    laws: Vec<&'static Law>,
}

/// Put a law to one case of a soak again
#[derive(Debug, Args)]
struct ReplayArgs {
    /// The law
    #[arg(long, value_name = "NAME", value_parser = law)]
    law: &'static Law,
    /// The seed of the case, as a failure tells it
    #[arg(long, value_name = "SEED")]
    case: u64,
    /// Where to write the smallest scenario for `resource-query`
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

fn minutes(text: &str) -> Result<f64, String> {
    // A year, to stay within what clocks can add up.
    let fine = |minutes: &f64| (0.0..=525_600.0).contains(minutes);
    text.parse().ok().filter(fine).ok_or_else(|| "expected minutes, at most a year".to_owned())
}

fn law(name: &str) -> Result<&'static Law, String> {
    let names = || LAWS.iter().map(|law| law.name).collect::<Vec<_>>().join(", ");
    Law::named(name).ok_or_else(|| format!("expected one of {}", names()))
}

fn main() -> ExitCode {
    let command = Command::parse();
    // A panic is a failure like any other, and is told of once its smallest case is known.
    std::panic::set_hook(Box::new(|_| {}));
    match command {
        Command::Soak(args) => soak(&args),
        Command::Replay(args) => replay(&args),
    }
}

fn replay(ReplayArgs { law, case, write }: &ReplayArgs) -> ExitCode {
    let failure = match try_case(law, *case) {
        Ok(counts) => {
            println!("{} holds; checked {}", law.name, counts.checks);
            return ExitCode::SUCCESS;
        }
        Err(failure) => failure,
    };
    println!("{failure}");
    if let Some(dir) = write {
        for (name, text) in script(&failure.scenario) {
            if let Err(error) = std::fs::write(dir.join(&name), text) {
                eprintln!("ERROR: {}: {error}", dir.join(&name).display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::FAILURE
}

fn soak(args: &SoakArgs) -> ExitCode {
    let SoakArgs { minutes, seed, .. } = *args;
    let laws: Vec<&Law> =
        if args.laws.is_empty() { LAWS.iter().collect() } else { args.laws.clone() };
    let mut counts = vec![Counts::default(); laws.len()];
    let (start, mut told) = (Instant::now(), 0);
    let mut failure = None;
    for case in seeds(seed) {
        let elapsed = start.elapsed();
        if elapsed >= Duration::from_secs_f64(minutes * 60.0) {
            break;
        }
        if elapsed.as_secs() / 10 > told {
            told = elapsed.as_secs() / 10;
            let cases = counts.iter().map(|counts| counts.cases).sum::<u64>();
            eprintln!("{} s: {cases} cases", elapsed.as_secs());
        }
        failure = put(&laws, case, &mut counts).err();
        if failure.is_some() {
            break;
        }
    }
    report(&laws, &counts, seed, failure.as_deref());
    if failure.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Puts all laws to one case.
fn put(laws: &[&Law], case: u64, counts: &mut [Counts]) -> Result<(), Box<Failure>> {
    for (law, counts) in laws.iter().zip(counts) {
        counts.add(try_case(law, case)?);
    }
    Ok(())
}

fn report(laws: &[&Law], counts: &[Counts], seed: u64, failure: Option<&Failure>) {
    if let Some(failure) = failure {
        println!("{failure}\n");
    }
    println!("{:<56}{:>12}{:>14}", "law", "cases", "checks");
    let mut all = Counts::default();
    for (law, &counts) in laws.iter().zip(counts) {
        println!("{:<56}{:>12}{:>14}", law.name, counts.cases, counts.checks);
        all.add(counts);
    }
    let Counts { cases, histories, steps, matches, checks } = all;
    println!("\ncases                {cases}");
    println!("histories run        {histories}");
    println!("steps                {steps}");
    println!("matches              {matches}");
    println!("invariants checked   {checks}");
    println!("failures             {}", u32::from(failure.is_some()));
    println!("seed                 {seed}");
}
