//! The backing of a service around a load: its counters are read, and claimed writes are looked up. It is
//! frozen with the service. Tare's own queries run while the service is frozen, so neither is measured.

use tare_load::RunReport;
use tare_service::backing::{BackingCounts, BackingError};

use super::{
    Bench,
    process::{Running, without_right_answer},
};
use crate::schedule::{ExecutorError, RowFailure};

impl Bench<'_> {
    /// Discards earlier counts. Service and database are frozen before and after.
    pub(super) fn begin_counting(&self, running: &mut Running, point: usize) -> Result<(), ExecutorError> {
        let contract = &self.contracts[point];
        if running.ready.backing.is_none() {
            return Ok(());
        }
        contract.forget_changes();
        let Running { ready, network, account, .. } = running;
        ready.backing.thaw()?;
        account.counted(&network.at_the_service(|| ready.backing.take_counts())?.map_err(of_backing)?);
        Ok(ready.backing.freeze()?)
    }

    /// Whether the backing has its own CPUs.
    pub(super) fn backing_is_apart(&self, running: &Running) -> bool {
        let own = &self.plan.points[running.slot.point].service_settings.backing_cpus;
        let shared = self.pinning(running).all();
        !own.is_empty() && !own.iter().any(|cpu| shared.contains(cpu))
    }

    /// The counts since [`begin_counting`](Self::begin_counting). Absent without a backing.
    pub(super) fn end_counting(
        &self,
        running: &mut Running,
        point: usize,
        report: &RunReport,
    ) -> Result<Option<BackingCounts>, ExecutorError> {
        let contract = &self.contracts[point];
        let had_work_left = running.asked(contract, report);
        if running.ready.backing.is_none() {
            return Ok(None);
        }
        let Running { ready, network, account, .. } = running;
        if let Some(death) = ready.backing.death() {
            return Err(RowFailure(death).into());
        }
        ready.backing.thaw()?;
        let counts = network.at_the_service(|| ready.backing.take_counts())?.map_err(of_backing)?;
        account.counted(&counts);
        // An unanswered change, of this load or the previous one, may have overwritten an answered one.
        let stored = if without_right_answer(report) == 0 && !had_work_left {
            ready.backing.not_stored_of_load(contract).map_err(of_backing)?
        } else {
            Vec::new()
        };
        ready.backing.freeze()?;
        let connections = self.plan.points[point].service_settings.database_connections;
        match account.wrong(connections).into_iter().chain(stored).collect::<Vec<_>>().join("; ") {
            reason if reason.is_empty() => Ok(Some(counts)),
            reason => Err(RowFailure(reason).into()),
        }
    }
}

fn of_backing(error: BackingError) -> ExecutorError {
    RowFailure(error.to_string()).into()
}
