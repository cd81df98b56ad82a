//! git, asked so that nothing of a repository can become a command. Every git that Tare starts begins here.
//!
//! A repository that a stranger made is more than data: `core.fsmonitor`, filters, hooks, `core.sshCommand`, `gpg.program` and
//! remotes such as `ext::sh -c ...` are commands that its configuration names, and plain `git status` runs some of them. A list of
//! what to switch off is never complete. So git is given a folder of Tare's own in place of the repository's `.git`: its
//! configuration is the one that is written here, it has no hooks and no remotes, and only objects, references and the index are
//! those of the repository. Those are data. The user's own configuration and that of the machine are not read either.

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

/// For one question, however large the repository.
const TIME_MAX: Duration = Duration::from_secs(10 * 60);
const PAUSE: Duration = Duration::from_millis(2);

/// As a command of a shell, and as a package of Debian.
pub(crate) const PROGRAM: &str = "git";

/// A transfer of less than this many bytes a second for a minute has ended. No collection of garbage, which would go on
/// after the command, no line ends of another system, links as links, and no hook of a monitor.
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

/// What the configuration of a repository is read for.
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

/// How a repository names its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectFormat {
    Sha1,
    Sha256,
}

/// A repository, as git may look at it.
#[derive(Debug)]
pub(crate) struct Repository {
    /// The work tree, by its real path.
    pub(crate) top: PathBuf,
    /// The folder that was asked about, below `top`.
    pub(crate) path: PathBuf,
    pub(crate) format: ObjectFormat,
    /// Where it is fetched from and pushed to, if it says so.
    pub(crate) remote: Option<String>,
    place: GitPlace,
    /// What git is given as the repository.
    stand_in: tempfile::TempDir,
    git: PathBuf,
}

impl Repository {
    /// The repository whose work tree holds `folder`: the nearest one upwards. A bare repository that lies in the folder is none.
    ///
    /// # Errors
    /// There is none, it is not laid out as git does it, or git is missing.
    pub(crate) fn around(folder: &Path) -> Result<Repository, GitError> {
        let place = GitPlace::around(folder)?;
        Repository::at(place, folder)
    }

    /// The repository of the submodule called `name`, whose files lie at `path` of the work tree; absent if it is not in this clone.
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

    /// What git says, without the line break at its end.
    ///
    /// # Errors
    /// git fails; what it said last is in the error.
    pub(crate) fn ask(&self, words: &[&str]) -> Result<String, GitError> {
        let said = self.read(words, &[])?;
        Ok(String::from_utf8_lossy(&said).trim_end().to_owned())
    }

    /// What git prints, if it is given `input`.
    ///
    /// # Errors
    /// As [`Repository::ask`].
    pub(crate) fn read(&self, words: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let mut printed = Vec::new();
        self.stream(words, input, |output| output.read_to_end(&mut printed).map(drop))?;
        Ok(printed)
    }

    /// Gives git `input`, and what it prints to `read`.
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

/// git for the repositories that a build is made from: the user's own configuration says how they are reached, such as by a mirror.
/// Each has a folder that Tare made, so that no configuration of theirs is read.
pub(crate) fn fetching(words: &[&str]) -> Vec<String> {
    [PROGRAM].into_iter().chain(FETCHING).chain(words.iter().copied()).map(str::to_owned).collect()
}

/// A program by its absolute path: in a relative folder of PATH, a repository could bring its own.
fn program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let absolute = env::split_paths(&folders).filter(|folder| folder.is_absolute());
    absolute.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// git in the folder `here`, which is Tare's, with no configuration but that of its repository and no variable that steers it.
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

/// The few values of a repository's configuration that matter, read as the text of a file: nothing is included or obeyed.
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
    // 1 says that there is no such value.
    if !output.status.success() && output.status.code() != Some(1) {
        return Err(GitError::Odd { path: file, reason: "git cannot read it" });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let pairs = text.split('\0').filter_map(|entry| entry.split_once('\n'));
    Ok(Configured(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
}

/// Makes `stand_in` a repository that has the references of `place`, and a configuration that says how to read them.
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
        // A large index may be split in two.
        if name.as_encoded_bytes().starts_with(b"sharedindex.") {
            symlink(place.own.join(&name), stand_in.join(&name))?;
        }
    }
    if !stand_in.join("refs").exists() {
        fs::create_dir(stand_in.join("refs"))?;
    }
    Ok(())
}

/// How a conversation ended.
struct Ended {
    status: ExitStatus,
    said: Vec<u8>,
    read: io::Result<()>,
}

/// Writes to a process, reads from it, and waits for its end, all at once: each could wait for the other.
fn talk(
    mut child: Child,
    input: &[u8],
    read: impl FnOnce(&mut dyn Read) -> io::Result<()>,
) -> io::Result<Ended> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        // It may end before it has read everything: how it ended says more than that.
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

/// A file of a repository may be a pipe, from which git would read for ever.
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
