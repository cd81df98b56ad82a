//! What a service works with, around a load: what was asked of it is counted, and what was said to be stored is looked for. It is frozen
//! with the service; its own connection is used while the service stands still, so that neither is measured.

use std::{cmp::Ordering, collections::BTreeMap};

use tare_load::RunReport;
use tare_service::{
    backing::{BackingCounts, BackingError},
    contract::{Contract, Statements},
};

use super::{
    Bench,
    process::{Running, is_whole},
};
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
        let shared = self.plan.pinning.all();
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
        let Running { ready, network, has_work_left, .. } = running;
        // What was left by the load before is done in this slice, and asks the database too.
        let had_work_left = std::mem::replace(has_work_left, !is_whole(report));
        if let Some(death) = ready.backing.death() {
            return Err(RowFailure(death).into());
        }
        ready.backing.thaw()?;
        let counts = network.at_the_service(|| ready.backing.take_counts())?.map_err(of_backing)?;
        let is_whole = is_whole(report) && !had_work_left;
        let stored = if is_whole {
            ready.backing.not_stored_of_load(contract).map_err(of_backing)?
        } else {
            Vec::new()
        };
        ready.backing.freeze()?;
        let wrong =
            if is_whole { wrong_counts(contract, &report.answered_by_name, &counts) } else { Vec::new() };
        match wrong.into_iter().chain(stored).collect::<Vec<_>>().join("; ") {
            reason if reason.is_empty() => Ok(Some(counts)),
            reason => Err(RowFailure(reason).into()),
        }
    }
}

fn of_backing(error: BackingError) -> ExecutorError {
    RowFailure(error.to_string()).into()
}

/// A kind of what is counted, and how many an answer takes.
struct Kind {
    what: &'static str,
    of: fn(&Statements) -> Option<u32>,
    got: Option<u64>,
}

/// What was counted and is not what these answers, by the names of their requests, take.
fn wrong_counts(
    contract: &Contract,
    answered: &BTreeMap<String, u64>,
    counts: &BackingCounts,
) -> Vec<String> {
    let all: u64 = answered.values().sum();
    let kinds = [
        Kind { what: "queries", of: |of| of.reads, got: counts.reads },
        Kind { what: "rows read", of: |of| of.rows_read, got: counts.rows_read },
        Kind { what: "rows written", of: |of| of.rows_written, got: counts.rows_written },
    ];
    let of_database = kinds
        .into_iter()
        .filter_map(|Kind { what, of, got }| wrong_count(what, all, taken(contract, answered, of)?, got?));
    let upstream = counts.upstream_requests.filter(|_| contract.backing.upstream.is_some());
    let upstream = upstream.and_then(|got| wrong_count("requests to the server behind it", all, all, got));
    of_database.chain(upstream).collect()
}

/// How many these answers take. Absent if the contract does not say it of each of them.
fn taken(
    contract: &Contract,
    answered: &BTreeMap<String, u64>,
    of: fn(&Statements) -> Option<u32>,
) -> Option<u64> {
    let each = |(name, count): (&String, &u64)| {
        let request = contract.requests.iter().find(|request| request.name == *name)?;
        Some(u64::from(of(&request.statements?).unwrap_or(0)) * count)
    };
    answered.iter().map(each).sum()
}

fn wrong_count(what: &str, answered: u64, taken: u64, got: u64) -> Option<String> {
    let why = match got.cmp(&taken) {
        Ordering::Less => "a cache, or statements for several rows",
        Ordering::Equal => return None,
        Ordering::Greater => "the service asks more than once, or another program uses its database",
    };
    Some(format!("{answered} answers take {taken} {what}, and {got} were counted: {why}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const CONTRACT: &str = r#"
format = "1.2"
name = "shop"
title = "Items"

[[request]]
name = "read"
method = "GET"
path = "/"
statements = { reads = 1, rows-read = 1 }
[request.response]
status = 200
content-type = "text/plain"
body = "a"

[[request]]
name = "list"
method = "GET"
path = "/list"
statements = { reads = 1, rows-read = 20 }
[request.response]
status = 200
content-type = "text/plain"
body = "b"

[[request]]
name = "change"
method = "PUT"
path = "/"
statements = { rows-written = 1 }
[request.response]
status = 200
content-type = "text/plain"
body = "c"
"#;

    fn wrong(answered: &[(&str, u64)], counts: BackingCounts) -> Vec<String> {
        let contract = Contract::parse(CONTRACT, Path::new("shop.toml")).unwrap();
        let answered = answered.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        wrong_counts(&contract, &answered, &counts)
    }

    #[test]
    fn the_mix_of_the_answers_says_what_they_take() {
        let mix = [("read", 15), ("list", 2), ("change", 3)];
        let right = BackingCounts {
            reads: Some(17),
            rows_read: Some(55),
            rows_written: Some(3),
            ..BackingCounts::default()
        };
        assert_eq!(wrong(&mix, right), [""; 0]);
        assert_eq!(
            wrong(&mix, BackingCounts { reads: Some(16), rows_read: Some(54), ..right }),
            [
                "20 answers take 17 queries, and 16 were counted: a cache, or statements for several rows",
                "20 answers take 55 rows read, and 54 were counted: a cache, or statements for several rows"
            ]
        );
        assert_eq!(
            wrong(&[], BackingCounts { reads: Some(1), ..BackingCounts::default() }),
            [
                "0 answers take 0 queries, and 1 were counted: the service asks more than once, or another program uses its database"
            ]
        );
    }
}
