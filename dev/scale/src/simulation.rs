//! One run of the simulation: events in order of time, until every job is committed or missing.

use std::collections::BTreeSet;

use crate::{
    Micros,
    events::{Event, Events},
    fleet::Fleet,
    jobs::{Attempt, End, Job, JobState, Stage},
    micros,
    outcome::Outcome,
    random::{Draws, Purpose},
    scenario::{Frees, Order, Pause, Scenario},
    seconds,
    station::Station,
};

/// How often idle machines look for a slow job to copy.
const LOOK: Micros = 30_000_000;
/// A longer simulation indicates a bug.
const LONGEST: Micros = 30 * 86_400 * 1_000_000;

/// Simulates a scenario. The same scenario and seed give the same outcome.
pub fn run(scenario: &Scenario, seed: u64) -> Outcome {
    let mut simulation = Simulation::new(scenario, seed);
    simulation.begin();
    while simulation.open > 0 {
        let Some((at, event)) = simulation.events.next() else { break };
        if at > LONGEST {
            break;
        }
        simulation.now = at;
        simulation.happen(event);
    }
    simulation.outcome()
}

pub(crate) struct Simulation<'a> {
    scenario: &'a Scenario,
    seed: u64,
    now: Micros,
    events: Events,
    fleet: Fleet,
    jobs: Vec<Job>,
    attempts: Vec<Attempt>,
    /// Jobs that wait for a machine, in the order of the policy.
    queue: BTreeSet<(Micros, usize)>,
    /// The number of jobs that are neither committed nor missing.
    open: usize,
    placing: Station,
    link: Station,
    checks: Station,
    pushes: usize,
    refused: u64,
    copies: u64,
}

impl<'a> Simulation<'a> {
    fn new(scenario: &'a Scenario, seed: u64) -> Simulation<'a> {
        let jobs = Job::draw_all(scenario, seed);
        Simulation {
            scenario,
            seed,
            now: 0,
            events: Events::default(),
            fleet: Fleet::new(&scenario.fleet, seed),
            open: jobs.len(),
            jobs,
            attempts: Vec::new(),
            queue: BTreeSet::new(),
            placing: Station::new(1),
            link: Station::new(1),
            checks: Station::new(scenario.collector.checkers),
            pushes: 0,
            refused: 0,
            copies: 0,
        }
    }

    fn begin(&mut self) {
        for machine in 0..self.fleet.len() {
            let until_cut = self.fleet.until_cut(machine, &self.scenario.fleet);
            self.plan(until_cut, Event::CutOff(machine));
            if let Some(time) = self.fleet.until_vanishes(machine, &self.scenario.fleet) {
                self.plan(time, Event::Vanishes(machine));
            }
        }
        (0..self.jobs.len()).for_each(|job| self.enqueue(job));
        if self.scenario.policy.copies {
            self.plan(LOOK, Event::Look);
        }
        self.dispatch();
    }

    fn plan(&mut self, after: Micros, event: Event) {
        self.events.plan(self.now + after, event);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Placed(attempt) => self.placed(attempt),
            Event::Measured(attempt) => self.measured(attempt),
            Event::Failed(attempt) => self.failed(attempt),
            Event::Push(attempt) => self.push(attempt),
            Event::Uploaded(attempt) => self.uploaded(attempt),
            Event::Received(attempt) => self.received(attempt),
            Event::Checked(attempt) => self.checked(attempt),
            Event::Vanishes(machine) => self.vanishes(machine),
            Event::Returns(machine) => self.returns(machine),
            Event::CutOff(machine) => self.cut_off(machine),
            Event::Reconnected(machine) => self.reconnected(machine),
            Event::HeldForLost(attempt) => self.held_for_lost(attempt),
            Event::Requeued(job) => {
                self.enqueue(job);
                self.dispatch();
            }
            Event::Look => self.look(),
        }
    }

    // --- placing

    fn enqueue(&mut self, job: usize) {
        if self.jobs[job].state != JobState::Open {
            return;
        }
        let key = match self.scenario.policy.order {
            Order::First => 0,
            Order::Longest => Micros::MAX - self.jobs[job].expected,
        };
        self.queue.insert((key, job));
    }

    fn dispatch(&mut self) {
        while self.fleet.has_idle() {
            let Some((_, job)) = self.queue.pop_first() else { return };
            // A job that was committed in the meantime is not measured again.
            if self.jobs[job].state == JobState::Open {
                self.place(job);
            }
        }
    }

