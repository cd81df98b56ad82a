//! The interface to knowledge that an agent needs and this crate lacks: how a job becomes requests and
//! connections, which servers may be loaded, and how to read the CPU time of a process.

use std::io;
use std::sync::Arc;

use tare_load::{ExchangePool, GeneratorSettings, Waiting};

use crate::job::Job;
use crate::message::{LearnedByAgent, Prepared};

/// Turns jobs into loads. Errors are one sentence for the user of the controller.
pub trait Rig: Sync {
    /// Learns the correct answers from the server.
    ///
    /// # Errors
    /// The server may not be loaded, or does not answer correctly.
    fn learn(&self, job: &Job) -> Result<LearnedByAgent, String>;

    /// Everything that a generator needs.
    ///
    /// # Errors
    /// The server may not be loaded, or the job cannot run on this machine.
    fn prepare(&self, job: &Job) -> Result<ReadyJob, String>;

    /// The meter for an agent that watches the server of this job.
    ///
    /// # Errors
    /// The watched process is not the server, or its CPU time cannot be read.
    fn watch(&self, job: &Job) -> Result<(Box<dyn CpuMeter>, Prepared), String>;
}

/// A job that can begin.
#[derive(Debug)]
pub struct ReadyJob {
    pub settings: GeneratorSettings,
    pub pool: Arc<ExchangePool>,
    pub waiting: Waiting,
    pub prepared: Prepared,
}

/// The CPU time of a server.
pub trait CpuMeter: Send {
    /// The CPU time so far of all its processes.
    ///
    /// # Errors
    /// It cannot be read.
    fn cpu_ns(&self) -> io::Result<u64>;
}
