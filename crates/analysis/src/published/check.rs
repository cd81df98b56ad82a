//! Claims of a published benchmark, and what a run says to each. A claim is checked by comparisons of figures, which stand in
//! the experiment's file; nobody writes a verdict.
//!
//! A comparison is *confirmed* where the whole interval lies within what is claimed, *refuted* where all of it lies outside, and
//! else cannot be told. Intervals are of 95% each, and not adjusted for their number: a claim of many comparisons may have one
//! that is wrong by chance, so the comparisons are listed.

use serde::Serialize;

use super::{CellReport, PointReport, Report, estimate::Estimate, rounds::sound};
use crate::{
    report::figures::time,
    verdict::{Question, Verdict},
};
use tare_bench::{
    figures::{Check, Metric, Quantifier, place},
    grid::{
        plan::{Offered, Point},
        record::Figures,
    },
};

/// A claim and what was found.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimReport {
    /// In the words of the benchmark.
    pub text: String,
    /// All checks together.
    pub verdict: Verdict,
    /// What it was measured for, where that is another time or number than the published one: `12 s instead of 600 s`. A
    /// verdict says no more than that. None too where the run does not say.
    pub measured_for: Option<String>,
    /// One after another; none where nothing is asked of a run.
    pub checks: Vec<CheckReport>,
}

/// One comparison.
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// What is compared, at which point.
    pub what: String,
    /// What was found, in words.
    pub found: String,
    /// Whether it is as claimed.
    pub verdict: Verdict,
    /// What was found, where it is a figure.
    #[serde(skip)]
    pub estimate: Option<Estimate>,
    /// What is claimed of it: at least, at most.
    #[serde(skip)]
    pub claimed: (Option<f64>, Option<f64>),
}

impl ClaimReport {
    /// The verdict in words, and how far it reaches: `confirmed for 12 s instead of 600 s`.
    pub fn verdict_text(&self) -> String {
        let reach = self.measured_for.as_ref().map_or(String::new(), |reach| format!(" for {reach}"));
        format!("{}{reach}", self.verdict.word(Question::Claim))
    }
}

impl CheckReport {
    /// Without a figure.
    fn in_words(what: String, found: String, verdict: Verdict) -> CheckReport {
        CheckReport { what, found, verdict, estimate: None, claimed: (None, None) }
    }
}

/// What the run says to each claim.
pub fn judge(report: &Report, checks: &[Check]) -> Vec<ClaimReport> {
    let claims = report.published.claims.iter().map(|claim| {
        let own: Vec<&Check> = checks.iter().filter(|check| check.claim == claim.id).collect();
        let answers: Vec<(Quantifier, Vec<CheckReport>)> =
            own.iter().map(|check| (check.holds, Asked(check).answer(report))).collect();
        let verdicts = answers.iter().map(|(holds, reports)| {
            let verdicts: Vec<Verdict> = reports.iter().map(|report| report.verdict).collect();
            match holds {
                Quantifier::All => Verdict::of_all(verdicts),
                Quantifier::Some => Verdict::of_any(verdicts),
            }
        });
        let verdict = Verdict::of_all(verdicts);
        let checks = answers.into_iter().flat_map(|(_, reports)| reports).collect();
        let measured_for = measured_for(report, &own).filter(|_| verdict != Verdict::Inconclusive);
        ClaimReport { text: claim.text.clone(), verdict, measured_for, checks }
    });
    claims.collect()
}

/// What the loads that a claim is checked at were done for, as far as that is not what was published.
fn measured_for(report: &Report, checks: &[&Check]) -> Option<String> {
    let points = report.points.iter().map(|point| &point.point);
    let asked = points.filter(|point| checks.iter().any(|check| check.points.is(point)));
    let mut parts: Vec<String> = Vec::new();
    for part in asked.filter_map(|point| point.offered.instead_of(&point.published)) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A check that is answered by a run.
struct Asked<'a>(&'a Check);

impl std::ops::Deref for Asked<'_> {
    type Target = Check;

    fn deref(&self) -> &Check {
        self.0
    }
}

