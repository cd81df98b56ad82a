//! `tare run --agents`: agents send the load of an interleaved experiment. The requirements are checked
//! before anything is built. `tare_agent::experiment` makes the job of each slice.

use std::{collections::BTreeMap, net::IpAddr, path::Path};

use anyhow::{Context, bail, ensure};
use tare_agent::{
    AgentDescription,
    experiment::{FleetSetting, RunFleet},
    job::ServerName,
};
use tare_bench::plan::Plan;
use tare_service::{learn, workspace::Workspace};

use super::{
    jobs::{contract_text, text_alone},
    machine, of_instrument,
    token::{agent_token, version},
};
use crate::command::{
    asked,
    run::agents::{Access, Connected},
    target,
};

/// Checks that agents, each of which sees only its own answers, can check the contracts of a plan.
pub(super) fn check_contracts(workspace: &Workspace, plan: &Plan) -> anyhow::Result<()> {
    for name in names(plan) {
        let Some(contract) = workspace.contracts.get(name) else { continue };
        ensure!(
            !contract.changes_rows(),
            "the contract \"{name}\" compares what all answers said with the database, and each agent sees its own answers: leave \
             --agents out"
        );
        if name != learn::NAME {
            contract_text(workspace, name)?;
        }
    }
    Ok(())
}

fn names(plan: &Plan) -> impl Iterator<Item = &str> {
    plan.points.iter().map(|point| point.contract.as_str())
}

/// Connects to the agents of a plan.
pub(super) fn connect(workspace: &Workspace, plan: &Plan, run: &Path, access: Access<'_>) -> Connected {
    let agents = plan.agents.as_ref().context("the plan has no agents")?;
    check_contracts(workspace, plan)?;
    ensure!(
        !plan.rows.iter().any(|row| row.is_running() && row.protocol.is_tls()),
        "agents ask a server that runs already without TLS: leave --agents out, or load it by `tare load --agents`"
    );
    target::ensure_served_here(agents.serve_on)?;
    let setting = FleetSetting {
        addresses: agents.addresses.clone(),
        token: agent_token(access.token_file)?,
        tare: version(),
        machine: machine(),
        may_load: access.may_load.to_vec(),
        contracts: names(plan)
            .map(|name| Ok((name.to_owned(), text(workspace, run, name)?)))
            .collect::<anyhow::Result<BTreeMap<_, _>>>()?,
    };
    let fleet = RunFleet::connect_to(setting).map_err(|error| of_instrument(error.into()))?;
    for (address, about) in fleet.agents() {
        Candidate { address, about, is_here: fleet.setting().is_here(about) }.check(plan, access)?;
    }
    Ok(Box::new(fleet))
}

/// The contract's text for agents; `None` if the contract is built in.
fn text(workspace: &Workspace, run: &Path, name: &str) -> anyhow::Result<Option<String>> {
    match name {
        learn::NAME => text_alone(name, &asked::learned_path(run)).map(Some),
        _ => contract_text(workspace, name),
    }
}

/// An agent that is to send a part of the load.
struct Candidate<'a> {
    address: &'a str,
    about: &'a AgentDescription,
    /// Whether it is on this machine, in any network namespace.
    is_here: bool,
}

impl Candidate<'_> {
    fn check(&self, plan: &Plan, access: Access<'_>) -> anyhow::Result<()> {
        let Candidate { address, about, .. } = self;
        ensure!(about.keep, "the agent at {address} would end after the first slice: start it with --keep");
        ensure!(
            about.watch.is_none(),
            "the agent at {address} sends no load: `tare run` reads the CPU time of its services itself; leave it out"
        );
        self.check_cpus(plan)?;
        for server in servers(plan) {
            self.check_permission(&server, access)?;
        }
        Ok(())
    }

    /// Checks the CPUs of an agent on this machine. Its CPU time counts as the generator's. On the CPUs of a
    /// service it would be unnoticed interference.
    fn check_cpus(&self, plan: &Plan) -> anyhow::Result<()> {
        let Candidate { address, about, is_here } = self;
        let of_generator = &plan.pinning.generator;
        let is_apart = !about.pinned.is_empty() && about.pinned.iter().all(|cpu| of_generator.contains(cpu));
        let cpus: Vec<String> = of_generator.iter().map(usize::to_string).collect();
        ensure!(
            !is_here || !plan.pinning.apart() || is_apart,
            "the agent at {address} is on this machine and may run on the CPUs of the services: start it with --cpus {}",
            cpus.join(",")
        );
        Ok(())
    }

    /// A server on another machine needs two permissions: from the user, and from the agent.
    fn check_permission(&self, server: &ServerName, access: Access<'_>) -> anyhow::Result<()> {
        let Candidate { address, about, .. } = self;
        if about.machine == machine() {
            return Ok(());
        }
        let host = &server.host;
        let ip: Option<IpAddr> = host.parse().ok();
        ensure!(
            !ip.is_some_and(|ip| ip.is_loopback()),
            "{host} is another server for the agent at {address}: name the address at which it reaches this machine by --serve-on"
        );
        ensure!(
            access.may_load.iter().any(|named| named.eq_ignore_ascii_case(host)),
            "{host} is another machine for the agent at {address}: load only what is yours; if you may, use --i-may-load {host}"
        );
        if !about.target.as_ref().is_some_and(|target| server.is_permitted_by(target)) {
            bail!("the agent at {address} may not load {host}: start every agent with --target {host}");
        }
        Ok(())
    }
}

