//! A load whose generators, and whose service, this command starts on a cluster. It is their controller, and
//! removes them after the load. The crate `cluster` manages the group; `tare load` controls the agents.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::atomic::AtomicBool,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use tare_agent::{AGENTS_MAX, ControlError, Token, job::ServerName, token};
use tare_base::spelling::suggestion;
use tare_base::units::spell_duration;
use tare_cluster::{GroupPlan, GroupPod, GroupService, LoadGroup, MachineClass, Machines, Waits};
use tare_host::signals;
use tare_load::Load;
use tare_service::launch::everywhere;

use super::{
    agents::{LOAD, TOKEN_VARIABLE, agent_token, execute, of_instrument},
    load_args::GroupArgs,
};
use crate::{
    command::{
        load::{self, Job},
        target::url::{self, Url},
    },
    exit::Outcome,
    output::print,
    workspace::Global,
};

/// The program, which an image must have in its PATH.
const PROGRAM: &str = "tare";
/// The URL host that stands for the service.
const SERVICE_HOST: &str = "service";
/// The name of the built-in server in the catalogue.
const RAW_SOCKET: &str = "raw-socket";
/// The port of agents. Pods have a network of their own, so no other program uses it.
const AGENT_PORT: u16 = 7070;
/// The controller's time in addition to start and load.
const REST: Duration = Duration::from_secs(60);
const NAME_BYTES: usize = 4;

/// Load any HTTP server on this machine, and check every answer
#[derive(Debug, clap::Args)]
#[command(
    long_about = load::LONG_ABOUT,
    after_help = load::AFTER_HELP,
    after_long_help = load::AFTER_LONG_HELP
)]
#[group(skip)]
pub(crate) struct Args {
    #[command(flatten)]
    load: load::Args,
    #[command(flatten)]
    group: GroupArgs,
}

pub(crate) fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if args.group.engine.is_some() { start(global, args) } else { load::run(global, args.load, LOAD) }
}

/// The load, if an engine starts the generators.
fn start(global: &Global, mut args: Args) -> anyhow::Result<Outcome> {
    args.load.group.is_given = true;
    // Check the arguments before anything is started.
    let job = Job::new(global, &args.load)?;
    let server = server(&args, &url::parse(&job.url)?)?;
    let plan = plan(&args, &job, server.port)?;
    let mut group = LoadGroup::new(plan);
    if args.load.dry_run {
        print(&group.preview(&generator(&args, &server))?)?;
        return Ok(Outcome::Fine);
    }
    let token = agent_token(args.load.agents.token_file.as_deref())?;
    let interrupt = signals::listen()?;
    let loaded = send(global, &mut args, (&mut group, server), &token, &interrupt);
    let loaded = loaded.map_err(|error| of_instrument(explained(&group, error)));
    let selector = group.selector();
    if let Err(error) = group.remove() {
        let within = spell_duration(ends_within(&args, &job));
        tare_host::message!(
            "warning: pods may be left, which end by themselves within {within}: kubectl delete jobs --selector {selector} ({error})"
        );
    }
    loaded
}

/// Starts the group, and lets its agents send the load.
fn send(
    global: &Global,
    args: &mut Args,
    (group, mut server): (&mut LoadGroup, ServerName),
    token: &Token,
    interrupt: &AtomicBool,
) -> anyhow::Result<Outcome> {
    let tell = |line: &str| tare_host::message!("{line}");
    let waits = Waits { interrupt, tell: &tell };
    let service = group.start_service(waits)?;
    if let Some(pod) = &service {
        // The service was started for this load, so the command grants both permissions.
        server.host = pod.address.to_string();
        args.load.group.service = Some(pod.address);
        args.load.transport.i_may_load = Some(server.host.clone());
    }
    let generators = group.start_generators(&generator(args, &server), waits)?;
    show(service.as_ref(), &generators);
    let all = generators.iter().chain(&service);
    args.load.agents.agents = all.map(|pod| SocketAddr::new(pod.address, AGENT_PORT).to_string()).collect();
    let job = Job::new(global, &args.load)?;
    execute(&job, global, &args.load, token, interrupt)
}

/// Adds the engine's information about the pod to an error of an agent.
fn explained(group: &LoadGroup, error: anyhow::Error) -> anyhow::Error {
    let Some((address, is_unreachable)) = address_of(&error) else { return error };
    match group.end_of(address) {
        Some(line) => tare_host::message!("{line}"),
        None if is_unreachable => {
            return error.context(
                "addresses of pods must be reached from here: run this command on a node or in a pod",
            );
        }
        None => {}
    }
    error
}

/// The address of the agent in an error, and whether the agent was never reached.
fn address_of(error: &anyhow::Error) -> Option<(IpAddr, bool)> {
    let (address, is_unreachable) = match error.downcast_ref()? {
        ControlError::Unreachable { address, .. } => (address, true),
        ControlError::Lost { address, .. } | ControlError::Failed { address, .. } => (address, false),
        _ => return None,
    };
    Some((address.parse::<SocketAddr>().ok()?.ip(), is_unreachable))
}