impl Asked<'_> {
    /// Every comparison that it stands for.
    fn answer(&self, report: &Report) -> Vec<CheckReport> {
        let points = report.points.iter().filter(|point| self.points.is(&point.point));
        let pairs = points.flat_map(|point| self.subjects(report, point).map(move |row| (point, row)));
        pairs.map(|(point, row)| self.compare(report, point, row)).collect()
    }

    /// The rows that it is about.
    fn subjects<'r>(
        &'r self,
        report: &'r Report,
        point: &'r PointReport,
    ) -> impl Iterator<Item = usize> + 'r {
        let is_left_out = |name: &str| self.but.iter().chain(&self.to).any(|out| out == name);
        point.point.rows.iter().copied().filter(move |place| {
            let row = &report.rows[*place];
            let is_stuck = || point.cell(*place).is_some_and(|cell| cell.stuck.is_some());
            match self.of.as_str() {
                "*" => {
                    !is_left_out(&row.label)
                        && row.published.is_some()
                        && row.excluded.is_none()
                        && !is_stuck()
                }
                label => row.label == label,
            }
        })
    }

    fn compare(&self, report: &Report, point: &PointReport, row: usize) -> CheckReport {
        let label = &report.rows[row].label;
        let what = format!("{label}{}", place(&point.point));
        let untold =
            |found: &str| CheckReport::in_words(what.clone(), found.to_owned(), Verdict::Inconclusive);
        let Some(cell) = point.cell(row) else {
            return untold("left out");
        };
        match (self.stuck, self.failures, self.metric) {
            (Some(claimed), _, _) => stuck(cell, claimed, what),
            (None, Some(claimed), _) => failures(cell, claimed, what),
            (None, None, Some(metric)) => self.measure(report, point, cell, metric, label),
            (None, None, None) => untold("nothing is asked"),
        }
    }

    fn measure(
        &self,
        report: &Report,
        point: &PointReport,
        cell: &CellReport,
        metric: Metric,
        label: &str,
    ) -> CheckReport {
        let base_point = match &self.to_points {
            Some(differing) => {
                report.points.iter().find(|other| differing.differs(&point.point, &other.point))
            }
            None => Some(point),
        };
        let base_row = match &self.to {
            Some(name) => report.rows.iter().position(|row| row.label == *name),
            None => Some(cell.row),
        };
        let base =
            base_point.zip(base_row).and_then(|(point, row)| point.cell(row).map(|cell| (point, cell)));
        let values = |(point, cell): (&PointReport, &CellReport)| metric.series(cell, &point.point);
        let subject = values((point, cell));
        let is_ratio = self.to.is_some() || self.to_points.is_some();
        let estimate = match (is_ratio, base) {
            (false, _) => Estimate::of(&subject.iter().map(|(_, value)| *value).collect::<Vec<_>>()),
            (true, Some(base)) => Estimate::of_ratio(&subject, &values(base)),
            (true, None) => None,
        };
        let relation = match (&self.to, &self.to_points) {
            (Some(name), _) => format!(" / {name}{}", place(&point.point)),
            (None, Some(differing)) => format!("{} / the same at {}", place(&point.point), differing.text()),
            _ => place(&point.point),
        };
        let unit = if is_ratio { "" } else { metric.unit_text() };
        let what = format!("{}{unit} of {label}{relation}", metric.text());
        match estimate {
            Some(estimate) => {
                // A count has no noise, so one round tells it.
                let estimate = match metric {
                    Metric::RepliesPerConnection if estimate.interval.is_none() => estimate.exact(),
                    _ => estimate,
                };
                let found = format!("{}, claimed {}", estimate.text(), self.bounds());
                let claimed = (self.at_least, self.at_most);
                let verdict = self.verdict(&estimate);
                CheckReport { what, found, verdict, estimate: Some(estimate), claimed }
            }
            None => {
                let found = cell.stuck.clone().or(cell.failed.clone());
                let found = found.unwrap_or_else(|| "no figures".to_owned());
                CheckReport::in_words(what, found, Verdict::Inconclusive)
            }
        }
    }

    fn verdict(&self, estimate: &Estimate) -> Verdict {
        let (low, high) = estimate.reach();
        let (least, most) = (self.at_least.unwrap_or(f64::MIN), self.at_most.unwrap_or(f64::MAX));
        if least <= low && high <= most {
            Verdict::Pass
        } else if high < least || most < low {
            Verdict::Fail
        } else {
            Verdict::Inconclusive
        }
    }

    fn bounds(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) => format!("{least} or more"),
            (None, Some(most)) => format!("{most} or less"),
            (None, None) => "nothing".to_owned(),
        }
    }
}

fn stuck(cell: &CellReport, claimed: bool, what: String) -> CheckReport {
    let (found, is_stuck) = match (&cell.stuck, &cell.failed, cell.rounds) {
        (Some(evidence), _, _) => (evidence.clone(), Some(true)),
        (None, Some(reason), _) => (reason.clone(), None),
        (None, None, 0) => ("not measured".to_owned(), None),
        (None, None, rounds) => (format!("came to its end, in {rounds} of {rounds} round(s)"), Some(false)),
    };
    let verdict = match is_stuck {
        None => Verdict::Inconclusive,
        Some(is_stuck) if is_stuck == claimed => Verdict::Pass,
        Some(_) => Verdict::Fail,
    };
    CheckReport::in_words(what, found, verdict)
}

