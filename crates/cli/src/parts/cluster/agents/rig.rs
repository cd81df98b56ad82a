//! Runs a job on the machine of an agent: finds the server, checks that it may be loaded, and makes requests
//! and connections.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::{Context, bail, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use rustls::pki_types::CertificateDer;
use tare_agent::{
    CpuMeter, Job, LearnedByAgent, Prepared, ReadyJob, Rig,
    job::{ContractPart, Draws, Requests, Right, TlsSpec, TrustSpec},
};
use tare_base::{Endpoint, Route};
use tare_contract::Contract;
use tare_host::{
    cpus,
    process::{CountedProcesses, Notices, RunningService, Server as FoundServer},
};
use tare_load::{
    Exchange, ExchangePool, GeneratorSettings, Protocol, TlsClient, TlsOffer, TlsOptions, TlsTrust,
    TlsVersion,
};
use tare_service::client::{Channel, Trusts};

use crate::command::{
    load::{
        descriptors,
        expect::{self, Learned, Rules, Server},
        plan::SPIN,
        request::{self, Drawn, Only},
    },
    target::{
        self,
        url::{Scheme, Url},
    },
};

/// The jobs and permissions of an agent on this machine.
#[derive(Debug)]
pub(in crate::parts::cluster) struct AgentRig {
    /// Another machine that may be loaded, as HOST:PORT, or as HOST for all of its ports.
    target: Option<String>,
    watch: Option<u32>,
    cpus: Vec<usize>,
}

/// The server of a job, located.
struct Located {
    endpoint: Endpoint,
    prepared: Prepared,
}

impl Located {
    fn of(job: &Job, endpoints: &[Endpoint], is_here: bool) -> anyhow::Result<Located> {
        let endpoint = target::reachable(endpoints, Duration::from_nanos(job.load.connect_timeout_ns))?;
        let is_loopback =
            matches!(&endpoint, Endpoint::Tcp(address) if address.ip().to_canonical().is_loopback());
        let prepared = Prepared { endpoint: endpoint.to_string(), is_here, is_loopback, primed: None };
        Ok(Located { endpoint, prepared })
    }
}

impl AgentRig {
    pub(in crate::parts::cluster) fn new(
        target: Option<String>,
        watch: Option<u32>,
        cpus: Vec<usize>,
    ) -> AgentRig {
        AgentRig { target, watch, cpus }
    }

    /// The server, if it may be loaded.
    fn find(&self, job: &Job) -> anyhow::Result<Located> {
        let (endpoints, is_here) = resolve(job)?;
        let address = job.server.address();
        if !is_here {
            let is_permitted =
                self.target.as_deref().is_some_and(|target| job.server.is_permitted_by(target));
            ensure!(
                is_permitted,
                "{address} is not the agent's machine: load only what is yours; if you may, start the agent with --target {address}"
            );
            ensure!(
                job.may_load,
                "{address} is not the agent's machine: load only what is yours; if you may, use --i-may-load {}",
                job.server.host
            );
        }
        Located::of(job, &endpoints, is_here)
    }

    fn lesson(&self, job: &Job) -> anyhow::Result<LearnedByAgent> {
        let Located { endpoint, .. } = self.find(job)?;
        let protocol = job.protocol()?;
        let trusts = tls(job, protocol)?.map_or(Trusts::Nothing, Trusts::Own);
        let channel = Channel { protocol, trusts };
        let patience = Duration::from_nanos(job.load.response_timeout_ns);
        let mut server = Server::new(&endpoint, &channel, patience);
        let rules = Rules { no_check: !job.load.check, status: job.rules.status, body: job.rules.body()? };
        let mut exchanges = exchanges(job)?;
        let Learned { check, warnings } = match &job.requests {
            Requests::Contract(part) if !rules.no_check => {
                expect::confirm(&mut server, &part.name, &exchanges)?
            }
            _ => expect::learn(&mut server, &mut exchanges, &rules)?,
        };
        let right = match &job.requests {
            Requests::Contract(_) => Vec::new(),
            Requests::Listed(_) => {
                exchanges.iter().filter_map(|exchange| Right::of(&exchange.expected)).collect()
            }
        };
        Ok(LearnedByAgent { right, check, warnings })
    }

    fn ready(&self, job: &Job) -> anyhow::Result<ReadyJob> {
        let Located { endpoint, prepared } = self.find(job)?;
        descriptors::ensure_for(job.connections)?;
        let protocol = job.protocol()?;
        let settings = GeneratorSettings {
            cpus: self.cpus.clone(),
            driver: job.driver()?,
            protocol,
            streams: job.streams,
            tls: tls(job, protocol)?,
            split: job.split()?,
            ..GeneratorSettings::new(Route::from(endpoint), job.connections(), job.seed)
        };
        let waiting = job.waiting(cpus::available().len(), SPIN);
        Ok(ReadyJob { settings, pool: Arc::new(ExchangePool::new(exchanges(job)?)), waiting, prepared })
    }

