//! Markdown for a README or a pull request. The brief form is a comment that needs no sideways scrolling: the
//! answer, the notes needed to interpret it, a table of few columns, and the rest of the short form folded.
//! The long form has the full main table, and the other sections folded, unless they are too long.

use super::{
    Document, ROWS_MAX, Section,
    layout::{self, Layout},
    status, visible,
};
use crate::document::{Fact, Table, Value};

/// The answer, a table of few columns, and folded the sections of the short form, and all findings.
#[must_use]
pub fn brief(document: &Document) -> String {
    let mut out = head(document);
    let mut sections = document.sections.iter();
    let main = sections.next();
    if let Some(table) = main.and_then(|main| main.table.as_ref()) {
        out += &digest(table);
    }
    let facts = super::facts(document).into_iter().filter(|fact| fact.brief);
    let known = list(document.notes.iter().map(|note| escape(note)).chain(facts.map(|one| fact(&one))));
    out +=
        &folded("All figures, and how they were measured", &(main.map(inside).unwrap_or_default() + &known));
    for section in sections.filter(|section| section.brief) {
        out += &folded(&section.title, &inside(section));
    }
    ended(out)
}

/// A table that needs no scrolling: the columns marked for it, if there are any, and the reasons of rows
/// without figures. Other remarks about a row are elsewhere.
fn digest(table: &Table) -> String {
    let mut layout = Layout::of(table);
    if layout.columns.iter().any(|place| layout.column(*place).digest) {
        layout.columns.retain(|place| table.columns[*place].digest);
    }
    let interval = layout.columns.iter().copied().find(|place| table.columns[*place].interval.is_some());
    let reasons = table.rows.iter().filter(|row| layout.is_without_figures(row));
    let reasons: Vec<String> = reasons.flat_map(|row| said(&layout, row)).collect();
    lines(&layout, |place| Some(place) == interval) + &list(reasons.into_iter())
}

/// A folded part. Markdown is not interpreted within a line of HTML.
fn folded(title: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let title = visible(title).replace('&', "&amp;").replace('<', "&lt;").replace('\n', " ");
    format!("<details><summary>{title}</summary>\n\n{text}</details>\n\n")
}

/// The document, with its first section open and the others folded.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = head(document);
    let mut sections = document.sections.iter();
    let main = sections.next();
    out += &main.map(inside).unwrap_or_default();
    let notes = document.notes.iter().map(|note| escape(note));
    out += &list(notes.chain(super::facts(document).iter().map(fact)));
    for section in sections {
        let text = match &section.table {
            Some(table) if table.rows.len() > ROWS_MAX => too_long(section, table),
            _ => inside(section),
        };
        out += &folded(&section.title, &(paragraph(&section.lead) + &text));
    }
    ended(out)
}

/// A single section with its full table.
#[must_use]
pub fn section(section: &Section) -> String {
    let title = format!("### {}\n\n", escape(&section.title));
    ended(title + &paragraph(&section.lead) + &inside(section))
}

fn head(document: &Document) -> String {
    let mut out = format!("## {}\n\n", escape(&document.title));
    out += &paragraph(&document.question);
    for caution in &document.cautions {
        out += &format!("> **Caution**: {}\n\n", escape(caution));
    }
    if !document.answer.is_empty() {
        out += &format!("**{}**\n\n", escape(&document.answer));
    }
    out += &paragraph(&document.basis);
    if let Some(status) = status(document.status) {
        out += &format!("> **{status}**\n\n");
    }
    for damage in &document.damage {
        out += &format!("> Damaged: {}\n\n", escape(damage));
    }
    out
}

/// The text with exactly one line break at its end.
fn ended(mut text: String) -> String {
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn inside(section: &Section) -> String {
    let table: String = section.table.as_ref().map(of_table).unwrap_or_default();
    table + &notes(section)
}

fn notes(section: &Section) -> String {
    list(section.notes.iter().map(|note| escape(note)))
}

fn too_long(section: &Section, table: &Table) -> String {
    let (id, rows, notes) = (&section.id, table.rows.len(), notes(section));
    format!(
        "{rows} rows, which are too many for here: `tare report RUN --format csv --section {id}` prints them.\n\n{notes}"
    )
}

/// The table, followed by the common values of all rows and, for a table of figures, remarks about rows.
fn of_table(table: &Table) -> String {
    let mut layout = Layout::of(table);
    if !layout.has_figures() {
        layout.columns.append(&mut layout.sentences);
    }
    let mut out = lines(&layout, |_| true);
    let alike = layout.alike().map(|alike| format!("In all rows: {}.\n\n", escape(&alike)));
    out += &alike.unwrap_or_default();
    let said = table.rows.iter().flat_map(|row| said(&layout, row));
    out + &list(said)
}

/// A table from lines with equal numbers of cells; the first line is the header.
#[must_use]
pub fn rows(lines: &[Vec<String>]) -> String {
    let line = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut out: Vec<String> = lines.iter().map(line).collect();
    if let Some(head) = lines.first() {
        out.insert(1, format!("|{}\n", "---|".repeat(head.len())));
    }
    out.concat()
}

/// The header, and a line per row with figures. The names of references are emphasised.
fn lines(layout: &Layout, has_interval: impl Fn(usize) -> bool) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let columns = || layout.columns.iter().map(|place| layout.column(*place));
    let mut out = line(columns().map(|column| escape(&column.title)).collect());
    let rules = columns().map(|column| if column.unit.is_numeric() { "--:" } else { "---" });
    out += &format!("|{}|\n", rules.collect::<Vec<_>>().join("|"));
    let rows = layout.table.rows.iter().filter(|row| !layout.is_without_figures(row));
    let of_row = |row: &Vec<Value>, place: usize| {
        let cell = cell(layout.table, row, place, has_interval(place));
        if Some(place) == layout.name && layout.is_reference(row) { format!("*{cell}*") } else { cell }
    };
    let rows: String =
        rows.map(|row| line(layout.columns.iter().map(|place| of_row(row, *place)).collect())).collect();
    if rows.is_empty() { rows } else { out + &rows + "\n" }
}

