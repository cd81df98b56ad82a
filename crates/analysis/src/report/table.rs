//! Columns: text to the left, figures to the right; aligned for a terminal, painted or not, or as Markdown.

use super::markdown::escape;

const GAP: &str = "  ";

/// ANSI sequences, or nothing.
pub(crate) struct Paint(pub bool);

impl Paint {
    pub fn with(&self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// One cell: text, whether it is pushed to the right, how it is painted.
pub(crate) struct Cell {
    pub text: String,
    pub right: bool,
    pub code: Option<&'static str>,
}

pub(crate) fn left(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), right: false, code: None }
}

pub(crate) fn right(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), right: true, code: None }
}

/// Leaves out columns, in the order of `dispensable`, until the table is no wider than `width`.
pub(crate) fn fit(mut lines: Vec<Vec<Cell>>, width: Option<usize>, dispensable: &[usize]) -> Vec<Vec<Cell>> {
    let mut spared: Vec<usize> = Vec::new();
    for &column in dispensable {
        let total: usize = widths(&lines).iter().map(|width| width + GAP.len()).sum();
        if width.is_none_or(|width| total <= width + GAP.len()) {
            break;
        }
        // Those left out before stood to the left of it, or did not.
        let place = column - spared.iter().filter(|before| **before < column).count();
        lines.iter_mut().for_each(|line| drop(line.remove(place)));
        spared.push(column);
    }
    lines
}

fn widths(lines: &[Vec<Cell>]) -> Vec<usize> {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].text.chars().count()).max().unwrap_or(0);
    (0..columns).map(width).collect()
}

/// The first line is the head.
pub(crate) fn markdown(lines: &[Vec<Cell>]) -> String {
    let Some(head) = lines.first() else { return String::new() };
    let cells = |cells: &Vec<Cell>| cells.iter().map(|cell| format!(" {} |", escape(&cell.text))).collect();
    let mut written: Vec<String> = lines.iter().map(cells).collect();
    written.insert(1, head.iter().map(|cell| if cell.right { "--:|" } else { "---|" }).collect());
    written.iter().map(|line| format!("|{line}\n")).collect()
}

pub(crate) fn layout(lines: &[Vec<Cell>], paint: &Paint) -> String {
    let widths = widths(lines);
    let mut out = String::new();
    for line in lines {
        let mut text = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            let padding = " ".repeat(width - cell.text.chars().count());
            let painted = cell.code.map_or(cell.text.clone(), |code| paint.with(code, &cell.text));
            text += &if cell.right { padding + &painted } else { painted + &padding };
            text += GAP;
        }
        out += text.trim_end();
        out.push('\n');
    }
    out
}
