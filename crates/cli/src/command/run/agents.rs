//! The options of `tare run --agents`: agents send the load of an interleaved experiment. A part checks what they need before anything is
//! built, and connects to them.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use anyhow::Context;
use tare_bench::{
    executor::Agents,
    plan::{Plan, PlannedAgents},
};
use tare_service::workspace::Workspace;

/// Who sends the load.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Load from agents")]
pub(crate) struct AgentOptions {
    /// Let these agents (`tare agent --keep`) send the load, each HOST:PORT. Services run on this machine as always. Connections and
    /// rates are those of all agents together, threads those of each. Slices shorter than 1s last 2s
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',')]
    agents: Vec<String>,
    /// File with the token that the agents have too [default: the variable TARE_AGENT_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The address of this machine at which agents reach it. Services must listen on all addresses: they are given SERVE_ON=0.0.0.0
    /// [default: 127.0.0.1, for agents on this machine]
    #[arg(long, value_name = "ADDRESS", requires = "agents")]
    serve_on: Option<Ipv4Addr>,
}

/// The user's options for agents, which no run stores.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Access<'a> {
    pub token_file: Option<&'a Path>,
    /// Hosts that may be loaded although they are not the machine of an agent.
    pub may_load: &'a [String],
    pub part: Option<RunAgents>,
}

/// The agents of a run, or why there are none.
pub(crate) type Connected = anyhow::Result<Box<dyn Agents>>;

/// What a part does with agents for an experiment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunAgents {
    /// Checks that agents can check the contracts of a plan.
    pub check_contracts: fn(&Workspace, &Plan) -> anyhow::Result<()>,
    /// Connects to the agents of a plan, whose files are in this folder.
    pub connect: fn(&Workspace, &Plan, &Path, Access<'_>) -> Connected,
}

impl Access<'_> {
    /// Without options of the user.
    pub(super) fn of(part: RunAgents) -> Self {
        Access { part: Some(part), ..Access::default() }
    }

    /// Connects to the agents of a plan, if it has any.
    pub(super) fn connect(
        self,
        workspace: &Workspace,
        plan: &Plan,
        run: &Path,
    ) -> anyhow::Result<Option<Box<dyn Agents>>> {
        if plan.agents.is_none() {
            return Ok(None);
        }
        let part = self.part.context("agents send its load: use `tare run`")?;
        (part.connect)(workspace, plan, run, self).map(Some)
    }
}

impl AgentOptions {
    pub(super) fn is_given(&self) -> bool {
        !self.agents.is_empty()
    }

    /// The address at which agents on other machines reach services of this machine.
    pub(super) fn serve_on(&self) -> Option<Ipv4Addr> {
        self.serve_on
    }

    pub(super) fn access<'a>(&'a self, may_load: &'a [String], part: RunAgents) -> Access<'a> {
        Access { token_file: self.token_file.as_deref(), may_load, part: Some(part) }
    }

    /// The plan with its load from agents, if there are any.
    pub(super) fn enter(&self, plan: Plan) -> Plan {
        let serve_on = self.serve_on.unwrap_or(Ipv4Addr::LOCALHOST);
        match self.is_given() {
            true => plan.with_agents(PlannedAgents { addresses: self.agents.clone(), serve_on }),
            false => plan,
        }
    }
}
