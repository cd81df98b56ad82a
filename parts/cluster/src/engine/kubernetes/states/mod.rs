//! The states of jobs, from the Jobs and pods that the API lists. Pure. Unknown states count as active:
//! waiting for a job in vain is better than running it twice.

use std::{cmp::Reverse, collections::BTreeMap};

use k8s_openapi::api::{
    batch::v1::{Job, JobStatus},
    core::v1::{ContainerState, Pod, PodStatus},
};
use tare_host::foreign;

use super::manifest::positions_of;
use crate::engine::EngineState;

const INDEX_ANNOTATION: &str = "batch.kubernetes.io/job-completion-index";
/// The longest final message of a container that is shown; its log has the rest.
const SAID_CHARS_MAX: usize = 200;

/// The pods by Job name and index.
type Pods<'a> = BTreeMap<(&'a str, usize), Vec<&'a Pod>>;

/// The states by position in the list. Active jobs take precedence over ended ones; of two ended ones, the
/// newer Job counts.
pub(super) fn states(jobs: &[Job], pods: &[Pod]) -> BTreeMap<usize, EngineState> {
    let mut by_index: Pods = BTreeMap::new();
    for pod in pods {
        if let (Some(job), Some(index)) = (job_of(pod), index_of(pod)) {
            by_index.entry((job, index)).or_default().push(pod);
        }
    }
    let mut found = BTreeMap::new();
    let mut jobs: Vec<&Job> = jobs.iter().collect();
    jobs.sort_by_key(|job| job.metadata.creation_timestamp.clone());
    for job in jobs {
        let name = job.metadata.name.as_deref().unwrap_or_default();
        for (index, position) in positions_of_job(job).into_iter().enumerate() {
            let pods = by_index.remove(&(name, index)).unwrap_or_default();
            put(&mut found, position, of_index(job, index, newest(&pods)));
        }
    }
    // Their Job is gone, for example cancelled, but the pods still exist.
    for ((_, index), pods) in by_index {
        let Some(pod) = newest(&pods).filter(|pod| ended(pod).is_none()) else { continue };
        let positions = pod.spec.as_ref().and_then(positions_of).unwrap_or_default();
        if let Some(position) = positions.get(index) {
            put(&mut found, *position, live(pod));
        }
    }
    found
}

fn put(found: &mut BTreeMap<usize, EngineState>, position: usize, state: EngineState) {
    let is_better = |old: &EngineState| state.is_active() || !old.is_active();
    if found.get(&position).is_none_or(is_better) {
        found.insert(position, state);
    }
}

fn positions_of_job(job: &Job) -> Vec<usize> {
    let pod = job.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
    pod.and_then(positions_of).unwrap_or_default()
}

pub(super) fn job_of(pod: &Pod) -> Option<&str> {
    let labels = pod.metadata.labels.as_ref()?;
    ["batch.kubernetes.io/job-name", "job-name"].iter().find_map(|name| labels.get(*name)).map(String::as_str)
}

fn index_of(pod: &Pod) -> Option<usize> {
    let annotations = pod.metadata.annotations.as_ref()?;
    annotations.get(INDEX_ANNOTATION)?.parse().ok()
}

/// A live pod, or else the newest one.
fn newest<'a>(pods: &[&'a Pod]) -> Option<&'a Pod> {
    pods.iter()
        .copied()
        .max_by_key(|pod| (Reverse(ended(pod).is_some()), pod.metadata.creation_timestamp.clone()))
}

fn of_index(job: &Job, index: usize, pod: Option<&Pod>) -> EngineState {
    let nothing = JobStatus::default();
    let status = job.status.as_ref().unwrap_or(&nothing);
    let ended_as = |how: String| EngineState::Ended { how };
    let waiting = |why: &str| EngineState::Waiting { why: why.to_owned() };
    if has(status.completed_indexes.as_deref(), index) {
        return ended_as("it ended".to_owned());
    }
    let how = pod.and_then(ended);
    if has(status.failed_indexes.as_deref(), index) {
        return ended_as(how.unwrap_or_else(|| "it failed".to_owned()));
    }
    match (pod, how) {
        (Some(pod), None) => live(pod),
        (_, how) => {
            if let Some(reason) = over(status) {
                return ended_as(how.unwrap_or(reason));
            }
            match (job.metadata.deletion_timestamp.is_some(), how) {
                (true, _) => ended_as("it was cancelled".to_owned()),
                (false, _) if is(status, "Suspended").is_some() => waiting("its Job is suspended"),
                (false, Some(how)) => waiting(&format!("it may be started again: {how}")),
                (false, None) => waiting("it has no pod yet"),
            }
        }
    }
}

