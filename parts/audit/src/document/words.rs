//! All texts of an audit. Their tone is that of a colleague: the contradicting figures side by side, and the
//! most frequent reason.

use crate::{AuditIssue, AuditRow, CountedRequests, Counts, Mislabelled, Rule, Statistic, Timing};
use tare_analysis::figures::{percent, time};

use super::{per_second, plural};

/// The notes of every audit.
pub(super) const NOTES: [&str; 2] = [
    "a finding is a question to whoever published the figures; most have a simple reason, such as a column that is filled from \
     another one",
    "that no rule is broken shows only that the figures do not contradict each other",
];

pub(super) fn answer(rows: usize, untrue: usize, not_shown: usize) -> String {
    let all = format!("{rows} row{}", plural(rows));
    let have = |count: usize| if count == 1 { "has" } else { "have" };
    match (untrue, not_shown) {
        (0, 0) => format!("No rule speaks against any of the {all}."),
        (0, _) => {
            format!(
                "Of {all}, {not_shown} {} figures that do not show what they are read as.",
                have(not_shown)
            )
        }
        (_, 0) => format!("Of {all}, {untrue} {} figures that cannot be true.", have(untrue)),
        _ => format!(
            "Of {all}, {untrue} {} figures that cannot be true, and {not_shown} misleading ones.",
            have(untrue)
        ),
    }
}

/// Findings about tests as a whole; empty without any.
pub(super) fn of_tests(tests: usize) -> String {
    match tests {
        0 => String::new(),
        1 => "One finding concerns a test as a whole.".to_owned(),
        _ => format!("{tests} findings concern tests as a whole."),
    }
}

