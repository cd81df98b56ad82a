//! The call stacks of `why.json` as one tree of a bounded size: what a picture of them draws.

use std::collections::{BTreeMap, HashMap};

use tare_stats::simultaneous::MeanInterval;

use crate::why::{FunctionCost, WhyReport};

/// A call that has a smaller share of a request in each subject is left out.
pub const SHARE_MIN: f64 = 0.001;
/// Most calls of a tree, those with the most time.
const CALLS_MAX: usize = 2_000;
/// What is called deeper counts as its caller: a stack of a recursion has no end.
const DEPTH_MAX: usize = 128;
/// Most stacks that are read. A part stores no more.
const STACKS_MAX: usize = 5_000;
/// A longer name is cut.
const NAME_CHARS_MAX: usize = 300;
/// What the whole is called.
const WHOLE: &str = "a request";

/// All calls, each followed by those that it makes, the greatest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallTree {
    /// The first one stands for the whole request.
    pub calls: Vec<StackCall>,
    /// Calls that are left out since they are small.
    pub left_out: usize,
}

/// A function that is called in one way.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StackCall {
    pub name: String,
    /// 0 for the whole request, and one more for what it calls.
    pub depth: usize,
    /// For each subject, its time with all that it calls.
    pub all_ns: Vec<f64>,
    /// The difference of its function, whoever calls it; absent if that was not compared.
    pub of_function: Option<MeanInterval>,
}

#[derive(Debug, Default)]
struct Node {
    frame: usize,
    depth: usize,
    all_ns: Vec<f64>,
    children: BTreeMap<usize, usize>,
}

impl CallTree {
    pub fn of(report: &WhyReport) -> CallTree {
        let nodes = nodes(report);
        let kept = kept(&nodes);
        let compared = compared(&report.functions);
        let mut tree =
            CallTree { calls: Vec::new(), left_out: nodes.len() - kept.iter().filter(|kept| **kept).count() };
        let mut waiting = vec![0];
        while let Some(place) = waiting.pop() {
            let node = &nodes[place];
            let name = if place == 0 { WHOLE } else { &report.frames[node.frame] };
            tree.calls.push(StackCall {
                name: name.chars().take(NAME_CHARS_MAX).collect(),
                depth: node.depth,
                all_ns: node.all_ns.clone(),
                of_function: if place == 0 {
                    report.difference
                } else {
                    compared.get(name).copied().flatten()
                },
            });
            let mut children: Vec<usize> =
                node.children.values().copied().filter(|child| kept[*child]).collect();
            // The last one is taken first.
            children.sort_by(|a, b| most(&nodes[*a]).total_cmp(&most(&nodes[*b])).then(b.cmp(a)));
            waiting.append(&mut children);
        }
        tree
    }
}

/// All stacks as nodes; the first one is the whole request, and callers come before what they call.
fn nodes(report: &WhyReport) -> Vec<Node> {
    let subjects = report.subjects.len();
    let mut nodes = vec![Node { all_ns: vec![0.0; subjects], ..Node::default() }];
    for stack in report.stacks.iter().take(STACKS_MAX) {
        // A file may say anything.
        let ns =
            |place: usize| stack.ns.get(place).copied().filter(|ns| ns.is_finite()).unwrap_or(0.0).max(0.0);
        let add =
            |node: &mut Node| node.all_ns.iter_mut().enumerate().for_each(|(place, sum)| *sum += ns(place));
        let mut at = 0;
        add(&mut nodes[0]);
        for frame in stack.frames.iter().take(DEPTH_MAX) {
            at = match nodes[at].children.get(frame) {
                Some(child) => *child,
                None => {
                    let (child, depth) = (nodes.len(), nodes[at].depth + 1);
                    nodes.push(Node { frame: *frame, depth, all_ns: vec![0.0; subjects], ..Node::default() });
                    nodes[at].children.insert(*frame, child);
                    child
                }
            };
            add(&mut nodes[at]);
        }
    }
    // CPU time that is in no stack is of the request too, such as that of a kernel that was not sampled.
    for (sum, subject) in nodes[0].all_ns.iter_mut().zip(&report.subjects) {
        *sum = sum.max(subject.cpu_ns);
    }
    nodes
}

fn most(node: &Node) -> f64 {
    node.all_ns.iter().copied().fold(0.0, f64::max)
}

/// Which nodes are large enough. A caller is at least as large as what it calls, so no node is kept without it.
fn kept(nodes: &[Node]) -> Vec<bool> {
    let share = |node: &Node| {
        let shares =
            node.all_ns.iter().zip(&nodes[0].all_ns).map(|(ns, whole)| ns / whole.max(f64::MIN_POSITIVE));
        shares.fold(0.0, f64::max)
    };
    let shares: Vec<f64> = nodes.iter().map(share).collect();
    let mut order: Vec<usize> =
        (0..nodes.len()).filter(|place| *place == 0 || shares[*place] >= SHARE_MIN).collect();
    order.sort_by(|a, b| (*a != 0).cmp(&(*b != 0)).then(shares[*b].total_cmp(&shares[*a])).then(a.cmp(b)));
    let mut kept = vec![false; nodes.len()];
    order.into_iter().take(CALLS_MAX).for_each(|place| kept[place] = true);
    kept
}