    fn place(&mut self, job: usize) {
        let number = self.attempts.len();
        let Some(machine) = self.fleet.take(number) else { return self.enqueue(job) };
        self.attempts.push(Attempt::new(job, machine, self.now));
        self.jobs[job].alive += 1;
        self.jobs[job].attempts.push(number);
        let service = micros(1.0 / self.scenario.engine.placements_per_second);
        if let Some(at) = self.placing.arrive(self.now, number, service) {
            self.events.plan(at, Event::Placed(number));
        }
    }

    fn placed(&mut self, number: usize) {
        if let Some((next, at)) = self.placing.leave(self.now, number) {
            self.events.plan(at, Event::Placed(next));
        }
        let attempt = &mut self.attempts[number];
        if attempt.stage != Stage::Placing {
            return;
        }
        (attempt.stage, attempt.running_since) = (Stage::Running, Some(self.now));
        let (job, machine) = (&self.jobs[attempt.job], self.fleet.get(attempt.machine));
        let setting = &self.scenario.jobs;
        let mut draws = Draws::new(self.seed, Purpose::Attempt, attempt.job);
        // Each attempt at a job uses new draws.
        (0..8 * job.spent + usize::from(job.is_copied && job.alive > 1) * 4).for_each(|_| {
            draws.unit();
        });
        let straggles = draws.happens(setting.straggler_share);
        let more = draws.exponential(setting.straggler_times);
        let fails = draws.happens(setting.failing_share) || job.is_broken;
        let part = draws.unit();
        let times = machine.slow_times * if straggles { 1.0 + more } else { 1.0 };
        let build = job.build_seconds * times;
        let engine = &self.scenario.engine;
        let whole = engine.start_seconds + build + setting.measure_seconds;
        let fails_at = if fails { engine.start_seconds + part * build } else { f64::INFINITY };
        match fails_at.min(engine.deadline_seconds) {
            end if end < whole => self.plan(micros(end), Event::Failed(number)),
            _ => self.plan(micros(whole), Event::Measured(number)),
        }
    }

    fn failed(&mut self, number: usize) {
        if self.attempts[number].stage == Stage::Running {
            self.end(number, End::Failed);
            self.release(number);
            // The engine has already handled an attempt that it considered lost.
            if !self.attempts[number].is_held_for_lost {
                self.give_up(number, true);
            }
            self.dispatch();
        }
    }

    /// The engine has lost an attempt: it places the job again, at once or after a pause, or gives it up.
    fn give_up(&mut self, number: usize, pauses: bool) {
        let engine = &self.scenario.engine;
        let place = self.attempts[number].job;
        let job = &mut self.jobs[place];
        job.alive -= 1;
        if job.state != JobState::Open {
            return;
        }
        job.spent += 1;
        if job.spent >= engine.attempts && job.alive == 0 {
            job.state = JobState::Missing;
            self.open -= 1;
        } else if job.alive == 0 && pauses {
            let times = 2_f64.powi(job.spent as i32 - 1);
            self.plan(micros(engine.back_off_seconds * times), Event::Requeued(place));
        } else if job.alive == 0 {
            self.enqueue(place);
        }
    }

    fn end(&mut self, number: usize, end: End) {
        if self.attempts[number].stage == Stage::Pushing {
            self.pushes -= 1;
        }
        self.attempts[number].stage = Stage::Ended(end);
    }

    /// Frees the machine, if it still belongs to this attempt.
    fn release(&mut self, number: usize) {
        let machine = self.attempts[number].machine;
        if self.attempts[number].released.is_none() {
            self.attempts[number].released = Some(self.now);
            if self.fleet.get(machine).attempt == Some(number) {
                self.fleet.free(machine);
            }
        }
    }

    // --- transfer to the collector

    fn measured(&mut self, number: usize) {
        if self.attempts[number].stage == Stage::Running {
            self.attempts[number].stage = Stage::Holding;
            self.attempts[number].measured = Some(self.now);
            self.push(number);
        }
    }

