//! The directory: its lock, its snapshot and its journal.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Engine;

use super::disk::{Disk, Output, SystemDisk};
use super::journal::{self, Next, array, checksum};
use super::table::{OptionsImage, Table};
use super::{Fsync, Operation, StateError, StateOptions};
use crate::{Error, Session, SessionOptions};

/// What every snapshot of a session begins with. After it come the number of the format (4 bytes), the
/// generation (8 bytes), the length of the table (8 bytes), a checksum of all that and of the table (8
/// bytes), the table, and the snapshot of the engine, which has a checksum of its own.
const MAGIC: [u8; 8] = *b"fluxstat";
const FORMAT: u32 = 1;
const SUMMED: usize = 8 + 4 + 8 + 8;
const HEADER: usize = SUMMED + 8;

/// A directory that keeps the state of a session, locked for this process.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    options: StateOptions,
    disk: Arc<dyn Disk>,
    /// Unlocked when it is closed, also by the end of the process.
    _lock: File,
}

/// What was found when a state was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// How many operations of the journal were done again.
    pub operations: u64,
    /// The torn record at the end of the journal that was dropped, if there was one.
    pub dropped: Option<Dropped>,
}

/// A record that was not finished, and so never answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The journal.
    pub path: PathBuf,
    /// Where the record began.
    pub offset: u64,
    /// How many bytes of it there were.
    pub bytes: u64,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, offset, bytes } = self;
        let path = path.display();
        write!(f, "{path}: dropped {bytes} bytes from byte {offset} on: a record was not finished")
    }
}

