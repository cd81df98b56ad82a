//! The records of the journal, cell by cell: the figure of each round, failures by class, and whether the
//! load was as intended.

use tare_analysis::sequential::invalid;
use tare_bench::{
    plan::{LoadSpec, Point},
    record::Record,
    sample::{Failure, LoadResult, Sample, SampleOutcome},
};
use tare_host::cpus::TICK_NS;

use super::{Experiment, load};
use crate::{
    document::{Chart, Column, Scale, Section, Shape},
    gather::columns::Columns,
};

/// Idle time is counted in ticks. In a shorter cell, the other programs' share may be off by more than a
/// tenth of all CPU time, and is no figure.
const OTHERS_KNOWN_FROM_NS: u64 = 10 * TICK_NS;

#[derive(Clone, Copy)]
struct CellRound<'a> {
    run: &'a Experiment<'a>,
    sample: &'a Sample,
}

impl<'a> CellRound<'a> {
    fn all(run: &'a Experiment<'a>) -> Vec<CellRound<'a>> {
        let samples = run.stored.records.iter().filter_map(Record::sample);
        let mut rounds: Vec<CellRound> = samples.map(|sample| CellRound { run, sample }).collect();
        rounds.sort_by_key(|round| (round.sample.point, round.sample.row, round.sample.round));
        rounds
    }

    fn point(&self) -> &'a Point {
        &self.run.plan.points[self.sample.point]
    }

    fn label(&self) -> String {
        self.run.report.rows[self.sample.row].label.clone()
    }

    fn load(&self) -> String {
        load(self.point())
    }

    fn name(&self) -> String {
        self.run.cell_name(&self.label(), &self.load())
    }

    /// The number of the round, from 1.
    fn number(&self) -> usize {
        self.sample.round + 1
    }

    /// The figures, including those of a cell that hung.
    fn figures(&self) -> Option<&'a LoadResult> {
        Some(&self.sample.load).filter(|_| !matches!(self.sample.outcome, SampleOutcome::Failed { .. }))
    }

    /// The figures of a completed cell.
    fn measured(&self) -> Option<&'a LoadResult> {
        Some(&self.sample.load).filter(|_| self.sample.is_measured())
    }

    fn reason(&self) -> Option<String> {
        match &self.sample.outcome {
            SampleOutcome::Measured => invalid(self.run.plan, self.sample).map(|issue| issue.to_string()),
            SampleOutcome::Hung(hung) => Some(format!("stuck: {hung}")),
            SampleOutcome::Failed { reason } => Some(format!("failed: {reason}")),
        }
    }

    fn message_ns(&self) -> Option<f64> {
        match self.point().load {
            LoadSpec::Batch { messages, .. } => Some(self.measured()?.elapsed_ns as f64 / messages as f64),
            _ => None,
        }
    }

    /// A share of the time of this many CPUs.
    fn share(&self, cpu_ns: f64, cpus: usize) -> Option<f64> {
        let elapsed_ns = self.measured()?.elapsed_ns as f64;
        (elapsed_ns > 0.0 && cpus > 0).then(|| cpu_ns / elapsed_ns / cpus as f64)
    }

    /// The requests in flight, by Little's law.
    fn in_flight(&self) -> Option<f64> {
        let of = self.measured().filter(|of| of.elapsed_ns > 0)?;
        let requests = of.answered as f64 * of.latency.ns_mean / of.elapsed_ns as f64;
        Some((requests * 100.0).round() / 100.0)
    }

    /// The share of this many CPUs that other programs took.
    fn others_share(&self, cpus: usize) -> Option<f64> {
        self.measured().filter(|of| of.elapsed_ns >= OTHERS_KNOWN_FROM_NS)?;
        self.share(self.sample.host.foreign_cpu_ns?.max(0) as f64, cpus)
    }
}

/// The figure of every cell in every round.
pub(crate) fn rounds(run: &Experiment) -> Option<Section> {
    let rounds = CellRound::all(run);
    let all = rounds.len();
    if all == 0 {
        return None;
    }
    let out = rounds.iter().filter(|round| round.reason().is_some()).count();
    let lead = "A cell is one service, started afresh, under one load until that has ended. What is not counted is shown and \
                is in no other figure.";
    let section = Section::new("rounds", "Every round", lead, columns().table("Cells by round", rounds));
    if run.plan.rounds() < 2 {
        let once = "each cell was measured once: there is no interval, and no line over rounds to draw";
        return Some(section.note(once));
    }
    let (key, what) = match run.is_of_batches() {
        true => ("message_ns", "Time for a message"),
        false => ("requests_per_second", "Requests a second"),
    };
    let alt = format!("{what} of each cell over the rounds; {out} of {all} cells are not counted.");
    let chart = Chart::new(Shape::Lines, "round", key, &alt).series("cell").scales(Scale::Linear, Scale::Log);
    Some(section.chart(chart.apart("not_counted").first(8)))
}

