//! Looks at the service of a slice, for whoever runs the slices: what it saw, or why it could not, is taken from it afterwards.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tare_bench::executor::SliceProfiler;

use crate::sample::{Looked, SampleError, Sampler, Sampling};

/// Shared by the slices, which begin and end looks, and their owner.
#[derive(Debug, Clone)]
pub(crate) struct Looker(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    sampler: Sampler,
    /// Whether the next slice is sampled.
    is_on: bool,
    look: Option<Sampling>,
    found: Option<Result<Looked, SampleError>>,
}

impl Looker {
    pub(crate) fn new(sampler: Sampler) -> Looker {
        Looker(Arc::new(Mutex::new(State { sampler, is_on: false, look: None, found: None })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the next slices are sampled.
    pub(crate) fn switch(&self, is_on: bool) {
        self.state().is_on = is_on;
    }

    /// How services are sampled from the next slice on.
    pub(crate) fn set(&self, change: impl FnOnce(&mut Sampler)) {
        change(&mut self.state().sampler);
    }

    pub(crate) fn sampler(&self) -> Sampler {
        self.state().sampler
    }

    /// What the last slice showed; `None` if it was not sampled.
    pub(crate) fn take(&self) -> Result<Option<Looked>, SampleError> {
        self.state().found.take().transpose()
    }
}

impl SliceProfiler for Looker {
    fn begins(&mut self, _row: usize, pids: &[u32]) {
        let mut state = self.state();
        if !state.is_on {
            return;
        }
        match state.sampler.begin(pids) {
            Ok(look) => state.look = Some(look),
            Err(error) => state.found = Some(Err(error)),
        }
    }

    fn ended(&mut self, _row: usize, pids: &[u32]) {
        let mut state = self.state();
        if let Some(look) = state.look.take() {
            state.found = Some(look.end(pids));
        }
    }
}
