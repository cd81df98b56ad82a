//! A run: tiers of services, and what they are made of. A file for each section, or for a few of a kind.

mod answer;
mod aspects;
mod environment;
mod latency;
pub(crate) mod loads;
mod slices;
mod starts;
mod tiers;
mod validity;
mod wire;

use std::path::Path;

use tare_analysis::{checks, loads as analysis, report::Report};
use tare_bench::run::{about::About, folder::Kept};

use crate::document::{Document, FORMAT, Kind, Section, Status};

use super::lay::notes;

pub(crate) use answer::either;
pub(crate) use environment::{checkout, command, facts, machine, section as environment};

/// What is reported of a run, and of each of its loads.
pub(crate) fn of_loads(kept: &Kept, run: &Path) -> Document {
    let loads = analysis::compute(kept);
    let mut document = document(&kept.at_load(0), &loads[0].report, run);
    document.checks = analysis::checks(&loads);
    loads::enter(&mut document, &loads, kept);
    document
}

/// What is reported of one load.
pub(crate) fn document(kept: &Kept, report: &Report, run: &Path) -> Document {
    Document {
        format: FORMAT,
        kind: Kind::Interleaved,
        title: report.title.clone(),
        question: report.question.clone(),
        answer: answer::answer(report),
        began: report.began.clone(),
        status: Status::of(report.ending, kept.goes_on),
        damage: kept.damage.clone(),
        notes: notes(&report.findings),
        facts: facts(kept, report, About::read(run).ok().flatten().as_ref()),
        checks: checks::of_table(report),
        sections: sections(kept, report, run),
    }
}

/// The sections of any run of slices in blocks: that of a comparison too.
pub(crate) fn sections(kept: &Kept, report: &Report, run: &Path) -> Vec<Section> {
    let curves = latency::Curves::read(kept, run);
    let sections = vec![
        tiers::section(kept, report),
        tiers::cost::section(report),
        latency::curves(report, &curves),
        latency::against_load(report).brief(),
        slices::section(kept, report),
        starts::warm_up(kept, report),
        starts::memory(kept, report),
        starts::start_up(kept, report),
        aspects::section(report, run),
        wire::section(kept, report, run),
        validity::section(kept, report),
        validity::books(report),
    ];
    let last = validity::pairs(report).into_iter().chain([environment::section(&report.environment)]);
    super::missing::gathered(sections.into_iter().chain(last).collect())
}
