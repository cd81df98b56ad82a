//! Text for a terminal. A command prints the short form at its end: the answer, the main tables, and the
//! notes needed to interpret them. The long form has every section.
//!
//! A table does not exceed the given width: it drops the columns with the lowest declared priority, and names
//! them. Sentences are wrapped. Colours are ANSI sequences; the caller strips them if there is no terminal.

mod table;
mod track;

use std::fmt::Write as _;

use super::{Document, ROWS_MAX, Section, layout::Layout, status, visible};
use crate::document::{Fact, Kind, SectionLevel, Table, Tone, Value};
use tare_base::units::several;

pub use table::aligned;
use table::{Drawn, Missing, draw, draw_all};

/// The longest line of a sentence, however wide the screen is.
const SENTENCE_MAX: usize = 140;
const INDENT: usize = 4;

/// The properties of the output.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextLook {
    /// The width of the terminal in columns; tables in a file have their natural width.
    pub width: Option<usize>,
    pub colours: bool,
    /// Whether to draw with ASCII characters only.
    pub ascii: bool,
}

impl TextLook {
    /// `text` in an ANSI colour, such as `1` (bold) or `31` (red).
    pub fn paint(self, code: &str, text: &str) -> String {
        match self.colours && !code.is_empty() && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    fn tone(self, tone: Tone, text: &str) -> String {
        self.paint(tone.ansi(), text)
    }

    /// Wraps text to the width; later lines are aligned with the text of the first.
    fn wrapped(self, head: &str, text: &str) -> String {
        // In a file a sentence is one line, so that it can be searched for.
        let width = self.width.map_or(usize::MAX, |width| width.clamp(20, SENTENCE_MAX));
        // After a long head, an aligned text would be a narrow column.
        let indent = if width_of(head) <= width / 3 { width_of(head) } else { INDENT };
        let (mut out, mut used) = (String::new(), width_of(head));
        let text = visible(text);
        for word in &words(&text) {
            let is_first = out.is_empty();
            let room = used + usize::from(!is_first) + width_of(word);
            if !is_first && room > width {
                let _ = write!(out, "\n{:indent$}{word}", "");
                used = indent + width_of(word);
            } else {
                out += if is_first { "" } else { " " };
                out += word;
                used = room;
            }
        }
        out + "\n"
    }
}

/// The words of a text. An interval counts as one word: `0.852 .. 1.137`.
fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match out.last_mut() {
            Some(last) if word == ".." || last.ends_with(" ..") => *last += &format!(" {word}"),
            _ => out.push(word.to_owned()),
        }
    }
    out
}

