//! What stands in the journal, cell by cell: the figure of each round, failures by class, and whether the load was what it
//! should have been.

use tare_analysis::published::trouble;
use tare_bench::{
    grid::plan::Offered,
    run::record::Record,
    sample::{Failure, LoadResult, Outcome, Sample},
};
use tare_host::cpus::TICK_NS;

use super::{
    super::{
        fields::{field, table},
        lay::{column, quiet, text},
    },
    Grid, load,
};
use crate::document::{Chart, Scale, Section, Shape, Unit};

/// Idle time is counted in ticks, so of a cell that is shorter the share that others took may be off by more than a tenth of
/// all there was: that is no figure.
const OTHERS_KNOWN_FROM_NS: u64 = 10 * TICK_NS;

/// One cell in one round.
#[derive(Clone, Copy)]
struct Round<'a> {
    grid: &'a Grid<'a>,
    sample: &'a Sample,
}

impl<'a> Round<'a> {
    fn all(grid: &'a Grid<'a>) -> Vec<Round<'a>> {
        let samples = grid.kept.records.iter().filter_map(|record| match record {
            Record::Sample(sample) => Some(&**sample),
            _ => None,
        });
        let mut rounds: Vec<Round> = samples.map(|sample| Round { grid, sample }).collect();
        rounds.sort_by_key(|round| (round.sample.point, round.sample.row, round.sample.round));
        rounds
    }

    fn label(&self) -> String {
        self.grid.report.rows[self.sample.row].label.clone()
    }

    fn load(&self) -> String {
        load(&self.grid.plan.points[self.sample.point])
    }

    /// A name of its own for each service under each load.
    fn name(&self) -> String {
        if self.grid.has_loads() { format!("{}, {}", self.label(), self.load()) } else { self.label() }
    }

    /// Also as far as one that hung came.
    fn figures(&self) -> Option<&'a LoadResult> {
        Some(&self.sample.load).filter(|_| !matches!(self.sample.outcome, Outcome::Failed { .. }))
    }

    /// Of a cell that came to its end.
    fn measured(&self) -> Option<&'a LoadResult> {
        Some(&self.sample.load).filter(|_| self.sample.is_measured())
    }

    fn reason(&self) -> Option<String> {
        match &self.sample.outcome {
            Outcome::Measured => trouble(self.grid.plan, self.sample).map(|issue| issue.to_string()),
            Outcome::Hung(hung) => Some(format!("stuck: {hung}")),
            Outcome::Failed { reason } => Some(format!("failed: {reason}")),
        }
    }

    fn message_ns(&self) -> Option<f64> {
        match self.grid.plan.points[self.sample.point].offered {
            Offered::Batch { messages, .. } => Some(self.measured()?.elapsed_ns as f64 / messages as f64),
            _ => None,
        }
    }

    /// A share of the time of this many CPUs.
    fn share(&self, cpu_ns: f64, cpus: usize) -> Option<f64> {
        let elapsed_ns = self.measured()?.elapsed_ns as f64;
        (elapsed_ns > 0.0 && cpus > 0).then(|| cpu_ns / elapsed_ns / cpus as f64)
    }

    /// The share of this many CPUs that others took.
    fn others_share(&self, cpus: usize) -> Option<f64> {
        self.measured().filter(|of| of.elapsed_ns >= OTHERS_KNOWN_FROM_NS)?;
        self.share(self.sample.host.foreign_cpu_ns?.max(0) as f64, cpus)
    }
}

/// The figure of every cell in every round.
pub(crate) fn rounds(grid: &Grid) -> Option<Section> {
    let rounds = Round::all(grid);
    let is_of_batches = grid.is_of_batches();
    let ns = Unit::Nanoseconds;
    let fields = vec![
        field(text("cell", "cell").hidden(), Round::name),
        field(text("load", "load").facet(), Round::load),
        field(text("label", "service").facet(), Round::label),
        field(column("round", "round", Unit::Count), |round: &Round| round.sample.round + 1),
        field(column("requests_per_second", "req/s", Unit::PerSecond), |round: &Round| {
            round.measured().map(LoadResult::per_second)
        }),
        field(column("message_ns", "a message", ns), Round::message_ns),
        field(column("cpu_ns_per_request", "CPU/request", ns), |round: &Round| {
            round.measured().and(round.sample.cpu_ns_per_request())
        }),
        field(column("answered", "answers", Unit::Count), |round: &Round| {
            round.figures().map(|of| of.answered)
        }),
        field(column("failures", "failures", Unit::Count), |round: &Round| {
            round.figures().map(LoadResult::failures)
        }),
        field(column("rss_bytes_peak", "memory", Unit::Bytes), |round: &Round| {
            round.sample.host.process.as_ref()?.rss_bytes_peak
        }),
        field(column("start_up_ns", "start-up", ns), |round: &Round| {
            round.sample.host.process.as_ref().map(|process| process.start_up_ns)
        }),
        field(column("not_counted", "not counted", Unit::Flag).facet(), |round: &Round| {
            round.reason().is_some()
        }),
        field(text("reason", "why"), Round::reason),
    ];
    if rounds.is_empty() {
        return None;
    }
    let lead = "A cell is one service, started afresh, under one load until that has ended. What is not counted is shown and \
                is in no other figure.";
    let shown = quiet(table("Cells by round", fields, rounds.iter().cloned()));
    let section = Section::new("rounds", "Every round", lead, shown);
    if grid.plan.rounds() < 2 {
        return Some(
            section
                .note("each cell was measured once: there is no interval, and no line over rounds to draw"),
        );
    }
    let (key, what) = match is_of_batches {
        true => ("message_ns", "Time for a message"),
        false => ("requests_per_second", "Requests a second"),
    };
    let out = rounds.iter().filter(|round| round.reason().is_some()).count();
    let alt =
        format!("{what} of each cell over the rounds; {out} of {} cells are not counted.", rounds.len());
    let chart = Chart::new(Shape::Lines, "round", key, &alt).series("cell").scales(Scale::Linear, Scale::Log);
    Some(section.chart(Chart { apart: Some("not_counted".to_owned()), first: Some(8), ..chart }))
}