/// The figures in the rows of a source that the rules need.
pub(super) fn stated(rows: &[AuditRow]) -> String {
    let stated = [
        ("a rate", rows.iter().any(|row| row.per_second.is_some())),
        ("counts", rows.iter().any(|row| row.counts.is_some())),
        ("connections", rows.iter().any(|row| row.load.slots.is_some())),
        ("a mean latency", rows.iter().any(|row| row.latency.ns_mean.is_some())),
        ("quantiles", rows.iter().any(|row| !row.latency.quantiles_ns.is_empty())),
        ("CPU use", rows.iter().any(|row| row.cpus_used.is_some())),
    ];
    let stated: Vec<&str> =
        stated.into_iter().filter(|(_, is_there)| *is_there).map(|(what, _)| what).collect();
    match stated.as_slice() {
        [] => "nothing that a rule needs".to_owned(),
        [only] => (*only).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// How the figures of these rows were made, if Little's law does not hold for them directly.
pub(super) fn made(rows: &[AuditRow]) -> String {
    let mut ways: Vec<Timing> = Vec::new();
    for row in rows.iter().filter(|row| !row.timing.is_exact()) {
        if !ways.contains(&row.timing) {
            ways.push(row.timing);
        }
    }
    let sentences = ways.into_iter().map(|timing| {
        let why = reason(timing);
        format!(
            "{}{}: more in flight than connections is not shown, and no contradiction.",
            why[..1].to_uppercase(),
            &why[1..]
        )
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// Why rate times mean latency has this value, or does not apply.
fn reason(timing: Timing) -> &'static str {
    match timing {
        Timing::Measured => "the mean and the rate are not of the same requests",
        Timing::Corrected => {
            "wrk adds latencies for requests that a busy connection would have sent (stats_correct), and a script may send \
             several at a time, so its mean is not that of the requests it counts"
        }
        Timing::FromSchedule => {
            "its latencies begin when a request was due, and have the time before it was sent in them"
        }
        Timing::RateSampled => {
            "its rate is the mean of the rates of short times, which is not requests over time"
        }
    }
}

pub(super) fn name(rule: Rule) -> &'static str {
    match rule {
        Rule::Sign => "no time is below zero",
        Rule::Order => "latencies in order",
        Rule::LittleAbove => "no more in flight than sent",
        Rule::CpuTime => "no more CPU than there is",
        Rule::MeanAsQuantile => "a quantile is not the mean",
        Rule::Label => "figures under their names",
        Rule::LittleBelow => "connections are accounted for",
        Rule::Count => "rate and counts agree",
        Rule::Failures => "failures are few",
        Rule::IdleServer => "the fastest server was busy",
        Rule::Ceiling => "no ceiling that rows share",
        Rule::Repetition => "runs agree",
        Rule::Spread => "ranks have intervals",
    }
}

pub(super) fn arithmetic(rule: Rule) -> &'static str {
    match rule {
        Rule::Sign => "a latency is zero or more",
        Rule::Order => {
            "minimum <= each quantile <= the next one <= maximum, and the mean lies between minimum and maximum (0.1% for \
             histograms)"
        }
        Rule::LittleAbove => {
            "rate x mean latency <= connections x requests on each (5% for rounding); no contradiction where mean and rate are not \
             of the same requests"
        }
        Rule::CpuTime => "CPUs kept busy <= CPUs of the server (1% for the instants of reading)",
        Rule::MeanAsQuantile => {
            "a quantile from 90% on differs from the mean, unless all requests took the same or fewer than three digits are stated"
        }
        Rule::Label => "a figure is what its name states",
        Rule::LittleBelow => "in a closed loop, rate x mean latency >= 90% of connections x requests on each",
        Rule::Count => "rate = requests / time (5% for rounding)",
        Rule::Failures => "at most 0.1% of the requests failed, and of the checks of a script",
        Rule::IdleServer => "rows within 10% of the fastest keep 90% of their CPUs busy",
        Rule::Ceiling => "fewer than 10 rows lie within 10% of the fastest, or their CPU use is stated",
        Rule::Repetition => "the fastest run of a server is within 10% of its slowest",
        Rule::Spread => "a rank comes with an interval, or with more than one run",
    }
}

pub(super) fn reference(rule: Rule) -> &'static str {
    match rule {
        Rule::LittleAbove | Rule::LittleBelow => {
            "J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961)"
        }
        Rule::Label => "the code by which the source collects its figures",
        Rule::Sign | Rule::Order | Rule::MeanAsQuantile => "definition of a quantile (Hyndman and Fan 1996)",
        Rule::CpuTime | Rule::IdleServer | Rule::Ceiling => {
            "B. Gregg, Systems Performance (2020), section 2.5: utilisation"
        }
        Rule::Count | Rule::Failures => "definition of throughput (RFC 2544, section 26.1)",
        Rule::Repetition | Rule::Spread => {
            "A. Georges et al., Statistically Rigorous Java Performance Evaluation, OOPSLA 2007"
        }
    }
}

fn statistic(of: Statistic) -> String {
    match of {
        Statistic::Minimum => "the minimum".to_owned(),
        Statistic::Mean => "the mean".to_owned(),
        Statistic::Maximum => "the maximum".to_owned(),
        Statistic::Quantile(_) => quantile(of),
    }
}

/// Formats `p99`, `p99.9`, without rounding errors of binary fractions.
fn quantile(of: Statistic) -> String {
    match of {
        Statistic::Quantile(probability) => format!("p{}", (probability * 1e8).round() / 1e6),
        other => statistic(other),
    }
}

/// Formats nanoseconds, which may be negative.
fn ns(number: f64) -> String {
    if number < 0.0 { format!("-{}", time(-number)) } else { time(number) }
}

fn share(part: f64, of: f64) -> String {
    percent(part / of)
}

/// Both sides of Little's law.
fn little(in_flight: f64, slots: f64) -> String {
    let (found, allowed) = (whole(in_flight), whole(slots));
    let share = share(in_flight, slots);
    format!(
        "rate times mean latency is {found} requests in flight, {share} of the {allowed} that the load allows"
    )
}

fn mislabelled(label: Mislabelled, latency_ns: f64) -> String {
    let called = quantile(Statistic::Quantile(label.called));
    let is = match label.is {
        Statistic::Quantile(_) => format!("the {}", quantile(label.is)),
        other => statistic(other),
    };
    format!("what is called {called} ({}) is {is}, by {}", ns(latency_ns), label.shown_by)
}

/// The number and kinds of failures, and whether the rate counts them.
fn failed(counts: Counts, counted: CountedRequests) -> String {
    let kinds = [
        (counts.refused, "with a status of failure"),
        (counts.unlike, "with another answer than was expected, or too late"),
        (counts.unanswered, "without an answer"),
    ];
    let kinds: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0.0)
        .map(|(count, how)| format!("{} {how}", whole(*count)))
        .collect();
    let answered = counts.refused + counts.unlike;
    let and_the_rate = match counted {
        CountedRequests::Ended => ", and the rate counts them",
        CountedRequests::Answered if counts.unanswered <= 0.0 => ", and the rate counts them",
        CountedRequests::Answered if answered > 0.0 => ", and the rate counts those that were answered",
        CountedRequests::Answered | CountedRequests::Succeeded => "; the rate leaves them out",
    };
    format!(
        "{} of the requests failed ({} of {}: {}){and_the_rate}",
        share(counts.failed(), counts.judged()),
        whole(counts.failed()),
        whole(counts.judged()),
        kinds.join(", ")
    )
}

