//! The answer: the deepest functions that together explain a difference, and the lines that a reader gets.

use std::collections::{HashMap, HashSet};

use tare_analysis::why::{FunctionCost, WhyLine};
use tare_stats::simultaneous::MeanInterval;

use super::tree::Tree;
use crate::names::{FunctionId, KERNEL, OWN_CODE, PROGRAM};

/// Callees explain a function's difference if they have this share of it.
const EXPLAINED: f64 = 0.9;
/// The same if the function's own time did not surely change: the rest is then noise, of which each function has some.
const NEARLY: f64 = 0.7;
/// At most this number of callees does.
const SPLIT_MAX: usize = 3;
/// The share of a request from which on a function is all of it.
const EVERYTHING: f64 = 0.95;
/// How many half intervals a function must have moved to be named if the whole did not: about what 99% takes with seven blocks. Who finds
/// no difference asks less for a reason, and a wrong name is worse than none.
const SURELY: f64 = 1.5;
/// A callee is worth a line from this share of its caller's difference on.
const WORTH: f64 = 0.1;
/// Most lines of an answer.
const LINES_MAX: usize = 10;

#[derive(Debug, Default)]
pub(super) struct Answer {
    pub answer: Vec<usize>,
    pub lines: Vec<WhyLine>,
}

struct Search<'a> {
    tree: &'a Tree,
    places: HashMap<FunctionId, usize>,
    functions: &'a [FunctionCost],
    /// The package that the service's authors can change.
    own: &'static str,
    /// The sign of the difference: only what moved the same way explains it.
    sign: f64,
    /// How many half intervals a function must have moved.
    least: f64,
}

/// What explains the difference of two rows.
pub(super) fn explained(
    tree: &Tree,
    chosen: &[FunctionId],
    functions: &[FunctionCost],
    total: Option<MeanInterval>,
) -> Answer {
    let Some(total) = total.filter(MeanInterval::excludes_zero) else {
        return moved(tree, chosen, functions);
    };
    let search = Search::of(tree, chosen, functions, total.mean.signum());
    let found = search.deepest(0);
    search.answer(&found)
}

/// What moved although the sum did not, such as one function that became cheaper and one that became dearer: the greatest changes.
fn moved(tree: &Tree, chosen: &[FunctionId], functions: &[FunctionCost]) -> Answer {
    let each = [1.0, -1.0].map(|sign| {
        let search = Search { least: SURELY, ..Search::of(tree, chosen, functions, sign) };
        let found = search.deepest(0);
        search.answer(&found)
    });
    let mut all = Answer::default();
    for mut one in each {
        all.answer.append(&mut one.answer);
        all.lines.append(&mut one.lines);
    }
    all.lines.truncate(LINES_MAX);
    all
}

/// The functions of one row with the most time of their own: what calls them is in the call stacks.
pub(super) fn expensive(functions: &[FunctionCost]) -> Answer {
    let own = |function: usize| functions[function].own_ns.first().copied().unwrap_or(0.0);
    let mut all: Vec<usize> = (0..functions.len()).filter(|function| own(*function) > 0.0).collect();
    all.sort_by(|a, b| own(*b).total_cmp(&own(*a)));
    let lines = all.into_iter().take(2 * LINES_MAX).map(|function| WhyLine { function, depth: 0 }).collect();
    Answer { answer: Vec::new(), lines }
}

