//! A comparison of a claim in words.

use std::fmt;

use tare_bench::metric::{Metric, Unit};

use super::check::{CheckReport, Divisor, Found, Nothing};
use crate::figures::{several, time};

impl CheckReport {
    /// What is compared, at which point: `throughput of restinio / asio in "published"`.
    pub fn what(&self) -> String {
        match self.metric {
            Some(metric) => format!("{} of {}", self.metric_words(metric), self.subject(&self.place)),
            None => self.subject(&self.place),
        }
    }

    /// Which row, or which ratio of rows, at this place: `restinio / asio`.
    pub fn subject(&self, place: &str) -> String {
        let row = &self.row;
        match &self.divided_by {
            Some(Divisor::Row(other)) => format!("{row} / {other}{place}"),
            Some(Divisor::Point(other)) => format!("{row}{place} / the same at {other}"),
            None => format!("{row}{place}"),
        }
    }

    /// A ratio has no unit.
    pub fn metric_words(&self, metric: Metric) -> String {
        match (metric.unit(), &self.divided_by) {
            (Unit::Nanoseconds, None) => format!("{metric} in ms"),
            _ => metric.to_string(),
        }
    }

    /// What was found, and what was claimed if that is a range.
    pub fn found(&self) -> String {
        match &self.found {
            Found::Figure(estimate) => format!("{}, claimed {}", estimate.text(), self.claimed()),
            Found::Nothing(why) => why.to_string(),
            Found::Hung(evidence) => evidence.clone(),
            Found::Ended { rounds } => {
                format!("came to its end, in {rounds} of {}", several(*rounds, "round"))
            }
            Found::Failures { failed, sent, elapsed_ns } => {
                format!("{failed} failures of {sent} requests in {}", time(*elapsed_ns as f64))
            }
        }
    }

    fn claimed(&self) -> String {
        match (self.claimed_at_least, self.claimed_at_most) {
            (Some(least), Some(most)) => format!("{} .. {}", digits(least), digits(most)),
            (Some(least), None) => format!("{} or more", digits(least)),
            (None, Some(most)) => format!("{} or less", digits(most)),
            (None, None) => "nothing".to_owned(),
        }
    }
}

/// What was published, to a thousandth: `0.333`, `0.65`, `200`.
fn digits(value: f64) -> String {
    let digits = format!("{value:.3}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
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

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn what_was_published_has_no_more_digits_than_it_needs() {
        assert_eq!([0.333_3, 0.65, 200.0, 1.0].map(digits), ["0.333", "0.65", "200", "1"]);
    }
}
