//! From counts of stacks to functions with intervals: what a request costs in each function, and which functions explain a difference.
//! Pure: the same counts give the same answer.

mod alike;
mod answer;
mod chores;
mod lines;
mod packages;
mod tree;

use std::collections::{BTreeMap, HashMap, HashSet};

use tare_analysis::why::{FunctionCost, OtherChange, StackCost, WhyReport, frame};
use tare_stats::{
    DEFAULT_CONFIDENCE,
    simultaneous::{MeanInterval, means},
};

use crate::{
    names::{FunctionId, KERNEL, Names},
    profile::StackCounts,
};
use tree::Tree;

/// A function takes part from this share of a request on.
const SHARE_MIN: f64 = 0.004;
/// And from this number of samples a block on, as a mean over the blocks of both rows: what one row alone does, it must do twice as often.
/// To ask it of the row with more samples would choose functions for their difference.
const SAMPLES_MIN: f64 = 2.0;
/// Most functions that are compared at a time, the most expensive first: each widens the intervals of all, unless it moves as another one
/// does.
const FUNCTIONS_MAX: usize = 120;
/// Most functions with those that move as another does, such as its only caller.
const ALL_FUNCTIONS_MAX: usize = 600;
/// With less than this share of its time in one row, a function is as good as absent in the other.
const ABSENT: f64 = 0.05;
/// A function that only one row has is counted if at least this share of its time, with callees, is more than these cost in the other row.
const EARNED: f64 = 0.5;
/// From this share of each request on, a function with next to no time of its own says nothing: it is `main`, or what a runtime has around
/// each request. Rust and Java have dozens of these.
const EVERYTHING: f64 = 0.95;
/// Most stacks that are stored, the most expensive first.
const STACKS_MAX: usize = 5_000;

/// A row in one block: what was sampled, and what was counted beside it.
#[derive(Debug, Clone, Default)]
pub struct SampledBlock {
    pub profile: StackCounts,
    /// Time between two samples, which may become longer from block to block.
    pub period_ns: u64,
    /// CPU time of the sampled slices, and the right answers in them.
    pub cpu_ns: f64,
    pub answered: f64,
    /// Counts of these slices; absent if one is unknown.
    pub page_faults: Option<f64>,
    pub calls: Option<f64>,
    pub switches: Option<f64>,
    pub bytes: Option<f64>,
    /// The same cost in slices that were not sampled.
    pub plain_cpu_ns: f64,
    pub plain_answered: f64,
}

/// Everything that was measured of one or two rows.
#[derive(Debug)]
pub struct SampledRows<'a> {
    /// For each row its blocks, in the same order.
    pub rows: &'a [Vec<SampledBlock>],
    pub names: &'a mut Names,
    pub period_ns: u64,
    /// Whether the kernel was sampled too. If not, its time is what remains of the CPU time.
    pub has_kernel: bool,
}

impl SampledBlock {
    /// CPU time of a request, without that of threads that compile the program.
    pub fn cost_ns(&self) -> f64 {
        let compiling_ns = (self.profile.compiling * self.period_ns) as f64;
        (self.cpu_ns - compiling_ns).max(0.0) / self.answered.max(1.0)
    }

    /// What one sample stands for, in a request.
    fn sample_ns(&self, has_kernel: bool) -> f64 {
        match has_kernel {
            true => self.cost_ns() / self.profile.samples.max(1) as f64,
            // Samples of user mode alone do not add up to all of the CPU time; each stands for its period.
            false => self.period_ns as f64 / self.answered.max(1.0),
        }
    }
}

/// The times of each function in one row and block.
#[derive(Debug, Default)]
struct Times {
    own: HashMap<FunctionId, f64>,
    all: HashMap<FunctionId, f64>,
}

