//! A complete Kubernetes cluster: etcd and the control plane in one set of namespaces, and nodes with
//! containerd and a kubelet in one each. All nodes share the CPUs of this machine, so jobs on two nodes
//! disturb each other, and their measurements are not reliable.
//!
//! It needs root. Only a listener on 127.0.0.1 is outside of the namespaces, through which `tare` and
//! `kubectl` reach the API.

mod build;
mod cgroups;
mod files;
mod image;
mod machine;

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;

use crate::{
    guarded::{Ends, Guarded},
    processes,
    programs::{self, output},
    slurm::NODES_MAX,
};
pub use build::Programs;
use files::{hub, kubeconfig};
pub use image::pack_image;
use machine::{HUB, HUB_ADDRESS, node};

const READY_WITHIN: Duration = Duration::from_secs(120);
/// The time limit for the socket of a node's runtime.
const RUNTIME_WITHIN: Duration = Duration::from_secs(30);
/// Programs with their Debian packages.
const PROGRAMS: [(&str, &str); 5] = [
    ("etcd", "etcd-server"),
    ("containerd", "containerd"),
    ("ctr", "containerd"),
    ("runc", "runc"),
    ("iptables", "iptables"),
];
/// The used network plugins, at Debian's paths.
const PLUGINS: [&str; 3] = ["/usr/lib/cni/bridge", "/usr/lib/cni/host-local", "/usr/lib/cni/loopback"];
/// Nodes cover these folders by their own.
const COVERED: [&str; 3] = ["/run", "/var/lib", "/var/log"];
const CONTROLLERS: &str = "--controllers=job-controller,node-lifecycle-controller,taint-eviction-controller,\
    pod-garbage-collector-controller,serviceaccount-controller,namespace-controller,garbage-collector-controller,\
    ttl-after-finished-controller";

/// A cluster, which outlives this value.
#[derive(Debug, Clone)]
pub struct KubernetesCluster {
    folder: PathBuf,
    programs: Programs,
}

impl KubernetesCluster {
    /// Missing requirements of a cluster, except the Kubernetes programs, which can be built.
    pub fn missing() -> Vec<String> {
        let mut packages = programs::missing(&[&PROGRAMS[..], &machine::PROGRAMS[..]].concat());
        if PLUGINS.iter().any(|path| !Path::new(path).is_file()) {
            packages.push("containernetworking-plugins");
        }
        let mut missing = Vec::new();
        if !rustix::process::geteuid().is_root() {
            missing.push("it needs root, for namespaces and cgroups".to_owned());
        }
        if !packages.is_empty() {
            missing.push(format!("programs are not installed: apt-get install {}", packages.join(" ")));
        }
        if thread::available_parallelism().map_or(1, usize::from) < 2 {
            missing
                .push("it needs two CPUs: one is given to a pod, one is left for everything else".to_owned());
        }
        missing
    }

    /// Starts a cluster in a new folder, and waits until each node accepts pods.
    ///
    /// # Errors
    /// A requirement is missing, the folder exists, or a daemon does not start.
    pub fn up(folder: &Path, nodes: usize, programs: &Programs) -> Result<KubernetesCluster> {
        let missing = KubernetesCluster::missing();
        ensure!(missing.is_empty(), "Kubernetes cannot be started here: {}", missing.join("; "));
        ensure!(programs.are_built(), "there is no build in {}", programs.folder().display());
        ensure!((1..=NODES_MAX).contains(&nodes), "{nodes} nodes: give 1 to {NODES_MAX}");
        ensure!(!folder.exists(), "{}: there is a cluster already; end it first", folder.display());
        fs::create_dir_all(folder)?;
        let cluster = KubernetesCluster { folder: folder.canonicalize()?, programs: programs.clone() };
        let started = cluster.start(nodes);
        if started.is_err() {
            let _the_first_error_counts = cluster.down();
        }
        started.map(|()| cluster)
    }

    /// The same; it ends with the value or with this process.
    ///
    /// # Errors
    /// The errors of [`KubernetesCluster::up`].
    pub fn up_guarded(
        folder: &Path,
        nodes: usize,
        programs: &Programs,
    ) -> Result<Guarded<KubernetesCluster>> {
        Guarded::up(folder, cgroups::prefix, |place| KubernetesCluster::up(place, nodes, programs))
    }

