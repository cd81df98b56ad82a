//! Slurm from Debian: a controller, a daemon per node, and munge, which authenticates them. All nodes are
//! this machine under several names and ports, each with all of its CPUs. So jobs on two nodes disturb each
//! other, and their measurements are not reliable.
//!
//! The machine's own Slurm is not touched: configuration, key, socket, state and logs are in the folder of
//! the cluster. It runs as the user who starts it, so it does not need root.

use std::{
    fs,
    io::Read,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU16, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;

use crate::{
    guarded::{Ends, Guarded},
    processes, programs,
};

/// More nodes on one machine give no further insight.
pub const NODES_MAX: usize = 16;
const READY_WITHIN: Duration = Duration::from_secs(30);
/// The longest path of a Unix socket.
const SOCKET_BYTES_MAX: usize = 107;
/// Programs with their Debian packages.
const PROGRAMS: [(&str, &str); 5] = [
    ("slurmctld", "slurmctld"),
    ("slurmd", "slurmd"),
    ("munged", "munge"),
    ("sbatch", "slurm-client"),
    ("squeue", "slurm-client"),
];
/// Separates measurements of two nodes, which would not wait for each other on two machines.
const PROLOG: &str = "#!/bin/sh\necho \"export TARE_CPU_REALM=$TARE_CPU_REALM-$SLURMD_NODENAME\"\n";

/// A cluster, which outlives this value.
#[derive(Debug, Clone)]
pub struct SlurmCluster {
    folder: PathBuf,
}

impl SlurmCluster {
    /// The missing Debian packages.
    pub fn missing() -> Vec<&'static str> {
        programs::missing(&PROGRAMS)
    }

    /// Starts a cluster in a new folder, and waits until each node accepts jobs.
    ///
    /// # Errors
    /// A package is missing, the folder exists, or a daemon does not start.
    pub fn up(folder: &Path, nodes: usize) -> Result<SlurmCluster> {
        let missing = SlurmCluster::missing();
        ensure!(missing.is_empty(), "Slurm is not installed here: apt-get install {}", missing.join(" "));
        ensure!((1..=NODES_MAX).contains(&nodes), "{nodes} nodes: give 1 to {NODES_MAX}");
        ensure!(!folder.exists(), "{}: there is a cluster already; end it first", folder.display());
        fs::create_dir_all(folder)?;
        let cluster = SlurmCluster { folder: folder.canonicalize()? };
        let started = cluster.write(nodes).and_then(|()| cluster.start(nodes));
        if started.is_err() {
            let _the_first_error_counts = cluster.down();
        }
        started.map(|()| cluster)
    }

    /// The same; it ends with the value or with this process.
    ///
    /// # Errors
    /// The errors of [`SlurmCluster::up`].
    pub fn up_guarded(folder: &Path, nodes: usize) -> Result<Guarded<SlurmCluster>> {
        Guarded::up(folder, |_| String::new(), |place| SlurmCluster::up(place, nodes))
    }

    /// The cluster in this folder.
    ///
    /// # Errors
    /// There is none.
    pub fn open(folder: &Path) -> Result<SlurmCluster> {
        let none = || format!("{}: there is no cluster", folder.display());
        let cluster = SlurmCluster { folder: folder.canonicalize().with_context(none)? };
        ensure!(cluster.config().is_file() || !cluster.processes().is_empty(), none());
        Ok(cluster)
    }

    fn write(&self, nodes: usize) -> Result<()> {
        use std::os::unix::fs::PermissionsExt;
        for name in ["munge", "state", "spool", "log", "run"] {
            fs::create_dir_all(self.folder.join(name))?;
        }
        let socket = self.folder.join("munge/socket");
        ensure!(
            socket.as_os_str().len() <= SOCKET_BYTES_MAX,
            "{}: too long for a socket: choose a shorter folder",
            socket.display()
        );
        let mut key = [0; 1024];
        fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
        let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        let key_path = self.folder.join("munge/key");
        fs::write(&key_path, key)?;
        mode(&key_path, 0o600)?;
        mode(&self.folder.join("munge"), 0o755)?;
        let prolog = self.folder.join("prolog.sh");
        fs::write(&prolog, PROLOG)?;
        mode(&prolog, 0o755)?;
        fs::write(self.folder.join("cgroup.conf"), "CgroupAutomount=no\n")?;
        Ok(fs::write(self.config(), self.text(nodes)?)?)
    }

    /// The configuration. Its times are short, so that a lost node is noticed within seconds.
    fn text(&self, nodes: usize) -> Result<String> {
        let folder = self.folder.display();
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let (user, host) = (asked("id", "-un")?, asked("uname", "-n")?);
        let ports = free_ports(nodes + 1)?;
        let mut text = format!(
            "ClusterName=tare\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket={folder}/munge/socket,cred_expire=5\n\
             CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\nSlurmctldPidFile={folder}/slurmctld.pid\n\
             SlurmdPidFile={folder}/slurmd.%n.pid\nSlurmdSpoolDir={folder}/spool/%n\nStateSaveLocation={folder}/state\n\
             SlurmctldLogFile={folder}/log/slurmctld.log\nSlurmdLogFile={folder}/log/slurmd.%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/affinity\nTaskProlog={folder}/prolog.sh\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/builtin\nReturnToService=2\n\
             SlurmdTimeout=6\nSlurmctldTimeout=10\nMessageTimeout=4\nKillWait=5\nMinJobAge=300\nMpiDefault=none\nMailProg=/bin/true\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\nJobCompType=jobcomp/none\n\
             SlurmdParameters=config_overrides\nSchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=100000\n",
            ports[0]
        );
        for (node, port) in (1..).zip(&ports[1..]) {
            // The first node has another feature, so that two classes of machines can be distinguished.
            let feature = if node == 1 { "small" } else { "large" };
            text += &format!(
                "NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} Boards=1 SocketsPerBoard=1 \
                 CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory=500 Feature={feature} State=UNKNOWN\n"
            );
        }
        // Jobs of the second partition always share nodes.
        Ok(text
            + "PartitionName=bench Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP\n\
               PartitionName=shared Nodes=ALL Default=NO MaxTime=INFINITE OverSubscribe=FORCE:2 State=UP\n")
    }

    fn start(&self, nodes: usize) -> Result<()> {
        let munge = |name: &str| self.folder.join("munge").join(name).display().to_string();
        let words = ["key-file", "socket", "pid-file", "log-file", "seed-file"]
            .map(|option| format!("--{option}={}", munge(option.trim_end_matches("-file"))));
        let words = [&["--foreground".to_owned(), "--force".to_owned()], &words[..]].concat();
        processes::start(&self.folder, "munged", &programs::path("munged")?, &words)?;
        let began = Instant::now();
        while !self.folder.join("munge/socket").exists() {
            ensure!(
                began.elapsed() < READY_WITHIN,
                "munged does not start: see {}/log/munged.out",
                self.folder.display()
            );
            thread::sleep(Duration::from_millis(10));
        }
        self.start_controller()?;
        (1..=nodes).try_for_each(|node| self.start_node(node))?;
        self.wait_for_nodes(nodes)
    }

    /// Starts the controller, also after it was killed.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_controller(&self) -> Result<()> {
        let words = ["-D".to_owned(), "-f".to_owned(), self.config().display().to_string()];
        processes::start(&self.folder, "slurmctld", &programs::path("slurmctld")?, &words)
    }

    /// Starts the daemon of a node, also after it was killed.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_node(&self, node: usize) -> Result<()> {
        let words = ["-D", "-N", &format!("n{node}"), "-f"].map(str::to_owned);
        let words = [&words[..], &[self.config().display().to_string()]].concat();
        processes::start(&self.folder, &format!("n{node}"), &programs::path("slurmd")?, &words)
    }

    /// Sends a signal to a daemon: `slurmctld`, `munged`, or a node such as `n1`.
    ///
    /// # Errors
    /// It does not run.
    pub fn signal(&self, daemon: &str, signal: Signal) -> Result<()> {
        processes::signal(&self.folder, daemon, signal)
    }

    fn wait_for_nodes(&self, nodes: usize) -> Result<()> {
        let began = Instant::now();
        loop {
            let idle = self
                .command("sinfo")
                .args(["--noheader", "--Node", "--partition=bench", "--format=%N %t"])
                .output()?;
            let text = String::from_utf8_lossy(&idle.stdout).into_owned();
            if text.lines().filter(|line| line.ends_with(" idle")).count() == nodes {
                return Ok(());
            }
            if began.elapsed() > READY_WITHIN {
                bail!("the nodes are not ready: {text:?}; see {}/log", self.folder.display());
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// The value of SLURM_CONF, by which Slurm's programs find the cluster.
    pub fn config(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    /// A Slurm command for this cluster.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(programs::find(program).unwrap_or_else(|| program.into()));
        command.env("SLURM_CONF", self.config()).stdin(Stdio::null());
        command
    }

    /// All live processes: daemons, their children, and jobs.
    pub fn processes(&self) -> Vec<u32> {
        processes::all(&self.folder)
    }

    /// One line per daemon, and the controller's view of the nodes and the queue.
    pub fn status(&self) -> String {
        let daemon = |name: &String| match processes::pid(&self.folder, name) {
            Some(pid) => format!("{name} runs as process {pid}\n"),
            None => format!("{name} does not run\n"),
        };
        let daemons: String = processes::names(&self.folder).iter().map(daemon).collect();
        let said = |program: &str| {
            let output = self.command(program).output();
            output.map_or_else(
                |error| error.to_string(),
                |output| String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            )
        };
        format!("{daemons}{}{}", said("sinfo"), said("squeue"))
    }

    /// Ends it with all of its jobs, and removes its folder.
    ///
    /// # Errors
    /// A process does not end, or the folder cannot be removed.
    pub fn down(&self) -> Result<()> {
        processes::end_all(&self.folder)?;
        programs::remove(&self.folder)
    }
}

impl Ends for SlurmCluster {
    fn end(&self) -> Result<()> {
        self.down()
    }
}

fn asked(program: &str, word: &str) -> Result<String> {
    let output = Command::new(program).arg(word).output().with_context(|| program.to_owned())?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Ports below the kernel's range for connections. All are held until the last is found, so that they differ.
fn free_ports(number: usize) -> Result<Vec<u16>> {
    const FIRST: u16 = 20_000;
    const RANGE: u16 = 10_000;
    // Clusters that start at the same time search in different ranges.
    static STARTED: AtomicU16 = AtomicU16::new(0);
    let before = STARTED.fetch_add(1, Ordering::Relaxed).wrapping_mul(2 * NODES_MAX as u16) % RANGE;
    let start = ((std::process::id() % u32::from(RANGE)) as u16 + before) % RANGE;
    let candidates = (0..RANGE).map(|step| FIRST + (start + step) % RANGE);
    let held: Vec<TcpListener> = candidates
        .filter_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok())
        .take(number)
        .collect();
    ensure!(held.len() == number, "there are not {number} free ports");
    held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_here() -> bool {
        let missing = SlurmCluster::missing();
        assert!(
            missing.is_empty() || std::env::var_os("TARE_TEST_ALL").is_none_or(|all| all != "1"),
            "packages are missing: {missing:?}"
        );
        if !missing.is_empty() {
            eprintln!("skipped: Slurm is not installed");
        }
        missing.is_empty()
    }

    fn wait_for(what: &str, yes: impl Fn() -> bool) {
        let began = Instant::now();
        while !yes() {
            assert!(began.elapsed() < READY_WITHIN, "{what}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts a job that does not end by itself, with a child outside of its session, and waits for it.
    fn run_job(cluster: &SlurmCluster) {
        let script = cluster.folder.join("job.sh");
        let text = "#!/bin/sh\nsetsid sleep 600 &\necho $$ > job.pid\nwait\n";
        fs::write(&script, text).unwrap();
        let chdir = format!("--chdir={}", cluster.folder.display());
        let submitted =
            cluster.command("sbatch").args(["--output=/dev/null", &chdir]).arg(&script).output().unwrap();
        assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
        wait_for("the job runs", || cluster.folder.join("job.pid").is_file());
    }

    /// Processes that work in the folder, including job steps, whose environment cannot be read.
    fn working_in(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let place =
            |path: &PathBuf| fs::read_link(path.join("cwd")).map(|cwd| cwd.to_string_lossy().into_owned());
        let is_in = |path: &PathBuf| {
            place(path).is_ok_and(|cwd| cwd.trim_end_matches(" (deleted)") == folder.to_string_lossy())
        };
        entries.filter(is_in).collect()
    }

    #[test]
    fn a_cluster_is_ended_with_its_jobs_and_leaves_nothing() {
        if !is_here() {
            return;
        }
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().canonicalize().unwrap().join("slurm");
        let cluster = SlurmCluster::up(&folder, 2).unwrap();
        let again = SlurmCluster::up(&folder, 2).unwrap_err().to_string();
        assert!(again.contains("there is a cluster already"), "{again}");
        let text = cluster.status();
        assert!(text.matches(" runs as process ").count() == 4 && text.contains("idle n[1-2]"), "{text}");
        run_job(&cluster);
        // Four daemons; a job step, its shell and its child.
        assert!(working_in(&folder).len() >= 7, "{:?}", working_in(&folder));
        // As another process would do it.
        SlurmCluster::open(&folder).unwrap().down().unwrap();
        assert_eq!((working_in(&folder), folder.exists()), (Vec::new(), false));
        assert!(SlurmCluster::open(&folder).is_err());
    }

    #[test]
    fn a_guard_ends_what_its_owner_could_not() {
        if !is_here() {
            return;
        }
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().canonicalize().unwrap().join("slurm");
        let mut guarded = SlurmCluster::up_guarded(&folder, 1).unwrap();
        run_job(&guarded.cluster);
        // As if this process had been killed.
        drop(guarded.guard.stdin.take());
        guarded.guard.wait().unwrap();
        wait_for("nothing is left", || working_in(&folder).is_empty());
        assert!(!folder.exists());
    }
}
