//! Stored measurements of a service: `ROOT/.tare/aspects/NAME.json`. They belong to one build: with another
//! build, or in an unreadable file, there are none.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tare_base::whole;

use tare_service::{
    catalogue::{self, Service},
    footprint::Measured,
    workspace::Workspace,
};

/// The version of the file format.
const FORMAT: &str = "1.0";

#[derive(Serialize, Deserialize)]
struct Record {
    format: String,
    service: String,
    content: String,
    measured: Measured,
}

#[derive(Debug, Clone)]
pub struct Kept {
    folder: PathBuf,
}

impl Kept {
    /// A store in `folder`.
    pub(super) fn new(folder: &Path) -> Kept {
        Kept { folder: folder.to_owned() }
    }

    /// The store of a workspace.
    pub fn of(workspace: &Workspace) -> Kept {
        Kept::new(&workspace.scratch("aspects"))
    }

    /// The figures of a service, if they belong to the build with this content hash.
    pub(super) fn get(&self, service: &Service, content: &str) -> Option<Measured> {
        let record: Record = serde_json::from_slice(&fs::read(self.path(service)).ok()?).ok()?;
        let same = record.format == FORMAT && record.service == service.id && record.content == content;
        same.then_some(record.measured)
    }

    /// Stores the figures atomically.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn put(&self, service: &Service, content: &str, measured: &Measured) -> io::Result<()> {
        let record = Record {
            format: FORMAT.to_owned(),
            service: service.id.clone(),
            content: content.to_owned(),
            measured: measured.clone(),
        };
        fs::create_dir_all(&self.folder)?;
        whole::write(&self.path(service), serde_json::to_string_pretty(&record)? + "\n")
    }

    /// The folder for the service's output during a measurement.
    pub fn output(&self, service: &Service) -> PathBuf {
        self.folder.join(file_name(service))
    }

    fn path(&self, service: &Service) -> PathBuf {
        self.folder.join(format!("{}.json", file_name(service)))
    }
}

/// Variants run with other commands, so each is measured.
fn file_name(service: &Service) -> String {
    catalogue::file_name(&service.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use tare_service::catalogue::{Catalogue, RawSocket};

    #[test]
    fn figures_are_those_of_one_service_and_one_build() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("services")).unwrap();
        let service = Catalogue::load(root.path(), &[], RawSocket::default()).unwrap().services.remove(0);
        let variant = Service { id: "raw-socket:other".to_owned(), ..service.clone() };
        let kept = Kept::new(root.path());
        let measured = Measured { at: Timestamp::UNIX_EPOCH, starts: 3, start_up_ns: 5, rss_bytes: 7 };
        assert_eq!(kept.get(&service, "abc"), None);
        kept.put(&service, "abc", &measured).unwrap();
        assert_eq!(kept.get(&service, "abc"), Some(measured.clone()));
        assert_eq!((kept.get(&service, "abd"), kept.get(&variant, "abc")), (None, None));

        let path = root.path().join("raw-socket.json");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen('{', "{ \"added\": 1,", 1)).unwrap();
        assert_eq!(kept.get(&service, "abc"), Some(measured), "a newer tare may write more");
        for other in [text.replace("\"1.0\"", "\"2.0\""), text.replace("starts", "begins"), String::new()] {
            fs::write(&path, other).unwrap();
            assert_eq!(kept.get(&service, "abc"), None);
        }
    }
}
