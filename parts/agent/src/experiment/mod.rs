//! Agents that send the measured load of an experiment, as the executor of `tare-bench` asks for it.
//!
//! A slice has its own connections: an agent opens them, sends one request over each, and closes them after
//! its load.

mod jobs;
mod sample;
#[cfg(test)]
mod tests;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use tare_bench::executor::{AgentSlice, Agents, AgentsReport, GeneratorTime};
use tare_load::{Limits, Load, RunReport};

pub use jobs::FleetSetting;

use crate::{
    AgentDescription, Control, ControlError, FleetReport, Prepared, Resting,
    control::{PollTimes, RunPlan},
    report::ReportParts,
    window::marks,
};
use sample::{discarded_of, sample_of};

/// How long a slice waits for lost agents to come back, because a supervisor restarts them.
const CONNECT_AGAIN: Duration = Duration::from_secs(2);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// The agents of a run.
#[derive(Debug)]
pub struct RunFleet {
    setting: FleetSetting,
    /// What each agent reported about itself when the run began.
    agents: Vec<(String, AgentDescription)>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// No agent is connected.
    Away,
    Resting(Resting),
    Awake(Control),
    /// A load has ended, and its report was not taken yet.
    Loaded(Control, Box<FleetReport>),
}

impl RunFleet {
    /// Connects to all agents.
    ///
    /// # Errors
    /// If an agent cannot be reached, or refuses.
    pub fn connect_to(setting: FleetSetting) -> Result<RunFleet, ControlError> {
        let control = control(&setting)?;
        let agents = control.agents().map(|(address, about)| (address.to_owned(), about.clone())).collect();
        Ok(RunFleet { setting, agents, state: State::Resting(Resting::of(control)) })
    }

    #[must_use]
    pub fn setting(&self) -> &FleetSetting {
        &self.setting
    }

    /// Each agent's report about itself, in the order of the plan.
    pub fn agents(&self) -> impl Iterator<Item = (&str, &AgentDescription)> {
        self.agents.iter().map(|(address, about)| (address.as_str(), about))
    }

    /// The controller that was woken. An error of its caller drops it, which ends the load of all agents.
    fn take(&mut self) -> Result<Control, ControlError> {
        match std::mem::replace(&mut self.state, State::Away) {
            State::Awake(control) => Ok(control),
            _ => Err(ControlError::NoAgent),
        }
    }

    fn connect_again(&self, interrupt: &AtomicBool) -> Result<Control, ControlError> {
        let deadline = Instant::now() + CONNECT_AGAIN;
        loop {
            match control(&self.setting) {
                Ok(control) => return Ok(control),
                Err(_) if interrupt.load(Ordering::Relaxed) => return Err(ControlError::Interrupted),
                Err(error) if Instant::now() >= deadline => return Err(error),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// CPU time of the agents on this machine.
    fn time_here(&self, report: &FleetReport, control: &Control) -> GeneratorTime {
        let is_here = |address: &str| {
            let mut agents = control.agents();
            agents.any(|(known, about)| known == address && self.setting.is_here(about))
        };
        let here = report.rows.iter().filter(|row| is_here(&row.address));
        here.map(|row| GeneratorTime::of(&row.report)).fold(GeneratorTime::default(), GeneratorTime::and)
    }
}

impl Agents for RunFleet {
    fn wake(&mut self, interrupt: &AtomicBool) -> Result<(), String> {
        let woken = match std::mem::replace(&mut self.state, State::Away) {
            // An agent that was lost between two slices, and is back, costs no slice.
            State::Resting(resting) => resting.wake().or_else(|_| self.connect_again(interrupt)),
            State::Away | State::Awake(_) | State::Loaded(..) => self.connect_again(interrupt),
        };
        self.state = State::Awake(woken.map_err(sentence)?);
        Ok(())
    }

    fn prepare(&mut self, slice: &AgentSlice<'_>, interrupt: &AtomicBool) -> Result<Vec<RunReport>, String> {
        let mut control = self.take().map_err(sentence)?;
        let jobs = self.setting.jobs(slice, control.agents().count());
        let prepared = control.prepare(&jobs, interrupt);
        let primed = prepared.and_then(|all| reports(&control, all)).map_err(sentence)?;
        self.state = State::Resting(Resting::of(control));
        Ok(primed)
    }

    fn load(
        &mut self,
        load: &Load,
        interrupt: &AtomicBool,
        begin: &mut dyn FnMut(u64),
    ) -> Result<(), String> {
        let mut control = self.take().map_err(sentence)?;
        let mut begin = |start_ns| begin(start_ns);
        let report = control.run(&run_plan(load), interrupt, &mut begin, &mut |_| {}).map_err(sentence)?;
        self.state = State::Loaded(control, Box::new(report));
        Ok(())
    }

    fn report(&mut self) -> Option<AgentsReport> {
        let State::Loaded(mut control, report) = std::mem::replace(&mut self.state, State::Away) else {
            return None;
        };
        let here = self.time_here(&report, &control);
        let (sample, discarded) = (sample_of(&report), discarded_of(&report));
        // The slice is complete even if an agent is lost now. The next slice reconnects.
        if !report.total.interrupted && control.release().is_ok() {
            self.state = State::Resting(Resting::of(control));
        }
        Some(AgentsReport { total: report.total, here, sample, discarded })
    }
}

fn control(setting: &FleetSetting) -> Result<Control, ControlError> {
    Control::connect(&setting.addresses, &setting.token, &setting.tare, PollTimes::default())
}

fn sentence(error: ControlError) -> String {
    error.to_string()
}

fn run_plan(load: &Load) -> RunPlan {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let window_ns = ns(load.stop.window());
    RunPlan {
        window_ns,
        drain_ns: ns(load.stop.drain),
        warm_up_ns: None,
        marks_ns: marks(window_ns),
        limits: Limits::default(),
    }
}

/// Reports of the requests before the load, in the order of the agents.
fn reports(control: &Control, prepared: Vec<Prepared>) -> Result<Vec<RunReport>, ControlError> {
    let all = control.agents().zip(prepared).filter_map(|((address, _), one)| Some((address, one.primed?)));
    let read = |(address, parts): (&str, Box<ReportParts>)| {
        RunReport::try_from(*parts)
            .map_err(|error| ControlError::Lost { address: address.to_owned(), reason: error.to_string() })
    };
    all.map(read).collect()
}
