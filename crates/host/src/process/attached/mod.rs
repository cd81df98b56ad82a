//! A server that Tare did not start: its processes, their CPU time, and whether they are still the same. Tare
//! only observes it.

use std::{
    collections::BTreeSet,
    fs, io,
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{
    activity::Activity,
    bystanders::Bystanders,
    cgroup::{self, Cgroups},
    folder,
    meter::Meter,
    outcome::ServerGone,
    placement, port,
    procfs::{self, Identity, Process},
    sockets,
    tally::CpuTime,
    unix,
    unknown::{CpuUnknown, Unseen},
};
use tare_base::Endpoint;

/// Selects the processes whose CPU time and memory are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CountedProcesses {
    /// The processes that hold the listening socket, and all their descendants.
    Listener,
    /// This process and all its descendants.
    Pid(u32),
    /// Every process in this cgroup: a folder, or a path as in `/proc/PID/cgroup`.
    Cgroup(PathBuf),
    /// Every process in the cgroup of this process. The cgroup must not be the root.
    CgroupOf(u32),
}

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("there is no process {0}")]
    NoProcess(u32),
    #[error(
        "{process} does not listen at {at}, but {owner} does: give its number, or a cgroup that both are in"
    )]
    OtherListener { process: Process, at: Endpoint, owner: Process },
    #[error(
        "{} is no cgroup that counts CPU time: name its folder below /sys/fs/cgroup, or its path in /proc/PID/cgroup", .0.display()
    )]
    NoCgroup(PathBuf),
    #[error("no process is in the cgroup {}", .0.display())]
    EmptyCgroup(PathBuf),
}

/// A server as it was found. If other processes serve later, this server counts as gone.
#[derive(Debug, Clone)]
pub struct Server {
    address: Endpoint,
    /// Found by its listening socket alone: the user did not name the processes.
    by_listener: bool,
    counted: Result<Counted, Unseen>,
    /// Inodes of the sockets that listen at the address; empty if none is visible.
    sockets: Vec<String>,
}

#[derive(Debug, Clone)]
enum Counted {
    /// These processes and all their descendants. All of these must stay alive.
    Family(Vec<Identity>),
    /// The processes of a cgroup. At least one of the initial members must stay alive.
    Group { folder: PathBuf, accounting: Cgroups, members: Vec<Identity> },
}

impl Server {
    /// Looks for the processes of the server at `address`; `is_here` means an address of this machine.
    ///
    /// # Errors
    /// The named process or cgroup does not exist or does not serve. [`CountedProcesses::Listener`] never fails.
    pub fn find(
        address: impl Into<Endpoint>,
        is_here: bool,
        whose: &CountedProcesses,
    ) -> Result<Server, ServerError> {
        let address = address.into();
        let sockets = if is_here { sockets_of(&address) } else { Vec::new() };
        let counted = match whose {
            CountedProcesses::Listener => by_listener(is_here, &sockets),
            CountedProcesses::Pid(pid) => Ok(by_pid(*pid, &address, &sockets)?),
            CountedProcesses::Cgroup(path) => Ok(by_cgroup(path)?),
            CountedProcesses::CgroupOf(pid) => Ok(by_cgroup_of(*pid)?),
        };
        Ok(Server { address, by_listener: *whose == CountedProcesses::Listener, counted, sockets })
    }

    pub fn address(&self) -> &Endpoint {
        &self.address
    }

    /// Why the processes are unknown; absent if they are known.
    pub fn unseen(&self) -> Option<Unseen> {
        self.counted.as_ref().err().copied()
    }

    /// The processes by which the server was found; for a cgroup, its initial members.
    pub fn processes(&self) -> Vec<Process> {
        self.roots().iter().filter_map(|root| Process::of(root.pid)).collect()
    }

    /// The cgroup in which the server is counted, if it is counted in one.
    pub fn cgroup(&self) -> Option<&Path> {
        match &self.counted {
            Ok(Counted::Group { folder, .. }) => Some(folder),
            _ => None,
        }
    }

