//! Small pictures without a script: points with their intervals on a logarithmic scale.

use std::fmt::Write;

use super::{figure::RunFigure, words::shown};
use tare_report::document::Unit;

/// The margin of a scale beyond its outermost points, as a share of it.
const MARGIN: f64 = 0.04;
/// The smallest span of a scale, in logarithms, so that noise between similar figures does not fill it.
const SPAN_MIN: f64 = 0.2;

/// Maps numbers above 0 to shares of a width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogScale {
    low: f64,
    high: f64,
}

impl LogScale {
    /// A scale for all figures with their intervals, and for 1.
    pub(crate) fn of<'a>(figures: impl Iterator<Item = &'a RunFigure>) -> LogScale {
        let numbers = figures.flat_map(|figure| [Some(figure.value), figure.low, figure.high]).flatten();
        let logarithms = numbers.filter(|number| *number > 0.0).map(f64::ln);
        let (low, high) = logarithms.fold((0.0_f64, 0.0_f64), |(low, high), at| (low.min(at), high.max(at)));
        let margin = (high - low).max(SPAN_MIN) * MARGIN;
        LogScale { low: low - margin, high: low + (high - low).max(SPAN_MIN) + margin }
    }

    /// A scale from one number above 0 to another one.
    pub(crate) fn between(low: f64, high: f64) -> LogScale {
        let middle = (high.ln() + low.ln()) / 2.0;
        let half = ((high / low).ln() / 2.0).max(SPAN_MIN);
        LogScale { low: middle - half, high: middle + half }
    }

    /// The position from 0 to 1.
    pub(crate) fn share(self, number: f64) -> f64 {
        if number <= 0.0 { 0.0 } else { ((number.ln() - self.low) / (self.high - self.low)).clamp(0.0, 1.0) }
    }
}

/// The most numbers at a scale.
const TICKS_MAX: usize = 8;
/// The least share of a scale between two of them.
const TICKS_APART: f64 = 0.06;

/// The round numbers of a scale, each with its text.
pub(crate) fn ticks(scale: LogScale, unit: Unit) -> Vec<(f64, String)> {
    let all = |steps: &[f64]| -> Vec<f64> {
        let numbers = powers(unit).flat_map(|power| steps.iter().map(move |step| step * power));
        let (low, high) = (scale.low - 1e-9, scale.high + 1e-9);
        // Below 1 tenths are hundredths of the axis.
        let is_round = |number: &f64| steps.len() < 10 || *number >= 1.0;
        numbers.filter(|number| is_round(number) && (low..=high).contains(&number.ln())).collect()
    };
    let tenths: Vec<f64> = (10..100).map(|tenths| f64::from(tenths) / 10.0).collect();
    let few =
        [tenths.as_slice(), &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]].map(all);
    let of = |least: usize| few.iter().find(|numbers| (least..=TICKS_MAX).contains(&numbers.len()));
    let fits = of(2).or_else(|| of(1)).unwrap_or(&few[4]);
    let mut ticks: Vec<(f64, String)> = Vec::new();
    for number in fits {
        let before = ticks.last().map_or(-1.0, |(before, _)| scale.share(*before));
        if scale.share(*number) - before > TICKS_APART {
            ticks.push((*number, tick(unit, *number)));
        }
    }
    ticks.dedup_by(|one, other| one.1 == other.1);
    ticks
}

/// The powers of ten of a unit; those of memory are of KiB, MiB and GiB.
fn powers(unit: Unit) -> Box<dyn Iterator<Item = f64>> {
    match unit {
        Unit::Bytes => Box::new((1..4).flat_map(|of| [1.0, 10.0, 100.0].map(|ten| ten * 1024_f64.powi(of)))),
        _ => Box::new((-6..15).map(|power| 10_f64.powi(power))),
    }
}

/// A number at a scale: without zeros that say nothing, as `tick` of `web/src/figures.js`.
fn tick(unit: Unit, number: f64) -> String {
    let text = unit.show((number * 1e9).round() / 1e9);
    let Some((whole, rest)) = text.split_once('.') else { return text };
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (decimals, unit) = rest.split_at(end);
    match decimals.trim_end_matches('0') {
        "" => format!("{whole}{unit}"),
        decimals => format!("{whole}.{decimals}{unit}"),
    }
}

