//! CPU use of other processes, before and during the load of a running server.

use std::{thread, time::Duration};

use tare_host::{
    cpus,
    process::{Bystanders, BystandersUsed},
};

use super::{
    Bench,
    process::{Counted, Running},
};
use crate::{
    sample::{Other, Others, TakenByOthers},
    schedule::ExecutorError,
};

/// Pause without requests before a load: a tenth of a slice.
const PAUSE: Duration = Duration::from_millis(10);
/// Most processes that are named.
const NAMED_MAX: usize = 5;

/// Counters of the service, other processes and CPUs at one instant.
struct Look {
    server: Counted,
    bystanders: Bystanders,
    reading: cpus::Reading,
}

/// A span without requests to the service.
pub(super) struct Pause {
    begin: Look,
    end: Look,
}

impl Pause {
    /// CPU time of the service at the end of the pause.
    pub(super) fn server_cpu(&self) -> Counted {
        self.end.server.clone()
    }
}

impl Bench<'_> {
    /// Absent if the service's processes are known, and with agents, which would count as others.
    pub(super) fn pause(&self, running: &Running) -> Result<Option<Pause>, ExecutorError> {
        if self.plan.agents.is_some() {
            return Ok(None);
        }
        let Some(begin) = self.look(running)? else { return Ok(None) };
        thread::sleep(PAUSE);
        Ok(self.look(running)?.map(|end| Pause { begin, end }))
    }

    /// Use by others after the load. Absent if it is unknown.
    pub(super) fn others(&self, running: &Running, pause: &Pause) -> Result<Option<Others>, ExecutorError> {
        let Some(now) = self.look(running)? else { return Ok(None) };
        let of = |begin: &Look, end: &Look| {
            let used = end.bystanders.since(&begin.bystanders);
            let taken = self.taken_by_others(running, begin, end, &used)?;
            Some((used, taken))
        };
        let both = of(&pause.begin, &pause.end).zip(of(&pause.end, &now));
        Ok(both.map(|((before, pause), (used, load))| {
            let as_long = load.wall_ns as f64 / pause.wall_ns.max(1) as f64;
            Others { pause, load, busiest: busiest(used, &before, as_long) }
        }))
    }

    fn look(&self, running: &Running) -> Result<Option<Look>, ExecutorError> {
        let Some(bystanders) = running.ready.process.bystanders() else { return Ok(None) };
        let server = running.cpu_time()?;
        Ok(self.reading(running).map(|reading| Look { server, bystanders, reading }))
    }

    fn taken_by_others(
        &self,
        running: &Running,
        begin: &Look,
        end: &Look,
        used: &BystandersUsed,
    ) -> Option<TakenByOthers> {
        let (pinning, accounting) = (self.pinning(running), end.reading.since(&begin.reading));
        let server_ns = end.server.as_ref().ok()?.since(begin.server.as_ref().ok()?).ok()?;
        let known_ns = server_ns + used.tare_ns + used.kernel_ns;
        let stolen_ns = accounting.stolen_ns(pinning).cast_signed();
        let cpu_ns = accounting.foreign_ns(pinning, known_ns) - stolen_ns;
        Some(TakenByOthers { wall_ns: accounting.wall_ns, cpu_ns })
    }
}

/// The processes with the largest increase over the pause, which is `as_long` times shorter than the load. A
/// process that was equally busy before the load works for something else.
fn busiest(used: BystandersUsed, before: &BystandersUsed, as_long: f64) -> Vec<Other> {
    let earlier_ns =
        |pid: u32| before.by.iter().find(|used| used.process.pid == pid).map_or(0, |used| used.cpu_ns);
    let of = |used: tare_host::process::Used| Other {
        cpu_ns_before: earlier_ns(used.process.pid),
        cpu_ns: used.cpu_ns,
        process: used.process,
    };
    let more_ns = |other: &Other| other.cpu_ns as f64 - other.cpu_ns_before as f64 * as_long;
    let mut all: Vec<Other> = used.by.into_iter().map(of).collect();
    all.sort_by(|one, other| more_ns(other).total_cmp(&more_ns(one)));
    all.truncate(NAMED_MAX);
    all
}
