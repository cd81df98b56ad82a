//! What came out of a campaign, in one sentence: the first thing that is read. It claims no order that the data do not support.

use tare_lab::{
    report::{
        Metric, Ratio, Report, RowReport, State, Tiers,
        figures::{percent, rate, time, times},
    },
    run::record::Ending,
};

/// The sentence.
pub fn answer(report: &Report) -> String {
    let measured: Vec<&RowReport> = report.rows.iter().filter(|row| row.state == State::Measured).collect();
    let said = match measured.as_slice() {
        [] => return nothing(report),
        [only] => alone(only, report),
        all => match report.tiers.as_ref().filter(|tiers| tiers.are_known()) {
            Some(tiers) => format!("{}; {}", first(tiers, report), extent(tiers, report)),
            None => without_order(all, report),
        },
    };
    let blocks = several(report.blocks, "block");
    match report.ending {
        // One that goes on looks like one that was cut off.
        None => format!("So far ({blocks}): {said}."),
        Some(Ending::Interrupted) => format!("Interrupted after {blocks}: {said}."),
        Some(_) => format!("{said}."),
    }
}

/// Why there is no figure at all.
fn nothing(report: &Report) -> String {
    let Some(first) = report.rows.first() else {
        return "Nothing was measured: the run has no services.".to_owned();
    };
    let unmeasured = report.rows.iter().filter(|row| row.state == State::Unmeasured).count();
    let is_wrong = |row: &RowReport| matches!(row.state, State::Failed(_) | State::Invalid(_));
    if unmeasured > 0 && !report.rows.iter().any(is_wrong) {
        return format!("No figures for {}: no block is complete.", several(unmeasured, "service"));
    }
    let words = ["failed", "invalid", "left out", "unmeasured"];
    let count = |word: &&str| report.rows.iter().filter(|row| row.state.word() == *word).count();
    let counts = words.iter().map(|word| (count(word), *word)).filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let gravest = words.iter().find_map(|word| report.rows.iter().find(|row| row.state.word() == *word));
    let row = gravest.unwrap_or(first);
    let reason = row.state.reason().unwrap_or_default();
    format!(
        "No figures for {}: {}; {}: {}.",
        several(report.rows.len(), "service"),
        counts.join(", "),
        row.label,
        reason.trim_end_matches('.')
    )
}

/// There is nothing to compare it with.
fn alone(row: &RowReport, report: &Report) -> String {
    let rate = row.requests_per_second.map(|per_second| format!("{} requests/s", rate(per_second)));
    let cpu = row.cpu_ns_per_request.map(|ns| format!("{} of CPU a request", time(ns)));
    let figures: Vec<String> = rate.into_iter().chain(cpu).collect();
    let others = match report.rows.len() - 1 {
        0 => "and nothing to compare it with".to_owned(),
        1 => format!("and the other one has no figures ({})", why_without(report)),
        more => format!("and the other {more} have no figures ({})", why_without(report)),
    };
    let figures = if figures.is_empty() { "no valid throughput".to_owned() } else { figures.join(" at ") };
    format!("{}: {figures}, {others}", row.label)
}

fn why_without(report: &Report) -> String {
    let without = report.rows.iter().filter(|row| row.state != State::Measured);
    let mut words: Vec<&str> = without.map(|row| row.state.word()).collect();
    words.sort_unstable();
    words.dedup();
    words.join(", ")
}

/// With too few blocks there are ratios and no order.
fn without_order(measured: &[&RowReport], report: &Report) -> String {
    let others = measured.iter().filter(|row| row.label != report.pivot);
    let related = others.filter_map(|row| Some((row, row.ratio.as_ref()?)));
    let best = related.max_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio));
    match best {
        Some((row, ratio)) => format!(
            "{} has the most, {} of {}'s throughput; {} to rank {}",
            row.label,
            share(ratio),
            report.pivot,
            not_enough(report.blocks),
            several(measured.len(), "service")
        ),
        None => format!("{} to rank {}", not_enough(report.blocks), several(measured.len(), "service")),
    }
}

/// Who is first, who else may be, and how far that is from the pivot.
fn first(tiers: &Tiers, report: &Report) -> String {
    let (best, worth) = match tiers.by {
        Metric::Throughput => ("fastest", "throughput"),
        Metric::CpuPerRequest => ("cheapest", "CPU per request"),
    };
    let of_tier = |tier: usize| -> Vec<&str> {
        tiers.rows.iter().filter(|place| place.tier == tier).map(|place| place.row.as_str()).collect()
    };
    let top = of_tier(1);
    let Some((leader, ties)) = top.split_first() else { return String::new() };
    let pivot = report.pivot.as_str();
    if *leader == pivot {
        return behind_the_pivot(tiers, report, ties, best, worth);
    }
    let tied = match ties {
        [] => String::new(),
        ties => format!(" and not separated from {}", listed(ties)),
    };
    match (related(report, leader, tiers.by), ties) {
        (Some(ratio), [only]) if *only == pivot => {
            format!("{leader} is {best}{tied}: {ratio} of its {worth}")
        }
        (Some(ratio), _) => format!("{leader} is {best}{tied}: {ratio} of {pivot}'s {worth}"),
        (None, _) => format!("{leader} is {best}{tied}{}", unrelated(report, leader, tiers.by)),
    }
}