/// The lines of a scale and its numbers, as SVG; `at` is a position in percent. The line at 1 of a ratio is that
/// of the reference.
pub(crate) fn grid(scale: LogScale, unit: Unit, at: impl Fn(f64) -> f64) -> [String; 2] {
    let (mut grid, mut axis) = (String::new(), String::new());
    for (number, text) in ticks(scale, unit) {
        let x = at(number);
        let is_one = unit == Unit::Times && (number - 1.0).abs() < 1e-9;
        let one = if is_one { " class=\"one\"" } else { "" };
        _ = write!(grid, "<line{one} x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"0\" y2=\"100%\"/>");
        _ = write!(axis, "<text x=\"{x:.2}%\" y=\"1.1em\" text-anchor=\"middle\">{text}</text>");
    }
    [grid, axis]
}

/// Figures on one scale, each in a lane of its own.
pub(crate) struct Tracks {
    pub(crate) grid: String,
    pub(crate) axis: String,
    pub(crate) lanes: Vec<Track>,
}

pub(crate) struct Track {
    pub(crate) name: String,
    /// The figure with its interval, as SVG and as text.
    pub(crate) points: String,
    pub(crate) text: String,
}

pub(crate) fn tracks(rows: &[(&str, RunFigure)], unit: Unit) -> Tracks {
    let scale = LogScale::of(rows.iter().map(|(_, figure)| figure));
    // Numbers of the axis have room at both ends.
    let at = |number: f64| 5.0 + 90.0 * scale.share(number);
    let [grid, axis] = grid(scale, unit, at);
    let lane = |(name, figure): &(&str, RunFigure)| {
        let mut points = String::new();
        if let Some((low, high)) = figure.ends() {
            let (from, width) = (at(low), (at(high) - at(low)).max(0.3));
            _ = write!(
                points,
                "<rect x=\"{from:.2}%\" width=\"{width:.2}%\" y=\"50%\" height=\"10\" rx=\"2\"/>"
            );
        }
        _ = write!(points, "<circle cx=\"{:.2}%\" cy=\"50%\" r=\"5\"/>", at(figure.value));
        Track { name: (*name).to_owned(), points, text: shown(*figure, unit) }
    };
    Tracks { grid, axis, lanes: rows.iter().map(lane).collect() }
}

/// The most rows of a small picture of points.
const POINTS_MAX: usize = 7;
const ROW: f64 = 18.0;
/// The end of the names, which is the start of the scale, and the end of the scale.
const TRACK: (f64, f64) = (110.0, 330.0);
const LETTERS_MAX: usize = 15;

/// The first rows of a run, each as a point with its interval, and a line at 1.
pub(crate) fn points<'a>(rows: impl Iterator<Item = (&'a str, RunFigure)>) -> String {
    let rows: Vec<(&str, RunFigure)> = rows.take(POINTS_MAX).collect();
    let scale = LogScale::of(rows.iter().map(|(_, figure)| figure));
    let x = |number: f64| TRACK.0 + (TRACK.1 - TRACK.0) * scale.share(number);
    let height = ROW * rows.len() as f64;
    if rows.is_empty() {
        return String::new();
    }
    let (end, one) = (TRACK.1 + 50.0, x(1.0));
    let mut svg = format!("<svg class=\"points\" viewBox=\"0 0 {end} {height}\" aria-hidden=\"true\">");
    _ = write!(svg, "<path d=\"M{one:.1} 0V{height}\"/>");
    for (place, (name, figure)) in rows.iter().enumerate() {
        let y = ROW * (place as f64 + 0.5);
        let name: String = name.chars().take(LETTERS_MAX).collect();
        _ = write!(svg, "<text x=\"0\" y=\"{:.1}\">{}</text>", y + 4.0, escaped(&name));
        if let Some((low, high)) = figure.ends() {
            let (from, width) = (x(low), (x(high) - x(low)).max(1.5));
            _ = write!(svg, "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"7\"/>", y - 3.5);
        }
        _ = write!(svg, "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>", x(figure.value));
        let value = Unit::Times.show(figure.value);
        _ = write!(svg, "<text x=\"{end}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>", y + 4.0);
    }
    svg + "</svg>"
}

