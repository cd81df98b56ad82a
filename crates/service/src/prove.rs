//! A service of the catalogue, started for a moment: whether it honours a contract, and what it sends.

use std::{net::SocketAddr, path::Path, time::Duration};

use tare_host::process::Supervisor;

use crate::{
    catalogue::{self, Service},
    contract::{CheckId, Contract},
    knobs::Knobs,
    launch::{self, Settings},
    probe::Readiness,
    verify::{self, Sent, Transcript},
};

/// How long a service may take to stop.
pub const GRACE: Duration = Duration::from_secs(3);

/// What is asked again after the load: that the answers are still right, and still fresh.
pub const CHECKS_AFTER_LOAD: [CheckId; 2] = [CheckId::Response, CheckId::Fresh];

/// What is known of a service beforehand, for verify.
pub fn verify_options(service: &catalogue::Service, seed: u64) -> verify::Options {
    verify::Options {
        style_is_reference: service.style == catalogue::Style::RawSocket,
        closes_connections: !service.keeps_connections,
        known_failures: service.known_failures.iter().filter_map(known_failure).collect(),
        ..verify::Options::new(seed)
    }
}

/// What verifying one service needs to know.
#[derive(Debug, Clone, Copy)]
pub struct Proof<'a> {
    /// What it is told.
    pub knobs: &'a Knobs,
    /// Fills the placeholders.
    pub seed: u64,
    /// A port that the user chose, instead of any free one.
    pub port: Option<u16>,
}

/// Starts `service`, verifies it against `contract`, stops it. `Err` where it could not be started or did not stop.
pub fn prove(
    service: &Service,
    contract: &Contract,
    proof: &Proof,
    supervisor: &Supervisor,
    folder: &Path,
) -> Result<Transcript, String> {
    let stem = format!("verify-{}", contract.name);
    while_running(service, contract, proof, supervisor, folder, &stem, |target, options| {
        verify::verify(contract, target, options)
    })
}

/// The same, and what a service that is right sends.
pub fn prove_and_weigh(
    service: &Service,
    contract: &Contract,
    proof: &Proof,
    supervisor: &Supervisor,
    folder: &Path,
) -> Result<(Transcript, Option<Vec<Sent>>), String> {
    let stem = format!("verify-{}", contract.name);
    while_running(service, contract, proof, supervisor, folder, &stem, |target, options| {
        let transcript = verify::verify(contract, target, options);
        let sent = transcript.reason().is_none().then(|| verify::sent(contract, target, options).ok());
        (transcript, sent.flatten())
    })
}

/// Starts `service`, looks at what it sends under `contract`, stops it. `Err` where it does not send right answers.
pub fn weigh_answers(
    service: &Service,
    contract: &Contract,
    proof: &Proof,
    supervisor: &Supervisor,
    folder: &Path,
) -> Result<Vec<Sent>, String> {
    let stem = format!("wire-{}", contract.name);
    while_running(service, contract, proof, supervisor, folder, &stem, |target, options| {
        verify::sent(contract, target, options)
    })?
}

/// Does something with a service that runs; its output goes to `folder/stem.stdout` and `.stderr`.
fn while_running<T>(
    service: &Service,
    contract: &Contract,
    proof: &Proof,
    supervisor: &Supervisor,
    folder: &Path,
    stem: &str,
    look: impl FnOnce(SocketAddr, &verify::Options) -> T,
) -> Result<T, String> {
    let Proof { knobs, seed, port } = *proof;
    let settings = Settings { contract, knobs, cpus: &[], seed, readiness: Readiness::Speaks, port };
    let ready =
        launch::launch(service, &settings, supervisor, folder, stem).map_err(|error| error.to_string())?;
    let mut options = verify_options(service, seed);
    options.timeouts.answer += Duration::from_millis(knobs.delay_ms);
    let seen = look(ready.address, &options);
    let stopped = ready.process.stop(GRACE);
    match stopped.is_clean() {
        true => Ok(seen),
        false => Err(stopped.to_string()),
    }
}

/// A known failure as verify takes it; absent for a check that verify does not make.
fn known_failure(known: &catalogue::KnownFailure) -> Option<(CheckId, String)> {
    let check = match known.check {
        catalogue::ToleratedCheck::Pipelined => CheckId::Pipelined,
        catalogue::ToleratedCheck::KeepAlive => CheckId::KeepAlive,
        catalogue::ToleratedCheck::ConnectionClose => CheckId::ConnectionClose,
        catalogue::ToleratedCheck::Crowd => return None,
    };
    Some((check, known.why.clone()))
}
