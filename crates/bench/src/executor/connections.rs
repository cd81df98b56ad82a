//! Connections before a window: new ones for each of several loads, and a request over each idle one.
//!
//! A frozen service sends and closes nothing, but time passes. After the thaw it closes connections that
//! exceeded its idle time-out, some of them under the first requests. That is correct (RFC 9112, 9.3.1 and
//! 9.5). So the first request after a long pause is not measured, and closed connections are opened again.

use std::time::Duration;

use tare_base::{Clock, Monotonic};
use tare_load::{Failure, Load, RequestQuota, RunReport, Schedule, Stop};
use tare_service::drive::RESPONSE_TIMEOUT;

use super::{Bench, process::Running};
use crate::schedule::ExecutorError;

/// Connections that were idle for longer are primed. Of the servers examined, gunicorn has the shortest idle
/// time-out (2 s); most have 5 s or more. Priming takes one more freeze and one request per connection, about
/// 2 ms for a fast service, which is negligible after a second.
const IDLE_MAX: Duration = Duration::from_secs(1);
/// Connections that are closed under the request are replaced, and primed again. One pass is usually enough.
const PASSES_MAX: usize = 3;

impl Bench<'_> {
    /// Prepares connections before an interleaved slice. The service is frozen before and after.
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

    /// With several loads, each slice opens its own connections: a service may have a thread per connection,
    /// and must not hold those of another load. All slices do this, so that they begin alike.
    fn open_anew(&self, running: &mut Running, point: usize, draw: u64) -> Result<(), ExecutorError> {
        running.generator.close();
        running.handshakes.begin_anew();
        running.generator =
            self.generator(&running.ready, &running.network, running.slot.row, point, draw)?;
        let connections = self.plan.points[point].load.connections().total;
        // Connections that fail here are retried in the window, and counted there.
        let _not_all_are_open = running.generator.open(connections, RESPONSE_TIMEOUT);
        Ok(())
    }

    /// Sends one request over each connection. Missing answers are ignored here; wrong ones are recorded.
    fn prime(&self, running: &mut Running) -> Result<(), ExecutorError> {
        let stop = Stop::count(RequestQuota::RequestsEach(1), RESPONSE_TIMEOUT, RESPONSE_TIMEOUT);
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
