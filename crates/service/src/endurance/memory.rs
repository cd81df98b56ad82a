//! Memory of the service during an endurance run: whether it keeps growing with the number of answers.

use std::cell::RefCell;

use tare_stats::growth::{Growth, Least, growth};

use super::EnduranceTrial;

/// Growth below this is normal: a heap grows in steps of a few MiB.
const LEAST: Least = Least { share: 0.2, amount: 4 << 20 };
const MIB: f64 = (1 << 20) as f64;

/// Pairs of answers so far, over all loads, and resident bytes.
#[derive(Debug, Default)]
pub(super) struct MemoryCourse(RefCell<Vec<(u64, u64)>>);

impl MemoryCourse {
    /// Adds a reading after more answers.
    pub(super) fn add(&self, answered: u64, trial: &EnduranceTrial<'_>) {
        // 0 if the service's processes cannot be seen.
        let bytes = trial.ready.process.rss_bytes();
        let mut course = self.0.borrow_mut();
        let before = course.last().map_or(0, |(answered, _)| *answered);
        course.extend((bytes > 0).then_some((before + answered, bytes)));
    }

    /// The warning, if memory keeps growing.
    pub(super) fn warning(&self) -> Option<String> {
        growth(&self.0.borrow(), LEAST).map(|growth| text(&growth))
    }
}

fn text(growth: &Growth) -> String {
    let Growth { per_work, work, from, to } = *growth;
    format!(
        "its memory only grew: {per_work:.0} bytes a request over {work} requests, from {:.1} to {:.1} MiB: a leak, or a heap \
         that has not reached its size",
        from as f64 / MIB,
        to as f64 / MIB
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_is_said_with_its_size_and_a_heap_that_rests_is_not() {
        let of = |bytes: fn(u64) -> u64| {
            let course = (0..20).map(|point| (500 * point, bytes(500 * point))).collect();
            MemoryCourse(RefCell::new(course)).warning()
        };
        assert_eq!(
            of(|answers| (20 << 20) + 1_024 * answers).as_deref(),
            Some(
                "its memory only grew: 1024 bytes a request over 9500 requests, from 20.0 to 29.3 MiB: a leak, or a heap that \
                 has not reached its size"
            )
        );
        assert_eq!(of(|answers| (20 << 20) + 16 * answers), None, "by too little");
        assert_eq!(of(|answers| (20 << 20) + (8 << 20) * answers.min(2_000) / 2_000), None, "up to its size");
    }
}
