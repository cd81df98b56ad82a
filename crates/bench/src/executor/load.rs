//! One load on a running service, and the resources used by service, generator and machine.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use tare_base::{Clock, Monotonic};
use tare_host::{
    cpus,
    link::{Link, LinkError, WayCounters},
    process::{Modes, RunningService},
};
use tare_load::{Failure, Load, RunReport, Tally, Waiting};

use super::{
    Bench,
    ballast::BallastCount,
    loaded::{Due, Loaded},
    loader::Loader,
    others::Pause,
    process::{Counted, Running},
    profiled::Profiled,
    watch::LoadWatch,
};
use crate::{
    sample::{CpuByMode, HostUsage, Hung, LinkUsage, LoadResult, Sample, SampleOutcome},
    schedule::{ExecutorError, InstrumentFailure},
};

/// Length of the intervals in which a load is watched.
const SECOND: Duration = Duration::from_secs(1);
/// How long a hung service is observed for activity.
const OBSERVATION: Duration = Duration::from_millis(300);

/// Added when a process ends without an answer since its thaw, which may be the cause.
const AT_THAW: &str = "when Tare thawed it, after which epoll_wait, and recv and accept with a time limit, fail with EINTR: a server \
                       must try again";

/// Counters before a load.
struct Before {
    server_cpu: Counted,
    /// CPU time of the backing; absent without one.
    backing_cpu_ns: Option<u64>,
    modes: Modes,
    throttled_ns: Option<u64>,
    context_switches: Option<u64>,
    waited_ns: Option<u64>,
    ballast_ns: Option<u64>,
}

impl Bench<'_> {
    /// CPU time from thaw to freeze is divided by all answers in that time, from all generators. Throughput
    /// is the answers in the window divided by its length. With agents the window is the time in which all of
    /// them certainly loaded. So neither figure mixes the time of one span with the answers of another.
    pub(super) fn measure(
        &self,
        loader: &mut Loader,
        profiled: &mut Profiled<'_>,
        running: &mut Running,
        point: usize,
        draw: u64,
        per_second: Option<f64>,
    ) -> Result<Sample, ExecutorError> {
        let load = self.load_of(running, point, per_second.unwrap_or(0.0));
        let due = Due { point, draw, load: &load };
        loader.connect(self, running, &due)?;
        self.begin_counting(running, point)?;
        let mut watch = LoadWatch::new(&self.plan.points[point]);
        let pause = self.pause(running)?;
        profiled.begins(running);
        let before = self.before(running, pause.as_ref())?;
        let loaded = loader.load(self, running, &due, &mut watch)?;
        let report = &loaded.report;
        running.asked_ns = Monotonic.now_ns();
        has_descriptors(report)?;
        self.alive(running, if report.total.tally.answered == 0 { AT_THAW } else { "during the load" })?;
        let hung = watch.hung(report).map(|hung| observe(&running.ready.process, hung));
        running.ready.freeze()?;
        profiled.ended(running);
        report.total.tally.reconcile()?;
        running.handshakes.take_in(report);
        let host = self.spent(running, &before, &loaded)?;
        let backing = self.end_counting(running, point, report)?;
        if let Some(discarded) = loaded.discarded() {
            running.note_wrong(report);
            return Err(ExecutorError::Slice(Box::new(discarded)));
        }
        running.latency[point] += &report.total;
        running.is_hung = hung.is_some();
        let load = LoadResult { seconds: watch.into_seconds(), ..LoadResult::of(report, &self.asked) };
        let others = pause.map(|pause| self.others(running, &pause)).transpose()?.flatten();
        let threads = self.plan.service_settings(running.slot.row, point).threads;
        let carried = running.ballast.as_ref().zip(before.ballast_ns);
        let ballast = carried.map(|(ballast, ns)| ballast.since(ns, threads, &load)).transpose()?;
        let host = HostUsage { ballast, backing, others, ..host };
        let outcome = hung.map_or(SampleOutcome::Measured, SampleOutcome::Hung);
        let (aside, fleet) = (running.aside.take(), loaded.fleet_sample());
        Ok(Sample { outcome, load, host, aside, fleet, ..Sample::default() })
    }

    fn load_of(&self, running: &Running, point: usize, per_second: f64) -> Load {
        let point = &self.plan.points[point];
        // A slice is too short to be watched.
        let interval = self.plan.is_sequential().then_some(SECOND);
        Load { interval, waiting: self.waiting(running), ..point.for_generator(per_second) }
    }

    /// A generator with its own CPUs polls. A sleeping generator is woken by the service, at the service's
    /// cost. A slower service wakes it more often, which would exaggerate small differences between services.
    pub(super) fn waiting(&self, running: &Running) -> Waiting {
        let is_alone = self.pinning(running).apart() && running.network.link().is_none();
        if is_alone { Waiting::Poll } else { Waiting::Sleep }
    }

    pub(super) fn run_load(
        &self,
        running: &mut Running,
        load: &Load,
        watch: &mut LoadWatch,
    ) -> Result<RunReport, ExecutorError> {
        if load.interval.is_none() {
            return Ok(running.generator.run(load, &self.interrupt)?);
        }
        let halt = Arc::new(AtomicBool::new(false));
        let on_second = &mut |interval: &tare_load::RunInterval| {
            watch.on_second(interval);
            if watch.is_hung() || crate::schedule::Executor::interrupted(self) {
                halt.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        };
        Ok(running.generator.run_watched(load, &halt, on_second)?)
    }

    pub(super) fn pinning(&self, running: &Running) -> &cpus::Pinning {
        self.plan.pinning_of(running.slot.row)
    }

    pub(super) fn reading(&self, running: &Running) -> Option<cpus::Reading> {
        cpus::Reading::take(self.pinning(running), Monotonic.now_ns())
    }

    fn before(&self, running: &Running, pause: Option<&Pause>) -> Result<Before, ExecutorError> {
        let process = &running.ready.process;
        Ok(Before {
            server_cpu: pause.map_or_else(|| running.cpu_time(), |pause| Ok(pause.server_cpu()))?,
            backing_cpu_ns: running.ready.backing.cpu_ns(),
            modes: process.cpu_by_mode(),
            throttled_ns: running.throttle.ns(),
            context_switches: process.context_switches(),
            waited_ns: process.waited_ns(),
            ballast_ns: running.ballast.as_ref().map(BallastCount::cpu_ns).transpose()?,
        })
    }

    /// Resources used since `before`; the service is frozen.
    fn spent(&self, running: &Running, before: &Before, loaded: &Loaded) -> Result<HostUsage, ExecutorError> {
        let (process, pinning) = (&running.ready.process, self.pinning(running));
        let readings = loaded.ended.as_ref().zip(loaded.begun.as_ref());
        let accounting = readings.map(|(after, before)| after.since(before));
        let modes = process.cpu_by_mode();
        let throttled = running.throttle.ns().zip(before.throttled_ns);
        let server_cpu_ns = running.cpu_ns_since(&before.server_cpu)?;
        let backing_cpu = running.ready.backing.cpu_ns().zip(before.backing_cpu_ns);
        let switches = process.context_switches().zip(before.context_switches);
        let waited = process.waited_ns().zip(before.waited_ns);
        let mut host = HostUsage {
            server_cpu_ns: *server_cpu_ns.as_ref().unwrap_or(&0),
            cpu_unknown: server_cpu_ns.as_ref().err().cloned(),
            // Ticks of 10 ms are too coarse for one slice; sums over all slices of a row are exact enough.
            server_cpu_by_mode: Some(CpuByMode {
                user_ns: modes.user.saturating_sub(before.modes.user).as_nanos() as u64,
                system_ns: modes.system.saturating_sub(before.modes.system).as_nanos() as u64,
            }),
            backing_cpu_ns: backing_cpu.map(|(after, before)| after.saturating_sub(before)),
            backing_is_apart: self.backing_is_apart(running),
            backing_rss_bytes: running.ready.backing.rss_bytes(),
            generator_cpu_ns: loaded.here.cpu_ns,
            generator_polled_ns: loaded.here.polled_ns,
            accounting,
            throttled_ns: throttled.map(|(after, before)| after.saturating_sub(before)),
            context_switches: switches.map(|(after, before)| after.saturating_sub(before)),
            waited_ns: waited.map(|(after, before)| after.saturating_sub(before)),
            rss_bytes: Some(process.rss_bytes()).filter(|bytes| *bytes > 0),
            link: running.network.link().map(LinkUsage::of).transpose()?,
            ..HostUsage::default()
        };
        // Without the service's CPU time, that of other processes is unknown too.
        let known = accounting.filter(|_| server_cpu_ns.is_ok());
        host.foreign_cpu_ns = known.map(|accounting| accounting.foreign_ns(pinning, host.own_cpu_ns()));
        Ok(host)
    }
}

