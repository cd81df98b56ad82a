//! Cleans up however this program ends: its child processes are killed, and its folders are removed.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// The kernel kills the process when the thread that starts it ends.
#[allow(unsafe_code)]
pub fn leash(command: &mut Command) -> &mut Command {
    let parent = getpid();
    let fasten = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have ended before the call above.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: the closure makes two system calls and nothing else; neither allocates.
    unsafe { command.pre_exec(fasten) }
}

/// A process that is killed when this value is dropped.
#[derive(Debug)]
pub struct Leashed(pub Child);

impl Drop for Leashed {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

/// A folder that is removed when this value is dropped. If this program is killed, a helper process that
/// Ctrl-C does not reach removes it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    sweeper: Child,
}

impl Folder {
    pub fn new(name: &str) -> io::Result<Folder> {
        let path = std::env::temp_dir().join(format!("tare-{name}-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let mut sweeper = Command::new("sh");
        // `cat` ends when this program closes the pipe, or ends.
        sweeper.args(["-c", "cat; rm -rf \"$0\""]).arg(&path).process_group(0);
        let sweeper = sweeper.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        Ok(Folder { path, sweeper })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.sweeper.stdin.take());
        let _status = self.sweeper.wait();
    }
}
