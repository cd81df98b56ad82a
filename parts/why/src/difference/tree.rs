//! All call stacks as a tree, with the time of a request in each node for each row.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::SampledBlock;
use crate::names::FunctionId;

/// A function called in one way.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub function: Option<FunctionId>,
    /// For each row, with all that it calls.
    pub all_ns: Vec<f64>,
    pub own_ns: Vec<f64>,
    pub children: BTreeMap<FunctionId, usize>,
}

/// The tree; its first node stands for the whole request.
#[derive(Debug)]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    rows: usize,
}

impl Tree {
    pub(super) fn of(
        rows: &[Vec<SampledBlock>],
        alike: &HashMap<FunctionId, FunctionId>,
        left_out: &HashSet<FunctionId>,
        sample_ns: impl Fn(&SampledBlock) -> f64,
    ) -> Tree {
        let mut tree = Tree { nodes: Vec::new(), rows: rows.len() };
        tree.node(None);
        for (row, blocks) in rows.iter().enumerate() {
            for measured in blocks {
                let ns = sample_ns(measured) / blocks.len() as f64;
                // In the order of stacks, so that sums are the same in every run of the program.
                let mut stacks: Vec<_> = measured.profile.stacks.iter().collect();
                stacks.sort();
                for (stack, count) in stacks {
                    let stack = stack.iter().map(|id| alike.get(id).copied().unwrap_or(*id));
                    tree.add(row, stack.filter(|id| !left_out.contains(id)), *count as f64 * ns);
                }
            }
        }
        tree
    }

    fn node(&mut self, function: Option<FunctionId>) -> usize {
        let none = vec![0.0; self.rows];
        self.nodes.push(Node { function, all_ns: none.clone(), own_ns: none, children: BTreeMap::new() });
        self.nodes.len() - 1
    }

    fn add(&mut self, row: usize, stack: impl Iterator<Item = FunctionId>, ns: f64) {
        let mut place = 0;
        self.nodes[place].all_ns[row] += ns;
        for function in stack {
            place = match self.nodes[place].children.get(&function) {
                Some(child) => *child,
                None => {
                    let child = self.node(Some(function));
                    self.nodes[place].children.insert(function, child);
                    child
                }
            };
            self.nodes[place].all_ns[row] += ns;
        }
        self.nodes[place].own_ns[row] += ns;
    }

    /// By how much a node is more expensive in the last row than in the first; of one row, its time.
    pub(super) fn difference(&self, place: usize) -> f64 {
        match &self.nodes[place].all_ns[..] {
            [old, new] => new - old,
            [only] => *only,
            _ => 0.0,
        }
    }

    /// A function, and all that it calls, directly or not.
    pub(super) fn below(&self, function: FunctionId) -> HashSet<FunctionId> {
        let mut found = HashSet::new();
        let mut waiting: Vec<usize> =
            (0..self.nodes.len()).filter(|place| self.nodes[*place].function == Some(function)).collect();
        while let Some(place) = waiting.pop() {
            found.extend(self.nodes[place].function);
            waiting.extend(self.nodes[place].children.values());
        }
        found
    }

    /// The stacks that have own time, each from its outermost function.
    pub(super) fn stacks(&self) -> Vec<(Vec<FunctionId>, Vec<f64>)> {
        let mut found = Vec::new();
        let mut waiting = vec![(0, Vec::new())];
        while let Some((place, stack)) = waiting.pop() {
            let node = &self.nodes[place];
            if node.own_ns.iter().any(|ns| *ns > 0.0) {
                found.push((stack.clone(), node.own_ns.clone()));
            }
            for (function, child) in &node.children {
                waiting.push((*child, [&stack[..], &[*function]].concat()));
            }
        }
        found
    }
}
