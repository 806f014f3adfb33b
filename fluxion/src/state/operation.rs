//! Operations as data, in the order of the journal.

use serde::{Deserialize, Serialize};

use crate::{JobId, LoadFormat, Session, Status, match_op};

/// What changes a session. Also what only asks is among it: trying has an effect, see
/// `docs/deviations.md`. New ones go to the end, since their places are what the journal has.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Operation<'a> {
    Match { op: &'a str, jobspec: &'a str, now: i64 },
    Update { r: &'a str, format: &'a str, job: u64, at: i64, duration: i64 },
    SetLastJob { job: u64 },
    Annotate { job: u64, source: &'a str, overhead: f64 },
    Cancel { job: u64 },
    Release { job: u64, r: &'a str, format: &'a str },
    Find { criteria: &'a str, seconds: Vec<i64> },
    Attach { subgraph: &'a str },
    RemovePath { path: &'a str },
    RemoveRanks { ranks: Vec<i64> },
    SetStatus { path: &'a str, up: bool },
    SetProperty { path: &'a str, key: &'a str, value: &'a str },
}

impl Operation<'_> {
    /// Does the operation again. What came of it was answered long ago, or never will be; that it
    /// failed belongs to what happened.
    ///
    /// # Errors
    ///
    /// A name that nothing has.
    pub(crate) fn redo(&self, session: &mut Session, out: &mut String) -> Result<(), String> {
        let load = |name: &str| name.parse::<LoadFormat>().map_err(|error| error.to_string());
        match *self {
            Self::Match { op, jobspec, now } => {
                let op = match_op(op).ok_or_else(|| format!("no operation `{op}`"))?;
                let _ = session.match_jobspec(op, jobspec, now, out);
            }
            Self::Update { r, format, job, at, duration } => {
                let _ = session.update(r, load(format)?, JobId(job), at, duration, out);
            }
            Self::SetLastJob { job } => {
                let _ = session.set_last_job(JobId(job));
            }
            Self::Annotate { job, source, overhead } => {
                let _ = session.annotate(JobId(job), source, overhead);
            }
            Self::Cancel { job } => {
                let _ = session.cancel(JobId(job));
            }
            Self::Release { job, r, format } => {
                let _ = session.release(JobId(job), r, load(format)?);
            }
            Self::Find { criteria, ref seconds } => {
                let _ = session.find(criteria, seconds, out);
            }
            Self::Attach { subgraph } => {
                let _ = session.attach(subgraph);
            }
            Self::RemovePath { path } => {
                let _ = session.remove_path(path);
            }
            Self::RemoveRanks { ref ranks } => {
                let _ = session.remove_ranks(ranks);
            }
            Self::SetStatus { path, up } => {
                let status = if up { Status::Up } else { Status::Down };
                let _ = session.set_status(path, status);
            }
            Self::SetProperty { path, key, value } => {
                let _ = session.set_property(path, key, value);
            }
        }
        Ok(())
    }
}
