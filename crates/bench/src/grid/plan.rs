//! The complete list of the points of a sequential experiment, made before anything is started and kept in `run.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tare_load::{Arrivals, Connections, Load, Process, Profile, Quota, Schedule, Stop, Think};

pub use super::file::{PUBLISHED, SWEEP};
use super::{
    Cell,
    deadline::Deadlines,
    file::{self, Cpus, Grid, Layout, Part, Threads},
};
use crate::{
    figures::{Check, Figures},
    run::{
        folder::{Kind, Planned},
        plan::PlannedRow,
    },
};
use tare_host::{cpus::Pinning, link::LinkSpec};
use tare_service::{catalogue::Row, contract::Contract, settings::ServiceSettings};

/// Shorter loads say nothing, however small the scale.
const DURATION_NS_MIN: u64 = 1_000_000_000;
/// How long answers are waited for after a window.
const DRAIN_NS: u64 = 2_000_000_000;
/// A start and a stop, as a guess.
const START_NS: u64 = 700_000_000;
/// What one exchange over loopback takes, as a guess.
const EXCHANGE_NS: u64 = 100_000;

/// What will be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridPlan {
    /// The experiment's name.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// Its question.
    pub question: String,
    /// The shape of its table.
    pub layout: Layout,
    /// Label of the row that is 100%, where one is.
    pub reference: Option<String>,
    /// What was published.
    pub published: Figures,
    /// What is asked of the run about each claim that was published.
    pub checks: Vec<Check>,
    /// The part of the published time, messages and connections that is done.
    pub scale: f64,
    /// Determines the order of cells and the values of placeholders.
    pub seed: u64,
    /// Which CPUs serve and which generate.
    pub pinning: Pinning,
    /// How many CPUs this machine has.
    pub cpus: usize,
    /// Every row.
    pub rows: Vec<GridPlanRow>,
    /// Every point.
    pub points: Vec<Point>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridPlanRow {
    /// The service.
    pub planned: PlannedRow,
    /// What the published table calls it.
    pub published: Option<String>,
    /// It is measured even where it fails its contract.
    pub as_published: bool,
    /// Its `THREADS` at every point, if that differs from the others'.
    #[serde(default)]
    pub threads: Option<usize>,
    /// What verify found wrong with a row that is measured all the same.
    #[serde(default)]
    pub complaint: Option<String>,
    /// What using the framework takes, once it is built.
    #[serde(default)]
    pub counted: Counted,
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
    /// What its last build took, in seconds, where nothing of an earlier one was there.
    pub build_s: Option<f64>,
}

/// One load, for all services that take part in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The part that it comes from.
    pub part: String,
    /// Name of the contract.
    pub contract: String,
    /// The requests of it that are the load; without names, those that the contract says.
    #[serde(default)]
    pub requests: Vec<String>,
    /// How often each of its cells is measured.
    pub rounds: usize,
    /// How requests arrived in the published benchmark.
    pub published: Offered,
    /// How they arrive: the part of it that is asked for.
    pub offered: Offered,
    /// Load before it.
    pub warm_up_ns: u64,
    /// The settings that services are given.
    #[serde(alias = "knobs")]
    pub service_settings: ServiceSettings,
    /// The slow link, where there is one.
    pub link: Option<PlannedLink>,
    /// Places of the rows that take part.
    pub rows: Vec<usize>,
}

/// A link by its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedLink {
    /// What the table calls it.
    pub name: String,
    /// What it does.
    pub spec: LinkSpec,
}

/// How requests arrive, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Offered {
    /// Each connection sends its next request once the last one is answered and thought about.
    Closed {
        /// Connections, kept open.
        connections: usize,
        /// Threads of the generator.
        threads: usize,
        /// How long requests are sent.
        duration_ns: u64,
        /// Shortest and longest time to think.
        think_ns: Option<(u64, u64)>,
    },
    /// Requests are due at random instants.
    Open {
        /// Requests a second.
        per_second: f64,
        /// Most connections.
        connections: usize,
        /// Threads of the generator.
        threads: usize,
        /// How long requests are sent.
        duration_ns: u64,
    },
    /// Connections one after another, each with this many requests.
    Sessions {
        /// Connections in all.
        connections: u64,
        /// Requests on each.
        calls: u64,
    },
    /// Producers that send this many messages each, each message on a connection of its own.
    Batch {
        /// Producers, side by side.
        producers: usize,
        /// Messages of each.
        messages: u64,
    },
}

