//! Before anything is measured: every row is built and proved against the contract. A row that cannot be is left out
//! with its reason; it never stops the others.

use std::{
    collections::BTreeMap,
    fs, io,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tare_service::prove::{Proof, prove_and_weigh};

use super::{
    about,
    plan::{Excluded, Exclusion, Plan, PlannedRow},
};
use tare_host::process::Supervisor;
use tare_service::{
    build::{self, BuildError, Builder, Many, Site},
    catalogue::{Row, Service},
    contract::Contract,
    settings::ServiceSettings,
};

/// Services that are proved at the same time: most of proving is waiting for a clock to move.
const VERIFIED_AT_ONCE: usize = 4;

/// Builds every row, enters the version it reports, and moves its service to where it was built; rows that cannot be built
/// are excluded. Each service is built once, however many rows it has. `after` is given the name of each.
pub fn build_all<'p>(
    planned: impl IntoIterator<Item = &'p mut PlannedRow>,
    rows: &mut [Row],
    builder: &Builder,
    supervisor: &Supervisor,
    interrupt: &AtomicBool,
    after: impl Fn(&str) + Sync,
) {
    let mut services: Vec<&Service> = Vec::new();
    for row in rows.iter() {
        if !services.iter().any(|service| service.name == row.service.name) {
            services.push(&row.service);
        }
    }
    let done = Mutex::new(BTreeMap::new());
    let may_begin = || !interrupt.load(Ordering::Relaxed);
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let many = Many { jobs, force: false, may_begin: &may_begin };
    build::build_many(builder, &services, &Site::new(supervisor, interrupt), many, |service, built| {
        after(&service.name);
        done.lock().expect("no thread panics with the lock").insert(service.name.clone(), built);
    });
    let done = done.into_inner().expect("no thread panics with the lock");
    for (planned, row) in planned.into_iter().zip(rows) {
        match done.get(&row.service.name) {
            Some(Some(Ok(built))) => {
                planned.version = Some(built.version.clone());
                planned.content = Some(built.content.clone());
                row.service.place = built.place.clone();
            }
            // There will be no run, and that is no fault of the service.
            Some(Some(Err(BuildError::Interrupted)) | None) | None => {}
            Some(Some(Err(error))) => planned.excluded = Some(excluded(error)),
        }
    }
}

fn excluded(error: &BuildError) -> Excluded {
    let why = match error {
        BuildError::Missing(_) => Exclusion::NotOnThisMachine,
        _ => Exclusion::NotBuilt,
    };
    Excluded { why, reason: error.to_string() }
}

/// A service that is to be proved before a run.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Its place among the rows.
    pub row: usize,
    /// What the row is called.
    pub label: &'a str,
    /// The service.
    pub service: &'a Service,
    /// What it must honour.
    pub contract: &'a Contract,
    /// The settings that it is given.
    pub service_settings: &'a ServiceSettings,
}

/// Proves every row of `plan` that was built, and excludes those that fail. Transcripts go to the run folder.
pub fn verify_all(
    plan: &mut Plan,
    rows: &[Row],
    contract: &Contract,
    supervisor: &Supervisor,
    run: &Path,
    interrupt: &AtomicBool,
    after: impl Fn(&str) + Sync,
) -> io::Result<()> {
    let mut candidates = Vec::new();
    for (row, (planned, chosen)) in plan.rows.iter().zip(rows).enumerate() {
        if planned.excluded.is_none() {
            let (label, service) = (planned.label.as_str(), &chosen.service);
            candidates.push(Candidate {
                row,
                label,
                service,
                contract,
                service_settings: &plan.service_settings,
            });
        }
    }
    let found = verify_each(&candidates, plan.seed, supervisor, run, interrupt, after)?;
    for (row, excluded) in found {
        plan.rows[row].excluded = excluded;
    }
    Ok(())
}

/// Proves candidates, a few at a time; why each row cannot take part, where it cannot. Those that an interrupt kept from their
/// turn are left out.
pub fn verify_each(
    candidates: &[Candidate],
    seed: u64,
    supervisor: &Supervisor,
    run: &Path,
    interrupt: &AtomicBool,
    after: impl Fn(&str) + Sync,
) -> io::Result<Vec<(usize, Option<Excluded>)>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let work = || -> io::Result<()> {
        while let Some(candidate) = candidates.get(next.fetch_add(1, Ordering::Relaxed)) {
            if interrupt.load(Ordering::Relaxed) {
                return Ok(());
            }
            let excluded = verify_one(candidate, seed, supervisor, run)?;
            after(candidate.label);
            found.lock().expect("no thread panics with the lock").push((candidate.row, excluded));
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..VERIFIED_AT_ONCE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("verify does not panic"))
    })?;
    Ok(found.into_inner().expect("no thread panics with the lock"))
}

fn verify_one(
    candidate: &Candidate,
    seed: u64,
    supervisor: &Supervisor,
    run: &Path,
) -> io::Result<Option<Excluded>> {
    let Candidate { label, service, contract, service_settings, .. } = *candidate;
    let failed = |reason: String| Some(Excluded { why: Exclusion::AgainstItsContract, reason });
    if !service.contracts.contains(&contract.name) {
        let reason = format!("does not declare the contract \"{}\"", contract.name);
        return Ok(Some(Excluded { why: Exclusion::AnotherContract, reason }));
    }
    let folder = super::folder::service_folder(run, label);
    match prove_and_weigh(
        service,
        contract,
        &Proof { service_settings, seed, port: None },
        supervisor,
        &folder,
    ) {
        Err(reason) => Ok(failed(reason)),
        Ok((transcript, sent)) => {
            if let Some(sent) = sent {
                about::keep_sent(run, label, &contract.name, &sent)?;
            }
            let path = folder.join(format!("verify-{}.json", contract.name));
            fs::write(path, serde_json::to_string_pretty(&transcript)? + "\n")?;
            Ok(transcript.reason().and_then(|reason| failed(format!("failed verify: {reason}"))))
        }
    }
}
