//! States that are cut, damaged, or kept on a disk that is full.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use super::disk::{Disk, Output, SystemDisk};
use super::{Fsync, Recovery, StateDir, StateError, StateOptions, journal};
use crate::{
    Digest, Error, JobId, LoadFormat, MatchFormat, MatchOp, Session, SessionOptions, Status,
};

fn testdata(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn options() -> SessionOptions {
    SessionOptions {
        load_format: LoadFormat::Jgf,
        match_format: MatchFormat::Jgf,
        ..SessionOptions::default()
    }
}

fn session(options: &SessionOptions) -> Session {
    Session::open(&testdata("graphs/tiny.json"), options).unwrap()
}

fn jobspec(with: &str, count: u32) -> String {
    jobspec_for(100, with, count)
}

fn jobspec_for(duration: u32, with: &str, count: u32) -> String {
    format!(
        r#"{{"version": 9999, "resources": [{{"type": "slot", "count": {count}, "label": "task",
            "with": [{with}]}}], "tasks": [{{"command": ["app"], "slot": "task",
            "count": {{"per_slot": 1}}}}], "attributes": {{"system": {{"duration": {duration}}}}}}}"#
    )
}

const CORE: &str = r#"{"type": "core", "count": 1}"#;
const NODE: &str = r#"{"type": "node", "count": 1, "exclusive": true}"#;
const MEMORY: &str = r#"{"type": "memory", "count": 1}"#;

/// Returns what is told of an answer, which may be an error, but not one of the disk.
fn told<T: std::fmt::Debug>(answer: Result<T, Error>) -> Result<String, Error> {
    match answer {
        Err(error @ Error::State(_)) => Err(error),
        answer => Ok(format!("{answer:?}")),
    }
}

/// How many steps [`step`] knows.
const N_STEPS: usize = 20;

/// Does the next thing of a story in which everything happens that a journal can tell. Returns what
/// is answered.
fn step(session: &mut Session, number: usize) -> Result<String, Error> {
    let mut out = String::new();
    let ask = |session: &mut Session, op, text: &str, now, out: &mut String| {
        session.match_jobspec(op, text, now, out).outcome.map(|outcome| format!("{outcome:?}"))
    };
    let reserve = MatchOp::AllocateOrelseReserve;
    let answer = match number {
        0 => ask(session, MatchOp::Allocate, &jobspec(CORE, 2), 0, &mut out)?,
        1 => ask(session, MatchOp::Allocate, &jobspec(NODE, 1), 0, &mut out)?,
        2 => format!("{:?}", session.annotate(JobId(2), "node.yaml", 0.25)?),
        3 => ask(session, reserve, &jobspec(NODE, 2), 0, &mut out)?,
        4 => ask(session, MatchOp::WithoutAllocating, &jobspec_for(50, CORE, 1), 1, &mut out)?,
        5 => told(ask(session, reserve, "no: jobspec", 1, &mut out))?,
        6 => format!("{:?}", session.find("sched-now=allocated", &[0], &mut out)?),
        7 => format!("{:?}", session.set_property("/tiny0/rack0/node0", "owner", "physics")?),
        8 => format!("{:?}", session.set_status("/tiny0/rack0/node0/socket0", Status::Down)?),
        9 => format!("{:?}", session.attach(&testdata("graphs/tiny-more.json"))?),
        10 => {
            // What was asked for without allocating is an R too.
            let op = MatchOp::WithoutAllocating;
            ask(session, op, &jobspec_for(50, CORE, 1), 5, &mut out)?;
            let r = std::mem::take(&mut out);
            let update = session.update(&r, LoadFormat::Jgf, JobId(40), 5, 60, &mut out);
            told(update)? + &told(session.set_last_job(JobId(40)))?
        }
        11 => {
            ask(session, MatchOp::Allocate, &jobspec_for(50, CORE, 1), 6, &mut out)?;
            let r = out.clone();
            told(session.release(JobId(41), &r, LoadFormat::Jgf))?
        }
        12 => format!("{:?}", session.cancel(JobId(2))?),
        13 => ask(session, MatchOp::Satisfiability, &jobspec(MEMORY, 1), 6, &mut out)?,
        14 => ask(session, reserve, &jobspec(NODE, 1), 7, &mut out)?,
        15 => told(session.remove_path("/tiny0/rack0/node0/socket0/core0"))?,
        16 => told(session.remove_ranks(&[1]))?,
        17 => told(ask(session, MatchOp::Allocate, &jobspec(MEMORY, 1), 8, &mut out))?,
        18 => format!("{:?}", session.cancel(JobId(3))?),
        _ => ask(session, reserve, &jobspec(CORE, 2), 9, &mut out)?,
    };
    Ok(answer + "\n" + &out)
}

