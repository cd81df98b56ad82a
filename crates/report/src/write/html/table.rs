//! A table in the template's form: cells with their text, and the positions of bars.

use super::{MAIN_ROWS_MAX, TABLE_ROWS_MAX};
use crate::{
    document::{Column, Extra, Table, Tone, Unit, Value},
    write::layout::{ends, has_sentences, is_long},
};

/// The number of columns from which a table has no room for sentences beside its numbers: they get their own
/// line.
const CROWDED_COLUMNS_MIN: usize = 9;

#[derive(Debug)]
pub struct TableView<'a> {
    pub table: &'a Table,
    pub heads: Vec<ColumnHead<'a>>,
    /// `None` if the table is so long that the script makes it.
    pub rows: Option<Vec<RowView<'a>>>,
    /// Whether it is so wide that each column must be narrow.
    pub crowded: bool,
    /// Whether it is folded at first, because its charts are more useful.
    pub folded: bool,
    /// Whether it is its own chart: a column of it is drawn.
    pub drawn: bool,
    /// Whether each of its rows is a card on a phone.
    pub stacks: bool,
    /// The number of columns before the sentences of a row.
    pub tall: usize,
    /// Sentences about rows of a table that is its own chart.
    pub remarks: Vec<Remark<'a>>,
}

#[derive(Debug)]
pub struct ColumnHead<'a> {
    pub column: &'a Column,
    /// Its index among all columns, including hidden ones.
    pub place: usize,
    pub numeric: bool,
    pub classes: String,
    /// The scale of its track.
    pub ticks: Vec<Tick>,
}

impl<'a> ColumnHead<'a> {
    fn new(place: usize, column: &'a Column) -> ColumnHead<'a> {
        let numeric = column.unit.is_numeric();
        let classes = if numeric { "number".to_owned() } else { String::new() };
        ColumnHead { column, place, numeric, classes, ticks: Vec::new() }
    }

    /// The parts of its title between line-break opportunities: browsers do not break after a slash.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        self.column.title.split_inclusive('/')
    }
}

#[derive(Debug)]
pub struct RowView<'a> {
    /// The index of the row in the table.
    pub place: usize,
    /// Whether it is the reference, which has no rank.
    pub reference: bool,
    pub cells: Vec<Cell>,
    /// Sentences below it, each with the title of its column.
    pub said: Vec<(&'a str, &'a Value)>,
    /// The numbers of the remarks about it.
    pub marks: Vec<usize>,
}

#[derive(Debug)]
pub struct Cell {
    /// Whether it names its row.
    pub names: bool,
    pub numeric: bool,
    pub classes: String,
    /// Whether it also spans the sentences of its row, which are to its right.
    pub tall: bool,
    /// The ranks that its row may have.
    pub ranks: Option<RankBar>,
    pub text: String,
    /// The target of the text's link.
    pub link: Option<String>,
    pub value: String,
    /// The interval, such as `99.2% .. 104.7%`.
    pub interval: Option<String>,
    /// The interval as a tooltip, if there is no room for it.
    pub hint: Option<String>,
    /// The properties of its row, below its name: texts and their tones.
    pub below: Vec<(String, &'static str)>,
    /// The colour of a verdict; empty for other values.
    pub tone: &'static str,
    pub bar: Option<Bar>,
    pub track: Option<Track>,
}

/// The ranks that a row may have, as a bar on 1..N, in percent of its width.
#[derive(Debug)]
pub struct RankBar {
    pub start: f64,
    pub width: f64,
    /// N, the number of ranks.
    pub all: usize,
}

/// A place on the scale of a track, in percent of its width.
#[derive(Debug)]
pub struct Tick {
    pub at: f64,
    pub text: String,
}

impl Tick {
    /// Texts at the ends of a scale stay within it, on the narrowest track too.
    pub fn anchor(&self) -> &'static str {
        const HALF_LETTER: f64 = 2.7;
        let half = HALF_LETTER * self.text.chars().count() as f64;
        match self.at {
            at if at < half => "start",
            at if at > 100.0 - half => "end",
            _ => "middle",
        }
    }
}

