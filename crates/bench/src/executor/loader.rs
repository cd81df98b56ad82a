//! The sender of the measured load: the generator of this machine, or agents.
//!
//! Everything else is the same for both: services are launched, verified, warmed up, frozen and accounted for
//! here. Pilots and warm-ups always use the local generator. They only find where the cost of a service
//! becomes flat, which does not depend on the generator; and a pilot's window takes 0.1 s, a common start of
//! agents 0.5 s.

use tare_service::drive;

use super::{
    Bench,
    agents::AgentLoader,
    loaded::{Due, GeneratorTime, Loaded},
    process::Running,
    watch::LoadWatch,
};
use crate::schedule::ExecutorError;

/// The sender of the measured load.
#[derive(Debug, Default)]
pub(super) enum Loader {
    /// The local generator of each service.
    #[default]
    Local,
    Agents(AgentLoader),
}

impl Loader {
    /// Prepares connections and requests for a slice. The service is frozen before and after.
    pub(super) fn connect(
        &mut self,
        bench: &Bench,
        running: &mut Running,
        due: &Due,
    ) -> Result<(), ExecutorError> {
        match self {
            Loader::Local => {
                bench.connect(running, due.point, due.draw)?;
                let contract = &bench.contracts[due.point];
                running.generator.set_pool(drive::pool(contract, &running.ready.host, due.draw));
                Ok(())
            }
            Loader::Agents(agents) => agents.connect(bench, running, due),
        }
    }

    /// Thaws the service and loads it. The service stays thawed, except after an error of this slice alone.
    pub(super) fn load(
        &mut self,
        bench: &Bench,
        running: &mut Running,
        due: &Due,
        watch: &mut LoadWatch,
    ) -> Result<Loaded, ExecutorError> {
        match self {
            Loader::Local => {
                running.ready.thaw()?;
                let begun = bench.reading(running);
                let report = bench.run_load(running, due.load, watch)?;
                let ended = bench.reading(running);
                Ok(Loaded { here: GeneratorTime::of(&report), report, begun, ended, by: None })
            }
            Loader::Agents(agents) => agents.load(bench, running, due),
        }
    }
}
