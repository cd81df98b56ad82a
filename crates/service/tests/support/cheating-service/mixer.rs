//! Swaps one in 200 answers with a concurrent one. A single client never notices.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cheat::Cheat;
use crate::http::Response;

const EVERY: u64 = 200;
/// How long an answer waits for another one.
const PATIENCE: Duration = Duration::from_millis(20);

pub(crate) struct Mixer {
    is_on: bool,
    state: Mutex<State>,
    swapped: Condvar,
}

#[derive(Default)]
struct State {
    answers: u64,
    waiting: Option<Response>,
    /// The replacement for the waiting answer.
    other: Option<Response>,
}

impl Mixer {
    pub(crate) fn new(cheat: Cheat) -> Mixer {
        Mixer { is_on: cheat == Cheat::MixesUp, state: Mutex::default(), swapped: Condvar::new() }
    }

    /// Returns this answer, or the answer to another request.
    pub(crate) fn mix(&self, own: Response) -> Response {
        if !self.is_on {
            return own;
        }
        let mut state: MutexGuard<'_, State> = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = state.waiting.take() {
            state.other = Some(own);
            self.swapped.notify_all();
            return waiting;
        }
        state.answers += 1;
        if !state.answers.is_multiple_of(EVERY) || state.other.is_some() {
            return own;
        }
        state.waiting = Some(own.clone());
        let is_waiting = |state: &mut State| state.other.is_none();
        let waited = self.swapped.wait_timeout_while(state, PATIENCE, is_waiting);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting = None;
        state.other.take().unwrap_or(own)
    }
}
