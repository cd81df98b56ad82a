//! Writes a contract as text, in the style of a person.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;

use super::{LearnRequest, Learned, LearnedAnswer};
use tare_load::Protocol;

use tare_contract::{BRACES_PLACEHOLDER, CheckId, CheckLevel, Contract, ContractError, FORMAT, FORMAT_1_1};

/// The parts of a contract.
#[derive(Debug, Clone)]
pub struct Draft {
    pub name: String,
    pub title: String,
    pub requests: Vec<(LearnRequest, LearnedAnswer)>,
    /// Whether each protocol is allowed, not only HTTP/1.1: for a server that already runs.
    pub in_each_protocol: bool,
}

impl Draft {
    /// The contract, parsed from its own text.
    ///
    /// # Errors
    /// A contract cannot express a request or an answer.
    pub fn learned(self) -> Result<Learned, ContractError> {
        let text = self.text();
        let contract = Contract::parse(&text, Path::new(&format!("{}.toml", self.name)))?;
        let required = self.requests.into_iter().map(|(asked, answer)| (asked, answer.required()));
        Ok(Learned { contract, text, required: required.collect(), redirects: Vec::new(), start_up: None })
    }

    fn text(&self) -> String {
        #[derive(Serialize)]
        struct ContractText<'a> {
            format: &'a str,
            name: &'a str,
            title: &'a str,
            #[serde(skip_serializing_if = "<[&str]>::is_empty")]
            protocols: &'a [&'a str],
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            tls: bool,
            checks: BTreeMap<&'a str, CheckLevel>,
            request: Vec<RequestText<'a>>,
        }
        #[derive(Serialize)]
        struct RequestText<'a> {
            name: String,
            method: &'a str,
            path: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            body: Option<&'a str>,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            headers: BTreeMap<&'a str, &'a str>,
            response: &'a LearnedAnswer,
        }
        let requests = self.requests.iter().zip(self.names()).map(|((asked, response), name)| {
            let LearnRequest { method, path, body, headers } = asked;
            let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            RequestText { name, method, path, body: body.as_deref(), headers, response }
        });
        let file = ContractText {
            // The oldest format that suffices, so that an older Tare can read it.
            format: if self.requests.iter().any(|(asked, _)| has_braces(asked)) {
                FORMAT
            } else {
                FORMAT_1_1
            },
            name: &self.name,
            title: &self.title,
            protocols: if self.in_each_protocol { &["http/1.1", "h2", "h2c"] } else { &[] },
            tls: self.in_each_protocol,
            checks: checks(self.in_each_protocol),
            request: requests.collect(),
        };
        toml::to_string(&file).expect("texts, numbers and tables are TOML")
    }

    /// Method and path; requests that differ only in body or headers are numbered.
    fn names(&self) -> Vec<String> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let name = |(asked, _): &(LearnRequest, LearnedAnswer)| {
            let name = asked.to_string();
            let count = seen.entry(name.clone()).and_modify(|count| *count += 1).or_insert(1);
            if *count == 1 { name } else { format!("{name} ({count})") }
        };
        self.requests.iter().map(name).collect()
    }
}

fn has_braces(asked: &LearnRequest) -> bool {
    asked.texts().contains(BRACES_PLACEHOLDER)
}

/// The checks that a learned contract supports: answers, kept connections, and the service's end.
fn checks(in_each_protocol: bool) -> BTreeMap<&'static str, CheckLevel> {
    let level = |check: CheckId| match check {
        CheckId::Response => CheckLevel::Require,
        CheckId::KeepAlive | CheckId::End => CheckLevel::Warn,
        _ => CheckLevel::Skip,
    };
    let is_made = |check: &&CheckId| in_each_protocol || check.concerns(Protocol::Http1);
    let all = CheckId::ALL.iter().filter(|check| **check != CheckId::Backing).filter(is_made);
    all.map(|check| (check.name(), level(*check))).collect()
}
