//! Machines, jobspecs and command scripts of known shape.
//!
//! All are made from their names alone, so that figures of different days are of the same work.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Value, json};

const SOCKETS: u32 = 2;
const CORES: u32 = 24;
const GPUS: u32 = 2;
const MEMORIES: u32 = 4;
const MEMORY_GB: u32 = 16;

/// Filters with which reservations, churn and mixes of jobs are run.
pub const ALL_FILTERS: &str = "ALL:core,ALL:node,ALL:gpu";

/// A machine of racks of nodes, each node with 2 sockets of 24 cores, 2 GPUs and 4 memories of
/// 16 GB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    racks: u32,
    nodes_per_rack: u32,
}

impl Machine {
    /// Names of machines, from small to large.
    pub const NAMES: [&str; 4] = ["s64", "s1k", "s4k", "s16k"];

    /// Returns a machine of `racks` racks with `nodes_per_rack` nodes each.
    pub fn new(racks: u32, nodes_per_rack: u32) -> Self {
        Self { racks, nodes_per_rack }
    }

    /// Returns the machine with a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "s64" => Some(Self::new(4, 16)),
            "s1k" => Some(Self::new(16, 64)),
            "s4k" => Some(Self::new(64, 64)),
            "s16k" => Some(Self::new(256, 64)),
            _ => None,
        }
    }

    /// Returns how many nodes there are.
    pub fn n_nodes(self) -> u32 {
        self.racks * self.nodes_per_rack
    }

    /// Returns how many vertices there are.
    pub fn n_vertices(self) -> u64 {
        let per_node = 1 + SOCKETS * (1 + CORES + GPUS + MEMORIES);
        1 + u64::from(self.racks) + u64::from(self.n_nodes()) * u64::from(per_node)
    }

    /// Returns the machine as a recipe in GRUG.
    pub fn grug(self) -> String {
        let mut text = GRUG_HEAD.to_owned();
        // Of each type: how much one is and in which unit.
        for (kind, size, unit) in [
            ("cluster", 1, ""),
            ("rack", 1, ""),
            ("node", 1, ""),
            ("socket", 1, ""),
            ("core", 1, ""),
            ("gpu", 1, ""),
            ("memory", MEMORY_GB, "GB"),
        ] {
            let root = if kind == "cluster" { r#"<data key="root">1</data>"# } else { "" };
            let _ = writeln!(
                text,
                r#"<node id="{kind}">{root}<data key="type">{kind}</data><data key="basename">{kind}</data><data key="size">{size}</data><data key="unit">{unit}</data><data key="subsystem">containment</data></node>"#
            );
        }
        // How many of the second are in each of the first, and how many levels up ids are unique.
        for (above, below, n, scope) in [
            ("cluster", "rack", self.racks, 0),
            ("rack", "node", self.nodes_per_rack, 1),
            ("node", "socket", SOCKETS, 0),
            ("socket", "core", CORES, 1),
            ("socket", "gpu", GPUS, 1),
            ("socket", "memory", MEMORIES, 1),
        ] {
            let _ = writeln!(
                text,
                r#"<edge id="{above}2{below}" source="{above}" target="{below}"><data key="id_scope">{scope}</data><data key="multi_scale">{n}</data></edge>"#
            );
        }
        text.push_str("</graph>\n</graphml>\n");
        text
    }

    /// Writes the machine as JGF, vertex by vertex, without ever holding all of it.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written.
    pub fn write_jgf(self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"graph\":{\"nodes\":[\n")?;
        self.visit(&mut |vertex| write_vertex(out, vertex))?;
        out.write_all(b"\n],\"edges\":[\n")?;
        let mut separator = "";
        self.visit(&mut |vertex| {
            let Some(parent) = vertex.parent else {
                return Ok(());
            };
            let target = vertex.uniq_id;
            write!(
                out,
                r#"{separator}{{"source":"{parent}","target":"{target}","metadata":{{"subsystem":"containment"}}}}"#
            )?;
            separator = ",\n";
            Ok(())
        })?;
        out.write_all(b"\n]}}\n")
    }

    /// Calls `visit` for each vertex in preorder.
    fn visit(self, visit: &mut dyn FnMut(&Vertex<'_>) -> io::Result<()>) -> io::Result<()> {
        let mut next_uniq_id = 0;
        let mut add = |parent: Option<(u64, &str)>, kind, id, rank, (size, unit)| {
            let (parent, above) = parent.map_or((None, ""), |(parent, path)| (Some(parent), path));
            let path = format!("{above}/{kind}{id}");
            let uniq_id = next_uniq_id;
            next_uniq_id += 1;
            visit(&Vertex { uniq_id, parent, kind, id, rank, size, unit, path: &path })?;
            io::Result::Ok((uniq_id, path))
        };
        let one = (1, "");
        let cluster = add(None, "cluster", 0, -1, one)?;
        for r in 0..self.racks {
            let rack = add(Some((cluster.0, &cluster.1)), "rack", r, -1, one)?;
            for n in 0..self.nodes_per_rack {
                let id = r * self.nodes_per_rack + n;
                let node = add(Some((rack.0, &rack.1)), "node", id, i64::from(id), one)?;
                for s in 0..SOCKETS {
                    let socket = add(Some((node.0, &node.1)), "socket", s, -1, one)?;
                    let parts = [
                        ("core", CORES, one),
                        ("gpu", GPUS, one),
                        ("memory", MEMORIES, (MEMORY_GB, "GB")),
                    ];
                    for (kind, count, amount) in parts {
                        for i in 0..count {
                            add(Some((socket.0, &socket.1)), kind, s * count + i, -1, amount)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

struct Vertex<'a> {
    uniq_id: u64,
    parent: Option<u64>,
    kind: &'a str,
    id: u32,
    rank: i64,
    size: u32,
    unit: &'a str,
    path: &'a str,
}

fn write_vertex(out: &mut dyn Write, vertex: &Vertex<'_>) -> io::Result<()> {
    let Vertex { uniq_id, parent, kind, id, rank, size, unit, path } = vertex;
    let separator = if parent.is_some() { ",\n" } else { "" };
    write!(
        out,
        r#"{separator}{{"id":"{uniq_id}","metadata":{{"type":"{kind}","basename":"{kind}","name":"{kind}{id}","id":{id},"uniq_id":{uniq_id},"rank":{rank},"exclusive":false,"unit":"{unit}","size":{size},"paths":{{"containment":"{path}"}}}}}}"#
    )
}

const GRUG_HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="root" for="node" attr.name="root" attr.type="int"><default>0</default></key>
<key id="type" for="node" attr.name="type" attr.type="string"/>
<key id="basename" for="node" attr.name="basename" attr.type="string"/>
<key id="unit" for="node" attr.name="unit" attr.type="string"/>
<key id="size" for="node" attr.name="size" attr.type="long"><default>1</default></key>
<key id="subsystem" for="node" attr.name="subsystem" attr.type="string"><default>containment</default></key>
<key id="e_subsystem" for="edge" attr.name="e_subsystem" attr.type="string"><default>containment</default></key>
<key id="relation" for="edge" attr.name="relation" attr.type="string"><default>contains</default></key>
<key id="rrelation" for="edge" attr.name="rrelation" attr.type="string"><default>in</default></key>
<key id="id_scope" for="edge" attr.name="id_scope" attr.type="int"><default>0</default></key>
<key id="id_start" for="edge" attr.name="id_start" attr.type="int"><default>0</default></key>
<key id="id_stride" for="edge" attr.name="id_stride" attr.type="int"><default>1</default></key>
<key id="gen_method" for="edge" attr.name="gen_method" attr.type="string"><default>MULTIPLY</default></key>
<key id="multi_scale" for="edge" attr.name="multi_scale" attr.type="int"><default>1</default></key>
<key id="as_tgt_subsystem" for="edge" attr.name="as_tgt_subsystem" attr.type="string"><default>containment</default></key>
<key id="as_tgt_uplvl" for="edge" attr.name="as_tgt_uplvl" attr.type="int"><default>1</default></key>
<key id="as_src_uplvl" for="edge" attr.name="as_src_uplvl" attr.type="int"><default>1</default></key>
<graph id="machine" edgedefault="directed">
"#;

/// A jobspec with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Job {
    /// `core1`: one core for ten minutes; all others are for an hour.
    Core1,
    /// `node1x`, `node64x`: so many nodes, each for itself.
    Nodes(u32),
    /// `node4c8g1`: of each of 4 nodes, a socket with 8 cores and a GPU.
    Node4c8g1,
    /// `sock2c4`: of one node, two sockets with 4 cores each.
    Sock2c4,
    /// `rack2node8`: of each of 2 racks 8 nodes, each with a socket with 4 cores.
    Rack2node8,
    /// `nofit`: a socket with more GPUs than any socket has.
    Nofit,
    /// `toobig`: a node with more cores than any node has.
    Toobig,
}

impl Job {
    /// Returns the name.
    pub fn name(self) -> String {
        match self {
            Self::Core1 => "core1".to_owned(),
            Self::Nodes(n) => format!("node{n}x"),
            Self::Node4c8g1 => "node4c8g1".to_owned(),
            Self::Sock2c4 => "sock2c4".to_owned(),
            Self::Rack2node8 => "rack2node8".to_owned(),
            Self::Nofit => "nofit".to_owned(),
            Self::Toobig => "toobig".to_owned(),
        }
    }

    /// Returns the jobspec in JSON.
    pub fn jobspec(self) -> String {
        let duration = if self == Self::Core1 { 600 } else { 3600 };
        let resource = match self {
            Self::Core1 => slot(1, &leaf("core", 1)),
            Self::Nodes(n) => slot(n, &leaf("node", 1)),
            Self::Node4c8g1 => holding("node", 4, &slot(1, &socket(&[("core", 8), ("gpu", 1)]))),
            Self::Sock2c4 => holding("node", 1, &slot(2, &socket(&[("core", 4)]))),
            Self::Rack2node8 => {
                let node = holding("node", 1, &socket(&[("core", 4)]));
                holding("rack", 2, &slot(8, &node))
            }
            Self::Nofit => {
                let n_gpus = GPUS + 1;
                holding("node", 1, &slot(1, &socket(&[("core", 8), ("gpu", n_gpus)])))
            }
            Self::Toobig => slot(1, &holding("node", 1, &leaf("core", 4096))),
        };
        let jobspec = json!({
            "version": 9999,
            "resources": [resource],
            "attributes": {"system": {"duration": duration}},
            "tasks": [{"command": ["app"], "slot": "task", "count": {"per_slot": 1}}],
        });
        jobspec.to_string()
    }
}

fn leaf(kind: &str, count: u32) -> Value {
    json!({"type": kind, "count": count})
}

fn holding(kind: &str, count: u32, below: &Value) -> Value {
    json!({"type": kind, "count": count, "with": [below]})
}

fn socket(parts: &[(&str, u32)]) -> Value {
    let parts: Vec<Value> = parts.iter().map(|&(kind, count)| leaf(kind, count)).collect();
    json!({"type": "socket", "count": 1, "with": parts})
}

fn slot(count: u32, below: &Value) -> Value {
    json!({"type": "slot", "count": count, "label": "task", "with": [below]})
}

/// What is done to a machine in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Nothing: the graph is loaded.
    Load,
    /// One operation over and over.
    Repeat {
        /// Its name.
        op: &'static str,
        /// The job.
        job: Job,
        /// How often.
        times: u32,
    },
    /// 400 allocations of four jobs in turn.
    FillMix,
    /// 500 allocations of a node, then as many cancels.
    Churn,
}

impl Script {
    /// Returns the jobs that are used.
    pub fn jobs(self) -> Vec<Job> {
        match self {
            Self::Load => Vec::new(),
            Self::Repeat { job, .. } => vec![job],
            Self::FillMix => vec![Job::Core1, Job::Nodes(1), Job::Node4c8g1, Job::Sock2c4],
            Self::Churn => vec![Job::Nodes(1)],
        }
    }

    /// Returns the commands, one a line. `path` tells where the file of a job is.
    pub fn commands(self, path: impl Fn(Job) -> String) -> String {
        let jobs = self.jobs();
        let mut text = String::new();
        let _ = match self {
            Self::Load => Ok(()),
            Self::Repeat { op, job, times } => {
                (0..times).try_for_each(|_| writeln!(text, "match {op} {}", path(job)))
            }
            Self::FillMix => (0..100)
                .flat_map(|_| &jobs)
                .try_for_each(|&job| writeln!(text, "match allocate {}", path(job))),
            Self::Churn => (1..=500)
                .try_for_each(|_| writeln!(text, "match allocate {}", path(jobs[0])))
                .and_then(|()| (1..=500).try_for_each(|id| writeln!(text, "cancel {id}"))),
        };
        text.push_str("quit\n");
        text
    }
}

/// A generator of numbers that are random enough and the same each time.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Returns a generator that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    ///
    /// **Source**: `SplitMix64`, Steele, Lea and Flood 2014.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Puts `items` into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let other = self.roll() % (i as u64 + 1);
            items.swap(i, usize::try_from(other).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fluxion::{LoadFormat, Session, SessionOptions};

    fn load(text: &str, load_format: LoadFormat) -> Session {
        let options = SessionOptions { load_format, ..SessionOptions::default() };
        Session::open(text, &options).expect("a graph")
    }

    #[test]
    fn both_formats_give_the_same_machine() {
        let machine = Machine::new(2, 3);
        let mut jgf = Vec::new();
        machine.write_jgf(&mut jgf).expect("written");
        let jgf = String::from_utf8(jgf).expect("text");
        let grug = load(&machine.grug(), LoadFormat::Grug);
        let jgf = load(&jgf, LoadFormat::Jgf);
        let paths = |session: &Session| {
            let graph = session.engine().graph();
            let containment = graph.subsystems().next().expect("containment");
            let path = |vertex| {
                let path = graph.path(containment, vertex).expect("a path");
                (path.clone(), graph.size(vertex))
            };
            let mut paths: Vec<_> = graph.vertices().map(path).collect();
            paths.sort_unstable();
            paths
        };
        assert_eq!(paths(&grug), paths(&jgf));
        assert_eq!(paths(&grug).len() as u64, machine.n_vertices());
    }

    #[test]
    fn machines_have_the_sizes_of_their_names() {
        let sizes = Machine::NAMES.map(|name| Machine::named(name).expect("known").n_nodes());
        assert_eq!(sizes, [64, 1024, 4096, 16384]);
        assert_eq!(Machine::named("s1k").map(Machine::n_vertices), Some(64_529));
        assert_eq!(Machine::named("s5k"), None);
    }

    #[test]
    fn scripts_say_what_they_are_for() {
        let path = |job: Job| format!("{}.json", job.name());
        assert_eq!(Script::Load.commands(path), "quit\n");
        let script = Script::Repeat { op: "allocate", job: Job::Nodes(64), times: 2 };
        let expected = "match allocate node64x.json\nmatch allocate node64x.json\nquit\n";
        assert_eq!(script.commands(path), expected);
        assert_eq!(Script::FillMix.commands(path).lines().count(), 401);
        let churn = Script::Churn.commands(path);
        assert_eq!(churn.lines().count(), 1001);
        assert!(churn.contains("\ncancel 500\nquit\n"));
    }

    #[test]
    fn dice_fall_the_same_way_each_time() {
        let mut items: Vec<u32> = (0..8).collect();
        Dice::new(1).shuffle(&mut items);
        let mut again: Vec<u32> = (0..8).collect();
        Dice::new(1).shuffle(&mut again);
        assert_eq!(items, again);
        again.sort_unstable();
        assert_eq!(again, (0..8).collect::<Vec<_>>());
    }
}