/// What can be told of a session: its digest and its table.
type Look = (Digest, JobId, Vec<String>);

fn look(session: &Session) -> Look {
    session.engine().validate().unwrap();
    let jobs = session.jobs().map(|(job, info)| format!("{job}: {info:?}")).collect();
    (session.engine().digest(), session.next_job(), jobs)
}

/// Returns options for where no machine dies.
fn quick() -> StateOptions {
    StateOptions { fsync: Fsync::Never, ..StateOptions::default() }
}

fn create(path: &Path, state: StateOptions) -> Session {
    StateDir::open(path, state).unwrap().create(session(&options())).unwrap()
}

fn restore(path: &Path) -> Result<(Session, Recovery), Error> {
    StateDir::open(path, quick())?.restore(&options())
}

fn journal_length(path: &Path) -> usize {
    usize::try_from(fs::metadata(path.join("journal")).unwrap().len()).unwrap()
}

/// Runs the story and returns, for each moment at which something was answered, how long the journal
/// was and what the session looked like.
fn run_story(path: &Path) -> Vec<(usize, Look)> {
    let mut session = create(path, quick());
    let mut moments = vec![(journal_length(path), look(&session))];
    for number in 0..N_STEPS {
        step(&mut session, number).unwrap_or_else(|error| panic!("step {number}: {error}"));
        moments.push((journal_length(path), look(&session)));
    }
    moments
}

fn copy_of(journal: &[u8], snapshot: &[u8]) -> TempDir {
    let copy = TempDir::new().unwrap();
    fs::write(copy.path().join("journal"), journal).unwrap();
    fs::write(copy.path().join("snapshot"), snapshot).unwrap();
    copy
}

fn files(path: &Path) -> (Vec<u8>, Vec<u8>) {
    (fs::read(path.join("journal")).unwrap(), fs::read(path.join("snapshot")).unwrap())
}

#[test]
fn a_story_goes_on_where_it_was_interrupted() {
    let mut whole = session(&options());
    let expected: Vec<_> = (0..N_STEPS).map(|number| step(&mut whole, number)).collect();
    for interval in [1, 3, 7] {
        let dir = TempDir::new().unwrap();
        let mut kept = create(dir.path(), quick());
        for (number, expected) in expected.iter().enumerate() {
            if number % interval == interval - 1 {
                let before = look(&kept);
                drop(kept);
                let (restored, recovery) = restore(dir.path()).unwrap();
                assert_eq!(look(&restored), before);
                assert_eq!(recovery.dropped, None);
                kept = restored;
            }
            assert_eq!(&step(&mut kept, number), expected, "step {number} of {interval}");
        }
        assert_eq!(look(&kept), look(&whole));
    }
}

#[test]
fn a_journal_may_be_cut_anywhere() {
    let dir = TempDir::new().unwrap();
    let moments = run_story(dir.path());
    let (journal, snapshot) = files(dir.path());
    // One step is several operations, so there are states between those that were looked at.
    let ends: Vec<usize> = moments.iter().map(|(end, _)| *end).collect();
    let cuts = (journal::HEADER..=journal.len()).step_by(5);
    for length in cuts.chain(ends.iter().copied()) {
        let copy = copy_of(&journal[..length], &snapshot);
        let (restored, recovery) = restore(copy.path()).unwrap();
        if let Some((_, expected)) = moments.iter().rev().find(|(end, _)| *end == length) {
            assert_eq!(&look(&restored), expected, "cut at byte {length}");
            assert_eq!(recovery.dropped, None);
        } else {
            restored.engine().validate().unwrap();
        }
        let at = ends.iter().rposition(|&end| end <= length).unwrap();
        if let Some(dropped) = recovery.dropped {
            assert_eq!(dropped.offset + dropped.bytes, length as u64);
            let end = ends[at] as u64;
            assert!(dropped.offset >= end, "an answered step was dropped");
            if dropped.offset == end {
                assert_eq!(look(&restored), moments[at].1, "half a record at byte {length}");
            }
            assert_eq!(journal_length(copy.path()) as u64, dropped.offset, "it is cut off");
        }
        drop(restored);
        assert_eq!(restore(copy.path()).unwrap().1.dropped, None, "what is cut off is gone");
    }
    for length in 0..journal::HEADER {
        let copy = copy_of(&journal[..length], &snapshot);
        assert!(is_damaged(restore(copy.path()), "journal"), "{length}");
    }
}

