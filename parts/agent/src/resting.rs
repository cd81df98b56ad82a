//! A controller between two loads. Agents drop a silent controller, and between the slices of an experiment
//! this process starts services, warms them up and stores records. So a thread keeps the connections alive
//! meanwhile: the agents remain reserved for this run, and a lost one is noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::control::{Control, ControlError};

/// How often the thread checks whether it should end.
const STEP: Duration = Duration::from_millis(20);

/// A controller that only keeps its connections alive.
#[derive(Debug)]
pub struct Resting {
    wakes: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Control, ControlError>>>,
}

impl Resting {
    #[must_use]
    pub fn of(mut control: Control) -> Resting {
        let wakes = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&wakes);
        let rest = move || {
            while !ends.load(Ordering::Relaxed) {
                control.rest(STEP)?;
            }
            Ok(control)
        };
        Resting { wakes, thread: Some(std::thread::spawn(rest)) }
    }

    /// Returns the controller for the next load.
    ///
    /// # Errors
    /// An agent was lost meanwhile.
    pub fn wake(mut self) -> Result<Control, ControlError> {
        self.end().unwrap_or(Err(ControlError::NoAgent))
    }

    fn end(&mut self) -> Option<Result<Control, ControlError>> {
        self.wakes.store(true, Ordering::Relaxed);
        let ended = self.thread.take()?.join();
        Some(ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for Resting {
    /// The run is over for its agents.
    fn drop(&mut self) {
        if let Some(Ok(control)) = self.end() {
            control.end();
        }
    }
}
