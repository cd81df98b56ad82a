//! A table as lines of text: columns side by side, as many as there is room for.

use super::{Look, width_of};
use crate::{
    document::{ALWAYS, Tone, Value},
    write::layout::{Layout, cell, interval},
};

const GAP: &str = "  ";
const BAR: usize = 12;
/// A bar is a picture of the figure beside it: what a narrow terminal keeps it for.
const BAR_PRIORITY: u8 = 25;

/// A table without what stands below it.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) head: String,
    pub(crate) rows: Vec<String>,
    /// Titles of what there was no room for.
    pub(crate) without: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Bar,
    Figure,
    Interval,
}

/// A column of text: a figure, its bar or its interval.
struct Strip {
    /// Of the column that it belongs to.
    place: usize,
    what: What,
    head: String,
    cells: Vec<(String, Tone)>,
    width: usize,
    is_right: bool,
    /// The smallest goes first.
    priority: u8,
}

/// The table in its whole width, or in as much as fits.
pub(crate) fn draw(layout: &Layout, look: Look) -> Drawn {
    let strips = layout.columns.iter().flat_map(|place| of_column(layout, *place)).collect();
    let (strips, gone) = fit(strips, look.width);
    let without = gone.iter().filter_map(|strip| {
        let title = &layout.column(strip.place).title;
        match strip.what {
            What::Bar => None,
            What::Figure => Some(title.clone()),
            What::Interval => Some(format!("{} of {title}", strip.head)),
        }
    });
    let row = |row: usize| joined(strips.iter().map(|strip| strip.cell(row, look)));
    Drawn {
        head: joined(strips.iter().map(|strip| strip.padded(&strip.head, &strip.head))),
        rows: (0..layout.table.rows.len()).map(row).collect(),
        without: without.collect(),
    }
}

/// Lines of as many cells each, in columns as wide as their widest cell. Those from `right_from` on are numbers, which are
/// pushed to the right.
#[must_use]
pub fn aligned(lines: &[Vec<String>], right_from: usize) -> Vec<String> {
    let strip = |place: usize| {
        let cells = lines.iter().map(|line| (line[place].clone(), Tone::Plain));
        let strip = Strip::new((place, What::Figure), "", cells.collect(), ALWAYS);
        Strip { is_right: place >= right_from, ..strip }
    };
    let strips: Vec<Strip> = (0..lines.first().map_or(0, Vec::len)).map(strip).collect();
    let line = |line: usize| joined(strips.iter().map(|strip| strip.cell(line, Look::default())));
    (0..lines.len()).map(line).collect()
}

/// A figure, before it its bar, behind it its interval.
fn of_column(layout: &Layout, place: usize) -> Vec<Strip> {
    let (table, column) = (layout.table, layout.column(place));
    let own = |row: &Vec<Value>| row.get(place).map_or(Tone::Plain, Value::tone);
    let figures = table.rows.iter().map(|row| (cell(table, row, place), own(row)));
    let figure = Strip::new((place, What::Figure), &column.title, figures.collect(), column.priority);
    let figure = Strip { is_right: column.unit.is_numeric(), ..figure };
    let bar = column.bar.then(|| {
        let number = |row: &Vec<Value>| row.get(place).and_then(Value::number);
        let bars = table.rows.iter().map(|row| (number(row).map_or(String::new(), bar), Tone::Plain));
        let strip = Strip::new((place, What::Bar), "", bars.collect(), BAR_PRIORITY);
        Strip { width: BAR, is_right: false, ..strip }
    });
    let intervals: Vec<Option<String>> = table.rows.iter().map(|row| interval(table, row, place)).collect();
    let interval = intervals.iter().any(Option::is_some).then(|| {
        let cells = intervals.into_iter().map(|text| (text.unwrap_or_else(|| "-".to_owned()), Tone::Plain));
        let what = (place, What::Interval);
        Strip::new(what, "95% interval", cells.collect(), column.interval_priority)
    });
    bar.into_iter().chain([figure]).chain(interval).collect()
}

/// Does without what is least important until the rest fits; of two that are alike the one on the right goes.
fn fit(mut strips: Vec<Strip>, width: Option<usize>) -> (Vec<Strip>, Vec<Strip>) {
    let mut gone = Vec::new();
    let total = |strips: &[Strip]| {
        strips.iter().map(|strip| strip.width + GAP.len()).sum::<usize>().saturating_sub(GAP.len())
    };
    while strips.len() > 1 && width.is_some_and(|width| total(&strips) > width) {
        // The first one names the rows.
        let spare = strips.iter().enumerate().skip(1);
        let least = spare.min_by_key(|(at, strip)| (strip.priority, usize::MAX - at)).map_or(1, |(at, _)| at);
        let least = strips.remove(least);
        if least.what == What::Figure {
            // A bar or an interval of nothing would be read as its neighbour's.
            strips.retain(|strip| strip.place != least.place);
        }
        gone.push(least);
    }
    (strips, gone)
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
}

/// A bar for a ratio of 0 to 1, in eighths of a column; what is more than 1 ends in an arrow.
fn bar(ratio: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if ratio > 1.0 + 0.5 / (8 * BAR) as f64 {
        return "█".repeat(BAR - 1) + "▶";
    }
    let eighths = ((ratio * (8 * BAR) as f64).round() as usize).clamp(1, 8 * BAR);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

impl Strip {
    fn new((place, what): (usize, What), head: &str, cells: Vec<(String, Tone)>, priority: u8) -> Strip {
        let width = cells.iter().map(|(text, _)| width_of(text)).fold(width_of(head), usize::max);
        Strip { place, what, head: head.to_owned(), cells, width, is_right: true, priority }
    }

    fn cell(&self, row: usize, look: Look) -> String {
        let (text, tone) = &self.cells[row];
        let painted = if self.what == What::Bar { look.paint("36", text) } else { look.tone(*tone, text) };
        self.padded(text, &painted)
    }

    /// `painted`, which is `text` in a colour, in the width of the column.
    fn padded(&self, text: &str, painted: &str) -> String {
        let padding = " ".repeat(self.width.saturating_sub(width_of(text)));
        if self.is_right { padding + painted } else { painted.to_owned() + &padding }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_ratio() {
        assert_eq!(bar(1.0), "████████████");
        assert_eq!([bar(0.5), bar(0.0), bar(0.26)], ["██████", "▏", "███▏"]);
        assert_eq!(bar(1.3), "███████████▶");
    }
}
