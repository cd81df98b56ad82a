//! What all checks share: the service's address, what was found so far, and how to send a request and evaluate its answer.

use std::net::SocketAddr;
use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_load::exchange::Expected;
use tare_load::http1::Response;

use super::judge::judge;
use super::talk::Talk;
use super::transcript::{CheckResult, Failure, Tried};
use super::{CheckId, Options};
use crate::contract::{Contract, Filled, Request};

#[derive(Debug)]
pub(super) struct Bench<'c> {
    pub contract: &'c Contract,
    pub options: &'c Options,
    pub host: String,
    /// A connection was refused: no check will find more.
    pub unreachable: bool,
    /// The requests that `response` and `fresh` saw answered rightly; all of them until then. Other checks use only
    /// these, so that one fault is reported once and not by each check again.
    pub sound: Vec<&'c Request>,
    /// When the first right answer of the load came, and its `Date`: `date` compares it with a later one.
    pub first_date: Option<(Instant, Option<String>)>,
    /// What `response` expected, by the name of the request: `fresh` knows a cached answer by it.
    pub answered: Vec<(&'c str, Expected)>,
    target: SocketAddr,
}

/// A request with its placeholders filled, and what must come back.
#[derive(Debug)]
pub(super) struct Asked<'c> {
    pub request: &'c Request,
    pub filled: Filled,
    pub expected: Expected,
}

impl<'c> Bench<'c> {
    pub(super) fn new(contract: &'c Contract, target: SocketAddr, options: &'c Options) -> Bench<'c> {
        Bench {
            contract,
            options,
            host: target.to_string(),
            unreachable: false,
            sound: contract.requests.iter().collect(),
            first_date: None,
            answered: Vec::new(),
            target,
        }
    }

    /// Each check has its own stream of randomness, so that a new check does not change what the others send.
    pub(super) fn rng(&self, check: CheckId) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed);
        rng.set_stream(check as u64);
        rng
    }

    /// The sound requests that are part of the load.
    pub(super) fn sound_load(&self) -> Vec<&'c Request> {
        self.sound.iter().copied().filter(|request| request.load).collect()
    }

    /// Makes `check` for each of `requests`.
    pub(super) fn each(
        &mut self,
        check: CheckId,
        requests: Vec<&'c Request>,
        mut make: impl FnMut(&mut Bench<'c>, &'c Request, &mut ChaCha8Rng) -> Tried,
    ) -> Vec<CheckResult> {
        let mut rng = self.rng(check);
        let mut one = |request: &'c Request| {
            let tried = make(self, request, &mut rng);
            CheckResult::of(check, &request.name, tried)
        };
        requests.into_iter().map(&mut one).collect()
    }

    pub(super) fn open(&mut self) -> Result<Talk, Failure> {
        Talk::open(self.target, &self.options.timeouts).map_err(|error| {
            self.unreachable = true;
            Failure::without_wire(format!("cannot connect to \"{}\": {error}", self.target))
        })
    }

    /// The request on a connection of its own; the connection comes back with the answer.
    pub(super) fn ask_alone(&mut self, asked: &Asked<'_>) -> Result<(Talk, Response), Failure> {
        let mut talk = self.open()?;
        talk.send(&asked.filled.bytes(&self.host));
        let response = asked.right_answer(&mut talk)?;
        Ok((talk, response))
    }
}

impl<'c> Asked<'c> {
    pub(super) fn new(request: &'c Request, rng: &mut ChaCha8Rng, label_length: Option<usize>) -> Asked<'c> {
        let (filled, expected) = request.fill(rng, label_length);
        Asked { request, filled, expected }
    }

    pub(super) fn any(request: &'c Request, rng: &mut ChaCha8Rng) -> Asked<'c> {
        Asked::new(request, rng, None)
    }

    pub(super) fn is_head(&self) -> bool {
        self.filled.method == "HEAD"
    }

    pub(super) fn judge(&self, response: &Response) -> Result<(), String> {
        judge(response, &self.request.answer, &self.expected)
    }

    /// Reads the next answer and evaluates it.
    pub(super) fn right_answer(&self, talk: &mut Talk) -> Result<Response, Failure> {
        let response =
            talk.answer(self.is_head()).map_err(|trouble| Failure::new(trouble.to_string(), talk))?;
        self.judge(&response).map_err(|reason| Failure::new(reason, talk))?;
        Ok(response)
    }
}
