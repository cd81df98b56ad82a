//! The claims of a published benchmark, and their results in a run. The experiment's file defines comparisons
//! of figures for each claim; verdicts are always computed.
//!
//! A comparison is *confirmed* if the whole interval is within the claimed range, *refuted* if all of it is
//! outside, and *inconclusive* otherwise. Each interval has 95%, without adjustment for their number. A claim
//! of many comparisons may have one that is wrong by chance, so all comparisons are listed.

use super::{
    CellReport, PointReport, SequentialReport,
    evidence::{ClaimOutcome, Judgement, Weakness, weakness},
    rounds::{Round, sound},
    single_round,
};
use crate::estimate::UnitEstimate;
use crate::verdict::Verdict;
use tare_bench::{
    experiment::PUBLISHED,
    figures::{FigureCheck, Quantifier},
    metric::{FigureUnit, Metric},
    plan::{LoadSpec, Point, place},
    sample::Sample,
};

/// A claim and its result.
#[derive(Debug, Clone)]
pub struct ClaimReport {
    pub text: String,
    /// The claim including its factors and figures.
    pub stated: Judgement,
    /// The claimed order only, at any factor; absent if no comparison has a direction.
    pub direction: Option<Judgement>,
    /// The measured duration or number, if it differs from the published one: `12 s instead of 600 s`. The
    /// verdict holds for that size only. Absent if the run does not record it.
    pub measured_for: Option<String>,
    /// All comparisons; absent without any.
    pub checks: Vec<CheckReport>,
}

/// One comparison with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    pub row: String,
    /// The point, as tables name it.
    pub place: String,
    /// The point is the published load, which needs no mention.
    pub is_as_published: bool,
    /// The compared figure; absent for checks of hangs and failures.
    pub metric: Option<Metric>,
    /// The divisor; absent for a plain figure.
    pub divided_by: Option<Divisor>,
    pub found: CheckedFigure,
    /// The published value of the same figure or ratio.
    pub published: Option<f64>,
    /// The weakness of the evidence.
    pub weak: Option<Weakness>,
    /// The claimed lower bound.
    pub claimed_at_least: Option<f64>,
    /// The claimed upper bound.
    pub claimed_at_most: Option<f64>,
    /// Whether a ratio lies on the claimed side of 1; absent without a claimed side.
    pub direction: Option<Verdict>,
    pub verdict: Verdict,
}

/// The divisor of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Divisor {
    /// The same figure of this row, at the same point.
    Row(String),
    /// The same figure of the same row, at a point with this difference.
    Point(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum CheckedFigure {
    /// In milliseconds if the metric is a time.
    Figure(UnitEstimate),
    Nothing(Nothing),
    Hung(String),
    /// It did not hang in this number of rounds.
    Ended {
        rounds: usize,
    },
    Failures {
        failed: u64,
        sent: u64,
        elapsed_ns: u64,
    },
}

/// Why a comparison has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nothing {
    LeftOut,
    NotAsked,
    NotMeasured,
    NoFigures,
    Failed(String),
}

