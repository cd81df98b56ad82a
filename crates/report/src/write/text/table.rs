//! A table as lines of text: columns side by side, as many as fit. Columns that must not be dropped and do
//! not fit are in a second table below, and so on.

use super::{TextLook, track::RatioTrack, width_of};
use crate::{
    document::{ALWAYS, Tone, Value},
    write::layout::{Layout, cell, interval},
};

const GAP: &str = "  ";
const BAR: usize = 12;
/// The priority of bars. A bar only repeats the figure beside it, so narrow terminals drop it early.
const BAR_PRIORITY: u8 = 25;
/// The priority of the bars of ranks, which repeat the ranks beside them.
const RANKS_PRIORITY: u8 = 50;
/// The priority of tracks. A track also shows the interval, so it is kept longer than its figures.
const TRACK_PRIORITY: u8 = 88;

/// A table without the remarks below it.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) head: String,
    pub(crate) rows: Vec<String>,
    /// The width of the widest line.
    pub(crate) width: usize,
    /// The parts that did not fit.
    pub(crate) without: Vec<Missing>,
    /// Indices of columns that must be shown, but do not fit here.
    rest: Vec<usize>,
}

/// A part that a narrow table drops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missing {
    Figure(String),
    /// The interval of a figure that is shown.
    Interval(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Bar,
    Track,
    Figure,
    Interval,
    /// The ranks that a row may have, as a bar on 1..N.
    Ranks,
}

/// A column of text: a figure, its picture or its interval.
struct Strip {
    /// The index of the table column.
    place: usize,
    what: What,
    head: String,
    cells: Vec<(String, Tone)>,
    width: usize,
    is_right: bool,
    /// The priority; the smallest is dropped first.
    priority: u8,
}

/// The table in its full width, or as much as fits, with further parts below it.
pub(crate) fn draw_all(layout: &Layout, look: TextLook) -> Vec<Drawn> {
    let mut parts = vec![draw(layout, &layout.columns, look)];
    while let Some(last) = parts.last_mut() {
        let columns: Vec<usize> = layout.name.into_iter().chain(last.rest.iter().copied()).collect();
        let rest = std::mem::take(&mut last.rest);
        // Words are shown with the figures or not at all.
        let has_figures = rest.iter().any(|place| layout.column(*place).unit.is_numeric());
        let next = (!rest.is_empty()).then(|| draw(layout, &columns, look));
        match next {
            None => break,
            // Each part shows at least one new column.
            Some(next) if has_figures && next.rest.len() < rest.len() => parts.push(next),
            Some(_) => {
                let titles = rest.iter().map(|place| layout.column(*place).title.clone());
                last.without.extend(titles.map(Missing::Figure));
                break;
            }
        }
    }
    parts
}

/// Draws these columns of the table, as many as fit.
pub(crate) fn draw(layout: &Layout, columns: &[usize], look: TextLook) -> Drawn {
    let strips = columns.iter().flat_map(|place| of_column(layout, *place, look)).collect();
    let (mut strips, gone) = fit(strips, look.width);
    widen(&mut strips, layout, look);
    let mut rest: Vec<usize> = gone
        .iter()
        .filter(|strip| strip.what == What::Figure && strip.priority == ALWAYS)
        .map(|strip| strip.place)
        .collect();
    rest.sort_unstable();
    let without = gone.iter().filter(|strip| !rest.contains(&strip.place)).filter_map(|strip| {
        let title = layout.column(strip.place).title.clone();
        match strip.what {
            What::Bar | What::Track | What::Ranks => None,
            What::Figure => Some(Missing::Figure(title)),
            What::Interval => Some(Missing::Interval(title)),
        }
    });
    let without = without.collect();
    let row = |row: usize| {
        let is_dim = look.colours && layout.is_reference(&layout.table.rows[row]);
        let own = if is_dim { TextLook { colours: false, ..look } } else { look };
        let line =
            joined(strips.iter().enumerate().map(|(at, strip)| strip.cell(row, widths(&strips, at), own)));
        if is_dim { look.paint("2", &line) } else { line }
    };
    let rows = (0..layout.table.rows.len()).map(row).collect();
    Drawn { head: head(&strips), rows, width: total(&strips), without, rest }
}