/// Computes the report, but for its facts about subjects.
pub fn compute(input: SampledRows<'_>) -> WhyReport {
    let SampledRows { rows, names, period_ns, has_kernel } = input;
    let alike = alike::pairs(rows, names);
    let kernel = names.special(KERNEL, true);
    let of_block = |measured: &SampledBlock| {
        let mut times = times(measured, measured.sample_ns(has_kernel), &alike);
        if !has_kernel {
            let user: f64 = times.own.values().sum();
            let rest = (measured.cost_ns() - user).max(0.0);
            times.own.insert(kernel, rest);
            times.all.insert(kernel, rest);
        }
        times
    };
    let times: Vec<Vec<Times>> = rows.iter().map(|blocks| blocks.iter().map(of_block).collect()).collect();
    let chosen = chosen(rows, &times, |id| names.function(id).module != KERNEL);
    let intervals = Intervals::of(rows, &times, &chosen);
    let mean = |row: usize, of: &dyn Fn(&Times) -> f64| {
        times[row].iter().map(of).sum::<f64>() / times[row].len().max(1) as f64
    };
    let cost = |place: usize| {
        let id = chosen[place];
        let function = names.function(id);
        let each = |of: fn(&Times, FunctionId) -> f64| {
            (0..rows.len()).map(|row| mean(row, &|times| of(times, id))).collect()
        };
        FunctionCost {
            name: function.name.clone(),
            module: function.module.clone(),
            package: function.package.clone(),
            file: function.file.clone(),
            line: function.line,
            page: None,
            own_ns: each(own_ns),
            all_ns: each(all_ns),
            own_difference: intervals.functions[place][1],
            all_difference: intervals.functions[place][0],
        }
    };
    let functions: Vec<FunctionCost> = (0..chosen.len()).map(cost).collect();
    let total = intervals.total;
    let sample_ns = |measured: &SampledBlock| measured.sample_ns(has_kernel);
    let tree = |left_out: &HashSet<FunctionId>| Tree::of(rows, &alike, left_out, sample_ns);
    let whole_tree = tree(&HashSet::new());
    let tree = tree(&around(&whole_tree, &chosen, &functions, &own_differences(&times)));
    let answer::Answer { answer, lines } = match rows.len() {
        2 => answer::explained(&tree, &chosen, &functions, total),
        _ => answer::expensive(&functions),
    };
    let (frames, stacks) = stacks(&whole_tree, names);
    // Of one row the most expensive functions; of two those that explain their difference.
    let explained =
        if rows.len() == 2 { answer.clone() } else { lines.iter().map(|line| line.function).collect() };
    WhyReport {
        format: tare_analysis::why::FORMAT.to_owned(),
        blocks: rows.iter().map(Vec::len).min().unwrap_or(0),
        period_ns,
        confidence: DEFAULT_CONFIDENCE,
        difference: total,
        functions,
        answer,
        lines,
        packages: packages::of(rows, &times, names),
        source_lines: lines::of(rows, (&explained, &chosen), &alike, sample_ns),
        others: others(rows, chores::of(rows, names, sample_ns)),
        frames,
        stacks,
        ..WhyReport::default()
    }
}

/// Functions that are around the same code in one row alone, as one build compiled them into their callers, or has another name for them:
/// neither they nor what they call cost more than in the other row, wherever it is called there. Without them the call stacks of both rows
/// are alike.
fn around(
    tree: &Tree,
    chosen: &[FunctionId],
    functions: &[FunctionCost],
    own_differences: &HashMap<FunctionId, f64>,
) -> HashSet<FunctionId> {
    let is_around = |(id, function): &(&FunctionId, &FunctionCost)| {
        let most = function.all_ns.iter().copied().fold(0.0, f64::max);
        let is_in_one = function.all_ns.iter().any(|ns| *ns <= ABSENT * most);
        let moved = function.all_difference.map_or(0.0, |all| all.mean);
        let is_own = function.own_difference.is_some_and(|own| own.excludes_zero());
        is_in_one && !is_own && {
            let below: f64 = tree.below(**id).iter().filter_map(|id| own_differences.get(id)).sum();
            below * moved.signum() < EARNED * moved.abs()
        }
    };
    chosen.iter().zip(functions).filter(is_around).map(|(id, _)| *id).collect()
}

/// By how much the own time of each function differs, wherever it is called. Empty for one row.
fn own_differences(times: &[Vec<Times>]) -> HashMap<FunctionId, f64> {
    let [old, new] = times else { return HashMap::new() };
    let mut differences = HashMap::new();
    for (blocks, sign) in [(old, -1.0), (new, 1.0)] {
        for (id, ns) in blocks.iter().flat_map(|times| &times.own) {
            *differences.entry(*id).or_default() += sign * ns / blocks.len() as f64;
        }
    }
    differences
}

fn own_ns(times: &Times, id: FunctionId) -> f64 {
    times.own.get(&id).copied().unwrap_or(0.0)
}

