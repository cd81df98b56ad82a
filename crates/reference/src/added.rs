//! CPU time that a fault added to requests; each process of a server records it at its end.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};

/// CPU time that was added to requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// Requests with a known added time: interrupted busy loops do not count.
    pub requests: u64,
    /// Nanoseconds of all counted weights, including the reads of the clock that timed them.
    pub ns: u64,
}

impl Added {
    /// The mean; absent if nothing was added.
    pub fn ns_per_request(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.ns as f64 / self.requests as f64)
    }

    /// Appends it to a file that several processes share.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append_to(&self, file: &Path) -> io::Result<()> {
        let line = serde_json::to_string(self)? + "\n";
        OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())
    }

    /// The sum over all processes that wrote to a file.
    ///
    /// # Errors
    /// The file does not exist, since no process ended normally, or its content is invalid.
    pub fn read(file: &Path) -> io::Result<Added> {
        let lines = fs::read_to_string(file)?;
        Ok(lines.lines().map(serde_json::from_str).sum::<Result<Added, _>>()?)
    }
}

impl std::iter::Sum for Added {
    fn sum<I: Iterator<Item = Added>>(all: I) -> Added {
        all.fold(Added::default(), |sum, one| Added {
            requests: sum.requests + one.requests,
            ns: sum.ns + one.ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processes_noted_is_added_up() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("added");
        assert_eq!(Added::read(&file).unwrap_err().kind(), io::ErrorKind::NotFound);
        for ns in [300, 400] {
            Added { requests: 2, ns }.append_to(&file).unwrap();
        }
        let all = Added::read(&file).unwrap();
        assert_eq!(all, Added { requests: 4, ns: 700 });
        assert_eq!(all.ns_per_request(), Some(175.0));
        assert_eq!(Added::default().ns_per_request(), None);
        fs::write(&file, "{\"requests\":2,").unwrap();
        assert_eq!(Added::read(&file).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
