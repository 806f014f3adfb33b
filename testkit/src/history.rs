//! Histories: what is asked of an engine, one after the other, and what it answers.

use std::collections::BTreeSet;

use engine::{
    EmittedVertex, Engine, Error, Found, Graph, Ignore, JobId, MatchOp, MatchVisitor, NewVertex,
    OnFault, Outcome, Release, SearchOptions, Status, SubsystemId, VertexId,
};
use quickcheck::{Arbitrary, Gen, empty_shrinker};

use crate::{Request, below, one_in, pick};

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A match for a new job.
    Match {
        /// What is wanted of it.
        op: MatchOp,
        /// How many seconds after the operation before.
        wait: u8,
        /// For what.
        request: Request,
    },
    /// A cancel of one of the jobs that hold something, counted by id and then again from the
    /// first; of an unknown job where there are none.
    Cancel(u8),
    /// A partial cancel of one of those jobs.
    Release(u8, Part),
    /// A change of the status of a vertex, counted likewise.
    SetStatus(u8, Status),
    /// Another vertex below one, counted likewise, and like its first child.
    Grow(u8),
    /// The removal of a vertex, counted likewise, and all below it.
    Remove(u8),
    /// The removal of a rank, counted likewise.
    RemoveRank(u8),
}

/// Which part of what a job holds is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One of the ranks of the graph, counted from the lowest.
    Rank(u8),
    /// One of the vertices that the job has for itself, counted by id.
    Vertex(u8),
}

/// Operations in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History(pub Vec<Operation>);

/// The answer to one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the engine returned, an error as its text.
    pub reply: Result<Reply, String>,
    /// What it told the visitor.
    pub emitted: Emitted,
}

/// What the engine returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The outcome of a match.
    Match(JobId, Outcome),
    /// The job is cancelled.
    Cancelled(JobId),
    /// The job gave this back, which was the last of it or not.
    Released {
        /// The job.
        job: JobId,
        /// What it gave back.
        part: Released,
        /// Whether it has nothing left.
        over: bool,
    },
    /// The vertices have the status.
    StatusSet,
    /// There is more or less of the graph.
    Changed,
}

/// What was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// What the job had of a rank.
    Rank(i64),
    /// A vertex.
    Vertex(VertexId),
}

/// What a visitor was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Emitted {
    /// The vertices.
    pub vertices: Vec<Taken>,
    /// The edges.
    pub edges: Vec<EmittedEdge>,
    /// Start and end.
    pub times: Option<(i64, i64)>,
    /// Attributes of the job.
    pub attributes: Vec<(String, String)>,
}

/// A vertex of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The vertex.
    pub vertex: VertexId,
    /// How deep below the root it stands.
    pub depth: u32,
    /// How much of it is taken.
    pub needs: u64,
    /// Whether the job has it for itself.
    pub exclusive: bool,
    /// Whether its parent in the walk is exclusive too.
    pub under_exclusive: bool,
    /// The label of the requested resource that it stands for.
    pub label: Option<String>,
}

/// An edge of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmittedEdge {
    /// Where it comes from.
    pub source: VertexId,
    /// Where it leads.
    pub target: VertexId,
    /// The subsystem.
    pub subsystem: SubsystemId,
    /// Whether the source is exclusive.
    pub under_exclusive: bool,
}

/// A visitor that remembers what it is told.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// What it was told.
    pub emitted: Emitted,
}

impl MatchVisitor for Recorder {
    fn vertex(&mut self, _: &Graph, vertex: &EmittedVertex<'_>) -> Result<(), Error> {
        self.emitted.vertices.push(Taken {
            vertex: vertex.vertex,
            depth: vertex.depth,
            needs: vertex.needs,
            exclusive: vertex.exclusive,
            under_exclusive: vertex.under_exclusive,
            label: vertex.label.map(str::to_owned),
        });
        Ok(())
    }

    fn edge(
        &mut self,
        _: &Graph,
        source: VertexId,
        target: VertexId,
        subsystem: SubsystemId,
        under_exclusive: bool,
    ) -> Result<(), Error> {
        self.emitted.edges.push(EmittedEdge { source, target, subsystem, under_exclusive });
        Ok(())
    }

