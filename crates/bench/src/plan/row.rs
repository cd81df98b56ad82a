//! A row of a plan: a service, and why it takes no part if it does not.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tare_host::{
    cpus::Pinning,
    process::{Process, Unseen},
};
use tare_load::Protocol;
use tare_service::{
    catalogue::{RevisionOf, Row, Running, Setting, Style},
    protocol::{self, as_word},
};

/// Ballast of the reference: about what it costs itself, so that the generator has time to spare beside it as it has beside any
/// service.
const BALLAST_NS: u64 = 5_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedRow {
    /// Unique within the run.
    pub label: String,
    pub service: String,
    /// In which it is asked; plain HTTP/1.1 in older runs.
    #[serde(default, with = "as_word", skip_serializing_if = "protocol::is_plain")]
    pub protocol: Protocol,
    /// How it differs from the service of its folder, if it does.
    pub title: Option<String>,
    pub language: String,
    pub framework: String,
    /// SPDX expression.
    pub licence: String,
    pub style: Style,
    /// What is not the framework's default.
    pub settings: Vec<Setting>,
    /// The version that the build reported, once it is built.
    pub version: Option<String>,
    /// The content hash of its build: a run is resumed with the same build.
    #[serde(default)]
    pub content: Option<String>,
    /// Why it takes no part, if it does not.
    pub excluded: Option<Excluded>,
    /// What the published table calls it.
    pub published: Option<String>,
    /// It is measured even if it fails its contract, because it was published so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_published: bool,
    /// What verify found wrong with a row that is measured all the same.
    pub known_failure: Option<String>,
    /// Its `THREADS` at every point, if that differs from the others'.
    pub threads: Option<usize>,
    /// The CPUs of the service and of the generator, of a row in an experiment over several cores. The generator has a thread for each
    /// of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinning: Option<Pinning>,
    #[serde(default, skip_serializing_if = "Counted::is_none")]
    pub counted: Counted,
    /// What it was found to be, if it ran already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<RunningServer>,
    /// How long the built-in raw socket spins at each request. What that takes is in no figure. Absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ballast_ns: Option<u64>,
    /// Which revision of a service it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<RevisionOf>,
}

/// A server that ran already, as it was found before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningServer {
    /// The address and port, or `unix:` and the path of a socket.
    pub address: String,
    /// Those by which it was found; empty if none can be seen.
    pub processes: Vec<Process>,
    /// Where its CPU time is counted, if not by process.
    pub cgroup: Option<PathBuf>,
    /// CPUs that it may use, which are left as they are; empty if that is not known.
    pub cpus: Vec<usize>,
    /// Why its CPU time is not known, if it is not.
    pub unseen: Option<Unseen>,
    /// How TLS is spoken with it, where that is another way than usual: TLS 1.2, or with a client certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<String>,
}

/// What can be counted in place of an opinion of a framework: how much comes with it, and how much its user writes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Packages that the service asks for.
    pub packages_direct: Option<usize>,
    /// All that are in the build.
    pub packages_total: Option<usize>,
    /// Lines of the service's code, without blanks and comments.
    pub code_lines: Option<usize>,
    /// Seconds of its last build, if nothing of an earlier one was there.
    pub build_s: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    pub why: Exclusion,
    /// What the reader of a table is shown.
    pub reason: String,
}

/// Kinds of reasons not to take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exclusion {
    /// A toolchain or a library is missing: no fault of the service.
    NotOnThisMachine,
    AnotherContract,
    /// It is asked in a protocol that it does not offer.
    AnotherProtocol,
    NotBuilt,
    /// It does not do what its contract says, or does not start or stop as a service must.
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
    /// Nothing of it built yet.
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

    /// The same, with ballast if it is the built-in raw socket.
    pub(super) fn with_ballast(row: &Row) -> PlannedRow {
        let ballast_ns = row.service.is_built_in.then_some(BALLAST_NS);
        PlannedRow { ballast_ns, ..PlannedRow::new(row) }
    }

    /// Whether it ran before, and will run on.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }
}

impl RunningServer {
    /// Its address and port; absent of a Unix socket.
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
