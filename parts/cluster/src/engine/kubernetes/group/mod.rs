//! A load group: the generators of one load as an Indexed Job, and their service as a Job. It lives as long
//! as the command that made it. The command removes it, and anything left ends by its own deadlines.
//!
//! The module does not know what its pods do: it gets commands, and returns addresses of started pods.

mod manifest;
mod pods;

use std::{
    collections::BTreeSet,
    fmt,
    net::IpAddr,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::Pod;

use super::{api::Cluster, with};
use crate::{
    engine::{EngineError, EngineName},
    machines::MachineClass,
};
use manifest::Part;
pub use pods::GroupPod;
use pods::Progress;

/// The pause between two queries of the pods.
const PAUSE: Duration = Duration::from_millis(250);
/// How long removing a group is retried while the API does not answer.
const REMOVED_WITHIN: Duration = Duration::from_secs(30);
/// How long to wait until the API reports how a pod ended.
const ENDED_WITHIN: Duration = Duration::from_secs(5);

/// The parts of a load group.
#[derive(Debug, Clone)]
pub struct GroupPlan {
    /// A unique name of lowercase letters, digits and hyphens.
    pub name: String,
    /// The Secret with the token of the load under the key `token`.
    pub secret: String,
    pub token_variable: &'static str,
    pub service: Option<GroupService>,
    pub generators: Vec<(MachineClass, usize)>,
    pub agent_port: u16,
    /// The time limit for all pods to start.
    pub ready_within: Duration,
    /// The time after which the engine ends them in any case.
    pub ends_within: Duration,
}

#[derive(Debug, Clone)]
pub struct GroupService {
    pub class: MachineClass,
    pub command: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// The port that is open once the service has started.
    pub port: u16,
}

/// Why there is no group.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("the pod {pod} ended before the load: {how}")]
    Ended { pod: String, how: String },
    #[error(
        "the {part} is not ready after {after:?}: {why}; `kubectl describe jobs,pods --selector {selector}` says more"
    )]
    Late { part: &'static str, after: Duration, why: String, selector: String },
    #[error("interrupted before the load: nothing was measured")]
    Interrupted,
}

/// The interrupt flag of a wait, and the output for its progress.
#[derive(Clone, Copy)]
pub struct Waits<'a> {
    pub interrupt: &'a AtomicBool,
    pub tell: &'a dyn Fn(&str),
}

/// A group, partly or fully started.
#[derive(Debug)]
pub struct LoadGroup {
    plan: GroupPlan,
    began: Instant,
    /// Namespaces and names of its Jobs. Names are noted before Jobs are created, as answers may be lost.
    jobs: Vec<(Option<String>, String)>,
    /// The pods that were ready.
    pods: Vec<GroupPod>,
}

impl LoadGroup {
    pub fn new(plan: GroupPlan) -> LoadGroup {
        LoadGroup { plan, began: Instant::now(), jobs: Vec::new(), pods: Vec::new() }
    }

    /// The manifests as `kubectl` accepts them. Generators run this command.
    ///
    /// # Errors
    /// A class has no image, or a word of a command is no text.
    pub fn preview(&self, command: &[String]) -> Result<String, EngineError> {
        let parts = manifest::service(&self.plan).into_iter();
        let parts = parts.chain(manifest::generators(&self.plan, command));
        let items: Vec<_> =
            parts.map(|part| manifest::job(&self.plan, &part)).collect::<Result<_, EngineError>>()?;
        super::list_of(&items)
    }

    /// The label selector for everything in the group.
    pub fn selector(&self) -> String {
        format!("{}={}", manifest::LOAD_LABEL, self.plan.name)
    }

    /// Starts the service, and waits until its port is open; `None` if the group has no service.
    ///
    /// # Errors
    /// The engine refuses, the service ends or does not start in time, or there was an interrupt.
    pub fn start_service(&mut self, waits: Waits<'_>) -> Result<Option<GroupPod>, GroupError> {
        let plan = self.plan.clone();
        let Some(part) = manifest::service(&plan) else { return Ok(None) };
        Ok(self.start(&[part], waits)?.pop())
    }

    /// Starts the generators, each with this command, and waits until their ports are open.
    ///
    /// # Errors
    /// The errors of [`LoadGroup::start_service`].
    pub fn start_generators(
        &mut self,
        command: &[String],
        waits: Waits<'_>,
    ) -> Result<Vec<GroupPod>, GroupError> {
        let plan = self.plan.clone();
        self.start(&manifest::generators(&plan, command), waits)
    }

