//! From a description of a program to a running one: everything is checked first, so that what can go wrong is said in
//! words, then it is started in its groups, pinned, with clean signals and its output in files.
//! It knows nothing of readiness or of stopping.

use super::group::Group;
use super::{Isolation, Keeper, KeeperError, PortOwner, fallback, port, syscall};
use rustix::fs::{Access, OFlags};
use rustix::thread::CpuSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use thiserror::Error;

/// What a service is told by, taken out of the environment that it inherits: only [`Launch::env`] may set it.
const KNOBS: [&str; 3] = ["PORT", "THREADS", "DELAY_MS"];

/// One program to be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// How messages call it.
    pub name: String,
    /// The program and its arguments. A program with a slash is relative to `dir`, another is looked up on `PATH`.
    pub command: Vec<String>,
    /// Where it runs.
    pub dir: PathBuf,
    /// Variables added to the inherited environment, from which those that steer a service are removed first.
    pub env: Vec<(String, String)>,
    /// The CPUs it may use; empty for all that the starting thread may use.
    pub cpus: Vec<usize>,
    /// The port it will listen on: seen to be free before it starts and after it has stopped.
    pub port: Option<u16>,
    /// The file its stdout goes to. Its folder must exist.
    pub stdout: PathBuf,
    /// The file its stderr goes to, likewise; it may be the same.
    pub stderr: PathBuf,
    /// Whether the files keep what they hold and grow, instead of being emptied first.
    pub append: bool,
}

