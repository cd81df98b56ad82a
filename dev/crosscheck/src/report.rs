//! The result of a cross-validation, as stored and printed data.

use serde::Serialize;
use tare_bench::metric::Metric;
use tare_stats::summary;

use super::{
    Found, Shape, Tool, evaluation,
    finding::{Finding, Verdict},
    rounds::{Pair, Sample, Series},
};
use tare_host::cpus::Pinning;
use tare_service::settings::ServiceSettings;

/// The format of `crosscheck.json`, `major.minor`.
pub const FORMAT: &str = "1.1";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub format: &'static str,
    pub tare: String,
    pub began: String,
    pub service: String,
    pub version: String,
    pub protocol: &'static str,
    /// The contract, and the request.
    pub contract: String,
    pub request: String,
    pub service_settings: ServiceSettings,
    pub pinning: Pinning,
    pub rounds: usize,
    pub seed: u64,
    /// Whether a signal ended it early.
    pub interrupted: bool,
    /// How the service failed. Then no figure counts.
    pub failure: Option<String>,
    pub tools: Vec<ToolResult>,
    pub missing: Vec<Missing>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub tool: Tool,
    pub install: &'static str,
}

/// The request of a tool, which Tare's generator repeats.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Sent {
    /// Its length; `None` if unknown, and over HTTP/2.
    #[serde(rename = "request_bytes")]
    pub bytes: Option<usize>,
    /// The names of its header fields, with `host` for `:authority`.
    #[serde(rename = "request_headers")]
    pub headers: Vec<String>,
}

/// A tool compared with Tare's generator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolResult {
    pub tool: Tool,
    pub version: String,
    pub load: Shape,
    #[serde(flatten)]
    pub sent: Sent,
    /// Why there are no figures, or no further ones.
    pub fault: Option<String>,
    pub findings: Vec<Finding>,
    /// Rounds in which other processes took more than a tenth of the measured CPUs. They are dropped, unless
    /// they are more than half.
    pub rounds_disturbed: usize,
    /// Whether they are more than half.
    pub machine_noisy: bool,
    pub costs: Option<Costs>,
    pub pairs: Vec<Pair>,
}

/// Medians over the rounds: the tool's, and ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Costs {
    /// CPU time of the generator per answer.
    pub client_ns: (f64, f64),
    /// The share of its threads' time that the generator was on a CPU.
    pub client_busy: (f64, f64),
    /// CPU time of the service per request.
    pub server_ns: (f64, f64),
    /// The share of its CPUs' time in which the service ran.
    pub server_busy: (f64, f64),
    /// TCP segments with data that the kernel sent, per request.
    pub segments: Option<(f64, f64)>,
}

impl ToolResult {
    pub fn new(found: &Found, load: Shape, sent: Sent, series: Series) -> ToolResult {
        let counted = series.counted();
        ToolResult {
            tool: found.tool,
            version: found.version.clone(),
            load,
            sent,
            findings: evaluation::evaluate(&load, &counted),
            rounds_disturbed: counted.disturbed,
            machine_noisy: counted.noisy,
            costs: Costs::of(&counted.series.pairs),
            fault: series.fault,
            pairs: series.pairs,
        }
    }

    pub(crate) fn deciding(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.metric == Metric::Throughput)
    }
}

impl Costs {
    fn of(pairs: &[Pair]) -> Option<Costs> {
        let both = |of: &dyn Fn(&Sample) -> f64| {
            let median = |side: fn(&Pair) -> &Sample| {
                summary::median(&pairs.iter().map(|pair| of(side(pair))).collect::<Vec<_>>()).ok()
            };
            median(|pair| &pair.theirs).zip(median(|pair| &pair.ours))
        };
        Some(Costs {
            client_ns: both(&Sample::client_cost_ns)?,
            client_busy: both(&Sample::client_busy)?,
            server_ns: both(&Sample::server_cost_ns)?,
            server_busy: both(&Sample::server_busy)?,
            // A count that the kernel did not report is NaN, and then there is no median.
            segments: both(&|sample| sample.segments_per_request().unwrap_or(f64::NAN)),
        })
    }
}

