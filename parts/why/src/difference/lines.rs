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
    // For each line of one of these functions, its times in each block.
    let mut series: BTreeMap<(usize, u32), LineTimes> = BTreeMap::new();
    for (block, measured) in blocks.iter().enumerate() {
        let ns = sample_ns(measured);
        for ((id, line), LineCount { own, all }) in &measured.profile.lines {
            let Some(function) = places.get(alike.get(id).unwrap_or(id)) else { continue };
            let times =
                series.entry((*function, *line)).or_insert_with(|| LineTimes::none(*function, *line, blocks));
            times.own_ns[block] += *own as f64 * ns;
            times.all_ns[block] += *all as f64 * ns;
        }
    }
    let mut known: Vec<LineTimes> = series.into_values().collect();
    known.sort_by(|a, b| mean(&b.all_ns).total_cmp(&mean(&a.all_ns)).then(a.line.cmp(&b.line)));
    let mut found: Vec<&LineTimes> = Vec::new();
    for function in functions {
        let own = known.iter().filter(|line| line.function == *function);
        let most = own.clone().next().map_or(0.0, |line| mean(&line.all_ns));
        found.extend(own.filter(|line| mean(&line.all_ns) >= SHARE_MIN * most).take(LINES_MAX));
    }
    let all: Vec<Vec<f64>> = found.iter().map(|line| line.all_ns.clone()).collect();
    let intervals = means(&all, DEFAULT_CONFIDENCE).unwrap_or_default();
    let cost = |(place, line): (usize, &&LineTimes)| LineCost {
        function: line.function,
        line: line.line,
        own_ns: mean(&line.own_ns),
        all_ns: mean(&line.all_ns),
        all_interval: intervals.get(place).copied(),
    };
    found.iter().enumerate().map(cost).collect()
}

/// The times of a request in a line, block by block.
struct LineTimes {
    function: usize,
    line: u32,
    own_ns: Vec<f64>,
    all_ns: Vec<f64>,
}

impl LineTimes {
    fn none(function: usize, line: u32, blocks: &[SampledBlock]) -> LineTimes {
        let none = vec![0.0; blocks.len()];
        LineTimes { function, line, own_ns: none.clone(), all_ns: none }
    }
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len().max(1) as f64
}
