//! Shared by all checks: the service's address, earlier findings, sending and evaluating.

use std::rc::Rc;
use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_base::Endpoint;
use tare_load::exchange::Expected;
use tare_load::http1::Response;
use tare_load::sequence::Captured;

use super::evaluate::{evaluate, status_and_body};
use super::patience::Patience;
use super::talk::Talk;
use super::transcript::{CheckResult, Failure, Tried};
use super::{CheckId, VerifyOptions};
use crate::client::AskError;
use tare_contract::{Contract, Filled, Request, Values};

#[derive(Debug)]
pub(super) struct Bench<'c> {
    pub contract: &'c Contract,
    pub options: &'c VerifyOptions,
    pub host: String,
    /// A connection was refused: further checks are useless.
    pub unreachable: bool,
    /// Requests that get an answer, with the standard for it; all requests until `response` has run.
    pub answered: Vec<(&'c Request, Standard)>,
    /// Time and `Date` of the first right answer of the load, which `date` compares with a later one.
    pub first_date: Option<(Instant, Option<String>)>,
    /// The expectations of `response` by request name, which `fresh` uses to recognise cached answers.
    pub expected: Vec<(&'c str, Expected)>,
    pub patience: Rc<Patience>,
    pub target: Endpoint,
}

/// The requirement on an answer in further checks. A wrong answer is reported once, not by each check; a
/// missing one is another matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standard {
    /// All requirements of the contract.
    Contract,
    /// `response` reported the wrong answer: only its status must be the same again.
    Status(u16),
    /// Whether it is right depends on values in the request, as `fresh` reported.
    Any,
}

/// A request with its placeholders filled, and the expected answer.
#[derive(Debug)]
pub(super) struct Asked<'c> {
    pub request: &'c Request,
    pub filled: Filled,
    pub expected: Expected,
    /// An alternative right answer.
    otherwise: Option<Expected>,
    standard: Standard,
}

impl<'c> Bench<'c> {
    pub(super) fn new(contract: &'c Contract, target: &Endpoint, options: &'c VerifyOptions) -> Bench<'c> {
        let leaves_open = options.known_failures.iter().any(|(check, _)| *check == CheckId::ConnectionClose);
        let alone = contract.requests.iter().filter(|request| contract.is_asked_alone(request));
        Bench {
            contract,
            options,
            host: options.host.clone().unwrap_or_else(|| target.to_string()),
            unreachable: false,
            answered: alone.map(|request| (request, Standard::Contract)).collect(),
            first_date: None,
            expected: Vec::new(),
            patience: Rc::new(Patience::new(&options.timeouts, leaves_open)),
            target: target.clone(),
        }
    }

    /// Each check has its own random stream, so that a new check does not change what others send.
    pub(super) fn rng(&self, check: CheckId) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed);
        rng.set_stream(check as u64);
        rng
    }

    /// Requests that get an answer, right or wrong, except later steps of sequences.
    pub(super) fn requests(&self) -> Vec<&'c Request> {
        self.answered.iter().map(|(request, _)| *request).collect()
    }

    /// The answered requests of the load.
    pub(super) fn load(&self) -> Vec<&'c Request> {
        let is_loaded = |request: &&Request| self.contract.is_loaded(request);
        self.requests().into_iter().filter(is_loaded).collect()
    }

    /// The answered requests of the load; if there are none, all of the load.
    pub(super) fn load_at_least(&self) -> Vec<&'c Request> {
        let all = self.contract.loaded().filter(|request| self.contract.is_asked_alone(request));
        match self.load() {
            load if load.is_empty() => all.collect(),
            load => load,
        }
    }

    /// A request of the load, if possible one with a right answer.
    pub(super) fn first(&self) -> Option<&'c Request> {
        let load = self.load();
        load.iter().find(|request| self.is_right(request)).or(load.first()).copied()
    }

    pub(super) fn is_right(&self, request: &Request) -> bool {
        self.standard(request) == Some(Standard::Contract)
    }

    /// Absent if the request gets no answer.
    pub(super) fn standard(&self, request: &Request) -> Option<Standard> {
        let found = self.answered.iter().find(|(answered, _)| answered.name == request.name);
        found.map(|(_, standard)| *standard)
    }

    /// `request` with its placeholders filled, and the standard for its answer.
    pub(super) fn any(&self, request: &'c Request, rng: &mut ChaCha8Rng) -> Asked<'c> {
        let standard = self.standard(request).unwrap_or(Standard::Contract);
        Asked { standard, ..Asked::new(request, rng, None) }
    }

    /// Runs `check` for each of `requests`.
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
        let opened = Talk::open(&self.target, &self.options.channel, &self.patience);
        opened.map_err(|error| self.cannot_connect(&error))
    }

    pub(super) fn cannot_connect(&mut self, error: &AskError) -> Failure {
        let speaks = matches!(error, AskError::Tls(_) | AskError::Http2(_) | AskError::NotHttp2(_));
        self.unreachable |= !speaks;
        Failure::without_wire(format!("cannot connect to \"{}\": {error}", self.target))
    }

    /// Sends the request on a new connection; returns the connection with the answer.
    pub(super) fn ask_alone(&mut self, asked: &Asked<'_>) -> Result<(Talk, Response), Failure> {
        let mut talk = self.open()?;
        talk.send(&asked.filled.bytes(&self.host));
        let response = asked.right_answer(&mut talk)?;
        Ok((talk, response))
    }
}