    /// The CPUs that the server's threads may use; empty if they cannot be seen.
    pub fn cpus(&self) -> Vec<usize> {
        let groups = placement::groups(self.live());
        let mut cpus: Vec<usize> = groups.into_iter().flat_map(|group| group.cpus).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// A text that differs for another server at the same address, and for a restart of the same program.
    pub fn identity(&self) -> String {
        let process = |root: &Identity| format!("{}:{}", root.pid, root.started_ticks);
        let seen: Vec<String> = match self.roots() {
            [] => self.sockets.clone(),
            roots => roots.iter().map(process).collect(),
        };
        // A server that cannot be seen may be another one in another run, so this process id stands for it.
        if seen.is_empty() { format!("seen by {}", std::process::id()) } else { seen.join(",") }
    }

    fn roots(&self) -> &[Identity] {
        match &self.counted {
            Ok(Counted::Family(roots)) => roots,
            Ok(Counted::Group { members, .. }) => members,
            Err(_) => &[],
        }
    }

    fn live(&self) -> Vec<u32> {
        match &self.counted {
            Ok(Counted::Family(roots)) => {
                let family = Activity::read().family(&pids(roots)).into_iter();
                family.filter(|pid| procfs::is_alive(*pid)).collect()
            }
            Ok(Counted::Group { folder, .. }) => members_below(folder),
            Err(_) => Vec::new(),
        }
    }
}

/// An observed server.
#[derive(Debug)]
pub(super) struct Attached {
    server: Server,
    /// Counts the CPU time of a family, from the first reading on. A cgroup is counted by the kernel.
    meter: Mutex<Option<Meter>>,
}

impl Attached {
    pub(super) fn new(server: Server) -> Attached {
        Attached { server, meter: Mutex::default() }
    }

    pub(super) fn address(&self) -> &Endpoint {
        &self.server.address
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.server.roots().first().map(|root| root.pid)
    }

    pub(super) fn unseen(&self) -> Option<Unseen> {
        self.server.unseen()
    }

    pub(super) fn live(&self) -> Vec<u32> {
        self.server.live()
    }

    /// CPU time of the server's processes and their descendants, or why they cannot be seen.
    pub(super) fn cpu_time(&self) -> io::Result<Result<CpuTime, CpuUnknown>> {
        match &self.server.counted {
            Err(unseen) => Ok(Err((*unseen).into())),
            Ok(Counted::Group { accounting, .. }) => {
                Ok(Ok(CpuTime::whole(accounting.cpu_ns()?.unwrap_or(0))))
            }
            Ok(Counted::Family(roots)) => {
                let mut meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
                let roots = pids(roots);
                Ok(Ok(meter.get_or_insert_with(|| Meter::of(&roots, &self.live())).read(&roots)))
            }
        }
    }

    /// All other processes, if the user did not name those of the service: some of them may work for it.
    pub(super) fn bystanders(&self) -> Option<Bystanders> {
        let activity = Activity::read();
        let service = match self.server.counted.as_ref().ok().filter(|_| self.server.by_listener)? {
            Counted::Family(roots) => activity.family(&pids(roots)),
            Counted::Group { folder, .. } => members_below(folder).into_iter().collect(),
        };
        Some(Bystanders::beside(&service, &activity))
    }

