//! How costs grow with the machine, the job, what is taken and what is reserved.
//!
//! Everything runs in this process, through the library.

use std::fmt::Write as _;
use std::time::Instant;

use fluxion::{LoadFormat, MatchOp, Outcome, Session, SessionOptions};

use crate::figures::{mean, median, show_number, show_seconds};
use crate::inputs::{Dice, Job, Machine};
use crate::plot::{Panel, Series, sheet};
use crate::table::Table;
use crate::trial::{Trial, options};

/// Policies that are measured.
const POLICIES: [&str; 3] = ["low", "first", "locality"];
/// Jobs of a fixed size.
const FIXED: [Job; 3] = [Job::Core1, Job::Sock2c4, Job::Node4c8g1];
const NODES_PER_RACK: u32 = 64;
/// The machine that job size, fill level and reservation depth are measured on, if it is not above
/// the largest.
const MIDDLE: u32 = 1024;
/// The largest machine that is written out as JGF, in nodes.
const LARGEST_JGF: u32 = 4096;
/// Matches that a median is of.
const N_MATCHES: usize = 24;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Nodes of the largest machine.
    pub max_nodes: u32,
    /// The most reservations.
    pub max_reservations: u32,
}

/// What was measured, as text and as a picture.
#[derive(Clone, Debug)]
pub struct Report {
    /// Tables.
    pub text: String,
    /// Plots, as SVG.
    pub svg: String,
}

/// Measures everything. `progress` is told what is being measured.
pub fn scaling(limits: Options, progress: &mut dyn FnMut(&str)) -> Report {
    let mut output = Sheet { text: String::new(), panels: Vec::new() };
    by_machine(limits, &mut output, progress);
    by_job(limits, &mut output, progress);
    by_fill(limits, &mut output, progress);
    by_depth(limits, &mut output, progress);
    Report { text: output.text, svg: sheet(&output.panels) }
}

struct Sheet {
    text: String,
    panels: Vec<Panel>,
}

impl Sheet {
    fn add(&mut self, table: &Table, panel: Panel) {
        let _ = writeln!(self.text, "{}\n\n{table}", panel.title);
        self.panels.push(panel);
    }
}

fn machine(n_nodes: u32) -> Machine {
    Machine::new((n_nodes / NODES_PER_RACK).max(1), NODES_PER_RACK)
}

/// Returns sizes from 64 on, four times as large each.
fn machine_sizes(max_nodes: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(NODES_PER_RACK), |n| n.checked_mul(4))
        .take_while(move |&n| n <= max_nodes.max(NODES_PER_RACK))
}

/// Returns the median time of matches one after the other, none of which is given back.
fn match_time(trial: &mut Trial, job: Job, n_matches: usize) -> f64 {
    let jobspec = job.jobspec();
    let mut times = Vec::with_capacity(n_matches);
    for _ in 0..n_matches {
        let (_, outcome, seconds) = trial.time(MatchOp::Allocate, &jobspec);
        if outcome != Outcome::Allocated {
            break;
        }
        times.push(seconds);
    }
    median(&times).expect("there is room for one")
}

