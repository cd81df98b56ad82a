//! Histograms in text forms of other HDR tools: the percentile distribution (`.hgrm`) of HdrHistogram's
//! plotter and wrk2, and the interval log of the HDR log tools.
//!
//! The module writes to a given writer and opens no files.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use super::{Histogram, new_inner};

/// Lines for each halving of the distance to 100%, as in wrk2.
const TICKS_PER_HALF_DISTANCE: u32 = 5;
/// The number that follows from 3 significant digits, in HDR's term.
const SUB_BUCKETS: u32 = 2_048;
/// Both forms are in milliseconds by custom.
const NS_PER_MS: f64 = 1e6;

impl Histogram {
    /// Writes the percentile distribution, in milliseconds. Values have 6 decimals instead of wrk2's 3, which
    /// would leave two digits of loopback latencies. Readers split at white space.
    ///
    /// # Errors
    /// `to` cannot be written to.
    pub fn write_hgrm(&self, to: &mut impl Write) -> io::Result<()> {
        writeln!(
            to,
            "{:>12} {:>12} {:>12} {:>12}\n",
            "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
        )?;
        let mut count = 0;
        for step in self.inner.iter().flat_map(|inner| inner.iter_quantiles(TICKS_PER_HALF_DISTANCE)) {
            count += step.count_since_last_iteration();
            let (ms, q) = (step.value_iterated_to() as f64 / NS_PER_MS, step.quantile_iterated_to());
            // 1 / 0 is `inf`, in Rust as in C.
            writeln!(to, "{ms:12.6} {q:12.6} {count:12} {:12.2}", 1.0 / (1.0 - q))?;
        }
        // One latency has no standard deviation.
        let stdev = self.stdev_ns().unwrap_or(f64::NAN);
        let [mean, stdev, max] = [self.mean_ns(), stdev, self.max_ns() as f64].map(|ns| ns / NS_PER_MS);
        let buckets = self.inner.as_ref().map_or(0, hdrhistogram::Histogram::buckets);
        writeln!(to, "#[Mean    = {mean:12.6}, StdDeviation   = {stdev:12.6}]")?;
        writeln!(to, "#[Max     = {max:12.6}, Total count    = {count:12}]")?;
        writeln!(to, "#[Buckets = {buckets:12}, SubBuckets     = {SUB_BUCKETS:12}]")
    }

    /// The HDR V2 encoding, compressed and in base64: the content of interval logs of HDR tools.
    #[must_use]
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        let empty = self.inner.is_none().then(new_inner);
        if let Some(inner) = self.inner.as_ref().or(empty.as_ref()) {
            V2DeflateSerializer::new().serialize(inner, &mut bytes).expect("writing to memory does not fail");
        }
        STANDARD.encode(bytes)
    }
}

/// A log of histograms over time, version 1.3: nanoseconds in the histograms, milliseconds in the readable column.
///
/// `hdrhistogram` has a writer too, but that borrows its output; a running run has to own it.
#[derive(Debug)]
pub struct IntervalLog<W> {
    to: W,
}

impl<W: Write> IntervalLog<W> {
    /// An empty log.
    pub fn new(to: W) -> Self {
        IntervalLog { to }
    }

    /// Writes the head; times are counted from `started_at`.
    ///
    /// # Errors
    /// The log cannot be written to.
    pub fn begin(&mut self, started_at: SystemTime, comment: &str) -> io::Result<()> {
        let epoch_s = started_at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let mut head = String::new();
        for line in comment.lines() {
            head += &format!("#{line}\n");
        }
        head += "#[Histogram log format version 1.3]\n";
        head += &format!("#[StartTime: {epoch_s:.3} (seconds since epoch)]\n");
        head += &format!("#[BaseTime: {epoch_s:.3} (seconds since epoch)]\n");
        head += "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
        self.to.write_all(head.as_bytes())
    }

