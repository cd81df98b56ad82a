//! Runs git so that no part of a repository can become a command. All git processes of Tare start here.
//!
//! A foreign repository is not only data: its configuration can name commands (`core.fsmonitor`, filters,
//! hooks, `core.sshCommand`, `gpg.program`, remotes such as `ext::sh -c ...`), and even `git status` runs
//! some. A list of settings to disable is never complete. So git gets a folder of Tare's own instead of
//! `.git`, with a configuration written here and no hooks or remotes. Only objects, references and the index
//! are the repository's, and those are data. The configurations of user and machine are not read either.

#[cfg(test)]
pub(crate) mod fixture;
mod place;

use std::{
    env,
    ffi::OsStr,
    fs, io,
    io::{Read, Write},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use place::GitPlace;

/// Time limit of one command, for repositories of any size.
const TIME_MAX: Duration = Duration::from_secs(10 * 60);
const PAUSE: Duration = Duration::from_millis(2);

/// The shell command, and also the Debian package.
pub(crate) const PROGRAM: &str = "git";

/// A transfer below this number of bytes a second for a minute fails. Disables garbage collection, which
/// would outlive the command, converted line ends and file-system monitors; keeps links as links.
const FETCHING: [&str; 18] = [
    "-c",
    "http.lowSpeedLimit=1000",
    "-c",
    "http.lowSpeedTime=60",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "core.autocrlf=false",
    "-c",
    "core.symlinks=true",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "apply.whitespace=nowarn",
];

/// The settings that are read from a repository's configuration.
const ASKED: &str = r"^(extensions\.(objectformat|refstorage)|remote\.origin\.url)$";

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{}: is in no git repository", .0.display())]
    NoRepository(PathBuf),
    #[error("{}: leads to {}, which does not know this work tree: it is not followed", link.display(), to.display())]
    LeadsElsewhere { link: PathBuf, to: PathBuf },
    #[error("{}: is not what git makes it: {reason}", path.display())]
    Odd { path: PathBuf, reason: &'static str },
    #[error(
        "{}: names objects that lie in other repositories, which are not read; `git repack -a -d` brings them in, and then the \
         file can be removed",
        .0.display()
    )]
    Alternates(PathBuf),
    #[error("git is not in PATH: apt-get install git")]
    NoGit,
    #[error("`git {command}` failed in {}: {said}", folder.display())]
    Failed { command: String, folder: PathBuf, said: String },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The hash function of a repository's object names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectFormat {
    Sha1,
    Sha256,
}

/// A repository prepared for safe git commands.
#[derive(Debug)]
pub(crate) struct Repository {
    /// The real path of the work tree.
    pub(crate) top: PathBuf,
    /// The given folder, relative to `top`.
    pub(crate) path: PathBuf,
    pub(crate) format: ObjectFormat,
    /// The URL of the remote `origin`, if there is one.
    pub(crate) remote: Option<String>,
    place: GitPlace,
    /// The folder that git gets as the repository.
    stand_in: tempfile::TempDir,
    git: PathBuf,
}

impl Repository {
    /// The nearest repository upwards whose work tree contains `folder`, except a bare one inside it.
    ///
    /// # Errors
    /// There is none, its layout is unusual, or git is missing.
    pub(crate) fn around(folder: &Path) -> Result<Repository, GitError> {
        let place = GitPlace::around(folder)?;
        Repository::at(place, folder)
    }

    /// The repository of the submodule `name` at `path` of the work tree; absent if not in this clone.
    ///
    /// # Errors
    /// As [`Repository::around`].
    pub(crate) fn submodule(&self, name: &str, path: &Path) -> Result<Option<Repository>, GitError> {
        let top = self.top.join(path);
        self.place.submodule(name, &top).map(|place| Repository::at(place, &top)).transpose()
    }

    /// The folder of its objects and references.
    pub(crate) fn folder(&self) -> &Path {
        &self.place.common
    }

    fn at(place: GitPlace, folder: &Path) -> Result<Repository, GitError> {
        let git = program(PROGRAM).ok_or(GitError::NoGit)?;
        let unwritten = |source| GitError::Io { path: env::temp_dir(), source };
        let stand_in = tempfile::Builder::new().prefix("tare-git-").tempdir().map_err(unwritten)?;
        let configured = configured(&git, &place, stand_in.path())?;
        let format = match configured.get("extensions.objectformat") {
            Some("sha256") => ObjectFormat::Sha256,
            _ => ObjectFormat::Sha1,
        };
        fill(stand_in.path(), &place, &configured).map_err(unwritten)?;
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let path = folder.strip_prefix(&place.top).unwrap_or(Path::new("")).to_owned();
        let remote = configured.get("remote.origin.url").map(str::to_owned);
        Ok(Repository { top: place.top.clone(), path, format, remote, place, stand_in, git })
    }

    /// git's output, without the final line break.
    ///
    /// # Errors
    /// git fails; the error contains its last message.
    pub(crate) fn ask(&self, words: &[&str]) -> Result<String, GitError> {
        let said = self.read(words, &[])?;
        Ok(String::from_utf8_lossy(&said).trim_end().to_owned())
    }

    /// git's output for `input` on its stdin.
    ///
    /// # Errors
    /// As [`Repository::ask`].
    pub(crate) fn read(&self, words: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let mut printed = Vec::new();
        self.stream(words, input, |output| output.read_to_end(&mut printed).map(drop))?;
        Ok(printed)
    }