    fn meter(&self, job: &Job) -> anyhow::Result<(Box<dyn CpuMeter>, Prepared)> {
        let pid = self.watch.context("the agent was started without --watch")?;
        let (endpoints, is_here) = resolve(job)?;
        ensure!(is_here, "--watch {pid}: the server {} is not on the agent's machine", job.server.address());
        let Located { endpoint, prepared } = Located::of(job, &endpoints, is_here)?;
        let Endpoint::Tcp(address) = endpoint else { bail!("only a TCP port can be watched") };
        let server = FoundServer::find(address, true, &CountedProcesses::Pid(pid)).context("--watch")?;
        let watched = Watched(RunningService::attach(&server, &Notices::default()));
        watched.cpu_ns().with_context(|| format!("--watch {pid}"))?;
        Ok((Box::new(watched), prepared))
    }
}

/// The whole error in one line, because the user sees it on another machine.
fn sentence(error: &anyhow::Error) -> String {
    format!("{error:#}")
}

impl Rig for AgentRig {
    fn learn(&self, job: &Job) -> Result<LearnedByAgent, String> {
        self.lesson(job).map_err(|error| sentence(&error))
    }

    fn prepare(&self, job: &Job) -> Result<ReadyJob, String> {
        self.ready(job).map_err(|error| sentence(&error))
    }

    fn watch(&self, job: &Job) -> Result<(Box<dyn CpuMeter>, Prepared), String> {
        self.meter(job).map_err(|error| sentence(&error))
    }
}

/// The watched process and all of its descendants.
struct Watched(RunningService);

impl CpuMeter for Watched {
    fn cpu_ns(&self) -> std::io::Result<u64> {
        if let Some(end) = self.0.has_exited() {
            return Err(std::io::Error::other(format!("{end:?}")));
        }
        self.0.cpu_ns()?.ok_or_else(|| std::io::Error::other("it cannot be seen"))
    }
}

/// Every address that the server may have, and whether all of them belong to this machine.
fn resolve(job: &Job) -> anyhow::Result<(Vec<Endpoint>, bool)> {
    let url = url(job);
    // The caller decides whether the server may be loaded.
    let endpoints = target::endpoints(&url, None, Some(&url.host))?;
    let is_here = endpoints.iter().all(|endpoint| match endpoint {
        Endpoint::Tcp(address) => target::is_here(address.ip()),
        Endpoint::Unix(_) => true,
    });
    Ok((endpoints, is_here))
}

fn url(job: &Job) -> Url {
    let scheme = if job.tls.is_some() { Scheme::Https } else { Scheme::Http };
    let server = &job.server;
    let (host, authority) = (server.host.clone(), server.authority.clone());
    Url { scheme, host, port: server.port, authority, path: "/".to_owned() }
}

fn exchanges(job: &Job) -> anyhow::Result<Vec<Exchange>> {
    match &job.requests {
        Requests::Listed(listed) => Ok(listed.iter().map(|one| one.exchange()).collect::<Result<_, _>>()?),
        Requests::Contract(part) => of_contract(part, job),
    }
}

/// A contract whose tables are files would read the files of this machine.
pub(super) fn ensure_alone(name: &str, text: &str) -> anyhow::Result<()> {
    let contract: toml::Table = text.parse().with_context(|| format!("the contract \"{name}\""))?;
    let tables = contract.get("data").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::iter);
    let file = tables.into_iter().find_map(|(_, table)| table.get("file"));
    match file {
        Some(file) => bail!(
            "the contract \"{name}\" needs the file {file}, and agents have only its text: load it from this machine, or make the \
             table by `rows`"
        ),
        None => Ok(()),
    }
}

fn of_contract(part: &ContractPart, job: &Job) -> anyhow::Result<Vec<Exchange>> {
    let name = &part.name;
    let contract = match &part.text {
        Some(text) => {
            ensure_alone(name, text)?;
            Contract::parse(text, Path::new(&format!("{name}.toml")))?
        }
        None => Contract::built_in().remove(name).with_context(|| format!("no contract \"{name}\""))?,
    };
    let only: Vec<Only> = part.only.iter().map(|(name, weight)| Only::new(name.clone(), *weight)).collect();
    let contract = request::narrowed(&contract, &only)?;
    Ok(match part.draws {
        Some(Draws { rows_seed, exchanges, exchanges_of_rows }) => {
            let drawn = Drawn { rows_seed, exchanges, exchanges_of_rows };
            request::drawn(&contract, &drawn, job.seed, &url(job))
        }
        None => request::of_contract(&contract, job.seed, &url(job)),
    })
}

fn tls(job: &Job, protocol: Protocol) -> anyhow::Result<Option<Arc<TlsClient>>> {
    let Some(TlsSpec { trust, server_name, resume, offers_one, is_1_2 }) = &job.tls else { return Ok(None) };
    let trust = match trust {
        TrustSpec::Anything => TlsTrust::Anything,
        TrustSpec::System => TlsTrust::Authorities(rustls_native_certs::load_native_certs().certs),
        TrustSpec::Authorities(authorities) => {
            let read = |text: &String| Ok(CertificateDer::from(STANDARD.decode(text)?));
            TlsTrust::Authorities(authorities.iter().map(read).collect::<anyhow::Result<_>>()?)
        }
    };
    let options = TlsOptions {
        trust,
        server_name: server_name.clone(),
        alpn: protocol.alpn(),
        resume: *resume,
        offer: if *offers_one { TlsOffer::One } else { TlsOffer::Usual },
        version: if *is_1_2 { TlsVersion::Tls12 } else { TlsVersion::Tls13 },
        // The client's key stays on the machine of its owner.
        certificate: None,
    };
    Ok(Some(Arc::new(TlsClient::new(options)?)))
}
