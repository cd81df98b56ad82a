//! Selects rows by words: `hyper`, `hyper+h2` (a protocol), `hyper@2` (a second row), `group:go`, `all`.

use std::sync::Arc;

use super::{Catalogue, Service, Style, command::without_number};
use crate::certificate::{CertificateError, Certificates};
use tare_contract::protocol;
use tare_load::Protocol;

/// One row of an experiment: a service under a unique label.
#[derive(Debug, Clone)]
pub struct Row {
    /// The service's id, with `+PROTOCOL` unless it is plain HTTP/1.1, and `@N` for a repeated row.
    pub label: String,
    pub service: Service,
}

/// Why a selection is invalid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SelectError {
    #[error("unknown service \"{0}\"{1}")]
    UnknownService(String, String),
    #[error("\"{0}\" cannot be used: {1}")]
    Broken(String, String),
    #[error("unknown group \"{0}\"{1}")]
    UnknownGroup(String, String),
    #[error("\"{0}\" stands twice; to measure one service twice write \"{0}@2\"")]
    Twice(String),
    #[error("service \"{0}\": this name is taken")]
    NameTaken(String),
}

impl SelectError {
    /// The invalid word as written.
    pub fn word(&self) -> String {
        match self {
            SelectError::UnknownService(word, _)
            | SelectError::Broken(word, _)
            | SelectError::NameTaken(word)
            | SelectError::Twice(word) => word.clone(),
            SelectError::UnknownGroup(name, _) => format!("group:{name}"),
        }
    }
}

/// The rows named by `words`, in order, without duplicates from groups.
///
/// # Errors
/// A word names no service or group, a service with an invalid manifest, or a row that is already selected.
pub fn select<'a>(
    catalogue: &Catalogue,
    words: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<Row>, SelectError> {
    let mut rows: Vec<Row> = Vec::new();
    for word in words.into_iter().map(str::trim).filter(|word| !word.is_empty()) {
        let (name, protocol) = protocol::split(word);
        if name == "all" || name.starts_with("group:") {
            for service in group(catalogue, name)? {
                let row = Row::of(service.asked_in(protocol.unwrap_or_default()));
                if !rows.iter().any(|other| other.label == row.label) {
                    rows.push(row);
                }
            }
        } else {
            let row = named(catalogue, word)?;
            if rows.iter().any(|other| other.label == row.label) {
                return Err(SelectError::Twice(row.label));
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

fn named(catalogue: &Catalogue, word: &str) -> Result<Row, SelectError> {
    let name = without_number(word);
    let (id, protocol) = match catalogue.get(name) {
        Some(_) => (name, None),
        None => protocol::split(name),
    };
    let folder = id.split(':').next().unwrap_or(id);
    if let Some(broken) = catalogue.broken.iter().find(|broken| broken.name == folder) {
        return Err(SelectError::Broken(id.to_owned(), broken.error.to_string()));
    }
    let service = catalogue.get(id).ok_or_else(|| {
        SelectError::UnknownService(id.to_owned(), catalogue.hint(id, |service| &service.id, &[]))
    })?;
    // The URL of a running server determines its protocol.
    let usual = service.running.as_ref().map_or_else(Protocol::default, |running| running.channel.protocol);
    Ok(Row { label: word.to_owned(), service: service.asked_in(protocol.unwrap_or(usual)) })
}

/// Replaces each of `rows` by a row for each protocol. A row with an explicit protocol stays as it is.
pub fn in_each(rows: Vec<Row>, protocols: &[Protocol]) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for row in rows {
        let each = match row.service.protocol {
            Protocol::Http1 => protocols.iter().map(|protocol| row.asked_in(*protocol)).collect(),
            _ => vec![row],
        };
        for row in each {
            if !all.iter().any(|other| other.label == row.label) {
                all.push(row);
            }
        }
    }
    all
}

/// Gives certificates to the rows with TLS, and makes them only if there are such rows.
///
/// # Errors
/// The certificates cannot be made.
pub fn certify(
    rows: &mut [Row],
    make: impl FnOnce() -> Result<Certificates, CertificateError>,
) -> Result<(), CertificateError> {
    // A running server has its own.
    let takes = |row: &Row| row.service.protocol.is_tls() && row.service.running.is_none();
    if !rows.iter().any(takes) {
        return Ok(());
    }
    let certificates = Arc::new(make()?);
    for row in rows.iter_mut().filter(|row| takes(row)) {
        row.service.certificates = Some(Arc::clone(&certificates));
    }
    Ok(())
}

impl Row {
    fn of(service: Service) -> Row {
        Row { label: service.word(), service }
    }

    /// A plain HTTP/1.1 row in another protocol.
    fn asked_in(&self, protocol: Protocol) -> Row {
        let name = without_number(&self.label);
        let number = &self.label[name.len()..];
        let label = format!("{name}{}{number}", protocol::ending(protocol));
        Row { label, service: self.service.asked_in(protocol) }
    }
}

/// A group is a language in either spelling, or `raw`, `platforms`, `frameworks`.
fn group<'a>(catalogue: &'a Catalogue, word: &str) -> Result<Vec<&'a Service>, SelectError> {
    let name = word.strip_prefix("group:").unwrap_or(word);
    let belongs = |service: &&Service| match name {
        "all" => true,
        "raw" => service.style == Style::RawSocket,
        "platforms" => service.style == Style::Platform,
        "frameworks" => matches!(service.style, Style::Framework | Style::FrameworkTuned),
        language => {
            service.language == super::language::language_key(language) && service.id != super::RAW_SOCKET
        }
    };
    let found: Vec<&Service> = catalogue.services.iter().filter(belongs).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let hint = catalogue.hint(name, |service| &service.language, &["all", "raw", "platforms", "frameworks"]);
    Err(SelectError::UnknownGroup(name.to_owned(), hint))
}
