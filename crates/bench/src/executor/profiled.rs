//! A look into a service while it is loaded. A part looks, by a trait; slices that decide anything have none.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use tare_contract::Contract;
use tare_host::process::{Sandbox, Supervisor};
use tare_service::catalogue::Service;

use super::process::Running;
use crate::{plan::Plan, record::Record};

/// Looks into services. What it cannot do it keeps for its owner: a slice is measured all the same.
pub trait SliceProfiler: Debug {
    /// The service of this row, with these processes, stands still and is about to be loaded.
    fn begins(&mut self, row: usize, pids: &[u32]);
    /// It was loaded, and stands still again.
    fn ended(&mut self, row: usize, pids: &[u32]);
}

/// What extra slices, which are sampled, need of the run that they follow.
#[derive(Debug)]
pub struct ProfiledRun<'a> {
    pub plan: &'a Plan,
    /// The records of the run, for its pilots.
    pub records: &'a [Record],
    /// The services of all rows of the plan, built.
    pub services: Vec<Service>,
    /// The rows to be sampled; of two, the baseline first.
    pub rows: Vec<usize>,
    pub contracts: &'a BTreeMap<String, Contract>,
    pub supervisor: &'a Supervisor,
    pub sandbox: Sandbox,
    /// A folder for what the services write. It is removed afterwards.
    pub folder: PathBuf,
    pub interrupt: Arc<AtomicBool>,
    /// Whether the user asked for it. Else it is not made if it takes long.
    pub is_asked: bool,
    /// About how long it may take; by default as long as it needs.
    pub budget: Option<Duration>,
}

/// The profiler of one slice, if there is one.
pub(super) struct Profiled<'a> {
    profiler: Option<&'a mut dyn SliceProfiler>,
    row: usize,
}

impl<'a> Profiled<'a> {
    pub(super) fn of(profiler: Option<&'a mut (dyn SliceProfiler + 'static)>, row: usize) -> Profiled<'a> {
        Profiled { profiler: profiler.map(|profiler| profiler as &mut dyn SliceProfiler), row }
    }

    pub(super) fn begins(&mut self, running: &Running) {
        if let Some(profiler) = &mut self.profiler {
            profiler.begins(self.row, &running.ready.process.pids());
        }
    }

    pub(super) fn ended(&mut self, running: &Running) {
        if let Some(profiler) = &mut self.profiler {
            profiler.ended(self.row, &running.ready.process.pids());
        }
    }
}