/// Wrong and missing answers by class, where there are any.
pub(crate) fn failures(grid: &Grid) -> Option<Section> {
    let rounds = Round::all(grid);
    let classes = rounds.iter().flat_map(|round| {
        let load = &round.sample.load;
        let kinds = load.failed.iter().chain(load.connection_failed.iter());
        kinds.map(move |(class, count)| (round, class, count)).collect::<Vec<_>>()
    });
    let rows: Vec<(&Round, Failure, u64)> = classes.collect();
    let fields = vec![
        field(text("load", "load").facet(), |(round, ..): &(&Round, Failure, u64)| round.load()),
        field(text("label", "service").facet(), |(round, ..): &(&Round, Failure, u64)| round.label()),
        field(column("round", "round", Unit::Count), |(round, ..): &(&Round, Failure, u64)| {
            round.sample.round + 1
        }),
        field(text("class", "class").facet(), |(_, class, _): &(&Round, Failure, u64)| class.to_string()),
        field(column("failures", "failures", Unit::Count), |(.., count): &(&Round, Failure, u64)| *count),
        field(column("sent", "requests sent", Unit::Count), |(round, ..): &(&Round, Failure, u64)| {
            round.figures().map(|of| of.sent)
        }),
        field(text("first", "the first of the round"), |(round, ..): &(&Round, Failure, u64)| {
            round.figures()?.first_failure.clone()
        }),
    ];
    let lead = "Wrong and missing answers are no answers: a service with more than a few has no rate.";
    let shown = quiet(table("Failures by class", fields, rows.iter().cloned()));
    (!shown.rows.is_empty()).then(|| Section::new("failures", "Failures", lead, shown))
}

/// What the load was made with, and what else was on the machine.
pub(crate) fn validity(grid: &Grid) -> Option<Section> {
    let rounds: Vec<Round> =
        Round::all(grid).into_iter().filter(|round| round.measured().is_some()).collect();
    if rounds.is_empty() {
        return None;
    }
    let pinning = &grid.plan.pinning;
    let (served, generated) = (pinning.server.len(), pinning.generator.len());
    let offered = |round: &Round| grid.plan.points[round.sample.point].offered.connections().total;
    let in_flight = |round: &Round| {
        let of = round.measured()?;
        let requests = of.answered as f64 * of.latency.ns_mean / of.elapsed_ns as f64;
        (of.elapsed_ns > 0).then(|| (requests * 100.0).round() / 100.0)
    };
    let fields = vec![
        field(text("load", "load").facet(), Round::load),
        field(text("label", "service").facet(), Round::label),
        field(column("round", "round", Unit::Count), |round: &Round| round.sample.round + 1),
        field(column("service_cpu_share", "service's CPUs", Unit::Share), |round: &Round| {
            round.share(round.sample.host.server_cpu_ns as f64, served)
        }),
        field(
            column("generator_cpu_share", "generator's CPUs", Unit::Share).help("The rest is its headroom."),
            |round: &Round| round.share(round.sample.host.generator_cpu_ns as f64, generated),
        ),
        field(column("link_cpu_share", "slow link", Unit::Share), |round: &Round| {
            round.share(round.sample.host.link.as_ref()?.cpu_ns? as f64, generated)
        }),
        field(
            column("interference_share", "others", Unit::Share).help(
                "Neither service nor generator nor link, on their CPUs; none of cells of less than 100 ms.",
            ),
            |round: &Round| round.others_share(grid.plan.pinning.all().len()),
        ),
        field(
            column("in_flight_mean", "in flight", Unit::Number)
                .help("By Little's law: answers a second times their mean latency."),
            in_flight,
        ),
        field(column("connections", "of connections", Unit::Count), offered),
        field(text("reason", "not counted, since"), Round::reason),
    ];
    let doubted = rounds.iter().filter(|round| round.reason().is_some()).count();
    let lead = format!(
        "Whether the service was measured, or the generator or the machine: {doubted} of {} cells that came to their end are \
         not counted.",
        rounds.len()
    );
    let shown = quiet(table("Cells by what took the CPUs", fields, rounds.iter().cloned()));
    let is_short = |round: &&Round| round.measured().is_some_and(|of| of.elapsed_ns < OTHERS_KNOWN_FROM_NS);
    let section = Section::new("validity", "Validity", &lead, shown);
    Some(match rounds.iter().filter(is_short).count() {
        0 => section,
        short => section.note(format!(
            "what others took is not known of {short} of {} cells, which are shorter than 100 ms: idle time is counted in \
             ticks of 10 ms",
            rounds.len()
        )),
    })
}
