//! Latencies in bounded memory: an HDR histogram of nanoseconds that merges without loss.
//!
//! The module does not know what was timed. It never "corrects" a distribution with invented samples.

mod export;

pub use export::IntervalLog;

use std::fmt;
use std::io;

use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// Smaller values are counted as this one.
pub const LOWEST_NS: u64 = 1;
/// Larger values are counted as this one: the histogram saturates, and never grows or fails. It is the top of
/// the last bucket, so that a minute is still distinguishable from more.
pub const HIGHEST_NS: u64 = (1 << 36) - 1;
/// The start of the last bucket, which also counts all larger values.
pub const CEILING_NS: u64 = HIGHEST_NS - (1 << 25) + 1;
/// Two values that differ by less than a thousandth may be reported as equal.
const SIGNIFICANT_DIGITS: u8 = 3;
/// The first bytes of the V2 encoding and the length of its head. The second word is the length of the rest.
const COOKIE: u32 = 0x1c84_9313;
const HEAD_BYTES: usize = 40;
/// The largest count of a stored histogram: a million a second for nine years. So 65,536 of them can be
/// added, and code that sums counts need not check for overflow.
const COUNT_MAX: u128 = 1 << 48;

/// Latencies from 1 ns to [`HIGHEST_NS`] (68.7 s) with 3 significant digits, in about 210 KiB.
///
/// The lowest value is 1 ns although no answer takes less than a microsecond. HDR gives all values near the
/// lowest value its resolution, and a lowest value of 1 µs would round a latency of 10 µs to 5%.
#[derive(Clone, Default)]
pub struct Histogram {
    /// Allocated with the first latency: most histograms of a run stay empty.
    inner: Option<hdrhistogram::Histogram<u64>>,
}

fn new_inner() -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
        .expect("the bounds are constants that hdrhistogram accepts")
}

/// Bytes that are not a histogram of this kind.
#[derive(Debug, thiserror::Error)]
#[error("latency histogram cannot be read ({0}): write it with `Histogram::serialize`")]
pub struct DeserializeError(String);

impl Histogram {
    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.inner.get_or_insert_with(new_inner).saturating_record(latency_ns.clamp(LOWEST_NS, HIGHEST_NS));
    }

    /// Adds all of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if let Some(other) = &other.inner {
            let inner = self.inner.get_or_insert_with(new_inner);
            inner.add(other).expect("all histograms of this type have the same bounds");
        }
    }

    /// The value that the fraction `q` (0 to 1) of all latencies does not exceed; 0 when empty.
    #[must_use]
    pub fn quantile_ns(&self, q: f64) -> u64 {
        // HDR returns the top of a bucket, which can exceed the largest recorded value.
        self.inner.as_ref().map_or(0, |inner| inner.value_at_quantile(q).min(inner.max()))
    }

    /// The largest latency, to 3 digits; 0 when empty.
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        self.inner.as_ref().map_or(0, hdrhistogram::Histogram::max)
    }

    /// The smallest latency, to 3 digits; 0 when empty.
    #[must_use]
    pub fn min_ns(&self) -> u64 {
        self.inner.as_ref().filter(|inner| !inner.is_empty()).map_or(0, hdrhistogram::Histogram::min)
    }

    /// The mean, 0 when empty.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.inner.as_ref().map_or(0.0, hdrhistogram::Histogram::mean)
    }

    /// All latencies added up.
    #[must_use]
    pub fn sum_ns(&self) -> f64 {
        self.mean_ns() * self.count() as f64
    }

    /// The standard deviation; `None` for fewer than two latencies, whose spread cannot be estimated.
    #[must_use]
    pub fn stdev_ns(&self) -> Option<f64> {
        self.inner.as_ref().filter(|inner| inner.len() > 1).map(hdrhistogram::Histogram::stdev)
    }

    /// The share (0 to 1) of all latencies from `low` to `high`, to 3 digits; 0 when empty.
    #[must_use]
    pub fn share_within(&self, low_ns: u64, high_ns: u64) -> f64 {
        let filled = self.inner.as_ref().filter(|inner| !inner.is_empty());
        filled.map_or(0.0, |inner| inner.count_between(low_ns, high_ns) as f64 / inner.len() as f64)
    }

    /// The number of latencies up to `high_ns`, to 3 digits.
    #[must_use]
    pub fn count_to(&self, high_ns: u64) -> u64 {
        self.inner.as_ref().map_or(0, |inner| inner.count_between(0, high_ns.min(HIGHEST_NS)))
    }

    /// The number of recorded latencies.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.inner.as_ref().map_or(0, hdrhistogram::Histogram::len)
    }

    /// The HDR V2 encoding, not compressed. Any HDR tool reads it.
    #[must_use]
    pub fn serialize(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let empty = self.inner.is_none().then(new_inner);
        if let Some(inner) = self.inner.as_ref().or(empty.as_ref()) {
            V2Serializer::new().serialize(inner, &mut bytes).expect("writing to memory does not fail");
        }
        bytes
    }

    /// Reads what [`Histogram::serialize`] wrote.
    ///
    /// # Errors
    /// The bytes were truncated, are not a histogram of this precision and range, or have an impossible
    /// count.
    pub fn deserialize(bytes: &[u8]) -> Result<Self, DeserializeError> {
        // The library allocates as much memory as the head demands, whatever follows.
        let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let after_head = bytes.get(HEAD_BYTES..).unwrap_or_default();
        let counts = word(4).and_then(|length| after_head.get(..length as usize));
        let counts = counts.filter(|_| word(0) == Some(COOKIE));
        let counts =
            counts.ok_or_else(|| DeserializeError("not a whole histogram in the V2 encoding".to_owned()))?;
        if count_of(counts).is_none_or(|count| count > COUNT_MAX) {
            return Err(DeserializeError("it counts more latencies than any run can have".to_owned()));
        }
        let read: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut io::Cursor::new(bytes))
            .map_err(|error| DeserializeError(error.to_string()))?;
        // Added to a histogram with the bounds of this crate, so that a later merge cannot fail.
        let mut own = new_inner();
        own.add(&read).map_err(|error| DeserializeError(error.to_string()))?;
        Ok(Self { inner: Some(own) })
    }
}

