//! The progress of a group's pods, from the lists of the API. Pure; unknown data are tolerated.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::Pod;
use tare_host::foreign;

use super::super::states::{ended, failure_of, job_of, waiting};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupPod {
    pub name: String,
    pub node: String,
    pub address: IpAddr,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// All pods are ready, in the order of their indexes.
    Ready(Vec<GroupPod>),
    /// Why a pod is not ready.
    Waits(String),
    /// A pod has ended: its name, and how.
    Ended(String, String),
}

/// The progress of a Job with this number of pods.
pub(super) fn progress(job: &str, pods: usize, listed: &[Pod]) -> Progress {
    let own = || listed.iter().filter(|pod| job_of(pod) == Some(job));
    if let Some((pod, how)) = own().find_map(|pod| Some((pod, ended(pod)?))) {
        return Progress::Ended(name(pod), how);
    }
    let mut ready: Vec<GroupPod> = own().filter_map(found).collect();
    if ready.len() >= pods {
        ready.sort_by(|one, other| one.name.cmp(&other.name));
        return Progress::Ready(ready);
    }
    let why = own().find(|pod| found(pod).is_none()).map(|pod| format!("{}: {}", name(pod), waiting(pod)));
    Progress::Waits(why.unwrap_or_else(|| "it has no pod yet".to_owned()))
}

/// How the pod with this name ended, if it failed.
pub(super) fn failure(of: &str, listed: &[Pod]) -> Option<String> {
    listed.iter().find(|pod| name(pod) == of).and_then(failure_of)
}

fn found(pod: &Pod) -> Option<GroupPod> {
    let status = pod.status.as_ref()?;
    let conditions = status.conditions.as_deref().unwrap_or_default();
    let is_ready = conditions.iter().any(|is| is.type_ == "Ready" && is.status == "True");
    let address = status.pod_ip.as_deref()?.parse().ok()?;
    is_ready.then(|| GroupPod { name: name(pod), node: node(pod), address })
}

fn name(pod: &Pod) -> String {
    foreign::visible(pod.metadata.name.as_deref().unwrap_or_default()).into_owned()
}

fn node(pod: &Pod) -> String {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
    foreign::visible(node.unwrap_or_default()).into_owned()
}
