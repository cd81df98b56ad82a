//! The preview picture for links to a run: its question, its answer, its first rows. It uses its own font, so
//! that it is the same on every machine.

use std::{
    fmt::Write,
    sync::{Arc, LazyLock},
};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};

use super::{
    RunEntry, SiteError,
    chart::{LogScale, escaped},
    row::SiteRow,
    words::shown,
};
use tare_report::document::Unit;

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 630.0;
const EDGE: f64 = 60.0;
/// The most letters in a line of the answer, and the most lines.
const LETTERS_MAX: usize = 62;
const LINES_MAX: usize = 3;
const ROWS_MAX: usize = 8;
/// The horizontal start and end of the tracks.
const TRACK: (f64, f64) = (320.0, 860.0);

static FONTS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    Options { font_family: "Noto Sans".to_owned(), fontdb: Arc::new(fonts), ..Options::default() }
});

/// A PNG of 1200 by 630 pixels.
pub(super) fn draw(run: &RunEntry) -> Result<Vec<u8>, SiteError> {
    let failed = |reason: String| SiteError::Preview { page: run.id.clone(), reason };
    let tree = Tree::from_str(&svg(run), &FONTS).map_err(|error| failed(error.to_string()))?;
    let mut picture =
        Pixmap::new(WIDTH as u32, HEIGHT as u32).ok_or_else(|| failed("it has no size".to_owned()))?;
    resvg::render(&tree, Transform::default(), &mut picture.as_mut());
    picture.encode_png().map_err(|error| failed(error.to_string()))
}

fn svg(run: &RunEntry) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\"><rect width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" fill=\"#fff\"/>"
    );
    text(&mut svg, (EDGE, 74.0), 26, "#566070", &clipped(&run.title, 80));
    let lines = lines(&run.answer);
    let mut y = 122.0;
    for line in &lines {
        bold(&mut svg, (EDGE, y), 34, line);
        y += 44.0;
    }
    rows(&mut svg, run, y + 10.0);
    let machine = if run.machine.is_empty() { String::new() } else { format!(" · {}", run.machine) };
    text(&mut svg, (EDGE, HEIGHT - 28.0), 20, "#566070", &format!("Tare · {}{machine}", run.day()));
    svg + "</svg>"
}

fn rows(svg: &mut String, run: &RunEntry, top: f64) {
    let related = || run.rows.iter().filter(|row| row.cpu_ratio.is_some() && !row.is_reference);
    let room = ((HEIGHT - 70.0 - top) / 38.0).max(0.0) as usize;
    let rows: Vec<&SiteRow> = related().take(ROWS_MAX.min(room)).collect();
    let scale = LogScale::of(rows.iter().filter_map(|row| row.cpu_ratio.as_ref()));
    let x = |number: f64| TRACK.0 + (TRACK.1 - TRACK.0) * scale.share(number);
    let bottom = top + 38.0 * rows.len() as f64;
    if !rows.is_empty() {
        let one = x(1.0);
        _ = write!(svg, "<path d=\"M{one} {top}V{bottom}\" stroke=\"#8b95a3\" stroke-dasharray=\"4 4\"/>");
    }
    for (place, row) in rows.into_iter().enumerate() {
        let Some(figure) = row.cpu_ratio else { continue };
        let y = top + 38.0 * place as f64 + 19.0;
        text(svg, (EDGE, y + 8.0), 24, "#14181f", &clipped(&row.service, 18));
        if let Some((low, high)) = figure.ends() {
            let (from, to) = (x(low), x(high));
            let width = (to - from).max(2.0);
            _ = write!(
                svg,
                "<rect x=\"{from}\" y=\"{}\" width=\"{width}\" height=\"12\" fill=\"#9cc3ea\"/>",
                y - 6.0
            );
        }
        _ = write!(svg, "<circle cx=\"{}\" cy=\"{y}\" r=\"7\" fill=\"#0a5ca8\"/>", x(figure.value));
        text(svg, (TRACK.1 + 30.0, y + 8.0), 24, "#14181f", &shown(figure, Unit::Times));
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), size: u32, colour: &str, text: &str) {
    let text = escaped(text);
    _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\">{text}</text>");
}

fn bold(svg: &mut String, (x, y): (f64, f64), size: u32, text: &str) {
    let text = escaped(text);
    _ = write!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" font-weight=\"700\" fill=\"#14181f\">{text}</text>"
    );
}

/// Wraps an answer to the available lines.
fn lines(answer: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in answer.split_whitespace() {
        let line = &lines[lines.len() - 1];
        if line.chars().count() + word.chars().count() >= LETTERS_MAX && !line.is_empty() {
            lines.push(String::new());
        }
        let place = lines.len() - 1;
        let line = &mut lines[place];
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let cut = lines.len() > LINES_MAX;
    lines.truncate(LINES_MAX);
    let count = lines.len();
    if let Some(last) = lines.last_mut().filter(|_| cut && count > 0) {
        last.push_str(" ...");
    }
    lines.iter().map(|line| clipped(line, LETTERS_MAX + 6)).collect()
}

fn clipped(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters - 3).collect::<String>() + "..."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_cut_at_words_and_says_so() {
        let long = "word ".repeat(100);
        let lines = lines(&long);
        assert_eq!(lines.len(), LINES_MAX);
        assert!(lines[2].ends_with(" ...") && lines[0].ends_with("word"), "{lines:?}");
        assert_eq!(super::lines("One line."), ["One line."]);
        assert!(super::lines(&"x".repeat(500))[0].chars().count() <= LETTERS_MAX + 6);
    }
}