impl Planned for GridPlan {
    const KIND: Kind = Kind::Grid;

    fn size(&self) -> (usize, usize) {
        (self.rows.len(), self.points.len())
    }

    fn check(&self) -> Result<(), String> {
        let unknown = self.points.iter().flat_map(|point| &point.rows).find(|row| **row >= self.rows.len());
        if let Some(row) = unknown {
            return Err(format!("a point names row {row} of {}", self.rows.len()));
        }
        let of_points = self.points.iter().map(|point| point.service_settings.threads);
        if of_points.chain(self.rows.iter().filter_map(|row| row.threads)).any(|threads| threads == 0) {
            return Err("a service is given 0 threads".to_owned());
        }
        Ok(())
    }
}

/// What whoever starts a sequential experiment asks of it beside the file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The part of the published time, messages and connections; 1 by default.
    pub scale: Option<f64>,
    /// Length of all loads that end by time.
    pub duration_ns: Option<u64>,
    /// Rounds of every part.
    pub rounds: Option<usize>,
    /// Parts that are only done where they are asked for, instead of the others.
    pub sweep: bool,
    /// Instead of each number of threads that the file tells services.
    pub threads: Vec<usize>,
    /// Instead of each link of the file.
    pub link: Option<LinkSpec>,
}

impl GridPlan {
    /// The plan of `grid` over `rows`, of which each is a service of the row of the same place in `grid`, by `places`.
    pub fn new(
        grid: &Grid,
        rows: &[(usize, Row)],
        figures: Figures,
        options: &Options,
        seed: u64,
        cpus: &[usize],
    ) -> GridPlan {
        let file = &grid.file;
        let planned = rows.iter().map(|(place, row)| GridPlanRow {
            planned: PlannedRow::new(row),
            published: file.rows[*place].published.clone(),
            as_published: file.rows[*place].as_published,
            threads: file.rows[*place].threads,
            complaint: None,
            counted: Counted::default(),
        });
        let words: Vec<&str> = rows.iter().map(|(place, _)| file.rows[*place].service.as_str()).collect();
        let wanted = file.parts.iter().filter(|part| part.sweep == options.sweep);
        let points: Vec<Point> =
            wanted.flat_map(|part| points(part, &file.links, &words, options, cpus.len())).collect();
        let most = |of: fn(&Point) -> usize| points.iter().map(of).max().unwrap_or(1);
        let (served, generated) =
            (most(|point| point.service_settings.threads), most(|point| point.offered.connections().threads));
        let label =
            |word: &String| words.iter().position(|other| other == word).map(|at| rows[at].1.label.clone());
        GridPlan {
            experiment: grid.name.clone(),
            title: file.title.clone(),
            question: file.question.clone(),
            layout: file.layout,
            reference: file.reference.as_ref().and_then(label),
            published: figures,
            checks: file.checks.clone(),
            scale: options.scale.unwrap_or(1.0),
            seed,
            pinning: Pinning::choose(cpus, served, generated),
            cpus: cpus.len(),
            rows: planned.collect(),
            points,
        }
    }

    /// The settings of the service of a cell.
    pub fn service_settings(&self, cell: Cell) -> ServiceSettings {
        let service_settings = &self.points[cell.point].service_settings;
        ServiceSettings {
            threads: self.rows[cell.row].threads.unwrap_or(service_settings.threads),
            ..service_settings.clone()
        }
    }

    /// Most rounds of any point.
    pub fn rounds(&self) -> usize {
        self.points.iter().map(|point| point.rounds).max().unwrap_or(0)
    }

    /// Places of the rows that are measured at a point.
    pub fn members<'a>(&'a self, point: &'a Point) -> impl Iterator<Item = usize> + 'a {
        point.rows.iter().copied().filter(|row| self.rows[*row].planned.excluded.is_none())
    }

    /// How many cells there are in all rounds.
    pub fn cells(&self) -> usize {
        self.points.iter().map(|point| self.members(point).count() * point.rounds).sum()
    }

