//! State that outlives a process: a snapshot, and a journal of what was done since.
//!
//! A directory has three files. `snapshot` is all of a session at some moment. `journal` has the
//! operations since then, one after the other; to open the directory is to restore the snapshot and
//! to do them again. `lock` keeps a second process out. `docs/state.md` draws them.
//!
//! An operation is written to the journal before it is done, and done before it is answered. One that
//! cannot be written is refused and leaves the session as it was. So nothing that was answered is
//! lost, and what was not answered is done wholly or not at all.

mod directory;
mod disk;
mod journal;
mod operation;
mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub(crate) use directory::Keeper;
pub use directory::{Dropped, Recovery, StateDir};
pub(crate) use operation::Operation;
pub(crate) use table::{JobImage, OptionsImage, Table};

/// When files are forced to the disk, so that a crash of the machine does not lose them. What a
/// process wrote outlives the process in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fsync {
    /// Before each answer. Nothing answered is lost with the machine.
    #[default]
    Always,
    /// With each snapshot. A crash of the machine may lose what was answered since.
    OnSnapshot,
    /// Never. After a crash of the machine there may be nothing to restore.
    Never,
}

/// How a state directory is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateOptions {
    /// When files are forced to the disk.
    pub fsync: Fsync,
    /// How many bytes the journal may have before a snapshot takes its place; default 64 MiB. More of
    /// them make for fewer snapshots and for longer starts.
    pub journal_bytes: u64,
    /// How many bytes a file may have to be read; default 64 GiB.
    pub file_bytes: u64,
}

impl Default for StateOptions {
    fn default() -> Self {
        Self { fsync: Fsync::Always, journal_bytes: 64 << 20, file_bytes: 64 << 30 }
    }
}

/// What can go wrong with a state directory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The system refused something.
    #[error("{}: cannot {action}: {reason}", path.display())]
    System {
        /// The file or directory.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        reason: String,
    },
    /// Another process has the directory.
    #[error("{}: another process uses this state", path.display())]
    InUse {
        /// The lock.
        path: PathBuf,
    },
    /// A file was damaged.
    #[error("{}: byte {offset}: {fault}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// What is wrong there.
        fault: String,
    },
    /// The state was made with other options.
    #[error("{}: the state was made with {option} `{kept}`, not `{given}`", path.display())]
    Options {
        /// The snapshot.
        path: PathBuf,
        /// Which of them.
        option: &'static str,
        /// Its value in the state.
        kept: String,
        /// Its value now.
        given: String,
    },
    /// What was written before could not be made sure of, so that no more is accepted.
    #[error("{}: the journal is broken since an earlier error; start again", path.display())]
    Broken {
        /// The journal.
        path: PathBuf,
    },
}
