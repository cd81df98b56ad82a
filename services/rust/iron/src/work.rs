//! The simulated work on a message.

use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// As many messages are worked on at once as there are slots; the other threads wait for one.
pub struct Work {
    free: Mutex<usize>,
    freed: Condvar,
    delay: Duration,
}

impl Work {
    pub fn new(slots: usize, delay: Duration) -> Self {
        Self { free: Mutex::new(slots), freed: Condvar::new(), delay }
    }

    pub fn wait(&self) {
        let free = self.free.lock().expect("no thread panics with the lock");
        let mut free =
            self.freed.wait_while(free, |free| *free == 0).expect("no thread panics with the lock");
        *free -= 1;
        drop(free);

        thread::sleep(self.delay);

        *self.free.lock().expect("no thread panics with the lock") += 1;
        self.freed.notify_one();
    }
}
