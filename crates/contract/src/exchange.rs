//! Fills a contract's placeholders to produce the bytes of a request and the expected answer.
//!
//! The exact request is part of the contract, because every header costs the server time. So a request has
//! `Host`, the contract's own headers, `Content-Length` or `Transfer-Encoding` if there is a body, and
//! nothing else: no `User-Agent`, no `Accept`, no `Connection`.

use std::sync::Arc;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_load::exchange::{BodyJudge, Exchange, Expected, ExpectedBody, Judged};
use tare_load::pattern::JsonPattern;

use super::encoding::EncodedJudge;
use super::html::HtmlJudge;
use super::placeholder::{Placeholder, Template, Values};
use super::row_set::RowForm;
use super::sequence::PartOfLoad;
use super::{Ask, Body, BodyFraming, Contract, ExpectedAnswer, Request};

const CHUNK_BYTES: usize = 16 * 1024;
/// Memory limit of the exchanges prepared for a load.
const AHEAD_BYTES_MAX: usize = 64 << 20;

/// A request with its placeholders filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
    pub framing: BodyFraming,
}

impl Ask {
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        let headers = self.headers.iter().flat_map(|(_, value)| value.placeholders());
        self.path.placeholders().chain(headers).chain(self.body.iter().flat_map(|body| body.placeholders()))
    }

    pub fn fill<R: Rng>(&self, values: &mut Values<'_, R>) -> Filled {
        Filled {
            method: self.method.clone(),
            target: self.path.fill_encoded(values),
            headers: self.headers.iter().map(|(name, value)| (name.clone(), value.fill(values))).collect(),
            body: self.body.as_ref().map(|body| match self.is_json() {
                true => body.fill_json(values),
                false => body.fill(values),
            }),
            framing: self.framing,
        }
    }

    /// Whether its Content-Type is JSON.
    fn is_json(&self) -> bool {
        let is_json = |(name, value): &(String, Template)| {
            name.eq_ignore_ascii_case("content-type") && value.to_string().contains("json")
        };
        self.headers.iter().any(is_json)
    }
}

impl Filled {
    pub fn bytes(&self, host: &str) -> Vec<u8> {
        self.bytes_with("HTTP/1.1", host, &[])
    }

