//! Starts a program from its description. All checks come first, so that an error names its cause. The
//! program starts in its groups, pinned, with default signal dispositions and its output in files. It knows
//! nothing of readiness or stopping.

use super::cgroup::Isolation;
use super::group::Group;
use super::init;
use super::port::PortOwner;
use super::sandbox::{self, PreparedSandbox, Sandbox};
use super::vigil::Notices;
use super::watchdog::{Watchdog, WatchdogError};
use super::{fallback, port, syscall};
use rustix::fs::{Access, OFlags};
use rustix::thread::CpuSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tare_base::{Clock, Monotonic};
use thiserror::Error;

/// The variables that configure services. They are removed from the inherited environment: only
/// [`Launch::env`] may set them.
const SETTINGS: [&str; 6] =
    ["PORT", "THREADS", "DELAY_MS", "DATABASE_URL", "DATABASE_MAX_CONN", "UPSTREAM_URL"];

/// One program to be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    pub name: String,
    /// The program and its arguments. A program with a slash is relative to `dir`, others are on `PATH`.
    pub command: Vec<String>,
    pub dir: PathBuf,
    /// Variables added to the inherited environment, from which the service settings are removed.
    pub env: Vec<(String, String)>,
    /// Variables to remove from the inherited environment.
    pub unset: Vec<String>,
    /// The CPUs it may use. Empty: all CPUs of the starting thread.
    pub cpus: Vec<usize>,
    /// The port it will listen on. It must be free before the start, and again after the stop.
    pub port: Option<u16>,
    /// The file its stdout goes to. Its folder must exist.
    pub stdout: PathBuf,
    /// The file its stderr goes to; it may be the same one.
    pub stderr: PathBuf,
    /// Whether output is appended to the files instead of replacing their content.
    pub append: bool,
    /// The parts of the machine that are hidden from it.
    pub sandbox: Sandbox,
}

/// A service could not be started.
#[derive(Debug, Error)]
#[error("service {service:?}: {why}")]
pub struct StartError {
    pub service: String,
    pub why: StartFailure,
}