fn all_ns(times: &Times, id: FunctionId) -> f64 {
    times.all.get(&id).copied().unwrap_or(0.0)
}

fn times(measured: &SampledBlock, sample_ns: f64, alike: &HashMap<FunctionId, FunctionId>) -> Times {
    let mut times = Times::default();
    let mut seen = HashSet::new();
    for (stack, count) in &measured.profile.stacks {
        let ns = *count as f64 * sample_ns;
        let id = |id: &FunctionId| alike.get(id).copied().unwrap_or(*id);
        if let Some(innermost) = stack.last() {
            *times.own.entry(id(innermost)).or_default() += ns;
        }
        // A function that calls itself is in a stack several times, and counts once.
        seen.clear();
        for function in stack.iter().map(id).filter(|function| seen.insert(*function)) {
            *times.all.entry(function).or_default() += ns;
        }
    }
    times
}

/// The functions that had enough samples, the most expensive first. The kernel counts as one: what called it says more than its functions,
/// each of which would widen the intervals of all.
fn chosen(
    rows: &[Vec<SampledBlock>],
    times: &[Vec<Times>],
    is_compared: impl Fn(FunctionId) -> bool,
) -> Vec<FunctionId> {
    let blocks = rows.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let cost: f64 = rows.iter().flatten().map(SampledBlock::cost_ns).sum::<f64>() / blocks;
    let samples: f64 =
        rows.iter().flatten().map(|measured| measured.profile.samples as f64).sum::<f64>() / blocks;
    let mut sums: BTreeMap<FunctionId, f64> = BTreeMap::new();
    for (id, ns) in times.iter().flatten().flat_map(|times| &times.all) {
        *sums.entry(*id).or_default() += ns / blocks;
    }
    let of_row = |row: usize, id: FunctionId, of: fn(&Times, FunctionId) -> f64| {
        times[row].iter().map(|times| of(times, id)).sum::<f64>()
    };
    let costs: Vec<f64> = rows.iter().map(|blocks| blocks.iter().map(SampledBlock::cost_ns).sum()).collect();
    let is_around = |id: FunctionId| {
        (0..rows.len()).all(|row| {
            of_row(row, id, all_ns) >= EVERYTHING * costs[row]
                && of_row(row, id, own_ns) <= (1.0 - EVERYTHING) * costs[row]
        })
    };
    let is_enough = |ns: f64| ns >= SHARE_MIN * cost && ns / cost.max(1.0) * samples >= SAMPLES_MIN;
    let is_wanted = |id: FunctionId| is_compared(id) && (rows.len() < 2 || !is_around(id));
    let mut found: Vec<(FunctionId, f64)> =
        sums.into_iter().filter(|(id, ns)| is_enough(*ns) && is_wanted(*id)).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut different: HashSet<Vec<u64>> = HashSet::new();
    let mut chosen = Vec::new();
    for (id, _) in found {
        // In picoseconds: sums in another order differ by less.
        let series = times.iter().flatten().map(|times| (all_ns(times, id) * 1e3).round() as u64);
        different.insert(series.collect());
        if different.len() > FUNCTIONS_MAX || chosen.len() >= ALL_FUNCTIONS_MAX {
            break;
        }
        chosen.push(id);
    }
    chosen
}

/// The intervals of all chosen functions, computed together with that of the whole request.
#[derive(Debug, Default)]
struct Intervals {
    total: Option<MeanInterval>,
    /// For each function with all that it calls, and of its own.
    functions: Vec<[Option<MeanInterval>; 2]>,
}