fn by_machine(limits: Options, sheet: &mut Sheet, progress: &mut dyn FnMut(&str)) {
    let mut loads = Table::new(0, ["nodes", "vertices", "load grug", "load jgf", "bytes/vertex"]);
    let mut load_series = ["grug", "jgf"].map(series);
    let mut times = Table::new(2, ["policy", "job", "nodes", "match"]);
    let combinations = || POLICIES.into_iter().flat_map(|policy| FIXED.map(|job| (policy, job)));
    let mut time_series: Vec<Series> =
        combinations().map(|(policy, job)| series(&format!("{policy} {}", job.name()))).collect();
    let mut bytes = series("engine");
    for n_nodes in machine_sizes(limits.max_nodes) {
        progress(&format!("machine of {n_nodes} nodes"));
        let machine = machine(n_nodes);
        let n = f64::from(n_nodes);
        let mut row = vec![n_nodes.to_string(), machine.n_vertices().to_string()];
        let grug = load_time(&machine.grug(), &options("first"));
        load_series[0].points.push((n, grug * 1e3));
        row.push(show_seconds(grug));
        row.push(if n_nodes <= LARGEST_JGF {
            let mut text = Vec::new();
            machine.write_jgf(&mut text).expect("memory takes everything");
            let text = String::from_utf8(text).expect("JGF is text");
            let jgf = SessionOptions { load_format: LoadFormat::Jgf, ..options("first") };
            let jgf = load_time(&text, &jgf);
            load_series[1].points.push((n, jgf * 1e3));
            show_seconds(jgf)
        } else {
            String::new()
        });
        for ((policy, job), series) in combinations().zip(&mut time_series) {
            let mut trial = Trial::new(machine, policy);
            if bytes.points.last().is_none_or(|&(last, _)| last < n) {
                let per_vertex = trial.memory_usage() as f64 / trial.n_vertices() as f64;
                bytes.points.push((n, per_vertex));
                row.push(show_number(per_vertex));
            }
            series.points.push((n, match_time(&mut trial, job, N_MATCHES) * 1e6));
        }
        loads.push(row);
    }
    for ((policy, job), series) in combinations().zip(&time_series) {
        for &(n, us) in &series.points {
            let row = vec![policy.to_owned(), job.name(), n.to_string(), show_seconds(us / 1e6)];
            times.push(row);
        }
    }
    let load = Panel {
        title: "Load time by machine size",
        x_label: "nodes",
        y_label: "ms",
        series: load_series.into(),
    };
    sheet.add(&loads, load);
    sheet.panels.push(Panel {
        title: "Memory of the engine by machine size",
        x_label: "nodes",
        y_label: "bytes per vertex",
        series: vec![bytes],
    });
    let time = Panel {
        title: "Match time of fixed jobs by machine size",
        x_label: "nodes",
        y_label: "us",
        series: time_series,
    };
    sheet.add(&times, time);
}

fn series(name: &str) -> Series {
    Series { name: name.to_owned(), points: Vec::new() }
}

fn load_time(graph: &str, options: &SessionOptions) -> f64 {
    let times: Vec<f64> = (0..3)
        .map(|_| {
            let start = Instant::now();
            let session = Session::open(graph, options).expect("graph and options are sound");
            let seconds = start.elapsed().as_secs_f64();
            drop(session);
            seconds
        })
        .collect();
    median(&times).unwrap_or(0.0)
}

fn by_job(limits: Options, sheet: &mut Sheet, progress: &mut dyn FnMut(&str)) {
    let n_nodes = limits.max_nodes.min(4 * MIDDLE);
    let mut table = Table::new(1, ["policy", "nodes of the job", "match", "per node"]);
    let mut curves = Vec::new();
    for policy in POLICIES {
        progress(&format!("job size under {policy}"));
        let mut trial = Trial::new(machine(n_nodes), policy);
        let mut curve = series(policy);
        for n in std::iter::successors(Some(1), |n| Some(n * 4)).take_while(|&n| n <= n_nodes / 4) {
            let jobspec = Job::Nodes(n).jobspec();
            let mut times = Vec::new();
            for _ in 0..9 {
                let (job, outcome, seconds) = trial.time(MatchOp::Allocate, &jobspec);
                assert_eq!(outcome, Outcome::Allocated, "{n} of {n_nodes} nodes are free");
                trial.cancel(job);
                times.push(seconds);
            }
            let seconds = median(&times).unwrap_or(0.0);
            table.push(vec![
                policy.to_owned(),
                n.to_string(),
                show_seconds(seconds),
                show_seconds(seconds / f64::from(n)),
            ]);
            curve.points.push((f64::from(n), seconds * 1e6));
        }
        curves.push(curve);
    }
    let panel = Panel {
        title: "Match time by job size",
        x_label: "nodes of the job",
        y_label: "us",
        series: curves,
    };
    sheet.add(&table, panel);
}

