//! Follows a run by its folder: reads what the journal has more than at the last look, once a second, as long as a browser
//! listens. One reader for all who listen to the same run; a slow one misses what is no longer true.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tare_bench::folder::{self, FolderError};
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval},
};

use super::{
    pages::Pages,
    progress::{JournalProgress, PageProgress},
};

/// How often a journal is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is new of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Update {
    /// How far it is.
    pub progress: Option<PageProgress>,
    /// Counts how often there was something new for the report to show.
    pub documents: u64,
    /// It has ended, or was cut off.
    pub done: bool,
}

/// Those that are followed now.
#[derive(Debug, Default, Clone)]
pub(super) struct Followed(Arc<Mutex<HashMap<PathBuf, watch::Sender<Update>>>>);

impl Followed {
    /// Listens to a run, which is followed from now on.
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

    /// Whether no browser reads it any more: then it is taken out.
    fn is_over(&self, run: &Path, sender: &watch::Sender<Update>) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = sender.receiver_count() == 0 || sender.borrow().done;
        if over {
            all.remove(run);
        }
        over
    }

    /// Who listens next begins anew.
    fn forget(&self, run: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}

async fn follow(run: PathBuf, sender: watch::Sender<Update>, followed: Followed, pages: Pages) {
    let mut tail = None;
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut has_more, mut due) = (false, Instant::now());
    while !followed.is_over(&run, &sender) {
        ticks.tick().await;
        let path = run.clone();
        let Ok((looked, kept)) = tokio::task::spawn_blocking(move || look(&path, tail)).await else {
            followed.forget(&run);
            break;
        };
        tail = kept;
        has_more |= looked.has_more;
        // At the end whoever listens asks for the page again anyway.
        let is_due = has_more && !looked.done && due <= Instant::now();
        if is_due {
            (has_more, due) = (false, Instant::now() + pages.pause(&run));
        }
        sender.send_if_modified(|live| {
            let documents = live.documents + u64::from(is_due);
            let now = Update { progress: looked.progress, documents, done: looked.done };
            let is_new = *live != now;
            *live = now;
            is_new
        });
    }
}

/// What a look found.
#[derive(Debug, Default)]
struct Looked {
    progress: Option<PageProgress>,
    has_more: bool,
    done: bool,
}

/// Where the last look ended.
#[derive(Debug)]
struct Tail {
    journal: PathBuf,
    read: u64,
    progress: JournalProgress,
}

fn look(run: &Path, tail: Option<Tail>) -> (Looked, Option<Tail>) {
    // Asked first: what is written after this is of a run that has ended, and is read all the same.
    let done = !folder::is_being_written(run);
    let tail = match tail {
        Some(tail) => Ok(tail),
        None => Tail::open(run),
    };
    match tail {
        Ok(mut tail) => {
            // What cannot be read now may be at the next look; the report says what is damaged.
            let has_more = tail.read_more().unwrap_or(false);
            (Looked { progress: Some(tail.progress.now()), has_more, done }, Some(tail))
        }
        Err(_) => (Looked { progress: None, has_more: false, done }, None),
    }
}

impl Tail {
    fn open(run: &Path) -> Result<Tail, FolderError> {
        let progress = JournalProgress::of(folder::read_header(run)?.plan);
        Ok(Tail { journal: folder::journal_path(run), read: 0, progress })
    }

    /// Whether the report has more to show.
    fn read_more(&mut self) -> io::Result<bool> {
        let mut file = File::open(&self.journal)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = folder::whole(&bytes);
        self.read += whole as u64;
        let lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        // Every browser receives it.
        Ok(lines.fold(false, |more, line| self.progress.on_line(line) | more))
    }
}