fn columns<'a>() -> Columns<'a, CellRound<'a>> {
    let start_up = |round: &CellRound| Some(round.sample.host.process.as_ref()?.start_up_ns);
    Columns::new()
        .text("cell", "cell", CellRound::name)
        .hidden()
        .facet("load", "load", CellRound::load)
        .facet("label", "service", CellRound::label)
        .count("round", "round", CellRound::number)
        .rate("requests_per_second", "req/s", |round| round.measured().map(LoadResult::per_second))
        .ns("message_ns", "a message", CellRound::message_ns)
        .ns("cpu_ns_per_request", "CPU/request", |round| {
            round.measured().and(round.sample.cost()?.per_request())
        })
        .count("answered", "answers", |round| round.figures().map(|of| of.answered))
        .count("failures", "failures", |round| round.figures().map(LoadResult::failures))
        .bytes("rss_bytes_peak", "memory", |round| round.sample.host.process.as_ref()?.rss_bytes_peak)
        .ns("start_up_ns", "start-up", start_up)
        .flag("not_counted", "not counted", |round| round.reason().is_some())
        .with(Column::facet)
        .text("reason", "why", CellRound::reason)
}

/// Wrong and missing answers by class, if there are any.
pub(crate) fn failures(run: &Experiment) -> Option<Section> {
    let classes = CellRound::all(run).into_iter().flat_map(|round| {
        let load = &round.sample.load;
        let kinds = load.failed.iter().chain(load.connection_failed.iter());
        kinds.map(move |(class, count)| (round, class, count)).collect::<Vec<_>>()
    });
    let rows: Vec<(CellRound, Failure, u64)> = classes.collect();
    if rows.is_empty() {
        return None;
    }
    let columns = Columns::new()
        .facet("load", "load", |(round, ..): &(CellRound, Failure, u64)| round.load())
        .facet("label", "service", |(round, ..)| round.label())
        .count("round", "round", |(round, ..)| round.number())
        .facet("class", "class", |(_, class, _)| class.to_string())
        .count("failures", "failures", |(.., count)| *count)
        .count("sent", "requests sent", |(round, ..)| round.figures().map(|of| of.sent))
        .text("first", "the first of the round", |(round, ..)| round.figures()?.first_failure.clone());
    let lead = "Wrong and missing answers are no answers: a service with more than a few has no rate.";
    Some(Section::new("failures", "Failures", lead, columns.table("Failures by class", rows)))
}

/// The resources of the load, and other programs on the machine.
pub(crate) fn validity(run: &Experiment) -> Option<Section> {
    let rounds: Vec<CellRound> =
        CellRound::all(run).into_iter().filter(|round| round.measured().is_some()).collect();
    let all = rounds.len();
    if all == 0 {
        return None;
    }
    let doubted = rounds.iter().filter(|round| round.reason().is_some()).count();
    let lead = format!(
        "Whether the service was measured, or the generator or the machine: {doubted} of {all} cells that came to their end are \
         not counted."
    );
    let is_short =
        |round: &&CellRound| round.measured().is_some_and(|of| of.elapsed_ns < OTHERS_KNOWN_FROM_NS);
    let short = rounds.iter().filter(is_short).count();
    let table = cpu_columns(run).table("Cells by what took the CPUs", rounds);
    let section = Section::new("validity", "Validity", &lead, table);
    Some(match short {
        0 => section,
        short => section.note(format!(
            "what others took is not known of {short} of {all} cells, which are shorter than 100 ms: idle time is counted in \
             ticks of 10 ms"
        )),
    })
}

fn cpu_columns<'a>(run: &'a Experiment) -> Columns<'a, CellRound<'a>> {
    let pinning = &run.plan.pinning;
    let (served, generated) = (pinning.server.len(), pinning.generator.len());
    let link =
        move |round: &CellRound| round.share(round.sample.host.link.as_ref()?.cpu_ns? as f64, generated);
    Columns::new()
        .facet("load", "load", CellRound::load)
        .facet("label", "service", CellRound::label)
        .count("round", "round", CellRound::number)
        .share("service_cpu_share", "service's CPUs", move |round| {
            round.share(round.sample.host.server_cpu_ns as f64, served)
        })
        .share("generator_cpu_share", "generator's CPUs", move |round| {
            round.share(round.sample.host.generator_busy_ns() as f64, generated)
        })
        .help("The rest is its headroom.")
        .share("link_cpu_share", "slow link", link)
        .share("interference_share", "others", |round| round.others_share(pinning.all().len()))
        .help("Neither service nor generator nor link, on their CPUs; none of cells of less than 100 ms.")
        .number("in_flight_mean", "in flight", CellRound::in_flight)
        .help("By Little's law: answers a second times their mean latency.")
        .count("connections", "of connections", |round| round.point().load.connections().total)
        .text("reason", "not counted, since", CellRound::reason)
}
