//! What a session has beside its engine, as the snapshot has it.

use serde::{Deserialize, Serialize};

use crate::{JobInfo, JobState, OnFault, SessionOptions, Traverser};

/// All of a session but its engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Table<'a> {
    #[serde(borrow)]
    pub(crate) options: OptionsImage<'a>,
    pub(crate) next_job: u64,
    pub(crate) jobs: Vec<JobImage<'a>>,
}

/// Options that decide answers. They must be the same when a state is opened again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OptionsImage<'a> {
    policy: &'a str,
    matcher: &'a str,
    traverser: &'a str,
    match_format: &'a str,
    prune_filters: &'a str,
    on_fault: &'a str,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct JobImage<'a> {
    pub(crate) job: u64,
    state: u8,
    at: i64,
    source: &'a str,
    overhead: f64,
}

const STATES: [JobState; 3] = [JobState::Allocated, JobState::Reserved, JobState::Canceled];

impl<'a> JobImage<'a> {
    pub(crate) fn new(job: u64, info: &'a JobInfo) -> Self {
        let state = match info.state {
            JobState::Allocated => 0,
            JobState::Reserved => 1,
            JobState::Canceled => 2,
        };
        Self { job, state, at: info.at, source: &info.source, overhead: info.overhead }
    }

    /// Returns the job, `None` in a state that there is not.
    pub(crate) fn info(&self) -> Option<JobInfo> {
        let state = *STATES.get(usize::from(self.state))?;
        let source = self.source.to_owned();
        Some(JobInfo { state, at: self.at, source, overhead: self.overhead })
    }
}

impl<'a> OptionsImage<'a> {
    pub(crate) fn new(options: &'a SessionOptions) -> Self {
        Self {
            policy: &options.policy,
            matcher: &options.matcher,
            traverser: match options.traverser {
                Traverser::Simple => "simple",
                Traverser::Flexible => "flexible",
            },
            match_format: options.match_format.name(),
            prune_filters: &options.prune_filters,
            on_fault: match options.on_fault {
                OnFault::Restore => "restore",
                OnFault::Leave => "leave",
            },
        }
    }

    /// Returns the first option that differs, with its value here and there.
    pub(crate) fn difference(&self, other: &Self) -> Option<(&'static str, &'a str, String)> {
        let pairs = [
            ("policy", self.policy, other.policy),
            ("matcher", self.matcher, other.matcher),
            ("traverser", self.traverser, other.traverser),
            ("match format", self.match_format, other.match_format),
            ("pruning filters", self.prune_filters, other.prune_filters),
            ("on fault", self.on_fault, other.on_fault),
        ];
        let differing = pairs.into_iter().find(|(_, own, other)| own != other);
        differing.map(|(name, own, other)| (name, own, other.to_owned()))
    }
}
