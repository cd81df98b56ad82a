//! Intervals of capacities, in queues whose capacity is known.

use crate::queue::{QUEUES, Queue};

pub fn main() {
    println!(
        "searches: limit, window, closed loop; mean error, and that by limit / window of the closed loop"
    );
    let others = [
        (1_000.0, 0.01, 1.0),
        (1_000.0, 0.05, 5.0),
        (50_000.0, 0.01, 1.0),
        (10_000.0, 0.1, 2.0),
        (2_000.0, 0.1, 10.0),
    ]
    .map(|(per_second, limit_s, window_s)| Queue { per_second, limit_s, window_s });
    for queue in QUEUES.into_iter().chain(others) {
        let errors = queue.errors(&queue.searches(300, 1));
        let mean = errors.iter().sum::<f64>() / 300.0;
        let scaled = mean * queue.truth() / queue.per_second * queue.window_s / queue.limit_s;
        let [error, low, high] = [mean, errors[15], errors[284]].map(|error| 100.0 * error);
        println!(
            "{} s, {} s, {}/s: {error:+.2}% ({low:+.1} to {high:+.1} in nine of ten), {scaled:+.2}",
            queue.limit_s, queue.window_s, queue.per_second
        );
    }
    println!("intervals: covered, and above the capacity as a whole, in %; 6, 10, 20 starts");
    for queue in QUEUES {
        let starts = queue.searches(1000, 2);
        for process_sd in [0.0, 0.03] {
            let each = [6, 10, 20].map(|n| {
                let (covered, above) = queue.covered(&starts, n, process_sd, 4000);
                format!("{:5.1} ({:.1})", 100.0 * covered, 100.0 * above)
            });
            println!("{} s, process sd {process_sd}: {}", queue.limit_s, each.join(", "));
        }
    }
}
