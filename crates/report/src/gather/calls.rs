//! The call tree of a why, as a table that a page draws as a flame graph.

use tare_analysis::{
    call_tree::{CallTree, SHARE_MIN, StackCall},
    why::{WhyReport, plain_ns, with_interval},
};
use tare_base::units::several;
use tare_stats::simultaneous::MeanInterval;

use super::columns::{Columns, tenths};
use crate::document::{Chart, Scale, Section, Shape, Unit};

const LEAD: &str = "The functions of a request, each below what calls it. A box is as wide as its CPU time in a request of the candidate. \
                    It is red where that is more than in the baseline, blue where it is less, and hatched unless the interval of its \
                    function, whoever calls it, lies on the same side of 0. A function that is gone has a width in the baseline only.";

/// The call tree of two services; nothing without stacks.
pub(super) fn section(report: &WhyReport) -> Option<Section> {
    if !report.is_difference() || report.stacks.is_empty() {
        return None;
    }
    let CallTree { calls, left_out } = CallTree::of(report);
    let chart = Chart::new(Shape::Flame, "candidate_ns", "function", &alt(report));
    let chart = chart.title("CPU time of a request, callers above what they call");
    let chart = Chart { y_scale: Scale::Names, against: Some("baseline_ns".to_owned()), ..chart };
    let table = columns().table("Calls, each below its caller", calls);
    let section = Section::new("calls", "Flame graph of the difference", LEAD, table).chart(chart);
    Some(match left_out {
        0 => section,
        left_out => section.note(format!(
            "{} with less than {:.1}% of a request {} left out",
            several(left_out, "call"),
            SHARE_MIN * 100.0,
            if left_out == 1 { "is" } else { "are" }
        )),
    })
}

fn columns<'a>() -> Columns<'a, StackCall> {
    let first = |call: &StackCall| call.all_ns.first().copied().map(tenths);
    let last = |call: &StackCall| call.all_ns.last().copied().map(tenths);
    let of =
        |of: fn(&MeanInterval) -> f64| move |call: &StackCall| call.of_function.as_ref().map(of).map(tenths);
    Columns::new()
        .text("function", "function", |call: &StackCall| call.name.clone())
        .count("level", "level", |call| call.depth)
        .help("How many functions are between it and the request: a row belongs to the last row above it that has a smaller level.")
        .ns("candidate_ns", "candidate", last)
        .help("CPU time of a request in it, called in this way, with all that it calls.")
        .ns("baseline_ns", "baseline", first)
        .ns("difference_ns", "difference", move |call| Some(tenths(last(call)? - first(call)?)))
        .help("Candidate less baseline.")
        .ns("function_ns", "of the function", of(|one| one.mean))
        .help("The difference of its function, whoever calls it; the intervals of all functions hold together.")
        .with(|column| column.interval("function_ns_low", "function_ns_high"))
        .add(Unit::Nanoseconds, "function_ns_low", "its lower bound", of(|one| one.low))
        .hidden()
        .add(Unit::Nanoseconds, "function_ns_high", "its upper bound", of(|one| one.high))
        .hidden()
}

/// For who cannot see it.
fn alt(report: &WhyReport) -> String {
    let cost = |place: usize| report.subjects.get(place).map_or(0.0, |subject| subject.cpu_ns);
    let difference = report.difference.map(|of| format!("; the difference is {}", with_interval(&of)));
    format!(
        "Functions of a request by CPU time: {} in the baseline, {} in the candidate{}. The table below has the same numbers.",
        plain_ns(cost(0)),
        plain_ns(cost(1)),
        difference.unwrap_or_default()
    )
}
