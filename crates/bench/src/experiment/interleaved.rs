//! The file of an interleaved experiment: which services, under which contract, under which loads, for how long.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tare_service::settings::{DATABASE_CONNECTIONS, ServiceSettings};

use serde::Deserialize;
use tare_base::document::{self, DocumentError};
use tare_base::units::{deserialize_duration, deserialize_some_duration};
use tare_contract::protocol::{self, as_word};
use tare_load::Protocol;

use super::{
    FORMAT,
    cores::{self, Cores},
    latency::{LatencyFile, LatencySetting},
    load::{DELAY_MS_MAX, LoadFile, LoadSetting, is_within},
    name_of,
    threads::ThreadsFile,
};

/// An experiment, as in its file.
#[derive(Debug, Clone)]
pub struct Experiment {
    pub name: String,
    pub title: String,
    pub question: String,
    pub contract: String,
    /// Words for [`tare_service::catalogue::select`].
    pub services: Vec<String>,
    /// The protocols of each service, with a row for each.
    pub protocols: Vec<Protocol>,
    pub reference: String,
    /// Whether the reference has a twin, a second row.
    pub twin: bool,
    /// At least one load. The first one decides when a run ends.
    pub loads: Vec<LoadSetting>,
    pub service_settings: ServiceSettings,
    /// The numbers of threads of each service; absent if there is one.
    pub cores: Option<Cores>,
    pub schedule: ScheduleSetting,
    /// The open loops that measure latency.
    pub latency: Option<LatencySetting>,
    pub path: PathBuf,
    pub(crate) text: String,
}

/// The schedule of an interleaved experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScheduleSetting {
    /// No block begins that would end after this time.
    #[serde(deserialize_with = "deserialize_duration")]
    pub budget: Duration,
    #[serde(deserialize_with = "deserialize_duration")]
    pub slice: Duration,
    /// Absent if the run derives it from the cost of slices and starts.
    pub slices_per_block: Option<usize>,
    /// Unrecorded load before the first slice of a fresh process.
    #[serde(deserialize_with = "deserialize_duration")]
    pub warm_up: Duration,
    /// The longest warm-up; a pilot finds what each service needs. Without it all have the same.
    #[serde(default, deserialize_with = "deserialize_some_duration")]
    pub warm_up_max: Option<Duration>,
    /// Fewest blocks, whatever the budget is.
    pub blocks_min: usize,
    pub blocks_max: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct InterleavedFile {
    #[serde(rename = "format")]
    _format: String,
    title: String,
    question: String,
    contract: String,
    services: Vec<String>,
    #[serde(default = "default_protocols")]
    protocols: Vec<ProtocolFile>,
    #[serde(default = "default_reference")]
    reference: String,
    #[serde(default = "default_twin")]
    twin: bool,
    load: LoadFile,
    service: ServiceFile,
    schedule: ScheduleSetting,
    latency: Option<LatencyFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ServiceFile {
    threads: ThreadsFile,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default = "default_connections")]
    database_connections: u32,
    #[serde(default)]
    backing_cpus: Vec<usize>,
}

fn default_connections() -> u32 {
    DATABASE_CONNECTIONS
}

fn default_reference() -> String {
    tare_service::catalogue::RAW_SOCKET.to_owned()
}

fn default_twin() -> bool {
    true
}

