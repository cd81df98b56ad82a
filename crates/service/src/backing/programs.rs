//! Finds the programs of PostgreSQL, and a user that may run them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Debian's folder with all installed versions.
const DEBIAN: &str = "/usr/lib/postgresql";
/// The user for PostgreSQL if Tare runs as root, which initdb refuses; this user owns no files.
const UID_WITHOUT_RIGHTS: u32 = 65534;

/// The programs of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresPrograms {
    folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramsError {
    #[error(
        "this contract needs a database, and PostgreSQL is not installed: `apt-get install postgresql` brings it (on Debian), or put \
         initdb and postgres on PATH"
    )]
    Missing,
}

impl PostgresPrograms {
    /// The newest version in Debian's folder, or else the one on PATH.
    ///
    /// # Errors
    /// PostgreSQL is not installed.
    pub fn find() -> Result<PostgresPrograms, ProgramsError> {
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        PostgresPrograms::find_in(Path::new(DEBIAN), &on_path)
    }

    fn find_in(debian: &Path, path: &OsStr) -> Result<PostgresPrograms, ProgramsError> {
        let version = |folder: &PathBuf| folder.file_name()?.to_str()?.parse::<u32>().ok();
        let entries = std::fs::read_dir(debian).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut versions: Vec<PathBuf> = entries.filter(|folder| version(folder).is_some()).collect();
        versions.sort_by_key(version);
        let of_debian = versions.into_iter().rev().map(|folder| folder.join("bin"));
        let has_all =
            |folder: &PathBuf| ["initdb", "postgres"].iter().all(|name| folder.join(name).is_file());
        let on_path = std::env::split_paths(path).map(|folder| real(&folder));
        let folder = of_debian.chain(on_path).find(has_all).ok_or(ProgramsError::Missing)?;
        Ok(PostgresPrograms { folder })
    }

    pub(super) fn path(&self, program: &str) -> String {
        self.folder.join(program).display().to_string()
    }
}

/// The real folder of a program on PATH, which may be a link: its other files are there.
fn real(folder: &Path) -> PathBuf {
    let real = std::fs::canonicalize(folder.join("postgres")).ok();
    real.and_then(|program| program.parent().map(Path::to_owned)).unwrap_or_else(|| folder.to_owned())
}

/// Wraps a command so that PostgreSQL does not run as root, and in an IPC namespace of its own. Its shared
/// memory then ends with the last process.
pub(super) fn unprivileged(command: Vec<String>) -> Vec<String> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let before = match is_root() {
        true => words(&format!(
            "unshare --ipc -- setpriv --reuid={UID_WITHOUT_RIGHTS} --regid={UID_WITHOUT_RIGHTS} --clear-groups --no-new-privs --"
        )),
        false if may_have_namespaces() => words("unshare --user --map-current-user --ipc --"),
        false => Vec::new(),
    };
    before.into_iter().chain(command).collect()
}

/// Makes that user the owner of a folder.
pub(super) fn give(folder: &Path) -> std::io::Result<()> {
    match is_root() {
        true => std::os::unix::fs::chown(folder, Some(UID_WITHOUT_RIGHTS), Some(UID_WITHOUT_RIGHTS)),
        false => Ok(()),
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether this user may make namespaces; tried, since several settings can forbid it.
fn may_have_namespaces() -> bool {
    let mut command = std::process::Command::new("unshare");
    command.args(["--user", "--map-current-user", "--ipc", "--", "true"]);
    let status = command.stdin(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        ["initdb", "postgres"].iter().for_each(|name| std::fs::write(folder.join(name), "").unwrap());
    }

    #[test]
    fn the_newest_version_of_debian_comes_before_path() {
        let machine = tempfile::tempdir().unwrap();
        let (debian, own) = (machine.path().join("debian"), machine.path().join("own"));
        let find = || PostgresPrograms::find_in(&debian, own.as_os_str());
        assert_eq!(find(), Err(ProgramsError::Missing));
        installed(&own);
        assert_eq!(find().unwrap().folder, own);
        for version in ["9", "15", "README"] {
            installed(&debian.join(version).join("bin"));
        }
        assert_eq!(find().unwrap().folder, debian.join("15/bin"));
        std::fs::remove_file(debian.join("15/bin/initdb")).unwrap();
        assert_eq!(find().unwrap().folder, debian.join("9/bin"), "15 is the client alone");
    }
}
