//! The level of a row and its ratio to another row, block by block. A level is the geometric mean over the blocks,
//! with an interval over processes, adjusted to the reference's level times the ratio, so that displayed figures and
//! ratios agree. Without looks, the noise of ratios is estimated jointly.

use tare_bench::metric::{Metric, figure};
use tare_stats::{Contrast, DEFAULT_CONFIDENCE, Looks, Prior, RatioEstimate, log_ratios, two_level, warning};

use super::blocks::{Block, Blocks};
use crate::estimate::UnitEstimate;

/// The level over blocks with a value. With a single process it has no interval.
pub(super) fn level(value: impl Fn(&Block) -> Option<f64>, blocks: &Blocks) -> Option<UnitEstimate> {
    let known = blocks.values().filter_map(|block| Some((figure(value(block)?)?, block.process)));
    let (values, processes): (Vec<f64>, Vec<usize>) = known.unzip();
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let starts = two_level::by_start(&logs, &processes, &processes).ok()?;
    let found = UnitEstimate::exp(&Contrast::of(&starts).ok()?.estimate(DEFAULT_CONFIDENCE).ok()?);
    // A value that is equal in all blocks is returned without rounding errors of logarithms.
    let value = *values.first()?;
    let end = |end: Option<f64>| end.map(|_| value);
    let exact = UnitEstimate { value, low: end(found.low), high: end(found.high), ..found };
    Some(if values.iter().all(|other| *other == value) { exact } else { found })
}

/// A level, adjusted to the blocks of the reference. A row may have fewer blocks than the reference, and an
/// estimated ratio need not equal the ratio of two estimates.
pub(super) fn related_level(
    own: Option<UnitEstimate>,
    reference: Option<UnitEstimate>,
    ratio: Option<UnitEstimate>,
) -> Option<UnitEstimate> {
    let level = reference.zip(ratio).map(|(level, ratio)| level.value * ratio.value);
    own.map(|own| level.map_or(own, |level| own.over(own.value / level)))
}

/// The log ratios of common blocks.
struct Relation {
    logs: Vec<f64>,
    contrast: Contrast,
}

impl Relation {
    /// Absent if a common block lacks the value.
    fn of(value: impl Fn(&Block) -> Option<f64>, pairs: &[[&Block; 2]]) -> Option<Relation> {
        let values = |side: usize| pairs.iter().map(|pair| value(pair[side])).collect::<Option<Vec<f64>>>();
        let processes = |side: usize| pairs.iter().map(|pair| pair[side].process).collect::<Vec<usize>>();
        let logs = log_ratios(&values(0)?, &values(1)?).ok()?;
        let starts = two_level::by_start(&logs, &processes(0), &processes(1)).ok()?;
        Some(Relation { contrast: Contrast::of(&starts).ok()?, logs })
    }

    fn estimate(&self, looks: Option<&Looks>, prior: Option<&Prior>) -> Option<RatioEstimate> {
        let estimate = match looks {
            Some(looks) => looks.estimate(&self.logs).ok()?,
            None => {
                let mut estimate = self.contrast.moderated(prior).estimate(DEFAULT_CONFIDENCE).ok()?;
                estimate.warnings.extend(warning::inspect(&self.logs));
                estimate
            }
        };
        Some(RatioEstimate::from(estimate))
    }
}

/// The common blocks of two rows.
fn common<'b, 'a>(blocks: &'b Blocks<'a>, base: &'b Blocks<'a>) -> Vec<[&'b Block<'a>; 2]> {
    blocks.iter().filter_map(|(number, block)| Some([block, base.get(number)?])).collect()
}

/// The ratio of one row to another.
pub(crate) fn relate(
    blocks: &Blocks,
    base: &Blocks,
    metric: Metric,
    looks: Option<&Looks>,
) -> Option<UnitEstimate> {
    let relation = Relation::of(|block| block.value(metric), &common(blocks, base))?;
    Some(UnitEstimate::from(&relation.estimate(looks, None)?))
}

/// The ratio by any value, over the blocks that have it.
pub(super) fn relate_by(
    value: impl Fn(&Block) -> Option<f64>,
    blocks: &Blocks,
    base: &Blocks,
    looks: Option<&Looks>,
) -> Option<UnitEstimate> {
    let mut pairs = common(blocks, base);
    pairs.retain(|pair| pair.iter().all(|block| value(block).is_some()));
    Some(UnitEstimate::from(&Relation::of(value, &pairs)?.estimate(looks, None)?))
}

/// Each row divided by the base in a metric; `None` without blocks. Their noise is estimated jointly.
pub(super) fn related(
    rows: &[Option<&Blocks>],
    base: &Blocks,
    metric: Metric,
    looks: Option<&Looks>,
) -> Vec<Option<RatioEstimate>> {
    let relation =
        |blocks: &Option<&Blocks>| Relation::of(|block| block.value(metric), &common((*blocks)?, base));
    let relations: Vec<Option<Relation>> = rows.iter().map(relation).collect();
    let prior = Prior::of(relations.iter().flatten().map(|relation| &relation.contrast));
    relations.into_iter().map(|relation| relation?.estimate(looks, prior.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{compute, tests::kept_with};
    use crate::estimate::UnitEstimate;

    #[test]
    fn the_quotient_of_two_levels_is_the_ratio_and_each_has_an_interval() {
        let report = compute(&kept_with(&[("raw-socket", 1.0), ("half", 0.5), ("third", 0.33)], 12));
        let of = |label: &str| report.rows.iter().find(|row| row.label == label).unwrap();
        let reference = of("raw-socket");
        let value = |found: Option<UnitEstimate>| found.unwrap().value;
        for row in [of("half"), of("third")] {
            let pairs = [
                (row.requests_per_second, reference.requests_per_second, row.ratio),
                (row.cpu_ns_per_request, reference.cpu_ns_per_request, row.cpu_ratio),
            ];
            for (own, of_reference, ratio) in pairs {
                let quotient = value(own) / value(of_reference);
                assert!((quotient / value(ratio) - 1.0).abs() < 1e-12, "{}: {quotient}", row.label);
                let (low, high) = own.unwrap().interval().unwrap();
                assert!(low <= value(own) && value(own) <= high);
            }
        }
    }

    #[test]
    fn one_block_has_no_interval() {
        let report = compute(&kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 1));
        let found = report.rows[0].requests_per_second.unwrap();
        assert_eq!((found.interval(), found.n), (None, 1));
    }
}