#[derive(Debug, Deserialize)]
struct ProtocolFile(#[serde(with = "as_word")] Protocol);

fn default_protocols() -> Vec<ProtocolFile> {
    vec![ProtocolFile(Protocol::Http1)]
}

impl Experiment {
    /// Replaces the contract, and with it the title and question of the file.
    pub fn replace_contract(&mut self, name: &str, title: &str) {
        if self.contract != name {
            name.clone_into(&mut self.contract);
            self.title = format!("{}: {title}", self.name);
            self.question = format!("What does each service cost under the contract \"{name}\"?");
        }
    }

    /// Reads an experiment file.
    ///
    /// # Errors
    /// If it cannot be read, or has a mistake; the error names the line.
    pub fn load(path: &Path) -> Result<Experiment, DocumentError> {
        let text = document::read(path)?;
        Experiment::parse(path, &text)
    }

    /// An error in `key` that only name lookup finds, at the line where a string begins with `value`.
    pub fn mistake(&self, key: &str, value: &str, message: &str) -> DocumentError {
        DocumentError::at(&self.path, &self.text, &format!("\"{value}"), format!("\"{key}\": {message}"))
    }

    /// The folder to which its paths are relative.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The default comparison of two services or versions.
    ///
    /// # Panics
    /// Never: the file is part of the program, and a test reads it.
    pub fn of_versions() -> Experiment {
        let text = include_str!("versions.toml");
        Experiment::parse(Path::new("compare.toml"), text).expect("the file of the program is right")
    }

    /// Reads an experiment from its text; mistakes name `path`.
    ///
    /// # Errors
    /// If it has a mistake; the error names the line.
    pub fn parse(path: &Path, text: &str) -> Result<Experiment, DocumentError> {
        let file: InterleavedFile = document::parse(path, text, FORMAT)?;
        let at = |place: &'static str| move |message: String| DocumentError::at(path, text, place, message);
        let delay_ms = usize::try_from(file.service.delay_ms).unwrap_or(usize::MAX);
        let cores_of = |loads: &[LoadSetting]| cores::read(&file.service.threads, &file.load.threads, loads);
        // A list is checked with the load's list; its first number is the plan's.
        let threads = match &file.service.threads {
            ThreadsFile::One(number) => *number,
            _ => 1,
        };
        // Two tables have "threads", so the line of the table distinguishes them.
        for (place, key, value, range) in [
            ("[service]", "threads", threads, 1..=1024),
            ("[service]", "delay-ms", delay_ms, 0..=DELAY_MS_MAX as usize),
            ("[service]", "database-connections", file.service.database_connections as usize, 1..=1000),
            ("slices-per-block", "slices-per-block", file.schedule.slices_per_block.unwrap_or(1), 1..=1000),
            ("blocks-min", "blocks-min", file.schedule.blocks_min, 1..=1000),
            ("blocks-max", "blocks-max", file.schedule.blocks_max, file.schedule.blocks_min..=1000),
        ] {
            is_within(key, value, range).map_err(at(place))?;
        }
        let loads = file.load.read().map_err(at("[load]"))?;
        let cores = cores_of(&loads).map_err(|(place, message)| at(place)(message))?;
        let latency = file.latency.map(LatencyFile::read).transpose().map_err(at("[latency]"))?;
        let slice = file.schedule.slice;
        if !(Duration::from_millis(20)..=Duration::from_secs(60)).contains(&slice) {
            return Err(at("slice")("\"slice\" must be 20ms to 60s".to_owned()));
        }
        let protocols = read_protocols(&file.protocols).map_err(at("protocols"))?;
        Ok(Experiment {
            name: name_of(path),
            title: file.title,
            question: file.question,
            contract: file.contract,
            services: file.services,
            protocols,
            reference: file.reference,
            twin: file.twin,
            loads,
            service_settings: ServiceSettings {
                threads: file.service.threads.first(),
                delay_ms: file.service.delay_ms,
                database_connections: file.service.database_connections,
                backing_cpus: file.service.backing_cpus,
            },
            cores,
            schedule: file.schedule,
            latency,
            path: path.to_owned(),
            text: text.to_owned(),
        })
    }
}

fn read_protocols(list: &[ProtocolFile]) -> Result<Vec<Protocol>, String> {
    let mut protocols = Vec::new();
    for ProtocolFile(protocol) in list {
        if protocols.contains(protocol) {
            return Err(format!("\"protocols\" has \"{}\" twice", protocol::word(*protocol)));
        }
        protocols.push(*protocol);
    }
    match protocols.is_empty() {
        true => Err("\"protocols\" needs at least one, such as \"http/1.1\"".to_owned()),
        false => Ok(protocols),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::ConnectionUse;

    const QUICK: &str = include_str!("../../../../experiments/quick.toml");

    fn error(right: &str, wrong: &str) -> String {
        let text = QUICK.replacen(right, wrong, 1);
        assert_ne!(text, QUICK, "{right} is not in the file");
        Experiment::parse(Path::new("experiments/quick.toml"), &text).unwrap_err().to_string()
    }

    #[test]
    fn the_quick_experiment_reads() {
        let quick = Experiment::parse(Path::new("experiments/quick.toml"), QUICK).unwrap();
        assert_eq!((quick.name.as_str(), quick.contract.as_str()), ("quick", "hello"));
        assert!(quick.services.len() >= 11);
    }

    #[test]
    fn another_contract_has_another_title() {
        let quick = Experiment::parse(Path::new("experiments/quick.toml"), QUICK).unwrap();
        let mut same = quick.clone();
        same.replace_contract("hello", "one line");
        assert_eq!(same.title, quick.title);
        let mut other = quick.clone();
        other.replace_contract("db", "one row");
        assert_eq!((other.contract.as_str(), other.title.as_str()), ("db", "quick: one row"));
        assert!(other.question.contains("\"db\"") && other.name == "quick");
    }

    #[test]
    fn a_list_of_connections_is_a_load_each() {
        let text = include_str!("../../../../experiments/connections.toml");
        let experiment = Experiment::parse(Path::new("experiments/connections.toml"), text).unwrap();
        assert_eq!(experiment.loads, LoadSetting::each(&[16, 64, 256], 1).unwrap());
        let pinning = tare_host::cpus::Pinning { server: vec![0], generator: vec![1] };
        let plan = crate::plan::Plan::interleaved(&experiment, &[], 1, pinning);
        assert_eq!(plan.points.iter().map(|point| point.rounds).collect::<Vec<_>>(), [8; 3]);
        let lists =
            [("[]", "has 0 numbers"), ("[64, 64]", "twice"), ("[0]", "must be 1 to"), ("\"64\"", "a list")];
        for (list, problem) in lists {
            let error = error("connections = 64", &format!("connections = {list}"));
            assert!(error.contains(problem), "{list}: {error}");
        }
    }

    #[test]
    fn each_service_may_be_asked_in_several_protocols() {
        let with = |list: &str| QUICK.replacen("contract", &format!("protocols = {list}\ncontract"), 1);
        let parse = |list: &str| Experiment::parse(Path::new("quick.toml"), &with(list));
        let experiment = parse("[\"http/1.1\", \"tls\", \"h2\", \"h2c\"]").unwrap();
        assert_eq!(experiment.protocols, Protocol::ALL);
        assert_eq!(Experiment::parse(Path::new("q"), QUICK).unwrap().protocols, [Protocol::Http1]);
        let error = |list: &str| parse(list).unwrap_err().to_string();
        assert!(error("[]").ends_with("\"protocols\" needs at least one, such as \"http/1.1\""));
        assert!(error("[\"h2\", \"h2\"]").ends_with("\"protocols\" has \"h2\" twice"));
        assert!(error("[\"h3\"]").ends_with("unknown value \"h3\"; valid names are: http/1.1, tls, h2, h2c"));
    }

    #[test]
    fn a_connection_of_http_2_may_have_several_requests_on_their_way() {
        let with = |keys: &str| QUICK.replacen("[load]", &format!("[load]\n{keys}"), 1);
        let parse = |keys: &str| Experiment::parse(Path::new("quick.toml"), &with(keys));
        let used = |keys: &str| parse(keys).unwrap().loads[0].connection_use;
        assert_eq!(used(""), ConnectionUse::default());
        let experiment = parse("streams = 16").unwrap();
        let pinning = tare_host::cpus::Pinning { server: vec![0], generator: vec![1] };
        let plan = crate::plan::Plan::interleaved(&experiment, &[], 1, pinning);
        assert!(plan.points.iter().all(|point| point.connection_use.streams == 16));
        assert_eq!(plan.points[0].part, "64 connections (over HTTP/2 4 with 16 streams each)");
        let each = ConnectionUse { streams: 1, requests: Some(1), resumes: true };
        assert_eq!(used("requests-per-connection = 1\nresume = true"), each);
        let error = |keys: &str| parse(keys).unwrap_err().to_string();
        for (keys, says) in [
            ("streams = 0", "\"streams\" is 0; it must be 1 to 1000"),
            ("streams = 7", "64 connections cannot be shared by 7 streams: give a multiple"),
            ("requests-per-connection = 0", "\"requests-per-connection\" is 0; it must be at least 1"),
            (
                "resume = true",
                "\"resume\" is without effect where connections are kept: give \"requests-per-connection\" too",
            ),
        ] {
            assert!(error(keys).ends_with(says), "{}", error(keys));
        }
    }

    #[test]
    fn mistakes_name_the_line_and_the_fix() {
        assert!(
            error("connections", "conections")
                .ends_with("unknown key \"conections\"; did you mean \"connections\"?")
        );
        assert!(
            error("delay-ms", "delay_ms").ends_with("unknown key \"delay_ms\"; did you mean \"delay-ms\"?")
        );
        assert!(
            error("blocks-max       = 40", "blocks-max = 2")
                .contains("\"blocks-max\" is 2; it must be 6 to 1000")
        );
        assert!(error("slice            = \"50ms\"", "slice = \"1ms\"").contains("must be 20ms to 60s"));
        assert!(error("\"3m\"", "\"soon\"").starts_with("experiments/quick.toml:"));
        assert!(error("\"30s\"", "\"999999h\"").contains("is longer than 1000h"));
        assert!(error("delay-ms = 0", "delay-ms = 9223372036854775807").contains("must be 0 to 3600000"));
        assert!(
            error("\"3m\"", "\"-5m\"").contains("quick.toml:"),
            "a time below 0 is not taken for one above"
        );
    }
}