/// The remarks about one row that have no column.
fn said(layout: &Layout, row: &[Value]) -> Vec<String> {
    let name = escape(&layout.name(row));
    if layout.is_without_figures(row) {
        let all: Vec<String> = layout.said(row).map(|(_, text)| escape(text)).collect();
        return vec![format!(
            "{name}: {}: {}",
            escape(layout.state(row).and_then(Value::text).unwrap_or("no figures")),
            all.join("; ")
        )];
    }
    layout.said(row).map(|(title, text)| format!("{name}: {}: {}", escape(title), escape(text))).collect()
}

/// A value for people, with its interval if it has one and `has_interval` is true.
fn cell(table: &Table, row: &[Value], place: usize, has_interval: bool) -> String {
    let shown = escape(&layout::cell(table, row, place));
    let shown = match table.link(row, place) {
        Some(address) => format!("[{shown}]({address})"),
        None => shown,
    };
    match layout::interval(table, row, place).filter(|_| has_interval) {
        Some(interval) => format!("{shown} ({})", escape(&interval)),
        None => shown,
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let lines: String = items.map(|item| format!("- {item}\n")).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

fn fact(fact: &Fact) -> String {
    let text = if fact.code { code(&fact.text) } else { escape(&fact.text) };
    format!("{}: {text}", escape(&fact.label))
}

/// Nothing can be escaped inside a code span, so its fence is longer than any fence in the text.
fn code(text: &str) -> String {
    let text = visible(text).replace('\n', " ");
    if text.is_empty() {
        return text;
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let (fence, space) = ("`".repeat(longest + 1), if longest > 0 { " " } else { "" });
    format!("{fence}{space}{text}{space}{fence}")
}

/// Escapes the special characters of Markdown and HTML.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A text as a paragraph, if there is one; else it could become a heading, a quotation or a list.
fn paragraph(text: &str) -> String {
    let text = escape(text);
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let is_ordered = digits > 0 && text[digits..].starts_with(['.', ')']);
    match text.chars().next() {
        None => text,
        Some('#' | '>' | '+' | '-' | '=' | '~') => format!("\\{text}\n\n"),
        _ if is_ordered => format!("{}\\{}\n\n", &text[..digits], &text[digits..]),
        _ => text + "\n\n",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::write::fixture::{hostile, interleaved, text};

    #[test]
    fn the_answer_the_main_table_and_the_rest_folded() {
        insta::assert_snapshot!(markdown(&interleaved()));
    }

    #[test]
    fn the_brief_form_is_the_answer_and_a_table_and_the_rest_folded() {
        insta::assert_snapshot!(brief(&interleaved()));
    }

    #[test]
    fn hostile_names_stay_names() {
        insta::assert_snapshot!(markdown(&hostile()));
    }

    #[test]
    fn a_section_alone_has_all_its_rows() {
        let text = section(&interleaved().sections[2]);
        assert_eq!(text.lines().filter(|line| line.starts_with('|')).count(), 62, "{text}");
    }

    proptest! {
        #[test]
        fn a_row_is_a_line_of_as_many_cells(name in text()) {
            let mut section = interleaved().sections.remove(0);
            let table = section.table.as_mut().unwrap();
            table.rows.truncate(1);
            table.columns.iter_mut().for_each(|column| column.interval = None);
            table.rows[0][0] = name.as_str().into();
            let lines: Vec<String> = of_table(table).trim_end().split('\n').map(str::to_owned).collect();
            prop_assert_eq!(lines.len(), 3);
            let bars = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            prop_assert_eq!(bars(&lines[2]), bars(&lines[0]), "{}", lines[2]);
            prop_assert!(!lines[2].contains('<'));
        }

        #[test]
        fn code_ends_where_it_should(name in text()) {
            prop_assume!(!name.is_empty());
            let code = code(&name);
            let fence = code.len() - code.trim_start_matches('`').len();
            let inside = &code[fence..code.len() - fence];
            prop_assert!(!inside.contains(&"`".repeat(fence)), "{code}");
        }
    }
}
