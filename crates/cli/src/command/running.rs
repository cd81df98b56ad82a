//! Servers that are already running: their URLs, and the processes whose CPU time is read.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use tare_base::{Endpoint, units::several};
use tare_bench::plan::until::Metric;
use tare_host::{
    cpus::{self, Pinning},
    process::{CountedProcesses, Server, Unseen, main_process},
};
use tare_service::{
    catalogue::{Row, Running, is_url},
    workspace::{Workspace, split},
};

use super::target::{
    self,
    socket::SocketOptions,
    spoken::SpokenOptions,
    url::{self, Scheme},
};
use crate::workspace::Global;

const HEADING: &str = "Servers that run already";
/// How long a server may take to accept the first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Whose CPU time and memory are those of a URL.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RunningOptions {
    /// The process of a URL, whose CPU time and memory are counted with those of its children: one for each URL, in their order
    /// [default: the processes that listen on its port or socket]
    #[arg(long, value_name = "PID", help_heading = HEADING)]
    pid: Vec<u32>,
    /// The cgroup of a URL, in place of its process: a folder, or a path as in `/proc/PID/cgroup`
    #[arg(long, value_name = "PATH", help_heading = HEADING, conflicts_with = "pid")]
    cgroup: Vec<PathBuf>,
    /// The container of a URL, in place of its process: a name that docker or podman knows
    #[arg(long, value_name = "NAME", help_heading = HEADING, conflicts_with_all = ["pid", "cgroup"])]
    container: Vec<String>,
    #[command(flatten)]
    spoken: SpokenOptions,
    #[command(flatten)]
    socket: SocketOptions,
    /// Allow loading this host, which is not this machine. It must be yours
    #[arg(long, value_name = "HOST", help_heading = HEADING)]
    i_may_load: Vec<String>,
    /// A host of no URL that may be named there too: that of services which agents ask for.
    #[arg(skip)]
    host_of_services: Option<String>,
}

/// Opens the repository, with the external services that `words` name.
pub(crate) fn open(global: &Global, words: &[String], options: &RunningOptions) -> anyhow::Result<Workspace> {
    let mut workspace = global.open()?;
    let words: Vec<&str> = words.iter().flat_map(|word| split(word)).collect();
    options.take_in(&mut workspace, &words)?;
    workspace.adopt(words)?;
    Ok(workspace)
}

impl RunningOptions {
    /// Sets the host at which agents reach services of this machine.
    pub(crate) fn take_host_of_services(&mut self, host: String) {
        self.host_of_services = Some(host);
    }

    /// Hosts that may be loaded although they are not this machine, or not that of an agent.
    pub(crate) fn may_load(&self) -> &[String] {
        &self.i_may_load
    }

    /// Makes equal URLs distinct if each has a socket of its own: appends a fragment, which is never sent.
    pub(crate) fn tell_apart(&self, services: &mut [String]) {
        if let [baseline, candidate] = services
            && baseline == candidate
            && self.socket.is_of_each()
        {
            baseline.push_str("#baseline");
            candidate.push_str("#candidate");
        }
    }

