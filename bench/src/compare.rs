//! Two `resource-query` binaries side by side.
//!
//! Both get the same graph and the same commands, in turn and several times over. Before anything
//! is timed, their answers are compared: times of different answers say nothing.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use serde_json::{Value, json};

use crate::figures::{mean, median, show_bytes, show_ratio, show_seconds};
use crate::inputs::{ALL_FILTERS, Job, Machine, Script};
use crate::process::{Difference, Invocation, Run, difference};
use crate::table::Table;

/// Why two binaries cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A binary that is not there.
    #[error("no binary at {}: {hint}", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
        /// What may help.
        hint: &'static str,
    },
    /// A binary that cannot be run.
    #[error("cannot run {}: {source}", program.display())]
    Start {
        /// The binary.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A run that ended with an error.
    #[error("{} ended with {status}: {told}", program.display())]
    Failed {
        /// The binary.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The last that it wrote to standard error.
        told: String,
    },
    /// A binary that ran and wrote no answers.
    #[error("{} wrote no answers: is it a resource-query?", program.display())]
    Mute {
        /// The binary.
        program: PathBuf,
    },
    /// A name that no machine has.
    #[error("unknown size `{given}`: expected {}", Machine::NAMES.join(", "))]
    Size {
        /// The name.
        given: String,
    },
    /// A name that no workload has.
    #[error("unknown workload `{given}`: expected {}", workload_names().join(", "))]
    Workload {
        /// The name.
        given: String,
    },
    /// A run whose binary told no times of matches.
    #[error("{} told no time of any match in {workload}", program.display())]
    Untimed {
        /// The binary.
        program: PathBuf,
        /// The workload.
        workload: String,
    },
    /// An input or output file.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What is compared.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary to compare with.
    pub peer: PathBuf,
    /// Our binary.
    pub ours: PathBuf,
    /// Names of machines.
    pub sizes: Vec<String>,
    /// How often each binary runs each workload.
    pub rounds: u32,
    /// Names of workloads, with or without a policy; none stands for all.
    pub workloads: Vec<String>,
}

/// Which time of a run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    /// The mean of what the binary tells for its matches.
    Match,
    /// From the start of the process to its end.
    Process,
    /// That without what a process takes that only loads the graph.
    ProcessLessLoad,
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Process => "process",
            Self::ProcessLessLoad => "process less load",
        }
    }
}

/// How many times faster and smaller than the peer we want to be.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Target {
    /// On `s1k` and on `s4k`.
    time: [f64; 2],
    memory: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Workload {
    name: &'static str,
    policy: &'static str,
    jgf: bool,
    script: Script,
    measure: Measure,
    target: Target,
}

impl Workload {
    fn full_name(&self) -> String {
        format!("{}/{}", self.name, self.policy)
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.full_name() == name
    }

    /// Arguments for a graph in a file. Telling times costs a walk over the graph at the start, so
    /// it is asked for only where it is needed.
    fn args(&self, graph: &Path) -> Vec<String> {
        let format = if self.jgf { "jgf" } else { "grug" };
        let graph = graph.display().to_string();
        let mut args: Vec<String> =
            ["-L", &graph, "-f", format, "-S", "CA", "-P", self.policy].map(str::to_owned).into();
        if matches!(self.name, "reserve1k" | "churn" | "fill-mix") {
            args.extend(["-p", ALL_FILTERS].map(str::to_owned));
        }
        if self.measure == Measure::Match {
            args.push("-e".to_owned());
        }
        args
    }
}

