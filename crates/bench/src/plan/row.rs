//! A row of a plan: a service, and the reason if it takes no part.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tare_contract::protocol::{self, as_word};
use tare_host::{
    cpus::Pinning,
    process::{Process, Unseen},
};
use tare_load::Protocol;
use tare_service::catalogue::{RevisionOf, Row, Running, Setting, Style};
use tare_service::footprint::Footprint;

/// Ballast of the reference: about what it costs itself, so that the generator has time to spare beside it as it has beside any
/// service.
const BALLAST_NS: u64 = 5_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedRow {
    /// Unique within the run.
    pub label: String,
    pub service: String,
    /// The protocol of its requests; plain HTTP/1.1 in older runs.
    #[serde(default, with = "as_word", skip_serializing_if = "protocol::is_plain")]
    pub protocol: Protocol,
    /// How it differs from the plain service of its folder, if so.
    pub title: Option<String>,
    pub language: String,
    pub framework: String,
    /// SPDX expression.
    pub licence: String,
    pub style: Style,
    /// Settings that differ from the framework's defaults.
    pub settings: Vec<Setting>,
    /// The version that the build reported, after it is built.
    pub version: Option<String>,
    /// Content hash of its build; a run is resumed with the same build only.
    #[serde(default)]
    pub content: Option<String>,
    /// Why it takes no part, if so.
    pub excluded: Option<Excluded>,
    /// Its name in the published table.
    pub published: Option<String>,
    /// It is measured even if it fails its contract, because it was published that way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_published: bool,
    /// What verification found wrong with a row that is measured nevertheless.
    pub known_failure: Option<String>,
    /// Its `THREADS` at every point, if it has its own number.
    pub threads: Option<usize>,
    /// Own CPUs of service and generator, over several cores; the generator has a thread per CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinning: Option<Pinning>,
    #[serde(default, skip_serializing_if = "Counted::is_none")]
    pub counted: Counted,
    /// The running server, if Tare did not start it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<RunningServer>,
    /// How long the built-in raw socket spins at each request. What that takes is in no figure. Absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ballast_ns: Option<u64>,
    /// The revision that it is, if rows are revisions of a service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<RevisionOf>,
}

/// A server that ran already, as found before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningServer {
    /// The address and port, or `unix:` and the path of a socket.
    pub address: String,
    /// The processes that own its address; empty if none are visible.
    pub processes: Vec<Process>,
    /// The cgroup that counts its CPU time, if not its processes.
    pub cgroup: Option<PathBuf>,
    /// CPUs that it may use, which Tare leaves unchanged; empty if unknown.
    pub cpus: Vec<usize>,
    /// Why its CPU time is unknown, if so.
    pub unseen: Option<Unseen>,
    /// How TLS is spoken with it, if unusual: TLS 1.2, or with a client certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<String>,
}

/// Measurable substitutes for an opinion of a framework: its dependencies, and the user's code.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Direct dependencies of the service.
    pub packages_direct: Option<usize>,
    /// All packages in the build.
    pub packages_total: Option<usize>,
    /// Lines of the service's code without blank lines and comments.
    pub code_lines: Option<usize>,
    /// Seconds of its last build, if it compiled all that it uses. Others may have compiled crates that services share.
    pub build_s: Option<f64>,
}

