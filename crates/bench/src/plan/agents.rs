//! The agents that load an interleaved experiment instead of the generator on this machine.

use std::{net::Ipv4Addr, time::Duration};

use serde::{Deserialize, Serialize};

use super::{LoadSpec, Order, Plan, interleaved::ns};

/// Shortest slice with agents. Each slice needs half a second more for connections and the common start, so a
/// shorter one would be mostly overhead, with a small window common to all agents.
const SLICE_MIN: Duration = Duration::from_secs(1);
/// Replaces slices that are shorter than the minimum.
const SLICE: Duration = Duration::from_secs(2);

/// The machines that send the load, and where they reach the services.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedAgents {
    /// Each as HOST:PORT.
    pub addresses: Vec<String>,
    /// The address of this machine at which agents reach the services.
    pub serve_on: Ipv4Addr,
}

/// Reasons why agents cannot send the load of a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotForAgents {
    #[error(
        "a published experiment is repeated with the load that it was published with: leave --agents out"
    )]
    Sequential,
    #[error(
        "--isolate gives each service a network that no agent reaches: leave it out, or leave --agents out"
    )]
    Isolated,
    #[error(
        "an experiment over several cores gives each row a generator of its own size: leave --agents out"
    )]
    Cores,
    #[error("an agent reaches no Unix socket of this machine: leave --unix out, or leave --agents out")]
    UnixSocket,
    #[error(
        "{connections} connections are less than one for each of {agents} agents with {threads} threads: give more by \
         --connections, or fewer `threads` in the experiment"
    )]
    TooFewConnections { connections: usize, agents: usize, threads: usize },
}

impl Plan {
    /// The plan with agents as its generators. Slices that are too short for agents are lengthened.
    #[must_use]
    pub fn with_agents(mut self, agents: PlannedAgents) -> Plan {
        for point in &mut self.points {
            if let LoadSpec::Closed { duration_ns, .. } | LoadSpec::Open { duration_ns, .. } = &mut point.load
                && *duration_ns < ns(SLICE_MIN)
            {
                *duration_ns = ns(SLICE);
            }
        }
        self.agents = Some(agents);
        match self.blocks().spread {
            Some(spread) => self.with_spread(spread),
            None => self,
        }
    }

    /// Checks that the agents of the plan, if any, can send its load.
    ///
    /// # Errors
    /// The first reason why they cannot.
    pub fn check_agents(&self) -> Result<(), NotForAgents> {
        let Some(PlannedAgents { addresses, .. }) = &self.agents else { return Ok(()) };
        if self.order == Order::Sequential {
            return Err(NotForAgents::Sequential);
        }
        if self.isolates {
            return Err(NotForAgents::Isolated);
        }
        if self.rows.iter().any(|row| row.pinning.is_some()) {
            return Err(NotForAgents::Cores);
        }
        if self.rows.iter().filter_map(|row| row.running.as_ref()).any(|server| server.internet().is_none()) {
            return Err(NotForAgents::UnixSocket);
        }
        let agents = addresses.len();
        let each = self.points.iter().map(|point| point.load.connections());
        match each.into_iter().find(|load| load.total < agents * load.threads) {
            Some(load) => {
                let (connections, threads) = (load.total, load.threads);
                Err(NotForAgents::TooFewConnections { connections, agents, threads })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::Rate,
        fixture::{self, at_points, published},
        plan::{PlannedRow, RunningServer, SequentialOptions},
    };

    fn agents(count: usize) -> PlannedAgents {
        let addresses = (0..count).map(|number| format!("127.0.0.1:{}", 7070 + number)).collect();
        PlannedAgents { addresses, serve_on: Ipv4Addr::LOCALHOST }
    }

    fn durations(plan: &Plan) -> Vec<u64> {
        plan.points.iter().map(|point| point.load.duration_ns() / 1_000_000).collect()
    }

    #[test]
    fn slices_that_are_too_short_for_a_start_in_common_are_longer() {
        let plan = fixture::with_rates(fixture::plan(&["a", "b"]), &[Rate::PerSecond(10.0)], 1);
        let short = plan.clone().with_agents(agents(2));
        assert_eq!(durations(&short), [2_000, 2_000]);
        assert!(short.slices_ns() > plan.slices_ns() + 2_000_000_000, "and take time around them");
        let long = at_points(plan, |point| {
            if let LoadSpec::Closed { duration_ns, .. } | LoadSpec::Open { duration_ns, .. } = &mut point.load
            {
                *duration_ns = 1_500_000_000;
            }
        });
        assert_eq!(durations(&long.with_agents(agents(2))), [1_500, 1_500]);
    }

    #[test]
    fn what_agents_cannot_load_is_refused_by_name() {
        let plan = fixture::plan(&["a", "b"]);
        assert_eq!(plan.check_agents(), Ok(()));
        let with = plan.clone().with_agents(agents(2));
        assert_eq!(with.check_agents(), Ok(()));
        let isolated = Plan { isolates: true, ..with.clone() };
        assert_eq!(isolated.check_agents(), Err(NotForAgents::Isolated));
        let mut cores = with.clone();
        cores.rows[0].pinning = Some(cores.pinning.clone());
        assert_eq!(cores.check_agents(), Err(NotForAgents::Cores));
        let mut runs_already = |address: &str| {
            let (address, unseen) = (address.to_owned(), None);
            let (processes, cpus) = (Vec::new(), Vec::new());
            let server = RunningServer { address, processes, cgroup: None, cpus, unseen, tls: None };
            cores.rows[0] = PlannedRow { running: Some(server), ..with.rows[0].clone() };
            cores.check_agents()
        };
        assert_eq!(runs_already("127.0.0.1:80"), Ok(()));
        assert_eq!(runs_already("unix:/run/a.sock"), Err(NotForAgents::UnixSocket));
        let few = at_points(with, |point| {
            if let LoadSpec::Closed { connections, threads, .. } = &mut point.load {
                (*connections, *threads) = (3, 2);
            }
        });
        let expected = NotForAgents::TooFewConnections { connections: 3, agents: 2, threads: 2 };
        assert_eq!(few.check_agents(), Err(expected));
        let sequential = published::plan(published::ALL[0], &SequentialOptions::default());
        let sequential = Plan { agents: Some(agents(1)), ..sequential };
        assert_eq!(sequential.check_agents(), Err(NotForAgents::Sequential));
    }
}
