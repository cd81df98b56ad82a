//! All runs of a site, by experiment, service and language; everywhere the newest first.

use std::collections::{BTreeMap, BTreeSet};

use super::{address::Address, entry::RunEntry, pair::ServicePair, row::SiteRow};
use tare_report::document::Kind;

#[derive(Debug)]
pub(crate) struct Catalogue<'a> {
    /// The runs, the newest first.
    pub(crate) runs: Vec<&'a RunEntry>,
    pub(crate) experiments: BTreeMap<&'a str, ExperimentRuns<'a>>,
    pub(crate) services: BTreeMap<&'a str, Service<'a>>,
    /// The runs that measured two services in the same minutes, by their names in alphabetical order.
    pub(crate) pairs: BTreeMap<[&'a str; 2], Vec<PairRun<'a>>>,
    /// The services that are in pairs: those with ranks in the featured run first, in its order.
    pub(crate) paired: Vec<&'a str>,
}

pub(crate) type PairRun<'a> = (&'a RunEntry, &'a ServicePair);

#[derive(Debug, Clone)]
pub(crate) struct ExperimentRuns<'a> {
    pub(crate) name: &'a str,
    /// The runs, the newest first; at least one.
    pub(crate) runs: Vec<&'a RunEntry>,
}

/// A service, with its result in each experiment that has it.
#[derive(Debug, Clone)]
pub(crate) struct Service<'a> {
    pub(crate) name: &'a str,
    pub(crate) language: &'a str,
    pub(crate) framework: &'a str,
    pub(crate) version: &'a str,
    /// For each experiment, the run that represents it, and the service's row in that run.
    pub(crate) places: Vec<(&'a RunEntry, &'a SiteRow)>,
}

impl<'a> ExperimentRuns<'a> {
    /// The newest sound run, or the newest run if none is sound.
    pub(crate) fn speaker(&self) -> &'a RunEntry {
        self.runs.iter().find(|run| run.is_sound()).unwrap_or(&self.runs[0])
    }

    /// The runs on the machine of the representing run, the oldest first: a series needs one machine.
    pub(crate) fn series(&self) -> Vec<&'a RunEntry> {
        let machine = &self.speaker().machine;
        self.runs.iter().rev().copied().filter(|run| run.machine == *machine && run.is_sound()).collect()
    }
}

impl<'a> Catalogue<'a> {
    pub(crate) fn of(entries: &'a [RunEntry]) -> Catalogue<'a> {
        let mut runs: Vec<&RunEntry> = entries.iter().collect();
        runs.sort_by(|one, other| (&other.began, &one.id).cmp(&(&one.began, &other.id)));
        let mut experiments: BTreeMap<&str, ExperimentRuns<'_>> = BTreeMap::new();
        for run in &runs {
            let name = run.experiment.as_str();
            let new = || ExperimentRuns { name, runs: Vec::new() };
            experiments.entry(name).or_insert_with(new).runs.push(run);
        }
        let services = services(experiments.values());
        let pairs = pairs(experiments.values());
        let mut site = Catalogue { runs, experiments, services, pairs, paired: Vec::new() };
        site.paired = site.order();
        site
    }

    fn order(&self) -> Vec<&'a str> {
        let ranked = self.featured().into_iter().flat_map(|run| &run.rows).filter(|row| row.ranks.is_some());
        let is_paired: BTreeSet<&str> = self.pairs.keys().flatten().copied().collect();
        let ranked: Vec<&str> =
            ranked.map(|row| row.service.as_str()).filter(|name| is_paired.contains(name)).collect();
        let others = is_paired.into_iter().filter(|name| !ranked.contains(name)).collect::<Vec<_>>();
        [ranked, others].concat()
    }

    /// The services that are in a pair with this one, the nearest in that order first.
    pub(crate) fn neighbours(&self, name: &str) -> Vec<&'a str> {
        let Some(own) = self.paired.iter().position(|one| *one == name) else { return Vec::new() };
        let all = self.paired.iter().enumerate();
        let mut others: Vec<(usize, &str)> = all
            .filter(|(_, other)| match Address::pair(name, other) {
                Address::Pair(names) => self.pairs.contains_key(&names),
                _ => false,
            })
            .map(|(place, other)| (place.abs_diff(own), *other))
            .collect();
        others.sort_by_key(|(distance, _)| *distance);
        others.into_iter().map(|(_, other)| other).collect()
    }

    /// The run on the first page: of the sound experiments with ranks, the one with the most services.
    pub(crate) fn featured(&self) -> Option<&'a RunEntry> {
        let ranked = |run: &&RunEntry| run.rows.iter().filter(|row| row.ranks.is_some()).count();
        let speakers = self.experiments.values().map(ExperimentRuns::speaker);
        let candidates = speakers.filter(|run| run.kind == Kind::Interleaved && ranked(run) > 1);
        candidates.max_by_key(|run| (run.is_sound(), ranked(run)))
    }

    pub(crate) fn published(&self) -> impl Iterator<Item = &ExperimentRuns<'a>> {
        self.experiments.values().filter(|experiment| !experiment.speaker().claims.is_empty())
    }

    /// The services of each language; those with an unknown language last.
    pub(crate) fn languages(&self) -> BTreeMap<&'a str, Vec<&Service<'a>>> {
        let mut languages: BTreeMap<&str, Vec<&Service<'a>>> = BTreeMap::new();
        for service in self.services.values().filter(|service| !service.language.is_empty()) {
            languages.entry(service.language).or_default().push(service);
        }
        languages
    }
}

fn pairs<'a, 'b>(
    experiments: impl Iterator<Item = &'b ExperimentRuns<'a>>,
) -> BTreeMap<[&'a str; 2], Vec<PairRun<'a>>>
where
    'a: 'b,
{
    let mut pairs: BTreeMap<[&str; 2], Vec<PairRun<'a>>> = BTreeMap::new();
    for run in experiments.map(ExperimentRuns::speaker) {
        for pair in run.pairs.iter().filter(|pair| pair.first != pair.second) {
            // A service of this name would have the place of the choice of pairs.
            if let Address::Pair(names) = Address::pair(&pair.first, &pair.second)
                && names[0] != "index.html"
            {
                pairs.entry(names).or_default().push((run, pair));
            }
        }
    }
    pairs
}

fn services<'a, 'b>(
    experiments: impl Iterator<Item = &'b ExperimentRuns<'a>>,
) -> BTreeMap<&'a str, Service<'a>>
where
    'a: 'b,
{
    let mut services: BTreeMap<&str, Service<'a>> = BTreeMap::new();
    for run in experiments.map(ExperimentRuns::speaker) {
        for row in &run.rows {
            let new = || Service {
                name: &row.service,
                language: &row.language,
                framework: &row.framework,
                version: &row.version,
                places: Vec::new(),
            };
            let service = services.entry(&row.service).or_insert_with(new);
            if service.language.is_empty() {
                service.language = &row.language;
            }
            service.places.push((run, row));
        }
    }
    services
}