impl Report {
    /// The verdict on each tool's throughput; a tool with a fault has none.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let sound = self.tools.iter().filter(|result| result.fault.is_none());
        sound.filter_map(|result| result.deciding().map(|finding| finding.verdict))
    }

    pub fn some_fault(&self) -> bool {
        self.tools.iter().any(|result| result.fault.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Latency;

    const LOAD: Shape = Shape::Closed { connections: 4, streams: 1, threads: 1, seconds: 2 };

    /// Two seconds in which a service used this share of its CPU.
    fn sample(per_second: f64, busy: f64) -> Sample {
        Sample {
            answered: (2.0 * per_second) as u64,
            served: (2.0 * per_second) as u64,
            per_second,
            latency: Latency { mean_ns: Some(4e9 / per_second), ..Latency::default() },
            client_cpu_ns: 500_000_000,
            client_threads: 1,
            server_cpu_ns: (busy * 2e9) as u64,
            server_cpus: 1,
            segments: Some((4.0 * per_second) as u64),
            ..Sample::default()
        }
    }

    fn result(tool: Tool, theirs: f64, ours: f64, fault: Option<&str>) -> ToolResult {
        let pair = |round| {
            let noise = 1.0 + 0.001 * (f64::from(round % 3) - 1.0);
            Pair { theirs: sample(theirs * noise, 0.5), ours: sample(ours, 0.5) }
        };
        let series = Series { tool, pairs: (0..8).map(pair).collect(), fault: fault.map(str::to_owned) };
        let found = Found { tool, program: "/x".into(), version: "1.2".to_owned() };
        ToolResult::new(&found, LOAD, Sent::default(), series)
    }

    fn report(tools: Vec<ToolResult>) -> Report {
        Report {
            format: FORMAT,
            tare: String::new(),
            began: String::new(),
            service: "express".to_owned(),
            version: String::new(),
            protocol: "http/1.1",
            contract: "hello".to_owned(),
            request: "GET /".to_owned(),
            service_settings: ServiceSettings::of_threads(1),
            pinning: Pinning { server: vec![0], generator: vec![1] },
            rounds: 8,
            seed: 1,
            interrupted: false,
            failure: None,
            tools,
            missing: Vec::new(),
        }
    }

    #[test]
    fn throughput_decides_and_a_tool_with_a_fault_says_nothing() {
        let report = report(vec![
            result(Tool::Wrk, 50_000.0, 50_000.0, None),
            result(Tool::H2load, 40_000.0, 50_000.0, None),
            result(Tool::Httperf, 40_000.0, 50_000.0, Some("it stopped")),
        ]);
        assert_eq!(report.verdicts().collect::<Vec<_>>(), [Verdict::Agree, Verdict::Disagree]);
        assert!(report.some_fault());
        for result in &report.tools {
            let deciding: Vec<Metric> = result
                .findings
                .iter()
                .filter(|finding| finding.decides)
                .map(|finding| finding.metric)
                .collect();
            assert_eq!(deciding, [Metric::Throughput]);
        }
    }

    #[test]
    fn costs_are_medians_of_both_sides() {
        let result = result(Tool::Wrk, 25_000.0, 50_000.0, None);
        let costs = result.costs.unwrap();
        assert_eq!(costs.client_ns, (500e6 / 50_000.0, 500e6 / 100_000.0));
        assert_eq!(costs.server_busy.1, 0.5);
        assert!((costs.segments.unwrap().0 - 2.0).abs() < 1e-3, "{:?}", costs.segments);
    }

    #[test]
    fn a_kernel_that_counts_no_segments_leaves_the_other_costs() {
        let uncounted = |sample: Sample| Sample { segments: None, ..sample };
        let pair = Pair { theirs: uncounted(sample(1e4, 0.5)), ours: uncounted(sample(1e4, 0.5)) };
        let costs = Costs::of(&[pair]).unwrap();
        assert_eq!((costs.segments, costs.client_ns.0), (None, 25_000.0));
        assert_eq!(Costs::of(&[]), None);
    }

    #[test]
    fn metrics_that_a_tool_does_not_print_are_left_out() {
        let result = result(Tool::H2load, 50_000.0, 50_000.0, None);
        let metrics: Vec<Metric> = result.findings.iter().map(|finding| finding.metric).collect();
        assert_eq!(metrics, [Metric::Throughput, Metric::Cpu, Metric::Mean]);
    }

    #[test]
    fn the_json_has_stable_names() {
        let json = serde_json::to_value(report(vec![result(Tool::Wrk, 40_000.0, 50_000.0, None)])).unwrap();
        let finding = &json["tools"][0]["findings"][0];
        assert_eq!((&finding["metric"], &finding["verdict"]), (&"throughput".into(), &"disagree".into()));
        assert_eq!(json["tools"][0]["load"]["kind"], "closed");
        assert_eq!(json["tools"][0]["findings"][1]["metric"], "cpu");
    }
}
