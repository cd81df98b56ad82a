//! The controller's side of a run: it gives each agent its job, starts them together, and adds up their
//! reports. It is never between an agent and the server. A lost agent ends the run without figures.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_base::{Clock, Monotonic};
use tare_load::{Limits, Measures, RunInterval, RunReport};

use crate::align::AgentClock;
pub use crate::control_error::ControlError;
use crate::fleet::Fleet;
pub use crate::fleet::PollTimes;
use crate::job::Job;
use crate::merge::{AgentEnd, FleetReport, MergeTiming, merge};
use crate::message::{AgentDescription, ControllerMessage, CpuReading, LearnedByAgent, Prepared, Reply};
use crate::tails::Tails;
use crate::token::Token;

/// The time from the order to begin until the start. Agents need it to receive it and wake their threads.
const LEAD: Duration = Duration::from_millis(300);
/// The number of round trips before the start and after the end.
const ROUND_TRIPS: usize = 16;
/// How long an agent may take for its report, in addition to window and drain.
const REPORT_MAX: Duration = Duration::from_secs(20);

/// The common schedule of all agents.
#[derive(Debug, Clone)]
pub struct RunPlan {
    pub window_ns: u64,
    pub drain_ns: u64,
    /// The duration of the warm-up, if there is one.
    pub warm_up_ns: Option<u64>,
    pub marks_ns: Vec<u64>,
    pub limits: Limits,
}

/// A controller with its agents.
#[derive(Debug)]
pub struct Control {
    fleet: Fleet,
}

impl Control {
    /// Connects to the agents at these addresses, each HOST:PORT.
    ///
    /// # Errors
    /// An agent cannot be reached, refuses, or has another version; or none of them would send a load.
    pub fn connect(
        addresses: &[String],
        token: &Token,
        tare: &str,
        times: PollTimes,
    ) -> Result<Control, ControlError> {
        if addresses.len() > crate::AGENTS_MAX {
            return Err(ControlError::TooMany { count: addresses.len() });
        }
        let fleet = Fleet::connect(addresses, token, tare, times)?;
        let mut watching = fleet.remotes.iter().filter(|remote| remote.is_watch());
        if let (Some(one), Some(other)) = (watching.next(), watching.next()) {
            return Err(ControlError::TwoWatch(one.address.clone(), other.address.clone()));
        }
        if fleet.remotes.iter().all(|remote| remote.is_watch()) {
            return Err(ControlError::NoAgent);
        }
        Ok(Control { fleet })
    }

    /// The descriptions of the agents, in the order of their addresses.
    pub fn agents(&self) -> impl Iterator<Item = (&str, &AgentDescription)> {
        self.fleet.remotes.iter().map(|remote| (remote.address.as_str(), &remote.about))
    }

    /// Lets the first agent that sends a load learn the correct answers from the server.
    ///
    /// # Errors
    /// The server does not answer correctly, or an agent is lost.
    pub fn learn(&mut self, job: &Job, interrupt: &AtomicBool) -> Result<LearnedByAgent, ControlError> {
        let first = self.fleet.remotes.iter().position(|remote| !remote.is_watch());
        let first = first.ok_or(ControlError::NoAgent)?;
        self.fleet.order(first, &ControllerMessage::Learn(Box::new(job.clone())))?;
        loop {
            if interrupt.load(Ordering::Relaxed) {
                return Err(ControlError::Interrupted);
            }
            if let Some((_, Reply::Learned(learned))) = self.fleet.next()? {
                return Ok(learned);
            }
        }
    }

    /// Gives every agent its job, in the order of their addresses, and waits until all are ready. Earlier
    /// clock measurements are dropped: an agent that was stopped earlier does not invalidate this load.
    ///
    /// # Errors
    /// An agent cannot execute its job, or is lost.
    pub fn prepare(&mut self, jobs: &[Job], interrupt: &AtomicBool) -> Result<Vec<Prepared>, ControlError> {
        self.fleet.remotes.iter_mut().for_each(|remote| remote.clock = AgentClock::default());
        for (index, job) in jobs.iter().enumerate() {
            self.fleet.order(index, &ControllerMessage::Prepare(Box::new(job.clone())))?;
        }
        let mut prepared: Vec<Option<Prepared>> = vec![None; jobs.len()];
        while prepared.iter().any(Option::is_none) {
            if interrupt.load(Ordering::Relaxed) {
                return Err(ControlError::Interrupted);
            }
            if let Some((index, Reply::Prepared(one))) = self.fleet.next()? {
                prepared[index] = Some(one);
            }
        }
        Ok(prepared.into_iter().flatten().collect())
    }

    /// Lets all agents close the connections of their jobs.
    ///
    /// # Errors
    /// An agent is lost.
    pub fn release(&mut self) -> Result<(), ControlError> {
        (0..self.fleet.remotes.len())
            .try_for_each(|index| self.fleet.order(index, &ControllerMessage::Release))
    }

    /// Waits for this time, while telling the agents that the controller is alive.
    ///
    /// # Errors
    /// An agent is lost.
    pub fn rest(&mut self, time: Duration) -> Result<(), ControlError> {
        let until_ns = Monotonic.now_ns() + ns(time);
        while Monotonic.now_ns() < until_ns {
            self.fleet.next()?;
        }
        Ok(())
    }