/// Why a service could not be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// The command has no words.
    #[error("service {name:?} has an empty command: name a program in `command` of [run]")]
    NoCommand {
        /// The service.
        name: String,
    },
    /// The program is not there.
    #[error(
        "service {name:?}: there is no program {program:?} {looked}: build the service, or install the program"
    )]
    Missing {
        /// The service.
        name: String,
        /// As the command names it.
        program: String,
        /// Where it was looked for.
        looked: String,
    },
    /// The program is there but may not be executed.
    #[error(
        "service {name:?}: {path:?} is not executable: `chmod +x` it, or name its interpreter in `command`"
    )]
    NotExecutable {
        /// The service.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// The folder to run in is not there.
    #[error("service {name:?}: its folder {path:?} is not there")]
    NoFolder {
        /// The service.
        name: String,
        /// The folder.
        path: PathBuf,
    },
    /// It is to be pinned to a CPU that this machine has not.
    #[error("service {name:?} cannot be pinned to CPU {cpu}: this machine has {online}")]
    NoSuchCpu {
        /// The service.
        name: String,
        /// The CPU.
        cpu: usize,
        /// Those that there are, as the kernel lists them.
        online: String,
    },
    /// Somebody else listens on its port.
    #[error("service {name:?}: port {port} is in use by {owner}: end it, or choose another port")]
    PortInUse {
        /// The service.
        name: String,
        /// The port.
        port: u16,
        /// Who listens.
        owner: PortOwner,
    },
    /// A file for its output cannot be made.
    #[error("service {name:?}: cannot make {path:?} for its output: {source}")]
    Output {
        /// The service.
        name: String,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A cgroup cannot be made.
    #[error("service {name:?}: cannot make the cgroup {path:?}: {source}")]
    Group {
        /// The service.
        name: String,
        /// The cgroup.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is nobody who would kill it if this process died.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// It could not enter its groups or be pinned.
    #[error("service {name:?}: the new process could not be put into its cgroups or on its CPUs: {source}")]
    SetUp {
        /// The service.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused to execute the program.
    #[error("service {name:?}: cannot execute {path:?}: {source}{}", exec_hint(.source))]
    Execute {
        /// The service.
        name: String,
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn exec_hint(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::NotFound {
        " (the interpreter that its first line names may be missing)"
    } else {
        ""
    }
}

/// Starts services under one isolation and with one keeper.
#[derive(Debug)]
pub struct Supervisor {
    pub(super) isolation: Isolation,
    pub(super) keeper: Keeper,
}

impl Supervisor {
    /// Starts a keeper from `program` (the running executable; see [`super::keeper::main`]).
    pub fn start(program: &Path, isolation: Isolation) -> Result<Self, KeeperError> {
        Ok(Self { isolation, keeper: Keeper::start(program)? })
    }

    /// How services are kept apart.
    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// Who kills them if this process dies.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }
}

/// A program that has just been executed.
#[derive(Debug)]
pub(super) struct Started {
    pub child: Child,
    pub group: Group,
    pub exec_at: Instant,
}

/// Checks everything, makes the groups and starts the program in them.
pub(super) fn launch(launch: &Launch, supervisor: &Supervisor) -> Result<Started, StartError> {
    let program = check(launch)?;
    let command = command(launch, &program)?;
    let mut group = Group::plan(&supervisor.isolation);
    supervisor.keeper.add(&group.trace)?;
    let (child, exec_at) = match spawn(launch, &program, command, &group) {
        Ok(started) => started,
        Err(error) => {
            group.trace.remove_folders();
            supervisor.keeper.delete(&group.trace.name);
            return Err(error);
        }
    };
    group.trace.pgid = Some(child.id());
    // From here on dropping the service kills it; a keeper that is gone is found by the next start.
    let _ = supervisor.keeper.lead(&group.trace.name, child.id());
    Ok(Started { child, group, exec_at })
}

fn check(launch: &Launch) -> Result<PathBuf, StartError> {
    let name = || launch.name.clone();
    if !launch.dir.is_dir() {
        return Err(StartError::NoFolder { name: name(), path: launch.dir.clone() });
    }
    let program = find_program(launch)?;
    // Not the affinity of this thread: it may itself be pinned, to other CPUs than the service.
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let online = online.trim();
    let missing = |&&cpu: &&usize| cpu >= CpuSet::MAX_CPU || (!online.is_empty() && !lists(online, cpu));
    if let Some(&cpu) = launch.cpus.iter().find(missing) {
        return Err(StartError::NoSuchCpu { name: name(), cpu, online: online.into() });
    }
    match launch.port.and_then(|port| Some((port, port::port_in_use(port)?))) {
        Some((port, owner)) => Err(StartError::PortInUse { name: name(), port, owner }),
        None => Ok(program),
    }
}

/// Whether a list of the kernel's (`0-3,6`) names this number.
fn lists(list: &str, number: usize) -> bool {
    list.split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let inside = |first: usize| last.parse().is_ok_and(|last| (first..=last).contains(&number));
        first.parse().is_ok_and(inside)
    })
}

/// The program as an absolute path.
fn find_program(launch: &Launch) -> Result<PathBuf, StartError> {
    let name = || launch.name.clone();
    let program = launch.command.first().ok_or_else(|| StartError::NoCommand { name: name() })?;
    let missing = |looked| StartError::Missing { name: name(), program: program.clone(), looked };
    if program.contains('/') {
        let path = std::path::absolute(launch.dir.join(program)).unwrap_or_else(|_| launch.dir.join(program));
        return match (path.is_file(), executable(&path)) {
            (true, true) => Ok(path),
            (true, false) => Err(StartError::NotExecutable { name: name(), path }),
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

fn command(launch: &Launch, program: &Path) -> Result<Command, StartError> {
    let output = |path: &PathBuf| {
        let failed = |source| StartError::Output { name: launch.name.clone(), path: path.clone(), source };
        let mut options = File::options();
        // For appending in any case: the two may be one file, and must not write over each other.
        options.custom_flags(OFlags::APPEND.bits().cast_signed());
        options.write(true).create(true).truncate(!launch.append).open(path).map(Stdio::from).map_err(failed)
    };
    let mut command = Command::new(program);
    command.args(&launch.command[1..]).current_dir(&launch.dir).process_group(0);
    for knob in KNOBS {
        command.env_remove(knob);
    }
    command.envs(launch.env.iter().map(|(key, value)| (key, value)));
    // Files, not pipes: nobody must read for the service not to stand still.
    command.stdin(Stdio::null()).stdout(output(&launch.stdout)?).stderr(output(&launch.stderr)?);
    Ok(command)
}

/// Forks and executes. The child enters its cgroups, is pinned and stamps the time before it becomes the program, so
/// that nothing of the program ever runs elsewhere and the way there does not count as its start-up.
fn spawn(
    launch: &Launch,
    program: &Path,
    mut command: Command,
    group: &Group,
) -> Result<(Child, Instant), StartError> {
    let name = || launch.name.clone();
    let set_up = |source| StartError::SetUp { name: name(), source };
    let doors = group.make().map_err(|(path, source)| StartError::Group { name: name(), path, source })?;
    let (stamp_read, stamp_write) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(|error| set_up(error.into()))?;
    let cpus = cpu_set(&launch.cpus);
    command.env(fallback::MARK, &group.trace.name);
    let prepare = move || {
        for door in &doors {
            rustix::io::write(door, b"0")?;
        }
        if let Some(cpus) = &cpus {
            rustix::thread::sched_setaffinity(None, cpus)?;
        }
        syscall::default_signals();
        rustix::io::write(&stamp_write, &monotonic_ns().to_ne_bytes())?;
        Ok(())
    };
    // SAFETY: between fork and exec `prepare` only writes to open files, pins, resets signals and reads the clock:
    // plain system calls on what was made before the fork, nothing that allocates or locks.
    unsafe { command.pre_exec(prepare) };
    let spawned = command.spawn();
    // Closes our copies of the doors and of the writing end.
    drop(command);
    let mut stamp = [0; 8];
    let stamped = File::from(stamp_read).read_exact(&mut stamp).is_ok();
    match spawned {
        Ok(child) => Ok((child, instant_of(u64::from_ne_bytes(stamp)))),
        Err(source) if stamped => Err(StartError::Execute { name: name(), path: program.into(), source }),
        Err(source) => Err(set_up(source)),
    }
}

fn cpu_set(cpus: &[usize]) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    (!cpus.is_empty()).then_some(set)
}

fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// The `Instant` of a stamp of the monotonic clock, which is the clock behind `Instant` too.
fn instant_of(stamp_ns: u64) -> Instant {
    let now = Instant::now();
    let ago = Duration::from_nanos(monotonic_ns().saturating_sub(stamp_ns));
    now.checked_sub(ago).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel_are_read() {
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
    fn a_stamp_becomes_the_instant_at_which_it_was_made() {
        let (before, stamp, after) = (Instant::now(), monotonic_ns(), Instant::now());
        std::thread::sleep(Duration::from_millis(5));
        let stamped = instant_of(stamp);
        // `instant_of` reads two clocks one after the other, which on a busy machine may be an instant apart.
        assert!(stamped + Duration::from_millis(2) >= before && stamped <= after + Duration::from_millis(2));
    }
}