/// Prints where each pod runs: errors and the table identify agents by address.
fn show(service: Option<&GroupPod>, generators: &[GroupPod]) {
    let mut on: BTreeMap<&str, usize> = BTreeMap::new();
    let kinds = std::iter::repeat_n("generator", generators.len()).chain(["service"]);
    for (pod, kind) in generators.iter().chain(service).zip(kinds) {
        tare_host::message!("{kind} {}:{AGENT_PORT} is {} on {}", pod.address, pod.name, pod.node);
        *on.entry(pod.node.as_str()).or_default() += 1;
    }
    for (node, pods) in on.into_iter().filter(|(_, pods)| *pods > 1) {
        tare_host::message!(
            "warning: {pods} of them are on {node}, and share its caches, memory and network card"
        );
    }
}

/// The server for agents. The address of the group's service is known once it has started.
fn server(args: &Args, url: &Url) -> anyhow::Result<ServerName> {
    let host = &url.host;
    match (&args.group.service, &args.load.transport.i_may_load) {
        (Some(_), _) => ensure!(
            host == SERVICE_HOST,
            "the host of the URL is \"{host}\": with --service it must be \"{SERVICE_HOST}\", such as http://{SERVICE_HOST}:8080/"
        ),
        (None, None) => bail!(
            "{host} is not the generators' machine: load only what is yours; give --service, or --i-may-load {host}"
        ),
        (None, Some(_)) => {}
    }
    Ok(ServerName { host: host.clone(), port: url.port, authority: url.authority.clone() })
}

fn generator(args: &Args, server: &ServerName) -> Vec<String> {
    let target = ["--target".to_owned(), server.address()];
    agent(args).into_iter().chain(target).collect()
}

fn agent(args: &Args) -> Vec<String> {
    let wait = spell_duration(args.group.ready_timeout + REST);
    let words = [PROGRAM, "agent", "--listen", &format!("0.0.0.0:{AGENT_PORT}"), "--wait", &wait];
    words.map(str::to_owned).to_vec()
}

fn plan(args: &Args, job: &Job, port: u16) -> anyhow::Result<GroupPlan> {
    let group = &args.group;
    let machines = Machines::load(group.on.as_deref().context("--on")?)?;
    let class = |name: &str| class(&machines, name);
    let generators: Vec<(MachineClass, usize)> = group
        .generators
        .iter()
        .map(|part| Ok((class(&part.class)?, part.count)))
        .collect::<anyhow::Result<_>>()
        .context("--generators")?;
    let all: usize = generators.iter().map(|(_, count)| count).sum();
    let agents_max = AGENTS_MAX - usize::from(group.service.is_some());
    ensure!(all <= agents_max, "--generators: {all} in all are too many: give at most {agents_max}");
    let (total, threads) = (job.plan.connections.total, job.plan.connections.threads);
    ensure!(
        total >= all * threads,
        "-c {total} is less than one connection for each of {all} generators with {threads} threads: give more"
    );
    let service = group.service.as_deref().map(|command| {
        let name = group.service_class.as_ref().unwrap_or(&group.generators[0].class);
        let class = class(name).context("--service-class")?;
        let command = service_command(args, command, port).context("--service")?;
        anyhow::Ok(GroupService { class, command, variables: variables(port), port })
    });
    Ok(GroupPlan {
        name: format!("load-{}", token::hex(&token::random::<NAME_BYTES>()?)),
        secret: group.secret.clone(),
        token_variable: TOKEN_VARIABLE,
        service: service.transpose()?,
        generators,
        agent_port: AGENT_PORT,
        ready_within: group.ready_timeout,
        ends_within: ends_within(args, job),
    })
}

/// The time limit of the group, from the start of a pod.
fn ends_within(args: &Args, job: &Job) -> Duration {
    let lasts = |load: &Load| load.stop.window() + load.stop.drain;
    let warm_up = job.plan.warm_up.as_ref().map_or(Duration::ZERO, lasts);
    args.group.ready_timeout + warm_up + lasts(&job.plan.load) + 2 * REST
}

fn class(machines: &Machines, name: &str) -> anyhow::Result<MachineClass> {
    let names = || machines.classes.iter().map(|class| class.name.as_str());
    let found = machines.classes.iter().find(|class| class.name == name);
    found.cloned().with_context(|| format!("unknown class \"{name}\"{}", suggestion(name, names())))
}

/// The environment of a catalogue service, which must listen where other pods reach it.
fn variables(port: u16) -> Vec<(String, String)> {
    vec![("PORT".to_owned(), port.to_string()), everywhere()]
}

/// The command of an agent that starts the service and reads its CPU time.
fn service_command(args: &Args, command: &str, port: u16) -> anyhow::Result<Vec<String>> {
    let words =
        shlex::split(command).with_context(|| format!("{command:?} has a quote that is not closed"))?;
    ensure!(!words.is_empty(), "the command is empty");
    let words = match words.as_slice() {
        [name] if name == RAW_SOCKET => {
            let port = port.to_string();
            let own = [PROGRAM, RAW_SOCKET, "--port", &port];
            let contract = args.load.request.contract.iter().flat_map(|name| ["--contract", name]);
            own.into_iter().chain(contract).map(str::to_owned).collect()
        }
        _ => words,
    };
    Ok(agent(args).into_iter().chain(["--".to_owned()]).chain(words).collect())
}