fn workloads() -> Vec<Workload> {
    let repeat = |name, policies: &[&'static str], job, time| {
        let times = if matches!(job, Job::Core1 | Job::Nodes(1)) { 200 } else { 10 };
        let op = if job == Job::Nofit { "allocate_with_satisfiability" } else { "allocate" };
        let workload = |&policy| Workload {
            name,
            policy,
            jgf: false,
            script: Script::Repeat { op, job, times },
            measure: Measure::Match,
            target: Target { time, memory: None },
        };
        policies.iter().map(workload).collect::<Vec<_>>()
    };
    let load = |name, jgf, time, memory| Workload {
        name,
        policy: "first",
        jgf,
        script: Script::Load,
        measure: Measure::Process,
        target: Target { time: [time; 2], memory: Some(memory) },
    };
    let history = |name, script, measure, time, memory| Workload {
        name,
        policy: "lonodex",
        jgf: false,
        script,
        measure,
        target: Target { time, memory },
    };
    let reserve =
        Script::Repeat { op: "allocate_orelse_reserve", job: Job::Nodes(64), times: 1000 };
    let first = [5.0; 2];
    let both = ["low", "lonodex"];
    [
        vec![load("load-grug", false, 40.0, 12.0), load("load-jgf", true, 10.0, 8.0)],
        repeat("core1", &["low", "locality", "lonodex"], Job::Core1, [1000.0, 4000.0]),
        repeat("core1", &["first"], Job::Core1, first),
        repeat("sock2c4", &["low"], Job::Sock2c4, [500.0, 2000.0]),
        repeat("sock2c4", &["first"], Job::Sock2c4, first),
        repeat("node4c8g1", &both, Job::Node4c8g1, [300.0, 1500.0]),
        repeat("node4c8g1", &["first"], Job::Node4c8g1, first),
        repeat("rack2node8", &["low"], Job::Rack2node8, [200.0, 1000.0]),
        repeat("rack2node8", &["first"], Job::Rack2node8, first),
        repeat("node1x", &both, Job::Nodes(1), [40.0, 300.0]),
        repeat("node1x", &["first"], Job::Nodes(1), first),
        repeat("node64x", &both, Job::Nodes(64), [10.0; 2]),
        repeat("node64x", &["first"], Job::Nodes(64), first),
        repeat("toobig", &["low"], Job::Toobig, [4.0; 2]),
        repeat("nofit", &["low", "first"], Job::Nofit, [3000.0, 12000.0]),
        vec![
            history("reserve1k", reserve, Measure::Match, [50.0; 2], Some(30.0)),
            history("churn", Script::Churn, Measure::ProcessLessLoad, [30.0, 100.0], None),
            history("fill-mix", Script::FillMix, Measure::Process, [100.0, 250.0], None),
        ],
    ]
    .concat()
}

/// Returns the names of all workloads, without policies.
pub fn workload_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = workloads().iter().map(|workload| workload.name).collect();
    names.dedup();
    names
}

/// What a binary took for a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The median over the rounds.
    pub seconds: f64,
    /// The median over the rounds of the most memory at once.
    pub peak_bytes: f64,
    /// The median of all single matches, where those are measured.
    pub match_median_s: Option<f64>,
}

/// Whether both binaries gave the same answer, and what they took.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// They did.
    Same {
        /// What ours took.
        ours: Cost,
        /// What the peer took.
        peer: Cost,
    },
    /// They did not, so nothing was timed.
    Different(Difference),
}

/// The outcome of a workload on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The name of the machine.
    pub size: String,
    /// The name of the workload with its policy.
    pub workload: String,
    /// Which time was taken.
    pub measure: &'static str,
    /// How many times faster we want to be, where that is known.
    pub target_time: Option<f64>,
    /// How many times smaller we want to be, where that is known.
    pub target_memory: Option<f64>,
    /// What came out.
    pub verdict: Verdict,
}

impl Row {
    /// Returns whether both gave the same answer.
    pub fn is_same(&self) -> bool {
        matches!(self.verdict, Verdict::Same { .. })
    }
}