/// The header without colours: the caller may colour it.
fn head(strips: &[Strip]) -> String {
    let of = |(at, strip): (usize, &Strip)| match strip.what {
        // The header of a figure extends over its track.
        What::Track => " ".repeat(strip.width.saturating_sub(overhang(strips, at + 1))),
        _ => {
            let width =
                widths(strips, at) + if strip.what == What::Figure { overhang(strips, at) } else { 0 };
            strip.padded(&strip.head, &strip.head, width)
        }
    };
    joined(strips.iter().enumerate().map(of))
}

/// How far the header of a figure extends over the track before it.
fn overhang(strips: &[Strip], at: usize) -> usize {
    let before = at.checked_sub(1).and_then(|before| strips.get(before));
    let own = strips.get(at);
    own.zip(before)
        .filter(|(own, before)| before.what == What::Track && before.place == own.place)
        .map_or(0, |(own, before)| width_of(&own.head).saturating_sub(own.width).min(before.width))
}

fn widths(strips: &[Strip], at: usize) -> usize {
    let strip = &strips[at];
    strip.width.max(width_of(&strip.head) - overhang(strips, at))
}

fn total(strips: &[Strip]) -> usize {
    let all: usize = (0..strips.len()).map(|at| widths(strips, at) + GAP.len()).sum();
    all.saturating_sub(GAP.len())
}

/// Gives the remaining width to a track.
fn widen(strips: &mut [Strip], layout: &Layout, look: TextLook) {
    let Some(width) = look.width else { return };
    let room = width.saturating_sub(total(strips));
    if let Some(strip) = strips.iter_mut().find(|strip| strip.what == What::Track) {
        let wide = (strip.width + room).clamp(strip.width, RatioTrack::MOST);
        if let Some(track) = RatioTrack::of(layout, strip.place, look) {
            (strip.cells, strip.width) = (track.cells(wide), wide);
        }
    }
}

/// Lines with equal numbers of cells, in columns as wide as their widest cell. Columns from `right_from` on
/// are numbers, and are right-aligned.
#[must_use]
pub fn aligned(lines: &[Vec<String>], right_from: usize) -> Vec<String> {
    let strip = |place: usize| {
        let cells = lines.iter().map(|line| (line[place].clone(), Tone::Plain));
        let strip = Strip::new((place, What::Figure), "", cells.collect(), ALWAYS);
        Strip { is_right: place >= right_from, ..strip }
    };
    let strips: Vec<Strip> = (0..lines.first().map_or(0, Vec::len)).map(strip).collect();
    let line =
        |line: usize| joined(strips.iter().map(|strip| strip.cell(line, strip.width, TextLook::default())));
    (0..lines.len()).map(line).collect()
}

/// A figure with its picture before it, and after it its interval or the bar of its ranks.
fn of_column(layout: &Layout, place: usize, look: TextLook) -> Vec<Strip> {
    let (table, column) = (layout.table, layout.column(place));
    let own = |row: &Vec<Value>| row.get(place).map_or(Tone::Plain, Value::tone);
    let figures = table.rows.iter().map(|row| (cell(table, row, place), own(row)));
    let figure = Strip::new((place, What::Figure), &column.title, figures.collect(), column.priority);
    let figure = Strip { is_right: column.unit.is_numeric(), ..figure };
    let bar = column.bar.then(|| {
        let number = |row: &Vec<Value>| row.get(place).and_then(Value::number);
        let bars = table
            .rows
            .iter()
            .map(|row| (number(row).map_or(String::new(), |ratio| bar(ratio, look)), Tone::Plain));
        let strip = Strip::new((place, What::Bar), "", bars.collect(), BAR_PRIORITY);
        Strip { width: BAR, is_right: false, ..strip }
    });
    let track = RatioTrack::of(layout, place, look).map(|track| {
        let width = RatioTrack::least(look);
        let strip = Strip::new((place, What::Track), "", track.cells(width), TRACK_PRIORITY);
        Strip { width, is_right: false, ..strip }
    });
    let intervals: Vec<Option<String>> = table.rows.iter().map(|row| interval(table, row, place)).collect();
    let interval = intervals.iter().any(Option::is_some).then(|| {
        let cells = intervals.into_iter().map(|text| (text.unwrap_or_else(|| "-".to_owned()), Tone::Plain));
        let what = (place, What::Interval);
        Strip::new(what, "95% interval", cells.collect(), column.interval_priority)
    });
    let ranks = (column.key == "ranks").then(|| layout.ranks()).flatten().map(|ranks| {
        let bars = rank_bars(&ranks, look).into_iter().map(|bar| (bar, Tone::Plain)).collect();
        Strip { is_right: false, ..Strip::new((place, What::Ranks), "", bars, RANKS_PRIORITY) }
    });
    bar.into_iter().chain(track).chain([figure]).chain(interval).chain(ranks).collect()
}

