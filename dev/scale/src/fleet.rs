//! Machines: which are idle, which are gone, and their cost.

use std::collections::BTreeSet;

use crate::{
    Micros, micros,
    random::{Draws, Purpose},
    scenario::FleetSetting,
    seconds,
};

#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub is_spot: bool,
    pub slow_times: f64,
    pub is_up: bool,
    pub is_connected: bool,
    pub attempt: Option<usize>,
    up_since: Micros,
    up_time: Micros,
    fate: Draws,
    cuts: Draws,
}

/// All machines of a cluster.
#[derive(Debug)]
pub(crate) struct Fleet {
    machines: Vec<Machine>,
    idle: BTreeSet<usize>,
}

impl Fleet {
    pub(crate) fn new(setting: &FleetSetting, seed: u64) -> Fleet {
        let machine = |place: usize| {
            let mut fate = Draws::new(seed, Purpose::Machine, place);
            let is_spot = fate.happens(setting.spot_share);
            let is_slow = fate.happens(setting.slow_share);
            Machine {
                is_spot,
                slow_times: if is_slow { setting.slow_times } else { 1.0 },
                is_up: true,
                is_connected: true,
                attempt: None,
                up_since: 0,
                up_time: 0,
                fate,
                cuts: Draws::new(seed, Purpose::Cut, place),
            }
        };
        Fleet {
            machines: (0..setting.machines).map(machine).collect(),
            idle: (0..setting.machines).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.machines.len()
    }

    pub(crate) fn get(&self, place: usize) -> &Machine {
        &self.machines[place]
    }

    pub(crate) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Takes an idle machine for this attempt.
    pub(crate) fn take(&mut self, attempt: usize) -> Option<usize> {
        let place = self.idle.pop_first()?;
        self.machines[place].attempt = Some(attempt);
        Some(place)
    }

    /// Frees the machine of its attempt; it becomes idle if it can be reached.
    pub(crate) fn free(&mut self, place: usize) {
        self.machines[place].attempt = None;
        self.idle_if_reachable(place);
    }

    fn idle_if_reachable(&mut self, place: usize) {
        let machine = &self.machines[place];
        if machine.is_up && machine.is_connected && machine.attempt.is_none() {
            self.idle.insert(place);
        }
    }

    /// Removes the machine, and returns its attempt, if it had one.
    pub(crate) fn vanish(&mut self, place: usize, now: Micros) -> Option<usize> {
        self.idle.remove(&place);
        let machine = &mut self.machines[place];
        machine.up_time += now - machine.up_since;
        machine.is_up = false;
        machine.attempt.take()
    }

    /// Replaces the machine by another.
    pub(crate) fn come_back(&mut self, place: usize, now: Micros) {
        let machine = &mut self.machines[place];
        (machine.is_up, machine.up_since) = (true, now);
        self.idle_if_reachable(place);
    }

    pub(crate) fn connect(&mut self, place: usize, is_connected: bool) {
        self.machines[place].is_connected = is_connected;
        match is_connected {
            true => self.idle_if_reachable(place),
            false => {
                self.idle.remove(&place);
            }
        }
    }

    /// The time until a machine vanishes; `None` if it never does.
    pub(crate) fn until_vanishes(&mut self, place: usize, setting: &FleetSetting) -> Option<Micros> {
        let machine = &mut self.machines[place];
        let time = micros(machine.fate.exponential(setting.vanish_hours * 3600.0));
        machine.is_spot.then_some(time)
    }

    pub(crate) fn until_back(&mut self, place: usize, setting: &FleetSetting) -> Micros {
        micros(self.machines[place].fate.exponential(setting.back_minutes * 60.0))
    }

    pub(crate) fn until_cut(&mut self, place: usize, setting: &FleetSetting) -> Micros {
        micros(self.machines[place].cuts.exponential(setting.cut_hours * 3600.0))
    }

    pub(crate) fn until_reconnected(&mut self, place: usize, setting: &FleetSetting) -> Micros {
        micros(self.machines[place].cuts.exponential(setting.cut_minutes * 60.0))
    }

    /// The hours in which machines existed, and their cost.
    pub(crate) fn hours_and_dollars(&self, now: Micros, setting: &FleetSetting) -> (f64, f64) {
        let of = |machine: &Machine| {
            let running = if machine.is_up { now - machine.up_since } else { 0 };
            let hours = seconds(machine.up_time + running) / 3600.0;
            let price =
                if machine.is_spot { setting.dollars_per_hour_spot } else { setting.dollars_per_hour };
            (hours, hours * price)
        };
        self.machines.iter().map(of).fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
    }
}