    /// Time that all of it takes, if services take no time to handle a request but their `DELAY_MS`.
    pub fn expected_ns(&self) -> u64 {
        let of = |point: &Point| point.expected_ns() * (self.members(point).count() * point.rounds) as u64;
        self.points.iter().map(of).sum()
    }
}

/// The product of all lists of a part.
fn points(
    part: &Part,
    links: &BTreeMap<String, LinkSpec>,
    words: &[&str],
    options: &Options,
    cpus: usize,
) -> Vec<Point> {
    let takes_part =
        |word: &str| part.services.is_empty() || part.services.iter().any(|service| service == word);
    let rows: Vec<usize> = (0..words.len()).filter(|row| takes_part(words[*row])).collect();
    let threads = part.threads_told(options, cpus);
    let mut points = Vec::new();
    for published in part.load.offered() {
        for &delay_ms in part.delay_ms.as_slice() {
            for name in part.link.as_slice() {
                // Another link is not the published one, and is not called like it.
                let link = links.get(name).map(|spec| match options.link {
                    None => PlannedLink { name: name.clone(), spec: *spec },
                    Some(spec) => PlannedLink { name: spec.to_string(), spec },
                });
                points.extend(threads.iter().map(|&threads| Point {
                    part: part.name.clone(),
                    contract: part.contract.clone(),
                    requests: part.requests.clone(),
                    rounds: options.rounds.unwrap_or(part.rounds),
                    published,
                    offered: published.scaled(options),
                    warm_up_ns: part.warm_up.map_or(0, ns),
                    service_settings: ServiceSettings { threads, delay_ms },
                    link: link.clone(),
                    rows: rows.clone(),
                }));
            }
        }
    }
    points
}

impl Part {
    /// `THREADS` of the points, each number once. Options replace the whole axis, not a single number.
    fn threads_told(&self, options: &Options, cpus: usize) -> Vec<usize> {
        let own = self.threads.as_slice();
        let mut told: Vec<usize> = match options.threads.as_slice() {
            asked if !asked.is_empty() && own.len() > 1 => asked.to_vec(),
            _ => own.iter().map(|threads| threads.number(cpus)).collect(),
        };
        let mut seen = std::collections::BTreeSet::new();
        told.retain(|threads| seen.insert(*threads));
        told
    }
}

impl Threads {
    fn number(self, cpus: usize) -> usize {
        match self {
            Threads::Number(number) => number,
            Threads::Word(Cpus::Cpus) => cpus,
        }
    }
}

impl file::Load {
    /// Every load that it stands for, as it was published.
    fn offered(&self) -> Vec<Offered> {
        match self {
            file::Load::Closed { connections, threads, duration, think } => {
                let (duration_ns, think_ns) =
                    (ns(*duration), think.map(|(least, most)| (ns(least), ns(most))));
                let of = |connections: usize, threads: usize| Offered::Closed {
                    connections: connections.max(threads),
                    threads,
                    duration_ns,
                    think_ns,
                };
                let connections = connections.as_slice().iter();
                connections.flat_map(|&c| threads.as_slice().iter().map(move |&t| of(c, t))).collect()
            }
            file::Load::Open { per_second, connections, threads, duration } => {
                let (connections, threads, duration_ns) = (*connections, *threads, ns(*duration));
                let of = |&per_second: &f64| Offered::Open { per_second, connections, threads, duration_ns };
                per_second.as_slice().iter().map(of).collect()
            }
            file::Load::Sessions { connections, calls } => {
                vec![Offered::Sessions { connections: *connections, calls: *calls }]
            }
            file::Load::Batch { producers, messages } => {
                let of = |&messages: &u64| Offered::Batch { producers: *producers, messages };
                messages.as_slice().iter().map(of).collect()
            }
        }
    }
}

