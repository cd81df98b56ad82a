//! Clusters that end with a value, or with the process that started them, however that ends.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::Result;

const GUARD: &str = include_str!("guard.sh");

/// A cluster that can be ended.
pub trait Ends {
    /// Ends it, and removes its files.
    ///
    /// # Errors
    /// A process does not end, or something cannot be removed.
    fn end(&self) -> Result<()>;
}

/// A cluster that ends with this value, and also if this process is killed.
#[derive(Debug)]
pub struct Guarded<C: Ends> {
    pub cluster: C,
    pub(crate) guard: Child,
}

impl<C: Ends> Guarded<C> {
    /// Starts the guard first, which ends everything. `cgroups` returns the prefix of its cgroups.
    pub(crate) fn up(
        folder: &Path,
        cgroups: impl FnOnce(&Path) -> String,
        up: impl FnOnce(&Path) -> Result<C>,
    ) -> Result<Guarded<C>> {
        let mut place = std::path::absolute(folder)?;
        // The path in the form that the cluster uses, once it exists.
        if let (Some(Ok(parent)), Some(name)) = (place.parent().map(Path::canonicalize), place.file_name()) {
            place = parent.join(name);
        }
        let mut command = Command::new("/bin/sh");
        command.args(["-c", GUARD, "sh"]).arg(&place).arg(cgroups(&place)).stdin(Stdio::piped());
        let guard = command.spawn()?;
        Ok(Guarded { cluster: up(&place)?, guard })
    }
}

impl<C: Ends> Drop for Guarded<C> {
    fn drop(&mut self) {
        let _the_guard_tries_again = self.cluster.end();
        drop(self.guard.stdin.take());
        let _it_ends = self.guard.wait();
    }
}
