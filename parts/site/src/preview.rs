//! The preview pictures for links: a sentence, and the figures behind it. They use their own font, so that they
//! are the same on every machine.

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
    figure::RunFigure,
    words::shown,
};
use tare_report::{document::Unit, write::File};

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

/// What a preview shows: a large figure if there is one, a sentence, and points on a logarithmic scale.
#[derive(Debug, Default)]
pub(super) struct Card<'a> {
    pub(super) above: String,
    pub(super) large: String,
    pub(super) sentence: String,
    pub(super) rows: Vec<(&'a str, RunFigure)>,
    pub(super) below: String,
}

/// A preview that is drawn only if a site has none of its name: the name contains a hash of what it shows.
#[derive(Debug)]
pub struct Picture {
    /// Its path from the root of the site.
    pub name: String,
    svg: String,
}

/// The size of such a picture, related to that of a run: a site has a thousand of them.
const SCALE: f32 = 0.5;

impl Picture {
    /// `folder` is that of its page, with a slash at its end.
    pub(super) fn of(folder: &str, card: &Card<'_>) -> Picture {
        let svg = svg(card);
        let hash = blake3::hash(svg.as_bytes()).to_hex();
        Picture { name: format!("{folder}preview-{}.png", &hash[..10]), svg }
    }

    /// # Errors
    /// If it cannot be drawn.
    pub fn draw(&self) -> Result<File, SiteError> {
        Ok(File { name: self.name.clone(), bytes: png(&self.svg, SCALE, &self.name)? })
    }
}

/// A PNG of 1200 by 630 pixels.
pub(super) fn draw(run: &RunEntry) -> Result<Vec<u8>, SiteError> {
    let related = run.rows.iter().filter(|row| !row.is_reference);
    let card = Card {
        above: run.title.clone(),
        sentence: run.answer.clone(),
        rows: related.filter_map(|row| Some((row.service.as_str(), row.cost()?))).collect(),
        below: below(run),
        ..Card::default()
    };
    png(&svg(&card), 1.0, &run.id)
}

/// The day of a run, and its machine.
pub(super) fn below(run: &RunEntry) -> String {
    let machine = if run.machine.is_empty() { String::new() } else { format!(" · {}", run.machine) };
    format!("{}{machine}", run.day())
}

fn png(svg: &str, scale: f32, page: &str) -> Result<Vec<u8>, SiteError> {
    let failed = |reason: String| SiteError::Preview { page: page.to_owned(), reason };
    let tree = Tree::from_str(svg, &FONTS).map_err(|error| failed(error.to_string()))?;
    let [width, height] = [WIDTH, HEIGHT].map(|side| (side * f64::from(scale)) as u32);
    let mut picture = Pixmap::new(width, height).ok_or_else(|| failed("it has no size".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().map_err(|error| failed(error.to_string()))
}

fn svg(card: &Card<'_>) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\"><rect width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" fill=\"#fff\"/>"
    );
    text(&mut svg, (EDGE, 74.0), 26, "#566070", &clipped(&card.above, 80));
    let mut y = 122.0;
    if !card.large.is_empty() {
        bold(&mut svg, (EDGE, y + 60.0), 104, &clipped(&card.large, 18));
        y += 130.0;
    }
    for line in &lines(&card.sentence) {
        bold(&mut svg, (EDGE, y), 34, line);
        y += 44.0;
    }
    rows(&mut svg, &card.rows, y + 10.0);
    let below = if card.below.is_empty() { "Tare".to_owned() } else { format!("Tare · {}", card.below) };
    text(&mut svg, (EDGE, HEIGHT - 28.0), 20, "#566070", &below);
    svg + "</svg>"
}

fn rows(svg: &mut String, rows: &[(&str, RunFigure)], top: f64) {
    let room = ((HEIGHT - 70.0 - top) / 38.0).max(0.0) as usize;
    let rows = &rows[..rows.len().min(ROWS_MAX).min(room)];
    let scale = LogScale::of(rows.iter().map(|(_, figure)| figure));
    let x = |number: f64| TRACK.0 + (TRACK.1 - TRACK.0) * scale.share(number);
    let bottom = top + 38.0 * rows.len() as f64;
    if !rows.is_empty() {
        let one = x(1.0);
        _ = write!(svg, "<path d=\"M{one} {top}V{bottom}\" stroke=\"#8b95a3\" stroke-dasharray=\"4 4\"/>");
    }
    for (place, (name, figure)) in rows.iter().enumerate() {
        let y = top + 38.0 * place as f64 + 19.0;
        text(svg, (EDGE, y + 8.0), 24, "#14181f", &clipped(name, 18));
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
        text(svg, (TRACK.1 + 30.0, y + 8.0), 24, "#14181f", &shown(*figure, Unit::Times));
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), size: u32, colour: &str, text: &str) {
    let text = printed(text);
    _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\">{text}</text>");
}

/// Escaped, and without what no XML may contain.
fn printed(text: &str) -> String {
    escaped(&text.replace(|letter: char| letter.is_control() || "\u{fffe}\u{ffff}".contains(letter), " "))
}

fn bold(svg: &mut String, (x, y): (f64, f64), size: u32, text: &str) {
    let text = printed(text);
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
    fn a_picture_of_other_figures_has_another_name() {
        let figure = |value| RunFigure { value, ..RunFigure::default() };
        let name = |value| {
            Picture::of("vs/a/b/", &Card { rows: vec![("a", figure(value))], ..Card::default() }).name
        };
        assert_eq!(name(1.5), name(1.5));
        assert_ne!(name(1.5), name(1.6));
        assert!(name(1.5).starts_with("vs/a/b/preview-") && name(1.5).ends_with(".png"));
    }

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
