//! The wording of a claim's comparison.

use std::fmt;
use tare_base::units::several;

use tare_bench::metric::{FigureUnit, Metric};

use super::check::{CheckReport, CheckedFigure, ClaimedSide, Divisor, Nothing};
use crate::{
    estimate::UnitEstimate,
    figures::{Parts, interval, joined, parts, time},
    verdict::Verdict,
};

impl CheckReport {
    /// The compared figure and point: `throughput of restinio / asio in "published"`.
    pub fn what(&self) -> String {
        match self.metric {
            Some(metric) => format!("{metric} of {}", self.subject(&self.place)),
            None => self.subject(&self.place),
        }
    }

    /// The row, or the ratio of rows, at this place: `restinio / asio`.
    pub fn subject(&self, place: &str) -> String {
        let row = &self.row;
        match &self.divided_by {
            Some(Divisor::Row(other)) => format!("{row} / {other}{place}"),
            Some(Divisor::Point(other)) => format!("{row}{place} / the same at {other}"),
            None => format!("{row}{place}"),
        }
    }

    /// The metric, with its unit unless it is a ratio.
    pub fn metric_words(&self, metric: Metric) -> String {
        match (metric.unit(), &self.divided_by) {
            (FigureUnit::Nanoseconds, None) => format!("{metric} in ms"),
            _ => metric.to_string(),
        }
    }

    /// The result, in direction and size, with the published value: `as published: slower; published 12.2x,
    /// here 6.63x (5.15 .. 8.55x)`.
    pub fn found(&self) -> String {
        match &self.found {
            CheckedFigure::Figure(estimate) => self.figure(estimate),
            CheckedFigure::Nothing(why) => why.to_string(),
            CheckedFigure::Hung(evidence) => evidence.clone(),
            CheckedFigure::Ended { rounds } => {
                format!("came to its end, in {rounds} of {}", several(*rounds, "round"))
            }
            CheckedFigure::Failures { failed, sent, elapsed_ns } => {
                format!("{failed} failures of {sent} requests in {}", time(*elapsed_ns as f64))
            }
        }
    }

    fn figure(&self, found: &UnitEstimate) -> String {
        let Some((side, direction)) = self.side().zip(self.direction) else {
            return self.sizes(found, Reading::AsItIs);
        };
        let claimed = side.word(self.metric);
        match direction {
            Verdict::Pass => format!("as published: {claimed}; {}", self.sizes(found, Reading::Times(side))),
            Verdict::Fail => self.sizes(found, Reading::Against(side)),
            _ => format!("direction inconclusive; {}", self.sizes(found, Reading::AsItIs)),
        }
    }

    /// `published 12.2x, here 6.63x (5.15 .. 8.55x)`; without a published figure, the claimed range.
    fn sizes(&self, found: &UnitEstimate, reading: Reading) -> String {
        let (side, here_side) = match reading {
            Reading::AsItIs => (None, None),
            Reading::Times(side) => (Some(side), Some(side)),
            Reading::Against(side) => (Some(side), Some(side.opposite())),
        };
        let named = |side: Option<ClaimedSide>| match (reading, side) {
            (Reading::Against(_), Some(side)) => format!(" {}", side.word(self.metric)),
            _ => String::new(),
        };
        let published = self
            .published
            .map(|published| format!("published {}{}", self.shown(turned(published, side)), named(side)));
        let here = format!("here {}", self.with_interval(found, here_side, &named(here_side)));
        // A published direction makes the bound redundant.
        let is_said = published.is_some() && (side.is_some() || self.direction.is_some());
        let claimed = self.claimed(side).filter(|_| !is_said).map(|claimed| format!("claimed {claimed}"));
        [published, claimed, Some(here)].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn with_interval(&self, found: &UnitEstimate, side: Option<ClaimedSide>, word: &str) -> String {
        let value = self.shown(turned(found.value, side)) + word;
        match found.interval() {
            Some((low, high)) if low == high => value,
            Some((low, high)) => {
                let (one, other) = (turned(low, side), turned(high, side));
                let ends = (self.parts(one.min(other)), self.parts(one.max(other)));
                format!("{value} ({})", interval(ends.0, ends.1))
            }
            None => format!("{value} (one round)"),
        }
    }

    fn shown(&self, value: f64) -> String {
        joined(self.parts(value))
    }

    /// A ratio as a factor; a figure in its unit, with times in milliseconds.
    fn parts(&self, value: f64) -> Parts {
        match self.metric.filter(|_| self.divided_by.is_none()) {
            Some(Metric::Cpu) => parts::time(value),
            Some(metric) => match metric.unit() {
                FigureUnit::PerSecond => parts::rate(value),
                FigureUnit::Nanoseconds | FigureUnit::Milliseconds => parts::time(value * 1e6),
                FigureUnit::Bytes => parts::bytes(value),
                FigureUnit::Count => (((value * 100.0).round() / 100.0).to_string(), ""),
                FigureUnit::Ratio => parts::times(value),
            },
            None => parts::times(value),
        }
    }

    /// The claimed range; absent if only a direction is claimed.
    fn claimed(&self, side: Option<ClaimedSide>) -> Option<String> {
        let ends = (self.claimed_at_least, self.claimed_at_most);
        let (least, most) = match side {
            Some(ClaimedSide::Less) => (ends.1.map(f64::recip), ends.0.map(f64::recip)),
            _ => ends,
        };
        let is_direction = self.divided_by.is_some() && matches!(ends, (Some(1.0), None) | (None, Some(1.0)));
        let text = match (least, most) {
            (Some(least), Some(most)) => interval(self.parts(least), self.parts(most)),
            (Some(least), None) => format!("{} or more", self.shown(least)),
            (None, Some(most)) => format!("{} or less", self.shown(most)),
            (None, None) => return None,
        };
        (!is_direction).then_some(text)
    }
}

/// How a ratio is worded.
#[derive(Debug, Clone, Copy)]
enum Reading {
    AsItIs,
    /// As a factor above 1 in the claimed direction.
    Times(ClaimedSide),
    /// The claimed direction and the opposite result, each with its word.
    Against(ClaimedSide),
}

/// The ratio, inverted if needed so that the claimed side is above 1.
fn turned(ratio: f64, side: Option<ClaimedSide>) -> f64 {
    if side == Some(ClaimedSide::Less) { ratio.recip() } else { ratio }
}

impl ClaimedSide {
    fn opposite(self) -> ClaimedSide {
        match self {
            ClaimedSide::Less => ClaimedSide::More,
            ClaimedSide::More => ClaimedSide::Less,
        }
    }

    fn word(self, metric: Option<Metric>) -> &'static str {
        let (less, more) = match metric {
            Some(Metric::Throughput) => ("slower", "faster"),
            Some(Metric::MsPerMessage) => ("faster", "slower"),
            _ => ("lower", "higher"),
        };
        if self == ClaimedSide::Less { less } else { more }
    }
}

impl fmt::Display for Nothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Nothing::LeftOut => "left out",
            Nothing::NotAsked => "nothing is asked",
            Nothing::NotMeasured => "not measured",
            Nothing::NoFigures => "no figures",
            Nothing::Failed(reason) => reason,
        })
    }
}