    fn times(&mut self, start: i64, end: i64) {
        self.emitted.times = Some((start, end));
    }

    fn attribute(&mut self, key: &str, value: &str) {
        self.emitted.attributes.push((key.to_owned(), value.to_owned()));
    }
}

impl Emitted {
    /// Returns whether both ends of every edge were told. What the engine books but cannot write
    /// to an aggregate in full, it does not tell.
    pub fn is_whole(&self) -> bool {
        let told = |end: VertexId| self.vertices.iter().any(|taken| taken.vertex == end);
        self.edges.iter().all(|edge| told(edge.source) && told(edge.target))
    }
}

impl Answer {
    /// Returns the job that got something, now or for later.
    pub fn taker(&self) -> Option<JobId> {
        match self.reply {
            Ok(Reply::Match(job, Outcome::Allocated | Outcome::Reserved { .. })) => Some(job),
            _ => None,
        }
    }

    /// Returns whether something was found, taken or not.
    pub fn is_match(&self) -> bool {
        self.taker().is_some() || matches!(self.reply, Ok(Reply::Match(_, Outcome::Matched { .. })))
    }

    /// Returns whether the operation gave nothing and so must have changed nothing.
    pub fn is_refusal(&self) -> bool {
        match self.reply {
            Err(_) => true,
            Ok(Reply::Match(_, outcome)) => {
                matches!(outcome, Outcome::Busy | Outcome::Unsatisfiable | Outcome::Satisfiable)
            }
            Ok(_) => false,
        }
    }
}

impl History {
    /// Runs all operations.
    pub fn run(&self, engine: &mut Engine) -> Vec<Answer> {
        self.steps().map(|(operation, job, now)| operation.run(engine, job, now)).collect()
    }

    /// Returns the operations, each with the job that a match in its place is for, and the second at
    /// which it is run.
    pub fn steps(&self) -> impl Iterator<Item = (&Operation, JobId, i64)> {
        let mut now = 0;
        self.0.iter().zip(1..).map(move |(operation, number)| {
            if let Operation::Match { wait, .. } = operation {
                now += i64::from(*wait);
            }
            (operation, JobId(number), now)
        })
    }
}

impl Operation {
    fn any_match(g: &mut Gen) -> Self {
        let any = pick(g, &MatchOp::all()).1;
        let op = if one_in(g, 2) { MatchOp::AllocateOrelseReserve } else { any };
        let wait = pick(g, &[0, 0, 0, 0, 0, 1, 2, 5, 30]);
        Self::Match { op, wait, request: Request::arbitrary(g) }
    }

    /// Returns the request of a match.
    pub fn request(&self) -> Option<&Request> {
        match self {
            Self::Match { request, .. } => Some(request),
            _ => None,
        }
    }

    /// Returns whether the operation is a match that holds nothing.
    pub fn only_asks(&self) -> bool {
        // Not as the engine tells it, which is what is tested.
        let Self::Match { op, .. } = self else {
            return false;
        };
        !matches!(
            op,
            MatchOp::Allocate
                | MatchOp::AllocateWithSatisfiability
                | MatchOp::AllocateOrelseReserve
        )
    }

    /// Returns whether the operation changes which vertices there are.
    pub fn changes_topology(&self) -> bool {
        matches!(self, Self::Grow(_) | Self::Remove(_) | Self::RemoveRank(_))
    }

