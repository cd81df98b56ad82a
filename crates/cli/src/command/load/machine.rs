//! The CPU time during a load that neither the generator nor the server used.
//!
//! Tare did not start the server. The server consists of the processes that listen on its port, and their
//! descendants. If they are not visible, because another user owns them, or only forward to another server,
//! no statement about other processes is made.

use std::{collections::BTreeSet, fmt, time::Instant};

use tare_analysis::figures::{percent, time};
use tare_base::Endpoint;
use tare_bench::disturbance::{STOLEN_SHARE_MAX, TAKEN_SHARE_MAX, Taker};
use tare_host::{
    cpus::{self, CpuAccounting, Pinning, Reading},
    process::{Activity, Used, listeners, rss_bytes},
};

/// Programs that listen for a server in a container, in a virtual machine or on another host. Their CPU time
/// is not the server's.
const FORWARDERS: [&str; 9] = [
    "conmon",
    "docker-proxy",
    "kubectl",
    "passt",
    "pasta",
    "rootlesskit",
    "rootlessport",
    "slirp4netns",
    "ssh",
];

/// The number of other processes that are named, the busiest first.
const NAMED_MAX: usize = 3;

/// The state of the machine at the start of a load.
#[derive(Debug)]
pub(super) struct Before {
    servers: Vec<u32>,
    /// The server's processes and all of their descendants.
    family: BTreeSet<u32>,
    cpus: Pinning,
    began: Instant,
    reading: Option<Reading>,
    activity: Activity,
}

/// The CPU time that was used during a load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MachineUse {
    /// The other processes' share of all CPU time available to this program.
    pub others_share: f64,
    pub stolen_share: f64,
    /// The mean number of idle CPUs.
    pub idle_cpus: f64,
    /// The share of time in which some process waited for a CPU; `None` if the kernel does not report it.
    pub pressure_share: Option<f64>,
    /// The uncertainty of the first two shares.
    pub error_share: f64,
    pub busiest: Vec<Used>,
}

/// Other programs used so much that they may have changed the figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interference {
    pub taker: Taker,
    pub machine: MachineUse,
}

impl Before {
    pub(super) fn take(target: &Endpoint) -> Before {
        let all = cpus::available();
        let cpus = Pinning { server: all.clone(), generator: all };
        let mut servers = listeners(target);
        let (activity, began) = (Activity::read(), Instant::now());
        if servers.iter().any(|pid| activity.command(*pid).is_some_and(is_forwarder)) {
            servers.clear();
        }
        let family = activity.family(&servers);
        Before { reading: Reading::take(&cpus, 0), servers, family, cpus, began, activity }
    }

    /// Resident memory of the server's initial processes that are alive; `None` if they are not known.
    pub(super) fn rss_bytes(&self) -> Option<u64> {
        Some(rss_bytes(&self.family)).filter(|bytes| *bytes > 0)
    }

    /// The CPU time used since; `None` if the server's own share is not known.
    pub(super) fn since(&self) -> Option<MachineUse> {
        let wall_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let accounting = Reading::take(&self.cpus, wall_ns)?.since(self.reading.as_ref()?);
        let activity = Activity::read();
        let mut own = activity.family(&self.servers);
        own.extend(&self.family);
        own.insert(std::process::id());
        let (ours, others): (Vec<Used>, Vec<Used>) =
            activity.since(&self.activity).into_iter().partition(|used| own.contains(&used.process.pid));
        let alive_ns: u64 = ours.iter().map(|used| used.cpu_ns).sum();
        let own_ns = alive_ns + activity.waited_for_since(&self.activity, &own);
        (!self.servers.is_empty()).then(|| MachineUse::of(&accounting, &self.cpus, own_ns, others))
    }
}

/// Compares the name without its suffix, such as `.avx2` in `pasta.avx2`.
fn is_forwarder(command: &str) -> bool {
    FORWARDERS.contains(&command.split('.').next().unwrap_or_default())
}

impl MachineUse {
    fn of(accounting: &CpuAccounting, cpus: &Pinning, own_ns: u64, mut others: Vec<Used>) -> MachineUse {
        let wall_ns = accounting.wall_ns.max(1) as f64;
        let all_ns = wall_ns * cpus.all().len() as f64;
        others.truncate(NAMED_MAX);
        MachineUse {
            others_share: accounting.foreign_ns(cpus, own_ns).max(0) as f64 / all_ns,
            stolen_share: accounting.stolen_ns(cpus) as f64 / all_ns,
            idle_cpus: accounting.all(cpus).idle_ns as f64 / wall_ns,
            pressure_share: accounting.pressure_ns.map(|ns| ns as f64 / wall_ns),
            error_share: accounting.error_ns(cpus) as f64 / all_ns,
            busiest: others,
        }
    }