    /// Adds the servers of all URLs among `words`, as they are now, and prints what they are to stderr.
    pub(crate) fn take_in(&self, workspace: &mut Workspace, words: &[&str]) -> anyhow::Result<()> {
        let mut urls: Vec<&str> = Vec::new();
        for url in words.iter().map(|word| word.trim()).filter(|word| is_url(word)) {
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
        let parsed = urls.iter().map(|url| url::parse(url)).collect::<anyhow::Result<Vec<_>>>()?;
        if let Some(option) = self.spoken.given().filter(|_| urls.is_empty()) {
            bail!(
                "{option} is of servers that run already, and no service is a URL; a service of a manifest is asked in another \
                 protocol by its name, such as `hyper+h2`"
            );
        }
        ensure!(
            !self.socket.is_given() || !urls.is_empty(),
            "--unix is of servers that run already, and no service is a URL; what Tare starts listens on the port in PORT"
        );
        let has_tls = parsed.iter().any(|url| url.scheme == Scheme::Https);
        self.spoken.ensure_of_use(has_tls || urls.is_empty())?;
        for host in &self.i_may_load {
            let named = parsed.iter().map(|url| url.host.as_str()).chain(self.host_of_services.as_deref());
            ensure!(
                named.into_iter().any(|named| named.eq_ignore_ascii_case(host)),
                "--i-may-load names \"{host}\", which is the host of no URL"
            );
        }
        let (sockets, whose) = (self.socket.of(urls.len())?, self.whose(urls.len())?);
        for (((word, url), unix), whose) in urls.iter().zip(parsed).zip(sockets).zip(whose) {
            let channel = self.spoken.channel(&url).with_context(|| (*word).to_owned())?;
            let server = self.find(&url, unix, &whose).with_context(|| (*word).to_owned())?;
            target::ensure_secured(word, server.address(), &channel, CONNECT_TIMEOUT)?;
            tell(word, &server);
            let running = Running { server, host: url.authority, path: url.path, channel };
            workspace.catalogue.add_running(word, running);
        }
        Ok(())
    }

    /// The owners of the CPU time of each URL, in their order.
    fn whose(&self, urls: usize) -> anyhow::Result<Vec<CountedProcesses>> {
        let pids = self.pid.iter().map(|pid| Ok(CountedProcesses::Pid(*pid)));
        let cgroups = self.cgroup.iter().map(|path| Ok(CountedProcesses::Cgroup(path.clone())));
        let containers =
            self.container.iter().map(|name| Ok(CountedProcesses::CgroupOf(main_process(name)?)));
        let given = [self.pid.len(), self.cgroup.len(), self.container.len()].into_iter().max().unwrap_or(0);
        ensure!(
            given == 0 || urls > 0,
            "--pid, --cgroup, --container: they are of servers that run already, and no service is a URL"
        );
        ensure!(
            given == 0 || given == urls,
            "--pid, --cgroup, --container: {given} given for {}: give one for each URL, in their order",
            several(urls, "URL")
        );
        match given {
            0 => Ok(vec![CountedProcesses::Listener; urls]),
            _ => pids.chain(cgroups).chain(containers).collect(),
        }
    }

    fn find(&self, url: &url::Url, unix: Option<&Path>, whose: &CountedProcesses) -> anyhow::Result<Server> {
        let may_load = self.i_may_load.iter().find(|host| host.eq_ignore_ascii_case(&url.host));
        let endpoints = target::endpoints(url, unix, may_load.map(String::as_str))?;
        let address = target::reachable(&endpoints, CONNECT_TIMEOUT)?;
        let is_here = match &address {
            Endpoint::Tcp(address) => target::is_here(address.ip()),
            Endpoint::Unix(_) => true,
        };
        ensure!(
            is_here || *whose == CountedProcesses::Listener,
            "--pid, --cgroup, --container: {} is not this machine, and its processes cannot be seen",
            url.host
        );
        Ok(Server::find(address, is_here, whose)?)
    }
}

fn tell(word: &str, server: &Server) {
    let processes: Vec<String> = server.processes().iter().map(ToString::to_string).collect();
    let found = match (server.unseen(), server.cgroup()) {
        (Some(unseen), _) => format!("no CPU time and no memory, for {unseen}"),
        (None, Some(folder)) => format!("CPU time and memory of the cgroup {}", folder.display()),
        (None, None) => format!("CPU time and memory of {} and its children", processes.join(", ")),
    };
    let over = match server.address() {
        Endpoint::Tcp(_) => String::new(),
        socket @ Endpoint::Unix(_) => format!(" at {socket}"),
    };
    tare_host::message!("{word} runs already{over}: {found}");
}

/// The CPUs of services and generator. Servers that are already running stay where they are.
pub(crate) fn pinning(rows: &[Row], service_threads: usize, generator_threads: usize) -> Pinning {
    let cpus = cpus::available();
    let chosen = Pinning::choose(&cpus, service_threads, generator_threads);
    let servers: Vec<&Server> =
        rows.iter().filter_map(|row| Some(&row.service.running.as_ref()?.server)).collect();
    if servers.is_empty() {
        return chosen;
    }
    let mut own: Vec<usize> = servers.iter().flat_map(|server| server.cpus()).collect();
    own.sort_unstable();
    own.dedup();
    let hidden = |server: &&Server| matches!(server.unseen(), Some(Unseen::OtherNetwork | Unseen::OtherUser));
    if servers.iter().any(hidden) {
        own.clone_from(&cpus);
    }
    match own.is_empty() {
        // The CPUs of another host are not visible, so only those of the generator are monitored.
        true => Pinning { server: chosen.generator.clone(), generator: chosen.generator },
        false => Pinning::beside(&own, &cpus, generator_threads),
    }
}

/// The metrics of a comparison: the requested ones, or the usual ones that can be measured.
pub(crate) fn metrics(rows: &[Row], asked: &[Metric], usual: &[Metric]) -> anyhow::Result<Vec<Metric>> {
    let unseen = rows.iter().find_map(|row| Some((row, row.service.running.as_ref()?.server.unseen()?)));
    let mut metrics = if asked.is_empty() { usual } else { asked }.to_vec();
    metrics.sort();
    metrics.dedup();
    let Some((row, why)) = unseen else { return Ok(metrics) };
    let of_process = |metric: &Metric| matches!(metric, Metric::Cpu | Metric::Rss);
    if let Some(metric) = asked.iter().find(|metric| of_process(metric)) {
        bail!("--metric: {} has no {metric}: {why}; compare by throughput or p99", row.label);
    }
    metrics.retain(|metric| !of_process(metric));
    if asked.is_empty() {
        tare_host::message!("throughput decides alone: there is no CPU time to compare");
    }
    Ok(metrics)
}

/// Declares the contracts that the user names for servers that are already running, which have no manifest.
pub(crate) fn declare<'a>(rows: &mut [Row], contracts: impl IntoIterator<Item = &'a str> + Clone) {
    for row in rows.iter_mut().filter(|row| row.service.running.is_some()) {
        row.service.contracts = contracts.clone().into_iter().map(str::to_owned).collect();
    }
}

/// The one path in the URLs of these rows, other than `/`.
pub(crate) fn path(rows: &[Row]) -> anyhow::Result<Option<&str>> {
    let paths = rows.iter().filter_map(|row| Some(row.service.running.as_ref()?.path.as_str()));
    let mut paths = paths.filter(|path| *path != "/");
    let Some(first) = paths.next() else { return Ok(None) };
    match paths.find(|other| *other != first) {
        Some(other) => bail!("the URLs ask for {first} and for {other}: both must be asked for the same"),
        None => Ok(Some(first)),
    }
}