    fn push(&mut self, number: usize) {
        let attempt = &self.attempts[number];
        // A disconnected machine pushes once it is connected again.
        if attempt.stage != Stage::Holding || !self.fleet.get(attempt.machine).is_connected {
            return;
        }
        if self.pushes >= self.scenario.collector.pushes || self.is_down() {
            self.refused += 1;
            let pause = self.pause(number);
            self.attempts[number].refused += 1;
            return self.plan(pause, Event::Push(number));
        }
        self.pushes += 1;
        let mebibytes = self.jobs[attempt.job].mebibytes;
        self.attempts[number].stage = Stage::Pushing;
        let rate = self.scenario.collector.machine_mebibytes_per_second;
        self.plan(micros(mebibytes / rate), Event::Uploaded(number));
    }

    fn is_down(&self) -> bool {
        let collector = &self.scenario.collector;
        let minutes = seconds(self.now) / 60.0 - collector.down_from_minutes;
        (0.0..collector.down_minutes).contains(&minutes)
    }

    fn pause(&self, number: usize) -> Micros {
        let (retry, attempt) = (&self.scenario.retry, &self.attempts[number]);
        micros(match retry.pause {
            Pause::Fixed => retry.seconds,
            Pause::Exponential => {
                let most =
                    (retry.seconds * 2_f64.powi(attempt.refused.min(30) as i32)).min(retry.seconds_max);
                let mut draws = Draws::new(self.seed, Purpose::Retry, number);
                (0..attempt.refused).for_each(|_| {
                    draws.unit();
                });
                most * draws.unit()
            }
        })
        .max(1)
    }

    fn uploaded(&mut self, number: usize) {
        let attempt = &mut self.attempts[number];
        // The push was interrupted, and may have been restarted.
        if attempt.stage != Stage::Pushing {
            return;
        }
        attempt.stage = Stage::Sent;
        let mebibytes = self.jobs[attempt.job].mebibytes;
        let service = micros(mebibytes / self.scenario.collector.mebibytes_per_second);
        if let Some(at) = self.link.arrive(self.now, number, service) {
            self.events.plan(at, Event::Received(number));
        }
    }

    fn received(&mut self, number: usize) {
        if let Some((next, at)) = self.link.leave(self.now, number) {
            self.events.plan(at, Event::Received(next));
        }
        self.pushes -= 1;
        let collector = &self.scenario.collector;
        let mebibytes = self.jobs[self.attempts[number].job].mebibytes;
        let service = micros(collector.check_seconds + collector.check_seconds_per_mebibyte * mebibytes);
        if let Some(at) = self.checks.arrive(self.now, number, service) {
            self.events.plan(at, Event::Checked(number));
        }
        if collector.frees == Frees::OnArrival {
            self.release(number);
            self.dispatch();
        }
    }

    /// Create-once: the first bundle of a job is committed, and every other is refused.
    fn checked(&mut self, number: usize) {
        if let Some((next, at)) = self.checks.leave(self.now, number) {
            self.events.plan(at, Event::Checked(next));
        }
        let place = self.attempts[number].job;
        let held_for_lost = self.attempts[number].is_held_for_lost;
        let is_first = self.jobs[place].state != JobState::Committed;
        self.end(number, if is_first { End::Committed } else { End::Duplicate });
        self.release(number);
        let job = &mut self.jobs[place];
        job.alive -= usize::from(!held_for_lost);
        if is_first {
            // A job that was given up may still get a result.
            self.open -= usize::from(job.state == JobState::Open);
            job.state = JobState::Committed;
            self.cancel_others(place, number);
        }
        self.dispatch();
    }

    /// Stops the other attempts that can be reached.
    fn cancel_others(&mut self, job: usize, committed: usize) {
        for other in self.jobs[job].attempts.clone() {
            if other == committed {
                continue;
            }
            let attempt = &self.attempts[other];
            if attempt.is_on_machine() && self.fleet.get(attempt.machine).is_connected {
                let held_for_lost = attempt.is_held_for_lost;
                self.end(other, End::Cancelled);
                self.release(other);
                self.jobs[job].alive -= usize::from(!held_for_lost);
            }
        }
    }

    // --- events of machines

    fn vanishes(&mut self, machine: usize) {
        let back = self.fleet.until_back(machine, &self.scenario.fleet);
        self.plan(back, Event::Returns(machine));
        let Some(number) = self.fleet.vanish(machine, self.now) else { return };
        self.attempts[number].released.get_or_insert(self.now);
        if self.attempts[number].is_on_machine() {
            self.end(number, End::Lost);
            if !self.attempts[number].is_held_for_lost {
                self.expect_loss(number);
            }
        }
    }

