//! A machine without time: services that are numbers, and a run on them as on real ones.

use std::{cell::Cell, collections::BTreeSet, time::Duration};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_bench::{
    fixture::{self, Memory, Unwatched},
    folder::{Header, StoredRun},
    plan::Plan,
    record::{Pilot, Stopped},
    sample::{Distribution, HostUsage, LoadResult, Sample},
    schedule::{self, Executor, ExecutorError, Parts, Slot, StopRule},
};
use tare_host::environment::Environment;

/// A service, as far as a run can see one.
#[derive(Debug, Clone, Copy)]
pub struct Service {
    /// Answers a second, on average.
    pub per_second: f64,
    /// Standard deviation of the logarithm from process to process.
    pub process_sd: f64,
    /// The same from slice to slice.
    pub slice_sd: f64,
}

/// Services and what else happens on the machine.
pub struct Machine {
    services: Vec<Service>,
    /// How much the speed of the whole machine changes from one slice to the next, as a logarithm.
    drift_sd: f64,
    random: ChaCha8Rng,
    now_ns: Cell<u64>,
    /// Of the machine, and of each process that runs.
    speed: f64,
    processes: Vec<f64>,
    slice_ns: u64,
    window_ns: u64,
    /// Time within which an answer counts in an open loop.
    limit_ns: u64,
    /// One of this number of open-loop slices finds the generator late.
    pub discarded_every: usize,
    /// How long each service takes to be steady.
    pub steady_after_ns: Vec<u64>,
    /// Rows whose pilot left a process.
    piloted: BTreeSet<usize>,
    slices: usize,
}

impl Machine {
    pub fn new(services: &[Service], drift_sd: f64, plan: &Plan, limit_ns: u64) -> Machine {
        Machine {
            services: services.to_vec(),
            drift_sd,
            random: ChaCha8Rng::seed_from_u64(plan.seed ^ 0x5eed),
            now_ns: Cell::new(0),
            speed: 0.0,
            processes: vec![0.0; services.len()],
            slice_ns: plan.slice_ns(),
            window_ns: plan.rates().next().map_or(0, |(point, _)| plan.points[point].load.duration_ns()),
            limit_ns,
            discarded_every: usize::MAX,
            steady_after_ns: vec![0; services.len()],
            piloted: BTreeSet::new(),
            slices: 0,
        }
    }

    fn pass(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.random.random::<f64>(), self.random.random::<f64>());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// A saturated slice.
    fn closed(&self, per_second: f64) -> Sample {
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
            server_cpu_ns: self.slice_ns,
            generator_cpu_ns: self.slice_ns / 2,
            ..HostUsage::default()
        };
        Sample { load, host, ..Sample::default() }
    }

    /// A queue with one server: P(late) = exp(-(capacity - rate) limit).
    fn open(&mut self, per_second: f64, offered_per_second: f64) -> Sample {
        let due = (offered_per_second * self.window_ns as f64 / 1e9).round() as u64;
        let spare = (per_second - offered_per_second) * self.limit_ns as f64 / 1e9;
        let share = (-spare).exp().min(1.0);
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

    fn start(&mut self, Slot { row, .. }: Slot, warm_up_ns: u64) -> Result<Option<Duration>, ExecutorError> {
        self.processes[row] = self.services[row].process_sd * self.normal();
        let launch_ns = if self.piloted.remove(&row) { 0 } else { 500_000_000 };
        self.pass(launch_ns + warm_up_ns);
        Ok(Some(Duration::from_millis(3)))
    }

    fn wake(&mut self, _row: usize, warm_up_ns: u64) -> Result<(), ExecutorError> {
        self.pass(warm_up_ns);
        Ok(())
    }

    fn sample(
        &mut self,
        Slot { row, .. }: Slot,
        _draw: u64,
        offered: Option<f64>,
    ) -> Result<Sample, ExecutorError> {
        self.slices += 1;
        self.speed += self.drift_sd * self.normal();
        let service = self.services[row];
        let noise = self.processes[row] + self.speed + service.slice_sd * self.normal();
        let per_second = service.per_second * noise.exp();
        let slice = match offered {
            None => self.closed(per_second),
            Some(offered) => self.open(per_second, offered),
        };
        self.pass(slice.load.elapsed_ns);
        Ok(slice)
    }

    fn stop(&mut self, _row: usize, _block: usize) -> Result<Stopped, ExecutorError> {
        self.pass(100_000_000);
        Ok(Stopped::default())
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn interrupted(&self) -> bool {
        false
    }
}

/// A whole run, as its folder would give it back.
pub fn run(plan: &Plan, machine: &mut Machine, stop_rule: &mut impl StopRule) -> StoredRun {
    let mut journal = Memory::default();
    let parts = Parts { executor: machine, journal: &mut journal, watch: &mut Unwatched, stop_rule };
    schedule::run(plan, parts, &[]).expect("memory does not fail");
    let header =
        Header::new("0.1.0", "2026-01-01T00:00:00Z".to_owned(), plan.clone(), Environment::default());
    StoredRun { header, records: journal.0, damage: Vec::new(), in_progress: false }
}

/// A plan of this number of blocks over `rows`, the first of which is the reference.
pub fn plan(rows: &[&str], blocks: usize, seed: u64) -> Plan {
    let plan = fixture::at_points(fixture::plan(rows), |point| point.rounds = 8);
    let plan = fixture::in_blocks(plan, |of| (of.min, of.max, of.budget_ns) = (blocks, blocks, 0));
    Plan { seed, ..plan }
}