fn failures(cell: &CellReport, claimed: u64, what: String) -> CheckReport {
    let of = |figures: &Figures| (figures.failures(), figures.sent);
    let all = cell.by_round.iter().map(|(_, figures)| of(figures));
    let elapsed_ns: u64 = cell.by_round.iter().map(|(_, figures)| figures.elapsed_ns).sum();
    let (failed, sent) = all.fold((0, 0), |sum, round| (sum.0 + round.0, sum.1 + round.1));
    let verdict = match (cell.rounds, failed == claimed) {
        (0, _) => Verdict::Inconclusive,
        (_, true) => Verdict::Pass,
        (_, false) => Verdict::Fail,
    };
    let found = format!("{failed} failures of {sent} requests in {}", time(elapsed_ns as f64));
    CheckReport::in_words(what, found, verdict)
}

/// How a metric of the published tables is read from cells.
trait OfCells {
    fn text(self) -> &'static str;
    fn unit_text(self) -> &'static str;
    fn series(self, cell: &CellReport, point: &Point) -> Vec<(usize, f64)>;
    fn value(self, figures: &Figures, point: &Point) -> Option<f64>;
}

impl OfCells for Metric {
    fn text(self) -> &'static str {
        match self {
            Metric::Throughput => "requests a second",
            Metric::MsPerMessage => "ms a message",
            Metric::RepliesPerConnection => "replies a connection",
            Metric::LatencyMsP50 => "median latency",
            Metric::LatencyMsP99 => "p99 of latency",
            Metric::LatencyMsMax => "longest latency",
            Metric::LatencyMaxOfP99 => "longest latency / p99",
            Metric::ConnectionStdevOfMean => "standard deviation / mean of connection times",
        }
    }

    /// For behind a figure of it that is no ratio: ` in ms`.
    fn unit_text(self) -> &'static str {
        match self {
            Metric::LatencyMsP50 | Metric::LatencyMsP99 | Metric::LatencyMsMax => " in ms",
            _ => "",
        }
    }

    /// Its values, one for each round that came to its end.
    fn series(self, cell: &CellReport, point: &Point) -> Vec<(usize, f64)> {
        let of = |(round, figures): &(usize, Figures)| Some((*round, self.value(figures, point)?));
        match self {
            // What is counted is so however fast anybody was.
            Metric::RepliesPerConnection => cell.by_round.iter().filter_map(of).collect(),
            _ => sound(&cell.by_round).into_iter().filter_map(of).collect(),
        }
    }

    /// None where there is none above 0.
    fn value(self, figures: &Figures, point: &Point) -> Option<f64> {
        let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
        let value = match self {
            Metric::Throughput => Some(figures.per_second()),
            Metric::MsPerMessage => match point.offered {
                Offered::Batch { messages, .. } => Some(figures.elapsed_ns as f64 / 1e6 / messages as f64),
                _ => None,
            },
            Metric::RepliesPerConnection => Some(figures.answered as f64 / figures.connects.max(1) as f64),
            Metric::LatencyMsP50 => ms(figures.latency.ns_at(0.5)),
            Metric::LatencyMsP99 => ms(figures.latency.ns_at(0.99)),
            Metric::LatencyMsMax => ms(figures.latency.ns_at(1.0)),
            Metric::LatencyMaxOfP99 => {
                let (longest, p99) = (figures.latency.ns_at(1.0)?, figures.latency.ns_at(0.99)?);
                Some(longest as f64 / p99 as f64)
            }
            Metric::ConnectionStdevOfMean => {
                Some(figures.connection_time.ns_stdev / figures.connection_time.ns_mean)
            }
        };
        value.filter(|value| *value > 0.0 && value.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_interval_within_or_outside_is_a_verdict() {
        let check: Check = toml::from_str(
            "claim = \"x\"\nof = \"a\"\nmetric = \"throughput\"\nat-least = 1.0\nat-most = 2.0",
        )
        .unwrap();
        let told =
            |low, high| Asked(&check).verdict(&Estimate { value: 1.5, interval: Some((low, high)), n: 6 });
        assert_eq!(
            [told(1.0, 2.0), told(2.1, 3.0), told(0.5, 0.9), told(0.9, 1.5), told(0.5, 3.0)],
            [Verdict::Pass, Verdict::Fail, Verdict::Fail, Verdict::Inconclusive, Verdict::Inconclusive]
        );
        assert_eq!(Asked(&check).verdict(&Estimate { value: 1.5, interval: None, n: 1 }), Verdict::Pass);
        assert_eq!(
            Asked(&check).verdict(&Estimate { value: 1.9, interval: None, n: 1 }),
            Verdict::Inconclusive
        );
    }
}
