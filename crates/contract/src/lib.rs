//! Contracts: files that define right answers. One contract drives verification, load and reference.
//!
//! [`Contract::load`] reads a file, [`Contract::exchange`] makes a request with its expected answer. This
//! crate opens no connection and knows no services.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod answer;
mod any_row;
mod backing;
mod built_in;
mod capture;
mod check;
mod data;
mod encoding;
mod error;
mod exchange;
mod expectation;
mod file;
mod fixed;
mod header;
mod html;
mod json_path;
mod lower;
mod multipart;
mod newer;
mod placeholder;
mod plain_or;
pub mod protocol;
mod row_set;
mod scoped;
mod sequence;
#[cfg(test)]
mod tests;
mod varied;

use std::collections::BTreeMap;
use std::path::Path;

pub use any_row::{AnyRow, Changed, ChangedRows, Changes};
pub use backing::{BackingNeeds, PostgresTables, Statements, UpstreamTable};
pub use capture::Capture;
pub use check::{CheckId, CheckLevel, CheckText};
pub use data::with_tables;
pub use encoding::Encoding;
pub use error::{ContractError, Problem};
pub use exchange::Filled;
pub use exchange::chunk;
pub use expectation::HeaderRule;
pub use fixed::{NotFixed, fixed_response};
pub use json_path::{JsonPath, JsonPathError};
pub use placeholder::{BRACES, BRACES_PLACEHOLDER, LABEL_LENGTH_MAX};
pub use placeholder::{
    Computed, DataTable, Placeholder, PlaceholderError, PlaceholderKind, TableError, Template, Values,
};
pub use row_set::RowSet;
pub use sequence::{LoadablePart, Sequence};
pub use varied::{Varied, VariedTexts};

use tare_base::document;
use tare_load::{Protocol, exchange::BodyShape};

/// The newest supported format of contract files, `major.minor`.
pub const FORMAT: &str = "1.2";
/// Older formats, all of them subsets.
const FORMAT_1_0: &str = "1.0";
pub const FORMAT_1_1: &str = "1.1";

#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// The file name without extension.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The protocols that may be used; at least one.
    pub protocols: Vec<Protocol>,
    /// Effects of environment variables under this contract: variable and sentence.
    pub service: BTreeMap<String, String>,
    /// Most different exchanges prepared for a load. Absent: the default of the kind of load.
    exchanges: Option<usize>,
    /// Tables by name.
    tables: placeholder::Tables,
    /// The backing services that it needs.
    pub backing: BackingNeeds,
    /// The valid requests and their answers, in the order of the file.
    pub requests: Vec<Request>,
    /// The sequences of requests on one connection, in the order of the file.
    pub sequences: Vec<Sequence>,
    /// The requests that must get a 4xx status.
    pub bad: Vec<Bad>,
    checks: BTreeMap<CheckId, CheckLevel>,
}

/// A request and its expected answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Unique among the requests of the contract.
    pub name: String,
    pub ask: Ask,
    /// Whether it is part of the load. It is verified in any case.
    pub load: bool,
    /// Its relative frequency in the load.
    pub weight: u32,
    pub answer: ExpectedAnswer,
    /// An alternative right answer of a service that does not offer the feature.
    pub otherwise: Option<ExpectedAnswer>,
    /// The database work of one answer.
    pub statements: Option<Statements>,
    /// Values captured from its answer for later steps.
    pub captures: Vec<Capture>,
}

/// A request that must be rejected.
#[derive(Debug, Clone, PartialEq)]
pub struct Bad {
    /// Unique among the bad requests of the contract.
    pub name: String,
    pub ask: Ask,
}

/// A request before its placeholders are filled.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The method, in upper case.
    pub method: String,
    pub path: Template,
    /// Headers besides `Host` and `Content-Length`, ordered by name.
    pub headers: Vec<(String, Template)>,
    /// The body, if any; an empty body is still announced.
    pub body: Option<Template>,
    pub framing: BodyFraming,
}

/// How a request marks the end of its body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BodyFraming {
    /// By `Content-Length`.
    #[default]
    Length,
    /// By `Transfer-Encoding: chunked`, in chunks of 16 KiB.
    Chunked,
}