/// The width of a text on a terminal, in columns.
pub fn width_of(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// The answer, the sections of the short form, and all findings.
#[must_use]
pub fn brief(document: &Document, look: TextLook) -> String {
    if document.kind == Kind::Comparison {
        return compared(document, look);
    }
    let mut out = head(document, look, |fact| fact.brief);
    for part in document.sections.iter().enumerate().filter(|(place, part)| *place == 0 || part.brief) {
        out += &format!("\n{}", part_of(part.1, look, part.0 > 0));
    }
    out + &findings(document, look)
}

/// The most lines of a comparison, but for remarks about its metrics.
const COMPARED_LINES_MAX: usize = 25;

/// A comparison in few lines: who is compared, the verdict, and a table of few columns.
fn compared(document: &Document, look: TextLook) -> String {
    let mut out = head(document, look, |fact| fact.brief);
    for (place, section) in document.sections.iter().enumerate() {
        let is_shown = (place == 0 && section.level() == SectionLevel::Result)
            || (section.brief && section.level() == SectionLevel::Result && section.id != "ranks");
        if !is_shown {
            continue;
        }
        let table = section.table.as_ref().map(|of| if place == 0 { digest(of) } else { of.clone() });
        out += &format!("\n{}", part_of(&Section { table, ..section.clone() }, look, place > 0));
    }
    let damage = document.damage.iter().map(|text| ("31", "damaged: ", text));
    let notes = document.notes.iter().map(|text| ("33", "note: ", text));
    let lines = damage.chain(notes).map(|(code, word, text)| said_of_run(code, word, text, look));
    let (mut below, mut left_out) = (String::new(), 0);
    for line in lines {
        // Two lines are the blank one above, and the last one.
        let used = out.lines().count() + below.lines().count() + 2;
        match left_out == 0 && used + line.lines().count() <= COMPARED_LINES_MAX {
            true => below += &line,
            false => left_out += 1,
        }
    }
    let more = match left_out {
        0 => "`tare show --long` prints all of it".to_owned(),
        count => {
            format!("{} on how it was measured: `tare show --long` prints all", several(count, "more note"))
        }
    };
    out + "\n" + &below + &look.paint("2", look.wrapped("", &more).trim_end()) + "\n"
}

/// The columns for few words, if some are marked.
fn digest(table: &Table) -> Table {
    let mut table = table.clone();
    for column in &mut table.columns {
        column.hidden |= !column.digest;
    }
    table
}

/// Repeats the answer on a terminal, where tables have moved the first one out of sight. A file begins with
/// it.
#[must_use]
pub fn closing(document: &Document, look: TextLook) -> String {
    match look.width {
        Some(_) if !document.answer.is_empty() && document.kind != Kind::Comparison => {
            format!("\n{}", look.wrapped("", &document.answer))
        }
        _ => String::new(),
    }
}

/// The whole document, except for tables with many rows, which the other formats have.
#[must_use]
pub fn whole(document: &Document, look: TextLook) -> String {
    let mut out = head(document, look, |_| true);
    out += &findings(document, look);
    for part in &document.sections {
        out += &format!("\n{}", section(part, look));
    }
    out
}

/// One section: its heading, its lead, its table and its notes.
#[must_use]
pub fn section(section: &Section, look: TextLook) -> String {
    let mut out = format!("{}\n", look.paint("1", &visible(&section.title)));
    if !section.lead.is_empty() {
        out += &look.wrapped("", &section.lead);
    }
    out += "\n";
    match &section.table {
        Some(table) if table.rows.len() > ROWS_MAX => {
            let (id, rows) = (&section.id, table.rows.len());
            let where_else =
                format!("{rows} rows: `tare report RUN --format csv --section {id}` prints them");
            out += &look.wrapped("", &where_else);
        }
        Some(rows) => out += &table(rows, look),
        None => {}
    }
    out + &notes(&section.notes, look)
}

/// A section of the short form, with its heading unless it is the first.
fn part_of(section: &Section, look: TextLook, titled: bool) -> String {
    let title = if titled { look.paint("1", &visible(&section.title)) + "\n" } else { String::new() };
    let table = section.table.as_ref().map(|rows| table(rows, look));
    title + &table.unwrap_or_default() + &notes(&section.notes, look)
}

fn head(document: &Document, look: TextLook, is_shown: fn(&Fact) -> bool) -> String {
    let mut out = format!("{}\n", look.paint("1", &visible(&document.title)));
    if !document.question.is_empty() {
        out += &look.paint("2", look.wrapped("", &document.question).replace('\n', " ").trim_end());
        out += "\n";
    }
    out += "\n";
    for caution in &document.cautions {
        out += &format!("{} {}", look.paint("33", "caution:"), look.wrapped("caution: ", caution));
    }
    if !document.answer.is_empty() {
        out += &look.paint(
            &format!("1;{}", document.verdict().tone().ansi()),
            look.wrapped("", &document.answer).trim_end(),
        );
        out += "\n";
    }
    if !document.basis.is_empty() {
        out += &look.wrapped("", &document.basis);
    }
    if let Some(status) = status(document.status) {
        out += &format!("{}\n", look.paint("33", status));
    }
    let facts: Vec<Fact> = super::facts(document).into_iter().filter(is_shown).collect();
    let width = facts.iter().map(|fact| width_of(&fact.label)).max().unwrap_or(0);
    let line = |fact: &Fact| {
        let label = format!("{:width$}  ", visible(&fact.label));
        look.paint("2", &label) + &look.wrapped(&label, &fact.text)
    };
    let facts: String = facts.iter().map(line).collect();
    if facts.is_empty() { out } else { format!("{out}\n{facts}") }
}

/// `note: ...`, with the word in a colour.
fn said_of_run(code: &str, word: &str, text: &str, look: TextLook) -> String {
    look.paint(code, word.trim_end()) + " " + &look.wrapped(word, text)
}

/// The findings about the whole run.
fn findings(document: &Document, look: TextLook) -> String {
    let damage = document.damage.iter().map(|text| ("31", "damaged: ", text));
    let notes = document.notes.iter().map(|text| ("33", "note: ", text));
    let lines: String =
        damage.chain(notes).map(|(code, word, text)| said_of_run(code, word, text, look)).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn notes(notes: &[String], look: TextLook) -> String {
    notes.iter().map(|note| look.wrapped("", note)).collect()
}

/// A table, followed by values without a column. In a table of words, sentences are below their rows.
#[must_use]
pub fn table(table: &Table, look: TextLook) -> String {
    let layout = Layout::of(table);
    let parts = draw_all(&layout, look);
    let has_rows = table.rows.iter().any(|row| !layout.is_without_figures(row));
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate().filter(|_| has_rows) {
        out += if at == 0 { "" } else { "\n" };
        out += &part_of_table(&layout, part, at == 0, look);
    }
    let below = below(&layout, look);
    let gap = if below.is_empty() || out.is_empty() { "" } else { "\n" };
    out + &said_once(&layout, &parts, look) + gap + &below
}

/// The header and rows of one part of a table. In a table of words, the first part has the sentences.
fn part_of_table(layout: &Layout, part: &Drawn, is_first: bool, look: TextLook) -> String {
    let mut out = look.paint("2", &part.head) + "\n";
    let rows = || layout.table.rows.iter().enumerate().filter(|(_, row)| !layout.is_without_figures(row));
    let last_reference =
        rows().filter(|(_, row)| layout.is_reference(row)).map(|(place, _)| place).next_back();
    for (place, row) in rows() {
        out += &format!("{}\n", part.rows[place]);
        if last_reference == Some(place) {
            out +=
                &format!("{}\n", look.paint("2", &(if look.ascii { "-" } else { "─" }).repeat(part.width)));
        }
        if layout.has_figures() || !is_first {
            continue;
        }
        for (title, text) in layout.said(row) {
            let (head, painted) = (format!("    {title}: "), look.paint("2", &format!("{title}:")));
            out += &format!("    {painted} {}", look.wrapped(&head, text));
        }
    }
    out
}

/// Rows without figures, and remarks about rows with figures.
fn below(layout: &Layout, look: TextLook) -> String {
    let of = |(place, row): (usize, &Vec<Value>)| match layout.is_without_figures(row) {
        true => without_figures(layout, place, look),
        false if layout.has_figures() => {
            layout.said(row).map(|(title, text)| named(&layout.name(row), title, text, look)).collect()
        }
        false => String::new(),
    };
    layout.table.rows.iter().enumerate().map(of).collect()
}

/// A table for a view that is redrawn: its header, and a line per row. The line of a row without figures has
/// its reason; other sentences are left out.
#[must_use]
pub fn lines(table: &Table, look: TextLook) -> (String, Vec<String>) {
    let layout = Layout::of(table);
    let drawn = draw(&layout, &layout.columns, look);
    let line = |(place, line): (usize, String)| match layout.is_without_figures(&table.rows[place]) {
        true => without_figures(&layout, place, TextLook { width: None, ..look }).trim_end().to_owned(),
        false => line,
    };
    (drawn.head, drawn.rows.into_iter().enumerate().map(line).collect())
}

/// The common values of all rows, and the names of dropped columns.
fn said_once(layout: &Layout, parts: &[Drawn], look: TextLook) -> String {
    let alike = layout.alike().map(|alike| format!("in all rows: {alike}"));
    let missing = || parts.iter().flat_map(|part| &part.without);
    let mut without: Vec<String> = Vec::new();
    for one in missing() {
        match one {
            Missing::Figure(title) if !without.contains(title) => without.push(title.clone()),
            _ => {}
        }
    }
    let is_figure = |title: &String| without.contains(title);
    let intervals = missing().filter(|one| matches!(one, Missing::Interval(title) if !is_figure(title)));
    if intervals.count() > 0 {
        without.push("other 95% intervals".to_owned());
    }
    let without = (!without.is_empty()).then(|| format!("too narrow for: {}", without.join(", ")));
    let lines = alike.into_iter().chain(without);
    let lines: Vec<String> = lines.map(|line| look.wrapped("", &line)).collect();
    lines.iter().flat_map(|text| text.lines()).map(|line| look.paint("2", line) + "\n").collect()
}

/// `flask  failed: block 3: was killed by signal 9 in a slice`.
fn without_figures(layout: &Layout, place: usize, look: TextLook) -> String {
    let row = &layout.table.rows[place];
    let (name, state) = (layout.name(row), layout.state(row));
    let said: Vec<&str> = layout.said(row).map(|(_, text)| text).collect();
    let word = state.and_then(Value::text).unwrap_or("no figures");
    let head = format!("{name}  {word}: ");
    let state = look.tone(state.map_or(Tone::Open, Value::tone), word);
    format!("{name}  {state}: {}", look.wrapped(&head, &said.join("; ")))
}

fn named(name: &str, title: &str, text: &str, look: TextLook) -> String {
    let head = format!("{name}: {title}: ");
    format!("{name}: {}: {}", look.paint("33", title), look.wrapped(&head, text))
}

#[cfg(test)]
mod tests;
