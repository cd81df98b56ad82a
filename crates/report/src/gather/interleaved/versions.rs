//! Versions of one service: the cost of each, and where it changed.

use tare_analysis::{
    figures::up_to,
    versions::{self, Version, Versions},
};
use tare_base::units::several;
use tare_bench::folder::StoredRun;

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

/// `None` for a run that compares no versions.
pub(super) fn section(stored: &StoredRun) -> Option<Section> {
    let found = versions::compute(stored)?;
    let names = Names::of(&found);
    let columns = Columns::new()
        .text("version", "version", |version: &Version| names.short(version).to_owned())
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
    let table = columns.table("Versions, oldest first", found.all);
    Some(Section::new("versions", &title, LEAD, table).chart(chart.title("Against the first version")))
}

/// The names of versions: the title has their common command.
struct Names {
    common: usize,
}

impl Names {
    fn of(found: &Versions) -> Names {
        let service = |version: &Version| Some(version.label.rsplit_once('@')?.0.to_owned());
        let first = found.all.first().and_then(service);
        let is_common = |common: &String| {
            common.contains(' ') && found.all.iter().all(|version| service(version).as_ref() == Some(common))
        };
        Names { common: first.filter(is_common).map_or(0, |common| common.len()) }
    }

    /// The short name, such as `@main~2` for `node server.js@main~2`.
    fn short<'v>(&self, version: &'v Version) -> &'v str {
        version.label.get(self.common..).unwrap_or(&version.label)
    }
}

/// `CPU/request changed at shop@v3 (+8.1% (+6.9 .. +9.4%)), of 5 versions.` Only a complete run with enough
/// blocks can say that no change is shown.
pub(super) fn answer(stored: &StoredRun, status: Status) -> Option<Headline> {
    let found = versions::compute(stored)?;
    let (name, count) = (found.metric.name(), found.all.len());
    let (names, changes) = (Names::of(&found), found.all.iter().filter(|version| version.is_change));
    let said = |version: &Version| {
        let size = version.against_previous.as_ref().map(|ratio| with_interval(ratio, Unit::Change));
        format!("{} by {}", names.short(version), size.unwrap_or_default())
    };
    let changes: Vec<String> = changes.map(said).collect();
    if let [only] = changes.as_slice() {
        return Some(format!("{name} changed at {only}, of {count} versions.").into());
    }
    if !changes.is_empty() {
        let said = format!("{name} changed at {} of {count} versions.", changes.len());
        return Some(Headline::new(said, format!("At {}.", changes.join("; at "))));
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
    Some(Headline::new(said, most))
}

#[cfg(test)]
mod tests {
    use tare_bench::{fixture, plan::Plan};

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

    #[test]
    fn a_long_command_is_said_once() {
        let mut run = kept(&[1.0, 1.0, 0.8]);
        for (row, revision) in run.header.plan.rows.iter_mut().zip(["main~2", "main~1", "main"]) {
            row.label = format!("node server.js --with many options@{revision}");
        }
        run.header.plan.reference = Some(run.header.plan.rows[0].label.clone());
        let table = section(&run).unwrap().table.unwrap();
        let named: Vec<&str> = table.values("version").filter_map(Value::text).collect();
        assert_eq!(named, ["@main~2", "@main~1", "@main"]);
        assert!(
            answer(&run, Status::Complete).unwrap().whole().starts_with("CPU/request changed at @main by +2")
        );
    }

    #[test]
    fn what_is_too_short_or_was_interrupted_shows_no_absence_of_change() {
        for blocks in 2..5 {
            let said = answer(&of_blocks(blocks, &[1.0; 3]), Status::Complete).unwrap().whole();
            let expected = format!(
                "Undecided after {blocks} blocks: whether CPU/request changed between 3 versions is not known. A change of up to "
            );
            assert!(said.starts_with(&expected), "{said}");
        }
        let one = answer(&of_blocks(1, &[1.0; 3]), Status::Complete).unwrap().whole();
        assert!(one.ends_with("is not known. Too little was measured for intervals."), "{one}");
        for status in [Status::Interrupted, Status::CutOff, Status::Running] {
            let said = answer(&kept(&[1.0; 3]), status).unwrap().whole();
            assert!(
                said.starts_with("Whether CPU/request changed between 3 versions is not known"),
                "{said}"
            );
        }
    }

    #[test]
    fn the_answer_names_the_versions_at_which_it_changed() {
        let changed = answer(&kept(&[1.0, 1.0, 0.8]), Status::Complete).unwrap().whole();
        assert!(
            changed.starts_with("CPU/request changed at v3 by +2") && changed.ends_with("of 3 versions."),
            "{changed}"
        );
        let same = answer(&kept(&[1.0; 3]), Status::Complete).unwrap().whole();
        assert!(
            same.starts_with("No change of CPU/request is shown between 3 versions. A change of up to "),
            "{same}"
        );
        assert!(section(&kept(&[1.0; 3])).unwrap().table.is_some());
    }
}