    fn returns(&mut self, machine: usize) {
        self.fleet.come_back(machine, self.now);
        if let Some(time) = self.fleet.until_vanishes(machine, &self.scenario.fleet) {
            self.plan(time, Event::Vanishes(machine));
        }
        self.dispatch();
    }

    fn cut_off(&mut self, machine: usize) {
        self.fleet.connect(machine, false);
        let cut = self.fleet.until_reconnected(machine, &self.scenario.fleet);
        self.plan(cut, Event::Reconnected(machine));
        let Some(number) = self.fleet.get(machine).attempt else { return };
        if self.attempts[number].stage == Stage::Pushing {
            self.pushes -= 1;
            self.attempts[number].stage = Stage::Holding;
        }
        if self.attempts[number].is_on_machine() && !self.attempts[number].is_held_for_lost {
            self.expect_loss(number);
        }
    }

    fn reconnected(&mut self, machine: usize) {
        self.fleet.connect(machine, true);
        let until_cut = self.fleet.until_cut(machine, &self.scenario.fleet);
        self.plan(until_cut, Event::CutOff(machine));
        if let Some(number) = self.fleet.get(machine).attempt {
            let attempt = &mut self.attempts[number];
            if !attempt.is_held_for_lost {
                attempt.lost_at = None;
            }
            match attempt.stage {
                // The engine ends an attempt that it considers lost as soon as it can; its bundle is still
                // pushed.
                Stage::Placing | Stage::Running if attempt.is_held_for_lost => {
                    self.end(number, End::Cancelled);
                    self.release(number);
                }
                Stage::Holding => self.push(number),
                _ => {}
            }
        }
        self.dispatch();
    }

    fn expect_loss(&mut self, number: usize) {
        let at = self.now + micros(self.scenario.engine.lost_after_seconds);
        self.attempts[number].lost_at = Some(at);
        self.events.plan(at, Event::HeldForLost(number));
    }

    fn held_for_lost(&mut self, number: usize) {
        let attempt = &mut self.attempts[number];
        let is_gone = attempt.is_on_machine() || attempt.stage == Stage::Ended(End::Lost);
        if attempt.lost_at != Some(self.now) || attempt.is_held_for_lost || !is_gone {
            return;
        }
        attempt.is_held_for_lost = true;
        self.give_up(number, false);
        self.dispatch();
    }

    // --- copies

    /// Idle machines run copies of the jobs that are furthest behind their expected time.
    fn look(&mut self) {
        self.plan(LOOK, Event::Look);
        if !self.queue.is_empty() || !self.fleet.has_idle() {
            return;
        }
        let times = self.scenario.policy.copy_from_times;
        let behind = |attempt: &Attempt| {
            let job = &self.jobs[attempt.job];
            let running = seconds(self.now - attempt.running_since?);
            let is_slow = attempt.stage == Stage::Running && running > times * seconds(job.expected);
            (is_slow && job.alive == 1 && !job.is_copied).then(|| micros(running - seconds(job.expected)))
        };
        let slow = self.attempts.iter().filter_map(|attempt| Some((behind(attempt)?, attempt.job)));
        let mut slow: Vec<(Micros, usize)> = slow.collect();
        slow.sort_by_key(|(behind, job)| (Micros::MAX - behind, *job));
        for (_, job) in slow {
            if !self.fleet.has_idle() {
                break;
            }
            self.jobs[job].is_copied = true;
            self.copies += 1;
            self.place(job);
        }
    }

    fn outcome(mut self) -> Outcome {
        let now = self.now;
        let missing = |state: JobState| state != JobState::Committed;
        Outcome {
            makespan: now,
            committed: self.jobs.iter().filter(|job| job.state == JobState::Committed).count(),
            missing: (0..self.jobs.len()).filter(|job| missing(self.jobs[*job].state)).collect(),
            attempts: self.attempts.len(),
            copies: self.copies,
            refused: self.refused,
            times: crate::outcome::Times::of(&self.attempts, now),
            ends: crate::outcome::Ends::of(&self.attempts),
            committed_by_job: crate::outcome::commits(&self.attempts, self.jobs.len()),
            machines: self.fleet.hours_and_dollars(now, &self.scenario.fleet),
            link: crate::outcome::Served::of(&mut self.link, now),
            checks: crate::outcome::Served::of(&mut self.checks, now),
            placing: crate::outcome::Served::of(&mut self.placing, now),
        }
    }
}