/// The sum of the counts in the V2 encoding: LEB128 numbers, of which even ones are twice a count and odd
/// ones stand for empty buckets. `None` if a number is longer than any count can be; the library accepts
/// numbers of any size.
fn count_of(mut counts: &[u8]) -> Option<u128> {
    /// Enough for 2^55.
    const NUMBER_BYTES_MAX: usize = 8;
    const MORE: u8 = 0x80;
    let mut sum = 0;
    while !counts.is_empty() {
        let last = counts.iter().take(NUMBER_BYTES_MAX).position(|byte| byte & MORE == 0)?;
        let (number, rest) = counts.split_at(last + 1);
        let number = number.iter().rev().fold(0_u64, |above, byte| above << 7 | u64::from(byte & !MORE));
        if number % 2 == 0 {
            sum += u128::from(number / 2);
        }
        counts = rest;
    }
    Some(sum)
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Some(own), Some(other)) => own == other,
            _ => self.count() == other.count(),
        }
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("mean_ns", &self.mean_ns())
            .field("p50_ns", &self.quantile_ns(0.5))
            .field("p99_ns", &self.quantile_ns(0.99))
            .field("max_ns", &self.max_ns())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_keep_three_digits_down_to_microseconds() {
        let mut histogram = Histogram::default();
        for ns in 1..=100_u64 {
            histogram.record(ns * 1_000);
        }
        for (q, ns) in [(0.5, 50_000.0), (0.99, 99_000.0), (1.0, 100_000.0)] {
            let got = histogram.quantile_ns(q) as f64;
            assert!((got / ns - 1.0).abs() < 1e-3, "{q}: {got} is not {ns}");
        }
        assert!((histogram.mean_ns() / 50_500.0 - 1.0).abs() < 1e-3);
        assert_eq!(histogram.count(), 100);
    }

    #[test]
    fn what_lies_outside_is_counted_at_the_bounds() {
        let mut histogram = Histogram::default();
        histogram.record(0);
        histogram.record(u64::MAX);
        assert_eq!(histogram.count(), 2);
        assert_eq!(histogram.min_ns(), LOWEST_NS);
        assert!(histogram.max_ns() >= 60_000_000_000);
        histogram.record(60_000_000_000);
        assert!(histogram.quantile_ns(0.5) < histogram.max_ns(), "a minute is below the ceiling");
    }

    #[test]
    fn more_than_can_have_happened_is_refused() {
        let of = |counts: &[u64]| {
            let mut inner = new_inner();
            for (place, count) in counts.iter().enumerate() {
                inner.record_n(1 << place, *count).unwrap();
            }
            Histogram::deserialize(&Histogram { inner: Some(inner) }.serialize())
        };
        assert_eq!(of(&[1 << 47, 1 << 47]).unwrap().count(), 1 << 48);
        assert!(of(&[1 << 48, 1]).unwrap_err().to_string().contains("it counts more latencies"));
        assert!(of(&[1 << 62, 1 << 62, 1 << 62]).is_err());
        // The sum of these is beyond what a `u64` holds.
        assert!(of(&[(1 << 63) - 1, (1 << 63) - 1, (1 << 63) - 1]).is_err());
    }

    #[test]
    fn an_empty_one_says_zero() {
        let empty = Histogram::default();
        assert_eq!((empty.count(), empty.max_ns(), empty.min_ns(), empty.quantile_ns(0.99)), (0, 0, 0, 0));
    }

    #[test]
    fn the_spread_is_reported() {
        let mut histogram = Histogram::default();
        for ns in [1_000, 1_000, 1_000, 5_000] {
            histogram.record(ns);
        }
        assert!(histogram.stdev_ns().is_some_and(|ns| (ns / 1_732.0 - 1.0).abs() < 1e-3), "{histogram:?}");
        assert_eq!(histogram.share_within(900, 2_000), 0.75);
        assert_eq!([999, 1_000, 4_000, u64::MAX].map(|ns| histogram.count_to(ns)), [0, 3, 3, 4]);
        assert_eq!(histogram.share_within(0, u64::MAX), 1.0);
        assert_eq!(Histogram::default().share_within(0, u64::MAX), 0.0);
        assert_eq!(Histogram::default().stdev_ns(), None);
        let mut one = Histogram::default();
        one.record(1_000);
        assert_eq!(one.stdev_ns(), None, "one latency says nothing of a spread");
        one.record(1_000);
        assert_eq!(one.stdev_ns(), Some(0.0));
    }

    #[test]
    fn merge_and_serialize_lose_nothing() {
        let (mut a, mut b) = (Histogram::default(), Histogram::default());
        a.record(1_000_000);
        b.record(3_000_000);
        a.merge(&b);
        let back = Histogram::deserialize(&a.serialize()).unwrap();
        assert_eq!(back, a);
        assert_eq!(back.count(), 2);
        assert!(Histogram::deserialize(b"nonsense").is_err());
        let mut greedy = a.serialize();
        greedy[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(Histogram::deserialize(&greedy).is_err(), "4 GiB are not reserved for a file of a few bytes");
    }
}