    /// The cluster in this folder.
    ///
    /// # Errors
    /// There is none.
    pub fn open(folder: &Path) -> Result<KubernetesCluster> {
        let none = || format!("{}: there is no cluster", folder.display());
        let folder = folder.canonicalize().with_context(none)?;
        let cluster = KubernetesCluster { folder, programs: Programs::cached()? };
        ensure!(cluster.kubeconfig().is_file() || cluster.folder.join(HUB).is_dir(), none());
        Ok(cluster)
    }

    fn start(&self, nodes: usize) -> Result<()> {
        let folder = &self.folder;
        let covers = |covered: &&&str| folder.starts_with(covered);
        if let Some(covered) = COVERED.iter().find(covers) {
            anyhow::bail!("{}: nodes have a {covered} of their own: choose another folder", folder.display());
        }
        for name in ["log", "run", "images", HUB] {
            fs::create_dir_all(folder.join(name))?;
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        output(Command::new(self.programs.kubernetes()).args(["make-keys", &hub(folder, ""), HUB_ADDRESS]))?;
        files::write_credentials(folder, nodes, listener.local_addr()?.port())?;
        let names: Vec<String> = (1..=nodes).map(node).collect();
        for number in 1..=nodes {
            let cgroup = cgroups::prefix(folder) + &node(number);
            cgroups::make(&cgroup)?;
            files::write_node(folder, number, &cgroup)?;
        }
        machine::start(folder, HUB)?;
        names.iter().try_for_each(|name| machine::start(folder, name))?;
        machine::connect(folder, nodes)?;
        self.start_forwarder(listener)?;
        self.start_store()?;
        self.start_api_server()?;
        (1..=nodes).try_for_each(|number| self.start_runtime(number))?;
        self.load_pause(&names)?;
        self.wait(0)?;
        self.start_controllers()?;
        self.start_scheduler()?;
        (1..=nodes).try_for_each(|number| self.start_node(number))?;
        self.wait(nodes)
    }

    /// The listener is on this machine but its target is not: a socket stays in the network of its creation.
    fn start_forwarder(&self, listener: TcpListener) -> Result<()> {
        let program = self.programs.kubernetes().display().to_string();
        let target = format!("{HUB_ADDRESS}:6443");
        let words = ["forward", target.as_str()];
        machine::start_in_network(
            &self.folder,
            (HUB, "forwarder"),
            &program,
            &words,
            OwnedFd::from(listener).into(),
        )
    }

    fn start_control(&self, program: &str, words: &[&str]) -> Result<()> {
        let words: Vec<String> = [program].iter().chain(words).map(|word| (*word).to_owned()).collect();
        let kubernetes = self.programs.kubernetes().display().to_string();
        machine::start_daemon(&self.folder, (HUB, program), &kubernetes, &words)
    }

    /// Starts etcd, also after it was killed.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_store(&self) -> Result<()> {
        let words = [
            "--data-dir".to_owned(),
            hub(&self.folder, "etcd"),
            // The data need not survive this machine.
            "--unsafe-no-fsync".to_owned(),
            "--listen-client-urls=http://127.0.0.1:2379".to_owned(),
            "--advertise-client-urls=http://127.0.0.1:2379".to_owned(),
            "--listen-peer-urls=http://127.0.0.1:2380".to_owned(),
        ];
        machine::start_daemon(&self.folder, (HUB, "etcd"), &programs::path("etcd")?, &words)
    }