impl<'a> Search<'a> {
    fn of(tree: &'a Tree, chosen: &[FunctionId], functions: &'a [FunctionCost], sign: f64) -> Search<'a> {
        let places = chosen.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        // Without the sources, the program itself is the next best.
        let has_own = functions.iter().any(|function| function.package == OWN_CODE);
        let own = if has_own { OWN_CODE } else { PROGRAM };
        Search { tree, places, functions, own, sign, least: 1.0 }
    }

    /// The function of a node, if it was compared.
    fn function(&self, node: usize) -> Option<usize> {
        self.places.get(&self.tree.nodes[node].function?).copied()
    }

    /// Whether a node's function changed in the direction of the difference.
    fn counts(&self, node: usize) -> bool {
        let Some(function) = self.function(node) else { return false };
        let moved = self.functions[function].all_difference;
        moved.is_some_and(|interval| interval.mean * self.sign > self.least * (interval.high - interval.mean))
    }

    /// Whether the own time of a node's function surely changed as the whole did.
    fn has_changed(&self, node: usize) -> bool {
        let own = self.function(node).and_then(|function| self.functions[function].own_difference);
        own.is_some_and(|own| own.excludes_zero() && own.mean * self.sign > 0.0)
    }

    /// The share of a node's difference that its callees must have.
    fn share(&self, node: usize) -> f64 {
        if self.has_changed(node) { EXPLAINED } else { NEARLY }
    }

    fn gain(&self, node: usize) -> f64 {
        self.tree.difference(node) * self.sign
    }

    /// The callees that count, the greatest first. A callee that was not compared, or did not change, is passed through: what it calls
    /// may have been called by another function before.
    fn children(&self, node: usize) -> Vec<(usize, f64)> {
        let mut found: Vec<(usize, f64)> = Vec::new();
        for child in self.tree.nodes[node].children.values() {
            match self.counts(*child) {
                true => found.push((*child, self.gain(*child))),
                false => found.extend(self.children(*child)),
            }
        }
        found.retain(|(_, gain)| *gain > 0.0);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found
    }

    /// Whether it is nearly all of every request, such as `main`: that a request differs is known without it.
    fn is_everything(&self, node: usize) -> bool {
        let (node, all) = (&self.tree.nodes[node].all_ns, &self.tree.nodes[0].all_ns);
        node.iter().zip(all).all(|(node, all)| *node >= EVERYTHING * all)
    }

    /// Whether a node stands for the kernel, which runs for its caller.
    fn is_kernel(&self, node: usize) -> bool {
        self.function(node).is_some_and(|function| self.functions[function].name == KERNEL)
    }

    /// Whether a function is the service's own.
    fn is_own(&self, node: usize) -> bool {
        self.function(node).is_some_and(|function| self.functions[function].package == self.own)
    }

    /// Whether own functions below this node have nearly all of its difference.
    fn leads_to_own(&self, node: usize) -> bool {
        self.gain_of_own(node) >= NEARLY * self.gain(node)
    }

    /// The difference of the nearest own functions below a node.
    fn gain_of_own(&self, node: usize) -> f64 {
        let of =
            |(child, gain): (usize, f64)| if self.is_own(child) { gain } else { self.gain_of_own(child) };
        self.children(node).into_iter().take(SPLIT_MAX).map(of).sum()
    }

    /// The deepest nodes that together explain a node's difference: itself, if its callees do not.
    fn deepest(&self, node: usize) -> Vec<usize> {
        let itself =
            || if self.is_everything(node) && !self.has_changed(node) { Vec::new() } else { vec![node] };
        let children = self.children(node);
        let whole = match node {
            0 => children.iter().map(|(_, gain)| gain).sum::<f64>(),
            _ => self.gain(node),
        };
        let enough_is = self.share(node) * whole;
        // A reader can change the service's own code; what that calls is shown below it.
        if node != 0 && self.is_own(node) && !self.leads_to_own(node) {
            return itself();
        }
        let (mut sum, mut enough) = (0.0, Vec::new());
        for (child, gain) in children.into_iter().take(SPLIT_MAX) {
            if sum >= enough_is {
                break;
            }
            sum += gain;
            enough.push(child);
        }
        // The kernel runs for its caller, which is the better answer.
        let may_descend = self.is_everything(node) || !enough.iter().any(|child| self.is_kernel(*child));
        match sum >= enough_is && whole > 0.0 && may_descend {
            true => enough.into_iter().flat_map(|child| self.deepest(child)).collect(),
            // What began nowhere else is named as it is.
            false if node == 0 => enough.into_iter().flat_map(|child| self.deepest(child)).collect(),
            false => itself(),
        }
    }

    fn answer(&self, nodes: &[usize]) -> Answer {
        let (mut answer, mut lines, mut shown) = (Vec::new(), Vec::new(), HashSet::new());
        for node in nodes {
            let Some(function) = self.function(*node) else { continue };
            if !answer.contains(&function) {
                answer.push(function);
                self.lines(*node, 0, &mut lines, &mut shown);
            }
        }
        lines.truncate(LINES_MAX);
        Answer { answer, lines }
    }

    /// The lines of a node and of what it calls.
    fn lines(&self, node: usize, depth: usize, lines: &mut Vec<WhyLine>, shown: &mut HashSet<usize>) {
        let Some(function) = self.function(node) else { return };
        if !shown.insert(function) {
            return;
        }
        lines.push(WhyLine { function, depth });
        let least = WORTH * self.gain(node);
        for (child, gain) in self.children(node) {
            if gain >= least {
                self.lines(child, depth + 1, lines, shown);
            }
        }
    }
}
