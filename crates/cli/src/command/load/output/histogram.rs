//! The distribution of latencies as bars, as in hey and oha. The bounds grow by a constant factor: with bars
//! of equal width, one slow response would put all others into the first bar.

use tare_load::Measures;

use super::figures::{percent, time};

const BARS: usize = 10;
const BAR_WIDTH: f64 = 40.0;

/// The count of latencies up to a bound, and above the one before.
#[derive(Debug, PartialEq, Eq)]
struct Bucket {
    to_ns: u64,
    count: u64,
}

/// The lines of the table with its head, each with its bar; empty if nothing was answered.
pub(super) fn rows(total: &Measures) -> Vec<(Vec<String>, String)> {
    let buckets = buckets(total);
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0).max(total.unanswered.count());
    let all = total.latency.count() + total.unanswered.count();
    let row = |label: String, count: u64| {
        (vec![label, count.to_string(), percent(count as f64 / all as f64)], bar(count, most))
    };
    if buckets.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![(["latency up to", "responses", "share"].map(str::to_owned).to_vec(), String::new())];
    rows.extend(buckets.iter().map(|bucket| row(time(bucket.to_ns as f64), bucket.count)));
    if total.unanswered.count() > 0 {
        rows.push(row("unanswered".to_owned(), total.unanswered.count()));
    }
    rows
}

fn buckets(total: &Measures) -> Vec<Bucket> {
    let latency = &total.latency;
    let (min, max) = (latency.min_ns().max(1) as f64, latency.max_ns() as f64);
    if latency.count() == 0 {
        return Vec::new();
    }
    let bound = |bar: usize| match bar {
        BARS => u64::MAX,
        bar => (min * (max / min).powf(bar as f64 / BARS as f64)) as u64,
    };
    let mut below = 0;
    let bucket = |bar: usize| {
        let count = latency.count_to(bound(bar));
        let own = count - std::mem::replace(&mut below, count);
        Bucket { to_ns: bound(bar).min(latency.max_ns()), count: own }
    };
    let mut buckets: Vec<Bucket> = (1..=BARS).map(bucket).collect();
    // If nearly all latencies are the same, several bounds are equal.
    buckets.dedup_by(|later, earlier| {
        let is_same = time(later.to_ns as f64) == time(earlier.to_ns as f64);
        if is_same {
            (earlier.to_ns, earlier.count) = (later.to_ns, earlier.count + later.count);
        }
        is_same
    });
    buckets
}

/// A bar of at least one mark, so that no count is invisible.
fn bar(count: u64, most: u64) -> String {
    let marks = (count as f64 / most.max(1) as f64 * BAR_WIDTH).round().max(f64::from(count > 0));
    "■".repeat(marks as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn measures(latencies: &[u64]) -> Measures {
        let mut measures = Measures::default();
        latencies.iter().for_each(|&ns| measures.latency.record(ns));
        measures
    }

    #[test]
    fn equal_latencies_are_one_bar_and_none_is_none() {
        let one = buckets(&measures(&[5_000; 9]));
        assert_eq!(one.iter().map(|bucket| bucket.count).collect::<Vec<_>>(), [9]);
        assert_eq!(rows(&measures(&[])), []);
    }

    #[test]
    fn one_mark_at_least_and_no_more_than_the_width() {
        assert_eq!([0, 1, 500, 1_000].map(|count| bar(count, 1_000).chars().count()), [0, 1, 20, 40]);
    }

    proptest! {
        #[test]
        fn every_latency_is_in_one_bar(latencies in proptest::collection::vec(1..60_000_000_000_u64, 1..200)) {
            let buckets = buckets(&measures(&latencies));
            prop_assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), latencies.len() as u64);
            prop_assert!(buckets.len() <= BARS && buckets.is_sorted_by_key(|bucket| bucket.to_ns));
        }
    }
}