/// The text of a finding, with its figures.
pub(super) fn sentence(doubt: &AuditIssue) -> String {
    match *doubt {
        AuditIssue::BelowZero { what, ns: latency } => format!("{} is {}", statistic(what), ns(latency)),
        AuditIssue::OutOfOrder { less, more } => {
            format!(
                "{} ({}) is greater than {} ({})",
                statistic(less.0),
                ns(less.1),
                statistic(more.0),
                ns(more.1)
            )
        }
        AuditIssue::QuantileIsMean { probability, ns: latency } => format!(
            "{} is the mean, to the last digit ({}), as if its column had been filled from that of the mean",
            quantile(Statistic::Quantile(probability)),
            ns(latency)
        ),
        AuditIssue::QuantileMislabelled { label, ns: latency } => mislabelled(label, latency),
        AuditIssue::TooManyInFlight { in_flight, slots, timing } => {
            format!("{}: {}", little(in_flight, slots), reason(timing))
        }
        AuditIssue::TooFewInFlight { in_flight, slots } => format!(
            "{}: connections were idle, or the mean leaves out what some requests waited for",
            little(in_flight, slots)
        ),
        AuditIssue::MoreCpu { used, cpus } => format!(
            "{} CPUs were busy, and the server had {}: CPU time was sampled over another time than the rate",
            beyond(used, cpus),
            one_digit(cpus)
        ),
        AuditIssue::OtherRate { per_second: stated, counted_per_second } => {
            format!(
                "{} is stated, and the counts give {}",
                per_second(stated),
                per_second(counted_per_second)
            )
        }
        AuditIssue::Failed { counts, counted } => failed(counts, counted),
        AuditIssue::ChecksFailed(checks) => format!(
            "{} of the checks of the script failed ({} of {})",
            share(checks.failed, checks.of),
            whole(checks.failed),
            whole(checks.of)
        ),
        AuditIssue::IdleAtTheTop { used, cpus } => format!(
            "it is among the fastest with {} of its {} CPUs busy ({}): what ended its rate was not the server",
            one_digit(used),
            one_digit(cpus),
            share(used, cpus)
        ),
        AuditIssue::RunsDiffer { runs, per_second_min, per_second_max } => format!(
            "its {runs} runs lie between {} and {}, {} apart",
            per_second(per_second_min),
            per_second(per_second_max),
            share(per_second_max - per_second_min, per_second_min)
        ),
        AuditIssue::SharedCeiling { rows, of, per_second_max } => format!(
            "{rows} of {of} rows lie within 10% of {}, and nothing says that these servers were busy: the generator or the \
             network may have ended them",
            per_second(per_second_max)
        ),
        AuditIssue::NoSpread { rows } => {
            format!(
                "{rows} rows are ranked by one figure each: which of the differences are chance cannot be seen"
            )
        }
    }
}

/// A count; a value below ten has one decimal.
fn whole(number: f64) -> String {
    if number < 10.0 { one_digit(number) } else { format!("{number:.0}") }
}

/// A number with enough digits to show that it exceeds the bound.
fn beyond(number: f64, bound: f64) -> String {
    if one_digit(number) == one_digit(bound) { format!("{number:.2}") } else { one_digit(number) }
}

fn one_digit(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), ToOwned::to_owned)
}