impl Offered {
    /// The part of it that is asked for.
    fn scaled(self, options: &Options) -> Offered {
        let scale = options.scale.unwrap_or(1.0);
        let number = |published: u64| ((published as f64 * scale).round() as u64).max(1);
        let time = |published: u64| {
            options
                .duration_ns
                .unwrap_or_else(|| ((published as f64 * scale) as u64).max(DURATION_NS_MIN.min(published)))
        };
        match self {
            Offered::Closed { connections, threads, duration_ns, think_ns } => {
                Offered::Closed { connections, threads, duration_ns: time(duration_ns), think_ns }
            }
            Offered::Open { per_second, connections, threads, duration_ns } => {
                Offered::Open { per_second, connections, threads, duration_ns: time(duration_ns) }
            }
            Offered::Sessions { connections, calls } => {
                Offered::Sessions { connections: number(connections), calls }
            }
            Offered::Batch { producers, messages } => {
                Offered::Batch { producers, messages: number(messages) }
            }
        }
    }

    /// Over how many connections, on how many threads of the generator.
    pub fn connections(&self) -> Connections {
        match *self {
            Offered::Closed { connections, threads, .. } | Offered::Open { connections, threads, .. } => {
                Connections { total: connections, threads }
            }
            Offered::Sessions { .. } => Connections { total: 1, threads: 1 },
            Offered::Batch { producers, .. } => Connections { total: producers, threads: 1 },
        }
    }

    /// Requests a second that are due, where that is not for the service to decide.
    pub fn per_second(&self) -> Option<f64> {
        match *self {
            Offered::Open { per_second, .. } => Some(per_second),
            _ => None,
        }
    }

    /// Whether it asks for all that the service can do.
    pub fn saturates(&self) -> bool {
        matches!(self, Offered::Closed { think_ns: None, .. })
    }

    /// Whether connections are opened before the load: not where that is part of what is measured.
    pub fn opens_before(&self) -> bool {
        matches!(self, Offered::Closed { .. } | Offered::Open { .. })
    }

    /// How many requests there will be, where that is what ends it.
    pub fn requests(&self) -> Option<u64> {
        match *self {
            Offered::Closed { .. } | Offered::Open { .. } => None,
            Offered::Sessions { connections, calls } => Some(connections * calls),
            Offered::Batch { producers, messages } => Some(producers as u64 * messages),
        }
    }

    /// The time or the number that ends it, where that of `published`, a load of the same kind, is another one: `12 s instead of
    /// 600 s`.
    pub fn instead_of(&self, published: &Offered) -> Option<String> {
        let size = |offered: &Offered| match offered {
            Offered::Closed { duration_ns, .. } | Offered::Open { duration_ns, .. } => {
                (seconds(*duration_ns), "")
            }
            Offered::Sessions { connections, .. } => (connections.to_string(), " connections"),
            Offered::Batch { messages, .. } => (messages.to_string(), " messages"),
        };
        let ((here, what), (there, _)) = (size(self), size(published));
        (here != there).then(|| format!("{here}{what} instead of {there}"))
    }

    /// The line for a head.
    pub fn describe(&self) -> String {
        match self {
            Offered::Closed { connections, threads, duration_ns, think_ns } => {
                let think = think_ns.map_or(String::new(), |(least, most)| {
                    format!(", {} to {} ms of thinking", least / 1_000_000, most / 1_000_000)
                });
                let time = seconds(*duration_ns);
                format!(
                    "closed loop, {connections} connections, {threads} generator thread(s){think}, {time}"
                )
            }
            Offered::Open { per_second, connections, duration_ns, .. } => {
                let time = seconds(*duration_ns);
                format!(
                    "open loop, {per_second} requests a second at random, at most {connections} connections, {time}"
                )
            }
            Offered::Sessions { connections, calls } => {
                format!("{connections} connections one after another, {calls} requests on each")
            }
            Offered::Batch { producers, messages } => {
                format!("{producers} producers, {messages} messages each, a new connection for each message")
            }
        }
    }
}

fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}

impl Point {
    /// Time that a request takes at the least: round trips over the link, and its turn at the service's threads.
    pub fn request_ns_ideal(&self) -> u64 {
        let turns = match self.offered {
            Offered::Batch { producers, .. } => producers.div_ceil(self.service_settings.threads) as u64,
            _ => 1,
        };
        let round_trips = if self.offered.opens_before() { 1 } else { 2 };
        self.rtt_ns() * round_trips + turns * self.service_settings.delay_ms * 1_000_000
    }

