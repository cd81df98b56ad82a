//! What an agent needs and this crate does not know: how a job becomes requests and connections, which servers may be loaded, and
//! how the CPU time of a process is read.

use std::io;
use std::sync::Arc;

use tare_load::{ExchangePool, Settings, Waiting};

use crate::job::Job;
use crate::message::{Learned, Prepared};

/// Turns jobs into loads. Errors are one sentence for the user of the controller.
pub trait Rig: Sync {
    /// Asks the server what is right.
    ///
    /// # Errors
    /// The server may not be loaded, or does not answer as it must.
    fn learn(&self, job: &Job) -> Result<Learned, String>;

    /// Everything that a generator needs.
    ///
    /// # Errors
    /// The server may not be loaded, or the job cannot be executed on this machine.
    fn prepare(&self, job: &Job) -> Result<Ready, String>;

    /// For an agent that watches the server of this job.
    ///
    /// # Errors
    /// What is watched does not serve, or its CPU time cannot be read.
    fn watch(&self, job: &Job) -> Result<(Box<dyn CpuMeter>, Prepared), String>;
}

/// A job that can begin.
#[derive(Debug)]
pub struct Ready {
    pub settings: Settings,
    pub pool: Arc<ExchangePool>,
    pub waiting: Waiting,
    pub prepared: Prepared,
}

/// The CPU time of a server.
pub trait CpuMeter: Send {
    /// Up to now, of all its processes.
    ///
    /// # Errors
    /// It cannot be read.
    fn cpu_ns(&self) -> io::Result<u64>;
}
