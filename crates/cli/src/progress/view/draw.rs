//! A view in the cells of a terminal, however few: columns, rows and remarks that do not fit are left out.

use console::{Alignment, measure_text_width, pad_str};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::Widget,
};

use super::{Range, Row, Scale, Table, Tone, View};
use crate::progress::duration;

const GAP: usize = 2;
/// What marks the row that is at work, and its room where it is another.
const MARK: [&str; 2] = ["▶ ", "  "];
const NAME_MIN: usize = 8;
/// What most states need: a table whose columns move about is hard to read.
const STATE_MIN: usize = 10;
const STATE_MAX: usize = 30;
const RANGE_MIN: usize = 10;
const RANGE_MAX: usize = 40;
const REMARKS_MAX: usize = 3;
/// Title, place, and the head of the table.
const HEAD: usize = 3;

const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

impl View {
    /// How many lines it fills, of this many at most.
    pub fn height(&self, most: u16) -> u16 {
        let finding = usize::from(!self.finding.is_empty());
        let wanted = HEAD + finding + self.table.rows.len() + self.remarks.len().min(REMARKS_MAX);
        most.min(wanted.try_into().unwrap_or(most))
    }

    fn head(&self, width: usize) -> Vec<Line<'_>> {
        let times = format!("{}, about {} left", duration(self.elapsed), duration(self.left));
        let room = width.saturating_sub(measure_text_width(&times) + GAP);
        let first = match room >= NAME_MIN {
            true => vec![
                Span::styled(padded(&self.title, room, Alignment::Left), BOLD),
                Span::raw(" ".repeat(GAP)),
                Span::raw(times),
            ],
            false => vec![Span::raw(times)],
        };
        let rest = [&self.place, &self.finding].into_iter().filter(|text| !text.is_empty());
        let rest = rest.map(|text| Line::raw(fitted(text, width)));
        std::iter::once(Line::from(first)).chain(rest).collect()
    }
}

impl Widget for &View {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let mut lines = self.head(width);
        // Of a low terminal the table has the most.
        let remarks = self.remarks.len().min(REMARKS_MAX).min(height / 6);
        lines.extend(self.table.lines(width, height.saturating_sub(lines.len() + remarks)));
        for remark in &self.remarks[..remarks] {
            let word = Span::styled("warning: ", colour(Tone::Open));
            let room = width.saturating_sub(word.width());
            lines.push(Line::from(vec![word, Span::raw(fitted(remark, room))]));
        }
        for (y, line) in (area.y..area.bottom()).zip(&lines) {
            buffer.set_line(area.x, y, line, area.width);
        }
    }
}

/// Which columns there is room for, and how wide they are.
struct Shape {
    name: usize,
    /// Place and width.
    columns: Vec<(usize, usize)>,
    range: usize,
    state: usize,
}

impl Shape {
    fn of(table: &Table, width: usize) -> Shape {
        let mut shape = Shape::whole(table, width);
        // What can be done without, in that order: figures, then the state, then the range.
        let mut spare: Vec<usize> =
            (0..table.columns.len()).filter(|place| table.columns[*place].spare > 0).collect();
        spare.sort_by_key(|place| table.columns[*place].spare);
        let mut spare = spare.into_iter();
        let range_min = if table.scale.is_some() { GAP + RANGE_MIN } else { 0 };
        while shape.fixed() + range_min > width {
            match spare.next() {
                Some(place) => shape.columns.retain(|(column, _)| *column != place),
                None if shape.state > 0 => shape.state = 0,
                None => break,
            }
        }
        let room = width.saturating_sub(shape.fixed() + GAP);
        shape.range = if table.scale.is_some() && room >= RANGE_MIN { room.min(RANGE_MAX) } else { 0 };
        shape
    }

    fn whole(table: &Table, width: usize) -> Shape {
        let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(measure_text_width).max().unwrap_or(0);
        let with_figures = || table.rows.iter().filter(|row| !row.is_out);
        let column = |(place, column): (usize, &super::Column)| {
            let cells = with_figures().filter_map(|row| row.cells.get(place)).map(String::as_str);
            (place, widest(&mut cells.chain([column.title])))
        };
        let names = widest(&mut table.rows.iter().map(|row| row.name.as_str()).chain([table.name]));
        let states = widest(&mut with_figures().map(|row| row.state.as_str()));
        Shape {
            name: names.min((width / 3).max(NAME_MIN)),
            columns: table.columns.iter().enumerate().map(column).collect(),
            range: 0,
            state: states.clamp(STATE_MIN, STATE_MAX),
        }
    }

    /// All but the range.
    fn fixed(&self) -> usize {
        let columns: usize = self.columns.iter().map(|(_, width)| GAP + width).sum();
        let state = if self.state > 0 { GAP + self.state } else { 0 };
        MARK[0].chars().count() + self.name + columns + state
    }
}

