//! Hides parts of the machine from a program: the content of some folders, and all processes but its own.
//! Other programs see everything as before.

use std::{
    ffi::CString,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt, unix::process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rustix::{
    fs::{CWD, Mode},
    mount::{
        MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, mount_change,
        mount_remount, move_mount, open_tree,
    },
    thread::{UnshareFlags, unshare_unsafe},
};

use super::init;

/// How a program is separated from the rest of the machine. Default: not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Folders and files to hide: an empty folder or file is mounted over each, in a mount namespace of the
    /// program. A path that does not exist is ignored.
    pub hidden: Vec<PathBuf>,
    /// Existing folders within hidden ones that stay visible.
    pub shown: Vec<PathBuf>,
    /// Whether it has a PID namespace of its own, below an [`init`].
    pub own_pids: bool,
}

impl Sandbox {
    fn is_none(&self) -> bool {
        self.hidden.is_empty() && !self.own_pids
    }
}

/// A sandbox ready for a new process. It is built before the fork, after which nothing may be allocated.
pub(super) struct PreparedSandbox {
    folders: Vec<CString>,
    files: Vec<CString>,
    shown: Vec<CString>,
    own_pids: bool,
    is_none: bool,
}

impl PreparedSandbox {
    /// # Errors
    /// A path contains a zero byte; that path is returned.
    pub(super) fn of(sandbox: &Sandbox) -> Result<PreparedSandbox, PathBuf> {
        let all = |paths: &[PathBuf], is_wanted: fn(&Path) -> bool| {
            let wanted = paths.iter().filter(|path| is_wanted(path));
            wanted
                .map(|path| c_path(path).ok_or_else(|| path.clone()))
                .collect::<Result<Vec<CString>, PathBuf>>()
        };
        Ok(PreparedSandbox {
            folders: all(&sandbox.hidden, Path::is_dir)?,
            files: all(&sandbox.hidden, Path::is_file)?,
            shown: all(&sandbox.shown, Path::is_dir)?,
            own_pids: sandbox.own_pids,
            is_none: sandbox.is_none(),
        })
    }

    /// Sets the sandbox up in a process that is about to exec; with a PID namespace, in its first process.
    /// Safe between fork and exec: it makes only system calls.
    pub(super) fn raise(&self) -> io::Result<()> {
        if self.is_none {
            return Ok(());
        }
        // SAFETY: only the mounts of this process change, not its table of descriptors; it has one thread.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
        // Keeps the following mounts out of the parent's mount namespace.
        mount_change(c"/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
        if self.own_pids {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            mount(c"proc", c"/proc", c"proc", flags, None)?;
        }
        self.hide()
    }

    /// Moves shown folders aside first, and moves them back into the new empty file systems.
    fn hide(&self) -> io::Result<()> {
        /// More than any program here needs; an array needs no allocation.
        const SHOWN_MAX: usize = 4;
        let mut aside: [Option<OwnedFd>; SHOWN_MAX] = Default::default();
        for (place, path) in aside.iter_mut().zip(&self.shown) {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            *place = Some(open_tree(CWD, path, flags)?);
        }
        for path in &self.files {
            mount_bind(c"/dev/null", path)?;
        }
        for path in &self.folders {
            mount(c"none", path, c"tmpfs", MountFlags::empty(), Some(c"size=16k"))?;
        }
        for (tree, path) in aside.iter().flatten().zip(&self.shown) {
            rustix::fs::mkdir(path, Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH)?;
            move_mount(tree, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        }
        for path in &self.folders {
            mount_remount(path, MountFlags::RDONLY, c"size=16k")?;
        }
        Ok(())
    }
}

fn c_path(path: &Path) -> Option<CString> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    CString::new(absolute.as_os_str().as_bytes()).ok()
}

/// Starts `command`, as the first process of a new PID namespace if `own_pids` is set.
pub(super) fn spawn(command: &mut Command, own_pids: bool) -> io::Result<Child> {
    if !own_pids {
        return command.spawn();
    }
    // Runs on a thread that ends with it: every later child of a thread with another child namespace would be
    // in that namespace, and the thread could not start threads.
    crate::threads::on_another(|| {
        // SAFETY: the namespace of this thread's children changes, not its table of descriptors.
        unsafe { unshare_unsafe(UnshareFlags::NEWPID) }?;
        command.spawn()
    })?
}

/// Whether a program can have a PID namespace here, with a `/proc` that shows it. `program` must have the
/// hidden command of the init.
///
/// # Errors
/// The kernel or a container refuses it.
pub(super) fn try_own_pids(program: &Path) -> io::Result<()> {
    let walls = PreparedSandbox::of(&Sandbox { own_pids: true, ..Sandbox::default() })
        .map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.arg(init::SUBCOMMAND).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: between fork and exec only system calls are made, on objects that were made before.
    unsafe { command.pre_exec(move || walls.raise()) };
    let status = spawn(&mut command, true)?.wait()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("a first process there ended with {status}")))
    }
}
