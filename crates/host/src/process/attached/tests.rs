use std::{
    net::{SocketAddr, TcpListener},
    process::{Child, Command},
};

use super::{
    super::{
        cgroup::Isolation,
        forks::{self, Forks},
        naming,
        port::PortOwner,
        unknown::Unwaited,
    },
    *,
};

/// A process that is killed when the test ends.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Sleeper {
        Sleeper(Command::new("sleep").arg("60").spawn().unwrap())
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.end();
    }
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An address on which nothing listens.
fn silent() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port::free_port()))
}

fn cpu_ns(attached: &Attached) -> Option<u64> {
    attached.cpu_time().unwrap().ok().map(|time| time.ns())
}

#[test]
fn a_server_is_found_by_its_port_with_its_cpu_time() {
    let (_listener, address) = listener();
    let server = Server::find(address, true, &CountedProcesses::Listener).unwrap();
    let pids: Vec<u32> = server.processes().iter().map(|process| process.pid).collect();
    assert_eq!((pids, server.unseen()), (vec![std::process::id()], None));
    assert!(!server.cpus().is_empty());
    let attached = Attached::new(server);
    let before = cpu_ns(&attached).unwrap();
    let mut sum = 0_u64;
    (0..3_000_000_u64).for_each(|i| sum = std::hint::black_box(sum ^ i));
    assert!(cpu_ns(&attached).unwrap() > before);
    assert_eq!(attached.gone(), None);
}

#[test]
fn other_addresses_of_this_machine_are_looked_at_too() {
    for host in ["127.0.0.2:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(host) else { continue };
        let server = Server::find(listener.local_addr().unwrap(), true, &CountedProcesses::Listener).unwrap();
        assert_eq!(server.unseen(), None, "{host}");
    }
}

#[test]
fn what_cannot_be_found_says_why_and_has_no_cpu_time() {
    let of = |is_here, sockets: &[&str]| {
        let sockets: Vec<String> = sockets.iter().map(ToString::to_string).collect();
        by_listener(is_here, &sockets).map(drop)
    };
    assert_eq!(of(false, &[]), Err(Unseen::OtherHost));
    assert_eq!(of(true, &[]), Err(Unseen::OtherNetwork));
    assert_eq!(of(true, &["no inode"]), Err(Unseen::OtherUser));
    let hidden = Attached::new(Server::find(silent(), true, &CountedProcesses::Listener).unwrap());
    assert_eq!((cpu_ns(&hidden), hidden.pid(), hidden.gone()), (None, None, None));
}

#[test]
fn a_hidden_server_is_gone_with_its_socket() {
    let (listener, address) = listener();
    let address = Endpoint::from(address);
    let (sockets, counted) = (sockets_of(&address), Err(Unseen::OtherUser));
    let attached = Attached::new(Server { address, by_listener: true, counted, sockets });
    assert_eq!(attached.gone(), None);
    drop(listener);
    assert_eq!(attached.gone(), Some(ServerGone::Closed));
}

#[test]
fn a_process_that_ends_is_gone_and_its_cpu_time_is_not_lost() {
    let mut sleeper = Sleeper::start();
    let pid = sleeper.0.id();
    let server = Server::find(silent(), true, &CountedProcesses::Pid(pid)).unwrap();
    let attached = Attached::new(server.clone());
    let before = cpu_ns(&attached).unwrap();
    assert_eq!(attached.gone(), None);
    sleeper.end();
    assert_eq!(attached.gone(), Some(ServerGone::Ended { pid }));
    assert!(cpu_ns(&attached).unwrap() >= before);
    let error = Server::find(silent(), true, &CountedProcesses::Pid(pid)).unwrap_err().to_string();
    assert_eq!(error, format!("there is no process {pid}"));
}

#[test]
fn another_process_with_the_same_number_is_another() {
    let own = Identity::of(std::process::id()).unwrap();
    assert!(own.is_alive());
    assert!(!Identity { started_ticks: own.started_ticks + 1, ..own }.is_alive());
}

#[test]
fn who_listens_in_its_place_is_told() {
    let (_listener, address) = listener();
    let mut sleeper = Sleeper::start();
    let pid = sleeper.0.id();
    let counted = Ok(Counted::Family(vec![Identity::of(pid).unwrap()]));
    let attached =
        Attached::new(Server { address: address.into(), by_listener: true, counted, sockets: Vec::new() });
    sleeper.end();
    assert_eq!(attached.gone(), Some(ServerGone::Replaced { pid, by: std::process::id() }));
}

#[test]
fn a_process_that_does_not_listen_is_refused_if_another_does() {
    let (_listener, address) = listener();
    let sleeper = Sleeper::start();
    let error = Server::find(address, true, &CountedProcesses::Pid(sleeper.0.id())).unwrap_err();
    assert!(matches!(error, ServerError::OtherListener { .. }), "{error}");
    // The parent of the listening process is accepted, as its children are counted.
    let parent = std::os::unix::process::parent_id();
    assert!(Server::find(address, true, &CountedProcesses::Pid(parent)).is_ok());
}

