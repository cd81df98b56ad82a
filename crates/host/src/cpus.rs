//! The CPUs of the services and of the generator (different ones if there are at least two), and the kernel's
//! counters of them.

use crate::run_clock::{RUN_ERROR_NS, RunClock};
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};

/// CPUs by their numbers in the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinning {
    pub server: Vec<usize>,
    pub generator: Vec<usize>,
}

impl Pinning {
    /// `server_threads` CPUs for the service and `generator_threads` for the generator. A machine with fewer CPUs divides
    /// them in that proportion, with at least one each; on a single CPU both run on it.
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

    /// For servers whose CPUs Tare does not choose. The generator gets CPUs that the server may not use, if
    /// there are enough for its threads. Otherwise it shares the last ones.
    pub fn beside(server: &[usize], cpus: &[usize], generator_threads: usize) -> Pinning {
        let free: Vec<usize> = cpus.iter().copied().filter(|cpu| !server.contains(cpu)).collect();
        let wanted = generator_threads.min(cpus.len());
        if free.len() >= wanted {
            return Pinning { server: server.to_vec(), generator: free[..wanted].to_vec() };
        }
        let generator = cpus[cpus.len() - wanted..].to_vec();
        // If both share CPUs, each is counted once: the generator's CPUs are among the server's.
        let both = Pinning { server: server.to_vec(), generator: generator.clone() }.all();
        Pinning { server: both, generator }
    }

    pub fn all(&self) -> Vec<usize> {
        let mut cpus = [self.server.as_slice(), &self.generator].concat();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// Adds counts of both sets of CPUs. If they share CPUs, the server's count includes the generator's.
    fn sum(&self, server: u64, generator: u64) -> u64 {
        if self.apart() { server + generator } else { server }
    }

    /// Whether service and generator have no CPU in common.
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

/// The first CPU of each core. A CPU whose core the kernel does not report counts as a core of its own.
pub fn one_of_each_core(cpus: &[usize]) -> Vec<usize> {
    let siblings = |cpu: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
    };
    first_of_each(cpus, siblings)
}

fn first_of_each(cpus: &[usize], core: impl Fn(usize) -> Option<String>) -> Vec<usize> {
    let mut seen = std::collections::BTreeSet::new();
    cpus.iter().copied().filter(|cpu| core(*cpu).is_none_or(|core| seen.insert(core))).collect()
}

/// The unit of `/proc/stat` (`USER_HZ`), which does not depend on the kernel's own tick. A difference of two readings may be
/// off by one unit for each CPU.
pub const TICK_NS: u64 = 10_000_000;

/// How a set of CPUs spent its time according to `/proc/stat`, summed over the CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// Running tasks, in user mode and in the kernel.
    pub tasks_ns: u64,
    /// Interrupts and softirqs, which do most of the receiving over loopback.
    pub softirq_ns: u64,
    /// Idle, including waiting for I/O.
    pub idle_ns: u64,
    /// Stolen: the hypervisor ran another guest meanwhile.
    pub steal_ns: u64,
}

impl CpuTimes {
    /// Fields of a line: user, nice, system, idle, iowait, irq, softirq, steal.
    fn of_line(line: &str) -> Option<CpuTimes> {
        let ticks: Vec<u64> = line.split_ascii_whitespace().filter_map(|field| field.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else { return None };
        let ns =
            |ticks: &[u64]| ticks.iter().fold(0, |sum: u64, n| sum.saturating_add(n.saturating_mul(TICK_NS)));
        Some(CpuTimes {
            tasks_ns: ns(&[user, nice, system]),
            softirq_ns: ns(&[irq, softirq]),
            idle_ns: ns(&[idle, iowait]),
            steal_ns: ns(&[steal]),
        })
    }

    /// The sum over `cpus`; absent if the text lacks one of them.
    fn of(stat: &str, cpus: &[usize]) -> Option<CpuTimes> {
        let of_cpu = |cpu: &usize| {
            let name = format!("cpu{cpu} ");
            CpuTimes::of_line(stat.lines().find_map(|line| line.strip_prefix(&name))?)
        };
        cpus.iter().map(of_cpu).try_fold(CpuTimes::default(), |sum, times| Some(sum.plus(&times?)))
    }

    /// The times of all CPUs of the machine together.
    pub(crate) fn of_machine() -> Option<CpuTimes> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        CpuTimes::of_line(stat.lines().find_map(|line| line.strip_prefix("cpu "))?)
    }

    fn each(&self, other: &CpuTimes, of: fn(u64, u64) -> u64) -> CpuTimes {
        CpuTimes {
            tasks_ns: of(self.tasks_ns, other.tasks_ns),
            softirq_ns: of(self.softirq_ns, other.softirq_ns),
            idle_ns: of(self.idle_ns, other.idle_ns),
            steal_ns: of(self.steal_ns, other.steal_ns),
        }
    }