impl CheckReport {
    /// The estimate, if a figure was found.
    pub fn estimate(&self) -> Option<UnitEstimate> {
        match self.found {
            CheckedFigure::Figure(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// The claimed side of 1; absent for a range around 1, and for figures.
    pub(super) fn side(&self) -> Option<ClaimedSide> {
        self.divided_by.as_ref().and(side(self.claimed_at_least, self.claimed_at_most))
    }

    pub fn outcome(&self) -> ClaimOutcome {
        ClaimOutcome::of(self.verdict, self.direction, self.is_of_size())
    }

    /// Times and rates in a range depend on the machine; ratios and counts depend on the services.
    fn is_of_size(&self) -> bool {
        let is_range = self.claimed_at_least.is_some() && self.claimed_at_most.is_some();
        let is_measured =
            self.metric.is_some_and(|metric| !matches!(metric.unit(), FigureUnit::Count | FigureUnit::Ratio));
        is_range && is_measured && self.divided_by.is_none()
    }

    fn answered(self, found: CheckedFigure, verdict: Verdict) -> CheckReport {
        CheckReport { found, verdict, ..self }
    }

    fn unanswered(self, why: Nothing) -> CheckReport {
        self.answered(CheckedFigure::Nothing(why), Verdict::Inconclusive)
    }
}

/// The results of all claims.
pub(crate) fn evaluate(report: &SequentialReport, checks: &[FigureCheck]) -> Vec<ClaimReport> {
    let claims = report.published.claims.iter().map(|claim| {
        let own: Vec<&FigureCheck> = checks.iter().filter(|check| check.claim == claim.id).collect();
        let answers: Vec<(Quantifier, Vec<CheckReport>)> =
            own.iter().map(|check| (check.holds, Asked(check).answer(report))).collect();
        let stated = judged(&answers, |report| Some(report.verdict));
        let stated = stated.unwrap_or(Judgement { verdict: Verdict::Inconclusive, weak: None });
        let direction = judged(&answers, |report| report.direction);
        let checks = answers.into_iter().flat_map(|(_, reports)| reports).collect();
        let measured_for = measured_for(report, &own).filter(|_| stated.verdict != Verdict::Inconclusive);
        ClaimReport { text: claim.text.clone(), stated, direction, measured_for, checks }
    });
    claims.collect()
}

impl ClaimReport {
    pub fn outcome(&self) -> ClaimOutcome {
        let mut refuted = self.checks.iter().filter(|check| check.verdict == Verdict::Fail);
        let direction = self.direction.map(|direction| direction.verdict);
        ClaimOutcome::of(self.stated.verdict, direction, refuted.all(CheckReport::is_of_size))
    }
}

/// The verdict over all checks of a claim, with its weakness.
fn judged(
    answers: &[(Quantifier, Vec<CheckReport>)],
    of: impl Fn(&CheckReport) -> Option<Verdict> + Copy,
) -> Option<Judgement> {
    let reports = answers.iter().flat_map(|(_, reports)| reports);
    let evidence = reports.filter_map(|report| Some((of(report)?, report.weak)));
    Some(Judgement::of(together(answers, of)?, evidence))
}

/// The verdict over all checks of a claim that have one; absent without any.
fn together(
    answers: &[(Quantifier, Vec<CheckReport>)],
    of: impl Fn(&CheckReport) -> Option<Verdict>,
) -> Option<Verdict> {
    let of_checks = answers.iter().filter_map(|(holds, reports)| {
        let verdicts: Vec<Verdict> = reports.iter().filter_map(&of).collect();
        (!verdicts.is_empty()).then(|| match holds {
            Quantifier::All => Verdict::of_all(verdicts),
            Quantifier::Some => Verdict::of_any(verdicts),
        })
    });
    let of_checks: Vec<Verdict> = of_checks.collect();
    (!of_checks.is_empty()).then(|| Verdict::of_all(of_checks))
}

/// The measured sizes of the checked loads, as far as they differ from the published ones.
fn measured_for(report: &SequentialReport, checks: &[&FigureCheck]) -> Option<String> {
    let points = report.points.iter().map(|point| &point.point);
    let asked = points.filter(|point| checks.iter().any(|check| check.points.is(point)));
    let mut parts: Vec<String> = Vec::new();
    for part in asked.filter_map(|point| point.load.instead_of(point.published())) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A direction between two figures, at any factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimedSide {
    Less,
    More,
}

fn side(at_least: Option<f64>, at_most: Option<f64>) -> Option<ClaimedSide> {
    match (at_least, at_most) {
        (_, Some(most)) if most <= 1.0 => Some(ClaimedSide::Less),
        (Some(least), _) if least >= 1.0 => Some(ClaimedSide::More),
        _ => None,
    }
}

impl ClaimedSide {
    /// The verdict for a ratio within these bounds.
    fn verdict(self, (low, high): (f64, f64)) -> Verdict {
        let (is_less, is_more) = (high < 1.0, low > 1.0);
        match (self, is_less, is_more) {
            (ClaimedSide::Less, true, _) | (ClaimedSide::More, _, true) => Verdict::Pass,
            (ClaimedSide::Less, _, true) | (ClaimedSide::More, true, _) => Verdict::Fail,
            _ => Verdict::Inconclusive,
        }
    }
}

/// A check to be evaluated against a run.
struct Asked<'a>(&'a FigureCheck);

impl std::ops::Deref for Asked<'_> {
    type Target = FigureCheck;

    fn deref(&self) -> &FigureCheck {
        self.0
    }
}

impl Asked<'_> {
    /// All comparisons of the check.
    fn answer(&self, report: &SequentialReport) -> Vec<CheckReport> {
        let points = report.points.iter().filter(|point| self.points.is(&point.point));
        let pairs = points.flat_map(|point| self.subjects(report, point).map(move |row| (point, row)));
        pairs.map(|(point, row)| self.compare(report, point, row)).collect()
    }

    /// The rows of the check.
    fn subjects<'r>(
        &'r self,
        report: &'r SequentialReport,
        point: &'r PointReport,
    ) -> impl Iterator<Item = usize> + 'r {
        let is_left_out = |name: &str| self.but.iter().chain(&self.to).any(|out| out == name);
        point.point.rows.iter().copied().filter(move |place| {
            let row = &report.rows[*place];
            let is_hung = || point.cell(*place).is_some_and(|cell| cell.hung.is_some());
            match self.of.as_str() {
                "*" => {
                    !is_left_out(&row.label)
                        && row.published.is_some()
                        && row.excluded.is_none()
                        && !is_hung()
                }
                label => row.label == label,
            }
        })
    }

    fn compare(&self, report: &SequentialReport, point: &PointReport, row: usize) -> CheckReport {
        let asked = self.about(&report.rows[row].label, &point.point);
        let Some(cell) = point.cell(row) else { return asked.unanswered(Nothing::LeftOut) };
        match (self.stuck, self.failures, self.metric) {
            (Some(claimed), _, _) => hung(cell, claimed, asked),
            (None, Some(claimed), _) => failures(cell, claimed, asked),
            (None, None, Some(metric)) => {
                let asked = CheckReport { metric: Some(metric), divided_by: self.divisor(), ..asked };
                let direction = asked.side().map(|_| Verdict::Inconclusive);
                let published = self.published(report, point, row, metric);
                let asked = CheckReport { direction, published, ..asked };
                self.measure(report, point, cell, metric, asked)
            }
            (None, None, None) => asked.unanswered(Nothing::NotAsked),
        }
    }

    fn about(&self, row: &str, point: &Point) -> CheckReport {
        CheckReport {
            row: row.to_owned(),
            place: place(point),
            is_as_published: point.part == PUBLISHED && !point.is_batch(),
            metric: None,
            divided_by: None,
            found: CheckedFigure::Nothing(Nothing::NotAsked),
            published: None,
            weak: None,
            claimed_at_least: self.at_least,
            claimed_at_most: self.at_most,
            direction: None,
            verdict: Verdict::Inconclusive,
        }
    }

    fn divisor(&self) -> Option<Divisor> {
        let point = self.to_points.as_ref().map(|differing| Divisor::Point(differing.text()));
        self.to.clone().map(Divisor::Row).or(point)
    }

    fn measure(
        &self,
        report: &SequentialReport,
        point: &PointReport,
        cell: &CellReport,
        metric: Metric,
        asked: CheckReport,
    ) -> CheckReport {
        let series = |(point, cell): (&PointReport, &CellReport)| series(metric, cell, &point.point);
        let subject = series((point, cell));
        let base = self.base(report, point, cell.row);
        let estimate = match (&asked.divided_by, base) {
            (None, _) => UnitEstimate::of(&subject.iter().map(|(_, value)| *value).collect::<Vec<_>>()),
            (Some(_), Some(base)) => UnitEstimate::of_ratio(&subject, &series(base)),
            (Some(_), None) => None,
        };
        let Some(estimate) = estimate else {
            let why = cell.hung.clone().or(cell.failed.clone());
            return asked.unanswered(why.map_or(Nothing::NoFigures, Nothing::Failed));
        };
        // Counts have no noise, so a single round is enough.
        let is_count = metric == Metric::RepliesPerConnection;
        let estimate = if is_count && estimate.interval().is_none() { estimate.exact() } else { estimate };
        let factor = single_round::factor(metric, &point.point.load).unwrap_or(f64::INFINITY);
        let reach = estimate.reach(factor);
        let direction = asked.side().map(|side| side.verdict(reach));
        let weak = weakness(base.map(|(_, cell)| cell).into_iter().chain([cell]), estimate.n, is_count);
        CheckReport { direction, weak, ..asked }
            .answered(CheckedFigure::Figure(estimate), self.verdict(reach))
    }

    /// The published value of the same comparison.
    fn published(
        &self,
        report: &SequentialReport,
        point: &PointReport,
        row: usize,
        metric: Metric,
    ) -> Option<f64> {
        let of = |point: &PointReport, row: usize| {
            report.published_figure(metric, &point.point, &report.rows[row])
        };
        let own = of(point, row)?;
        if self.divisor().is_none() {
            return Some(own);
        }
        let (at, other) = self.base_at(report, point, row)?;
        Some(own / of(at, other).filter(|other| *other > 0.0)?)
    }

    /// The divisor of a row's figure, if the run has it.
    fn base<'r>(
        &self,
        report: &'r SequentialReport,
        point: &'r PointReport,
        row: usize,
    ) -> Option<(&'r PointReport, &'r CellReport)> {
        let (point, row) = self.base_at(report, point, row)?;
        Some((point, point.cell(row)?))
    }

    /// The point and row of the divisor.
    fn base_at<'r>(
        &self,
        report: &'r SequentialReport,
        point: &'r PointReport,
        row: usize,
    ) -> Option<(&'r PointReport, usize)> {
        let point = match &self.to_points {
            Some(differing) => {
                report.points.iter().find(|other| differing.differs(&point.point, &other.point))?
            }
            None => point,
        };
        let row = match &self.to {
            Some(name) => report.rows.iter().position(|row| row.label == *name)?,
            None => row,
        };
        Some((point, row))
    }

    /// The verdict for a figure within these bounds.
    fn verdict(&self, (low, high): (f64, f64)) -> Verdict {
        let (least, most) = (self.at_least.unwrap_or(f64::MIN), self.at_most.unwrap_or(f64::MAX));
        if least <= low && high <= most {
            Verdict::Pass
        } else if high < least || most < low {
            Verdict::Fail
        } else {
            Verdict::Inconclusive
        }
    }
}