#[derive(Debug, Error)]
pub enum StartFailure {
    #[error("its command is empty: name a program in `command` of [run]")]
    NoCommand,
    #[error("program {program:?} was not found {looked}: build the service, or install the program")]
    Missing { program: String, looked: String },
    #[error("{0:?} is not executable: `chmod +x` it, or name its interpreter in `command`")]
    NotExecutable(PathBuf),
    #[error("its folder {0:?} does not exist")]
    NoFolder(PathBuf),
    #[error("it cannot be pinned to CPU {cpu}: this machine has the CPUs {online}")]
    NoSuchCpu { cpu: usize, online: String },
    #[error("port {port} is in use by {owner}: end it, or choose another port")]
    PortInUse { port: u16, owner: PortOwner },
    #[error("cannot make {path:?} for its output: {source}")]
    Output { path: PathBuf, source: io::Error },
    #[error("cannot make the cgroup {path:?}: {source}")]
    Group { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Watchdog(#[from] WatchdogError),
    #[error("the path of a folder to be hidden has a zero byte in it: {0:?}")]
    Hidden(PathBuf),
    #[error("the new process could not be put into its cgroups, on its CPUs or into its sandbox: {0}")]
    SetUp(#[source] io::Error),
    #[error("cannot execute {path:?}: {source}{}", exec_hint(.source))]
    Execute { path: PathBuf, source: io::Error },
}

impl StartFailure {
    /// Whether the service is at fault: its command or program. Otherwise any program would fail here.
    pub fn is_of_service(&self) -> bool {
        match self {
            Self::NoCommand | Self::Missing { .. } | Self::NotExecutable(_) | Self::NoFolder(_) => true,
            Self::Execute { source, .. } => !is_shortage(source),
            Self::NoSuchCpu { .. }
            | Self::PortInUse { .. }
            | Self::Output { .. }
            | Self::Group { .. }
            | Self::Watchdog(_)
            | Self::Hidden(_)
            | Self::SetUp(_) => false,
        }
    }
}

/// Whether the kernel ran out of a resource that every program needs.
fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let short = [Errno::NOMEM, Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::IO];
    error.kind() == io::ErrorKind::OutOfMemory
        || short.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn exec_hint(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::NotFound {
        " (the interpreter that its first line names may be missing)"
    } else {
        ""
    }
}

/// Starts services with one kind of isolation and one watchdog.
#[derive(Debug)]
pub struct Supervisor {
    program: PathBuf,
    pub(super) isolation: Isolation,
    pub(super) watchdog: Watchdog,
    notices: Notices,
    own_pids: OnceLock<Result<(), String>>,
}

impl Supervisor {
    /// Starts a watchdog from `program` (the running executable; see [`super::watchdog::main`] and [`super::init::main`]).
    ///
    /// # Errors
    /// The watchdog cannot be started.
    pub fn start(program: &Path, isolation: Isolation) -> Result<Self, WatchdogError> {
        let watchdog = Watchdog::start(program)?;
        let (program, notices, own_pids) = (program.to_owned(), Notices::default(), OnceLock::new());
        Ok(Self { program, isolation, watchdog, notices, own_pids })
    }

    /// The same supervisor, with a receiver of notices about services that do not come up.
    #[must_use]
    pub fn telling(self, notices: Notices) -> Self {
        Self { notices, ..self }
    }

    /// The receiver of notices about services that do not come up.
    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    /// The running executable, which also runs under its hidden commands.
    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// Whether services can have PID namespaces of their own on this machine; tried once.
    ///
    /// # Errors
    /// The message of the kernel or container that refuses it.
    pub fn own_pids(&self) -> Result<(), &str> {
        let try_it = || sandbox::try_own_pids(&self.program).map_err(|error| error.to_string());
        self.own_pids.get_or_init(try_it).as_ref().copied().map_err(String::as_str)
    }

    /// The process that kills the services if this one dies.
    pub fn watchdog(&self) -> &Watchdog {
        &self.watchdog
    }
}

/// A program that has just been started.
#[derive(Debug)]
pub(super) struct Started {
    pub child: Child,
    pub group: Group,
    pub exec_at: Instant,
}

/// Runs all checks, makes the groups and starts the program in them.
pub(super) fn launch(launch: &Launch, supervisor: &Supervisor) -> Result<Started, StartError> {
    begin(launch, supervisor).map_err(|why| StartError { service: launch.name.clone(), why })
}

fn begin(launch: &Launch, supervisor: &Supervisor) -> Result<Started, StartFailure> {
    let program = check(launch)?;
    let init = launch.sandbox.own_pids.then_some(supervisor.program.as_path());
    let command = command(launch, &program, init)?;
    let mut group = Group::plan(&supervisor.isolation);
    supervisor.watchdog.add(&group.trace)?;
    let (child, exec_at) = match spawn(launch, &program, command, &group) {
        Ok(started) => started,
        Err(error) => {
            group.trace.remove_folders();
            supervisor.watchdog.delete(&group.trace.name);
            return Err(error);
        }
    };
    group.trace.pgid = Some(child.id());
    // From here on dropping the service kills it. A watchdog that has died is noticed at the next start.
    let _ = supervisor.watchdog.lead(&group.trace.name, child.id());
    Ok(Started { child, group, exec_at })
}

fn check(launch: &Launch) -> Result<PathBuf, StartFailure> {
    if !launch.dir.is_dir() {
        return Err(StartFailure::NoFolder(launch.dir.clone()));
    }
    let program = find_program(launch)?;
    // The affinity of this thread does not matter: it may be pinned to other CPUs than the service.
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let online = online.trim();
    let missing = |&&cpu: &&usize| cpu >= CpuSet::MAX_CPU || (!online.is_empty() && !lists(online, cpu));
    if let Some(&cpu) = launch.cpus.iter().find(missing) {
        return Err(StartFailure::NoSuchCpu { cpu, online: online.into() });
    }
    match launch.port.and_then(|port| Some((port, port::port_in_use(port)?))) {
        Some((port, owner)) => Err(StartFailure::PortInUse { port, owner }),
        None => Ok(program),
    }
}

/// Whether a list in the kernel's notation (`0-3,6`) contains this number.
fn lists(list: &str, number: usize) -> bool {
    list.split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let inside = |first: usize| last.parse().is_ok_and(|last| (first..=last).contains(&number));
        first.parse().is_ok_and(inside)
    })
}

fn find_program(launch: &Launch) -> Result<PathBuf, StartFailure> {
    let program = launch.command.first().ok_or(StartFailure::NoCommand)?;
    let missing = |looked| StartFailure::Missing { program: program.clone(), looked };
    if program.contains('/') {
        let path = std::path::absolute(launch.dir.join(program)).unwrap_or_else(|_| launch.dir.join(program));
        return match (path.is_file(), executable(&path)) {
            (true, true) => Ok(path),
            (true, false) => Err(StartFailure::NotExecutable(path)),
            (false, _) => Err(missing(format!("in {:?}", launch.dir))),
        };
    }
    let own = launch.env.iter().find(|(key, _)| key == "PATH").map(|(_, value)| value.into());
    let search = own.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let found = std::env::split_paths(&search)
        .map(|folder| launch.dir.join(folder).join(program))
        .find(|path| path.is_file() && executable(path));
    found.ok_or_else(|| missing(format!("on PATH {search:?}")))
}

fn executable(path: &Path) -> bool {
    rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// The program, started by an init if one is given.
fn command(launch: &Launch, program: &Path, init: Option<&Path>) -> Result<Command, StartFailure> {
    let output = |path: &PathBuf| {
        let failed = |source| StartFailure::Output { path: path.clone(), source };
        let mut options = File::options();
        // Append mode, so that stdout and stderr in one file do not overwrite each other.
        options.custom_flags(OFlags::APPEND.bits().cast_signed());
        options.write(true).create(true).truncate(!launch.append).open(path).map(Stdio::from).map_err(failed)
    };
    let mut command = Command::new(init.unwrap_or(program));
    if init.is_some() {
        command.arg(init::SUBCOMMAND).arg(program);
    }
    command.args(&launch.command[1..]).current_dir(&launch.dir).process_group(0);
    for variable in SETTINGS.into_iter().chain(launch.unset.iter().map(String::as_str)) {
        command.env_remove(variable);
    }
    command.envs(launch.env.iter().map(|(key, value)| (key, value)));
    // Files, not pipes: an unread pipe would block the service.
    command.stdin(Stdio::null()).stdout(output(&launch.stdout)?).stderr(output(&launch.stderr)?);
    Ok(command)
}

/// Forks and executes. The child enters its cgroups, is pinned, and sends the time right before exec. So no
/// part of the program runs outside its groups, and entering them does not count as start-up time.
fn spawn(
    launch: &Launch,
    program: &Path,
    mut command: Command,
    group: &Group,
) -> Result<(Child, Instant), StartFailure> {
    let entries = group.make(&launch.cpus).map_err(|(path, source)| StartFailure::Group { path, source })?;
    let (stamp_read, stamp_write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|error| StartFailure::SetUp(error.into()))?;
    let cpus = cpu_set(&launch.cpus);
    let own_pids = launch.sandbox.own_pids;
    let walls = PreparedSandbox::of(&launch.sandbox).map_err(StartFailure::Hidden)?;
    command.env(fallback::MARK, &group.trace.name);
    let stamp_write = if own_pids {
        // The init sends the time through its stdin.
        command.stdin(stamp_write);
        None
    } else {
        Some(stamp_write)
    };
    let prepare = move || {
        for entry in &entries {
            rustix::io::write(entry, b"0")?;
        }
        if let Some(cpus) = &cpus {
            rustix::thread::sched_setaffinity(None, cpus)?;
        }
        walls.raise()?;
        syscall::default_signals();
        if let Some(stamp) = &stamp_write {
            rustix::io::write(stamp, &Monotonic.now_ns().to_ne_bytes())?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec `prepare` only writes to open files, sets the affinity, mounts, resets signals and reads
    // the clock: plain system calls on objects made before the fork. It allocates nothing and takes no lock.
    unsafe { command.pre_exec(prepare) };
    let spawned = sandbox::spawn(&mut command, own_pids);
    // Closes this process's copies of the cgroup files and of the pipe's writing end.
    drop(command);
    let mut stamp = [0; 8];
    let stamped = File::from(stamp_read).read_exact(&mut stamp).is_ok();
    match spawned {
        Ok(child) if stamped => Ok((child, instant_of(u64::from_ne_bytes(stamp)))),
        Ok(mut init) => {
            let _ended = init.wait();
            Err(StartFailure::SetUp(io::Error::other("the init of its process namespace ended at once")))
        }
        Err(source) if stamped => Err(StartFailure::Execute { path: program.into(), source }),
        Err(source) => Err(StartFailure::SetUp(source)),
    }
}

pub(super) fn cpu_set(cpus: &[usize]) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    (!cpus.is_empty()).then_some(set)
}

/// Converts a time of the monotonic clock, on which `Instant` is based too.
fn instant_of(stamp_ns: u64) -> Instant {
    let now = Instant::now();
    let ago = Duration::from_nanos(Monotonic.now_ns().saturating_sub(stamp_ns));
    now.checked_sub(ago).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_inherited_may_be_given_another_value() {
        let folder = tempfile::tempdir().unwrap();
        let launch = Launch {
            unset: ["LEFT", "GIVEN"].map(str::to_owned).to_vec(),
            env: vec![("GIVEN".to_owned(), "own".to_owned())],
            ..launch_in(folder.path(), &["env"])
        };
        let command = command(&launch, Path::new("env"), None).unwrap();
        let value = |wanted: &str| command.get_envs().find(|(name, _)| *name == wanted).unwrap().1;
        assert_eq!((value("LEFT"), value("GIVEN")), (None, Some("own".as_ref())));
    }

    #[test]
    fn cpu_lists_of_the_kernel_are_read() {
        for (list, number, expected) in [
            ("0", 0, true),
            ("0-1", 1, true),
            ("0-1", 2, false),
            ("0-3,6", 6, true),
            ("0-3,6", 5, false),
            ("", 0, false),
        ] {
            assert_eq!(lists(list, number), expected, "{list:?} {number}");
        }
    }

    #[test]
    fn a_time_stamp_becomes_the_instant_at_which_it_was_taken() {
        let (before, stamp, after) = (Instant::now(), Monotonic.now_ns(), Instant::now());
        std::thread::sleep(Duration::from_millis(5));
        let stamped = instant_of(stamp);
        // `instant_of` reads two clocks one after the other, which may take a moment on a busy machine.
        assert!(stamped + Duration::from_millis(2) >= before && stamped <= after + Duration::from_millis(2));
    }

    fn launch_in(folder: &Path, command: &[&str]) -> Launch {
        let command = command.iter().map(ToString::to_string).collect();
        let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
        Launch { name: "x".to_owned(), command, dir: folder.to_owned(), stdout, stderr, ..Launch::default() }
    }

    fn program(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_program_with_a_slash_is_relative_to_the_folder_of_the_service() {
        let folder = tempfile::tempdir().unwrap();
        program(&folder.path().join("bin/server"), 0o755);
        let found = find_program(&launch_in(folder.path(), &["bin/server"])).unwrap();
        assert_eq!(found, folder.path().join("bin/server"));
        assert!(matches!(
            find_program(&launch_in(folder.path(), &["./server"])),
            Err(StartFailure::Missing { .. })
        ));
        assert!(
            matches!(find_program(&launch_in(folder.path(), &["./bin"])), Err(StartFailure::Missing { .. })),
            "a folder"
        );
        assert!(matches!(find_program(&launch_in(folder.path(), &[])), Err(StartFailure::NoCommand)));
    }

    #[test]
    fn a_program_is_looked_up_on_the_path_of_the_service() {
        let folder = tempfile::tempdir().unwrap();
        program(&folder.path().join("one/server"), 0o644);
        program(&folder.path().join("two/server"), 0o755);
        let mut launch = launch_in(folder.path(), &["server"]);
        let path = format!("one:{}", folder.path().join("two").display());
        launch.env = vec![("PATH".to_owned(), path)];
        assert_eq!(
            find_program(&launch).unwrap(),
            folder.path().join("two/server"),
            "the first is not executable"
        );
        launch.env[0].1 = "one".to_owned();
        let error = find_program(&launch).unwrap_err().to_string();
        assert!(error.contains("program \"server\" was not found on PATH \"one\""), "{error}");
    }

    #[test]
    fn settings_of_the_caller_do_not_reach_a_service() {
        let folder = tempfile::tempdir().unwrap();
        let mut launch = launch_in(folder.path(), &["server", "--fast"]);
        launch.env = vec![("THREADS".to_owned(), "2".to_owned())];
        let command = command(&launch, Path::new("/bin/server"), None).unwrap();
        let of = |name: &str| command.get_envs().find(|(key, _)| *key == name).map(|(_, value)| value);
        assert_eq!(of("PORT"), Some(None), "removed from what is inherited");
        assert_eq!(of("THREADS"), Some(Some("2".as_ref())));
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--fast"]);
    }

    #[test]
    fn output_replaces_that_of_the_last_start_unless_it_is_appended() {
        let folder = tempfile::tempdir().unwrap();
        let mut launch = launch_in(folder.path(), &["server"]);
        fs::write(&launch.stdout, "before").unwrap();
        launch.append = true;
        command(&launch, Path::new("/bin/server"), None).unwrap();
        assert_eq!(fs::read_to_string(&launch.stdout).unwrap(), "before");
        launch.append = false;
        command(&launch, Path::new("/bin/server"), None).unwrap();
        assert_eq!(fs::read_to_string(&launch.stdout).unwrap(), "");
        launch.stderr = folder.path().join("no/folder");
        assert!(matches!(command(&launch, Path::new("/bin/server"), None), Err(StartFailure::Output { .. })));
    }

    proptest! {
        #[test]
        fn a_list_contains_the_numbers_of_its_ranges(
            ranges in proptest::collection::vec((0_usize..60, 0_usize..5), 1..6), number in 0_usize..70,
        ) {
            let print = |(first, more): &(usize, usize)| match more {
                0 => first.to_string(),
                _ => format!("{first}-{}", first + more),
            };
            let list: Vec<String> = ranges.iter().map(print).collect();
            let expected = ranges.iter().any(|(first, more)| (*first..=first + more).contains(&number));
            prop_assert_eq!(lists(&list.join(","), number), expected);
        }

        #[test]
        fn no_list_is_too_much(list in "[0-9a-z,-]{0,30}", number in any::<usize>()) {
            let _any = lists(&list, number);
        }
    }

    #[test]
    fn every_failure_of_a_start_names_the_service_once() {
        let io = || io::Error::from(io::ErrorKind::NotFound);
        let path = || PathBuf::from("/x");
        for why in [
            StartFailure::NoCommand,
            StartFailure::Missing { program: "x".to_owned(), looked: "on PATH".to_owned() },
            StartFailure::NotExecutable(path()),
            StartFailure::NoFolder(path()),
            StartFailure::NoSuchCpu { cpu: 9, online: "0-1".to_owned() },
            StartFailure::PortInUse { port: 80, owner: PortOwner { process: None } },
            StartFailure::Output { path: path(), source: io() },
            StartFailure::Group { path: path(), source: io() },
            StartFailure::Watchdog(WatchdogError::Gone { source: io() }),
            StartFailure::SetUp(io()),
            StartFailure::Execute { path: path(), source: io() },
        ] {
            let text = StartError { service: "mux".to_owned(), why }.to_string();
            assert!(text.starts_with("service \"mux\": ") && text.matches("mux").count() == 1, "{text}");
            assert!(!text.ends_with('.') && !text.contains('\n'), "{text}");
        }
        assert!(exec_hint(&io()).contains("interpreter"));
        assert_eq!(exec_hint(&io::Error::other("x")), "");
    }

    #[test]
    fn an_instant_is_found_again_by_the_clock_of_the_kernel() {
        let before = Instant::now();
        let stamp = Monotonic.now_ns();
        let found = instant_of(stamp);
        assert!(found + Duration::from_millis(5) >= before && found <= Instant::now());
        assert!(instant_of(u64::MAX) <= Instant::now(), "a stamp that was never written");
    }
}
