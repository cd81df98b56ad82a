//! All runs of a site, by experiment, by service and by language. Newest first, everywhere.

use std::collections::BTreeMap;

use super::{entry::RunEntry, row::Row};
use crate::document::Kind;

#[derive(Debug)]
pub(crate) struct Catalogue<'a> {
    /// Newest first.
    pub(crate) runs: Vec<&'a RunEntry>,
    pub(crate) experiments: BTreeMap<&'a str, ExperimentRuns<'a>>,
    pub(crate) services: BTreeMap<&'a str, Service<'a>>,
}

/// The runs of one experiment.
#[derive(Debug, Clone)]
pub(crate) struct ExperimentRuns<'a> {
    pub(crate) name: &'a str,
    /// Newest first; there is one at least.
    pub(crate) runs: Vec<&'a RunEntry>,
}

/// A service, and how it did in each experiment that has it.
#[derive(Debug, Clone)]
pub(crate) struct Service<'a> {
    pub(crate) name: &'a str,
    pub(crate) language: &'a str,
    pub(crate) framework: &'a str,
    pub(crate) version: &'a str,
    /// The run that speaks for the experiment, and the service's row of it.
    pub(crate) places: Vec<(&'a RunEntry, &'a Row)>,
}

impl<'a> ExperimentRuns<'a> {
    /// The newest run that is stood behind, or the newest one where there is none.
    pub(crate) fn speaker(&self) -> &'a RunEntry {
        self.runs.iter().find(|run| run.is_sound()).unwrap_or(&self.runs[0])
    }

    /// Its runs on the machine of the one that speaks for it, the oldest first: figures of two machines are no series.
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
        Catalogue { runs, experiments, services }
    }

    /// What is shown first: of the experiments that have ranks the one with the most services, of those that are stood behind.
    pub(crate) fn featured(&self) -> Option<&'a RunEntry> {
        let ranked = |run: &&RunEntry| run.rows.iter().filter(|row| row.ranks.is_some()).count();
        let speakers = self.experiments.values().map(ExperimentRuns::speaker);
        let candidates = speakers.filter(|run| run.kind == Kind::Interleaved && ranked(run) > 1);
        candidates.max_by_key(|run| (run.is_sound(), ranked(run)))
    }

    /// The experiments that something was published of.
    pub(crate) fn published(&self) -> impl Iterator<Item = &ExperimentRuns<'a>> {
        self.experiments.values().filter(|experiment| !experiment.speaker().claims.is_empty())
    }

    /// The services of each language, those of which it is not known last.
    pub(crate) fn languages(&self) -> BTreeMap<&'a str, Vec<&Service<'a>>> {
        let mut languages: BTreeMap<&str, Vec<&Service<'a>>> = BTreeMap::new();
        for service in self.services.values().filter(|service| !service.language.is_empty()) {
            languages.entry(service.language).or_default().push(service);
        }
        languages
    }
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