    pub fn plus(&self, other: &CpuTimes) -> CpuTimes {
        self.each(other, u64::saturating_add)
    }

    /// Time that was not idle; stolen time counts as busy.
    pub fn busy_ns(&self) -> u64 {
        self.tasks_ns + self.softirq_ns + self.steal_ns
    }

    /// The difference from an earlier reading. It saturates at 0, since the kernel's idle time may go back a little.
    fn since(&self, before: &CpuTimes) -> CpuTimes {
        self.each(before, u64::saturating_sub)
    }
}

/// How the measured CPUs spent the time between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuAccounting {
    /// Wall time between the readings.
    pub wall_ns: u64,
    pub server: CpuTimes,
    /// CPUs of the generator; the same as the service's if they share them.
    pub generator: CpuTimes,
    /// Time during which at least one task of this machine waited for a CPU (PSI); absent if the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure_ns: Option<u64>,
    /// Run time of all tasks by the scheduler's clock; absent if not reported, and from older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Ran>,
}

/// Run time of all tasks on the measured CPUs, without stolen time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub server_ns: u64,
    pub generator_ns: u64,
}

impl Ran {
    fn of(all: &[u64], pinning: &Pinning) -> Option<Ran> {
        let sum = |cpus: &[usize]| cpus.iter().map(|cpu| all.get(*cpu).copied()).sum::<Option<u64>>();
        Some(Ran { server_ns: sum(&pinning.server)?, generator_ns: sum(&pinning.generator)? })
    }

    fn since(self, before: Ran) -> Ran {
        Ran {
            server_ns: self.server_ns.saturating_sub(before.server_ns),
            generator_ns: self.generator_ns.saturating_sub(before.generator_ns),
        }
    }
}

/// One reading of the kernel's CPU counters: their values up to now.
#[derive(Debug, Clone, Copy)]
pub struct Reading(CpuAccounting);

impl Reading {
    /// Reads `/proc/stat` once for all CPUs, and the pressure. `now_ns` comes from a monotonic clock.
    pub fn take(pinning: &Pinning, now_ns: u64) -> Option<Reading> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        Some(Reading(CpuAccounting {
            wall_ns: now_ns,
            server: CpuTimes::of(&stat, &pinning.server)?,
            generator: CpuTimes::of(&stat, &pinning.generator)?,
            pressure_ns: std::fs::read_to_string("/proc/pressure/cpu").ok().as_deref().and_then(pressure_ns),
            ran: RunClock::here().and_then(RunClock::read).and_then(|all| Ran::of(&all, pinning)),
        }))
    }

    /// The difference from the reading `before`.
    pub fn since(&self, Reading(before): &Reading) -> CpuAccounting {
        let pressure = self.0.pressure_ns.zip(before.pressure_ns);
        CpuAccounting {
            wall_ns: self.0.wall_ns.saturating_sub(before.wall_ns),
            server: self.0.server.since(&before.server),
            generator: self.0.generator.since(&before.generator),
            pressure_ns: pressure.map(|(after, before)| after.saturating_sub(before)),
            ran: self.0.ran.zip(before.ran).map(|(after, before)| after.since(before)),
        }
    }
}

impl CpuAccounting {
    /// The sum over all measured CPUs, each counted once.
    pub fn all(&self, pinning: &Pinning) -> CpuTimes {
        if pinning.apart() { self.server.plus(&self.generator) } else { self.server }
    }

    /// Interference: CPU time that was neither idle nor used by service or generator (`own_ns`). It includes
    /// stolen time. May be slightly negative, by [`CpuAccounting::error_ns`].
    pub fn foreign_ns(&self, pinning: &Pinning, own_ns: u64) -> i64 {
        let taken_ns = match self.ran {
            Some(ran) => pinning.sum(ran.server_ns, ran.generator_ns) + self.stolen_ns(pinning),
            None => (self.wall_ns * pinning.all().len() as u64).saturating_sub(self.all(pinning).idle_ns),
        };
        taken_ns.cast_signed() - own_ns.cast_signed()
    }

    /// Time that the hypervisor took. The kernel reports it in ticks, so a short interval may get one tick
    /// too many. No task runs in stolen time, so the time in which the CPUs ran no task is its upper limit.
    pub fn stolen_ns(&self, pinning: &Pinning) -> u64 {
        let Some(ran) = self.ran else { return self.all(pinning).steal_ns };
        let on = |cpus: &[usize], ran_ns: u64, steal_ns: u64| {
            steal_ns.min((self.wall_ns * cpus.len() as u64).saturating_sub(ran_ns))
        };
        let server_ns = on(&pinning.server, ran.server_ns, self.server.steal_ns);
        pinning.sum(server_ns, on(&pinning.generator, ran.generator_ns, self.generator.steal_ns))
    }