fn by_fill(limits: Options, sheet: &mut Sheet, progress: &mut dyn FnMut(&str)) {
    let machine = machine(limits.max_nodes.min(MIDDLE));
    let graph = machine.grug();
    let mut table = Table::new(2, ["policy", "job", "taken", "match", "cancel"]);
    let mut curves = Vec::new();
    for policy in POLICIES {
        progress(&format!("fill level under {policy}"));
        for job in [Job::Core1, Job::Sock2c4] {
            let jobspec = job.jobspec();
            let mut curve = series(&format!("{policy} {}", job.name()));
            for percent in [0, 25, 50, 75, 90, 99] {
                let mut trial = Trial::open(&graph, &options(policy));
                trial.fill(percent);
                let (mut jobs, mut matches, mut cancels) = (Vec::new(), Vec::new(), Vec::new());
                for _ in 0..N_MATCHES {
                    let (job, outcome, seconds) = trial.time(MatchOp::Allocate, &jobspec);
                    if outcome != Outcome::Allocated {
                        break;
                    }
                    jobs.push(job);
                    matches.push(seconds);
                }
                Dice::new(1).shuffle(&mut jobs);
                for job in jobs {
                    let start = Instant::now();
                    trial.cancel(job);
                    cancels.push(start.elapsed().as_secs_f64());
                }
                let figure = |times| median(times).unwrap_or(0.0);
                table.push(vec![
                    policy.to_owned(),
                    job.name(),
                    format!("{percent}%"),
                    show_seconds(figure(&matches)),
                    show_seconds(figure(&cancels)),
                ]);
                curve.points.push((f64::from(100 - percent), figure(&matches) * 1e6));
            }
            curves.push(curve);
        }
    }
    let panel = Panel {
        title: "Match time by fill level",
        x_label: "% of the nodes that are free",
        y_label: "us",
        series: curves,
    };
    sheet.add(&table, panel);
}

fn by_depth(limits: Options, sheet: &mut Sheet, progress: &mut dyn FnMut(&str)) {
    /// Reservations that a mean is of.
    const WINDOW: usize = 50;
    let machine = machine(limits.max_nodes.min(MIDDLE));
    let jobspec = Job::Nodes(64).jobspec();
    let mut table = Table::new(1, ["policy", "reservations", "each of the last", "bytes each"]);
    let (mut times, mut bytes) = (Vec::new(), Vec::new());
    for policy in ["lonodex", "first"] {
        progress(&format!("reservations under {policy}"));
        let mut trial = Trial::new(machine, policy);
        let empty = trial.memory_usage();
        let (mut time_curve, mut byte_curve) = (series(policy), series(policy));
        let mut last = Vec::new();
        for n in 1..=limits.max_reservations {
            let (_, _, seconds) = trial.time(MatchOp::AllocateOrelseReserve, &jobspec);
            if last.len() == WINDOW {
                last.remove(0);
            }
            last.push(seconds);
            if !matches!(n, 100 | 300 | 1000 | 3000 | 10_000) {
                continue;
            }
            let seconds = mean(&last).unwrap_or(0.0);
            let each = trial.memory_usage().saturating_sub(empty) as f64 / f64::from(n);
            table.push(vec![
                policy.to_owned(),
                n.to_string(),
                show_seconds(seconds),
                show_number(each),
            ]);
            time_curve.points.push((f64::from(n), seconds * 1e6));
            byte_curve.points.push((f64::from(n), each));
        }
        times.push(time_curve);
        bytes.push(byte_curve);
    }
    let panel = Panel {
        title: "Time of a reservation of 64 nodes by depth",
        x_label: "reservations",
        y_label: "us",
        series: times,
    };
    sheet.add(&table, panel);
    sheet.panels.push(Panel {
        title: "Memory of the engine by depth",
        x_label: "reservations",
        y_label: "bytes per reservation",
        series: bytes,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_grow_to_the_largest() {
        assert_eq!(machine_sizes(4096).collect::<Vec<_>>(), [64, 256, 1024, 4096]);
        assert_eq!(machine_sizes(1000).collect::<Vec<_>>(), [64, 256]);
        assert_eq!(machine_sizes(0).collect::<Vec<_>>(), [64]);
    }

    #[test]
    fn everything_is_measured_on_a_small_machine() {
        let limits = Options { max_nodes: 64, max_reservations: 100 };
        let mut told = Vec::new();
        let report = scaling(limits, &mut |what| told.push(what.to_owned()));
        assert_eq!(told[0], "machine of 64 nodes");
        for title in ["Load time", "Match time of fixed jobs", "by job size", "by fill level"] {
            assert!(report.text.contains(title), "{title}: {}", report.text);
        }
        assert_eq!(report.svg.matches("<g ").count(), 7);
        assert!(!report.svg.contains("NaN"));
    }
}
