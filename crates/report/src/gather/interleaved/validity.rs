//! Whether the figures are valid: dropped slices, the generator's share, counts that must agree, and the
//! accounting of CPU time.

use tare_analysis::interleaved::{
    AdjacentPair, CpuTotals, Report, RowReport,
    slices::{ClassifiedSlice, Disposition, slices},
};
use tare_analysis::validity::{Disturbance, InFlight};
use tare_bench::folder::StoredRun;

use super::parts;
use crate::{
    document::{Chart, Section, Shape, Unit},
    gather::{
        columns::{Columns, six_digits, state},
        words::span,
    },
};

const LEAD: &str = "Asked by thresholds that were fixed before there was a figure. Slices in which the machine did something else \
                    are left out, with fewer than six rows together with their round. A row or a figure that is not the service's own \
                    has its reason.";

/// The data about a row's slices in closed loops.
struct RowSlices<'a> {
    report: &'a RowReport,
    counted: usize,
    dropped: usize,
    cut: usize,
    disturbed: [usize; 3],
    in_flight: Option<InFlight>,
}

impl<'a> RowSlices<'a> {
    fn of(report: &'a RowReport, place: usize, slices: &[ClassifiedSlice]) -> RowSlices<'a> {
        let mine = || {
            slices.iter().filter(|classified| classified.slice.row == place && !classified.slice.is_open())
        };
        let with = |disposition: Disposition| {
            mine().filter(|classified| classified.disposition == disposition).count()
        };
        let by = |why| mine().filter(|classified| classified.disturbance == Some(why)).count();
        let counted = mine().filter(|classified| classified.disposition == Disposition::Counts);
        RowSlices {
            report,
            counted: with(Disposition::Counts),
            dropped: with(Disposition::Dropped) + with(Disposition::Unpaired),
            cut: with(Disposition::Cut),
            disturbed: [Disturbance::Taken, Disturbance::Stolen, Disturbance::Inconsistent].map(by),
            in_flight: InFlight::of(counted.map(|classified| classified.slice)),
        }
    }
}

pub(crate) fn section(stored: &StoredRun, report: &Report) -> Section {
    let slices = slices(stored);
    let connections = stored.header.plan.load().connections;
    let place = |label: &str| stored.header.plan.rows.iter().position(|row| row.label == label);
    let rows: Vec<RowSlices> =
        report.rows.iter().filter_map(|row| Some(RowSlices::of(row, place(&row.label)?, &slices))).collect();
    let busy = rows.iter().filter_map(|row| Some((row.report.label.as_str(), row.report.usage?.generator)));
    let alt = span(Unit::Share, busy)
        .map(|span| format!("The share of the time in which the generator's CPUs were busy: {span}."));
    let columns = counts().and(shares(report)).and(flight(connections));
    let table = columns.table("Validity by service", rows);
    let mut section = Section::new("validity", "Validity", LEAD, table);
    section.charts.extend(alt.map(|alt| {
        Chart::new(Shape::Bars, "generator_cpu_share", "label", &alt).title("How busy the generator was")
    }));
    let dropped = &report.dropped;
    section.note(match dropped.of_slices {
        0 => format!("{} of {} rounds were left out", dropped.rounds, dropped.of_rounds),
        _ => format!("{} of {} slices were left out", dropped.slices, dropped.of_slices),
    })
}

fn counts<'a>() -> Columns<'a, RowSlices<'a>> {
    Columns::new()
        .text("label", "service", |row: &RowSlices| row.report.label.clone())
        .facet("state", "state", |row| state(row.report.verdict()))
        .text("reason", "reason", |row| row.report.reason())
        .count("slices_counted", "slices counted", |row| row.counted)
        .count("slices_dropped", "left out", |row| row.dropped)
        .help("disturbed, or of a round that was disturbed for all rows alike")
        .count("slices_cut", "cut off", |row| row.cut)
        .help("their round is not whole")
        .count("slices_taken", "others ran", |row| row.disturbed[0])
        .help("slices of its own that were disturbed")
        .count("slices_stolen", "stolen", |row| row.disturbed[1])
        .count("slices_inconsistent", "inconsistent", |row| row.disturbed[2])
}

