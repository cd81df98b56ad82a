//! The jobs of agents in a slice of an experiment.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use tare_bench::executor::AgentSlice;
use tare_load::{Connections, Load, Split};
use tare_service::drive::{EXCHANGES, EXCHANGES_OF_ROWS};

use crate::{
    AgentDescription, Job, Token,
    job::{AnswerRules, ContractPart, Draws, JobLoad, Requests, ServerName, TlsSpec, TrustSpec},
    window::marks,
};

/// Reports per slice of each agent. If slow answers concentrate on one agent in most intervals, that is no
/// coincidence; five intervals would not show it.
const INTERVALS: u32 = 10;

/// What a run needs to know about its agents.
#[derive(Debug)]
pub struct FleetSetting {
    /// Each as HOST:PORT.
    pub addresses: Vec<String>,
    pub token: Token,
    /// The version of Tare.
    pub tare: String,
    /// Identity of this machine and its network namespace, in the form that agents report.
    pub machine: String,
    /// Hosts that the user permits as targets, although they are a different machine for an agent.
    pub may_load: Vec<String>,
    /// Text of each contract of the plan; absent if it is built in.
    pub contracts: BTreeMap<String, Option<String>>,
}

impl FleetSetting {
    /// Whether an agent runs on this machine, in any network namespace.
    #[must_use]
    pub fn is_here(&self, agent: &AgentDescription) -> bool {
        let boot = |machine: &str| machine.split(' ').next().map(str::to_owned);
        boot(&agent.machine) == boot(&self.machine)
    }

    /// The jobs of a slice, in the order of the agents.
    pub(super) fn jobs(&self, slice: &AgentSlice<'_>, agents: usize) -> Vec<Job> {
        let AgentSlice { address, point, channel, .. } = slice;
        let Connections { total, threads } = point.load.connections();
        let total = point.connection_use.connections(total, channel.protocol);
        let host = address.ip().to_string();
        let common = Job {
            may_load: self.may_load.iter().any(|named| named.eq_ignore_ascii_case(&host)),
            server: ServerName { host, port: address.port(), authority: address.to_string() },
            requests: self.requests(slice),
            rules: AnswerRules::default(),
            index: 0,
            of: agents,
            connections: 0,
            threads,
            opens_before: true,
            primes: true,
            seed: slice.draw,
            protocol: channel.protocol.name().to_owned(),
            streams: point.connection_use.streams,
            tls: channel.trusted().map(|(authority, name)| TlsSpec {
                trust: TrustSpec::Authorities(vec![STANDARD.encode(authority.as_ref())]),
                server_name: name.to_owned(),
                resume: point.connection_use.resumes,
                offers_one: true,
                is_1_2: false,
            }),
            driver: "auto".to_owned(),
            load: spec(slice.load),
            warm_up_ns: None,
        };
        let part =
            |index| Job { index, connections: Split { index, of: agents }.share(total), ..common.clone() };
        (0..agents).map(part).collect()
    }

    /// The requests of a point, with the services' data rows and as many prepared exchanges as locally.
    fn requests(&self, slice: &AgentSlice<'_>) -> Requests {
        let name = slice.contract.to_owned();
        Requests::Contract(ContractPart {
            text: self.contracts.get(&name).cloned().flatten(),
            name,
            only: slice.point.requests.iter().map(|name| (name.clone(), None)).collect(),
            draws: Some(Draws {
                rows_seed: slice.rows_seed,
                exchanges: EXCHANGES,
                exchanges_of_rows: EXCHANGES_OF_ROWS,
            }),
        })
    }
}

/// Each agent chooses between polling and sleeping, since it alone knows whether it shares its CPUs.
fn spec(load: &Load) -> JobLoad {
    let window = load.stop.window();
    let window_ns = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
    let load = Load { interval: Some(window / INTERVALS), ..load.clone() };
    JobLoad::of(&load, None, marks(window_ns))
}
