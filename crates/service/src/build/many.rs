//! Builds several services side by side, as far as memory allows.

use std::{
    fs,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tare_host::threads;

use super::{BuildError, Builder, Built, Site};
use crate::catalogue::Service;

/// Free memory required to begin a build beside another one. The largest known builds (C++ templates, a JVM
/// compiler) need 1 to 1.5 GB.
const MEMORY_BYTES_FREE: u64 = 2 << 30;
/// Pause between two checks of the memory.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Clone, Copy)]
pub struct BuildOptions<'a> {
    /// Most builds at a time.
    pub jobs: usize,
    /// Builds even if nothing has changed.
    pub force: bool,
    /// Called before each build: whether there is time to begin it.
    pub may_begin: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for BuildOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuildOptions")
            .field("jobs", &self.jobs)
            .field("force", &self.force)
            .finish_non_exhaustive()
    }
}

/// The state of the queue.
struct Queue {
    next: usize,
    running: usize,
}

/// Builds each of `services` once. Variants in one folder share one build, which the caller lists once.
/// `after` is called as each ends, with `None` for a build that did not begin.
pub fn build_many<'s>(
    builder: &Builder,
    services: &[&'s Service],
    site: &Site<'_>,
    many: BuildOptions<'_>,
    after: impl Fn(&'s Service, Option<Result<Built, BuildError>>) + Sync,
) {
    let queue = Mutex::new(Queue { next: 0, running: 0 });
    let work = || {
        while let Some(index) = take(&queue, services.len()) {
            let built = (many.may_begin)().then(|| builder.build(services[index], site, many.force));
            after(services[index], built);
            queue.lock().unwrap_or_else(PoisonError::into_inner).running -= 1;
        }
    };
    threads::on_several(many.jobs.clamp(1, services.len().max(1)), work);
}

/// The next service to build, once there is memory. A build that would run alone does not wait.
fn take(queue: &Mutex<Queue>, length: usize) -> Option<usize> {
    loop {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.next == length {
            return None;
        }
        if queue.running == 0 || memory_bytes_available().is_none_or(|bytes| bytes >= MEMORY_BYTES_FREE) {
            queue.running += 1;
            queue.next += 1;
            return Some(queue.next - 1);
        }
        drop(queue);
        std::thread::sleep(PAUSE);
    }
}

fn memory_bytes_available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_is_taken_once_and_the_first_needs_no_memory() {
        let queue = Mutex::new(Queue { next: 0, running: 0 });
        assert_eq!(take(&queue, 2), Some(0));
        queue.lock().unwrap().running = 0;
        assert_eq!((take(&queue, 2), take(&queue, 2)), (Some(1), None));
        assert_eq!(queue.lock().unwrap().running, 1, "the end of the list starts nothing");
    }

    #[test]
    fn every_linux_reports_its_available_memory() {
        assert!(memory_bytes_available().is_some_and(|bytes| bytes > 1 << 20));
    }
}
