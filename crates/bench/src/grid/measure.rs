//! From what the generator tells to what is kept of a cell. Pure.

use tare_load::{Doubt, Histogram, Interval, Limits, Measures, RunReport, evaluate};

use super::record::{Figures, LinkFigures, PROBABILITIES, Second, Spread};
use crate::{
    run::record::Slice,
    validity::{self, Shares},
};
use tare_host::{
    cpus::{CpuAccounting, Pinning},
    link::{Link, LinkError, WayCounters},
};
use tare_service::drive::{self, describe};

/// What a run says of itself; the service's costs and the machine are for the bench to add.
pub fn figures(report: &RunReport, seconds: Vec<Second>) -> Figures {
    let tally = &report.total.tally;
    Figures {
        window_ns: report.window_ns,
        elapsed_ns: report.elapsed_ns,
        sent: tally.sent,
        answered: tally.answered,
        answered_in_window: tally.answered_in_window,
        failed: drive::by_name(&tally.failed),
        connection_failed: drive::by_name(&tally.connection_failed),
        in_flight: tally.in_flight,
        unsent: tally.unsent,
        connects: tally.connects,
        bytes_sent: tally.bytes_sent,
        bytes_received: tally.bytes_received,
        generator_cpu_ns: report.generator_cpu_ns,
        latency: latency(&report.total),
        connect_time: spread(&report.total.connect_time),
        connection_time: spread(&report.total.connection_time),
        seconds,
        doubts: doubts(report),
        first_failure: report.first_failure.as_ref().map(describe),
        ..Figures::default()
    }
}

/// The generator's doubts in itself. Whether it was out of CPU time is asked of the CPUs and not of its threads, of which
/// several may share one: see [`saturation_doubt`]. That a user's pause was a millisecond longer than drawn is nothing beside the
/// pause: only in an open loop is lateness a doubt.
fn doubts(report: &RunReport) -> Vec<String> {
    let is_open = report.total.service_time.count() > 0;
    let counts = |doubt: &Doubt| match doubt {
        Doubt::Late { .. } => is_open,
        Doubt::Inconsistent { .. } => true,
        Doubt::GeneratorBound { .. } | Doubt::Failing { .. } => false,
    };
    evaluate(report, &Limits::default())
        .iter()
        .filter(|doubt| counts(doubt))
        .map(ToString::to_string)
        .collect()
}

/// Why the rate of a load that asks for all there is may not be the service's own: what is asked of a slice of a campaign. The
/// link's time is the generator's here: they share their CPUs.
pub fn saturation_doubt(
    figures: &Figures,
    books: CpuAccounting,
    pinning: &Pinning,
    threads: usize,
) -> Option<String> {
    let slice = Slice {
        elapsed_ns: figures.elapsed_ns,
        server_cpu_ns: figures.server_cpu_ns,
        generator_cpu_ns: figures.generator_cpu_ns + figures.link_cpu_ns(),
        foreign_cpu_ns: figures.foreign_cpu_ns,
        books: Some(books),
        throttled_ns: figures.throttled_ns,
        ..Slice::default()
    };
    validity::throughput_doubt(&Shares::of(&[&slice], pinning, threads))
}

/// Beyond this share of a CPU the link's thread may hold packets up that it should not.
const LINK_BUSY_SHARE: f64 = 0.9;

/// What a link says of itself.
pub fn link(link: &Link) -> Result<LinkFigures, LinkError> {
    let books = link.counters()?;
    let both = |of: fn(&WayCounters) -> u64| of(&books.up) + of(&books.down);
    let mut late = books.up.late.clone();
    late.merge(&books.down.late);
    Ok(LinkFigures {
        kind: link.kind().to_string(),
        cpu_ns: books.cpu_ns,
        packets: both(|way| way.packets),
        lost: both(|way| way.lost),
        dropped: both(|way| way.dropped),
        unread: books.unread,
        late_ns_p99: late.quantile_ns(0.99),
    })
}

/// Why a load over a link measured the link.
pub fn link_doubt(link: &LinkFigures, elapsed_ns: u64) -> Option<String> {
    let busy = link.cpu_ns.unwrap_or(0) as f64 / elapsed_ns.max(1) as f64;
    if link.unread > 0 {
        Some(format!("link-bound: the link was too slow to read {} packets", link.unread))
    } else if busy > LINK_BUSY_SHARE {
        Some(format!("link-bound: the link's thread took {:.0}% of a CPU", busy * 100.0))
    } else {
        None
    }
}

/// A second of the load, or the rest of one.
pub fn second(interval: &Interval) -> Second {
    Second {
        ns: interval.to_ns - interval.from_ns,
        answered: interval.measures.tally.answered,
        latency_ns_max: interval.measures.latency.max_ns(),
    }
}

fn latency(measures: &Measures) -> Spread {
    let quantiles_ns = PROBABILITIES.iter().map(|probability| measures.quantile(*probability).ns).collect();
    Spread { quantiles_ns, at_least: measures.unanswered.count() > 0, ..spread(&measures.latency) }
}

fn spread(times: &Histogram) -> Spread {
    let (mean, stdev) = (times.mean_ns(), times.stdev_ns());
    let within = |low: f64, high: f64| times.share_within(low.max(0.0) as u64, high as u64);
    Spread {
        count: times.count(),
        ns_min: times.min_ns(),
        ns_mean: mean,
        ns_stdev: stdev,
        share_within_stdev: within(mean - stdev, mean + stdev),
        quantiles_ns: PROBABILITIES.iter().map(|probability| times.quantile_ns(*probability)).collect(),
        at_least: false,
    }
}
