//! Kubernetes by its API: Indexed Jobs of batch/v1, and their pods.
//!
//! The jobs of a class are one Job, whose pods run one job each. Results are never read from the API: it only
//! shows which jobs wait, run and have ended. Every object of Tare has the name of the batch as a label.
//!
//! [`manifest`] makes the Jobs, and [`states`] interprets Jobs and pods, both without a cluster; [`api`]
//! calls the cluster. [`group`] is independent of batches: the pods of one load, which last as long as the
//! command that started them.

mod api;
mod confinement;
pub(crate) mod group;
mod manifest;
mod pod;
mod states;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::batch::v1::Job;

use super::{Allocation, Engine, EngineError, EngineName, EngineState, Start, Variables};
use crate::{batch::Batch, received::Received};
use api::Cluster;
use manifest::Planned;

/// The adapter. It has no state: it finds the cluster at each use.
#[derive(Debug, Clone, Copy)]
pub struct Kubernetes;

impl Engine for Kubernetes {
    fn name(&self) -> EngineName {
        EngineName::Kubernetes
    }

    fn submit(&self, batch: &Batch, positions: &[usize], start: &Start) -> Result<Vec<String>, EngineError> {
        with(async |cluster| submit(cluster, batch, positions, start).await)
    }

    fn preview(&self, batch: &Batch, positions: &[usize], start: &Start) -> Result<String, EngineError> {
        let planned = match batch.folder.exists() {
            true => with(async |cluster| plan(cluster, batch, positions, start).await)?,
            false => manifest::manifests(batch, positions, start, |_| 0)?,
        };
        list_of(&planned.into_iter().map(|planned| planned.object).collect::<Vec<_>>())
    }

    fn states(&self, batch: &Batch) -> Result<BTreeMap<usize, EngineState>, EngineError> {
        with(async |cluster| look(cluster, batch).await)
    }

    fn cancel(&self, batch: &Batch) -> Result<(), EngineError> {
        with(async |cluster| delete(cluster, batch).await)
    }

    /// The pods are deleted with their Jobs.
    fn clean_up(&self, batch: &Batch) -> Result<(), EngineError> {
        self.cancel(batch)
    }

    fn allocation(&self, variables: Variables) -> Result<Allocation, EngineError> {
        allocation(variables, &Received::here(None))
    }

    fn look_at(&self, batch: &Batch, attempt: Option<&str>) -> Option<String> {
        Some(match attempt {
            Some(pod) => format!("`kubectl logs {pod}`"),
            None => {
                format!("`kubectl describe jobs,pods --selector {}={}`", manifest::BATCH_LABEL, batch.name())
            }
        })
    }
}

/// The list of Jobs as `kubectl` accepts it.
fn list_of(jobs: &[Job]) -> Result<String, EngineError> {
    let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": jobs });
    let text = serde_json::to_string_pretty(&list);
    text.map(|text| text + "\n").map_err(|error| pod::refusal(error.to_string()))
}

/// Runs `work` in a runtime of its own, because only the adapter is asynchronous.
fn with<T, E: From<EngineError>>(work: impl AsyncFnOnce(&Cluster) -> Result<T, E>) -> Result<T, E> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let unmade = |source| EngineError::Run { program: "the client of Kubernetes".to_owned(), source };
    runtime.map_err(unmade)?.block_on(async { work(&Cluster::find().await?).await })
}

fn namespaces(batch: &Batch) -> BTreeSet<Option<&str>> {
    batch.list.head.classes.iter().map(|class| class.kubernetes.namespace.as_deref()).collect()
}

fn selector(batch: &Batch) -> Result<String, EngineError> {
    Ok(format!("{}={}", manifest::BATCH_LABEL, manifest::label(batch)?))
}

/// The Jobs for these positions, numbered after existing ones.
async fn plan(
    cluster: &Cluster,
    batch: &Batch,
    positions: &[usize],
    start: &Start,
) -> Result<Vec<Planned>, EngineError> {
    let mut names = Vec::new();
    for namespace in namespaces(batch) {
        let jobs = cluster.jobs(namespace, &selector(batch)?).await?;
        names.extend(jobs.into_iter().filter_map(|job| job.metadata.name));
    }
    let newest = |stem: &str| names.iter().filter_map(|name| manifest::number(stem, name)).max().unwrap_or(0);
    manifest::manifests(batch, positions, start, newest)
}

