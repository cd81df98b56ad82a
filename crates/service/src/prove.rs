//! Starts a service briefly, to verify it against a contract or to record what it sends.

use std::{net::Ipv4Addr, path::Path, time::Duration};

use tare_base::Endpoint;
use tare_host::process::{Sandbox, Stopped, Supervisor};

use crate::{
    backing::Backing,
    catalogue::{self, Service},
    launch::{self, LaunchError, LaunchSettings},
    probe::Readiness,
    settings::ServiceSettings,
    verify::{self, CheckResult, Farewell, SentAnswer, Transcript},
};
use tare_contract::{CheckId, Contract};

/// Time limit for a service to stop.
pub const GRACE: Duration = Duration::from_secs(3);

/// Checks to repeat after a load: answers are still correct and fresh.
pub const CHECKS_AFTER_LOAD: [CheckId; 2] = [CheckId::Response, CheckId::Fresh];

/// The verify options for a service, from its manifest.
pub fn verify_options(service: &catalogue::Service, seed: u64) -> verify::VerifyOptions {
    verify::VerifyOptions {
        style_is_reference: service.style == catalogue::Style::RawSocket,
        // HTTP/2 connections always serve many requests, whatever HTTP/1.1 ones do.
        closes_connections: !service.run.keeps_connections && !service.protocol.is_http2(),
        known_failures: service.known_failures.iter().filter_map(known_failure).collect(),
        host: service.running.as_ref().map(|running| running.host.clone()),
        channel: service.channel(),
        ..verify::VerifyOptions::new(seed)
    }
}

/// The parameters of verifying one service.
#[derive(Debug, Clone, Copy)]
pub struct Proof<'a> {
    pub service_settings: &'a ServiceSettings,
    pub seed: u64,
    /// The port chosen by the user; absent: any free port.
    pub port: Option<u16>,
    /// The local address of requests.
    pub serve_on: Ipv4Addr,
    pub supervisor: &'a Supervisor,
    /// The folder of the service's output.
    pub folder: &'a Path,
}

/// Starts `service`, verifies it against `contract` and stops it; the last check concerns its end.
///
/// # Errors
/// The service could not be started.
pub fn prove(service: &Service, contract: &Contract, proof: &Proof) -> Result<Transcript, LaunchError> {
    let stem = format!("verify-{}", contract.name);
    let ((mut transcript, farewell), stopped) =
        while_running(service, contract, proof, &stem, |contract, target, options, backing| {
            let mut transcript = verify::verify(contract, target, options);
            transcript.checks.extend(verify::backing(contract, target, options, backing));
            (transcript, Farewell::open(contract, target, options))
        })?;
    transcript.checks.extend(ends(service, contract, proof, &stopped, farewell));
    Ok(transcript)
}

/// As [`prove`], and records what a correct service sends.
///
/// # Errors
/// As [`prove`].
pub fn prove_and_record(
    service: &Service,
    contract: &Contract,
    proof: &Proof,
) -> Result<(Transcript, Option<Vec<SentAnswer>>), LaunchError> {
    let stem = format!("verify-{}", contract.name);
    let ((mut transcript, sent, farewell), stopped) =
        while_running(service, contract, proof, &stem, |contract, target, options, backing| {
            let mut transcript = verify::verify(contract, target, options);
            transcript.checks.extend(verify::backing(contract, target, options, backing));
            let sent = transcript.reason().is_none().then(|| verify::sent(contract, target, options).ok());
            (transcript, sent.flatten(), Farewell::open(contract, target, options))
        })?;
    transcript.checks.extend(ends(service, contract, proof, &stopped, farewell));
    Ok((transcript, sent))
}

/// Starts `service`, records what it sends under `contract` and stops it.
///
/// # Errors
/// As [`prove`], or an answer is wrong.
pub fn record_answers(
    service: &Service,
    contract: &Contract,
    proof: &Proof,
) -> Result<Vec<SentAnswer>, String> {
    let stem = format!("wire-{}", contract.name);
    let look = |contract: &Contract, target: &Endpoint, options: &verify::VerifyOptions, _: &mut Backing| {
        verify::sent(contract, target, options)
    };
    while_running(service, contract, proof, &stem, look).map_err(|error| error.to_string())?.0
}