/// Compares two binaries. `progress` is told what is being run.
///
/// # Errors
///
/// [`Error`]; different answers are none, but a [`Verdict`].
pub fn compare(options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let machines = options.sizes.iter().map(|size| {
        let machine = Machine::named(size).ok_or_else(|| Error::Size { given: size.clone() })?;
        Ok((size.as_str(), machine))
    });
    let machines = machines.collect::<Result<Vec<_>, Error>>()?;
    let chosen = choose(&options.workloads)?;
    for (path, hint) in [
        (&options.ours, "build it with `cargo build --release -p cli` or name it with --ours"),
        (&options.peer, "--peer names a built resource-query"),
    ] {
        if !path.is_file() {
            return Err(Error::Missing { path: path.clone(), hint });
        }
    }
    let dir = std::env::temp_dir();
    let dir = tempfile::Builder::new()
        .prefix("bench-")
        .tempdir()
        .map_err(|source| Error::File { path: dir, source })?;
    let arena = Arena { options, dir: dir.path() };
    arena.rehearse()?;
    let mut rows = Vec::new();
    for (size, machine) in machines {
        arena.write_graphs(machine, chosen.iter().any(|workload| workload.jgf))?;
        for workload in &chosen {
            progress(&format!("{size} {}", workload.full_name()));
            let verdict = arena.run(workload)?;
            let place = ["s1k", "s4k"].iter().position(|&known| known == size);
            rows.push(Row {
                size: size.to_owned(),
                workload: workload.full_name(),
                measure: workload.measure.name(),
                target_time: place.map(|place| workload.target.time[place]),
                target_memory: place.and(workload.target.memory),
                verdict,
            });
        }
    }
    Ok(rows)
}

fn choose(names: &[String]) -> Result<Vec<Workload>, Error> {
    let all = workloads();
    for name in names {
        if !all.iter().any(|workload| workload.is_called(name)) {
            return Err(Error::Workload { given: name.clone() });
        }
    }
    let is_chosen =
        |workload: &Workload| names.is_empty() || names.iter().any(|name| workload.is_called(name));
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// Two binaries and the directory in which they meet.
struct Arena<'a> {
    options: &'a Options,
    dir: &'a Path,
}

#[derive(Default)]
struct Tally {
    seconds: Vec<f64>,
    peaks: Vec<f64>,
    matches: Vec<f64>,
}

impl Tally {
    fn cost(&self) -> Cost {
        let figure = |numbers| median(numbers).unwrap_or(0.0);
        Cost {
            seconds: figure(&self.seconds),
            peak_bytes: figure(&self.peaks),
            match_median_s: median(&self.matches),
        }
    }
}