fn shares<'a>(report: &Report) -> Columns<'a, RowSlices<'a>> {
    Columns::new()
        .share("server_cpu_share", "service", |row: &RowSlices| row.report.server_cpu_share())
        .help("of the service's CPUs: busy with it")
        .and(parts::busy(report, |row: &RowSlices<'a>| row.report))
        .share("generator_cpu_share", "generator", |row| Some(row.report.usage?.generator))
        .help("of the generator's CPUs: busy with it")
        .share("generator_headroom_share", "headroom", |row| {
            row.report.usage.map(|usage| (1.0 - usage.generator).max(0.0))
        })
        .help("what the generator had left")
        .share("interference_share", "others", |row| row.report.usage?.interference)
        .help("of the measured CPUs: taken by others")
        .share("steal_share", "stolen", |row| row.report.usage?.stolen)
        .help("of the measured CPUs: taken by a hypervisor")
        .share("softirq_share", "softirq", |row| row.report.usage?.softirq)
        .help("of the service's CPUs: interrupts and softirq")
        .share("throttled_share", "throttled", |row| row.report.usage?.throttled)
        .help("a quota kept it from running")
        .share("cpu_pressure_share", "pressure", |row| row.report.usage?.pressure)
        .help("a process waited for a CPU")
}

/// Little's law: rate × mean time is the number in flight, in a closed loop the number of connections.
fn flight<'a>(connections: usize) -> Columns<'a, RowSlices<'a>> {
    let by_law = move |found: InFlight| six_digits(found.law() / connections.max(1) as f64);
    Columns::new()
        .number("in_flight_counted", "in flight", |row: &RowSlices| {
            row.in_flight.map(|found| six_digits(found.counted()))
        })
        .help("requests in flight on average, as counted")
        .number("in_flight_law", "rate x time", |row| row.in_flight.map(|found| six_digits(found.law())))
        .help("the same by Little's law")
        .share("in_flight_law_share", "rate x time / connections", move |row| row.in_flight.map(by_law))
}

const ACCOUNTING_LEAD: &str = "Where the time of the measured CPUs went, by three counts that know nothing of each other: the \
                          scheduler's clocks, the kernel's ticks, and the clock on the wall.";

/// The accounting of CPU time.
pub(crate) fn accounting(report: &Report) -> Section {
    let Some(found) = &report.cpu_accounting else {
        return Section::without("cpu-accounting", "CPU accounting", ACCOUNTING_LEAD)
            .note("the slices of this run have no CPU accounting: nothing was measured, or it was made by an earlier version");
    };
    let CpuTotals { all_ns, server_ns, backing_ns, generator_ns, others_ns, idle_ns, .. } = *found;
    let CpuTotals { steal_ns, softirq_ns, .. } = *found;
    let sum_ns = server_ns + backing_ns + generator_ns + others_ns + idle_ns + steal_ns;
    let parts = [
        ("services", server_ns),
        ("what they work with", backing_ns),
        ("generator", generator_ns),
        ("others", others_ns),
        ("idle", idle_ns),
        ("stolen", steal_ns),
        ("all of these", sum_ns),
        ("what there was", all_ns),
        ("softirq, in the parts above", softirq_ns),
    ];
    let is_there = |(part, _): &(&'static str, u64)| *part != "what they work with" || backing_ns > 0;
    let columns = Columns::new()
        .text("part", "part", |(part, _): &(&'static str, u64)| *part)
        .ns("cpu_ns", "CPU time", |(_, ns)| *ns)
        .share("share", "share", move |(_, ns)| *ns as f64 / all_ns as f64);
    let table = columns.table("Time of the measured CPUs", parts.into_iter().filter(is_there));
    let verdict = match found.closes() {
        true => "accounted for",
        false => "not accounted for",
    };
    let show = |share: f64| Unit::Share.show(share);
    Section::new("cpu-accounting", "CPU accounting", ACCOUNTING_LEAD, table).note(format!(
        "{verdict}: {} (tolerance {})",
        show(1.0 + found.residual_share),
        show(found.tolerance_share)
    ))
}

const PAIRS_LEAD: &str = "Adjacent rows that are not separated. They are not shown to be equal: a difference of the given size \
                          or more is excluded, with 95% for all pairs of rows together.";

/// Pairs that the data cannot distinguish, if there are any. The main table has a note if there are no ranks,
/// or if all are separated.
pub(crate) fn pairs(report: &Report) -> Option<Section> {
    let ranks = report.ranks.as_ref().filter(|ranks| ranks.are_known() && !ranks.not_separated.is_empty())?;
    let columns = Columns::new()
        .text("label", "ahead", |pair: &&AdjacentPair| pair.row.clone())
        .text("label_next", "behind", |pair| pair.next.clone())
        .share("differ_most", "differ by less than", |pair| pair.differ_most)
        .help("of the lesser; none with too few starts");
    let table = columns.table("Pairs that are not separated, the furthest apart first", &ranks.not_separated);
    Some(Section::new("not-separated", "What is not separated", PAIRS_LEAD, table).brief())
}
