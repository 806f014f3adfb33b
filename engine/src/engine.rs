//! The engine: a graph, what is planned on it, and the operations on both.

mod find;
mod jobs;
mod matching;
mod status;
mod topology;

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::filter::{Aggregates, Filters};
use crate::graph::Tree;
use crate::planner::{ChildOrder, Interval, Plan, Plans};
use crate::traverser::{Failure, Floors, Limits, Parts, Reaches, Shortcuts, Slots};
use crate::{Error, Graph, JobId, MatchPolicy, Status, TypeId, VertexId};

pub use find::{Found, SearchOptions};
pub use matching::{MatchOp, Outcome};

/// How slots side by side are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Traverser {
    /// A resource has at most one slot below it.
    #[default]
    Simple,
    /// Slots side by side are alternatives: as many as possible are made, of any of them.
    /// `xor_slot`s are alternatives for the request as a whole.
    Flexible,
}

/// What an engine is made with besides a graph and a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Subsystems by name. The first is walked down; the others are looked at from there.
    pub subsystems: Vec<String>,
    /// Which types are tracked in aggregate, such as `ALL:core,rack:node`.
    pub filters: String,
    /// How slots side by side are understood.
    pub traverser: Traverser,
    /// The second at which the resources end.
    pub horizon: i64,
    /// Bounds of a search.
    pub limits: Limits,
    /// Ways to look at less.
    pub shortcuts: Shortcuts,
}

impl Default for Options {
    /// Containment alone, cores and nodes tracked everywhere, a hundred years.
    fn default() -> Self {
        Self {
            subsystems: vec!["containment".to_owned()],
            filters: "ALL:core,ALL:node".to_owned(),
            traverser: Traverser::Simple,
            horizon: 3_153_600_000,
            limits: Limits::default(),
            shortcuts: Shortcuts::ALL,
        }
    }
}

/// What a job holds, in outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSpan {
    /// From when to when.
    pub interval: Interval,
    /// Whether it is held for later rather than for now.
    pub reserved: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) span: JobSpan,
    /// Where it holds something.
    pub(crate) vertices: Vec<VertexId>,
    /// Whether the job gave everything back, so that what it still holds is left over.
    pub(crate) over: bool,
}

/// How much a traversal visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Vertices come to.
    pub preorder: u64,
    /// Vertices that matched.
    pub postorder: u64,
}

/// Matches jobspecs against a resource graph and keeps what jobs hold.
#[derive(Debug)]
pub struct Engine {
    pub(crate) graph: Graph,
    pub(crate) policy: Box<dyn MatchPolicy>,
    pub(crate) options: Options,
    pub(crate) filters: Vec<Filters>,
    /// The filters before the trees were compiled, which adds to them.
    pub(crate) filters_before: Vec<Filters>,
    pub(crate) tree: Tree,
    pub(crate) aggregates: Aggregates,
    pub(crate) auxiliary: Vec<(Tree, Aggregates)>,
    pub(crate) plans: Plans,
    /// Positions with a plan.
    pub(crate) touched: RoaringBitmap,
    /// Positions that are down.
    pub(crate) down: RoaringBitmap,
    pub(crate) jobs: BTreeMap<JobId, Job>,
    pub(crate) contributing: Vec<TypeId>,
    /// Where scores lie below each vertex, if the policy scores by id.
    pub(crate) reaches: Option<Reaches>,
    /// How good the best is that is left in subtrees; forgotten when something is given back.
    pub(crate) floors: Floors,
    pub(crate) exclusive: Vec<TypeId>,
    /// Nodes that are up, as Fluxion counts them: see [`Self::set_status`].
    pub(crate) nodes_up: i64,
    pub(crate) stats: Stats,
    /// Why the last thing that failed in this operation did.
    pub(crate) failure: Failure,
    /// How many ids of nobody are used up.
    pub(crate) n_disowned: u64,
    /// Labels of requests that vertices matched. As in Fluxion, a label stays with its vertex until
    /// the vertex matches another one or is found in a search.
    pub(crate) labels: FxHashMap<VertexId, Box<str>>,
    /// How much deeper than it is a vertex is told to be, as Fluxion does after each vertex that it
    /// walks but cannot book.
    pub(crate) drift: u32,
}

impl Engine {
    /// Makes an engine in which nothing is held.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoot`] for a subsystem that the graph does not have, [`Error::Cycle`],
    /// [`Error::FilterSpec`], [`Error::Limit`].
    pub fn new(
        mut graph: Graph,
        policy: Box<dyn MatchPolicy>,
        options: Options,
    ) -> Result<Self, Error> {
        let mut filters = Vec::new();
        for i in 0..options.subsystems.len() {
            filters.push(if i == 0 && !options.filters.is_empty() {
                Filters::parse(&options.filters, &mut graph)?
            } else {
                Filters::default()
            });
        }
        let mut engine = Self::assemble(graph, policy, options, filters)?;
        let graph = &engine.graph;
        engine.nodes_up = graph
            .vertices()
            .filter(|&vertex| graph.kind(vertex) == Graph::NODE)
            .map(|vertex| if graph.status(vertex) == Status::Up { 1 } else { -1 })
            .sum();
        Ok(engine)
    }

