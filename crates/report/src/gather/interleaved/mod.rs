//! A run of slices in blocks: ranks of services, and their basis. Each section, or a few, have a file.

mod added;
mod agents;
mod answer;
mod cores;
mod cost;
mod handshakes;
mod latency;
pub(crate) mod loads;
mod pairs;
mod parts;
pub(crate) mod ranks;
mod slices;
mod starts;
mod validity;
mod versions;
mod wire;

use std::path::Path;
use tare_base::units::several;

use tare_analysis::{
    figures,
    interleaved::{Report, added_costs, scalings},
    loads::AtLoad,
    versions::Versions,
};
use tare_bench::{
    folder::{StoredRun, about::About},
    plan::{Plan, PlannedRow, until::Until},
};

use super::{
    columns::Columns,
    environment,
    footprint::{self, Described},
    profiles, settings, why,
};
use crate::document::{Document, Fact, Kind, Section, Status};

pub(crate) fn document(stored: &StoredRun, loads: &[AtLoad], run: &Path) -> Document {
    let (first, report) = (stored.at_load(0), &loads[0].report);
    let of_versions = tare_analysis::versions::compute(&first);
    let mut document = Document {
        facts: facts(&first, report, About::read(run).ok().flatten().as_ref()),
        sections: sections(&first, report, of_versions.as_ref(), run),
        ..super::of_run(Kind::Interleaved, stored, &report.findings)
    };
    loads::enter(&mut document, loads, stored);
    let added = added_costs(&first, report);
    let of_protocols = added::answer(&added, &first).map(|said| loads::answer_at(loads, said));
    // After the ranks: in a run with several protocols these are the question.
    let behind_ranks = document.sections.len().min(1);
    document.sections.splice(behind_ranks..behind_ranks, added::section(added, &loads[0], loads.len() > 1));
    let scalings = scalings(&first, report);
    let of_cores = cores::answer(&scalings).map(|said| loads::answer_at(loads, said));
    document.sections.splice(behind_ranks..behind_ranks, cores::sections(&scalings));
    document.sections.extend(pairs::section(&first, &loads[0], loads.len() > 1));
    // In a comparison these stand before the ranks.
    if let Some((answer, sections)) = why::of_run(run).filter(|_| first.header.plan.are_versions) {
        document.facts.insert(0, Fact::new("Why", answer).brief());
        document.sections.splice(behind_ranks..behind_ranks, sections);
    }
    document.sections.extend(profiles::of_run(run).into_iter().flatten());
    let status = Status::of(report.ending, stored.in_progress);
    let answer::Answered { headline, cautions } = answer::answer(report);
    let ranked = || loads::answer_at(loads, headline);
    if let Some(found) = &of_versions {
        versions::rename(found, &mut document.sections);
    }
    let of_versions = of_versions.map(|found| versions::answer(&found, status));
    let said = of_versions.or(of_cores).or(of_protocols).unwrap_or_else(ranked);
    let said = said.so_far(status, &several(report.blocks, "block"));
    let said = match answer::wrong_answers(loads) {
        Some(wrong) => said.behind(wrong, ""),
        None => said,
    };
    document.cautions.extend(cautions);
    document.answered(said)
}

fn sections(stored: &StoredRun, report: &Report, of_versions: Option<&Versions>, run: &Path) -> Vec<Section> {
    let curves = latency::Curves::read(stored, run);
    let first = of_versions.map_or_else(|| ranks::section(stored, report), versions::section);
    let sections = vec![
        cost::section(report),
        cost::at_equal_rate(report),
        latency::curves(report, &curves),
        latency::against_load(report).brief(),
        slices::section(stored, report),
        starts::warm_up(stored, report),
        starts::memory(stored, report),
        starts::start_up(stored, report),
        of_footprint(report, run),
        wire::section(stored, report, run),
        validity::section(stored, report),
        validity::accounting(report),
    ];
    let last = [environment::section(&stored.header.environment, Vec::new())];
    let own = of_settings(report, run)
        .into_iter()
        .chain(validity::pairs(report))
        .chain(handshakes::section(stored));
    let before = [first].into_iter().chain(parts::section(report));
    gathered(before.chain(sections).chain(own).chain(last).collect())
}

const MISSING_LEAD: &str = "Figures that other runs have, and why this one has none.";

