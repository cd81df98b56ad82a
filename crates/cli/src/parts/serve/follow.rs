//! Follows a run by its folder: reads the new part of the journal once a second, as long as a browser
//! listens. All listeners of a run share one reader; a slow listener skips outdated states.

use std::{
    collections::HashMap,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tare_bench::folder;
use tare_host::foreign;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval},
};

use super::{
    pages::Pages,
    progress::{JournalProgress, PageProgress},
};

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The most bytes that one look reads: a long existing journal takes several looks.
const LOOK_BYTES_MAX: u64 = 16 << 20;

/// The news of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Update {
    pub progress: Option<PageProgress>,
    /// The number of times that the report had more to show.
    pub documents: u64,
    /// Whether the run has ended or was interrupted.
    pub done: bool,
}

/// The runs that are followed now.
#[derive(Debug, Default, Clone)]
pub(super) struct Followed(Arc<Mutex<HashMap<PathBuf, watch::Sender<Update>>>>);

impl Followed {
    /// Subscribes to a run, and follows it if it is not followed yet.
    pub(super) fn listen(&self, run: &Path, pages: &Pages) -> watch::Receiver<Update> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(run) {
            return known.subscribe();
        }
        let (sender, receiver) = watch::channel(Update::default());
        all.insert(run.to_owned(), sender.clone());
        tokio::spawn(follow(run.to_owned(), sender, self.clone(), pages.clone()));
        receiver
    }

    /// Whether no browser listens any more; if so, the run is removed.
    fn is_over(&self, run: &Path, sender: &watch::Sender<Update>) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = sender.receiver_count() == 0 || sender.borrow().done;
        if over {
            all.remove(run);
        }
        over
    }

    /// Removes the run, so that the next listener starts anew.
    fn forget(&self, run: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}

async fn follow(run: PathBuf, sender: watch::Sender<Update>, followed: Followed, pages: Pages) {
    let mut tail = Tail { run: run.clone(), read: 0, progress: None };
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut has_more, mut due) = (false, Instant::now());
    while !followed.is_over(&run, &sender) {
        ticks.tick().await;
        let Ok((kept, more, done)) = tokio::task::spawn_blocking(move || tail.look()).await else {
            followed.forget(&run);
            break;
        };
        tail = kept;
        has_more |= more;
        // At the end, browsers request the page again anyway.
        let is_due = has_more && !done && due <= Instant::now();
        if is_due {
            (has_more, due) = (false, Instant::now() + pages.pause(&run));
        }
        sender.send_if_modified(|live| {
            let progress = tail.progress.as_ref().map(JournalProgress::now);
            let now = Update { progress, documents: live.documents + u64::from(is_due), done };
            let is_new = *live != now;
            *live = now;
            is_new
        });
    }
}

/// The position at which the last look ended.
#[derive(Debug)]
struct Tail {
    run: PathBuf,
    read: u64,
    /// `None` until the head of the run can be read.
    progress: Option<JournalProgress>,
}

impl Tail {
    /// Returns whether the report has more to show now, and whether the run is over.
    fn look(mut self) -> (Tail, bool, bool) {
        // Check this first: records that are written until the run ends are then read too.
        let done = !folder::is_being_written(&self.run);
        // Unreadable data may be readable at the next look; the report shows damage.
        let has_more = self.read_more().unwrap_or(false);
        (self, has_more, done)
    }

    fn read_more(&mut self) -> anyhow::Result<bool> {
        let progress = match &mut self.progress {
            Some(progress) => progress,
            none => none.insert(JournalProgress::of(folder::read_header(&self.run)?.plan)),
        };
        let mut file = foreign::open(&folder::journal_path(&self.run))?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        let read = file.take(LOOK_BYTES_MAX).read_to_end(&mut bytes)?;
        let whole = match folder::whole(&bytes) {
            // No record is that long.
            0 if read as u64 == LOOK_BYTES_MAX => read,
            whole => whole,
        };
        self.read += whole as u64;
        let lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        // Process all lines: `any` would stop at the first.
        Ok(lines.fold(false, |more, line| progress.on_line(line) | more))
    }
}