    /// Starts all agents at one instant and waits for their reports. `began` gets that instant by this
    /// process's clock some 0.3 s before, and `watch` gets each interval of all agents.
    ///
    /// # Errors
    /// An agent is lost, or cannot continue.
    pub fn run(
        &mut self,
        plan: &RunPlan,
        interrupt: &AtomicBool,
        began: &mut dyn FnMut(u64),
        watch: &mut dyn FnMut(&RunInterval),
    ) -> Result<FleetReport, ControlError> {
        self.fleet.synchronise(ROUND_TRIPS)?;
        if let Some(warm_up_ns) = plan.warm_up_ns {
            let start_ns = self.begin(true)?;
            let mut waiting = self.fleet.remotes.len();
            let over_ns = start_ns + warm_up_ns + plan.drain_ns + ns(REPORT_MAX);
            while waiting > 0 {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(ControlError::Interrupted);
                }
                if let Some((_, Reply::WarmedUp)) = self.fleet.next()? {
                    waiting -= 1;
                }
                self.ensure_in_time(over_ns, |_| false)?;
            }
            self.fleet.synchronise(ROUND_TRIPS)?;
        }
        let start_ns = self.begin(false)?;
        began(start_ns);
        self.fleet.remotes.iter_mut().for_each(|remote| remote.silent_ns = 0);
        let watching: Vec<bool> = self.fleet.remotes.iter().map(|remote| remote.is_watch()).collect();
        let mut gathered = Gathered::new(&watching);
        self.gather(&mut gathered, plan, start_ns, interrupt, watch)?;
        self.fleet.synchronise(ROUND_TRIPS)?;
        gathered.joint.tell_rest(watch);
        Ok(self.result(gathered, plan, start_ns))
    }

    /// Ends the run for all agents.
    pub fn end(mut self) {
        for index in 0..self.fleet.remotes.len() {
            // An agent that is gone has ended too.
            let _gone = self.fleet.order(index, &ControllerMessage::Bye);
        }
    }

    /// Gives every agent the start by its own clock; returns the start by the controller's.
    fn begin(&mut self, warm_up: bool) -> Result<u64, ControlError> {
        let start_ns = Monotonic.now_ns() + ns(LEAD);
        for index in 0..self.fleet.remotes.len() {
            let remote = &self.fleet.remotes[index];
            let offset = remote.clock.offset_at(start_ns);
            let at_ns = offset.ok().and_then(|offset| offset.agent_ns(start_ns));
            let at_ns = at_ns.ok_or_else(|| remote.lost(crate::align::Inconsistent.to_string()))?;
            self.fleet.remotes[index].given_ns = at_ns;
            self.fleet.order(index, &ControllerMessage::Begin { at_ns, warm_up })?;
        }
        Ok(start_ns)
    }

    fn gather(
        &mut self,
        gathered: &mut Gathered,
        plan: &RunPlan,
        start_ns: u64,
        interrupt: &AtomicBool,
        watch: &mut dyn FnMut(&RunInterval),
    ) -> Result<(), ControlError> {
        let end_ns = start_ns.saturating_add(plan.window_ns);
        let over_ns = end_ns.saturating_add(plan.drain_ns).saturating_add(ns(REPORT_MAX));
        let (mut is_stopped, mut pings) = (false, [(start_ns, ROUND_TRIPS), (end_ns, ROUND_TRIPS)]);
        while !gathered.is_complete() {
            if interrupt.load(Ordering::Relaxed) && !is_stopped {
                is_stopped = true;
                for index in 0..self.fleet.remotes.len() {
                    self.fleet.order(index, &ControllerMessage::Stop)?;
                }
            }
            // The clocks are also compared at the start and end of the window, not only around the load.
            let now_ns = Monotonic.now_ns();
            if let Some((_, left)) = pings.iter_mut().find(|(from_ns, left)| *left > 0 && now_ns >= *from_ns)
            {
                *left -= 1;
                self.fleet.ping()?;
            }
            if let Some((index, reply)) = self.fleet.next()? {
                self.take(gathered, index, reply)?;
                gathered.joint.tell(watch);
            }
            self.ensure_in_time(over_ns, |index| gathered.has(index))?;
        }
        Ok(())
    }

    fn take(&self, gathered: &mut Gathered, index: usize, reply: Reply) -> Result<(), ControlError> {
        let remote = &self.fleet.remotes[index];
        let unreadable = |error: crate::report::BadReport| remote.lost(error.to_string());
        match reply {
            Reply::Interval(parts) => {
                gathered.joint.add(index, RunInterval::try_from(*parts).map_err(unreadable)?);
            }
            Reply::Finished(parts) => {
                gathered.joint.end(index);
                gathered.reports[index] = Some(RunReport::try_from(*parts).map_err(unreadable)?);
            }
            Reply::Watched(readings) => {
                gathered.joint.end(index);
                gathered.readings[index] = Some(readings);
            }
            _ => return Err(remote.lost("it sent a message out of turn".to_owned())),
        }
        Ok(())
    }

    fn ensure_in_time(&self, over_ns: u64, has: impl Fn(usize) -> bool) -> Result<(), ControlError> {
        let late = || self.fleet.remotes.iter().enumerate().find(|(index, _)| !has(*index));
        match late().filter(|_| Monotonic.now_ns() > over_ns) {
            Some((_, remote)) => Err(remote.lost("it did not end its load in time".to_owned())),
            None => Ok(()),
        }
    }

    fn result(&self, gathered: Gathered, plan: &RunPlan, start_ns: u64) -> FleetReport {
        let Gathered { reports, readings, joint } = gathered;
        let timing = MergeTiming { start_ns, marks_ns: plan.marks_ns.clone() };
        let ends = self.fleet.remotes.iter().zip(reports).filter_map(|(remote, report)| {
            Some(AgentEnd {
                address: remote.address.clone(),
                report: report?,
                clock: remote.clock.clone(),
                given_ns: remote.given_ns,
                silent_ns: remote.silent_ns,
            })
        });
        let mut result = merge(ends.collect(), &timing, &joint.tails, &plan.limits);
        if let Some(readings) = readings.into_iter().flatten().next() {
            result.add_service_cpu(&readings, &plan.marks_ns);
        }
        result
    }
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The results of a run so far.
struct Gathered {
    reports: Vec<Option<RunReport>>,
    readings: Vec<Option<Vec<CpuReading>>>,
    joint: Joint,
}

