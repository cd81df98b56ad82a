//! Agents that send the measured load of a service on this machine. A part talks to them, by a trait; when the service runs, and what is
//! counted, is decided here.
//!
//! The service is thawed twice, once for unmeasured connecting and once for the load. The second thaw comes
//! shortly before the common start, so that idle time before it adds no cost to answers.

use std::{fmt::Debug, net::SocketAddr, sync::atomic::AtomicBool, time::Duration};

use tare_base::{Clock, Endpoint, Monotonic};
use tare_load::{Load, RunReport};
use tare_service::client::Channel;

use super::{
    Bench,
    loaded::{Due, GeneratorTime, Loaded},
    process::Running,
};
use crate::{
    plan::Point,
    sample_agents::{DiscardedSlice, FleetSample},
    schedule::{Executor, ExecutorError, InstrumentFailure, RowFailure},
};

/// Lead of the thaw over the start, so that the service's threads run before the first request.
const THAW_AHEAD_NS: u64 = 20_000_000;
/// The run is cut off after this number of consecutive slices without agents. It can be resumed.
const LOST_MAX: usize = 3;

/// Several generators, each a process of its own, on any machine. An error is a sentence.
pub trait Agents: Debug {
    /// Reconnects if an agent was lost since the last slice.
    ///
    /// # Errors
    /// If one does not come back.
    fn wake(&mut self, interrupt: &AtomicBool) -> Result<(), String>;

    /// Opens the connections of a slice and sends first requests, and reports these requests.
    ///
    /// # Errors
    /// If an agent cannot, or is lost.
    fn prepare(&mut self, slice: &AgentSlice<'_>, interrupt: &AtomicBool) -> Result<Vec<RunReport>, String>;

    /// Sends the load. Calls `begin` with the common start, by the monotonic clock of this machine, before that instant.
    ///
    /// # Errors
    /// If an agent is lost.
    fn load(&mut self, load: &Load, interrupt: &AtomicBool, begin: &mut dyn FnMut(u64))
    -> Result<(), String>;

    /// The report of the load that has just ended; `None` without one. The agents close their connections to the service.
    fn report(&mut self) -> Option<AgentsReport>;
}

/// What agents need to know of a slice.
#[derive(Debug)]
pub struct AgentSlice<'a> {
    /// Where the service listens.
    pub address: SocketAddr,
    pub channel: Channel,
    pub point: &'a Point,
    pub contract: &'a str,
    /// Determines the data rows of the service.
    pub rows_seed: u64,
    /// Varies the requests.
    pub draw: u64,
    pub load: &'a Load,
}

/// The load of all agents together.
#[derive(Debug)]
pub struct AgentsReport {
    pub total: RunReport,
    /// CPU time of the agents on this machine.
    pub here: GeneratorTime,
    pub sample: FleetSample,
    /// Why the slice has no figures; absent if it has figures.
    pub discarded: Option<DiscardedSlice>,
}

/// Loads by agents.
#[derive(Debug)]
pub(super) struct AgentLoader {
    agents: Box<dyn Agents>,
    /// Consecutive slices in which an agent was lost.
    lost: usize,
}

impl AgentLoader {
    pub(super) fn new(agents: Box<dyn Agents>) -> AgentLoader {
        AgentLoader { agents, lost: 0 }
    }

    fn wake(&mut self, bench: &Bench) -> Result<(), ExecutorError> {
        let woken = self.agents.wake(&bench.interrupt);
        woken.map_err(|why| self.lost(bench, why))
    }

    /// Opens connections and sends first requests from all agents. The service is frozen before and after.
    pub(super) fn connect(
        &mut self,
        bench: &Bench,
        running: &mut Running,
        due: &Due,
    ) -> Result<(), ExecutorError> {
        running.generator.close();
        running.handshakes.begin_anew();
        let slice = AgentSlice::of(bench, running, due)?;
        self.wake(bench)?;
        running.ready.thaw()?;
        let primed = self.agents.prepare(&slice, &bench.interrupt);
        if primed.is_err() {
            running.asked_unknown();
        }
        bench.alive(running, "while agents connected")?;
        running.ready.freeze()?;
        for report in primed.map_err(|why| self.lost(bench, why))? {
            running.not_measured(&bench.contracts[due.point], &report);
        }
        Ok(())
    }

    /// Thaws the service and loads it. The service stays thawed, except after an error of this slice alone.
    pub(super) fn load(
        &mut self,
        bench: &Bench,
        running: &mut Running,
        due: &Due,
    ) -> Result<Loaded, ExecutorError> {
        self.wake(bench)?;
        let (mut thawed, mut begun) = (Ok(()), None);
        let mut begin = |start_ns: u64| {
            sleep_until(start_ns.saturating_sub(THAW_AHEAD_NS));
            thawed = running.ready.thaw();
            begun = bench.reading(running);
        };
        let loaded = self.agents.load(due.load, &bench.interrupt, &mut begin);
        let ended = bench.reading(running);
        // The report is taken first: it frees the agents, whether the service was thawed or not.
        let report = loaded.and_then(|()| self.agents.report().ok_or_else(|| "no report".to_owned()));
        thawed?;
        match report {
            Ok(AgentsReport { total, here, sample, discarded }) if !total.interrupted => {
                self.lost = 0;
                Ok(Loaded { report: total, begun, ended, here, by: Some((sample, discarded)) })
            }
            // An interrupted window is shorter than planned, and the block ends here anyway.
            Ok(_) => Err(RowFailure("interrupted".to_owned()).into()),
            Err(why) => {
                running.asked_unknown();
                bench.alive(running, "during the load")?;
                running.ready.freeze()?;
                Err(self.lost(bench, why))
            }
        }
    }

    /// A slice without a report. Several in a row end the run.
    fn lost(&mut self, bench: &Bench, why: String) -> ExecutorError {
        if bench.interrupted() {
            return RowFailure(why).into();
        }
        self.lost += 1;
        if self.lost < LOST_MAX {
            return ExecutorError::Slice(Box::new(DiscardedSlice::lost(why)));
        }
        InstrumentFailure(format!(
            "{LOST_MAX} slices one after the other had no agents; in the last one: {why}"
        ))
        .into()
    }
}

impl<'a> AgentSlice<'a> {
    fn of(bench: &'a Bench, running: &Running, due: &Due<'a>) -> Result<AgentSlice<'a>, ExecutorError> {
        // Plans with agents have no Unix sockets.
        let Endpoint::Tcp(address) = running.ready.address else {
            return Err(ExecutorError::of_instrument("agents reach no Unix socket".to_owned()));
        };
        Ok(AgentSlice {
            address,
            channel: bench.services[running.slot.row].channel(),
            point: &bench.plan.points[due.point],
            contract: &bench.contracts[due.point].name,
            rows_seed: bench.plan.seed,
            draw: due.draw,
            load: due.load,
        })
    }
}

fn sleep_until(at_ns: u64) {
    let left_ns = at_ns.saturating_sub(Monotonic.now_ns());
    std::thread::sleep(Duration::from_nanos(left_ns));
}