/// The message of a condition of a Job, if it has the condition.
fn is(status: &JobStatus, name: &str) -> Option<String> {
    let conditions = status.conditions.as_deref().unwrap_or_default();
    let condition =
        conditions.iter().find(|condition| condition.type_ == name && condition.status == "True")?;
    let texts = [condition.reason.as_deref(), condition.message.as_deref()];
    Some(said(&texts.into_iter().flatten().collect::<Vec<_>>().join(": ")))
}

/// Why a Job starts no more pods.
fn over(status: &JobStatus) -> Option<String> {
    let failed = || is(status, "Failed").map(|why| format!("its Job failed: {why}"));
    is(status, "Complete").map(|_| "its Job is complete".to_owned()).or_else(failed)
}

/// The state of a pod that has not ended.
fn live(pod: &Pod) -> EngineState {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default();
    let nothing = PodStatus::default();
    let status = pod.status.as_ref().unwrap_or(&nothing);
    if status.phase.as_deref() != Some("Pending") {
        return EngineState::Running { node: foreign::visible(node).into_owned() };
    }
    let containers = status.container_statuses.as_deref().unwrap_or_default();
    let states = containers.iter().filter_map(|container| container.state.as_ref());
    let waits = states.filter_map(|state| state.waiting.as_ref()).find_map(|waiting| {
        let texts = [waiting.reason.as_deref(), waiting.message.as_deref()];
        let text = texts.into_iter().flatten().collect::<Vec<_>>().join(": ");
        Some(text).filter(|text| !text.is_empty())
    });
    let conditions = status.conditions.as_deref().unwrap_or_default();
    let scheduled = conditions.iter().find(|condition| condition.type_ == "PodScheduled");
    let unscheduled = scheduled
        .filter(|condition| condition.status != "True")
        .and_then(|condition| condition.message.clone());
    let why = match (node.is_empty(), waits, unscheduled) {
        (false, Some(waits), _) => format!("{waits} on {node}"),
        (false, None, _) => format!("it starts on {node}"),
        (true, _, Some(unscheduled)) => unscheduled,
        (true, _, None) => "it has no node yet".to_owned(),
    };
    EngineState::Waiting { why: said(&why) }
}

/// Why a pod that has not ended is waiting.
pub(super) fn waiting(pod: &Pod) -> String {
    match live(pod) {
        EngineState::Waiting { why } | EngineState::Ended { how: why } => why,
        EngineState::Running { node } => format!("it starts on {node}"),
    }
}

/// How a pod ended, if it failed.
pub(super) fn failure_of(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    (status.phase.as_deref() == Some("Failed")).then(|| failure(status))
}

/// How a pod ended, if it has.
pub(super) fn ended(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    match status.phase.as_deref()? {
        "Succeeded" => Some("it ended".to_owned()),
        "Failed" => Some(failure(status)),
        _ => None,
    }
}

fn failure(status: &PodStatus) -> String {
    match status.reason.as_deref() {
        Some("DeadlineExceeded") => return "it reached its time limit".to_owned(),
        Some("NodeLost") => return "its node was lost".to_owned(),
        Some(reason) => {
            let message = status.message.as_deref().unwrap_or_default();
            return said(&format!("{reason}: {message}"));
        }
        None => {}
    }
    let containers = status.container_statuses.as_deref().unwrap_or_default();
    let state = containers.first().and_then(|container| container.state.as_ref());
    let Some(ContainerState { terminated: Some(end), .. }) = state else { return "it failed".to_owned() };
    let how = match (end.reason.as_deref(), end.exit_code) {
        (Some("OOMKilled"), _) => "it was out of memory".to_owned(),
        (Some("StartError" | "ContainerCannotRun"), _) => "it could not be started".to_owned(),
        (_, 137) => "it was killed".to_owned(),
        (_, code) => format!("it failed with status {code}"),
    };
    let last = end.message.as_deref().unwrap_or_default().lines().rfind(|line| !line.trim().is_empty());
    last.map_or(how.clone(), |last| format!("{how}: {}", said(last)))
}

/// A foreign text in one line.
fn said(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = foreign::visible(line.trim_end_matches([':', ' '])).into_owned();
    match line.char_indices().nth(SAID_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// Whether an index is in a list in the control plane's form: `0,2-5,9`.
fn has(list: Option<&str>, index: usize) -> bool {
    list.unwrap_or_default().split(',').any(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let bounds = (first.trim().parse::<usize>(), last.trim().parse::<usize>());
        matches!(bounds, (Ok(first), Ok(last)) if (first..=last).contains(&index))
    })
}

#[cfg(test)]
mod tests;
