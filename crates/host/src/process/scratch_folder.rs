//! The folders of [`super::Scratch`] for clean-up: which paths are such folders, and which makers have died.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::naming::{self, Maker};

/// A file system in memory that any user may write to.
pub(super) const IN_MEMORY: &str = "/dev/shm";
/// Attempts to remove a folder while its last processes die.
const ATTEMPTS: u32 = 50;

/// Whether a path is a scratch folder, so that nothing else is ever removed.
pub(super) fn is_scratch(path: &Path) -> bool {
    let parents = parents();
    let is_ours =
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| naming::maker(name).is_some());
    is_ours && parents.iter().any(|parent| path.parent() == Some(parent))
}

/// Removes a scratch folder. A dying process may still create a file in it, hence the retries.
pub(super) fn remove(path: &Path) {
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            _ => return,
        }
    }
}

/// Scratch folders whose maker has died.
pub(super) fn orphans() -> Vec<PathBuf> {
    let entries = parents().into_iter().flat_map(fs::read_dir).flatten().flatten();
    let is_orphan = |path: &PathBuf| {
        let maker = path.file_name().and_then(|name| name.to_str()).and_then(naming::maker);
        maker.is_some_and(Maker::is_dead) && path.is_dir()
    };
    entries.map(|entry| entry.path()).filter(is_orphan).collect()
}

fn parents() -> Vec<PathBuf> {
    vec![PathBuf::from(IN_MEMORY), std::env::temp_dir()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_ours_are_removed() {
        let name = naming::new_name();
        assert!(
            is_scratch(&Path::new(IN_MEMORY).join(&name)) && is_scratch(&std::env::temp_dir().join(&name))
        );
        for other in
            ["/dev/shm/other", "/dev/shm", "/etc/tare-5-1-2", "/dev/shm/../etc/tare-5-1-2", "tare-5-1-2"]
        {
            assert!(!is_scratch(Path::new(other)), "{other}");
        }
    }

    #[test]
    fn what_a_dead_maker_left_is_found() {
        let mut maker = std::process::Command::new("true").spawn().unwrap();
        maker.wait().unwrap();
        // In a container the maker has another PID, and may be alive.
        let contained = format!("tare-{}-9-1", maker.id());
        let names = [naming::name(maker.id(), 9), naming::new_name(), contained];
        let folders = names.map(|name| std::env::temp_dir().join(name));
        folders.iter().for_each(|path| fs::create_dir(path).unwrap());
        let found = orphans();
        assert_eq!(folders.each_ref().map(|path| found.contains(path)), [true, false, false]);
        folders.iter().for_each(|path| remove(path));
        assert!(folders.iter().all(|path| !path.exists()));
    }
}