    /// Why this is no longer the server that was found; absent while it is.
    pub(super) fn gone(&self) -> Option<ServerGone> {
        let server = &self.server;
        let lost = match &server.counted {
            Ok(Counted::Family(roots)) => roots.iter().find(|root| !root.is_alive()),
            Ok(Counted::Group { members, .. }) => {
                members.first().filter(|_| !members.iter().any(|member| member.is_alive()))
            }
            Err(_) => {
                let now = || sockets_of(&server.address);
                let is_closed =
                    !server.sockets.is_empty() && !now().iter().any(|socket| server.sockets.contains(socket));
                return is_closed.then_some(ServerGone::Closed);
            }
        }?;
        let known = |pid: &u32| server.roots().iter().any(|root| root.pid == *pid && root.is_alive());
        let other = sockets::holders(&sockets_of(&server.address)).into_iter().find(|pid| !known(pid));
        Some(match other {
            Some(by) => ServerGone::Replaced { pid: lost.pid, by },
            None => ServerGone::Ended { pid: lost.pid },
        })
    }
}

fn pids(processes: &[Identity]) -> Vec<u32> {
    processes.iter().map(|process| process.pid).collect()
}

/// The sockets that a connection to this local address reaches.
fn sockets_of(address: &Endpoint) -> Vec<String> {
    match address {
        Endpoint::Tcp(address) => {
            let is_usual = address.ip() == IpAddr::V4(Ipv4Addr::LOCALHOST);
            port::sockets_on(address.port(), is_usual).unwrap_or_default()
        }
        Endpoint::Unix(path) => unix::sockets_at(path),
    }
}

fn by_listener(is_here: bool, sockets: &[String]) -> Result<Counted, Unseen> {
    if !is_here {
        return Err(Unseen::OtherHost);
    }
    if sockets.is_empty() {
        return Err(Unseen::OtherNetwork);
    }
    let holders: Vec<u32> = sockets::holders(sockets).into_iter().filter(|pid| !is_init(*pid)).collect();
    let descends = |pid: &u32| procfs::stat(*pid).is_some_and(|stat| holders.contains(&stat.parent));
    let roots = holders.iter().filter(|pid| !descends(pid)).filter_map(|pid| Identity::of(*pid));
    let roots: Vec<Identity> = roots.collect();
    match roots.is_empty() {
        true => Err(Unseen::OtherUser),
        false => Ok(group_of_its_own(&roots).unwrap_or(Counted::Family(roots))),
    }
}

/// The cgroup of these processes, if it has no other members. It also counts processes that have ended.
fn group_of_its_own(roots: &[Identity]) -> Option<Counted> {
    let family = Activity::read().family(&pids(roots));
    let folder = counting_folder(roots.first()?.pid)?;
    let members: BTreeSet<u32> = members_below(&folder).into_iter().collect();
    let alive = family.into_iter().filter(|pid| procfs::is_alive(*pid));
    let Counted::Group { folder, accounting, .. } = group(&folder).ok().filter(|_| alive.eq(members))? else {
        return None;
    };
    Some(Counted::Group { folder, accounting, members: roots.to_owned() })
}

/// A process that only opened the socket for a service: its descendants are the whole machine.
fn is_init(pid: u32) -> bool {
    pid == 1 || procfs::stat(pid).is_some_and(|stat| stat.command == "systemd")
}

fn by_pid(pid: u32, address: &Endpoint, sockets: &[String]) -> Result<Counted, ServerError> {
    let root = Identity::of(pid).ok_or(ServerError::NoProcess(pid))?;
    let holders = sockets::holders(sockets);
    let family = Activity::read().family(&[pid]);
    // The listener of a server in another network namespace is invisible here; a proxy listens instead.
    let is_near =
        fs::read_link(format!("/proc/{pid}/ns/net")).ok() == fs::read_link("/proc/self/ns/net").ok();
    let other = holders.first().filter(|_| is_near && !holders.iter().any(|holder| family.contains(holder)));
    match (Process::of(pid), other.and_then(|other| Process::of(*other))) {
        (Some(process), Some(owner)) => {
            Err(ServerError::OtherListener { process, at: address.clone(), owner })
        }
        _ => Ok(Counted::Family(vec![root])),
    }
}

/// The cgroup in `/proc/PID/cgroup`, unless it is the root, which is the whole machine.
fn by_cgroup_of(pid: u32) -> Result<Counted, ServerError> {
    let root = Identity::of(pid).ok_or(ServerError::NoProcess(pid))?;
    let found = counting_folder(pid).and_then(|folder| group(&folder).ok());
    Ok(found.unwrap_or_else(|| Counted::Family(vec![root])))
}

/// The folder of the process's cgroup that counts CPU time. None for the root, which is the whole machine.
fn counting_folder(pid: u32) -> Option<PathBuf> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    [Some("cpuacct"), None].into_iter().find_map(|controller| {
        let path = cgroup::own_path(&groups, controller).filter(|path| *path != "/")?;
        in_mount(path, controller).filter(|folder| accounting(folder).is_some())
    })
}

fn by_cgroup(path: &Path) -> Result<Counted, ServerError> {
    let text = path.to_string_lossy();
    let mounted = [Some("cpuacct"), None].into_iter().filter_map(|controller| in_mount(&text, controller));
    let mut candidates = [path.to_owned()].into_iter().chain(mounted);
    let folder = candidates.find(|folder| accounting(folder).is_some());
    group(&folder.ok_or_else(|| ServerError::NoCgroup(path.to_owned()))?)
}

fn in_mount(path: &str, controller: Option<&str>) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let (mount, root) = cgroup::mount(&mounts, controller)?;
    Some(mount.join(path.strip_prefix(root.as_str()).unwrap_or(path).trim_start_matches('/')))
}

fn accounting(folder: &Path) -> Option<Cgroups> {
    let kinds = [Cgroups::V1(folder.to_owned()), Cgroups::V2(folder.to_owned())];
    kinds.into_iter().find(|kind| kind.cpu_ns().is_ok())
}

fn group(folder: &Path) -> Result<Counted, ServerError> {
    let accounting = accounting(folder).ok_or_else(|| ServerError::NoCgroup(folder.to_owned()))?;
    let members: Vec<Identity> = members_below(folder).into_iter().filter_map(Identity::of).collect();
    match members.is_empty() {
        true => Err(ServerError::EmptyCgroup(folder.to_owned())),
        false => Ok(Counted::Group { folder: folder.to_owned(), accounting, members }),
    }
}

/// The live processes of a cgroup and of the cgroups below it.
fn members_below(folder: &Path) -> Vec<u32> {
    let mut pids = folder::pids(folder);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        pids.extend(members_below(&entry.path()));
    }
    // Processes of another PID namespace are listed as 0.
    pids.retain(|pid| *pid > 0 && procfs::is_alive(*pid));
    pids
}

#[cfg(test)]
mod tests;
