//! Deliberate disturbances: a server with limited CPU time, and a program on the generator's CPU.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use rustix::thread::{CpuSet, sched_setaffinity};

use super::action::LoadDisturbance;
use tare_bench::{record::Record, schedule::Watch};
use tare_host::process::CpuQuota;
use tare_reference::faults::{PERIOD_US, QUOTA_US};

/// Half a CPU for the subject, by the kernel's quota or else by sleeping.
#[derive(Debug)]
pub(crate) struct HalfACpu {
    quota: Result<CpuQuota, String>,
}

impl HalfACpu {
    /// Creates the cgroup with the quota, if the kernel supports one.
    pub(crate) fn new() -> HalfACpu {
        HalfACpu { quota: CpuQuota::new(QUOTA_US, PERIOD_US) }
    }

    /// The fault with which the subject is started.
    pub(crate) fn fault(&self) -> String {
        match &self.quota {
            Ok(CpuQuota::Group(group)) => format!("throttled={}", group.display()),
            Ok(CpuQuota::Own(folder)) => format!("throttled=own:{}", folder.display()),
            Err(_) => format!("stall={QUOTA_US}us/{PERIOD_US}us"),
        }
    }

    pub(crate) fn how(&self) -> String {
        match &self.quota {
            Ok(CpuQuota::Group(_)) => "by cpu.cfs_quota_us".to_owned(),
            Ok(CpuQuota::Own(_)) => "by cpu.max".to_owned(),
            Err(reason) => {
                format!("by sleeping for half of each 10 ms, as there is no quota: {reason}")
            }
        }
    }
}

/// A thread that computes until it is dropped.
#[derive(Debug)]
pub(crate) struct Spinner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    /// Starts the thread on these CPUs.
    pub(crate) fn start(cpus: &[usize]) -> Spinner {
        let stop = Arc::new(AtomicBool::new(false));
        let mut set = CpuSet::new();
        cpus.iter().for_each(|cpu| set.set(*cpu));
        let stopped = Arc::clone(&stop);
        let work = move || {
            // An unpinned thread runs on another CPU, and the trial fails.
            let _ = sched_setaffinity(None, &set);
            let mut value = 0u64;
            while !stopped.load(Ordering::Relaxed) {
                value = black_box(value.wrapping_add(1));
            }
        };
        Spinner { stop, thread: Some(std::thread::spawn(work)) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Starts and ends a spinner between rounds, and forwards every record.
#[derive(Debug)]
pub(crate) struct Meanwhile<'a, W> {
    watch: &'a mut W,
    disturbance: LoadDisturbance,
    cpus: &'a [usize],
    spinner: Option<Spinner>,
}

impl<'a, W> Meanwhile<'a, W> {
    pub(crate) fn new(watch: &'a mut W, disturbance: LoadDisturbance, cpus: &'a [usize]) -> Meanwhile<'a, W> {
        Meanwhile { watch, disturbance, cpus, spinner: None }
    }
}

impl<W: Watch> Watch for Meanwhile<'_, W> {
    fn on_record(&mut self, record: &Record, left: Duration) {
        // A trial with a disturbance has a single row, so its slice ends the round.
        if let (Record::Sample(slice), LoadDisturbance::Spinner) = (record, self.disturbance) {
            self.spinner = self.disturbance.is_in(slice.round + 1).then(|| Spinner::start(self.cpus));
        }
        if matches!(record, Record::Stopped(_)) {
            self.spinner = None;
        }
        self.watch.on_record(record, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use tare_reference::faults::Fault;

    #[test]
    fn half_a_cpu_is_a_fault_that_the_raw_socket_has() {
        let half = HalfACpu::new();
        assert!(half.fault().parse::<Fault>().is_ok(), "{}", half.fault());
        let sleeping = HalfACpu { quota: Err("no cgroups".to_owned()) };
        assert_eq!(sleeping.fault(), "stall=5000us/10000us");
        assert!(sleeping.fault().parse::<Fault>().is_ok());
        assert_eq!(sleeping.how(), "by sleeping for half of each 10 ms, as there is no quota: no cgroups");
    }

    #[test]
    fn a_spinner_works_until_it_is_dropped() {
        let stop = {
            let spinner = Spinner::start(&[]);
            assert!(!spinner.stop.load(Ordering::Relaxed));
            Arc::clone(&spinner.stop)
        };
        assert!(stop.load(Ordering::Relaxed));
        assert_eq!(Arc::strong_count(&stop), 1, "its thread has ended");
    }

    #[derive(Default)]
    struct Counting(usize);

    impl Watch for Counting {
        fn on_record(&mut self, _: &Record, _: Duration) {
            self.0 += 1;
        }
    }

    fn slice(round: usize) -> Record {
        Record::Sample(Box::new(tare_bench::sample::Sample { round, ..Default::default() }))
    }

    #[test]
    fn a_spinner_begins_after_the_round_before_its_own_and_ends_with_the_process() {
        let mut watch = Counting::default();
        let mut meanwhile = Meanwhile::new(&mut watch, LoadDisturbance::Spinner, &[]);
        for (round, spins) in [(0, true), (1, false), (2, true), (3, false), (4, true)] {
            meanwhile.on_record(&slice(round), Duration::ZERO);
            assert_eq!(meanwhile.spinner.is_some(), spins, "after round {round}");
        }
        meanwhile.on_record(&Record::Stopped(Default::default()), Duration::ZERO);
        assert!(meanwhile.spinner.is_none());
        assert_eq!(watch.0, 6, "every record is passed on");
    }

    #[test]
    fn other_trials_have_no_spinner() {
        for disturbance in [LoadDisturbance::None, LoadDisturbance::HalfACpu] {
            let mut watch = Counting::default();
            let mut meanwhile = Meanwhile::new(&mut watch, disturbance, &[]);
            (0..4).for_each(|round| meanwhile.on_record(&slice(round), Duration::ZERO));
            assert!(meanwhile.spinner.is_none(), "{disturbance:?}");
        }
    }
}
