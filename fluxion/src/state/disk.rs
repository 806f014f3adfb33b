//! What is asked of a disk, so that tests can have one that is full.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// A file that is written.
pub(crate) trait Output: Debug + Send + Sync {
    /// Writes all of `bytes` at the end. Some of them may be there when this fails.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts everything from byte `length` on off.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// Forces what was written to the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// Where files are.
pub(crate) trait Disk: Debug + Send + Sync {
    /// Makes an empty file.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>>;
    /// Opens a file to append to it.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Output>>;
    /// Puts a file in the place of another, at once.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Forces the names in a directory to the disk.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// The disk of the system.
#[derive(Debug)]
pub(crate) struct SystemDisk;

impl Output for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Disk for SystemDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        // Opened for appending, so that what comes after a cut goes to the new end.
        let mut options = File::options();
        let file = options.append(true).create(true).open(path)?;
        file.set_len(0)?;
        Ok(Box::new(file))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        Ok(Box::new(File::options().append(true).open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}
