//! A site's summary of a run: enough for every page except the run's own. It is taken from the run's
//! document, so no page of a site can show a figure that the page of the run lacks.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tare_bench::folder::{self, about::About};

use super::{claim::SiteClaim, pair::ServicePair, row::SiteRow};
use tare_report::{
    Document,
    document::{Kind, Status},
    gather::{
        GatherError,
        merged::{self, MergedReader},
    },
    write::html,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEntry {
    /// The name of its folder in the site: `run/ID/`.
    pub id: String,
    /// The name of the experiment's file: runs with the same name form a series.
    pub experiment: String,
    pub kind: Kind,
    pub title: String,
    pub question: String,
    pub answer: String,
    /// When it began, RFC 3339, UTC.
    pub began: String,
    pub status: Status,
    /// The machine; figures of different machines are never compared without a note.
    pub machine: String,
    /// Reasons to distrust its figures, a sentence each.
    pub cautions: Vec<String>,
    /// Whether a part of its folder could not be read.
    pub is_damaged: bool,
    /// The reference of the ratios; empty without one.
    pub reference: String,
    /// The checked-out commit; absent outside of a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub rows: Vec<SiteRow>,
    pub claims: Vec<SiteClaim>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<ServicePair>,
}

impl RunEntry {
    /// The run in this folder, with the document for its own page.
    ///
    /// # Errors
    /// If it is no run folder, or cannot be read at all.
    pub fn read(run: &Path, id: &str, reader: MergedReader) -> Result<(RunEntry, Document), GatherError> {
        let document = reader.gather(run)?;
        let is_merged = merged::is_one(run);
        let header = if is_merged { (reader.header)(run) } else { folder::read_header(run).ok() };
        let machine = header.as_ref().map(|header| match is_merged {
            true => document.facts.first().map_or_else(String::new, |of_machines| of_machines.text.clone()),
            false => format!("{} CPUs ({})", header.environment.cpus, header.environment.cpu),
        });
        let plan = header.as_ref().map(|header| &header.plan);
        let experiment = plan.map_or_else(String::new, |plan| plan.experiment.clone());
        let reference = plan.and_then(|plan| plan.reference.clone()).unwrap_or_default();
        let entry = RunEntry {
            id: id.to_owned(),
            experiment: if experiment.is_empty() { "other".to_owned() } else { experiment },
            kind: document.kind,
            title: document.title.clone(),
            question: document.question.clone(),
            answer: document.answer.clone(),
            began: document.began.clone(),
            status: document.status,
            machine: machine.unwrap_or_default(),
            cautions: document.cautions.clone(),
            is_damaged: !document.damage.is_empty(),
            reference,
            commit: About::read(run).ok().flatten().and_then(|about| about.revision).map(|of| of.commit),
            rows: SiteRow::all(&document),
            claims: SiteClaim::all(&document),
            pairs: ServicePair::all(&document),
        };
        Ok((entry, document))
    }

    /// Whether the figures are sound: the run is complete and undamaged, and has no cautions.
    pub fn is_sound(&self) -> bool {
        self.status == Status::Complete && self.cautions.is_empty() && !self.is_damaged
    }

    /// The date of its start; a text that is no time is unchanged.
    pub fn day(&self) -> String {
        let began = self.began.parse::<jiff::Timestamp>();
        began.map_or_else(|_| self.began.clone(), |time| time.strftime("%-d %B %Y").to_string())
    }

    pub(crate) fn datetime(&self) -> String {
        html::datetime(&self.began)
    }

    /// Whether its services have a database, whose CPU time counts too.
    pub(crate) fn has_database(&self) -> bool {
        self.rows.iter().any(|row| row.total_cpu_ratio.is_some())
    }

    /// What services are compared by.
    pub(crate) fn cost_name(&self) -> &'static str {
        if self.has_database() { "CPU time per request with the database" } else { "CPU time per request" }
    }

    /// The row of the service of this name.
    pub fn row(&self, service: &str) -> Option<&SiteRow> {
        self.rows.iter().find(|row| row.service == service)
    }
}

/// A sound run with these rows, related to `raw-socket`.
#[cfg(test)]
pub(crate) fn run_of(rows: Vec<SiteRow>) -> RunEntry {
    RunEntry {
        id: "run".to_owned(),
        experiment: "all".to_owned(),
        kind: Kind::Interleaved,
        title: "All <of> them".to_owned(),
        question: String::new(),
        answer: String::new(),
        began: "2026-11-24T18:16:53Z".to_owned(),
        status: Status::Complete,
        machine: "2 CPUs".to_owned(),
        cautions: Vec::new(),
        is_damaged: false,
        reference: "raw-socket".to_owned(),
        commit: None,
        rows,
        claims: Vec::new(),
        pairs: Vec::new(),
    }
}

/// A row with a rank, and with this cost related to the reference.
#[cfg(test)]
pub(crate) fn row_of(service: &str, language: &str, cost: f64) -> SiteRow {
    SiteRow {
        service: service.to_owned(),
        language: language.to_owned(),
        ranks: Some([1, 2]),
        cpu_ratio: Some(super::RunFigure {
            value: cost,
            low: Some(cost * 0.9),
            high: Some(cost * 1.1),
            ..super::RunFigure::default()
        }),
        ..SiteRow::default()
    }
}
