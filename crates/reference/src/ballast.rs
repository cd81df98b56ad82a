//! Ballast: the server spins for a fixed time at each request, so that the generator has as much time to spare beside it as
//! beside a service. A server that answers faster than the generator asks costs a few per cent more or less than the same server
//! does later, and every ratio to it would contain that step. The server counts what the ballast really took, and that is taken out
//! of the figures.

use std::{
    fs::File,
    hint::black_box,
    io,
    os::unix::fs::FileExt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tare_host::shared_counters::SharedCounters;

use super::{
    http1,
    http2::{StreamBehaviour, Turn},
    worker::Reply,
};

/// Clock readings that are measured at once.
const READINGS: u64 = 100;
/// The cost of a reading is the median of this number of measurements.
const SPANS: usize = 9;
/// The last turn of the loop takes less than this, unless something interrupts it.
const UNINTERRUPTED: Duration = Duration::from_micros(1);
/// How long the kernel let this thread wait for a CPU, since its start.
const WAITED: &str = "/proc/thread-self/schedstat";

/// How much is carried, and where it is counted.
#[derive(Debug, Clone)]
pub struct Ballast {
    /// For each request.
    pub ns: u64,
    /// What it took, in nanoseconds of CPU time: a file of [`SharedCounters`].
    pub count: PathBuf,
}

/// The ballast of all threads.
#[derive(Debug)]
pub(super) struct SharedBallast {
    until: Duration,
    clock_ns: u64,
    counters: Arc<SharedCounters>,
    threads: AtomicUsize,
}

impl SharedBallast {
    pub(super) fn new(ballast: &Ballast, threads: usize) -> io::Result<SharedBallast> {
        let clock_ns = clock_ns().round() as u64;
        let until = Duration::from_nanos(ballast.ns.saturating_sub(clock_ns));
        let counters = Arc::new(SharedCounters::create(&ballast.count, threads)?);
        Ok(SharedBallast { until, clock_ns, counters, threads: AtomicUsize::new(0) })
    }

    /// The share of one more thread.
    pub(super) fn share<B>(&self, behaviour: B) -> WithBallast<B> {
        let thread = self.threads.fetch_add(1, Ordering::Relaxed);
        let counters = Arc::clone(&self.counters);
        WithBallast {
            until: self.until,
            clock_ns: self.clock_ns,
            counters,
            thread,
            waits: Waits::default(),
            behaviour,
        }
    }
}

/// A thread that carries ballast with each answer.
#[derive(Debug)]
pub(super) struct WithBallast<B> {
    until: Duration,
    clock_ns: u64,
    counters: Arc<SharedCounters>,
    thread: usize,
    waits: Waits,
    behaviour: B,
}

impl<B> WithBallast<B> {
    fn spend(&mut self) {
        let began = Instant::now();
        let mut elapsed = Duration::ZERO;
        while elapsed < self.until {
            elapsed = began.elapsed();
        }
        let mut waited_ns = 0;
        // An interrupt is in the CPU time of this thread, and the time of another program is not.
        if elapsed > self.until + UNINTERRUPTED {
            waited_ns = self.waits.since_last_ns();
            elapsed = began.elapsed();
        }
        // Between two readings lies about one reading, and the other half of each lies outside.
        let took_ns = elapsed.as_nanos() as u64 + self.clock_ns;
        self.counters.add(self.thread, took_ns.saturating_sub(waited_ns));
    }
}

impl<B: http1::Behaviour> http1::Behaviour for WithBallast<B> {
    fn answer<'a>(&'a mut self, request: &[u8], response: &'a [u8]) -> Reply<'a> {
        self.spend();
        self.behaviour.answer(request, response)
    }
}

impl<B: StreamBehaviour> StreamBehaviour for WithBallast<B> {
    fn turn(&mut self) -> Turn {
        self.spend();
        self.behaviour.turn()
    }
}

/// How long a thread was ready to run and had no CPU.
#[derive(Debug, Default)]
struct Waits {
    /// Opened by the thread itself at its first question; absent of a kernel that does not count.
    file: Option<File>,
    last_ns: u64,
}

impl Waits {
    fn since_last_ns(&mut self) -> u64 {
        if self.file.is_none() {
            self.file = File::open(WAITED).ok();
        }
        let mut text = [0; 64];
        let read = self.file.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        let words = std::str::from_utf8(&text[..read]).unwrap_or_default();
        let now_ns =
            words.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(self.last_ns);
        now_ns - std::mem::replace(&mut self.last_ns, now_ns)
    }
}

/// What one reading of the clock takes.
pub(super) fn clock_ns() -> f64 {
    let hundred = |_| {
        let began = Instant::now();
        (1..READINGS).for_each(|_| {
            black_box(Instant::now());
        });
        began.elapsed().as_nanos() as u64
    };
    let mut spans_ns: Vec<u64> = (0..SPANS).map(hundred).collect();
    // Some hundred may have been interrupted.
    spans_ns.sort_unstable();
    spans_ns[SPANS / 2] as f64 / READINGS as f64
}

#[cfg(test)]
mod tests {
    use super::{super::slower::thread_cpu_ns, *};

    /// What 5,000 answers took by the clock of the thread, and what was counted of that.
    fn carried(ns: u64) -> [f64; 2] {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("ballast");
        let shared = SharedBallast::new(&Ballast { ns, count: count.clone() }, 1).unwrap();
        let mut loaded = shared.share(());
        let began_ns = thread_cpu_ns();
        (0..5_000).for_each(|_| loaded.spend());
        let took_ns = thread_cpu_ns() - began_ns;
        [took_ns as f64, SharedCounters::sum(&count).unwrap() as f64]
    }

    #[test]
    fn what_is_counted_is_what_the_clock_of_the_thread_shows() {
        let [took_ns, counted_ns] = carried(5_000);
        assert!(counted_ns >= 5_000.0 * 5_000.0, "{counted_ns}");
        assert!((0.9..1.1).contains(&(counted_ns / took_ns)), "{counted_ns} ns of {took_ns}");
    }

    /// The CPU time of another thread on the same CPU is none of this one.
    #[test]
    fn what_another_program_takes_is_not_counted() {
        let cpu = tare_host::cpus::available()[0];
        let pin = || {
            let mut cpus = rustix::thread::CpuSet::new();
            cpus.set(cpu);
            rustix::thread::sched_setaffinity(None, &cpus).unwrap();
        };
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                pin();
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let found = scope.spawn(|| {
                pin();
                carried(20_000)
            });
            let [took_ns, counted_ns] = found.join().unwrap();
            stop.store(true, Ordering::Relaxed);
            assert!((0.85..1.15).contains(&(counted_ns / took_ns)), "{counted_ns} ns of {took_ns}");
        });
    }
}