impl Arena<'_> {
    fn write(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<PathBuf, Error> {
        let path = self.dir.join(name);
        let result = File::create(&path).and_then(|file| {
            let mut file = BufWriter::new(file);
            write(&mut file)?;
            file.flush()
        });
        match result {
            Ok(()) => Ok(path),
            Err(source) => Err(Error::File { path, source }),
        }
    }

    fn write_graphs(&self, machine: Machine, jgf: bool) -> Result<(), Error> {
        self.write("graph.graphml", |file| file.write_all(machine.grug().as_bytes()))?;
        if jgf {
            self.write("graph.json", |file| machine.write_jgf(file))?;
        }
        Ok(())
    }

    fn write_script(&self, name: &str, script: Script) -> Result<PathBuf, Error> {
        for job in script.jobs() {
            let jobspec = job.jobspec();
            self.write(&job_file(job), |file| file.write_all(jobspec.as_bytes()))?;
        }
        let commands = script.commands(|job| self.dir.join(job_file(job)).display().to_string());
        self.write(name, |file| file.write_all(commands.as_bytes()))
    }

    /// Has both binaries do something small, so that one that cannot is found at once.
    fn rehearse(&self) -> Result<(), Error> {
        self.write_graphs(Machine::new(1, 1), false)?;
        let script = Script::Repeat { op: "allocate", job: Job::Core1, times: 1 };
        let script = self.write_script("rehearsal.in", script)?;
        let graph = self.dir.join("graph.graphml").display().to_string();
        let args = ["-L", &graph, "-f", "grug", "-S", "CA", "-P", "first"].map(str::to_owned);
        for program in [&self.options.ours, &self.options.peer] {
            let output = self.dir.join("rehearsal");
            let invocation = Invocation { program, args: &args, script: &script, output: &output };
            invocation.run()?;
            let answers = std::fs::metadata(invocation.answers());
            if !answers.is_ok_and(|answers| answers.len() > 0) {
                return Err(Error::Mute { program: program.clone() });
            }
            invocation.clean();
        }
        Ok(())
    }

    fn run(&self, workload: &Workload) -> Result<Verdict, Error> {
        let script = self.write_script("commands.in", workload.script)?;
        let load = self.write_script("load.in", Script::Load)?;
        let graph = if workload.jgf { "graph.json" } else { "graph.graphml" };
        let args = workload.args(&self.dir.join(graph));
        let outputs = [self.dir.join("ours"), self.dir.join("peer")];
        let programs = [self.options.ours.as_path(), self.options.peer.as_path()];
        let invocation = |i: usize, script| Invocation {
            program: programs[i],
            args: &args,
            script,
            output: &outputs[i],
        };
        let mut tallies = [Tally::default(), Tally::default()];
        for round in 0..self.options.rounds {
            // Neither always has the caches that the other one left.
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for i in order {
                let load_s = match workload.measure {
                    Measure::ProcessLessLoad => invocation(i, &load).run()?.wall_s,
                    Measure::Match | Measure::Process => 0.0,
                };
                let run = invocation(i, &script).run()?;
                let tally = &mut tallies[i];
                tally.seconds.push(match workload.measure {
                    Measure::Match => mean(&run.matches_s).ok_or_else(|| Error::Untimed {
                        program: programs[i].to_owned(),
                        workload: workload.full_name(),
                    })?,
                    Measure::Process | Measure::ProcessLessLoad => run.wall_s - load_s,
                });
                let Run { peak_bytes, matches_s, .. } = run;
                tally.peaks.push(peak_bytes as f64);
                tally.matches.extend(matches_s);
            }
            if round == 0 {
                let answers = [0, 1].map(|i| invocation(i, &script).answers());
                if let Some(difference) = difference(&answers[0], &answers[1])? {
                    return Ok(Verdict::Different(difference));
                }
            }
        }
        for i in [0, 1] {
            invocation(i, &script).clean();
        }
        let [ours, peer] = tallies.map(|tally| tally.cost());
        Ok(Verdict::Same { ours, peer })
    }
}

fn job_file(job: Job) -> String {
    format!("{}.job.json", job.name())
}

/// A time that is too short for the clock of the binaries, which tell microseconds.
const TICK_S: f64 = 0.5e-6;

fn ratio(ours: f64, peer: f64, least: f64) -> f64 {
    peer.max(least) / ours.max(least)
}

/// Returns the rows as a table, with what differs below it.
pub fn render(rows: &[Row]) -> String {
    let mut table = Table::new(
        3,
        [
            "size",
            "workload",
            "time",
            "ours",
            "peer",
            "ratio",
            "target",
            "our peak",
            "peer peak",
            "ratio",
            "target",
        ],
    );
    let mut faults = String::new();
    for row in rows {
        let target = |target: Option<f64>| target.map(show_ratio).unwrap_or_default();
        let mut cells = vec![row.size.clone(), row.workload.clone(), row.measure.to_owned()];
        match &row.verdict {
            Verdict::Same { ours, peer } => cells.extend([
                show_seconds(ours.seconds),
                show_seconds(peer.seconds),
                show_ratio(ratio(ours.seconds, peer.seconds, TICK_S)),
                target(row.target_time),
                show_bytes(ours.peak_bytes),
                show_bytes(peer.peak_bytes),
                show_ratio(ratio(ours.peak_bytes, peer.peak_bytes, 1.0)),
                target(row.target_memory),
            ]),
            Verdict::Different(Difference { line, ours, peer }) => {
                cells.extend(["ANSWERS", "DIFFER"].map(str::to_owned));
                let show = |line: &Option<String>| {
                    line.as_ref().map_or("(the end)".to_owned(), |line| format!("`{line}`"))
                };
                let _ = writeln!(
                    faults,
                    "{} {}: answers differ at line {line}: ours {}, peer {}",
                    row.size,
                    row.workload,
                    show(ours),
                    show(peer),
                );
            }
        }
        table.push(cells);
    }
    format!("{table}{faults}")
}