impl StateDir {
    /// Opens a directory, makes it if need be, and locks it.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when the system refuses or another process has it.
    pub fn open(path: impl Into<PathBuf>, options: StateOptions) -> Result<Self, Error> {
        Ok(Self::open_on(Arc::new(SystemDisk), path.into(), options)?)
    }

    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        path: PathBuf,
        options: StateOptions,
    ) -> Result<Self, StateError> {
        std::fs::create_dir_all(&path)
            .map_err(|error| system(&path, "make the directory", &error))?;
        let lock_path = path.join("lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(|error| system(&lock_path, "open it", &error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, options, disk, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(StateError::InUse { path: lock_path }),
            Err(TryLockError::Error(error)) => Err(system(&lock_path, "lock it", &error)),
        }
    }

    fn snapshot_path(&self) -> PathBuf {
        self.path.join("snapshot")
    }

    fn journal_path(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// Returns whether there is a state to restore.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when that cannot be told, or only half of a state is there.
    pub fn has_state(&self) -> Result<bool, Error> {
        let length = |path: &Path| match std::fs::metadata(path) {
            Ok(data) => Ok(Some(data.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(system(path, "look at it", &error)),
        };
        if length(&self.snapshot_path())?.is_some() {
            return Ok(true);
        }
        // The first journal is made before the first snapshot, and nothing is written to it until
        // there is one.
        if length(&self.journal_path())?.is_some_and(|length| length > journal::HEADER as u64) {
            let fault = "it continues a snapshot that is not there".to_owned();
            return Err(StateError::Damaged { path: self.journal_path(), offset: 0, fault }.into());
        }
        Ok(false)
    }

    /// Keeps a session in this directory from now on.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when the state cannot be written; [`Error::Engine`].
    pub fn create(self, mut session: Session) -> Result<Session, Error> {
        let journal = self.start_journal(1)?;
        session.keep(Keeper { dir: self, generation: 0, journal, length: 0, broken: false });
        session.checkpoint()?;
        Ok(session)
    }

    /// Restores the session that is kept here. `options` must be those it was opened with; of how a
    /// graph is read only what [`Session::attach`] heeds matters.
    ///
    /// # Errors
    ///
    /// [`Error::State`] for damaged files and for other options, [`Error::Policy`].
    pub fn restore(self, options: &SessionOptions) -> Result<(Session, Recovery), Error> {
        let (mut session, generation) = self.read_snapshot(options)?;
        let path = self.journal_path();
        let bytes = self.read(&path)?;
        let damaged = |offset: usize, fault: &str| StateError::Damaged {
            path: path.clone(),
            offset: offset as u64,
            fault: fault.to_owned(),
        };
        let of = |fault: journal::Fault| damaged(fault.offset, &fault.fault);
        let found = journal::read_header(&bytes).map_err(of)?;
        let found = found.ok_or_else(|| damaged(0, "it ends within its header"))?;
        if found > generation {
            return Err(damaged(12, "it continues a later snapshot than there is").into());
        }
        let mut recovery = Recovery { operations: 0, dropped: None };
        if found < generation {
            // The snapshot has what is in it. The process died before it could put it away.
            let journal = self.start_journal(generation)?;
            let length = journal::HEADER as u64;
            session.keep(Keeper { dir: self, generation, journal, length, broken: false });
            return Ok((session, recovery));
        }
        let mut offset = journal::HEADER;
        let mut out = String::new();
        loop {
            match journal::read_next(&bytes, generation, offset).map_err(of)? {
                Next::Operation(operation, next) => {
                    let operation = postcard::take_from_bytes::<Operation<'_>>(operation);
                    let Ok((operation, [])) = operation else {
                        return Err(damaged(offset, "this is no operation").into());
                    };
                    out.clear();
                    let redone = operation.redo(&mut session, &mut out);
                    redone.map_err(|fault| damaged(offset, &fault))?;
                    recovery.operations += 1;
                    offset = next;
                }
                Next::End => break,
                Next::Torn => {
                    recovery.dropped = Some(Dropped {
                        path: path.clone(),
                        offset: offset as u64,
                        bytes: (bytes.len() - offset) as u64,
                    });
                    break;
                }
            }
        }
        let length = offset as u64;
        let mut journal =
            self.disk.open(&path).map_err(|error| system(&path, "open it", &error))?;
        if recovery.dropped.is_some() {
            journal.truncate(length).map_err(|error| system(&path, "cut its end off", &error))?;
            self.sync(&mut *journal, &path, Fsync::Always)?;
        }
        session.keep(Keeper { dir: self, generation, journal, length, broken: false });
        Ok((session, recovery))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, StateError> {
        let fault = |error: io::Error| system(path, "read it", &error);
        let length = std::fs::metadata(path).map_err(fault)?.len();
        let limit = self.options.file_bytes;
        if length > limit {
            let fault = format!("the file has {length} bytes, the limit is {limit}");
            return Err(StateError::Damaged { path: path.to_owned(), offset: limit, fault });
        }
        std::fs::read(path).map_err(fault)
    }

    fn read_snapshot(&self, options: &SessionOptions) -> Result<(Session, u64), Error> {
        let path = self.snapshot_path();
        let bytes = self.read(&path)?;
        let damaged = |offset: usize, fault: &str| StateError::Damaged {
            path: path.clone(),
            offset: offset as u64,
            fault: fault.to_owned(),
        };
        let head = bytes.get(..HEADER).ok_or_else(|| damaged(0, "it ends within its header"))?;
        if head[..8] != MAGIC {
            return Err(damaged(0, "this is no state of a session").into());
        }
        let format = u32::from_le_bytes(array(&head[8..]));
        if format != FORMAT {
            let unknown = format!("format {format} is unknown, the newest known is {FORMAT}");
            return Err(damaged(8, &unknown).into());
        }
        let generation = u64::from_le_bytes(array(&head[12..]));
        let length = u64::from_le_bytes(array(&head[20..]));
        let end = usize::try_from(length).ok().and_then(|length| length.checked_add(HEADER));
        let table = end.and_then(|end| bytes.get(HEADER..end));
        let table = table.ok_or_else(|| damaged(20, "the table is longer than the file"))?;
        if head[SUMMED..] != checksum(&[&head[..SUMMED], table]) {
            return Err(damaged(SUMMED, "the checksum does not fit header and table").into());
        }
        let Ok((kept, [])) = postcard::take_from_bytes::<Table<'_>>(table) else {
            return Err(damaged(HEADER, "this is no table").into());
        };
        if let Some((option, kept, given)) = kept.options.difference(&OptionsImage::new(options)) {
            return Err(StateError::Options { path, option, kept: kept.to_owned(), given }.into());
        }
        let policy = policies::policy(&options.policy)?;
        let rest = &bytes[HEADER + table.len()..];
        let engine = Engine::restore(rest, policy, rest.len())
            .map_err(|error| damaged(HEADER + table.len(), &error.to_string()))?;
        let jobs =
            kept.jobs.iter().map(|job| job.info().map(|info| (engine::JobId(job.job), info)));
        let jobs = jobs.collect::<Option<_>>();
        let jobs = jobs.ok_or_else(|| damaged(HEADER, "a job is in no known state"))?;
        Ok((Session::from_parts(engine, options, kept.next_job, jobs), generation))
    }

    /// Puts a journal without operations in the place of the one there is.
    fn start_journal(&self, generation: u64) -> Result<Box<dyn Output>, StateError> {
        let path = self.journal_path();
        let journal = self.write_new(&path, &[&journal::header(generation)])?;
        self.put_in_place(&path)?;
        Ok(journal)
    }

    /// Writes what is to take the place of a file.
    fn write_new(&self, path: &Path, parts: &[&[u8]]) -> Result<Box<dyn Output>, StateError> {
        let at = |action| move |error: io::Error| system(path, action, &error);
        let mut file =
            self.disk.create(&path.with_extension("new")).map_err(at("make a new one"))?;
        for part in parts {
            file.append(part).map_err(at("write a new one"))?;
        }
        self.sync(&mut *file, path, Fsync::OnSnapshot)?;
        Ok(file)
    }

    /// Lets what was written take the place of a file, at once.
    fn put_in_place(&self, path: &Path) -> Result<(), StateError> {
        let at = |action| move |error: io::Error| system(path, action, &error);
        self.disk.rename(&path.with_extension("new"), path).map_err(at("replace it"))?;
        if self.options.fsync != Fsync::Never {
            self.disk.sync_dir(&self.path).map_err(at("force its name to the disk"))?;
        }
        Ok(())
    }

    /// Forces a file to the disk where that is done at such a moment.
    fn sync(&self, file: &mut dyn Output, path: &Path, moment: Fsync) -> Result<(), StateError> {
        let wanted = match self.options.fsync {
            Fsync::Always => true,
            Fsync::OnSnapshot => moment == Fsync::OnSnapshot,
            Fsync::Never => false,
        };
        if wanted {
            file.sync().map_err(|error| system(path, "force it to the disk", &error))?;
        }
        Ok(())
    }
}

/// What writes down what a session does.
#[derive(Debug)]
pub(crate) struct Keeper {
    dir: StateDir,
    /// The number of the snapshot that the journal continues.
    generation: u64,
    journal: Box<dyn Output>,
    /// How long the journal is.
    length: u64,
    /// Whether what the journal has is not known.
    broken: bool,
}

impl Keeper {
    fn check(&self) -> Result<(), StateError> {
        if self.broken { Err(StateError::Broken { path: self.dir.journal_path() }) } else { Ok(()) }
    }

    /// Returns whether the journal is so long that a snapshot is due.
    pub(crate) fn is_due(&self) -> bool {
        self.length > self.dir.options.journal_bytes
    }

    /// Writes an operation down. When that fails, the operation must not be done.
    pub(crate) fn write(&mut self, operation: &Operation<'_>) -> Result<(), StateError> {
        self.check()?;
        let path = self.dir.journal_path();
        let refused = |reason: &str| StateError::System {
            path: path.clone(),
            action: "write an operation",
            reason: reason.to_owned(),
        };
        let bytes =
            postcard::to_allocvec(operation).map_err(|error| refused(&error.to_string()))?;
        let record = journal::record(self.generation, self.length, &bytes);
        let record = record.ok_or_else(|| refused("it has 2^32 bytes or more"))?;
        if let Err(error) = self.journal.append(&record) {
            // What is there of it must not be taken for an operation later.
            self.broken = self.journal.truncate(self.length).is_err();
            return Err(system(&path, "write an operation", &error));
        }
        // Whether an operation is there after this has failed, nobody knows. A remark can wait.
        if !matches!(operation, Operation::Annotate { .. })
            && let Err(error) = self.dir.sync(&mut *self.journal, &path, Fsync::Always)
        {
            self.broken = true;
            return Err(error);
        }
        self.length += record.len() as u64;
        Ok(())
    }

    /// Puts all of a session into a snapshot, with which the journal begins anew.
    pub(crate) fn checkpoint(&mut self, session: &Session) -> Result<(), Error> {
        self.check()?;
        let table = session.table();
        let table = postcard::to_allocvec(&table).map_err(|error| StateError::System {
            path: self.dir.snapshot_path(),
            action: "write the table",
            reason: error.to_string(),
        })?;
        let engine = session.engine().snapshot()?;
        let generation = self.generation + 1;
        let mut head = MAGIC.to_vec();
        head.extend(FORMAT.to_le_bytes());
        head.extend(generation.to_le_bytes());
        head.extend((table.len() as u64).to_le_bytes());
        head.extend(checksum(&[&head, &table]));
        let path = self.dir.snapshot_path();
        let new = self.dir.write_new(&path, &[&head, &table, &engine])?;
        // From the moment the snapshot is replaced, the journal there is goes unread.
        self.broken = true;
        self.dir.put_in_place(&path)?;
        drop(new);
        self.journal = self.dir.start_journal(generation)?;
        self.generation = generation;
        self.length = journal::HEADER as u64;
        self.broken = false;
        Ok(())
    }
}

fn system(path: &Path, action: &'static str, error: &io::Error) -> StateError {
    StateError::System { path: path.to_owned(), action, reason: error.to_string() }
}
