//! A resource graph with jobs on it.

use std::collections::BTreeMap;

use engine::{
    Engine, JobId, MatchOp, OnFault, Outcome, SearchOptions, Status, Traverser, VertexId,
};
use jgf::{LoadFormat, LoadOptions, MatchFormat, Writer};
use jobspec::{Dialect, Jobspec};

use crate::state::{JobImage, Keeper, Operation, OptionsImage, Table};
use crate::{Criteria, Error, matcher_subsystems};

/// What a session is opened with.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The format of the graph.
    pub load_format: LoadFormat,
    /// How the graph is read.
    pub load: LoadOptions,
    /// Which subsystems are walked, by the name of a matcher.
    pub matcher: String,
    /// The match policy.
    pub policy: String,
    /// How slots side by side are understood.
    pub traverser: Traverser,
    /// How matches are written.
    pub match_format: MatchFormat,
    /// Which types are tracked in aggregate.
    pub prune_filters: String,
    /// What becomes of what a partial cancel or a removal gave back before a fault was found.
    pub on_fault: OnFault,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            load_format: LoadFormat::Grug,
            load: LoadOptions::default(),
            matcher: "CA".to_owned(),
            policy: "first".to_owned(),
            traverser: Traverser::Simple,
            match_format: MatchFormat::Simple,
            prune_filters: "ALL:core,ALL:node".to_owned(),
            on_fault: OnFault::Leave,
        }
    }
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It has resources now.
    Allocated,
    /// It has resources later.
    Reserved,
    /// It was cancelled.
    Canceled,
}

impl JobState {
    /// Returns the state as Fluxion writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allocated => "ALLOCATED",
            Self::Reserved => "RESERVED",
            Self::Canceled => "CANCELED",
        }
    }
}

/// What a session remembers of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobInfo {
    /// Where it stands.
    pub state: JobState,
    /// The second it starts at.
    pub at: i64,
    /// Where its jobspec or R came from, as the caller calls it.
    pub source: String,
    /// How many seconds its match took, as the caller measured.
    pub overhead: f64,
}

/// The answer to a match.
#[derive(Debug)]
pub struct MatchReport {
    /// The job that was asked for.
    pub job: JobId,
    /// What the answer is.
    pub outcome: Result<Outcome, Error>,
}

/// A resource graph with jobs on it.
#[derive(Debug)]
pub struct Session {
    engine: Engine,
    writer: Writer,
    options: SessionOptions,
    next_job: u64,
    jobs: BTreeMap<JobId, JobInfo>,
    /// What writes down all that is done, if the session is kept.
    keeper: Option<Box<Keeper>>,
}

/// Returns the operation called `name`.
pub fn match_op(name: &str) -> Option<MatchOp> {
    MatchOp::all().into_iter().find(|(known, _)| *known == name).map(|(_, op)| op)
}

/// Returns the name of an operation.
pub fn match_op_name(op: MatchOp) -> &'static str {
    MatchOp::all().into_iter().find(|(_, known)| *known == op).map_or("", |(name, _)| name)
}

impl Session {
    /// Reads a graph and opens a session on it.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] for the graph, [`Error::Policy`], [`Error::Matcher`], and
    /// [`Error::Engine`] for filters or subsystems that do not fit the graph.
    pub fn open(graph: &str, options: &SessionOptions) -> Result<Self, Error> {
        let policy = policies::policy(&options.policy)?;
        let subsystems = matcher_subsystems(&options.matcher)
            .ok_or_else(|| Error::Matcher(options.matcher.clone()))?;
        let graph = jgf::load(graph, options.load_format, &options.load)?;
        let engine_options = engine::Options {
            subsystems: subsystems.iter().map(|&name| name.to_owned()).collect(),
            filters: options.prune_filters.clone(),
            traverser: options.traverser,
            ..engine::Options::default()
        };
        let engine = Engine::new(graph, policy, engine_options)?;
        Ok(Self::from_parts(engine, options, 1, BTreeMap::new()))
    }

    pub(crate) fn from_parts(
        engine: Engine,
        options: &SessionOptions,
        next_job: u64,
        jobs: BTreeMap<JobId, JobInfo>,
    ) -> Self {
        let (writer, options) = (Writer::new(options.match_format), options.clone());
        Self { engine, writer, options, next_job, jobs, keeper: None }
    }

    /// Lets `keeper` write down what is done from now on.
    pub(crate) fn keep(&mut self, keeper: Keeper) {
        self.keeper = Some(Box::new(keeper));
    }

