//! The cost of a build for a user of the framework: time, CPU, network, disk.

use std::{
    fs,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

/// Cost of a build from nothing. It is lower than on a new machine if the tools have caches of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct BuildCost {
    /// Wall time of its steps, without waiting for other builds.
    pub seconds: f64,
    /// CPU time of its steps.
    pub cpu_seconds: f64,
    /// Bytes that the machine received during steps with network; absent if the kernel does not count them.
    pub download_bytes: Option<u64>,
    /// Bytes on disk that the build left beside the sources.
    pub disk_bytes: u64,
}

impl BuildCost {
    pub(super) const NONE: BuildCost =
        BuildCost { seconds: 0.0, cpu_seconds: 0.0, download_bytes: Some(0), disk_bytes: 0 };
}

/// Allows one build at a time to use the network.
#[derive(Debug, Default)]
pub(super) struct Network(Mutex<()>);

impl Network {
    /// Runs `work` while no other build uses the network. Also returns the bytes received meanwhile.
    pub(super) fn alone<T>(&self, work: impl FnOnce() -> T) -> (T, Option<u64>) {
        let _turn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = received_bytes();
        let done = work();
        let bytes = before.zip(received_bytes()).map(|(before, after)| after.saturating_sub(before));
        (done, bytes)
    }
}

/// Bytes received by all interfaces except loopback.
fn received_bytes() -> Option<u64> {
    received(&fs::read_to_string("/proc/net/dev").ok()?)
}

fn received(table: &str) -> Option<u64> {
    let lines = table.lines().filter_map(|line| line.split_once(':'));
    let outside = lines.filter(|(name, _)| name.trim() != "lo");
    outside.map(|(_, counters)| counters.split_ascii_whitespace().next()?.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_no_download() {
        let table = "Inter-|   Receive                            |  Transmit\n \
            face |bytes    packets errs drop fifo frame compressed multicast|bytes\n    \
            lo: 900 1 0 0 0 0 0 0 900\n  eth0: 70 1 0 0 0 0 0 0 5\n  eth1:3 1 0\n";
        assert_eq!(received(table), Some(73));
        assert_eq!(received("  eth0: many"), None);
    }

    #[test]
    fn work_with_the_network_to_itself_does_not_overlap() {
        let network = Network::default();
        let busy = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    network.alone(|| {
                        assert_eq!(busy.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        std::thread::sleep(std::time::Duration::from_millis(2));
                        busy.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    })
                });
            }
        });
        assert_eq!(network.alone(|| 7).0, 7);
    }

    #[test]
    fn a_cost_is_read_as_it_was_written() {
        let cost = BuildCost { seconds: 1.5, cpu_seconds: 2.25, download_bytes: None, disk_bytes: 7 };
        assert_eq!(serde_json::from_str::<BuildCost>(&serde_json::to_string(&cost).unwrap()).unwrap(), cost);
    }
}
