//! The tables of a crosscheck, for a terminal and as Markdown.

use super::{
    finding::Finding,
    report::{Report, ToolResult},
};
use tare_analysis::figures::{percent, rate, time};
use tare_bench::disturbance::TAKEN_SHARE_MAX;
use tare_bench::metric::Metric;
use tare_report::write::{
    markdown::{escape, rows},
    text::aligned,
};

/// Metrics as rows of cells, with a header; `*` marks the deciding metric.
fn findings(report: &Report) -> Vec<Vec<String>> {
    let head = ["tool", "metric", "theirs", "ours", "ratio", "95% interval", "verdict"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for result in &report.tools {
        let name =
            |first: bool| if first { format!("{} {}", result.tool, result.version) } else { String::new() };
        for (index, finding) in result.findings.iter().enumerate() {
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

fn costs(report: &Report) -> Vec<Vec<String>> {
    let head =
        ["tool", "client CPU/req", "ours", "client busy", "ours", "service CPU/req", "ours", "busy", "ours"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for result in &report.tools {
        let Some(costs) = &result.costs else { continue };
        let two = |(theirs, ours): (f64, f64), show: fn(f64) -> String| vec![show(theirs), show(ours)];
        let cells = [
            vec![result.tool.to_string()],
            two(costs.client_ns, time),
            two(costs.client_busy, percent),
            two(costs.server_ns, time),
            two(costs.server_busy, percent),
        ];
        lines.push(cells.concat());
    }
    lines
}

pub fn text(report: &Report) -> String {
    let mut out = format!("{}\n{}\n", title(report), extent(report));
    for (lines, right_from) in [(findings(report), 2), (costs(report), 1)] {
        if lines.len() > 1 {
            out += &format!("\n{}\n", aligned(&lines, right_from).join("\n"));
        }
    }
    for block in [loads(report), notes(report)] {
        if !block.is_empty() {
            out += &format!("\n{}\n", block.join("\n"));
        }
    }
    out
}

pub fn markdown(report: &Report) -> String {
    let mut out = format!("## {}\n\n{}\n", escape(&title(report)), escape(&extent(report)));
    for lines in [findings(report), costs(report)] {
        if lines.len() > 1 {
            out += &format!("\n{}", rows(&lines));
        }
    }
    for block in [loads(report), notes(report)] {
        if !block.is_empty() {
            let items: Vec<String> = block.iter().map(|line| format!("- {}", escape(line))).collect();
            out += &format!("\n{}\n", items.join("\n"));
        }
    }
    out
}

fn title(report: &Report) -> String {
    let Report { service, version, contract, request, .. } = report;
    format!("Cross-validation on {service} {version}: {contract}, {request}")
}

fn extent(report: &Report) -> String {
    let list = |cpus: &[usize]| cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let done = report.tools.iter().map(|result| result.pairs.len()).max().unwrap_or(0);
    format!(
        "{}{done} of {} rounds, seed {}; service: THREADS={} on CPU {}, generators on CPU {}",
        if report.interrupted { "interrupted: " } else { "" },
        report.rounds,
        report.seed,
        report.service_settings.threads,
        list(&report.pinning.server),
        list(&report.pinning.generator),
    )
}

fn loads(report: &Report) -> Vec<String> {
    let one = |result: &ToolResult| {
        let requests = match (&result.sent.bytes, result.sent.headers.as_slice()) {
            (Some(bytes), _) => format!(", requests of {bytes} bytes"),
            (None, []) => String::new(),
            (None, headers) => format!(", requests with {}", headers.join(", ")),
        };
        format!("{}: {}{requests}", result.tool, result.load)
    };
    report.tools.iter().map(one).collect()
}

/// Reasons, faults, warnings and missing tools, one line each.
fn notes(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> =
        report.failure.iter().map(|failure| format!("{}: {failure}", report.service)).collect();
    for result in &report.tools {
        let tool = result.tool;
        lines.extend(result.fault.iter().map(|fault| format!("{tool}: invalid: {fault}")));
        lines.extend(disturbed(result));
        lines.extend(counted_apart(result));
        for finding in &result.findings {
            let metric = finding.metric.name();
            if let Some(explanation) = &finding.explanation {
                let (id, why, here) = (explanation.id, explanation.why, &explanation.here);
                lines.push(format!("{tool} {metric}: {id}: {why}. Here: {here}"));
            }
            // Warnings about other metrics would hide those about the deciding one.
            let warnings = finding.warnings.iter().filter(|_| finding.decides);
            lines.extend(warnings.map(|warning| format!("{tool} {metric}: {warning}")));
        }
    }
    let missing = |missing: &super::report::Missing| {
        format!("{}: not installed; `{}` installs it", missing.tool, missing.install)
    };
    lines.extend(report.missing.iter().map(missing));
    lines
}

fn disturbed(result: &ToolResult) -> Option<String> {
    let (tool, disturbed, all) = (result.tool, result.rounds_disturbed, result.pairs.len());
    let most = TAKEN_SHARE_MAX * 100.0;
    let taken =
        format!("{tool}: in {disturbed} of {all} rounds other processes took more than {most}% of the CPUs");
    match (disturbed, result.machine_noisy) {
        (0, _) => None,
        (_, false) => Some(format!("{taken}: these rounds are dropped")),
        (_, true) => Some(format!(
            "{taken}: noisy host: these rounds are used all the same, and no difference is conclusive"
        )),
    }
}

/// Both loads are the same, so the kernel should send equal numbers of segments per request. With several
/// streams on a connection, the number of requests in a segment varies.
fn counted_apart(result: &ToolResult) -> Option<String> {
    const APART: f64 = 0.05;
    if result.load.streams() > 1 {
        return None;
    }
    let (theirs, ours) = result.costs.as_ref()?.segments?;
    ((theirs / ours - 1.0).abs() > APART).then(|| {
        format!(
            "{}: the kernel sent {theirs:.2} segments per request of the tool and {ours:.2} per request of Tare: another \
             program uses TCP on this machine, or one of the two generators miscounts",
            result.tool
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Found, Shape, Tool,
        reading::Latency,
        report::{FORMAT, Missing, Sent},
        rounds::{Pair, Sample, Series},
    };
    use tare_host::cpus::Pinning;
    use tare_service::settings::ServiceSettings;

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

    fn result(tool: Tool, version: &str, fault: Option<&str>) -> ToolResult {
        let load = Shape::Closed { connections: 64, streams: 1, threads: 1, seconds: 2 };
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
        let sent = Sent { bytes: Some(41), headers: vec!["Host".to_owned()] };
        ToolResult::new(&found, load, sent, series)
    }

    fn report() -> Report {
        Report {
            format: FORMAT,
            tare: "0.1.0".to_owned(),
            began: "2026-11-20T12:00:00Z".to_owned(),
            service: "express".to_owned(),
            version: "5.3.0".to_owned(),
            protocol: "http/1.1",
            contract: "hello".to_owned(),
            request: "GET /".to_owned(),
            service_settings: ServiceSettings::of_threads(1),
            pinning: Pinning { server: vec![0], generator: vec![1] },
            rounds: 8,
            seed: 7,
            interrupted: false,
            failure: None,
            tools: vec![
                result(Tool::Wrk, "4.1.0", None),
                result(Tool::H2load, "1.52.0", Some("h2load: 9 of 100 requests failed: 9 errored")),
            ],
            missing: vec![Missing { tool: Tool::Locust, install: Tool::Locust.install() }],
        }
    }

    #[test]
    fn a_report_as_text() {
        insta::assert_snapshot!(text(&report()));
    }

    #[test]
    fn a_report_as_markdown() {
        insta::assert_snapshot!(markdown(&report()));
    }

    /// The lines of the text that contain this word.
    fn lines(report: &Report, word: &str) -> Vec<String> {
        text(report).lines().filter(|line| line.contains(word)).map(str::to_owned).collect()
    }

    #[test]
    fn a_load_of_streams_names_the_headers_and_no_counts_of_segments() {
        let mut report = report();
        let result = &mut report.tools[0];
        result.load = Shape::Closed { connections: 64, streams: 8, threads: 1, seconds: 2 };
        result.sent = Sent { bytes: None, headers: vec!["host".to_owned(), "user-agent".to_owned()] };
        result.costs.as_mut().unwrap().segments = Some((0.4, 0.3));
        let line = "wrk: 64 connections x 8 streams, 1 thread(s), 2 s, requests with host, user-agent";
        assert_eq!(lines(&report, "streams"), [line]);
        assert_eq!(lines(&report, "segments per request"), [] as [&str; 0]);
    }

    #[test]
    fn disturbed_rounds_are_named_with_what_became_of_them() {
        let disturbed = |rounds, noisy| {
            let mut report = report();
            report.tools[0].rounds_disturbed = rounds;
            report.tools[0].machine_noisy = noisy;
            lines(&report, "other processes took").join("")
        };
        assert_eq!(disturbed(0, false), "");
        let dropped = disturbed(2, false);
        assert!(
            dropped.starts_with("wrk: in 2 of 8 rounds") && dropped.ends_with("these rounds are dropped"),
            "{dropped}"
        );
        assert!(disturbed(6, true).ends_with("no difference is conclusive"));
    }

    #[test]
    fn counts_of_segments_that_differ_are_doubtful() {
        let with = |segments| {
            let mut report = report();
            report.tools[0].costs.as_mut().unwrap().segments = segments;
            lines(&report, "segments per request")
        };
        for alike in [None, Some((2.0, 2.0)), Some((2.08, 2.0)), Some((1.92, 2.0))] {
            assert_eq!(with(alike), [] as [&str; 0], "{alike:?}");
        }
        for apart in [(2.2, 2.0), (2.0, 2.2)] {
            assert_eq!(with(Some(apart)).len(), 1, "{apart:?}");
        }
    }

    #[test]
    fn a_failed_service_an_interrupt_and_a_missing_tool_are_named_in_both_forms() {
        let report = Report { failure: Some("it died".to_owned()), interrupted: true, ..report() };
        for form in [text(&report), markdown(&report)] {
            for part in ["express: it died", "interrupted: 8 of 8 rounds", "locust: not installed; "] {
                assert!(form.contains(part), "{part}: {form}");
            }
        }
    }

    #[test]
    fn a_report_without_tools_has_no_tables() {
        let report = Report { tools: Vec::new(), missing: Vec::new(), ..report() };
        assert_eq!(text(&report).lines().count(), 2);
        assert!(!markdown(&report).contains('|'));
    }
}
