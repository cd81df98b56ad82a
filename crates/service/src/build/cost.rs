//! The cost of a build for a user of the framework: time, CPU, network, disk.

use std::{
    fs,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

/// Cost of a build. It is lower than on a new machine if the tools have caches of their own, and if crates were there that another
/// service had compiled.
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
    /// What of it went into crates that other services use too; absent if the build shares none. With it the cost depends on
    /// what was built before, except for [`BuildCost::own_cpu_seconds`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedCost>,
}

/// What a build spent on crates of registries, which it left for other services.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SharedCost {
    /// CPU time, with that of Cargo itself and of the crates' build scripts.
    pub cpu_seconds: f64,
    /// Number of crates that it compiled; those that were there are not counted.
    pub crates: u32,
}

impl BuildCost {
    pub(super) const NONE: BuildCost =
        BuildCost { seconds: 0.0, cpu_seconds: 0.0, download_bytes: Some(0), disk_bytes: 0, shared: None };

    /// Wall time and CPU time in seconds, if they depend on no other build.
    pub fn whole(&self) -> Option<[f64; 2]> {
        self.shared.is_none().then_some([self.seconds, self.cpu_seconds])
    }

    /// CPU time of the service's own code, with linking, which does not depend on the order of builds. Absent if the build shares
    /// nothing.
    pub fn own_cpu_seconds(&self) -> Option<f64> {
        Some(self.cpu_seconds - self.shared?.cpu_seconds)
    }

    /// Adds what another step spent on shared crates.
    pub(super) fn add_shared(&mut self, more: SharedCost) {
        let SharedCost { cpu_seconds, crates } =
            self.shared.unwrap_or(SharedCost { cpu_seconds: 0.0, crates: 0 });
        self.shared =
            Some(SharedCost { cpu_seconds: cpu_seconds + more.cpu_seconds, crates: crates + more.crates });
    }
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
        let shared = Some(SharedCost { cpu_seconds: 2.0, crates: 3 });
        let cost = BuildCost { seconds: 1.5, cpu_seconds: 2.25, download_bytes: None, disk_bytes: 7, shared };
        assert_eq!((cost.own_cpu_seconds(), cost.whole()), (Some(0.25), None));
        let alone = BuildCost { shared: None, ..cost };
        assert_eq!((alone.own_cpu_seconds(), alone.whole()), (None, Some([1.5, 2.25])));
        assert_eq!(serde_json::from_str::<BuildCost>(&serde_json::to_string(&cost).unwrap()).unwrap(), cost);
    }
}
