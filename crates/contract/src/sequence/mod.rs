//! Sequences of a contract: requests sent one after the other on one connection, because later ones use
//! values of earlier answers.

use std::sync::Arc;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_base::spelling::suggestion;
use tare_load::exchange::{Exchange, SequenceStep, StepRule};
use tare_load::http1::Response;
use tare_load::sequence::{Captured, MissingValue};

use super::capture;
use super::error::{Lowered, Problem};
use super::file::{ContractFile, RequestFile, SequenceFile};
use super::placeholder::{PlaceholderKind, Values};
use super::{Contract, Request};

/// Requests sent one after the other on one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// Unique among all sequences and requests of the contract.
    pub name: String,
    /// The indices of its requests in the contract, in order.
    steps: Vec<usize>,
    /// Whether it is part of the load. It is verified in any case.
    pub load: bool,
    /// Its relative frequency in the load.
    pub weight: u32,
}

pub(super) fn sequences(file: &ContractFile, requests: &[Request]) -> Lowered<Vec<Sequence>> {
    let sequences: Vec<Sequence> = file
        .sequences
        .iter()
        .map(|sequence| self::sequence(sequence, file, requests))
        .collect::<Lowered<_>>()?;
    for (place, (request, file)) in requests.iter().zip(&file.requests).enumerate() {
        let is_step = sequences.iter().any(|sequence| sequence.steps.contains(&place));
        if is_step {
            alone_makes_no_sense(file)?;
        } else if let Some(name) = request.captured().next() {
            let (request, name) = (request.name.clone(), name.to_owned());
            return Err((file.name.span().start, Problem::CapturedOutsideOfSequence { request, name }));
        } else if let Some(name) = file.capture.keys().next() {
            return Err((name.span().start, Problem::CaptureForNobody { name: name.get_ref().clone() }));
        }
    }
    Ok(sequences)
}

fn sequence(file: &SequenceFile, contract: &ContractFile, requests: &[Request]) -> Lowered<Sequence> {
    let mut steps: Vec<usize> = Vec::new();
    for name in file.steps.get_ref() {
        let place = requests.iter().position(|request| request.name == *name.get_ref());
        let place = place.ok_or_else(|| {
            let suggestion = suggestion(name.get_ref(), requests.iter().map(|request| request.name.as_str()));
            (name.span().start, Problem::UnknownStep { name: name.get_ref().clone(), suggestion })
        })?;
        let known: Vec<&str> = steps
            .iter()
            .flat_map(|step| &requests[*step].captures)
            .map(|capture| capture.name.as_str())
            .collect();
        if let Some(unknown) = requests[place].captured().find(|used| !known.contains(used)) {
            let (step, name_) = (name.get_ref().clone(), unknown.to_owned());
            return Err((name.span().start, Problem::NotYetCaptured { step, name: name_ }));
        }
        steps.push(place);
    }
    if steps.is_empty() {
        return Err((file.steps.span().start, Problem::SequenceOfNothing));
    }
    if contract.requests.iter().any(|request| request.name.get_ref() == file.name.get_ref()) {
        return Err((file.name.span().start, Problem::Twice { name: file.name.get_ref().clone() }));
    }
    let weight = file.weight.as_ref().map_or(1, |weight| *weight.get_ref());
    match &file.weight {
        Some(weight) if *weight.get_ref() == 0 => Err((weight.span().start, Problem::WeightOfNothing)),
        _ => Ok(Sequence { name: file.name.get_ref().clone(), steps, load: file.load, weight }),
    }
}

/// A step has no weight of its own: its sequence has.
fn alone_makes_no_sense(file: &RequestFile) -> Lowered<()> {
    let name = || file.name.get_ref().clone();
    match &file.weight {
        Some(weight) => Err((weight.span().start, Problem::WeightOfStep { name: name() })),
        None if !file.load => Err((file.name.span().start, Problem::StepOutOfLoad { name: name() })),
        None => Ok(()),
    }
}

impl Request {
    /// Captures the values in its right answer.
    ///
    /// # Errors
    /// A value is missing or cannot be used.
    pub fn capture(&self, response: &Response, captured: &mut Captured) -> Result<(), MissingValue> {
        capture::take(&self.captures, response, captured)
    }

    /// Names of captured values that it uses, in the request or the expected answer.
    fn captured(&self) -> impl Iterator<Item = &str> {
        let placeholders = self.ask.placeholders().chain(self.answer.placeholders());
        let captured = placeholders.filter(|placeholder| placeholder.kind == PlaceholderKind::Captured);
        captured.filter_map(|placeholder| placeholder.name.as_deref())
    }
}

impl Contract {
    /// The requests of a sequence, in order.
    pub fn steps(&self, sequence: &Sequence) -> Vec<&Request> {
        sequence.steps.iter().map(|step| &self.requests[*step]).collect()
    }

    fn has_step(&self, sequence: &Sequence, request: &Request) -> bool {
        sequence.steps.iter().any(|step| self.requests[*step].name == request.name)
    }

