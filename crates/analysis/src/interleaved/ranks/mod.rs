//! Which rows the data separate, the possible ranks of each, and how far unseparated rows may be apart.
//!
//! With one group, figures within a block are compared directly. With several groups, figures are first
//! divided by the reference of their block, and a cycle that measures every row once replaces the block. This
//! assumes that a disturbance multiplies all figures of a block alike, so that rows of different groups are
//! comparable through the reference. Groups are redrawn for each cycle, so they favour no row. The
//! reference's noise is in every figure, and widens ranks without bias.

use std::collections::BTreeMap;

use tare_stats::{
    Better, EstimateError, Looks, Warning,
    ranking::{self, Pair, Ranking},
};

use super::{
    Role, RowReport, RowState,
    blocks::{Block, Blocks},
};
use crate::figures::percent;
use tare_bench::{
    metric::Metric,
    plan::{Plan, Until, until::planned_if_valid},
};

/// The probability that any pair of equal rows is declared different (family-wise).
pub(crate) const ALPHA: f64 = 0.05;
/// Most pairs named below a table.
const PAIRS_MAX: usize = 3;

/// The order of the rows, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// The requested metric, else CPU time, if all measured rows have it; with that of their database, where they have one.
    pub by: Metric,
    /// The probability that any pair of equal rows is declared different (family-wise).
    pub alpha: f64,
    /// Blocks that all rows have; with several groups, cycles.
    pub blocks: usize,
    pub rows: Vec<RankRange>,
    /// All separated pairs.
    separated: Vec<[String; 2]>,
    /// Adjacent rows that are not separated, largest possible difference first.
    pub not_separated: Vec<AdjacentPair>,
    /// Warnings about the whole ranking.
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankRange {
    pub row: String,
    /// The best possible rank.
    pub rank_best: usize,
    pub rank_worst: usize,
}

/// Two rows that the data cannot separate. That does not prove them equal.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjacentPair {
    pub row: String,
    pub next: String,
    /// The largest difference not excluded, as a share of the lesser, simultaneously over all pairs.
    pub differ_most: Option<f64>,
}

/// The figures of one row by block or cycle, each with the number of its process.
type Figures = BTreeMap<usize, (f64, usize)>;

/// The figures of all rows over common blocks.
struct Table<'a> {
    labels: Vec<&'a str>,
    values: Vec<Vec<f64>>,
    processes: Vec<Vec<usize>>,
}

