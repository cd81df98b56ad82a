//! Endurance tests beyond a contract: repeated bad input, a long-lived connection, many connections with few
//! threads, and SIGTERM under load.
//!
//! [`run`] starts the service, runs each [`Stage`], stops it, and returns the results as data. It measures
//! nothing: the speed of a stage is only noted. Every stage has a time limit.

mod evaluate;
mod load;
mod memory;
mod sigterm;
mod stage;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub use stage::{Endurance, Stage, StageFigures, StageResult};

use memory::MemoryCourse;
use tare_host::process::Sandbox;
use tare_load::{Connections, Generator};

use crate::catalogue::{Service, ToleratedCheck};
use crate::drive::{self, DriveError, LoadWay};
use crate::launch::{self, LaunchError, LaunchSettings, Ready};
use crate::probe::Readiness;
use crate::prove::Proof;
use crate::prove::{CHECKS_AFTER_LOAD, verify_options};
use crate::verify::{self, CheckOutcome};
use tare_contract::{CheckId, Contract};

/// The contract with the most requests in its load; of equals the first.
pub fn richest<'c>(contracts: impl Iterator<Item = &'c Contract>) -> Option<&'c Contract> {
    // `min_by_key` keeps the first of equals, `max_by_key` the last.
    contracts.min_by_key(|contract| std::cmp::Reverse(contract.loaded().count()))
}

/// Runs all stages with `service`, which is known to satisfy `contract`. After `interrupt` the remaining
/// stages are skipped.
///
/// # Errors
/// The service cannot be launched.
pub fn run(
    service: &Service,
    contract: &Contract,
    proof: &Proof,
    interrupt: &Arc<AtomicBool>,
) -> Result<Endurance, LaunchError> {
    let Proof { service_settings, seed, port, serve_on, supervisor, folder } = *proof;
    let settings = LaunchSettings {
        contract,
        service_settings,
        cpus: &[],
        seed,
        readiness: Readiness::AnswersRightly,
        port,
        serve_on,
        sandbox: &Sandbox::default(),
    };
    let ready = launch::launch(service, &settings, supervisor, folder, "endure")?;
    let memory = MemoryCourse::default();
    let threads = service_settings.threads;
    let trial = EnduranceTrial { service, contract, threads, seed, ready, interrupt, memory };
    Ok(Endurance { contract: contract.name.clone(), stages: trial.all() })
}

type Make = fn(&EnduranceTrial<'_>) -> StageResult;

/// The stages that the service must survive.
const ALIVE: [(Stage, Make); 3] = [
    (Stage::BadInput, bad_input),
    (Stage::LongConnection, load::long_connection),
    (Stage::Crowd, load::crowd),
];

/// A running service and the context of its stages.
struct EnduranceTrial<'a> {
    service: &'a Service,
    contract: &'a Contract,
    threads: usize,
    seed: u64,
    ready: Ready,
    interrupt: &'a Arc<AtomicBool>,
    memory: MemoryCourse,
}