    /// Runs the operation at second `now`.
    pub fn run(&self, engine: &mut Engine, job: JobId, now: i64) -> Answer {
        let mut recorder = Recorder::default();
        let reply = match self {
            Self::Match { op, request, .. } => engine
                .match_jobspec(*op, &request.jobspec(), job, now, &mut recorder)
                .map(|outcome| Reply::Match(job, outcome)),
            Self::Cancel(number) => {
                let job = counted_job(engine, *number);
                engine.cancel(job).map(|()| Reply::Cancelled(job))
            }
            Self::Release(number, part) => {
                let job = counted_job(engine, *number);
                let (part, release) = part.of(engine, job);
                engine.release(job, &release, OnFault::Restore).map(|over| Reply::Released {
                    job,
                    part,
                    over,
                })
            }
            Self::SetStatus(number, status) => {
                let graph = engine.graph();
                let vertices: Vec<VertexId> = graph.vertices().collect();
                let vertex = counted(&vertices, *number);
                let path = vertex.and_then(|vertex| graph.path(Graph::CONTAINMENT, vertex));
                let path = path.unwrap_or_default();
                engine.set_status(&path, *status).map(|()| Reply::StatusSet)
            }
            Self::Grow(number) => {
                let parent = counted(&present(engine.graph()), *number);
                let parent = parent.expect("containment has a root");
                engine.grow(|graph| grow(graph, parent)).map(|()| Reply::Changed)
            }
            Self::Remove(number) => {
                let graph = engine.graph();
                let vertex = counted(&present(graph), *number);
                let path = vertex.and_then(|vertex| graph.path(Graph::CONTAINMENT, vertex));
                engine.remove_path(&path.unwrap_or_default()).map(|()| Reply::Changed)
            }
            Self::RemoveRank(number) => {
                let rank = counted(&ranks(engine.graph()), *number).unwrap_or(-1);
                engine.remove_ranks(&[rank], OnFault::Restore).map(|()| Reply::Changed)
            }
        };
        let reply = reply.map_err(|error| error.to_string());
        Answer { reply, emitted: recorder.emitted }
    }
}

impl Part {
    fn of(self, engine: &mut Engine, job: JobId) -> (Released, Release) {
        match self {
            Self::Rank(number) => {
                let rank = counted(&ranks(engine.graph()), number).unwrap_or(-1);
                (Released::Rank(rank), Release::Ranks(vec![rank]))
            }
            Self::Vertex(number) => {
                let root = engine.graph().root(Graph::CONTAINMENT);
                let vertex = counted(&held_by(engine, job), number).or(root);
                let vertex = vertex.expect("containment has a root");
                (Released::Vertex(vertex), Release::Vertices(vec![vertex]))
            }
        }
    }
}

/// Returns the vertices that are in the graph.
fn present(graph: &Graph) -> Vec<VertexId> {
    let is_there = |&vertex: &VertexId| graph.path(Graph::CONTAINMENT, vertex).is_some();
    graph.vertices().filter(is_there).collect()
}

/// Returns the ranks of a graph, ascending.
fn ranks(graph: &Graph) -> Vec<i64> {
    let ranks = present(graph).into_iter().map(|vertex| graph.rank(vertex));
    let ranks: BTreeSet<i64> = ranks.filter(|&rank| rank >= 0).collect();
    ranks.into_iter().collect()
}

/// The first id of vertices that are added; those of a recipe are below it.
const ADDED: i64 = 1000;

/// Adds a child without anything below it, with an id that no other vertex has.
fn grow(graph: &mut Graph, parent: VertexId) -> Result<(), Error> {
    let like = graph.children(parent, Graph::CONTAINMENT).first().copied();
    let kind = like.map_or("core", |like| graph.type_name(graph.kind(like))).to_owned();
    let number = graph.n_vertices() as i64;
    let vertex = NewVertex {
        kind: graph.intern_type(&kind)?,
        basename: &kind,
        name: None,
        id: ADDED + number,
        uniq_id: number + 1,
        rank: if kind == "node" { number } else { graph.rank(parent) },
        size: like.map_or(1, |like| graph.size(like)),
        unit: "",
        status: Status::Up,
    };
    let vertex = graph.add_vertex(&vertex)?;
    graph.add_edge(parent, vertex, Graph::CONTAINMENT)
}

/// Returns the vertices that a job has for itself now, ascending, as the engine tells when asked to
/// find them.
pub fn held_by(engine: &mut Engine, job: JobId) -> Vec<VertexId> {
    let mut vertices = Vec::new();
    let mut wanted = |found: &Found<'_>| {
        if found.is_held_by(job, false) || found.is_held_by(job, true) {
            vertices.push(found.vertex());
        }
        false
    };
    // A visitor that takes all cannot fail.
    let _ = engine.find(&mut wanted, &SearchOptions::default(), &mut Ignore);
    vertices.sort_unstable();
    vertices
}

