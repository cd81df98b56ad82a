//! The last lines of a terminal, rewritten in place. Nothing of the terminal is changed that would have to be restored: no
//! raw mode, no hidden cursor, no alternate screen, and nothing is asked of it. So it is as it was however the program
//! ends, by SIGKILL too; what stands above scrolls as ever.
//!
//! ratatui's own inline viewport would ask the terminal where the cursor is: by a request on stdout, which is for data,
//! and an answer on stdin, for which it needs raw mode. Moves that count lines from the cursor need neither.

use std::io::Write;

use console::measure_text_width;
use ratatui::{
    backend::IntoCrossterm,
    buffer::Buffer,
    crossterm::{
        Command,
        cursor::MoveToPreviousLine,
        style::ContentStyle,
        terminal::{Clear, ClearType},
    },
    layout::Rect,
    style::{Color, Style},
    widgets::Widget,
};

use super::view::View;

/// Columns and lines of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// From left to right.
    pub columns: u16,
    /// From top to bottom.
    pub lines: u16,
}

/// What stands on the screen, and where it is written. The cursor is on the line below it, on the left.
#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    colours: bool,
    size: Option<Size>,
    lines: Vec<Line>,
}

/// One line with its escapes, and how wide it is without.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    text: String,
    width: usize,
}

impl<W: Write> Screen<W> {
    /// Empty.
    pub fn new(out: W, colours: bool) -> Screen<W> {
        Screen { out, colours, size: None, lines: Vec::new() }
    }

    /// Shows `view`; lines that have not changed are not written.
    pub fn show(&mut self, view: &View, size: Size) {
        // One line is the cursor's.
        let height = view.height(size.lines.saturating_sub(1));
        let mut buffer = Buffer::empty(Rect::new(0, 0, size.columns, height));
        view.render(buffer.area, &mut buffer);
        let mut bytes = Vec::new();
        if self.size != Some(size) {
            self.erase(&mut bytes, size);
            self.size = Some(size);
        }
        up(&mut bytes, self.lines.len());
        let lines = lines(&buffer, self.colours);
        for (place, line) in lines.iter().enumerate() {
            if self.lines.get(place) != Some(line) {
                escape(&mut bytes, Clear(ClearType::UntilNewLine));
                bytes.extend(line.text.as_bytes());
            }
            bytes.extend(b"\r\n");
        }
        // What was there and is not any more; and what the terminal has echoed.
        escape(&mut bytes, Clear(ClearType::FromCursorDown));
        self.lines = lines;
        self.write(&bytes);
    }

    /// Lets `write` have the place of the view, and shows that again below what it wrote.
    pub fn above<T>(&mut self, write: impl FnOnce() -> T) -> T {
        let lines = self.lines.clone();
        self.clear();
        let written = write();
        let text: String = lines.iter().map(|line| format!("{}\r\n", line.text)).collect();
        self.lines = lines;
        self.write(text.as_bytes());
        written
    }

    /// Takes the view away.
    pub fn clear(&mut self) {
        let mut bytes = Vec::new();
        if let Some(size) = self.size {
            self.erase(&mut bytes, size);
        }
        self.write(&bytes);
    }

    /// A terminal that became narrower has broken the lines that were too long for it.
    fn erase(&mut self, bytes: &mut Vec<u8>, size: Size) {
        let columns = usize::from(size.columns).max(1);
        let lines = self.lines.drain(..).map(|line| line.width.div_ceil(columns).max(1)).sum();
        if lines > 0 {
            up(bytes, lines);
            // Line by line to the second: some terminals keep what is cleared from the very first cell of the screen.
            escape(bytes, Clear(ClearType::UntilNewLine));
            bytes.extend(b"\r\n");
            escape(bytes, Clear(ClearType::FromCursorDown));
            up(bytes, 1);
        }
    }

    /// All at once: the terminal never shows half of it. One that is gone is not worth a run.
    fn write(&mut self, bytes: &[u8]) {
        let _ = self.out.write_all(bytes).and_then(|()| self.out.flush());
    }
}

