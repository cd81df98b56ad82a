//! Documents of runs, and their pages. A run in progress is read again only if it has more to show, and so
//! rarely that reading takes a small part of one CPU.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tare_bench::folder;
use tare_report::{
    Document,
    document::Status,
    write::html::{self, Served},
};
use tokio::sync::OwnedMutexGuard;

use super::shelf::Stamp;
use crate::{command::run_folders::Place, parts::MERGED};

/// The shortest pause between two readings of a run in progress.
const PAUSE_MIN: Duration = Duration::from_secs(2);
/// The pause is also at least this many times the CPU time of the last reading. (Wall time would include
/// waiting for a CPU.)
const PAUSE_FACTOR: u32 = 20;
/// The most pages that are cached: a person looks at few.
const KEPT_MAX: usize = 4;

const NOTE: &str = "This run is being measured by the machine that shows it. tare serve gives way to the measurement; a \
    browser that draws this page does not, and takes CPU time from it.";

/// A run, and its most requested format.
#[derive(Debug)]
pub(super) struct Page {
    pub html: String,
    pub document: Document,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Pages {
    made: Arc<Mutex<HashMap<PathBuf, Made>>>,
    /// Held while reading a folder: one at a time. It is separate, so that cached pages need not wait.
    turn: Arc<tokio::sync::Mutex<()>>,
}

type Turn = OwnedMutexGuard<()>;

#[derive(Debug)]
struct Made {
    page: Arc<Page>,
    stamp: Stamp,
    running: bool,
    at: Instant,
    cpu: Duration,
}

impl Made {
    fn pause(&self) -> Duration {
        PAUSE_MIN.max(self.cpu * PAUSE_FACTOR)
    }

    fn is_good_at(&self, now: Instant, stamp: Stamp, running: bool) -> bool {
        self.running == running && (self.stamp == stamp || (running && now < self.at + self.pause()))
    }
}

impl Pages {
    /// How long to wait between two readings of a run in progress.
    pub(super) fn pause(&self, run: &Path) -> Duration {
        self.pages().get(run).map_or(PAUSE_MIN, Made::pause)
    }

    /// The cached page of a run, if it is up to date. It reads file metadata, so call it on a thread that may
    /// wait for a disk.
    pub(super) fn known(&self, run: &Path) -> Option<Arc<Page>> {
        let (at, stamp, running) = (Instant::now(), Stamp::of(run), folder::is_being_written(run));
        let pages = self.pages();
        let made = pages.get(run).filter(|made| made.is_good_at(at, stamp, running))?;
        Some(Arc::clone(&made.page))
    }

    /// Waits until a folder may be read, without blocking one of the few threads for requests.
    pub(super) async fn turn(&self) -> Turn {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// The page of a run, made now unless another request has made it. Call it on a thread that may block.
    pub(super) fn get(&self, name: &str, run: &Path, _turn: Turn) -> Result<Arc<Page>, String> {
        if let Some(page) = self.known(run) {
            return Ok(page);
        }
        let (stamp, running) = (Stamp::of(run), folder::is_being_written(run));
        let began = cpu_time();
        let page = Arc::new(make(name, run)?);
        let cpu = cpu_time().saturating_sub(began);
        let made = Made { page: Arc::clone(&page), stamp, running, at: Instant::now(), cpu };
        self.keep(run, made);
        Ok(page)
    }

    fn keep(&self, run: &Path, made: Made) {
        let mut pages = self.pages();
        pages.insert(run.to_owned(), made);
        while pages.len() > KEPT_MAX {
            let oldest = pages.iter().min_by_key(|(_, made)| made.at).map(|(path, _)| path.clone());
            oldest.map(|path| pages.remove(&path));
        }
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<PathBuf, Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn make(name: &str, run: &Path) -> Result<Page, String> {
    let mut document = MERGED.gather(run).map_err(|error| error.to_string())?;
    let running = document.status == Status::Running;
    if running {
        document.notes.insert(0, NOTE.to_owned());
    }
    let events = running.then(|| format!("{}/events", Place::link(name)));
    let served = Served { list: "/".to_owned(), events };
    let html = html::served(&document, &served).map_err(|error| error.to_string())?;
    Ok(Page { html, document })
}
