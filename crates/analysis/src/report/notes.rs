//! What a reader must know of a run as a whole to believe its table.

use tare_stats::{DEFAULT_CONFIDENCE, Looks, Warning, signed_rank};

use super::{books::Books, rounds::Rounds};
use tare_bench::run::{
    folder::Kept,
    plan::Plan,
    record::{Ending, Record, Slice},
};
use tare_host::cpus::Pinning;

/// More than this share of the measured CPUs for others, and the reader is told.
const FOREIGN_SHARE: f64 = 0.05;

/// The share of the measured CPUs that went to others, over all slices.
pub(super) fn foreign_cpu_share(plan: &Plan, records: &[Record]) -> Option<f64> {
    let taken = records.iter().filter_map(|record| match record {
        Record::Slice(Slice { foreign_cpu_ns, elapsed_ns, .. }) => Some(((*foreign_cpu_ns)?, *elapsed_ns)),
        _ => None,
    });
    share_taken(&plan.pinning, taken)
}

/// The share of the measured CPUs that went to others: of what they took, each with the time in which they took it.
pub(crate) fn share_taken(pinning: &Pinning, taken: impl IntoIterator<Item = (i64, u64)>) -> Option<f64> {
    let (mut foreign_ns, mut all_ns) = (0.0, 0.0);
    for (ns, elapsed_ns) in taken {
        foreign_ns += ns as f64;
        all_ns += elapsed_ns as f64 * pinning.all().len() as f64;
    }
    (all_ns > 0.0).then(|| (foreign_ns / all_ns).max(0.0))
}

/// What a reader is told where others took much of the measured CPUs, over a whole run.
pub(crate) fn machine_noisy(share: Option<f64>) -> Option<String> {
    share.filter(|share| *share > FOREIGN_SHARE).map(|share| {
        format!(
            "machine-noisy: others took {:.0}% of the measured CPUs: trust CPU per request more than throughput, or run \
             again on a quiet machine",
            share * 100.0
        )
    })
}

/// All notes, the gravest first.
pub(super) fn notes(
    kept: &Kept,
    rounds: &Rounds,
    foreign: Option<f64>,
    reference_blocks: usize,
    looks: Option<&Looks>,
    books: Option<&Books>,
) -> Vec<String> {
    let plan = &kept.header.plan;
    let mut notes = kept.damage.clone();
    notes.extend(machine_noisy(foreign));
    if !plan.pinning.apart() {
        notes
            .push("services and generator share one CPU: throughput says what both cost together".to_owned());
    }
    notes.extend(kept.without_end().map(str::to_owned));
    let least = match looks {
        Some(looks) => looks.all().iter().find(|look| look.depth > 0).map(|look| look.n),
        None => signed_rank::least_n(DEFAULT_CONFIDENCE),
    };
    if let Some(needed) = least.filter(|needed| (1..*needed).contains(&reference_blocks)) {
        notes.push(Warning::TooFewBlocks { n: reference_blocks, needed }.to_string());
    }
    let is_decided = |record: &Record| matches!(record, Record::Ended { reason: Ending::Decided, .. });
    match looks {
        Some(looks) => notes.push(looked_at(looks)),
        None if kept.records.iter().any(is_decided) => notes.push(
            "the campaign ended for what was seen in it, and nobody said when it was looked at: intervals and tiers claim \
             too much"
                .to_owned(),
        ),
        None => {}
    }
    notes.extend(rounds.notes(plan, reference_blocks));
    notes.extend(books.map(Books::note));
    notes
}

/// How the note begins that tells of the looks at a table.
pub(crate) const LOOKED_AT: &str = "the results were looked at after ";

fn looked_at(looks: &Looks) -> String {
    let blocks: Vec<String> = looks.all().iter().map(|look| look.n.to_string()).collect();
    format!(
        "{LOOKED_AT}{} blocks: intervals and tiers are those of the last of these, and hold at all \
         of them together",
        blocks.join(", ")
    )
}