    /// Starts the API server, also after it was killed.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_api_server(&self) -> Result<()> {
        let file = |option: &str, name: &str| format!("--{option}={}", hub(&self.folder, name));
        let files = [
            file("tls-cert-file", "server.crt"),
            file("tls-private-key-file", "server.key"),
            file("service-account-key-file", "accounts.key"),
            file("service-account-signing-key-file", "accounts.key"),
            file("token-auth-file", "tokens.csv"),
            format!("--bind-address={HUB_ADDRESS}"),
            format!("--advertise-address={HUB_ADDRESS}"),
        ];
        let words = [
            "--etcd-servers=http://127.0.0.1:2379",
            "--secure-port=6443",
            "--service-cluster-ip-range=10.88.0.0/24",
            "--service-account-issuer=https://tare.invalid",
            "--authorization-mode=Node,RBAC",
            "--anonymous-auth=false",
            "--kubelet-preferred-address-types=InternalIP",
            "--enable-admission-plugins=NodeRestriction",
            "--profiling=false",
        ];
        let words: Vec<&str> = words.into_iter().chain(files.iter().map(String::as_str)).collect();
        self.start_control("kube-apiserver", &words)
    }

    fn start_controllers(&self) -> Result<()> {
        let credentials = format!("--kubeconfig={}", kubeconfig(&self.folder, "control").display());
        let key = format!("--service-account-private-key-file={}", hub(&self.folder, "accounts.key"));
        let certificates = format!("--cert-dir={}", hub(&self.folder, "controllers"));
        let times = ["--node-monitor-grace-period=16s", "--node-monitor-period=2s"];
        let words =
            [&credentials, &key, &certificates, "--leader-elect=false", CONTROLLERS, times[0], times[1]];
        self.start_control("kube-controller-manager", &words)
    }

    fn start_scheduler(&self) -> Result<()> {
        let credentials = format!("--kubeconfig={}", kubeconfig(&self.folder, "control").display());
        let certificates = format!("--cert-dir={}", hub(&self.folder, "scheduler"));
        self.start_control("kube-scheduler", &[&credentials, &certificates, "--leader-elect=false"])
    }

    /// Starts the container runtime of a node, also after it was killed.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_runtime(&self, number: usize) -> Result<()> {
        let name = node(number);
        let config = self.folder.join(&name).join("containerd.toml").display().to_string();
        let words = ["--config".to_owned(), config];
        let daemon = format!("containerd-{name}");
        machine::start_daemon(&self.folder, (&name, &daemon), &programs::path("containerd")?, &words)
    }

    /// Starts the kubelet of a node, also after it was killed.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_node(&self, number: usize) -> Result<()> {
        let name = node(number);
        let words = [
            "kubelet".to_owned(),
            format!("--kubeconfig={}", kubeconfig(&self.folder, &name).display()),
            format!("--config={}", self.folder.join(&name).join("kubelet.yaml").display()),
            format!("--hostname-override={name}"),
            format!("--node-ip={}", machine::address(number)),
        ];
        let program = self.programs.kubernetes().display().to_string();
        machine::start_daemon(&self.folder, (&name, &format!("kubelet-{name}")), &program, &words)
    }

    fn load_pause(&self, names: &[String]) -> Result<()> {
        let root = self.folder.join("images/pause");
        fs::create_dir_all(&root)?;
        fs::copy(self.programs.pause(), root.join("pause"))?;
        let archive = self.folder.join("images/pause.tar");
        pack_image(&root, files::PAUSE, &["/pause"], &archive)?;
        names.iter().try_for_each(|name| self.load(name, &archive))
    }

    /// Loads an image from [`pack_image`] into each node.
    ///
    /// # Errors
    /// A runtime refuses it.
    pub fn load_image(&self, archive: &Path) -> Result<()> {
        let names = processes::names(&self.folder);
        let nodes = names.iter().filter_map(|name| name.strip_prefix("containerd-"));
        nodes.into_iter().try_for_each(|name| self.load(name, archive))
    }

    fn load(&self, name: &str, archive: &Path) -> Result<()> {
        let words = ["--namespace", "k8s.io", "images", "import"].map(str::to_owned);
        let words = [&words[..], &[archive.display().to_string()]].concat();
        let began = Instant::now();
        // The runtime may still be starting.
        loop {
            match machine::run(&self.folder, name, &programs::path("ctr")?, &words) {
                Err(error) if began.elapsed() > RUNTIME_WITHIN => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(100)),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Waits until the API answers, and this number of nodes accept pods.
    ///
    /// # Errors
    /// That takes longer than two minutes.
    pub fn wait(&self, nodes: usize) -> Result<()> {
        let words = [nodes.to_string(), READY_WITHIN.as_secs().to_string()];
        let waited = output(
            Command::new(self.programs.kubernetes())
                .arg("wait")
                .arg(self.kubeconfig())
                .args(words)
                .env("NO_PROXY", "*"),
        );
        waited
            .map(drop)
            .with_context(|| format!("the cluster is not ready: see {}/log", self.folder.display()))
    }

    /// The value of KUBECONFIG for `tare` and `kubectl`.
    pub fn kubeconfig(&self) -> PathBuf {
        kubeconfig(&self.folder, "admin")
    }

    /// The same for the user `alice`, who has only granted rights.
    pub fn guest_kubeconfig(&self) -> PathBuf {
        kubeconfig(&self.folder, files::GUEST)
    }

    /// The credentials of that user for a program started by [`KubernetesCluster::within_network`].
    pub fn inner_guest_kubeconfig(&self) -> PathBuf {
        kubeconfig(&self.folder, files::INNER_GUEST)
    }

    /// Like [`KubernetesCluster::kubeconfig`], for a program started by
    /// [`KubernetesCluster::within_network`].
    pub fn inner_kubeconfig(&self) -> PathBuf {
        kubeconfig(&self.folder, "control")
    }

    /// The command prefix that runs a program in the network of nodes and pods. Its address there is
    /// [`KubernetesCluster::ADDRESS`].
    ///
    /// # Errors
    /// The cluster does not run.
    pub fn within_network(&self) -> Result<Vec<String>> {
        machine::in_network(&self.folder, HUB)
    }

    /// The address at which pods reach programs started by [`KubernetesCluster::within_network`].
    pub const ADDRESS: &str = HUB_ADDRESS;

    /// Creates a Secret in the namespace `default`, with the content of a file under a key.
    ///
    /// # Errors
    /// The API refuses it.
    pub fn make_secret(&self, name: &str, key: &str, file: &Path) -> Result<()> {
        let mut secret = Command::new(self.programs.kubernetes());
        secret.arg("secret").arg(self.kubeconfig()).args([name, key]).arg(file).env("NO_PROXY", "*");
        output(&mut secret).map(drop)
    }

    /// Creates the Roles of a file in the namespace `default`, with their bindings.
    ///
    /// # Errors
    /// The API refuses them.
    pub fn grant(&self, roles: &Path) -> Result<()> {
        let mut grant = Command::new(self.programs.kubernetes());
        grant.arg("grant").arg(self.kubeconfig()).arg(roles).env("NO_PROXY", "*");
        output(&mut grant).map(drop)
    }

    /// Sends a signal to a daemon: `kube-apiserver`, `kube-scheduler`, `kube-controller-manager`, `etcd`, or
    /// `kubelet-n1` or `containerd-n1` of a node.
    ///
    /// # Errors
    /// It does not run.
    pub fn signal(&self, name: &str, signal: Signal) -> Result<()> {
        let pid = machine::daemon(&self.folder, name).with_context(|| format!("{name} does not run"))?;
        processes::send(pid, signal);
        Ok(())
    }

    /// Disconnects a node from the others, or connects it again.
    ///
    /// # Errors
    /// There is no such node.
    pub fn set_connected(&self, number: usize, is_connected: bool) -> Result<()> {
        machine::set_cable(&self.folder, &node(number), is_connected)
    }

    /// One line per daemon, node, Job and pod.
    pub fn status(&self) -> String {
        let line = |name: &String| match processes::pid(&self.folder, name) {
            Some(outer) => {
                format!("{name} runs as process {}\n", processes::child_of(outer).unwrap_or(outer))
            }
            None => format!("{name} does not run\n"),
        };
        let daemons: String = processes::names(&self.folder).iter().map(line).collect();
        let mut list = Command::new(self.programs.kubernetes());
        let said = output(list.arg("list").arg(self.kubeconfig()).env("NO_PROXY", "*"));
        daemons + &said.unwrap_or_else(|error| format!("the API does not answer: {error:#}\n"))
    }

    /// Ends it with all of its pods, and removes its folder and cgroups.
    ///
    /// # Errors
    /// A process does not end, or something cannot be removed.
    pub fn down(&self) -> Result<()> {
        processes::end_all(&self.folder)?;
        cgroups::remove(&cgroups::prefix(&self.folder))?;
        programs::remove(&self.folder)
    }
}

impl Ends for KubernetesCluster {
    fn end(&self) -> Result<()> {
        self.down()
    }
}

#[cfg(test)]
mod tests;
