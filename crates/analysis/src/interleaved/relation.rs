//! Ratios of rows to another row, block by block. Without looks, their noise is estimated jointly.

use tare_stats::{
    Contrast, DEFAULT_CONFIDENCE, Looks, Prior, RatioEstimate, Warning, log_ratios, two_level, warning,
};

use super::{
    RowReport, State,
    blocks::{Block, Blocks},
    starts,
};
use crate::{behaviour::cost, estimate::Estimate, findings::RowIssue};
use tare_bench::metric::Metric;

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
) -> Option<Estimate> {
    let relation = Relation::of(|block| block.value(metric), &common(blocks, base))?;
    Some(Estimate::from(&relation.estimate(looks, None)?))
}

/// The ratio by any value, over the blocks that have it.
pub(super) fn relate_by(
    value: impl Fn(&Block) -> Option<f64>,
    blocks: &Blocks,
    base: &Blocks,
    looks: Option<&Looks>,
) -> Option<Estimate> {
    let mut pairs = common(blocks, base);
    pairs.retain(|pair| pair.iter().all(|block| value(block).is_some()));
    Some(Estimate::from(&Relation::of(value, &pairs)?.estimate(looks, None)?))
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

/// Fills in the ratio of each measured row to the reference.
pub(super) fn relate_to_reference(
    rows: &mut [(RowReport, Blocks)],
    label: &str,
    reference: &Blocks,
    looks: Option<&Looks>,
) {
    for metric in [Metric::Throughput, Metric::Cpu] {
        let is_related = |row: &RowReport| row.state == State::Measured && row.label != label;
        let blocks: Vec<Option<&Blocks>> =
            rows.iter().map(|(row, blocks)| is_related(row).then_some(blocks)).collect();
        let ratios = related(&blocks, reference, metric, looks);
        for ((row, _), found) in rows.iter_mut().zip(ratios) {
            let warnings = found.iter().flat_map(|found| found.warnings.clone());
            // Too few blocks affect all rows alike: one finding of the run covers it.
            let own = warnings.filter(|warning| !matches!(warning, Warning::TooFewBlocks { .. }));
            row.add(
                own.map(|warning| RowIssue::Sample { metric: Some(metric), warning }).collect::<Vec<_>>(),
            );
            let ratio = found.as_ref().map(Estimate::from);
            match metric {
                Metric::Throughput => row.ratio = ratio,
                _ => row.cpu_ratio = ratio,
            }
        }
    }
    for (row, blocks) in rows.iter_mut().filter(|(row, _)| row.state == State::Measured && row.label != label)
    {
        row.add(cost::step(&starts::courses(blocks, reference)).map(RowIssue::CostStep));
    }
}
