//! A simulated machine: services are numbers, and runs on them work as on real ones.
//!
//! The randomness of a slice depends on the seed and its place in the plan only, so that a run that was cut
//! off has the same later blocks as an uninterrupted one.

use std::{cell::Cell, collections::BTreeSet, time::Duration};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_bench::{
    plan::Plan,
    record::{Latency, Pilot, StoppedService},
    sample::{Distribution, Failure, HostUsage, LoadResult, Sample},
    sample_agents::DiscardedSlice,
    schedule::{Executor, ExecutorError, RowFailure, Slot},
};

/// A service as a run observes it.
#[derive(Debug, Clone, Copy)]
pub struct Service {
    /// Mean answers per second.
    pub per_second: f64,
    /// Standard deviation of the logarithm between processes.
    pub process_sd: f64,
    /// The same between slices.
    pub slice_sd: f64,
    /// Share of its CPU used in a closed loop: the CPU time per answer divided by the time per answer.
    pub cpu_share: f64,
    pub p99_ns: f64,
    pub rss_bytes: f64,
    /// Its fault, and the first block with it.
    pub fault: Option<(usize, Fault)>,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// One answer of each slice has another body.
    WrongAnswer,
    /// It ends when it is started.
    Crash,
}

impl Service {
    /// A service with the typical noise of a cloud virtual machine.
    pub const USUAL: Service = Service {
        per_second: 20_000.0,
        process_sd: 0.01,
        slice_sd: 0.02,
        cpu_share: 0.96,
        p99_ns: 4_000_000.0,
        rss_bytes: 20_000_000.0,
        fault: None,
    };

    /// The service at this multiple of its rate, with its CPU time per answer divided by it.
    pub fn times(self, rate: f64) -> Service {
        Service { per_second: self.per_second * rate, ..self }
    }

    pub fn failing(self, from_block: usize, fault: Fault) -> Service {
        Service { fault: Some((from_block, fault)), ..self }
    }

    fn has(&self, fault: Fault, block: usize) -> bool {
        self.fault.is_some_and(|(from, own)| own == fault && block >= from)
    }
}

/// Purposes of random normal numbers.
#[derive(Debug, Clone, Copy)]
enum Draw {
    Process,
    Slice,
    Drift,
    Latency,
    Memory,
}

/// Services, and disturbances of the machine.
pub struct Machine {
    services: Vec<Service>,
    /// Change of the machine's speed from slice to slice, as a logarithm.
    drift_sd: f64,
    seed: u64,
    now_ns: Cell<u64>,
    /// Speed of the machine, and of each running process.
    speed: f64,
    processes: Vec<f64>,
    slice_ns: u64,
    window_ns: u64,
    /// Latency limit for answers in an open loop.
    limit_ns: u64,
    /// One of this number of open-loop slices has a late generator.
    pub discarded_every: usize,
    /// One of this number of slices has no figures, because an agent was lost.
    pub lost_every: usize,
    /// Time until each service is steady.
    pub steady_after_ns: Vec<u64>,
    /// Time at which the user interrupts the run.
    pub interrupted_at_ns: u64,
    /// Rows with a process left by their pilot.
    piloted: BTreeSet<usize>,
    slices: usize,
}

impl Machine {
    pub fn new(services: &[Service], drift_sd: f64, plan: &Plan, limit_ns: u64) -> Machine {
        Machine {
            services: services.to_vec(),
            drift_sd,
            seed: plan.seed ^ 0x5eed,
            now_ns: Cell::new(0),
            speed: 0.0,
            processes: vec![0.0; services.len()],
            slice_ns: plan.slice_ns(),
            window_ns: plan.rates().next().map_or(0, |(point, _)| plan.points[point].load.duration_ns()),
            limit_ns,
            discarded_every: usize::MAX,
            lost_every: usize::MAX,
            steady_after_ns: vec![0; services.len()],
            interrupted_at_ns: u64::MAX,
            piloted: BTreeSet::new(),
            slices: 0,
        }
    }

    fn pass(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
    }

    /// A standard normal number for this place in the plan.
    fn normal(&self, draw: Draw, Slot { block, round, point, row }: Slot) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let place = [block, round, point, row].into_iter().fold(0, |place, part| place << 14 | part as u64);
        random.set_stream(place << 3 | draw as u64);
        let (u, v) = (1.0 - random.random::<f64>(), random.random::<f64>());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// A saturated slice.
    fn closed(&self, row: usize, per_second: f64) -> Sample {
        let answered = (per_second * self.slice_ns as f64 / 1e9).round() as u64;
        let load = LoadResult {
            window_ns: self.slice_ns,
            elapsed_ns: self.slice_ns,
            sent: answered,
            answered,
            answered_in_window: answered,
            ..LoadResult::default()
        };
        let host = HostUsage {
            server_cpu_ns: (self.slice_ns as f64 * self.services[row].cpu_share) as u64,
            generator_cpu_ns: self.slice_ns / 2,
            ..HostUsage::default()
        };
        Sample { load, host, ..Sample::default() }
    }