    /// Returns all of the session but its engine, for a snapshot.
    pub(crate) fn table(&self) -> Table<'_> {
        Table {
            options: OptionsImage::new(&self.options),
            next_job: self.next_job,
            jobs: self.jobs.iter().map(|(job, info)| JobImage::new(job.0, info)).collect(),
        }
    }

    /// Puts the state into a snapshot, so that the journal is empty. Nothing happens in a session that
    /// is not kept. What waits in the writer for a later answer is dropped, as it is in a session that
    /// is restored.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when it cannot be written.
    pub fn checkpoint(&mut self) -> Result<(), Error> {
        let Some(mut keeper) = self.keeper.take() else {
            return Ok(());
        };
        let result = keeper.checkpoint(self);
        self.keeper = Some(keeper);
        if result.is_ok() {
            self.writer = Writer::new(self.options.match_format);
        }
        result
    }

    /// Writes down what is about to be done, if the session is kept.
    fn note(&mut self, operation: &Operation<'_>) -> Result<(), Error> {
        if self.keeper.as_ref().is_some_and(|keeper| keeper.is_due()) {
            self.checkpoint()?;
        }
        match &mut self.keeper {
            Some(keeper) => Ok(keeper.write(operation)?),
            None => Ok(()),
        }
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the id that the next job gets.
    pub fn next_job(&self) -> JobId {
        JobId(self.next_job)
    }

    /// Returns all jobs that ever held something, by id.
    pub fn jobs(&self) -> impl ExactSizeIterator<Item = (JobId, &JobInfo)> {
        self.jobs.iter().map(|(&job, info)| (job, info))
    }

    /// Returns what is known of a job.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`].
    pub fn job(&self, job: JobId) -> Result<&JobInfo, Error> {
        self.jobs.get(&job).ok_or(Error::UnknownJob(job))
    }

    /// Says where a job came from and how long its match took.
    ///
    /// # Errors
    ///
    /// [`Error::State`].
    pub fn annotate(&mut self, job: JobId, source: &str, overhead: f64) -> Result<(), Error> {
        self.note(&Operation::Annotate { job: job.0, source, overhead })?;
        if let Some(info) = self.jobs.get_mut(&job) {
            source.clone_into(&mut info.source);
            info.overhead = overhead;
        }
        Ok(())
    }

    /// Matches a jobspec at second `now` and appends what was found to `out`.
    ///
    /// A job id is used up by each answer to an operation that allocates, also by a negative one,
    /// but not by an error.
    pub fn match_jobspec(
        &mut self,
        op: MatchOp,
        jobspec: &str,
        now: i64,
        out: &mut String,
    ) -> MatchReport {
        let job = self.next_job();
        let noted = self.note(&Operation::Match { op: match_op_name(op), jobspec, now });
        let outcome = noted.and_then(|()| self.try_match(op, jobspec, job, now, out));
        MatchReport { job, outcome }
    }

    fn try_match(
        &mut self,
        op: MatchOp,
        jobspec: &str,
        job: JobId,
        now: i64,
        out: &mut String,
    ) -> Result<Outcome, Error> {
        let jobspec = Jobspec::parse(jobspec, Dialect::Fluxion)?;
        // An R may have brought a job with the id that is next. The newer one takes it over.
        let older = self.engine.job(job).is_some();
        if older {
            self.engine.set_disowned(job, true)?;
        }
        let outcome = self.engine.match_jobspec(op, &jobspec, job, now, &mut self.writer);
        if older && self.engine.job(job).is_none() {
            self.engine.set_disowned(job, false)?;
        }
        let outcome = outcome?;
        let state = match outcome {
            Outcome::Allocated => Some((JobState::Allocated, now)),
            Outcome::Reserved { at } => Some((JobState::Reserved, at)),
            _ => None,
        };
        if let Err(error) = self.writer.emit(out) {
            if state.is_some() {
                // It is held all the same, and nobody knows.
                self.engine.set_disowned(job, true)?;
            }
            return Err(error.into());
        }
        if let Some((state, at)) = state {
            self.record(job, state, at);
        }
        if op.allocates() {
            self.next_job += 1;
        }
        Ok(outcome)
    }

    fn record(&mut self, job: JobId, state: JobState, at: i64) {
        self.jobs.insert(job, JobInfo { state, at, source: String::new(), overhead: 0.0 });
    }

    fn set_state(&mut self, job: JobId, state: JobState) {
        if let Some(info) = self.jobs.get_mut(&job) {
            info.state = state;
        }
    }

    /// Returns whether a job holds something.
    pub fn is_live(&self, job: JobId) -> bool {
        self.jobs.get(&job).is_some_and(|info| info.state != JobState::Canceled)
    }

    /// Holds for `job` what an R in `format` says, for `duration` seconds from second `at`, and
    /// appends the R to `out`. The next job gets the id after this one.
    ///
    /// # Errors
    ///
    /// [`Error::JobExists`], [`Error::Format`] for an R that does not fit the graph,
    /// [`Error::Engine`] for what is not free or a span that is not one.
    pub fn update(
        &mut self,
        r: &str,
        format: LoadFormat,
        job: JobId,
        at: i64,
        duration: i64,
        out: &mut String,
    ) -> Result<(), Error> {
        if self.is_live(job) {
            return Err(Error::JobExists(job));
        }
        self.note(&Operation::Update { r, format: format.name(), job: job.0, at, duration })?;
        let booking = jgf::read_booking(self.engine.graph(), r, format)?;
        self.engine.update(job, &booking, at, duration, false, &mut self.writer)?;
        // What is held does not depend on whether it can be written.
        let _ = self.writer.emit(out);
        // The caller's word for it is not what decides, but the time.
        let state = if at == 0 { JobState::Allocated } else { JobState::Reserved };
        self.record(job, state, at);
        Ok(())
    }

    /// Makes `job` the id after which the next one comes.
    ///
    /// # Errors
    ///
    /// [`Error::State`].
    pub fn set_last_job(&mut self, job: JobId) -> Result<(), Error> {
        self.note(&Operation::SetLastJob { job: job.0 })?;
        self.next_job = job.0.saturating_add(1);
        Ok(())
    }

    /// Gives back everything that a job holds.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`].
    pub fn cancel(&mut self, job: JobId) -> Result<(), Error> {
        if !self.is_live(job) {
            return Err(Error::UnknownJob(job));
        }
        self.note(&Operation::Cancel { job: job.0 })?;
        self.engine.cancel(job)?;
        self.set_state(job, JobState::Canceled);
        Ok(())
    }

    /// Gives back the part of an allocation that an R in `format` names. Returns whether that was
    /// the last of it.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`], [`Error::Reserved`], [`Error::Format`] for an R that does not fit the
    /// graph, [`Error::Engine`] for what the job does not hold.
    pub fn release(&mut self, job: JobId, r: &str, format: LoadFormat) -> Result<bool, Error> {
        match self.job(job)?.state {
            JobState::Canceled => return Err(Error::UnknownJob(job)),
            JobState::Reserved => return Err(Error::Reserved(job)),
            JobState::Allocated => {}
        }
        self.note(&Operation::Release { job: job.0, r, format: format.name() })?;
        let release = jgf::read_release(self.engine.graph(), r, format)?;
        let over = self.engine.release(job, &release, self.options.on_fault)?;
        if over {
            self.set_state(job, JobState::Canceled);
        }
        Ok(over)
    }

    /// Appends the vertices that `criteria` accept to `out`. `seconds` are the times at which usage
    /// is looked up where aggregates are asked for.
    ///
    /// # Errors
    ///
    /// [`Error::Criteria`], [`Error::Engine`], [`Error::Emit`].
    pub fn find(&mut self, criteria: &str, seconds: &[i64], out: &mut String) -> Result<(), Error> {
        self.note(&Operation::Find { criteria, seconds: seconds.to_vec() })?;
        let criteria = Criteria::parse(criteria)?;
        let options = SearchOptions {
            aggregates: criteria.aggregates(),
            job: criteria.job().map(JobId),
            seconds,
        };
        let mut wanted = |found: &engine::Found<'_>| criteria.matches(found);
        self.engine.find(&mut wanted, &options, &mut self.writer.for_find())?;
        self.writer.emit_find(out)?;
        Ok(())
    }

    /// Adds a JGF subgraph to the graph.
    ///
    /// # Errors
    ///
    /// [`Error::Format`], [`Error::Engine`].
    pub fn attach(&mut self, subgraph: &str) -> Result<(), Error> {
        self.note(&Operation::Attach { subgraph })?;
        let options = &self.options.load;
        self.engine.grow(|graph| jgf::attach(graph, subgraph, options).map_err(Error::from))
    }

    /// Removes the subtree at a path.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`].
    pub fn remove_path(&mut self, path: &str) -> Result<(), Error> {
        self.note(&Operation::RemovePath { path })?;
        Ok(self.engine.remove_path(path)?)
    }

    /// Removes the vertices of ranks, with what jobs hold there.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`].
    pub fn remove_ranks(&mut self, ranks: &[i64]) -> Result<(), Error> {
        self.note(&Operation::RemoveRanks { ranks: ranks.to_vec() })?;
        Ok(self.engine.remove_ranks(ranks, self.options.on_fault)?)
    }

    /// Sets the status of the vertices at a path.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] for an unknown path.
    pub fn set_status(&mut self, path: &str, status: Status) -> Result<(), Error> {
        self.note(&Operation::SetStatus { path, up: status == Status::Up })?;
        Ok(self.engine.set_status(path, status)?)
    }

    /// Returns the vertices at a path, which may be more than one.
    pub fn vertices_at(&self, path: &str) -> Vec<VertexId> {
        self.engine.graph().find_path(path).into_vec()
    }

    /// Gives the vertices at a path a property. Returns whether there are any.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`].
    pub fn set_property(&mut self, path: &str, key: &str, value: &str) -> Result<bool, Error> {
        self.note(&Operation::SetProperty { path, key, value })?;
        let vertices = self.vertices_at(path);
        for &vertex in &vertices {
            self.engine.set_property(vertex, key, value)?;
        }
        Ok(!vertices.is_empty())
    }
}
