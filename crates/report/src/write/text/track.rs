//! Ratios and differences as points with their intervals: `┊   ├─●─┤`. The line is where nothing differs.

use super::TextLook;
use crate::{
    document::{Tone, Value},
    write::layout::{Layout, ends},
};

/// The characters of a track.
struct Signs {
    reference: char,
    low: char,
    between: char,
    high: char,
    point: char,
}

const UTF8: Signs = Signs { reference: '┊', low: '├', between: '─', high: '┤', point: '●' };
const ASCII: Signs = Signs { reference: ':', low: '|', between: '-', high: '|', point: 'o' };

/// The width in a file, which has no terminal width.
const USUAL: usize = 24;

/// The drawing of a column.
pub(super) struct RatioTrack {
    /// For each row the place of its figure, and of the bounds of its interval.
    points: Vec<Option<[f64; 3]>>,
    least: f64,
    most: f64,
    signs: &'static Signs,
}

impl RatioTrack {
    /// The largest useful width.
    pub(super) const MOST: usize = 48;

    /// The smallest width.
    pub(super) fn least(look: TextLook) -> usize {
        look.width.map_or(USUAL, |width| (width / 6).clamp(10, USUAL))
    }

    /// The track of a column, if the column has one and there is a row besides the reference.
    pub(super) fn of(layout: &Layout, place: usize, look: TextLook) -> Option<RatioTrack> {
        let table = layout.table;
        if !layout.column(place).track {
            return None;
        }
        let point = |row: &Vec<Value>| {
            let on_track = |number: f64| layout.column(place).on_track(number);
            let value = on_track(row.get(place)?.number()?)?;
            let ends =
                ends(table, row, place).and_then(|(low, high)| Some((on_track(low)?, on_track(high)?)));
            let (low, high) = ends.unwrap_or((value, value));
            Some([low, value, high])
        };
        let points: Vec<Option<[f64; 3]>> = table.rows.iter().map(point).collect();
        let all = || points.iter().flatten().flatten().copied();
        let (least, most) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
        let signs = if look.ascii { &ASCII } else { &UTF8 };
        (least < most).then_some(RatioTrack { points, least, most, signs })
    }

    pub(super) fn cells(&self, width: usize) -> Vec<(String, Tone)> {
        self.points.iter().map(|point| (self.line(*point, width), Tone::Plain)).collect()
    }

    fn line(&self, point: Option<[f64; 3]>, width: usize) -> String {
        let Some(point) = point else { return String::new() };
        let span = self.most - self.least;
        let at = |value: f64| ((value - self.least) / span * (width - 1) as f64).round() as usize;
        let [low, value, high] = point.map(at);
        let sign = |cell: usize| match cell {
            cell if cell == value => self.signs.point,
            cell if cell == low => self.signs.low,
            cell if cell == high => self.signs.high,
            cell if low < cell && cell < high => self.signs.between,
            cell if cell == at(0.0) => self.signs.reference,
            _ => ' ',
        };
        (0..width).map(sign).collect::<String>().trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(points: &[[f64; 3]], signs: &'static Signs) -> RatioTrack {
        let points: Vec<[f64; 3]> = points.iter().map(|point| point.map(f64::ln)).collect();
        let all = || points.iter().flatten().copied();
        let (least, most) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
        RatioTrack { points: points.into_iter().map(Some).chain([None]).collect(), least, most, signs }
    }

    fn lines(track: &RatioTrack, width: usize) -> Vec<String> {
        track.cells(width).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn a_point_lies_where_its_logarithm_does_and_its_interval_around_it() {
        let points = [[1.0; 3], [4.0, 10.0, 25.0], [95.0, 97.0, 100.0]];
        assert_eq!(lines(&track(&points, &UTF8), 21), ["●", "┊     ├───●───┤", "┊                   ●", ""]);
        assert_eq!(lines(&track(&points, &ASCII), 21)[1], ":     |---o---|");
    }

    #[test]
    fn the_reference_is_a_line_that_an_interval_hides() {
        let points = [[0.1, 0.1, 0.1], [0.5, 1.5, 4.0], [10.0, 10.0, 10.0]];
        assert_eq!(lines(&track(&points, &UTF8), 11), ["●    ┊", "   ├──●─┤", "     ┊    ●", ""]);
    }
}
