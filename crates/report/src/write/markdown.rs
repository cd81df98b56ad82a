//! Markdown for a README or a pull request: the answer, the main table, what must be known to believe it, and the smaller one
//! of the other tables folded away.

use tare_analysis::report::markdown as lab_markdown;

use super::{Document, Section, visible};
use crate::document::{Column, Fact, Status, Table, Value};

/// Longer tables are no reading: the other forms have them.
const ROWS_MAX: usize = 50;

/// The document, its first section open and the others folded.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = format!("## {}\n\n", escape(&document.title));
    for text in [&document.question, &document.answer] {
        if !text.is_empty() {
            out += &format!("{}\n\n", paragraph(text));
        }
    }
    if let Some(status) = status(document.status) {
        out += &format!("> **{status}**\n\n");
    }
    for damage in &document.damage {
        out += &format!("> Damaged: {}\n\n", escape(damage));
    }
    let mut sections = document.sections.iter();
    let main = sections.next();
    out += &main.and_then(|main| main.table.as_ref()).map(of_table).unwrap_or_default();
    let notes = main.iter().flat_map(|main| &main.notes).chain(&document.notes).map(|note| escape(note));
    out += &list(notes.chain(document.facts.iter().map(fact)));
    for section in sections {
        // In a line of HTML nothing of Markdown counts.
        let title = visible(&section.title).replace('&', "&amp;").replace('<', "&lt;").replace('\n', " ");
        out += &format!("<details><summary>{title}</summary>\n\n");
        if !section.lead.is_empty() {
            out += &format!("{}\n\n", paragraph(&section.lead));
        }
        out += &match &section.table {
            Some(table) if table.rows.len() > ROWS_MAX => too_long(section, table),
            _ => inside(section),
        };
        out += "</details>\n\n";
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// One section alone, its whole table.
#[must_use]
pub fn section(section: &Section) -> String {
    let mut out = format!("### {}\n\n", escape(&section.title));
    if !section.lead.is_empty() {
        out += &format!("{}\n\n", paragraph(&section.lead));
    }
    out += &inside(section);
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn inside(section: &Section) -> String {
    let table: String = section.table.as_ref().map(of_table).unwrap_or_default();
    table + &list(section.notes.iter().map(|note| escape(note)))
}

fn too_long(section: &Section, table: &Table) -> String {
    let (id, rows) = (&section.id, table.rows.len());
    let notes = list(section.notes.iter().map(|note| escape(note)));
    format!(
        "{rows} rows, which are too many for here: `tare report RUN --format csv --section {id}` prints them.\n\n{notes}"
    )
}

/// Without the columns that say nothing here: that know nothing of any row, or the same of all.
fn of_table(table: &Table) -> String {
    let columns = table.columns.iter().enumerate();
    let known = columns.filter(|(place, column)| !column.hidden && !table.is_unknown(*place));
    let is_same = |(place, column): &(usize, &Column)| !column.unit.is_numeric() && table.is_alike(*place);
    let (alike, shown): (Vec<_>, Vec<_>) = known.partition(is_same);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(shown.iter().map(|(_, column)| escape(&column.title)).collect());
    let rules = shown.iter().map(|(_, column)| if column.unit.is_numeric() { "--:" } else { "---" });
    out += &format!("|{}|\n", rules.collect::<Vec<_>>().join("|"));
    for row in &table.rows {
        out += &line(shown.iter().map(|(place, column)| cell(table, column, row, *place)).collect());
    }
    out += "\n";
    let alike = alike.iter().zip(table.rows.first().into_iter().cycle());
    let alike: Vec<String> = alike
        .map(|((place, column), row)| {
            format!("{}: {}", escape(&column.title), cell(table, column, row, *place))
        })
        .collect();
    if alike.is_empty() { out } else { out + &format!("In all rows alike: {}.\n\n", alike.join(", ")) }
}

/// A value as people read it, with its interval where it has one.
fn cell(table: &Table, column: &Column, row: &[Value], place: usize) -> String {
    let show = |value: &Value| escape(&value.show(column.unit));
    let shown = row.get(place).map(show).unwrap_or_default();
    let end = |key: &String| row.get(table.place(key)?).filter(|end| end.number().is_some());
    let ends = column.interval.as_ref().and_then(|[low, high]| Some((end(low)?, end(high)?)));
    match ends {
        Some((low, high)) => format!("{shown} ({} .. {})", show(low), show(high)),
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

/// Inside a code span nothing can be escaped: the fence is longer than any that is in the text.
fn code(text: &str) -> String {
    let text = visible(text).replace('\n', " ");
    if text.is_empty() {
        return text;
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let (fence, space) = ("`".repeat(longest + 1), if longest > 0 { " " } else { "" });
    format!("{fence}{space}{text}{space}{fence}")
}

fn escape(text: &str) -> String {
    lab_markdown::escape(&visible(text))
}

/// A text at the beginning of a line, where it could be taken for a heading, a quotation or a list.
fn paragraph(text: &str) -> String {
    let text = escape(text);
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let is_ordered = digits > 0 && text[digits..].starts_with(['.', ')']);
    match text.chars().next() {
        Some('#' | '>' | '+' | '-' | '=' | '~') => format!("\\{text}"),
        _ if is_ordered => format!("{}\\{}", &text[..digits], &text[digits..]),
        _ => text,
    }
}

fn status(status: Status) -> Option<&'static str> {
    match status {
        Status::Complete => None,
        Status::Interrupted => Some("Interrupted: what is here was measured until then."),
        Status::Running => Some("Still running: what is here was measured so far."),
        Status::CutOff => Some("Cut off: what is here was measured until then."),
        Status::Unknown => Some("Whether the run came to its end is not known."),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::write::samples::{campaign, hostile, text};

    #[test]
    fn the_answer_the_main_table_and_the_rest_folded() {
        insta::assert_snapshot!(markdown(&campaign()));
    }

    #[test]
    fn hostile_names_stay_names() {
        insta::assert_snapshot!(markdown(&hostile()));
    }

    #[test]
    fn a_section_alone_has_all_its_rows() {
        let text = section(&campaign().sections[2]);
        assert_eq!(text.lines().filter(|line| line.starts_with('|')).count(), 62, "{text}");
    }

    proptest! {
        #[test]
        fn a_row_is_a_line_of_as_many_cells(name in text()) {
            let mut section = campaign().sections.remove(0);
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
