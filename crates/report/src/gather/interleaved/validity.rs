//! Whether the figures mean what they say: what was left out, the generator's own share, counts that must agree, and the accounting
//! of the CPUs' time.

use tare_analysis::report::{
    CpuAccounting, Neighbours, Report, RowReport,
    slices::{Fate, Weighed, slices},
};
use tare_analysis::validity::{Disturbance, InFlight};
use tare_bench::run::folder::Kept;

use crate::{
    document::{Chart, Column, Section, Shape, Unit},
    gather::{
        fields::{Field, field, six_digits, span, spare, table},
        lay::state,
    },
};

const LEAD: &str = "Asked by thresholds that were fixed before there was a figure. Slices in which the machine did something else \
                    are left out together with their round; a row or a figure that is not the service's own has its reason.";

/// What is known of a row's slices in closed loops.
struct Row<'a> {
    report: &'a RowReport,
    counted: usize,
    dropped: usize,
    cut: usize,
    disturbed: [usize; 3],
    in_flight: Option<InFlight>,
}

impl<'a> Row<'a> {
    fn of(report: &'a RowReport, place: usize, slices: &[Weighed]) -> Row<'a> {
        let mine = || slices.iter().filter(|weighed| weighed.slice.row == place && !weighed.slice.is_open());
        let with = |fate: Fate| mine().filter(|weighed| weighed.fate == fate).count();
        let by = |why| mine().filter(|weighed| weighed.disturbance == Some(why)).count();
        let counted = mine().filter(|weighed| weighed.fate == Fate::Counts);
        Row {
            report,
            counted: with(Fate::Counts),
            dropped: with(Fate::Dropped),
            cut: with(Fate::Cut),
            disturbed: [Disturbance::Taken, Disturbance::Stolen, Disturbance::Inconsistent].map(by),
            in_flight: InFlight::of(counted.map(|weighed| weighed.slice)),
        }
    }
}

pub(crate) fn section(kept: &Kept, report: &Report) -> Section {
    let slices = slices(kept);
    let connections = kept.header.plan.load().connections;
    let place = |label: &str| kept.header.plan.rows.iter().position(|row| row.label == label);
    let rows: Vec<Row> =
        report.rows.iter().filter_map(|row| Some(Row::of(row, place(&row.label)?, &slices))).collect();
    let busy =
        rows.iter().filter_map(|row| Some((row.report.label.as_str(), row.report.generator_cpu_share?)));
    let alt = span(Unit::Share, busy)
        .map(|span| format!("The share of the time in which the generator's CPUs were busy: {span}."));
    let mut fields = counts();
    fields.extend(shares());
    fields.extend(flight(connections));
    let optional = [
        "throttled_share",
        "cpu_pressure_share",
        "softirq_share",
        "steal_share",
        "interference_share",
        "in_flight_counted",
        "in_flight_law",
        "in_flight_law_share",
        "reason",
    ];
    let table = spare(table("Validity by service", fields, rows), &optional);
    let mut section = Section::new("validity", "Validity", LEAD, table);
    section.charts.extend(alt.map(|alt| {
        let chart = Chart::new(Shape::Bars, "generator_cpu_share", "label", &alt);
        Chart { title: "How busy the generator was".to_owned(), ..chart }
    }));
    let dropped = &report.dropped;
    section.note(format!("{} of {} rounds were left out", dropped.rounds, dropped.of_rounds))
}

fn counts<'a>() -> Vec<Field<'a, Row<'a>>> {
    let count = |key, title| Column::new(key, title, Unit::Count);
    let text = |key, title| Column::new(key, title, Unit::Text);
    vec![
        field(text("label", "service"), |row: &Row| row.report.label.clone()),
        field(text("state", "state").facet(), |row: &Row| state(&row.report.state)),
        field(text("reason", "reason"), |row: &Row| row.report.reason()),
        field(count("slices_counted", "slices counted"), |row: &Row| row.counted),
        field(
            count("slices_dropped", "left out").help("with their round, for all rows alike"),
            |row: &Row| row.dropped,
        ),
        field(count("slices_cut", "cut off").help("their round is not whole"), |row: &Row| row.cut),
        field(
            count("slices_taken", "others ran").help("slices of its own that were disturbed"),
            |row: &Row| row.disturbed[0],
        ),
        field(count("slices_stolen", "stolen"), |row: &Row| row.disturbed[1]),
        field(count("slices_inconsistent", "inconsistent"), |row: &Row| row.disturbed[2]),
    ]
}

