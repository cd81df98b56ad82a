//! Factors for a single round, from the stored runs with several rounds.

use crate::rounds::{METRICS, Repeated, covered, spread};
use tare_analysis::sequential::single_round;

pub fn main() {
    for (run, kind) in
        [("restinio-2017", "loads that end by time"), ("rest-cpp-2020", "loads that end by number")]
    {
        let points = Repeated::of(run);
        println!("{kind}: record/{run}, {} point(s) with rounds", points.len());
        for metric in METRICS {
            let share = |(within, all): (usize, usize)| 100.0 * within as f64 / all as f64;
            let all = spread(&points, metric, None);
            let used = single_round::factor(metric, points[0].load()).unwrap_or(f64::NAN);
            println!(
                "{:22} sd {:.3}, {:.0} degrees, factor {:.2}, used {used}; \
                 left-out rounds covered by the factor of the others {:.1}%, by {used} {:.1}%, by 1.25 {:.1}%",
                metric.name(),
                all.sd,
                all.degrees,
                all.factor(),
                share(covered(&points, metric, |round| spread(&points, metric, Some(round)).factor())),
                share(covered(&points, metric, |_| used)),
                share(covered(&points, metric, |_| 1.25)),
            );
        }
    }
}