fn up(bytes: &mut Vec<u8>, lines: usize) {
    bytes.push(b'\r');
    if lines > 0 {
        escape(bytes, MoveToPreviousLine(lines.try_into().unwrap_or(u16::MAX)));
    }
}

fn escape(bytes: &mut Vec<u8>, command: impl Command) {
    let mut text = String::new();
    command.write_ansi(&mut text).expect("a string takes all that is written");
    bytes.extend(text.as_bytes());
}

/// The lines of a buffer, without the blanks at their ends.
fn lines(buffer: &Buffer, colours: bool) -> Vec<Line> {
    let area = buffer.area;
    (area.top()..area.bottom()).map(|y| line(buffer, y, colours)).collect()
}

fn line(buffer: &Buffer, y: u16, colours: bool) -> Line {
    let columns = |x: u16| measure_text_width(buffer[(x, y)].symbol()).max(1);
    let area = buffer.area;
    let last = (area.left()..area.right()).rev().find(|x| buffer[(*x, y)].symbol() != " ");
    let end = last.map_or(0, |last| usize::from(last) + columns(last));
    let (mut runs, mut x) = (Vec::<(Style, String)>::new(), 0);
    while x < end {
        let cell = &buffer[(x as u16, y)];
        let style = if colours { own(cell.style()) } else { Style::new() };
        match runs.last_mut() {
            Some((last, text)) if *last == style => text.push_str(cell.symbol()),
            _ => runs.push((style, cell.symbol().to_owned())),
        }
        // A wide character covers the cells after it.
        x += columns(x as u16);
    }
    let paint = |(style, text): (Style, String)| match style == Style::new() {
        true => text,
        false => ContentStyle::apply(style.into_crossterm(), text).to_string(),
    };
    Line { text: runs.into_iter().map(paint).collect(), width: end }
}

/// What a cell has that the terminal has not of itself.
fn own(style: Style) -> Style {
    Style {
        fg: style.fg.filter(|colour| *colour != Color::Reset),
        add_modifier: style.add_modifier,
        ..Style::new()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::progress::view::{Row, Table};

    const SIZE: Size = Size { columns: 40, lines: 10 };

    fn view(place: &str, rows: &[&str]) -> View {
        let row = |name: &&str| Row { name: (*name).to_owned(), ..Row::default() };
        let table = Table { name: "service", rows: rows.iter().map(row).collect(), ..Table::default() };
        View { title: "T".to_owned(), place: place.to_owned(), table, ..View::default() }
    }

    /// What is written for `view` after what was written before.
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
        assert_eq!(first, format!("\r{title}\r\n^[Kone\r\n^[K  service\r\n^[K  a\r\n^[J"));
        let second = written(&mut screen, &view("two", &["a"]), SIZE);
        assert_eq!(second, "\r^[4F\r\n^[Ktwo\r\n\r\n\r\n^[J");
        let shorter = View { elapsed: Duration::ZERO, ..view("two", &[]) };
        assert_eq!(written(&mut screen, &shorter, SIZE), "\r^[4F\r\n\r\n^[K\r\n^[J");
    }

    #[test]
    fn what_a_narrower_terminal_has_broken_is_taken_away_as_well() {
        let mut screen = Screen::new(Vec::new(), false);
        written(&mut screen, &view("one", &["a"]), SIZE);
        // The first line of 40 columns now takes 2, the others one each.
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
        assert!(text.starts_with("\r\x1b[3F\x1b[K\r\n\x1b[J\r\x1b[1FT"), "{text:?}");
        assert!(text.ends_with("left\r\none\r\n\r\n"), "{text:?}");
    }

    #[test]
    fn styles_end_where_they_began_and_colours_can_be_off() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "a", Style::new());
        buffer.set_string(1, 0, "\u{6587}b", Style::new().fg(Color::Red));
        let painted = lines(&buffer, true).remove(0);
        assert_eq!(painted.width, 4);
        assert!(painted.text.starts_with("a\x1b["), "{:?}", painted.text);
        assert!(painted.text.ends_with('m'), "{:?}", painted.text);
        assert_eq!(lines(&buffer, false), [Line { text: "a\u{6587}b".to_owned(), width: 4 }]);
    }
}
