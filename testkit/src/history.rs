//! Histories: what is asked of an engine, one after the other, and what it answers.

use engine::{
    EmittedVertex, Engine, Error, Graph, JobId, MatchOp, MatchVisitor, Outcome, Status,
    SubsystemId, VertexId,
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
    /// A change of the status of a vertex, counted likewise.
    SetStatus(u8, Status),
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
    /// The vertices have the status.
    StatusSet,
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
    /// Runs all operations. The job of operation `i` is `i + 1`.
    pub fn run(&self, engine: &mut Engine) -> Vec<Answer> {
        self.run_some(engine, |_| true).into_iter().flatten().collect()
    }

    /// Runs those operations whose number is `wanted`, at the times and with the jobs that they
    /// have in the whole history.
    pub fn run_some(
        &self,
        engine: &mut Engine,
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<Option<Answer>> {
        let mut now = 0;
        let mut answers = Vec::new();
        for (i, operation) in self.0.iter().enumerate() {
            if let Operation::Match { wait, .. } = operation {
                now += i64::from(*wait);
            }
            answers.push(wanted(i).then(|| operation.run(engine, JobId(i as u64 + 1), now)));
        }
        answers
    }
}

impl Operation {
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

    /// Runs the operation at second `now`.
    pub fn run(&self, engine: &mut Engine, job: JobId, now: i64) -> Answer {
        let mut recorder = Recorder::default();
        let reply = match self {
            Self::Match { op, request, .. } => engine
                .match_jobspec(*op, &request.jobspec(), job, now, &mut recorder)
                .map(|outcome| Reply::Match(job, outcome)),
            Self::Cancel(number) => {
                let jobs: Vec<JobId> = engine.jobs().map(|(job, _)| job).collect();
                let number = usize::from(*number).checked_rem(jobs.len());
                let job = number.map_or(JobId(0), |number| jobs[number]);
                engine.cancel(job).map(|()| Reply::Cancelled(job))
            }
            Self::SetStatus(number, status) => {
                let graph = engine.graph();
                let number = usize::from(*number).checked_rem(graph.n_vertices());
                let vertex = number.and_then(VertexId::new);
                let path = vertex.and_then(|vertex| graph.path(Graph::CONTAINMENT, vertex));
                let path = path.unwrap_or_default();
                engine.set_status(&path, *status).map(|()| Reply::StatusSet)
            }
        };
        let reply = reply.map_err(|error| error.to_string());
        Answer { reply, emitted: recorder.emitted }
    }
}

impl Arbitrary for Operation {
    fn arbitrary(g: &mut Gen) -> Self {
        match below(g, 10) {
            0 | 1 => Self::Cancel(u8::arbitrary(g)),
            2 => {
                let status = if one_in(g, 2) { Status::Up } else { Status::Down };
                Self::SetStatus(u8::arbitrary(g), status)
            }
            n => {
                let any = pick(g, &MatchOp::all()).1;
                let op = if n < 6 { MatchOp::AllocateOrelseReserve } else { any };
                let wait = pick(g, &[0, 0, 0, 0, 0, 1, 2, 5, 30]);
                Self::Match { op, wait, request: Request::arbitrary(g) }
            }
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
            Self::SetStatus(number, status) => {
                let status = *status;
                Box::new(number.shrink().map(move |number| Self::SetStatus(number, status)))
            }
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
            if quiet && let Operation::SetStatus(number, _) = operation {
                *operation = Operation::Cancel(*number);
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
