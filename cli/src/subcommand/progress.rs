//! Signs of life while something takes long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// What takes less is not shown at all.
const PATIENCE: Duration = Duration::from_millis(400);
const TICK: Duration = Duration::from_millis(100);

/// A bar or a spinner on standard error, until it is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    position: Arc<AtomicU64>,
    /// Ends the thread when it is dropped.
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to show `label` where that is wanted: with a bar if a total number of bytes is known.
    pub(super) fn start(wanted: bool, label: String, total: Option<u64>) -> Self {
        let position = Arc::new(AtomicU64::new(0));
        let mut progress = Self { position: Arc::clone(&position), alive: None, thread: None };
        if wanted {
            let (sender, receiver) = mpsc::channel();
            progress.alive = Some(sender);
            let is_on = move |time| receiver.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            progress.thread = Some(thread::spawn(move || {
                if !is_on(PATIENCE) {
                    return;
                }
                let bar = bar(label, total);
                while is_on(TICK) {
                    bar.set_position(position.load(Ordering::Relaxed));
                    bar.tick();
                }
                bar.finish_and_clear();
            }));
        }
        progress
    }

    /// Says how many bytes are done.
    pub(super) fn set(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }
}

fn bar(label: String, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{msg} {wide_bar} {bytes}/{total_bytes} {eta}"),
        None => (ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}"),
    };
    let style = ProgressStyle::with_template(template);
    let bar = match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    bar.with_message(label)
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.alive = None;
        if let Some(thread) = self.thread.take() {
            // A bar that could not be drawn is no loss.
            let _ = thread.join();
        }
    }
}
