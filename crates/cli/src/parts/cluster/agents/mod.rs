//! Agents: several generators, each a process of its own, send the load of `tare load` or of an experiment. The crate `agent` has their
//! protocol; here are the jobs, the permissions, and the output.

mod jobs;
mod json;
mod load;
mod rig;
mod run;
#[cfg(test)]
mod tests;
mod text;
mod token;

use tare_agent::{ControlError, FleetFinding, FleetReport};
use tare_bench::schedule::{CutOff, InstrumentFailure};
use tare_host::signals;
use tare_load::Load;

use crate::command::{
    load::{ByAgents, finding::LoadFinding, output::FromAgents},
    run::agents::RunAgents,
};

pub(super) use load::execute;
pub(super) use rig::AgentRig;
pub(super) use token::{TOKEN_VARIABLE, agent_token, version};

/// `tare load --agents`.
pub(crate) const LOAD: ByAgents = |job, global, args| {
    let token = agent_token(args.agents.token_file.as_deref())?;
    let interrupt = signals::listen()?;
    execute(job, global, args, &token, &interrupt).map_err(of_instrument)
};

/// `tare run --agents`.
pub(crate) const RUN: RunAgents = RunAgents { check_contracts: run::check_contracts, connect: run::connect };

/// The boot of the machine and its network namespace: 127.0.0.1 is the same server only within one.
pub(super) fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    format!("{} {}", boot.trim(), network.display())
}

/// Marks the loss of an agent as a failure of the instrument, in the same words.
pub(super) fn of_instrument(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<ControlError>().is_some_and(ControlError::is_loss) {
        true => CutOff::from(InstrumentFailure(error.to_string())).into(),
        false => error,
    }
}

/// What the result of agents adds to each form of the output.
fn several(fleet: &FleetReport, load: &Load) -> FromAgents {
    FromAgents {
        lines: text::lines(fleet, load),
        table: text::table(fleet),
        rows: json::rows(fleet),
        alignment: json::alignment(fleet),
        service_cpu: json::service_cpu(fleet),
    }
}

fn finding(found: &FleetFinding) -> LoadFinding {
    LoadFinding::Several {
        name: found.name(),
        agent: found.agent().map(str::to_owned),
        text: found.to_string(),
    }
}
