//! The requests of a load as bytes, from curl-like options or from a contract. It sends nothing.
//!
//! Each byte costs the server time, so nothing is added unasked: a request has `Host`, the headers of the
//! user, and with a body `Content-Type` and `Content-Length`.

use anyhow::{Context, ensure};
use tare_base::spelling::suggestion;
use tare_contract::{Contract, Varied, VariedTexts};
use tare_load::{Exchange, Expected, ExpectedBody};
use tare_service::learn::content_type;

pub(crate) use crate::command::sent::{Header, body, header, method};
use crate::command::{sent::NO_PLACEHOLDERS, target::url::Url};

/// The number of exchanges if placeholders vary them; they then repeat.
const VARIED_EXCHANGES: usize = 512;
/// The number of exchanges of a contract that draws rows. A load requests no other rows.
const EXCHANGES_OF_ROWS: usize = 65_536;

/// The common part of all requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequestSpec {
    /// The method; the default is POST with a body and GET without.
    pub method: Option<String>,
    /// Headers as given: `Name: value`, `Name;` for an empty value, `Name:` to omit a default header.
    pub headers: Vec<Header>,
    pub body: Option<Vec<u8>>,
}

impl RequestSpec {
    pub(crate) fn method(&self) -> &str {
        let usual = if self.body.is_some() { "POST" } else { "GET" };
        self.method.as_deref().unwrap_or(usual)
    }

    /// The request for a URL; the expected response is not known yet.
    pub(crate) fn exchange(&self, url: &Url) -> Exchange {
        Exchange {
            request: self.bytes(url),
            is_head: self.method() == "HEAD",
            expected: Expected { status: 200, body: ExpectedBody::Any },
            name: format!("{} {}", self.method(), url.path),
            step: None,
        }
    }

    /// The requests for these URLs, in turn; [`VARIED_EXCHANGES`] of them if placeholders vary one.
    ///
    /// # Errors
    /// A placeholder is unknown.
    pub(crate) fn exchanges(&self, urls: &[Url], seed: u64) -> anyhow::Result<Vec<Exchange>> {
        let varied = urls.iter().map(|url| self.varied(url)).collect::<anyhow::Result<Vec<Varied>>>()?;
        if !varied.iter().any(Varied::varies) {
            return Ok(urls.iter().map(|url| self.exchange(url)).collect());
        }
        let rounds = VARIED_EXCHANGES.div_ceil(urls.len());
        let of_url = |(place, (url, varied)): (usize, (&Url, &Varied))| {
            let filled = varied.fill(seed.wrapping_add(place as u64), rounds);
            filled.into_iter().map(|texts| self.filled(url, texts)).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = urls.iter().zip(&varied).enumerate().map(of_url).map(Vec::into_iter).collect();
        Ok((0..rounds).flat_map(|_| all.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>()).collect())
    }

    /// The path, the header values, and the body if it is text.
    fn varied(&self, url: &Url) -> anyhow::Result<Varied> {
        let values = self.headers.iter().map(|header| header.value.as_deref().unwrap_or_default());
        let texts: Vec<&str> = values.chain(self.body_text()).collect();
        Varied::parse(&url.path, &texts).context(NO_PLACEHOLDERS)
    }

    fn body_text(&self) -> Option<&str> {
        std::str::from_utf8(self.body.as_deref()?).ok()
    }

    fn filled(&self, url: &Url, VariedTexts { path, texts }: VariedTexts) -> Exchange {
        let mut texts = texts.into_iter();
        let mut spec = self.clone();
        for (header, value) in spec.headers.iter_mut().zip(texts.by_ref()) {
            header.value = header.value.is_some().then_some(value);
        }
        if self.body_text().is_some() {
            spec.body = texts.next().map(String::into_bytes);
        }
        Exchange { name: self.exchange(url).name, ..spec.exchange(&Url { path, ..url.clone() }) }
    }

    fn bytes(&self, url: &Url) -> Vec<u8> {
        let named = |name: &str| self.headers.iter().any(|header| header.name.eq_ignore_ascii_case(name));
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method(), url.path);
        if !named("host") {
            head += &format!("Host: {}\r\n", url.authority);
        }
        for header in &self.headers {
            if let Some(value) = &header.value {
                head += &format!("{}: {value}\r\n", header.name);
            }
        }
        if let Some(body) = &self.body {
            if !named("content-type") {
                head += &format!("Content-Type: {}\r\n", content_type(body));
            }
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        [head.as_bytes(), b"\r\n", self.body.as_deref().unwrap_or_default()].concat()
    }
}

/// A request of a contract, and its weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Only {
    name: String,
    weight: Option<u32>,
}

impl Only {
    pub(crate) fn new(name: String, weight: Option<u32>) -> Only {
        Only { name, weight }
    }

    pub(crate) fn parts(&self) -> (String, Option<u32>) {
        (self.name.clone(), self.weight)
    }
}

/// Parses `NAME` or `NAME=WEIGHT`.
pub(crate) fn only(text: &str) -> anyhow::Result<Only> {
    let Some((name, weight)) = text.split_once('=') else {
        return Ok(Only { name: text.to_owned(), weight: None });
    };
    let number = weight.parse().ok().filter(|weight| (1..=1_000).contains(weight));
    let number = number.with_context(|| format!("the weight \"{weight}\" of \"{name}\" is not 1 to 1000"))?;
    Ok(Only { name: name.to_owned(), weight: Some(number) })
}

/// The contract with only the named requests and sequences as its load. Verify-only requests may be named
/// too.
pub(crate) fn narrowed(of: &Contract, only: &[Only]) -> anyhow::Result<Contract> {
    let mut contract = of.clone();
    if only.is_empty() {
        return Ok(contract);
    }
    let names: Vec<&str> = of.loadable().collect();
    contract.parts_mut().for_each(|part| *part.load = false);
    for wanted in only {
        let found = contract.parts_mut().find(|part| part.name == wanted.name);
        let part = found.with_context(|| {
            let nearest = suggestion(&wanted.name, names.iter().copied());
            format!("--only: the contract \"{}\" has no request \"{}\"{nearest}", of.name, wanted.name)
        })?;
        ensure!(!*part.load, "--only: the request \"{}\" stands twice: give it a weight", wanted.name);
        *part.load = true;
        *part.weight = wanted.weight.unwrap_or(*part.weight);
    }
    Ok(contract)
}

/// The drawn values of a load, if the server already knows the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    /// The seed of the rows.
    pub rows_seed: u64,
    /// The most exchanges that are made in advance: without rows, and with drawn rows.
    pub exchanges: usize,
    pub exchanges_of_rows: usize,
}

/// The exchanges of a contract, with its required answers.
pub(crate) fn of_contract(contract: &Contract, seed: u64, url: &Url) -> Vec<Exchange> {
    let (exchanges, exchanges_of_rows) = (VARIED_EXCHANGES, EXCHANGES_OF_ROWS);
    drawn(contract, &Drawn { rows_seed: seed, exchanges, exchanges_of_rows }, seed, url)
}

/// The same with these rows, and at most this number of exchanges.
pub(crate) fn drawn(contract: &Contract, draws: &Drawn, seed: u64, url: &Url) -> Vec<Exchange> {
    let count = contract.exchanges_ahead(draws.exchanges, draws.exchanges_of_rows);
    contract.with_rows_of(draws.rows_seed).exchanges_for_load(seed, count, &url.authority)
}