    /// The request with another version or more headers; those replace the contract's of the same name.
    pub fn bytes_with(&self, version: &str, host: &str, more: &[(&str, &str)]) -> Vec<u8> {
        let mut text = format!("{} {} {version}\r\nHost: {host}\r\n", self.method, self.target);
        let replaced = |name: &str| more.iter().any(|(more, _)| more.eq_ignore_ascii_case(name));
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.filter(|(name, _)| !replaced(name)).chain(more.iter().copied()) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        // HTTP/1.0 has no chunked encoding.
        let framing = if version == "HTTP/1.0" { BodyFraming::Length } else { self.framing };
        match (&self.body, framing) {
            (None, _) => (text + "\r\n").into_bytes(),
            (Some(body), BodyFraming::Length) => {
                format!("{text}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
            }
            (Some(body), BodyFraming::Chunked) => {
                let mut bytes = format!("{text}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
                for data in body.as_bytes().chunks(CHUNK_BYTES) {
                    bytes.extend_from_slice(&chunk(data));
                }
                bytes.extend_from_slice(b"0\r\n\r\n");
                bytes
            }
        }
    }
}

/// A chunk of a body (RFC 9112, 7.1).
pub fn chunk(data: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat()
}

impl Request {
    /// Fills the placeholders of the request and, with the same values, those of the expected answer. Labels
    /// have `label_length` characters; default: a random number.
    pub fn fill<R: Rng>(&self, rng: &mut R, label_length: Option<usize>) -> (Filled, Expected) {
        self.fill_from(Values::new(rng, label_length))
    }

    /// As [`Request::fill`], with some values already known.
    pub(crate) fn fill_from<R: Rng>(&self, mut values: Values<'_, R>) -> (Filled, Expected) {
        let filled = self.ask.fill(&mut values);
        let expected = self.answer.expected(&mut values);
        (filled, expected)
    }

    /// As [`Request::fill_from`], also with the alternative right answer, if there is one.
    pub fn fill_with_otherwise<R: Rng>(
        &self,
        mut values: Values<'_, R>,
    ) -> (Filled, Expected, Option<Expected>) {
        let filled = self.ask.fill(&mut values);
        let expected = self.answer.expected(&mut values);
        let otherwise = self.otherwise.as_ref().map(|answer| answer.expected(&mut values));
        (filled, expected, otherwise)
    }

    /// One exchange for `host`.
    pub(super) fn exchange<R: Rng>(&self, host: &str, values: Values<'_, R>) -> Exchange {
        let (filled, expected) = self.fill_from(values);
        Exchange {
            request: filled.bytes(host),
            is_head: filled.method == "HEAD",
            expected,
            name: self.name.clone(),
            step: None,
        }
    }

    /// Whether two exchanges of this request can differ.
    pub fn has_placeholders(&self) -> bool {
        self.ask.placeholders().any(|placeholder| placeholder.kind.varies())
    }
}

impl ExpectedAnswer {
    /// The expected answer, with its placeholders filled.
    fn expected<R: Rng>(&self, values: &mut Values<'_, R>) -> Expected {
        let form = if matches!(self.body, Body::Html(_)) { RowForm::Html } else { RowForm::Json };
        for rows in &self.row_sets {
            let text = rows.fill(form, values);
            values.set_rows(&rows.name, text);
        }
        let body = self.body.expected(values);
        let body = match self.encodings.as_slice() {
            [] => body,
            encodings => judged(EncodedJudge { encodings: encodings.to_vec(), expected: body }),
        };
        Expected { status: self.status, body }
    }
}

impl Body {
    fn expected<R: Rng>(&self, values: &mut Values<'_, R>) -> ExpectedBody {
        match self {
            Body::Exact(template) => ExpectedBody::Exact(template.fill(values).into_bytes()),
            Body::Json(template) => {
                let value = serde_json::from_str(&template.fill_json(values));
                ExpectedBody::json(value.expect("tried when the contract was read"))
            }
            Body::Pattern { template, extra } => {
                let value = serde_json::from_str(&template.fill_json(values));
                let value = value.expect("tried when the contract was read");
                ExpectedBody::Pattern(JsonPattern::new(value, *extra))
            }
            Body::Html(template) => judged(HtmlJudge::new(&template.fill_html(values))),
            Body::AnyRow(any) => judged(any.judge()),
            Body::Shape(shape) => ExpectedBody::Shape(shape.clone()),
            Body::Any => ExpectedBody::Any,
        }
    }
}

fn judged(judge: impl BodyJudge + 'static) -> ExpectedBody {
    ExpectedBody::Judged(Judged(Arc::new(judge)))
}

impl Contract {
    /// One exchange of `request` for `host`, with values from `rng`.
    pub fn exchange<R: Rng>(&self, request: &Request, host: &str, rng: &mut R) -> Exchange {
        request.exchange(host, Values::new(rng, None))
    }

    /// About `count` exchanges for a load, sent cyclically. Each request and sequence occurs in proportion to
    /// its weight; the steps of a sequence stay together. There are fewer if they would take too much memory,
    /// and one for each unit of weight if no request has placeholders.
    ///
    /// They form rounds that contain the whole mix in different orders. With one fixed order, connections
    /// that start whole rounds apart would send the same requests at the same time.
    pub fn exchanges_for_load(&self, seed: u64, count: usize, host: &str) -> Vec<Exchange> {
        let parts = self.parts_of_load();
        let divisor = parts.iter().fold(0, |gcd, (_, weight)| greatest_common_divisor(gcd, *weight));
        let mut round: Vec<PartOfLoad<'_>> = Vec::new();
        for (part, weight) in &parts {
            round.extend(std::iter::repeat_n(*part, (weight / divisor) as usize));
        }
        let exchanges_of_round: usize = round.iter().map(PartOfLoad::exchanges).sum();
        let rounds = match self.loaded().any(|request| request.has_placeholders()) {
            true => count.div_ceil(exchanges_of_round).max(1),
            false => 1,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut exchanges, mut bytes) = (Vec::new(), 0);
        for _ in 0..rounds {
            round.shuffle(&mut rng);
            exchanges.extend(round.iter().flat_map(|part| self.exchanges_of(*part, host, &mut rng)));
            bytes += exchanges.iter().rev().take(exchanges_of_round).map(bytes_of).sum::<usize>();
            if bytes > AHEAD_BYTES_MAX {
                break;
            }
        }
        exchanges
    }
}

/// Approximate memory of an exchange; the generator copies the request once.
fn bytes_of(exchange: &Exchange) -> usize {
    let body = match &exchange.expected.body {
        ExpectedBody::Exact(body) => body.len(),
        ExpectedBody::Json(right) => json_bytes(right.value()) + right.bytes_beside_value(),
        _ => 0,
    };
    2 * exchange.request.len() + body
}

/// Approximate memory of a value.
fn json_bytes(value: &serde_json::Value) -> usize {
    const NODE_BYTES: usize = 64;
    let inner = match value {
        serde_json::Value::Array(values) => values.iter().map(json_bytes).sum(),
        serde_json::Value::Object(members) => {
            members.iter().map(|(name, value)| name.len() + json_bytes(value)).sum()
        }
        serde_json::Value::String(text) => text.len(),
        _ => 0,
    };
    NODE_BYTES + inner
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    match b {
        0 => a,
        _ => greatest_common_divisor(b, a % b),
    }
}
