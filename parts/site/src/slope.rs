//! A slope chart: what was published and what was found here, joined, on one logarithmic scale.

use std::fmt::Write;

use super::{
    chart::{LogScale, escaped, ticks},
    claim::ClaimCheck,
    figure::RunFigure,
    words::shown,
};
use tare_report::document::Unit;

const WIDTH: f64 = 400.0;
/// The ends of the scale.
const TOP: f64 = 30.0;
const BOTTOM: f64 = 150.0;
/// The places of what was published, and of what was found.
const PUBLISHED: f64 = 128.0;
const HERE: f64 = 236.0;
/// The height of a line of text.
const LINE: f64 = 15.0;
/// The most comparisons of a chart, and the letters of a name that fit.
const CHECKS_MAX: usize = 4;
const LETTERS_MAX: usize = 60;

/// The comparisons that decide a claim; its run has all of them. Empty without any.
pub(crate) fn chart(checks: &[ClaimCheck]) -> String {
    let checks = &checks[..checks.len().min(CHECKS_MAX)];
    if checks.is_empty() {
        return String::new();
    }
    let figures: Vec<RunFigure> = checks.iter().flat_map(figures).collect();
    let unit = if figures.iter().all(|figure| figure.value <= 1.0) { Unit::Share } else { Unit::Times };
    let scale = LogScale::of(figures.iter());
    let y = |number: f64| BOTTOM - (BOTTOM - TOP) * scale.share(number);
    let height = BOTTOM + 22.0 + LINE * checks.len() as f64;
    let mut svg = format!("<svg class=\"slope\" viewBox=\"0 0 {WIDTH} {height}\" aria-hidden=\"true\">");
    band(&mut svg, checks, y);
    axes(&mut svg, scale, unit, y);
    let published = |check: &ClaimCheck| Some((y(check.published?), unit.show(check.published?)));
    let found = |check: &ClaimCheck| (y(check.found.value), shown(check.found, unit));
    for (place, check) in checks.iter().enumerate() {
        line(&mut svg, place, check, y);
        let name: String = check.name.chars().take(LETTERS_MAX).collect();
        let at = BOTTOM + 26.0 + LINE * place as f64;
        _ = write!(svg, "<line class=\"s{place}\" x1=\"0\" x2=\"14\" y1=\"{at}\" y2=\"{at}\"/>");
        _ = write!(svg, "<text x=\"20\" y=\"{}\">{}</text>", at + 4.0, escaped(&name));
    }
    labels(&mut svg, checks.iter().map(published).collect(), PUBLISHED - 9.0, "end");
    labels(&mut svg, checks.iter().map(|check| Some(found(check))).collect(), HERE + 9.0, "start");
    svg + "</svg>"
}

fn figures(check: &ClaimCheck) -> impl Iterator<Item = RunFigure> {
    let other = [check.published, check.claimed_least, check.claimed_most].into_iter().flatten();
    std::iter::once(check.found).chain(other.map(|value| RunFigure { value, ..RunFigure::default() }))
}

/// What was claimed, if it is the same for all.
fn band(svg: &mut String, checks: &[ClaimCheck], y: impl Fn(f64) -> f64) {
    let of = |check: &ClaimCheck| (check.claimed_least, check.claimed_most);
    let (least, most) = of(&checks[0]);
    if (least, most) == (None, None) || checks.iter().any(|check| of(check) != (least, most)) {
        return;
    }
    let (top, bottom) = (most.map_or(TOP - 6.0, &y), least.map_or(BOTTOM + 6.0, &y));
    let (left, width, height) = (PUBLISHED - 6.0, HERE - PUBLISHED + 12.0, (bottom - top).max(2.0));
    _ = write!(
        svg,
        "<rect class=\"band\" x=\"{left}\" y=\"{top:.1}\" width=\"{width}\" height=\"{height:.1}\"/>"
    );
}

/// Both axes with their names, and the numbers of the scale.
fn axes(svg: &mut String, scale: LogScale, unit: Unit, y: impl Fn(f64) -> f64) {
    for (name, x) in [("published", PUBLISHED), ("here", HERE)] {
        _ = write!(svg, "<text class=\"head\" x=\"{x}\" y=\"12\" text-anchor=\"middle\">{name}</text>");
        _ = write!(svg, "<path class=\"axis\" d=\"M{x} {}V{}\"/>", TOP - 6.0, BOTTOM + 6.0);
    }
    let mut above = f64::INFINITY;
    for (number, text) in ticks(scale, unit) {
        let at = y(number);
        if above - at < LINE {
            continue;
        }
        above = at;
        _ = write!(svg, "<text class=\"tick\" x=\"0\" y=\"{:.1}\">{text}</text>", at + 4.0);
        let class = if (number - 1.0).abs() < 1e-9 { "one" } else { "grid" };
        _ = write!(svg, "<path class=\"{class}\" d=\"M38 {at:.1}H{HERE}\"/>");
    }
}

