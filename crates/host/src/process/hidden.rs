//! Folders whose content a process does not see. In mounts of its own an empty file system lies over each: whoever looks at a run
//! from outside sees it as before.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Made before the fork, so that nothing is allocated after it.
pub(super) struct Hidden(Vec<CString>);

impl Hidden {
    /// # Errors
    /// The path that is given back has a zero byte in it.
    pub(super) fn of(folders: &[PathBuf]) -> Result<Hidden, PathBuf> {
        let path = |folder: &PathBuf| {
            let path = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            CString::new(path.as_os_str().as_bytes()).map_err(|_| folder.clone())
        };
        Ok(Hidden(folders.iter().map(path).collect::<Result<_, _>>()?))
    }

    /// In a process that is about to execute another program. Safe between fork and exec: system calls, and nothing else.
    pub(super) fn hide(&self) -> std::io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        // SAFETY: only the mounts of this process change, not its table of descriptors; it has one thread.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
        // What is mounted here must not appear elsewhere.
        let own = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
        mount_change(c"/", own)?;
        for path in &self.0 {
            mount(c"none", path, c"tmpfs", MountFlags::RDONLY, Some(c"size=4k"))?;
        }
        Ok(())
    }
}
