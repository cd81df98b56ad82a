//! Computes figures from readings, and formats them as text and JSON.

use std::fs;

use serde_json::{Value, json};

use super::run::Reading;
use super::tools::Cell;
use crate::kit::closed::word_of;

/// The readings of one load: a column for each tool, a line for each round.
pub struct Table {
    pub cell: Cell,
    pub server: &'static str,
    /// The first is the reference of the ratios.
    pub tools: Vec<&'static str>,
    pub rounds: Vec<Vec<Reading>>,
}

/// The figures of one tool.
struct Row {
    tool: &'static str,
    /// CPU time for each request: median, least, most.
    cpu_us: [f64; 3],
    requests_per_s: f64,
    /// The ratio of the tool's median CPU time to that of the reference.
    ratio: f64,
    /// The ratio of CPU time to the reference in the same round: median and quartiles.
    paired_cpu: [f64; 3],
    /// The ratio of requests per second to the reference in the same round: median and quartiles.
    paired_rate: [f64; 3],
}

impl Table {
    fn column(&self, tool: usize, figure: impl Fn(&Reading) -> f64) -> Vec<f64> {
        self.rounds.iter().map(|round| figure(&round[tool])).collect()
    }

    /// Median and quartiles of the ratios to the reference, round by round.
    fn paired(&self, tool: usize, figure: impl Fn(&Reading) -> f64) -> [f64; 3] {
        let ratios = self.rounds.iter().map(|round| figure(&round[tool]) / figure(&round[0]));
        let ratios: Vec<f64> = ratios.collect();
        [0.5, 0.25, 0.75].map(|q| quantile(ratios.clone(), q))
    }

    fn rows(&self) -> Vec<Row> {
        let cost = |tool| self.column(tool, Reading::cpu_us_per_request);
        let row = |(index, &tool): (usize, &&'static str)| Row {
            tool,
            cpu_us: [0.5, 0.0, 1.0].map(|q| quantile(cost(index), q)),
            requests_per_s: quantile(self.column(index, Reading::requests_per_s), 0.5),
            ratio: quantile(cost(index), 0.5) / quantile(cost(0), 0.5),
            paired_cpu: self.paired(index, Reading::cpu_us_per_request),
            paired_rate: self.paired(index, Reading::requests_per_s),
        };
        self.tools.iter().enumerate().map(row).collect()
    }

    fn bytes_per_s(&self, row: &Row) -> f64 {
        row.requests_per_s * self.cell.body_bytes as f64
    }

    pub fn print(&self) {
        let Cell { protocol, connections, streams, body_bytes, .. } = self.cell;
        let streams = if protocol.is_http2() { format!(" x {streams} streams") } else { String::new() };
        println!(
            "\n{} by {}: {connections} connections{streams}, {body_bytes} bytes of body, {} rounds",
            word_of(protocol),
            self.server,
            self.rounds.len()
        );
        println!(
            "{:<17} {:>10} {:>19} {:>9} {:>10} {:>17} {:>10} {:>8} {:>11} {:>17}",
            "tool",
            "CPU us/req",
            "[min .. max]",
            format!("to {}", self.tools[0]),
            "paired",
            "[quartiles]",
            "requests/s",
            "MB/s",
            "paired rate",
            "[quartiles]"
        );
        for row in self.rows() {
            let [median, least, most] = row.cpu_us;
            let rate = row.requests_per_s;
            println!(
                "{:<17} {median:>10.3} {:>19} {:>9.3} {:>10.3} {:>17} {rate:>10.0} {:>8.1} {:>11.3} {:>17}",
                row.tool,
                span(least, most),
                row.ratio,
                row.paired_cpu[0],
                span(row.paired_cpu[1], row.paired_cpu[2]),
                self.bytes_per_s(&row) / 1e6,
                row.paired_rate[0],
                span(row.paired_rate[1], row.paired_rate[2]),
            );
        }
    }

    pub fn json(&self) -> Value {
        let row = |row: &Row| {
            let [cpu_us, cpu_us_min, cpu_us_max] = row.cpu_us;
            json!({
                "tool": row.tool,
                "cpu_us_per_request": cpu_us,
                "cpu_us_per_request_min": cpu_us_min,
                "cpu_us_per_request_max": cpu_us_max,
                "ratio_of_medians_to_base": row.ratio,
                "paired_ratio_to_base": quartiles(row.paired_cpu),
                "requests_per_s": row.requests_per_s,
                "body_bytes_per_s": self.bytes_per_s(row),
                "paired_ratio_of_rates_to_base": quartiles(row.paired_rate),
            })
        };
        json!({
            "protocol": word_of(self.cell.protocol),
            "server": self.server,
            "connections": self.cell.connections,
            "streams": self.cell.streams,
            "body_bytes": self.cell.body_bytes,
            "seconds": self.cell.seconds,
            "rounds": self.rounds.len(),
            "base": self.tools[0],
            "tools": self.rows().iter().map(row).collect::<Vec<_>>(),
        })
    }
}

fn quartiles([median, lower, upper]: [f64; 3]) -> Value {
    json!({ "median": median, "lower_quartile": lower, "upper_quartile": upper })
}

fn span(from: f64, to: f64) -> String {
    format!("[{from:.3} .. {to:.3}]")
}

/// A quantile, interpolated between the two nearest values.
fn quantile(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = q * (values.len() - 1) as f64;
    let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// The model of the CPU, for the heading.
pub fn machine() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown CPU");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{}, Linux {}", model.trim_start_matches(['\t', ' ', ':']), kernel.trim())
}
