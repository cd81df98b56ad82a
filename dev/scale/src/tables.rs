//! The tables of a page: each comes from a group of scenarios, and is between two marks.

use crate::{
    Outcome, Summary,
    column::Column,
    outcome::Spread,
    run,
    scenario::{Group, Scenarios},
    seconds,
    uncertainty::Alignment,
};

/// The name of the table of clocks, which has no group.
pub const CLOCKS: &str = "clocks";

/// Why tables cannot be placed in a page.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PageError {
    #[error("the page has no \"<!-- scale:{0} -->\" with an \"<!-- end -->\" behind it")]
    NoPlace(String),
    #[error("no group is called \"{0}\", which the page has a place for")]
    NoGroup(String),
}

fn show(column: Column, of: &Summary) -> String {
    let share = |value: fn(&Outcome) -> f64| percent(of.median(value));
    let count = |value: fn(&Outcome) -> f64| thousands(of.median(value));
    match column {
        Column::Makespan => makespan(of.spread(|outcome| seconds(outcome.makespan))),
        Column::Useful => share(|outcome| outcome.times.useful / outcome.machines.0),
        Column::Holding => share(|outcome| outcome.times.holding / outcome.machines.0),
        Column::Wasted => share(|outcome| outcome.times.wasted / outcome.machines.0),
        Column::Idle => share(|outcome| 1.0 - outcome.times.taken() / outcome.machines.0),
        Column::Dollars => format!("${}", thousands(of.median(|outcome| outcome.machines.1))),
        Column::Attempts => count(|outcome| outcome.attempts as f64),
        Column::Lost => count(|outcome| outcome.ends.lost as f64),
        Column::Copies => count(|outcome| outcome.copies as f64),
        Column::Duplicates => count(|outcome| outcome.ends.duplicates as f64),
        Column::Missing => count(|outcome| outcome.missing.len() as f64),
        Column::Refused => count(|outcome| outcome.refused as f64),
        Column::Placing => share(|outcome| outcome.placing.utilisation),
        Column::Link => share(|outcome| outcome.link.utilisation),
        Column::Checks => share(|outcome| outcome.checks.utilisation),
        Column::ChecksWaiting => count(|outcome| outcome.checks.waiting_most as f64),
        Column::ChecksWait => time(of.median(|outcome| outcome.checks.wait_p99_seconds)),
    }
}

/// All tables by name.
pub fn all(scenarios: &Scenarios) -> Vec<(String, String)> {
    let of_group = |group: &Group| (group.name.clone(), table(group, scenarios.seeds));
    let clocks = (CLOCKS.to_owned(), of_clocks(scenarios));
    scenarios.groups.iter().map(of_group).chain([clocks]).collect()
}

fn table(group: &Group, seeds: u64) -> String {
    let heads = group.columns.iter().map(|column| column.head());
    let mut rows = vec![std::iter::once(group.title.as_str()).chain(heads).map(str::to_owned).collect()];
    for (name, scenario) in &group.rows {
        let summary = Summary::new((0..seeds).map(|seed| run(scenario, seed)).collect());
        let cells = group.columns.iter().map(|column| show(*column, &summary));
        rows.push(std::iter::once(name.clone()).chain(cells).collect());
    }
    markdown(&rows)
}