impl<'a> Table<'a> {
    fn of(series: &[(&'a str, Figures)]) -> Option<Table<'a>> {
        let common = |unit: &&usize| series.iter().all(|(_, series)| series.contains_key(unit));
        let units: Vec<usize> = series.first()?.1.keys().filter(common).copied().collect();
        let columns = series.iter().map(|(_, series)| units.iter().map(|unit| series[unit]).unzip());
        let (values, processes) = columns.unzip();
        Some(Table { labels: series.iter().map(|(label, _)| *label).collect(), values, processes })
    }

    fn ranking(&self, better: Better, looks: Option<&Looks>) -> Result<Ranking, EstimateError> {
        match looks {
            Some(looks) => ranking::rank_at_looks(&self.values, better, looks),
            None => ranking::rank_by_start(&self.values, &self.processes, better, ALPHA),
        }
    }
}

/// The error probability of one pair at the latest look. All pairs share the total, so the statements hold
/// whichever pairs are shown; the unseparated ones are a selection.
fn level_of_a_pair(of: &Ranking, looks: Option<&Looks>) -> Option<f64> {
    let share = |alpha: f64| alpha / of.pairs.len() as f64;
    let Some(looks) = looks else { return Some(share(ALPHA)) };
    let blocks: Vec<usize> = looks.all().iter().map(|look| look.n).collect();
    Some(planned_if_valid(&blocks, share(looks.alpha()))?.reached(of.n)?.level)
}

/// The largest difference of two rows that is not excluded at this level.
fn differ_most(pair: &Pair, level: f64) -> Option<f64> {
    let interval = pair.contrast.interval(1.0 - level).ok()??;
    Some(interval.high.max(-interval.low).exp_m1())
}

impl Ranks {
    /// Ranks the rows with figures that are not references; absent if fewer than two can be ranked.
    pub(super) fn of(plan: &Plan, rows: &[(RowReport, &Blocks)], looks: Option<&Looks>) -> Option<Ranks> {
        let is_ranked = |row: &RowReport| row.state == RowState::Measured && row.role == Role::Ranked;
        let ranked = || rows.iter().filter(|(row, _)| is_ranked(row));
        let by = decides(plan, ranked().map(|(row, _)| row));
        let reference = rows.iter().find(|(row, _)| row.label == plan.reference()).map(|(_, blocks)| *blocks);
        let series = ranked().map(|(row, blocks)| (row.label.as_str(), series(plan, by, blocks, reference)));
        let series: Vec<(&str, Figures)> = series.filter(|(_, series)| !series.is_empty()).collect();
        let table = Table::of(&series)?;
        let ranking = table.ranking(by.better(), looks).ok()?;
        // Too few blocks give no interval; the warning has the required number.
        let not_separated = match ranking.warnings.is_empty() {
            true => adjacent_pairs(&ranking, &table, looks),
            false => Vec::new(),
        };
        Some(Ranks {
            by,
            alpha: looks.map_or(ALPHA, Looks::alpha),
            blocks: ranking.n,
            rows: ranking.places.iter().map(|place| RankRange::of(place, &table.labels)).collect(),
            separated: separated_pairs(&ranking, &table.labels),
            not_separated,
            warnings: ranking.warnings.clone(),
        })
    }

    /// Whether this row and the next ranked one are not separated; absent for the last row, or without ranks.
    pub fn is_tied_to_next(&self, label: &str) -> Option<bool> {
        let (place, _) = self.place(label).filter(|_| self.are_known())?;
        let next = self.rows.get(place + 1)?;
        Some(!self.are_separated(label, &next.row))
    }

    pub(crate) fn place(&self, label: &str) -> Option<(usize, &RankRange)> {
        self.rows.iter().enumerate().find(|(_, place)| place.row == label)
    }

    /// Whether there are enough blocks to separate any rows. Without them tables show no ranks.
    pub fn are_known(&self) -> bool {
        self.warnings.is_empty()
    }

    /// Whether these two rows are separated, in either order. Ranks do not show this: those of a noisy row
    /// overlap with others, which may be separated from each other.
    pub fn are_separated(&self, one: &str, other: &str) -> bool {
        self.separated.iter().any(|pair| pair.iter().all(|row| row == one || row == other))
    }

    /// Whether this row is separated from the other, and worse.
    pub fn is_behind(&self, row: &str, other: &str) -> bool {
        let rank = |label: &str| self.place(label).map(|(rank, _)| rank);
        self.are_separated(row, other) && rank(row) > rank(other)
    }

    /// `63 of 66 pairs`.
    pub fn extent(&self) -> String {
        let pairs = self.rows.len() * self.rows.len().saturating_sub(1) / 2;
        format!("{} of {pairs} pairs", self.separated.len())
    }

    /// Lines below the table: first what the ranks are, or why there are none.
    pub fn lines(&self) -> Vec<String> {
        let by = self.by;
        if !self.are_known() {
            return self.warnings.iter().map(|warning| format!("no ranks yet: {warning}")).collect();
        }
        let held = format!(
            "ranks are by {by}: {} of ranked rows are separated, with {:.0}% for all pairs together",
            self.extent(),
            (1.0 - self.alpha) * 100.0
        );
        let pairs = self.not_separated.iter().take(PAIRS_MAX).map(AdjacentPair::text);
        std::iter::once(held).chain(pairs).collect()
    }
}

impl RankRange {
    fn of(place: &ranking::RankPlace, labels: &[&str]) -> RankRange {
        RankRange { row: labels[place.service].to_owned(), rank_best: place.best, rank_worst: place.worst }
    }
}

impl AdjacentPair {
    fn text(&self) -> String {
        match self.differ_most {
            Some(most) => {
                format!("not separated: {} and {} differ by less than {}", self.row, self.next, percent(most))
            }
            None => format!("not separated: {} and {}; no difference is excluded", self.row, self.next),
        }
    }
}

/// The figures of one row, over the blocks that have them.
fn series(plan: &Plan, by: Metric, blocks: &Blocks, reference: Option<&Blocks>) -> Figures {
    let groups = plan.groups();
    let figure = |(&number, block): (&usize, &Block)| {
        let own = block.value(by)?;
        if groups == 1 {
            return Some((number, (own, block.process)));
        }
        let base = reference?.get(&number)?.value(by)?;
        Some((number / groups, (own / base, block.process)))
    };
    blocks.iter().filter_map(figure).collect()
}

fn separated_pairs(ranking: &Ranking, labels: &[&str]) -> Vec<[String; 2]> {
    let separated = ranking.pairs.iter().filter(|pair| pair.separated);
    separated.map(|pair| [pair.a, pair.b].map(|place| labels[place].to_owned())).collect()
}

fn adjacent_pairs(ranking: &Ranking, table: &Table, looks: Option<&Looks>) -> Vec<AdjacentPair> {
    let sides = ranking.places.windows(2).map(|places| (places[0].service, places[1].service));
    let sides = sides.filter(|(one, next)| !ranking.separated(*one, *next));
    let level = level_of_a_pair(ranking, looks);
    let pair = |(one, next): (usize, usize)| AdjacentPair {
        row: table.labels[one].to_owned(),
        next: table.labels[next].to_owned(),
        differ_most: ranking.pair(one, next).and_then(|pair| differ_most(pair, level?)),
    };
    let mut found: Vec<AdjacentPair> = sides.map(pair).collect();
    let most = |pair: &AdjacentPair| pair.differ_most.unwrap_or(f64::INFINITY);
    found.sort_by(|a, b| most(b).total_cmp(&most(a)));
    found
}

/// Frameworks are compared by cost. One that makes its database work more is not cheaper, so that counts too. Throughput shows the
/// same only if services are saturated.
fn decides<'a>(plan: &Plan, rows: impl Iterator<Item = &'a RowReport> + Clone) -> Metric {
    let asked = match &plan.until {
        Until::Ranks(ranks) => ranks.metric,
        _ => Metric::Cpu,
    };
    let total = |row: &RowReport| row.database()?.total_cpu_ns_per_request;
    let has = |metric: &Metric| match metric {
        Metric::Throughput => rows.clone().all(|row| row.requests_per_second.is_some()),
        Metric::Cpu => rows.clone().all(|row| row.cpu_ns_per_request.is_some()),
        Metric::CpuWithDatabase => asked == Metric::Cpu && rows.clone().all(|row| total(row).is_some()),
        _ => true,
    };
    let all = [Metric::CpuWithDatabase, asked, Metric::Cpu, Metric::Throughput];
    all.into_iter().find(has).unwrap_or(Metric::Cpu)
}

#[cfg(test)]
mod tests;