/// The differences of functions by what stacks call them; none for a name that several functions have.
fn compared(functions: &[FunctionCost]) -> HashMap<String, Option<MeanInterval>> {
    let mut found: HashMap<String, Option<MeanInterval>> = HashMap::new();
    for function in functions {
        found.entry(function.frame()).and_modify(|known| *known = None).or_insert(function.all_difference);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::{ProfiledSubject, StackCost};

    fn report(frames: &[&str], stacks: &[(&[usize], [f64; 2])]) -> WhyReport {
        let stack =
            |(frames, ns): &(&[usize], [f64; 2])| StackCost { frames: frames.to_vec(), ns: ns.to_vec() };
        WhyReport {
            subjects: vec![ProfiledSubject::default(); 2],
            frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
            stacks: stacks.iter().map(stack).collect(),
            ..WhyReport::default()
        }
    }

    fn shown(tree: &CallTree) -> Vec<String> {
        tree.calls
            .iter()
            .map(|call| format!("{}{} {:?}", "  ".repeat(call.depth), call.name, call.all_ns))
            .collect()
    }

    #[test]
    fn callers_come_before_what_they_call_and_the_greatest_first() {
        let stacks: [(&[usize], [f64; 2]); 4] = [
            (&[0, 1], [10.0, 20.0]),
            (&[0], [5.0, 0.0]),
            (&[0, 2, 1], [90.0, 90.0]),
            (&[0, 3], [0.01, 0.02]),
        ];
        let tree = CallTree::of(&report(&["main", "sign", "serve", "small"], &stacks));
        let expected = [
            "a request [105.01, 110.02]",
            "  main [105.01, 110.02]",
            "    serve [90.0, 90.0]",
            "      sign [90.0, 90.0]",
            "    sign [10.0, 20.0]",
        ];
        assert_eq!((shown(&tree), tree.left_out), (expected.map(str::to_owned).to_vec(), 1));
    }

    #[test]
    fn a_call_has_the_interval_of_its_function_unless_the_name_is_ambiguous() {
        let interval = |mean: f64| Some(MeanInterval { mean, low: mean - 1.0, high: mean + 1.0 });
        let function = |name: &str, module: &str, mean| FunctionCost {
            name: name.to_owned(),
            module: module.to_owned(),
            all_difference: interval(mean),
            ..FunctionCost::default()
        };
        let of = report(&["main", "sign (libx)", "twice"], &[(&[0, 1], [9.0, 9.0]), (&[0, 2], [1.0, 1.0])]);
        let functions =
            vec![function("sign", "libx", 5.0), function("twice", "", 1.0), function("twice", "", 2.0)];
        let tree = CallTree::of(&WhyReport { functions, difference: interval(7.0), ..of });
        let means: Vec<Option<f64>> = tree.calls.iter().map(|call| Some(call.of_function?.mean)).collect();
        assert_eq!(means, [Some(7.0), None, Some(5.0), None]);
    }

    #[test]
    fn cpu_time_that_is_in_no_stack_belongs_to_the_whole_alone() {
        let mut of = report(&["main"], &[(&[0], [60.0, 80.0])]);
        of.subjects[1].cpu_ns = 100.0;
        assert_eq!(shown(&CallTree::of(&of)), ["a request [60.0, 100.0]", "  main [60.0, 80.0]"]);
    }

    #[test]
    fn a_hostile_file_is_bounded() {
        let deep = vec![0; 100_000];
        let wide: Vec<usize> = (0..4_000).collect();
        let names: Vec<String> = wide.iter().map(|place| format!("f{place}{}", "x".repeat(1_000))).collect();
        let mut of =
            report(&[], &[(&deep, [1.0, f64::INFINITY]), (&[0], [-4.0, f64::NAN]), (&[1], [2.0, 2.0])]);
        of.frames = names;
        let tree = CallTree::of(&of);
        assert_eq!(tree.calls.iter().map(|call| call.depth).max(), Some(DEPTH_MAX));
        assert!(tree.calls.iter().all(|call| call.name.chars().count() <= NAME_CHARS_MAX));
        assert_eq!(tree.calls[0].all_ns, [3.0, 2.0]);
        of.stacks = (0..4)
            .flat_map(|top| wide.iter().take(999).map(move |leaf| (top, *leaf)))
            .map(|(top, leaf)| StackCost { frames: vec![top, leaf], ns: vec![1.0, 1.0] })
            .collect();
        // 999 calls of one function each have just enough; of all only the first are kept.
        let tree = CallTree::of(&of);
        assert!(
            tree.calls.len() <= CALLS_MAX && tree.calls.len() + tree.left_out == 1 + 4 + 4 * 999,
            "{}",
            tree.calls.len()
        );
        assert_eq!(CallTree::of(&WhyReport::default()).calls.len(), 1);
    }
}
