//! The simulated work on a message.

use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time;

/// As many messages wait at once as there are slots; without a delay there is nothing to wait for.
pub struct Work(Option<(Semaphore, Duration)>);

impl Work {
    pub fn new(slots: usize, delay: Duration) -> Self {
        Self((!delay.is_zero()).then(|| (Semaphore::new(slots), delay)))
    }

    pub async fn wait(&self) {
        if let Some((slots, delay)) = &self.0 {
            let _slot = slots.acquire().await.expect("the semaphore is never closed");
            time::sleep(*delay).await;
        }
    }
}
