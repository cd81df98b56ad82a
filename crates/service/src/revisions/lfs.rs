//! Git LFS: a commit contains a pointer to a large file, which is stored outside under its hash.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use aws_lc_rs::digest;

use super::hash::{hash_rest, hex};

/// The specification's limit for pointers.
pub(super) const POINTER_BYTES_MAX: u64 = 1024;

const FIRST_LINE: &str = "version https://git-lfs.github.com/spec/v1";
/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

#[derive(Debug)]
pub(super) struct Pointer {
    sha256: String,
    bytes: u64,
    /// The stored file; empty until it is found.
    stored: PathBuf,
}

/// Whether the content of a `.gitattributes` assigns files to Git LFS.
pub(super) fn is_asked_for(attributes: &[u8]) -> bool {
    attributes.windows(b"filter=lfs".len()).any(|window| window == b"filter=lfs")
}

impl Pointer {
    /// Absent if the content is not a pointer.
    pub(super) fn parse(content: &[u8]) -> Option<Pointer> {
        let text = std::str::from_utf8(content).ok()?;
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return None;
        }
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        let sha256 = value("oid")?.strip_prefix("sha256:")?;
        let is_hash = sha256.len() == DIGITS && sha256.bytes().all(|digit| digit.is_ascii_hexdigit());
        let bytes = value("size")?.parse().ok()?;
        is_hash.then(|| Pointer { sha256: sha256.to_owned(), bytes, stored: PathBuf::new() })
    }

    /// Finds the file in a repository; absent if it was never fetched.
    pub(super) fn find(&mut self, repository: &Path) -> Option<()> {
        let (one, two) = (&self.sha256[..2], &self.sha256[2..4]);
        let stored = repository.join("lfs/objects").join(one).join(two).join(&self.sha256);
        let is_there =
            fs::symlink_metadata(&stored).is_ok_and(|found| found.is_file() && found.len() == self.bytes);
        self.stored = is_there.then_some(stored)?;
        Some(())
    }

    pub(super) fn open(&self) -> io::Result<File> {
        File::open(&self.stored)
    }

    /// Whether a file has the content of the pointer.
    pub(super) fn is_content_of(&self, path: &Path) -> io::Result<bool> {
        let mut hash = digest::Context::new(&digest::SHA256);
        hash_rest(&mut File::open(path)?, &mut hash)?;
        Ok(hex(hash.finish().as_ref()) == self.sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_told_from_a_text() {
        let digits = "ab".repeat(32);
        let text = format!("{FIRST_LINE}\noid sha256:{digits}\nsize 12345\n");
        let pointer = Pointer::parse(text.as_bytes()).unwrap();
        assert_eq!((pointer.sha256.as_str(), pointer.bytes), (digits.as_str(), 12345));
        let short = text.replace(&digits, "../../..");
        for other in ["", "version https://git-lfs.github.com/spec/v2\n", FIRST_LINE, &short, &text[..60]] {
            assert!(Pointer::parse(other.as_bytes()).is_none(), "{other}");
        }
        assert!(Pointer::parse(b"\xff\xfe").is_none());
    }

    #[test]
    fn the_attribute_gives_files_to_it() {
        assert!(is_asked_for(b"*.bin filter=lfs diff=lfs merge=lfs -text\n"));
        assert!(!is_asked_for(b"*.bin filter=lf") && !is_asked_for(b""));
    }
}
