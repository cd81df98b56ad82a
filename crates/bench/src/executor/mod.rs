//! The real executor: processes, sockets and the clock of this machine.

mod account;
mod agents;
mod aside;
mod backing;
mod ballast;
mod connections;
mod load;
mod loaded;
mod loader;
mod network;
mod others;
mod pilot;
mod process;
mod profiled;
mod steady;
mod warm_up;
mod watch;
mod whose;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tare_base::{Clock, Monotonic};
use tare_contract::Contract;
use tare_host::process::{Sandbox, Supervisor};
use tare_service::catalogue;

use crate::{
    plan::Plan,
    record::{Pilot, StoppedService},
    sample::{AskedOfLoad, Sample},
    schedule::{Executor, ExecutorError, Slot},
};
pub use agents::{AgentSlice, Agents, AgentsReport};
pub use loaded::GeneratorTime;
pub use profiled::{ProfiledRun, SliceProfiler};

use agents::AgentLoader;
use loader::Loader;
use process::{Piloted, Running};

/// Runs services and loads them.
#[derive(Debug)]
pub struct Bench<'a> {
    plan: &'a Plan,
    services: Vec<catalogue::Service>,
    /// In the order of the plan's points.
    contracts: Vec<Contract>,
    supervisor: &'a Supervisor,
    run: PathBuf,
    sandbox: Sandbox,
    interrupt: Arc<AtomicBool>,
    running: BTreeMap<usize, Running>,
    /// Processes that pilots left for the first block of their row.
    piloted: BTreeMap<usize, Piloted>,
    /// The reference, measured beside the pilots of others until the first block.
    beside: Option<Running>,
    /// The sender of the measured load.
    loader: Loader,
    /// Each sample counts correct answers within these limits.
    asked: AskedOfLoad,
    /// Looks into services while they are loaded. Absent while slices decide anything.
    profiler: Option<Box<dyn SliceProfiler>>,
}

/// Reasons why a plan cannot be executed.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error("there is no contract \"{0}\"")]
    NoContract(String),
    /// The plan has a request that its contract no longer has.
    #[error("contract \"{contract}\" has lost a request of \"{part}\"")]
    LostRequest { contract: String, part: String },
}

impl<'a> Bench<'a> {
    /// A bench for the rows of `plan`, with `services` in the same order; files go to the run folder `run`.
    ///
    /// # Errors
    /// If `contracts` lacks a contract of the plan, or one of its requests.
    pub fn new(
        plan: &'a Plan,
        services: Vec<catalogue::Service>,
        contracts: &BTreeMap<String, Contract>,
        supervisor: &'a Supervisor,
        run: &Path,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Bench<'a>, BenchError> {
        Ok(Bench {
            plan,
            services,
            contracts: of_points(plan, contracts)?,
            supervisor,
            run: run.to_owned(),
            sandbox: Sandbox::default(),
            interrupt,
            running: BTreeMap::new(),
            piloted: BTreeMap::new(),
            beside: None,
            loader: Loader::Local,
            asked: plan.slo().map(|plan| plan.slo.asked()).unwrap_or_default(),
            profiler: None,
        })
    }

    /// The bench with services in a sandbox.
    #[must_use]
    pub fn with(self, sandbox: Sandbox) -> Bench<'a> {
        Bench { sandbox, ..self }
    }

    /// The bench with agents that send the measured load.
    #[must_use]
    pub fn loaded_by(self, agents: Box<dyn Agents>) -> Bench<'a> {
        Bench { loader: Loader::Agents(AgentLoader::new(agents)), ..self }
    }

    /// The bench with a profiler, which looks into the services in every slice.
    #[must_use]
    pub fn profiled_by(self, profiler: Box<dyn SliceProfiler>) -> Bench<'a> {
        Bench { profiler: Some(profiler), ..self }
    }

    /// A different request seed for every process.
    fn seed(&self, Slot { block, round, point, row }: Slot) -> u64 {
        let place = (block as u64 + 1) << 40 | (round as u64) << 32 | (point as u64) << 16 | row as u64;
        self.plan.seed ^ place
    }

    /// Takes the service of a row. If the caller fails, it drops the service, which kills it.
    fn taken(&mut self, row: usize) -> Result<Running, ExecutorError> {
        let label = &self.plan.rows[row].label;
        let unknown = || ExecutorError::of_instrument(format!("{label} was asked for, and does not run"));
        self.running.remove(&row).ok_or_else(unknown)
    }
}

