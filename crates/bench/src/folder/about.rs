//! Optional facts about a run. `about.json` has the command, the checkout and the footprint of services.
//! `services/ROW/sent-CONTRACT.json` has the exact answers of each. Older runs lack both.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tare_base::whole;
use tare_host::{foreign, seal};

use super::{self as folder, FILE_BYTES_MAX, FORMAT, document, other_format, service_folder};
use tare_contract::protocol::{self, as_word};
use tare_load::Protocol;
use tare_service::{catalogue::Setting, footprint::Footprint, verify::SentAnswer};

/// `about.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// [`folder::FORMAT`] of the program that wrote it.
    pub format: String,
    /// The arguments that began the run, without the program's name.
    pub command: Vec<String>,
    /// The checked-out revision; absent outside of a repository.
    pub revision: Option<RevisionNote>,
    /// Footprint of each service, by the label of its row.
    pub aspects: BTreeMap<String, Footprint>,
    /// Manifest data of each service, by the label of its row. Older runs have none.
    #[serde(default)]
    pub profiles: BTreeMap<String, Profile>,
}

/// Manifest data of a service, and the address of its source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The framework's site.
    pub homepage: Option<String>,
    /// The service's files at the checked-out commit, if a forge is known that shows them.
    pub source: Option<String>,
    /// Settings that differ from the framework's defaults.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// The protocol of its requests; plain HTTP/1.1 in older runs.
    #[serde(default, with = "as_word", skip_serializing_if = "protocol::is_plain")]
    pub protocol: Protocol,
}

/// Quotes a word of a command line for a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionNote {
    pub commit: String,
    /// Tracked files differed from that commit.
    pub changed: bool,
}

/// Reasons why the optional files of a run cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AboutError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: has {}", path.display(), other_format(format))]
    Format { path: PathBuf, format: String },
    #[error("{}: {source}", path.display())]
    Content { path: PathBuf, source: serde_json::Error },
}

impl About {
    /// Writes `about.json` into a run folder.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn keep(&self, run: &Path) -> io::Result<()> {
        write(&run.join("about.json"), self)
    }

    /// Reads `about.json` of a run folder; absent without one.
    ///
    /// # Errors
    /// If it cannot be read or understood, or has another major format.
    pub fn read(run: &Path) -> Result<Option<About>, AboutError> {
        let path = run.join("about.json");
        let head = read::<Value>(path.clone())?;
        match head.as_ref().and_then(|head| head["format"].as_str()) {
            Some(format) if !folder::is_readable(format) => {
                Err(AboutError::Format { path, format: format.to_owned() })
            }
            _ => read(path),
        }
    }
}

/// Stores the answers of a row to each request of a contract.
///
/// # Errors
/// If the file system refuses.
pub fn keep_sent(run: &Path, label: &str, contract: &str, sent: &[SentAnswer]) -> io::Result<()> {
    write(&sent_path(run, label, contract), &KeptSent { format: FORMAT.to_owned(), sent: sent.to_vec() })
}

/// The answers of a row to each request of a contract; absent if they were not stored.
///
/// # Errors
/// If it cannot be read or understood.
pub fn sent(run: &Path, label: &str, contract: &str) -> Result<Option<Vec<SentAnswer>>, AboutError> {
    let kept = read(sent_path(run, label, contract))?;
    Ok(kept.map(|kept| match kept {
        SentFile::Kept(KeptSent { sent, .. }) | SentFile::Older(sent) => sent,
    }))
}

/// `sent-CONTRACT.json`.
#[derive(Debug, Serialize, Deserialize)]
struct KeptSent {
    /// [`folder::FORMAT`] of the program that wrote it.
    format: String,
    sent: Vec<SentAnswer>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SentFile {
    Kept(KeptSent),
    /// Before format 2.4 the file had no head.
    Older(Vec<SentAnswer>),
}

fn sent_path(run: &Path, label: &str, contract: &str) -> PathBuf {
    service_folder(run, label).join(format!("sent-{contract}.json"))
}

fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    whole::write(path, document(value)?)
}

fn read<T: for<'a> Deserialize<'a>>(path: PathBuf) -> Result<Option<T>, AboutError> {
    match seal::DOCUMENT.read(&path, FILE_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(AboutError::Io { path, source }),
        Ok(bytes) => match foreign::json(&bytes) {
            Ok(value) => Ok(Some(value)),
            Err(source) => Err(AboutError::Content { path, source }),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use tare_service::verify::{Field, SentFraming};

    #[test]
    fn words_are_quoted_as_a_shell_reads_them_back() {
        assert_eq!(
            ["a-b/c.toml", "a b", "", "it's"].map(quoted),
            ["a-b/c.toml", "'a b'", "''", "'it'\\''s'"]
        );
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let run = tempfile::tempdir().unwrap();
        assert_eq!(About::read(run.path()).unwrap(), None);
        let revision = Some(RevisionNote { commit: "abc".to_owned(), changed: true });
        let command = vec!["run".to_owned(), "a b.toml".to_owned()];
        let profile = Profile { homepage: Some("https://example.org".to_owned()), ..Profile::default() };
        let about = About {
            format: folder::FORMAT.to_owned(),
            command,
            revision,
            aspects: BTreeMap::new(),
            profiles: [("axum".to_owned(), profile)].into(),
        };
        about.keep(run.path()).unwrap();
        assert_eq!(About::read(run.path()).unwrap(), Some(about));
        let newer = r#"{"format":"2.9","command":[],"revision":null,"aspects":{},"colour":1}"#;
        fs::write(run.path().join("about.json"), newer).unwrap();
        assert!(About::read(run.path()).unwrap().is_some());
        fs::write(run.path().join("about.json"), "{\"format\":\"3.1\"}").unwrap();
        let newer = About::read(run.path()).unwrap_err().to_string();
        assert!(newer.ends_with("has format \"3.1\", newer than \"2.4\", which this tare reads"), "{newer}");
    }

    #[test]
    fn answers_are_kept_by_row_and_contract() {
        let run = tempfile::tempdir().unwrap();
        fs::create_dir_all(service_folder(run.path(), "a:b")).unwrap();
        let headers = vec![Field { name: "Date".to_owned(), value: "now".to_owned(), varies: true }];
        let sent = vec![SentAnswer {
            request: "hello".to_owned(),
            status_line: "HTTP/1.1 200 OK".to_owned(),
            headers,
            framing: SentFraming::ContentLength,
            head_bytes: 60,
            body_bytes: 13,
            total_bytes: 73,
        }];
        keep_sent(run.path(), "a:b", "hello", &sent).unwrap();
        assert_eq!(super::sent(run.path(), "a:b", "hello").unwrap(), Some(sent));
        assert_eq!(super::sent(run.path(), "a:b", "rest").unwrap(), None);
    }
}
