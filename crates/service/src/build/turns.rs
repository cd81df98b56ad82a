//! Turns of steps that compute, so that a build may fetch while others compile.

use std::{
    fs,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Free memory required to begin a step beside another one. The largest known builds (C++ templates, a JVM
/// compiler) need 1 to 1.5 GB.
const MEMORY_BYTES_FREE: u64 = 2 << 30;
/// Pause between two checks of the memory, and of an interrupt.
const PAUSE: Duration = Duration::from_millis(200);

/// The steps that run.
#[derive(Debug)]
pub(super) struct Turns {
    running: Mutex<RunningSteps>,
    ended: Condvar,
}

#[derive(Debug)]
struct RunningSteps {
    steps: usize,
    most: usize,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a>(&'a Turns);

impl Default for Turns {
    /// As many at a time as ask.
    fn default() -> Turns {
        Turns { running: Mutex::new(RunningSteps { steps: 0, most: usize::MAX }), ended: Condvar::new() }
    }
}

impl Turns {
    pub(super) fn allow(&self, most: usize) {
        self.running().most = most.max(1);
    }

    /// Waits for a turn and for free memory. A step that would run alone waits for no memory. Absent after an interrupt.
    pub(super) fn take(&self, interrupt: &AtomicBool) -> Option<Turn<'_>> {
        let mut running = self.running();
        loop {
            let has_memory = || memory_bytes_available().is_none_or(|bytes| bytes >= MEMORY_BYTES_FREE);
            if running.steps < running.most && (running.steps == 0 || has_memory()) {
                running.steps += 1;
                return Some(Turn(self));
            }
            if interrupt.load(Ordering::Relaxed) {
                return None;
            }
            running = self.ended.wait_timeout(running, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn running(&self) -> MutexGuard<'_, RunningSteps> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.running().steps -= 1;
        self.0.ended.notify_one();
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
    fn a_turn_is_free_again_once_it_is_dropped_and_a_wait_can_be_interrupted() {
        let (turns, interrupted) = (Turns::default(), AtomicBool::new(true));
        turns.allow(1);
        let first = turns.take(&interrupted).expect("one that runs alone waits for nothing");
        assert!(turns.take(&interrupted).is_none());
        drop(first);
        assert!(turns.take(&interrupted).is_some());
    }

    #[test]
    fn a_turn_is_handed_on() {
        let (turns, never) = (Turns::default(), AtomicBool::new(false));
        turns.allow(1);
        let busy = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _turn = turns.take(&never).unwrap();
                    assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::sleep(Duration::from_millis(2));
                    busy.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
    }

    #[test]
    fn every_linux_reports_its_available_memory() {
        assert!(memory_bytes_available().is_some_and(|bytes| bytes > 1 << 20));
    }
}