/// Calls `look` while the service runs. Output goes to `stem.stdout` and `.stderr`.
fn while_running<T>(
    service: &Service,
    contract: &Contract,
    proof: &Proof,
    stem: &str,
    look: impl FnOnce(&Contract, &Endpoint, &verify::VerifyOptions, &mut Backing) -> T,
) -> Result<(T, Stopped), LaunchError> {
    let Proof { service_settings, seed, port, serve_on, supervisor, folder } = *proof;
    // Services are verified in parallel, so each needs its own record of changes.
    let contract = &contract.detached();
    let settings = LaunchSettings {
        contract,
        service_settings,
        cpus: &[],
        seed,
        readiness: Readiness::Speaks,
        port,
        serve_on,
        sandbox: &Sandbox::default(),
    };
    let mut ready = launch::launch(service, &settings, supervisor, folder, stem)?;
    let mut options = verify_options(service, seed);
    options.allow(Duration::from_millis(service_settings.delay_ms));
    let seen = look(contract, &ready.address, &options, &mut ready.backing);
    Ok((seen, ready.process.stop(GRACE)))
}

/// The checks of the service's end.
fn ends(
    service: &Service,
    contract: &Contract,
    proof: &Proof,
    stopped: &Stopped,
    farewell: Option<Farewell>,
) -> Vec<CheckResult> {
    let options = verify_options(service, proof.seed);
    let is_left = *stopped == Stopped::LeftRunning;
    let farewell = farewell.filter(|_| !is_left).map(|farewell| farewell.result(contract, &options));
    farewell.into_iter().chain([end(service, contract, proof, stopped)]).collect()
}

/// The check `end`, which is reported in addition to the others.
fn end(service: &Service, contract: &Contract, proof: &Proof, stopped: &Stopped) -> CheckResult {
    if *stopped == Stopped::LeftRunning {
        return CheckResult::skipped(CheckId::End, "", "Tare did not start it, and does not end it");
    }
    let end = if stopped.is_clean() { Ok(()) } else { Err(stopped.to_string()) };
    verify::ended(contract, &verify_options(service, proof.seed), end)
}

/// A known failure for verify; absent if verify does not run that check.
fn known_failure(known: &catalogue::KnownFailure) -> Option<(CheckId, String)> {
    let check = match known.check {
        catalogue::ToleratedCheck::Pipelined => CheckId::Pipelined,
        catalogue::ToleratedCheck::KeepAlive => CheckId::KeepAlive,
        catalogue::ToleratedCheck::ConnectionClose => CheckId::ConnectionClose,
        catalogue::ToleratedCheck::RequestForms => CheckId::RequestForms,
        catalogue::ToleratedCheck::NotFound => CheckId::NotFound,
        catalogue::ToleratedCheck::End => CheckId::End,
        catalogue::ToleratedCheck::H2cOnly => CheckId::H2cOnly,
        catalogue::ToleratedCheck::Crowd => return None,
    };
    Some((check, known.why.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::catalogue::{KnownFailure, ToleratedCheck};

    #[test]
    fn every_tolerated_check_of_verify_is_passed_on_by_its_name() {
        for tolerated in [
            ToleratedCheck::Pipelined,
            ToleratedCheck::KeepAlive,
            ToleratedCheck::ConnectionClose,
            ToleratedCheck::RequestForms,
            ToleratedCheck::NotFound,
            ToleratedCheck::End,
            ToleratedCheck::H2cOnly,
        ] {
            let (check, why) =
                known_failure(&KnownFailure { check: tolerated, why: "so".to_owned() }).unwrap();
            assert_eq!(
                (serde_json::to_value(tolerated).unwrap(), why),
                (serde_json::json!(check.name()), "so".to_owned())
            );
        }
        let crowd = KnownFailure { check: ToleratedCheck::Crowd, why: String::new() };
        assert_eq!(known_failure(&crowd), None, "a stage of endurance, no check");
    }
}