impl From<&Footprint> for Counted {
    fn from(footprint: &Footprint) -> Self {
        Counted {
            packages_direct: footprint.dependencies.direct,
            packages_total: footprint.dependencies.total,
            code_lines: footprint.code.as_ref().map(|code| code.lines),
            build_s: footprint.build.as_ref().and_then(|cost| Some(cost.whole()?[0])),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    pub why: Exclusion,
    /// The reason, as a table shows it.
    pub reason: String,
}

/// Kinds of reasons for an exclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exclusion {
    /// A toolchain or a library is missing; the service is not at fault.
    NotOnThisMachine,
    AnotherContract,
    /// The service does not offer the protocol of the row.
    AnotherProtocol,
    NotBuilt,
    /// It violates its contract, or does not start or stop as a service must.
    AgainstItsContract,
}

impl Excluded {
    fn by_protocol(reason: String) -> Excluded {
        Excluded { why: Exclusion::AnotherProtocol, reason }
    }
}

impl Counted {
    fn is_none(&self) -> bool {
        *self == Counted::default()
    }
}

impl PlannedRow {
    /// A planned row that is not built yet.
    pub(super) fn new(row: &Row) -> PlannedRow {
        let service = &row.service;
        PlannedRow {
            label: row.label.clone(),
            service: service.id.clone(),
            protocol: service.protocol,
            title: service.difference(),
            language: service.language.clone(),
            framework: service.framework.clone(),
            licence: service.licence.clone(),
            style: service.style,
            settings: service.settings.clone(),
            version: None,
            content: None,
            excluded: service.why_not_asked().map(Excluded::by_protocol),
            published: None,
            as_published: false,
            known_failure: None,
            threads: None,
            pinning: None,
            counted: Counted::default(),
            running: service.running.as_ref().map(RunningServer::of),
            ballast_ns: None,
            revision: service.revision.clone(),
        }
    }

    /// The same, with ballast if it is the built-in raw socket and others are related to it.
    pub(super) fn with_ballast(row: &Row, rows: usize) -> PlannedRow {
        let ballast_ns = (rows > 1 && row.service.is_built_in).then_some(BALLAST_NS);
        PlannedRow { ballast_ns, ..PlannedRow::new(row) }
    }

    /// Whether its server ran before Tare, and keeps running afterwards.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }
}

impl RunningServer {
    /// Its address and port; absent for a Unix socket.
    pub fn internet(&self) -> Option<SocketAddr> {
        self.address.parse().ok()
    }

    fn of(running: &Running) -> RunningServer {
        let server = &running.server;
        RunningServer {
            address: server.address().to_string(),
            processes: server.processes(),
            cgroup: server.cgroup().map(Path::to_owned),
            cpus: server.cpus(),
            unseen: server.unseen(),
            tls: running.channel.unusual_tls(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tare_service::catalogue::{Catalogue, RawSocket, select};

    use super::*;
    use crate::{fixture::published, plan::Plan};

    fn rows(words: &[&str]) -> Vec<Row> {
        let contracts = published::contracts();
        let names: Vec<&str> = contracts.keys().map(String::as_str).collect();
        let catalogue = Catalogue::load(&published::root(), &names, RawSocket::default()).unwrap();
        select(&catalogue, words.iter().copied()).unwrap()
    }

    #[test]
    fn a_row_says_its_protocol_and_is_out_where_it_is_not_offered() {
        let rows = rows(&["raw-socket", "raw-socket+h2c", "express-2019+h2"]);
        let planned: Vec<PlannedRow> = rows.iter().map(PlannedRow::new).collect();
        assert_eq!(planned[1].service, "raw-socket");
        assert_eq!((planned[1].title.as_deref(), &planned[1].excluded), (Some("h2c"), &None));
        let excluded = planned[2].excluded.as_ref().unwrap();
        assert_eq!(excluded.why, Exclusion::AnotherProtocol);
        let json = serde_json::to_value(&planned).unwrap();
        assert_eq!(json[1]["protocol"], "h2c");
        assert!(json[0].get("protocol").is_none(), "a plan without other protocols is as it was");
        assert_eq!(serde_json::from_value::<Vec<PlannedRow>>(json).unwrap(), planned);
    }

    #[test]
    fn a_twin_is_asked_in_the_same_protocol() {
        let rows = rows(&["raw-socket+h2c", "hyper"]);
        let twin = Plan::twin_of(&rows, "raw-socket+h2c").unwrap();
        assert_eq!((twin.label.as_str(), twin.service.protocol), ("raw-socket+h2c@2", Protocol::H2c));
    }
}