/// From what was published to what was found, with its interval; hollow if the evidence is weak.
fn line(svg: &mut String, place: usize, check: &ClaimCheck, y: impl Fn(f64) -> f64) {
    let here = y(check.found.value);
    if let Some(published) = check.published.map(&y) {
        _ = write!(
            svg,
            "<line class=\"s{place}\" x1=\"{PUBLISHED}\" x2=\"{HERE}\" y1=\"{published:.1}\" y2=\"{here:.1}\"/>\
             <circle class=\"s{place}\" cx=\"{PUBLISHED}\" cy=\"{published:.1}\" r=\"4\"/>"
        );
    }
    if let Some((low, high)) = check.found.ends() {
        let (low, high) = (y(low), y(high));
        _ = write!(
            svg,
            "<line class=\"s{place}\" x1=\"{HERE}\" x2=\"{HERE}\" y1=\"{high:.1}\" y2=\"{low:.1}\"/>"
        );
    }
    let weak = if check.is_weak { " weak" } else { "" };
    _ = write!(svg, "<circle class=\"s{place}{weak}\" cx=\"{HERE}\" cy=\"{here:.1}\" r=\"4\"/>");
}

/// The numbers beside an axis, each at its place or below the one above it.
fn labels(svg: &mut String, labels: Vec<Option<(f64, String)>>, x: f64, anchor: &str) {
    let mut known: Vec<(f64, String)> = labels.into_iter().flatten().collect();
    known.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let places = apart(&known.iter().map(|(at, _)| *at).collect::<Vec<_>>());
    for ((_, text), at) in known.iter().zip(places) {
        _ = write!(svg, "<text x=\"{x}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{text}</text>", at + 4.0);
    }
}

/// Sorted places that are a line apart, within the scale.
fn apart(places: &[f64]) -> Vec<f64> {
    let mut apart: Vec<f64> = Vec::with_capacity(places.len());
    for place in places {
        let least = apart.last().map_or(TOP, |above| above + LINE);
        apart.push(place.max(least));
    }
    let mut most = BOTTOM + 4.0;
    for place in apart.iter_mut().rev() {
        *place = place.min(most);
        most = *place - LINE;
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(published: Option<f64>, value: f64, is_weak: bool) -> ClaimCheck {
        ClaimCheck {
            name: "a / <b>".to_owned(),
            found: RunFigure {
                value,
                low: Some(value * 0.9),
                high: Some(value * 1.1),
                ..RunFigure::default()
            },
            published,
            claimed_least: None,
            claimed_most: Some(0.3333),
            is_weak,
        }
    }

    #[test]
    fn a_slope_joins_what_was_published_with_what_was_found() {
        let drawn = chart(&[check(Some(0.295), 0.6, false), check(None, 0.4, true)]);
        assert!(drawn.contains(">published</text>") && drawn.contains(">here</text>"), "{drawn}");
        assert!(
            drawn.contains(">29.5%</text>") && drawn.contains(">60.0% (54.0 .. 66.0%)</text>"),
            "{drawn}"
        );
        assert_eq!(drawn.matches("class=\"s0\" x1=\"128\" x2=\"236\"").count(), 1);
        assert_eq!(
            drawn.matches("class=\"s1\" x1=\"128\" x2=\"236\"").count(),
            0,
            "it has no published figure"
        );
        assert_eq!((drawn.matches("weak").count(), drawn.matches("class=\"band\"").count()), (1, 1));
        assert!(drawn.contains("a / &lt;b&gt;") && chart(&[]).is_empty(), "{drawn}");
        assert!(chart(&[check(Some(1.5), 0.6, false)]).contains(">1.50x</text>"));
    }

    #[test]
    fn labels_are_a_line_apart_and_within_the_scale() {
        for places in [vec![40.0, 41.0, 42.0], vec![148.0, 149.0, 150.0, 151.0], vec![]] {
            let apart = apart(&places);
            assert!(apart.windows(2).all(|pair| pair[1] - pair[0] >= LINE), "{apart:?}");
            assert!(apart.iter().all(|place| (TOP..=BOTTOM + 4.0).contains(place)), "{apart:?}");
        }
    }
}
