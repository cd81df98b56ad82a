//! Measures figures that require a start of the service: time until it answers, memory while idle.
//!
//! "Cold" means only a new process: files read by the first start are in the page cache for the others, as
//! after a restart. The service runs alone, unpinned, with `THREADS=1`.

use std::{
    net::Ipv4Addr,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use tare_contract::Contract;
use tare_host::process::{Sandbox, Stopped, Supervisor};
use tare_service::{
    catalogue::Service,
    footprint::Measured,
    launch::{self, LaunchError, LaunchSettings},
    probe::Readiness,
    prove::GRACE,
    settings::ServiceSettings,
};

/// Number of starts; the figures are medians. An odd number makes the median a measured value.
pub(crate) const STARTS: usize = 3;
/// Memory is read this long after the first answer, when lazy initialisation is complete.
const IDLE: Duration = Duration::from_secs(1);
/// Interval of checks for an interrupt.
const TICK: Duration = Duration::from_millis(20);

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("{0}")]
    Stopped(Stopped),
}

#[derive(Debug, Clone, Copy)]
pub struct FootprintTrial<'a> {
    /// The contract; its first request must be answered correctly.
    pub contract: &'a Contract,
    pub seed: u64,
    /// The time stored with the figures.
    pub now: Timestamp,
    pub supervisor: &'a Supervisor,
    pub folder: &'a Path,
    pub interrupt: &'a AtomicBool,
}

/// Starts `service` several times in sequence. `Ok(None)` after an interrupt.
///
/// # Errors
/// The service does not start, gives no correct answer, dies, or does not stop cleanly.
pub fn measure(service: &Service, trial: &FootprintTrial) -> Result<Option<Measured>, MeasureError> {
    let FootprintTrial { contract, seed, now, supervisor, folder, interrupt } = *trial;
    let service_settings = ServiceSettings::of_threads(1);
    let readiness = Readiness::AnswersRightly;
    let settings = LaunchSettings {
        contract,
        service_settings: &service_settings,
        cpus: &[],
        seed,
        readiness,
        port: None,
        serve_on: Ipv4Addr::LOCALHOST,
        sandbox: &Sandbox::default(),
    };
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        if interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let ready = launch::launch(service, &settings, supervisor, folder, "measure")?;
        rest(interrupt);
        let rss_bytes = ready.process.rss_bytes();
        let stopped = ready.process.stop(GRACE);
        if interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if !stopped.is_clean() {
            return Err(MeasureError::Stopped(stopped));
        }
        starts.push((ready.start_up.unwrap_or_default().as_nanos() as u64, rss_bytes));
    }
    let start_up_ns = median(starts.iter().map(|(start_up_ns, _)| *start_up_ns));
    let rss_bytes = median(starts.iter().map(|(_, rss_bytes)| *rss_bytes));
    Ok(Some(Measured { at: now, starts: STARTS, start_up_ns, rss_bytes }))
}

fn rest(interrupt: &AtomicBool) {
    let began = Instant::now();
    while began.elapsed() < IDLE && !interrupt.load(Ordering::Relaxed) {
        std::thread::sleep(TICK);
    }
}

/// The median; the upper one of two middle values.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_start_does_not_count() {
        assert_eq!(median([90, 5, 7].into_iter()), 7);
    }
}