    fn start(&mut self, parts: &[Part<'_>], waits: Waits<'_>) -> Result<Vec<GroupPod>, GroupError> {
        with(async |cluster| self.start_on(cluster, parts, waits).await)
    }

    async fn start_on(
        &mut self,
        cluster: &Cluster,
        parts: &[Part<'_>],
        waits: Waits<'_>,
    ) -> Result<Vec<GroupPod>, GroupError> {
        for part in parts {
            let namespace = part.class.kubernetes.namespace.clone();
            let object = manifest::job(&self.plan, part)?;
            self.jobs.push((namespace.clone(), part.job.clone()));
            while let Err(error) = cluster.create(namespace.as_deref(), &object).await {
                if !error.is_passing() || self.is_late() || waits.interrupt.load(Ordering::Relaxed) {
                    return Err(error.into());
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        let mut ready = Vec::new();
        for part in parts {
            ready.extend(self.wait(cluster, part, waits).await?);
        }
        self.pods.extend(ready.iter().cloned());
        Ok(ready)
    }

    async fn wait(
        &self,
        cluster: &Cluster,
        part: &Part<'_>,
        waits: Waits<'_>,
    ) -> Result<Vec<GroupPod>, GroupError> {
        let mut why = String::new();
        loop {
            let now = match self.list(cluster, part.class.kubernetes.namespace.as_deref()).await {
                Ok(listed) => match pods::progress(&part.job, part.pods, &listed) {
                    Progress::Ready(pods) => return Ok(pods),
                    Progress::Ended(pod, how) => return Err(GroupError::Ended { pod, how }),
                    Progress::Waits(why) => why,
                },
                Err(error) if error.is_passing() => error.to_string(),
                Err(error) => return Err(error.into()),
            };
            if now != why {
                (waits.tell)(&format!("waits for the {}: {now}", part.kind));
                why = now;
            }
            if waits.interrupt.load(Ordering::Relaxed) {
                return Err(GroupError::Interrupted);
            }
            let after = self.plan.ready_within;
            if self.is_late() {
                return Err(GroupError::Late { part: part.kind, after, why, selector: self.selector() });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn is_late(&self) -> bool {
        self.began.elapsed() > self.plan.ready_within
    }

    async fn list(&self, cluster: &Cluster, namespace: Option<&str>) -> Result<Vec<Pod>, EngineError> {
        cluster.pods(namespace, &self.selector()).await
    }

    /// One line about the pod at this address, if it failed. The API knows it a moment after the failure.
    pub fn end_of(&self, address: IpAddr) -> Option<String> {
        let pod = self.pods.iter().find(|pod| pod.address == address)?;
        let look = async |cluster: &Cluster| {
            let began = Instant::now();
            loop {
                let end = self.end_of_pod(cluster, pod).await?;
                if end.is_some() || began.elapsed() > ENDED_WITHIN {
                    return Ok::<_, EngineError>(end);
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        // It would only explain another error, so its own errors are ignored.
        with(look).ok().flatten()
    }

    async fn end_of_pod(&self, cluster: &Cluster, pod: &GroupPod) -> Result<Option<String>, EngineError> {
        let namespaces: BTreeSet<Option<&str>> =
            self.jobs.iter().map(|(namespace, _)| namespace.as_deref()).collect();
        for namespace in namespaces {
            if let Some(how) = pods::failure(&pod.name, &self.list(cluster, namespace).await?) {
                return Ok(Some(format!("pod {} on {}: {how}", pod.name, pod.node)));
            }
        }
        Ok(None)
    }

    /// Removes all created Jobs with their pods.
    ///
    /// # Errors
    /// The engine does not answer for half a minute, or refuses.
    pub fn remove(self) -> Result<(), EngineError> {
        match self.jobs.is_empty() {
            true => Ok(()),
            false => with(async |cluster| self.remove_from(cluster).await),
        }
    }

    async fn remove_from(&self, cluster: &Cluster) -> Result<(), EngineError> {
        let began = Instant::now();
        let mut first = Ok(());
        for (namespace, job) in &self.jobs {
            loop {
                match cluster.delete(namespace.as_deref(), job).await {
                    Err(error) if error.is_passing() && began.elapsed() < REMOVED_WITHIN => {
                        tokio::time::sleep(PAUSE).await;
                    }
                    done => break first = first.and(done),
                }
            }
        }
        first
    }
}

impl fmt::Debug for Waits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waits").field("interrupt", self.interrupt).finish_non_exhaustive()
    }
}

/// The engines that support load groups.
pub const GROUP_ENGINES: [EngineName; 1] = [EngineName::Kubernetes];

#[cfg(test)]
mod tests;
