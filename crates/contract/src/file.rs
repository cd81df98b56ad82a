//! The structure of a contract file; `lower` turns it into a [`super::Contract`].
//!
//! `Spanned` marks values whose errors need a line number. TOML tables are ordered by key, so headers are
//! sent in the order of their names.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::CheckLevel;
use super::plain_or::PlainOr;
use crate::protocol::HttpVersion;

pub(super) type Headers = BTreeMap<Spanned<String>, Spanned<String>>;
pub(super) type ResponseHeaders = BTreeMap<Spanned<String>, Spanned<PlainOr<String, HeaderRuleFile>>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContractFile {
    /// A supported version: checked before this type is read.
    pub format: String,
    pub name: Spanned<String>,
    pub title: String,
    pub protocols: Option<Spanned<Vec<HttpVersion>>>,
    pub tls: Option<Spanned<bool>>,
    #[serde(default)]
    pub service: BTreeMap<String, String>,
    #[serde(default)]
    pub defaults: DefaultsFile,
    pub exchanges: Option<Spanned<u32>>,
    #[serde(default)]
    pub data: BTreeMap<Spanned<String>, DataFile>,
    #[serde(default)]
    pub folder: BTreeMap<Spanned<String>, FolderFile>,
    #[serde(default)]
    pub backing: BackingFile,
    #[serde(default, rename = "request")]
    pub requests: Vec<RequestFile>,
    #[serde(default, rename = "sequence")]
    pub sequences: Vec<SequenceFile>,
    #[serde(default)]
    pub bad: Vec<BadFile>,
    #[serde(default)]
    pub checks: BTreeMap<Spanned<String>, CheckLevel>,
}

/// Defaults of all requests, for servers that need a header to keep connections.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DefaultsFile {
    #[serde(default)]
    pub headers: Headers,
}

/// A table: a file, or a number of rows with templates of their columns.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataFile {
    pub file: Option<Spanned<String>>,
    pub rows: Option<Spanned<u64>>,
    pub columns: Option<BTreeMap<Spanned<String>, Spanned<String>>>,
    pub json: Option<Spanned<String>>,
    pub key: Option<Spanned<String>>,
}

/// A folder of generated files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FolderFile {
    /// File names and lengths in bytes.
    pub files: BTreeMap<Spanned<String>, Spanned<u32>>,
}

/// The backing services.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BackingFile {
    pub postgres: Option<PostgresFile>,
    pub upstream: Option<Spanned<UpstreamFile>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PostgresFile {
    /// For each table of the contract, its columns in SQL.
    pub tables: BTreeMap<Spanned<String>, String>,
    /// Statements executed after the rows are inserted.
    #[serde(default)]
    pub after: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct UpstreamFile {
    pub delay_ms: u32,
    pub table: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestFile {
    pub name: Spanned<String>,
    #[serde(default = "loaded")]
    pub load: bool,
    pub weight: Option<Spanned<u32>>,
    pub method: Spanned<String>,
    pub path: Spanned<String>,
    #[serde(default)]
    pub headers: Headers,
    pub body: Option<Spanned<String>>,
    pub multipart: Option<Spanned<Vec<PartFile>>>,
    pub chunked: Option<Spanned<bool>>,
    pub response: Spanned<ResponseFile>,
    pub otherwise: Option<Spanned<ResponseFile>>,
    pub statements: Option<StatementsFile>,
    #[serde(default)]
    pub capture: BTreeMap<Spanned<String>, Spanned<CaptureFile>>,
}

/// The database work of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StatementsFile {
    pub reads: Option<u32>,
    pub rows_read: Option<u32>,
    pub rows_written: Option<u32>,
}

/// The location of a value in an answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaptureFile {
    pub json: Option<Spanned<String>>,
    pub header: Option<Spanned<String>>,
    pub body: Option<Spanned<String>>,
    pub matches: Option<Spanned<String>>,
}

/// Requests sent one after the other on one connection.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SequenceFile {
    pub name: Spanned<String>,
    pub steps: Spanned<Vec<Spanned<String>>>,
    #[serde(default = "loaded")]
    pub load: bool,
    pub weight: Option<Spanned<u32>>,
}

/// A part of a form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PartFile {
    pub name: Spanned<String>,
    pub filename: Option<Spanned<String>>,
    pub content_type: Option<Spanned<String>>,
    pub content: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ResponseFile {
    pub status: Spanned<u16>,
    pub content_type: Option<String>,
    #[serde(default)]
    pub headers: ResponseHeaders,
    pub body: Option<Spanned<String>>,
    pub json: Option<Spanned<String>>,
    pub extra: Option<Spanned<Extra>>,
    pub matches: Option<Spanned<String>>,
    pub length: Option<Spanned<PlainOr<u64, LengthRangeFile>>>,
    pub html: Option<Spanned<String>>,
    pub any_row: Option<Spanned<AnyRowFile>>,
    #[serde(default)]
    pub rows: BTreeMap<Spanned<String>, Spanned<RowSetFile>>,
    pub encoding: Option<Spanned<Vec<Spanned<String>>>>,
}

/// Rows chosen by the service.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnyRowFile {
    pub table: Spanned<String>,
    /// Length of the array; default: one row.
    pub count: Option<u32>,
    /// A column that the service changes to a number in this range.
    #[serde(default)]
    pub changed: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// Rows determined by the request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RowSetFile {
    pub table: Spanned<String>,
    #[serde(default, rename = "where")]
    pub filter: BTreeMap<Spanned<String>, Spanned<String>>,
    pub order: Option<Spanned<String>>,
    pub first: Option<Spanned<String>>,
    pub page: Option<PageFile>,
    #[serde(default)]
    pub also: Vec<Spanned<BTreeMap<String, String>>>,
    pub text: Option<Spanned<String>>,
}

/// Rows in pages of a fixed size.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageFile {
    /// Counted from 1.
    pub number: Spanned<String>,
    pub size: u32,
}

/// A rule for a response header without an exact value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeaderRuleFile {
    pub present: Option<bool>,
    pub absent: Option<bool>,
    pub matches: Option<Spanned<String>>,
}

/// Lengths in bytes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LengthRangeFile {
    pub min: Option<u64>,
    pub max: Option<u64>,
}

/// Whether JSON objects may have members that the expectation does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Extra {
    Allow,
    Refuse,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BadFile {
    pub name: Spanned<String>,
    pub method: Spanned<String>,
    pub path: Spanned<String>,
    #[serde(default)]
    pub headers: Headers,
    pub body: Option<Spanned<String>>,
}

fn loaded() -> bool {
    true
}