    /// Makes an engine in which nothing is held and no node is up.
    pub(crate) fn assemble(
        graph: Graph,
        policy: Box<dyn MatchPolicy>,
        options: Options,
        filters_before: Vec<Filters>,
    ) -> Result<Self, Error> {
        let mut filters = filters_before.clone();
        let mut trees = compile(&graph, &options.subsystems, &mut filters)?;
        if trees.is_empty() {
            return Err(Error::Request("no subsystem is named".to_owned()));
        }
        let (tree, aggregates) = trees.remove(0);
        let down = down_positions(&tree);
        let contributing = types_named(&graph, policy.contributing_types());
        let exclusive = types_named(&graph, policy.exclusive_types());
        let reaches = Reaches::measure(&graph, &tree, &*policy, &contributing);
        Ok(Self {
            graph,
            policy,
            options,
            filters,
            filters_before,
            tree,
            aggregates,
            auxiliary: trees,
            plans: Plans::default(),
            touched: RoaringBitmap::new(),
            down,
            jobs: BTreeMap::new(),
            contributing,
            reaches,
            floors: Floors::default(),
            exclusive,
            nodes_up: 0,
            stats: Stats::default(),
            failure: Failure::Nothing,
            n_disowned: 0,
            labels: FxHashMap::default(),
            drift: 0,
        })
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns what the engine was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns how much the last operation visited.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Returns the span of a job that holds something.
    pub fn job(&self, job: JobId) -> Option<JobSpan> {
        self.jobs.get(&job).filter(|job| !job.over).map(|job| job.span)
    }

    /// Returns all jobs that hold something, by id.
    pub fn jobs(&self) -> impl Iterator<Item = (JobId, JobSpan)> + '_ {
        self.jobs.iter().filter(|(_, job)| !job.over).map(|(&id, job)| (id, job.span))
    }

    /// Gives a vertex a property, replacing a value that it had.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVertex`].
    pub fn set_property(&mut self, vertex: VertexId, key: &str, value: &str) -> Result<(), Error> {
        self.floors.forget();
        self.graph.set_property(vertex, key, value)
    }

    /// Returns bytes held on the heap.
    pub fn memory_usage(&self) -> usize {
        self.graph.memory_usage()
            + self.tree.memory_usage()
            + self.plans.memory_usage()
            + self.floors.memory_usage()
            + self.touched.serialized_size()
            + self
                .jobs
                .values()
                .map(|job| job.vertices.capacity() * size_of::<VertexId>())
                .sum::<usize>()
    }

    fn parts<'a>(&'a self, exclusive: &'a [TypeId]) -> Parts<'a> {
        Parts {
            graph: &self.graph,
            tree: &self.tree,
            aggregates: &self.aggregates,
            auxiliary: &self.auxiliary,
            reaches: self.reaches.as_ref(),
            plans: &self.plans,
            touched: &self.touched,
            down: &self.down,
            policy: &*self.policy,
            contributing: &self.contributing,
            exclusive,
        }
    }

    fn slots(&self) -> Slots {
        match self.options.traverser {
            Traverser::Simple => Slots::All,
            Traverser::Flexible => Slots::Any,
        }
    }

    pub(crate) fn plan(&self, pos: u32) -> Option<&Plan> {
        self.plans.get(self.tree.slots[pos as usize].plan)
    }

    /// Returns the order in which a first-match policy visits children that it did not visit yet.
    pub(crate) fn child_order(&self, pos: u32) -> ChildOrder {
        ChildOrder::new(self.tree.children(pos).iter().map(|&child| {
            let vertex = self.tree.slots[child as usize].vertex;
            (vertex, self.graph.uniq_id(vertex))
        }))
    }

    /// Returns the plan at a position, making one where there is none.
    fn plan_mut(&mut self, pos: u32) -> &mut Plan {
        let slot = &mut self.tree.slots[pos as usize];
        if self.plans.get(slot.plan).is_none() {
            let n_lanes = self.aggregates.totals(slot.totals).map_or(0, <[i64]>::len);
            slot.plan = self.plans.add(Plan::new(slot.vertex, n_lanes));
            self.touched.insert(pos);
        }
        match self.plans.get_mut(slot.plan) {
            Some(plan) => plan,
            None => unreachable!("a plan was just made"),
        }
    }

    /// Drops the plan at a position if nothing is in it.
    fn sweep(&mut self, pos: u32) {
        let slot = &mut self.tree.slots[pos as usize];
        if self.plans.get(slot.plan).is_some_and(Plan::is_blank) {
            self.plans.remove(slot.plan);
            slot.plan = 0;
            self.touched.remove(pos);
        }
    }
}

pub(crate) fn down_positions(tree: &Tree) -> RoaringBitmap {
    let down = tree.slots.iter().zip(0..).filter(|(slot, _)| slot.down);
    down.map(|(_, pos)| pos).collect()
}

/// Returns those of the named types that the graph knows.
fn types_named(graph: &Graph, names: &[String]) -> Vec<TypeId> {
    names.iter().filter_map(|name| graph.type_id(name)).collect()
}

/// Compiles the named subsystems.
pub(crate) fn compile(
    graph: &Graph,
    names: &[String],
    filters: &mut [Filters],
) -> Result<Vec<(Tree, Aggregates)>, Error> {
    let trees = names.iter().zip(filters).map(|(name, filters)| {
        let subsystem = graph.subsystem_id(name).ok_or_else(|| Error::NoRoot(name.clone()))?;
        let mut tree = Tree::compile(graph, subsystem)?;
        let aggregates = Aggregates::prime(graph, &mut tree, filters);
        Ok((tree, aggregates))
    });
    trees.collect()
}
