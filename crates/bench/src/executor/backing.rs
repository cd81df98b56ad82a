//! What a service works with, around a load: what was asked of it is counted, and what was said to be stored is looked for. It is frozen
//! with the service; its own connection is used while the service stands still, so that neither is measured.

use tare_load::RunReport;
use tare_service::{
    backing::{BackingCounts, BackingError},
    contract::{Contract, Request, Statements},
};

use super::{Bench, process::Running};
use crate::schedule::{ExecutorError, RowFailure};

impl Bench<'_> {
    /// Forgets what was counted before. Service and database are frozen before and after.
    pub(super) fn begin_counting(&self, running: &mut Running, point: usize) -> Result<(), ExecutorError> {
        let contract = &self.contracts[point];
        if running.ready.backing.is_none() {
            return Ok(());
        }
        contract.forget_changes();
        let Running { ready, network, .. } = running;
        ready.backing.thaw()?;
        network.at_the_service(|| ready.backing.take_counts())?.map_err(of_backing)?;
        Ok(ready.backing.freeze()?)
    }

    /// Whether what the service works with has CPUs of its own.
    pub(super) fn backing_is_apart(&self, running: &Running) -> bool {
        let own = &self.plan.points[running.slot.point].service_settings.backing_cpus;
        let shared = self.pinning(running).all();
        !own.is_empty() && !own.iter().any(|cpu| shared.contains(cpu))
    }

    /// What was counted since then. Absent if there is nothing to count.
    pub(super) fn end_counting(
        &self,
        running: &mut Running,
        point: usize,
        report: &RunReport,
    ) -> Result<Option<BackingCounts>, ExecutorError> {
        let contract = &self.contracts[point];
        if running.ready.backing.is_none() {
            return Ok(None);
        }
        let Running { ready, network, .. } = running;
        if let Some(death) = ready.backing.death() {
            return Err(RowFailure(death).into());
        }
        ready.backing.thaw()?;
        let counts = network.at_the_service(|| ready.backing.take_counts())?.map_err(of_backing)?;
        let is_whole = is_whole(report);
        let stored = if is_whole {
            ready.backing.not_stored_of_load(contract).map_err(of_backing)?
        } else {
            Vec::new()
        };
        ready.backing.freeze()?;
        let answered = report.total.tally.answered;
        let wrong = if is_whole { wrong_counts(contract, answered, &counts) } else { Vec::new() };
        match wrong.into_iter().chain(stored).collect::<Vec<_>>().join("; ") {
            reason if reason.is_empty() => Ok(Some(counts)),
            reason => Err(RowFailure(reason).into()),
        }
    }
}

/// Whether each request was answered, and rightly: otherwise it is not known what was asked of the database.
fn is_whole(report: &RunReport) -> bool {
    let tally = &report.total.tally;
    tally.failed.total() == 0 && tally.in_flight == 0
}

fn of_backing(error: BackingError) -> ExecutorError {
    RowFailure(error.to_string()).into()
}

/// A count of a statement, and what an answer takes of it.
struct StatementCount {
    what: &'static str,
    of: fn(&Statements) -> Option<u32>,
    got: Option<u64>,
}

/// What was counted and cannot be, whatever the mix of the answers was.
fn wrong_counts(contract: &Contract, answered: u64, counts: &BackingCounts) -> Vec<String> {
    let statements: Vec<Statements> =
        contract.loaded().filter_map(|request: &Request| request.statements).collect();
    let is_known = statements.len() == contract.loaded().count();
    let table = [
        StatementCount { what: "queries", of: |of| of.reads.or(Some(0)), got: counts.reads },
        StatementCount { what: "rows read", of: |of| of.rows_read.or(Some(0)), got: counts.rows_read },
        StatementCount {
            what: "rows written",
            of: |of| of.rows_written.or(Some(0)),
            got: counts.rows_written,
        },
    ];
    let of_database =
        table.into_iter().filter(|_| is_known).filter_map(|StatementCount { what, of, got }| {
            let each = || statements.iter().filter_map(of).map(u64::from);
            let (least, most) = (each().min()? * answered, each().max()? * answered);
            wrong_count(what, answered, least, most, got?)
        });
    let upstream = counts.upstream_requests.filter(|_| contract.backing.upstream.is_some());
    let what = "requests to the server behind it";
    of_database.chain(upstream.and_then(|got| wrong_count(what, answered, answered, answered, got))).collect()
}

fn wrong_count(what: &str, answered: u64, least: u64, most: u64, got: u64) -> Option<String> {
    let should = if least == most { least.to_string() } else { format!("{least} to {most}") };
    (!(least..=most).contains(&got))
        .then(|| format!("{answered} answers take {should} {what}, and {got} were counted: a cache, or statements for several rows"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_wrong_if_no_mix_of_answers_explains_it() {
        assert_eq!(wrong_count("queries", 10, 200, 200, 200), None);
        assert_eq!(
            wrong_count("queries", 10, 200, 200, 10).unwrap(),
            "10 answers take 200 queries, and 10 were counted: a cache, or statements for several rows"
        );
        assert_eq!(wrong_count("rows read", 10, 10, 200, 57), None);
        assert!(wrong_count("rows read", 10, 10, 200, 9).unwrap().contains("take 10 to 200 rows read"));
    }
}