/// Returns the rows as JSON: seconds, bytes and ratios as numbers.
pub fn to_json(rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let mut value = json!({
            "size": row.size,
            "workload": row.workload,
            "measure": row.measure,
            "target_time": row.target_time,
            "target_memory": row.target_memory,
            "same_answer": row.is_same(),
        });
        match &row.verdict {
            Verdict::Same { ours, peer } => {
                let cost = |cost: &Cost| {
                    json!({
                        "seconds": cost.seconds,
                        "match_median_s": cost.match_median_s,
                        "peak_bytes": cost.peak_bytes,
                    })
                };
                value["ours"] = cost(ours);
                value["peer"] = cost(peer);
                value["ratio_time"] = ratio(ours.seconds, peer.seconds, TICK_S).into();
                value["ratio_memory"] = ratio(ours.peak_bytes, peer.peak_bytes, 1.0).into();
            }
            Verdict::Different(Difference { line, ours, peer }) => {
                value["difference"] = json!({"line": line, "ours": ours, "peer": peer});
            }
        }
        value
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_chosen_by_name() {
        let names = |chosen: &[&str]| {
            let chosen: Vec<String> = chosen.iter().map(|&name| name.to_owned()).collect();
            let workloads = choose(&chosen).map_err(|error| error.to_string())?;
            Ok::<_, String>(workloads.iter().map(Workload::full_name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["toobig"]), Ok(vec!["toobig/low".to_owned()]));
        assert_eq!(names(&["core1"]).map(|names| names.len()), Ok(4));
        assert_eq!(names(&["core1/first"]), Ok(vec!["core1/first".to_owned()]));
        assert_eq!(names(&[]).map(|names| names.len()), Ok(workloads().len()));
        let error = names(&["core2"]).expect_err("there is none");
        assert!(error.starts_with("unknown workload `core2`: expected load-grug, "), "{error}");
    }

    #[test]
    fn a_time_below_the_clock_is_no_infinite_ratio() {
        assert!((ratio(0.0, 1e-6, TICK_S) - 2.0).abs() < 1e-9);
        assert!((ratio(0.0, 0.0, TICK_S) - 1.0).abs() < 1e-9);
    }

    fn row(verdict: Verdict) -> Row {
        Row {
            size: "s1k".to_owned(),
            workload: "core1/low".to_owned(),
            measure: "match",
            target_time: Some(1000.0),
            target_memory: None,
            verdict,
        }
    }

    #[test]
    fn both_outcomes_are_shown() {
        let cost = |seconds, peak_bytes| Cost { seconds, peak_bytes, match_median_s: None };
        let same = row(Verdict::Same { ours: cost(50e-6, 1e7), peer: cost(50e-3, 1e8) });
        let difference = Difference { line: 3, ours: Some("a".to_owned()), peer: None };
        let different = row(Verdict::Different(difference));
        let rows = [same, different];
        let text = render(&rows);
        let cells = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let expected = "s1k core1/low match 50.0 us 50.0 ms 1000x 1000x 10.0 MB 100 MB 10.0x";
        assert!(cells.into_iter().any(|line| line == expected), "{text}");
        assert!(text.contains("answers differ at line 3: ours `a`, peer (the end)\n"), "{text}");
        let json = to_json(&rows);
        assert_eq!(json[0]["ours"]["peak_bytes"], 1e7);
        assert_eq!(json[1]["same_answer"], false);
    }
}