/// The expected answer, before its placeholders are filled.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedAnswer {
    pub status: u16,
    /// The media type with parameters, if the contract requires one.
    pub content_type: Option<String>,
    /// The rules for headers, ordered by name.
    pub headers: Vec<(String, HeaderRule)>,
    pub body: Body,
    /// The rows in the body.
    pub row_sets: Vec<RowSet>,
    /// Encodings that the body may have; empty: none.
    pub encodings: Vec<Encoding>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Exactly these bytes.
    Exact(Template),
    /// This JSON value in any spelling; the order of members is free.
    Json(Template),
    /// JSON with wildcards. With `extra`, objects may have further members.
    Pattern {
        template: Template,
        extra: bool,
    },
    /// A body of this length, or a text that matches this pattern.
    Shape(BodyShape),
    /// HTML that a browser parses like this.
    Html(Template),
    /// Rows chosen by the service.
    AnyRow(AnyRow),
    Any,
}

impl Ask {
    fn templates(&self) -> impl Iterator<Item = &Template> {
        std::iter::once(&self.path).chain(self.headers.iter().map(|(_, value)| value)).chain(&self.body)
    }

    fn templates_mut(&mut self) -> impl Iterator<Item = &mut Template> {
        let headers = self.headers.iter_mut().map(|(_, value)| value);
        std::iter::once(&mut self.path).chain(headers).chain(&mut self.body)
    }
}

impl Contract {
    fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.requests.iter().map(|request| &request.ask).chain(self.bad.iter().map(|bad| &bad.ask))
    }

    /// Sets the values of the environment variables that it sends, as given by `value_of`.
    pub fn enter_secrets(&mut self, value_of: &impl Fn(&str) -> Option<String>) {
        let requests = self.requests.iter_mut().map(|request| &mut request.ask);
        let asks = requests.chain(self.bad.iter_mut().map(|bad| &mut bad.ask));
        asks.flat_map(Ask::templates_mut).for_each(|template| template.enter_secrets(value_of));
    }

    /// Why `protocol` cannot be used; absent if it can.
    pub fn why_not_in(&self, protocol: Protocol) -> Option<String> {
        let names: Vec<&str> = self.protocols.iter().map(|protocol| protocol.name()).collect();
        let names = names.join(", ");
        (!self.protocols.contains(&protocol)).then(|| {
            format!(
                "the contract \"{}\" may be asked in {names}, and not in {protocol}: its file says so by `protocols` and `tls`",
                self.name
            )
        })
    }

    /// The first variable that it sends but that has no value: requests are impossible without it.
    pub fn missing_variable(&self) -> Option<&str> {
        self.asks().flat_map(Ask::templates).find_map(|template| template.missing().next())
    }

    /// Reads the contract at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or is not a valid contract; the error names the line.
    pub fn load(path: &Path) -> Result<Contract, ContractError> {
        let text = document::read(path)?;
        Contract::parse(&text, path)
    }

    /// Parses the contract in `text`. `path` gives its name and appears in errors.
    ///
    /// # Errors
    /// The text is not a valid contract; the error names the line.
    pub fn parse(text: &str, path: &Path) -> Result<Contract, ContractError> {
        let file: file::ContractFile = document::parse_one_of(path, text, &[FORMAT_1_0, FORMAT_1_1, FORMAT])?;
        lower::lower(file, text, path)
    }

    /// Reads every `*.toml` in the folder `dir`, by name.
    ///
    /// # Errors
    /// The folder cannot be listed, or one of the files is not a valid contract.
    pub fn load_all(dir: &Path) -> Result<BTreeMap<String, Contract>, ContractError> {
        let list = |source| ContractError::List { path: dir.to_owned(), source };
        let mut contracts = BTreeMap::new();
        for entry in std::fs::read_dir(dir).map_err(list)? {
            let path = entry.map_err(list)?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let contract = Contract::load(&path)?;
                contracts.insert(contract.name.clone(), contract);
            }
        }
        Ok(contracts)
    }

    /// The level of `check` under this contract, explicit or default.
    pub fn level(&self, check: CheckId) -> CheckLevel {
        self.checks.get(&check).copied().unwrap_or(check.usual_level())
    }

    /// The contract with only these requests and sequences in its load; absent if a name is unknown. A step
    /// cannot be in the load without its sequence.
    pub fn narrowed(&self, names: &[String]) -> Option<Contract> {
        let known: Vec<&str> = self.loadable().collect();
        let is_known = |name: &String| known.contains(&name.as_str());
        let mut contract = self.clone();
        contract.parts_mut().for_each(|part| *part.load = names.iter().any(|name| name == part.name));
        (names.iter().all(is_known) && !names.is_empty()).then_some(contract)
    }
}
