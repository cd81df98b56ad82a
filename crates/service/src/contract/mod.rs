//! Contracts: files that define what a service must answer. One contract drives verify, the load and the reference.
//!
//! [`Contract::load`] reads a file, [`Contract::exchange`] makes a request with its expected answer from it.
//! Nothing here opens a connection, and nothing here knows which services exist.

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
pub use check::{CheckId, CheckText, Level};
pub use data::with_tables;
pub use encoding::Encoding;
pub use error::{ContractError, Problem};
pub use exchange::Filled;
pub(crate) use exchange::chunk;
pub use expectation::HeaderRule;
pub use fixed::{NotFixed, fixed_response};
pub use json_path::{JsonPath, JsonPathError};
pub(crate) use placeholder::{BRACES, BRACES_PLACEHOLDER, LABEL_LENGTH_MAX};
pub use placeholder::{Computed, Kind, Placeholder, PlaceholderError, Table, TableError, Template, Values};
pub use row_set::RowSet;
pub use sequence::{LoadablePart, Sequence};
pub use varied::{Varied, VariedTexts};

use tare_load::{Protocol, exchange::BodyShape};

use crate::document;

/// The format of contract files that this program reads, `major.minor`.
pub const FORMAT: &str = "1.2";
/// Older formats, all of which it has.
const FORMAT_1_0: &str = "1.0";
pub(crate) const FORMAT_1_1: &str = "1.1";

#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// The stem of the file.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// In which it may be asked; at least one.
    pub protocols: Vec<Protocol>,
    /// What the environment variables change under this contract: variable to sentence.
    pub service: BTreeMap<String, String>,
    /// No more different exchanges are made ahead; absent: as their kind needs.
    exchanges: Option<usize>,
    /// By their names.
    tables: placeholder::Tables,
    /// What a service works with.
    pub backing: BackingNeeds,
    /// The right requests and what must come back, in the order of the file.
    pub requests: Vec<Request>,
    /// Which of them come one after the other on one connection, in the order of the file.
    pub sequences: Vec<Sequence>,
    /// The requests that must be answered with a status of the class 4xx.
    pub bad: Vec<Bad>,
    checks: BTreeMap<CheckId, Level>,
}

/// A request and what must come back.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Unique among the requests of the contract.
    pub name: String,
    pub ask: Ask,
    /// Whether it is part of the load; verify proves it in any case.
    pub load: bool,
    /// How often it comes in the load, relative to the others.
    pub weight: u32,
    pub answer: Answer,
    /// Another answer that is right too, of a service that does not offer what is asked for.
    pub otherwise: Option<Answer>,
    /// What an answer takes of the database.
    pub statements: Option<Statements>,
    /// What is taken out of its answer for the steps after it.
    pub captures: Vec<Capture>,
}

/// A request that must be refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Bad {
    /// Unique among the bad requests of the contract.
    pub name: String,
    pub ask: Ask,
}

/// A request before its placeholders are filled.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The method, in capitals.
    pub method: String,
    pub path: Template,
    /// The headers beside `Host` and `Content-Length`, in the order of their names.
    pub headers: Vec<(String, Template)>,
    /// The body, if there is one; an empty one is still announced.
    pub body: Option<Template>,
    pub framing: BodyFraming,
}

/// How a request says where its body ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BodyFraming {
    /// By `Content-Length`.
    #[default]
    Length,
    /// By `Transfer-Encoding: chunked`, in chunks of 16 KiB.
    Chunked,
}

/// The answer that must come back, before its placeholders are filled.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// The media type with its parameters, if the contract requires one.
    pub content_type: Option<String>,
    /// What must come back under these names, in their order.
    pub headers: Vec<(String, HeaderRule)>,
    pub body: Body,
    /// The rows that the body holds.
    pub row_sets: Vec<RowSet>,
    /// In which the body may come; empty: as it is.
    pub encodings: Vec<Encoding>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Exactly these bytes.
    Exact(Template),
    /// Any spelling of this JSON value; the order of an object's members is free.
    Json(Template),
    /// JSON with wildcards; with `extra`, objects may have members that it does not name.
    Pattern {
        template: Template,
        extra: bool,
    },
    /// A body of this length, or a text of this form.
    Shape(BodyShape),
    /// HTML that a browser reads as this.
    Html(Template),
    /// Rows that the service chooses.
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

    /// Enters the values of the variables that it sends; `value_of` knows them.
    pub fn enter_secrets(&mut self, value_of: &impl Fn(&str) -> Option<String>) {
        let requests = self.requests.iter_mut().map(|request| &mut request.ask);
        let asks = requests.chain(self.bad.iter_mut().map(|bad| &mut bad.ask));
        asks.flat_map(Ask::templates_mut).for_each(|template| template.enter_secrets(value_of));
    }

    /// Why it is not asked in `protocol`; absent if it may be.
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

    /// The first variable that it sends and that has no value; without it nothing can be asked.
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

    /// Reads the contract in `text`. Its name is the stem of `path`, which every error quotes.
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

    /// What a failure of `check` means under this contract, whether the file says it or not.
    pub fn level(&self, check: CheckId) -> Level {
        self.checks.get(&check).copied().unwrap_or(check.usual_level())
    }

    /// The same contract with only these requests and sequences in its load; absent if it has none of one of the names. A step
    /// has no place in a load without its sequence.
    pub fn narrowed(&self, names: &[String]) -> Option<Contract> {
        let known: Vec<&str> = self.loadable().collect();
        let is_known = |name: &String| known.contains(&name.as_str());
        let mut contract = self.clone();
        contract.parts_mut().for_each(|part| *part.load = names.iter().any(|name| name == part.name));
        (names.iter().all(is_known) && !names.is_empty()).then_some(contract)
    }
}
