//! What sends the measured load of a service that runs: the generator of this machine, or agents.
//!
//! Everything around it is the same for both: the service is launched, proved, warmed up, frozen and accounted for here, and a pilot
//! and a warm-up are always loads of the local generator. Nothing of them is reported but where the cost of a service becomes flat,
//! which is a property of the service; and a window of a pilot lasts a tenth of a second, while a start that agents have in common
//! takes half a second.

use tare_service::drive;

use super::{
    Bench,
    fleet::Fleet,
    loaded::{Due, GeneratorTime, Loaded},
    process::Running,
    watch::LoadWatch,
};
use crate::schedule::ExecutorError;

/// What sends the measured load.
#[derive(Debug, Default)]
pub(super) enum Loader {
    /// The generator that each service has here.
    #[default]
    Local,
    Fleet(Box<Fleet>),
}

impl Loader {
    /// Connections and requests for a slice. The service is frozen, before and after.
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
            Loader::Fleet(fleet) => fleet.connect(bench, running, due),
        }
    }

    /// Thaws the service and loads it. It is left thawed, but where this is an error of the slice alone.
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
            Loader::Fleet(fleet) => fleet.load(bench, running, due),
        }
    }
}