async fn submit(
    cluster: &Cluster,
    batch: &Batch,
    positions: &[usize],
    start: &Start,
) -> Result<Vec<String>, EngineError> {
    let mut submitted = Vec::new();
    for planned in &plan(cluster, batch, positions, start).await? {
        let Planned { namespace, class, name, jobs, object } = planned;
        let is_new = cluster.create(namespace.as_deref(), object).await?;
        if !is_new {
            ours(cluster, planned).await?;
        }
        let number = if *jobs == 1 { "1 job".to_owned() } else { format!("{jobs} jobs") };
        let was_there = if is_new { "" } else { ", which was there" };
        submitted.push(format!("Job {name} of class {class}: {number}{was_there}"));
    }
    if batch.head.push.is_some() {
        submitted.push(format!(
            "its pods wait for a Secret with the token: kubectl create secret generic {} --from-file=token={}",
            manifest::secret(batch)?,
            batch.folder.join("token").display()
        ));
    }
    Ok(submitted)
}

/// Checks that the existing Job of this name has the same jobs. Either an earlier attempt of this call
/// created it, and the answer was lost, or another tare did at the same time.
async fn ours(cluster: &Cluster, planned: &Planned) -> Result<(), EngineError> {
    let found = cluster.get(planned.namespace.as_deref(), &planned.name).await?;
    let positions = |job: &Job| job.spec.as_ref()?.template.spec.as_ref().and_then(manifest::positions_of);
    let is_same = found.as_ref().is_some_and(|found| positions(found) == positions(&planned.object));
    match is_same {
        true => Ok(()),
        false => Err(EngineError::Batch {
            engine: EngineName::Kubernetes,
            reason: format!(
                "a Job {} with other jobs has been created meanwhile: submit the list again",
                planned.name
            ),
        }),
    }
}

async fn look(cluster: &Cluster, batch: &Batch) -> Result<BTreeMap<usize, EngineState>, EngineError> {
    let selector = selector(batch)?;
    let (mut jobs, mut pods) = (Vec::new(), Vec::new());
    for namespace in namespaces(batch) {
        jobs.extend(cluster.jobs(namespace, &selector).await?);
        pods.extend(cluster.pods(namespace, &selector).await?);
    }
    let mut states = states::states(&jobs, &pods);
    states.retain(|position, _| *position < batch.list.jobs.len());
    Ok(states)
}

async fn delete(cluster: &Cluster, batch: &Batch) -> Result<(), EngineError> {
    let selector = selector(batch)?;
    for namespace in namespaces(batch) {
        for job in cluster.jobs(namespace, &selector).await? {
            cluster.delete(namespace, job.metadata.name.as_deref().unwrap_or_default()).await?;
        }
    }
    Ok(())
}

fn allocation(variables: Variables, received: &Received) -> Result<Allocation, EngineError> {
    let no_job = |reason: String| EngineError::NoJob { engine: EngineName::Kubernetes, reason };
    let get = |name: &str| variables(name).ok_or_else(|| no_job(format!("{name} is not in the environment")));
    let text = get(manifest::POSITIONS)?;
    let positions = manifest::positions(&text);
    let positions = positions.ok_or_else(|| no_job(format!("{} is {text:?}", manifest::POSITIONS)))?;
    let text = get(manifest::INDEX)?;
    let index: usize = text.parse().map_err(|_| no_job(format!("{} is {text:?}", manifest::INDEX)))?;
    let position = positions.get(index).copied();
    let pod = get(manifest::POD)?;
    // It becomes part of a path.
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    if pod.is_empty() || !pod.bytes().all(is_name) {
        return Err(no_job(format!("{} is {pod:?}", manifest::POD)));
    }
    Ok(Allocation {
        position: position.ok_or_else(|| no_job(format!("its Job has no index {index}")))?,
        attempt: pod,
        node: get(manifest::NODE)?,
        is_exclusive: variables(manifest::CPUS).and_then(|cpus| is_exclusive(cpus.parse().ok()?, received)),
    })
}

/// Whether the CPUs are exclusive, as far as a container can know. The static CPU manager gives it the
/// requested number of CPUs, out of more; since Kubernetes 1.33 without a quota. Without the manager it has
/// all CPUs of the machine, which it shares.
fn is_exclusive(asked: usize, received: &Received) -> Option<bool> {
    match received.cpus.len() {
        cpus if cpus > asked => Some(false),
        cpus if cpus == asked && cpus < received.online && received.quota_cpus.is_none() => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