/// A folder with the files of a cgroup that contains this process.
fn cgroup_folder(file: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(file), text).unwrap();
    fs::create_dir(folder.path().join("below")).unwrap();
    fs::write(folder.path().join("cgroup.procs"), "0\n").unwrap();
    fs::write(folder.path().join("below/cgroup.procs"), format!("{}\n", std::process::id())).unwrap();
    folder
}

#[test]
fn a_cgroup_of_either_version_counts_all_that_is_in_it() {
    for (file, text) in [("cpuacct.usage", "7000\n"), ("cpu.stat", "usage_usec 7\n")] {
        let folder = cgroup_folder(file, text);
        let whose = CountedProcesses::Cgroup(folder.path().to_owned());
        let server = Server::find(silent(), true, &whose).unwrap();
        assert_eq!(server.cgroup(), Some(folder.path()));
        let attached = Attached::new(server);
        assert_eq!(cpu_ns(&attached), Some(7_000));
        assert_eq!((attached.live(), attached.gone()), (vec![std::process::id()], None));
    }
}

#[test]
fn a_folder_that_is_no_cgroup_or_an_empty_one_is_refused() {
    let folder = cgroup_folder("memory.stat", "");
    let error = |folder: &Path| {
        Server::find(silent(), true, &CountedProcesses::Cgroup(folder.to_owned())).unwrap_err()
    };
    assert!(matches!(error(folder.path()), ServerError::NoCgroup(_)));
    fs::write(folder.path().join("cpu.stat"), "usage_usec 7\n").unwrap();
    fs::write(folder.path().join("below/cgroup.procs"), "").unwrap();
    assert!(matches!(error(folder.path()), ServerError::EmptyCgroup(_)));
}

#[test]
fn why_cpu_time_is_unknown_is_read_from_older_runs_too() {
    let read = |text: &str| serde_json::from_str::<CpuUnknown>(text).unwrap();
    assert_eq!(read("\"other-user\""), CpuUnknown::Unseen(Unseen::OtherUser));
    let process = Some(Process { pid: 7, command: "docker-proxy".to_owned() });
    let older = read("{\"process\":{\"pid\":7,\"command\":\"docker-proxy\"}}");
    assert_eq!(older, CpuUnknown::ServedBy(PortOwner { process }));
    let ended = CpuUnknown::Unwaited(Unwaited::Seen(Process { pid: 8, command: "burn".to_owned() }));
    assert_eq!(read("\"ended-unseen\""), CpuUnknown::Unwaited(Unwaited::Unseen));
    for why in [CpuUnknown::Unseen(Unseen::OtherHost), ended, older] {
        assert_eq!(read(&serde_json::to_string(&why).unwrap()), why);
    }
}

/// A server alone in its cgroup is counted there, which includes processes that have ended.
#[test]
fn a_server_with_a_cgroup_of_its_own_is_counted_in_it() {
    let Isolation { accounting, .. } = Isolation::detect();
    let Some(parent) = accounting.folder() else {
        crate::message!("skipped: no cgroups that count");
        return;
    };
    let folder = parent.join(naming::new_name());
    fs::create_dir(&folder).unwrap();
    let server = Forks::start("orphan");
    let address = SocketAddr::from(([127, 0, 0, 1], server.port()));
    let find = || Server::find(address, true, &CountedProcesses::Listener).unwrap();
    assert_eq!(find().cgroup(), None, "it shares that of the test");
    fs::write(folder.join("cgroup.procs"), server.pid().to_string()).unwrap();
    let found = find();
    assert_eq!(found.cgroup(), Some(folder.as_path()));
    let attached = Attached::new(found);
    let before = attached.cpu_time().unwrap().unwrap();
    let work_ns = server.ask(50);
    let took_ns = attached.cpu_time().unwrap().unwrap().since(&before).unwrap();
    let mut other = Sleeper::start();
    fs::write(folder.join("cgroup.procs"), other.0.id().to_string()).unwrap();
    let shared = find();
    other.end();
    drop(server);
    forks::soon(|| folder::pids(&folder).is_empty());
    folder::remove(&folder).unwrap();
    assert!(took_ns >= work_ns, "{took_ns} of {work_ns}");
    assert_eq!(shared.cgroup(), None, "another process is in it");
}

#[test]
fn those_beside_a_server_are_looked_at_unless_somebody_said_what_it_is() {
    let (_listener, address) = listener();
    let of = |whose| Attached::new(Server::find(address, true, &whose).unwrap()).bystanders().is_some();
    assert!(of(CountedProcesses::Listener));
    assert!(!of(CountedProcesses::Pid(std::process::id())));
    let counted = Err(Unseen::OtherUser);
    let hidden = Server { address: address.into(), by_listener: true, counted, sockets: Vec::new() };
    assert!(Attached::new(hidden).bystanders().is_none(), "it would be among them");
}
