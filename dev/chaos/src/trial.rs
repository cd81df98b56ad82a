//! One measurement with one fault, from its start to the last check.

use std::{fmt, time::Duration};

use rand::{Rng, RngExt, seq::IndexedRandom};
use strum::IntoEnumIterator;

use crate::{
    fault::Fault,
    ground::{Ground, Site},
    holds::{self, Violation},
    measurement::{Measurement, OUT},
};

/// A normal measurement takes some seconds; beyond this time it counts as hung.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often a run is resumed until it is complete.
const RESUMED_MAX: usize = 4;

pub(crate) struct Trial {
    measurement: Measurement,
    fault: Fault,
    at: Duration,
    draw: u64,
}

impl Trial {
    /// Draws any possible fault at any instant of the measurement.
    pub(crate) fn draw(
        ground: &Ground,
        only: &str,
        misbehaviour: Option<&str>,
        random: &mut impl Rng,
    ) -> anyhow::Result<Trial> {
        let wanted = |fault: &Fault| fault.name().starts_with(only) && ground.has(fault.place());
        let faults: Vec<Fault> = Fault::iter().filter(wanted).collect();
        let fault = *faults.choose(random).ok_or_else(|| anyhow::anyhow!("no fault is called \"{only}\""))?;
        let measurement = match misbehaviour {
            Some(name) => Measurement::draw(random).with(name)?,
            None => Measurement::draw(random),
        };
        let lasts = ground.usual(measurement.kind);
        let at = lasts.mul_f64(random.random_range(0.0..1.1));
        Ok(Trial { measurement, fault, at, draw: random.next_u64() })
    }

    /// Runs the trial, and returns the fault for counting.
    ///
    /// # Errors
    /// A condition is violated.
    pub(crate) fn run(&self, ground: &Ground) -> Result<String, Violation> {
        let mut site = ground.site(&self.measurement, self.fault.place()).map_err(of_the_trial)?;
        let mut listed = ground.start(&site, &["list"]).map_err(of_the_trial)?;
        holds::ended_in_time(listed.end_within(PATIENCE))?;
        holds::only_looked(&listed)?;
        let mut started = ground.start(&site, &self.measurement.words()).map_err(of_the_trial)?;
        crate::processes::within(self.at, || started.has_ended());
        let was_over = started.has_ended();
        let before = site.stored().lines();
        let injected = self.fault.inject(ground, &site, &mut started, self.draw).map_err(of_the_trial)?;
        let in_time = started.end_within(PATIENCE);
        let second = injected.second.map(|mut second| {
            let in_time = second.end_within(PATIENCE);
            (second, in_time)
        });
        self.fault.mend(&mut site);

        holds::ended_in_time(in_time)?;
        holds::ended_well(&started, self.fault)?;
        if let Some((second, in_time)) = &second {
            holds::ended_in_time(*in_time)?;
            holds::ended_well(second, self.fault)?;
        }
        if self.fault.leaves_it_to_the_next() {
            let mut next = ground.start(&site, &["verify", "raw-socket"]).map_err(of_the_trial)?;
            holds::ended_in_time(next.end_within(PATIENCE))?;
        }
        holds::nothing_is_left(&started)?;
        holds::nothing_is_lost(&before, &site.stored())?;
        if !self.fault.hits_services() && self.measurement.misbehaviour.is_none() {
            holds::no_service_is_blamed(&site.stored())?;
        }
        self.goes_on(ground, &site)?;
        let state = match () {
            () if was_over => "after its end",
            () if before.is_empty() => "before its first record",
            () => "while it measured",
        };
        Ok(format!("{} {state}", self.fault))
    }

    /// Resumes the run once the cause is gone, after any number of interruptions, and checks that it can be
    /// shown at each step.
    fn goes_on(&self, ground: &Ground, site: &Site) -> Result<(), Violation> {
        for _ in 0..RESUMED_MAX {
            let stored = site.stored();
            if !stored.has_begun() {
                return Ok(());
            }
            let mut shown = ground.start(site, &["show", OUT]).map_err(of_the_trial)?;
            holds::ended_in_time(shown.end_within(PATIENCE))?;
            holds::shows(&shown)?;
            if stored.is_complete() {
                return holds::is_undamaged(&shown);
            }
            let before = stored.lines();
            let mut resumed = ground.start(site, &["run", "--resume", OUT]).map_err(of_the_trial)?;
            holds::ended_in_time(resumed.end_within(PATIENCE))?;
            holds::ended_well(&resumed, self.fault)?;
            holds::nothing_is_left(&resumed)?;
            holds::nothing_is_lost(&before, &stored)?;
            holds::went_on(&resumed, &stored)?;
        }
        Err(Violation(format!("not complete after it was continued {RESUMED_MAX} times")))
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after {:.2} s of {}", self.fault, self.at.as_secs_f64(), self.measurement)
    }
}

/// An error of the trial itself, which proves nothing about Tare.
fn of_the_trial(error: anyhow::Error) -> Violation {
    Violation(format!("the trial itself failed: {error:#}"))
}
