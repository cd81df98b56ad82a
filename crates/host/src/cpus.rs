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

/// What the kernel counts in: all that `/proc/stat` says is a multiple of it, whatever its own tick is. A difference of two
/// readings may be off by one of them for each CPU.
pub const TICK_NS: u64 = 10_000_000;

/// What some CPUs did together, in nanoseconds, as `/proc/stat` has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// Processes, in user mode and in the kernel.
    pub tasks_ns: u64,
    /// Interrupts and what they leave to do (softirq): most of receiving over loopback.
    pub softirq_ns: u64,
    /// Nothing.
    pub idle_ns: u64,
    /// Waited for a CPU that the hypervisor gave to somebody else.
    pub steal_ns: u64,
}

impl Times {
    /// Fields of a line: user, nice, system, idle, iowait, irq, softirq, steal.
    fn of_line(line: &str) -> Option<Times> {
        let ticks: Vec<u64> = line.split_ascii_whitespace().filter_map(|field| field.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else { return None };
        Some(Times {
            tasks_ns: (user + nice + system) * TICK_NS,
            softirq_ns: (irq + softirq) * TICK_NS,
            idle_ns: (idle + iowait) * TICK_NS,
            steal_ns: steal * TICK_NS,
        })
    }

    /// Of these CPUs together.
    fn of(stat: &str, cpus: &[usize]) -> Option<Times> {
        let of_cpu = |cpu: &usize| {
            let name = format!("cpu{cpu} ");
            Times::of_line(stat.lines().find_map(|line| line.strip_prefix(&name))?)
        };
        cpus.iter().map(of_cpu).try_fold(Times::default(), |sum, times| Some(sum.plus(&times?)))
    }

    fn each(&self, other: &Times, of: fn(u64, u64) -> u64) -> Times {
        Times {
            tasks_ns: of(self.tasks_ns, other.tasks_ns),
            softirq_ns: of(self.softirq_ns, other.softirq_ns),
            idle_ns: of(self.idle_ns, other.idle_ns),
            steal_ns: of(self.steal_ns, other.steal_ns),
        }
    }

    /// Both together.
    pub fn plus(&self, other: &Times) -> Times {
        self.each(other, |a, b| a + b)
    }

    /// All that was not idle, stolen time among it.
    pub fn busy_ns(&self) -> u64 {
        self.tasks_ns + self.softirq_ns + self.steal_ns
    }

    /// What came after `before`. The kernel lets idle time fall back by a little at times.
    fn since(&self, before: &Times) -> Times {
        self.each(before, u64::saturating_sub)
    }
}

/// What the measured CPUs did during a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Books {
    /// Between the two readings.
    pub wall_ns: u64,
    /// The service's CPUs.
    pub server: Times,
    /// The generator's CPUs, which are the same ones where both share them.
    pub generator: Times,
    /// How long somebody on this machine waited for a CPU (PSI); none where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure_ns: Option<u64>,
}

/// One look at the kernel's books.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    now_ns: u64,
    server: Times,
    generator: Times,
    pressure_ns: Option<u64>,
}

impl Reading {
    /// Reads `/proc/stat` once for all CPUs, and the pressure; `now_ns` is the time of a clock that only moves forward.
    pub fn take(pinning: &Pinning, now_ns: u64) -> Option<Reading> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        Some(Reading {
            now_ns,
            server: Times::of(&stat, &pinning.server)?,
            generator: Times::of(&stat, &pinning.generator)?,
            pressure_ns: std::fs::read_to_string("/proc/pressure/cpu").ok().as_deref().and_then(pressure_ns),
        })
    }

    /// What happened since `before`.
    pub fn since(&self, before: &Reading) -> Books {
        let pressure = self.pressure_ns.zip(before.pressure_ns);
        Books {
            wall_ns: self.now_ns.saturating_sub(before.now_ns),
            server: self.server.since(&before.server),
            generator: self.generator.since(&before.generator),
            pressure_ns: pressure.map(|(after, before)| after.saturating_sub(before)),
        }
    }
}

impl Books {
    /// What all measured CPUs did, each counted once.
    pub fn all(&self, pinning: &Pinning) -> Times {
        if pinning.apart() { self.server.plus(&self.generator) } else { self.server }
    }

    /// CPU time that others took: what was neither idle nor the service's or the generator's own. Below 0 where the
    /// ticks of idle time make it so.
    pub fn foreign_ns(&self, pinning: &Pinning, own_ns: u64) -> i64 {
        let all_ns = self.wall_ns * pinning.all().len() as u64;
        all_ns as i64 - (self.all(pinning).idle_ns + own_ns) as i64
    }
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS`.
fn pressure_ns(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()? * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_for_the_cpus_asked_for() {
        let stat = "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 400 5 6 7 8 0 0\ncpu1 1 2 3 100 0 6 1 0 0 0\nintr 5\n";
        let ns = |tasks, softirq, idle, steal| Times {
            tasks_ns: tasks * TICK_NS,
            softirq_ns: softirq * TICK_NS,
            idle_ns: idle * TICK_NS,
            steal_ns: steal * TICK_NS,
        };
        assert_eq!(Times::of(stat, &[0]), Some(ns(6, 13, 405, 8)));
        assert_eq!(Times::of(stat, &[0, 1]), Some(ns(12, 20, 505, 8)));
        assert_eq!(Times::of(stat, &[7]), None);
        assert_eq!(Times::of("cpu0 1 2 3\n", &[0]), None, "a kernel that tells less");
        assert_eq!(ns(6, 13, 405, 8).since(&ns(1, 3, 406, 8)), ns(5, 10, 0, 0));
    }

    #[test]
    fn what_is_neither_idle_nor_own_is_foreign() {
        let pinning = Pinning { server: vec![0], generator: vec![1] };
        let idle = |idle_ns| Times { idle_ns, ..Times::default() };
        let books = Books { wall_ns: 100, server: idle(10), generator: idle(40), ..Books::default() };
        assert_eq!(books.foreign_ns(&pinning, 130), 20);
        assert_eq!(books.foreign_ns(&pinning, 155), -5);
        let shared = Pinning { server: vec![0], generator: vec![0] };
        assert_eq!(books.foreign_ns(&shared, 70), 20, "one CPU is counted once");
    }

    #[test]
    fn this_machine_has_books() {
        let pinning = Pinning::choose(&available(), 1, 1);
        let before = Reading::take(&pinning, 1_000).unwrap();
        assert_eq!(Reading::take(&pinning, 3_000).unwrap().since(&before).wall_ns, 2_000);
    }

    #[test]
    fn pressure_is_the_total_of_some() {
        let text = "some avg10=0.00 avg60=1.50 avg300=2.00 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(pressure_ns(text), Some(123_000));
        assert_eq!(pressure_ns(""), None);
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