    /// Applies the rule of `tare run`, with one exception. Nothing is pinned here, so while a whole CPU is
    /// idle, other programs take nothing from the server or the generator.
    pub(super) fn interference(self, share_max: f64) -> Option<Interference> {
        let stolen_max = share_max * (STOLEN_SHARE_MAX / TAKEN_SHARE_MAX);
        let taker = if self.stolen_share - self.error_share > stolen_max {
            Taker::Hypervisor
        } else if self.others_share - self.error_share > share_max && self.idle_cpus < 1.0 {
            Taker::Others
        } else {
            return None;
        };
        Some(Interference { taker, machine: self })
    }
}

impl Interference {
    pub(super) fn share(&self) -> f64 {
        match self.taker {
            Taker::Others => self.machine.others_share,
            Taker::Hypervisor => self.machine.stolen_share,
        }
    }
}

impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = percent(self.share());
        match self.taker {
            Taker::Others => write!(f, "interference: other programs took {share} of this machine's CPUs")?,
            Taker::Hypervisor => {
                write!(f, "interference: the hypervisor took {share} of this machine's CPUs")?
            }
        }
        if let Some(share) = self.machine.pressure_share {
            write!(f, ", and some process waited for a CPU for {} of the time", percent(share.min(1.0)))?;
        }
        let named = |used: &Used| {
            let cpu_time = time(used.cpu_ns as f64);
            format!("{:?} (pid {}, {cpu_time} of CPU time)", used.process.command, used.process.pid)
        };
        let named: Vec<String> = self.machine.busiest.iter().map(named).collect();
        if self.taker == Taker::Others && !named.is_empty() {
            write!(f, "; the busiest: {}", named.join(", "))?;
        }
        f.write_str("; repeat it on a quiet machine, or allow more with --max-interference")
    }
}

#[cfg(test)]
mod tests {
    use tare_host::{cpus::CpuTimes, process::Process};

    use super::*;

    const MS: u64 = 1_000_000;

    /// One second on two CPUs.
    fn used(idle_ms: u64, own_ms: u64, steal_ms: u64) -> MachineUse {
        let cpus = Pinning { server: vec![0, 1], generator: vec![0, 1] };
        let times = CpuTimes {
            tasks_ns: (2_000 - idle_ms - steal_ms) * MS,
            idle_ns: idle_ms * MS,
            steal_ns: steal_ms * MS,
            ..CpuTimes::default()
        };
        let accounting = CpuAccounting {
            wall_ns: 1_000 * MS,
            server: times,
            generator: times,
            pressure_ns: Some(600 * MS),
            ran: None,
        };
        let process = |pid, command: &str| Process { pid, command: command.to_owned() };
        let others = vec![
            Used { process: process(7, "rustc"), cpu_ns: 800 * MS },
            Used { process: process(9, "make \u{1b}"), cpu_ns: 20 * MS },
        ];
        MachineUse::of(&accounting, &cpus, own_ms * MS, others)
    }

    fn taker(machine: MachineUse) -> Option<Taker> {
        machine.interference(TAKEN_SHARE_MAX).map(|found| found.taker)
    }

    #[test]
    fn others_interfere_only_if_they_took_what_was_wanted() {
        assert_eq!(taker(used(200, 1_800, 0)), None);
        assert_eq!(taker(used(200, 1_000, 0)), Some(Taker::Others));
        assert_eq!(taker(used(1_100, 300, 0)), None, "a CPU was idle");
        assert_eq!(taker(used(900, 880, 0)), None, "within the error of the accounting");
        assert_eq!(taker(used(200, 1_600, 200)), Some(Taker::Hypervisor));
        assert_eq!(used(200, 1_000, 0).interference(0.5), None, "it is allowed");
    }

    #[test]
    fn it_names_the_busiest() {
        let found = used(200, 1_000, 0).interference(0.1).unwrap();
        let expected = [
            "interference: other programs took 40.0% of this machine's CPUs, and some process waited for a CPU for 60.0% of \
             the time",
            "the busiest: \"rustc\" (pid 7, 800 ms of CPU time), \"make \\u{1b}\" (pid 9, 20.0 ms of CPU time)",
            "repeat it on a quiet machine, or allow more with --max-interference",
        ];
        assert_eq!(found.to_string().split("; ").collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_forwarder_is_no_server() {
        assert_eq!(
            ["docker-proxy", "pasta.avx2", "node", "sshd"].map(is_forwarder),
            [true, true, false, false]
        );
    }

    #[test]
    fn a_server_that_is_not_seen_says_nothing_of_others() {
        let unseen = Before::take(&Endpoint::Unix("/nowhere".into()));
        assert_eq!(unseen.since(), None);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let seen = Before::take(&Endpoint::Tcp(listener.local_addr().unwrap()));
        assert!(seen.servers.contains(&std::process::id()) && seen.since().is_some());
    }
}