    /// Adds an interval, as one write of a whole line. A tag has neither commas nor white space; readers skip
    /// tagged lines unless they are asked for the tag.
    ///
    /// # Errors
    /// The log cannot be written to.
    pub fn write(
        &mut self,
        histogram: &Histogram,
        from_ns: u64,
        to_ns: u64,
        tag: Option<&str>,
    ) -> io::Result<()> {
        let tag = tag.map_or(String::new(), |tag| format!("Tag={tag},"));
        let [from_s, lasts_s] = [from_ns, to_ns.saturating_sub(from_ns)].map(|ns| ns as f64 / 1e9);
        let max_ms = histogram.max_ns() as f64 / NS_PER_MS;
        let line = format!("{tag}{from_s:.3},{lasts_s:.3},{max_ms:.3},{}\n", histogram.to_base64());
        self.to.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hdrhistogram::serialization::{
        Deserializer,
        interval_log::{IntervalLogIterator, LogEntry},
    };
    use proptest::prelude::*;

    use super::*;

    fn of(latencies_ns: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        latencies_ns.iter().for_each(|ns| histogram.record(*ns));
        histogram
    }

    fn hgrm(histogram: &Histogram) -> String {
        let mut bytes = Vec::new();
        histogram.write_hgrm(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_distribution_looks_as_wrk2_prints_it() {
        let text = hgrm(&of(&[1_000_000, 2_000_000]));
        let expected = "       Value   Percentile   TotalCount 1/(1-Percentile)

    1.000447     0.000000            1         1.00
    1.000447     0.100000            1         1.11
    1.000447     0.200000            1         1.25
    1.000447     0.300000            1         1.43
    1.000447     0.400000            1         1.67
    1.000447     0.500000            1         2.00
    2.000895     0.550000            2         2.22
    2.000895     1.000000            2          inf
#[Mean    =     1.500288, StdDeviation   =     0.500096]
#[Max     =     2.000895, Total count    =            2]
#[Buckets =           26, SubBuckets     =         2048]
";
        assert_eq!(text, expected);
        assert!(hgrm(&Histogram::default()).contains("Total count    =            0]"));
    }

    proptest! {
        #[test]
        fn distributions_ascend_to_the_total(latencies_ns in prop::collection::vec(1_u64..100_000_000_000, 1..300)) {
            let text = hgrm(&of(&latencies_ns));
            let lines = text.lines().skip(2).filter(|line| !line.starts_with('#'));
            let steps: Vec<Vec<f64>> = lines
                .map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect())
                .collect();
            for pair in steps.windows(2) {
                prop_assert!((0..4).all(|column| pair[0][column] <= pair[1][column]), "{text}");
            }
            let last = steps.last().unwrap();
            prop_assert_eq!((last[1], last[2], last[3]), (1.0, latencies_ns.len() as f64, f64::INFINITY));
        }
    }

    #[test]
    fn a_log_reads_back_and_sums_up() {
        let mut bytes = Vec::new();
        let mut log = IntervalLog::new(&mut bytes);
        log.begin(UNIX_EPOCH + Duration::from_millis(1_500_250), "from a test\nof two lines").unwrap();
        let parts = [of(&[1_000, 70_000_000_000]), Histogram::default(), of(&[2_000_000, 2_000_000])];
        for (index, part) in (0_u64..).zip(&parts) {
            let from_ns = index * 1_000_000_000;
            log.write(part, from_ns, from_ns + 1_000_000_000, None).unwrap();
            log.write(part, from_ns, from_ns + 1_000_000_000, Some("twice")).unwrap();
        }
        let (mut sum, mut lines, mut heads) = (new_inner(), 0, 0);
        for entry in IntervalLogIterator::new(&bytes) {
            match entry.expect("every line is valid") {
                LogEntry::StartTime(at) | LogEntry::BaseTime(at) => {
                    assert_eq!(at, Duration::from_millis(1_500_250));
                    heads += 1;
                }
                LogEntry::Interval(line) if line.tag().is_none() => {
                    assert_eq!(line.start_timestamp(), Duration::from_secs(lines));
                    assert_eq!(line.duration(), Duration::from_secs(1));
                    let encoded = STANDARD.decode(line.encoded_histogram()).unwrap();
                    sum.add(Deserializer::new().deserialize::<u64, _>(&mut encoded.as_slice()).unwrap())
                        .unwrap();
                    lines += 1;
                }
                LogEntry::Interval(line) => assert_eq!(line.tag().unwrap().as_str(), "twice"),
            }
        }
        let mut all = Histogram::default();
        parts.iter().for_each(|part| all.merge(part));
        assert_eq!((heads, lines), (2, 3));
        assert_eq!(Histogram { inner: Some(sum) }, all);
    }
}