/// Contracts in the order of the plan's points.
fn of_points(plan: &Plan, contracts: &BTreeMap<String, Contract>) -> Result<Vec<Contract>, BenchError> {
    let of = |point: &crate::plan::Point| {
        let name = &point.contract;
        let whole = contracts.get(name).ok_or_else(|| BenchError::NoContract(name.clone()))?;
        let lost = || BenchError::LostRequest { contract: name.clone(), part: point.part.clone() };
        point.narrowed(whole).ok_or_else(lost)
    };
    plan.points.iter().map(of).collect()
}

impl Executor for Bench<'_> {
    fn pilot(&mut self, row: usize, beside: Option<usize>) -> Result<Pilot, ExecutorError> {
        let mut reference = match (beside, self.beside.take()) {
            (Some(row), Some(running)) if running.slot.row == row => Some(running),
            // Without a reference beside it, a pilot runs alone.
            (Some(row), _) => self.launch_beside(row).ok(),
            (None, _) => None,
        };
        let curve = self.warm_up_curve(row, &mut reference);
        self.beside = reference;
        let (pilot, piloted) = curve?;
        self.piloted.insert(row, piloted);
        Ok(pilot)
    }

    fn release(&mut self, row: usize) -> u64 {
        let began_ns = Monotonic.now_ns();
        self.piloted.remove(&row).into_iter().for_each(|piloted| pilot::end(piloted.running));
        Monotonic.now_ns() - began_ns
    }

    fn start(&mut self, slot: Slot, warm_up_ns: u64) -> Result<Option<Duration>, ExecutorError> {
        self.beside.take().into_iter().for_each(pilot::end);
        let (mut running, warm_up_ns) = match self.piloted.remove(&slot.row) {
            Some(Piloted { running, loaded_ns }) => {
                running.ready.thaw()?;
                let rest_ns = warm_up_ns.saturating_sub(loaded_ns);
                (Running { slot, ..running }, rest_ns.max(self.plan.warm_up_ns()))
            }
            None => (self.launch(slot, &self.stem(slot))?, warm_up_ns),
        };
        self.settle(&mut running, warm_up_ns)?;
        let start_up = running.ready.start_up;
        self.running.insert(slot.row, running);
        Ok(start_up)
    }

    fn wake(&mut self, row: usize, warm_up_ns: u64) -> Result<(), ExecutorError> {
        let mut running = self.taken(row)?;
        running.ready.thaw()?;
        running.is_warm = true;
        self.settle(&mut running, warm_up_ns)?;
        self.running.insert(row, running);
        Ok(())
    }

    fn sample(&mut self, slot: Slot, draw: u64, per_second: Option<f64>) -> Result<Sample, ExecutorError> {
        let mut running = self.taken(slot.row)?;
        let (mut loader, mut profiler) = (std::mem::take(&mut self.loader), self.profiler.take());
        let mut profiled = profiled::Profiled::of(profiler.as_deref_mut(), slot.row);
        let sample = self.measure(&mut loader, &mut profiled, &mut running, slot.point, draw, per_second);
        (self.loader, self.profiler) = (loader, profiler);
        if matches!(sample, Ok(_) | Err(ExecutorError::Slice(_))) {
            self.running.insert(slot.row, running);
        }
        sample
    }

    fn stop(&mut self, row: usize, block: usize) -> Result<StoppedService, ExecutorError> {
        let running = self.taken(row)?;
        self.finish(running, block)
    }

    fn now_ns(&self) -> u64 {
        Monotonic.now_ns()
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture, fixture::published, plan::SequentialOptions};

    #[test]
    fn every_point_has_its_contract_narrowed_to_its_requests() {
        let contracts = published::contracts();
        for name in published::ALL {
            let plan = published::plan(name, &SequentialOptions::default());
            let found = of_points(&plan, &contracts).unwrap();
            for (point, contract) in plan.points.iter().zip(&found) {
                assert_eq!(contract.name, point.contract, "{name}");
                let has = |wanted: &String| contract.requests.iter().any(|request| request.name == *wanted);
                assert!(point.requests.iter().all(has), "{name}: {}", point.part);
            }
        }
    }

    #[test]
    fn a_contract_that_is_gone_or_has_lost_a_request_is_an_error_with_its_name() {
        let contracts = published::contracts();
        let mut plan = fixture::plan(&["a"]);
        plan.points[0].contract = "gone".to_owned();
        let error = of_points(&plan, &contracts).unwrap_err().to_string();
        assert_eq!(error, "there is no contract \"gone\"");
        plan.points[0].contract = "hello".to_owned();
        plan.points[0].requests = vec!["greeting".to_owned()];
        let error = of_points(&plan, &contracts).unwrap_err().to_string();
        assert_eq!(error, "contract \"hello\" has lost a request of \"64 connections\"");
    }
}
