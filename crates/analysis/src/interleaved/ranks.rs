//! Which rows the data can separate, the ranks that each row may have, and how far rows that are not separated may be apart.
//!
//! Of a run with one group the figures of a block are compared with each other. Of one with several they are related to
//! the reference of their own block first, and the cycle, in which every row is measured once, takes the place of the block.
//! That assumes that what disturbs a block multiplies all in it alike, so that two rows of different groups may be
//! compared by their distances to one reference. The groups are drawn anew for each cycle, so that no row gains
//! by them; the reference's own noise is in every such figure, and makes ranks wider, not wrong.

use std::collections::BTreeMap;

use tare_stats::{
    Better, EstimateError, Looks, Warning,
    ranking::{self, Pair, Ranking},
};

use super::{
    RowReport,
    blocks::{Block, Blocks},
};
use crate::faults::{self, Fault};
use crate::figures::percent;
use tare_bench::{
    metric::{self, Metric},
    plan::{Plan, Until, until::planned_if_valid},
};

/// The probability that any two rows are called different that are not, over all pairs.
pub(crate) const ALPHA: f64 = 0.05;
/// Pairs that are named below a table.
const PAIRS_MAX: usize = 3;

/// The order of the rows, as far as there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// What the run was asked for, else CPU time, as far as every measured row has it.
    pub by: Metric,
    /// Of any two rows called different wrongly.
    pub alpha: f64,
    /// Blocks that all of them have; of several groups, cycles.
    pub blocks: usize,
    pub rows: Vec<Place>,
    /// All pairs that are.
    separated: Vec<[String; 2]>,
    /// Rows that stand side by side and are not separated, those first that may be furthest apart.
    pub not_separated: Vec<AdjacentPair>,
    /// Findings about all of it.
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub row: String,
    /// The best rank that it may have.
    pub rank_best: usize,
    pub rank_worst: usize,
}

/// Two rows that the data cannot separate. That is no proof that they are equal.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjacentPair {
    pub row: String,
    pub next: String,
    /// They differ by less than this share of the lesser, by an interval that holds for all pairs of the run together.
    /// A greater difference is excluded. Absent with too few starts.
    pub differ_most: Option<f64>,
}

/// The figures of one row, by block or cycle, each with the number of the process that it is of.
type Figures = BTreeMap<usize, (f64, usize)>;

/// The same of all rows, in the blocks that all of them have.
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

/// The error of one pair at the latest look. Each pair has its share of the whole, so that all pairs hold together, whichever are
/// shown: those that are not separated are no sample of all.
fn level_of_a_pair(of: &Ranking, looks: Option<&Looks>) -> Option<f64> {
    let share = |alpha: f64| alpha / of.pairs.len() as f64;
    let Some(looks) = looks else { return Some(share(ALPHA)) };
    let blocks: Vec<usize> = looks.all().iter().map(|look| look.n).collect();
    Some(planned_if_valid(&blocks, share(looks.alpha()))?.reached(of.n)?.level)
}

/// The greatest difference of two rows that is not excluded at this level.
fn differ_most(pair: &Pair, level: f64) -> Option<f64> {
    let interval = pair.contrast.interval(1.0 - level).ok()??;
    Some(interval.high.max(-interval.low).exp_m1())
}

impl Ranks {
    /// Of the rows that have figures and are no references, each with its blocks; absent if fewer than two can be ranked.
    pub(super) fn of(plan: &Plan, rows: &[(RowReport, Blocks)], looks: Option<&Looks>) -> Option<Ranks> {
        let ranked = || rows.iter().filter(|(row, _)| row.can_be_ranked());
        let by = decides(plan, ranked().map(|(row, _)| row));
        let reference = rows.iter().find(|(row, _)| row.label == plan.reference()).map(|(_, blocks)| blocks);
        let series = ranked().map(|(row, blocks)| (row.label.as_str(), series(plan, by, blocks, reference)));
        let series: Vec<(&str, Figures)> = series.filter(|(_, series)| !series.is_empty()).collect();
        let table = Table::of(&series)?;
        let ranking = table.ranking(by.better(), looks).ok()?;
        // Too few blocks are no ground for an interval; the warning names the least number.
        let not_separated = match ranking.warnings.is_empty() {
            true => adjacent_pairs(&ranking, &table, looks),
            false => Vec::new(),
        };
        Some(Ranks {
            by,
            alpha: looks.map_or(ALPHA, Looks::alpha),
            blocks: ranking.n,
            rows: ranking.places.iter().map(|place| Place::of(place, &table.labels)).collect(),
            separated: separated_pairs(&ranking, &table.labels),
            not_separated,
            warnings: ranking.warnings.clone(),
        })
    }

    /// Whether this row and the one ranked after it are not separated; absent if none is, or there are no ranks.
    pub fn is_tied_to_next(&self, label: &str) -> Option<bool> {
        let (place, _) = self.place(label).filter(|_| self.are_known())?;
        let next = self.rows.get(place + 1)?;
        Some(!self.are_separated(label, &next.row))
    }

    pub(crate) fn place(&self, label: &str) -> Option<(usize, &Place)> {
        self.rows.iter().enumerate().find(|(_, place)| place.row == label)
    }

    /// Whether there are blocks enough for any two rows to be separated: with fewer every row may have every rank, and
    /// a table shows none.
    pub fn are_known(&self) -> bool {
        self.warnings.is_empty()
    }

    /// Whether these two rows are, in either order. Ranks alone do not say: those of a noisy row reach into those of others, which
    /// may be separated from each other.
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

    /// For below the table: first what the ranks are, or why there are none.
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

impl Place {
    fn of(place: &ranking::Place, labels: &[&str]) -> Place {
        Place { row: labels[place.service].to_owned(), rank_best: place.best, rank_worst: place.worst }
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

/// Positive figures only: the others have no logarithm, and the kernel counted no CPU time.
fn series(plan: &Plan, by: Metric, blocks: &Blocks, reference: Option<&Blocks>) -> Figures {
    let value = |block: &Block| block.value(by);
    let groups = plan.groups();
    let figure = |(&number, block): (&usize, &Block)| {
        let own = metric::figure(value(block))?;
        if groups == 1 {
            return Some((number, (own, block.process)));
        }
        let base = metric::figure(value(reference?.get(&number)?))?;
        Some((number / groups, (own / base, block.process)))
    };
    blocks.iter().filter_map(figure).collect()
}

fn separated_pairs(ranking: &Ranking, labels: &[&str]) -> Vec<[String; 2]> {
    let is_separated = |pair: &&Pair| {
        (pair.separated || faults::is_active(Fault::AllSeparated)) && !faults::is_active(Fault::NoneSeparated)
    };
    let separated = ranking.pairs.iter().filter(is_separated);
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

/// What a request costs is what a framework is compared by: throughput says the same of a service that is saturated, and less of
/// one that is not.
fn decides<'a>(plan: &Plan, rows: impl Iterator<Item = &'a RowReport> + Clone) -> Metric {
    let asked = match &plan.until {
        Until::Ranks(ranks) => ranks.metric,
        _ => Metric::Cpu,
    };
    let has = |metric: &Metric| match metric {
        Metric::Throughput => rows.clone().all(|row| row.requests_per_second.is_some()),
        Metric::Cpu => rows.clone().all(|row| row.cpu_ns_per_request.is_some()),
        _ => true,
    };
    [asked, Metric::Cpu, Metric::Throughput].into_iter().find(has).unwrap_or(Metric::Cpu)
}

#[cfg(test)]
mod tests;