    /// The contract that is its load, of the whole one; absent if that lost a request since the plan was made.
    pub fn narrowed(&self, whole: &Contract) -> Option<Contract> {
        if self.requests.is_empty() { Some(whole.clone()) } else { whole.narrowed(&self.requests) }
    }

    /// Whether it is a number of messages: then the result is how long they took.
    pub fn is_batch(&self) -> bool {
        matches!(self.offered, Offered::Batch { .. })
    }

    /// Of the link; nothing without one.
    pub fn rtt_ns(&self) -> u64 {
        self.link.as_ref().map_or(0, |link| link.spec.rtt_ns())
    }

    /// Time that one cell takes, with its start.
    pub fn expected_ns(&self) -> u64 {
        let load_ns = match self.offered {
            Offered::Closed { duration_ns, .. } | Offered::Open { duration_ns, .. } => duration_ns,
            Offered::Sessions { connections, calls } => {
                connections * (self.request_ns_ideal() + calls * (self.rtt_ns() + EXCHANGE_NS))
            }
            Offered::Batch { messages, .. } => messages * (self.request_ns_ideal() + 10 * EXCHANGE_NS),
        };
        START_NS + self.warm_up_ns + load_ns
    }

    /// When one of its cells is given up.
    pub fn deadlines(&self) -> Deadlines {
        let requests_each = self.offered.requests().unwrap_or(0) / self.offered.connections().total as u64;
        Deadlines::new(self.request_ns_ideal(), requests_each)
    }

    /// The load that the generator is asked for.
    pub fn load(&self) -> Load {
        let time = std::time::Duration::from_nanos;
        let deadlines = self.deadlines();
        let stop_at = |duration_ns: u64| Stop::after(time(duration_ns), time(DRAIN_NS));
        let stop_by = |quota| Stop::count(quota, time(deadlines.all_ns), time(DRAIN_NS));
        // Longer than the silence that ends a cell: what hangs is one finding, and not a failure of each request.
        let timeout = time(2 * deadlines.silence_ns);
        match self.offered {
            Offered::Closed { duration_ns, think_ns, .. } => {
                let think =
                    think_ns.map_or(Think::None, |(min_ns, max_ns)| Think::Uniform { min_ns, max_ns });
                Load::new(Schedule::Closed { think }, stop_at(duration_ns), timeout)
            }
            Offered::Open { per_second, duration_ns, .. } => {
                let profile = Profile::constant(per_second).expect("rates are checked when the file is read");
                let arrivals = Arrivals { profile, process: Process::Poisson };
                Load::new(Schedule::Open(arrivals), stop_at(duration_ns), timeout)
            }
            Offered::Sessions { connections, calls } => Load {
                requests_per_connection: Some(calls),
                ..Load::new(Schedule::SATURATE, stop_by(Quota::Connections(connections)), timeout)
            },
            Offered::Batch { messages, .. } => Load {
                requests_per_connection: Some(1),
                ..Load::new(Schedule::SATURATE, stop_by(Quota::RequestsEach(messages)), timeout)
            },
        }
    }
}

fn ns(duration: jiff::SignedDuration) -> u64 {
    u64::try_from(duration.unsigned_abs().as_nanos()).unwrap_or(u64::MAX)
}

impl Point {
    /// The load and what services were given, in words.
    pub fn describe(&self) -> String {
        let delay = match self.service_settings.delay_ms {
            0 => String::new(),
            ms => format!(" DELAY_MS={ms}"),
        };
        let link = self.link.as_ref().map_or(String::new(), |link| format!("; over {}", link.spec));
        let warm_up = match (self.warm_up_ns, &self.offered) {
            (0, _) | (_, Offered::Sessions { .. } | Offered::Batch { .. }) => String::new(),
            (ns, _) => format!(", after {} s of warming up", ns as f64 / 1e9),
        };
        let rounds = if self.rounds == 1 { "once".to_owned() } else { format!("{} rounds", self.rounds) };
        format!(
            "{}{warm_up}; THREADS={}{delay}; contract {}{link}; {rounds}",
            self.offered.describe(),
            self.service_settings.threads,
            self.contract
        )
    }
}

#[cfg(test)]
mod tests;
