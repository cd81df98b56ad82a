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
    fn of(value: impl Fn(&Block) -> Option<f64>, blocks: &Blocks, base: &Blocks) -> Option<Relation> {
        let pairs = blocks.iter().filter_map(|(number, block)| Some((block, base.get(number)?)));
        let have_values = pairs.filter(|(block, base)| value(block).is_some() && value(base).is_some());
        let (subject, base): (Vec<&Block>, Vec<&Block>) = have_values.unzip();
        let values = |of: &[&Block]| of.iter().filter_map(|block| value(block)).collect::<Vec<f64>>();
        let processes = |of: &[&Block]| of.iter().map(|block| block.process).collect::<Vec<usize>>();
        let logs = log_ratios(&values(&subject), &values(&base)).ok()?;
        let starts = two_level::by_start(&logs, &processes(&subject), &processes(&base)).ok()?;
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

/// The ratio of one row to another.
pub(crate) fn relate(
    blocks: &Blocks,
    base: &Blocks,
    metric: Metric,
    looks: Option<&Looks>,
) -> Option<Estimate> {
    relate_by(|block| Some(block.value(metric)), blocks, base, looks)
}

/// The same for any value of a block.
pub(super) fn relate_by(
    value: impl Fn(&Block) -> Option<f64>,
    blocks: &Blocks,
    base: &Blocks,
    looks: Option<&Looks>,
) -> Option<Estimate> {
    Some(Estimate::from(&Relation::of(value, blocks, base)?.estimate(looks, None)?))
}

/// Each row divided by the base in a metric; `None` without blocks. Their noise is estimated jointly.
pub(super) fn related(
    rows: &[Option<&Blocks>],
    base: &Blocks,
    metric: Metric,
    looks: Option<&Looks>,
) -> Vec<Option<RatioEstimate>> {
    let relation =
        |blocks: &Option<&Blocks>| Relation::of(|block: &Block| Some(block.value(metric)), (*blocks)?, base);
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