    /// A queue with one server: P(late) = exp(-(capacity - rate) limit), 0 beyond the window.
    fn open(&self, per_second: f64, offered_per_second: f64) -> Sample {
        let due = (offered_per_second * self.window_ns as f64 / 1e9).round() as u64;
        let spare = (per_second - offered_per_second) * self.limit_ns as f64 / 1e9;
        let share = if self.limit_ns > self.window_ns { 0.0 } else { (-spare).exp().min(1.0) };
        let within = (due as f64 * (1.0 - share)).round() as u64;
        let is_discarded = self.slices.is_multiple_of(self.discarded_every);
        let p99_ns = (share * 100.0 * self.limit_ns as f64) as u64;
        let load = LoadResult {
            window_ns: self.window_ns,
            elapsed_ns: self.window_ns,
            sent: due,
            answered: due,
            answered_in_window: within,
            within: vec![within],
            schedule_lag_ns_p99: Some(if is_discarded { 5_000_000 } else { 50_000 }),
            latency: Distribution {
                count: due,
                quantiles_ns: vec![(0.5, self.limit_ns / 10), (0.99, p99_ns)],
                ..Distribution::default()
            },
            ..LoadResult::default()
        };
        Sample { load, ..Sample::default() }
    }
}

fn with_a_wrong_answer(mut slice: Sample) -> Sample {
    slice.load.answered -= 1;
    slice.load.failed = [(Failure::Mismatch, 1)].into_iter().collect();
    slice
}

impl Executor for Machine {
    fn pilot(&mut self, row: usize, _beside: Option<usize>) -> Result<Pilot, ExecutorError> {
        self.pass(500_000_000 + self.steady_after_ns[row]);
        self.piloted.insert(row);
        Ok(Pilot {
            row,
            window_ns: 250_000_000,
            start_ns: 600_000_000,
            answered: Vec::new(),
            server_cpu_ns: Vec::new(),
            steady_after_ns: Some(self.steady_after_ns[row]),
            ..Pilot::default()
        })
    }

    fn release(&mut self, row: usize) -> u64 {
        self.piloted.remove(&row);
        0
    }

    fn start(&mut self, slot: Slot, warm_up_ns: u64) -> Result<Option<Duration>, ExecutorError> {
        let Slot { row, block, .. } = slot;
        let service = self.services[row];
        if service.has(Fault::Crash, block) {
            return Err(RowFailure("it ended before it was ready".to_owned()).into());
        }
        self.processes[row] = service.process_sd * self.normal(Draw::Process, slot);
        let launch_ns = if self.piloted.remove(&row) { 0 } else { 500_000_000 };
        self.pass(launch_ns + warm_up_ns);
        Ok(Some(Duration::from_millis(3)))
    }

    fn wake(&mut self, _row: usize, warm_up_ns: u64) -> Result<(), ExecutorError> {
        self.pass(warm_up_ns);
        Ok(())
    }

    fn sample(&mut self, slot: Slot, _draw: u64, offered: Option<f64>) -> Result<Sample, ExecutorError> {
        self.slices += 1;
        self.speed += self.drift_sd * self.normal(Draw::Drift, slot);
        let service = self.services[slot.row];
        let noise = self.processes[slot.row] + self.speed + service.slice_sd * self.normal(Draw::Slice, slot);
        let per_second = service.per_second * noise.exp();
        let slice = match offered {
            None => self.closed(slot.row, per_second),
            Some(offered) => self.open(per_second, offered),
        };
        self.pass(slice.load.elapsed_ns);
        if self.slices.is_multiple_of(self.lost_every) {
            let reasons = vec!["an agent was lost".to_owned()];
            return Err(ExecutorError::Slice(Box::new(DiscardedSlice {
                reasons,
                ..DiscardedSlice::default()
            })));
        }
        Ok(if service.has(Fault::WrongAnswer, slot.block) { with_a_wrong_answer(slice) } else { slice })
    }

    fn stop(&mut self, row: usize, block: usize) -> Result<StoppedService, ExecutorError> {
        self.pass(100_000_000);
        let (service, slot) = (self.services[row], Slot { block, round: 0, point: 0, row });
        let scattered =
            |value: f64, draw| (value * (service.process_sd * self.normal(draw, slot)).exp()) as u64;
        let p99_ns = scattered(service.p99_ns, Draw::Latency);
        Ok(StoppedService {
            rss_bytes_peak: Some(scattered(service.rss_bytes, Draw::Memory)),
            latency: vec![Some(Latency { p50_ns: p99_ns / 2, p99_ns, ..Latency::default() })],
            ..StoppedService::default()
        })
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn interrupted(&self) -> bool {
        self.now_ns() >= self.interrupted_at_ns
    }
}