fn is_damaged(result: Result<(Session, Recovery), Error>, file: &str) -> bool {
    match result {
        Err(Error::State(StateError::Damaged { path, .. })) => path.ends_with(file),
        _ => false,
    }
}

#[test]
fn a_flipped_bit_anywhere_is_an_error_with_its_place() {
    let dir = TempDir::new().unwrap();
    run_story(dir.path());
    let (journal, snapshot) = files(dir.path());
    for at in (0..journal.len()).step_by(5) {
        let mut damaged = journal.clone();
        damaged[at] ^= 1 << (at % 8);
        let copy = copy_of(&damaged, &snapshot);
        assert!(is_damaged(restore(copy.path()), "journal"), "byte {at} of the journal");
    }
    for at in (0..snapshot.len()).step_by(3) {
        let mut damaged = snapshot.clone();
        damaged[at] ^= 1 << (at % 8);
        for damaged in [&damaged[..], &snapshot[..at]] {
            let copy = copy_of(&journal, damaged);
            assert!(is_damaged(restore(copy.path()), "snapshot"), "byte {at} of the snapshot");
        }
    }
    let mut damaged = journal;
    damaged[100] ^= 4;
    let copy = copy_of(&damaged, &snapshot);
    let message = restore(copy.path()).unwrap_err().to_string();
    assert!(
        message.contains("journal: byte 28: the checksum does not fit the record"),
        "{message}"
    );
}

/// A disk that goes wrong, and only says that it forced something.
#[derive(Debug)]
struct BadDisk {
    /// How many bytes there is room for.
    room: AtomicI64,
    /// How many things it does before the power is off for good.
    calls: AtomicI64,
    syncs: AtomicU64,
}

impl BadDisk {
    fn new(room: i64, calls: i64) -> Arc<Self> {
        Arc::new(Self { room: room.into(), calls: calls.into(), syncs: AtomicU64::new(0) })
    }

    fn call(&self) -> io::Result<()> {
        if self.calls.fetch_sub(1, Ordering::Relaxed) > 0 {
            return Ok(());
        }
        Err(io::Error::other("the power is off"))
    }
}

#[derive(Debug)]
struct BadOutput {
    file: Mutex<Box<dyn Output>>,
    disk: Arc<BadDisk>,
}