fn hung(cell: &CellReport, claimed: bool, asked: CheckReport) -> CheckReport {
    let found = match (&cell.hung, &cell.failed, cell.rounds) {
        (Some(evidence), _, _) => CheckedFigure::Hung(evidence.clone()),
        (None, Some(reason), _) => return asked.unanswered(Nothing::Failed(reason.clone())),
        (None, None, 0) => return asked.unanswered(Nothing::NotMeasured),
        (None, None, rounds) => CheckedFigure::Ended { rounds },
    };
    // One hang proves the claim; the absence of hangs may be chance.
    let (is_hung, rounds) = (matches!(found, CheckedFigure::Hung(_)), cell.rounds);
    let weak = weakness([], rounds, is_hung);
    let verdict = if is_hung == claimed { Verdict::Pass } else { Verdict::Fail };
    CheckReport { weak, ..asked }.answered(found, verdict)
}

fn failures(cell: &CellReport, claimed: u64, asked: CheckReport) -> CheckReport {
    let loads = || cell.by_round.iter().map(|round| &round.sample.load);
    let all = loads().map(|load| (load.failures(), load.sent));
    let elapsed_ns: u64 = loads().map(|load| load.elapsed_ns).sum();
    let (failed, sent) = all.fold((0, 0), |sum, round| (sum.0 + round.0, sum.1 + round.1));
    let verdict = match (cell.rounds, failed == claimed) {
        (0, _) => Verdict::Inconclusive,
        (_, true) => Verdict::Pass,
        (_, false) => Verdict::Fail,
    };
    // One failure proves the claim; the absence of failures may be chance.
    let weak = weakness([], cell.rounds, failed > 0 || cell.rounds == 0);
    CheckReport { weak, ..asked }.answered(CheckedFigure::Failures { failed, sent, elapsed_ns }, verdict)
}