fn shares<'a>() -> Vec<Field<'a, Row<'a>>> {
    let share = |key, title, help| Column::new(key, title, Unit::Share).help(help);
    vec![
        field(share("server_cpu_share", "service", "of the service's CPUs: busy with it"), |row: &Row| {
            row.report.server_cpu_share
        }),
        field(
            share("generator_cpu_share", "generator", "of the generator's CPUs: busy with it"),
            |row: &Row| row.report.generator_cpu_share,
        ),
        field(share("generator_headroom_share", "headroom", "what the generator had left"), |row: &Row| {
            row.report.generator_cpu_share.map(|share| (1.0 - share).max(0.0))
        }),
        field(share("interference_share", "others", "of the measured CPUs: taken by others"), |row: &Row| {
            row.report.foreign_cpu_share
        }),
        field(share("steal_share", "stolen", "of the measured CPUs: taken by a hypervisor"), |row: &Row| {
            row.report.steal_share
        }),
        field(
            share("softirq_share", "softirq", "of the service's CPUs: interrupts and softirq"),
            |row: &Row| row.report.softirq_share,
        ),
        field(share("throttled_share", "throttled", "a quota kept it from running"), |row: &Row| {
            row.report.throttled_share
        }),
        field(share("cpu_pressure_share", "pressure", "a process waited for a CPU"), |row: &Row| {
            row.report.cpu_pressure_share
        }),
    ]
}

/// Little's law: rate x mean time is the number in flight, and a closed loop has as many as it has connections.
fn flight<'a>(connections: usize) -> Vec<Field<'a, Row<'a>>> {
    let number = |key, title, help| Column::new(key, title, Unit::Number).help(help);
    vec![
        field(
            number("in_flight_counted", "in flight", "requests in flight on average, as counted"),
            |row: &Row| row.in_flight.map(|found| six_digits(found.counted())),
        ),
        field(number("in_flight_law", "rate x time", "the same by Little's law"), |row: &Row| {
            row.in_flight.map(|found| six_digits(found.law()))
        }),
        field(
            Column::new("in_flight_law_share", "rate x time / connections", Unit::Share),
            move |row: &Row| row.in_flight.map(|found| six_digits(found.law() / connections.max(1) as f64)),
        ),
    ]
}

const ACCOUNTING_LEAD: &str = "Where the time of the measured CPUs went, by three counts that know nothing of each other: the \
                          scheduler's clocks, the kernel's ticks, and the clock on the wall.";

/// Where the CPUs' time went.
pub(crate) fn books(report: &Report) -> Section {
    let Some(accounting) = &report.cpu_accounting else {
        return Section::without("cpu-accounting", "CPU accounting", ACCOUNTING_LEAD)
            .note("the slices of this run have no CPU accounting: nothing was measured, or it was made by an earlier version");
    };
    let CpuAccounting { all_ns, server_ns, generator_ns, others_ns, idle_ns, steal_ns, softirq_ns, .. } =
        *accounting;
    let sum_ns = server_ns + generator_ns + others_ns + idle_ns + steal_ns;
    let parts = [
        ("services", server_ns),
        ("generator", generator_ns),
        ("others", others_ns),
        ("idle", idle_ns),
        ("stolen", steal_ns),
        ("all of these", sum_ns),
        ("what there was", all_ns),
        ("softirq, in the parts above", softirq_ns),
    ];
    type Part = (&'static str, u64);
    let fields = vec![
        field(Column::new("part", "part", Unit::Text), |(part, _): &Part| *part),
        field(Column::new("cpu_ns", "CPU time", Unit::Nanoseconds), |(_, ns): &Part| *ns),
        field(Column::new("share", "share", Unit::Share), move |(_, ns): &Part| *ns as f64 / all_ns as f64),
    ];
    let verdict = match accounting.closes() {
        true => "they close",
        false => "they do not close",
    };
    let show = |share: f64| Unit::Share.show(share);
    Section::new(
        "cpu-accounting",
        "CPU accounting",
        ACCOUNTING_LEAD,
        table("Time of the measured CPUs", fields, parts),
    )
    .note(format!(
        "{verdict}: the parts are {} of the whole, and may be off by {}",
        show(1.0 + accounting.residual_share),
        show(accounting.tolerance_share)
    ))
}

const PAIRS_LEAD: &str = "Adjacent rows that are not separated, and how many more blocks would separate them if \
                          they differ by as much as it seems.";

/// Pairs that the data cannot tell apart, where there are some. Why there are no tiers, or that all are separated, stands below
/// the main table.
pub(crate) fn pairs(report: &Report) -> Option<Section> {
    let tiers = report.tiers.as_ref().filter(|tiers| tiers.are_known() && !tiers.not_separated.is_empty())?;
    let text = |key, title| Column::new(key, title, Unit::Text);
    let help = "none if not even 2000 would";
    let fields = vec![
        field(text("label", "ahead"), |pair: &&Neighbours| pair.row.clone()),
        field(text("label_next", "behind"), |pair: &&Neighbours| pair.next.clone()),
        field(Column::new("blocks_more", "more blocks", Unit::Count).help(help), |pair: &&Neighbours| {
            pair.blocks_more
        }),
        field(Column::new("time_ns_more", "more time", Unit::Nanoseconds), |pair: &&Neighbours| pair.ns_more),
    ];
    let title = "Pairs that are not separated, the soonest first";
    let table = table(title, fields, &tiers.not_separated);
    let section = Section::new("pairs", "What is not separated", PAIRS_LEAD, table).brief();
    Some(section.note(format!(
        "of all such pairs, the {} that would be separated soonest",
        tiers.not_separated.len()
    )))
}