fn of_clocks(scenarios: &Scenarios) -> String {
    let setting = &scenarios.clocks;
    let window = |window: &f64| format!("lost of {window} ms");
    let heads = ["generators", "clock known to", "first to last start"].map(str::to_owned);
    let mut rows: Vec<Vec<String>> =
        vec![heads.into_iter().chain(setting.windows_ms.iter().map(window)).collect()];
    for &generators in &setting.generators {
        let draws: Vec<Alignment> =
            (0..scenarios.seeds).map(|seed| Alignment::draw(setting, generators, seed)).collect();
        let median = |of: &dyn Fn(&Alignment) -> f64| {
            let mut values: Vec<f64> = draws.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let lost = setting.windows_ms.iter().map(|window| percent(median(&|of| of.lost_share(*window))));
        let own = [
            generators.to_string(),
            format!("{:.2} ms", median(&|of| of.uncertainty_us) / 1e3),
            format!("{:.1} ms", median(&|of| of.skew_us) / 1e3),
        ];
        rows.push(own.into_iter().chain(lost).collect());
    }
    markdown(&rows)
}

fn markdown(rows: &[Vec<String>]) -> String {
    let line = |cells: &Vec<String>| format!("| {} |\n", cells.join(" | "));
    let Some((head, rest)) = rows.split_first() else { return String::new() };
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    line(head) + &rule + &rest.iter().map(line).collect::<String>()
}

/// The page with these tables between its marks.
///
/// # Errors
/// A table without a place, or a place without a table.
pub fn fill_in(page: &str, tables: &[(String, String)]) -> Result<String, PageError> {
    const END: &str = "<!-- end -->";
    let mut filled = page.to_owned();
    for (name, table) in tables {
        let mark = format!("<!-- scale:{name} -->\n");
        let no_place = || PageError::NoPlace(name.clone());
        let begin = filled.find(&mark).ok_or_else(no_place)? + mark.len();
        let end = begin + filled[begin..].find(END).ok_or_else(no_place)?;
        filled.replace_range(begin..end, table);
    }
    let mut places = page.split("<!-- scale:").skip(1).filter_map(|rest| rest.split(" -->").next());
    match places.find(|place| !tables.iter().any(|(name, _)| name == place)) {
        Some(place) => Err(PageError::NoGroup(place.to_owned())),
        None => Ok(filled),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share + 0.0)
}

fn thousands(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 h 25 min (1 h 22 .. 1 h 31 min)`.
fn makespan(spread: Spread) -> String {
    let minutes = |seconds: f64| {
        let minutes = (seconds / 60.0).round() as u64;
        match (minutes / 60, minutes % 60) {
            (0, minutes) => minutes.to_string(),
            (hours, minutes) => format!("{hours} h {minutes:02}"),
        }
    };
    let Spread { median, least, most } = spread;
    format!("{} min ({} .. {} min)", minutes(median), minutes(least), minutes(most))
}

fn time(seconds: f64) -> String {
    match seconds {
        ..0.9995 => format!("{:.0} ms", 1e3 * seconds),
        ..119.5 => format!("{seconds:.1} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_between_their_marks() {
        let page = "a\n<!-- scale:one -->\nold\n<!-- end -->\nb\n<!-- scale:two -->\n<!-- end -->\n";
        let tables = [("one".to_owned(), "| new |\n".to_owned()), ("two".to_owned(), "| 2 |\n".to_owned())];
        let filled = fill_in(page, &tables).unwrap();
        let expected =
            "a\n<!-- scale:one -->\n| new |\n<!-- end -->\nb\n<!-- scale:two -->\n| 2 |\n<!-- end -->\n";
        assert_eq!(filled, expected);
        assert_eq!(fill_in(&filled, &tables).unwrap(), filled);
        assert_eq!(fill_in(page, &tables[..1]), Err(PageError::NoGroup("two".to_owned())));
        let none = [("three".to_owned(), String::new())];
        assert_eq!(fill_in("", &none), Err(PageError::NoPlace("three".to_owned())));
    }

    #[test]
    fn figures_are_written_as_people_read_them() {
        assert_eq!([0.0, 999.4, 12_345.0, 1e6].map(thousands), ["0", "999", "12,345", "1,000,000"]);
        assert_eq!([0.0004, 0.25, 3.04, 400.0].map(time), ["0 ms", "250 ms", "3.0 s", "7 min"]);
        let spread = Spread { median: 5100.0, least: 3000.0, most: 5460.0 };
        assert_eq!(makespan(spread), "1 h 25 min (50 .. 1 h 31 min)");
        assert_eq!(percent(0.1234), "12.3%");
    }
}
