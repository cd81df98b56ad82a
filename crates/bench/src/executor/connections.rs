//! Connections before a window: new ones where a load must not have another's, and one request over those that were left alone
//! for long.
//!
//! A frozen service sends nothing and closes nothing, but time goes on: once it is thawed it closes the connections on which
//! nothing came for as long as its idle time-out, some of them under the first requests. That is no error of the service (RFC
//! 9112, 9.3.1 and 9.5), so the first request after a long pause is not measured, and what was closed is opened again.

use std::time::Duration;

use tare_load::{Clock, Failure, Load, Monotonic, Quota, RunReport, Schedule, Stop};
use tare_service::drive::RESPONSE_TIMEOUT;

use super::{Bench, process::Running};
use crate::schedule::ExecutorError;

/// Connections that were left alone for longer are primed. Of the servers that were looked at, gunicorn has the shortest idle
/// time-out (2 s); most have 5 s or more. Priming takes a freeze more and a request for each connection, about 2 ms of a fast
/// service: no noticeable part of the second that has gone by.
const IDLE_MAX: Duration = Duration::from_secs(1);
/// Connections that are closed under the request are replaced, and asked again. One time should be enough.
const PASSES_MAX: usize = 3;

impl Bench<'_> {
    /// Before a slice of an interleaved experiment; the service is frozen, before and after.
    pub(super) fn connect(
        &self,
        running: &mut Running,
        point: usize,
        draw: u64,
    ) -> Result<(), ExecutorError> {
        if self.plan.is_sequential() {
            return Ok(());
        }
        let has_several_loads = self.plan.loads().len() > 1;
        if !has_several_loads && !running.is_left_alone() {
            return Ok(());
        }
        running.ready.thaw()?;
        if has_several_loads {
            self.open_anew(running, point, draw)?;
        }
        self.prime(running)?;
        Ok(running.ready.freeze()?)
    }

    /// If a plan has several loads, each slice begins with connections of its own: a service must not hold connections of
    /// another load, each of which may have a thread there. Always, and not only if the load is another one, so that the slices
    /// of all loads begin alike.
    fn open_anew(&self, running: &mut Running, point: usize, draw: u64) -> Result<(), ExecutorError> {
        running.generator.close();
        running.handshakes.begin_anew();
        running.generator =
            self.generator(&running.ready, &running.network, running.slot.row, point, draw)?;
        let connections = self.plan.points[point].load.connections().total;
        // What cannot be opened is tried again in the window, and counted there.
        let _not_all_are_open = running.generator.open(connections, RESPONSE_TIMEOUT);
        Ok(())
    }

    /// One request over each connection. An answer that is missing here counts for nothing, a wrong one does.
    fn prime(&self, running: &mut Running) -> Result<(), ExecutorError> {
        let stop = Stop::count(Quota::RequestsEach(1), RESPONSE_TIMEOUT, RESPONSE_TIMEOUT);
        let once = Load::new(Schedule::SATURATE, stop, RESPONSE_TIMEOUT);
        for _ in 0..PASSES_MAX {
            let report = self.load_aside(running, &once)?;
            running.not_measured(&self.contracts[running.slot.point], &report);
            if !lost_connections(&report) {
                break;
            }
        }
        running.asked_ns = Monotonic.now_ns();
        Ok(())
    }
}

impl Running {
    fn is_left_alone(&self) -> bool {
        Monotonic.now_ns().saturating_sub(self.asked_ns) > IDLE_MAX.as_nanos() as u64
    }
}

/// Whether connections were closed under a request.
fn lost_connections(report: &RunReport) -> bool {
    let tally = &report.total.tally;
    let lost = [Failure::Reset, Failure::ClosedBeforeResponse].map(|failure| tally.failed.get(failure));
    lost.iter().sum::<u64>() > 0
}