/// Bars on 1..N, a character for a rank, or for several if there are many: `   ━━━━    `.
fn rank_bars(ranks: &[Option<[usize; 2]>], look: TextLook) -> Vec<String> {
    const WIDTH_MAX: usize = 20;
    let all = ranks.iter().flatten().map(|[_, worst]| *worst).max().unwrap_or(1);
    let width = all.min(WIDTH_MAX);
    let (covered, free) = if look.ascii { ("=", ".") } else { ("━", "·") };
    let place = |rank: usize| (rank - 1) * width / all;
    let bar = |[best, worst]: [usize; 2]| {
        let (from, to) = (place(best), place(worst) + 1);
        free.repeat(from) + &covered.repeat(to - from) + &free.repeat(width - to)
    };
    ranks.iter().map(|ranks| ranks.map_or(String::new(), bar)).collect()
}

/// Drops the least important strips until the rest fits; of two with equal priority the right one is dropped.
fn fit(mut strips: Vec<Strip>, width: Option<usize>) -> (Vec<Strip>, Vec<Strip>) {
    let mut gone = Vec::new();
    while strips.len() > 1 && width.is_some_and(|width| total(&strips) > width) {
        // The first strip names the rows, and is kept.
        let spare = strips.iter().enumerate().skip(1);
        let least = spare.min_by_key(|(at, strip)| (strip.priority, usize::MAX - at)).map_or(1, |(at, _)| at);
        let (place, what) = (strips[least].place, strips[least].what);
        let is_whole =
            strips[least].priority == ALWAYS && strips[1..].iter().any(|strip| strip.place != place);
        if what == What::Figure || is_whole {
            // Without its figure, a picture or an interval would seem to belong to its neighbour.
            let is_of_it = |strip: &mut Strip| strip.place == place;
            gone.extend(strips.extract_if(1.., is_of_it).filter(|strip| strip.what == What::Figure));
        } else {
            gone.push(strips.remove(least));
        }
    }
    (strips, gone)
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
}

/// A bar for a ratio from 0 to 1, in eighths of a column; a larger ratio ends in an arrow.
fn bar(ratio: f64, look: TextLook) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let is_more = ratio > 1.0 + 0.5 / (8 * BAR) as f64;
    if look.ascii {
        let cells = ((ratio * BAR as f64).round() as usize).clamp(1, BAR);
        return if is_more { "#".repeat(BAR - 1) + ">" } else { "#".repeat(cells) };
    }
    if is_more {
        return "█".repeat(BAR - 1) + "▶";
    }
    let eighths = ((ratio * (8 * BAR) as f64).round() as usize).clamp(1, 8 * BAR);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

impl Strip {
    fn new((place, what): (usize, What), head: &str, cells: Vec<(String, Tone)>, priority: u8) -> Strip {
        let width = cells.iter().map(|(text, _)| width_of(text)).max().unwrap_or(0);
        Strip { place, what, head: head.to_owned(), cells, width, is_right: true, priority }
    }

    fn cell(&self, row: usize, width: usize, look: TextLook) -> String {
        let (text, tone) = &self.cells[row];
        let painted = match self.what {
            What::Bar | What::Track | What::Ranks => look.paint("36", text),
            _ => look.tone(*tone, text),
        };
        self.padded(text, &painted, width)
    }

    /// Pads `painted`, which is `text` in a colour, to this width.
    fn padded(&self, text: &str, painted: &str, width: usize) -> String {
        let padding = " ".repeat(width.saturating_sub(width_of(text)));
        if self.is_right { padding + painted } else { painted.to_owned() + &padding }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_ratio() {
        let in_utf8 = |ratio| bar(ratio, TextLook::default());
        assert_eq!(in_utf8(1.0), "████████████");
        assert_eq!([in_utf8(0.5), in_utf8(0.0), in_utf8(0.26)], ["██████", "▏", "███▏"]);
        assert_eq!(in_utf8(1.3), "███████████▶");
        let in_ascii = |ratio| bar(ratio, TextLook { ascii: true, ..TextLook::default() });
        assert_eq!([in_ascii(1.3), in_ascii(0.5), in_ascii(0.0)], ["###########>", "######", "#"]);
    }
}
