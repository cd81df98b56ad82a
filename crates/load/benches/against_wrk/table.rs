//! From readings to figures, and figures as text and JSON.

use serde_json::{Value, json};

use super::tools::{Cell, Reading};

/// The readings of one load: a column for each tool, a line for each round.
pub struct Table {
    pub cell: Cell,
    pub tools: Vec<&'static str>,
    pub rounds: Vec<Vec<Reading>>,
}

/// What a tool cost.
struct Row {
    tool: &'static str,
    /// CPU time for each request: median, least, most.
    cpu_us: [f64; 3],
    requests_per_s: f64,
    /// Of the medians, to that of wrk.
    ratio: f64,
    /// Of each round, to wrk in the same round: median and quartiles.
    paired: [f64; 3],
}

impl Table {
    fn column(&self, tool: usize, figure: impl Fn(&Reading) -> f64) -> Vec<f64> {
        self.rounds.iter().map(|round| figure(&round[tool])).collect()
    }

    fn rows(&self) -> Vec<Row> {
        let wrk = self.tools.iter().position(|tool| *tool == "wrk").expect("wrk is always there");
        let cost = |tool| self.column(tool, Reading::cpu_us_per_request);
        let row = |(index, &tool): (usize, &&'static str)| {
            let ratios: Vec<f64> = cost(index).iter().zip(cost(wrk)).map(|(own, wrk)| own / wrk).collect();
            Row {
                tool,
                cpu_us: [0.5, 0.0, 1.0].map(|q| quantile(cost(index), q)),
                requests_per_s: quantile(self.column(index, |r| r.requests as f64 / r.elapsed_s), 0.5),
                ratio: quantile(cost(index), 0.5) / quantile(cost(wrk), 0.5),
                paired: [0.5, 0.25, 0.75].map(|q| quantile(ratios.clone(), q)),
            }
        };
        self.tools.iter().enumerate().map(row).collect()
    }

    pub fn print(&self) {
        let Cell { connections, body_bytes, .. } = self.cell;
        println!("\n{connections} connections, {body_bytes} bytes of body, {} rounds", self.rounds.len());
        println!(
            "{:<14} {:>10} {:>17} {:>10} {:>13} {:>15} {:>11}",
            "tool", "CPU us/req", "[min .. max]", "to wrk", "paired to wrk", "[quartiles]", "requests/s"
        );
        for Row { tool, cpu_us: [median, least, most], requests_per_s, ratio, paired } in self.rows() {
            let span = format!("[{least:.3} .. {most:.3}]");
            let quartiles = format!("[{:.3} .. {:.3}]", paired[1], paired[2]);
            println!(
                "{tool:<14} {median:>10.3} {span:>17} {ratio:>10.3} {:>13.3} {quartiles:>15} {requests_per_s:>11.0}",
                paired[0]
            );
        }
    }

    pub fn json(&self) -> Value {
        let row = |row: &Row| {
            let [cpu_us, cpu_us_min, cpu_us_max] = row.cpu_us;
            let [paired, paired_lower_quartile, paired_upper_quartile] = row.paired;
            json!({
                "tool": row.tool,
                "cpu_us_per_request": cpu_us,
                "cpu_us_per_request_min": cpu_us_min,
                "cpu_us_per_request_max": cpu_us_max,
                "ratio_of_medians_to_wrk": row.ratio,
                "paired_ratio_to_wrk": paired,
                "paired_ratio_to_wrk_lower_quartile": paired_lower_quartile,
                "paired_ratio_to_wrk_upper_quartile": paired_upper_quartile,
                "requests_per_s": row.requests_per_s,
            })
        };
        json!({
            "connections": self.cell.connections,
            "body_bytes": self.cell.body_bytes,
            "seconds": self.cell.seconds,
            "rounds": self.rounds.len(),
            "tools": self.rows().iter().map(row).collect::<Vec<_>>(),
        })
    }
}

/// Between the two nearest values.
fn quantile(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = q * (values.len() - 1) as f64;
    let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
    below + (above - below) * place.fract()
}