pub(crate) struct Step {
    /// A description for readers who cannot see it, and a tooltip.
    pub(crate) text: String,
    pub(crate) figure: Option<RunFigure>,
}

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 56.0;
const EDGE: f64 = 7.0;

/// A series over time: a point and its interval for each run, joined.
pub(crate) fn trend(steps: &[Step], scale: LogScale) -> String {
    let x = |place: usize| EDGE + (WIDTH - 2.0 * EDGE) * place as f64 / (steps.len().max(2) - 1) as f64;
    let y = |number: f64| HEIGHT - EDGE - (HEIGHT - 2.0 * EDGE) * scale.share(number);
    let told: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
    let mut svg = format!(
        "<svg class=\"trend\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escaped(&told.join("; "))
    );
    let known = || steps.iter().enumerate().filter_map(|(place, step)| Some((place, step, step.figure?)));
    let points: Vec<String> =
        known().map(|(place, _, figure)| format!("{:.1},{:.1}", x(place), y(figure.value))).collect();
    _ = write!(svg, "<polyline points=\"{}\"/>", points.join(" "));
    for (place, step, figure) in known() {
        let at = x(place);
        if let Some((low, high)) = figure.ends() {
            _ = write!(
                svg,
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                y(low),
                y(high)
            );
        }
        let (cy, title) = (y(figure.value), escaped(&step.text));
        _ = write!(svg, "<circle cx=\"{at:.1}\" cy=\"{cy:.1}\" r=\"3\"><title>{title}</title></circle>");
    }
    svg + "</svg>"
}

/// Escapes text for HTML, between tags and in attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, low: f64, high: f64) -> RunFigure {
        RunFigure { value, low: Some(low), high: Some(high), ..RunFigure::default() }
    }

    #[test]
    fn a_scale_has_room_for_all_and_for_one() {
        let figures = [figure(2.0, 1.5, 3.0), figure(40.0, 30.0, 50.0)];
        let scale = LogScale::of(figures.iter());
        let places = [1.0, 1.5, 2.0, 40.0, 50.0].map(|number| scale.share(number));
        assert!(places.is_sorted() && places[0] > 0.0 && places[4] < 1.0, "{places:?}");
        let alike = LogScale::of([figure(1.0, 0.999, 1.001)].iter());
        assert!(alike.share(1.001) - alike.share(0.999) < 0.02, "noise does not fill a scale");
    }

    #[test]
    fn a_scale_has_few_round_numbers() {
        let of = |low, high, unit| -> Vec<String> {
            ticks(LogScale::between(low, high), unit).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(of(1.0, 50.0, Unit::Times), ["1x", "2x", "5x", "10x", "20x", "50x"]);
        assert_eq!(of(3e6, 30e6, Unit::Bytes), ["3 MiB", "5 MiB", "7 MiB", "10 MiB", "15 MiB", "20 MiB"]);
        assert_eq!(
            of(1e6, 2e9, Unit::Nanoseconds),
            ["1 ms", "3 ms", "10 ms", "30 ms", "100 ms", "300 ms", "1 s"]
        );
        assert_eq!(of(1.0, 1.5, Unit::Times), ["1x", "1.1x", "1.2x", "1.3x", "1.4x", "1.5x"]);
        assert_eq!(of(0.02, 0.6, Unit::Share), ["2%", "5%", "10%", "20%", "50%"]);
        assert_eq!(of(1e-3, 1e9, Unit::Number).len(), 13);
    }

    #[test]
    fn a_series_has_a_point_for_each_known_figure() {
        let step = |text: &str, figure| Step { text: text.to_owned(), figure };
        let steps = [
            step("1 < 2", Some(figure(2.0, 1.9, 2.1))),
            step("none", None),
            step("b", Some(figure(3.0, 2.0, 4.0))),
        ];
        let drawn = trend(&steps, LogScale::of(steps.iter().filter_map(|step| step.figure.as_ref())));
        assert_eq!(drawn.matches("<circle").count(), 2);
        assert!(drawn.contains("aria-label=\"1 &lt; 2; none; b\""), "{drawn}");
    }
}
