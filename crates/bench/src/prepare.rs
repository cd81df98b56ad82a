//! Preparation before the measurement: every row is built, and verified against the contract of each of its
//! points. A row that fails is excluded with its reason and does not stop the others.

use std::{
    collections::BTreeMap,
    io,
    net::Ipv4Addr,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tare_service::prove::{Proof, prove_and_record};

use crate::{
    folder::{about, service_folder},
    plan::{Excluded, Exclusion, Plan, PlannedRow},
    schedule::{CutOff, InstrumentFailure},
};
use tare_base::whole;
use tare_contract::Contract;
use tare_host::{process::Supervisor, secrets, threads};
use tare_service::{
    build::{self, BuildError, BuildOptions, Builder, Site},
    catalogue::{Row, Service},
    settings::ServiceSettings,
};

/// Services verified at the same time. Most of a verification is waiting for a clock to move.
const VERIFIED_AT_ONCE: usize = 4;

/// Checks that every row may serve the contracts of its points in its protocol.
///
/// # Errors
/// The reason of the first contract that does not allow it.
pub fn check_protocols(plan: &Plan, contracts: &BTreeMap<String, Contract>) -> Result<(), String> {
    for point in &plan.points {
        let Some(contract) = contracts.get(&point.contract) else { continue };
        for row in plan.members_at(point) {
            let PlannedRow { label, protocol, .. } = &plan.rows[row];
            if let Some(reason) = contract.why_not_in(*protocol) {
                return Err(format!("{label}: {reason}"));
            }
            if protocol.is_http2() && point.connection_use.requests.is_some() {
                return Err(format!(
                    "{label}: \"requests-per-connection\" works over HTTP/1.1 only: leave it out, or leave out the rows in h2 and h2c"
                ));
            }
        }
    }
    Ok(())
}

/// Builds every row that is not excluded, and enters its reported version and the folder of its build. Rows
/// whose build fails are excluded. Each service is built once. `after` receives the name of each.
pub fn build_all(
    plan: &mut Plan,
    rows: &mut [Row],
    builder: &Builder,
    supervisor: &Supervisor,
    interrupt: &AtomicBool,
    after: impl Fn(&str) + Sync,
) {
    let mut services: Vec<&Service> = Vec::new();
    for (planned, row) in plan.rows.iter().zip(rows.iter()) {
        if planned.excluded.is_none() && !services.iter().any(|service| service.name == row.service.name) {
            services.push(&row.service);
        }
    }
    let done = Mutex::new(BTreeMap::new());
    let may_begin = || !interrupt.load(Ordering::Relaxed);
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let many = BuildOptions { jobs, force: false, may_begin: &may_begin };
    build::build_many(builder, &services, &Site::new(supervisor, interrupt), many, |service, built| {
        after(&service.name);
        done.lock().expect("no thread panics with the lock").insert(service.name.clone(), built);
    });
    let done = done.into_inner().expect("no thread panics with the lock");
    for (planned, row) in plan.rows.iter_mut().zip(rows.iter_mut()) {
        match done.get(&row.service.name) {
            Some(Some(Ok(built))) => {
                planned.version = Some(built.version.clone());
                planned.content = Some(built.content.clone());
                row.service.place = built.place.clone();
            }
            // An interrupt ends the run: the row is not at fault.
            Some(Some(Err(BuildError::Interrupted)) | None) | None => {}
            Some(Some(Err(error))) => planned.excluded = Some(excluded(error)),
        }
    }
}

fn excluded(error: &BuildError) -> Excluded {
    let why = match error.is_of_this_machine() {
        true => Exclusion::NotOnThisMachine,
        false => Exclusion::NotBuilt,
    };
    Excluded { why, reason: error.to_string() }
}

/// A row that is to be verified against one contract.
#[derive(Debug, Clone)]
struct Candidate<'a> {
    row: usize,
    label: &'a str,
    service: &'a Service,
    contract: &'a Contract,
    service_settings: ServiceSettings,
}

/// Verifies the built rows of `plan`. A row that fails is excluded, or keeps its findings if it is measured
/// as published. Transcripts go to the run folder. `after` receives the name of each.
///
/// # Errors
/// If a transcript cannot be stored, or the machine cannot start a service.
pub fn verify_all(
    plan: &mut Plan,
    rows: &[Row],
    contracts: &BTreeMap<String, Contract>,
    supervisor: &Supervisor,
    run: &Path,
    interrupt: &AtomicBool,
    after: impl Fn(&str) + Sync,
) -> Result<(), CutOff> {
    let candidates = candidates(plan, rows, contracts);
    let found = verify_each(&candidates, plan.seed, supervisor, run, interrupt, after)?;
    for (row, excluded) in found.into_iter().filter_map(|(row, excluded)| Some((row, excluded?))) {
        let row = &mut plan.rows[row];
        if row.as_published && excluded.why == Exclusion::AgainstItsContract {
            row.known_failure = Some(excluded.reason);
        } else {
            row.excluded = Some(excluded);
        }
    }
    Ok(())
}

/// One candidate per row and contract.
fn candidates<'a>(
    plan: &'a Plan,
    rows: &'a [Row],
    contracts: &'a BTreeMap<String, Contract>,
) -> Vec<Candidate<'a>> {
    let mut wanted: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (place, point) in plan.points.iter().enumerate() {
        for row in plan.members_at(point) {
            wanted.entry((row, &point.contract)).or_insert(place);
        }
    }
    let candidate = |((row, contract), point): ((usize, &str), usize)| {
        Some(Candidate {
            row,
            label: &plan.rows[row].label,
            service: &rows[row].service,
            contract: contracts.get(contract)?,
            service_settings: plan.service_settings(row, point),
        })
    };
    wanted.into_iter().filter_map(candidate).collect()
}

