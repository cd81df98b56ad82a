//! The plan of a sequential experiment: the Cartesian product of all lists of its parts.

use std::collections::BTreeMap;

use tare_base::units::Lasting;
use tare_host::{cpus::Pinning, link::LinkSpec};
use tare_service::{catalogue::Row, settings::ServiceSettings};

use super::{LoadSpec, NamedLink, Order, Plan, PlannedRow, Point, Publication, Until};
use crate::{
    experiment::{
        ConnectionUse, Rate,
        sequential::{Cpus, LoadEntry, Part, SequentialExperiment, Threads},
    },
    figures::Figures,
};

/// Options of a sequential experiment that are not in its file.
#[derive(Debug, Clone, Default)]
pub struct SequentialOptions {
    /// The part of the published time, messages and connections; 1 by default.
    pub scale: Option<f64>,
    /// Duration of all loads that end by time.
    pub duration_ns: Option<u64>,
    pub rounds: Option<usize>,
    /// Run the optional parts instead of the others.
    pub sweep: bool,
    /// Replaces each number of threads that the file gives services.
    pub threads: Vec<usize>,
    /// Replaces each link of the file.
    pub link: Option<LinkSpec>,
}

impl Plan {
    /// Plans `experiment` over `rows`, each with its place among the rows of the file.
    pub fn sequential(
        experiment: &SequentialExperiment,
        rows: &[(usize, Row)],
        figures: Figures,
        options: &SequentialOptions,
        seed: u64,
        cpus: &[usize],
    ) -> Plan {
        let file = experiment;
        let planned = rows.iter().map(|(place, row)| PlannedRow {
            published: file.rows[*place].published.clone(),
            as_published: file.rows[*place].as_published,
            threads: file.rows[*place].threads,
            ..PlannedRow::new(row)
        });
        let words: Vec<&str> = rows.iter().map(|(place, _)| file.rows[*place].service.as_str()).collect();
        let wanted = file.parts.iter().filter(|part| part.sweep == options.sweep);
        let points: Vec<Point> =
            wanted.flat_map(|part| points(part, &file.links, &words, options, cpus.len())).collect();
        let most = |of: fn(&Point) -> usize| points.iter().map(of).max().unwrap_or(1);
        let (served, generated) =
            (most(|point| point.service_settings.threads), most(|point| point.load.connections().threads));
        let label =
            |word: &String| words.iter().position(|other| other == word).map(|at| rows[at].1.label.clone());
        Plan {
            experiment: experiment.name.clone(),
            title: file.title.clone(),
            question: file.question.clone(),
            reference: file.reference.as_ref().and_then(label),
            twin: None,
            are_versions: false,
            isolates: false,
            agents: None,
            seed,
            pinning: Pinning::choose(cpus, served, generated),
            order: Order::Sequential,
            until: Until::Budget,
            rows: planned.collect(),
            points,
            publication: Publication {
                figures,
                layout: file.layout,
                checks: file.checks.clone(),
                scale: options.scale.unwrap_or(1.0),
            },
        }
    }
}

/// The points of a part: the product of all of its lists.
fn points(
    part: &Part,
    links: &BTreeMap<String, LinkSpec>,
    words: &[&str],
    options: &SequentialOptions,
    cpus: usize,
) -> Vec<Point> {
    let takes_part =
        |word: &str| part.services.is_empty() || part.services.iter().any(|service| service == word);
    let rows: Vec<usize> = (0..words.len()).filter(|row| takes_part(words[*row])).collect();
    let threads = part.threads_of_points(options, cpus);
    let mut points = Vec::new();
    for published in part.load.specs() {
        let load = published.scaled(options.scale.unwrap_or(1.0), options.duration_ns);
        for &delay_ms in part.delay_ms.as_slice() {
            for name in part.link.as_slice() {
                // A replaced link gets its own name, because it is not the published one.
                let link = links.get(name).map(|spec| match options.link {
                    None => NamedLink { name: name.clone(), spec: *spec },
                    Some(spec) => NamedLink { name: spec.to_string(), spec },
                });
                points.extend(threads.iter().map(|&threads| Point {
                    part: part.name.clone(),
                    contract: part.contract.clone(),
                    requests: part.requests.clone(),
                    rounds: options.rounds.unwrap_or(part.rounds),
                    load,
                    connection_use: ConnectionUse::default(),
                    published: (load != published).then_some(published),
                    warm_up_ns: part.warm_up.map_or(0, ns),
                    service_settings: ServiceSettings { delay_ms, ..ServiceSettings::of_threads(threads) },
                    link: link.clone(),
                    rows: rows.clone(),
                }));
            }
        }
    }
    points
}

impl Part {
    /// `THREADS` of the points, without duplicates. Options replace the whole axis, not a single number.
    fn threads_of_points(&self, options: &SequentialOptions, cpus: usize) -> Vec<usize> {
        let own = self.threads.as_slice();
        let mut threads: Vec<usize> = match options.threads.as_slice() {
            asked if !asked.is_empty() && own.len() > 1 => asked.to_vec(),
            _ => own.iter().map(|threads| threads.number(cpus)).collect(),
        };
        let mut seen = std::collections::BTreeSet::new();
        threads.retain(|threads| seen.insert(*threads));
        threads
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

impl LoadEntry {
    /// All loads of the entry, as published.
    fn specs(&self) -> Vec<LoadSpec> {
        match self {
            LoadEntry::Closed { connections, threads, duration, think } => {
                let (duration_ns, think_ns) =
                    (ns(*duration), think.map(|(least, most)| (ns(least), ns(most))));
                let of = |connections: usize, threads: usize| LoadSpec::Closed {
                    connections: connections.max(threads),
                    threads,
                    duration_ns,
                    think_ns,
                };
                let connections = connections.as_slice().iter();
                connections.flat_map(|&c| threads.as_slice().iter().map(move |&t| of(c, t))).collect()
            }
            LoadEntry::Open { per_second, connections, threads, duration } => {
                let (connections, threads, duration_ns) = (*connections, *threads, ns(*duration));
                let of = |&per_second: &f64| LoadSpec::Open {
                    rate: Rate::PerSecond(per_second),
                    connections,
                    threads,
                    duration_ns,
                };
                per_second.as_slice().iter().map(of).collect()
            }
            LoadEntry::Sessions { connections, calls } => {
                vec![LoadSpec::Sessions { connections: *connections, calls: *calls }]
            }
            LoadEntry::Batch { producers, messages } => {
                let of = |&messages: &u64| LoadSpec::Batch { producers: *producers, messages };
                messages.as_slice().iter().map(of).collect()
            }
        }
    }
}

fn ns(lasting: Lasting) -> u64 {
    super::interleaved::ns(lasting.0)
}

#[cfg(test)]
mod tests;