/// The servers that agents will load: services, each of whose starts has a port of its own, and servers that
/// are already running.
fn servers(plan: &Plan) -> Vec<ServerName> {
    let own = plan.agents.iter().filter(|_| plan.rows.iter().any(|row| !row.is_running()));
    let own = own.map(|agents| (agents.serve_on.to_string(), 0));
    let running = plan.rows.iter().filter_map(|row| row.running.as_ref()?.internet());
    let running = running.map(|address| (address.ip().to_string(), address.port()));
    own.chain(running).map(|(host, port)| ServerName { authority: host.clone(), host, port }).collect()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tare_bench::{fixture, plan::PlannedAgents};

    use super::*;

    fn plan(serve_on: Ipv4Addr) -> Plan {
        let agents = PlannedAgents { addresses: vec!["a:1".to_owned()], serve_on };
        fixture::plan(&["one", "other"]).with_agents(agents)
    }

    fn about() -> AgentDescription {
        let (target, watch) = (Some("10.0.0.9".to_owned()), None);
        AgentDescription {
            target,
            watch,
            machine: "elsewhere net".to_owned(),
            cpus: 2,
            pinned: Vec::new(),
            keep: true,
        }
    }

    fn refusal(
        about: &AgentDescription,
        is_here: bool,
        serve_on: Ipv4Addr,
        may_load: &[&str],
    ) -> Option<String> {
        let may_load: Vec<String> = may_load.iter().map(|host| (*host).to_owned()).collect();
        let access = Access { may_load: &may_load, ..Access::default() };
        let checked = Candidate { address: "a:1", about, is_here }.check(&plan(serve_on), access);
        checked.err().map(|error| error.to_string())
    }

    const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);

    #[test]
    fn another_machine_takes_the_permission_of_both_sides() {
        assert_eq!(refusal(&about(), false, FAR, &["10.0.0.9"]), None);
        let refused = refusal(&about(), false, FAR, &["10.0.0.8"]).unwrap();
        assert!(refused.ends_with("use --i-may-load 10.0.0.9"), "{refused}");
        for target in [None, Some("10.0.0.9:8080".to_owned()), Some("10.0.0.8".to_owned())] {
            let refused =
                refusal(&AgentDescription { target, ..about() }, false, FAR, &["10.0.0.9"]).unwrap();
            assert!(refused.ends_with("start every agent with --target 10.0.0.9"), "{refused}");
        }
        let refused = refusal(&about(), false, Ipv4Addr::LOCALHOST, &["127.0.0.1"]).unwrap();
        assert!(refused.contains("127.0.0.1 is another server for the agent at a:1"), "{refused}");
    }

    #[test]
    fn an_agent_of_one_run_or_that_watches_or_on_the_services_cpus_is_refused() {
        let refused =
            refusal(&AgentDescription { keep: false, ..about() }, false, FAR, &["10.0.0.9"]).unwrap();
        assert!(refused.ends_with("start it with --keep"), "{refused}");
        let refused =
            refusal(&AgentDescription { watch: Some(1), ..about() }, false, FAR, &["10.0.0.9"]).unwrap();
        assert!(refused.ends_with("leave it out"), "{refused}");
        let here = AgentDescription { machine: machine(), ..about() };
        let plan = plan(Ipv4Addr::LOCALHOST);
        let own = plan.pinning.generator.clone();
        if plan.pinning.apart() {
            for pinned in [Vec::new(), plan.pinning.server.clone()] {
                let refused =
                    refusal(&AgentDescription { pinned, ..here.clone() }, true, Ipv4Addr::LOCALHOST, &[])
                        .unwrap();
                assert!(
                    refused.contains("may run on the CPUs of the services: start it with --cpus"),
                    "{refused}"
                );
            }
        }
        assert_eq!(refusal(&AgentDescription { pinned: own, ..here }, true, Ipv4Addr::LOCALHOST, &[]), None);
    }
}