/// A sentence about some rows, below the table: its number is a mark at each of them.
#[derive(Debug)]
pub struct Remark<'a> {
    pub number: usize,
    pub title: &'a str,
    pub text: &'a str,
    /// The names of its rows.
    pub rows: Vec<&'a str>,
}

/// A bar, in percent of the width of its cell.
#[derive(Debug)]
pub struct Bar {
    pub width: f64,
    /// The position of 1.
    pub one: f64,
    /// Start and width of the whisker.
    pub whisker: Option<(f64, f64)>,
}

/// A point on a track, in percent of its width.
#[derive(Debug)]
pub struct Track {
    pub at: f64,
    /// The position of what makes no difference: 1, or 0.
    pub one: f64,
    /// Start and width of the interval.
    pub interval: Option<(f64, f64)>,
}

impl<'a> TableView<'a> {
    /// The main table of a page, and any table with many columns, shows filter values below the name of a
    /// row: columns of words would leave no room for numbers. Sentences are below such a row too.
    pub fn new(table: &'a Table, folded: bool, main: bool) -> TableView<'a> {
        TableView::within(table, folded, main, if main { MAIN_ROWS_MAX } else { TABLE_ROWS_MAX })
    }

    /// The same with all of its rows, for a page without a script.
    pub fn whole(table: &'a Table, main: bool) -> TableView<'a> {
        TableView::within(table, false, main, usize::MAX)
    }

    fn within(table: &'a Table, folded: bool, main: bool, rows_max: usize) -> TableView<'a> {
        let short = table.rows.len() <= rows_max;
        let mut heads = heads(table);
        let name = heads
            .iter()
            .find(|head| head.column.unit == Unit::Text && head.column.key != RANKS)
            .map(|head| head.place);
        let drawn = short && heads.iter().any(|head| head.column.track);
        if drawn {
            heads.iter_mut().for_each(|head| head.classes = classes(table, head, name));
        }
        let is_crowded = |heads: &[ColumnHead<'_>]| {
            let shown = heads.iter().filter(|head| !drawn || !is_extra(table, head));
            short && shown.count() >= CROWDED_COLUMNS_MIN
        };
        let crowded = is_crowded(&heads);
        let compact = crowded || drawn;
        let is_below = |head: &ColumnHead<'_>| {
            let has_room = !short || !(main || compact);
            !has_room && head.column.facet && head.column.unit == Unit::Text && Some(head.place) != name
        };
        let below = heads.iter().filter(|head| is_below(head)).map(|head| head.place);
        let below: Vec<usize> = below.filter(|place| !main || !table.is_alike(*place)).collect();
        heads.retain(|head| !is_below(head));
        let is_said =
            |head: &ColumnHead<'_>| compact && Some(head.place) != name && has_sentences(table, head.place);
        let said: Vec<usize> = heads.iter().filter(|head| is_said(head)).map(|head| head.place).collect();
        heads.retain(|head| !said.contains(&head.place));
        // Words below names do not crowd a table.
        let crowded = match short {
            true if drawn => is_crowded(&heads),
            true => crowded,
            false => heads.len() >= CROWDED_COLUMNS_MIN,
        };
        let beside = Beside { name, below, said, tall: tall(&heads, name) };
        for head in &mut heads {
            head.ticks = Drawing::of(table, head).ticks(head.column);
        }
        let mut rows = short.then(|| rows(table, &heads, &beside));
        let remarks = match &mut rows {
            Some(rows) if drawn => remarks(table, rows, name),
            _ => Vec::new(),
        };
        let folded = rows.is_none() || (folded && table.rows.len() > 3);
        TableView {
            table,
            heads,
            rows,
            crowded,
            folded,
            drawn,
            stacks: main && short && !drawn,
            tall: beside.tall,
            remarks,
        }
    }

    /// Adds links to texts, if `link` returns a target for a text of a column.
    pub fn link(&mut self, link: &impl Fn(&str, &str) -> Option<String>) {
        for row in self.rows.iter_mut().flatten() {
            for (cell, head) in row.cells.iter_mut().zip(&self.heads) {
                cell.link = link(&head.column.key, &cell.text).or(cell.link.take());
            }
        }
    }

    pub fn class(&self) -> String {
        let classes = [("crowded", self.crowded), ("drawn", self.drawn), ("stacks", self.stacks)];
        classes.into_iter().filter(|(_, is_so)| *is_so).map(|(class, _)| class).collect::<Vec<_>>().join(" ")
    }

    /// Whether it has further columns to show.
    pub fn has_extra(&self) -> bool {
        self.drawn && self.heads.iter().any(|head| is_extra(self.table, head))
    }

    pub fn count(&self) -> usize {
        self.table.rows.len()
    }

    pub fn has_help(&self) -> bool {
        self.heads.iter().any(|head| !head.column.help.is_empty())
    }
}

/// The columns that have any value.
fn heads(table: &Table) -> Vec<ColumnHead<'_>> {
    let columns = table.columns.iter().enumerate();
    let shown = columns.filter(|(place, column)| !column.hidden && !table.is_unknown(*place));
    shown.map(|(place, column)| ColumnHead::new(place, column)).collect()
}

/// Classes for a table that is its own chart: which columns a phone shows, and which only on request.
fn classes(table: &Table, head: &ColumnHead<'_>, name: Option<usize>) -> String {
    let number = head.numeric.then_some("number");
    let core = (Some(head.place) == name || head.column.track || head.column.key == RANKS).then_some("core");
    let extra = is_extra(table, head).then_some("extra");
    let all: Vec<&str> = [number, core, extra].into_iter().flatten().collect();
    all.join(" ")
}

fn is_extra(table: &Table, head: &ColumnHead<'_>) -> bool {
    match head.column.extra {
        Extra::Never => false,
        Extra::Always => true,
        Extra::IfAlike => table.is_alike(head.place),
    }
}

/// Name and ranks also span the sentences of their row.
fn tall(heads: &[ColumnHead<'_>], name: Option<usize>) -> usize {
    let begins = |heads: &[ColumnHead<'_>]| match heads {
        [first, second, ..] => Some(first.place) == name && second.column.key == RANKS,
        _ => false,
    };
    if begins(heads) { 2 } else { 0 }
}

/// Indices of columns that are not ordinary cells.
struct Beside {
    name: Option<usize>,
    below: Vec<usize>,
    said: Vec<usize>,
    tall: usize,
}

const RANKS: &str = "ranks";

fn is_flagged(table: &Table, row: &[Value], key: &str) -> bool {
    table.place(key).and_then(|place| row.get(place)) == Some(&Value::Flag(true))
}

fn rows<'a>(table: &'a Table, heads: &[ColumnHead<'_>], beside: &Beside) -> Vec<RowView<'a>> {
    let drawings: Vec<Drawing> = heads.iter().map(|head| Drawing::of(table, head)).collect();
    let view = |place: usize| {
        let row = &table.rows[place];
        let reference = is_flagged(table, row, "is_reference");
        let said = beside.said.iter().filter_map(|place| {
            let value = row.get(*place).filter(|value| value.sentences().next().is_some())?;
            Some((table.columns[*place].title.as_str(), value))
        });
        let said: Vec<(&str, &Value)> = said.collect();
        let cells = heads.iter().zip(&drawings).enumerate().map(|(at, (head, drawing))| {
            let cell = cell(table, place, head, drawing, beside);
            Cell { tall: at < beside.tall && !said.is_empty(), ..cell }
        });
        RowView { place, reference, cells: cells.collect(), said, marks: Vec::new() }
    };
    let views: Vec<RowView> = (0..table.rows.len()).map(view).collect();
    let (mut first, others): (Vec<RowView>, Vec<RowView>) = views.into_iter().partition(|row| row.reference);
    first.extend(others);
    first
}

fn cell(table: &Table, place: usize, head: &ColumnHead<'_>, drawing: &Drawing, beside: &Beside) -> Cell {
    let row = &table.rows[place];
    let cell = Cell::new(table, row, head, drawing);
    if Some(head.place) == beside.name {
        let below = beside.below.iter().filter_map(|place| {
            let value = row.get(*place)?;
            // Measured is the normal state of a row, and is not shown.
            let column = &table.columns[*place];
            let is_told = column.key != "state" || value.tone() != Tone::Plain;
            value.text().filter(|_| is_told)?;
            Some((column.show(value), value.tone().name()))
        });
        return Cell { names: true, below: below.collect(), ..cell };
    }
    if head.column.key != RANKS || cell.value.is_empty() {
        return cell;
    }
    // The reference has no place among the rows that are compared with it.
    if is_flagged(table, row, "is_reference") {
        return Cell { text: String::new(), ..cell };
    }
    Cell { ranks: rank_bar(table, row), ..cell }
}

fn rank_bar(table: &Table, row: &[Value]) -> Option<RankBar> {
    let all = table.values("rank_worst").filter_map(Value::number).fold(0.0, f64::max);
    let of = |key: &str| row.get(table.place(key)?)?.number();
    let (best, worst) = (of("rank_best")?, of("rank_worst")?);
    let percent = |ranks: f64| ranks / all * 100.0;
    Some(RankBar { start: percent(best - 1.0), width: percent(worst - best + 1.0), all: all as usize })
}

/// Moves the sentences of rows with a drawn figure below the table: each once, with the names of its rows.
fn remarks<'a>(table: &'a Table, rows: &mut [RowView<'a>], name: Option<usize>) -> Vec<Remark<'a>> {
    let mut remarks: Vec<Remark<'a>> = Vec::new();
    for row in rows.iter_mut().filter(|row| row.cells.iter().any(|cell| cell.track.is_some())) {
        let label = name.and_then(|place| table.rows[row.place].get(place)?.text()).unwrap_or_default();
        for (title, text) in
            row.said.drain(..).flat_map(|(title, value)| value.sentences().map(move |one| (title, one)))
        {
            let known = remarks.iter_mut().find(|remark| (remark.title, remark.text) == (title, text));
            let number = match known {
                Some(remark) => {
                    remark.rows.push(label);
                    remark.number
                }
                None => {
                    let number = remarks.len() + 1;
                    remarks.push(Remark { number, title, text, rows: vec![label] });
                    number
                }
            };
            row.marks.push(number);
        }
        row.cells.iter_mut().for_each(|cell| cell.tall = false);
    }
    remarks
}

/// How a column is drawn, and its range.
enum Drawing {
    /// The column is not drawn.
    None,
    /// Bars from 0 to this number.
    Bars(f64),
    /// Points between these places of a track.
    Track(f64, f64),
}

/// The margin of a track beyond its outermost points, as a share of it.
const TRACK_MARGIN: f64 = 0.04;

impl Drawing {
    fn of(table: &Table, head: &ColumnHead<'_>) -> Drawing {
        let mut keys = vec![head.column.key.as_str()];
        keys.extend(head.column.interval.iter().flatten().map(String::as_str));
        let numbers = || keys.iter().flat_map(|key| table.values(key)).filter_map(Value::number);
        let is_drawn =
            || table.columns.iter().enumerate().any(|(at, one)| one.track && !table.is_unknown(at));
        match head.column {
            column if column.track => {
                let places = || numbers().filter_map(|number| column.on_track(number));
                let (low, high) = (places().fold(0.0, f64::min), places().fold(0.0, f64::max));
                let margin =
                    (high - low).max(if column.unit == Unit::Nanoseconds { 1.0 } else { 0.1 }) * TRACK_MARGIN;
                Drawing::Track(low - margin, high + margin)
            }
            // One drawn column is enough.
            column if column.bar && !is_drawn() => Drawing::Bars(numbers().fold(1.0, f64::max)),
            _ => Drawing::None,
        }
    }

    /// Round numbers on a track, far enough from each other for their texts.
    fn ticks(&self, column: &Column) -> Vec<Tick> {
        const APART_MIN: f64 = 11.0;
        let Drawing::Track(low, high) = *self else { return Vec::new() };
        let round = |decade: i32| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(decade));
        let (numbers, text): (Vec<f64>, fn(f64) -> String) = match column.unit {
            Unit::Times => {
                ((-3..6).flat_map(round).collect(), |number| format!("{}x", (number * 1e3).round() / 1e3))
            }
            Unit::Nanoseconds => {
                let steps: Vec<f64> = (0..12).flat_map(round).collect();
                let step = steps.into_iter().find(|step| (high - low) / step <= 5.0).unwrap_or(high - low);
                let from = (low / step).ceil() as i64;
                ((from..from + 6).map(|count| count as f64 * step).collect(), |number| {
                    Unit::Nanoseconds.show(number)
                })
            }
            _ => return Vec::new(),
        };
        let places = numbers.into_iter().filter_map(|number| Some((number, column.on_track(number)?)));
        let inside = places.filter(|(_, place)| (low..=high).contains(place));
        let mut ticks: Vec<Tick> =
            inside.map(|(number, place)| Tick { at: self.percent(place), text: text(number) }).collect();
        // What makes no difference keeps its tick; others give way to it, and then to their neighbours.
        let one = self.percent(0.0);
        let mut kept: Vec<f64> =
            ticks.iter().map(|tick| tick.at).filter(|at| (at - one).abs() < 1e-9).collect();
        ticks.retain(|tick| {
            let is_free = kept.iter().all(|at| (at - tick.at).abs() >= APART_MIN);
            if is_free {
                kept.push(tick.at);
            }
            is_free || (tick.at - one).abs() < 1e-9
        });
        ticks
    }

    /// For a track, of a place on it.
    fn percent(&self, number: f64) -> f64 {
        let share = match self {
            Drawing::None => 0.0,
            Drawing::Bars(full) => number / full,
            Drawing::Track(low, high) => (number - low) / (high - low),
        };
        (share * 100.0).clamp(0.0, 100.0)
    }
}

impl Cell {
    fn new(table: &Table, row: &[Value], head: &ColumnHead<'_>, drawing: &Drawing) -> Self {
        let (column, value) = (head.column, row.get(head.place).unwrap_or(&Value::None));
        let ends = ends(table, row, head.place);
        let is_track = matches!(drawing, Drawing::Track(..));
        let percent = |number: f64| match is_track {
            true => column.on_track(number).map_or(0.0, |place| drawing.percent(place)),
            false => drawing.percent(number),
        };
        let whisker = ends.map(|(low, high)| (percent(low), percent(high) - percent(low)));
        let bar = |number: f64| Bar { width: percent(number), one: percent(1.0), whisker };
        let track = |number: f64| Track { at: percent(number), one: drawing.percent(0.0), interval: whisker };
        let interval = ends.map(|(low, high)| column.unit.show_interval(low, high));
        Cell {
            names: false,
            tall: false,
            ranks: None,
            below: Vec::new(),
            tone: value.tone().name(),
            numeric: head.numeric,
            classes: head.classes.clone(),
            text: column.show(value),
            link: table.link(row, head.place).map(str::to_owned),
            value: value.raw(),
            interval: interval.clone().filter(|_| column.has_interval_beside()),
            hint: interval.filter(|_| !column.has_interval_beside()),
            bar: value.number().filter(|_| matches!(drawing, Drawing::Bars(_))).map(bar),
            track: value.number().filter(|_| is_track).map(track),
        }
    }

    /// `rank 3-4 of 12`.
    pub fn rank(&self) -> String {
        let of = self.ranks.as_ref().map_or(String::new(), |ranks| format!(" of {}", ranks.all));
        format!("rank {}{of}", self.text)
    }

    /// Whether it may not fit, so that the full text is a tooltip.
    pub fn is_long(&self) -> bool {
        is_long(&self.text)
    }
}
