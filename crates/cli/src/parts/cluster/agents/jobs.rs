//! Makes the job of each agent from the command line of one load.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use tare_agent::{
    AgentDescription, Control, Job as AgentJob,
    job::{AnswerRules, ContractPart, JobLoad, ListedRequest, Requests, ServerName, TlsSpec, TrustSpec},
};
use tare_base::document;
use tare_contract::Contract;
use tare_load::{DriverChoice, Split};
use tare_service::workspace::Workspace;

use super::rig::ensure_alone;
use crate::{
    command::{
        load::{Args, Job, protocol::ProtocolArgs},
        target::{
            spoken::{MaxTls, certificates},
            url::{self, Url},
        },
    },
    workspace::Global,
};

/// The jobs of the agents, in their order. A watcher gets a generator's job, of which it needs the server.
pub(super) fn jobs(
    job: &Job,
    global: &Global,
    args: &Args,
    control: &Control,
    marks_ns: &[u64],
) -> anyhow::Result<Vec<AgentJob>> {
    let url = url::parse(&job.url)?;
    let agents: Vec<(&str, &AgentDescription)> = control.agents().collect();
    let of = agents.iter().filter(|(_, about)| about.watch.is_none()).count();
    let name = ServerName { host: url.host.clone(), port: url.port, authority: url.authority.clone() };
    ensure_permitted(args.transport.i_may_load.as_deref(), &name, &agents)?;
    let (total, threads) = (job.plan.connections.total, job.plan.connections.threads);
    ensure!(
        total >= of * threads,
        "-c {total} is less than one connection for each of {of} agents with {threads} threads: give more"
    );
    let common = AgentJob {
        server: name,
        may_load: args.transport.i_may_load.is_some(),
        requests: requests(job, global, args)?,
        rules: AnswerRules::new(job.rules.status, job.rules.body.as_deref()),
        index: 0,
        of,
        connections: 0,
        threads,
        opens_before: job.plan.opened_before() > 0,
        primes: false,
        seed: job.seed,
        protocol: job.spoken.protocol.name().to_owned(),
        streams: job.spoken.streams,
        tls: job.spoken.tls.is_some().then(|| tls(&args.protocol, &url)).transpose()?,
        driver: match args.transport.driver {
            DriverChoice::Auto => "auto".to_owned(),
            DriverChoice::Only(kind) => kind.name().to_owned(),
        },
        load: JobLoad::of(&job.plan.load, args.pace.spin, marks_ns.to_vec()),
        warm_up_ns: job.plan.warm_up.as_ref().map(|load| load.stop.window().as_nanos() as u64),
    };
    let mut next = 0..of;
    Ok(agents
        .iter()
        .map(|(_, about)| {
            let index = if about.watch.is_none() { next.next().unwrap_or(0) } else { 0 };
            let connections = Split { index, of }.share(total);
            AgentJob { index, connections, ..common.clone() }
        })
        .collect())
}

/// A server on another machine needs two permissions: from the user of the controller, and from each agent.
fn ensure_permitted(
    i_may_load: Option<&str>,
    server: &ServerName,
    agents: &[(&str, &AgentDescription)],
) -> anyhow::Result<()> {
    let Some(named) = i_may_load else { return Ok(()) };
    ensure!(
        named.eq_ignore_ascii_case(&server.host),
        "--i-may-load names \"{named}\", but the URL's host is \"{}\": both must be the same",
        server.host
    );
    let address = server.address();
    let may =
        |about: &AgentDescription| about.target.as_ref().is_some_and(|target| server.is_permitted_by(target));
    match agents.iter().find(|(_, about)| about.watch.is_none() && !may(about)) {
        Some((agent, _)) => {
            bail!("the agent at {agent} may not load {address}: start every agent with --target {address}")
        }
        None => Ok(()),
    }
}

fn requests(job: &Job, global: &Global, args: &Args) -> anyhow::Result<Requests> {
    if let Some(name) = &job.contract {
        let text = contract_text(&global.open()?, name)?;
        let only = args.request.only.iter().map(|only| only.parts()).collect();
        return Ok(Requests::Contract(ContractPart { name: name.clone(), text, only, draws: None }));
    }
    let listed: Option<Vec<ListedRequest>> = job.exchanges.iter().map(ListedRequest::of).collect();
    listed.map(Requests::Listed).context("these requests cannot be sent to agents")
}

/// The contract's text for agents; `None` if the contract is built in.
pub(super) fn contract_text(workspace: &Workspace, name: &str) -> anyhow::Result<Option<String>> {
    let file = format!("{name}.toml");
    let candidates = workspace.contract_paths.iter().rev().map(|path| match path.is_dir() {
        true => path.join(&file),
        false => path.clone(),
    });
    let found = candidates
        .into_iter()
        .find(|path| path.is_file() && path.file_stem().is_some_and(|stem| stem.to_string_lossy() == name));
    found.map(|path| text_alone(name, &path)).transpose()
}

/// The text of a contract that needs no other files.
pub(super) fn text_alone(name: &str, path: &Path) -> anyhow::Result<String> {
    let text = document::read(path)?;
    // Check it as an agent reads it: without a folder, and without the variables of this process.
    ensure_alone(name, &text)?;
    let alone = Contract::parse(&text, Path::new(&format!("{name}.toml")))?;
    if let Some(variable) = alone.missing_variable() {
        bail!(
            "the contract \"{name}\" sends the variable {variable} of this machine, and agents have only its text: load it from this \
             machine"
        );
    }
    Ok(text)
}

fn tls(args: &ProtocolArgs, url: &Url) -> anyhow::Result<TlsSpec> {
    let trust = match &args.spoken.cacert {
        _ if args.spoken.insecure => TrustSpec::Anything,
        None => TrustSpec::System,
        Some(path) => {
            let read = certificates("--cacert", path)?;
            TrustSpec::Authorities(read.iter().map(|der| STANDARD.encode(der.as_ref())).collect())
        }
    };
    let is_1_2 = args.spoken.tls_max == Some(MaxTls::Tls12);
    Ok(TlsSpec { trust, server_name: url.host.clone(), resume: args.resume, offers_one: false, is_1_2 })
}