impl Table {
    fn lines(&self, width: usize, room: usize) -> Vec<Line<'_>> {
        if room < 2 || self.rows.is_empty() {
            return Vec::new();
        }
        let shape = Shape::of(self, width);
        let (shown, hidden) = self.shown(room - 1);
        let mut lines = vec![self.header(&shape)];
        lines.extend(shown.into_iter().map(|row| self.line(row, &shape, width)));
        if hidden > 0 {
            lines.push(Line::styled(format!("{}and {hidden} more, not shown", MARK[1]), DIM));
        }
        lines
    }

    /// The most interesting rows in the order of the table, and how many are not among them.
    fn shown(&self, room: usize) -> (Vec<&Row>, usize) {
        if self.rows.len() <= room {
            return (self.rows.iter().collect(), 0);
        }
        // One line is for saying so.
        let room = room.saturating_sub(1);
        let mut places: Vec<usize> = (0..self.rows.len()).collect();
        places.sort_by_key(|place| std::cmp::Reverse(self.rows[*place].interest));
        places.truncate(room);
        places.sort_unstable();
        (places.into_iter().map(|place| &self.rows[place]).collect(), self.rows.len() - room)
    }

    fn header(&self, shape: &Shape) -> Line<'_> {
        let mut text = MARK[1].to_owned() + &padded(self.name, shape.name, Alignment::Left);
        for (place, width) in &shape.columns {
            text += &" ".repeat(GAP);
            text += &padded(self.columns[*place].title, *width, Alignment::Right);
        }
        if let Some(scale) = self.scale.as_ref().filter(|_| shape.range > 0) {
            let [left, right] = &scale.ends;
            let room = shape.range.saturating_sub(measure_text_width(left));
            text += &format!("{}{left}{}", " ".repeat(GAP), padded(right, room, Alignment::Right));
        }
        Line::styled(text, DIM)
    }

    fn line<'a>(&'a self, row: &'a Row, shape: &Shape, width: usize) -> Line<'a> {
        let name = padded(&row.name, shape.name, Alignment::Left);
        let name = match row.is_now {
            true => Span::styled(format!("{}{name}", MARK[0]), BOLD.fg(Color::Cyan)),
            false => Span::raw(format!("{}{name}", MARK[1])),
        };
        let room = width.saturating_sub(name.width() + GAP);
        let mut spans = vec![name];
        let gap = || Span::raw(" ".repeat(GAP));
        if row.is_out {
            spans.extend([gap(), Span::styled(fitted(&row.state, room), colour(row.tone))]);
            return Line::from(spans);
        }
        for (place, width) in &shape.columns {
            let text = row.cells.get(*place).map_or("", String::as_str);
            spans.extend([gap(), Span::raw(padded(text, *width, Alignment::Right))]);
        }
        if let Some(scale) = self.scale.as_ref().filter(|_| shape.range > 0) {
            spans.push(gap());
            spans.extend(range(row.range.as_ref(), scale, shape.range));
        }
        if shape.state > 0 {
            spans.extend([gap(), Span::styled(fitted(&row.state, shape.state), colour(row.tone))]);
        }
        Line::from(spans)
    }
}

/// `╌╌╌╌├──●──┤`: the length, the interval, the value; `○` for a value without an interval, `◂` and `▸` for an end that lies
/// beyond the scale.
fn range(range: Option<&Range>, scale: &Scale, width: usize) -> Vec<Span<'static>> {
    let mut cells = vec![(' ', Style::new()); width];
    let at = |value: f64| {
        let share = (value - scale.from) / (scale.to - scale.from);
        // What is no number stands at the left end.
        (share.clamp(0.0, 1.0) * (width - 1) as f64).round() as usize
    };
    if let Some(range) = range {
        range.marks.iter().for_each(|mark| cells[at(*mark)] = ('┊', DIM));
        let ends = range.interval.map(|(low, high)| (at(low), at(high)));
        let value = range.value.map(at);
        if scale.is_length {
            let until = ends.map(|(low, _)| low).or(value).unwrap_or(0);
            cells[..until].fill(('╌', DIM));
        }
        if let Some((low, high)) = ends.filter(|(low, high)| low < high) {
            cells[low..=high].fill(('─', colour(Tone::Good)));
            let beyond = range.interval.map(|(low, high)| (low < scale.from, high > scale.to));
            let (left, right) = beyond.unwrap_or_default();
            (cells[low].0, cells[high].0) = (if left { '◂' } else { '├' }, if right { '▸' } else { '┤' });
        }
        if let Some(value) = value {
            cells[value] = (if ends.is_some() { '●' } else { '○' }, Style::new().fg(Color::Cyan));
        }
    }
    cells.into_iter().map(|(symbol, style)| Span::styled(symbol.to_string(), style)).collect()
}

fn colour(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Good => Style::new().fg(Color::Green),
        Tone::Open => Style::new().fg(Color::Yellow),
        Tone::Bad => Style::new().fg(Color::Red),
    }
}

fn padded(text: &str, width: usize, to: Alignment) -> String {
    pad_str(&one_line(text), width, to, Some("…")).into_owned()
}

fn fitted(text: &str, width: usize) -> String {
    console::truncate_str(&one_line(text), width, "…").into_owned()
}

/// What services say may hold anything.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
