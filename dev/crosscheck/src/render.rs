//! The tables of a crosscheck, for a terminal and as Markdown.

use super::{
    judge::{Finding, Metric},
    report::{Opinion, Report},
};
use tare_analysis::report::{
    figures::{percent, rate, time},
    markdown::escape,
};
use tare_bench::validity::SLICE_TAKEN_SHARE_MAX;

/// Metrics as lines of cells, the head first; `*` marks what decides.
fn findings(report: &Report) -> Vec<Vec<String>> {
    let head = ["tool", "metric", "theirs", "ours", "ratio", "95% interval", "verdict"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for opinion in &report.opinions {
        let name =
            |first: bool| if first { format!("{} {}", opinion.tool, opinion.version) } else { String::new() };
        for (index, finding) in opinion.findings.iter().enumerate() {
            lines.push([vec![name(index == 0)], line(finding)].concat());
        }
    }
    lines
}

fn line(finding: &Finding) -> Vec<String> {
    let figure = |value: f64| match finding.metric {
        Metric::Throughput => format!("{}/s", rate(value)),
        _ => time(value),
    };
    let dash = || "-".to_owned();
    let interval = finding.low.zip(finding.high);
    vec![
        format!("{}{}", finding.metric.name(), if finding.decides { " *" } else { "" }),
        figure(finding.theirs),
        figure(finding.ours),
        finding.ratio.map_or_else(dash, |ratio| format!("{ratio:.3}")),
        interval.map_or_else(dash, |(low, high)| format!("{low:.3} .. {high:.3}")),
        finding.verdict.name().to_owned(),
    ]
}

/// Costs likewise.
fn costs(report: &Report) -> Vec<Vec<String>> {
    let head =
        ["tool", "client CPU/req", "ours", "client busy", "ours", "service CPU/req", "ours", "busy", "ours"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for opinion in &report.opinions {
        let Some(costs) = &opinion.costs else { continue };
        let two = |(theirs, ours): (f64, f64), show: fn(f64) -> String| vec![show(theirs), show(ours)];
        let cells = [
            vec![opinion.tool.to_string()],
            two(costs.client_ns, time),
            two(costs.client_busy, percent),
            two(costs.server_ns, time),
            two(costs.server_busy, percent),
        ];
        lines.push(cells.concat());
    }
    lines
}

/// The report as lines of text, its tables laid out by `layout`, which is told the first column of numbers.
pub fn text(report: &Report, layout: impl Fn(&[Vec<String>], usize) -> String) -> String {
    let mut out = format!("{}\n{}\n", title(report), extent(report));
    for (lines, right_from) in [(findings(report), 2), (costs(report), 1)] {
        if lines.len() > 1 {
            out += &format!("\n{}", layout(&lines, right_from));
        }
    }
    for block in [loads(report), remarks(report)] {
        if !block.is_empty() {
            out += &format!("\n{}\n", block.join("\n"));
        }
    }
    out
}

/// The same as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("## {}\n\n{}\n", escape(&title(report)), escape(&extent(report)));
    for lines in [findings(report), costs(report)] {
        if lines.len() > 1 {
            out += &format!("\n{}", table(&lines));
        }
    }
    for block in [loads(report), remarks(report)] {
        if !block.is_empty() {
            let items: Vec<String> = block.iter().map(|line| format!("- {}", escape(line))).collect();
            out += &format!("\n{}\n", items.join("\n"));
        }
    }
    out
}

/// Lines of cells, the head first.
fn table(lines: &[Vec<String>]) -> String {
    let row = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = |cells: &Vec<String>| format!("|{}\n", "---|".repeat(cells.len()));
    let (head, body) = lines.split_at(1);
    head.iter().map(|cells| row(cells) + &rule(cells)).chain(body.iter().map(row)).collect()
}

fn title(report: &Report) -> String {
    let Report { service, version, contract, request, .. } = report;
    format!("Second opinions on {service} {version}: {contract}, {request}")
}

fn extent(report: &Report) -> String {
    let list = |cpus: &[usize]| cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let done = report.opinions.iter().map(|opinion| opinion.pairs.len()).max().unwrap_or(0);
    format!(
        "{}{done} of {} rounds, seed {}; service: THREADS={} on CPU {}, generators on CPU {}",
        if report.interrupted { "interrupted: " } else { "" },
        report.rounds,
        report.seed,
        report.knobs.threads,
        list(&report.pinning.server),
        list(&report.pinning.generator),
    )
}

/// What each was asked for.
fn loads(report: &Report) -> Vec<String> {
    let one = |opinion: &Opinion| {
        let bytes =
            opinion.request_bytes.map(|bytes| format!(", requests of {bytes} bytes")).unwrap_or_default();
        format!("{}: {}{bytes}", opinion.tool, opinion.load)
    };
    report.opinions.iter().map(one).collect()
}

/// Reasons, faults, doubts, and what is missing: a line each.
fn remarks(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> =
        report.trouble.iter().map(|trouble| format!("{}: {trouble}", report.service)).collect();
    for opinion in &report.opinions {
        let tool = opinion.tool;
        lines.extend(opinion.fault.iter().map(|fault| format!("{tool}: invalid: {fault}")));
        lines.extend(disturbed(opinion));
        lines.extend(counted_apart(opinion));
        for finding in &opinion.findings {
            let metric = finding.metric.name();
            if let Some(explanation) = &finding.explanation {
                let (id, why, here) = (explanation.id, explanation.why, &explanation.here);
                lines.push(format!("{tool} {metric}: {id}: {why}. Here: {here}"));
            }
            // Doubts about what decides nothing would hide those about what does.
            let doubts = finding.warnings.iter().filter(|_| finding.decides);
            lines.extend(doubts.map(|doubt| format!("{tool} {metric}: {doubt}")));
        }
    }
    let missing = |missing: &super::report::Missing| {
        format!("{}: missing; `{}` brings it", missing.tool, missing.install)
    };
    lines.extend(report.missing.iter().map(missing));
    lines
}

fn disturbed(opinion: &Opinion) -> Option<String> {
    let (tool, disturbed, all) = (opinion.tool, opinion.rounds_disturbed, opinion.pairs.len());
    let most = SLICE_TAKEN_SHARE_MAX * 100.0;
    let taken = format!("{tool}: in {disturbed} of {all} rounds others took more than {most}% of the CPUs");
    match (disturbed, opinion.machine_noisy) {
        (0, _) => None,
        (_, false) => Some(format!("{taken}: they do not count")),
        (_, true) => {
            Some(format!("{taken}: machine-noisy, they count all the same, and no difference means anything"))
        }
    }
}

/// Both loads are the same, so the kernel should have sent as many segments for a request of the one as of the other.
fn counted_apart(opinion: &Opinion) -> Option<String> {
    const APART: f64 = 0.05;
    let (theirs, ours) = opinion.costs.as_ref()?.segments?;
    ((theirs / ours - 1.0).abs() > APART).then(|| {
        format!(
            "{}: the kernel sent {theirs:.2} segments for each of its requests and {ours:.2} for each of ours: other programs \
             use TCP here, or one of the two counts wrongly",
            opinion.tool
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Found, Shape, Tool,
        reading::Latency,
        report::{FORMAT, Missing},
        rounds::{Pair, Sample, Series},
    };
    use tare_host::cpus::Pinning;
    use tare_service::knobs::Knobs;

    /// Two seconds of a saturated service.
    fn sample(per_second: f64, mean_ns: f64) -> Sample {
        Sample {
            answered: 2 * per_second as u64,
            served: 2 * per_second as u64,
            per_second,
            latency: Latency { mean_ns: Some(mean_ns), max_ns: Some(20.0 * mean_ns), ..Latency::default() },
            client_cpu_ns: 800_000_000,
            client_threads: 1,
            server_cpu_ns: 1_960_000_000,
            server_cpus: 1,
            segments: Some(4 * per_second as u64),
            ..Sample::default()
        }
    }

    fn opinion(tool: Tool, version: &str, fault: Option<&str>) -> Opinion {
        let load = Shape::Closed { connections: 64, threads: 1, seconds: 2 };
        let pair = |round| {
            let per_second = 50_000.0 + 100.0 * f64::from(round);
            Pair {
                theirs: sample(per_second * 0.998, 3.1e6),
                ours: sample(per_second + f64::from(round % 3) * 400.0 - 400.0, 1.28e6),
            }
        };
        let rounds = if fault.is_some() { 0 } else { 8 };
        let series = Series { tool, pairs: (0..rounds).map(pair).collect(), fault: fault.map(str::to_owned) };
        let found = Found { tool, program: "/usr/bin/x".into(), version: version.to_owned() };
        Opinion::new(&found, load, Some(41), series)
    }

    fn report() -> Report {
        Report {
            format: FORMAT,
            tare: "0.1.0".to_owned(),
            began: "2026-11-20T12:00:00Z".to_owned(),
            service: "express".to_owned(),
            version: "5.3.0".to_owned(),
            contract: "hello".to_owned(),
            request: "GET /".to_owned(),
            knobs: Knobs { threads: 1, delay_ms: 0 },
            pinning: Pinning { server: vec![0], generator: vec![1] },
            rounds: 8,
            seed: 7,
            interrupted: false,
            trouble: None,
            opinions: vec![
                opinion(Tool::Wrk, "4.1.0", None),
                opinion(Tool::H2load, "1.52.0", Some("h2load: 9 of 100 requests failed: 9 errored")),
            ],
            missing: vec![Missing { tool: Tool::Locust, install: Tool::Locust.install() }],
        }
    }

    #[test]
    fn a_report_as_text() {
        let layout = |lines: &[Vec<String>], _| lines.iter().map(|cells| cells.join("  ") + "\n").collect();
        insta::assert_snapshot!(text(&report(), layout));
    }

    #[test]
    fn a_report_as_markdown() {
        insta::assert_snapshot!(markdown(&report()));
    }
}
