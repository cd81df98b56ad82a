//! The document of merged runs. The rest of this crate computes the figures; this module lays them out.
//!
//! A document does not depend on the places and the order of the runs, so that the same runs give the same
//! bytes on any machine.

mod answer;
mod machine_list;
mod ratios;
mod spread;

use std::path::PathBuf;

use tare_analysis::{
    checks::Check,
    history::comparable::{Difference, DifferenceWeight},
    verdict::Verdict,
};
use tare_base::units::several;
use tare_report::document::{Document, FORMAT, Fact, Kind, Section, Status};

use crate::{Identity, MergeError, Merged, bundle::FoundBundles};

/// Run folders, and folders of bundles, in one document.
///
/// # Errors
/// If there is no run, they belong to different experiments, or two different runs have one id.
pub fn machines(places: &[PathBuf]) -> Result<Document, MergeError> {
    let FoundBundles { bundles, left_out } = FoundBundles::read(places);
    if bundles.is_empty() {
        return Err(MergeError::Nothing { left_out });
    }
    Ok(document(&Merged::of(bundles)?, left_out))
}

/// The document of merged runs; `unread` has the reasons why others are not included, a sentence each.
fn document(merged: &Merged, unread: Vec<String>) -> Document {
    let plan = merged.runs[0].run.plan();
    let count = merged.counted().count();
    let tare_report::gather::words::Headline { said, basis } = answer::answer(merged);
    Document {
        format: FORMAT,
        kind: Kind::Machines,
        title: format!("{}, over {}", plan.title, several(count, "machine")),
        question: plan.question.clone(),
        answer: said,
        basis,
        began: merged.runs[0].run.stored.header.began.clone(),
        status: Status::Complete,
        damage: unread,
        cautions: cautions(merged),
        notes: notes(merged),
        facts: facts(merged),
        checks: vec![check(merged)],
        sections: sections(merged),
    }
}

fn sections(merged: &Merged) -> Vec<Section> {
    let mut sections = Vec::new();
    for (place, load) in merged.loads.iter().enumerate() {
        let of_load = |section: Section| match merged.loads.len() {
            1 => section,
            _ => Section { title: format!("{}, {}", section.title, load.label), ..section },
        };
        let suffix = if place == 0 { String::new() } else { format!("-{}", place + 1) };
        let of = [ratios::pooled(merged, load), ratios::each(merged, load)].into_iter();
        let of = of.chain(ratios::classes(merged, load)).chain(spread::heterogeneity(merged, load));
        let of = of.chain(spread::without(merged, load));
        sections
            .extend(of.map(of_load).map(|section| Section { id: section.id.clone() + &suffix, ..section }));
    }
    sections.push(machine_list::machines(merged));
    sections.push(machine_list::left_out(merged));
    sections.push(machine_list::runs(merged));
    sections.push(machine_list::agreement(merged));
    sections
}

/// Whether there is a result over machines at all.
fn check(merged: &Merged) -> Check {
    let (count, all) = (merged.counted().count(), merged.machines.len());
    let verdict = match count {
        0 => Verdict::Invalid,
        1 => Verdict::Inconclusive,
        _ => Verdict::Pass,
    };
    let text = match count {
        0 => format!("none of {} counts", several(all, "machine")),
        1 => format!("1 of {} counts, so nothing is pooled", several(all, "machine")),
        _ => format!("{count} of {} count", several(all, "machine")),
    };
    Check::new("machines", verdict, text)
}

/// Reasons to distrust all results over machines.
fn cautions(merged: &Merged) -> Vec<String> {
    match merged.counted().count() {
        0 => vec!["every machine is left out: there is no figure".to_owned()],
        1 => vec!["one machine counts: nothing is pooled, and nothing is known of others".to_owned()],
        _ => Vec::new(),
    }
}

fn notes(merged: &Merged) -> Vec<String> {
    let count = merged.counted().count();
    let mut notes = Vec::new();
    if count > 1 {
        notes.push(
            "ratios to the reference are pooled by random effects: an interval of 95% for the mean over machines such as these, by \
             Student's t with one degree of freedom less than there are machines. No absolute figure is pooled"
                .to_owned(),
        );
    }
    if count == 2 {
        notes.push(
            "two machines: their interval has one degree of freedom and is very wide, and where a third would lie is not known"
                .to_owned(),
        );
    }
    if merged.has_mixed_identities {
        notes.push(
            "some machines are known by the name that a job gave and others by what was read of them: one that has both kinds of \
             runs counts as two"
                .to_owned(),
        );
    }
    if merged.machines.iter().any(|machine| matches!(machine.identity, Identity::Hardware(_))) {
        notes.push(
            "some machines are known by their hardware alone: two of one kind count as one, which makes intervals wider".to_owned(),
        );
    }
    if merged.copies > 0 {
        notes
            .push(format!("{} of runs that were there already: each run counts once", copies(merged.copies)));
    }
    let shared = merged.runs.iter().filter(|run| !run.shared.is_empty());
    notes.extend(shared.map(|run| {
        format!("{}: its job did not have its CPUs for itself: {}", run.run.name, run.shared.join(", "))
    }));
    let is_told = |one: &&Difference| {
        !one.is_same && one.weight != DifferenceWeight::Machine && !OF_MACHINES.contains(&one.what)
    };
    let differs = merged.agreement.iter().filter(is_told);
    let names: Vec<String> = merged.runs.iter().map(|run| run.run.name.clone()).collect();
    notes.extend(differs.map(|one| format!("differs: {}", one.text_with(&names))));
    notes
}

/// Differences between machines that need no note, because the list of machines has them.
const OF_MACHINES: [&str; 4] = ["kernel release", "system", "governor", "system settings"];

fn copies(count: usize) -> String {
    if count == 1 { "1 copy".to_owned() } else { format!("{count} copies") }
}

fn facts(merged: &Merged) -> Vec<Fact> {
    let first = &merged.runs[0].run;
    let (counted, all) = (merged.counted().count(), merged.machines.len());
    let of_machines = match counted == all {
        true => several(all, "machine"),
        false => format!("{counted} of {all} count"),
    };
    let runs: usize = merged.counted().map(|machine| machine.counted.len()).sum();
    let blocks: usize = merged.counted().map(|machine| machine.blocks).sum();
    let mut versions: Vec<&str> = merged.runs.iter().map(|run| run.run.stored.header.tare.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    vec![
        Fact::new("Machines", of_machines).brief(),
        Fact::new("Classes", merged.classes().join(", ")),
        Fact::new(
            "Runs",
            format!("{runs} of {} count, with {}", merged.runs.len(), several(blocks, "block")),
        )
        .brief(),
        Fact::new("Load", first.report.load.as_str()),
        Fact::new("Contract", first.plan().contract()),
        Fact::new("Reference", first.plan().reference()),
        Fact::new("Tare", versions.join(", ")),
    ]
}

#[cfg(test)]
mod tests;
