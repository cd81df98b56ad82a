//! The file by which a program names code that it made at run time: `/tmp/perf-PID.map`, a line for each function. The service writes
//! it, so nothing in it is believed: not its kind, its owner, its length or its text.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
};

use rustix::fs::{Mode, OFlags};

use tare_host::foreign::quotable;

/// Most bytes of a map that are read: V8 writes about 100 for each function.
const BYTES_MAX: u64 = 64 << 20;
/// Most functions of a map that are kept.
const ENTRIES_MAX: usize = 500_000;

/// Most bytes of a name that are read. .NET spells out the parameters of generic types.
const NAME_BYTES_MAX: usize = 4096;

/// Functions by their addresses.
#[derive(Debug, Default, Clone)]
pub struct PerfMap {
    /// Sorted by address, and without overlaps.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    start: u64,
    end: u64,
    name: String,
}

/// Opens the map of a process, if it is a regular file of this user.
///
/// # Errors
/// It is not there, is something else, or belongs to another user.
pub fn open(path: &Path, owner: u32) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let found = file.metadata()?;
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, why.to_owned()));
    match (found.is_file(), found.uid() == owner) {
        (false, _) => refused("it is no regular file"),
        (_, false) => refused("it belongs to another user"),
        _ => Ok(file),
    }
}

impl PerfMap {
    /// What such a file says, as far as it is read.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(file: &File) -> io::Result<PerfMap> {
        let mut bytes = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(PerfMap::parse(&bytes))
    }

    /// The functions in these bytes. Lines that are none are left out; of two at one place the later counts, as a program that frees
    /// code uses its place again.
    pub fn parse(bytes: &[u8]) -> PerfMap {
        let lines = bytes.split(|byte| *byte == b'\n').rev();
        let mut entries: Vec<Entry> = lines.filter_map(entry).take(ENTRIES_MAX).collect();
        // Stable: of equal starts the later line is still first.
        entries.sort_by_key(|entry| entry.start);
        entries.dedup_by_key(|entry| entry.start);
        let starts: Vec<u64> = entries.iter().map(|entry| entry.start).collect();
        for (entry, next) in entries.iter_mut().zip(starts.iter().skip(1)) {
            entry.end = entry.end.min(*next);
        }
        PerfMap { entries }
    }

    /// The function at this address, as its runtime spells it.
    pub fn find(&self, address: u64) -> Option<&str> {
        let after = self.entries.partition_point(|entry| entry.start <= address);
        let entry = self.entries.get(after.checked_sub(1)?)?;
        (address < entry.end).then_some(entry.name.as_str())
    }

    /// Whether a function begins between these addresses.
    pub(super) fn has_within(&self, start: u64, end: u64) -> bool {
        let first = self.entries.partition_point(|entry| entry.start < start);
        self.entries.get(first).is_some_and(|entry| entry.start < end)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// `START SIZE NAME`, with numbers in hexadecimal.
fn entry(line: &[u8]) -> Option<Entry> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let (start, size) = (number(words.next()?)?, number(words.next()?)?);
    let name = words.next()?;
    let name = &name[..name.len().min(NAME_BYTES_MAX)];
    let end = start.checked_add(size).filter(|end| *end > start)?;
    let name = quotable(String::from_utf8_lossy(name).trim_end()).replace('\n', " ");
    (!name.is_empty()).then_some(Entry { start, end, name })
}

fn number(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_function_is_found_from_its_first_byte_to_its_last() {
        let map = PerfMap::parse(
            b"1000 10 JS:*handler /srv/s.js:3:19\n0x1010 8 py::f:/a.py\nnonsense\n2000 0 empty\n",
        );
        assert_eq!(map.find(0x1000), Some("JS:*handler /srv/s.js:3:19"));
        assert_eq!((map.find(0x100f), map.find(0xfff)), (map.find(0x1000), None));
        assert_eq!((map.find(0x1010), map.find(0x1018), map.find(0x2000)), (Some("py::f:/a.py"), None, None));
    }

    #[test]
    fn a_place_that_is_used_again_has_its_later_name() {
        let map = PerfMap::parse(b"1000 100 old\n1000 20 new\n1040 10 inside\n1000 8");
        assert_eq!(
            (map.find(0x1010), map.find(0x1030), map.find(0x1045)),
            (Some("new"), None, Some("inside"))
        );
    }

    #[test]
    fn escapes_are_text_and_a_long_map_is_cut() {
        let map = PerfMap::parse(b"1000 10 a\x1b[2Jb\xff\n");
        assert_eq!(map.find(0x1000), Some("a\\u{1b}[2Jb\u{fffd}"));
        let many: String =
            (0..1_000_000_u64).map(|place| format!("{:x} 10 f{place}\n", place * 16)).collect();
        let map = PerfMap::parse(many.as_bytes());
        assert_eq!(map.entries.len(), ENTRIES_MAX);
        assert_eq!(map.find(999_999 * 16), Some("f999999"), "the latest lines count");
    }

    #[test]
    fn only_a_regular_file_of_the_owner_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link, fifo) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
        fs::write(&file, "1000 10 f\n").unwrap();
        symlink(&file, &link).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(PerfMap::read(&open(&file, own).unwrap()).unwrap().find(0x1000), Some("f"));
        for path in [&link, &fifo, &folder.path().to_owned(), &folder.path().join("none")] {
            assert!(open(path, own).is_err(), "{}", path.display());
        }
        assert!(open(&file, own + 1).unwrap_err().to_string().contains("another user"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_map_without_overlaps(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let map = PerfMap::parse(&bytes);
            prop_assert!(map.entries.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }

        #[test]
        fn lines_are_found_again(lines in prop::collection::vec((0_u64..4096, 1_u64..64, "[a-z]{1,5}"), 0..40)) {
            let text: String = lines.iter().map(|(start, size, name)| format!("{start:x} {size:x} {name}\n")).collect();
            let map = PerfMap::parse(text.as_bytes());
            for (start, _, _) in &lines {
                let last = lines.iter().rev().find(|(other, _, _)| other == start).unwrap();
                prop_assert_eq!(map.find(*start), Some(last.2.as_str()));
            }
        }
    }
}
