//! wrk, and wrk2, which prints the same lines and more.

use super::{Tool, has, none};
use crate::{
    published::{AuditRow, CountedRequests, Counts, PublishedLatency, PublishedLoad, Source, Timing},
    source::text::{after, before, behind, number, printed, quantiles, time_ns, words},
};

pub(super) const WRK: Tool = Tool {
    source: Source::Wrk,
    timing: Timing::Corrected,
    counted: CountedRequests::Answered,
    printed: |lines| has(lines, "Thread Stats") || lines.iter().any(|line| begins(line)),
    begins,
    run: wrk,
    json: none,
};

/// It sends at a requested rate, so more requests than its connections may wait.
pub(super) const WRK2: Tool = Tool {
    source: Source::Wrk2,
    timing: Timing::FromSchedule,
    counted: CountedRequests::Answered,
    printed: |lines| {
        let is_its = |line: &&str| line.starts_with("Thread calibration:") || line.contains("(HdrHistogram");
        lines.iter().any(|line| begins(line)) && lines.iter().any(is_its)
    },
    begins,
    run: |lines| {
        let row = wrk(lines);
        AuditRow { load: PublishedLoad { paced: true, ..PublishedLoad::default() }, ..row }
    },
    json: none,
};

fn begins(line: &str) -> bool {
    line.starts_with("Running ") && line.contains(" test @ ")
}

fn wrk(lines: &[&str]) -> AuditRow {
    let connections = lines.iter().find_map(|line| before(line, "connections"));
    let latency = words(lines, "Latency ");
    let of = |place: usize| latency.get(place).and_then(|text| printed(text));
    let total = lines.iter().find(|line| line.contains(" requests in "));
    let elapsed = total.and_then(|line| line.split(" requests in ").nth(1)?.split(',').next());
    // A zero percentile means that it lies among the added latencies below the minimum: it has no value.
    let quantiles_ns = quantiles(lines).into_iter().filter(|(_, ns)| *ns > 0.0).collect();
    AuditRow {
        test: lines[0].split(" test @ ").nth(1).unwrap_or_default().to_owned(),
        load: PublishedLoad { slots: connections, ..PublishedLoad::default() },
        per_second: after(lines, "Requests/sec:").and_then(number),
        counts: total.and_then(|line| number(line.split_whitespace().next()?)).map(|all| counts(all, lines)),
        elapsed_s: elapsed.and_then(time_ns).map(|ns| ns / 1e9),
        latency: PublishedLatency {
            ns_mean: of(0).map(|mean| mean.ns),
            ns_max: of(2).map(|max| max.ns),
            quantiles_ns,
            ns_min: None,
            step_ns: of(0).map_or(0.0, |mean| mean.step_ns),
        },
        ..AuditRow::default()
    }
}

/// `Non-2xx or 3xx responses` are statuses from 400 on. Timeouts are late answers, and are counted; other
/// broken connections are not.
fn counts(answered: f64, lines: &[&str]) -> Counts {
    let refused = after(lines, "Non-2xx or 3xx responses:").and_then(number).unwrap_or(0.0);
    let errors = after(lines, "Socket errors:").unwrap_or_default();
    let of = |kind: &str| behind(errors, kind).unwrap_or(0.0);
    let unanswered = of("connect") + of("read") + of("write");
    let late = of("timeout").min((answered - refused).max(0.0));
    let beyond = of("timeout") - late;
    Counts {
        succeeded: (answered - refused - late).max(0.0),
        refused,
        unlike: late,
        unanswered: unanswered + beyond,
        broken_off: 0.0,
    }
}