/// Verifies candidates, a few at a time. Returns for each row why it cannot take part, if so; rows that an
/// interrupt skipped are missing.
fn verify_each(
    candidates: &[Candidate],
    seed: u64,
    supervisor: &Supervisor,
    run: &Path,
    interrupt: &AtomicBool,
    after: impl Fn(&str) + Sync,
) -> Result<Vec<(usize, Option<Excluded>)>, CutOff> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let work = || -> Result<(), CutOff> {
        while let Some(candidate) = candidates.get(next.fetch_add(1, Ordering::Relaxed)) {
            if interrupt.load(Ordering::Relaxed) {
                return Ok(());
            }
            let excluded = verify_one(candidate, seed, supervisor, run)?;
            // A verification cut off by an interrupt is no evidence about the service.
            if interrupt.load(Ordering::Relaxed) {
                return Ok(());
            }
            after(candidate.label);
            found.lock().expect("no thread panics with the lock").push((candidate.row, excluded));
        }
        Ok(())
    };
    threads::on_several(VERIFIED_AT_ONCE, work).into_iter().collect::<Result<(), CutOff>>()?;
    Ok(found.into_inner().expect("no thread panics with the lock"))
}

fn verify_one(
    candidate: &Candidate,
    seed: u64,
    supervisor: &Supervisor,
    run: &Path,
) -> Result<Option<Excluded>, CutOff> {
    let Candidate { label, service, contract, service_settings, .. } = candidate;
    let failed = |reason: String| {
        let reason = secrets::redact(&reason).into_owned();
        Some(Excluded { why: Exclusion::AgainstItsContract, reason })
    };
    if !service.contracts.contains(&contract.name) {
        let reason = format!("does not declare the contract \"{}\"", contract.name);
        return Ok(Some(Excluded { why: Exclusion::AnotherContract, reason }));
    }
    let folder = service_folder(run, label);
    let serve_on = Ipv4Addr::LOCALHOST;
    let proof = Proof { service_settings, seed, port: None, serve_on, supervisor, folder: &folder };
    match prove_and_record(service, contract, &proof) {
        Err(error) if error.is_of_service() => Ok(failed(error.to_string())),
        Err(error) => Err(InstrumentFailure(format!("{label}: {error}")).into()),
        Ok((transcript, sent)) => {
            if let Some(sent) = sent {
                about::keep_sent(run, label, &contract.name, &sent)?;
            }
            let path = folder.join(format!("verify-{}.json", contract.name));
            let text = serde_json::to_string_pretty(&transcript).map_err(io::Error::from)? + "\n";
            whole::write(&path, secrets::redact(&text).as_bytes())?;
            Ok(transcript.reason().and_then(|reason| failed(format!("in verification: {reason}"))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixture::{self, published},
        plan::SequentialOptions,
    };
    use tare_service::catalogue::{Catalogue, RawSocket, select};

    fn rows(labels: &[&str]) -> Vec<Row> {
        let contracts = published::contracts();
        let names: Vec<&str> = contracts.keys().map(String::as_str).collect();
        let raw_socket = RawSocket {
            program: "tare".into(),
            contracts: [("hello".to_owned(), "hello".to_owned())].into(),
        };
        let catalogue = Catalogue::load(&published::root(), &names, raw_socket).unwrap();
        select(&catalogue, labels.iter().copied()).unwrap()
    }

    #[test]
    fn a_row_is_proved_once_for_each_contract_of_its_points() {
        let contracts = published::contracts();
        let labels = ["hyper", "axum"];
        let mut plan = fixture::under_loads(fixture::plan(&labels), &[16, 64, 256]);
        plan.points[2].contract = "rest".to_owned();
        plan.points[2].rows = vec![1];
        let (rows, labels_of) = (rows(&labels), |plan: &Plan, rows: &[Row]| -> Vec<(String, String)> {
            let found = candidates(plan, rows, &contracts);
            found.iter().map(|found| (found.label.to_owned(), found.contract.name.clone())).collect()
        });
        let pair = |row: &str, contract: &str| (row.to_owned(), contract.to_owned());
        let expected = [pair("hyper", "hello"), pair("axum", "hello"), pair("axum", "rest")];
        assert_eq!(labels_of(&plan, &rows), expected);
        plan.rows[0].excluded = Some(Excluded { why: Exclusion::NotBuilt, reason: String::new() });
        assert_eq!(labels_of(&plan, &rows), expected[1..], "what was not built is not proved");
    }

    #[test]
    fn a_row_is_proved_with_the_settings_of_its_first_point() {
        let plan = published::plan("restinio-2017", &SequentialOptions::default());
        let labels: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
        let contracts = published::contracts();
        let rows = rows(&labels);
        for candidate in candidates(&plan, &rows, &contracts) {
            let own = plan.rows[candidate.row].threads.unwrap_or(1);
            assert_eq!(candidate.service_settings.threads, own, "{}", candidate.label);
        }
    }

    #[test]
    fn why_a_service_was_not_built_is_kept_apart_from_what_is_missing_here() {
        let (command, reason) = ("ghc --version".to_owned(), "cannot run".to_owned());
        let missing = BuildError::Missing(build::Missing { command, reason, debian: Vec::new(), hint: None });
        assert_eq!(excluded(&missing).why, Exclusion::NotOnThisMachine);
        assert_eq!(excluded(&BuildError::Interrupted).why, Exclusion::NotBuilt);
    }
}
