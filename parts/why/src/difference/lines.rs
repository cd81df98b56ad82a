//! What the lines of a few functions cost. An edit moves all lines below it, so lines of two versions are not compared: those of the last
//! row are shown, which is the candidate.

use std::collections::{BTreeMap, HashMap};

use tare_analysis::why::LineCost;
use tare_stats::{DEFAULT_CONFIDENCE, simultaneous::means};

use super::SampledBlock;
use crate::{names::FunctionId, profile::LineCount};

/// A line is shown from this share of its function's time on.
const SHARE_MIN: f64 = 0.05;
/// Most lines of a function, the most expensive first.
const LINES_MAX: usize = 5;
/// Most functions whose lines are shown.
const FUNCTIONS_MAX: usize = 5;

/// The lines of these functions in the last row, function by function. Functions are places in `chosen`.
pub(super) fn of(
    rows: &[Vec<SampledBlock>],
    (functions, chosen): (&[usize], &[FunctionId]),
    alike: &HashMap<FunctionId, FunctionId>,
    sample_ns: impl Fn(&SampledBlock) -> f64,
) -> Vec<LineCost> {
    let Some(blocks) = rows.last().filter(|blocks| !blocks.is_empty()) else { return Vec::new() };
    let functions = &functions[..functions.len().min(FUNCTIONS_MAX)];
    let places: HashMap<FunctionId, usize> = functions.iter().map(|place| (chosen[*place], *place)).collect();
    // For each line of one of these functions, its times in each block: own, and with callees.
    let mut series: BTreeMap<(usize, u32), Vec<[f64; 2]>> = BTreeMap::new();
    for (block, measured) in blocks.iter().enumerate() {
        let ns = sample_ns(measured);
        for ((id, line), LineCount { own, all }) in &measured.profile.lines {
            let Some(function) = places.get(alike.get(id).unwrap_or(id)) else { continue };
            let times = series.entry((*function, *line)).or_insert_with(|| vec![[0.0; 2]; blocks.len()]);
            times[block][0] += *own as f64 * ns;
            times[block][1] += *all as f64 * ns;
        }
    }
    let mean =
        |times: &[[f64; 2]], of: usize| times.iter().map(|both| both[of]).sum::<f64>() / times.len() as f64;
    let mut known: Vec<((usize, u32), Vec<[f64; 2]>)> = series.into_iter().collect();
    known.sort_by(|(a, times), (b, others)| {
        a.0.cmp(&b.0).then(mean(others, 1).total_cmp(&mean(times, 1))).then(a.1.cmp(&b.1))
    });
    let mut found = Vec::new();
    for function in functions {
        let own = known.iter().filter(|((of, _), _)| of == function);
        let most = own.clone().map(|(_, times)| mean(times, 1)).fold(0.0, f64::max);
        found.extend(own.filter(|(_, times)| mean(times, 1) >= SHARE_MIN * most).take(LINES_MAX));
    }
    let all: Vec<Vec<f64>> =
        found.iter().map(|(_, times)| times.iter().map(|both| both[1]).collect()).collect();
    let intervals = means(&all, DEFAULT_CONFIDENCE).unwrap_or_default();
    let cost = |(place, ((function, line), times)): (usize, &&((usize, u32), Vec<[f64; 2]>))| LineCost {
        function: *function,
        line: *line,
        own_ns: mean(times, 0),
        all_ns: mean(times, 1),
        all_interval: intervals.get(place).copied(),
    };
    found.iter().enumerate().map(cost).collect()
}
