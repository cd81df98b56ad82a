//! The view of a run in progress on a terminal of any size: the main table of its report, with the current
//! step. It knows no clock and no record.

use std::time::Duration;

use console::{measure_text_width, truncate_str};
use tare_report::{
    document::Table,
    write::text::{self, TextLook},
};

use super::duration;
use crate::output;

/// Marks the active row; the other rows have spaces.
const MARK: [&str; 2] = ["▶ ", "  "];
const TITLE_MIN: usize = 8;
const REMARKS_MAX: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: u16,
    pub(crate) lines: u16,
}

/// Everything that is shown at one instant.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct View {
    pub(crate) title: String,
    pub(crate) place: String,
    /// The answer so far, if it is a sentence.
    pub(crate) answer: String,
    pub(crate) elapsed: Duration,
    /// The estimated remaining time.
    pub(crate) left: Duration,
    pub(crate) table: Table,
    /// The interest of each row of the table.
    pub(crate) interest: Vec<Interest>,
    /// Findings and failures, the newest first.
    pub(crate) remarks: Vec<String>,
}

/// Why a row is shown if not all of them fit, in ascending priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Interest {
    #[default]
    None,
    /// Its rank changed with the last block.
    Moved,
    Reference,
    InBlock,
    Failed,
    Now,
}

impl View {
    /// The view as lines, which fit into the size of the terminal.
    pub(crate) fn lines(&self, size: Size, colours: bool) -> Vec<String> {
        let (width, height) = (usize::from(size.columns), usize::from(size.lines));
        let look =
            TextLook { width: Some(width.saturating_sub(MARK[1].len())), colours, ascii: output::is_ascii() };
        let mut lines = self.head(width, look);
        // On a low terminal the table gets most of the lines.
        let remarks = self.remarks.len().min(REMARKS_MAX).min(height / 6);
        lines.extend(self.rows(height.saturating_sub(lines.len() + remarks), look));
        let warning = |remark: &String| format!("{} {}", look.paint("33", "warning:"), one_line(remark));
        lines.extend(self.remarks[..remarks].iter().map(warning));
        lines.truncate(height);
        lines.iter().map(|line| truncate_str(line, width, "…").trim_end().to_owned()).collect()
    }

    fn head(&self, width: usize, look: TextLook) -> Vec<String> {
        let times = format!("{}, about {} left", duration(self.elapsed), duration(self.left));
        let room = width.saturating_sub(measure_text_width(&times) + 2);
        let first = match room >= TITLE_MIN {
            true => {
                let title = one_line(&self.title);
                let title = truncate_str(&title, room, "…");
                let gap = " ".repeat(room - measure_text_width(&title) + 2);
                look.paint("1", &title) + &gap + &times
            }
            false => times,
        };
        // A table that is drawn before the end is not the result.
        let place = match self.table.rows.is_empty() || self.place.is_empty() {
            true => self.place.clone(),
            false => format!("provisional: {}", self.place),
        };
        let rest = [&place, &self.answer].into_iter().filter(|text| !text.is_empty());
        std::iter::once(first).chain(rest.map(|text| one_line(text))).collect()
    }

    fn rows(&self, room: usize, look: TextLook) -> Vec<String> {
        if room < 2 || self.table.rows.is_empty() {
            return Vec::new();
        }
        let (head, rows) = text::lines(&self.table, look);
        let shown = self.shown(room - 1);
        let mut lines = vec![look.paint("2", &format!("{}{head}", MARK[1]))];
        lines.extend(shown.iter().map(|place| match self.interest(*place) {
            Interest::Now => look.paint("1;36", MARK[0]) + &rows[*place],
            _ => format!("{}{}", MARK[1], rows[*place]),
        }));
        let hidden = rows.len() - shown.len();
        if hidden > 0 {
            lines.push(look.paint("2", &format!("{}and {hidden} more, not shown", MARK[1])));
        }
        lines
    }

    /// The positions of the most interesting rows, in the order of the table. If some are left out, a line is
    /// kept to say so.
    fn shown(&self, room: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.table.rows.len()).collect();
        if places.len() > room {
            places.sort_by_key(|place| std::cmp::Reverse(self.interest(*place)));
            places.truncate(room - 1);
            places.sort_unstable();
        }
        places
    }

    fn interest(&self, place: usize) -> Interest {
        self.interest.get(place).copied().unwrap_or_default()
    }
}

/// Removes control characters: text from services may contain anything.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
pub(crate) mod tests;