/// A connection that failed because the generator had no descriptors is no fault of the service.
pub(super) fn has_descriptors(report: &RunReport) -> Result<(), InstrumentFailure> {
    match without_descriptor(&report.total.tally) {
        0 => Ok(()),
        missing => Err(InstrumentFailure(format!(
            "{missing} connections had no file descriptor: raise `ulimit -n`, or end what holds them"
        ))),
    }
}

/// Connections without a descriptor, whether or not a request waited for them.
fn without_descriptor(tally: &Tally) -> u64 {
    [tally.failed, tally.connection_failed].map(|failures| failures.get(Failure::NoDescriptors)).iter().sum()
}

/// Adds the activity of a service that no longer answers.
fn observe(process: &RunningService, hung: Hung) -> Hung {
    let cpu_ns = || process.cpu_ns().ok().flatten().unwrap_or(0);
    let before = cpu_ns();
    std::thread::sleep(OBSERVATION);
    let cpu_ns = cpu_ns().saturating_sub(before);
    let cpu_share = cpu_ns as f64 / OBSERVATION.as_nanos() as f64;
    Hung { threads: process.threads() as u64, cpu_share, ..hung }
}

impl LinkUsage {
    fn of(link: &Link) -> Result<LinkUsage, LinkError> {
        let counters = link.counters()?;
        let both = |of: fn(&WayCounters) -> u64| of(&counters.up) + of(&counters.down);
        let mut late = counters.up.late.clone();
        late.merge(&counters.down.late);
        Ok(LinkUsage {
            kind: link.kind().to_string(),
            cpu_ns: counters.cpu_ns,
            packets: both(|way| way.packets),
            lost: both(|way| way.lost),
            dropped: both(|way| way.dropped),
            unread: counters.unread,
            late_ns_p99: late.quantile_ns(0.99),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_descriptor_counts_with_and_without_a_request() {
        let mut tally = Tally::default();
        assert_eq!(without_descriptor(&tally), 0);
        tally.failed.add(Failure::Refused);
        tally.connection_failed.add(Failure::NoDescriptors);
        assert_eq!(without_descriptor(&tally), 1);
        tally.failed.add(Failure::NoDescriptors);
        assert_eq!(without_descriptor(&tally), 2);
    }
}