impl Intervals {
    fn of(rows: &[Vec<SampledBlock>], times: &[Vec<Times>], chosen: &[FunctionId]) -> Intervals {
        let none = || Intervals { total: None, functions: vec![[None; 2]; chosen.len()] };
        let [baseline, candidate] = times else { return none() };
        let costs = rows[0].iter().zip(&rows[1]);
        let total: Vec<f64> = costs.map(|(old, new)| new.cost_ns() - old.cost_ns()).collect();
        let cost: f64 = rows.iter().flatten().map(SampledBlock::cost_ns).sum::<f64>();
        let is_much = |of: fn(&Times, FunctionId) -> f64, id: FunctionId| {
            times.iter().flatten().map(|times| of(times, id)).sum::<f64>() >= SHARE_MIN * cost
        };
        let differences = |of: fn(&Times, FunctionId) -> f64, id: FunctionId| -> Option<Vec<f64>> {
            let pairs = baseline.iter().zip(candidate);
            is_much(of, id).then(|| pairs.map(|(old, new)| of(new, id) - of(old, id)).collect())
        };
        let each: Vec<[Option<Vec<f64>>; 2]> =
            chosen.iter().map(|id| [differences(all_ns, *id), differences(own_ns, *id)]).collect();
        // One call for all: the intervals hold together.
        let known = each.iter().flatten().flatten().cloned();
        let series: Vec<Vec<f64>> = std::iter::once(total).chain(known).collect();
        let Some(found) = means(&series, DEFAULT_CONFIDENCE) else { return none() };
        let mut found = found.into_iter();
        let total = found.next();
        let functions =
            each.iter().map(|pair| [0, 1].map(|kind| pair[kind].as_ref().and_then(|_| found.next())));
        Intervals { total, functions: functions.collect() }
    }
}

/// What changed beside functions: counts of a request and the runtime's chores, each with an interval of its own, all together.
fn others(rows: &[Vec<SampledBlock>], chores: Vec<(OtherChange, Vec<Vec<f64>>)>) -> Vec<OtherChange> {
    type Count = fn(&SampledBlock) -> Option<f64>;
    let kinds: [(&str, &str, Count); 4] = [
        ("calls of read and write", "", |measured| measured.calls),
        ("context switches", "", |measured| measured.switches),
        ("page faults", "", |measured| measured.page_faults),
        ("bytes of the answers", "bytes", |measured| measured.bytes),
    ];
    let series = |count: Count| -> Option<Vec<Vec<f64>>> {
        let of_row = |blocks: &Vec<SampledBlock>| {
            blocks.iter().map(|one| Some(count(one)? / one.answered.max(1.0))).collect()
        };
        rows.iter().map(of_row).collect()
    };
    let counted = kinds.into_iter().filter_map(|(name, unit, count)| {
        let change = OtherChange { name: name.to_owned(), unit: unit.to_owned(), ..OtherChange::default() };
        Some((change, series(count)?))
    });
    // A program without a chore has no line of it.
    let is_there = |(_, rows): &(OtherChange, Vec<Vec<f64>>)| rows.iter().flatten().any(|value| *value > 0.0);
    let known: Vec<(OtherChange, Vec<Vec<f64>>)> =
        counted.chain(chores.into_iter().filter(is_there)).collect();
    let differences: Vec<Vec<f64>> = known
        .iter()
        .filter_map(|(_, rows)| match &rows[..] {
            [old, new] => Some(new.iter().zip(old).map(|(new, old)| new - old).collect()),
            _ => None,
        })
        .collect();
    let intervals = means(&differences, DEFAULT_CONFIDENCE).unwrap_or_default();
    let mean = |blocks: &Vec<f64>| blocks.iter().sum::<f64>() / blocks.len().max(1) as f64;
    let change = |(place, (change, rows)): (usize, (OtherChange, Vec<Vec<f64>>))| OtherChange {
        values: rows.iter().map(mean).collect(),
        difference: intervals.get(place).copied(),
        ..change
    };
    known.into_iter().enumerate().map(change).collect()
}

/// The stacks for exports, the most expensive first, and the names of their functions.
fn stacks(tree: &Tree, names: &Names) -> (Vec<String>, Vec<StackCost>) {
    let (mut frames, mut places) = (Vec::new(), HashMap::new());
    let mut place = |id: FunctionId| {
        *places.entry(id).or_insert_with(|| {
            let function = names.function(id);
            frames.push(frame(&function.name, &function.module));
            frames.len() - 1
        })
    };
    let mut all: Vec<(Vec<FunctionId>, Vec<f64>)> = tree.stacks();
    all.sort_by(|a, b| b.1.iter().sum::<f64>().total_cmp(&a.1.iter().sum()).then_with(|| a.0.cmp(&b.0)));
    let kept = all.into_iter().take(STACKS_MAX);
    let stacks =
        kept.map(|(stack, ns)| StackCost { frames: stack.into_iter().map(&mut place).collect(), ns });
    let stacks = stacks.collect();
    (frames, stacks)
}

#[cfg(test)]
mod tests;