impl Output for BadOutput {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let before = self.disk.room.fetch_sub(bytes.len() as i64, Ordering::Relaxed);
        let off = self.disk.call().is_err();
        let fits = if off { bytes.len() as i64 / 2 } else { before.clamp(0, bytes.len() as i64) };
        self.file.get_mut().unwrap().append(&bytes[..usize::try_from(fits).unwrap()])?;
        if fits == bytes.len() as i64 {
            return Ok(());
        }
        self.disk.room.fetch_add(bytes.len() as i64, Ordering::Relaxed);
        Err(io::Error::other(if off { "the power is off" } else { "no space left" }))
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.disk.call()?;
        self.file.get_mut().unwrap().truncate(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.call()?;
        self.disk.syncs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// What the module has a disk as.
#[derive(Debug)]
struct Shared(Arc<BadDisk>);

impl Shared {
    fn output(&self, file: Box<dyn Output>) -> Box<dyn Output> {
        Box::new(BadOutput { file: Mutex::new(file), disk: Arc::clone(&self.0) })
    }
}

impl Disk for Shared {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        self.0.call()?;
        Ok(self.output(SystemDisk.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        self.0.call()?;
        Ok(self.output(SystemDisk.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.call()?;
        SystemDisk.rename(from, to)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.call()?;
        self.0.syncs.fetch_add(1, Ordering::Relaxed);
        assert!(path.is_dir());
        Ok(())
    }
}

const MANY: i64 = i64::MAX / 2;

fn create_on(disk: &Arc<BadDisk>, path: PathBuf, state: StateOptions) -> Result<Session, Error> {
    let disk = Arc::new(Shared(Arc::clone(disk)));
    StateDir::open_on(disk, path, state)?.create(session(&options()))
}

#[test]
fn a_full_disk_loses_nothing_that_was_answered() {
    // A snapshot is due every few operations.
    let state =
        StateOptions { journal_bytes: 1200, fsync: Fsync::OnSnapshot, ..StateOptions::default() };
    let mut refused = 0;
    for room in (0..60_000).step_by(997) {
        let dir = TempDir::new().unwrap();
        let disk = BadDisk::new(room, MANY);
        let Ok(mut kept) = create_on(&disk, dir.path().to_owned(), state) else {
            // Nothing was answered, so that there may be nothing or a state in which nothing happened.
            let dir = StateDir::open(dir.path(), state).unwrap();
            assert!(dir.has_state().is_ok());
            continue;
        };
        for number in 0..N_STEPS {
            let before = look(&kept);
            if let Err(Error::State(_)) = step(&mut kept, number) {
                refused += 1;
                if ![10, 11].contains(&number) {
                    assert_eq!(look(&kept), before, "step {number} with room for {room}");
                }
            }
        }
        let expected = look(&kept);
        drop(kept);
        let (restored, _) = restore(dir.path()).unwrap();
        assert_eq!(look(&restored), expected, "room for {room}");
    }
    assert!(refused > 50, "the disk was full {refused} times");
}

#[test]
fn a_process_may_die_in_any_call_to_the_disk() {
    let state = StateOptions { journal_bytes: 1200, ..StateOptions::default() };
    let mut died = 0;
    for calls in 0.. {
        let dir = TempDir::new().unwrap();
        let disk = BadDisk::new(MANY, calls);
        let Ok(mut kept) = create_on(&disk, dir.path().to_owned(), state) else {
            let dir = StateDir::open(dir.path(), state).unwrap();
            if dir.has_state().unwrap() {
                let (restored, _) = dir.restore(&options()).unwrap();
                assert_eq!(look(&restored), look(&session(&options())), "{calls} calls");
            }
            died += 1;
            continue;
        };
        // It makes its snapshots at the same moments.
        let twins = TempDir::new().unwrap();
        let mut twin = create(twins.path(), StateOptions { fsync: Fsync::Never, ..state });
        let dead = (0..N_STEPS).find(|&number| {
            let before = look(&kept);
            let result = step(&mut kept, number);
            if !matches!(result, Err(Error::State(_))) {
                step(&mut twin, number).unwrap();
                return false;
            }
            if ![10, 11].contains(&number) {
                assert_eq!(look(&kept), before, "step {number} after {calls} calls");
                let refused = step(&mut kept, number);
                assert!(matches!(refused, Err(Error::State(_))), "it refuses further work");
            }
            true
        });
        drop(kept);
        let (restored, _) = restore(dir.path()).unwrap();
        let Some(number) = dead else {
            assert_eq!(look(&restored), look(&twin));
            break;
        };
        died += 1;
        if ![10, 11].contains(&number) {
            let before = look(&twin);
            step(&mut twin, number).unwrap();
            let given = look(&restored);
            let either = given == before || given == look(&twin);
            assert!(either, "half of step {number} is there after {calls} calls");
        }
    }
    assert!(died > 40, "it died {died} times");
}

#[test]
fn files_are_forced_to_the_disk_as_the_policy_says() {
    let syncs = |fsync| {
        let dir = TempDir::new().unwrap();
        let disk = BadDisk::new(MANY, MANY);
        let state = StateOptions { fsync, ..StateOptions::default() };
        let mut kept = create_on(&disk, dir.path().to_owned(), state).unwrap();
        let made = disk.syncs.load(Ordering::Relaxed);
        // A match, another, and a remark, which waits for the next answer.
        (0..3).for_each(|number| drop(step(&mut kept, number)));
        let done = disk.syncs.load(Ordering::Relaxed);
        kept.checkpoint().unwrap();
        (made, done - made, disk.syncs.load(Ordering::Relaxed) - done)
    };
    // Two files, each with its name; the journal twice at first.
    assert_eq!(syncs(Fsync::Always), (6, 2, 4));
    assert_eq!(syncs(Fsync::OnSnapshot), (6, 0, 4));
    assert_eq!(syncs(Fsync::Never), (0, 0, 0));
}

#[test]
fn a_state_is_for_one_process_and_the_same_options() {
    let dir = TempDir::new().unwrap();
    let kept = create(dir.path(), quick());
    let second = StateDir::open(dir.path(), StateOptions::default());
    assert!(matches!(second, Err(Error::State(StateError::InUse { .. }))));
    drop(kept);
    let other = SessionOptions { policy: "low".to_owned(), ..options() };
    let state = StateDir::open(dir.path(), StateOptions::default()).unwrap();
    assert!(state.has_state().unwrap());
    let message = state.restore(&other).unwrap_err().to_string();
    assert!(message.ends_with("the state was made with policy `first`, not `low`"), "{message}");
    let small = StateOptions { file_bytes: 10, ..StateOptions::default() };
    let state = StateDir::open(dir.path(), small).unwrap();
    let message = state.restore(&options()).unwrap_err().to_string();
    assert!(message.contains("snapshot: byte 10: the file has"), "{message}");
}

#[test]
fn a_journal_without_its_snapshot_is_not_begun_anew() {
    let dir = TempDir::new().unwrap();
    run_story(dir.path());
    fs::remove_file(dir.path().join("snapshot")).unwrap();
    let state = StateDir::open(dir.path(), StateOptions::default()).unwrap();
    assert!(matches!(state.has_state(), Err(Error::State(StateError::Damaged { .. }))));
    let dir = TempDir::new().unwrap();
    run_story(dir.path());
    fs::remove_file(dir.path().join("journal")).unwrap();
    assert!(restore(dir.path()).is_err());
}

#[test]
fn what_cannot_be_written_as_r_comes_back_too() {
    let options = SessionOptions { match_format: MatchFormat::Rlite, ..options() };
    let dir = TempDir::new().unwrap();
    let state = || StateDir::open(dir.path(), StateOptions::default()).unwrap();
    let mut kept = state().create(session(&options)).unwrap();
    let mut out = String::new();
    // The memories stay taken, by nobody.
    let report = kept.match_jobspec(MatchOp::Allocate, &jobspec(MEMORY, 1), 0, &mut out);
    assert!(matches!(report.outcome, Err(Error::Emit(_))), "{report:?}");
    let report = kept.match_jobspec(MatchOp::Allocate, &jobspec(CORE, 1), 0, &mut out);
    assert_eq!(report.outcome, Ok(crate::Outcome::Allocated));
    let before = look(&kept);
    drop(kept);
    let (mut restored, recovery) = state().restore(&options).unwrap();
    assert_eq!((look(&restored), recovery.operations), (before.clone(), 2));
    restored.checkpoint().unwrap();
    drop(restored);
    let (restored, recovery) = state().restore(&options).unwrap();
    assert_eq!((look(&restored), recovery.operations), (before, 0));
}

/// What format 1 makes of the story. With `UPDATE_SNAPSHOTS=1` in the environment it is written.
#[test]
fn a_state_of_an_old_format_is_restored() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/snapshots/session-1");
    let dir = TempDir::new().unwrap();
    let mut kept = create(dir.path(), quick());
    for number in 0..N_STEPS {
        if number == N_STEPS / 2 {
            kept.checkpoint().unwrap();
        }
        step(&mut kept, number).unwrap();
    }
    let expected = look(&kept);
    drop(kept);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::create_dir_all(&golden).unwrap();
        for name in ["snapshot", "journal"] {
            fs::copy(dir.path().join(name), golden.join(name)).unwrap();
        }
    }
    let (journal, snapshot) = files(&golden);
    let copy = copy_of(&journal, &snapshot);
    let (restored, recovery) = restore(copy.path()).unwrap();
    assert_eq!((look(&restored), recovery.dropped), (expected, None));
    // A change of a format needs a number of its own.
    assert_eq!(files(dir.path()), (journal, snapshot));
}
