//! Reads the CPU time of a server at the marks of a load, on the server's machine.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_base::{Clock, Monotonic};

use crate::message::CpuReading;
use crate::rig::CpuMeter;

/// The longest time until an interrupt is noticed.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// A reading at each mark, until all are read or the load is interrupted. With many processes a reading takes
/// milliseconds, so each contains its own time.
pub(crate) fn readings(
    meter: &dyn CpuMeter,
    start_ns: u64,
    marks_ns: &[u64],
    interrupt: &AtomicBool,
) -> io::Result<Vec<CpuReading>> {
    let mut readings = Vec::with_capacity(marks_ns.len());
    for mark_ns in marks_ns {
        while Monotonic.now_ns() < start_ns.saturating_add(*mark_ns) {
            if interrupt.load(Ordering::Relaxed) {
                return Ok(readings);
            }
            let left_ns = start_ns.saturating_add(*mark_ns).saturating_sub(Monotonic.now_ns());
            std::thread::sleep(Duration::from_nanos(left_ns).min(PAUSE_MAX));
        }
        let cpu_ns = meter.cpu_ns()?;
        readings.push(CpuReading { at_ns: Monotonic.now_ns().saturating_sub(start_ns), cpu_ns });
    }
    Ok(readings)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Steps(std::sync::atomic::AtomicU64);

    impl CpuMeter for Steps {
        fn cpu_ns(&self) -> io::Result<u64> {
            Ok(self.0.fetch_add(7, Ordering::Relaxed))
        }
    }

    #[test]
    fn each_mark_is_read_after_its_instant() {
        let marks = [1_000_000, 2_000_000, 40_000_000];
        let start_ns = Monotonic.now_ns() + 5_000_000;
        let never = AtomicBool::new(false);
        let read = readings(&Steps(0.into()), start_ns, &marks, &never).unwrap();
        assert_eq!(read.iter().map(|reading| reading.cpu_ns).collect::<Vec<_>>(), [0, 7, 14]);
        assert!(read.iter().zip(marks).all(|(reading, mark_ns)| reading.at_ns >= mark_ns), "{read:?}");
        let interrupted = AtomicBool::new(true);
        let far = [u64::MAX];
        assert_eq!(readings(&Steps(0.into()), start_ns, &far, &interrupted).unwrap(), []);
    }
}
