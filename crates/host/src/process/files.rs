//! The files that processes use, as far as the kernel shows them without a tracer: mapped and open files,
//! current folders, command lines and environments. A file that was read and closed again is not seen.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InUse {
    /// Programs, mapped files, open files and current folders.
    pub files: BTreeSet<PathBuf>,
    /// The words of command lines.
    pub words: BTreeSet<String>,
    /// `NAME=VALUE` of the environments that processes were started with.
    pub variables: BTreeSet<String>,
}

impl InUse {
    /// Reads these processes. A process that ends meanwhile adds nothing.
    pub(super) fn by(pids: &[u32]) -> InUse {
        let mut found = InUse::default();
        for pid in pids {
            let folder = PathBuf::from(format!("/proc/{pid}"));
            let maps = fs::read(folder.join("maps")).unwrap_or_default();
            found.files.extend(mapped(&String::from_utf8_lossy(&maps)));
            let open = fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
            let links = open.map(|entry| entry.path()).chain(["exe", "cwd"].map(|name| folder.join(name)));
            // Links to sockets and pipes are not paths.
            found
                .files
                .extend(links.filter_map(|link| fs::read_link(link).ok()).filter(|to| to.is_absolute()));
            found.words.extend(parts(&folder.join("cmdline")));
            found.variables.extend(parts(&folder.join("environ")));
        }
        found
    }
}

/// The files in `/proc/PID/maps`: the sixth column, which may contain blanks.
fn mapped(text: &str) -> impl Iterator<Item = PathBuf> {
    text.lines().filter_map(|line| {
        let path = &line[line.find('/')?..];
        Some(PathBuf::from(path.strip_suffix(" (deleted)").unwrap_or(path)))
    })
}

/// The parts of a file that are separated by zero bytes.
fn parts(file: &Path) -> Vec<String> {
    let bytes = fs::read(file).unwrap_or_default();
    let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_its_program_its_folder_and_what_it_opened() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = InUse::by(&[std::process::id()]);
        let own =
            [std::env::current_exe().unwrap(), std::env::current_dir().unwrap(), file.path().to_owned()];
        for path in own {
            assert!(found.files.contains(&path.canonicalize().unwrap()), "{path:?}");
        }
        assert!(found.words.contains(&std::env::args().next().unwrap()));
        assert!(found.variables.iter().any(|variable| variable.starts_with("PATH=")));
        assert!(found.files.iter().all(|path| path.is_absolute()), "{found:?}");
        assert_eq!(InUse::by(&[u32::MAX]), InUse::default());
    }

    #[test]
    fn a_mapped_file_may_have_blanks_in_its_name_and_no_name() {
        let text = "7f00-7f01 r-xp 00000000 08:01 42    /usr/lib/libc.so.6\n\
                    7f01-7f02 rw-p 00000000 00:00 0 \n\
                    7f02-7f03 r--p 00000000 08:01 43    /a b/c (deleted)\n\
                    7f03-7f04 rw-p 00000000 00:00 0     [heap]\n";
        assert_eq!(mapped(text).collect::<Vec<_>>(), ["/usr/lib/libc.so.6", "/a b/c"].map(PathBuf::from));
    }
}
