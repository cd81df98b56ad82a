//! Versions of one service: the cost of each, and where it changed.

use tare_analysis::{
    figures::up_to,
    versions::{Version, Versions},
};
use tare_base::units::several;

use crate::{
    document::{Chart, Scale, Section, Shape, Status, Unit},
    gather::{
        columns::Columns,
        words::{Headline, with_interval},
    },
};

const LEAD: &str = "Versions of one service, oldest first. All were measured in the same blocks, so no time lies between them. A change \
                    is a difference to the version before it that chance does not explain; of all changes that are shown \
                    together, one is wrong in at most 5% of runs.";

pub(super) fn section(found: &Versions) -> Section {
    let columns = Columns::new()
        .text("version", "version", |version: &&Version| version.label.clone())
        .text("label", "row", |version| version.label.clone())
        .hidden()
        .of_first()
        .text("title", "what", |version| version.title.clone())
        .flag("is_change", "change", |version| version.is_change)
        .estimate(Unit::Change, "against_previous", "against the one before", |version| version.against_previous)
        .estimate(Unit::Change, "against_first", "against the first", |version| version.against_first)
        .add(Unit::Probability, "p", "p", |version| version.p)
        .help("The probability of such a difference to the version before if there is none, adjusted for all versions (Holm).")
        .text("reason", "why not", |version| version.reason.clone());
    let alt = format!("{} of each version, as a multiple of the first, with intervals.", found.metric.name());
    let chart =
        Chart::new(Shape::Points, "against_first", "version", &alt).scales(Scale::Linear, Scale::Names);
    let title = format!("{} by version", found.metric.name());
    let table = columns.table("Versions, oldest first", &found.all);
    Section::new("versions", &title, LEAD, table).chart(chart.title("Against the first version"))
}

/// The service before the `@` of a version.
fn service(label: &str) -> Option<&str> {
    Some(label.rsplit_once('@')?.0)
}

/// What people read of a version: of one service its revision alone, such as `main~2` for `node server.js@main~2`. The title of the
/// run has the service.
fn short<'v>(found: &Versions, label: &'v str) -> &'v str {
    let first = found.all.first().and_then(|version| service(&version.label));
    let is_one = first.is_some() && found.all.iter().all(|version| service(&version.label) == first);
    let revision = label.rsplit_once('@').filter(|(of, _)| is_one && Some(*of) == first);
    revision.map_or(label, |(_, revision)| revision)
}

/// Has all tables of the run show its versions so.
pub(super) fn rename(found: &Versions, sections: &mut [Section]) {
    for table in sections.iter_mut().filter_map(|section| section.table.as_mut()) {
        for key in ["version", "label"] {
            table.rename(key, |label| short(found, label).to_owned());
        }
    }
}

/// `CPU/request changed at v3 (+8.1% (+6.9 .. +9.4%)), of 5 versions.` Only a complete run with enough
/// blocks can say that no change is shown.
pub(super) fn answer(found: &Versions, status: Status) -> Headline {
    let (name, count) = (found.metric.name(), found.all.len());
    let changes = found.all.iter().filter(|version| version.is_change);
    let said = |version: &Version| {
        let size = version.against_previous.as_ref().map(|ratio| with_interval(ratio, Unit::Change));
        format!("{} by {}", short(found, &version.label), size.unwrap_or_default())
    };
    let changes: Vec<String> = changes.map(said).collect();
    if let [only] = changes.as_slice() {
        return format!("{name} changed at {only}, of {count} versions.").into();
    }
    if !changes.is_empty() {
        let said = format!("{name} changed at {} of {count} versions.", changes.len());
        return Headline::new(said, format!("At {}.", changes.join("; at ")));
    }
    let most = match found.change_most() {
        Some(most) => format!("A change of {} is not excluded.", up_to(most)),
        None => "Too little was measured for intervals.".to_owned(),
    };
    let said = match (status, found.is_too_short()) {
        (Status::Complete, false) => format!("No change of {name} is shown between {count} versions."),
        (Status::Complete, true) => {
            let blocks = several(found.blocks, "block");
            format!("Undecided after {blocks}: whether {name} changed between {count} versions is not known.")
        }
        _ => format!("Whether {name} changed between {count} versions is not known."),
    };
    Headline::new(said, most)
}