/// The values of a metric of the published tables, one per finished round of a cell.
fn series(metric: Metric, cell: &CellReport, point: &Point) -> Vec<(usize, f64)> {
    let of = |round: &Round| Some((round.sample.round, value(metric, &round.sample, point)?));
    match metric {
        // Counts do not depend on speed, so all rounds are used.
        Metric::RepliesPerConnection => cell.by_round.iter().filter_map(of).collect(),
        _ => sound(&cell.by_round).into_iter().filter_map(of).collect(),
    }
}

/// The value of the metric; absent unless positive.
fn value(metric: Metric, sample: &Sample, point: &Point) -> Option<f64> {
    let load = &sample.load;
    let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
    let value = match metric {
        Metric::Throughput => Some(load.per_second()),
        Metric::MsPerMessage => match point.load {
            LoadSpec::Batch { messages, .. } => Some(load.elapsed_ns as f64 / 1e6 / messages as f64),
            _ => None,
        },
        Metric::RepliesPerConnection => Some(load.answered as f64 / load.connects.max(1) as f64),
        Metric::P50 => ms(load.latency.ns_at(0.5)),
        Metric::P99 => ms(load.latency.ns_at(0.99)),
        Metric::Max => ms(load.latency.ns_at(1.0)),
        Metric::MaxOfP99 => {
            let (longest, p99) = (load.latency.ns_at(1.0)?, load.latency.ns_at(0.99)?);
            Some(longest as f64 / p99 as f64)
        }
        Metric::ConnectionStdevOfMean => {
            let time = load.connection_time.as_ref().filter(|time| time.count > 1);
            time.map(|time| time.ns_stdev / time.ns_mean)
        }
        Metric::Mean => Some(load.latency.ns_mean / 1e6),
        Metric::Cpu => sample.cost()?.per_request(),
        Metric::CpuWithDatabase => None,
        Metric::Rss => sample.host.process.as_ref()?.rss_bytes_peak.map(|bytes| bytes as f64),
    };
    value.and_then(tare_bench::metric::figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_interval_within_or_outside_is_a_verdict() {
        let check: FigureCheck = toml::from_str(
            "claim = \"x\"\nof = \"a\"\nmetric = \"throughput\"\nat-least = 1.0\nat-most = 2.0",
        )
        .unwrap();
        let found = |low, high| Asked(&check).verdict((low, high));
        assert_eq!(
            [found(1.0, 2.0), found(2.1, 3.0), found(0.5, 0.9), found(0.9, 1.5), found(0.5, 3.0)],
            [Verdict::Pass, Verdict::Fail, Verdict::Fail, Verdict::Inconclusive, Verdict::Inconclusive]
        );
        let sides = [
            side(None, Some(0.1)),
            side(Some(1.0), None),
            side(Some(0.5), Some(1.5)),
            side(Some(2.0), Some(3.0)),
        ];
        assert_eq!(sides, [Some(ClaimedSide::Less), Some(ClaimedSide::More), None, Some(ClaimedSide::More)]);
        let less = |low, high| ClaimedSide::Less.verdict((low, high));
        assert_eq!(
            [less(0.1, 0.2), less(1.1, 2.0), less(0.9, 1.1)],
            [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive]
        );
        let one_round = |value: f64, factor| Asked(&check).verdict(UnitEstimate::known(value).reach(factor));
        assert_eq!(
            [one_round(1.5, 1.2), one_round(1.9, 1.2), one_round(9.0, 1.2), one_round(9.0, f64::INFINITY)],
            [Verdict::Pass, Verdict::Inconclusive, Verdict::Fail, Verdict::Inconclusive]
        );
    }
}