impl<'c> Asked<'c> {
    pub(super) fn new(request: &'c Request, rng: &mut ChaCha8Rng, label_length: Option<usize>) -> Asked<'c> {
        Asked::of(request, Values::new(rng, label_length))
    }

    /// A request with values captured from earlier steps.
    pub(super) fn of_step(request: &'c Request, rng: &mut ChaCha8Rng, captured: &Captured) -> Asked<'c> {
        Asked::of(request, Values::new(rng, None).with(captured))
    }

    fn of(request: &'c Request, values: Values<'_, ChaCha8Rng>) -> Asked<'c> {
        let (filled, expected, otherwise) = request.fill_with_otherwise(values);
        Asked { request, filled, expected, otherwise, standard: Standard::Contract }
    }

    pub(super) fn is_head(&self) -> bool {
        self.filled.method == "HEAD"
    }

    /// The required status, if there is one.
    pub(super) fn status(&self) -> Option<u16> {
        match self.standard {
            Standard::Contract => Some(self.expected.status),
            Standard::Status(status) => Some(status),
            Standard::Any => None,
        }
    }

    pub(super) fn evaluate(&self, response: &Response) -> Result<(), String> {
        match self.standard {
            Standard::Contract => self.judge_by_contract(response),
            Standard::Status(status) if status != response.status => {
                Err(format!("expected status {status} as before, got {}", status_and_body(response)))
            }
            Standard::Status(_) | Standard::Any => Ok(()),
        }
    }

    /// Accepts the alternative answer too. If neither is right, the error describes the first.
    fn judge_by_contract(&self, response: &Response) -> Result<(), String> {
        let judged = evaluate(response, &self.request.answer, &self.expected);
        let otherwise = self.request.otherwise.as_ref().zip(self.otherwise.as_ref());
        let is_otherwise =
            otherwise.is_some_and(|(answer, expected)| evaluate(response, answer, expected).is_ok());
        if is_otherwise { Ok(()) } else { judged }
    }

    /// Reads the next answer and evaluates it.
    pub(super) fn right_answer(&self, talk: &mut Talk) -> Result<Response, Failure> {
        let response =
            talk.answer(self.is_head()).map_err(|trouble| Failure::new(trouble.to_string(), talk))?;
        match self.evaluate(&response) {
            Ok(()) => Ok(response),
            Err(reason) => Err(Failure::of_answer(reason, talk, response)),
        }
    }
}
