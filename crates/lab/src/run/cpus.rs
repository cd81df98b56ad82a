//! Which CPUs the services run on and which the generator: apart, wherever there are two.

use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};

/// CPUs by their numbers in the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinning {
    /// The service that is being measured runs here.
    pub server: Vec<usize>,
    /// The generator runs here.
    pub generator: Vec<usize>,
}

impl Pinning {
    /// `server_threads` CPUs for the service and `generator_threads` for the generator where there are so many, else
    /// a fair share of those there are. With a single CPU both share it.
    pub fn choose(cpus: &[usize], server_threads: usize, generator_threads: usize) -> Pinning {
        if let [only] = cpus {
            return Pinning { server: vec![*only], generator: vec![*only] };
        }
        let wanted = server_threads + generator_threads;
        let server = match wanted <= cpus.len() {
            true => server_threads,
            false => (cpus.len() * server_threads / wanted).clamp(1, cpus.len() - 1),
        };
        let generator = generator_threads.min(cpus.len() - server);
        Pinning { server: cpus[..server].to_vec(), generator: cpus[server..server + generator].to_vec() }
    }

    /// Each CPU once.
    pub fn all(&self) -> Vec<usize> {
        let mut cpus = [self.server.as_slice(), &self.generator].concat();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// True where the two cannot disturb each other's CPU.
    pub fn apart(&self) -> bool {
        !self.server.iter().any(|cpu| self.generator.contains(cpu))
    }
}

/// The CPUs that this process may use.
pub fn available() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let found: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    if found.is_empty() { vec![0] } else { found }
}

/// How long `cpus` have idled together since the machine started, in nanoseconds, from /proc/stat. The kernel counts
/// in ticks of 10 ms: over one slice this is coarse, over a row's slices it is not.
pub fn idle_ns(cpus: &[usize]) -> Option<u64> {
    idle_ns_in(&std::fs::read_to_string("/proc/stat").ok()?, cpus)
}

/// Fields of a line: name, user, nice, system, idle, iowait, ...
fn idle_ns_in(stat: &str, cpus: &[usize]) -> Option<u64> {
    const TICK_NS: u64 = 10_000_000;
    let idle = |cpu: &usize| -> Option<u64> {
        let name = format!("cpu{cpu} ");
        let line = stat.lines().find_map(|line| line.strip_prefix(&name))?;
        let fields: Vec<u64> = line.split_ascii_whitespace().filter_map(|field| field.parse().ok()).collect();
        Some(fields.get(3)? + fields.get(4)?)
    };
    cpus.iter().map(idle).sum::<Option<u64>>().map(|ticks| ticks * TICK_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_read_for_the_cpus_asked_for() {
        let stat = "cpu  9 9 9 9 9\ncpu0 1 2 3 400 5 6\ncpu1 1 2 3 100 0 6\nintr 5\n";
        assert_eq!(idle_ns_in(stat, &[0]), Some(4_050_000_000));
        assert_eq!(idle_ns_in(stat, &[0, 1]), Some(5_050_000_000));
        assert_eq!(idle_ns_in(stat, &[7]), None);
        assert!(idle_ns(&available()[..1]).is_some());
    }

    #[test]
    fn server_and_generator_are_kept_apart() {
        let check = |cpus: &[usize], threads: (usize, usize), server: &[usize], generator: &[usize]| {
            let pinning = Pinning::choose(cpus, threads.0, threads.1);
            assert_eq!((pinning.server.as_slice(), pinning.generator.as_slice()), (server, generator));
        };
        check(&[0], (1, 1), &[0], &[0]);
        check(&[0, 1], (1, 1), &[0], &[1]);
        check(&[0, 1], (4, 1), &[0], &[1]);
        check(&[0, 1], (1, 4), &[0], &[1]);
        check(&[0, 1, 2, 3, 4, 5, 6, 7], (4, 2), &[0, 1, 2, 3], &[4, 5]);
        check(&[2, 5, 6, 7], (6, 2), &[2, 5, 6], &[7]);
    }
}