    /// Passes `input` to git, and its output to `read`.
    ///
    /// # Errors
    /// As [`Repository::ask`], or `read` fails.
    pub(crate) fn stream(
        &self,
        words: &[&str],
        input: &[u8],
        read: impl FnOnce(&mut dyn Read) -> io::Result<()>,
    ) -> Result<(), GitError> {
        let failed =
            |said: String| GitError::Failed { command: words.join(" "), folder: self.top.clone(), said };
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let ended = talk(child, input, read).map_err(|error| failed(error.to_string()))?;
        match ended.status {
            status if !status.success() => Err(failed(last_line(&ended.said))),
            _ => ended.read.map_err(|error| failed(error.to_string())),
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = safe(&self.git, self.stand_in.path());
        command
            .env("GIT_DIR", self.stand_in.path())
            .env("GIT_OBJECT_DIRECTORY", self.place.common.join("objects"))
            .env("GIT_WORK_TREE", &self.top)
            .env("GIT_INDEX_FILE", self.place.own.join("index"))
            .args(words.iter().map(OsStr::new));
        command
    }
}

/// A git command that fetches a build's repositories. It uses the user's own configuration for access, such
/// as mirrors. It runs in a folder that Tare made, so no foreign configuration is read.
pub(crate) fn fetching(words: &[&str]) -> Vec<String> {
    [PROGRAM].into_iter().chain(FETCHING).chain(words.iter().copied()).map(str::to_owned).collect()
}

/// The absolute path of a program: with a relative folder in PATH, a repository could bring its own.
fn program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let absolute = env::split_paths(&folders).filter(|folder| folder.is_absolute());
    absolute.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// git in Tare's folder `here`, with only that folder's configuration and no variables for git.
fn safe(git: &Path, here: &Path) -> Command {
    let mut command = Command::new(git);
    for (name, _) in env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command
        .current_dir(here)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

/// The relevant values of a repository's configuration, read as plain text: includes are not followed.
struct Configured(Vec<(String, String)>);

impl Configured {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

fn configured(git: &Path, place: &GitPlace, here: &Path) -> Result<Configured, GitError> {
    let file = place.common.join("config");
    let mut command = safe(git, here);
    command.env("GIT_DIR", here).args(["config", "--no-includes", "--null", "--file"]).arg(&file);
    let output = command.args(["--get-regexp", ASKED]).output();
    let output = output.map_err(|source| GitError::Io { path: git.to_owned(), source })?;
    // Status 1 means that no such value exists.
    if !output.status.success() && output.status.code() != Some(1) {
        return Err(GitError::Odd { path: file, reason: "git cannot read it" });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let pairs = text.split('\0').filter_map(|entry| entry.split_once('\n'));
    Ok(Configured(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
}

/// Fills `stand_in` with links to the references of `place` and a configuration to read them.
fn fill(stand_in: &Path, place: &GitPlace, configured: &Configured) -> io::Result<()> {
    let extension = |name: &str, known: &[&str]| {
        let value = configured.get(&format!("extensions.{name}")).filter(|value| known.contains(value));
        value.map(|value| format!("\t{name} = {value}\n"))
    };
    let extensions: String = [extension("objectformat", &["sha256"]), extension("refstorage", &["reftable"])]
        .into_iter()
        .flatten()
        .collect();
    let version = u8::from(!extensions.is_empty());
    let config =
        format!("[core]\n\trepositoryformatversion = {version}\n\tbare = false\n[extensions]\n{extensions}");
    fs::write(stand_in.join("config"), config)?;
    fs::write(stand_in.join("HEAD"), &place.head)?;
    fs::create_dir(stand_in.join("objects"))?;
    for name in ["refs", "packed-refs", "reftable", "shallow", "logs"] {
        let from = place.common.join(name);
        if from.exists() {
            symlink(from, stand_in.join(name))?;
        }
    }
    for name in fs::read_dir(&place.own)?.filter_map(|entry| Some(entry.ok()?.file_name())) {
        // A large index may be split into two files.
        if name.as_encoded_bytes().starts_with(b"sharedindex.") {
            symlink(place.own.join(&name), stand_in.join(&name))?;
        }
    }
    if !stand_in.join("refs").exists() {
        fs::create_dir(stand_in.join("refs"))?;
    }
    Ok(())
}

/// The result of running a process.
struct Ended {
    status: ExitStatus,
    said: Vec<u8>,
    read: io::Result<()>,
}

/// Writes to a process, reads from it and waits for it concurrently, to avoid a deadlock.
fn talk(
    mut child: Child,
    input: &[u8],
    read: impl FnOnce(&mut dyn Read) -> io::Result<()>,
) -> io::Result<Ended> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        // The process may end before it has read everything; its status tells more than this error.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let said = scope.spawn(move || {
            let mut said = Vec::new();
            let _what_came = stderr.map(|mut stderr| stderr.read_to_end(&mut said));
            said
        });
        let status = scope.spawn(move || wait(child));
        let read = stdout.map_or(Ok(()), |mut stdout| {
            let read = read(&mut stdout);
            let _a_pipe_that_is_full_would_never_end = io::copy(&mut stdout, &mut io::sink());
            read
        });
        let status = status.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        Ok(Ended { status, said: said.join().unwrap_or_default(), read })
    })
}

/// Waits with a time limit: a file of the repository may be a pipe, from which git reads for ever.
fn wait(mut child: Child) -> io::Result<ExitStatus> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if began.elapsed() > TIME_MAX {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other(format!("it had not ended after {} s", TIME_MAX.as_secs())));
        }
        thread::sleep(PAUSE);
    }
}

fn last_line(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    tare_host::foreign::quotable(said.lines().last().unwrap_or_default().trim())
}

#[cfg(test)]
mod tests;
