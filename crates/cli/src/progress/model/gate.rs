//! The effects of a comparison, against the bounds from which on they are regressions.

use tare_analysis::{
    comparison::{self, Comparison, Figure},
    figures::{bytes, change, rate, time},
    verdict::{Question, Verdict},
};
use tare_bench::{folder::StoredRun, metric::Unit};

use crate::progress::view::{Column, Range, Row, Scale, Table, Tone};

/// As the last look made it: what lies between two looks decides nothing.
pub fn table(kept: &StoredRun) -> (Table, String, Vec<String>) {
    let Some(found) = comparison::compute(kept) else { return Default::default() };
    let columns = [("baseline", 2), ("candidate", 3), ("change", 0), ("interval", 5), ("bound", 4)];
    let table = Table {
        name: "metric",
        columns: columns.map(|(title, spare)| Column { title, spare }).into(),
        scale: Some(scale(&found)),
        rows: found.figures.iter().map(row).collect(),
    };
    let doubts = |figure: &Figure| -> Vec<String> {
        figure.doubts.iter().map(|doubt| format!("{}: {}", figure.name, doubt.scoped())).collect()
    };
    let doubts = found.figures.iter().filter(|figure| figure.ratio.is_some()).flat_map(doubts);
    let doubts = doubts.collect();
    (table, found.reason, doubts)
}

fn row(figure: &Figure) -> Row {
    let [name, verdict, baseline, candidate, change, interval, bound] = cells(figure);
    let state = if figure.decides && figure.verdict.is_none() { "no look yet".to_owned() } else { verdict };
    Row {
        name,
        cells: vec![baseline, candidate, change, interval, bound],
        range: figure.ratio.map(|ratio| Range {
            value: Some(ratio),
            interval: figure.low.zip(figure.high),
            marks: if figure.decides { vec![1.0, figure.bound] } else { vec![1.0] },
        }),
        state,
        tone: match figure.verdict {
            Some(Verdict::Pass) => Tone::Good,
            Some(Verdict::Fail) => Tone::Bad,
            _ => Tone::Plain,
        },
        ..Row::default()
    }
}

/// No change in the middle, and room for twice what matters or for all that is known of what decides.
fn scale(found: &Comparison) -> Scale {
    let deciding = found.figures.iter().filter(|figure| figure.decides);
    let ends = deciding.flat_map(|figure| [figure.low, figure.high, figure.ratio]);
    let reach = ends.flatten().fold(2.0 * found.delta, |reach, end| reach.max((end - 1.0).abs()));
    let (from, to) = (1.0 - reach, 1.0 + reach);
    Scale { from, to, ends: [change(from), change(to)], is_length: false }
}

/// The cells of a figure: name, verdict, baseline, candidate, change, its interval, and the bound where it decides.
fn cells(figure: &Figure) -> [String; 7] {
    let show = |value: Option<f64>| {
        value.map_or("-".to_owned(), |value| match figure.metric.unit() {
            Unit::PerSecond => format!("{}/s", rate(value)),
            Unit::Nanoseconds => time(value),
            Unit::Bytes => bytes(value),
            _ => value.to_string(),
        })
    };
    let interval = figure.low.zip(figure.high);
    let interval =
        interval.map_or("-".to_owned(), |(low, high)| format!("{} .. {}", change(low), change(high)));
    let more = figure.blocks_more.map(|blocks| format!(", about {blocks} blocks more")).unwrap_or_default();
    [
        format!("{}{}", figure.name, if figure.decides { " *" } else { "" }),
        figure.verdict.map_or(String::new(), |verdict| format!("{}{more}", verdict.word(Question::Gate))),
        show(figure.baseline),
        show(figure.candidate),
        figure.ratio.map_or("-".to_owned(), change),
        interval,
        if figure.decides { change(figure.bound) } else { String::new() },
    ]
}