#[cfg(test)]
mod tests {
    use tare_analysis::versions::compute;
    use tare_bench::{fixture, folder::StoredRun, plan::Plan};

    use super::*;
    use crate::document::Value;

    fn kept(rates: &[f64]) -> StoredRun {
        of_blocks(12, rates)
    }

    fn of_blocks(blocks: usize, rates: &[f64]) -> StoredRun {
        let mut header = fixture::compared();
        header.plan = Plan { are_versions: true, ..fixture::plan(&["v1", "v2", "v3"]) };
        let records = (0..blocks).flat_map(|block| fixture::block(block, rates)).collect();
        StoredRun { header, records, damage: Vec::new(), in_progress: false }
    }

    fn said(run: &StoredRun, status: Status) -> String {
        answer(&compute(run).unwrap(), status).whole()
    }

    /// The versions as every table shows them.
    fn shown(run: &StoredRun) -> Vec<String> {
        let found = compute(run).unwrap();
        let mut sections = [section(&found)];
        rename(&found, &mut sections);
        let table = sections[0].table.as_ref().unwrap();
        let column = &table.columns[table.place("version").unwrap()];
        table.values("version").map(|value| column.show(value)).collect()
    }

    #[test]
    fn a_long_command_is_said_once() {
        let mut run = kept(&[1.0, 1.0, 0.8]);
        for (row, revision) in run.header.plan.rows.iter_mut().zip(["main~2", "main~1", "main"]) {
            row.label = format!("node server.js --with many options@{revision}");
        }
        run.header.plan.reference = Some(run.header.plan.rows[0].label.clone());
        assert_eq!(shown(&run), ["main~2", "main~1", "main"]);
        assert!(said(&run, Status::Complete).starts_with("CPU/request changed at main by +2"));
        let table = section(&compute(&run).unwrap()).table.unwrap();
        let label = "node server.js --with many options@main~2";
        assert_eq!(table.values("version").next().and_then(Value::text), Some(label), "the data keep it");
        run.header.plan.rows[1].label = "node other.js@main~1".to_owned();
        assert_eq!(shown(&run)[1], "node other.js@main~1", "another service is named");
    }

    #[test]
    fn what_is_too_short_or_was_interrupted_shows_no_absence_of_change() {
        for blocks in 2..5 {
            let found = said(&of_blocks(blocks, &[1.0; 3]), Status::Complete);
            let expected = format!(
                "Undecided after {blocks} blocks: whether CPU/request changed between 3 versions is not known. A change of up to "
            );
            assert!(found.starts_with(&expected), "{found}");
        }
        let one = said(&of_blocks(1, &[1.0; 3]), Status::Complete);
        assert!(one.ends_with("is not known. Too little was measured for intervals."), "{one}");
        for status in [Status::Interrupted, Status::CutOff, Status::Running] {
            let found = said(&kept(&[1.0; 3]), status);
            assert!(
                found.starts_with("Whether CPU/request changed between 3 versions is not known"),
                "{found}"
            );
        }
    }

    #[test]
    fn the_answer_names_the_versions_at_which_it_changed() {
        let changed = said(&kept(&[1.0, 1.0, 0.8]), Status::Complete);
        assert!(
            changed.starts_with("CPU/request changed at v3 by +2") && changed.ends_with("of 3 versions."),
            "{changed}"
        );
        let same = said(&kept(&[1.0; 3]), Status::Complete);
        assert!(
            same.starts_with("No change of CPU/request is shown between 3 versions. A change of up to "),
            "{same}"
        );
        assert!(section(&compute(&kept(&[1.0; 3])).unwrap()).table.is_some());
    }
}
