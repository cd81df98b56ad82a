//! Agents that send the measured load of a service on this machine.
//!
//! A slice has its own connections: an agent opens them, sends one request over each, and closes them after
//! its load. So the service is thawed twice, once for unmeasured connecting and once for the load. The second
//! thaw comes shortly before the common start, so that idle time before it adds no cost to answers.

use std::time::{Duration, Instant};

use tare_agent::{
    About, Control, ControlError, FleetReport, Prepared, Resting,
    control::{RunPlan, Times},
    window::marks,
};
use tare_base::{Clock, Monotonic};
use tare_load::{Limits, RunReport};

use super::{
    Bench,
    fleet_jobs::FleetSetting,
    loaded::{Due, GeneratorTime, Loaded},
    process::Running,
};
use crate::{
    sample_agents::{DiscardedSlice, FleetSample},
    schedule::{Executor, ExecutorError, InstrumentFailure, RowFailure},
};

/// Lead of the thaw over the start, so that the service's threads run before the first request.
const THAW_AHEAD_NS: u64 = 20_000_000;
/// How long a slice waits for lost agents to come back, because a supervisor restarts them.
const CONNECT_AGAIN: Duration = Duration::from_secs(2);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(250);
/// The run is cut off after this number of consecutive slices without agents. It can be resumed.
const LOST_MAX: usize = 3;

/// The agents of a run.
#[derive(Debug)]
pub struct Fleet {
    setting: FleetSetting,
    /// What each agent reported about itself when the run began.
    agents: Vec<(String, About)>,
    state: State,
    /// Consecutive slices in which an agent was lost.
    lost: usize,
}

#[derive(Debug)]
enum State {
    /// No agent is connected.
    Away,
    Resting(Resting),
}

impl Fleet {
    /// Connects to all agents.
    ///
    /// # Errors
    /// If an agent cannot be reached, or refuses.
    pub fn connect_to(setting: FleetSetting) -> Result<Fleet, ControlError> {
        let control = control(&setting)?;
        let agents = control.agents().map(|(address, about)| (address.to_owned(), about.clone())).collect();
        Ok(Fleet { setting, agents, state: State::Resting(Resting::of(control)), lost: 0 })
    }

    #[must_use]
    pub fn setting(&self) -> &FleetSetting {
        &self.setting
    }

    /// Each agent's report about itself, in the order of the plan.
    pub fn agents(&self) -> impl Iterator<Item = (&str, &About)> {
        self.agents.iter().map(|(address, about)| (address.as_str(), about))
    }

    /// The controller; reconnects if an agent was lost.
    fn wake(&mut self, bench: &Bench) -> Result<Control, ControlError> {
        match std::mem::replace(&mut self.state, State::Away) {
            // An agent that was lost between two slices, and is back, costs no slice.
            State::Resting(resting) => match resting.wake() {
                Ok(control) => Ok(control),
                Err(_) => self.connect_again(bench),
            },
            State::Away => self.connect_again(bench),
        }
    }

    fn connect_again(&self, bench: &Bench) -> Result<Control, ControlError> {
        let deadline = Instant::now() + CONNECT_AGAIN;
        loop {
            match control(&self.setting) {
                Ok(control) => return Ok(control),
                Err(_) if bench.interrupted() => return Err(ControlError::Interrupted),
                Err(error) if Instant::now() >= deadline => return Err(error),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
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
        let mut control = self.wake(bench).map_err(|error| self.lost(bench, &error))?;
        let jobs = self.setting.jobs(bench, running, due, control.agents().count());
        running.ready.thaw()?;
        let prepared = control.prepare(&jobs, &bench.interrupt);
        let primed = prepared.and_then(|all| reports(&control, all));
        match primed {
            Ok(_) => self.state = State::Resting(Resting::of(control)),
            Err(_) => {
                drop(control);
                running.asked_unknown();
            }
        }
        bench.alive(running, "while agents connected")?;
        running.ready.freeze()?;
        for report in primed.map_err(|error| self.lost(bench, &error))? {
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
        let mut control = self.wake(bench).map_err(|error| self.lost(bench, &error))?;
        let plan = run_plan(due);
        let (mut thawed, mut begun) = (Ok(()), None);
        let mut begin = |start_ns: u64| {
            sleep_until(start_ns.saturating_sub(THAW_AHEAD_NS));
            thawed = running.ready.thaw();
            begun = bench.reading(running);
        };
        let report = control.run(&plan, &bench.interrupt, &mut begin, &mut |_| {});
        let ended = bench.reading(running);
        thawed?;
        let report = match report {
            // An interrupted window is shorter than planned, and the block ends here anyway.
            Ok(report) if !report.total.interrupted => report,
            Ok(_) => return Err(RowFailure("interrupted".to_owned()).into()),
            Err(error) => {
                // Closing the connection ends the load of the other agents.
                drop(control);
                running.asked_unknown();
                bench.alive(running, "during the load")?;
                running.ready.freeze()?;
                return Err(self.lost(bench, &error));
            }
        };
        self.lost = 0;
        let here = time_here(&report, &control, &self.setting);
        self.state = match control.release() {
            Ok(()) => State::Resting(Resting::of(control)),
            // The slice is complete. The next one reconnects.
            Err(_) => State::Away,
        };
        let by = Some((FleetSample::of(&report), DiscardedSlice::of(&report)));
        Ok(Loaded { report: report.total, begun, ended, here, by })
    }

    /// A slice without a report. Several in a row end the run.
    fn lost(&mut self, bench: &Bench, error: &ControlError) -> ExecutorError {
        self.state = State::Away;
        if bench.interrupted() {
            return RowFailure(error.to_string()).into();
        }
        self.lost += 1;
        if self.lost < LOST_MAX {
            return ExecutorError::Slice(Box::new(DiscardedSlice::lost(error.to_string())));
        }
        InstrumentFailure(format!(
            "{LOST_MAX} slices one after the other had no agents; in the last one: {error}"
        ))
        .into()
    }
}

fn control(setting: &FleetSetting) -> Result<Control, ControlError> {
    Control::connect(&setting.addresses, &setting.token, &setting.tare, Times::default())
}

fn run_plan(due: &Due) -> RunPlan {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let window_ns = ns(due.load.stop.window());
    RunPlan {
        window_ns,
        drain_ns: ns(due.load.stop.drain),
        warm_up_ns: None,
        marks_ns: marks(window_ns),
        limits: Limits::default(),
    }
}

/// Reports of the requests before the load, in the order of the agents.
fn reports(control: &Control, prepared: Vec<Prepared>) -> Result<Vec<RunReport>, ControlError> {
    let all = control.agents().zip(prepared).filter_map(|((address, _), one)| Some((address, one.primed?)));
    let read = |(address, parts): (&str, Box<tare_agent::report::ReportParts>)| {
        RunReport::try_from(*parts)
            .map_err(|error| ControlError::Lost { address: address.to_owned(), reason: error.to_string() })
    };
    all.map(read).collect()
}

/// CPU time of the agents on this machine.
fn time_here(report: &FleetReport, control: &Control, setting: &FleetSetting) -> GeneratorTime {
    let is_here = |address: &str| {
        let mut agents = control.agents();
        agents.any(|(known, about)| known == address && setting.is_here(about))
    };
    let here = report.rows.iter().filter(|row| is_here(&row.address));
    here.map(|row| GeneratorTime::of(&row.report)).fold(GeneratorTime::default(), GeneratorTime::and)
}

fn sleep_until(at_ns: u64) {
    let left_ns = at_ns.saturating_sub(Monotonic.now_ns());
    std::thread::sleep(Duration::from_nanos(left_ns));
}
