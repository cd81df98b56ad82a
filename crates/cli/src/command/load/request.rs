//! The requests of a load as bytes, from curl's habits or from a contract. It sends nothing.
//!
//! What a client sends costs the server time, so nothing is added that was not asked for: a request has `Host`, the
//! headers of the user, and with a body `Content-Type` and `Content-Length`.

use std::io::Read;
use tare_host::spelling::suggestion;

use anyhow::{Context, bail, ensure};
use tare_load::{Exchange, Expected, ExpectedBody};
use tare_service::contract::Contract;

use super::url::Url;

/// Number of exchanges that are made of a contract with placeholders; after the last one they start again.
const CONTRACT_EXCHANGES: usize = 512;

/// Headers that say how long the message is.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

/// What `--data` sends a form as, like curl.
const FORM: &str = "application/x-www-form-urlencoded";

/// What every request has in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RequestSpec {
    /// By default POST with a body and GET without.
    pub method: Option<String>,
    /// As given: `Name: value`, `Name;` for an empty value, `Name:` to leave out what would be sent.
    pub headers: Vec<Header>,
    pub body: Option<Vec<u8>>,
}

/// One word of `-H`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    name: String,
    /// `None` leaves the header out.
    value: Option<String>,
}

impl RequestSpec {
    pub(super) fn method(&self) -> &str {
        let usual = if self.body.is_some() { "POST" } else { "GET" };
        self.method.as_deref().unwrap_or(usual)
    }

    /// The request for a URL; the expected response is not known yet.
    pub(super) fn exchange(&self, url: &Url) -> Exchange {
        Exchange {
            request: self.bytes(url),
            is_head: self.method() == "HEAD",
            expected: Expected { status: 200, body: ExpectedBody::Any },
            name: format!("{} {}", self.method(), url.path),
        }
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
                head += &format!("Content-Type: {FORM}\r\n");
            }
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        [head.as_bytes(), b"\r\n", self.body.as_deref().unwrap_or_default()].concat()
    }
}

/// A header as curl takes it.
pub(super) fn header(text: &str) -> anyhow::Result<Header> {
    let (name, value) = match text.split_once(':') {
        Some((name, value)) => (name, Some(value.trim()).filter(|value| !value.is_empty())),
        None => {
            let name = text.strip_suffix(';');
            let name = name.with_context(|| {
                format!(
                    "\"{text}\" is not a header: give a name, a colon and a value, such as \"Accept: */*\""
                )
            })?;
            (name, Some(""))
        }
    };
    check_token(name, "the name of a header")?;
    if let Some(framing) = FRAMING.iter().find(|framing| framing.eq_ignore_ascii_case(name)) {
        bail!("the header {framing} follows from --data and is not given by -H");
    }
    let value = value.map(str::to_owned);
    let is_text = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    ensure!(
        value.as_deref().unwrap_or_default().bytes().all(is_text),
        "the value of the header {name} has a control character: leave it out"
    );
    Ok(Header { name: name.to_owned(), value })
}

pub(super) fn method(text: &str) -> anyhow::Result<String> {
    check_token(text, "a method")?;
    ensure!(
        text != "CONNECT",
        "CONNECT asks for a tunnel, whose bytes are no responses: give another method"
    );
    Ok(text.to_owned())
}

fn check_token(text: &str, what: &str) -> anyhow::Result<()> {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    ensure!(
        !text.is_empty() && text.bytes().all(is_token_byte),
        "{text:?} is not {what}: it has letters, digits and -, no spaces"
    );
    Ok(())
}

/// `TEXT`, `@FILE` or `@-` for standard input, byte for byte.
pub(super) fn body(word: &str) -> anyhow::Result<Vec<u8>> {
    match word.strip_prefix('@') {
        None => Ok(word.as_bytes().to_vec()),
        Some("-") => {
            let mut body = Vec::new();
            std::io::stdin().read_to_end(&mut body).context("standard input cannot be read")?;
            Ok(body)
        }
        Some(path) => std::fs::read(path).with_context(|| format!("{path} cannot be read")),
    }
}

/// A request of a contract, and how often it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Only {
    name: String,
    weight: Option<u32>,
}

/// `NAME` or `NAME=WEIGHT`.
pub(super) fn only(text: &str) -> anyhow::Result<Only> {
    let Some((name, weight)) = text.split_once('=') else {
        return Ok(Only { name: text.to_owned(), weight: None });
    };
    let number = weight.parse().ok().filter(|weight| (1..=1_000).contains(weight));
    let number = number.with_context(|| format!("the weight \"{weight}\" of \"{name}\" is not 1 to 1000"))?;
    Ok(Only { name: name.to_owned(), weight: Some(number) })
}

/// The contract with these requests as its load, where any are named. One that only verify sends may be named too.
pub(super) fn narrowed(contract: &Contract, only: &[Only]) -> anyhow::Result<Contract> {
    let mut contract = contract.clone();
    if only.is_empty() {
        return Ok(contract);
    }
    contract.requests.iter_mut().for_each(|request| request.load = false);
    for wanted in only {
        let names: Vec<String> = contract.requests.iter().map(|request| request.name.clone()).collect();
        let found = contract.requests.iter_mut().find(|request| request.name == wanted.name);
        let request = found.with_context(|| {
            let nearest = suggestion(&wanted.name, names.iter().map(String::as_str));
            format!("--only: the contract \"{}\" has no request \"{}\"{nearest}", contract.name, wanted.name)
        })?;
        ensure!(!request.load, "--only: the request \"{}\" stands twice: give it a weight", wanted.name);
        request.load = true;
        request.weight = wanted.weight.unwrap_or(request.weight);
    }
    Ok(contract)
}

/// The exchanges of a contract, with the answers that it asks for.
pub(super) fn of_contract(contract: &Contract, seed: u64, url: &Url) -> Vec<Exchange> {
    contract.exchanges_for_load(seed, CONTRACT_EXCHANGES, &url.authority)
}
