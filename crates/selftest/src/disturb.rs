//! Disturbances that are made on purpose: a server without its CPU time, and a program that takes the generator's.

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

use super::action::Disturbance;
use tare_bench::{record::Record, schedule::Watch};
use tare_host::process::Quota;
use tare_service::raw_socket::faults::{PERIOD_US, QUOTA_US};

/// Half a CPU for the subject: by the kernel's quota, or else by sleeping.
#[derive(Debug)]
pub(crate) struct HalfACpu {
    quota: Result<Quota, String>,
}

impl HalfACpu {
    /// Makes the cgroup that has the quota, if the kernel has one.
    pub(crate) fn new() -> HalfACpu {
        HalfACpu { quota: Quota::new(QUOTA_US, PERIOD_US) }
    }

    /// The fault that the subject is started with.
    pub(crate) fn fault(&self) -> String {
        match &self.quota {
            Ok(Quota::Group(group)) => format!("throttled={}", group.display()),
            Ok(Quota::Own(folder)) => format!("throttled=own:{}", folder.display()),
            Err(_) => format!("stall={QUOTA_US}us/{PERIOD_US}us"),
        }
    }

    pub(crate) fn how(&self) -> String {
        match &self.quota {
            Ok(Quota::Group(_)) => "by cpu.cfs_quota_us".to_owned(),
            Ok(Quota::Own(_)) => "by cpu.max".to_owned(),
            Err(reason) => {
                format!("by sleeping for half of each 10 ms, as there is no quota: {reason}")
            }
        }
    }
}

/// A thread that does nothing but work, until it is dropped.
#[derive(Debug)]
pub(crate) struct Spinner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    /// Starts it on these CPUs.
    pub(crate) fn start(cpus: &[usize]) -> Spinner {
        let stop = Arc::new(AtomicBool::new(false));
        let mut set = CpuSet::new();
        cpus.iter().for_each(|cpu| set.set(*cpu));
        let stopped = Arc::clone(&stop);
        let work = move || {
            // A thread that cannot be pinned works on another CPU, and the trial is not seen.
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

/// Starts and ends a spinner between rounds, and passes every record on.
#[derive(Debug)]
pub(crate) struct Meanwhile<'a, W> {
    watch: &'a mut W,
    disturbance: Disturbance,
    cpus: &'a [usize],
    spinner: Option<Spinner>,
}

impl<'a, W> Meanwhile<'a, W> {
    /// On these CPUs.
    pub(crate) fn new(watch: &'a mut W, disturbance: Disturbance, cpus: &'a [usize]) -> Meanwhile<'a, W> {
        Meanwhile { watch, disturbance, cpus, spinner: None }
    }
}

impl<W: Watch> Watch for Meanwhile<'_, W> {
    fn on_record(&mut self, record: &Record, left: Duration) {
        // A trial that disturbs has a single row: behind its slice comes the next round.
        if let (Record::Sample(slice), Disturbance::Spinner) = (record, self.disturbance) {
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

    use tare_service::raw_socket::faults::Fault;

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
}
