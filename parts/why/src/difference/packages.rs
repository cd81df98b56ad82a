//! What packages cost: each sample counts for the package of its innermost function, so that all packages add up to the request.

use std::collections::{BTreeMap, HashMap};

use tare_analysis::why::PackageCost;
use tare_stats::{DEFAULT_CONFIDENCE, simultaneous::means};

use super::{SHARE_MIN, SampledBlock, Times};
use crate::names::{FunctionId, Names, OWN_CODE};

/// Most packages that have a row, the most expensive first: each widens the intervals of all. Own code has one beside them.
const PACKAGES_MAX: usize = 20;
/// What the others are together.
const REST: &str = "other packages";

/// The packages of one row or two, the most expensive first, and their differences with intervals that hold together.
pub(super) fn of(rows: &[Vec<SampledBlock>], times: &[Vec<Times>], names: &Names) -> Vec<PackageCost> {
    let package = |id: FunctionId| names.function(id).package.as_str();
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (id, ns) in times.iter().flatten().flat_map(|times| &times.own) {
        *sums.entry(package(*id)).or_default() += ns;
    }
    let cost: f64 = rows.iter().flatten().map(SampledBlock::cost_ns).sum();
    // What the reader wrote is looked for first, even if what it calls has all of its time.
    let is_own = |id: &FunctionId| package(*id) == OWN_CODE;
    let has_own = times.iter().flatten().any(|times| times.all.keys().any(is_own));
    let own = sums.remove(OWN_CODE).unwrap_or_default();
    let mut known: Vec<(&str, f64)> = sums.into_iter().filter(|(_, ns)| *ns >= SHARE_MIN * cost).collect();
    let is_dearer_first = |a: &(&str, f64), b: &(&str, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(b.0));
    known.sort_by(is_dearer_first);
    known.truncate(PACKAGES_MAX);
    known.extend(has_own.then_some((OWN_CODE, own)));
    known.sort_by(is_dearer_first);
    let places: HashMap<&str, usize> =
        known.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
    // For each row and block, the time of each package, and at last that of the rest.
    let of_block = |times: &Times| {
        let mut found = vec![0.0; known.len() + 1];
        for (id, ns) in &times.own {
            found[places.get(package(*id)).copied().unwrap_or(known.len())] += ns;
        }
        found
    };
    let blocks: Vec<Vec<Vec<f64>>> =
        times.iter().map(|blocks| blocks.iter().map(of_block).collect()).collect();
    let series = |place: usize| match &blocks[..] {
        [old, new] => old.iter().zip(new).map(|(old, new)| new[place] - old[place]).collect(),
        _ => Vec::new(),
    };
    let differences: Vec<Vec<f64>> = (0..=known.len()).map(series).collect();
    let intervals = means(&differences, DEFAULT_CONFIDENCE).unwrap_or_default();
    let mean = |blocks: &Vec<Vec<f64>>, place: usize| {
        blocks.iter().map(|block| block[place]).sum::<f64>() / blocks.len().max(1) as f64
    };
    let package = |(place, name): (usize, &str)| PackageCost {
        name: name.to_owned(),
        own_ns: blocks.iter().map(|blocks| mean(blocks, place)).collect(),
        difference: intervals.get(place).copied(),
    };
    let names = known.iter().map(|(name, _)| *name).chain([REST]);
    let found = names.enumerate().map(package);
    found.filter(|package| package.name != REST || package.own_ns.iter().any(|ns| *ns > 0.0)).collect()
}
