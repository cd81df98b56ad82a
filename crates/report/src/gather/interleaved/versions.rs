//! Versions of one service: what each costs, and where that changed.

use tare_analysis::versions::{self, Version};
use tare_bench::folder::StoredRun;

use crate::{
    document::{Chart, Scale, Section, Shape, Unit},
    gather::{columns::Columns, words::with_interval},
};

const LEAD: &str = "Versions of one service, oldest first. All were measured in the same blocks, so no time lies between them. A change \
                    is a difference to the version before it that chance does not explain; of all changes that are shown \
                    together, one is wrong in at most 5% of runs.";

/// Absent of a run that compares no versions.
pub(super) fn section(kept: &StoredRun) -> Option<Section> {
    let found = versions::compute(kept)?;
    let columns = Columns::new()
        .text("label", "version", |version: &Version| version.label.clone())
        .of_first()
        .text("title", "what", |version| version.title.clone())
        .flag("is_change", "change", Version::is_change)
        .estimate(Unit::Change, "against_previous", "against the one before", |version| version.against_previous)
        .estimate(Unit::Change, "against_first", "against the first", |version| version.against_first)
        .number("p", "p", |version| version.p)
        .help("The probability of such a difference to the version before if there is none, adjusted for all versions (Holm).")
        .text("reason", "why not", |version| version.reason.clone());
    let alt = format!("{} of each version, as a multiple of the first, with intervals.", found.metric.name());
    let chart = Chart::new(Shape::Points, "against_first", "label", &alt).scales(Scale::Linear, Scale::Names);
    let title = format!("{} by version", found.metric.name());
    let table = columns.table("Versions, oldest first", found.all);
    Some(Section::new("versions", &title, LEAD, table).chart(chart.title("Against the first version")))
}

/// `CPU/request changed at shop@v3 (+8.1% (+6.9 .. +9.4%)), of 5 versions.`
pub(super) fn answer(kept: &StoredRun) -> Option<String> {
    let found = versions::compute(kept)?;
    let (name, count) = (found.metric.name(), found.all.len());
    let changes = found.all.iter().filter(|version| version.is_change());
    let said = |version: &Version| {
        let size = version.against_previous.as_ref().map(|ratio| with_interval(ratio, Unit::Change));
        format!("{} by {}", version.label, size.unwrap_or_default())
    };
    let changes: Vec<String> = changes.map(said).collect();
    Some(match changes.is_empty() {
        true => format!("No change of {name} is shown between {count} versions."),
        false => format!("{name} changed at {}, of {count} versions.", changes.join("; at ")),
    })
}

#[cfg(test)]
mod tests {
    use tare_bench::{fixture, plan::Plan};

    use super::*;

    fn kept(rates: &[f64]) -> StoredRun {
        let mut header = fixture::compared();
        header.plan = Plan { are_versions: true, ..fixture::plan(&["v1", "v2", "v3"]) };
        let records = (0..12).flat_map(|block| fixture::block(block, rates)).collect();
        StoredRun { header, records, damage: Vec::new(), in_progress: false }
    }

    #[test]
    fn the_answer_names_the_versions_at_which_it_changed() {
        let changed = answer(&kept(&[1.0, 1.0, 0.8])).unwrap();
        assert!(
            changed.starts_with("CPU/request changed at v3 by +2") && changed.ends_with("of 3 versions."),
            "{changed}"
        );
        assert_eq!(
            answer(&kept(&[1.0; 3])).unwrap(),
            "No change of CPU/request is shown between 3 versions."
        );
        assert!(section(&kept(&[1.0; 3])).unwrap().table.is_some());
    }
}
