//! The last lines of a terminal, rewritten in place. The terminal's state is not changed: no raw mode, no
//! hidden cursor, no alternate screen, and no query. So it is intact however the program ends, even by
//! SIGKILL, and the lines above scroll as usual.
//!
//! A query for the cursor position needs stdout, which is for data, and an answer on stdin in raw mode. Moves
//! by a number of lines need neither.

use std::io::Write;

use console::measure_text_width;
use tare_host::foreign;

use super::view::{Size, View};

const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";

/// The current content of the screen, and its output. The cursor is in the first column of the line below.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    colours: bool,
    size: Option<Size>,
    lines: Vec<String>,
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, colours: bool) -> Screen<W> {
        Screen { out, colours, size: None, lines: Vec::new() }
    }

    /// Shows `view`; unchanged lines are not written.
    pub(crate) fn show(&mut self, view: &View, size: Size) {
        let mut out = String::new();
        if self.size != Some(size) {
            out += &self.erased(size);
            self.size = Some(size);
        }
        out += &up(self.lines.len());
        // The last line is for the cursor.
        let lines = view.lines(Size { lines: size.lines.saturating_sub(1), ..size }, self.colours);
        let lines: Vec<String> = lines.iter().map(|line| foreign::painted(line).into_owned()).collect();
        for (place, line) in lines.iter().enumerate() {
            if self.lines.get(place) != Some(line) {
                out += CLEAR_LINE;
                out += line;
            }
            out += "\r\n";
        }
        // Erases old lines below, and what the terminal has echoed.
        out += CLEAR_BELOW;
        self.lines = lines;
        self.write(&out);
    }

    /// Erases the view, lets `write` print, and shows the view again below.
    pub(crate) fn above<T>(&mut self, write: impl FnOnce() -> T) -> T {
        let lines = self.lines.clone();
        self.clear();
        let written = write();
        self.write(&lines.iter().map(|line| format!("{line}\r\n")).collect::<String>());
        self.lines = lines;
        written
    }

    pub(crate) fn clear(&mut self) {
        if let Some(size) = self.size {
            let erased = self.erased(size);
            self.write(&erased);
        }
    }

    /// The sequence that erases the view. A terminal that became narrower has wrapped long lines.
    fn erased(&mut self, size: Size) -> String {
        let columns = usize::from(size.columns).max(1);
        let lines = self.lines.drain(..).map(|line| measure_text_width(&line).div_ceil(columns).max(1)).sum();
        match lines {
            0 => String::new(),
            // The first line is cleared alone: some terminals keep in their history what is cleared from the
            // first cell of the screen.
            lines => format!("{}{CLEAR_LINE}\r\n{CLEAR_BELOW}{}", up(lines), up(1)),
        }
    }

    /// Writes all at once, so that the terminal never shows half of it. Errors are ignored: a lost terminal
    /// must not end a run.
    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// Moves to the beginning of the line that is `lines` above.
fn up(lines: usize) -> String {
    if lines > 0 { format!("\r\x1b[{lines}F") } else { "\r".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tare_report::document::{ALWAYS, Table, Unit};

    use super::*;

    const SIZE: Size = Size { columns: 40, lines: 10 };

    fn view(place: &str, rows: &[&str]) -> View {
        let rows = rows.iter().map(|name| [(*name).into()]).collect();
        let table = Table::plain([("service", Unit::Text, ALWAYS)], rows);
        View { title: "T".to_owned(), place: place.to_owned(), table, ..View::default() }
    }

    /// The output for `view` after the earlier output.
    fn written(screen: &mut Screen<Vec<u8>>, view: &View, size: Size) -> String {
        screen.out.clear();
        screen.show(view, size);
        String::from_utf8(screen.out.clone()).unwrap().replace('\x1b', "^")
    }

    #[test]
    fn only_lines_that_have_changed_are_written() {
        let mut screen = Screen::new(Vec::new(), false);
        let first = written(&mut screen, &view("one", &["a"]), SIZE);
        let title = format!("^[KT{}0 s, about 0 s left", " ".repeat(20));
        assert_eq!(first, format!("\r{title}\r\n^[Kprovisional: one\r\n^[K  service\r\n^[K  a\r\n^[J"));
        let second = written(&mut screen, &view("two", &["a"]), SIZE);
        assert_eq!(second, "\r^[4F\r\n^[Kprovisional: two\r\n\r\n\r\n^[J");
        let shorter = View { elapsed: Duration::ZERO, ..view("two", &[]) };
        assert_eq!(written(&mut screen, &shorter, SIZE), "\r^[4F\r\n^[Ktwo\r\n^[J");
    }

    #[test]
    fn what_a_narrower_terminal_has_broken_is_taken_away_as_well() {
        let mut screen = Screen::new(Vec::new(), false);
        written(&mut screen, &view("one", &["a"]), SIZE);
        // The first line of 40 columns now takes two lines, the others one each.
        let size = Size { columns: 25, ..SIZE };
        assert!(written(&mut screen, &view("one", &["a"]), size).starts_with("\r^[5F^[K\r\n^[J\r^[1F"));
    }

    #[test]
    fn what_is_kept_stands_above() {
        let mut screen = Screen::new(Vec::new(), false);
        written(&mut screen, &view("one", &[]), SIZE);
        screen.out.clear();
        let (mut order, lines) = (Vec::new(), screen.lines.clone());
        screen.above(|| order.push("kept"));
        assert_eq!((order, screen.lines.clone()), (vec!["kept"], lines));
        let text = String::from_utf8(screen.out.clone()).unwrap();
        assert!(text.starts_with("\r\x1b[2F\x1b[K\r\n\x1b[J\r\x1b[1FT"), "{text:?}");
        assert!(text.ends_with("left\r\none\r\n"), "{text:?}");
    }
}