    /// Largest error of interference and stolen time, from the resolution of the counters.
    pub fn error_ns(&self, pinning: &Pinning) -> u64 {
        let of_cpu_ns = if self.ran.is_some() { RUN_ERROR_NS } else { TICK_NS };
        of_cpu_ns * pinning.all().len() as u64
    }
}

/// Reads a line such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS`.
fn pressure_ns(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_generator_avoids_the_cpus_of_a_server_that_chose_its_own() {
        let of = |server: &[usize], cpus: &[usize], threads| {
            let Pinning { server, generator } = Pinning::beside(server, cpus, threads);
            (server, generator)
        };
        assert_eq!(of(&[0], &[0, 1], 1), (vec![0], vec![1]));
        assert_eq!(of(&[0, 1], &[0, 1], 1), (vec![0, 1], vec![1]), "shared");
        assert_eq!(of(&[1, 2], &[0, 1, 2, 3], 3), (vec![1, 2, 3], vec![1, 2, 3]));
        assert_eq!(of(&[0], &[0], 2), (vec![0], vec![0]));
    }

    #[test]
    fn times_are_read_for_the_cpus_asked_for() {
        let stat = "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 400 5 6 7 8 0 0\ncpu1 1 2 3 100 0 6 1 0 0 0\nintr 5\n";
        let ns = |tasks, softirq, idle, steal| CpuTimes {
            tasks_ns: tasks * TICK_NS,
            softirq_ns: softirq * TICK_NS,
            idle_ns: idle * TICK_NS,
            steal_ns: steal * TICK_NS,
        };
        assert_eq!(CpuTimes::of(stat, &[0]), Some(ns(6, 13, 405, 8)));
        assert_eq!(CpuTimes::of(stat, &[0, 1]), Some(ns(12, 20, 505, 8)));
        assert_eq!(CpuTimes::of(stat, &[7]), None);
        assert_eq!(CpuTimes::of("cpu0 1 2 3\n", &[0]), None, "a kernel that reports less");
        assert_eq!(ns(6, 13, 405, 8).since(&ns(1, 3, 406, 8)), ns(5, 10, 0, 0));
    }

    #[test]
    fn what_is_neither_idle_nor_own_is_interference() {
        let pinning = Pinning { server: vec![0], generator: vec![1] };
        let idle = |idle_ns| CpuTimes { idle_ns, ..CpuTimes::default() };
        let accounting =
            CpuAccounting { wall_ns: 100, server: idle(10), generator: idle(40), ..CpuAccounting::default() };
        assert_eq!(accounting.foreign_ns(&pinning, 130), 20);
        assert_eq!(accounting.foreign_ns(&pinning, 155), -5);
        let shared = Pinning { server: vec![0], generator: vec![0] };
        assert_eq!(accounting.foreign_ns(&shared, 70), 20, "one CPU is counted once");
    }

    /// 50 ms on two CPUs: 3 ms are stolen from the service's, another program uses 5 ms of the generator's.
    #[test]
    fn the_scheduler_knows_what_ticks_do_not() {
        let pinning = Pinning { server: vec![0], generator: vec![1] };
        const MS: u64 = 1_000_000;
        let stolen = CpuTimes { steal_ns: TICK_NS, ..CpuTimes::default() };
        let ticks = CpuAccounting { wall_ns: 50 * MS, server: stolen, ..CpuAccounting::default() };
        let own_ns = (47 + 45) * MS;
        assert_eq!((ticks.foreign_ns(&pinning, own_ns), ticks.stolen_ns(&pinning)), (8_000_000, TICK_NS));
        let ran = Some(Ran { server_ns: 47 * MS, generator_ns: 50 * MS });
        let counted = CpuAccounting { ran, ..ticks };
        assert_eq!((counted.foreign_ns(&pinning, own_ns), counted.stolen_ns(&pinning)), (8_000_000, 3 * MS));
        // This CPU was idle for the rest, so the whole tick may have been stolen.
        let idle = Some(Ran { server_ns: 20 * MS, generator_ns: 50 * MS });
        assert_eq!(CpuAccounting { ran: idle, ..ticks }.stolen_ns(&pinning), TICK_NS);
        assert_eq!([ticks, counted].map(|found| found.error_ns(&pinning)), [20 * MS, 8 * MS]);
        let shared = Pinning { server: vec![0], generator: vec![0] };
        let ran = Some(Ran { server_ns: 50 * MS, generator_ns: 50 * MS });
        assert_eq!(CpuAccounting { ran, ..ticks }.foreign_ns(&shared, 40 * MS), 10_000_000);
    }

    #[test]
    fn the_counters_of_this_machine_can_be_read() {
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

    #[test]
    fn a_core_with_two_threads_counts_once() {
        let core = |cpu: usize| (cpu < 6).then(|| format!("{},{}", cpu % 3, cpu % 3 + 3));
        assert_eq!(first_of_each(&[0, 1, 2, 3, 4, 5, 6, 7], core), [0, 1, 2, 6, 7]);
        assert_eq!(first_of_each(&[4, 1, 5], core), [4, 5], "of those that may be used");
        assert!(!one_of_each_core(&available()).is_empty());
    }

    /// One line of `/proc/stat` for each list of counters, as the kernel prints it.
    fn stat_of(cpus: &[[u32; 8]]) -> String {
        let fields = |ticks: &[u32; 8]| ticks.map(|tick| tick.to_string()).join(" ");
        let lines =
            cpus.iter().enumerate().map(|(number, ticks)| format!("cpu{number} {} 0 0\n", fields(ticks)));
        format!("cpu  1 1 1 1 1 1 1 1 0 0\n{}intr 7\nctxt 8\n", lines.collect::<String>())
    }

    proptest! {
        #[test]
        fn every_tick_of_a_cpu_is_in_one_part(cpus in proptest::collection::vec(any::<[u32; 8]>(), 1..14)) {
            let all: Vec<usize> = (0..cpus.len()).collect();
            let times = CpuTimes::of(&stat_of(&cpus), &all).unwrap();
            let ticks: u64 = cpus.iter().flatten().map(|tick| u64::from(*tick)).sum();
            prop_assert_eq!(times.busy_ns() + times.idle_ns, ticks * TICK_NS);
            let last = CpuTimes::of(&stat_of(&cpus), &all[cpus.len() - 1..]).unwrap();
            prop_assert_eq!(last.steal_ns, u64::from(cpus[cpus.len() - 1][7]) * TICK_NS, "cpu1 is not cpu11");
        }

        #[test]
        fn no_file_of_the_kernel_is_too_much(text in "(some |cpu0 )?[a-z0-9 =.\n-]{0,80}") {
            let _any = (CpuTimes::of(&text, &[0]), pressure_ns(&text));
        }

        #[test]
        fn a_machine_is_divided_without_rest_or_overlap(
            count in 1_usize..40, first in 0_usize..9, server in 1_usize..50, generator in 1_usize..50,
        ) {
            let cpus: Vec<usize> = (first..first + count).collect();
            let pinning = Pinning::choose(&cpus, server, generator);
            prop_assert!((1..=server).contains(&pinning.server.len()));
            prop_assert!((1..=generator).contains(&pinning.generator.len()));
            prop_assert!(pinning.all().iter().all(|cpu| cpus.contains(cpu)));
            prop_assert_eq!(pinning.apart(), count > 1);
            if server + generator >= count {
                prop_assert_eq!(pinning.all(), cpus, "no CPU is left idle");
            }
        }
    }

    #[test]
    fn the_largest_counters_saturate() {
        let line = format!("cpu0 {}", [u64::MAX.to_string().as_str(); 8].join(" "));
        let times = CpuTimes::of(&line, &[0]).unwrap();
        assert_eq!((times.tasks_ns, times.plus(&times).idle_ns), (u64::MAX, u64::MAX));
        assert_eq!(pressure_ns(&format!("some total={}", u64::MAX)), None);
    }

    #[test]
    fn pressure_is_absent_unless_both_readings_have_it() {
        let reading = |now_ns, pressure_ns| {
            Reading(CpuAccounting { wall_ns: now_ns, pressure_ns, ..CpuAccounting::default() })
        };
        let (none, early, late) = (reading(0, None), reading(5, Some(30)), reading(9, Some(70)));
        assert_eq!(late.since(&early).pressure_ns, Some(40));
        assert_eq!((late.since(&none).pressure_ns, none.since(&early).pressure_ns), (None, None));
        assert_eq!(none.since(&early).wall_ns, 0, "readings in the wrong order");
    }

    #[test]
    fn accounting_without_pressure_is_read_as_it_was_written() {
        let accounting = CpuAccounting { wall_ns: 7, ..CpuAccounting::default() };
        let json = serde_json::to_string(&accounting).unwrap();
        assert!(!json.contains("pressure"), "{json}");
        assert_eq!(serde_json::from_str::<CpuAccounting>(&json).unwrap(), accounting);
    }
}
