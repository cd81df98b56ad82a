//! The table as Markdown, for a README or a pull request.

use super::{
    Ratio, Report, RowReport, State, Tiers,
    figures::{bytes, percent, rate, time, times},
    latency,
};

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let ending = report.ending.map_or("cut off", |ending| ending.text());
    let mut out = format!("## {}\n\n{}\n\n", escape(&report.title), escape(&report.question));
    out += "| service | tier | version | req/s | of reference | 95% interval | CPU/req | of reference | 95% interval ";
    out += "| p50 | p99 | RSS | start | errors |\n";
    out += "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    for row in &report.rows {
        out += &line(row, &report.reference);
    }
    for line in report.tiers.iter().flat_map(Tiers::lines) {
        out += &format!("\n- {}", escape(&line));
    }
    if report.tiers.is_some() {
        out += "\n";
    }
    out += &latency::markdown(report);
    out +=
        &format!("\n{}. {} blocks, seed {}: {ending}.\n", escape(&report.load), report.blocks, report.seed);
    let environment = &report.environment;
    out += &format!(
        "{}, {} CPUs ({}), {}.\n",
        environment.system, environment.cpus, environment.cpu, environment.kernel
    );
    let remarks: Vec<String> = report
        .rows
        .iter()
        .flat_map(|row| row.remarks().map(move |found| format!("{}: {found}", row.label)))
        .chain(report.findings.iter().map(ToString::to_string))
        .collect();
    for remark in &remarks {
        out += &format!("\n- {}", escape(remark));
    }
    if remarks.is_empty() { out } else { out + "\n" }
}

fn line(row: &RowReport, reference: &str) -> String {
    let reason = match &row.state {
        State::Measured => return figures(row, reference),
        State::Failed(reason) => format!("failed: {reason}"),
        State::Invalid(reason) => format!("invalid: {reason}"),
        State::Excluded(excluded) => format!("left out: {}", excluded.reason),
        State::Unmeasured => "no complete block".to_owned(),
    };
    let version = row.version.as_deref().unwrap_or_default();
    format!("| {} | | {} | {} | | | | | | | | | | |\n", escape(&row.label), escape(version), escape(&reason))
}

fn figures(row: &RowReport, reference: &str) -> String {
    let figure = |value: Option<f64>, show: fn(f64) -> String| value.map_or("-".to_owned(), show);
    let interval = row.ratio.as_ref().and_then(Ratio::interval);
    let cpu_interval = row.cpu_ratio.as_ref().and_then(Ratio::interval);
    let cells = [
        escape(&row.label),
        row.tier.map_or("-".to_owned(), |tier| tier.to_string()),
        escape(row.version.as_deref().unwrap_or_default()),
        row.requests_per_second.map_or(row.throughput_word().to_owned(), rate),
        figure(row.times_throughput(reference), percent),
        interval.map_or("-".to_owned(), |(low, high)| format!("{} .. {}", percent(low), percent(high))),
        figure(row.cpu_ns_per_request, time),
        figure(row.times_cpu(reference), times),
        cpu_interval.map_or("-".to_owned(), |(low, high)| format!("{} .. {}", times(low), times(high))),
        figure(row.latency_ns_p50, time),
        figure(row.latency_ns_p99, time),
        figure(row.rss_bytes_peak, bytes),
        figure(row.start_up_ns, time),
        row.failed.values().sum::<u64>().to_string(),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// What Markdown and HTML would take for their own.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
