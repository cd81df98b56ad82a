//! The machines of a cluster: one for the control plane, and the nodes. Each is a set of namespaces (network,
//! mounts, processes, host name) around a first process. If that is killed, the kernel ends everything in the
//! machine, including pods, and removes mounts and network interfaces. So nothing has a name outside of the
//! folder, and clusters of several checkouts do not collide.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::{
    processes,
    programs::{self, output},
};

const READY_WITHIN: Duration = Duration::from_secs(10);
/// The machine of the control plane.
pub(super) const HUB: &str = "hub";
pub(super) const HUB_ADDRESS: &str = "10.77.0.1";

/// The script of the first process. Files at fixed paths go into the folder $1 of the machine, and sockets
/// into memory. The kubelet finds its required kernel settings and so changes none: they are shared by the
/// whole computer. The script then reaps orphans, because the shell waits for a child.
const FIRST: &str = r#"set -e
mount --bind "$1/lib" /var/lib
mount --bind "$1/log" /var/log
mount -t tmpfs -o mode=755 tmpfs /run
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    file=/proc/sys/${setting%=*}
    own=$1/${setting%%/*}.${setting##*/}
    echo "${setting#*=}" >"$own"
    mount --bind "$own" "$file"
done
echo "$2" >/proc/sys/kernel/hostname
ip link set lo up
: >"$1/ready"
while :; do sleep 3600; done"#;

/// A script for the control plane: makes a bridge, to which nodes are connected.
const BRIDGE: &str = r#"set -e
ip link add br0 type bridge
ip addr add "$1/24" dev br0
ip link set br0 up"#;
/// A script for the same: connects a cable named $1 to the machine of the process $2.
const CABLE: &str = r#"set -e
ip link add "$1" type veth peer name eth0 netns "$2"
ip link set "$1" master br0 up"#;
/// A script for a node: sets its address $1, and the route to the others by $2.
const CONNECT: &str = r#"set -e
ip addr add "$1/24" dev eth0
ip link set eth0 up
ip route add default via "$2""#;
/// A script for each machine: sets the route to the pods $1 of a node by its address $2.
const ROUTE: &str = r#"ip route add "$1" via "$2""#;

/// Programs for the first processes, with their Debian packages.
pub(super) const PROGRAMS: [(&str, &str); 4] =
    [("ip", "iproute2"), ("nsenter", "util-linux"), ("unshare", "util-linux"), ("mount", "mount")];

/// The name of a node, counted from 1.
pub(super) fn node(number: usize) -> String {
    format!("n{number}")
}

pub(super) fn address(number: usize) -> String {
    format!("10.77.0.{}", 10 + number)
}

/// The pod network of a node.
pub(super) fn pods(number: usize) -> String {
    format!("10.99.{number}.0/24")
}