impl Gathered {
    /// `watching` marks the agents that watch instead of sending a load.
    fn new(watching: &[bool]) -> Gathered {
        let agents = watching.len();
        Gathered {
            reports: (0..agents).map(|_| None).collect(),
            readings: (0..agents).map(|_| None).collect(),
            joint: Joint {
                pending: vec![VecDeque::new(); agents],
                // An agent that watches sends no intervals.
                ended: watching.to_vec(),
                generators: watching.iter().filter(|watches| !**watches).count(),
                tails: Tails::default(),
            },
        }
    }

    fn has(&self, index: usize) -> bool {
        self.reports[index].is_some() || self.readings[index].is_some()
    }

    fn is_complete(&self) -> bool {
        (0..self.reports.len()).all(|index| self.has(index))
    }
}

/// Combines the intervals of all agents.
struct Joint {
    pending: Vec<VecDeque<RunInterval>>,
    ended: Vec<bool>,
    generators: usize,
    tails: Tails,
}

impl Joint {
    fn add(&mut self, index: usize, interval: RunInterval) {
        self.pending[index].push_back(interval);
    }

    fn end(&mut self, index: usize) {
        self.ended[index] = true;
    }

    /// Reports each interval that has arrived from all agents that still send.
    fn tell(&mut self, watch: &mut dyn FnMut(&RunInterval)) {
        let has_next = |joint: &Joint| {
            let mut agents = joint.pending.iter().zip(&joint.ended);
            agents.all(|(pending, ended)| *ended || !pending.is_empty())
                && joint.pending.iter().any(|pending| !pending.is_empty())
        };
        while has_next(self) {
            self.pop(watch);
        }
    }

    fn tell_rest(&mut self, watch: &mut dyn FnMut(&RunInterval)) {
        while self.pending.iter().any(|pending| !pending.is_empty()) {
            self.pop(watch);
        }
    }

    fn pop(&mut self, watch: &mut dyn FnMut(&RunInterval)) {
        let parts: Vec<RunInterval> = self.pending.iter_mut().filter_map(VecDeque::pop_front).collect();
        // In the order of the agents; an interval that one of them lacks cannot be compared.
        if parts.len() == self.generators {
            self.tails.add(&parts.iter().map(|part| &part.measures).collect::<Vec<_>>());
        }
        let mut measures = Measures::default();
        parts.iter().for_each(|part| measures += &part.measures);
        let from_ns = parts.iter().map(|part| part.from_ns).min().unwrap_or(0);
        let to_ns = parts.iter().map(|part| part.to_ns).max().unwrap_or(from_ns);
        watch(&RunInterval { from_ns, to_ns, measures });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_reported_once_all_agents_have_sent_it() {
        let interval = |second: u64, answered| {
            let mut measures = Measures::default();
            measures.tally.answered = answered;
            RunInterval { from_ns: second, to_ns: second + 1, measures }
        };
        let mut joint = Gathered::new(&[false, true, false]).joint;
        let mut reported = Vec::new();
        let mut tell = |joint: &mut Joint| {
            joint.tell(&mut |interval| reported.push((interval.from_ns, interval.measures.tally.answered)));
        };
        joint.add(0, interval(0, 1));
        tell(&mut joint);
        joint.add(0, interval(1, 2));
        joint.add(2, interval(0, 10));
        tell(&mut joint);
        joint.add(2, interval(1, 20));
        joint.add(2, interval(2, 30));
        joint.end(0);
        tell(&mut joint);
        joint.end(2);
        tell(&mut joint);
        assert_eq!(reported, [(0, 11), (1, 22), (2, 30)]);
    }
}