fn counted_job(engine: &Engine, number: u8) -> JobId {
    let jobs: Vec<JobId> = engine.jobs().map(|(job, _)| job).collect();
    counted(&jobs, number).unwrap_or(JobId(0))
}

/// Returns the item with a number, counted again from the first after the last.
fn counted<T: Copy>(items: &[T], number: u8) -> Option<T> {
    usize::from(number).checked_rem(items.len()).map(|number| items[number])
}

impl Arbitrary for Operation {
    fn arbitrary(g: &mut Gen) -> Self {
        match below(g, 40) {
            0..=4 => Self::Cancel(u8::arbitrary(g)),
            5..=7 => {
                let job = u8::arbitrary(g);
                Self::Release(job, Part::arbitrary(g))
            }
            8..=11 => {
                let status = if one_in(g, 2) { Status::Up } else { Status::Down };
                Self::SetStatus(u8::arbitrary(g), status)
            }
            12 | 13 => {
                let change = pick(g, &[Self::Grow, Self::Remove, Self::RemoveRank]);
                change(u8::arbitrary(g))
            }
            _ => Self::any_match(g),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        match self {
            Self::Match { op, wait, request } => {
                let (op, wait) = (*op, *wait);
                let requests = request.shrink();
                let sooner = (wait > 0).then(|| Self::Match {
                    op,
                    wait: wait / 2,
                    request: request.clone(),
                });
                let plainer = (op != MatchOp::Allocate).then(|| Self::Match {
                    op: MatchOp::Allocate,
                    wait,
                    request: request.clone(),
                });
                let shrunk = requests.map(move |request| Self::Match { op, wait, request });
                Box::new(plainer.into_iter().chain(sooner).chain(shrunk))
            }
            Self::Cancel(number) => Box::new(number.shrink().map(Self::Cancel)),
            Self::Release(job, part) => {
                let (job, part) = (*job, *part);
                let jobs = job.shrink().map(move |job| Self::Release(job, part));
                let parts = part.shrink().map(move |part| Self::Release(job, part));
                Box::new(jobs.chain(parts))
            }
            Self::SetStatus(number, status) => {
                let status = *status;
                Box::new(number.shrink().map(move |number| Self::SetStatus(number, status)))
            }
            Self::Grow(number) => Box::new(number.shrink().map(Self::Grow)),
            Self::Remove(number) => Box::new(number.shrink().map(Self::Remove)),
            Self::RemoveRank(number) => Box::new(number.shrink().map(Self::RemoveRank)),
        }
    }
}

impl Arbitrary for Part {
    fn arbitrary(g: &mut Gen) -> Self {
        let number = u8::arbitrary(g);
        if one_in(g, 2) { Self::Rank(number) } else { Self::Vertex(number) }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        match *self {
            Self::Rank(number) => Box::new(number.shrink().map(Self::Rank)),
            Self::Vertex(number) => Box::new(number.shrink().map(Self::Vertex)),
        }
    }
}

impl Arbitrary for History {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = 1 + below(g, g.size());
        let mut operations: Vec<Operation> = (0..n).map(|_| Operation::arbitrary(g)).collect();
        // Asking for the same again fills the machine, and is what is remembered, for as long as no
        // time passes and nothing but jobs comes and goes.
        let quiet = one_in(g, 2);
        let mut before: Vec<Request> = Vec::new();
        for operation in &mut operations {
            if quiet && !matches!(operation, Operation::Match { .. } | Operation::Cancel(_)) {
                *operation = Operation::Cancel(u8::arbitrary(g));
            }
            if let Operation::Match { request, wait, .. } = operation {
                if quiet {
                    *wait = 0;
                }
                if before.is_empty() || !one_in(g, 2) && before.len() < 3 {
                    before.push(request.clone());
                } else {
                    *request = before[below(g, before.len())].clone();
                }
            }
        }
        Self(operations)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        if self.0.is_empty() {
            return empty_shrinker();
        }
        Box::new(self.0.shrink().map(Self))
    }
}