/// Starts a machine, and waits until its namespaces can be entered.
pub(super) fn start(folder: &Path, name: &str) -> Result<()> {
    let own = folder.join(name);
    for part in ["lib", "log"] {
        fs::create_dir_all(own.join(part))?;
    }
    let own = own.display().to_string();
    let words =
        ["--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"];
    let first = ["--", "/bin/sh", "-c", FIRST, "sh", &own, name];
    let words: Vec<String> = words.iter().chain(&first).map(|word| (*word).to_owned()).collect();
    processes::start(folder, name, &programs::path("unshare")?, &words)?;
    let began = Instant::now();
    while !folder.join(name).join("ready").exists() {
        let is_late = began.elapsed() > READY_WITHIN || processes::pid(folder, name).is_none();
        ensure!(!is_late, "the namespaces of {name} cannot be made: see {}/log/{name}.out", folder.display());
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Connects all machines of a cluster with this number of nodes.
pub(super) fn connect(folder: &Path, nodes: usize) -> Result<()> {
    let script = |machine: &str, script: &str, words: &[&str]| {
        let pid = first(folder, machine)?.to_string();
        let enter = ["--target", &pid, "--net", "--", "/bin/sh", "-c", script, "sh"];
        output(Command::new(programs::path("nsenter")?).args(enter).args(words))
    };
    script(HUB, BRIDGE, &[HUB_ADDRESS])?;
    for number in 1..=nodes {
        let name = node(number);
        script(HUB, CABLE, &[&name, &first(folder, &name)?.to_string()])?;
        script(&name, CONNECT, &[&address(number), HUB_ADDRESS])?;
    }
    for number in 1..=nodes {
        let others = (1..=nodes).filter(|other| *other != number).map(node);
        for name in others.chain([HUB.to_owned()]) {
            script(&name, ROUTE, &[&pods(number), &address(number)])?;
        }
    }
    Ok(())
}

/// Cuts or repairs the cable of a node.
pub(super) fn set_cable(folder: &Path, name: &str, is_whole: bool) -> Result<()> {
    let pid = first(folder, HUB)?.to_string();
    let state = if is_whole { "up" } else { "down" };
    let words = ["--target", &pid, "--net", "--", "ip", "link", "set", name, state];
    output(Command::new(programs::path("nsenter")?).args(words)).map(drop)
}

/// The PID of the first process of a machine, outside of its namespace.
fn first(folder: &Path, name: &str) -> Result<u32> {
    let outer = processes::pid(folder, name).with_context(|| format!("{name} does not run"))?;
    processes::child_of(outer).with_context(|| format!("{name} has no first process"))
}

/// The arguments with which `nsenter` starts a program in a machine.
fn enter(folder: &Path, name: &str, program: &str, words: &[String]) -> Result<Vec<String>> {
    let pid = first(folder, name)?.to_string();
    let enter = ["--target", &pid, "--net", "--mount", "--uts", "--ipc", "--pid", "--", program];
    Ok(enter.into_iter().map(str::to_owned).chain(words.iter().cloned()).collect())
}

/// Starts a daemon in a machine, once a killed one has ended: it holds its port until then.
pub(super) fn start_daemon(
    folder: &Path,
    (machine, daemon): (&str, &str),
    program: &str,
    words: &[String],
) -> Result<()> {
    let began = Instant::now();
    while processes::pid(folder, daemon).is_some() {
        ensure!(began.elapsed() < READY_WITHIN, "{daemon} runs already");
        thread::sleep(Duration::from_millis(5));
    }
    let words = enter(folder, machine, program, words)?;
    processes::start(folder, daemon, &programs::path("nsenter")?, &words)
}

/// The command prefix that runs a program in the network of a machine only.
pub(super) fn in_network(folder: &Path, machine: &str) -> Result<Vec<String>> {
    let pid = first(folder, machine)?.to_string();
    Ok([&programs::path("nsenter")?, "--target", &pid, "--net", "--"].map(str::to_owned).to_vec())
}

/// Starts a daemon in the network of a machine only.
pub(super) fn start_in_network(
    folder: &Path,
    (machine, daemon): (&str, &str),
    program: &str,
    words: &[&str],
    stdin: Stdio,
) -> Result<()> {
    let pid = first(folder, machine)?.to_string();
    let enter = ["--target", &pid, "--net", "--", program];
    let words: Vec<String> = enter.iter().chain(words).map(|word| (*word).to_owned()).collect();
    processes::start_with(folder, daemon, &programs::path("nsenter")?, &words, stdin)
}

pub(super) fn run(folder: &Path, machine: &str, program: &str, words: &[String]) -> Result<String> {
    let words = enter(folder, machine, program, words)?;
    // Without the mark, its children would survive if this process is killed.
    output(Command::new(programs::path("nsenter")?).args(words).env(processes::MARK, folder))
}

/// The daemon in a machine, which `nsenter` started.
pub(super) fn daemon(folder: &Path, name: &str) -> Option<u32> {
    processes::child_of(processes::pid(folder, name)?)
}