impl EnduranceTrial<'_> {
    fn all(self) -> Vec<StageResult> {
        let mut stages = Vec::new();
        let mut broken = None;
        for (stage, make) in ALIVE {
            stages.push(match self.reason_to_skip(stage, broken) {
                Some(reason) => StageResult::skipped(stage, reason),
                None => self.go_through(stage, make, &mut broken),
            });
        }
        stages.push(match self.reason_to_skip(Stage::Sigterm, broken) {
            Some(reason) => StageResult::skipped(Stage::Sigterm, reason),
            None => sigterm::under_load(self),
        });
        stages
    }

    fn go_through(&self, stage: Stage, make: Make, broken: &mut Option<Stage>) -> StageResult {
        let mut result = make(self);
        if let (CheckOutcome::Fail(reason), Some(why)) = (&result.outcome, self.known_failure(stage)) {
            result.outcome = CheckOutcome::Warn(format!("{reason} (known failure: {why})"));
        }
        // A service that does not recover has failed, even with a known failure.
        if let Some(reason) = self.wrong_after(stage) {
            *broken = Some(stage);
            result.fail_too(reason);
        } else if stage == Stage::Crowd
            && let Some(reason) = self.wrong_in(&[CheckId::Date], 0)
        {
            // A Date that stopped in any stage is still stopped after the last one. The check takes a second.
            result.fail_too(format!("wrong after it: {reason}"));
        }
        if stage == Stage::Crowd
            && let Some(warning) = self.memory.warning()
        {
            result.warn_too(warning);
        }
        result
    }

    fn reason_to_skip(&self, stage: Stage, broken: Option<Stage>) -> Option<String> {
        if let Some(broken) = broken {
            return Some(format!("{broken} broke the service"));
        }
        if self.interrupt.load(Ordering::Relaxed) {
            return Some("interrupted".to_owned());
        }
        match stage {
            Stage::BadInput if self.contract.bad.is_empty() => {
                Some("the contract has no [[bad]] request".to_owned())
            }
            Stage::LongConnection if !self.service.run.keeps_connections => {
                Some("the manifest says that it closes each connection".to_owned())
            }
            Stage::LongConnection => self.known_failure(stage).map(|why| format!("known failure: {why}")),
            Stage::BadInput | Stage::Crowd | Stage::Sigterm => None,
        }
    }

    fn known_failure(&self, stage: Stage) -> Option<&str> {
        let check = match stage {
            Stage::LongConnection => ToleratedCheck::KeepAlive,
            Stage::Crowd => ToleratedCheck::Crowd,
            Stage::BadInput | Stage::Sigterm => return None,
        };
        self.service.known_failures.iter().find(|known| known.check == check).map(|known| known.why.as_str())
    }

    /// A generator for the contract's load.
    fn generator(&self, connections: Connections, seed: u64) -> Result<Generator, DriveError> {
        let way =
            LoadWay { host: &self.ready.host, channel: &self.service.channel(), streams: 1, resumes: false };
        drive::generator_in(self.contract, &way, self.ready.address.clone(), connections, &[], seed)
    }

    /// Whether the service must keep connections open.
    fn must_keep(&self) -> bool {
        self.service.run.keeps_connections && self.known_failure(Stage::LongConnection).is_none()
    }

    /// What is wrong with the service after a stage, if anything.
    fn wrong_after(&self, stage: Stage) -> Option<String> {
        if let Some(death) = drive::death(&self.ready.process, &format!("in {stage}")) {
            return Some(death);
        }
        self.wrong_in(&CHECKS_AFTER_LOAD, 0).map(|reason| format!("wrong after it: {reason}"))
    }

    fn wrong_in(&self, checks: &[CheckId], round: u64) -> Option<String> {
        let options = verify_options(self.service, self.seed.wrapping_add(round));
        verify::verify_only(self.contract, &self.ready.address, &options, checks).reason()
    }
}

/// Repeats the check `bad-input` with different values: leaks of each refusal add up.
fn bad_input(trial: &EnduranceTrial<'_>) -> StageResult {
    let rounds = Stage::BAD_INPUT_ROUNDS;
    let began = Instant::now();
    for round in 0..rounds {
        if began.elapsed() > load::WITHIN {
            let reason = format!("no error, but only {round} of {rounds} rounds within {:?}", load::WITHIN);
            return StageResult {
                outcome: CheckOutcome::Warn(reason),
                ..StageResult::passed(Stage::BadInput, None)
            };
        }
        if let Some(reason) = trial.wrong_in(&[CheckId::BadInput], round) {
            return StageResult::failed(
                Stage::BadInput,
                format!("round {} of {rounds}: {reason}", round + 1),
            );
        }
    }
    StageResult::passed(Stage::BadInput, Some(format!("{rounds} times")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_richest_contract_has_the_most_requests_in_its_load() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts");
        let contracts = Contract::load_all(&root).unwrap();
        let of = |names: &[&str]| {
            richest(names.iter().map(|name| &contracts[*name])).map(|found| found.name.clone())
        };
        assert_eq!(of(&["hello", "strings", "rest", "api"]).as_deref(), Some("rest"));
        assert_eq!(of(&["hello", "strings", "api"]).as_deref(), Some("strings"));
        assert_eq!(of(&["hello", "api"]).as_deref(), Some("hello"));
        assert_eq!(of(&["api", "hello"]).as_deref(), Some("api"));
        assert_eq!(of(&[]), None);
    }
}