    /// Whether it is a step of a sequence.
    pub fn is_step(&self, request: &Request) -> bool {
        self.sequences.iter().any(|sequence| self.has_step(sequence, request))
    }

    /// Whether it can be sent alone: it is no step, or the first step of a sequence.
    pub fn is_asked_alone(&self, request: &Request) -> bool {
        let begins = |sequence: &Sequence| {
            sequence.steps.first().is_some_and(|step| self.requests[*step].name == request.name)
        };
        !self.is_step(request) || self.sequences.iter().any(begins)
    }

    /// The requests that are part of the load; a contract has at least one.
    pub fn loaded(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(|request| self.is_loaded(request))
    }

    /// Whether it is part of the load, alone or as a step.
    pub fn is_loaded(&self, request: &Request) -> bool {
        let mut with_it =
            self.sequences.iter().filter(|sequence| self.has_step(sequence, request)).peekable();
        match with_it.peek() {
            None => request.load,
            Some(_) => with_it.any(|sequence| sequence.load),
        }
    }

    /// Names of possible parts of the load: sequences, and requests that are not steps.
    pub fn loadable(&self) -> impl Iterator<Item = &str> {
        let requests = self.requests.iter().filter(|request| !self.is_step(request));
        requests
            .map(|request| request.name.as_str())
            .chain(self.sequences.iter().map(|sequence| sequence.name.as_str()))
    }

    /// Possible parts of the load, in the order of [`Contract::loadable`].
    pub fn parts_mut(&mut self) -> impl Iterator<Item = LoadablePart<'_>> {
        let is_step: Vec<bool> = self.requests.iter().map(|request| self.is_step(request)).collect();
        let alone = self.requests.iter_mut().zip(is_step).filter(|(_, is_step)| !is_step);
        let alone = alone.map(|(request, _)| LoadablePart {
            name: &request.name,
            load: &mut request.load,
            weight: &mut request.weight,
        });
        let sequences = self.sequences.iter_mut().map(|sequence| LoadablePart {
            name: &sequence.name,
            load: &mut sequence.load,
            weight: &mut sequence.weight,
        });
        alone.chain(sequences)
    }

    /// The parts of the load, with their weights.
    pub(super) fn parts_of_load(&self) -> Vec<(PartOfLoad<'_>, u32)> {
        let alone = self.requests.iter().filter(|request| request.load && !self.is_step(request));
        let alone = alone.map(|request| (PartOfLoad::Request(request), request.weight));
        let sequences = self.sequences.iter().filter(|sequence| sequence.load);
        alone.chain(sequences.map(|sequence| (PartOfLoad::Sequence(sequence), sequence.weight))).collect()
    }

    /// The exchanges of one part of the load.
    pub(super) fn exchanges_of<R: Rng>(
        &self,
        part: PartOfLoad<'_>,
        host: &str,
        rng: &mut R,
    ) -> Vec<Exchange> {
        match part {
            PartOfLoad::Request(request) => vec![self.exchange(request, host, rng)],
            PartOfLoad::Sequence(sequence) => {
                let step = |(place, request)| step(request, place == 0, host, rng.random());
                self.steps(sequence).into_iter().enumerate().map(step).collect()
            }
        }
    }
}

/// The load settings of a request or a sequence.
#[derive(Debug)]
pub struct LoadablePart<'c> {
    pub name: &'c str,
    pub load: &'c mut bool,
    pub weight: &'c mut u32,
}

/// A part of the load.
#[derive(Debug, Clone, Copy)]
pub(super) enum PartOfLoad<'c> {
    Request(&'c Request),
    Sequence(&'c Sequence),
}

impl PartOfLoad<'_> {
    /// Its number of exchanges.
    pub(super) fn exchanges(&self) -> usize {
        match self {
            PartOfLoad::Request(_) => 1,
            PartOfLoad::Sequence(sequence) => sequence.steps.len(),
        }
    }
}

/// A step of one instance of a sequence: apart from captured values, it is the same each time.
#[derive(Debug)]
struct ContractStep {
    request: Request,
    host: String,
    seed: u64,
    uses_captured: bool,
}

fn step(request: &Request, is_first: bool, host: &str, seed: u64) -> Exchange {
    let uses_captured = request.captured().next().is_some();
    let rule = ContractStep { request: request.clone(), host: host.to_owned(), seed, uses_captured };
    let whole = rule.exchange(&Captured::new());
    Exchange { step: Some(SequenceStep { is_first, rule: Arc::new(rule) }), ..whole }
}

impl ContractStep {
    fn exchange(&self, captured: &Captured) -> Exchange {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        self.request.exchange(&self.host, Values::new(&mut rng, None).with(captured))
    }
}

impl StepRule for ContractStep {
    fn fill(&self, captured: &Captured) -> Option<Exchange> {
        self.uses_captured.then(|| self.exchange(captured))
    }

    fn captures(&self) -> bool {
        !self.request.captures.is_empty()
    }

    fn capture(&self, response: &Response, captured: &mut Captured) -> Result<(), MissingValue> {
        self.request.capture(response, captured)
    }
}

#[cfg(test)]
mod tests;
