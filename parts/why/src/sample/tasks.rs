//! The threads of a service, the CPUs that they may use, and where its code lies, as `/proc` has them.

use std::{fs, io, os::unix::fs::MetadataExt};

use super::record::MappedCode;

/// A mapping of code in a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    /// The place in its file.
    pub offset: u64,
    /// The file that it is from; empty for code that was made at run time.
    pub path: String,
    /// The number of that file; 0 if it is unknown.
    pub inode: u64,
}

/// Most bytes of `/proc/PID/maps` that are read: a hundred thousand mappings.
const MAPS_BYTES_MAX: u64 = 16 << 20;

/// All threads of these processes.
pub(super) fn threads(pids: &[u32]) -> Vec<u32> {
    let of = |pid: &u32| {
        let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect::<Vec<u32>>()
    };
    pids.iter().flat_map(of).collect()
}

/// The CPUs on which a process may run.
pub(super) fn cpus(pid: u32) -> io::Result<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(rustix::thread::Pid::from_raw(pid.cast_signed()))?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// Whether a process belongs to the user of this one.
pub(super) fn is_own(pid: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::metadata(format!("/proc/{pid}")).is_ok_and(|process| own == 0 || process.uid() == own)
}

/// The names of the threads of a process, with their numbers.
pub(super) fn thread_names(pid: u32) -> Vec<(u32, String)> {
    let name = |tid: u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
        Some((tid, text.trim_end_matches('\n').to_owned()))
    };
    threads(&[pid]).into_iter().filter_map(name).collect()
}

/// Minor and major page faults of a process so far.
pub(super) fn page_faults(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let [minor, major] = [7, 9].map(|place: usize| fields.get(place)?.parse::<u64>().ok());
    Some(minor? + major?)
}

/// Calls of `read`, `write` and their like by a process so far; absent if another user may not read it.
pub(super) fn read_and_write_calls(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    Some(of("syscr:")? + of("syscw:")?)
}

/// Where the code of a process lies.
pub(crate) fn mappings(pid: u32) -> Vec<Mapping> {
    let path = format!("/proc/{pid}/maps");
    let bytes = tare_host::foreign::read(path.as_ref(), MAPS_BYTES_MAX).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().filter_map(mapping).collect()
}

/// A line of `/proc/PID/maps`; `None` for data.
fn mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let access = fields.next()?;
    let offset = fields.next()?;
    let inode = fields.nth(1)?.parse().ok()?;
    let path = fields.next().unwrap_or_default().trim_start();
    let number = |text| u64::from_str_radix(text, 16).ok();
    let is_code = access.as_bytes().get(2) == Some(&b'x');
    is_code.then_some(Mapping {
        start: number(start)?,
        end: number(end)?,
        offset: number(offset)?,
        path: path.to_owned(),
        inode,
    })
}

impl From<MappedCode> for Mapping {
    fn from(code: MappedCode) -> Mapping {
        let MappedCode { start, length, offset, path, .. } = code;
        Mapping { start, end: start.saturating_add(length), offset, path, inode: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_maps_is_code_with_its_file_or_data() {
        let line = "55d0c8a00000-55d0c8b00000 r-xp 00002000 fd:01 1234                       /srv/my app/x (deleted)";
        let expected = Mapping {
            start: 0x55d0_c8a0_0000,
            end: 0x55d0_c8b0_0000,
            offset: 0x2000,
            path: "/srv/my app/x (deleted)".to_owned(),
            inode: 1234,
        };
        assert_eq!(mapping(line), Some(expected));
        assert_eq!(mapping("1000-2000 rwxp 00000000 00:00 0 ").unwrap().path, "");
        for line in ["1000-2000 rw-p 0 00:00 0", "", "x-y r-xp 0 00:00 0", "1000 r-xp"] {
            assert_eq!(mapping(line), None, "{line}");
        }
    }

    #[test]
    fn this_process_has_threads_code_and_a_cpu() {
        let pid = std::process::id();
        assert!(threads(&[pid]).contains(&pid) && is_own(pid));
        assert!(!cpus(pid).unwrap().is_empty());
        assert!(mappings(pid).iter().any(|mapping| mapping.path.contains("tare_why")));
        assert!(thread_names(pid).iter().any(|(tid, _)| *tid == pid));
        assert!(page_faults(pid).is_some_and(|count| count > 0));
        assert_eq!(threads(&[u32::MAX / 2]), Vec::<u32>::new());
    }
}