/// The sections with a table, and one section that lists the others: a run of an older tare, or a small one,
/// would have a heading and a sentence for each. Damaged sections stay in their places.
fn gathered(sections: Vec<Section>) -> Vec<Section> {
    let is_shown = |section: &Section| section.table.is_some() || !section.damage.is_empty();
    let (mut shown, missing): (Vec<Section>, Vec<Section>) = sections.into_iter().partition(is_shown);
    if !missing.is_empty() {
        let columns = Columns::new().text("what", "what", |section: &Section| section.title.clone()).text(
            "why",
            "why not",
            |section| section.notes.join("; "),
        );
        let table = columns.table("What is missing", missing);
        shown.push(Section::new("missing", "What this run does not show", MISSING_LEAD, table));
    }
    shown
}

fn of_settings(report: &Report, run: &Path) -> Option<Section> {
    let about = About::read(run).ok().flatten()?;
    settings::section(&about, report.rows.iter().map(|row| row.label.as_str()))
}

fn of_footprint(report: &Report, run: &Path) -> Section {
    let about = match About::read(run) {
        Ok(Some(about)) => about,
        Ok(None) => {
            return footprint::without(
                "this run did not keep the footprint of its services (\"about.json\")",
            );
        }
        Err(_) => {
            return footprint::without("the footprints of this run cannot be read: see what is damaged");
        }
    };
    let known = report.rows.iter().filter_map(|row| Some((row, about.aspects.get(&row.label)?)));
    let services: Vec<Described> = known
        .map(|(row, footprint)| Described {
            label: &row.label,
            language: &row.language,
            framework: &row.framework,
            version: row.version.as_deref(),
            licence: &footprint.licence.spdx,
            counted: footprint.into(),
            footprint: Some(footprint),
            profile: about.profiles.get(&row.label),
            ..Described::default()
        })
        .collect();
    match services.is_empty() {
        true => footprint::without(
            "it was not read: only services with a manifest have a footprint, and only a tare with the part \"import\" reads it",
        ),
        false => footprint::section(services),
    }
}

/// The facts for the head of the page.
fn facts(stored: &StoredRun, report: &Report, about: Option<&About>) -> Vec<Fact> {
    let plan = &stored.header.plan;
    let how = Status::of(report.ending, stored.in_progress).text();
    let took = report.elapsed_ns.map_or_else(|| how.to_owned(), |ns| figures::time(ns as f64));
    let ending = report.ending.map_or(String::new(), |ending| format!(": {}", ending.text()));
    let own = [
        Fact::new("Load", &report.load).brief(),
        Fact::new("Contract", plan.contract()),
        Fact::new("Reference", plan.reference.as_deref().unwrap_or("none")),
        Fact::new("Blocks", report.blocks.to_string()).brief(),
        Fact::new("Took", format!("{took}{ending}")).brief(),
    ];
    own.into_iter()
        .chain(ballast(plan))
        .chain(agents::fact(stored))
        .chain(environment::facts(stored, about, || words_of(plan)))
        .collect()
}

/// Every row with ballast, whether or not others are related to it.
fn ballast(plan: &Plan) -> Option<Fact> {
    let carried = |row: &PlannedRow| Some(format!("{} {}", row.label, figures::time(row.ballast_ns? as f64)));
    let rows: Vec<String> = plan.rows.iter().filter_map(carried).collect();
    let text = format!("{} in each request, which is in no figure", rows.join(", "));
    (!rows.is_empty()).then(|| Fact::new("Ballast", text))
}

/// The command as far as the plan determines it, without compared versions and searched services.
fn words_of(plan: &Plan) -> Option<Vec<String>> {
    if matches!(plan.until, Until::Gate(_) | Until::Search(_)) {
        return None;
    }
    let places = (0..plan.rows.len()).filter(|row| !plan.is_twin(&plan.rows[*row].label));
    let mut services: Vec<&str> = places.map(|row| plan.word(row)).collect();
    services.dedup();
    let mut words =
        vec!["run".to_owned(), plan.experiment.clone(), "--services".to_owned(), services.join(",")];
    if let Some(reference) = plan.rows.iter().position(|row| plan.is_reference(&row.label)) {
        words.extend(["--reference".to_owned(), plan.word(reference).to_owned()]);
    }
    Some(words)
}