/// The pivot does nothing, so it is no news that it is first: the news is who comes nearest.
fn behind_the_pivot(tiers: &Tiers, report: &Report, ties: &[&str], best: &str, worth: &str) -> String {
    let pivot = report.pivot.as_str();
    let tier = if ties.is_empty() { 2 } else { 1 };
    let near: Vec<&str> = tiers
        .rows
        .iter()
        .filter(|place| place.tier == tier && place.row != pivot)
        .map(|place| place.row.as_str())
        .collect();
    let Some((next, others)) = near.split_first() else { return format!("{pivot} is {best}") };
    let ratio = related(report, next, tiers.by).unwrap_or("an unknown share".to_owned());
    let figure = format!("{ratio} of its {worth}");
    match (tier, others.is_empty()) {
        (1, true) => format!("{next} is not separated from {pivot}, which is {best}: {figure}"),
        (1, false) => {
            format!("{} are not separated from {pivot}, which is {best}: {next} has {figure}", listed(&near))
        }
        (_, true) => format!("{next} comes nearest to {pivot}: {figure}"),
        (_, false) => format!("{} come nearest to {pivot}: {next} has {figure}", listed(&near)),
    }
}

/// `102.1% (99.5 .. 104.7%)`, `1.24x (1.20 .. 1.28x)`.
fn related(report: &Report, label: &str, by: Metric) -> Option<String> {
    let row = report.rows.iter().find(|row| row.label == label)?;
    match by {
        Metric::Throughput => row.ratio.as_ref().map(share),
        Metric::CpuPerRequest => row.cpu_ratio.as_ref().map(multiple),
    }
}

fn share(ratio: &Ratio) -> String {
    let interval = ratio.low.zip(ratio.high);
    let interval = interval.map(|(low, high)| format!(" ({:.1} .. {})", low * 100.0, percent(high)));
    percent(ratio.ratio) + &interval.unwrap_or_default()
}

fn multiple(ratio: &Ratio) -> String {
    let interval = ratio.low.zip(ratio.high);
    let interval = interval.map(|(low, high)| format!(" ({low:.2} .. {})", times(high)));
    times(ratio.ratio) + &interval.unwrap_or_default()
}

/// A figure of its own, where there is none of the pivot's, and why not.
fn unrelated(report: &Report, label: &str, by: Metric) -> String {
    let row = report.rows.iter().find(|row| row.label == label);
    let figure = match by {
        Metric::Throughput => row
            .and_then(|row| row.requests_per_second)
            .map(|per_second| format!(": {} requests/s", rate(per_second))),
        Metric::CpuPerRequest => {
            row.and_then(|row| row.cpu_ns_per_request).map(|ns| format!(": {} of CPU a request", time(ns)))
        }
    };
    let pivot = report.rows.iter().find(|row| row.label == report.pivot);
    let why = match pivot {
        _ if report.pivot.is_empty() => ", and nothing to relate it to".to_owned(),
        None => format!(", related to nothing: the run has no row \"{}\"", report.pivot),
        Some(pivot) => match pivot.state.reason().or(pivot.throughput_doubt.as_deref()) {
            Some(_) => format!(", related to nothing: {} has no valid figure", report.pivot),
            None => String::new(),
        },
    };
    figure.unwrap_or_default() + &why
}

/// How much of an order there is.
fn extent(tiers: &Tiers, report: &Report) -> String {
    let count = tiers.rows.iter().map(|place| place.tier).max().unwrap_or(0);
    let by = match tiers.by {
        Metric::Throughput => "",
        Metric::CpuPerRequest => " by CPU per request, since not every throughput is valid",
    };
    let without = match report.rows.len() - tiers.rows.len() {
        0 => String::new(),
        more => format!(", {more} without figures"),
    };
    format!("{} over {}{by}{without}", several(count, "tier"), several(tiers.rows.len(), "service"))
}

/// `a`, `a and b`, `a, b and c`, `a, b and 4 others`.
fn listed(labels: &[&str]) -> String {
    match labels {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [one, two, three] => format!("{one}, {two} and {three}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} others", rest.len()),
    }
}

fn not_enough(blocks: usize) -> String {
    if blocks == 1 { "1 block is not enough".to_owned() } else { format!("{blocks} blocks are not enough") }
}

fn several(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
